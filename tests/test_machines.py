"""Machines that lack something: each command says what, in one sentence with the way out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CHECKOUT, SCRIPTS, Script, git
from contextkit.base import git as our_git

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
NOBODY = 65534


@pytest.fixture(autouse=True)
def not_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_git, "_said_why", False)


def script(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, SCRIPTS / arguments[0], *arguments[1:]],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
    )
    assert "Traceback" not in done.stderr
    return done


# Commands that ask git, and whether they go on without its answer.
ASKING = [
    (("capsule_prompt",), 0),
    (("handoff", "write", "--to=qa", "--from=dev", "--next-action=go", "--no-story"), 0),
    (("verdict", "diff"), 1),
    (("verdict", "start", "--process=quality-gates", "--agents=a"), 1),
    (("subagent_manager", "launch", "--slug=x", "--cmd=true", "--type=worktree"), 1),
    (("subagent_manager", "launch", "--slug=x", "--cmd=true", "--type=throwaway"), 1),
    (("adopt", "--into=.", "--dry-run"), 1),
    (("doctor",), 1),
]
NAMES = [" ".join([*call[:2], call[-1]]) for call, _ in ASKING]


@needs_root
@pytest.mark.parametrize(("call", "status"), ASKING, ids=NAMES)
def test_a_repository_of_another_user_is_named_with_the_way_out(
    repo: Path, run: Script, call: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    Path(".clavain/verdicts").mkdir(parents=True)  # a store, for doctor to ask git about
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    probe = subprocess.run(["git", "status"], capture_output=True)
    if not probe.returncode:
        pytest.skip("this git works in anybody's repository")
    if call[-1] == "--type=throwaway":
        probe = subprocess.run(["git", "clone", "-q", ".", tmp_path / "c"], capture_output=True)
        if not probe.returncode:
            pytest.skip("this git clones anybody's repository")
    assert run(*call) == status
    told = run.out + run.err
    assert told.count("git config --global --add safe.directory ") == 1
    assert "belongs to another user" in told


@pytest.mark.parametrize(("call", "status"), ASKING, ids=NAMES)
def test_without_git_it_is_said_what_to_install(
    repo: Path, call: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    Path(".clavain/verdicts").mkdir(parents=True)
    done = script(f"{call[0]}.py", *call[1:], PATH=str(tmp_path / "empty"))
    assert done.returncode == status
    assert "git is not installed, or not on the PATH: install git" in done.stdout + done.stderr


def test_what_git_has_no_answer_to_is_nobodys_fault(repo: Path, run: Script) -> None:
    git("checkout", "-q", "--orphan", "unborn")
    assert run("capsule_prompt") == 0
    assert "without git's answers" not in run.err


# A place where nothing may be written


@pytest.fixture
def closed(repo: Path) -> Iterator[Path]:
    """A repository that its user may read and not write."""
    with tempfile.TemporaryDirectory() as made:  # the folder of the tests is closed to others
        place = Path(made, "closed")
        git("clone", "-q", str(repo), str(place))
        for path in place.rglob("*"):  # also with a umask that closes them to others
            path.chmod(0o755 if path.is_dir() else 0o644)
        place.chmod(0o555)
        Path(made).chmod(0o755)
        yield place
        place.chmod(0o755)


@needs_root
@pytest.mark.parametrize(
    "call",
    [
        ("remember_later", "--message=x"),
        ("capsule_prompt", "--stub"),
        ("verdict", "write", "--agent=a", "--status=CLEAN", "--summary=x"),
        ("handoff", "write", "--to=qa", "--from=dev", "--next-action=go", "--no-story"),
        ("context", "init"),
        ("doctor",),
    ],
)
def test_a_folder_that_one_may_not_write_is_said(
    closed: Path, run: Script, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    template = CHECKOUT / "templates" / "capsule_outline.md.j2"
    if not template.stat().st_mode & 0o004:
        pytest.skip("this checkout is closed to others: they cannot run its commands")
    monkeypatch.chdir(closed)
    before = sorted(closed.iterdir())
    os.seteuid(NOBODY)
    try:
        status = run(*call)
    finally:
        os.seteuid(0)
    assert status == 1
    told = run.out + run.err
    assert "make it writable, or keep documents elsewhere: root=DIR" in told
    assert sorted(closed.iterdir()) == before


# An encoding that has no umlaut

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_path_beyond_the_locale_is_no_matter(repo: Path) -> None:
    place = repo / "süß"
    git("clone", "-q", str(repo), str(place))
    (place / "größe.md").write_text("Maße\n", encoding="utf-8")
    os.chdir(place)
    stored = script(
        "payload_store.py", "store", "--topic=Maße", "--source=ä", "--file=größe.md", "--force",
        **ASCII,
    )  # fmt: skip
    assert stored.returncode == 0 and "@stored: shared/payloads/" in stored.stdout
    missing = script("payload_store.py", "store", "--topic=x", "--source=y", "--file=ö", **ASCII)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "file: ö: cannot be read: No such file or directory" in missing.stderr
    started = script(
        "verdict.py", "start", "--process=quality-gates", "--agents=a", "--base=HEAD", **ASCII
    )
    assert started.returncode == 0, started.stderr
