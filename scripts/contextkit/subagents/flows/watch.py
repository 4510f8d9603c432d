"""The flow of watching: what became of each subagent is written into its row.

The files that the supervising shell leaves tell it (`background.py`); looking is what writes it
into the registry.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from contextkit.subagents.documents.registry import Row

_MOST_LOG = 65_536  # bytes at the end of a log that are searched for gaps


class News(Record):
    """What a look at a subagent brought: its status now, `gap` or `end`, and a sentence."""

    kind: str
    line: str


def refresh(layout: Layout, now: int, identity: str = "") -> list[News]:
    """Write down how each running subagent is, or this one; what is new is returned."""
    found: dict[str, dict[str, Any]] = {}
    said = []
    for row in registry.rows(layout):
        if identity in ("", row["id"]) and row.get("status") in registry.ACTIVE:
            changes = _changes(layout, row, now)
            if changes:
                found[row["id"]] = changes
                said.append(_news(row["id"], changes))
            said += _collect(layout, row, now)
    ended = []
    if found:

        def edit(rows: list[Any]) -> None:
            for row in rows:
                if isinstance(row, dict) and row.get("status") in registry.ACTIVE:
                    changes = found.get(str(row.get("id")), {})
                    row.update(changes)
                    if changes and row["status"] not in registry.ACTIVE:
                        ended.append(dict(row))

        registry.change(layout, edit)
    return said + [news for row in ended for news in _follow(layout, row, now)]


def _follow(layout: Layout, row: Row, now: int) -> list[News]:
    """What follows its end, by whoever noted it; a look never fails over it."""
    from contextkit.subagents.flows import aftermath

    try:
        return [News(kind="end", line=line) for line in aftermath.follow(layout, row, now)]
    except (ContextError, OSError) as error:
        return [News(kind="end", line=f"{row['id']}: its end could not be noted: {error}")]


def _changes(layout: Layout, row: Row, now: int) -> dict[str, Any]:
    """The fields of a row that are no longer so."""
    folder = folder_of(layout, row)
    if row.get("status") not in ("pending_launch", "running") or not folder:
        return {}
    status, code = background.state(folder)
    if status in (row["status"], "pending_launch"):
        return {}
    changes: dict[str, Any] = {"status": status}
    if status not in registry.ACTIVE:
        ended = background.ended_at(folder) or now
        changes |= {"exit_code": code, "finished_at": names.compact(max(ended, started(row)))}
    return changes


def status_now(layout: Layout, row: Row) -> str:
    """The status of a row as its files tell it; nothing is written."""
    return outcome(layout, row)[0]


def outcome(layout: Layout, row: Row) -> tuple[str, int | None]:
    """The status of a row as its files tell it, and its exit status; nothing is written."""
    changes = {**row, **_changes(layout, row, 0)}
    code = changes.get("exit_code")
    return str(changes.get("status") or ""), code if type(code) is int else None


def _news(identity: str, changes: dict[str, Any]) -> News:
    status, code = changes["status"], changes.get("exit_code")
    if status == "failed" and code is None:
        line = f"{identity}: gone without an exit status: failed"
    else:
        line = f"{identity}: {status} (exit {code})" if code else f"{identity}: {status}"
    return News(kind=status, line=line)


def folder_of(layout: Layout, row: Row) -> str:
    """The run folder of a row that we started; empty for any other."""
    if not names.safe(row["id"]):
        return ""
    folder = layout.run(row["id"])
    there = place_of(layout, os.path.relpath(os.path.join(folder, "alive"), layout.root))
    return folder if there else ""


def _collect(layout: Layout, row: Row, now: int) -> list[News]:
    """Put the gaps that a subagent named so far into its row; what was new."""
    if not folder_of(layout, row):
        return []
    known = registry.gaps_of(row)
    new = [gap for gap in registry.gaps_in(log_text(layout, row)) if gap not in known]
    noted = registry.note_gaps(layout, row["id"], new, now)
    return [News(kind="gap", line=f"{row['id']}: Capsule Gap: {gap}") for gap in noted]


def log_text(layout: Layout, row: Row) -> str:
    """The ends of its progress log and of what it printed, which for many hosts is the report.

    Empty where there is none, or it leads out of the root.
    """
    paths = [place_of(layout, row.get(name)) for name in ("progress_path", "log_path")]
    return "\n".join(_end_of(path) for path in paths if path)


def _end_of(path: str, most: int = _MOST_LOG) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.stat(path).st_size - most))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def place_of(layout: Layout, path: object) -> str:
    """A path of a row as an absolute one, if it is a file inside the root; else empty."""
    if not isinstance(path, str) or not path:
        return ""
    try:
        real = files.inside(layout.root, layout.join(path), "path")
    except ContextError:
        return ""
    return real if os.path.isfile(real) else ""


def started(row: Row) -> int:
    """When a row says that it was started; 0 where it does not."""
    return names.moment(str(row.get("launched_at") or ""))


def last_line(layout: Layout, identity: str) -> str:
    """The last line that a subagent printed, for somebody who wonders why it is silent."""
    return last_words(layout, registry.find(registry.rows(layout), identity), 1)


def last_words(layout: Layout, row: Row, count: int = 3) -> str:
    """The last `count` lines that a subagent printed, on one line."""
    path = place_of(layout, row.get("log_path"))
    lines = [names.one_line(line) for line in _end_of(path, 2000).splitlines()] if path else []
    return " / ".join(list(filter(None, lines))[-count:])[-160:]
