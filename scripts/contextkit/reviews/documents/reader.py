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

import bisect
import functools
import itertools
import re
from collections import Counter

from contextkit.base import markdown
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator
from contextkit.reviews.documents import index, normal, shapes, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.shapes import NOWHERE, Place
from contextkit.reviews.documents.vocabulary import SERIOUS, SEVERITIES
from contextkit.text import objects
from contextkit.text.blocks import Block, blocks
from contextkit.text.patterns import Pattern

_REPEATS = frozenset(
    "summary recap overview statistics stats checklist plan roadmap conclusion totals breakdown"
    " next recommended actions action metrics scorecard verdict assessment table-of-contents"
    " contents zusammenfassung résumé resumen order prioritized".split()
)
_PRAISE = frozenset(
    "strengths positive positives praise good well works passed checked verified fine"
    " fixed resolved license licence dismissed".split()
)
_WORK = frozenset("changes fixes comments suggestions improvements".split())
_NO_FINDINGS = shapes.EXPLAINS | _PRAISE
_STATES = frozenset(["STATUS", "STATE", "RESOLUTION", "UPDATE"])
_DONE = frozenset(
    "fixed resolved closed passed addressed mitigated solved remediated outdated behoben erledigt corrigé"
    " résolu corregido resuelto corrigido resolvido исправлено".split()
)
_OVER = Pattern(  # a state that stands alone: `Race (resolved)`, `Fixed: …`
    rf"(?:^|[(\[—–:-]\s?)\W{{0,4}}(?:{'|'.join(sorted(_DONE))})\W{{0,3}}(?:$|[:)\]])",
    re.IGNORECASE,
    needs=" ".join(_DONE),
)
_TICKED = Pattern(rf"[✅✔☑][\ufe0f\W]{{0,4}}(?:{'|'.join(sorted(_DONE))})\b", re.IGNORECASE)
_DENIED = Pattern(  # a last sentence
    r"\W*(?:(?:this is )?(?:a )?false (?:positive|alarm)|refuted|withdrawn|rejected|unfounded"
    r"|not an? (?:real )?(?:issue|problem|bug|defect|vulnerability|finding))"
    r"(?:[,;(:—–-][^.]{0,60})?\W*$",
    re.IGNORECASE,
)
_SAMPLE = Pattern(r"\b(?:such as|for example|e\.g\.|like (?:this|these|so)|looks like)\b", re.I)
_SKIPPED = frozenset("ignored skipped excluded filtered unreviewed".split())
_FILES = frozenset("file files path paths".split())
_DISAGREES = frozenset("wrong false incorrect untrue refuted unfounded falsch faux falso".split())
_IDS = frozenset(["ID"])
_STAMPED = Pattern(r"^(?:[\d:.TZ-]{16,40} )?(?:##\[\w{1,12}\])?")  # by a build
_ANNOTATION = Pattern(  # of a build, for the page of a pull request
    r"^\s{0,4}::(error|warning|notice)\s([^\n]{1,600}?)::(\S.{0,500})"
)
_PARAMETER = Pattern(r"(file|line|title)=([^,]{1,200})")
_FATAL = Pattern(r":\d{1,7}: F: ")  # of a linter
_CODED = Pattern(  # a file without an ending, or a rule before the level
    r"(\S{1,200}:\d{1,7}):? [A-Z]{1,6}\d{2,5} (error|warning|note|info|style): (\S.*)$"
)
_WORST = Pattern(
    r"must (?:be fix|(?:be |not )?(?:ship|merge))|has to be fixed|data loss"
    r"|not (?:be )?(?:merge|ship)"
    r"|blocker|critical(?! (?:section|path|region))|before (?:this|it) (?:goes|ships|lands)"
    r"|remote code|injection|anyone can|corrupt|twice",
    re.IGNORECASE,
)
_BAD = Pattern(
    r"\bhigh (?:severity|risk|priority)\b|serious|must fix|\bbug\b|crash|\bloses?\b|\bleak|race"
    r"|deadlock"
    r"|\bwrong|breaks?\b|broken|never|fails?\b|incorrect|unsafe|vulnerab|should be fixed|problem",
    re.IGNORECASE,
)
_DENIES = Pattern(
    r"\bfound (?:none|nothing|no)\b|\b(?:not|n't) (?:find|see|spot) any"
    r"|\b(?:nothing|no|none) (?:\w+ ){0,4}(?:fails?|breaks?|broken|wrong|lost|leaks?|races?)\b"
    r"|\bprevents? (?:it|this|that|both)\b|: nothing\W*$"
    r"|\bcould(?:n't| not) (?:provoke|find|reproduce|trigger|break)"
    r"|\b(?:nothing|no|none|zero|neither|without(?: any)?)[ :-](?:\w+,? ){0,2}"
    r"(?:critical|high|serious|block)"
    r"|\b(?:critical|high|serious|blocking)\b[^.:]{0,20}: ?(?:none|no|0)\b"
    r"|^no\b[^.]{0,99}\b(?:found|identified|detected|seen|noted)\b"
    r"|\b(?:is|are|was|were|been) (?:now |all |both )?(?:fixed|fine|resolved|gone|solved)\W*$",
    re.IGNORECASE,
)
_OF_LOG = Pattern(rf"\$ |[ \t]+\S|{shapes.AT_PLACE.pattern}[\d:]*:\s")  # a line that a tool printed
_MILDLY = Pattern(r"smaller|minor|nit|cosmetic|style|optional|nice to have|suggest", re.I)
_PLACEHOLDER = Pattern(r"\s<[a-z][\w :|/-]{1,40}>\s*$")
_OBJECT_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_TYPES = ("blocker", "critical", "high", "medium", "low")  # that are a severity
_KEYS = ("severity", "risk", "criticality", "title", "headline", "message", "file", "path", "line")
_NAMED = ("query", "rule", "check", "issue", "finding", "problem", "vulnerability", "weakness")
_ONE_SENTENCE = 140  # characters
_MOST_OBJECTS = 5_000  # findings
MOST_LINES = 20_000  # of a file that are read: more take too long (make torture what=time)
_DEEPEST = 40  # objects in objects
_MOST_TOLD = 200  # texts in objects
_NONE = Pattern(r"\W{0,3}none\b(?! of)", re.IGNORECASE)
_NUMBER = Pattern(r"(?:[A-Z][a-z]{1,8}\.?\s)?[\[(#№]{0,2}(\d{1,3})(?![\w.]\d)")
_COUNTED = Pattern(r"\(\d{1,3}\)\s*$")
_GROUP_WORDS, _MOST_SIBLINGS = 5, 100
_OPENS = 80  # characters of a title that begins with a place
_FEW_BLANKS = 2  # in a sentence that names nothing: `High priority.`
_WIDE = 60  # characters of a line that is full
_FEW = 100  # characters of what says that there is nothing
_ADDRESS = Pattern(r"\s*https?://\S{1,400}")
_AHEAD = 2_000  # lines in which the next finding is looked for


class Read(NamedTuple):
    """What was read: the findings in order, and lines of blocks that may be findings as well."""

    findings: tuple[Finding, ...]
    unsure: tuple[int, ...]


def read(text: str) -> Read:
    """Return the findings of a text without an index, in order. Linear; never raises."""
    whole = of_objects(text)
    if whole is not None:
        return Read(tuple(whole), ())
    sight = Sight(text)
    samples = sight.samples()
    candidates = sight.of_blocks()
    printed = [each for each in sight.of_tools() if each.line not in samples]
    tagged = list(sight.of_tagged())
    there = {line for each in tagged for line in range(each.line, each.end + 1)}
    candidates = [each for each in candidates if each.line not in there]
    there = {line for each in candidates for line in range(each.line, each.end + 1)}
    candidates += [each for each in tagged if each.line not in there]
    starts = {finding.line for finding in printed}
    candidates = [each for each in candidates if not sight.is_around(each, starts)]
    there = {line for candidate in candidates for line in range(candidate.line, candidate.end + 1)}
    candidates += [finding for finding in printed if finding.line not in there]
    candidates = candidates or [each for each in sight.of_codes() if each.line not in samples]
    is_told = any(candidate.severity in SERIOUS for candidate in candidates)
    there = {line for each in candidates for line in range(each.line, each.end + 1)}
    candidates += [finding for finding in sight.of_prose(is_told) if finding.line not in there]
    return Read(tuple(_single(candidates)), sight.unsure(candidates))


