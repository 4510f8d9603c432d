#!/usr/bin/env python3
"""Bring contextkit into a repository: a copy of it, hooks, skills; upgrade it; take it out."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.hosts.commands import ADOPT as PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
