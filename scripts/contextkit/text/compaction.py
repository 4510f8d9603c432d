"""Say the same in less: listings by folder, git output line by line, rows and objects as a table.

Every fact stays: the place of each changed line, the state of each file, the size, owner, mode and
date of each entry, every value of a row. Left out are the context and the blob ids of a change, the
size of a folder itself, link counts, and hints on what to type; a log says what it leaves out. A
text is split where one tool's output ends and another's begins.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.names import counted
from contextkit.base.type_names import Any, Callable, Iterable, Sequence
from contextkit.text import objects
from contextkit.text.digests.kinds import table
from contextkit.text.digests.kinds.listing import ENTRY, ODD_PATH

_BLOCKS = Pattern(r"total \d[\d.,]*[KMGT]? *")  # the size of a listing's entries
_COMMIT = Pattern(r"commit ([0-9a-f]{7,64})\b(.*)")
_GRAPH = Pattern(r"\* +commit [0-9a-f]{7}")  # `git log --graph`
_DRAWN = Pattern(
    r"^[*|\\/_ .-]*?(?=commit [0-9a-f]{7}|[A-Z]\w*: | [^\s|\\/]\S* +\| +[\dB]| \d+ files? changed"
    r"| {4}(?!\S+ +\| +[\dB]|\d+ files? changed)[^\s|\\/]|$)",
    re.MULTILINE,
)
_FIELD = Pattern(r"(?:Commit|Author)?(Author|Date|Merge|Commit|Refs|gpg): *(.*)")
_STATUS = Pattern(r"(On branch |HEAD detached |Not currently on any branch|No commits yet)")
_HINTS = ("(", "no changes added to commit", "nothing added to commit")
_SHORT = Pattern(
    r"#(?P<branch># \S.*)|(?P<state>\?\?|!!|U[UAD]|[AD]U|AA|DD| [MTDA]|[MTAD][ MTD]"
    r"|(?:[RC][ MTD]| [RC])(?= .* -> )) (?P<path>\S.*)"  # not what `make` runs: `CC a.o`
)  # `git status --short`
_CHANGES = Pattern(
    r" (?P<path>\S.*?) +\| +(?P<said>(?P<lines>\d+)(?: (?P<added>\+*)(?P<removed>-*))?|Bin\b.*)"
)
_NUMBERS = Pattern(r"(\d+|-)\t(\d+|-)\t(.+)")  # `--numstat`
_STATE = Pattern(r"([ACDMRTUX]\d*)\t(.+)")  # `--name-status`
_TOTAL = Pattern(r" (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")
_HUNK = Pattern(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_WORDS = Pattern(r"\[-.+-\]|\{\+.+\+\}")  # changed words, as `--word-diff` marks them
_MARKS = ("\ncommit ", "\ndiff --git ", "\nOn branch ", "\nHEAD det", "\ntotal ")
_PATH = Pattern(r"\.{0,2}/?[^\s:|]+(?:/[^\s:|]*)+")
_LITERAL = Pattern(r"|null|true|false|absent|NaN|-?(?:\d[\d.eE+-]*|Infinity)|[\[{\"].*")
_MARKED = Pattern(r"[,\x00-\x1f]")
_NAMED = Pattern(r"[^\"=:,\x00-\x1f][^=:,\x00-\x1f]*")
_CHANGED = ("+", "-", "\\")  # the last for `\ No newline at end of file`
_STATES = ("new file ", "deleted file ", "old mode ", "new mode ", "rename ", "copy ", "Binary ")
_IN_DIFF = (" ", "+", "-", "@", "\\", "index ", "similarity ", "dissimilarity ", "GIT binary ",
            *_STATES)  # fmt: skip
_SAMPLE = 20_000  # characters within which the first known form must begin
_HEADER = 4  # lines, one of which is the first entry of an archive
_FEW = 12  # lines below which a list of paths is left alone
_USUAL = 0.8  # share of the rows from which on a value is shown once, with exceptions by row


def compacted(text: str, lean: bool = False) -> str:
    """A shorter text that says the same; empty if there is none.

    lean: also leave out the dates of a listing and everything but the count of changed files; the
    text says so.
    """
    is_data = text.lstrip()[:1] in ("[", "{") and len(text) <= objects.LARGEST
    data = objects.parsed(text) if is_data else None
    if data is not None:
        return "" if lean else _of_json(data)
    is_drawn = bool(_GRAPH.match(text))
    text = _DRAWN.sub("", text) if is_drawn else text
    first = text.split("\n", _HEADER)[:_HEADER]
    begins = any(mark in f"\n{text[:_SAMPLE]}" for mark in _MARKS)
    is_short = all(map(_SHORT.fullmatch, first[:2]))
    if not (
        begins or is_short or any(_PATH.fullmatch(line) or ENTRY.match(line) for line in first)
    ):
        rows = [] if lean else table.records(text)
        cells = [{name: _bare(cell) for name, cell in row.items()} for row in rows]
        return "\n".join(_table(cells, "rows", odd_first=True)) if rows else ""
    lines = text.split("\n")
    told = ["the graph is left out"] if is_drawn else []
    covered = 0  # lines
    for kind, part in _pieces(lines):
        form = _FORMS.get(kind)
        covered += len(part) if form else 0
        told += form(part, lean) if form else [line for line in part if line.strip()]
    return "\n".join(told) if covered * 2 > len(lines) else ""


def _pieces(lines: list[str]) -> Iterable[tuple[str, list[str]]]:
    """Each tool's part of the lines with its kind; '' for an unknown one."""
    pieces: list[tuple[str, list[str]]] = [("", [])]
    for at, line in enumerate(lines):
        kind = _kind(line, pieces[-1][0], lines, at)
        if kind != pieces[-1][0]:
            pieces.append((kind, []))
        pieces[-1][1].append(line)
    return pieces


