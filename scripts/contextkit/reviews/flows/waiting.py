"""Waiting for the agents of a run: by name, until each has left its file or the time is up.

done         the file is there and finished
writing      the file is there and still growing
unrenamed    finished, but still called `.partial`
partial      begun, as `.partial`
empty        a file without text, or something else in its place: a folder, a pipe
foreign      a file from another run, or a link
missing      nothing
ended        its subagent has ended and left no finished file: nobody waits for it
"""

from __future__ import annotations

import itertools
import os
import stat
import time

from contextkit.base import files
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, contracts, runs
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOK = 0.1  # seconds between two checks

# What an agent's stub says, by the state in which the agent was found.
_REASONS = {
    "unrenamed": "finished its file but never renamed it, and the time was up",
    "partial": "had not finished its file when the time was up",
    "empty": "left an empty file",
    "foreign": "left only the file of another run",
    "missing": "left no file before the time was up",
    "ended": "ended without a finished file",
}
_LOOKS = 10  # checks of the files for each check of the subagents


class State(Record):
    """The state of one agent; `path` is the absolute path it is to write to.

    `said` is what became of its subagent, if that has ended.
    """

    agent: str
    path: str
    state: str
    said: str = ""


class _Look:
    """The last look at one agent's file, used to see whether it is still growing.

    A file is read again only if it has changed: a wait looks ten times a second.
    """

    def __init__(self, folder: str, agent: str, run: str) -> None:
        self.path = ""
        self._folder, self._agent, self._run = folder, agent, run
        self._seen: tuple[int, ...] = ()
        self._said = ""  # what the file held at the last look
        self._partial = 0  # the inode of `.partial`, which a rename keeps

    def state(self) -> str:
        self.path = agent_files.agent_file(self._folder, self._agent)
        there, partial = _stat(self.path), _stat(self.path + ".partial")
        if there is None:
            self._partial = partial.st_ino if partial else 0
            state = self._content(self.path + ".partial", partial) if partial else "missing"
            return {"done": "unrenamed", "writing": "partial", "foreign": "partial"}.get(
                state, state
            )
        last = self._seen
        state = self._content(self.path, there)
        if state == "writing" and (there.st_ino == self._partial or last == self._seen):
            return "done"
        return "partial" if state == "empty" and partial else state

    def _content(self, path: str, there: os.stat_result) -> str:
        """Return done (it has its sentinel), writing (it has none), empty or foreign."""
        seen = (there.st_ino, there.st_size, there.st_mtime_ns)
        if seen != self._seen:
            try:
                self._seen, self._said = seen, self._read(path, there)
            except ContextError:  # just renamed, or unreadable: the next look tells
                self._seen, self._said = (), "empty"
        return self._said

    def _read(self, path: str, there: os.stat_result) -> str:
        if stat.S_ISLNK(there.st_mode):
            return "foreign"
        text = files.read_bytes(path) if stat.S_ISREG(there.st_mode) else b""
        if not text.strip():
            return "empty"
        review = agent_review.parse(text.decode("utf-8", "replace"))
        if review.run not in ("", self._run):
            return "foreign"
        return "done" if review.complete else "writing"


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def wait(
    layout: Layout, run: Run, seconds: float, done: Callable[[int, int, float, str], None]
) -> list[State]:
    """Watch the run's files until all agents are done or `seconds` have passed; return the states.

    An agent whose subagent has ended is not awaited: what it left by then is all. `done(how many,
    of how many, seconds so far, agent)` is called immediately for each one that is done.
    """
    started = time.monotonic()
    folder = layout.join(run.output_dir)
    looks = {a: _Look(folder, a, run.id) for a in run.roster}
    states = dict.fromkeys(run.roster, "")
    gone: dict[str, workers.Worker] = {}
    for number in itertools.count():
        if number % _LOOKS == 0 and set(states.values()) != {"done"}:
            gone = workers.ended(layout, run)  # before its file, which it wrote before it ended
        for agent, look in looks.items():
            if states[agent] != "done":
                states[agent] = look.state()
                if states[agent] == "done":
                    count = list(states.values()).count("done")
                    done(count, len(states), time.monotonic() - started, agent)
        left = started + seconds - time.monotonic()
        if left <= 0 or all(_is_final(state, agent in gone) for agent, state in states.items()):
            break
        time.sleep(min(LOOK, left))
    return [_state(agent, looks[agent].path, states[agent], gone.get(agent)) for agent in states]


def _is_final(state: str, has_ended: bool) -> bool:
    """Whether nothing more will come; a file without a sentinel is looked at twice."""
    return state == "done" or (has_ended and state != "writing")


def _state(agent: str, path: str, state: str, worker: workers.Worker | None) -> State:
    if worker is None or state == "done":
        return State(agent=agent, path=path, state=state)
    ended = "ended" if state in ("missing", "partial", "empty") else state
    return State(agent=agent, path=path, state=ended, said=worker.said)


def record_missed(layout: Layout, run: Run, found: list[State]) -> None:
    """Record in the run who had not finished when this wait ended."""
    missed = tuple(one.agent for one in found if one.state != "done")
    if missed != run.missed:
        runs.change(layout, run.id, missed=missed)


def _text_of(path: str) -> str:
    """Return the text of a file that an agent began; '' for a missing file or a link."""
    if not os.path.isfile(path) or os.path.islink(path):
        return ""
    return files.read_bytes(path).decode("utf-8", "replace")


def _rows(text: str) -> list[str]:
    """Return a row for each finding of an unfinished review, wherever it is."""
    return [review_sections.row_of(row) for row in agent_review.parse(text).findings]


def write_stubs(run: Run, found: list[State], now: int) -> list[State]:
    """Write an error stub for each agent that left no file of its own; return those agents' states.

    What the agent had begun is set aside first, so that a late rename cannot replace the stub. What
    it had found by then stays in the stub: an error is no milder than a P0.
    """
    written = []
    for one in found:
        state = _Look(os.path.dirname(one.path), one.agent, run.id).state()
        if one.state not in _REASONS or state not in _REASONS:
            continue  # it arrived after all
        rest = _text_of(one.path + ".partial")
        begun = [one.path + ".partial", *([one.path] if state in ("empty", "foreign") else [])]
        for path in begun:
            if os.path.lexists(path):
                agent_files.set_aside(path, one.path, now)
        reason = _REASONS[one.state] + (f" ({one.said})" if one.said else "")
        rows = tuple(_rows(rest)) if run.mode == "review" else ()
        stub = contracts.error_stub(one.agent, reason, run.id, run.mode, rows, rest)
        try:
            files.create(one.path, stub, exact=True)
        except FileExistsError:
            continue  # it arrived just now
        written.append(one)
    return written
