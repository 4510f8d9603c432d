"""What is done at each event of a host: a table of actions.

An action is a function `(layout, what the host passed) -> Answer`, `NOTHING` where it has nothing
to say. It may raise: the frame (`runner.py`) notes that and goes on. Every import that an
event without work does not need stands inside its action.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from contextkit.base.layout import Layout

    Action = Callable[[Layout, HookInput], Answer]


def sweep(layout: Layout, given: HookInput) -> Answer:
    """Bring back what a resumed session stored; once an hour, end what nobody uses."""
    if os.path.isdir(layout.payloads) and not _has_rested(layout, given.session):
        from contextkit.hosts.flows import session_end

        session_end.start(layout, given.session)
    return NOTHING


def _has_rested(layout: Layout, session: str) -> bool:
    """Whether the last sweep was within the hour and the session has not ended before.

    Asked here since most starts have nothing to do, and doing it takes eight modules.
    """
    from contextkit.base.limits import SWEEP_PAUSE

    try:
        recent = 0 <= names.now() - os.stat(layout.swept).st_mtime < SWEEP_PAUSE
        ended = os.listdir(layout.ended) if os.path.isdir(layout.ended) else []
    except OSError:
        return False
    return recent and not any(name.partition("@")[0] == session for name in ended)


def tell_reminders(layout: Layout, given: HookInput) -> Answer:
    """A line while reminders are open."""
    if not os.path.isfile(layout.reminders):
        return NOTHING
    from contextkit.hosts.flows import session_start

    return session_start.reminders(layout)


def tell_handoff(layout: Layout, given: HookInput) -> Answer:
    """A line while a handoff waits; the active agent of a resumed session is active again."""
    if not os.path.isdir(layout.handoffs):
        return NOTHING
    from contextkit.hosts.flows import session_end, session_start

    if given.text("source") == "resume":
        session_end.resume_agent(layout, given.session)
    return session_start.handoff(layout)


def recover(layout: Layout, given: HookInput) -> Answer:
    """What was saved, for an agent whose context was compacted or comes back, or whose forerunner
    died; for any other the task that is open, in a line.
    """
    stores = (layout.memory, layout.payloads, os.path.join(layout.state, "sessions"))
    if not any(map(os.path.isdir, stores)):
        return NOTHING
    from contextkit.hosts.flows import session_start

    return session_start.saved(layout, given)


def note_session(layout: Layout, given: HookInput) -> Answer:
    """Take down that a session has begun to work, so that it is found again should it die."""
    said = given.text("prompt")
    path = given.text("transcript_path")  # a host may write it later
    notice = said.startswith(hosts.find(given.host).notices)
    works = os.path.isfile(path) or (path and said and not notice)
    if given.session and not given.agent and works:
        from contextkit.hosts.documents import open_sessions

        if not open_sessions.is_known(layout, given.session):
            from contextkit.hosts.flows import session_start

            session_start.note(layout, given)
    return NOTHING


def catch_up(layout: Layout, given: HookInput) -> Answer:
    """What the end of a turn missed, since the transcript was not written by then."""
    from contextkit.hosts.documents import seen_agents

    mark = os.path.join(seen_agents.folder(layout, given.session), seen_agents.BEHIND)
    if given.session and not given.agent and os.path.exists(mark):
        from contextkit.hosts.flows import snapshots

        os.unlink(mark)
        snapshots.when_full(layout, given)
    return NOTHING


def switch_agent(layout: Layout, given: HookInput) -> Answer:
    """A prompt that begins with an agent's name hands over to it."""
    from contextkit.base import agents

    prompt, limits = given.text("prompt"), layout.limits
    called = agents.recognised(prompt, limits.handoff_prefixes)
    if called is None or given.agent:  # a host may pass what a subagent is asked, too
        return NOTHING
    from contextkit.base import redaction
    from contextkit.handoffs.flows import switch

    clean = redaction.redacted(prompt, limits.secrets_allow)[0]
    longest, most = limits.hook_context_characters, limits.hook_context_tokens
    transcript = given.text("transcript_path")
    text = switch.switch_from_prompt(layout, clean, names.now(), longest, most, transcript)
    if text is None and not os.path.exists(os.path.join(layout.here, called[0])):
        text = switch.nobody(layout, called[0])
    return Answer(context=text) if text else NOTHING


