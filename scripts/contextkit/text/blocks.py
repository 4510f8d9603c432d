"""The block reader: what a Markdown text is made of, with line numbers, in one linear pass.

    blocks(text)         every block, in order
    lines(text)          the lines whose numbers the blocks give

Kinds of blocks; lines count from 1:

    matter     front matter between two `---` lines at the very beginning
    heading    `## Title`, or a line underlined with `===` or `---`
    item       a list item; `1. `, `2) `, `- `, `* `, `+ `, `• `
    table      rows of cells; `title` is its first row
    code       a fenced block; `title` is what follows the opening fence
    quote      lines that begin with `>`; `title` is the first line without its mark
    comment    `<!-- … -->` on lines of its own
    rule       `---`, `***`, `___`
    text       a paragraph; `title` is its first line

A heading reaches to the next one of its level, an item over all that is indented below it, so that
`last` is the end of everything inside. Agents write loosely, so they are read as they meant it: a
fence with a language inside a fence is nested, and a fence that is never closed hides nothing.
tests/text/test_blocks.py lists the differences from a CommonMark parser.
"""

from __future__ import annotations

from contextkit.base import markdown
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Callable

_WIDTH = 2  # columns by which a line must be indented to belong to the item above
_RULES = ("-", "*", "_")
_MARKS = frozenset("-*+•0123456789")  # what an item begins with


class Block(NamedTuple):
    """One block; `inside` is the index of the block that encloses it, or -1.

    `level` is 1 to 6 for a heading, the columns of indent for an item, and 0 for all others.
    """

    kind: str
    level: int
    title: str
    first: int
    last: int
    inside: int


def blocks(text: str) -> list[Block]:
    """The blocks of a text, each before those inside it. Linear; never raises."""
    rows = lines(text)
    reader = _Reader(rows)
    at = 0
    while at < len(rows):
        at = reader.take(at)
    return reader.finish()


