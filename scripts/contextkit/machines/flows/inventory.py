"""The inventory: which shareable documents are here, and which changed since last time."""

from __future__ import annotations

import os
from functools import partial

from contextkit.base import files, formats, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable
from contextkit.machines.documents import manifests
from contextkit.machines.documents.knowledge import Machine, Notes, Version
from contextkit.machines.flows import shares
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads

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
    _note_gone(notes, texts)
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


def _note_gone(notes: Notes, texts: Texts) -> None:
    """Note what is gone: that makes no new version, it is only no longer offered."""
    for name, version in notes.documents.items():
        kind, path = name.partition("/")[::2]
        if name in texts or version.gone or kind == manifests.ENDED:
            continue
        if kind in shares.OWN and not path.startswith(notes.machine):
            continue  # another machine's rows or events are part of a file here
        version.gone = True


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
    """Forget copies beside ours that somebody removed; remove those that ours is equal to now."""
    for copy in list(version.beside):
        path = layout.join(copy.path)
        if copy.sha256 == version.sha256:
            shares.discard_unedited(path, copy.sha256)
        elif os.path.lexists(path):
            continue
        version.beside.remove(copy)


# What a document is about


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
        listed = upkeep.listed(layout, "", [])
    except ContextError:
        return {}
    return {
        f"{_FOLDERS[folder]}/{os.path.basename(document['path'])}": document["task"]
        for document in listed
        if (folder := os.path.basename(os.path.dirname(document["path"]))) in _FOLDERS
    }
