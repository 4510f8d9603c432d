"""The flow of reviews: many agents' files in, one verdict each and one table out.

ingest      read a folder of agent files, derive each status, write all verdicts
shown       the sections worth reading, most severe first, until a budget is spent
sizes       what reading in full, by index, or a line an agent costs
"""

from __future__ import annotations

import os

from contextkit import (
    files,
    names,
    review_check,
    review_headers,
    review_sections,
    reviews,
    sessions,
    tokens,
)
from contextkit import verdicts as verdict_files
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record
from contextkit.review_headers import Header
from contextkit.reviews import Finding, Review
from contextkit.verdicts import Verdict

NEVER_AGENTS = ("synthesis.md", "summary.md", "findings.json")
SEVERITIES = ("P0", "P1", "P2", "P3", "IMP")
_SUMMARY = 120  # characters of the line that says what an agent found


class Ingested(Record):
    """What came of one agent's file; `findings_count` leaves improvements out."""

    agent: str
    status: str
    validation: str
    stated_verdict: str
    derived_verdict: str
    mismatch: bool
    findings_count: int
    severities: dict[str, int]
    improvements: int
    summary: str
    detail_path: str
    flags: tuple[str, ...]


def ingest(layout: Layout, folder: str, agents: tuple[str, ...], now: int) -> list[Ingested]:
    """Read the file of each agent in `folder` and write its verdict; the last ingest counts.

    Without `agents` every `<agent>.md` there is one. An agent whose file is missing, empty or
    unfinished is an ERROR: nothing becomes clean by not being there.
    """
    roster = agents or _agents_of(folder)
    for agent in roster:
        verdict_files.encode(agent)  # refused before anything is written
    session, when = sessions.find_current(layout), names.iso(now)
    read = [_read(layout, folder, agent) for agent in roster]
    for _, verdict in read:
        verdict_files.save(layout, verdict.replace(session_id=session, timestamp=when))
    return [found for found, _ in read]


def _agents_of(folder: str) -> tuple[str, ...]:
    """The agents that left a file, finished or not."""
    try:
        there = sorted(os.listdir(folder))
    except OSError as error:
        raise ContextError(f"{folder}: cannot be read: {error.strerror}") from None
    found = {}
    for name in there:
        stem = name.removesuffix(".partial").removesuffix(".md")
        wanted = name.endswith((".md", ".md.partial")) and name[0] != "."
        if wanted and name.removesuffix(".partial") not in NEVER_AGENTS:
            found[verdict_files.decode(stem)] = True
    return tuple(found)


def agent_file(folder: str, agent: str) -> str:
    """The file of an agent: under its own name, or as verdicts are named."""
    plain = os.path.join(folder, agent + ".md")
    encoded = os.path.join(folder, verdict_files.encode(agent) + ".md")
    return plain if "/" not in agent and os.path.lexists(plain) else encoded


def _read(layout: Layout, folder: str, agent: str) -> tuple[Ingested, Verdict]:
    """What came of one agent's file, and the verdict to write."""
    path = agent_file(folder, agent)
    partial = not os.path.isfile(path) and os.path.isfile(path + ".partial")
    path += ".partial" * partial
    text = _text(path)
    review = reviews.parse(text)
    header = review_headers.parse(text)
    status, flags = _status(review, header)
    if partial:
        status, flags = "ERROR", ("partial", *flags)
    counts = _counts(review)
    found = Ingested(
        agent=agent,
        status=status,
        validation="partial" if partial else _validation(review, header),
        stated_verdict=review.stated,
        derived_verdict=_derived(review),
        mismatch="verdict_mismatch" in flags,
        findings_count=len(review.findings) - counts["IMP"],
        severities={s: n for s, n in counts.items() if s != "IMP" and n},
        improvements=counts["IMP"],
        summary=_summary(review, header, os.path.lexists(path), partial),
        detail_path=layout.shown(path),
        flags=flags,
    )
    verdict = Verdict(
        agent=agent,
        status=status,
        summary=found.summary,
        type=header.type if _is_work(review, header) and header else review.type,
        model=header.model if header else "",
        tokens_spent=header.tokens_spent if header else 0,
        files_changed=header.files_changed if header else (),
        findings_count=found.findings_count or (header.findings_count if header else 0),
        detail_path=found.detail_path,
        flags=flags,
        findings=_worth_opening(review),
    )
    return found, verdict


def _is_work(review: Review, header: Header | None) -> bool:
    """Whether a file reports on work done, by its eight-line header, and is no review."""
    lines = header is not None and header.form == "lines" and header.type == "implementation"
    return lines and review.validation == "malformed"


def _validation(review: Review, header: Header | None) -> str:
    return "valid" if _is_work(review, header) else review.validation


def _status(review: Review, header: Header | None) -> tuple[str, tuple[str, ...]]:
    """The stricter of what the index says and what the agent's header says beside it.

    A report on work has no index; its header is all there is, and is checked by tests, not by us.
    """
    status, flags = reviews.status(review)
    if header is None:
        return status, flags
    if _is_work(review, header):
        return header.status, header.flags
    order = review_headers.STATUSES
    stricter = max(status, header.status, key=order.index)
    return stricter, flags if stricter == status else ("header_mismatch", *flags)


