"""What all agents of a review found, in the forms that people and programs read.

findings.json   everything, in the published form, for programs
synthesis.md    the same for people
a few lines     at most 15, for the caller of `synthesize`
sarif           SARIF 2.1.0, for code scanning
github          workflow commands, which become annotations on a pull request
markdown        a comment of at most 65,000 characters

Text from agents goes into Markdown as single lines, so that it cannot add a heading or a row.
"""

from __future__ import annotations

import os
import re

from contextkit.base import addresses, files, formats, names, outgoing, templates
from contextkit.base import tokens as estimator
from contextkit.base.expressions import Pattern
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable
from contextkit.reviews.documents import phrases, places, runs, sections
from contextkit.reviews.documents.vocabulary import SERIOUS, SEVERITIES
from contextkit.reviews.flows import agent_files, history, synthesis
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.synthesis import COMPLETED, MergedFinding
from contextkit.text.digests import reading

Data = dict[str, Any]  # findings.json; `synthesis.document` makes it

_REPORT, _DATA = "synthesis.md", "findings.json"
_LINE = 160  # characters in each line that a caller reads
_RESEARCH_LINES = 7  # lines for the caller besides the paths and the read count
_ATTENDANCE = "{launched} agents launched, {completed} completed, {failed} failed"
_LEAD = 60  # tokens of an agent's text below a heading
_REVIEW_LINES = 12  # lines for the caller besides the paths and the read count
_FEWEST = 40  # characters of what a finding says
_RATING = Pattern(r"serious|problem|critical|\b\w+ (?:severity|risk|priority)", re.IGNORECASE)
_EFFECTS = Pattern(r"[;:]\s+|\s[—–→-]+\s+|,\s+(?=(?:so|which|causing|leading)\b)")
_CLAUSES = Pattern(r"(?<=[;:.!?,])\s+|(?<=\s)[—–→-]\s+")
_TITLE = 80  # characters of a title that only serves as a reminder
_MOST = 65_000  # characters in a comment; GitHub accepts 65,536
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"P0": "error", "P1": "error", "P2": "warning"}  # all others are notes
_TO_DO = (("P0", "do not merge"), ("P1", "fix before merging"))
_RULES = {
    "P0": "It breaks something that matters", "P1": "It must be fixed before this goes on",
    "P2": "It should be fixed", "P3": "It could be better",
    "IMP": "An improvement", "?": "Of unknown severity",
}  # fmt: skip


def synthesize(
    layout: Layout, asked: Asked, read: Iterable[Reading], now: int
) -> tuple[str, bool, dict[str, object]]:
    """Write findings.json and synthesis.md into the folder of the reviews.

    Returns the text for the caller, whether any file could be read, and the data for programs.
    """
    sources, findings, data = _combined(layout, asked, read, names.iso(now))
    render, summarize = _review_markdown, _review_lines
    if _is_research(sources):
        render, summarize = _research_markdown, _research_lines
    report, data_path = (os.path.join(asked.folder, name) for name in (_REPORT, _DATA))
    if asked.run:
        files.store(asked.folder)  # recreate it if somebody removed it: git must not see it
    allowed = layout.limits.secrets_allow
    text = render(sources, findings, data)
    files.write(data_path, outgoing.told(formats.to_json(data) + "\n", allowed))
    files.write(report, outgoing.told(text, allowed))
    unread = sum(not source.is_read for source in sources)
    first = agent_files.read_line(len(sources), unread)
    if others := _from_others(data):
        first += f"; from other machines: {others}"
    shown = [layout.shown(report), layout.shown(data_path)]
    lines = [first, *shown, *summarize(sources, findings, data, shown[0], asked.show(layout))]
    summary = "\n".join(names.clipped(names.one_line(line), _LINE) for line in lines)
    paths = {"report": shown[0], "findings": shown[1]}
    return summary, unread < len(sources), {**paths, "data": data}


