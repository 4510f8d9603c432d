"""The findings of a review without an index, whatever tool or person wrote it.

    ### 🔴 Critical: title            a heading, with all below it
    1. **title** …                    an item below `## Critical issues`
    **Severity:** High                a label, of the heading or paragraph that it belongs to
    | Severity | File | Line | …      a row of a table
    {"severity": "high", …}           an object of JSON or SARIF
    src/a.py:4: error: …              a line of a linter

A review is cut into blocks, and each block is judged by its features: the nearest severity (of its
title, a label in it, the section around it), its place, whether it only explains or counts
severities, and whether it repeats what stands elsewhere. What looks like a finding but has no
severity is not guessed at: `unsure` names its line.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter

from contextkit.base import markdown, names
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any
from contextkit.reviews.documents import index, lines, places, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.places import NONE, Place
from contextkit.reviews.documents.vocabulary import SERIOUS, SEVERITIES, Head
from contextkit.text import objects
from contextkit.text.blocks import Block, blocks, titles
from contextkit.text.patterns import Pattern

_BETWEEN = frozenset("·|•—–([,;")  # stand between the parts of a line
_NO_LEAD = frozenset("#|-*+")  # begin a heading, a row, an item
_PLURALS = frozenset(
    "issues findings problems bugs improvements suggestions blockers vulnerabilities concerns"
    " recommendations violations warnings nits risks defects gaps errors items comments issue"
    " finding problem fixes changes nitpicks befunde probleme fehler problèmes problemas hallazgos"
    " severity priority level".split()
)
_EXPLAINS = frozenset(
    "legend rubric scale definition definitions classification classifications criteria key"
    " levels legende légende leyenda".split()
)
_REPEATS = frozenset(
    "summary recap overview statistics stats checklist plan roadmap conclusion totals breakdown"
    " next recommended actions action metrics scorecard verdict assessment table-of-contents"
    " contents zusammenfassung résumé resumen order prioritized".split()
)
_PRAISE = frozenset(
    "strengths positive positives praise good well works passed checked verified fine"
    " fixed resolved license licence dismissed".split()
)
_NO_FINDINGS = _EXPLAINS | _PRAISE
_GENERAL = frozenset("code review detailed details the all results report security".split())
_LABELS = frozenset(
    "SEVERITY PRIORITY SEV LEVEL RISK SCHWEREGRAD PRIORITÄT SÉVÉRITÉ GRAVITÉ PRIORITÉ SEVERIDAD"
    " GRAVEDAD PRIORIDAD GRAVIDADE SEVERIDADE GRAVITÀ 重要度 深刻度 严重程度 严重性 严重级别"
    " 优先级 優先度 СЕРЬЁЗНОСТЬ КРИТИЧНОСТЬ ПРИОРИТЕТ".split()
)
_STATES = frozenset(["STATUS", "STATE", "RESOLUTION"])
_DONE = frozenset("fixed resolved closed passed".split())
_TICKED = Pattern(r"[✅✔☑][\ufe0f\W]{0,4}(?:fixed|resolved|closed|passed)\b", re.IGNORECASE)
_SCALES = frozenset("SEVERITY PRIORITY IMPACT RISK".split())
_RATINGS = frozenset("FACTOR LEVEL RATING CLASS".split())
_TITLES = frozenset(
    "TITLE ISSUE FINDING PROBLEM MESSAGE SUMMARY NAME BUG TITEL PROBLÈME PROBLEMA BEFUND TITRE"
    " TÍTULO TITOLO 問題 问题 タイトル 标题 ПРОБЛЕМА".split()
)
_TAG = Pattern(r"<(/?)(\w{1,12})\b([^<>]{0,300})>")
_LINK = Pattern(r"\[\s?([^\[\]\n]{1,300}?)\s?\]\(https?://[^()\s]{1,300}\)")
_STRUCK = Pattern(r"~~[^~\n]{1,600}~~")
_DASHED = Pattern(r"^([^:：|–—\n]{1,24}?) [–—-] (?=\S)")
_BORDER = Pattern(r"\s*[+┌├└╔╠╚╞╒][-=+─━═┬┼┴┐┤┘╦╬╩╗╣╝╪╡╤╕]{3,}\s*$")  # of a table
_SETTING = Pattern(r"^(\w{1,24}) = \"?(.{1,400}?)\"?$")
_OTHER_HEADING = Pattern(r"(?:(?P<signs>={1,6})|h(?P<h>[1-6])\.|(?P<stars>\*{1,6})) (?=\S)")
_SHORTCODE = Pattern(r":(?:large_)?([a-z_]{1,20}):")
_SHORTCODES = {
    "red_circle": "🔴", "red_square": "🟥", "rotating_light": "🚨", "no_entry": "⛔",
    "octagonal_sign": "🛑", "x": "❌", "orange_circle": "🟠", "warning": "⚠️",
    "yellow_circle": "🟡", "blue_circle": "🔵", "green_circle": "🟢", "bulb": "💡",
    "white_check_mark": "✅", "heavy_check_mark": "✅",
}  # fmt: skip
_IMAGE = Pattern(r"!\[([^\]\n]{0,80})\]\([^()\n]{0,300}\)")
_INLINE = Pattern(
    r"(?P<label>severity|priority|schweregrad|gravité|sévérité|severidad|gravedad)[*_`]{0,3}\s{0,2}"
    r"(?:[:=：]|is)[*_`]{0,3}\s{0,2}(?P<value>[^\s,;|)\]]{1,24})",
    re.IGNORECASE,
)
_LINT = Pattern(
    r"^\s{0,4}(?P<file>[\w@+\-./\\]{1,200}\.\w{1,8}|[\w./\-]{0,99}Dockerfile)"
    r"(?::(?P<line>\d{1,7})(?:[:.-]\d{1,7})*|\((?P<line2>\d{1,7})(?:,\d+)?\))\s?[:\-|]{0,2}\s{0,3}"
    r"[\[(]?(?P<word>\w[\w-]{1,20})[\])]?[:\s]\s{0,3}(?P<rest>\S.{0,500})"
)
_STAMPED = Pattern(r"^(?:[\d:.TZ-]{16,40} )?(?:##\[\w{1,12}\])?")  # by a build
_STYLISH = Pattern(
    r"^\s{1,8}(?P<line>\d{1,7}):\d{1,7}\s{1,9}(?P<word>error|warning"
    r"|info)\s{1,9}(?P<rest>\S.{0,400})"
)
_CROSSED = Pattern(  # of a scanner
    r"^\s{0,8}[✗✖✘×]\s(?P<rest>\S.{2,200}?)\s\[(?P<word>\w{3,12}) severity\]", re.IGNORECASE
)
_ANNOTATION = Pattern(  # of a build, for the page of a pull request
    r"^\s{0,4}::(?P<word>error|warning|notice)\s(?=[^:]{0,300}?\bfile=(?P<file>[^,:]{1,200}))"
    r"(?=[^:]{0,300}?\bline=(?P<line>\d{1,7}))[^:]{0,600}::(?P<rest>\S.{0,500})"
)
_COUNT = Pattern(r"^[\s(]*(?:[:=—–-]\s*)?\(?\d{1,5}\)?[\s).,;|]*(?:[\w ]{0,24}|$)")
_BOLD = Pattern(r"\*\*(.{2,300}?)\*\*|__(.{2,300}?)__")
_KIND = Pattern(r"[*_`]{0,3}\w[\w -]{1,24}\s?\(([^()\n]{1,60})\)[*_`]{0,3}:[*_`]{0,3}(?:\s|$)")
_AT_LINE = Pattern(r"^`?(?:lines?|L)\s?\d{1,7}(?:[-–]\d{1,7})?`?(?::|\s[–—-])\s", re.IGNORECASE)
_BRACKETS = Pattern(r"[(\[]([^()\[\]]{1,80})")
_SCORE = Pattern(r"\d{1,3}[./]\d{1,3}")
_LEAD = Pattern(r"[*_ ]{0,3}\[([^\]\n]{1,40})\][*_]{0,3}(?=\s|$)")
_SENTENCE = Pattern(r"(?<=[.!?。！？])(?:\s|$)|(?<=[。！？])")
_WORST = Pattern(
    r"must (?:be |not )?(?:fix|ship|merge)|has to be fixed|data loss|not (?:be )?(?:merge|ship)"
    r"|blocker|critical(?! (?:section|path|region))|show-?stopper"
    r"|before (?:this|it) (?:goes|ships|lands|is merged|can be merged)|remote code"
    r"|injection|anyone can|corrupt|twice",
    re.IGNORECASE,
)
_BAD = Pattern(
    r"\bhigh (?:severity|risk|priority)\b"
    r"|serious|\bbug\b|crash|\bloses?\b|\bleak|race|deadlock|\bwrong|breaks?\b|broken|never|fails?\b"
    r"|incorrect|unsafe|vulnerab|should be fixed|problem",
    re.IGNORECASE,
)
_DENIES = Pattern(
    r"\bfound (?:none|nothing|no)\b|\b(?:not|n't) (?:find|see|spot) any(?:thing)?\b[^.]{0,40}"
    r"(?:critical|serious|wrong|problem|issue|bug|blocker)"
    r"|\b(?:nothing|no|none) (?:\w+ ){0,2}(?:fails?|breaks?|broken|wrong|lost|leaks?|races?)\b"
    r"|^no\b[^.]{0,99}\b(?:found|identified|detected|seen|noted)\b",
    re.IGNORECASE,
)
_MILDLY = Pattern(r"smaller|minor|nit|cosmetic|style|optional|nice to have|suggest", re.I)
_FIELD = Pattern(r"\s{0,8}[*_]{0,2}[A-Z][\w ]{1,24}:[*_]{0,2}\s")
_TITLE = 240  # characters of a title
_FEW = 3  # letters that a title has at least
_LONG = 400  # characters of a line looked at as a head
_OBJECT_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_OBJECT_WORDS = {"error": "P1", "note": "P3", "none": "P3", "fail": "P1", "failure": "P1"}
_MOST_OBJECTS = 5_000  # findings
MOST_LINES = 20_000  # of a file that are read: more take too long (make torture what=time)
_DEEPEST = 40  # objects in objects
_MOST_TOLD = 200  # texts in objects
_AHEAD = 2_000  # lines in which the next finding is looked for


class Read(NamedTuple):
    """What was read: the findings in order, and lines of blocks that may be findings as well."""

    findings: tuple[Finding, ...]
    unsure: tuple[int, ...]


class _Found(NamedTuple):
    """A candidate, and whether it may only repeat another."""

    recap: bool
    finding: Finding


def read(text: str) -> Read:
    """Return the findings of a text without an index. Linear in its length; never raises."""
    whole = of_objects(text)
    if whole is not None:
        return Read(tuple(whole), ())
    sight = _Sight(text)
    found = sight.of_blocks()
    there = {one.finding.line for one in found}
    of_tools = [*sight.of_lines(), *sight.of_compilers()]
    found += [one for one in of_tools if one.finding.line not in there]
    if not found:
        found = sight.of_codes()
    unsure = sight.unsure([(one.finding.line, one.finding.end) for one in found])
    if not any(one.finding.severity in SERIOUS for one in found):
        found += sight.of_prose()
    return Read(tuple(_single(found)), unsure)


def findings(text: str) -> tuple[Finding, ...]:
    """Return the findings of a text without an index, in text order."""
    return read(text).findings


def _finding(
    severity: str, identity: str, title: str, first: int, last: int, place: Place = NONE
) -> Finding:
    return Finding(
        severity=severity, id=identity, section="", title=title, line=first,
        raw_severity=severity, file=place.file, at=place.line, end=last,
    )  # fmt: skip


def _single(found: list[_Found]) -> list[Finding]:
    """Leave out what only repeats: the same id or title, a recap of severities told elsewhere."""
    kept: list[_Found] = []
    known: dict[str, int] = {}
    for one in sorted(found, key=lambda each: (each.recap, each.finding.line)):
        keys = [f"#{one.finding.id.upper()}"] if one.finding.id else []
        keys.append(" ".join(lines.words(one.finding.title))[:80])
        at = next((known[key] for key in keys if key in known), -1)
        if at < 0 or not (merged := _as_one(kept[at], one)):
            known = dict.fromkeys(keys, len(kept)) | known
            kept.append(one)
        else:
            kept[at] = merged
    told = {one.finding.severity for one in kept if not one.recap}
    own = [one for one in kept if not one.recap or one.finding.severity not in told]
    return sorted((one.finding for one in own), key=lambda one: one.line)


def _as_one(best: _Found, other: _Found) -> _Found | None:
    """Return two candidates with one id or title as one, by the one that says more; or None."""
    if not other.recap and best.finding.severity != other.finding.severity:
        return None
    if not other.recap and _length(other.finding) > _length(best.finding):
        best, other = other, best
    one, its = best.finding, other.finding
    if not other.recap and its.file and (one.file, one.at) != (its.file, its.at):
        return None
    place = its if its.file and not one.at else one
    severity = vocabulary.strictest(one.severity, its.severity)
    merged = one.replace(severity=severity, file=place.file, at=place.at)
    return best._replace(finding=merged)


def _length(one: Finding) -> int:
    return one.end - one.line


class _Sight:
    """One text with its blocks, and what holds where: sections, files."""

    def __init__(self, text: str) -> None:
        self.rows = [row for _, row in lines.numbered(text)]
        is_org = any(row[:2] == "#+" for row in self.rows)
        self.plain: list[str] = []
        for row in self.rows:
            plain = _as_heading(_unstruck(unmarked(row)), is_org)
            if _BORDER.match(plain):
                plain = "|---|" if self.plain and self.plain[-1][:1] == "|" else ""
            self.plain.append(plain)
        self.blocks = parted(blocks("\n".join(self.plain)), self.plain)
        self._above_places = self._heading_places()
        headings = [one for one in self.blocks if one.kind == "heading"]
        times = Counter(one.title for one in headings)
        self._by_id = {titled(one.title)[0]: one for one in reversed(headings)}
        self._parts = {title for title, count in times.items() if count > 1 and _is_part(title)}
        self._direct: dict[int, list[int]] = {}
        for at, block in enumerate(self.blocks):
            self._direct.setdefault(block.inside, []).append(at)

    def _heading_places(self) -> list[Place]:
        """The place that holds for each line: the last one that a line was wholly about."""
        found, place = [], NONE
        for row in self.plain:
            if "." in row or "file" in row:
                here = places.heads(row)
                place = here if here.file else place
            found.append(place)
        return found

    def _text(self, first: int, last: int) -> str:
        return "\n".join(self.plain[first - 1 : last])

    def _is_below(self, at: int, words: frozenset[str]) -> bool:
        """Whether a heading above a block is about one of the words."""
        return any(_is_about(title, words) for title in titles(self.blocks, at))

    # Blocks

    def of_blocks(self) -> list[_Found]:
        found: list[_Found] = []
        skip = 0  # the last line of a finding: nothing inside it is another
        for at, block in enumerate(self.blocks):
            if block.first <= skip or block.kind in ("code", "rule", "comment"):
                continue
            if block.kind == "matter":
                found += self._of_matter(block)
                continue
            if self._is_below(at, _NO_FINDINGS):
                continue
            if block.kind == "table":
                found += self._of_table(at, block)
                continue
            is_heading = block.kind == "heading"
            one = self._of_heading(at, block) if is_heading else self._of_line(at, block)
            if one:
                found.append(one)
                skip = one.finding.end if is_heading else block.last
        return found

    def _of_heading(self, at: int, block: Block) -> _Found | None:
        """A heading is a finding if it or a label directly below it has a severity."""
        if group_of(block.title) or _is_about(block.title, _NO_FINDINGS | _REPEATS):
            return None
        identity, severity, title = titled(block.title)
        label = "" if _is_general(title) and not identity else self._label_below(at)
        inherited = self._inherited(at)
        if not (severity or label) and not (inherited and self._is_last_heading(at, block)):
            return None
        severity = vocabulary.strictest(severity, label) or inherited
        if vocabulary.says_nothing(title):
            return None
        return self._made(severity, identity, title, block.first, self._all_of(at), recap=False)

    def _all_of(self, at: int) -> int:
        """The last line of a heading and of its parts: those of its level named as others are."""
        last = self.blocks[at].last
        for other in self.blocks[at + 1 : at + 100]:
            if other.first <= last:
                continue
            if other.title not in self._parts or other.inside != self.blocks[at].inside:
                break
            last = other.last
        return last

    def _is_last_heading(self, at: int, block: Block) -> bool:
        """Whether a heading in a group is itself the finding, and not what stands below it."""
        nested = [self.blocks[inner] for inner in self._direct.get(at, ())]
        parts = [one for one in nested if one.kind in ("item", "heading")]
        return not (_is_about(block.title, _PLURALS) or any(map(_begins_finding, parts)))

    def _label_below(self, at: int) -> str:
        """Return the severity that a label directly below heading `at` states."""
        stated: set[str] = set()
        for inner in self._direct.get(at, ()):
            block = self.blocks[inner]
            if block.kind == "heading" and block.first == block.last and not stated:
                stated.add(vocabulary.severity(first_part(block.title)))
            if block.kind in ("heading", "code"):
                break
            last = block.last if block.kind == "table" else min(block.last, block.first + 12)
            stated |= set(map(label_in, self.plain[block.first - 1 : last]))
        stated -= {""}
        return stated.pop() if len(stated) == 1 else ""  # else a list

    def _of_line(self, at: int, block: Block) -> _Found | None:
        """An item, a paragraph or a quote is a finding by its head, a label or its section."""
        bare = lines.unbulleted(block.title)[0]
        if len(bare) > _LONG and "**" not in bare[:80]:
            bare = bare[:_LONG]
        head = _head(bare)
        if _is_count(head) or _is_lead(bare) or self._leads_list(at):
            return None
        severity = (head.severity if head.marked or head.id else "") or _tail(bare)
        if severity and not head.id and vocabulary.says_nothing(head.title):
            return None
        own = self.plain[block.first - 1 : block.last][:14]
        if any(map(_is_settled, own)):
            return None
        stated = list(filter(None, map(label_in, own)))
        severity = vocabulary.strictest(severity, stated[0] if len(stated) == 1 else "")
        inherited = ""
        if not severity and block.kind == "item" and block.level < 2:
            inherited = self._group(at)
        if severity == "IMP" and not head.id and bare[:1] != "[":
            return None
        if not (severity or inherited):
            return None
        title = self._title_of(head.title if head.severity or head.id else bare, bare, block)
        recap = bool(inherited) or self._is_below(at, _REPEATS)
        end = self._end_of(at, block)
        return self._made(severity or inherited, head.id, title, block.first, end, recap)

    def _end_of(self, at: int, block: Block) -> int:
        """A paragraph reaches to the next block that begins something else."""
        last = block.last
        label = _FIELD.match(block.title)
        for number, other in enumerate(self.blocks[at + 1 : at + 12], at + 1):
            if other.inside == at or other.first <= last:
                continue
            if other.inside != block.inside or other.kind in ("heading", "rule", "table", "item"):
                break
            begins = (
                _begins_finding(other)
                or self._leads_in(number)
                or (label and other.title.startswith(label[0]))
                or places.heads(self.plain[other.first - 1]).file
                or _head(other.title).severity
                or _tail(other.title)
            )
            if other.kind != "code" and begins:
                break
            last = other.last
        return last

    def _leads_list(self, at: int) -> bool:
        """Whether a paragraph only names the group of the items below it: `**❌ Blocking**`."""
        after = self.blocks[at + 1] if at + 1 < len(self.blocks) else None
        is_above = self.blocks[at].kind == "text" and after is not None and after.kind == "item"
        return is_above and bool(group_of(self.blocks[at].title))

    def _leads_in(self, at: int) -> bool:
        """Whether a paragraph goes on, without a blank line, with one that begins a finding."""
        after = self.blocks[at + 1] if at + 1 < len(self.blocks) else None
        goes_on = after and after.kind == "text" and after.first == self.blocks[at].last + 1
        return bool(after and goes_on and _begins_finding(after))

    def _inherited(self, at: int) -> str:
        """Return the severity of the heading right above, if it only names a group."""
        inside = self.blocks[at].inside
        return group_of(self.blocks[inside].title) if inside >= 0 else ""

    def _group(self, at: int) -> str:
        """Return the severity of the nearest heading or lead above, if it only names a group."""
        inside = self.blocks[at].inside
        if inside >= 0 and self.blocks[inside].kind != "heading":
            return ""
        return self._inherited(at) or self._lead(at)

    def _lead(self, at: int) -> str:
        """Return the severity of the paragraph right above a list: `**Critical:**`."""
        inside = self.blocks[at].inside
        for other in reversed(self.blocks[max(0, at - 40) : at]):
            if other.inside != inside:
                if other.kind == "heading":
                    return ""
                continue
            if other.kind != "item":
                return group_of(other.title.rstrip(":")) if other.kind == "text" else ""
        return ""

    def _title_of(self, title: str, bare: str, block: Block) -> str:
        """Return the words that name the finding: a label, its bold lead, or its first sentence."""
        if told := self._labelled(block.first - 1, min(block.last, block.first + 12)):
            return _first_sentence(told)
        if _is_fields(self.plain[block.first - 1 : block.last]):
            bare = title = self._named(block) or title
        if bold := _BOLD.match(bare.lstrip("🔴🟠🟡⚠️❌ ")):
            lead = _head(bold[1] or bold[2]).title
            if _letters(_without_place(lead)) > _FEW and not vocabulary.severity(lead):
                return _first_sentence(lead)
        if _letters(_without_place(title)) <= _FEW or _is_kind(title):
            title = self._said_below(block.first, block.last + 6) or title
        return _first_sentence(title)

    def _named(self, block: Block) -> str:
        """Return the first value of a record that has words and is neither severity nor place."""
        fields = map(vocabulary.labelled, self.plain[block.first - 1 : block.last])
        told = (value for label, value in fields if not _is_scale(label))
        return next((one for one in told if _letters(_without_place(one)) > _FEW), "")

    def _said_below(self, first: int, last: int) -> str:
        """Return the title that stands below a line: labelled, in bold, or the first words."""
        if told := self._labelled(first, min(last, first + 8)):
            return told
        rows = [row for row in self.plain[first:last] if _letters(row) > 12]
        bold = _BOLD.search("\n".join(rows[:8]))
        return (bold[1] or bold[2]) if bold else rows[0].strip() if rows else ""

    def _labelled(self, first: int, last: int) -> str:
        """Return what a label such as `Title:` says in the lines behind `first`, or ''."""
        for row in self.plain[first:last]:
            label, value = vocabulary.labelled(row)
            if label.strip("> ") in _TITLES and _letters(value) > _FEW:
                return value
        return ""

    def _made(
        self, severity: str, identity: str, title: str, first: int, last: int, recap: bool
    ) -> _Found | None:
        title = _clean(title)
        if _letters(title) <= _FEW or vocabulary.says_nothing(title):
            below = _clean(_first_sentence(self._said_below(first, last)))
            is_named = bool(identity and title) and not vocabulary.says_nothing(title)
            if _letters(below) <= _FEW and not is_named:
                return None
            title = below or title
        place = self._place(first, last)
        return _Found(recap, _finding(severity, identity, title, first, last, place))

    def _place(self, first: int, last: int) -> Place:
        own = self._text(first, min(last, first + 40))
        place = places.find(own)
        if place.line:
            return place
        number = places.line_in(own) or places.line_in(self._lead_in(first))
        above = self._above_places[first - 1]
        return Place(place.file, number) if place.file else Place(above.file, number or above.line)

    def _lead_in(self, first: int) -> str:
        """Return the lines of a paragraph above the one that begins a finding."""
        start = first - 1
        while start > max(0, first - 5) and self.plain[start - 1].strip():
            start -= 1
            if _begins(self.plain[start]) or self.plain[start].lstrip()[:1] in _NO_LEAD:
                return ""
        return self._text(start + 1, first - 1)

    # Tables, front matter, code

    def _of_table(self, at: int, block: Block) -> list[_Found]:
        head, *rows = [
            [_clean(cell) for cell in markdown.cells(row.strip())]
            for row in self.plain[block.first - 1 : block.last]
        ]
        roles = [column(cell) for cell in head]
        if "severity" not in roles and (card := _of_card(rows, block)):
            return [_Found(False, card)]
        group = self._group(at)
        if "severity" not in roles and not group:
            return []
        numbered = enumerate(rows, block.first + 1)
        made = [one for number, row in numbered if (one := _of_row(roles, row, number, group))]
        is_scale = len(made) > 2 and len({one.severity for one in made}) == len(made)
        is_scale = is_scale and not {"place", "file", "id"}.intersection(roles)
        if is_scale and {"meaning", "definition", "criteria", "sla"} & {c.lower() for c in head}:
            return []
        return [_Found(True, self._at_section(one)) for one in made]

    def _at_section(self, one: Finding) -> Finding:
        """Return the finding of a row where its own section is, if there is one with its id."""
        own = self._by_id.get(one.id) if one.id else None
        if own is None:
            return one
        place = self._place(own.first, own.last)
        there = {"file": place.file, "at": place.line} if place.file and not one.file else {}
        return one.replace(line=own.first, end=own.last, **there)

    def _of_matter(self, block: Block) -> list[_Found]:
        """The findings listed in YAML front matter."""
        found: list[_Found] = []
        said: dict[str, str] = {}
        start = block.first
        for number in range(block.first + 1, block.last + 1):
            row = self.rows[number - 1].strip()
            if row[:2] == "- " or number == block.last:
                one = _of_row(list(map(column, said)), list(said.values()), start, "")
                found += [_Found(True, one.replace(end=number - 1))] if one else []
                said, start = {}, number
            key, mark, value = row.removeprefix("- ").partition(":")
            if mark and value.strip():
                said.setdefault(key.strip().lower(), value.strip(" \"'"))
        return found

    def of_codes(self) -> list[_Found]:
        """The findings in fenced blocks of JSON."""
        found = []
        for block in self.blocks:
            if block.kind == "code" and block.title[:5].lower() in ("json", "sarif", ""):
                code = "\n".join(self.rows[block.first : block.last - 1])
                found += [
                    _Found(
                        False, one.replace(line=one.line + block.first, end=one.end + block.first)
                    )
                    for one in of_objects(code) or ()
                ]
            elif block.kind == "code":
                found += self._of_remarks(block)
        return found

    def _of_remarks(self, block: Block) -> list[_Found]:
        """The remarks in a block of code: `// REVIEW(critical): …`."""
        found, file = [], ""
        for number in range(block.first + 1, block.last):
            bare = self.rows[number - 1].strip("+-/#*;<!> \t")
            file = places.heads(bare).file or file
            head = _head(bare) if _KIND.match(bare) else None
            if head and head.severity:
                place = Place(file, 0)
                one = _finding(head.severity, "", _clean(head.title), number, number, place)
                found.append(_Found(False, one))
        return found

    # Lines of linters, and prose

    def of_lines(self) -> list[_Found]:
        found = []
        for number, row in enumerate(self.rows, 1):
            row = _STAMPED.sub("", row) if "Z " in row[:40] or "##[" in row[:40] else row
            match = (_LINT.match(row) if ":" in row or "(" in row else None) or next(
                filter(None, (rule.match(row) for rule in (_ANNOTATION, _STYLISH, _CROSSED))), None
            )
            if match is None:
                found += self._of_columns(row, number)
                continue
            said = match.groupdict()
            severity = LINTERS.get(said["word"].lower(), "") or vocabulary.severity(said["word"])
            at = int(said.get("line") or said.get("line2") or 0)
            file = said.get("file") or (self._above_places[number - 1].file if at else "")
            if severity:
                place = Place(file.removeprefix("./"), at)
                title = _clean(said["rest"])
                found.append(_Found(False, _finding(severity, "", title, number, number, place)))
        return found

    @staticmethod
    def _of_columns(row: str, number: int) -> list[_Found]:
        """The finding in a line of three or more columns, of which one is a severity."""
        cells = row.split("  ") if "  " in row.strip() and "." in row else []
        told = [cell.strip() for cell in cells if cell.strip()]
        graded = [cell for cell in told if vocabulary.severity(cell)]
        if len(told) < 3 or len(graded) != 1 or not places.find(row).file:
            return []
        others = max((cell for cell in told if cell not in graded), key=_letters)
        one = _of_row(["severity", "title", "place"], [graded[0], others, row.strip()], number, "")
        return [_Found(False, one)] if one else []

    def of_compilers(self) -> list[_Found]:
        """What stands above the arrow to its place: `error: …`, then `--> src/main.rs:4:5`."""
        if not any(row.lstrip()[:3] in ("-->", "╭─[", ",-[") for row in self.rows):
            return []
        from contextkit.text.digests import diagnostics
        from contextkit.text.digests.lines import Lines

        found = []
        for one in diagnostics.find(Lines("\n".join(self.rows)))[0]:
            if severity := LINTERS.get(one.level, ""):
                end = self._paragraph(one.line)
                place = places.find(one.place)
                made = _finding(severity, "", _clean(one.said), one.line, end, place)
                found.append(_Found(False, made))
        return found

    def _paragraph(self, first: int) -> int:
        """The last line of the paragraph that a line is in."""
        below = range(first, len(self.rows))
        return next((at for at in below if not self.rows[at].strip()), len(self.rows))

    def of_prose(self) -> list[_Found]:
        """Paragraphs that name a place and say in strong words what is wrong there."""
        found = []
        for at, block in enumerate(self.blocks):
            if block.kind not in ("text", "item", "quote") or self._is_below(at, _NO_FINDINGS):
                continue
            rows = self.plain[block.first - 1 : block.last]
            said = " ".join(rows)
            place = places.find(said)
            if not place.file or _MILDLY.search(said[:60]) or _is_fields(rows):
                continue
            parts = [one for one in _sentences(said) if not _DENIES.search(one)]
            left = " ".join(parts)
            is_worst = bool(_WORST.search(left)) and "less urgent" not in left
            severity = "P0" if is_worst else "P1" if _BAD.search(left) else ""
            if severity:
                title = next((one for one in parts if _BAD.search(one) or _WORST.search(one)), said)
                title = " ".join(parts[:2]) if place.file in title else title
                end = self._end_of(at, block)
                one = _finding(severity, "", _clean(title), block.first, end, place)
                found.append(_Found(False, one))
        return found

    def unsure(self, spans: list[tuple[int, int]]) -> tuple[int, ...]:
        """Return the lines of blocks that look like findings and are none of `spans`."""
        known = {
            number for first, last in spans for number in range(first, min(last, first + 5_000) + 1)
        }
        others = known | {block.first for block in self.blocks if block.kind == "heading"}
        found = []
        for at, block in enumerate(self.blocks):
            rows = self.plain[block.first - 1 : block.last]
            is_record = block.kind == "text" and _is_fields(rows)
            if any(map(_is_settled, rows)):
                continue
            if block.first in known or not (is_record or block.kind in ("heading", "item")):
                continue
            near = range(block.first + 1, min(block.last, block.first + 3) + 1)
            end = next((number - 1 for number in near if number in others), near.stop - 1)
            said = self._text(block.first, block.last if is_record else end)
            place = places.find(said)
            is_placed = place.line or (is_record and place.file and places.line_in(said))
            if is_placed and (is_record or _BAD.search(said) or _WORST.search(said)):
                if not self._is_below(at, _NO_FINDINGS | _REPEATS):
                    found.append(block.first)
        return tuple(found[:50])


def _is_fields(rows: list[str]) -> bool:
    """Whether all lines of a paragraph are fields, as a scanner writes them: `Line: 12`."""
    return len(rows) > 2 and all(_FIELD.match(row) for row in rows)


def _of_card(rows: list[list[str]], block: Block) -> Finding | None:
    """Return the finding that a table of labels and values tells of, one in each row."""
    labels = [(column(row[0]), row[1]) for row in rows if len(row) == 2]
    if len(labels) < len(rows) or not any(role == "severity" for role, _ in labels):
        return None
    roles, cells = zip(*labels, strict=True)
    one = _of_row(list(roles), list(cells), block.first, "")
    return one.replace(end=block.last) if one else None


def _of_cell(cell: str) -> str:
    """Return the severity of a cell, or of one of its parts: `S1 – Critical`, `High (8.1)`."""
    parts = re.split(r"\s[–—-]\s|[()/:]", cell)
    return vocabulary.severity(cell) or vocabulary.strictest(*map(vocabulary.severity, parts))


def _is_settled(row: str) -> bool:
    """Whether a line says that nothing is left to do: `Status: fixed`, `PASSED for …`."""
    low = row.lower()
    if not any(word in low for word in _DONE):
        return False
    if _TICKED.search(row):
        return True
    label, value = vocabulary.labelled(row)
    first = row[:20].strip().partition(" ")[0]
    return _is_done(value) if label in _STATES else first.isupper() and _is_done(first)


def _is_done(said: str) -> bool:
    return not _DONE.isdisjoint(lines.words(said[:24])[:1])


def _of_row(roles: list[str], row: list[str], number: int, group: str) -> Finding | None:
    """Return the finding in a row of a table; `group` is the severity of the table as a whole."""
    fields: dict[str, str] = {}
    for role, cell in zip(roles, row, strict=False):
        fields.setdefault(role, cell)
    identity = fields.get("id", "").strip()
    identity = identity if vocabulary.is_id(identity) else ""
    severity = _of_cell(fields["severity"]) if "severity" in fields else group
    severity = severity or vocabulary.severity_of_id(identity)
    title = fields.get("title", "")
    if not title:
        others = [cell for role, cell in fields.items() if role not in ("severity", "line")]
        title = max(others, key=_letters, default="")
    if not severity or _letters(title) <= _FEW or vocabulary.says_nothing(title):
        return None
    if any(_is_done(cell) for cell in fields.values() if cell != title):
        return None
    place = places.find(f"{fields.get('file', '')}:{fields.get('line', '')}")
    place = place if place.file else places.find(" | ".join(row))
    digits = re.match(r"\D{0,3}(\d{1,7})", fields.get("line", ""))
    if digits and place.file and not place.line:
        place = Place(place.file, int(digits[1]))
    return _finding(severity, identity, _first_sentence(title), number, number, place)


def parted(found: list[Block], rows: list[str]) -> list[Block]:
    """Return the blocks, with a paragraph parted where one of its lines begins a finding."""
    made: list[Block] = []
    moved: list[int] = []
    for block in found:
        inside = moved[block.inside] if block.inside >= 0 else -1
        moved.append(len(made))
        starts = [block.first]
        if block.kind == "text":
            starts += _starts_in(rows[block.first - 1 : block.last], block.first)
        if len(starts) == 1:
            made.append(block._replace(inside=inside))
            continue
        for first, after in zip(starts, [*starts[1:], block.last + 1], strict=True):
            made.append(Block("text", 0, rows[first - 1].strip(), first, after - 1, inside))
    return made


def _starts_in(rows: list[str], first: int) -> list[int]:
    """Return the lines of a paragraph, after its own first one, that begin a finding."""
    again = _FIELD.match(rows[0])
    is_list = len(rows) > 1 and all(map(_tail, rows))
    return [
        number
        for number, row in enumerate(rows[1:], first + 1)
        if is_list or _begins(row) or (again and row.startswith(again[0]))
    ]


def _begins_finding(block: Block) -> bool:
    head = _head(block.title)
    return bool(head.severity and head.marked) or bool(titled(block.title)[1])


def _begins(row: str) -> bool:
    """Whether a line of a paragraph begins a finding: a severity in brackets, `>> Issue: …`."""
    bare = row.strip()
    if not bare:
        return False
    if bare[:1] in "❯❱" or bare[:6] == "Issue:":
        return True
    if len(bare) > 600 or vocabulary.labelled(bare)[0] in _LABELS:
        return False
    head = _head(bare)
    return (
        head.marked and bool(head.severity) and bool(head.raw or head.id) and bare[:1] not in "_`"
    )


LINTERS = {
    "error": "P1", "fatal": "P0", "warning": "P2", "note": "P3", "info": "P3", "style": "P3",
    "notice": "P3", "convention": "P3", "refactor": "P3", "hint": "P3", "blocking": "P0",
}  # fmt: skip
_COLUMNS = {
    "file": "file path component datei fichier archivo ファイル 文件",
    "place": "location where file:line",
    "line": "line lines line(s) zeile ligne línea 行",
    "rule": "rule",
    "title": "message problem details bug what name vulnerability problème problema 問題 问题 描述"
             " befund beschreibung",
    "severity": "risk-level rating impact schweregrad priorität gravité sévérité severidad gravedad"
                " severidade gravidade 重要度 深刻度 严重程度 严重性",
    "count": "count anzahl",
    "type": "type category agents agent",
}  # fmt: skip
_ROLES = {word: role for role, words in _COLUMNS.items() for word in words.split()}


def column(cell: str) -> str:
    """Return the role of a table's column, by its head."""
    bare = lines.plain(cell).lower().strip(" .:")
    word = bare.replace(" ", "-")
    return _ROLES.get(word) or index.role(bare) or word


