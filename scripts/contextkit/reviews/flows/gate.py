"""The gate: PASS or FAIL over the reviews of a run, and a reason for each doubt.

It fails closed. An agent passes only with a finished, readable file from this run that has not
changed since its ingest and reports nothing severe; what was reviewed must not have changed either.
Anything not known to be so is a reason to fail, and so is a run without agents.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, ledger, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Collection, Iterable
from contextkit.reviews.documents import runs
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.reader import MOST_LINES
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.reviews.flows import agent_files, history, synthesis, workers
from contextkit.reviews.flows.agent_files import Asked, Reading

_LINE = 160  # characters in a reason
_NAMED = 5  # files named in a reason
_MOST = 40  # reasons printed; `--json` has all
# An agent whose file does not count is asked again.
_AGAIN = ("foreign", "malformed", "error", "unparsed", "contradictory", "attention")
_AWAITED = ("missing", "late", "not_ingested")  # an agent still owes its file, or its ingest
# Why a finished file from this run still does not count.
FLAGS = {
    "unparsed": ("unparsed", "a line of its index could not be read"),
    "verdict_mismatch": ("contradictory", "its stated verdict and its rows disagree"),
    "header_mismatch": ("contradictory", "its header is stricter than its index"),
    "index_incomplete": ("contradictory", "its index is incomplete"),
    "truncated": ("malformed", "it ends with the index: cut off?"),
    "too_long": ("malformed", f"only its first {MOST_LINES:,} lines are read"),
    "unclosed_fence": ("malformed", "a code fence in it is never closed"),
}


class Reason(Record):
    """Why the gate fails; `reason` is one word for programs, `run` that of the agent.

    `again` says whether the agent has to be asked again: waiting for it does not help.
    One of missing, late, foreign, copied, malformed, error, unparsed, severe, contradictory,
    attention, not_ingested, changed, stale, empty.
    """

    reason: str
    text: str
    agent: str = ""
    run: str = ""
    again: bool = False


class Decision(Record):
    """The decision: PASS without reasons, else FAIL. `revision`: current, stale or unknown."""

    reasons: tuple[Reason, ...]
    agents: int
    revision: str
    dismissed: tuple[str, ...]  # each hidden finding: the finding, the reason, who committed it
    uncommitted: tuple[str, ...] = ()  # the same for those that do not count yet


def decide(layout: Layout, asked: Asked, read: Iterable[Reading]) -> Decision:
    """Judge the files of all agents as just read; write nothing.

    For a folder without a run, its files are judged as they are, and the revision is unknown. In a
    recheck, agents that were not asked again are judged by their earlier files.
    """
    run, readings = asked.run, list(read)
    reasons = [] if asked.roster else [Reason(reason="empty", text="no agent reviewed anything")]
    reasons += [Reason(agent=each.agent, reason="foreign", text=each.summary)
                for each in agent_files.uninvited(layout, asked)]  # fmt: skip
    judged, revision = [(asked, reading) for reading in readings], "unknown"
    if run:
        stale = _stale(layout, run)
        reasons += [*stale, *_copies(run, readings)]
        revision = "stale" if stale else "current"
        judged += _not_asked_again(layout, run)
    counted = history.counted(layout, run) if run else []
    dismissals, by = [each for each, _ in counted], {each.identity: who for each, who in counted}
    told: dict[bool, list[str]] = {True: [], False: []}  # by whether the dismissal counts
    for about, reading in judged:
        rows = synthesis.rows_of(reading) if dismissals else []
        hidden = history.hidden(run, rows, dismissals) if run else {}
        for number, dismissal in sorted(hidden.items()):
            row, who = rows[number], by[dismissal.identity]
            end = f"(committed by {who})" if who else "(not committed)"
            what = f"{row.key} {row.severity} {row.title}"
            told[bool(who)].append(names.one_line(f"{what}: {dismissal.reason} {end}"))
        gone = {number for number, dismissal in hidden.items() if by[dismissal.identity]}
        before = "" if about is asked else f", in the run {about.run_id}"
        faults = _of_agent(layout, about, reading, gone)
        reasons += [each.replace(text=each.text + before) for each in faults]
    return Decision(
        reasons=tuple(reasons), agents=len(readings), revision=revision,
        dismissed=tuple(told[True]), uncommitted=tuple(told[False]),
    )  # fmt: skip


def _not_asked_again(layout: Layout, run: Run) -> list[tuple[Asked, Reading]]:
    """The files of agents that earlier runs asked and a recheck did not."""
    files, roster = [], set(run.roster)
    for earlier in reversed(runs.looks(layout, run, whole=False)[:-1]):
        about = agent_files.of_run(layout, earlier)
        others = about.replace(agents=tuple(a for a in earlier.roster if a not in roster))
        files += [(about, reading) for reading in agent_files.read(layout, others)]
        roster |= {*earlier.roster}
    return files


def _copies(run: Run, readings: list[Reading]) -> list[Reason]:
    """A reason for each agent whose file says exactly what another one's says."""
    if not run.asks:
        return []
    first: dict[str, str] = {}
    reasons = []
    for reading in readings:
        text = " ".join(reading.text.split())
        is_one = text and reading.validation not in ("missing", "error")
        other = first.setdefault(text, reading.agent) if is_one else reading.agent
        if other != reading.agent:
            reasons.append(Reason(
                agent=reading.agent, reason="copied", run=run.id, again=True,
                text=f"its file is that of {other}, word for word",
            ))  # fmt: skip
    return reasons


