"""What a review says about each finding outside its index: where it begins, how severe it is.

#### P0-1. P0: Title        an issue: from here to the next of its rank
**P1-2: Title**             so is this, and `1. **[HIGH] F2: title**`
### P0 Issues               and this, unless nothing or only issues are below it
"""

from __future__ import annotations

from contextkit.base import markdown
from contextkit.reviews.documents import index, lines, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS, Head

_BOLD, _LISTED = 7, 8  # ranks below those of the headings, 1 to 6


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
        """Whether a heading such as `### P0 Issues` stands for an issue, by the line after it."""
        self._promised = None
        empty = vocabulary.says_nothing(lines.unbulleted(text)[0])
        if empty or issue or 0 < level <= group.rank:
            self.found.pop()
            self._open.pop()

    def _end(self, last: int, rank: int) -> None:
        while self._open and self._open[-1].rank >= rank:
            self._open.pop().last = last

    def finish(self, last: int) -> list[Issue]:
        """All issues; one with an id only once, where it stands highest."""
        if self._promised and self._promised.severity not in SERIOUS:
            self.found.pop()  # one that is serious may have lost what was below it
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
    """The issue that a line begins, if it does, and whether it is only the head of a group."""
    bare, _ = lines.unbulleted(text)
    if level == 0 and "|" in text:
        raw, identity, *_ = [*markdown.cells(bare), "", ""]
        severity = vocabulary.severity(raw)
        if severity and vocabulary.is_id(identity):  # a row that is not in the index
            severity = vocabulary.strictest(severity, vocabulary.severity_of_id(identity))
            return Issue(_LISTED, identity, severity, number), False
    if level == 0 and not vocabulary.may_begin(bare):
        return None, False
    named = level > 0 and bare[:8].lower() in ("finding ", "finding:")
    head = Head(bare[8:] if named else bare)
    if level == 0:
        is_bold = bare[:2] == "**"
        known = head.severity or (head.id and is_bold)
        if not (head.marked and known) or (not head.id and vocabulary.says_nothing(head.title)):
            return None, False
        return Issue(_BOLD if is_bold else _LISTED, head.id, head.severity, number), False
    identity = head.id
    if named and not identity:
        identity = lines.plain(bare[8:]).partition(":")[0]
        identity = identity if identity[:1].isdigit() else ""
    severity = vocabulary.strictest(head.severity, in_brackets(bare))
    severity = severity or index.label_of(bare)
    if not (identity or severity):
        return None, False
    return Issue(level, identity, severity, number), not identity


def in_brackets(title: str) -> str:
    """The severity in a heading's brackets: `Race in the writer (P0)`, `… (Blind Spot, P1)`."""
    found = ""
    for part in title.replace("[", "(").replace("]", ")").split("(")[1:]:
        words = part.partition(")")[0].upper().replace(",", " ").split()
        found = vocabulary.strictest(found, *words)
    return found


def _add_severity(issue: Issue, text: str) -> None:
    """Take in a line such as `**Severity:** P1 — why`."""
    if "everity" not in text[:20]:
        return
    label, value = vocabulary.labelled(text)
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - "):
        value = value.partition(mark)[0]
    severity = vocabulary.severity(value) if label == "SEVERITY" else ""
    if not issue.severity or severity in SERIOUS:
        issue.severity = vocabulary.strictest(issue.severity, severity)


def is_mark(text: str) -> bool:
    return not text.strip("-=_* ") or vocabulary.is_comment(text)
