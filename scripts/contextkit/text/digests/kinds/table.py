"""A table (CSV, TSV, Markdown rows, aligned columns): its columns, its size, its outliers."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter

from contextkit.base.type_names import Callable, Sequence
from contextkit.text.digests.lines import bare
from contextkit.text.digests.reading import REST, Unit, cells, cut, listed, row_statement
from contextkit.text.patterns import Pattern

_RULE = Pattern(r"[\s|:=+-]+$")
_BORDERS = str.maketrans({"│": "|", "┃": "|", "─": "-", "━": "-"} | dict.fromkeys("┌┬┐├┼┤└┴┘", "+"))
_RULED = Pattern(  # below the header, as wide as each column
    r"^(?:[-=]{2,}(?: +[-=]{2,})+|\+{3}(?:-=+)+) *$"
)
_CAPITALS = Pattern(r"^[A-Z%][A-Z%()/_-]*(?:\s+[A-Z%][A-Z%()/_-]*){2,}$")
_APART = Pattern(r" {2,}|\t")
_PROCESSES = ("UID ", "USER ", "PID ")  # ps: no column but the last has spaces
_ROWS = 500  # rows that can be shown
_ROWS_READ, _ABOVE = 60, 8  # lines by which a table is known; that may stand above its rows
_SAMPLE = 500  # cells that show whether a column may be one of numbers
_TOTALS = ("total", "totals", "sum", "all files", "gesamt", "summe")  # in the last row
_FEW = 3  # different cells of a column that are counted even if they are numbers
_CELLS = 8  # different cells of a column that are counted
_LONGEST, _LABEL = 240, 60  # characters of a row, and of the cell that names it
_COUNTED = Pattern(r" *(\d+) +[^\s\d].*$")  # by `wc`, `uniq -c`
_NUMBER = Pattern(r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?\s*%?$")
Split = Callable[[str], list[str]]
_ILL = Pattern(
    r"\b(?:fail\w*|error\w*|missing|no|false|critical|blocked|rejected|P0|P1|deleted"
    r"|close_wait|defunct|zombie|unhealthy|notready|evicted|\w*backoff|oomkilled|degraded|stale"
    r"|expired|down)\b",
    re.I,
)


def confidence(text: str) -> int:
    """By rows with the same number of cells."""
    return 70 * bool(_shape([line for _, line in _lines(text[:20_000])][:_ROWS_READ])[0])


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, nor the rule of a box, with their numbers."""
    lines = enumerate(text.translate(_BORDERS).split("\n"), start=1)
    return [(number, line) for number, line in lines if line.strip() and _is_row(line)]


def _is_row(line: str) -> bool:
    return line[0] not in "+|" or bool(_RULED.match(line)) or not _RULE.match(line)


def _shape(lines: list[str]) -> tuple[Split | str | None, int]:
    """What splits a line into cells, or their delimiter, and how many lines are above the header.

    Columns are between borders, below a rule as wide as each of them (psql, sqlite, pip, dpkg),
    delimited, or two spaces apart below a header of capitals (docker, kubectl) or one of them with
    numbers below its name; with a header of capitals, the last cells alone may have spaces (ps).
    """
    if len(lines) < 3 or sum(bare(line) != line.strip() for line in lines) * 2 > len(lines):
        return None, 0  # of a log, each line begins with its time
    bordered = sum(line.strip()[:1] == "|" for line in lines)
    if bordered * 10 > len(lines) * 8 and lines[0].strip()[:1] == "|":
        several = sum(len([*filter(None, cells(line))]) > 1 for line in lines) * 2 > len(lines)
        return cells if several else None, 0
    for at, line in enumerate(lines[1:_ABOVE], start=1):
        if _RULED.match(line):
            starts = [match.start() for match in re.finditer(r"\S+", line.replace("-=", " ="))]
            body = [*lines[at - 1 : at], *lines[at + 1 :]]
            if all(line[at - 1 : at] in ("", " ") for line in body for at in starts[1:]):
                return functools.partial(_by_starts, starts), at - 1
    return _delimiter(lines) or _apart(lines), 0


def _by_starts(starts: list[int], line: str) -> list[str]:
    return [line[a:b].strip() for a, b in itertools.pairwise([*starts, len(line)])]


def _by_count(line: str) -> list[str]:
    return line.split(None, 1)


