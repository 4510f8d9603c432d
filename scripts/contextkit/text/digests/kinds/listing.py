"""A listing, one thing a line: paths, files with sizes, a tree, found lines, counts, commits."""

from __future__ import annotations

import itertools
import os
from collections import Counter

from contextkit.base.names import counted
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

_PATH = Pattern(r"^(?:[^\s:|<>\"'*?]+/)+[^\s:|<>\"'*?]*$")
_HIT = Pattern(  # no line of a compiler or linter
    r"^(?P<path>(?:[\w.@+-]+/)*[\w.@+-]+\.\w{1,8}|(?:[\w.@+-]+/)+[\w.@+-]+)(?::(?P<at>\d+))?:(?!:)"
    r"(?!.{0,8} (?:fatal )?(?:error|warning|note)(?::| [A-Z]+\d)|[\d:]* ?\[?[A-Z]+\d)(?P<line>.*)$"
)
_COMMIT = Pattern(  # no line of `git blame`
    r"^(?P<commit>[0-9a-f]{7,40}) (?![A-Za-z] \S+$)"  # nor a symbol of `nm`
    r"(?!.{0,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ +\d+\))"
    r"(?:\([^)]+\) )?(?P<subject>\S.*)$"
)
_HEAD = Pattern(r"^commit (?P<commit>[0-9a-f]{7,40})(?: \(.*\))?$")
_COUNTED = Pattern(  # by `wc`, `uniq -c`, `grep -c`
    r"^ *(?P<count>\d+)(?: +\d+){0,2} +(?P<name>[^\s\d].*)$|^(?P<path>[^\s:]+):(?P<hits>\d+)$"
)
_MARKED = Pattern(r"^(?P<mark> ?[A-Z?!]{1,2}) +\S+(?: -> \S+)?$")  # of `git status -s`
_GRAPH = Pattern(r"^\* +(?:commit )?[0-9a-f]{7,40}\b")  # `git log --graph`
_MERGE = Pattern(r"^Merge (?:branch|pull request|remote|tag)\b")
ENTRY = Pattern(  # of `ls -l`, `find -ls`, `tar -tv`, `unzip -l`
    r"(?: *\d+ +\d+ +)?"
    r"(?:(?P<kind>[-dlcbps])[-rwxsStT]{9}[.+@]? +(?:\d+ +)?(?P<owner>[^\s/]+)(?:/| +)\S+)? +"
    r"(?P<size>\d+(?:[.,]\d+)?[KMGT]?|\d+, +\d+) +"
    r"(?P<date>\w{3} +\d+ +[\d:]+|\d{4}-\d\d-\d\d \d\d:\d\d\S*(?: [+-]\d{4})?) +(?P<name>.+)$"
)
_OF_FILES = Pattern(r"^(?:total \d\S*|(?P<folder>\S.*):)$")  # between the files
_NODE = Pattern(r"^(?P<lines>(?:[│|] *|\s)*)(?:[├└+`\\]─*┬*-* ?)(?P<name>[^\s─-].*)$")
_AMISS = Pattern(r"(?:^|\s)(?:UNMET|unmet|invalid|missing|extraneous|conflict\w*|error)\b")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LOOKED_AT = 200  # lines that are looked at to tell the kind
_SHARE = 0.8  # of them that must have the form
_SHOWN = 8  # folders, files, or endings with their counts
_LINES = 500  # lines that can be shown
_ALIKE = 8  # lines for each mark
_NEWEST = 3  # commits that come first
_LONGEST = 160  # characters shown of a line


def confidence(text: str) -> int:
    """By the share of lines of one form."""
    return 66 if _form(text) else 0


def _form(text: str) -> str:
    """`paths`, `files`, `tree`, `hits`, `counts`, `marks`, `commits`, `log` of git, or ''."""
    lines = [line for _, line in _lines(text[:20_000])][:_LOOKED_AT]
    if len(lines) < 5 or reading.formed(lines):
        return ""
    if _HEAD.match(lines[0]) and any(line.startswith("Author: ") for line in lines[1:4]):
        return "log"
    forms = {"paths": _PATH, "tree": _NODE, "commits": _COMMIT, "hits": _HIT}
    entries = sum(bool(ENTRY.match(line)) for line in lines)
    if entries and entries + sum(bool(_OF_FILES.match(line)) for line in lines) >= _SHARE * len(
        lines
    ):
        return "files"
    if _are_counts(lines):
        return "counts"
    for form, pattern in forms.items():
        if sum(bool(pattern.match(line.strip(" "))) for line in lines) >= _SHARE * len(lines):
            return form
    marked = Counter(match["mark"] for line in lines if (match := _MARKED.match(line)))
    is_marked = len(marked) > 1 and sum(marked.values()) >= _SHARE * len(lines)
    return "marks" if is_marked and len(lines) > _ALIKE * len(marked) else ""


