"""What the words of a sentence say about a finding: that it is bad, done, or none.

This is a blocker.   … classified as **major**     said: `said_in`
Please don't go live with these                     demanded: `demanded_in`
Status: fixed        Race (resolved)                done
Fixed: P0-1, P1-2    P0-1 is now fixed: …           fixed since the run before: `fixed_in`, `mends`
False positive.      No findings.                   denied
"""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Collection
from contextkit.reviews.documents import heads, index, places, shapes, vocabulary

_IS_SAID = Pattern(
    r"\b(?i:this|that|it|which|thing)(?: one)?(?: is|'s)(?: also| \w{2,9}ly)?"
    r"(?: an?)? (\w{2,12}(?:[ -]stopper)?)"
    r"(?= and | for | rather | \(|[.,;:!]| (?:issue|problem|bug|finding|priority|severity)\b|$)",
    needs="p0 p1 critical block bug high major severe show",
)
_IS_CALLED = Pattern(  # `One thing I'd call high, …`
    r"\b(?i:call|rate|consider|grade|classif|deem|judge)\w{0,3}(?: it| this| that)?(?: as)?"
    r"(?: an?)? [*_]{0,2}(\w{4,12})(?=[ .,;:!*_]|$)",
    needs="call rate consider grade classif deem judge",
)
FORBIDS = vocabulary.any_of("forbids")
STATES = frozenset(["STATUS", "STATE", "RESOLUTION", "DISPOSITION", "UPDATE"])
_WHEN = ("AFTER ", "AT ", "IN ", "ON ", "SINCE ")
_DONE = vocabulary.word_set("done")
_STATE = "|".join(sorted(_DONE))
_OVER = Pattern(  # a state by itself: `Race (resolved)`, `Fixed: …`
    rf"(?:^|[(\[—–:-]\s?)[^\w!]{{0,4}}(?:{_STATE})\W{{0,3}}(?:$|[:)\]])",
    re.IGNORECASE,
    needs=" ".join(_DONE),
)
_TICKED = Pattern(rf"[✅✔☑][\ufe0f\W]{{0,4}}(?:{_STATE})\b", re.IGNORECASE, needs="✅ ✔ ☑")
_ANSWERED = Pattern(  # the answer to a finding: `Fixed: …`; but `closed, …` may go on a sentence
    rf"\W{{0,4}}(?:(?-i:(?![a-z]))(?:{_STATE})(?:[.,]|\s*$)|(?:{_STATE})[:!])"
    r"(?! *(?:no|not|false|partly)\b)",
    re.IGNORECASE,
    needs=" ".join(_DONE),
)
_BRIEF = 24  # characters of a state
_FEW = 6  # words behind a state
_STATED = Pattern(  # a state, and by whom, where or when: `**Fixed** in 4f0c1de`
    r"\W*\w+\W*(?:$|\b(?:by @?\w+(?<!ing)\b|(?:in|on) (?:commit |version )?\W{0,4}"
    r"(?:[A-Z]|\w*\d\w*\b(?! of))))"
)
UNFIXED = vocabulary.any_of("unfixed")
STILL = vocabulary.any_of("still")
_BETWEEN = {"", *map(str.upper, vocabulary.word_set("links"))}
_NEAR = 5  # words behind an id within which it is said to be fixed
_FIXED_ROW = Pattern(  # ids and separators, and nothing else, behind or before the word
    r"[\s*_`>-]{0,6}fixed[:=\s*_`]{1,6}(?P<ids>[\w.,;&+\s*_`-]{1,400})$"
    r"|(?P<first>[\w.,;&+\s*_`-]{1,400}?)[\s*_`]{0,4}[:=—–][\s*_`]{0,4}fixed[\s*_`.]{0,4}$",
    re.IGNORECASE,
)
OPEN_BOX = Pattern(r"[\s>]{0,8}(?:[-*+]|\d{1,3}[.)])\s\[ \]\s")
WORST = vocabulary.any_of("worst")
BAD = vocabulary.any_of("bad")
DENIES = vocabulary.any_of("denies")
_PARTS = Pattern(r"[,;:—–]\s?")
DENIED = vocabulary.any_of("denied", r"\W*(?:", r")(?:[,;(:—–-][^.]{0,60})?\W*$")


def is_serious(text: str) -> bool:
    """Whether a text says in strong words what goes wrong: `loses data`, `crashes`."""
    return bool(WORST.search(text) or BAD.search(text))


@functools.lru_cache(1 << 14)
def says_over(title: str) -> bool:
    """Whether a heading is about settled things: `Fixed issues (2)`, `✅ Addressed in a1b2c3d`."""
    words = {*vocabulary.words(title)[:2]}
    is_list = not words.isdisjoint(_DONE) and not words.isdisjoint(index.PLURALS)
    return is_list or bool(_OVER.search(title) or _TICKED.search(title))


def rated_in(row: str) -> str:
    """The severity that the words in bold before an opinion come to: `**Confirmed, high.** …`"""
    bold = shapes.BOLD.match(row)
    last = (bold[1] or bold[2]) if bold else ""
    return last_grade(last) or said_in(_PARTS.split(last)[-1])


def last_grade(text: str) -> str:
    """The severity that ends a text behind a mark: `… nothing bad happens; cosmetic.`"""
    return vocabulary.severity(_PARTS.split(text)[-1].strip(" .!"))


