#!/usr/bin/env python3
"""The toolkit as a whole: what is in force here, what is stored, what is missing."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.history.commands import PROGRAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
