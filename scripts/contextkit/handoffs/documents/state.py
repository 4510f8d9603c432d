"""Who is active, and in which order artifacts were written: `session-state` beside them.

The state spares a command reading every artifact; it holds nothing that they do not say, but
for the log of switches. Where the two differ (a crash in between, a folder that was copied,
another tool), the artifacts win and it is said. Everything here happens under one lock.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, agents, files, formats, ledger, names, sessions, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents.artifacts import Handoff

FILE = "session-state"


class Switch(Record):
    """One line of the log: `2025-10-23T18:05:00Z sm dev 379`.

    Who took over from whom, and the tokens of all artifacts that were kept then.
    """

    at: str
    from_agent: str  # `-`: the first of a session
    to_agent: str
    carried: int = 0

    @property
    def line(self) -> str:
        return f"{self.at} {self.from_agent} {self.to_agent} {self.carried}"


class State(Record):
    """`order` has the names of the artifacts, oldest first."""

    active: str = ""
    sequence: int = 0
    order: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()  # lines: a command that hands over only adds one
    session: str = ""  # in which the active agent became that, as far as it was known

    def check(self) -> None:
        named = all(map(handoffs.is_name, self.order)) and len(set(self.order)) == len(self.order)
        if self.sequence < 0 or not named or not (self.active == "" or agents.is_id(self.active)):
            raise bad_input(f"{FILE}: says what no switch ever wrote")

    def log(self) -> list[Switch]:
        """The switches recorded, oldest first; a line that is none is passed over."""
        found = []
        for line in self.switches:
            at, giver, to, carried = (line.split() + [""] * 4)[:4]
            if (
                agents.is_id(to)
                and (giver == "-" or agents.is_id(giver))
                and names.is_whole(carried)
            ):
                found.append(Switch(at=at, from_agent=giver, to_agent=to, carried=int(carried[:9])))
        return found


def retained(layout: Layout, state: State) -> list[str]:
    """The names of the artifacts that count, oldest first; after a crash more may be there."""
    return list(state.order[-layout.limits.handoff_retained :])


def locked(layout: Layout) -> files.locked:
    """Held while the active agent or the artifacts change."""
    return files.locked(layout.lock(layout.handoffs))


def current(layout: Layout) -> tuple[State, tuple[str, ...]]:
    """The state that fits the artifacts, and what had to be mended; nothing is written."""
    listed = handoffs.listed(layout)
    said: tuple[str, ...] = ()
    try:
        kept = _load(layout)
    except ContextError as error:
        kept, said = None, (f"{error}: made again from the artifacts",)
    there = kept or State()
    if kept and set(kept.order) == set(listed):
        return kept, said
    order = tuple(name for name in there.order if name in listed)
    found, unread = handoffs.read(layout, [name for name in listed if name not in order])
    said += unread
    if not found:
        return there.replace(order=order), said

    def place(name: str) -> tuple[int, str, str]:
        return found[name].sequence, found[name].timestamp, name

    known = sorted(found, key=place)
    left = [name for name in known if 0 < found[name].sequence <= there.sequence]
    order = (*left, *order)  # from before the state was written, and due to go
    fresh = [name for name in known if name not in left]
    if not fresh:
        return there.replace(order=order), said
    newest = found[fresh[-1]]
    if there.active != newest.to_agent:
        said += (f"the artifacts say that {newest.to_agent} is active: taken from them",)
    sequence = max(there.sequence, newest.sequence)
    return there.replace(active=newest.to_agent, sequence=sequence, order=(*order, *fresh)), said


def _load(layout: Layout) -> State | None:
    """The state as it was written; None without one. Raises ContextError for a broken one."""
    path = _path(layout)
    if not os.path.lexists(path):
        return None
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            raise ContextError(f"{FILE}: is no ordinary file")
        found = formats.from_json(files.read(path), FILE)
        if not isinstance(found, dict):
            raise ContextError(f"{FILE}: is no JSON object")
        built: State = formats.build(State, found, FILE)
    except ContextError:
        raise ContextError(f"{layout.shown(path)}: cannot be read") from None
    return built


def save(layout: Layout, state: State) -> None:
    """Write the state, a broken one kept aside; call it under the lock."""
    files.store(handoffs.folder(layout))
    path = _path(layout)
    try:
        _load(layout)
    except ContextError:
        os.rename(path, files.free(f"{path}.broken"))
    log = state.switches[-layout.limits.handoff_switches :]
    text = formats.to_json(state.replace(switches=log)) + "\n"
    files.write(path, text, derived=True)  # the artifacts are what has to last


def _path(layout: Layout) -> str:
    return os.path.join(layout.handoffs, FILE)


def keep(layout: Layout, state: State, handoff: Handoff, now: int) -> str:
    """Write an artifact, make its receiver active, retire the oldest; returns the artifact's path.

    In this order: a crash in between leaves artifacts from which the rest follows, and no name is
    free for another artifact while the state still means the old one by it.
    """
    import time

    path = handoffs.save(layout, handoff)
    order = (*state.order, os.path.basename(path))
    surplus, order = _parted(order, layout.limits.handoff_retained)
    switch = Switch(
        at=names.iso(now),
        from_agent=handoff.from_agent,
        to_agent=handoff.to_agent,
        carried=sum(_tokens(layout, name) for name in order),
    )
    save(
        layout,
        State(
            active=handoff.to_agent,
            sequence=handoff.sequence,
            order=order,
            switches=(*state.switches, switch.line),
            session=sessions.find_current(layout),
        ),
    )
    for name in surplus:
        try:
            os.unlink(os.path.join(layout.handoffs, name))
            ref = addresses.of(layout, os.path.join(layout.handoffs, name), "handoff")
            ledger.note(layout, ledger.REMOVED, ref)
        except FileNotFoundError:
            pass  # somebody removed it by hand
    files.sweep(layout.handoffs, time.time())
    return path


def _parted(order: tuple[str, ...], most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that are too many, and the newest `most`."""
    return order[:-most], order[-most:]


def _tokens(layout: Layout, name: str) -> int:
    try:
        path = os.path.join(layout.handoffs, name)
        return tokens.estimate(handoffs.load_text(path, name))
    except ContextError:
        return 0


def start(layout: Layout, state: State, agent: str, now: int) -> None:
    """Make `agent` the first of a session: nobody hands over to it."""
    first = Switch(at=names.iso(now), from_agent="-", to_agent=agent)
    session = sessions.find_current(layout)
    log = (*state.switches, first.line)
    save(layout, state.replace(active=agent, switches=log, session=session))


def end_session(layout: Layout, session: str) -> str:
    """The agent that `session` made the active one is active no more; who that was, or nobody.

    The next activation is a first one then. `resume_session` makes it undone.
    """
    with locked(layout):
        state, _ = current(layout)
        if not (state.active and session and state.session == session):
            return ""
        save(layout, state.replace(active=""))
    return state.active


def resume_session(layout: Layout, session: str) -> str:
    """The agent that was active when `session` ended is so again, if nobody is; who that is."""
    with locked(layout):
        state, _ = current(layout)
        log = state.log()
        if state.active or not (session and state.session == session and log):
            return ""
        save(layout, state.replace(active=log[-1].to_agent))
    return log[-1].to_agent
