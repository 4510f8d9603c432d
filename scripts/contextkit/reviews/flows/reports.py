"""The reports of a synthesis: findings.json, synthesis.md, and the few lines that a caller reads.

    readings  ->  sources  ->  synthesis.combined  ->  both files  ->  at most 15 lines

Text of agents goes into the Markdown on one line each, so that none adds a heading or a row.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, runs
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.flows import (
    agent_files,
    findings_json,
    merged_report,
    research_report,
    synthesis,
)
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.synthesis import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

REPORT, DATA = "synthesis.md", "findings.json"
_LINE = 160  # characters of each line that a caller reads


class Synthesis(Record):
    """The paths of both files, and what the caller reads; `data` is findings.json."""

    report: str
    data_path: str
    summary: str
    data: dict[str, object]


def synthesize(layout: Layout, asked: Asked, read: Iterable[Reading], now: int) -> Synthesis:
    """Write findings.json and synthesis.md into the folder of the reviews."""
    sources = [source_of(reading) for reading in read]
    found = synthesis.combined(sources)
    data = findings_json.document(about(layout, asked, names.iso(now)), sources, found)
    if asked.run:
        from contextkit.reviews.flows import history

        history.told(layout, runs.load(layout, asked.run), data, found)
    research = bool(sources) and all(source.review.type == "research" for source in sources)
    if research:
        data["verdict"] = research_report.verdict(sources)
    kind = research_report if research else merged_report
    text = kind.render(sources, found, data)
    report, data_path = (os.path.join(asked.folder, name) for name in (REPORT, DATA))
    if asked.run:
        files.store(asked.folder)  # also where somebody removed it meanwhile: git must not see it
    files.write(data_path, formats.to_json(data) + "\n")
    files.write(report, text)
    unread = [one for one in sources if not _is_read(one)]
    lines = [_across_runs(data), *kind.lines(sources, found, data)]
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
    """`2 new, 3 still there, 1 fixed`, where there was a run before."""
    every = [*data["findings"], *data["improvements"]]  # type: ignore[misc]
    since = [one.get("since") for one in every]
    fixed, unchecked = (len(data.get(key) or ()) for key in ("fixed", "unchecked"))  # type: ignore[arg-type]
    still = since.count("still")
    if not (still or fixed or unchecked):
        return ""
    more = f", {unchecked} not looked at again" if unchecked else ""
    new = since.count("new")
    return f"{new} new, {still} still there, {fixed} fixed{more}"


def about(layout: Layout, asked: Asked, when: str) -> dict[str, object]:
    """What is known of a review beside its files; of a folder without a run that is little."""
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


def source_of(reading: Reading) -> Source:
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
    return names.clipped(names.one_line(line), _LINE)
