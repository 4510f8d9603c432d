"""cli.py and usage.py: arguments in, text out, one way to fail."""

from __future__ import annotations

import argparse
import ast
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import launch_with_capsule
import pytest
from conftest import SCRIPTS, checked, each
from contextkit.base import cli, commands
from contextkit.base import commands as declared
from contextkit.base.commands import ROOT, Answer, Arguments, Option, Program, options_of
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from hypothesis import given
from hypothesis import strategies as st

TEXT = Option(name="topic", also=("t", "subject"), help="a text, up to 80 % of a line")
OPTIONS = (
    TEXT,
    Option(name="next_step", help="another text"),
    Option(name="depth", kind="whole", also=("levels",), help="a number"),
    Option(name="stub", kind="flag", also=("write-stub",), help="a flag"),
    Option(name="tags", kind="words", single="tag", help="words"),
    Option(name="files", kind="items", single="file-modified", help="items"),
    Option(name="type", choices=("here", "worktree"), help="a choice"),
    Option(name="id", positional=True, help="also without a name"),
)


def show(layout: Layout, args: Arguments) -> str:
    """What arrived, but for what is empty."""
    return repr({name: value for name, value in vars(args).items() if value})


def a_program(run: Callable[..., str | Answer] = show, *options: Option) -> Program:
    """A program of one command that needs no name."""
    command = declared.command("do it, at most 80 % of the time", *(options or OPTIONS))(run)
    return Program(name="tool", about="Does it.", default=command.name, commands=(command,))


