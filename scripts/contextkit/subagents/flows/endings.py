"""What follows the end of a subagent: its files are harvested, it gets its verdict.

An agent that handed in a report has a verdict already. For any other, the table of verdicts says
how it ended, with the last lines of its log: a failed agent is a row, not a missing one. The review
run that it worked for, if any, learns of its end.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.reviews.flows import agent_files, workers
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.subagents.documents.registry import Row


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
    asked = agent_files.of_run(layout, run.id).replace(agents=(agent,))
    reading = next(workers.with_endings(layout, asked, agent_files.read(layout, asked)))
    if reading.validation in ("missing", "partial"):
        agent_files.keep(layout, asked, [agent_files.verdict(reading, asked.run)], now)
        registry.update(layout, row["id"], verdict=reading.status)
    workers.notify(layout, run.id, now)


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