@functools.lru_cache(1 << 18)
def group_of(text: str) -> str:
    """Return the severity of a heading or lead that only opens a group: `🔴 Critical bugs (2)`."""
    bare = lines.plain(text).strip()
    if len(bare) > 80 or not bare:
        return ""
    severity = index.label_of(bare)
    if severity:
        return severity
    head = _head(lines.unbulleted(bare)[0])
    words = re.sub(r"\([^()]{0,40}\)|\d+", " ", head.title).lower().strip(" :.").split()
    if head.id or not (head.severity or words):
        return ""
    if head.severity and (not words or words[-1].strip(":") in _PLURALS):
        return head.severity
    if head.severity and (also := vocabulary.severity(head.title)):
        return vocabulary.strictest(head.severity, also)
    known = [vocabulary.severity(word) for word in words]
    if words and words[-1] in _PLURALS and any(known) and len(words) <= 4:
        return vocabulary.strictest(*known)
    return ""


@functools.lru_cache(1 << 18)
def titled(text: str) -> tuple[str, str, str]:
    """Return id, severity and title of a heading: `Finding 1.1: No quickstart (P0)`."""
    bare = lines.unbulleted(text)[0]
    named = re.match(r"(?i)(?:finding|issue|bug|problem)\s?#?(?=[\d:]|[CHML]-\d)", bare)
    rest = bare[named.end() :] if named else bare
    head = _head(rest)
    identity, title = head.id, head.title
    if not identity:
        number = re.match(r"([A-Z]{0,4}-?\d[\d.]{0,6})[:.)]?(?:\s|$)", rest)
        if number and (named or number[1][:1].isalpha()) and not vocabulary.severity(number[1]):
            identity = number[1].strip(".") if vocabulary.is_id(number[1]) or named else ""
    title = re.sub(r"^[A-Z]{0,4}-?\d[\d.]{0,6}[:.)]\s{1,3}", "", title)
    inner = _head(title)
    audit = vocabulary.of_audit(identity) if named else ""
    severity = vocabulary.strictest(head.severity, audit, _tail(bare))
    if not severity and inner.marked:
        severity, title = inner.severity, inner.title
    return identity, severity, title


