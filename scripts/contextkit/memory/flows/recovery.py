"""Recovery: what is known about a task, from whatever is left of it on disk.

The newest whole checkpoint, a newer snapshot, the plan, the findings, the files in play. A file
that is cut off, foreign or dated in the future is passed over with a warning that names it.
`recovery_reports.py` makes what a fresh agent reads of it.
"""

from __future__ import annotations

import os

from contextkit.base import names, references
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.memory.documents import checkpoints, findings, snapshots
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.checkpoints import Checkpoint
from contextkit.memory.documents.snapshots import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_SKEW = 300  # seconds by which the clock of another machine may be ahead


class Told(Record):
    """A finding of the task: where it is, relative to the root, and what a line about it says."""

    path: str
    agent: str
    timestamp: str
    status: str
    summary: str
    merged: bool = False


class InPlay(Record):
    """A file that the task is about: fresh, changed or missing since it was saved."""

    path: str
    state: str


class Recovered(Record):
    """All that is known about a task; paths are relative to the root, `age` is in seconds."""

    task: str
    phase: str = ""  # in which it is by now; the checkpoint may be of the one before
    archived: bool = False
    checkpoint_path: str = ""
    checkpoint: Checkpoint | None = None
    age: int = 0
    stale: bool = False
    snapshot_path: str = ""
    snapshot: Snapshot | None = None
    plan_path: str = ""
    findings: tuple[Told, ...] = ()
    files: tuple[InPlay, ...] = ()
    warnings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether there is a state to resume from: a plan or findings alone are none."""
        return bool(self.checkpoint or self.snapshot)

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents that it was made of, what one resumes from first."""
        named = (self.checkpoint_path, self.snapshot_path, self.plan_path)
        return tuple(path for path in (*named, *(one.path for one in self.findings)) if path)

    @property
    def empty(self) -> bool:
        return not (self.whole or self.plan_path or self.findings)


def load(layout: Layout, task: str, now: int) -> Recovered:
    """What is stored about `task`, by default the one that was written about last.

    Never raises for what is in the store; `empty` where nothing is.
    """
    warnings: list[str] = []
    live = _Live(layout, warnings)
    task = task or _latest_task(layout, live, now)
    archived = bool(task) and not live.has(task) and not memory.current_phase(layout, task)
    saved, taken = _saves(layout, live, task, archived, warnings)
    path, checkpoint = _newest(layout, saved, now, warnings)
    snapshot_path, snapshot = _newest(layout, taken, now, warnings)
    if checkpoint and snapshot and snapshot.timestamp < checkpoint.timestamp:
        snapshot_path, snapshot = "", None
    age = max(0, now - names.moment(checkpoint.timestamp)) if checkpoint else 0
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
        plan_path=_plan(layout, task, archived),
        findings=tuple(_told(layout, task, archived, warnings)) if task else (),
        files=_in_play(layout, checkpoint, snapshot),
        warnings=tuple(dict.fromkeys(warnings)),
        others=tuple(name for name in live.tasks if name != task),
    )


class _Live:
    """What of the store is not archived: read once, of all tasks."""

    def __init__(self, layout: Layout, warnings: list[str]) -> None:
        self.checkpoints = checkpoints.load_all(layout).noting(warnings)
        self.snapshots = snapshots.load_all(layout).noting(warnings)
        self._layout = layout
        plans = memory.paths(layout.memory_folder(memory.PLANS), ".md")
        self.plans = {os.path.basename(path)[:-3]: path for path in plans}
        self.saves: list[tuple[str, Any]] = [*self.checkpoints, *self.snapshots]
        self.tasks = sorted({*self.plans, *(one.task_id for _, one in self.saves if one.task_id)})

    def has(self, task: str) -> bool:
        """Whether anything of a task is there."""
        return task in self.tasks or bool(
            findings.load_all(self._layout, task) or merged_findings.load_all(self._layout, task)
        )


def _saves(
    layout: Layout, live: _Live, task: str, archived: bool, warnings: list[str]
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The checkpoints and the snapshots of a task; of no task, snapshots that name none."""
    saved, taken = _of(task, live.checkpoints), _of(task, live.snapshots)
    if task and not saved:  # of an open task, the last one that was cleaned away
        place = layout.memory_archive(task, memory.CHECKPOINTS)
        saved = checkpoints.load_all(layout, task, place).noting(warnings)
    if archived:
        place = layout.memory_archive(task, memory.SNAPSHOTS)
        taken = snapshots.load_all(layout, task, place).noting(warnings)
    return saved, taken


def _of(task: str, pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(path, one) for path, one in pairs if one.task_id == task]


def _latest_task(layout: Layout, live: _Live, now: int) -> str:
    """The task that was recorded as the current one; else the newest save's; else a plan's."""
    current = memory.current_task(layout)
    if current and (live.has(current) or memory.current_phase(layout, current)):
        return current
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
    """The newest by its own time, then the time in its name, then the file's; ("", None) for none.

    One from the future comes after all others, or a wrong clock would win for ever.
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
    _, when, number = memory.parted(name)
    return one.timestamp, when, _mtime(path), number, name


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0  # archived just now


def _plan(layout: Layout, task: str, archived: bool) -> str:
    """The path of the task's plan; empty for none."""
    place = layout.memory_archive(task, memory.PLANS) if archived else ""
    for path in memory.paths(place or layout.memory_folder(memory.PLANS), ".md"):
        if os.path.basename(path) == task + ".md":
            return layout.shown(path)
    return ""


def _told(layout: Layout, task: str, archived: bool, warnings: list[str]) -> list[Told]:
    """The task's findings: merged ones first, then those that are in none, newest first."""
    place = layout.memory_archive(task, memory.FINDINGS) if archived else ""
    merged = _not_superseded(merged_findings.load_all(layout, task, place).noting(warnings))
    within = {part.file for _, one in merged for part in one.parts}
    told = [
        Told(path=layout.shown(path), agent=memory.MERGED, timestamp=one.timestamp,
             status=one.status, summary=f"{len(one.parts)} findings", merged=True)
        for path, one in merged
    ]  # fmt: skip
    for path, one in reversed(findings.load_all(layout, task, place).noting(warnings)):
        if os.path.basename(path) not in within:
            told.append(Told(path=layout.shown(path), agent=one.agent, timestamp=one.timestamp,
                             status=one.status, summary=one.summary))  # fmt: skip
    return told


def _not_superseded(merged: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The merged files, newest first, but for those whose sources newer ones hold."""
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
    """Each file with its state, fresh ones last; the digest of a newer snapshot counts."""
    sealed = {one.path: one for one in (checkpoint.files if checkpoint else ())}
    sealed |= {one.path: one for one in (snapshot.digests if snapshot else ())}
    found = [
        InPlay(path=path, state=references.state(layout.root, one)) for path, one in sealed.items()
    ]
    return tuple(sorted(found, key=lambda file: file.state == references.FRESH))
