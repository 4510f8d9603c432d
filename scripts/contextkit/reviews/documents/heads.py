"""The head of a line: the pieces before its title, and the severity behind it.

    1. **[P1][auth] Title**          number, severity, tag
    `64-66`: _Bug_ | _🟠 Major_      place, kind, sign, severity; no title
    issue (blocking): Title          kind, severity
    P1-2. HIGH — Title               id, severity
    Title (P0)   a.py — High — Title   severities behind: `tail_of`

A piece is set off by brackets, bold, a colon, a bar, a dot or a dash. A place, a kind or a label is
part of the head only if a severity follows; else it begins the title.
"""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.reviews.documents import places, vocabulary
from contextkit.reviews.documents.vocabulary import SEVERITIES, plain, severity, strictest

LONG = 400  # characters of a line that are examined as a head
_MOST = 7  # pieces
_FEW = 3  # least letters of a title
_FIELD = 3  # words between bars, behind a severity
_OPEN, _CLOSE = r"[*_`]{0,3}", r"(?:[*_`]{1,3})"
_SET_OFF = r"(?:\s{0,3}[:：|·•]|\s{0,3}[—–]|\s{1,3}(?:--?|/)(?=\s)|[.)](?=[\s*_]))"
_SIGN = Pattern(rf"[*_ ]{{0,4}}([^\w\s\0-\x7f✅✔☑👍【]{{1,3}})(?=\W){_OPEN}\s{{0,2}}")
_BRACKETED = Pattern(
    rf"{_OPEN}[\[({{【]([^\[\](){{}}【】\n]{{2,60}})[\])}}】]{_OPEN}{_SET_OFF}?{_OPEN}\s*"
)
_PLACE = Pattern(
    rf"{_OPEN}[\[(]?({places.NAME}{{1,200}}\.\w{{1,8}}(?::\d{{1,7}}|#L\d{{1,7}})?(?:[-–]L?\d{{1,7}})?(?::\d{{1,5}})?"
    r"|(?i:around |at |on )?(?i:lines?\s|L\.?\s?|`)\d{1,7}(?:[-–]\d{1,7})?)"
    rf"[\])]?{_OPEN}(?:{_SET_OFF}|\s)\s*"
)
_NAMED = "|".join(map(re.escape, vocabulary.LISTS["named"]))
_NUMBER = Pattern(
    rf"{_OPEN}(?P<named>(?i:{_NAMED})\s?)?[\[({{]?#?"
    rf"(?P<number>[A-Z]{{0,4}}-?\d[\d./]{{0,6}}(?<!\.)|(?<=\()[a-z](?=\)))[\])}}]?(?P<end>{_CLOSE}?{_SET_OFF}|{_CLOSE}|\s|$){_OPEN}\s*"
)
_WORD = Pattern(
    rf"{_OPEN}([^\W\d_](?:[^*_`|❰❱:：·•()\[\]{{}}—–\n]|_(?=\w)){{0,39}}?)"
    rf"(?P<end>{_CLOSE}{_SET_OFF}?(?=\s|$|[*_])|{_SET_OFF}|\s*$){_OPEN}\s*"
)
KIND = Pattern(  # `issue (blocking):`
    rf"{_OPEN}\w[\w -]{{1,24}}\s?\(([^()\n]{{1,60}})\){_OPEN}[:：]{_OPEN}(?:\s+|$|(?<=：))"
)
_SHOUTED = Pattern(  # `MAJOR a.c:10 …`, `HIGH Title`
    rf"{_OPEN}(P[0-3]|[A-Z]{{3,12}}){_OPEN}\s+"
    rf"(?=[*_`\"'(\[]{{0,3}}[A-Z\[]|{places.NAME}{{1,200}}[:.]\w)"
)
_PIECES = {
    "kind": KIND, "sign": _SIGN, "bracketed": _BRACKETED, "shouted": _SHOUTED, "number": _NUMBER,
    "place": _PLACE, "word": _WORD,
}  # fmt: skip
_SURE, _MAYBE = "sure", "maybe"  # part of the head, or only if a severity follows
_GRADE_NEXT = Pattern(r"[*_\[(]{0,3}[\w-]{2,12}[\])*_]{0,3}:\s")  # behind a name
_CLASS = Pattern(r"S[0-4]")
_UNGRADED = vocabulary.word_set("no scales") | {"impact"}  # which only grades a heading
_GOES_ON = Pattern(r", | before ")
_LOOSE = vocabulary.word_set("loose")
_CODE = Pattern(r"`[^`\n]*(?:[({=;\"']|: (?:true|false|null|\d))[^`\n]*`")  # and no badge
_SCORE = Pattern(r"\(?\d{1,3}[./]\d{1,3}\)?")
_BEHIND = Pattern(r"[(\[]([^()\[\]]{1,80})")
_APART = Pattern(r" [—–|·•-] ")


