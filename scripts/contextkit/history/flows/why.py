"""Why a document is as it is: what it was made of, who got it, and what they made of that.

Edges are what the events say: `from` of a stored document, `to` of an injected one, and what a
subagent or an agent stored after something was put into its context.
"""

from __future__ import annotations

from contextkit.base import addresses, ledger, names
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.history.flows.delivery import HANDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from contextkit.base.layout import Layout
    from contextkit.base.ledger import Event

_DEEPEST = 12  # levels in each direction
_MOST = 200  # lines of a tree; more are counted


class Way(Record):
    """A document's way; `sources` and `left` are addresses, the others what the events say."""

    ref: str
    kind: str
    written: dict[str, object]
    sources: tuple[str, ...]
    to: tuple[dict[str, object], ...]
    opened: tuple[dict[str, object], ...]
    left: tuple[str, ...]
    drift: tuple[str, ...]


class History:
    """The events by what one asks of them: made once, in the order of time."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.of: dict[str, list[Event]] = {}
        self.made_of: dict[str, list[Event]] = {}  # stored events that name a document in `from`
        self.put_with: dict[str, list[Event]] = {}  # handed events that name one in `from`
        self.into: dict[str, list[Event]] = {}  # handed events, by who got it
        self.by: dict[str, list[Event]] = {}  # stored events, by who stored it
        for one in events:
            self.of.setdefault(one["ref"], []).append(one)
            if one["event"] == ledger.STORED:
                for source in one["from"]:
                    self.made_of.setdefault(source, []).append(one)
                for who in writers(one):
                    self.by.setdefault(who, []).append(one)
            elif one["event"] in HANDED:
                for other in one["from"]:
                    self.put_with.setdefault(other, []).append(one)
                if one.get("to"):
                    self.into.setdefault(one["to"], []).append(one)

    def stored(self, ref: str) -> Event | None:
        """The event of the last time that a document was stored; None for one that is not known."""
        found = [one for one in self.of.get(ref, ()) if one["event"] == ledger.STORED]
        return found[-1] if found else None

    def sources(self, ref: str) -> list[str]:
        """What a document was made of, and what its writer had been given before."""
        made = self.stored(ref)
        if made is None:
            return []
        found = dict.fromkeys(made["from"])
        for who in writers(made):
            for one in self.into.get(who, ()):
                if one["at"] <= made["at"]:
                    found |= dict.fromkeys([one["ref"], *one["from"]])
        found.pop(ref, None)
        return list(found)

    def handed(self, ref: str) -> list[Event]:
        """The times that a document was put before somebody, alone or with others."""
        own = [one for one in self.of.get(ref, ()) if one["event"] in HANDED]
        both = {id(one): one for one in (*own, *self.put_with.get(ref, ()))}
        return sorted(both.values(), key=lambda one: str(one["at"]))

    def left(self, ref: str) -> list[str]:
        """What was made of a document, and what those who got it stored afterwards."""
        found: dict[str, None] = {}
        for one in self.made_of.get(ref, ()):
            found[one["ref"]] = None
        for given in self.handed(ref):
            for one in self.by.get(given.get("to", ""), ()):
                if one["at"] >= given["at"]:
                    found[one["ref"]] = None
        found.pop(ref, None)
        return list(found)


def writers(stored: Event) -> list[str]:
    """Who stored a document, as `to` names it: the subagent, or else the agent, or the session."""
    if stored.get("by"):
        return [stored["by"]]
    named = [f"agent:{stored['agent']}"] if stored.get("agent") else []
    session = [f"session:{stored['session']}"] if stored.get("session") else []
    return named or session


def way(layout: Layout, history: History, ref: str) -> Way:
    """What is known of one document. Raises ContextError where nothing is, and it is not there."""
    made = history.stored(ref) or {}
    opened = [
        {
            "at": one["at"],
            "event": one["event"],
            "by": _who(one),
            "tokens": one.get("tokens", 0),
            "machine": one.get("machine", ""),
        }
        for one in history.of.get(ref, ())
        if one["event"] in (ledger.SHOWN, ledger.ACKNOWLEDGED, ledger.CONSUMED)
    ]
    handed = [
        {
            "ref": one.get("to", "") or _who(one),
            "at": one["at"],
            "tokens": one.get("tokens", 0),
            "machine": one.get("machine", ""),
        }
        for one in history.handed(ref)
    ]
    written = {"at": made.get("at", ""), "by": _who(made), "session": made.get("session", ""),
               "program": made.get("program", ""), "machine": made.get("machine", ""),
               "commit": ""}  # fmt: skip
    commit, drift = _drift(layout, ref)
    written["commit"] = commit
    return Way(
        ref=ref, kind=ref.partition(":")[0], written=written,
        sources=tuple(history.sources(ref)), to=tuple(handed), opened=tuple(opened),
        left=tuple(history.left(ref)), drift=tuple(drift),
    )  # fmt: skip


def _who(event: Event) -> str:
    return event.get("by") or event.get("agent") or event.get("session") or ""


def _on(said: dict[str, object]) -> str:
    """On which other machine it was; nothing for this one."""
    return f" on {said['machine']}" if said["machine"] else ""


def _drift(layout: Layout, ref: str) -> tuple[str, list[str]]:
    """The commit that a document was sealed at, and what has changed since."""
    kind = ref.partition(":")[0]
    if kind not in addresses.kinds():
        return "", []
    try:
        path = addresses.find(layout, ref).path
        if kind != "capsule":
            return "", []
        from contextkit.base import files
        from contextkit.capsules.documents import store
        from contextkit.capsules.flows import drift

        seal = store.seal_of(files.read(path))
        return (seal.head if seal else ""), drift.staleness(layout, path)
    except ContextError:
        return "", ["it no longer exists"]


def tree(history: History, top: Way) -> str:
    """The way as people see it: the document, what it came from, who got it, what they left."""
    said = top.written
    lines = [top.ref]
    if said["at"]:
        by = f" by {said['by']}" if said["by"] else ""
        session = f" in session {said['session']}" if said["session"] else ""
        program = f" ({said['program']})" if said["program"] else ""
        lines.append(f"written {said['at']}{by}{_on(said)}{session}{program}")
    else:
        lines.append("when it was written is not known")
    if said["commit"]:
        lines.append(f"at commit {str(said['commit'])[:12]}")
    lines += [f"changed since: {names.one_line(one)}" for one in top.drift]
    up = _branches(history.sources, top.ref)
    lines += ["", "from", *(up or ["  nothing known"])]
    lines += ["", "to"]
    lines += [f"  {one['at']}  {one['ref'] or '(nobody is named)'}"
              f"  ~{one['tokens']} tokens{_on(one)}"
              for one in top.to[:_MOST]] or ["  nobody yet"]  # fmt: skip
    lines += ["", "opened"]
    lines += [f"  {one['at']}  {one['event']}  {one['by']}".rstrip() + _on(one)
              for one in top.opened[:_MOST]] or ["  by nobody yet"]  # fmt: skip
    down = _branches(history.left, top.ref)
    lines += ["", "left", *(down or ["  nothing known"])]
    return "\n".join(names.spoken(line) for line in lines)


def _branches(next_of: Callable[[str], list[str]], ref: str) -> list[str]:
    """The tree below a document, each document once, at most twelve levels of it."""
    lines: list[str] = []
    seen = {ref}
    waiting = [(one, 1) for one in reversed(next_of(ref))]
    more = 0
    while waiting:
        one, level = waiting.pop()
        again = one in seen
        if len(lines) < _MOST:
            lines.append(f"{'  ' * level}{one}{' (above)' if again else ''}")
        else:
            more += 1
        if not again and level < _DEEPEST:
            seen.add(one)
            waiting += [(below, level + 1) for below in reversed(next_of(one))]
    return [*lines, f"  and {more} more"] if more else lines


def data(history: History, top: Way) -> dict[str, object]:
    """The way for programs: `from` and `left` are addresses; `levels` has those behind them."""
    fields = {**vars(top), "from": top.sources, "id": top.ref}
    fields.pop("sources")
    levels = {"from": _levels(history.sources, top.ref), "left": _levels(history.left, top.ref)}
    return {**fields, "levels": levels}


def _levels(next_of: Callable[[str], list[str]], ref: str) -> list[list[str]]:
    """The addresses that are one step away, two steps …, each once."""
    seen, found, edge = {ref}, [], [ref]
    for _ in range(_DEEPEST):
        edge = [
            one for one in dict.fromkeys(b for a in edge for b in next_of(a)) if one not in seen
        ]
        if not edge:
            break
        seen.update(edge)
        found.append(edge)
    return found
