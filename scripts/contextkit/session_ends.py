"""The flow of a session's end, and of its coming back."""

from __future__ import annotations

from contextkit import hook_agents, names, retention, sessions
from contextkit.layout import Layout


def start(layout: Layout, session: str) -> None:
    """A session starts or comes back: what it stored is there again; idle ones are ended."""
    now = names.now()
    if session:
        retention.wake(layout, session, now)
    retention.sweep_in_passing(layout, now, session)
    hook_agents.sweep(layout, now)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: payloads (they can be resumed) and state go. Says so, a line each.

    One line stands in the session's summary then, or in the payloads' own log.
    """
    sessions.check(session)
    now = names.now()
    done = retention.end(layout, session, now)
    said = [done.line()] if done else [f"session {session}: ended, no payloads were stored"]
    if not done:
        retention.note_end(layout, session, said[0], now)
    if hook_agents.forget(layout, session):
        said.append(f"session {session}: what hooks knew of its subagents is forgotten")
    sessions.forget(layout, session)
    return said