def label_in(row: str) -> str:
    """Return the severity that a line states as a label: `**Severity:** High (…)`."""
    if len(row) > 600:
        return ""
    if "❰" in row:
        return vocabulary.severity(row.strip(" ❰❱"))
    if row.rstrip(" *_").endswith(("everity", "riority")) and len(row) < 40:
        return vocabulary.severity(lines.plain(row).rpartition(" ")[0])
    bare = row.strip(" >")
    if "–" in bare or "—" in bare or " - " in bare:
        bare = _DASHED.sub(r"\1: ", bare, 1)
    label, value = vocabulary.labelled(bare)
    if _is_scale(label.strip(" _*")):
        if _is_legend(value):
            return ""
        said = first_part(value)
        known = vocabulary.severity(said) or vocabulary.severity(value.split(" ")[0])
        return known or LINTERS.get(said.lower(), "")
    begins = row.strip(" *_-({>\"'|").lower()
    found = begins[:1] in ("s", "p", "g", "[") or begins.startswith(("id", "type", "file"))
    stated = _INLINE.search(row)
    if stated and not found:
        before = row[: stated.start()].rstrip(" *_`")
        found = before[-1:] in _BETWEEN and not _is_legend(row)
    return vocabulary.severity(stated["value"].strip("*_`\"'")) if stated and found else ""


