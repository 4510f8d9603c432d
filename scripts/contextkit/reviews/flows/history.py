"""Findings across the runs of one target: which are new, still there, fixed, or dismissed.

A finding is recognized by its identity (target, file, symbol and title, not its line or number);
one that moved or was reworded, by its place and similar words.
"""

from __future__ import annotations

import itertools

from contextkit.base import names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Sequence
from contextkit.reviews.documents import dismissals, runs, vocabulary
from contextkit.reviews.documents.dismissals import Dismissal
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, synthesis
from contextkit.reviews.flows.synthesis import Likeness, MergedFinding, Row, identity


def annotated(
    layout: Layout, run: Run, findings: list[MergedFinding], completed: set[str]
) -> tuple[list[MergedFinding], dict[str, list[dict[str, object]]]]:
    """The findings with what is known across runs, and those that are gone.

    One that is gone is `fixed` only if an agent that had reported it looked again (is among
    `completed`), which a recheck only asks for P0 and P1; otherwise it is `unchecked`.
    """
    findings, earlier = (
        [each.replace(identity=identity(run.target, each.title, each.file)) for each in those]
        for those in (findings, before(layout, run))
    )
    pairs = matches(findings, earlier)
    dismissed = _recognized(run, findings, in_force(layout, run))
    committed = [own for own, by in counted(layout, run) if by] if dismissed else []
    over = hidden(run, findings, committed)
    annotated_findings = [
        finding.replace(
            identity=(earlier[pairs[number]] if number in pairs else finding).identity,
            since="still" if number in pairs else "new",
            dismissed=dismissed[number].reason if number in dismissed else "",
            counts_no_more=number in over,
        )
        for number, finding in enumerate(findings)
    ]
    gone: dict[str, list[dict[str, object]]] = {"fixed": [], "unchecked": []}
    for number, old in enumerate(earlier):
        if number not in pairs.values():
            is_asked = not run.rechecks or old.severity in vocabulary.SERIOUS
            state = "unchecked" if completed.isdisjoint(old.agents) or not is_asked else "fixed"
            gone[state].append({
                "identity": old.identity, "severity": old.severity or "?", "title": old.title,
                "place": old.place, "agents": list(old.agents),
            })  # fmt: skip
    return annotated_findings, gone


def before(layout: Layout, run: Run) -> list[MergedFinding]:
    """The findings of the previous run on the same target; empty without one."""
    for other in reversed(runs.load_all(layout).documents):
        is_earlier = (other.started_at, other.id) < (run.started_at, run.id)
        if is_earlier and (other.process, other.target) == (run.process, run.target):
            readings = _readings(layout, other)
            if any(reading.validation in synthesis.COMPLETED for reading in readings):
                return synthesis.combined(readings)
    return []


def matches(findings: list[MergedFinding], earlier: list[MergedFinding]) -> dict[int, int]:
    """Map the numbers of findings to those in `earlier`, by identity, or by place and words."""
    pairs: dict[int, int] = {}
    for number, finding in enumerate(findings):
        same = (n for n, old in enumerate(earlier) if old.identity == finding.identity)
        if free := [old for old in same if old not in pairs.values()]:
            pairs[number] = free[0]
    new, before = ([finding.rows[0] for finding in those] for those in (findings, earlier))
    for number, old in _alike(new, before):
        if number not in pairs and old not in pairs.values():
            pairs[number] = old
    return pairs


def _alike(
    rows: Sequence[Row], earlier: Sequence[Row], at_one_place: bool = False
) -> list[tuple[int, int]]:
    """Pairs of similar findings, by number, best first; optionally only at one place."""
    alike = Likeness([*rows, *earlier])
    pairs = []
    for number, old in itertools.product(range(len(rows)), range(len(earlier))):
        likeness, are_one = alike.compare(number, len(rows) + old)
        if are_one if at_one_place else likeness >= synthesis.ALIKE:
            pairs.append((likeness, number, old))
    return [(number, old) for _, number, old in sorted(pairs, reverse=True)]


