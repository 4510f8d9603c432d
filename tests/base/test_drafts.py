"""Drafts that killed writers left are swept from every store; and what a full disk does."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from conftest import Script
from contextkit.base import files, stores
from contextkit.base.layout import Layout

KINDS = {
    "reminder": ("remember_later", "list"),
    "capsule": ("capsule", "list"),
    "subagent": ("subagent_manager", "status"),
    "payload": ("payload_store", "list", "--all"),
    "handoff": ("handoff", "list"),
    "plan": ("external_memory", "list"),
    "snapshot": ("external_memory", "list"),
    "verdict": ("verdict", "table"),
    "run": ("verdict", "runs"),
}


def a_draft(folder: str, hours: float = 2) -> Path:
    """An unfinished write of so many hours ago."""
    path = Path(folder, ".doc.md.0123456789ab.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_store_is_swept_by_its_own_commands(layout: Layout, run: Script, kind: str) -> None:
    place = layout.store(kind)
    folder = os.path.dirname(place) if stores.BY_KIND[kind].is_file else place
    draft = a_draft(folder)
    os.makedirs(layout.state, exist_ok=True)
    run(*KINDS[kind])
    assert not draft.exists()
    again = a_draft(folder)
    run(*KINDS[kind])
    assert again.exists(), "a store is looked through once an hour"


def test_a_folder_in_a_store_is_swept_too_but_no_clone(layout: Layout, run: Script) -> None:
    session, clone = a_draft(layout.payloads + "/s1"), a_draft(layout.sandbox("a") + "/src")
    young = a_draft(layout.payloads + "/s2", hours=0.5)
    run("payload_store", "list", "--all")
    assert not session.exists() and young.exists() and clone.exists()


def test_what_is_written_outside_of_a_store_is_swept_there(repo: Path, run: Script) -> None:
    draft = a_draft("docs")
    status = run("payload_store", "store", "--topic=t", "--source=a", "--path=docs/a.md",
                 stdin="word " * 900)  # fmt: skip
    assert status == 0 and not draft.exists()


def test_a_run_takes_no_old_draft_along(repo: Path, run: Script) -> None:
    Path("plan.md").write_text("# Plan\n", encoding="utf-8")
    start = ("verdict", "start", "--process=flux-drive", "--target=plan.md", "--agents=fd-a")
    assert run(*start) == 0
    assert run("verdict", "end", f"--run={run.out.split()[1]}") == 0
    (prompts,) = Path("docs/research").rglob("prompts")
    draft = a_draft(str(prompts))
    assert run(*start) == 0
    assert not list(Path("docs").rglob(draft.name))


def test_a_command_that_reads_makes_nothing_where_nothing_is(repo: Path, run: Script) -> None:
    run("verdict", "table")
    assert os.listdir() == [".git"]


def test_a_sweep_that_fails_fails_nothing(
    layout: Layout, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_draft(layout.verdicts)
    os.makedirs(layout.state)

    def refused(folder: str, now: float) -> int:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(files, "sweep", refused)
    assert run("verdict", "table") == 0 and run.err == ""


def full(descriptor: int) -> None:
    """What a disk says that is full, of everything but files that were opened to be written."""
    if os.path.isdir(f"/proc/self/fd/{descriptor}"):
        raise OSError(28, "No space left on device")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="/proc names what is synced")
@pytest.mark.parametrize(
    "call",
    [
        ("payload_store", "store", "--topic=t", "--source=a", "--force"),
        ("subagent_manager", "finish", "--agent=a", "--status=COMPLETE", "--summary=s"),
    ],
    ids=["store", "finish"],
)
def test_a_text_that_may_not_last_goes_to_stdout(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    text = "It takes 52 ms.\n" * 300
    assert run(*call, stdin=text) == 1
    assert run.out == text and "storing failed (No space left on device)" in run.err


def test_a_text_is_handed_back_where_the_disk_fills_up_later(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [None]  # the payload itself fits, what comes after it does not

    def filling(descriptor: int) -> None:
        if not left:
            raise OSError(28, "No space left on device")
        left.pop()

    text = "It takes 52 ms.\n" * 300
    call = ("subagent_manager", "finish", "--agent=a", "--status=COMPLETE", "--summary=s")
    Path(".contextkit").mkdir()
    Path(".contextkit/.gitignore").write_text("*\n", encoding="utf-8")
    for folder in ("shared/payloads", ".clavain/verdicts"):
        Path(folder).mkdir(parents=True)
        Path(folder, ".gitignore").write_text("*\n", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", filling)
    assert run(*call, "--session=s1", stdin=text) == 1
    assert run.out == text and "storing failed (No space left on device)" in run.err