class Head:
    """What stands before a title, and the title.

    `marked`: something sets the severity or the id off. `is_sign`: only a sign told the severity.
    `number` is an id that nothing sets off, or a plain number behind a name: `Finding 1.1:`.
    """

    def __init__(self, title: str = "") -> None:
        self.severity = self.raw = self.id = self.number = ""
        self.marked = self.is_sign = False
        self.title = title


@functools.lru_cache(1 << 18)
def read(text: str) -> Head:
    """The head of a line."""
    bare = text.strip()
    if _CODE.match(bare):  # which grades nothing
        return Head(plain(bare))
    reader = _Reader(bare)
    for _ in range(_MOST):
        if not reader.take():
            break
    head = reader.head
    head.title = plain(bare[reader.title_at :])
    is_field = "|" in bare[: reader.title_at][-6:] and len(head.title.split()) <= _FIELD
    head.title = "" if is_field and head.raw and not head.id else head.title
    stated = head.severity if head.marked else ""
    if reader.sign:
        stated = stated or tail_of(bare)
        head.severity = head.raw = stated or reader.sign
        head.marked, head.is_sign = True, not stated
    is_padded = len(head.id.partition("-")[2]) == 2  # `H-1` alone may number a hypothesis
    audit = vocabulary.of_audit(head.id) if is_padded and not head.raw else ""
    head.severity = strictest(head.severity, vocabulary.severity_of_id(head.id) or audit)
    return head


class _Reader:
    """The head of one line, piece by piece; the title begins at `title_at`."""

    def __init__(self, text: str) -> None:
        self.head = Head()
        self.sign = ""  # the severity of the first sign that has one
        self.title_at = self._at = 0
        self._text = text
        self._is_sure = True  # of all pieces so far
        self._is_labelled = False  # by a word with a colon

    def take(self) -> bool:
        """Take the next piece; return False where the title begins."""
        for kind, pattern in _PIECES.items():
            piece = pattern.match(self._text, self._at)
            if piece and (taken := getattr(self, f"_{kind}")(piece)):
                self._at = piece.end()
                self._is_sure = self._is_sure and taken == _SURE
                is_part = self._is_sure or bool(self.head.raw or self.sign)
                self.title_at = self._at if taken == _SURE and is_part else self.title_at
                return True
        return False

    def _kind(self, piece: re.Match[str]) -> str:
        return self._grade(strictest(*map(severity, piece[1].split(","))), piece[1])

    def _sign(self, piece: re.Match[str]) -> str:
        self.sign = self.sign or severity(piece[1])
        return _SURE

    def _bracketed(self, piece: re.Match[str]) -> str:
        word = piece[1].strip()
        grade = graded(word) or (vocabulary.of_tool(word) if _CLASS.fullmatch(word) else "")
        is_next = self._text[self._at - 1 : self._at + 1] == "]["  # `[P1][auth]`
        is_tag = is_next and bool(self.head.raw)
        other = _SURE if is_tag else _MAYBE
        return self._grade(grade, word) or self._identify(word, is_set_off=True) or other

    def _shouted(self, piece: re.Match[str]) -> str:
        return self._grade(severity(piece[1]), piece[1])

    def _number(self, piece: re.Match[str]) -> str:
        whole, after = piece[0].strip(), self._text[piece.end() :][:1]
        is_set = whole[0] == "#" or whole[-1] in ")]}" or bool(piece["named"])
        is_set = is_set or after in ("", "[") or bool(piece["end"].strip())
        word = piece["number"]
        if grade := severity(word):
            return self._grade(grade, word, is_set) if is_set or self._is_sure else ""
        if identified := self._identify(word, is_set):
            return identified
        if piece["named"] or vocabulary.is_id(word):
            self.head.number = self.head.number or word
        is_counted = bool(self.head.raw or self.sign or self.head.id)
        return "" if is_counted else _SURE if is_set else _MAYBE

    def _place(self, piece: re.Match[str]) -> str:
        return _MAYBE

    def _word(self, piece: re.Match[str]) -> str:
        word = piece[1].strip()
        if word == self._text:  # nothing sets it off
            return ""
        left = (part for part in word.split() if not vocabulary.is_scale(part))
        is_value = self._is_labelled and not has_words(self._text[piece.end() :])
        grade = severity(word) or severity(" ".join(left))
        grade = grade or _graded_first(word) * (":" in piece[0])
        if is_value and grade:
            return ""  # of a label: `Details: cosmetic.`
        if taken := self._grade(grade, word):
            return taken
        if identified := self._identify(word, is_set_off=True):
            return identified
        is_last = piece.end() == len(self._text)
        return "" if self.head.raw or is_last else self._kind_of(word, ":" in piece[0], piece.end())

    def _kind_of(self, word: str, is_label: bool, behind: int) -> str:
        """Whether a word may say who or what: `lena:`, `Potential issue |`, no `Confidence:`."""
        parts = word.lower().split()
        is_name = word.istitle() and bool(_GRADE_NEXT.match(self._text, behind))
        most = 3 if is_name else 1 if is_label or self.head.id else 3
        is_short = len(word) < 25 and len(parts) <= most
        is_scale = vocabulary.is_scale(word) or not _UNGRADED.isdisjoint(parts)
        is_kind = is_short and not is_scale
        self._is_labelled = is_kind and is_label
        return _MAYBE if is_kind else ""

    def _grade(self, grade: str, word: str, is_set_off: bool = True) -> str:
        if grade and not self.head.raw:
            self.head.severity, self.head.raw = grade, word.strip()
        self.head.marked = self.head.marked or bool(grade and is_set_off)
        return _SURE if grade else ""

    def _identify(self, word: str, is_set_off: bool) -> str:
        is_own = is_set_off or bool(vocabulary.severity_of_id(word))
        is_next = self._is_sure and not self.head.id
        if not (is_next and is_own and vocabulary.is_id(word)):
            return ""
        self.head.id = word.strip(".")
        self.head.marked = self.head.marked or is_set_off
        return _SURE


