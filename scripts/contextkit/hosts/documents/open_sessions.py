"""Open sessions: those running in this work tree, so that one that died can be recovered.

    .contextkit/sessions/<session>      two lines: its host's process id, and its transcript

A session that ends removes its file. If the file is there but the process is gone, the session
died, and the next session is told so once.
"""

from __future__ import annotations

import os

from contextkit.base import files
from contextkit.base.layout import Layout
from contextkit.base.records import Record

_KEPT = 20  # files of dead sessions that nobody has asked about


class OpenSession(Record):
    session: str
    process: int = 0
    transcript: str = ""


def folder(layout: Layout) -> str:
    return os.path.join(layout.state, "sessions")


def is_known(layout: Layout, session: str) -> bool:
    return os.path.exists(os.path.join(folder(layout), session or "unknown"))


def note(layout: Layout, one: OpenSession) -> None:
    """Record that a session is running."""
    files.store(layout.state)
    path = os.path.join(folder(layout), one.session or "unknown")
    files.write(path, f"{one.process}\n{one.transcript}\n")


def forget(layout: Layout, session: str) -> bool:
    """Remove the record of a session; return whether there was one."""
    try:
        os.unlink(os.path.join(folder(layout), session or "unknown"))
    except OSError:
        return False
    return True


def take_dead(layout: Layout, besides: str) -> OpenSession | None:
    """Return the session that died last, and forget all dead sessions.

    A session whose process exists is running; `besides` is the session that asks.
    """
    found = []
    for name in _names(folder(layout)):
        path = os.path.join(folder(layout), name)
        process, _, rest = (files.read_if_there(path) or "").partition("\n")
        number = int(process) if process.isdigit() else 0
        if name != besides and not _is_running(number):
            found.append((os.stat(path).st_mtime, name, number, rest.strip()))
    for _, name, *_ in found:
        forget(layout, name)
    if not found:
        return None
    _, name, number, transcript = max(found)
    return OpenSession(session=name, process=number, transcript=transcript)


def _names(place: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(place) if not files.is_draft(name))[-_KEPT:]
    except OSError:
        return []


def _is_running(process: int) -> bool:
    if process <= 1:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # owned by another user
    return True
