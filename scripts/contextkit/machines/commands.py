"""The commands of `context_sync.py`: push, pull, remotes."""

from __future__ import annotations

from contextkit.base import commands, names
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Callable
from contextkit.hosts.flows import runner
from contextkit.machines.flows import pull as pulling
from contextkit.machines.flows import push as pushing
from contextkit.machines.flows import remotes, shares
from contextkit.machines.flows.shares import Report

_REMOTE = Option(
    "remote", "a git remote or URL, file:///…, s3://…, gs://…, az://… (default: origin)"
)
_WHAT = (
    _REMOTE,
    Option(
        "what", "kinds, or all, memory, review (default: all but what git carries)", kind="words"
    ),
    Option("session", "only the payloads of this session"),
    Option("task", "only the memory of this task"),
    Option("run", "only this review run"),
)
_HOW = (commands.WORKTREE, commands.DRY_RUN, JSON)


@command(
    "send what is new here to a remote",
    *_WHAT,
    Option("redact", "send documents with secrets redacted, and marked as such", kind="flag"),
    *_HOW,
)
def push(layout: Layout, args: Arguments) -> Answer:
    return _moved(layout, args, pushing.push, redact=args.redact)


@command(
    "fetch what other machines sent",
    *_WHAT,
    Option("from", "only from this machine: id or name"),
    *_HOW,
)
def pull(layout: Layout, args: Arguments) -> Answer:
    return _moved(layout, args, pulling.pull, source=getattr(args, "from"))


def _moved(layout: Layout, args: Arguments, move: Callable[..., Report], **more: Any) -> Answer:
    layout = layout.of_worktree(args.worktree)
    chosen = shares.choice(args.what, args.session, args.task, args.run)
    done = move(layout, args.remote, chosen, dry_run=args.dry_run, **more)
    messages = [*done.messages, *done.refused]
    if done.refused:
        count = len({line.partition(":")[2] for line in done.refused})
        messages.append(
            f"{names.counted(count, 'secret')}: documents with one stayed here; redact=1 sends"
            " them redacted, secrets_allow in contextkit.yaml lists exceptions"
        )
    failed = done.failed or any(row.did in ("refused", "not taken") for row in done.rows)
    data, talk = [vars(row) for row in done.rows], "\n".join(messages)
    return Answer(text=done.text, status=1 if failed else 0, data=data, talk=talk)


@command(
    "push or pull what `sync` names, as hooks do; doctor shows problems",
    Option("verb", "push or pull", choices=("pull", "push"), required=True),
)
def background_(layout: Layout, args: Arguments) -> str:
    move = pushing.push if args.verb == "push" else pulling.pull
    try:
        done = move(layout, "", shares.Choice())
    except Exception as error:  # nobody is there to see a traceback
        runner.note(layout.hooks, f"sync {args.verb}", error)
        return str(error)
    not_taken = [row.line for row in done.rows if row.did == "not taken"]
    for problem in [*done.refused, *not_taken, *(done.messages if done.failed else ())]:
        runner.note(layout.hooks, f"sync {args.verb}", problem)
    return done.total


@command(
    "list the machines of a remote",
    _REMOTE,
    Option("forget", "remove this machine there"),
    commands.WORKTREE,
    JSON,
)
def remotes_(layout: Layout, args: Arguments) -> Rows | str:
    layout = layout.of_worktree(args.worktree)
    if args.forget:
        gone = remotes.forget(layout, args.remote, args.forget)
        return f"forgotten: {gone.machine} ({gone.name}); what others took from it stays with them"
    messages: list[str] = []
    rows = remotes.listed(layout, args.remote, messages)
    if messages and not rows:
        raise ContextError("; ".join(messages))
    shown = ("at", "age", "documents", "bytes", *["signed"] * any(row["signed"] for row in rows))
    return Rows(
        columns=(("machine", "id", lambda row: row["id"] + (" *" if row["here"] else "")),
                 ("name", "name", lambda row: names.shortened(row["name"], 16)),
                 *((name, name) for name in shown)),
        rows=rows,
        nothing="no machine has pushed there yet",
        below="\n".join(messages),
    )  # fmt: skip


PROGRAM = Program(
    name="context_sync",
    about="The same context on several machines: push, pull, and who has pushed.",
    commands=(push, pull, remotes_, background_),
)
