"""Manifests: what a machine shares, and the head that points to the newest manifest.

manuals/machines.md shows what is on a remote. Manifest `n` holds what changed after manifest
`n & (n - 1)` (the number without its lowest bit), so each power of two holds everything. All of it
comes from other machines, so everything is checked here: names, sizes, formats.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import dataclass

from contextkit.base import names, version
from contextkit.base.errors import ContextError
from contextkit.base.type_names import Any, Iterable

FORMAT = 1
_ID_LENGTH = 12
_CHARACTERS = "abcdefghijklmnopqrstuvwxyz234567"
MOST_BYTES = 16 << 20  # bytes of a document
MOST_MANIFEST = 64 << 20  # bytes of a manifest
MOST_HEAD = 8_192  # bytes of a head
_MOST_ENTRIES = 500_000
_MOST_NAME = 60  # characters of a machine's name
_SEGMENT = re.compile(r"[^./\\<>][^/\\<>]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_TAGS = str.maketrans("<>", "‹›")
DAMAGED = b""  # in place of an object that a key cannot open
ENDED = "ended"  # kind of an entry for something that ended: `ended/payload/<session>`


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A document as a machine has it, or the fact that something ended.

    name: `kind/path in the store`; sha256: of its text, empty for an end.
    count: the writer's changes when it made this one; grows with each change of the document.
    gone: it is no longer on that machine; other machines keep theirs.
    about: the task or run that the document names.
    """

    name: str
    sha256: str = ""
    bytes: int = 0
    at: str = ""
    count: int = 0
    gone: bool = False
    redacted: bool = False
    about: str = ""

    @property
    def kind(self) -> str:
        return self.name.partition("/")[0]

    @property
    def path(self) -> str:
        """The name without its kind."""
        return self.name.partition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Head:
    """The newest state of a machine; `documents` and `bytes` count everything that it shares.

    chain: the digests of the manifests that a new reader reads, oldest first; `digest` is that of
    the newest. signature: of everything else, as ssh-keygen writes it.
    """

    machine: str
    name: str
    number: int
    digest: str
    at: str
    documents: int = 0
    bytes: int = 0
    chain: tuple[str, ...] = ()
    signature: str = ""
    format: int = FORMAT


def new_id() -> str:
    """Draw the id of a new machine at random."""
    return "".join(_CHARACTERS[byte % len(_CHARACTERS)] for byte in os.urandom(_ID_LENGTH))


def is_id(text: str) -> bool:
    """Whether a text is a valid machine id."""
    return len(text) == _ID_LENGTH and set(text) <= set(_CHARACTERS)


def clean(text: str) -> str:
    """Another machine's text fit for display: printable, on one line, without tags."""
    return names.one_line(text).translate(_NO_TAGS)


def clean_name(text: str) -> str:
    """A machine's name fit for display, of at most 60 characters."""
    return clean(text)[:_MOST_NAME].strip()


def object_key(digest: str) -> str:
    return f"objects/{digest[:2]}/{digest}"


def manifest_key(machine: str, number: int) -> str:
    return f"machines/{machine}/{number}.json"


def head_key(machine: str) -> str:
    return f"machines/{machine}/head.json"


def since(number: int) -> int:
    """The number of the manifest that this one builds on."""
    return number & (number - 1)


def chain(number: int, seen: int = 0) -> list[int]:
    """The numbers of the manifests that cover all changes after `seen`, oldest first."""
    numbers = []
    while number > seen:
        numbers.append(number)
        number = since(number)
    return numbers[::-1]


def render_head(head: Head) -> bytes:
    return (json.dumps(vars(head), ensure_ascii=False) + "\n").encode()


def parse_head(data: bytes, machine: str) -> Head:
    """Parse the head of `machine`. Raises ContextError if unreadable or of a newer format."""
    where = f"the head of {machine}"
    fields = _fields(data, where, MOST_HEAD)
    counts = {n: _count(fields, n, where) for n in ("number", "documents", "bytes")}
    if fields.get("machine") != machine or not _DIGEST.fullmatch(str(fields.get("digest"))):
        raise ContextError(f"{where}: belongs to another machine, or has no digest")
    name = clean_name(str(fields.get("name") or "")) or machine
    listed = fields.get("chain")
    texts = list(map(str, listed)) if isinstance(listed, list) else []
    are_digests = texts == listed and all(map(_DIGEST.fullmatch, texts))
    is_whole = are_digests and len(texts) == len(chain(counts["number"]))
    if not is_whole or texts[-1:] != [fields["digest"]]:
        raise ContextError(f"{where}: names manifests that do not belong to its number")
    signature = fields.get("signature", "")
    return Head(
        machine=machine, name=name, digest=str(fields["digest"]), at=_time(fields),
        chain=tuple(texts), signature=signature if isinstance(signature, str) else "",
        **counts,
    )  # fmt: skip


