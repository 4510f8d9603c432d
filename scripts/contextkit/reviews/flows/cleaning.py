"""Cleaning: which verdicts go, in the flat store and with their runs. What agents wrote stays.

A run that is going on keeps its verdicts, whoever asks.
"""

from __future__ import annotations

import os

from contextkit.base import files, ledger, names, sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs, verdicts
from contextkit.reviews.documents.runs import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.verdicts import Entry


def clean_run(layout: Layout, run: str, now: int) -> list[str]:
    """Remove a run's verdicts and its record. Raises ContextError for one that is going on."""
    found = runs.load(layout, run)
    if _is_live(layout, found, now):
        raise ContextError(
            f"run {found.id} is going on: make verdict_wait and verdict_ingest finish it,"
            f" verdict_end run={found.id} ends it"
        )
    flat = verdicts.clean(layout, lambda entry: entry.get("run") != found.id)
    return flat + _remove(layout, found)


def clean(layout: Layout, all_: bool, age: int | None, now: int) -> tuple[list[str], list[str]]:
    """Remove what is older than `age` seconds, all, or this session's; and the live runs kept.

    Returns the names of what was removed, and the ids of runs that are going on.
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
    """Remove the verdicts that are kept with a run, and its record; their names."""
    store = runs.verdict_folder(verdicts.folder(layout), run.id)
    removed = [f"{run.id}/{name}" for name in verdicts.clean(layout, store=store)]
    record = runs.path(layout, run.id)
    for path in (os.path.join(store, ".gitignore"), *runs.parts(layout, run.id)):
        files.discard(path)
    try:
        os.rmdir(store)
    except OSError:
        pass  # not empty, or somebody else cleaned it
    ledger.note(layout, ledger.REMOVED, f"run:{run.id}")
    return [*removed, layout.shown(record)]
