"""Runs: a review from its start to its gate. Who was asked, about what, and where they write.

    .contextkit/runs/<id>.json         the run; one file each, never in git
    .contextkit/runs/<id>.listing      the files that it reviews, to tell which were edited since
    .contextkit/runs/<id>.notify       the command line that is run once; it stays on this machine
    .contextkit/runs/<id>.notice       what that command read, and <id>.notify.log its output
    <output_dir>/run.json              its roster, for people and programs that look there
    <output_dir>/prompts/<agent>.md    the prompt of an agent
    <output_dir>/<agent>.md            the file of an agent
    <verdicts>/runs/<id>/<agent>.json  the run's verdicts; those of the flat folder are current

A run is live from its start until it is finished or too old to be still running. A verdict in the
flat folder names its run in the key `run`. manuals/review-runs.md describes the format.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, formats, ledger, names, sessions, version
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.reviews.documents import verdicts

VERSION = 1
MODES = ("review", "research")
_PARTS = (".json", ".listing", ".notify", ".notice", ".notify.log")
_HEX = frozenset("0123456789abcdef")
# Fields that are empty at the start and set once.
_TIMES = ("finished_at", "ingested_at", "notified_at")
_HAPPENS = (*_TIMES, "ended", "missed")
ROSTER_FILE = "run.json"  # in the output folder


class Run(Record):
    """One review run. Paths are relative to the root; agents are in the order they were named.

    revision: what is reviewed, `tree:…` (the work tree's content) or `input:…` (a document).
    source: the document that is reviewed; empty for a diff or a question. input: the file that the
    agents read; timeout: seconds; blocks: severities that fail the gate. missed: agents that had
    not finished when the last wait timed out. ingested_at: when all agents' verdicts were written
    and no agent was awaited any more. ended: why it was ended before its gate.
    """

    id: str
    process: str
    mode: str
    output_dir: str
    roster: tuple[str, ...]
    started_at: str
    target: str = ""
    revision: str = ""
    head: str = ""
    branch: str = ""
    base: str = ""
    against: str = ""  # the name that led to the base
    source: str = ""
    input: str = ""
    input_sha256: str = ""  # of the input as it was made
    timeout: int = 300
    timeouts: dict[str, object] = {}  # noqa: RUF012  (alternatives, by name)
    blocks: tuple[str, ...] = ("P0", "P1")
    small: bool = False
    session_id: str = ""
    files: int = 0  # how many files are reviewed; 0 if that is not known
    asks: bool = False  # whether its contract asks for the proofs that a review is clean
    rechecks: str = ""  # the run whose open findings this one looks at again
    open: dict[str, object] = {}  # noqa: RUF012  (by agent, those findings as `P0-1: P0 title`)
    missed: tuple[str, ...] = ()
    finished_at: str = ""
    ingested_at: str = ""
    ended: str = ""
    notified_at: str = ""
    version: int = VERSION

    def check(self) -> None:
        _check_id(self.id)
        if self.mode not in MODES:
            raise bad_input(f"mode={self.mode}: must be one of {', '.join(MODES)}")
        for field in ("output_dir", "source", "input"):
            path = getattr(self, field)
            if os.path.isabs(path) or ".." in path.split("/"):
                raise bad_input(f"{field}: {path!r} must be a path inside the root")
        if names.shape(self.started_at) != "0000-00-00T00:00:00Z":
            example = "2025-10-23T18:05:00Z"
            raise bad_input(f"started_at: {self.started_at!r} is not a time such as {example}")

    def to_confirm(self, agent: str) -> tuple[str, ...]:
        """The open findings of an agent that it looks at again: `P0-1: P0 title`."""
        findings = self.open.get(agent)
        return tuple(map(str, findings)) if isinstance(findings, (list, tuple)) else ()


def _check_id(run: str) -> str:
    if not sessions.is_name(run):
        raise bad_input(f"run: {run[:80]!r} is not a run id")
    return run


def new_id(now: int, others: list[Run]) -> str:
    """An unused run id; ids sort by time, and within a second by creation order."""
    digits = int.from_bytes(os.urandom(3)) >> 1
    prefix = f"{names.stamp(now)}-"
    last = max((run.id[-6:] for run in others if run.id[:-6] == prefix), default="")
    if _HEX.issuperset(last) and last:
        digits = max(digits, int(last, 16) + 1)
    return f"{prefix}{digits:06x}"


def parse(text: str, where: str = "run") -> Run:
    """Parse the JSON of a run; unknown keys are ignored. Raises ContextError."""
    fields = formats.object_from_json(text, where)
    version.require(fields, "version", VERSION, where)
    made: Run = formats.build_known(Run, fields, where)
    return made


def render(run: Run) -> str:
    """Render a run as JSON."""
    return formats.to_json(run) + "\n"


def merge(ours: bytes, theirs: bytes) -> bytes | None:
    """Merge two states of one run: what was finished in either is, at its earliest time.

    Only our version says whether it was ended and whom it missed, since that decides a gate. None
    for text that is not a run (a listing), and for two runs under one id.
    """
    try:
        run, other = (parse(data.decode("utf-8")) for data in (ours, theirs))
    except (ContextError, UnicodeDecodeError):
        return None
    if run.replace(**{name: getattr(other, name) for name in _HAPPENS}) != other:
        return None
    times = {name: {getattr(run, name), getattr(other, name)} - {""} for name in _TIMES}
    merged = run.replace(**{name: min(those, default="") for name, those in times.items()})
    return ours if merged == run else render(merged).encode()


def path(layout: Layout, run: str, suffix: str = ".json") -> str:
    """The path of one of a run's files, by its suffix; see _PARTS. Raises ContextError."""
    return os.path.join(layout.store("run"), _check_id(run) + suffix)


def verdict_folder(layout: Layout, run: str) -> str:
    """The folder of a run's verdicts, inside the store of the flat ones."""
    return os.path.join(layout.verdicts, "runs", _check_id(run))


def output_path(layout: Layout, run: Run, agent: str) -> str:
    """The path that an agent of a run writes to."""
    return layout.join(run.output_dir, verdicts.encode(agent) + ".md")


def prompt_path(run: Run, agent: str) -> str:
    """The path of an agent's prompt, relative to the root."""
    return os.path.join(run.output_dir, "prompts", verdicts.encode(agent) + ".md")


def save(layout: Layout, run: Run) -> str:
    """Write a run, replacing the whole file; return its path."""
    files.store(layout.state)
    where = path(layout, run.id)
    is_new = not os.path.lexists(where)
    files.write(where, render(run))
    if is_new:
        source = addresses.of(layout, layout.join(run.source)) if run.source else ""
        ref, whose = f"run:{run.id}", run.session_id
        ledger.note(layout, ledger.STORED, ref, session=whose, sources=(source,))
    return where


def load(layout: Layout, run: str) -> Run:
    """The run with this id, prefix or address, or the `latest` to start. Raises ContextError.

    The latest is one that was not ended, if one is going on.
    """
    run = run.removeprefix("run:")
    if run != "latest" and os.path.lexists(where := path(layout, run)):
        return parse(files.read(where), layout.shown(where))
    loaded = load_all(layout)
    begun = [other for other in loaded.documents if other.id.startswith(run)]
    if run == "latest":
        begun = loaded.documents[-1:]
        if begun and begun[0].ended:
            live = [each for each in loaded.documents if is_live(layout, each, names.now())]
            if live:
                remark(f"run=latest is {live[-1].id}: {begun[0].id} was ended")
            begun = live[-1:] or begun
        if not begun:
            loaded.whole()
            raise ContextError("there is no review run here: make verdict_start comes first")
    if len(begun) == 1:
        return begun[0]
    if begun:
        some = ", ".join(other.id for other in begun[-3:])
        raise ContextError(f"run: {run!r} is the start of {len(begun)} runs: {some}")
    # ids look alike, so only typos get a suggestion
    close = names.nearest(run, [other.id for other in loaded.documents], 0.85)
    raise ContextError(f"run: there is no run {run!r}{close or ': make verdict_runs lists them'}")


def looks(layout: Layout, run: Run, whole: bool = True) -> list[Run]:
    """A run and those that it looks at again, the first one first; if not `whole`, those there are.

    Raises ContextError for one that looks at itself again.
    """
    chain = [run]
    while before := chain[0].rechecks:
        try:
            other = load(layout, before)
        except ContextError:
            if whole:
                raise
            break  # it was removed since
        if other.id in {each.id for each in chain}:
            where = layout.shown(path(layout, chain[0].id))
            raise ContextError(f"{where}: rechecks: {before!r} leads back to the run itself")
        chain.insert(0, other)
    return chain


def load_all(layout: Layout, since: str = "") -> Loaded[Run]:
    """Every run, oldest first, or only those that started at the stamp `since` or later."""
    folder = layout.store("run")

    def read(path: str) -> Run:
        run = parse(files.read(path), layout.shown(path))
        if run.id + ".json" != os.path.basename(path):
            raise ContextError(f"{path}: names another run, {run.id}")
        return run

    there = verdicts.listed(layout, folder)
    fitting = [n for n in there if n[0] != "." and n.endswith(".json") and n >= since]
    loaded = layout.load([os.path.join(folder, name) for name in fitting], read)
    loaded.sort(key=lambda pair: (pair[1].started_at, pair[1].id))
    return loaded


def call(layout: Layout, target: str, /, **variables: str) -> str:
    """A command to run here: `make verdict_wait run=…`, with `root=` if that was given."""
    from contextkit.base import git
    from contextkit.base.layout import find_root

    is_near = layout.root == find_root("", git.find(layout.here))
    return names.call(target, **variables, root="" if is_near else layout.root)


def change(layout: Layout, run: str, **values: object) -> Run:
    """Set fields of a run that other processes may be changing too; return the updated run."""
    with files.locked(layout.lock(path(layout, run))):
        changed = load(layout, run).replace(**values)
        save(layout, changed)
    return changed


def live(layout: Layout, now: int) -> list[Run]:
    """The runs that agents may still be writing for, newest first; skip broken files."""
    runs = load_all(layout, names.stamp(_oldest(layout, now))).documents
    return [run for run in reversed(runs) if is_live(layout, run, now)]


def is_live(layout: Layout, run: Run, now: int) -> bool:
    """Whether agents may still be writing: not finished, and started within the lifetime."""
    return not run.finished_at and names.iso(_oldest(layout, now)) <= run.started_at


def _oldest(layout: Layout, now: int) -> int:
    """The start before which an unfinished run counts as over."""
    return max(0, now - names.seconds(layout.limits.verdict_run_lifetime))


def state(layout: Layout, run: Run, now: int) -> str:
    """`open` while agents or the gate are pending, `done`, or `ended` before the gate."""
    if run.ended:
        return "ended"
    if run.finished_at or run.ingested_at:
        return "done"
    return "open" if is_live(layout, run, now) else "ended"


def revision_now(layout: Layout, run: Run) -> str:
    """The current revision of the reviewed content, '' if it is gone; a commit is no edit."""
    from contextkit.base import changes

    if run.revision.startswith("tree:"):
        with changes.work_tree(layout, (layout.join(run.output_dir),)) as tree:
            return tree.revision()
    document = layout.join(run.source or run.input)
    return changes.data_revision(files.read_bytes(document)) if os.path.isfile(document) else ""


def is_as_given(layout: Layout, run: Run) -> bool:
    """Whether the file that the agents read is there and, as far as known, unchanged."""
    where = layout.join(run.input)
    data = files.read_bytes(where) if os.path.isfile(where) else None
    return data is not None and run.input_sha256 in ("", names.sha256(data))


def edited(layout: Layout, run: Run) -> list[str]:
    """The files that changed since a run started; empty if that is unknown."""
    kept = path(layout, run.id, ".listing")
    if not run.base or not os.path.isfile(kept):
        return []
    from contextkit.base import changes

    with changes.work_tree(layout, (layout.join(run.output_dir),)) as tree:
        return changes.changed_paths(files.read_bytes(kept), tree.listing(run.base))


def remove(layout: Layout, run_id: str, now: int) -> list[str]:
    """Remove a run's verdicts and its record, also one that cannot be read; return their names.

    Raises ContextError if the run is open, or there is none.
    """
    try:
        run = load(layout, run_id)
    except ContextError:
        if not os.path.isdir(verdict_folder(layout, run_id)):
            raise
        return _removed(layout, run_id)
    if state(layout, run, now) == "open":
        raise ContextError(
            f"run {run.id} is going on: make verdict_wait and verdict_ingest finish it,"
            f" verdict_end run={run.id} ends it"
        )
    return _removed(layout, run.id)


def _removed(layout: Layout, run: str) -> list[str]:
    return [*verdicts.clean(layout, lambda entry: entry.get("run") != run), *_remove(layout, run)]


def clean(
    layout: Layout, everything: bool, age: int | None, now: int
) -> tuple[list[str], list[str]]:
    """Remove verdicts and runs older than `age` seconds, all, or this session's; keep open runs.

    Returns the names of all that was removed, and the ids of open runs. The agents' files stay.
    """
    session = sessions.find_current(layout)
    oldest = "" if age is None else names.iso(max(0, now - age))
    runs = load_all(layout).documents
    unfinished = {run.id for run in runs if state(layout, run, now) == "open"}

    def stays(when: str, whose: str) -> bool:
        if oldest:
            return when >= oldest
        return not everything and bool(session) and whose != session

    def keep(entry: verdicts.Entry) -> bool:
        when, whose = str(entry.get("timestamp", "")), str(entry.get("session_id", session))
        return entry.get("run") in unfinished or stays(when, whose)

    removed = verdicts.clean(layout, keep)
    for run in runs:
        if run.id not in unfinished and not stays(run.started_at, run.session_id or session):
            removed += _remove(layout, run.id)
    return removed, sorted(unfinished)


def _remove(layout: Layout, run: str) -> list[str]:
    store = verdict_folder(layout, run)
    removed = [f"{run}/{name}" for name in verdicts.clean(layout, store=store)]
    record = [path(layout, run, suffix) for suffix in _PARTS]
    for written in (os.path.join(store, ".gitignore"), *record):
        files.discard(written)
    try:
        os.rmdir(store)
    except OSError:
        pass  # not empty, or another process cleaned it
    ledger.note(layout, ledger.REMOVED, f"run:{run}")
    return [*removed, layout.shown(path(layout, run))]
