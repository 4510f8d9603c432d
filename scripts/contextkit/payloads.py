"""Payloads: long output of subagents, whole on disk, for as long as their session lasts.

    <payloads>/<session>/<YYYYMMDD-HHMMSS>-<topic>.md     the payload; the stem is its id
    <payloads>/<session>/manifest.json                    what is stored, in order

The format is told in manuals/payloads.md. The payload is written before the manifest that lists it,
and the manifest can be made again from the payloads.
"""

from __future__ import annotations

import os

from contextkit import files, indexes, names, templates
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = "manifest.json"
_IGNORE = "*\n!README.md\n!.gitkeep\n!.gitignore\n"
_CONTENT = b"\n## Full Content\n\n"
_SOURCES = b"\n\n---\n\n## Sources\n\n"
_LAST_LINE = b"<!-- contextkit: bytes="
_SUMMARY_LENGTH = 200  # characters of a summary in the manifest
_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


class Payload(Record):
    """A stored text with what is known about it; `tokens` is of the content."""

    topic: str
    source: str
    created_at: str
    tokens: int
    summary: str
    content: str
    sources: tuple[str, ...] = ()

    def check(self) -> None:
        for name in ("topic", "source"):
            value = getattr(self, name)
            if not value.strip() or not value.isprintable() or len(value) > 200:
                raise bad_input(f"{name}: {value[:60]!r} must be a line of up to 200")
        if not self.content.strip():
            raise bad_input("the content is empty: nothing to store")


def render(payload: Payload) -> str:
    """The file of a payload; its last line says how many bytes the content has, and their digest."""
    return _rendered(payload)[0]


def _rendered(payload: Payload) -> tuple[str, str, int]:
    """The file, and the digest and the length in bytes of the content in it."""
    data = payload.content.encode("utf-8")
    digest = names.sha256(data)
    text = templates.render("payload.md", payload=payload, bytes=len(data), sha256=digest)
    return text, digest, len(data)


def parse(data: bytes, where: str = "payload") -> Payload:
    """The payload in a file. Raises ContextError for what is none, or was changed."""
    start, end = _content(data, where)
    head = data[:start].decode("utf-8", "replace")
    title, _, rest = head.partition("\n")
    fields = dict(line[2:].split(":** ", 1) for line in rest.split("\n") if _is_field(line))
    summary = head.partition("\n## Summary\n\n")[2].partition("\n\n---\n")[0]
    sources = data[end:].partition(_SOURCES)[2].decode("utf-8", "replace")
    digits = fields.get("Tokens", "").lstrip("~")
    if not title.startswith("# ") or not digits.isdigit():
        raise ContextError(f"{where}: is no payload: its head is missing or was changed")
    return Payload(
        topic=title[2:],
        source=fields.get("Source", "unknown"),
        created_at=fields.get("Generated", ""),
        tokens=int(digits),
        summary=summary,
        content=data[start:end].decode("utf-8"),
        sources=tuple(line[2:] for line in sources.split("\n") if line.startswith("- ")),
    )


def _is_field(line: str) -> bool:
    return line.startswith("**") and ":** " in line


def _content(data: bytes, where: str) -> tuple[int, int]:
    """Where the content begins and ends, also when it contains headings of a payload itself."""
    start = data.find(_CONTENT)
    if start < 0:
        raise ContextError(f"{where}: is no payload: it has no `## Full Content`")
    last = data.rstrip(b"\n").rpartition(b"\n")[2]
    length, _, rest = last.removeprefix(_LAST_LINE).partition(b" sha256=")
    if not last.startswith(_LAST_LINE) or not length.isdigit():  # written by hand or another tool
        start += len(_CONTENT)
        end = data.rfind(_SOURCES)
        return start, end if end > start else len(data.rstrip(b"\n"))
    while start >= 0:
        begin = start + len(_CONTENT)
        end = begin + int(length)
        if names.sha256(data[begin:end]) == rest.partition(b" ")[0].decode("ascii", "replace"):
            return begin, end
        start = data.find(_CONTENT, begin - 1)
    raise ContextError(f"{where}: the content is not what was stored: the file was changed")


def check_session(session: str) -> str:
    """A session id that is safe as a folder's name; raises ContextError for any other."""
    fits = 1 <= len(session) <= 64 and _ID_CHARACTERS.issuperset(session)
    if not fits or not session[0].isalnum():
        allowed = "1 to 64 of A-Z a-z 0-9 . _ -, a letter or digit first"
        raise bad_input(f"session: {session[:80]!r} must be {allowed}")
    return session


def folder(layout: Layout, session: str) -> str:
    """The session's folder, which need not exist. Raises ContextError if it is a link."""
    path = os.path.join(layout.payloads, check_session(session))
    files.inside(layout.root, path, "payloads")
    if os.path.islink(path):
        raise bad_input(f"session: {layout.shown(path)} is a symbolic link: refused")
    return path


def sessions(layout: Layout) -> list[str]:
    """The sessions that have a folder."""
    try:
        with os.scandir(layout.payloads) as found:
            return sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []


def prepare_store(layout: Layout) -> None:
    """The store's own files, on first use: what it is, and that git does not see it."""
    files.store(layout.payloads, _IGNORE)
    for name, text in store_documents().items():
        path = os.path.join(layout.payloads, name)
        if not os.path.lexists(path):
            files.write(path, text)


def store_documents() -> dict[str, str]:
    """The files of the store that belong in git."""
    return {"README.md": templates.render("payload_readme.md"), ".gitkeep": ""}


