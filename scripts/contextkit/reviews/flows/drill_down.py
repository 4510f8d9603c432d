"""Drill-downs: the part of an agent's file that is worth reading, instead of all of it."""

from __future__ import annotations

import itertools
import os

from contextkit.base import files, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable
from contextkit.reviews.documents import agent_review, vocabulary
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import row_of
from contextkit.reviews.flows import agent_files, history, synthesis
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.synthesis import MergedFinding, Row, rows_of
from contextkit.text.fitting import leading


def index(
    layout: Layout, asked: Asked, severities: tuple[str, ...] = (), only: str = ""
) -> list[dict[str, Any]]:
    """The rows of every index in strict form, or those of some severities, as data for programs.

    Each has its kind: finding, verdict, source (research), or none, for an index not read.
    """
    run, rows = asked.run, []
    active = history.in_force(layout, run) if run else []
    for reading in agent_files.read(layout, asked, only):
        findings = rows_of(reading, asked.run_id)
        gone = history.hidden(run, findings, active) if run else {}
        numbered = iter(enumerate(findings))
        for kind, line in index_rows(reading.review) or [("none", "(no Findings Index)")]:
            shown, number = names.one_line(line), -1
            title = shown.partition(" | ")[2] if kind == "source" else ""
            row = Row(run=asked.run_id, agent=reading.agent, id=kind, title=title)
            if kind == "finding":
                number, row = next(numbered)
            status = "dismissed" if number in gone else ""
            shown = f"{shown} | {status}" if status else shown
            if not severities or (kind == "finding" and row.severity in severities):
                more = {"kind": kind, "row": shown, "status": status, "ref": row.ref}
                rows.append(row.public() | more)
    return rows


def index_rows(review: Review) -> list[tuple[str, str]]:
    """(kind, line) of the index in strict form, with the stricter verdict.

    For research it has sources and headings.
    """
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
    """Severities for words such as `high`, strictest first. Raises ContextError."""
    by_word = {word: vocabulary.severity(word) for word in typed}
    if odd := [word for word, severity in by_word.items() if not severity]:
        every = ", ".join(vocabulary.SEVERITIES)
        raise bad_input(f"severity: {odd[0][:40]!r} is not a severity: give some of {every}")
    return tuple(s for s in vocabulary.SEVERITIES if s in by_word.values())


def of_run(
    run: str, readings: Iterable[Reading], severities: tuple[str, ...]
) -> tuple[list[MergedFinding], list[str]]:
    """The findings of `severities` as in a synthesis, and the agents that left nothing.

    Those of unknown severity come after P0 and P1, and with them.
    """
    sources = list(readings)
    wanted = (*severities, "") if "P1" in severities else severities
    findings = [each for each in synthesis.combined(sources, run) if each.severity in wanted]
    return findings, [source.agent for source in sources if not source.is_read]


def rendered(finding: MergedFinding, dismissed: str = "") -> str:
    """`P0 fd-safety/P0-1 src/app.py:42 Title`, with all agents' keys, and what is worth reading.

    `dismissed` is the reason, if it is dismissed.
    """
    keys, title = ", ".join(row.key for row in finding.rows), finding.short_title
    head = f"{finding.mark} {keys} {finding.place_beside(title)} {title}"
    text = review_sections.excerpt(finding.text or finding.title, finding.title)
    mark = f"({dismissed})" if dismissed else ""
    fixes = (f"Another fix, {key}: {fix}" for key, fix in finding.fixes if key != finding.key)
    return "\n".join(filter(None, (names.one_line(head), mark, text, *fixes)))


def fitting(findings: list[MergedFinding], max_tokens: int, dismissed: dict[str, str]) -> list[str]:
    """The leading findings that fit into `max_tokens`, but at least one, as text."""
    made = (rendered(finding, dismissed.get(finding.key, "")) for finding in findings)
    texts, measured = itertools.tee(made)
    return list(itertools.islice(texts, max(1, leading(measured, max_tokens))))


def shown(
    text: str, finding: str, max_tokens: int, dismissed: dict[str, str] | None = None
) -> tuple[str, list[str]]:
    """The section of one finding (by default the most severe) in `max_tokens`, or ''; all ids.

    `dismissed` maps the ids of dismissed findings to the reasons.
    """
    review = agent_review.parse(text)
    ids = [row.key for row in agent_files.by_severity(review)]
    wanted = [finding] if finding else ids
    sections = review_sections.sections(text, wanted, review)
    told = []
    for identity in itertools.takewhile(sections.__getitem__, wanted):
        why = (dismissed or {}).get(identity)
        around = review_sections.around(text, review, identity) if finding else ""
        part = "\n\n".join(filter(None, (sections[identity], around)))
        told.append(f"({why})\n{part}" if why else part)
    fit = told[: leading(told, max_tokens)]
    fit = fit or [tokens.clip(section, max_tokens, " … (cut)") for section in told[:1]]
    return "\n\n".join(fit), ids


def unread(text: str, wanted: str, max_tokens: int) -> str:
    """The headings of a file without readable findings, and the nearest section."""
    return tokens.clip(review_sections.unread(text, wanted), max_tokens, " … (cut)")


def sizes(readings: Iterable[Reading]) -> tuple[list[dict[str, Any]], list[str]]:
    """The tokens of each agent in full, in its P0 and P1, index, and line; and the unread ones."""
    measured, unread = [], []
    for reading in readings:
        texts = {
            "full": reading.text,
            "serious": "\n\n".join(map(rendered, of_run("", [reading], vocabulary.SERIOUS)[0])),
            "index": "\n".join(line for _, line in index_rows(reading.review)),
            "line": f"{reading.status}\t{reading.agent}\t{reading.summary}",
        }
        if not reading.is_read:
            unread.append(reading.agent)
            texts |= dict.fromkeys(("serious", "index"), reading.text)
        sizes = {name: tokens.estimate(text) for name, text in texts.items()}
        measured.append({"id": reading.agent, **sizes})
    return measured, unread


def detail(layout: Layout, agent: str) -> str:
    """The file that an agent's verdict names, put back if its session has ended.

    Raises ContextError if it is outside the root, or gone.
    """
    entry = verdict_files.load(layout, agent)
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
