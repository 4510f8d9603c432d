"""Agents at work on a task: who was sent off, who is back, who is missing, and what to save then.

An agent is back once it has left a finding or a verdict, or a host has reported its end; it is at
work while one of its processes runs. An agent that was expected and is neither is missing.

    .contextkit/memory/{task}.agents       the last fan-out of a task, as JSON; may be lost
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, redaction, sessions, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Callable, Iterable
from contextkit.memory.documents import checkpoints, findings
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import saving
from contextkit.reviews.documents import verdicts

MOST = 200  # named agents in a fan-out, at most


class FanOut(Record):
    """`agents` are the expected names as far as known; `count` is how many agents are expected.

    returned: those that are back, each with a digest of its words, since an end may be told twice
    """

    task: str
    started: str = ""
    agents: tuple[str, ...] = ()
    count: int = 0
    returned: dict[str, str] = {}  # noqa: RUF012  (a Record is never changed)
    closed: str = ""  # when the last agent was back

    def expects(self, agent: str) -> bool:
        """Whether `agent` may be one of these: by name, or because not all are named."""
        named = {folded(name) for name in self.agents}
        return folded(agent) in named or len(named) < self.count


def folded(agent: str) -> str:
    """Normalize a name for comparison: `fd:Review` and `fd-review` are the same agent."""
    return names.dashed(agent).casefold()


def asked_for(text: str) -> tuple[tuple[str, ...], int]:
    """Parse `agents=`, as `a b c` or a bare number, into names and count. Raises ContextError."""
    words = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(words) == 1 and names.is_whole(words[0], len(words[0])):
        count = int(words[0][:9])
        if not 0 < count <= 100_000:
            raise bad_input(f"agents={words[0][:20]}: must be a number from 1, or names")
        return (), count
    if not words or len(words) > MOST:
        raise bad_input(f"agents: give a number, or up to {MOST} names separated by spaces")
    for word in words:
        memory.check_agent(word)
    return words, len(words)


def last_fan_out(layout: Layout, task: str) -> FanOut:
    """Return the last fan-out of a task, or an empty one if none can be read."""
    try:
        text = files.read_if_there(layout.memory_state(f"{task}.agents")) or "{}"
        fields = formats.object_from_json(text, "fan-out")
        made: FanOut = formats.build(FanOut, {**fields, "task": task}, "fan-out")
    except ContextError:
        return FanOut(task=task)
    return made


def _change_fan_out(layout: Layout, task: str, edit: Callable[[FanOut], FanOut]) -> FanOut:
    """Let `edit` change the fan-out of a task, one process at a time; return what it was."""
    path = layout.memory_state(f"{memory.check_task(task)}.agents")
    with files.locked(layout.lock(path)):
        old = last_fan_out(layout, task)
        new = edit(old)
        if new != old:
            files.write(path, formats.to_json(new) + "\n", derived=True)
    return old


class Attendance(Record):
    """Names of agents; `expected` also counts agents that were never named."""

    expected: int = 0
    returned: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    since: str = ""

    @property
    def unnamed(self) -> int:
        """How many of the missing agents were never named."""
        named = (*self.returned, *self.failed, *self.running, *self.missing)
        return max(0, self.expected - len(named))

    @property
    def complete(self) -> bool:
        """Whether every expected agent has ended."""
        return not (self.missing or self.running or self.unnamed)

    def line(self) -> str:
        """Format as `3 agents expected, 1 returned (a), missing: b, c`."""
        parts = [f"{names.counted(self.expected, 'agent')} expected"]
        for name in ("returned", "failed", "running"):
            agents = getattr(self, name)
            if agents or name == "returned":
                parts.append(f"{len(agents)} {name}" + (f" ({_some(agents)})" if agents else ""))
        unnamed = f"{self.unnamed} that nobody named" if self.unnamed else ""
        if away := ", ".join(filter(None, (_some(self.missing), unnamed))):
            parts.append(f"missing: {away}")
        return ", ".join(parts)


_SHOWN = 12  # names in a line, at most


def _some(agents: tuple[str, ...]) -> str:
    more = (f"+{len(agents) - _SHOWN} more",) if len(agents) > _SHOWN else ()
    return ", ".join((*agents[:_SHOWN], *more))


def attendance(
    layout: Layout,
    task: str,
    listed: Iterable[str] = (),
    after: str = "",
    kept: list[Any] | None = None,
) -> Attendance:
    """Which of a task's agents are back, at work, or missing.

    Expected are those of its last fan-out, those `listed` as active, and those started after the
    time `after`. `kept` are the task's findings, merged ones included.
    """
    sent = last_fan_out(layout, task)
    launched, running = _launched(layout, after)
    expected: dict[str, str] = {}
    for name in (*sent.agents, *listed, *((*launched, *running) if after else ())):
        expected.setdefault(folded(name), name)
    if not expected and not sent.started:
        return Attendance()
    if kept is None:
        merged = merged_findings.load_all(layout, task).documents
        kept = [part.finding for document in merged for part in document.parts]
        kept += findings.heads(layout, task).documents
    left = [(finding.agent, finding.timestamp) for finding in kept]
    left += [(name, sent.started) for name in sent.returned]
    since = dict.fromkeys(name for name, when in left if when >= sent.started)
    unnamed = max(0, sent.count - len(sent.agents))
    others = [name for name in since if folded(name) not in expected] if sent.started else []
    at_work = set(map(folded, running))
    # for an agent of the fan-out only what it left since then counts
    own = set(map(folded, sent.agents))
    concluded = _verdicts(layout)
    left += [(agent, str(entry.get("timestamp", ""))) for agent, entry in concluded.items()]
    back = {folded(name) for name, when in left if when >= sent.started or folded(name) not in own}
    away = {key: name for key, name in expected.items() if key not in at_work}
    last = {folded(name): when for name, when in sorted(left, key=lambda pair: pair[1])}
    fell = {agent for agent, entry in concluded.items() if entry["status"] in ("FAILED", "ERROR")
            and entry.get("timestamp", "") == last[agent]}  # fmt: skip
    return Attendance(
        expected=len(expected) + unnamed,
        returned=(*(name for key, name in away.items() if key in back - fell), *others[:unnamed]),
        failed=tuple(name for key, name in away.items() if key in back & fell),
        running=tuple(name for key, name in expected.items() if key in at_work),
        missing=tuple(name for key, name in away.items() if key not in back),
        since=sent.started,
    )


def _launched(layout: Layout, after: str) -> tuple[list[str], list[str]]:
    """The agents started since `after` that have ended, and the agents still running."""
    ended: list[str] = []
    running: list[str] = []
    if os.path.isfile(layout.registry):
        from contextkit.subagents.documents import registry
        from contextkit.subagents.flows import background

        rows = registry.load_all(layout).documents
        for row in (row for row in rows if row.get("status") != "cleaned"):
            name, state = str(row.get("slug", "")), str(row.get("status", ""))
            if state == "running" and name:
                alive = background.is_alive(layout.run(row["id"]))
                (running if alive else ended).append(name)
            elif name and names.moment(str(row.get("launched_at", ""))) >= names.moment(after):
                ended.append(name)
    return [*ended, *_seen(layout, after)], running


def _seen(layout: Layout, after: str) -> list[str]:
    """The types of agents that a host started since `after` and never reported as ended."""
    own = sessions.of_hosts()
    others = [s for s in stores.names_in(layout.hooks) if s not in own and names.safe(s)]
    if not others:
        return []
    from contextkit.hosts.documents import seen_agents

    begun = [a for s in others for a in seen_agents.of_session(layout, s).values()]
    late = (a for a in begun if a.started >= names.moment(after) and a.started > a.stopped)
    return [agent.agent_type for agent in late if agent.agent_type]


def _verdicts(layout: Layout) -> dict[str, dict[str, Any]]:
    """Each agent's current verdict, by folded name."""
    try:
        entries = verdicts.load_all(layout).documents
    except ContextError:
        return {}
    return {folded(str(entry["agent"])): entry for entry in entries}


