"""What travels between machines, by kind: which files, where they go, how two versions merge.

`base/stores` declares which files of a store travel. Two versions of a document are merged by
`merge(ours, theirs)` of the store's module, if it has one. Two kinds have a single writer each and
no file of their own: a machine's subagent rows, and pieces of its ledger. What an agent wrote for a
review run travels under the run's id.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial

from contextkit.base import addresses, files, formats, ledger, names, redaction, sessions, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Callable, Iterator
from contextkit.capsules.documents import reminders
from contextkit.machines.documents import manifests
from contextkit.machines.documents.knowledge import Machine, Notes, Version
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import upkeep
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention
from contextkit.reviews.documents import runs
from contextkit.subagents.documents import registry

SUBAGENTS, LEDGER, OUTPUT = "subagent", "ledger", "output"
OWN = (SUBAGENTS, LEDGER)  # kinds that only the machine they belong to can write
# What agents wrote, what was made of it, and what they were given to read.
_OUTPUTS = re.compile(
    r"[A-Za-z0-9_%][A-Za-z0-9._%@:+-]*\.(md|json)|input/[A-Za-z0-9_%][A-Za-z0-9._%@:+-]*"
)
_OUTPUT_PLACES = ("docs/research/", ".clavain/")  # folder for output of another machine's runs
_FROM = b',"machine":'
_LINE = 4_000  # bytes of an event
_PIECE = 1 << 16  # bytes of a piece of the ledger


_STORES = {store.kind: store for store in stores.STORES if store.travels}
KINDS = (*_STORES, *OWN, OUTPUT)  # all that can travel
# Those that travel unless others are named: what is not in git, and the inbox.
_USUAL = {kind for kind in KINDS
          if kind not in _STORES or _STORES[kind].is_file or not _STORES[kind].in_git}  # fmt: skip


def local(layout: Layout) -> Iterator[tuple[str, str]]:
    """(name, path) of every file here that can travel, in no particular order."""
    for kind, store in _STORES.items():
        place = layout.store(kind)
        if store.is_file and os.path.isfile(place) and not os.path.islink(place):
            yield f"{kind}/{os.path.basename(store.place)}", place
        for relative in () if store.is_file else _below(place):
            if any(_matches(relative, pattern) for pattern in store.travels):
                yield f"{kind}/{relative}", os.path.join(place, relative)
    for run in runs.load_all(layout).documents:  # what agents wrote, and what was made of it
        folder = layout.join(run.output_dir)
        roster = formats.object_in(files.text_of(os.path.join(folder, runs.ROSTER_FILE)).encode())
        if run.id in (roster.get("run"), roster.get("id")):  # not a later run's of this target
            for name in filter(_OUTPUTS.fullmatch, _below(folder)):
                yield f"{OUTPUT}/{run.id}/{name}", os.path.join(folder, name)


def _below(place: str) -> Iterator[str]:
    """The regular files below a folder, without links, hidden files, and copies kept."""
    for entry in addresses.walked(place, ""):
        relative = os.path.relpath(entry.path, place)
        if stores.MARK not in relative:
            yield relative


def _matches(relative: str, pattern: str) -> bool:
    parts, wanted = relative.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def own(layout: Layout, machine: Machine) -> Iterator[tuple[str, bytes]]:
    """(name, text) of what only this machine writes: its subagents, and its ledger by month.

    The ledger comes in pieces that no longer change once full.
    """
    rows = [row for row in registry.load_all(layout).documents if not row.get("machine")]
    if rows:
        marked = [{**row, "machine": machine.id} for row in rows]
        yield f"{SUBAGENTS}/{machine.id}.json", (registry.render(marked) + "\n").encode()
    for path in ledger.months(layout):
        month = os.path.basename(path).removesuffix(".jsonl")
        data = files.read_bytes(path)
        whole = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
        pieces = [b""]
        for line in (line for line in whole if b'"machine":' not in line):
            if len(pieces[-1]) >= _PIECE:
                pieces.append(b"")
            pieces[-1] += line
        for number, piece in enumerate(filter(None, pieces)):
            yield f"{LEDGER}/{machine.id}/{month}-{number}.jsonl", piece


def address(name: str) -> str:
    """A name as people read it: `payload:s-42/20261122-043007-auth`."""
    kind, _, path = name.partition("/")
    if kind == manifests.ENDED:
        of, _, subject = path.partition("/")
        return f"{'session' if of == 'payload' else 'task'}:{subject}"
    if kind == LEDGER:
        return f"{LEDGER}:{path.rpartition('/')[2].removesuffix('.jsonl')}"
    store = _STORES.get(kind)
    return f"{kind}:{path.removesuffix(store.suffix) if store else path}"


def session_of(name: str) -> str:
    """The session of a payload; empty for anything else."""
    kind, path = name.partition("/")[::2]
    return path.partition("/")[0] if kind == "payload" else ""


def place(layout: Layout, name: str) -> str:
    """The path here for another machine's document. Raises ContextError for one of no store."""
    kind, relative = manifests.check_name(name, "what came in").partition("/")[::2]
    if kind == OUTPUT:
        run, _, rest = relative.partition("/")
        if not sessions.is_name(run) or not _OUTPUTS.fullmatch(rest):
            raise ContextError(f"output/{names.brief(relative)}: is not output of a run")
        folder = os.path.normpath(runs.load(layout, run).output_dir)
        if not f"{folder}/".startswith(_OUTPUT_PLACES):
            raise ContextError(f"{folder}: output of another machine only goes where reviews write")
        return _below_store(layout, layout.join(folder), rest, OUTPUT)
    store = _STORES.get(kind)
    if store is None or stores.MARK in relative or relative.endswith(".tmp"):
        raise ContextError(f"{names.brief(name)}: documents of this kind do not travel")
    if store.is_file:
        if relative != os.path.basename(store.place):
            raise ContextError(f"{names.brief(name)}: is not the name of the {kind} file")
        return files.inside(layout.root, layout.store(kind), kind)
    if not any(_matches(relative, pattern) for pattern in store.travels):
        raise ContextError(f"{names.brief(name)}: is not a {kind} name")
    if kind == "payload":
        sessions.check(relative.partition("/")[0])
    return _below_store(layout, layout.store(kind), relative, kind)


