"""What a push and a pull share: which documents are here, which are meant, and the report."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial

from contextkit.base import files, formats, names, sessions
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Callable
from contextkit.machines.documents import manifests
from contextkit.machines.documents.knowledge import Machine, Notes, Version
from contextkit.machines.flows import shares
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads

HISTORY = "history"  # a piece of the ledger moved
_QUIET = ("withdrawn", HISTORY)  # counted in the totals only
_MEMORY = ("plan", "finding", "checkpoint", "snapshot", "archived")
_WORDS = {"all": (), "memory": _MEMORY, "review": ("run", "verdict", shares.OUTPUT)}

Texts = dict[str, Callable[[], bytes]]  # how to read each document that is here, by name


def look(layout: Layout, machine: Machine, notes: Notes, now: int, messages: list[str]) -> Texts:
    """Bring `notes` up to date; what cannot travel is appended to `messages`.

    A file whose size, time and inode are unchanged is not read again.
    """
    texts: Texts = {}
    for name, path in shares.local(layout):
        try:
            manifests.check_name(name, shares.address(name))
            if _note_file(notes, name, path, now):
                texts[name] = partial(files.read_bytes, path)
            else:
                messages.append(f"{shares.address(name)}: larger than {manifests.MOST_BYTES} bytes")
        except FileNotFoundError:
            continue  # removed just now
        except ContextError as error:
            messages.append(f"not shared: {error}")
    for name, data in shares.own(layout, machine):
        note(notes, name, data, (), now)
        texts[name] = partial(bytes, data)
    for name, version in notes.documents.items():
        kind, path = name.partition("/")[::2]
        is_shared = kind in shares.OWN and not path.startswith(machine.id)  # part of a file here
        if name not in texts and kind != manifests.ENDED and not is_shared:
            version.gone = True  # not a new version: it is just no longer offered
    _note_ended(layout, notes, now)
    for version in notes.documents.values():
        note_settled(layout, version)
    return texts


def _note_file(notes: Notes, name: str, path: str, now: int) -> bool:
    """Note a file; return False if it is too large to travel."""
    state = os.stat(path)
    stat = (state.st_size, state.st_mtime_ns, state.st_ino)
    if state.st_size > manifests.MOST_BYTES:
        return False
    version = notes.documents.get(name)
    if version is None or version.gone or tuple(version.stat) != stat:
        note(notes, name, files.read_bytes(path), stat, now)
    return True


def note(notes: Notes, name: str, data: bytes, stat: tuple[int, ...], now: int) -> Version:
    """Note the text of a document here; one that nobody sent us is this machine's own."""
    version = notes.documents.setdefault(name, Version(sha256=""))
    digest = names.sha256(data)
    if version.sha256 != digest:
        version.sha256, version.bytes, version.at = digest, len(data), names.iso(now)
        if digest != version.coming:
            notes.changed(version)
    version.stat, version.gone = stat, False
    return version


def _note_ended(layout: Layout, notes: Notes, now: int) -> None:
    """Note sessions and tasks of this machine that ended or came back."""
    there = set(payloads.sessions_in(layout))
    tasks = set(memory.archived(layout))
    had = {
        shares.session_of(name)
        for name, version in notes.documents.items()
        if shares.session_of(name) and notes.machine in version.counts
    }
    ended = {f"{manifests.ENDED}/payload/{session}" for session in had - there}
    ended |= {f"{manifests.ENDED}/memory/{task}" for task in tasks}
    for name in sorted(ended):
        version = notes.documents.get(name)
        if version is None or version.gone:
            task = name.rpartition("/")[2]
            if "/memory/" in name and upkeep.listed(layout, task):
                continue  # only a part of it was put away
            version = notes.documents.setdefault(name, Version(sha256=""))
            version.at, version.gone = names.iso(now), False
            notes.changed(version)
    for name, version in notes.documents.items():
        kind, what = name.partition("/")[::2]
        if kind == manifests.ENDED and not version.gone:
            of, _, subject = what.partition("/")
            version.gone = subject in there if of == "payload" else subject not in tasks


def note_settled(layout: Layout, version: Version) -> None:
    """Forget copies beside ours that were removed; remove those that equal ours by now."""
    for copy in list(version.beside):
        path = layout.join(copy.path)
        if copy.sha256 == version.sha256:
            shares.discard_unedited(path, copy.sha256)
        elif os.path.lexists(path):
            continue
        version.beside.remove(copy)


