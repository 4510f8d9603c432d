"""The parts of an agent's review: the section of one finding, and what is wrong line by line.

    ### Findings Index ... Verdict: risky      review_index.py
    ### Summary
    ### Issues Found
    #### P0-1. P0: Title                       an issue: from here to the next of its rank
    **Severity:** P0

The strict form, which `check` holds a file to, is what we ask agents for; `issues` and `section`
read whatever they write instead.
"""

from __future__ import annotations

from contextkit import names, review_index, review_lines
from contextkit.review_index import Block
from contextkit.review_lines import SERIOUS, Finding, Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews import Review

    Complaint = tuple[int, str, str]  # line number, what is wrong, how the line should read

HEADING = "### Findings Index"
_BOLD, _LISTED = 7, 8  # ranks below those of the headings, 1 to 6
_RESEARCH = ("Sources", "Findings", "Confidence", "Gaps")
_ROW = '- P0|P1|P2|P3|IMP | ID | "Section" | Title'


class Issue:
    """What the review says about one finding outside the index; `last` is set by what follows."""

    def __init__(self, rank: int, identity: str, severity: str, first: int) -> None:
        self.rank, self.id, self.severity, self.first = rank, identity, severity, first
        self.last = first


class Issues:
    """Collects issues from the lines outside the index, given one after the other."""

    def __init__(self) -> None:
        self.found: list[Issue] = []
        self._open: list[Issue] = []
        self._promised: Issue | None = None  # `### P0 Issues`: an issue if anything is below it

    def take(self, number: int, level: int, text: str) -> None:
        if level < 0:
            return
        issue, is_group = _issue(number, level, text)
        if self._promised and not _is_mark(text):
            self._decide(self._promised, level, text, issue)
        if issue or level:
            self._end(number - 1, issue.rank if issue else level)
        if issue:
            self.found.append(issue)
            self._open.append(issue)
            self._promised = issue if is_group else None
        elif self._open:
            _add_severity(self._open[-1], text)

    def _decide(self, group: Issue, level: int, text: str, issue: Issue | None) -> None:
        """Whether a heading such as `### P0 Issues` stands for an issue, by the line after it."""
        self._promised = None
        empty = review_lines.says_nothing(review_lines.unbulleted(text)[0])
        if empty or issue or 0 < level <= group.rank:
            self.found.pop()
            self._open.pop()

    def _end(self, last: int, rank: int) -> None:
        while self._open and self._open[-1].rank >= rank:
            self._open.pop().last = last

    def finish(self, last: int) -> list[Issue]:
        """All issues; one with an id only once, where it stands highest."""
        if self._promised:
            self.found.pop()
        self._end(last, 0)
        best: dict[str, Issue] = {}
        for issue in self.found:
            key = issue.id.upper() or f" {issue.first}"
            there = best.setdefault(key, issue)
            severity = review_lines.strictest(there.severity, issue.severity)
            if issue.rank < there.rank:
                best[key] = issue
            best[key].severity = severity
        return list(best.values())


def _issue(number: int, level: int, text: str) -> tuple[Issue | None, bool]:
    """The issue that a line begins, if it does, and whether it is only the head of a group."""
    bare, _ = review_lines.unbulleted(text)
    if level == 0 and "|" in text:
        raw, identity, *_ = [*review_index.cells(bare), "", ""]
        severity = review_lines.severity(raw)
        if not severity or not review_lines.is_id(identity):
            return None, False
        carried = review_lines.severity_of_id(identity)
        return Issue(_LISTED, identity, review_lines.strictest(severity, carried), number), False
    named = level > 0 and bare[:8].lower() in ("finding ", "finding:")
    head = Head(bare[8:] if named else bare)
    if level == 0:
        is_bold = bare[:2] == "**"
        known = head.severity or (head.id and is_bold)
        if not (head.marked and known) or (not head.id and review_lines.says_nothing(head.title)):
            return None, False
        return Issue(_BOLD if is_bold else _LISTED, head.id, head.severity, number), False
    identity = head.id or (review_lines.plain(bare[8:]).partition(":")[0] if named else "")
    severity = review_lines.strictest(head.severity, _in_brackets(bare))
    severity = severity or review_index.label_of(bare)
    if not (identity or severity):
        return None, False
    return Issue(level, identity, severity, number), not identity


