"""Recovery: what is known about a task, from whatever is left of it on disk.

Finds the newest complete checkpoint, a newer snapshot, the plan, the findings, and the files in
play. A file that is truncated, foreign, or dated in the future is skipped with a warning that names
it. `recovery_report.py` turns the result into what a fresh agent reads.
"""

from __future__ import annotations

import os

from contextkit.base import names, references, sessions, stores
from contextkit.base.errors import ContextError, NewerFormat
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Sequence
from contextkit.hosts.documents import contracts
from contextkit.memory.documents import checkpoints, findings, plans, snapshots
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.checkpoints import Checkpoint
from contextkit.memory.documents.findings import Finding, Head
from contextkit.memory.documents.merged import Merged
from contextkit.memory.documents.plans import Plan, folded
from contextkit.memory.documents.snapshots import Snapshot
from contextkit.memory.flows import agents
from contextkit.memory.flows.agents import Attendance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.memory.flows.transcripts import CaughtUp

_STATES = {"completed": "completed", "in_progress": "in progress", "pending": "pending"}
_SKEW = 300  # seconds that the clock of another machine may be ahead


class RecoveredFinding:
    """A finding of the task: its path relative to the root, and its contents.

    A merged file has `parts`: one finding per source, its path being the source's name.
    """

    merged = False

    def __init__(self, path: str, head: Head | Finding) -> None:
        self.path = path
        self.agent = head.agent
        self.timestamp = head.timestamp
        self.status = head.status
        self._head = head

    @property
    def summary(self) -> str:
        return self._head.summary

    @property
    def finding(self) -> Finding:
        """The whole finding, read on demand."""
        return self._head if isinstance(self._head, Finding) else self._head.finding

    def public(self) -> dict[str, object]:
        """The fields for JSON output."""
        return {"path": self.path, "agent": self.agent, "timestamp": self.timestamp,
                "status": self.status, "summary": self.summary, "merged": self.merged}  # fmt: skip


class RecoveredMerge(RecoveredFinding):
    """A merged file of findings."""

    merged = True

    def __init__(self, path: str, merged: Merged) -> None:
        count = f"{len(merged.parts)} findings"
        super().__init__(path, Finding(agent="all", status=merged.status, summary=count))
        self.agent = memory.MERGED
        self.timestamp = merged.timestamp
        self.parts = tuple(RecoveredFinding(part.file, part.finding) for part in merged.parts)
        self.more = merged.more


class InPlay(Record):
    """A file that the task is about: fresh, changed or missing since it was saved."""

    path: str
    state: str


class State(Record):
    """Where the task stands, by the later of checkpoint and plan, and where the two differ."""

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
    plan_path: str
    plan_saved: str
    state: State
    attendance: Attendance
    findings: tuple[RecoveredFinding, ...]
    unread: int  # how many findings are not in `findings`
    caught: object  # a `transcripts.CaughtUp`: what happened since then
    files: tuple[InPlay, ...]
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
        found = (
            ("checkpoint", self.checkpoint_path),
            ("snapshot", self.snapshot_path),
            ("plan", self.plan_path),
            *(("merged" if one.merged else "finding", one.path) for one in self.findings),
        )
        return tuple((kind, path) for kind, path in found if path)

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
    """Load what is stored about `task`, by default that of the session.

    A session that `starts` may continue the task of another one; if there are several, they are
    only named, as `candidates`.

    Of the findings not yet merged, at most the `most` newest and as many older ones that did not
    complete. `transcript` is that of a session that ended without saving. Never raises for anything
    in the store; the result is `empty` if nothing is stored.
    """
    warnings: list[str] = []
    live = _Live(layout, warnings)
    several: list[str] = []
    if not task:
        several = [t for t in memory.candidates(layout, "", starts) if _is_there(layout, live, t)]
        task = several[0] if len(several) == 1 else ""
    if not (task or several) and (starts or not memory.task_owners(layout)):
        task = _latest_task(layout, live, now)
    archived = bool(task) and not live.has(task) and not memory.current_phase(layout, task)
    saved, taken = _saves(layout, live, task, archived, warnings)
    path, checkpoint = _newest(layout, saved, now, warnings)
    snapshot_path, snapshot = _newest(layout, taken, now, warnings)
    if checkpoint and snapshot and snapshot.timestamp < checkpoint.timestamp:
        snapshot_path, snapshot = "", None
    age = max(0, now - names.moment(checkpoint.timestamp)) if checkpoint else 0
    plan_path, plan, plan_saved = _plan(layout, task, archived, warnings)
    merged: list[tuple[str, Merged]] = []
    heads: list[Head] = []
    if task:
        place = layout.memory_archive(task, memory.FINDINGS) if archived else ""
        merged = merged_findings.load_all(layout, task, place).noting(warnings)
        heads = findings.heads(layout, task, place).noting(warnings).documents
    found, unread = _findings(layout, merged, heads, most)
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
        plan_path=plan_path,
        plan_saved=plan_saved,
        state=_state(checkpoint, plan, plan_saved),
        attendance=_attendance(layout, task, archived, checkpoint, snapshot, merged, heads),
        findings=tuple(found),
        unread=unread,
        caught=_caught(layout, transcript, checkpoint, snapshot),
        files=_in_play(layout, checkpoint, snapshot),
        warnings=tuple(dict.fromkeys(warnings)),
        others=tuple(name for name in live.tasks if name != task),
        candidates=tuple(several) if len(several) > 1 else (),
    )