def save(layout: Layout, session: str, payload: Payload, now: int) -> str:
    """Write a payload, then list it; returns its path. Call under the session's lock.

    A name that is taken gets `-2`. `now` is also when the session was last in use.
    """
    into = folder(layout, session)
    stem = f"{names.stamp(now).replace('T', '-')[:-1]}-{names.slug(payload.topic) or 'payload'}"
    text, digest, length = _rendered(payload)
    path = files.create(os.path.join(into, stem + ".md"), text)
    _list(layout, session, entry_of(path, payload, digest, length), now)
    return path


def entry_of(path: str, payload: Payload, digest: str = "", length: int = 0) -> indexes.Fields:
    """The manifest's entry: the documented keys in their order, then ours."""
    if not digest:
        _, digest, length = _rendered(payload)
    name = os.path.basename(path)
    summary = names.one_line(payload.summary)
    if len(summary) > _SUMMARY_LENGTH:
        summary = summary[:_SUMMARY_LENGTH].rstrip() + "..."
    return {
        "id": name.removesuffix(".md"),
        "path": name,
        "topic": payload.topic,
        "source": payload.source,
        "tokens": payload.tokens,
        "createdAt": payload.created_at,
        "summary": summary,
        "sha256": digest,
        "bytes": length,
    }


def _list(layout: Layout, session: str, entry: indexes.Fields, now: int) -> None:
    path = os.path.join(folder(layout, session), MANIFEST)
    try:
        data = indexes.spliced(files.read_bytes(path), entry, "totalTokensStored")
    except ContextError:
        data = None
        if not os.path.lexists(path):
            data = _manifest(session, [entry]).encode()
    if data is None:
        repair(layout, session, now)  # somebody else wrote it: the files are the truth
        return
    files.write(path, data)
    touch(path, now)


def _manifest(session: str, entries: list[indexes.Fields]) -> str:
    created = min((entry["createdAt"] for entry in entries), default="")
    head = {"sessionId": session, "createdAt": created}
    return indexes.render(head, "payloads", entries, "totalTokensStored")


def touch(path: str, now: int) -> None:
    """Note that a session was in use `now`: the manifest's time is the session's last activity."""
    os.utime(path, (now, now))


def load_all(layout: Layout, session: str) -> list[indexes.Fields]:
    """The manifest's entries, in order of storing; none without a manifest."""
    path = os.path.join(folder(layout, session), MANIFEST)
    if not os.path.lexists(path):
        return []
    where = layout.shown(path)
    try:
        return indexes.parse(files.read_bytes(path), "payloads", where)[1]
    except ContextError as error:
        raise ContextError(f"{error}: mend it with payload_repair session={session}") from None


def documents(layout: Layout, session: str) -> list[str]:
    """The payload files of a session, oldest first, whether listed or not."""
    into = folder(layout, session)
    try:
        found = os.listdir(into)
    except FileNotFoundError:
        return []
    return sorted(os.path.join(into, n) for n in found if n.endswith(".md") and n[0] != ".")


def load(path: str, where: str) -> Payload:
    """The payload in the file `path`; `where` is what to call it in an error."""
    return parse(files.read_bytes(path), where)


def search(layout: Layout, session: str, query: str) -> Iterator[tuple[str, int, str]]:
    """(id, line number in the file, line) wherever `query` stands, upper and lower case alike."""
    wanted = query.lower()
    for path in documents(layout, session):
        text = files.read_bytes(path).decode("utf-8", "replace")
        if wanted not in text.lower():
            continue
        identity = os.path.basename(path).removesuffix(".md")
        for number, line in enumerate(text.split("\n"), start=1):
            if wanted in line.lower():
                yield identity, number, line.rstrip("\r")


def repair(layout: Layout, session: str, now: int) -> list[str]:
    """Make the manifest again from the payload files; says what was mended. Call under the lock.

    A broken manifest is kept aside. A file that is no payload is left alone and named.
    """
    into = folder(layout, session)
    path = os.path.join(into, MANIFEST)
    done: list[str] = []
    listed: list[indexes.Fields] = []
    if os.path.lexists(path):
        try:
            listed = indexes.parse(files.read_bytes(path), "payloads", MANIFEST)[1]
        except ContextError:
            aside = files.create(f"{path}.broken-{names.stamp(now)}", files.read_bytes(path))
            done.append(f"{MANIFEST} could not be read: kept as {os.path.basename(aside)}")
    there = {os.path.basename(found): found for found in documents(layout, session)}
    entries = []
    for entry in listed:
        found = there.pop(str(entry.get("path")), None)
        if found is None:
            done.append(f"{entry['id']}: its file is gone: no longer listed")
        else:
            entries.append(entry)
    for name, found in there.items():
        try:
            entries.append(entry_of(found, load(found, name)))
            done.append(f"{name}: was not listed: listed now")
        except (ContextError, UnicodeDecodeError) as error:
            done.append(f"{error}: left alone")
    entries.sort(key=lambda entry: str(entry.get("createdAt", "")))  # stable: order of storing
    if os.path.isdir(into):
        swept = files.sweep(into, now)
        done += [f"{swept} unfinished drafts removed"] if swept else []
        text = _manifest(session, entries)
        if not os.path.lexists(path) or files.read_bytes(path) != text.encode():
            files.write(path, text)
        touch(path, now)
    return done


def names_a_payload(identity: str) -> bool:
    """Whether a text can be a payload's id: it becomes part of a path."""
    return bool(identity) and _ID_CHARACTERS.issuperset(identity) and identity[0].isalnum()


def manifest(layout: Layout, session: str) -> str:
    """The text of a session's manifest; empty where there is none."""
    return files.read_if_there(os.path.join(folder(layout, session), MANIFEST)) or ""
