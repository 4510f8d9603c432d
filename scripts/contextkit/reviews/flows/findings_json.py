"""findings.json: a synthesis for programs, in the published form; pure."""

from __future__ import annotations

from contextkit.base import names
from contextkit.reviews.documents import identity, vocabulary
from contextkit.reviews.flows import synthesis
from contextkit.reviews.flows.synthesis import Finding, Source

PROTOCOL = "1.0"


def document(
    head: dict[str, object],
    sources: list[Source],
    found: list[Finding],
) -> dict[str, object]:
    """findings.json: the keys of the published format first, then ours.

    `head` has reviewed, input, input_type, and what else is known of the run.
    """
    beside = _beside(found)
    first = {key: head[key] for key in ("reviewed", "input", "input_type")}
    agents = [source.agent for source in sources]
    done = [source.agent for source in sources if source.validation in synthesis.COMPLETED]
    return {
        **first,
        "agents_launched": agents,
        "agents_completed": done,
        "agents_failed": [agent for agent in agents if agent not in done],
        "findings": [
            _as_json(one, beside) | _alone(head, one) for one in found if one.severity != "IMP"
        ],
        "improvements": [
            _improvement(one) | _alone(head, one) for one in found if one.severity == "IMP"
        ],
        "verdict": synthesis.verdict(sources),
        "early_stop": False,
        "content_routing_active": False,
        "synthesis_timestamp": head["synthesis_timestamp"],
        "synthesis_protocol_version": PROTOCOL,
        **{key: value for key, value in head.items() if key not in first},
        "conflicts": synthesis.conflicts(sources, found),
        "possible_duplicates": [[a.key, b.key] for a, b in synthesis.possible_duplicates(found)],
        "fixed": [],
        "unchecked": [],
    }


def _alone(head: dict[str, object], one: Finding) -> dict[str, object]:
    """What is known of a finding without any other run; `history` knows more."""
    name = identity.identity(str(head["input"]), one.title, one.place)
    return {"identity": name, "since": "new", "dismissed": ""}


def _beside(found: list[Finding]) -> dict[str, list[str]]:
    """For each finding the keys of some others at its place."""
    beside: dict[str, list[str]] = {}
    for those in synthesis.together(found).values():
        for one in those:
            others = [other.key for other in those[:10] if other is not one]
            beside[one.key] = [*dict.fromkeys([*beside.get(one.key, []), *others])][:10]
    return beside


def _as_json(one: Finding, beside: dict[str, list[str]]) -> dict[str, object]:
    differ = len({row.severity for row in one.rows}) > 1
    elsewhere = dict.fromkeys(row.section for row in one.rows if row.section != one.section)
    note = "found by one agent: verify it" if one.convergence < 2 else ""
    serious = one.severity in vocabulary.SERIOUS
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
            {
                "agent": row.agent,
                "id": row.id,
                "severity": row.severity or "?",
                "place": row.place,
                "title": row.title,
            }
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


def numbers(data: dict[str, object]) -> tuple[int, int, int]:
    """How many agents were launched, completed and failed."""
    keys = ("agents_launched", "agents_completed", "agents_failed")
    launched, completed, failed = (len(data[key]) for key in keys)  # type: ignore[arg-type]
    return launched, completed, failed


def counted(found: list[Finding]) -> str:
    """`1 P0, 2 P2, 1 IMP`; `none`."""
    severities = [one.severity or "?" for one in found]
    known = [(s, severities.count(s)) for s in (*vocabulary.SEVERITIES, "?")]
    return ", ".join(f"{number} {severity}" for severity, number in known if number) or "none"


def head_of(data: dict[str, object]) -> dict[str, object]:
    """What the head of every report says."""
    launched, completed, failed = numbers(data)
    return {
        "launched": launched,
        "completed": completed,
        "failed": failed,
        "input": names.one_line(str(data["input"])),
        "at": data["synthesis_timestamp"],
    }
