#!/usr/bin/env python3
"""Hand over from one agent to the next: an artifact of at most 500 tokens, not a whole profile."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.type_names import Sequence
from contextkit.handoffs.commands import PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
