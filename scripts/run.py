#!/usr/bin/env python3
"""Run a command; pass on what it prints if that is short, else a digest and the path of the whole.

run.py [--] COMMAND…            a program with its arguments, or one text for the shell
COMMAND | run.py --sink=MARK    only shorten what comes in (what the hooks put behind a command)
"""

import os
import sys

if sys.version_info < (3, 11) and "--sink=" in "".join(sys.argv[1:2]):
    os.execvp("cat", ["cat"])  # nothing of an output may be lost

import contextkit
from contextkit.base.type_names import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("--help", "-h"):
        print(__doc__, end="", file=sys.stdout if words else sys.stderr, flush=True)
        return 0 if words else 2
    if words[0] not in ("--version", "run"):
        from contextkit.outputs.flows import running

        return running.main(words)
    from contextkit.base import cli, commands

    return cli.run(commands.program("run"), argv)


if __name__ == "__main__":
    contextkit.leave(main())
