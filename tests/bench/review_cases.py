"""Verdicts one by one, their reports, and a review run step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from measure import Case
from places import HERE, SCRIPTS, script

# The shell with jq takes minutes at 1,000 verdicts and most of an hour at 10,000: ask for it.
WITH_JQ = int(os.environ.get("WITH_JQ", "100"))


def verdict_cases(folder: Path) -> list[Case]:
    """Writing one; the four reports at 10 to 10,000 verdicts, beside bash with jq as it was."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.reviews.documents import verdicts

    found = [
        Case("verdict write", script("verdict.py", "write", "--agent=a", "--status=CLEAN",
                                     "--summary=nothing found"), 1.8),
    ]  # fmt: skip
    for count in (10, 100, 1_000, 10_000):
        store = folder / f"verdicts{count}"
        store.mkdir()
        for number in range(count):
            verdict = verdicts.Verdict(
                agent=f"agent-{number}", status="NEEDS_ATTENTION" if number % 4 == 0 else "CLEAN",
                summary="what was concluded, in a line", tokens_spent=1200,
            )  # fmt: skip
            (store / f"agent-{number}.json").write_text(verdicts.render(verdict), encoding="utf-8")
        for said in ("table", "count", "attention", "tokens"):
            limit = {10: 1.8, 1_000: 3.0}.get(count) if said in ("table", "count") else None
            view = () if said == "table" else (f"--view={said}",)
            shown = script("verdict.py", "table", *view)
            command = ["env", f"CLAVAIN_VERDICT_DIR={store}", *shown]
            found.append(Case(f"verdict {said} of {count:,}", command, limit))
        if count <= WITH_JQ and shutil.which("jq"):
            for said in ("table", "count", "attention", "tokens"):
                command = ["bash", str(HERE / "jq-per-file.sh"), said, str(store)]
                found.append(
                    Case(f"  with jq: {said} of {count:,}", command, rounds=max(1, 200 // count))
                )
    fill_reviews(folder / "reviews", 100)
    found.append(Case("verdict ingest of 100 reviews", script("verdict.py", "ingest",
                                                              "--dir=reviews")))  # fmt: skip
    if shutil.which("jq"):
        command = ["bash", str(HERE / "jq-per-file.sh"), "write", str(folder / "jq")]
        found.append(Case("  with jq: write", command))
    return found + run_cases(folder)


def run_cases(folder: Path) -> list[Case]:
    """A review run of eight agents over a document, each step of it."""
    (folder / "plan.md").write_text("# Plan\n\nOne thing after the other.\n", encoding="utf-8")
    agents = [f"fd-{number}" for number in range(8)]
    start = script("verdict.py", "start", "--process=flux-drive", "--target=plan.md",
                   f"--agents={' '.join(agents)}", "--json")  # fmt: skip
    made = json.loads(subprocess.run(start, check=True, capture_output=True).stdout)
    fill_reviews(folder / made["output_dir"], len(agents), "23", "safe", made["run"])
    run = f"--run={made['run']}"
    subprocess.run(script("verdict.py", "ingest", run), check=True, stdout=subprocess.DEVNULL)
    known = folder / ".contextkit" / "runs"

    def forget() -> None:
        """Only the run above is known, as before each start; its folder is another one."""
        for record in known.glob("*.json"):
            if record.stem != made["run"]:
                record.unlink()

    fresh = [word.replace("plan.md", "other.md") for word in start]
    (folder / "other.md").write_text("# Other\n", encoding="utf-8")
    return [
        Case("verdict start of 8 agents", fresh, prepare=forget),
        Case("verdict wait for 8 that are done", script("verdict.py", "wait", run)),
        Case("verdict ingest of 8", script("verdict.py", "ingest", run)),
        Case("verdict table of 8, of a run", script("verdict.py", "table", run)),
        Case("verdict synthesize of 8", script("verdict.py", "synthesize", run)),
        Case("verdict gate of 8", script("verdict.py", "gate", run)),
    ]


def fill_reviews(
    folder: Path, count: int, severities: str = "0123", verdict: str = "risky", run: str = ""
) -> None:
    """Reviews of about 4,000 tokens each, ten findings in each, as the contract of a run asks."""
    folder.mkdir(exist_ok=True)
    ids = [f"P{severities[n % len(severities)]}" for n in range(10)]
    index = "".join(f'- {p} | {p}-{n} | "Part {n}" | What is wrong\n' for n, p in enumerate(ids))
    prose = "The parser in `src/app.py:42` takes 52 ms for 4,500 lines, twice as long as before.\n"
    issues = "".join(f"#### {p}-{n}. What is wrong\n{prose * 16}\n" for n, p in enumerate(ids))
    first = f"<!-- run-uuid: {run} -->\n" if run else ""
    counts = ", ".join(f"P{n} {sum(p == f'P{n}' for p in ids)}" for n in range(4))
    summary = f"### Summary\nRead: 1 of 1 files\nCounts: {counts}\n"
    head = f"{first}### Findings Index\n{index}Verdict: {verdict}\n\n{summary}"
    for number in range(count):
        said = f"{head}Part {number} of the plan was read closely.\n\n### Issues Found\n{issues}"
        (folder / f"fd-{number}.md").write_text(said, encoding="utf-8")


def run_of_one(folder: Path) -> None:
    """A review run of two agents, of which the first has left its file."""
    (folder / "plan.md").write_text("# Plan\n", encoding="utf-8")
    start = script("verdict.py", "start", "--process=flux-drive", "--target=plan.md",
                   "--agents=fd-0 fd-1", "--json")  # fmt: skip
    made = json.loads(subprocess.run(start, check=True, capture_output=True).stdout)
    fill_reviews(folder / made["output_dir"], 1, "23", "safe", made["run"])