def _is_scale(label: str) -> bool:
    """Whether a label says how bad something is: `SEVERITY`, `RISK FACTOR`."""
    first, _, second = label.partition(" ")
    return label in _LABELS or (first in _LABELS and second in _RATINGS)


def _is_legend(value: str) -> bool:
    """Whether a value explains the severities: it names three of them."""
    return len({*map(vocabulary.severity, lines.words(value[:_LONG]))} - {""}) > 2


def first_part(value: str) -> str:
    """Return `P1` from `P1 — why`, `P1 (why)` or `P1, why`."""
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - ", "  ", "/"):
        value = value.partition(mark)[0]
    return value.strip(" *_`")


@functools.lru_cache(1 << 18)
def _head(text: str) -> Head:
    """Return the head of a line, after emoji and brackets of the kind `[bug]`."""
    bare = text.strip()
    if bare[:1] in "`lL":
        bare = _AT_LINE.sub("", bare, 1)
    marked = re.match(
        r"(?:`?\d{1,7}(?:-\d{1,7})?`?\s?:\s)?(?:_[^_\n]{1,40}_\s?\|\s?)_?([^_\n]{1,24})_?$", bare
    )
    if marked and vocabulary.severity(marked[1]):
        known = (one for one in marked[1].split() if one.isalnum() and vocabulary.severity(one))
        return Head(f"[{next(known, marked[1])}] ")
    emoji = re.match(
        r"[*_\[ ]{0,4}(🔴|🟥|🚨|🛑|⛔|🟠|🟡|🔵|🟢|❌|⚠️?|❯❯❱|❯❱|❱)\s{0,2}[*_\] ]{0,4}", bare
    )
    if emoji:
        rest = Head(("**" if bare[: emoji.end()].count("**") % 2 else "") + bare[emoji.end() :])
        if not rest.severity:
            rest.severity = rest.raw = vocabulary.severity(emoji[1])
        rest.marked = True
        return rest
    if "(" in bare[:32] and (kind := _KIND.match(bare)):
        stated = map(vocabulary.severity, kind[1].split(","))
        if severity := vocabulary.strictest(*stated):
            return Head(f"[{severity}] {bare[kind.end() :]}")
    head = Head(bare)
    lead = _LEAD.match(bare) if "[" in bare[:4] and not head.severity else None
    if lead and (severity := _in_brackets(lead[1])):
        return Head(f"[{severity}] {bare[lead.end() :]}")
    if head.marked and not head.severity and not head.id and bare[:1] in "[(":
        other = Head(head.title)
        return other if other.severity and other.marked else head
    return head


