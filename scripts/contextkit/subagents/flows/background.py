"""Subagents in the background: the process of each, its state, and its display.

There is no daemon: a shell waits for the command and records how it ended.

    <folder>/prompt.md      what the command reads
    <folder>/agent.log      what it prints
    <folder>/alive          locked as long as it, or anything that it started, is alive
    <folder>/pid            the shell, which leads its own session and process group
    <folder>/exit           the exit status, once there is one
    <folder>/timed_out      its time was up

The lock dies with the processes, so a process id that the system reuses is never mistaken for ours.
`lifecycle.py` writes the state into the registry. The table has one row for each, in the original's
columns and two of our own.
"""

from __future__ import annotations

import fcntl
import os
import time

from contextkit.base import files, formats, git, names
from contextkit.base.commands import Rows
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.base.version import toolkit
from contextkit.subagents.documents import registry

_SHELL = toolkit("scripts", "subagent.sh")
GRACE = 3  # seconds that a command has to end after SIGTERM
_LOCK = 9  # the descriptor in the shell; dash supports only single digits


def hold(folder: str) -> int:
    """Take the lock of a new folder; once it is closed, the processes that were started hold it.

    Raises FileExistsError if the folder is already taken.
    """
    path = files.create(os.path.join(folder, "alive"), "", exact=True)
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def start(
    held: int, folder: str, place: str, command: str, limit: float, env: dict[str, str],
    after: str = "",
) -> int:  # fmt: skip
    """Run `command` in `place` with /bin/sh, at most `limit` seconds (0: no limit); return the pid.

    It outlives this process, its terminal and its make. `after` is run once it has ended.
    """
    words = ("contextkit", folder, place, str(limit), command, str(GRACE), after)
    log = os.path.join(folder, "agent.log")
    lock = (os.POSIX_SPAWN_DUP2, held, _LOCK)
    pid = spawn(files.read(_SHELL), env, os.devnull, log, words, (lock,))
    files.write(os.path.join(folder, "pid"), f"{pid}\n")  # the shell may not have written it yet
    return pid


def spawn(
    script: str, env: dict[str, str], source: str, log: str, words: tuple[str, ...] = (),
    more: tuple[tuple[int, int, int], ...] = (),
) -> int:  # fmt: skip
    """Run a shell script in a session of its own; return its pid, and do not wait for it.

    Its standard input is the file `source`; its output is added to `log`. Raises ContextError.
    """
    for name in os.listdir("/dev/fd"):  # not inherited: a pipe's reader would wait for its end
        if name.isdigit() and int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue  # the descriptor used for listing
    adding = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, adding, 0o666),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *more,
    ]
    argv = ["sh", "-c", script, *words]
    try:
        return os.posix_spawn("/bin/sh", argv, env, file_actions=actions, setsid=True)
    except OSError as error:
        raise ContextError(f"/bin/sh cannot be started: {error.strerror}") from None


