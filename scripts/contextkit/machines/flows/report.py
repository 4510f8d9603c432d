"""The report of a push or pull: one line per document, then totals."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from contextkit.base.redaction import Secret

HISTORY = "history"  # a piece of the ledger moved
QUIET = ("withdrawn", HISTORY)  # counted in the totals only


@dataclass(frozen=True, kw_only=True)
class Moved:
    """One line: `id` is a document's address, `did` what was done, `to` its new place if any."""

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
    """What was done; `sent` is in bytes.

    refused: documents that were held back; said: other messages.
    """

    verb: str
    dry_run: bool = False
    rows: list[Moved] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
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
        self.said.append(sentence)

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
        lines = [row.line for row in self.rows if row.did not in QUIET]
        return "\n".join([*lines, self.total])
