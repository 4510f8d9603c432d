"""The actions for each event of a host, as a table.

An action is a function `(layout, given) -> Answer` that returns `NOTHING` if it has nothing to say.
It may raise: the frame (`runner.py`) logs that and goes on. Most events have no work to do, so what
an action imports is imported only `where` there is some.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, stores
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

Action = Callable[[Layout, HookInput], Answer]
Check = Callable[[Layout, HookInput], object]


def where(applies: Check, place: str, once: bool = False) -> Action:
    """An action at `module.function` of these flows, imported where it applies.

    once: a conversation is told the same only once between two compactions.
    """
    module, _, name = place.partition(".")

    def action(layout: Layout, given: HookInput) -> Answer:
        if not applies(layout, given):
            return NOTHING
        flow = __import__(f"contextkit.hosts.flows.{module}", fromlist=[name])
        answer: Answer = getattr(flow, name)(layout, given) or NOTHING
        return flow.unseen(layout, given, answer) if once else answer

    action.__name__ = name
    return action


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
    except OSError:
        return False
    ended = (name.partition("@")[0] for name in stores.names_in(layout.ended))
    return recent and session not in ended


def _is_called_otherwise(layout: Layout, given: HookInput) -> bool:
    """Return whether a plugin's `bin` is not on the agent's PATH."""
    return os.environ.get("CONTEXTKIT_COMMAND", "contextkit") != "contextkit"


def _may_recover(layout: Layout, given: HookInput) -> bool:
    """Return whether anything may be saved here, or a session may have died."""
    stored = os.path.isdir(layout.memory) or os.path.isdir(layout.payloads)
    stored |= given.text("source") == "compact" and os.path.isfile(layout.reminders)
    return stored or _is_apart(layout) or _has_sessions(layout, given)


def note_session(layout: Layout, given: HookInput) -> Answer:
    """Record that a session has begun to work, so that it can be recovered if it dies."""
    prompt = given.text("prompt")
    path = given.text("transcript_path")  # a host may write it later
    notice = prompt.startswith(hosts.find(given.host).notices)
    works = os.path.isfile(path) or (path and prompt and not notice)
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


def _may_brief(layout: Layout, given: HookInput) -> bool:
    """Return whether a subagent gets a briefing: none that judges others, or that a run asked."""
    from contextkit.base import agents

    places = (layout.capsules, layout.handoffs)
    there = _is_apart(layout) or any(map(os.path.isdir, places))
    return there and not (agents.judges(given.agent_type) or _is_expected(layout, given))


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
    places = (layout.memory, os.path.dirname(layout.memory_state("current")))
    if not any(map(os.path.isdir, places)) or given.passed.get("stop_hook_active"):
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
    noted = stores.names_in(layout.running)
    goes_on = given.text("source") in ("compact", "resume")
    return bool(noted) and (goes_on or noted != [given.session])


def _has_runs(layout: Layout) -> bool:
    """Return whether a review was ever started here."""
    return os.path.isdir(layout.store("run"))


def _may_review(layout: Layout, given: HookInput) -> bool:
    """Return whether a session may be a reviewer of a run."""
    return not given.agent and _has_runs(layout)


def _nobody(layout: Layout, given: HookInput) -> bool:
    """Return whether the host's own summarizer stops: it has no type and never started."""
    if given.passed.get("agent_type") != "":
        return False
    from contextkit.hosts.documents import seen_agents

    return not seen_agents.load(layout, given.session, given.agent).started


def _has_links(layout: Layout, given: HookInput) -> bool:
    """Return whether the main agent has answers whose reports it was not told of."""
    if given.agent or not given.session:
        return False
    from contextkit.hosts.documents import seen_agents

    return bool(seen_agents.links(layout, given.session))


def _is_of_an_agent(layout: Layout, given: HookInput) -> bool:
    """Return whether a tool brings what a subagent reports to the main agent."""
    starts_agents = given.text("tool_name") in given.declared.matcher.split("|")
    return starts_agents and isinstance(given.passed.get("tool_response"), dict)


