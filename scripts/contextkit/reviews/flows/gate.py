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
from contextkit.reviews.documents.reader import MOST_LINES
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.reviews.flows import agent_files, drill_down, history, workers
from contextkit.reviews.flows.agent_files import Asked, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.dismissals import Dismissal

_LINE = 160  # characters in a reason
_NAMED = 5  # files named in a reason
_MOST = 40  # reasons printed; `--json` has all
# An agent whose file says nothing that counts is asked again.
_AGAIN = ("foreign", "copied", "malformed", "error", "unparsed", "contradictory", "attention")
_AWAITED = ("missing", "late", "not_ingested")
# Why a finished file from this run still says nothing that counts.
_FLAGS = {
    "unparsed": ("unparsed", "a line of its index could not be read"),
    "verdict_mismatch": ("contradictory", "what it states and what its rows say differ"),
    "header_mismatch": ("contradictory", "its header is stricter than its index"),
    "index_incomplete": ("contradictory", "its sections hold a P0 or P1 that its index lacks"),
    "truncated": ("malformed", "it ends with the index: cut off?"),
    "too_long": ("malformed", f"only its first {MOST_LINES:,} lines are read"),
    "unclosed_fence": ("malformed", "a code fence in it is never closed"),
}


class Reason(Record):
    """Why the gate fails; `reason` is one word for programs.

    One of missing, late, foreign, copied, malformed, error, unparsed, severe, contradictory,
    attention, not_ingested, changed, stale, empty.
    """

    reason: str
    text: str
    agent: str = ""


class Decision(Record):
    """The decision: PASS without reasons, else FAIL. `revision`: current, stale or unknown."""

    reasons: tuple[Reason, ...]
    agents: int
    revision: str
    dismissed: tuple[str, ...]  # each finding that a dismissal hides: what, why, who committed it
    uncommitted: tuple[str, ...] = ()  # the same of those that do not count yet

    @property
    def awaited(self) -> set[str]:
        """Return the agents that still owe something: a file, the end of one, or its ingest."""
        return {reason.agent for reason in self.reasons if reason.reason in _AWAITED}


def decide(layout: Layout, asked: Asked, read: Iterable[Reading]) -> Decision:
    """Judge the files of all agents as just read; write nothing.

    For a folder without a run, nobody knows who was asked or what was reviewed: its files are
    judged as they are, and the revision is unknown.
    """
    run = asked.run
    readings = list(read)
    reasons = of_run(asked, agent_files.uninvited(layout, asked))
    revision = "unknown"
    by: dict[str, str] = {}  # who committed a dismissal, or ''
    dismissals: list[Dismissal] = []
    if run:
        stale = _stale(layout, run)
        reasons += [*stale, *_copies(run, readings)]
        revision = "stale" if stale else "current"
        for dismissal, who in history.counted(layout, run):
            dismissals.append(dismissal)
            by[dismissal.identity] = who
    dismissed: list[str] = []
    waiting: list[str] = []
    for reading in readings:
        entry = _entry(layout, asked, reading)
        missed = run is not None and reading.agent in run.missed
        rows = drill_down.rows_of(reading) if dismissals else []
        hidden = history.hidden(run, rows, dismissals) if run else {}
        gone = {number for number, dismissal in hidden.items() if by[dismissal.identity]}
        for number, dismissal in sorted(hidden.items()):
            row, who = reading.review.findings[number], by[dismissal.identity]
            end = f"(committed by {who})" if who else "(not committed)"
            what = f"{reading.agent}/{row.id} {row.severity} {row.title}"
            line = names.one_line(f"{what}: {dismissal.reason} {end}")
            (dismissed if number in gone else waiting).append(line)
        reasons += of_agent(reading, entry, asked, missed, run.blocks if run else (), gone)
    return Decision(
        reasons=tuple(reasons), agents=len(readings), revision=revision,
        dismissed=tuple(dismissed), uncommitted=tuple(waiting),
    )  # fmt: skip


def _copies(run: runs.Run, readings: list[Reading]) -> list[Reason]:
    """Return a reason for each agent whose file says exactly what another one's says."""
    if not run.asks:
        return []
    first: dict[str, str] = {}
    reasons = []
    for reading in readings:
        text = reading.text.strip()
        if not text or reading.validation in ("missing", "error"):
            continue
        other = first.setdefault(text, reading.agent)
        if other != reading.agent:
            message = f"its file is that of {other}, word for word"
            reasons.append(Reason(agent=reading.agent, reason="copied", text=message))
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
    if decision.awaited.issubset({*run.missed, *workers.ended(layout, run)}):
        runs.change(layout, run.id, finished_at=names.iso(now))


def _stale(layout: Layout, run: runs.Run) -> list[Reason]:
    """Return why what was reviewed is not what is there now, if it is not."""
    try:
        now = runs.revision_now(layout, run)
    except ContextError as error:
        return [Reason(reason="stale", text=f"what was reviewed cannot be compared: {error}")]
    if now == run.revision:
        return []
    text = f"{run.source or 'the work tree'} is no longer what was reviewed"
    try:
        edited = [] if run.source else runs.edited(layout, run)
    except ContextError:
        edited = []
    if paths := list(map(names.one_line, edited)):
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        text = f"edited since it was reviewed: {', '.join(paths[:_NAMED])}{more}"
    return [Reason(reason="stale", text=text)]


