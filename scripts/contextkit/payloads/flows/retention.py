"""Retention of payloads: they stay until their session ends or has been idle for 24 hours.

An ended session's folder is renamed away instantly (however large), can be resumed within a grace
period, and is removed by a later sweep. A payload that replaces text in a transcript is `held`: it
is neither ended for idleness nor removed while that transcript can be resumed. So is the report
that an open verdict names.

An agent that dies leaves its report where running agents write theirs. Once it has been untouched
for as long as a session may be idle, it becomes a payload, in a session named after the file.

    .contextkit/ended/<session>@<stamp>/      ended then; back at the next use of the session
    <payloads>/<session>/.transcript          held: the transcript ('' if unknown), and until when
"""

from __future__ import annotations

import errno
import os
import sys

from contextkit.base import files, ledger, names, sessions, shelf, stores, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.store import Payload

_HELD, _LOG = ".transcript", "cleanup.log"
_AT_ONCE = 5  # sessions that a sweep in passing ends or removes; later commands do the rest


def hold(layout: Layout, session: str, transcript: str, days: int, now: int) -> None:
    """Keep a session's payloads as long as its transcript, or `days` if that cannot be seen."""
    there = transcript if os.path.isfile(transcript) else ""
    path = os.path.join(payloads.folder(layout, session), _HELD)
    files.write(path, f"{names.one_line(there)}\n{now + days * 86_400}\n")


def _is_held(layout: Layout, folder: str, now: int) -> bool:
    """Whether an open verdict, or a transcript that can be resumed, needs texts of this folder."""
    session = os.path.basename(folder).partition("@")[0]
    if os.path.isdir(layout.verdicts):
        from contextkit.reviews.documents import verdicts

        place = layout.shown(payloads.folder(layout, session)) + "/"
        entries = verdicts.needs_attention(verdicts.load_all(layout).documents)
        if any(str(entry.get("detail_path")).startswith(place) for entry in entries):
            return True
    text = files.read_if_there(os.path.join(folder, _HELD))
    if text is None:
        return False
    transcript, _, until = text.partition("\n")
    if transcript:
        return os.path.isfile(transcript) or sessions.lives(layout, session)
    return sessions.lives(layout, session) or now < int(until.strip() or 0)


def transcripts(layout: Layout) -> list[str]:
    """The known transcripts of sessions here that still exist."""
    live = [os.path.join(layout.payloads, folder) for folder in payloads.sessions_in(layout)]
    held = [os.path.join(folder, _HELD) for folder in (*live, *ended(layout))]
    lines = [(files.read_if_there(path) or "").partition("\n")[0] for path in held]
    for name in stores.names_in(layout.running):
        text = files.read_if_there(os.path.join(layout.running, name)) or ""
        lines.append(text.partition("\n")[2].strip())
    return sorted({path for path in lines if path and os.path.isfile(path)})


def session_lock(layout: Layout, session: str) -> files.locked:
    """The lock for changing, ending, and resuming a session's folder."""
    return files.locked(layout.lock(os.path.join(layout.payloads, sessions.check(session))))


def end(layout: Layout, session: str, now: int, summary_file: str = "", here: bool = True) -> str:
    """End a session: its payloads are gone until `resume`, or for good; the logged line, or ''.

    `here`: it ends in this process, not on another machine.
    """
    log = log_file(layout, session, summary_file, ending=here)  # refuse before ending it
    if not os.path.isdir(payloads.folder(layout, session)):
        return ""
    with session_lock(layout, session):
        done = _end(layout, session, now, "session_end")
    if done:
        _log(layout, log, done, now)
    return done


