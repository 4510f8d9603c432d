"""References: whether a file that a document names is still as it was.

A document that is read later (a checkpoint, a snapshot, a capsule) seals the files it is about:
it keeps a digest of each. Whoever reads it learns which of them have changed since. Nothing
relies on a file's time: that changes on a checkout, and a restored file is no other file.
"""

from __future__ import annotations

import os
import stat

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FRESH, CHANGED, MISSING = "fresh", "changed", "missing"
_PIECE = 1 << 20  # bytes that are read at once
_WHOLE = 64 * _PIECE  # bytes up to which all of a file is read


class Reference(Record):
    """A file by its path relative to the root; `sha256` is empty if it was missing then."""

    path: str
    sha256: str = ""


def seal(root: str, paths: Iterable[str]) -> tuple[Reference, ...]:
    """A reference to each of these root-relative paths, once; those outside the root left out."""
    found: dict[str, Reference] = {}
    for path in paths:
        real = _inside(root, path)
        if real:
            plain = os.path.normpath(path)
            found.setdefault(plain, Reference(path=plain, sha256=_digest(real)))
    return tuple(found.values())


def state(root: str, reference: Reference) -> str:
    """`fresh` (as it was), `changed` (or made since), `missing` (or not to be read).

    What lies outside the root is never opened, whoever wrote the reference: it is missing.
    """
    real = _inside(root, reference.path)
    now = _digest(real) if real else ""
    if not now:
        return MISSING
    return FRESH if now == reference.sha256 else CHANGED


def _inside(root: str, path: str) -> str:
    """The file that a root-relative path leads to, links followed; empty if it is not in the root.

    Names that a text may hold and no file system does are not in it either.
    """
    if os.path.isabs(path) or not path.strip():
        return ""
    try:
        return files.inside(root, os.path.join(root, path), "path")
    except (ContextError, OSError, ValueError):
        return ""


def _digest(path: str) -> str:
    """What changes when the file does; empty for one that is missing or not to be read.

    Of a folder, the names in it; of a pipe or device, which may never end, that it is there.
    """
    try:
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return names.sha256_of(_pieces(path, found.st_size))
        if stat.S_ISDIR(found.st_mode):
            return names.sha256(b"\0".join(sorted(map(os.fsencode, os.listdir(path)))))
        return names.sha256(b"neither file nor folder")
    except (OSError, ValueError):
        return ""


def _pieces(path: str, size: int) -> Iterator[bytes]:
    """The bytes of a file; of one too long to wait for, its size and 64 pieces spread over it.

    So a change in a file of gigabytes is seen at its ends and where its size changes, and
    elsewhere only by luck.
    """
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
