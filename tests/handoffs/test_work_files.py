"""What git reports as worked on, for every state that a file can be in."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import git
from contextkit.base.layout import Layout
from contextkit.handoffs.flows import autofill


def seen(root: str = "") -> list[str]:
    return list(autofill.looking(Layout(root)).seen())


def test_every_state_that_a_file_can_be_in(repo: Path) -> None:
    for name in ("staged", "edited", "gone", "removed", "old", "unlisted", "kind", "sub/in"):
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name}\n", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("branch", "main")
    for name in ("on the branch", "sub/in"):
        Path(name).write_text("changed", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "more")
    for name in ("staged", "added and gone", "added"):
        Path(name).write_text("changed", encoding="utf-8")
    git("add", "-A")
    Path("added and gone").unlink()
    for name in ("edited", "added"):
        Path(name).write_text("changed again", encoding="utf-8")
    Path("gone").unlink()
    git("rm", "-q", "removed")
    git("mv", "old", "new")
    git("rm", "-q", "--cached", "unlisted")
    Path("kind").unlink()
    Path("kind").symlink_to("edited")
    Path("two\nlines").write_text("x", encoding="utf-8")
    Path(os.fsdecode(b"no utf-8 \xff")).write_text("x", encoding="utf-8")
    assert sorted(seen()) == sorted(
        "added (created)|edited (modified)|gone (deleted)|kind (modified)|new (created)|"
        "no utf-8 \ufffd (created)|old (deleted)|on the branch (created)|removed (deleted)|"
        "staged (modified)|sub/in (modified)|two lines (created)|unlisted (modified)".split("|")
    )
    assert "in (modified)" in seen("sub") and "../staged (modified)" in seen("sub")
    git("stash", "-qu")
    assert seen() == ["on the branch (created)", "sub/in (modified)"]


def test_a_conflict_is_a_change_whatever_side_deleted(repo: Path) -> None:
    Path("a").write_text("a", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("branch", "other")
    git("rm", "-q", "a")
    git("commit", "-qm", "gone")
    git("checkout", "-q", "other")
    Path("a").write_text("edited", encoding="utf-8")
    git("commit", "-qam", "edited")
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "feature/demo")
    assert git("status", "--porcelain") == "UD a\n" and seen() == ["a (modified)"]


@pytest.mark.parametrize("count", [9, 10, 11, 25])
def test_every_file_is_named_or_counted(count: int, repo: Path, layout: Layout) -> None:
    for number in range(count):
        (repo / f"file-{number:02}.txt").write_text("x", encoding="utf-8")
    fields, _ = autofill.fill(layout, {"next_action": "go on"})
    *named, last = fields["files_modified"]
    more = re.fullmatch(r"\(\+(\d+) more\)", last)
    assert len(named) + (int(more[1]) if more else 1) == count
    assert len(fields["files_modified"]) <= layout.limits.handoff_files
