"""A table (CSV, TSV, Markdown rows, aligned columns): its columns, its size, its outliers."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Callable, Iterable, Sequence
from contextkit.text.digests.failure_words import says_failed
from contextkit.text.digests.folding import cut
from contextkit.text.digests.pieces import bare
from contextkit.text.digests.reading import REST, Unit, cells, listed, row_statement

_RULE = Pattern(r"[\s|:=+-]+$")
_BORDERS = str.maketrans({"│": "|", "┃": "|", "─": "-", "━": "-"} | dict.fromkeys("┌┬┐├┼┤└┴┘", "+"))
_RULED = Pattern(  # the rule below a header, as wide as each column
    r"^(?:[-=]{2,}(?: +[-=]{2,})+|\+{3}(?:-=+)+|-{3,}(?:\+-+)+) *$"
)
_COUNT = Pattern(r"\(\d+ rows?\)|\d+ rows? in set\b")  # below the rows
_CAPITALS = Pattern(r"^[A-Z%][A-Z%()/_-]*(?:\s+[A-Z%][A-Z%()/_-]*){2,}$")
_APART = Pattern(r" {2,}|\t")
_PROCESSES = ("UID ", "USER ", "PID ")  # ps: no column but the last has spaces
_ROWS = 500  # rows that can be shown
_ROWS_READ, _ABOVE = 60, 8  # lines by which a table is recognized; lines that may precede its rows
_BEFORE = 4  # places in which a header without a rule may stand
_DIGIT = Pattern(r"\d")
_NAMED = 1000  # rows by which the column of names is found
_SAMPLE = 500  # cells by which a column of numbers is recognized
_TOTALS = frozenset("total totals sum aggregated gesamt summe".split()) | {"all files"}
_FEW = 3  # different cells up to which even numbers are counted as values
_FEW_ILL = 4  # failed rows come first, one of each kind, if at most one row in so many failed
_CELLS = 8  # different cells up to which a column's values are counted
_LONGEST, _LABEL = 240, 60  # characters of a row, and of the cell that names it
_COUNTED = Pattern(r" {0,40}(\d+) +[^\s\d].*$")  # by `wc`, `uniq -c`
_NUMBER = Pattern(  # perhaps with a name, a unit, and a percentage in brackets
    r"(?:[A-Za-z]\w*=)?(?P<open>\()?[<>~$€£]?"
    r"(?P<digits>[-+]?[$€£]?\d+(?:,\d{3})*(?:[.,]\d+)?(?:e[-+]?\d+)?)"
    r"\s?(?P<unit>%|[A-Za-zµ]{1,3})?(?: ?\([^()]*\))?(?(open)\))[,;:]?$"
)
_SIZES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIMES = {"": 1, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1}
_FIGURE = Pattern(
    r"(?!.*\d\)$|\d+-\d+$)[^\w\s]?\d[\d.,:;/-]*\d[^\w\s]?$|(?:NA|NaN|n/a|null|-+)$"
)  # or no value
_PIECE = Pattern(r"[^\W\d_]+|\d+")  # of a cell
_ID = Pattern(r"(?:.*[\W_])?(?:[pu]*id|#)$", re.I)  # the name of a column of identifiers
_NONE = ("", "-", "--", "NA", "NaN", "n/a", "null", "None")  # in place of a number
_WORDS = 1.0  # the spread of numbers that come before a column of words
_SORTED = 2.0  # weight of a column by which the rows are sorted
_LEAST = 5  # least rows; most lines between two; characters beside a name
LEFT = 8  # the rank of a line that is only counted as left out
_NEAR = 4  # most by which row numbers may rise
Split = Callable[[str], list[str]]
Row = tuple[int, list[str]]


class Numbers(NamedTuple):
    """The values of a column with their rows, and how far off those at the ends are."""

    rows: list[tuple[float, int, list[str]]]
    spread: float
    is_sorted: bool


def confidence(text: str) -> int:
    """The confidence by rows with the same number of cells."""
    return 70 * bool(_shape([line for _, line in _lines(text[:20_000])][:_ROWS_READ])[0])


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are neither blank nor a rule of a box, with their numbers.

    Of several lines between the first two rules of a box, the first holds the column names. Of a
    line without digits near the top that comes again, such as a header, only the first stays.
    """
    lines = text.translate(_BORDERS).split("\n")
    rules = [
        at for at, line in enumerate(lines[:_ROWS_READ]) if line[:1] == "+" and not _is_row(line)
    ]
    head = range(rules[0] + 2, rules[1]) if len(rules) > 2 else range(0)
    rows = [(at + 1, line) for at, line in enumerate(lines)
            if line.strip() and _is_row(line) and at not in head]  # fmt: skip
    told = Counter(line for _, line in rows[1:])
    heads = {line for _, line in rows[1:_ABOVE] if told[line] > 1 and not _DIGIT.search(line)}
    first = {line: number for number, line in reversed(rows) if line in heads}
    return [(number, line) for number, line in rows if first.get(line, number) == number]


