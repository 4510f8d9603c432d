"""The start of a review run: a folder of its own, what is reviewed, and a prompt for each agent.

    process + target  ->  folder  ->  input and revision  ->  prompts  ->  the run

One start at a time. Everything is computed first; then what an earlier run left in the folder is
moved to `earlier/<its id>/`, never touched while that run may still be going on. The run's record
comes last: a start that is killed leaves a folder that the next one takes over.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, git, names, sessions
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import contracts, processes, runs, verdicts
from contextkit.reviews.documents.processes import Process
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, folders, inputs
from contextkit.reviews.flows.inputs import Subject


class Request(Record):
    """What the caller of `start` wants: a process, what for, by whom, compared with what.

    `restart` ends the runs of this process and target that are going on, and takes their place.
    `notify` is a command line, run once when the run is done or needs somebody.
    """

    process: str
    target: str = ""
    agents: tuple[str, ...] = ()
    base: str = ""
    restart: bool = False
    notify: str = ""


class Launch(Record):
    """One agent: where it writes, and the prompt that it reads; absolute paths."""

    agent: str
    path: str
    prompt: str
    text: str


class Started(Record):
    """A run as it was started, with what its caller should know beside it."""

    run: Run
    launches: tuple[Launch, ...]
    notes: tuple[str, ...]


def start(layout: Layout, asked: Request, now: int) -> Started:
    """Make a run. Raises ContextError where it cannot be made, and then nothing was written."""
    process = processes.load(layout, asked.process)
    _check_agents(asked.agents or process.agents)
    kind, target = inputs.identify(layout, process, asked.target)
    with files.locked(layout.lock(runs.folder(layout))):
        found = runs.load_all(layout)
        known, broken = found.documents, list(map(str, found.broken))
        ended = _ended(layout, process, target, known, now) if asked.restart else {}
        known = [ended.get(run.id, run) for run in known]
        folder, notes = folders.choose(layout, process, target, known, now)
        subject = inputs.take_up(layout, process, kind, target, asked.base, folder)
        run = _run(layout, process, subject, asked.agents, folder, runs.new_id(now, known), now)
        run = run.replace(notify=asked.notify.strip())
        launches = tuple(_launch(layout, process, subject, run, agent) for agent in run.roster)
        for one in ended.values():
            runs.change(layout, one.id, finished_at=one.finished_at, ended=one.ended)
        folders.clear(layout, folder, known, run.id, now)
        _write(layout, subject, run, launches)
    notes += [
        f"ended the run {one.id}, which was going on in {one.output_dir}" for one in ended.values()
    ]
    said = (*broken, *notes, *_notes(layout, process, subject, asked))
    return Started(run=run, launches=launches, notes=said)


def _ended(
    layout: Layout, process: Process, target: str, known: list[Run], now: int
) -> dict[str, Run]:
    """The runs that a restart ends, by id, as they are then."""
    going_on = folders.going_on(layout, process, target, known, now)
    return {run.id: run.replace(finished_at=names.iso(now), ended="restarted") for run in going_on}


def _check_agents(agents: tuple[str, ...]) -> None:
    """Refuse a name that can be no file's, and two that would share one."""
    seen: dict[str, str] = {}
    for agent in agents:
        file = verdicts.encode(agent).lower() + ".md"
        if file in agent_files.NEVER_AGENTS:
            raise bad_input(f"agents: {agent!r} is the name of a file that we write ourselves")
        if seen.setdefault(file, agent) != agent:
            raise bad_input(f"agents: {seen[file]!r} and {agent!r} would share a file")


