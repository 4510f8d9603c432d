"""A diff: its files, with what was added, removed, or renamed, and some of their lines."""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern
from contextkit.base.names import counted
from contextkit.text.digests.reading import Unit

_BEGINS = Pattern(r"^(?:diff --(?:git|cc|combined) |--- \S.*\n\+\+\+ \S|Index: \S)", re.M)
_PAIR = Pattern(r"^--- (\S.*)\n\+\+\+ (\S.*)$", re.M)
_HUNK = Pattern(r"^(@@+)(?: -\d+(?:,(\d+))?)+ \+\d+(?:,(\d+))? @@+")  # a merge has more marks
_OF_A_PLAY = Pattern(r"(?:---|\+\+\+) (?:before|after): (.+?)(?: \([a-z ]+\))?$")
_TEMPORARY = Pattern(r".*/\.ansible/tmp/.*/")
_STATED = Pattern(r"^ (?P<path>\S.*?) +\| +(?:(?P<lines>\d+) [+-]*|Bin .*)$")
_TOTAL = Pattern(r"^ \d+ files? changed(?:, \d+ \w+\([+-]\))*$", re.M)
_ONLY = Pattern(r"Only in (?P<folder>.+?): (?P<name>.+)")
_DIFFER = Pattern(r"(?:Binary files|Files) (?P<old>.+) and (?P<new>.+) differ$", re.M)
ONLY = "only there"  # a file that only one of two folders has
CONFLICT = "in conflict"  # text between conflict marks is no change
_PROOFS = ("\n@@ -", "diff --", "Index: ", "\nBinary files ")
_SAMPLE = 20_000  # characters by which a diff is known
_TRIVIAL = 5  # characters of a changed line that says nothing
_SHOWN, _LONGEST = 4, 90  # lines shown of a file; characters of each


class _File:
    """A file of the diff, with the number of lines left in the current hunk.

    A line of a hunk begins with one mark for each parent: a diff of a merge has several.
    """

    def __init__(self, line: int, path: str) -> None:
        self.line, self.path, self.old = line, path, ""
        self.state, self.added, self.removed = "", 0, 0
        self.lines: list[str] = []  # the first few changed ones
        self.old_left = self.new_left = 0
        self.marks = 1

    def in_hunk(self) -> bool:
        return self.old_left > 0 or self.new_left > 0

    def body(self, line: str) -> None:
        """Count a line of a hunk."""
        mark = line[:1]
        if self.marks > 1:
            if line.startswith("+" * self.marks + "<<<<<<<"):
                self.state = CONFLICT
            marks = line[: self.marks]
            mark = "-" if "-" in marks else "+" if "+" in marks else " "
            self.old_left = 0  # the line counts of several parents do not add up
        self.old_left -= mark in ("-", " ", "")
        self.new_left -= mark in ("+", " ", "")
        tells = mark in ("+", "-") and len(line.strip()) > _TRIVIAL
        if tells and len(self.lines) < _SHOWN:
            self.lines.append(" ".join(line.split())[:_LONGEST])
        self.added += mark == "+"
        self.removed += mark == "-"

    def head(self, line: str) -> None:
        """Parse a line before or between hunks."""
        if line.startswith("+++ "):
            path = _path(line)
            if played := _OF_A_PLAY.match(line):  # what is new may be a temporary file
                path = self.path if "/" in self.path else _TEMPORARY.sub("", played[1])
            if path == "/dev/null":
                self.state = "removed"
            else:
                self.state = "added" if self.path in ("/dev/null", "") else self.state
                self.path = path
        elif line.startswith(("new file mode", "--- /dev/null")):
            self.state = "added"
        elif line.startswith("deleted file mode"):
            self.state = "removed"
        elif line.startswith("rename from "):
            self.state, self.old = "renamed", line[12:].strip()
        elif line.startswith("Binary files "):
            self.state = self.state or "binary"
        elif hunk := _HUNK.match(line):
            self.marks = len(hunk[1]) - 1
            self.old_left, self.new_left = int(hunk[2] or 1), int(hunk[3] or 1)


def confidence(text: str) -> int:
    """The confidence by the head of its first file, or by the last line of `git diff --stat`."""
    sample = text[:_SAMPLE]
    end = text[-200:]
    if " changed" in end and _TOTAL.search(end) and _stated(sample):
        return 90
    if not any(mark in sample for mark in ("diff --", "--- ", "Index: ")):
        return 0
    if not _BEGINS.search(sample) or not any(map(sample.__contains__, _PROOFS)):
        return 0
    is_named = any(mark in sample for mark in ("diff --", "Index: "))
    if not (is_named or any(map(_is_file, _PAIR.findall(sample)))):
        return 0  # two values that a test compares
    marked = sum(line[:1] in "+-@ " for line in sample.split("\n"))
    return 95 if marked * 2 > sample.count("\n") and "\n@@ -" in f"\n{sample}" else 60


