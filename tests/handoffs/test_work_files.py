"""What git reports as worked on, for every state that a file can be in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Script, git
from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.handoffs.flows import work

from hooks import fire


def seen(root: str = "") -> list[str]:
    files = work.seen(Layout(root))
    assert files is not None
    return [f"{path} ({state})" for path, state in files.items()]


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
        "staged (modified)|sub/in (modified)|two\nlines (created)|unlisted (modified)".split("|")
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
    fields = work.fill(layout, {"next_action": "go on"})
    *named, last = fields["files_modified"]
    more = re.fullmatch(r"\(\+(\d+) more\)", last)
    assert len(named) + (int(more[1]) if more else 1) == count
    assert len(fields["files_modified"]) <= layout.limits.handoff_files


# Since the outgoing agent took over


@pytest.fixture
def team(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A clock for commands, commits and files: `at(minutes)`, and a file changed then."""

    def at(minutes: int, *paths: str, commit: bool = False) -> None:
        when = names.moment(NOW) + 60 * minutes
        monkeypatch.setenv("CONTEXT_NOW", names.iso(when))
        monkeypatch.setattr(time, "time", lambda: float(when))
        for path in paths:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(f"{minutes}\n", encoding="utf-8")
            os.utime(path, (when, when))
        if commit:
            monkeypatch.setenv("GIT_COMMITTER_DATE", names.iso(when))
            git("add", *paths)
            git("commit", "-qm", "x")

    yield at


def files_of(run: Script, to: str) -> list[str]:
    assert run("handoff", "switch", to, "--no-story", "--next-action=go on") == 0, run.err
    assert run("handoff", "show", "--json") == 0
    (found,) = json.loads(run.out)
    files: list[str] = found["files_modified"]
    return files


def test_files_are_those_since_the_outgoing_agent_took_over_newest_first(
    team: Any, run: Script
) -> None:
    team(0, "before.py", commit=True)
    team(1, "open.py")
    team(2)
    run("handoff", "switch", "sm")
    team(3, "b.py")
    team(4, "c.py", commit=True)
    team(5, "a.py")
    team(6)
    assert files_of(run, "dev") == ["a.py (created)", "c.py (created)", "b.py (created)"]
    team(7, "c.py")
    team(8)
    assert files_of(run, "qa") == ["c.py (modified)"]
    team(9)
    assert files_of(run, "sm") == []


def test_a_renamed_file_is_told_under_both_names_before_it_is_committed(
    repo: Path, run: Script
) -> None:
    for name in ("by git.py", "by hand.py"):
        Path(name).write_text(name, encoding="utf-8")
        os.utime(name, (1, 1))
    git("add", "-A")
    git("commit", "-qm", "old files")
    run("handoff", "switch", "sm")
    git("mv", "by git.py", "git.py")
    Path("by hand.py").rename("hand.py")
    told = files_of(run, "dev")
    assert sorted(told) == [
        "by git.py (deleted)", "by hand.py (deleted)", "git.py (created)", "hand.py (created)",
    ]  # fmt: skip


@pytest.mark.parametrize("branch", ["main", "feature/demo"])
def test_what_is_committed_in_the_second_of_a_switch_is_told_to_the_agent_after_it(
    branch: str, team: Any, run: Script
) -> None:
    git("branch", "-M", "main")
    git("checkout", "-q", "-B", branch)
    team(1, "before.py", commit=True)
    run("handoff", "switch", "sm")
    team(1, "after.py", commit=True)
    team(2)
    assert files_of(run, "dev") == ["after.py (created)"]
    run("handoff", "undo")
    team(3, "later.py", commit=True)
    assert files_of(run, "qa") == ["later.py (created)"]  # whose second alone is known


def test_a_commit_that_is_gone_since_the_switch_hides_no_file(team: Any, run: Script) -> None:
    run("handoff", "switch", "sm")
    state = Path(".aios/handoffs/session-state")
    head = git("rev-parse", "HEAD").strip()
    state.write_text(state.read_text("utf-8").replace(head, "1" * 40), encoding="utf-8")
    team(3, "a.py", commit=True)
    team(4)
    assert files_of(run, "dev") == ["a.py (created)"]


def test_no_files_and_files_that_nobody_can_know_are_told_apart(
    repo: Path, tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"next_action": "go on"}
    assert work.fill(layout, fields)["files_modified"] == ()
    outside = tmp_path / "outside"
    (outside / "src").mkdir(parents=True)
    (outside / "src/ui.py").write_text("x", encoding="utf-8")
    elsewhere, unknown = Layout(str(outside)), "(not known: this is not a git repository)"
    assert work.fill(elsewhere, fields)["files_modified"] == (unknown,)
    edited = {**fields, work.EDITED: ("src/ui.py (modified)",)}
    assert work.fill(elsewhere, edited)["files_modified"] == ("src/ui.py (modified)", unknown)
    (repo / ".git/index").write_bytes(b"broken")
    assert work.fill(layout, fields)["files_modified"] == ("(not known: git did not answer)",)


