"""Parts of a stored text within a cap: a section, a range of lines, the lines around a phrase.

Line numbers are those of the text itself, from 1, not of the file that contains it.
"""

from __future__ import annotations

from contextkit.base import markdown, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Record

_AROUND = 8  # lines on either side of a phrase
_LINE = 2000  # length of a line above which only the part around the phrase is shown


class Slice(Record):
    """Lines `first` to `last` of a text; `more` is the next line if a cap cut it short."""

    text: str
    first: int
    last: int
    more: int = 0
    note: str = ""


def section(content: str, title: str) -> Slice:
    """The section whose heading is `title`, starts with it, or contains it, and all below it.

    Raises ContextError naming the existing sections.
    """
    lines = content.split("\n")
    code = markdown.in_fences(lines)
    heads = [
        (number, *found)
        for number, line in enumerate(lines, start=1)
        if not code[number - 1] and (found := markdown.heading(line))[0]
    ]
    wanted = title.strip().lstrip("#").strip().lower()
    tests = (
        lambda said: said == wanted,
        lambda said: said.startswith(wanted),
        lambda said: wanted in said,
    )
    for fits in tests:
        for number, order, said in heads:
            if fits(said.lower()):
                after = (n for n, level, _ in heads if n > number and level <= order)
                return _lines(lines, number, next(after, len(lines) + 1) - 1)
    known = "; ".join(said for _, _, said in heads[:20])
    more = f" and {len(heads) - 20} more" if len(heads) > 20 else ""
    raise ContextError(
        f"section: there is no {title[:60]!r}; available: {known or 'no sections'}{more}"
    )


def span(content: str, given: str) -> Slice:
    """Parse `120-180`, `120`, or `120-`. Raises ContextError if invalid or beyond the end."""
    first, dash, last = given.replace(" ", "").partition("-")
    if not names.is_whole(first) or (last and not names.is_whole(last)) or int(first) < 1:
        raise bad_input(f"lines: {given[:40]!r} must be like 120-180")
    lines = content.split("\n")
    end = int(last) if last else len(lines) if dash else int(first)
    if end < int(first):
        raise bad_input(f"lines: {given[:40]!r} ends before it begins")
    if int(first) > len(lines):
        raise ContextError(f"lines: {given[:40]}: the text has {names.counted(len(lines), 'line')}")
    return _lines(lines, int(first), min(end, len(lines)))


def around(content: str, text: str) -> Slice:
    """The lines around the first occurrence of `text`; the note lists the others."""
    lines = content.split("\n")
    wanted = text.lower()
    at = [number for number, line in enumerate(lines, start=1) if wanted in line.lower()]
    if not at:
        raise ContextError(f"around: {text[:60]!r} does not occur in the text")
    found = _lines(lines, max(1, at[0] - _AROUND), min(len(lines), at[0] + _AROUND))
    if len(found.text) > _LINE:
        middle = found.text.lower().find(wanted)
        start = max(0, middle - _LINE // 2)
        found = found.replace(text=found.text[start : start + _LINE])
    others = ", ".join(map(str, at[1:8])) + (" …" if len(at) > 8 else "")
    return found.replace(note=f"also in {len(at) - 1} other lines: {others}" if others else "")


def whole(content: str) -> Slice:
    """The whole text as a slice."""
    return Slice(text=content, first=1, last=content.count("\n") + 1)


def capped(found: Slice, cap: int, tokenizer: str) -> Slice:
    """As many whole lines of a slice as fit into `cap` tokens, or part of one very long line."""
    if tokens.within(found.text, cap, tokenizer):
        return found
    lines = found.text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        fits = tokens.within("\n".join(lines[:middle]), cap, tokenizer)
        low, high = (middle, high) if fits else (low, middle - 1)
    if low:
        last = found.first + low - 1
        return found.replace(text="\n".join(lines[:low]), last=last, more=last + 1)
    low, high = 0, len(lines[0])
    while low < high:
        middle = (low + high + 1) // 2
        fits = tokens.within(lines[0][:middle], cap, tokenizer)
        low, high = (middle, high) if fits else (low, middle - 1)
    return found.replace(text=lines[0][:low], last=found.first, more=found.first)


def _lines(lines: list[str], first: int, last: int) -> Slice:
    return Slice(text="\n".join(lines[first - 1 : last]), first=first, last=last)
