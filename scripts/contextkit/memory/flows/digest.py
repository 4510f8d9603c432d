"""Findings in few tokens: a line for each, with its summary and what no other finding says.

All of it is given as parts to be fitted. First, unit by unit (a discovery, a question, a
recommendation, a paragraph), those go that add the fewest new facts per token; then all summaries
are shortened alike; then lines go, those of failed and partial findings last.

What a unit is and how decisive its words are is decided as in the digest of a single text
(`text/digests`). Only the choice differs: that one serves a whole text and may pass over most of
it, while here each unit of a finding lowers the worth of its next one, so that one long finding
cannot crowd out the others.

Nothing is reworded: everything printed is text of the findings.
"""

from __future__ import annotations

from contextkit.base import filters, names, tokens
from contextkit.base.type_names import Iterator
from contextkit.memory.documents import findings
from contextkit.memory.documents.findings import Found
from contextkit.text import facts
from contextkit.text.digests import reading, weighing
from contextkit.text.fitting import Part

# The first of the steps in which units, summaries and lines are cut
UNITS, SUMMARIES, LINES = 1_000, 10_000, 20_000
_WIDTHS = (400, 160, 56)  # characters of a summary
_LONG = 90  # tokens above which a unit is split into sentences
_UNITS = 3000  # units to weigh, at most
_A_LINE = 24  # tokens of a line: where those of all take the whole room, no unit is read
_RANKS = {"failed": 0, "partial": 1}
_FACTS = {"prohibition": 2.0, "error": 1.6, "location": 1.6, "path": 1.0, "number": 1.0,
          "commit": 0.7, "url": 0.4}  # fmt: skip


class _Unit:
    __slots__ = ("facts", "owner", "size", "text", "worth")

    def __init__(self, owner: int, text: str, worth: float) -> None:
        self.owner = owner  # the index of its finding
        self.text = "  - " + filters.item(text, 4)
        self.size = tokens.estimate(self.text) + 3
        self.worth = worth * weighing.of_sentence(text)
        self.facts = {(kind, value) for kind, value, _ in facts.find(text)}

    def gain(self, told: set[tuple[str, str]], taken: int = 0) -> float:
        """Its value per token, for a finding of which `taken` units are better."""
        new = sum(_FACTS.get(kind, 1.0) for kind, _ in self.facts - told)
        return (self.worth + new) / self.size / (1 + taken)


def parts(findings: list[Found], room: int, already: str = "") -> list[tuple[int, Part]]:
    """The lines of a digest, each with the index of its finding; a finding's own line is first.

    It is for some `room` tokens; `already` is what the reader has read.
    """
    order = sorted(range(len(findings)), key=lambda at: (_RANKS.get(findings[at].status, 2), at))
    lines = [
        (at, _line(findings[at], LINES + len(findings) - rank)) for rank, at in enumerate(order)
    ]
    told = facts.find("\n".join([already, *(line.text for _, line in lines)]))
    read = findings if _A_LINE * len(findings) < room else []
    units = _weighed(read, {(kind, value) for kind, value, _ in told})
    details = [(unit.owner, Part(unit.text, ((UNITS + n, 0),))) for n, unit in units]
    return sorted([*lines, *details], key=lambda pair: pair[0])  # stable: lines stay first


def _line(finding: Found, last: int) -> Part:
    """`- ui_20251023T180500.md (failed): The list renders twice.`, which goes in the step `last`"""
    name = finding.path.rpartition("/")[2]
    is_named = name.startswith(names.dashed(finding.agent) + "_")
    note = [] if is_named else [names.one_line(finding.agent)]
    note += [finding.status or "status unknown"] if finding.status != "completed" else []
    noted = f" ({', '.join(note)})" if note else ""
    summary = filters.item(names.one_line(finding.summary) or "no summary")
    text = f"- {filters.code(name)}{noted}: {summary}"
    start = len(text) - len(summary)
    cuts = [(SUMMARIES + step, start + width) for step, width in enumerate(_WIDTHS)]
    return Part(text, (*cuts, (last, 0)), least=start + _WIDTHS[-1])


def _weighed(findings: list[Found], told: set[tuple[str, str]]) -> list[tuple[int, _Unit]]:
    """The units of the findings in their order, each with its rank: the one of least worth is 0.

    A unit is worth less where a better one has the same facts or is of the same finding.
    """
    texts: dict[str, _Unit] = {}  # what several say, the first one says
    for at, head in enumerate(findings):
        for text, worth in _texts(head.finding):
            if text not in texts and len(texts) < _UNITS:
                texts[text] = _Unit(at, text, worth)
    units = list(texts.values())
    taken = [0] * len(findings)
    gains: list[tuple[float, int]] = []
    for number in sorted(range(len(units)), key=lambda number: -units[number].gain(told)):
        unit = units[number]
        gains.append((unit.gain(told, taken[unit.owner]), -number))
        told |= unit.facts
        taken[unit.owner] += 1
    ranks = {-number: rank for rank, (_, number) in enumerate(sorted(gains))}
    return [(ranks[number], unit) for number, unit in enumerate(units)]


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
