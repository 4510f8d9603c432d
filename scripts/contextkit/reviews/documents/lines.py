"""The lines of an agent's text: code, headings, and lines without their markup.

`base/markdown.py` parses strictly; agents write loose Markdown, which is read as they meant it:

- a fence with a language, or indented more than the one around it, opens a nested one
- `###Findings Index` without a space is the heading of an index
- `•`, `–` and `—` are bullets too, and `[x]` after a bullet is not part of the item
- zero-width characters and foreign line endings are ignored
"""

from __future__ import annotations

import re

from contextkit.base import markdown
from contextkit.base.type_names import Iterator
from contextkit.text.blocks import nests

Line = tuple[int, int, str]  # line number from 1, heading level, stripped text

FENCE = -1  # a level: the line opens or closes a code fence
UNCLOSED = -2  # a level: this fence is never closed
QUOTES = "\"'“”„‘’«»"

_BULLET = re.compile(r"^(?:[-*+•–—]|[0-9]+[.)])\s+(?:\[[ xX]\] )?")
_WIDTHLESS = "\ufeff\u200b\u200c\u200d\u2060\u00ad"  # includes the byte-order mark
_DIGITS = "0123456789"


def lines(text: str) -> Iterator[Line]:
    """Yield every nonblank line outside code fences with its heading level; 0 means none.

    Agents nest fences: one with a language, or indented more than the one around it, opens another,
    where strict Markdown would end the outer one or see none.
    """
    fences: list[tuple[str, int]] = []
    opened = 0
    for number, line in numbered(text):
        bare = line.strip().replace("\t", " ").replace("\u00a0", " ")
        if not bare:
            continue
        if bare[0] in "`~" and nests(fences, bare, len(line) - len(line.lstrip())):
            opened = number if len(fences) == 1 else opened
            yield number, FENCE, bare
        elif fences:
            continue
        else:
            yield number, *_heading(line, bare)
    if fences:
        yield opened, UNCLOSED, fences[0][0]


def _heading(line: str, bare: str) -> tuple[int, str]:
    """Return the level of a heading and its title; 0 and the whole line for any other."""
    if bare[0] != "#":
        return 0, bare
    level, title = markdown.heading(line.replace("\u00a0", " "))
    rest = bare.lstrip("#")
    if not level and is_index(rest):
        indent = line[: len(line) - len(line.lstrip())]
        level, title = markdown.heading(f"{indent}{bare.removesuffix(rest)} {rest}")
    return (level, title) if level else (0, bare)


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of `text` with their numbers, without CRs and zero-width characters."""
    if not text.isascii():
        for mark in _WIDTHLESS:
            text = text.replace(mark, "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    yield from enumerate(text.split("\n"), 1)


def is_index(title: str) -> bool:
    """Whether a heading is that of a Findings Index, even if text is glued to it."""
    if "ndex" not in title and "NDEX" not in title:
        return False
    before, phrase, after = plain(title).lower().partition("findings index")
    fits = before.strip(" .:)" + _DIGITS) in ("", "final")
    return fits and bool(phrase) and not after.strip()[:1].isalnum()


def plain(text: str) -> str:
    """Return `text` without emphasis and code ticks."""
    return text.replace("**", "").replace("__", "").replace("`", "").strip(" \t*_")


def words(text: str, also: str = "") -> list[str]:
    """Return the words of a text in lowercase: its runs of letters, digits, and `also`."""
    low = text.lower()
    return "".join(c if c.isalnum() or c in also else " " for c in low).split()


def unquoted(text: str) -> str:
    return text.strip(QUOTES + " \t*`")


def unescaped(text: str) -> str:
    """Return a text with characters for the entities of HTML in it: `&lt;`, `&#48;`."""
    if "&" not in text:
        return text
    import html  # its table of names is large, and few reviews need it

    return html.unescape(text)


def unbulleted(text: str) -> tuple[str, bool]:
    """Return `text` without its bullet, number or checkbox, and whether it had one."""
    rest = _BULLET.sub("", text, 1)
    return (rest.strip(), True) if rest != text else (text, False)
