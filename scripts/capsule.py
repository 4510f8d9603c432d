#!/usr/bin/env python3
"""Keep the capsules of a branch: save what an agent replied; check, seal, show and prune."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.capsules.commands.store import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
