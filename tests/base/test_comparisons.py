"""changes.py: what a branch is compared with, and that an empty diff is nothing to review."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import git
from contextkit.base import changes, version
from contextkit.base.changes import Change
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from test_changes import commit, states, write


def base(given: str = "") -> list[str]:
    return [found.name for found in changes.bases(Layout(), given)]


def test_an_unborn_branch_is_compared_with_nothing(sealed: Path) -> None:
    git("init", "-q")
    write("a")
    (found,) = changes.bases(Layout())
    assert states(found.commit) == {"a": "created"}
    with pytest.raises(ContextError, match="no commit here yet"):
        base("main")


def test_a_copy_of_the_toolkit_is_no_work_to_review(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("branch", "main")
    commit("mine")
    commit("tools/contextkit/scripts/verdict.py")
    assert len(changes.compare(Layout()).changes) == 2
    monkeypatch.setattr(version, "TOOLKIT", str(repo / "tools" / "contextkit"))
    (one,) = changes.compare(Layout()).changes
    assert one.path == "mine"
    monkeypatch.setattr(version, "TOOLKIT", str(repo))  # at work on the toolkit itself
    assert len(changes.compare(Layout()).changes) == 2


def test_a_base_is_where_the_branches_parted(repo: Path) -> None:
    git("branch", "main")
    commit("mine")
    git("checkout", "-q", "main")
    commit("theirs")
    git("checkout", "-q", "feature/demo")
    for found in (*changes.bases(Layout()), *changes.bases(Layout(), "main")):
        assert found.name == "main" and states(found.commit) == {"mine": "created"}


def test_the_upstream_comes_first_then_origin_then_main(repo: Path, tmp_path: Path) -> None:
    git("branch", "main")
    git("init", "-q", "--bare", "-b", "trunk", str(tmp_path / "far"))
    git("remote", "add", "origin", str(tmp_path / "far"))
    commit("a")
    git("push", "-q", "origin", "HEAD:trunk")
    git("remote", "set-head", "origin", "trunk")
    commit("b")
    git("push", "-q", "-u", "origin", "HEAD")
    assert base() == ["the upstream", "origin/HEAD", "main"]


def test_no_base_is_an_error_that_says_what_to_give(repo: Path) -> None:
    with pytest.raises(ContextError, match="give base=COMMIT"):
        base()
    for given in ("nowhere", "-x", "a b", "HEAD:", "\0"):
        with pytest.raises(ContextError, match="no commit") as refusal:
            base(given)
        assert refusal.value.status == 2
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-q", "--allow-empty", "-m", "unrelated")
    with pytest.raises(ContextError, match="no commit in common"):
        base("feature/demo")


def test_a_pushed_clean_branch_is_compared_with_where_it_began(repo: Path, tmp_path: Path) -> None:
    git("branch", "main")
    git("init", "-q", "--bare", str(tmp_path / "far"))
    git("remote", "add", "origin", str(tmp_path / "far"))
    commit("a")
    git("push", "-q", "-u", "origin", "HEAD")
    found = changes.compare(Layout())
    assert found.base.name == "main" and [change.path for change in found.changes] == ["a"]
    write("b")
    assert changes.compare(Layout()).base.name == "the upstream"


def test_nothing_that_differs_is_an_error(repo: Path) -> None:
    git("branch", "main")
    with pytest.raises(ContextError, match="from main: change something first") as refusal:
        changes.compare(Layout())
    assert refusal.value.status == 1
    commit("a")
    git("branch", "-f", "main")
    with pytest.raises(ContextError, match=r"from main: give base=.*base=HEAD~1"):
        changes.compare(Layout())
    write("out/report.md")
    with pytest.raises(ContextError, match="nothing differs"):
        changes.compare(Layout(), left_out=(os.path.abspath("out"),))


def test_a_comparison_says_how_much_and_at_which_revision(repo: Path) -> None:
    git("branch", "main")
    commit("a")
    write("a", "one\n")
    found = changes.compare(Layout())
    assert found.lines == 1 and found.diff.count(b"diff --git") == 1
    with changes.work_tree(Layout()) as tree:
        assert tree.revision() == found.revision


def test_a_change_is_listed_on_one_line() -> None:
    rows = changes.listed(
        (
            Change(path="a\nb", state="renamed", old_path="c", added=1, removed=2),
            Change(path="image", state="created", binary=True),
        )
    )
    assert rows == [("renamed", "+1 -2", "a b <- c"), ("created", "binary", "image")]
