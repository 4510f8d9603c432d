"""A listing with one thing per line: paths, files with sizes, a tree, search hits, commits."""

from __future__ import annotations

import bisect
import itertools
import os
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.names import counted
from contextkit.base.type_names import Callable, Iterator
from contextkit.text.digests import folding, reading, weighing
from contextkit.text.digests.failure_words import is_amiss, says_failed
from contextkit.text.digests.pieces import Piece, in_pieces, lines_of, of_piece
from contextkit.text.digests.reading import Unit

_PATH = Pattern(r"^(?:[^\s:|<>\"'*?]+/)+[^\s:|<>\"'*?]*$")
ODD_PATH = Pattern(r"(?!.*: )[^|]*/[^|]*\.\w{1,8}")  # with blanks or colons, among others
_HIT = Pattern(  # not a line of a compiler or linter
    r"^(?P<path>/?(?:[\w.@+-]+/)*[\w.@+-]+?\.\w{1,8}|/?(?:[\w.@+-]+/)+[\w.@+-]+?)"
    r"(?:(?P<hit>(?::\d+)?:(?!:))|=(?:\d+=)?|-\d+-)"  # or a context line
    r"(?!.{0,8} (?:fatal )?(?:error|warning|note)(?::| [A-Z]+\d)|[\d:]* ?(?:\[?[A-Z]+\d|[A-Z]+$)"
    r"|[\d:]*:? ?[a-z]+(?:-[a-z\d]+)+(?:: | [A-Z`'])).*$"
)
_DEFINES = Pattern(
    r"[:=-][ \t]*(?:(?:export|pub(?:\([^)]*\))?|public|static|async|default|abstract) )*"
    r"(?:def|class|func(?: \([^)]*\))?|function|fun|fn|type|struct|enum|trait|interface|module"
    r"|#define|const) (\w{3,})"
    r"(?=\s*[({:=<]|\s*$| (?:struct|interface|extends|implements|for|where|\d))"
)
_WORD = Pattern(r"\w{3,}")
_COMMIT = Pattern(  # not a line of `git blame`
    r"^(?P<commit>[0-9a-f]{7,10})[0-9a-f]{0,30} (?![A-Za-z] \S+$)"  # not a symbol of `nm`
    r"(?!.{0,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ +\d+\))"
    r"(?:\((?P<refs>[^)]+)\) )?(?P<subject>\S.*)$"
)
_HEAD = Pattern(r"^commit (?P<commit>[0-9a-f]{7,10})[0-9a-f]{0,30}(?: \((?P<refs>.*)\))?$")
_OF_COMMIT = Pattern(r"(?:Author|Date|Merge|AuthorDate|Commit\w*): ")
_BREAKS, _WRAPPED = ("BREAKING CHANGE: ", "BREAKING-CHANGE: "), 4  # and the lines of its paragraph
_TRAILER = Pattern(r"\s*[A-Z][\w-]+(?:: | #)")
_NOTABLE = Pattern(r"^Revert\b|^\w+(?:\([^)]*\))?!:|; BREAKING.CHANGE: |\bCVE-\d")
_MERGE = Pattern(r"^Merge (?:branch|pull request|remote|tag)\b")
_ENTRY = (  # of `ls -l`, `find -ls`, `tar -tv`, `unzip -l`
    r"(?: *\d+ +\d+ +)?"
    r"(?:(?P<mode>(?P<kind>[-dlcbps])[-rwxsStT]{9}[.+@]?) +"
    r"(?:\d+ +)?(?P<owner>[^\s/]+)(?:/| +)(?P<group>\S+))? +"
    r"(?P<size>\d+(?:[.,]\d+)?[KMGT]?|\d+, +\d+) +"
    r"(?P<date>\w{3} +\d+ +[\d:]+|\d{4}-\d\d-\d\d \d\d:\d\d\S*(?: [+-]\d{4})?) +(?P<name>.+)$"
)
ENTRY = Pattern(_ENTRY)
_FILE = Pattern(rf"{_ENTRY}|(?:total \d\S*|(?P<folder>\S.*):)$")  # with the lines between files
_NODE = Pattern(r"^(?P<lines>(?:[│|] *|\s)*)(?:[├└]─*┬*-* ?|[+`\\]-+┬?-* ?)(?P<name>[^\s─-].*)$")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LOOKED_AT = 200  # lines by which the form is known
_SHARE = 0.8  # share of them that must have the form
_SHOWN = 8  # folders, files, or endings with their counts
_LINES = 500  # lines that can be shown
_NAMED = 8  # commits with a branch or tag that come first
_NEWEST = 3  # commits that come first
_VERSIONED = Pattern(r"\S+ (?=v?\d)|\S+@\S+")  # the name of a package
_LONGEST = 160  # characters shown of a line

