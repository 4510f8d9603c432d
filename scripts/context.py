#!/usr/bin/env python3
"""The toolkit as a whole: what is in force here, what is stored, what is missing."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.history.commands import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
