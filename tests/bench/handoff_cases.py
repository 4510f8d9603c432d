"""Writing an artifact, switching, and the incoming context."""

from __future__ import annotations

import subprocess
from pathlib import Path

from measure import Case
from places import script


def handoff_cases(folder: Path) -> list[Case]:
    """Writing an artifact in a repository with work in it; switching and the context once more."""
    profiles = folder / ".claude" / "agents"
    profiles.mkdir(parents=True)
    for name in ("sm", "dev", "qa"):
        (profiles / f"{name}.md").write_text(f"You are {name}.\n" * 800, encoding="utf-8")
    fields = ["--story-id=1.2", "--task=the form", "--next-action=Build it. Then ask @qa.",
              "--decision=tokens are opaque", "--decision=no refresh"]  # fmt: skip
    write = script("handoff.py", "write", "--from=sm", "--to=dev", *fields)
    for agent in ("qa", "dev", "sm"):
        subprocess.run(script("handoff.py", "switch", agent, *fields), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    store = folder / ".aios" / "handoffs"
    before = {path: path.read_bytes() for path in store.iterdir()}

    def again() -> None:
        """Two artifacts are there, and sm is active."""
        for path in store.iterdir():
            if path not in before:
                path.unlink()
        for path, data in before.items():
            path.write_bytes(data)

    return [
        Case("handoff", write, 2.5, prepare=again),
        Case("handoff_switch", script("handoff.py", "switch", "@dev", *fields), 4, prepare=again),
        Case("handoff_switch, same agent", script("handoff.py", "switch", "@sm"), 2.5,
             prepare=again),
        Case("handoff_context", script("handoff.py", "context", "dev"), 4),
        Case("handoff_list", script("handoff.py", "list"), 4),
    ]  # fmt: skip
