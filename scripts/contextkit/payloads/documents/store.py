"""Payloads: long output of subagents, complete on disk for as long as their session lasts.

    <payloads>/<session>/<YYYYMMDD-HHMMSS>-<topic>.md     the payload; the stem is its id
    <payloads>/<session>/manifest.json                    what is stored, in order

The format is described in manuals/payloads.md. A payload is written before the manifest that lists
it, and the manifest can be rebuilt from the payloads: a head, a list of entries, the total of their
tokens. An entry is spliced in before the tail without parsing the rest, but only if the tail is
byte for byte as we write it.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, ledger, names, sessions, stores, templates, version
from contextkit.base.errors import ContextError, NewerFormat, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded, sealed_copy
from contextkit.base.type_names import Any

Fields = dict[str, Any]

MANIFEST = "manifest.json"
LIST, TOTAL = "payloads", "totalTokensStored"  # in the manifest
# Of the document and of the manifest; one without has this one. A manifest's is not written, to
# keep to the published keys.
FORMAT = 1
_SUMMARY, _RULE = b"\n## Summary\n\n", b"\n\n---\n"
_CONTENT = b"\n## Full Content\n\n"
_SOURCES = b"\n\n---\n\n## Sources\n\n"
_LAST_LINE = b"<!-- contextkit: bytes="
_HEAD_LINES = 16  # of a payload's file above its content
_SUMMARY_LENGTH = 200  # characters of a summary in the manifest
_sealed: tuple[str, Fields] = ("", {})  # the content asked about last
_TEXTS = ("id", "path", "topic", "source", "createdAt", "summary")  # of an entry, as documented


class Payload(Record):
    """A stored text with its metadata; `tokens` counts the content."""

    topic: str
    source: str
    created_at: str
    tokens: int
    summary: str
    content: str
    sources: tuple[str, ...] = ()

    def check(self) -> None:
        check(self.topic, self.source, self.content)
        if names.shape(self.created_at) != "0000-00-00T00:00:00Z":
            raise bad_input(
                f"created_at: {self.created_at[:60]!r} must be like 2025-11-28T10:05:00Z"
            )
        for text in (self.summary, *self.sources):
            if text != names.one_line(text):
                raise bad_input(f"summary or sources: {text[:60]!r} must be one line")

    @property
    def parts(self) -> dict[str, str]:
        """The parts that may be requested by name."""
        return {
            "head": f"{self.topic}\n{self.created_at}  {self.source}  ~{self.tokens}",
            "summary": self.summary,
            "content": self.content,
            "sources": "\n".join(self.sources),
        }


def check(topic: str, source: str, content: str) -> None:
    """Raise ContextError for text that cannot be stored, whatever its length."""
    for name, value in (("topic", topic), ("source", source)):
        control = any(char < " " or "\x7f" <= char <= "\x9f" for char in value)
        is_line = value.strip() and len(value.splitlines()) == 1 and not control
        if not is_line or len(value) > 200:
            raise bad_input(f"{name}: {value[:60]!r} must be a line of up to 200 characters")
    if not content or content.isspace():
        raise bad_input("the content is empty: nothing to store")


def render(payload: Payload) -> str:
    """Render the file of a payload; its last line holds the length and digest of the content."""
    return templates.render("payload.md", payload=payload, **seal(payload.content), format=FORMAT)


def seal(content: str) -> Fields:
    """The SHA-256 digest and the length of a content, in bytes; the last result is cached."""
    global _sealed
    if not _sealed[1] or _sealed[0] != content:
        data = as_bytes(content)
        _sealed = content, {"sha256": names.sha256(data), "bytes": len(data)}
    return {**_sealed[1]}


def as_bytes(content: str) -> bytes:
    """The content as it was given; surrogate escapes become the original bytes."""
    return content.encode("utf-8", "surrogateescape")


def parse(data: bytes, where: str = "payload") -> Payload:
    """Parse the payload in a file. Raises ContextError if it is not one, or was changed."""
    start, end = span(data, where)
    title, _, rest = data[:start].decode("utf-8", "replace").partition("\n")
    lines = rest.partition("\n---\n")[0].split("\n")
    fields = dict(line[2:].split(":** ", 1) for line in lines if ":** " in line[2:])
    digits = fields.get("Tokens", "").lstrip("~")
    if not title.startswith("# ") or not names.is_whole(digits):
        raise ContextError(f"{where}: is not a payload: its head is missing or was changed")
    sources = data[end:].partition(_SOURCES)[2].decode("utf-8", "replace").split("\n")
    summary = data[:start].partition(_SUMMARY)[2].partition(_RULE)[0].decode("utf-8", "replace")
    try:
        return Payload(
            topic=title[2:],
            source=fields.get("Source", "unknown"),
            created_at=fields.get("Generated", ""),
            tokens=int(digits[:18]),
            summary=names.one_line(summary),
            content=data[start:end].decode("utf-8", "surrogateescape"),
            sources=tuple(names.one_line(line[2:]) for line in sources if line.startswith("- ")),
        )
    except (UnicodeDecodeError, ContextError) as error:
        raise ContextError(f"{where}: is not a payload: {error}") from None


def span(data: bytes, where: str) -> tuple[int, int]:
    """The start and end of the stored content, whatever headings it has. Raises ContextError."""
    start = data.find(_CONTENT)
    if start < 0:
        raise ContextError(f"{where}: is not a payload: it has no `## Full Content`")
    start += len(_CONTENT)
    last = data.rstrip(b"\n").rpartition(b"\n")[2]
    length, _, rest = last.removeprefix(_LAST_LINE).partition(b" sha256=")
    if not last.startswith(_LAST_LINE) or not length.isdigit() or len(length) > 18:  # it is lost
        end = data.rfind(_SOURCES)
        if end >= start and b"\n```" not in data[end:]:  # in a code block it belongs to the content
            return start, end
        return start, max(start, len(data) - (2 if data.endswith(b"\n\n") else 1))
    stated = rest.partition(b" format=")[2].partition(b" ")[0].decode("ascii", "replace")
    if stated not in ("", str(FORMAT)):
        version.refuse_newer(stated, str(FORMAT), where)
    end = start + int(length)
    if names.sha256(data[start:end]).encode() != rest.partition(b" ")[0]:
        raise ContextError(f"{where}: the content is not what was stored: the file was changed")
    return start, end


def folder(layout: Layout, session: str) -> str:
    """The session's folder, which need not exist. Raises ContextError if it is a link."""
    path = os.path.join(layout.payloads, sessions.check(session))
    files.proved(os.path.join(path, ""))
    sessions.check_spelling(path)
    return path


