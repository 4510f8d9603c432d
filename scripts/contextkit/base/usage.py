"""Help, the version, and what a call lacks, as texts made from a program's table.

Imported only when one of these is needed; see `cli.py`.
"""

from __future__ import annotations

import os
import textwrap

from contextkit.base import makefiles, names, outgoing
from contextkit.base.commands import HELP, Command, Option, Program, options_of
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.version import VERSION


def explained(program: Program, command: Command | None, argv: list[str]) -> str:
    """The version, or help on a program or one of its commands, as asked for.

    Raises ContextError if nothing was asked for, since then no command was called.
    """
    if argv == ["--version"]:  # only by itself: `capsule_prompt --version=0.1` means something else
        return f"{program.name} {VERSION}"
    every = [each.name for each in program.every()]
    if HELP.isdisjoint(argv):
        typed = argv[0] if argv and argv[0][:1] != "-" else ""
        near = names.nearest(typed, every)
        problem = f"there is no command {names.quoted(typed)}{near}" if typed else "name a command"
        raise bad_input(f"{problem}: {', '.join(every)}\nTry: {program.name} --help")
    if command is None or (argv[0] in HELP and len(every) > 1):
        usage, about = f"{program.name}.py COMMAND …", program.about
        rows = [(each.name, each.help) for each in program.every()]
    else:
        usage, about = _usage(program, command), command.help
        rows = [row for option in options_of(command) for row in _rows(option)]
    told = [line for row in rows for line in makefiles.row(*row)]
    usage = textwrap.fill(f"usage: {usage}", 79, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join([usage, "", about.strip(), "", *told])


def _rows(option: Option) -> list[tuple[str, str]]:
    """How an option is spelled, and what it is."""
    unless = f" unless {option.unless}= is given" if option.unless else ""
    notes = [f"required{unless}"] if option.required else []
    notes += [f"one of {', '.join(option.choices)}"] if option.choices else []
    notes += ["also without its name"] if option.positional else []
    text = option.help + (f" ({'; '.join(notes)})" if notes else "")
    rows = [(", ".join(option.spellings), text)]
    if option.single:
        more = f"one of them; may be repeated ({option.spellings[0]}: all in one)"
        rows.append((f"--{option.single}", more))
    return rows


def missing(program: Program, command: Command, lacks: list[Option]) -> ContextError:
    """The message for required options that are absent or blank, a line each."""
    lines = [f"{option.name}= is missing or blank: {option.help}" for option in lacks]
    return bad_input("\n".join([*lines, f"usage: {_usage(program, command)}"]))


def _usage(program: Program, command: Command) -> str:
    """A call of a command with every option that has a value, as it is made here."""
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split()
    by_make = len(goals) == 1
    called = f"{os.environ.get(outgoing.COMMAND) or 'make'} {goals[0]}" if by_make else ""
    words = [called or f"{program.name}.py {command.name}"]
    for own in command.options:
        longest = next((s for s in own.spellings if len(s) > 2), own.spellings[0])
        word = f"{own.name if by_make else longest}=…"
        if own.kind != "flag":
            words.append(word if own.required else f"[{word}]")
    return " ".join(words)
