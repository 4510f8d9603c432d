"""The flow of watching: what became of each subagent, said in a table and kept in its row.

The files that the supervising shell leaves tell it (`processes.py`); looking is what writes it
into the registry.
"""

from __future__ import annotations

import os

from contextkit import drift, files, names, processes, registry, sandboxes
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from contextkit.registry import Row

# The original's nine, which programs read by position, then ours.
HEADS = ("ID", "Type", "Slug", "Status", "Deliverables", "Run Time", "Log Age", "Handle",
         "Last Log (UTC)", "Capsule", "Staleness")  # fmt: skip
_MOST_LOG = 65_536  # bytes of a progress log that are searched for gaps


class News(Record):
    """What a look at a subagent brought: the status it has now, or `gap`, and a sentence."""

    kind: str
    line: str


class Watched(Record):
    """A row as it is shown. Times are seconds, None where nothing tells them.

    `alerts` are of `stale` (nothing is heard of it), `runtime`, `log` and `dead`.
    """

    id: str
    type: str
    slug: str
    status: str
    deliverables: str
    run_time: int | None
    log_age: int | None
    handle: str
    last_log: str
    capsule: str
    staleness: str
    exit_code: int | None = None
    gaps: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


def refresh(layout: Layout, now: int, identity: str = "") -> list[News]:
    """Write down how each running subagent is, or this one; what is new is returned."""
    found: dict[str, dict[str, Any]] = {}
    said = []
    for row in registry.load_all(layout):
        if identity in ("", row["id"]):
            changes = _changes(layout, row, now)
            if changes:
                found[row["id"]] = changes
                said.append(_news(row["id"], changes))
            said += _collect(layout, row, now)
    if found:

        def edit(rows: list[Any]) -> None:
            for row in rows:
                if isinstance(row, dict) and row.get("status") in registry.ACTIVE:
                    row.update(found.get(str(row.get("id")), {}))

        registry.change(layout, edit)
    return said


def _changes(layout: Layout, row: Row, now: int) -> dict[str, Any]:
    """The fields of a row that are no longer so."""
    folder = _folder(layout, row)
    if row.get("status") not in ("pending_launch", "running") or not folder:
        return {}
    status, code = processes.state(folder)
    if status == row["status"]:
        return {}
    changes: dict[str, Any] = {"status": status}
    if status not in registry.ACTIVE:
        ended = processes.ended_at(folder) or now
        changes |= {"exit_code": code, "finished_at": names.compact(max(ended, _start(row)))}
    return changes


def _news(identity: str, changes: dict[str, Any]) -> News:
    status, code = changes["status"], changes.get("exit_code")
    if status == "failed" and code is None:
        line = f"{identity}: gone without an exit status: failed"
    else:
        line = f"{identity}: {status} (exit {code})" if code else f"{identity}: {status}"
    return News(kind=status, line=line)


def _folder(layout: Layout, row: Row) -> str:
    """The run folder of a row that we started; empty for any other."""
    if not names.safe(row["id"]):
        return ""
    folder = layout.run(row["id"])
    return folder if os.path.exists(os.path.join(folder, "alive")) else ""


def _collect(layout: Layout, row: Row, now: int) -> list[News]:
    """Put the gaps that a progress log names into its row; what was new."""
    if not _folder(layout, row) or row.get("status") == "cleaned":
        return []
    known = registry.gaps_of(row)
    new = [gap for gap in registry.gaps_in(log_text(layout, row)) if gap not in known]
    noted = registry.note_gaps(layout, row["id"], new, now)
    return [News(kind="gap", line=f"{row['id']}: Capsule Gap: {gap}") for gap in noted]


def log_text(layout: Layout, row: Row) -> str:
    """The end of the progress log; empty where there is none or it leads out of the root."""
    path = _place(layout, row.get("progress_path"))
    if not path:
        return ""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.stat(path).st_size - _MOST_LOG))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _place(layout: Layout, path: object) -> str:
    """A path of a row as an absolute one, if it is a file inside the root; else empty."""
    if not isinstance(path, str) or not path:
        return ""
    try:
        real = files.inside(layout.root, layout.join(path), "path")
    except ContextError:
        return ""
    return real if os.path.isfile(real) else ""


