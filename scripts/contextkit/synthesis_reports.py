"""The reports of a synthesis: findings.json, synthesis.md, and the few lines that a caller reads.

    readings  ->  sources  ->  synthesis.combined  ->  both files  ->  at most 15 lines

Text of agents goes into the Markdown on one line each, so that none adds a heading or a row.
"""

from __future__ import annotations

import os

from contextkit import (
    agent_files,
    files,
    formats,
    names,
    review_sections,
    runs,
    synthesis,
    templates,
)
from contextkit import tokens as estimator
from contextkit.agent_files import SEVERITIES, Asked, Reading
from contextkit.layout import Layout
from contextkit.records import Record
from contextkit.synthesis import Finding, Source

REPORT, DATA = "synthesis.md", "findings.json"
_LINES = 15  # that go back to the caller
_RESEARCH_LINES = 10
_LINE = 160  # characters of each
_TITLE = 80  # characters of a title where it only reminds
_LEAD = 60  # tokens of what a research report says below a heading


class Synthesis(Record):
    """The paths of both files, and what the caller reads; `data` is findings.json."""

    report: str
    data_path: str
    summary: str
    data: dict[str, object]


def synthesize(layout: Layout, asked: Asked, now: int) -> Synthesis:
    """Write findings.json and synthesis.md into the folder of the reviews."""
    readings = agent_files.read(layout, asked)
    sources = [_source(reading) for reading in readings]
    found = synthesis.combined(sources)
    data = synthesis.document(_about(layout, asked, names.iso(now)), sources, found)
    research = bool(sources) and all(source.review.type == "research" for source in sources)
    if research:
        data["verdict"] = _research_verdict(sources)
    text = (_research if research else _review)(sources, found, data)
    report, data_path = (os.path.join(asked.folder, name) for name in (REPORT, DATA))
    files.write(data_path, formats.to_json(data) + "\n")
    files.write(report, text)
    lines = _research_lines(sources, found, data) if research else _lines(found, data)
    shown = [layout.shown(report), layout.shown(data_path)]
    return Synthesis(
        report=shown[0],
        data_path=shown[1],
        summary="\n".join(_short(line) for line in [*shown, *lines]),
        data=data,
    )


def _about(layout: Layout, asked: Asked, when: str) -> dict[str, object]:
    """What is known of a review beside its files; of a folder without a run that is little."""
    head: dict[str, object] = {"reviewed": when, "input": layout.shown(asked.folder),
                               "input_type": "directory", "synthesis_timestamp": when}  # fmt: skip
    if asked.run:
        run = runs.load(layout, asked.run)
        kind = "question" if run.mode == "research" else "document" if run.source else "diff"
        head |= {"reviewed": run.started_at, "input": run.source or run.target or run.input}
        head |= {"input_type": kind, "run": run.id, "process": run.process}
        head |= {"revision": run.revision, "head": run.head}
    return head


def _source(reading: Reading) -> Source:
    ids = [row.id for row in reading.review.findings if row.id]
    wanted = [row.title for row in reading.review.findings] + ["Confidence", "Gaps"]
    research = reading.review.type == "research"
    sections = review_sections.sections(reading.text, wanted if research else ids)
    return Source(
        agent=reading.agent,
        path=reading.found.detail_path,
        status=reading.found.status,
        validation=reading.found.validation,
        review=reading.review,
        sections={name.upper(): text for name, text in sections.items()},
    )


def _short(line: str) -> str:
    line = names.one_line(line)
    return line if len(line) <= _LINE else line[: _LINE - 1].rstrip() + "…"


# Reviews


