"""run.py as a host or a person starts it: a real process around real commands."""

from __future__ import annotations

import errno
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import MANY, SCRIPTS, each, until
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.outputs.flows import pump, running, telling
from contextkit.payloads.documents import store as payloads
from contextkit.text.digests import pieces

RUN = [sys.executable, "-S", str(SCRIPTS / "run.py")]
LONG = "seq -f 'line %g of a long output' 1 3000"
DEEP = "line 1577 of"
FAILING = f"{LONG}; echo 'FAILED tests/test_a.py::test_b - assert 1 == 2' >&2; exit 3"


def run(*words: str, given: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*RUN, *words], input=given, capture_output=True, encoding="utf-8",
        errors="surrogateescape", timeout=60, **more,
    )  # fmt: skip
    return done


def sunk(command: str, shell: str = "/bin/sh", **more: Any) -> subprocess.CompletedProcess[str]:
    """What a shell prints for a command that the hooks put us behind."""
    sink = shlex.join([*RUN, "--sink=m4rk", "--session=s-1"])
    text = f"{{ exec 2>&1; ( {command}\n); printf '\\0m4rk:%s\\n' \"$?\"; }} | {sink}"
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [shell, "-c", text], capture_output=True, encoding="utf-8", timeout=60, **more,
    )  # fmt: skip
    return done


def stored(layout: Layout) -> list[payloads.Payload]:
    return [payload for _, payload in payloads.load_all(layout)]


def leftovers(layout: Layout) -> list[str]:
    folder = Path(layout.state) / "outputs"
    return [path.name for path in folder.iterdir()] if folder.exists() else []


@each("status", [0, 1, 3, 77, 255])
def test_short_output_passes_byte_for_byte_on_both_streams(repo: Path, status: int) -> None:
    done = run("sh", "-c", f"printf 'a\\tb'; printf '\\303\\n\\0e' >&2; exit {status}")
    assert (done.stdout, done.stderr, done.returncode) == ("a\tb", "\udcc3\n\0e", status)
    assert not (repo / "shared").exists() and not (repo / ".contextkit").exists()


def test_in_a_subfolder_it_is_said_where_the_path_begins(layout: Layout) -> None:
    (below := Path(layout.root, "below")).mkdir()
    first, *_, last = run("--", LONG, cwd=below).stdout.splitlines()
    assert first.endswith(f"; lines as in @stored in {layout.root}]")
    assert Path(layout.root, last.removeprefix("@stored: ")).is_file()
    assert run("--", LONG).stdout.splitlines()[0].endswith("; lines as in @stored]")


@pytest.mark.parametrize("status", [0, 3])
def test_a_long_output_is_told_whether_it_fails_or_passes(layout: Layout, status: int) -> None:
    done = run("--", f"{FAILING[:-1]}{status}")
    (payload,) = stored(layout)
    assert done.returncode == status and payload.content.count("\n") == 3001
    first, *others, last = done.stdout.splitlines()
    assert first.startswith(f"[exit {status} after ") and "3,001 lines" in first
    assert "test_b - assert 1 == 2" in "\n".join(others) and DEEP not in done.stdout
    path = last.rstrip("]").rpartition(" ")[2]
    numbered = next(line for line in others if "test_b" in line).partition(":")[0]
    told = Path(path).read_text(encoding="utf-8").splitlines()[int(numbered) - 1]
    assert told == "FAILED tests/test_a.py::test_b - assert 1 == 2"
    assert leftovers(layout) == []


def test_a_line_that_is_only_counted_has_its_number_in_the_file(layout: Layout) -> None:
    (Path(layout.root) / "many.py").write_text(
        "import hashlib\nprint('begin\\n' * 40)\nfor n in range(300):\n"
        "    word = hashlib.md5(b'%d' % n).hexdigest()\n"
        "    word = word.translate({48 + i: 103 + i for i in range(10)})\n"
        "    print(word, word[::-1], 'could not be told of', word[3:9], 'and its parts')\n"
    )
    done = run("--", f"{shlex.quote(sys.executable)} many.py; false")
    said = re.search(r"with failure words, first at (\d+)", done.stdout)
    (path,) = [line[9:] for line in done.stdout.splitlines() if line.startswith("@stored: ")]
    assert said, done.stdout
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    assert "could not" in lines[int(said[1]) - 1]