def _attendance(
    layout: Layout,
    task: str,
    archived: bool,
    checkpoint: Checkpoint | None,
    snapshot: Snapshot | None,
    merged: list[tuple[str, Merged]],
    heads: list[Head],
) -> Attendance:
    if not task or archived:
        return Attendance()
    listed = (*(checkpoint.active_agents if checkpoint else ()),
              *(snapshot.agents if snapshot else ()))  # fmt: skip
    after = checkpoint.timestamp if checkpoint else snapshot.timestamp if snapshot else ""
    back = [part.finding for _, one in merged for part in one.parts]
    return agents.attendance(layout, task, listed, after, [*back, *heads])


def left_behind(layout: Layout) -> str:
    """The transcript of the last session here, if a host keeps one, or ''."""
    kept = (host.folder() for host in contracts.every() if host.transcripts)
    if not layout.limits.memory_transcripts or not any(map(os.path.isdir, kept)):
        return ""
    from contextkit.memory.flows import transcripts

    own = next(iter(sessions.of_hosts()), "")
    return transcripts.newest(layout.root, without=own)


def _caught(
    layout: Layout, transcript: str, checkpoint: Checkpoint | None, snapshot: Snapshot | None
) -> CaughtUp | None:
    if not transcript:
        return None
    from contextkit.memory.flows import transcripts

    since = max(one.timestamp if one else "" for one in (checkpoint, snapshot))
    limits = layout.limits
    found = transcripts.catch_up(
        transcript, since, root=layout.root, allowed=limits.secrets_allow,
        tokenizer=limits.tokenizer,
    )  # fmt: skip
    return None if found.empty else found


def _state(checkpoint: Checkpoint | None, plan: Plan | None, plan_saved: str) -> State:
    """Reconcile checkpoint and plan: the later one wins, and differences are spelled out."""
    in_plan = {name: getattr(plan, name) if plan else () for name in _STATES}
    in_checkpoint = {
        "completed": checkpoint.completed_subtasks if checkpoint else (),
        "in_progress": (),
        "pending": checkpoint.pending_subtasks if checkpoint else (),
    }
    planned = plan.next_actions[0] if plan and plan.next_actions else ""
    saved_action = checkpoint.next_action.strip() if checkpoint else ""
    saved = checkpoint.timestamp if checkpoint else ""
    later_plan = bool(plan) and plan_saved > saved
    sides = [
        ("the plan", plan_saved, in_plan, planned),
        ("the checkpoint", saved, in_checkpoint, saved_action),
    ]
    later, earlier = sides if later_plan else reversed(sides)
    before = {folded(text): (text, state) for state, texts in earlier[2].items() for text in texts}
    where = dict(before)
    differences = []
    for state, texts in later[2].items():
        for text in texts:
            _, old = before.get(folded(text), ("", state))
            if old != state and "completed" in (old, state):
                differences.append(
                    f"{names.one_line(text)[:120]}: {_STATES[state]} in {later[0]}, which is later;"
                    f" {_STATES[old]} in {earlier[0]}"
                )
            if (old, state) != ("in_progress", "pending"):
                where[folded(text)] = (text, state)
    if later_plan and saved_action and planned and saved_action.split() != planned.split():
        differences.append(
            f"Next action: the plan is later ({plan_saved}); the checkpoint says"
            f" “{names.one_line(saved_action)[:200]}”"
        )
    found = {s: tuple(t for t, state in where.values() if state == s) for s in _STATES}
    return State(**found, next_action=later[3] or earlier[3], differences=tuple(differences))


class _Live:
    """The part of the store that is not archived, read once for all tasks."""

    def __init__(self, layout: Layout, warnings: list[str]) -> None:
        self.checkpoints = checkpoints.load_all(layout).noting(warnings)
        self.snapshots = snapshots.load_all(layout).noting(warnings)
        self._layout = layout
        there = memory.paths(layout.memory_folder(memory.PLANS), ".md")
        self.plans = {os.path.basename(path)[:-3]: path for path in there}
        self.saves: list[tuple[str, Any]] = [*self.checkpoints, *self.snapshots]
        self.tasks = sorted({*self.plans, *(one.task_id for _, one in self.saves if one.task_id)})

    def has(self, task: str) -> bool:
        """Whether anything of a task is stored."""
        return task in self.tasks or bool(
            findings.heads(self._layout, task) or merged_findings.load_all(self._layout, task)
        )