def issues(text: str, indexes: Iterable[index.Block]) -> list[Finding]:
    """What a review says of its findings outside its indexes, each id once, maybe no severity."""
    inside = {number for block in indexes for number in range(block.start, block.end + 1)}
    rows = (
        "" if number in inside or row.lstrip()[:1] == ">" else row
        for number, row in vocabulary.numbered(text)
    )
    sight = Sight("\n".join(rows))
    by_key: dict[str, Finding] = {}
    for finding in [*sight.of_ids(), *sight.of_blocks(nested=True)]:
        key = finding.id.upper() or f" {finding.line}"
        there = by_key.setdefault(key, finding)
        severity = vocabulary.strictest(there.severity, finding.severity)
        if severity != there.severity:
            by_key[key] = there.replace(severity=severity)
    return sorted(by_key.values(), key=lambda finding: finding.line)


def is_serious(text: str) -> bool:
    """Whether a text says in strong words what goes wrong: `loses data`, `crashes`."""
    return bool(_WORST.search(text) or _BAD.search(text))


def _finding(
    severity: str,
    title: str,
    first: int,
    last: int = 0,
    place: Place = NOWHERE,
    identity: str = "",
    recap: bool = False,
) -> Finding:
    return Finding(
        severity=severity, id=identity, title=title, line=first, end=last or first,
        file=place.file, at=place.line, recap=recap,
    )  # fmt: skip


def _single(candidates: list[Finding]) -> list[Finding]:
    """Leave out what only repeats: the same id or title, a recap of severities told elsewhere."""
    kept: list[Finding] = []
    positions: dict[str, int] = {}
    for candidate in sorted(candidates, key=lambda each: (each.recap, each.line)):
        keys = [f"#{candidate.id.upper()}"] if candidate.id else []
        keys.append(" ".join(vocabulary.words(candidate.title))[:80])
        section = f"@{candidate.line}"  # that a row of a table tells of
        also = [section] if candidate.recap else []
        at = next((positions[key] for key in keys + also if key in positions), len(kept))
        mine, its = kept[at] if at < len(kept) else candidate, candidate
        if not candidate.recap and its.end - its.line > mine.end - mine.line:
            mine, its = its, mine  # the one that says more
        differs = its.file and (mine.file, mine.at) != (its.file, its.at)
        differs = differs or mine.severity != its.severity
        if at == len(kept) or (differs and not candidate.recap):
            for key in (*keys, section):
                positions.setdefault(key, len(kept))
            kept.append(candidate)
            continue
        place = its if its.file and not mine.at else mine
        severity = vocabulary.strictest(mine.severity, its.severity)
        title = mine.title if any(key in positions for key in keys) else its.title
        kept[at] = mine.replace(severity=severity, title=title, file=place.file, at=place.at)
    told = [finding for finding in kept if not finding.recap]
    own = [each for each in kept if not (each.recap and _is_told(each, kept, told))]
    return sorted(own, key=lambda finding: finding.line)


def _is_told(recap: Finding, kept: list[Finding], told: list[Finding]) -> bool:
    """Whether what only repeats is told elsewhere: there are as many, or one in such words."""
    others = [each for each in told if each.severity == recap.severity]
    again = [each for each in kept if each.recap and each.severity == recap.severity]
    mine = {*vocabulary.words(recap.title)}
    shared = (len(mine & {*vocabulary.words(other.title)}) for other in others)
    is_elsewhere = recap.file and all(recap.file != other.file for other in others)
    is_as_many = len(again) <= len(others) and not is_elsewhere
    return is_as_many or 2 * max(shared, default=0) >= len(mine)