def _end(layout: Layout, session: str, now: int, reason: str) -> str:
    folder = payloads.folder(layout, session)
    ours, foreign, manifest = _contents(folder)
    if not ours:  # the folder belongs to somebody else
        return ""
    count = sum(name.endswith(".md") for name in ours)
    try:
        listed = payloads.parse_manifest(manifest, "")[payloads.LIST]
    except ContextError:
        listed = []
    total = sum(entry["tokens"] for entry in listed)
    files.make_folder(layout.ended)
    away = files.free(os.path.join(layout.ended, f"{session}@{names.stamp(now)}"))
    try:
        files.rename(folder, away)
    except OSError as error:
        if error.errno != errno.EXDEV:  # `.contextkit` is on another file system
            raise
        _remove(folder)
    else:
        _move(foreign, away, folder)
    ledger.note(layout, ledger.ENDED, f"session:{session}", tokens=total, session=session)
    stayed = ", ".join(_shown(layout, folder, name) for name in foreign)
    sizes = f"{names.counted(count, 'payload')}, {names.counted(total, 'token')}"
    removed = f"session {session}: {sizes} removed ({reason})"
    return f"{removed}; not removed: {stayed}" if stayed else removed


def _shown(layout: Layout, folder: str, name: str) -> str:
    return names.one_line(layout.shown(os.path.join(folder, name)))


def _contents(folder: str) -> tuple[list[str], list[str], bytes]:
    """The names of our files in a session's folder, those of others, and the manifest."""
    files.proved(os.path.join(folder, ""))
    try:
        inside = sorted(os.listdir(folder))
        manifest = files.read_bytes(os.path.join(folder, payloads.MANIFEST))
    except FileNotFoundError:
        return [], [], b""
    except ContextError:
        manifest = b""
    ours = [name for name in inside if _is_ours(name, manifest)]
    return ours, sorted(set(inside).difference(ours)), manifest


def _is_ours(name: str, manifest: bytes) -> bool:
    if name.endswith(".md") or f".md{stores.MARK}" in name:
        return names.shape(name[:16]) == "00000000-000000-" or os.fsencode(f'"{name}"') in manifest
    is_draft = name.startswith(".") and name.endswith(".tmp")
    return is_draft or name == _HELD or name.startswith(payloads.MANIFEST)


def _move(inside: list[str], old: str, new: str) -> None:
    """Move files from one folder to another; a taken name gets a number."""
    for name in inside:
        if name.endswith(".md") or not os.path.lexists(os.path.join(new, name)):
            shelf.move(os.path.join(old, name), new)


def resume(layout: Layout, session: str, now: int) -> bool:
    """Whether payloads of an ended session came back, in time. Call under the session's lock."""
    paths = [path for path in ended(layout, session) if _may_come_back(layout, path, now)]
    folder = payloads.folder(layout, session) if paths else ""
    for path in reversed(paths):
        if not os.path.lexists(folder):
            files.rename(path, folder)
            continue
        _move(sorted(os.listdir(path)), path, folder)  # beside files of others, or after a crash
        _remove(path)
        payloads.repair(layout, session, now)
    return bool(paths)


def keep(layout: Layout, session: str, new: Payload, now: int) -> tuple[str, Payload]:
    """The file with the text of a payload, and what it holds. Call under the session's lock.

    It is stored, unless the session has the same text already.
    """
    resume(layout, session, now)
    if there := payloads.same(layout, session, new):
        return payloads.used(layout, there[0], now), there[1]
    return payloads.save(layout, session, new, now), new


def wake(layout: Layout, session: str, now: int) -> None:
    """Like `resume`, for commands that only read: takes no lock if nothing has ended."""
    if session and ended(layout, session):
        with session_lock(layout, session):
            resume(layout, session, now)


def _may_come_back(layout: Layout, path: str, now: int) -> bool:
    """Whether an ended session can still be resumed: in its time, or because it is held."""
    oldest = names.stamp(max(0, now - names.seconds(layout.limits.payload_grace)))
    return path.rpartition("@")[2] >= oldest or _is_held(layout, path, now)


def ended(layout: Layout, session: str = "") -> list[str]:
    """Folders of ended sessions (of one session, or all), oldest first."""
    there = [name for name in stores.names_in(layout.ended) if "@" in name]
    wanted = [name for name in there if session in ("", name.partition("@")[0])]
    wanted.sort(key=lambda name: name.rpartition("@")[2])
    return [os.path.join(layout.ended, name) for name in wanted]


