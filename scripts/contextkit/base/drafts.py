"""Drafts: files that killed writers left behind are removed an hour later.

Each command sweeps the stores that it uses, at most once an hour per store (`cli.run`). The time of
the last sweep is that of a mark, `.contextkit/drafts/<kind>`; losing a mark costs one extra sweep.
"""

from __future__ import annotations

import os
import time

from contextkit.base import files, stores
from contextkit.base.errors import ContextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.layout import Layout

_NOT_OURS = "sandboxes"  # clones and worktrees of subagents, in the state


def sweep(layout: Layout, kinds: list[str], written: set[str]) -> int:
    """Sweep the stores of these kinds and the `written` folders; return how many drafts went.

    Never fails: drafts on a read-only disk stay. A repository that has never held anything of
    contextkit gets no mark.
    """
    now = time.time()
    try:
        if os.path.isdir(layout.state):
            for kind in kinds:
                _mark(layout, kind)
        elif not written:
            return 0
        folders = {folder for kind in kinds for folder in _folders(layout, kind)}
        there = filter(os.path.isdir, folders | written)
        return sum(files.sweep(folder, now) for folder in there)
    except (ContextError, OSError):
        return 0


def _mark(layout: Layout, kind: str) -> None:
    path = os.path.join(layout.state, "drafts", kind)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb"):
        os.utime(path)


def _folders(layout: Layout, kind: str) -> list[str]:
    """The folders of a store; for a single-file store, the folder that contains it."""
    store = stores.named(kind)
    place = layout.store(kind)
    if store.holds == stores.HOST or store.within:
        return []  # nothing of ours, or part of another store that is swept too
    if store.is_file:
        place = os.path.dirname(place)
    if not os.path.isdir(place) or os.path.islink(place):
        return []
    return [place] if store.is_file else _below(place)


def _below(place: str) -> list[str]:
    found = []
    for folder, inside, _ in os.walk(place):
        inside[:] = [name for name in inside if name != _NOT_OURS]
        found.append(folder)
    return found


def sweep_below(place: str) -> int:
    """Sweep a folder and its subfolders before it is archived; return how many drafts went."""
    return sum(files.sweep(folder, time.time()) for folder in _below(place))
