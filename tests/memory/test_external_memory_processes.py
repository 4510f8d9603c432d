"""External memory with many real processes at once. Kills are in test_recovery_processes.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MANY, SCRIPTS, ended, forked
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings, merged, plans
from contextkit.memory.documents import store as memory
from test_documents import NOON, a_checkpoint, a_finding


@pytest.mark.parametrize("one", [True, False], ids=["one agent", "many agents"])
def test_findings_saved_at_once_have_a_file_each(layout: Layout, one: bool) -> None:
    def save(number: int) -> Callable[[], object]:
        made = a_finding(agent="ui" if one else f"ui-{number}", summary=f"text {number}")
        return lambda: findings.save(layout, made, NOON)

    children = [forked(save(number)) for number in range(MANY)]
    assert ended(children) == [0] * MANY
    saved = [one for _, one in findings.load_all(layout)]
    assert sorted(f.summary for f in saved) == sorted(f"text {number}" for number in range(MANY))


def test_checkpoints_saved_at_once_have_their_file_as_id(layout: Layout) -> None:
    saved = [forked(lambda: checkpoints.save(layout, a_checkpoint(), NOON)) for _ in range(MANY)]
    assert ended(saved) == [0] * MANY
    loaded = checkpoints.load_all(layout)
    assert len(loaded) == MANY
    assert all(Path(path).stem == one.checkpoint_id for path, one in loaded)


def test_updates_at_once_of_one_plan_are_all_in_it(layout: Layout) -> None:
    def ask(number: int) -> Callable[[], object]:
        return lambda: plans.save(layout, plans.make("t", questions=[f"question {number}"]), NOON)

    children = [forked(ask(number)) for number in range(MANY)]
    assert ended(children) == [0] * MANY
    assert len(plans.load(plans.path_of(layout, "t")).questions) == MANY


def script(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPTS / "external_memory.py"), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, encoding="utf-8")


def all_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Wait for all to exit cleanly, and return what they printed."""
    told = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(told), told
    return [out for out, _ in told]


def everywhere(layout: Layout, kind: str) -> list[Path]:
    """The documents of a kind, including archived ones."""
    here, there = layout.memory_folder(kind), layout.memory_archive("t", kind)
    return [path for place in (here, there) for path in sorted(Path(place).glob("*.md"))]


def test_writers_beside_merges_that_archive_lose_nothing(layout: Layout) -> None:
    finding = ("finding", "--task=t", "--status=completed")
    all_of([script(*finding, "--agent=first", "--summary=first")])
    started = []
    for number in range(8):
        started.append(script(*finding, f"--agent=a{number}", f"--summary=text {number}"))
        if number % 2:
            started.append(script("merge", "--task=t", "--archive"))
    all_of(started)
    all_of([script("merge", "--task=t", "--archive")])
    wanted = {"first", *(f"text {number}" for number in range(8))}
    (path,) = Path(layout.memory_folder(memory.FINDINGS)).glob("*.md")
    last = merged.load(str(path))
    assert {part.finding.summary for part in last.parts} == wanted
    kept = [path for path in everywhere(layout, memory.FINDINGS) if "merged_" not in path.name]
    assert sorted(findings.load(str(path)).summary for path in kept) == sorted(wanted)


def test_changes_of_a_plan_beside_archives_of_its_task_are_all_kept(layout: Layout) -> None:
    all_of([script("plan", "--task=t", "--question=the first")])
    started = []
    for number in range(8):
        started.append(script("plan", "--task=t", f"--question=number {number}"))
        if number % 3 == 0:
            started.append(script("archive", "--task=t"))
    all_of(started)
    there = everywhere(layout, memory.PLANS)
    asked = [question.text for path in there for question in plans.load(str(path)).questions]
    assert sorted(asked) == sorted(["the first", *(f"number {number}" for number in range(8))])


def test_drafts_of_killed_saves_are_no_documents(layout: Layout) -> None:
    folder = memory.folder(layout, memory.FINDINGS)
    draft = Path(folder, ".ui_20250104T120000.md.0123456789ab.tmp")
    draft.write_text("# Findings: half", encoding="utf-8")
    findings.save(layout, a_finding(), NOON)
    assert draft.exists() and len(findings.load_all(layout)) == 1