def test_of_a_text_that_says_nothing_its_beginning_is_told(layout: Layout) -> None:
    done = run("--", "echo; printf 'x%.0s' $(seq 40000)")
    head, body, _ = done.stdout.splitlines()
    assert "2 lines" in head and body == f"18: {'x' * 99}…"


def test_one_text_is_for_the_users_shell_and_words_are_a_program(repo: Path) -> None:
    assert run("echo $0; echo 'a  b'", env={**os.environ, "SHELL": "/bin/bash"}).stdout == (
        "/bin/bash\na  b\n"
    )
    assert run("printf", "%s|", "a  b", "$HOME").stdout == "a  b|$HOME|"
    assert run("--", "printf", "--", "-x").stdout == "-x"


@pytest.mark.parametrize(("program", "status"), [("no-such-program", 127), ("./plain", 126)])
def test_what_cannot_start_says_so_as_a_shell_does(repo: Path, program: str, status: int) -> None:
    (repo / "plain").write_text("echo hi\n", encoding="utf-8")
    done = run(program, "x")
    assert done.returncode == status and program in done.stderr


def test_a_script_without_a_first_line_is_for_the_shell(repo: Path) -> None:
    (repo / "plain").write_text("echo hi $1\n", encoding="utf-8")
    (repo / "plain").chmod(0o755)
    assert run("./plain", "you").stdout == "hi you\n"


@each("number", [1, 2, 6, 9, 11, 13, 15])
def test_it_dies_of_what_its_command_died_of(repo: Path, number: int) -> None:
    assert run("sh", "-c", f"kill -{number} $$").returncode == -number


def test_where_children_are_ignored_the_status_is_still_the_commands(repo: Path) -> None:
    ignored = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    ours = [sys.executable, str(SCRIPTS / "run.py"), "--", "sh", "-c", "echo said; exit 3"]
    words = [sys.executable, "-c", f"{ignored}; os.execv(sys.argv[1], sys.argv[1:])", *ours]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=repo)
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "")