def _combined(
    layout: Layout, asked: Asked, read: Iterable[Reading], when: str
) -> tuple[list[Reading], list[MergedFinding], Data]:
    sources = list(read)
    findings = synthesis.combined(sources)
    gone: dict[str, list[dict[str, object]]] = {}
    if asked.run:
        done = {source.agent for source in sources if source.validation in COMPLETED}
        findings, gone = history.annotated(layout, asked.run, findings, done)
    data = synthesis.document(_about(layout, asked, when), sources, findings)
    if _is_research(sources):
        statuses = {source.status for source in sources}
        some = "PARTIAL" if statuses & {"COMPLETE", "PARTIAL"} else "FAILED"
        data["verdict"] = "COMPLETE" if statuses == {"COMPLETE"} else some
    others = addresses.files_elsewhere(layout)
    machines = {source.agent: others.get(layout.join(source.shown)) for source in sources}
    if any(machines.values()):
        data["machines"] = {agent: machine for agent, machine in machines.items() if machine}
    return sources, findings, data | gone


def _is_research(sources: list[Reading]) -> bool:
    return bool(sources) and all(source.review.type == "research" for source in sources)


def _across_runs(findings: list[MergedFinding], data: Data) -> str:
    """`2 new, 3 still there, 1 fixed` if there was an earlier run."""
    fixed, unchecked = len(data["fixed"]), len(data["unchecked"])
    since = [finding.since for finding in findings]
    if not (fixed or unchecked or "still" in since):
        return ""
    more = f", {unchecked} not rechecked" if unchecked else ""
    return f"{since.count('new')} new, {since.count('still')} still there, {fixed} fixed{more}"


def _agents(data: Data) -> dict[str, int]:
    launched, completed = len(data["agents_launched"]), len(data["agents_completed"])
    return {"launched": launched, "completed": completed, "failed": launched - completed}


def _head(data: Data) -> dict[str, object]:
    return {
        **_agents(data), "input": names.one_line(str(data["input"])),
        "run": data.get("run", ""),
        "at": data["synthesis_timestamp"], "others": _from_others(data),
    }  # fmt: skip


def _from_others(data: Data) -> str:
    """`ui (laptop), api (ci)`: the reviews that other machines wrote; often empty."""
    machines = data.get("machines", {}).items()
    return ", ".join(f"{names.one_line(agent)} ({machine})" for agent, machine in machines)


def _about(layout: Layout, asked: Asked, when: str) -> dict[str, object]:
    """Everything known about a review besides its files; little without a run."""
    head: dict[str, object] = {"reviewed": when, "input": layout.shown(asked.folder),
                               "input_type": "directory", "synthesis_timestamp": when}  # fmt: skip
    if run := asked.run:
        kind = "question" if run.mode == "research" else "document" if run.source else "diff"
        what = run.target if run.mode == "research" else run.source
        head |= {"reviewed": run.started_at, "input": what or run.input}
        head |= {"input_type": kind, "run": run.id, "process": run.process}
        head |= {"revision": run.revision, "head": run.head}
    return head


def _research_markdown(sources: list[Reading], findings: list[MergedFinding], data: Data) -> str:
    complete = sum(source.status == "COMPLETE" for source in sources)
    return templates.render(
        "research_synthesis.md", state=data["verdict"], answer=findings,
        complete=names.counted(complete, "agent"), sources=_source_map(sources),
        reports=[
            {"of": source, "why": ", ".join(source.review.flags).replace("_", " "),
             "confidence": _lead(source, "Confidence"), "gaps": _lead(source, "Gaps")}
            for source in sources
        ],
        **_head(data),
    )  # fmt: skip


def _lead(source: Reading, heading: str) -> str:
    """The first words below a heading; '' if there are none."""
    text = sections.sections(source.text, [heading], source.review)[heading]
    return estimator.clip(names.one_line(text.partition("\n")[2]), _LEAD)