def look(
    layout: Layout,
    now: int,
    identity: str = "",
    everything: bool = False,
    bounds: tuple[int, int] | None = None,
) -> list[Watched]:
    """The subagents as they are, in the order of their start; those cleaned up only if asked.

    `bounds` are the seconds of silence and of run time above which one is reported.
    """
    limits = layout.limits
    bounds = bounds or (limits.subagent_log_age, limits.subagent_run_time)
    rows = registry.load_all(layout)
    if identity:
        rows = [registry.find(rows, identity)]
    elif not everything:
        rows = [row for row in rows if row.get("status") != "cleaned"]
    known: dict[tuple[str, str], str] = {}
    return [_watched(layout, row, now, bounds, known) for row in rows]


def _watched(
    layout: Layout,
    row: Row,
    now: int,
    bounds: tuple[int, int],
    known: dict[tuple[str, str], str],
) -> Watched:
    status = str(row.get("status") or "-")
    logs = _logs(layout, row)
    heard, kind = max(logs) if logs else (0, "")
    running = status == "running"
    end = now if running else names.moment(str(row.get("finished_at") or ""))
    run_time = max(0, end - _start(row)) if end and _start(row) else None
    age = max(0, now - heard) if heard and running else None
    code = row.get("exit_code")
    return Watched(
        id=row["id"],
        type=str(row.get("type") or "-"),
        slug=str(row.get("slug") or "-"),
        status=status,
        deliverables=_deliverables(layout, row),
        run_time=run_time,
        log_age=age,
        handle=_handle(row.get("launcher_handle")),
        last_log=f"{names.clock(heard)[:19]} [{kind}]" if heard else "-",
        capsule=str(row.get("capsule") or ""),
        staleness=_staleness(layout, row, known),
        exit_code=code if type(code) is int else None,
        gaps=tuple(registry.gaps_of(row)),
        alerts=_alerts(status, run_time, age, bounds),
    )


def _start(row: Row) -> int:
    return names.moment(str(row.get("launched_at") or ""))


def _logs(layout: Layout, row: Row) -> list[tuple[int, str]]:
    """When each log was last written to, and which it is, in the original's words."""
    found = []
    for field, kind in (("log_path", "exec"), ("progress_path", "checkpoint")):
        path = _place(layout, row.get(field))
        if path:
            found.append((int(os.stat(path).st_mtime), kind))
    return found


def _alerts(
    status: str, run_time: int | None, age: int | None, bounds: tuple[int, int]
) -> tuple[str, ...]:
    if status != "running":
        return ("dead",) if status in ("failed", "timed_out") else ()
    quiet, longest = bounds
    found = ["stale"] if age is None else []
    found += ["runtime"] if (run_time or 0) > longest else []
    found += ["log"] if (age or 0) > quiet else []
    return tuple(found)


def _deliverables(layout: Layout, row: Row) -> str:
    """How many of the files that a row promises are there: `1/2`; `-` where it promises none."""
    promised = row.get("deliverables")
    if not isinstance(promised, list) or not promised:
        return "-"
    there = 0
    for item in promised:
        if isinstance(item, dict):
            done = item.get("status") in ("ready", "harvested")
            source = os.path.join(str(row.get("path") or ""), str(item.get("source") or ""))
            there += done or bool(item.get("source") and _place(layout, source))
    return f"{there}/{len(promised)}"


def _handle(handle: object) -> str:
    """How to find the process or window: what the launcher said of it."""
    if not isinstance(handle, dict):
        return "-"
    for key in ("pid", "pane_id", "window_id", "session_id", "tab_id", "title"):
        if handle.get(key):
            return f"{key.removesuffix('_id')}:{handle[key]}".replace(" ", "_")
    return "-"


