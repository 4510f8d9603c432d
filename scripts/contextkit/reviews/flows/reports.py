"""The reports of a synthesis: findings.json, synthesis.md, and the few lines that a caller reads.

    readings  ->  sources  ->  synthesis.combined  ->  both files  ->  at most 15 lines

Text from agents goes into the Markdown as single lines, so that it cannot add a heading or a row.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, templates
from contextkit.base import tokens as estimator
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, runs
from contextkit.reviews.documents.vocabulary import SEVERITIES
from contextkit.reviews.flows import agent_files, synthesis
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.synthesis import MergedFinding, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

REPORT, DATA = "synthesis.md", "findings.json"
_LINE = 160  # characters in each line that a caller reads
_RESEARCH_LINES = 7  # lines for the caller besides the paths and the read count
_LEAD = 60  # tokens of an agent's text below a heading
_REVIEW_LINES = 11  # lines for the caller besides the paths and the read count
_TITLE = 80  # characters of a title that only serves as a reminder


class Synthesis(Record):
    """The paths of both files, and what the caller reads; `data` is findings.json."""

    report: str
    data_path: str
    summary: str
    data: dict[str, object]


def synthesize(layout: Layout, asked: Asked, read: Iterable[Reading], now: int) -> Synthesis:
    """Write findings.json and synthesis.md into the folder of the reviews."""
    sources = [synthesis.source_of(reading) for reading in read]
    found = synthesis.combined(sources)
    data = synthesis.document(about(layout, asked, names.iso(now)), sources, found)
    if asked.run:
        from contextkit.reviews.flows import history

        history.annotate(layout, runs.load(layout, asked.run), data, found)
    research = bool(sources) and all(source.review.type == "research" for source in sources)
    if research:
        data["verdict"] = _research_verdict(sources)
    render, told = _RESEARCH if research else _REVIEW
    text = render(sources, found, data)
    report, data_path = (os.path.join(asked.folder, name) for name in (REPORT, DATA))
    if asked.run:
        files.store(asked.folder)  # recreate it if somebody removed it: git must not see it
    files.write(data_path, formats.to_json(data) + "\n")
    files.write(report, text)
    unread = [one for one in sources if not _is_read(one)]
    lines = [_across_runs(data), *told(sources, found, data)]
    lines = [line for line in lines if line]
    first = agent_files.read_line(len(sources), len(unread))
    shown = [layout.shown(report), layout.shown(data_path)]
    return Synthesis(
        report=shown[0],
        data_path=shown[1],
        summary="\n".join(_short(line) for line in [first, *shown, *lines]),
        data=data,
    )


def _is_read(source: Source) -> bool:
    return source.validation in synthesis.COMPLETED and agent_review.is_read(source.review)


def _across_runs(data: dict[str, object]) -> str:
    """Return `2 new, 3 still there, 1 fixed` if there was an earlier run."""
    since = [one.get("since") for one in _all(data)]
    fixed, unchecked = (len(data.get(key) or ()) for key in ("fixed", "unchecked"))  # type: ignore[arg-type]
    still = since.count("still")
    if not (still or fixed or unchecked):
        return ""
    more = f", {unchecked} not looked at again" if unchecked else ""
    new = since.count("new")
    return f"{new} new, {still} still there, {fixed} fixed{more}"


def about(layout: Layout, asked: Asked, when: str) -> dict[str, object]:
    """Return what is known about a review besides its files; little without a run."""
    head: dict[str, object] = {"reviewed": when, "input": layout.shown(asked.folder),
                               "input_type": "directory", "synthesis_timestamp": when}  # fmt: skip
    if asked.run:
        run = runs.load(layout, asked.run)
        kind = "question" if run.mode == "research" else "document" if run.source else "diff"
        what = run.target if run.mode == "research" else run.source
        head |= {"reviewed": run.started_at, "input": what or run.input}
        head |= {"input_type": kind, "run": run.id, "process": run.process}
        head |= {"revision": run.revision, "head": run.head}
    return head


def _short(line: str) -> str:
    return names.clipped(names.one_line(line), _LINE)


def _research_verdict(sources: list[Source]) -> str:
    """Return COMPLETE if every agent is, FAILED if none found anything."""
    statuses = {source.status for source in sources}
    if statuses == {"COMPLETE"}:
        return "COMPLETE"
    return "PARTIAL" if statuses & {"COMPLETE", "PARTIAL"} else "FAILED"


def _research_markdown(
    sources: list[Source], found: list[MergedFinding], data: dict[str, object]
) -> str:
    """Render synthesis.md; `data` is findings.json."""
    answer = [
        {
            "title": one.title,
            "agents": one.agents,
            "lead": f": {one.description}" if one.description else "",
        }
        for one in found
    ]
    return templates.render(
        "research_synthesis.md",
        state=data["verdict"],
        complete=names.counted(sum(one.status == "COMPLETE" for one in sources), "agent"),
        answer=answer,
        sources=[{"text": text, "agents": who} for text, who in _source_map(sources)],
        reports=[_research_report(source) for source in sources],
        **synthesis.head_of(data),
    )


def _lead(source: Source, heading: str) -> str:
    """Return `: the first words` below a heading; '' if there are none."""
    said = names.one_line(source.sections.get(heading.upper(), "").partition("\n")[2])
    return ": " + estimator.clip(said, _LEAD) if said else ""


def _source_map(sources: list[Source]) -> list[tuple[str, tuple[str, ...]]]:
    """Render every named source with the agents that named it, most cited first."""
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
    sources: list[Source], found: list[MergedFinding], data: dict[str, object]
) -> list[str]:
    """Return how complete the research is, and the findings by agent."""
    launched, completed, failed = synthesis.numbers(data)
    said = [
        f"{data['verdict']}: {names.counted(len(found), 'finding')},"
        f" {names.counted(len(_source_map(sources)), 'source')}",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    room = _RESEARCH_LINES - len(said)
    shown = found if len(found) <= room else found[: room - 1]
    said += [f"{', '.join(one.agents)}: {one.title}" for one in shown]
    return [*said, f"… {len(found) - len(shown)} more"] if len(shown) < len(found) else said


def _review_markdown(
    sources: list[Source], found: list[MergedFinding], data: dict[str, object]
) -> str:
    """Render synthesis.md; `data` is findings.json."""
    serious = [one for one in found if one.severity != "IMP"]
    improvements = [one for one in found if one.severity == "IMP"]
    across = _across_runs(data)
    known = {str(entry["key"]): entry for entry in _all(data)}
    entries = {one.key: _entry(one, known.get(one.key, {}), bool(across)) for one in found}
    groups: dict[str, list[object]] = {}
    for one in serious:
        groups.setdefault(one.severity or "Without a severity", []).append(entries[one.key])
    titles = {one.key: _named(one) for one in found}
    pairs: Any = data["possible_duplicates"]
    return templates.render(
        "synthesis.md",
        verdict=data["verdict"],
        counts=_counts(found, data),
        groups=[{"severity": name, "findings": those} for name, those in groups.items()],
        issues=[entries[one.key] for one in serious],
        improvements=[entries[one.key] for one in improvements],
        across=across,
        fixed=data["fixed"],
        unchecked=data["unchecked"],
        heat=[_heat(source) for source in sources],
        reports=[_review_report(source) for source in sources],
        conflicts=data["conflicts"],
        duplicates=[{"one": titles[one], "other": titles[other]} for one, other in pairs],
        **synthesis.head_of(data),
    )


def _named(one: MergedFinding) -> str:
    return f"{one.key}: {names.clipped(one.title, _TITLE)}"


def _counts(found: list[MergedFinding], data: dict[str, object]) -> str:
    """Return `1 P0, 2 P2 (1 dismissed)`."""
    dismissed = sum(bool(entry.get("dismissed")) for entry in _all(data))
    return synthesis.counted(found) + (f" ({dismissed} dismissed)" if dismissed else "")


def _all(data: dict[str, object]) -> list[dict[str, object]]:
    return [*data["findings"], *data["improvements"]]  # type: ignore[misc]


def _entry(one: MergedFinding, known: dict[str, object], compared: bool) -> dict[str, object]:
    """Return what the template needs; `known` is its entry in findings.json."""
    dismissed = names.one_line(str(known.get("dismissed") or ""))
    since = {"still": "still there", "new": "new"}.get(str(known.get("since")), "")
    marks = [since] if compared and since else []
    marks += [f"dismissed: {dismissed}"] if dismissed else []
    where = [f'"{one.section}"'] if one.section not in ("", one.place) else []
    where += [f"`{one.place}`"] if one.place else []
    return {
        "key": one.key,
        "severity": one.severity or "?",
        "title": one.title or "(no title)",
        "agents": one.agents,
        "confidence": one.confidence,
        "marks": "".join(f"; {mark}" for mark in marks),
        "done": bool(dismissed),
        "where": " — " + ", ".join(where) if where else "",
        "description": one.description,
    }


def _heat(source: Source) -> dict[str, str]:
    severities = [row.severity for row in source.review.findings]
    cells = [str(severities.count(s) or "") for s in (*SEVERITIES, "")]
    agent = source.agent.replace("|", "\\|")
    return {"agent": agent, "cells": " | ".join(cells), "status": source.status}


def _review_report(source: Source) -> dict[str, str]:
    stated = source.review.stated
    return {
        "agent": source.agent,
        "status": source.status,
        "validation": source.validation,
        "stated": f", states {stated}" if stated else "",
        "path": source.path,
    }


def _review_lines(
    sources: list[Source], found: list[MergedFinding], data: dict[str, object]
) -> list[str]:
    """Return the verdict, the severe findings, and whether agents disagree."""
    launched, completed, failed = synthesis.numbers(data)
    said = [
        f"{data['verdict']}: {_counts(found, data)}",
        f"{launched} agents launched, {completed} completed, {failed} failed",
    ]
    ends = []
    for name, key in (("conflict", "conflicts"), ("possible duplicate", "possible_duplicates")):
        number = len(data[key])  # type: ignore[arg-type]
        if number:
            ends.append(f"{number} {name}{'s' * (number > 1)}: see the report")
    room = _REVIEW_LINES - len(said) - len(ends)
    severe = [one for one in found if one.severity in ("P0", "P1", "")]
    shown = severe if len(severe) <= room else severe[: room - 1]
    dismissed = {entry["key"] for entry in _all(data) if entry.get("dismissed")}
    for one in shown:
        marks = [f"{one.convergence} agents"] if one.convergence > 1 else []
        marks += ["dismissed"] if one.key in dismissed else []
        more = f" ({', '.join(marks)})" if marks else ""
        said.append(f"{one.severity or '?'} {one.key}{more} {one.title}")
    if len(shown) < len(severe):
        said.append(f"… {len(severe) - len(shown)} more")
    return said + ends


# synthesis.md, and the lines that a caller reads
_RESEARCH = (_research_markdown, _research_lines)
_REVIEW = (_review_markdown, _review_lines)
