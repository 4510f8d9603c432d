"""The course of a subagent after its launch, in its row: what became of it, abort, cleanup.

A look writes the state that its files show (`watch.py`) into its row, once; what follows an end is
in `results.py`.
"""

from __future__ import annotations

import errno
import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import watch

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # nothing can be written, but much can be read
_UNREAD = "unread"  # the key of a row whose end was recorded by an unattended look


News = tuple[
    str, str
]  # what a look at a subagent found: its new status, `gap` or `end`; a sentence


def refresh(
    layout: Layout, now: int, identity: str = "", unattended: bool = False
) -> tuple[list[registry.Row], list[News]]:
    """Record the state of each running subagent; return all rows as they are then, and the news.

    `identity` is an id, a slug or `latest`, and limits the look to that one; ContextError if there
    is none. What an `unattended` look finds is news again for the next look, which a person reads.
    """
    rows = _rows(layout, identity)
    identity = identity and rows[0]["id"]  # the same one, even if a newer one has its slug
    by_id: dict[str, dict[str, Any]] = {}
    gaps: list[News] = []
    for row in rows:
        if row.get("status") in registry.ACTIVE:
            changes = watch.changes(layout, row, now)
            if changes:
                by_id[row["id"]] = changes | ({_UNREAD: True} if unattended else {})
            gaps += _collected(layout, row, now)
        elif row.get(_UNREAD) and not unattended:
            by_id[row["id"]] = {}
    if not (by_id or gaps):
        return rows, []
    try:
        ended = _note(layout, by_id, unattended) if by_id else []
    except OSError as error:
        if error.errno not in _FULL:
            raise
        problem = f"not recorded ({error.strerror}): make room, and look again"
        rows = [row | by_id.get(row["id"], {}) for row in rows]
        return rows, [("end", problem)]
    after = [each for row in ended for each in _follow(layout, row, now)]
    rows = _rows(layout, identity)
    news = [_news(layout, row) for row in rows if row["id"] in by_id]
    return rows, [*news, *gaps, *after]


def _rows(layout: Layout, identity: str) -> list[registry.Row]:
    rows = registry.rows(layout)
    return [registry.find(rows, identity)] if identity else rows


def _note(layout: Layout, by_id: dict[str, dict[str, Any]], unattended: bool) -> list[registry.Row]:
    """Write these changes into their rows; return the rows that ended with that.

    A row that another process has already ended is left alone, except to mark it as read.
    """
    ended = []

    def edit(rows: list[Any]) -> None:
        for row in rows:
            changes = by_id.get(str(row.get("id"))) if isinstance(row, dict) else None
            if changes is None:
                continue
            if row.get("status") in registry.ACTIVE:
                row.update(changes)
                if row["status"] not in registry.ACTIVE:
                    ended.append(dict(row))
            elif not unattended:
                row.pop(_UNREAD, None)

    registry.change(layout, edit)
    return ended


def _follow(layout: Layout, row: registry.Row, now: int) -> list[News]:
    """Do what follows a subagent's end, whoever recorded it; a look never fails because of it."""
    from contextkit.subagents.flows import results

    try:
        messages = results.take_over(layout, row, now)
    except (ContextError, OSError) as error:
        messages = [f"{row['id']}: its end could not be noted: {error}"]
    return [("end", line) for line in messages]


def _news(layout: Layout, row: registry.Row) -> News:
    """A row's new status, with its last words if it failed or produced nothing."""
    status, code = str(row.get("status")), row.get("exit_code")
    if status == "failed" and code is None:
        line = f"{row['id']}: gone without an exit status: failed"
    else:
        line = f"{row['id']}: {status} (exit {code})" if code else f"{row['id']}: {status}"
    if status == "finished" and watch.left_undone(row):
        line += f", but its verdict is {row['verdict']}"
    elif status not in ("failed", "timed_out"):
        return status, line
    words = watch.last_words(layout, row)
    return status, f"{line}: {words}" if words else line