def _staleness(layout: Layout, row: Row, known: dict[tuple[str, str], str]) -> str:
    """`fresh`, `stale`, `changed` (the file is another than was given), `missing`; `-` without."""
    shown, digest = row.get("capsule"), str(row.get("capsule_sha256") or "")
    if not isinstance(shown, str) or not shown:
        return "-"
    if (shown, digest) not in known:
        path = _place(layout, shown)
        if not path:
            state = "missing"
        elif digest and names.sha256(files.read_bytes(path)) != digest:
            state = "changed"
        else:
            state = "stale" if _is_stale(layout, path, row.get("scope_path")) else "fresh"
        known[shown, digest] = state
    return known[shown, digest]


def _is_stale(layout: Layout, path: str, scope: object) -> bool:
    own = [scope] if isinstance(scope, str) and scope else []
    try:
        return bool(drift.staleness(layout, path, own))
    except ContextError:
        return True


def rows_of(layout: Layout, found: list[Watched]) -> list[tuple[str, ...]]:
    """The cells of the table; no cell is empty, and none of the first eight holds a blank."""
    return [
        (
            one.id,
            one.type,
            one.slug,
            one.status,
            one.deliverables,
            _minutes(one.run_time),
            _minutes(one.log_age),
            one.handle,
            one.last_log,
            _short(layout, one.capsule),
            one.staleness,
        )
        for one in found
    ]


def _minutes(seconds: int | None) -> str:
    return "-" if seconds is None else f"{seconds // 60}:{seconds % 60:02}"


def _short(layout: Layout, capsule: str) -> str:
    """A capsule's id: its path below the capsules, without the suffix."""
    below = capsule.removeprefix(layout.places.capsules.rstrip("/") + "/")
    return below.removesuffix(".md") or "-"


def last_line(layout: Layout, identity: str) -> str:
    """The last line that a subagent printed, for somebody who wonders why it is silent."""
    row = registry.find(registry.load_all(layout), identity)
    path = _place(layout, row.get("log_path"))
    if not path:
        return ""
    with open(path, "rb") as file:
        file.seek(max(0, os.stat(path).st_size - 2000))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return names.one_line(lines[-1])[:160] if lines else ""


def abort(layout: Layout, identity: str, reason: str, now: int, at_once: bool = False) -> str:
    """End a subagent (`at_once`: without asking it first) and say so in its row; its id.

    Raises ContextError for one that has ended.
    """
    refresh(layout, now, identity)
    row = registry.find(registry.load_all(layout), identity)
    if row.get("status") not in registry.ACTIVE:
        raise ContextError(f"{identity} is {row.get('status')}: there is nothing to abort")
    folder = _folder(layout, row)
    if folder:
        processes.stop(folder, 0 if at_once else processes.GRACE)
    word = names.slug(reason) or "manual"
    registry.update(
        layout,
        identity,
        status=f"aborted_{word}",
        aborted_reason=names.one_line(reason) or word,
        aborted_at=names.compact(now),
        finished_at=names.compact(now),
    )
    _collect(layout, row, now)
    return identity


def cleanup(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    """Remove a subagent's sandbox and run folder; its row stays as `cleaned`.

    Raises ContextError while it runs, and for work that would be lost, unless `force` is set.
    """
    refresh(layout, now, identity)
    row = registry.find(registry.load_all(layout), identity)
    kind, status = str(row.get("type")), row.get("status")
    if status == "cleaned":
        return identity
    if status in ("running", "pending_launch") and not force:
        raise ContextError(f"{identity} is {status}: subagent_abort id={identity} ends it first")
    place = layout.join(str(row.get("path") or "."))
    folder = _folder(layout, row)
    apart = kind != "here" and os.path.isdir(place)
    if apart:
        _refuse_to_lose(layout, identity, kind, place, force)
    if status in registry.ACTIVE:
        abort(layout, identity, reason, now)
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
