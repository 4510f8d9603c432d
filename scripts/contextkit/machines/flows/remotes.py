"""Remotes: which one is meant, which engine serves it, and what is known about it."""

from __future__ import annotations

import os

from contextkit.base import files, git, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.documents.manifests import Entry, Head, Manifest
from contextkit.machines.flows import engines, signatures

DEFAULT = "origin"
OBJECT_STORES = ("s3://", "gs://", "az://")


class Row(Record):
    """A machine that pushes to a remote, as its head says; `here` marks this machine."""

    id: str
    machine: str
    name: str
    at: str
    documents: int
    bytes: int
    age: str = ""
    here: bool = False
    signed: str = ""


def engine(layout: Layout, remote: str) -> tuple[engines.Engine, str]:
    """Return the engine of the remote that is meant, and the address that keys our notes of it.

    With `sync_key` everything is encrypted, and what was pushed with another key or none counts as
    another remote. Raises ContextError for a name that is not a remote of this repository, or for a
    missing key.
    """
    if needed := layout.needs_trust("sync_key"):  # without it, texts would go out in the clear
        raise ContextError(needed)
    plain, address = _plain_engine(layout, remote)
    if not layout.limits.sync_key:
        return plain, address
    from contextkit.machines.flows.engines import sealed

    key = sealed.key_of(layout)
    return sealed.Sealed(plain, key), f"{address}#{key.digest('')}"


def _plain_engine(layout: Layout, remote: str) -> tuple[engines.Engine, str]:
    """Return the unencrypted engine of the remote that is meant, and the URL it stands for."""
    named = remote or _from_settings(layout)
    if named.startswith(OBJECT_STORES):
        from contextkit.machines.flows.engines.objects import Objects

        return Objects(named), named
    path = named.removeprefix("file://")
    if named.startswith("file://") and not _is_git(path):
        from contextkit.machines.flows.engines.folder import Folder

        if not os.path.isabs(path):
            raise bad_input(f"remote: {named!r} must be file:// and an absolute path")
        state = os.path.realpath(files.store(layout.state))
        if f"{os.path.realpath(path)}/".startswith(f"{state}/"):
            raise bad_input(f"remote: {named!r} is where this machine keeps its own state")
        return Folder(path), named
    return _git_engine(layout, named)


def _git_engine(layout: Layout, named: str) -> tuple[engines.Engine, str]:
    from contextkit.machines.flows.engines.git import Git

    if named.startswith("-") or not named.isprintable():
        raise bad_input(f"remote: {named!r} is not a remote")
    typed = os.path.join(layout.here, named)
    if _is_git(typed):  # a path is relative to the caller's directory
        named = os.path.abspath(typed)
    address = named
    if not any(mark in named for mark in ("/", ":")):
        if layout.repository is None:
            raise bad_input("remote: this is not a git repository: name one, remote=URL")
        top = layout.repository.top
        address = git.run(top, "config", "--get", f"remote.{named}.url", fine=(0, 1)).strip()
        if not address:
            known = git.run(top, "remote").split()
            others = f"; known: {', '.join(known)}" if known else ""
            raise bad_input(f"remote: there is no git remote {named!r}{others}; remote=URL works")
    return Git(layout, named, address), address


def _is_git(path: str) -> bool:
    """Return whether a path is a git repository, bare or not."""
    return any(
        os.path.isfile(os.path.join(path, *folder, "HEAD"))
        and os.path.isdir(os.path.join(path, *folder, "objects"))
        for folder in ((), (".git",))
    ) or os.path.isfile(os.path.join(path, ".git"))


def _from_settings(layout: Layout) -> str:
    if needed := layout.needs_trust("sync"):  # origin may be somebody else's
        raise ContextError(f"{needed}, or name a remote: remote={DEFAULT}")
    sync = layout.limits.sync
    return DEFAULT if sync in ("off", "git") else sync


