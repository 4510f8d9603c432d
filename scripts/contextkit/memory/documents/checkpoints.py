"""Checkpoints: where a task stood at a moment, for whoever resumes it.

    <memory>/checkpoints/cp_{phase}_{ts}.json

The keys of the seed in their order, then `files`: a digest of each file in play, so that
a reader learns what has changed since, and `facts_kept`: how many hard facts of the findings it
repeats. The format is told in manuals/external-memory.md.
"""

from __future__ import annotations

from contextkit.base import formats, stores, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.references import Reference
from contextkit.base.stores import Loaded
from contextkit.memory.documents import store as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = 1  # of the document; one without it is of this
_LISTS = ("completed_subtasks", "pending_subtasks", "active_agents", "blocked_agents")
_TEXTS = ("context_summary", "next_action", "recovery_instructions")


class Checkpoint(Record):
    """`timestamp` is UTC as `2025-01-04T12:00:00Z`; `checkpoint_id` is the file's name."""

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
    facts_kept: str = ""  # `3/57`: hard facts of the findings that it stands for

    def check(self) -> None:
        memory.check_task(self.task_id)
        memory.check_phase(self.phase)
        if self.findings_count < 0:
            raise bad_input(f"findings_count={self.findings_count}: must not be negative")


def render(checkpoint: Checkpoint) -> str:
    """The JSON of a checkpoint, its state as an object; without files in play no `files`."""
    values = vars(checkpoint)
    fields = {name: values[name] for name in ("checkpoint_id", "task_id", "phase", "timestamp")}
    fields["state"] = {name: values[name] for name in (*_LISTS, "findings_count")}
    fields |= {name: values[name] for name in _TEXTS}
    if checkpoint.files:
        fields["files"] = checkpoint.files
    if checkpoint.facts_kept:
        fields["facts_kept"] = checkpoint.facts_kept
    return formats.to_json({**fields, "format": FORMAT}) + "\n"


def parse(text: str) -> Checkpoint:
    """The checkpoint in a JSON document; keys that are not known are passed over.

    Raises ContextError for anything that is not a whole checkpoint.
    """
    found = formats.from_json(text.removeprefix("\ufeff"), "checkpoint")
    if not isinstance(found, dict):
        raise ContextError("no checkpoint: must be a JSON object")
    version.refuse_newer(found.get("format"), str(FORMAT))
    state = found.get("state", {})
    if not isinstance(state, dict):
        raise ContextError("no checkpoint: state must be an object")
    values: dict[str, Any] = {**state, **found, "files": _references(found.get("files", []))}
    known = {name: values[name] for name in Checkpoint.fields() if name in values}
    checkpoint: Checkpoint = formats.build(Checkpoint, known, "no checkpoint")
    moment = memory.utc(checkpoint.timestamp)
    if not moment:
        raise ContextError(f"no checkpoint: {checkpoint.timestamp[:60]!r} is not a time")
    return checkpoint.replace(timestamp=moment)


def _references(given: object) -> tuple[Reference, ...]:
    """The files in play; entries that are none are passed over: recovery must not fail by them."""
    rows = given if isinstance(given, list) else []
    pairs = [(row.get("path"), row.get("sha256", "")) for row in rows if isinstance(row, dict)]
    return tuple(
        Reference(path=path, sha256=digest)
        for path, digest in pairs
        if isinstance(path, str) and isinstance(digest, str)
    )


def save(layout: Layout, checkpoint: Checkpoint, moment: int) -> str:
    """Keep a checkpoint under its phase and time; its id is the name that was free. The path."""
    return memory.create(
        layout,
        memory.CHECKPOINTS,
        f"cp_{checkpoint.phase}",
        moment,
        ".json",
        lambda stem: render(checkpoint.replace(checkpoint_id=stem)),
    )


def load(path: str) -> Checkpoint:
    """The checkpoint at `path`. Raises ContextError for a file that is none."""
    checkpoint: Checkpoint = memory.load(path, parse)
    return checkpoint


def load_all(layout: Layout, task: str = "", place: str = "") -> Loaded[Checkpoint]:
    """(path, checkpoint) of each, oldest first: by its own time, then by its name.

    With `task` only those of it; `place` is another folder than the store's, as after archiving.
    """
    place = place or layout.memory_folder(memory.CHECKPOINTS)
    found = stores.load(layout, memory.paths(place, ".json"), load)
    mine = [(path, one) for path, one in found if not task or one.task_id == task]
    mine.sort(key=lambda pair: pair[1].timestamp)  # stable: names are in order already
    return Loaded(mine, found.broken)
