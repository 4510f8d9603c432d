"""Reminders: notes that should appear in the next capsule.

    <capsules>/remember-later.md      the inbox, one file, entries in order of time

manuals/capsules.md shows an entry. Two branches can append without a merge conflict, which is why
an entry has a closing line, and its id after every third line (manuals/decisions/0005). Entries of
the original tool have neither and are still read.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, ledger, names, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Iterable

_LABELS = {"Topic": "topic", "Note": "note", "Next step": "next_step", "Tags": "tags",
           "Done": "done"}  # fmt: skip
_FORMAT = "<!-- contextkit: format="  # above the first entry; an inbox without it has format 1
_DONE = "- **Done:**"
_END = "<!-- end "
_RUN = 3  # consecutive lines that may be identical in two entries
_LARGEST_PRIME = 16_777_213  # below 2**24: six hexadecimal digits


class Reminder(Record):
    """A reminder; `taken` is a UTC time; `done` has a line for each branch that marked it."""

    id: str
    taken: str
    note: str
    topic: str = ""
    next_step: str = ""
    tags: tuple[str, ...] = ()
    done: str = ""


class _Entry:
    """A reminder with its lines in the file; `heading` and `end` are line numbers from 0."""

    def __init__(self, heading: int, line: str) -> None:
        title, mark, rest = line[3:].rstrip().rpartition("<!-- r-")
        marked = bool(mark) and rest.endswith(" -->")
        self.title = (title if marked else line[3:]).strip()
        self.id = f"r-{rest[:-4]}" if marked else ""
        self.lines: list[tuple[int, str]] = []
        self.heading = heading
        self.end = -1

    def close(self, number: int, current: _Entry) -> None:
        """End this entry at line `number`; take over the done marks above that from `current`."""
        own = (_DONE, _stitch(self.identity()))
        while self is not current and current.lines and current.lines[-1][0] > current.end:
            if not current.lines[-1][1].startswith(own):
                break
            self.lines.append(current.lines.pop())
        self.end = number

    def identity(self) -> str:
        return self.id or self.reminder().id

    def reminder(self) -> Reminder:
        fields: dict[str, list[str]] = {}
        into = fields.setdefault("note", [])
        stitch = _stitch(self.id)
        for _, line in self.lines:
            label, colon, rest = line.removeprefix("- **").partition(":**")
            if line.startswith("- **") and colon and label in _LABELS:
                into = fields.setdefault(_LABELS[label], [])
                into.append(rest.removeprefix(" "))
            elif line != stitch:
                into.append(line.removeprefix("  "))
        values = {name: "\n".join(lines).strip() for name, lines in fields.items()}
        if names.shape(self.title) != "0000-00-00 00:00:00 UTC":  # the title is the note
            values["note"] = f"{self.title}\n{values['note']}".strip()
        tags = tuple(t.strip() for t in values.pop("tags", "").split(",") if t.strip())
        identity = self.id or identify(self.title, values["note"])
        return Reminder(id=identity, taken=self.title, tags=tags, **values)


def identify(taken: str, text: str) -> str:
    """The id derived from a reminder's time and text, for entries that have none."""
    return f"r-{names.fingerprint(f'{taken} {text}'.encode(), _LARGEST_PRIME):06x}"


def parse(text: str) -> tuple[Reminder, ...]:
    """Parse the reminders in an inbox, in file order, without duplicates made by a merge."""
    marks: dict[Reminder, dict[str, None]] = {}  # each as if it were open, with its distinct marks
    for entry in _entries(text):
        parsed = entry.reminder()
        still_open = parsed.replace(done="") if parsed.done else parsed
        marks.setdefault(still_open, {}).update(dict.fromkeys(parsed.done.split("\n")))
    return tuple(reminder.replace(done="\n".join(done).strip()) if any(done) else reminder
                 for reminder, done in marks.items())  # fmt: skip


