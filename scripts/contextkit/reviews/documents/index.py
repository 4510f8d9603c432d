"""The Findings Index of an agent's review, parsed line by line.

    ### Findings Index
    - P0 | P0-1 | "Section" | Title
    - IMP | IMP-1 | "Section" | Title
    Verdict: risky

A Block accepts one line at a time for as long as the lines belong to it. Each is either understood
(a row, a verdict, a label such as `**Critical:**`, a table head, a rule, a comment, a line that the
contract asks for) or kept as unparsed, and then the review cannot be called clean.
"""

from __future__ import annotations

import functools
import itertools

from contextkit.base import markdown, names
from contextkit.base.expressions import Pattern
from contextkit.base.markdown import cells
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator
from contextkit.reviews.documents import heads, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.text.blocks import nests

Line = tuple[int, int, str]  # line number from 1, heading level, stripped text

FENCE = -1  # a level: the line opens or closes a code fence
UNCLOSED = -2  # a level: this fence is never closed
_DUTY = Pattern(r"(?i)\b(must|should)(?: be)? (?:fixed|address(?:ed)?|resolved?|changed?|done)\b")
_ASIDE = Pattern(r"\([^()]{0,40}\)")
_JOINED = Pattern(r"_|(?<=[a-z])(?=[A-Z])")  # between the words of a name
_RULE = frozenset("-=_*|:+ \t")
_ROLES = {  # of tables' columns, by the words of their heads
    word: role
    for role in ("id", "section", "file", "place", "line", "title")
    for word in vocabulary.LISTS[f"column {role}"]
}
_COUNTED = ("severity", "level", "priority", "count", "number", "total", "findings", "issues")
_FOOTERS = ("FINDINGS_COUNT", "FINDINGS COUNT", "SUMMARY")
_LABEL_WORDS = vocabulary.word_set("labels of groups")
PLURALS = vocabulary.word_set("plurals")
_LOOSE = vocabulary.word_set("loose")
_OF_CONTRACT = Pattern(  # beside rows
    r"(?i)[-*_`\s]{0,6}(?:read\W{1,6}\d+ (?:of|/) \d+(?: files?)?"
    r"|(?:severity |finding )?counts?(?:\W{1,6}(?:p[0-3]|imp|\d+))+)\W*$"
)
_LONGEST_LABEL = 80  # characters
_MOST_SHOWN = 50  # unparsed lines kept with their text; the others are only counted


def lines(text: str) -> Iterator[Line]:
    """Every nonblank line outside code fences with its heading level, or 0; agents nest fences."""
    fences: list[tuple[str, int]] = []
    opened = 0
    for number, line in vocabulary.numbered(text):
        bare = line.strip().replace("\t", " ").replace("\u00a0", " ")
        if not bare:
            continue
        if bare[0] in "`~" and nests(fences, bare, len(line) - len(line.lstrip())):
            opened = number if len(fences) == 1 else opened
            yield number, FENCE, bare
        elif fences:
            continue
        else:
            yield number, *_leveled(line, bare)
    if fences:
        yield opened, UNCLOSED, fences[0][0]


def _leveled(line: str, bare: str) -> tuple[int, str]:
    """The level of a heading and its title; 0 and the whole line for any other."""
    if bare[0] != "#":
        return 0, bare
    level, title = markdown.heading(line.replace("\u00a0", " "))
    rest = bare.lstrip("#")
    if not level and is_index(rest):
        indent = line[: len(line) - len(line.lstrip())]
        level, title = markdown.heading(f"{indent}{bare.removesuffix(rest)} {rest}")
    return (level, title) if level else (0, bare)


def is_index(title: str) -> bool:
    """Whether a heading is that of a Findings Index, even if text is glued to it."""
    return _behind(title) is not None


def _behind(title: str) -> str | None:
    """The rest of an index's heading, behind its words; None for any other line."""
    if "ndex" not in title and "NDEX" not in title:
        return None
    bare = vocabulary.plain(title)
    before, phrase, after = bare.lower().partition("findings index")
    is_first = before.strip(" .:)0123456789") in ("", "final")
    is_whole = bool(phrase) and not after.strip()[:1].isalnum()
    return bare[len(before) + len(phrase) :].strip(" :") if is_first and is_whole else None