def _below_store(layout: Layout, store: str, relative: str, kind: str) -> str:
    """A path in a store, in which no link is followed from now on."""
    files.inside(layout.root, store, kind)
    files.keep(layout.root, store)
    return files.proved(os.path.join(store, relative))


def prepare(layout: Layout, name: str) -> None:
    """Create the store that a document goes to, with the git settings it needs."""
    kind = name.partition("/")[0]
    if kind == "payload":
        payloads.prepare_store(layout)
    elif kind == OUTPUT:
        folder = place(layout, name).removesuffix(name.split("/", 2)[2]).rstrip("/")
        if not os.path.isdir(folder):
            files.store(folder)
    elif kind == "reminder":
        reminders.keep_mergeable(layout, os.path.realpath(layout.reminders))


def discard_unedited(path: str, digest: str) -> bool:
    """Remove a copy that still has the text of this digest; return whether it is gone."""
    if os.path.isfile(path) and names.sha256(files.read_bytes(path)) == digest:
        files.discard(path)
    return not os.path.lexists(path)


def lock(layout: Layout, name: str, path: str) -> AbstractContextManager[None]:
    """The lock under which a document of this name is changed here."""
    kind = name.partition("/")[0]
    if kind == "payload":
        return retention.session_lock(layout, session_of(name))
    store = _STORES.get(kind)
    if kind == "run" or (store and store.is_file):
        return files.locked(layout.lock(path))
    return nullcontext()


def origins(layout: Layout, notes: Notes) -> Iterator[tuple[str, str, str, str]]:
    """The entries for `addresses.save_origins`: each document that another machine wrote.

    The paths are those of `place`, whose checks are slow. A text beside ours has no address.
    """
    for name, version in sorted(notes.documents.items()):
        for copy in version.beside:
            yield notes.names.get(copy.machine, copy.machine), copy.sha256, copy.path, ""
        kind, relative = name.partition("/")[::2]
        is_ours = version.source in ("", notes.machine) or kind in OWN
        if version.gone or is_ours or not version.sha256:
            continue
        store = _STORES.get(kind)
        path = layout.store(kind) if store else place(layout, name)
        path = path if not store or store.is_file else os.path.join(path, relative)
        machine = notes.names.get(version.source, version.source)
        yield machine, version.sha256, layout.shown(path), address(name)


def merger(name: str) -> Callable[[bytes, bytes], bytes | None] | None:
    """The function that merges two versions of this document, if there is one.

    It keeps our entries, adds nothing if ours includes theirs, and returns None for two texts that
    are not versions of one document.
    """
    store = _STORES.get(name.partition("/")[0])
    return stores.module(store).merge if store and store.merges else None


