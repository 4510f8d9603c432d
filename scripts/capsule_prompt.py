#!/usr/bin/env python3
"""Print the prompt that has the main agent write its context capsule; on request, a stub too."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.capsules.commands.prompt import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