class Choice(Record):
    """A selection: `kinds` (empty: the default ones), and of whom; an empty name matches all."""

    kinds: tuple[str, ...] = ()
    session: str = ""
    task: str = ""
    run: str = ""

    def takes(self, name: str, about: str = "") -> bool:
        """Whether a document is selected; `about` is the task or run that it names."""
        kind, path = name.partition("/")[::2]
        of = path.partition("/")[0] if kind == manifests.ENDED else kind
        kinds = self.kinds or shares.by_default()
        if of not in kinds and not (of == "memory" and set(kinds) & set(_MEMORY)):
            return False
        first = path.removeprefix(f"{of}/").partition("/")[0]
        if self.session and (of != "payload" or first != self.session):
            return False
        if self.task and not self._is_of_task(of, path, about):
            return False
        return not self.run or self._is_of_run(kind, path, about)

    def _is_of_task(self, kind: str, path: str, about: str) -> bool:
        parts = path.split("/")
        named = {**dict.fromkeys(_MEMORY, about), "memory": parts[-1]}.get(kind)
        return self.task == named or (kind == "archived" and parts[0] == self.task)

    def _is_of_run(self, kind: str, path: str, about: str) -> bool:
        if kind == "run":
            return path.rpartition(".")[0] == self.run
        if kind == "verdict":
            return about == self.run or path.startswith(f"runs/{self.run}/")
        return kind == shares.OUTPUT and path.startswith(f"{self.run}/")


def choice(what: tuple[str, ...], session: str, task: str, run: str) -> Choice:
    """Parse the selection that was typed. Raises ContextError for a kind that does not travel."""
    all_kinds = shares.kinds()
    kinds: list[str] = []
    for word in what:
        if word in _WORDS:
            kinds += _WORDS[word] or all_kinds
        elif word in all_kinds:
            kinds.append(word)
        else:
            raise bad_input(f"what: {word[:40]!r} does not travel{names.nearest(word, all_kinds)}")
    if session:
        sessions.check(session)
    return Choice(
        kinds=tuple(dict.fromkeys(kinds)), session=session, task=task, run=run.removeprefix("run:")
    )


def about(layout: Layout, chosen: list[str], texts: Texts) -> dict[str, str]:
    """The task or run of those documents that name one."""
    subjects = {}
    for name in chosen:
        kind, path = name.partition("/")[::2]
        if kind == "verdict" and "/" not in path:
            subjects[name] = str(formats.object_in(texts[name]()).get("run") or "")
    if any(name.partition("/")[0] in _FOLDERS.values() for name in chosen):
        subjects |= tasks(layout)
    return {name: task for name, task in subjects.items() if task}


_FOLDERS = {"findings": "finding", "context_snapshots": "snapshot", "checkpoints": "checkpoint",
            "research_plans": "plan"}  # fmt: skip


def tasks(layout: Layout) -> dict[str, str]:
    """The task of each document of memory here."""
    try:
        listed = upkeep.listed(layout)
    except ContextError:
        return {}
    return {
        f"{_FOLDERS[folder]}/{os.path.basename(document['path'])}": document["task"]
        for document in listed
        if (folder := os.path.basename(os.path.dirname(document["path"]))) in _FOLDERS
    }


class Moved(Record):
    """A line of a report: a document's address, what was done, and its new place `to` if any."""

    id: str
    did: str
    bytes: int = 0
    machine: str = ""
    to: str = ""

    @property
    def line(self) -> str:
        from_whom = f" from {self.machine}" if self.machine else ""
        return f"{self.did} {self.id}{from_whom}{f': {self.to}' if self.to else ''}"


@dataclass(kw_only=True)
class Report:
    """What was done, one line per document, then totals; `sent` is in bytes.

    refused: documents that were held back, by address and line, never by the secret; failed: a
    machine could not be read, and the next pull tries again; messages: all others.
    """

    verb: str
    dry_run: bool = False
    rows: list[Moved] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    failed: bool = False
    sent: int = 0

    def add(self, did: str, address: str, size: int = 0, machine: str = "", to: str = "") -> None:
        self.rows.append(Moved(id=address, did=did, bytes=size, machine=machine, to=to))

    @property
    def total(self) -> str:
        counts: dict[str, int] = {}
        for row in sorted(self.rows, key=lambda row: row.did == HISTORY):
            counts[row.did] = counts.get(row.did, 0) + 1
        if not counts:
            return f"nothing new was {self.verb}" if not self.dry_run else "nothing is new"
        listed = ", ".join(f"{count} {did}" for did, count in counts.items())
        size = sum(row.bytes for row in self.rows if row.did != "refused")
        tail = f", {self.sent} on the wire" if self.sent else ""
        would = "would be " if self.dry_run else ""
        return f"{would}{listed}: {size} bytes{tail}"

    @property
    def text(self) -> str:
        lines = [row.line for row in self.rows if row.did not in _QUIET]
        return "\n".join([*lines, self.total])
