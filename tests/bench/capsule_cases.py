"""Reminders, the capture prompt, and the life of a capsule."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from measure import Case
from places import HERE, SCRIPTS, make, script


def capture_cases(folder: Path) -> list[Case]:
    inbox = folder / "parallelus" / "manuals" / "capsules" / "remember-later.md"
    notes = inbox.read_bytes()
    stub = folder / "stub.md"

    def again() -> None:
        inbox.write_bytes(notes)

    add = script("remember_later.py", "--message=Outline onboarding UX spike", "--topic=ux")
    plain = folder / "plain.mk"
    plain.write_text(f"note:\n\t@{shlex.join(add)}\n", encoding="utf-8")
    return [
        Case("remember_later", add, 1.6, prepare=again),
        Case("remember_later list", script("remember_later.py", "list"), 2.5),
        Case("capsule_prompt, counted exactly", script("capsule_prompt.py"), 3.5),
        Case("capsule_prompt stub=1, counted exactly",
             script("capsule_prompt.py", "--stub", "--file=stub.md"), 3.5,
             prepare=lambda: stub.unlink(missing_ok=True)),
        Case("context_status", script("context.py", "status")),
        Case("a Makefile with nothing else", ["make", "-s", "-f", str(plain)], prepare=again),
        Case("make remember_later", make("remember_later", "m=Outline onboarding UX spike"), 0.1,
             over="a Makefile with nothing else", prepare=again),
    ]  # fmt: skip


def capsule_cases(folder: Path) -> list[Case]:
    """A branch with twenty finished capsules, the newest of them sealed."""
    sys.path[:0] = [str(SCRIPTS), str(HERE.parent)]
    from contextkit.capsules.documents import store as capsules

    outline = capsules.outline(
        capsules.blank("feature/bench", "s", 1_761_242_700, 1200), "a.md", "b.md"
    ).replace("<the objective in one sentence>", r"Fix \"login\"")
    Path("app.py").write_text("x = 1\n", encoding="utf-8")
    text = re.sub(r"<path:line[^<>\n]*>", "app.py", outline)
    text = re.sub(r"<[^<>\n]+>", "what is known of it, in a line of some length", text)
    into = folder / "parallelus" / "manuals" / "capsules" / "feature" / "bench"
    into.mkdir(parents=True)
    for day in range(1, 21):
        time = f"2025-10-{day:02}T09:00:00Z"
        named = re.sub(r'created_at: "[^"]+"', f'created_at: "{time}"', text)
        name = time.replace("-", "").replace(":", "")
        (into / f"{name}.md").write_text(named, encoding="utf-8")
    subprocess.run(script("capsule.py", "check", "--seal"), check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)  # fmt: skip
    calls = {"latest": 2.5, "list": 2.5, "show": 2.5, "show --max-tokens=200": 3.5,
             "check": 3, "check --seal": 3}  # fmt: skip
    return [
        Case(f"capsule {call}", script("capsule.py", *call.split()), limit)
        for call, limit in calls.items()
    ]
