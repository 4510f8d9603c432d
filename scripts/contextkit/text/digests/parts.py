"""The part that a statement of prose plays, judging by its words in the languages of reports.

Somebody who acts on minutes, a chat or a mail needs decisions and prohibitions first, then the
cause, the fix, who does what by when, and what is open. Small talk comes last.
"""

from __future__ import annotations

import functools
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterable
from contextkit.text.digests.reading import Unit
from contextkit.text.words import TEXTS

DECIDED, BARRED, CAUSE, ABOUT, MENDED, DUE, OPEN = range(2, 9)  # in the order of telling
ASIDE, NONE = 0, 9
_MOST = (0, 0, 3, 4, 2, 2, 3, 5, 2)  # statements of each part that come first
_WEIGHTS = (1.0, 1.0, 16.0, 16.0, 8.0, 8.0, 6.0, 5.0, 5.0)  # of each part

_MONTH = (
    r"(?:jan|ene|gen|янв|feb|fév|fev|lut|фев|m[aä]r|mrt|мар|a[pbv]r|kwi|апр|ma[iyj]|mag|ма[йя]"
    r"|jun|juin|giu|cze|июн|jul|juil|lug|lip|июл|aug|ao[uû]|ago|sie|авг|se[pt]|wrz|сен"
    r"|o[ckt]t|paź|окт|no[vw]|lis|ноя|de[cz]|dic|gru|дек)\w*"
)
_DAY = Pattern(
    rf"\b(?:\d{{1,2}}(?:\.|st|nd|rd|th|er|º)? (?:de |of )?{_MONTH}|{_MONTH} \d{{1,2}}\b"
    r"|the \d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d\d-\d\d\b|\d{1,2}\.\d{1,2}\."
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:mon|diens|donners|frei|sams)tag\b"
    r"|(?:lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi)\b)"
    r"|\d(?:月|日|월)"
)
_NAMES = {  # of the lists of words, in the order in which they are asked
    OPEN: "open", BARRED: "barred", DECIDED: "decided", CAUSE: "cause", MENDED: "mended",
    DUE: "due", ABOUT: "about",
}  # fmt: skip
_BY_WORDS = {part: TEXTS.any_of(name) for part, name in _NAMES.items() if part not in (DUE, ABOUT)}
_BY_TITLE = {part: TEXTS.any_of(f"title {name}") for part, name in _NAMES.items() if part != CAUSE}
_DUE = TEXTS.any_of("deadline")
_DESCRIBING = TEXTS.any_of("describing", r"[\W\d]*(?:", r")\W*$")


@functools.cache
def of_title(title: str) -> int:
    """The part of the text under a title or behind a label: `Actions`, `Beschluss:`."""
    lower = title.lower()
    words = {part: [by[part] for by in (_BY_TITLE, _BY_WORDS) if part in by] for part in _NAMES}
    return next((part for part in words if any(w.search(lower) for w in words[part])), NONE)


def of_sentences(sentences: Iterable[str], around: int) -> list[tuple[int, bool]]:
    """The part of each sentence of a text that plays the part `around`, and whether it is key.

    Key are prohibitions, and the first sentence of a decision.
    """
    played = []
    for at, sentence in enumerate(sentences):
        own = _of_sentence(sentence) if sentence else NONE
        counts_for_all = around < ABOUT or (own > BARRED and around < NONE)
        part = around if counts_for_all else min(around, own)
        played.append((part, part == BARRED or (around == DECIDED and not at)))
    return played


def _of_sentence(sentence: str) -> int:
    """The part of a sentence by its own words."""
    lower = sentence.lower()
    is_question = lower.rstrip().endswith(("?", "？"))
    for part, words in _BY_WORDS.items():
        if words.search(lower) and not (is_question and part != OPEN):
            return part
    if _DAY.search(lower) and _DUE.search(lower):
        return DUE
    return NONE


def first_of_each(units: list[Unit], played: Iterable[int]) -> list[Unit]:
    """The statements; those that come first in the part that they play weigh most."""
    counts = Counter[int]()
    made = list[Unit]()
    for unit, part in zip(units, played, strict=True):
        counts[part] += 1
        is_early = part != NONE and counts[part] <= _MOST[part]
        factor = _WEIGHTS[part] if is_early else 1.0
        made.append(unit if factor == 1.0 else unit._replace(weight=unit.weight * factor))
    return made


def weighed(blocks: Iterable[tuple[tuple[str, ...], list[Unit]]]) -> list[Unit]:
    """The statements of blocks, given with their headings, weighed by the part that each plays."""
    made: list[Unit] = []
    played: list[int] = []
    for titles, units in blocks:
        around = NONE
        for title in titles[-1:]:
            around = ASIDE if _DESCRIBING.match(title) else of_title(title)
        sentences = of_sentences([unit.text for unit in units], around)
        for unit, (part, is_key) in zip(units, sentences, strict=True):
            made.append(unit._replace(key=True) if is_key and not unit.key else unit)
            played.append(part)
    return first_of_each(made, played)
