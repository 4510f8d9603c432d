"""Search over everything stored, including archived documents and ended sessions.

    .contextkit/ledger/search.sqlite      the index: a cache beside the ledger, built from the files

The files are authoritative: an entry older than its file is read again, an entry without a file is
dropped, and a broken or missing index is rebuilt. If it cannot be saved, it is built in memory.
"""

from __future__ import annotations

import os
import re
import sqlite3
import unicodedata

from contextkit.base import addresses, files, ledger, names, origins, redaction, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Callable, Iterator
from contextkit.history.flows import show

Signature = tuple[int, int]  # modification time in nanoseconds, size in bytes
Reader = Callable[[str], list["Entry"]]

_HALF_LIFE = 30  # days after which the age penalty reaches half of its maximum
_SNIPPET = 200  # characters
_HEAD = 40  # lines at the top in which a document names its branch
MOST = 50  # documents returned


class Term(Record):
    """Consecutive words; with `prefix`, the last one may be the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


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


def query(q: str, kind: str = "", session: str = "", branch: str = "", since: str = "") -> Query:
    """Check and return a query as typed. `since` is a time, a date, or a duration such as 7d."""
    known = (*addresses.kinds(), "review")
    if kind and kind not in known:
        raise bad_input(f"kind: {kind[:40]!r} is not one of {', '.join(known)}")
    return Query(terms=terms_of(q), kind=kind, session=session, branch=branch, since=moment(since))


def moment(since: str) -> str:
    """Return the beginning of an ISO time for `since`: `since` itself, or a duration before now."""
    if not since:
        return ""
    if since[-1:] in "smhd" and since[:-1].isdigit():
        return names.iso(max(0, names.now() - names.seconds(since)))
    if names.shape(since)[:10] != "0000-00-00":
        raise bad_input(f"since: {since[:40]!r}: give 2026-11-22, a time like it, or 7d")
    return since


def search(layout: Layout, query: Query) -> tuple[Iterator[Found], int]:
    """Return the best matches, best first and limited in number, and how many there are in all.

    Each document is read only when the iterator reaches it: a person sees just the first few.
    """
    catalog = Catalog(layout)
    hits = [one for one in _matching(layout, query.terms, catalog.files(), catalog.read)
            if _fits(one, query)]  # fmt: skip
    ranked = sorted(hits, key=lambda one: (-_score(one), one.ref))
    found = (_found(layout, catalog, one, query.terms) for one in ranked[:MOST])
    return filter(None, found), len(hits)


def _fits(one: Hit | Entry, query: Query) -> bool:
    asked = ((query.kind, one.kind), (query.session, one.session), (query.branch, one.branch))
    return all(wanted in ("", there) for wanted, there in asked) and one.at >= query.since


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
    counts = [_count(folded(line), terms) for line in lines]
    most = max(counts)
    at = counts.index(most) if most else _first_word(lines, terms)
    words = [word for term in terms for word in term.words]
    snippet = names.clipped_around(lines[at], words, _SNIPPET)
    above = [heading for heading, line, _ in show.sections(text) if line <= at + 1]
    return Found(
        ref=hit.ref, kind=hit.kind, path=layout.shown(hit.path),
        section=names.one_line(above[-1]) if above else "", line=catalog.line(hit, whole, at),
        snippet=_marked(snippet, terms), score=_score(hit), at=hit.at,
        machine=catalog.machine(hit.ref),
    )  # fmt: skip


def _first_word(lines: list[str], terms: tuple[Term, ...]) -> int:
    """Return the first line with a word of a phrase that spans a line break."""
    wanted = {word for term in terms for word in term.words}
    for number, line in enumerate(lines):
        if not wanted.isdisjoint(folded(line).split()):
            return number
    return 0


# What can be found


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
        found = _signatures(self._layout)
        for path in self._reviews:
            found |= _signature(path)
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
                return [(f"{store.kind}:{show.identity(e)}", show.entry_text(e)) for _, e in loaded]
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
            self._elsewhere = origins.elsewhere(self._layout)
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


# The index


_FORMAT = 3
_MOST_INDEXED = 4 << 20  # characters of a document that are indexed
_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, time INTEGER, size INTEGER);
CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT, ref TEXT, kind TEXT, at TEXT,
                        session TEXT, branch TEXT);
CREATE INDEX by_path ON documents (path);
CREATE VIRTUAL TABLE bodies USING fts5(body, tokenize='ascii');
"""


class Entry(Record):
    """A document to index. `at` is ISO; `text` is what is searched."""

    ref: str
    text: str
    at: str = ""
    session: str = ""
    branch: str = ""

    @property
    def kind(self) -> str:
        return self.ref.partition(":")[0]


class Hit(Record):
    """A document that matches; `rank` is larger for a better match."""

    ref: str
    kind: str
    path: str
    at: str
    session: str
    branch: str
    rank: float


def index_path(layout: Layout) -> str:
    """The index, which may be missing."""
    return os.path.join(ledger.folder(layout), "search.sqlite")


def _matching(
    layout: Layout, terms: tuple[Term, ...], there: dict[str, Signature], read: Reader
) -> list[Hit]:
    """Bring the index up to date with `there`, then return the documents that have all terms.

    `read` returns the documents in a file. Two processes may run at once: one updates the index,
    the other waits, or answers from an index in memory.
    """
    try:
        files.store(layout.state)
        files.make_folder(ledger.folder(layout))
        with files.locked(layout.lock(index_path(layout))):
            try:
                return _ask(index_path(layout), terms, there, read)
            except sqlite3.DatabaseError:
                _discard(index_path(layout))
                return _ask(index_path(layout), terms, there, read)
    except (OSError, ContextError, sqlite3.DatabaseError):
        return _ask(":memory:", terms, there, read)  # the index cannot be saved here