def way_back(layout: Layout, session: str) -> list[str]:
    """A line on how to get the payloads of an ended session back; empty if it left none."""
    grace = layout.limits.payload_grace
    how = "run `make payload_list` in that session, or store something"
    return [f"can be resumed for {grace}: {how}"] if ended(layout, session) else []


def can_come_back(layout: Layout, now: int) -> str:
    """How many payloads of ended sessions can come back, and how the newest does; or ''."""
    paths = [path for path in ended(layout) if _may_come_back(layout, path, now)]
    inside = [name for path in paths for name in stores.names_in(path)]
    away = sorted(name.removesuffix(".md") for name in inside if name.endswith(".md"))
    count = names.counted(len(away), "payload")
    back = f"make payload_show ref={away[-1]}" if away else ""
    return f"{count} of ended sessions can come back, the newest with {back}" if away else ""


def session_of(layout: Layout, identity: str, now: int) -> str:
    """The ended session that still contains the payload `identity`; '' if none does."""
    having = [p for p in ended(layout) if os.path.isfile(os.path.join(p, identity + ".md"))]
    there = (path for path in reversed(having) if _may_come_back(layout, path, now))
    return os.path.basename(next(there, "")).partition("@")[0]


def sweep(
    layout: Layout, now: int, max_idle: int, spare: str = "", most: int = sys.maxsize
) -> list[str]:
    """End idle sessions and remove for good what ended before the grace period.

    Sessions idle for more than `max_idle` seconds are ended, except `spare`, at most `most` at
    once. Returns a line for each, and for each report taken over.
    """
    lines = _take_over(layout, now, most)
    for session in payloads.sessions_in(layout):
        if len(lines) == most:
            return lines
        if session != spare and _is_idle(layout, session, now, max_idle):
            with session_lock(layout, session):
                if not _is_idle(layout, session, now, max_idle):  # used while we waited
                    continue
                done = _end(layout, session, now, "inactive_24h")
            if done:
                _log(layout, log_file(layout, session), done, now)
                lines.append(done)
    gone = [path for path in ended(layout) if not _may_come_back(layout, path, now)]
    return lines + _purge(layout, gone[: most - len(lines)], now)


def _take_over(layout: Layout, now: int, most: int) -> list[str]:
    """Store the reports that dead agents left, at most `most`; return a line for each.

    A launched agent's report waits until its run is judged or cleaned up.
    """
    since = now - names.seconds(layout.limits.payload_idle)
    lines: list[str] = []
    for agent, path in receipts.all_left(layout):
        is_of_run = os.path.isdir(layout.run(agent))
        if len(lines) == most or is_of_run or stores.modified(path) >= since:
            continue
        with session_lock(layout, agent):  # its agent may just have handed it in
            rested = stores.modified(path) < since
            stored = _store_report(layout, agent, path, now) if rested else ""
        if stored:
            lines.append(f"the report of {agent}, which never ended: {layout.shown(stored)}")
    return lines


def _store_report(layout: Layout, agent: str, path: str, now: int) -> str:
    """Move a report into its agent's session; its path there, or ''. Call under the lock."""
    text = files.read_bytes(path).decode("utf-8", "surrogateescape")
    stored = ""
    if text.strip():
        payload = Payload(
            topic=f"report of {agent}", source=agent, created_at=names.iso(now),
            tokens=tokens.estimate(text), content=text,
            summary="The agent died before it could hand this in.",
        )  # fmt: skip
        payloads.prepare_store(layout)
        stored, _ = keep(layout, agent, payload, now)
        files.settle()
    files.discard(path)
    return stored


def mend(layout: Layout, now: int) -> list[str]:
    """End unused sessions, and rebuild each manifest that lacks a file; return a line for each."""
    done = sweep(layout, now, names.seconds(layout.limits.payload_idle))
    for session in payloads.sessions_in(layout):
        with session_lock(layout, session):
            done += payloads.repair(layout, session, now)
    return done