_FIELD = Pattern(r"( *+)(\w[\w./ -]*+(?=:(?:\s|$))|(?<! )[A-Za-z][\w|]*+(?=:[^:/])):\s*(\S.*)?$")
_STATE = Pattern(r"(?:[A-Z][A-Za-z]*[A-Z][a-z]+|False)$")  # `OOMKilled`
_COUNT = Pattern(r"(?:.*\b(?:Count|Code|Failures|Errors|Restarts): +[1-9]\d*)$")
_PAIR = Pattern(r"(\w[\w|]*)=([1-9]\d*)(?![\w.])")  # a number that is not 0, with its name
_FAILURES = Pattern(r"fail|error|reject|abort|drop|denied|refus|corrupt|(?:^|_)errs?(?:_|$)", re.I)
STATES = "states"  # the group of those
_FIELDS = 20  # least fields of a description

_Commit = tuple[int, str, str, str]  # line number, name, subject, branches and tags at it
_Field = tuple[int, str, str, str]  # line number, indent, name and value
Entries = list[tuple[int, re.Match[str]]]  # the lines of one form, with their numbers


def confidence(text: str) -> int:
    """The confidence by the share of lines of one form."""
    return 66 if _form(text) else 0


def _form(text: str) -> str:
    """The form of most lines: a key of `_FORMS`, `log` for git's log, or ''."""
    lines = [line for _, line in _lines(text[:20_000])][:_LOOKED_AT]
    if len(lines) < 5 or reading.formed(lines):
        return ""
    if _HEAD.match(lines[0]) and any(line.startswith("Author: ") for line in lines[1:4]):
        return "log"
    for form, (pattern, _) in _FORMS.items():
        matches = list(filter(None, map(pattern.match, lines)))
        if len(matches) >= _SHARE * len(lines) and (
            form != "files" or any(m["size"] for m in matches)
        ):
            return form
    return ""


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without the graph of commits."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if lines and lines[0][1].startswith("* ") and reading.COMMITS.match(lines[0][1]):
        lines = [(n, line.lstrip("*|\\/_ ")) for n, line in lines]
    return [(n, line.rstrip()) for n, line in lines if line not in ("", "--")]


def units(text: str) -> list[Unit]:
    """The number of entries, the most frequent folders or files with their counts, then lines."""
    form, lines = _form(text), _lines(text)
    if form in ("", "log"):
        return _log(lines) if form else []
    pattern, told = _FORMS[form]
    entries = [(number, match) for number, line in lines if (match := pattern.match(line))]
    if form == "paths":
        folders = {os.path.dirname(match[0]) for _, match in entries}
        odd = [(n, match) for n, line in lines if os.path.dirname(line) in folders
               and not pattern.match(line) and (match := ODD_PATH.fullmatch(line))]  # fmt: skip
        entries = sorted([*entries, *odd], key=lambda entry: entry[0])
    numbers = {number for number, _ in entries}
    others = [Unit(n, reading.REST, line) for n, line in lines if n not in numbers]
    units = told(entries)
    return [*(_below_roots(units, others) if form == "tree" else units), *others]


def _below_roots(units: list[Unit], others: list[Unit]) -> list[Unit]:
    """The entries of several trees, each under the line above its tree."""
    roots = [root for root in others if any(unit.line == root.line + 1 for unit in units)]
    if len(roots) < 2:
        return units
    lines = [root.line for root in roots]
    return [unit._replace(aspect=" ".join(roots[bisect.bisect(lines, unit.line) - 1].text.split()))
            if unit.aspect in ("top", "entry") else unit
            for unit in units]  # fmt: skip


def _paths(entries: Entries) -> list[Unit]:
    """The numbers of paths, by folder and by file extension."""
    endings = Counter(os.path.splitext(match[0])[1] or "no ending" for _, match in entries)
    shown = reading.listed(endings, _SHOWN)
    return [
        *_grouped(entries, "path", "folder", lambda match: os.path.dirname(match[0]) or "."),
        Unit(1, "endings", shown, 1.5, 2, derived=True),
    ]


def _hits(entries: Entries) -> list[Unit]:
    """The number of hits in each file, without context lines; a definition comes first."""
    units = _grouped(entries, "line", "file", lambda match: match["hit"] and match["path"])
    hits = [(number, match[0]) for number, match in entries if match["hit"]]
    named = {number: define[1] for number, hit in hits if (define := _DEFINES.search(hit))}
    often = Counter(word for _, hit in hits if named for word in {*_WORD.findall(hit)})
    defined = {number for number, name in named.items() if often[name] * 2 > len(hits)}
    return [unit._replace(rank=unit.rank or 3 * (unit.line in defined)) for unit in units]