def _is_row(line: str) -> bool:
    if _COUNT.match(line):
        return False
    return line[0] not in "+|" or bool(_RULED.match(line)) or not _RULE.match(line)


def _shape(lines: list[str]) -> tuple[Split | str | None, int]:
    """A function that splits a line into cells, or a delimiter, and the number of lines above.

    Columns are between borders, below a rule as wide as each of them (psql, sqlite, pip, dpkg),
    delimited, or two spaces apart below a header of capitals (docker, kubectl) or one of them with
    numbers below its name; with a header of capitals, the last cells alone may have spaces (ps).
    """
    if len(lines) < 3 or sum(map(_is_event, lines)) * 2 > len(lines):
        return None, 0
    bordered = sum(line.strip()[:1] == "|" for line in lines)
    if bordered * 10 > len(lines) * 8 and lines[0].strip()[:1] == "|":
        several = sum(len([*filter(None, cells(line))]) > 1 for line in lines) * 2 > len(lines)
        return cells if several else None, 0
    for at, line in enumerate(lines[1:_ABOVE], start=1):
        if _RULED.match(line):
            rule = line.replace("-=", " =").replace("-+", "- ")
            starts = [match.start() for match in re.finditer(r"\S+", rule)]
            body = [row.replace("|", " ") for row in (*lines[at - 1 : at], *lines[at + 1 :])]
            if all(line[at - 1 : at] in ("", " ") for line in body for at in starts[1:]):
                return functools.partial(_by_starts, starts), at - 1
    if delimiter := _delimiter(lines):
        return delimiter, 0
    aboves = range(min(_BEFORE, len(lines) - 2))
    splits = ((_apart(lines[above:]), above) for above in aboves)
    return next((shape for shape in splits if shape[0]), (None, 0))


def _by_starts(starts: list[int], line: str) -> list[str]:
    line = line.replace("|", " ")
    if any(line[at - 1 : at].strip() for at in starts[1:]):
        return []
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
    """A function that splits lines whose columns are separated by spaces; counts have two."""
    counts = [int(match[1]) for match in map(_COUNTED.match, lines) if match]
    if len(counts) == len(lines):
        if sum(line.rstrip()[-1] == "." for line in lines) * 2 > len(lines):
            return None  # sentences that begin with a number
        is_numbered = len({b - a for a, b in itertools.pairwise(counts)}) == 1
        return None if is_numbered else _by_count
    head, *body = map(_by_gaps, lines)
    alike = [row for row in body if len(row) == len(head) > 2]
    is_capital = bool(_CAPITALS.match(lines[0].strip()))
    columns = [*map(_are_numbers, zip(*alike, strict=True))]
    is_named = is_capital or (any(columns) and not any(map(_NUMBER.match, head)))
    for names in (r"\S+", r"\S+(?: \S+)*") if is_capital else ():
        starts = [0, *(match.start() for match in re.finditer(names, lines[0]))][1:]
        by_starts = functools.partial(_by_starts, [0, *starts[1:]])
        aligned = sum(len(by_starts(line)) == len(starts) > 2 for line in lines)
        if aligned * 10 >= len(lines) * 9:
            return by_starts
    of_processes = lines[0].lstrip().startswith(_PROCESSES)
    if len(alike) * 10 >= len(body) * 9 and is_named and not of_processes:
        return _by_gaps
    sizes = Counter(len(line.split()) for line in lines[1:])
    words = min(len(lines[0].split()), sizes.most_common(1)[0][0])  # `Mounted on` is one column
    split = functools.partial(str.split, sep=None, maxsplit=words - 1)
    rows = [row for line in lines[1:] if len(row := split(line)) == words]
    numbers = [*map(all, zip(*(map(_NUMBER.match, row[:-1]) for row in rows), strict=True))]
    labels = split(lines[0])
    is_named = all(name[0].isupper() or name[0] == "%" for name in labels) or (
        sum(numbers) * 2 > len(labels) and not any(map(_DIGIT.search, labels))
    )
    are_whole = words > 2 and len(rows) * 10 >= len(lines[1:]) * 9
    return split if is_named and are_whole and any(numbers) else None


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
                if _has_values(row, split)]  # fmt: skip
    except csv.Error:
        return []
    return rows if _headed([row for _, row in rows]) else [(1, []), *rows]


