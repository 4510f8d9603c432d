"""Search over everything stored, including archived documents and ended sessions."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, names, redaction, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Record
from contextkit.history.documents import index
from contextkit.history.documents.index import Entry, Hit, Term
from contextkit.history.flows import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.base.layout import Layout

_HALF_LIFE = 30  # days after which the age penalty reaches half of its maximum
_SNIPPET = 200  # characters
_HEAD = 40  # lines at the top in which a document names its branch
MOST = 50  # documents returned


class Query(Record):
    """What to look for; an empty field matches everything. `since` begins an ISO time."""

    terms: tuple[Term, ...]
    kind: str = ""
    session: str = ""
    branch: str = ""
    since: str = ""


class Found(Record):
    """A document that was found, and the place in it that matches; `path` is relative to the root.

    machine: the other machine that it was stored on; empty for this one.
    """

    ref: str
    kind: str
    path: str
    section: str
    line: int
    snippet: str
    score: float
    at: str = ""
    machine: str = ""


def search(layout: Layout, query: Query) -> tuple[Iterator[Found], int]:
    """Return the best matches, best first and limited in number, and how many there are in all.

    Each document is read only when the iterator reaches it: a person sees just the first few.
    """
    catalog = Catalog(layout)
    hits = [one for one in index.asked(layout, query.terms, catalog.files(), catalog.read)
            if _fits(one, query)]  # fmt: skip
    ranked = sorted(hits, key=lambda one: (-_score(one), one.ref))
    found = (_found(layout, catalog, one, query.terms) for one in ranked[:MOST])
    return filter(None, found), len(hits)


def _fits(one: Hit | Entry, query: Query) -> bool:
    return (
        query.kind in ("", one.kind)
        and query.session in ("", one.session)
        and query.branch in ("", one.branch)
        and one.at >= query.since
    )


def _score(hit: Hit) -> float:
    """Return a match's score: up to twice as high for a recent document."""
    days = max(0, names.now() - names.moment(hit.at)) / 86_400
    return round(float((hit.rank + 1e-3) * (1 + 0.5 ** (days / _HALF_LIFE))), 6)


def _found(layout: Layout, catalog: Catalog, hit: Hit, terms: tuple[Term, ...]) -> Found | None:
    """Locate a match in its document: the line with most of the words, without secrets."""
    whole = next((text for ref, text in catalog.texts(hit.path) if ref == hit.ref), None)
    if whole is None:
        return None  # removed just now
    text = redaction.redacted(whole, layout.limits.secrets_allow)[0]
    lines = text.split("\n")
    counts = [index.count(index.folded(line), terms) for line in lines]
    most = max(counts)
    at = counts.index(most) if most else _first_word(lines, terms)
    above = [heading for heading, line, _ in show.sections(text) if line <= at + 1]
    return Found(
        ref=hit.ref, kind=hit.kind, path=layout.shown(hit.path),
        section=names.one_line(above[-1]) if above else "", line=catalog.line(hit, whole, at),
        snippet=index.marked(_around(lines[at], terms), terms), score=_score(hit), at=hit.at,
        machine=catalog.machine(hit.ref),
    )  # fmt: skip


def _first_word(lines: list[str], terms: tuple[Term, ...]) -> int:
    """Return the first line with a word of a phrase that spans a line break."""
    wanted = {word for term in terms for word in term.words}
    for number, line in enumerate(lines):
        if not wanted.isdisjoint(index.folded(line).split()):
            return number
    return 0