def check(name: str, data: bytes) -> None:
    """Raise ContextError for a text that is not a valid document of its kind."""
    (kind, path), where = name.partition("/")[::2], address(name)
    if kind == "payload":
        payloads.parse(data, where)
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ContextError(f"{where}: is not UTF-8") from None
    if kind == "run" and path.endswith(".json"):
        run = runs.parse(text, where)
        if f"{run.id}.json" != path:
            raise ContextError(f"{where}: says it is the run {run.id}")
    elif kind in ("handoff", "plan", "checkpoint", "snapshot"):
        stores.module(stores.BY_KIND[kind]).parse(text)


def redacted(name: str, data: bytes, allowed: tuple[str, ...]) -> bytes:
    """A document without its secrets, with any stated length made consistent again."""
    if name.partition("/")[0] == "payload":
        payload = payloads.parse(data, address(name))
        changes = redaction.cleaned(vars(payload), allowed)
        return payloads.as_bytes(payloads.render(payload.replace(**changes)))
    return redaction.redacted(data.decode("utf-8"), allowed)[0].encode()


def take_rows(layout: Layout, machine: Machine, data: bytes) -> int:
    """Replace the rows of another `machine` in the registry; return how many changed."""
    received = registry.parse(data.decode("utf-8", "replace"), f"subagents of {machine.name}")
    theirs = {
        row["id"]: {**row, "machine": machine.id}
        for row in received
        if isinstance(row, dict) and isinstance(row.get("id"), str) and names.safe(row["id"])
    }

    def edit(rows: list[Any]) -> int:
        before = registry.render(rows)
        own = {at for at, row in enumerate(rows)
               if isinstance(row, dict) and row.get("machine") == machine.id}  # fmt: skip
        taken = {r.get("id") for at, r in enumerate(rows) if isinstance(r, dict) and at not in own}
        for identity in taken & theirs.keys():
            row = theirs.pop(identity)
            theirs[f"{identity}@{machine.id}"] = {**row, "id": f"{identity}@{machine.id}"}
        for at in sorted(own):
            rows[at] = theirs.pop(str(rows[at].get("id")), rows[at])
        rows += theirs.values()
        return int(registry.render(rows) != before)

    return registry.change(layout, edit)


def take_events(layout: Layout, name: str, machine: Machine, data: bytes) -> int:
    """Add another machine's events to the ledger, each once and with the machine's name."""
    month = os.path.basename(name)[:7]
    if names.shape(month) != "0000-00":
        raise ContextError(f"{names.brief(name)}: names no month")
    path = os.path.join(layout.ledger, month + ".jsonl")
    with files.locked(layout.lock(path)):
        old = files.read_bytes(path) if os.path.isfile(path) else b""
        end = b'"machine_id":"%s"}' % machine.id.encode()
        there = {line.rpartition(_FROM)[0] for line in old.splitlines() if line.endswith(end)}
        new = []
        for event in (formats.object_in(line) for line in data.splitlines() if len(line) <= _LINE):
            event |= {"machine": machine.name, "machine_id": machine.id} if event else {}
            shown = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            line = manifests.clean(shown).encode()
            if event and line.rpartition(_FROM)[0] not in there:
                new.append(line + b"\n")
        if new:
            ledger.append(path, new)
    return len(new)


# Which documents are here, which of them are meant, and what is said of them.


HISTORY = "history"  # a piece of the ledger moved
_QUIET = ("withdrawn", HISTORY)  # counted in the totals only
_MEMORY = ("plan", "finding", "checkpoint", "snapshot", "archived")
_WORDS = {"all": KINDS, "memory": _MEMORY, "review": ("run", "verdict", OUTPUT)}

Texts = dict[str, Callable[[], bytes]]  # how to read each document that is here, by name


def look(layout: Layout, machine: Machine, notes: Notes, now: int, messages: list[str]) -> Texts:
    """Bring `notes` up to date; what cannot travel is appended to `messages`.

    A file whose size, time and inode are unchanged is not read again.
    """
    texts: Texts = {}
    for name, path in local(layout):
        try:
            manifests.check_name(name, address(name))
            state, version = os.stat(path), notes.documents.get(name)
            stat = (state.st_size, state.st_mtime_ns, state.st_ino)
            if state.st_size > manifests.MOST_BYTES:
                messages.append(f"{address(name)}: larger than {manifests.MOST_BYTES} bytes")
                continue
            if version is None or version.gone or tuple(version.stat) != stat:
                note(notes, name, files.read_bytes(path), stat, now)
            texts[name] = partial(files.read_bytes, path)
        except FileNotFoundError:
            continue  # removed just now
        except ContextError as error:
            messages.append(f"not shared: {error}")
    for name, data in own(layout, machine):
        note(notes, name, data, (), now)
        texts[name] = partial(bytes, data)
    for name, version in notes.documents.items():
        kind, path = name.partition("/")[::2]
        is_shared = kind in OWN and not path.startswith(machine.id)  # part of a file here
        if name not in texts and kind != manifests.ENDED and not is_shared:
            version.gone = True  # not a new version: it is just no longer offered
    _note_ended(layout, notes, now)
    for version in notes.documents.values():
        note_settled(layout, version)
    return texts