def _source_map(sources: list[Reading]) -> list[dict[str, object]]:
    """The text of every named source with the agents that named it, most cited first."""
    named: dict[str, dict[str, bool]] = {}
    for source in sources:
        for text in source.review.sources:
            named.setdefault(names.one_line(text), {})[source.agent] = True
    ranked = sorted(named.items(), key=lambda item: -len(item[1]))
    return [{"text": text, "agents": list(agents)} for text, agents in ranked]


def _research_lines(
    sources: list[Reading], findings: list[MergedFinding], data: Data, report: str, where: str
) -> list[str]:
    lines = [
        f"{data['verdict']}: {names.counted(len(findings), 'finding')},"
        f" {names.counted(len(_source_map(sources)), 'source')}",
        _ATTENDANCE.format(**_agents(data)),
    ]
    room = _RESEARCH_LINES - len(lines)
    shown = findings if len(findings) <= room else findings[: room - 1]
    lines += [f"{', '.join(finding.agents)}: {finding.title}" for finding in shown]
    return [*lines, f"… {len(findings) - len(shown)} more"] if len(shown) < len(findings) else lines


def _review_markdown(sources: list[Reading], findings: list[MergedFinding], data: Data) -> str:
    across = _across_runs(findings, data)
    groups: dict[str, list[object]] = {}
    for finding in findings:
        group = groups.setdefault(finding.severity or "Without a severity", [])
        group.append(_entry(finding, bool(across)))
    improvements = groups.pop("IMP", [])
    titles = {each.key: f"{each.key}: {names.clipped(each.title, _TITLE)}" for each in findings}
    duplicates = [{"one": titles[a], "other": titles[b]} for a, b in data["possible_duplicates"]]
    severities = [[row.severity for row in source.review.findings] for source in sources]
    return templates.render(
        "synthesis.md", verdict=data["verdict"], to_do=_to_do(findings), counts=_counts(findings),
        groups=[{"severity": name, "findings": those} for name, those in groups.items()],
        issues=[entry for those in groups.values() for entry in those],
        improvements=improvements, across=across, fixed=data["fixed"],
        unchecked=data["unchecked"],
        heat=[
            {"agent": source.agent.replace("|", "\\|"), "status": source.status,
             "cells": " | ".join(str(own.count(s) or "") for s in (*SEVERITIES, ""))}
            for source, own in zip(sources, severities, strict=True)
        ],
        sources=sources, conflicts=data["conflicts"], duplicates=duplicates, **_head(data),
    )  # fmt: skip


def _counts(findings: list[MergedFinding]) -> str:
    """`1 P0, 2 P2 (agent by agent: 1 P0, 1 P1, 2 P2; 1 dismissed)`."""
    counts = agent_files.counted([finding.severity for finding in findings]) or "no findings"
    by_agent = agent_files.counted([row.severity for each in findings for row in each.rows])
    dismissed = sum(finding.counts_no_more for finding in findings)
    more = [f"agent by agent: {by_agent}"] if by_agent not in ("", counts) else []
    more += [f"{dismissed} dismissed"] if dismissed else []
    return f"{counts} ({'; '.join(more)})" if more else counts


def _entry(finding: MergedFinding, compared: bool) -> dict[str, object]:
    since = {"still": "; still there", "new": "; new"}[finding.since] if compared else ""
    gone = f"; {_mark(finding)}: {names.one_line(finding.dismissed)}" if finding.dismissed else ""
    where = [f'"{finding.section}"'] if finding.section not in ("", finding.place) else []
    beside = finding.place_beside(finding.title)
    where += [f"`{beside}`"] if beside else []
    fixes = [f"Another fix, {key}: {fix}" for key, fix in finding.fixes]
    fixes[:1] = [f"Fix: {fix}" for _, fix in finding.fixes[:1]]
    return {"of": finding, "title": finding.title or "(no title)", "marks": since + gone,
            "fixes": fixes,
            "where": " — " + ", ".join(where) if where else ""}  # fmt: skip


