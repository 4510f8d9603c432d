"""The registry: which subagents were started, with which capsule, and what became of them.

    parallelus/manuals/subagent-registry.json      a JSON array with one object per subagent

Other programs keep rows there too, and add keys to ours, so a row is kept as it was read.
manuals/subagent-session-orchestration.md describes the fields.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Any, Callable, T

Row = dict[str, Any]  # a row as read; `id` is always text

FORMAT = 1  # of our rows; a row without a format has this one, or is another program's
KINDS = ("here", "throwaway", "worktree")  # where a subagent works
ACTIVE = ("pending_launch", "running", "awaiting_manual_launch")
_MOST_GAPS = 20  # in a row
_NO_GAP = ("", "none", "n/a", "nothing", "no")
_LONGEST_GAP = 300  # characters


def place(layout: Layout, kind: str, identity: str) -> str:
    """The folder that a subagent works in."""
    return layout.root if kind == "here" else layout.sandbox(identity)


def desk(folder: str, identity: str, name: str) -> str:
    """A file in the subagent's own folder where it works: its capsule, its progress log."""
    return os.path.join(folder, ".contextkit", "subagents", identity, name)


def branch_of(identity: str) -> str:
    """The branch of a subagent's worktree."""
    return f"subagent/{identity}"


def path(layout: Layout) -> str:
    """The registry's path, links resolved. Raises ContextError if outside the root."""
    return layout.typed(layout.registry, "registry")


def parse(text: str, where: str = "registry") -> list[Any]:
    """Everything in a registry. Raises ContextError for what is no JSON array, or newer."""
    if not text.strip():
        return []
    try:
        rows = formats.from_json(text, where)
    except ContextError as error:
        raise ContextError(f"{error}: fix it (a merge?) or move it away") from None
    if not isinstance(rows, list):
        raise ContextError(f"{where}: must be a JSON array: fix it or move it away")
    for form in {str(row["format"]) for row in rows if isinstance(row, dict) and "format" in row}:
        version.refuse_newer(form, str(FORMAT), where)
    return rows


def render(rows: list[Any]) -> str:
    """Render a registry as JSON: two-space indent and, as always, no newline at the end."""
    return formats.to_json(rows)


def load_all(layout: Layout) -> Loaded[Row]:
    """Load the rows with an id, in file order, which is launch order."""
    place = path(layout)
    there = [place] if os.path.lexists(place) else []
    loaded = layout.load(there, lambda path: parse(files.read(path), layout.shown(path)))
    pairs = ((place, row) for rows in loaded.documents for row in _with_id(rows))
    return Loaded(pairs, loaded.broken)


def _with_id(entries: list[Any]) -> list[Row]:
    return [row for row in entries if isinstance(row, dict) and isinstance(row.get("id"), str)]


def rows(layout: Layout) -> list[Row]:
    """The rows of `load_all`. Raises ContextError for a broken registry."""
    return load_all(layout).whole().documents


def find(rows: list[Row], identity: str) -> Row:
    """The row with this id or slug, the `latest`, or the only one whose id begins so.

    Of several with one slug, the newest active one, or else the newest. Raises ContextError naming
    the nearest id if there is none.
    """
    identity = identity.removeprefix("subagent:")
    ids = [row["id"] for row in rows]
    if identity in ids:
        return rows[ids.index(identity)]
    named = [row for row in rows if row.get("slug") == identity]
    named = named or (rows if identity == "latest" else [])
    if named:
        return ([row for row in named if row.get("status") in ACTIVE] or named)[-1]
    begun = [row for row in rows if identity and row["id"].startswith(identity)]
    if len(begun) == 1:
        return begun[0]
    raise bad_input(f"id: there is no subagent {identity!r}{names.nearest(identity, ids)}")


def change(layout: Layout, edit: Callable[[list[Any]], T]) -> T:
    """Let `edit` change the list of everything in the registry, and write it if it changed.

    One process at a time. Raises ContextError and writes nothing if the registry is broken.
    """
    place = path(layout)
    with files.locked(layout.lock(place)):
        old = files.read_if_there(place) or ""
        rows = parse(old, layout.shown(place))
        before = render(rows)
        answer = edit(rows)
        after = render(rows)
        if after != before:
            layout.exclude(place)
            files.write(place, after + ("\n" if old.endswith("\n") else ""))
    return answer


