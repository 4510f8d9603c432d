"""Whether two findings are the same one: by an identity that outlives edits, or by likeness; pure.

    identity("plan.md", "`load()` trusts the token", "src/app.py:42")  ->  f-3b1c9a0d52e7

An identity is the same as long as target, file, symbol and title are. Line numbers are left out,
since they move with every edit; so is the dress of a title.

Two findings are of one place where they name the same file and lines within three, or the same
symbol. Words count by how rare they are among all findings, those of a title most. The numbers
below are those that `make bench_duplicates` found best on pairs that people marked.
"""

from __future__ import annotations

import math
import re

from contextkit.base import names
from contextkit.base.records import Record

_ALIKE, _ONE = 0.39, 0.44  # from here on two findings are perhaps one, and are, if at one place
_PLACE = 0.22  # what one place adds to the words
_SAME_TITLE = 0.1  # what two titles have in common, if findings at one place are to be one
_NEAR = 3  # lines
_WEIGHTS = (2.0, 0.5, 0.6)  # of a word in the title, the section's name, the text
_HEAVIEST = 6.0  # that a word gets, however often it is there
_MOST_WORDS = 120  # of the text
_ENDINGS = ("ations", "ation", "ingly", "ing", "ed", "ies", "es", "s", "ly")
_COMMON = frozenset(
    "the and for with that this from are not but has have its into when where which while will"
    " would can could should may must does only also than then them they there here such more most"
    " some any all each per via use used using one two how what why".split()
)
_LOCATION = re.compile(r"([\w./@+-]*\w\.\w+)(?::|#L)(\d[\d,+\-L]*)")
_SYMBOL = re.compile(r"`([A-Za-z_][\w.:]*)(\(\))?`|\b([a-z_]\w*_\w+|[a-z_]\w+)\(\)")
_RATING = re.compile(r"\([^()]*\b(?:impact|effort|addresses)\b[^()]*\)", re.IGNORECASE)
_FILLERS = frozenset("a an the of in on to and or is are for with".split())
_DIGITS = 12  # of the digest


class Told(Record):
    """What one finding says: its title, the name of its section, its text, and its place."""

    title: str
    section: str = ""
    text: str = ""
    place: str = ""


class Likeness:
    """Compares the findings of one review with each other, by their numbers."""

    def __init__(self, told: list[Told]) -> None:
        self._places = [_places(one) for one in told]
        self._symbols = [_symbols(one.title) for one in told]
        self._all = _vectors([_counted(one) for one in told])
        self._titles = _vectors([_counted(Told(title=one.title)) for one in told])

    def at_one_place(self, one: int, other: int) -> bool:
        """Whether two findings name one place."""
        mine, its = self._places[one], self._places[other]
        if mine and its:
            return any(_touch(a, b) for a in mine for b in its)
        return bool(self._symbols[one] & self._symbols[other])

    def words(self, one: int, other: int) -> float:
        """How much two findings say the same, 0 to 1."""
        return _product(self._all[one], self._all[other])

    def of(self, one: int, other: int) -> float:
        """How alike two findings are: their words, and what one place adds; 0 at two places."""
        if self.at_one_place(one, other):
            return self.words(one, other) + _PLACE
        apart = bool(self._places[one] and self._places[other])
        return 0.0 if apart else self.words(one, other)

    def are_alike(self, one: int, other: int) -> bool:
        """Whether two findings are perhaps one."""
        return self.of(one, other) >= _ALIKE

    def are_one(self, one: int, other: int) -> bool:
        """Whether two findings are one: at one place, in like words, of titles in part alike."""
        titles = _product(self._titles[one], self._titles[other])
        here = self.at_one_place(one, other)
        return here and titles >= _SAME_TITLE and self.of(one, other) >= _ONE


def _product(one: dict[str, float], other: dict[str, float]) -> float:
    less, more = sorted((one, other), key=len)
    return sum(value * more.get(word, 0.0) for word, value in less.items())


def _touch(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    """Whether two places share lines; a single line may be three away."""
    are_ranges = one[1] < one[2] and other[1] < other[2]
    near = 0 if are_ranges else _NEAR
    return one[0] == other[0] and one[1] <= other[2] + near and other[1] <= one[2] + near


def _counted(told: Told) -> dict[str, float]:
    """What each word of a finding weighs by where it stands."""
    found: dict[str, float] = {}
    title = _RATING.sub(" ", told.title)
    parts = (_split(title), _split(told.section), _split(told.text)[:_MOST_WORDS])
    for words, weight in zip(parts, _WEIGHTS, strict=True):
        for word in words:
            found[word] = min(found.get(word, 0.0) + weight, _HEAVIEST)
    return found


def _vectors(counted: list[dict[str, float]]) -> list[dict[str, float]]:
    """The words of each finding, the rare ones heavier, as vectors of length 1."""
    common: dict[str, int] = {}
    for words in counted:
        for word in words:
            common[word] = common.get(word, 0) + 1
    found = []
    for words in counted:
        weighed = {w: count * math.log(1 + len(counted) / common[w]) for w, count in words.items()}
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        found.append({word: value / length for word, value in weighed.items()})
    return found


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
