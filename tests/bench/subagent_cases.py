"""The prompt of a subagent, a start, a look, an end."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from measure import Case
from places import script


def subagent_cases(folder: Path) -> list[Case]:
    """The prompt, a start (with git, two writes of the registry and a process), a look at ten."""
    scope = folder / "scope.md"
    scope.write_text("# Task\n" + "Do this, and then that. " * 100, encoding="utf-8")
    registry = folder / "parallelus" / "manuals" / "subagent-registry.json"

    def fresh() -> None:
        registry.unlink(missing_ok=True)
        shutil.rmtree(folder / ".contextkit" / "subagents", ignore_errors=True)

    manager = "subagent_manager.py"
    launch = script(manager, "launch", "--slug=x", "--cmd=true", "--capsule=none")
    prompt = script(manager, "prompt", "--slug=x", "--capsule=none", "--scope=scope.md")
    for _ in range(10):
        subprocess.run(launch, check=True, capture_output=True)
    for _ in range(2):  # each end is said once
        subprocess.run(script(manager, "status"), check=True, capture_output=True)
    rows = registry.read_bytes()
    many = a_registry_of(1_000, json.loads(rows))
    finish = ("finish", "--agent=x", "--status=CLEAN", "--summary=nothing found", "--session=s")
    return [
        Case("subagent_prompt", prompt, 2.5),
        Case("subagent_status of ten", script(manager, "status"), 2.5,
             prepare=lambda: registry.write_bytes(rows)),
        Case("subagent_status of 1,000", script(manager, "status"), 3,
             prepare=lambda: registry.write_text(many, encoding="utf-8")),
        Case("subagent_finish without a text", script(manager, *finish), 2.5),
        Case("subagent_finish with one", script(manager, *finish, "--file=scope.md"), 6),
        Case("subagent_launch", launch, prepare=fresh),
    ]  # fmt: skip


def a_registry_of(count: int, rows: list[dict[str, Any]]) -> str:
    """The JSON of `count` subagents that have ended, made from these rows."""
    ended = {"status": "finished", "exit_code": 0, "finished_at": "20251023-180502"}
    made = [rows[number % len(rows)] | ended | {"id": f"x-{number}"} for number in range(count)]
    return json.dumps(made, indent=2)