def add(layout: Layout, wanted: str, make: Callable[[str], Row | None]) -> Row:
    """Add and return the row that `make(id)` returns, with `-2`, `-3` … if the id is taken."""

    def edit(rows: list[Any]) -> Row:
        taken = {other.get("id") for other in rows if isinstance(other, dict)}
        made = (make(identity) for identity in files.numbered(wanted) if identity not in taken)
        row = next(row for row in made if row is not None)
        rows.append(row)
        return row

    return change(layout, edit)


def update(layout: Layout, identity: str, **values: Any) -> Row:
    """Set these fields of a row and return it, keeping the other fields and their order."""
    return change_row(layout, identity, lambda row: row.update(values))


def change_row(layout: Layout, identity: str, edit: Callable[[Row], None]) -> Row:
    """Let `edit` change one row as it is now, and return it; see `find` and `change`."""

    def edit_it(entries: list[Any]) -> Row:
        row = find(_with_id(entries), identity)
        edit(row)
        return row

    return change(layout, edit_it)


def remove(layout: Layout, identity: str) -> None:
    """Remove a row whose launch failed."""

    def edit(rows: list[Any]) -> None:
        rows[:] = [r for r in rows if not (isinstance(r, dict) and r.get("id") == identity)]

    change(layout, edit)


def promised(row: Row) -> list[dict[str, Any]]:
    """The files that a row promises: each its `source` and `status`; {} for what is no such."""
    listed = row.get("deliverables")
    items = listed if isinstance(listed, list) else []
    return [item if isinstance(item, dict) else {} for item in items]


def gaps_in(text: str) -> list[str]:
    """What a subagent calls missing: `Capsule Gap: …`, or items listed below such words."""
    texts: list[str] = []
    below = False
    for line in text.split("\n"):
        start = line.lstrip()
        bare = names.one_line(line).lstrip("-*+•>#_` ").strip("*_` ")
        rest = _after_gap(bare)
        if rest is not None:
            texts.append(rest)
            listed = start.startswith(("#", "**")) or bare.lower().startswith("capsule gaps")
            below = not rest and listed
        elif start.startswith("#"):
            below = False
        elif below and bare:
            texts.append(bare)
            below = start[:2] in ("- ", "* ", "+ ", "• ") or start[:1].isdigit()
    gaps = (gap[:_LONGEST_GAP].rstrip() for gap in texts)
    return list(dict.fromkeys(gap for gap in gaps if gap.lower().strip(". ") not in _NO_GAP))


def _after_gap(line: str) -> str | None:
    """The words after `Capsule Gap:` or similar in a line; None for any other line."""
    if not line.lower().startswith("capsule gap"):
        return None
    rest = line[11:].removeprefix("s").strip("*_` ")
    if rest[:1] in (":", "-", "–", "—"):
        return rest[1:].strip("*_` ")
    return None if rest else ""


def note_gaps(layout: Layout, identity: str, gaps: list[str], now: int) -> list[str]:
    """Add these to the row's `capsule_gaps`; return those that were new."""
    new: list[str] = []

    def edit(row: Row) -> None:
        noted = gaps_of(row)
        new.extend([gap for gap in gaps if gap not in noted][: _MOST_GAPS - len(noted)])
        if new:
            row |= {"capsule_gaps": [*noted, *new], "capsule_gaps_at": names.compact(now)}

    if gaps:
        change_row(layout, identity, edit)
    return new


def gaps_of(row: Row) -> list[str]:
    """The gaps that a row names, leaving out any that are not text."""
    gaps = row.get("capsule_gaps")
    return [gap for gap in gaps if isinstance(gap, str)] if isinstance(gaps, list) else []


def open_gaps(layout: Layout, branch: str, since: str = "") -> list[str]:
    """The gaps noted on `branch` after `since`, oldest first, a line each with the reporter."""
    gaps = []
    for row in rows(layout):
        noted = names.moment(str(row.get("capsule_gaps_at") or row.get("launched_at") or ""))
        if row.get("source_branch") == branch and noted >= names.moment(since):
            gaps += [names.one_line(f"{gap} ({row['id']})") for gap in gaps_of(row)]
    return list(dict.fromkeys(gaps))
