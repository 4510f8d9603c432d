"""What compilers and linters say: a place, a severity, a code, a message; told by code if many.

diagnostics.find(text)      list[Diagnostic] of the lines, of whatever tool
diagnostics.units(found)    each one, or each code with how often and where first
"""

from __future__ import annotations

import re
from collections import Counter

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import reading
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.reading import Pattern, Unit

_PLACE = r"(?:[A-Za-z]:)?[^\s:()'\"`]+\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?(?:-\d+)?|\(\d+(?:,\d+)?\))"
_SEVERITY = r"fatal error|error|warning|note|info(?:rmation)?|hint|style|convention|refactor"
_CODE = r"[A-Z]{1,6}\d{2,5}"
_PLACED = Pattern(
    rf"\s*(?P<place>{_PLACE})(?::| -)\s+(?:(?P<level>{_SEVERITY}|schwerwiegender Fehler|Fehler"
    rf"|Warnung"
    rf"|erreur|errore|ошибка|предупреждение)(?: (?=TS\d)|(?= ?\[)|:)"
    rf"|(?P<letter>[CEFWR]): (?=\S+/\S+: )"
    rf"|(?={_CODE}\b)|(?=invalid-syntax: ))\s*(?P<said>\S.*)$"
)
_LISTED = Pattern(  # below the name of the file
    rf"\s*(?P<at>\d+:\d+)\s+(?:(?P<level>error|warning|[✖✘×⚠])\s+|(?={_CODE} )"
    rf"|(?=invalid-syntax: ))"
    r"(?P<said>\S.*)$"
)
_FILE = Pattern(r"\s*(\S+\.\w{1,8}):?$")
_ARROW = Pattern(rf"^[ \t]*(?:-->|╭─\[|,-\[) ?(?P<place>{_PLACE})", re.M)  # below the message
_HEADED = Pattern(rf"(?P<level>error|warning)?(?:\[?(?P<code>{_CODE})\]?)?:? *(?P<said>\S.*)$")
_FIRST_CODE = Pattern(rf"({_CODE}|invalid-syntax)\b:? *(?:\[\*\] )?")
_LAST_CODE = Pattern(r"(?:\s\[([-\w/=+]+)\]|\s\((report\w+)\)|\s{2,}([\w@/-]+))$")
_WORSE = ("error", "warning", "")
_READ = 500
_EACH = 12  # so many are told one by one
_CODES = 12  # codes that are listed with their counts
_LONGEST = 220


class Diagnostic(NamedTuple):
    """A message; `line` is its position in the text, from 1, `level` error, warning or ''."""

    line: int
    place: str
    level: str
    code: str
    said: str
    quoted: str = ""  # as the tool says it, with its place


def find(text: Lines) -> tuple[list[Diagnostic], set[int]]:
    """The messages of compilers and linters, and the lines (from 0) that they are in."""
    found: dict[int, Diagnostic] = {}
    file = ""
    for number, line in enumerate(text.all):
        if not line or len(line) > 4 * _READ:
            continue
        if " " not in line and line[0] != "\t" and (name := _FILE.match(line)):
            file = name[1]
        elif ":" in line or "(" in line:
            read = line[:_READ]
            if placed := _PLACED.match(read):
                level = _level(placed["level"] or placed["letter"] or "")
                if level != "note":
                    found[number] = _made(number, placed["place"], level, placed["said"], read)
            elif file and (listed := _LISTED.match(read)):
                level = _level(listed["level"] or "")
                place, said = f"{file}:{listed['at']}", listed["said"]
                found[number] = _made(number, place, level, said, f"{place} {said}")
    for number, place in _arrows(text):
        head = text.all[number].strip()[:_READ]
        if number not in found and not _PLACED.match(head) and (said := _HEADED.match(head)):
            level = _level(said["level"] or "")
            one = _made(number, place, level, said["said"], f"{head} ({place})")
            found[number] = one._replace(code=said["code"] or one.code)
    return [found[number] for number in sorted(found)], set(found)


def _arrows(text: Lines) -> Iterator[tuple[int, str]]:
    """The number of the line above each arrow to a place, and the place."""
    for number, arrow in reading.places(_ARROW, text.whole):
        if number and text.all[number - 1].strip():
            yield number - 1, arrow["place"]


def _made(number: int, place: str, level: str, said: str, quoted: str) -> Diagnostic:
    """A diagnostic of what is said behind its place."""
    said = said.strip()
    first = _FIRST_CODE.match(said)
    last = None if first else _LAST_CODE.search(said)
    code = first[1] if first else next(filter(None, last.groups()), "") if last else ""
    said = said[first.end() :] if first else said[: last.start()] if last else said
    said, quoted = " ".join(said.split()), reading.cut(" ".join(quoted.split()), _LONGEST)
    return Diagnostic(number + 1, place, level, code, said, quoted)


def _level(word: str) -> str:
    """`error`, `warning`, `note`, or '' for what is neither."""
    if word in ("fatal error", "error", "E", "F", "Fehler", "schwerwiegender Fehler", "erreur",
                "errore", "ошибка", "✖", "✘", "×"):  # fmt: skip
        return "error"
    if word in ("warning", "W", "⚠", "Warnung", "предупреждение"):
        return "warning"
    return "note" if word in ("note", "hint") else ""


def units(found: list[Diagnostic]) -> list[Unit]:
    """How many of what, then each of them, or each code if they are many."""
    if len(found) <= _EACH:
        return [
            _unit(one, one.quoted or f"{one.place} {_coded(one)}", [one]) for one in _ordered(found)
        ]
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in found:
        groups.setdefault((one.level, one.code or _form(one.said)), []).append(one)
    made = [_counts(found)]
    for same in sorted(groups.values(), key=lambda g: (_WORSE.index(g[0].level), len(g))):
        first = same[0]
        times = f" x{len(same)}, first at {first.place}" if len(same) > 1 else f" ({first.place})"
        made.append(_unit(first, _coded(first) + times, same))
    return made


def _ordered(found: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda one: (_WORSE.index(one.level), one.line))


def _unit(one: Diagnostic, said: str, same: list[Diagnostic]) -> Unit:
    aspect = one.level or "messages"
    rank = 5 if one.level == "warning" else 4 if one.place.startswith("/usr/") else 3
    return Unit(one.line, aspect, said, 2.0, rank, aspect, one.code, times=len(same))


def _coded(one: Diagnostic) -> str:
    return reading.cut(f"{one.code} {one.said}".strip(), _LONGEST)


def _form(said: str) -> str:
    """What messages without a code have in common: no numbers, and no names in quotes."""
    return re.sub(r"'[^']*'|‘[^’]*’|`[^`]*`|\"[^\"]*\"|\d+", "0", said)


def _counts(found: list[Diagnostic]) -> Unit:
    files = Counter(re.split(r"[:(]\d", one.place)[0] for one in found)
    codes = Counter(one.code for one in found if one.code)
    said = f"{len(found)} messages in {len(files)} file{'s' * (len(files) != 1)}"
    said += f": {listed(codes)}" if codes else ""
    return Unit(1, "messages", said, 2.5, 2, "counts", derived=True)


def listed(counts: Counter[str], most: int = _CODES) -> str:
    """`a x3, b x2, +4 more`."""
    shown = ", ".join(f"{name} x{count}" for name, count in counts.most_common(most))
    return shown + (f", +{len(counts) - most} more" if len(counts) > most else "")
