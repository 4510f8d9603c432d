"""The lineage of a document: what it was made from, who got it, and what they made of it.

Edges come from the events: `from` of a stored document, `to` of an injected one, and what a
subagent or an agent stored after something entered its context.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, git, ledger, names, references
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Callable
from contextkit.history.flows import show
from contextkit.history.flows.delivery import HANDED, who
from contextkit.text import facts

Facts = dict[str, Any]

_DEEPEST = 12  # levels in each direction
_MOST = 200  # lines in a tree; the rest are counted
_WHOLE = 0.9  # of the tokens stored: a reader who was shown this much has seen the whole
_MOST_FILES = 200  # files compared with a commit
_MOST_TEXT = 200_000  # characters of a document that are searched for file names


class History:
    """The events in order of time, indexed once by each question asked of them."""

    def __init__(self, events: list[ledger.Event], elsewhere: dict[str, str] | None = None) -> None:
        """`elsewhere` names the machine of each document that another machine wrote."""
        self.events, self.elsewhere = events, elsewhere or {}
        self.of: dict[str, list[ledger.Event]] = {}
        self.made_of: dict[
            str, list[ledger.Event]
        ] = {}  # stored events that name a document in `from`
        self.put_with: dict[str, list[ledger.Event]] = {}  # handed events that name one in `from`
        self.into: dict[str, list[ledger.Event]] = {}  # handed events, by recipient
        self.by: dict[str, list[ledger.Event]] = {}  # stored events, by writer
        for event in events:
            self.of.setdefault(event["ref"], []).append(event)
            if event["event"] == ledger.STORED:
                for source in event["from"]:
                    self.made_of.setdefault(source, []).append(event)
                for writer in writers(event):
                    self.by.setdefault(writer, []).append(event)
            elif event["event"] in HANDED:
                for other in event["from"]:
                    self.put_with.setdefault(other, []).append(event)
                if event.get("to"):
                    self.into.setdefault(event["to"], []).append(event)

    def stored(self, ref: str) -> ledger.Event | None:
        """Return the event of the last time that a document was stored; None if there is none.

        That of the machine that the text here is from: others may store one under the same address.
        """
        events = [event for event in self.of.get(ref, ()) if event["event"] == ledger.STORED]
        machine = self.elsewhere.get(ref, "")
        its = [event for event in events if event.get("machine", "") == machine] or events
        return its[-1] if its else None

    def sources(self, ref: str) -> list[str]:
        """Return what a document was made from, and what its writer had been given before."""
        made = self.stored(ref)
        if made is None:
            return []
        refs = dict.fromkeys(made["from"])
        for writer in writers(made):
            for event in self.into.get(writer, ()):
                if event["at"] <= made["at"]:
                    refs |= dict.fromkeys([event["ref"], *event["from"]])
        refs.pop(ref, None)
        return list(refs)

    def handed(self, ref: str) -> list[ledger.Event]:
        """Return the events that handed a document to somebody, alone or with others."""
        own = [event for event in self.of.get(ref, ()) if event["event"] in HANDED]
        both = {id(event): event for event in (*own, *self.put_with.get(ref, ()))}
        return sorted(both.values(), key=lambda event: str(event["at"]))

    def left(self, ref: str) -> list[str]:
        """Return what was made from a document, and what its recipients stored afterwards."""
        refs: dict[str, None] = {}
        for event in self.made_of.get(ref, ()):
            refs[event["ref"]] = None
        for handed in self.handed(ref):
            for event in self.by.get(handed.get("to", ""), ()):
                if event["at"] >= handed["at"]:
                    refs[event["ref"]] = None
        refs.pop(ref, None)
        return list(refs)


def writers(stored: ledger.Event) -> list[str]:
    """Return who stored a document, as `to` names it: the subagent, else the agent or session."""
    if stored.get("by"):
        return [stored["by"]]
    named = [f"agent:{stored['agent']}"] if stored.get("agent") else []
    session = [f"session:{stored['session']}"] if stored.get("session") else []
    return named or session


def lineage(layout: Layout, history: History, ref: str) -> Facts:
    """Return what is known of one document; `from` and `left` are addresses."""
    made = history.stored(ref) or {}
    size = made.get("tokens", 0)
    opened = [
        {
            "at": event["at"],
            "event": event["event"],
            "by": who(event),
            "tokens": event.get("tokens", 0),
            "of": size,
            "whole": 0 < size * _WHOLE <= event.get("tokens", 0),
            "machine": event.get("machine", ""),
        }
        for event in history.of.get(ref, ())
        if event["event"] in (ledger.SHOWN, ledger.ACKNOWLEDGED, ledger.CONSUMED)
    ]
    handed = [
        {
            "ref": event.get("to", "") or who(event),
            "at": event["at"],
            "tokens": event.get("tokens", 0),
            "machine": event.get("machine", ""),
        }
        for event in history.handed(ref)
    ]
    written = {"at": made.get("at", ""), "by": who(made), "session": made.get("session", ""),
               "program": made.get("program", ""),
               "machine": history.elsewhere.get(ref) or made.get("machine", "")}  # fmt: skip
    written["commit"], drift = _drift(layout, ref, made.get("commit", ""))
    return {
        "ref": ref, "kind": ref.partition(":")[0], "written": written, "to": handed,
        "opened": opened, "left": history.left(ref), "drift": drift,
        "from": history.sources(ref), "id": ref,
    }  # fmt: skip


def _how_much(opened: Facts) -> str:
    """Say whether the whole or a part was opened; empty if no text was shown."""
    if not opened["tokens"]:
        return ""
    if opened["whole"]:
        return "  the whole"
    of = f" of ~{opened['of']}" if opened["of"] else ""
    return f"  ~{opened['tokens']}{of} tokens"


def _on(place: Facts) -> str:
    """Name the other machine that it was on; empty for this one."""
    return f" on {place['machine']}" if place["machine"] else ""


def _drift(layout: Layout, ref: str, commit: str) -> tuple[str, list[str]]:
    """Return the commit that a document was written at, and which of its inputs differ today.

    A capsule, snapshot or checkpoint has sealed its files. For any other document, the files that
    it names are compared with the commit that was checked out when it was stored.
    """
    kind = ref.partition(":")[0]
    if kind not in addresses.kinds():
        return commit, []
    try:
        address = addresses.find(layout, ref)
        text = show.whole(layout, address)
        if kind == "capsule":
            return _capsule_drift(layout, address.path, text, commit)
        if kind in ("snapshot", "checkpoint"):
            sealed = _sealed(kind, text)
            states = [(digest.path, references.state(layout.root, digest)) for digest in sealed]
            marks = [f"{path}: {state}" for path, state in states if state != references.FRESH]
            return commit, marks
        return commit, _differing(layout, commit, text)
    except ContextError:
        return commit, ["it no longer exists"]


def _capsule_drift(layout: Layout, path: str, text: str, commit: str) -> tuple[str, list[str]]:
    from contextkit.capsules.documents import store
    from contextkit.capsules.flows import given

    seal = store.seal_of(text)
    return (seal.head if seal else commit), given.staleness(layout, path)


def _sealed(kind: str, text: str) -> tuple[references.Reference, ...]:
    """Return the files that a snapshot or checkpoint has sealed."""
    if kind == "snapshot":
        from contextkit.memory.documents import snapshots

        return snapshots.parse(text).digests
    from contextkit.memory.documents import checkpoints

    return checkpoints.parse(text).files


def _differing(layout: Layout, commit: str, text: str) -> list[str]:
    """Return the files that a text names and that have changed since a commit."""
    if not commit or layout.repository is None:
        return []
    paths = _files_named(text)
    if not paths:
        return []
    short = commit[:12]
    top = layout.root
    asked = git.query(top, "--literal-pathspecs", "diff", "--name-only", "-z", "--no-renames",
                      "--relative", commit, "--", *paths)  # fmt: skip
    changed = asked.output().split("\0")
    if asked.failed:
        return [f"commit {short} is not here: what differs from it is unknown"]
    differing = sorted(path for path in changed if path)[:_MOST_FILES]
    return [
        f"{path}: differs from commit {short}" if os.path.lexists(layout.join(path))
        else f"{path}: {references.MISSING}"
        for path in differing
    ]  # fmt: skip


def _files_named(text: str) -> list[str]:
    """Return the paths in a text that could be below the root, without line numbers, each once."""
    paths: dict[str, None] = {}
    for kind, named, _ in facts.find(text[:_MOST_TEXT]):
        if kind in ("path", "location"):
            path = os.path.normpath(named.partition("#L" if "#L" in named else ":")[0])
            if not path.startswith(("/", "..", "~")) and len(paths) < _MOST_FILES:
                paths[path] = None
    return list(paths)


def tree(history: History, top: Facts) -> str:
    """Render the lineage for people: the document, its sources, its recipients, what they left."""
    written = top["written"]
    lines = [top["ref"]]
    if written["at"]:
        by = f" by {written['by']}" if written["by"] else ""
        session = f" in session {written['session']}" if written["session"] else ""
        program = f" ({written['program']})" if written["program"] else ""
        lines.append(f"written {written['at']}{by}{_on(written)}{session}{program}")
    else:
        lines.append("it is not known when it was written")
    if written["commit"]:
        lines.append(f"at commit {str(written['commit'])[:12]}")
    lines += [f"drift: {names.one_line(mark)}" for mark in top["drift"]]
    up = _branches(history, history.sources, top["ref"])
    lines += ["", "from", *(up or ["  nothing known"])]
    lines += ["", "to"]
    lines += [f"  {row['at']}  {row['ref'] or '(nobody is named)'}"
              f"  ~{row['tokens']} tokens{_on(row)}"
              for row in top["to"][:_MOST]] or ["  nobody yet"]  # fmt: skip
    lines += ["", "opened"]
    lines += [f"  {row['at']}  {row['event']}  {row['by']}".rstrip() + _how_much(row) + _on(row)
              for row in top["opened"][:_MOST]] or ["  by nobody yet"]  # fmt: skip
    down = _branches(history, history.left, top["ref"])
    lines += ["", "left", *(down or ["  nothing known"])]
    return "\n".join(names.spoken(line) for line in lines)


def _branches(history: History, next_of: Callable[[str], list[str]], ref: str) -> list[str]:
    """Render the tree below a document, each document once, at most twelve levels deep."""
    lines: list[str] = []
    seen = {ref}
    waiting = [(node, 1) for node in reversed(next_of(ref))]
    more = 0
    while waiting:
        node, level = waiting.pop()
        again = node in seen
        if len(lines) < _MOST:
            machine = (history.stored(node) or {}).get("machine", "")
            on = _on({"machine": machine})
            lines.append(f"{'  ' * level}{node}{on}{' (above)' if again else ''}")
        else:
            more += 1
        if not again and level < _DEEPEST:
            seen.add(node)
            waiting += [(below, level + 1) for below in reversed(next_of(node))]
    return [*lines, f"  and {more} more"] if more else lines


def data(history: History, top: Facts) -> Facts:
    """Return the lineage as data; `levels` has the addresses beyond `from` and `left`."""
    ref = top["ref"]
    levels = {"from": _levels(history.sources, ref), "left": _levels(history.left, ref)}
    return {**top, "levels": levels}


def _levels(next_of: Callable[[str], list[str]], ref: str) -> list[list[str]]:
    """Return the addresses that are one step away, two steps …, each once."""
    seen, levels, edge = {ref}, [], [ref]
    for _ in range(_DEEPEST):
        edge = [
            node for node in dict.fromkeys(b for a in edge for b in next_of(a)) if node not in seen
        ]
        if not edge:
            break
        seen.update(edge)
        levels.append(edge)
    return levels
