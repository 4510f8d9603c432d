"""Each kind of save, and recovery."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from measure import Case
from places import SCRIPTS, script


def memory_cases(folder: Path) -> list[Case]:
    """Each kind of save, a look, recovery of a small store and of one with 1,000 findings."""
    memory = script("external_memory.py")
    task = "--task=bench"
    save = ("--phase=planning", "--summary=half", "--next-action=go on")
    finding = ("--agent=ui", "--status=completed", "--summary=It takes 52 ms in src/app.py:42.")
    small = (
        ["plan", task, "--objective=Measure", "--next-action=go on"],
        ["checkpoint", task, *save],
        ["finding", task, *finding],
    )
    for call in small:
        subprocess.run([*memory, *call], check=True, stdout=subprocess.DEVNULL)
    store, kept = folder / ".temp" / "memory", folder / "memory"
    shutil.copytree(store, kept)

    def again() -> None:
        shutil.rmtree(store)
        shutil.copytree(kept, store)

    large = folder / "large"
    fill_memory(large, 1_000)
    largest = folder / "largest"
    fill_memory(largest, 10_000)
    return [
        Case("memory_plan", [*memory, *small[0]], 2.5, prepare=again),
        Case("memory_finding", [*memory, *small[2]], 2.5, prepare=again),
        Case("memory_checkpoint", [*memory, *small[1]], 2.5, prepare=again),
        Case("memory_snapshot", [*memory, "snapshot", task, "--summary=all"], 2.5, prepare=again),
        Case("memory_merge", [*memory, "merge", task], 2.5, prepare=again),
        Case("memory_status", [*memory, "status", "--tokens=1000"], 2.5),
        Case("memory_recover", [*memory, "recover", task], 2.5, prepare=again),
        Case("memory_list", [*memory, "list"], 2.5),
        Case("memory_recover of 1,000 findings", [*memory, "recover", task, f"--root={large}"], 8),
        Case(
            "memory_recover of 10,000 findings", [*memory, "recover", task, f"--root={largest}"], 20
        ),
    ]


def fill_memory(folder: Path, count: int) -> None:
    """A store with a plan, a checkpoint and `count` findings of about 300 tokens."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.memory.documents import findings

    memory = [*script("external_memory.py"), "checkpoint", "--task=bench", "--phase=planning",
              "--summary=half", "--next-action=go on", f"--root={folder}"]  # fmt: skip
    folder.mkdir()
    subprocess.run(memory, check=True, stdout=subprocess.DEVNULL)
    store = folder / ".temp" / "memory" / "findings"
    store.mkdir()
    said = "The parser in `src/app.py:42` takes 52 ms for 4,500 lines, twice as long as before."
    for number in range(count):
        found = findings.make(
            agent=f"a{number}", task_id="bench", status="completed",
            timestamp="2025-10-23T18:05:00Z", summary=said, discoveries=[said] * 10,
        )  # fmt: skip
        name = f"a{number}_20251023T{number // 3600:02}{number // 60 % 60:02}{number % 60:02}.md"
        (store / name).write_text(findings.render(found), encoding="utf-8")