def purge(layout: Layout, session: str, now: int) -> list[str]:
    """Remove what could still be resumed for good; return a line for each time it had ended."""
    return _purge(layout, ended(layout, sessions.check(session)), now)


def _purge(layout: Layout, paths: list[str], now: int) -> list[str]:
    lines = []
    for path in paths:
        session = os.path.basename(path).partition("@")[0]
        with session_lock(layout, session):
            if not os.path.isdir(path):  # removed or resumed while we waited
                continue
            stayed = [_shown(layout, path, name) for name in _remove(path)]
        ledger.note(layout, ledger.REMOVED, f"session:{session}", session=session)
        line = f"session {session}: removed for good"
        if stayed:
            line = f"session {session}: could not be removed: {', '.join(stayed)}"
            _log(layout, log_file(layout, session), line, now)
        lines.append(line)
    return lines


def sweep_in_passing(layout: Layout, now: int, spare: str) -> list[str]:
    """Sweep at most once an hour, as part of a command that must not fail because of it."""
    if not any(map(os.path.isdir, (layout.payloads, receipts.report_folder(layout)))):
        return []
    try:
        if layout.was_swept(now):
            return []
        files.write(layout.swept, "", derived=True)
        os.utime(layout.swept, (now, now))
        ledger.sweep(layout, now)
    except (OSError, ContextError):
        return []  # nothing can be written here, so nothing can end either
    try:
        idle = names.seconds(layout.limits.payload_idle)
        lines = sweep(layout, now, idle, spare, _AT_ONCE)
        if len(lines) == _AT_ONCE:
            os.unlink(layout.swept)
        return lines
    except (OSError, ContextError) as error:
        return [f"the sweep of idle sessions failed: {error}"]


def _is_idle(layout: Layout, session: str, now: int, most: int) -> bool:
    """Whether a session was last used more than `most` seconds ago, and is not at work or held."""
    folder = os.path.join(layout.payloads, session)
    manifest = os.path.join(folder, payloads.MANIFEST)
    used = stores.modified(manifest if os.path.exists(manifest) else folder)
    if now - used <= most:  # or it has just ended
        return False
    return not (sessions.lives(layout, session) or _is_held(layout, folder, now))


def _remove(folder: str) -> list[str]:
    """Remove our files from a session's folder; return the names that stay."""
    ours, stayed, _ = _contents(folder)
    for name in ours:
        try:
            os.unlink(os.path.join(folder, name))
        except FileNotFoundError:
            continue
        except OSError:  # a folder, or not removable
            stayed.append(name)
    if not stayed:
        os.rmdir(folder)
    return stayed


def log_file(layout: Layout, session: str, typed: str = "", ending: bool = False) -> str:
    """The log of a session's end: the given file, else the session's summary, else our log.

    SESSION_DIR belongs to the session that is `ending`, otherwise to the one it is named after.
    """
    if typed:
        return layout.typed(typed, "summary_file")
    named = os.environ.get("SESSION_DIR", "").rstrip("/")
    folders = [named] if named and (ending or os.path.basename(named) == session) else []
    for folder in (*folders, os.path.join(layout.sessions, session)):
        summary = os.path.join(folder, "summary.md")
        if os.path.isfile(summary):
            return os.path.realpath(summary)
    return os.path.join(layout.payloads, _LOG)


def _log(layout: Layout, path: str, line: str, now: int) -> None:
    with files.locked(layout.lock(path)):
        files.append(path, f"- {names.iso(now)} {line}")


def note_end(layout: Layout, session: str, line: str, now: int) -> None:
    """Log the end of a session without payloads if it has its own summary."""
    summary = log_file(layout, session, ending=True)
    if summary != os.path.join(layout.payloads, _LOG):
        _log(layout, summary, line, now)


def last_words(layout: Layout, session: str) -> str:
    """The line that was logged when a session's payloads were removed; '' if there is none."""
    text = files.read_if_there(log_file(layout, session, ending=True)) or ""
    logged = [line for line in text.splitlines() if f" session {session}: " in line]
    return logged[-1].removeprefix("- ") if logged else ""
