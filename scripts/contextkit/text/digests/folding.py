"""Several lines of one form as a single line, with the values in which they differ.

alike(["batch 1 of 4", "batch 9 of 4"], 60)      batch 1…9 of 4
"""

from __future__ import annotations

import itertools
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterable

_ALNUM_END = Pattern(r"(?:\d+[.,])*[^\W_]*$")
_ONE_NUMBER = Pattern(r"\D*(\d+(?:\.\d+)?)\D*$")
_NAMES_FILE = Pattern(r"[\w-]\.[A-Za-z]\w{0,4}(?!\w)")
_FIRST_NUMBER = Pattern(r"\d+")
_IN_ORDER = Pattern(r"[\d/.:-]")  # of what may have an order: numbers, times, paths
_NAMES = 12  # of files that are listed where a range would be wrong
_OPENING, _CLOSING = "([{<\"'", ")]}>:;,.\"'"
_LONGEST = 260  # characters shown of a line
_DIFFER = 5  # words that may differ in lines of one form
_WORD = 80  # characters of a word up to which two values are shown
_VALUES = 3  # values of a word that are listed


def alike(texts: Iterable[str], most: int, named: bool = False) -> str:
    """Lines of one form as a single one of at most `most` characters, with what differs.

    `batch 1 applied` to `batch 9 applied` become `batch 1…9 applied`. With `named`, files are
    listed (those that failed, say) if they are few and no range.
    """
    times = Counter(texts)
    rows = [text[: 4 * _LONGEST].split() for text in times]
    words = rows[0]
    if len(set(map(len, rows))) > 1:
        words = [*words, "…"]
    elif len(rows) > 1:
        again = [(at, count - 1) for at, count in enumerate(times.values()) if count > 1]
        columns = [_counted(column, again) for column in zip(*rows, strict=True)]
        are_few = sum(len(values) > 1 for values in columns) <= _DIFFER
        words = [_as_one(values, named) if are_few or len(values) == 1 else f"{next(iter(values))}…"
                 for values in columns]  # fmt: skip
    return cut(" ".join(words), most)


def cut(text: str, most: int) -> str:
    """A line of any kind in at most `most` characters, cut at a space in its last two thirds."""
    if len(text) <= most:
        return text
    blank = text.rfind(" ", most // 3, most)
    return text[: blank if blank > 0 else most] + " …"


def _counted(words: tuple[str, ...], again: list[tuple[int, int]]) -> dict[str, int]:
    """The count of each word in a column, in order of first occurrence; 1 for each of many.

    again: the positions of words that occur again, and how often they do
    """
    distinct = dict.fromkeys(words, 1)
    if not 1 < len(distinct) <= _VALUES:
        return distinct
    counts = Counter(words)
    for at, count in again:
        counts[words[at]] += count
    return counts


def _as_one(counts: dict[str, int], named: bool) -> str:
    """Values that occur again with their counts, if they are few; else the first and the last.

    Of numbers that go up and down, the least and the greatest; the greatest comes first if they
    fall by more than half of the range. Two files are no range, nor are words: they are listed.
    """
    values = list(counts)
    if len(values) == 1:
        return values[0]
    if len(values) <= _VALUES and len(set(counts.values())) > 1:
        return ", ".join(f"{value} x{times}" for value, times in counts.items())
    is_told = named and len(values) <= _NAMES
    are_apart = len(values) == 2 or (is_told and _have_gaps(values))
    if are_apart and all(map(_NAMES_FILE.search, values)):
        bare = [value.strip(_OPENING + _CLOSING) for value in values]
        return ", ".join([values[0].rstrip(_CLOSING), *bare[1:-1], values[-1].lstrip(_OPENING)])
    matches = itertools.takewhile(bool, map(_ONE_NUMBER.match, values))
    numbers = [float(match[1]) for match in matches if match]
    rises = sorted(numbers)
    if len(numbers) == len(values) and numbers != rises[::-1]:
        low, high = values[numbers.index(rises[0])], values[numbers.index(rises[-1])]
        falls = 2 * (numbers[0] - numbers[-1]) > rises[-1] - rises[0]
        return between(high, low) if falls else between(low, high)
    if any(map(_IN_ORDER.search, values)):
        return between(values[0], values[-1])
    return _listed(values)


def _listed(values: list[str]) -> str:
    """The first words, without what each shares with the first one, and how many more there are."""
    most = len(values) if len(values) <= _VALUES + 1 else _VALUES
    first, *others = values[:most]
    start = min(_shared(first, other) for other in others)
    end = min(_shared(first[::-1], other[::-1]) for other in others)
    end = min(end, *(len(word) - start for word in (first, *others)))
    parts = [first[: len(first) - end], *(word[start : len(word) - end] for word in others)]
    more = f", +{len(values) - most} more" if len(values) > most else ""
    return ", ".join(parts) + first[len(first) - end :] + more


def _have_gaps(names: list[str]) -> bool:
    """Whether names differ in numbers with gaps, so that a range would be wrong."""
    numbers = sorted(int(match[0]) for match in map(_FIRST_NUMBER.search, names) if match)
    return len(numbers) == len(names) and numbers[-1] - numbers[0] != len(names) - 1


def between(word: str, other: str) -> str:
    """Two words as one, without what the second shares with the first: `orders/20…31`."""
    if len(other) < _WORD <= len(word):
        word, other = other, word
    start, end = _shared(word, other), _shared(word[::-1], other[::-1])
    end = min(end, max(0, min(len(word), len(other)) - start))
    rest = other[start:] if word != other and len(other) < _WORD else ""
    return f"{word[: len(word) - end] if rest else word}…{rest}"


def _shared(word: str, other: str) -> int:
    """The length of the beginning that two words share, up to a mark."""
    alike = [
        a for a, b in itertools.takewhile(lambda ab: ab[0] == ab[1], zip(word, other, strict=False))
    ]
    return len(_ALNUM_END.sub("", "".join(alike)))