def note_start(layout: Layout, given: HookInput) -> Answer:
    """Remember when a subagent started: one that ran beside another has a verdict of its own."""
    from contextkit.hosts.documents import seen_agents

    if given.agent:
        record = seen_agents.HookAgent(agent_type=given.agent_type, started=names.now())
        seen_agents.save(layout, given.session, given.agent, record)
    return NOTHING


def brief(layout: Layout, given: HookInput) -> Answer:
    """The branch's capsule, or the latest handoff, for a subagent that does not judge others."""
    from contextkit.base import agents

    stores = (layout.capsules, layout.handoffs)
    if agents.judges(given.agent_type) or not any(map(os.path.isdir, stores)):
        return NOTHING
    from contextkit.hosts.flows import session_start

    if os.path.isdir(os.path.join(layout.state, "runs")):
        from contextkit.hosts.flows import reviews

        if reviews.expected(layout, given, names.now()):
            return NOTHING
    return session_start.brief(layout)


def judge(layout: Layout, given: HookInput) -> Answer:
    """The verdict of an agent that a review run asked, or what it has to mend."""
    if not os.path.isdir(os.path.join(layout.state, "runs")) or _nobody(layout, given):
        return NOTHING
    from contextkit.hosts.flows import reviews

    return reviews.judge(layout, given)


def keep_output(layout: Layout, given: HookInput) -> Answer:
    """Store what a subagent said last when it is long; record the verdict in it.

    One whose report is very long is sent back once, to answer with its receipt.
    """
    from contextkit.base import tokens

    text = given.text("last_assistant_message")
    long = tokens.estimate(text) > layout.limits.payload_budget
    if not text.strip() or not (long or hosts.may_hold_a_verdict(text)) or _nobody(layout, given):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.keep(layout, given)


def keep_finding(layout: Layout, given: HookInput) -> Answer:
    """What an agent of the current task found out; one that is sent back has been heard."""
    if not os.path.isdir(layout.memory) or given.passed.get("stop_hook_active"):
        return NOTHING
    from contextkit.memory.documents import store

    if not store.current_task(layout) or _nobody(layout, given):
        return NOTHING
    from contextkit.memory.flows import agents

    name = given.agent_type or given.agent
    agents.agent_ended(layout, name, given.text("last_assistant_message"), names.now())
    return NOTHING


def _nobody(layout: Layout, given: HookInput) -> bool:
    """Whether it is the host's own summarizer that stops: of no type, and never started."""
    if given.passed.get("agent_type") != "":
        return False
    from contextkit.hosts.documents import seen_agents

    return not seen_agents.load(layout, given.session, given.agent).started


def hand_receipt(layout: Layout, given: HookInput) -> Answer:
    """The receipt in place of a report that a tool brings to the main agent."""
    response = given.passed.get("tool_response")
    event = hosts.find(given.host).events[given.event]
    starts_agents = given.text("tool_name") in event.matcher.split("|")
    if not starts_agents or not isinstance(response, dict):
        return NOTHING
    if not isinstance(response.get(event.text or "content"), (str, list)):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.hand_receipt(layout, given, response)


def shorten_output(layout: Layout, given: HookInput) -> Answer:
    """The receipt in place of a tool's long output, where the settings ask for it."""
    if not layout.limits.hook_tool_output_tokens or not _is_of_a_tool(given):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.shorten(layout, given)


