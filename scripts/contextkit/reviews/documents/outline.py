"""What a review says outside its index, so that the two can be compared.

#### P0-1. P0: Title        an issue, up to the next heading of its level
**P1-2: Title**             also an issue, as is `1. **[HIGH] F2: title**`
### P0 Issues               also an issue, unless nothing or only issues are below it
"""

from __future__ import annotations

from contextkit.base import markdown
from contextkit.reviews.documents import index, lines, reader, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS, Head

_BOLD, _LISTED = 7, 8  # levels below those of the headings, 1 to 6


class Issue:
    """What the review says about one finding outside the index; `last` is set by what follows."""

    def __init__(self, rank: int, identity: str, severity: str, first: int) -> None:
        self.rank, self.id, self.severity, self.first = rank, identity, severity, first
        self.last = first


class Issues:
    """Collects issues from the lines outside the index, given one at a time."""

    def __init__(self) -> None:
        self.found: list[Issue] = []
        self._open: list[Issue] = []
        self._promised: Issue | None = None  # `### P0 Issues`: an issue if anything is below it

    def take(self, number: int, level: int, text: str) -> None:
        if level < 0:
            return
        issue, is_group = _issue(number, level, text)
        if self._promised and (level or not is_mark(text)):
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
        """Decide by the line after it whether a heading such as `### P0 Issues` is an issue."""
        self._promised = None
        empty = vocabulary.says_nothing(lines.unbulleted(text)[0])
        if empty or issue or 0 < level <= group.rank:
            self.found.pop()
            self._open.pop()

    def _end(self, last: int, rank: int) -> None:
        while self._open and self._open[-1].rank >= rank:
            self._open.pop().last = last

    def finish(self, last: int) -> list[Issue]:
        """Return all issues; one with an id only once, at its highest heading level."""
        if self._promised and self._promised.severity not in SERIOUS:
            self.found.pop()  # a serious one may have lost what was below it
        self._end(last, 0)
        best: dict[str, Issue] = {}
        for issue in self.found:
            key = issue.id.upper() or f" {issue.first}"
            there = best.setdefault(key, issue)
            severity = vocabulary.strictest(there.severity, issue.severity)
            if issue.rank < there.rank:
                best[key] = issue
            best[key].severity = severity
        return list(best.values())


def _issue(number: int, level: int, text: str) -> tuple[Issue | None, bool]:
    """Return the issue that a line begins, if any, and whether it only heads a group."""
    bare, _ = lines.unbulleted(text)
    if level == 0 and "|" in text:
        raw, identity, *_ = [*markdown.cells(bare), "", ""]
        severity = vocabulary.severity(raw)
        if (
            severity and vocabulary.is_id(identity) and not vocabulary.severity(identity)
        ):  # a row outside the index
            severity = vocabulary.strictest(severity, vocabulary.severity_of_id(identity))
            return Issue(_LISTED, identity, severity, number), False
    if level == 0 and not vocabulary.may_begin(bare):
        return None, False
    if level == 0:
        head = Head(bare)
        if head.severity and reader.counts_only(head.title):
            return None, False
        is_bold = bare[:2] == "**"
        known = head.severity or (head.id and is_bold)
        if not (head.marked and known) or (not head.id and vocabulary.says_nothing(head.title)):
            return None, False
        return Issue(_BOLD if is_bold else _LISTED, head.id, head.severity, number), False
    identity, severity, _ = reader.titled(text)
    severity = severity or index.label_of(bare)
    if not (identity or severity):
        return None, False
    return Issue(level, identity, severity, number), not identity


def _add_severity(issue: Issue, text: str) -> None:
    """Process a line such as `**Severity:** P1 — why`."""
    if "everity" not in text[:20]:
        return
    label, value = vocabulary.labelled(text)
    severity = vocabulary.severity(reader.first_part(value)) if label == "SEVERITY" else ""
    if not issue.severity or severity in SERIOUS:
        issue.severity = vocabulary.strictest(issue.severity, severity)


def is_mark(text: str) -> bool:
    return not text.strip("-=_* ") or vocabulary.is_comment(text)
