"""What this machine knows: the version of each document here, and what each remote has of it.

    .contextkit/sync/documents.json          every shared document that is or was here
    .contextkit/sync/<16 hex>.json           a remote: what we published there, what we have read

Losing either costs work and nothing else: documents are read again, and what is on a remote and
here with the same text is the same document.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.machines.documents.manifests import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from contextkit.machines.documents.clocks import Clock

_FORMAT = 1


@dataclass(kw_only=True)
class Copy:
    """The text of another machine that is kept beside a document of ours, at `path`."""

    path: str
    sha256: str
    machine: str
    clock: Clock


@dataclass(kw_only=True)
class Version:
    """A document as it was when somebody last looked.

    stat: size, time in ns, inode, by which a change is seen without reading; empty: read it.
    gone: it was removed here; a version that does not know of that removal is not taken again.
    mine: this machine made the text, so it is the one to publish it.
    """

    sha256: str
    bytes: int = 0
    at: str = ""
    clock: Clock = field(default_factory=dict)
    stat: tuple[int, ...] = ()
    gone: bool = False
    mine: bool = False
    beside: list[Copy] = field(default_factory=list)


@dataclass(kw_only=True)
class Known:
    """`count` is the number of the last change that this machine made.

    unfinished: a pull wrote documents and has not made the indexes of them yet.
    """

    machine: str
    count: int = 0
    unfinished: bool = False
    documents: dict[str, Version] = field(default_factory=dict)


@dataclass(kw_only=True)
class Published:
    """An entry as it is on a remote, and the number of the manifest that brought it there."""

    number: int
    entry: Entry


@dataclass(kw_only=True)
class Remote:
    """What a remote has of us, and how far we have read each other machine there.

    number, digest: of our newest manifest there; pending: that of one that may or may not have
    arrived before this process was killed.
    """

    address: str
    number: int = 0
    digest: str = ""
    pending: str = ""
    entries: dict[str, Published] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    pulled_at: str = ""
    pushed_at: str = ""


def folder(layout: Layout) -> str:
    return os.path.join(layout.state, "sync")


def lock(layout: Layout) -> files.locked:
    """One process of this machine pushes or pulls at a time."""
    return files.locked(layout.lock(folder(layout)))


def load(layout: Layout, machine: str) -> Known:
    """What `machine`, which is this one, knows; nothing where it was another or it is lost."""
    found = _read(os.path.join(folder(layout), "documents.json"))
    if found.get("machine") != machine:
        return Known(machine=machine)
    try:
        documents = {
            name: Version(
                **{**one, "beside": [Copy(**copy) for copy in one.get("beside", [])]},
            )
            for name, one in found["documents"].items()
        }
        return Known(
            machine=machine,
            count=int(found["count"]),
            unfinished=found.get("unfinished") is True,
            documents=documents,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Known(machine=machine)


def save(layout: Layout, known: Known) -> None:
    documents = {
        name: {**vars(one), "beside": [vars(copy) for copy in one.beside]}
        for name, one in known.documents.items()
    }
    _write(layout, "documents.json", {**vars(known), "documents": documents})


def load_remote(layout: Layout, address: str, machine: str) -> Remote:
    """What we know of a remote; nothing where it is lost, or we were another machine then."""
    found = _read(_remote_path(layout, address))
    if found.get("machine") != machine or found.get("address") != names.sha256(address.encode()):
        return Remote(address=address)
    try:
        entries = {
            name: Published(number=one["number"], entry=Entry(**one["entry"]))
            for name, one in found["entries"].items()
        }
        rest = ("number", "digest", "pending", "seen", "pulled_at", "pushed_at")
        return Remote(address=address, entries=entries, **{name: found[name] for name in rest})
    except (KeyError, TypeError, ValueError, AttributeError):
        return Remote(address=address)


def save_remote(layout: Layout, remote: Remote, machine: str) -> None:
    name = os.path.basename(_remote_path(layout, remote.address))
    hidden = names.sha256(remote.address.encode())  # a URL may hold a password
    entries = {
        name: {"number": one.number, "entry": vars(one.entry)}
        for name, one in remote.entries.items()
    }
    fields = {**vars(remote), "address": hidden, "entries": entries}
    _write(layout, name, {"machine": machine, **fields})


def _remote_path(layout: Layout, address: str) -> str:
    return os.path.join(folder(layout), names.sha256(address.encode())[:16] + ".json")


def _read(path: str) -> dict[str, Any]:
    """The object in a file of ours; empty where it cannot be used."""
    try:
        found = json.loads(files.read(path))
    except (ContextError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("format") == _FORMAT else {}


def _write(layout: Layout, name: str, fields: dict[str, Any]) -> None:
    files.store(layout.state)
    path = os.path.join(folder(layout), name)
    text = json.dumps({"format": _FORMAT, **fields}, ensure_ascii=False)
    if files.read_if_there(path) != text:  # a push of nothing need not wait for the disk
        files.write(path, text)