def sessions_in(layout: Layout) -> list[str]:
    """The sessions that have a folder."""
    try:
        with os.scandir(layout.payloads) as inside:
            folders = [entry.name for entry in inside if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(filter(sessions.is_session, folders))


def prepare_store(layout: Layout) -> None:
    """Create the store on first use, hidden from git on every branch."""
    files.store(layout.payloads)
    layout.exclude(layout.payloads, "/*/")


def document_store(layout: Layout) -> None:
    """The store's own files, which git does see: a description and its ignore rules."""
    prepare_store(layout)
    for name, text in (*store_documents().items(), (".gitignore", stores.BY_KIND["payload"].rules)):
        path = os.path.join(layout.payloads, name)
        if not os.path.lexists(path) or (name == ".gitignore" and files.read(path) == "*\n"):
            files.write(path, text)


def store_documents() -> dict[str, str]:
    """The files of the store that belong in git."""
    return {"README.md": sealed_copy(templates.render("payload_readme.md")), ".gitkeep": ""}


def save(layout: Layout, session: str, payload: Payload, now: int) -> str:
    """Write a payload, maybe as `-2`, then list it; return its path. Call under the lock."""
    from contextkit.base import addresses

    into = folder(layout, session)
    manifest = os.path.join(into, MANIFEST)
    stem = f"{names.stamp(now).replace('T', '-')[:-1]}-{names.slug(payload.topic) or 'payload'}"
    path = files.create(os.path.join(into, stem + ".md"), as_bytes(render(payload)))
    added = entry(path, payload)
    try:
        touch(path, now)
        if not os.path.lexists(manifest):
            head = {"sessionId": session, "createdAt": added["createdAt"]}
            files.write(manifest, render_manifest(head, [added]))
        elif not splice(manifest, added):  # another tool wrote it: the files are the truth
            repair(layout, session, now)
        _mark_used(manifest, now)
    except BaseException:
        if not _is_listed(manifest, added["path"]):
            os.unlink(path)  # stored and listed, or neither
        raise
    ref, size = addresses.of(layout, path, "payload"), payload.tokens
    ledger.note(layout, ledger.STORED, ref, tokens=size, session=session, agent=payload.source)
    return path


def first_line(path: str) -> int:
    """The line of a stored file in which its content begins."""
    return _HEAD_LINES + 1 if path.endswith(".md") else 1


def describe(layout: Layout, path: str, payload: Payload, summary: str, now: int) -> None:
    """Give a payload another summary, in its file and the manifest. Call under the lock.

    Does nothing if the session has ended.
    """
    if not os.path.isfile(path):
        return
    head, mark, rest = files.read_bytes(path).partition(_CONTENT)
    above = head.partition(_SUMMARY)[0]
    files.write(path, iter((above, _SUMMARY, as_bytes(summary), _RULE, mark, rest)))
    touch(path, now)
    into = os.path.dirname(path)
    manifest = os.path.join(into, MANIFEST)
    if not _change(manifest, entry(path, payload.replace(summary=summary))):
        repair(layout, os.path.basename(into), now)
    touch(manifest, now)


def _is_listed(manifest: str, name: str) -> bool:
    """Whether the manifest lists a file already: an error may occur after it was written."""
    try:
        return os.fsencode(f'"path": "{name}"') in files.read_bytes(manifest)
    except ContextError:
        return False


def same(layout: Layout, session: str, payload: Payload) -> tuple[str, Payload] | None:
    """The file in a session that has exactly this text of the same source, and its payload."""
    into = folder(layout, session)
    manifest = os.path.join(into, MANIFEST)
    data = files.read_bytes(manifest) if os.path.isfile(manifest) else b""
    digest = seal(payload.content)["sha256"]
    for before in data.split(f'"sha256": "{digest}"'.encode())[:-1]:
        identity = last_id(before)
        path = os.path.join(into, identity + ".md")
        if not (sessions.is_name(identity) and os.path.isfile(path)):
            continue
        try:
            there = load(path, path)
        except ContextError:
            continue  # the file was edited
        if (there.content, there.source) == (payload.content, payload.source):
            return path, there
    return None


def entry(path: str, payload: Payload) -> Fields:
    """The manifest's entry: the documented keys in order, then ours."""
    name, summary = os.path.basename(path), payload.summary
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
        **seal(payload.content),
    }


