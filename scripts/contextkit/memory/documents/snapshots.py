"""Context snapshots: what a conversation knows, saved before its context is full or handed over.

    <memory>/context_snapshots/snap_{ts}.md

The last line holds a digest of each file in play, for programs. manuals/external-memory.md
describes the format.
"""

from __future__ import annotations

from contextkit.base import filters, formats, names, templates
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.references import Reference
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Iterable
from contextkit.memory.documents import sections
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.sections import FileNote

UNSAID = "No summary was given: this was put together from the plan, the findings and git."
REASONS = ("token_limit", "manual", "phase_end")
_DIGESTS = "<!-- contextkit: files="
_LISTS = {"files": "Files in Play", "decisions": "Pending Decisions"}


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
    facts_kept: str = ""  # `12/87`: hard facts of the conversation and findings that it stands for
    session: str = ""  # whose conversation it is, from `sessions.key`

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
    timestamp: str,
    reason: str,
    summary: str,
    tokens: int = 0,
    task_id: str = "",
    task: str = "",
    phase: str = "",
    agents: Iterable[str] = (),
    important: str = "",
    files: Iterable[FileNote] = (),
    decisions: Iterable[str] = (),
    resume: str = "",
    digests: tuple[Reference, ...] = (),
    session: str = "",
) -> Snapshot:
    """Make a snapshot. Raises ContextError for an invalid reason, phase or task id.

    `task` defaults to the task id; commas in agent names become spaces.
    """
    return Snapshot(
        timestamp=memory.utc(timestamp),
        tokens=tokens,
        reason=reason,
        task_id=task_id,
        summary=sections.clean(summary),
        task=sections.clean(names.one_line(task)) or task_id,
        phase=phase,
        agents=tuple(a for a in (_agent(agent) for agent in agents) if a),
        important=sections.clean(important),
        files=sections.clean_files(files),
        decisions=sections.clean_all(decisions),
        resume=sections.clean(resume),
        digests=digests,
        session=session,
    )


def _agent(name: str) -> str:
    return sections.clean(names.one_line(name.replace(",", " ")))


def render(snapshot: Snapshot) -> str:
    """Return the document in the layout of the design, with the digests on its last line."""
    return templates.render(
        "context_snapshot.md",
        snapshot=snapshot,
        tokens=str(snapshot.tokens or ""),
        agents=", ".join(snapshot.agents),
        digests=_line_of(snapshot.digests),
    )


def _line_of(digests: tuple[Reference, ...]) -> str:
    """The digests as JSON in a one-line comment that no path can close; '' if there are none."""
    if not digests:
        return ""
    pairs = ", ".join(
        f"{filters.quoted(d.path, True)}: {filters.quoted(d.sha256, True)}" for d in digests
    )
    return _DIGESTS + "{" + pairs.replace(">", "\\u003e") + "} -->"


def parse(text: str) -> Snapshot:
    """Parse a snapshot. Raises ContextError if the title is not that of a snapshot."""
    lines = sections.normal(text).rstrip().split("\n")
    digests = _digests_in(lines[-1])
    outline = sections.Outline("\n".join(lines[:-1] if digests else lines))
    if outline.title().lower() != "context snapshot":
        raise ContextError("not a snapshot: the first line must be `# Context Snapshot`")
    state = _state(outline)
    reason, phase = outline.value("Reason"), state.get("phase", "").lower()
    tokens = outline.value("Token Count").lstrip("~ ").replace(",", "").replace("_", "")
    listed = {
        field: [text for found in outline.find(heading) for text in sections.texts(found.lines)]
        for field, heading in _LISTS.items()
    }
    return Snapshot(
        timestamp=memory.utc(outline.value("Timestamp")),
        tokens=int(tokens) if names.is_whole(tokens, 15) else 0,
        reason=reason if reason in REASONS else "",
        task_id=outline.value("Task ID"),
        summary=outline.body("Conversation Summary"),
        task=state.get("task", ""),
        phase=phase if phase in memory.PHASES else "",
        agents=tuple(a for a in map(sections.clean, state.get("agents", "").split(",")) if a),
        important=outline.body("Important Context"),
        files=sections.clean_files(map(sections.file_note, listed["files"])),
        decisions=tuple(listed["decisions"]),
        resume=outline.body("Resume Instructions"),
        digests=digests,
        facts_kept=outline.facts_kept(),
        session=outline.value("Session"),
    )


def _state(outline: sections.Outline) -> dict[str, str]:
    """The lines `- Task: …` of the current state, by lowercase name."""
    found: dict[str, str] = {}
    for section in outline.find("Current State"):
        for text in sections.texts(section.lines):
            name, colon, value = text.partition(":")
            if colon:
                found.setdefault(name.strip().lower(), sections.clean(value))
    return found


def _digests_in(line: str) -> tuple[Reference, ...]:
    """The digests that `_line_of` wrote, or () for any other line."""
    if not (line.startswith(_DIGESTS) and line.endswith(" -->")):
        return ()
    try:
        found = formats.from_json(line[len(_DIGESTS) : -4], "digests")
    except ContextError:
        return ()
    pairs = found.items() if isinstance(found, dict) else ()
    return tuple(
        Reference(path=path, sha256=digest) for path, digest in pairs if isinstance(digest, str)
    )


def save(layout: Layout, snapshot: Snapshot, moment: int) -> str:
    """Save a snapshot named for its time, never overwriting one; return the path."""
    text = render(snapshot)
    return memory.create(layout, memory.SNAPSHOTS, "snap", moment, ".md", lambda _: text)


def load(path: str) -> Snapshot:
    """Load the snapshot at `path`. Raises ContextError if the file is not a snapshot."""
    return memory.load(path, parse)


def load_all(layout: Layout, task: str = "", place: str = "") -> Loaded[Snapshot]:
    """Return (path, snapshot) pairs, oldest first: by timestamp, then by name.

    Of one `task` or all; `place` as in `memory.load_all`.
    """
    found = memory.load_all(
        layout, memory.SNAPSHOTS, load, lambda one: task in ("", one.task_id or one.task), place
    )
    found.sort(key=lambda pair: pair[1].timestamp)  # a stable sort: the names are already in order
    return found
