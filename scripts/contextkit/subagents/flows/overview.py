"""Subagents as they are shown: a row each, in the original's columns and two of our own."""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.commands import Rows
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.subagents.documents.registry import Row


class Watched(Record):
    """A row as it is shown. Times are seconds, None where nothing tells them.

    `alerts` are of `stale` (nothing is heard of it), `runtime`, `log`, `dead` and `silent`.
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
    rows = registry.rows(layout)
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
    began = watch.started(row) if end else 0
    run_time = max(0, end - began) if end and began else None
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
        alerts=_alerts(status, run_time, age, bounds) or _left_undone(row),
    )


def _logs(layout: Layout, row: Row) -> list[tuple[int, str]]:
    """When each log was last written to, and which it is, in the original's words."""
    found = []
    for field, kind in (("log_path", "exec"), ("progress_path", "checkpoint")):
        path = row.get(field)
        if not isinstance(path, str) or not path or ".." in path:
            continue
        try:  # only its time is told: no need to follow every link on the way
            found.append((int(os.lstat(layout.join(path)).st_mtime), kind))
        except (OSError, ValueError):
            continue
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


def _left_undone(row: Row) -> tuple[str, ...]:
    """`silent` for one that ended well by its exit status alone: nothing came of it."""
    return ("silent",) if row.get("verdict") in ("ERROR", "FAILED") else ()


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
            there += done or bool(item.get("source") and watch.place_of(layout, source))
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
        path = watch.place_of(layout, shown)
        if not path:
            state = "missing"
        elif digest and names.sha256(files.read_bytes(path)) != digest:
            state = "changed"
        else:
            state = "stale" if _is_stale(layout, path, row.get("scope_path")) else "fresh"
        known[shown, digest] = state
    return known[shown, digest]


def _is_stale(layout: Layout, path: str, scope: object) -> bool:
    from contextkit.capsules.flows import drift

    own = [scope] if isinstance(scope, str) and scope else []
    try:
        return bool(drift.staleness(layout, path, own))
    except ContextError:
        return True


def lines(found: list[Watched], width: int, height: int) -> list[str]:
    """A screen of subagents: a line each, what needs somebody first, then what runs.

    At most `height` lines of `width` characters; what does not fit is counted in the last.
    """
    order = sorted(found, key=lambda one: (not one.alerts, one.status not in registry.ACTIVE))
    rows = [_line(one, width) for one in order]
    if len(rows) > height:
        left = len(rows) - height + 1
        rows = [*rows[: height - 1], f"  … {left} more"]
    return rows


def _line(one: Watched, width: int) -> str:
    """`! ui-review  running  12:05  silent 3:10  1/2  log, runtime`."""
    times = f"{_minutes(one.run_time):>7}  {_minutes(one.log_age):>7}"
    sign = "!" if one.alerts else " "
    head = f"{sign} {one.slug[:28]:<28}  {one.status[:21]:<14}  {times}  {one.deliverables:>5}"
    return f"{head}  {', '.join(one.alerts)}"[:width].rstrip()


def rows(layout: Layout, found: list[Watched]) -> Rows:
    """The table: the original's nine columns, which programs read by position, then ours.

    No cell is empty, and none of the first eight holds a blank.
    """
    return Rows(
        columns=(
            ("ID", "id"), ("Type", "type"), ("Slug", "slug"), ("Status", "status"),
            ("Deliverables", "deliverables"),
            ("Run Time", "run_time", lambda one: _minutes(one.run_time)),
            ("Log Age", "log_age", lambda one: _minutes(one.log_age)),
            ("Handle", "handle"), ("Last Log (UTC)", "last_log"),
            ("Capsule", "capsule", lambda one: _short(layout, one.capsule)),
            ("Staleness", "staleness"),
        ),
        rows=found,
        nothing="No subagents.",
    )  # fmt: skip


def _minutes(seconds: int | None) -> str:
    return "-" if seconds is None else f"{seconds // 60}:{seconds % 60:02}"


def _short(layout: Layout, capsule: str) -> str:
    """A capsule's id: its path below the capsules, without the suffix."""
    below = capsule.removeprefix(layout.places.capsules.rstrip("/") + "/")
    return below.removesuffix(".md") or "-"
