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
import itertools
import re
from collections import Counter

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import index, phrases, shapes, tables, trees, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.shapes import NOWHERE, Place
from contextkit.reviews.documents.sight import COUNTED, MOST_SIBLINGS, PLACEHOLDER, Sight
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.text import objects
from contextkit.text.blocks import Block
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
_IDS = frozenset(["ID"])
_FATAL = Pattern(r":\d{1,7}: F: ")  # of a linter
_MOST_OBJECTS = 5_000  # findings
MOST_LINES = 20_000  # of a file that are read: more take too long (make torture what=time)
_MOST_TOLD = 200  # texts in objects
_FEW_BLANKS = 2  # in a sentence that names nothing: `High priority.`
_NONE = Pattern(r"\W{0,3}none\b(?! of)", re.IGNORECASE)
_FEW = 100  # characters of what says that there is nothing


class Read(NamedTuple):
    """What was read: the findings in order, and lines of blocks that may be findings as well."""

    findings: tuple[Finding, ...]
    unsure: tuple[int, ...]


def read(text: str) -> Read:
    """Return the findings of a text without an index, in order. Linear; never raises."""
    whole = of_objects(text)
    if whole is not None:
        return Read(tuple(whole), ())
    sight = Outline(text)
    candidates = sight.of_blocks()
    printed = list(sight.of_tools())
    starts = {finding.line for finding in printed}
    candidates = [each for each in candidates if not sight.is_around(each, starts)]
    there = {line for candidate in candidates for line in range(candidate.line, candidate.end + 1)}
    candidates += [finding for finding in printed if finding.line not in there]
    candidates = candidates or list(sight.of_codes())
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
    sight = Outline("\n".join(rows))
    by_key: dict[str, Finding] = {}
    for finding in [*sight.of_ids(), *sight.of_blocks(nested=True)]:
        key = finding.id.upper() or f" {finding.line}"
        there = by_key.setdefault(key, finding)
        told = finding if finding.line == there.line else there  # the latter as it was read whole
        severity = vocabulary.strictest(there.severity, finding.severity)
        by_key[key] = told.replace(severity=severity)
    return sorted(by_key.values(), key=lambda finding: finding.line)


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


