"""The memory of tasks as a whole: what there is, merged, archived, cleaned up."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.memory.documents import checkpoints, findings, plans, snapshots
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.merged import Merged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HELD = "moved to"


class Stored(Record):
    """A document of the store: `state` is its status, phase or reason; `path` is absolute."""

    kind: str
    path: str
    task: str
    time: str = ""
    state: str = ""


def listed(layout: Layout, task: str = "", broken: list[str] | None = None) -> list[Stored]:
    """Every document of the four folders, by kind and then oldest first; with `task` only its."""
    broken = [] if broken is None else broken
    found = []
    for path, plan in plans.load_all(layout, task).noting(broken):
        found.append(Stored(kind="plan", path=path, task=plan.task_id))
    for path, one in findings.load_all(layout, task).noting(broken):
        of = one.task_id or one.description
        found.append(_stored("finding", path, of, one.timestamp, one.status))
    for path, merged in merged_findings.load_all(layout, task).noting(broken):
        found.append(_stored("merged", path, merged.task_id, merged.timestamp, merged.status))
    for path, checkpoint in checkpoints.load_all(layout, task).noting(broken):
        found.append(
            _stored("checkpoint", path, checkpoint.task_id, checkpoint.timestamp, checkpoint.phase)
        )
    for path, snapshot in snapshots.load_all(layout, task).noting(broken):
        of = snapshot.task_id or snapshot.task
        found.append(_stored("snapshot", path, of, snapshot.timestamp, snapshot.reason))
    return found


def _stored(kind: str, path: str, task: str, time: str, state: str) -> Stored:
    return Stored(kind=kind, path=path, task=task, time=time, state=state)


def latest_task(layout: Layout) -> str:
    """The task that was written about last; raises ContextError where none is known.

    As recorded, while something of it is there; else that of the newest document.
    """
    recorded = memory.current_task(layout)
    there = listed(layout)
    if recorded and any(one.task == recorded for one in there):
        return recorded
    named = [one for one in there if one.task]
    if not named:
        raise ContextError("no task is known: give task=")
    return max(named, key=lambda one: one.time).task


# Merging


def merge(
    layout: Layout, task: str, now: int, broken: list[str]
) -> tuple[Merged, list[str], list[str]]:
    """All findings of a task as one; the paths that were merged; the merged files it supersedes.

    What an earlier merged file holds of findings that are gone (archived) is taken over from it.
    """
    found = findings.load_all(layout, memory.check_task(task)).noting(broken)
    earlier = merged_findings.load_all(layout, task).noting(broken)
    if not found and not earlier:
        raise ContextError(f"{task}: no findings to merge: save one with memory_finding")
    sources = {os.path.basename(path): one for path, one in found}
    kept: dict[str, Any] = {}
    more: list[Any] = []
    for _, merged in earlier:
        kept |= {part.file: part.finding for part in merged.parts if part.file not in sources}
        more += merged.more
    merged = merged_findings.merge(task, [*kept.items(), *sources.items()], names.iso(now), more)
    return merged, [path for path, _ in found], [path for path, _ in earlier]


def put_away(layout: Layout, task: str, paths: list[str]) -> list[str]:
    """Move documents into the archive of a task, into the same folders; where they are now."""
    moved = []
    for path in paths:
        kind = os.path.basename(os.path.dirname(path))
        place = files.inside(layout.root, layout.memory_archive(task, kind), "memory")
        try:
            moved.append(files.move(path, place))
            ledger.note(layout, ledger.ENDED, addresses.of(layout, path))
        except FileNotFoundError:
            continue  # another process was faster
    return moved


def archive(layout: Layout, task: str, broken: list[str]) -> list[str]:
    """Move all that belongs to a task into its archive; the new paths, if anything was left."""
    there = [one.path for one in listed(layout, memory.check_task(task), broken)]
    moved = put_away(layout, task, there)
    memory.forget(layout, task)
    return moved


# Cleaning


def clean(layout: Layout, now: int, dry_run: bool, broken: list[str]) -> list[tuple[str, str]]:
    """(path, what became of it) of each checkpoint that is stale.

    One that a newer one supersedes is removed. The last one of a task that is not archived moves
    to the archive: whoever resumes after a weekend finds it there.
    """
    oldest = names.iso(max(0, now - names.seconds(layout.limits.memory_checkpoint_age)))
    newest: dict[str, str] = {}
    saved = checkpoints.load_all(layout).noting(broken)
    for path, one in saved:
        newest[one.task_id] = path  # they come oldest first
    done = []
    for path, one in saved:
        if one.timestamp >= oldest:
            continue
        last = newest[one.task_id] == path
        kept = layout.shown(layout.memory_archive(one.task_id, memory.CHECKPOINTS))
        done.append((path, f"{_HELD} {kept}: the last of its task" if last else "removed"))
        if dry_run:
            continue
        if last:
            put_away(layout, one.task_id, [path])
        elif os.path.lexists(path):
            os.unlink(path)
            ledger.note(layout, ledger.REMOVED, addresses.of(layout, path))
    if not dry_run:
        for kind in memory.KINDS:
            if os.path.isdir(layout.memory_folder(kind)):
                files.sweep(layout.memory_folder(kind), now)
    return done
