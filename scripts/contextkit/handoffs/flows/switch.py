"""Switch from one agent to the next: write the artifact, then load the new agent."""

from __future__ import annotations

import os

from contextkit.base import agents, names, redaction, tokens
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import fitting
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.documents.artifacts import Handoff
from contextkit.handoffs.flows import autofill, incoming
from contextkit.handoffs.flows.incoming import Context

_MISSPELLED = 0.8  # similarity of a misspelled name: `qaa` is `qa`, but `pm` is not `sm`
_NOT_SAID = "(nothing was said)"  # by a prompt that is just a name


def hand_over(
    layout: Layout, fields: handoffs.Fields, now: int, no_story: bool = False, strict: bool = False
) -> Context:
    """Write the artifact of `fields`, filling in what is known, and make its receiver active.

    Raises ContextError without writing anything.
    """
    to = agents.identify(fields.get("to_agent", ""), "to")
    with handoff_state.locked(layout):
        state, messages = handoff_state.current(layout)
        giver, doubt = _giver(fields, state)
        if not giver:
            raise bad_input("from: is missing, and no agent is active: who hands over?")
        _refuse_misspelled(layout, to)
        path, chain, more = _written(layout, fields, state, giver, to, now, no_story, strict)
    written = chain[os.path.basename(path)]
    if written.story_id and not written.story_path:
        more += ("story_path: is empty, so the incoming agent has to look for the story",)
    return Context(path=path, said=(*messages, *doubt, *more))


def switch(
    layout: Layout,
    fields: handoffs.Fields,
    now: int,
    profile: str = "",
    no_story: bool = False,
    strict: bool = False,
) -> Context:
    """Make another agent the active one and return its context, writing the artifact first.

    The first agent of a session gets no artifact unless `from_agent` says who hands over; then it
    also gets what that agent was given in another session. An agent that is already active gets
    nothing. If no story is named, the story of the last artifact continues. Raises ContextError
    without writing anything or changing the active agent.
    """
    to = agents.identify(fields.get("to_agent", ""), "to")
    with handoff_state.locked(layout):
        state, messages = handoff_state.current(layout)
        giver, doubt = _giver(fields, state)
        if giver == to and not fields.get("from_agent"):
            return _added(layout, fields, state, to, messages)
        if not profile:
            _refuse_misspelled(layout, to)
        own = incoming.profile(layout, to, profile)  # refuse it before anything is written
        path, chain = "", dict[str, Handoff]()
        if giver:
            path, chain, more = _written(layout, fields, state, giver, to, now, no_story, strict)
        else:
            handoff_state.start(layout, state, to, now)
            more = (f"{to} is the first agent of this session: no artifact",)
    made = incoming.compose(layout, to, own, chain)
    return made.replace(path=path, said=(*messages, *doubt, *more, *made.said))


def _written(
    layout: Layout,
    fields: handoffs.Fields,
    state: handoff_state.State,
    giver: str,
    to: str,
    now: int,
    no_story: bool,
    strict: bool,
) -> tuple[str, dict[str, Handoff], tuple[str, ...]]:
    """Write the artifact from `giver` to `to`; return its path, and messages.

    Between them, the artifacts that lead to this switch, by name, newest first: this one leads.
    """
    before, unread = handoffs.read(layout, _chain_names(layout, state, giver))
    chain = list(before.values())
    asked = {**fields, "from_agent": giver, "to_agent": to}
    since = state.at if giver == state.active else ""  # when the giver became the active agent
    filled, messages = _with_story(layout, asked, chain, no_story, since)
    filled["current_task"] = filled.get("current_task") or autofill.current_step(layout)
    handoff, cut = _artifact(layout, filled, fields, state, chain, now, strict)
    carried = incoming.weight(layout, [handoff, *chain])
    path = handoff_state.keep(layout, state, handoff, now, carried)
    written = handoff.replace(session=state.session)
    return path, {os.path.basename(path): written, **before}, (*unread, *messages, *cut)