def close(layout: Layout, asked: Asked, decision: Decision, now: int) -> None:
    """Mark the run as finished unless it still awaits an agent that no wait has given up on."""
    run = asked.run
    if run is None:
        return
    ledger.note(layout, ledger.CONSUMED, f"run:{run.id}")
    for agent in asked.roster:
        path = os.path.join(asked.store, verdict_files.encode(agent) + ".json")
        ledger.note(layout, ledger.CONSUMED, addresses.of(layout, path, "verdict"), agent=agent)
    if run.finished_at:
        return
    reasons = decision.reasons
    awaited = {each.agent for each in reasons if each.run == run.id and each.reason in _AWAITED}
    if awaited.issubset({*run.missed, *workers.ended(layout, run)}):
        runs.change(layout, run.id, finished_at=names.iso(now))


def _stale(layout: Layout, run: Run) -> list[Reason]:
    """Why the current content is not what was reviewed; empty if it is."""
    if run.input_sha256 and not runs.is_as_given(layout, run):
        return [Reason(reason="stale", text=f"{run.input} is not what the agents were given")]
    try:
        now = runs.revision_now(layout, run)
    except ContextError as error:
        return [Reason(reason="stale", text=f"what was reviewed cannot be compared: {error}")]
    if now == run.revision:
        return []
    text = f"{run.source or 'the work tree'} is no longer what was reviewed"
    try:
        edited = [] if run.source else list(map(names.one_line, runs.edited(layout, run)))
    except ContextError:
        edited = []
    if edited:
        more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
        text = f"edited since it was reviewed: {', '.join(edited[:_NAMED])}{more}"
    return [Reason(reason="stale", text=text)]


def _of_agent(
    layout: Layout, asked: Asked, reading: Reading, dismissed: Collection[int]
) -> list[Reason]:
    """Why an agent's file does not pass; `dismissed` are findings that do not count."""
    run = asked.run
    entry = verdict_files.load(layout, reading.agent, asked.store) or {}
    if not run and not (entry.get("detail_path") == reading.shown and "sha256" in entry):
        entry = {}  # of the flat store, only a verdict of this very file
    faults = _of_file(reading, run.blocks if run else (), dismissed)
    is_missed = run is not None and reading.agent in run.missed
    if is_missed and reading.validation not in ("missing", "partial", "error"):
        faults.append(("late", "its file came after the wait had ended"))
    if run and not entry:
        faults.append(("not_ingested", "make verdict_ingest comes first"))
    elif entry and reading.validation != "missing":
        if entry.get("sha256", "") != reading.sha256:
            faults.append(("changed", "its file is not what was ingested"))
        elif entry["status"] != reading.status:
            message = f"its verdict says {entry['status']}, its file {reading.status}"
            faults.append(("contradictory", message))
    is_gone = run is not None and (is_missed or "ended" in reading.flags)
    return [
        Reason(agent=reading.agent, reason=word, text=text, run=asked.run_id,
               again=word in _AGAIN or (is_gone and reading.validation in ("missing", "partial")))
        for word, text in faults
    ]  # fmt: skip


def _of_file(
    reading: Reading, blocks: tuple[str, ...], dismissed: Collection[int]
) -> list[tuple[str, str]]:
    """(reason, text) for everything wrong with a file; empty only if it passes."""
    review = reading.review
    if reading.validation != "valid":
        word = {"partial": "late"}.get(reading.validation, reading.validation)
        faults = [(word, reading.summary)]
    elif review.type == "research":
        passes = reading.status in ("COMPLETE", "PARTIAL") and reading.status not in blocks
        return [] if passes else [("attention", f"{reading.status}: {reading.summary}")]
    elif review.validation != "valid":
        faults = [("malformed", "a work report, not a review")]
    else:
        flags = (flag for flag in reading.flags if flag in FLAGS)
        faults = list(dict.fromkeys(_fault(flag, review) for flag in flags))
    severe = []
    counting = [row for n, row in enumerate(review.findings) if n not in dismissed]
    for severity in dict.fromkeys((*SERIOUS, *blocks)):
        titles = [row.title for row in counting if row.severity == severity]
        if titles:
            severe.append(("severe", f"{len(titles)} {severity}: {titles[0]}"))
    severe += faults
    if not (severe or dismissed) and reading.status != "CLEAN":
        severe.append(("attention", f"{reading.status}: {reading.summary}"))
    return severe