def render(reminder: Reminder) -> str:
    """Render the entry as it is written, without surrounding blank lines."""
    texts = {**vars(reminder), "tags": ", ".join(reminder.tags)}
    fields = [f"- **{label}:** {filters.indented(texts[name])}"
              for label, name in _LABELS.items() if texts[name]]  # fmt: skip
    lines = "\n".join(fields).split("\n")
    for at in reversed(range(_RUN, len(lines), _RUN)):
        lines.insert(at, _stitch(reminder.id))
    heading = f"## {reminder.taken} <!-- {reminder.id} -->"
    return "\n".join([heading, *lines, f"{_END}{reminder.id} -->", ""])


def _stitch(identity: str) -> str:
    return f"  <!-- {identity} -->"


def _refuse_newer(text: str) -> None:
    """Raise NewerFormat for an inbox written by a newer contextkit."""
    head = text.partition("\n## ")[0]
    stated = head.partition(_FORMAT)[2].partition(" ")[0]
    if stated not in ("", "1") and not head.startswith("## "):
        version.refuse_newer(stated, "1", "reminder inbox")


def _entries(text: str) -> list[_Entry]:
    """The entries of an inbox. Raises NewerFormat for one written by a newer contextkit.

    If one branch marks the last entry and the other adds one, the merge puts the mark and its
    closing line below the other entry; the closing line tells whose they are.
    """
    _refuse_newer(text)
    entries: list[_Entry] = []
    by_id: dict[str, _Entry] = {}
    for number, line in enumerate(text.split("\n")):
        line = line.removesuffix("\r")
        current = entries[-1] if entries else None
        if line.startswith("## "):
            entries.append(_Entry(number, line))
            if current:
                by_id[current.identity()] = current
        elif current is None:
            continue  # above the first entry
        elif line.startswith(_END) and line.endswith(" -->"):
            identity = line[len(_END) : -4].strip()
            owner = current if current.identity() == identity else by_id.get(identity)
            if owner:
                owner.close(number, current)
        elif current.end < 0 or line.startswith(_DONE):
            current.lines.append((number, line))
    return entries


def load_all(layout: Layout, path: str = "") -> Loaded[Reminder]:
    """The reminders in an inbox (default: the documented one); empty if it does not exist."""
    place = path or layout.reminders
    there = [place] if os.path.lexists(place) else []
    loaded = layout.load(there, lambda path: parse(files.read(path)))
    listed = [(place, reminder) for inbox in loaded.documents for reminder in inbox]
    return Loaded(listed, loaded.broken)


def newest_open(entries: Iterable[Reminder]) -> list[Reminder]:
    """Those that are open, newest first."""
    still_open = [reminder for reminder in entries if not reminder.done]
    return sorted(reversed(still_open), key=lambda reminder: reminder.taken, reverse=True)


def line(reminder: Reminder) -> str:
    """A reminder in one line: `r-1a2b3c 2025-10-23 (ux) The note → next: the step [a tag]`."""
    topic = f" ({reminder.topic})" if reminder.topic else ""
    step = f" → next: {reminder.next_step}" if reminder.next_step else ""
    tags = f" [{', '.join(reminder.tags)}]" if reminder.tags else ""
    return names.one_line(f"{reminder.id} {reminder.taken[:10]}{topic} {reminder.note}{step}{tags}")


def save(layout: Layout, path: str, reminder: Reminder) -> Reminder:
    """Add a reminder to the inbox at `path` under a unique id; safe for concurrent adds."""
    with files.locked(layout.lock(path)):
        text = files.read_if_there(path)
        if text is None:
            from contextkit.base import templates

            text = templates.render("reminder_inbox.md")
        _refuse_newer(text)
        taken, number = reminder.id, 1
        while any(f"<!-- {reminder.id} -->" in where for where in (text, reminder.note)):
            number += 1
            reminder = reminder.replace(id=identify(reminder.taken, f"{taken} {number}"))
        keep_mergeable(layout, path)
        files.write(path, _with_entry(text, reminder))
    ledger.note(layout, ledger.STORED, f"reminder:{reminder.id}")
    return reminder


def _newline(text: str) -> str:
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _with_entry(text: str, reminder: Reminder) -> str:
    """An inbox with another entry, after one blank line."""
    body, newline = text.replace("\r\n", "\n"), _newline(text)
    wanted = 2 if body.strip() else min(1, len(body))
    gap = wanted - (len(body) - len(body.rstrip("\n")))
    return text + newline * gap + render(reminder).replace("\n", newline)