def _tail(text: str) -> str:
    """Return the severity at the end of a title or in its brackets: `Race — High`, `Race (P0)`."""
    parts = _BRACKETS.findall(text.replace("`", ""))[:8]
    found = vocabulary.strictest(*map(_in_brackets, parts))
    for mark in (" — ", " – ", " - ", " | "):
        last = text.rpartition(mark)[2] if mark in text else ""
        if 0 < len(last) < 24:
            found = vocabulary.strictest(found, vocabulary.severity(_clean(last)))
    return found


@functools.lru_cache(1 << 14)
def _in_brackets(part: str) -> str:
    """Return the severity in brackets that hold nothing else but a score: `9/10 · Critical`."""
    words = re.sub(r"[:,/·]", " ", _SCORE.sub(" ", part.upper())).split()
    known = [vocabulary.severity(w) for w in words if w not in _SCALES]
    is_stated = all(known) or not set(words).isdisjoint(SEVERITIES)
    return vocabulary.strictest(*known) if 0 < len(words) <= 4 and is_stated else ""


@functools.lru_cache(1 << 18)
def _is_about(title: str, words: frozenset[str]) -> bool:
    said = lines.words(title, "-")
    return len(said) <= 6 and not words.isdisjoint(said)


def _is_part(title: str) -> bool:
    """Whether a heading may be a part of a finding: `Description`."""
    return not (titled(title)[1] or group_of(title) or _is_general(title))