def _around(line: str, terms: tuple[Term, ...]) -> str:
    """Return the line, or for a long one the part around the first match."""
    line = names.one_line(line)
    if len(line) <= _SNIPPET:
        return line
    small = line.lower()
    places = [small.find(word) for term in terms for word in term.words]
    at = max(0, min((place for place in places if place >= 0), default=0) - _SNIPPET // 3)
    cut = line[at : at + _SNIPPET]
    return ("…" if at else "") + cut + ("…" if at + _SNIPPET < len(line) else "")


class Catalog:
    """The files of all stores and their documents; the ledger is read only when needed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[str, dict[str, str]] | None = None
        self._elsewhere: dict[str, str] | None = None
        self._reviews: dict[str, tuple[str, str]] = {}  # a file of an agent: its run and name
        self._texts: dict[str, list[tuple[str, str]]] = {}

    def files(self) -> dict[str, tuple[int, int]]:
        """Return every file that may hold documents, with a signature that shows a change."""
        self._find_reviews()
        found = index.signatures(self._layout)
        for path in self._reviews:
            for name, signature in index.stat(path):
                found[name] = signature
        return found

    def _find_reviews(self) -> None:
        if not os.path.isdir(self._layout.store("run")):
            return
        from contextkit.reviews.documents import runs
        from contextkit.reviews.flows import agent_files

        for run in runs.load_all(self._layout).documents:
            folder = self._layout.join(run.output_dir)
            for agent in run.roster:
                self._reviews[agent_files.agent_file(folder, agent)] = (run.id, agent)

    def read(self, path: str) -> list[Entry]:
        """Return the documents in a file, with what the ledger knows of them."""
        try:
            return [self._entry(ref, path, text) for ref, text in self.texts(path)]
        except OSError:
            return []  # removed just now

    def texts(self, path: str) -> list[tuple[str, str]]:
        """Return (address, text) of each document in a file; none if it cannot be read."""
        if path not in self._texts:
            try:
                self._texts = {path: self._texts_in(path)}
            except (ContextError, OSError):
                self._texts = {path: []}
        return self._texts[path]

    def _texts_in(self, path: str) -> list[tuple[str, str]]:
        if path in self._reviews:
            return self._findings(path)
        for store in stores.with_documents():
            if store.is_file and self._layout.store(store.kind) == path:
                loaded = stores.module(store).load_all(self._layout)
                texts = [show.entry_text(entry) for _, entry in loaded]
                ids = [e.get("id") if isinstance(e, dict) else e.id for _, e in loaded]
                return [(f"{store.kind}:{i}", text) for i, text in zip(ids, texts, strict=True)]
        ref = addresses.of(self._layout, path)
        if not ref:
            return []
        return [(ref, files.read_bytes(path).decode("utf-8", "replace"))]

    def _findings(self, path: str) -> list[tuple[str, str]]:
        """Return a document for each finding of a reviewer, and one for the rest of the file."""
        from contextkit.reviews.documents import agent_review, sections

        run, agent = self._reviews[path]
        text = files.read_bytes(path).decode("utf-8", "replace")
        ids = [one.id for one in agent_review.parse(text).findings if one.id]
        parts = sections.sections(text, ids)
        rest = text
        made = []
        for one in dict.fromkeys(ids):
            part = parts.get(one, "")
            rest = rest.replace(part, "") if part else rest
            made.append((f"review:{run}/{agent}/{one}", part or one))
        return [(f"review:{run}/{agent}", rest), *made]

    def _entry(self, ref: str, path: str, text: str) -> Entry:
        known = self._of_ledger().get(ref, {})
        kind, name = addresses.parts(ref)
        session = name.partition("/")[0] if kind == "payload" else known.get("session", "")
        at = known.get("at") or addresses.time_of(ref) or names.iso(int(os.stat(path).st_mtime))
        branch = name.rpartition("/")[0] if kind == "capsule" else _branch(text)
        return Entry(ref=ref, text=text, at=at, session=session, branch=branch)

    def machine(self, ref: str) -> str:
        """Return the name of the other machine that stored a document; empty for this one."""
        if self._elsewhere is None:
            self._elsewhere = ledger.stored_elsewhere(self._layout)
        return self._elsewhere.get(ref, "")

    def _of_ledger(self) -> dict[str, dict[str, str]]:
        if self._known is None:
            self._known = {
                one["ref"]: {"at": one["at"], "session": one.get("session", "")}
                for one in ledger.read(self._layout)
                if one["event"] == ledger.STORED
            }
        return self._known

    def line(self, hit: Hit, document: str, at: int) -> int:
        """Return the line number in the file, from 1, of line `at` of a document in it."""
        text = files.read_bytes(hit.path).decode("utf-8", "replace")
        if document in text:
            return text[: text.index(document)].count("\n") + at + 1
        wanted = hit.ref.rpartition(":")[2].rpartition("/")[2]
        lines = text.split("\n")
        return next((n for n, line in enumerate(lines, 1) if wanted in line), 1)


def _branch(text: str) -> str:
    """Return the branch that a document names near its beginning."""
    for line in text.split("\n", _HEAD)[:_HEAD]:
        name, colon, value = line.strip().lstrip("-").strip().partition(":")
        if colon and name.strip("*\"' ").lower() in ("branch", "source_branch"):
            return value.strip().strip("*\"', ")
    return ""


def query(q: str, kind: str = "", session: str = "", branch: str = "", since: str = "") -> Query:
    """Check and return a query as typed. `since` is a time, a date, or a duration such as 7d."""
    if kind and kind not in (*addresses.kinds(), "review"):
        known = (*addresses.kinds(), "review")
        raise bad_input(f"kind: {kind[:40]!r} is not one of {', '.join(known)}")
    return Query(
        terms=index.query(q), kind=kind, session=session, branch=branch, since=moment(since)
    )


def moment(since: str) -> str:
    """Return the beginning of an ISO time for `since`: `since` itself, or a duration before now."""
    if not since:
        return ""
    if since[-1:] in "smhd" and since[:-1].isdigit():
        return names.iso(max(0, names.now() - names.seconds(since)))
    if names.shape(since)[:10] != "0000-00-00":
        raise bad_input(f"since: {since[:40]!r}: give 2026-11-22, a time like it, or 7d")
    return since