def test_files_committed_on_the_default_branch_are_listed(team: Any, run: Script) -> None:
    git("branch", "-m", "main")
    team(0, "before.py", commit=True)
    team(2)
    run("handoff", "switch", "sm")
    team(3, "a.py", commit=True)
    team(4, "b.py", commit=True)
    team(5)
    assert files_of(run, "dev") == ["b.py (created)", "a.py (created)"]
    team(6)
    assert files_of(run, "qa") == []


def test_a_first_handoff_on_the_default_branch_lists_what_was_committed_in_the_last_day(
    team: Any, repo: Path, layout: Layout
) -> None:
    git("branch", "-m", "main")
    team(0, "before.py", commit=True)
    team(24 * 60 - 1, "today.py", commit=True)
    team(24 * 60 + 1)
    fields = work.fill(layout, {"next_action": "go on"})
    assert fields["files_modified"] == ("today.py (created)",)


@pytest.mark.parametrize("session", ["s-1", "sess-20251023T183500Z-abcdef"])
def test_a_first_handoff_on_the_default_branch_lists_what_its_session_committed(
    session: str, team: Any, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("branch", "-m", "main")
    team(20, "earlier.py", commit=True)
    team(30, f".contextkit/sessions/{session}")
    team(40, "ours.py", commit=True)
    team(50)
    monkeypatch.setenv("SESSION_ID", session)
    fields = work.fill(layout, {"next_action": "go on"})
    assert fields["files_modified"] == ("ours.py (created)",)


@pytest.mark.parametrize("branch", ["main", "feature/demo"])
@pytest.mark.parametrize("merge", ["--no-ff", "--ff", "rebase"])
def test_what_others_committed_is_not_told_as_work_of_this_checkout(
    merge: str, branch: str, team: Any, run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("branch", "-M", "main")
    team(0, "before.py", commit=True)
    git("checkout", "-q", "-B", branch)
    run("handoff", "switch", "sm")
    git("clone", "-q", ".", "../theirs")
    with monkeypatch.context() as another:
        another.chdir("../theirs")
        another.setenv("GIT_COMMITTER_EMAIL", "them@example.org")
        team(3, "theirs.py", commit=True)
    git("fetch", "-q", "../theirs", "HEAD:refs/remotes/origin/main")
    if merge != "--ff":
        team(4, "ours.py", commit=True)
    if merge == "rebase":
        git("rebase", "-q", "origin/main")
    else:
        git("merge", "-q", merge, "origin/main")
    own = [] if merge == "--ff" else ["ours.py (created)"]
    team(5)
    assert files_of(run, "dev") == own


def test_what_was_pushed_is_still_told_and_told_again_once_the_handoff_is_undone(
    team: Any, run: Script
) -> None:
    git("branch", "-m", "main")
    run("handoff", "switch", "sm")
    team(4, "ours.py", commit=True)
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    team(5)
    assert files_of(run, "dev") == ["ours.py (created)"]
    run("handoff", "undo")
    assert files_of(run, "qa") == ["ours.py (created)"]


def test_without_a_log_of_head_all_of_the_branch_counts(team: Any, run: Script) -> None:
    git("config", "core.logAllRefUpdates", "false")
    team(0, "before.py", commit=True)
    shutil.rmtree(".git/logs")
    git("branch", "main")
    run("handoff", "switch", "sm")
    team(3, "a.py", commit=True)
    team(4)
    assert files_of(run, "dev") == ["a.py (created)"]


def test_the_hook_lists_the_same_files(team: Any, run: Script) -> None:
    team(0)
    fire("UserPromptSubmit", prompt="@sm plan")
    team(1, "b.py", commit=True)
    team(2, "a.py")
    team(3)
    fire("UserPromptSubmit", prompt="@dev build it")
    assert run("handoff", "show", "--json") == 0
    assert json.loads(run.out)[0]["files_modified"] == ["a.py (created)", "b.py (created)"]


def test_what_adopt_wrote_is_nobodys_work(repo: Path, run: Script) -> None:
    assert run("adopt", f"--into={repo}", "--hosts=claude") == 0, run.err
    seen_then = seen()
    assert not [line for line in seen_then if "skills" in line or "tools/" in line]
    skill = next(repo.glob(".claude/skills/*/SKILL.md"))
    later = time.time() + 60
    skill.write_text("mine now\n", encoding="utf-8")
    os.utime(skill, (later, later))
    assert f"{skill.relative_to(repo)} (created)" in seen()


def test_earlier_artifacts_print_what_the_newest_does_not_have(repo: Path, run: Script) -> None:
    same = ("--story-id=4.2", "--story-path=docs/4.2.md", "--branch=b")
    run("handoff", "switch", "sm")
    run("handoff", "switch", "dev", *same, "--decision=Use TOML", "--files=a.py | b.py",
        "--blocker=CI is red", "--next-action=Build it")  # fmt: skip
    assert run("handoff", "switch", "qa", *same, "--decision=No cache", "--files=b.py",
               "--next-action=Test it") == 0  # fmt: skip
    newest, _, earlier = run.out.partition("## As it was before")
    assert all(word in newest for word in ("Use TOML", "No cache", "CI is red", "4.2", "b.py"))
    assert all(word in earlier for word in ("Build it", "a.py", "sm"))
    assert not any(w in earlier for w in ("Use TOML", "CI is red", "docs/4.2.md", "b.py", "time"))