def _are_counts(lines: list[str]) -> bool:
    """Whether each line is a count with its name; lines that are just numbered are not."""
    matches = list(map(_COUNTED.match, lines))
    if not all(matches):
        return False
    counts = [int(match["count"] or match["hits"]) for match in matches if match]
    return any(b - a != 1 for a, b in itertools.pairwise(counts))


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
    if form == "files":
        return _files(lines)
    if form == "tree":
        return _tree(_lines(text))
    if form == "counts":
        return _counts(lines)
    if form == "marks":
        return _marks(_lines(text))
    if form == "hits":
        return _hits(lines)
    return _commits(lines, form == "log") if form else []


def _paths(lines: list[tuple[int, str]]) -> list[Unit]:
    others = [(number, line) for number, line in lines if not _PATH.match(line)]
    lines = [(number, line) for number, line in lines if _PATH.match(line)]
    folders = Counter(os.path.dirname(line) or "." for _, line in lines)
    endings = Counter(os.path.splitext(line)[1] or "no ending" for _, line in lines)
    units = _sums(f"{len(lines)} paths in {counted(len(folders), 'folder')}", "folders", folders)
    units += [Unit(1, "endings", reading.listed(endings, _SHOWN), 1.5, 2, derived=True)]
    units += [Unit(number, reading.REST, line) for number, line in others]
    return units + [Unit(number, "path", line, 0.5) for number, line in lines[:_LINES]]


def _files(lines: list[tuple[int, str]]) -> list[Unit]:
    """How many files in how many folders, the largest; then each with its size."""
    folder, files, folders = "", list[tuple[int, str, str]](), 0
    others: list[Unit] = []
    for number, line in lines:
        if entry := ENTRY.match(line):
            name = os.path.join(folder, entry["name"])
            if entry["kind"] == "d" or name.endswith("/"):
                folders += entry["name"] not in (".", "..")
            else:
                files.append((number, name, entry["size"]))
        elif head := _OF_FILES.match(line):
            folder = head["folder"] or folder
        else:
            others.append(Unit(number, reading.REST, line))
    inside = Counter(os.path.dirname(name) for _, name, _ in files)
    below = os.path.commonpath(inside) if all(inside) and len(inside) > 1 else ""
    named = [(n, name[len(below) + 1 :] if below else name, size) for n, name, size in files]
    largest = sorted(named, key=lambda one: -_bytes(one[2]))[:_SHOWN]
    summary = f"{counted(len(files), 'file')} and {counted(folders, 'folder')}"
    units = _sums(f"{summary} below {below}" if below else summary, "folders", Counter())
    shown = ", ".join(f"{name} {size}" for _, name, size in largest)
    units.append(Unit(1, "largest", shown, 2.0, 2, derived=True))
    units += [Unit(n, "file", f"{name} {size}", 0.5) for n, name, size in named[:_LINES]]
    return units + others


def _bytes(size: str) -> float:
    """A size in bytes; 0 for the numbers of a device."""
    digits = size.rstrip("KMGT").replace(",", ".")
    return 0.0 if " " in size else float(digits) * _UNITS.get(size[-1:], 1)


def _tree(lines: list[tuple[int, str]]) -> list[Unit]:
    """How many entries, those at the top, then the others."""
    nodes = [(n, len(m["lines"]), m["name"]) for n, line in lines if (m := _NODE.match(line))]
    top = min(depth for _, depth, _ in nodes)
    first = [(number, name) for number, depth, name in nodes if depth == top]
    summary = f"{len(nodes)} entries, {len(first)} at the top"
    units = [Unit(1, "listing", summary, 3.0, 1, "listing", key=True, derived=True)]
    units += [Unit(n, "top", name[:_LONGEST], 2.0, 3, "top", name) for n, name in first[:_LINES]]
    others = [(n, line) for n, line in lines if not _NODE.match(line)]
    units += [Unit(number, reading.REST, line) for number, line in others]
    bad = [(n, name) for n, _, name in nodes if _AMISS.search(name)]
    units += [Unit(n, "amiss", name[:_LONGEST], 2.0, 2, "amiss") for n, name in bad]
    return units + [Unit(n, "entry", name, 0.4) for n, depth, name in nodes[:_LINES] if depth > top]


