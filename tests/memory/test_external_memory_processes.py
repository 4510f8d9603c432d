"""External memory with real processes: forty at once. Kills are in test_recovery_processes.py."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings, plans
from contextkit.memory.documents import store as memory
from test_checkpoints import a_checkpoint
from test_findings import NOON, a_finding


def child(work: Callable[[], object]) -> int:
    """A process that does this; forked, so that two hundred cost little."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


@pytest.mark.parametrize("one", [True, False], ids=["one agent", "forty agents"])
def test_forty_findings_at_once_are_forty_files(layout: Layout, one: bool) -> None:
    def save(number: int) -> Callable[[], object]:
        made = a_finding(agent="ui" if one else f"ui-{number}", summary=f"text {number}")
        return lambda: findings.save(layout, made, NOON)

    children = [child(save(number)) for number in range(40)]
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 40
    saved = [one for _, one in findings.load_all(layout)]
    assert sorted(f.summary for f in saved) == sorted(f"text {number}" for number in range(40))


def test_forty_checkpoints_at_once_have_their_file_as_id(layout: Layout) -> None:
    saved = [child(lambda: checkpoints.save(layout, a_checkpoint(), NOON)) for _ in range(40)]
    assert [os.waitpid(pid, 0)[1] for pid in saved] == [0] * 40
    loaded = checkpoints.load_all(layout)
    assert len(loaded) == 40
    assert all(Path(path).stem == one.checkpoint_id for path, one in loaded)


def test_forty_updates_of_one_plan_are_all_in_it(layout: Layout) -> None:
    def ask(number: int) -> Callable[[], object]:
        return lambda: plans.save(layout, plans.make("t", questions=[f"question {number}"]), NOON)

    children = [child(ask(number)) for number in range(40)]
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 40
    assert len(plans.load(plans.path_of(layout, "t")).questions) == 40


def test_drafts_of_killed_saves_are_no_documents_and_go_after_an_hour(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = memory.folder(layout, memory.FINDINGS)
    draft = Path(folder, ".ui_20250104T120000.md.0123456789ab.tmp")
    draft.write_text("# Findings: half", encoding="utf-8")
    os.utime(draft, (NOON, NOON))
    monkeypatch.setenv("CONTEXT_NOW", "2025-01-04T12:30:00Z")
    findings.save(layout, a_finding(), NOON)
    assert draft.exists() and len(findings.load_all(layout)) == 1
    monkeypatch.setenv("CONTEXT_NOW", "2025-01-04T13:01:00Z")
    findings.save(layout, a_finding(), NOON)
    assert not draft.exists()
