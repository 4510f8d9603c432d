"""Retrieval of payloads: one is found by its name or by its words, and read in part.

Line numbers of a part are those of the text itself, from 1, not of the file that contains it.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, markdown, names, sessions, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Iterator
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, storing

_AROUND = 8  # lines on either side of a phrase
_WIDE = 400  # length of a line above which its middle can be shown
_LONG = 2000  # length of a line above which only the part around the phrase is shown


def find(layout: Layout, ref: str, session: str, now: int, only: bool = False) -> str:
    """The file of a payload given by id, path, `latest`, or a whole `@stored:` line.

    An id is searched in `session`, then (unless `only`) in all sessions, then in those that ended
    within the grace period. Reading a payload counts as using its session. Raises ContextError if
    there is none.
    """
    text = receipts.parse_path(ref) if "@stored" in ref else ref.strip()
    name = addresses.bare(text, "payload")
    text = f"{layout.places.payloads}/{name}.md" if name != text and "/" in name else name
    path = _typed(layout, text)
    if path or "/" in text:
        path = path or layout.typed(layout.join(text), "ref")
        session, name = os.path.split(os.path.relpath(path, layout.payloads))
        if not (sessions.is_name(session) and sessions.is_name(name)):
            if not os.path.isfile(path):
                raise ContextError(f"{layout.shown(path)}: there is no such file")
            return path  # kept with `path=`
        text, only = name, True
    retention.wake(layout, session, now)
    others = [] if only else [n for n in payloads.sessions_in(layout) if n != session]
    identity = text.removesuffix(".md")
    stored = _named(layout, identity, session, others)
    if not stored and not only and (ended := retention.session_of(layout, identity, now)):
        retention.wake(layout, ended, now)
        stored = _named(layout, identity, ended, [])
    if not stored:
        raise _unknown(layout, identity, [session, *others] if session else others, now)
    return payloads.used(layout, stored, now)


def _typed(layout: Layout, text: str) -> str:
    """The file at a path relative to the root or the current directory; '' if there is none."""
    for base in (layout.root, layout.here):
        path = os.path.join(base, text)
        if text.endswith(storing.SUFFIXES) and os.path.isfile(path):
            return layout.typed(path, "ref")
    return ""


def _named(layout: Layout, identity: str, session: str, others: list[str]) -> str:
    """The payload with this id or beginning of one, or the latest; ''; ContextError if several."""
    searched = [session, *others] if session else others
    if identity == "latest":
        newest = [payloads.latest(layout, name) for name in searched]
        if session and newest[0]:
            return newest[0]
        return max(newest, key=os.path.basename, default="")  # names begin with the time
    if not sessions.is_name(identity):
        return ""
    for name in searched:
        path = os.path.join(payloads.folder(layout, name), identity + ".md")
        if os.path.isfile(path):
            return path
    every = [path for name in searched for path in payloads.documents(layout, name)]
    begun = [path for path in every if os.path.basename(path).startswith(identity)]
    if len(begun) > 1:
        ids = ", ".join(os.path.basename(path).removesuffix(".md") for path in begun[:5])
        raise ContextError(f"{identity}: {len(begun)} payloads start like that: {ids}")
    return begun[0] if begun else ""


def _unknown(layout: Layout, ref: str, searched: list[str], now: int) -> ContextError:
    words = retention.last_words(layout, searched[0]) if searched else ""
    if words and searched[0] not in payloads.sessions_in(layout):
        return ContextError(
            f"{ref}: session {searched[0]} has ended and its payloads are gone ({words})"
        )
    paths = [path for name in searched for path in payloads.documents(layout, name)]
    ids = [os.path.basename(path).removesuffix(".md") for path in paths]
    shown = ", ".join(ids[-10:]) + (f" and {len(ids) - 10} older" if len(ids) > 10 else "")
    away = "" if shown else retention.can_come_back(layout, now)
    return ContextError(f"{ref}: no such payload; {away or 'available: ' + (shown or 'none')}")


def search(paths: Iterable[str], query: str) -> Iterator[tuple[str, int, str, str]]:
    """(path, line number in the file, line, section) wherever all words of `query` occur.

    They occur in one line, ignoring case, or else in a section: then it is the line with most.
    """
    words = list(dict.fromkeys(query.lower().split())) or [query.lower()]
    for path in paths:
        try:
            text = files.read_bytes(path).decode("utf-8", "replace")
        except ContextError:
            continue  # it disappeared during the search
        lower = text.lower()
        if all(word in lower for word in words):
            for number, line, section in _hits(text, words):
                yield path, number, line.rstrip("\r"), section.replace("Full Content", "")


def _hits(text: str, words: list[str]) -> Iterator[tuple[int, str, str]]:
    """(line number, line, section) of each hit, section by section.

    Of a section that has all words, but in no line, it is the line with most of them.
    """
    sections: list[tuple[str, list[tuple[int, int, str, str]]]] = [("", [])]
    for number, line in enumerate(text.split("\n"), start=1):
        order, heading = markdown.heading(line)
        if order:
            sections.append((heading, []))
        title, lines = sections[-1]
        if count := sum(map(line.lower().__contains__, words)):
            lines.append((count, -number, line, "" if order else title))
    for title, lines in sections:
        hits = [hit for hit in lines if hit[0] == len(words)]
        whole = "\n".join(line for _, _, line, _ in lines).lower()
        if not hits and all(map(whole.__contains__, words)):
            hits = [(*max(lines)[:3], title)]
        yield from ((-number, line, section) for _, number, line, section in hits)


class Slice(Record):
    """Lines `first` to `last` of a text; `more` is the next line if a cap cut it short."""

    text: str
    first: int
    last: int
    more: int = 0
    at: int = 0  # the most wanted line
    wanted: str = ""  # what is wanted in it, in lower case
    note: str = ""


def section(content: str, title: str, field: str = "section") -> Slice:
    """The section, with all below, whose heading is, begins with, or has `title`. ContextError."""
    lines = content.split("\n")
    outline = markdown.outline(lines)
    wanted = title.strip().lstrip("#").strip().lower()
    for fits in (str.__eq__, str.startswith, str.__contains__) if wanted else ():
        for heading, first, end in outline:
            if fits(heading.lower(), wanted):
                return _lines(lines, first + 1, end)
    titles = "; ".join(names.clipped(heading, 40) for heading, _, _ in outline[:20])
    more = f" and {len(outline) - 20} more" if len(outline) > 20 else ""
    raise ContextError(
        f"{field}: there is no {names.quoted(title)}; available: {titles or 'no sections'}{more}"
    )


def span(content: str, asked: str) -> Slice:
    """Parse `120-180`, `120`, or `120-`. Raises ContextError if invalid or beyond the end."""
    first, dash, last = asked.replace(" ", "").partition("-")
    are_whole = all(map(names.is_whole, (first, last or "0")))
    if not are_whole or int(first) < 1:
        raise bad_input(f"lines: {asked[:40]!r} must be like 120-180")
    lines = content.split("\n")
    end = int(last) if last else len(lines) if dash else int(first)
    if end < int(first):
        raise bad_input(f"lines: {asked[:40]!r} ends before it begins")
    if int(first) > len(lines):
        raise ContextError(f"lines: {asked[:40]}: the text has {names.counted(len(lines), 'line')}")
    return _lines(lines, int(first), min(end, len(lines)))


def around(content: str, text: str) -> Slice:
    """The lines around the first occurrence of `text`; the note lists the others."""
    lines = content.split("\n")
    wanted = text.lower()
    at = [number for number, line in enumerate(lines, start=1) if wanted in line.lower()]
    if not at:
        raise ContextError(f"around: {text[:60]!r} does not occur in the text")
    part = _lines(lines, max(1, at[0] - _AROUND), min(len(lines), at[0] + _AROUND))
    if len(part.text) > _LONG:
        near = _near(lines[at[0] - 1], wanted, _LONG // 2)
        part = Slice(text=near, first=at[0], last=at[0])
    others = ", ".join(map(str, at[1:8])) + (" …" if len(at) > 8 else "")
    note = f"also in {names.counted(len(at) - 1, 'other line')}: {others}" if others else ""
    return part.replace(at=at[0], wanted=wanted, note=note)


def _near(line: str, wanted: str, width: int) -> str:
    """The wanted part of a line, with `width` characters on either side."""
    middle = line.lower().find(wanted)
    return line[max(0, middle - width) : middle + len(wanted) + width]


def capped(part: Slice, cap: int, tokenizer: str) -> Slice:
    """As many whole lines of a slice as fit into `cap` tokens, from the first or the wanted."""

    def fits(text: str) -> bool:
        return tokens.within(text, cap, tokenizer)

    if fits(part.text):
        return part
    lines = part.text.split("\n")
    is_whole = len(lines) == part.last - part.first + 1
    at = part.at - part.first if part.at and is_whole else 0

    def near(count: int) -> list[str]:
        return lines[max(0, at - count + 1) : at + count] if count else []

    count = tokens.largest(len(lines), lambda n: fits("\n".join(near(n))))
    shown = "".join(f"{line}\n" for line in near(count))
    if not count or (not at and tokens.within(shown, cap // 2, tokenizer)):  # a long line is next
        line, number = lines[at + count], part.first + at + count
        if not count and len(line) > _WIDE and part.wanted:
            width = tokens.largest(len(line), lambda n: fits(_near(line, part.wanted, n)))
            return part.replace(text=_near(line, part.wanted, width), first=number, last=number)
        text = shown + line[: tokens.largest(len(line), lambda n: fits(shown + line[:n]))]
        return part.replace(text=text, first=number - count, last=number, more=number)
    first = part.first + max(0, at - count + 1)
    last = first + len(near(count)) - 1
    more = last + 1 if last < part.last else 0
    return part.replace(text="\n".join(near(count)), first=first, last=last, more=more)


def _lines(lines: list[str], first: int, last: int) -> Slice:
    return Slice(text="\n".join(lines[first - 1 : last]), first=first, last=last)
