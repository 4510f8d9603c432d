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
from contextlib import AbstractContextManager, nullcontext

from contextkit.base import addresses, files, formats, ledger, names, redaction, sessions, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Callable, Iterator
from contextkit.capsules.documents import reminders
from contextkit.machines.documents import manifests
from contextkit.machines.documents.knowledge import Machine, Notes
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


def kinds() -> tuple[str, ...]:
    """Every kind that can travel."""
    return (*(store.kind for store in stores.STORES if store.travels), *OWN, OUTPUT)


def by_default() -> tuple[str, ...]:
    """The kinds that travel unless others are named: those not in git, and the inbox."""
    in_git = [s.kind for s in stores.STORES if s.in_git and not s.is_file]
    return tuple(kind for kind in kinds() if kind not in in_git)


def _store(kind: str) -> stores.Store | None:
    return next((s for s in stores.STORES if s.kind == kind and s.travels), None)


def local(layout: Layout) -> Iterator[tuple[str, str]]:
    """(name, path) of every file here that can travel, in no particular order."""
    for store in stores.STORES:
        if not store.travels:
            continue
        place = layout.store(store.kind)
        if store.is_file:
            if os.path.isfile(place) and not os.path.islink(place):
                yield f"{store.kind}/{os.path.basename(store.place)}", place
            continue
        for relative in _below(place):
            if any(_matches(relative, pattern) for pattern in store.travels):
                yield f"{store.kind}/{relative}", os.path.join(place, relative)
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
    """(name, text) of what only this machine writes: its subagents, its ledger pieces."""
    try:
        rows = [row for row in registry.rows(layout) if not row.get("machine")]
    except ContextError:
        rows = []
    if rows:
        marked = [{**row, "machine": machine.id} for row in rows]
        yield f"{SUBAGENTS}/{machine.id}.json", (registry.render(marked) + "\n").encode()
    yield from _ledger(layout, machine)


def _ledger(layout: Layout, machine: Machine) -> Iterator[tuple[str, bytes]]:
    """This machine's own ledger lines by month, in pieces that no longer change once full."""
    for path in ledger.months(layout):
        month = os.path.basename(path).removesuffix(".jsonl")
        data = files.read_bytes(path)
        whole = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
        lines = [line for line in whole if b'"machine":' not in line]
        piece, size, number = [], 0, 0
        for line in [*lines, b""]:
            piece.append(line)
            size += len(line)
            if size and (size >= _PIECE or not line):
                name = f"{LEDGER}/{machine.id}/{month}-{number}.jsonl"
                yield name, b"".join(piece)
                piece, size, number = [], 0, number + 1


def address(name: str) -> str:
    """A name as people read it: `payload:s-42/20261122-043007-auth`."""
    kind, _, path = name.partition("/")
    if kind == manifests.ENDED:
        of, _, subject = path.partition("/")
        return f"{'session' if of == 'payload' else 'task'}:{subject}"
    if kind == LEDGER:
        return f"{LEDGER}:{path.rpartition('/')[2].removesuffix('.jsonl')}"
    store = _store(kind)
    return f"{kind}:{path.removesuffix(store.suffix) if store else path}"


def session_of(name: str) -> str:
    """The session of a payload; empty for anything else."""
    kind, path = name.partition("/")[::2]
    return path.partition("/")[0] if kind == "payload" else ""


def place(layout: Layout, name: str) -> str:
    """The path here for another machine's document. Raises ContextError for one of no store."""
    kind, relative = manifests.check_name(name, "what came in").partition("/")[::2]
    if kind == OUTPUT:
        return _output_place(layout, relative)
    store = _store(kind)
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


def _output_place(layout: Layout, relative: str) -> str:
    run, _, name = relative.partition("/")
    if not sessions.is_name(run) or not _OUTPUTS.fullmatch(name):
        raise ContextError(f"output/{names.brief(relative)}: is not output of a run")
    folder = os.path.normpath(runs.load(layout, run).output_dir)
    if not f"{folder}/".startswith(_OUTPUT_PLACES):
        raise ContextError(f"{folder}: output of another machine only goes where reviews write")
    return _below_store(layout, layout.join(folder), name, OUTPUT)


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
    store = _store(kind)
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
        store = _store(kind)
        path = layout.store(kind) if store else place(layout, name)
        path = path if not store or store.is_file else os.path.join(path, relative)
        machine = notes.names.get(version.source, version.source)
        yield machine, version.sha256, layout.shown(path), address(name)


def merger(name: str) -> Callable[[bytes, bytes], bytes | None] | None:
    """The function that merges two versions of this document, if there is one.

    It keeps our entries, adds nothing if ours includes theirs, and returns None for two texts that
    are not versions of one document.
    """
    store = _store(name.partition("/")[0])
    return stores.module(store).merge if store and store.merges else None


def check(name: str, data: bytes) -> None:
    """Raise ContextError for a text that is not a valid document of its kind."""
    kind, path = name.partition("/")[::2]
    if kind == "payload":
        payloads.parse(data, address(name))
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ContextError(f"{address(name)}: is not UTF-8") from None
    if kind == "run" and path.endswith(".json"):
        run = runs.parse(text, address(name))
        if f"{run.id}.json" != path:
            raise ContextError(f"{address(name)}: says it is the run {run.id}")
    elif kind in ("handoff", "plan", "checkpoint", "snapshot"):
        store = _store(kind)
        assert store is not None
        stores.module(store).parse(text)


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
        taken = {r.get("id") for r in rows if isinstance(r, dict) and not _is_of(r, machine)}
        for identity in taken & theirs.keys():
            row = theirs.pop(identity)
            theirs[f"{identity}@{machine.id}"] = {**row, "id": f"{identity}@{machine.id}"}
        for at, row in enumerate(rows):
            if isinstance(row, dict) and _is_of(row, machine):
                rows[at] = theirs.pop(str(row.get("id")), row)
        rows += theirs.values()
        return int(registry.render(rows) != before)

    return registry.change(layout, edit)


def _is_of(row: dict[str, Any], machine: Machine) -> bool:
    return row.get("machine") == machine.id


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
        new = [line for line in _events(data, machine) if line.rpartition(_FROM)[0] not in there]
        if new:
            ledger.append(path, (line + b"\n" for line in new))
    return len(new)


def _events(data: bytes, machine: Machine) -> Iterator[bytes]:
    """The events in a ledger piece, each with its machine appended."""
    for line in data.splitlines():
        event = formats.object_in(line) if len(line) <= _LINE else {}
        if event:
            event |= {"machine": machine.name, "machine_id": machine.id}
            shown = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            yield manifests.clean(shown).encode()
