"""git.py: what it reads from `.git` is what git itself says, in every state of a repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SCRIPTS, each
from conftest import git as run_git
from contextkit.base import git
from contextkit.base.git import Head


def asked(folder: str, *arguments: str) -> str:
    """What git answers in `folder`; empty if it refuses."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=False, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def gits(folder: str) -> tuple[str, Head]:
    """Top level and head as git itself says them."""
    branch = asked(folder, "symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")
    commit = asked(folder, "rev-parse", "--quiet", "--verify", "HEAD")
    return asked(folder, "rev-parse", "--show-toplevel"), Head(branch=branch, commit=commit)


def ours(folder: str) -> tuple[str, Head]:
    found = git.find(folder)
    assert found is not None
    return found.top, git.head(found)


def commit(subject: str, folder: str = ".") -> None:
    run_git("-C", folder, "commit", "-q", "--allow-empty", "-m", subject)


def repository(folder: str, *options: str) -> None:
    run_git("init", "-q", "-b", "main", *options, folder)
    commit("first", folder)


# Each of these makes a state of the repository that is the current directory, and returns the
# folder to ask in and the branch that is checked out there.


def nothing_special() -> tuple[str, str]:
    return ".", "feature/demo"


def a_subfolder() -> tuple[str, str]:
    os.makedirs("a/b/c")
    return "a/b/c", "feature/demo"


def packed_refs() -> tuple[str, str]:
    run_git("branch", "demo")
    run_git("branch", "feature/demo-2")
    run_git("pack-refs", "--all")
    assert not os.path.exists(".git/refs/heads/feature/demo")
    return ".", "feature/demo"


def a_commit_after_packing() -> tuple[str, str]:
    packed_refs()
    commit("second")
    return ".", "feature/demo"


def a_worktree() -> tuple[str, str]:
    run_git("worktree", "add", "-q", "-b", "other", "../tree")
    commit("second", "../tree")
    os.mkdir("../tree/sub")
    return "../tree/sub", "other"


def a_worktree_with_packed_refs() -> tuple[str, str]:
    folder, branch = a_worktree()
    run_git("pack-refs", "--all")
    return folder, branch


def a_moved_worktree_inside_the_repository() -> tuple[str, str]:
    run_git("worktree", "add", "-q", "-b", "other", "trees/one")
    run_git("worktree", "move", "trees/one", "trees/two")
    return "trees/two", "other"


def an_unborn_branch() -> tuple[str, str]:
    run_git("checkout", "-q", "--orphan", "feature/new")
    return ".", "feature/new"


def a_detached_head() -> tuple[str, str]:
    run_git("checkout", "-q", "--detach")
    return ".", ""


def a_submodule() -> tuple[str, str]:
    repository("../library")
    allowed = ("-c", "protocol.file.allow=always")
    run_git(*allowed, "submodule", "--quiet", "add", "../library", "vendor/library")
    os.mkdir("vendor/library/deep")
    return "vendor/library/deep", "main"


def a_submodule_behind_a_link() -> tuple[str, str]:
    a_submodule()
    os.symlink("work/vendor/library", "../alias")
    return "../alias", "main"


def a_git_folder_elsewhere() -> tuple[str, str]:
    repository("../apart", "--separate-git-dir=../store.git")
    return "../apart", "main"


def a_branch_that_names_another() -> tuple[str, str]:
    run_git("symbolic-ref", "refs/heads/alias", "refs/heads/feature/demo")
    run_git("symbolic-ref", "HEAD", "refs/heads/alias")
    return ".", "feature/demo"


def a_head_that_is_a_link() -> tuple[str, str]:
    os.unlink(".git/HEAD")
    os.symlink("refs/heads/feature/demo", ".git/HEAD")
    return ".", "feature/demo"


def a_head_with_a_tab() -> tuple[str, str]:
    Path(".git/HEAD").write_bytes(b"ref:\trefs/heads/feature/demo \n")
    return ".", "feature/demo"


def a_head_outside_of_the_branches() -> tuple[str, str]:
    run_git("update-ref", "refs/stacks/one", "HEAD")
    run_git("symbolic-ref", "HEAD", "refs/stacks/one")
    return ".", "refs/stacks/one"


def a_tag_of_the_same_name() -> tuple[str, str]:
    run_git("tag", "-a", "-m", "annotated", "feature/demo")
    commit("second")
    return ".", "feature/demo"


