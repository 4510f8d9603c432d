"""`worktree=`: a worktree is a machine of its own, and shares the main one's stores where asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Script


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


@pytest.fixture
def linked(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A linked worktree `side` of the repository, in which commands are typed."""
    top = repo.parent / "side"
    git("-C", str(repo), "commit", "-q", "--allow-empty", "-m", "begin")
    git("-C", str(repo), "worktree", "add", "-q", "-b", "side", str(top))
    for name, folder in (("of-main", repo), ("of-side", top)):
        path = folder / f".temp/memory/findings/{name}_20261122T100000.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"# {name}\n", encoding="utf-8")
    monkeypatch.chdir(top)
    return top


def test_a_worktree_pushes_its_own_stores_or_those_of_the_one_that_is_named(
    linked: Path, repo: Path, run: Script
) -> None:
    share = f"--remote=file://{linked.parent}/share"
    assert run("context_sync", "push", share) == 0
    assert "of-side" in run.out and "of-main" not in run.out
    assert run("context_sync", "push", share, f"--worktree={repo}") == 0, run.err
    assert "of-main" in run.out and "of-side" not in run.out
    own = (linked / ".contextkit/machine").read_text(encoding="utf-8")
    assert (repo / ".contextkit/machine").read_text(encoding="utf-8") != own
    marked = {}
    for where in ((), (f"--worktree={repo}",)):
        assert run("context_sync", "remotes", share, *where) == 0
        (marked[where],) = (line.split()[0] for line in run.out.splitlines() if " *" in line)
    assert marked[()] == own.split()[0] != marked[(f"--worktree={repo}",)]
    assert run("context_sync", "pull", share, f"--worktree={repo}") == 0
    assert "of-side" in run.out
    assert (repo / ".temp/memory/findings/of-side_20261122T100000.md").is_file()
    assert not (linked / ".temp/memory/findings/of-main_20261122T100000.md").exists()


def test_a_folder_that_is_no_worktree_is_refused_with_those_there_are(
    linked: Path, run: Script
) -> None:
    share = f"--remote=file://{linked.parent}/share"
    assert run("context_sync", "push", share, "--worktree=nowhere") == 2
    assert "not a worktree of this repository; available:" in run.err and "side" in run.err
    assert not (linked.parent / "share").exists()
