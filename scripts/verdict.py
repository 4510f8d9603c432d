#!/usr/bin/env python3
"""Record what each reviewer concluded; show the orchestrator all of it at once."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.reviews.commands.verdicts import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
