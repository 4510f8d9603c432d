"""hook.sh and host_hook.py as real processes: nothing that they meet reaches the host."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkouts import REAL_PYTHON, a_toolkit, executable
from conftest import SCRIPTS, Script
from contextkit.hosts.flows import runner
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


LINES = REPORT.replace(". ", ".\n")
RESULT = {"status": "completed", "content": [{"type": "text", "text": LINES * 4}]}


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
    (line,) = runner.noted(str(repo / ".contextkit" / "hooks"))
    assert "the package yaml is missing: run `make -C" in line


def test_a_control_character_in_the_input_is_noted_as_what_it_is(repo: Path) -> None:
    """The scanner alone, without the json module, has no exception for it."""
    done = subprocess.run(
        [SCRIPTS / "hook.sh", "SubagentStop"], input=b'{"session_id": "a\nb"}', capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = runner.noted(str(repo / ".contextkit" / "hooks"))
    assert line.endswith("the hook's input: not valid JSON in line 1")


def test_without_python_or_toolkit_nothing_happens(own: Path, tmp_path: Path) -> None:
    launcher = own / "scripts" / "hook.sh"
    said = hook(launcher, "SessionStart", "--host=codex", PATH=str(tmp_path)).stdout
    assert json.loads(said)["systemMessage"].endswith("python3 was not found.")
    done = hook(launcher, "Stop", PATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (own / "scripts" / "host_hook.py").unlink()
    done = hook(launcher, "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# A python3 that says that it is 3.6, as `PYTHON -S SCRIPT …` starts it.
OLD = f"""#!/bin/sh
exec '{sys.executable}' -c '
import os, runpy, sys
sys.version_info, sys.version = (3, 6, 9), "3.6.9 (long ago)"
sys.argv = [word for word in sys.argv[1:] if word != "-S"]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
"""


def test_a_python3_that_is_too_old_is_said_once_to_the_user(own: Path, tmp_path: Path) -> None:
    executable(tmp_path / "old" / "python3", OLD)
    path = f"{tmp_path}/old:/usr/bin:/bin"
    said = []
    for source in ("startup", "compact"):
        given = {"session_id": "s", "source": source}
        for event in ("SessionStart", "UserPromptSubmit", "SubagentStop"):
            launcher = own / "scripts" / "hook.sh"
            done = hook(launcher, event, "--host=claude", given=given, PATH=path)
            assert (done.returncode, done.stderr) == (0, "")
            said += [done.stdout] if done.stdout else []
    assert len(said) == 1 and json.loads(said[0])["systemMessage"].endswith("newer as python3.")


def test_with_a_python3_that_is_too_old_no_output_is_lost(own: Path, tmp_path: Path) -> None:
    executable(tmp_path / "old" / "python3", OLD)
    path = f"{tmp_path}/old:/usr/bin:/bin"
    launcher = own / "scripts" / "run.sh"
    done = hook(launcher, "--sink=m", given="what a command printed", PATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, '"what a command printed"', "")


@pytest.mark.parametrize("script", ["capsule.py", "run.py", "door.py", "launch_with_capsule.py"])
def test_a_script_restarts_with_the_toolkits_python_or_says_what_to_install(
    own: Path, tmp_path: Path, script: str
) -> None:
    command = [str(executable(tmp_path / "old" / "python3", OLD)), str(own / "scripts" / script)]
    done = subprocess.run([*command, "list"], capture_output=True, encoding="utf-8")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        "contextkit: needs Python 3.11 or newer, and python3 is 3.6.9: install it, then"
        f" `make -C '{own}' setup`\n"
    )
    executable(own / ".venv" / "bin" / "python", '#!/bin/sh\necho "$@"\n')
    done = subprocess.run([*command, "list"], capture_output=True, encoding="utf-8")
    assert done.stdout == f"{own}/scripts/{script} list\n"


def test_an_old_python_can_read_the_scripts() -> None:
    for path in [*SCRIPTS.glob("*.py"), SCRIPTS / "contextkit" / "__init__.py"]:
        text = path.read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 6))
        assert "from __future__" not in text, path.name


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


def test_a_hook_imports_nothing_dear(repo: Path, toolkit: Path) -> None:
    """Where there is nothing to do, and where there is; no network and no other process either."""
    sessions = repo / "shared" / "payloads" / "s"
    scripts = toolkit / "scripts"
    given = {"session_id": "s", "cwd": str(repo), "agent_id": "a", "tool_name": "Bash",
             "tool_response": {"stdout": "ok"}}  # fmt: skip
    never = {"socket", "ssl", "subprocess", "contextkit.base.cli"}
    events = "SessionStart SubagentStart PostToolUse Stop SubagentStop SessionEnd".split()
    for event in reversed(events):  # an end comes before anything has begun
        idle = modules_of_hook(scripts, event, json.dumps(given))
        assert not idle & (DEAR | never | {"contextkit.payloads.documents.store"}), event
    report = {**given, "last_assistant_message": REPORT}
    modules_of_hook(scripts, "SubagentStop", json.dumps(report))
    assert sessions.is_dir()
    report["last_assistant_message"] = REPORT + "more"
    for event in events:
        busy = modules_of_hook(scripts, event, json.dumps(report))
        digested = event == "SubagentStop"  # telling a receipt takes what it takes
        assert not busy & (never if digested else DEAR | never), event


@pytest.mark.parametrize("event", ["SubagentStart", "SubagentStop"])
def test_a_hook_beside_a_review_run_imports_nothing_dear(
    repo: Path, run: Script, event: str
) -> None:
    """An agent that no run asked, one that is sent back for its file: neither is worth a second."""
    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")
    run("verdict", "start", "--process=flux-drive", "--target=plan.md", "--agents=fd-1 fd-2")
    given = {"session_id": "s", "cwd": str(repo), "agent_id": "a", "agent_type": "fd-1",
             "last_assistant_message": "Done."}  # fmt: skip
    assert not modules_of_hook(SCRIPTS, event, json.dumps(given)) & DEAR
