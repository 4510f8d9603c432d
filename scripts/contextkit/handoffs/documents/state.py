"""The active agent of each session and the order of its artifacts, in the file `session-state`.

The state saves commands from reading every artifact. If the two disagree (a crash midway, a copied
folder, another tool), the artifacts win. All changes are made under one lock.
"""

from __future__ import annotations

import os

from contextkit.base import agents, files, formats, names, sessions, shelf, version
from contextkit.base.errors import ContextError, NewerFormat, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents.artifacts import Handoff

FILE = "session-state"


class Switch(Record):
    """A line of the log: `2025-10-23T18:05:00Z sm dev 379 s-42`; 379 tokens were handed over."""

    at: str
    from_agent: str  # `-` for the first agent of a session
    to_agent: str
    carried: int = 0
    session: str = ""

    @property
    def line(self) -> str:
        return f"{self.at} {self.from_agent} {self.to_agent} {self.carried} {self.session}".rstrip()


class View(Record):
    """What is known of a session: its active agent, since when, its artifacts, oldest first.

    As a line: `s-42 dev - 2025-10-23T18:05:00Z handoff-….yaml …`, with `-` for empty values.
    """

    session: str = ""  # from `sessions.key`; '' if unknown
    active: str = ""
    ended: str = ""  # the agent active when the session ended
    at: str = ""  # the time of its last switch
    order: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        words = (self.session, self.active, self.ended, self.at, *self.order)
        return " ".join(word or "-" for word in words)

    @staticmethod
    def parse(line: str) -> View:
        session, active, ended, at, *order = (
            "" if word == "-" else word for word in line.split() + ["-"] * (4 - len(line.split()))
        )
        return View(session=session, active=active, ended=ended, at=at, order=tuple(order))


class State(View):
    """The state as seen by one session; in the file, by the one that switched last."""

    sequence: int = 0
    switches: tuple[str, ...] = ()  # unparsed lines, since a handoff just appends one
    others: tuple[str, ...] = ()  # the views of other sessions, as lines
    format: int = 1

    def check(self) -> None:
        artifacts = [*self.order, *(name for view in self.elsewhere() for name in view.order)]
        named = all(map(handoffs.is_name, artifacts)) and len(set(artifacts)) == len(artifacts)
        active = [self.active, self.ended, *(view.active for view in self.elsewhere())]
        if self.sequence < 0 or not named or not all(a == "" or agents.is_id(a) for a in active):
            raise bad_input(f"{FILE}: holds values that no switch writes")

    def elsewhere(self) -> list[View]:
        return [View.parse(line) for line in self.others]

    def seen_by(self, session: str) -> State:
        """The same state as seen by another session."""
        if session == self.session:
            return self
        views: dict[str, View] = {view.session: view for view in self.elsewhere()}
        own = views.pop(session, None) or View(session=session)
        if self.active or self.ended or self.order:
            views[self.session] = self
        return self.replace(
            session=session, active=own.active, ended=own.ended, at=own.at, order=own.order,
            others=tuple(view.line for view in views.values()),
        )  # fmt: skip

    def log(self) -> list[Switch]:
        """The recorded switches, oldest first; malformed lines are ignored."""
        switches = []
        for line in self.switches:
            at, giver, to, carried, session = (line.split() + [""] * 5)[:5]
            valid = agents.is_id(to) and (giver == "-" or agents.is_id(giver))
            if valid and names.is_whole(carried):
                switches.append(
                    Switch(at=at, from_agent=giver, to_agent=to, carried=int(carried[:9]),
                           session=session)
                )  # fmt: skip
        return switches


def everywhere(state: State) -> list[str]:
    """The names of all sessions' artifacts by time, with those of this session last."""
    others = (name for view in state.elsewhere() for name in view.order)
    return [*sorted(others, key=_stamped), *state.order]


def at_hand(state: State) -> list[str]:
    """The artifacts of this session, oldest first, or else those without a session."""
    nobodys = (view.order for view in state.elsewhere() if not view.session)
    return list(state.order or next(nobodys, ()))


