"""Recovery: what is known about a task, from whatever is left of it on disk.

A file that is truncated, foreign, or dated in the future is skipped with a warning that names it.
`recovery_report.py` turns the result into what a fresh agent reads.
"""

from __future__ import annotations

import os

from contextkit.base import formats, names, references, sessions, stores
from contextkit.base.errors import ContextError, NewerFormat, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Sequence
from contextkit.capsules.documents import reminders
from contextkit.hosts.documents import contracts
from contextkit.memory.documents import checkpoints, findings, plans, snapshots
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.checkpoints import Checkpoint
from contextkit.memory.documents.findings import Finding, Found
from contextkit.memory.documents.merged import Merged
from contextkit.memory.documents.plans import Plan, folded
from contextkit.memory.documents.snapshots import Snapshot
from contextkit.memory.flows import agents
from contextkit.memory.flows.agents import Attendance
from contextkit.reviews.flows import blockers

_STATES = {"completed": "completed", "in_progress": "in progress", "pending": "pending"}
_NAMED = 2  # other snapshots to name, at most
_SKEW = 300  # seconds that the clock of another machine may be ahead


class State(Record):
    """The state of the task by the later of checkpoint and plan, and where the two differ."""

    completed: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    next_action: str = ""
    differences: tuple[str, ...] = ()


class Recovered(Record):
    """Everything known about a task; paths are relative to the root, `age` is in seconds."""

    task: str
    phase: str  # the current phase; the checkpoint may be from the previous one
    archived: bool
    checkpoint_path: str
    checkpoint: Checkpoint | None
    age: int
    stale: bool
    snapshot_path: str
    snapshot: Snapshot | None
    more_snapshots: tuple[str, ...]  # the paths of the newest ones besides
    plan_path: str
    state: State
    attendance: Attendance
    findings: tuple[Found, ...]
    unread: int  # how many findings are not in `findings`
    caught: object  # a `transcripts.CaughtUp`: what happened since then
    files: dict[str, str]  # the state of each that the task is about, fresh ones last
    blockers: tuple[str, ...]  # a line for each review that is open
    notes: tuple[str, ...]  # a line for each open note of all tasks, newest first
    warnings: tuple[str, ...]
    others: tuple[str, ...]
    candidates: tuple[str, ...] = ()  # the tasks that it may be, if there are several: none is read

    @property
    def whole(self) -> bool:
        """Whether there is a state to resume from; a plan or findings alone do not count."""
        return bool(self.checkpoint or self.snapshot)

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """(kind, path) of the source documents, the one to resume from first."""
        documents = (
            ("checkpoint", self.checkpoint_path),
            ("snapshot", self.snapshot_path),
            ("plan", self.plan_path),
            *(
                ("merged" if finding.merged else "finding", finding.path)
                for finding in self.findings
            ),
        )
        return tuple((kind, path) for kind, path in documents if path)

    @property
    def empty(self) -> bool:
        return not (self.whole or self.plan_path or self.findings)


def load(
    layout: Layout,
    task: str,
    now: int,
    most: int | None = None,
    transcript: str = "",
    starts: bool = True,
) -> Recovered:
    """Load what is stored about `task`, by default that of the session. Never raises.

    A session that `starts` may continue the task of another one; if there are several, they are
    only named, as `candidates`. Of the findings not yet merged, at most the `most` newest and as
    many older ones that did not complete. `transcript` is that of a session that ended without
    saving.
    """
    warnings: list[str] = []
    stored = _Memory(layout, warnings, starts)
    several = [task] if task else stored.open_tasks(now)
    task = several[0] if len(several) == 1 else ""
    archived = bool(task) and not stored.knows(task)
    path, checkpoint, snapshot_path, snapshot, more = stored.saves(task, archived, now)
    saved = [document for document in (checkpoint, snapshot) if document]
    age = max(0, now - names.moment(checkpoint.timestamp)) if checkpoint else 0
    plan_path, plan, plan_saved = stored.plan(task, archived)
    place = layout.memory_archive(task, memory.FINDINGS) if archived else ""
    merged = merged_findings.load_all(layout, task, place).noting(warnings) if task else []
    heads = findings.heads(layout, task, place).noting(warnings).documents if task else []
    read, unread = _findings(layout, merged, heads, most)
    noted = reminders.load_all(layout).noting(warnings).documents
    files = (*(checkpoint.files if checkpoint else ()), *(snapshot.digests if snapshot else ()))
    sealed = {file.path: file for file in files}  # as a newer snapshot has them
    states = {path: references.state(layout.root, file) for path, file in sealed.items()}
    return Recovered(
        task=task,
        phase=memory.current_phase(layout, task),
        archived=archived,
        checkpoint_path=path,
        checkpoint=checkpoint,
        age=age,
        stale=age > names.seconds(layout.limits.memory_checkpoint_age),
        snapshot_path=snapshot_path,
        snapshot=snapshot,
        more_snapshots=tuple(more),
        plan_path=plan_path,
        state=_state(checkpoint, plan, plan_saved),
        attendance=Attendance() if archived else _attendance(layout, task, saved, merged, heads),
        findings=tuple(read),
        unread=unread,
        caught=_caught(layout, transcript, max((s.said for s in saved), default="")),
        files=dict(sorted(states.items(), key=lambda pair: pair[1] == references.FRESH)),
        blockers=blockers.lines(layout),
        notes=tuple(map(reminders.line, reminders.newest_open(noted))),
        warnings=tuple(dict.fromkeys(warnings)),
        others=tuple(name for name in stored.tasks if name != task),
        candidates=tuple(several) if len(several) > 1 else (),
    )


