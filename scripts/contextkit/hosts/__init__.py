"""Hosts: the programs that run agents, such as Claude Code and Codex.

documents/contracts and declared/    what each host passes to a hook and accepts back
flows/runner, events                 run a hook: its event's actions, which are in
                                     sessions, snapshots, outputs and reviews
flows/adoption, changes              bring contextkit into a repository and take it out;
                                     upgrades, git_ignores
flows/checkup, store_checks, trials  doctor
"""
