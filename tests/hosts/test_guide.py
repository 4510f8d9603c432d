"""Every command of the guide is run as written: at the top, below it, in a worktree, a plugin."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkouts import a_host
from conftest import CHECKOUT, git
from contextkit.base import makefiles
from contextkit.hosts.flows import adoption

PLACES = ("top", "subfolder", "worktree", "plugin")
LONG = "It takes 52 ms in `src/login.py:3`. " * 120


def commands(text: str, run: str) -> list[str]:
    """Each command in code: indented lines, with what a backslash continues, and backquotes."""
    text = text.replace(" \\\n", " ")
    shown = re.findall(rf"^    ({re.escape(run)} .*)$", text, re.M)
    return shown + re.findall(rf"`({re.escape(run)} [a-z_]+(?: [^`]+)?)`", text)


def in_order(text: str, run: str) -> list[str]:
    """The commands as they stand, those of a page in the order of their places."""
    found = commands(text, run)
    flat = text.replace(" \\\n", " ")
    return sorted(set(found), key=flat.index)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the files that the guide's examples name."""
    folder = a_host(tmp_path / "project", "include tools/contextkit/Makefile\n")
    for name, text in {
        "report.md": f"# Report\n\n## Summary\n\nThe login is slow.\n\n{LONG}\n",
        "src/login.py": "a = 1\n",
        "scope.md": "Try the login form.\n",
        "docs/review/safety.md": '### Findings Index\n- P2 | P2-1 | "x" | Names are long\n\n'
        "Verdict: safe\n",
        ".claude/agents/qa.md": "You are qa.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text("tools\n", encoding="utf-8")
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "files", cwd=folder)
    return folder


def change_something(folder: Path) -> None:
    with open(folder / "src" / "login.py", "a", encoding="utf-8") as file:
        file.write("b = 2\n")


def place(project: Path, name: str) -> tuple[Path, str]:
    """The folder in which the commands are typed, and what stands before each."""
    if name == "plugin":
        (project / "Makefile").unlink()
        return project, "contextkit"
    if name == "subfolder":
        return project / "src", f"make -s -C {project}"
    if name == "worktree":
        git("worktree", "add", "-q", "-b", "side", str(project.parent / "side"), cwd=project)
        shutil.copytree(project / "tools", project.parent / "side" / "tools", symlinks=True)
        return project.parent / "side", "make -s"
    return project, "make -s"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{CHECKOUT / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        line, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
        stdin=subprocess.DEVNULL, encoding="utf-8", timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_every_command_of_the_guide_works_as_written(project: Path, name: str) -> None:
    folder, run = place(project, name)
    change_something(project if name == "subfolder" else folder)
    own = "contextkit" if name == "plugin" else "make -s"
    typed = in_order(adoption.guide(own), own)
    assert len(typed) > 30
    failed = []
    for command in typed:
        if "capsule_save" in command:
            continue  # its input is an agent's: tests/capsules
        line = command.replace("\\|", "|").replace("…", "words")
        line = re.sub(r"^(make -s|contextkit)", run, line)
        if "reminder_done" in line:
            listed = shell(re.sub("reminder_done.*", "reminders", line), folder).stdout
            line = line.replace("r-1a2b3c", re.findall(r"r-[0-9a-f]{6}", listed)[0])
        line = line.replace("timeout=600", "timeout=1").replace(" < ", f" < {project}/")
        done = shell(line, folder)
        waits = "verdict_wait" in line or "verdict_gate" in line  # nobody reviews here
        if done.returncode and not (waits and done.stdout):
            failed.append(f"{line}\n{done.stdout}{done.stderr}")
    assert not failed, "\n".join(failed)


def test_the_card_names_every_required_variable() -> None:
    known = {target.name: target for target in makefiles.targets()}
    for name, words in re.findall(r"`([a-z]+_[a-z]+)((?: [^`]+)?)`", adoption.card("guide.md")):
        command = makefiles.command_of(known[name])
        assert command is not None
        for option in command.options:
            assert not option.required or f" {option.name}=" in words, (name, option.name)
