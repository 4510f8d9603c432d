"""A push or a pull: which documents it is asked to move, and the report of what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

from contextkit.base import names, sessions
from contextkit.base.errors import bad_input
from contextkit.base.records import Record
from contextkit.base.redaction import Secret
from contextkit.base.type_names import Iterable
from contextkit.machines.documents import manifests
from contextkit.machines.flows import shares

HISTORY = "history"  # a piece of the ledger moved
_QUIET = ("withdrawn", HISTORY)  # counted in the totals only
_MEMORY = ("plan", "finding", "checkpoint", "snapshot", "archived")
_WORDS = {"all": (), "memory": _MEMORY, "review": ("run", "verdict", shares.OUTPUT)}


class Choice(Record):
    """A selection: `kinds` (empty: the default kinds), and whose; an empty name matches all."""

    kinds: tuple[str, ...] = ()
    session: str = ""
    task: str = ""
    run: str = ""

    def takes(self, name: str, about: str = "") -> bool:
        """Whether a document is selected; `about` is the task or run that it names."""
        kind, path = name.partition("/")[::2]
        of = path.partition("/")[0] if kind == manifests.ENDED else kind
        kinds = self.kinds or shares.by_default()
        if of not in kinds and not (of == "memory" and set(kinds) & set(_MEMORY)):
            return False
        first = path.removeprefix(f"{of}/").partition("/")[0]
        if self.session and (of != "payload" or first != self.session):
            return False
        if self.task and not self._is_of_task(of, path, about):
            return False
        return not self.run or self._is_of_run(kind, path, about)

    def _is_of_task(self, kind: str, path: str, about: str) -> bool:
        parts = path.split("/")
        named = {**dict.fromkeys(_MEMORY, about), "memory": parts[-1]}.get(kind)
        return self.task == named or (kind == "archived" and parts[0] == self.task)

    def _is_of_run(self, kind: str, path: str, about: str) -> bool:
        if kind == "run":
            return path.rpartition(".")[0] == self.run
        if kind == "verdict":
            return about == self.run or path.startswith(f"runs/{self.run}/")
        return kind == shares.OUTPUT and path.startswith(f"{self.run}/")


def choice(what: tuple[str, ...], session: str, task: str, run: str) -> Choice:
    """Parse the selection that was typed. Raises ContextError for a kind that does not travel."""
    all_kinds = shares.kinds()
    kinds: list[str] = []
    for word in what:
        if word in _WORDS:
            kinds += _WORDS[word] or all_kinds
        elif word in all_kinds:
            kinds.append(word)
        else:
            raise bad_input(f"what: {word[:40]!r} does not travel{names.nearest(word, all_kinds)}")
    if session:
        sessions.check(session)
    return Choice(
        kinds=tuple(dict.fromkeys(kinds)), session=session, task=task, run=run.removeprefix("run:")
    )


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A line of a report: a document's address, what was done, and its new place `to` if any."""

    id: str
    did: str
    bytes: int = 0
    machine: str = ""
    to: str = ""

    @property
    def line(self) -> str:
        from_whom = f" from {self.machine}" if self.machine else ""
        return f"{self.did} {self.id}{from_whom}{f': {self.to}' if self.to else ''}"


@dataclass(kw_only=True)
class Report:
    """What was done, one line per document, then totals; `sent` is in bytes.

    refused: documents that were held back; messages: all others.
    """

    verb: str
    dry_run: bool = False
    rows: list[Moved] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    failed: bool = False
    sent: int = 0

    def add(self, did: str, address: str, size: int = 0, machine: str = "", to: str = "") -> None:
        self.rows.append(Moved(id=address, did=did, bytes=size, machine=machine, to=to))

    def refuse(self, address: str, secrets: Iterable[Secret]) -> None:
        """Report a document with a secret by its address and line, never by the secret."""
        self.refused += [f"{address}:{secret.line}: {secret.kind}" for secret in secrets]
        self.rows.append(Moved(id=address, did="refused"))

    def fail(self, sentence: str) -> None:
        """Report a machine whose documents could not be read: the next pull tries again."""
        self.failed = True
        self.messages.append(sentence)

    @property
    def total(self) -> str:
        counts: dict[str, int] = {}
        for row in sorted(self.rows, key=lambda row: row.did == HISTORY):
            counts[row.did] = counts.get(row.did, 0) + 1
        if not counts:
            return f"nothing new was {self.verb}" if not self.dry_run else "nothing is new"
        listed = ", ".join(f"{count} {did}" for did, count in counts.items())
        size = sum(row.bytes for row in self.rows if row.did != "refused")
        tail = f", {self.sent} on the wire" if self.sent else ""
        would = "would be " if self.dry_run else ""
        return f"{would}{listed}: {size} bytes{tail}"

    @property
    def text(self) -> str:
        lines = [row.line for row in self.rows if row.did not in _QUIET]
        return "\n".join([*lines, self.total])