def touch(path: str, now: int) -> None:
    """Mark a session as used at `now`: the manifest's mtime is the session's last activity."""
    os.utime(path, (now, now))


def used(layout: Layout, path: str, now: int) -> str:
    """`path`, which may be no link that leads outside, after marking its session as used."""
    read = files.inside(layout.root, path, "ref")
    _mark_used(os.path.join(os.path.dirname(path), MANIFEST), now)
    return read


def _mark_used(manifest: str, now: int) -> None:
    try:
        touch(manifest, now)
    except OSError:
        pass  # no manifest yet, ended just now, or a read-only disk: it can still be read


def manifest(layout: Layout, session: str, now: int) -> Fields:
    """A session's manifest; an empty one if nothing is stored. Raises ContextError."""
    empty = {"sessionId": session, "createdAt": names.iso(now), LIST: [], TOTAL: 0}
    return _read_manifest(layout, session) or empty


def load_all(layout: Layout) -> Loaded[Payload]:
    """Every payload, by session and oldest first, listed or not; broken manifests count."""
    loaded: Loaded[Payload] = Loaded()
    for name in sessions_in(layout):
        there = layout.load(documents(layout, name), lambda p: load(p, layout.shown(p)))
        loaded += there
        loaded.broken += there.broken
        try:
            _read_manifest(layout, name)
        except ContextError as error:
            path = os.path.join(folder(layout, name), MANIFEST)
            loaded.broken.append(layout.broken(path, str(error)))
    return loaded


