"""Help, versions, and mistakes: the argparse parser built from a program's table.

Imported only for calls that are not plain; see `cli.py`.
"""

from __future__ import annotations

import argparse
import os
import sys

from contextkit.base import names
from contextkit.base.commands import (
    Command,
    Option,
    Program,
    Raw,
    add_value,
    missing_options,
    options_of,
)
from contextkit.base.errors import ContextError, bad_input, closed_output
from contextkit.base.type_names import NoReturn
from contextkit.base.version import VERSION


class _Single(str):
    """A value of the repeatable option behind a list."""


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
    for command in program.commands:
        text = command.help.replace("%", "%%")
        made = commands.add_parser(
            command.name, help=text, description=command.help, allow_abbrev=False
        )
        _add_options(made, command)
    return top


def _add_options(into: argparse.ArgumentParser, command: Command) -> None:
    for option in options_of(command):
        flag = {"nargs": "?", "const": "1"} if option.kind == "flag" else {}
        if option.positional:
            into.add_argument(f"positional_{option.name}", nargs="?", metavar=option.name.upper())
        into.add_argument(
            *(f"-{s}" if len(s) == 1 else f"--{s}" for s in option.spellings),
            dest=option.name,
            action="append",
            metavar=option.name.upper(),
            help=_help(option),
            **flag,  # type: ignore[arg-type]
        )
        if option.single:
            into.add_argument(
                f"--{option.single}",
                dest=option.name,  # the same list, in the order typed
                action="append",
                type=_Single,
                metavar=option.single.upper(),
                help=f"one of them; may be repeated (--{option.spellings[0]}: all in one)",
            )


def _help(option: Option) -> str:
    notes = ["required"] if option.required else []
    notes += [f"one of {', '.join(option.choices)}"] if option.choices else []
    text = option.help + (f" ({'; '.join(notes)})" if notes else "")
    return text.replace("%", "%%")


def _version(program: Program) -> Exception | SystemExit:
    """Print the version; return the exception that ends the call."""
    if sys.stdout is None:
        return closed_output()
    sys.stdout.write(f"{program.name} {VERSION}\n")
    return SystemExit(0)


def read(program: Program, argv: list[str]) -> tuple[Command, Raw]:
    """The command and its options. Raises ContextError for a mistake.

    Exits after `--help` and `--version`.
    """
    if argv == ["--version"]:  # only by itself: `capsule_prompt --version=0.1` means something else
        raise _version(program)
    commands = {command.name: command for command in program.commands}
    words = list(argv)
    first = words[0] if words else ""
    help_only = first in ("-h", "--help") and len(commands) > 1
    if program.default and not help_only and first not in commands:
        words.insert(0, program.default)
    found, surplus = parser(program).parse_known_args(_without_bare_flags(commands, words))
    command = commands[found.command]
    raw: Raw = {}
    for option in options_of(command):
        for value in _positionals(option, found, surplus):
            add_value(raw, option, "", value)
        for value in getattr(found, option.name) or ():
            text = str(value) if isinstance(value, str) else "--"  # argparse makes [] of `=--`
            add_value(raw, option, option.single if isinstance(value, _Single) else "", text)
    if surplus:
        raise bad_input(_surplus(command, surplus))
    for option in missing_options(command.options, raw):
        raise missing(program, command, option)
    return command, raw


def _positionals(option: Option, found: argparse.Namespace, surplus: list[str]) -> list[str]:
    """The words without a name that are this option's, taken from the surplus."""
    first = getattr(found, f"positional_{option.name}", None)
    words = [first] if first is not None else []
    most = len(surplus) if option.kind == "words" else 1 - len(words)
    while option.positional and most > 0 and surplus and not surplus[0].startswith("-"):
        words.append(surplus.pop(0))  # argparse looks for one only before the options
        most -= 1
    return words


def _without_bare_flags(commands: dict[str, Command], words: list[str]) -> list[str]:
    """The words with `--flag` written as `--flag=1` if the next word may be the positional."""
    command = commands.get(words[0]) if words else None
    options = options_of(command) if command else ()
    if not any(option.positional for option in options):
        return words
    bare = {f"--{s}" for option in options if option.kind == "flag" for s in option.spellings}
    return [f"{word}=1" if word in bare else word for word in words]


def missing(program: Program, command: Command, option: Option) -> ContextError:
    """The message for a required option that is absent or blank."""
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split()
    by_make = len(goals) == 1
    called = f"make {goals[0]}" if by_make else f"{program.name}.py {command.name}"
    shown = [
        f"{one.name if by_make else _dashed(one)}=…"
        for one in command.options
        if one.kind != "flag"
    ]
    needed = [one.required for one in command.options if one.kind != "flag"]
    usage = [word if must else f"[{word}]" for word, must in zip(shown, needed, strict=True)]
    return bad_input(
        f"{option.name}= is missing or blank: {option.help}\nusage: {called} {' '.join(usage)}"
    )


def _dashed(option: Option) -> str:
    return "--" + next(name for name in option.spellings if len(name) > 1)


def _surplus(command: Command, surplus: list[str]) -> str:
    word, equals, _ = surplus[0].partition("=")
    if not word.startswith("-"):
        return f"{names.quoted(surplus[0])} is not an option: write " + (
            f"--{names.brief(surplus[0])}" if equals else "--name=…"
        )
    spellings = [s for option in options_of(command) for s in option.spellings]
    return f"there is no option {names.brief(word)}{names.nearest(word.lstrip('-'), spellings)}"