def _kind(line: str, before: str, lines: list[str], at: int) -> str:
    """The kind of a line, judged by its beginning; else that of the line before."""
    if before == "diff" and (not line or line.startswith(_IN_DIFF)):
        return before
    if before == "log" and line.startswith("    "):
        return before
    for kind, begins in _BEGINS.items():
        if begins(line):
            return kind
    if line.endswith(":") and "".join(lines[at + 1 : at + 2]).startswith("total "):
        return "listing"
    if _PATH.fullmatch(line):
        return "paths" if before in ("", "diff") else before
    above = lines[at - 1].find("/", 1) if before == "paths" else -1  # the end of its first folder
    if above > 0 and line.startswith(lines[at - 1][: above + 1]) and ODD_PATH.fullmatch(line):
        return before
    if _SHORT.fullmatch(line) and (at == 0 or before == "short"):
        return "short"
    return before if before in ("log", "status") or not line.strip() else ""


def _of_log(lines: list[str], lean: bool = False) -> list[str]:
    """A line for each commit with what it changed; a single commit keeps its message."""
    commits = list(_commits(lines))
    is_one = len(commits) == 1 and not lean
    dates = [commit.fields.get("Date", "") for commit in commits]
    days = dates if is_one else list(map(_day, dates))
    authors = [commit.fields.get("Author", "").partition(" <")[0] for commit in commits]
    shared = [values[0] for values in (authors, days) if values[0] and len(set(values)) == 1]
    told = [] if is_one else [_head_of_log(commits, shared, lean)]
    for commit, day, author in zip(commits, days, authors, strict=True):
        in_head = () if is_one else shared
        parts = [commit.name, *(part for part in (day, author) if part and part not in in_head)]
        told.append(" ".join([*parts, *commit.message[:1]]))
        told += [*(commit.message[1:] if is_one else []), *commit.changed(lean)]
    return told


def _head_of_log(commits: list[_Commit], shared: list[str], lean: bool) -> str:
    """The head line: the number of commits, what they share, and what is left out."""
    lines = sum(len(commit.message[1:]) for commit in commits)
    left = {
        "times of day": any(":" in commit.fields.get("Date", "") for commit in commits),
        "parents of merges": any("Merge" in commit.fields for commit in commits),
        f"{counted(lines, 'line')} of messages": lines > 0,
        "names of files": lean and any(commit.files for commit in commits),
    }
    named = ", ".join(what for what, is_left in left.items() if is_left)
    parts = [counted(len(commits), "commit"), *([f"all {', '.join(shared)}"] if shared else [])]
    return ", ".join(parts) + (f" (left out: {named}):" if named else ":")