def entries(layout: Layout, session: str) -> list[Fields]:
    """The manifest's entries, in the order of storing; empty without a manifest."""
    return list(_read_manifest(layout, session).get(LIST, ()))


def _read_manifest(layout: Layout, session: str) -> Fields:
    path = os.path.join(folder(layout, session), MANIFEST)
    if not os.path.lexists(path):
        return {}
    try:
        manifest = parse_manifest(files.read_bytes(path), layout.shown(path))
        if not all(map(_is_complete, manifest[LIST])):
            raise ContextError(f"{layout.shown(path)}: an entry is not complete")
        return manifest
    except ContextError as error:
        if not os.path.lexists(path):
            return {}  # it ended just now
        if isinstance(error, NewerFormat):
            raise
        raise ContextError(f"{error}: fix it with make context_doctor mend=1") from None


def _is_complete(entry: Fields) -> bool:
    return all(isinstance(entry.get(name), str) for name in _TEXTS)


def documents(layout: Layout, session: str) -> list[str]:
    """The payload files of a session, oldest first, listed or not."""
    return documents_in(folder(layout, session))


def documents_in(into: str) -> list[str]:
    """The payload files in a session's folder, also of one that ended."""
    file_names = stores.files_in(into, ".md")
    return [os.path.join(into, name) for name in sorted(file_names, key=lambda name: name[:-3])]


def latest(layout: Layout, session: str) -> str:
    """The file of the payload stored last; '' if there is none."""
    into = folder(layout, session)
    manifest = os.path.join(into, MANIFEST)
    identity = last_id(files.read_bytes(manifest)) if os.path.isfile(manifest) else ""
    path = os.path.join(into, identity + ".md")
    is_there = sessions.is_name(identity) and os.path.isfile(path)
    return path if is_there else (documents(layout, session) or [""])[-1]


def load(path: str, where: str) -> Payload:
    """Load the payload in the file `path`, which errors call `where`."""
    return parse(files.read_bytes(path), where)


def repair(layout: Layout, session: str, now: int) -> list[str]:
    """Rebuild the manifest from the payload files and describe the fixes. Call under the lock.

    A broken manifest is set aside. Files that are not payloads are left alone and named. Raises
    ContextError for a manifest of a newer format.
    """
    into = folder(layout, session)
    if not os.path.isdir(into):
        return []
    path = os.path.join(into, MANIFEST)
    done: list[str] = []
    listed: list[Fields] = []
    created = names.iso(now)
    if os.path.lexists(path):
        try:
            old = parse_manifest(files.read_bytes(path), MANIFEST)
            listed, created = old[LIST], str(old.get("createdAt") or created)
        except NewerFormat:
            raise
        except ContextError:
            aside = files.create(f"{path}.broken-{names.stamp(now)}", files.read_bytes(path))
            done.append(f"{MANIFEST} could not be read: kept as {os.path.basename(aside)}")
    entries = _mended(documents(layout, session), listed, done)
    first = min((entry["createdAt"] for entry in entries), default=created)
    text = render_manifest({"sessionId": session, "createdAt": first}, entries)
    if not os.path.lexists(path) or files.read_bytes(path) != text.encode():
        files.write(path, text)
    touch(path, now)
    swept = files.sweep(into, now)
    return [*done, f"{swept} unfinished drafts removed"] if swept else done


