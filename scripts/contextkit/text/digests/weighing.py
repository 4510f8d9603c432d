"""How decisive parts of a text are, judging by words in the languages that reports come in.

`make bench what=receipts` measures what the weights keep.
"""

from __future__ import annotations

import functools

from contextkit.base.expressions import Pattern
from contextkit.text.words import TEXTS

_KEY = TEXTS.phrases["key"]
_RECOMMENDING = TEXTS.phrases["recommending"]
_DECIDING = (*_RECOMMENDING, *TEXTS.phrases["deciding"])
_REFERENCES = frozenset(TEXTS.phrases["references"])
_PROPERTIES = frozenset(TEXTS.phrases["properties"])
_STATING, _STATING_PHRASES = frozenset(TEXTS.words["stating"]), TEXTS.phrases["stating phrases"]
_MARKS = str.maketrans(dict.fromkeys('.,;:!?()[]{}<>"*_/|=—–', " ") | {"’": "'"})
NEGATING = TEXTS.any_of("negating")
_AROUND = " \t*_`#-–—:.)(0123456789>•[]"
SERIOUS = Pattern(r"\b(?:P0|P1|BLOCKER|CRITICAL|URGENT|HIGH)\b")
LEANING = TEXTS.any_of("leaning")  # only meaningful with the text before it


def is_label(text: str) -> bool:
    """Whether a line only states a property: `Severity: P1`, `Date: 2026-01-02`."""
    name, colon, value = text.replace("：", ":", 1).partition(":")
    return bool(colon) and value.count(" ") < 7 and name.strip(_AROUND).lower() in _PROPERTIES


@functools.cache
def is_key(text: str) -> bool:
    """Whether a text calls something key: its findings, its summary, its constraint."""
    lower = text.lower()
    return any(word in lower for word in _KEY)


@functools.cache
def only_refers(title: str) -> bool:
    """Whether a heading or lead-in announces mere references: `Sources`, `See also (web):`."""
    return title.partition(" (")[0].lower().strip(_AROUND) in _REFERENCES


@functools.cache
def of_titles(titles: tuple[str, ...]) -> tuple[float, bool]:
    """How decisive text under these headings is, and whether the headings call it key."""
    own = titles[1:] if len(titles) > 1 else titles  # the first is the title of the text itself
    if any(map(only_refers, own)):
        return 0.0, False
    key = any(map(is_key, own))
    return (2.0 if key else 1.5 if any(map(_decides, own)) else 1.0), key


@functools.cache
def _decides(title: str) -> bool:
    lower = title.lower()
    return any(word in lower for word in _DECIDING)


@functools.cache
def recommends(title: str) -> bool:
    """Whether a section of this heading says what to do or what was decided."""
    lower = title.lower()
    return any(word in lower for word in _RECOMMENDING)


def _states(lower: str) -> bool:
    """Whether a word or phrase of a lower-case sentence says what to do or what fails."""
    if not _STATING.isdisjoint(lower.translate(_MARKS).split()):
        return True
    return any(phrase in lower for phrase in _STATING_PHRASES)


@functools.cache
def of_sentence(sentence: str) -> float:
    """How decisive a sentence is by its own words."""
    weight = 1.35 if _states(sentence.lower()) else 1.0
    if SERIOUS.search(sentence):
        weight *= 1.2
    if LEANING.match(sentence):
        weight *= 0.5
    return weight


@functools.cache
def of_statement(text: str) -> float:
    """How decisive a statement of a report is; 0 for a label, a lead-in, or hardly a word."""
    is_lead_in = text.endswith((":", "：")) or len(text.encode()) < 12
    return 0.0 if is_lead_in or is_label(text) else of_sentence(text)