def _is_too_long(layout: Layout, given: HookInput) -> bool:
    """Return whether a tool's output may be longer than the settings allow, and be replaced.

    Tools that read files for editing are never among those whose output is.
    """
    most, result = layout.limits.hook_tool_output_tokens, given.passed.get("tool_response")
    return given.declared.is_about(given.text("tool_name")) and 0 < most < _longest(result)


def _is_wrappable(given: HookInput) -> bool:
    """Return whether a tool runs a command that may be wrapped; most commands may not."""
    from contextkit.hosts.flows import rewriting

    shell = given.declared.is_about(given.text("tool_name"))
    waits = shell and rewriting.is_about_a_command(given)
    return waits and bool(rewriting.wrappable(given.inside("tool_input")["command"]))


def _longest(found: object) -> int:
    """Return the length of the longest text in a tool's result: it has no more tokens."""
    if isinstance(found, str):
        return len(found)
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return max(map(_longest, inside), default=0)


def _is_launched(layout: Layout, given: HookInput) -> bool:
    """Return whether this session is an agent that was launched, and may end."""
    return not (given.agent or given.sent_back) and bool(os.environ.get("CONTEXT_SUBAGENT_ID"))


def end_session(layout: Layout, given: HookInput) -> Answer:
    """End a session's payloads and active agent; both come back if it is resumed."""
    places = (layout.payloads, layout.hooks, layout.running)
    from_it = [os.path.join(place, given.session) for place in places]
    from_it.append(os.path.join(layout.handoffs, "session-state"))
    if given.session and any(map(os.path.exists, from_it)):
        from contextkit.hosts.flows import sessions

        if os.path.isdir(from_it[0]):
            sessions.note_opened(layout, given.session, given.text("transcript_path"))
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
    declared = hosts.find(given.host).events.get(given.event)
    if declared and declared.ours == "PreToolUse" and not _is_wrappable(given):
        return ()
    return ACTIONS.get(declared.ours, ()) if declared else ()


# In order of execution. The first one that blocks decides.
ACTIONS: dict[str, tuple[Action, ...]] = {
    "SessionStart": (
        pull_machines,
        sweep,
        where(_is_called_otherwise, "sessions.command", once=True),
        where(lambda layout, _: os.path.isfile(layout.reminders), "sessions.reminders", once=True),
        where(lambda layout, _: os.path.isdir(layout.handoffs), "sessions.handoff", once=True),
        where(_may_recover, "sessions.saved", once=True),
    ),
    "UserPromptSubmit": (
        catch_up,
        note_session,
        where(_may_review, "reviews.note_reviewer"),
        where(_has_links, "outputs.tell_links"),
        switch_agent,
    ),
    "SubagentStart": (note_start, where(_may_brief, "sessions.brief"), ask),
    "SubagentStop": (
        keep_finding,
        where(lambda layout, given: _has_runs(layout) and not _nobody(layout, given),
              "reviews.judge"),
        keep_output,
        push_machines,
    ),
    "PreToolUse": (
        where(lambda layout, _: layout.limits.hook_tool_output_tokens, "rewriting.rewritten"),
    ),
    "PostToolUse": (
        where(_is_of_an_agent, "outputs.hand_receipt"),
        where(_is_too_long, "outputs.shorten"),
    ),
    "PreCompact": (where(lambda *_: True, "snapshots.before"),),
    "PostCompact": (where(lambda *_: True, "snapshots.after"),),
    "Stop": (
        where(_may_review, "reviews.judge_session"),
        where(_is_launched, "outputs.hand_in"),
        note_session,
        where(lambda _, given: given.text("transcript_path"), "snapshots.when_full"),
    ),
    "SessionEnd": (catch_up, end_session, push_machines),
}  # fmt: skip
