"""The start of a review run: a folder of its own, what is reviewed, and a prompt for each agent.

    process + target  ->  folder  ->  input and revision  ->  prompts  ->  the run
    target= as typed  ->  identify: kind and target  ->  take_up: Subject

    <output_dir>/                 the current run, or the last one
    <output_dir>/earlier/<id>/    an earlier run, with its verdicts pointing there
    <output_dir>-2/               next to a live run, or to files that git tracks

One start at a time. Everything is computed first; then what an earlier run left in the folder is
moved to `earlier/<its id>/`, but never while that run may still be live. The run's record comes
last: a start that is killed leaves a folder that the next one takes over. Two targets never share a
folder; the same target gets its own folder back. `retry` asks one agent of a run again.
"""

from __future__ import annotations

import itertools
import os
import time

from contextkit.base import changes, files, formats, git, names, sessions, shelf, stores
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any
from contextkit.reviews.documents import (
    agent_review,
    complaints,
    contracts,
    processes,
    runs,
    verdicts,
)
from contextkit.reviews.documents.processes import Process
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, blockers, history, workers
from contextkit.subagents.documents import registry

_EARLIER, _DIFF = "earlier", "changes.diff"
_MOST = 1000  # folders for one target
# What runs leave; anything else in the folder belongs to the user and stays.
_NAMES = ("findings.json", "peer-findings.jsonl", "decisions.log", "input", "prompts", "run.json")
_HEADING = "## What was wrong with the last attempt"


class Subject(Record):
    """The reviewed content: the bytes that agents read, their name, and fields of the run.

    For a diff, `listing` serves to find the files edited since.
    """

    name: str
    data: bytes
    revision: str
    files: int = 0
    base: str = ""
    against: str = ""
    source: str = ""
    listing: bytes = b""
    small: bool = False


def identify(layout: Layout, process: Process, typed: str) -> tuple[str, str]:
    """The kind of input and the target as stored: for a document, its path from the root."""
    target = typed.strip() or process.default_target
    if process.input == "document" and target:
        path = layout.typed(target, "target")
        if not os.path.isfile(path):
            asked = "name a document, or none for the diff"
            raise bad_input(f"target: {target!r} is not a file: {asked}")
        return "document", layout.shown(path)
    if process.input != "question":
        return "diff", target or "diff"
    if not target:
        raise bad_input("target: write the question")
    return "question", target


def take_up(
    layout: Layout, process: Process, kind: str, target: str, base: str, folder: str
) -> Subject:
    """Read what is reviewed, a diff against `base`. Raises ContextError if nothing differs."""
    if base and kind != "diff":
        remark(f"base={base[:60]}: a {kind} is not compared with anything: left out")
    if kind == "diff":
        made = changes.compare(layout, base, (layout.join(folder),))
        few = made.lines < process.small_lines and len(made.changes) <= process.small_files
        binary = any(change.binary for change in made.changes)
        return Subject(
            name=_DIFF, data=made.diff, revision=made.revision, files=len(made.changes),
            base=made.base.commit, against=made.base.name, listing=made.listing,
            small=few and not binary,
        )  # fmt: skip
    source = target if kind == "document" else ""
    data = files.read_bytes(layout.join(source)) if source else (target + "\n").encode()
    return Subject(
        name=os.path.basename(source) or "question.md", data=data, source=source,
        revision=changes.data_revision(data), files=int(bool(source)),
    )  # fmt: skip


def since(layout: Layout, run: Run) -> Subject:
    """The changes since a run began. Raises ContextError if there are none, or they are lost.

    The input of a second look is a diff against what the run before had. That of a document is
    compared with the first one.
    """
    looks = runs.looks(layout, run)
    for look in looks:
        if not runs.is_as_given(layout, look):
            raise ContextError(
                f"{look.input}: what was reviewed is gone or edited: start a new run"
            )
    if run.source:
        import difflib

        now = files.read_bytes(layout.join(run.source))
        old, new = (data.decode("utf-8", "replace").splitlines()
                    for data in (files.read_bytes(layout.join(looks[0].input)), now))  # fmt: skip
        sides = f"a/{run.source}", f"b/{run.source}"
        data = "\n".join([*difflib.unified_diff(old, new, *sides, lineterm=""), ""]).encode()
        subject = Subject(name=_DIFF, data=data, revision=changes.data_revision(now), files=1,
                          source=run.source)  # fmt: skip
    else:
        with changes.work_tree(layout, (layout.join(run.output_dir),)) as tree:
            data, count = tree.since(run.base, [layout.join(look.input) for look in looks])
            subject = Subject(name=_DIFF, data=data, revision=tree.revision(), files=count,
                              base=run.base, against=run.against,
                              listing=tree.listing(run.base))  # fmt: skip
    if not data.strip():
        raise ContextError(f"nothing has changed since the run {run.id}: fix its findings first")
    return subject