def _added(
    layout: Layout,
    fields: handoffs.Fields,
    state: handoff_state.State,
    to: str,
    messages: tuple[str, ...],
) -> Context:
    """Add what was typed, such as a story, to the artifact that the active agent was given."""
    typed = {name: value for name, value in fields.items() if name not in ("to_agent", "consumed")}
    nothing = f"{to} is already active: nothing to hand over"
    if not typed or not state.order:
        return Context(said=(*messages, nothing))
    name = state.order[-1]
    last = handoffs.load(layout, name)
    stored = {field: getattr(last, field) for field in Handoff.fields()}
    filled, more = autofill.fill(layout, {**stored, **typed})
    handoff, cut = fitting.clipped(handoffs.make({**stored, **filled}), layout.limits)
    if handoff == last:
        return Context(said=(*messages, nothing))
    path = handoffs.replace(layout, name, handoff)
    made = incoming.compose(layout, to, incoming.Profile(), {name: handoff})
    added = f"{to} is already active: added to its artifact: {', '.join(sorted(typed))}"
    return made.replace(path=path, said=(*messages, added, *more, *cut))


def _giver(fields: handoffs.Fields, state: handoff_state.State) -> tuple[str, tuple[str, ...]]:
    """The agent that hands over: the one named, else the active one; a difference is reported."""
    if not fields.get("from_agent"):
        return state.active, ()
    giver = agents.identify(fields["from_agent"], "from")
    if state.active and state.active != giver:
        return giver, (f"from={giver}, but {state.active} was the active agent",)
    return giver, ()


def _chain_names(layout: Layout, state: handoff_state.State, giver: str) -> list[str]:
    """The names of the artifacts that lead to this switch, newest first.

    Those of this session; for its first switch, those of the session in which `giver` was active.
    """
    order = state.order
    if not order and not state.active:
        views = [view for view in state.elsewhere() if giver in (view.active, view.ended)]
        order = max(views, key=lambda view: view.at).order if views else ()
    return list(reversed(order[-layout.limits.handoff_retained :]))


def _with_story(
    layout: Layout, fields: handoffs.Fields, chain: list[Handoff], no_story: bool, since: str
) -> tuple[handoffs.Fields, tuple[str, ...]]:
    """Fill in the fields, with the story of the last artifact if none is named.

    `no_story` leaves it out. The story's status and task are read again from its file.
    """
    if fields.get("story_id") or fields.get("story_path") or no_story:
        return autofill.fill(layout, fields, since)
    last = chain[0] if chain else None
    if last is None or not last.story_id:
        return autofill.fill(layout, fields, since)
    story = {"story_id": last.story_id, "story_path": last.story_path}
    filled, messages = autofill.fill(layout, {**fields, **story}, since)
    for name in ("story_status", "current_task"):  # unless the file has them
        filled.setdefault(name, getattr(last, name))
    return filled, (*messages, f"story {names.one_line(last.story_id)} goes on")


def _artifact(
    layout: Layout,
    fields: handoffs.Fields,
    typed: handoffs.Fields,
    state: handoff_state.State,
    chain: list[Handoff],
    now: int,
    strict: bool,
) -> tuple[Handoff, tuple[str, ...]]:
    """Make the artifact within the limits, without lines of the giver's own profile.

    `typed` are the fields that somebody typed. What the last artifact of `chain` left open is
    carried over.
    """
    fields, messages = _without_persona(layout, fields)
    fields = redaction.cleaned(fields, layout.limits.secrets_allow)
    last = chain[0] if chain else None
    carried, of_verdicts = _blockers(layout, last)
    fields, more = fitting.carry(fields, last, layout.limits, typed, carried, of_verdicts)
    stamped = {
        **fields,
        "version": handoffs.VERSION,
        "timestamp": names.iso(now),
        "sequence": state.sequence + 1,
        "consumed": False,
        "session": state.session,
    }
    handoff, cut = fitting.clipped(handoffs.make(stamped), layout.limits, strict)
    return handoff, (*messages, *more, *cut)


