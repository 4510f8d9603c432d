"""The search index over everything stored: a cache beside the ledger, built from the files.

    .contextkit/ledger/search.sqlite

The files are authoritative: an entry older than its file is read again, an entry without a file is
dropped, and a broken or missing index is rebuilt. If it cannot be saved, it is built in memory.
"""

from __future__ import annotations

import os
import re
import sqlite3
import unicodedata

from contextkit.base import addresses, files, ledger, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contextkit.base.layout import Layout

    Signature = tuple[int, int]  # modification time in nanoseconds, size in bytes
    Reader = Callable[[str], list["Entry"]]

FORMAT = 2
_MOST = 4 << 20  # characters of a document that are indexed
_WIDE = 0x2E80  # from this code point on, each letter is a word
_TERM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')
_PLAIN = re.compile(r"[^a-z0-9]+")
_MOST_TERMS = 32  # terms in a query
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
            (in_fts(terms),),
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
                body = folded(one.text[:_MOST])
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


# The query language, and texts in the form in which they are compared: lower case, no accents, no
# punctuation. Characters of scripts without spaces between words (Chinese, Japanese …) are words of
# their own.


class Term(Record):
    """Consecutive words; with `prefix`, the last one may be the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


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


def query(text: str) -> tuple[Term, ...]:
    """Parse a query such as `words "in a row" begin*`. Raises ContextError if it has no word."""
    found = []
    for quoted, star, word in _TERM.findall(text)[:_MOST_TERMS]:
        words = tuple(folded(quoted or word).split())
        if words:
            found.append(Term(words=words, prefix=bool(star) or word.endswith("*")))
    if not found:
        raise bad_input(f"q: {text[:60]!r} has no word to look for")
    return tuple(found)


def _place(padded: str, term: Term) -> int:
    return padded.find(" " + " ".join(term.words) + ("" if term.prefix else " "))


def in_fts(terms: tuple[Term, ...]) -> str:
    """Return the terms as an FTS5 query, in which nothing that was typed acts as an operator."""
    return " AND ".join(f'"{" ".join(t.words)}"' + (" *" if t.prefix else "") for t in terms)


def count(body: str, terms: tuple[Term, ...]) -> int:
    """Return how many of the terms a folded text has."""
    return sum(_place(f" {body} ", term) >= 0 for term in terms)


def marked(line: str, terms: tuple[Term, ...]) -> str:
    """Return a line with `**` around the matching words."""
    wanted = {word for term in terms for word in term.words}
    begun = tuple(term.words[-1] for term in terms if term.prefix)

    def around(match: re.Match[str]) -> str:
        word = match.group()
        parts = folded(word).split()
        hit = any(part in wanted or (begun and part.startswith(begun)) for part in parts)
        return f"**{word}**" if hit else word

    return re.sub(r"\w+", around, line.replace("**", ""))
