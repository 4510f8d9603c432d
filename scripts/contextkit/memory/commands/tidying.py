"""The commands that keep external memory in order: list, archive, clean."""

from __future__ import annotations

from contextkit.base import cli, names
from contextkit.base.commands import JSON, Arguments, Command, Option, Rows
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
    columns = tuple((name, name) for name in ("kind", "task", "time", "state", "path"))
    return Rows(columns=columns, rows=rows, nothing="No memory.")


def _id(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def archive(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    task = args.task or upkeep.latest_task(layout)
    broken: list[str] = []
    moved = upkeep.archive(layout, task, broken)
    cli.say_each(f"left where it is: {line}" for line in broken)
    if not moved:
        cli.say(f"{task}: nothing is left to archive")
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
        options=(Option(name="task", help="the task (default: the one written about last)"),),
    ),
    Command(
        run=clean,
        help="remove stale checkpoints; the last one of an open task is archived",
        options=(Option(name="dry_run", kind="flag", help="only say what would happen"),),
    ),
)