def _derived(review: Review) -> str:
    """The verdict that the rows demand; empty where no rows could be read."""
    said = {"malformed": "", "missing": "error", "error": "error"}
    return said.get(review.validation, reviews.derived(review.findings))


def _counts(review: Review) -> dict[str, int]:
    return {s: sum(f.severity == s for f in review.findings) for s in SEVERITIES}


def _text(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    return files.read_bytes(path).decode("utf-8", "replace")


def _summary(review: Review, header: Header | None, there: bool, partial: bool) -> str:
    """What the agent found, in a line made from its rows; its own words only where it has none."""
    said = ", ".join(f"{n} {severity}" for severity, n in _counts(review).items() if n)
    if review.validation == "missing":
        text = "left an empty file" if there else "left no file"
    elif review.type == "research":
        text = said or "research report"
    elif review.validation == "error":
        text = "the agent reported an error"
    elif review.validation == "malformed":
        own = header.summary if header else ""
        text = own or "no readable Findings Index: read the file"
    else:
        text = said or "no findings"
    worst = next(iter(_by_severity(review)), None)
    if worst and worst.severity in ("P0", "P1"):
        text += f": {worst.title}"
    text = ("unfinished: " if partial else "") + names.one_line(text)
    return text if len(text) <= _SUMMARY else text[: _SUMMARY - 1].rstrip() + "…"


def _worth_opening(review: Review | None) -> tuple[str, ...]:
    """The ids of what is severe or was not understood, ten at most."""
    found = _by_severity(review) if review else []
    return tuple(f.id for f in found if f.id and f.severity in ("P0", "P1", ""))[:10]


def _by_severity(review: Review) -> list[Finding]:
    """Findings to read first; one whose severity was not understood comes after P0 and P1."""
    order = ("P0", "P1", "", "P2", "P3", "IMP")
    return sorted(review.findings, key=lambda finding: order.index(finding.severity))


def totals(done: list[Ingested]) -> dict[str, int]:
    """How many agents there were, and how many files of each validation."""
    counts = {"agents": len(done), "valid": 0}
    for one in done:
        counts[one.validation] = counts.get(one.validation, 0) + 1
    return counts


def totals_line(done: list[Ingested]) -> str:
    """`4/6 valid, 1 malformed, 1 missing`."""
    counts = totals(done)
    others = [f"{n} {name}" for name, n in counts.items() if name not in ("agents", "valid")]
    return ", ".join([f"{counts['valid']}/{counts['agents']} valid", *others])


def complaints(text: str) -> list[tuple[int, str, str]]:
    """(line number, what is wrong, how it should read) of an agent's file, each on one line."""
    return [
        (number, names.one_line(wrong), names.one_line(better))
        for number, wrong, better in review_check.check(text)
    ]


def index(folder: str, agents: tuple[str, ...]) -> list[tuple[str, str]]:
    """(agent, row) of every index, normalised; a file without one says so."""
    rows = []
    for agent in agents or _agents_of(folder):
        text = _text(agent_file(folder, agent))
        for row in review_sections.index_rows(reviews.parse(text)) or ["(no Findings Index)"]:
            rows.append((agent, names.one_line(row)))
    return rows


def shown(text: str, finding: str, max_tokens: int) -> tuple[str, list[str]]:
    """The section of one finding, or of the most severe ones, within `max_tokens`; and all ids.

    Empty text for a finding that is not there.
    """
    review = reviews.parse(text)
    ids = [found.id for found in _by_severity(review) if found.id]
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


def sizes(folder: str, agents: tuple[str, ...]) -> list[tuple[str, int, int, int, int]]:
    """(agent, full, P0 and P1 sections, index, one line) in tokens for each agent."""
    rows = []
    for agent in agents or _agents_of(folder):
        text = _text(agent_file(folder, agent))
        review = reviews.parse(text)
        serious = [f.id for f in review.findings if f.severity in ("P0", "P1") and f.id]
        sections = "\n".join(review_sections.sections(text, serious).values())
        rendered = "\n".join(review_sections.index_rows(review))
        line = f"{reviews.status(review)[0]}\t{agent}\t{_summary(review, None, True, False)}"
        sizes_of = (tokens.estimate(part) for part in (text, sections, rendered, line))
        rows.append((agent, *sizes_of))
    return rows  # type: ignore[return-value]


def detail(layout: Layout, agent: str) -> str:
    """The file that an agent's verdict names; refused outside the root. Raises ContextError."""
    entry = verdict_files.load(layout, agent)
    if entry is None:
        raise ContextError(f"{agent}: there is no verdict of this agent")
    path = str(entry.get("detail_path") or "")
    if not path or os.path.isabs(path) or ".." in path.split("/"):
        raise bad_input(f"{agent}: its detail path {path[:80]!r} is refused: not inside the root")
    full = files.inside(layout.root, layout.join(path), "detail_path")
    if not os.path.isfile(full):
        raise ContextError(f"{path}: the report of {agent} is not there any more")
    return full
