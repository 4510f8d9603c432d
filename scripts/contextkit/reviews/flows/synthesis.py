"""Synthesis: what the reviews of a run say together; pure.

    Source (an agent's review)  ->  combined  ->  Finding (with all its agents)

`synthesis_conflicts.py` says where agents disagree, `synthesis_data.py` makes findings.json of it.
Only equal titles are one finding, and then every agent is named. Titles that are merely alike
are possible duplicates: they are said to be, and both stay. A finding is known by agent and id,
since every agent counts from P1-1.
"""

from __future__ import annotations

from contextkit.base import facts, names
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, vocabulary
from contextkit.reviews.documents import lines as review_lines
from contextkit.reviews.documents.agent_review import Review

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = ("P0", "P1", "", "P2", "P3", "IMP")  # as one reads them; empty was not understood
COMPLETED = ("valid", "malformed")
_NEAR = 1000  # characters in which a finding says where it is


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
        for row in rows_of(source):
            title = same_title(row.title)
            times[title] = times.get(title, 0) + 1
            unnamed = "" if title else f"{row.agent}/{row.id}"  # no title is like no other
            groups.setdefault((title, times[title], unnamed), []).append(row)
    found = [Finding(rows=tuple(sorted(rows, key=_rank))) for rows in groups.values()]
    return sorted(found, key=lambda one: (ORDER.index(one.severity), -one.convergence, one.key))


def rows_of(source: Source) -> Iterator[Row]:
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


def verdict(sources: list[Source]) -> str:
    """safe only where every agent is clean; error where one failed and nothing worse is known."""
    rows = [row for source in sources for row in source.review.findings]
    known = [agent_review.derived(tuple(rows))]
    for source in sources:
        failed = source.validation not in COMPLETED
        known.append("safe" if source.status == "CLEAN" or failed else "needs-changes")
        known += [source.review.stated] if source.review.stated and not failed else []
    worst = max(known, key=vocabulary.VERDICTS.index)
    done = [source for source in sources if source.validation in COMPLETED]
    if not done or (worst == "safe" and len(done) < len(sources)):
        return "error"
    return worst
