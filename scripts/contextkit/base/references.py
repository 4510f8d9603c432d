"""References: whether a file that a document names has changed since.

A checkpoint, a snapshot or a capsule stores a digest of each file that it is about. File times are
not used: a checkout changes them, and restoring a file does not change its content.
"""

from __future__ import annotations

import os
import stat

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Iterator

FRESH, CHANGED, MISSING = "fresh", "changed", "missing"
_PIECE = 1 << 20  # bytes read at once
_WHOLE = 64 * _PIECE  # largest size in bytes at which a file is read whole


class Reference(Record):
    """A file by its path relative to the root; `sha256` may be cut, and is '' if it was missing."""

    path: str
    sha256: str = ""


def seal(root: str, paths: Iterable[str]) -> tuple[Reference, ...]:
    """One reference to each of these root-relative paths, without those outside the root."""
    sealed: dict[str, Reference] = {}
    for path in paths:
        if real := _inside(root, path):
            plain = os.path.normpath(path)
            sealed.setdefault(plain, Reference(path=plain, sha256=_digest(real)))
    return tuple(sealed.values())


def read(pairs: Iterable[tuple[object, object]]) -> tuple[Reference, ...]:
    """The references in (path, digest) pairs of a document; any that are not text are left out."""
    return tuple(Reference(path=p, sha256=d) for p, d in pairs if str is type(p) is type(d))


def state(root: str, reference: Reference) -> str:
    """`fresh` (unchanged), `changed` (or created since), or `missing` (or unreadable).

    A file outside the root is never opened, whoever wrote the reference: it counts as missing.
    """
    real = _inside(root, reference.path)
    now = _digest(real) if real else ""
    if not now:
        return MISSING
    return FRESH if reference.sha256 and now.startswith(reference.sha256) else CHANGED


def _inside(root: str, path: str) -> str:
    """The file at a root-relative path, with links followed; '' if outside the root, or no path."""
    if os.path.isabs(path) or not path.strip():
        return ""
    try:
        return files.inside(root, os.path.join(root, path), "path")
    except (ContextError, OSError, ValueError):
        return ""


def _digest(path: str) -> str:
    """A digest of a file, or of the names in a folder; '' if it is missing or unreadable."""
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            return names.sha256_of(_pieces(path, status.st_size))
        if stat.S_ISDIR(status.st_mode):
            return names.sha256(b"\0".join(sorted(map(os.fsencode, os.listdir(path)))))
        return names.sha256(b"neither file nor folder")
    except (OSError, ValueError):
        return ""


def _pieces(path: str, size: int) -> Iterator[bytes]:
    """The bytes of a file; for a very large one, its size and 64 chunks spread over it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if size > _WHOLE:
            yield b"%d" % size
            last = _WHOLE // _PIECE - 1
            for number in range(last + 1):
                yield os.pread(descriptor, _PIECE, (size - _PIECE) * number // last)
        else:
            while piece := os.read(descriptor, _PIECE):
                yield piece
    finally:
        os.close(descriptor)
