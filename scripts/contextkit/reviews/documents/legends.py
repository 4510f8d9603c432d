"""Legends: what a text itself says about its signs, words and numbers for severities.

✅ met · 🚫 must not ship                  the sign is `[P0]` in all other lines
(C) critical, (m) minor
MUST = I block on it; SHOULD = please do; COULD = up to you     also the last of a scale is known
{"9-10": "critical", "7-8": "high"}        of objects: `of_tree`
"""

from __future__ import annotations

import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Any, Callable, Collection, Iterator
from contextkit.reviews.documents import phrases, shapes, vocabulary
from contextkit.text import objects

_DEFINED = Pattern(
    r"(?:[\w ]{1,40}(?::\s|：))?(?:([(\[][A-Za-z]{1,2}[)\]]|[^\w\s|*#`-]{1,10})"
    r"\s*(?:(?:[=:–—|-]|means|is)\s)?|([^\W\d_][\w-]{1,11})\s?(?:[=:–—-]|means|is)\s)"
    r"\s*([^\W\d].{1,120})$"
)
_LETTERED = Pattern(r"[(\[][A-Za-z]{1,2}[)\]] ?[=:–—-]? ?\w{3}.*[(\[][A-Za-z]{1,2}[)\]]")
_WORDED = Pattern(r"[^\W\d_][\w-]{1,11} ?[=:–—] .{2,120}?[;.,·] [^\W\d_][\w-]{1,11} ?[=:–—] ")
_SIGNED = Pattern(r"[(\[][^\w\s]{1,4}[)\]] ?[=:–—] \S")  # `[!!] = must go`
_FORMS = (_SIGNED, _LETTERED, _WORDED)
_COUNTED = Pattern(r"\s*(?:[-*+•]\s)?[`*]{0,3}([(\[][A-Za-z][)\]])")
_ASKED = ("question", "questions")
_MUST = Pattern(
    r"\bmust[ -]?(?:be )?(?:fix|block|stop|change)|\bblock(?:s|er|ing)?\b", re.IGNORECASE
)
_PARTED = Pattern(r"[,;:·]\s?|\.(?:\s|$)|\s/\s")
_NUMBERED = Pattern(r"([A-Za-z]{0,8})[ -]?(\d{1,2})")
_RANGE = Pattern(r"(\d{1,3})\s?[-–]\s?(\d{1,3})")
_TITLED = Pattern(  # `3.2 Erasure of data: RED. The names …`
    r"^(\s{0,8}(?:[-*+•#]{1,6} )?(?:\d[\d.]{0,6}[.)]? )?)([^:|]{4,120}): "
)
_ITEM = Pattern(r"([^\W\d_][\w-]{0,11})\s?(?:[=:–—-]|means|is)\s\s*(.{2,120})$")
_KNOWN = {  # scales in order, and whether they head sections
    (("must", "P0"), ("should", "P2"), ("could", "P3")): True,
    (("red", "P0"), ("amber", "P2"), ("yellow", "P2"), ("green", "P3")): False,
}
_LONGEST = 300  # characters of a line with a legend or a head
_LEVELS = 3  # least words of a scale
_MOST_LEVELS, _LONGEST_NAME = 12, 16
_DEEPEST = 8  # objects in objects


def meant(meaning: str) -> str:
    """The severity that the meaning of a sign or a word comes to, or ''."""
    told = map(vocabulary.severity, _PARTED.split(meaning))
    is_duty = _MUST.search(meaning)
    return vocabulary.strictest(*told, "P0" if is_duty else phrases.demanded_in(meaning))


