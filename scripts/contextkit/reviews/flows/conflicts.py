"""Where the findings of several agents meet: one place, alike titles, opposed severities; pure."""

from __future__ import annotations

from contextkit.base import names
from contextkit.reviews.documents import agent_review
from contextkit.reviews.flows.synthesis import Finding, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIKE = 3  # keywords that two titles share, from which they may be about the same
_COMPARED = 400  # findings, the most severe, that are compared with each other
_MOST_PAIRS = 50
_WORD = 4  # letters of a keyword at least
_COMMON = frozenset(
    "about after also been before being between cannot could does each every finding from have"
    " into issue missing more must need needs never only other over should some such that their"
    " them then there these this those under when where which while will with without would".split()
)


def possible_duplicates(found: list[Finding]) -> list[tuple[Finding, Finding]]:
    """Pairs of different agents whose titles share three keywords; never the same finding."""
    words = [(one, frozenset(_keywords(one.title))) for one in found[:_COMPARED]]
    pairs = [
        (one, other)
        for number, (one, its) in enumerate(words)
        for other, others in words[number + 1 :]
        if len(its & others) >= _ALIKE and set(one.agents).isdisjoint(other.agents)
    ]
    return pairs[:_MOST_PAIRS]


def _keywords(title: str) -> Iterator[str]:
    plain = "".join(char if char.isalnum() else " " for char in title.lower())
    return (word for word in plain.split() if len(word) >= _WORD and word not in _COMMON)


def together(found: list[Finding]) -> dict[str, list[Finding]]:
    """The findings of different agents at one place: a `path:line`, or a section's name."""
    places: dict[str, list[Finding]] = {}
    for one in found:
        own = {row.place for row in one.rows}
        own |= {f'"{row.section}"' for row in one.rows if row.section != row.place}
        for where in sorted(own - {"", '""'}):
            places.setdefault(where, []).append(one)
    return {
        where: those
        for where, those in places.items()
        if len(those) > 1 and len({agent for one in those for agent in one.agents}) > 1
    }


def conflicts(sources: list[Source], found: list[Finding]) -> list[str]:
    """Where agents contradict each other or themselves, a line each."""
    lines = []
    for one in found:
        if len({row.severity for row in one.rows}) > 1:
            said = ", ".join(f"{row.agent} {row.severity or '?'}" for row in one.rows)
            lines.append(f'"{one.title}": {said}')
    for where, those in together(found).items():
        serious = [one for one in those if one.severity != "IMP"]
        if len({one.severity for one in serious}) > 1:
            said = ", ".join(f"{one.severity or '?'} {one.key}" for one in serious[:6])
            lines.append(f"{where}: {said}")
    for source in sources:
        if "verdict_mismatch" in agent_review.status(source.review)[1]:
            rows = agent_review.derived(source.review.findings)
            lines.append(f"{source.agent}: states {source.review.stated}, its rows say {rows}")
    return [names.one_line(line) for line in lines]
