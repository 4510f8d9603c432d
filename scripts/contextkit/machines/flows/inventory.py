"""The inventory: which shareable documents are here, and which changed since last time."""

from __future__ import annotations

import json
import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.machines.documents import manifests
from contextkit.machines.documents.knowledge import Known, Machine, Version
from contextkit.machines.flows import shares
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Texts = dict[str, Callable[[], bytes]]  # how to read each document that is here, by name


def look(layout: Layout, machine: Machine, known: Known, now: int, said: list[str]) -> Texts:
    """Bring `known` up to date; what cannot travel is appended to `said`.

    A file whose size, time and inode are unchanged is not read again.
    """
    texts: Texts = {}
    for name, path in shares.local(layout):
        try:
            manifests.check_name(name, shares.address(name))
            if _note_file(known, machine, name, path, now):
                texts[name] = lambda path=path: files.read_bytes(path)  # type: ignore[misc]
            else:
                said.append(f"{shares.address(name)}: larger than {manifests.MOST_BYTES} bytes")
        except FileNotFoundError:
            continue  # removed just now
        except ContextError as error:
            said.append(f"not shared: {error}")
    for name, data in shares.own(layout, machine):
        _note(known, machine, name, data, (), now)
        texts[name] = lambda data=data: data  # type: ignore[misc]
    _note_gone(known, machine, texts)
    _note_ended(layout, machine, known, now)
    for version in known.documents.values():
        _note_settled(layout, machine, known, version)
    return texts


def _note_file(known: Known, machine: Machine, name: str, path: str, now: int) -> bool:
    """Note a file; return False if it is too large to travel."""
    state = os.stat(path)
    stat = (state.st_size, state.st_mtime_ns, state.st_ino)
    if state.st_size > manifests.MOST_BYTES:
        return False
    version = known.documents.get(name)
    if version is None or version.gone or tuple(version.stat) != stat:
        _note(known, machine, name, files.read_bytes(path), stat, now)
    return True


def _note(
    known: Known, machine: Machine, name: str, data: bytes, stat: tuple[int, ...], now: int
) -> None:
    version = known.documents.get(name)
    digest = names.sha256(data)
    if version is not None and version.sha256 == digest:
        version.stat, version.gone = stat, False
        return
    before = version or Version(sha256="")
    known.count += 1
    known.documents[name] = Version(
        sha256=digest,
        bytes=len(data),
        at=names.iso(now),
        clock=manifests.next_clock(before.clock, machine.id, known.count),
        stat=stat,
        mine=True,
        beside=before.beside,
    )


def _note_gone(known: Known, machine: Machine, texts: Texts) -> None:
    """Note what is gone: that makes no new version, it is only no longer offered."""
    for name, version in known.documents.items():
        kind, path = name.partition("/")[::2]
        if name in texts or version.gone or kind == manifests.ENDED:
            continue
        if kind in shares.OWN and not path.startswith(machine.id):
            continue  # another machine's rows or events are part of a file here
        version.gone = True


def _note_ended(layout: Layout, machine: Machine, known: Known, now: int) -> None:
    """Note sessions and tasks of this machine that ended or came back."""
    there = set(payloads.sessions_in(layout))
    tasks = set(memory.archived(layout))
    had = {
        shares.session_of(name)
        for name, version in known.documents.items()
        if shares.session_of(name) and machine.id in version.clock
    }
    ended = {f"{manifests.ENDED}/payload/{session}" for session in had - there}
    ended |= {f"{manifests.ENDED}/memory/{task}" for task in tasks}
    for name in sorted(ended):
        version = known.documents.get(name)
        if version is None or version.gone:
            task = name.rpartition("/")[2]
            if "/memory/" in name and upkeep.listed(layout, task):
                continue  # only a part of it was put away
            known.count += 1
            before = version.clock if version else {}
            clock = manifests.next_clock(before, machine.id, known.count)
            known.documents[name] = Version(sha256="", at=names.iso(now), clock=clock, mine=True)
    for name, version in known.documents.items():
        kind, what = name.partition("/")[::2]
        if kind == manifests.ENDED and not version.gone:
            of, _, subject = what.partition("/")
            version.gone = subject in there if of == "payload" else subject not in tasks


def _note_settled(layout: Layout, machine: Machine, known: Known, version: Version) -> None:
    """Note removed copies: if someone removed the copy kept beside ours, our text wins.

    A copy that a killed pull did not get to write is offered again.
    """
    for copy in list(version.beside):
        if not os.path.lexists(layout.join(copy.path)):
            version.beside.remove(copy)
            if known.unfinished:
                continue
            known.count += 1
            joined = manifests.joined_clock(version.clock, copy.clock)
            version.clock = manifests.next_clock(joined, machine.id, known.count)
            version.mine = True


# What a document is about


def about(layout: Layout, chosen: list[str], texts: Texts) -> dict[str, str]:
    """Return the task or run of those documents that name one."""
    found = {}
    for name in chosen:
        kind, path = name.partition("/")[::2]
        if kind == "verdict" and "/" not in path:
            found[name] = _said(texts[name](), "run")
        elif kind == "checkpoint":
            found[name] = _said(texts[name](), "task_id")
        elif kind == "plan":
            found[name] = path.removesuffix(".md")
    if any(name.startswith(("finding/", "snapshot/")) for name in chosen):
        found |= _tasks(layout)
    return {name: task for name, task in found.items() if task}


def _said(data: bytes, key: str) -> str:
    try:
        found = json.loads(data)
    except ValueError:
        return ""
    return str(found.get(key) or "") if isinstance(found, dict) else ""


def _tasks(layout: Layout) -> dict[str, str]:
    """Return the task of each finding, merged finding and snapshot here."""
    kinds = {"findings": "finding", "context_snapshots": "snapshot"}
    try:
        listed = upkeep.listed(layout, "", [])
    except ContextError:
        return {}
    return {
        f"{kinds[folder]}/{os.path.basename(one.path)}": one.task
        for one in listed
        if (folder := os.path.basename(os.path.dirname(one.path))) in kinds
    }