def scale(meanings: dict[str, str]) -> dict[str, str]:
    """The severities of words by what a legend says of each; empty if it does not tell the order.

    One of which the meaning tells none is as bad as its rank, and none is milder than its own word.
    """
    told = {name: meant(meaning) for name, meaning in meanings.items()}
    counted = _by_number([*meanings])
    order, last = counted or [*meanings], len(meanings) - 1
    if last < _LEVELS - 1 or not (counted or any(told.values())):
        return {}
    ranks = [min(at, 3) if counted else (6 * at + last) // (2 * last) for at in range(last + 1)]
    stated = [(at, vocabulary.SEVERITIES.index(told[x])) for at, x in enumerate(order) if told[x]]
    as_is, reversed_ = (
        sum(abs(rank - each[at]) for at, rank in stated) for each in (ranks, ranks[::-1])
    )
    if as_is == reversed_ and not counted:
        return {}
    by_rank = zip(order, ranks if as_is <= reversed_ else ranks[::-1], strict=True)
    grades = {name: told[name] or f"P{rank}" for name, rank in by_rank}
    own_word = vocabulary.severity if counted else vocabulary.of_tool
    own = {name: vocabulary.strictest(grades[name], own_word(name)) for name in grades}
    return own if vocabulary.strictest(*own.values()) in vocabulary.SERIOUS else {}


def _by_number(words: list[str]) -> list[str]:
    """The words by their numbers, if all are one word with a number each: `sev-1`, `sev-2`."""
    matches = [match for word in words if (match := _NUMBERED.fullmatch(word))]
    is_one = len(matches) == len(words) and len({match[1].lower() for match in matches}) == 1
    counted = sorted(matches, key=lambda match: int(match[2])) if is_one else []
    return [match[0] for match in counted if match[1]]


def of_tree(tree: Any, depth: int = 0) -> dict[str, str]:
    """The severities of the keys of objects that explain them: `{"9-10": "critical", …}`."""
    made: dict[str, str] = {}
    if isinstance(tree, dict) and _LEVELS <= len(tree) <= _MOST_LEVELS:
        meanings = {str(key).lower(): value for key, value in tree.items()}
        are_words = all(len(name) <= _LONGEST_NAME and " " not in name for name in meanings)
        if are_words and all(isinstance(value, str) for value in meanings.values()):
            made = scale(meanings)
    for name in [*made]:
        if match := _RANGE.fullmatch(name):
            low, high = sorted((int(match[1]), int(match[2])))
            made |= dict.fromkeys(map(str, range(low, high + 1)), made[name])
    if depth < _DEEPEST and isinstance(tree, dict | list):
        for inner in itertools.islice(objects.below(tree), _MOST_LEVELS):
            made = of_tree(inner, depth + 1) | made
    return made


def graded(rows: list[str], is_whole: bool = False) -> list[str]:
    """The lines with a severity in place of each sign or word that a legend explains."""
    explain = (
        at
        for at, row in enumerate(rows)
        if not row.isascii() or any(form.search(row[:_LONGEST]) for form in _FORMS)
    )
    every = ((at, meanings(rows[at])) for at in explain)
    told = {at: signs for at, signs in every if signs} | _listed(rows)
    marks = {mark: severity for signs in told.values() for mark, severity in signs.items()}
    if vocabulary.strictest(*marks.values()) not in vocabulary.SERIOUS:
        return _implied(rows)
    replaced = _replacing(marks)
    left = set(_counted_on(rows, marks)) if is_whole else set[int]()
    made = [row if at in left or at in told else replaced(row) for at, row in enumerate(rows)]
    return ["" if at in told and of_signs(rows[at]) else row for at, row in enumerate(made)]


def _listed(rows: list[str]) -> dict[int, dict[str, str]]:
    """The lines of lists in which each item says what a word means, with all these words."""
    made: dict[int, dict[str, str]] = {}
    run: list[tuple[int, str, str]] = []
    for at, row in enumerate([*rows, ""]):
        bare, listed = vocabulary.unbulleted(row.strip())
        match = _ITEM.match(vocabulary.plain(bare)) if listed and len(bare) < _LONGEST else None
        if match:
            run.append((at, match[1], match[2]))
            continue
        names = {name: meaning for _, name, meaning in run}
        is_one_each = _LEVELS <= len(names) == len(run) <= _MOST_LEVELS
        is_led = is_one_each and _leads(rows[: run[0][0]])
        if is_led and not any(map(vocabulary.severity, names)) and (grades := scale(names)):
            made |= dict.fromkeys((line for line, *_ in run), grades)
        run = []
    return made


def _leads(rows: list[str]) -> bool:
    """Whether the last line with words leads to a list, or heads one of severities."""
    above = next(filter(str.strip, reversed(rows[-2:])), "").rstrip(" *_")
    words = vocabulary.words(above)
    is_head = not shapes.EXPLAINS.isdisjoint(words) or shapes.names_scale(above)
    return is_head or (above[-1:] == ":" and not vocabulary.unbulleted(above.strip())[1])


def _implied(rows: list[str]) -> list[str]:
    """The lines with severities for the words of a scale that everybody knows, if it is used.

    Two of its words, one of them the first, head sections or stand in cells or behind titles.
    """
    for scale, at_heads in _KNOWN.items():
        marks = {f(word): grade for word, grade in scale for f in (str.lower, str.title, str.upper)}
        replaced = _headed(marks) if at_heads else _replacing(marks, only_set_off=True)
        made = [*map(replaced, rows)]
        used = {word for word, _ in scale for old, new in zip(rows, made, strict=True)
                if old != new and word in vocabulary.words(old)}  # fmt: skip
        if len(used) > 1 and scale[0][0] in used:
            return made
    return rows


def _headed(marks: dict[str, str]) -> Callable[[str], str]:
    """What replaces the word of a heading that has no other: `## Must have`."""
    alone = re.compile(rf"^(#{{1,6}}\s)[*_]{{0,2}}({'|'.join(marks)})(?:[ -]haves?)?[*_: ]*$")
    return lambda row: alone.sub(lambda match: f"{match[1]}[{marks[match[2]]}]", row)


def _replacing(marks: dict[str, str], only_set_off: bool = False) -> Callable[[str], str]:
    """What replaces the sign or the word at the head of a line, in a cell or behind a title."""
    words = "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))
    signs = "|".join(re.escape(mark) for mark in marks if not mark.isalpha()) or r"(?!)"
    begins = r"^(\s*(?:(?:[-*+•|]|\d+[.)]?|#+)\s)?)"
    head = re.compile(
        rf"{begins}[`*]{{0,3}}(?:({signs})[`*]{{0,3}}(?=\W|$)"
        rf"|({words})[`*]{{0,3}}(?=\s?[:.—–]))"
        rf"|{begins}(?:\*\*|\[|\()({words})(?:\*\*|\]|\))(?=\s)"
    )
    cell = re.compile(rf"(\|\s*)[`*]{{0,3}}({words})[`*]{{0,3}}(?=\s*\|)")
    behind = re.compile(rf"{_TITLED.pattern}[`*]{{0,3}}({words})[`*]{{0,3}}(?:\.(?=\s|$)|\s*$)")

    def headed(match: re.Match[str]) -> str:
        return f"{match[1] or match[4] or ''}[{marks[match[2] or match[3] or match[5]]}]"

    def moved(match: re.Match[str]) -> str:
        grade = f"[{marks[match[3]]}]"
        is_label = vocabulary.is_scale(match[2].strip("*_` "))
        return f"{match[1]}{match[2]}: {grade}" if is_label else f"{match[1]}{grade} {match[2]}."

    def replaced(row: str) -> str:
        row = row if only_set_off else head.sub(headed, row, 1)
        if "|" in row:
            return cell.sub(lambda match: f"{match[1]}{marks[match[2]]} ", row)
        return behind.sub(moved, row, 1) if ": " in row[:_LONGEST] else row

    return replaced


def _counted_on(rows: list[str], marks: Collection[str]) -> Iterator[int]:
    """The lines, from 0, of lists that count in letters past those that a legend explains."""
    runs: list[dict[str, int]] = []
    for at, row in enumerate(rows):
        if match := _COUNTED.match(row):
            before = list(runs[-1])[-1] if runs else ""
            if not before or ord(match[1][1]) != ord(before[1]) + 1:
                runs.append({})
            runs[-1][match[1]] = at
    for run in runs:
        if next(iter(run))[1] in "aA" and any(mark not in marks for mark in run):
            yield from run.values()


def meanings(row: str) -> dict[str, str]:
    """The severities of the signs or words that a legend explains; empty for any other line."""
    return of_signs(row) or next(filter(None, map(_of_words, _parts(row))), {})


def of_signs(row: str) -> dict[str, str]:
    """The meanings of signs in a legend: `✅ met · 🚫 must not ship`; empty for any other line."""
    for parts in itertools.islice(_parts(row), 1):
        told = {match[1]: meant(match[3]) for match in parts if match and match[1]}
        least = 0 if all(sign[0] in "[(" for sign in told) else 1
        is_all = len(told) == len(parts) and sum(map(bool, told.values())) > least
        if is_all and (not _LETTERED.search(row) or _is_key(row, parts)):
            usual = {x: "P2" * (vocabulary.severity(x) in vocabulary.SERIOUS) for x in told}
            return {sign: grade for sign in told if (grade := told[sign] or usual[sign])}
    return {}


def _of_words(parts: list[re.Match[str] | None]) -> dict[str, str]:
    """The severities of words, each of which has a meaning, and none is a severity itself."""
    told = {match[2]: match[3] for match in parts if match and match[2]}
    is_whole = len(told) == len(parts) and not any(map(vocabulary.severity, told))
    grades = scale(told) if is_whole else {}
    return grades | {name.upper(): grade for name, grade in grades.items()}


def _parts(row: str) -> Iterator[list[re.Match[str] | None]]:
    """The parts of a line, each as a definition, for each mark that may set them apart."""
    row = vocabulary.plain(row.strip(" |#")) if len(row) < _LONGEST else ""
    for mark in (" · ", "; ", ", ", ". ", "\u3000", "；", "，"):
        if row.count(mark) > 1:
            yield [_DEFINED.match(part.strip()) for part in row.split(mark)]


def _is_key(row: str, meanings: list[re.Match[str] | None]) -> bool:
    """Whether a line is called a legend, and each of its letters stands for its own grade."""
    first = vocabulary.words(row)[:1]
    told = [match[3].strip(" .") for match in meanings if match]
    grades = {*filter(None, map(vocabulary.severity, told))}
    asked = sum(meaning.lower() in _ASKED for meaning in told)
    is_scale = any(vocabulary.is_scale(word) or shapes.names_scale(word) for word in first)
    is_called = is_scale or not shapes.EXPLAINS.isdisjoint(first)
    return is_called and len(grades) + asked == len(meanings)
