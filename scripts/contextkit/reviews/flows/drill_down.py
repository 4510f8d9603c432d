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


def index(asked: Asked, only: str = "") -> list[tuple[str, str]]:
    """(agent, row) of every index, or of one; normalised. A file without one says so."""
    rows = []
    for agent in (only,) if only else asked.roster:
        review = agent_review.parse(_text(asked, agent), asked.mode)
        for row in review_sections.index_rows(review) or ["(no Findings Index)"]:
            rows.append((agent, names.one_line(row)))
    return rows


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