def dismiss(
    layout: Layout, run_id: str, finding: str, reason: str, by: str, now: int
) -> tuple[str, Dismissal]:
    """Dismiss the finding `AGENT/ID` of a run; the document's path and what was written.

    Raises ContextError for an unknown finding, naming the known ones.
    """
    if not names.one_line(reason):
        raise bad_input("reason: say in one line why this is not a finding")
    run = runs.load(layout, run_id)
    rows = [row for reading in _readings(layout, run) for row in synthesis.rows_of(reading)]
    wanted = finding.upper()
    same = [row for row in rows if wanted in (row.key.upper(), row.key.partition("/")[2].upper())]
    if len(same) != 1:
        there = ", ".join(row.key for row in rows)
        problem = "was found by several agents" if same else "does not exist"
        mend = f"give one of {there[:400]}" if there else f"the run {run.id} has no findings"
        raise ContextError(f"finding: {finding!r} {problem}: {mend}")
    row = same[0]
    file, line, quoted = dismissals.quote(layout, run, row.file, row.line)
    made = Dismissal(
        identity=identity(run.target, row.title, row.file), agent=row.agent,
        id=row.key.partition("/")[2], severity=row.severity, title=row.title,
        reason=names.one_line(reason),
        by=names.one_line(by), at=names.iso(now), run=run.id, file=file, line=line, quoted=quoted,
    )  # fmt: skip
    return dismissals.add(layout, run, made), made


def open_findings(layout: Layout, run: Run) -> dict[str, list[str]]:
    """The P0 and P1 of a run that no dismissal in force hides, by agent: `P0-1: P0 title`."""
    committed = [dismissal for dismissal, by in counted(layout, run) if by]
    by_agent: dict[str, list[str]] = {}
    for reading in _readings(layout, run):
        rows = synthesis.rows_of(reading)
        gone = hidden(run, rows, committed)
        for number, row in enumerate(rows):
            if row.severity in vocabulary.SERIOUS and number not in gone:
                place = f" ({row.place})" if row.place else ""
                line = names.one_line(f"{row.id}: {row.severity} {row.title}{place}")
                by_agent.setdefault(reading.agent, []).append(line)
    return by_agent


def dismissed(layout: Layout, run: Run | None, rows: Sequence[Row]) -> dict[str, str]:
    """Map the keys of the dismissed findings among `rows` to the reason and who decided it."""
    gone = hidden(run, rows, in_force(layout, run)) if run else {}
    return {rows[n].key: names.one_line(f"dismissed{own.by and f' by {own.by}'}: {own.reason}")
            for n, own in gone.items()}  # fmt: skip


def hidden(run: Run, rows: Sequence[Row], active: list[Dismissal]) -> dict[int, Dismissal]:
    """Map the dismissed rows to their dismissals; a P0 needs one that says who decided it."""
    recognized = _recognized(run, rows, active).items()
    return {n: own for n, own in recognized if rows[n].severity != "P0" or own.by}


def _recognized(run: Run, rows: Sequence[Row], active: list[Dismissal]) -> dict[int, Dismissal]:
    """Map the numbers of dismissed rows to their dismissals, each once.

    They match by identity, or by the same place and similar words. A reworded finding that is
    stricter than the dismissed one is a different one.
    """
    if not active:
        return {}
    by_identity = {dismissal.identity: dismissal for dismissal in active}
    own = [identity(run.target, row.title, row.file) for row in rows]
    recognized = {n: by_identity[name] for n, name in enumerate(own) if name in by_identity}
    left = [dismissal for dismissal in active if dismissal.identity not in own]
    new = [row.replace(section="", text="") for row in rows]
    olds = [Row(title=old.title, file=old.file, line=old.line) for old in left]
    for number, old in _alike(new, olds, at_one_place=True):
        dismissal, severity = left[old], rows[number].severity
        strictest = vocabulary.strictest(severity, dismissal.severity)
        is_milder = severity and strictest == dismissal.severity
        is_milder = is_milder and (severity == "IMP") == (dismissal.severity == "IMP")
        if number not in recognized and dismissal not in recognized.values() and is_milder:
            recognized[number] = dismissal
    return recognized


def in_force(layout: Layout, run: Run) -> list[Dismissal]:
    """The dismissals for a run's target whose lines have not changed."""
    return [own for own in dismissals.load(layout, run) if dismissals.holds(layout, run, own)]


def counted(layout: Layout, run: Run) -> list[tuple[Dismissal, str]]:
    """The dismissals in force, each with who committed it; '' while it is not committed."""
    active = in_force(layout, run)
    there = dismissals.committed(layout, run) if active else {}
    pairs = ((own, there.get(own.identity, (None, ""))) for own in active)
    return [(own, (by or "git") if own == committed else "") for own, (committed, by) in pairs]


def _readings(layout: Layout, run: Run) -> list[agent_files.Reading]:
    return list(agent_files.read(layout, agent_files.of_run(layout, run)))
