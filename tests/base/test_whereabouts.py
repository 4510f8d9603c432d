"""whereabouts.py: commands and paths work from where the user stands, and worktrees are named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import CHECKOUT, Script, each, git
from contextkit.base import names

ARTIFACT = ".aios/handoffs/handoff-sm-to-dev-20251023T180500Z.yaml"
HANDOFF = ("handoff", "write", "--from=sm", "--to=dev", "--next-action=Build it.")


@pytest.fixture
def adopted(repo: Path, run: Script) -> Path:
    """A repository with a Makefile that includes ours, a folder `src`, and a handoff."""
    (repo / "ours").symlink_to(CHECKOUT)
    (repo / "Makefile").write_text(f"include {repo}/ours/Makefile\n", encoding="utf-8")
    (repo / "src").mkdir()
    (repo / "src" / "a.py").touch()
    assert run(*HANDOFF, "--files=src/a.py") == 0
    return repo


def made(*words: str, cwd: Path, called_in: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a shell in `called_in` gets from `make` with these words."""
    environment = {**os.environ, "PWD": str(called_in or cwd)}
    return subprocess.run(
        ["make", "-s", *words], cwd=cwd, env=environment, capture_output=True, encoding="utf-8"
    )


def command_in(said: str) -> str:
    """The command in backticks."""
    return said.split("`")[1]


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (("-f", "../Makefile"), "make -f ../Makefile handoff_consume"),
        (("-C", ".."), "make -sC .. handoff_consume"),
    ],
)
def test_make_from_a_folder_prints_commands_that_work_there(
    adopted: Path, words: tuple[str, ...], called: str
) -> None:
    src = adopted / "src"
    done = made(*words, "handoff_show", cwd=src)
    assert f"handoff_show: paths are relative to {adopted}" in done.stderr.split("\n")
    assert called in done.stderr
    again = subprocess.run(command_in(done.stderr), shell=True, cwd=src, capture_output=True)
    assert again.returncode == 0
    shown = made(*words, "handoff_show", f"file={ARTIFACT}", cwd=src)
    assert shown.returncode == 0 and "consumed: true" in shown.stdout


def test_a_command_names_the_makefile_that_was_given(repo: Path) -> None:
    done = made("-f", f"{CHECKOUT}/Makefile", "capsule_latest", cwd=repo)
    makefile = names.word(f"{CHECKOUT}/Makefile")
    assert f"make one with `make -f {makefile} capsule_prompt`" in done.stderr