def _fault(flag: str, review: Review) -> tuple[str, str]:
    word, text = FLAGS[flag]
    return word, f"{text}: {review.doubts[0]}" if flag == "index_incomplete" else text


def rendered(layout: Layout, decision: Decision, asked: Asked) -> str:
    """`PASS` and what passed, or `FAIL` and one line per reason."""
    reasons = decision.reasons
    gone = f"; {len(decision.dismissed)} dismissed" if decision.dismissed else ""
    hidden = [f"dismissed\t{reason}" for reason in decision.dismissed]
    hidden += [f"does not count\t{reason}" for reason in decision.uncommitted]
    if not reasons:
        before = asked.run.rechecks if asked.run else ""
        remark = "what was reviewed is unchanged"
        if not asked.run:
            remark = "no run: who was asked and which revision was reviewed are unknown"
        head = f"PASS {decision.agents} of {decision.agents} agents; {remark}{gone}"
        return "\n".join([f"{head}; a second look at {before}" if before else head, *hidden])
    lines = [f"FAIL {len(reasons)} reason{'s' * (len(reasons) > 1)}{gone}"]
    for each in reasons[:_MOST]:
        cells = (each.reason, each.agent or "-", each.text)
        lines.append(names.clipped("\t".join(map(names.one_line, cells)), _LINE))
    if len(reasons) > _MOST:
        lines.append(f"… {len(reasons) - _MOST} more: --json has all")
    steps = (f"next: {step}" for step in next_steps(layout, decision, asked))
    return "\n".join([*lines, *hidden, *steps])


def next_steps(layout: Layout, decision: Decision, asked: Asked) -> list[str]:
    """The steps from this FAIL to a PASS, in order: commands, and what only people can do."""
    run, reasons = asked.run, decision.reasons
    if run is None or not reasons:
        return []
    steps = ["commit the dismissals, so that they count"] if decision.uncommitted else []
    for reason in reasons:
        if reason.reason == "foreign" and not reason.run:
            name = os.path.basename(agent_files.agent_file(asked.folder, reason.agent))
            told = f"move {name} out of {run.output_dir}: nobody asked for it"
            steps.append(names.one_line(told))
    for whose in dict.fromkeys(reason.run for reason in reasons if reason.run):
        own = [reason for reason in reasons if reason.run == whose]
        again = dict.fromkeys(reason.agent for reason in own if reason.again)
        kinds = {reason.reason for reason in own}
        steps += [runs.call(layout, "verdict_retry", run=whose, agent=agent) for agent in again]
        if again or kinds & {"missing", "late"}:
            steps.append(runs.call(layout, "verdict_wait", run=whose))
        if again or kinds & {"missing", "late", "not_ingested", "changed"}:
            steps.append(runs.call(layout, "verdict_ingest", run=whose))
    steps += _last_steps(layout, run, {reason.reason for reason in reasons})
    return list(dict.fromkeys(steps))


def _last_steps(layout: Layout, run: Run, kinds: set[str]) -> list[str]:
    """The steps once the agents' files are there."""
    again = runs.call(layout, "verdict_recheck", run=run.id)
    every = runs.load_all(layout).documents
    looks = [other.id for other in every if other.rechecks == run.id and not other.ended]
    if looks:
        return [runs.call(layout, "verdict_gate", run=looks[-1])]
    clean = f"or {runs.call(layout, 'verdict_clean', run=run.id)}, which closes it for good"
    closes = [clean] if every[-1].id != run.id else []
    if "severe" in kinds:
        show = runs.call(layout, "verdict_show", run=run.id)
        return [show, "fix what it shows", again, *closes]
    if "stale" in kinds and run.rechecks:
        return [runs.call(layout, "verdict_recheck", run=run.rechecks)]
    if "stale" in kinds:
        what = {"process": run.process, "target": run.target, "agents": " ".join(run.roster)}
        return [runs.call(layout, "verdict_start", **what, restart="1")]
    return [runs.call(layout, "verdict_gate", run=run.id), *closes]
