"""Search over everything stored, including archived documents and ended sessions.

    .contextkit/ledger/search.sqlite      the index: a cache beside the ledger, built from the files

If it cannot be saved, it is built in memory.
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import unicodedata

from contextkit.base import addresses, files, ledger, markdown, names, redaction, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple, Record
from contextkit.base.type_names import Iterator

State = tuple[str, int, int]  # of a file: path, modification time in nanoseconds, size in bytes
Document = dict[str, str]  # the columns of the table `documents`, and its `text`

_HALF_LIFE = 30  # days after which the age penalty reaches half of its maximum
_SNIPPET = 200  # characters
_HEAD = 40  # lines at the top of a document that may name its branch
MOST = 50  # documents returned


class Term(NamedTuple):
    """Consecutive words; with `prefix`, the last one may be the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool


class Found(Record):
    """A document that was found, its path, the place that matches, the other `machine` or ''."""

    ref: str
    kind: str
    path: str
    section: str
    line: int
    snippet: str
    score: float
    at: str = ""
    machine: str = ""


def search(
    layout: Layout, q: str, kind: str = "", session: str = "", branch: str = "", since: str = ""
) -> tuple[Iterator[Found], int]:
    """The best matches, best first and limited in number, and the number of all matches.

    `q` is as typed; an empty filter matches everything; see `moment` for `since`. Each document is
    read only when the iterator reaches it, since a person sees just the first few.
    """
    kinds = (*addresses.kinds(), "review")
    if kind and kind not in kinds:
        raise bad_input(f"kind: {kind[:40]!r} is not one of {', '.join(kinds)}")
    terms = terms_of(q)
    wanted = {"kind": kind, "session": session, "branch": branch, "since": moment(since)}
    catalog = Catalog(layout)
    rows = _matching(layout, catalog, {**wanted, "words": _in_fts(terms)})
    ranked = sorted(rows, key=lambda row: (-_score(row), row["ref"]))
    hits = (_found(layout, catalog, row, terms) for row in ranked[:MOST])
    return filter(None, hits), len(rows)


def moment(since: str) -> str:
    """The beginning of an ISO time for `since`: `since` itself, or a duration before now."""
    if not since:
        return ""
    if since[-1:] in "smhd" and since[:-1].isdigit():
        return names.iso(max(0, names.now() - names.seconds(since)))
    if names.shape(since)[:10] != "0000-00-00":
        raise bad_input(f"since: {since[:40]!r}: give 2026-11-22, a time like it, or 7d")
    return since


def _score(row: sqlite3.Row) -> float:
    """A match's score: up to twice as high for a recent document."""
    days = max(0, names.now() - names.moment(row["at"])) / 86_400
    return round(float((row["rank"] + 1e-3) * (1 + 0.5 ** (days / _HALF_LIFE))), 6)


def _found(
    layout: Layout, catalog: Catalog, row: sqlite3.Row, terms: tuple[Term, ...]
) -> Found | None:
    """Locate a match in its document: the line with most of the words, without secrets."""
    ref, path = row["ref"], row["path"]
    whole = next((text for name, text in catalog.texts(path) if name == ref), None)
    if whole is None:
        return None  # removed just now
    text = redaction.redacted(whole, layout.limits.secrets_allow)[0]
    lines = text.split("\n")
    best = max(range(len(lines)), key=lambda number: _weight(lines[number], terms))
    words = [word for term in terms for word in term.words]
    snippet = names.clipped_around(lines[best], words, _SNIPPET)
    above = [heading for heading, line, _ in markdown.outline(lines) if line <= best]
    there = whole.split("\n")  # a secret of many lines, which is a single one in the text
    at = next((n for n in range(best, len(there)) if there[n] == lines[best]), best)
    return Found(
        ref=ref, kind=row["kind"], path=layout.shown(path),
        section=names.one_line(above[-1]) if above else "",
        line=_line_in_file(path, ref, whole, at), snippet=snippet,
        score=_score(row), at=row["at"], machine=catalog.elsewhere.get(ref, ""),
    )  # fmt: skip


def _weight(line: str, terms: tuple[Term, ...]) -> tuple[int, bool]:
    """The number of terms in a line, and whether it has part of one that spans lines."""
    body = folded(line)
    whole = sum(f" {' '.join(t.words)}{'' if t.prefix else ' '}" in f" {body} " for t in terms)
    return whole, not {word for term in terms for word in term.words}.isdisjoint(body.split())


