"""changes.py: each changed file once, in every state of a tree, and a revision that lasts."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from conftest import git
from contextkit.base import changes
from contextkit.base.changes import Change
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout


def tree(*left_out: str) -> changes.work_tree:
    return changes.work_tree(Layout(), tuple(map(os.path.abspath, left_out)))


def changed(base: str = "HEAD") -> list[Change]:
    with tree() as found:
        return found.changes(base)


def states(base: str = "HEAD") -> dict[str, str]:
    return {change.path: change.state for change in changed(base)}


def revision(*left_out: str) -> str:
    with tree(*left_out) as found:
        return found.revision()


def diff(base: str = "HEAD") -> str:
    with tree() as found:
        return found.diff(base).decode("utf-8", "surrogateescape")


def write(path: str, text: str | bytes = "x\n") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())


def commit(*paths: str) -> None:
    for path in paths:
        write(path, f"one\ntwo\nthree\n{path}\n")
    git("add", "--all")
    git("commit", "-q", "--allow-empty", "-m", "more")


def test_staged_unstaged_and_untracked_are_one_state(repo: Path) -> None:
    commit("a", "b", "c", "gone", "old name")
    write("a", "staged\n")
    git("add", "a")
    write("a", "staged\nand edited since\n")
    write("b", "edited\n")
    git("mv", "old name", "new name")
    os.unlink("gone")
    write("new/untracked", "1\n2\n")
    assert changed() == [
        Change(path="a", state="modified", added=2, removed=4),
        Change(path="b", state="modified", added=1, removed=4),
        Change(path="gone", state="deleted", removed=4),
        Change(path="new name", state="renamed", old_path="old name"),
        Change(path="new/untracked", state="created", added=2),
    ]
    text = diff()
    assert text.count("diff --git") == 5 and text.count("and edited since") == 1
    assert git("status", "--porcelain").splitlines() == [
        "MM a", " M b", " D gone", "R  \"old name\" -> \"new name\"", "?? new/",
    ]  # fmt: skip


def test_what_git_ignores_is_no_change(repo: Path) -> None:
    write(".gitignore", "*.log\n")
    commit()
    write("x.log")
    assert changed() == [] and diff() == ""


def test_committing_the_state_keeps_the_revision_and_an_edit_does_not(repo: Path) -> None:
    commit("a", "b")
    write("a", "edited\n")
    write("new")
    before = revision()
    git("add", "a")
    assert revision() == before
    git("add", "--all")
    git("commit", "-q", "-m", "as reviewed")
    assert revision() == before
    write("b", "edited\n")
    assert revision() != before
    git("checkout", "-q", "b")
    os.chmod("b", 0o755)
    assert revision() != before


def test_left_out_folders_do_not_count_even_if_git_tracks_them(repo: Path) -> None:
    commit("a", "out/tracked.md", "outer/a")
    before = revision("out")
    write("out/tracked.md")
    write("out/new.md")
    assert revision("out") == before and revision() != before
    with tree("out") as found:
        assert found.changes("HEAD") == [] and found.diff("HEAD") == b""


def test_a_write_under_way_is_no_work(repo: Path) -> None:
    commit("a")
    before = revision()
    write("notes/.registry.json.0123456789ab.tmp", "half of it")
    assert revision() == before and states() == {}
    write("notes/.registry.json.tmp", "somebody else's")
    assert revision() != before and states() == {"notes/.registry.json.tmp": "created"}


def test_nothing_of_the_repository_is_touched(repo: Path) -> None:
    commit("a")
    write("a", "edited\n")
    write("new", "a new object\n")

    def inside() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in Path(".git").rglob("*") if path.is_file()}

    before = inside()
    diff(), revision()
    assert inside() == before and os.listdir(".contextkit") == [".gitignore"]


def test_an_edit_within_the_tick_of_the_index_is_seen(repo: Path) -> None:
    commit("a")
    write("a", "staged\n")
    git("add", "a")
    times = os.stat("a")
    write("a", "edited\n")  # same size
    os.utime("a", ns=(times.st_mtime_ns, times.st_mtime_ns))
    os.utime(".git/index", ns=(times.st_mtime_ns, times.st_mtime_ns))
    assert "+edited" in diff()


ODD = ["a\nb", 'say "hi"', "tab\there", "-dash", ":(top)x", "gr\u00fc\u00df", "a b ", "*", "\\back"]


def test_odd_names_arrive_as_they_are(repo: Path) -> None:
    for name in ODD:
        write(name)
    write(os.fsdecode(b"caf\xe9"))
    assert states() == dict.fromkeys([*ODD, os.fsdecode(b"caf\xe9")], "created")
    commit()
    for name in ODD:
        os.rename(name, name + ".moved")
    assert sum(change.state == "renamed" for change in changed()) == len(ODD)


def test_a_binary_file_is_said_and_not_dumped(repo: Path) -> None:
    write("image", bytes(range(256)) * 20)
    assert changed() == [Change(path="image", state="created", binary=True)]
    text = diff()
    assert "Binary files /dev/null and b/image differ" in text and len(text) < 300


def test_a_link_a_mode_and_a_type_are_changes(repo: Path) -> None:
    commit("a", "b")
    os.chmod("a", 0o755)
    os.unlink("b")
    os.symlink("a", "b")
    os.symlink("/nowhere", "c")
    assert states() == {"a": "modified", "b": "modified", "c": "created"}


def test_a_repository_inside_is_left_alone(repo: Path) -> None:
    write("inner/file")
    git("init", "-q", "inner")
    write("outer")
    assert states() == {"outer": "created"}


def test_a_merge_with_conflicts_is_as_the_files_stand(repo: Path) -> None:
    commit("a")
    git("checkout", "-q", "-b", "other")
    write("a", "theirs\n")
    commit()
    git("checkout", "-q", "feature/demo")
    write("a", "ours\n")
    commit()
    with pytest.raises(Exception, match="merge"):
        git("merge", "-q", "other")
    assert states() == {"a": "modified"} and "<<<<<<<" in diff()


def test_the_users_settings_change_nothing(repo: Path) -> None:
    commit("a")
    os.rename("a", "b")
    before = diff()
    for name, value in (
        ("diff.noprefix", "true"), ("diff.renames", "false"), ("color.ui", "always"),
        ("diff.external", "touch pwned"), ("diff.context", "0"), ("core.fsmonitor", "touch pwned"),
    ):  # fmt: skip
        git("config", name, value)
    assert diff() == before and not Path("pwned").exists()


def test_a_failing_git_is_no_empty_answer(repo: Path) -> None:
    write("a")
    with pytest.raises(ContextError, match="git diff failed: fatal: bad object"):
        diff("0" * 40)
    Path(".git/index").write_bytes(b"garbage")
    with pytest.raises(ContextError, match="git add failed"):
        changed()


def test_before_the_first_commit_every_file_is_new(sealed: Path) -> None:
    git("init", "-q")
    write("a")
    (base,) = changes.bases(Layout())
    assert changed(base.commit) == [Change(path="a", state="created", added=1)]


def test_outside_of_a_repository_nothing_is_compared(sealed: Path) -> None:
    with pytest.raises(ContextError, match="not in a git repository"):
        changed()


def test_without_git_it_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tree()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ContextError, match="git is not installed"), found:
        pass


def test_a_document_has_a_revision_too(repo: Path) -> None:
    write("plan.md")
    before = changes.data_revision(Path("plan.md").read_bytes())
    assert before.startswith("input:") and before == changes.data_revision(
        Path("plan.md").read_bytes()
    )
    write("plan.md", "y\n")
    assert changes.data_revision(Path("plan.md").read_bytes()) != before


# The folder of the temporary index


def scratch() -> list[Path]:
    return sorted(Path(".contextkit").glob("scratch-*"))


def test_it_goes_with_all_that_is_in_it(repo: Path) -> None:
    Path("mine").mkdir()
    Path("mine/kept").touch()
    with tree():
        (folder,) = scratch()
        Path(folder, "deep/er").mkdir(parents=True)
        Path(folder, "deep/er/file").touch(mode=0o400)
        Path(folder, "link").symlink_to(Path("mine").resolve())
    assert scratch() == [] and Path("mine/kept").exists()


def test_it_goes_after_an_error_too(repo: Path) -> None:
    with pytest.raises(KeyError), tree():
        raise KeyError
    assert scratch() == []


def test_what_a_killed_process_left_goes_after_an_hour(repo: Path) -> None:
    for name, age in (("scratch-old", 3700), ("scratch-new", 3500), ("other", 9999)):
        Path(".contextkit", name, "in").mkdir(parents=True)
        os.utime(Path(".contextkit", name), (0, time.time() - age))
    with tree():
        pass
    assert [path.name for path in scratch()] == ["scratch-new"]
    assert Path(".contextkit/other").exists()
