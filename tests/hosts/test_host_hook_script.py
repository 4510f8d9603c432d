"""hook.sh and host_hook.py as real processes: nothing that they meet reaches the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkouts import REAL_PYTHON, a_toolkit, executable, plain_python
from conftest import SCRIPTS, Script
from contextkit.hosts.documents import diagnostics
from test_imports import DEAR, modules_of_hook

REPORT = "# Report\n\n" + "It takes 52 ms. " * 300 + "\n\nVERDICT: NEEDS_ATTENTION slow\n"


def hook(
    launcher: Path, *arguments: str, given: object = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [launcher, *arguments],
        input=json.dumps(given or {}),
        env={**os.environ, **changes},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toolkit in a folder with blanks, not set up, that tests only start."""
    return a_toolkit(tmp_path_factory.mktemp("my tools") / "context kit")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A toolkit that a test may change."""
    return a_toolkit(tmp_path / "own")


@pytest.fixture(autouse=True)
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher finds a python3 that is Python itself."""
    programs = plain_python(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")


def test_a_hook_works_from_a_path_with_blanks_with_whatever_python_there_is(
    toolkit: Path, repo: Path
) -> None:
    given = {"session_id": "s", "cwd": str(repo), "last_assistant_message": REPORT}
    done = hook(toolkit / "scripts" / "hook.sh", "SubagentStop", "--host=codex", given=given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list((repo / "shared" / "payloads" / "s").glob("*.md"))


def test_the_toolkits_own_python_goes_first(own: Path, tmp_path: Path) -> None:
    executable(own / ".venv" / "bin" / "python", '#!/bin/sh\necho ours "$@"\n')
    done = hook(own / "scripts" / "hook.sh", "Stop", "--host=claude")
    assert done.stdout == f"ours -S {own}/scripts/host_hook.py Stop --host=claude\n"


def test_settings_that_were_edited_just_now_are_read(own: Path, repo: Path) -> None:
    """YAML takes a package, which a start with `-S` does not see at first."""
    executable(own / ".venv" / "bin" / "python", REAL_PYTHON)
    (own / ".venv" / "lib").symlink_to(Path(sys.prefix) / "lib")
    (repo / "contextkit.yaml").write_text("payloads: docs/long\n", encoding="utf-8")
    given = {"session_id": "s", "cwd": str(repo), "last_assistant_message": REPORT}
    hook(own / "scripts" / "hook.sh", "SubagentStop", given=given)
    assert list((repo / "docs" / "long" / "s").glob("*.md"))


RESULT = {"status": "completed", "content": [{"type": "text", "text": REPORT * 4}]}


def test_without_a_set_up_settings_are_read_and_receipts_are_the_same(
    toolkit: Path, repo: Path
) -> None:
    (repo / "contextkit.yaml").write_text("payloads: docs/long\n", encoding="utf-8")
    given = {"session_id": "s", "cwd": str(repo), "tool_name": "Agent", "tool_response": RESULT}
    receipts = []
    for folder in (toolkit, SCRIPTS.parent):
        done = hook(folder / "scripts" / "hook.sh", "PostToolUse", "--host=claude", given=given)
        result = json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]
        receipts.append(result["content"][0]["text"])
    assert receipts[0] == receipts[1] and "\nkind: " in receipts[0]
    assert list((repo / "docs" / "long" / "s").glob("*.md"))


def test_settings_that_cannot_be_read_are_said_once_to_the_user(toolkit: Path, repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("payloads: &a docs/long\n", encoding="utf-8")
    started = hook(toolkit / "scripts" / "hook.sh", "SessionStart", given={"session_id": "s"})
    said = json.loads(started.stdout)["systemMessage"]
    assert said.startswith("contextkit's hooks do nothing in this session: the package yaml")
    (repo / ".contextkit" / "hooks" / "diagnostics.log").unlink()
    given = {"session_id": "s", "cwd": str(repo), "last_assistant_message": REPORT}
    done = hook(toolkit / "scripts" / "hook.sh", "SubagentStop", given=given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (line,) = diagnostics.lines(str(repo / ".contextkit" / "hooks"))
    assert "the package yaml is missing: run `make -C" in line


def test_a_control_character_in_the_input_is_noted_as_what_it_is(repo: Path) -> None:
    """The scanner alone, without the json module, has no exception for it."""
    done = subprocess.run(
        [SCRIPTS / "hook.sh", "SubagentStop"], input=b'{"session_id": "a\nb"}', capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = diagnostics.lines(str(repo / ".contextkit" / "hooks"))
    assert line.endswith("the hook's input: not valid JSON in line 1")


def test_without_python_or_toolkit_nothing_happens(own: Path, tmp_path: Path) -> None:
    launcher = own / "scripts" / "hook.sh"
    said = hook(launcher, "SessionStart", "--host=codex", PATH=str(tmp_path)).stdout
    assert json.loads(said)["systemMessage"].endswith("python3 is not there.")
    done = hook(launcher, "Stop", PATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (own / "scripts" / "host_hook.py").unlink()
    done = hook(launcher, "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_broken_toolkit_does_not_stop_the_host(own: Path, repo: Path) -> None:
    given = {"session_id": "s", "cwd": str(repo), "last_assistant_message": REPORT}
    frame = own / "scripts" / "contextkit" / "hosts" / "flows" / "runner.py"
    frame.write_text("def (", encoding="utf-8")
    done = hook(own / "scripts" / "hook.sh", "SubagentStop", given=given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (repo / "shared").exists()  # it is broken indeed


def test_an_output_that_nobody_reads_is_no_failure(repo: Path) -> None:
    program = [sys.executable, str(SCRIPTS / "host_hook.py"), "SessionStart"]
    with open(os.devnull, encoding="utf-8") as nothing:
        done = subprocess.run(program, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_hook_reads_nothing_from_a_terminal(repo: Path, run: Script) -> None:
    assert run("host_hook", "SessionStart", stdin="") == 0
    assert run.out == "" and run.err == ""


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "SubagentStart", "SubagentStop",
                                   "SessionEnd"])  # fmt: skip
def test_a_hook_imports_nothing_dear(repo: Path, toolkit: Path, event: str) -> None:
    """Where there is nothing to do, and where there is; no network and no other process either."""
    sessions = repo / "shared" / "payloads" / "s"
    scripts = toolkit / "scripts"
    given = {"session_id": "s", "cwd": str(repo), "agent_id": "a"}
    idle = modules_of_hook(scripts, event, json.dumps(given))
    assert not idle & (DEAR | {"socket", "ssl", "subprocess", "contextkit.base.cli"})
    assert "contextkit.payloads.documents.store" not in idle
    modules_of_hook(
        scripts, "SubagentStop", json.dumps({**given, "last_assistant_message": REPORT})
    )
    assert sessions.is_dir()
    busy = modules_of_hook(
        scripts, event, json.dumps({**given, "last_assistant_message": REPORT + "more"})
    )
    digested = event == "SubagentStop"  # telling a receipt takes what it takes
    never = {"socket", "ssl", "subprocess", "contextkit.base.cli"}
    assert not busy & (never if digested else DEAR | never)
