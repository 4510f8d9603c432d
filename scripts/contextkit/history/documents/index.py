"""The search index over everything stored: a cache beside the ledger, built from the files.

    .contextkit/ledger/search.sqlite

The files are authoritative: an entry older than its file is read again, an entry without a file is
dropped, and a broken or missing index is rebuilt. If it cannot be saved, it is built in memory.
"""

from __future__ import annotations

import os
import sqlite3

from contextkit.base import addresses, files, ledger, stores
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.history.documents import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contextkit.base.layout import Layout
    from contextkit.history.documents.words import Term

    Signature = tuple[int, int]  # modification time in nanoseconds, size in bytes
    Reader = Callable[[str], list["Entry"]]

FORMAT = 2
_MOST = 4 << 20  # characters of a document that are indexed
_SCHEMA = """
CREATE TABLE state (digest BLOB);
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


def path(layout: Layout) -> str:
    return os.path.join(ledger.folder(layout), "search.sqlite")


def asked(
    layout: Layout, terms: tuple[Term, ...], there: dict[str, Signature], read: Reader
) -> list[Hit]:
    """Bring the index up to date with `there`, then return the documents that have all terms.

    `read` returns the documents in a file. Two processes may run at once: one updates the index,
    the other waits, or answers from an index in memory.
    """
    try:
        files.store(layout.state)
        files.make_folder(ledger.folder(layout))
        with files.locked(layout.lock(path(layout))):
            try:
                return _asked(path(layout), terms, there, read)
            except sqlite3.DatabaseError:
                _discard(path(layout))
                return _asked(path(layout), terms, there, read)
    except (OSError, ContextError, sqlite3.DatabaseError):
        return _asked(":memory:", terms, there, read)  # the index cannot be saved here


def _discard(place: str) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        files.discard(place + suffix)


def _asked(
    place: str, terms: tuple[Term, ...], there: dict[str, Signature], read: Reader
) -> list[Hit]:
    base = sqlite3.connect(place, timeout=10)
    try:
        base.execute("PRAGMA synchronous=OFF")  # a cache: rebuilt if a power failure breaks it
        if base.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            _make(base)
        _bring_up(base, there, read)
        rows = base.execute(
            "SELECT d.ref, d.kind, d.path, d.at, d.session, d.branch, -bm25(bodies)"
            " FROM bodies JOIN documents d ON d.id = bodies.rowid WHERE bodies MATCH ?",
            (words.in_fts(terms),),
        ).fetchall()
    finally:
        base.close()
    return [Hit(**dict(zip(Hit.fields(), row, strict=True))) for row in rows]


def _make(base: sqlite3.Connection) -> None:
    for table in ("state", "files", "documents", "bodies"):
        base.execute(f"DROP TABLE IF EXISTS {table}")
    base.executescript(_SCHEMA)
    base.execute(f"PRAGMA user_version={FORMAT}")


def _bring_up(base: sqlite3.Connection, there: dict[str, Signature], read: Reader) -> None:
    digest = _digest(there)
    if base.execute("SELECT digest FROM state").fetchall() == [(digest,)]:
        return
    known = {row[0]: (row[1], row[2]) for row in base.execute("SELECT path, time, size FROM files")}
    old = [name for name, signature in known.items() if there.get(name) != signature]
    new = [name for name, signature in there.items() if known.get(name) != signature]
    with base:
        base.execute("DELETE FROM state")
        base.execute("INSERT INTO state VALUES (?)", (digest,))
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
                body = words.folded(one.text[:_MOST])
                base.execute(
                    "INSERT INTO bodies (rowid, body) VALUES (?,?)", (made.lastrowid, body)
                )


def _digest(there: dict[str, Signature]) -> bytes:
    """Return one digest of all file signatures, which shows at once whether anything is new."""
    import hashlib
    import marshal

    return hashlib.blake2b(marshal.dumps(there, 2), digest_size=16).digest()


def signatures(layout: Layout, more: tuple[str, ...] = ()) -> dict[str, Signature]:
    """Return the signatures of all files: stores, archive, ended sessions, folders in `more`."""
    found: dict[str, Signature] = {}
    suffixes = tuple({store.suffix for store in stores.STORES if store.suffix})
    folders: dict[str, None] = {}
    for store in stores.with_documents():
        place = layout.store(store.kind)
        if store.is_file:
            for name, signature in stat(place):
                found[name] = signature
        else:
            folders |= dict.fromkeys([place, *addresses.away(layout, store)])
    for folder in (*folders, *more):
        _walk(folder, suffixes, found)
    return found


def stat(place: str) -> Iterator[tuple[str, Signature]]:
    try:
        about = os.stat(place)
    except OSError:
        return
    yield place, (about.st_mtime_ns, about.st_size)


def _walk(folder: str, suffixes: tuple[str, ...], found: dict[str, Signature]) -> None:
    try:
        with os.scandir(folder) as inside:
            for entry in inside:
                name = entry.name
                if name[0] == ".":
                    continue
                if name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    found[entry.path] = (about.st_mtime_ns, about.st_size)
                elif entry.is_dir(follow_symlinks=False):
                    _walk(entry.path, suffixes, found)
    except OSError:
        return  # missing, or removed just now