def sent_off(layout: Layout, task: str, agents: tuple[str, ...], count: int, now: int) -> None:
    """Record that agents are about to start on a task: a new fan-out, replacing the last one."""
    new = FanOut(task=task, started=names.iso(now), agents=agents, count=count)
    _change_fan_out(layout, task, lambda _: new)


def agent_ended(layout: Layout, agent: str, text: str, now: int) -> list[str]:
    """Save the last words of an agent of the current task as a finding, for a host's hook.

    Returns the paths of what was written: none for a stranger, or an end that is reported twice.
    The last agent of a fan-out also writes a checkpoint.
    """
    task = memory.current_task(layout)
    if not task or not _belongs(layout, task, agent):
        return []
    text = redaction.redacted(text, layout.limits.secrets_allow)[0]
    digest = names.sha256(text.encode("utf-8", "replace"))[:16]
    if last_fan_out(layout, task).returned.get(agent) == digest:
        return []
    written = []
    if text.strip():
        fields = {"agent": agent, "description": "", "status": "", "summary": ""}
        written.append(saving.write(layout, saving.finding(task, fields, text, now), now))
    _change_fan_out(
        layout, task, lambda sent: sent.replace(returned={**sent.returned, agent: digest})
    )
    return [*written, *filter(None, (batch_ended(layout, task, now),))]


def _belongs(layout: Layout, task: str, agent: str) -> bool:
    try:
        memory.check_agent(agent)
    except ContextError:
        return False
    sent = last_fan_out(layout, task)
    if sent.started and not sent.closed and sent.expects(agent):
        return True
    return folded(agent) in map(folded, checkpoints.last(layout, task).active_agents)


def batch_ended(layout: Layout, task: str, now: int, saved: bool = False) -> str:
    """If the last agent of a fan-out is back, write the checkpoint that is due; its path, or ''."""
    sent = last_fan_out(layout, task)
    if not sent.started or sent.closed:
        return ""
    there = attendance(layout, task)
    if not there.complete:
        return ""
    closed = names.iso(now)
    before = _change_fan_out(layout, task, lambda sent: sent.replace(closed=sent.closed or closed))
    if before.closed or saved or not layout.limits.memory_agent_completion:
        return ""
    fields = saving.carried(layout, task, f"The agents have ended: {there.line()}.")
    phase = saving.phase_of(layout, task)
    return saving.write(layout, saving.checkpoint(layout, task, phase, fields, now), now)
