"""The end of a subagent that does not end by itself, and of what it leaves behind."""

from __future__ import annotations

import os

from contextkit.base import names, redaction
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, sandboxes, watch


def abort(layout: Layout, identity: str, reason: str, now: int, at_once: bool = False) -> str:
    """End a subagent (`at_once`: without asking it first) and say so in its row; its id.

    Raises ContextError for one that has ended.
    """
    identity = registry.find(registry.rows(layout), identity)["id"]
    watch.refresh(layout, now, identity)
    row = registry.find(registry.rows(layout), identity)
    if row.get("status") not in registry.ACTIVE:
        raise ContextError(f"{identity} is {row.get('status')}: there is nothing to abort")
    folder = watch.folder_of(layout, row)
    if not folder and row["status"] != "awaiting_manual_launch" and not at_once:
        raise ContextError(
            f"{identity} was not started by contextkit: end it yourself, then force=1 notes it"
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
    watch.refresh(layout, now, identity)
    return identity


def cleanup(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    """Remove a subagent's sandbox and run folder; its row stays as `cleaned`.

    Raises ContextError while it runs, and for work that would be lost, unless `force` is set.
    """
    identity = registry.find(registry.rows(layout), identity)["id"]
    watch.refresh(layout, now, identity)
    row = registry.find(registry.rows(layout), identity)
    kind, status = str(row.get("type")), row.get("status")
    if status == "cleaned":
        return identity
    if status in ("running", "pending_launch") and not force:
        raise ContextError(f"{identity} is {status}: subagent_abort id={identity} ends it first")
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
    return identity


def _refuse_to_lose(layout: Layout, identity: str, kind: str, place: str, force: bool) -> None:
    """Raise ContextError for a folder that is not ours, or work that would go with it."""
    shown = layout.shown(place)
    if kind not in sandboxes.KINDS or not sandboxes.is_ours(layout, identity, place):
        raise bad_input(f"{identity}: {shown} is no sandbox of ours: left alone")
    work = [] if force else sandboxes.work_in(layout, kind, identity)
    if work:
        raise ContextError(
            f"{identity}: {shown} holds {' and '.join(work)}:"
            " take them over first, or force=1 drops them"
        )
