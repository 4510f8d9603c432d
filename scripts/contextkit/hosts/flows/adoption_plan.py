"""A plan of changes to somebody's repository: read and computed, with nothing written yet."""

from __future__ import annotations

import os

from contextkit.base import files
from contextkit.base.errors import bad_input
from contextkit.base.records import Record
from contextkit.hosts.documents import vendored
from contextkit.hosts.documents.vendored import Adopted


class Change(Record):
    """A file to write, or to remove if `new` is None; `path` is relative to the repository."""

    path: str
    old: bytes | None
    new: bytes | None
    ours: bool = False  # a whole file of the toolkit: no diff is shown


class Plan(Record):
    """What to do in `into`: `record` is the state afterwards, at `record_path`."""

    into: str
    changes: tuple[Change, ...]
    record_path: str
    before: Adopted
    record: Adopted
    notes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()  # files to make executable


class Work:
    """A plan under construction: reads a host's files and collects their new contents."""

    def __init__(self, into: str, record_path: str) -> None:
        self.into = into
        self.record_path = record_path
        self.before = vendored.load(os.path.join(into, record_path))
        self.files: dict[str, list[str]] = {}
        self.made = list(self.before.made)
        self.emptied: dict[str, dict[str, str]] = {}
        self.changes: dict[str, Change] = {}
        self.notes: list[str] = []
        self.programs: list[str] = []

    def read(self, path: str) -> bytes | None:
        """Return a host's file with the changes so far; refuses a link that leads outside."""
        real = files.inside(self.into, os.path.join(self.into, path), path)
        shown = os.path.relpath(real, self.into)
        if shown in self.changes:
            return self.changes[shown].new
        if os.path.isdir(real):
            raise bad_input(f"{path}: is a folder: move it, then run this again")
        return files.read_bytes(real) if os.path.lexists(real) else None

    def write(self, path: str, new: bytes | None, ours: bool = False) -> None:
        real = files.inside(self.into, os.path.join(self.into, path), path)
        shown = os.path.relpath(real, self.into)
        known = self.changes.get(shown)
        there = files.read_bytes(real) if os.path.lexists(real) else None
        old = known.old if known else there
        self.changes[shown] = Change(path=shown, old=old, new=new, ours=ours)

    def own(self, path: str, data: bytes, program: bool = False, editable: bool = False) -> None:
        """Add a whole file of ours: replace it if it is as we left it, never touch the host's own.

        An edited one is renamed first, or stays if it is `editable`.
        """
        there = self.read(path)
        if there is not None and there != data:
            if path not in self.before.files:
                self.notes.append(f"{path}: exists and is not contextkit's: left alone")
                return
            edited = not vendored.is_ours(self.before, path, there)
            if edited and editable:
                self.notes.append(f"{path}: was edited: kept (remove it to get the new one)")
                self.files[path] = self.before.files[path]
                return
            if edited:
                aside = self._aside(path)
                self.notes.append(f"{path}: was edited: your text is kept as {aside}")
                self.write(aside, there, ours=True)
        self.files[path] = [vendored.digest(data)]
        if program:
            self.programs.append(path)
        if there != data:
            self.write(path, data, ours=True)

    def _aside(self, path: str) -> str:
        return next(n for n in files.numbered(f"{path}.edited") if self.read(n) is None)

    def edit(self, path: str, new: str) -> None:
        """Change a file of the host that contains a part of ours."""
        old = self.read(path)
        if old is None and path not in self.made:
            self.made.append(path)
        data = new.encode("utf-8", "surrogateescape")
        if old != data:
            self.write(path, data)

    def text(self, path: str) -> str:
        return (self.read(path) or b"").decode("utf-8", "surrogateescape")

    def plan(self, record: Adopted) -> Plan:
        changes = tuple(change for change in self.changes.values() if change.old != change.new)
        return Plan(
            into=self.into,
            changes=changes,
            record_path=self.record_path,
            before=self.before,
            record=record,
            notes=tuple(self.notes),
            programs=tuple(self.programs),
        )
