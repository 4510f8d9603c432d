"""The shelf: documents are noted, moved to an archive and back, or removed for good.

Nothing is overwritten, and nothing is half-moved by a killed process. The caller locks.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, stores, tokens
from contextkit.base.layout import Layout


def stored(layout: Layout, path: str, text: str, kind: str = "", agent: str = "") -> None:
    """Note that a document was created or replaced, and which others its text names."""
    ref, size = addresses.of(layout, path, kind), tokens.estimate(text)
    sources = addresses.named_in(layout, text)
    ledger.note(layout, ledger.STORED, ref, tokens=size, agent=agent, sources=sources)


def move(path: str, folder: str, in_front: bool = False) -> str:
    """Move a file into a folder and return its new path, or '' if it was gone.

    Of two different files of one name, the existing one keeps it, or gets `-2` if `in_front`.
    """
    files.make_folder(folder)
    final = os.path.join(folder, os.path.basename(path))
    try:
        if os.path.lexists(final):
            if is_same(path, final):
                files.discard(path)
                return final
            other = files.free(*os.path.splitext(final))
            if in_front:
                files.rename(final, other)
            else:
                final = other
        files.rename(path, final)
    except FileNotFoundError:
        return ""
    return final


def is_same(path: str, other: str) -> bool:
    """Whether two paths are one file, or hold the same bytes."""
    if os.path.samestat(os.lstat(path), os.lstat(other)):
        return True
    with open(files.opened(path), "rb") as first, open(files.opened(other), "rb") as two:
        return first.read() == two.read()


def forget(folder: str, before: float) -> None:
    """Remove the files in a folder that were last modified before a moment; no event notes it."""
    for path in [os.path.join(folder, name) for name in stores.names_in(folder)]:
        if stores.modified(path) < before:
            files.discard(path)


def remove(layout: Layout, path: str, kind: str = "") -> None:
    """Remove a document of a kind for good, and note it, unless another process did."""
    if os.path.lexists(path):
        files.discard(path)
        ledger.note(layout, ledger.REMOVED, addresses.of(layout, path, kind))
