"""What a script offers, as data: programs, commands, options, and the answers of commands.

Everything that handles a call is derived from these: the fast parser (`arguments.py`), help and
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

    kind: text; whole (a number from 1); flag; words (separated by spaces or commas); items (one per
    line, or separated by ` | `). `single` is the repeatable option behind a list. If `address`
    names a kind, an address of that kind is reduced to its name: `plan:auth` becomes `auth`.
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
        """Its names on a command line, without leading dashes."""
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

    `needs` lists packages that must be importable before any input is read.
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
    """Text for stdout with extra information.

    `status` is the exit status, since a negative answer is an answer too. `exact` text is
    somebody's document: not even a newline is added. `data` is what `json=1` prints instead of the
    text: a value, or a function that computes one; without it the text is printed in any case.
    `talk` goes to stderr, and only along with the text.
    """

    text: str
    status: int = 0
    exact: bool = False
    data: object = None
    talk: str = ""


class Rows:
    """The answer of a command that lists: a table for people, objects for `json=1`.

    `rows` are records or dicts, each with an `id`. A column has a heading, a field of the row, and,
    if the cell is not just that field, a function of the row. `nothing` replaces an empty table;
    `total` (a row for people only) and `below` follow the others.
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
    """The options of a command, plus those that all commands have."""
    return (*command.options, ROOT)
