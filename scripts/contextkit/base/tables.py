"""Rows of records: aligned columns for people, objects for programs."""

from __future__ import annotations

import os
import sys

from contextkit.base import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from contextkit.base.commands import Rows


def of(rows: Rows) -> str:
    """Format a command's rows as a table for people."""
    heads = tuple(head for head, *_ in rows.columns)
    shown = [*rows.rows, *([rows.total] if rows.total else [])]
    cells = [_cells(shown, *column[1:]) for column in rows.columns]
    below = f"\n{rows.below}" if rows.below else ""
    return table(heads, list(zip(*cells, strict=True))) + below if shown else rows.nothing


def _cells(rows: list[Any], field: str, made: Callable[[Any], str] | None = None) -> list[str]:
    """The cells of a column, one per row."""
    return list(map(made, rows)) if made else [str(_fields(row)[field]) for row in rows]


def data(rows: Rows) -> list[dict[str, Any]]:
    """The same rows for programs: their fields, and all but the id also under their headings."""
    found = []
    for row in rows.rows:
        fields = dict(_fields(row))
        for head, field, *_ in rows.columns:
            name = head.partition(" (")[0].lower().replace(" ", "_")  # `Last Log (UTC)`: last_log
            if field != "id":
                fields.setdefault(name, fields[field])
        found.append(fields)
    return found


def _fields(row: Any) -> dict[str, Any]:
    return row if isinstance(row, dict) else vars(row)


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Format rows under their headings; '' without rows.

    On a terminal the last column is cut so that each row fits on one line; in a pipe it is
    complete.
    """
    if not rows:
        return ""
    columns = [list(map(names.one_line, column)) for column in zip(heads, *rows, strict=True)]
    widths = [max(map(len, column)) for column in columns[:-1]]
    room = _terminal_width() - sum(widths) - 2 * len(widths)
    columns[-1] = [names.clipped(cell, room) for cell in columns[-1]]
    line = "".join(f"{{:{width}}}  " for width in widths) + "{}"
    return "\n".join([line.format(*row).rstrip() for row in zip(*columns, strict=True)])


def _terminal_width() -> int:
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 60)
    except (AttributeError, OSError, ValueError):  # closed, or not a terminal
        return sys.maxsize
