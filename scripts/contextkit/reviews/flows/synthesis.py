"""Synthesis: what the reviews of a run say together; pure.

    Reading (an agent's file)   ->  combined  ->  MergedFinding (with all its agents)
                                ->  document  ->  findings.json, in the published form

Findings with equal titles are merged, and so are findings of several agents at one place with
similar wording; every agent is named and every wording kept. Findings that are merely alike are
reported as possible duplicates, and both stay. A finding is identified by agent and id, since every
agent counts from P1-1.
"""

from __future__ import annotations

import re

from contextkit.base import names
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable
from contextkit.reviews.documents import agent_review, vocabulary
from contextkit.reviews.documents.vocabulary import READING_ORDER
from contextkit.reviews.flows import identity
from contextkit.reviews.flows.drill_down import COMPLETED, Row, rows_of
from contextkit.reviews.flows.identity import Likeness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.flows.agent_files import Reading

_COMPARED = 400  # findings, the most severe, that are compared with each other
_MOST_PAIRS = 50
_PROTOCOL = "1.0"
_OF_IMPROVEMENT = ("id", "agents", "section", "title", "convergence", "key", "identity", "since",
                   "dismissed")  # fmt: skip


class MergedFinding(Record):
    """What one or more agents found; `rows` are theirs, the most severe first.

    `convergence` is how many agents with a finished file found it. `identity`, `since` (new or
    still) and `dismissed` (the reason) are what is known across runs; `history` knows more.
    """

    rows: tuple[Row, ...]
    key: str
    severity: str
    title: str
    section: str
    place: str
    description: str
    agents: tuple[str, ...]
    convergence: int
    identity: str = ""
    since: str = "new"
    dismissed: str = ""

    @property
    def confidence(self) -> str:
        return ("low", "low", "medium", "high")[min(self.convergence, 3)]


def _one(rows: Iterable[Row]) -> MergedFinding:
    """Return rows as one finding."""
    ranked = tuple(sorted(rows, key=_rank))
    first = ranked[0]
    return MergedFinding(
        rows=ranked, key=first.key, severity=first.severity, title=first.title,
        section=first.section, place=next((row.place for row in ranked if row.place), ""),
        description=next((row.description for row in ranked if row.description), ""),
        agents=tuple(sorted({row.agent for row in ranked})),
        convergence=len({row.agent for row in ranked if row.counts}),
    )  # fmt: skip


def combined(sources: list[Reading]) -> list[MergedFinding]:
    """Return all findings, including improvements, most severe and most confirmed first.

    Findings with equal titles are merged, as are those of several agents at one place with similar
    words; two such rows of one agent stay separate.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for source in sources:
        times: dict[str, int] = {}
        for row in rows_of(source):
            title = same_title(row.title)
            times[title] = times.get(title, 0) + 1
            unnamed = "" if title else f"{row.agent}/{row.id}"  # an empty title equals no other
            groups.setdefault((title, times[title], unnamed), []).append(row)
    return _ordered(_merged(_ordered(map(_one, groups.values()))))


def _ordered(findings: Iterable[MergedFinding]) -> list[MergedFinding]:
    def rank(finding: MergedFinding) -> tuple[object, ...]:
        severity = READING_ORDER.index(finding.severity)
        return severity, -finding.convergence, _in_order(finding.key)

    return sorted(findings, key=rank)


def _in_order(key: str) -> list[tuple[int, str]]:
    """Return a sort key that puts `P1-2` before `P1-10`."""
    parts = re.findall(r"([0-9]+)|([^0-9])", key)
    return [(int(digits[:15]) if digits else -1, char) for digits, char in parts]


def _pairs(found: list[MergedFinding]) -> list[tuple[float, int, int, bool]]:
    """Return (likeness, number, number, whether they are one) of findings, by their closest rows.

    Only rows of different agents are compared.
    """
    rows = [(number, row) for number, one in enumerate(found[:_COMPARED]) for row in one.rows]
    alike = Likeness([row for _, row in rows])
    best: dict[tuple[int, int], tuple[float, bool]] = {}
    for first, (number, row) in enumerate(rows):
        for second in range(first + 1, len(rows)):
            other, its = rows[second]
            if number == other or row.agent == its.agent or row.of != its.of:
                continue
            if alike.are_alike(first, second):
                score = (alike.of(first, second), alike.are_one(first, second))
                best[number, other] = max(score, best.get((number, other), (0.0, False)))
    found_pairs = [(score, one, other, same) for (one, other), (score, same) in best.items()]
    return sorted(found_pairs, reverse=True)


def _merged(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Merge the findings of different agents at one place in similar words, best match first."""
    home = list(range(len(findings)))
    groups = {number: [first] for number, first in enumerate(findings)}
    for _, first, second, same in _pairs(findings):
        mine, its = groups[home[first]], groups[home[second]]
        agents = [agent for each in (*mine, *its) for agent in each.agents]
        if same and home[first] != home[second] and len(set(agents)) == len(agents):
            gone = home[second]
            mine += groups.pop(gone)
            home = [home[first] if number == gone else number for number in home]
    return [_one(row for each in those for row in each.rows) for those in groups.values()]


