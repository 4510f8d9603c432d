"""The commands that keep external memory in order: list, archive, clean."""

from __future__ import annotations

from contextkit.base import cli, names
from contextkit.base.commands import JSON, Arguments, Command, Option, Rows
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.memory.documents import store as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def list_(layout: Layout, args: Arguments) -> Rows:
    from contextkit.memory.flows import upkeep

    if args.worktree:
        from contextkit.memory.flows import worktrees

        layout = worktrees.layout_of(layout, args.worktree)
    broken: list[str] = []
    found = upkeep.listed(layout, memory.check_task(args.task) if args.task else "", broken)
    cli.say_each(f"cannot be read: {line}" for line in broken)
    rows = [
        {"id": _id(one.path), "kind": one.kind, "task": one.task, "time": one.time,
         "state": one.state, "path": layout.shown(one.path)}
        for one in found
    ]  # fmt: skip
    columns = (
        ("kind", "kind"),
        ("task", "task", lambda row: _cut(row["task"], _TASK)),
        ("state", "state"),
        ("id", "id", lambda row: _cut(row["id"], _NAME)),
    )
    known = ", ".join(upkeep.known_tasks(layout)) if args.task and not rows else ""
    nothing = f"No memory of {args.task}; there are {known}." if known else "No memory."
    below = f"A plan is {layout.places.memory}/research_plans/<id>.md; json=1 has every path."
    return Rows(columns=columns, rows=rows, nothing=nothing, below=below)


_TASK, _NAME = 16, 34  # characters of a task and of a name, so that a row has at most 80


def _cut(text: str, most: int) -> str:
    """`text`, of a long one the end, which has the time."""
    return text if len(text) <= most else "…" + text[1 - most :]


def _id(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def archive(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    task = args.task or upkeep.finished_task(layout)
    broken: list[str] = []
    moved = upkeep.archive(layout, task, broken)
    cli.say_each(f"left where it is: {line}" for line in broken)
    if not moved:
        known = ", ".join(upkeep.known_tasks(layout))
        cli.say(f"{task}: nothing is left to archive" + (f"; there are {known}" if known else ""))
    return "\n".join(layout.shown(path) for path in moved)


def unarchive(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    left: list[str] = []
    moved = upkeep.unarchive(layout, args.task, left)
    cli.say_each(f"left in the archive: {line}" for line in left)
    if not moved and not left:
        known = ", ".join(memory.archived(layout)) or "nothing"
        raise ContextError(f"{args.task}: nothing of it is archived; archived is {known}")
    return "\n".join(layout.shown(path) for path in moved)


def clean(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    broken: list[str] = []
    done = upkeep.clean(layout, names.now(), args.dry_run, broken)
    cli.say_each(f"left where it is: {line}" for line in broken)
    if args.dry_run:
        cli.say("dry run: nothing was changed")
    return "\n".join(f"{layout.shown(path)}: {what}" for path, what in done)


COMMANDS = (
    Command(
        run=list_,
        help="every document of the store",
        options=(
            Option(name="task", help="only those of this task"),
            Option(name="worktree", help="another worktree: its path, or the branch in it"),
            JSON,
        ),
    ),
    Command(
        run=archive,
        help="move all that belongs to a finished task into the archive",
        options=(Option(name="task", help="the task (default: the one that is done)"),),
    ),
    Command(
        run=unarchive,
        help="bring a task back from the archive; it is the current one again",
        options=(Option(name="task", required=True, help="the task"),),
    ),
    Command(
        run=clean,
        help="remove stale checkpoints; the last one of an open task is archived",
        options=(Option(name="dry_run", kind="flag", help="only say what would happen"),),
    ),
)
