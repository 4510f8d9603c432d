"""Findings in few tokens: a line for each, then each summary, then what no other finding says.

Every finding gets its line before any gets more, failed and partial ones first. Summaries share the
remaining tokens evenly. What is left then goes, unit by unit (a discovery, a question, a
recommendation, a paragraph), to the units that add the most new facts per token; each unit taken
from a finding raises the bar for its next one.

Nothing is reworded: everything printed is text of the findings.
"""

from __future__ import annotations

import heapq
import re

from contextkit.base import facts, filters, names, tokens
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from contextkit.memory.documents.findings import Finding
    from contextkit.memory.flows.recovery import Told

_FIRST = 14  # tokens of the summary in a bare line
_LEAST = 14  # fewest tokens of a summary worth printing
_LONG = 90  # tokens above which a unit is split into sentences
_UNITS = 3000  # units to weigh, at most
_READ = 250  # findings to read for units, at most
_RANKS = {"failed": 0, "partial": 1}
_KINDS = {"prohibition": 2.0, "error": 1.6, "location": 1.6, "path": 1.0, "number": 1.0,
          "commit": 0.7, "url": 0.4}  # fmt: skip
_MATTERS = re.compile(
    r"\b(?:must|never|critical|blocker|block(?:s|ed)|fail(?:s|ed|ure)?|error|risk|decid\w+|should"
    r"|P0|P1|severe|security|breaks?|broken|wrong|missing|lost|required?)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ`\"(])")


class Digest(Record):
    """`lines` are Markdown, in the order of the findings; `unlisted` are findings without one."""

    lines: tuple[str, ...] = ()
    unlisted: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()  # indexes of findings not included in full
    tokens: int = 0


class _Unit:
    __slots__ = ("facts", "owner", "place", "size", "text", "worth")

    def __init__(self, owner: int, place: int, text: str, worth: float) -> None:
        self.owner = owner
        self.place = place
        self.text = text
        self.size = tokens.estimate(text) + 3
        self.worth = worth + (0.5 if _MATTERS.search(text) else 0.0)
        self.facts = {(kind, value) for kind, value, _ in facts.find(text)}

    def gain(self, known: set[tuple[str, str]], taken: int) -> float:
        """Its value per token, for a finding of which `taken` units are already included."""
        new = sum(_KINDS.get(kind, 1.0) for kind, _ in self.facts - known)
        return (self.worth + new) / self.size / (1 + taken)


def tell(told: list[Told], room: int, said: str = "") -> Digest:
    """Digest the findings into at most `room` tokens; `said` is what the reader already read."""
    start = room
    lines, room = _lines(told, room)
    if len(lines) < len(told):  # no room for more than lines
        room = min(room, _LEAST)
    room = _summaries(told, lines, room)
    details, whole, room = _details(told, lines, room, said)
    shown = ["\n".join([lines[at], *details.get(at, ())]) for at in sorted(lines)]
    return Digest(
        lines=tuple(shown),
        unlisted=tuple(at for at in range(len(told)) if at not in lines),
        cut=tuple(at for at in range(len(told)) if at not in whole),
        tokens=start - room,
    )


def _lines(told: list[Told], room: int) -> tuple[dict[int, str], int]:
    order = sorted(range(len(told)), key=lambda at: (_RANKS.get(told[at].status, 2), at))
    lines: dict[int, str] = {}
    for at in order:
        line = _line(told[at], _FIRST)
        size = tokens.estimate(line) + 1
        if size > room:
            break
        lines[at] = line
        room -= size
    return lines, room


def _line(one: Told, most: int) -> str:
    """Format a finding as `- ui_20251023T180500.md (failed): The list renders twice.`"""
    name = one.path.rpartition("/")[2]
    note = [names.one_line(one.agent)] if not name.startswith(names.dashed(one.agent) + "_") else []
    note += [one.status or "status unknown"] if one.status != "completed" else []
    said = filters.item(tokens.clip(_summary(one)[: 20 * most], most))
    noted = f" ({', '.join(note)})" if note else ""
    return f"- {filters.code(name)}{noted}: {said}"


def _summary(one: Told) -> str:
    return names.one_line(one.summary) or "no summary"