def waiting(layout: Layout, order: list[str]) -> dict[str, Handoff]:
    """The artifacts of an order that still wait for their receiver, by name, newest first.

    One is taken up once it is consumed, or once its receiver has handed over in the same session.
    """
    givers: set[tuple[str, str]] = set()
    open_ones = {}
    for path, handoff in handoffs.load_all(layout, order[::-1]):
        if not handoff.consumed and (handoff.session, handoff.to_agent) not in givers:
            open_ones[os.path.basename(path)] = handoff
        givers.add((handoff.session, handoff.from_agent))
    return open_ones


def locked(layout: Layout) -> files.locked:
    """The lock to hold while changing the active agent or the artifacts."""
    return files.locked(layout.lock(layout.handoffs))


def current(layout: Layout) -> State:
    """This session's state, reconciled with the artifacts; the user is told what was rebuilt.

    Writes nothing. An artifact unknown to the state belongs to the session that it names, or else
    to this one.
    """
    session = sessions.key(sessions.find_current(layout))
    listed = handoffs.listed(layout)
    kept = None
    try:
        kept = _load(layout)
    except NewerFormat:
        raise
    except ContextError as error:
        remark(f"{error}: rebuilt from the artifacts")
    there = (kept or State(session=session)).seen_by(session)
    there = _without_lost(there, frozenset(listed))
    recorded = {*there.order, *(name for view in there.elsewhere() for name in view.order)}
    if recorded == set(listed):
        return there
    strays = handoffs.read(layout, (name for name in listed if name not in recorded))
    by_owner: dict[str, dict[str, Handoff]] = {}
    for name, handoff in strays.items():
        by_owner.setdefault(handoff.session or session, {})[name] = handoff
    mended = there
    for owner, theirs in by_owner.items():
        mended = _with_strays(layout, mended.seen_by(owner), theirs).seen_by(session)
    if kept and mended.active != there.active:
        remark(f"the artifacts say that {mended.active} is active: taken from them")
    return mended


def _without_lost(state: State, listed: frozenset[str]) -> State:
    """`state` without artifacts whose files are gone."""

    def there(order: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in order if name in listed)

    others = (view.replace(order=there(view.order)).line for view in state.elsewhere())
    return state.replace(order=there(state.order), others=tuple(others))


def _with_strays(layout: Layout, state: State, strays: dict[str, Handoff]) -> State:
    """`state` with unknown artifacts in the order of their switches; one without a number, by time.

    The receiver of the newest is active, unless its switch was recorded before.
    """
    loaded = {**handoffs.read(layout, state.order), **strays}
    numbers = {name: handoff.sequence for name, handoff in loaded.items()}
    times = {name: handoff.timestamp or _stamped(name) for name, handoff in loaded.items()}

    def place(name: str) -> tuple[int, bool, str, str]:
        at = times.get(name) or _stamped(name)  # one that cannot be read has no number, either
        before = [number for other, number in numbers.items() if times[other] <= at]
        number = numbers.get(name, 0)
        return number or max(before, default=0), not number, at, name

    order = tuple(sorted((*state.order, *strays), key=place))
    newest = strays.get(order[-1])
    if newest is None or 0 < newest.sequence <= state.sequence:
        return state.replace(order=order)
    sequence = max(state.sequence, newest.sequence)
    return state.replace(order=order, active=newest.to_agent, ended="", sequence=sequence)


def _stamped(name: str) -> str:
    """The time in an artifact's file name, in the format of its `timestamp`."""
    stamp = next((w for w in name[:-5].split("-") if names.shape(w) == "00000000T000000Z"), "")
    day, time = stamp[:8], stamp[9:15]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z" if stamp else ""


def _load(layout: Layout) -> State | None:
    """The saved state, or None. Raises ContextError if it is broken, NewerFormat if newer."""
    path = _path(layout)
    if not os.path.lexists(path):
        return None
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            raise ContextError(f"{FILE}: is not a regular file")
        fields = formats.object_from_json(files.read(path), FILE)
        version.refuse_newer(fields.get("format"), "1", layout.shown(path))
        built: State = formats.build(State, fields, FILE)
    except NewerFormat:
        raise
    except ContextError:
        raise ContextError(f"{layout.shown(path)}: cannot be read") from None
    return built.replace(session=sessions.key(built.session))


def save(layout: Layout, state: State) -> None:
    """Write the state, setting a broken one aside. Call this under the lock."""
    files.store(layout.handoffs)
    path = _path(layout)
    try:
        _load(layout)
    except NewerFormat:
        raise
    except ContextError:
        os.rename(path, files.free(f"{path}.broken"))
    log = state.switches[-layout.limits.handoff_switches :]
    text = formats.to_json(state.replace(switches=log)) + "\n"
    files.write(path, text, derived=True)  # only the artifacts must be durable