def _mended(paths: list[str], listed: list[Fields], done: list[str]) -> list[Fields]:
    """An entry for each payload file, existing or new; differences are added to `done`."""
    there = {os.path.basename(path): path for path in paths}
    entries: dict[str, Fields] = {}
    for fields in listed:
        name = f"{fields['id']}.md"
        if name not in there:
            done.append(f"{fields['id']}: its file is gone: no longer listed")
        elif name in entries:
            done.append(f"{fields['id']}: was listed twice")
        elif fields.get("path") == name and _is_complete(fields):
            entries[name] = fields
    for name in [name for name in there if name not in entries]:
        try:
            entries[name] = entry(there[name], load(there[name], name))
            done.append(f"{name}: was not listed: listed now")
        except ContextError as error:
            done.append(f"{error}: left alone")
    return sorted(entries.values(), key=lambda fields: str(fields["createdAt"]))


# The manifest. The file is replaced whole, so it is valid JSON at all times. Callers must hold the
# session's lock.


_LAST = b"\n    }"  # the end of an entry


def render_manifest(head: Fields, entries: list[Fields]) -> str:
    """Render a manifest; the total is the sum of the entries' `tokens`."""
    total = sum(entry["tokens"] for entry in entries)
    return formats.to_json({**head, LIST: entries, TOTAL: total}) + "\n"


def splice(path: str, entry: Fields) -> bool:
    """Splice an entry into the manifest at `path`; False if its tail is not as we write it."""
    data = files.read_bytes(path)
    end, number = _end(data)
    is_ours = data.endswith(_LAST, 0, end)
    if is_ours:
        added = f",\n{_entry(entry)}{_tail(number + entry['tokens'])}"
        files.write(path, data[:end] + added.encode())
    return is_ours


def _change(path: str, new: Fields) -> bool:
    """Replace the entry of this id, of as many tokens; False if it is not there as we write it."""
    entry = _entry(new).encode()
    begin = entry.partition(b",")[0]
    before, there, rest = files.read_bytes(path).rpartition(begin + b",")
    after = rest.partition(_LAST)[2]
    if there and after:
        files.write(path, iter((before, entry, after)))
    return bool(there and after)


def _end(data: bytes) -> tuple[int, int]:
    """The end of the list, and the total; (0, 0) if the tail is not as we write it."""
    end = data.rfind(_tail(0).partition("0")[0].encode(), max(0, len(data) - 200))
    digits = data[max(0, end) :].rpartition(b" ")[2].removesuffix(b"\n}\n")
    ours = end >= 0 and digits.isdigit() and _tail(int(digits)).encode() == data[end:]
    return (end, int(digits)) if ours else (0, 0)


def last_id(data: bytes) -> str:
    """The id of the last entry; '' if there is none, or it is not as we write it."""
    _, mark, rest = data.rpartition(b'\n      "id": "')
    return rest.partition(b'"')[0].decode("utf-8", "replace") if mark else ""


def parse_manifest(data: bytes, where: str) -> Fields:
    """Parse a manifest. Raises ContextError for an invalid one or a newer format."""
    manifest = formats.object_from_json(data.decode("utf-8", "replace"), where)
    version.refuse_newer(manifest.get("format"), str(FORMAT), where)
    entries = manifest.get(LIST)
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise ContextError(f"{where}: has no list of {LIST}")
    return manifest


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or type(entry.get("tokens")) is not int:
        return False
    return isinstance(entry.get("id"), str) and entry["tokens"] >= 0


def _tail(number: int) -> str:
    return f'\n  ],\n  "{TOTAL}": {number}\n}}\n'


def _entry(entry: Fields) -> str:
    return "    " + formats.to_json(entry, "    ")
