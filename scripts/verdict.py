#!/usr/bin/env python3
"""Record what each reviewer concluded; show the orchestrator all of it at once."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.reviews.commands.verdicts import PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
