"""Drill-downs: the part of an agent's file that is worth reading, instead of all of it.

index       every finding in a folder, one per line
of_run      the findings of all agents, strictest first: problem, place and fix of each
shown       the sections of one agent, within a token budget
sizes       what reading in full, by finding, by index, or one line per agent costs
"""

from __future__ import annotations

import os

from contextkit.base import files, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import agent_review, places, vocabulary
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import Finding, row_of
from contextkit.reviews.documents.places import Place
from contextkit.reviews.flows import agent_files
from contextkit.reviews.flows.agent_files import Asked, Reading


class Located(Record):
    """A finding with the place in the code that it names.

    `text_line` is its line in the agent's file, or 0.
    """

    run: str
    agent: str
    id: str
    severity: str = ""
    section: str = ""
    title: str = ""
    file: str = ""
    line: int = 0
    text_line: int = 0

    @property
    def place(self) -> str:
        return places.shown(self.file, self.line)


class IndexRow(Located):
    """A line of an index. `kind`: finding, source (research), verdict, or none (not read).

    `id` is the finding's, or else the kind; `row` is the line as shown to people, in strict form.
    """

    kind: str = ""
    row: str = ""
    status: str = ""  # dismissed, or empty

    @property
    def ref(self) -> str:
        """Return the address of the finding or the agent's file; '' for a folder without a run."""
        finding = f"/{self.id}" if self.kind == "finding" else ""
        return f"review:{self.run}/{self.agent}{finding}" if self.run else ""


class Shown(Located):
    """A finding of a run with the part of its section that is worth reading."""

    text: str = ""


def _located(reading: Reading) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield for each finding of an agent its fields in `Located`, and its section."""
    review = reading.review
    texts = review_sections.of_findings(reading.text, review)
    for one, section in zip(review.findings, texts, strict=True):
        file, line = place_of(one, section)
        yield {
            "agent": reading.agent, "id": one.id, "severity": one.severity, "title": one.title,
            "section": one.section, "file": file, "line": line, "text_line": one.line,
        }, section  # fmt: skip


def index(
    run: str, readings: Iterable[Reading], severities: tuple[str, ...] = ()
) -> list[IndexRow]:
    """Return the normalized rows of every index, or those with some severities.

    A file of which nothing could be read has a row that says so.
    """
    rows = []
    for reading in readings:
        pairs = _located(reading)
        for kind, line in _rows(reading.review) or [("none", "(no Findings Index)")]:
            shown = names.one_line(line)
            fields = next(pairs)[0] if kind == "finding" else {"agent": reading.agent, "id": kind}
            if kind == "source":
                fields["title"] = shown.partition(" | ")[2]
            rows.append(IndexRow(run=run, kind=kind, row=shown, **fields))
    if not severities:
        return rows
    return [row for row in rows if row.kind == "finding" and row.severity in severities]


def index_rows(review: Review) -> list[str]:
    """Return the index in strict form, with the stricter of the stated and the derived verdict.

    For research, the sources and the headings of its findings; empty if nothing could be read.
    """
    return [line for _, line in _rows(review)]


def _rows(review: Review) -> list[tuple[str, str]]:
    """Return (kind, line) for each line of the index in strict form; see IndexRow."""
    if review.type == "research":
        sources = [("source", f"- Source | {names.one_line(source)}") for source in review.sources]
        titles = [("finding", f"- Finding | {names.one_line(f.title)}") for f in review.findings]
        return sources + titles
    if review.validation == "missing" or not (review.findings or review.start_line):
        return []
    verdict = agent_review.demanded(review.findings)
    if review.stated:
        verdict = max(verdict, review.stated, key=vocabulary.VERDICTS.index)
    if verdict == "safe" and agent_review.effective_status(review)[0] != "CLEAN":
        verdict = "needs-changes"
    rows = [("finding", row_of(finding)) for finding in review.findings]
    return [*rows, ("verdict", f"Verdict: {verdict}")]


def place_of(finding: Finding, section: str) -> tuple[str, int]:
    """Return the file and line named by a finding's row, or else by its section; or ("", 0)."""
    return place(finding, section)[:2]


def place(finding: Finding, section: str) -> Place:
    """Like `place_of`, with the last line of a range."""
    if finding.file:
        return Place(finding.file, finding.at)
    row = places.find(" ".join((finding.section, finding.title, *finding.extra)))
    inside = places.find(section)
    return row if row.line or not inside.line else inside


