"""Switch from one agent to the next: write the artifact, then load the new agent."""

from __future__ import annotations

import os

from contextkit.base import agents, names, redaction, tokens
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.documents.artifacts import Handoff
from contextkit.handoffs.flows import fitting, incoming, work
from contextkit.reviews.flows import blockers

_MISSPELLED = 0.8  # similarity of a misspelled name: `qaa` is `qa`, but `pm` is not `sm`
_NOT_SAID = "(nothing was said)"  # the next_action for a prompt that is only a name


def hand_over(
    layout: Layout, fields: handoffs.Fields, now: int, no_story: bool = False, strict: bool = False
) -> str:
    """Write the artifact of `fields`, make its receiver active, and return the path."""
    with handoff_state.locked(layout):
        handover = _Handover(layout, fields, now, no_story, strict)
        if not handover.giver:
            lines = ["from: is missing, and no agent is active: who hands over?"]
            if not fields.get("next_action"):
                lines.append(handoffs.NO_ACTION)
            raise bad_input("\n".join(lines))
        _refuse_misspelled(layout, handover.to)
        path, chain = handover.write()
    written = chain[os.path.basename(path)]
    if written.story_id and not written.story_path:
        remark("story_path: is empty, so the incoming agent has to look for the story")
    return path


def switch(
    layout: Layout, fields: handoffs.Fields, now: int, profile: str = "", no_story: bool = False,
    strict: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """Make another agent the active one; the path of its artifact, written first, and its context.

    The first agent of a session gets no artifact unless `from_agent` says who hands over; then it
    also gets the artifacts that this agent wrote or got in another session. An active agent gets
    nothing. Raises ContextError without changing anything.
    """
    with handoff_state.locked(layout):
        handover = _Handover(layout, fields, now, no_story, strict)
        to = handover.to
        if handover.giver == to and not fields.get("from_agent"):
            return handover.add()
        if not profile:
            _refuse_misspelled(layout, to)
        own = incoming.profile(layout, to, profile)  # refuse it before anything is written
        path, chain = "", dict[str, Handoff]()
        if handover.giver:
            path, chain = handover.write()
        else:
            handoff_state.start(layout, handover.state, to, now)
            who, asked = handover.state.elsewhere(to)
            waits = f"; {who} left one for it in another session: `{asked}`" if who else ""
            remark(f"{to} is the first agent of this session: no artifact{waits}")
    return path, incoming.compose(layout, to, own, chain)


class _Handover:
    """A handover in the making: the fields that were typed, the giver, and the receiver.

    The giver is the agent named, else the active one. To be used under the lock.
    """

    def __init__(
        self, layout: Layout, typed: handoffs.Fields, now: int, no_story: bool, strict: bool
    ) -> None:
        self.to = agents.identify(typed.get("to_agent", ""), "to")
        self._layout, self._typed, self._now = layout, typed, now
        self._no_story, self._strict = no_story, strict
        self.state = handoff_state.current(layout)
        named, active = typed.get("from_agent"), self.state.active
        self.giver = agents.identify(named, "from") if named else active
        if active not in ("", self.giver):
            remark(f"from={self.giver}, but {active} was the active agent")

    def write(self) -> tuple[str, dict[str, Handoff]]:
        """Write the artifact; return its path and the names of all that the receiver may get."""
        own = order = self.state.order
        if not order and self.giver != self.state.active:  # new here: where the giver was last
            there = [handoff.session for handoff in self.state.artifacts.values()
                     if self.giver in (handoff.from_agent, handoff.to_agent)]  # fmt: skip
            order = self.state.order_of(there[-1]) if there else []
        kept = reversed(order[-self._layout.limits.handoff_retained :])
        before = {name: self.state.artifacts[name] for name in kept}
        chain = list(before.values())
        handoff = self._artifact(chain[0] if chain else None)
        carried = incoming.weight(self._layout, [handoff, *chain])
        path = handoff_state.keep(self._layout, self.state, handoff, self._now, carried)
        for name, left in list(before.items())[:1] if order is not own else ():
            waiting = os.path.join(self._layout.handoffs, name)
            same = (left.from_agent, left.to_agent) == (handoff.from_agent, handoff.to_agent)
            if same and os.path.isfile(waiting):  # left in another session for the same receiver
                try:
                    handoffs.consume(self._layout, waiting)
                except ContextError as error:
                    remark(str(error))
        return path, {os.path.basename(path): handoff, **before}

    def add(self) -> tuple[str, str]:
        """Add typed fields, such as a story, to the artifact that the active agent was given."""
        typed = {k: v for k, v in self._typed.items() if k not in ("to_agent", "consumed")}
        name = self.state.order[-1] if typed and self.state.order else ""
        handoff = last = self.state.artifacts.get(name)
        if last:
            filled = self._filled({**vars(last), **typed})
            handoff = self._clipped({**vars(last), **filled})
        if handoff is None or handoff == last:
            remark(f"{self.to} is already active: nothing to hand over")
            return "", ""
        remark(f"{self.to} is already active: added to its artifact: {', '.join(sorted(typed))}")
        path = handoffs.save(self._layout, handoff, name)
        return path, incoming.compose(self._layout, self.to, ("", ""), {name: handoff})

    def _artifact(self, last: Handoff | None) -> Handoff:
        """Make the artifact within the limits, without lines of the giver's own profile.

        Open entries of `last` are carried over, and so is its story, unless another is named or
        `no_story` leaves it out. The story's status and task are read again from its file.
        """
        fields = {**self._typed, "from_agent": self.giver, "to_agent": self.to}
        if last and (last.from_agent, last.to_agent) == (self.giver, self.to):  # taken up
            fields.setdefault("next_action", last.next_action)
        is_named = fields.get("story_id") or fields.get("story_path") or self._no_story
        if last and last.story_id and not is_named:
            story = {"story_id": last.story_id, "story_path": last.story_path}
            kept = {"story_status": last.story_status, "current_task": last.current_task}
            fields = {**kept, **self._filled({**fields, **story})}
            remark(f"story {names.one_line(last.story_id)} continues")
        else:
            fields = self._filled(fields)
        fields["current_task"] = fields.get("current_task") or work.current_step(self._layout)
        limits = self._layout.limits
        fields = redaction.cleaned(self._without_persona(fields), limits.secrets_allow)
        before = fitting.apart("blockers", last.blockers) if last else ()
        others = tuple(line for line in before if not blockers.reviewer(line))
        reviews = blockers.lines(self._layout)
        fields, told = fitting.carry(fields, last, limits, self._typed, others, reviews)
        remark(*told)
        stamp = {"version": handoffs.VERSION, "timestamp": names.iso(self._now), "consumed": False,
                 "sequence": self.state.sequence + 1, "session": self.state.session}  # fmt: skip
        return self._clipped({**fields, **stamp})

    def _filled(self, fields: handoffs.Fields) -> handoffs.Fields:
        """The fields, with what is known about the work since the giver took over."""
        own = self.state.own if self.giver == self.state.active else handoff_state.View()
        filled = work.fill(self._layout, fields, own.at, own.head)
        action = names.one_line(filled.get("next_action", ""))
        if handoffs.sentences(action) != action:
            remark("next_action: has more than two sentences")
        return filled

    def _clipped(self, fields: handoffs.Fields) -> Handoff:
        handoff, cut = fitting.clipped(handoffs.make(fields), self._layout.limits, self._strict)
        remark(*cut)
        return handoff

    def _without_persona(self, fields: handoffs.Fields) -> handoffs.Fields:
        """The fields, without entries that are literally a line of the outgoing agent's profile."""
        layout, giver = self._layout, self.giver
        text = incoming.load_profile(layout, incoming.find_profile(layout, giver))
        entries = [item for name in handoffs.LISTS for item in fields.get(name, ())]
        if not any(item.strip() in text for item in (*entries, fields.get("next_action", ""))):
            return fields  # the usual case: no need to compare lines
        others = incoming.load_profile(layout, incoming.find_profile(layout, self.to))
        own = incoming.lines_of_its_own(text, others)
        kept = dict(fields)
        for name in handoffs.LISTS:
            items = fields.get(name, ())
            kept[name] = tuple(item for item in items if item.strip() not in own)
            if len(kept[name]) < len(items):
                remark(f"{name}: a line of {giver}'s profile is not carried over")
        if fields.get("next_action", "").strip() in own:
            to = f"say what {self.to} should do"
            raise bad_input(f"next_action: is a line of {giver}'s profile: {to}")
        return kept


def _refuse_misspelled(layout: Layout, agent: str) -> None:
    """Refuse a receiver without a profile whose name is close to that of one with a profile."""
    profiles = [] if incoming.find_profile(layout, agent) else incoming.known_profiles(layout)
    near = names.nearest(agent, profiles, _MISSPELLED) if profiles else ""
    if near:
        raise bad_input(f"to: there is no profile of {agent}{near}")


def switch_from_prompt(
    layout: Layout, prompt: str, now: int, longest: int | None = None,
    most_tokens: int | None = None, transcript: str = "",
) -> str | None:  # fmt: skip
    """Switch for a host's hook; return the incoming agent's context, or None without a switch.

    The rest of the prompt becomes the next_action (two sentences) and may name the story.
    Decisions, files and task come from the session's stores and its `transcript`. A name is not an
    agent if it is that of a file, or if it has no profile where others do.

    Above `longest` characters or `most_tokens`, the context names the profile instead of quoting
    it. Raises ContextError if the switch fails; the active agent then stays the same.
    """
    recognized = agents.recognized(prompt, layout.limits.handoff_prefixes)
    if recognized is None:
        return None
    to, rest = recognized
    is_file = any(os.path.exists(os.path.join(at, to)) for at in (layout.here, layout.root))
    if not incoming.find_profile(layout, to) and (is_file or incoming.has_profiles(layout)):
        return None
    action = handoffs.sentences(names.one_line(rest)) or _NOT_SAID
    fields: handoffs.Fields = {"to_agent": to, "next_action": action}
    state = handoff_state.current(layout)
    if state.active:
        story = work.story_named(layout, rest)
        fields |= work.since(layout, state.own.at, transcript)
        fields |= {"story_path": story} if story else {}
    if state.active == to:  # the rest of the prompt is for the agent, not for its artifact
        fields = {name: fields[name] for name in ("to_agent", "story_path") if name in fields}
    _, text = switch(layout, fields, now)
    fits = longest is None or len(text) <= longest
    if fits and (most_tokens is None or tokens.within(text, most_tokens, layout.limits.tokenizer)):
        return text or None
    return incoming.shortened(layout, to, text)


def nobody(layout: Layout, agent: str) -> str:
    """The notice that a prompt called an agent without a profile; '' if none has a profile here."""
    if not incoming.has_profiles(layout):
        return ""
    return f"No switch was made: there is no profile of `{agent}` here (handoff_profiles)."
