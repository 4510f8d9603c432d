"""What a review says about its findings outside an index, as a person would read it.

    ### Finding 1.1: No quickstart (P0)          a heading with a severity
    - **[P1] Two writers** — `app.py:42` — …     a bold lead with one
    | Severity | Title |                         a table with a severity column
    ## Critical Issues                           the headings, or else the list, below it
    id: P0-1 / severity: P0                      front matter

`findings` reads a review that has no index. A recap (a list or a table of what has a heading of its
own) is not counted again: lists and tables count only for severities found nowhere else. Nothing is
guessed: text without a severity of its own or from the heading above is not a finding.

`Issues` reads what is outside an index, so that the two can be compared:

    #### P0-1. P0: Title        an issue, up to the next heading of its level
    **P1-2: Title**             also an issue, as is `1. **[HIGH] F2: title**`
    ### P0 Issues               also an issue, unless nothing or only issues are below it
"""

from __future__ import annotations

from contextkit.base import markdown, names
from contextkit.reviews.documents import index, lines, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.vocabulary import SERIOUS, Head

_PLURALS = ("issues", "findings", "problems", "bugs", "improvements", "suggestions", "blockers",
            "vulnerabilities", "concerns", "recommendations", "violations", "warnings", "nits",
            "risks", "defects", "gaps", "errors")  # fmt: skip
_KEYS = ("id", "severity", "level", "priority", "title", "section", "summary", "description")
_TOTALS = ("", "count", "counts", "total", "findings", "issues")
_BOLD, _LISTED = 7, 8  # levels below those of the headings, 1 to 6


def findings(text: str) -> tuple[Finding, ...]:
    """Return the findings of a text without an index, in text order."""
    outline = _Outline()
    indents = {number: len(raw) - len(raw.lstrip()) for number, raw in lines.numbered(text)}
    for number, level, line in lines.lines(text):
        if level >= 0:
            outline.take(number, level, line, indents.get(number, 0))
    return outline.finish()


class _Group:
    """A heading that gives its severity to everything below it."""

    def __init__(self, level: int, severity: str) -> None:
        self.level, self.severity = level, severity
        self.child = 0  # the level of the headings below it that are findings
        self.item = ""  # the marker of its list items: a digit or a bullet