def possible_duplicates(findings: list[MergedFinding]) -> list[tuple[MergedFinding, MergedFinding]]:
    """Return pairs from different agents that may be about the same thing but were not merged."""
    return [(findings[at], findings[to]) for _, at, to, _ in _pairs(findings)[:_MOST_PAIRS]]


def same_title(title: str) -> str:
    """Return a title without the differences that do not count: case, whitespace, emphasis."""
    return " ".join(vocabulary.plain(title).lower().split()).strip(" .:;!")


def _rank(row: Row) -> tuple[int, str, list[tuple[int, str]]]:
    return READING_ORDER.index(row.severity), row.agent, _in_order(row.id)


def verdict(sources: list[Reading]) -> str:
    """Return safe only if every agent is clean; error if one failed and nothing worse is known."""
    rows = [row for source in sources for row in source.review.findings]
    verdicts = [agent_review.demanded(tuple(rows))]
    for source in sources:
        failed = source.validation not in COMPLETED
        verdicts.append("safe" if source.status == "CLEAN" or failed else "needs-changes")
        verdicts += [source.review.stated] if source.review.stated and not failed else []
    worst = max(verdicts, key=vocabulary.VERDICTS.index)
    done = [source for source in sources if source.validation in COMPLETED]
    if not done or (worst == "safe" and len(done) < len(sources)):
        return "error"
    return worst


def together(findings: list[MergedFinding]) -> dict[str, list[MergedFinding]]:
    """Return the findings of different agents at one place: a `path:line`, or a section's name."""
    there: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        own = {row.place for row in finding.rows if identity.line_of(row.place)}
        own |= {f'"{row.section}"' for row in finding.rows if row.section not in ("", row.place)}
        for where in sorted(own):
            there.setdefault(where, []).append(finding)
    return {
        where: those
        for where, those in there.items()
        if len(those) > 1 and len({agent for finding in those for agent in finding.agents}) > 1
    }


def conflicts(sources: list[Reading], findings: list[MergedFinding]) -> list[str]:
    """Return a line for each point on which agents contradict each other or themselves."""
    lines = []
    for finding in findings:
        if len({row.severity for row in finding.rows}) > 1:
            sides = ", ".join(f"{row.agent} {row.severity or '?'}" for row in finding.rows)
            lines.append(f'"{finding.title}": {sides}')
    for where, those in together(findings).items():
        if where[:1] == '"':
            continue  # sharing only a section is not a disagreement
        serious = [finding for finding in those if finding.severity != "IMP"]
        if len({finding.severity for finding in serious}) > 1:
            sides = ", ".join(f"{finding.severity or '?'} {finding.key}" for finding in serious[:6])
            lines.append(f"{where}: {sides}")
    for source in sources:
        if "verdict_mismatch" in agent_review.effective_status(source.review)[1]:
            rows = agent_review.demanded(source.review.findings)
            lines.append(f"{source.agent}: states {source.review.stated}, its rows say {rows}")
    return [names.one_line(line) for line in lines]


