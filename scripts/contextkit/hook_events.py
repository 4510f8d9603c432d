"""What is done at each event of a host: a table of actions.

An action is a function `(layout, what the host passed) -> Answer`, `NOTHING` where it has nothing
to say. It may raise: the frame (`hook_frame.py`) notes that and goes on. Every import that an
event without work does not need stands inside its action.
"""

from __future__ import annotations

import os

from contextkit import hosts, names
from contextkit.hosts import NOTHING, Answer, HookInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from contextkit.layout import Layout

    Action = Callable[[Layout, HookInput], Answer]


def sweep(layout: Layout, given: HookInput) -> Answer:
    """Bring back what a resumed session stored; once an hour, end what nobody uses."""
    if os.path.isdir(layout.payloads) and not _has_rested(layout, given.session):
        from contextkit import session_ends

        session_ends.start(layout, given.session)
    return NOTHING


def _has_rested(layout: Layout, session: str) -> bool:
    """Whether the last sweep was within the hour and the session has not ended before.

    Asked here since most starts have nothing to do, and doing it takes eight modules.
    """
    from contextkit.limits import SWEEP_PAUSE

    try:
        recent = 0 <= names.now() - os.stat(layout.swept).st_mtime < SWEEP_PAUSE
        ended = os.listdir(layout.ended) if os.path.isdir(layout.ended) else []
    except OSError:
        return False
    return recent and not any(name.partition("@")[0] == session for name in ended)


def note_start(layout: Layout, given: HookInput) -> Answer:
    """Remember when a subagent started: one that ran beside another has a verdict of its own."""
    from contextkit import hook_agents

    if given.agent:
        record = hook_agents.HookAgent(agent_type=given.agent_type, started=names.now())
        hook_agents.save(layout, given.session, given.agent, record)
    return NOTHING


def keep_output(layout: Layout, given: HookInput) -> Answer:
    """Store what a subagent said last when it is long; record the verdict in it."""
    from contextkit import tokens

    text = given.text("last_assistant_message")
    long = tokens.estimate(text) > layout.limits.payload_budget
    if text.strip() and (long or hosts.may_hold_a_verdict(text)):
        from contextkit import hook_outputs

        hook_outputs.keep(layout, given)
    return NOTHING


def end_session(layout: Layout, given: HookInput) -> Answer:
    """The session's payloads go, and come back if it is resumed."""
    folders = [os.path.join(store, given.session) for store in (layout.payloads, layout.hooks)]
    if given.session and any(map(os.path.isdir, folders)):
        from contextkit import session_ends

        session_ends.end(layout, given.session)
    return NOTHING


# In the order in which they are done. The first one that blocks is the one that is heard.
ACTIONS: dict[str, tuple[Action, ...]] = {
    "SessionStart": (sweep,),
    "UserPromptSubmit": (),
    "SubagentStart": (note_start,),
    "SubagentStop": (keep_output,),
    "PreCompact": (),
    "PostCompact": (),
    "Stop": (),
    "SessionEnd": (end_session,),
}
