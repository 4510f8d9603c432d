"""The command line: arguments in, text out, one way to fail.

A script declares its commands and options once, as data (`Program`). A well-formed call is
read from that table by a small loop (`arguments.py`); help, mistakes and everything unusual go
to an argparse parser made from the same table (`usage.py`), so that no command pays for
argparse. The same table makes `manuals/make-targets.md` and is compared
with the Makefile.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import arguments, errors, files, names
from contextkit.base.commands import Answer, Arguments, Command, Program, Rows, options_of
from contextkit.base.errors import ContextError, bad_input, closed_output
from contextkit.base.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    from contextkit.base.arguments import Raw


_program = "contextkit"
_as_json = False
_MOST_LINES = 20  # of a refusal


def run(program: Program, argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say and return the exit status; only this function prints."""
    global _program, _as_json
    _program = program.name
    if sys.getfilesystemencoding() != "utf-8" and argv is None:
        from contextkit.base import packages

        packages.speak_utf8()
    _fill_closed()
    try:
        command, raw = _read(program, list(sys.argv[1:] if argv is None else argv))
        args = Arguments(arguments.typed(options_of(command), raw))
        if command.needs:
            from contextkit.base import packages

            packages.need(*command.needs)
        _as_json = bool(vars(args).get("json"))
        layout = Layout(args.root)
        answer = _rendered(command.run(layout, args))
        files.settle()
        _print(answer.text, answer.exact)
        layout.sweep(files.settled)
        return answer.status
    except ContextError as error:
        _refuse(str(error))
        return error.status
    except OSError as error:
        _refuse(f"{error.filename or 'output'}: {error.strerror or error}{_way_out(error)}")
        return 1
    except KeyboardInterrupt:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # die of it, so that a caller's loop ends too
        os.kill(os.getpid(), signal.SIGINT)
        return 1
    finally:
        say_each(errors.remarks)
        errors.remarks.clear()


def _rendered(answer: str | Answer | Rows) -> Answer:
    """What goes to stdout: the text or the table, or the data as JSON where that is asked for."""
    if isinstance(answer, str):
        return Answer(text=answer)
    if isinstance(answer, Rows):
        from contextkit.base import tables

        rows = answer
        text = "" if _as_json else tables.of(rows)
        answer = Answer(text=text, status=rows.status, data=lambda: tables.data(rows))
    if _as_json and answer.data is not None:
        from contextkit.base import formats

        data = answer.data() if callable(answer.data) else answer.data
        return Answer(text=formats.to_json(data), status=answer.status)
    say(answer.talk)
    return answer


def _way_out(error: OSError) -> str:
    """What to do where nothing may be written."""
    if error.errno not in (1, 13, 30):  # EPERM, EACCES, EROFS
        return ""
    return ": make it writable, or keep documents elsewhere: root=DIR (or CONTEXT_ROOT)"


def leave(status: int) -> NoReturn:
    """End the process at once. Python's own tear-down would cost a sixth of a bare start, and
    there is nothing to tear down: files are closed, locks go with the process.
    """
    try:
        sys.stderr.flush()
    except (AttributeError, OSError):
        pass  # closed, or full: there is nobody to tell
    os._exit(status)


def say(text: str) -> None:
    """Talk on stderr, never on stdout: that is for the product alone.

    Whatever a line quotes, it does nothing to a terminal and has an end.
    """
    try:
        sys.stderr.write(
            "".join(f"{_program}: {names.spoken(line)}\n" for line in text.splitlines())
        )
    except (AttributeError, OSError):
        pass  # closed, or full: what is done is done all the same


def _refuse(text: str) -> None:
    """Say what went wrong; of a value of many lines, quoted in it, not all of them."""
    lines = text.splitlines() if text.strip() else ["failed without giving a reason"]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES // 2 : -_MOST_LINES // 2] = ["…"]
    say("\n".join(lines))