class Called:
    """`called("--topic=x")`: the status; `out` and `err` hold what was printed."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str, program: Program | None = None) -> int:
        status = cli.run(program or a_program(), list(arguments))
        self.out, self.err = self._capture.readouterr()
        return status


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Called:
    return Called(capsys)


# One reader, the language of argparse


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["", " ", "-", "--", "-x", "--topic=y", "a=b", "a | b\nc", "a,b c", "-5", "{x}", "%s"]
)
separate = texts.filter(lambda text: not text.startswith("-")) | st.sampled_from(
    ["-", "-5", "-.5", "-a b"]
)  # as a word of its own


def spelled(option: Option) -> list[str]:
    return [*option.spellings, *([f"--{option.single}"] if option.single else [])]


@st.composite
def calls(draw: st.DrawFn) -> list[str]:
    """Well-formed arguments of `OPTIONS`, the positional anywhere among them."""
    flag = st.sampled_from(["", "0", "1", "no", "perhaps", "a b"])
    words: list[list[str]] = []
    for option in draw(st.lists(st.sampled_from([*OPTIONS, ROOT]), max_size=6)):
        spelling = draw(st.sampled_from(spelled(option)))
        if len(spelling) == 2 and draw(st.booleans()):
            words.append([f"{spelling}{draw(texts.filter(bool))}"])
        elif draw(st.booleans()):
            words.append([f"{spelling}={draw(flag if option.kind == 'flag' else texts)}"])
        elif option.kind == "flag":
            words.append([spelling])
        else:
            words.append([spelling, draw(separate)])
    if not any(word[0].startswith("--id") for word in words) and draw(st.booleans()):
        words.insert(
            draw(st.integers(0, len(words))), [draw(separate.filter(lambda w: w != "show"))]
        )
    return [part for word in words for part in word]


def make_pair(spelling: str, text: str) -> tuple[str, str]:
    return spelling, text


def read_by_argparse(words: list[str]) -> commands.Raw:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for option in (*OPTIONS, ROOT):
        for spelling in spelled(option):
            parser.add_argument(
                spelling,
                dest=option.name,
                action="append",
                type=partial(make_pair, spelling),
            )
    bare = {"--stub", "--write-stub"}
    found, rest = parser.parse_known_args([f"{w}=1" if w in bare else w for w in words])
    raw: commands.Raw = {}
    for option in (*OPTIONS, ROOT):
        for word in rest if option.positional else ():
            commands.add_value(raw, option, "", word)
        for pair in getattr(found, option.name) or ():
            spelling, text = pair or ("", "--")  # it makes [] of `=--`
            commands.add_value(raw, option, spelling, text)
    return raw


@given(calls())
def test_a_call_is_read_as_argparse_reads_it(words: list[str]) -> None:
    assert commands.read((*OPTIONS, ROOT), words) == read_by_argparse(words)


@each(
    ("words", "topic"),
    [
        (["-t", "x"], "x"),
        (["-tx"], "x"),
        (["--topic", "-"], "-"),
        (["--topic", "-a b"], "-a b"),
        (["--topic", "-5"], "-5"),
        (["show", "--topic=x"], "x"),
        (["--topic=a", "--subject", "b"], "b"),
        (["--topic=--help"], "--help"),
    ],
)
def test_an_unusual_call_is_understood_all_the_same(
    words: list[str], topic: str, called: Called
) -> None:
    assert (called(*words), called.out, called.err) == (0, f"{{'topic': {topic!r}}}\n", "")


# What is typed becomes what it stands for


def typed(*words: str) -> dict[str, Any]:
    raw = commands.read(options_of(a_program().commands[0]), list(words))
    assert raw is not None
    return commands.typed(options_of(a_program().commands[0]), raw)


def test_what_is_not_given_is_empty_of_its_kind() -> None:
    assert typed() == {
        "topic": "", "next_step": "", "depth": None, "stub": False, "tags": (), "files": (),
        "type": "", "id": "", "root": "",
    }  # fmt: skip
    assert typed("--depth=", "--stub=", "--tags=", "--files=", "--type=", "--id=") == typed()


@each(
    ("expected", "said"),
    [(True, ["1", "yes", "TRUE", "on"]), (False, ["", "0", "no", "False", "off"])],
)
def test_a_flag_says_yes_or_no(expected: bool, said: list[str]) -> None:
    assert [typed(f"--stub={word}")["stub"] for word in said] == [expected] * len(said)
    assert typed("--stub")["stub"] is True


@each(
    ("words", "expected"),
    [
        (["--tags=a,b  c", "--tag=d, e"], ("a", "b", "c", "d, e")),
        (["--tag=d", "--tags=a"], ("d", "a")),
        (["--tags= , ", "--tag= "], ()),
    ],
)
def test_words_are_separated_by_blanks_or_commas(words: list[str], expected: object) -> None:
    assert typed(*words)["tags"] == expected


@each(
    ("words", "expected"),
    [
        (["--files=a b | c,d\n e \n\n|f | "], ("a b", "c,d", "e", "|f")),
        (["--file-modified=a | b", "--files=c"], ("a | b", "c")),
        (["--file-modified= a\nb "], (" a\nb ",)),
        (["--files= | \n"], ()),
    ],
)
def test_items_are_lines_or_separated_by_bars(words: list[str], expected: object) -> None:
    assert typed(*words)["files"] == expected


@each(("text", "number"), [("1", 1), ("0010", 10), ("9" * 18, 10**18 - 1)])
def test_a_whole_number_starts_at_one(text: str, number: int) -> None:
    assert typed(f"--depth={text}")["depth"] == number


@each(
    ("word", "complaint"),
    [
        *((f"--depth={n}", f"depth={n}: must be a whole number from 1")
          for n in ("0", "00", "-1", "1.5", "1e3", " 1", "many", "٣")),
        (f"--depth={'9' * 5000}", f"depth={'9' * 53}…{'9' * 26}: must be a whole number from 1"),
        ("--stub=maybe", "stub=maybe: write 1 for yes, 0 for no"),
        ("--type=there", "type=there: must be one of here, worktree"),
        ("--topic=caf\udce9", "topic: is not valid UTF-8"),
        ("--tag=caf\udce9", "tags: is not valid UTF-8"),
        ("--root=nowhere", "root: 'nowhere' is not a folder"),
        ("--topik=x", "there is no option --topik (did you mean 'topic'?)"),
        ("--to=x", "there is no option --to"),
        ("--zzz", "there is no option --zzz"),
        ("--topic", "--topic lacks its value: write --topic=…"),
        ("-t", "-t lacks its value: write -t=…"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_and_nothing_is_done(word: str, complaint: str, called: Called) -> None:
    assert called(word, program=a_program(lambda *_: pytest.fail(), *OPTIONS[:-1])) == 2
    assert called.out == ""
    assert called.err.startswith(f"tool: {complaint}")
    assert all(line.startswith("tool: ") for line in called.err.splitlines())


@pytest.mark.parametrize(
    ("word", "advice"), [("topic=x", "write --topic=x"), ("topic", "write --name=…")]
)
def test_a_word_that_belongs_to_nothing_gets_advice(word: str, advice: str, called: Called) -> None:
    assert called(word, program=a_program(show, TEXT)) == 2
    assert called.err == f"tool: {word!r} is not an option: {advice}\n"


@each("words", [[], ["--m="], ["--message= \n"], ["-m", " "]])
def test_a_required_option_must_say_something(words: list[str], called: Called) -> None:
    needed = Option(name="m", also=("message",), required=True, help="what to keep")
    assert called(*words, program=a_program(show, needed, TEXT)) == 2
    if words != ["--m="]:  # the short name has one dash
        assert called.err == (
            "tool: m= is missing or blank: what to keep\n"
            "tool: usage: tool.py show --message=… [--topic=…]\n"
        )
    assert called.out == ""


def test_a_program_of_several_commands_asks_for_one(called: Called) -> None:
    def list_(layout: Layout, args: Arguments) -> str:
        return "listed"

    commands = (*a_program().commands, declared.command("list")(list_))
    program = Program(name="tool", about="", commands=commands)
    assert (called("list", program=program), called.out) == (0, "listed\n")
    for words, problem in (
        ([], "name a command: show, list"),
        (["lisst"], "there is no command 'lisst' (did you mean 'list'?): show, list"),
        (["--topic=x"], "name a command: show, list"),
    ):
        assert (called(*words, program=program), called.out) == (2, "")
        assert called.err == f"tool: {problem}\ntool: Try: tool --help\n"


def test_a_variable_that_make_passed_on_unasked_is_refused(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTKIT_GIVEN", "topic V topik")
    assert (called("--topic=x"), called.out) == (2, "")
    assert called.err.startswith("tool: there is no variable topik= (did you mean 'topic'?)")
    assert "CONTEXTKIT_GIVEN" not in os.environ


def test_what_was_typed_to_make_is_taken_from_the_environment(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []

    def look(layout: Layout, args: Arguments) -> str:
        seen.append(dict(os.environ))
        return show(layout, args)

    def made(given: str, **typed: str) -> int:
        monkeypatch.setenv("CONTEXTKIT_GIVEN", given)
        monkeypatch.setenv("MAKEFLAGS", "s -- topic=x")
        for name, value in typed.items():
            monkeypatch.setenv(name, value)
        return called(program=a_program(look, *OPTIONS))

    assert made("topic tags stub V", topic="--help", tags="a,b", stub="0", id="leaked") == 0
    assert called.out == "{'topic': '--help', 'tags': ('a', 'b')}\n"
    assert made("next_step", next_step="$(x)\n y", files="leaked") == 0
    assert called.out == "{'next_step': '$(x)\\n y'}\n"
    taken = {"topic", "tags", "stub", "next_step", "CONTEXTKIT_GIVEN", "MAKEFLAGS"}
    assert not taken & seen[0].keys() - {"next_step"} and not taken & seen[1].keys()
    assert seen[1]["id"] == "leaked"
    assert (made("", topic="leaked"), called.out) == (0, "{}\n")
    assert (made("depth", depth="many"), called.out) == (2, "")
    assert called.err == "tool: depth=many: must be a whole number from 1\n"


def test_a_name_of_one_letter_is_typed_to_make_too(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = Option(name="m", also=("message",), required=True, help="what to keep")
    for value in ("=x", "-x", "a b\n", "--"):
        monkeypatch.setenv("CONTEXTKIT_GIVEN", "m")
        monkeypatch.setenv("m", value)
        assert called(program=a_program(show, needed, TEXT)) == 0
        assert called.out == f"{ {'m': value} }\n"


def test_short_options_need_no_argparse() -> None:
    command = program_of("return str('argparse' in sys.modules) + ' ' + args.topic")
    for words in (["-t", "x y"], ["-tx y"], ["-t=x y"], ["-t", "a", "--topic=x y"]):
        assert process([*command, *words]).stdout == b"False x y\n"


def test_a_package_that_is_missing_is_said_before_anything_is_done(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTKIT_RESTARTED", "1")
    command = declared.command("", needs=("no_such_package",))(lambda *_: pytest.fail())
    program = Program(name="tool", about="", default=command.name, commands=(command,))
    assert called(program=program) == 1
    assert "the package no_such_package is missing" in called.err


# Text out, statuses, failures


def raising(error: BaseException) -> Program:
    def fail(layout: Layout, args: Arguments) -> str:
        raise error

    return a_program(fail)


@each(
    ("answer", "status", "out"),
    [
        ("text", 0, "text\n"),
        ("text\n", 0, "text\n"),
        ("text\n\n", 0, "text\n\n"),
        ("", 0, ""),
        (Answer(text="stale", status=1), 1, "stale\n"),
        (Answer(text="late", status=3), 3, "late\n"),
        (Answer(text="whole", exact=True), 0, "whole"),
    ],
)
def test_what_a_command_returns_is_on_stdout_and_nothing_else(
    answer: str | Answer, status: int, out: str, called: Called
) -> None:
    def talk(layout: Layout, args: Arguments) -> str | Answer:
        cli.say("one\ntwo")
        return answer

    assert called(program=a_program(talk)) == status
    assert (called.out, called.err) == (out, "tool: one\ntool: two\n")


@each(
    ("error", "status", "said"),
    [
        (ContextError("not\nso"), 1, "tool: not\ntool: so\n"),
        (bad_input("m: blank"), 2, "tool: m: blank\n"),
        (ContextError("too late", status=3), 3, "tool: too late\n"),
        (FileNotFoundError(2, "Not there", "a/b"), 1, "tool: a/b: Not there\n"),
        (PermissionError("no"), 1, "tool: output: no\n"),
    ],
)  # fmt: skip
def test_a_failure_is_a_sentence_and_a_status(
    error: Exception, status: int, said: str, called: Called
) -> None:
    assert called(program=raising(error)) == status
    assert (called.out, called.err) == ("", said)


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        cli.run(raising(ZeroDivisionError()), [])


# Standard input


@pytest.mark.parametrize("kind", ["pipe", "socket", "file"])
def test_a_text_may_come_by_pipe_socket_or_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = socket.socketpair()
    reading, writing = os.pipe()
    path = tmp_path / "text"
    path.touch()
    with (
        one, other, one.makefile(encoding="utf-8") as wire, open(writing, "w", encoding="utf-8"),
        open(reading, encoding="utf-8") as pipe, path.open(encoding="utf-8") as file,
    ):  # fmt: skip
        monkeypatch.setattr(sys, "stdin", {"pipe": pipe, "socket": wire, "file": file}[kind])
        assert cli.is_piped()


def test_none_comes_from_a_device_or_without_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not cli.is_piped()
    with open(os.devnull, encoding="utf-8") as device:
        monkeypatch.setattr(sys, "stdin", device)
        assert not cli.is_piped()


# Help


@each("words", [["--help"], ["-h"], ["show", "--help"], ["--topic=x", "--help"]])
def test_help_names_every_option(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.run(a_program(), words)
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (0, "")
    assert "at most 80 % of the time" in out and "up to 80 % of a line" in out
    assert all(s in out for option in OPTIONS for s in option.spellings)
    assert out.startswith("usage: tool.py show [--topic=…] [--next-step=…] ")
    assert "  --file-modified    one of them; may be repeated (--files: all in one)\n" in out
    assert "  --id               also without a name (also without its name)\n" in out
    assert all(len(line) < 80 for line in out.split("\n"))


def programs() -> list[Program]:
    return [commands.program(script) for script in commands.SCRIPTS] + [launch_with_capsule.PROGRAM]


@each("program", programs())
def test_a_program_is_made_of_valid_records(program: Program) -> None:
    options = [option for command in program.every() for option in options_of(command)]
    for one in (program, *program.every(), *options):
        checked(one)


@each("program", programs())
def test_every_command_has_help_and_one_meaning_for_each_option(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in program.every():
        with pytest.raises(SystemExit) as end:
            cli.run(program, [command.name, "--help"])
        assert end.value.code == 0 and command.help in " ".join(capsys.readouterr().out.split())
        options = options_of(command)
        every = [s for o in options for s in spelled(o)]
        assert len(every) == len(set(every)) and {o.kind for o in options} <= set(
            ("text", "whole", "flag", "words", "items", "paths")
        )
    assert not program.default or program.default in [c.name for c in program.every()]


def test_everything_that_a_call_lacks_is_named(called: Called) -> None:
    options = (
        Option(name="topic", help="a text", required=True),
        Option(name="phase", help="where", required=True, unless="to"),
        Option(name="to", help="where next"),
    )
    program = a_program(show, *options)
    assert called(program=program) == 2
    assert called.err.split("\n")[:2] == [
        "tool: topic= is missing or blank: a text", "tool: phase= is missing or blank: where"
    ]  # fmt: skip
    assert called("--topic= ", "--to=b", program=program) == 2 and "phase= is" not in called.err
    assert called("--topic=a", "--to= ", program=program) == 2 and "topic= is" not in called.err
    assert called("--topic=a", "--to=b", program=program) == 0


def test_a_call_that_lacks_something_is_shown_as_it_is_made_here(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = a_program(show, Option(name="topic", help="a text", required=True))
    for command in ("make", "/opt/bin/contextkit"):
        monkeypatch.setenv("CONTEXTKIT_COMMAND", command)
        monkeypatch.setenv("CONTEXTKIT_GOALS", "payload_store")
        monkeypatch.setenv("CONTEXTKIT_GIVEN", "")
        assert called(program=program) == 2
        assert f"payload_store: usage: {command} payload_store topic=…\n" in called.err


# Real processes


def program_of(body: str) -> list[str]:
    """The command line of a program whose only command does `body`."""
    code = (
        "import sys\nfrom contextkit import leave\nfrom contextkit.base import cli\n"
        "from contextkit.base.commands import *\n"
        "options = (Option(name='topic', also=('t',), help='t'), Option(name='file', help='f'))\n"
        f"@command('h', *options)\ndef go(layout, args):\n    {body}\n"
        "leave(cli.run(Program(name='tool', about='', default='go', commands=(go,))))\n"
    )
    return [sys.executable, "-c", code]


def process(
    command: Sequence[str | bytes], stdin: bytes = b"", locale: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    everything = {**os.environ, "PYTHONPATH": str(SCRIPTS), **(locale or {})}
    return subprocess.run(command, input=stdin, capture_output=True, env=everything, check=False)


def test_a_reader_that_had_enough_is_no_failure() -> None:
    command = program_of("return 'line\\n' * 200_000")
    piped = '{ "$@"; echo $? > status; } | head -1'
    done = process(["sh", "-c", piped, "sh", *command])
    assert (done.stdout, done.stderr) == (b"line\n", b"")
    assert Path("status").read_text(encoding="utf-8") == "0\n"


def test_a_full_disk_is_said() -> None:
    command = program_of("return 'line\\n' * 200_000")
    done = process(["sh", "-c", '"$@" > /dev/full', "sh", *command])
    assert (done.returncode, done.stderr) == (1, b"tool: output: No space left on device\n")


ASCII = {"LC_ALL": "C"}
FORCED = {
    **ASCII,
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}  # what python does not fix itself


@each("locale", [ASCII, FORCED])
def test_in_an_ascii_locale_text_is_utf_8_all_the_same(locale: dict[str, str]) -> None:
    command = program_of("cli.say('said: ' + args.topic)\n    return args.topic + ' \\u2026'")
    done = process([*command, "--topic=Grüße 你好 🚀"], locale=locale)
    assert (done.returncode, done.stdout.decode("utf-8")) == (0, "Grüße 你好 🚀 …\n")
    assert done.stderr.startswith(b"tool: said: Gr")


@each("locale", [ASCII, FORCED])
def test_an_argument_that_is_no_utf_8_is_refused(locale: dict[str, str]) -> None:
    done = process([*program_of("return 'done'"), b"--topic=caf\xe9"], locale=locale)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"tool: topic: is not valid UTF-8\n"


def test_a_path_that_is_no_utf_8_goes_out_as_it_is() -> None:
    os.mkdir(b"caf\xe9")
    done = process(["sh", "-c", 'cd caf*; "$@"', "sh", *program_of("return layout.root")])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"/caf\xe9\n")


def test_an_interrupted_command_dies_of_the_interrupt() -> None:
    done = process(program_of("raise KeyboardInterrupt"))
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


CONTENT = "return Answer(text=cli.content(args.file), exact=True)"


def test_content_is_a_file_or_standard_input_to_the_last_byte() -> None:
    Path("text.md").write_bytes(b"of the file\r\n")
    assert process([*program_of(CONTENT), "--file=text.md"], b"piped").stdout == b"of the file\r\n"
    for words in ([], ["--file=-"], ["--file", "-"]):
        assert process([*program_of(CONTENT), *words], b"piped\r\n\n").stdout == b"piped\r\n\n"


def test_content_that_cannot_be_had_is_bad_input() -> None:
    nothing = process(["sh", "-c", '"$@" <&-', "sh", *program_of(CONTENT)])
    assert (nothing.returncode, nothing.stderr) == (
        2,
        b"tool: file: give file=FILE or pipe the text in\n",
    )
    odd = process(program_of(CONTENT), b"caf\xe9")
    assert odd.stderr == b"tool: file: standard input is not UTF-8 (byte 3)\n"
    gone = process([*program_of(CONTENT), "--file=gone.md"])
    assert b"gone.md: cannot be read" in gone.stderr and gone.stdout == b""


def test_waiting_for_standard_input_is_said() -> None:
    with subprocess.Popen(
        program_of(CONTENT), env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as waiting:  # fmt: skip
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == "tool: reading standard input …\n".encode()
        out, err = waiting.communicate(b"late")
    assert (waiting.returncode, out, err) == (0, b"late", b"")


# What a message quotes

HOSTILE = "\x1b[31m\x07" + "x" * 700 + "\n\u202e\r\x9b" * 25


SAYS = re.compile(r"\b(ContextError|bad_input|say|say_each)\(")


def messages() -> list[tuple[str, str]]:
    """Every message in the code, where it stands and with a hostile text for each value in it."""
    found = []
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.rglob("*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if SAYS.search(text) else ():
            if isinstance(node, ast.Call) and node.args:
                named = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
                name = named.id if isinstance(named, ast.Name) else named
                if name and SAYS.match(f"{name}("):
                    found.append((f"{path.name}:{node.lineno}", filled(node.args[0])))
    return found


def filled(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(filled, node.values))
    if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
        return repr(HOSTILE)
    return HOSTILE


def test_no_message_moves_a_terminal_or_repeats_a_huge_value(called: Called) -> None:
    found = messages()
    assert len(found) > 200
    for where, message in found:
        assert called(program=raising(ContextError(message))) == 1
        lines = called.err.splitlines()
        assert 0 < len(lines) <= 21, where
        for line in lines:
            assert line.startswith("tool: ") and line.isprintable() and len(line) < 620, where
        last = message.splitlines()[-1:] or [""]
        assert last[0][-20:].isprintable() <= (last[0][-20:] in lines[-1]), where


def test_a_refusal_says_something_whatever_is_wrong(called: Called) -> None:
    for error in (ContextError(""), ContextError("\n"), OSError()):
        assert called(program=raising(error)) == 1
        assert called.err.removeprefix("tool: ").strip()


@each("kind", ["topic", "depth", "stub", "type", "root", "topik"])
def test_a_hostile_argument_is_quoted_in_brief(kind: str, called: Called) -> None:
    value = HOSTILE.replace("\x00", "")
    called(f"--{kind}={value}")
    assert called.err.isascii() or "\x1b" not in called.err
    assert len(called.err) < 1200 and "\x1b" not in called.err
    if kind != "topic":
        assert called.err.startswith("tool: ") and called.err.count("\n") <= 3


# Closed standard streams


@each("redirected", [">&-", "<&- >&-"])
def test_a_closed_output_is_said(redirected: str) -> None:
    done = process(["sh", "-c", f'"$@" {redirected}', "sh", *program_of("return 'text'")])
    said = b"tool: standard output is closed; the output is lost\n"
    assert (done.returncode, done.stderr) == (1, said)


@each("redirected", ["2>&-", "2>/dev/full"])
def test_without_anybody_to_talk_to_the_work_is_done(redirected: str) -> None:
    command = program_of("cli.say('talk')\n    return 'text'")
    done = process(["sh", "-c", f'"$@" {redirected}', "sh", *command])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"text\n", b"")


def test_no_file_takes_the_number_of_a_closed_stream() -> None:
    command = program_of("return str(open('f', 'w').fileno() > 2)")
    done = process(["sh", "-c", '"$@" <&- 2>&-', "sh", *command])
    assert done.stdout == b"True\n"


@each("words", [["--help"], ["--version"], ["show", "--help"]])
def test_help_into_a_full_or_closed_output_has_no_traceback(words: list[str]) -> None:
    for redirected in (">/dev/full", ">&-"):
        command = [sys.executable, str(SCRIPTS / "handoff.py"), *words]
        done = process(["sh", "-c", f'"$@" {redirected}', "sh", *command])
        assert b"Traceback" not in done.stderr and b"Exception" not in done.stderr


def test_every_command_names_what_it_lacks(called: Called) -> None:
    for script in declared.SCRIPTS:
        program = declared.program(script)
        for command in program.every():
            lacking = [option.name for option in command.options if option.required]
            if lacking:
                assert called(command.name, program=program) == 2
                assert f"{lacking[0]}= is missing or blank" in called.err, command.name


def test_commands_that_take_long_to_load_come_after_the_others() -> None:
    verdict = declared.program("verdict")
    every = [command.name for command in verdict.every()]
    assert every[: len(verdict.commands)] == [command.name for command in verdict.commands]
    assert "table" in every[: len(verdict.commands)] and "ingest" in every[len(verdict.commands) :]
