"""The agents of a review run at work: their subagents, waiting for their files, and their end.

A subagent works for an agent of a run if its scope is the prompt that the run made for that agent.
So it does not matter who started it: `verdict_start launch=1`, or a person by hand.

A wait ends when each agent, by name, has left its file, or the time is up. Until then a file is

done         there and finished
writing      there and still growing
unrenamed    finished, but still called `.partial`
partial      begun, as `.partial`
empty        without text, or something else is in its place: a folder, a pipe
foreign      from another run, or a link
missing      not there
ended        not there or not finished, and its subagent has ended: nobody waits for it

When the run is done or needs attention, the user's own `notify=` command is run once, with

CONTEXT_RUN         its id
CONTEXT_RUN_STATE   done, or attention
standard input      one line per agent, as verdict_table prints it
"""

from __future__ import annotations

import itertools
import os
import stat
import time

from contextkit.base import files, names, sessions, templates
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.filters import quoted
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Callable, Iterable, Iterator
from contextkit.hosts.documents.contracts import Host, every
from contextkit.reviews.documents import agent_review, contracts, index, runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background

LOOK = 0.1  # seconds between two checks of the files
_LOOKS = 10  # checks of the files for each check of the subagents
_WITHOUT_FILE = ("missing", "partial")
_AWAITED = (*_WITHOUT_FILE, "foreign")
_LONGEST = 150  # characters about a subagent that ended
# The words of an agent's stub, by the state in which the agent was found.
_REASONS = {
    "unrenamed": "finished its file but never renamed it, and the time was up",
    "partial": "had not finished its file when the time was up",
    "empty": "left an empty file",
    "foreign": "left only the file of another run",
    "missing": "left no file before the time was up",
    "ended": "ended without a finished file",
}
# The states of a file that still has the name of an unfinished one.
_UNFINISHED = {"done": "unrenamed", "writing": "partial", "foreign": "partial"}
# Mildest first: a run is as good as its worst verdict.
_ORDER = (verdicts.SKIPPED, "CLEAN", "COMPLETE", "PARTIAL", "NEEDS_ATTENTION", "BLOCKED", "FAILED",
          "ERROR")  # fmt: skip
_RANKS = {status: rank for rank, status in enumerate(_ORDER)}
_UNKNOWN = _RANKS["NEEDS_ATTENTION"]  # the rank of any other status


class Worker(Record):
    """A subagent of a run's agent, with the `status` of its files, or one that did not start."""

    agent: str
    id: str
    status: str
    exit_code: int | None = None
    words: str = ""

    @property
    def said(self) -> str:
        """Text such as `failed (exit 7): cannot connect`."""
        code = f" (exit {self.exit_code})" if self.exit_code is not None else ""
        return f"its subagent {self.status}{code}" + (f": {self.words}" if self.words else "")


def _for_whom(run: Run, row: registry.Row) -> str:
    """The agent of a run that a subagent works for, or ''."""
    scope = os.path.normpath(str(row.get("scope_path") or "."))
    is_after = background.started(row) >= names.moment(run.started_at)
    its = (agent for agent in run.roster if runs.prompt_path(run, agent) == scope)
    return next(its, "") if is_after else ""


def find(layout: Layout, run: Run) -> dict[str, Worker]:
    """The newest subagent of each agent that has one."""
    try:
        rows = registry.rows(layout)
    except ContextError:
        return {}  # the subagent commands report a broken registry
    workers = {}
    for row in rows:
        if agent := _for_whom(run, row):
            status, code = background.outcome(layout, row)
            words = "" if status in registry.ACTIVE else background.last_words(layout, row)
            workers[agent] = Worker(agent=agent, id=row["id"], status=status, exit_code=code,
                                    words=words)  # fmt: skip
    return workers


def ended(layout: Layout, run: Run) -> dict[str, Worker]:
    """The agents that are known to have ended."""
    workers = find(layout, run).items()
    return {agent: worker for agent, worker in workers if worker.status not in registry.ACTIVE}


def of_row(layout: Layout, row: registry.Row) -> tuple[Run, str] | None:
    """The run and the agent that a subagent works for; None if it works for none."""
    every = reversed(runs.load_all(layout).documents)
    return next(((run, agent) for run in every if (agent := _for_whom(run, row))), None)


