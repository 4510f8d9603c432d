"""The part of a review to read for one finding, and its index in the strict form.

A finding's section begins where its id stands highest in the body, else where the place that its
row names is taken up, or a heading says most of its title; a row without any has only itself.
"""

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

    Span = tuple[int, int]  # first and last line, from 1

_ALIKE, _RARE = 0.35, 0.15  # how alike a title and a heading must be; what a rare word adds
_GENERAL = frozenset(
    "finding findings critical high medium major minor impact issue violation".split()
)
_LINES = 3  # of a block in which its place is named
_PLAIN = 7  # the rank of what begins without a heading


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
    body = _Body(text)
    return {finding: body.section(finding) for finding in findings}


def headings(text: str) -> list[tuple[int, str]]:
    """Line and title of every heading."""
    return [(number, review_lines.plain(title)) for number, _, title in _Body(text).headings]


def nearest(text: str, wanted: str) -> str:
    """The section below the heading that says most of `wanted`; empty where none says any."""
    body = _Body(text)
    words = _words(wanted)
    found = [(len(words & _words(title)), -number, title) for number, _, title in body.headings]
    shared, _, title = max(found, default=(0, 0, ""))
    return body.section(title) if shared else ""


class _Body:
    """The blocks of one review, and which of them belongs to which finding."""

    def __init__(self, text: str) -> None:
        blocks: list[Block] = []
        collected = Issues()
        self.headings: list[tuple[int, int, str]] = []
        for number, level, line in index.walk(text, blocks):
            collected.take(number, level, line)
            if level > 0:
                self.headings.append((number, level, line))
        self._lines = [line for _, line in review_lines.numbered(text)]
        self._last = len(self._lines)
        issues = collected.finish(self._last)
        headings = [(number, level, _key(title)) for number, level, title in self.headings]
        self._spans = _below(headings, self._last)
        self._spans |= {_key(each.id): (each.first, each.last) for each in issues if each.id}
        starts = {number: level for number, level, _ in self.headings}
        starts = {each.first: each.rank for each in issues} | starts
        review = agent_review.parse(text)
        self._places = self._of_findings(review, starts)

    def section(self, finding: str) -> str:
        """The lines of a finding or below a heading, without what only ends them."""
        key = _key(finding)
        first, last = self._places.get(key) or self._spans.get(key, (1, 0))
        kept = self._lines[first - 1 : last]
        while kept and (not kept[-1].strip() or is_mark(kept[-1].strip())):
            kept.pop()
        return "\n".join(kept)

    def _of_findings(self, review: Review, starts: dict[int, int]) -> dict[str, Span]:
        """For each finding, first and last line: up to the next finding, or heading of its rank."""
        begins: dict[str, int] = {}
        homeless: list[tuple[str, Finding]] = []
        seen: dict[str, int] = {}
        for finding in review.findings:
            key = _key(finding.id)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = f"{key}({seen[key]})"
            if key in self._spans:
                begins[key] = self._spans[key][0]
            elif not review.start_line:
                begins[key] = finding.line
            else:
                homeless.append((key, finding))
        taken = set(begins.values())
        free = {n: rank for n, rank in starts.items() if n not in taken and n > review.end_line}
        begins |= self._matched(homeless, free)
        stops = sorted(begins.values())
        found: dict[str, Span] = {}
        for key, first in begins.items():
            rank = starts.get(first, _PLAIN)
            nexts = [n for n, level in starts.items() if n > first and level <= rank]
            nexts += [n for n in stops if n > first]
            found[key] = (first, min(nexts, default=self._last + 1) - 1)
        found |= {key: (f.line, f.line) for key, f in homeless if key not in found}
        found.pop("", None)
        return found

    def _matched(self, rows: list[tuple[str, Finding]], free: dict[int, int]) -> dict[str, int]:
        """For rows without a section of their own id, where the body takes them up, if it does.

        By the place that both name; else by the words that both share, the rarer the better.
        Each block belongs to one row at most.
        """
        heads = {number: self._lines[number - 1] for number in free}
        common: dict[str, int] = {}
        for text in [*heads.values(), *(finding.title for _, finding in rows)]:
            for word in _words(text):
                common[word] = common.get(word, 0) + 1
        pairs = []
        for key, finding in rows:
            for number, head in heads.items():
                score = _likeness(_words(finding.title), _words(head), common)
                near = " ".join(self._lines[number - 1 : number - 1 + _LINES])
                score += sum(2.0 for place in _places(finding.title) if place in near)
                pairs.append((score, -number, key))
        found: dict[str, int] = {}
        for score, number, key in sorted(pairs, reverse=True):
            if score >= _ALIKE and key not in found and -number not in found.values():
                found[key] = -number
        return found


def _likeness(one: set[str], other: set[str], common: dict[str, int]) -> float:
    """How alike two sets of words are, 0 to 1; more where they share a word that is rare."""
    shared = one & other
    if not shared:
        return 0.0
    rare = any(common[word] == 2 for word in shared)
    alike: float = len(shared) / (len(one) * len(other)) ** 0.5
    return alike + (_RARE if rare else 0.0)


def _words(text: str) -> set[str]:
    plain = "".join(char if char.isalnum() else " " for char in text.lower())
    words = [word for word in plain.split() if len(word) > 3 or any(map(str.isdigit, word))]
    return {word for word in words if word not in _GENERAL and not word.isdigit()}


def _places(title: str) -> list[str]:
    """`app.py:20-22` and its like in a title, without what is added to them."""
    words = [word.strip("`*[](),;") for word in title.split()]
    return [word.partition("+")[0] for word in words if ":" in word and word[-1:].isdigit()]


def _key(text: str) -> str:
    return review_lines.plain(text).strip("*_`[]# ").upper()


def _below(headings: list[tuple[int, int, str]], last: int) -> dict[str, Span]:
    """For each heading, its line and the last one before the next of its rank or above."""
    found: dict[str, Span] = {}
    still_open: list[tuple[int, int, str]] = []
    for number, level, key in [*headings, (last + 1, 0, "")]:
        while still_open and still_open[-1][1] >= level:
            first, _, name = still_open.pop()
            found[name] = (first, number - 1)
        still_open.append((number, level, key))
    return found


def index_rows(review: Review) -> list[str]:
    """The index in its strict form, its verdict the stricter of stated and derived.

    Of research the sources and the headings of its findings; none where nothing was read.
    """
    if review.type == "research":
        sources = [f"- Source | {names.one_line(source)}" for source in review.sources]
        return [*sources, *(f"- Finding | {names.one_line(f.title)}" for f in review.findings)]
    if review.validation == "missing" or not (review.findings or review.start_line):
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
