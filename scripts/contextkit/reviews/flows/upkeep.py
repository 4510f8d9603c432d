"""Runs after their start: their state, ending one, retrying one agent, and cleaning up.

What agents wrote is never removed, and a live run keeps its verdicts, whoever asks.
"""

from __future__ import annotations

import os

from contextkit.base import files, ledger, names, sessions
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import contracts, runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, start, workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.verdicts import Entry

# Mildest first: a run is as good as its worst verdict.
_ORDER = (verdicts.SKIPPED, "CLEAN", "COMPLETE", "PARTIAL", "NEEDS_ATTENTION", "BLOCKED", "FAILED",
          "ERROR")  # fmt: skip
_COMPLAINTS = 12  # shown to an agent about an earlier attempt
_LONGEST = 240  # characters in one complaint
_HEADING = "## What was wrong with the last attempt"


class Standing(Record):
    """The state of a run: how many agents it asked and how many have left their file.

    `state` is that of `runs.state`; `status` is the worst of its verdicts, or empty before an
    ingest.
    """

    run: str
    process: str
    target: str
    state: str
    started: str
    agents: int
    done: int
    status: str


def standings(layout: Layout, now: int, everything: bool) -> tuple[list[Standing], list[str]]:
    """Return the open and done runs, newest first; with `everything`, the ended ones too.

    The second value has a sentence for each file that is not a run.
    """
    lifetime = names.seconds(layout.limits.verdict_run_lifetime)
    loaded = runs.load_all(layout)
    found = [_standing(layout, run, runs.state(run, now, lifetime)) for run in loaded.documents]
    shown = [one for one in reversed(found) if everything or one.state != "ended"]
    return shown, [str(one) for one in loaded.broken]


def _standing(layout: Layout, run: Run, state: str) -> Standing:
    store = runs.verdict_folder(verdicts.folder(layout), run.id)
    found = verdicts.load_all(layout, store).documents
    entries = [entry for entry in found if entry["agent"] in run.roster]
    return Standing(
        run=run.id,
        process=run.process,
        target=run.target,
        state=state,
        started=run.started_at,
        agents=len(run.roster),
        done=sum(agent_files.is_there(layout.join(run.output_dir), a) for a in run.roster),
        status=max((entry["status"] for entry in entries), key=_severity, default=""),
    )


def _severity(status: str) -> int:
    return _ORDER.index(status) if status in _ORDER else _ORDER.index("NEEDS_ATTENTION")


def end(layout: Layout, identity: str, now: int) -> tuple[Run, list[str]]:
    """End a run that nobody waits for any more; return the run and notes.

    Its files and verdicts stay, and so do its subagents: those still running are named.
    """
    run = runs.load(layout, identity)
    if run.finished_at:
        return run, [f"run {run.id} already ended at {run.finished_at}"]
    run = runs.change(layout, run.id, finished_at=names.iso(now), ended="by hand")
    running = [one for one in workers.find(layout, run).values() if not one.has_ended]
    return run, [
        f"{one.id} still works for {one.agent}: subagent_abort id={one.id}" for one in running
    ]


def retry(layout: Layout, identity: str, agent: str, now: int) -> start.Launch:
    """Ask an agent of a run once more: set its file aside and add what was wrong to its prompt.

    The run continues. Raises ContextError for an agent that is still working or has no errors.
    """
    run = runs.load(layout, identity)
    contract = start.contract(layout, run, agent)  # refuses an agent that nobody asked
    working = workers.find(layout, run).get(agent)
    if working and not working.has_ended:
        raise ContextError(
            f"{agent} is still working: subagent_abort id={working.id} to end it first"
        )
    asked = agent_files.Asked(
        folder=layout.join(run.output_dir), agents=(agent,), run=run.id, mode=run.mode
    )
    reading = next(workers.with_endings(layout, asked, agent_files.read(layout, asked)))
    wrong = _wrong(reading)
    if not wrong:
        raise bad_input(f"agent: nothing is wrong with the file of {agent}: verdict_show opens it")
    path = start.output_path(layout, run, agent)
    for old in dict.fromkeys((reading.path, path, path + ".partial")):
        if os.path.lexists(old):
            agent_files.set_aside(old, path, now)
    prompt = layout.join(workers.prompt_path(run, agent))
    text = _prompt(files.read(prompt), wrong, contract)
    files.write(prompt, text)
    missed = tuple(one for one in run.missed if one != agent)
    runs.change(layout, run.id, missed=missed, finished_at="", ingested_at="", ended="")
    return start.Launch(agent=agent, path=path, prompt=prompt, text=text)


