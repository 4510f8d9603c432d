"""The start and the end of a session: what it or a subagent is told, what ends and comes back."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, names, sessions
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts, open_sessions, seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.documents.open_sessions import OpenSession

_WARNINGS = 3  # warnings of recovery shown
_NAMED = 8  # payloads listed by id


def reminders(layout: Layout) -> Answer:
    """Return a line with the number of open reminders."""
    from contextkit.capsules.documents import reminders as inbox

    count = sum(not reminder.done for reminder in inbox.load_all(layout).whole().documents)
    if not count:
        return NOTHING
    said = "1 reminder is" if count == 1 else f"{count} reminders are"
    return Answer(context=f"{said} open: `make reminders` shows them.")


def handoff(layout: Layout) -> Answer:
    """Return a line about the newest handoff that nobody has consumed."""
    from contextkit.handoffs.documents import artifacts as handoffs
    from contextkit.handoffs.documents import state

    order = state.everywhere(state.current(layout)[0])
    known, _ = handoffs.read(layout, list(reversed(order)))
    name = next((name for name, one in known.items() if not one.consumed), "")
    if not name:
        return NOTHING
    found = known[name]
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {found.from_agent} to {found.to_agent} is not consumed"
    said = f"{who}: `make handoff_show ref={ref}` shows it."
    return Answer(context=said, refs=(f"handoff:{ref}",))


def brief(layout: Layout) -> Answer:
    """Return a new subagent's briefing: the branch's newest capsule, else the latest handoff."""
    from contextkit.base import git
    from contextkit.capsules.documents import branches

    branch = git.head(layout.repository).name if layout.repository else ""
    written = branch and branches.paths(branches.folder(layout, branch))
    if not written and not os.path.isdir(layout.handoffs):
        return NOTHING
    from contextkit.subagents.flows import prompts

    said = prompts.brief(layout, branch)
    return Answer(context=said, refs=tuple(addresses.named_in(layout, said.partition("\n")[0])))


def note(layout: Layout, given: HookInput) -> None:
    """Record the session with its host's process."""
    host = contracts.find(given.host)
    process = os.environ.get(host.process, "") if host.process else ""
    number = int(process) if process.isdigit() else os.getppid()
    transcript = given.text("transcript_path")
    one = OpenSession(session=given.session, process=number, transcript=transcript)
    open_sessions.note(layout, one)


def saved(layout: Layout, given: HookInput) -> Answer:
    """Return what was saved: all of it if the context is lost, else a line on the open task."""
    source = given.text("source")
    dead = open_sessions.take_dead(layout, given.session)
    if source in ("compact", "resume"):
        told = _recovered(layout)
        stored = _payloads(layout, given.session) if source == "compact" else ""
        if _is_told_already(layout, given, told):
            return Answer(context=stored)
        return told.replace(context="\n".join(filter(None, (told.context, stored))))
    if dead:
        told = _recovered(layout, dead.transcript)
        if told != NOTHING:
            died = f"The last session here, {dead.session[:12]}, ended unexpectedly."
            return told.replace(context=f"{died}\n{told.context}")
    return _open_task(layout)


def _payloads(layout: Layout, session: str) -> str:
    """Return a line with the ids of the session's newest payloads."""
    from contextkit.payloads.documents import store

    if not session or not os.path.isdir(os.path.join(layout.payloads, session)):
        return ""
    found = [os.path.basename(path)[:-3] for path in store.documents(layout, session)]
    if not found:
        return ""
    newest = ", ".join(f"`{name}`" for name in found[: -_NAMED - 1 : -1])
    more = f" and {len(found) - _NAMED} older" if len(found) > _NAMED else ""
    return f"Stored in this session: {newest}{more}: `make payload_show ref=…` shows one."


def _is_told_already(layout: Layout, given: HookInput, told: Answer) -> bool:
    """Return whether this was told since the last compaction: a host may start a session twice."""
    if told == NOTHING:
        return True
    mark = os.path.join(seen_agents.folder(layout, given.session), seen_agents.TOLD)
    digest = names.sha256(told.quoted.encode("utf-8", "replace"))
    if (files.read_if_there(mark) or "").strip() == digest:
        return True
    files.store(layout.state)
    files.write(mark, digest + "\n")
    return False