def _review(sources: list[Source], found: list[Finding], data: dict[str, object]) -> str:
    serious = [one for one in found if one.severity != "IMP"]
    improvements = [one for one in found if one.severity == "IMP"]
    groups: dict[str, list[object]] = {}
    for one in serious:
        groups.setdefault(one.severity or "Without a severity", []).append(_entry(one))
    pairs = synthesis.possible_duplicates(found)
    return templates.render(
        "synthesis.md",
        verdict=data["verdict"],
        counts=counted(found),
        groups=[{"severity": name, "findings": those} for name, those in groups.items()],
        issues=[_entry(one) for one in serious],
        improvements=[_entry(one) for one in improvements],
        heat=[_heat(source) for source in sources],
        reports=[_report(source) for source in sources],
        conflicts=data["conflicts"],
        duplicates=[{"one": _named(one), "other": _named(other)} for one, other in pairs],
        **_head(data),
    )


def _named(one: Finding) -> str:
    title = one.title if len(one.title) <= _TITLE else one.title[: _TITLE - 1].rstrip() + "…"
    return f"{one.key}: {title}"


def _head(data: dict[str, object]) -> dict[str, object]:
    launched, completed, failed = numbers(data)
    return {
        "launched": launched,
        "completed": completed,
        "failed": failed,
        "input": names.one_line(str(data["input"])),
        "at": data["synthesis_timestamp"],
    }


def numbers(data: dict[str, object]) -> tuple[int, int, int]:
    """How many agents were launched, completed and failed."""
    keys = ("agents_launched", "agents_completed", "agents_failed")
    launched, completed, failed = (len(data[key]) for key in keys)  # type: ignore[arg-type]
    return launched, completed, failed


def counted(found: list[Finding]) -> str:
    """`1 P0, 2 P2, 1 IMP`; `none`."""
    severities = [one.severity or "?" for one in found]
    known = [(s, severities.count(s)) for s in (*SEVERITIES, "?")]
    return ", ".join(f"{number} {severity}" for severity, number in known if number) or "none"


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


def _lines(found: list[Finding], data: dict[str, object]) -> list[str]:
    """The verdict, then the severe findings, then what agents disagree on; 13 lines at most."""
    launched, completed, failed = numbers(data)
    lines = [
        f"{data['verdict']}: {counted(found)}",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    ends = []
    for name, key in (("conflicts", "conflicts"), ("possible duplicates", "possible_duplicates")):
        if data[key]:
            ends.append(f"{len(data[key])} {name}: see the report")  # type: ignore[arg-type]
    room = _LINES - 2 - len(lines) - len(ends)
    severe = [one for one in found if one.severity in ("P0", "P1", "")]
    shown = severe if len(severe) <= room else severe[: room - 1]
    for one in shown:
        many = f" ({one.convergence} agents)" if one.convergence > 1 else ""
        lines.append(f"{one.severity or '?'} {one.key}{many} {one.title}")
    if len(shown) < len(severe):
        lines.append(f"… {len(severe) - len(shown)} more")
    return lines + ends


# Research


def _research_verdict(sources: list[Source]) -> str:
    statuses = {source.status for source in sources}
    if statuses == {"COMPLETE"}:
        return "COMPLETE"
    return "PARTIAL" if statuses & {"COMPLETE", "PARTIAL"} else "FAILED"


def _research(sources: list[Source], found: list[Finding], data: dict[str, object]) -> str:
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
        reports=[_research_report(source) for source in sources],
        **_head(data),
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


def _research_report(source: Source) -> dict[str, str]:
    flags = [flag.replace("_", " ") for flag in source.review.flags]
    return {
        "agent": source.agent,
        "status": source.status,
        "why": f" ({', '.join(flags)})" if flags else "",
        "path": source.path,
        "confidence": _lead(source, "Confidence").removeprefix(": "),
        "gaps": _lead(source, "Gaps").removeprefix(": "),
    }


def _research_lines(
    sources: list[Source], found: list[Finding], data: dict[str, object]
) -> list[str]:
    launched, completed, failed = numbers(data)
    lines = [
        f"{data['verdict']}: {len(found)} findings, {len(_source_map(sources))} sources",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    room = _RESEARCH_LINES - 2 - len(lines)
    shown = found if len(found) <= room else found[: room - 1]
    lines += [f"{', '.join(one.agents)}: {one.title}" for one in shown]
    return [*lines, f"… {len(found) - len(shown)} more"] if len(shown) < len(found) else lines
