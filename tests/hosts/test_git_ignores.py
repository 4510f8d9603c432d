"""A copy that git ignores is missing from every clone: adopt refuses, and its way out works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, git
from contextkit.hosts.flows import changes
from test_adopt_script import FOLDER, host, small, tree

__all__ = ["host", "small"]


def refusal(run: Script, *arguments: str) -> str:
    assert run("adopt", "--copy", *arguments) == 2
    assert run.out == ""
    return run.err.replace("adopt: ", "")


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("tools/\n", ".gitignore:1: tools/ ignores tools/contextkit/"),
        ("/tools\n", ".gitignore:1: /tools ignores tools/contextkit/"),
        ("tools/contextkit/\n", ".gitignore:1: tools/contextkit/ ignores tools/contextkit/"),
        ("x\n*.sh", ".gitignore:2: *.sh ignores tools/contextkit/scripts/hook.sh\n"),
        (".claude/\n", ".gitignore:1: .claude/ ignores .claude/settings.json and 1 more"),
        (".claude/*\n!.claude/agents/\n", ".gitignore:1: .claude/* ignores "),
        ("tools/**\nCLAUDE.md\n", ".gitignore:2: CLAUDE.md ignores CLAUDE.md\n"),
        ("scripts/\n*.py\n", ".gitignore:1: scripts/ ignores tools/contextkit/scripts/"),
        ("*\n!/src", ".gitignore:1: * ignores "),
    ],
)
def test_what_git_ignores_is_refused_and_the_printed_exceptions_bring_it_back(
    small: Any, host: Path, run: Script, rules: str, said: str
) -> None:
    (host / ".gitignore").write_text(rules, encoding="utf-8")
    before = tree(host)
    told = refusal(run, "--into=.")
    assert said in told and tree(host) == before
    commands = re.findall(r"(?:either make exceptions:|  and then) (.*)\n", told)
    assert commands, told
    before_them = {path: ignored(path) for path in ("tools/other/private.sh", ".claude/private")}
    subprocess.run(["/bin/sh", "-c", "\n".join(commands)], check=True)
    (host / "tools" / "other").mkdir(parents=True)
    (host / "tools" / "other" / "private.sh").touch()
    (host / ".claude" / "private").touch()
    assert run("adopt", "--into=.", "--copy") == 0, run.err
    git("add", "-A")
    tracked = git("ls-files").splitlines()
    assert f"{FOLDER}/scripts/contextkit/names.py" in tracked and f"{FOLDER}/Makefile" in tracked
    assert {".claude/settings.json", ".claude/skills/contextkit/SKILL.md", "CLAUDE.md"} <= set(
        tracked
    )
    for path, was_ignored in before_them.items():
        assert (path in tracked) == (not was_ignored), "what else was ignored stays ignored"


def ignored(path: str) -> bool:
    return subprocess.run(["git", "check-ignore", "-q", path]).returncode == 0


def test_another_folder_is_offered_where_it_helps(small: Any, host: Path, run: Script) -> None:
    (host / ".gitignore").write_text("tools/\ncontextkit/\n", encoding="utf-8")
    assert "another folder, dir=, does not help" in refusal(run, "--into=.")
    (host / ".gitignore").write_text("/tools/\n/contextkit\n", encoding="utf-8")
    assert "or put the copy into another folder: dir=vendor/contextkit\n" in refusal(
        run, "--into=.", "--dry-run"
    )
    assert run("adopt", "--into=.", "--copy", "--dir=vendor/contextkit") == 0
    (host / ".gitignore").write_text(".claude/\n", encoding="utf-8")
    assert "leave a host out (hosts=NAME)" in refusal(run, "--into=.")


def test_rules_in_a_deeper_file_cannot_be_lifted_from_the_top(
    small: Any, host: Path, run: Script
) -> None:
    (host / ".claude" / ".gitignore").write_text("*\n", encoding="utf-8")
    assert "either remove that line from .claude/.gitignore\n" in refusal(run, "--into=.")


def test_rules_of_the_user_s_own_are_lifted_from_the_top(
    small: Any, host: Path, run: Script, tmp_path: Path
) -> None:
    (tmp_path / ".gitignore").write_text("tools/\n", encoding="utf-8")
    git("config", "core.excludesFile", str(tmp_path / ".gitignore"))
    assert "make exceptions: printf '%s\\n' '!/tools/'" in refusal(run, "--into=.")


def test_what_is_tracked_already_is_not_ignored(small: Any, host: Path, run: Script) -> None:
    assert run("adopt", "--into=.", "--copy") == 0
    git("add", "-A")
    (host / ".gitignore").write_text("tools/\n.claude/\n", encoding="utf-8")
    assert run("adopt", "--into=.", "--copy") == 0 and "nothing to do" in run.out


def test_a_folder_below_the_repository_gets_its_exceptions_at_the_top(
    small: Any, host: Path, run: Script
) -> None:
    (host / "app").mkdir()
    (host / ".gitignore").write_text("/app/tools\n", encoding="utf-8")
    told = refusal(run, "--into=app")
    assert "'!/app/tools/' '/app/tools/*' '!/app/tools/contextkit/' >> ../.gitignore" in told


def test_a_link_for_this_machine_alone_may_be_ignored(small: Any, host: Path, run: Script) -> None:
    (host / ".gitignore").write_text(".claude/\n", encoding="utf-8")
    assert run("adopt", "--into=.", "--link") == 0
    assert "make sure that git ignores it" not in run.out


def test_doctor_finds_a_copy_that_is_ignored(small: Any, host: Path, run: Script) -> None:
    assert run("adopt", "--into=.", "--copy") == 0
    (host / ".gitignore").write_text("tools/\n", encoding="utf-8")
    run("doctor")
    (line,) = [line for line in run.out.splitlines() if "no clone has that" in line]
    assert ".gitignore:1: tools/ ignores tools/contextkit/" in line
    assert "printf '%s\\n' '!/tools/' '/tools/*' '!/tools/contextkit/' >> .gitignore" in line
    git("add", "-Af")
    run("doctor")
    assert "no clone has that" not in run.out


def test_outside_of_a_repository_nothing_is_ignored(sealed: Path) -> None:
    assert changes.ignored(str(sealed), ["tools/x"]) == {}
