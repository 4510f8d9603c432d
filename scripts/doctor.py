#!/usr/bin/env python3
"""Look for what is wrong: hooks, stores, versions; and say how to fix it."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.hosts.commands import DOCTOR as PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
