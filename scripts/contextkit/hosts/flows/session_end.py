"""The end of a session, and its resumption."""

from __future__ import annotations

import os

from contextkit.base import ledger, names, sessions
from contextkit.base.layout import Layout
from contextkit.hosts.documents import open_sessions, seen_agents
from contextkit.payloads.flows import retention


def start(layout: Layout, session: str) -> None:
    """Start or resume a session: restore what it stored; end idle sessions."""
    now = names.now()
    if session:
        retention.wake(layout, session, now)
    retention.sweep_in_passing(layout, now, session)
    seen_agents.sweep(layout, now)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: its payloads (resumable), active agent and state. Return one line for each.

    One line goes into the session's summary, or into the payloads' own log.
    """
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
    agent = end_agent(layout, session)
    if agent:
        said.append(f"session {session}: {agent} is no longer the active agent")
    sessions.forget(layout, session)
    return said


def end_agent(layout: Layout, session: str) -> str:
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