def start(
    layout: Layout, now: int, process: str, target: str = "", agents: tuple[str, ...] = (),
    base: str = "", restart: bool = False, notify: str = "",
) -> Run:  # fmt: skip
    """Start a run. Raises ContextError if that is impossible, and then nothing was written.

    `restart` ends the live runs of this process and target. `notify` is a command line, run once
    when the run is done or needs attention.
    """
    named = processes.load(layout, process)
    _check_agents(agents or named.agents)
    kind, stored = identify(layout, named, target)
    with files.locked(layout.lock(layout.store("run"))):
        begun = _Start(layout, named, stored, now)
        if restart:
            begun.restart()
        folder = begun.choose()
        subject = take_up(layout, named, kind, stored, base, folder)
        run = begun.write(begun.run(subject, agents, folder), subject)
        if notify.strip():
            files.write(runs.path(layout, run.id, ".notify"), notify.strip())
    if run.small:
        remark(f"a small change: {', '.join(run.roster)} alone; agents= asks others")
    here = layout.repository if kind == "diff" and target else None
    if here and git.head(here).branch != target and git.commit_of(here, f"refs/heads/{target}"):
        remark(f"the work tree is reviewed; {target} is not checked out")
    return run


def recheck(layout: Layout, run_id: str, now: int) -> Run:
    """Ask the agents with an open P0 or P1 again, about these and the changes since.

    Raises ContextError if nothing is open or has changed.
    """
    before = runs.load(layout, run_id)
    if before.mode != "review":
        raise bad_input(f"run: {before.id} is {before.mode}: only reviews are rechecked")
    still = history.open_findings(layout, before)
    if not still:
        passes = runs.call(layout, "verdict_gate", run=before.id)
        raise ContextError(f"no P0 or P1 of {before.id} is open: {passes}")
    with files.locked(layout.lock(layout.store("run"))):
        begun = _Start(layout, processes.load(layout, before.process), before.target, now)
        subject = since(layout, before)
        run = begun.run(subject, tuple(still), begun.choose())
        return begun.write(run.replace(rechecks=before.id, open=still), subject)


def _check_agents(agents: tuple[str, ...]) -> None:
    """Refuse a name that no file can have, and two that would share a file."""
    seen: dict[str, str] = {}
    for agent in agents:
        file = verdicts.encode(agent).lower() + ".md"
        if file in agent_files.NEVER_AGENTS:
            raise bad_input(f"agents: {agent!r} is the name of a file that contextkit writes")
        if agent == "none":
            raise bad_input("agents: none given: name the agents")
        if seen.setdefault(file, agent) != agent:
            raise bad_input(f"agents: {seen[file]!r} and {agent!r} would share a file")