def _review_lines(
    sources: list[Reading], findings: list[MergedFinding], data: Data, report: str, where: str
) -> list[str]:
    """Lines: what to do, all counts, the severe findings that fit, and where the rest is."""
    severe = [finding for finding in findings if finding.severity in (*SERIOUS, "")]
    milder = [each.severity for each in findings if each.severity not in (*SERIOUS, "")]
    ends = [agent_files.counted(milder)] if milder else []
    for what, key in (("conflict", "conflicts"), ("possible duplicate", "possible_duplicates")):
        ends += [names.counted(len(data[key]), what)] if data[key] else []
    agents = _agents(data)
    last = [_ATTENDANCE.format(**agents)] if agents["failed"] else []
    last += [f"{', '.join(ends)}: {report}"] if ends else []
    last = [line for line in ("; ".join(last), _across_runs(findings, data)) if line]
    room = _REVIEW_LINES - 1 - len(last)
    fitting = severe if len(severe) <= room else severe[: room - 1]
    lines = list(map(_severe_line, fitting))
    if rest := [finding.severity for finding in severe[len(fitting) :]]:
        more = f"+{len(rest)} more ({agent_files.counted(rest)})"
        lines.append(f"{more}: {where} skip={len(fitting)}")
    is_read = findings or any(source.is_read for source in sources)
    counts = _counts(findings) if is_read else "nothing could be read"
    return [f"{_to_do(findings) or data['verdict']}: {counts}", *lines, *last]


def _to_do(findings: list[MergedFinding]) -> str:
    """What open serious findings call for; empty without any."""
    left = {finding.severity for finding in findings if not finding.counts_no_more}
    return next((words for severity, words in _TO_DO if severity in left), "")


def _mark(finding: MergedFinding) -> str:
    """What is said of a dismissed finding."""
    return "dismissed" if finding.counts_no_more else "dismissed, which does not count yet"


def _severe_line(finding: MergedFinding) -> str:
    """`P0 fd-a/P0-1 src/app.py:42 (2 agents) Title: what goes wrong`."""
    marks = [f"{finding.convergence} agents"] if finding.convergence > 1 else []
    marks += [_mark(finding)] if finding.dismissed else []
    more = f"({', '.join(marks)})" if marks else ""
    room = _LINE - len(f"{finding.mark} {finding.key} {finding.place} {more} ")
    told = _told(finding, max(_FEWEST, room))
    cells = (finding.mark, finding.key, finding.place_beside(told), more, told)
    return names.one_line(" ".join(cells))


def _told(finding: MergedFinding, room: int) -> str:
    """A finding's title, cut at a clause if it is too long, with what goes wrong."""
    title = finding.short_title
    shown = reading.clause_or_words(title, room)
    if _goes_wrong(shown):
        return shown
    clauses = _CLAUSES.split(finding.description if shown == title else title)
    worst = next(filter(_goes_wrong, clauses), "").rstrip(" .,;:")
    if not worst and shown != title:
        worst = "".join(_EFFECTS.split(title, maxsplit=1)[1:])
    if not worst or worst in f"{shown} {finding.place}":
        return shown
    both = f"{shown}: {worst}" if shown == title else f"{clauses[0].rstrip(' .,;:')} … {worst}"
    if len(both) <= room:
        return both
    return shown if shown == title else f"… {reading.clause_or_words(worst, room - 2)}"


def _goes_wrong(clause: str) -> bool:
    """Whether a clause says what goes wrong, not only how bad it is."""
    return phrases.is_serious(_RATING.sub("", clause))


def export(layout: Layout, run_id: str, form: str) -> str:
    """Render the findings of a run as sarif, github or markdown; nothing is written."""
    asked = agent_files.of_run(layout, runs.load(layout, run_id))
    _, findings, data = _combined(layout, asked, agent_files.read(layout, asked), "")
    return {"sarif": _sarif, "github": _github, "markdown": _comment}[form](findings, data)


def _place(finding: MergedFinding) -> tuple[str, int]:
    """The file, relative to the root, and line of a finding; ("", 0) if it names none."""
    file = finding.file
    inside = not file.startswith("/") and ".." not in file.split("/")
    return (file.removeprefix("./"), finding.line) if inside else ("", 0)


