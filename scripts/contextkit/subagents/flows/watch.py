"""Watching subagents: their current state, read from their files and rows, and how it is shown.

The files left by the supervising shell give the state (`background.py`); `lifecycle.py` writes it
into the registry. The table has one row each, in the original's columns and two of our own.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names
from contextkit.base.commands import Rows
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.subagents.documents import registry

# A subagent as it is shown: times are in seconds, or None if unknown; `alerts` are among `stale`
# (no sign of life), `runtime`, `log`, `dead` and `silent`.
Watched = dict[str, Any]
_MOST_LOG = 65_536  # bytes at the end of a log that are searched for gaps


def changes(layout: Layout, row: registry.Row, now: int) -> dict[str, Any]:
    """The fields of a row that have changed according to its files."""
    folder = folder_of(layout, row)
    if row.get("status") not in ("pending_launch", "running") or not folder:
        return {}
    from contextkit.subagents.flows import background

    status, code = background.state(folder)
    if status in (row["status"], "pending_launch"):
        return {}
    changed: dict[str, Any] = {"status": status}
    if status not in registry.ACTIVE:
        ended = background.ended_at(folder) or now
        changed |= {"exit_code": code, "finished_at": names.compact(max(ended, started(row)))}
    return changed


def status_now(layout: Layout, row: registry.Row) -> str:
    """The status of a row according to its files; nothing is written."""
    return outcome(layout, row)[0]


def outcome(layout: Layout, row: registry.Row) -> tuple[str, int | None]:
    """The status and exit status of a row according to its files; nothing is written."""
    now = {**row, **changes(layout, row, 0)}
    code = now.get("exit_code")
    return str(now.get("status") or ""), code if type(code) is int else None


def folder_of(layout: Layout, row: registry.Row) -> str:
    """The run folder of a row that we started; '' for others, such as another machine's."""
    if row.get("machine") or not names.safe(row["id"]):
        return ""
    folder = layout.run(row["id"])
    there = place_of(layout, os.path.relpath(os.path.join(folder, "alive"), layout.root))
    return folder if there else ""


def log_text(layout: Layout, row: registry.Row) -> str:
    """The ends of its progress log and of its output, which for many hosts is the report.

    Empty if there are none or they are outside the root.
    """
    paths = [place_of(layout, row.get(name)) for name in ("progress_path", "log_path")]
    ends = [formats.tail(path, _MOST_LOG) for path in paths if path]
    return b"\n".join(ends).decode("utf-8", "replace")


def place_of(layout: Layout, path: object) -> str:
    """A row's path as an absolute one if it is a file inside the root; else ''."""
    if not isinstance(path, str) or not path:
        return ""
    try:
        real = files.inside(layout.root, layout.join(path), "path")
    except ContextError:
        return ""
    return real if os.path.isfile(real) else ""


def started(row: registry.Row) -> int:
    """When a row says that it was started; 0 if it does not."""
    return names.moment(str(row.get("launched_at") or ""))


def last_words(layout: Layout, row: registry.Row, count: int = 3) -> str:
    """The last `count` lines that a subagent printed, on one line."""
    path = place_of(layout, row.get("log_path"))
    text = formats.tail(path, 2000).decode("utf-8", "replace") if path else ""
    lines = list(filter(None, map(names.one_line, text.splitlines())))
    return " / ".join(lines[-count:])[-160:]


def look(
    layout: Layout,
    rows: list[registry.Row],
    now: int,
    bounds: tuple[int, int] | None = None,
) -> list[Watched]:
    """The current state of the subagents of these rows, in launch order.

    `bounds` are the seconds of silence and of run time above which one is reported.
    """
    limits = layout.limits
    bounds = bounds or (limits.subagent_log_age, limits.subagent_run_time)
    states: dict[tuple[str, str], str] = {}
    return [_watched(layout, row, now, bounds, states) for row in rows]


def _watched(
    layout: Layout,
    row: registry.Row,
    now: int,
    bounds: tuple[int, int],
    states: dict[tuple[str, str], str],
) -> Watched:
    status = str(row.get("status") or "-")
    running = status == "running"
    ended = 0 if running else names.moment(str(row.get("finished_at") or ""))
    heard, kind = (ended, "end") if ended else _last_heard(layout, row)
    end = now if running else ended
    began = started(row) if end else 0
    run_time = max(0, end - began) if end and began else None
    age = max(0, now - heard) if heard and running else None
    code = row.get("exit_code")
    return {
        "id": row["id"],
        "type": str(row.get("type") or "-"),
        "slug": str(row.get("slug") or "-"),
        "status": status,
        "deliverables": _deliverables(layout, row),
        "run_time": run_time,
        "log_age": age,
        "handle": _handle(row.get("launcher_handle")),
        "last_log": f"{names.clock(heard)[:19]} [{kind}]" if heard else "-",
        "capsule": str(row.get("capsule") or ""),
        "staleness": _staleness(layout, row, states),
        "exit_code": code if type(code) is int else None,
        "gaps": registry.gaps_of(row),
        "alerts": _alerts(row, run_time, age, bounds),
        "ref": f"subagent:{row['id']}",
    }


