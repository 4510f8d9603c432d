"""The commands of `evaluate.py`."""

from __future__ import annotations

import os

from contextkit.base import cli, files, names, templates
from contextkit.base.commands import JSON, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any

RESULT = "evaluation.md"  # in the state folder
COLUMNS = "arm kind documents questions right low high wrong tokens".split()
DAY_COLUMNS = "arm runs solved turns tokens cost seconds failed".split()


def _agree(args: Arguments, plan: str, fewer: str) -> None:
    """Say what is going to happen; raise ContextError unless that is what the user wants."""
    cli.say(plan)
    if not args.yes and not cli.confirm("start?"):
        raise ContextError(f"not started: yes=1 starts without asking, n= takes fewer {fewer}")


@command(
    "ask your model about stored texts, with and without them",
    Option("cmd", "your agent's command line", required=True),
    Option("folder", "texts to try (default: what is stored here)"),
    Option("n", "at most this many texts", kind="whole"),
    Option("with", "one more arm: a program that shortens a text"),
    Option("timeout", "seconds for a call (default: 300)", kind="whole"),
    Option("yes", "start without asking", kind="flag"),
    JSON,
)
def model(layout: Layout, args: Arguments) -> Rows:
    from contextkit.evaluation.documents import marks
    from contextkit.evaluation.flows import trial

    samples = _samples(layout, args)
    asked = trial.Trial(layout, args.cmd, vars(args)["with"], args.timeout or 300)
    calls, read = asked.cost(samples)
    count = names.counted(len(samples), "text")
    _agree(args, f"{count}, at most {calls} calls, ~{read} tokens read", "texts")
    sheets = asked.run(samples, cli.say)
    rows = marks.scores(sheets, trial.ARMS)
    if not rows:
        raise ContextError(f"no text could be evaluated: {asked.counted()}")
    marks.save(layout, rows)
    path = os.path.join(layout.state, RESULT)
    page = templates.render(
        "evaluation.md", command=args.cmd, rows=rows, calls=asked.counted(),
        lost=marks.losses(sheets, trial.RECEIPT, trial.CUT), left_out=", ".join(asked.left_out),
    )  # fmt: skip
    files.write(path, page)
    cli.say(f"written to {layout.shown(path)}")
    return Rows(
        columns=tuple(zip(COLUMNS, COLUMNS, strict=True)), rows=rows, below=f"\n{asked.counted()}"
    )


@command(
    "have your own agent do a day's work, with and without our hooks",
    Option("cmd", "your agent's command line", required=True),
    Option("host", "whose transcripts it writes (default: by its name)"),
    Option("n", "days in each arm (default: 3)", kind="whole"),
    Option("timeout", "seconds for a session (default: 900)", kind="whole"),
    Option("yes", "start without asking", kind="flag"),
    JSON,
)
def day(layout: Layout, args: Arguments) -> Rows:
    from contextkit.evaluation.flows import day as days

    host = days.host_of(args.cmd, args.host)
    count = args.n or 3
    sessions = 2 * count * len(days.prompts())
    plan = (f"{names.counted(count, 'day')} with hooks and as many without: {sessions} sessions of"
            " your command, which works in folders of its own with your account")  # fmt: skip
    _agree(args, plan, "days")
    runs = days.run(layout, args.cmd, host, args.timeout or 900, count, cli.say)
    if wrong := days.unhooked(runs):
        cli.say(wrong)
    return Rows(columns=tuple(zip(DAY_COLUMNS, DAY_COLUMNS, strict=True)), rows=days.rows(runs))


def _samples(layout: Layout, args: Arguments) -> list[Any]:
    from contextkit.evaluation.flows import trial

    folder = os.path.join(layout.here, args.folder) if args.folder else ""
    every = trial.in_folder(layout, folder) if folder else trial.stored(layout)
    chosen = [sample for _, sample in zip(range(args.n or 1_000), every, strict=False)]
    if not chosen:
        where = "in the folder" if folder else "stored here"
        raise ContextError(f"no text above 500 tokens is {where}: folder=DIR names others")
    return chosen


PROGRAM = Program(
    name="evaluate",
    about="Does it help? What your own model can still answer from what is handed over.",
    default="model",
    commands=(model, day),
)