class Outline(Sight):
    """Where the findings of a text begin and end, each judged by its features."""

    def _holds_findings(self, at: int, is_own: bool) -> bool:
        """Whether a heading only groups findings; `is_own`: it has an id or a severity itself."""
        kinds = ("heading",) if self._graded(at) else ("heading", "item")
        last = self.blocks[at].last
        inside = itertools.takewhile(lambda other: other.first <= last, self.blocks[at + 1 :])
        titles = (
            x.title for x in inside if x.kind in kinds and (x.kind, x.first) != ("heading", x.last)
        )
        is_told = any(shapes.begins_finding(x) or index.group_of(x) for x in titles)
        below = self._direct.get(at, [at])[0]
        counts = COUNTED.search(self.blocks[at].title) and self.blocks[below].kind != "heading"
        return not is_own and (is_told or bool(counts))

    def of_ids(self) -> Iterator[Finding]:
        """The headings that begin with an id, whether or not they have a severity."""
        for block in self.blocks:
            if block.kind == "heading" and (identity := shapes.titled(block.title)[0]):
                yield shapes.finding("", block.title, block.first, block.last, identity=identity)

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
            is_better = place.line or (place.file and not own.file)
            made.append(own.replace(file=place.file, at=place.line) if is_better else own)
        return made

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
                skip = block.last if is_heading and nested else candidate.end
        return candidates

    def _of_heading(self, at: int, block: Block, nested: bool) -> Finding | None:
        """A heading is a finding if it or a label directly below it has a severity."""
        if severity := self._group(at):
            is_told = severity in SERIOUS and not shapes.is_about(block.title, _WORK)
            return self._of_group(at, severity, nested) if is_told else None
        identity, _, title = shapes.titled(block.title)
        severity = self._graded(at)
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
        block, title = self.blocks[at], phrases.first_sentence(below[0].title)
        text = self._text(below[0].first, below[-1].last)
        is_placed = "`" in text or len(text) > _FEW or shapes.place_in(text).file
        is_empty = not (is_placed or nested or phrases.is_serious(phrases.DENIES.sub("", text)))
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

    def _of_line(self, at: int, block: Block) -> Finding | None:
        """An item, a paragraph or a quote is a finding by its head, a label or its section."""
        bare = vocabulary.unbulleted(block.title)[0]
        if "**" not in bare[:80]:
            bare = bare[: shapes.LONG]
        head = shapes.head_of(bare)
        own = self.plain[block.first - 1 : block.last][:14]
        own += self._label_behind(at)
        is_verdict = vocabulary.verdict(bare) is not None or phrases.is_ticked(bare)
        if is_verdict or shapes.is_count(head) or any(map(phrases.is_settled, own)):
            return None
        severity = (head.severity if head.marked or head.id else "") or shapes.tail_of(bare)
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
        is_advice = severity == "IMP" and not head.id and bare[:1] != "["
        if is_advice or not (severity or inherited):
            return None
        title = self._title_of(head.title if head.severity or head.id else bare, bare, block)
        end = self.end_of(at, block)
        behind = self.plain[block.last : end]
        if self._is_denied(block.first, end) or any(map(phrases.is_settled, behind)):
            self._over.update(range(block.first, end + 1))
            return None
        recap = bool(inherited) or self._is_below(at, _REPEATS)
        told = min(block.last, block.first + 12)
        identity = head.id or self._labelled(block.first - 1, told, _IDS)
        return self._made(severity or inherited, identity, title, block.first, end, recap)

    def _label_behind(self, at: int) -> list[str]:
        """Return the label that stands as a paragraph behind an item, or behind a bold title."""
        _, _, _, _, last, inside = block = self.blocks[at]
        if block.kind != "item" and not self._leads(at):
            return []
        end = self.end_of(at, block)
        behind = (block for block in self.blocks[at + 1 : at + 6] if last < block.first <= end)
        texts = itertools.takewhile(lambda x: (x.kind, x.inside) == ("text", inside), behind)
        rows = (self.plain[block.first - 1] for block in texts if block.first == block.last)
        return [row for row in rows if shapes.label_in(row)][:1]

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
        if is_empty or not shapes.has_words(shapes.without_place(title)):
            below = shapes.cleaned(phrases.first_sentence(self._said_below(first, last)))
            is_named = shapes.letters(title) > 0 and not is_empty
            if not (shapes.has_words(below) or is_named):
                return None
            title = below or title or whole
        place = self._place(first, last)
        return shapes.finding(severity, title, first, last, place, identity, recap)

    def _of_table(self, at: int, block: Block) -> list[Finding]:
        head, *rows = tables.table_rows(self.plain[block.first - 1 : block.last])
        roles = tables.graded(list(map(index.column, head.cells)), [row.cells for row in rows])
        if "severity" not in roles and (card := tables.of_card(rows, block)):
            return [card]
        if "severity" in roles:
            column = roles.index("severity")
            for above, row in itertools.pairwise(rows):
                if column < min(len(above.cells), len(row.cells)):  # an empty one goes on
                    row.cells[column] = row.cells[column] or above.cells[column]
        if tables.is_scale(roles, rows):
            return []
        group = self._inherited(at)
        heading = self.blocks[block.inside].title if block.inside >= 0 else ""
        place = shapes.place_of(heading)
        numbers = [next(iter(row.cells), "").strip(" #.") for row in rows]
        own = self._numbered(block.last, numbers)
        made = (
            (number, row.last, tables.of_row(roles, row.cells, block.first + row.first, group))
            for number, row in zip(numbers, rows, strict=True)
        )
        return [
            self._at_section(finding.replace(end=block.first + last), place, own.get(number))
            for number, last, finding in made
            if finding
        ]

    def _numbered(self, last: int, numbers: list[str]) -> dict[str, Block]:
        """Return what stands behind a table and begins with its rows' numbers, if each has one."""
        if not numbers or not all(map(str.isdecimal, numbers)):
            return {}
        start = bisect.bisect(self._by_number, last, key=lambda pair: pair[1].first)
        told = self._by_number[start : start + len(numbers) + MOST_SIBLINGS]
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
        row = row.replace(line=own.first, end=own.last) if own else row
        return row.replace(recap=True)

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
                yield shapes.finding(head.severity, title, number, place=Place(file, 0))

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
                yield shapes.finding(severity, title, message.line, end, place)
        for number, row in enumerate(self.rows, 1):
            yield from tables.of_columns(row, number)

    def of_prose(self, only_said: bool) -> Iterator[Finding]:
        """Paragraphs that say what is wrong at a place; `only_said`: and how bad it is."""
        for at, block in enumerate(self.blocks):
            if block.kind not in ("text", "item", "quote") or self._is_below(at, _NO_FINDINGS):
                continue
            is_denied = phrases.is_ticked(self.plain[block.first - 1])
            is_denied = is_denied or self._is_denied(block.first, block.last)
            if block.first in self._over or is_denied:
                continue
            rows = self.plain[block.first - 1 : block.last]
            if shapes.is_fields(rows):
                continue
            text = " ".join(" ".join(rows).split())
            place = shapes.place_in(text)
            said = phrases.said_in(text)
            demanded = phrases.demanded_in(text)
            is_stated = place.file and (said or demanded) if only_said else place.file or said
            is_cell = bool(vocabulary.severity(text))
            if not is_stated or is_cell:
                continue
            parts = [part for part in phrases.sentences(text) if not phrases.DENIES.search(part)]
            left = " ".join(parts)
            is_worst = bool(phrases.WORST.search(left))
            is_bad = demanded or phrases.BAD.search(left)
            if severity := said or ("P0" if is_worst else "P1" if is_bad else ""):
                named = (part for part in parts if part.count(" ") > _FEW_BLANKS)
                serious = filter(phrases.is_serious, named)
                graded = (phrases.said_in, phrases.demanded_in)
                told = (part for part in serious if not any(read(part) for read in graded))
                title = next(told, next((part for part in parts if place.file in part), text))
                title = " ".join(parts[:2]) if place.file in title else title
                end, title = self.end_of(at, block), shapes.cleaned(title)
                yield shapes.finding(severity, title, block.first, end, place)

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
            if any(map(phrases.is_settled, rows)):
                continue
            is_record = is_record or shapes.is_led(block)
            if block.first in covered or not (is_record or block.kind in ("heading", "item")):
                continue
            near = range(block.first + 1, min(block.last, block.first + 3) + 1)
            end = next((number - 1 for number in near if number in others), near.stop - 1)
            text = self._text(block.first, block.last if is_record else end)
            place = shapes.place_in(text)
            line = place.line or (shapes.line_in(text) if is_record and place.file else 0)
            is_likely = line and (is_record or phrases.is_serious(text))
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
        is_over = phrases.is_ticked(row) or phrases.is_settled(row)
        if block.kind in ("code", "rule", "comment") or is_over:
            return False
        is_heading = block.kind == "heading"
        is_group = is_heading and (index.group_of(block.title) or phrases.says_over(row))
        return not (is_group or PLACEHOLDER.search(self.rows[number - 1]))

    def _explains(self, at: int, row: str, word: str, read: int) -> bool:
        """Whether a line only counts or names what was read `read` times, and states nothing."""
        near = rf"(\d+)\s+{re.escape(word)}|{re.escape(word)}[\w ]{{0,24}}\W{{1,4}}(\d+)"
        counts = [int(one or other) for one, other in re.findall(near, row, re.IGNORECASE)]
        if shapes.place_in(row).line or not read:
            return False
        is_statement = self.blocks[at].kind in ("item", "table") or shapes.label_in(row)
        return max(counts) <= read if counts else not is_statement or "verall" in row[:16]


