"""Reviews: three reviewers look at this checkout's last change, from start to gate."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from contextkit.base import tokens
from contextkit.base.layout import toolkit

from walkthrough.walk import Walk, indent, show

REVIEWERS = ("docstrings", "length", "todo")


def act(walk: Walk) -> None:
    """Real processes stand in for agents: they read the diff and write as the contract says."""
    started = json.loads(
        walk.step(
            "A review of the last change begins: a roster, the diff in one file, a prompt an agent",
            "verdict_start", "process=quality-gates", f"agents={' '.join(REVIEWERS)}",
            f"base={_before_the_last_change(walk)}", "json=1",
        )
    )  # fmt: skip
    run = f"run={started['run']}"
    agents = [_launch(walk, agent, started) for agent in started["agents"]]
    show("\n   (a host would launch its agents now; here three scripts read the diff and write)")
    table = walk.step("Until the last of them is done", "verdict_wait", run)
    show(indent(table))
    replies = [agent.communicate()[0] for agent in agents]
    table = walk.step("Their files as verdicts: the status follows from the findings",
                      "verdict_ingest", run)  # fmt: skip
    show(indent(table))
    shown = ""
    found = [row.split("\t") for row in table.splitlines() if "\t" in row]
    for _, agent, _ in [row for row in found if row[2] != "no findings"][:1]:
        shown = walk.step("One of them, as far as it matters", "verdict_show", run,
                          f"agent={agent}", "max_tokens=80")  # fmt: skip
        show(indent(shown))
    report = walk.step("All of them together", "verdict_synthesize", run)
    show(indent(report))
    gate = walk.step("May it be shipped?", "verdict_gate", run, may_say_no=True)
    show(indent(gate))
    full = sum(tokens.estimate(_text(walk, agent["path"])) for agent in started["agents"])
    read = sum(map(tokens.estimate, [*replies, table, shown, report, gate]))
    show(f"   inline a main agent would have read ~{full} tokens of reviews; now it read ~{read}")


def _before_the_last_change(walk: Walk) -> str:
    """The parent of the last commit that touched a Python file; HEAD where there is none."""
    last = walk.git("log", "-1", "--no-merges", "--format=%h %p", "--", "*.py").split()
    return last[1] if len(last) > 1 else "HEAD"


def _launch(walk: Walk, agent: dict[str, str], started: dict[str, str]) -> subprocess.Popen[str]:
    script = toolkit("scripts", "walkthrough", "reviewer.py")
    diff = os.path.join(walk.scratch, started["input"])
    output = os.path.join(walk.scratch, agent["path"])
    return subprocess.Popen(
        [sys.executable, script, agent["agent"], diff, output, started["run"]],
        cwd=walk.scratch, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip


def _text(walk: Walk, path: str) -> str:
    with open(os.path.join(walk.scratch, path), encoding="utf-8") as file:
        return file.read()