def _blockers(layout: Layout, last: Handoff | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The blockers of the last artifact that are still open, and those of verdicts."""
    carried = fitting.apart("blockers", last.blockers) if last else ()
    if not carried and not os.path.isdir(layout.verdicts):
        return (), ()  # most repositories: nothing to import
    from contextkit.handoffs.flows import blockers

    return blockers.still_open(layout, carried), blockers.of_verdicts(layout)


def _refuse_misspelled(layout: Layout, agent: str) -> None:
    """Refuse a receiver without a profile whose name is close to that of one with a profile."""
    if incoming.find_profile(layout, agent):
        return
    profiles = incoming.known_profiles(layout)
    near = names.nearest(agent, profiles, _MISSPELLED) if profiles else ""
    if near:
        raise bad_input(f"to: there is no profile of {agent}{near}")


def _without_persona(
    layout: Layout, fields: handoffs.Fields
) -> tuple[handoffs.Fields, tuple[str, ...]]:
    """Drop entries that are, word for word, a line of the outgoing agent's profile."""
    giver, to = fields["from_agent"], fields["to_agent"]
    text = incoming.load_profile(layout, incoming.find_profile(layout, giver))
    entries = [item for name in handoffs.LISTS for item in fields.get(name, ())]
    if not any(item.strip() in text for item in (*entries, fields.get("next_action", ""))):
        return fields, ()  # the usual case: no need to compare lines
    own = incoming.lines_of_its_own(
        text, incoming.load_profile(layout, incoming.find_profile(layout, to))
    )
    kept, messages = dict(fields), []
    for name in handoffs.LISTS:
        items = fields.get(name, ())
        kept[name] = tuple(item for item in items if item.strip() not in own)
        if len(kept[name]) < len(items):
            messages.append(f"{name}: a line of {giver}'s profile is not carried over")
    if fields.get("next_action", "").strip() in own:
        raise bad_input(f"next_action: is a line of {giver}'s profile: say what {to} should do")
    return kept, tuple(messages)


def switch_from_prompt(
    layout: Layout,
    prompt: str,
    now: int,
    longest: int | None = None,
    most_tokens: int | None = None,
    transcript: str = "",
) -> str | None:
    """Switch for a host's hook; return the incoming agent's context, or None without a switch.

    The rest of the prompt becomes the next_action (two sentences) and may name the story, by
    default that of the last artifact. Decisions, files and task come from what the session did
    since its last switch, as far as its stores and its `transcript` show. A name is not an agent
    if it is that of a file, or if it has no profile where others do.

    If the context exceeds `longest` characters, or `most_tokens` by the cautious estimate, it names
    the profile instead of quoting it. Raises ContextError if the switch fails; the active agent
    then stays the same.
    """
    recognized = agents.recognized(prompt, layout.limits.handoff_prefixes)
    if recognized is None or not _is_agent(layout, recognized[0]):
        return None
    to, rest = recognized
    action = handoffs.sentences(names.one_line(rest)) or _NOT_SAID
    fields: handoffs.Fields = {"to_agent": to, "next_action": action}
    state, _ = handoff_state.current(layout)
    if state.active:
        story = autofill.story_named(layout, rest)
        fields |= autofill.since(layout, state.at, transcript)
        fields |= {"story_path": story} if story else {}
    if state.active == to:  # the rest of the prompt is for the agent, not for its artifact
        fields = {name: fields[name] for name in ("to_agent", "story_path") if name in fields}
    done = switch(layout, fields, now)
    fits = longest is None or len(done.text) <= longest
    if fits and (
        most_tokens is None or tokens.within(done.text, most_tokens, layout.limits.tokenizer)
    ):
        return done.text or None
    return incoming.shortened(layout, to, done.text)


def undo(layout: Layout) -> Context:
    """Undo the last switch of this session: remove its artifact and reactivate the agent before.

    Raises ContextError if there is none.
    """
    with handoff_state.locked(layout):
        state, messages = handoff_state.current(layout)
        undone, name = handoff_state.undo(layout, state)
    path = os.path.join(layout.handoffs, name) if name else ""
    active = f"{undone.active} is active" if undone.active else "no agent is active"
    gone = f"{layout.shown(path)} is gone; " if path else ""
    return Context(text=f"{gone}{active}", path=path, said=messages)


def reset(layout: Layout) -> Context:
    """End the session: no agent is active, artifacts stay. The text names the agent that was."""
    with handoff_state.locked(layout):
        state, messages = handoff_state.current(layout)
        if state.active:
            handoff_state.save(layout, state.replace(active="", ended=""))
    text = f"{state.active} is no longer active" if state.active else "no agent was active"
    return Context(text=text, said=messages)


def nobody(layout: Layout, agent: str) -> str:
    """The notice that a prompt called an agent without a profile; '' if none has a profile here."""
    if not incoming.has_profiles(layout):
        return ""
    return f"No switch was made: there is no profile of `{agent}` here (handoff_profiles)."


def _is_agent(layout: Layout, agent: str) -> bool:
    if incoming.find_profile(layout, agent):
        return True
    if incoming.has_profiles(layout):
        return False
    return not any(os.path.exists(os.path.join(at, agent)) for at in (layout.here, layout.root))
