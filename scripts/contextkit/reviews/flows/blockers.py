"""Open reviews: what needs attention, of the current verdicts and of earlier runs of this branch.

The flat store has the last verdict of each agent; a start moves those of runs that are over to the
runs' own folders. What a verdict there left open stays open until

- a later run of the same review, or one that looks at it again, has a verdict of the same agent:
  one that passes, or has serious findings of its own, which are then the open ones
- its findings are dismissed, and the dismissals are committed
- `verdict_clean run=` removes it

The same review is one process and target on one branch, compared with the same base. What cannot be
read is open. `.contextkit/open-reviews` is a cache of the open ones: as long as no folder of a run
has changed, a look costs a listing of them, however many runs are closed.
"""

from __future__ import annotations

import os
import time

from contextkit.base import files, git, names, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.runs import Run

_CACHE = "open-reviews"
_ANY = "*"  # in place of the branch of a run whose record cannot be read
_SETTLED = 1  # seconds: a folder that changed before can change no more unnoticed
_MOST_P0, _OF_P0 = 3, 120  # worst findings of a verdict to quote, and characters of each


def still_open(layout: Layout) -> list[Entry]:
    """The verdicts that need attention, worst first; those of an earlier run have `left_by`."""
    current = verdicts.load_all(layout).documents
    asking = verdicts.needs_attention(current) + _left_open(layout, current)
    return verdicts.worst_first(
        [each for each in asking if not (_is_dismissed(layout, each) or never_came(layout, each))]
    )


def lines(layout: Layout) -> tuple[str, ...]:
    """A line for each open review that blocks, the worst first, with its open P0 in words."""
    if not os.path.isdir(layout.verdicts):
        return ()
    try:
        told: set[object] = set()  # the earlier runs named so far
        return tuple(_line(layout, each, told) for each in verdicts.blocking(still_open(layout)))
    except (ContextError, OSError) as error:
        return (names.one_line(f"reviews ERROR: cannot be read: {error}"),)


def reviewer(line: str) -> str:
    """The reviewer in a line such as `fd-safety NEEDS_ATTENTION: …`; '' in any other."""
    agent, _, rest = line.partition(" ")
    status, colon, _ = rest.partition(": ")
    return agent if colon and status in verdicts.STATUSES else ""


def _left_open(layout: Layout, current: list[Entry]) -> list[Entry]:
    """The open verdicts of earlier runs of this branch, without those that are current."""
    earlier = []
    here = {_ANY, git.head(layout.repository).branch}
    there = {(entry["agent"], entry.get("run")) for entry in current}
    for branch, run, name in _of_runs(layout):
        if branch in here:
            path = os.path.join(layout.verdicts, "runs", run, name)
            no_folder = verdicts.unreadable(run, "of a run cannot be read")
            entry = verdicts.load_file(path) if name else no_folder
            if (entry["agent"], run) not in there:
                earlier.append({**entry, "run": run, "left_by": run})
    return earlier


def _of_runs(layout: Layout) -> list[tuple[str, ...]]:
    """(branch, run, file name) of each open verdict in the folders of all runs.

    The name is empty for a folder that cannot be read.
    """
    place = os.path.join(layout.verdicts, "runs")
    ids = [name for name in verdicts.listed(layout, place) if name[0] != "."]
    times = [stores.modified(os.path.join(place, run)) for run in ids]
    state = " ".join(f"{run}:{at}" for run, at in zip(ids, times, strict=True))
    cache = os.path.join(layout.state, _CACHE)
    kept, *rows = files.text_of(cache).split("\n")
    if kept == state:
        return [tuple(line.split("\t")) for line in rows if line]
    still = _judged(layout, ids)
    told = list(map("\t".join, still))
    is_settled = time.time() - max(times, default=0) > _SETTLED
    if ids and is_settled and "".join(told).replace("\t", "").isprintable():
        try:
            files.write(cache, "\n".join([state, *told]), derived=True)
        except (ContextError, OSError):
            pass  # a store that cannot be written is read anew each time
    return still