class _Outline:
    """Collects findings from lines given one at a time; a recap is kept apart."""

    def __init__(self) -> None:
        self._own: list[Finding] = []
        self._recap: list[Finding] = []
        self._groups: list[_Group] = []
        self._columns: list[str] = []
        self._titled: tuple[int, str, str] = (0, "", "")  # a heading still without a severity
        self._matter: dict[str, str] = {}
        self._in_matter = False
        self._lines = 0

    def take(self, number: int, level: int, text: str, indent: int) -> None:
        self._lines += 1
        if self._front_matter(number, text):
            return
        if level > 0:
            self._columns = []
            self._heading(number, level, text)
        elif "|" in text and text[:1] == "|":
            self._table_row(number, text)
        else:
            self._columns = []
            self._line(number, text, indent)

    def finish(self) -> tuple[Finding, ...]:
        self._close_matter(0)
        there = {one.severity for one in self._own}
        recap = [one for one in self._recap if one.severity not in there]
        return tuple(sorted([*self._own, *recap], key=lambda one: one.line))

    def _add(self, number: int, severity: str, identity: str, title: str, recap: bool) -> None:
        title = names.one_line(lines.plain(title)).strip(" :—–-")
        title = _without_severity(title)
        if not _is_prose(title):
            return
        if identity and any(one.id == identity for one in self._own):
            return  # a recap below the findings
        found = Finding(severity=severity, id=identity, section="", title=title, line=number,
                        raw_severity=severity)  # fmt: skip
        (self._recap if recap else self._own).append(found)

    # Headings and lines

    def _heading(self, number: int, level: int, text: str) -> None:
        while self._groups and self._groups[-1].level >= level:
            self._groups.pop()
        self._titled = (0, "", "")
        severity = _group_of(text)
        if severity:
            self._groups.append(_Group(level, severity))
            return
        identity, severity, title = _titled(text)
        group = self._groups[-1] if self._groups else None
        if severity:
            self._add(number, severity, identity, title, recap=False)
        elif group and group.child in (0, level):
            group.child = level
            self._add(number, group.severity, identity, title, recap=False)
        else:
            self._titled = (number, identity, title)

    def _line(self, number: int, text: str, indent: int) -> None:
        bare, listed = lines.unbulleted(text)
        label, value = vocabulary.labelled(text)
        if label in ("SEVERITY", "PRIORITY"):
            self._severity_line(vocabulary.severity(_first_part(value)))
            return
        head = Head(bare) if vocabulary.may_begin(bare) else None
        if head and head.marked and head.severity and _is_finding(head, bare):
            title = _lead(bare, head.title) if bare[:2] == "**" else head.title
            self._add(number, head.severity, head.id, title, recap=False)
            return
        group = self._groups[-1] if self._groups else None
        if group and not group.child and listed and indent < 2:
            kind = "1" if text[0].isdigit() else "-"
            group.item = group.item or kind
            if group.item == kind:
                self._add(number, group.severity, "", _lead(bare, bare), recap=True)

    def _severity_line(self, severity: str) -> None:
        """Apply a line `**Severity:** P1` to the heading or the finding above it."""
        number, identity, title = self._titled
        if severity and number:
            self._add(number, severity, identity, title, recap=False)
            self._titled = (0, "", "")
        elif severity and self._own and severity in vocabulary.SERIOUS:
            strictest = vocabulary.strictest(severity, self._own[-1].severity)
            self._own[-1] = self._own[-1].replace(severity=strictest)

    def _table_row(self, number: int, text: str) -> None:
        cells = [lines.plain(cell) for cell in markdown.cells(text)]
        if not self._columns:
            roles = [index.role(cell) for cell in cells]
            self._columns = roles if {"severity", "title"} & set(roles) else ["other"]
            return
        fields = dict(zip(self._columns, cells, strict=False))
        severity = vocabulary.severity(fields.get("severity", ""))
        others = [
            cell for role, cell in zip(self._columns, cells, strict=False) if role != "severity"
        ]
        title = fields.get("title") or max(others, key=len, default="")
        group = self._groups[-1] if self._groups else None
        if severity and _is_prose(title):
            self._add(number, severity, _id(fields.get("id", "")), title, recap=True)
        elif "severity" not in fields and group and "title" in fields and _is_prose(title):
            self._add(number, group.severity, _id(fields.get("id", "")), title, recap=True)
        elif severity and title.isdigit() and int(title):
            self._add(number, severity, "", f"{title} by its own count", recap=True)

    # Front matter

    def _front_matter(self, number: int, text: str) -> bool:
        """Process a line of the `---` block at the beginning; return whether it is one."""
        if text == "---":
            begins = self._lines == 1
            if self._in_matter:
                self._close_matter(number)
            self._in_matter = begins
            return begins
        if not self._in_matter:
            return False
        starts = text[:2] == "- "
        key, _, value = text.removeprefix("- ").partition(":")
        key, value = key.strip().lower(), value.strip(" \"'")
        if starts:
            self._close_matter(number)
        if key in _KEYS and value:
            self._matter.setdefault("line", str(number))
            self._matter.setdefault(key, value)
        else:
            for severity, count in _totals(key, value):
                self._add(number, severity, "", f"{count} by its own count", True)
        return True

    def _close_matter(self, number: int) -> None:
        said, self._matter = self._matter, {}
        severity = said.get("severity") or said.get("level") or said.get("priority", "")
        identity = _id(said.get("id", ""))
        known = vocabulary.strictest(
            vocabulary.severity(severity), vocabulary.severity_of_id(identity)
        )
        title = next((said[key] for key in ("title", "summary", "description", "section")
                      if key in said), "")  # fmt: skip
        if known and title:
            self._add(int(said["line"]), known, identity, title, recap=True)
        self._in_matter = self._in_matter and number > 0


def _group_of(text: str) -> str:
    """Return the severity of a heading that only opens a group: `P1 — Important Design Issues`."""
    severity = index.label_of(text)
    if severity:
        return severity
    head = Head(lines.unbulleted(text)[0])
    last = head.title.rpartition(" ")[2].strip("():").lower()
    return head.severity if not head.id and (last in _PLURALS or not head.title) else ""


