"""Recovery after processes were killed at every point of every kind of save."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import memory_stores as stores
import pytest
from conftest import Script, git, rounds
from contextkit.base import names
from contextkit.base.errors import remarks
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, context_window
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import recovery, recovery_report, saving, upkeep
from memory_stores import NOW, TASK

# The system calls that a save is made of; the process may die before any of them.
CALLS = ("open", "mkdir", "fchmod", "fsync", "link", "replace", "unlink")
BOUNDARY = ("--summary=Half way", "--next-action=Go on")
SAVES: dict[str, tuple[str, ...]] = {
    "plan": ("plan", f"--task={TASK}", "--question=Why?", "--next-action=Look"),
    "finding": ("finding", f"--task={TASK}", "--agent=ui", "--status=partial", "--summary=Found"),
    "merge": ("merge", f"--task={TASK}", "--archive"),
    "checkpoint": ("checkpoint", f"--task={TASK}", "--phase=planning", *BOUNDARY),
    "phase": ("phase", f"--task={TASK}", "--to=review", *BOUNDARY),
    "batch": ("batch", f"--task={TASK}", "--draft=batch.json"),
    "spawn": ("spawn", f"--task={TASK}", "--agents=3"),
    "snapshot": ("snapshot", f"--task={TASK}", "--summary=What we know"),
    "status": ("status", f"--task={TASK}", "--tokens=150000"),
    "clean": ("clean",),
}
EACH = rounds(2, 20)  # kills of each kind of save


def calls_of(arguments: tuple[str, ...], moment: int, most: int = 10_000) -> int:
    """How many of CALLS a forked process made while doing this; -1 if it died before `most`."""
    child = os.fork()
    if child == 0:
        import external_memory

        os.environ["CONTEXT_NOW"] = names.iso(moment)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        made = [0]
        for name in CALLS:
            setattr(os, name, _counting(getattr(os, name), made, most))
        status = external_memory.main(list(arguments))
        os._exit(255 if status else made[0])
    _, status = os.waitpid(child, 0)
    return -1 if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def _counting(original: Any, made: list[int], most: int) -> Any:
    def counted(*arguments: Any, **options: Any) -> Any:
        if made[0] == most:
            os.kill(os.getpid(), signal.SIGKILL)
        made[0] += 1
        return original(*arguments, **options)

    return counted


@pytest.mark.parametrize("kind", SAVES)
def test_recovery_works_after_a_kill_at_any_point_of_a_save(
    layout: Layout, run: Script, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kills at these calls, spread evenly: only they change what is on disk."""
    monkeypatch.setattr(saving, "worked_on", lambda *_: ())  # git is not killed here
    row = {"agent": "ui", "status": "completed", "summary": "Found"}
    Path("batch.json").write_text(
        json.dumps({"summary": "Half", "next_action": "Go on", "findings": [row, row]}), "utf-8"
    )
    stores.full(layout)
    run("external_memory", *SAVES[kind])  # once in this process, so that no child has to import it

    def before(moment: int) -> tuple[str, ...]:
        """The save under test, in a store that gives it something to write."""
        context_window.look(layout, "", TASK, 0)
        memory.record(layout, TASK, "implementation")
        if kind == "clean":
            for age in (300_000, 200_000):
                stores.checkpoint(layout, moment - age, task_id="old")
        return (*SAVES[kind], f"--objective={moment}") if kind == "plan" else SAVES[kind]

    calls_of(before(NOW - 60), NOW - 60)  # creates the folders, so that no later save has to
    calls = calls_of(before(NOW), NOW)
    assert 3 < calls < 255
    deaths = 0
    for number in range(EACH):
        moment = NOW + 60 * (number + 1)
        deaths += calls_of(before(moment), moment, number * calls // EACH) < 0
        whole = checkpoints.load_all(layout, TASK)
        upkeep.listed(layout, left="")
        found = recovery.load(layout, TASK, moment)
        assert not remarks and found.warnings == ()  # nothing half-written under a final name
        assert found.checkpoint == whole[-1][1]
        text = recovery_report.make(layout, found, 4000).text
        assert f"## Next action\n\n{found.state.next_action}" in text and "## Plan" in text
        assert found.state.next_action in (whole[-1][1].next_action, "Write the screen", "Look")
    assert deaths == EACH
    assert calls_of(before(NOW + 6000), NOW + 6000) < 255  # and the next save works like any other
    assert not [word for word in git("status", "--porcelain").split() if ".temp" in word]


# The example of the design


def test_the_example_flow_leaves_exactly_its_files(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = iter(range(60))

    def do(*arguments: str) -> str:
        monkeypatch.setenv("CONTEXT_NOW", names.iso(NOW + 60 * next(minutes)))
        assert run("external_memory", *arguments) == 0, run.err
        return run.out

    task = "--task=station_feature"
    do("plan", task, "--objective=Show a station", "--question=Which API?", "--next-action=Explore")
    do("finding", task, "--agent=exploration", "--status=completed",
       "--summary=The API is in src/api.ts:12.")  # fmt: skip
    do("phase", task, "--to=implementation", "--summary=Explored", "--next-action=Start two agents")
    for agent in ("mobile-ui", "backend-integration"):
        do("finding", task, f"--agent={agent}", "--status=completed", f"--summary={agent} is done.",
           f"--file-modified=src/{agent}.ts - made")  # fmt: skip
    do("merge", task)
    do("phase", task, "--to=review", "--summary=Both are done", "--next-action=Review src/")
    do("checkpoint", task, "--phase=review", "--summary=Reviewed", "--next-action=Ship it")
    store = Path(".temp/memory")
    left = sorted(
        str(path.relative_to(store))
        for path in store.rglob("*")
        if path.is_file() and path.name[0] != "."
    )
    shapes = [memory.split_name(Path(name).name)[0] or name for name in left]
    assert [f"{Path(name).parent}/{shape}" for name, shape in zip(left, shapes, strict=True)] == [
        "checkpoints/cp_exploration",
        "checkpoints/cp_implementation",
        "checkpoints/cp_review",
        "findings/backend-integration",
        "findings/exploration",
        "findings/merged",
        "findings/mobile-ui",
        "research_plans/station_feature",
    ]
    text = do("recover")
    assert "## Next action\n\nShip it" in text and "- Phase: review" in text
    assert text.index("## Plan") < text.index("## Merged findings")
    assert "mobile-ui is done." in text and "\n## Findings" not in text
    assert git("status", "--porcelain") == ""
    do("archive", task)
    assert run("external_memory", "recover") == 1
    assert "no task is open; archived, and recovered with task=: station_feature" in run.err
    assert "This task is archived" in do("recover", task)