class _Commit:
    """A commit of a log: its fields, the lines of its message, and those of its changes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, str] = {}
        self.message: list[str] = []
        self.sum = ""
        self.files: list[str] = []
        self.others: list[str] = []

    def changed(self, lean: bool = False) -> list[str]:
        """The number of changed lines, for each file unless `lean`; then any unknown lines."""
        count = self.sum or (counted(len(self.files), "file") if self.files else "")
        line = "" if not lean and len(self.files) == 1 else count
        if not lean:
            line = ": ".join(filter(None, (line, ", ".join(self.files))))
        return [f"  {text}" for text in filter(None, (line, *self.others))]


def _commits(lines: list[str]) -> Iterable[_Commit]:
    commit = _Commit("")
    for line in lines:
        if match := _COMMIT.fullmatch(line):
            if commit.name:
                yield commit
            commit = _Commit(match[1][:9] + match[2])
        elif field := _FIELD.match(line):
            commit.fields[field[1]] = field[2]
        elif line.startswith("    ") and line.strip() and not commit.changed(lean=True):
            commit.message.append(line.strip())
        elif file := _changed_file(line):
            commit.files.append(file)
        elif total := _TOTAL.fullmatch(line):
            commit.sum = f"{counted(int(total[1]), 'file')} {_signed(*total.group(2, 3))}".rstrip()
        elif line.strip():
            commit.others.append(line.strip())
    yield commit


def _changed_file(line: str) -> str:
    """A changed file and its change; empty if the line is about something else."""
    if match := _CHANGES.fullmatch(line):
        return f"{_quoted(match['path'])} {_changes(match) or 0}"
    if match := _NUMBERS.fullmatch(line):
        lines = "binary" if match[1] == "-" else _signed(match[1], match[2]) or "0"
        return f"{_quoted(match[3])} {lines}"
    if match := _STATE.fullmatch(line):
        return " ".join((match[1], *map(_quoted, match[2].split("\t"))))
    return ""


def _changes(file: re.Match[str]) -> str:
    """The added and removed lines of a file, as far as its bar shows them."""
    added, removed = len(file["added"] or ""), len(file["removed"] or "")
    if not file["lines"]:
        return file["said"]
    if added + removed == int(file["lines"]):
        return _signed(str(added), str(removed))
    if added and removed:
        return file["said"]
    return _signed(file["lines"] * bool(added), file["lines"] * bool(removed))


def _signed(added: str | None, removed: str | None) -> str:
    """`+2 -1`, leaving out zeros."""
    counts = zip("+-", (added, removed), strict=True)
    return " ".join(f"{sign}{count}" for sign, count in counts if count not in (None, "", "0"))


def _day(date: str) -> str:
    """The day of a date as git prints it: `Nov 23 2026`, or `2026-11-23`."""
    words = date.split()
    if len(words) >= 5 and words[0].isalpha():
        return f"{words[1]} {words[2]} {words[4]}"
    return words[0] if words else ""


def _of_status(lines: list[str], lean: bool = False) -> list[str]:
    """The branch, then the files of each state by folder; few files are in one line."""
    told: list[str] = []
    states: dict[str, list[str]] = {}
    for line in [*lines, "\n"]:
        text = line.strip()
        if line.startswith("\t"):
            state, _, path = text.partition(":   ") if ":   " in text else ("", "", text)
            states.setdefault(state, []).append(path.strip())
            continue
        if states and not text.startswith("("):
            told += _below(told.pop(), states, lean)
            states = {}
        if text and not text.startswith(_HINTS):
            told.append(text)
    return told


def _of_short(lines: list[str], lean: bool = False) -> list[str]:
    """The same for `git status --short`, where a dot stands for unchanged."""
    matches = list(filter(None, map(_SHORT.fullmatch, lines)))
    states: dict[str, list[str]] = {}
    for match in (match for match in matches if not match["branch"]):
        states.setdefault(match["state"].replace(" ", "."), []).append(match["path"])
    branches = [match[0] for match in matches if match["branch"]]
    return branches + _below("Short status:", states, lean)


def _below(title: str, states: dict[str, list[str]], lean: bool) -> list[str]:
    """The files in each state: behind the title, or if they are many, one line per folder."""
    if sum(map(len, states.values())) < _FEW:
        some = (f"{state}: " * bool(state) + ", ".join(map(_quoted, paths))
                for state, paths in states.items())  # fmt: skip
        return [f"{title} {', '.join(some)}"]
    told = []
    for state, paths in states.items():
        told.append(" ".join(filter(None, (title, state, str(len(paths))))))
        told += [f"  {line}" for line in _by_folder(paths, lean)]
    return told


def _of_diff(lines: list[str], lean: bool = False) -> list[str]:
    """The changed lines under their files, each run of them behind `@` and its new line number."""
    told: list[str] = []
    hunk = _Hunk()
    for line in lines:
        if line.startswith("diff --git "):
            told.append(_file(line))
            hunk = _Hunk()
        elif hunk.has(line):
            told += hunk.told(line)
        elif match := _HUNK.match(line):
            hunk = _Hunk(match)
        elif line.startswith(_STATES):
            told[-1] += f" ({line})"
    return told


class _Hunk:
    """A part of a diff: how many lines are left, and the new number of its next line."""

    def __init__(self, match: re.Match[str] | None = None) -> None:
        old, at, new, self.heading = match.groups("1") if match else ("0", "0", "0", "")
        self.old, self.new = int(old), int(new)
        self.at = int(at) + (self.new == 0)  # a range without lines names the line before it
        self.has_begun = match is not None
        self.is_changed = False  # whether its last line was

    def has(self, line: str) -> bool:
        """Whether a line belongs to it; changed lines do, even beyond its stated length."""
        is_open = self.old > 0 or self.new > 0
        return is_open or (self.has_begun and line[:1] in _CHANGED)

    def told(self, line: str) -> list[str]:
        """A changed line, preceded by its place if it begins a run of changes."""
        mark = line[:1]
        if mark == "\\":
            return [line] if self.is_changed else []
        is_changed = mark in _CHANGED or bool(_WORDS.search(line))
        told = [line] if is_changed else []
        if is_changed and not self.is_changed:
            told.insert(0, f"@{self.at} {self.heading}".rstrip())
            self.heading = ""
        self.is_changed = is_changed
        self.old -= mark != "+"
        self.new -= mark != "-"
        self.at += mark != "-"
        return told


def _file(line: str) -> str:
    old, _, new = line.removeprefix("diff --git ").partition(" ")
    half = line.removeprefix("diff --git a/")
    middle = half.find(" b/", (len(half) - 3) // 2)
    name = half[:middle] if middle > 0 else new.removeprefix("b/")
    return f"=== {name if half == f'{name} b/{name}' else f'{old} {new}'}"


def _of_listing(lines: list[str], lean: bool = False) -> list[str]:
    """A line for each folder with its entries, their sizes, and whatever is unusual about them."""
    folders: dict[str, list[_Entry]] = {}
    others: list[str] = []
    folder = ""
    for line in lines:
        match = ENTRY.match(line)
        if match and match["name"] not in (".", ".."):
            entry = _Entry(match, folder)
            folders.setdefault(entry.folder, []).append(entry)
        elif not match and line.endswith(":"):
            folder = line[:-1]
            folders.setdefault(folder, [])
        elif not match and line.strip() and not _BLOCKS.fullmatch(line):
            others.append(line.strip())
    entries = [entry for inside in folders.values() for entry in inside]
    usual = _habits(entries)
    head = f"{len(entries)} entries, size after the name"
    if lean and "date" not in usual:
        for entry in entries:
            entry.said.pop("date")
        head += ", their dates left out"
    told = [f"{head}; unless said otherwise {', '.join(usual.values())}" if usual else head]
    for name, inside in folders.items():
        own = {key: value for key, value in _habits(inside).items() if value != usual.get(key)}
        shown = ", ".join(entry.shown({**usual, **own}) for entry in inside)
        tail = f" ({', '.join(own.values())})" if own else ""
        told.append(f"{name}{tail}: {shown or '(empty)'}" if name else f"{tail} {shown}".strip())
    return told + others


class _Entry:
    """An entry of a listing: its folder, what it is, and the fields that may be as usual."""

    def __init__(self, match: re.Match[str], folder: str) -> None:
        is_folder = match["kind"] == "d" or match["name"].endswith("/")
        path, arrow, target = match["name"].partition(" -> " if match["kind"] == "l" else "\0")
        above, slash, name = path.rstrip("/").rpartition("/")
        self.folder = (above or "/") if slash else folder
        self.what = _quoted(name) + "/" * is_folder + arrow + target
        if not (is_folder or target):  # the size of a link is the length of its target
            self.what += f" {match['size'].replace(' ', '')}"
        owner, group = match["owner"], match["group"]
        self.said = {"owner": owner if group == owner else f"{owner}:{group}"} if owner else {}
        if match["mode"] not in (None, "lrwxrwxrwx"):
            self.said[match["kind"]] = match["mode"]
        self.said["date"] = " ".join(match["date"].split())

    def shown(self, usual: dict[str, str]) -> str:
        odd = [value for key, value in self.said.items() if value != usual.get(key)]
        return " ".join([self.what, *odd])


def _habits(entries: list[_Entry]) -> dict[str, str]:
    """The owner, date, and modes of files and folders that most entries share."""
    usual: dict[str, str] = {}
    for key in ("owner", "-", "d", "date"):
        values = [entry.said[key] for entry in entries if key in entry.said]
        if value := _most(values, len(values)):
            usual[key] = value
    return usual


def _quoted(name: str) -> str:
    """A name in a list; in quotes if it could be taken for several."""
    return json.dumps(name, ensure_ascii=False) if name[:1] == '"' or ", " in name else name


def _of_paths(lines: list[str], lean: bool = False) -> list[str]:
    paths = [line for line in lines if line.strip()]
    folders = _by_folder(paths, lean)
    head = f"{len(paths)} paths in {len(folders)} folders"
    return paths if len(paths) < _FEW else [head, *folders]


def _by_folder(paths: list[str], lean: bool) -> list[str]:
    """The names in each folder, or their number; quoted and moved paths stay whole."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        above, slash, name = path.rstrip("/").rpartition("/")
        if path.startswith('"') or " -> " in path:
            above, slash, name = "", "", path
        name = json.dumps(name, ensure_ascii=False) if " " in name else name
        folders.setdefault(above + slash, []).append(name + "/" * path.endswith("/"))
    inside = {f: str(len(names)) if lean else " ".join(names) for f, names in folders.items()}
    return [f"{folder}: {names}".removeprefix(": ") for folder, names in inside.items()]


