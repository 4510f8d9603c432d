"""Who is active in each session, and a log of the switches, in the file `session-state`.

The artifacts themselves hold their order: a number, or else a time. If one is newer than the state
(after a crash midway, a copied folder, another tool), its receiver is active. All changes are made
under one lock.
"""

from __future__ import annotations

import os

from contextkit.base import agents, files, formats, git, names, sessions, shelf, version
from contextkit.base.errors import ContextError, NewerFormat, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple, Record
from contextkit.base.type_names import Iterable
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents.artifacts import Handoff

FILE = "session-state"
FORMAT = 2  # of an older format, only the log and the number of switches are read


class Switch(NamedTuple):
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
    """Who is active in a session, or was at its end; the time and commit of its last switch."""

    active: str = ""
    ended: str = ""
    at: str = ""
    head: str = ""

    def check(self) -> None:
        if not all(agent == "" or agents.is_id(agent) for agent in (self.active, self.ended)):
            raise bad_input(f"{FILE}: holds values that no switch writes")


class State(Record):
    """The state as seen by one session, and all artifacts by name, oldest first."""

    session: str = ""  # from `sessions.key`; '' if unknown
    sequence: int = 0
    views: dict[str, View] = {}  # noqa: RUF012  (of each session; a Record is never changed)
    switches: tuple[str, ...] = ()  # unparsed lines, since a handoff only appends one
    artifacts: dict[str, Handoff] = {}  # noqa: RUF012

    def check(self) -> None:
        if self.sequence < 0:
            raise bad_input(f"{FILE}: holds values that no switch writes")

    @property
    def own(self) -> View:
        return self.views.get(self.session) or View()

    @property
    def active(self) -> str:
        return self.own.active

    @property
    def order(self) -> list[str]:
        """The names of this session's artifacts, oldest first."""
        return self.order_of(self.session)

    def order_of(self, session: str) -> list[str]:
        """The names of a session's artifacts, oldest first."""
        return [name for name, handoff in self.artifacts.items() if handoff.session == session]

    def everywhere(self) -> list[str]:
        """The names of all artifacts, oldest first, with those of this session last."""
        own = self.order
        return [*(name for name in self.artifacts if name not in own), *own]

    def with_own(self, **changes: object) -> State:
        """The state after these changes of its own view."""
        return self.replace(views={**self.views, self.session: self.own.replace(**changes)})

    def waiting(self, order: list[str]) -> dict[str, Handoff]:
        """The artifacts of an order that still wait for their receiver, by name, newest first.

        It waits no longer once it is consumed, or its receiver has handed over in the same session.
        """
        givers: set[tuple[str, str]] = set()
        open_ones = {}
        for name in reversed(order):
            handoff = self.artifacts[name]
            if not handoff.consumed and (handoff.session, handoff.to_agent) not in givers:
                open_ones[name] = handoff
            givers.add((handoff.session, handoff.from_agent))
        return open_ones

    def elsewhere(self, agent: str) -> tuple[str, str]:
        """Who left an agent something that waits, and the command to take it up; or '' and ''."""
        waiting = self.waiting(self.everywhere()).values()
        for giver in (handoff.from_agent for handoff in waiting if handoff.to_agent == agent):
            return giver, names.call("handoff_switch", **{"to": agent, "from": giver})
        return "", ""

    def log(self) -> list[Switch]:
        """The recorded switches, oldest first; malformed lines are ignored."""
        switches = []
        for line in self.switches:
            at, giver, to, carried, session = (line.split() + [""] * 5)[:5]
            valid = agents.is_id(to) and (giver == "-" or agents.is_id(giver))
            if valid and names.is_whole(carried):
                switches.append(Switch(at, giver, to, int(carried[:9]), session))
        return switches


def locked(layout: Layout) -> files.locked:
    """The lock to hold while changing the active agent or the artifacts."""
    return files.locked(layout.lock(layout.handoffs))


def current(layout: Layout) -> State:
    """This session's state; the user is told what cannot be read. Writes nothing."""
    session = sessions.key(sessions.find_current(layout))
    loaded = handoffs.load_all(layout)
    kept, wrong = _load(layout)
    if wrong:
        remark(f"{wrong}: rebuilt from the artifacts")
    remark(*(f"{broken}; skipped" for broken in loaded.broken))
    before = (kept or State()).replace(session=session, artifacts=_in_order(loaded))
    newest = {handoff.session: name for name, handoff in before.artifacts.items()}
    state = before
    for owner, name in newest.items():
        last, view = before.artifacts[name], before.views.get(owner) or View()
        at = last.timestamp or _stamped(name)
        recorded = last.sequence <= before.sequence if last.sequence else at <= view.at
        if owner not in before.views or not recorded:
            views = {**state.views, owner: View(active=last.to_agent, at=at)}
            state = state.replace(views=views, sequence=max(state.sequence, last.sequence))
    if kept and state.active != before.active:
        remark(f"the artifacts say that {state.active} is active: taken from them")
    return state


def _in_order(loaded: Iterable[tuple[str, Handoff]]) -> dict[str, Handoff]:
    """The artifacts by name, in the order of their switches; those without a number by time."""
    by_name = {os.path.basename(path): handoff for path, handoff in loaded}
    times = {name: handoff.timestamp or _stamped(name) for name, handoff in by_name.items()}

    def place(name: str) -> tuple[int, bool, str, str]:
        before = [by_name[other].sequence for other, at in times.items() if at <= times[name]]
        number = by_name[name].sequence
        return number or max(before, default=0), not number, times[name], name

    return {name: by_name[name] for name in sorted(by_name, key=place)}