def _judged(layout: Layout, ids: list[str]) -> list[tuple[str, ...]]:
    """What is open after all runs, in their order: (branch, run, file name)."""
    scopes: dict[str, tuple[str, ...]] = {}  # of each run, that of the run it looks at again
    still: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for run_id in ids:
        run = _record(layout, run_id)
        own = (run.branch, run.process, run.target, run.against) if run else (_ANY, run_id)
        scopes[run_id] = scope = scopes.get(run.rechecks, own) if run else own
        store = os.path.join(layout.verdicts, "runs", run_id)
        try:
            loaded = verdicts.load_all(layout, store)
        except (ContextError, OSError):
            still[scope] = [(_ANY, run_id, "")]
            continue
        for path, entry in loaded:
            key = (*scope, entry["agent"])
            if not verdicts.needs_attention([entry]):
                passes = entry["status"] != verdicts.SKIPPED
                still[key] = [] if passes else still.get(key, [])
            elif verdicts.blocking([entry]):
                left = [] if entry.get("findings") else still.get(key, [])
                still[key] = [*left, (scope[0], run_id, os.path.basename(path))]
    return [each for those in still.values() for each in those]


def _is_dismissed(layout: Layout, entry: Entry) -> bool:
    """Whether dismissals that count are about all that a verdict needs attention for."""
    run = _record(layout, entry.get("run"))
    if run is None or not entry.get("findings"):
        return False
    from contextkit.reviews.documents import dismissals

    if not os.path.lexists(dismissals.path(layout, run)):
        return False
    from contextkit.reviews.flows import gate

    is_odd = any(flag in str(entry.get("flags")) for flag in gate.FLAGS)
    return not is_odd and _open_findings(layout, run, entry["agent"]) == []


def never_came(layout: Layout, entry: Entry) -> bool:
    """Whether a verdict only says that an agent left no file in a run that the user has ended."""
    is_missing = entry["status"] == "ERROR" and "missing" in str(entry.get("flags"))
    run = _record(layout, entry.get("run")) if is_missing else None
    return bool(run and run.ended)


def _open_findings(layout: Layout, run: Run, agent: str) -> list[str] | None:
    """The open P0 and P1 of an agent; None if they cannot be told."""
    from contextkit.reviews.flows import history

    try:
        return history.open_findings(layout, run).get(agent, [])
    except (ContextError, OSError):
        return None


def _record(layout: Layout, run: object) -> Run | None:
    """The run with exactly this id; None if there is none that can be read."""
    if not isinstance(run, str):
        return None
    from contextkit.reviews.documents import runs

    try:
        return runs.parse(files.read(runs.path(layout, run)))
    except ContextError:
        return None


def _line(layout: Layout, entry: Entry, told: set[object]) -> str:
    """`fd-safety NEEDS_ATTENTION: 1 P0: No lock`, its run if it is an earlier one, and its file.

    The first line about a run has the command for it; the run is added to those `told`.
    """
    parts = [f"{entry['agent']} {entry['status']}: {entry['summary']}"]
    if run := entry.get("left_by"):
        from contextkit.reviews.documents import runs

        what = "verdict_clean" if "broken" in entry else "verdict_gate"
        call = f"an earlier run: {runs.call(layout, what, run=run)}"
        parts.append(f"(run {run})" if run in told else f"({call})")
        told.add(run)
    if path := verdicts.report(layout, entry):
        parts.append(f"({path})")
    return names.one_line(" ".join(parts)) + _worst_findings(layout, entry)


def _worst_findings(layout: Layout, entry: Entry) -> str:
    """The place of the P0 that the verdict's summary names, then the other P0 in words."""
    run = _record(layout, entry.get("run")) if "P0" in entry["summary"] else None
    if run is None:
        return ""
    still = _open_findings(layout, run, entry["agent"]) or ()
    told = entry["summary"].partition(": ")[2].rstrip("…")
    words = ""
    worst = [row.partition(": P0 ")[2] for row in still if ": P0 " in row]
    for text in worst[:_MOST_P0]:
        title, _, place = text.removesuffix(")").rpartition(" (")
        if told and text.startswith(told):
            words, told = words if not title or place in told else f", {place}{words}", ""
        else:
            clause = names.clipped_at_space(title or text, _OF_P0)
            words += f"; P0 {clause}{f' ({place})' * bool(title and place not in clause)}"
    left = len(worst) - _MOST_P0
    return names.one_line(f"{words}; and {left} more P0" if left > 0 else words)
