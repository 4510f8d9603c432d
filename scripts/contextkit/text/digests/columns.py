"""Rows of numbers among other lines: which of them to report.

    columns.rows(lines)      {7: False, 8: True}: rows by number, and whether each stands out

Lines that follow each other are rows if they have numbers in the same places, whatever words are
around them. Those with a value far from all others stand out.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterator
from contextkit.text.digests.reading import paragraphs

_NUMBER = Pattern(
    r"[<>~$€£(]?(?P<digits>[-+]?[$€£]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)"
    r"(?P<unit>%|[A-Za-zµ]{1,3})?[),;:|]?$"
)
SIZES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
TIMES = {"": 1, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1}
_SCALES = {"%": 1, **SIZES, **TIMES}
_LEAST, _MANY = 6, 12  # rows; rows from which on most say little
_FEW = 3  # different rows, which are told with their counts
_WIDE = 240  # characters of a line that is no row
_FAR = 4.0  # times as far from the middle as any other value
_FARTHER, _OFF = 1.25, 3.0  # as far as any other, and times the middle: of many values


def rows(lines: list[str]) -> dict[int, bool]:
    """The rows by number, from 0, and whether each of them stands out.

    The first and the last of many rows are left out: they count as other lines do.
    """
    told: dict[int, bool] = {}
    often = Counter(lines)
    for start, block in paragraphs(lines) if len(lines) >= _LEAST else ():
        parsed = [*enumerate(map(_row, block), start)] if len(block) >= _LEAST else []
        for places, same in itertools.groupby(parsed, key=lambda row: row[1][0]):
            run = [(number, values) for number, (_, values) in same]
            if places and len(run) >= _LEAST and len({lines[n] for n, _ in run}) > _FEW:
                inner = run[1:-1] if len(run) >= _MANY else ()
                told.update((number, False) for number, _ in inner)
                told.update((n, True) for n in _outstanding(run) if often[lines[n]] == 1)
    return told


def _row(line: str) -> tuple[str, list[float]]:
    """Where the numbers of a line are among its words, of which several count as one; the numbers.

    What follows the last number does not matter.
    """
    kinds, values, end = list[str](), list[float](), 0
    for word in line.split() if len(line) < _WIDE else ():
        number = _NUMBER.match(word) if any(map(str.isdigit, word)) else None
        value, unit = figure(number) if number else (0, "-")
        if unit in _SCALES:
            values.append(value * _SCALES[unit])
            kinds.append("9")
            end = len(kinds)
        elif kinds[-1:] != ["w"]:
            kinds.append("w" if any(map(str.isalnum, word)) else word)
    return "".join(kinds[:end]), values


def figure(number: re.Match[str]) -> tuple[float, str]:
    """The value of a match with `digits` and a `unit`, and the unit without the bytes: `K`, `ms`.

    A comma before three digits is no decimal point.
    """
    digits, unit = number["digits"], (number["unit"] or "").removesuffix("B").removesuffix("i")
    if not digits.isdecimal():
        digits = re.sub(r",(?=\d{3}(?!\d))|[$€£]", "", digits).replace(",", ".")
    return float(digits), unit


def _outstanding(run: list[tuple[int, list[float]]]) -> Iterator[int]:
    """The numbers of the rows that stand out."""
    for column in zip(*(values for _, values in run), strict=True):
        middle = sorted(column)[len(column) // 2]
        *_, (other, _), (most, at) = sorted((abs(x - middle), at) for at, x in enumerate(column))
        least = max(_FARTHER * other, _OFF * abs(middle)) if len(run) >= _MANY else math.inf
        if most > min(_FAR * other, least):
            yield run[at][0]
