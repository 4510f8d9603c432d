"""The command of `run.py` as make calls it."""

from __future__ import annotations

from contextkit.base.commands import Answer, Arguments, Option, Program, command
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout


@command(
    "run a command and shorten what it prints",
    Option("c", "the command, as typed in a shell", required=True),
)
def run(layout: Layout, args: Arguments) -> Answer:
    from contextkit.outputs.flows import running

    if not args.c.strip():
        raise bad_input('c: is empty: name a command, as c="pytest -q"')
    status = running.main([f"--root={args.root or layout.root}", "--", args.c])
    return Answer(text="", status=status)


PROGRAM = Program(
    name="run",
    about="Run a command; pass on what it prints if that is short, else a digest and a path.",
    default="run",
    commands=(run,),
)
