"""Context snapshots: what a conversation knows, saved before its context is full or handed over.

    <memory>/context_snapshots/snap_{ts}.md

manuals/external-memory.md describes the format.
"""

from __future__ import annotations

from contextkit.base import filters, formats, names, references
from contextkit.base.errors import bad_input
from contextkit.base.records import Record
from contextkit.base.references import Reference
from contextkit.base.type_names import Any, Iterable
from contextkit.memory.documents import store as memory
from contextkit.text import codec, sections
from contextkit.text.sections import FileNote

UNSAID = "No summary was given: this was put together from the plan, the findings and git."
REASONS = ("token_limit", "manual", "phase_end")
_DIGESTS = "<!-- contextkit: files="


class Snapshot(Record):
    """`task` is the task in words; `tokens` is 0 and other values are empty if unknown."""

    timestamp: str = ""
    tokens: int = 0
    reason: str = ""
    task_id: str = ""
    summary: str = ""
    task: str = ""
    phase: str = ""
    agents: tuple[str, ...] = ()
    important: str = ""
    files: tuple[FileNote, ...] = ()
    decisions: tuple[str, ...] = ()
    resume: str = ""
    digests: tuple[Reference, ...] = ()
    facts_kept: str = ""  # `12/87`: hard facts kept of its conversation and findings
    session: str = ""  # whose conversation it is, from `sessions.key`

    @property
    def said(self) -> str:
        """The time up to which somebody gave its words; '' if nobody did."""
        return "" if self.summary == UNSAID else self.timestamp

    def check(self) -> None:
        if self.reason and self.reason not in REASONS:
            raise bad_input(f"reason={self.reason[:60]}: must be one of {', '.join(REASONS)}")
        if self.phase:
            memory.check_phase(self.phase)
        if self.task_id:
            memory.check_task(self.task_id)
        if self.tokens < 0:
            raise bad_input(f"tokens={self.tokens}: must not be negative")


def make(
    timestamp: str, reason: str, summary: str, task_id: str = "", task: str = "",
    agents: Iterable[str] = (), **fields: Any,
) -> Snapshot:  # fmt: skip
    """Make a snapshot; `fields` are its others, and `task` defaults to the task id.

    Commas in agent names become spaces. Raises ContextError for an invalid reason, phase or task
    id.
    """
    return Snapshot(
        timestamp=memory.utc(timestamp),
        reason=reason,
        task_id=task_id,
        task=sections.clean(names.one_line(task)) or task_id,
        agents=sections.clean_all(names.one_line(agent.replace(",", " ")) for agent in agents),
        **FORM.clean({"summary": summary} | fields),
    )


FORM = codec.Form(
    kind=Snapshot,
    noun="a snapshot",
    title="Context Snapshot",
    template="context_snapshot.md",
    places={
        "timestamp": "**Timestamp**",
        "tokens": "**Token Count**",
        "reason": "**Reason**",
        "task_id": "**Task ID**",
        "session": "**Session**",
        "facts_kept": "facts_kept",
        "summary": "## Conversation Summary",
        "task": "## Current State: Task",
        "phase": "## Current State: Phase",
        "agents": "## Current State: Agents",
        "important": "## Important Context",
        "files": "## Files in Play",
        "decisions": "## Pending Decisions",
        "resume": "## Resume Instructions",
    },
    readers={
        "timestamp": memory.utc,
        "tokens": lambda written: names.count(written) or 0,
        "reason": codec.one_of(REASONS),
        "phase": codec.one_of(memory.PHASES),
        "agents": codec.listed,
    },
)


def render(snapshot: Snapshot) -> str:
    """The document in the layout of the design.

    The digests are JSON on its last line, in a comment that no path can close.
    """
    quoted = [[filters.quoted(text, True) for text in vars(d).values()] for d in snapshot.digests]
    pairs = ", ".join(map(": ".join, quoted)).replace(">", "\\u003e")
    line = _DIGESTS + "{" + pairs + "} -->" if pairs else ""
    counted, agents = str(snapshot.tokens or ""), ", ".join(snapshot.agents)
    return FORM.render(snapshot, tokens=counted, agents=agents, digests=line)


def parse(text: str) -> Snapshot:
    """Parse a snapshot. Raises ContextError if the title is not that of a snapshot."""
    above, _, last = text.rstrip().rpartition("\n")
    written = last.removeprefix(_DIGESTS).removesuffix(" -->") if last.startswith(_DIGESTS) else ""
    digests = references.read(formats.object_in(written.encode()).items())
    return Snapshot(**FORM.parse(above if digests else text)[0], digests=digests)


KEPT = memory.Kept(
    kind=memory.SNAPSHOTS, parse=parse, render=render, named="snap", graded="reason", dated=True
)
save, load, load_all = KEPT.save, KEPT.load, KEPT.load_all
