"""The actions for each event of a host, as a table.

An action is a function `(layout, given) -> Answer` that returns `NOTHING` if it has nothing to say.
It may raise: the frame (`runner.py`) logs that and goes on. Imports that an event without work does
not need are inside its action.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

Action = Callable[[Layout, HookInput], Answer]


def sweep(layout: Layout, given: HookInput) -> Answer:
    """Restore what a resumed session stored; once an hour, end unused sessions."""
    if os.path.isdir(layout.payloads) and not _has_rested(layout, given.session):
        from contextkit.hosts.flows import sessions

        sessions.start(layout, given.session)
    return NOTHING


def _has_rested(layout: Layout, session: str) -> bool:
    """Return whether the last sweep was within the hour and the session has not ended before.

    It is checked here because most starts have nothing to do, and the work imports eight modules.
    """
    try:
        recent = layout.was_swept(names.now())
        ended = os.listdir(layout.ended) if os.path.isdir(layout.ended) else []
    except OSError:
        return False
    return recent and not any(name.partition("@")[0] == session for name in ended)


def tell_command(layout: Layout, given: HookInput) -> Answer:
    """Say how a plugin's commands are called where its `bin` is not on the agent's PATH."""
    command = os.environ.get("CONTEXTKIT_COMMAND", "contextkit")
    if command == "contextkit":
        return NOTHING
    from contextkit.hosts.flows import sessions

    said = Answer(context=f"Call `contextkit NAME …` as `{command} NAME …` here.")
    return sessions.unseen(layout, given, said)


def tell_reminders(layout: Layout, given: HookInput) -> Answer:
    """Add a line if reminders are open."""
    if not os.path.isfile(layout.reminders):
        return NOTHING
    from contextkit.hosts.flows import sessions

    return sessions.unseen(layout, given, sessions.reminders(layout))


def tell_handoff(layout: Layout, given: HookInput) -> Answer:
    """Add a line if a handoff is waiting; a resumed session's active agent becomes active again."""
    if not os.path.isdir(layout.handoffs):
        return NOTHING
    from contextkit.hosts.flows import sessions

    if given.text("source") == "resume":
        sessions.resume_agent(layout, given.session)
    return sessions.unseen(layout, given, sessions.handoff(layout))


def recover(layout: Layout, given: HookInput) -> Answer:
    """Recover what was saved, after a compaction, a resume, or the death of the previous session.

    Any other session gets one line about the open task.
    """
    stored = os.path.isdir(layout.memory) or os.path.isdir(layout.payloads)
    if not (stored or _is_apart(layout) or _has_sessions(layout, given)):
        return NOTHING
    from contextkit.hosts.flows import sessions

    return sessions.unseen(layout, given, sessions.saved(layout, given))


def note_session(layout: Layout, given: HookInput) -> Answer:
    """Record that a session has begun to work, so that it can be recovered if it dies."""
    said = given.text("prompt")
    path = given.text("transcript_path")  # a host may write it later
    notice = said.startswith(hosts.find(given.host).notices)
    works = os.path.isfile(path) or (path and said and not notice)
    if given.session and not given.agent and works:
        if not os.path.exists(os.path.join(layout.running, given.session)):
            from contextkit.hosts.flows import sessions

            sessions.note(layout, given)
    return NOTHING


def catch_up(layout: Layout, given: HookInput) -> Answer:
    """Do what the end of a turn could not, because the transcript was not written by then."""
    from contextkit.hosts.documents import seen_agents

    mark = seen_agents.mark(layout, given.session, seen_agents.BEHIND)
    if given.session and not given.agent and os.path.exists(mark):
        from contextkit.hosts.flows import snapshots

        files.discard(mark)
        snapshots.when_full(layout, given)
    return NOTHING


def switch_agent(layout: Layout, given: HookInput) -> Answer:
    """Switch to an agent if the prompt begins with its name."""
    from contextkit.base import agents

    prompt, limits = given.text("prompt"), layout.limits
    called = agents.recognized(prompt, limits.handoff_prefixes)
    if called is None or given.agent:  # a host may also pass the prompt of a subagent
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
    """Record when a subagent started: those that ran in parallel get verdicts of their own."""
    from contextkit.hosts.documents import seen_agents

    if given.agent:
        about = seen_agents.load(layout, given.session, given.agent).about
        record = seen_agents.HookAgent(
            agent_type=given.agent_type, started=names.now(), about=about
        )
        seen_agents.save(layout, given.session, given.agent, record)
    return NOTHING


def brief(layout: Layout, given: HookInput) -> Answer:
    """Give a subagent the branch's capsule, or the latest handoff, unless it judges others."""
    from contextkit.base import agents

    stores = (layout.capsules, layout.handoffs)
    there = _is_apart(layout) or any(map(os.path.isdir, stores))
    if agents.judges(given.agent_type) or not there:
        return NOTHING
    if _is_expected(layout, given):
        return NOTHING
    from contextkit.hosts.flows import sessions

    return sessions.brief(layout, given)


