"""Findings: what a subagent found out, one file per finding.

    <memory>/findings/{agent}_{ts}.md

Anything outside of the format is kept unchanged in `more`. manuals/external-memory.md describes it.
"""

from __future__ import annotations

from contextkit.base import files, names
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Any, Iterable, Self
from contextkit.memory.documents import store as memory
from contextkit.text import codec, sections
from contextkit.text.sections import FileNote

OUTPUT = "Output"  # the section with what a tool printed, of which the summary is the digest
STATUSES = ("completed", "partial", "failed")
STATUSES_ALIKE = {
    "done complete finished success successful succeeded ok pass passed": "completed",
    "incomplete inprogress wip running started unfinished": "partial",
    "fail failure error errored crashed aborted broken": "failed",
}
# The lists of the format: field name and heading.
LISTS = {
    "discoveries": "Key Discoveries",
    "files": "Files Modified/Created",
    "questions": "Open Questions",
    "recommendations": "Recommendations",
}
REPORT = "Report"  # the section with the text above those of a report
RENAMED = "Headings renamed here:"  # the line above those of a report that the format lacks
HEADINGS = ("summary", *(heading.lower() for heading in LISTS.values()))


class Extra(Record):
    """A section that is not part of the format, or text outside of any section."""

    heading: str
    text: str

    def check(self) -> None:
        if self.heading.lower() in HEADINGS or self.heading != names.one_line(self.heading):
            raise bad_input(f"{self.heading[:60]!r} cannot be the heading of an extra section")


class Finding(Record):
    """`description` is the task in words and `task_id` its id; unknown values are empty."""

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

    def texts(self) -> Iterable[str]:
        """Every text in the finding, in the order of the format."""
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
    more: Iterable[Extra] = (),
    **fields: Any,
) -> Finding:
    """Make a finding from typed values; `fields` are the sections of the format.

    `description` defaults to the task id. Raises ContextError for an invalid agent, task or status.
    """
    return Finding(
        agent=agent,
        task_id=task_id,
        description=sections.clean(names.one_line(description)) or task_id,
        timestamp=memory.utc(timestamp),
        status=status,
        more=tuple(e.replace(text=sections.clean(e.text)) for e in more if sections.clean(e.text)),
        **FORM.clean(fields),
    )


FORM = codec.Form(
    kind=Finding,
    noun="a finding",
    title="Findings: {agent}",
    template="findings.md",
    places={
        "task_id": "**Task ID**",
        "description": "**Task**",
        "timestamp": "**Timestamp**",
        "status": "**Status**",
        "summary": "## Summary",
        **{field: f"## {heading}" for field, heading in LISTS.items()},
    },
    readers={"timestamp": memory.utc, "status": codec.one_of(STATUSES)},
)
render = FORM.render  # in the layout of the design; extra sections follow


def parse(text: str) -> Finding:
    """Parse a finding. Raises ContextError if the title is not that of a finding."""
    fields, outline = FORM.parse(text)
    status = outline.value("Status").lower()
    header = ("# ", "**Task", "**Timestamp", "**Status")
    understood = header if status in ("", *STATUSES) else header[:-1]
    stray = [line for line in outline.head.lines if not line.startswith(understood)]
    extras = [("Notes", sections.plain(stray))]
    for section in outline.sections:
        if section.name.lower() not in HEADINGS:
            extras.append((names.one_line(section.name) or "Notes", sections.plain(section.lines)))
    more = tuple(Extra(heading=heading, text=text) for heading, text in extras if text)
    return Finding(**fields, more=more)


def is_merged(name: str) -> bool:
    """Whether a file of this name holds merged findings."""
    return name.startswith(f"{memory.MERGED}_") and memory.split_name(name)[0] == memory.MERGED


KEPT = memory.Kept(
    kind=memory.FINDINGS, parse=parse, render=render, named="{agent}", graded="status",
    has=lambda name: not is_merged(name),
)  # fmt: skip
save, load, load_all = KEPT.save, KEPT.load, KEPT.load_all


class Found:
    """A finding and its path; the `text` below its head is parsed on demand.

    parts: the findings in a `merged` file, each with the name of its source as its path
    """

    def __init__(
        self, path: str, agent: str, timestamp: str, status: str, text: str = "",
        finding: Finding | None = None, parts: tuple[Found, ...] | None = None,
    ) -> None:  # fmt: skip
        self.path, self.agent, self.timestamp, self.status = path, agent, timestamp, status
        self._text, self._finding = text, finding
        self.merged, self.parts = parts is not None, parts or ()

    @classmethod
    def of(cls, path: str, finding: Finding) -> Self:
        return cls(path, finding.agent, finding.timestamp, finding.status, finding=finding)

    @property
    def summary(self) -> str:
        """The summary; cut out of our own form, since parsing takes fifty times as long."""
        text = self._text.partition("\n\n## Summary\n")[2]
        body, is_ours, _ = text.partition("\n\n## Key Discoveries\n")
        plain = is_ours and "\n## " not in body
        return sections.plain(body.split("\n")) if plain else self.finding.summary

    @property
    def finding(self) -> Finding:
        """The whole finding."""
        self._finding = self._finding or parse(self._text)
        return self._finding

    def public(self) -> dict[str, object]:
        """The fields for JSON output."""
        return {"path": self.path, "agent": self.agent, "timestamp": self.timestamp,
                "status": self.status, "summary": self.summary, "merged": self.merged}  # fmt: skip


_LABELS = ("# Findings: ", "**Task**: ", "**Timestamp**: ", "**Status**: ", "**Task ID**: ")
_END = f"\n{sections.FORMAT_MARK}{sections.FORMAT} -->\n"


def heads(layout: Layout, task: str, place: str = "") -> Loaded[Found]:
    """A task's findings, newest first, without merged files; their paths are shown.

    Five times cheaper than `load_all`, since only the heads are parsed: there may be ten thousand.
    """
    place = (place or layout.memory_folder(memory.FINDINGS)).rstrip("/")
    above = len(place) + 1
    shown = layout.shown(place)

    def read(path: str) -> Found | None:
        """The finding at `path` if it is of the task; parsed whole if it is not as we write it."""
        text, name = files.read(path), f"{shown}/{path[above:]}"
        own = _head(text)
        if own is None:
            finding = load(path)
            return Found.of(name, finding) if KEPT.of(finding) == task else None
        agent, when, status, of = own
        return Found(name, agent, when, status, text) if of == task else None

    paths = memory.paths(place, ".md", KEPT.has)
    loaded = layout.load(reversed(paths), read)
    return Loaded([(path, head) for path, head in loaded if head], loaded.broken)


def _head(text: str) -> tuple[str, str, str, str] | None:
    """Agent, time, status and task of a file as we write it; None of any other."""
    lines = text.partition("\n\n")[0].split("\n")
    if len(lines) != len(_LABELS) or not all(map(str.startswith, lines, _LABELS)):
        return None
    agent, _, when, status, task = map(str.removeprefix, lines, _LABELS)
    is_known = names.safe(agent) and status in STATUSES and task != "unknown"
    is_dated = names.shape(when) == "0000-00-00T00:00:00Z"
    return (agent, when, status, task) if is_known and is_dated and text.endswith(_END) else None
