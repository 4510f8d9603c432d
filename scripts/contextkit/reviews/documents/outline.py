"""What a review says outside its index, so that the two can be compared.

#### P0-1. P0: Title        an issue, up to the next heading of its level
**P1-2: Title**             also an issue, as is `1. **[HIGH] F2: title**`
### P0 Issues               also an issue, unless nothing or only issues are below it
"""

from __future__ import annotations

from contextkit.base import markdown
from contextkit.base.type_names import Iterable
from contextkit.reviews.documents import index, lines, shapes, vocabulary
from contextkit.reviews.documents.lines import Line
from contextkit.reviews.documents.vocabulary import SERIOUS, Head

_BOLD, _LISTED = 7, 8  # levels below those of the headings, 1 to 6


class Issue:
    """What the review says about one finding outside the index.

    `is_group`: its heading names only a severity.
    """

    def __init__(self, rank: int, identity: str, severity: str, first: int) -> None:
        self.rank, self.id, self.severity, self.first = rank, identity, severity, first
        self.is_group = rank < _BOLD and not identity


def issues(outside: Iterable[Line]) -> list[Issue]:
    """Return the issues in the lines outside the index; one with an id only once.

    That is at its highest heading level, with the strictest severity of all.
    """
    begun: list[Issue] = []
    around: list[Issue] = []  # those that the line is inside of
    group: Issue | None = None  # `### P0 Issues`: an issue if anything is below it
    for number, level, text in outside:
        if level < 0:
            continue
        issue = _issue(number, level, text)
        if group and (level or not is_mark(text)):
            empty = vocabulary.says_nothing(lines.unbulleted(text)[0])
            if empty or issue or 0 < level <= group.rank:
                begun.remove(group)
                around.remove(group)
            group = None
        if issue or level:
            rank = issue.rank if issue else level
            around = [outer for outer in around if outer.rank < rank]
        if issue:
            begun.append(issue)
            around.append(issue)
            group = issue if issue.is_group else None
        elif around:
            _add_severity(around[-1], text)
    if group and group.severity not in SERIOUS:
        begun.remove(group)  # a serious one may have lost what was below it
    return _each_once(begun)


def _each_once(begun: list[Issue]) -> list[Issue]:
    best: dict[str, Issue] = {}
    for issue in begun:
        key = issue.id.upper() or f" {issue.first}"
        there = best.setdefault(key, issue)
        severity = vocabulary.strictest(there.severity, issue.severity)
        best[key] = issue if issue.rank < there.rank else there
        best[key].severity = severity
    return list(best.values())


def _issue(number: int, level: int, text: str) -> Issue | None:
    """Return the issue that a line begins, if any."""
    bare, _ = lines.unbulleted(text)
    if level > 0:
        identity, severity, _ = shapes.titled(text)
        severity = severity or index.label_of(bare)
        return Issue(level, identity, severity, number) if identity or severity else None
    if "|" in text:  # a row outside the index
        raw, identity, *_ = [*markdown.cells(bare), "", ""]
        severity = vocabulary.severity(raw)
        if severity and vocabulary.is_id(identity) and not vocabulary.severity(identity):
            severity = vocabulary.strictest(severity, vocabulary.severity_of_id(identity))
            return Issue(_LISTED, identity, severity, number)
    if not vocabulary.may_begin(bare):
        return None
    head = Head(bare)
    is_bold = bare[:2] == "**"
    is_named = bool(head.id) and is_bold
    if not head.marked or not (head.severity or is_named):
        return None
    if head.severity and shapes.counts_only(head.title):
        return None
    if not head.id and vocabulary.says_nothing(head.title):
        return None
    return Issue(_BOLD if is_bold else _LISTED, head.id, head.severity, number)


def _add_severity(issue: Issue, text: str) -> None:
    """Process a line such as `**Severity:** P1 — why`."""
    if "everity" not in text[:20]:
        return
    label, value = vocabulary.labelled(text)
    severity = vocabulary.severity(shapes.first_part(value)) if label == "SEVERITY" else ""
    if not issue.severity or severity in SERIOUS:
        issue.severity = vocabulary.strictest(issue.severity, severity)


def is_mark(text: str) -> bool:
    return not text.strip("-=_* ") or vocabulary.is_comment(text)