def _grouped(
    entries: Entries, noun: str, where: str, group_of: Callable[[re.Match[str]], str | None]
) -> list[Unit]:
    """The number of entries in each group; then all, the first of small groups before others."""
    groups = Counter(group for _, match in entries if (group := group_of(match)))
    count = sum(groups.values())
    seen = Counter[str]()
    units = _sums(f"{counted(count, noun)} in {counted(len(groups), where)}", f"{where}s", groups)
    told: list[Unit] = []
    for at, (number, match) in enumerate(entries[:_LINES]):
        group = group_of(match) or ""
        seen[group] += 1
        weight = (0.5 + 0.5 / seen[group]) * (1 - at / (2 * len(entries)))
        weight *= 1.0 if groups[group] * 2 < count else 0.5
        told.append(Unit(number, noun, _shown(match), weight, group=noun if group else ""))
    return [*units, *_counted(told, count - sum(bool(unit.group) for unit in told))]


def _counted(units: list[Unit], left: int) -> list[Unit]:
    """Equal units as one with their count; then one for those that are left out."""
    times = Counter(unit.text for unit in units)
    first = {unit.text: unit for unit in reversed(units)}
    told = [first[text]._replace(times=count) for text, count in times.items()]
    last = [unit for unit in units if unit.group][-1:]
    return [*told, *(unit._replace(text="", times=left) for unit in last if left)]


def _files(entries: Entries) -> list[Unit]:
    """The number of files and folders, and the largest; then each file with its size."""
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
    largest = sorted(named, key=lambda row: -_bytes(row[2]))[:_SHOWN]
    summary = f"{counted(len(files), 'file')} and {counted(folders, 'folder')}"
    shown = ", ".join(f"{name} {size}" for _, name, size in largest)
    return [
        *_sums(f"{summary} below {below}" if below else summary),
        Unit(1, "largest", shown, 2.0, 2, derived=True),
        *_counted([Unit(n, "file", f"{name} {size}", 0.5, group="file")
                   for n, name, size in named[:_LINES]], len(named[_LINES:])),
    ]  # fmt: skip


def _bytes(size: str) -> float:
    """A size in bytes; 0 for the numbers of a device file."""
    digits = size.rstrip("KMGT").replace(",", ".")
    return 0.0 if " " in size else float(digits) * _UNITS.get(size[-1:], 1)


def _tree(entries: Entries) -> list[Unit]:
    """The number of entries, those at the top, then unusual ones, then the others."""
    nodes = [(n, len(match["lines"]), " ".join(match["name"].split())[:_LONGEST])
             for n, match in entries]  # fmt: skip
    top = min(depth for _, depth, _ in nodes)
    first = [(number, name) for number, depth, name in nodes if depth == top]
    deeper = [(number, name) for number, depth, name in nodes if depth > top]
    bad = [(n, name) for n, _, name in nodes
           if " " in name and is_amiss(_VERSIONED.sub("", name))]  # fmt: skip
    return [
        *_sums(f"{len(nodes)} entries, {len(first)} at the top"),
        *(Unit(n, "top", name, 2.0, 3, "top", name) for n, name in first[:_LINES]),
        *(Unit(n, "amiss", name, 2.0, 2, "amiss") for n, name in bad),
        *_counted([Unit(n, "entry", name, 0.4, group="entry") for n, name in deeper[:_LINES]],
                  len(deeper[_LINES:])),
    ]  # fmt: skip


@of_piece
def _fields(piece: Piece) -> list[tuple[int, tuple[str, str, str]]]:
    """The lines of a piece that are fields of a description, by number: indent, name, value."""
    return [(number, match.group(1, 2, 3)) for number, line in enumerate(piece.all)
            if ":" in line and (match := _FIELD.match(line))]  # fmt: skip


