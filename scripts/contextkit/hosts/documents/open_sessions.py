"""Open sessions: which are under way in this work tree, so that one that died is found again.

    .contextkit/sessions/<session>      its host's process id, and its transcript, a line each

A session that ends takes its file away. One whose process is gone while the file is there died:
the next session is told, once.
"""

from __future__ import annotations

import os

from contextkit.base import files
from contextkit.base.layout import Layout
from contextkit.base.records import Record

_KEPT = 20  # files of sessions that died and that nobody asked about


class OpenSession(Record):
    session: str
    process: int = 0
    transcript: str = ""


def folder(layout: Layout) -> str:
    return os.path.join(layout.state, "sessions")


def is_known(layout: Layout, session: str) -> bool:
    return os.path.exists(os.path.join(folder(layout), session or "unknown"))


def note(layout: Layout, one: OpenSession) -> None:
    """Take down that a session is under way."""
    files.store(layout.state)
    path = os.path.join(folder(layout), one.session or "unknown")
    files.write(path, f"{one.process}\n{one.transcript}\n")


def forget(layout: Layout, session: str) -> bool:
    """A session has ended; whether it was known."""
    try:
        os.unlink(os.path.join(folder(layout), session or "unknown"))
    except OSError:
        return False
    return True


def take_dead(layout: Layout, besides: str) -> OpenSession | None:
    """The session that died last, which is then forgotten with all others that died.

    One whose process is still there is under way; `besides` is the one that asks.
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
        return True  # somebody else's
    return True