def document(
    head: dict[str, object], sources: list[Reading], findings: list[MergedFinding]
) -> dict[str, object]:
    """Return findings.json: the keys of the published format first, then ours.

    `head` has reviewed, input, input_type, and what else is known about the run.
    """
    beside = _beside(findings)
    entries = [_as_json(finding, beside, str(head["input"])) for finding in findings]
    first = {key: head[key] for key in ("reviewed", "input", "input_type")}
    agents = [source.agent for source in sources]
    done = [source.agent for source in sources if source.validation in COMPLETED]
    return {
        **first,
        "agents_launched": agents,
        "agents_completed": done,
        "agents_failed": [agent for agent in agents if agent not in done],
        "findings": [entry for entry in entries if entry["severity"] != "IMP"],
        "improvements": [
            {key: entry[key] for key in _OF_IMPROVEMENT}
            for entry in entries
            if entry["severity"] == "IMP"
        ],
        "verdict": verdict(sources),
        "early_stop": False,
        "content_routing_active": False,
        "synthesis_timestamp": head["synthesis_timestamp"],
        "synthesis_protocol_version": _PROTOCOL,
        **{key: value for key, value in head.items() if key not in first},
        "conflicts": conflicts(sources, findings),
        "possible_duplicates": [[a.key, b.key] for a, b in possible_duplicates(findings)],
        "fixed": [],
        "unchecked": [],
    }


def _beside(findings: list[MergedFinding]) -> dict[str, list[str]]:
    """Map each finding to the keys of some others at its place."""
    beside: dict[str, list[str]] = {}
    for those in together(findings).values():
        for finding in those:
            others = [other.key for other in those[:10] if other is not finding]
            beside[finding.key] = [*dict.fromkeys([*beside.get(finding.key, []), *others])][:10]
    return beside


def _as_json(
    finding: MergedFinding, beside: dict[str, list[str]], target: str
) -> dict[str, object]:
    differ = len({row.severity for row in finding.rows}) > 1
    elsewhere = dict.fromkeys(row.section for row in finding.rows if row.section != finding.section)
    is_alone = finding.convergence < 2 and finding.severity in vocabulary.SERIOUS
    return {
        "id": finding.rows[0].id,
        "severity": finding.severity or "?",
        "agents": list(finding.agents),
        "section": finding.section,
        "title": finding.title,
        "convergence": finding.convergence,
        "confidence": finding.confidence,
        "co_located": finding.key in beside,
        "co_located_with": beside.get(finding.key, []),
        "cross_references": list(elsewhere),
        "severity_conflict": {r.agent: r.severity or "?" for r in finding.rows} if differ else {},
        "descriptions": {row.agent: row.description for row in finding.rows if row.description},
        "provenance": [
            {"agent": row.agent, "id": row.id, "severity": row.severity or "?",
             "place": row.place, "title": row.title}
            for row in finding.rows
        ],
        "key": finding.key,
        **({"note": "found by one agent: verify it"} if is_alone else {}),
        "identity": finding.identity or identity.identity(target, finding.title, finding.place),
        "since": finding.since,
        "dismissed": finding.dismissed,
    }  # fmt: skip


def counted(findings: list[MergedFinding]) -> str:
    """Return `1 P0, 2 P2, 1 IMP, 1 of unknown severity`, or `none`."""
    severities = [finding.severity or "of unknown severity" for finding in findings]
    counts = [(s, severities.count(s)) for s in (*vocabulary.SEVERITIES, "of unknown severity")]
    return ", ".join(f"{number} {severity}" for severity, number in counts if number) or "none"