def keep_mergeable(layout: Layout, path: str) -> None:
    """Have git keep both sides' entries when two branches append to the documented inbox."""
    if path != os.path.realpath(layout.reminders):
        return
    name = os.path.basename(path).replace(" ", "?")  # a space would end the name
    attributes = os.path.join(os.path.dirname(path), ".gitattributes")
    lines = (files.read_if_there(attributes) or "").splitlines()
    if not any(line.split()[:1] == [name] and "merge" in line for line in lines):
        files.append(attributes, f"{name} merge=union")


def finish(layout: Layout, path: str, ids: Iterable[str], into: str, now: int) -> list[str]:
    """Mark the reminders `ids` as done by adding a line each; return those that were open.

    Raises ContextError for an unknown id, naming the open ones; nothing is changed then.
    """
    wanted = list(dict.fromkeys(ids))
    with files.locked(layout.lock(path)):
        text = files.read_if_there(path) or ""
        listed, where = parse(text), layout.shown(path)
        for identity in wanted:
            count = sum(reminder.id == identity for reminder in listed)
            if count > 1:
                raise ContextError(
                    f"{identity}: {count} entries of {where} share this id: edit one"
                )
            if not count:
                still_open = [reminder.id for reminder in listed if not reminder.done]
                hint = (
                    f"open there: {', '.join(still_open)}" if still_open else "none is open there"
                )
                raise ContextError(f"{identity}: no such reminder in {where}; {hint}")
        opened = [r.id for r in listed if r.id in wanted and not r.done]
        mark = names.clock(now) + (f" → {into}" if into else "")
        for identity in opened:
            text = _marked(text, identity, mark)
        if opened:
            files.write(path, text)
    for identity in opened:
        ledger.note(layout, ledger.CONSUMED, f"reminder:{identity}")
    return opened


def _marked(text: str, identity: str, mark: str) -> str:
    """An inbox in which the reminder `identity` has another done mark, else byte for byte."""
    entry = next(entry for entry in _entries(text) if entry.identity() == identity)
    added, stitch = [f"{_DONE} {mark}"], _stitch(identity)
    if entry.end < 0:
        written = [number for number, line in entry.lines if line.strip()]
        at = (written[-1] if written else entry.heading) + 1
        added.append(f"{_END}{identity} -->")
    else:
        at = entry.end
        lines_back = [*(line for _, line in reversed(entry.lines)), stitch]
        added[:0] = [stitch] if lines_back.index(stitch) >= _RUN else []
    lines, end = text.split("\n"), _newline(text)[:-1]
    added = [line + end for line in added]
    if at == len(lines):  # the last line had no newline
        lines[-1] += end
        added.append("")
    return "\n".join([*lines[:at], *added, *lines[at:]])


def merge(ours: bytes, theirs: bytes) -> bytes:
    """Add entries and done marks that our inbox lacks from another one; nothing is rewritten."""
    try:
        text = ours.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ContextError(f"the inbox is not UTF-8 (byte {error.start}): convert it") from None
    for reminder in parse(theirs.decode("utf-8", "replace")):
        still_open = reminder.replace(done="")
        matching = [own for own in parse(text) if own.replace(done="") == still_open]
        text = text if matching else _with_entry(text, still_open)
        marks = matching[0].done.split("\n") if matching else []
        for mark in reminder.done.split("\n"):
            if mark and mark not in marks:
                text = _marked(text, reminder.id, mark)
    return text.encode()


def make(note: str, topic: str, next_step: str, tags: tuple[str, ...], now: int) -> Reminder:
    """Make a reminder from typed values. Raises ContextError for a blank message."""
    text = note.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise bad_input("m: the message is blank")
    taken, topic, step = names.clock(now), names.one_line(topic), names.one_line(next_step)
    kept = tuple(filter(None, (names.one_line(tag.replace(",", " ")) for tag in tags)))
    identity = identify(taken, f"{text}\n{topic}\n{step}\n{kept}")
    return Reminder(id=identity, taken=taken, note=text, topic=topic, next_step=step, tags=kept)
