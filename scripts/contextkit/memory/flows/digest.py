"""Findings in few tokens: a line for each, then each summary, then what no other finding says.

Every finding gets its line before any gets more, failed and partial ones first. Summaries share the
remaining tokens evenly. What is left then goes, unit by unit (a discovery, a question, a
recommendation, a paragraph), to the units that add the most new facts per token.

What a unit is and how decisive its words are is decided as in the digest of a single text
(`text/digests`). Only the choice differs: that one serves a whole text and may pass over most of
it, while here each unit taken from a finding raises the bar for its next one, so that one long
finding cannot crowd out the others.

Nothing is reworded: everything printed is text of the findings.
"""

from __future__ import annotations

import heapq

from contextkit.base import filters, names, tokens
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator
from contextkit.memory.documents import findings
from contextkit.memory.flows.recovery import RecoveredFinding
from contextkit.text import facts
from contextkit.text.digests import reading, weighing

_FIRST = 14  # tokens of the summary in a bare line
_LEAST = 14  # fewest tokens of a summary worth printing
_LONG = 90  # tokens above which a unit is split into sentences
_UNITS = 3000  # units to weigh, at most
_READ = 250  # findings to read for units, at most
_RANKS = {"failed": 0, "partial": 1}
_FACTS = {"prohibition": 2.0, "error": 1.6, "location": 1.6, "path": 1.0, "number": 1.0,
          "commit": 0.7, "url": 0.4}  # fmt: skip


class Digest(Record):
    """`lines` are Markdown, in the order of the findings; `unlisted` are findings without one."""

    lines: tuple[str, ...] = ()
    unlisted: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()  # indexes of findings not included in full
    tokens: int = 0


class _Unit:
    __slots__ = ("facts", "owner", "size", "text", "worth")

    def __init__(self, owner: int, text: str, worth: float) -> None:
        self.owner = owner  # the index of its finding
        self.text = "  - " + filters.item(text, 4)
        self.size = tokens.estimate(self.text) + 3
        self.worth = worth * weighing.of_sentence(text)
        self.facts = {(kind, value) for kind, value, _ in facts.find(text)}

    def gain(self, known: set[tuple[str, str]], taken: int) -> float:
        """Its value per token, for a finding of which `taken` units are already included."""
        new = sum(_FACTS.get(kind, 1.0) for kind, _ in self.facts - known)
        return (self.worth + new) / self.size / (1 + taken)


def summarize(found: list[RecoveredFinding], room: int, already: str = "") -> Digest:
    """Digest the findings into at most `room` tokens; `already` is what the reader has read."""
    start = room
    lines, room = _lines(found, room)
    if len(lines) < len(found):  # no room for more than lines
        room = min(room, _LEAST)
    room = _summaries(found, lines, room)
    details, whole, room = _details(found, lines, room, already)
    shown = ["\n".join([lines[at], *details.get(at, ())]) for at in sorted(lines)]
    return Digest(
        lines=tuple(shown),
        unlisted=tuple(at for at in range(len(found)) if at not in lines),
        cut=tuple(at for at in range(len(found)) if at not in whole),
        tokens=start - room,
    )


def _lines(found: list[RecoveredFinding], room: int) -> tuple[dict[int, str], int]:
    order = sorted(range(len(found)), key=lambda at: (_RANKS.get(found[at].status, 2), at))
    lines: dict[int, str] = {}
    for at in order:
        line = _line(found[at], _FIRST)
        size = tokens.estimate(line) + 1
        if size > room:
            break
        lines[at] = line
        room -= size
    return lines, room


def _line(one: RecoveredFinding, most: int) -> str:
    """Format a finding as `- ui_20251023T180500.md (failed): The list renders twice.`"""
    name = one.path.rpartition("/")[2]
    note = [names.one_line(one.agent)] if not name.startswith(names.dashed(one.agent) + "_") else []
    note += [one.status or "status unknown"] if one.status != "completed" else []
    summary = filters.item(tokens.clip(_summary(one)[: 20 * most], most))
    noted = f" ({', '.join(note)})" if note else ""
    return f"- {filters.code(name)}{noted}: {summary}"


def _summary(one: RecoveredFinding) -> str:
    return names.one_line(one.summary) or "no summary"


def _summaries(found: list[RecoveredFinding], lines: dict[int, str], room: int) -> int:
    """Print summaries in full if all fit; otherwise share the remaining tokens evenly."""
    more = {}
    for at, line in lines.items():
        whole = _line(found[at], 1 << 20)
        more[at] = (tokens.estimate(whole) - tokens.estimate(line), whole)
    left = len(more)
    for at, (size, whole) in sorted(more.items(), key=lambda pair: (pair[1][0], pair[0])):
        share = room // left
        left -= 1
        if size <= share:
            lines[at] = whole
            room -= size
        elif share >= _LEAST:
            cut = _line(found[at], _FIRST + share - 2)
            room -= max(0, tokens.estimate(cut) - tokens.estimate(lines[at]))
            lines[at] = cut
    return room