def _path(layout: Layout) -> str:
    return os.path.join(layout.handoffs, FILE)


def keep(layout: Layout, state: State, handoff: Handoff, now: int, carried: int) -> str:
    """Write an artifact, activate its receiver, retire the oldest artifacts; return the path.

    `carried` are the tokens that the incoming agent gets. The order matters: after a crash midway,
    the artifacts imply the rest, and no name is reused while the state refers to it.
    """

    handoff = handoff.replace(session=state.session)
    path = handoffs.save(layout, handoff)
    order = (*state.order, os.path.basename(path))
    most = layout.limits.handoff_retained
    surplus, order = order[:-most], order[-most:]
    gone, others = _rested(state, names.iso(now - names.seconds(layout.limits.payload_idle)), most)
    switch = Switch(
        at=names.iso(now), from_agent=handoff.from_agent, to_agent=handoff.to_agent,
        carried=carried, session=state.session,
    )  # fmt: skip
    save(
        layout,
        state.replace(
            active=handoff.to_agent, ended="", at=names.iso(now), sequence=handoff.sequence,
            order=order, switches=(*state.switches, switch.line), others=others,
        ),
    )  # fmt: skip
    for name in (*surplus, *gone):
        shelf.remove(layout, os.path.join(layout.handoffs, name), "handoff")
    return path


def _rested(state: State, since: str, most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which artifacts of resting sessions to retire, all but `most`; the other lines of state."""
    there = state.elsewhere()
    rested = [view for view in there if view.at < since or not view.active]
    names_there = sorted((name for view in rested for name in view.order), key=_stamped)
    gone = frozenset(names_there[:-most])
    kept = [
        view.replace(order=tuple(name for name in view.order if name not in gone)) for view in there
    ]
    left = (view.line for view in kept if view.order or view.at >= since)
    return tuple(sorted(gone)), tuple(left)


def start(layout: Layout, state: State, agent: str, now: int) -> None:
    """Make `agent` the first agent of a session, with nobody handing over to it."""
    at = names.iso(now)
    first = Switch(at=at, from_agent="-", to_agent=agent, session=state.session)
    log = (*state.switches, first.line)
    save(layout, state.replace(active=agent, ended="", at=at, switches=log))


def undo(layout: Layout, state: State) -> tuple[State, str]:
    """Undo the last switch of this session; the new state and the removed artifact's name.

    Raises ContextError if no switch is recorded.
    """
    log = state.log()
    own = [switch for switch in log if switch.session == state.session]
    if not own or not state.active:
        raise ContextError("there is no switch to undo in this session")
    *earlier, last = own
    if last.to_agent != state.active:
        raise ContextError(f"the last switch was to {last.to_agent}, but {state.active} is active")
    name, order = "", state.order
    if last.from_agent != "-" and order:
        name, order = order[-1], order[:-1]
    before = earlier[-1].to_agent if earlier else last.from_agent  # not who was said to hand over
    undone = state.replace(
        active="" if last.from_agent == "-" else before, at=earlier[-1].at if earlier else "",
        order=order, switches=tuple(switch.line for switch in log if switch is not last),
    )  # fmt: skip
    if name:
        shelf.remove(layout, os.path.join(layout.handoffs, name), "handoff")
    save(layout, undone)
    return undone, name


def end_session(layout: Layout, session: str) -> str:
    """Deactivate the active agent of `session`, as `resume_session` undoes; return it, or ''."""
    with locked(layout):
        own = _own(layout, session)
        if own.active:
            save(layout, own.replace(active="", ended=own.active))
    return own.active


def resume_session(layout: Layout, session: str) -> None:
    """Reactivate the agent that was active when `session` ended, unless another is now."""
    with locked(layout):
        own = _own(layout, session)
        if own.ended and not own.active:
            save(layout, own.replace(active=own.ended, ended=""))


def _own(layout: Layout, session: str) -> State:
    """The state as `session` sees it; empty without a session or a state that was saved."""
    there = session and os.path.isfile(_path(layout))
    return current(layout).seen_by(sessions.key(session)) if there else State()
