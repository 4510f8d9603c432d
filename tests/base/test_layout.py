"""layout.py: which folder is the root, and where in it everything is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import git
from contextkit.base import files, version
from contextkit.base import layout as layouts
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another repository."""
    path = tmp_path / "other"
    path.mkdir()
    git("init", "-q", "-b", "main", cwd=path)
    return path


def below(*parts: str) -> Path:
    """A new folder below the current directory."""
    path = Path.cwd().joinpath(*parts)
    path.mkdir(parents=True)
    return path


# The root


def test_without_git_the_root_is_the_current_directory(sealed: Path) -> None:
    layout = Layout()
    assert (layout.root, layout.repository) == (str(sealed), None)


def test_in_a_repository_the_root_is_its_top_from_any_folder(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(below("deep", "down"))
    assert Layout().root == str(repo)
    assert Layout().repository is not None


def test_context_root_comes_before_git_for_documents_but_not_for_facts(
    repo: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_ROOT", str(other))
    layout = Layout()
    assert layout.root == str(other)
    assert layout.repository is not None and layout.repository.top == str(repo)


def test_the_option_comes_before_context_root_and_is_a_change_of_repository(
    repo: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_ROOT", str(tmp_path))
    layout = Layout(str(other))
    assert layout.root == str(other)
    assert layout.repository is not None and layout.repository.top == str(other)


def test_a_root_may_be_relative_or_a_link_and_is_followed(
    repo: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Layout(os.path.relpath(other)).root == str(other)
    Path("link").symlink_to(other)
    monkeypatch.setenv("CONTEXT_ROOT", "link")
    assert Layout().root == str(other)


def test_a_folder_given_as_root_is_the_root_even_inside_a_repository(repo: Path) -> None:
    folder = below("part")
    layout = Layout("part")
    assert layout.root == str(folder)
    assert layout.repository is not None and layout.repository.top == str(repo)


def test_a_worktree_has_a_root_of_its_own(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    (tmp_path / "tree" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "tree" / "src")
    assert Layout().root == str(tmp_path / "tree")


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_root_that_is_no_folder_is_refused(
    name: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("", encoding="utf-8")
    with pytest.raises(ContextError, match=f"root: '{name}' is not a folder"):
        Layout(name)
    monkeypatch.setenv("CONTEXT_ROOT", name)
    with pytest.raises(ContextError, match=f"root: '{name}' is not a folder"):
        Layout()


# Paths that users type


def test_a_typed_path_is_relative_to_the_current_directory(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(below("docs"))
    layout = Layout()
    assert layout.typed("a/b.md", "file") == str(repo / "docs/a/b.md")
    assert layout.typed("../b.md", "file") == str(repo / "b.md")
    assert layout.typed(str(repo / "c.md"), "file") == str(repo / "c.md")
    assert layout.shown(layout.typed("d.md", "file")) == "docs/d.md"


OUTSIDE = ["../x.md", "a/../../x.md", "/etc/passwd", "../workshop/x", "out", "out/x.md", "file-out"]


@pytest.mark.parametrize("path", [*OUTSIDE, ".", ""])
def test_a_typed_path_that_leaves_the_root_is_refused(path: str, layout: Layout) -> None:
    """`out` links to a folder outside, `file-out` to a file that need not exist."""
    Path("out").symlink_to("..")
    Path("file-out").symlink_to("../not-there.md")
    with pytest.raises(ContextError, match=r"file: .* lies outside") as refusal:
        layout.typed(path, "file")
    assert refusal.value.status == 2


def test_a_link_that_stays_inside_is_followed(layout: Layout) -> None:
    real = below("real")
    Path("link").symlink_to("real")
    assert layout.typed("link/x.md", "file") == str(real / "x.md")


# Places


def test_documented_places_are_below_the_root(layout: Layout, repo: Path) -> None:
    assert layout.capsules == str(repo / "parallelus/manuals/capsules")
    assert layout.reminders == str(repo / "parallelus/manuals/capsules/remember-later.md")
    assert layout.state == str(repo / ".contextkit")


def test_a_settings_file_moves_them(repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("capsules: docs/capsules\n", encoding="utf-8")
    layout = Layout()
    assert layout.shown(layout.capsules) == "docs/capsules"
    assert layout.shown(layout.reminders) == "parallelus/manuals/capsules/remember-later.md"


def test_an_older_notebook_counts_only_where_there_is_no_newer_one(
    layout: Layout, repo: Path
) -> None:
    newer, older = repo / "docs/branches/b/PROGRESS.md", repo / "docs/progress/b.md"
    assert layout.notebook("b", "PROGRESS") == str(newer)
    assert layout.notebook("b", "PLAN") == str(repo / "docs/branches/b/PLAN.md")
    for path, found in ((older, older), (newer, newer)):
        path.parent.mkdir(parents=True)
        path.write_text("", encoding="utf-8")
        assert layout.notebook("b", "PROGRESS") == str(found)
    below("docs", "plans")
    (repo / "docs/plans/b.md").write_text("", encoding="utf-8")
    assert layout.notebook("b", "PLAN") == str(repo / "docs/plans/b.md")


def test_each_shared_file_has_a_lock_of_its_own_that_git_does_not_see(layout: Layout) -> None:
    paths = ["a/b.md", "a%2Fb.md", "a-b.md", "b.md"]
    locks = {layout.lock(layout.join(path)) for path in paths}
    assert len(locks) == len(paths)
    assert {os.path.dirname(lock) for lock in locks} == {layout.join(".contextkit", "locks")}
    assert git("status", "--porcelain") == ""
    for part in ("a" * 250, "漢" * 80):
        with files.locked(layout.lock(layout.join(part, part))):
            pass


def test_the_toolkit_knows_its_own_folder() -> None:
    assert version.toolkit("templates") == os.path.join(version.TOOLKIT, "templates")
    assert Path(version.toolkit("scripts", "contextkit", "base", "layout.py")).samefile(
        layouts.__file__
    )
