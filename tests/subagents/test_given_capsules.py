"""The capsule that the next agent gets: the newest, with what changed since; launcher and hook."""

from __future__ import annotations

import os
from pathlib import Path

import planted
import pytest
from conftest import Script, git
from contextkit.base import git as repositories
from contextkit.base import lineage, tokens
from contextkit.base.layout import Layout
from contextkit.capsules.documents import branches
from contextkit.capsules.flows import given
from test_subagent_manager_script import Manager, a_capsule

from hooks import fire

LATER = "2025-10-23T19:00:00Z"


@pytest.fixture
def manager(repo: Path, run: Script) -> Manager:
    return Manager(run)


def commits(*paths: str, what: str = "Cache the tokens") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(what, encoding="utf-8")
        git("add", path)
    git("-c", "user.name=Ada", "commit", "-q", "--date", LATER, "-m", what)


@pytest.fixture(autouse=True)
def committed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", LATER)


def told(text: str) -> list[str]:
    """What a prompt or a brief says has happened since the capsule."""
    found = (line.partition(": ") for line in text.split("\n"))
    return [what for head, _, what in found if head in ("- Since then", "- Since it was written")]


def test_the_first_subagent_that_commits_does_not_blind_the_second(manager: Manager) -> None:
    path = a_capsule()
    commits("src/app.py", "tests/test_app.py")
    progress = Path("docs/branches/feature-demo/PROGRESS.md")
    progress.parent.mkdir(parents=True)
    progress.write_text("## 2025-10-23 19:30:00 UTC\n- It is cached now\n", encoding="utf-8")
    prompt = manager.prompt()
    assert "- Something about it." in prompt and str(path) in prompt
    first, touched, entry = told(prompt)
    assert first.startswith("1 commit: ") and first.endswith(" Cache the tokens")
    assert touched == "They touch src/app.py, tests/test_app.py"
    assert entry == (
        "docs/branches/feature-demo/PROGRESS.md, 2025-10-23 19:30:00: It is cached now"
    )
    assert all(line in manager.said for line in (first, touched, entry))
    assert told(manager.prompt("--capsule=latest")) == [first, touched, entry]
    assert told(fire("SubagentStart", agent_id="a1", agent_type="general-purpose")) == [
        first, touched, entry,
    ]  # fmt: skip


def test_what_changed_since_is_short_whatever_changed(manager: Manager) -> None:
    a_capsule()
    for number in range(30):
        commits(*(f"{'deep/' * 10}{number}-{each}.py" for each in range(4)), what="x" * 300)
    lines = told(manager.prompt())
    assert lines[0].startswith("30 commits: ") and "more)" in lines[0]
    assert lines[1].startswith("They touch deep/") and "more)" in lines[1]
    assert tokens.estimate("\n".join(lines)) <= 150


def test_a_branch_starts_with_the_capsule_of_the_one_it_was_made_from(
    manager: Manager, layout: Layout
) -> None:
    path = a_capsule()
    git("checkout", "-q", "-b", "feature/next")
    prompt = manager.prompt()
    assert str(path) in prompt and told(prompt)[0] == "It is of the branch feature/demo"
    assert str(path) in fire("SubagentStart", agent_id="a1", agent_type="general-purpose")
    git("checkout", "-q", "-b", "feature/third")
    assert given.newest(layout, "feature/third")[1] == "feature/demo"
    own = Path(branches.path_at(layout, "feature/third", LATER))
    own.parent.mkdir(parents=True)
    own.write_text(path.read_text("utf-8").replace("feature/demo", "feature/third"), "utf-8")
    assert given.newest(layout, "feature/third") == (str(own), "feature/third")


def test_a_worktree_starts_with_a_capsule_that_is_not_committed_yet(
    manager: Manager, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_capsule(commit=False)
    there = repo.parent / "there"
    git("worktree", "add", "-q", str(there))
    monkeypatch.chdir(there)
    assert "- Something about it." in manager.prompt()


@pytest.mark.parametrize(
    ("made", "branch", "origin"),
    [
        ("checkout -q -b b", "b", "feature/demo"),
        ("checkout -q -b b main", "b", "main"),
        ("switch -q -c b", "b", "feature/demo"),
        ("branch b", "b", "feature/demo"),
        ("worktree add -q ../b", "b", "feature/demo"),
        ("worktree add -q -b b ../tree main", "b", "main"),
        ("branch -m feature/demo b", "b", "feature/demo"),
        ("branch -q b remotes/origin/far", "b", "far"),
        ("checkout -q -b far origin/far", "far", ""),
        ("checkout -q --orphan b", "b", ""),
    ],
)
def test_git_tells_which_branch_another_was_made_from(
    layout: Layout, made: str, branch: str, origin: str
) -> None:
    git("branch", "main")
    git("update-ref", "refs/remotes/origin/far", "HEAD")
    git(*made.split())
    assert layout.repository
    found = list(lineage.ancestors(layout.repository, branch))
    assert found[0] == branch and (found[1:] or [""])[0] == (origin if origin != branch else "")


def test_no_secret_of_a_commit_is_told(manager: Manager) -> None:
    a_capsule()
    secret = planted.secrets()["github-classic"][".env"]
    commits("a.py", what=f"Use {secret}")
    assert secret not in manager.prompt() and "redacted" in manager.prompt()


def test_a_hook_asks_git_only_for_a_moment(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Path(layout.root, "bin", "git")
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with repositories.hurried(0.1):
        asked = repositories.query(layout.root, "log")
        assert asked.output() == "" and asked.failed