def _fill_closed() -> None:
    """Where standard input or output is closed (`>&-`), no file of ours may take its number."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while os.open(os.devnull, os.O_RDWR) <= 2:
            pass


def for_programs() -> bool:
    """Whether the answer is printed as JSON: then nothing is shown before it, and nothing cut."""
    return _as_json


def put(text: str) -> None:
    """A part of the text now, for a command that goes on; the rest is what it returns.

    With `json=1` nothing: what it returns is all.
    """
    if _as_json:
        return
    files.settle()
    _print(text, exact=False)


def asks(question: str) -> bool:
    """Whether somebody at a terminal answers yes; without a terminal nobody is asked."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{_program}: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say_each(sentences: Iterable[str]) -> None:
    """Talk on stderr, a line each, whatever line ends they quote."""
    for sentence in sentences:
        say(names.one_line(sentence))


def content(file: str, field: str = "file", exact: bool = False) -> str:
    """The text that a command works on: of `file`, or of standard input for `-`.

    Without a file, standard input is read when it is a pipe or a file. With `exact`, bytes that
    are not UTF-8 become surrogate escapes, which are written as the same bytes again.
    """
    errors = "surrogateescape" if exact else "strict"
    if file and file != "-":
        try:
            return files.read_bytes(file).decode("utf-8", errors) if exact else files.read(file)
        except ContextError as error:
            raise bad_input(f"{field}: {error}") from None
    if not file and (sys.stdin is None or sys.stdin.isatty()):
        raise bad_input(f"{field}: give {field}=FILE or pipe the text in")
    import select

    if not select.select([sys.stdin], [], [], 1.0)[0]:
        say("reading standard input …")
    try:
        return sys.stdin.buffer.read().decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise bad_input(f"{field}: standard input is not UTF-8 (byte {error.start})") from None


def _read(program: Program, argv: list[str]) -> tuple[Command, Raw]:
    """The command that is called and its options as they were typed."""
    commands = {command.name: command for command in program.commands}
    name = program.default
    rest = argv
    if argv and argv[0] in commands:
        name, rest = argv[0], argv[1:]
    command = commands.get(name)
    if command:
        given = _given_to_make(command)
        argv, rest = [*argv, *given], [*rest, *given]
    raw = arguments.read_plain(options_of(command), rest) if command else None
    if command is None or raw is None or arguments.missing(command.options, raw):
        from contextkit.base import usage

        try:
            return usage.read(program, argv)
        finally:
            _flush()  # help, which argparse prints
    return command, raw


def _given_to_make(command: Command) -> list[str]:
    """The variables that were typed after `make target`, as words of a command line.

    make hands on all in the environment, and their names in CONTEXTKIT_GIVEN: what else is there
    under the name of an option is none of our business. Nothing is left for a process that this
    one starts. A variable that no option is called by is refused, since make says nothing.
    """
    if "CONTEXTKIT_GIVEN" not in os.environ:
        return []
    given = os.environ.pop("CONTEXTKIT_GIVEN").split()
    for name in ("MAKEFLAGS", "MFLAGS"):
        os.environ.pop(name, None)
    options = {option.name: option for option in options_of(command)}
    unknown = [name for name in given if name not in options]
    if unknown:
        from contextkit.base import makefiles

        makefiles.refuse_unknown(unknown, list(options))
    words = [
        f"{options[name].typed}={os.environ.pop(name)}"
        for name in given
        if name in options and name in os.environ
    ]
    sys.orig_argv += words  # for a process that starts itself again (`packages.py`)
    return words


def _print(text: str, exact: bool) -> None:
    if not text:
        return
    if sys.stdout is None:
        raise closed_output()
    try:
        sys.stdout.flush()
        whole = text if exact or text.endswith("\n") else text + "\n"
        # A path may hold bytes that are not UTF-8: they go out as they are.
        sys.stdout.buffer.write(whole.encode("utf-8", "surrogateescape"))
        _flush()
    except BrokenPipeError:
        _give_up()


def _flush() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up()


def _give_up() -> None:
    """The reader has what it wanted: `| head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