def _open_task(layout: Layout) -> Answer:
    """Return a line with the open task and when it was last saved."""
    from contextkit.memory.documents import store

    task = store.current_task(layout)
    if not task or not os.path.isdir(layout.memory):
        return NOTHING
    kinds = ((store.CHECKPOINTS, ".json"), (store.SNAPSHOTS, ".md"))
    found = [
        store.split_name(os.path.basename(path))[1]
        for kind, suffix in kinds
        for path in store.paths(layout.memory_folder(kind), suffix)
    ]
    stamp = max(found, default="")
    when = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:11]}:{stamp[11:13]}Z" if stamp else "never"
    command = f"`make memory_recover task={task}` prints what is known"
    return Answer(context=f"The task `{task}` is open, last saved {when}: {command}.")


def _recovered(layout: Layout, transcript: str = "") -> Answer:
    """Return what recovery prints about the current task, within the host's limits.

    `transcript` is that of a session that died: its work since the last save is included.
    """
    from contextkit.memory.flows import recovery, recovery_report

    found = recovery.load(layout, "", names.now(), transcript=transcript)
    if found.empty and not found.caught:
        return NOTHING
    limits = layout.limits
    task = found.task or "unknown"
    command = f"make memory_recover task={found.task}" if found.task else "make memory_recover"
    lines = [f"The task `{names.one_line(task)}` was saved here: `{command}` prints all of it."]
    lines += [names.one_line(warning)[:200] for warning in found.warnings[:_WARNINGS]]
    budget = min(limits.memory_recover_tokens, limits.hook_context_tokens * 9 // 10)
    text = recovery_report.make(layout, found, budget).text
    while len(text) > limits.hook_context_characters * 9 // 10 and budget > recovery_report.LEAST:
        budget = budget * 4 // 5
        text = recovery_report.make(layout, found, budget).text
    refs = tuple(addresses.of(layout, layout.join(path), kind) for kind, path in found.named)
    origin = f"the memory of {task}"
    return Answer(context="\n".join(lines), quoted=text, origin=origin, refs=refs)


# The end, and what a resumed session gets back


def start(layout: Layout, session: str) -> None:
    """Start or resume a session: restore what it stored; end idle sessions."""
    from contextkit.payloads.flows import retention

    now = names.now()
    if session:
        retention.wake(layout, session, now)
    retention.sweep_in_passing(layout, now, session)
    seen_agents.sweep(layout, now)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: its payloads (resumable), active agent and state. Return one line for each.

    One line goes into the session's summary, or into the payloads' own log.
    """
    from contextkit.base import ledger
    from contextkit.payloads.flows import retention

    sessions.check(session)
    now = names.now()
    done = retention.end(layout, session, now)
    said = [done.line()] if done else [f"session {session}: ended, no payloads were stored"]
    if not done:
        retention.note_end(layout, session, said[0], now)
        ledger.note(layout, ledger.ENDED, f"session:{session}", session=session)
    ledger.sweep(layout, now)
    if seen_agents.forget(layout, session):
        said.append(f"session {session}: hooks' records of its subagents were removed")
    open_sessions.forget(layout, session)
    agent = _end_agent(layout, session)
    if agent:
        said.append(f"session {session}: {agent} is no longer the active agent")
    sessions.forget(layout, session)
    return said


def _end_agent(layout: Layout, session: str) -> str:
    """Deactivate the agent that this session activated; return its name, or empty for none.

    Its next activation counts as a first one. `resume_agent` undoes this.
    """
    if not os.path.isdir(layout.handoffs):
        return ""
    from contextkit.handoffs.documents import state

    there = os.path.isfile(os.path.join(layout.handoffs, state.FILE))
    return state.end_session(layout, session) if there else ""


def resume_agent(layout: Layout, session: str) -> str:
    """Reactivate the agent that was active when this session ended, unless another is now."""
    if not os.path.isdir(layout.handoffs):
        return ""
    from contextkit.handoffs.documents import state

    there = os.path.isfile(os.path.join(layout.handoffs, state.FILE))
    return state.resume_session(layout, session) if there else ""