def _hits(lines: list[tuple[int, str]]) -> list[Unit]:
    hits = [(n, line, match) for n, line in lines if (match := _HIT.match(line))]
    others = [(n, line) for n, line in lines if not _HIT.match(line) and line != "--"]
    files = Counter(match["path"] for _, _, match in hits)
    units = _sums(f"{len(hits)} lines in {counted(len(files), 'file')}", "files", files)
    seen = set()
    for at, (number, line, match) in enumerate(hits[:_LINES]):
        first = match["path"] not in seen
        seen.add(match["path"])
        text = " ".join(line.split())[:_LONGEST]
        units.append(
            Unit(number, "line", text, (1.0 if first else 0.5) * (1 - at / (2 * len(hits))))
        )
    return units + [Unit(number, reading.REST, line) for number, line in others]


def _counts(lines: list[tuple[int, str]]) -> list[Unit]:
    """The total, the largest counts, and how many are zero."""
    tally = [(n, int(m["count"] or m["hits"]), line) for n, line in lines
             if (m := _COUNTED.match(line))]  # fmt: skip
    total = [line for _, _, line in tally[-1:] if line.endswith(" total")]
    tally = tally[: len(tally) - len(total)]
    none = sum(not count for _, count, _ in tally)
    text = "; ".join([counted(len(tally), "count"), *total, *([f"{none} are 0"] if none else [])])
    units = _sums(text, "", Counter())
    largest = sorted(tally, key=lambda one: -one[1])
    shown = ", ".join(line[:_LONGEST] for _, count, line in largest[:_SHOWN] if count)
    units.append(Unit(1, "largest", shown, 2.0, 2, derived=True))
    return units + [Unit(n, "count", line[:_LONGEST], 0.5) for n, _, line in tally[:_LINES]]


def _marks(lines: list[tuple[int, str]]) -> list[Unit]:
    """How many lines of each mark, then those of the rarest mark."""
    marked = [(n, line, m["mark"]) for n, line in lines if (m := _MARKED.match(line))]
    marks = Counter(mark.strip() for _, _, mark in marked)
    units = _sums(f"{len(marked)} lines", "marks", marks)
    others = [(n, line.strip()) for n, line in lines if not _MARKED.match(line)]
    units += [Unit(number, reading.REST, line) for number, line in others]
    return units + [
        Unit(n, mark.strip(), " ".join(line.split())[:_LONGEST], 0.3 + 1.0 / marks[mark.strip()])
        for n, line, mark in marked[:_LINES]
    ]


def _commits(lines: list[tuple[int, str]], in_full: bool) -> list[Unit]:
    """Each commit with its subject; merges weigh little."""
    commits = []
    for at, (number, line) in enumerate(lines):
        head = (_HEAD if in_full else _COMMIT).match(line)
        if head:
            subject = head["subject"] if not in_full else _subject(lines, at)
            commits.append((number, head["commit"][:10], subject))
    summary = f"{counted(len(commits), 'commit')}, {commits[0][1]} to {commits[-1][1]}"
    authors = Counter(line[8:].partition(" <")[0] for _, line in lines if line[:8] == "Author: ")
    dates = [_day(line[6:]) for _, line in lines if in_full and line[:6] == "Date: "]
    summary += f", {dates[0]} to {dates[-1]}" if dates else ""
    units = _sums(summary, "authors", authors)
    newest = [number for number, _, subject in commits if not _MERGE.match(subject)][:_NEWEST]
    for number, commit, subject in commits:
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
    units = [Unit(1, "listing", said, 3.0, 1, "listing", key=True, derived=True)]
    if counts and max(counts.values()) > 1:
        units.append(Unit(1, name, reading.listed(counts, _SHOWN), 2.0, 2, derived=True))
    return units