def ask(layout: Layout, given: HookInput) -> Answer:
    """Tell a subagent where a long report belongs and how to answer, unless a run asked it."""
    if not given.agent or given.passed.get("agent_type") == "" or _is_expected(layout, given):
        return NOTHING
    from contextkit.payloads.documents import answers

    path = answers.prepare(layout, given.agent)
    return Answer(context=answers.contract(layout.shown(path)))


def _is_expected(layout: Layout, given: HookInput) -> bool:
    """Return whether a live review run asked this agent, whose contract the run gives."""
    if not _has_runs(layout):
        return False
    from contextkit.hosts.flows import reviews

    return reviews.expected(layout, given, names.now()) is not None


def judge(layout: Layout, given: HookInput) -> Answer:
    """Record the verdict of an agent of a review run, or say what it has to fix."""
    if not _has_runs(layout) or _nobody(layout, given):
        return NOTHING
    from contextkit.hosts.flows import reviews

    return reviews.judge(layout, given)


def keep_output(layout: Layout, given: HookInput) -> Answer:
    """Store a subagent's report, in its file or its last message; record the verdict in it.

    An agent with a very long message is sent back once, to answer in its own words.
    """
    from contextkit.base import tokens
    from contextkit.payloads.documents import answers

    text = given.text("last_assistant_message")
    wanted = tokens.estimate(text) > layout.limits.payload_budget or hosts.may_hold_a_verdict(text)
    wanted = wanted or bool(given.passed.get("stop_hook_active"))
    left = given.agent and answers.left_by(layout, given.agent, given.text("cwd"))
    if not (left or (text.strip() and wanted)) or _nobody(layout, given):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.keep(layout, given)


def keep_finding(layout: Layout, given: HookInput) -> Answer:
    """Store what an agent of the current task found, unless this stop follows a block."""
    stores = (layout.memory, os.path.dirname(layout.memory_state("current")))
    if not any(map(os.path.isdir, stores)) or given.passed.get("stop_hook_active"):
        return NOTHING
    from contextkit.memory.documents import store

    if not store.current_task(layout) or _nobody(layout, given):
        return NOTHING
    from contextkit.memory.flows import agents

    name = given.agent_type or given.agent
    agents.agent_ended(layout, name, given.text("last_assistant_message"), names.now())
    return NOTHING


def _is_apart(layout: Layout) -> bool:
    """Return whether this is a worktree: what it starts with may be in another one."""
    here = layout.repository
    return here is not None and here.folder != here.common


def _has_sessions(layout: Layout, given: HookInput) -> bool:
    """Return whether another session was noted here, or this one goes on."""
    noted = os.listdir(layout.running) if os.path.isdir(layout.running) else []
    goes_on = given.text("source") in ("compact", "resume")
    return bool(noted) and (goes_on or noted != [given.session])


def _has_runs(layout: Layout) -> bool:
    """Return whether a review was ever started here."""
    return os.path.isdir(layout.store("run"))


def _nobody(layout: Layout, given: HookInput) -> bool:
    """Return whether the host's own summarizer stops: it has no type and never started."""
    if given.passed.get("agent_type") != "":
        return False
    from contextkit.hosts.documents import seen_agents

    return not seen_agents.load(layout, given.session, given.agent).started


def wrap_command(layout: Layout, given: HookInput) -> Answer:
    """Have a command run under our wrapper, which shortens what it prints."""
    if not layout.limits.hook_tool_output_tokens:
        return NOTHING
    from contextkit.hosts.flows import rewriting

    return rewriting.rewritten(layout, given)


def _is_wrappable(given: HookInput) -> bool:
    """Return whether a tool runs a command that may be wrapped; most commands may not."""
    from contextkit.hosts.flows import rewriting

    if not _is_of_a_tool(given) or not rewriting.is_about_a_command(given):
        return False
    asked = given.passed["tool_input"]
    return isinstance(asked, dict) and bool(rewriting.wrappable(asked["command"]))


def tell_links(layout: Layout, given: HookInput) -> Answer:
    """Tell the main agent where the reports are whose answers it has."""
    if given.agent or not given.session:
        return NOTHING
    from contextkit.hosts.documents import seen_agents

    if not seen_agents.links(layout, given.session):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.tell_links(layout, given)


def hand_receipt(layout: Layout, given: HookInput) -> Answer:
    """Replace a report that a tool brings to the main agent with its receipt."""
    response = given.passed.get("tool_response")
    event = hosts.find(given.host).events[given.event]
    starts_agents = given.text("tool_name") in event.matcher.split("|")
    if not starts_agents or not isinstance(response, dict):
        return NOTHING
    from contextkit.hosts.flows import outputs

    if not isinstance(response.get(event.text or "content"), (str, list)):
        outputs.note_call(layout, given, response)
        return NOTHING
    return outputs.hand_receipt(layout, given, response)


