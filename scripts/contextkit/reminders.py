"""Reminders: what somebody wants to meet again in the next capsule.

    <capsules>/remember-later.md      the inbox, one file, entries in order of time

    ## 2025-10-23 18:05:00 UTC <!-- r-1a2b3c -->
    - **Topic:** ux
    - **Note:** Outline onboarding UX spike
    - **Next step:** Review mockups
    - **Tags:** design, later
    - **Done:** 2025-10-24 09:00:00 UTC → docs/branches/feature-x/PLAN.md
    <!-- end r-1a2b3c -->

The closing line lets two branches append without a merge conflict (manuals/decisions/).
Entries of the original tool have neither id nor closing line and are read all the same;
what stands in the file already is never rewritten, only added to.
"""

from __future__ import annotations

import os

from contextkit import files, names, templates
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record

_LABELS = {
    "Topic": "topic",
    "Note": "note",
    "Next step": "next_step",
    "Tags": "tags",
    "Done": "done",
}
_END = "<!-- end "
_LARGEST_PRIME = 16_777_213  # below 2**24: six hexadecimal digits


class Reminder(Record):
    """`taken` is a UTC time as in the heading; `done` is empty, or a time and where it went."""

    id: str
    taken: str
    note: str
    topic: str = ""
    next_step: str = ""
    tags: tuple[str, ...] = ()
    done: str = ""


class _Entry:
    """A reminder with its lines in the file: `heading` and `end` are line numbers from 0."""

    def __init__(self, heading: int, line: str) -> None:
        title, _, comment = line[3:].partition("<!--")
        self.title = title.strip()
        self.id = comment.removesuffix("-->").strip() if comment.endswith("-->") else ""
        self.lines: list[tuple[int, str]] = []
        self.heading = heading
        self.end = -1

    def insert_at(self) -> int:
        """Where a line is added to the entry: before its closing line, else after its last."""
        written = [number for number, line in self.lines if line.strip()]
        return self.end if self.end >= 0 else (written[-1] if written else self.heading) + 1

    def reminder(self) -> Reminder:
        fields: dict[str, list[str]] = {}
        into = fields.setdefault("note", [])
        for _, line in self.lines:
            label, colon, rest = line.removeprefix("- **").partition(":**")
            if line.startswith("- **") and colon and label in _LABELS:
                into = fields.setdefault(_LABELS[label], [])
                into.append(rest.strip())
            else:
                into.append(line.removeprefix("  "))
        values = {name: "\n".join(lines).strip() for name, lines in fields.items()}
        if not _is_time(self.title):  # written by hand: the heading is what to remember
            values["note"] = f"{self.title}\n{values['note']}".strip()
        tags = tuple(t.strip() for t in values.pop("tags", "").split(",") if t.strip())
        identity = self.id or identify(self.title, values["note"])
        return Reminder(id=identity, taken=self.title, tags=tags, **values)


def _is_time(text: str) -> bool:
    return len(text) == 23 and text.endswith(" UTC") and text[:4].isdigit()


def identify(taken: str, note: str) -> str:
    """The id of a reminder: from its time and text, so that an entry without one has one too."""
    return f"r-{names.fingerprint(f'{taken} {note}'.encode(), _LARGEST_PRIME):06x}"


def parse(text: str) -> tuple[Reminder, ...]:
    """All reminders of an inbox, in file order."""
    return tuple(entry.reminder() for entry in _entries(text))


def render(reminder: Reminder) -> str:
    """The entry as it is written, without blank lines around it."""
    return templates.render("reminder.md", reminder=reminder)


def _entries(text: str) -> list[_Entry]:
    """The entries of an inbox, also where a merge of two branches interleaved two of them.

    Git can put both headings above lines that are the same in both entries, and a line added
    to one entry behind the end of another; the closing lines tell whose they are.
    """
    found: list[_Entry] = []
    current: _Entry | None = None
    stray: list[tuple[int, str]] = []  # between a closing line and whatever comes next
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if line.startswith("## "):
            current = _Entry(number, line)
            found.append(current)
            stray = []
        elif line.startswith(_END) and line.endswith(" -->"):
            closed = _open(found, line[len(_END) : -4].strip())
            if closed is None:
                continue
            if current is None:
                closed.lines += stray
            elif closed is not current:
                closed.lines += [pair for pair in current.lines if not _has_label(closed, pair[1])]
            closed.end = number
            current = None if closed is current else current
            stray = []
        else:
            (stray if current is None else current.lines).append((number, line))
    return found


