"""The report of a synthesis of reviews, and the lines of it that a caller reads; pure."""

from __future__ import annotations

from contextkit.base import names, templates
from contextkit.reviews.documents.vocabulary import SEVERITIES
from contextkit.reviews.flows import findings_json
from contextkit.reviews.flows.synthesis import Finding, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LINES = 11  # that a caller reads, beside the paths and what was read
_TITLE = 80  # characters of a title where it only reminds


def render(sources: list[Source], found: list[Finding], data: dict[str, object]) -> str:
    """synthesis.md; `data` is findings.json."""
    serious = [one for one in found if one.severity != "IMP"]
    improvements = [one for one in found if one.severity == "IMP"]
    groups: dict[str, list[object]] = {}
    for one in serious:
        groups.setdefault(one.severity or "Without a severity", []).append(_entry(one))
    titles = {one.key: _named(one) for one in found}
    pairs: Any = data["possible_duplicates"]
    return templates.render(
        "synthesis.md",
        verdict=data["verdict"],
        counts=findings_json.counted(found),
        groups=[{"severity": name, "findings": those} for name, those in groups.items()],
        issues=[_entry(one) for one in serious],
        improvements=[_entry(one) for one in improvements],
        heat=[_heat(source) for source in sources],
        reports=[_report(source) for source in sources],
        conflicts=data["conflicts"],
        duplicates=[{"one": titles[one], "other": titles[other]} for one, other in pairs],
        **findings_json.head_of(data),
    )


def _named(one: Finding) -> str:
    return f"{one.key}: {names.clipped(one.title, _TITLE)}"


def _entry(one: Finding) -> dict[str, object]:
    where = [f'"{one.section}"'] if one.section not in ("", one.place) else []
    where += [f"`{one.place}`"] if one.place else []
    return {
        "key": one.key,
        "severity": one.severity or "?",
        "title": one.title or "(no title)",
        "agents": one.agents,
        "confidence": one.confidence,
        "where": " — " + ", ".join(where) if where else "",
        "description": one.description,
    }


def _heat(source: Source) -> dict[str, str]:
    severities = [row.severity for row in source.review.findings]
    cells = [str(severities.count(s) or "") for s in (*SEVERITIES, "")]
    agent = source.agent.replace("|", "\\|")
    return {"agent": agent, "cells": " | ".join(cells), "status": source.status}


def _report(source: Source) -> dict[str, str]:
    stated = source.review.stated
    return {
        "agent": source.agent,
        "status": source.status,
        "validation": source.validation,
        "stated": f", states {stated}" if stated else "",
        "path": source.path,
    }


def lines(sources: list[Source], found: list[Finding], data: dict[str, object]) -> list[str]:
    """The verdict, the severe findings, and whether agents disagree."""
    launched, completed, failed = findings_json.numbers(data)
    said = [
        f"{data['verdict']}: {findings_json.counted(found)}",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    ends = []
    for name, key in (("conflict", "conflicts"), ("possible duplicate", "possible_duplicates")):
        number = len(data[key])  # type: ignore[arg-type]
        if number:
            ends.append(f"{number} {name}{'s' * (number > 1)}: see the report")
    room = _LINES - len(said) - len(ends)
    severe = [one for one in found if one.severity in ("P0", "P1", "")]
    shown = severe if len(severe) <= room else severe[: room - 1]
    for one in shown:
        many = f" ({one.convergence} agents)" if one.convergence > 1 else ""
        said.append(f"{one.severity or '?'} {one.key}{many} {one.title}")
    if len(shown) < len(severe):
        said.append(f"… {len(severe) - len(shown)} more")
    return said + ends
