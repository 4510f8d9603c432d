#!/usr/bin/env python3
"""Keep a note for the next context capsule; list what is open; mark what is taken up."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.capsules.commands.reminders import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