def _graded_first(word: str) -> str:
    """The severity that begins a lead: `High priority, please`, `Must fix before submit`."""
    first = _GOES_ON.split(word)[0]
    if first == word or first.lower() in _LOOSE:
        return ""
    left = (part for part in first.split() if not vocabulary.is_scale(part))
    return severity(first) or severity(" ".join(left))


def tail_of(text: str, apart: bool = True) -> str:
    """The severity in brackets or, set apart by dashes: `Race (P0)`, `x.py — High — Race`."""
    text = text[: LONG * 2]
    if is_legend(text):
        return ""
    text = _CODE.sub(" ", text).replace("`", "")
    parts = [
        each[1]
        for each in itertools.islice(_BEHIND.finditer(text), 8)
        if letters(each[1]) or not has_words(text[each.end() :])  # a sign within explains itself
    ]
    dashed = (part for part in _APART.split(text)[1:] if apart and 0 < len(part) < 24)
    severities = (severity(plain(_SCORE.sub(" ", part)).strip(" :_|")) for part in dashed)
    return strictest(*map(graded, parts), *severities)


@functools.lru_cache(1 << 14)
def graded(part: str) -> str:
    """The severity that a few words state, perhaps with a score: `9/10 · Critical`."""
    if stated := severity(part):
        return stated
    if "," in part and all(each := [severity(word) for word in part.split(",")]):
        return strictest(*each)
    words = re.sub(r"[:,/·]", " ", _SCORE.sub(" ", part.upper())).split()
    left = [word for word in words if word != "IMPACT" and not vocabulary.is_scale(word)]
    severities = [severity(word) for word in left if word.isalnum()]
    severities = severities or [severity(word) for word in left]
    is_stated = all(severities) or not set(words).isdisjoint(SEVERITIES)
    return strictest(*severities) if 0 < len(words) <= 4 and is_stated else ""


def is_legend(value: str) -> bool:
    """Whether a value explains the severities by naming three of them, in words or signs."""
    signs = () if value.isascii() else (each for each in value[:LONG] if each > "\u2300")
    told = vocabulary.words(value[:LONG])
    return len({*map(severity, told)} - {""}) > 2 or len({*map(severity, signs)} - {""}) > 2


def has_words(text: str) -> bool:
    return letters(text) > _FEW


def letters(text: str) -> int:
    """The number of letters in a text; a sign that stands for a word counts twice."""
    read = text[:200]
    signs = 0 if read.isascii() else sum(char > "\u2e80" and char.isalpha() for char in read)
    return sum(map(str.isalpha, read)) + signs
