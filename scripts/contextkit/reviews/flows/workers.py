"""The subagents that work for a review run: start them, learn how each ended, notify the user.

A subagent works for an agent of a run if its scope is the prompt that the run made for that agent.
So it does not matter who started it: `verdict_start launch=1`, or a person by hand.

When the run is done or needs attention, the user's own `notify=` command is run once, with

CONTEXT_RUN         its id
CONTEXT_RUN_STATE   done, or attention
standard input      one line per agent, as verdict_table prints it
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from contextkit.hosts.documents.contracts import Host
    from contextkit.reviews.flows.agent_files import Asked, Reading
    from contextkit.subagents.documents.registry import Row

_WITHOUT_FILE = ("missing", "partial")
_AWAITED = (*_WITHOUT_FILE, "foreign")
_LONGEST = 150  # characters about a subagent that ended


class Worker(Record):
    """A subagent of a run's agent. `status` is as its files tell it now; `words` end its log."""

    agent: str
    id: str
    status: str
    exit_code: int | None = None
    words: str = ""

    @property
    def has_ended(self) -> bool:
        return self.status not in registry.ACTIVE

    @property
    def said(self) -> str:
        """Return text such as `failed (exit 7): cannot connect`."""
        code = f" (exit {self.exit_code})" if self.exit_code is not None else ""
        return f"its subagent {self.status}{code}" + (f": {self.words}" if self.words else "")


def prompt_path(run: Run, agent: str) -> str:
    """Return the path of an agent's prompt, relative to the root."""
    return os.path.join(run.output_dir, "prompts", verdicts.encode(agent) + ".md")


def find(layout: Layout, run: Run) -> dict[str, Worker]:
    """Return the newest subagent of each agent that has one."""
    prompts = {prompt_path(run, agent): agent for agent in run.roster}
    try:
        rows = registry.rows(layout)
    except ContextError:
        return {}  # the subagent commands report a broken registry
    found = {}
    for row in rows:
        agent = prompts.get(os.path.normpath(str(row.get("scope_path") or ".")))
        if agent and watch.started(row) >= names.moment(run.started_at):
            found[agent] = _worker(layout, agent, row)
    return found


def _worker(layout: Layout, agent: str, row: Row) -> Worker:
    status, code = watch.outcome(layout, row)
    ended = status not in registry.ACTIVE
    words = watch.last_words(layout, row) if ended else ""
    return Worker(agent=agent, id=row["id"], status=status, exit_code=code, words=words)


def ended(layout: Layout, run: Run) -> dict[str, Worker]:
    """Return the agents that are known to have ended."""
    return {agent: one for agent, one in find(layout, run).items() if one.has_ended}


def settle(layout: Layout, run: Run, readings: list[Reading], now: int) -> None:
    """Mark an ingested run as done once no agent is awaited any more."""
    if run.ingested_at:
        return
    arrived = {one.agent for one in readings if one.validation not in _AWAITED}
    if arrived.union(run.missed, ended(layout, run)).issuperset(run.roster):
        runs.change(layout, run.id, ingested_at=names.iso(now))


def of_row(layout: Layout, row: Row) -> tuple[Run, str] | None:
    """Return the run and the agent that a subagent works for; None if it works for none."""
    scope = os.path.normpath(str(row.get("scope_path") or "."))
    if os.path.basename(os.path.dirname(scope)) != "prompts":
        return None
    for run in reversed(runs.load_all(layout).documents):
        for agent in run.roster:
            same = prompt_path(run, agent) == scope
            if same and watch.started(row) >= names.moment(run.started_at):
                return run, agent
    return None


def with_endings(layout: Layout, asked: Asked, read: Iterable[Reading]) -> Iterator[Reading]:
    """Yield the readings of a run, adding how the subagent of an agent without a file ended."""
    gone: dict[str, Worker] | None = None
    for reading in read:
        if asked.run and reading.validation in _WITHOUT_FILE:
            gone = ended(layout, runs.load(layout, asked.run)) if gone is None else gone
            if reading.agent in gone:
                reading = _with(reading, gone[reading.agent])
        yield reading


def _with(reading: Reading, worker: Worker) -> Reading:
    said = names.one_line(f"{reading.summary}; {worker.said}")
    return reading.replace(summary=names.clipped(said, _LONGEST), flags=(*reading.flags, "ended"))


def hosts() -> list[Host]:
    """Return the hosts used to launch agents when the caller names none."""
    from contextkit.hosts.documents import contracts

    return [contracts.find(name) for name in contracts.defaults()]


def agent_call(host: Host, agent: str, prompt: str) -> str:
    """Return how an agent of the host starts the reviewer `agent`, whose prompt is a file."""
    asked = f"Read {prompt} and do what it says."
    return host.agent_call.format(agent=formats.to_json(agent), prompt=formats.to_json(asked))


def check(layout: Layout, command: str) -> None:
    """Raise ContextError if there is no command line to start agents with."""
    if not (command.strip() or layout.limits.subagent_command):
        known = [f"`{host.headless}`" for host in hosts()]
        raise bad_input(
            f"launch: give cmd= (as {' or '.join(known)}), or set subagent_command in"
            " contextkit.yaml"
        )


def start(layout: Layout, run: Run, agents: Iterable[str], command: str, now: int) -> list[Worker]:
    """Start a background subagent for each of these agents; one that cannot start is failed.

    Each gets the run's prompt verbatim and the run's timeout.
    """
    from contextkit.subagents.flows import launch

    found = []
    for agent in agents:
        request = launch.Request(
            now=now, slug=agent, scope=layout.join(prompt_path(run, agent)), capsule="none",
            cmd=command, type="here", timeout=f"{run.timeout}s", redact=True,
            deliverables=(os.path.join(run.output_dir, verdicts.encode(agent) + ".md"),),
        )  # fmt: skip
        try:
            row = launch.launch(layout, request, launch.prepare(layout, request))
        except (ContextError, OSError) as error:
            words = names.one_line(getattr(error, "strerror", "") or str(error))
            found.append(Worker(agent=agent, id="", status="failed", words=words))
            continue
        found.append(Worker(agent=agent, id=row["id"], status=str(row["status"])))
    return found


def notify(layout: Layout, identity: str, now: int) -> bool:
    """Run a run's notify command if it is due and has not run; return whether it ran now."""
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
    """Return `done` if every agent has left its file, `attention` if one never will; else ''."""
    waiting = [
        agent
        for agent in run.roster
        if not agent_files.is_there(layout.join(run.output_dir), agent)
    ]
    if not waiting:
        return "done"
    gone = ended(layout, run)
    return "attention" if any(a in gone or a in run.missed for a in waiting) else ""


def _start(layout: Layout, run: Run, state: str) -> None:
    """Start the command without waiting for it; its output is stored next to the run."""
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
