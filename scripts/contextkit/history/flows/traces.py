"""What the events say about a document, a session and a system: derived, never stored.

Lineage is what a document was made from, who got it, and what they made of it: `from` of a stored
one, `to` of an injected one, and what an agent stored after something entered its context.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict

from contextkit.base import addresses, git, ledger, names, references, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Callable, Iterable
from contextkit.history.flows import show
from contextkit.text import facts

Facts = dict[str, Any]

HANDED = (ledger.INJECTED, ledger.RENDERED)  # given to an agent unasked
KEPT_OUT = ("payload", "finding", "verdict")  # a caller gets less in place of their text
_OPENED = (ledger.SHOWN, ledger.ACKNOWLEDGED, ledger.CONSUMED)
_ENDS = (ledger.ENDED, ledger.REMOVED)
_SEALED = {"snapshot": "digests", "checkpoint": "files"}  # the field with files as they were
_DEEPEST = 12  # levels in each direction
_MOST = 200  # lines in a tree; the rest are counted
_WHOLE = 0.9  # share of the stored tokens from which on a reader has seen the whole
_MOST_FILES = 200  # files compared with a commit
_MOST_TEXT = 200_000  # characters of a document that are searched for file names


def who(event: ledger.Event) -> str:
    """Who caused an event: the subagent, else the agent, else the session."""
    return str(next(filter(None, map(event.get, ("by", "agent", "session"))), ""))


class Delivery(Record):
    """The state of one document. `stored`, `handed`, `shown` are tokens; times are ISO or empty."""

    ref: str
    at: str = ""
    session: str = ""
    agent: str = ""
    stored: int = 0
    handed: int = 0
    asked: int = 0  # the part of `handed` for a second turn of its author
    shown: int = 0
    text: str = ""  # the kind of its text, where its receipt told it
    delivered: bool = False
    opened: bool = False
    consumed: bool = False
    gone: bool = False  # removed, or its session or task has ended

    @property
    def kind(self) -> str:
        return self.ref.partition(":")[0]

    @property
    def saved(self) -> int:
        """Net tokens kept out of contexts; 0 for a document that cost more than it saved."""
        return max(0, self.stored - self.handed - self.shown)


# The sum to which an event adds its tokens, and the mark it sets; other events mark an end.
_ADDS = {
    **dict.fromkeys(HANDED, (("handed",), ("delivered",))),
    **dict.fromkeys((ledger.SHOWN, ledger.ACKNOWLEDGED), (("shown",), ("opened", "delivered"))),
    ledger.ASKED: (("handed", "asked"), ()),
    ledger.CONSUMED: ((), ("consumed",)),
}


def of_documents(events: Iterable[ledger.Event]) -> dict[str, Delivery]:
    """The delivery of each document that was stored, also as part of another, by address."""
    facts: dict[str, Facts] = {}
    ended: set[str] = set()  # sessions whose payloads are put away
    for entry in events:
        event, ref, size = entry["event"], entry["ref"], entry.get("tokens", 0)
        if ref.startswith("session:") and event in _ENDS:
            ended.add(ref.removeprefix("session:"))
        ended.discard(_session_of(ref))
        if event == ledger.STORED:
            facts[ref] = {
                **facts.get(ref, {}), "at": entry["at"], "session": entry.get("session", ""),
                "agent": entry.get("agent", ""), "stored": size, "gone": False,
            }  # fmt: skip
            continue
        sums, marks = _ADDS.get(event, ((), ("gone",)))
        beside = entry["from"] if event in (*HANDED, ledger.SHOWN) else ()
        for number, name in enumerate((ref, *beside)):
            if fact := facts.get(name):
                fact |= {field: fact.get(field, 0) + (0 if number else size) for field in sums}
                fact |= dict.fromkeys(marks, True)
        if entry.get("kind") and ref in facts:
            facts[ref]["text"] = entry["kind"]
    for ref in facts:
        facts[ref]["gone"] |= _session_of(ref) in ended
    return {ref: Delivery(ref=ref, **values) for ref, values in facts.items()}


def _session_of(ref: str) -> str:
    """The session of a payload; '' for any other document."""
    kind, _, name = ref.partition(":")
    return name.partition("/")[0] if kind == "payload" else ""


_SUMS = {
    ledger.STORED: "stored", ledger.INJECTED: "injected", ledger.RENDERED: "injected",
    ledger.ASKED: "injected", ledger.SHOWN: "shown",
}  # fmt: skip


def sessions(events: list[ledger.Event], with_ended: bool = False) -> list[Facts]:
    """The sessions, oldest first, with the tokens stored, handed over and shown in each.

    Saved are those stored that entered no context, never below 0. Open counts documents that nobody
    has opened or consumed yet; `machine` is set if it ran on another one.
    """
    waiting = Counter(
        document.session
        for document in of_documents(events).values()
        if not (document.opened or document.consumed or document.gone)
    )
    begun = {"ended": "", "stored": 0, "injected": 0, "shown": 0, "saved": 0, "open": 0,
             "machine": ""}  # fmt: skip
    rows: dict[str, Facts] = {}
    for event in events:
        name = event.get("session", "")
        if name:
            new = {"id": name, "session": name, "host": "", "started": event["at"], **begun}
            row = rows.setdefault(name, new)
            for field in ("host", "machine"):
                row[field] = row[field] or event.get(field, "")
            if event["ref"] == f"session:{name}" and event["event"] in _ENDS:
                row["ended"] = event["at"]
            elif event["event"] in _SUMS:
                row["ended"] = ""
                row[_SUMS[event["event"]]] += event.get("tokens", 0)
    for name, row in rows.items():
        row["saved"] = max(0, row["stored"] - row["injected"] - row["shown"])
        row["open"] = waiting[name]
    return [row for row in rows.values() if with_ended or not row["ended"]]


def spent(documents: Iterable[Delivery], card: int) -> dict[str, int]:
    """The tokens kept out of contexts and their cost; `net` is the difference."""
    there = [item for item in documents if item.kind in KEPT_OUT]
    costs = ("handed", "asked", "shown")
    sums = {name: sum(getattr(item, name) for item in there) for name in ("stored", *costs)}
    sums |= {"receipts": sums.pop("handed") - sums["asked"], "card": card}
    cost = sum(sums.values()) - sums["stored"]
    return {**sums, "net": sums["stored"] - cost, "costs": cost, "documents": len(there)}


def totals(documents: Iterable[Delivery]) -> dict[str, int]:
    """The number of remaining documents, of those nobody got, opened or consumed, and of tokens."""
    every = list(documents)
    there = [document for document in every if not document.gone]
    never = ("delivered", "opened", "consumed")
    sums = {"stored": "stored", "injected": "handed", "shown": "shown", "saved": "saved"}
    return {
        "documents": len(there),
        **{f"never_{what}": sum(not getattr(d, what) for d in there) for what in never},
        **{name: sum(getattr(d, field) for d in every) for name, field in sums.items()},
    }


def by_system(documents: Iterable[Delivery]) -> dict[str, dict[str, int]]:
    """The totals of each system with a known document, named as in context_status."""
    groups: dict[str, list[Delivery]] = defaultdict(list)
    for document in documents:
        if store := stores.BY_KIND.get(document.kind):
            groups[store.system or store.label].append(document)
    return {system: totals(own) for system, own in groups.items()}


class History:
    """The events in order of time, indexed once for each kind of question."""

    def __init__(self, events: list[ledger.Event], elsewhere: dict[str, str] | None = None) -> None:
        """`elsewhere` names the machine of each document that another machine wrote."""
        self.elsewhere = elsewhere or {}
        indexes = [defaultdict[str, list[ledger.Event]](list) for _ in range(5)]
        # By the document; stored and handed events also by those in `from`; handed ones also by
        # recipient, stored ones by writer.
        self.of, self.made_of, self.put_with, self.into, self.by = indexes
        for event in events:
            self.of[event["ref"]].append(event)
            is_stored = event["event"] == ledger.STORED
            if not (is_stored or event["event"] in HANDED):
                continue
            for source in event["from"]:
                (self.made_of if is_stored else self.put_with)[source].append(event)
            for writer in writers(event) if is_stored else ():
                self.by[writer].append(event)
            if not is_stored and event.get("to"):
                self.into[event["to"]].append(event)

    def knows(self, ref: str) -> bool:
        return ref in self.of or ref in self.made_of or ref in self.put_with

    def stored(self, ref: str) -> ledger.Event:
        """The event of the last time that a document was stored on its machine; maybe empty."""
        events = [event for event in self.of.get(ref, ()) if event["event"] == ledger.STORED]
        machine = self.elsewhere.get(ref, "")
        its = [event for event in events if event.get("machine", "") == machine] or events
        return its[-1] if its else {}

    def sources(self, ref: str) -> list[str]:
        """The documents from which one was made, and those its writer had been given before."""
        made = self.stored(ref)
        refs = dict.fromkeys(made.get("from", ()))
        for writer in writers(made):
            for event in self.into.get(writer, ()):
                if event["at"] <= made["at"]:
                    refs |= dict.fromkeys([event["ref"], *event["from"]])
        refs.pop(ref, None)
        return list(refs)

    def handed(self, ref: str) -> list[ledger.Event]:
        """The events that handed a document to somebody, alone or with others."""
        own = [event for event in self.of.get(ref, ()) if event["event"] in HANDED]
        both = {id(event): event for event in (*own, *self.put_with.get(ref, ()))}
        return sorted(both.values(), key=lambda event: str(event["at"]))

    def left(self, ref: str) -> list[str]:
        """The documents made from one, and those its recipients stored afterwards."""
        refs = dict.fromkeys(event["ref"] for event in self.made_of.get(ref, ()))
        for handed in self.handed(ref):
            after = (e for e in self.by.get(handed.get("to", ""), ()) if e["at"] >= handed["at"])
            refs |= dict.fromkeys(event["ref"] for event in after)
        refs.pop(ref, None)
        return list(refs)


def writers(stored: ledger.Event) -> list[str]:
    """Who stored a document, in the words of `to`: the subagent, else the agent or session."""
    if stored.get("by"):
        return [stored["by"]]
    named = [f"agent:{stored['agent']}"] if stored.get("agent") else []
    session = [f"session:{stored['session']}"] if stored.get("session") else []
    return named or session


def lineage(layout: Layout, history: History, ref: str) -> Facts:
    """Everything known about one document; `from` and `left` are addresses."""
    made = history.stored(ref)
    size = made.get("tokens", 0)
    opened = [
        {"at": event["at"], "event": event["event"], "by": who(event), **_much(event), "of": size,
         "whole": 0 < size * _WHOLE <= event.get("tokens", 0)}
        for event in history.of.get(ref, ()) if event["event"] in _OPENED
    ]  # fmt: skip
    handed = [
        {"ref": event.get("to", "") or who(event), "at": event["at"], **_much(event)}
        for event in history.handed(ref)
    ]
    fields = {name: made.get(name, "") for name in ("at", "session", "program")}
    machine = history.elsewhere.get(ref) or made.get("machine", "")
    commit, drift = _drift(layout, ref, made.get("commit", ""))
    return {
        "ref": ref, "kind": ref.partition(":")[0],
        "written": {**fields, "by": who(made), "machine": machine, "commit": commit},
        "to": handed, "opened": opened, "left": history.left(ref), "drift": drift,
        "from": history.sources(ref), "id": ref,
    }  # fmt: skip


def _much(event: ledger.Event) -> Facts:
    return {"tokens": event.get("tokens", 0), "machine": event.get("machine", "")}


def _drift(layout: Layout, ref: str, commit: str) -> tuple[str, list[str]]:
    """The commit that a document was written at, and which of its inputs differ today.

    Its inputs are the files that it has sealed, or else names.
    """
    kind = ref.partition(":")[0]
    if kind not in addresses.kinds():
        return commit, []
    try:
        address = addresses.find(layout, ref)
        text = show.whole(address)
        if kind == "capsule":
            from contextkit.capsules.documents import store as capsules
            from contextkit.capsules.flows import given

            seal = capsules.seal_of(text)
            return seal.head if seal else commit, given.staleness(layout, address.path)
        if kind in _SEALED:
            document = stores.module(stores.BY_KIND[kind]).parse(text)
            sealed = getattr(document, _SEALED[kind])
            states = [(digest.path, references.state(layout.root, digest)) for digest in sealed]
            marks = [f"{path}: {state}" for path, state in states if state != references.FRESH]
            return commit, marks
        return commit, _differing(layout, commit, text)
    except ContextError:
        return commit, ["it no longer exists"]


def _differing(layout: Layout, commit: str, text: str) -> list[str]:
    """The files that a text names and that have changed since a commit."""
    if not commit or layout.repository is None:
        return []
    paths: dict[str, None] = {}  # without line numbers, as far as they could be below the root
    for kind, named, _ in facts.find(text[:_MOST_TEXT]):
        if kind in ("path", "location"):
            path = os.path.normpath(named.partition("#L" if "#L" in named else ":")[0])
            if not path.startswith(("/", "..", "~")) and len(paths) < _MOST_FILES:
                paths[path] = None
    if not paths:
        return []
    short = commit[:12]
    asked = git.query(layout.root, "--literal-pathspecs", "diff", "--name-only", "-z",
                      "--no-renames", "--relative", commit, "--", *paths)  # fmt: skip
    changed = asked.output().split("\0")
    if asked.failed:
        return [f"commit {short} is not here: what differs from it is unknown"]
    differing = sorted(path for path in changed if path)[:_MOST_FILES]
    return [
        f"{path}: differs from commit {short}" if os.path.lexists(layout.join(path))
        else f"{path}: {references.MISSING}"
        for path in differing
    ]  # fmt: skip


def tree(history: History, top: Facts) -> str:
    """The lineage as text: the document, its sources, its recipients, what they stored."""
    written, ref = top["written"], top["ref"]
    lines = [ref, "it is not known when it was written"]
    if written["at"]:
        by = f" by {written['by']}" if written["by"] else ""
        session = f" in session {written['session']}" if written["session"] else ""
        program = f" ({written['program']})" if written["program"] else ""
        lines = [ref, f"written {written['at']}{by}{on(written)}{session}{program}"]
    if written["commit"]:
        lines.append(f"at commit {str(written['commit'])[:12]}")
    lines += [f"drift: {names.one_line(mark)}" for mark in top["drift"]]
    to = [f"  {row['at']}  {row['ref'] or '(nobody is named)'}  ~{row['tokens']} tokens{on(row)}"
          for row in top["to"][:_MOST]]  # fmt: skip
    opened = [f"  {row['at']}  {row['event']}  {row['by']}".rstrip() + _how_much(row) + on(row)
              for row in top["opened"][:_MOST]]  # fmt: skip
    for title, rows, none in (
        ("from", _branches(history, history.sources, ref), "nothing known"),
        ("to", to, "nobody yet"),
        ("opened", opened, "by nobody yet"),
        ("left", _branches(history, history.left, ref), "nothing known"),
    ):
        lines += ["", title, *(rows or [f"  {none}"])]
    return "\n".join(names.brief(line, names.PRINTED) for line in lines)


def _how_much(opened: Facts) -> str:
    """Words for whether the whole or a part was opened; empty if no text was shown."""
    if not opened["tokens"]:
        return ""
    of = f" of ~{opened['of']}" if opened["of"] else ""
    return "  the whole" if opened["whole"] else f"  ~{opened['tokens']}{of} tokens"


def on(place: Facts) -> str:
    """The words for another machine; empty for this one."""
    return f" on {place['machine']}" if place.get("machine") else ""


def _branches(history: History, next_of: Callable[[str], list[str]], ref: str) -> list[str]:
    """Render the tree below a document, each document once, at most twelve levels deep."""
    lines: list[str] = []
    seen = {ref}
    waiting = [(node, 1) for node in reversed(next_of(ref))]
    while waiting:
        node, level = waiting.pop()
        again = node in seen
        last = next(reversed(history.of.get(node, ())), {})
        gone = last.get("event") == ledger.REMOVED
        note = " (above)" if again else " (removed)" if gone else ""
        lines.append(f"{'  ' * level}{node}{on(history.stored(node))}{note}")
        if not again and level < _DEEPEST:
            seen.add(node)
            waiting += [(below, level + 1) for below in reversed(next_of(node))]
    more = len(lines) - _MOST
    return [*lines[:_MOST], f"  and {more} more"] if more > 0 else lines