def _last_heard(layout: Layout, row: registry.Row) -> tuple[int, str]:
    """When the newer of its logs was written, and which one, in the original's words."""
    heard = [(0, "")]
    for field, kind in (("log_path", "exec"), ("progress_path", "checkpoint")):
        path = row.get(field)
        if not isinstance(path, str) or not path or ".." in path:
            continue
        try:  # only its time is shown: no need to resolve every link on the way
            heard.append((int(os.lstat(layout.join(path)).st_mtime), kind))
        except (OSError, ValueError):
            continue
    return max(heard)


def _alerts(
    row: registry.Row, run_time: int | None, age: int | None, bounds: tuple[int, int]
) -> tuple[str, ...]:
    if row.get("status") in ("failed", "timed_out"):
        return ("dead",)
    if row.get("status") != "running":
        return left_undone(row)
    quiet, longest = bounds
    alerts = ["stale"] if age is None else []
    alerts += ["runtime"] if (run_time or 0) > longest else []
    alerts += ["log"] if (age or 0) > quiet else []
    return tuple(alerts)


def left_undone(row: registry.Row) -> tuple[str, ...]:
    """`silent` for one whose exit status was good but that produced nothing."""
    return ("silent",) if row.get("verdict") in ("ERROR", "FAILED") else ()


def _deliverables(layout: Layout, row: registry.Row) -> str:
    """How many of the files that a row promises exist: `1/2`; `-` if it promises none."""
    promised = row.get("deliverables")
    if not isinstance(promised, list) or not promised:
        return "-"
    there = 0
    for item in promised:
        if isinstance(item, dict):
            done = item.get("status") in ("ready", "harvested")
            source = os.path.join(str(row.get("path") or ""), str(item.get("source") or ""))
            there += done or bool(item.get("source") and place_of(layout, source))
    return f"{there}/{len(promised)}"


def _handle(handle: object) -> str:
    """How to find the process or window, from what the launcher recorded."""
    if not isinstance(handle, dict):
        return "-"
    for key in ("pid", "pane_id", "window_id", "session_id", "tab_id", "title"):
        if handle.get(key):
            return f"{key.removesuffix('_id')}:{handle[key]}".replace(" ", "_")
    return "-"


def _staleness(layout: Layout, row: registry.Row, states: dict[tuple[str, str], str]) -> str:
    """`fresh`, `stale`, `changed` (not the file that was given), `missing`, or `-`."""
    shown, digest = row.get("capsule"), str(row.get("capsule_sha256") or "")
    if not isinstance(shown, str) or not shown:
        return "-"
    if (shown, digest) not in states:
        path = place_of(layout, shown)
        if not path:
            state = "missing"
        elif digest and names.sha256(files.read_bytes(path)) != digest:
            state = "changed"
        else:
            state = "stale" if _is_stale(layout, path, row.get("scope_path")) else "fresh"
        states[shown, digest] = state
    return states[shown, digest]


def _is_stale(layout: Layout, path: str, scope: object) -> bool:
    from contextkit.capsules.flows import given

    own = [scope] if isinstance(scope, str) and scope else []
    try:
        return bool(given.staleness(layout, path, own))
    except ContextError:
        return True


def lines(watched: list[Watched], width: int, height: int) -> list[str]:
    """A screen of subagents, one per line: those that need attention, then those running.

    At most `height` lines of `width` characters; the last one counts what does not fit.
    """
    order = sorted(watched, key=lambda a: (not a["alerts"], a["status"] not in registry.ACTIVE))
    rows = [_line(agent, width) for agent in order]
    if len(rows) > height:
        left = len(rows) - height + 1
        rows = [*rows[: height - 1], f"  … {left} more"]
    return rows


def _line(agent: Watched, width: int) -> str:
    """`! ui-review  running  12:05  silent 3:10  1/2  log, runtime`."""
    times = f"{_minutes(agent['run_time']):>7}  {_minutes(agent['log_age']):>7}"
    sign = "!" if agent["alerts"] else " "
    head = f"{sign} {agent['slug'][:28]:<28}  {agent['status'][:21]:<14}  {times}"
    return f"{head}  {agent['deliverables']:>5}  {', '.join(agent['alerts'])}"[:width].rstrip()


def rows(layout: Layout, watched: list[Watched]) -> Rows:
    """The table: the original's nine columns, which programs read by position, then ours.

    No cell is empty, and none of the first eight contains a blank. A capsule is shown by its id.
    """
    capsules = layout.places.capsules.rstrip("/") + "/"

    def capsule(agent: Watched) -> str:
        return str(agent["capsule"]).removeprefix(capsules).removesuffix(".md") or "-"

    return Rows(
        columns=(
            ("ID", "id"), ("Type", "type"), ("Slug", "slug"), ("Status", "status"),
            ("Deliverables", "deliverables"),
            ("Run Time", "run_time", lambda agent: _minutes(agent["run_time"])),
            ("Log Age", "log_age", lambda agent: _minutes(agent["log_age"])),
            ("Handle", "handle"), ("Last Log (UTC)", "last_log"),
            ("Capsule", "capsule", capsule),
            ("Staleness", "staleness"),
        ),
        rows=watched,
        nothing="No subagents.",
    )  # fmt: skip


def _minutes(seconds: int | None) -> str:
    return "-" if seconds is None else f"{seconds // 60}:{seconds % 60:02}"
