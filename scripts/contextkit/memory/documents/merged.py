"""Merged findings: everything found out about a task, in one file that names its sources.

    <memory>/findings/merged_{ts}.md

Merging is mechanical: section by section, by source, without exact repetitions, nothing shortened.
"""

from __future__ import annotations

from contextkit.base import names
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Collection, Iterable
from contextkit.memory.documents import findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.findings import LISTS, Extra, Finding
from contextkit.text import codec, sections

_GRADES = ("completed", "", "partial", "failed")  # from best to worst; unknown is in between
_FROM = "### From "  # before the file, as in ``### From `file` ``
_HEADER = ("# ", "**Task", "**Timestamp", "**Status", "**Sources", "- `", sections.FACTS_KEPT)


class Part(Record):
    """One source: its file name, and its finding without repetitions of earlier sources."""

    file: str
    finding: Finding


class Merged(Record):
    """`more` holds sections and lines that somebody added to the merged file by hand."""

    task_id: str
    description: str = ""
    timestamp: str = ""
    status: str = ""
    parts: tuple[Part, ...] = ()
    more: tuple[Extra, ...] = ()
    facts_kept: str = ""  # `12/12`: hard facts kept of its findings

    def sources(self) -> tuple[str, ...]:
        """The names of the merged files."""
        return tuple(part.file for part in self.parts)


def sources(named: Iterable[tuple[str, Finding]], merged: Iterable[Merged]) -> dict[str, Finding]:
    """Findings by file name, given with their paths; those only in a merged file come first."""
    here = {path.rpartition("/")[2]: finding for path, finding in named}
    parts = (part for document in merged for part in document.parts if part.file not in here)
    return {**{part.file: part.finding for part in parts}, **here}


def merge(
    task: str, named: Iterable[tuple[str, Finding]], timestamp: str, more: Iterable[Extra] = ()
) -> Merged:
    """Merge the findings of a task, given as (file name, finding) pairs, into one document."""
    parts = []
    by_field: dict[str, set[object]] = {}
    for file, finding in named:
        fresh: dict[str, Any] = {}
        for field in (*LISTS, "more"):
            seen = by_field.setdefault(field, set())
            fresh[field] = _first_time(getattr(finding, field), seen)
        summaries = by_field.setdefault("summary", set())
        fresh["summary"] = "".join(_first_time((finding.summary,), summaries))
        parts.append(Part(file=file, finding=finding.replace(**fresh, task_id=task)))
    grades = [part.finding.status for part in parts] or [""]
    described = [part.finding.description for part in parts if part.finding.description != task]
    return Merged(
        task_id=task,
        description=described[0] if described else task,
        timestamp=memory.utc(timestamp),
        status=max(grades, key=_GRADES.index),
        parts=tuple(parts),
        more=tuple(dict.fromkeys(more)),
    )


def _first_time(values: tuple[Any, ...], seen: set[object]) -> tuple[Any, ...]:
    """The values not in `seen`, without duplicates; adds them to `seen`."""
    fresh = tuple(value for value in dict.fromkeys(values) if value not in seen)
    seen.update(fresh)
    return fresh


FORM = codec.Form(
    kind=Merged,
    noun="merged findings",
    title=f"Findings: {memory.MERGED}",
    template="merged_findings.md",
    places={
        "task_id": "**Task ID**",
        "description": "**Task**",
        "timestamp": "**Timestamp**",
        "status": "**Status**",
        "facts_kept": "facts_kept",
    },
    readers={"timestamp": memory.utc, "status": codec.one_of(findings.STATUSES)},
)
render = FORM.render  # the format of a finding plus sources, each section grouped by source


def parse(text: str) -> Merged:
    """Parse merged findings. Raises ContextError if the document is something else."""
    fields, outline = FORM.parse(text)
    heads = _sources(outline)
    bodies: dict[str, list[str]] = {file: ["# Findings: all"] for file in heads}
    above = [line for line in outline.head.lines if not line.startswith(_HEADER)]
    more = [Extra(heading="Notes", text=sections.plain(above))]
    for section in outline.sections:
        heading = names.one_line(section.name) or "Notes"
        heading = f"Notes on {heading}" * (heading.lower() in findings.HEADINGS) or heading
        for file, lines in _groups(section.lines, heads):
            if file:
                bodies[file] += [section.heading, *lines]
            else:
                more.append(Extra(heading=heading, text=sections.plain(lines)))
    parts = []
    for file, head in heads.items():
        finding = findings.parse("\n".join(bodies[file]))
        parts.append(Part(file=file, finding=finding.replace(task_id=fields["task_id"], **head)))
    return Merged(**fields, parts=tuple(parts), more=tuple(extra for extra in more if extra.text))


def _sources(outline: sections.Outline) -> dict[str, dict[str, str]]:
    """The sources of a merged file by file name, each with the head of its finding."""
    sources: dict[str, dict[str, str]] = {}
    for line in outline.head.lines:
        if not line.startswith("- `"):
            continue
        note = sections.file_note(line[2:])
        graded, _, rest = note.note.partition(" by ")
        status, _, timestamp = graded.partition(" ")
        agent, description = sections.code_span(rest)
        if note.path and description.startswith(":"):
            sources[note.path] = {
                "agent": agent,
                "description": sections.clean(description[1:]),
                "timestamp": memory.utc(timestamp),
                "status": status if status in findings.STATUSES else "",
            }
    return sources


def _groups(lines: list[str], files: Collection[str]) -> list[tuple[str, list[str]]]:
    """The lines below the subheading of each source; those above all of them have no file."""
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line, inside in sections.lines_of(lines):
        file = sections.code_span(line.removeprefix(_FROM))[0] if line.startswith(_FROM) else ""
        if file in files and not inside:
            groups.append((file, []))
        else:
            groups[-1][1].append(line)
    return groups


KEPT = memory.Kept(
    kind=memory.FINDINGS, parse=parse, render=render, named=memory.MERGED, graded="status",
    has=findings.is_merged,
)  # fmt: skip
save, load, load_all = KEPT.save, KEPT.load, KEPT.load_all