class _Start:
    """The start of a run of one process and target; nothing is written before `write`."""

    def __init__(self, layout: Layout, process: Process, target: str, now: int) -> None:
        self._layout, self._process, self._target, self._now = layout, process, target, now
        loaded = runs.load_all(layout)
        self._known = loaded.documents
        remark(*map(str, loaded.broken))
        self._ended: list[Run] = []  # by this start

    def restart(self) -> None:
        """Count the runs of this process and target that may still be live as ended."""
        mine, now = (self._process.name, self._target), self._now
        for number, run in enumerate(self._known):
            if (run.process, run.target) == mine and not is_over(self._layout, run, now):
                ended = run.replace(finished_at=names.iso(now), ended="restarted")
                self._known[number] = ended
                self._ended.append(ended)

    def choose(self) -> str:
        """The folder for the run, relative to the root."""
        layout, process = self._layout, self._process
        plain = process.folder(self._target)
        taken: list[str] = []
        for folder in itertools.islice(files.numbered(plain), _MOST):
            files.inside(layout.root, layout.join(folder), "output_dir")
            here = self._in(folder)
            if "{" in process.output_dir and any(run.target != self._target for run in here):
                continue
            live = [run.id for run in here if not is_over(layout, run, self._now)]
            if live:
                taken.append(f"the run {live[-1]} is going on in {folder}")
            elif _is_tracked(layout, folder):
                taken.append(f"{folder} holds files that git tracks")
            else:
                remark(*(f"{why}: this one writes to {folder}" for why in taken))
                return folder
        raise ContextError(f"{plain}: {_MOST} runs are going on there: end some of them")

    def _in(self, folder: str) -> list[Run]:
        return [run for run in self._known if run.output_dir.lower() == folder.lower()]

    def run(self, subject: Subject, agents: tuple[str, ...], folder: str) -> Run:
        process = self._process
        small = subject.small and not agents and bool(process.small_agents)
        roster = agents or (process.small_agents if small else process.agents)
        here = git.head(self._layout.repository)
        return Run(
            id=runs.new_id(self._now, self._known), process=process.name, mode=process.mode,
            target=self._target, output_dir=folder, roster=tuple(dict.fromkeys(roster)),
            started_at=names.iso(self._now), head=here.commit, branch=here.branch,
            input=os.path.join(folder, "input", subject.name),
            input_sha256=names.sha256(subject.data), revision=subject.revision,
            files=subject.files, base=subject.base, against=subject.against, source=subject.source,
            timeout=next(iter(process.seconds.values())), timeouts=dict(process.seconds),
            blocks=process.blocks, small=small, asks=True,
            session_id=sessions.find_current(self._layout),
        )  # fmt: skip

    def write(self, run: Run, subject: Subject) -> Run:
        layout = self._layout
        prompts = {runs.prompt_path(run, a): _prompt(layout, run, a) for a in run.roster}
        for old in self._ended:
            runs.change(layout, old.id, finished_at=old.finished_at, ended=old.ended)
            remark(f"ended the run {old.id}, which was going on in {old.output_dir}")
        self._clear(run)
        folder = files.store(layout.join(run.output_dir))
        files.write(layout.join(run.input), subject.data)
        for path, text in prompts.items():
            files.write(layout.join(path), text)
        listed = formats.to_json(roster(layout, run)) + "\n"
        files.write(os.path.join(folder, runs.ROSTER_FILE), listed)
        if subject.listing:
            files.write(runs.path(layout, run.id, ".listing"), subject.listing, derived=True)
        runs.save(layout, run)
        return run

    def _clear(self, new: Run) -> None:
        """Make room for the run `new`; safe to repeat after a crash.

        What earlier runs left in the folder goes to `earlier/`; flat verdicts of runs that are over
        go to those runs' own folders, except those that somebody still has to look at.
        """
        layout, folder = self._layout, new.output_dir
        current = {run.id for run in self._known if not is_over(layout, run, self._now)}
        by_id, before = {run.id: run for run in self._known}, new.rechecks
        while before in by_id and before not in current:  # those not asked are still judged
            current.add(before)
            before = by_id[before].rechecks
        _keep_verdicts(layout, current)
        owners = self._in(folder)
        last = owners[-1].id if owners else f"before-{new.id}"
        away = os.path.join(folder, _EARLIER, last)
        _move(layout.join(folder), layout.join(away))
        if os.path.isfile(report := layout.join(away, "synthesis.md")):
            remark(f"the synthesis of the run {last} is now {layout.shown(report)}")
        for run in owners:
            _relocate(layout, run, os.path.join(folder, _EARLIER, run.id))


def is_over(layout: Layout, run: Run, now: int) -> bool:
    """Whether no agent is writing: finished, too old, or every agent has left its file."""
    if not runs.is_live(layout, run, now):
        return True
    folder = layout.join(run.output_dir)
    states = (workers.Look(folder, agent, run.id).state() for agent in run.roster)
    return all(state in ("done", "writing") for state in states)


def _prompt(layout: Layout, run: Run, agent: str, asks: str = "") -> str:
    """The prompt of an agent; `asks` is its contract with the text before it."""
    is_diff = run.rechecks or run.revision.startswith("tree:")
    kind = "diff" if is_diff else "document" if run.source else "question"
    asks = asks or contracts.of_run(layout, run, agent)
    source, confirm = layout.join(run.input), run.to_confirm(agent)
    return contracts.prompt(agent, run.process, source, kind, asks, confirm)


def _is_tracked(layout: Layout, folder: str) -> bool:
    """Whether git tracks anything in a folder, which is then the host's, so nothing is moved."""
    path, repository = layout.join(folder), layout.repository
    if repository is None or not f"{path}/".startswith(f"{repository.top}/"):
        return False
    here = f":(top,literal){os.path.relpath(path, repository.top)}"
    return os.path.isdir(path) and bool(git.answer(repository.top, "ls-files", "-z", "--", here))


def roster(layout: Layout, run: Run) -> dict[str, Any]:
    """A run as `start` prints it and `run.json` holds it."""
    keys = ("process", "mode", "target", "output_dir", "input", "revision", "base", "small",
            "timeout")  # fmt: skip
    agents = [
        {"agent": agent, "path": layout.shown(runs.output_path(layout, run, agent)),
         "prompt": runs.prompt_path(run, agent)}
        for agent in run.roster
    ]  # fmt: skip
    return {"run": run.id, **{key: getattr(run, key) for key in keys}, "agents": agents}


