"""Hosts: the programs that run agents, such as Claude Code and Codex.

documents/contracts and declared/    what each host passes to a hook and accepts back
flows/runner                         run a hook: its event's actions, which are in
                                     sessions, outputs and reviews
documents/seen_agents                what hooks keep between their calls
flows/adoption, changes              bring contextkit into a repository and take it out;
                                     upgrades
documents/settings, vendored         the hooks in a host's settings; its wrapper or copy of us
flows/doctor                         find what is wrong, and say how to fix it
"""