def severities_of(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return severities for words such as `high`, strictest first. Raises ContextError."""
    by_word = {word: vocabulary.severity(word) for word in said}
    for word, severity in by_word.items():
        if not severity:
            every = ", ".join(vocabulary.SEVERITIES)
            raise bad_input(f"severity: {word[:40]!r} is not a severity: give some of {every}")
    return tuple(s for s in vocabulary.SEVERITIES if s in by_word.values())


def of_run(
    run: str, readings: Iterable[Reading], severities: tuple[str, ...]
) -> tuple[list[Shown], list[str]]:
    """Return the findings with one of `severities`, strictest first.

    Each has its problem, place and fix. The second value lists the agents that left nothing
    readable. Findings with an unknown severity come after P0 and P1.
    """
    findings, unread = [], []
    for reading in readings:
        unread += [] if reading.is_read else [reading.agent]
        findings += _shown(run, reading, severities)
    order = vocabulary.READING_ORDER
    return sorted(findings, key=lambda one: order.index(one.severity.strip("?"))), unread


def _shown(run: str, reading: Reading, severities: tuple[str, ...]) -> list[Shown]:
    """Return the findings of one agent with one of `severities`, strictest first."""
    wanted = (*severities, "") if "P1" in severities else severities
    findings = [(fields, section) for fields, section in _located(reading)
             if fields["severity"] in wanted]  # fmt: skip
    findings.sort(key=lambda pair: vocabulary.READING_ORDER.index(pair[0]["severity"]))
    return [
        Shown(
            **{**fields, "severity": fields["severity"] or "?"}, run=run,
            text=review_sections.excerpt(section or fields["title"], fields["title"]),
        )
        for fields, section in findings
    ]  # fmt: skip


def rendered(one: Shown) -> str:
    """Return `P0 fd-safety/P0-1 src/app.py:42 Title`, and below it what is worth reading."""
    head = names.one_line(f"{one.severity} {one.agent}/{one.id} {one.place} {one.title}")
    return f"{head}\n{one.text}" if one.text else head


def fitting(found: list[Shown], max_tokens: int) -> list[Shown]:
    """Return the leading items of `found` that fit into `max_tokens`, but at least one."""
    room = max_tokens
    kept: list[Shown] = []
    for finding in found:
        room -= tokens.estimate(rendered(finding)) + 1
        if room < 0 and kept:
            break
        kept.append(finding)
    return kept


def shown(text: str, finding: str, max_tokens: int) -> tuple[str, list[str]]:
    """Return the section of one finding, or of the most severe, within `max_tokens`; and all ids.

    The text is empty for a finding that does not exist.
    """
    review = agent_review.parse(text)
    ids = [row.id for row in agent_files.by_severity(review)]
    wanted = [finding] if finding else ids
    sections = review_sections.sections(text, wanted, review)
    parts: list[str] = []
    room = max_tokens
    for identity in wanted:
        section = sections[identity]
        if finding and section:
            section = "\n\n".join(filter(None, (section, _around(text, review, finding))))
        if not section or room < 1:
            break
        if parts and tokens.estimate(section) > room:
            break
        parts.append(tokens.clip(section, room, " … (cut)"))
        room -= tokens.estimate(parts[-1])
    return "\n\n".join(parts), ids


def _around(text: str, review: Review, finding: str) -> str:
    """Return that a finding has only its row, with the lines around its place; or ''."""
    there = review_sections.has_section(text, review)
    for row, own in zip(review.findings, there, strict=True):
        if row.id.upper() == finding.upper() and not own and review.start_line:
            file, _ = place_of(row, "")
            after = text.split("\n")[review.end_line :]
            near = (n for n, line in enumerate(after, review.end_line + 1) if file and file in line)
            lines = review_sections.around(text, next(near, row.line))
            return f"(no section of its own; these lines stand around it)\n{lines}"
    return ""


def unread(text: str, wanted: str, max_tokens: int) -> str:
    """Return the headings of a file without readable findings, and the nearest section."""
    headings = "\n".join(f"{number}: {title}" for number, title in review_sections.headings(text))
    section = review_sections.nearest(text, wanted) if wanted else text.strip()
    parts = [part for part in (headings, section) if part]
    return tokens.clip("\n\n".join(parts), max_tokens, " … (cut)")


class Size(Record):
    """What reading an agent takes, in tokens: in full, its P0 and P1, its index, and its line."""

    id: str
    full: int
    serious: int
    index: int
    line: int


def sizes(readings: Iterable[Reading]) -> tuple[list[Size], list[str]]:
    """Return the size of each agent's file, and the agents that left nothing readable.

    A file without readable findings has to be read in full: its findings and index cost the same.
    """
    measured, unread = [], []
    for reading in readings:
        full = tokens.estimate(reading.text)
        serious = _shown("", reading, vocabulary.SERIOUS)
        sections = tokens.estimate("\n\n".join(map(rendered, serious)))
        rows = tokens.estimate("\n".join(index_rows(reading.review)))
        if not reading.is_read:
            unread.append(reading.agent)
            sections = rows = full
        line = tokens.estimate(f"{reading.status}\t{reading.agent}\t{reading.summary}")
        measured.append(Size(id=reading.agent, full=full, serious=sections, index=rows, line=line))
    return measured, unread


def report(asked: Asked, agent: str) -> str:
    """Return the path of an agent's file in a folder. Raises ContextError if it left none."""
    path = agent_files.agent_file(asked.folder, agent)
    if not os.path.isfile(path) or os.path.islink(path):  # a link shows another file
        raise ContextError(f"{agent}: left no file of its own here")
    return path


def detail(layout: Layout, agent: str, store: str = "") -> str:
    """Return the file that an agent's verdict names. Raises ContextError if outside the root."""
    entry = verdict_files.load(layout, agent, store)
    if entry is None:
        raise ContextError(f"{agent}: this agent has no verdict")
    path = str(entry.get("detail_path") or "")
    if not path or os.path.isabs(path) or ".." in path.split("/"):
        raise bad_input(f"{agent}: its detail path {path[:80]!r} is refused: not inside the root")
    full = files.inside(layout.root, layout.join(path), "detail_path")
    if not os.path.isfile(full):
        raise ContextError(f"{path}: the report of {agent} no longer exists")
    return full