def is_alive(folder: str) -> bool:
    """Whether the command, or anything that it started and left behind, is still running."""
    try:
        descriptor = os.open(os.path.join(folder, "alive"), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def state(folder: str) -> tuple[str, int | None]:
    """`pending_launch`, `running`, `finished`, `failed` or `timed_out`, and any exit status."""
    status = _number(folder, "exit")
    if status is None and is_alive(folder):
        has_pid = os.path.exists(os.path.join(folder, "pid"))
        return ("running" if has_pid else "pending_launch"), None
    status = _number(folder, "exit") if status is None else status  # it may have ended just now
    if os.path.exists(os.path.join(folder, "timed_out")):
        return "timed_out", status
    return ("finished" if status == 0 else "failed"), status


def ended_at(folder: str) -> int:
    """When the exit status was written, in seconds; 0 if there is none."""
    try:
        return int(os.stat(os.path.join(folder, "exit")).st_mtime)
    except OSError:
        return 0


def stop(folder: str, patience: float = GRACE) -> bool:
    """End a command and its group, killed after `patience` seconds; whether one was running."""
    group = _number(folder, "pid")
    if group is None or _number(folder, "exit") is not None or not is_alive(folder):
        return False
    import signal

    for number, left in ((signal.SIGTERM, patience), (signal.SIGKILL, 0)):
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            pass  # it ended just now
        end = time.monotonic() + left
        while (alive := is_alive(folder)) and time.monotonic() < end:
            time.sleep(0.02)
        if not alive:
            break
    return True


def _number(folder: str, name: str) -> int | None:
    """The whole number in one of the shell's small files; None if there is none."""
    text = files.first_line(os.path.join(folder, name))
    return int(text[:9]) if names.is_whole(text) else None


# A subagent as it is shown: times are in seconds, or None if unknown; `alerts` are among `stale`
# (no sign of life), `runtime`, `log`, `dead` and `silent`.
Watched = dict[str, Any]
_MOST_LOG = 65_536  # bytes at the end of a log that are searched for gaps


def changes(layout: Layout, row: registry.Row, now: int) -> dict[str, Any]:
    """The fields of a row that have changed according to its files."""
    folder = folder_of(layout, row)
    if row.get("status") not in ("pending_launch", "running") or not folder:
        return {}
    status, code = state(folder)
    if status in (row["status"], "pending_launch"):
        return {}
    if status in registry.ACTIVE:
        return {"status": status}
    ended = max(ended_at(folder) or now, started(row))
    return {"status": status, "exit_code": code, "finished_at": names.compact(ended)}


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
    alive = os.path.relpath(os.path.join(folder, "alive"), layout.root)
    return folder if place_of(layout, alive) else ""


def log_text(layout: Layout, row: registry.Row) -> str:
    """The ends of its progress log and of its output, which is the report in many hosts."""
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
    """The start time in a row; 0 if it has none."""
    return names.moment(str(row.get("launched_at") or ""))


def last_words(layout: Layout, row: registry.Row, count: int = 3) -> str:
    """The last `count` lines that a subagent printed, on one line."""
    path = place_of(layout, row.get("log_path"))
    text = formats.tail(path, 2000).decode("utf-8", "replace") if path else ""
    lines = list(filter(None, map(names.one_line, text.splitlines())))
    return " / ".join(lines[-count:])[-160:]


def look(
    layout: Layout, rows: list[registry.Row], now: int, bounds: tuple[int, int] | None = None
) -> list[Watched]:
    """The state of the subagents of these rows; `bounds`: seconds of silence and of run time."""
    bounds = bounds or (layout.limits.subagent_log_age, layout.limits.subagent_run_time)
    states: dict[tuple[str, str], str] = {}  # of capsules
    watched = []
    for row in rows:
        running, code = row.get("status") == "running", row.get("exit_code")
        ended = 0 if running else names.moment(str(row.get("finished_at") or ""))
        heard, kind = (ended, "end") if ended else _last_heard(layout, row)
        end, began = now if running else ended, started(row)
        run_time = max(0, end - began) if end and began else None
        age = max(0, now - heard) if heard and running else None
        watched.append({
            "id": row["id"],
            **{key: str(row.get(key) or "-") for key in ("type", "slug", "status")},
            "deliverables": _deliverables(layout, row),
            "run_time": run_time, "log_age": age, "handle": _handle(row.get("launcher_handle")),
            "last_log": f"{names.clock(heard)[:19]} [{kind}]" if heard else "-",
            "capsule": str(row.get("capsule") or ""),
            "staleness": _staleness(layout, row, states),
            "exit_code": code if type(code) is int else None, "gaps": registry.gaps_of(row),
            "alerts": _alerts(row, run_time, age, bounds), "ref": f"subagent:{row['id']}",
        })  # fmt: skip
    return watched


def _last_heard(layout: Layout, row: registry.Row) -> tuple[int, str]:
    """The time of its newer log, and which one that is, in the original's words."""
    heard = [(0, "")]
    for field, kind in (("log_path", "exec"), ("progress_path", "checkpoint")):
        path = row.get(field)
        if isinstance(path, str) and path and ".." not in path:
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
        return ("silent",) if left_undone(row) else ()
    quiet, longest = bounds
    alerts = {"stale": age is None, "runtime": (run_time or 0) > longest, "log": (age or 0) > quiet}
    return tuple(alert for alert, holds in alerts.items() if holds)


def left_undone(row: registry.Row) -> bool:
    """Whether its exit status was good but it produced nothing."""
    return row.get("verdict") in ("ERROR", "FAILED")


def _deliverables(layout: Layout, row: registry.Row) -> str:
    """How many of a row's promised files exist: `1/2`; `-` if there are none."""
    promised = registry.promised(row)
    done = ("ready", "harvested")
    there = sum(item.get("status") in done or bool(made(layout, row, item)) for item in promised)
    return f"{there}/{len(promised)}" if promised else "-"


def made(layout: Layout, row: registry.Row, promised: dict[str, Any]) -> str:
    """The path of a promised file where its subagent works; '' if it is not there yet."""
    source = str(promised.get("source") or "")
    return place_of(layout, os.path.join(str(row.get("path") or ""), source)) if source else ""


def _handle(handle: object) -> str:
    """The way to the process or window, from the launcher's record."""
    if not isinstance(handle, dict):
        return "-"
    for key in ("pid", "pane_id", "window_id", "session_id", "tab_id", "title"):
        if handle.get(key):
            return f"{key.removesuffix('_id')}:{handle[key]}".replace(" ", "_")
    return "-"


def _staleness(layout: Layout, row: registry.Row, states: dict[tuple[str, str], str]) -> str:
    """`fresh`, `stale`, `changed` (not the file that was given), `missing`, or `-`.

    `fresh on main`: a capsule of another branch, and what that branch has seen since.
    """
    shown, digest = row.get("capsule"), str(row.get("capsule_sha256") or "")
    if not isinstance(shown, str) or not shown:
        return "-"
    if (shown, digest) not in states:
        path, state = place_of(layout, shown), "missing"
        if path and digest and names.sha256(files.read_bytes(path)) != digest:
            state = "changed"
        elif path:
            from contextkit.capsules.documents import store as capsules
            from contextkit.capsules.flows import given

            scope = row.get("scope_path")
            own = [scope] if isinstance(scope, str) else []
            try:
                state = "stale" if given.staleness(layout, path, own) else "fresh"
                branch = names.one_line(capsules.load(layout, path).capsule.branch)
                state += f" on {branch}" * (branch != git.head(layout.repository).name)
            except ContextError:
                state = "stale"
        states[shown, digest] = state
    return states[shown, digest]


def lines(watched: list[Watched], width: int, height: int) -> list[str]:
    """A screen of subagents, those that need attention first; the last line counts the others."""
    order = sorted(watched, key=lambda a: (not a["alerts"], a["status"] not in registry.ACTIVE))
    rows = []
    for agent in order:  # `! ui-review  running  12:05  3:10  1/2  log, runtime`
        sign = "!" if agent["alerts"] else " "
        head = f"{sign} {agent['slug'][:28]:<28}  {agent['status'][:21]:<14}"
        times = f"{_minutes(agent['run_time']):>7}  {_minutes(agent['log_age']):>7}"
        row = f"{head}  {times}  {agent['deliverables']:>5}  {', '.join(agent['alerts'])}"
        rows.append(row[:width].rstrip())
    left = len(rows) - height + 1
    return [*rows[: height - 1], f"  … {left} more"] if left > 1 else rows


def rows(layout: Layout, watched: list[Watched]) -> Rows:
    """The table: the original's nine columns, which programs read by position, then ours.

    No cell is empty, and none of the first eight contains a blank. A capsule is shown by its id.
    """
    above = layout.places.capsules.rstrip("/") + "/"
    return Rows(
        columns=(
            ("ID", "id"), ("Type", "type"), ("Slug", "slug"), ("Status", "status"),
            ("Deliverables", "deliverables"),
            ("Run Time", "run_time", lambda agent: _minutes(agent["run_time"])),
            ("Log Age", "log_age", lambda agent: _minutes(agent["log_age"])),
            ("Handle", "handle"), ("Last Log (UTC)", "last_log"),
            ("Capsule", "capsule",
             lambda agent: agent["capsule"].removeprefix(above).removesuffix(".md") or "-"),
            ("Staleness", "staleness"),
        ),
        rows=watched,
        nothing="No subagents.",
    )  # fmt: skip


def _minutes(seconds: int | None) -> str:
    return "-" if seconds is None else f"{seconds // 60}:{seconds % 60:02}"