def read(layout: Layout, asked: Asked) -> Iterator[Reading]:
    """Read the files as `agent_files.read`, with the end of the subagent of one that left none."""
    gone: dict[str, Worker] | None = None
    for reading in agent_files.read(layout, asked):
        if asked.run and reading.validation in _WITHOUT_FILE:
            gone = ended(layout, asked.run) if gone is None else gone
            if worker := gone.get(reading.agent):
                summary = names.one_line(f"{reading.summary}; {worker.said}")
                flags = (*reading.flags, "ended")
                reading = reading.replace(summary=names.clipped(summary, _LONGEST), flags=flags)
        yield reading


def read_one(layout: Layout, run: Run, agent: str) -> tuple[Asked, Reading]:
    """The reading of one agent of a run, and what was asked."""
    asked = agent_files.of_run(layout, run).replace(agents=(agent,))
    return asked, next(read(layout, asked))


def hosts() -> list[Host]:
    """The hosts used to launch agents when the caller names none."""
    return [host for host in every() if host.default]


def steps(
    layout: Layout, run: Run, head: list[str], how: list[str], agents: list[dict[str, str]]
) -> str:
    """What a run prints below its `head`: `how` it was launched or can be, and what comes next."""
    prompts = [os.path.basename(each["prompt"]) for each in agents]
    tasks = [f"Read {layout.found(each['prompt'])} and do what it says." for each in agents]
    own = [(quoted(each["agent"], True), quoted(task, True))
           for each, task in zip(agents, tasks, strict=True)]  # fmt: skip
    return templates.render(
        "review_steps.txt", head=head, how=how,
        hosts=[] if how else [
            {"of": host, "calls": [host.agent_call.format(agent=a, prompt=p) for a, p in own]}
            for host in hosts()
        ],
        are_known=all(":" in each["agent"]
                      or any(map(os.path.isfile, layout.profiles(each["agent"])))
                      for each in agents),
        stems=" ".join(name if sessions.is_name(name) else f"'{name}'" for name in prompts),
        folder=layout.found(f"{run.output_dir}/prompts").replace("'", "'\\''"),
        then=runs.call(layout, "verdict_wait", run=run.id),
    ).rstrip("\n")  # fmt: skip


def check(layout: Layout, launch: bool, command: str) -> None:
    """Raise ContextError if there is no command line that could start agents."""
    if command and not launch:
        raise bad_input("cmd: needs launch=1")
    if launch and not (command.strip() or layout.limits.subagent_command):
        layout.mention("subagent_command")
        examples = " or ".join(f"`{host.headless}`" for host in hosts())
        setting = "or set subagent_command in contextkit.yaml"
        raise bad_input(f"launch: give cmd= (as {examples}), {setting}")


def start(layout: Layout, run: Run, agents: Iterable[str], command: str, now: int) -> list[Worker]:
    """Start a subagent for each of these agents; one that cannot start counts as failed."""
    from contextkit.subagents.flows import launch

    workers = []
    for agent in agents:
        request = launch.Request(
            now=now, slug=agent, scope=layout.join(runs.prompt_path(run, agent)), capsule="none",
            cmd=command, type="here", timeout=f"{run.timeout}s", redact=True,
            deliverables=(layout.shown(runs.output_path(layout, run, agent)),),
        )  # fmt: skip
        try:
            row = launch.launch(layout, launch.prepare(layout, request))
            worker = Worker(agent=agent, id=row["id"], status=str(row["status"]))
        except (ContextError, OSError) as error:
            words = names.one_line(getattr(error, "strerror", "") or str(error))
            worker = Worker(agent=agent, id="", status="failed", words=words)
        workers.append(worker)
    return workers


class State(Record):
    """The state of one agent, the path it writes to, and what became of its subagent."""

    agent: str
    path: str
    state: str
    said: str = ""


