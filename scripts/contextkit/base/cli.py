"""The command line: arguments in, text out, one way to fail.

A script declares its commands and options once, as data (`Program`). Calls are read with that table
(`commands.py`), and help is made from it (`usage.py`).
"""

from __future__ import annotations

import os
import sys

from contextkit.base import commands, errors, files, names, outgoing, whereabouts
from contextkit.base.commands import Answer, Arguments, Command, Option, Program, Rows, options_of
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable, Iterable, Sequence

_program = "contextkit"
_as_json = False
_allowed: Callable[[], Iterable[str]] = tuple  # the settings' exemptions from secrets
_MOST_LINES = 20  # of a refusal
_WAY_OUT = ": make it writable, or keep documents elsewhere: root=DIR (or CONTEXT_ROOT)"


def run(program: Program, argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name and return the exit status; nothing else prints."""
    global _program, _as_json, _allowed
    _program, _as_json, _allowed = whereabouts.begin(program.name), False, tuple
    if sys.getfilesystemencoding() != "utf-8" and argv is None:
        from contextkit.base import packages

        packages.speak_utf8()
    _fill_closed()
    try:
        command, args = _read(program, list(sys.argv[1:] if argv is None else argv))
        if command.now:
            say(f"an old name, gone in the next release: now `make {command.now}`")
        if command.needs:
            from contextkit.base import packages

            packages.need(*command.needs)
        _as_json = bool(vars(args).get("json"))
        layout = Layout(args.root)
        _allowed = layout.allowed
        if whereabouts.by_make or layout.here != layout.root:
            whereabouts.take(layout, command.options, args)
        answer = _answer(layout, program, command, args)
        if answer.status:
            _print(answer)
        files.settle()  # on disk before it is acknowledged
        if not answer.status:
            _print(answer)
        layout.sweep(files.settled)
        return answer.status
    except ContextError as error:
        _refuse(str(error))
        return error.status
    except OSError as error:
        way_out = _WAY_OUT if error.errno in (1, 13, 30) else ""  # EPERM, EACCES, EROFS
        _refuse(f"{error.filename or 'output'}: {error.strerror or error}{way_out}")
        return 1
    except KeyboardInterrupt:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # die of it, so that a caller's loop ends too
        os.kill(os.getpid(), signal.SIGINT)
        return 1
    finally:
        say(whereabouts.where() if whereabouts.away and not _as_json else "")


def _answer(layout: Layout, program: Program, command: Command, args: Arguments) -> Answer:
    """Run a command; where it finds nothing, say which other worktree has it."""
    try:
        answer = _rendered(command.run(layout, args))
    except ContextError as error:
        other = whereabouts.elsewhere(layout, program.name, vars(args), error.status)
        raise ContextError(f"{error}\n{other}".rstrip(), error.status) from None
    if answer.nothing or not answer.text:
        say(whereabouts.elsewhere(layout, program.name, vars(args)))
    return answer


def _rendered(answer: str | Answer | Rows) -> Answer:
    """Render an answer for stdout: its text or table, or its data as JSON if that was asked for."""
    say("")
    if isinstance(answer, str):
        return Answer(text=answer)
    if isinstance(answer, Rows):
        from contextkit.base import tables

        rows = answer
        text = "" if _as_json else tables.of(rows)
        answer = Answer(text=text, status=rows.status, data=lambda: tables.data(rows),
                        nothing=not rows.rows)  # fmt: skip
    if _as_json and answer.data is not None:
        from contextkit.base import formats

        data = answer.data() if callable(answer.data) else answer.data
        return Answer(text=formats.to_json(data), status=answer.status, quoted=answer.quoted)
    say(answer.talk)
    return answer


def say(text: str) -> None:
    """Print the remarks, then a message, on stderr, through the same door as an answer."""
    remarks = [*map(names.one_line, errors.remarks)]
    errors.remarks.clear()
    told = [outgoing.told(line, _allowed) for line in (*remarks, *text.splitlines())]
    lines = [names.brief(line, names.PRINTED) for line in told]
    whereabouts.printed.extend(lines)
    try:
        sys.stderr.write("".join(f"{_program}: {line}\n" for line in lines))
    except (AttributeError, OSError):
        pass  # closed or full: the work is done all the same


def _refuse(text: str) -> None:
    """Report an error; a quoted value of many lines is shortened."""
    lines = text.splitlines() if text.strip() else ["failed without giving a reason"]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES // 2 : -_MOST_LINES // 2] = ["…"]
    say("\n".join(lines))


def _fill_closed() -> None:
    """Fill the descriptors of closed standard streams (`>&-`): no file may get their number."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while os.open(os.devnull, os.O_RDWR) <= 2:
            pass


def for_programs() -> bool:
    """Whether the answer is printed as JSON: then nothing precedes it, and nothing is cut."""
    return _as_json


def put(text: str) -> None:
    """Print part of the text now, for a command that continues; nothing with `json=1`."""
    if not _as_json:
        files.settle()
        _print(Answer(text=text))


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; without a terminal nobody is asked, and the answer is no."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{_program}: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say_each(sentences: Iterable[str]) -> None:
    """Print messages on stderr, one per line, whatever line breaks they quote."""
    for sentence in sentences:
        say(names.one_line(sentence))


def is_piped() -> bool:
    """Whether standard input is a pipe, a socket, or a file, and so may hold a text."""
    import stat

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def is_lost(file: str) -> bool:
    """Whether the text that `content` read cannot be read again, as it came through a pipe."""
    return file in ("", "-") and is_piped() and not os.path.isfile(sys.stdin.fileno())


def content(file: str, field: str = "file", exact: bool = False) -> str:
    """Read the text that a command works on, from `file`, or from standard input for `-` or a pipe.

    With `exact`, bytes that are not UTF-8 become surrogate escapes, written back as the same bytes.
    """
    errors = "surrogateescape" if exact else "strict"
    if file and (file := whereabouts.reached(file)) != "-":
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


def _read(program: Program, argv: list[str]) -> tuple[Command, Arguments]:
    """The command that is called, and its options as typed."""
    called = program.named(argv[0]) if argv and argv[0][:1] != "-" else None
    command, rest = called or program.named(program.default), argv[1:] if called else argv
    typed = [*rest, *os.environ.get("CONTEXTKIT_GIVEN", "").split()]
    try:
        return _of_command(program, command, argv, rest)
    except ContextError:
        loses = is_lost("") and "file" not in [w.lstrip("-").partition("=")[0] for w in typed]
        if command and command.reads and loses:
            remark("the text that was piped in follows on stdout")
            _print(Answer(text=content("", exact=True), exact=True, verbatim=True))
        raise


def _of_command(
    program: Program, command: Command | None, argv: list[str], rest: list[str]
) -> tuple[Command, Arguments]:
    options = options_of(command) if command else ()
    words = _given_to_make(options) if command and "CONTEXTKIT_GIVEN" in os.environ else []
    argv, rest = [*argv, *words], [*rest, *words]
    asks_help = not commands.HELP.isdisjoint(rest)
    if command is None or asks_help or argv == ["--version"]:
        from contextkit.base import usage

        _print(Answer(text=usage.explained(program, command, argv)))
        raise SystemExit(0)
    raw = commands.read(options, rest)
    filled = {name for name, values in raw.items() if any(map(str.strip, values))}
    if lacks := [o for o in options if o.required and filled.isdisjoint((o.name, o.unless))]:
        from contextkit.base import usage

        raise usage.missing(program, command, lacks)
    return command, Arguments(**commands.typed(options, raw))


def _given_to_make(available: tuple[Option, ...]) -> list[str]:
    """The variables typed after `make target`, as the words of a command line.

    make passes all variables on in the environment, and the names of the typed ones in
    CONTEXTKIT_GIVEN. Both are removed there, so that no child process sees them. An unknown
    variable is refused.
    """
    typed = os.environ.pop("CONTEXTKIT_GIVEN").split()
    for name in ("MAKEFLAGS", "MFLAGS"):
        os.environ.pop(name, None)
    options = {option.name: option for option in available}
    if unknown := [name for name in typed if name not in options]:
        from contextkit.base import makefiles

        makefiles.refuse_unknown(unknown, list(options))
    words = [
        f"{options[name].spellings[0]}={os.environ.pop(name)}"
        for name in typed
        if name in options and name in os.environ
    ]
    sys.orig_argv += words  # for a process that restarts itself (`packages.py`)
    return words


def _print(answer: Answer) -> None:
    text = answer.text
    if not text:
        return
    if sys.stdout is None:
        raise ContextError("standard output is closed; the output is lost")  # `>&-`
    if not answer.verbatim:
        text = outgoing.told(text, _allowed, answer.quoted)
    elif sys.stdout.isatty():
        text = outgoing.visible(text)
    whereabouts.printed.extend([] if answer.verbatim else [text])
    try:
        sys.stdout.flush()
        whole = text if answer.exact or text.endswith("\n") else text + "\n"
        # A path may hold bytes that are not UTF-8: they are written unchanged.
        sys.stdout.buffer.write(whole.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe: `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