def _discard(place: str) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        files.discard(place + suffix)


def _ask(
    place: str, terms: tuple[Term, ...], there: dict[str, Signature], read: Reader
) -> list[Hit]:
    base = sqlite3.connect(place, timeout=10)
    try:
        base.execute("PRAGMA synchronous=OFF")  # a cache: rebuilt if a power failure breaks it
        if base.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            _make(base)
        _bring_up(base, there, read)
        rows = base.execute(
            "SELECT d.ref, d.kind, d.path, d.at, d.session, d.branch, -bm25(bodies)"
            " FROM bodies JOIN documents d ON d.id = bodies.rowid WHERE bodies MATCH ?",
            (_in_fts(terms),),
        ).fetchall()
    finally:
        base.close()
    return [Hit(**dict(zip(Hit.fields(), row, strict=True))) for row in rows]


def _make(base: sqlite3.Connection) -> None:
    for table in ("files", "documents", "bodies"):
        base.execute(f"DROP TABLE IF EXISTS {table}")
    base.executescript(_SCHEMA)
    base.execute(f"PRAGMA user_version={_FORMAT}")


def _bring_up(base: sqlite3.Connection, there: dict[str, Signature], read: Reader) -> None:
    """Index what is new or has changed; forget what is gone."""
    known = {row[0]: (row[1], row[2]) for row in base.execute("SELECT path, time, size FROM files")}
    old = [name for name, signature in known.items() if there.get(name) != signature]
    new = [name for name, signature in there.items() if known.get(name) != signature]
    with base:
        for name in old:
            ids = base.execute("SELECT id FROM documents WHERE path=?", (name,)).fetchall()
            base.executemany("DELETE FROM bodies WHERE rowid=?", ids)
            base.execute("DELETE FROM documents WHERE path=?", (name,))
            base.execute("DELETE FROM files WHERE path=?", (name,))
        for name in new:
            base.execute("INSERT INTO files VALUES (?,?,?)", (name, *there[name]))
            for one in read(name):
                made = base.execute(
                    "INSERT INTO documents VALUES (NULL,?,?,?,?,?,?)",
                    (name, one.ref, one.kind, one.at, one.session, one.branch),
                )
                body = folded(one.text[:_MOST_INDEXED])
                base.execute(
                    "INSERT INTO bodies (rowid, body) VALUES (?,?)", (made.lastrowid, body)
                )


def _signatures(layout: Layout) -> dict[str, Signature]:
    """Return the signatures of all files: those of the stores, archived, and of ended sessions."""
    found: dict[str, Signature] = {}
    suffixes = tuple({store.suffix for store in stores.STORES if store.suffix})
    folders: dict[str, None] = {}
    for store in stores.with_documents():
        place = layout.store(store.kind)
        if store.is_file:
            found |= _signature(place)
        else:
            folders |= dict.fromkeys([place, *addresses.away(layout, store)])
    for folder in folders:
        for entry in addresses.walked(folder, suffixes):
            found |= _signature(entry.path)
    return found


def _signature(path: str) -> dict[str, Signature]:
    """Return the signature of a file by its path; empty if it is gone."""
    try:
        about = os.stat(path)
    except OSError:
        return {}
    return {path: (about.st_mtime_ns, about.st_size)}


# The query language, and texts in the form in which they are compared: lower case, no accents, no
# punctuation. Characters of scripts without spaces between words (Chinese, Japanese …) are words of
# their own.


_WIDE = 0x2E80  # from this code point on, each letter is a word
_TERM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')
_PLAIN = re.compile(r"[^a-z0-9]+")
_MOST_TERMS = 32  # terms in a query


def folded(text: str) -> str:
    """Return the words of a text, separated by single spaces."""
    if text.isascii():
        return _PLAIN.sub(" ", text.lower()).strip()
    text = unicodedata.normalize("NFKD", text.lower()).lower()
    made = []
    for char in text:
        if char.isalnum():
            made.append(f" {char} " if ord(char) >= _WIDE else char)
        elif not unicodedata.combining(char):
            made.append(" ")
    return " ".join("".join(made).split())


def terms_of(text: str) -> tuple[Term, ...]:
    """Parse a query such as `words "in a row" begin*`. Raises ContextError if it has no word."""
    found = []
    for quoted, star, word in _TERM.findall(text)[:_MOST_TERMS]:
        words = tuple(folded(quoted or word).split())
        if words:
            found.append(Term(words=words, prefix=bool(star) or word.endswith("*")))
    if not found:
        raise bad_input(f"q: {text[:60]!r} has no word to look for")
    return tuple(found)


def _in_fts(terms: tuple[Term, ...]) -> str:
    """Return the terms as an FTS5 query, in which nothing that was typed acts as an operator."""
    return " AND ".join(f'"{" ".join(t.words)}"' + (" *" if t.prefix else "") for t in terms)


def _count(body: str, terms: tuple[Term, ...]) -> int:
    """Return how many of the terms a folded text has."""
    return sum(f" {' '.join(t.words)}{'' if t.prefix else ' '}" in f" {body} " for t in terms)


def _marked(line: str, terms: tuple[Term, ...]) -> str:
    """Return a line with `**` around the matching words."""
    wanted = {word for term in terms for word in term.words}
    begun = tuple(term.words[-1] for term in terms if term.prefix)

    def around(match: re.Match[str]) -> str:
        word = match.group()
        parts = folded(word).split()
        hit = any(part in wanted or (begun and part.startswith(begun)) for part in parts)
        return f"**{word}**" if hit else word

    return re.sub(r"\w+", around, line.replace("**", ""))
