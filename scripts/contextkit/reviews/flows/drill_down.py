"""Drill-downs: the part of an agent's file that is worth reading, instead of all of it."""

from __future__ import annotations

import os
from collections import Counter

from contextkit.base import files, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable
from contextkit.reviews.documents import agent_review, vocabulary
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import row_of
from contextkit.reviews.flows import agent_files, synthesis
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.synthesis import MergedFinding, Row, rows_of


def index(run: str, readings: Iterable[Reading], severities: tuple[str, ...] = ()) -> list[Row]:
    """The normalized rows of every index, or those with some severities, or that it is unread."""
    rows = []
    for reading in readings:
        findings = iter(rows_of(reading, run))
        for kind, line in _rows(reading.review) or [("none", "(no Findings Index)")]:
            shown = names.one_line(line)
            title = shown.partition(" | ")[2] if kind == "source" else ""
            other = Row(run=run, agent=reading.agent, id=kind, title=title, kind=kind)
            row = next(findings) if kind == "finding" else other
            rows.append(row.replace(row=shown))
    if not severities:
        return rows
    return [row for row in rows if row.kind == "finding" and row.severity in severities]


def index_rows(review: Review) -> list[str]:
    """The index in strict form, with the stricter verdict; for research, sources and headings."""
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


def severities_of(typed: tuple[str, ...]) -> tuple[str, ...]:
    """Return severities for words such as `high`, strictest first. Raises ContextError."""
    by_word = {word: vocabulary.severity(word) for word in typed}
    for word, severity in by_word.items():
        if not severity:
            every = ", ".join(vocabulary.SEVERITIES)
            raise bad_input(f"severity: {word[:40]!r} is not a severity: give some of {every}")
    return tuple(s for s in vocabulary.SEVERITIES if s in by_word.values())


def of_run(
    run: str, readings: Iterable[Reading], severities: tuple[str, ...]
) -> tuple[list[MergedFinding], list[str]]:
    """The findings with one of `severities` as in a synthesis; the agents that left nothing.

    Those of unknown severity come after P0 and P1, and with them.
    """
    sources = list(readings)
    wanted = (*severities, "") if "P1" in severities else severities
    findings = [each for each in synthesis.combined(sources, run) if each.severity in wanted]
    return findings, [source.agent for source in sources if not source.is_read]


def rendered(finding: MergedFinding, dismissed: str = "") -> str:
    """`P0 fd-safety/P0-1 src/app.py:42 Title`, with all agents' keys, and what is worth reading.

    `dismissed` says why, if it is.
    """
    first, keys = finding.rows[0], ", ".join(row.key for row in finding.rows)
    title = finding.short_title
    head = f"{finding.mark} {keys} {finding.place_beside(title)} {title}"
    text = review_sections.excerpt(first.text or first.title, first.title)
    mark = f"({dismissed})" if dismissed else ""
    return "\n".join(filter(None, (names.one_line(head), mark, text)))


def fitting(findings: list[MergedFinding], max_tokens: int, dismissed: dict[str, str]) -> list[str]:
    """Return the leading findings that fit into `max_tokens`, but at least one, as text."""
    room = max_tokens
    texts: list[str] = []
    for finding in findings:
        text = rendered(finding, dismissed.get(finding.key, ""))
        room -= tokens.estimate(text) + 1
        if room < 0 and texts:
            break
        texts.append(text)
    return texts


def shown(
    text: str, finding: str, max_tokens: int, dismissed: dict[str, str] | None = None
) -> tuple[str, list[str]]:
    """The section of one finding, or of the most severe, within `max_tokens`, or ''; all ids.

    `dismissed` maps the ids of findings that are dismissed to why.
    """
    review = agent_review.parse(text)
    times: Counter[str] = Counter()
    keyed = []
    for row in review.findings:
        times[row.id] += 1
        again = f"({times[row.id]})" if times[row.id] > 1 else ""
        keyed.append(row.replace(id=row.id + again))
    ids = [row.id for row in agent_files.by_severity(review.replace(findings=tuple(keyed)))]
    wanted = [finding] if finding else ids
    sections = review_sections.sections(text, wanted, review)
    parts: list[str] = []
    room = max_tokens
    for identity in wanted:
        section = sections[identity]
        if finding and section:
            section = "\n\n".join(
                filter(None, (section, review_sections.around(text, review, finding)))
            )
        if not section or room < 1:
            break
        if why := (dismissed or {}).get(identity):
            section = f"({why})\n{section}"
        if parts and tokens.estimate(section) > room:
            break
        parts.append(tokens.clip(section, room, " … (cut)"))
        room -= tokens.estimate(parts[-1])
    return "\n\n".join(parts), ids


def unread(text: str, wanted: str, max_tokens: int) -> str:
    """Return the headings of a file without readable findings, and the nearest section."""
    return tokens.clip(review_sections.unread(text, wanted), max_tokens, " … (cut)")


def sizes(readings: Iterable[Reading]) -> tuple[list[dict[str, Any]], list[str]]:
    """The tokens of each agent in full, its P0 and P1, its index, its line; who is unread."""
    measured, unread = [], []
    for reading in readings:
        texts = {
            "full": reading.text,
            "serious": "\n\n".join(map(rendered, of_run("", [reading], vocabulary.SERIOUS)[0])),
            "index": "\n".join(index_rows(reading.review)),
            "line": f"{reading.status}\t{reading.agent}\t{reading.summary}",
        }
        if not reading.is_read:
            unread.append(reading.agent)
            texts |= dict.fromkeys(("serious", "index"), reading.text)
        sizes = {name: tokens.estimate(text) for name, text in texts.items()}
        measured.append({"id": reading.agent, **sizes})
    return measured, unread


def report(asked: Asked, agent: str) -> str:
    """Return the path of an agent's file in a folder. Raises ContextError if it left none."""
    path = agent_files.agent_file(asked.folder, agent)
    if not os.path.isfile(path) or os.path.islink(path):  # a link shows another file
        raise ContextError(f"{agent}: left no file of its own here")
    return path


def detail(layout: Layout, agent: str, store: str = "") -> str:
    """Return the file that an agent's verdict names, put back if its session has ended.

    Raises ContextError if it is outside the root, or gone.
    """
    entry = verdict_files.load(layout, agent, store)
    if entry is None:
        raise ContextError(f"{agent}: this agent has no verdict")
    path = verdict_files.report(layout, entry)
    if not path:
        raise ContextError(f"{agent}: left no report, only this: {entry['summary']}")
    if os.path.isabs(path) or ".." in path.split("/"):
        raise bad_input(f"{agent}: its detail path {path[:80]!r} is refused: not inside the root")
    full = files.inside(layout.root, layout.join(path), "detail_path")
    if not os.path.isfile(full):
        from contextkit.payloads.flows import retrieval

        full = retrieval.find(layout, path, "", names.now())
    return full