def _collected(layout: Layout, row: registry.Row, now: int) -> list[News]:
    """Add the gaps that a subagent has named so far to its row; return the new ones.

    On a full disk, the next look finds them.
    """
    if not watch.folder_of(layout, row):
        return []
    old = registry.gaps_of(row)
    new = [gap for gap in registry.gaps_in(watch.log_text(layout, row)) if gap not in old]
    try:
        noted = registry.note_gaps(layout, row["id"], new, now)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        return []
    return [("gap", f"{row['id']}: Capsule Gap: {gap}") for gap in noted]


def abort(layout: Layout, identity: str, reason: str, now: int, at_once: bool = False) -> str:
    """End a subagent (`at_once`: without a grace period), record it in its row, and return its id.

    Raises ContextError for one that has ended.
    """
    from contextkit.base import ledger, redaction
    from contextkit.subagents.flows import background

    ((row,), _) = refresh(layout, now, identity)
    identity = row["id"]
    if row.get("status") not in registry.ACTIVE:
        raise ContextError(f"{identity} is {row.get('status')}: there is nothing to abort")
    folder = watch.folder_of(layout, row)
    if not folder and row["status"] != "awaiting_manual_launch" and not at_once:
        raise ContextError(
            f"{identity} was not started by contextkit: end it yourself, then record it: force=1"
        )
    if folder:
        background.stop(folder, 0 if at_once else background.GRACE)
    reason = redaction.redacted(reason, layout.limits.secrets_allow)[0]  # a row is committed
    word = names.slug(reason) or "manual"
    registry.update(
        layout,
        identity,
        status=f"aborted_{word}",
        aborted_reason=names.one_line(reason) or word,
        aborted_at=names.compact(now),
        finished_at=names.compact(now),
    )
    ledger.note(layout, ledger.ENDED, f"subagent:{identity}")
    return identity


def cleanup(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    """Remove a subagent's sandbox and run folder; its row stays as `cleaned`.

    Raises ContextError while it runs, and for work that would be lost, unless `force` is set. Of
    two calls at once, the second finds it cleaned.
    """
    identity = _rows(layout, identity)[0]["id"]
    with files.locked(layout.lock(os.path.join(layout.state, "cleanup", identity))):
        return _cleaned(layout, identity, force, reason, now)


def _cleaned(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    from contextkit.base import ledger
    from contextkit.subagents.flows import sandboxes

    ((row,), _) = refresh(layout, now, identity)
    kind, status = str(row.get("type")), row.get("status")
    if status == "cleaned":
        return identity
    if status in ("running", "pending_launch") and not force:
        raise ContextError(f"{identity} is {status}: subagent_abort id={identity} to end it first")
    place = layout.join(str(row.get("path") or "."))
    folder = watch.folder_of(layout, row)
    apart = kind != "here" and os.path.isdir(place)
    if apart:
        _refuse_to_lose(layout, identity, kind, place, force)
    if status in registry.ACTIVE:
        abort(layout, identity, reason, now, at_once=not folder)
    if apart:
        sandboxes.remove(layout, kind, identity)
    if folder:
        import shutil

        shutil.rmtree(folder)
    registry.update(layout, identity, status="cleaned")
    ledger.note(layout, ledger.REMOVED, f"subagent:{identity}")
    return identity


def _refuse_to_lose(layout: Layout, identity: str, kind: str, place: str, force: bool) -> None:
    """Raise ContextError for a folder that is not ours, or work that would be lost with it."""
    from contextkit.subagents.flows import sandboxes

    shown = layout.shown(place)
    if kind not in sandboxes.KINDS or not sandboxes.is_ours(layout, identity, place):
        raise bad_input(f"{identity}: {shown} is not a contextkit sandbox: left alone")
    work = [] if force else sandboxes.work_in(layout, kind, identity)
    if work:
        raise ContextError(
            f"{identity}: {shown} holds {' and '.join(work)}:"
            " take them over first, or force=1 drops them"
        )
