"""Hosts: the programs that run agents, such as Claude Code and Codex.

documents/contracts and declared/    what each host passes to a hook and accepts back
flows/runner, events                 run a hook: its event's actions, which are in
                                     sessions, snapshots, outputs and reviews
flows/adoption, changes              bring contextkit into a repository and take it out;
                                     upgrades, git_ignores
flows/doctor, store_checks, trials   find what is wrong, and say how to fix it
"""