def is_settled(row: str) -> bool:
    """Whether a line says that nothing is left to do: `Status: fixed`, `PASSED for …`."""
    first = row[:20].strip().partition(" ")[0]
    if _TICKED.search(row) or (first.isupper() and is_done(first)):
        return True
    after = row.rpartition("→")[2] if "→" in row else ""
    if _ANSWERED.match(row) or is_done(after):
        return True
    return states_done(row)


def states_done(row: str) -> bool:
    """Whether the label of a line is for a state in which nothing is left to do."""
    label, value = vocabulary.labelled(row) if any(map(row[:60].__contains__, ":：|")) else ("", "")
    first, _, rest = label.partition(" ")  # `Status after retest`
    is_state = first in STATES and (not rest or rest.startswith(_WHEN))
    return is_state and is_done(value)


def is_still_open(row: str) -> bool:
    """Whether a line begins with the state of the finding above: `❌ Not fixed. …`."""
    state = re.split(r"[.:,;—–]", row[: heads.LONG], maxsplit=1)[0]
    if len(state) >= _BRIEF or not UNFIXED.search(state):
        return False
    head = heads.read(row[: heads.LONG])
    return head.is_sign or not head.severity


def fixed_in(row: str) -> set[str]:
    """The ids, in capitals, in a line that only says that they are fixed."""
    match = _FIXED_ROW.match(row)
    told = (match["ids"] or match["first"]).upper() if match else ""
    words = set(re.findall(r"\w[\w.-]*(?<=\w)", told)) - {"AND"}
    return words if all(map(vocabulary.is_id, words)) else set()


def mends(row: str, ids: Collection[str]) -> bool:
    """Whether a line begins with one of these ids, in capitals, and says that it is fixed.

    `P0-1: fixed`, `- P0-1 is now fixed: …`; words of any other kind between them may deny it.
    """
    first, *rest = vocabulary.unbulleted(row.strip())[0].upper().split() or [""]
    if vocabulary.trimmed(first) not in ids or STILL.search(row) or OPEN_BOX.match(row):
        return False
    words = [vocabulary.trimmed(word) for word in rest[:_NEAR]]
    over = next((at for at, word in enumerate(words) if is_done(word)), _NEAR)
    between = {word for word in words[:over] if word not in ids}
    return over < _NEAR and between <= _BETWEEN


def is_ticked(row: str) -> bool:
    return vocabulary.unbulleted(row.strip())[0].startswith(("✅", "✔", "☑"))


def is_done(state: str) -> bool:
    return not _DONE.isdisjoint(vocabulary.words(state[:24])[:1])


def end_thread(fields: list[str]) -> bool:
    """Whether a field says that nothing is left to do, and none that something is open."""
    told = [vocabulary.words(field) or [""] for field in fields]
    is_open = any(words[0] == "open" for words in told) or any(map(UNFIXED.search, fields))
    return not is_open and any(
        words[0] in _DONE and len(words) <= _FEW and _STATED.match(field)
        for words, field in zip(told, fields, strict=True)
        if not STILL.search(field)
    )


def demanded_in(text: str) -> str:
    """P0 if a text says that nothing may go out."""
    return "P0" if FORBIDS.search(text) else ""


@functools.lru_cache(1 << 14)
def said_in(text: str) -> str:
    """P0 or P1 if a sentence says so: `This is a blocker`, `… Must fix.`"""
    grades = filter(None, (pattern.search(text) for pattern in (_IS_SAID, _IS_CALLED)))
    stated = [vocabulary.severity(grade[1]) for grade in grades if not _is_taken_back(text, grade)]
    severities = itertools.chain(stated, map(_short_in, sentences(text)))
    return next((each for each in severities if each in vocabulary.SERIOUS), "")


def _is_taken_back(text: str, grade: re.Match[str]) -> bool:
    """Whether a grade is denied by the words before it, or is part of a list of grades."""
    before = vocabulary.words(text[: grade.start()])[-3:]
    denied = not (vocabulary.DENIALS | {"t"}).isdisjoint(before)
    return denied or heads.is_legend(text[grade.start() : grade.end() + shapes.FIELD_LENGTH])


def _short_in(sentence: str) -> str:
    """The severity that a short sentence ends with: `Das ist kritisch.`, `Must fix.`"""
    words = vocabulary.words(sentence[: shapes.GRADED])
    if not 0 < len(words) <= shapes.PHRASE or not vocabulary.DENIALS.isdisjoint(words):
        return ""
    last = vocabulary.severity("-".join(words[-2:])) or vocabulary.severity(words[-1])
    return "" if words[-1] in shapes.LOOSE else last


def sentences(text: str) -> list[str]:
    return [part for part in shapes.SENTENCE.split(text) if heads.has_words(part)]


def first_sentence(text: str) -> str:
    told = [part for part in sentences(text) if not places.place_of(part).file]
    ungraded = (x for x in told if not (shapes.label_in(x) and places.place_in(x).file))
    return next(itertools.chain(ungraded, told), text)[: shapes.TITLE]


def names_only_place(row: str) -> bool:
    """Whether a line is a place, or begins with one and only remarks on it: `a.c:4, in my tree`."""
    match = places.AT_PLACE.match(row)
    after = row[match.end() :].lstrip("0123456789-`*") if match else ""
    is_remark = after[:1] == "," and not heads.tail_of(row) and not said_in(row)
    return is_remark or bool(places.place_of(row).file)
