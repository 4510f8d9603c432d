"""make mutants: change the code that decides something, a little at a time, and run its tests.

    make mutants                       fifty random changes to each module below
    make mutants what=fitting n=0      every change to one module

A change that no test notices (a survivor) is printed as a diff. A change that makes the tests run
past the time limit counts as killed and is counted in a column of its own. cosmic-ray makes the
changes; the first run installs it into a folder of its own below `.venv`. The checkout is copied:
nothing here is changed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
COSMIC_RAY = "cosmic-ray==8.7.0"
PACKAGE = "scripts/contextkit"
# What decides something: the module, and the tests that are about it.
MODULES = {
    "fitting": (
        "handoffs/documents/fitting.py",
        "tests/handoffs/test_handoffs.py tests/handoffs/test_handoff_sessions.py",
    ),
    "verdicts": ("reviews/documents/verdicts.py", "tests/reviews/test_verdicts.py"),
    "agent_review": ("reviews/documents/agent_review.py", "tests/reviews/test_reviews.py"),
    "gate": ("reviews/flows/gate.py", "tests/reviews/test_gates.py"),
    "wide_reading": ("reviews/documents/wide_reading.py", "tests/reviews/test_wide_reading.py"),
    "vocabulary": ("reviews/documents/vocabulary.py", "tests/reviews/test_reviews.py"),
    "redaction": ("base/redaction.py", "tests/base/test_redaction.py"),
    "secret_search": ("base/secret_search.py", "tests/base/test_redaction.py"),
    "drift": (
        "capsules/flows/drift.py",
        "tests/capsules/test_capsule_upkeep.py tests/capsules/test_capsule_script.py",
    ),
    "retention": ("payloads/flows/retention.py", "tests/payloads/test_retention.py"),
    "recovery": ("memory/flows/recovery.py", "tests/memory/test_recovery.py"),
    "limits": ("base/limits.py", "tests/base/test_settings.py tests/test_manuals.py"),
}
SECONDS = 300  # for the tests of one change
CONFIG = """\
[cosmic-ray]
module-path = "{module}"
timeout = {seconds}.0
excluded-modules = []
test-command = "{python} -m pytest -x -q -n0 -p no:cacheprovider {tests}"

[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    most, seed = int(given.get("n") or 50), int(given.get("seed") or 1)
    names = (given.get("what") or " ".join(MODULES)).replace(",", " ").split()
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"mutants: what={unknown[0]}: there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    tool = installed()
    survivors = 0
    print("| module | changes | killed | of them by time | survived | score |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in names:
        survivors += try_module(tool, name, most, seed)
    return 1 if survivors else 0


def installed() -> Path:
    """cosmic-ray in an environment of its own."""
    folder = CHECKOUT / ".venv" / "mutants"
    tool = folder / "bin" / "cosmic-ray"
    if not tool.exists():
        print(f"mutants: installing {COSMIC_RAY} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "-q", COSMIC_RAY]
        subprocess.run(pip, check=True)
    return tool


def try_module(tool: Path, name: str, most: int, seed: int) -> int:
    """Try at most `most` changes of a module (0: all), print its line; how many survived."""
    module, tests = MODULES[name]
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "checkout"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".hypothesis")
        shutil.copytree(CHECKOUT, copy, ignore=ignored, symlinks=True)
        (copy / "mutants.toml").write_text(
            CONFIG.format(
                module=f"{PACKAGE}/{module}",
                tests=tests,
                python=CHECKOUT / ".venv/bin/python",
                seconds=SECONDS,
            ),
            encoding="utf-8",
        )

        def call(*words: str) -> str:
            return subprocess.run(
                [str(tool), *words], cwd=copy, check=True, encoding="utf-8", capture_output=True,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            ).stdout  # fmt: skip

        call("baseline", "mutants.toml")  # tests that fail anyhow would kill everything
        call("init", "mutants.toml", "session.sqlite")
        thin_out(copy / "session.sqlite", most, seed)
        call("exec", "mutants.toml", "session.sqlite")
        results = [json.loads(line) for line in call("dump", "session.sqlite").splitlines()]
    done = [(work, result) for work, result in results if result]
    alive = [(work, result) for work, result in done if result["test_outcome"] == "survived"]
    killed = len(done) - len(alive)
    late = sum("timeout" in str(result["output"])[:20] for _, result in done)
    score = 100 * killed // len(done) if done else 0
    row = f"| {name} | {len(done)} | {killed} | {late} | {len(alive)} | {score} % |"
    print(row, flush=True)
    for _, result in alive:
        print(result["diff"], file=sys.stderr, flush=True)
    return len(alive)


def thin_out(session: Path, most: int, seed: int) -> None:
    """Leave `most` of the changes that are to be tried, by chance; 0: all."""
    with sqlite3.connect(session) as database:
        order = "operator_name, occurrence, start_pos_row, start_pos_col"
        found = database.execute(f"select job_id from mutation_specs order by {order}")
        jobs = [row[0] for row in found]
        if not most or len(jobs) <= most:
            return
        kept = set(random.Random(seed).sample(jobs, most))
        for table in ("mutation_specs", "work_items"):
            for job in jobs:
                if job not in kept:
                    database.execute(f"delete from {table} where job_id = ?", (job,))


if __name__ == "__main__":
    raise SystemExit(main())