def _line_in_file(path: str, ref: str, document: str, at: int) -> int:
    """The line number in the file, from 1, of line `at` of a document in it."""
    text = files.read_bytes(path).decode("utf-8", "replace")
    if document in text:
        return text[: text.index(document)].count("\n") + at + 1
    identity = ref.rpartition(":")[2].rpartition("/")[2]
    lines = text.split("\n")
    return next((n for n, line in enumerate(lines, 1) if identity in line), 1)


class Catalog:
    """The files of all stores and their documents; the ledger is read only when needed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._texts: dict[str, list[tuple[str, str]]] = {}  # of the last file that was read

    def files(self) -> set[State]:
        """The state of every file that may hold documents, archived ones too."""
        single = [self._layout.store(s.kind) for s in stores.with_documents() if s.is_file]
        states: set[State] = set()
        for path in (*single, *self._reviews, *addresses.every_file(self._layout)):
            try:
                about = os.stat(path)
            except OSError:
                continue  # gone
            states.add((path, about.st_mtime_ns, about.st_size))
        return states

    @functools.cached_property
    def elsewhere(self) -> dict[str, str]:
        """The name of the machine of each document that another machine stored, by address."""
        return addresses.elsewhere(self._layout)

    @functools.cached_property
    def _stored(self) -> dict[str, ledger.Event]:
        events = ledger.read(self._layout)
        return {event["ref"]: event for event in events if event["event"] == ledger.STORED}

    @functools.cached_property
    def _reviews(self) -> dict[str, tuple[str, str]]:
        """The run and agent of each file that a reviewer wrote."""
        if not os.path.isdir(self._layout.store("run")):
            return {}
        from contextkit.reviews.documents import runs
        from contextkit.reviews.flows import agent_files

        return {
            agent_files.agent_file(self._layout.join(run.output_dir), agent): (run.id, agent)
            for run in runs.load_all(self._layout).documents
            for agent in run.roster
        }

    def read(self, path: str) -> Iterator[Document]:
        """The documents in a file, with what the ledger knows about them."""
        for ref, text in self.texts(path):
            event = self._stored.get(ref, {})
            kind, name = addresses.parts(ref)
            at = event.get("at") or addresses.time_of(ref) or names.iso(int(stores.modified(path)))
            yield {
                "path": path, "ref": ref, "kind": kind, "at": at, "text": text,
                "session": name.partition("/")[0] if kind == "payload"
                           else event.get("session", ""),
                "branch": name.rpartition("/")[0] if kind == "capsule" else _branch(text),
            }  # fmt: skip

    def texts(self, path: str) -> list[tuple[str, str]]:
        """(address, text) of each document in a file; none if it cannot be read."""
        if path not in self._texts:
            try:
                self._texts = {path: self._texts_in(path)}
            except (ContextError, OSError):
                self._texts = {path: []}
        return self._texts[path]

    def _texts_in(self, path: str) -> list[tuple[str, str]]:
        if path in self._reviews:
            return _findings(path, *self._reviews[path])
        from contextkit.history.flows import show

        for store in stores.with_documents():
            if store.is_file and self._layout.store(store.kind) == path:
                entries = addresses.entries(self._layout, store)
                return [(ref, show.entry_text(fields)) for ref, _, fields in entries]
        ref = addresses.of(self._layout, path)
        return [(ref, files.read_bytes(path).decode("utf-8", "replace"))] if ref else []


def _findings(path: str, run: str, agent: str) -> list[tuple[str, str]]:
    """A document for each finding of a reviewer, and one for the rest of the file."""
    from contextkit.reviews.documents import agent_review, sections

    rest = text = files.read_bytes(path).decode("utf-8", "replace")
    ids = [finding.id for finding in agent_review.parse(text).findings if finding.id]
    parts = sections.sections(text, ids)
    made = []
    for identity in dict.fromkeys(ids):
        part = parts.get(identity, "")
        rest = rest.replace(part, "") if part else rest
        made.append((f"review:{run}/{agent}/{identity}", part or identity))
    return [(f"review:{run}/{agent}", rest), *made]


def _branch(text: str) -> str:
    """The branch that a document names near its beginning."""
    for line in text.split("\n", _HEAD)[:_HEAD]:
        name, colon, value = line.strip().lstrip("-").strip().partition(":")
        if colon and name.strip("*\"' ").lower() in ("branch", "source_branch"):
            return value.strip().strip("*\"', ")
    return ""


_FORMAT = 3
_MOST_INDEXED = 4 << 20  # characters of a document that are indexed
_SCHEMA = """
DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS documents;
DROP TABLE IF EXISTS bodies;
CREATE TABLE files (path TEXT PRIMARY KEY, time INTEGER, size INTEGER);
CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT, ref TEXT, kind TEXT, at TEXT,
                        session TEXT, branch TEXT);