def _attendance(
    layout: Layout,
    task: str,
    saved: list[Any],
    merged: list[tuple[str, Merged]],
    heads: list[Found],
) -> Attendance:
    """The attendance of a task's agents, by its saves and findings."""
    if not task:
        return Attendance()
    listed = [a for s in saved for a in (s.agents if isinstance(s, Snapshot) else s.active_agents)]
    back = [part.finding for _, document in merged for part in document.parts]
    after = saved[0].timestamp if saved else ""
    return agents.attendance(layout, task, listed, after, [*back, *heads])


def _caught(layout: Layout, transcript: str, since: str) -> object:
    if not transcript:
        return None
    from contextkit.memory.flows import transcripts

    caught = transcripts.catch_up(transcript, since, layout.root, layout.limits)
    return caught if caught.text else None


def _state(checkpoint: Checkpoint | None, plan: Plan | None, plan_saved: str) -> State:
    """Reconcile checkpoint and plan: the later one wins, and differences are spelled out.

    A later plan whose next action the checkpoint had replaced already is not later in that.
    """
    saved = checkpoint.timestamp if checkpoint else ""
    planned = plan.next_actions[0] if plan and plan.next_actions else ""
    stated = checkpoint.next_action.strip() if checkpoint else ""
    sides = [
        ("the checkpoint", {s: getattr(checkpoint, f"{s}_subtasks", ()) for s in _STATES}),
        ("the plan", {s: getattr(plan, s, ()) for s in _STATES}),
    ]
    is_later = bool(plan) and plan_saved > saved
    (prior, earlier), (other, later) = sides if is_later else reversed(sides)
    where = {folded(text): (text, state) for state, texts in earlier.items() for text in texts}
    before, differences = dict(where), []
    for text, state in ((text, state) for state, texts in later.items() for text in texts):
        _, old = before.get(folded(text), ("", state))
        if old != state and "completed" in (old, state):
            newest = f"{names.one_line(text)[:120]}: {_STATES[state]} in {other}, which is later"
            differences.append(f"{newest}; {_STATES[old]} in {prior}")
        if (old, state) != ("in_progress", "pending"):
            where[folded(text)] = (text, state)
    by_state = {s: tuple(t for t, state in where.values() if state == s) for s in _STATES}
    stated = "" if folded(stated) in map(folded, by_state["completed"]) else stated
    is_newer = is_later and not (checkpoint and checkpoint.instead_of == planned)
    says_two = stated and planned and stated.split() != planned.split()
    if is_newer and says_two:
        newest = f"Next action: the plan is later ({plan_saved})"
        differences.append(f"{newest}; the checkpoint says “{names.one_line(stated)[:200]}”")
    action = planned or stated if is_newer else stated or planned
    return State(**by_state, next_action=action, differences=tuple(differences))


