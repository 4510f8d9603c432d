"""A listing, one thing per line: paths, lines that a search found, or commits."""

from __future__ import annotations

import os
from collections import Counter

from contextkit.base.names import counted
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Pattern, Unit

_PATH = Pattern(r"^(?:[^\s:|<>\"'*?]+/)+[^\s:|<>\"'*?]*$")
_HIT = Pattern(  # no line of a compiler or linter
    r"^(?P<path>(?:[\w.@+-]+/)*[\w.@+-]+\.\w{1,8}|(?:[\w.@+-]+/)+[\w.@+-]+)(?::(?P<at>\d+))?:(?!:)"
    r"(?!.{0,8} (?:fatal )?(?:error|warning|note)(?::| TS)|[\d:]* ?[A-Z]+\d)(?P<line>.*)$"
)
_COMMIT = Pattern(  # no line of `git blame`
    r"^(?P<commit>[0-9a-f]{7,40}) (?!.{0,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ +\d+\))"
    r"(?:\([^)]+\) )?(?P<subject>\S.*)$"
)
_HEAD = Pattern(r"^commit (?P<commit>[0-9a-f]{7,40})(?: \(.*\))?$")
_GRAPH = Pattern(r"^\* +(?:commit )?[0-9a-f]{7,40}\b")  # `git log --graph`
_MERGE = Pattern(r"^Merge (?:branch|pull request|remote|tag)\b")
_LOOKED_AT = 200  # lines that are looked at to tell the kind
_SHARE = 0.8  # of them that must have the form
_SHOWN = 8  # folders, files, or endings with their counts
_LINES = 500  # lines that can be shown
_NEWEST = 3  # commits that come first
_LONGEST = 160  # characters shown of a line


def confidence(text: str) -> int:
    """By the share of lines of one form."""
    return 66 if _form(text) else 0


def _form(text: str) -> str:
    """`paths`, `hits`, `commits`, `log` of git, or ''."""
    lines = [line for _, line in _lines(text[:20_000])][:_LOOKED_AT]
    if len(lines) < 5 or reading.formed(lines):
        return ""
    if _HEAD.match(lines[0]) and any(line.startswith("Author: ") for line in lines[1:4]):
        return "log"
    for form, pattern in (("paths", _PATH), ("commits", _COMMIT), ("hits", _HIT)):
        if sum(bool(pattern.match(line.strip())) for line in lines) >= _SHARE * len(lines):
            return form
    return ""


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without the graph of commits."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if lines and lines[0][1].startswith("* ") and _GRAPH.match(lines[0][1]):
        lines = [(n, line.lstrip("*|\\/_ ")) for n, line in lines]
    return [(n, line) for n, line in lines if line]


def units(text: str) -> list[Unit]:
    """How many, the most frequent folders or files with their counts, then the lines."""
    form = _form(text)
    lines = [(n, line.strip()) for n, line in _lines(text)]
    if form == "paths":
        return _paths(lines)
    if form == "hits":
        return _hits(lines)
    return _commits(lines, form == "log") if form else []


def _paths(lines: list[tuple[int, str]]) -> list[Unit]:
    others = [(number, line) for number, line in lines if not _PATH.match(line)]
    lines = [(number, line) for number, line in lines if _PATH.match(line)]
    folders = Counter(os.path.dirname(line) or "." for _, line in lines)
    endings = Counter(os.path.splitext(line)[1] or "no ending" for _, line in lines)
    found = _sums(f"{len(lines)} paths in {counted(len(folders), 'folder')}", "folders", folders)
    found += [Unit(1, "endings", _most(endings), 1.5, 2, derived=True)]
    found += [Unit(number, "other", line[:_LONGEST], 1.0) for number, line in others]
    return found + [Unit(number, "path", line, 0.5) for number, line in lines[:_LINES]]


def _hits(lines: list[tuple[int, str]]) -> list[Unit]:
    hits = [(n, line, found) for n, line in lines if (found := _HIT.match(line))]
    others = [(n, line) for n, line in lines if not _HIT.match(line) and line != "--"]
    files = Counter(found["path"] for _, _, found in hits)
    units = _sums(f"{len(hits)} lines in {counted(len(files), 'file')}", "files", files)
    seen = set()
    for at, (number, line, found) in enumerate(hits[:_LINES]):
        first = found["path"] not in seen
        seen.add(found["path"])
        said = " ".join(line.split())[:_LONGEST]
        units.append(
            Unit(number, "line", said, (1.0 if first else 0.5) * (1 - at / (2 * len(hits))))
        )
    return units + [Unit(number, "other", line[:_LONGEST], 1.0) for number, line in others]


def _commits(lines: list[tuple[int, str]], in_full: bool) -> list[Unit]:
    """Each commit with its subject; merges weigh little."""
    found = []
    for at, (number, line) in enumerate(lines):
        head = (_HEAD if in_full else _COMMIT).match(line)
        if head:
            subject = head["subject"] if not in_full else _subject(lines, at)
            found.append((number, head["commit"][:10], subject))
    said = f"{len(found)} commits, {found[0][1]} to {found[-1][1]}"
    authors = Counter(line[8:].partition(" <")[0] for _, line in lines if line[:8] == "Author: ")
    dates = [_day(line[6:]) for _, line in lines if in_full and line[:6] == "Date: "]
    said += f", {dates[0]} to {dates[-1]}" if dates else ""
    units = _sums(said, "authors", authors)
    newest = [number for number, _, subject in found if not _MERGE.match(subject)][:_NEWEST]
    for number, commit, subject in found:
        weight = 0.1 if _MERGE.match(subject) else weighing.of_sentence(subject)
        rank = 3 if number in newest else 0
        units.append(Unit(number, "commit", f"{commit} {subject}"[:_LONGEST], weight, rank))
    return units


def _day(date: str) -> str:
    """The day of a date of git: `Feb 1 2026`, or its first word in another form."""
    words = date.split()
    return " ".join((words[1], words[2], words[4])) if len(words) > 4 else "".join(words[:1])


def _subject(lines: list[tuple[int, str]], at: int) -> str:
    """The first line of a commit's message: the one after its fields."""
    for _, line in lines[at + 1 : at + 8]:
        if not line.startswith(("Author: ", "Date: ", "Merge: ", "AuthorDate: ", "Commit")):
            return line
    return ""


def _sums(said: str, name: str, counts: Counter[str]) -> list[Unit]:
    """The size of the listing, and what is most frequent in it."""
    found = [Unit(1, "listing", said, 3.0, 1, "listing", key=True, derived=True)]
    if counts and max(counts.values()) > 1:
        found.append(Unit(1, name, _most(counts), 2.0, 2, derived=True))
    return found


def _most(counts: Counter[str]) -> str:
    shown = counts.most_common(_SHOWN)
    more = f", +{len(counts) - len(shown)} more" if len(counts) > len(shown) else ""
    return ", ".join(f"{name} x{count}" for name, count in shown) + more
