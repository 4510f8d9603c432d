"""External memory: a task is cut off in the middle, and resumed from what is on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import toolkit

from walkthrough.walk import Walk, indent, show

TASK = "task=shorter_functions"
# An agent at work: it keeps what it finds out, file by file, until somebody kills it.
AGENT = """
import subprocess, sys
make, *pages = sys.argv[1:]
def keep(*call):
    subprocess.run(["make", "-s", "-f", make, *call], check=True, stdout=subprocess.DEVNULL)
for number, page in enumerate(pages):
    lines = open(page, encoding="utf-8").read().splitlines()
    keep("memory_finding", "task=shorter_functions", f"agent=reader-{number}", "status=completed",
         f"summary={page} has {len(lines)} lines.", f"files={page} - read",
         "discoveries=" + "\\n".join(line for line in lines if line.startswith("def ")))
    keep("memory_checkpoint", "task=shorter_functions", "phase=exploration",
         f"completed={page}", f"summary={number + 1} of {len(pages)} modules are read.",
         f"next_action=Read {pages[number + 1] if number + 1 < len(pages) else 'nothing'}")
    print(page, flush=True)
"""


def act(walk: Walk) -> None:
    """A plan, an agent that is killed in its work, and a fresh process that goes on."""
    walk.step(
        "A task that will take a while: its plan", "memory_plan", TASK,
        "objective=Find functions that are too long", "questions=Which module is the longest?",
        "next_actions=Read every module | Report the longest functions",
    )  # fmt: skip
    pages = [path for path in walk.git("ls-files", "scripts/contextkit/*.py").split()][:8]
    cut_off(walk, pages, after=3)
    stored = stored_tokens(walk)
    resumed = walk.step("A fresh process, with nothing but what is on disk", "memory_recover",
                        "prompt=1", "budget=1500")  # fmt: skip
    show(indent(resumed, most=60))
    read = tokens.estimate(resumed)
    show(f"   ~{stored} tokens are stored about the task, ~{read} are read to go on with it")
    show(indent(walk.step("Its context fills up", "memory_status", "tokens=121000")))
    show(indent(walk.step("And is full: a snapshot, once", "memory_status", "tokens=150000",
                          "summary=Reading module by module")))  # fmt: skip


def cut_off(walk: Walk, pages: list[str], after: int) -> None:
    """An agent reads `pages`; by SIGKILL it ends in the middle of the one after the first few."""
    command = [sys.executable, "-c", AGENT, toolkit("Makefile"), *pages]
    with subprocess.Popen(
        command, cwd=walk.scratch, env=walk.environment, stdout=subprocess.PIPE,
        encoding="utf-8", start_new_session=True,
    ) as agent:  # fmt: skip
        if agent.stdout is None:
            raise ContextError("the agent cannot be heard")
        for _ in range(after):
            agent.stdout.readline()
        os.killpg(agent.pid, signal.SIGKILL)
    show(f"\n   (an agent has read {after} of {len(pages)} modules; it is killed with SIGKILL)")


def stored_tokens(walk: Walk) -> int:
    """All that is stored in the memory, as tokens."""
    total = 0
    for folder, _, names in os.walk(os.path.join(walk.scratch, ".temp", "memory")):
        for name in (name for name in names if name[0] != "."):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                total += tokens.estimate(file.read())
    return total
