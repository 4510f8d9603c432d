"""Help, versions, and mistakes: the argparse parser built from a program's table.

Imported only when one of these is needed; see `cli.py`.
"""

from __future__ import annotations

import argparse
import os
import sys

from contextkit.base import names
from contextkit.base.commands import Command, Option, Program, options_of
from contextkit.base.errors import ContextError, bad_input, closed_output
from contextkit.base.type_names import Any, NoReturn
from contextkit.base.version import VERSION


class _Parser(argparse.ArgumentParser):
    """Mistakes raise ContextError like all others; abbreviated options are not accepted."""

    def error(self, message: str) -> NoReturn:
        raise bad_input(
            f"{names.brief(message, 300)}\n{self.format_usage().strip()}\nTry: {self.prog} --help"
        )


def parser(program: Program) -> argparse.ArgumentParser:
    """Build the parser of a whole program, with one subparser per command."""
    top = _Parser(
        prog=program.name,
        description=program.about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in program.every():
        text = command.help.replace("%", "%%")
        made = commands.add_parser(
            command.name, help=text, description=command.help, allow_abbrev=False
        )
        for option in options_of(command):
            _add(made, option)
    return top


def _add(into: argparse.ArgumentParser, option: Option) -> None:
    if option.positional:
        into.add_argument(f"positional_{option.name}", nargs="?", metavar=option.name.upper())
    notes = ["required"] if option.required else []
    notes += [f"one of {', '.join(option.choices)}"] if option.choices else []
    text = option.help + (f" ({'; '.join(notes)})" if notes else "")
    spelled = [(option.spellings, option.name, text)]
    if option.single:
        text = f"one of them; may be repeated ({option.spellings[0]}: all in one)"
        spelled.append(((f"--{option.single}",), option.single, text))
    flag: dict[str, Any] = {"nargs": "?", "const": "1"} if option.kind == "flag" else {}
    for spellings, name, text in spelled:
        into.add_argument(
            *spellings, dest=option.name, action="append", metavar=name.upper(),
            help=text.replace("%", "%%"), **flag,
        )  # fmt: skip


def explain(program: Program, argv: list[str]) -> NoReturn:
    """Print help or the version and exit, or raise ContextError: no command, or no value."""
    if argv == ["--version"]:  # only by itself: `capsule_prompt --version=0.1` means something else
        if sys.stdout is None:
            raise closed_output()
        sys.stdout.write(f"{program.name} {VERSION}\n")
        raise SystemExit(0)
    first = argv[0] if argv else ""
    commands = [command.name for command in program.every()]
    help_only = first in ("-h", "--help") and len(commands) > 1
    named = not program.default or help_only or first in commands
    parser(program).parse_known_args(argv if named else [program.default, *argv])
    raise bad_input("an option lacks its value")


def missing(program: Program, command: Command, option: Option) -> ContextError:
    """The message for a required option that is absent or blank."""
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split()
    by_make = len(goals) == 1
    called = f"make {goals[0]}" if by_make else f"{program.name}.py {command.name}"
    usage = []
    for own in command.options:
        longest = next((s for s in own.spellings if len(s) > 2), own.spellings[0])
        word = f"{own.name if by_make else longest}=…"
        if own.kind != "flag":
            usage.append(word if own.required else f"[{word}]")
    return bad_input(
        f"{option.name}= is missing or blank: {option.help}\nusage: {called} {' '.join(usage)}"
    )
