"""Findings: what a subagent found out, a file a finding.

    <memory>/findings/{agent}_{ts}.md

The sections of the format are fields; whatever else an agent wrote stays as it stood, in `more`.
The format is told in manuals/external-memory.md. Merged ones are in `merged_findings.py`.
"""

from __future__ import annotations

from contextkit.base import names, stores, templates
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.memory.documents import sections
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.sections import FileNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STATUSES = ("completed", "partial", "failed")
# Each list of the format: the field, and the heading.
LISTS = {
    "discoveries": "Key Discoveries",
    "files": "Files Modified/Created",
    "questions": "Open Questions",
    "recommendations": "Recommendations",
}
HEADINGS = ("summary", *(heading.lower() for heading in LISTS.values()))


class Extra(Record):
    """A section that the format does not have, or text in a place where it has none."""

    heading: str
    text: str

    def check(self) -> None:
        if self.heading.lower() in HEADINGS or self.heading != names.one_line(self.heading):
            raise bad_input(f"{self.heading[:60]!r} cannot be the heading of an extra section")


class Finding(Record):
    """`description` is the task in words, `task_id` its id; what is not known is empty."""

    agent: str
    task_id: str = ""
    description: str = ""
    timestamp: str = ""
    status: str = ""
    summary: str = ""
    discoveries: tuple[str, ...] = ()
    files: tuple[FileNote, ...] = ()
    questions: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    more: tuple[Extra, ...] = ()

    def check(self) -> None:
        memory.check_agent(self.agent)
        if self.task_id:
            memory.check_task(self.task_id)
        if self.status and self.status not in STATUSES:
            raise bad_input(f"status={self.status[:60]}: must be one of {', '.join(STATUSES)}")

    def is_of(self, task: str) -> bool:
        """Whether it belongs to a task; one without an id says so in its description."""
        return task in (self.task_id, "" if self.task_id else self.description)

    def texts(self) -> Iterable[str]:
        """All that it says, in the order of the format."""
        yield self.summary
        yield from self.discoveries
        for file in self.files:
            yield f"{file.path} {file.note}".strip()
        yield from self.questions
        yield from self.recommendations
        for extra in self.more:
            yield extra.text


def make(
    agent: str,
    task_id: str,
    status: str,
    timestamp: str,
    description: str = "",
    summary: str = "",
    discoveries: Iterable[str] = (),
    files: Iterable[FileNote] = (),
    questions: Iterable[str] = (),
    recommendations: Iterable[str] = (),
    more: Iterable[Extra] = (),
) -> Finding:
    """A finding from what was typed. Raises ContextError for an agent, task or status that is none.

    `description` is the task id where none is given.
    """
    return Finding(
        agent=agent,
        task_id=task_id,
        description=sections.clean(names.one_line(description)) or task_id,
        timestamp=memory.utc(timestamp),
        status=status,
        summary=sections.clean(summary),
        discoveries=sections.clean_all(discoveries),
        files=sections.clean_files(files),
        questions=sections.clean_all(questions),
        recommendations=sections.clean_all(recommendations),
        more=tuple(e.replace(text=sections.clean(e.text)) for e in more if sections.clean(e.text)),
    )


def parse(text: str) -> Finding:
    """The finding in a document; raises ContextError where the title is not that of one."""
    outline = sections.Outline(sections.normal(text))
    label, colon, agent = outline.title().partition(":")
    if not colon or label.strip().lower() != "findings":
        raise ContextError("no finding: the first line must be `# Findings: <agent>`")
    status = outline.value("Status").lower()
    listed = {
        field: [text for found in outline.find(heading) for text in sections.texts(found.lines)]
        for field, heading in LISTS.items()
    }
    return Finding(
        agent=agent.strip(),
        task_id=outline.value("Task ID"),
        description=outline.value("Task"),
        timestamp=memory.utc(outline.value("Timestamp")),
        status=status if status in STATUSES else "",
        summary=outline.body("Summary"),
        discoveries=tuple(listed["discoveries"]),
        files=sections.clean_files(map(sections.file_note, listed["files"])),
        questions=tuple(listed["questions"]),
        recommendations=tuple(listed["recommendations"]),
        more=more_of(outline, HEADINGS, _header_of(outline, status)),
    )


def _header_of(outline: sections.Outline, status: str) -> tuple[str, ...]:
    """How the lines above the first section begin that are fields of the finding."""
    fields = ("# ", "**Task", "**Timestamp", "**Status")
    return fields if status in ("", *STATUSES) else fields[:-1]


def more_of(
    outline: sections.Outline,
    headings: tuple[str, ...],
    header: tuple[str, ...],
    escaped: bool = False,
) -> tuple[Extra, ...]:
    """The sections other than `headings`, and the lines above the first that are no `header`.

    If `escaped`, with the backslashes that keep their text from meaning something.
    """
    read = (lambda lines: sections.clean("\n".join(lines))) if escaped else sections.plain
    stray = [line for line in outline.head.lines if not line.startswith(header)]
    found = [("Notes", read(stray))]
    for section in outline.sections:
        if section.name.lower() not in headings:
            found.append((names.one_line(section.name) or "Notes", read(section.lines)))
    return tuple(Extra(heading=heading, text=text) for heading, text in found if text)


def render(finding: Finding) -> str:
    """The document, as the seed has it; sections of its own follow."""
    return templates.render("findings.md", finding=finding)


def save(layout: Layout, finding: Finding, moment: int) -> str:
    """Keep a finding under its agent and time; returns the path. None is ever overwritten."""
    text = render(finding)
    of = memory.check_agent(finding.agent)
    return memory.create(
        layout, memory.FINDINGS, of, moment, ".md", lambda _: text, agent=finding.agent
    )


def load(path: str) -> Finding:
    """The finding at `path`. Raises ContextError for a file that is none."""
    finding: Finding = memory.load(path, parse)
    return finding


def load_all(layout: Layout, task: str = "", place: str = "") -> Loaded[Finding]:
    """(path, finding) of each that was not merged from others, oldest first by its name.

    With `task` only those of it; `place` is another folder than the store's, as after archiving.
    """
    place = place or layout.memory_folder(memory.FINDINGS)
    found = stores.load(layout, memory.paths(place, ".md"), _load_individual)
    mine = [(path, one) for path, one in found if one and (not task or one.is_of(task))]
    return Loaded(mine, found.broken)


def _load_individual(path: str) -> Finding | None:
    name = path.rpartition("/")[2]
    return None if memory.parted(name)[0] == memory.MERGED else load(path)
