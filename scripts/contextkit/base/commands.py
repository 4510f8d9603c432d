"""What a script offers, as data (programs, commands, options), and how a call is read with it."""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Declaration, NamedTuple, SimpleNamespace
from contextkit.base.type_names import Any, Callable, Sequence

Column = tuple[str, str] | tuple[str, str, Callable[[Any], str]]
Raw = dict[str, list[str]]  # each option's values as typed
HELP = frozenset(("-h", "--help"))


class Option(NamedTuple):
    """One option. `name` is the make variable; `plan_slug` is `--plan-slug` on a command line.

    kind: text; whole (a number from 1); flag; words (separated by spaces or commas); items (one per
    line, or separated by ` | `); paths (items that begin with a path). `single` is the repeatable
    option behind a list. `address` names the kind of which an address is reduced to its name:
    `plan:auth` becomes `auth`. What is required need not be given along with what `unless` names.
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
    unless: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """How it is typed on a command line, by its own name first: `--next-step`, `-m`."""
        named = (self.name.replace("_", "-"), *self.also)
        return tuple(f"--{name}" if len(name) > 1 else f"-{name}" for name in named)


_LISTS = ("items", "paths", "words")
_ABSENT = {"whole": None, "flag": False, **dict.fromkeys(_LISTS, ())}  # of any other kind: ""


class Arguments(SimpleNamespace):
    """The options of a call as attributes; those that are absent as above."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Command(Declaration):
    """A subcommand: `run(layout, args)` returns what belongs on stdout.

    `needs`: packages to have before input is read; `now`: the call that replaces an old name;
    `reads`: standard input is its text, which is printed again if the call is refused.
    """

    name: str
    run: Callable[..., str | Answer | Rows]
    help: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    now: str = ""
    reads: bool = False


def command(help: str, *options: Option, **more: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make the function below a command of its name with these options."""

    def made(run: Callable[..., Any]) -> Command:
        name = run.__name__.rstrip("_")
        return Command(name=name, run=run, help=help, options=options, **more)

    return made


class Program(Declaration):
    """A script: its name, its docstring, its commands; the `default` one needs no name.

    `more` names the place of the commands that take long to load.
    """

    name: str
    about: str
    commands: tuple[Command, ...]
    default: str = ""
    more: str = ""

    def every(self) -> tuple[Command, ...]:
        """All commands, those of `more` loaded now."""
        return (*self.commands, *(_declared(self.more) if self.more else ()))

    def named(self, name: str) -> Command | None:
        """The command of that name, if any; `more` is loaded if none of the others has it."""
        own = next((command for command in self.commands if command.name == name), None)
        return own or next((command for command in self.every() if command.name == name), None)


class Answer(Declaration):
    """Text for stdout with extra information.

    `exact` text is somebody's document: not even a newline is added. Only `verbatim` text passes
    the door (`outgoing.py`) as it is, and only into a pipe or file; in `quoted` text only commands
    stay as they are written. `data` is what `json=1` prints instead: a value, or a function that
    computes one. `talk` goes to stderr, and only along with the text. With `nothing`, the text only
    says that nothing is there.
    """

    text: str
    status: int = 0
    exact: bool = False
    verbatim: bool = False
    quoted: bool = False
    data: object = None
    talk: str = ""
    nothing: bool = False


class Rows(Declaration):
    """The answer of a command that lists: a table for people, objects for `json=1`.

    `rows` are records or dicts, each with an `id`. A column has a heading, a field of the row, and
    maybe a function of the row. `nothing` replaces an empty table; `total` (for people only) and
    `below` follow. People see only the last `most` rows. With `wrap`, what is too wide for a
    terminal goes on below.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Any]
    nothing: str = ""
    total: Any = None
    below: str = ""
    most: int = 0
    wrap: bool = False
    status: int = 0


# The program of each script: its module, and its name there.
SCRIPTS = {
    "adopt": "hosts.commands.ADOPT",
    "capsule": "capsules.commands.store.PROGRAM",
    "capsule_prompt": "capsules.commands.prompt.PROGRAM",
    "context": "history.commands.PROGRAM",
    "context_sync": "machines.commands.PROGRAM",
    "doctor": "hosts.commands.DOCTOR",
    "evaluate": "evaluation.commands.PROGRAM",
    "external_memory": "memory.commands.PROGRAM",
    "handoff": "handoffs.commands.PROGRAM",
    "payload_store": "payloads.commands.PROGRAM",
    "remember_later": "capsules.commands.reminders.PROGRAM",
    "run": "outputs.commands.PROGRAM",
    "subagent_manager": "subagents.commands.PROGRAM",
    "verdict": "reviews.commands.verdicts.PROGRAM",
}


def program(script: str) -> Program:
    """The program of a script, imported now; raises KeyError if there is none of that name."""
    return _declared(SCRIPTS[script])  # type: ignore[no-any-return]


