"""What the events say about a document, a session and a system: derived, never stored."""

from __future__ import annotations

from contextkit.base import ledger, stores
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable

HANDED = (ledger.INJECTED, ledger.RENDERED)  # given to an agent unasked
Facts = dict[str, Any]
_READ = (ledger.SHOWN, ledger.ACKNOWLEDGED)
_ENDS = (ledger.ENDED, ledger.REMOVED)


def who(event: ledger.Event) -> str:
    """Who did what an event tells: the subagent, else the agent, else the session."""
    return str(next(filter(None, map(event.get, ("by", "agent", "session"))), ""))


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
    facts: dict[str, Facts] = {}
    for entry in events:
        event, ref, size = entry["event"], entry["ref"], entry.get("tokens", 0)
        if event == ledger.STORED:
            was = facts.get(ref, {})
            facts[ref] = {
                **was, "at": entry["at"], "session": entry.get("session", ""),
                "agent": entry.get("agent", ""), "stored": size, "gone": False,
            }  # fmt: skip
            continue
        touched = [ref, *entry["from"]] if event in (*HANDED, ledger.SHOWN) else [ref]
        for number, name in enumerate(touched):
            if name in facts:
                _add(facts[name], event, 0 if number else size)
        if entry.get("kind") and ref in facts:
            facts[ref]["text"] = entry["kind"]
    return {ref: Delivery(ref=ref, **values) for ref, values in facts.items()}


# What an event adds its tokens to, and what it shows of a document; any other shows its end.
_ADDS = {
    **dict.fromkeys(HANDED, (("handed",), ("delivered",))),
    **dict.fromkeys(_READ, (("shown",), ("opened", "delivered"))),
    ledger.ASKED: (("handed", "asked"), ()),
    ledger.CONSUMED: ((), ("consumed",)),
}


def _add(fact: Facts, event: str, size: int) -> None:
    sums, marks = _ADDS.get(event, ((), ("gone",)))
    for name in sums:
        fact[name] = fact.get(name, 0) + size
    fact |= dict.fromkeys(marks, True)


_SUMS = {
    ledger.STORED: "stored", ledger.INJECTED: "injected", ledger.RENDERED: "injected",
    ledger.ASKED: "injected", ledger.SHOWN: "shown",
}  # fmt: skip


def sessions(events: list[ledger.Event], with_ended: bool = False) -> list[Facts]:
    """Return the sessions, oldest first, with what was stored, handed over and shown in each.

    Numbers are tokens. Saved is what was stored and entered no context, never below 0. Open counts
    its documents that nobody has opened or consumed yet; `machine` is the other one it ran on.
    """
    waiting: dict[str, int] = {}
    for document in of_documents(events).values():
        is_open = not (document.opened or document.consumed or document.gone)
        waiting[document.session] = waiting.get(document.session, 0) + is_open
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
        row["open"] = waiting.get(name, 0)
    return [row for row in rows.values() if with_ended or not row["ended"]]


def totals(documents: Iterable[Delivery]) -> dict[str, int]:
    """Count the remaining documents and those that nobody got, opened or consumed; sum tokens."""
    every = list(documents)
    there = [document for document in every if not document.gone]
    return {
        "documents": len(there),
        "never_delivered": sum(not document.delivered for document in there),
        "never_opened": sum(not document.opened for document in there),
        "never_consumed": sum(not document.consumed for document in there),
        "stored": sum(document.stored for document in every),
        "injected": sum(document.handed for document in every),
        "shown": sum(document.shown for document in every),
        "saved": sum(document.saved for document in every),
    }


def by_system(documents: Iterable[Delivery]) -> dict[str, dict[str, int]]:
    """Return the totals of each system with a known document, named as in context_status."""
    groups: dict[str, list[Delivery]] = {}
    for document in documents:
        try:
            store = stores.BY_KIND[document.kind]
        except LookupError:
            continue
        groups.setdefault(store.system or store.label, []).append(document)
    return {system: totals(own) for system, own in groups.items()}
