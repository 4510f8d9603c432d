"""Where the benchmarks work: a repository as a user has one, and how a command is called."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = CHECKOUT / "scripts"
HERE = Path(__file__).resolve().parent
os.environ.pop("CONTEXTKIT_GIVEN", None)  # given to the benchmark, not to what it runs
ENTRY = "## 2025-10-{day:02} 09:00:00 UTC\n- **Summary:** moved the parser behind its tests\n\n"


def prepare() -> None:
    """Compile modules and expressions, as set-up does."""
    compileall.compile_dir(str(SCRIPTS), quiet=1)
    program = "from contextkit.base import expressions; expressions.compile_all()"
    places = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    subprocess.run([sys.executable, "-c", program], check=True, env=places)


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
