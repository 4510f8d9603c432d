"""Drill-downs: the part of an agent's file that is worth reading, instead of all of it.

index       every finding of a folder, a line each
shown       the sections worth reading, most severe first, until a budget is spent
sizes       what reading in full, by finding, by index, or a line an agent costs
"""

from __future__ import annotations

import os

from contextkit.base import files, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, check
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.flows import agent_files, statuses
from contextkit.reviews.flows.agent_files import Asked


def complaints(text: str) -> list[tuple[int, str, str]]:
    """(line number, what is wrong, how it should read) of an agent's file, each on one line."""
    return [
        (number, names.one_line(wrong), names.one_line(better))
        for number, wrong, better in check.check(text)
    ]


class IndexRow(Record):
    """A line of an index. `kind`: finding, source (of research), verdict, or none (no index).

    `id` is the finding's, else the kind; `row` is the line as people get it, in its strict form;
    `text_line` is where it stands in the agent's file, 0 where it does not.
    """

    run: str
    agent: str
    id: str
    kind: str
    row: str
    severity: str = ""
    section: str = ""
    title: str = ""
    text_line: int = 0


def index(asked: Asked, only: str = "") -> list[IndexRow]:
    """The rows of every index, or of one; normalized. A file without one says so."""
    rows = []
    for agent in (only,) if only else asked.roster:
        review = agent_review.parse(_text(asked, agent), asked.mode)
        found = iter(review.findings)
        for line in review_sections.index_rows(review) or ["(no Findings Index)"]:
            kind = _kind(line)
            row = IndexRow(run=asked.run, agent=agent, id=kind, kind=kind, row=names.one_line(line))
            if kind == "source":
                row = row.replace(title=row.row.partition(" | ")[2])
            elif kind == "finding":
                one = next(found)
                row = row.replace(
                    id=one.id or kind, severity=one.severity, section=one.section,
                    title=one.title, text_line=one.line,
                )  # fmt: skip
            rows.append(row)
    return rows


def _kind(line: str) -> str:
    if line.startswith("Verdict: "):
        return "verdict"
    if line.startswith("- Source | "):
        return "source"
    return "finding" if line.startswith("- ") else "none"


def _text(asked: Asked, agent: str) -> str:
    path = agent_files.agent_file(asked.folder, agent)
    return files.read_bytes(path).decode("utf-8", "replace") if _is_report(path) else ""


def _is_report(path: str) -> bool:
    """Whether an agent wrote it: a link shows what lies elsewhere, a pipe has no end."""
    return os.path.isfile(path) and not os.path.islink(path)


def shown(text: str, finding: str, max_tokens: int) -> tuple[str, list[str]]:
    """The section of one finding, or of the most severe ones, within `max_tokens`; and all ids.

    Empty text for a finding that is not there.
    """
    review = agent_review.parse(text)
    ids = [found.id for found in statuses.by_severity(review) if found.id]
    wanted = [finding] if finding else ids
    sections = review_sections.sections(text, wanted)
    parts: list[str] = []
    room = max_tokens
    for identity in wanted:
        section = sections[identity]
        if not section or room < 1:
            break
        if parts and tokens.estimate(section) > room:
            break
        parts.append(tokens.clip(section, room, " … (cut)"))
        room -= tokens.estimate(parts[-1])
    return "\n\n".join(parts), ids


def sizes(asked: Asked) -> list[tuple[str, int, int, int, int]]:
    """(agent, full, P0 and P1 sections, index, one line) in tokens for each agent."""
    rows = []
    for agent in asked.roster:
        text = _text(asked, agent)
        review = agent_review.parse(text, asked.mode)
        serious = [f.id for f in review.findings if f.severity in ("P0", "P1") and f.id]
        sections = "\n".join(review_sections.sections(text, serious).values())
        rendered = "\n".join(review_sections.index_rows(review))
        summary = statuses.summary_of(review, None, True, False)
        line = f"{agent_review.status(review)[0]}\t{agent}\t{summary}"
        sizes_of = (tokens.estimate(part) for part in (text, sections, rendered, line))
        rows.append((agent, *sizes_of))
    return rows  # type: ignore[return-value]


def report(asked: Asked, agent: str) -> str:
    """The file of an agent in a folder. Raises ContextError where it left none."""
    path = agent_files.agent_file(asked.folder, agent)
    if not _is_report(path):
        raise ContextError(f"{agent}: left no file here that is its own")
    return path


def detail(layout: Layout, agent: str, store: str = "") -> str:
    """The file that an agent's verdict names; refused outside the root. Raises ContextError."""
    entry = verdict_files.load(layout, agent, store)
    if entry is None:
        raise ContextError(f"{agent}: there is no verdict of this agent")
    path = str(entry.get("detail_path") or "")
    if not path or os.path.isabs(path) or ".." in path.split("/"):
        raise bad_input(f"{agent}: its detail path {path[:80]!r} is refused: not inside the root")
    full = files.inside(layout.root, layout.join(path), "detail_path")
    if not os.path.isfile(full):
        raise ContextError(f"{path}: the report of {agent} is not there any more")
    return full
