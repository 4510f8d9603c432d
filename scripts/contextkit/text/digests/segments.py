"""The segments of a text: what is a diff, JSON, a log of commits or a table, and the rest.

Outputs are mixed: a play prints diffs, a shell session runs several commands. So a text is cut
where a command is typed and where a structure begins and ends by its own rules, and each segment
is asked by its whole what it is.
"""

from __future__ import annotations

import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.patterns import Pattern

_BEGINS = Pattern(
    r"(?P<diff>diff --(?:git|cc|combined) |Index: \S|--- (?:\S.*)?\n\+\+\+ (?:\S|$))"
    r"|(?P<json>[\[{][ \t]*$|\{\"|\[[\[{\"])"
    r"|(?P<box>[┌+][─+=-]{3,}[─┬+=-]*[┐+]?$)"
    r"|(?P<prompt>\$ \S|[\w.-]+@[\w.-]\S*?[$#] |PS \S*> )",
    re.M,
)
_FIRST = frozenset("dI-[{┌+$P")  # characters with which a line begins that may begin a segment
_HUNK = Pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@|(@@@+) .* @@@+")
_OF_A_HEAD = (
    "diff --", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ",
    "new mode ", "similarity index ", "dissimilarity index ", "rename ", "copy ", "Binary files ",
    "GIT binary patch", "Index: ", "=====", "@@", "mode ",
    "\\",
)  # fmt: skip


_SHORT = 40  # characters of a line that is no whole value
_READ = 80  # characters of a line in which the sign of a prompt is


class Segment(NamedTuple):
    """Lines of a text, from `start` (0 is the first) up to `end`; `kind` '' is not known yet."""

    start: int
    end: int
    kind: str = ""


def cut(lines: list[str]) -> Iterator[Segment]:
    """The segments in order; together they are the text."""
    begun = 0
    for number in [n for n, line in enumerate(lines) if line[:1] in _FIRST or "@" in line[:_READ]]:
        line = lines[number]
        if number < begun or not line:
            continue
        match = _BEGINS.match("\n".join(lines[number : number + 2]))
        kind = (match and match.lastgroup) or ""
        end = number + 1 if kind in ("", "prompt") else _ENDS[kind](lines, number)
        is_json = len(line) > _SHORT and line[0] + line.rstrip()[-1:] in ("{}", "[]")
        is_short = end - number < 2 and not is_json
        if not kind or (kind != "prompt" and is_short):
            continue
        if number > begun:
            yield Segment(begun, number)
        yield Segment(number, end, "table" if kind == "box" else kind)
        begun = end
    if begun < len(lines):
        yield Segment(begun, len(lines))


def _end_of_diff(lines: list[str], at: int) -> int:
    """The end of a diff; a hunk ends with its counts, or earlier where another file begins."""
    old = new = 0
    marks = ""
    start, is_named = at, lines[at].startswith(("diff --", "Index: "))
    while at < len(lines):
        line = lines[at]
        if old > 0 or new > 0:
            if line.startswith("diff --git ") or line[:1] not in ("+", "-", " ", "\\", ""):
                old = new = 0
                continue
            old -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
        elif hunk := _HUNK.match(line):
            marks, is_named = hunk[3] or "", True
            old, new = (0, 0) if marks else (int(hunk[1] or 1), int(hunk[2] or 1))
        elif not (line.startswith(_OF_A_HEAD) or (marks and line[:1] in "+- ")):
            break
        at += 1
    return at if is_named else start + 1  # two values that a test compares are no files


def _end_of_json(lines: list[str], at: int) -> int:
    """The end of a value over several lines, or of lines with a value each."""
    first = lines[at].rstrip()
    if len(first) == 1:
        closing = "}" if first == "{" else "]"
        for number in range(at + 1, len(lines)):
            if lines[number].rstrip() == closing:
                return number + 1
        return len(lines)
    while at < len(lines) and lines[at][:1] == first[0]:
        at += 1
    return at


def _end_of_box(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at][:1] in "┌│├└+|" and lines[at]:
        at += 1
    return at


_ENDS = {"diff": _end_of_diff, "json": _end_of_json, "box": _end_of_box}
