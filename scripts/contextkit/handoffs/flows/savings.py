"""What handing over costs beside keeping every profile: of given profiles, or as done here."""

from __future__ import annotations

import os

from contextkit.base import agents, names, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import profiles, state
from contextkit.handoffs.flows import incoming


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
            with_handoff=loaded[index][1] + incoming.frame(min(index, kept), each),
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
