"""Upkeep of the memory of tasks: list, merge, archive, clean and check it."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, names, shelf, stores, tokens
from contextkit.base.errors import UPGRADE, ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterator
from contextkit.memory.documents import checkpoints, findings, plans
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.merged import Merged
from contextkit.text import facts

_LEFT = "left where it is: "


def listed(layout: Layout, task: str = "", left: str | None = None) -> list[dict[str, str]]:
    """The documents by kind, oldest first; `state` is their status, phase or reason.

    Unless `left` is None, the user is told about each unreadable one, with these words in front.
    """
    own = (store for store in stores.STORES if store.label == "memory")
    kinds: dict[str, memory.Kept[Any]] = {store.kind: stores.module(store).KEPT for store in own}
    there = {kind: kept.load_all(layout, task) for kind, kept in kinds.items()}
    if left is not None:
        remark(*(f"{left}{broken}" for loaded in there.values() for broken in loaded.broken))
    return [
        {"kind": kind, "task": kinds[kind].of(document),
         "time": getattr(document, "timestamp", ""), "state": kinds[kind].state(document),
         "path": path}
        for kind, loaded in there.items()
        for path, document in loaded
    ]  # fmt: skip


def finished_task(layout: Layout) -> str:
    """The one task that is done. Raises ContextError if there is not exactly one.

    A finished task has something completed and nothing open in its plan, and is not current.
    """
    current = memory.current_task(layout)
    tasks = known_tasks(layout)
    if not tasks:
        raise ContextError("no task is known: give task=")
    every = plans.load_all(layout).documents
    tried = [plan for plan in every if plan.completed and plan.task_id != current]
    closed = [plan for plan in tried if not (plan.in_progress or plan.pending)]
    done = [plan.task_id for plan in closed if all(q.answered for q in plan.questions)]
    if len(done) == 1:
        return done[0]
    going = f"{current} is going on; " if current in tasks else ""
    raise bad_input(f"give task=: {going}known tasks: {', '.join(tasks)}")


def known_tasks(layout: Layout) -> list[str]:
    """The ids of all tasks with anything in the four folders."""
    return sorted({document["task"] for document in listed(layout)} - {""})


def moving(layout: Layout, task: str) -> files.locked:
    """Lock under which a task's documents are merged, archived or restored, but not saved."""
    return files.locked(layout.lock(layout.memory_state(memory.check_task(task) + ".moving")))


def merge(layout: Layout, task: str, now: int) -> tuple[Merged, list[str], list[str]]:
    """Merge a task's findings; also return the source paths, and the merged files it supersedes.

    Archived findings are taken over from earlier merged files. To be called holding `moving`.
    """
    loaded = findings.load_all(layout, memory.check_task(task))
    earlier = merged_findings.load_all(layout, task)
    broken = list(map(str, (*loaded.broken, *earlier.broken)))
    if not loaded and not earlier:
        none = f"{task}: no findings to merge: save one with memory_finding"
        raise ContextError("; ".join([*broken, none]))
    remark(*(f"left out: {line}" for line in broken))
    parts = merged_findings.sources(loaded, earlier.documents).items()
    more = [extra for document in earlier.documents for extra in document.more]
    merged = merged_findings.merge(task, parts, names.iso(now), more)
    whole = "\n".join(text for _, document in parts for text in document.texts())
    kept = facts.share(whole, merged_findings.render(merged))
    sources, superseded = ([path for path, _ in pairs] for pairs in (loaded, earlier))
    return merged.replace(facts_kept=kept), sources, superseded


def put_away(layout: Layout, task: str, paths: list[str]) -> list[str]:
    """Move documents to a task's archive, holding `moving`; return their new paths."""
    moved = []
    for path in paths:
        kind = os.path.basename(os.path.dirname(path))
        place = files.inside(layout.root, layout.memory_archive(task, kind), "memory")
        went = _moved(layout, path, place, kind)
        if went:
            ledger.note(layout, ledger.ENDED, addresses.of(layout, path))
        moved += went
    return moved


def _moved(layout: Layout, path: str, place: str, kind: str) -> list[str]:
    """Move a document; its new path, or [] if another process moved it first."""
    if kind in (memory.PLANS, memory.SNAPSHOTS):  # these may be written again under the same name
        with files.locked(layout.lock(path)):
            target = shelf.move(path, place, in_front=kind == memory.PLANS)  # the plan that counts
    else:
        target = shelf.move(path, place)
    return [target] if target else []


def archive(layout: Layout, task: str) -> list[str]:
    """Move everything of a task into its archive; return the new paths, if any."""
    with moving(layout, task):
        there = listed(layout, task, _LEFT)
        moved = put_away(layout, task, [document["path"] for document in there])
        memory.forget(layout, task)
    return moved