def test_a_script_in_a_folder_names_the_root(
    adopted: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("src")
    assert run("handoff", "show", f"--file={ARTIFACT}") == 0
    assert run.err == f"handoff: paths are relative to {adopted}\n"
    assert run("handoff", "show") == 0
    assert run.err == (
        "handoff: after acting on it: `make -sC .. handoff_consume"
        f" ref={Path(ARTIFACT).stem}`\nhandoff: paths are relative to {adopted}\n"
    )
    assert run("handoff", "show", "--json") == 0 and run.err.count("\n") == 1
    assert run("handoff", "list") == 0 and run.err == ""


def test_a_text_is_read_where_it_was_printed_to_be(
    adopted: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("src")
    assert run("external_memory", "estimate", f"--file={ARTIFACT}") == 0
    assert run("external_memory", "estimate", "--file=.aios/handoffs/gone.yaml") == 2


def test_nothing_is_said_about_paths_in_the_root(adopted: Path, run: Script) -> None:
    assert run("handoff", "show") == 0
    assert run.err == (
        f"handoff: after acting on it: `make handoff_consume ref={Path(ARTIFACT).stem}`\n"
    )


@each(
    ("typed", "stored"),
    [
        ("a.py", "src/a.py"),
        ("a.py (modified)", "src/a.py (modified)"),
        ("src/a.py", "src/a.py"),
        ("../Makefile", "Makefile"),
        ("gone.py", "src/gone.py"),
        ("src/gone.py", "src/gone.py"),
        ("/elsewhere/a.py", "/elsewhere/a.py"),
        ("words without a file", "words without a file"),
    ],
)
def test_files_typed_in_a_folder_are_stored_relative_to_the_root(
    adopted: Path, run: Script, monkeypatch: pytest.MonkeyPatch, typed: str, stored: str
) -> None:
    monkeypatch.chdir(adopted / "src")
    assert run(*HANDOFF, f"--files={typed}") == 0
    text = (adopted / run.out.strip()).read_text(encoding="utf-8")
    assert f'files_modified:\n    - "{stored}"\n' in text


def test_files_typed_where_make_was_called_are_found(adopted: Path) -> None:
    words = ("-C", "..", "handoff", "from=x", "to=y", "next_action=n", "files=a.py | Makefile")
    done = made(*words, cwd=adopted / "src")
    text = (adopted / done.stdout.strip()).read_text(encoding="utf-8")
    assert 'files_modified:\n    - "src/a.py"\n    - "Makefile"\n' in text


def test_a_new_file_is_one_of_the_current_folder(
    adopted: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    (adopted / "notes.md").write_text("The root's.\n", encoding="utf-8")
    monkeypatch.chdir("src")
    assert run("handoff", "show", "--file=notes.md") == 2  # not that of the root
    assert run("handoff", "show", "--file=.aios/handoffs/gone.yaml") == 2


# Messages begin with what was called


def test_messages_begin_with_the_target_that_was_called(adopted: Path) -> None:
    done = made("payload_show", "ref=nope", cwd=adopted)
    assert done.stderr.startswith("payload_show: nope: no such payload")
    several = made("handoff_show", "payload_show", "ref=nope", cwd=adopted)
    assert several.stderr.startswith("handoff: there is no handoff 'nope'")


# Other worktrees


@pytest.fixture
def worktree(adopted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    monkeypatch.chdir(tmp_path / "side")
    return tmp_path / "side"


@each(
    "call",
    [
        "payload_store show latest --session=s",
        "payload_store list",
        "payload_store find words",
        "handoff show",
        "handoff list",
        "handoff context --to=dev",
        "context search words",
        "remember_later list",
    ],
)
@pytest.mark.usefixtures("worktree")
def test_what_is_stored_in_another_worktree_is_named(adopted: Path, run: Script, call: str) -> None:
    there = f"--root={adopted}"
    stored = ("payload_store", "store", "--topic=t", "--source=a", "--force", "--session=s", there)
    assert run(*stored, stdin="some words") == 0
    assert run("remember_later", "--message=m", there) == 0
    run(*call.split())
    name = call.split()[0]
    found = f"{name}: nothing is stored here, but on feature/demo: add root={adopted}"
    assert found in run.err.split("\n")
    assert run(*call.split(), there) == 0 and run.out


def test_a_profile_alone_is_no_context(adopted: Path, worktree: Path, run: Script) -> None:
    (worktree / ".claude/agents").mkdir(parents=True)
    (worktree / ".claude/agents/dev.md").write_text("You are dev.\n", encoding="utf-8")
    assert run("handoff", "context", "dev") == 0 and "You are dev." in run.out
    assert f"handoff: nothing is stored here, but on feature/demo: add root={adopted}" in run.err


def test_a_report_from_another_worktree_says_where_its_paths_are(
    adopted: Path, worktree: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = f"--root={adopted}"
    call = ("checkpoint", "--task=t", "--phase=planning", "--summary=s", "--next-action=n", there)
    assert run("external_memory", *call) == 0
    (worktree / "src").mkdir(exist_ok=True)
    monkeypatch.chdir("src")
    assert run("external_memory", "recover", "--worktree=feature/demo") == 0
    assert f"Paths here are relative to {adopted}, where" in run.out and run.err == ""


def test_a_document_that_another_worktree_has_is_named_though_there_are_others_here(
    adopted: Path, worktree: Path, run: Script
) -> None:
    assert run("handoff", "write", "--from=x", "--to=y", "--next-action=Do it.") == 0
    assert run("handoff", "show", Path(ARTIFACT).stem) == 1
    assert f"handoff: it is on feature/demo: add root={adopted}" in run.err
    assert run("handoff", "show", "nope") == 1 and "add root=" not in run.err
    there = ("--topic=t", "--source=a", "--force", "--session=s", f"--root={adopted}")
    assert run("payload_store", "store", *there, stdin="words") == 0
    receipt = run.out.split("\n")[0]
    for ref in (receipt, receipt.removeprefix("@stored: "), Path(receipt).stem):
        assert run("payload_store", "show", ref) == 1
        assert f"payload_store: it is on feature/demo: add root={adopted}" in run.err, ref
    assert run("remember_later", "done", "r-000000") == 1 and "add root=" not in run.err


def test_a_note_here_does_not_hide_the_task_and_the_handoff_of_another_worktree(
    adopted: Path, worktree: Path, run: Script
) -> None:
    assert run("remember_later", "--message=m") == 0
    elsewhere = f"is stored here, but on feature/demo: add root={adopted}"
    assert run("context", "status") == 0 and f"context: no handoff {elsewhere}" in run.err
    plan = ("plan", "--task=login", "--next-actions=Go on")
    assert run("external_memory", *plan, f"--root={adopted}") == 0
    assert run("context", "status") == 0 and f"context: no task {elsewhere}" in run.err
    assert run("external_memory", "checkpoint", "--task=own", "--phase=planning", "--summary=s",
               "--next-action=n") == 0  # fmt: skip
    assert run("context", "status") == 0 and f"context: no handoff {elsewhere}" in run.err


@pytest.mark.usefixtures("worktree")
def test_bad_input_names_no_worktree(run: Script) -> None:
    assert run("handoff", "write", "--from=x", "--to=y") == 2 and "add root=" not in run.err