def _is_file(names: tuple[str, str]) -> bool:
    """Whether a diff compares files, or the same thing in two states."""
    return names[0] == names[1] or any(mark in "".join(names) for mark in "./\\\t")


def units(text: str) -> list[Unit]:
    """The totals, then one unit per file; removed, new, and renamed files come first."""
    files = _files(text)
    if not files:
        return _statistics(text)
    settled = [file for file in files if file.state != CONFLICT]
    added, removed = sum(f.added for f in settled), sum(f.removed for f in settled)
    alone = {file.path for file in settled if file.state == ONLY}
    names = {file.path for file in settled} - alone  # one file may be in several commits
    parts = [f"{counted(len(names), 'file')} changed", *_lines(added, removed)] if names else []
    parts += [f"{counted(len(alone), 'file')} in one folder only"] if alone else []
    if in_conflict := {file.path for file in files if file.state == CONFLICT}:
        parts.insert(0, f"{counted(len(in_conflict), 'file')} in conflict")
    units = [Unit(1, "diff", ", ".join(parts), 3.0, 1, "diff", derived=True)]
    for file in sorted(_once(files), key=lambda file: -(file.added + file.removed)):
        changed = file.added + file.removed
        counts = _lines(file.added, file.removed) if file.state != CONFLICT else ()
        shown = " ".join(filter(None, [file.path, *counts]))
        if file.state:
            shown += f" ({file.state}{' from ' + file.old if file.old else ''})"
        rank = 2 if file.state not in ("", "binary") else 3
        units.append(Unit(file.line, file.state or "changed", shown, 1.0 + min(changed, 400) / 400,
                          rank, "files", file.path, derived=True))  # fmt: skip
        if file.lines and file.state in ("", CONFLICT):
            shown = "; ".join(file.lines)
            units.append(Unit(file.line, file.path, shown, 1.0 + min(changed, 400) / 400))
    return units


def _once(files: list[_File]) -> list[_File]:
    """The files, merging those that several diffs change in the same way."""
    first: dict[tuple[str, str], _File] = {}
    for file in files:
        same = first.setdefault((file.path, file.state), file)
        if same is not file:
            same.added, same.removed = same.added + file.added, same.removed + file.removed
            same.lines = [*same.lines, *file.lines][:_SHOWN]
    return [*first.values()]


def _lines(added: int, removed: int) -> list[str]:
    """The counts of changed lines; empty if there are none, as in a diff of words."""
    return [f"+{added} -{removed}"] if added or removed else []


def _files(text: str) -> list[_File]:
    files: list[_File] = []
    headed = False  # the `---` line after a `diff --git` line names the same file
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        now = files[-1] if files else None
        if now and now.in_hunk() and not ends_hunk(lines, number - 1):
            now.body(line)
            headed = False
        elif line.startswith(("diff -", "Index: ")):
            path = line.rpartition(" b/")[2] if " b/" in line else line.rpartition(" ")[2]
            files.append(_File(number, path))
            headed = True
        elif (only := _ONLY.match(line)) and not headed:
            files.append(_File(number, f"{only['folder']}/{only['name']}"))
            files[-1].state = ONLY
        elif (differ := _DIFFER.match(line)) and not headed:
            files.append(_File(number, differ["new"]))
            files[-1].state = "binary" if line[0] == "B" else "differs"
        elif line.startswith("--- ") and not headed:
            files.append(_File(number, _path(line)))
            headed = True
        elif now:
            now.head(line)
    return files


def ends_hunk(lines: list[str], at: int) -> bool:
    """Whether a line is outside of a hunk, even if the hunk's counts expect more lines."""
    if lines[at][:1] not in ("+", "-", " ", "\\", ""):
        return True
    marks = ("--- ", "+++ ", "@@ -")
    return all(map(str.startswith, lines[at : at + len(marks)], marks)) and len(lines) > at + 2


def _stated(text: str) -> bool:
    """Whether most lines count the changed lines of a file, as in `git diff --stat`."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(bool(_STATED.match(line)) for line in lines) * 2 > len(lines)


def _statistics(text: str) -> list[Unit]:
    """The total of `git diff --stat`, then the files with most changed lines."""
    total = _TOTAL.search(text)
    units = [Unit(1, "diff", total[0].strip(), 3.0, 1, "diff")] if total else []
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _STATED.match(line):
            changed = int(match["lines"] or 0)
            shown = f"{match['path']} {changed}" if match["lines"] else f"{match['path']} binary"
            weight = 1.0 + min(changed, 400) / 400
            units.append(Unit(number, "changed lines", shown, weight, 3, "files", match["path"]))
    return sorted(units, key=lambda unit: (unit.rank, -unit.weight))


def _path(line: str) -> str:
    played = _OF_A_PLAY.match(line)
    path = played[1] if played else line[4:].partition("\t")[0].strip().strip('"')
    return path[2:] if path[:2] in ("a/", "b/") else path