def _entry(layout: Layout, asked: Asked, reading: Reading) -> verdict_files.Entry | None:
    """Return the ingested verdict; from the flat store, only one for this very file."""
    entry = verdict_files.load(layout, reading.agent, asked.store) or {}
    same = entry.get("detail_path") == reading.shown and "sha256" in entry
    return entry if entry and (same or asked.run) else None


def of_agent(
    reading: Reading,
    entry: verdict_files.Entry | None,
    asked: Asked,
    is_late: bool,
    blocks: tuple[str, ...],
    dismissed: Collection[int],
) -> list[Reason]:
    """Return why this agent's file does not pass; `entry` is its ingested verdict.

    `blocks` are severities that fail besides P0 and P1, which always do; for research, statuses.
    `dismissed` are the numbers of findings that no longer count.
    """
    faults = _of_file(reading, blocks, dismissed)
    if is_late and reading.validation not in ("missing", "partial", "error"):
        faults.append(("late", "its file came after the wait had ended"))
    if entry is None and asked.run:
        faults.append(("not_ingested", "make verdict_ingest comes first"))
    elif entry is not None and reading.validation != "missing":
        if entry.get("sha256", "") != reading.sha256:
            faults.append(("changed", "its file is not what was ingested"))
        elif entry["status"] != reading.status:
            message = f"its verdict says {entry['status']}, its file {reading.status}"
            faults.append(("contradictory", message))
    return [Reason(agent=reading.agent, reason=word, text=text) for word, text in faults]


def _of_file(
    reading: Reading, blocks: tuple[str, ...], dismissed: Collection[int]
) -> list[tuple[str, str]]:
    """Return (reason, text) for everything wrong with a file; empty only if it passes."""
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
        faults = list(dict.fromkeys(_FLAGS[flag] for flag in reading.flags if flag in _FLAGS))
    severe = []
    for severity in dict.fromkeys((*SERIOUS, *blocks)):
        titles = [
            row.title
            for number, row in enumerate(review.findings)
            if row.severity == severity and number not in dismissed
        ]
        if titles:
            severe.append(("severe", f"{len(titles)} {severity}: {titles[0]}"))
    severe += faults
    if not (severe or dismissed) and reading.status != "CLEAN":
        severe.append(("attention", f"{reading.status}: {reading.summary}"))
    return severe


def of_run(asked: Asked, uninvited: list[Reading]) -> list[Reason]:
    """Return what is wrong with the run as a whole: nobody was asked, or others wrote into it."""
    empty = [] if asked.roster else [Reason(reason="empty", text="no agent reviewed anything")]
    return empty + [
        Reason(agent=reading.agent, reason="foreign", text=reading.summary) for reading in uninvited
    ]


def rendered(decision: Decision, asked: Asked) -> str:
    """Return `PASS` and what passed, or `FAIL` and one line per reason."""
    reasons = decision.reasons
    gone = f"; {len(decision.dismissed)} dismissed" if decision.dismissed else ""
    hidden = [f"dismissed\t{reason}" for reason in decision.dismissed]
    hidden += [f"does not count\t{reason}" for reason in decision.uncommitted]
    if not reasons:
        remark = "what was reviewed is unchanged"
        if not asked.run:
            remark = "no run: who was asked and which revision was reviewed are unknown"
        head = f"PASS {decision.agents} of {decision.agents} agents; {remark}{gone}"
        if asked.run and asked.run.rechecks:
            head += f"; a second look at {asked.run.rechecks}"
        return "\n".join([head, *hidden])
    lines = [f"FAIL {len(reasons)} reason{'s' * (len(reasons) > 1)}{gone}"]
    for reason in reasons[:_MOST]:
        cells = (reason.reason, reason.agent or "-", reason.text)
        row = "\t".join(map(names.one_line, cells))
        lines.append(names.clipped(row, _LINE))
    if len(reasons) > _MOST:
        lines.append(f"… {len(reasons) - _MOST} more: --json has all")
    return "\n".join([*lines, *hidden, *(f"next: {step}" for step in next_steps(decision, asked))])


def next_steps(decision: Decision, asked: Asked) -> list[str]:
    """Return the commands that lead from this FAIL to a PASS, in order."""
    run = asked.run
    if run is None or not decision.reasons:
        return []
    kinds = {reason.reason for reason in decision.reasons}
    which = f"run={run.id}"
    again = dict.fromkeys(reason.agent for reason in decision.reasons if reason.reason in _AGAIN)
    start = f"make verdict_start process={run.process} target='{run.target}' restart=1"
    steps = [f"make verdict_retry {which} agent='{agent}'" for agent in again if agent]
    if "late" in kinds or (steps and "severe" not in kinds):
        steps.append(f"make verdict_wait {which}")
    if "missing" in kinds:
        steps.insert(0, f"make verdict_wait {which}")
    if kinds & {"not_ingested", "changed"} or steps:
        steps.append(f"make verdict_ingest {which}")
    if "severe" in kinds:
        steps.append(
            f"make verdict_show {which}, fix what it shows, then make verdict_recheck {which}"
        )
    elif "stale" in kinds:
        steps.append(start)
    else:
        steps.append(f"make verdict_gate {which}")
    if decision.uncommitted:
        steps.insert(0, "commit the dismissals, so that they count")
    return list(dict.fromkeys(steps))