def _in_brackets(title: str) -> str:
    """The severity at the end of a heading: `Race in the writer (P0)`, `… (Blind Spot, P1)`."""
    if title[-1:] not in (")", "]"):
        return ""
    start = max(title.rfind("("), title.rfind("["))
    words = title[start + 1 : -1].upper().replace(",", " ").split() if start >= 0 else []
    return review_lines.strictest(*words)


def _add_severity(issue: Issue, text: str) -> None:
    """Take in a line such as `**Severity:** P1 — why`."""
    if "everity" not in text[:20]:
        return
    label, value = review_lines.labelled(text)
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - "):
        value = value.partition(mark)[0]
    severity = review_lines.severity(value) if label == "SEVERITY" else ""
    if not issue.severity or severity in SERIOUS:
        issue.severity = review_lines.strictest(issue.severity, severity)


def _is_mark(text: str) -> bool:
    return not text.strip("-=_* ") or review_lines.is_comment(text)


# For one finding


def issues(text: str) -> list[tuple[str, str, int, int]]:
    """Id, severity, first and last line of everything that looks like an issue, in order."""
    collected, last = Issues(), 0
    for line in review_index.walk(text, []):
        collected.take(*line)
    last = text.count("\n") + 1
    return [(each.id, each.severity, each.first, each.last) for each in collected.finish(last)]


def section(text: str, finding: str) -> str:
    """The section of the finding with this id, or below this heading; the index's row if none.

    Empty when there is neither.
    """
    wanted = finding.strip("*_`[]() ").upper()
    for identity, _, first, last in issues(text) if wanted else ():
        if identity.upper() == wanted:
            return _cut(text, first, last)
    blocks: list[Block] = []
    first, rank = 0, 0
    for number, level, line in review_index.walk(text, blocks):
        if first and 0 < level <= rank:
            return _cut(text, first, number - 1)
        if wanted and level > 0 and not first and review_lines.plain(line).upper() == wanted:
            first, rank = number, level
    if first:
        return _cut(text, first, len(text))
    rows = (row for block in blocks for row in block.rows if row.id.upper() == wanted != "")
    return next((_cut(text, row.line, row.line) for row in rows), "")


def _cut(text: str, first: int, last: int) -> str:
    """Lines `first` to `last`, without the rules, comments and blank lines at their end."""
    kept = []
    for number, line in review_lines.numbered(text):
        if number > last:
            break
        if number >= first:
            kept.append(line)
    while kept and (not kept[-1].strip() or _is_mark(kept[-1].strip())):
        kept.pop()
    return "\n".join(kept)


def index_rows(review: Review) -> list[str]:
    """The index in its strict form; of research its sources and the headings of its findings."""
    if review.type == "research":
        sources = [f"- Source | {names.one_line(source)}" for source in review.sources]
        return [*sources, *(f"- Finding | {names.one_line(f.title)}" for f in review.findings)]
    verdict = review.stated if review.stated not in ("", "safe") else derived(review.findings)
    stricter = max(verdict, derived(review.findings), key=review_lines.VERDICTS.index)
    return [*(row_of(finding) for finding in review.findings), f"Verdict: {stricter}"]


def row_of(finding: Finding) -> str:
    """A finding as a strict row; `?` for a severity that was not understood."""
    more = "".join(f" | {field}" for field in finding.extra)
    row = f'- {finding.severity or "?"} | {finding.id} | "{finding.section}" | {finding.title}'
    return names.one_line(row + more)


def derived(findings: tuple[Finding, ...]) -> str:
    """The verdict that the severities demand; agents do not choose it."""
    severities = {finding.severity for finding in findings}
    return "risky" if "P0" in severities else "needs-changes" if "P1" in severities else "safe"


# Against the strict form


