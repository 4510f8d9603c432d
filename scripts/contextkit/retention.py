"""How long payloads stay: until their session ends, or nobody used it for 24 hours.

An ended session's folder is renamed away at once (whatever its size), can be resumed within a grace
period, and is removed by a later sweep.

    .contextkit/ended/<session>@<stamp>/      ended then; back at the next use of the session
"""

from __future__ import annotations

import os

from contextkit import files, indexes, names, payloads
from contextkit.errors import ContextError
from contextkit.layout import Layout
from contextkit.records import Record

_PAUSE = 3600  # seconds between two sweeps that store and list do on the way


class Ended(Record):
    """A session whose payloads were taken away, and why; `stayed` could not be removed."""

    session: str
    payloads: int
    tokens: int
    reason: str
    stayed: tuple[str, ...] = ()

    def line(self) -> str:
        stayed = f"; could not be removed: {', '.join(self.stayed)}" if self.stayed else ""
        return (
            f"session {self.session}: {self.payloads} payloads, {self.tokens} tokens"
            f" removed ({self.reason}){stayed}"
        )


def session_lock(layout: Layout, session: str) -> files.locked:
    """The lock under which a session's folder is changed, ended and resumed."""
    return files.locked(layout.lock(os.path.join(layout.payloads, payloads.check_session(session))))


def end(
    layout: Layout, session: str, now: int, summary_file: str = "", purge: bool = False
) -> Ended | None:
    """End a session: its payloads are gone from the store. None when it has none.

    `purge` removes them for good at once; otherwise `resume` brings them back.
    """
    with session_lock(layout, session):
        done = _end(layout, session, now, "session_end")
    if purge:
        stayed = tuple(left for path in _ended(layout, session) for left in _remove(layout, path))
        done = done.replace(stayed=stayed) if done else None
    if done:
        _log(layout, done, now, summary_file)
    return done


def _end(layout: Layout, session: str, now: int, reason: str) -> Ended | None:
    folder = payloads.folder(layout, session)
    if not os.path.isdir(folder):
        return None
    manifest = os.path.join(folder, payloads.MANIFEST)
    data = files.read_bytes(manifest) if os.path.isfile(manifest) else b""
    listed = indexes.count(data) if data else len(payloads.documents(layout, session))
    files.make_folder(layout.ended)
    files.store(layout.state)
    away = os.path.join(layout.ended, f"{session}@{names.stamp(now)}")
    number = 1
    while os.path.lexists(away + f"-{number}" * (number > 1)):
        number += 1
    os.rename(folder, away + f"-{number}" * (number > 1))
    tokens = indexes.total(data, "totalTokensStored")
    return Ended(session=session, payloads=listed, tokens=tokens, reason=reason)


def resume(layout: Layout, session: str, now: int) -> bool:
    """Bring the payloads of an ended session back; True if there were any. Call under its lock."""
    found = _ended(layout, session)
    folder = payloads.folder(layout, session)
    for path in reversed(found):
        if not os.path.isdir(folder):
            os.rename(path, folder)
            continue
        for name in os.listdir(path):  # ended twice: a crash in between
            if name.endswith(".md"):
                files.create(os.path.join(folder, name), files.read_bytes(os.path.join(path, name)))
        _remove(layout, path)
        payloads.repair(layout, session, now)
    return bool(found)


def _ended(layout: Layout, session: str = "") -> list[str]:
    """Folders of ended sessions (of one, or all), oldest first."""
    try:
        found = os.listdir(layout.ended)
    except FileNotFoundError:
        return []
    wanted = [n for n in found if "@" in n and (not session or n.partition("@")[0] == session)]
    return [os.path.join(layout.ended, name) for name in sorted(wanted, key=_stamp_of)]


def _stamp_of(name: str) -> str:
    return name.partition("@")[2]


def session_of(layout: Layout, identity: str) -> str:
    """The ended session that holds the payload `identity`; empty if none does."""
    for path in _ended(layout):
        if os.path.isfile(os.path.join(path, identity + ".md")):
            return os.path.basename(path).partition("@")[0]
    return ""


def sweep(layout: Layout, now: int, max_idle: int, spare: str = "") -> list[Ended]:
    """End every session (but `spare`) that was idle for longer than `max_idle` seconds, and remove
    for good what ended longer ago than the grace period.
    """
    done = []
    for session in payloads.sessions(layout):
        if session != spare and _idle(layout, session, now) > max_idle:
            with session_lock(layout, session):
                if _idle(layout, session, now) > max_idle:  # nobody used it while we waited
                    ended = _end(layout, session, now, "inactive_24h")
                    done += [ended] if ended else []
    grace = names.seconds(layout.limits.payload_grace)
    oldest = names.stamp(max(0, now - grace))
    for path in _ended(layout):
        if _stamp_of(os.path.basename(path)) < oldest:
            _remove(layout, path)
    for ended in done:
        _log(layout, ended, now, "")
    return done


def sweep_in_passing(layout: Layout, now: int, spare: str) -> list[Ended]:
    """A sweep once an hour, on the way of a command that does something else."""
    mark = os.path.join(layout.state, "swept")
    try:
        if 0 <= now - os.stat(mark).st_mtime < _PAUSE:
            return []
    except FileNotFoundError:
        pass
    files.store(layout.state)
    files.write(mark, "")
    os.utime(mark, (now, now))
    return sweep(layout, now, names.seconds(layout.limits.payload_idle), spare)


def _idle(layout: Layout, session: str, now: int) -> float:
    """Seconds since the session was last used; a time in the future counts as now."""
    try:
        folder = payloads.folder(layout, session)
        manifest = os.path.join(folder, payloads.MANIFEST)
        return now - os.stat(manifest if os.path.exists(manifest) else folder).st_mtime
    except (ContextError, FileNotFoundError):  # no session of ours, or just ended
        return 0


def _remove(layout: Layout, folder: str) -> list[str]:
    """Remove an ended session for good; returns what is not ours and therefore stays.

    Only a folder in `.contextkit/ended/`, only files that a session's folder holds.
    """
    stayed = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        ours = name.endswith((".md", ".tmp")) or name.startswith(payloads.MANIFEST)
        if ours and not os.path.isdir(path):
            os.unlink(path)
        else:
            stayed.append(layout.shown(path))
    if not stayed:
        os.rmdir(folder)
    return stayed


def log_file(layout: Layout, session: str, given: str = "") -> str:
    """Where a session's end is noted: the given file, the session's own summary, else our log."""
    if given:
        return layout.typed(given, "summary_file")
    kit = os.environ.get("SESSION_DIR", "") or os.path.join(layout.sessions, session)
    summary = os.path.join(kit, "summary.md")
    if os.path.isfile(summary):
        return os.path.realpath(summary)
    return os.path.join(layout.payloads, "cleanup.log")


def _log(layout: Layout, ended: Ended, now: int, given: str) -> None:
    path = log_file(layout, ended.session, given)
    line = f"- {names.clock(now)}: {ended.line()}\n"
    with files.locked(layout.lock(path)):
        old = files.read_if_there(path) or ""
        files.append(path, line if old.endswith("\n") or not old else "\n" + line)


def last_words(layout: Layout, session: str) -> str:
    """The line that was logged when a session's payloads went; empty if there is none."""
    text = files.read_if_there(log_file(layout, session)) or ""
    said = [line for line in text.splitlines() if f"session {session}:" in line]
    return said[-1].lstrip("- ") if said else ""