def _run(
    layout: Layout,
    process: Process,
    subject: Subject,
    agents: tuple[str, ...],
    folder: str,
    identity: str,
    now: int,
) -> Run:
    small = subject.small and not agents and bool(process.small_agents)
    roster = agents or (process.small_agents if small else process.agents)
    return Run(
        id=identity,
        process=process.name,
        mode=process.mode,
        output_dir=folder,
        roster=tuple(dict.fromkeys(roster)),
        started_at=names.iso(now),
        target=subject.target,
        revision=subject.revision,
        head=git.head(layout.repository).commit if layout.repository else "",
        base=subject.base,
        source=subject.source,
        input=os.path.join(folder, "input", subject.name),
        timeout=next(iter(process.seconds.values())),
        timeouts=dict(process.seconds),
        blocks=process.blocks,
        small=small,
        session_id=sessions.find_current(layout),
    )


def _launch(layout: Layout, process: Process, subject: Subject, run: Run, agent: str) -> Launch:
    path = output_path(layout, run, agent)
    prompt = layout.join(run.output_dir, "prompts", os.path.basename(path))
    text = contracts.prompt(
        agent, process.name, layout.join(run.input), subject.kind, contract(layout, run, agent)
    )
    return Launch(agent=agent, path=path, prompt=prompt, text=text)


def output_path(layout: Layout, run: Run, agent: str) -> str:
    """Where an agent of a run writes."""
    return layout.join(run.output_dir, verdicts.encode(agent) + ".md")


def contract(layout: Layout, run: Run, agent: str) -> str:
    """The contract of an agent of a run. Raises ContextError for one that was not asked."""
    if agent not in run.roster:
        said = names.nearest(agent, run.roster) or f": it asked {', '.join(run.roster)}"
        raise bad_input(f"agent: the run {run.id} did not ask {agent!r}{said}")
    limit = layout.limits.verdict_contract_tokens
    return contracts.contract(layout.root, output_path(layout, run, agent), run.mode, run.id, limit)


def loose_contract(layout: Layout, folder: str, agent: str, mode: str) -> str:
    """The contract of an agent that writes to an absolute `folder`, without a run."""
    path = os.path.join(folder, verdicts.encode(agent) + ".md")
    return contracts.contract(layout.root, path, mode, "", layout.limits.verdict_contract_tokens)


def roster(
    layout: Layout, run: Run, launches: tuple[Launch, ...], working: dict[str, str] | None = None
) -> dict[str, object]:
    """A run for programs: what `start` answers, and what `run.json` in its folder holds.

    `working` are the ids of the subagents that were started, by agent.
    """
    return {
        "run": run.id,
        "process": run.process,
        "mode": run.mode,
        "target": run.target,
        "output_dir": run.output_dir,
        "input": run.input,
        "revision": run.revision,
        "base": run.base,
        "small": run.small,
        "timeout": run.timeout,
        "agents": [
            {
                "agent": one.agent,
                "path": layout.shown(one.path),
                "prompt": layout.shown(one.prompt),
                **({"subagent": working.get(one.agent, "")} if working else {}),
            }
            for one in launches
        ],
    }


def _write(layout: Layout, subject: Subject, run: Run, launches: tuple[Launch, ...]) -> None:
    folder = files.store(layout.join(run.output_dir))
    files.write(layout.join(run.input), subject.data)
    for one in launches:
        files.write(one.prompt, one.text)
    listed = formats.to_json(roster(layout, run, launches)) + "\n"
    files.write(os.path.join(folder, runs.ROSTER_FILE), listed)
    if subject.listing:
        runs.keep_listing(layout, run.id, subject.listing)
    runs.save(layout, run)


def _notes(layout: Layout, process: Process, subject: Subject, asked: Request) -> list[str]:
    notes = []
    if subject.small and not asked.agents:
        notes.append(
            f"a small change: {', '.join(process.small_agents)} alone; agents= asks others"
        )
    repository = layout.repository
    if subject.kind == "diff" and repository and asked.target:
        ref = "refs/heads/" + asked.target
        if git.head(repository).branch != asked.target and git.commit_of(repository, ref):
            notes.append(f"the work tree is reviewed; {asked.target} is not what is checked out")
    return notes