def _saves(
    layout: Layout, live: _Live, task: str, archived: bool, warnings: list[str]
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The checkpoints and snapshots of a task; for no task, the snapshots without one."""
    saved, taken = _of(task, live.checkpoints), _of(task, live.snapshots)
    if not task:  # those of a conversation about no task belong to their session
        own = sessions.key(sessions.find_current(layout))
        taken = [pair for pair in taken if pair[1].session in ("", own)]
    if task and not saved:  # the last checkpoint of an open task, moved here by cleaning
        place = layout.memory_archive(task, memory.CHECKPOINTS)
        saved = checkpoints.load_all(layout, task, place).noting(warnings)
    if archived:
        place = layout.memory_archive(task, memory.SNAPSHOTS)
        taken = snapshots.load_all(layout, task, place).noting(warnings)
    return saved, taken


def _of(task: str, pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(path, one) for path, one in pairs if one.task_id == task]


def _is_there(layout: Layout, live: _Live, task: str) -> bool:
    return live.has(task) or bool(memory.current_phase(layout, task))


def _latest_task(layout: Layout, live: _Live, now: int) -> str:
    """The task of the newest save, else of a plan or finding."""
    saves = [pair for pair in live.saves if pair[1].task_id]
    if saves:
        return str(_newest(layout, saves, now, [])[1].task_id)
    if live.plans:
        return max(live.plans, key=lambda task: (_mtime(live.plans[task]), task))
    tagged = [one.task_id for _, one in findings.load_all(layout) if one.task_id]
    return tagged[-1] if tagged else ""


def _newest(
    layout: Layout, pairs: Sequence[tuple[str, Any]], now: int, warnings: list[str]
) -> tuple[str, Any]:
    """The newest document, by its timestamp, the time in its name, then mtime; ('', None) if none.

    Documents from the future are used only if there are no others, or a wrong clock would always
    win.
    """
    latest = names.iso(now + _SKEW)
    future = [(path, one) for path, one in pairs if one.timestamp > latest]
    for path, one in future:
        warnings.append(f"{layout.shown(path)}: is dated {one.timestamp}, which is in the future")
    usable = [pair for pair in pairs if pair not in future] or future
    if not usable:
        return "", None
    path, one = max(usable, key=_order)
    return layout.shown(path), one


def _order(pair: tuple[str, Any]) -> tuple[str, str, int, int, str]:
    path, one = pair
    name = os.path.basename(path)
    _, when, number = memory.split_name(name)
    return one.timestamp, when, _mtime(path), number, name


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0  # it was archived just now


def _plan(
    layout: Layout, task: str, archived: bool, warnings: list[str]
) -> tuple[str, Plan | None, str]:
    """The path of the task's plan, the plan itself if readable, and when it was saved."""
    place = layout.memory_archive(task, memory.PLANS) if archived else ""
    for path in memory.paths(place or layout.memory_folder(memory.PLANS), ".md"):
        if os.path.basename(path) == task + ".md":
            try:
                return layout.shown(path), plans.load(path), plans.saved_at(layout, path)
            except NewerFormat as error:
                warnings.append(str(stores.broken(layout, path, str(error))))
            except ContextError:
                return layout.shown(path), None, ""
    return "", None, ""


def _findings(
    layout: Layout, merged: list[tuple[str, Merged]], heads: list[Head], most: int | None
) -> tuple[list[RecoveredFinding], int]:
    """Return the task's findings, merged files first, then the unmerged ones, newest first.

    Also returns how many more findings there are.
    """
    whole = _not_superseded(merged)
    within = {part.file for _, one in whole for part in one.parts}
    found: list[RecoveredFinding] = [RecoveredMerge(layout.shown(path), one) for path, one in whole]
    left = heads
    if within:
        left = [one for one in heads if one.path.rpartition("/")[2] not in within]
    kept = left
    if most is not None and len(left) > most:
        bad = [one for one in left[most:] if one.status != "completed"]
        kept = [*left[:most], *bad[:most]]
    found += [RecoveredFinding(layout.shown(one.path), one) for one in kept]
    return found, len(left) - len(kept)


def _not_superseded(merged: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The merged files, newest first, except those whose sources are all in newer ones."""
    kept: list[tuple[str, Any]] = []
    within: set[str] = set()
    for path, one in reversed(merged):
        sources = {part.file for part in one.parts}
        if not sources or not sources <= within:
            kept.append((path, one))
            within |= sources
    return kept


def _in_play(
    layout: Layout, checkpoint: Checkpoint | None, snapshot: Snapshot | None
) -> tuple[InPlay, ...]:
    """Each file with its state, fresh ones last; a newer snapshot's digests take precedence."""
    sealed = {one.path: one for one in (checkpoint.files if checkpoint else ())}
    sealed |= {one.path: one for one in (snapshot.digests if snapshot else ())}
    found = [
        InPlay(path=path, state=references.state(layout.root, one)) for path, one in sealed.items()
    ]
    return tuple(sorted(found, key=lambda file: file.state == references.FRESH))
