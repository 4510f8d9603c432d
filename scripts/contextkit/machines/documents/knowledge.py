"""What this machine is and knows: its id, its version of each document, what each remote has.

    .contextkit/machine                      two lines: the id (12 characters), a name for people
    .contextkit/sync/documents.json          every shared document that is or was here
    .contextkit/sync/<16 hex>.json           a remote: what we published there, what we have read

A clone, a sandbox, a job or a worktree is a machine of its own, with an id drawn at random. Losing
a file only costs work: documents are read again, and equal texts count as the same document.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from contextkit.base import files, formats, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Callable, T
from contextkit.machines.documents import manifests
from contextkit.machines.documents.manifests import Entry

_FORMAT = 1


class Machine(Record):
    """A machine: `id` is for programs and never changes; `name` is for people and may change."""

    id: str
    name: str


@dataclass(kw_only=True)
class Copy:
    """Another machine's text, kept at `path` next to a document of ours."""

    path: str
    sha256: str
    machine: str


@dataclass(kw_only=True)
class Version:
    """A document as it was when last inspected.

    counts: for each machine, its last change of this document that was settled here; for this
    machine, the one it publishes.
    stat: size, time in ns, inode, which reveal a change without reading; if empty, read the file.
    gone: it was removed here; only a newer change brings it back.
    source: the machine that wrote the text here, the only one that may replace it.
    author: the machine whose text this first was; a merge with a third one's does not change that.
    coming: the digest of a text from `source` that a pull may have written before it was killed.
    """

    sha256: str
    bytes: int = 0
    at: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    stat: tuple[int, ...] = ()
    gone: bool = False
    source: str = ""
    author: str = ""
    coming: str = ""
    beside: list[Copy] = field(default_factory=list)


@dataclass(kw_only=True)
class Notes:
    """What this machine knows of documents; `count` is the number of its last change.

    unfinished: a pull wrote documents and has not rebuilt their indexes yet.
    names: what other machines call themselves, by id.
    signers: who signed what other machines sent, by id.
    """

    machine: str
    count: int = 0
    unfinished: bool = False
    documents: dict[str, Version] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    signers: dict[str, str] = field(default_factory=dict)

    def changed(self, version: Version) -> None:
        """Note a change of a document by this machine, whose text it is from now on."""
        self.count += 1
        version.source = self.machine
        version.author = version.author or self.machine
        version.counts[self.machine] = self.count

    def is_ours(self, version: Version) -> bool:
        return version.source == self.machine


@dataclass(kw_only=True)
class Remote:
    """What a remote has from us, and how far we have read each other machine there.

    entries: each entry of ours there, with the number of the manifest that brought it.
    number, digest: our newest manifest there; chain: the digests that our head there names.
    pending: the digest of a manifest that may not have arrived before this process was killed.
    """

    address: str
    number: int = 0
    digest: str = ""
    pending: str = ""
    chain: list[str] = field(default_factory=list)
    entries: dict[str, tuple[int, Entry]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def arrived(self, head: manifests.Head) -> None:
        """Note that this head of ours has arrived."""
        self.number, self.digest, self.pending = head.number, head.digest, ""
        self.chain = list(head.chain)


def lock(layout: Layout) -> files.locked:
    """The lock that lets one process of this machine push or pull at a time."""
    return files.locked(layout.lock(layout.sync))


def myself(layout: Layout) -> tuple[Machine, Notes]:
    """This machine and its notes; if the notes are lost, become a new machine.

    A count that starts over would look older than what others have of this machine.
    """
    machine = identity(layout)
    notes = load(layout, machine.id) if machine else None
    return (machine, notes) if machine and notes else begin(layout)


def begin(layout: Layout, before: Notes | None = None) -> tuple[Machine, Notes]:
    """Become a new machine, which owns what the one `before` wrote; the caller holds the lock."""
    here = f"{os.uname().nodename} {os.path.basename(layout.root)}"
    name = manifests.clean_name(os.environ.get("CONTEXT_MACHINE", "") or here)
    files.write(layout.machine, f"{manifests.new_id()}\n{name}\n")
    machine = identity(layout)
    assert machine is not None
    notes = before or Notes(machine=machine.id)
    for name in [key for key in notes.documents if key.partition("/")[2].startswith(notes.machine)]:
        del notes.documents[name]  # its own rows and events, which get another name
    for version in notes.documents.values():
        version.counts.pop(notes.machine, None)
        if notes.is_ours(version):
            notes.count += 1
            version.source, version.counts[machine.id] = machine.id, notes.count
        if version.author == notes.machine:
            version.author = machine.id
    notes.machine = machine.id
    save(layout, notes)
    return machine, notes


def identity(layout: Layout) -> Machine | None:
    """This machine if it has an id yet. Raises ContextError if the file holds no id."""
    text = files.read_if_there(layout.machine)
    if text is None:
        return None
    first, _, rest = text.partition("\n")
    if not manifests.is_id(first.strip()):
        where = layout.shown(layout.machine)
        raise ContextError(f"{where}: has no machine id: remove the file, and a new id is drawn")
    return Machine(id=first.strip(), name=manifests.clean_name(rest) or first.strip())


def load(layout: Layout, machine: str) -> Notes | None:
    """The notes of `machine`, this one; None if the file is lost or another machine's."""

    def made(fields: dict[str, Any]) -> Notes:
        documents = {
            name: Version(**{**version, "beside": [Copy(**copy) for copy in version["beside"]]})
            for name, version in fields["documents"].items()
        }
        rest = {name: fields[name] for name in ("count", "unfinished", "names", "signers")}
        return Notes(machine=machine, documents=documents, **rest)

    return _read(os.path.join(layout.sync, "documents.json"), machine, made)


def save(layout: Layout, notes: Notes) -> None:
    _write(layout, "documents.json", vars(notes))


def load_remote(layout: Layout, address: str, machine: str) -> Remote:
    """Our notes on a remote; empty if they are lost or from an earlier identity."""

    def made(fields: dict[str, Any]) -> Remote:
        listed = fields["entries"].items()
        entries = {name: (int(number), Entry(**entry)) for name, (number, entry) in listed}
        rest = ("number", "digest", "pending", "chain", "seen")
        return Remote(address=address, entries=entries, **{name: fields[name] for name in rest})

    path = os.path.join(layout.sync, _file_of(address))
    return _read(path, machine, made) or Remote(address=address)


def save_remote(layout: Layout, remote: Remote, machine: str) -> None:
    fields = {**vars(remote), "machine": machine}
    del fields["address"]  # a URL may contain a password
    _write(layout, _file_of(remote.address), fields)


def _file_of(address: str) -> str:
    return names.sha256(address.encode())[:16] + ".json"


def _read(path: str, machine: str, make: Callable[[dict[str, Any]], T]) -> T | None:
    """The result of `make` for one of our files; None if it is unusable or another machine's."""
    try:
        fields = formats.object_in(files.read_bytes(path))
        is_ours = (fields.get("format"), fields.get("machine")) == (_FORMAT, machine)
        return make(fields) if is_ours else None
    except (ContextError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _write(layout: Layout, name: str, fields: dict[str, Any]) -> None:
    path = os.path.join(layout.sync, name)
    text = json.dumps({"format": _FORMAT, **fields}, ensure_ascii=False, default=vars)
    if files.read_if_there(path) != text:  # a push of nothing need not wait for the disk
        files.write(path, text)
