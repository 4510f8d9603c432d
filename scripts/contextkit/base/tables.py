"""Rows of records: aligned columns for people, objects for programs."""

from __future__ import annotations

import os
import sys

from contextkit.base import names
from contextkit.base.commands import Rows
from contextkit.base.type_names import Any, Iterator, Sequence

_LEAST = 12  # characters of a last column that is cut
_INDENT = " " * 4


def of(rows: Rows) -> str:
    """Format a command's rows as a table for people."""
    shown = [*rows.rows[-rows.most :], *([rows.total] if rows.total else [])]
    if not shown:
        return rows.nothing
    fields = list(map(_fields, shown))
    columns = []
    for head, field, *made in rows.columns:
        cells = map(made[0], shown) if made else [str(row[field]) for row in fields]
        columns.append([head, *cells])
    return _aligned(columns, rows.wrap) + (f"\n{rows.below}" if rows.below else "")


def data(rows: Rows) -> list[dict[str, Any]]:
    """The same rows for programs: their fields, and all but the id also under their headings."""
    objects = []
    for row in rows.rows:
        fields = dict(_fields(row))
        for head, field, *_ in rows.columns:
            name = head.partition(" (")[0].lower().replace(" ", "_")  # `Last Log (UTC)`: last_log
            if field != "id":
                fields.setdefault(name, fields[field])
        objects.append(fields)
    return objects


def _fields(row: Any) -> dict[str, Any]:
    return row if isinstance(row, dict) else vars(row)


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Format rows under their headings, '' without rows; a terminal cuts the last column."""
    return _aligned([list(column) for column in zip(heads, *rows, strict=True)]) if rows else ""


def _aligned(columns: list[list[str]], wrap: bool = False) -> str:
    """The lines of a table from its columns, each with its heading first."""
    *columns, last = [list(map(names.one_line, column)) for column in columns]
    widths = [max(map(len, column)) for column in columns]
    room = _terminal_width() - sum(widths) - 2 * len(widths)
    if room < min(_LEAST, max(map(len, last))):
        return "\n".join(_paragraphs([*columns, last]))
    if wrap and max(map(len, last)) > room:
        return "\n".join(_wrapped(columns, widths, last, room))
    padded = [[c.ljust(width) for c in cells] for cells, width in zip(columns, widths, strict=True)]
    padded.append([names.clipped(cell, room) for cell in last])
    return "\n".join(["  ".join(row).rstrip() for row in zip(*padded, strict=True)])


def _paragraphs(columns: list[list[str]]) -> Iterator[str]:
    """A row a paragraph, where its columns are too wide: the first cell, then the others named."""
    import textwrap

    (_, *heads), *rows = zip(*columns, strict=True)
    for first, *cells in rows:
        yield first
        named = [f"{head} {c}" for head, c in zip(heads, cells, strict=True) if c not in ("", "-")]
        yield from textwrap.wrap(
            "; ".join(named), _terminal_width(), initial_indent=_INDENT,
            subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip


def _wrapped(
    columns: list[list[str]], widths: list[int], last: list[str], room: int
) -> Iterator[str]:
    """The lines of a table whose last column continues below."""
    import textwrap

    for number, cell in enumerate(last):
        begun = "  ".join(c[number].ljust(width) for c, width in zip(columns, widths, strict=True))
        for part in textwrap.wrap(cell, room, break_long_words=False) or [""]:
            yield f"{begun}  {part}".rstrip()
            begun = " " * len(begun)


def _terminal_width() -> int:
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 60)
    except (AttributeError, OSError, ValueError):  # closed, or not a terminal
        return sys.maxsize
