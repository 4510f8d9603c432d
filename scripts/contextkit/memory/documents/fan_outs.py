"""Fan-outs: agents that were sent off together, and which of them have come back.

    .contextkit/memory/{task}.agents       the last fan-out of a task, as JSON

Written by `memory_spawn`, by each agent's end, and once more when the last one is back. Losing
it loses no finding: only who is missing is then not known.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.memory.documents import store as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 200  # agents of a fan-out


class Returned(Record):
    """An agent that came back: `digest` tells two ends with the same words."""

    agent: str
    at: str
    digest: str = ""


class FanOut(Record):
    """`agents` are the names that are expected, as far as known; `count` is how many."""

    task: str
    started: str = ""
    agents: tuple[str, ...] = ()
    count: int = 0
    returned: tuple[Returned, ...] = ()
    closed: str = ""  # when the last one was back

    def expects(self, agent: str) -> bool:
        """Whether an agent may be one of these: by its name, or while not all are named."""
        named = {folded(name) for name in self.agents}
        return folded(agent) in named or len(named) < self.count


def folded(agent: str) -> str:
    """A name for comparing: `fd:Review` and `fd-review` are the same agent."""
    return names.dashed(agent).casefold()


def asked_for(text: str) -> tuple[tuple[str, ...], int]:
    """The names and the number in `agents=`: `a b c`, or a number alone. Raises ContextError."""
    words = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        count = int(words[0][:9])
        if not 0 < count <= 100_000:
            raise bad_input(f"agents={words[0][:20]}: must be a number from 1, or names")
        return (), count
    if not words or len(words) > MOST:
        raise bad_input(f"agents: give a number, or up to {MOST} names parted by blanks")
    for word in words:
        memory.check_agent(word)
    return words, len(words)


def load(layout: Layout, task: str) -> FanOut:
    """The last fan-out of a task; an empty one where there is none that can be read."""
    try:
        found = formats.from_json(files.read_if_there(_path(layout, task)) or "{}", "fan-out")
        rows = found.pop("returned", [])
        back = tuple(formats.build(Returned, row, "fan-out") for row in rows)
        made: FanOut = formats.build(FanOut, {**found, "task": task}, "fan-out")
    except (ContextError, AttributeError, TypeError):
        return FanOut(task=task)
    return made.replace(returned=back)


def change(layout: Layout, task: str, edit: Callable[[FanOut], FanOut]) -> FanOut:
    """Let `edit` change the fan-out of a task, one process at a time; what it is then."""
    files.store(layout.state)
    path = _path(layout, memory.check_task(task))
    with files.locked(layout.lock(path)):
        old = load(layout, task)
        new = edit(old)
        if new != old:
            files.write(path, formats.to_json(new) + "\n", derived=True)
    return new


def forget(layout: Layout, task: str) -> None:
    try:
        os.unlink(_path(layout, task))
    except FileNotFoundError:
        pass


def _path(layout: Layout, task: str) -> str:
    return layout.memory_state(f"{task}.agents")
