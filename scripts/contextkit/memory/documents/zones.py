"""Zones: how full a context is, and the snapshot that is saved once when it is time.

    ok      there is room
    warn    from 80 % of the threshold: save what matters; nothing is written
    save    from the threshold: a snapshot is written, once until the count has dropped below

For hooks: `zone` is arithmetic, `look` opens one small file at most, and the snapshot that `once`
asks for is made by `flows.derived.derive`, which starts no process.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.limits import Limits
from contextkit.base.records import Record
from contextkit.memory.documents import store as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OK, WARN, SAVE = "ok", "warn", "save"
_FORGOTTEN = 30 * 86_400  # seconds after which nobody asks for a mark any more


class Zone(Record):
    """Where a count of tokens lies; both borders belong to the zone above them."""

    name: str
    tokens: int
    warn_at: int
    save_at: int


def borders(limits: Limits, window: int = 0) -> tuple[int, int]:
    """The counts from which to warn and to save, as the settings have it.

    `window` is what the model's context holds, where a host tells: the number that nobody set is
    the same fraction of it as of the window in the settings, and one that was set is absolute.
    """
    save_at = limits.memory_save_tokens
    if limits.memory_save_percent:
        save_at = (window or limits.memory_window_tokens) * limits.memory_save_percent // 100
    elif window and save_at == Limits.memory_save_tokens:
        save_at = window * save_at // Limits.memory_window_tokens
    return -(-max(save_at, 1) * limits.memory_warn_percent // 100), max(save_at, 1)


def zone(layout: Layout, tokens: int, window: int = 0) -> Zone:
    """The zone of a context that holds so many tokens, of a window where that is known."""
    warn_at, save_at = borders(layout.limits, window)
    name = SAVE if tokens >= save_at else WARN if tokens >= warn_at else OK
    return Zone(name=name, tokens=tokens, warn_at=warn_at, save_at=save_at)


def snapshot_of(layout: Layout, session: str, task: str) -> str:
    """The snapshot written since the count rose into the save zone; empty while none is there."""
    try:
        path = files.read(_mark(layout, session, task)).strip()
    except ContextError:
        return ""
    return path if os.path.exists(layout.join(path)) else ""


def look(
    layout: Layout, session: str, task: str, tokens: int, window: int = 0
) -> tuple[Zone, bool]:
    """The zone, and whether a snapshot is due now; below the threshold the next one will be."""
    found = zone(layout, tokens, window)
    if found.name == SAVE:
        return found, not snapshot_of(layout, session, task)
    forget(layout, session, task)
    return found, False


def forget(layout: Layout, session: str, task: str) -> None:
    """The context was emptied: what is saved next is another snapshot."""
    try:
        os.unlink(_mark(layout, session, task))
    except FileNotFoundError:
        pass


def once(
    layout: Layout, session: str, task: str, write: Callable[[], str], now: int, age: int = 0
) -> tuple[str, bool]:
    """The snapshot of this rise: the path that `write` returns, or what another process wrote.

    With `age`, one that is more seconds old does not count: for a compaction, which needs what
    was said since, and comes at times right after the end of a turn that was saved.

    A process killed in between leaves a snapshot without its mark: the next look writes another,
    which is one too many and never one too few.
    """
    mark = _mark(layout, session, task)
    with files.locked(layout.lock(mark)):
        there = snapshot_of(layout, session, task)
        when = memory.parted(os.path.basename(there))[1]
        if there and (not age or when >= memory.stamp(now - age)):
            return there, False
        path = write()
        files.write(mark, path + "\n")
        _sweep(os.path.dirname(mark), now)
    return path, True


def _mark(layout: Layout, session: str, task: str) -> str:
    """A context is one session at one task; either may be unknown."""
    key = names.sha256(f"{session}\0{task}".encode("utf-8", "replace"))[:24]
    return layout.memory_state("saves/" + key)


def _sweep(folder: str, now: int) -> None:
    """Remove the marks of sessions that nobody asks about any more."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            if os.stat(path).st_mtime < now - _FORGOTTEN:
                os.unlink(path)
        except FileNotFoundError:
            continue  # another process swept it