def _titled(text: str) -> tuple[str, str, str]:
    """Return id, severity and title of a heading: `Finding 1.1: No quickstart (P0)`."""
    bare = lines.unbulleted(text)[0]
    named = bare[:8].lower() in ("finding ", "finding:")
    head = Head(bare[8:] if named else bare)
    identity, title = head.id, head.title
    if named and not identity:
        number, _, rest = lines.plain(bare[8:]).partition(":")
        identity, title = (number, rest) if number[:1].isdigit() else ("", title)
    return identity, vocabulary.strictest(head.severity, _in_brackets(bare)), title


def _first_part(value: str) -> str:
    """Return `P1` from `P1 — why`, `P1 (why)` or `P1, why`."""
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - "):
        value = value.partition(mark)[0]
    return value


def _lead(bare: str, title: str) -> str:
    """Return the bold text at the beginning of a line, without the severity, or the whole line."""
    if bare[:2] != "**":
        return title
    bold = bare[2:].partition("**")[0]
    return Head(bold).title or title


def _is_finding(head: Head, bare: str) -> bool:
    """Whether a line that begins with a severity is a finding: `[SUGGESTION] …` is one.

    `**Suggestion:** …` is not; it says how to fix one.
    """
    return bool(head.id) or head.severity != "IMP" or bare.lstrip("*_`")[:1] == "["


def _without_severity(title: str) -> str:
    """Return `Race in the writer` from `Race in the writer (P0)`."""
    before, _, last = title.rpartition("(")
    is_severity = last.endswith(")") and vocabulary.strictest(_in_brackets(f"({last}"))
    return before.rstrip() if before and is_severity else title


def _is_prose(text: str) -> bool:
    """Whether a text can be the title of a finding and is not just a number or mark."""
    return sum(map(str.isalpha, text)) > 3 and not vocabulary.says_nothing(text)


def _id(text: str) -> str:
    return text.strip() if vocabulary.is_id(text) else ""


def _totals(key: str, value: str) -> list[tuple[str, int]]:
    """Return (severity, count) of `critical: 2`, or of each in `counts: {P0: 2, P1: 1}`."""
    pairs = [(key, value)]
    if value[:1] == "{" and value[-1:] == "}":
        pairs = [(name, count) for name, _, count in
                 (pair.partition(":") for pair in value[1:-1].split(","))]  # fmt: skip
    found = []
    for name, count in pairs:
        severity, count = _total(name.strip(" \"'").lower()), count.strip(" \"'")
        if severity and names.is_whole(count, 9) and int(count):
            found.append((severity, int(count)))
    return found


def _total(key: str) -> str:
    """Return the severity that a key counts: `p0`, `critical_count`, `findings_p1`."""
    words = key.replace("-", "_").split("_")
    known = [vocabulary.severity(word) for word in words]
    others = [word for word, one in zip(words, known, strict=True) if not one]
    return vocabulary.strictest(*known) if all(word in _TOTALS for word in others) else ""


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
        if severity and vocabulary.is_id(identity):  # a row outside the index
            severity = vocabulary.strictest(severity, vocabulary.severity_of_id(identity))
            return Issue(_LISTED, identity, severity, number), False
    if level == 0 and not vocabulary.may_begin(bare):
        return None, False
    if level == 0:
        head = Head(bare)
        is_bold = bare[:2] == "**"
        known = head.severity or (head.id and is_bold)
        if not (head.marked and known) or (not head.id and vocabulary.says_nothing(head.title)):
            return None, False
        return Issue(_BOLD if is_bold else _LISTED, head.id, head.severity, number), False
    identity, severity, _ = _titled(text)
    severity = severity or index.label_of(bare)
    if not (identity or severity):
        return None, False
    return Issue(level, identity, severity, number), not identity


def _in_brackets(title: str) -> str:
    """Return the severity in parentheses: `Race in the writer (P0)`, `… (Blind Spot, P1)`."""
    found = ""
    for part in title.replace("[", "(").replace("]", ")").split("(")[1:]:
        words = part.partition(")")[0].upper().replace(",", " ").split()
        found = vocabulary.strictest(found, *words)
    return found


def _add_severity(issue: Issue, text: str) -> None:
    """Process a line such as `**Severity:** P1 — why`."""
    if "everity" not in text[:20]:
        return
    label, value = vocabulary.labelled(text)
    severity = vocabulary.severity(_first_part(value)) if label == "SEVERITY" else ""
    if not issue.severity or severity in SERIOUS:
        issue.severity = vocabulary.strictest(issue.severity, severity)


def is_mark(text: str) -> bool:
    return not text.strip("-=_* ") or vocabulary.is_comment(text)