def _stamped(name: str) -> str:
    """The time in an artifact's file name, in the format of its `timestamp`."""
    stamp = next((w for w in name[:-5].split("-") if names.shape(w) == "00000000T000000Z"), "")
    day, time = stamp[:8], stamp[9:15]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z" if stamp else ""


def _load(layout: Layout) -> tuple[State | None, str]:
    """The saved state if it can be read, and what is wrong with it. Raises NewerFormat."""
    path = _path(layout)
    if not os.path.lexists(path):
        return None, ""
    try:
        plain = os.path.isfile(path) and not os.path.islink(path)
        fields = formats.object_from_json(files.read(path) if plain else "", FILE)
        version.refuse_newer(fields.get("format"), str(FORMAT), layout.shown(path))
        views = formats.inside(fields, "views").items()
        fields["views"] = {key: formats.build_known(View, view, FILE) for key, view in views}
        return formats.build_known(State, fields, FILE), ""
    except NewerFormat:
        raise
    except (ContextError, AttributeError, TypeError):
        return None, f"{layout.shown(path)}: cannot be read"


def save(layout: Layout, state: State) -> None:
    """Write the state, setting a broken one aside. Call this under the lock."""
    files.store(layout.handoffs)
    path = _path(layout)
    if _load(layout)[1]:
        os.rename(path, files.free(f"{path}.broken"))
    log = state.switches[-layout.limits.handoff_switches :]
    kept = {"sequence": state.sequence, "switches": log, "views": state.views, "format": FORMAT}
    files.write(path, formats.to_json(kept) + "\n", derived=True)  # only artifacts must be durable


def _path(layout: Layout) -> str:
    return os.path.join(layout.handoffs, FILE)


def keep(layout: Layout, state: State, handoff: Handoff, now: int, carried: int) -> str:
    """Write an artifact, activate its receiver, retire the oldest artifacts; return the path.

    `carried` are the tokens that the incoming agent gets. The order matters: after a crash midway,
    the artifacts imply the rest.
    """
    path = handoffs.save(layout, handoff.replace(session=state.session))
    most, at = layout.limits.handoff_retained, names.iso(now)
    switch = Switch(at, handoff.from_agent, handoff.to_agent, carried, state.session)
    since = names.iso(now - names.seconds(layout.limits.payload_idle))
    rest = {key for key, view in state.views.items() if view.at < since or not view.active}
    others = rest - {state.session}
    rested = [name for name, handoff in state.artifacts.items() if handoff.session in others]
    rested = sorted(rested, key=_stamped)[:-most]  # of all inactive ones, the newest stay
    gone = {*[*state.order, path][:-most], *rested}
    left = {handoff.session for name, handoff in state.artifacts.items() if name not in gone}
    views = {key: view for key, view in state.views.items() if key in left or view.at >= since}
    switches = (*state.switches, switch.line)
    kept = state.replace(views=views, sequence=handoff.sequence, switches=switches)
    _activate(layout, kept, handoff.to_agent, at)
    for name in sorted(gone):
        shelf.remove(layout, os.path.join(layout.handoffs, name), "handoff")
    return path


def start(layout: Layout, state: State, agent: str, now: int) -> None:
    """Make `agent` the first agent of a session: nobody hands over to it."""
    first = Switch(names.iso(now), "-", agent, 0, state.session)
    started = state.replace(switches=(*state.switches, first.line))
    _activate(layout, started, agent, first.at)


def _activate(layout: Layout, state: State, agent: str, at: str) -> None:
    head = git.head(layout.repository).commit
    save(layout, state.with_own(active=agent, ended="", at=at, head=head))


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
    is_first = last.from_agent == "-"
    name = state.order[-1] if state.order and not is_first else ""
    before = earlier[-1].to_agent if earlier else last.from_agent  # not a giver that was only named
    left = state.replace(switches=tuple(switch.line for switch in log if switch is not last))
    at = earlier[-1].at if earlier else ""
    undone = left.with_own(active="" if is_first else before, at=at, head="")
    if name:
        shelf.remove(layout, os.path.join(layout.handoffs, name), "handoff")
    save(layout, undone)
    return undone, name


def reset(layout: Layout, ended: str = "") -> str:
    """Deactivate the active agent of this session for good; return it, or ''.

    Or that of a session that `ended`, as `resume_session` undoes.
    """
    with locked(layout):
        state = _seen_by(layout, ended) if ended else current(layout)
        if state.active:
            save(layout, state.with_own(active="", ended=state.active if ended else ""))
    return state.active


def resume_session(layout: Layout, session: str) -> None:
    """Reactivate the agent that was active when `session` ended, unless another is now."""
    with locked(layout):
        state = _seen_by(layout, session)
        if state.own.ended and not state.active:
            save(layout, state.with_own(active=state.own.ended, ended=""))


def _seen_by(layout: Layout, session: str) -> State:
    """The state as `session` sees it; empty without a session or a saved state."""
    there = session and os.path.isfile(_path(layout))
    return current(layout).replace(session=sessions.key(session)) if there else State()
