"""Stores of external memory for tests of the code that reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from contextkit.base import names, references
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings, plans
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import snapshots as snapshot_files
from contextkit.memory.documents import store as memory
from contextkit.text.sections import FileNote

NOW = 1_761_242_700  # 2025-10-23 18:05:00 UTC
TASK = "station"


def checkpoint(layout: Layout, moment: int = NOW, **changes: Any) -> str:
    """Save a checkpoint of TASK at `moment`; return its path relative to the root."""
    fields: dict[str, Any] = {
        "checkpoint_id": "new",
        "task_id": TASK,
        "phase": "implementation",
        "timestamp": names.iso(moment),
        "completed_subtasks": ("model",),
        "pending_subtasks": ("screen", "service"),
        "active_agents": ("mobile-ui",),
        "findings_count": 2,
        "context_summary": "The screen is half done.",
        "next_action": "Finish src/screen.py",
        "recovery_instructions": "Run the tests first",
    }
    made = checkpoints.Checkpoint(**fields | changes)
    return layout.shown(checkpoints.save(layout, made, moment))


def sealed(layout: Layout, *paths: str) -> tuple[references.Reference, ...]:
    return references.seal(layout.root, paths)


def snapshot(layout: Layout, moment: int = NOW, **changes: Any) -> str:
    fields: dict[str, Any] = {
        "timestamp": names.iso(moment),
        "reason": "manual",
        "task_id": TASK,
        "summary": "We talked about caches.",
        "important": "Never cache errors.",
        "resume": "Read src/cache.py",
    }
    made = snapshot_files.make(**fields | changes)
    return layout.shown(snapshot_files.save(layout, made, moment))


def finding(layout: Layout, agent: str = "ui", moment: int = NOW, **changes: Any) -> str:
    fields: dict[str, Any] = {
        "agent": agent,
        "task_id": TASK,
        "status": "completed",
        "timestamp": names.iso(moment),
        "summary": f"What {agent} found.",
        "discoveries": (f"{agent} takes 52 ms",),
        "files": (FileNote(path=f"src/{agent}.py", note="made"),),
    }
    return layout.shown(findings.save(layout, findings.make(**fields | changes), moment))


def merged(layout: Layout, *paths: str, moment: int = NOW, task: str = TASK) -> str:
    """Merge the findings at these paths."""
    found = [(os.path.basename(path), findings.load(layout.join(path))) for path in paths]
    made = merged_findings.merge(task, found, names.iso(moment))
    return layout.shown(merged_findings.save(layout, made, moment))


def plan(layout: Layout, task: str = TASK, **changes: Any) -> str:
    fields: dict[str, Any] = {
        "objective": "Show a station",
        "questions": ("Which cache?",),
        "next_actions": ("Write the screen",),
    }
    moment = changes.pop("moment", NOW - 6000)
    return layout.shown(plans.save(layout, plans.make(task, **fields | changes), moment))


def full(layout: Layout) -> None:
    """A store with one document of every kind, and another task beside it."""
    Path("src").mkdir(exist_ok=True)
    for name in ("screen", "cache"):
        Path(f"src/{name}.py").write_text("old\n", encoding="utf-8")
    plan(layout)
    first = finding(layout, "exploration", NOW - 900)
    second = finding(layout, "mobile-ui", NOW - 800, status="partial")
    merged(layout, first, second, moment=NOW - 700)
    finding(layout, "backend", NOW - 600)
    files = sealed(layout, "src/screen.py", "src/cache.py", "src/gone.py")
    checkpoint(layout, NOW - 500, files=files)
    checkpoint(layout, NOW - 5000, next_action="Too old")
    finding(layout, "stranger", NOW - 100, task_id="other", summary="Another task's secret.")
    checkpoint(layout, NOW - 100, task_id="other")
    Path("src/cache.py").write_text("new\n", encoding="utf-8")
    memory.record(layout, TASK, "implementation")