class Sight:
    """One text with its blocks, and what holds where: sections, files."""

    def __init__(self, text: str) -> None:
        self.rows = [_annotated(row) for _, row in vocabulary.numbered(text)]
        is_org = any(row[:2] == "#+" for row in self.rows)
        self.plain: list[str] = []
        for row in normal.with_bars(normal.with_marks(normal.with_classes(self.rows))):
            plain = shapes.as_heading(shapes.unstruck(shapes.unmarked(row)), is_org)
            if shapes.BORDER.match(plain):
                plain = "|---|" if self.plain and self.plain[-1][:1] == "|" else ""
            self.plain.append(plain)
        if end := markdown.front_matter(self.plain):
            self.plain[0] = self.plain[end] = ""  # a list as any other
        self.plain = normal.with_underlines(self.plain)
        self.plain, ends = normal.with_summaries(self.rows, self.plain)
        self._raise_leads()
        self.plain = normal.with_labels(self.plain)
        every = normal.closed(blocks("\n".join(self.plain)), ends)
        self.blocks = shapes.parted(every, self.plain)
        self._above_places = self._heading_places()
        self._headed = {block.first for block in self.blocks if block.kind == "heading"}
        headings = [heading for heading in self.blocks if heading.kind == "heading"]
        times = Counter(heading.title for heading in headings)
        self._signs = Counter(
            (each.inside, each.level, shapes.head_of(each.title).severity) for each in headings
        )
        self._kinds = Counter(sign[:2] for sign in self._signs)
        self._by_id = {shapes.titled(heading.title)[0]: heading for heading in reversed(headings)}
        self._by_number = [
            (match[1], block)
            for block in self.blocks
            if block.kind in ("heading", "text") and (match := _NUMBER.match(block.title))
            if block.kind == "heading" or shapes.begins(block.title)
        ]
        self._parts = {
            title
            for title, count in times.items()
            if count > 1 and not shapes.begins_finding(title)
        }
        self._grades: dict[int, str] = {}  # and more that is asked twice, by block
        self._groups: dict[int, str] = {}
        self._placed: dict[int, bool] = {}
        self._over: set[int] = set()  # lines of what is settled or denied
        self._direct: dict[int, list[int]] = {}
        for at, block in enumerate(self.blocks):
            self._direct.setdefault(block.inside, []).append(at)
        self._lists: dict[int, int] = {}  # the first item of its list, by item, as lines
        for inside in self._direct.values():
            items = [self.blocks[at].first for at in inside if self.blocks[at].kind == "item"]
            self._lists.update(dict.fromkeys(items, items[0]) if items else {})

    def _raise_leads(self) -> None:
        """Make headings of the lines that head what stands below them."""
        told = [(at, row.strip()) for at, row in enumerate(self.plain) if row.strip()]
        for (before, above), (at, bare), (_, after) in zip(
            [(-2, ""), *told], told, [*told[1:], (0, "")], strict=False
        ):
            may_lead = "**" in bare or bare[-1] == ":"
            if not may_lead or not (at > before + 1 or shapes.begins(bare)):
                continue
            is_listed = vocabulary.unbulleted(after)[1]
            if is_listed and not index.group_of(bare) and (severity := shapes.lead_in(bare)):
                self.plain[at] = f"###### {severity}"
            elif shapes.is_lead(bare, after) and not shapes.leads_title(above):
                self.plain[at] = f"###### {bare.replace('**', '').rstrip(':')}"

    def _heading_places(self) -> list[Place]:
        """The place that holds for each line: the last one that a line was wholly about.

        It reaches as far as what the line heads; within a paragraph, item or section, to its end.
        """
        owners = [-1] * len(self.plain)
        for at, block in enumerate(self.blocks):
            owners[block.first - 1 : block.last] = [at] * (block.last - block.first + 1)
        held: list[tuple[int, Place]] = [(len(self.plain), NOWHERE)]  # each to its last line
        blanks = [number for number, row in enumerate([*self.plain, ""]) if not row.strip()]
        places = []
        for number, row in enumerate(self.plain, 1):
            while held[-1][0] < number:
                held.pop()
            here = shapes.place_of(row) if "." in row or "file" in row else NOWHERE
            if here.file:
                held.append((self._reach(owners[number - 1], blanks), here))
            places.append(held[-1][1])
        return places

    def _reach(self, at: int, blanks: list[int]) -> int:
        """Return the last line for which a line of a block holds."""
        block, whole = self.blocks[at], len(self.plain)
        if block.kind in ("heading", "item"):
            return block.last
        if block.first < block.last:  # to the next blank line
            return blanks[bisect.bisect_left(blanks, block.last)]
        return self.blocks[block.inside].last if block.inside >= 0 else whole

    def _text(self, first: int, last: int) -> str:
        return "\n".join(self.plain[first - 1 : last])

    def _is_below(self, at: int, words: frozenset[str]) -> bool:
        """Whether a heading above a block is about one of the words, or about what is done.

        Below one that only names a scale, what has no place says what the severities mean.
        """
        block = self.blocks[at]
        while (at := self.blocks[at].inside) >= 0:
            title = self.blocks[at].title if self.blocks[at].kind == "heading" else ""
            if _says_over(title) or (shapes.is_about(title, words) and not self._graded(at)):
                return True
            if shapes.names_scale(title) and not shapes.place_in(self._text(*block[3:5])).file:
                return True
        return False

    def _is_over(self, at: int) -> bool:
        """Whether a section is a template's, or says that nothing is left to do."""
        block = self.blocks[at]
        is_template = _PLACEHOLDER.search(self.rows[block.first - 1])
        is_leaf = not any(self.blocks[x].kind == "heading" for x in self._direct.get(at, ()))
        is_settled = is_leaf and any(map(_is_settled, self._directly_below(at)))
        is_settled = is_settled or (is_leaf and self._is_denied(block.first, block.last))
        return bool(is_template or is_settled or _says_over(block.title))

    def _is_denied(self, first: int, last: int) -> bool:
        """Whether the last sentence of some lines, or the answer to what they quote, denies it."""
        last = self._told_until(last)
        told = shapes.sentences(" ".join(self.plain[max(first, last - 3) - 1 : last]))
        if told and _DENIED.match(told[-1]):
            return True
        for number in filter(self._is_answered, range(first, last)):
            answer = vocabulary.words(self._after(number).partition(".")[0])
            if len(answer) < 4 and not _DISAGREES.isdisjoint(answer):
                return is_serious(self._text(first, number))
        return False

    def _is_answered(self, last: int) -> bool:
        """Whether a line is the last one of a quote, with other words below it."""
        after = self._after(last)
        return self.rows[last - 1].lstrip()[:1] == ">" and after[:1] not in ("", ">", "#")

    def _after(self, number: int) -> str:
        """Return the next line that says anything, or ''."""
        return next(filter(str.strip, self.rows[number : number + 3]), "").lstrip()

    def _graded(self, at: int) -> str:
        """Return the severity that a heading has, whatever its words: its own, or its place's."""
        if at in self._grades:
            return self._grades[at]
        identity, severity, title = shapes.titled(self.blocks[at].title)
        is_named = identity or not shapes.is_general(title)
        severity = vocabulary.strictest(severity, self._label_below(at) if is_named else "")
        if is_named and not severity:
            is_placed = shapes.place_in(" ".join(self._directly_below(at))).file
            inherited = self._inherited(at)
            effect = "" if inherited else self._label_below(at, shapes.effect_in)
            severity = effect or (inherited if is_placed else "")
        self._grades[at] = severity
        return severity

    def _holds_findings(self, at: int, is_own: bool) -> bool:
        """Whether a heading only groups findings; `is_own`: it has an id or a severity itself."""
        kinds = ("heading",) if self._graded(at) else ("heading", "item")
        last = self.blocks[at].last
        if self._group(at):
            return True
        inside = itertools.takewhile(lambda other: other.first <= last, self.blocks[at + 1 :])
        titles = (
            x.title for x in inside if x.kind in kinds and (x.kind, x.first) != ("heading", x.last)
        )
        return not is_own and any(shapes.begins_finding(x) or index.group_of(x) for x in titles)

    def _directly_below(self, at: int) -> list[str]:
        """Return the lines of the paragraphs directly below a heading."""
        below = (self.blocks[inner] for inner in self._direct.get(at, ()))
        texts = itertools.takewhile(lambda block: block.kind != "heading", below)
        spans = [(b.first - 1, min(b.last, b.first + 12)) for b in texts if b.kind == "text"]
        return [row for first, last in spans for row in self.plain[first:last]]

    def of_ids(self) -> Iterator[Finding]:
        """The headings that begin with an id, whether or not they have a severity."""
        for block in self.blocks:
            if block.kind == "heading" and (identity := shapes.titled(block.title)[0]):
                yield _finding("", block.title, block.first, block.last, identity=identity)

    def of_blocks(self, nested: bool = False) -> list[Finding]:
        return self._led_by_places(list(self._of_blocks(nested)))

    def _led_by_places(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings with the place that stands on the line above, if the first has one.

        What stands above one ends the one before.
        """
        above = [self._place_above(finding.line) for finding in findings]
        if not above or not above[0]:
            return findings
        made: list[Finding] = []
        for finding, at, following in zip(findings, above, [*above[1:], 0], strict=True):
            is_cut = finding.line < following <= finding.end
            own = finding.replace(end=self._told_until(following - 1)) if is_cut else finding
            place = shapes.place_of(self.plain[at - 1]) if at else NOWHERE
            place = self._place(own.line, own.end) if is_cut and not at else place
            is_better = place.line or (place.file and not own.file)
            made.append(own.replace(file=place.file, at=place.line) if is_better else own)
        return made

    def _place_above(self, first: int) -> int:
        """Return the line right above this one that names a place and nothing else; or 0.

        Between the items of a list it belongs to the one below only if the first has one as well.
        """
        at = self._told_until(first - 1)
        row = self.plain[at - 1] if at else "#"
        is_apart = at < 2 or not self.plain[at - 2].strip("-*_ \t")
        is_plain = row[0] != "#" and not vocabulary.unbulleted(row)[1]
        is_above = is_apart and is_plain and bool(shapes.place_of(row).file)
        start = self._lists.get(first, first)
        return at if is_above and (start == first or self._place_above(start)) else 0

    def _told_until(self, last: int) -> int:
        """Return the last line up to this one that says anything, or 0."""
        while last and not self.plain[last - 1].strip("-*_ \t"):
            last -= 1
        return last

    def _of_blocks(self, nested: bool) -> list[Finding]:
        candidates: list[Finding] = []
        skip = 0  # the last line of a finding: nothing inside it is another
        for at, block in enumerate(self.blocks):
            if block.first <= skip or block.kind in ("code", "rule", "comment"):
                continue
            if block.kind == "heading" and self._is_over(at):
                skip = block.last
                self._over.update(range(block.first, skip + 1))
            if block.first <= skip or self._is_below(at, _NO_FINDINGS):
                continue
            if block.kind == "table":
                candidates += self._of_table(at, block)
                continue
            is_heading = block.kind == "heading"
            candidate = (
                self._of_heading(at, block, nested) if is_heading else self._of_line(at, block)
            )
            if candidate:
                candidates.append(candidate)
                is_whole = block.kind == "item" or (is_heading and not nested)
                skip = candidate.end if is_whole else block.last
        return candidates

    def _of_heading(self, at: int, block: Block, nested: bool) -> Finding | None:
        """A heading is a finding if it or a label directly below it has a severity."""
        if severity := self._group(at):
            is_told = severity in SERIOUS and not shapes.is_about(block.title, _WORK)
            return self._of_group(at, severity, nested) if is_told else None
        identity, _, title = shapes.titled(block.title)
        severity = self._graded(at)
        if not severity and shapes.is_about(block.title, _NO_FINDINGS | _REPEATS):
            return None
        words = vocabulary.words(title)
        if _COUNTED.search(block.title) and not (
            _SKIPPED.isdisjoint(words) or _FILES.isdisjoint(words)
        ):
            return None
        if not (severity or shapes.is_about(block.title, index.PLURALS)):
            severity = self._inherited(at)
        is_own = bool(identity) or block.title[:1] == "["
        if self._is_file(at) or self._holds_findings(at, is_own):
            return None
        is_advice = severity == "IMP" and not identity and block.title[:1] != "["
        if is_advice or not severity or vocabulary.says_nothing(title):
            return None
        return self._made(severity, identity, title, block.first, self._all_of(at), recap=False)

    def _of_group(self, at: int, severity: str, nested: bool) -> Finding | None:
        """What is told below a heading that only names a severity; a few mild words are none."""
        below = [self.blocks[inner] for inner in self._direct.get(at, ())]
        if not below or any(block.kind not in ("text", "code", "quote") for block in below):
            return None
        if any(map(self._begins_one, self._direct[at])):
            return None
        block, title = self.blocks[at], shapes.first_sentence(below[0].title)
        text = self._text(below[0].first, below[-1].last)
        is_placed = "`" in text or len(text) > _FEW or shapes.place_in(text).file
        is_empty = not (is_placed or nested or is_serious(_DENIES.sub("", text)))
        is_empty = is_empty or vocabulary.says_nothing(below[0].title)
        is_empty = is_empty or bool(_NONE.match(below[0].title))
        if is_empty or any(shapes.begins_finding(block.title) for block in below):
            return None
        return self._made(severity, "", title, block.first, block.last, recap=True)

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

    def _label_below(self, at: int, read: Callable[[str], str] = shapes.label_in) -> str:
        """Return the severity that a label directly below heading `at` states, as `read` has it."""
        stated: set[str] = set()
        records = 0
        below = [self.blocks[inner] for inner in self._direct.get(at, ())]
        for block in below:
            if block.kind == "heading" and block.first == block.last and not stated:
                stated.add(vocabulary.severity(shapes.first_part(block.title)))
            if block.kind in ("heading", "code"):
                break
            last = min(block.last, block.first + 12)
            rows = self.plain[block.first - 1 : last]
            fields = itertools.chain.from_iterable(map(shapes.fields_in, rows))
            graded = {read(row) for row in fields if not _is_ticked(row)} - {""}
            stated |= graded
            records += bool(graded) and block.first < block.last
        stated -= {""}
        return stated.pop() if len(stated) == 1 and records < 2 else ""  # else a list

    def _of_line(self, at: int, block: Block) -> Finding | None:
        """An item, a paragraph or a quote is a finding by its head, a label or its section."""
        bare = vocabulary.unbulleted(block.title)[0]
        if "**" not in bare[:80]:
            bare = bare[: shapes.LONG]
        head = shapes.head_of(bare)
        own = self.plain[block.first - 1 : block.last][:14]
        own += self._label_behind(at) if block.kind == "item" else []
        own = [row for row in own if "verall" not in row[:12]]  # of the whole review
        is_verdict = vocabulary.verdict(bare) is not None or _is_ticked(bare)
        if is_verdict or shapes.is_count(head) or any(map(_is_settled, own)):
            return None
        is_bare = head.raw in SEVERITIES and shapes.place_in(head.title[:_OPENS]).file
        is_head = head.marked or head.id or is_bare
        severity = (head.severity if is_head else "") or shapes.tail_of(bare)
        if severity in SERIOUS and block.kind == "text":
            severity = vocabulary.strictest(severity, shapes.said_in(" ".join(own)))
        is_dash = not head.title and bare.rstrip()[-1:] in "-–—"  # `critical: -`
        is_empty = is_dash or vocabulary.says_nothing(head.title)
        if severity and not head.id and is_empty:
            return None
        stated = list(filter(None, map(shapes.label_in, own)))
        label = stated[0] if len(stated) == 1 else ""
        severity = vocabulary.strictest("" if label and head.is_sign else severity, label)
        is_item = block.kind == "item" and block.level < 2
        is_listed = not severity and (is_item or self._begins_one(at))
        inherited = self._inherited(at) if is_listed else ""
        scored = shapes.scored(bare) if inherited in SERIOUS else ""
        inherited = inherited if scored in ("", *SERIOUS) else scored
        is_advice = severity == "IMP" and not head.id and bare[:1] != "["
        if is_advice or not (severity or inherited):
            return None
        is_defined = head.is_sign or " = " in head.title
        listed = head.title if is_defined else "" if head.marked else bare
        if shapes.is_legend(listed):
            return None
        title = self._title_of(head.title if head.severity or head.id else bare, bare, block)
        identity = head.id or self._labelled(
            block.first - 1, min(block.last, block.first + 12), _IDS
        )
        is_again = self._is_below(at, _REPEATS)
        end = self.end_of(at, block)
        if self._is_denied(block.first, end) or any(map(_is_settled, self.plain[block.last : end])):
            self._over.update(range(block.first, end + 1))
            return None
        recap = bool(inherited) or is_again
        made = self._made(severity or inherited, identity, title, block.first, end, recap)
        is_placed = block.kind != "item" or shapes.place_in(self._text(block.first, end)).file
        return made.replace(file="", at=0) if made and is_again and not is_placed else made

    def _label_behind(self, at: int) -> list[str]:
        """Return the label that stands as a paragraph behind an item."""
        last, inside = self.blocks[at].last, self.blocks[at].inside
        behind = (block for block in self.blocks[at + 1 : at + 6] if block.first > last)
        texts = itertools.takewhile(lambda x: (x.kind, x.inside) == ("text", inside), behind)
        rows = (self.plain[block.first - 1] for block in texts if block.first == block.last)
        return [row for row in rows if shapes.label_in(row)][:1]

    def end_of(self, at: int, block: Block) -> int:
        """A paragraph reaches to the next block that begins something else."""
        last = block.last
        label = shapes.FIELD.match(block.title)
        for number, other in enumerate(self.blocks[at + 1 : at + 12], at + 1):
            if other.first <= last:
                continue
            if other.inside != block.inside or other.kind in ("heading", "rule", "table"):
                break
            is_field = bool(label and other.title.startswith(label[0]))
            is_next = is_field or other.kind == block.kind == "item"
            is_next = is_next or (self._is_record(block) and self._is_record(other))
            is_below = number == at + 1 and shapes.leads_title(block.title)
            is_placed = self._begins_at(number) and not self._is_place_of(block, number)
            is_led = not is_below and (is_placed or self._begins_one(number))
            is_graded = shapes.head_of(other.title).severity or shapes.begins_finding(other.title)
            begins = is_next or is_graded or is_led
            if begins and other.kind != "code":
                break
            last = other.last
        return last

    def _is_record(self, block: Block) -> bool:
        """Whether a paragraph of several lines has one that is a label with a severity."""
        rows = self.plain[block.first - 1 : block.last]
        return block.kind == "text" and len(rows) > 1 and any(map(shapes.label_in, rows))

    def _is_place_of(self, block: Block, at: int) -> bool:
        """Whether a paragraph is only the place of the one before, which names none itself."""
        other, *after = self.blocks[at : at + 2] or [block]
        is_line = other.kind == "text" and other.first == other.last != block.last
        is_only = is_line and shapes.names_only_place(other.title)
        is_next = bool(after) and after[0].kind == "item"  # else it is that of a list
        is_led = self._place_above(self._lists.get(block.first, block.first))
        is_own = not is_next or (block.kind == "item" and not is_led)
        place = shapes.place_in(block.title)
        is_placed = place.line or (place.file and block.kind != "item")
        is_placed = is_placed or self._place_above(block.first)
        return bool(is_only and is_own and not is_placed)

    def _begins_at(self, at: int) -> bool:
        """Whether a paragraph begins with a place, or says of one how bad it is there."""
        if at in self._placed:
            return self._placed[at]
        block = self.blocks[at]
        place = shapes.place_of(self.plain[block.first - 1])
        is_placed = place.file or shapes.AT_PLACE.match(block.title) or self._leads_in(at)
        text = " ".join(self.plain[block.first - 1 : block.last])
        is_said = not is_placed and shapes.said_in(text)
        self._placed[at] = bool(is_placed or (is_said and shapes.place_in(text).file))
        return self._placed[at]

    def _begins_one(self, at: int) -> bool:
        """Whether a paragraph begins one of several: in bold, or with an id such as `C2. Title`."""
        head = shapes.head_of(self.blocks[at].title[: shapes.LONG])
        is_numbered = self.blocks[at].kind == "text" and bool(head.id) and head.marked
        return is_numbered or self._leads(at)

    def _leads_in(self, at: int) -> bool:
        """Whether a paragraph goes on, without a blank line, with one that begins a finding."""
        after = self.blocks[at + 1 : at + 2]
        is_below = after and after[0].kind == "text" and after[0].first == self.blocks[at].last + 1
        return bool(is_below) and shapes.begins_finding(after[0].title)

    def _inherited(self, at: int) -> str:
        """Return the severity of the heading right above, if it only names a group."""
        inside = self.blocks[at].inside
        while inside >= 0 and self._is_file(inside):
            inside = self.blocks[inside].inside
        return self._group(inside) if inside >= 0 else ""

    def _is_file(self, at: int) -> bool:
        """Whether a heading is the name of a file, with items or graded lines below it."""
        below = (self.blocks[inner].kind for inner in self._direct.get(at, ()))
        place = shapes.place_of(self.blocks[at].title)
        is_list = next(below, "") == "item" or any(map(shapes.begins, self._directly_below(at)))
        return bool(place.file) and not place.line and is_list

    def _group(self, at: int) -> str:
        """Return the severity of a line that only names a group, in any language by its sign."""
        if at not in self._groups:
            title = self.blocks[at].title
            stated = index.group_of(title)
            if not stated and self.blocks[at].kind == "heading":
                stated = shapes.demanded_in(title) or self._group_by_sign(at)
            self._groups[at] = stated
        return self._groups[at]

    def _group_by_sign(self, at: int) -> str:
        """Return that of a heading with a count, or the only one of its sign, above places."""
        block = self.blocks[at]
        head = shapes.head_of(block.title)
        words = [word for word in vocabulary.words(head.title) if not word.isdigit()]
        if not head.is_sign or len(words) > _GROUP_WORDS or shapes.place_in(block.title).file:
            return ""
        below = [self.blocks[inner] for inner in self._direct.get(at, ())[:_MOST_SIBLINGS]]
        listed = [each for each in below if each.kind in ("heading", "item") or shapes.is_led(each)]
        is_counted = _COUNTED.search(block.title) and listed
        sign = (block.inside, block.level, head.severity)
        is_one = self._signs[sign] == 1 and self._kinds[sign[:2]] > 1
        is_placed = listed[:1] == below[:1] and all(map(self._names_place, listed))
        return head.severity if is_counted or (is_one and is_placed) else ""

    def _names_place(self, block: Block) -> bool:
        """Whether an item begins with a place, or a heading has one in its first lines."""
        last = min(block.last, block.first + 6) if block.kind == "heading" else block.first
        text = self._text(block.first, last)
        return bool(shapes.place_in(text if block.kind == "heading" else block.title[:80]).file)

    def _leads(self, at: int) -> bool:
        """Whether a paragraph is one of those that a bold title leads, below one heading."""
        block = self.blocks[at]
        own = (self.blocks[each] for each in self._direct[block.inside][:_MOST_SIBLINGS])
        return shapes.is_led(block) and sum(map(shapes.is_led, own)) > 1

    def _title_of(self, title: str, bare: str, block: Block) -> str:
        """Return the words that name the finding: a label, its bold lead, or its first sentence."""
        if told := self._labelled(block.first - 1, min(block.last, block.first + 12)):
            return shapes.first_sentence(told)
        if " · " in bare[: shapes.FIELD_LENGTH]:
            return bare
        if shapes.is_fields(self.plain[block.first - 1 : block.last]):
            bare = title = self._named(block) or title
        title = shapes.unlabelled(title)
        if bold := shapes.BOLD.match(bare.lstrip("🔴🟠🟡⚠️❌ ")):
            lead = shapes.head_of(bold[1] or bold[2]).title
            is_title = shapes.has_words(shapes.without_place(lead)) and lead[0] != "["
            title = lead if is_title and not vocabulary.severity(lead) else title
        return shapes.first_sentence(self._whole(title, block))

    def _whole(self, title: str, block: Block) -> str:
        """Return a title that ends with a line, with the next one if that goes on in lower case."""
        first, after = block.first - 1, block.first
        is_cut = self.plain[first].rstrip().endswith(title[-_WIDE:]) and title[-1:].isalpha()
        goes_on = is_cut and after < block.last and len(self.plain[first]) >= _WIDE
        row = self.plain[after].strip() if goes_on else ""
        return f"{title} {row}" if row[:1].islower() and not shapes.place_of(row).file else title

    def _named(self, block: Block) -> str:
        """Return the first value of a record that has words and is neither severity nor place."""
        fields = map(vocabulary.labelled, self.plain[block.first - 1 : block.last])
        told = (value for label, value in fields if not vocabulary.is_scale(label))
        return next((text for text in told if shapes.has_words(shapes.without_place(text))), "")

    def _said_below(self, first: int, last: int) -> str:
        """Return the title that stands below a line: labelled, in bold, or the first words."""
        if told := self._labelled(first, min(last, first + 8)):
            return told
        others = (row for row in self.plain[first:last] if not shapes.LABELLED.match(row))
        rows = [row for row in others if shapes.letters(shapes.without_place(row)) > 12]
        bold = (lead[1] or lead[2] for lead in shapes.BOLD.finditer("\n".join(rows[:8])))
        return next(
            (lead for lead in bold if lead[-1] != ":"), rows[0].lstrip("#").strip() if rows else ""
        )

    def _labelled(self, first: int, last: int, labels: frozenset[str] = shapes.TITLES) -> str:
        """Return what a label such as `Title:` says in the lines behind `first`, or ''."""
        told = map(vocabulary.labelled, map(str.strip, self.plain[first:last]))
        values = (_unquoted(value) for label, value in told if label.strip("> ") in labels)
        return next(filter(str.strip, values), "")

    def _made(
        self, severity: str, identity: str, title: str, first: int, last: int, recap: bool
    ) -> Finding | None:
        whole = shapes.cleaned(title)
        title = shapes.without_fields(whole)
        if title != whole and title and len(title.split()) < 3:
            title = f"{title}: {shapes.cleaned(self._said_below(first, last))}".rstrip(": ")
        if vocabulary.is_scale(title.partition(":")[0]) and len(title.split()) < 4:
            title = ""  # only a label
        is_empty = vocabulary.says_nothing(title) or bool(vocabulary.severity(title))
        is_empty = is_empty or bool(normal.field_in(whole, most=1))
        if is_empty or not shapes.has_words(shapes.without_place(title)):
            below = shapes.cleaned(shapes.first_sentence(self._said_below(first, last)))
            is_named = shapes.letters(title) > 0 and not is_empty
            is_placed = bool(not title and shapes.place_in(whole).file)
            if not (shapes.has_words(below) or is_named or is_placed):
                return None
            title = below or title or whole
        place = self._place(first, last)
        return _finding(severity, title, first, last, place, identity, recap)

    def _place(self, first: int, last: int) -> Place:
        own = self._text(first, min(last, first + 40))
        place = shapes.place_in(own)
        if place.line:
            return place
        number = shapes.line_in(own) or shapes.line_in(self._lead_in(first))
        above = self._above_places[first - 1]
        if place.file and not above.file.endswith(f"/{place.file}"):
            return Place(place.file, number)
        return Place(above.file, number or above.line)

    def _lead_in(self, first: int) -> str:
        """Return the lines of a paragraph above the one that begins a finding."""
        start = first - 1
        while start > max(0, first - 5) and self.plain[start - 1].strip():
            start -= 1
        return self._text(start + 1, first - 1)

    def _of_table(self, at: int, block: Block) -> list[Finding]:
        head, *rows = shapes.table_rows(self.plain[block.first - 1 : block.last])
        roles = shapes.graded(list(map(index.column, head.cells)), [row.cells for row in rows])
        is_row = sum(map(bool, map(vocabulary.severity, head.cells))) == 1
        if is_row and shapes.place_in(" | ".join(head.cells)).line:  # there is no head
            rows, roles = (
                [head, *rows],
                shapes.graded(list(map(str, range(len(head.cells)))), [head.cells]),
            )
        if "severity" not in roles and (card := _of_card(rows, block)):
            return [card]
        if "severity" in roles:
            column = roles.index("severity")
            for above, row in itertools.pairwise(rows):
                if column < min(len(above.cells), len(row.cells)):  # an empty one goes on
                    row.cells[column] = row.cells[column] or above.cells[column]
        group = self._inherited(at)
        numbers = [next(iter(row.cells), "").strip(" #.") for row in rows]
        own = self._numbered(block.last, numbers)
        made = [
            (finding.replace(end=block.first + row.last), own.get(number))
            for row, number in zip(rows, numbers, strict=True)
            if (finding := _of_row(roles, row.cells, block.first + row.first, group))
        ]
        if sum(map(bool, map(vocabulary.severity, head.cells))) > 1:
            return []  # counts, or a matrix of risks
        explains = {"meaning", "definition", "criteria", "sla"} & {x.lower() for x in head.cells}
        if explains and not {"place", "file", "id"}.intersection(roles):
            return []
        heading = self.blocks[block.inside].title if block.inside >= 0 else ""
        place = shapes.place_of(heading)
        is_named = not (shapes.is_general(heading) or self._inherited(at) or place.file)
        is_alone = len(rows) == len(made) == 1
        is_titled = "title" in roles or not heading
        if is_alone and is_named and not is_titled:
            header = self.blocks[block.inside]
            title = shapes.cleaned(shapes.titled(heading)[2])
            return [made[0][0].replace(title=title, line=header.first, end=header.last)]
        return [self._at_section(finding, place, section) for finding, section in made]

    def _numbered(self, last: int, numbers: list[str]) -> dict[str, Block]:
        """Return what stands behind a table and begins with its rows' numbers, if each has one."""
        if not numbers or not all(map(str.isdecimal, numbers)):
            return {}
        start = bisect.bisect(self._by_number, last, key=lambda pair: pair[1].first)
        told = self._by_number[start : start + len(numbers) + _MOST_SIBLINGS]
        times = Counter(number for number, _ in told)
        there = sum(map(times.__contains__, numbers))
        is_one_each = all(times[number] < 2 for number in numbers)
        return dict(told) if is_one_each and there > 1 and 2 * there > len(numbers) else {}

    def _at_section(self, row: Finding, above: Place, section: Block | None) -> Finding:
        """Return the finding of a row where its own section is, by its id or else its number."""
        own = self._by_id.get(row.id) if row.id else section
        place = self._place(own.first, own.last) if own else above
        is_better = not row.file or (place.file and not row.at)
        row = row.replace(file=place.file, at=place.line) if is_better else row
        return (
            row.replace(line=own.first, end=own.last, recap=True)
            if own
            else row.replace(recap=True)
        )

    def of_tagged(self) -> Iterator[Finding]:
        """The findings that tags tell, as the objects that they are: `<issue severity="high">`."""
        text = "\n".join(self.rows)
        elements = objects.elements(text) if "</" in text or "/>" in text else []
        for told in itertools.islice(objects.findings(_open(elements), _graded), _MOST_OBJECTS):
            finding = _of_object(told)
            is_told = told.title and told.severity.isalpha()
            if finding and finding.line:
                yield from (finding,) if finding.file or is_told else ()

    def samples(self) -> set[int]:
        """Return the lines of code that is an example, as all is where a review found nothing."""
        told = shapes.sentences(" ".join([row for row in self.plain if row.strip()][-3:]))
        is_none = any(shapes.names_nothing(sentence) for sentence in told)
        return {
            number
            for block in self.blocks
            if block.kind == "code"
            and (is_none or _SAMPLE.search(self.plain[max(0, self._told_until(block.first - 1) - 1)]))
            for number in range(block.first, block.last + 1)
        }

    def of_codes(self) -> Iterator[Finding]:
        """The findings in fenced blocks of JSON, and the remarks in those of code."""
        for block in self.blocks:
            if block.kind == "code" and block.title[:5].lower() in ("json", "sarif", ""):
                code = "\n".join(self.rows[block.first : block.last - 1])
                for finding in of_objects(code) or ():
                    yield finding.replace(
                        line=finding.line + block.first, end=finding.end + block.first
                    )
            elif block.kind == "code":
                yield from self._of_remarks(block)

    def _of_remarks(self, block: Block) -> Iterator[Finding]:
        """The remarks in a block of code: `// REVIEW(critical): …`."""
        file = ""
        for number in range(block.first + 1, block.last):
            bare = self.rows[number - 1].strip("+-/#*;<!> \t")
            file = shapes.place_of(bare).file or file
            head = shapes.head_of(bare) if shapes.KIND.match(bare) else None
            if head and head.severity:
                title = shapes.cleaned(head.title)
                yield _finding(head.severity, title, number, place=Place(file, 0))

    def is_around(self, finding: Finding, starts: set[int]) -> bool:
        """Whether a paragraph holds the beginnings of what a tool says, and so is no finding."""
        inside = range(finding.line + 1, finding.end + 1)
        return finding.line not in self._headed and not starts.isdisjoint(inside)

    def of_tools(self) -> Iterator[Finding]:
        """What linters and compilers print: each message reaches to the next, or a blank line."""
        from contextkit.text.digests import diagnostics
        from contextkit.text.digests.lines import Lines

        rows = self.rows
        messages = diagnostics.find(Lines("\n".join(rows)))[0]
        starts = {message.line for message in messages}
        for message in messages:
            below = range(message.line, len(rows))
            ends = (at for at in below if at + 1 in starts or not rows[at].strip())
            head = shapes.head_of(message.said)
            severity = vocabulary.of_tool(message.severity) or vocabulary.of_tool(message.level)
            severity = head.severity if head.severity and head.marked else severity
            severity = "P0" if _FATAL.search(rows[message.line - 1][:200]) else severity
            if severity:
                place, title = shapes.place_in(message.place), shapes.cleaned(head.title)
                end = next(ends, len(rows))
                yield _finding(severity, title, message.line, end, place)
        for number, row in enumerate(self.rows, 1):
            yield from _of_columns(row, number)

    def of_prose(self, only_said: bool) -> Iterator[Finding]:
        """Paragraphs that say what is wrong at a place; `only_said`: and how bad it is."""
        for at, block in enumerate(self.blocks):
            if block.kind not in ("text", "item", "quote") or self._is_below(at, _NO_FINDINGS):
                continue
            if block.first in self._over or self._is_answered(block.last):
                continue
            rows = self.plain[block.first - 1 : block.last]
            is_log = rows[0][:2] == "$ " or any(map(_OF_LOG.match, rows[1:]))  # printed by a tool
            if (block.kind == "text" and is_log) or shapes.is_fields(rows):
                continue
            text = " ".join(rows)
            above = self._place_above(block.first)
            place = shapes.place_in(text)
            below = self._is_place_of(block, at + 1) and self.blocks[at + 1].first
            named = above if above and not place.file else below
            place = shapes.place_in(self.plain[named - 1]) if named else place
            said = shapes.said_in(text)
            demanded = shapes.demanded_in(text)
            is_stated = place.file and (said or demanded) if only_said else place.file or said
            is_cell = bool(vocabulary.severity(text))
            if not is_stated or is_cell or _MILDLY.search(text[:60]):
                continue
            parts = [part for part in shapes.sentences(text) if not _DENIES.search(part)]
            left = " ".join(parts)
            is_worst = bool(_WORST.search(left)) and "less urgent" not in left
            is_bad = demanded or _BAD.search(left)
            if severity := said or ("P0" if is_worst else "P1" if is_bad else ""):
                named = (part for part in parts if part.count(" ") > _FEW_BLANKS)
                told = (part for part in named if is_serious(part) and not shapes.said_in(part))
                title = next(told, next((part for part in parts if place.file in part), text))
                title = " ".join(parts[:2]) if place.file in title else title
                end, title = self.end_of(at, block), shapes.cleaned(title)
                yield _finding(severity, title, block.first, end, place)

    def unsure(self, candidates: list[Finding]) -> tuple[int, ...]:
        """Return the lines of blocks that look like findings and are none."""
        covered = {
            number
            for candidate in candidates
            for number in range(candidate.line, min(candidate.end, candidate.line + 5_000) + 1)
        }
        others = covered | {block.first for block in self.blocks if block.kind == "heading"}
        numbers = []
        for at, block in enumerate(self.blocks):
            rows = self.plain[block.first - 1 : block.last]
            is_record = block.kind == "text" and shapes.is_fields(rows)
            if any(map(_is_settled, rows)):
                continue
            if block.first in covered or not (is_record or block.kind in ("heading", "item")):
                continue
            near = range(block.first + 1, min(block.last, block.first + 3) + 1)
            end = next((number - 1 for number in near if number in others), near.stop - 1)
            text = self._text(block.first, block.last if is_record else end)
            place = shapes.place_in(text)
            line = place.line or (shapes.line_in(text) if is_record and place.file else 0)
            is_likely = line and (is_record or is_serious(text))
            if is_likely and not self._is_below(at, _NO_FINDINGS | _REPEATS):
                numbers.append(block.first)
        return tuple(sorted({*numbers, *self._unread(covered, candidates)})[:50])

    def _unread(self, covered: set[int], candidates: list[Finding]) -> Iterator[int]:
        """The lines that say P0 or P1 and that no finding explains: statements, or more of them."""
        from contextkit.reviews.documents import proof

        told = Counter(candidate.severity for candidate in candidates)
        names = {each.id.upper() for each in candidates} | {_begins(x.title) for x in candidates}
        owners = {
            number: at
            for at, block in enumerate(self.blocks)
            for number in range(block.first, block.last + 1)
        }
        for number in owners.keys() - covered:
            at, row = owners[number], self.plain[number - 1]
            if not self._may_state(self.blocks[at], number):
                continue
            after = next(filter(str.strip, self.plain[number : number + 3]), "")
            word = proof.serious_in(row, after)
            known = vocabulary.severity(word) or vocabulary.severity(re.split("[ -]", word)[0])
            severity = known or ("P0" if word else "")
            if not severity or self._explains(at, row, word, told[severity]):
                continue
            words = vocabulary.words(row)
            told_as = {" ".join(words[first : first + 3]) for first in range(len(words))}
            told_as.update(vocabulary.trimmed(word) for word in row.upper().split())
            if names.isdisjoint(told_as) and not self._is_below(at, _NO_FINDINGS):
                yield number

    def _may_state(self, block: Block, number: int) -> bool:
        """Whether a line may state something: no code, no name of a group, nothing that is done."""
        row = self.plain[number - 1]
        is_over = _is_ticked(row) or _is_settled(row) or _PLACEHOLDER.search(self.rows[number - 1])
        is_group = block.kind == "heading" and (index.group_of(block.title) or _says_over(row))
        return block.kind not in ("code", "rule", "comment") and not (is_over or is_group)

    def _explains(self, at: int, row: str, word: str, read: int) -> bool:
        """Whether a line only counts or names what was read `read` times, and states nothing."""
        near = rf"(\d+)\s+{re.escape(word)}|{re.escape(word)}[\w ]{{0,24}}\W{{1,4}}(\d+)"
        counts = [int(one or other) for one, other in re.findall(near, row, re.IGNORECASE)]
        if shapes.place_in(row).line or not read:
            return False
        is_statement = self.blocks[at].kind in ("item", "table") or shapes.label_in(row)
        return max(counts) <= read if counts else not is_statement or "verall" in row[:16]


def _unquoted(value: str) -> str:
    is_quoted = value[:1] == value[-1:] and value[:1] in ('"', "'")
    return value.strip("\"' ") if is_quoted else value.strip()


@functools.lru_cache(1 << 14)
def _says_over(title: str) -> bool:
    return bool(_OVER.search(title))


def _begins(title: str) -> str:
    return " ".join(vocabulary.words(title)[:3])


def _annotated(row: str) -> str:
    """Return a line that a build says of a file as a compiler says it: `a.ts:12: error: …`."""
    row = _STAMPED.sub("", row)
    if "::" not in row:
        return row
    match = _ANNOTATION.match(row)
    told = dict(_PARAMETER.findall(match[2])) if match else {}
    if not match or not {"file", "line"} <= told.keys():
        return row
    title = f"{told['title']}: " if "title" in told else ""
    return f"{told['file']}:{told['line']}: {match[1]}: {title}{match[3]}"


def _of_columns(row: str, number: int) -> Iterator[Finding]:
    """Yield the finding in a line of three or more columns, of which one is a severity."""
    if coded := _CODED.match(row):
        place, severity = shapes.place_in(coded[1]), vocabulary.of_tool(coded[2])
        yield _finding(severity, shapes.cleaned(coded[3]), number, place=place)
    cells = row.split("  ") if "  " in row.strip() and "." in row else []
    told = [cell.strip() for cell in cells if cell.strip()]
    graded = [cell for cell in told if vocabulary.severity(cell)]
    if len(told) > 2 and len(graded) == 1 and shapes.place_in(row).file:
        title = max((cell for cell in told if cell not in graded), key=shapes.letters)
        roles, values = ["severity", "title", "place"], [graded[0], title, row.strip()]
        yield from filter(None, [_of_row(roles, values, number, "")])


def _is_graded(head: vocabulary.Head) -> bool:
    return head.marked and head.severity in SERIOUS and shapes.has_words(head.title)


def _of_card(rows: list[shapes.Row], block: Block) -> Finding | None:
    """Return the finding that a table of labels and values tells of, one in each row."""
    labels = [(index.column(row.cells[0]), row.cells[1]) for row in rows if len(row.cells) == 2]
    if len(labels) < len(rows) or not any(role == "severity" for role, _ in labels):
        return None
    roles, cells = zip(*labels, strict=True)
    finding = _of_row(list(roles), list(cells), block.first, "")
    return finding and finding.replace(end=block.last)


def _is_settled(row: str) -> bool:
    """Whether a line says that nothing is left to do: `Status: fixed`, `PASSED for …`."""
    low = row.lower()
    if not any(word in low for word in _DONE):
        return False
    if _TICKED.search(row):
        return True
    label, value = vocabulary.labelled(row)
    first = row[:20].strip().partition(" ")[0]
    return _is_done(value if label in _STATES else first if first.isupper() else "")


def _is_ticked(row: str) -> bool:
    return vocabulary.unbulleted(row.strip())[0].startswith(("✅", "✔", "☑"))


def _is_done(state: str) -> bool:
    return not _DONE.isdisjoint(vocabulary.words(state[:24])[:1])


def _of_row(roles: list[str], row: list[str], number: int, group: str) -> Finding | None:
    """Return the finding in a row of a table; `group` is the severity of the table as a whole."""
    fields: dict[str, str] = {}
    letters = shapes.letters
    for role, cell in zip(roles, row, strict=False):
        if role not in fields or (role == "title" and letters(cell) > letters(fields[role])):
            fields[role] = cell
    identity = fields.get("id", "").strip()
    identity = identity if vocabulary.is_id(identity) else ""
    severity = shapes.of_cell(fields["severity"]) if "severity" in fields else group
    severity = severity or vocabulary.severity_of_id(identity)
    title = fields.get("title", "")
    if not severity and (said := next(filter(_is_graded, map(vocabulary.Head, row)), None)):
        severity, title = said.severity, said.title
    if not title:
        others = [cell for role, cell in fields.items() if role not in ("severity", "line")]
        title = max(others, key=lambda text: letters(shapes.without_place(text)), default="")
    title = _ADDRESS.sub("", title) if " " in title else title
    if "://" in title:  # names nothing
        title = " · ".join(filter(None, row))
    if not severity or not shapes.has_words(title) or vocabulary.says_nothing(title):
        return None
    states = () if "fixed-version" in roles else fields.values()  # there is one
    if any(_is_done(cell) for cell in states if cell != title):
        return None
    place = shapes.place_in(f"{fields.get('file', '')}:{fields.get('line', '')}")
    if not place.file and re.fullmatch(r"[\w./-]{1,200}\.\w{1,12}", fields.get("file", "")):
        place = Place(fields["file"], shapes.line_in(f"line {fields.get('line', '')}"))
    place = place if place.file else shapes.place_in(" | ".join(row))
    return _finding(severity, shapes.first_sentence(title), number, 0, place, identity)


def of_objects(text: str) -> list[Finding] | None:
    """The findings of JSON, of an object a line, or of CSV at these lines; None if it is none."""
    bare = text.removeprefix("\ufeff").strip()
    is_tree = bare[:1] in ("{", "[", "<")
    tree = objects.tree(bare) if is_tree else objects.rows(bare)
    if tree is None or (isinstance(tree, list) and not any(objects.below(tree))):
        return None
    made = filter(None, map(_of_object, objects.findings(_open(tree), _graded)))
    placed = list(_placed(text, itertools.islice(made, _MOST_OBJECTS)))
    if not placed and bare[:1] == "<":
        return None  # a page of HTML
    return placed or _of_told(tree, text.count("\n") + 1)


def _open(tree: Any, depth: int = 0) -> Any:
    """Return a tree without the objects in its lists that are done with: `"status": "fixed"`."""
    if depth > _DEEPEST:
        return tree
    if isinstance(tree, dict):
        plain = {_plain_key(str(key), tree): value for key, value in tree.items()}
        named = tree | {key: value for key, value in plain.items() if key not in tree}
        return {key: _open(_in_file(key, value), depth + 1) for key, value in named.items()}
    if not isinstance(tree, list):
        return tree
    kept = []
    for item in tree:
        stated = map(item.get, ("status", "state", "resolution")) if isinstance(item, dict) else ()
        is_over = any(isinstance(word, str) and _is_done(word) for word in stated)
        if not is_over and not (isinstance(item, dict) and item.get("resolved") is True):
            kept.append(_open(item, depth + 1))
    return kept


def _in_file(key: str, value: Any) -> Any:
    """Return what stands under the name of a file with that name: `{"src/a.ts": [{…}]}`."""
    if shapes.place_in(key).file != key:
        return value
    if isinstance(value, list):
        return [_in_file(key, item) for item in value]
    return {"file": key} | value if isinstance(value, dict) else value


def _plain_key(key: str, others: dict[str, Any]) -> str:
    """Return the word of a key that says what its value is: `file` of `source_file`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_")
    is_name = words[-1] == "name" and words[0] in _NAMED
    told = (others.get(key) for key in ("message", "description")) if is_name else ()
    is_told = any(isinstance(text, str) and len(text) < _ONE_SENTENCE for text in told)
    if (is_name and not is_told) or words == ["headline"]:
        return "title"
    known = next(filter(_KEYS.__contains__, words), key)
    return known if len(words) == 2 and words[0] not in ("end", "last") else key


def _of_told(tree: Any, last: int) -> list[Finding]:
    """The findings of reviews that an object has as a value: `{"result": "# Review …"}`."""
    collected: list[Finding] = []
    left = MOST_LINES
    for text in itertools.islice(objects.told(tree), _MOST_TOLD):
        rows = text.split("\n")[:left]
        collected += read("\n".join(rows)).findings
        left -= len(rows)
    return [finding.replace(line=1, end=last) for finding in collected[:_MOST_OBJECTS]]


def _of_object(told: objects.Found) -> Finding | None:
    """The finding of an object; a comment beside a line says in its words how bad it is."""
    title = told.title or told.name
    head = shapes.head_of(title)
    severity = told.grade or (head.severity if head.marked else "")
    rows = told.body.strip().split("\n")
    if not severity:  # of its text, which is a small review
        severity = next(filter(None, map(shapes.label_in, rows[:12])), "")
        title = rows[0] or title
    if not severity:
        return None
    identity = told.id if vocabulary.is_id(told.id) else ""
    file = re.sub(r"^[\w.-]{2,80}:(?=[\w./-]+$)", "", told.file)  # of its project
    place = Place(file, told.line) if file else shapes.place_in(title)
    return _finding(severity, title, *told.lines, place, identity)


def _graded(key: str, word: str) -> str:
    if key in ("type", "confidence"):  # of a bot, mostly no severity
        return vocabulary.severity(word) if key == "type" and word.lower() in _TYPES else ""
    if key == "priority" and word in ("0", "1", "2", "3"):
        return f"P{word}"
    severity = vocabulary.of_tool(word) or shapes.scored(word)
    return severity or (_OBJECT_NUMBERS.get(word, "") if key == "severity" else "")


def _placed(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with the lines of their objects: those around the next such title."""
    rows = text.split("\n")
    plain = [row.replace('\\"', '"') for row in rows]
    is_json = next(filter(str.strip, rows), "").lstrip("\ufeff \t")[:1] in ("{", "[")
    start = 0
    for finding in findings:
        if finding.line:
            yield finding
            continue
        ahead = range(start, min(start + _AHEAD, len(rows)))
        begins = "\0" if is_json else " ".join(finding.title.split()[:2])  # a cell may go on below
        there = (at for words in (finding.title[:40], begins) for at in ahead if words in plain[at])
        at = next(there, -1)
        start = max(start, at)
        first = last = min(start, len(rows) - 1)
        if is_json and at >= 0:
            above = range(at, max(-1, at - 31), -1)
            below = range(at, min(len(rows), at + 31))
            first = next((number for number in above if "{" in rows[number]), above[-1])
            last = next((number for number in below if "}" in rows[number]), below[-1])
        yield finding.replace(line=first + 1, end=last + 1)
