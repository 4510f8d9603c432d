"""Synthesis: what the reviews of a run say together, as data; pure.

    Source (an agent's review)  ->  combined  ->  Finding (with all its agents)  ->  document

Only equal titles are one finding, and then every agent is named. Titles that are merely alike
are possible duplicates: they are said to be, and both stay. A finding is known by agent and id,
since every agent counts from P1-1.
"""

from __future__ import annotations

from contextkit import facts, names, review_lines, review_words, reviews
from contextkit.records import Record
from contextkit.reviews import Review

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOL = "1.0"
ORDER = ("P0", "P1", "", "P2", "P3", "IMP")  # as one reads them; empty was not understood
COMPLETED = ("valid", "malformed")
_ALIKE = 3  # keywords that two titles share, from which they may be about the same
_COMPARED = 400  # findings, the most severe, that are compared with each other
_MOST_PAIRS = 50
_NEAR = 1000  # characters in which a finding says where it is
_WORD = 4  # letters of a keyword at least
_COMMON = frozenset(
    "about after also been before being between cannot could does each every finding from have"
    " into issue missing more must need needs never only other over should some such that their"
    " them then there these this those under when where which while will with without would".split()
)


class Source(Record):
    """An agent's review. `sections` has the text of each finding by its id in upper case."""

    agent: str
    path: str
    status: str
    validation: str
    review: Review
    sections: dict[str, str] = {}  # noqa: RUF012  (a Record is immutable)


class Row(Record):
    """A row of one agent's index, and where in the code it points, if it says so."""

    agent: str
    id: str
    severity: str
    section: str
    title: str
    place: str
    description: str
    counts: bool  # of a finished file: an unfinished one does not confirm what others found
    again: int = 1  # 2 for the second row with this id


class Finding(Record):
    """What one or more agents found; `rows` are theirs, the most severe first."""

    rows: tuple[Row, ...]

    @property
    def key(self) -> str:
        """`agent/id`, which no other finding has; `agent/id(2)` where an agent repeats its id."""
        row = self.rows[0]
        return f"{row.agent}/{row.id}" + (f"({row.again})" if row.again > 1 else "")

    @property
    def severity(self) -> str:
        return self.rows[0].severity

    @property
    def title(self) -> str:
        return self.rows[0].title

    @property
    def section(self) -> str:
        return self.rows[0].section

    @property
    def place(self) -> str:
        return next((row.place for row in self.rows if row.place), "")

    @property
    def description(self) -> str:
        return next((row.description for row in self.rows if row.description), "")

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(sorted({row.agent for row in self.rows}))

    @property
    def convergence(self) -> int:
        """How many agents with a finished file found it."""
        return len({row.agent for row in self.rows if row.counts})

    @property
    def confidence(self) -> str:
        return ("low", "low", "medium", "high")[min(self.convergence, 3)]


