"""A pull: offer what other machines pushed to the stores here.

    not here                      created, never overwriting anything
    here with the same text       nothing
    newer than what is here       replaces it
    neither knew of the other     merged by the store's own rule, else kept beside ours

Nothing is removed for being absent elsewhere; what was removed here does not come back. After a
kill at any point the next pull continues: what has arrived already has the same text.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.documents.knowledge import Copy, Known, Machine, Version
from contextkit.machines.documents.manifests import Entry, Head
from contextkit.machines.flows import inventory, remotes, shares
from contextkit.machines.flows.transfers import HISTORY, Choice, Report
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.machines.flows.engines import Engine

_AT_ONCE = 500  # documents per fetch


class Offer:
    """The state of one call of `pull`: where it works, who asks, what it knows, what came of it."""

    def __init__(self, layout: Layout, machine: Machine, known: Known, report: Report) -> None:
        self.layout, self.machine, self.known, self.report = layout, machine, known, report
        self.now = names.now()
        self.sessions: dict[str, None] = {}  # in which something was stored
        self.sender = machine
        self.later: list[tuple[Machine, list[Entry]]] = []  # output, which needs its run first
        self.read: dict[str, int] = {}  # the manifest up to which each machine is done


def pull(
    layout: Layout, remote: str, chosen: Choice, *, source: str = "", dry_run: bool = False
) -> Report:
    """Take what is selected and new, from every machine or only from `source`."""
    at, address = remotes.engine(layout, remote)
    report = Report(verb="taken", dry_run=dry_run)
    with knowledge.lock(layout):
        machine, known = knowledge.myself(layout)
        there = knowledge.load_remote(layout, address, machine.id)
        offer = Offer(layout, machine, known, report)
        inventory.look(layout, machine, known, offer.now, report.said)
        if known.unfinished:  # a killed pull: which sessions got something is unknown
            offer.sessions.update(dict.fromkeys(payloads.sessions_in(layout)))
        heads = remotes.read_heads(at.heads(), report.said)
        others = [head for head in heads.values() if head.machine != machine.id]
        try:
            for head in _meant(others, source):
                _take(offer, at, head, there.seen.get(head.machine, 0), chosen)
            for sender, outputs in offer.later:
                offer.sender = sender
                _fetch(offer, at, outputs)
        except ContextError:
            if not dry_run:
                knowledge.save(layout, known)
            raise
        if not dry_run:
            if chosen.is_all:
                there.seen.update(offer.read)
            _make_indexes(offer)
            known.unfinished = False
            there.pulled_at = names.iso(offer.now)
            knowledge.save(layout, known)
            knowledge.save_remote(layout, there, machine.id)
    return report


def _meant(heads: list[Head], source: str) -> list[Head]:
    if not source:
        return heads
    found = [head for head in heads if source in (head.machine, head.name)]
    found = found or [head for head in heads if head.machine.startswith(source)]
    if not found:
        there = ", ".join(f"{head.machine} ({head.name})" for head in heads) or "none"
        raise ContextError(f"from: no machine is {source[:60]!r}; there: {there}")
    return found


def _take(offer: Offer, at: Engine, head: Head, seen: int, chosen: Choice) -> None:
    """Offer what is new on one machine to the stores here."""
    report = offer.report
    if head.number == seen:
        return
    offer.sender = Machine(id=head.machine, name=head.name)
    try:
        found = remotes.read_entries(at, head, seen)
    except ContextError as error:
        report.fail(f"{head.name}: {error}")
        return
    entries = [one for _, one in found.values() if chosen.takes(one.name, one.about)]
    wanted = [entry for entry in entries if _is_new(offer, entry)]
    offer.read[head.machine] = head.number
    for entry in wanted:
        if entry.kind == manifests.ENDED:
            _end(offer, entry)
    documents = [entry for entry in wanted if entry.kind != manifests.ENDED]
    outputs = [entry for entry in documents if entry.kind == shares.OUTPUT]
    documents = [entry for entry in documents if entry.kind != shares.OUTPUT]
    documents.sort(key=lambda entry: entry.name)
    if report.dry_run:
        for entry in [*documents, *outputs]:
            did = HISTORY if entry.kind == shares.LEDGER else "taken"
            report.add(did, shares.address(entry.name), entry.bytes, head.name)
    else:
        _fetch(offer, at, documents)
        offer.later.append((offer.sender, outputs))


def _fetch(offer: Offer, at: Engine, documents: list[Entry]) -> None:
    """Fetch documents in batches and offer each; a refused one is reported."""
    if documents and not offer.known.unfinished:
        offer.known.unfinished = True
        knowledge.save(offer.layout, offer.known)
    for first in range(0, len(documents), _AT_ONCE):
        part = documents[first : first + _AT_ONCE]
        keys = dict.fromkeys(manifests.object_key(entry.sha256) for entry in part)
        texts = dict(at.get(offer.sender.id, keys))
        for entry in part:
            try:
                _offer(offer, entry, texts.get(manifests.object_key(entry.sha256)))
            except ContextError as error:
                if isinstance(error, manifests.Unreadable):  # the next pull tries again
                    offer.read.pop(offer.sender.id, None)
                where = shares.address(entry.name)
                offer.report.add("not taken", where, 0, offer.sender.name, str(error))
                offer.known.documents.setdefault(entry.name, Version(sha256="", gone=True))


def _is_new(offer: Offer, entry: Entry) -> bool:
    """Return whether an entry brings something new here; an equal text is noted as known."""
    version = offer.known.documents.get(entry.name)
    if entry.gone:
        return False
    if version is None:
        return True
    if manifests.covers(version.clock, entry.clock) and version.clock:
        return False
    if any(manifests.covers(copy.clock, entry.clock) for copy in version.beside):
        return False
    if version.sha256 == entry.sha256 and not version.gone and entry.kind != manifests.ENDED:
        _advance(offer, version, entry.clock)
        return False
    return True


def _advance(offer: Offer, version: Version, clock: manifests.Clock) -> None:
    """Note that a document is at least as new as `clock`; remove the copies that it supersedes."""
    version.clock = manifests.joined_clock(version.clock, clock)
    for copy in list(version.beside):
        if manifests.covers(version.clock, copy.clock):
            path = offer.layout.join(copy.path)
            if os.path.isfile(path) and names.sha256(files.read_bytes(path)) == copy.sha256:
                files.discard(path)
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
    shares.check(entry.name, data)
    shares.prepare(offer.layout, entry.name)
    with shares.lock(offer.layout, entry.name, path):
        session = shares.session_of(entry.name)
        if session:
            retention.resume(offer.layout, session, offer.now)
            offer.sessions[session] = None
        did = _settle(offer, entry, path, data)
    if did:
        to = did.partition(" ")[2]
        name = offer.sender.name
        offer.report.add(did.partition(" ")[0], where, entry.bytes, name, to)


def _settle(offer: Offer, entry: Entry, path: str, data: bytes) -> str:
    """Reconcile a document with what is at its place; return what was done, empty for nothing."""
    known = offer.known.documents
    version = known.get(entry.name)
    if not os.path.lexists(path):
        try:
            files.create(path, data, exact=True)
            _learn(offer, entry, path, data, version)
            return "taken"
        except FileExistsError:
            pass  # another process made it just now
    ours = files.read_bytes(path)
    digest = names.sha256(ours)
    if version is None or not version.sha256:
        offer.known.count += 1
        first = manifests.next_clock({}, offer.machine.id, offer.known.count)
        version = known[entry.name] = Version(
            sha256=digest, bytes=len(ours), clock=first, mine=True
        )
    if digest == entry.sha256:
        _learn(offer, entry, path, data, version)
        return ""
    if manifests.covers(entry.clock, version.clock) and version.sha256 == digest:
        files.write(path, data)
        _learn(offer, entry, path, data, version)
        return "taken"
    merge = shares.merger(entry.name)
    if merge is not None:
        return _merged(offer, entry, path, ours, merge(ours, data), data, version)
    return _beside(offer, entry, path, data, version)


def _learn(offer: Offer, entry: Entry, path: str, data: bytes, version: Version | None) -> Version:
    """Record that `data` is now at `path` and includes everything that the entry knows."""
    state = os.stat(path)
    learned = version or Version(sha256="")
    digest = names.sha256(data)
    learned.mine = learned.mine and digest == learned.sha256
    learned.sha256, learned.bytes, learned.gone = digest, len(data), False
    learned.at = entry.at
    learned.stat = (state.st_size, state.st_mtime_ns, state.st_ino)
    offer.known.documents[entry.name] = learned
    _advance(offer, learned, entry.clock)
    return learned


def _merged(
    offer: Offer, entry: Entry, path: str, ours: bytes, merged: bytes, theirs: bytes,
    version: Version,
) -> str:  # fmt: skip
    if merged != ours:
        files.write(path, merged)
    learned = _learn(offer, entry, path, merged, version)
    if merged not in (ours, theirs):
        offer.known.count += 1
        learned.clock = manifests.next_clock(learned.clock, offer.machine.id, offer.known.count)
        learned.mine = True
    return "merged" if merged != ours else ""


def _beside(offer: Offer, entry: Entry, path: str, data: bytes, version: Version) -> str:
    """Keep their text beside ours, in place of older copies that nobody edited.

    A copy is recorded before it is written: after a kill in between, it is known as theirs.
    """
    for copy in list(version.beside):
        at = offer.layout.join(copy.path)
        if manifests.covers(entry.clock, copy.clock) and os.path.isfile(at):
            if names.sha256(files.read_bytes(at)) == copy.sha256:
                files.discard(at)
                version.beside.remove(copy)
    for at in files.numbered(f"{path}{shares.MARK}{offer.sender.id}"):
        there = os.path.lexists(at)
        if there and files.read_bytes(at) != data:
            continue
        shown = offer.layout.shown(at)
        version.beside = [copy for copy in version.beside if copy.path != shown]
        version.beside.append(
            Copy(path=shown, sha256=entry.sha256, machine=offer.sender.id, clock=entry.clock)
        )
        if there:
            break
        knowledge.save(offer.layout, offer.known)
        try:
            files.create(at, data, exact=True)
            break
        except FileExistsError:
            version.beside.pop()  # somebody took the name just now: the next one
    return f"beside {shown}"


def _take_own(offer: Offer, entry: Entry, data: bytes) -> None:
    """Take rows and events, but only those of the machine that sends them."""
    owner = entry.path.partition("/")[0].removesuffix(".json")
    if owner != offer.sender.id:
        raise ContextError(f"does not belong to the machine that sends it ({owner})")
    if entry.kind == shares.SUBAGENTS:
        did, count = "merged", shares.take_rows(offer.layout, offer.sender, data)
    else:
        did = HISTORY
        count = shares.take_events(offer.layout, entry.name, offer.sender, data)
    offer.known.documents[entry.name] = Version(
        sha256=entry.sha256, bytes=entry.bytes, at=entry.at, clock=entry.clock
    )
    if count:
        offer.report.add(did, shares.address(entry.name), entry.bytes, offer.sender.name)


def _end(offer: Offer, entry: Entry) -> None:
    """End here what ended there, with this machine's own grace period."""
    of, _, subject = entry.path.partition("/")
    layout = offer.layout
    address = shares.address(entry.name)
    if offer.report.dry_run:
        offer.report.add("ended", address, 0, offer.sender.name)
        return
    done = ""
    try:
        if of == "payload":
            ended = retention.end(layout, subject, offer.now)
            done = ended.line() if ended else ""
            for name in [n for n in offer.known.documents if shares.session_of(n) == subject]:
                del offer.known.documents[name]
        elif of == "memory":
            moved = upkeep.archive(layout, subject, [])
            done = f"{names.counted(len(moved), 'document')} archived" if moved else ""
    except ContextError as error:
        offer.report.add("not taken", address, 0, offer.sender.name, str(error))
    version = offer.known.documents.setdefault(entry.name, Version(sha256="", at=entry.at))
    version.clock = manifests.joined_clock(version.clock, entry.clock)
    version.gone = False
    if done:
        offer.report.add("ended", address, 0, offer.sender.name, done)


def _make_indexes(offer: Offer) -> None:
    """Rebuild, from its files, the manifest of each session that received something."""
    for session in offer.sessions:
        with retention.session_lock(offer.layout, session):
            offer.report.said += [
                line
                for line in payloads.repair(offer.layout, session, offer.now)
                if "listed now" not in line
            ]
    files.settle()