def _said(finding: MergedFinding) -> str:
    """The title and the words of each agent that found it."""
    words = dict.fromkeys(row.description for row in finding.rows if row.description)
    return "\n".join([finding.short_title, *words])


def _sarif(findings: list[MergedFinding], data: Data) -> str:
    there = {finding.severity or "?" for finding in findings}
    used = [severity for severity in _RULES if severity in there]
    driver = {
        "name": "contextkit",
        "informationUri": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html",
        "rules": [{"id": name, "shortDescription": {"text": _RULES[name]}} for name in used],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(finding, used) for finding in findings],
        "properties": {"run": data.get("run", ""), "verdict": data["verdict"]},
    }
    return formats.to_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _result(finding: MergedFinding, rules: list[str]) -> dict[str, object]:
    from urllib.parse import quote

    file, line = _place(finding)
    severity = finding.severity or "?"
    uri = quote(file, errors="surrogateescape")
    region = {"region": {"startLine": line}} if line else {}
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, **region}}
    why = {"kind": "external", "justification": finding.dismissed}
    return {
        "ruleId": severity,
        "ruleIndex": rules.index(severity),
        "level": _LEVELS.get(severity, "note"),
        "message": {"text": _said(finding)},
        "partialFingerprints": {"contextkit/v1": finding.identity},
        "properties": {"agents": finding.agents, "key": finding.key, "since": finding.since},
        **({"locations": [place]} if file else {}),
        **({"suppressions": [why]} if finding.dismissed else {}),
    }


def _github(findings: list[MergedFinding], data: Data) -> str:
    lines = []
    for finding in (each for each in findings if not each.dismissed):
        file, line = _place(finding)
        title = f"{finding.mark} {', '.join(finding.agents)}".lstrip()
        fields = {"file": file, "line": str(line) if line else "", "title": title}
        properties = ",".join(f"{key}={_escaped(v, ':,')}" for key, v in fields.items() if v)
        level = _LEVELS.get(finding.severity, "notice")
        lines.append(f"::{level} {properties}::{_escaped(_said(finding))}")
    return "\n".join(lines)


def _escaped(text: str, more: str = "") -> str:
    """Escape a text for a GitHub workflow command: one line that nothing ends early.

    A blank before a line end keeps it from being read as a part of the word before it.
    """
    text = text.replace("\n", " \n")
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return "".join(char if char.isprintable() else " " for char in text)


def _comment(findings: list[MergedFinding], data: Data) -> str:
    """A comment: the verdict, one line per finding that fits, and the count of the rest."""
    shown = [finding for finding in findings if not finding.dismissed]
    new = sum(finding.since == "new" for finding in shown)
    text = (
        f"## Review: {data['verdict']}\n\n"
        "{completed} of {launched} agents, {failed} failed;".format(**_agents(data))
        + f" {names.counted(len(shown), 'finding')} ({new} new),"
        f" {len(data['fixed'])} fixed, {len(findings) - len(shown)} dismissed.\n"
    )
    for number, finding in enumerate(shown):
        file, line = _place(finding)
        place = f" `{places.shown_place(_plain(file), line)}`" if file else ""
        title, *words = map(_plain, _said(finding).split("\n"))
        agents = _plain(", ".join(finding.agents))
        mark = f" **{finding.mark}**" if finding.mark else ""
        item = [f"-{mark}{place} {title} ({agents}, {finding.since})"]
        more = "\n".join([*item, *(f"  {line}" for line in words)]) + "\n"
        rest = f"\n… {len(shown) - number} more: make verdict_show run={data.get('run', '')}\n"
        if len(text) + len(more) + len(rest) > _MOST:
            return text + rest
        text += more
    return text


def _plain(text: object) -> str:
    """A text on one line that starts no mention, HTML or code."""
    line = names.one_line(str(text)).replace("`", "'")
    for char in "\\*_<>[]|#":
        line = line.replace(char, f"\\{char}")
    return line.replace("@", "@\u200b")
