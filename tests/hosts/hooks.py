"""Fire a hook in this process, as a host would, and read its answer."""

from __future__ import annotations

import json
from typing import Any

from contextkit.hosts.flows import runner, trials


def answer(event: str, host: str = "claude", **passed: Any) -> dict[str, Any]:
    """What the hook prints, which its host takes; an empty object where it says nothing."""
    given = {"session_id": "s-1", "hook_event_name": event, **passed}
    said = runner.run([event, f"--host={host}"], json.dumps(given).encode())
    assert trials.problems(host, event, 0, said) == []
    found: dict[str, Any] = json.loads(said) if said else {}
    return found


def fire(event: str, host: str = "claude", **passed: Any) -> str:
    """What the agent is told, or why it is sent back; empty where it is neither."""
    said = answer(event, host, **passed)
    return str(
        said.get("reason") or said.get("hookSpecificOutput", {}).get("additionalContext", "")
    )
