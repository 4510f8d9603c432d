"""A pull: offer what other machines pushed to the stores here.

manuals/machines.md says when a text is created, replaced, merged, or kept beside ours. After
a kill at any point the next pull continues: what has arrived already has the same text.
"""

from __future__ import annotations

import functools
import os
import unicodedata

from contextkit.base import addresses, files, names, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterator
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.documents.knowledge import Copy, Machine, Notes, Version
from contextkit.machines.documents.manifests import Entry, Head
from contextkit.machines.flows import engines, remotes, shares
from contextkit.machines.flows.shares import HISTORY, Choice, Report
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention

_AT_ONCE = 500  # documents per fetch


class Offer:
    """The state of one call of `pull`: its place, its caller, its notes, its results."""

    def __init__(self, layout: Layout, machine: Machine, notes: Notes, report: Report) -> None:
        self.layout, self.machine, self.notes, self.report = layout, machine, notes, report
        self.now = names.now()
        self.sessions: dict[str, None] = {}  # those in which something was stored
        self.sender = machine
        self.later: list[tuple[Machine, list[Entry]]] = []  # output, which needs its run first
        self.read: dict[str, int] = {}  # the manifest up to which each machine is done
        self.spelled: dict[str, str] = {}  # each folder and document here, by its folded name

    @functools.cached_property
    def keys(self) -> remotes.Keys:
        return remotes.of_user(self.layout)

    def tell(self, did: str, entry: Entry, to: str = "") -> None:
        """Report what was done with an entry of the sender, and where to, or why."""
        self.report.add(did, shares.address(entry.name), entry.bytes, self.sender.name, to)

    def refuse(self, entry: Entry, why: ContextError) -> None:
        """Report an entry of the sender that could not be taken."""
        self.report.add("not taken", shares.address(entry.name), 0, self.sender.name, str(why))


def pull(
    layout: Layout, remote: str, chosen: Choice, *, source: str = "", dry_run: bool = False
) -> Report:
    """Take what is selected and new, from every machine or only from `source`."""
    at, address = remotes.engine(layout, remote)
    report = Report(verb="taken", dry_run=dry_run)
    with knowledge.lock(layout):
        machine, notes = knowledge.myself(layout)
        there = knowledge.load_remote(layout, address, machine.id)
        offer = Offer(layout, machine, notes, report)
        shares.look(layout, machine, notes, offer.now, report.messages)
        if notes.unfinished:  # a killed pull: which sessions got something is unknown
            offer.sessions.update(dict.fromkeys(payloads.sessions_in(layout)))
        heads = remotes.read_heads(at.heads(), report.messages)
        others = [head for head in heads.values() if head.machine != machine.id]
        try:
            for head in remotes.meant(others, source, "from") if source else others:
                _take(offer, at, head, there.seen.get(head.machine, 0), chosen)
            for sender, outputs in offer.later:
                offer.sender = sender
                _fetch(offer, at, outputs)
        except ContextError:
            if not dry_run:
                knowledge.save(layout, notes)
            raise
        if not dry_run:
            if chosen == Choice():
                there.seen.update(offer.read)
            for session in offer.sessions:  # their indexes are made anew, from their files
                with retention.session_lock(layout, session):
                    repaired = payloads.repair(layout, session, offer.now)
                report.messages += [line for line in repaired if "listed now" not in line]
            files.settle()
            addresses.save_origins(layout, shares.origins(layout, notes))
            notes.unfinished = False
            knowledge.save(layout, notes)
            knowledge.save_remote(layout, there, machine.id)
    return report


def _take(offer: Offer, at: engines.Engine, head: Head, seen: int, chosen: Choice) -> None:
    """Offer what is new on one machine to the stores here."""
    report = offer.report
    if head.number == seen:
        return
    offer.sender = Machine(id=head.machine, name=head.name)
    offer.notes.names[head.machine] = head.name
    try:
        name, remark = remotes.standing(offer.keys, head, offer.notes.signers.get(head.machine, ""))
        newest = remotes.read_entries(at, head, seen)
    except ContextError as error:
        report.failed = True
        report.messages.append(f"{head.name}: {error}")
        return
    if name:
        offer.notes.signers[head.machine] = name
    if remark:
        report.messages.append(f"{head.name}: {remark}")
    entries = [entry for _, entry in newest.values() if chosen.takes(entry.name, entry.about)]
    wanted = [entry for entry in entries if _is_new(offer, entry)]
    offer.read[head.machine] = head.number
    wanted.sort(key=lambda entry: entry.name)
    outputs = [entry for entry in wanted if entry.kind == shares.OUTPUT]
    documents = [entry for entry in wanted if entry.kind not in (manifests.ENDED, shares.OUTPUT)]
    for entry in (entry for entry in wanted if entry.kind == manifests.ENDED):
        _end(offer, entry)
    if report.dry_run:
        for entry in [*documents, *outputs]:
            offer.tell(HISTORY if entry.kind == shares.LEDGER else "taken", entry)
    else:
        _fetch(offer, at, documents)
        offer.later.append((offer.sender, outputs))


