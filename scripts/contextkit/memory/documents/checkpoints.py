"""Checkpoints: where a task stood at one moment, for the agent that resumes it.

    <memory>/checkpoints/cp_{phase}_{ts}.json

manuals/external-memory.md describes the format.
"""

from __future__ import annotations

from contextkit.base import formats, references, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.references import Reference
from contextkit.base.type_names import Any
from contextkit.memory.documents import store as memory

HOW_TO_RESUME = "Look at the files in play that are changed or missing, then take the next action."
FORMAT = 1  # version of the document format; assumed when a document has none
_LISTS = ("completed_subtasks", "pending_subtasks", "active_agents", "blocked_agents")
_TEXTS = ("context_summary", "next_action", "recovery_instructions")
_OPTIONAL = ("files", "facts_kept", "summary_time", "branch", "instead_of")


class Checkpoint(Record):
    """`timestamp` is UTC, as in `2025-01-04T12:00:00Z`; `checkpoint_id` is the file name's stem."""

    checkpoint_id: str
    task_id: str
    phase: str
    timestamp: str
    completed_subtasks: tuple[str, ...] = ()
    pending_subtasks: tuple[str, ...] = ()
    active_agents: tuple[str, ...] = ()
    blocked_agents: tuple[str, ...] = ()
    findings_count: int = 0
    context_summary: str = ""
    next_action: str = ""
    recovery_instructions: str = ""
    files: tuple[Reference, ...] = ()
    facts_kept: str = ""  # `3/57`: hard facts kept of its findings
    summary_time: str = ""  # when the summary was given, if it only repeats that of an earlier one
    branch: str = ""  # on which it was saved
    instead_of: str = ""  # the plan's next action at that time, if `next_action` is another

    @property
    def said(self) -> str:
        """When somebody last said where the task stands; anything saved since is news."""
        return self.summary_time or self.timestamp

    def check(self) -> None:
        memory.check_task(self.task_id)
        memory.check_phase(self.phase)
        if self.findings_count < 0:
            raise bad_input(f"findings_count={self.findings_count}: must not be negative")


def render(checkpoint: Checkpoint) -> str:
    """The checkpoint as JSON with a nested `state`, and what else there is to say."""
    values = vars(checkpoint)
    fields = {name: values[name] for name in ("checkpoint_id", "task_id", "phase", "timestamp")}
    fields["state"] = {name: values[name] for name in (*_LISTS, "findings_count")}
    fields |= {name: values[name] for name in _TEXTS}
    fields |= {name: values[name] for name in _OPTIONAL if values[name]}
    return formats.to_json({**fields, "format": FORMAT}) + "\n"


def parse(text: str) -> Checkpoint:
    """Parse a JSON checkpoint, ignoring unknown keys. Raises ContextError for anything else."""
    document = formats.object_from_json(text.removeprefix("\ufeff"), "checkpoint")
    version.refuse_newer(document.get("format"), str(FORMAT))
    state = document.get("state", {})
    if not isinstance(state, dict):
        raise ContextError("not a checkpoint: state must be an object")
    rows = document.get("files")  # a malformed one must not make recovery fail
    whole = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named = references.read((row.get("path"), row.get("sha256", "")) for row in whole)
    values: dict[str, Any] = {**state, **document, "files": named}
    checkpoint: Checkpoint = formats.build_known(Checkpoint, values, "not a checkpoint")
    moment = memory.utc(checkpoint.timestamp)
    if not moment:
        raise ContextError(f"not a checkpoint: {checkpoint.timestamp[:60]!r} is not a time")
    return checkpoint.replace(timestamp=moment)


KEPT = memory.Kept(
    kind=memory.CHECKPOINTS, parse=parse, render=render, named="cp_{phase}", graded="phase",
    stem="checkpoint_id", dated=True,
)  # fmt: skip
save, load, load_all = KEPT.save, KEPT.load, KEPT.load_all


def last(layout: Layout, task: str) -> Checkpoint:
    """The newest checkpoint of a task that can be read, or one without an id."""
    none = Checkpoint(
        checkpoint_id="", task_id=task or "none", phase=memory.PHASES[0], timestamp=""
    )
    return next(reversed(load_all(layout, task).documents), none) if task else none