def shorten_output(layout: Layout, given: HookInput) -> Answer:
    """Replace a tool's long output with its receipt, if the settings ask for it."""
    most = layout.limits.hook_tool_output_tokens
    response = given.passed.get("tool_response")
    if not (most and _is_of_a_tool(given) and _is_long(response, most)):
        return NOTHING
    from contextkit.hosts.flows import outputs

    return outputs.shorten(layout, given)


def _is_long(found: object, most: int) -> bool:
    """Return whether a text in a tool's result may have more than `most` tokens."""
    if isinstance(found, str):
        return len(found) > most
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return any(_is_long(one, most) for one in inside)


def _is_of_a_tool(given: HookInput) -> bool:
    """Return whether this is a tool whose output may be replaced.

    Tools that read files for editing are never among them.
    """
    return hosts.find(given.host).events[given.event].is_about(given.text("tool_name"))


def note_reviewer(layout: Layout, given: HookInput) -> Answer:
    """Record which reviewer of a run a session is, if its prompt says so."""
    if given.agent or not _has_runs(layout):
        return NOTHING
    from contextkit.hosts.flows import reviews

    reviews.note_reviewer(layout, given)
    return NOTHING


def judge_session(layout: Layout, given: HookInput) -> Answer:
    """Do as `judge` does, for a reviewer that is a session of its own."""
    if given.agent or not _has_runs(layout):
        return NOTHING
    from contextkit.hosts.flows import reviews

    return reviews.judge_session(layout, given)


def hand_in(layout: Layout, given: HookInput) -> Answer:
    """Store the report of a launched agent, which is a session of its own, when it stops."""
    if given.agent or not os.environ.get("CONTEXT_SUBAGENT_ID") or given.sent_back:
        return NOTHING
    from contextkit.hosts.flows import outputs

    outputs.hand_in(layout, given)
    return NOTHING


def save_before(layout: Layout, given: HookInput) -> Answer:
    """Save a snapshot before the host compacts the context."""
    from contextkit.hosts.flows import snapshots

    snapshots.before(layout, given)
    return NOTHING


def save_after(layout: Layout, given: HookInput) -> Answer:
    """Add the host's summary of the compaction to that snapshot."""
    from contextkit.hosts.flows import snapshots

    snapshots.after(layout, given)
    return NOTHING


def save_when_full(layout: Layout, given: HookInput) -> Answer:
    """Save a snapshot once the context is nearly full."""
    if given.text("transcript_path"):
        from contextkit.hosts.flows import snapshots

        snapshots.when_full(layout, given)
    return NOTHING


def end_session(layout: Layout, given: HookInput) -> Answer:
    """End a session's payloads and active agent; both come back if it is resumed."""
    stores = (layout.payloads, layout.hooks, layout.running)
    from_it = [os.path.join(store, given.session) for store in stores]
    from_it.append(os.path.join(layout.handoffs, "session-state"))
    if given.session and any(map(os.path.exists, from_it)):
        from contextkit.hosts.flows import sessions

        if os.path.isdir(from_it[0]):
            from contextkit.hosts.flows import reopened

            reopened.note(layout, given.session, given.text("transcript_path"))
        if given.text("reason") == "clear":
            sessions.note_cleared(layout, given.session)
        sessions.end(layout, given.session)
    return NOTHING


def pull_machines(layout: Layout, given: HookInput) -> Answer:
    """Pull from other machines in the background, if `sync` is set."""
    return _sync(layout, "pull").replace(context=layout.needs_trust("sync"))


def push_machines(layout: Layout, given: HookInput) -> Answer:
    """Push what is new here in the background, if `sync` is set."""
    return _sync(layout, "push")


def _sync(layout: Layout, verb: str) -> Answer:
    if layout.limits.sync != "off":
        from contextkit.machines.flows import background

        background.start(layout, verb)
    return NOTHING


def of(given: HookInput) -> tuple[Action, ...]:
    """Return the actions for an event of a host; none for an undeclared event."""
    known = hosts.find(given.host).events.get(given.event)
    if known and known.ours == "PreToolUse" and not _is_wrappable(given):
        return ()
    return ACTIONS.get(known.ours, ()) if known else ()


# In order of execution. The first one that blocks decides.
ACTIONS: dict[str, tuple[Action, ...]] = {
    "SessionStart": (pull_machines, sweep, tell_command, tell_reminders, tell_handoff, recover),
    "UserPromptSubmit": (catch_up, note_session, note_reviewer, tell_links, switch_agent),
    "SubagentStart": (note_start, brief, ask),
    "SubagentStop": (keep_finding, judge, keep_output, push_machines),
    "PreToolUse": (wrap_command,),
    "PostToolUse": (hand_receipt, shorten_output),
    "PreCompact": (save_before,),
    "PostCompact": (save_after,),
    "Stop": (judge_session, hand_in, note_session, save_when_full),
    "SessionEnd": (catch_up, end_session, push_machines),
}