def _is_general(title: str) -> bool:
    """Whether a heading names no finding but all of them: `Findings`, `Code review`."""
    return (_PLURALS | _GENERAL).issuperset(lines.words(title))


def is_plural(word: str) -> bool:
    """Whether a word names findings in general: `issues`, `bugs`."""
    return word in _PLURALS


def counts_only(title: str) -> bool:
    """Whether what follows a severity is only a count: `1, P1: 2`, `0 | High: 0`."""
    rest = title.strip(" *_|:")
    return bool(_COUNT.match(rest)) and _letters(rest) <= 24 and not places.find(rest).file


def _is_count(head: Head) -> bool:
    is_named = bool(head.id) and not vocabulary.severity_of_id(head.id)
    has_words = bool(head.severity and head.title.strip(" *_|:"))
    return has_words and not is_named and counts_only(head.title)


def _is_lead(bare: str) -> bool:
    """Whether a paragraph only introduces the list below it."""
    return bool(bare[-1:] == ":" or bare.endswith(":**")) and bool(group_of(bare.rstrip(":*")))


def _is_kind(title: str) -> bool:
    low = _clean(title).lower().strip(" |")
    return low in ("potential issue", "refactor suggestion", "bug", "issue", "security", "nitpick")


def unmarked(row: str) -> str:
    """Return a line without HTML, images and quote marks, so that it reads as Markdown."""
    bare = row.lstrip()
    while bare[:1] == ">":
        row = bare = bare[1:].lstrip()
    if "【" in row:
        row = row.replace("【", "[").replace("】", "] ")
    if bare[2:3] == "[" and bare[4:6] == "] " and bare[0] in "-*+":
        row = row.replace(bare[:6], bare[:2], 1)  # a box to tick
    if row.count(":") > 1:
        row = _SHORTCODE.sub(lambda found: _SHORTCODES.get(found[1], found[0]), row)
    if "![" in row:
        row = _IMAGE.sub(lambda found: _badge(found[1]), row)
    if "<" in row and ">" in row:
        row = _TAG.sub(_as_markdown, row.replace("<!--", "").replace("-->", ""))
        row = lines.unescaped(row)
        bare = row.strip()
        row = bare + " |" if bare[:1] == "|" and bare[-1:] != "|" else row
    return row