def _open(found: list[_Entry], identity: str) -> _Entry | None:
    for entry in reversed(found):
        if entry.end < 0 and identity == (entry.id or entry.reminder().id):
            return entry
    return None


def _has_label(entry: _Entry, line: str) -> bool:
    label = line.partition(":**")[0]
    return line.startswith("- **") and any(have.startswith(label) for _, have in entry.lines)


def load_all(path: str) -> tuple[Reminder, ...]:
    """The reminders of the inbox at `path`; none where there is no inbox.

    Raises ContextError for one that cannot be read.
    """
    text = files.read_if_there(path)
    return parse(text) if text else ()


def save(layout: Layout, path: str, reminder: Reminder) -> Reminder:
    """Add one reminder to the inbox at `path`, its id made unique there; safe beside other adds."""
    with files.locked(layout.lock(path)):
        text = files.read_if_there(path)
        if text is None:
            text = templates.render("reminder_inbox.md")
        number = 1
        while f"<!-- {reminder.id} -->" in text:
            number += 1
            reminder = reminder.replace(id=identify(reminder.taken, f"{reminder.note}{number}"))
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text.strip() else newline * (2 - _newlines_at_end(text))
        files.write(path, text + gap + render(reminder).replace("\n", newline))
        keep_mergeable(layout, path)
    return reminder


def _newlines_at_end(text: str) -> int:
    body = text.replace("\r\n", "\n")
    return min(2, len(body) - len(body.rstrip("\n")))


def keep_mergeable(layout: Layout, path: str) -> None:
    """Have git keep both sides' entries when two branches append to the documented inbox."""
    if path != os.path.realpath(layout.reminders):
        return
    rule = f"{os.path.basename(path)} merge=union\n"
    attributes = os.path.join(os.path.dirname(path), ".gitattributes")
    text = files.read_if_there(attributes) or ""
    if rule not in text:
        files.write(attributes, text + ("" if text.endswith("\n") or not text else "\n") + rule)


def finish(layout: Layout, path: str, identity: str, into: str, now: int) -> bool:
    """Mark the reminder `identity` done; False if it was. One line is added, nothing rewritten.

    Raises ContextError for an unknown id, naming the open ones.
    """
    with files.locked(layout.lock(path)):
        text = files.read_if_there(path) or ""
        entries = _entries(text)
        matching = [entry for entry in entries if entry.reminder().id == identity]
        if len(matching) != 1:
            raise _not_one(layout, path, identity, entries, len(matching))
        entry = matching[0]
        if entry.reminder().done:
            return False
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(newline)
        added = [f"- **Done:** {names.clock(now)}" + (f" → {into}" if into else "")]
        if entry.end < 0:
            added.append(f"{_END}{identity} -->")
        at = entry.insert_at()
        if at == len(lines):  # the last line of the file had no line end
            added.append("")
        lines[at:at] = added
        files.write(path, newline.join(lines))
    return True


def _not_one(
    layout: Layout, path: str, identity: str, entries: list[_Entry], count: int
) -> ContextError:
    where = layout.shown(path)
    if count:
        return ContextError(f"{identity}: {count} entries of {where} have this id: edit one")
    ids = [entry.reminder().id for entry in entries if not entry.reminder().done]
    known = f"open there: {', '.join(ids)}" if ids else "none is open there"
    return ContextError(f"{identity}: no such reminder in {where}; {known}")


def make(note: str, topic: str, next_step: str, tags: tuple[str, ...], now: int) -> Reminder:
    """A reminder from what was typed. Raises ContextError for a blank message."""
    text = note.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise bad_input("m: the message is blank")
    taken = names.clock(now)
    return Reminder(
        id=identify(taken, text),
        taken=taken,
        note=text,
        topic=names.one_line(topic),
        next_step=names.one_line(next_step),
        tags=tuple(tag for tag in (names.one_line(t).replace(",", "") for t in tags) if tag),
    )
