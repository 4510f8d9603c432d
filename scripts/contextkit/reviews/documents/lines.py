"""The lines of an agent's text: what is code, what is a heading, and a line without its dress.

`base/markdown.py` reads strictly; agents write Markdown by feel, and are read as they meant it:

- a fence with a language, or further in than the one it stands in, opens one inside that one
- `###Findings Index` without a blank is the heading of an index
- `•`, `–` and `—` are bullets too, and `[x]` after one is no part of the item
- what has no width, and line ends of other systems, is not there
"""

from __future__ import annotations

from contextkit.base import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Line = tuple[int, int, str]  # number from 1, heading level, text without blanks around it

FENCE = -1  # a level: the line opens or closes a code fence
UNCLOSED = -2  # a level: this fence is never closed
QUOTES = "\"'“”„‘’«»"

_BULLETS = frozenset("-*+•–—")
_WIDTHLESS = "\ufeff\u200b\u200c\u200d\u2060\u00ad"  # the byte-order mark among them
_DIGITS = "0123456789"
_ONE_DIGIT = frozenset(_DIGITS)


def lines(text: str) -> Iterator[Line]:
    """Every line that is not blank and in no code fence, with its heading level; 0 is none.

    Agents put fences into fences: one with a language, or further in than the one it stands in,
    opens another, where strict Markdown would end the outer one or see none.
    """
    fences: list[tuple[str, int]] = []
    opened = 0
    for number, line in numbered(text):
        bare = line.strip().replace("\t", " ").replace("\u00a0", " ")
        if not bare:
            continue
        if bare[0] in "`~" and _changes(fences, bare, len(line) - len(line.lstrip())):
            opened = number if len(fences) == 1 else opened
            yield number, FENCE, bare
        elif fences:
            continue
        else:
            yield number, *_heading(line, bare)
    if fences:
        yield opened, UNCLOSED, fences[0][0]


def _heading(line: str, bare: str) -> tuple[int, str]:
    """The level of a heading and its title; 0 and the whole of any other line."""
    if bare[0] != "#":
        return 0, bare
    level, title = markdown.heading(line.replace("\u00a0", " "))
    rest = bare.lstrip("#")
    if not level and is_index(rest):
        indent = line[: len(line) - len(line.lstrip())]
        level, title = markdown.heading(f"{indent}{bare.removesuffix(rest)} {rest}")
    return (level, title) if level else (0, bare)


def _changes(fences: list[tuple[str, int]], bare: str, indent: int) -> bool:
    """Whether a line opens a fence or closes the last of `fences`, which are changed so."""
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


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `text` with their numbers, without CRs and what has no width."""
    if not text.isascii():
        for mark in _WIDTHLESS:
            text = text.replace(mark, "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    start, number = 0, 1
    while (end := text.find("\n", start)) >= 0:
        yield number, text[start:end]
        start, number = end + 1, number + 1
    yield number, text[start:]


def is_index(title: str) -> bool:
    """Whether a heading is that of a Findings Index, whatever a lost line end glued to it."""
    if "ndex" not in title and "NDEX" not in title:
        return False
    before, found, after = plain(title).lower().partition("findings index")
    fits = before.strip(" .:)" + _DIGITS) in ("", "final")
    return fits and bool(found) and not after.strip()[:1].isalnum()


def plain(text: str) -> str:
    """`text` without emphasis and code ticks."""
    return text.replace("**", "").replace("__", "").replace("`", "").strip(" \t*_")


def unquoted(text: str) -> str:
    return text.strip(QUOTES + " \t*`")


def is_quoted(text: str) -> bool:
    return text[:1] != "" and text[0] in QUOTES


def unbulleted(text: str) -> tuple[str, bool]:
    """`text` without its bullet, number or box, and whether it had one."""
    rest = text
    if text[:1] in _BULLETS and text[1:2].isspace():
        rest = text[2:].strip()
    elif text[:1] in _ONE_DIGIT:
        after = text.lstrip(_DIGITS)
        if after[:1] in (".", ")") and after[1:2].isspace():
            rest = after[2:].strip()
    if rest is not text and rest[:4].lower() in ("[ ] ", "[x] "):
        rest = rest[4:].strip()
    return rest, rest is not text