def records(text: str) -> list[dict[str, str]]:
    """Each row by the names of its columns; none unless all lines are rows below such names."""
    rows = [row for _, row in _rows(text)] if confidence(text) else []
    lines = sum(not _RULE.match(line) for _, line in _lines(text)) if rows else 0
    head = rows[0] if rows else []
    if len(rows) < max(lines, _LEAST) or len({*filter(None, head)}) != len(head):
        return []
    return [dict(zip(head, row, strict=True)) for row in rows[1:]
            if len(row) == len(head) and row != head]  # fmt: skip


def _has_values(row: list[str], split: str | None) -> bool:
    """Whether a line of cells is neither empty, nor a rule, nor a count of the rows."""
    is_rule = split == "|" and bool(_RULE.match("".join(row[:1])))
    return any(row) and not (is_rule or _COUNT.match(row[0]))


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
    (first, head), *below = rows
    rows = [row for row in below if row[1] != head]
    others = {n for n, row in rows if len(row) > 2 and row[0] and not any(row[1:])}  # subheadings
    body = [row for row in rows if row[0] not in others]
    lines = _lines(text)
    if callable(_shape([line for _, line in lines[:_ROWS_READ]])[0]):  # no cell has several lines
        others = {n for n, _ in lines} - {first, *(n for n, _ in body)}
    left = [Unit(n, REST, "") for n in sorted(others)]
    by_number = dict(body)

    def shown(number: int) -> str:
        return cut(row_statement(head, by_number[number]), _LONGEST)

    return [*_told(first, head, body, shown), *left] if body else []


def _is_event(line: str) -> bool:
    """Whether a line is one of a log: it begins with its time, and says more than figures."""
    text = bare(line)
    words = text.split()
    are_figures = sum(map(_is_figure, words)) * 2 >= max(_LEAST, len(words))
    return text != line.strip() and not (are_figures and ":" in line.partition(text)[0])


@functools.lru_cache(_SAMPLE)
def _is_figure(word: str) -> bool:
    return bool(_NUMBER.match(word) or _FIGURE.match(word))


def _told(first: int, head: list[str], body: list[Row], shown: Callable[[int], str]) -> list[Unit]:
    """Size, columns with their ends, the last row if it is a total, and the extreme rows."""
    total = body[-1:] if any(cell.lower().rstrip(":") in _TOTALS for cell in body[-1][1]) else []
    body = body[: len(body) - len(total)] or body
    columns = len(head) or max(len(row) for _, row in body)
    names = ", ".join(filter(None, head[:14]))
    size = f"{len(body)} rows, {columns} columns{': ' if names else ''}{names}"
    told = [Unit(first, "table", size, 2.0, 1, "table", derived=True)]
    told += [Unit(at, "total", shown(at), 2.0, 2) for at, _ in total]
    values = {at: numbers(body, at, head) for at in range(min(columns, 30))}
    units = {at: column(head, body, at, of_column) for at, of_column in values.items()}
    ends = {at: of_column for at, of_column in values.items() if of_column}
    main = max(ends, key=lambda at: (ends[at].is_sorted, ends[at].spread), default=-1)
    extreme = [ends[main].rows[-1][1]] if ends else []
    for at in ends:
        if at == main:
            units[at][0] = units[at][0]._replace(rank=2)
    if ends and ends[main].is_sorted:  # the order that its reader wants
        units[main][0] = units[main][0]._replace(weight=_SORTED)
    far_first = sorted(units, key=lambda at: (at != main, -getattr(ends.get(at), "spread", _WORDS)))
    every = [unit for at in far_first for unit in units[at]]
    ill = [row for row in body if says_failed(" ".join(row[1]))]
    kinds = _kinds(ill) if len(ill) * _FEW_ILL <= len(body) else []
    told += [
        Unit(same[0], "row", shown(same[0]), 2.0, 2, "failed", times=len(same)) for same in kinds
    ]
    failed = {same[0] for same in kinds}
    odd = (unit for unit in every if unit.group == "outliers" and unit.line not in failed)
    out = Counter(unit.line for unit in odd)  # in most columns first
    told += [Unit(n, "outlier", shown(n), 2.0, 2, "outliers") for n, _ in out.most_common()]
    is_wide = columns > _CELLS  # a name alone does not say which row it is
    top = [Unit(number, "row", shown(number), 2.0, 3 - is_wide) for number in extreme]
    apt = [unit for unit in every if unit.group != "outliers"]
    told += [*top, *apt] if is_wide else [*apt, *top]
    told += [Unit(n, "row", "", 0.1, LEFT) for n, _ in body[1:2] + body[-2:-1]]
    bad = {number for number, _ in ill}
    others = [row for row in (ill if ends else body) if row[0] not in failed.union(extreme)]
    left = [row for row in (body[0], body[-1], *others[:_ROWS]) if row[0] not in failed]
    for at, (number, _) in enumerate(left):
        weight = 1.5 if number in bad else 0.4 if ends else 0.8
        weight *= 1 - min(at, _ROWS) / (2 * len(body))
        told.append(Unit(number, "row", shown(number), weight))
    return told