def walk(text: str, blocks: list[Block]) -> Iterator[Line]:
    """The lines outside any index; `blocks` receives the indexes that are not empty.

    A row below a heading that is deeper than that of its index belongs to it, too.
    """
    block: Block | None = None
    reach = 0  # the level of headings below which there may be more rows, or 0
    for number, level, line in lines(text):
        glued = _heading(level, line)
        if glued is not None:
            if blocks and not blocks[-1].says_anything():
                blocks.pop()  # a heading above the real one
            block = Block(number, level or 7, glued)
            blocks.append(block)
            reach = (level or 7) + 1
        elif level == UNCLOSED or not (block and block.take(number, level, line)):
            block = None
            reach = reach if level <= 0 or level >= reach else 0
            if reach and level == 0 and is_row(line):
                blocks[-1].take_apart(number, line)
            else:
                yield number, level, line
    if len(blocks) > 1 and not blocks[-1].says_anything():
        blocks.pop()
    for each in blocks:
        each.finish()


def is_row(text: str) -> bool:
    """Whether a line is a row in the contract's form, without the heading above it."""
    bare = vocabulary.unbulleted(text)[0]
    fields = cells(bare) if "|" in bare[1:] and bare[0] != "|" else []
    is_graded = len(fields) > 3 and bool(vocabulary.severity(fields[0]))
    return is_graded and vocabulary.is_id(fields[1]) and not vocabulary.severity(fields[1])


def _heading(level: int, line: str) -> str | None:
    """The text glued to an index heading, usually ''; None for any other line."""
    glued = _behind(line) if level >= 0 else None
    if glued is None:
        return None
    words = glued.strip("() ").lower().split()
    if all(word.isdigit() or word in ("findings", "issues", "total") for word in words):
        return ""  # `Findings Index (7)`
    return glued if level else None


class Terms(Record):
    """The proofs that a run's contract asks for: `files` to read, ids of `open` findings.

    `places` are the files of the latter.
    """

    files: int
    open: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class Finding(Record):
    """A row of a Findings Index, or a finding read without one; empty fields are unknown.

    `file` and `at` are the place in the code, `end` is the last line of the text. `recap`: it may
    just repeat another.
    """

    severity: str
    title: str
    line: int
    id: str = ""
    section: str = ""
    raw_severity: str = ""
    group: str = ""  # the label above the row
    extra: tuple[str, ...] = ()  # fields after the title
    file: str = ""
    at: int = 0
    end: int = 0
    recap: bool = False
    again: int = 1  # 2 for the second row with this id

    @property
    def key(self) -> str:
        """Its id, as `P1-1(2)` if it is the second one of this id."""
        return self.id + (f"({self.again})" if self.again > 1 else "")


def row_of(finding: Finding) -> str:
    """A finding as a strict row, with `?` for a severity that was not understood."""
    more = "".join(f" | {field}" for field in finding.extra)
    row = f'- {finding.severity or "?"} | {finding.id} | "{finding.section}" | {finding.title}'
    return names.one_line(row + more)


