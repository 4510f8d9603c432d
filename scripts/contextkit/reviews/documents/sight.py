"""One review with its blocks: what the severity, the place and the title of each are.

What stands nearest holds: its own words, a label in it or directly below it, the section around it.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter

from contextkit.base.type_names import Callable
from contextkit.reviews.documents import index, normal, phrases, shapes, vocabulary
from contextkit.reviews.documents.shapes import NOWHERE, Place
from contextkit.text.blocks import Block, blocks
from contextkit.text.patterns import Pattern

_STAMPED = Pattern(r"^(?:[\d:.TZ-]{16,40} )?(?:##\[\w{1,12}\])?")  # by a build
_ANNOTATION = Pattern(  # of a build, for the page of a pull request
    r"^\s{0,4}::(error|warning|notice)\s([^\n]{1,600}?)::(\S.{0,500})"
)
_PARAMETER = Pattern(r"(file|line|title)=([^,]{1,200})")
PLACEHOLDER = Pattern(r"\s<[a-z][\w :|/-]{1,40}>\s*$")
_NUMBER = Pattern(r"(?:[A-Z][a-z]{1,8}\.?\s)?[\[(#№]{0,2}(\d{1,3})(?![\w.]\d)")
COUNTED = Pattern(r"\(\d{1,3}(?: [^\W\d]{2,12})?\)\s*$")
MOST_SIBLINGS = 100


class Sight:
    """One text with its blocks, and what holds where: sections, files."""

    def __init__(self, text: str) -> None:
        self.rows = [_annotated(row) for _, row in vocabulary.numbered(text)]
        is_org = any(row[:2] == "#+" for row in self.rows)
        self.plain: list[str] = []
        for row in normal.with_marks(self.rows):
            plain = shapes.as_heading(shapes.unstruck(shapes.unmarked(row)), is_org)
            if shapes.BORDER.match(plain):
                plain = "|---|" if self.plain and self.plain[-1][:1] == "|" else ""
            self.plain.append(plain)
        self.plain, ends = normal.with_summaries(self.rows, self.plain)
        self._raise_leads()
        every = normal.closed(blocks("\n".join(self.plain)), ends)
        self.blocks = shapes.parted(every, self.plain)
        self._above_places = self._heading_places()
        self._headed = {block.first for block in self.blocks if block.kind == "heading"}
        headings = [heading for heading in self.blocks if heading.kind == "heading"]
        self._by_id = {shapes.titled(heading.title)[0]: heading for heading in reversed(headings)}
        self._by_number = [
            (match[1], block)
            for block in self.blocks
            if block.kind in ("heading", "text") and (match := _NUMBER.match(block.title))
            if block.kind == "heading" or shapes.begins(block.title)
        ]
        titles = Counter(heading.title for heading in headings)
        self._parts = {x for x in titles if titles[x] > 1 and not shapes.begins_finding(x)}
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
            if phrases.says_over(title) or (shapes.is_about(title, words) and not self._graded(at)):
                return True
            if shapes.names_scale(title) and not shapes.place_in(self._text(*block[3:5])).file:
                return True
        return False

    def _is_over(self, at: int) -> bool:
        """Whether a section is a template's, or says that nothing is left to do."""
        block = self.blocks[at]
        is_template = PLACEHOLDER.search(self.rows[block.first - 1])
        is_leaf = not any(self.blocks[x].kind == "heading" for x in self._direct.get(at, ()))
        is_settled = is_leaf and any(map(phrases.is_settled, self._directly_below(at)))
        return bool(is_template or is_settled or phrases.says_over(block.title))

    def _is_denied(self, first: int, last: int) -> bool:
        """Whether the last sentence of some lines denies it."""
        last = self._told_until(last)
        told = phrases.sentences(" ".join(self.plain[max(first, last - 3) - 1 : last]))
        return bool(told and phrases.DENIED.match(told[-1]))

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

    def _directly_below(self, at: int) -> list[str]:
        """Return the lines of the paragraphs directly below a heading."""
        below = (self.blocks[inner] for inner in self._direct.get(at, ()))
        texts = itertools.takewhile(lambda block: block.kind != "heading", below)
        spans = [(b.first - 1, min(b.last, b.first + 12)) for b in texts if b.kind == "text"]
        return [row for first, last in spans for row in self.plain[first:last]]

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
            graded = {read(row) for row in fields if not phrases.is_ticked(row)} - {""}
            graded |= set() if stated else {shapes.placed_grade(rows[0])} - {""}
            stated |= graded
            records += bool(graded) and block.first < block.last
        stated -= {""}
        return stated.pop() if len(stated) == 1 and records < 2 else ""  # else a list

    def end_of(self, at: int, block: Block) -> int:
        """A paragraph reaches to the next block that begins something else."""
        last = block.last
        label = shapes.FIELD.match(block.title)
        is_record = self._states(block)
        for number, other in enumerate(self.blocks[at + 1 : at + 12], at + 1):
            if other.first <= last:
                continue
            if other.inside != block.inside or other.kind in ("heading", "rule", "table"):
                break
            is_field = bool(label and other.title.startswith(label[0]))
            is_next = is_field or other.kind == block.kind == "item"
            is_below = number == at + 1 and shapes.leads_title(block.title)
            is_placed = self._begins_at(number) and not self._is_place_of(block, number)
            is_led = not is_below and (is_placed or self._begins_one(number))
            is_graded = shapes.head_of(other.title).severity or shapes.begins_finding(other.title)
            is_graded = is_graded or (is_record and self._states(other))
            begins = is_next or is_graded or is_led
            if begins and other.kind != "code":
                break
            last = other.last
        return last

    def _states(self, block: Block) -> bool:
        """Whether a paragraph of several lines has a severity as a label in one of them."""
        rows = self.plain[block.first - 1 : min(block.last, block.first + 12)]
        return block.kind == "text" and len(rows) > 1 and any(map(shapes.label_in, rows))

    def _is_place_of(self, block: Block, at: int) -> bool:
        """Whether a paragraph is only the place of the one before, which names none itself."""
        other, *after = self.blocks[at : at + 2] or [block]
        is_line = other.kind == "text" and other.first == other.last != block.last
        is_line = is_line and other.title.rstrip("* ")[-1:] != ":"
        is_only = is_line and phrases.names_only_place(other.title)
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
        is_said = not is_placed and phrases.said_in(text)
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
                stated = phrases.demanded_in(title)
            self._groups[at] = stated
        return self._groups[at]

    def _leads(self, at: int) -> bool:
        """Whether a paragraph is one of those that a bold title leads, below one heading."""
        block = self.blocks[at]
        own = (self.blocks[each] for each in self._direct[block.inside][:MOST_SIBLINGS])
        return shapes.is_led(block) and sum(map(shapes.is_led, own)) > 1

    def _title_of(self, title: str, bare: str, block: Block) -> str:
        """Return the words that name the finding: a label, its bold lead, or its first sentence."""
        if told := self._labelled(block.first - 1, min(block.last, block.first + 12)):
            return phrases.first_sentence(told)
        if " · " in bare[: shapes.FIELD_LENGTH]:
            return bare
        if shapes.is_fields(self.plain[block.first - 1 : block.last]):
            bare = title = self._named(block) or title
        title = shapes.unlabelled(title)
        if bold := shapes.BOLD.match(bare.lstrip("🔴🟠🟡⚠️❌ ")):
            lead = shapes.head_of(bold[1] or bold[2]).title
            is_title = shapes.has_words(shapes.without_place(lead)) and lead[0] != "["
            title = lead if is_title and not vocabulary.severity(lead) else title
        return phrases.first_sentence(title)

    def _named(self, block: Block) -> str:
        """Return the first value of a record that has words and is neither severity nor place."""
        fields = map(vocabulary.labelled, self.plain[block.first - 1 : block.last])
        told = (value for label, value in fields if not vocabulary.is_scale(label))
        return next((text for text in told if shapes.has_words(shapes.without_place(text))), "")

    def _said_below(self, first: int, last: int) -> str:
        """Return the title that stands below a line: labelled, or the first words."""
        if told := self._labelled(first, min(last, first + 8)):
            return told
        others = (row for row in self.plain[first:last] if not shapes.LABELLED.match(row))
        rows = (row for row in others if shapes.letters(shapes.without_place(row)) > 12)
        return next(rows, "").lstrip("#").strip()

    def _labelled(self, first: int, last: int, labels: frozenset[str] = shapes.TITLES) -> str:
        """Return what a label such as `Title:` says in the lines behind `first`, or ''."""
        told = map(vocabulary.labelled, map(str.strip, self.plain[first:last]))
        values = (_unquoted(value) for label, value in told if label.strip("> ") in labels)
        return next(filter(str.strip, values), "")

    def _place(self, first: int, last: int) -> Place:
        own = self._text(first, min(last, first + 40))
        place = shapes.place_in(own)
        if place.line:
            return place
        number = shapes.line_in(own) or shapes.line_in(self._lead_in(first))
        above = self._above_places[first - 1]
        if place.file:
            return Place(place.file, number)
        return Place(above.file, number or above.line)

    def _lead_in(self, first: int) -> str:
        """Return the lines of a paragraph above the one that begins a finding."""
        start = first - 1
        while start > max(0, first - 5) and self.plain[start - 1].strip():
            start -= 1
        return self._text(start + 1, first - 1)


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


def _unquoted(value: str) -> str:
    is_quoted = value[:1] == value[-1:] and value[:1] in ('"', "'")
    return value.strip("\"' ") if is_quoted else value.strip()
