"""The findings of a review without an index, whichever tool or person wrote it.

    ### 🔴 Critical: title            a heading, with everything below it
    1. **title** …                    an item below `## Critical issues`
    **Severity:** High                a label of a heading or paragraph
    | Severity | File | Line | …      a row of a table
    {"severity": "high", …}           an object of JSON or SARIF
    src/a.py:4: error: …              a line of a linter

A review is cut into blocks, and each block is judged by its features: the nearest severity (of its
title, a label in it, the section around it), its place, whether it only explains or counts
severities, and whether it repeats another. Nothing is guessed about a block that looks like a
finding but has no severity: `unsure` names its line.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import (
    denials,
    heads,
    index,
    normal,
    phrases,
    places,
    shapes,
    tables,
    vocabulary,
)
from contextkit.reviews.documents.index import Finding, Terms
from contextkit.reviews.documents.places import NOWHERE, Place
from contextkit.reviews.documents.sight import MOST_SIBLINGS, PLACEHOLDER, Part, Sight, labelled
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.text import objects

_REPEATS = vocabulary.word_set("repeats")
_PRAISE = vocabulary.word_set("praise")
_ASIDES = vocabulary.word_set("asides") | {word.lower() for word in vocabulary.LISTS["IMP"]}
_NO_FINDINGS = shapes.EXPLAINS | _PRAISE
_IDS = frozenset(["ID"])
_NAMES_NOTHING = vocabulary.word_set("known")
_FATAL = Pattern(r":\d{1,7}: F: ")  # of a linter
_MOST_OBJECTS, _MOST_UNREAD = 5_000, 50  # findings, lines
MOST_LINES = 20_000  # of a file that are read; more take too long (make torture what=time)
_MOST_TOLD = 200  # texts in objects
_FEW_LABELS = 2  # of a record
_FEW_BLANKS = 2  # in a sentence without content: `High priority.`
_MENTIONED = Pattern(  # a word that something else says
    r"\b(?:says?|said|words?|called|named|prints?|logs?|reads?|contains?) "
    r"[\"'`“„«][\w-]{1,30}[\"'`”“»](?!,? and (?:it )?is)"
)
_PATHS = Pattern(r"[\w.-]+/(?:[\w.-]+/|\w*-)\S*")
_NONE = Pattern(r"\W{0,3}none\b(?! of)", re.IGNORECASE)
_COUNTED = Pattern(r"\(\d{1,3}(?: [^\W\d]{2,12})?\)\s*$")
_PARAGRAPH = 8  # lines of a paragraph that are read for a legend
_FEW = 100  # characters of a statement that there is nothing


class Read(NamedTuple):
    """The findings in order, and the lines of other blocks that may be findings."""

    findings: tuple[Finding, ...]
    unsure: tuple[int, ...]


def read(text: str) -> Read:
    """The findings of a text without an index, in order. Linear; never raises."""
    whole = of_objects(text)
    if whole is not None:
        return whole
    sight = Outline(text, is_whole=True)
    printed = [*sight.of_tools(), *sight.of_tags()]
    starts, headed = ({each.line for each in printed}, {part.first for part in sight.headings})
    milder = {each.line for each in printed if each.severity not in SERIOUS}
    candidates = [
        each
        for each in sight.of_parts()  # a paragraph around a tool's messages is none
        if each.line in headed or starts.isdisjoint(range(each.line + 1, each.end + 1))
        if each.line not in milder or each.severity not in SERIOUS  # a word in what a tool says
    ]
    candidates += _beside(candidates, (each for each in printed if each.line not in sight.over))
    candidates = candidates or list(sight.of_codes())
    is_told = any(candidate.severity in SERIOUS for candidate in candidates)
    prose = (
        each
        for each in sight.of_prose(is_told)  # the file above a tool's messages says nothing
        if starts.isdisjoint(range(each.line, each.end + 1))
        or " " in sight.plain[each.line - 1].strip()
    )
    candidates += _beside(candidates, prose)
    return Read(tuple(_single(candidates)), sight.unsure(candidates))


def _beside(candidates: list[Finding], others: Iterable[Finding]) -> list[Finding]:
    """The other findings that begin in none of the candidates."""
    there = {line for each in candidates for line in range(each.line, each.end + 1)}
    return [finding for finding in others if finding.line not in there]


def issues(text: str, indexes: Iterable[index.Block], terms: Terms | None = None) -> list[Finding]:
    """The findings of a review outside of its indexes, each id once, maybe without a severity.

    A line that says of one that was open before that it is fixed is none.
    """
    inside = {number for block in indexes for number in range(block.start, block.end + 1)}
    if terms and terms.open:
        asked = {identity.upper() for identity in terms.open}
        inside.update(at for at, row in vocabulary.numbered(text) if phrases.mends(row, asked))
    left = (
        "" if number in inside or row.lstrip()[:1] == ">" else row
        for number, row in vocabulary.numbered(text)
    )
    sight = Outline("\n".join(left))
    by_key: dict[str, Finding] = {}
    named = ((part, shapes.titled(part.title)[0]) for part in sight.headings)
    ids = [shapes.finding("", part.title, part.first, part.last, identity=identity)
           for part, identity in named if identity]  # fmt: skip
    for finding in [*ids, *map(sight.at_its_label, sight.of_parts(nested=True))]:
        key = finding.id.upper() or f" {finding.line}"
        there = by_key.setdefault(key, finding)
        told = finding if finding.line == there.line else there  # the latter as it was read whole
        severity = vocabulary.strictest(there.severity, finding.severity)
        by_key[key] = told.replace(severity=severity)
    return sorted(by_key.values(), key=lambda finding: finding.line)


def _single(candidates: list[Finding]) -> list[Finding]:
    """The candidates without repetitions: by id or title, and recaps of other findings."""
    kept: list[Finding] = []
    positions: dict[str, int] = {}
    for candidate in sorted(candidates, key=lambda each: (each.recap, each.line)):
        keys = [f"#{candidate.id.upper()}"] if candidate.id else []
        keys.append(" ".join(vocabulary.words(candidate.title))[:80])
        section = f"@{candidate.line}"  # summed up by a row of a table
        also = [section] if candidate.recap else []
        at = next((positions[key] for key in keys + also if key in positions), len(kept))
        mine = kept[at] if at < len(kept) else candidate
        is_elsewhere = candidate.file and (mine.file, mine.at) != (candidate.file, candidate.at)
        differs = is_elsewhere or mine.severity != candidate.severity
        if at == len(kept) or (differs and not candidate.recap):
            for key in (*keys, section):
                positions.setdefault(key, len(kept))
            kept.append(candidate)
            continue
        place = candidate if candidate.file and not mine.at else mine
        severity = vocabulary.strictest(mine.severity, candidate.severity)
        title = mine.title if any(key in positions for key in keys) else candidate.title
        told = max(mine, candidate, key=lambda each: (not each.recap, each.end - each.line))
        own = {"id": mine.id or candidate.id, "severity": severity, "title": title}
        kept[at] = told.replace(**own, file=place.file, at=place.at)
    times = Counter(each.severity for each in kept)
    full = [each for each in kept if not each.recap]
    return sorted(
        (each for each in kept if not (each.recap and _is_told(each, times[each.severity], full))),
        key=lambda finding: finding.line,
    )


def _is_told(recap: Finding, times: int, full: list[Finding]) -> bool:
    """Whether a recap repeats findings: there are as many, or one in such words."""
    others = [each for each in full if each.severity == recap.severity]
    mine = {*vocabulary.words(recap.title)}
    shared = (len(mine & {*vocabulary.words(other.title)}) for other in others)
    is_elsewhere = recap.file and all(recap.file != other.file for other in others)
    is_as_many = times <= 2 * len(others) and not is_elsewhere
    return is_as_many or 2 * max(shared, default=0) >= len(mine)


class Outline(Sight):
    """The findings of a text from their beginnings to their ends, judged by their features."""

    def of_parts(self, nested: bool = False) -> list[Finding]:
        """The findings in parts, each with the place from the line above, if the first has one.

        Such a line ends the finding before.
        """
        findings = list(self._of_parts(nested))
        above = [self.place_above(finding.line) for finding in findings]
        if not above or not above[0]:
            return findings
        made: list[Finding] = []
        for finding, at, following in zip(findings, above, [*above[1:], 0], strict=True):
            is_cut = finding.line < following <= finding.end
            own = finding.replace(end=self.told_until(following - 1)) if is_cut else finding
            place = self.placed_at(at) if at else NOWHERE
            has_own = own.at and self.is_below_code(own.line)
            is_closer = place.line and not has_own
            is_better = is_closer or (place.file and not own.file)
            made.append(own.replace(file=place.file, at=place.line) if is_better else own)
        return made

    def _of_parts(self, nested: bool) -> Iterator[Finding]:
        skip = 0  # the last line of a finding: nothing inside it is another
        for part in self.parts:
            if part.first <= skip or part.kind in ("code", "rule", "comment"):
                continue
            is_heading = part.kind == "heading"
            if is_heading and part.is_over:
                skip = part.last
                self.over.update(range(part.first, skip + 1))
            elif part.is_below(_NO_FINDINGS):
                continue
            elif part.kind == "table":
                yield from self._of_table(part)
            elif finding := (self._of_heading(part, nested) if is_heading else self._of_line(part)):
                yield finding
                skip = part.last if is_heading and nested else finding.end

    def _of_heading(self, part: Part, nested: bool) -> Finding | None:
        """A heading is a finding if it or a label directly below it has a severity."""
        if part.group:
            return self._of_group(part, nested) if part.group in SERIOUS else None
        identity, _, title = shapes.titled(part.title)
        is_own = bool(identity) or part.title[:1] == "["
        inherited = "" if shapes.is_about(part.title, index.PLURALS) else part.inherited
        severity = part.graded or inherited
        is_advice = severity == "IMP" and not is_own
        is_note = vocabulary.says_nothing(title) or shapes.is_note(part.title)
        if not severity or is_advice or is_note:
            return None
        if not is_own and self._holds_findings(part):
            return None
        end = part.last
        for other in self.parts[part.at + 1 : part.at + 100]:  # its parts, which have generic names
            if other.first > end:
                if other.title not in self.repeated or other.inside is not part.inside:
                    break
                end = other.last
        return self._made(severity, identity, title, part.first, end, recap=False)

    def at_its_label(self, finding: Finding) -> Finding:
        """The finding at the line that grades it and in its words, if its heading names nothing."""
        if finding.id or not _NAMES_NOTHING.issuperset(vocabulary.words(finding.title)):
            return finding
        grades = (shapes.label_in, shapes.placed_grade, shapes.effect_in)
        for at, row in enumerate(self.plain[finding.line : finding.end], finding.line + 1):
            if any(grade(row) == finding.severity for grade in grades):
                return finding.replace(line=at, title=shapes.cleaned(row))
        return finding

    def _holds_findings(self, part: Part) -> bool:
        """Whether a heading without an id or a severity of its own only groups findings."""
        kinds = ("heading",) if part.graded else ("heading", "item")
        inside = itertools.takewhile(lambda x: x.first <= part.last, self.parts[part.at + 1 :])
        named = (x for x in inside if x.kind in kinds and not shapes.PART.match(x.title))
        titles = [x.title for x in named if x.kind == "item" or x.first < x.last]  # no label
        is_counted = _COUNTED.search(part.title) and (part.direct or [part])[0].kind != "heading"
        return bool(is_counted) or any(
            shapes.begins_finding(x) or index.group_of(x) for x in titles
        )

    def _of_group(self, part: Part, nested: bool) -> Finding | None:
        """The finding below a heading that only names a severity; mild words are none."""
        below = part.direct
        first = below[0].title if below else ""
        is_text = {each.kind for each in below} <= {"text", "code", "quote"}
        is_list = any(each.begins_one or shapes.begins_finding(each.title) for each in below)
        is_none = vocabulary.says_nothing(first) or bool(_NONE.match(first))
        if not is_text or is_list or is_none:
            return None
        text = "\n".join(self.plain[part.first : part.last])
        is_placed = "`" in text or len(text) > _FEW or bool(places.place_in(text).file)
        is_told = is_placed or nested or phrases.is_serious(phrases.DENIES.sub("", text))
        title = phrases.first_sentence(first)
        made = self._made(part.group, "", title, part.first, part.last, recap=True)
        return made if is_told and first else None

    def _of_line(self, part: Part) -> Finding | None:
        """An item, a paragraph or a quote is a finding by its head, a label or its section."""
        bare = vocabulary.unbulleted(part.title)[0]
        head = heads.read(bare)
        own = [*part.few, *self._label_behind(part)]
        is_verdict = vocabulary.verdict(bare) is not None  # `**Verdict**: needs changes (2 P1)`
        is_no_finding = is_verdict or phrases.is_ticked(bare) or shapes.is_count(head)
        if any(map(phrases.is_settled, own)):
            self.over.update(range(part.first, part.last + 1))
            return None
        if is_no_finding or shapes.is_note(bare) or self._explains_grades(part):
            return None
        severity = (head.severity if head.marked or head.id else "") or heads.tail_of(bare)
        is_dash = not heads.letters(head.title) and bare.rstrip()[-1:] in "-–—"  # `critical: -`
        is_empty = is_dash or vocabulary.says_nothing(head.title)
        if severity and not head.id and is_empty:
            return None
        stated = [shapes.label_in(row) for row in own if not shapes.DATED.match(row)]
        stated = [*filter(None, stated)]
        label = stated[0] if len(stated) == 1 else ""
        severity = vocabulary.strictest("" if label and head.is_sign else severity, label)
        inherited = part.inherited if part.kind == "item" or part.begins_one else ""
        is_advice = severity == "IMP" and not head.id and bare[:1] != "["
        if is_advice or not (severity or inherited):
            return None
        title, end = part.name(head.title if head.severity or head.id else bare, bare), part.end
        first = self.lead_of(part)
        if label and (titled := self._titled_record(part)):
            title, first, end = titled.title, titled.first, self._end_of_record(part)
        told = phrases.sentences(" ".join(part.rows))
        behind = [*self.plain[part.last : end], *told[1:][-1:]]
        if part.kind in ("text", "quote"):  # and what answers a folded one
            after = self.parts[part.at + 1 : part.at + 2]
            behind += [x.title for x in after if x.kind == "text" and x.inside is not part.inside]
        above = self.place_above(part.first)
        state = self.plain[above - 1] if above else ""  # `a.ts:4 · Fixed`, `Line 4 (resolved)`
        is_over = phrases.says_over(state) or phrases.end_thread(state.split(" · ")[1:])
        if is_over or self.is_denied(part.first, end) or any(map(phrases.is_settled, behind)):
            self.over.update(range(part.first, end + 1))
            return None
        recap = not severity or part.is_below(_REPEATS)
        identity = head.id or labelled(part.few, _IDS)
        return self._made(severity or inherited, identity, title, first, end, recap)

    def _titled_record(self, part: Part) -> Part | None:
        """The line above a line of labels only, which says what they are about."""
        above = self.parts[part.at - 1] if part.at else part
        labels = [vocabulary.labelled(field)[0] for field in shapes.FIELDS.split(part.title)]
        is_record = len(labels) > _FEW_LABELS and all(labels) and part.first == part.last
        is_near = above.first == above.last == max(part.first - 2, above.first) < part.first
        is_title = above.kind == "text" and above.inside is part.inside and is_near
        return above if is_record and is_title else None

    def _end_of_record(self, part: Part) -> int:
        """The last line that a record at the top is about: all of it, if nothing else is graded."""
        last = part.inside.last
        others = itertools.takewhile(lambda other: other.first <= last, self.parts[part.at + 1 :])
        is_other = any(
            other.graded or other.group if other.kind == "heading"
            else any(map(shapes.label_in, other.few)) or shapes.begins(other.title)
            for other in others
            if not shapes.DATED.match(self.plain[other.first - 1])
        )  # fmt: skip
        return part.end if is_other else last

    def _explains_grades(self, part: Part) -> bool:
        """Whether a paragraph about severities names three, none of them first, and no place."""
        start = end = part.first - 1
        while start and self.plain[start - 1].strip() and part.first - start < _PARAGRAPH:
            start -= 1
        while end < len(self.plain) and self.plain[end].strip() and end - start < _PARAGRAPH:
            end += 1
        rows = [vocabulary.words(row) for row in self.plain[start:end]]
        firsts = {vocabulary.severity(row[0]) for row in rows if row}
        grades = {vocabulary.severity(word) for row in rows for word in row} - {""}
        is_legend = any(map(vocabulary.is_scale, itertools.chain(*rows))) and firsts == {""}
        is_placed = bool(places.place_in(" ".join(self.plain[start:end])).file)
        return is_legend and len(grades) > 2 and not is_placed

    def _label_behind(self, part: Part) -> list[str]:
        """The label in a paragraph after an item or a bold title."""
        if part.kind != "item" and not part.is_led:
            return []
        near = self.parts[part.at + 1 : part.at + 6]
        behind = (other for other in near if part.last < other.first <= part.end)
        texts = itertools.takewhile(lambda x: x.kind == "text" and x.inside is part.inside, behind)
        return [other.title for other in texts if shapes.label_in(other.title)][:1]

    def _made(
        self, severity: str, identity: str, title: str, first: int, last: int, recap: bool
    ) -> Finding | None:
        whole = shapes.cleaned(title)
        title = shapes.without_fields(whole)
        if title != whole and len(title.split()) < 3:
            title = f"{title}: {shapes.cleaned(self.said_below(first, last))}".strip(": ")
        is_label = vocabulary.is_scale(title.partition(":")[0]) and len(title.split()) < 4
        are_badges = all(word[:1] == "!" for word in title.split())
        is_empty = is_label or vocabulary.says_nothing(title) or bool(vocabulary.severity(title))
        is_empty = is_empty or are_badges
        if is_empty or not heads.has_words(shapes.without_place(title)):
            below = shapes.cleaned(phrases.first_sentence(self.said_below(first, last)))
            if is_empty and not heads.has_words(below):
                return None
            title = below or title or whole
        place = self.place(first, last)
        return shapes.finding(severity, title, first, last, place, identity, recap)

    def _of_table(self, part: Part) -> Iterator[Finding]:
        head, *rows = every = tables.table_rows(part.rows)
        roles = tables.graded(list(map(index.column, head.cells)), [row.cells for row in rows])
        if tables.is_headless(every, part.rows):
            roles, rows = tables.parted(every)
        elif "severity" in roles:
            column = roles.index("severity")
            for above, row in itertools.pairwise(rows):
                if column < min(len(above.cells), len(row.cells)):  # an empty cell goes on
                    row.cells[column] = row.cells[column] or above.cells[column]
        elif card := tables.of_card(rows, part.first, part.last):
            yield card
            return
        if tables.is_scale(roles, rows):
            return
        around = places.place_of(part.inside.title)
        around = around if around.file else self._above_places[part.first - 1]
        numbers = [next(iter(row.cells), "").strip(" #.") for row in rows]
        own = self._numbered(part.last, numbers)
        for number, row in zip(numbers, rows, strict=True):
            at = part.first + row.first
            if made := tables.of_row(roles, row.cells, at, part.inherited):
                section = self.by_id.get(made.id) if made.id else own.get(number)
                place = self.place(section.first, section.last) if section else around
                if not made.file or (place.file and not made.at):
                    made = made.replace(file=place.file, at=place.line or made.at)
                ends = (at, self._end_of_row(part.first + row.last))
                first, last = (section.first, section.last) if section else ends
                yield made.replace(line=first, end=last, recap=True)

    def _end_of_row(self, at: int) -> int:
        """The last line of a row of a table; in HTML, each of its cells may have a line."""
        ahead = range(at, min(len(self.rows), at + normal.MOST_CELLS) + 1)
        is_open = "<tr" in self.rows[at - 1]
        return next((n for n in ahead if "</tr" in self.rows[n - 1]), at) if is_open else at

    def _numbered(self, last: int, numbers: list[str]) -> dict[str, Part]:
        """The blocks behind a table by the number they begin with, if most of its rows have one."""
        start = bisect.bisect(self.by_number, last, key=lambda pair: pair[1].first)
        told = self.by_number[start : start + len(numbers) + MOST_SIBLINGS]
        times = Counter(number for number, _ in told)
        there = sum(map(times.__contains__, numbers))
        is_one_each = all(times[number] < 2 for number in numbers)
        return dict(told) if is_one_each and 2 * there > len(numbers) else {}

    def of_codes(self) -> Iterator[Finding]:
        """The findings in fenced blocks of JSON, and remarks in those of code.

        A remark is `// REVIEW(critical): …`.
        """
        for part in self.parts:
            rows = self.rows[part.first : part.last - 1] if part.kind == "code" else []
            if rows and part.title[:5].lower() in ("json", "sarif", ""):
                told = of_objects("\n".join(rows))
                for finding in told.findings if told else ():
                    first, last = finding.line + part.first, finding.end + part.first
                    yield finding.replace(line=first, end=last)
                continue
            file = ""
            for number, row in enumerate(rows, part.first + 1):
                bare = row.strip("+-/#*;<!> \t")
                file = places.place_of(bare).file or file
                head = heads.read(bare) if heads.KIND.match(bare) else None
                if head and head.severity:
                    title, place = shapes.cleaned(head.title), Place(file, 0)
                    yield shapes.finding(head.severity, title, number, place=place)

    def of_tags(self) -> Iterator[Finding]:
        """The findings in elements of XML among other text: `<finding severity="high">`."""
        rows = [*self.rows]
        for part in self.parts if any("</" in row for row in rows) else ():
            if part.kind == "code":
                rows[part.first - 1 : part.last] = [""] * (part.last - part.first + 1)
        tree = objects.elements("\n".join(rows))
        grade = tables.grading(tree)
        for told in objects.findings(tables.still_open(tree, grade), grade):
            if told.grade and (made := tables.of_object(told)):
                yield made

    def of_tools(self) -> Iterator[Finding]:
        """The messages of linters and compilers: each reaches to the next, or a blank line."""
        from contextkit.text.digests import diagnostics
        from contextkit.text.digests.lines import Lines

        rows = self.rows
        messages = diagnostics.find(Lines("\n".join(rows)))[0]
        starts = {message.line for message in messages}
        for message in messages:
            below = range(message.line, len(rows))
            ends = (at for at in below if at + 1 in starts or not rows[at].strip())
            row, head = rows[message.line - 1], heads.read(message.said)
            own = head.severity if head.marked and head.title else ""
            severity = vocabulary.of_tool(message.severity) or vocabulary.of_tool(message.level)
            severity = own or heads.tail_of(row, apart=False) or severity
            severity = "P0" if _FATAL.search(row[:200]) else severity
            if severity:
                place = places.place_in(message.place)
                title = shapes.cleaned(head.title if own else message.said)
                end = next(ends, len(rows))
                yield shapes.finding(severity, title, message.line, end, place)
        is_headed = False
        for number, row in enumerate(self.rows, 1):
            is_headed = bool(row.strip()) and (is_headed or tables.heads_columns(row))
            yield from tables.of_columns(row, number, is_headed)

    def of_prose(self, only_said: bool) -> Iterator[Finding]:
        """Paragraphs that say what is wrong at a place; with `only_said`, also how bad it is."""
        for part in self.parts:
            if part.kind not in ("text", "item", "quote") or part.is_below(_NO_FINDINGS):
                continue
            rows = part.rows
            is_denied = phrases.is_ticked(rows[0]) or self.is_denied(part.first, part.last)
            is_patch = bool(self.patches[part.first - 1]) and self.is_quoted(part.first)
            is_told = part.first in self.over or is_denied
            if is_told or is_patch or shapes.is_fields(rows):
                continue
            is_below = bool(places.line_of(rows[0]))  # `Line 8: x;`, below the name of the file
            text = " ".join(" ".join(rows[is_below:]).split())
            place = self.placed_at(part.first) if is_below else places.place_in(text)
            place = self._linked(part) or place
            demanded = phrases.demanded_in(text)
            stated = phrases.said_in(text) or (demanded if place.file else "")
            if stated and not place.file and (above := self.place_above(part.first)):
                place = self.placed_at(above)
            place = place if place.file else self.patched_above(part.first)
            is_told = bool(place.file and stated) if only_said else bool(place.file or stated)
            is_place = not stated and places.place_of(rows[0]).file and len(rows) == 1
            if not is_told or is_place or vocabulary.severity(text):  # a cell
                continue
            parts = [told for told in phrases.sentences(text) if not phrases.DENIES.search(told)]
            left = _MENTIONED.sub(" ", _PATHS.sub(" ", " ".join(parts)))
            is_worst, is_bad = phrases.WORST.search(left), phrases.BAD.search(left)
            is_mild = phrases.last_grade(text) not in ("", *SERIOUS)
            bad = "P0" if is_worst else "P1" if is_bad and not is_mild else ""
            if severity := stated or bad:
                title = self._told(parts, text, place)
                yield shapes.finding(severity, title, part.first, self.answer_end(part), place)

    def answer_end(self, part: Part) -> int:
        """The last line of a paragraph, or of the answer to a quote of a patch: before the next."""
        ahead = range(part.last + 1, part.end + 1)
        quoted = next((at for at in ahead if self.patches[at - 1] and self.is_quoted(at)), 0)
        return self.told_until(quoted - 1) if quoted else part.end

    def _linked(self, part: Part) -> Place | None:
        """The place in a link that stands alone below an item."""
        below = range(part.last, part.end) if part.kind == "item" else ()
        link = next(filter(None, (self.plain[at].strip() for at in below)), "")
        place = places.place_in(link) if "://" in link and " " not in link else None
        return place if place and place.line else None

    @staticmethod
    def _told(sentences: list[str], text: str, place: Place) -> str:
        """The sentence that says what is wrong, and not only how bad it is."""
        long = (told for told in sentences if told.count(" ") > _FEW_BLANKS)
        bad = (told for told in long if phrases.is_serious(told))
        others = (told for told in bad if not (phrases.said_in(told) or phrases.demanded_in(told)))
        placed = (told for told in sentences if place.file in told)
        title = next(itertools.chain(others, placed), text)
        at = sentences.index(title) if title in sentences else 0
        return shapes.cleaned(" ".join(sentences[at : at + 2]) if place.file in title else title)

    def unsure(self, candidates: list[Finding]) -> tuple[int, ...]:
        """The lines of parts that look like findings but are none."""
        covered = {
            number
            for candidate in candidates
            for number in range(candidate.line, min(candidate.end, candidate.line + 5_000) + 1)
        }
        others = covered | {part.first for part in self.headings}
        numbers = set(self._unread(covered, candidates))
        for part in self.parts:
            is_record = part.kind == "text" and (shapes.is_fields(part.rows) or part.is_led)
            if part.first in covered or not (is_record or part.kind in ("heading", "item")):
                continue
            few = range(part.first + 1, min(part.last, part.first + 3) + 1)
            near = itertools.takewhile(lambda at: at not in others, few)
            last = part.last if is_record else max(near, default=part.first)
            text = "\n".join(self.plain[part.first - 1 : last])
            linked = self._linked(part)
            place = linked or places.place_in(text)
            line = place.line or (places.line_in(text) if is_record and place.file else 0)
            is_own = is_record or bool(linked)
            is_likely = line and (is_own or phrases.is_serious(text))
            if is_likely and not any(map(phrases.is_settled, part.few)):
                numbers |= set() if part.is_below(_NO_FINDINGS | _REPEATS) else {part.first}
        return tuple(sorted(numbers)[:_MOST_UNREAD])

    def _unread(self, covered: set[int], candidates: list[Finding]) -> Iterator[int]:
        """The lines with a P0 or P1 that no finding explains: statements, or further ones."""
        told = Counter(candidate.severity for candidate in candidates)
        titles = (vocabulary.words(candidate.title)[:3] for candidate in candidates)
        names = {candidate.id.upper() for candidate in candidates} | set(map(" ".join, titles))
        owners = {
            number: part for part in self.parts for number in range(part.first, part.last + 1)
        }
        for number in owners.keys() - covered:
            part, row = owners[number], self.plain[number - 1]
            if part.kind in ("code", "rule", "comment") or self._is_no_statement(part, number):
                continue
            word = denials.serious_in(row, next(filter(str.strip, self.plain[number:]), ""))
            grade = vocabulary.severity(word) or vocabulary.severity(re.split("[ -]", word)[0])
            words = vocabulary.words(row)
            told_as = {" ".join(words[first : first + 3]) for first in range(len(words))}
            told_as.update(vocabulary.trimmed(word) for word in row.upper().split())
            is_new = bool(word) and not _explains(part, row, word, told[grade or "P0"])
            if is_new and names.isdisjoint(told_as) and not part.is_below(_NO_FINDINGS):
                yield number

    def _is_no_statement(self, part: Part, number: int) -> bool:
        """Whether a line is settled, names a group, or waits to be filled in."""
        row = self.plain[number - 1]
        is_group = part.kind == "heading" and bool(part.group or phrases.says_over(row))
        is_over = phrases.is_ticked(row) or phrases.is_settled(row)
        return is_over or is_group or bool(PLACEHOLDER.search(self.rows[number - 1]))


def _explains(part: Part, row: str, word: str, read: int) -> bool:
    """Whether a line only counts or names what was read `read` times, and states nothing."""
    near = rf"(\d+)\s+{re.escape(word)}|{re.escape(word)}[\w ]{{0,24}}\W{{1,4}}(\d+)"
    counts = [int(count or other) for count, other in re.findall(near, row, re.IGNORECASE)]
    if places.place_in(row).line or not read:
        return False
    is_statement = part.kind in ("item", "table") or shapes.label_in(row)
    return max(counts) <= read if counts else not is_statement or "verall" in row[:16]


def of_objects(text: str) -> Read | None:
    """The findings of JSON, XML, YAML, TOML, INI or CSV at their lines; None of any other text.

    A page of HTML is XML, and a review in words may be YAML by chance: no object in it is graded.
    One that says something about a line, of which no other is graded, is named as not read.
    """
    bare = text.removeprefix("\ufeff").strip()
    tree = objects.tree(bare)
    if tree is None and (told := tables.of_records(text.removeprefix("\ufeff"))):
        return Read(tuple(told[:_MOST_OBJECTS]), ())
    if tree is None or (isinstance(tree, list) and not any(objects.below(tree))):
        return None
    grade = tables.grading(tree)
    read = objects.findings(tables.still_open(tree, grade), grade)
    every = [(each, tables.of_object(each)) for each in itertools.islice(read, _MOST_OBJECTS)]
    placed = list(tables.placed(text, (made for _, made in every if made)))
    unread = _unread_objects(text, every, placed) if placed else ()
    is_sure = placed or bare[:1] in ("{", "[")
    if not is_sure and (bare[:1] == "<" or not any(objects.findings(tree, grade))):
        return None
    whole = placed or _of_told(tree, text.count("\n") + 1)
    return Read(tuple(whole), unread)


def _unread_objects(
    text: str, every: list[tuple[objects.Found, Finding | None]], placed: list[Finding]
) -> tuple[int, ...]:
    """The lines of objects without a grade that say something where no finding is."""
    there = {(made.file, made.at) for made in placed}
    others = (
        shapes.finding("", each.title, *each.lines)
        for each, made in every
        if not made and each.title.count(" ") > 1 and (each.file, each.line) not in there
        if _ASIDES.isdisjoint(vocabulary.words(each.title)[:1])
    )
    return tuple(sorted({each.line for each in tables.placed(text, others)})[:_MOST_UNREAD])


def _of_told(tree: Any, last: int) -> list[Finding]:
    """The findings of reviews that are values of an object: `{"result": "# Review …"}`."""
    collected: list[Finding] = []
    left = MOST_LINES
    for text in itertools.islice(objects.told(tree), _MOST_TOLD):
        rows = text.split("\n")[:left]
        collected += read("\n".join(rows)).findings
        left -= len(rows)
    return [finding.replace(line=1, end=last) for finding in collected[:_MOST_OBJECTS]]
