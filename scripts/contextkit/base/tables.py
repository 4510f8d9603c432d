"""Tables for people: columns that line up, a line a row, cut to the terminal's width."""

from __future__ import annotations

import os
import sys

from contextkit.base import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """The rows under their heads; empty without rows.

    On a terminal the last column is cut so that a row stays a line; into a pipe it is whole.
    """
    if not rows:
        return ""
    clean = [tuple(names.one_line(cell) for cell in row) for row in (heads, *rows)]
    widths = [max(len(row[i]) for row in clean) for i in range(len(heads) - 1)]
    room = _terminal_width() - sum(widths) - 2 * len(widths)
    lines = []
    for row in clean:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, _cut(row[-1], room)]).rstrip())
    return "\n".join(lines)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _terminal_width() -> int:
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 60)
    except (OSError, ValueError):
        return sys.maxsize