def unarchive(layout: Layout, task: str) -> tuple[list[str], list[str]]:
    """Restore a task's archive and make it current; return the paths, and those that clash."""
    moved, left = list[str](), list[str]()
    with moving(layout, task):
        for kind in memory.KINDS:
            place = layout.memory_archive(task, kind).rstrip("/")
            there = memory.paths(place, memory.suffix(kind))
            for path in there:
                back = os.path.join(memory.folder(layout, kind), os.path.basename(path))
                if os.path.lexists(back) and not shelf.is_same(path, back):
                    left.append(f"{layout.shown(path)}: there is another {os.path.basename(path)}")
                else:
                    moved += _moved(layout, path, os.path.dirname(back), kind)
        if moved:
            memory.record(layout, task)
    return moved, left


def clean(layout: Layout, now: int, dry_run: bool) -> list[tuple[str, str]]:
    """(path, what became of it) for each stale checkpoint; an open task's last is archived."""
    oldest = names.iso(max(0, now - names.seconds(layout.limits.memory_checkpoint_age)))
    saved = checkpoints.load_all(layout)
    remark(*(f"{_LEFT}{broken}" for broken in saved.broken))
    newest = {checkpoint.task_id: path for path, checkpoint in saved}  # they come oldest first
    done = []
    for path, checkpoint in saved:
        if checkpoint.timestamp >= oldest:
            continue
        last = newest[checkpoint.task_id] == path
        kept = layout.shown(layout.memory_archive(checkpoint.task_id, memory.CHECKPOINTS))
        done.append((path, f"moved to {kept}: the last of its task" if last else "removed"))
        if dry_run:
            continue
        if last:
            with moving(layout, checkpoint.task_id):
                put_away(layout, checkpoint.task_id, [path])
        else:
            shelf.remove(layout, path)
    return done


ERROR, WARNING = "error", "warning"


class Lint(Record):
    """A problem in a line of a file (relative to the root), and how to fix it."""

    severity: str
    path: str
    line: int
    wrong: str
    mend: str


def check(layout: Layout, task: str) -> list[Lint]:
    """The problems that would hinder resuming a task, or any; errors first, then by file."""
    saved = checkpoints.load_all(layout, task)
    recorded = findings.load_all(layout, task)
    planned = plans.load_all(layout, task)
    newest = {checkpoint.task_id: (path, checkpoint) for path, checkpoint in saved}
    lints = [
        *(lint for path, checkpoint in newest.values() for lint in _checkpoint(path, checkpoint)),
        *(lint for path, finding in recorded for lint in _finding(layout, path, finding)),
        *(lint for path, plan in planned for lint in _plan(path, plan)),
    ]
    lints = [lint.replace(path=layout.shown(lint.path)) for lint in lints]
    for file in (*saved.broken, *recorded.broken, *planned.broken):
        wrong, newer, _ = file.reason.partition(f": {UPGRADE}")
        mend = UPGRADE if newer else "move it away, or write it again"
        lints.append(Lint(severity=ERROR, path=file.path, line=1, wrong=wrong, mend=mend))
    return sorted(lints, key=lambda lint: (lint.severity, lint.path, lint.line))


def _checkpoint(path: str, checkpoint: checkpoints.Checkpoint) -> Iterator[Lint]:
    if not checkpoint.next_action.strip():
        mend = f"make memory_checkpoint task={checkpoint.task_id} … next_action=…"
        wrong = "no next action, so nobody can resume from it"
        yield _lint(ERROR, path, '"next_action"', wrong, mend)


def _finding(layout: Layout, path: str, finding: findings.Finding) -> Iterator[Lint]:
    text = "\n".join(finding.texts())
    named = (kind for kind, _, _ in facts.find(text) if kind in ("path", "location"))
    if not finding.files and not any(named):
        wrong, mend = "names no file, so nobody can look it up", "add `path:line` to what it says"
        yield _lint(WARNING, path, "## Files Modified/Created", wrong, mend)
    size, most = tokens.estimate(text), layout.limits.memory_finding_tokens
    if size > most:
        wrong = f"has ~{size} tokens, more than {most}: a dump is not a finding"
        mend = "keep one discovery, and the rest as a payload (make payload_store)"
        yield _lint(WARNING, path, "", wrong, mend)


def _plan(path: str, plan: plans.Plan) -> Iterator[Lint]:
    command = f"make memory_plan task={plan.task_id}"
    if all(question.answered for question in plan.questions):
        mend = f"{command} questions=…, or memory_archive"
        yield _lint(WARNING, path, "## Key Questions", "no open question: is the task done?", mend)
    if not plan.next_actions:
        mend = f"{command} next_actions=…"
        yield _lint(WARNING, path, "## Next Actions", "no next step", mend)


def _lint(severity: str, path: str, mark: str, wrong: str, mend: str) -> Lint:
    """A problem in the first line that begins with `mark` after any indent, or in the first one."""
    lines = (files.read_if_there(path) or "").split("\n")
    marked = (number for number, line in enumerate(lines, 1) if line.lstrip().startswith(mark))
    return Lint(severity=severity, path=path, line=next(marked, 1), wrong=wrong, mend=mend)
