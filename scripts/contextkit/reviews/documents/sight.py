"""One review as parts: the severity, the place and the title of each.

The nearest information holds: its own words, a label in or directly below it, its section.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Callable, Iterator
from contextkit.reviews.documents import heads, index, normal, phrases, places, shapes, vocabulary
from contextkit.reviews.documents.places import NOWHERE, Place
from contextkit.text.blocks import Block, blocks

PLACEHOLDER = Pattern(r"\s<[a-z][\w :|/-]{1,40}>\s*$")
_NUMBER = Pattern(r"(?:[A-Z][a-z]{1,8}\.?\s)?[\[(#№]{0,2}(\d{1,3})(?![\w.]\d)")
_FIXED_IN = Pattern(r"(?i)\W{0,4}(?:fix|resolv|address)ed (?:in|by|since|with) (?:this|the|last)\b")
_FIELDS = Pattern(r"\s[·•|]\s")  # between the fields of a heading that may be states
_SOURCE = Pattern(r"\s*\d{1,6}\s{1,4}[│┃┌└]")  # numbered lines of code
_PATCH = Pattern(r">[> ]{0,8}\+\+\+ b/(\S+)|>[> ]{0,8}diff --git a/\S+ b/(\S+)")
MOST_SIBLINGS = 100
_FEW = 13  # lines of a part that are searched for labels
_NEAR = 12  # parts after one that it may reach over


class Part:
    """A block with the parts directly inside it; what costs something is computed once."""

    def __init__(self, sight: Sight, at: int, block: Block, inside: Part | None) -> None:
        self.kind, self.level, self.title, self.first, self.last, _ = block
        self.at, self._sight = at, sight
        self.inside = inside or self
        self.direct: list[Part] = []
        if inside:
            inside.direct.append(self)

    @property
    def rows(self) -> list[str]:
        return self._sight.plain[self.first - 1 : self.last]

    @property
    def indent(self) -> int:
        row = self._sight.plain[self.first - 1]
        return len(row) - len(row.lstrip())

    @property
    def few(self) -> list[str]:
        rows = self._sight.plain[self.first - 1 : min(self.last, self.first - 1 + _FEW)]
        return [row for row in rows if not _SOURCE.match(row)]

    @property
    def headings(self) -> Iterator[Part]:
        """The headings above it, the nearest first."""
        part = self.inside
        while part.at >= 0:
            if part.kind == "heading":
                yield part
            part = part.inside

    def is_below(self, words: frozenset[str]) -> bool:
        """Whether a heading above has one of the words, or is about settled things.

        Below one that only names a scale, a part without a place explains the severities.
        """
        for above in self.headings:
            is_about = shapes.is_about(above.title, words) and not above.graded
            if is_about or self._sight.says_over(above.title):
                return True
            if shapes.names_scale(above.title) and not places.place_in("\n".join(self.rows)).file:
                return True
        return False

    @property
    def is_over(self) -> bool:
        """Whether a section is part of a template, or says that nothing is left to do."""
        is_leaf = not any(x.kind == "heading" or shapes.begins(x.title) for x in self.direct)
        is_settled = is_leaf and any(map(phrases.is_settled, self.below))
        is_template = PLACEHOLDER.search(self._sight.rows[self.first - 1])
        return bool(is_template or is_settled or self._sight.says_over(self.title))

    @functools.cached_property
    def group(self) -> str:
        """The severity of a line that only names a group, also by its sign in any language."""
        demanded = phrases.demanded_in(self.title) if self.kind == "heading" else ""
        return index.group_of(self.title) or demanded

    @property
    def inherited(self) -> str:
        """The severity of the part right around it, if that only names a group."""
        return self.inside.group

    @functools.cached_property
    def graded(self) -> str:
        """The severity of a heading: its own, or that of a label below it."""
        identity, severity, title = shapes.titled(self.title)
        if not identity and shapes.is_general(title):
            return severity
        # What somebody else says of it counts as well.
        told = self.direct[:1] if identity or places.place_in(self.title).file else ()
        rated = (phrases.rated_in(part.title) for part in told if part.kind == "text")
        severity = vocabulary.strictest(severity, self.label_below(), *rated)
        return severity or self.label_below(shapes.effect_in)

    @property
    def below(self) -> list[str]:
        """The first lines of each paragraph or state directly below a heading."""
        parts = itertools.takewhile(lambda part: part.kind != "heading", self.direct)
        labels = ((vocabulary.labelled(part.title)[0], part) for part in parts)
        told = [part for label, part in labels if part.kind == "text" or label in phrases.STATES]
        cards = [row for part in self.direct if part.kind == "table" for row in part.few]
        return [row for part in told for row in part.few] + [*filter(phrases.states_done, cards)]

    def label_below(self, read: Callable[[str], str] = shapes.label_in) -> str:
        """The severity of a label directly below a heading, as read by `read`."""
        stated: set[str] = set()
        records = 0
        for part in self.direct:
            if part.kind == "heading" and part.first == part.last:
                stated.add(vocabulary.severity(shapes.first_part(part.title)))
            if part.kind in ("heading", "code"):
                break
            fields = itertools.chain.from_iterable(map(shapes.fields_in, part.few))
            own = (row for row in fields if not shapes.DATED.match(row))
            graded = {read(row) for row in own if not phrases.is_ticked(row)} - {""}
            stated |= graded or {shapes.placed_grade(part.rows[0])}
            records += bool(graded) and part.first < part.last
        stated -= {""}
        return stated.pop() if len(stated) == 1 and records < 2 else ""  # else a list

    @functools.cached_property
    def end(self) -> int:
        """Its last line; it reaches to the next part with a new subject."""
        last = self.last
        for other in self._sight.parts[self.at + 1 : self.at + _NEAR]:
            if other.first <= last:
                continue
            is_apart = other.inside is not self.inside or other.kind in ("heading", "rule", "table")
            if is_apart or self._ends_at(other):
                break
            last = other.last
        return last

    def _ends_at(self, other: Part) -> bool:
        """Whether a part after this one begins another subject: what it says is already covered."""
        if phrases.is_still_open(other.title):
            return False
        is_past = other.kind == "item" or other.indent + 1 < self.indent
        if (self.kind == "item" and is_past) or shapes.begins_finding(other.title):
            return True
        is_title = other.at == self.at + 1 and shapes.leads_title(self.title)
        is_placed = other.is_placed and not other.is_place_of(self)
        is_led = not is_title and (is_placed or other.begins_one)
        own = self._sight.plain[max(0, self.first - 2) : self.first]
        speakers = {*map(shapes.speaker, own)} - {""}  # who come to their next point
        both = (self.title, other.title)
        are_lines = all(map(places.line_of, both))
        are_chat = other.first == self.last + 1 and all(map(shapes.SAYS.match, both))
        is_next = are_lines or are_chat or shapes.speaker(other.title) in speakers
        both_state = other.states and self.states
        return is_led or is_next or both_state

    @functools.cached_property
    def states(self) -> bool:
        """Whether a paragraph has a label with a severity."""
        return self.kind == "text" and any(map(shapes.label_in, self.few))

    def is_place_of(self, before: Part) -> bool:
        """Whether a paragraph is only the place of the one before, which has none itself."""
        if self.title.rstrip("* ")[-1:] == ":" or not phrases.names_only_place(self.title):
            return False
        after = self._sight.parts[self.at + 1 : self.at + 2]
        place, above = places.place_in(before.title), self._sight.place_above
        if place.line or above(before.first):
            return False
        is_of_list = bool(after) and after[0].kind == "item"
        is_led = bool(above(self._sight.lists.get(before.first, before.first)))
        return not is_of_list or (before.kind == "item" and not is_led)

    @functools.cached_property
    def is_placed(self) -> bool:
        """Whether a paragraph begins with a place, or grades one."""
        if places.place_of(self.rows[0]).file or places.AT_PLACE.match(self.title):
            return True
        after = self._sight.parts[self.at + 1 : self.at + 2]
        goes_on = bool(after) and after[0].first == self.last + 1
        if goes_on and shapes.begins_finding(after[0].title):
            return True
        text = " ".join(self.rows)
        return bool(phrases.said_in(text) and places.place_in(text).file)

    @functools.cached_property
    def begins_one(self) -> bool:
        """Whether a paragraph begins a finding: by an id, or in bold: `**Race.** The state …`."""
        head = heads.read(self.title[: heads.LONG] if self.kind == "text" else "")
        return self.is_led or (bool(head.id) and head.marked)

    @functools.cached_property
    def is_led(self) -> bool:
        """Whether a paragraph begins with a title in bold that is no label."""
        bold = shapes.BOLD.match(self.title) if self.kind == "text" else None
        title = (bold[1] or bold[2]) if bold else ""
        return len(title.split()) > 1 and title[-1] != ":"

    def name(self, title: str, bare: str) -> str:
        """The words that name the finding: a label, its bold lead, or its first sentence."""
        if told := labelled(self.few):
            return phrases.first_sentence(told)
        if shapes.speaker(bare) and self.first < self.last:
            title = bare = " ".join(self.rows[1:])
        if " · " in bare[: shapes.FIELD_LENGTH] and title:
            return bare
        if shapes.is_fields(self.rows):  # the first one that is neither severity nor place
            fields = map(vocabulary.labelled, self.rows)
            values = (value for label, value in fields if not vocabulary.is_scale(label))
            named = (text for text in values if heads.has_words(shapes.without_place(text)))
            bare = title = next(named, title)
        title = shapes.unlabelled(title)
        if bold := shapes.BOLD.match(bare.lstrip("🔴🟠🟡⚠️❌ ")):
            lead = heads.read(bold[1] or bold[2]).title
            is_words = heads.has_words(shapes.without_place(lead)) and not vocabulary.severity(lead)
            title = lead if is_words and lead in vocabulary.plain(title) else title
        return phrases.first_sentence(title)


class Sight:
    """One text with its parts, and the sections and files that hold for each.

    `lists` maps the line of each item to that of its list's first; `over` has settled lines.
    """

    def __init__(self, text: str, is_whole: bool = False) -> None:
        self.is_whole = is_whole
        self.rows, self.plain, ends = normal.lines(text, is_whole)
        self._raise_leads()
        every = normal.closed(blocks("\n".join(self.plain)), ends)
        whole = Block("", 0, "", 1, len(self.plain), -1)
        self.parts: list[Part] = []
        self._root = Part(self, -1, whole, None)
        for at, block in enumerate(shapes.parted(every, self.plain)):
            inside = self.parts[block.inside] if block.inside >= 0 else self._root
            self.parts.append(Part(self, at, block, inside))
        self._above_places = self._heading_places()
        self.headings = [part for part in self.parts if part.kind == "heading"]
        self.by_id = {shapes.titled(part.title)[0]: part for part in reversed(self.headings)}
        self.by_number = [
            (match[1], part)
            for part in self.parts
            if part.kind in ("heading", "text") and (match := _NUMBER.match(part.title))
            if part.kind == "heading" or shapes.begins(part.title)
        ]
        titles = Counter(part.title for part in self.headings)
        self.repeated = {x for x in titles if titles[x] > 1 and not shapes.begins_finding(x)}
        self.over: set[int] = set()
        self.lists: dict[int, int] = {}
        for part in (self._root, *self.parts):
            items = [inner.first for inner in part.direct if inner.kind == "item"]
            self.lists |= dict.fromkeys(items, min(items, default=0))

    def _raise_leads(self) -> None:
        """Turn lines that head the text below them into headings."""
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
        """The place that holds for each line: the last one that a whole line was about.

        It holds for everything the line heads, or to the end of its paragraph, item or section.
        """
        owners = [self._root] * len(self.plain)
        for part in self.parts:
            owners[part.first - 1 : part.last] = [part] * (part.last - part.first + 1)
        held: list[tuple[int, Place]] = [(len(self.plain), NOWHERE)]  # each with its last line
        blanks = [number for number, row in enumerate([*self.plain, ""]) if not row.strip()]
        made = []
        for number, row in enumerate(self.plain, 1):
            while held[-1][0] < number:
                held.pop()
            part = owners[number - 1]
            fields = shapes.FIELDS.split(row) if part.kind == "heading" else [row]
            named = map(places.place_of, fields) if "." in row or "file" in row else ()
            if here := next((place for place in named if place.file), None):
                is_long = part.first < part.last
                reach = (
                    blanks[bisect.bisect_left(blanks, part.last)] if is_long else part.inside.last
                )
                held.append((part.last if part.kind in ("heading", "item") else reach, here))
            made.append(held[-1][1])
        return made

    def says_over(self, title: str) -> bool:
        """Whether a heading is about settled things; beside an index `Fixed in …` is none."""
        is_settled = phrases.end_thread(_FIELDS.split(title)[1:]) or bool(_FIXED_IN.match(title))
        return phrases.says_over(title) or (self.is_whole and is_settled)

    @functools.cached_property
    def _code_ends(self) -> dict[int, int]:
        """The first line of each block of code by its last line."""
        return {part.last: part.first for part in self.parts if part.kind == "code"}

    @functools.cached_property
    def _unquoted(self) -> list[int]:
        """The last line up to each with words that are not quoted, in code or in cells; or 0."""
        made = [0]
        for number, row in enumerate(self.rows, 1):
            is_quoted = row.lstrip()[:2] == "| " or not self.plain[number - 1].strip("-*_ \t")
            above = self._code_ends.get(number, number if is_quoted else 0)
            made.append(made[above - 1] if above else number)
        return made

    def is_below_code(self, line: int) -> bool:
        """Whether nothing but blank lines is between a line and a block of code above."""
        return self.told_until(line - 1) in self._code_ends

    def is_denied(self, first: int, last: int) -> bool:
        """Whether the last sentence of these lines denies a finding."""
        last = self.told_until(last)
        told = phrases.sentences(" ".join(self.plain[max(first, last - 3) - 1 : last]))
        return bool(told and phrases.DENIED.match(told[-1]))

    def place_above(self, first: int) -> int:
        """The line right above this one that only names a place; or 0.

        Between items of a list, it belongs to the item below only if the first item has one too.
        """
        at = self._unquoted[first - 1]
        row = self.plain[at - 1] if at else "#"
        is_apart = at < 2 or not self.plain[at - 2].strip("-*_ \t")
        is_plain = row[0] != "#" and not vocabulary.unbulleted(row)[1]
        is_above = is_apart and is_plain and bool(self.placed_at(at).file)
        start = self.lists.get(first, first)
        return at if is_above and (start == first or self.place_above(start)) else 0

    @functools.cached_property
    def patches(self) -> list[str]:
        """For each line the file of the last patch above that is quoted: `> +++ b/src/a.c`."""
        file, made = "", []
        for row in self.rows:
            match = _PATCH.match(row) if row[:1] == ">" else None
            file = (match[1] or match[2]) if match else file
            made.append(file)
        return made

    def is_quoted(self, line: int) -> bool:
        return self.rows[line - 1].lstrip()[:1] == ">"

    def patched_above(self, line: int) -> Place:
        """The file of the patch that a paragraph right below a quote of it answers."""
        above = self.told_until(line - 1)
        is_answer = bool(above) and self.is_quoted(above) and not self.is_quoted(line)
        return Place(self.patches[line - 1], 0) if is_answer else NOWHERE

    def lead_of(self, part: Part) -> int:
        """The line right above the only item of a list, such as `Upgrade a to b:`; else its own."""
        before, after = self.parts[part.at - 1], self.parts[part.at + 1 : part.at + 2]
        is_line = before.kind == "text" and before.first == before.last == part.first - 1
        is_list = any(other.kind == "item" and other.first == part.last + 1 for other in after)
        is_led = part.kind == "item" and before.inside is part.inside and not is_list
        if not (is_line and is_led) or heads.read(before.title).severity:
            return part.first
        placed = (places.place_in(row).file for row in (before.title, part.title))
        return part.first if all(placed) else before.first

    def placed_at(self, line: int) -> Place:
        """The place that a line is about: `src/a.ts:4`, or `Line 4` below the name of a file."""
        if number := places.line_of(self.plain[line - 1]):
            return Place(self._above_places[line - 1].file, number)
        return places.place_of(self.plain[line - 1])

    def told_until(self, last: int) -> int:
        """The last line up to this one with any words, or 0."""
        while last and not self.plain[last - 1].strip("-*_ \t"):
            last -= 1
        return last

    def said_below(self, first: int, last: int) -> str:
        """The title below a line: labeled, or the first words."""
        if told := labelled(self.plain[first : min(last, first + 8)]):
            return told
        rows = (shapes.KIND_OF.sub("", row) for row in self.plain[first:last])
        others = (row for row in rows if not shapes.LABELLED.match(row))
        rows = (row for row in others if heads.letters(shapes.without_place(row)) > 12)
        return next(rows, "").lstrip("#").strip()

    def place(self, first: int, last: int) -> Place:
        """The place that some lines name, or else the last one above that holds for them."""
        own = "\n".join(self.plain[first - 1 : min(last, first + 40)])
        place = places.place_in(own)
        if place.line:
            return place
        start = first - 1
        while start > max(0, first - 5) and self.plain[start - 1].strip():
            start -= 1
        lead = "\n".join(self.plain[start : first - 1])  # of the paragraph
        number = places.line_in(own) or places.line_in(lead)
        above = self._above_places[first - 1]
        return Place(place.file, number) if place.file else Place(above.file, number or above.line)


def labelled(rows: list[str], labels: frozenset[str] = shapes.TITLES) -> str:
    """What a label such as `Title:` says in some lines, without its quotes; or ''."""
    for label, value in map(vocabulary.labelled, map(str.strip, rows)):
        if label.strip("> ") in labels and value.strip():
            is_quoted = value[:1] == value[-1:] and value[:1] in ('"', "'")
            return value.strip("\"' ") if is_quoted else value.strip()
    return ""
