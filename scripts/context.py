#!/usr/bin/env python3
"""Every script of contextkit; the name it is called by, or its first argument, says which.

scripts/capsule.py check      a link to this file, or a copy of it under that name
scripts/context.py capsule check      the same where links get lost
"""

import sys

import contextkit
from contextkit.base import cli, commands
from contextkit.base.type_names import Sequence

NAME = __file__.rpartition("/")[2].removesuffix(".py")


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:2] if argv is None and NAME == "context" else []
    if commands.SCRIPTS.keys() & words:
        sys.argv = words + sys.argv[2:]  # the ledger tells who wrote
        return cli.run(commands.program(words[0]), argv)
    return cli.run(commands.program(NAME), argv)


if __name__ == "__main__":
    contextkit.leave(main())
