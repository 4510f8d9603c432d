"""What a script offers, as data: programs, commands, options, and what a command answers.

Everything that reads a call is made from these: the fast reader (`arguments.py`), help and
mistakes (`usage.py`), the page of targets, and the test that compares the Makefile.
"""

from __future__ import annotations

from contextkit.base.records import Declaration, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Column = tuple[str, str] | tuple[str, str, Callable[[Any], str]]


class Option(Declaration):
    """One option. `name` is the make variable; `plan_slug` is `--plan-slug` on a command line.

    kind: text; whole (a number from 1); flag; words (separated by blanks or commas); items
    (one a line, or separated by ` | `). `single` is the repeatable option behind a list. Of an
    address of the kind `address` the option is its name: `plan:auth` is `auth`.
    """

    name: str
    help: str
    kind: str = "text"
    also: tuple[str, ...] = ()
    single: str = ""
    required: bool = False
    positional: bool = False
    choices: tuple[str, ...] = ()
    address: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """The names it has on a command line, without dashes in front."""
        return (self.name.replace("_", "-"), *self.also)

    @property
    def typed(self) -> str:
        """The option as it is typed: `--next-step`, or `-m` for a name of one character."""
        name = self.name.replace("_", "-")
        return f"--{name}" if len(name) > 1 else f"-{name}"


class Arguments:
    """The options of a call as attributes; absent: "" (text), None (whole), False, or ()."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Command(Declaration):
    """`run(layout, args)` returns what belongs on stdout; its name is the subcommand.

    `needs` are packages to be importable before any input is read.
    """

    run: Callable[..., str | Answer | Rows]
    help: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.run.__name__.rstrip("_")


class Program(Declaration):
    """A script: its name, its docstring, its commands; the `default` one needs no name."""

    name: str
    about: str
    commands: tuple[Command, ...]
    default: str = ""


class Answer(Record):
    """Text for stdout with more to it: a status (a negative answer is an answer), or `exact`: not
    even a line end is added, since the text is somebody's document.

    `data` is what `json=1` prints in place of the text: a value, or a function that makes one
    where that takes work; without it the text is printed all the same. `talk` goes to stderr,
    and only with the text.
    """

    text: str
    status: int = 0
    exact: bool = False
    data: object = None
    talk: str = ""


class Rows:
    """The answer of a command that lists: a table for people, objects for `json=1`.

    `rows` are records or dicts, each with an `id`. A column is its heading, the field of the row,
    and, where the cell is not that field as it is, a function of the row. `nothing` stands in
    place of an empty table; the `total`, a row for people alone, and `below` follow others.
    """

    def __init__(
        self,
        columns: tuple[Column, ...],
        rows: Sequence[Any],
        *,
        nothing: str = "",
        total: Any = None,
        below: str = "",
        status: int = 0,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.nothing = nothing
        self.total = total
        self.below = below
        self.status = status


ROOT = Option(name="root", help="the repository (default: the one around the current directory)")
JSON = Option(name="json", kind="flag", help="JSON for programs instead of a table for people")
REDACT = Option(name="redact", kind="flag", help="redact secrets instead of refusing them")


def options_of(command: Command) -> tuple[Option, ...]:
    """The options of a command and the one that all have."""
    return (*command.options, ROOT)