def _fetch(offer: Offer, at: engines.Engine, documents: list[Entry]) -> None:
    """Fetch documents in batches and offer each; a refused one is reported."""
    sender = offer.sender.id
    for first in range(0, len(documents), _AT_ONCE):
        part = documents[first : first + _AT_ONCE]
        offer.notes.unfinished = True
        for entry in part:  # what the sender may write here is known even if this is killed
            version = offer.notes.documents.setdefault(entry.name, Version(sha256="", gone=True))
            if version.gone:
                version.source = sender
            if version.source == sender:
                version.coming = entry.sha256
            elif entry.kind not in shares.OWN and shares.merger(entry.name) is None:
                at_ours = shares.place(offer.layout, entry.name) + stores.MARK + sender
                shown = offer.layout.shown(at_ours)
                copy = Copy(path=shown, sha256=entry.sha256, machine=sender)
                version.beside += [copy] if copy not in version.beside else []
        knowledge.save(offer.layout, offer.notes)
        keys = dict.fromkeys(manifests.object_key(entry.sha256) for entry in part)
        texts = dict(at.get(offer.sender.id, keys))
        for entry in part:
            try:
                _offer(offer, entry, texts.get(manifests.object_key(entry.sha256)))
            except ContextError as error:
                if isinstance(error, manifests.Unreadable):  # the next pull tries again
                    offer.read.pop(offer.sender.id, None)
                offer.refuse(entry, error)


def _is_new(offer: Offer, entry: Entry) -> bool:
    """Whether an entry brings something new here; an equal text is noted as settled."""
    version = offer.notes.documents.get(entry.name)
    if entry.gone or version is None:
        return not entry.gone
    is_settled = version.counts.get(offer.sender.id, -1) >= entry.count
    is_equal = version.sha256 == entry.sha256 and not version.gone
    if is_equal and entry.kind != manifests.ENDED and not is_settled:
        _note_settled(offer, version, entry)
        return False
    return not is_settled


def _note_settled(offer: Offer, version: Version, entry: Entry) -> None:
    """Note that an entry is dealt with, and that it is newer than the sender's copies."""
    version.counts[offer.sender.id] = entry.count
    _discard_older(offer, version)


def _discard_older(offer: Offer, version: Version) -> None:
    """Remove the sender's copies next to ours, except edited ones."""
    for copy in [theirs for theirs in version.beside if theirs.machine == offer.sender.id]:
        if shares.discard_unedited(offer.layout.join(copy.path), copy.sha256):
            version.beside.remove(copy)


def _offer(offer: Offer, entry: Entry, packed: bytes | None) -> None:
    """Offer one document to its store. Raises ContextError for what the store cannot take."""
    where = shares.address(entry.name)
    if packed is None:
        raise manifests.Unreadable("it is no longer on the remote")
    data = manifests.unpack(packed, min(entry.bytes, manifests.MOST_BYTES), where)
    if names.sha256(data) != entry.sha256:
        raise ContextError("its text does not match the manifest")
    if entry.kind in shares.OWN:
        _take_own(offer, entry, data)
        return
    path = shares.place(offer.layout, entry.name)
    if not offer.spelled:
        for document, version in offer.notes.documents.items():
            offer.spelled.update(() if version.gone else _spellings(document))
    for folded, part in _spellings(entry.name):  # which some file systems take for another's
        other = offer.spelled.setdefault(folded, part)
        if other != part:
            raise ContextError(f"differs only in case or accents from {shares.address(other)}")
    shares.check(entry.name, data)
    shares.prepare(offer.layout, entry.name)
    with shares.lock(offer.layout, entry.name, path):
        session = shares.session_of(entry.name)
        if session:
            retention.resume(offer.layout, session, offer.now)
            offer.sessions[session] = None
        _settle(offer, entry, path, data)


def _spellings(name: str) -> Iterator[tuple[str, str]]:
    """A name and each folder on its way, all as a file system without case compares them."""
    parts = name.split("/")
    for end in range(2, len(parts) + 1):
        part = "/".join(parts[:end])
        yield unicodedata.normalize("NFKC", part).casefold(), part