def _unstruck(row: str) -> str:
    """Return a line without what is struck out, and with the value of a setting as a label's."""
    if "~~" in row:
        row = _STRUCK.sub(" ", row)
    return _SETTING.sub(r"\1: \2", row) if "=" in row else row


def _as_heading(row: str, is_org: bool) -> str:
    """Return the headings and tables of AsciiDoc, of wikis and of Org as Markdown has them."""
    if row[:2] == "||":
        return row.replace("||", "|")
    if row[:1] not in ("=", "h", "*"):
        return row
    found = _OTHER_HEADING.match(row)
    if not found or (found["stars"] and not is_org):
        return row
    level = int(found["h"] or 0) or len(found["signs"] or found["stars"])
    return f"{'#' * min(level, 6)} {row[found.end() :]}"


def _badge(alt: str) -> str:
    word = alt.replace(" Badge", "").replace(" badge", "").strip()
    return f"[{word}] " if vocabulary.severity(word) else word


def _as_markdown(found: re.Match[str]) -> str:
    end, tag = bool(found[1]), found[2].lower()
    if tag[0] == "h" and tag[1:].isdigit():
        return "" if end else "#" * int(tag[1]) + " "
    return _MARKS.get(tag, ("", ""))[end]


_MARKS = {  # of HTML: what begins and what ends it in Markdown
    **dict.fromkeys(("b", "strong", "summary"), ("**", "**")), "code": ("`", "`"),
    **dict.fromkeys(("td", "th"), ("| ", " ")), "li": ("- ", ""),
    **dict.fromkeys(("br", "p", "div"), (" ", " ")),
}  # fmt: skip


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if _letters(part) > _FEW]


