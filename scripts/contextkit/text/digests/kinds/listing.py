"""A listing, one thing a line: paths, files with sizes, a tree, found lines, counts, commits."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter

from contextkit.base.names import counted
from contextkit.base.type_names import Callable
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

_PATH = Pattern(r"^(?:[^\s:|<>\"'*?]+/)+[^\s:|<>\"'*?]*$")
_HIT = Pattern(  # no line of a compiler or linter
    r"^(?P<path>(?:[\w.@+-]+/)*[\w.@+-]+?\.\w{1,8}|(?:[\w.@+-]+/)+[\w.@+-]+?)"
    r"(?:(?P<hit>(?::\d+)?:(?!:))|=(?:\d+=)?|-\d+-)"  # or a line beside it
    r"(?!.{0,8} (?:fatal )?(?:error|warning|note)(?::| [A-Z]+\d)|[\d:]* ?\[?[A-Z]+\d)(?P<line>.*)$"
)
_DEFINES = Pattern(r"\s*(?:\w+ ){0,3}(?:def|class|fn|func|function|struct|interface|enum) \w")
_COMMIT = Pattern(  # no line of `git blame`
    r"^(?P<commit>[0-9a-f]{7,10})[0-9a-f]{0,30} (?![A-Za-z] \S+$)"  # nor a symbol of `nm`
    r"(?!.{0,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ +\d+\))"
    r"(?:\([^)]+\) )?(?P<subject>\S.*)$"
)
_HEAD = Pattern(r"^commit (?P<commit>[0-9a-f]{7,10})[0-9a-f]{0,30}(?: \(.*\))?$")
_COUNTED = Pattern(  # by `wc`, `uniq -c`, `grep -c`
    r"^ *(?P<count>\d+)(?: +\d+){0,2} +(?P<name>[^\s\d].*)$|^(?P<path>[^\s:]+):(?P<hits>\d+)$"
)
_MARKED = Pattern(r"^(?P<mark> ?[A-Z?!]{1,2}) +\S+(?: -> \S+)?$")  # of `git status -s`
_GRAPH = Pattern(r"^\* +(?:commit )?[0-9a-f]{7,40}\b")  # `git log --graph`
_MERGE = Pattern(r"^Merge (?:branch|pull request|remote|tag)\b")
_ENTRY = (  # of `ls -l`, `find -ls`, `tar -tv`, `unzip -l`
    r"(?: *\d+ +\d+ +)?"
    r"(?:(?P<kind>[-dlcbps])[-rwxsStT]{9}[.+@]? +(?:\d+ +)?(?P<owner>[^\s/]+)(?:/| +)\S+)? +"
    r"(?P<size>\d+(?:[.,]\d+)?[KMGT]?|\d+, +\d+) +"
    r"(?P<date>\w{3} +\d+ +[\d:]+|\d{4}-\d\d-\d\d \d\d:\d\d\S*(?: [+-]\d{4})?) +(?P<name>.+)$"
)
ENTRY = Pattern(_ENTRY)
_FILE = Pattern(rf"{_ENTRY}|(?:total \d\S*|(?P<folder>\S.*):)$")  # with what is between files
_NODE = Pattern(r"^(?P<lines>(?:[│|] *|\s)*)(?:[├└+`\\]─*┬*-* ?)(?P<name>[^\s─-].*)$")
_AMISS = Pattern(r"(?:^|\s)(?:UNMET|unmet|invalid|missing|extraneous|conflict\w*|error)(?![\w@-])")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LOOKED_AT = 200  # lines that are looked at to tell the kind
_SHARE = 0.8  # of them that must have the form
_SHOWN = 8  # folders, files, or endings with their counts
_LINES = 500  # lines that can be shown
_ALIKE = 8  # lines for each mark
_NEWEST = 3  # commits that come first
_LONGEST = 160  # characters shown of a line

Entries = list[tuple[int, re.Match[str]]]  # the lines of a form, with their numbers


def confidence(text: str) -> int:
    """By the share of lines of one form."""
    return 66 if _form(text) else 0


def _form(text: str) -> str:
    """The name of the form that most lines have: one of `_FORMS`, `log` of git, or ''."""
    lines = [line for _, line in _lines(text[:20_000])][:_LOOKED_AT]
    if len(lines) < 5 or reading.formed(lines):
        return ""
    if _HEAD.match(lines[0]) and any(line.startswith("Author: ") for line in lines[1:4]):
        return "log"
    matches = {form: list(filter(None, map(_FORMS[form][0].match, lines))) for form in _FORMS}
    forms = (form for form in _FORMS if len(matches[form]) >= _SHARE * len(lines))
    return next((form for form in forms if _may_be(form, matches[form], lines)), "")


def _may_be(form: str, matches: list[re.Match[str]], lines: list[str]) -> bool:
    """Whether lines of a form are a listing: its counts are no numbering, its marks few."""
    if form == "counts":
        counts = [int(match["count"] or match["hits"]) for match in matches]
        is_numbered = all(b - a == 1 for a, b in itertools.pairwise(counts))
        return len(matches) == len(lines) and not is_numbered
    if form == "files":
        return any(match["size"] for match in matches)
    marks = len({match["mark"] for match in matches}) if form == "marks" else 0
    return form != "marks" or (marks > 1 and len(lines) > _ALIKE * marks)


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without the graph of commits."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if lines and lines[0][1].startswith("* ") and _GRAPH.match(lines[0][1]):
        lines = [(n, line.lstrip("*|\\/_ ")) for n, line in lines]
    return [(n, line.rstrip()) for n, line in lines if line not in ("", "--")]


def units(text: str) -> list[Unit]:
    """How many, the most frequent folders or files with their counts, then the lines."""
    form, lines = _form(text), _lines(text)
    if form in ("", "log"):
        return _log(lines) if form else []
    pattern, told = _FORMS[form]
    entries = [(number, match) for number, line in lines if (match := pattern.match(line))]
    numbers = {number for number, _ in entries}
    others = [Unit(n, reading.REST, line) for n, line in lines if n not in numbers]
    return [*told(entries), *others]


def _paths(entries: Entries) -> list[Unit]:
    """How many paths in which folders, with which endings."""
    folders = Counter(os.path.dirname(match[0]) or "." for _, match in entries)
    endings = Counter(os.path.splitext(match[0])[1] or "no ending" for _, match in entries)
    size = f"{len(entries)} paths in {counted(len(folders), 'folder')}"
    return [
        *_sums(size, "folders", folders),
        Unit(1, "endings", reading.listed(endings, _SHOWN), 1.5, 2, derived=True),
        *(Unit(number, "path", match[0], 0.5) for number, match in entries[:_LINES]),
    ]


def _files(entries: Entries) -> list[Unit]:
    """How many files in how many folders, the largest; then each with its size."""
    folder, files, folders = "", list[tuple[int, str, str]](), 0
    for number, entry in entries:
        if not entry["size"]:
            folder = entry["folder"] or folder
        elif entry["kind"] == "d" or entry["name"].endswith("/"):
            folders += entry["name"] not in (".", "..")
        else:
            files.append((number, os.path.join(folder, entry["name"]), entry["size"]))
    inside = Counter(os.path.dirname(name) for _, name, _ in files)
    below = os.path.commonpath(inside) if all(inside) and len(inside) > 1 else ""
    named = [(n, name[len(below) + 1 :] if below else name, size) for n, name, size in files]
    largest = sorted(named, key=lambda one: -_bytes(one[2]))[:_SHOWN]
    summary = f"{counted(len(files), 'file')} and {counted(folders, 'folder')}"
    shown = ", ".join(f"{name} {size}" for _, name, size in largest)
    return [
        *_sums(f"{summary} below {below}" if below else summary),
        Unit(1, "largest", shown, 2.0, 2, derived=True),
        *(Unit(n, "file", f"{name} {size}", 0.5) for n, name, size in named[:_LINES]),
    ]


def _bytes(size: str) -> float:
    """A size in bytes; 0 for the numbers of a device."""
    digits = size.rstrip("KMGT").replace(",", ".")
    return 0.0 if " " in size else float(digits) * _UNITS.get(size[-1:], 1)


def _tree(entries: Entries) -> list[Unit]:
    """How many entries, those at the top, what is amiss, then the others."""
    nodes = [(n, len(match["lines"]), match["name"][:_LONGEST]) for n, match in entries]
    top = min(depth for _, depth, _ in nodes)
    first = [(number, name) for number, depth, name in nodes if depth == top]
    deeper = [(number, name) for number, depth, name in nodes[:_LINES] if depth > top]
    bad = [(n, name) for n, _, name in nodes if _AMISS.search(name)]
    return [
        *_sums(f"{len(nodes)} entries, {len(first)} at the top"),
        *(Unit(n, "top", name, 2.0, 3, "top", name) for n, name in first[:_LINES]),
        *(Unit(n, "amiss", name, 2.0, 2, "amiss") for n, name in bad),
        *(Unit(n, "entry", name, 0.4) for n, name in deeper),
    ]


def _hits(entries: Entries) -> list[Unit]:
    """How many lines in which files; the first of each file weighs most."""
    files = Counter(match["path"] for _, match in entries if match["hit"])
    count = sum(files.values())
    units = _sums(f"{counted(count, 'line')} in {counted(len(files), 'file')}", "files", files)
    seen = set()
    for at, (number, match) in enumerate(entries[:_LINES]):
        weight = (0.5 if match["path"] in seen else 1.0) * (1 - at / (2 * len(entries)))
        weight *= 3.0 if _DEFINES.match(match["line"]) else 1.0
        seen.add(match["path"])
        units.append(Unit(number, "line", _shown(match), weight * (1.0 if match["hit"] else 0.5)))
    return units


def _counts(entries: Entries) -> list[Unit]:
    """The total, the largest counts, and how many are zero."""
    tally = [(n, int(match["count"] or match["hits"]), _shown(match)) for n, match in entries]
    total = [line for _, _, line in tally[-1:] if line.endswith(" total")]
    tally = tally[: len(tally) - len(total)]
    none = sum(not count for _, count, _ in tally)
    zero = [f"{none} {'is' if none == 1 else 'are'} 0"] if none else []
    largest = sorted(tally, key=lambda one: -one[1])
    shown = ", ".join(line for _, count, line in largest[:_SHOWN] if count)
    return [
        *_sums("; ".join([counted(len(tally), "count"), *total, *zero])),
        Unit(1, "largest", shown, 2.0, 2, derived=True),
        *(Unit(n, "count", line, 0.5) for n, _, line in tally[:_LINES]),
    ]


def _marks(entries: Entries) -> list[Unit]:
    """How many lines of each mark, then those of the rarest mark."""
    marks = Counter(match["mark"].strip() for _, match in entries)
    return _sums(counted(len(entries), "line"), "marks", marks) + [
        Unit(n, mark, _shown(match), 0.3 + 1.0 / marks[mark])
        for n, match in entries[:_LINES]
        if (mark := match["mark"].strip())
    ]


def _shown(match: re.Match[str]) -> str:
    return " ".join(match[0].split())[:_LONGEST]


def _log(lines: list[tuple[int, str]]) -> list[Unit]:
    """The commits of a log in full, with their authors and days."""
    lines = [(number, line.strip()) for number, line in lines]
    heads = ((n, at, _HEAD.match(line)) for at, (n, line) in enumerate(lines))
    commits = [(n, head["commit"], _subject(lines, at)) for n, at, head in heads if head]
    authors = Counter(line[8:].partition(" <")[0] for _, line in lines if line[:8] == "Author: ")
    days = [_day(line[6:]) for _, line in lines if line[:6] == "Date: "]
    return _of_commits(commits, f", {days[0]} to {days[-1]}" if days else "", authors)


def _commits(entries: Entries) -> list[Unit]:
    return _of_commits([(n, match["commit"], match["subject"]) for n, match in entries])


def _of_commits(
    commits: list[tuple[int, str, str]], span: str = "", authors: Counter[str] | None = None
) -> list[Unit]:
    """Each commit with its subject, the newest first; merges weigh little."""
    said = f"{counted(len(commits), 'commit')}, {commits[0][1]} to {commits[-1][1]}{span}"
    units = _sums(said, "authors", authors)
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


def _sums(said: str, name: str = "", counts: Counter[str] | None = None) -> list[Unit]:
    """The size of the listing, and what is most frequent in it."""
    units = [Unit(1, "listing", said, 3.0, 1, "listing", key=True, derived=True)]
    if counts and max(counts.values()) > 1:
        units.append(Unit(1, name, reading.listed(counts, _SHOWN), 2.0, 2, derived=True))
    return units


# in the order in which a text is asked; each with what tells its entries
_FORMS: dict[str, tuple[Pattern, Callable[[Entries], list[Unit]]]] = {
    "files": (_FILE, _files),
    "counts": (_COUNTED, _counts),
    "paths": (_PATH, _paths),
    "tree": (_NODE, _tree),
    "commits": (_COMMIT, _commits),
    "hits": (_HIT, _hits),
    "marks": (_MARKED, _marks),
}