def _is_of_a_tool(given: HookInput) -> bool:
    """Whether it is the output of a tool that may be replaced; never that of one that reads files
    which are about to be edited.
    """
    return hosts.find(given.host).events[given.event].is_about(given.text("tool_name"))


def note_reviewer(layout: Layout, given: HookInput) -> Answer:
    """Whom of a review run a session works for, where its prompt says so."""
    if given.agent or not os.path.isdir(os.path.join(layout.state, "runs")):
        return NOTHING
    from contextkit.hosts.flows import reviews

    reviews.note_reviewer(layout, given)
    return NOTHING


def judge_session(layout: Layout, given: HookInput) -> Answer:
    """As `judge`, for a reviewer that is a session of its own."""
    if given.agent or not os.path.isdir(os.path.join(layout.state, "runs")):
        return NOTHING
    from contextkit.hosts.flows import reviews

    return reviews.judge_session(layout, given)


def hand_in(layout: Layout, given: HookInput) -> Answer:
    """The report of a launched agent, which is a session of its own, as it stops."""
    if given.agent or not os.environ.get("CONTEXT_SUBAGENT_ID") or given.sent_back:
        return NOTHING
    from contextkit.hosts.flows import outputs

    outputs.hand_in(layout, given)
    return NOTHING


def save_before(layout: Layout, given: HookInput) -> Answer:
    """A snapshot before the host compacts the context."""
    from contextkit.hosts.flows import snapshots

    snapshots.before(layout, given)
    return NOTHING


def save_after(layout: Layout, given: HookInput) -> Answer:
    """The host's summary of what it compacted goes into that snapshot."""
    from contextkit.hosts.flows import snapshots

    snapshots.after(layout, given)
    return NOTHING


def save_when_full(layout: Layout, given: HookInput) -> Answer:
    """A snapshot once the context is so full that it is time to save."""
    if given.text("transcript_path"):
        from contextkit.hosts.flows import snapshots

        snapshots.when_full(layout, given)
    return NOTHING


def end_session(layout: Layout, given: HookInput) -> Answer:
    """The session's payloads go, its agent is active no more; both come back if it is resumed."""
    stores = (layout.payloads, layout.hooks, os.path.join(layout.state, "sessions"))
    from_it = [os.path.join(store, given.session) for store in stores]
    from_it.append(os.path.join(layout.handoffs, "session-state"))
    if given.session and any(map(os.path.exists, from_it)):
        from contextkit.hosts.flows import session_end

        session_end.end(layout, given.session)
    return NOTHING


def pull_machines(layout: Layout, given: HookInput) -> Answer:
    """What other machines sent comes in, in the background, where `sync` says so."""
    return _move(layout, "pull")


def push_machines(layout: Layout, given: HookInput) -> Answer:
    """What is new here goes out, in the background, where `sync` says so."""
    return _move(layout, "push")


def _move(layout: Layout, verb: str) -> Answer:
    if layout.limits.sync != "off":
        from contextkit.machines.flows import background

        background.start(layout, verb)
    return NOTHING


def of(given: HookInput) -> tuple[Action, ...]:
    """What is done at an event of a host; nothing at one that its declaration does not hold."""
    known = hosts.find(given.host).events.get(given.event)
    return ACTIONS.get(known.ours, ()) if known else ()


# In the order in which they are done. The first one that blocks is the one that is heard.
ACTIONS: dict[str, tuple[Action, ...]] = {
    "SessionStart": (pull_machines, sweep, tell_reminders, tell_handoff, recover),
    "UserPromptSubmit": (catch_up, note_session, note_reviewer, switch_agent),
    "SubagentStart": (note_start, brief),
    "SubagentStop": (keep_finding, judge, keep_output, push_machines),
    "PostToolUse": (hand_receipt, shorten_output),
    "PreCompact": (save_before,),
    "PostCompact": (save_after,),
    "Stop": (judge_session, hand_in, note_session, save_when_full),
    "SessionEnd": (catch_up, end_session, push_machines),
}
