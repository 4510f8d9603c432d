"""The Markdown parser: front matter, code fences, headings, list items, tables, sections.

Lines are classified one at a time, once they are known not to be code. Deliberate differences from
a CommonMark parser are listed in tests/base/test_markdown.py.
"""

from __future__ import annotations

from contextkit.base.type_names import Iterator

BULLETS = ("- ", "* ", "+ ")
_DIGITS = "0123456789"
_CODE = 4  # columns of indent at which a line is code, not a heading
_LEVELS = 6  # of headings


def front_matter(lines: list[str]) -> int:
    """The index of the `---` that closes the front matter; 0 if there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)


def outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside fences, with their numbers from 1."""
    lines = text.split("\n")
    for number, (line, coded) in enumerate(zip(lines, in_fences(lines), strict=True), start=1):
        if not coded:
            yield number, line.rstrip()


def in_fences(lines: list[str]) -> list[bool]:
    """For each line, whether it is part of a code fence, including the fence lines."""
    coded = [False] * len(lines)
    for first, last in fences(lines):
        coded[first : last + 1] = [True] * (last + 1 - first)
    return coded


def fences(lines: list[str]) -> list[tuple[int, int]]:
    """(first line, last line) of each code fence, from 0; an unclosed one hides nothing. Linear."""
    spans: list[tuple[int, int]] = []
    if not any("```" in line or "~~~" in line for line in lines):
        return spans
    count, at = len(lines), 0
    unclosed = {"`": 1 << 30, "~": 1 << 30}  # the shortest run from which on nothing closes one
    while at < count:
        bare = lines[at].strip()
        run = fence_of(bare) if bare[:3] in _RUNS else ""
        if run and len(run) < unclosed[run[0]]:
            end = at + 1
            while end < count and not _closes(lines[end].strip(), run):
                end += 1
            if end < count:
                spans.append((at, end))
                at = end
            else:
                unclosed[run[0]] = len(run)
        at += 1
    return spans


_RUNS = ("```", "~~~")


def fence_of(bare: str) -> str:
    """The run of backticks or tildes with which an unindented line opens a fence, or ''."""
    if bare[:3] not in _RUNS:
        return ""
    rest = bare.lstrip(bare[0])
    return "" if bare[0] in rest else bare[: len(bare) - len(rest)]


def _closes(bare: str, fence: str) -> bool:
    return bare.startswith(fence) and not bare.strip(fence[0])


def heading(line: str) -> tuple[int, str]:
    """Parse `## Title ##` as (2, "Title"); the level is 0 for a line that is not a heading."""
    bare = line.strip()
    if bare[:1] != "#" or len(line[: line.index("#")].expandtabs(4)) >= _CODE:
        return 0, ""
    title = bare.lstrip("#")
    level = len(bare) - len(title)
    if level > _LEVELS or not (title == "" or title[0] in " \t"):
        return 0, ""
    title = title.strip()
    rest = title.rstrip("#")  # without an optional closing `##`
    return level, rest.rstrip() if rest == "" or rest[-1] in " \t" else title


def mark_of(line: str) -> str:
    """The `- ` or `12. ` that starts an unindented list item, or '' for any other line."""
    if line[:2] in BULLETS:
        return line[:2]
    if line[:1] not in _DIGITS:
        return ""
    digits = line[: len(line) - len(line.lstrip(_DIGITS))]
    return line[: len(digits) + 2] if digits and line[len(digits) :][:2] in (". ", ") ") else ""


def cells(line: str) -> list[str]:
    """The cells of a table row, with or without bars at its ends; `\\|` is a bar in a cell."""
    fields = [field.strip() for field in line.replace("\\|", "\0").split("|")]
    if line[:1] == "|":
        fields = fields[1:]
        if fields and not fields[-1]:
            fields.pop()
    return [field.replace("\0", "|") for field in fields] if "\\|" in line else fields


def outline(lines: list[str]) -> list[tuple[str, int, int]]:
    """(heading, first line, line after the last) of each heading with all below it, from 0."""
    sections = []
    ends = [len(lines)] * (_LEVELS + 1)  # by level, where the next heading of it or above begins
    for number, level, title in reversed(headings(lines)):
        sections.append((title, number, ends[level]))
        ends[level:] = [number] * (_LEVELS + 1 - level)
    return sections[::-1]


def sections(lines: list[str], level: int) -> list[tuple[str, int, int]]:
    """(title, line of the heading, line after the last) of each section of a level, from 0."""
    heads = [(title, number) for number, other, title in headings(lines) if other == level]
    ends = [*(number for _, number in heads[1:]), len(lines)]
    return [(*head, end) for head, end in zip(heads, ends, strict=False)]


def headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """(line from 0, level, title) of each heading outside of code."""
    coded = in_fences(lines)
    return [
        (number, *parsed)
        for number, (line, code) in enumerate(zip(lines, coded, strict=True))
        if not code and (parsed := heading(line))[0]
    ]