class _Memory:
    """The documents of all tasks, read once; for an archived task, those in the archive."""

    def __init__(self, layout: Layout, warnings: list[str], starts: bool) -> None:
        self._layout, self._warnings, self._starts = layout, warnings, starts
        self._checkpoints = checkpoints.load_all(layout).noting(warnings)
        self._snapshots = snapshots.load_all(layout).noting(warnings)
        self._plans = _plans_in(layout.memory_folder(memory.PLANS))
        saves: list[tuple[str, Any]] = [*self._checkpoints, *self._snapshots]
        self._saves = [pair for pair in saves if pair[1].task_id]
        self.tasks = sorted({*self._plans, *(save.task_id for _, save in self._saves)})

    def knows(self, task: str) -> bool:
        """Whether anything of a task is stored outside the archive, or its phase."""
        is_known = task in self.tasks or bool(findings.heads(self._layout, task))
        is_known = is_known or bool(merged_findings.load_all(self._layout, task))
        return is_known or bool(memory.current_phase(self._layout, task))

    def open_tasks(self, now: int) -> list[str]:
        """The tasks that the session may mean; else the newest of all, if it may be any."""
        tasks = [task for task in memory.candidates(self._layout, self._starts) if self.knows(task)]
        if tasks or not (self._starts or not memory.task_owners(self._layout)):
            return tasks
        if self._saves:
            return [_newest(self._layout, self._saves, now, [])[1].task_id]
        if self._plans:
            return [max(self._plans, key=lambda task: (_mtime(self._plans[task]), task))]
        tagged = [f.task_id for f in findings.load_all(self._layout).documents if f.task_id]
        return tagged[-1:]

    def saves(
        self, task: str, archived: bool, now: int
    ) -> tuple[str, Checkpoint | None, str, Snapshot | None, list[str]]:
        """The newest checkpoint of a task, the newest snapshot since its summary, and others.

        A snapshot with somebody's words comes before one made from the store. Without a task, they
        are those of the session; a new session goes on from one that is over. The last checkpoint
        may be in the archive.
        """
        layout, warnings = self._layout, self._warnings
        saved = [pair for pair in self._checkpoints if pair[1].task_id == task]
        if task and not saved:
            place = layout.memory_archive(task, memory.CHECKPOINTS)
            saved = checkpoints.load_all(layout, task, place).noting(warnings)
        taken = [pair for pair in self._snapshots if pair[1].task_id == task]
        taken = [pair for pair in taken if task or self._may_go_on_from(pair[1])]
        if archived:
            place = layout.memory_archive(task, memory.SNAPSHOTS)
            taken = [*snapshots.load_all(layout, task, place).noting(warnings)]
        path, checkpoint = _newest(layout, saved, now, warnings)
        said_at = checkpoint.said if checkpoint else ""
        since = [pair for pair in taken if pair[1].timestamp >= said_at]
        told = [pair for pair in since if pair[1].said]
        snapshot_path, snapshot = _newest(layout, told or since, now, warnings)
        shown = [layout.shown(at) for at, _ in reversed(taken)]
        more = [at for at in shown if at != snapshot_path][:_NAMED]
        return path, checkpoint, snapshot_path, snapshot, more

    def _may_go_on_from(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot without a task is of this session, or of one that it may continue."""
        if snapshot.session in ("", sessions.key(sessions.find_current(self._layout))):
            return True
        noted = stores.names_in(self._layout.running)
        at_work = [sessions.key(name) for name in noted if sessions.lives(self._layout, name)]
        return self._starts and snapshot.session not in at_work

    def plan(self, task: str, archived: bool) -> tuple[str, Plan | None, str]:
        """The path of a task's plan, the plan itself if readable, and when it was saved."""
        away = self._layout.memory_archive(task, memory.PLANS)
        path = (_plans_in(away) if archived else self._plans).get(task, "")
        try:
            plan = plans.load(path) if path else None
            saved = names.iso(_mtime(path) // 10**9) if path else ""
            return path and self._layout.shown(path), plan, saved
        except NewerFormat as error:
            self._warnings.append(str(self._layout.broken(path, str(error))))
            return "", None, ""
        except ContextError:
            return self._layout.shown(path), None, ""


def _plans_in(folder: str) -> dict[str, str]:
    """The path of each plan in a folder, by its task."""
    return {os.path.basename(path)[:-3]: path for path in memory.paths(folder, ".md")}


def _newest(
    layout: Layout, pairs: Sequence[tuple[str, Any]], now: int, warnings: list[str]
) -> tuple[str, Any]:
    """The newest document, by timestamp, the time in its name, then mtime; ('', None) if none.

    Those from the future count only if there are no others, or a wrong clock would always win.
    """
    latest = names.iso(now + _SKEW)
    future = [(path, save) for path, save in pairs if save.timestamp > latest]
    for path, save in future:
        warnings.append(f"{layout.shown(path)}: is dated {save.timestamp}, which is in the future")
    usable = [pair for pair in pairs if pair not in future] or future
    if not usable:
        return "", None

    def order(pair: tuple[str, Any]) -> tuple[str, str, int, int, str]:
        name = os.path.basename(pair[0])
        _, when, number = memory.split_name(name)
        return pair[1].timestamp, when, _mtime(pair[0]), number, name

    path, save = max(usable, key=order)
    return layout.shown(path), save


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0  # it was archived just now


def _findings(
    layout: Layout, merged: list[tuple[str, Merged]], heads: list[Found], most: int | None
) -> tuple[list[Found], int]:
    """The task's findings, merged files (unless in newer ones) first; how many there are more."""
    merges: list[Found] = []
    within: set[str] = set()
    for path, document in reversed(merged):
        sources = set(document.sources())
        if not sources or not sources <= within:
            parts = tuple(Found.of(part.file, part.finding) for part in document.parts)
            all_in = Finding(agent="all", summary=f"{len(parts)} findings")
            about = (layout.shown(path), memory.MERGED, document.timestamp, document.status)
            merges.append(Found(*about, finding=all_in, parts=parts))
            within |= sources
    left = [finding for finding in heads if os.path.basename(finding.path) not in within]
    kept = left
    if most is not None and len(left) > most:
        bad = [finding for finding in left[most:] if finding.status != "completed"]
        kept = [*left[:most], *bad[:most]]
    return [*merges, *kept], len(left) - len(kept)


_LAST_DAYS = 14  # day folders to search for a session, at most
_MOST_RECENT = 40  # transcripts whose folder is looked up


def left_behind(layout: Layout, typed: str = "") -> str:
    """The transcript that was `typed`, else that of the last session here, if a host keeps one.

    Raises ContextError for a typed file that no host wrote.
    """
    if typed:
        from contextkit.memory.flows import transcripts

        path = os.path.join(layout.here, os.path.expanduser(typed))
        if not transcripts.read(path).form:
            raise bad_input(f"transcript: {typed}: is not a transcript of a known host")
        return path
    own = next(iter(sessions.of_hosts()), "")
    return newest(layout.root, without=own) if layout.limits.memory_transcripts else ""


def newest(root: str, without: str = "") -> str:
    """The transcript of the last session (not `without`) of any host that worked in `root`."""
    kept = (place for host in contracts.every() for place in transcript_folders(host, root))
    paths = (os.path.join(place, name) for place in kept for name in stores.names_in(place))
    recent = sorted((_mtime(path), path) for path in paths if path.endswith(".jsonl"))
    for _, path in reversed(recent[-_MOST_RECENT:]):
        if not without or without not in os.path.basename(path):
            folder = _folder_of(path)
            if folder and os.path.realpath(folder) == os.path.realpath(root):
                return path
    return ""


def transcript_folders(host: contracts.Host, root: str) -> list[str]:
    """The folders where a host keeps a project's transcripts: by path, or the last few days'."""
    if not host.transcripts or not os.path.isdir(host.folder()):
        return []
    kept = os.path.join(host.folder(), host.transcripts)
    if kept.endswith("{days}"):
        days = [os.path.dirname(kept)]
        for _ in range(3):  # year, month, day
            days = [os.path.join(at, name) for at in days for name in stores.names_in(at)
                    if name.isdigit()]  # fmt: skip
            days = sorted(days)[-_LAST_DAYS:]
        return days
    # a path in the form of a host's folder name
    dashed = ("".join(c if c.isalnum() and c.isascii() else "-" for c in path)
              for path in (root, os.path.realpath(root)))  # fmt: skip
    return [kept.replace("{project}", name) for name in dict.fromkeys(dashed)]


def _folder_of(path: str) -> str:
    """The working directory of a transcript's session, from its first lines; '' of a subagent's."""
    lines = formats.beginning(path, 1 << 18).split(b"\n")[:50]
    for line in map(formats.object_in, lines):
        fields = formats.inside(line, "payload") or line
        if line.get("isSidechain") or isinstance(fields.get("source"), dict):
            return ""  # a subagent's transcript
        folder = fields.get("cwd")
        if isinstance(folder, str) and folder:
            return folder
    return ""