class Block:
    """One index while it is being read: `start` and `end` are its first and last line."""

    def __init__(self, start: int, level: int, glued: str = "") -> None:
        self.start = self.end = start
        self.rows: list[Finding] = []
        self.verdicts: list[tuple[int, str]] = []
        self.unparsed: dict[int, str] = {}
        self.conflict = False  # a severity was milder than the id beside it or the label above
        self._level = level
        self._label = ("", "")  # the label that applies to the rows below it, and its severity
        self._promised = 0  # the line of a P0 or P1 label that no row has followed yet
        self._columns: list[str] = []  # the roles of a table's columns
        self._ended = False  # from here on, prose is no longer part of the index
        if glued:
            self.take(start, 0, glued)

    def understood(self) -> set[int]:
        """The lines that are its heading, rows or verdicts, without rows that stand apart."""
        rows = (row.line for row in self.rows if row.line <= self.end)
        return {self.start, *rows, *(at for at, _ in self.verdicts)}

    def says_anything(self) -> bool:
        return bool(self.rows or self.verdicts or self.unparsed)

    def take(self, number: int, level: int, text: str) -> bool:
        """Read one line; return False if it is past the index and so not part of it."""
        if level > 0:
            return level > self._level and self._is_label(number, text)
        if _OF_CONTRACT.match(text[:200]):
            return True  # whether it holds is judged elsewhere
        if self.verdicts and number > self.end + 1:
            self._ended = True
        if self._ended and level != FENCE and self._is_past(text):
            return False
        if level == FENCE or not (self._is_known(number, text) or self._is_row(number, text)):
            if self._ended and "|" not in text and not vocabulary.unbulleted(text)[1]:
                return False
            self.doubt(number, text)
        if not _RULE.issuperset(text):
            self.end = number
        return True

    def take_apart(self, number: int, text: str) -> None:
        """Read a row below a section, where no label above applies; one it repeats counts once."""
        self.finish()
        self._label = ("", "")
        if not self._is_row(number, text):
            self.doubt(number, text)
        *others, row = ((x.severity, x.id, x.title) for x in self.rows)
        if row in others:
            self.rows.pop()

    def _is_past(self, text: str) -> bool:
        """Whether a line after the verdict is no row but, say, a table of counts or checks."""
        if "|" in text:
            named = [
                cell for cell in cells(text) if not vocabulary.severity(vocabulary.plain(cell))
            ]
            counts = all(vocabulary.plain(cell).lower() in _COUNTED for cell in named)
            return not self._columns and "title" not in map(role, cells(text)) and counts
        bare, listed = vocabulary.unbulleted(text)
        head = heads.read(bare)
        is_row = head.severity or head.id or vocabulary.verdict(text)
        return listed and not is_row

    def finish(self) -> None:
        """End the index; a P0 or P1 label without a row below it is doubtful."""
        if self._promised:
            self.doubt(self._promised, self._label[0])

    def settle(self, row: Finding, severity: str) -> bool:
        """Whether a row that lacked only a severity is completed by one from its section."""
        doubtful = severity not in SERIOUS and vocabulary.mentions_serious(row.title)
        if row.raw_severity or not row.title or doubtful:
            return False
        self.unparsed.pop(row.line, None)
        return True

    def doubt(self, number: int, text: str) -> None:
        """Keep a line that was not understood."""
        kept = len(self.unparsed) < _MOST_SHOWN
        self.unparsed[number] = names.one_line(text[:200]) if kept else ""

    def _is_known(self, number: int, text: str) -> bool:
        """Whether the line says something but is not a finding."""
        if _RULE.issuperset(text):
            self._ended = self._ended or ("|" not in text and self.says_anything())
            return True
        if text[0] == "<":
            return vocabulary.is_comment(text)
        label, value = vocabulary.labelled(text)
        verdict = value if label == "STATUS" else vocabulary.verdict(text)
        if verdict:
            self.verdicts.append((number, verdict))
            return True
        if "|" in text:
            return self._is_head(text) or self._counts_none(text)
        if label in _FOOTERS:
            return not vocabulary.mentions_serious(value)
        if vocabulary.says_nothing(vocabulary.unbulleted(text)[0]):
            self._label, self._promised = ("", ""), 0
            return True
        return (text[:2] == "**" or text[-1] == ":") and self._is_label(number, text)

    def _is_label(self, number: int, text: str) -> bool:
        """Whether the line is a label; if so, it applies to the rows below it."""
        severity = group_of(text)
        if severity:
            self.finish()
            self._label = (vocabulary.plain(text).rstrip(": "), severity)
            self._promised = number if severity in SERIOUS else 0
        return bool(severity)

    def _is_head(self, text: str) -> bool:
        """Whether the line is a table head; if so, remember its columns."""
        if vocabulary.unbulleted(text)[1]:
            return False
        roles = [role(cell) for cell in cells(text)]
        if "title" not in roles or not {"severity", "id"} & set(roles):
            return False
        self._columns = roles
        return True

    def _counts_none(self, text: str) -> bool:
        """Whether a line is of a table of counts, and counts nothing serious."""
        own = [vocabulary.plain(cell).lower() for cell in cells(text)]
        if self._columns or len(own) != 2:
            return False
        if set(own) <= set(_COUNTED):
            return True  # its head
        severity, count = vocabulary.severity(own[0]), own[1]
        is_none = count == "0" or severity not in SERIOUS
        return bool(severity) and is_none and count.isdigit()

    def _is_row(self, number: int, text: str) -> bool:
        """Keep the line if it looks like a finding; return whether all of it was understood."""
        bare, listed = vocabulary.unbulleted(text)
        fields = cells(bare) if "|" in text else []
        first = fields[0] if len(fields) > 1 else ""  # otherwise the bars are part of a title
        is_graded = vocabulary.severity(first) or vocabulary.is_id(first)
        if bare[0] == "|" and self._columns:
            row = self._row(number, *self._by_column(fields))
        elif len(fields) > 1 and (is_graded or not heads.read(bare).severity):
            row = self._row(number, *_by_place(fields))
        else:
            head = heads.read(bare)
            is_stated = head.marked and not head.is_sign
            begins = listed or bool(head.id) or is_stated
            if self._ended and not begins:
                return False
            if head.severity and not head.id and vocabulary.says_nothing(head.title):
                return True  # `P0: none`
            if not (listed or head.severity or head.id):
                return False
            row = self._row(number, head.raw, head.id, "", head.title)
            fields = []
        doubtful = " ".join(row.extra) if fields else row.title
        self.rows.append(row)
        self._promised, self._ended = 0, False
        if row.severity not in SERIOUS and vocabulary.mentions_serious(doubtful):
            return False
        understood = not row.raw_severity or vocabulary.severity(row.raw_severity)
        return bool(row.severity and row.title and understood)

    def _by_column(self, fields: list[str]) -> tuple[str, ...]:
        """The fields of a table row in index order, those without a known column last."""
        by_role = dict.fromkeys(("severity", "id", "section", "title"), "")
        more = []
        for role, field in itertools.zip_longest(self._columns, fields, fillvalue=""):
            if role and not by_role[role]:
                by_role[role] = field
            elif field:
                more.append(field)
        return (*by_role.values(), *more)

    def _row(
        self, number: int, raw: str, identity: str, section: str, title: str, *extra: str
    ) -> Finding:
        stated = vocabulary.severity(raw)
        label, labelled = self._label
        severity = vocabulary.strictest(stated, vocabulary.severity_of_id(identity), labelled)
        self.conflict = self.conflict or bool(stated and severity != stated)
        return Finding(
            severity=severity,
            id=identity.strip("*_`[]() "),
            section=vocabulary.unquoted(section),
            title=title,
            line=number,
            raw_severity=vocabulary.plain(raw),
            group=label if labelled else "",
            extra=extra,
        )