def _summaries(told: list[Told], lines: dict[int, str], room: int) -> int:
    """Print summaries in full if all fit; otherwise share the remaining tokens evenly."""
    more = {}
    for at, line in lines.items():
        whole = _line(told[at], 1 << 20)
        more[at] = (tokens.estimate(whole) - tokens.estimate(line), whole)
    left = len(more)
    for at, (size, whole) in sorted(more.items(), key=lambda pair: (pair[1][0], pair[0])):
        share = room // left
        left -= 1
        if size <= share:
            lines[at] = whole
            room -= size
        elif share >= _LEAST:
            cut = _line(told[at], _FIRST + share - 2)
            room -= max(0, tokens.estimate(cut) - tokens.estimate(lines[at]))
            lines[at] = cut
    return room


def _details(
    told: list[Told], lines: dict[int, str], room: int, said: str
) -> tuple[dict[int, list[str]], set[int], int]:
    """Return the units that add most, by finding; the findings now complete; and the room left."""
    if room < 8:
        return {}, set(), room
    known = {(kind, value) for kind, value, _ in facts.find("\n".join([said, *lines.values()]))}
    units: list[_Unit] = []
    for at in sorted(lines)[:_READ]:
        units += _units(at, told[at].finding)
        if len(units) > _UNITS:
            break
    taken = dict.fromkeys(lines, 0)
    weighed = [(-unit.gain(known, 0), number) for number, unit in enumerate(units)]
    heapq.heapify(weighed)
    chosen = []
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
        chosen.append(number)
    details: dict[int, list[str]] = {}
    for number in sorted(chosen):
        details.setdefault(units[number].owner, []).append(units[number].text)
    left = {units[number].owner for number in set(range(len(units))) - set(chosen)}
    cut = {at for at, line in lines.items() if line != _line(told[at], 1 << 20)}
    return details, set(lines) - left - cut, room


def _units(owner: int, finding: Finding) -> Iterator[_Unit]:
    for place, (text, worth) in enumerate(_said(finding)):
        if text.strip() and not text.lstrip().startswith(("```", "~~~", "|--", "---")):
            yield _Unit(owner, place, "  - " + filters.item(text.strip(), 4), worth)


def _said(finding: Finding) -> Iterator[tuple[str, float]]:
    """Yield each unit of a finding with its worth apart from its facts."""
    for text in finding.discoveries:
        yield from ((part, 0.7) for part in _parts(text))
    for file in finding.files:
        yield f"{filters.code(file.path)} - {file.note}".removesuffix(" - "), 0.2
    for text in finding.questions:
        yield from ((f"Open question: {part}", 0.8) for part in _parts(text))
    for text in finding.recommendations:
        yield from ((f"Recommended: {part}", 0.8) for part in _parts(text))
    for extra in finding.more:
        for part in _paragraphs(extra.text):
            yield f"{extra.heading}: {part}", 0.15


def _parts(text: str) -> Iterable[str]:
    """A short text as is; a long one as groups of sentences."""
    if tokens.estimate(text) <= _LONG:
        return (names.one_line(text),)
    return _paragraphs(text)


def _paragraphs(text: str) -> Iterator[str]:
    from contextkit.base import markdown

    held = ""
    lines = [line for _, line in markdown.outside_fences(text)]
    for line in lines:
        bare = line.strip()
        if bare.startswith(("#", "- ", "* ", "|", "+ ")) or not bare or bare[:1].isdigit():
            yield from _sentences(held)
            held = ""
        if not bare.startswith(("#", "|-", "---", "| -")):
            held = f"{held} {bare}".strip()
    yield from _sentences(held)


def _sentences(paragraph: str) -> Iterator[str]:
    if not paragraph:
        return
    paragraph = paragraph.lstrip("-*+ ")
    if tokens.estimate(paragraph) <= _LONG:
        yield paragraph
        return
    held = ""
    for sentence in _SENTENCE.split(paragraph):
        if held and tokens.estimate(held) + tokens.estimate(sentence) > _LONG:
            yield held
            held = ""
        held = f"{held} {sentence}".strip()
    if held:
        yield tokens.clip(held, 3 * _LONG)