def states(text: str) -> Iterator[Unit]:
    """The state of each thing in a description with indented fields."""
    fields, lines = in_pieces(text, _fields), lines_of(text)
    if len(fields) < max(_FIELDS, sum(map(bool, lines)) // 2):
        return
    path: list[_Field] = []
    above: list[_Field] = []  # those around the last state; the first state has its whole path
    for number, parts in fields:
        field = (number, *parts)
        path = [outer for outer in path if len(outer[1]) < len(field[1])] + [field]
        if counters := _counters(field):
            yield Unit(number + 1, "", counters, 2.0, 3, STATES)
        elif _is_state(field[3] or "") or _COUNT.match(lines[number]):
            new = [outer for outer in path if outer not in above and (outer[3] or not above)]
            states = " › ".join(map(_field, new))
            yield Unit(number + 1, _thing(path), states, 2.0, 2, STATES, key=True)
            above = [*path]


def _counters(field: _Field) -> str:
    """The failures that a line of a flat list of values counts; '' if there are none."""
    _, indent, name, value = field
    pairs = _PAIR.finditer(f"{name}={value}") if " " not in f"{indent}{name}{value}" else ()
    told = [pair[0] for pair in pairs if _FAILURES.search(name) or _FAILURES.search(pair[1])]
    is_own = told == [f"{name}={value}"]
    return " ".join([name] * (not is_own) + told) if told else ""


def _is_state(value: str) -> bool:
    fails = " " not in value and says_failed(value)
    return fails or bool(_STATE.match(value))


def _field(field: _Field) -> str:
    return " ".join(filter(None, field[2:]))


def _thing(path: list[_Field]) -> str:
    """The thing that a state is about: the fields around it that have no value."""
    return " › ".join(field[2] for field in path if not field[3])


def _shown(match: re.Match[str]) -> str:
    return " ".join(match[0].split())[:_LONGEST]


def _log(lines: list[tuple[int, str]]) -> list[Unit]:
    """The commits of a log in full: each with the first line below its fields."""
    commits: list[_Commit] = []
    authors = Counter[str]()
    for at, ((number, line), (_, below)) in enumerate(itertools.pairwise([*lines, (0, "")])):
        if head := _HEAD.match(line):
            commits.append((number, head["commit"], "", head["refs"] or ""))
        elif line.startswith("Author: "):
            authors[line[8:].partition(" <")[0].strip()] += 1
        ends = _OF_COMMIT.match(line) and not _OF_COMMIT.match(below)
        if ends and commits and not commits[-1][2]:
            first, name, _, refs = commits[-1]
            commits[-1] = first, name, below.strip(), refs
        elif commits and line.strip() != commits[-1][2] and line.lstrip().startswith(_BREAKS):
            first, name, subject, refs = commits[-1]
            commits[-1] = first, name, f"{subject}; {_footer(lines[at : at + _WRAPPED])}", refs
    return _of_commits(commits, authors)


def _footer(rows: list[tuple[int, str]]) -> str:
    """The first of some lines with those that go on from it: no other footer, no other commit."""
    (number, line), *others = rows
    goes_on = itertools.takewhile(
        lambda row: not (_TRAILER.match(row[1]) or _HEAD.match(row[1])), others
    )
    more = [words.strip() for n, (at, words) in enumerate(goes_on, number + 1) if at == n]
    return " ".join([line.strip(), *more])


def _of_commits(commits: list[_Commit], authors: Counter[str] | None = None) -> list[Unit]:
    """Each commit with its subject, notable, newest and named ones first; merges weigh little."""
    text = f"{counted(len(commits), 'commit')}, {commits[0][1]} to {commits[-1][1]}"
    units = _sums(text, "authors", authors)
    newest = [line for line, _, subject, _ in commits if not _MERGE.match(subject)][:_NEWEST]
    notable = [line for line, _, subject, _ in commits if _NOTABLE.search(subject)][:_NAMED]
    named = [line for line, _, _, refs in commits if refs][:_NAMED]
    for line, name, subject, refs in commits:
        weight = 0.1 if _MERGE.match(subject) and not refs else weighing.of_sentence(subject)
        text = f"{name} ({refs}) {subject}" if refs else f"{name} {subject}"
        rank = 3 * (line in notable or line in newest or line in named)
        units.append(Unit(line, "commit", folding.cut(text, _LONGEST), weight, rank, "commit"))
    return units


def _sums(summary: str, name: str = "", counts: Counter[str] | None = None) -> list[Unit]:
    """A unit for the size of the listing, and one for its most frequent names."""
    units = [Unit(1, "listing", summary, 3.0, 1, "listing", key=True, derived=True)]
    if counts and max(counts.values()) > 1:
        units.append(Unit(1, name, reading.listed(counts, _SHOWN), 2.0, 2, derived=True))
    return units


# in the order in which they are tried; each with the function for its units
_FORMS: dict[str, tuple[Pattern, Callable[[Entries], list[Unit]]]] = {
    "files": (_FILE, _files),
    "paths": (_PATH, _paths),
    "tree": (_NODE, _tree),
    "commits": (
        _COMMIT,
        lambda entries: _of_commits(
            [(n, match["commit"], match["subject"], match["refs"] or "") for n, match in entries]
        ),
    ),
    "hits": (_HIT, _hits),
}
