"""Whether two findings are the same one: by an identity that outlives edits, or by likeness; pure.

    identity("plan.md", "`load()` trusts the token", "src/app.py:42")  ->  f-3b1c9a0d52e7

An identity is the same as long as target, file, symbol and title are. Line numbers are left out,
since they move with every edit; so is the dress of a title.

Two findings are of one place where they name the same file and lines within three, or the same
symbol. Words count by how rare they are among all findings, those of a title most.
"""

from __future__ import annotations

import math
import re

from contextkit.base import names
from contextkit.base.records import Record

SAME, ALIKE = 0.45, 0.42  # from here on one finding, if at one place; and perhaps one, if not
_PLACE = 0.25  # what one place adds
_NEAR = 3  # lines
_WEIGHTS = (3.0, 1.5, 0.4)  # of a word in the title, the section's name, the text
_MOST_WORDS = 120  # of the text
_ENDINGS = ("ations", "ation", "ingly", "ing", "ed", "ies", "es", "s", "ly")
_COMMON = frozenset(
    "the and for with that this from are not but has have its into when where which while will"
    " would can could should may must does only also than then them they there here such more most"
    " some any all each per via use used using one two how what why".split()
)
_LOCATION = re.compile(r"([\w./@+-]*\w\.\w+)(?::|#L)(\d[\d,+\-L]*)")
_SYMBOL = re.compile(r"`([A-Za-z_][\w.:]*)(\(\))?`|\b([a-z_]\w*_\w+|[a-z_]\w+)\(\)")
_FILLERS = frozenset("a an the of in on to and or is are for with".split())
_DIGITS = 12  # of the digest


class Told(Record):
    """What one finding says: its title, the name of its section, its text, and its place."""

    title: str
    section: str = ""
    text: str = ""
    place: str = ""


class Likeness:
    """Compares the findings of one review with each other."""

    def __init__(self, told: list[Told]) -> None:
        counted = [_counted(one) for one in told]
        common: dict[str, int] = {}
        for words in counted:
            for word in words:
                common[word] = common.get(word, 0) + 1
        self._places = [_places(one) for one in told]
        self._symbols = [_symbols(one.title) for one in told]
        self._vectors = [_vector(words, common, len(told)) for words in counted]

    def at_one_place(self, one: int, other: int) -> bool:
        """Whether two findings, by their numbers, name one place."""
        mine, its = self._places[one], self._places[other]
        if mine and its:
            return any(_touch(a, b) for a in mine for b in its)
        return bool(self._symbols[one] & self._symbols[other])

    def words(self, one: int, other: int) -> float:
        """How much two findings say the same, 0 to 1."""
        less, more = sorted((self._vectors[one], self._vectors[other]), key=len)
        return sum(value * more.get(word, 0.0) for word, value in less.items())

    def of(self, one: int, other: int) -> float:
        """The words, and what one place adds; two places that differ are no one finding."""
        if self.at_one_place(one, other):
            return self.words(one, other) + _PLACE
        apart = bool(self._places[one] and self._places[other])
        return 0.0 if apart else self.words(one, other)


def _touch(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    """Whether two places share lines; a single line may be three away."""
    are_ranges = one[1] < one[2] and other[1] < other[2]
    near = 0 if are_ranges else _NEAR
    return one[0] == other[0] and one[1] <= other[2] + near and other[1] <= one[2] + near


def is_pair(alike: Likeness, one: int, other: int) -> tuple[bool, bool]:
    """Whether two findings are one, and whether they perhaps are."""
    score = alike.of(one, other)
    if alike.at_one_place(one, other):
        return score >= SAME, score >= SAME
    return False, score >= ALIKE


def _counted(told: Told) -> dict[str, float]:
    found: dict[str, float] = {}
    parts = (_split(told.title), _split(told.section), _split(told.text)[:_MOST_WORDS])
    for words, weight in zip(parts, _WEIGHTS, strict=True):
        for word in words:
            found[word] = min(found.get(word, 0.0) + weight, 4.0)
    return found


def _vector(words: dict[str, float], common: dict[str, int], of: int) -> dict[str, float]:
    weighed = {word: count * math.log(1 + of / common[word]) for word, count in words.items()}
    length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
    return {word: value / length for word, value in weighed.items()}


def _split(text: str) -> list[str]:
    found = re.findall(r"[^\W_]\w*", text[:4000].lower())
    return [_stem(w) for w in found if w not in _COMMON and (len(w) > 2 or not w.isalpha())]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _places(told: Told) -> list[tuple[str, int, int]]:
    """(file, first line, last line) of each place in the title, its section's name and place."""
    found = []
    for match in _LOCATION.finditer(f"{told.title} {told.section} {told.place}"):
        for part in re.split(r"[+,]", match.group(2).replace("L", "")):
            first, _, last = part.partition("-")
            if first:
                name = file_of(match.group(1)).lstrip("./")
                found.append((name, int(first[:9]), int((last or first)[:9])))
    return found


def _symbols(title: str) -> set[str]:
    """The names of code in a title: `load()`, in ticks or with brackets."""
    return {a or b for a, called, b in _SYMBOL.findall(title) if b or called or "_" in a}


def identity(target: str, title: str, place: str = "", near: str = "") -> str:
    """`f-` and twelve digits. `place` is a path, with lines or without; `near` is the symbol or
    the line of code that it is about, empty where the title names one.
    """
    parts = (" ".join(target.split()), file_of(place).lstrip("./"), near.strip(), _words(title))
    digest = names.sha256("\0".join(parts).encode("utf-8", "replace"))
    return f"f-{digest[:_DIGITS]}"


def file_of(place: str) -> str:
    """`src/app.py` of `src/app.py:42` and `src/app.py#L42-L45`."""
    path = place.partition("#")[0]
    while path.rpartition(":")[2].replace("-", "").replace(",", "").isdigit():
        path = path.rpartition(":")[0]
    return path


def _words(title: str) -> str:
    plain = "".join(char if char.isalnum() or char == "_" else " " for char in title.casefold())
    return " ".join(word for word in plain.split() if word not in _FILLERS)