def column(cell: str) -> str:
    """The role of a table's column by its head; other heads as they are."""
    word = _JOINED.sub("-", vocabulary.plain(cell)).lower().strip(" .:").replace(" ", "-")
    return "severity" if vocabulary.is_scale(word) else _ROLES.get(word, word)


def role(cell: str) -> str:
    """The role of a column in an index: severity, id, section or title; '' for others."""
    own = {"severity": "severity", "id": "id", "title": "title"}
    return own.get(column(cell), "section" if column(cell) in ("section", "place") else "")


def _by_place(fields: list[str]) -> tuple[str, ...]:
    """Severity, id, section, title, and the rest of a row that may lack one of them.

    An id may stand in the severity's place (`IMP-1 | "Section" | Title`) or before it.
    """
    raw, *rest = fields
    identity = ""
    second = vocabulary.severity(rest[0])
    is_odd = len(rest) > 2 and not second and vocabulary.is_id(rest[0])  # `P4 | P4-1 | …`
    if not vocabulary.severity(raw) and vocabulary.is_id(raw) and not is_odd:
        identity, raw = raw, rest.pop(0) if second else ""
    elif not rest[0].startswith(tuple(vocabulary.QUOTES)) and (
        len(rest) > 2 or vocabulary.is_id(rest[0])
    ):
        identity = rest.pop(0)
    section = rest.pop(0) if len(rest) > 1 else ""
    title, *extra = rest or [""]
    return raw, identity, section, title, *extra


@functools.lru_cache(1 << 18)
def group_of(text: str) -> str:
    """The severity of a line that only names one: `🔴 Critical bugs (2)`, `Must fix`."""
    bare = _DUTY.sub(r"\1 fix", vocabulary.plain(text))
    label, value = vocabulary.labelled(bare)
    if vocabulary.is_scale(label) and (severity := vocabulary.severity(value.strip())):
        return severity  # `Severity: Critical`
    outside = vocabulary.words(_ASIDE.sub(" ", bare))
    if (
        len(outside) == 2
        and outside[1].isdigit()
        and (severity := vocabulary.severity(bare[:60].partition("(")[0]))
    ):
        return severity  # `Priority 1 (before the release)`
    apart = [word for word in vocabulary.words(bare) if not word.isdigit()]
    is_label = bool(apart) and "|" not in bare and len(bare) <= _LONGEST_LABEL
    if not is_label or vocabulary.says_nothing(bare):
        return ""
    pair = " ".join(apart[:2]) in ("must fix", "should fix", "needs attention")
    first = vocabulary.severity("-".join(apart[: 1 + pair]))
    severities = [first, *map(vocabulary.severity, apart[1:])]
    others = {word for word, severity in zip(apart, severities, strict=True) if not severity}
    sign = vocabulary.severity(bare[:1])
    is_named = bool(first or sign) and others <= _LABEL_WORDS | PLURALS
    outside = [word for word in outside if not word.isdigit()]
    is_group = 0 < len(outside) <= 4 and outside[-1] in PLURALS
    named = vocabulary.strictest(*severities)
    named = sign or named if pair else named or sign  # a color grades mere instructions
    if "IMP" in severities and not _LOOSE.isdisjoint(apart):
        named = "IMP"  # `Important suggestions`
    return named if is_named or is_group else ""