def lines(text: str) -> list[str]:
    """The lines of a text without their endings; a byte-order mark is dropped."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


class _Reader:
    """The blocks read so far. Those still open are headings and items, by index."""

    def __init__(self, rows: list[str]) -> None:
        self._rows = rows
        self._spans = _comments(rows) | _fences(rows)
        self._matter = markdown.front_matter(rows)
        self._found: list[Block] = []
        self._last: list[int] = []  # the last line of each block
        self._open: list[int] = []
        self._content = 0  # the number of the last line that is not blank
        self._running = False  # whether the next line may go on with the last block

    def take(self, at: int) -> int:
        """Read what begins at row `at`; return the row after it."""
        bare = self._rows[at].strip()
        if not bare:
            self._running = False
            return at + 1
        self._content = self._spanned(at, bare) or self._marked(at, bare)
        return self._content

    def finish(self) -> list[Block]:
        while self._open:
            self._pop()
        return [
            block if block.last == last else Block(*block[:4], last, block.inside)
            for block, last in zip(self._found, self._last, strict=True)
        ]

    def _spanned(self, at: int, bare: str) -> int:
        """Read a block whose end is known beforehand; return the row after it, or 0."""
        if at == 0 and self._matter:
            return self._leaf("matter", "", at, self._matter)
        if at in self._spans:
            kind = "comment" if bare[0] == "<" else "code"
            title = bare.lstrip("`~").strip() if kind == "code" else ""
            return self._leaf(kind, title, at, self._spans[at])
        if bare[0] == ">":
            end = self._while(at, lambda other: other[:1] == ">")
            return self._leaf("quote", bare[1:].strip(), at, end)
        if "|" in bare and self._is_table(at, bare):
            barred = bare[0] == "|"
            end = self._while(at, lambda other: other[:1] == "|" if barred else "|" in other)
            return self._leaf("table", bare, at, end)
        return 0

    def _marked(self, at: int, bare: str) -> int:
        """Read a heading, an item, a rule or a line of text; return the row after it."""
        row, sign = self._rows[at], bare[0]
        level, title = markdown.heading(row) if sign == "#" else (0, "")
        if level:
            return self._heading(level, title, at, at)
        if sign in _RULES and bare.count(sign) > 2 and not bare.strip(f"{sign} "):
            return self._leaf("rule", bare, at, at)
        if mark := mark_of(bare) if sign in _MARKS else "":
            self._leave(_indent(row), of_item=True)
            self._add("item", _indent(row), bare[len(mark) :].strip(), at, at)
            self._open.append(len(self._found) - 1)
        elif self._running:
            self._last[-1] = at + 1
        elif under := self._underline(at):
            return self._heading(under, bare, at, at + 1)
        else:
            self._leaf("text", bare, at, at)
        self._running = True
        return at + 1

    def _heading(self, level: int, title: str, at: int, end: int) -> int:
        while self._open and (self._top.kind == "item" or self._top.level >= level):
            self._pop()
        self._add("heading", level, title, at, end)
        self._open.append(len(self._found) - 1)
        self._running = False
        return end + 1

    def _leaf(self, kind: str, title: str, at: int, end: int) -> int:
        self._leave(_indent(self._rows[at]), of_item=False)
        self._add(kind, 0, title, at, end)
        self._running = False
        return end + 1

    def _add(self, kind: str, level: int, title: str, at: int, end: int) -> None:
        inside = self._open[-1] if self._open else -1
        self._found.append(Block(kind, level, title, at + 1, end + 1, inside))
        self._last.append(end + 1)

    @property
    def _top(self) -> Block:
        return self._found[self._open[-1]]

    def _leave(self, indent: int, of_item: bool) -> None:
        """Close the items that a line with this indent is not part of."""
        need = 1 if of_item else _WIDTH
        while self._open and self._top.kind == "item" and indent < self._top.level + need:
            self._pop()

    def _pop(self) -> None:
        at = self._open.pop()
        self._last[at] = max(self._last[at], self._content)

    def _while(self, at: int, belongs: Callable[[str], bool]) -> int:
        """The last of the rows from `at` on whose stripped texts belong without a gap."""
        rows = self._rows
        while at + 1 < len(rows) and belongs(rows[at + 1].strip()) and at + 1 not in self._spans:
            at += 1
        return at

    def _is_table(self, at: int, bare: str) -> bool:
        """Whether a row begins a table: it begins with a bar, or a rule of dashes follows."""
        if bare[0] == "|":
            return True
        after = self._rows[at + 1].strip() if at + 1 < len(self._rows) else ""
        is_rule = "|" in after and "-" in after and not after.strip("|-: \t")
        return is_rule and not mark_of(bare)

    def _underline(self, at: int) -> int:
        """The level that the row below gives to a line of text as a heading, or 0."""
        after = self._rows[at + 1].strip() if at + 1 < len(self._rows) else ""
        if self._open and self._top.kind == "item" and self._rows[at][:1].isspace():
            return 0
        if len(after) < 3 or after.strip(after[0]):
            return 0
        return {"=": 1, "-": 2}.get(after[0], 0)


def mark_of(bare: str) -> str:
    """The mark that begins a list item, with its blank, or ''."""
    return "• " if bare[:2] == "• " else markdown.mark_of(bare)


def _indent(row: str) -> int:
    if not row[:1].isspace():
        return 0
    start = row[: len(row) - len(row.lstrip())]
    return len(start.expandtabs(4))


def _fences(rows: list[str]) -> dict[int, int]:
    """The last row of each fenced block by its first row; nested, unless that leaves one open."""
    marks = [at for at, row in enumerate(rows) if row.lstrip()[:3] in ("```", "~~~")]
    ends: dict[int, int] = {}
    fences: list[tuple[str, int]] = []
    start = 0
    for at in marks:
        start = start if fences else at
        if nests(fences, rows[at].strip(), _indent(rows[at])) and not fences:
            ends[start] = at
    if fences:
        marks = [at for at in marks if at >= start]
        plain = markdown.fences([rows[at] for at in marks])
        ends |= {marks[first]: marks[last] for first, last in plain}
    return ends


def nests(fences: list[tuple[str, int]], bare: str, indent: int) -> bool:
    """Whether a row opens a fence or closes the innermost of `fences`, which is updated.

    A fence with a language, or indented more than the one around it, opens a nested one.
    """
    run = markdown.fence_of(bare)
    outer, outer_indent = fences[-1] if fences else ("", 0)
    if not run or (outer and run[0] != outer[0]):
        return False
    if outer and run == bare and indent <= outer_indent:
        closes = len(run) >= len(outer)
        if closes:
            fences.pop()
        return closes
    fences.append((run, indent))
    return True


def _comments(rows: list[str]) -> dict[int, int]:
    """The last row of each HTML comment that begins a line, by its first row."""
    ends: dict[int, int] = {}
    start = -1
    for at, row in enumerate(rows):
        if start < 0 and row.lstrip()[:4] == "<!--":
            start = at
        if start >= 0 and "-->" in row:
            ends[start], start = at, -1
    return ends