def _kinds(rows: list[Row]) -> list[list[int]]:
    """The numbers of some rows, those of each kind together, by the cells that many share."""
    columns = [{*cells} for cells in zip(*(row for _, row in rows), strict=False)]
    shared = [at for at, cells in enumerate(columns) if len(cells) * 2 <= len(rows)]
    kinds: dict[tuple[str, ...], list[int]] = {}
    for number, row in rows:
        kinds.setdefault(tuple(row[at] for at in shared), []).append(number)
    return list(kinds.values())


def column(head: list[str], body: list[Row], index: int, values: Numbers | None) -> list[Unit]:
    """For numbers, the minimum and maximum with their rows; for words, counts and rare ones."""
    filled = [(n, row) for n, row in body if index < len(row) and row[index]]
    counts = Counter(row[index] for _, row in filled)
    name = (head[index] if head else "") or f"column {index + 1}"
    label, twice = naming(body, index), len(filled) - len(counts)
    told, out = list[Unit](), list[Row]()
    if values:
        is_shared = values.rows[-1 - _FEW :][0][0] == values.rows[-1][0]
        weight = 1.3 * min(1.0, 0.3 + values.spread)
        text = _ends(values, index, head, label)
        rank = 4 if is_shared else 3
        told = [Unit(values.rows[-1][1], name, text, weight, rank, "columns", derived=True)]
        out = [(n, row) for n, row in body if index < len(row) and row[index] in _NONE]
        out += [(n, row) for value, n, row in values.rows if value < 0]
    elif 1 < len(counts) <= _CELLS and len(counts) * 2 <= len(filled):
        text = listed(counts, _CELLS)
        told = [Unit(filled[0][0], name, text, 1.2, 3, "columns", derived=True)]
        least, is_pair = min(counts.values()), len(counts) == 2
        rare = [cell for cell, count in counts.items()
                if count == least and (is_pair or not _NUMBER.match(cell))]  # fmt: skip
        out = [(n, row) for n, row in filled if row[index] in rare]
    elif index == 0 and 0 < twice <= len(filled) // 20:
        out = [(n, row) for n, row in filled if counts[row[index]] > 1]
    else:
        out = _strays(filled, index)
    are_few = len(out) <= max(_FEW, len(filled) // 20)
    for number, row in out[:_FEW] if are_few and (values or len(filled) > _CELLS) else ():
        is_short = len(head) > _CELLS
        text = (
            row[index] + f" ({row[label]})" * (label >= 0 and bool(row[label]))
            if is_short
            else row_statement(head, row)
        )
        told.append(Unit(number, "outlier", cut(text, _LONGEST), 2.0, 2, "outliers"))
    return told


def _ends(values: Numbers, index: int, head: list[str], label: int) -> str:
    """The lowest and highest number with their rows, and those next to the most unusual one.

    Of a number in many rows only their count is given: none of them stands out.
    """

    def shown(rows: Iterable[tuple[float, int, list[str]]]) -> str:
        same = [*rows]
        _, _, row = min(same, key=operator.itemgetter(1))
        if len(same) > _FEW or label < 0:
            return row[index] + f" (x{len(same)})" * (len(same) > 1)
        more = f", +{len(same) - 1} more" * (len(same) > 1)
        return f"{row[index]} ({_named(head, row, label)}{more})"

    def ends(rows: list[tuple[float, int, list[str]]], most: int) -> list[str]:
        by_value = itertools.groupby(rows, operator.itemgetter(0))
        return [shown(same) for _, same in itertools.islice(by_value, most)]

    [low] = ends(values.rows, 1)
    high = [end for end in ends(values.rows[::-1], 3) if end != low] or [low]
    named = [end for end in high[1:] if end[-1] == ")" and " (x" not in end]
    return f"{low} to {high[0]}" + (f"; next {', '.join(named)}" if named else "")


def _strays(rows: list[Row], index: int) -> list[Row]:
    """The few rows whose cell lacks a word or number that nearly all others share."""
    pieces = [{*_PIECE.findall(row[index])} for _, row in rows]
    often = Counter(itertools.chain(*pieces))
    shared = {piece for piece, count in often.items() if count * 10 >= len(rows) * 9}
    return [row for row, own in zip(rows, pieces, strict=True) if shared - own]


def numbers(body: list[Row], index: int, head: list[str]) -> Numbers | None:
    """The numbers of a column; None if it has words, few values, or the numbers of the rows."""
    filled = [(n, row) for n, row in body if index < len(row) and row[index] not in _NONE]
    cells = [row[index] for _, row in filled]
    is_sorted_out = len(set(cells)) <= min(_FEW, len(cells) // 2)
    if is_sorted_out or not (_are_numbers(cells[:_SAMPLE]) and _are_numbers(cells)):
        return None
    read = [(*_figure(match), *pair) for pair in filled if (match := _NUMBER.match(pair[1][index]))]
    units = [unit for _, unit, *_ in read]
    scales = (_SIZES, _TIMES, {"": 1, "%": 1}, dict.fromkeys(units[:1], 1))  # of one column
    scale = next((scale for scale in scales if scale.keys() >= {*units}), None)
    if scale is None:
        return None
    rows = [(value * scale[unit], n, row) for value, unit, n, row in read]
    values = [value for value, *_ in rows]
    is_whole = all(map(float.is_integer, values)) and not any(units)
    rises = all(a <= b for a, b in itertools.pairwise(values))
    falls = all(a >= b for a, b in itertools.pairwise(values))
    are_near = max(values) - min(values) < _NEAR * len(values)
    in_row = max(values) - min(values) == len(values) - 1 or (rises and are_near)
    is_first = index == 0 and any(head) and not falls
    is_id = bool(head and _ID.match(head[index]))
    may_name = in_row or is_first or is_id
    if is_whole and len({*values}) == len(values) and may_name:
        return None  # a row number, a rank, an id
    rows.sort(key=lambda pair: pair[0])
    low, usual, high = (rows[at][0] for at in (0, len(rows) // 2, -1))
    spread = max(usual - low, high - usual) / (abs(usual) or 1)
    return Numbers(rows, spread, rises or falls)


def _figure(number: re.Match[str]) -> tuple[float, str]:
    """The value of a match with `digits` and a `unit`, and the unit without the bytes: `K`, `ms`.

    A comma before three digits is no decimal point.
    """
    digits, unit = number["digits"], (number["unit"] or "").removesuffix("B").removesuffix("i")
    if not digits.isdecimal():
        digits = re.sub(r",(?=\d{3}(?!\d))|[$€£]", "", digits).replace(",", ".")
    return float(digits), unit


def _are_numbers(cells: Sequence[str]) -> bool:
    """Whether nearly all cells are numbers, and more than two."""
    count = sum(map(bool, map(_NUMBER.match, cells)))
    return count > 2 and count * 10 >= len(cells) * 9


def naming(body: list[Row], index: int) -> int:
    """The column that names a row: of those with words, the one with most different cells.

    Without any, the first one if all its cells differ; else -1. Judged by a sample of rows.
    """
    body = body[:_NAMED]
    columns = [at for at in range(min(len(row) for _, row in body)) if at != index]
    differ = {
        at: len(
            {
                row[at]
                for _, row in body
                if any(map(str.isalpha, row[at])) and not _NUMBER.match(row[at])
            }
        )
        for at in columns
    }
    best = max(differ, key=lambda at: (differ[at], -at), default=-1)
    if differ.get(best):
        return best
    is_first = index != 0 and len({row[0] for _, row in body}) == len(body)
    return 0 if is_first else -1


def _named(head: list[str], row: list[str], label: int) -> str:
    """The name of a row; a number comes with the name of its column."""
    text = cut(row[label].rstrip(":"), _LABEL)
    is_word = not head or any(map(str.isalpha, text))
    return text if is_word else f"{head[label]} {text}".strip()
