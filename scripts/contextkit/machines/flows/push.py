"""A push: send what is new here to a remote, under this machine's own keys.

Objects go up before the manifest that names them, and the head goes last, so a reader sees either
the new state or the one before. After a kill the next push completes it.
"""

from __future__ import annotations

from dataclasses import replace

from contextkit.base import names, redaction
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.documents.knowledge import Machine, Notes, Remote, Version
from contextkit.machines.documents.manifests import Entry, Head
from contextkit.machines.flows import engines, remotes, shares
from contextkit.machines.flows.engines import Elsewhere
from contextkit.machines.flows.shares import HISTORY, Choice, Report


def push(
    layout: Layout, remote: str, chosen: Choice, *, redact: bool = False, dry_run: bool = False
) -> Report:
    """Send what is selected and new; a document with a secret stays here unless it is redacted."""
    at, address = remotes.engine(layout, remote)
    with knowledge.lock(layout):
        machine, notes = knowledge.myself(layout)
        for _ in range(2):
            try:
                return _Push(layout, at, address, machine, notes, redact).report(chosen, dry_run)
            except Elsewhere:
                again = _Push(layout, at, address, machine, notes, redact)
                if again.recall():
                    knowledge.save_remote(layout, again.there, machine.id)
                else:  # this folder is a copy of one that has pushed with the same id
                    machine, notes = knowledge.begin(layout, notes)
        return _Push(layout, at, address, machine, notes, redact).report(chosen, dry_run)


class _Push:
    """One attempt: its place, its identity, and what the remote has from us so far."""

    def __init__(
        self, layout: Layout, at: engines.Engine, address: str, machine: Machine, notes: Notes,
        redact: bool,
    ) -> None:  # fmt: skip
        self._layout, self._at, self._machine, self._notes = layout, at, machine, notes
        self._redact = redact
        self.there = knowledge.load_remote(layout, address, machine.id)

    def report(self, chosen: Choice, dry_run: bool) -> Report:
        """Send what is chosen and new. Raises Elsewhere if the head there is not ours."""
        layout, notes, there = self._layout, self._notes, self.there
        now = names.now()
        report = Report(verb="sent", dry_run=dry_run)
        texts = shares.look(layout, self._machine, notes, now, report.messages)
        if not dry_run:
            knowledge.save(layout, notes)
        if (there.pending or not there.digest) and not self.recall():
            raise Elsewhere("another folder pushes as this machine")
        new = _changed(notes, there)
        about = shares.about(layout, [name for name in new if name in texts], texts)
        new = [name for name in new if chosen.takes(name, about.get(name, ""))]
        objects, entries = self._gathered(texts, new, about, report)
        verbs = {manifests.ENDED: "ended", shares.LEDGER: HISTORY}
        for entry in entries:
            sent = verbs.get(entry.kind, "redacted" if entry.redacted else "sent")
            did = "withdrawn" if entry.gone else sent
            report.add(did, shares.address(entry.name), entry.bytes)
        if dry_run:
            return report
        if not entries:
            knowledge.save_remote(layout, there, self._machine.id)
            return report
        head, manifest = _next(there, self._machine, entries, now)
        try:
            head = remotes.signed(remotes.of_user(layout), head)
        except ContextError as error:
            report.messages.append(str(error))
        report.sent = self._send(objects, manifest, head)
        return report

    def recall(self) -> bool:
        """Learn what the remote has from us; False if another folder uses our id there."""
        remote, notes = self.there, self._notes
        data = self._at.heads().get(notes.machine)
        if data is None:
            remote.entries, remote.digest, remote.pending, remote.chain = {}, "", "", []
            return True
        head = manifests.parse_head(data, notes.machine)
        if remote.digest and head.digest not in (remote.digest, remote.pending):
            return False
        if head.digest != remote.digest or not remote.entries:
            there = remotes.read_entries(self._at, head, 0)
            for _, entry in there.values():  # ours: no higher count, no other text at a count
                version = notes.documents.get(entry.name)
                ours = version if version and notes.is_ours(version) else None
                is_same = ours is not None and ours.counts.get(notes.machine, 0) == entry.count
                is_other = ours is not None and ours.sha256 != entry.sha256 and not entry.redacted
                if entry.count > notes.count or (is_same and is_other):
                    return False
            remote.entries = there
        remote.arrived(head)
        return True

    def _gathered(
        self, texts: shares.Texts, new: list[str], about: dict[str, str], report: Report
    ) -> tuple[dict[str, bytes], list[Entry]]:
        """Collect the objects and entries that may leave."""
        objects: dict[str, bytes] = {}
        entries = []
        allowed = self._layout.limits.secrets_allow
        for name in new:
            version = self._notes.documents[name]
            entry = Entry(
                name=name, at=version.at, count=version.counts.get(self._notes.machine, 0),
                gone=version.gone, about=about.get(name, ""),
            )  # fmt: skip
            if version.gone or entry.kind == manifests.ENDED:
                entries.append(entry)
                continue
            try:
                data = texts[name]()
            except (ContextError, FileNotFoundError):
                continue  # removed just now: the next push notices
            if names.sha256(data) != version.sha256:
                continue  # changed just now: the next push takes it
            secrets = redaction.found(data.decode("utf-8", "replace"), allowed)
            if secrets and not self._redact:
                address = shares.address(name)
                report.refused += [f"{address}:{secret.line}: {secret.kind}" for secret in secrets]
                report.add("refused", address)
                continue
            if secrets:
                data = shares.redacted(name, data, allowed)
            digest = names.sha256(data)
            objects[manifests.object_key(digest)] = manifests.pack(data)
            entries.append(replace(entry, sha256=digest, bytes=len(data), redacted=bool(secrets)))
        return objects, entries

    def _send(self, objects: dict[str, bytes], manifest: tuple[str, bytes], head: Head) -> int:
        """Send everything; after a kill midway, the next push looks for what has arrived."""
        layout, there, machine = self._layout, self.there, self._machine.id
        keep = {manifests.object_key(entry.sha256) for entry in _kept(there)}
        keep |= {manifests.manifest_key(machine, number) for number in manifests.chain(head.number)}
        there.pending = head.digest
        before = knowledge.load_remote(layout, there.address, machine)
        before.number, before.digest, before.pending = there.number, there.digest, there.pending
        knowledge.save_remote(layout, before, machine)
        data = manifests.render_head(head)
        sent = self._at.put(
            engines.Sending(machine, objects, manifest, data, frozenset(keep), there.digest)
        )
        there.arrived(head)
        knowledge.save_remote(layout, there, machine)
        return sent