def note(notes: Notes, name: str, data: bytes, stat: tuple[int, ...], now: int) -> Version:
    """Note the text of a document here; unless it was sent to us, it is this machine's own."""
    version, digest = notes.documents.setdefault(name, Version(sha256="")), names.sha256(data)
    if version.sha256 != digest:
        version.sha256, version.bytes, version.at = digest, len(data), names.iso(now)
        if digest != version.coming:
            notes.changed(version)
    version.stat, version.gone = stat, False
    return version


def _note_ended(layout: Layout, notes: Notes, now: int) -> None:
    """Note sessions and tasks of this machine that ended or came back."""
    there, tasks = set(payloads.sessions_in(layout)), set(memory.archived(layout))
    own = (name for name, version in notes.documents.items() if notes.machine in version.counts)
    had = {session_of(name) for name in own} - {""}
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
            discard_unedited(path, copy.sha256)
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
        meant = set(self.kinds) or _USUAL
        if of not in meant and not (of == "memory" and meant & set(_MEMORY)):
            return False
        first, _, rest = path.removeprefix(f"{of}/").partition("/")
        put_away = rest.partition("/")[0] if first == "runs" else about
        subjects = {
            "payload": (first, "", ""), **dict.fromkeys(_MEMORY, ("", about, "")),
            "memory": ("", first, ""), "archived": ("", first, ""),
            "run": ("", "", path.rpartition(".")[0]), "verdict": ("", "", put_away),
            OUTPUT: ("", "", first),
        }  # fmt: skip
        own = subjects.get(of, ("", "", ""))
        wanted = (self.session, self.task, self.run)
        return all(name in ("", subject) for name, subject in zip(wanted, own, strict=True))


def choice(what: tuple[str, ...], session: str, task: str, run: str) -> Choice:
    """Parse the selection that was typed. Raises ContextError for a kind that does not travel."""
    words = {**{kind: (kind,) for kind in KINDS}, **_WORDS}
    for word in (word for word in what if word not in words):
        near, choices = names.nearest(word, KINDS), ", ".join([*_WORDS, *KINDS])
        raise bad_input(f"what: {word[:40]!r} does not travel{near}; choose from {choices}")
    if session:
        sessions.check(session)
    meant = tuple(dict.fromkeys(kind for word in what for kind in words[word]))
    return Choice(kinds=meant, session=session, task=task, run=run.removeprefix("run:"))


def about(layout: Layout, chosen: list[str], texts: Texts) -> dict[str, str]:
    """The task or run of those documents that name one."""
    verdicts = [n for n in chosen if n.startswith("verdict/") and n.count("/") == 1]
    subjects = {n: str(formats.object_in(texts[n]()).get("run") or "") for n in verdicts}
    if any(name.partition("/")[0] in _MEMORY for name in chosen):
        subjects |= tasks(layout)
    return {name: task for name, task in subjects.items() if task}


def tasks(layout: Layout) -> dict[str, str]:
    """The task of each document of memory here."""
    return {
        f"{document['kind'].replace('merged', 'finding')}/{os.path.basename(document['path'])}":
            document["task"]
        for document in upkeep.listed(layout)
    }  # fmt: skip


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
        counts = Counter(row.did for row in sorted(self.rows, key=lambda row: row.did == HISTORY))
        if not counts:
            return f"nothing new was {self.verb}" if not self.dry_run else "nothing is new"
        listed = ", ".join(f"{count} {did}" for did, count in counts.items())
        size = sum(row.bytes for row in self.rows if row.did != "refused")
        tail = f", {self.sent} on the wire" if self.sent else ""
        return f"{listed}: {size} bytes{tail}"

    @property
    def text(self) -> str:
        lines = [*(row.line for row in self.rows if row.did not in _QUIET), self.total]
        return "\n".join([f"(dry run) {line}" for line in lines] if self.dry_run else lines)
