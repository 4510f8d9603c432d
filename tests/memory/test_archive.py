"""upkeep.py: archiving and restoring, alongside kills, writers and other archive commands."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memory_stores as stores
import pytest
from conftest import SCRIPTS, Script
from contextkit.base.layout import Layout
from contextkit.memory.documents import findings, plans
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import upkeep
from memory_stores import NOW, TASK


def stored(layout: Layout) -> list[str]:
    """Every document in the store, by its path below it."""
    return sorted(
        str(path.relative_to(layout.memory))
        for path in Path(layout.memory).rglob("*")
        if path.suffix in (".md", ".json")
    )


class Killed(BaseException):
    pass


def is_held(lock: str) -> bool:
    """Whether any process, including this one, holds this lock."""
    with open(lock, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("call", ["rename", "unlink", "link"])
@pytest.mark.parametrize("number", range(4))
def test_an_archive_that_is_killed_leaves_nothing_twice_and_the_next_one_ends_it(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    stores.full(layout)
    before = [name for name in stored(layout)]
    count = iter(range(100))
    whole: Callable[..., Any] = getattr(os, call)

    def killed(*arguments: Any, **more: Any) -> Any:
        done = whole(*arguments, **more)
        if next(count) == number:
            raise Killed
        return done

    with monkeypatch.context() as patched:
        patched.setattr(os, call, killed)
        try:
            upkeep.archive(layout, TASK)
        except Killed:
            pass
    there = [os.path.basename(name) for name in stored(layout)]
    assert sorted(there) == sorted(os.path.basename(name) for name in before)
    plans_left = [name for name in stored(layout) if name.startswith("research_plans/")]
    if plans_left:  # the plan is written again in between
        plans.save(layout, plans.make(TASK, questions=("Which colour?",)), NOW)
    upkeep.archive(layout, TASK)
    assert not [name for name in stored(layout) if TASK in name and "archive/" not in name]
    kept = [name for name in stored(layout) if "research_plans" in name]
    assert kept == [f"archive/{TASK}/research_plans/{TASK}.md"]


def test_what_an_older_archive_left_in_both_places_is_one_again(layout: Layout) -> None:
    path = stores.plan(layout)
    place = Path(layout.memory_archive(TASK, memory.PLANS))
    place.mkdir(parents=True)
    os.link(path, place / f"{TASK}.md")
    upkeep.archive(layout, TASK)
    assert stored(layout) == [f"archive/{TASK}/research_plans/{TASK}.md"]


def test_the_plan_of_a_tasks_second_life_is_the_one_that_recovery_reads(layout: Layout) -> None:
    for objective in ("First", "Second"):
        stores.plan(layout, objective=objective)
        upkeep.archive(layout, TASK)
    place = Path(layout.memory_archive(TASK, memory.PLANS))
    assert "Second" in (place / f"{TASK}.md").read_text("utf-8")
    assert "First" in (place / f"{TASK}-2.md").read_text("utf-8")


def test_a_plan_that_is_written_while_it_is_archived_is_not_lost(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Archiving waits for the writer, which holds the plan's lock."""
    stores.plan(layout)
    held: list[str] = []
    lock = layout.lock(layout.join(".temp/memory/research_plans", f"{TASK}.md"))
    rename = os.rename

    def renamed(source: str, target: str) -> None:
        if is_held(lock):
            held.append(source)
        rename(source, target)

    monkeypatch.setattr(os, "rename", renamed)
    upkeep.archive(layout, TASK)
    assert any(path.endswith(f"{TASK}.md") for path in held)


def test_a_merge_takes_what_another_merge_and_archive_would_have_taken_away(
    layout: Layout, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another merge may start wherever this one reads; it must wait, or nothing would be found."""
    lock = layout.lock(layout.memory_state(TASK + ".moving"))
    stores.finding(layout, "a", NOW - 9)
    stores.finding(layout, "b", NOW - 8)
    load = findings.load_all
    others: list[subprocess.Popen[bytes]] = []

    def loaded(*arguments: Any, **more: Any) -> Any:
        found = load(*arguments, **more)
        if not others:
            command = [sys.executable, str(SCRIPTS / "external_memory.py"), "merge"]
            others.append(subprocess.Popen([*command, f"--task={TASK}", "--archive"]))
        assert is_held(lock)  # so the other merge waits for it
        return found

    monkeypatch.setattr(findings, "load_all", loaded)
    assert run("external_memory", "merge", f"--task={TASK}", "--archive") == 0
    assert others[0].wait(60) == 0
    last = merged_findings.load_all(layout, TASK)
    assert {part.finding.agent for _, one in last for part in one.parts} == {"a", "b"}
    everything = [name for name in stored(layout) if "merged_" not in name]
    assert len(everything) == len(set(map(os.path.basename, everything))) == 2


def test_a_task_that_is_going_on_is_never_archived_by_itself(layout: Layout, run: Script) -> None:
    stores.plan(layout)
    memory.record(layout, TASK)
    assert run("external_memory", "archive") == 2
    assert "give task=: station is going on; known tasks: station" in run.err
    stores.plan(layout, "done", completed=("all",), questions=())
    stores.plan(layout, "asked", completed=("all",))
    assert run("external_memory", "archive") == 0
    assert run.out == ".temp/memory/archive/done/research_plans/done.md\n"
    assert run("external_memory", "archive") == 2


def test_an_archived_task_comes_back(layout: Layout, run: Script) -> None:
    stores.full(layout)
    before = stored(layout)
    assert run("external_memory", "archive", f"--task={TASK}") == 0
    assert run("external_memory", "unarchive", f"--task={TASK}") == 0
    assert len(run.out.splitlines()) == 7 and stored(layout) == before
    assert memory.current_task(layout) == TASK
    assert run("external_memory", "unarchive", f"--task={TASK}") == 1
    assert "nothing of it is archived" in run.err


def test_a_task_that_nobody_knows_is_no_archive(layout: Layout, run: Script) -> None:
    stores.plan(layout)
    assert run("external_memory", "archive", "--task=statoin") == 1
    assert f"statoin: nothing is stored about it; known tasks: {TASK}" in run.err
    for _ in range(2):
        assert run("external_memory", "archive", f"--task={TASK}") == 0
    assert f"{TASK}: nothing is left to archive" in run.err


def test_what_is_there_again_is_not_overwritten(layout: Layout, run: Script) -> None:
    stores.plan(layout, objective="Old")
    run("external_memory", "archive", f"--task={TASK}")
    stores.plan(layout, objective="New")
    assert run("external_memory", "unarchive", f"--task={TASK}") == 0
    assert "there is another station.md" in run.err and run.out == ""
    assert "New" in Path(f".temp/memory/research_plans/{TASK}.md").read_text("utf-8")


def test_the_list_fits_eighty_columns(layout: Layout, run: Script) -> None:
    stores.full(layout)
    stores.finding(layout, "a-reviewer-with-quite-a-long-name-of-its-own", task_id="t" * 60)
    assert run("external_memory", "list") == 0
    assert max(map(len, run.out.splitlines())) <= 80
    assert run("external_memory", "list", "--task=statoin") == 1
    assert run.out == f"No memory of statoin; known tasks: other, station, {'t' * 60}.\n"
