"""The one notice of a review run: a command of the user's, when the run is done or needs somebody.

CONTEXT_RUN         its id
CONTEXT_RUN_STATE   done, or attention
standard input      a line an agent, as verdict_table prints it
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, workers


def tell(layout: Layout, identity: str, now: int) -> bool:
    """Run the command of a run if it is time and nobody did yet; whether it was run now."""
    run = runs.load(layout, identity)
    if not run.notify or run.notified_at:
        return False
    state = state_of(layout, run)
    if not state:
        return False
    with files.locked(layout.lock(runs.path(layout, run.id) + ".notice")):
        if runs.load(layout, run.id).notified_at:
            return False
        runs.change(layout, run.id, notified_at=names.iso(now))
    _start(layout, run, state)
    return True


def state_of(layout: Layout, run: Run) -> str:
    """`done` when every agent has left its file, `attention` when one never will; else empty."""
    waiting = [
        agent
        for agent in run.roster
        if not agent_files.is_there(layout.join(run.output_dir), agent)
    ]
    if not waiting:
        return "done"
    gone = workers.ended(layout, run)
    return "attention" if any(a in gone or a in run.missed for a in waiting) else ""


def _start(layout: Layout, run: Run, state: str) -> None:
    """Start the command and go on; what it prints is kept beside the run."""
    store = runs.verdict_folder(verdicts.folder(layout), run.id)
    lines = verdicts.table(verdicts.load_all(layout, store).documents) or f"{run.id}: {state}"
    record = runs.path(layout, run.id).removesuffix(".json")
    said = files.write(record + ".notice", lines + "\n", derived=True)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, said, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, record + ".notify.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND,
         0o666),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]  # fmt: skip
    env = {**os.environ, "CONTEXT_ROOT": layout.root, "CONTEXT_RUN": run.id,
           "CONTEXT_RUN_STATE": state}  # fmt: skip
    os.posix_spawn("/bin/sh", ["sh", "-c", run.notify], env, file_actions=actions, setsid=True)