def _first_sentence(text: str) -> str:
    return next(iter(_sentences(text)), text)[:_TITLE]


def _without_place(title: str) -> str:
    found = places.find(title)
    return title.replace(found.file, "") if found.file else title


def _clean(title: str) -> str:
    """Return a title on one line, without markup and without the severity in its brackets."""
    title = _LINK.sub(r"\1", title) if "](" in title else title
    title = names.one_line(lines.plain(title.replace("_|_", "|"))).strip(" :—–-|_")
    before, _, last = title.rpartition("(")
    if before and last.endswith(")") and _tail(f"({last}"):
        title = before.rstrip()
    return title[:_TITLE]


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text[:200]))


# JSON and CSV, by `text/objects.py`


def of_objects(text: str) -> list[Finding] | None:
    """Return the findings of JSON, of an object a line, or of CSV; None if it is none of them.

    `line` and `end` are the lines of the object in the text.
    """
    bare = text.removeprefix("\ufeff").strip()
    is_tree = bare[:1] in ("{", "[", "<")
    tree = objects.tree(bare) if is_tree else objects.rows(bare)
    if tree is None or (isinstance(tree, list) and not any(objects.below(tree))):
        return None
    search = _Search(text.split("\n"))
    made = filter(None, map(_of_object, objects.findings(_open(tree), _graded)))
    found = []
    for one in itertools.islice(made, _MOST_OBJECTS):
        first, last = search.span(one.title)
        found.append(one.replace(line=first, end=last))
    if not found and bare[:1] == "<":
        return None  # a page of HTML
    return found or _of_told(tree, text.count("\n") + 1)


def _open(tree: Any, depth: int = 0) -> Any:
    """Return a tree without the objects in its lists that are done with: `"status": "fixed"`."""
    if depth > _DEEPEST:
        return tree
    if isinstance(tree, dict):
        return {key: _open(value, depth + 1) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_open(one, depth + 1) for one in tree if not _is_over(one)]
    return tree


def _is_over(one: Any) -> bool:
    if not isinstance(one, dict):
        return False
    stated = (one.get(key) for key in ("status", "state", "resolution"))
    return one.get("resolved") is True or any(isinstance(s, str) and _is_done(s) for s in stated)


def _of_told(tree: Any, last: int) -> list[Finding]:
    """The findings of reviews that an object has as a value: `{"result": "# Review …"}`."""
    found: list[Finding] = []
    left = MOST_LINES
    for said in itertools.islice(objects.told(tree), _MOST_TOLD):
        rows = said.split("\n")[:left]
        found += findings("\n".join(rows))
        left -= len(rows)
    return [one.replace(line=1, end=last) for one in found[:_MOST_OBJECTS]]


def _of_object(one: objects.Found) -> Finding | None:
    """The finding of an object; a comment beside a line says in its words how bad it is."""
    title = one.title or one.name
    severity = one.grade or vocabulary.Head(title).severity
    if not severity:
        return None
    identity = one.id if vocabulary.is_id(one.id) else ""
    place = Place(one.file, one.line) if one.file else places.find(title)
    return _finding(severity, identity, title, 1, 1, place)


def _graded(key: str, word: str) -> str:
    if key in ("type", "confidence"):  # of a bot, no severity
        return ""
    known = vocabulary.severity(word) or _OBJECT_WORDS.get(word.lower(), "")
    return known or (_OBJECT_NUMBERS.get(word, "") if key == "severity" else "")


class _Search:
    """Finds the lines of each title in turn."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self._at = lines, 0
        self._is_json = next(filter(str.strip, lines), "").lstrip("\ufeff \t")[:1] in ("{", "[")
        self._plain = [line.replace('\\"', '"') for line in lines]

    def span(self, title: str) -> tuple[int, int]:
        """Return the lines of the object around the next line that has this title, or begins it."""
        ahead = range(self._at, min(self._at + _AHEAD, len(self._plain)))
        begins = () if self._is_json else (" ".join(title.split()[:2]),)  # a cell may go on below
        for words in (title[:40], *begins):
            at = next((number for number in ahead if words in self._plain[number]), -1)
            if at >= 0:
                self._at = at
                return self._around(at)
        return min(self._at + 1, len(self._lines)), min(self._at + 1, len(self._lines))

    def _around(self, at: int) -> tuple[int, int]:
        if not self._is_json or ("{" in self._lines[at] and "}" in self._lines[at]):
            return at + 1, at + 1
        first = at
        while first > max(0, at - 30) and "{" not in self._lines[first]:
            first -= 1
        last = at
        while last < min(len(self._lines) - 1, at + 30) and "}" not in self._lines[last]:
            last += 1
        return first + 1, last + 1
