"""The one reader of Markdown: lines, code fences, headings, list items, tables, sections.

    outside_fences(text)     the lines that are not code, with their numbers
    in_fences(lines)         which lines are code
    heading(line)            its order and title
    mark_of(line)            the bullet or number of a list item
    cells(line)              the cells of a row of a table
    sections(lines, order)   what stands below each heading

A line is enough to tell what it is, once it is known to be no code. Where that reads another
thing than a CommonMark parser does, it is meant, and tests/base/test_markdown.py lists it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BULLETS = ("- ", "* ", "+ ")
_DIGITS = "0123456789"
_CODE = 4  # columns of indent from which on a line is code, not a heading


# Code


def outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are in no code fence, with their numbers from 1, blanks at the end taken off.

    A fence ends with one at least as long as it began with; one without an end hides the rest.
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if fence:
            fence = "" if _closes(bare, fence) else fence
            continue
        fence = fence_of(bare)
        if not fence:
            yield number, line.rstrip()


def in_fences(lines: list[str]) -> list[bool]:
    """Of each line, whether it is in a code fence (or begins or ends one).

    A fence that nothing closes is none here: it hides nothing. Linear, whatever the text.
    """
    if not any("```" in line or "~~~" in line for line in lines):
        return [False] * len(lines)
    closers = _closers(lines)
    found = []
    fence = ""
    for line, after in zip(lines, closers, strict=True):
        bare = line.strip()
        if fence:
            found.append(True)
            fence = "" if _closes(bare, fence) else fence
        else:
            run = fence_of(bare)
            closed = bool(run) and after.get(run[0], 0) >= len(run)
            fence = run if closed else ""
            found.append(closed)
    return found


def fence_of(bare: str) -> str:
    """The run of backticks or tildes with which a line without indent begins a fence; or empty."""
    if bare[:3] not in ("```", "~~~"):
        return ""
    rest = bare.lstrip(bare[0])
    return "" if bare[0] in rest else bare[: len(bare) - len(rest)]


def _closes(bare: str, fence: str) -> bool:
    return bare.startswith(fence) and not bare.strip(fence[0])


def _closers(lines: list[str]) -> list[dict[str, int]]:
    """For each line, how long the longest line after it is that can close a fence, by its kind."""
    longest: dict[str, int] = {}
    found = []
    for line in reversed(lines):
        found.append(longest)
        bare = line.strip()
        if bare[:3] in ("```", "~~~") and not bare.strip(bare[0]):
            if len(bare) > longest.get(bare[0], 0):
                longest = {**longest, bare[0]: len(bare)}
    return found[::-1]


# Lines that are not code


def heading(line: str) -> tuple[int, str]:
    """`## Title ##` as (2, "Title"); the order is 0 for a line that is not a heading."""
    bare = line.strip()
    if bare[:1] != "#" or len(line[: line.index("#")].expandtabs(4)) >= _CODE:
        return 0, ""
    title = bare.lstrip("#")
    order = len(bare) - len(title)
    if order > 6 or not (title == "" or title[0] in " \t"):
        return 0, ""
    return order, _unclosed(title.strip())


def _unclosed(title: str) -> str:
    """A title without the `##` that may close it."""
    rest = title.rstrip("#")
    return rest.rstrip() if rest == "" or rest[-1] in " \t" else title


def mark_of(line: str) -> str:
    """The `- ` or `12. ` that a list item begins with; empty for any other line.

    Only at the line's beginning: whoever wants the items of lists in lists takes the indent off.
    """
    if line[:2] in BULLETS:
        return line[:2]
    digits = line[: len(line) - len(line.lstrip(_DIGITS))]
    return line[: len(digits) + 2] if digits and line[len(digits) :][:2] in (". ", ") ") else ""


def cells(line: str) -> list[str]:
    """The fields between the bars of a row, with or without bars at its ends."""
    fields = [field.strip() for field in line.split("|")]
    if line[:1] == "|":
        fields = fields[1:]
        if fields and not fields[-1]:
            fields.pop()
    return fields


def sections(lines: list[str], order: int) -> list[tuple[int, int]]:
    """(first line, line after the last) of each section with a heading of `order`, from 0."""
    coded = in_fences(lines)
    starts = [
        number
        for number, (line, code) in enumerate(zip(lines, coded, strict=True))
        if not code and heading(line)[0] == order
    ]
    return list(zip(starts, [*starts, len(lines)][1:], strict=True))
