#!/usr/bin/env python3
"""Every script of contextkit: the name that it is called by, or its first word, says which.

scripts/capsule.py check      a link to this file, or a copy of it under that name
scripts/context.py capsule check      the same where links get lost
"""

import sys

from contextkit.base import cli
from contextkit.base.commands import Program
from contextkit.base.type_names import Sequence

SCRIPTS = {
    "adopt": "hosts.commands.ADOPT",
    "capsule": "capsules.commands.store.PROGRAM",
    "capsule_prompt": "capsules.commands.store.PROMPT",
    "context": "history.commands.PROGRAM",
    "context_sync": "machines.commands.PROGRAM",
    "doctor": "hosts.commands.DOCTOR",
    "evaluate": "evaluation.commands.PROGRAM",
    "external_memory": "memory.commands.PROGRAM",
    "handoff": "handoffs.commands.PROGRAM",
    "payload_store": "payloads.commands.PROGRAM",
    "remember_later": "capsules.commands.reminders.PROGRAM",
    "run": "outputs.commands.PROGRAM",
    "subagent_manager": "subagents.commands.PROGRAM",
    "verdict": "reviews.commands.verdicts.PROGRAM",
}
NAME = __file__.rpartition("/")[2].removesuffix(".py")


def find(script: str) -> Program:
    """Return the program of a script; raises KeyError if there is none of that name."""
    module, _, name = SCRIPTS[script].rpartition(".")
    program: Program = getattr(__import__(f"contextkit.{module}", fromlist=[name]), name)
    return program


def main(argv: Sequence[str] | None = None) -> int:
    named = argv is None and NAME == "context" and sys.argv[1:] and sys.argv[1] in SCRIPTS
    return cli.run(find(sys.argv.pop(1) if named else NAME), argv)


if __name__ == "__main__":
    cli.leave(main())