def wait(
    layout: Layout, run: Run, seconds: float, done: Callable[[int, int, float, str], None]
) -> list[State]:
    """Watch the run's files until all agents are done or `seconds` have passed; their states.

    An agent whose subagent has ended is not awaited. `done(how many, of how many, seconds so far,
    agent)` is called for each as soon as it is done. The run records who had not finished.
    """
    started = time.monotonic()
    looks = {a: Look(layout.join(run.output_dir), a, run.id) for a in run.roster}
    states = dict.fromkeys(run.roster, "")
    gone: dict[str, Worker] = {}
    for number in itertools.count():
        if number % _LOOKS == 0 and set(states.values()) != {"done"}:
            gone = ended(layout, run)  # read before its file, which it wrote before it ended
        for agent, look in looks.items():
            if states[agent] != "done":
                states[agent] = look.state()
                if states[agent] == "done":
                    count = list(states.values()).count("done")
                    done(count, len(states), time.monotonic() - started, agent)
        left = started + seconds - time.monotonic()
        if left <= 0 or all(
            state == "done" or (agent in gone and state != "writing")  # nothing more will arrive
            for agent, state in states.items()
        ):
            break
        time.sleep(min(LOOK, left))
    outcomes = []
    for agent, state in states.items():
        worker = gone.get(agent) if state != "done" else None
        state = "ended" if worker and state in ("missing", "partial", "empty") else state
        reason = worker.said if worker else ""
        outcomes.append(State(agent=agent, path=looks[agent].path, state=state, said=reason))
    missed = tuple(outcome.agent for outcome in outcomes if outcome.state != "done")
    if missed != run.missed:
        runs.change(layout, run.id, missed=missed)
    return outcomes


class Look:
    """The last look at one agent's file, which is read again only if it has changed."""

    def __init__(self, folder: str, agent: str, run: str) -> None:
        self.path = ""
        self._folder, self._agent, self._run = folder, agent, run
        self._seen: tuple[int, ...] = ()
        self._said = ""  # the file's contents at the last look
        self._partial = 0  # the inode of `.partial`, which a rename keeps

    def state(self) -> str:
        self.path = agent_files.agent_file(self._folder, self._agent)
        there, partial = _stat(self.path), _stat(self.path + ".partial")
        if there is None:
            self._partial = partial.st_ino if partial else 0
            state = self._content(self.path + ".partial", partial) if partial else "missing"
            return _UNFINISHED.get(state, state)
        last = self._seen
        state = self._content(self.path, there)
        if state == "writing" and (there.st_ino == self._partial or last == self._seen):
            return "done"
        return "partial" if state == "empty" and partial else state

    def _content(self, path: str, there: os.stat_result) -> str:
        """The state: done (it has its sentinel), writing (it has none), empty or foreign."""
        seen = (there.st_ino, there.st_size, there.st_mtime_ns)
        if seen == self._seen:
            return self._said
        try:
            text = files.read_bytes(path) if stat.S_ISREG(there.st_mode) else b""
        except ContextError:  # just renamed, or unreadable: the next look will show
            self._seen = ()
            return "empty"
        review = agent_review.parse(agent_review.decoded(text))
        is_foreign = stat.S_ISLNK(there.st_mode) or review.run not in ("", self._run)
        state = "done" if review.complete else "writing"
        state = "foreign" if is_foreign else state if text.strip() else "empty"
        self._seen, self._said = seen, state
        return state


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def write_stubs(run: Run, outcomes: list[State], now: int) -> list[State]:
    """Write an error stub for each agent that left no file of its own; those agents' states.

    The agent's unfinished file is set aside first, so that a late rename cannot replace the stub.
    Its findings so far stay in the stub: an error is no milder than a P0.
    """
    written = []
    for outcome in outcomes:
        state = Look(os.path.dirname(outcome.path), outcome.agent, run.id).state()
        if outcome.state not in _REASONS or state not in _REASONS:
            continue  # it arrived after all
        partial = outcome.path + ".partial"
        is_own = os.path.isfile(partial) and not os.path.islink(partial)
        rest = agent_review.decoded(files.read_bytes(partial)) if is_own else ""
        begun = [partial, *([outcome.path] if state in ("empty", "foreign") else [])]
        for path in begun:
            if os.path.lexists(path):
                agent_files.set_aside(path, outcome.path, now)
        reason = _REASONS[outcome.state] + (f" ({outcome.said})" if outcome.said else "")
        found_by_then = agent_review.parse(rest).findings if run.mode == "review" else ()
        rows = tuple(map(index.row_of, found_by_then))
        stub = contracts.error_stub(outcome.agent, reason, run.id, run.mode, rows, rest)
        try:
            files.create(outcome.path, stub, exact=True)
        except FileExistsError:
            continue  # it arrived just now
        written.append(outcome)
    return written


