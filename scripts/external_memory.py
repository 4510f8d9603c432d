#!/usr/bin/env python3
"""Keep plans, findings, checkpoints and snapshots of a task, and recover it from them."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.commands import Program
from contextkit.base.type_names import Sequence
from contextkit.memory.commands import reading, writing

PROGRAM = Program(
    name="external_memory",
    about=__doc__ or "",
    commands=(*writing.COMMANDS, *reading.COMMANDS),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
