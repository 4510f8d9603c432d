"""make bench: what each command costs as a whole process, in one run.

Works in a scratch repository with a history, two notebooks and an inbox. Exit status 1 when a
command costs more than it may; the figures are those of manuals/structure.md.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import BARE, Case, measure, report

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = CHECKOUT / "scripts"
ROUNDS = int(os.environ.get("ROUNDS", "40"))
ENTRY = "## 2025-10-{day:02} 09:00:00 UTC\n- **Summary:** moved the parser behind its tests\n\n"


def scratch(folder: Path) -> None:
    """A repository as a user has one: ten commits, notebooks, an inbox of twenty reminders."""
    os.chdir(folder)
    commits = [["commit", "-q", "--allow-empty", "-m", f"change number {n}"] for n in range(10)]
    for command in (["init", "-q", "-b", "feature/bench"], *commits):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)
    notebooks = folder / "docs" / "branches" / "feature-bench"
    notebooks.mkdir(parents=True)
    for name in ("PLAN.md", "PROGRESS.md"):
        text = "# Branch\n\n" + "".join(ENTRY.format(day=day) for day in range(1, 29))
        (notebooks / name).write_text(text, encoding="utf-8")
    for number in range(20):
        subprocess.run(script("remember_later.py", f"--message=note {number}"), check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip


def script(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / name), *arguments]


def make(*arguments: str) -> list[str]:
    return ["make", "-s", "-f", str(CHECKOUT / "Makefile"), *arguments]


def capture_cases(folder: Path) -> list[Case]:
    inbox = folder / "parallelus" / "manuals" / "capsules" / "remember-later.md"
    notes = inbox.read_bytes()
    stub = folder / "stub.md"

    def again() -> None:
        inbox.write_bytes(notes)

    add = script("remember_later.py", "--message=Outline onboarding UX spike", "--topic=ux")
    return [
        Case("remember_later", add, 1.6, prepare=again),
        Case("remember_later list", script("remember_later.py", "list"), 2.5),
        Case("capsule_prompt", script("capsule_prompt.py"), 2.5),
        Case("capsule_prompt stub=1", script("capsule_prompt.py", "--stub", "--file=stub.md"), 3,
             prepare=lambda: stub.unlink(missing_ok=True)),
        Case("context_status", script("context.py", "status")),
        Case("make remember_later", make("remember_later", "m=Outline onboarding UX spike"), 0.2,
             over="remember_later", prepare=again),
    ]  # fmt: skip


def main() -> int:
    compileall.compile_dir(str(SCRIPTS), quiet=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scratch(folder)
        cases = [Case("python -c pass", BARE), *capture_cases(folder)]
        measure(cases, ROUNDS)
        kept = report(cases)
        os.chdir("/")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