CREATE INDEX by_path ON documents (path);
CREATE VIRTUAL TABLE bodies USING fts5(body, tokenize='ascii');
"""
_ADD = "INSERT INTO documents VALUES (NULL, :path, :ref, :kind, :at, :session, :branch)"
_QUERY = """
SELECT d.*, -bm25(bodies) AS rank FROM bodies JOIN documents d ON d.id = bodies.rowid
WHERE bodies MATCH :words AND :kind IN ('', d.kind) AND :session IN ('', d.session)
  AND :branch IN ('', d.branch) AND d.at >= :since
"""


def _matching(layout: Layout, catalog: Catalog, wanted: dict[str, str]) -> list[sqlite3.Row]:
    """Bring the index up to date, then return the wanted documents.

    Of two processes, one updates the index, the other waits. A broken index is rebuilt next time.
    """
    try:
        files.make_folder(layout.ledger)
        try:
            return _ask(layout.index, catalog, wanted)
        except sqlite3.DatabaseError:
            for suffix in ("", "-journal"):
                files.discard(layout.index + suffix)
    except (OSError, ContextError):
        pass  # the index cannot be saved here
    return _ask(":memory:", catalog, wanted)


def _ask(place: str, catalog: Catalog, wanted: dict[str, str]) -> list[sqlite3.Row]:
    base = sqlite3.connect(place, timeout=10, isolation_level=None)
    try:
        base.execute("PRAGMA synchronous=OFF")  # a cache: rebuilt if a power failure breaks it
        base.execute("BEGIN IMMEDIATE")
        if base.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            for statement in f"{_SCHEMA}PRAGMA user_version={_FORMAT}".split(";"):
                base.execute(statement)
        _bring_up(base, catalog)
        base.execute("COMMIT")
        base.row_factory = sqlite3.Row
        return base.execute(_QUERY, wanted).fetchall()
    finally:
        base.close()


def _bring_up(base: sqlite3.Connection, catalog: Catalog) -> None:
    """Index new and changed files; forget deleted ones."""
    there = catalog.files()
    indexed = set(base.execute("SELECT path, time, size FROM files"))
    for path, _, _ in indexed - there:
        ids = "SELECT id FROM documents WHERE path=?"
        base.execute(f"DELETE FROM bodies WHERE rowid IN ({ids})", (path,))
        base.execute("DELETE FROM documents WHERE path=?", (path,))
        base.execute("DELETE FROM files WHERE path=?", (path,))
    for state in sorted(there - indexed):
        base.execute("INSERT INTO files VALUES (?,?,?)", state)
        for document in catalog.read(state[0]):
            row = base.execute(_ADD, document).lastrowid
            body = folded(document["text"][:_MOST_INDEXED])
            base.execute("INSERT INTO bodies (rowid, body) VALUES (?,?)", (row, body))


# The query language, and the form in which texts are compared: lower case, no accents, no
# punctuation. Characters of scripts without spaces between words (Chinese, Japanese …) are words of
# their own.


_TERM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')
_NO_LETTERS = re.compile(r"[\W_]+")
_WIDE = re.compile("[^\x00-\u2e7f]")
_MOST_TERMS = 32  # terms in a query


def folded(text: str) -> str:
    """The words of a text, separated by single spaces."""
    if text.isascii():
        return _NO_LETTERS.sub(" ", text.lower()).strip()
    decomposed = unicodedata.normalize("NFKD", text.lower()).lower()
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(_WIDE.sub(r" \g<0> ", _NO_LETTERS.sub(" ", bare)).split())


def terms_of(text: str) -> tuple[Term, ...]:
    """Parse a query such as `words "in a row" begin*`. Raises ContextError if it has no word."""
    terms = []
    for quoted, star, word in _TERM.findall(text)[:_MOST_TERMS]:
        words = tuple(folded(quoted or word).split())
        if words:
            terms.append(Term(words, bool(star) or word.endswith("*")))
    if not terms:
        raise bad_input(f"q: {text[:60]!r} has no word to search for")
    return tuple(terms)


def _in_fts(terms: tuple[Term, ...]) -> str:
    """The terms as an FTS5 query, in which typed text never acts as an operator."""
    return " AND ".join(f'"{" ".join(t.words)}"' + (" *" if t.prefix else "") for t in terms)