def _move(folder: str, away: str) -> None:
    for place in stores.folders(folder):
        files.sweep(place, time.time())  # drafts of killed writers are not moved along
    for name in stores.names_in(folder):
        _, mark, rest = name.rpartition(".md")  # `x.md`, `x.md.partial`, `x.md.aborted-…`
        is_report = name[0] != "." and mark and rest[:1] in ("", ".")
        if name in _NAMES or is_report:
            shelf.move(os.path.join(folder, name), away)


def _relocate(layout: Layout, run: Run, folder: str) -> None:
    """Update a run and its verdicts to the new place of its files."""
    old = run.output_dir + "/"

    def moved(path: str) -> str:
        return f"{folder}/{path.removeprefix(old)}" if path.startswith(old) else path

    for store in (runs.verdict_folder(layout, run.id), layout.verdicts):
        for path, entry in verdicts.load_all(layout, store):
            if entry.get("run") == run.id:
                detail = moved(str(entry.get("detail_path", "")))
                files.write(path, formats.to_json({**entry, "detail_path": detail}) + "\n")
    runs.change(layout, run.id, output_dir=folder, input=moved(run.input))


def _keep_verdicts(layout: Layout, current: set[str]) -> None:
    """Move the flat verdicts of all but the current runs into the runs' own folders.

    Of a run that somebody still has to look at, it says how its verdicts are read from then on.
    """
    open_runs = set[str]()
    for path, entry in verdicts.load_all(layout):
        run = entry.get("run")
        if not isinstance(run, str) or not run or run in current:
            continue  # a broken one names none
        if verdicts.blocking([entry]) and not blockers.never_came(layout, entry):
            open_runs.add(run)
        kept = os.path.join(runs.verdict_folder(layout, run), os.path.basename(path))
        if os.path.lexists(kept):
            os.unlink(path)
        else:
            shelf.move(path, os.path.dirname(kept))
    for run in sorted(open_runs):
        remark(f"run {run} left something to look at: {runs.call(layout, 'verdict_gate', run=run)}")


def retry(layout: Layout, run_id: str, agent: str, now: int) -> Run:
    """Ask an agent of a run once more, about what was wrong; return the run.

    Raises ContextError for an agent that is still working or has no errors.
    """
    run = runs.load(layout, run_id)
    asks = contracts.of_run(layout, run, agent)  # refuses an agent that nobody asked
    working = workers.find(layout, run).get(agent)
    if working and working.status in registry.ACTIVE:
        mend = f"subagent_abort id={working.id} to end it first"
        raise ContextError(f"{agent} is still working: {mend}")
    asked, reading = workers.read_one(layout, run, agent)
    wrong = complaints.feedback(reading.text, agent_files.terms(asked, agent))
    is_whole = reading.validation not in ("missing", "partial", "foreign", "error")
    wrong = wrong if is_whole else [names.one_line(reading.summary)]
    wrong = [*[agent_files.UNNAMED] * ("unnamed" in reading.flags), *wrong]
    if not wrong:
        raise bad_input(f"agent: nothing is wrong with the file of {agent}: verdict_show opens it")
    path = runs.output_path(layout, run, agent)
    there = [old for old in dict.fromkeys((reading.path, path, path + ".partial"))
             if os.path.lexists(old)]  # fmt: skip
    away = {old: agent_files.set_aside(old, path, now) for old in there}
    findings = reading.review.findings or agent_review.parse(reading.text, run.mode).findings
    if counts := agent_files.counted([each.severity for each in findings]):
        old, new = (names.word(layout.found(layout.shown(each)))
                    for each in (reading.path, away[reading.path]))  # fmt: skip
        remark(f"put aside with what it says ({counts}): {new}; `mv {new} {old}` brings it back")
    told = "\n".join(f"- {line}" for line in wrong)  # about the last attempt only
    if is_whole and reading.path in away:
        kept = layout.shown(away[reading.path])
        told += f"\n\nIt is in `{kept}`. If it still holds, keep its text and mend these lines."
    text = _prompt(layout, run, agent, f"{_HEADING}\n\n{told}\n\n{asks}")
    files.write(layout.join(runs.prompt_path(run, agent)), text)
    missed = tuple(other for other in run.missed if other != agent)
    return runs.change(layout, run.id, missed=missed, finished_at="", ingested_at="", ended="")