def _changed(notes: Notes, there: Remote) -> list[str]:
    """The names of what this machine wrote and the remote lacks in its current version."""

    def differs(name: str, version: Version) -> bool:
        if not (notes.is_ours(version) or version.gone):
            return False  # another machine's text, which it publishes itself
        _, entry = there.entries.get(name, (0, None))
        if entry is None or version.gone:
            return (entry is None or entry.gone) != version.gone
        return entry.gone or entry.count != version.counts.get(notes.machine, 0)

    return sorted(name for name, version in notes.documents.items() if differs(name, version))


def _next(
    there: Remote, machine: Machine, entries: list[Entry], now: int
) -> tuple[Head, tuple[str, bytes]]:
    """The next head and manifest; `there` is what they make."""
    number = there.number + 1
    there.entries.update({entry.name: (number, entry) for entry in entries})
    since = manifests.since(number)
    listed = [entry for brought_by, entry in there.entries.values() if brought_by > since]
    data = manifests.pack(manifests.render(machine.id, number, listed))
    kept, digest = _kept(there), names.sha256(data)
    head = Head(
        machine=machine.id, name=machine.name, number=number, digest=digest, at=names.iso(now),
        documents=len(kept), bytes=sum(entry.bytes for entry in kept),
        chain=(*there.chain[: len(manifests.chain(since))], digest),
    )  # fmt: skip
    return head, (manifests.manifest_key(machine.id, number), data)


def _kept(there: Remote) -> list[Entry]:
    """The entries whose texts the remote needs from now on."""
    return [entry for _, entry in there.entries.values() if entry.sha256 and not entry.gone]