def _of_json(data: Any) -> str:
    """A table of the objects or lists in `data`, below the values next to them."""
    if isinstance(data, list) and len(data) > 2:
        if all(isinstance(row, dict) for row in data):
            rows = [{name: _cell(value) for name, value in row.items()} for row in data]
            return "\n".join(_table(rows, "objects"))
        if all(isinstance(row, list) for row in data) and any(data):
            rows = [{f"[{at}]": _cell(value) for at, value in enumerate(row)} for row in data]
            return "\n".join(_table(rows, "lists"))
    if not isinstance(data, dict):
        return ""
    inside = {name: _of_json(value) for name, value in data.items() if isinstance(value, list)}
    told = (f"{_name(name)}: {inside.get(name) or _cell(data[name])}" for name in data)
    return "\n".join(told)


def _table(cells: Sequence[dict[str, str]], noun: str, odd_first: bool = False) -> list[str]:
    """A line for each row; above them, the fields and what most rows share."""
    fields = list(dict.fromkeys(name for row in cells for name in row))
    values = {name: [row[name] for row in cells if name in row] for name in fields}
    usual = {name: value for name in fields if (value := _most(values[name], len(cells)))}
    columns = [name for name in fields if name not in usual]
    head = f"{len(cells)} {noun}"
    if not all(name in row for row in cells for name in columns):
        head += ", a cell is empty where a field is absent"
    shared = ", ".join(f"{_name(name)}={value}" for name, value in usual.items())
    told = [head, *([f"unless said otherwise: {shared}"] if usual else [])]
    told.append(",".join(map(_name, columns)))
    rows: list[tuple[bool, str]] = []
    for row in cells:
        odd = [f"{_name(name)}={row.get(name, 'absent')}"
               for name, value in usual.items() if row.get(name) != value]  # fmt: skip
        rows.append((not odd, ",".join([row.get(name, "") for name in columns] + odd)))
    if odd_first and len({is_usual for is_usual, _ in rows}) > 1:
        told[1] = f"{told[1]}; rows that differ come first"
        rows.sort(key=lambda row: row[0])
    return [*told, *(line for _, line in rows)]