def _details(
    found: list[RecoveredFinding], lines: dict[int, str], room: int, already: str
) -> tuple[dict[int, list[str]], set[int], int]:
    """Return the units that add most, by finding; the findings now complete; and the room left."""
    if room < 8:
        return {}, set(), room
    known = {(kind, value) for kind, value, _ in facts.find("\n".join([already, *lines.values()]))}
    units: list[_Unit] = []
    for at in sorted(lines)[:_READ]:
        texts = dict(_texts(found[at].finding))
        units += (_Unit(at, text, worth) for text, worth in texts.items())
        if len(units) > _UNITS:
            break
    taken = dict.fromkeys(lines, 0)
    weighed = [(-unit.gain(known, 0), number) for number, unit in enumerate(units)]
    heapq.heapify(weighed)
    chosen = set()
    while weighed and room >= 6:
        _, number = heapq.heappop(weighed)
        unit = units[number]
        if unit.size > room:
            continue
        gain = unit.gain(known, taken[unit.owner])
        if weighed and gain < -weighed[0][0]:  # its worth has dropped since
            heapq.heappush(weighed, (-gain, number))
            continue
        known |= unit.facts
        taken[unit.owner] += 1
        room -= unit.size
        chosen.add(number)
    details: dict[int, list[str]] = {}
    for number in sorted(chosen):
        details.setdefault(units[number].owner, []).append(units[number].text)
    left = {unit.owner for number, unit in enumerate(units) if number not in chosen}
    cut = {at for at, line in lines.items() if line != _line(found[at], 1 << 20)}
    return details, set(lines) - left - cut, room


def _texts(finding: findings.Finding) -> Iterator[tuple[str, float]]:
    """Yield each unit of a finding with its worth apart from its facts."""
    for text in finding.discoveries:
        yield from ((part, 0.2) for part in _parts(text))
    for file in finding.files:
        yield f"{filters.code(file.path)} - {file.note}".removesuffix(" - "), 0.1
    for text in finding.questions:
        yield from ((f"Open question: {part}", 0.2) for part in _parts(text))
    for text in finding.recommendations:
        yield from ((f"Recommended: {name}", 0.8) for name in _names(text))
        for part in _parts(text):
            yield part if part.startswith("Recommend") else f"Recommended: {part}", 0.2
    for extra in finding.more:
        for titles, part in _blocks(extra.text):
            if not any(map(weighing.only_refers, (extra.heading, *titles))):
                yield f"{(titles or (extra.heading,))[-1]}: {part}", 0.04


def _names(text: str) -> list[str]:
    """The headings in a recommendation, which name what is recommended."""
    titles = [block.titles[-1] for block in reading.blocks(text) if block.titles]
    return [name for name in dict.fromkeys(titles) if " " in name]


def _parts(text: str) -> Iterator[str]:
    """A short text as is; a long one, or one with headings or a table, block by block."""
    plain = not any(line.startswith(("#", "|")) for line in text.split("\n"))
    if plain and tokens.estimate(text) <= _LONG:
        yield from filter(_says_something, (names.one_line(text),))
    else:
        yield from (part for _, part in _blocks(text))


def _blocks(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The headings above each block of a text except code, and a group of its sentences."""
    for block in reading.blocks(text):
        refers = weighing.only_refers(block.lead) or block.lead == findings.RENAMED
        if block.kind != "code" and not refers and _says_something(block.text):
            lead = block.lead + " " if block.lead.endswith((":", "：")) else ""
            yield from ((block.titles, part) for part in _sentences(lead + block.text))


def _says_something(text: str) -> bool:
    """Whether a text is more than a rule, a label, a property such as `Date: …`, or a reference."""
    bare = text.rstrip("*_` ")
    if bare.endswith((":", "：", "-->")) or not any(map(str.isalnum, bare)):
        return False
    links = "](" in text or "://" in text
    return not weighing.is_label(text) and not (links and weighing.only_refers(bare.split(":")[0]))


def _sentences(text: str) -> Iterator[str]:
    """The text in groups of sentences, each of at most `_LONG` tokens if that is possible."""
    if tokens.estimate(text) <= _LONG:
        yield text
        return
    held = ""
    for sentence in reading.sentences(text):
        if held and tokens.estimate(held) + tokens.estimate(sentence) > _LONG:
            yield held
            held = ""
        held = f"{held} {sentence}".strip()
    yield tokens.clip(held, 3 * _LONG)
