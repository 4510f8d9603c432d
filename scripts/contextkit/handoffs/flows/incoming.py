"""What an agent gets when it starts, the kept artifacts and its own profile; what that saves."""

from __future__ import annotations

import os

from contextkit.base import addresses, agents, ledger, names, redaction, templates, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import profiles, state
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.documents.artifacts import Handoff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.handoffs.documents.state import State

_HEADING = "# Your profile: "
_FRAME, _FRAME_EACH = 80, 30  # tokens around all artifacts, and around each


class Context(Record):
    """The text for the incoming agent, and what to say on stderr."""

    text: str = ""
    said: tuple[str, ...] = ()


class Profile(Record):
    """An agent's profile, word for word but for secrets, and its path; empty if there is none."""

    text: str = ""
    path: str = ""


def of(layout: Layout, agent: str, given: str = "") -> Context:
    """The context of `agent` as things stand; `given` is the path of a profile that was typed."""
    to = agents.identify(agent, "to")
    state, said = handoff_state.current(layout)
    found, unread = retained(layout, state)
    made = compose(layout, to, profile(layout, to, given), found)
    return made.replace(said=(*said, *unread, *made.said))


def profile(layout: Layout, agent: str, given: str = "") -> Profile:
    """The profile at the path `given`, else where the settings say that this agent's is."""
    path = profiles.find(layout, agent, given)
    return Profile(
        text=_without_secrets(layout, profiles.load(layout, path)),
        path=layout.shown(path) if path else "",
    )


def retained(layout: Layout, state: State) -> tuple[dict[str, Handoff], tuple[str, ...]]:
    """The artifacts that are kept, newest first, and what cannot be read."""
    return handoffs.read(layout, list(reversed(handoff_state.retained(layout, state))))


def compose(layout: Layout, agent: str, own: Profile, found: dict[str, Handoff]) -> Context:
    """The artifacts `found`, newest first and as many as are kept, and the profile below them."""
    parts = [
        {
            "path": layout.shown(os.path.join(layout.handoffs, name)),
            "text": _without_secrets(layout, handoffs.render(handoff)),
            "consumed": handoff.consumed,
        }
        for name, handoff in list(found.items())[: layout.limits.handoff_retained]
    ]
    for part in parts:
        ref = addresses.of(layout, layout.join(str(part["path"])), "handoff")
        size = tokens.estimate(str(part["text"]))
        ledger.note(layout, ledger.RENDERED, ref, tokens=size, to=f"agent:{agent}")
    text = templates.render("handoff_context.md", agent=agent, artifacts=parts) if parts else ""
    if own.path:
        text += f"{_HEADING}{names.one_line(own.path)}, from here to the end\n\n{own.text}"
        return Context(text=text)
    asked = ", ".join(map(layout.shown, layout.profiles(agent)))
    return Context(text=text, said=(f"no profile of {agent} was found ({asked}): artifacts only",))


def weight(layout: Layout, newest_first: list[Handoff]) -> int:
    """The tokens of the artifacts that an incoming agent gets, with what stands around them."""
    kept = newest_first[: layout.limits.handoff_retained]
    return frame(len(kept), 0) + sum(tokens.estimate(handoffs.render(one)) for one in kept)


def frame(count: int, each: int) -> int:
    """The tokens of a context with `count` artifacts of `each` tokens, without the profile."""
    return _FRAME + (_FRAME_EACH + each) * count if count else 0


def _without_secrets(layout: Layout, text: str) -> str:
    return redaction.redacted(text, layout.limits.secrets_allow)[0]


def shortened(layout: Layout, agent: str, text: str) -> str:
    """A context of `agent` with its profile named instead of quoted."""
    own = profile(layout, agent)
    head = text.removesuffix(own.text).rpartition(_HEADING)[0]
    return f"{head}{_HEADING}read {own.path}\n"


# What it costs beside keeping every profile: of given profiles, or as done here


class Saving(Record):
    """One switch, in estimated tokens: all profiles so far, or the new one and the artifacts."""

    switch: str
    without: int
    with_handoff: int
    known: bool = True  # whether there is a profile of every agent that it counts

    @property
    def percent(self) -> int | None:
        """How much of the context is spared; None where a profile is missing."""
        if not (self.known and self.without):
            return None
        return round(100 * (1 - self.with_handoff / self.without))


def of_profiles(layout: Layout, given: tuple[str, ...], artifact: int | None) -> list[Saving]:
    """As in the design's example: agents with these profiles one after the other.

    `artifact` is the size of each artifact; else the mean of those that are here, else the usual.
    """
    if len(given) < 2:
        raise bad_input("profiles: give at least two, in the order of the agents")
    loaded = [_profile(layout, name) for name in given]
    each = artifact or _mean(layout)
    kept = layout.limits.handoff_retained
    return [
        Saving(
            switch=f"{loaded[index - 1][0]} → {loaded[index][0]}",
            without=sum(size for _, size in loaded[: index + 1]),
            with_handoff=loaded[index][1] + frame(min(index, kept), each),
        )
        for index in range(1, len(loaded))
    ]


def _profile(layout: Layout, name: str) -> tuple[str, int]:
    """The name and size of a profile, given as a file or as the id of an agent."""
    there = os.path.isfile(os.path.join(layout.here, name))
    path = layout.typed(name, "profiles") if there else ""
    if not path and agents.is_id(name.lower()):
        path = profiles.find(layout, name.lower())
    if not path:
        raise bad_input(f"profiles: there is no file {name!r} in the repository")
    shown = os.path.splitext(os.path.basename(name))[0]
    return names.one_line(shown), tokens.estimate(profiles.load(layout, path))


def _mean(layout: Layout) -> int:
    sizes = []
    for name in state.everywhere(state.current(layout)[0]):
        try:
            path = os.path.join(layout.handoffs, name)
            sizes.append(tokens.estimate(handoffs.load_text(path, name)))
        except ContextError:
            continue
    return round(sum(sizes) / len(sizes)) if sizes else layout.limits.handoff_typical_tokens


def recorded(layout: Layout) -> tuple[list[Saving], tuple[str, ...]]:
    """Each switch of the log, with the profiles as they are now; and whose profile is missing."""
    log = state.current(layout)[0].log()
    sizes: dict[str, int] = {}
    found, missing = [], []
    so_far, last = 0, ""
    unknown: set[str] = set()
    agents_so_far: set[str] = set()
    for one in log:
        for agent in (one.from_agent, one.to_agent):
            if agent != "-" and agent not in sizes:
                path = profiles.find(layout, agent)
                sizes[agent] = tokens.estimate(profiles.load(layout, path))
                if not path:
                    unknown.add(agent)
                    missing.append(f"{agent} has no profile: nothing is claimed for its switches")
        if one.from_agent != last:  # a session begins
            so_far, agents_so_far = sizes.get(one.from_agent, 0), {one.from_agent}
        so_far += sizes[one.to_agent]
        agents_so_far.add(one.to_agent)
        last = one.to_agent
        if one.from_agent != "-":
            found.append(
                Saving(
                    switch=f"{one.from_agent} → {one.to_agent}",
                    without=so_far,
                    with_handoff=sizes[one.to_agent] + one.carried,
                    known=unknown.isdisjoint(agents_so_far),
                )
            )
    return found, tuple(missing)