def _most(values: list[str], count: int) -> str:
    """The value that most of `count` share; empty if there is none."""
    value, often = Counter(values).most_common(1)[0] if values else ("", 0)
    return value if often > 1 and often >= _USUAL * count else ""


def _cell(value: Any) -> str:
    """A value as JSON; a string without quotes if nothing else could be meant."""
    if isinstance(value, str) and not _MARKED.search(value) and not _LITERAL.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _bare(cell: str) -> str:
    """A cell of a table of text, in quotes where it could be taken for several."""
    return json.dumps(cell, ensure_ascii=False) if _MARKED.search(cell) or '"' in cell else cell


def _name(name: str) -> str:
    return name if _NAMED.fullmatch(name) else json.dumps(name, ensure_ascii=False)


_BEGINS: dict[str, Callable[[str], object]] = {
    "log": _COMMIT.fullmatch,
    "diff": lambda line: line.startswith("diff --git "),
    "status": _STATUS.match,
    "listing": lambda line: ENTRY.match(line) or _BLOCKS.fullmatch(line),
}
_FORMS: dict[str, Callable[[list[str], bool], list[str]]] = {
    "log": _of_log,
    "status": _of_status,
    "short": _of_short,
    "diff": _of_diff,
    "listing": _of_listing,
    "paths": _of_paths,
}
