"""The folders of review runs: which one a new run gets, and what an earlier one left there.

    <output_dir>/                 the run that is going on, or the last one
    <output_dir>/earlier/<id>/    a run before it, with its verdicts pointing there
    <output_dir>-2/               beside a run that is going on, or files that git tracks

Two targets never share a folder; the same target gets its own back.
"""

from __future__ import annotations

import itertools
import os

from contextkit.base import changes, drafts, files, formats, git, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import agent_review, runs, verdicts
from contextkit.reviews.documents.processes import Process
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files

_EARLIER = "earlier"
_MOST = 1000  # folders of one target
# What runs leave; anything else in the folder is somebody's own and stays.
_NAMES = ("findings.json", "peer-findings.jsonl", "decisions.log", "input", "prompts", "run.json")


def choose(
    layout: Layout, process: Process, target: str, known: list[Run], now: int
) -> tuple[str, list[str]]:
    """The folder for a run, relative to the root, and what to say about it."""
    plain = process.folder(target)
    notes: list[str] = []
    for folder in itertools.islice(files.numbered(plain), _MOST):
        files.inside(layout.root, layout.join(folder), "output_dir")
        here = [run for run in known if run.output_dir.lower() == folder.lower()]
        if "{" in process.output_dir and any(run.target != target for run in here):
            continue
        going_on = [run.id for run in here if not is_over(layout, run, now)]
        if going_on:
            notes.append(f"the run {going_on[-1]} is going on in {folder}")
        elif _is_tracked(layout, folder):
            notes.append(f"{folder} holds files that git tracks")
        else:
            return folder, [f"{note}: this one writes to {folder}" for note in notes]
    raise ContextError(f"{plain}: {_MOST} runs are going on there: end some of them")


def going_on(
    layout: Layout, process: Process, target: str, known: list[Run], now: int
) -> list[Run]:
    """The runs of this process and target that may still be going on, oldest first."""
    same = [run for run in known if (run.process, run.target) == (process.name, target)]
    return [run for run in same if not is_over(layout, run, now)]


def is_over(layout: Layout, run: Run, now: int) -> bool:
    """Whether nobody writes any more: finished, too old, or every agent has left its file."""
    if not runs.is_live(run, now, names.seconds(layout.limits.verdict_run_lifetime)):
        return True
    folder = layout.join(run.output_dir)
    return all(_is_there(agent_files.agent_file(folder, agent), run.id) for agent in run.roster)


def _is_there(path: str, run: str) -> bool:
    if not os.path.isfile(path):
        return False
    text = files.read_bytes(path).decode("utf-8", "replace")
    return bool(text.strip()) and agent_review.parse(text).run in ("", run)


def _is_tracked(layout: Layout, folder: str) -> bool:
    """Whether git tracks anything in a folder: then it is the host's, and nothing moves in it."""
    path = layout.join(folder)
    if layout.repository is None or not os.path.isdir(path):
        return False
    top = changes.repository_of(layout).top
    below = os.path.relpath(path, top)
    if below.split("/")[0] == "..":
        return False
    return bool(git.answer(top, "ls-files", "-z", "--", f":(top,literal){below}"))


def clear(layout: Layout, folder: str, known: list[Run], new: str, now: int) -> None:
    """Make room for the run `new`: all of this may be repeated after a crash.

    What earlier runs left in the folder goes to `earlier/`; flat verdicts of runs that are over
    go to their run's own, so that none is taken for one of the new run.
    """
    over = {run.id for run in known if is_over(layout, run, now)}
    _keep_verdicts(layout, over, {run.id for run in known})
    owners = [run for run in known if run.output_dir.lower() == folder.lower()]
    last = owners[-1].id if owners else f"before-{new}"
    _move(layout.join(folder), layout.join(folder, _EARLIER, last))
    for run in owners:
        _relocate(layout, run, os.path.join(folder, _EARLIER, run.id))


def _move(folder: str, away: str) -> None:
    drafts.sweep_below(folder)
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in there:
        if name in _NAMES or (name[0] != "." and ".md" in name and _is_report(name)):
            files.make_folder(away)
            os.replace(os.path.join(folder, name), os.path.join(away, name))


def _is_report(name: str) -> bool:
    """`x.md`, `x.md.partial`, `x.md.aborted-…`."""
    _, _, rest = name.rpartition(".md")
    return rest == "" or rest[0] == "."


def _relocate(layout: Layout, run: Run, folder: str) -> None:
    """Have a run and its verdicts say where its files are now."""
    store = runs.verdict_folder(verdicts.folder(layout), run.id)
    old = run.output_dir + "/"
    for entry_name in sorted(os.listdir(store)) if os.path.isdir(store) else []:
        path = os.path.join(store, entry_name)
        if not entry_name.endswith(".json") or not os.path.isfile(path):
            continue
        entry = verdicts.parse(files.read_bytes(path), entry_name[:-5])
        detail = str(entry.get("detail_path", ""))
        if "broken" not in entry and detail.startswith(old):
            moved = {**entry, "detail_path": f"{folder}/{detail.removeprefix(old)}"}
            files.write(path, formats.to_json(moved) + "\n")
    moved_input = (
        run.input.replace(old, folder + "/", 1) if run.input.startswith(old) else run.input
    )
    runs.change(layout, run.id, output_dir=folder, input=moved_input)


def _keep_verdicts(layout: Layout, over: set[str], known: set[str]) -> None:
    """Move the flat verdicts of runs that are over, or that nobody knows, into the run's own."""
    store = verdicts.folder(layout)
    for name in sorted(os.listdir(store)) if os.path.isdir(store) else []:
        path = os.path.join(store, name)
        if name[0] == "." or not name.endswith(".json") or not os.path.isfile(path):
            continue
        run = verdicts.parse(files.read_bytes(path), name[:-5]).get("run")
        if not isinstance(run, str) or not run or not (run in over or run not in known):
            continue
        kept = os.path.join(runs.verdict_folder(store, run), name)
        if os.path.lexists(kept):
            os.unlink(path)
        else:
            files.make_folder(os.path.dirname(kept))
            os.replace(path, kept)