def read_heads(found: dict[str, bytes], said: list[str]) -> dict[str, Head]:
    """Return the readable heads, by machine; problems with others are appended to `said`."""
    heads = {}
    for machine, data in sorted(found.items()):
        try:
            heads[machine] = manifests.parse_head(data, machine)
        except ContextError as error:
            said.append(f"skipped: {error}")
    return heads


def _read_manifest(data: bytes, machine: str, number: int) -> Manifest:
    where = f"manifest {number} of {machine}"
    return manifests.parse(manifests.unpack(data, manifests.MOST_MANIFEST, where), machine, number)


def read_entries(engine: engines.Engine, head: Head, seen: int) -> dict[str, tuple[int, Entry]]:
    """Return the newest entry of each name changed on a machine after its manifest `seen`.

    Raises ContextError if a manifest is missing or does not match the head.
    """
    start = 0 if seen > head.number else seen
    numbers = manifests.chain(head.number, start)
    keys = {manifests.manifest_key(head.machine, number): number for number in numbers}
    found = {keys[key]: data for key, data in engine.get(head.machine, keys)}
    digests = dict(zip(manifests.chain(head.number), head.chain, strict=False))
    digests[head.number] = head.digest
    entries: dict[str, tuple[int, Entry]] = {}
    for number in numbers:
        if number not in found:
            raise ContextError(f"manifest {number} of {head.machine} is missing: pull again")
        manifest = _read_manifest(found[number], head.machine, number)
        if names.sha256(found[number]) != digests.get(number, names.sha256(found[number])):
            raise ContextError(f"manifest {number} of {head.machine} does not match its head")
        entries.update({entry.name: (number, entry) for entry in manifest.entries})
    return entries


def listed(layout: Layout, remote: str, now: int, said: list[str]) -> list[Row]:
    """Return every machine of a remote, most recent push first."""
    return _rows(layout, engine(layout, remote)[0], now, said)


def _rows(layout: Layout, at: engines.Engine, now: int, said: list[str]) -> list[Row]:
    machine = knowledge.identity(layout)
    keys = signatures.of_user(layout)
    rows = [
        Row(
            id=head.machine,
            machine=head.machine,
            name=head.name,
            at=head.at,
            documents=head.documents,
            bytes=head.bytes,
            age=_age(head.at, now),
            here=machine is not None and machine.id == head.machine,
            signed=_signed(keys, head),
        )
        for head in read_heads(at.heads(), said).values()
    ]
    return sorted(rows, key=lambda row: (row.at, row.id), reverse=True)


def _signed(keys: signatures.Keys, head: Head) -> str:
    """Return who signed a head, or what is wrong; empty where the user knows no signers."""
    try:
        return " ".join(filter(None, signatures.standing(keys, head, "")))
    except ContextError:
        return "a wrong signature"


def _age(at: str, now: int) -> str:
    moment = names.moment(at)
    return names.age(moment, now, "dhm") if moment else "unknown"


def forget(layout: Layout, remote: str, which: str) -> Row:
    """Remove a machine from a remote; what others have taken from it stays with them.

    `which` is an id, the beginning of one, or a name. Raises ContextError for none or several.
    """
    at, address = engine(layout, remote)
    rows = _rows(layout, at, names.now(), [])
    fitting = [row for row in rows if row.id == which] or [
        row for row in rows if row.name == which or row.id.startswith(which)
    ]
    if len(fitting) != 1:
        there = ", ".join(row.id for row in rows) or "none"
        count = "no" if not fitting else str(len(fitting))
        raise bad_input(f"forget: {count} machines are {which[:60]!r}; there: {there}")
    gone = fitting[0]
    at.forget(gone.id)
    if gone.here:
        with knowledge.lock(layout):
            ours = knowledge.load_remote(layout, address, gone.id)
            ours.entries, ours.number, ours.digest, ours.pending = {}, 0, "", ""
            knowledge.save_remote(layout, ours, gone.id)
    elif machine := knowledge.identity(layout):
        with knowledge.lock(layout):
            known = knowledge.load(layout, machine.id)
            if known and known.signers.pop(gone.id, ""):
                knowledge.save(layout, known)
    return gone
