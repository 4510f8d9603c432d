"""What follows from one agent's file: its status, its line, and what is worth opening; pure."""

from __future__ import annotations

from contextkit.base import names
from contextkit.reviews.documents import agent_review, headers
from contextkit.reviews.documents.agent_review import Finding, Review
from contextkit.reviews.documents.headers import Header

SEVERITIES = ("P0", "P1", "P2", "P3", "IMP")
_UNREAD = "no readable Findings Index: read the file"
_SUMMARY = 120  # characters of the line that says what an agent found


def is_work(review: Review, header: Header | None) -> bool:
    """Whether a file reports on work done, by its eight-line header, and is no review."""
    lines = header is not None and header.form == "lines" and header.type == "implementation"
    return lines and review.validation == "malformed"


def validation(review: Review, header: Header | None) -> str:
    return "valid" if is_work(review, header) else review.validation


def status(review: Review, header: Header | None) -> tuple[str, tuple[str, ...]]:
    """The stricter of what the index says and what the agent's header says beside it.

    A report on work has no index; its header is all there is, and is checked by tests, not by us.
    """
    status, flags = agent_review.status(review)
    if header is None:
        return status, flags
    if is_work(review, header):
        return header.status, header.flags
    order = headers.STATUSES
    stricter = max(status, header.status, key=order.index)
    agree = stricter == status and (header.passes() or not agent_review.is_doubted(review))
    return stricter, flags if agree else ("header_mismatch", *flags)


def derived(review: Review) -> str:
    """The verdict that the rows demand; empty where no rows could be read."""
    said = {"malformed": "", "missing": "error", "error": "error"}
    return said.get(review.validation, agent_review.derived(review.findings))


def counts(review: Review) -> dict[str, int]:
    return {s: sum(f.severity == s for f in review.findings) for s in SEVERITIES}


def summary_of(review: Review, header: Header | None, there: bool, partial: bool) -> str:
    """What the agent found, in a line made from its rows; its own words only where it has none."""
    said = ", ".join(f"{n} {severity}" for severity, n in counts(review).items() if n)
    if review.validation == "missing":
        text = "left an empty file" if there else "left no file"
    elif review.type == "research":
        text = _research(review)
    elif review.validation == "error":
        text = "its file reports an error"
    elif review.validation == "malformed":
        own = header.summary if header else ""
        text = own or (f"{said}, read without an index" if said else _UNREAD)
    else:
        text = said or "no findings"
    worst = next(iter(by_severity(review)), None)
    if worst and worst.severity in ("P0", "P1"):
        text += f": {worst.title}"
    text = ("unfinished: " if partial else "") + names.one_line(text)
    return names.clipped(text, _SUMMARY)


def _research(review: Review) -> str:
    """`7 findings, 29 sources: the first finding`."""
    counts = f"{len(review.findings)} findings, {len(review.sources)} sources"
    return f"{counts}: {review.findings[0].title}" if review.findings else "research report"


def worth_opening(review: Review | None) -> tuple[str, ...]:
    """The ids of what is severe or was not understood, ten at most."""
    found = by_severity(review) if review else []
    return tuple(f.id for f in found if f.id and f.severity in ("P0", "P1", ""))[:10]


def by_severity(review: Review) -> list[Finding]:
    """Findings to read first; one whose severity was not understood comes after P0 and P1."""
    order = ("P0", "P1", "", "P2", "P3", "IMP")
    return sorted(review.findings, key=lambda finding: order.index(finding.severity))