def render(machine: str, number: int, entries: Iterable[Entry]) -> bytes:
    """Render a manifest, one line per entry; fields that an entry does not need are left out."""
    rows = ({name: value for name, value in vars(entry).items() if value} for entry in entries)
    body = ",\n".join(json.dumps(fields, ensure_ascii=False) for fields in rows)
    top = {"machine": machine, "number": number, "since": since(number), "format": FORMAT}
    return (json.dumps(top)[:-1] + ', "entries": [\n' + body + "\n]}\n").encode()


def parse(data: bytes, machine: str, number: int) -> list[Entry]:
    """The entries of manifest `number`: what changed after `since`. Raises ContextError."""
    where = f"manifest {number} of {machine}"
    fields = _fields(data, where, MOST_MANIFEST)
    if (fields.get("machine"), fields.get("number")) != (machine, number):
        raise ContextError(f"{where}: names another manifest")
    if fields.get("since") != since(number):
        raise ContextError(f"{where}: has no valid `since`")
    listed = fields.get("entries")
    if not isinstance(listed, list) or len(listed) > _MOST_ENTRIES:
        raise ContextError(f"{where}: has no list of entries, or too many of them")
    return [entry(item, where) for item in listed]


def entry(fields: Any, where: str) -> Entry:
    """The entry in an object. Raises ContextError for an invalid name or value."""
    if not isinstance(fields, dict) or not isinstance(fields.get("name"), str):
        raise ContextError(f"{where}: an entry has no name")
    name = check_name(fields["name"], where)
    gone = fields.get("gone") is True
    digest = fields.get("sha256", "")
    needs_text = not gone and name.partition("/")[0] != ENDED
    if not isinstance(digest, str) or (needs_text and not _DIGEST.fullmatch(digest)):
        raise ContextError(f"{where}: {name}: has no digest")
    size = _count(fields, "bytes", where)
    if size > MOST_BYTES:
        raise ContextError(f"{where}: {name}: larger than {MOST_BYTES} bytes")
    return Entry(
        name=name, sha256=digest, bytes=size, at=_time(fields), gone=gone,
        count=_count(fields, "count", f"{where}: {name}"), redacted=fields.get("redacted") is True,
        about=clean(str(fields.get("about", "")))[:200],
    )  # fmt: skip


def check_name(name: str, where: str) -> str:
    """A name from elsewhere, unchanged.

    Raises ContextError for one that could leave its store on some file system, and for one that
    would show as something else: control and bidirectional characters, tags.
    """
    segments = name.split("/")
    fits = all(len(segment.encode("utf-8", "replace")) <= 200 for segment in segments)
    fits = fits and name.isprintable() and 2 <= len(segments) <= 12
    if not fits or not all(map(_SEGMENT.fullmatch, segments)):
        raise ContextError(f"{where}: {names.brief(clean(name))}: is not a document name")
    return name


def _fields(data: bytes, where: str, most: int) -> dict[str, Any]:
    if len(data) > most:
        raise ContextError(f"{where}: larger than {most} bytes")
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise ContextError(f"{where}: is not valid JSON") from None
    if not isinstance(fields, dict):
        raise ContextError(f"{where}: is not a JSON object")
    version.require(fields, "format", FORMAT, where)
    return fields


def _time(fields: dict[str, Any]) -> str:
    """The time of writing; empty if it is no valid time."""
    at = str(fields.get("at"))
    return at if names.shape(at) == "0000-00-00T00:00:00Z" else ""


def _count(fields: dict[str, Any], name: str, where: str) -> int:
    value = fields.get(name, 0)
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise ContextError(f"{where}: {name} is not a whole number")
    return value


class Unreadable(ContextError):
    """Something on the remote cannot be unpacked; it may be intact next time."""


def pack(data: bytes) -> bytes:
    """Compress an object or a manifest."""
    return zlib.compress(data, 6)


def unpack(data: bytes, most: int, where: str) -> bytes:
    """Unpack an object or a manifest of at most `most` bytes; raises ContextError if damaged."""
    if data == DAMAGED:
        raise Unreadable(f"{where}: is damaged, or encrypted with another key")
    if data.startswith(b"age-encryption.org/"):
        raise ContextError(f"{where}: is encrypted: name its key file, sync_key in contextkit.yaml")
    work = zlib.decompressobj()
    try:
        text = work.decompress(data, most + 1)
    except zlib.error:
        raise Unreadable(f"{where}: is damaged") from None
    if len(text) > most or not work.eof:
        raise ContextError(f"{where}: larger than {most} bytes, or cut short")
    return text