def _by_gaps(line: str) -> list[str]:
    return [str(cell) for cell in _APART.split(line.strip())]


def _delimiter(lines: list[str]) -> str:
    """The delimiter that gives all rows the same number of cells, at least two; or ''."""
    if sum(": " in line for line in lines) * 2 > len(lines):
        return ""  # `Tests run: 3, Failures: 0`
    import csv

    for mark in "|\t;,":
        if sum(mark in line for line in lines) * 2 < len(lines):
            continue
        try:
            sizes = [len(row) for row in csv.reader(lines[:-1] or lines, delimiter=mark)]
        except csv.Error:
            return ""
        most, times = Counter(sizes).most_common(1)[0]
        if most > (2 if mark == "," else 1) and times * 10 >= len(sizes) * 9 and sizes[0] == most:
            prose = sum(line.rstrip().endswith((".", ":")) for line in lines)
            return "" if prose * 3 > len(lines) else mark
    return ""


def _apart(lines: list[str]) -> Split | None:
    """What splits lines with columns that nothing but spaces tells apart; of counts, two."""
    counts = [int(match[1]) for match in map(_COUNTED.match, lines) if match]
    if len(counts) == len(lines):
        is_numbered = all(b - a == 1 for a, b in itertools.pairwise(counts))
        return None if is_numbered else _by_count
    head, *body = map(_by_gaps, lines)
    alike = [row for row in body if len(row) == len(head) > 2]
    is_capital = bool(_CAPITALS.match(lines[0].strip()))
    columns = [*map(_are_numbers, zip(*alike, strict=True))]
    is_named = is_capital or (any(columns) and not any(map(_NUMBER.match, head)))
    of_processes = lines[0].lstrip().startswith(_PROCESSES)
    if len(alike) * 10 >= len(body) * 9 and is_named and not of_processes:
        return _by_gaps
    sizes = Counter(len(line.split()) for line in lines[1:])
    words = min(len(lines[0].split()), sizes.most_common(1)[0][0])  # `Mounted on` is one column
    split = functools.partial(str.split, sep=None, maxsplit=words - 1)
    rows = [row for line in lines[1:] if len(row := split(line)) == words]
    numbers = zip(*(map(_NUMBER.match, row[:-1]) for row in rows), strict=True)
    is_named = all(name[0].isupper() or name[0] == "%" for name in split(lines[0]))
    is_whole = words > 2 and len(rows) * 10 >= len(lines[1:]) * 9
    if is_named and is_whole and any(map(all, numbers)):
        return split
    return None


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows with their line numbers, header first; empty if the text is not a table.

    The header is empty if a table of delimited cells has none, such as `git diff --numstat`.
    """
    lines = _lines(text)
    split, above = _shape([line for _, line in lines[:_ROWS_READ]])
    if callable(split):
        rows = [(n, [*split(line)]) for n, line in lines[above:] if not _RULE.match(line)]
        rows = [(n, row) for n, row in rows if len(row) == len(rows[0][1])]
        return [(1, []), *rows] if split is _by_count else rows
    import csv

    reader = csv.reader(text.translate(_BORDERS).split("\n"), delimiter=split or ",")
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader
                if any(row) and not (split == "|" and _RULE.match(row[0]))]  # fmt: skip
    except csv.Error:
        return []
    if split == "\t":  # of which several may align a column
        filled = {at for _, row in rows for at, cell in enumerate(row) if cell}
        rows = [(n, [cell for at, cell in enumerate(row) if at in filled]) for n, row in rows]
    return rows if _headed([row for _, row in rows]) else [(1, []), *rows]


def _headed(rows: list[list[str]]) -> bool:
    """Whether the first row is a header: none of its cells is a value of its column."""
    head, body = rows[0], [row for row in rows[1:] if row != rows[0]]
    if head[0][:1].isdigit() and all(row[0][:1].isdigit() for row in body):
        return False
    return not any(
        cell and cell == row[at] for row in body for at, cell in enumerate(head[: len(row)])
    )


def units(text: str) -> list[Unit]:
    """Size and columns, the distribution in each column, outliers, the first and the last row."""
    rows = _rows(text) if text.strip() else []
    if len(rows) < 2:
        return []
    head = rows[0][1]
    body, others = list[tuple[int, list[str]]](), list[tuple[int, list[str]]]()
    for number, row in rows[1:]:
        is_other = len(row) > 2 and row[0] and not any(row[1:])  # what stands below a table
        (others if is_other else body).append((number, row))
    if not body:
        return []
    total = body[-1:] if any(cell.lower() in _TOTALS for cell in body[-1][1]) else []
    body = body[: len(body) - len(total)] or body
    columns = len(head) or max(len(row) for _, row in body)
    size = f"{len(body)} rows, {columns} columns{': ' if head else ''}{', '.join(head[:14])}"
    told = [Unit(rows[0][0], "table", size, 2.0, 1, "table", derived=True)]
    told += [Unit(at, "total", _shown(head, row), 2.0, 2) for at, row in total]
    told += [unit for index in range(min(columns, 30)) for unit in column(head, body, index)]
    ill = (pair for pair in body[_ROWS:] if any(map(_ILL.search, pair[1])))
    for number, row in itertools.islice(ill, 20):
        told.append(Unit(number, "row", _shown(head, row), 1.2))
    told += [Unit(number, REST, row[0]) for number, row in others]
    for number, row in (body[0], body[-1]):
        told.append(Unit(number, "row", _shown(head, row), 0.8))
    for at, (number, row) in enumerate(body[1:-1][:_ROWS]):
        weight = 1.5 if any(_ILL.search(cell) for cell in row) else 0.8
        weight *= 1 - at / (2 * len(body))
        told.append(Unit(number, "row", _shown(head, row), weight))
    return told


def _shown(head: list[str], row: list[str]) -> str:
    return cut(row_statement(head, row), _LONGEST)


def column(head: list[str], body: list[tuple[int, list[str]]], index: int) -> list[Unit]:
    """For numbers, the minimum and maximum with their rows; for words, counts and rare ones."""
    filled = [(n, row) for n, row in body if index < len(row) and row[index]]
    cells = [row[index] for _, row in filled]
    name = head[index] if head else f"column {index + 1}"
    counts = Counter(cells)
    if len(counts) > _FEW and _are_numbers(cells[:_SAMPLE]) and _are_numbers(cells):
        numbers = [(_value(row[index]), n, row) for n, row in filled if _NUMBER.match(row[index])]
        values = {value for value, *_ in numbers}
        in_row = max(values, default=0) - min(values, default=0) == len(numbers) - 1
        is_first = index == 0 and bool(head)
        if len(values) == len(numbers) and (in_row or is_first):
            return []  # a row number, a rank, an id
        numbers.sort(key=lambda one: one[0])
        label = _label(body, index)
        ends = (numbers[0], *numbers[:-4:-1])
        low, *high = (f"{row[index]} ({cut(row[label].rstrip(':'), _LABEL)})" for _, _, row in ends)
        text = f"{low} to {high[0]}" + (f"; next {', '.join(high[1:])}" if len(high) > 1 else "")
        return [Unit(numbers[-1][1], name, text, 1.3, 2, "columns", derived=True)]
    if not 1 < len(counts) <= _CELLS or len(counts) * 2 > len(cells):
        return []
    text = listed(counts, _CELLS)
    told = [Unit(filled[0][0], name, text, 1.2, 2, "columns", derived=True)]
    cell, count = counts.most_common()[-1]
    if count <= max(1, len(cells) // 20):
        number, row = filled[cells.index(cell)]
        told.append(Unit(number, "outlier", _shown(head, row), 2.0, 3, "outliers"))
    return told


def _are_numbers(cells: Sequence[str]) -> bool:
    """Whether nearly all cells are numbers, and more than two."""
    count = sum(map(bool, map(_NUMBER.match, cells)))
    return count > 2 and count * 10 >= len(cells) * 9


def _label(body: list[tuple[int, list[str]]], index: int) -> int:
    """The column that names a row: of those with words, the one with most different cells."""
    columns = range(min(len(row) for _, row in body))
    differ = {
        at: len({row[at] for _, row in body if row[at] and not _NUMBER.match(row[at])})
        for at in columns
        if at != index
    }
    best = max(differ, key=lambda at: (differ[at], -at), default=0)
    return best if differ.get(best) else 0


def _value(cell: str) -> float:
    digits = re.sub(r"[^\d.+-]", "", cell)
    try:
        return float(digits)
    except ValueError:
        return 0.0