def test_standard_input_and_surroundings_are_the_commands_own(repo: Path) -> None:
    command = "read a; echo $a $X; pwd; cut -d' ' -f5 /proc/$$/stat"
    done = run("sh", "-c", command, given="typed\n", env={**os.environ, "X": "y"})
    group = os.getpgid(0)
    assert done.stdout.split() == ["typed", "y", str(repo), str(group)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_reaches_the_command_and_what_came_so_far_is_told(
    layout: Layout, number: signal.Signals
) -> None:
    command = f"{LONG}; echo READY; exec sleep 600"
    process = subprocess.Popen(
        [*RUN, "--", command], stdout=subprocess.PIPE, start_new_session=True
    )
    until(lambda: "READY" in "".join(p.read_text() for p in kept(layout)))
    os.killpg(process.pid, number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -number
    assert f"killed by {number.name}".encode() in out and DEEP in stored(layout)[0].content


def test_after_a_kill_the_output_so_far_is_on_disk(layout: Layout) -> None:
    process = subprocess.Popen(
        [*RUN, "--", f"{LONG}; echo READY; sleep 600"], stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    until(lambda: "READY" in "".join(p.read_text() for p in kept(layout)))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    (path,) = kept(layout)
    assert DEEP in path.read_text()
    told = run("--", LONG).stdout
    assert f"cut off when its run was killed: {layout.shown(str(path))[:-4]}.left" in told
    assert DEEP in path.with_suffix(".left").read_text()
    assert "cut off" not in run("--", LONG).stdout
    os.utime(path.with_suffix(".left"), (1, 1))
    run("--", LONG)
    assert not path.with_suffix(".left").exists()


def kept(layout: Layout) -> list[Path]:
    folder = Path(layout.state) / "outputs"
    return sorted(folder.glob("*.out")) if folder.exists() else []


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_behind_a_command_it_keeps_status_order_and_bytes(repo: Path, shell: str) -> None:
    done = sunk("echo one; echo two >&2; echo three; exit 9", shell)
    assert (done.stdout, done.returncode) == ("one\ntwo\nthree\n", 9)
    done = sunk("exit 3", shell)
    assert (done.stdout, done.returncode) == ("", 3)
    done = sunk("kill -9 $(exec sh -c 'echo $PPID')", shell)
    assert done.returncode == 137


def test_behind_a_command_it_tells_what_is_long(layout: Layout) -> None:
    done = sunk(FAILING)
    assert done.returncode == 3 and done.stdout.startswith("[exit 3 after ")
    assert "test_b - assert 1 == 2" in done.stdout and DEEP not in done.stdout
    assert DEEP in stored(layout)[0].content and "m4rk" not in stored(layout)[0].content


@pytest.mark.parametrize("how", [[], ["--sink"]])
def test_a_process_left_behind_is_not_waited_for_nor_ended(repo: Path, how: list[str]) -> None:
    waits = "until [ -e go ]; do sleep 0.05; done"
    command = f"({waits}; echo late; touch done) & echo early"
    done = sunk(command) if how else run("--", command)
    assert (done.stdout, done.returncode) == ("early\n", 0)
    (repo / "go").touch()
    until((repo / "done").exists)


def test_an_output_that_another_run_tells_of_is_no_trouble(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(layout.state, pump.FOLDER)
    folder.mkdir(parents=True)
    (folder / "4194300-abc.out").write_text("x", encoding="utf-8")  # above every process

    def gone(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "replace", gone)
    assert telling._left_behind(layout) == []


def test_a_question_is_shown_although_more_may_come(repo: Path) -> None:
    process = subprocess.Popen(
        [*RUN, "--", "printf 'Go on? '; read a; echo $a"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin and process.stdout
    assert process.stdout.read(7) == b"Go on? "
    process.stdin.write(b"yes\n")
    process.stdin.close()
    assert process.stdout.read() == b"yes\n"
    process.wait()


def test_before_its_host_loses_patience_it_says_where_the_output_is(layout: Layout) -> None:
    process = subprocess.Popen(
        [*RUN, "--until=0.5", "--", f"{LONG}; until [ -e seen ]; do sleep 0.1; done"],
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    line = process.stdout.readline().decode()
    assert "still running" in line
    path = Path(line.rstrip("]\n").rpartition(" ")[2])
    while DEEP not in path.read_text(encoding="utf-8"):
        time.sleep(0.1)
    Path("seen").touch()
    assert b"exit 0" in process.stdout.read()
    process.wait()


QUICK = """\
import sys
sys.path.insert(0, sys.argv[1])
from contextkit.outputs.flows import running
running._PAUSE = 0.3
sys.exit(running.main(sys.argv[2:]))
"""


def paused(command: str) -> subprocess.Popen[bytes]:
    """A command that is taken for one that serves after a third of a second of silence."""
    words = [sys.executable, "-S", "-c", QUICK, str(SCRIPTS), "--", command]
    return subprocess.Popen(words, stdout=subprocess.PIPE)


def test_what_a_command_that_does_not_end_has_said_comes_through(repo: Path) -> None:
    process = paused("echo listening; until [ -e a ]; do sleep 0.1; done; echo GET /; sleep 60")
    assert process.stdout and process.stdout.readline() == b"listening\n"
    Path("a").touch()
    assert process.stdout.readline() == b"GET /\n"
    process.terminate()
    assert process.stdout.read() == b""  # nothing comes twice
    process.wait()


def test_of_a_long_output_it_is_said_once_where_it_is(layout: Layout) -> None:
    process = paused(f"echo first; sleep 1; {LONG}; until [ -e a ]; do sleep 0.1; done; exit 3")
    assert process.stdout and process.stdout.readline() == b"first\n"
    line = process.stdout.readline().decode()
    path = Path(line.rstrip("]\n").rpartition(" ")[2])
    assert "still running" in line and DEEP in path.read_text(encoding="utf-8")
    Path("a").touch()
    assert process.stdout.read().startswith(b"[exit 3 after ")
    process.wait()


def test_a_full_disk_does_not_stop_the_command(repo: Path) -> None:
    (repo / ".contextkit").write_text("in the way\n", encoding="utf-8")
    done = run("--", f"{LONG}; exit 5")
    assert (done.returncode, done.stdout.count("\n")) == (5, 3000)
    assert "not kept" in done.stderr


def test_a_file_size_limit_in_the_middle_loses_nothing(repo: Path) -> None:
    command = " ".join(f"'{word}'" for word in [*RUN, "--", "seq 1 100000"])
    done = subprocess.run(["bash", "-c", f"ulimit -f 64; {command}"], capture_output=True,
                          encoding="utf-8")  # fmt: skip
    assert done.stdout == "".join(f"{n}\n" for n in range(1, 100_001))
    assert "not kept" in done.stderr


@pytest.mark.parametrize("command", ["yes | head -c 300", LONG])
def test_a_reader_that_has_gone_is_no_mistake(repo: Path, command: str) -> None:
    line = shlex.join([*RUN, "--", command])
    done = subprocess.run(["sh", "-c", f"{line} | true"], capture_output=True, timeout=60)
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize("line", [f"{shlex.join([*RUN, '--', 'yes'])} | true",
                                  f"{shlex.join([*RUN, '--', 'yes; true'])} | true",
                                  f"yes | {shlex.join([*RUN, '--sink=x'])} | true"])  # fmt: skip
def test_a_command_whose_reader_has_gone_ends_as_without_us(repo: Path, line: str) -> None:
    asked = f"{line}; echo ${{PIPESTATUS[0]}} ${{PIPESTATUS[1]}}"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, timeout=60, encoding="utf-8")
    assert done.stderr == "" and done.stdout.startswith("141 ")


def test_a_command_that_writes_nothing_goes_on_without_a_reader(repo: Path) -> None:
    line = f"{shlex.join([*RUN, '--', 'sleep 0.2; exit 3'])} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, encoding="utf-8")
    assert done.stdout == "3\n"


def test_of_a_command_that_failed_without_a_word_the_end_is_told(layout: Layout) -> None:
    rows = "for n in $(seq 2000); do echo epoch $n loss 0.$((n*7%1000)) acc 0.$((n*3%997)); done"
    told = run("--", f"{rows}; exit 3").stdout.splitlines()
    assert any(line.endswith(": last line: epoch 2000 loss 0.0 acc 0.18") for line in told)


def test_bars_of_progress_are_told_as_they_were_last_seen(layout: Layout) -> None:
    bar = "for i in $(seq 1 3000); do printf '\\r\\033[32m%s%% done\\033[0m' $i; done; echo"
    done = run("--", f"{bar}; echo finished")
    assert "2999%" not in done.stdout and "\x1b" not in done.stdout and "\r" not in done.stdout
    assert "3000% done" in done.stdout and "2999%" in stored(layout)[0].content


@each(
    "command", ["head -c 300000 /dev/urandom", "head -c 100000 /dev/zero", "yes | head -n 90000",
                "head -c 200000 /dev/zero | tr '\\0' x", "yes '' | head -n 20000"],
)  # fmt: skip
def test_odd_outputs_are_told_in_few_bytes_or_passed_on_whole(repo: Path, command: str) -> None:
    done = run("--", command)
    plain = subprocess.run(["sh", "-c", command], capture_output=True).stdout
    assert done.returncode == 0
    whole = done.stdout.encode("utf-8", "surrogateescape")
    assert len(whole) < 6000 or len(whole) == len(plain)


def test_of_what_is_no_text_the_size_is_told(repo: Path) -> None:
    odd = "\\000\\033[1m\\r\\n" * 20
    done = run("--", f"for n in $(seq 999); do printf '{odd}'; done")
    assert "binary data, 139860 bytes, no text" in done.stdout
    assert "1 line, ~" in run("--", "head -c 99999 /dev/zero | tr '\\0' x").stdout


@each("at_once", [1, 77, 250, 300, 301, 1000, 1300, 5000])
@each("total", [0, 999, 1000, 1001, 1300, 1301, 1600, 5000])
def test_the_disk_is_bounded_and_the_gap_is_told(tmp_path: Path, at_once: int, total: int) -> None:
    kept_file = pump.Kept(str(tmp_path / "a.out"), first=1000, last=300)
    text = "".join(f"{n:04}\n" for n in range(1000)).encode()[:total]
    for at in range(0, len(text), at_once):
        kept_file.add(text[at : at + at_once])
    on_disk = sum(path.stat().st_size for path in tmp_path.iterdir())
    beginning, missing, end = kept_file.parts()
    assert on_disk <= 1000 + 300 and kept_file.size == total
    assert beginning == text[:1000] and end == text[1000:][-300:]
    assert missing == max(0, total - 1300)
    assert (tmp_path / "a.out").read_bytes() == text[:1000]
    kept_file.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [900, 1000, 1010])
def test_what_a_full_disk_did_not_take_is_not_kept_in_part(tmp_path: Path, before: int) -> None:
    import resource

    kept_file = pump.Kept(str(tmp_path / "a.out"), first=1000, last=300)
    kept_file.add(b"a" * before)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    noted = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (950 if before < 1000 else 20, limits[1]))
        with pytest.raises(OSError, match="too large"):
            kept_file.add(b"b" * 90)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, noted)
    beginning, missing, end = kept_file.parts()
    assert (beginning + end, missing) == (b"a" * before, 0)
    kept_file.add(b"c" * 20)
    assert b"".join((kept_file.parts()[0], kept_file.parts()[2])) == b"a" * before + b"c" * 20


@each("before", [1010, 1299, 1300, 1310, 1450])
@each("taken", [0, 5, 40])
def test_bytes_that_a_failed_addition_replaced_are_counted_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, taken: int
) -> None:
    kept_file = pump.Kept(str(tmp_path / "a.out"), first=1000, last=300)
    text = "".join(f"{n:04}\n" for n in range(1000)).encode()
    kept_file.add(text[:before])
    pwrite, left = os.pwrite, taken

    def fails_soon(file: int, data: bytes, place: int) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        added = pwrite(file, data[:left], place)
        left -= added
        return added

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr(os, "pwrite", fails_soon)
        kept_file.add(b"b" * 90)
    beginning, missing, end = kept_file.parts()
    assert beginning == text[:1000] and text[:before].endswith(end) and b"b" not in end
    assert missing == max(0, before + taken - 1300)
    assert len(beginning) + missing + len(end) == before
    kept_file.remove()


@each("cut", range(0, 9))
def test_a_mark_is_found_wherever_a_read_ends(cut: int) -> None:
    from contextkit.outputs.flows import pump

    data = b"ab\0\0m:12\nlate"
    ending = pump.Ending("m")
    out = ending.without(data[:cut]) + ending.without(data[cut:]) + ending.rest()
    assert (out, ending.status) == (b"ab\0late", 12)


def test_what_only_looks_like_a_mark_is_output() -> None:
    from contextkit.outputs.flows import pump

    ending = pump.Ending("mark")
    out = ending.without(b"a\0ma") + ending.without(b"x\0mark") + ending.rest()
    assert (out, ending.status) == (b"a\0max\0mark", None)


def test_many_at_once_are_kept_each(layout: Layout) -> None:
    running = [
        subprocess.Popen([*RUN, f"--session=s-{n % 4}", "--", f"{LONG}; echo number {n}"],
                         stdout=subprocess.PIPE)
        for n in range(MANY)
    ]  # fmt: skip
    for process in running:
        assert b"exit 0" in process.communicate(timeout=60)[0]
    texts = [payload.content.splitlines()[-1] for payload in stored(layout)]
    assert sorted(texts) == sorted(f"number {n}" for n in range(MANY))


def test_nothing_to_run_is_said(repo: Path) -> None:
    done = run("--")
    assert done.returncode == 2 and "COMMAND" in done.stderr
    assert run("--help").stdout == run().stderr != ""


@pytest.mark.parametrize("words", [["true"], ["--sink=m", "--over=2000"]])
def test_around_a_short_command_nothing_dear_is_imported(repo: Path, words: list[str]) -> None:
    program = (
        "import sys, run\nstatus = run.main(sys.argv[1:])\n"
        "dear = {'re', 'json', 'subprocess', 'signal', 'typing', 'contextkit.base.layout'}\n"
        "print(sorted(dear & set(sys.modules)), status)\n"
    )
    said = []
    for _ in range(3):  # on a busy machine, it may not be short
        done = subprocess.run(
            [sys.executable, "-S", "-c", program, *words], input="\0m:0\n", capture_output=True,
            encoding="utf-8", env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        )  # fmt: skip
        said.append(done.stdout)
    assert "[] 0\n" in said


def test_around_the_hook_for_a_command_that_is_left_alone_neither(repo: Path) -> None:
    program = (
        "import sys, host_hook\nhost_hook.main(sys.argv[1:])\n"
        "dear = {'re', 'json', 'subprocess', 'typing', 'contextkit.base.tokens'}\n"
        "print(sorted(dear & set(sys.modules)))\n"
    )
    given = '{"tool_name": "Bash", "tool_input": {"command": "cat a.txt | head"}}'
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, "PreToolUse", "--host=claude"], input=given,
        capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )  # fmt: skip
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_in_a_sandbox_where_git_is_read_only_it_is_stored_all_the_same(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    from contextkit.base import files
    from contextkit.outputs.flows import telling

    def refused(path: str, text: str) -> str:
        raise OSError(number, "read-only", path)

    monkeypatch.setattr(files, "append", refused)
    told = telling.Told(content="x\n" * 9000, topic="t", source="run", session="s-1")
    assert "@stored: " in telling.digested(layout, told)
    assert len(stored(layout)) == 1


@pytest.mark.parametrize("call", ["run", "sink"])
def test_what_a_digest_took_in_the_context_is_in_the_history(layout: Layout, call: str) -> None:
    from contextkit.base import ledger

    done = run("--", LONG) if call == "run" else sunk(LONG)
    events = [one for one in ledger.read(layout) if one["event"] == ledger.RENDERED]
    assert [one["tokens"] for one in events] == [tokens.estimate(done.stdout)]
    [payload] = payloads.load_all(layout)
    assert payload[0].endswith(events[0]["ref"].partition("/")[2] + ".md")


@pytest.mark.parametrize("status", [0, 3])
def test_what_failed_comes_before_the_names_of_a_form_that_loses_nothing(
    layout: Layout, status: int
) -> None:
    names = [f"kept/in/a/folder/of/errors_{n % 5}/part_{n}.bin" for n in range(900)]
    last = ["copy: cannot open kept/key: Permission denied", "copy: 1 of 901 not copied, see above"]
    Path("out.txt").write_text("\n".join([*names, *last, ""]), encoding="utf-8")
    said = run("--", f"cat out.txt; exit {status}").stdout.splitlines()
    assert any(line.startswith("kept/in/a/folder/of/errors_0/: part_0.bin ") for line in said)
    assert ("917: copy: cannot open kept/key: Permission denied" in said[1]) == bool(status)
    assert said[2 if status else 1] == "900 paths in 5 folders"


def test_what_loses_nothing_is_told_where_as_much_output_would_pass(layout: Layout) -> None:
    names = [f"pkg_{n % 7}/module_of_{n}.py" for n in range(250)]
    status = "On branch main\nUntracked files:\n" + "".join(f"\t{name}\n" for name in names)
    Path("status.txt").write_text(status, encoding="utf-8")
    told = run("--", "cat status.txt").stdout
    assert all(f" {name.rpartition('/')[2]}" in told for name in names)
    assert 0.4 < tokens.estimate(told) / tokens.estimate(status) < 0.8


def test_where_that_is_too_much_the_names_are_counted_by_folder(layout: Layout) -> None:
    names = [f"pkg_{n % 7}/m{n}_{n * n}.py" for n in range(1400)]
    status = "On branch main\nUntracked files:\n" + "".join(f"\t{name}\n" for name in names)
    Path("status.txt").write_text(status, encoding="utf-8")
    lines = run("--", "cat status.txt").stdout.splitlines()
    assert lines[1:-1] == [
        *("On branch main", "Untracked files: 1400"), *(f"  pkg_{n}/: 200" for n in range(7)),
    ]  # fmt: skip


def test_of_a_failed_build_no_message_is_cut_where_there_is_room(layout: Layout) -> None:
    lines = []
    for n in range(10, 400):
        lines.append(f"gcc -Wall -O2 -Iinclude -Ithird_party/include -c src/part_{n}.c")
        if n in (40, 180, 320, 344):
            lines.append(f"src/part_{n}.c:{n}:9: warning: unused variable 'left_{n}' [-Wunused]")
        if n in (222, 333):
            lines.append(f"src/part_{n}.c:{n}:1: error: 'limit_{n}' undeclared (first use here)")
    text = "\n".join([*lines, "make: *** [Makefile:4: all] Error 2", ""])
    told = telling.Told(content=text, topic="t", source="run", session="s-1", status=2)
    said = telling.digested(layout, told)
    assert "…" not in said and "'left_344'; each [-Wunused]" in said
    assert "warning: src/part_40.c:40:9: unused" in said and said.count("warning:") == 1
    assert "error: src/part_222.c:222:1: 'limit_222' undeclared" in said


@each(
    ("aspect", "finding", "said"),
    [
        ("", "a", "a"),
        ("failed", "FAILED tests/a.py::test_b", "FAILED tests/a.py::test_b"),
        ("failed", "make[1]: *** [a.o] Error 1", "make[1]: *** [a.o] Error 1"),
        ("failed", "test_error - assert 1 == 2", "failed: test_error - assert 1 == 2"),
        ("failed", "+3 more", "failed: +3 more"),
        ("error", "a.c:1:2: error: b; c.c:3:4: error: d", "error: a.c:1:2: b; c.c:3:4: d"),
        ("error", "error: no such table", "error: no such table"),
    ],
)
def test_a_row_says_what_it_is_about_once(aspect: str, finding: str, said: str) -> None:
    assert telling._said(aspect, finding) == said


@each(
    ("finding", "said"),
    [
        ("a.c:1: b [-Wx]; c.c:2: d [-Wx]", "a.c:1: b; c.c:2: d; each [-Wx]"),
        ("a (first use); b (first use); c [x]; d", "a; b; each (first use); c [x]; d"),
        ("a [x]; b [x]; c [y]; d [y]", "a; b; each [x]; c; d; each [y]"),
        ("a (x2); b (x2)", "a (x2); b (x2)"),
        ("a [x]", "a [x]"),
    ],
)
def test_what_statements_in_a_row_end_with_is_said_once(finding: str, said: str) -> None:
    assert telling._each(finding) == said


def a_long_job(layout: Layout, text: str) -> pump.Job:
    """A command that has printed so much and still runs."""
    job = pump.Job(["make"], {"session": "s-1"})
    job.output.take(1, text.encode())
    job.status = 2
    return job


def test_what_comes_is_read_while_the_command_runs_and_once(layout: Layout) -> None:
    names = ["".join(three) for three in itertools.product("abcdefghijklmno", repeat=3)]
    text = "".join(f"src/{name}.c:7: error: {name} undeclared\n" for name in names) * 3
    plain = telling._told(a_long_job(layout, text))
    pieces._piece.cache_clear()
    pieces.pieces.cache_clear()
    job = a_long_job(layout, text[:260_000])
    while job.is_behind:
        running._read_ahead(job)
    before, modules = pieces._piece.cache_info(), set(sys.modules)
    job.output.take(1, text[260_000:].encode())
    told = telling._told(job)
    after = pieces._piece.cache_info()
    assert told.split("\n")[1:-2] == plain.split("\n")[1:-2] and set(sys.modules) == modules
    read = 260_000 // pieces.PIECE
    left = len(text) // pieces.PIECE + 1 - read
    assert (after.misses - before.misses, after.hits - before.hits) == (left, read)


def test_trouble_with_reading_ahead_costs_nothing(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(job: pump.Job) -> Iterator[bool]:
        raise OSError(5, "Input/output error")
        yield

    job = pump.Job(["true"], {})
    monkeypatch.setattr(telling, "read_ahead", breaks)
    running._read_ahead(job)
    assert not job.is_behind