def _declared(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(__import__(f"contextkit.{module}", fromlist=[name]), name)


ROOT = Option("root", "the repository (default: the one around the current directory)")
JSON = Option("json", "JSON for programs instead of a table for people", kind="flag")
DRY_RUN = Option("dry_run", "only show what would be done", kind="flag")
REDACT = Option("redact", "redact secrets instead of refusing them", kind="flag")
WORKTREE = Option("worktree", "another worktree: its path, or the branch in it")


def options_of(command: Command) -> tuple[Option, ...]:
    """The options of a command, plus those that all commands have."""
    return (*command.options, ROOT)


_SAID = {"": 0, "0": 0, "no": 0, "false": 0, "off": 0, "1": 1, "yes": 1, "true": 1, "on": 1}


def read(options: tuple[Option, ...], argv: list[str]) -> Raw:
    """Parse `--name=value`, `--name value`, `--flag`, `-m value`, and positionals.

    Raises ContextError for a word that belongs to nothing, and for an option without its value.
    """
    named = [(name, o) for o in options for name in (o.name.replace("_", "-"), *o.also, o.single)]
    spelled = {("--" if len(name) > 1 else "-") + name: option for name, option in named if name}
    places = [option for option in options if option.positional]
    has_places = bool(places)
    raw: Raw = {}
    words = argv[::-1]
    while words:
        word = words.pop()
        name, equals, value = word.partition("=")
        if word[:2] in spelled:  # `-mtext`; and argparse reads `-m=text` as `text`
            name, equals, value = word[:2], "=" * (len(word) > 2), word[2:].removeprefix("=")
        option = spelled.get(name)
        if option is None:
            if _is_option(word, spelled) or not places:
                raise _unplaced(word, [*spelled])
            place = places[0] if places[0].kind == "words" else places.pop(0)
            add_value(raw, place, "", word)
            continue
        if not equals:
            follows = bool(words) and not _is_option(words[-1], spelled)
            if option.kind == "flag" and (has_places or not follows):
                value = "1"
            elif follows:
                value = words.pop()
            else:
                raise bad_input(f"{name} lacks its value: write {name}=…")
        add_value(raw, option, name, value)
    return raw


def _is_option(word: str, spelled: dict[str, Option]) -> bool:
    """Whether a word is an option, or can be nothing else: no dash, number, or text with blanks."""
    is_spelled = word[:2] in spelled or word.partition("=")[0] in spelled
    is_value = word == "-" or " " in word or word[1:].replace(".", "", 1).isdigit()
    return is_spelled or (word[:1] == "-" and not is_value)


def _unplaced(word: str, spelled: list[str]) -> ContextError:
    name, equals, _ = word.partition("=")
    if name[:1] != "-":
        hint = f"--{names.brief(word)}" if equals else "--name=…"
        return bad_input(f"{names.quoted(word)} is not an option: write {hint}")
    near = names.nearest(name.lstrip("-"), [option.lstrip("-") for option in spelled])
    return bad_input(f"there is no option {names.brief(name)}{near}")


def add_value(raw: Raw, option: Option, spelling: str, value: str) -> None:
    """Record a value; a whole list is split into items, a repeatable single item is not."""
    values = raw.setdefault(option.name, [])
    is_single = option.single and spelling == f"--{option.single}"
    if option.kind == "items" and not is_single:
        values += names.meant_items(option.name, value)
    elif option.kind == "paths" and not is_single:
        values += names.meant_paths(option.name, value)
    elif option.kind == "words" and not is_single:
        values += names.meant_words(option.name, value)
    else:
        values.append(value)


def typed(options: tuple[Option, ...], raw: Raw) -> dict[str, Any]:
    """Convert each option to its type. Raises ContextError naming an invalid one."""
    absent = {option.name: _ABSENT.get(option.kind, "") for option in options}
    return absent | {o.name: _value(o, raw[o.name]) for o in options if raw.get(o.name)}


def _value(option: Option, values: list[str]) -> Any:
    values = [value if value.isascii() else _utf8(option, value) for value in values]
    if option.kind in _LISTS:
        return tuple(value for value in values if value.strip())
    last = values[-1]
    if option.kind == "flag":
        if last.lower() not in _SAID:
            raise bad_input(f"{option.name}={names.brief(last)}: write 1 for yes, 0 for no")
        return bool(_SAID[last.lower()])
    if option.kind == "whole":
        if last and not (names.is_whole(last) and int(last)):
            raise bad_input(f"{option.name}={names.brief(last)}: must be a whole number from 1")
        return int(last) if last else None
    if option.choices and last and last not in option.choices:
        allowed = ", ".join(option.choices)
        raise bad_input(f"{option.name}={names.brief(last)}: must be one of {allowed}")
    return last.removeprefix(f"{option.address}:") if option.address else last


def _utf8(option: Option, value: str) -> str:
    """Decode an argument from the bytes that were typed, which are UTF-8 whatever the locale."""
    try:
        return os.fsencode(value).decode("utf-8")
    except UnicodeError:
        raise bad_input(f"{option.name}: is not valid UTF-8") from None
