"""The end of a subagent, by abort or cleanup too, and what follows for its review run.

Its files are harvested, and it gets its verdict. An agent that handed in a report has one already.
For any other, the table of verdicts says how it ended, with the last lines of its log: a failed
agent is a row, not a missing one.
"""

from __future__ import annotations

import os

from contextkit.base import files, ledger, names, redaction
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.reviews.flows import agent_files, ingest, workers
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, sandboxes, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.subagents.documents.registry import Row


def abort(layout: Layout, identity: str, reason: str, now: int, at_once: bool = False) -> str:
    """End a subagent (`at_once`: without a grace period), record it in its row, and return its id.

    Raises ContextError for one that has ended.
    """
    ((row,), _) = watch.refresh(layout, now, identity)
    identity = row["id"]
    if row.get("status") not in registry.ACTIVE:
        raise ContextError(f"{identity} is {row.get('status')}: there is nothing to abort")
    folder = watch.folder_of(layout, row)
    if not folder and row["status"] != "awaiting_manual_launch" and not at_once:
        raise ContextError(
            f"{identity} was not started by contextkit: end it yourself, then record it: force=1"
        )
    if folder:
        background.stop(folder, 0 if at_once else background.GRACE)
    reason = redaction.redacted(reason, layout.limits.secrets_allow)[0]  # a row is committed
    word = names.slug(reason) or "manual"
    registry.update(
        layout,
        identity,
        status=f"aborted_{word}",
        aborted_reason=names.one_line(reason) or word,
        aborted_at=names.compact(now),
        finished_at=names.compact(now),
    )
    ledger.note(layout, ledger.ENDED, f"subagent:{identity}")
    return identity


def cleanup(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    """Remove a subagent's sandbox and run folder; its row stays as `cleaned`.

    Raises ContextError while it runs, and for work that would be lost, unless `force` is set.
    """
    ((row,), _) = watch.refresh(layout, now, identity)
    identity = row["id"]
    kind, status = str(row.get("type")), row.get("status")
    if status == "cleaned":
        return identity
    if status in ("running", "pending_launch") and not force:
        raise ContextError(f"{identity} is {status}: subagent_abort id={identity} to end it first")
    place = layout.join(str(row.get("path") or "."))
    folder = watch.folder_of(layout, row)
    apart = kind != "here" and os.path.isdir(place)
    if apart:
        _refuse_to_lose(layout, identity, kind, place, force)
    if status in registry.ACTIVE:
        abort(layout, identity, reason, now, at_once=not folder)
    if apart:
        sandboxes.remove(layout, kind, identity)
    if folder:
        import shutil

        shutil.rmtree(folder)
    registry.update(layout, identity, status="cleaned")
    ledger.note(layout, ledger.REMOVED, f"subagent:{identity}")
    return identity


def _refuse_to_lose(layout: Layout, identity: str, kind: str, place: str, force: bool) -> None:
    """Raise ContextError for a folder that is not ours, or work that would be lost with it."""
    shown = layout.shown(place)
    if kind not in sandboxes.KINDS or not sandboxes.is_ours(layout, identity, place):
        raise bad_input(f"{identity}: {shown} is not a contextkit sandbox: left alone")
    work = [] if force else sandboxes.work_in(layout, kind, identity)
    if work:
        raise ContextError(
            f"{identity}: {shown} holds {' and '.join(work)}:"
            " take them over first, or force=1 drops them"
        )


def follow(layout: Layout, row: Row, now: int) -> list[str]:
    """Harvest a subagent's deliverables, record its verdict, and return messages."""
    said = _harvest(layout, row)
    given = workers.of_row(layout, row)
    if given:
        _of_run(layout, row, *given, now)
    else:
        _alone(layout, row, now)
    return said


def _harvest(layout: Layout, row: Row) -> list[str]:
    """Copy each promised file out of a sandbox, never over another; record what is missing."""
    promised = row.get("deliverables")
    if not isinstance(promised, list) or not promised:
        return []
    said, found = [], []
    for item in promised:
        if not isinstance(item, dict) or item.get("status") == "harvested":
            found.append(item)
            continue
        path = os.path.join(str(row.get("path") or ""), str(item.get("source") or ""))
        source = watch.place_of(layout, path) if item.get("source") else ""
        if not source:
            found.append({**item, "status": "missing"})
            said.append(f"{row['id']}: left no {names.one_line(str(item.get('source')))}")
            continue
        target = _taken_over(layout, source, str(item["source"]))
        found.append({**item, "status": "harvested", "target": layout.shown(target)})
    registry.update(layout, row["id"], deliverables=found)
    return said


def _taken_over(layout: Layout, source: str, name: str) -> str:
    """Return where a deliverable is in the repository: where it was made, or a copy of it."""
    target = files.inside(layout.root, layout.join(name), "deliverables")
    if os.path.realpath(source) == target:
        return target
    data = files.read_bytes(source)
    if os.path.isfile(target) and files.read_bytes(target) == data:
        return target
    return files.create(target, data)


def _of_run(layout: Layout, row: Row, run: Run, agent: str, now: int) -> None:
    """Record an ERROR at once for an agent of a review run that left no file of its own."""
    asked = ingest.of_run(layout, run.id).replace(agents=(agent,))
    reading = next(workers.told(layout, asked, agent_files.read(layout, asked)))
    if reading.validation in ("missing", "partial"):
        ingest.keep(layout, asked, [agent_files.verdict(reading, asked.run)], now)
        registry.update(layout, row["id"], verdict=reading.status)
    workers.tell(layout, run.id, now)


def _alone(layout: Layout, row: Row, now: int) -> None:
    """Write the verdict of a subagent that ended without handing in a report."""
    agent = str(row.get("slug") or row["id"])
    if row.get("verdict") or row.get("status") not in ("finished", "failed", "timed_out"):
        return
    try:
        known = verdicts.load(layout, agent)
        if known and names.moment(str(known.get("timestamp"))) >= watch.started(row):
            return  # it wrote one itself
        words = watch.last_words(layout, row)
        status, summary = _judged(row, words)
        verdict = Verdict(
            agent=agent,
            status=status,
            summary=f"{summary}: {words}" if words else summary,
            type="implementation",
            detail_path=str(row.get("log_path") or ""),
            timestamp=names.iso(now),
            flags=("ended",),
        )
        verdicts.save(layout, verdict)
        registry.update(layout, row["id"], verdict=status, detail=verdict.detail_path)
    except ContextError:
        return  # a name that no verdict can have


def _judged(row: Row, words: str) -> tuple[str, str]:
    """Return the status of a subagent without a report, and what to say about it."""
    code = row.get("exit_code")
    if row.get("status") == "timed_out":
        return "FAILED", "its time was up"
    if row.get("status") == "failed":
        return "FAILED", f"exit {code}" if code is not None else "gone without an exit status"
    if words:
        return "NEEDS_ATTENTION", "handed in no report, its log ends"
    return "ERROR", "exit 0 without a report or a line of output"
