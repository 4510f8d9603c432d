"""The part of a review to read for one finding, and its index in the strict form."""

from __future__ import annotations

from contextkit.base import names
from contextkit.reviews.documents import agent_review, index, vocabulary
from contextkit.reviews.documents import lines as review_lines
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.issues import Issues, is_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from contextkit.reviews.documents.index import Block


def issues(text: str) -> list[tuple[str, str, int, int]]:
    """Id, severity, first and last line of everything that looks like an issue, in order."""
    collected = Issues()
    for line in index.walk(text, []):
        collected.take(*line)
    found = collected.finish(text.count("\n") + 1)
    return [(each.id, each.severity, each.first, each.last) for each in found]


def section(text: str, finding: str) -> str:
    """The section of the finding with this id, or below this heading; the index's row if none.

    Empty when there is neither.
    """
    return sections(text, [finding])[finding]


def sections(text: str, findings: Iterable[str]) -> dict[str, str]:
    """As `section`, of many findings in one go: reading the text costs once, not once for each."""
    blocks: list[Block] = []
    collected = Issues()
    headings: list[tuple[int, int, str]] = []
    for number, level, line in index.walk(text, blocks):
        collected.take(number, level, line)
        if level > 0:
            headings.append((number, level, _key(line)))
    last = text.count("\n") + 1
    places = {_key(row.id): (row.line, row.line) for block in blocks for row in block.rows}
    places |= _below(headings, last)
    places |= {_key(each.id): (each.first, each.last) for each in collected.finish(last)}
    places.pop("", None)
    lines = [line for _, line in review_lines.numbered(text)] if places else []
    return {finding: _cut(lines, *places.get(_key(finding), (1, 0))) for finding in findings}


def _key(text: str) -> str:
    return text.strip("*_`[]()# ").upper()


def _below(headings: list[tuple[int, int, str]], last: int) -> dict[str, tuple[int, int]]:
    """For each heading, its line and the last one before the next of its rank or above."""
    found: dict[str, tuple[int, int]] = {}
    still_open: list[tuple[int, int, str]] = []
    for number, level, key in [*headings, (last + 1, 0, "")]:
        while still_open and still_open[-1][1] >= level:
            first, _, name = still_open.pop()
            found[name] = (first, number - 1)
        still_open.append((number, level, key))
    return found


def _cut(lines: list[str], first: int, last: int) -> str:
    """Lines `first` to `last`, without the rules, comments and blank lines at their end."""
    kept = lines[first - 1 : last]
    while kept and (not kept[-1].strip() or is_mark(kept[-1].strip())):
        kept.pop()
    return "\n".join(kept)


def index_rows(review: Review) -> list[str]:
    """The index in its strict form, its verdict the stricter of stated and derived.

    Of research the sources and the headings of its findings; none where there is no index.
    """
    if review.type == "research":
        sources = [f"- Source | {names.one_line(source)}" for source in review.sources]
        return [*sources, *(f"- Finding | {names.one_line(f.title)}" for f in review.findings)]
    if review.validation in ("missing", "malformed"):
        return []
    verdict = agent_review.derived(review.findings)
    if review.stated:
        verdict = max(verdict, review.stated, key=vocabulary.VERDICTS.index)
    if verdict == "safe" and agent_review.status(review)[0] != "CLEAN":
        verdict = "needs-changes"
    return [*(row_of(finding) for finding in review.findings), f"Verdict: {verdict}"]


def row_of(finding: Finding) -> str:
    """A finding as a strict row; `?` for a severity that was not understood."""
    more = "".join(f" | {field}" for field in finding.extra)
    row = f'- {finding.severity or "?"} | {finding.id} | "{finding.section}" | {finding.title}'
    return names.one_line(row + more)
