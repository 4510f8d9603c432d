"""Whether two findings are the same: by an identity that survives edits, or by likeness; pure.

    identity("plan.md", "`load()` trusts the token", "src/app.py:42")  ->  f-3b1c9a0d52e7

An identity is the same as long as target, file, symbol and title are. Line numbers are left out,
since they change with every edit, and so is the markup of a title.

Two findings are at one place if they name the same file and lines within three of each other, or
the same symbol. Words are weighted by how rare they are among all findings; those of a title weigh
most. The constants below scored best in `make bench_duplicates` on pairs labeled by people.
"""

from __future__ import annotations

import math
import re

from contextkit.base import names
from contextkit.base.records import Record
from contextkit.base.type_names import Sequence

_ALIKE, _ONE = 0.39, 0.44  # thresholds: perhaps one finding; one finding if at one place
_PLACE = 0.22  # the bonus for sharing a place
_SAME_TITLE = 0.1  # minimum likeness of the titles of one finding at one place
_NEAR = 3  # lines
_WEIGHTS = (2.0, 0.5, 0.6)  # of a word in the title, the section's name, and the text
_HEAVIEST = 6.0  # maximum weight of a word, however often it occurs
_MOST_WORDS = 120  # of the text
_ENDINGS = ("ations", "ation", "ingly", "ing", "ed", "ies", "es", "s", "ly")
_COMMON = frozenset(
    "the and for with that this from are not but has have its into when where which while will"
    " would can could should may must does only also than then them they there here such more most"
    " some any all each per via use used using one two how what why".split()
)
_LOCATION = re.compile(r"(?<![\w./@+-])([\w./@+-]*\w\.\w+)(?::|#L)(\d[\d,+\-L]*)")
_SYMBOL = re.compile(r"`([A-Za-z_][\w.:]*)(\(\))?`|\b([a-z_]\w+)\(\)")
_RATING = re.compile(r"\([^()]*\b(?:impact|effort|addresses)\b[^()]*\)", re.IGNORECASE)
_FILLERS = frozenset("a an the of in on to and or is are for with".split())
_DIGITS = 12  # in the digest


class Wording(Record):
    """What one finding says: its title, section name, text, and place."""

    title: str
    section: str = ""
    text: str = ""
    place: str = ""


class Likeness:
    """Compares the findings of one review with each other, by their numbers."""

    def __init__(self, wordings: Sequence[Wording]) -> None:
        self._places = [_places(wording) for wording in wordings]
        self._symbols = [_symbols(wording.title) for wording in wordings]
        self._all = _vectors([_counted(wording) for wording in wordings])
        self._titles = _vectors([_counted(Wording(title=wording.title)) for wording in wordings])

    def at_one_place(self, first: int, second: int) -> bool:
        """Whether two findings name one place."""
        mine, its = self._places[first], self._places[second]
        if mine and its:
            return any(_touch(a, b) for a in mine for b in its)
        return bool(self._symbols[first] & self._symbols[second])

    def of(self, first: int, second: int) -> float:
        """Return the likeness of two findings: their words plus a bonus for one place; 0 apart."""
        here = self.at_one_place(first, second)
        apart = not here and self._places[first] and self._places[second]
        return 0.0 if apart else _product(self._all[first], self._all[second]) + _PLACE * here

    def are_alike(self, first: int, second: int) -> bool:
        """Whether two findings are perhaps the same."""
        return self.of(first, second) >= _ALIKE

    def are_one(self, first: int, second: int) -> bool:
        """Whether two findings are one: at one place, with similar words and related titles."""
        titles = _product(self._titles[first], self._titles[second])
        here = self.at_one_place(first, second)
        return here and titles >= _SAME_TITLE and self.of(first, second) >= _ONE


def _product(first: dict[str, float], second: dict[str, float]) -> float:
    less, more = sorted((first, second), key=len)
    return sum(value * more.get(word, 0.0) for word, value in less.items())


def _touch(first: tuple[str, int, int], second: tuple[str, int, int]) -> bool:
    """Whether two places share lines; a single line may be up to three away."""
    are_ranges = first[1] < first[2] and second[1] < second[2]
    near = 0 if are_ranges else _NEAR
    return first[0] == second[0] and first[1] <= second[2] + near and second[1] <= first[2] + near


def _counted(wording: Wording) -> dict[str, float]:
    """Return the weight of each word of a finding by where it occurs."""
    weights: dict[str, float] = {}
    title = _RATING.sub(" ", wording.title)
    parts = (_split(title), _split(wording.section), _split(wording.text)[:_MOST_WORDS])
    for words, weight in zip(parts, _WEIGHTS, strict=True):
        for word in words:
            weights[word] = min(weights.get(word, 0.0) + weight, _HEAVIEST)
    return weights


def _vectors(counted: list[dict[str, float]]) -> list[dict[str, float]]:
    """Return the words of each finding, rarer ones heavier, as unit vectors."""
    common: dict[str, int] = {}
    for words in counted:
        for word in words:
            common[word] = common.get(word, 0) + 1
    vectors = []
    for words in counted:
        weighed = {w: count * math.log(1 + len(counted) / common[w]) for w, count in words.items()}
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        vectors.append({word: value / length for word, value in weighed.items()})
    return vectors


def _split(text: str) -> list[str]:
    words = re.findall(r"[^\W_]\w*", text[:4000].lower())
    return [_stem(w) for w in words if w not in _COMMON and (len(w) > 2 or not w.isalpha())]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _places(wording: Wording) -> list[tuple[str, int, int]]:
    """Return (file, first line, last line) of each place in the title, section name and place."""
    places = []
    for match in _LOCATION.finditer(f"{wording.title} {wording.section} {wording.place}"):
        for part in re.split(r"[+,]", match.group(2).replace("L", "")):
            first, _, last = part.partition("-")
            if first:
                name = file_of(match.group(1)).lstrip("./")
                places.append((name, int(first[:9]), int((last or first)[:9])))
    return places


def _symbols(title: str) -> set[str]:
    """Return the code names in a title: `load()`, in backticks or followed by parentheses."""
    return {a or b for a, called, b in _SYMBOL.findall(title) if b or called or "_" in a}


def identity(target: str, title: str, place: str = "", near: str = "") -> str:
    """Return `f-` and twelve digits. `place` is a path with or without lines.

    `near` is the symbol or line of code that the finding is about; empty if the title names one.
    """
    parts = (" ".join(target.split()), file_of(place).lstrip("./"), near.strip(), _words(title))
    digest = names.sha256("\0".join(parts).encode("utf-8", "replace"))
    return f"f-{digest[:_DIGITS]}"


def file_of(place: str) -> str:
    """Return `src/app.py` from `src/app.py:42` or `src/app.py#L42-L45`."""
    path = place.partition("#")[0]
    while path.rpartition(":")[2].replace("-", "").replace(",", "").isdigit():
        path = path.rpartition(":")[0]
    return path


def line_of(place: str) -> int:
    """Return the first line that a place names; 0 for none."""
    match = re.search(r"\d{1,9}", place[len(file_of(place)) :])
    return int(match[0]) if match else 0


def _words(title: str) -> str:
    words = re.findall(r"\w+", title.casefold())
    return " ".join(word for word in words if word not in _FILLERS)
