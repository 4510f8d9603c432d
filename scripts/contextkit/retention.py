"""How long payloads stay: until their session ends, or nobody used it for 24 hours.

An ended session's folder is renamed away at once (whatever its size), can be resumed within a grace
period, and is removed by a later sweep.

    .contextkit/ended/<session>@<stamp>/      ended then; back at the next use of the session
"""

from __future__ import annotations

import errno
import os

from contextkit import files, indexes, names, payloads, sessions
from contextkit.errors import ContextError
from contextkit.layout import Layout
from contextkit.records import Record

_PAUSE = 3600  # seconds between two sweeps that store and list do on the way


class Ended(Record):
    """A session whose payloads were taken away, and why; `stayed` could not be, or is not ours."""

    session: str
    payloads: int
    tokens: int
    reason: str
    stayed: tuple[str, ...] = ()

    def line(self) -> str:
        stayed = f"; not removed: {', '.join(self.stayed)}" if self.stayed else ""
        return (
            f"session {self.session}: {self.payloads} payloads, {self.tokens} tokens"
            f" removed ({self.reason}){stayed}"
        )


def session_lock(layout: Layout, session: str) -> files.locked:
    """The lock under which a session's folder is changed, ended and resumed."""
    return files.locked(layout.lock(payloads.folder(layout, session)))


def end(
    layout: Layout, session: str, now: int, summary_file: str = "", purge: bool = False
) -> Ended | None:
    """End a session: its payloads are gone from the store. None when it has none.

    `purge` removes them for good at once; otherwise `resume` brings them back.
    """
    log = log_file(layout, session, summary_file)
    here = os.path.isdir(payloads.folder(layout, session))
    if not here and not (purge and _ended(layout, session)):
        return None
    with session_lock(layout, session):
        done = _end(layout, session, now, "session_end")
        if purge:
            removed = [_removed(layout, path) for path in _ended(layout, session)]
            stayed = [path for one in removed for path in one.stayed]
            found = done or (removed[-1] if removed else None)
            found = found and found.replace(stayed=(*(done.stayed if done else ()), *stayed))
        else:
            found = done
    if done and found:
        _log(layout, found, now, log)
    return found


def _end(layout: Layout, session: str, now: int, reason: str) -> Ended | None:
    folder = payloads.folder(layout, session)
    found = _taken(layout, folder, session, reason)
    if found is None or found.payloads < 0:
        return None
    files.store(layout.state)
    files.make_folder(layout.ended)
    first = away = os.path.join(layout.ended, f"{session}@{names.stamp(now)}")
    number = 1
    while os.path.lexists(away):
        number += 1
        away = f"{first}-{number}"
    try:
        os.rename(folder, away)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        return _removed(layout, folder)
    return found
