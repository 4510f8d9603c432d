"""The commands of `evaluate.py`."""

from __future__ import annotations

import os

from contextkit.base import cli, files, names, templates
from contextkit.base.commands import JSON, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.evaluation.flows.samples import Sample
    from contextkit.evaluation.flows.trial import Outcome

RESULT = "evaluation.md"  # in the state folder
COLUMNS = tuple((name, name) for name in ("arm", "kind", "documents", "questions", "right", "low",
                                          "high", "wrong", "tokens"))  # fmt: skip

DAY_COLUMNS = tuple((name, name) for name in ("arm", "runs", "solved", "turns", "tokens", "cost",
                                              "seconds", "failed"))  # fmt: skip


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
    from contextkit.evaluation.documents import score
    from contextkit.evaluation.flows import trial

    samples = _samples(layout, args)
    asked = trial.Model(command=args.cmd, seconds=args.timeout or 300, other=vars(args)["with"])
    calls, read = trial.cost(samples, asked)
    plan = f"{names.counted(len(samples), 'text')}, at most {calls} calls, ~{read} tokens read"
    cli.say(plan)
    if not args.yes and not cli.confirm("start?"):
        raise ContextError("not started: yes=1 starts without asking, n= takes fewer texts")
    outcome = trial.run(layout, samples, asked, cli.say)
    rows = score.scores(outcome.sheets, trial.ARMS)
    if not rows:
        raise ContextError(f"no text could be evaluated: {_counted(outcome)}")
    table = Rows(columns=COLUMNS, rows=[{"id": f"{r.arm} {r.kind}", **r._asdict()} for r in rows],
                 below=f"\n{_counted(outcome)}")  # fmt: skip
    path = os.path.join(layout.state, RESULT)
    score.save(layout, rows)
    files.write(path, _page(args.cmd, outcome, rows))
    cli.say(f"written to {layout.shown(path)}")
    return table


@command(
    "let your own agent do a day's work, with our hooks and without",
    Option("cmd", "your agent's command line", required=True),
    Option("host", "whose transcripts it writes (default: by its name)"),
    Option("n", "days in each arm (default: 3)", kind="whole"),
    Option("timeout", "seconds for a session (default: 900)", kind="whole"),
    Option("yes", "start without asking", kind="flag"),
    JSON,
)
def day(layout: Layout, args: Arguments) -> Rows:
    from contextkit.evaluation.flows import day as days

    asked = days.agent(args.cmd, args.host, args.timeout or 900)
    count = args.n or 3
    sessions = 2 * count * len(days.prompts())
    plan = (f"{names.counted(count, 'day')} with hooks and as many without: {sessions} sessions of"
            " your command, which works in folders of its own with your account")  # fmt: skip
    cli.say(plan)
    if not args.yes and not cli.confirm("start?"):
        raise ContextError("not started: yes=1 starts without asking, n= takes fewer days")
    runs = days.run(layout, asked, count, cli.say)
    if wrong := days.unhooked(runs):
        cli.say(wrong)
    return Rows(columns=DAY_COLUMNS, rows=days.rows(runs))


def _samples(layout: Layout, args: Arguments) -> list[Sample]:
    from contextkit.evaluation.flows import samples

    folder = os.path.join(layout.here, args.folder) if args.folder else ""
    every = samples.in_folder(layout, folder) if folder else samples.stored(layout)
    chosen = [sample for _, sample in zip(range(args.n or 1_000), every, strict=False)]
    if not chosen:
        where = "in the folder" if folder else "stored here"
        raise ContextError(f"no text above 500 tokens is {where}: folder=DIR names others")
    return chosen


def _counted(outcome: Outcome) -> str:
    """Say how many calls were made and what became of those that failed."""
    failed = ", ".join(f"{count} with {reason}" for reason, count in outcome.failed.items())
    parts = [f"{names.counted(outcome.calls, 'call')}, {sum(outcome.failed.values())} failed"]
    parts += [f"({failed})"] if failed else []
    if outcome.unusable:
        parts.append(f"one without a usable form began {names.quoted(outcome.unusable)}")
    if outcome.left_out:
        parts.append(f"{names.counted(len(outcome.left_out), 'text')} left out")
    return "; ".join([" ".join(parts[:2]), *parts[2:]])


def _page(command: str, outcome: Outcome, rows: Sequence[object]) -> str:
    from contextkit.evaluation.documents import score
    from contextkit.evaluation.flows import trial

    lost = score.losses(outcome.sheets, trial.RECEIPT, trial.CUT)
    return templates.render(
        "evaluation.md", command=command, rows=tuple(rows), lost=tuple(lost),
        calls=_counted(outcome), left_out=", ".join(outcome.left_out),
    )  # fmt: skip


PROGRAM = Program(
    name="evaluate",
    about="Does it help? What your own model still knows from what is handed over.",
    default="model",
    commands=(model, day),
)
