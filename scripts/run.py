#!/usr/bin/env python3
"""Run a command; pass on what it prints if that is short, else a digest and the path of the whole.

run.py [--] COMMAND…            a program with its arguments, or one text for the shell
COMMAND | run.py --sink=MARK    only shorten what comes in (what the hooks put behind a command)
"""

from __future__ import annotations

import os
import sys

from contextkit.base.type_names import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.commands import Program


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] not in ("--help", "-h", "--version", "run"):
        from contextkit.outputs.flows import running

        return running.main(words)
    from contextkit.base import cli

    return cli.run(__getattr__("PROGRAM"), argv)


def __getattr__(name: str) -> Program:
    """Return what make and the manual read; a command that is wrapped does not wait for it."""
    if name != "PROGRAM":
        raise AttributeError(name)
    from contextkit.outputs import commands

    return commands.PROGRAM


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
