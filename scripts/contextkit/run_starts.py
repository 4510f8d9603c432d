"""The start of a review run: a folder of its own, what is reviewed, and a prompt for each agent.

    process + target  ->  folder  ->  input and revision  ->  prompts  ->  the run

One start at a time. Everything is computed first; then what an earlier run left in the folder is
moved to `earlier/<its id>/`, never touched while that run may still be going on. The run's record
comes last: a start that is killed leaves a folder that the next one takes over.
"""

from __future__ import annotations

import os

from contextkit import (
    agent_files,
    changes,
    comparisons,
    contracts,
    files,
    formats,
    git,
    names,
    processes,
    run_folders,
    runs,
    sessions,
    verdicts,
)
from contextkit.comparisons import Comparison
from contextkit.errors import bad_input
from contextkit.layout import Layout
from contextkit.processes import Process
from contextkit.records import Record
from contextkit.runs import Run


class Asked(Record):
    """What the caller of `start` wants: a process, what for, by whom, compared with what."""

    process: str
    target: str = ""
    agents: tuple[str, ...] = ()
    base: str = ""


class Subject(Record):
    """What is reviewed: the bytes that agents read, under a name, and their revision."""

    kind: str  # document, diff or question
    target: str
    name: str
    data: bytes
    revision: str
    source: str = ""
    base: str = ""
    small: bool = False


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


def start(layout: Layout, asked: Asked, now: int) -> Started:
    """Make a run. Raises ContextError where it cannot be made, and then nothing was written."""
    process = processes.load(layout, asked.process)
    _check_agents(asked.agents or process.agents)
    kind, target = _target(layout, process, asked.target)
    with files.locked(layout.lock(runs.folder(layout))):
        known, broken = runs.load_all(layout)
        folder, notes = run_folders.choose(layout, process, target, known, now)
        subject = _subject(layout, process, kind, target, asked.base, folder)
        run = _run(layout, process, subject, asked.agents, folder, runs.new_id(now, known), now)
        launches = tuple(_launch(layout, process, subject, run, agent) for agent in run.roster)
        run_folders.clear(layout, folder, known, run.id, now)
        _write(layout, subject, run, launches)
    said = (*broken, *notes, *_notes(layout, process, subject, asked))
    return Started(run=run, launches=launches, notes=said)


def _check_agents(agents: tuple[str, ...]) -> None:
    """Refuse a name that can be no file's, and two that would share one."""
    seen: dict[str, str] = {}
    for agent in agents:
        file = verdicts.encode(agent).lower() + ".md"
        if file in agent_files.NEVER_AGENTS:
            raise bad_input(f"agents: {agent!r} is the name of a file that we write ourselves")
        if seen.setdefault(file, agent) != agent:
            raise bad_input(f"agents: {seen[file]!r} and {agent!r} would share a file")


def _target(layout: Layout, process: Process, given: str) -> tuple[str, str]:
    """The kind of input, and the target as it is kept: of a document the path from the root."""
    target = given.strip() or process.default_target
    if process.input == "document" and target:
        path = layout.typed(target, "target")
        if not os.path.isfile(path):
            raise bad_input(f"target: {target!r} is no file: name a document, or none for the diff")
        return "document", layout.shown(path)
    if process.input == "question" and not target:
        raise bad_input("target: write the question")
    return ("question", target) if process.input == "question" else ("diff", target or "diff")


def _subject(
    layout: Layout, process: Process, kind: str, target: str, base: str, folder: str
) -> Subject:
    if base and kind != "diff":
        raise bad_input(f"base: a {kind} is not compared with anything")
    if kind == "document":
        path = layout.join(target)
        return Subject(
            kind=kind, target=target, source=target, name=os.path.basename(target),
            data=files.read_bytes(path), revision=changes.document_revision(path),
        )  # fmt: skip
    if kind == "question":
        data = (target + "\n").encode()
        revision = changes.data_revision(data)
        return Subject(kind=kind, target=target, name="question.md", data=data, revision=revision)
    found = comparisons.compare(layout, base, runs.left_out(layout, folder))
    return Subject(
        kind=kind, target=target, name="changes.diff", data=found.diff, revision=found.revision,
        base=found.base.commit, small=_is_small(process, found),
    )  # fmt: skip


def _is_small(process: Process, found: Comparison) -> bool:
    few = found.lines < process.small_lines and len(found.changes) <= process.small_files
    return few and not any(change.binary for change in found.changes)


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


def roster(layout: Layout, run: Run, launches: tuple[Launch, ...]) -> dict[str, object]:
    """A run for programs: what `start` answers, and what `run.json` in its folder holds."""
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
            {"agent": one.agent, "path": layout.shown(one.path), "prompt": layout.shown(one.prompt)}
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
    runs.save(layout, run)


def _notes(layout: Layout, process: Process, subject: Subject, asked: Asked) -> list[str]:
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