def check(text: str) -> list[Complaint]:
    """What keeps an agent's file from the strict form, by line; empty when nothing does."""
    blocks: list[Block] = []
    collected = Issues()
    found: list[Complaint] = []
    first, titles = 0, []
    for number, level, line in review_index.walk(text, blocks):
        first = first or (0 if review_lines.is_comment(line) else number)
        collected.take(number, level, line)
        if level > 0:
            titles.append(review_lines.plain(line).lower())
        elif level == review_lines.UNCLOSED:
            found.append((number, "this code fence is never closed", line))
    last = text.rstrip().count("\n") + 1
    missing = [name for name in _RESEARCH if name.lower() not in titles]
    if not blocks and len(missing) < 3:
        return found + [(last, f"the section {name} is missing", f"### {name}") for name in missing]
    if not blocks:
        return [(1, "there is no Findings Index", HEADING), *found]
    if first and first < blocks[0].start:
        found.append((blocks[0].start, "the index is not the first block of the file", HEADING))
    for block in blocks[1:]:
        found.append((block.start, "a second index: one file has one", ""))
    rows = tuple(row for block in blocks for row in block.rows)
    raw = _raw_lines(text, blocks)
    for block in blocks:
        found += _of_block(block, raw, derived(rows))
    found += _of_issues(rows, collected.finish(last), last)
    if any(row.severity not in ("", "IMP") for row in rows):
        for name in ("summary", "issues"):
            if not any(title.startswith(name) for title in titles):
                heading = "### Summary" if name == "summary" else "### Issues Found"
                found.append((last, "the section is missing", heading))
    return sorted(found)


def _raw_lines(text: str, blocks: list[Block]) -> dict[int, str]:
    wanted = {number for block in blocks for number in range(block.start, block.end + 1)}
    return {number: line for number, line in review_lines.numbered(text) if number in wanted}


def _of_block(block: Block, raw: dict[int, str], verdict: str) -> list[Complaint]:
    """The heading, each row, the verdict, and whatever else stands in an index."""
    found: list[Complaint] = []
    if raw[block.start] != HEADING:
        found.append((block.start, "this is not the heading", HEADING))
    rows = {row.line: row for row in block.rows}
    verdicts = dict(block.verdicts)
    counts: dict[str, int] = {}
    for number in range(block.start + 1, block.end + 1):
        line, row = raw[number], rows.get(number)
        if row and row.severity and row.title:
            counts[row.severity] = counts.get(row.severity, 0) + 1
            full = row.replace(id=row.id or f"{row.severity}-{counts[row.severity]}")
            if line != row_of(full.replace(section=row.section or "Section")):
                should = row_of(full.replace(section=row.section or "Section"))
                found.append((number, _fault(row), should))
        elif number in block.unparsed:
            found.append((number, "this line is not understood", _ROW))
        elif number in verdicts:
            if line != f"Verdict: {verdict}":
                what = f"the findings make it {verdict}, in exactly this form"
                found.append((number, what, f"Verdict: {verdict}"))
        elif line.strip():
            found.append((number, "only rows and the verdict belong into the index", ""))
    if not verdicts:
        found.append((block.end, "the verdict is missing after this line", f"Verdict: {verdict}"))
    return found


def _fault(row: Finding) -> str:
    if not row.id:
        return "the row has no id"
    if row.raw_severity not in (row.severity, ""):
        return f"the severity is {row.severity}, not {row.raw_severity!r}"
    return "the row is not in the form"


def _of_issues(rows: tuple[Finding, ...], there: list[Issue], last: int) -> list[Complaint]:
    """Rows without a section, sections without a row, and where the two disagree."""
    found: list[Complaint] = []
    by_id: dict[str, Finding] = {}
    for row in rows:
        if row.id and by_id.setdefault(row.id.upper(), row) is not row:
            found.append((row.line, f"the id {row.id} stands twice: each finding has its own", ""))
    told = {issue.id.upper(): issue for issue in there}
    for issue in there:
        known = by_id.get(issue.id.upper())
        if known is None and issue.severity in SERIOUS:
            row = f'- {issue.severity} | {issue.id or "ID"} | "Section" | Title'
            found.append((issue.first, "the index has no row for this", row))
    for identity, row in by_id.items():
        issue_or_none = told.get(identity)
        if issue_or_none is None and row.severity in SERIOUS:
            heading = names.one_line(f"#### {row.id}. {row.severity}: {row.title}")
            found.append((last, f"there is no section for {row.id}", heading))
        elif issue_or_none and issue_or_none.severity not in ("", row.severity):
            if review_lines.strictest(issue_or_none.severity, row.severity) != row.severity:
                should = row_of(row.replace(severity=issue_or_none.severity))
                found.append((row.line, "its section says a stricter severity", should))
    return found