def _prompt(text: str, wrong: list[str], contract: str) -> str:
    """Return an agent's prompt with only the last attempt's errors inserted before its contract."""
    head = text.partition(contract.rstrip())[0].partition(_HEADING)[0].rstrip()
    lines = "\n".join(f"- {line}" for line in wrong)
    return f"{head}\n\n{_HEADING}\n\n{lines}\n\n{contract.strip()}\n"


def _wrong(reading: agent_files.Reading) -> list[str]:
    """Return what is wrong with an agent's file, one line each; empty if it can be read."""
    if reading.validation in ("missing", "partial", "foreign", "error"):
        return [names.one_line(reading.summary)[:_LONGEST]]
    found = [
        names.one_line(f"line {number}: {text}" + (f"; write: {better}" if better else ""))
        for number, text, better in contracts.check(reading.text)
    ]
    more = [f"and {len(found) - _COMPLAINTS} more"] if len(found) > _COMPLAINTS else []
    return [line[:_LONGEST] for line in found[:_COMPLAINTS]] + more


def clean_run(layout: Layout, run: str, now: int) -> list[str]:
    """Remove a run's verdicts and its record. Raises ContextError if the run is live."""
    found = runs.load(layout, run)
    if _is_live(layout, found, now):
        raise ContextError(
            f"run {found.id} is going on: make verdict_wait and verdict_ingest finish it,"
            f" verdict_end run={found.id} ends it"
        )
    flat = verdicts.clean(layout, lambda entry: entry.get("run") != found.id)
    return flat + _remove(layout, found)


def clean(layout: Layout, all_: bool, age: int | None, now: int) -> tuple[list[str], list[str]]:
    """Remove what is older than `age` seconds, everything, or this session's; keep live runs.

    Returns the names of what was removed, and the ids of the live runs.
    """
    session = sessions.find_current(layout)
    oldest = "" if age is None else names.iso(max(0, now - age))
    known = runs.load_all(layout).documents
    live = {run.id for run in known if _is_live(layout, run, now)}

    def stays(when: str, whose: str) -> bool:
        if oldest:
            return when >= oldest
        return not all_ and bool(session) and whose != session

    def keep(entry: Entry) -> bool:
        when, whose = str(entry.get("timestamp", "")), str(entry.get("session_id", session))
        return entry.get("run") in live or stays(when, whose)

    removed = verdicts.clean(layout, keep)
    for run in known:
        if run.id not in live and not stays(run.started_at, run.session_id or session):
            removed += _remove(layout, run)
    return removed, sorted(live)


def _is_live(layout: Layout, run: Run, now: int) -> bool:
    return runs.state(run, now, names.seconds(layout.limits.verdict_run_lifetime)) == "open"


def _remove(layout: Layout, run: Run) -> list[str]:
    """Remove the verdicts stored with a run, and its record; return their names."""
    store = runs.verdict_folder(verdicts.folder(layout), run.id)
    removed = [f"{run.id}/{name}" for name in verdicts.clean(layout, store=store)]
    record = runs.path(layout, run.id)
    for path in (os.path.join(store, ".gitignore"), *runs.parts(layout, run.id)):
        files.discard(path)
    try:
        os.rmdir(store)
    except OSError:
        pass  # not empty, or another process cleaned it
    ledger.note(layout, ledger.REMOVED, f"run:{run.id}")
    return [*removed, layout.shown(record)]