def settle(layout: Layout, run: Run, readings: list[Reading], now: int) -> None:
    """Mark an ingested run as done once no agent is awaited any more."""
    run = runs.load(layout, run.id)  # who waits for it may have given up on an agent meanwhile
    if run.ingested_at:
        return
    arrived = {reading.agent for reading in readings if reading.validation not in _AWAITED}
    if arrived.union(run.missed, ended(layout, run)).issuperset(run.roster):
        runs.change(layout, run.id, ingested_at=names.iso(now))


def standings(
    layout: Layout, now: int, everything: bool
) -> tuple[list[dict[str, object]], list[str]]:
    """The open and done runs, newest first, or `everything`; and a sentence per broken file.

    Each has the number of agents asked, of those that have left their file, and the worst verdict.
    """
    loaded = runs.load_all(layout)
    shown = []
    for run in reversed(loaded.documents):
        state = runs.state(layout, run, now)
        if state == "ended" and not everything:
            continue
        stored = verdicts.load_all(layout, runs.verdict_folder(layout, run.id)).documents
        statuses = [entry["status"] for entry in stored if entry["agent"] in run.roster]
        worst = max(statuses, key=lambda status: _RANKS.get(status, _UNKNOWN), default="")
        done = sum(agent_files.is_there(layout.join(run.output_dir), agent) for agent in run.roster)
        shown.append({
            "id": run.id, "run": run.id, "process": run.process, "target": run.target,
            "state": state, "started": run.started_at, "agents": len(run.roster), "done": done,
            "status": worst, "ref": f"run:{run.id}",
        })  # fmt: skip
    return shown, [str(status) for status in loaded.broken]


def end(layout: Layout, run_id: str, now: int) -> tuple[Run, list[str]]:
    """End a run that nobody is waiting for; return it and notes on subagents still running."""
    run = runs.load(layout, run_id)
    if run.finished_at:
        return run, [f"run {run.id} already ended at {run.finished_at}"]
    run = runs.change(layout, run.id, finished_at=names.iso(now), ended="by hand")
    return run, [
        f"{worker.id} still works for {worker.agent}: subagent_abort id={worker.id}"
        for worker in find(layout, run).values()
        if worker.status in registry.ACTIVE
    ]


def notify(layout: Layout, run_id: str, now: int) -> bool:
    """Start a run's notify command if it is due and never was; return whether it was now.

    Nobody waits for it; its output is stored next to the run.
    """
    command = files.read_if_there(runs.path(layout, run_id, ".notify"))
    if not command or (run := runs.load(layout, run_id)).notified_at:
        return False
    folder = layout.join(run.output_dir)
    waiting = [agent for agent in run.roster if not agent_files.is_there(folder, agent)]
    if waiting and {*run.missed, *ended(layout, run)}.isdisjoint(waiting):
        return False
    state = "attention" if waiting else "done"  # some will never leave their files
    with files.locked(layout.lock(runs.path(layout, run.id) + ".notice")):
        if runs.load(layout, run.id).notified_at:
            return False
        runs.change(layout, run.id, notified_at=names.iso(now))
    store = runs.verdict_folder(layout, run.id)
    lines = verdicts.table(verdicts.load_all(layout, store).documents) or f"{run.id}: {state}"
    notice = files.write(runs.path(layout, run.id, ".notice"), lines + "\n", derived=True)
    log = runs.path(layout, run.id, ".notify.log")
    env = {**os.environ, "CONTEXT_ROOT": layout.root, "CONTEXT_RUN": run.id,
           "CONTEXT_RUN_STATE": state}  # fmt: skip
    background.spawn(command, env, notice, log)
    return True