def _begins(title: str) -> str:
    return " ".join(vocabulary.words(title)[:3])


def of_objects(text: str) -> list[Finding] | None:
    """The findings of JSON, XML, YAML or CSV at their lines; None of any other text.

    A page of HTML is XML, and a review in words may be YAML by chance: no object in it is graded.
    """
    bare = text.removeprefix("\ufeff").strip()
    rows = objects.rows(bare)
    tree = rows or objects.tree(bare)
    if tree is None or (isinstance(tree, list) and not any(objects.below(tree))):
        return None
    found = objects.findings(trees.still_open(tree), trees.graded)
    made = filter(None, map(trees.of_object, found))
    placed = list(trees.placed(text, itertools.islice(made, _MOST_OBJECTS)))
    is_sure = placed or rows or bare[:1] in ("{", "[")
    if not is_sure and (bare[:1] == "<" or not any(objects.findings(tree, trees.graded))):
        return None
    return placed or _of_told(tree, text.count("\n") + 1)


def _of_told(tree: Any, last: int) -> list[Finding]:
    """The findings of reviews that an object has as a value: `{"result": "# Review …"}`."""
    collected: list[Finding] = []
    left = MOST_LINES
    for text in itertools.islice(objects.told(tree), _MOST_TOLD):
        rows = text.split("\n")[:left]
        collected += read("\n".join(rows)).findings
        left -= len(rows)
    return [finding.replace(line=1, end=last) for finding in collected[:_MOST_OBJECTS]]
