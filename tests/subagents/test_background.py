"""background.py: a command in the background, and what its folder tells of it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import each, end_agents, until
from contextkit.subagents.flows import background

Starter = Callable[..., Path]


@pytest.fixture
def begin(sealed: Path) -> Iterator[Starter]:
    """`begin("sleep 9")` starts it and gives its folder; what still runs is ended afterwards."""
    folders: list[Path] = []

    def make(command: str, limit: float = 0, prompt: str = "the prompt\n") -> Path:
        folder = sealed / f"run{len(folders)}"
        hold = background.hold(str(folder))
        (folder / "prompt.md").write_text(prompt, encoding="utf-8")
        env = {"PATH": os.environ["PATH"]}
        background.start(hold, str(folder), str(sealed), command, limit, env)
        os.close(hold)
        folders.append(folder)
        return folder

    yield make
    end_agents(sealed)


def ended(folder: Path) -> tuple[str, int | None]:
    until(lambda: background.state(str(folder))[0] not in ("running", "pending_launch"))
    return background.state(str(folder))


def log(folder: Path) -> str:
    return (folder / "agent.log").read_text(encoding="utf-8")


@each(
    ("command", "expected"),
    [("true", ("finished", 0)), ("exit 3", ("failed", 3)), ("kill -9 $$", ("failed", 137)),
     ("no-such-command-here", ("failed", 127))],
)  # fmt: skip
def test_the_exit_status_is_written_down(
    begin: Starter, command: str, expected: tuple[str, int]
) -> None:
    folder = begin(command)
    assert ended(folder) == expected
    assert background.ended_at(str(folder)) > 0
    until(lambda: not background.is_alive(str(folder)))


def test_it_reads_the_prompt_and_its_output_goes_to_the_log(begin: Starter) -> None:
    prompt = "'\"`$(touch pwned)` \\ %s\n" * 3
    folder = begin("cat; echo talk >&2; pwd", prompt=prompt)
    ended(folder)
    assert log(folder) == f"{prompt}talk\n{os.getcwd()}\n"
    assert not Path("pwned").exists()


def test_it_leads_a_session_of_its_own_and_keeps_no_descriptor(begin: Starter) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    folder = begin("ls /dev/fd; sleep 9")
    os.close(write_end)
    assert os.read(read_end, 1) == b""  # nobody else has the other end
    os.close(read_end)
    until(lambda: (folder / "pid").exists())
    pid = int((folder / "pid").read_text(encoding="utf-8"))
    assert os.getsid(pid) == os.getpgid(pid) == pid != os.getsid(0)


def test_when_its_time_is_up_it_is_asked_and_then_killed(
    begin: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    polite = begin("trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done", limit=1)
    quick = begin("echo done", limit=60)
    monkeypatch.setattr(background, "GRACE", 0.2)
    stubborn = begin("trap '' TERM; while :; do sleep 0.05; done", limit=0.2)
    assert ended(quick) == ("finished", 0)
    assert ended(polite) == ("timed_out", 0) and log(polite).endswith("bye\n")
    assert ended(stubborn)[0] == "timed_out"
    until(lambda: not any(background.is_alive(str(f)) for f in (polite, quick, stubborn)))


def test_a_command_that_is_gone_without_a_status_has_failed(begin: Starter) -> None:
    folder = begin("sleep 60")
    until(lambda: (folder / "pid").exists())
    os.killpg(int((folder / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
    assert ended(folder) == ("failed", None)


def test_a_process_id_of_somebody_else_is_nobody_of_ours(begin: Starter) -> None:
    folder = begin("true")
    ended(folder)
    until(lambda: not background.is_alive(str(folder)))  # its status is there a little earlier
    (folder / "exit").unlink()
    (folder / "pid").write_text(str(os.getpid()), encoding="utf-8")  # alive, and not ours
    assert background.state(str(folder)) == ("failed", None)
    assert not background.stop(str(folder))


def test_what_it_left_behind_is_not_taken_for_it(begin: Starter) -> None:
    folder = begin("sleep 60 & echo $! > child")
    assert ended(folder) == ("finished", 0)
    os.kill(int(Path("child").read_text(encoding="utf-8")), signal.SIGKILL)


def test_a_stop_reaches_everything_that_was_started(begin: Starter) -> None:
    folder = begin("sleep 60 | sleep 60 & sh -c 'echo up; sleep 60'")
    until(lambda: log(folder))
    assert background.stop(str(folder))
    until(lambda: not background.is_alive(str(folder)))
    assert not background.stop(str(folder))


def test_what_is_stopped_before_it_has_begun_never_begins(
    begin: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    move = tmp_path / "bin/mv"  # the shell's first program, before the command
    first = "#!/bin/sh\ntrap '' TERM\nkill -TERM -$PPID\n"
    move.write_text(f'{first}exec {shutil.which("mv")} "$@"\n', "utf-8")
    move.chmod(0o755)
    monkeypatch.setenv("PATH", f"{move.parent}:{os.environ['PATH']}")
    folder = begin("echo begun")
    assert ended(folder) == ("failed", 143)
    assert log(folder) == ""


def test_a_launcher_that_died_before_it_started_anything_is_seen(sealed: Path) -> None:
    hold = background.hold(str(sealed / "run"))
    assert background.state(str(sealed / "run")) == ("pending_launch", None)
    os.close(hold)
    assert background.state(str(sealed / "run")) == ("failed", None)


def test_a_folder_is_taken_once(sealed: Path) -> None:
    hold = background.hold(str(sealed / "run"))
    with pytest.raises(FileExistsError):
        background.hold(str(sealed / "run"))
    os.close(hold)