def _settle(offer: Offer, entry: Entry, path: str, data: bytes) -> None:
    """Reconcile a document with what is at its place; report what was done, if anything."""
    if not os.path.lexists(path):
        try:
            files.create(path, data, exact=True)
            return _taken(offer, entry, path, data)
        except FileExistsError:
            pass  # another process made it just now
    ours = files.read_bytes(path)
    version = shares.note(offer.notes, entry.name, ours, (), offer.now)
    if version.source == offer.sender.id and ours != data:  # as the sender gave it
        files.write(path, data)
        return _taken(offer, entry, path, data)
    merge = shares.merger(entry.name)
    both = (data, ours) if version.author == offer.sender.id else (ours, data)
    merged = ours if ours == data else merge(*both) if merge else None
    if merged is None:
        return _beside(offer, entry, path, data, version)
    _note_settled(offer, version, entry)
    if merged != ours:
        files.write(path, merged)
        shares.note(offer.notes, entry.name, merged, (), offer.now)  # this machine's own text
        offer.tell("merged", entry)


def _taken(offer: Offer, entry: Entry, path: str, data: bytes) -> None:
    """Record that the sender's text is now at `path`."""
    version = offer.notes.documents[entry.name]
    state = os.stat(path)
    version.sha256, version.bytes, version.at = entry.sha256, len(data), entry.at
    version.stat, version.gone = (state.st_size, state.st_mtime_ns, state.st_ino), False
    version.source = version.author = offer.sender.id
    version.coming = ""
    _note_settled(offer, version, entry)
    shares.note_settled(offer.layout, version)
    offer.tell("taken", entry)


def _beside(offer: Offer, entry: Entry, path: str, data: bytes, version: Version) -> None:
    """Keep their text next to ours, replacing their older one unless it was edited.

    A copy is recorded before it is written, as `_fetch` did: after a kill in between, it is
    known as theirs.
    """
    announced = {kept.path for kept in version.beside if kept.sha256 == entry.sha256}
    _discard_older(offer, version)
    for at in files.numbered(f"{path}{stores.MARK}{offer.sender.id}"):
        there = os.path.lexists(at)
        if there and files.read_bytes(at) != data:
            continue
        copy = Copy(path=offer.layout.shown(at), sha256=entry.sha256, machine=offer.sender.id)
        version.beside = [kept for kept in version.beside if kept.path != copy.path] + [copy]
        if there:
            break
        if copy.path not in announced:
            knowledge.save(offer.layout, offer.notes)
        try:
            files.create(at, data, exact=True)
            break
        except FileExistsError:
            version.beside.pop()  # somebody took the name just now: the next one
    version.counts[offer.sender.id] = entry.count
    offer.tell("beside", entry, copy.path)


def _take_own(offer: Offer, entry: Entry, data: bytes) -> None:
    """Take rows and events, but only those of the machine that sends them."""
    owner = entry.path.partition("/")[0].removesuffix(".json")
    if owner != offer.sender.id:
        raise ContextError(f"does not belong to the machine that sends it ({owner})")
    if entry.kind == shares.SUBAGENTS:
        did, count = "merged", shares.take_rows(offer.layout, offer.sender, data)
    else:
        did, count = HISTORY, shares.take_events(offer.layout, entry.name, offer.sender, data)
    offer.notes.documents[entry.name] = Version(
        sha256=entry.sha256, bytes=entry.bytes, at=entry.at, source=offer.sender.id,
        counts={offer.sender.id: entry.count},
    )  # fmt: skip
    if count:
        offer.tell(did, entry)


def _end(offer: Offer, entry: Entry) -> None:
    """End here what ended there, with this machine's own grace period."""
    of, _, subject = entry.path.partition("/")
    layout = offer.layout
    if offer.report.dry_run:
        offer.tell("ended", entry)
        return
    done = ""
    try:
        if of == "payload":
            listed = [n for n in offer.notes.documents if shares.session_of(n) == subject]
            if _is_kept(offer, entry, listed):
                return
            done = retention.end(layout, subject, offer.now, here=False)
            for name in listed:  # used again there, the session comes back whole
                version = offer.notes.documents[name]
                version.gone, version.counts = True, {}
        elif of == "memory":
            tasks = shares.tasks(layout)
            if _is_kept(offer, entry, [name for name, task in tasks.items() if task == subject]):
                return
            moved = upkeep.archive(layout, subject)
            done = f"{names.counted(len(moved), 'document')} archived" if moved else ""
    except ContextError as error:
        offer.refuse(entry, error)
    version = offer.notes.documents.setdefault(entry.name, Version(sha256="", at=entry.at))
    version.counts[offer.sender.id] = entry.count
    version.gone = False
    if done:
        offer.tell("ended", entry, done)


def _is_kept(offer: Offer, entry: Entry, listed: list[str]) -> bool:
    """Whether what ended there continues here, since it has other documents; reports so."""
    versions = offer.notes.documents
    here = [versions[name] for name in listed if name in versions and not versions[name].gone]
    others = [version for version in here if version.source != offer.sender.id]
    if others:
        version = versions.setdefault(entry.name, Version(sha256="", gone=True))
        version.counts[offer.sender.id] = entry.count
        many = names.counted(len(others), "document")
        offer.tell("kept", entry, f"ended there; here it has {many} of its own")
    return bool(others)