def combined(sources: list[Source]) -> list[Finding]:
    """All findings, improvements too, most severe and most confirmed first.

    Equal titles are one finding; of two such rows of one agent each is one of its own.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for source in sources:
        times: dict[str, int] = {}
        for row in _rows(source):
            title = same_title(row.title)
            times[title] = times.get(title, 0) + 1
            unnamed = "" if title else f"{row.agent}/{row.id}"  # no title is like no other
            groups.setdefault((title, times[title], unnamed), []).append(row)
    found = [Finding(rows=tuple(sorted(rows, key=_rank))) for rows in groups.values()]
    return sorted(found, key=lambda one: (ORDER.index(one.severity), -one.convergence, one.key))


def _rows(source: Source) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for number, row in enumerate(source.review.findings, 1):
        text = source.sections.get(row.id.upper(), "")
        identity = row.id or f"row-{number}"
        seen[identity] = seen.get(identity, 0) + 1
        yield Row(
            agent=source.agent,
            id=identity,
            severity=row.severity,
            section=names.one_line(row.section),
            title=names.one_line(row.title),
            place=place_in(f"{row.section}\n{row.title}\n{' '.join(row.extra)}\n{text}"),
            description=_description(text),
            counts=source.validation == "valid",
            again=seen[identity],
        )


def same_title(title: str) -> str:
    """What two titles have in common if they are equal but for dress: case, blanks, emphasis."""
    return " ".join(review_lines.plain(title).lower().split()).strip(" .:;!")


def place_in(text: str) -> str:
    """The first `path:line` of a text; empty if there is none."""
    return next((found for kind, found, _ in facts.find(text[:_NEAR]) if kind == "location"), "")


def _description(section: str) -> str:
    """The first words below the heading of a finding."""
    lines = [line for line in section.split("\n")[1:] if line.strip()]
    return names.one_line(lines[0])[:200] if lines else ""


def _rank(row: Row) -> tuple[int, str, str]:
    return ORDER.index(row.severity), row.agent, row.id


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
        if "verdict_mismatch" in reviews.status(source.review)[1]:
            rows = reviews.derived(source.review.findings)
            lines.append(f"{source.agent}: states {source.review.stated}, its rows say {rows}")
    return [names.one_line(line) for line in lines]


def verdict(sources: list[Source]) -> str:
    """safe only where every agent is clean; error where one failed and nothing worse is known."""
    rows = [row for source in sources for row in source.review.findings]
    known = [reviews.derived(tuple(rows))]
    for source in sources:
        failed = source.validation not in COMPLETED
        known.append("safe" if source.status == "CLEAN" or failed else "needs-changes")
        known += [source.review.stated] if source.review.stated and not failed else []
    worst = max(known, key=review_words.VERDICTS.index)
    done = [source for source in sources if source.validation in COMPLETED]
    if not done or (worst == "safe" and len(done) < len(sources)):
        return "error"
    return worst


def document(
    head: dict[str, object], sources: list[Source], found: list[Finding]
) -> dict[str, object]:
    """findings.json: the keys of the published format first, then ours.

    `head` has reviewed, input, input_type, and what else is known of the run.
    """
    beside = _beside(found)
    first = {key: head[key] for key in ("reviewed", "input", "input_type")}
    agents = [source.agent for source in sources]
    done = [source.agent for source in sources if source.validation in COMPLETED]
    return {
        **first,
        "agents_launched": agents,
        "agents_completed": done,
        "agents_failed": [agent for agent in agents if agent not in done],
        "findings": [_as_json(one, beside) for one in found if one.severity != "IMP"],
        "improvements": [_improvement(one) for one in found if one.severity == "IMP"],
        "verdict": verdict(sources),
        "early_stop": False,
        "content_routing_active": False,
        "synthesis_timestamp": head["synthesis_timestamp"],
        "synthesis_protocol_version": PROTOCOL,
        **{key: value for key, value in head.items() if key not in first},
        "conflicts": conflicts(sources, found),
        "possible_duplicates": [[a.key, b.key] for a, b in possible_duplicates(found)],
    }


def _beside(found: list[Finding]) -> dict[str, list[str]]:
    """For each finding the keys of some others at its place."""
    beside: dict[str, list[str]] = {}
    for those in together(found).values():
        for one in those:
            others = [other.key for other in those[:10] if other is not one]
            beside[one.key] = [*dict.fromkeys([*beside.get(one.key, []), *others])][:10]
    return beside


def _as_json(one: Finding, beside: dict[str, list[str]]) -> dict[str, object]:
    differ = len({row.severity for row in one.rows}) > 1
    elsewhere = dict.fromkeys(row.section for row in one.rows if row.section != one.section)
    note = "found by one agent: verify it" if one.convergence < 2 else ""
    serious = one.severity in review_words.SERIOUS
    return {
        "id": one.rows[0].id,
        "severity": one.severity or "?",
        "agents": list(one.agents),
        "section": one.section,
        "title": one.title,
        "convergence": one.convergence,
        "confidence": one.confidence,
        "co_located": one.key in beside,
        "co_located_with": beside.get(one.key, []),
        "cross_references": list(elsewhere),
        "severity_conflict": {r.agent: r.severity or "?" for r in one.rows} if differ else {},
        "descriptions": {row.agent: row.description for row in one.rows if row.description},
        "provenance": [
            {"agent": row.agent, "id": row.id, "severity": row.severity or "?", "place": row.place}
            for row in one.rows
        ],
        "key": one.key,
        **({"note": note} if note and serious else {}),
    }


def _improvement(one: Finding) -> dict[str, object]:
    return {
        "id": one.rows[0].id,
        "agents": list(one.agents),
        "section": one.section,
        "title": one.title,
        "convergence": one.convergence,
        "key": one.key,
    }
