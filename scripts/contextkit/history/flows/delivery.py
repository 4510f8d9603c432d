"""What the events say about a document, a session and a system: derived, never stored."""

from __future__ import annotations

from contextkit.base import ledger, stores
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable

HANDED = (ledger.INJECTED, ledger.RENDERED)  # given to an agent unasked
_READ = (ledger.SHOWN, ledger.ACKNOWLEDGED)


class Delivery(Record):
    """The state of one document. `stored`, `handed`, `shown` are tokens; times are ISO or empty.

    `handed` includes what it took to have the document told: a second turn of its author.
    """

    ref: str
    at: str = ""
    session: str = ""
    agent: str = ""
    stored: int = 0
    handed: int = 0
    asked: int = 0  # of `handed`, what a second turn of its author took
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
        """Tokens stored and in no context, net; 0 for a document that cost more than it saved."""
        return max(0, self.stored - self.handed - self.shown)


def of_documents(events: Iterable[ledger.Event]) -> dict[str, Delivery]:
    """Return the delivery of each document that was stored, by address, in order of storing.

    A document handed over or shown as part of another (`from`) counts as delivered.
    """
    facts: dict[str, dict[str, Any]] = {}
    for one in events:
        event, ref, size = one["event"], one["ref"], one.get("tokens", 0)
        if event == ledger.STORED:
            was = facts.get(ref, {})
            facts[ref] = {
                **was, "at": one["at"], "session": one.get("session", ""),
                "agent": one.get("agent", ""), "stored": size, "gone": False,
            }  # fmt: skip
            continue
        touched = [ref, *one["from"]] if event in (*HANDED, ledger.SHOWN) else [ref]
        for number, name in enumerate(touched):
            if name in facts:
                _add(facts[name], event, 0 if number else size)
        if one.get("kind") and ref in facts:
            facts[ref]["text"] = one["kind"]
    return {ref: Delivery(ref=ref, **values) for ref, values in facts.items()}


# What an event adds its tokens to, and what it shows of a document; any other shows its end.
_ADDS = {
    **dict.fromkeys(HANDED, (("handed",), ("delivered",))),
    **dict.fromkeys(_READ, (("shown",), ("opened", "delivered"))),
    ledger.ASKED: (("handed", "asked"), ()),
    ledger.CONSUMED: ((), ("consumed",)),
}


def _add(fact: dict[str, Any], event: str, size: int) -> None:
    sums, marks = _ADDS.get(event, ((), ("gone",)))
    for name in sums:
        fact[name] = fact.get(name, 0) + size
    fact |= dict.fromkeys(marks, True)


class Session(Record):
    """One row per session; numbers are tokens, except `open`, which counts documents."""

    id: str
    session: str
    host: str
    started: str
    ended: str
    stored: int
    injected: int
    shown: int
    saved: int
    open: int
    machine: str = ""  # the other machine that it ran on


def sessions(events: list[ledger.Event], with_ended: bool = False) -> list[Session]:
    """Return the sessions, oldest first, with what was stored, handed over and shown in each.

    Saved is what was stored and entered no context, never below 0. Open are its documents that
    nobody has opened or consumed yet.
    """
    waiting: dict[str, int] = {}
    for document in of_documents(events).values():
        is_open = not (document.opened or document.consumed or document.gone)
        waiting[document.session] = waiting.get(document.session, 0) + is_open
    found: dict[str, _Seen] = {}
    for one in events:
        name = one.get("session", "")
        if name:
            found.setdefault(name, _Seen(one["at"])).add(one, name)
    rows = [seen.row(name, waiting.get(name, 0)) for name, seen in found.items()]
    return [row for row in rows if with_ended or not row.ended]


class _Seen:
    """What the events so far say of a session."""

    def __init__(self, started: str) -> None:
        self.started, self.ended, self.host, self.machine = started, "", "", ""
        self.sums = [0, 0, 0]

    def add(self, one: ledger.Event, name: str) -> None:
        event = one["event"]
        self.host = self.host or one.get("host", "")
        self.machine = self.machine or one.get("machine", "")
        if one["ref"] == f"session:{name}" and event in (ledger.ENDED, ledger.REMOVED):
            self.ended = one["at"]
            return
        place = {ledger.STORED: 0, ledger.INJECTED: 1, ledger.RENDERED: 1, ledger.ASKED: 1,
                 ledger.SHOWN: 2}  # fmt: skip
        if event in place:
            self.ended = ""
            self.sums[place[event]] += one.get("tokens", 0)

    def row(self, name: str, waiting: int) -> Session:
        stored, handed, shown = self.sums
        return Session(
            id=name, session=name, host=self.host, started=self.started, ended=self.ended,
            stored=stored, injected=handed, shown=shown, saved=max(0, stored - handed - shown),
            open=waiting, machine=self.machine,
        )  # fmt: skip


class Totals(Record):
    """Counts of documents, with those still open, and their tokens."""

    documents: int
    never_delivered: int
    never_opened: int
    never_consumed: int
    stored: int
    injected: int
    shown: int
    saved: int


def totals(found: Iterable[Delivery]) -> Totals:
    """Count the remaining documents and those that nobody got, opened or consumed."""
    all_ = list(found)
    there = [one for one in all_ if not one.gone]
    stored = sum(one.stored for one in all_)
    handed, shown = sum(one.handed for one in all_), sum(one.shown for one in all_)
    return Totals(
        documents=len(there),
        never_delivered=sum(not one.delivered for one in there),
        never_opened=sum(not one.opened for one in there),
        never_consumed=sum(not one.consumed for one in there),
        stored=stored, injected=handed, shown=shown, saved=sum(one.saved for one in all_),
    )  # fmt: skip


def by_system(known: Iterable[Delivery]) -> dict[str, Totals]:
    """Return the totals of each system with a known document, named as in context_status."""
    found: dict[str, list[Delivery]] = {}
    for one in known:
        try:
            store = stores.named(one.kind)
        except LookupError:
            continue
        found.setdefault(store.system or store.label, []).append(one)
    return {system: totals(some) for system, some in found.items()}
