"""The report of a synthesis of research, and the lines of it that a caller reads; pure."""

from __future__ import annotations

from contextkit.base import names, templates
from contextkit.base import tokens as estimator
from contextkit.reviews.flows import findings_json
from contextkit.reviews.flows.synthesis import Finding, Source

_LINES = 7  # that a caller reads, beside the paths and what was read
_LEAD = 60  # tokens of what an agent says below a heading


def verdict(sources: list[Source]) -> str:
    """COMPLETE where every agent is; FAILED where none found anything."""
    statuses = {source.status for source in sources}
    if statuses == {"COMPLETE"}:
        return "COMPLETE"
    return "PARTIAL" if statuses & {"COMPLETE", "PARTIAL"} else "FAILED"


def render(sources: list[Source], found: list[Finding], data: dict[str, object]) -> str:
    """synthesis.md; `data` is findings.json."""
    lead = {(s.agent, r.title): _lead(s, r.title) for s in sources for r in s.review.findings}
    answer = [
        {
            "title": one.title,
            "agents": one.agents,
            "lead": next((lead.get((row.agent, row.title), "") for row in one.rows), ""),
        }
        for one in found
    ]
    return templates.render(
        "research_synthesis.md",
        state=data["verdict"],
        complete=sum(source.status == "COMPLETE" for source in sources),
        answer=answer,
        sources=[{"text": text, "agents": who} for text, who in _source_map(sources)],
        reports=[_report(source) for source in sources],
        **findings_json.head_of(data),
    )


def _lead(source: Source, heading: str) -> str:
    """`: the first words` below a heading; empty when nothing is there."""
    said = names.one_line(source.sections.get(heading.upper(), "").partition("\n")[2])
    return ": " + estimator.clip(said, _LEAD) if said else ""


def _source_map(sources: list[Source]) -> list[tuple[str, tuple[str, ...]]]:
    """Every source that was named, with the agents that named it, the most named first."""
    named: dict[str, list[str]] = {}
    for source in sources:
        for text in source.review.sources:
            agents = named.setdefault(names.one_line(text), [])
            if source.agent not in agents:
                agents.append(source.agent)
    ranked = sorted(named.items(), key=lambda item: -len(item[1]))
    return [(text, tuple(agents)) for text, agents in ranked]


def _report(source: Source) -> dict[str, str]:
    flags = [flag.replace("_", " ") for flag in source.review.flags]
    return {
        "agent": source.agent,
        "status": source.status,
        "why": f" ({', '.join(flags)})" if flags else "",
        "path": source.path,
        "confidence": _lead(source, "Confidence").removeprefix(": "),
        "gaps": _lead(source, "Gaps").removeprefix(": "),
    }


def lines(sources: list[Source], found: list[Finding], data: dict[str, object]) -> list[str]:
    """How complete it is, and the findings by agent."""
    launched, completed, failed = findings_json.numbers(data)
    said = [
        f"{data['verdict']}: {len(found)} findings, {len(_source_map(sources))} sources",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    room = _LINES - len(said)
    shown = found if len(found) <= room else found[: room - 1]
    said += [f"{', '.join(one.agents)}: {one.title}" for one in shown]
    return [*said, f"… {len(found) - len(shown)} more"] if len(shown) < len(found) else said