def a_rebase_that_stopped() -> tuple[str, str]:
    for branch in ("one", "two"):
        run_git("checkout", "-q", "-b", branch, "feature/demo")
        Path("file").write_text(branch, encoding="utf-8")
        run_git("add", "file")
        commit(branch)
    assert asked(".", "rebase", "one") == ""
    return ".", ""


def long_hashes() -> tuple[str, str]:
    repository("../sha256", "--object-format=sha256")
    run_git("-C", "../sha256", "pack-refs", "--all")
    return "../sha256", "main"


def a_link_into_the_repository() -> tuple[str, str]:
    os.makedirs("a/b")
    os.symlink("work/a/b", "../link")
    return "../link", "feature/demo"


def an_empty_git_folder_below() -> tuple[str, str]:
    os.makedirs("sub/.git")
    return "sub", "feature/demo"


def a_git_folder_below_with_a_head_of_garbage() -> tuple[str, str]:
    run_git("init", "-q", "sub")
    Path("sub/.git/HEAD").write_bytes(b"\x00garbage\xff\n")
    return "sub", "feature/demo"


STATES = [
    nothing_special, a_subfolder, packed_refs, a_commit_after_packing, a_worktree,
    a_worktree_with_packed_refs, a_moved_worktree_inside_the_repository, an_unborn_branch,
    a_detached_head, a_submodule, a_submodule_behind_a_link, a_git_folder_elsewhere,
    a_branch_that_names_another, a_head_that_is_a_link, a_head_with_a_tab,
    a_head_outside_of_the_branches, a_tag_of_the_same_name, a_rebase_that_stopped, long_hashes,
    a_link_into_the_repository, an_empty_git_folder_below,
    a_git_folder_below_with_a_head_of_garbage,
]  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_top_branch_and_commit_are_those_of_git(
    state: Callable[[], tuple[str, str]], repo: Path
) -> None:
    folder, branch = state()
    found = ours(folder)
    assert found == gits(folder)
    assert found[1].branch == branch


@each(
    "branch",
    [
        "feature/ünï-ćode", "日本語/枝", "e\u0301", "a+b@x#1", "feature/a/b/c", "it's;$(x)&`y`",
        '"quoted"', "-dash", "--output=x", "refs/heads/x", "HEAD", "remember-later.md", "x" * 200,
        "a%2Fb", "\U0001f680",
    ],
)  # fmt: skip
@each("packed", [False, True])
def test_a_branch_may_be_called_anything_that_git_allows(
    branch: str, packed: bool, repo: Path
) -> None:
    run_git("update-ref", f"refs/heads/{branch}", "HEAD")
    run_git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    commit("second")
    if packed:
        run_git("pack-refs", "--all")
    assert ours(".") == gits(".")
    assert ours(".")[1].branch == branch


def test_a_branch_that_is_not_utf_8_still_has_its_commit(repo: Path) -> None:
    name = os.fsdecode(b"refs/heads/caf\xe9")
    run_git("update-ref", name, "HEAD")
    run_git("symbolic-ref", "HEAD", name)
    assert ours(".")[1] == Head(branch="caf\ufffd", commit=asked(".", "rev-parse", "HEAD"))


def test_a_reftable_store_is_asked_through_git(sealed: Path) -> None:
    if subprocess.run(["git", "init", "-q", "--ref-format=reftable", "r"], check=False,
                      capture_output=True).returncode:  # fmt: skip
        pytest.skip("this git has no reftable")
    run_git("-C", "r", "symbolic-ref", "HEAD", "refs/heads/feature/new")
    assert ours("r") == gits("r")
    commit("first", "r")
    run_git("-C", "r", "tag", "feature/new")
    assert ours("r") == gits("r")
    assert ours("r")[1].branch == "feature/new"
    run_git("-C", "r", "checkout", "-q", "--detach")
    assert ours("r") == gits("r")


# Outside


def no_git() -> None:
    pass


def an_empty_git_folder() -> None:
    os.mkdir(".git")


def a_bare_repository() -> None:
    run_git("init", "-q", "--bare", ".")


def a_git_file_of_garbage() -> None:
    Path(".git").write_bytes(b"\xff\x00 garbage")


def a_git_file_that_leads_nowhere() -> None:
    Path(".git").write_text("gitdir: ../gone\n", encoding="utf-8")


def a_git_folder_without_objects() -> None:
    run_git("init", "-q", ".")
    shutil.rmtree(".git/objects")


def a_head_that_is_a_folder() -> None:
    run_git("init", "-q", ".")
    os.unlink(".git/HEAD")
    os.mkdir(".git/HEAD")


