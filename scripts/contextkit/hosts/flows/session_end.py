"""The flow of a session's end, and of its coming back."""

from __future__ import annotations

import os

from contextkit.base import ledger, names, sessions
from contextkit.base.layout import Layout
from contextkit.hosts.documents import open_sessions, seen_agents
from contextkit.payloads.flows import retention


def start(layout: Layout, session: str) -> None:
    """A session starts or comes back: what it stored is there again; idle ones are ended."""
    now = names.now()
    if session:
        retention.wake(layout, session, now)
    retention.sweep_in_passing(layout, now, session)
    seen_agents.sweep(layout, now)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: payloads (they can be resumed), active agent, state. Says so, a line each.

    One line stands in the session's summary then, or in the payloads' own log.
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
        said.append(f"session {session}: {agent} is not the active agent any more")
    sessions.forget(layout, session)
    return said


def end_agent(layout: Layout, session: str) -> str:
    """The agent that this session made active is so no more; who that was, or nobody.

    The next activation is a first one then. `resume_agent` makes it undone.
    """
    if not os.path.isdir(layout.handoffs):
        return ""
    from contextkit.handoffs.documents import state

    there = os.path.isfile(os.path.join(layout.handoffs, state.FILE))
    return state.end_session(layout, session) if there else ""


def resume_agent(layout: Layout, session: str) -> str:
    """Who was active when this session ended is so again, if nobody else is; who that is."""
    if not os.path.isdir(layout.handoffs):
        return ""
    from contextkit.handoffs.documents import state

    there = os.path.isfile(os.path.join(layout.handoffs, state.FILE))
    return state.resume_session(layout, session) if there else ""