def a_head_that_names_no_ref() -> None:
    run_git("init", "-q", ".")
    Path(".git/HEAD").write_text("ref: ../config\n", encoding="utf-8")


def a_broken_git_file_inside_a_repository() -> None:
    repository("..")
    a_git_file_that_leads_nowhere()


def a_link_out_of_a_repository() -> None:
    repository("inner")
    os.mkdir("outer")
    os.symlink("../outer", "inner/link")
    os.chdir("inner/link")


OUTSIDE = [
    no_git, an_empty_git_folder, a_bare_repository, a_git_file_of_garbage,
    a_git_file_that_leads_nowhere, a_git_folder_without_objects, a_head_that_is_a_folder,
    a_head_that_names_no_ref, a_broken_git_file_inside_a_repository, a_link_out_of_a_repository,
]  # fmt: skip


@pytest.mark.parametrize("state", OUTSIDE, ids=lambda state: state.__name__)
def test_what_git_calls_no_work_tree_is_none(state: Callable[[], None], sealed: Path) -> None:
    state()
    assert asked(".", "rev-parse", "--show-toplevel") == ""
    assert git.find(".") is None


# The environment


@pytest.mark.parametrize(
    ("here", "variables"),
    [
        ("elsewhere", {"GIT_DIR": "../work/.git"}),
        ("elsewhere", {"GIT_DIR": "../work/.git", "GIT_WORK_TREE": "../work/a"}),
        ("elsewhere", {"GIT_DIR": "../tree/.git"}),
        ("work/a", {"GIT_DIR": "../.git", "GIT_WORK_TREE": ".."}),
        ("work/a", {"GIT_DIR": "../.git"}),
        ("work/a", {"GIT_WORK_TREE": ".."}),
        ("work", {"GIT_WORK_TREE": "a"}),
        ("tree", {"GIT_DIR": "../work/.git"}),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_git_dir_and_git_work_tree_mean_what_they_mean_to_git(
    here: str,
    variables: dict[str, str],
    absolute: bool,
    repo: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_git("worktree", "add", "-q", "-b", "other", "../tree")
    os.mkdir("a")
    os.mkdir("../elsewhere")
    monkeypatch.chdir(repo.parent / here)
    for name, value in variables.items():
        monkeypatch.setenv(name, os.path.abspath(value) if absolute else value)
    assert ours(".") == gits(".")
    found = git.find(".")
    assert found is not None and len(git.log(found, "", 5)) == 1


def test_a_git_dir_that_is_none_is_no_repository(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "gone")
    assert git.find(".") is None


# Refs


def test_a_ref_by_its_full_name_loose_packed_named_by_another_and_unknown(repo: Path) -> None:
    found = git.find(".")
    assert found is not None
    names = ["refs/heads/feature/demo", "refs/tags/v1", "refs/remotes/origin/HEAD"]
    run_git("tag", "v1")
    run_git("symbolic-ref", names[2], names[0])
    head = asked(".", "rev-parse", "HEAD")
    assert [git.commit_of(found, name) for name in names] == [head] * 3
    run_git("pack-refs", "--all")
    assert [git.commit_of(found, name) for name in names] == [head] * 3
    assert [git.commit_of(found, n) for n in ("refs/heads/demo", "v1", "refs/heads")] == [""] * 3


# The log


ODD_SUBJECTS = [
    "control \x01 \x07 \x1b[31m red",
    "breaks of other kinds \x0b \x0c \x1c \x1d \x1e \x85 \u2028 \u2029 end",
    "the separator \x1f in \x1f it",
    "%x1f%h%n %s percent",
    "long " + "x" * 200_000,
    "ünï-ćode \U0001f680",
    "tab\tand 'quotes' \"too\" $(x) `y`",
    "--option",
]


def test_a_subject_comes_back_whatever_is_in_it(repo: Path) -> None:
    for subject in ODD_SUBJECTS:
        subprocess.run(["git", "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-"],
                       input=f"{subject}\n\nbody\n", encoding="utf-8", check=True)  # fmt: skip
    found = git.find(".")
    assert found is not None
    rows = git.log(found, "feature/demo", len(ODD_SUBJECTS))
    assert [subject for _, _, subject in rows] == ODD_SUBJECTS[::-1]
    times = {when for _, when, _ in rows}
    assert {when.replace("Z", "+00:00") for when in times} == {"2025-10-23T18:05:00+00:00"}
    assert [sha for sha, _, _ in rows] == asked(
        ".", "log", "--format=%h", f"-{len(ODD_SUBJECTS)}"
    ).split()


def test_a_subject_in_another_encoding_is_read_as_text(repo: Path) -> None:
    run_git("config", "i18n.commitEncoding", "ISO-8859-1")
    run_git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-F", "-"],
                   input="café".encode("latin-1"), check=True)  # fmt: skip
    found = git.find(".")
    assert found is not None and git.log(found, "", 1)[0][2] == "café"


def test_a_branch_like_an_option_is_a_branch(repo: Path) -> None:
    run_git("update-ref", "refs/heads/--output=stolen", "HEAD")
    found = git.find(".")
    assert found is not None
    assert [row[2] for row in git.log(found, "--output=stolen", 5)] == ["first commit"]
    assert os.listdir() == [".git"]


def test_without_commits_or_without_that_branch_the_log_is_empty(repo: Path) -> None:
    found = git.find(".")
    assert found is not None
    assert git.log(found, "no/such/branch", 5) == []
    run_git("checkout", "-q", "--orphan", "new")
    assert git.log(found, "", 5) == []
    assert git.log(found, "new", 5) == []


def test_without_git_on_the_path_only_the_log_is_missing(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = gits(".")
    monkeypatch.setenv("PATH", str(repo))
    found = git.find(".")
    assert found is not None and (found.top, git.head(found)) == expected
    assert git.log(found, "", 5) == []
    assert git.output(".", "version") == ""


def test_what_a_git_that_fails_has_printed_is_no_answer(repo: Path) -> None:
    failing = ("rev-parse", "HEAD", "no-such-branch")
    printed = subprocess.run(["git", *failing], check=False, capture_output=True).stdout
    assert printed != b"" and git.output(".", *failing) == ""


def test_no_program_that_the_repository_names_is_run(repo: Path) -> None:
    """The control at the end shows that the traps do snap when git is asked in the usual way."""
    trap = Path("trap.sh")
    trap.write_text(f'#!/bin/sh\necho "$0" >> "{repo}/ran"\ncat\n', encoding="utf-8")
    trap.chmod(0o755)
    hooks = Path("hooks")
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(trap, hooks / name)
    for key in (
        "core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.editor",
        "core.sshCommand", "diff.external", "core.askPass", "sequence.editor",
    ):  # fmt: skip
        run_git("config", key, str(trap.resolve()))
    run_git("config", "alias.log", f"!{trap.resolve()}")
    run_git("config", "core.hooksPath", str(hooks.resolve()))
    run_git("config", "log.showSignature", "true")
    signed = asked(".", "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n"
    )
    made = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin"], check=True,
                          input=signed + "\n", encoding="utf-8", capture_output=True)  # fmt: skip
    Path(".git/refs/heads/feature/demo").write_text(made.stdout, encoding="utf-8")

    found = git.find(".")
    assert found is not None
    assert len(git.log(found, "feature/demo", 5)) == 1
    assert git.output(".", "status", "--porcelain") != ""
    assert git.output(".", "rev-parse", "HEAD") == made.stdout
    assert not Path("ran").exists()

    run_git("log", "-1")
    run_git("status")
    snapped = Path("ran").read_text(encoding="utf-8").split()
    assert len(snapped) >= 2  # the signature and the monitor


@pytest.mark.parametrize("start", [git.run, git.output])
def test_no_hook_of_the_repository_is_run(start: Callable[..., str], repo: Path) -> None:
    """The control at the end shows that the hooks do run when git is asked in the usual way."""
    hooks = repo / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change"):
        (hooks / name).write_text(f'#!/bin/sh\necho "$0" >> "{repo}/ran"\n', encoding="utf-8")
        (hooks / name).chmod(0o755)
    run_git("config", "core.hooksPath", str(hooks))
    start(".", "worktree", "add", "-q", "-b", "one", str(repo.parent / "one"))
    start(".", "add", "hooks")
    assert (repo.parent / "one").is_dir() and not (repo / "ran").exists()
    run_git("worktree", "add", "-q", "-b", "two", str(repo.parent / "two"))
    assert (repo / "ran").exists()


def test_git_answers_where_standard_input_and_error_are_closed(repo: Path) -> None:
    code = "from contextkit.base import git; print(git.query('.', 'rev-parse', 'HEAD').output())"
    closed = 'exec "$0" -c "$1" <&- 2>&-'
    done = subprocess.run(["sh", "-c", closed, sys.executable, code], cwd=repo, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, text=True)  # fmt: skip
    assert len(done.stdout.strip()) == 40
