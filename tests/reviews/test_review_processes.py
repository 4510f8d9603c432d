"""Each of the five processes, one through make, from start to gate; agents know only prompts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import door
import pytest
from checkouts import make
from conftest import CHECKOUT, Script, git
from test_gates import CLEAN, RESEARCH, SEVERE

# An agent: it has its prompt and nothing else, and writes as the contract in it says.
AGENT = """
import os, pathlib, sys
prompt, finding = pathlib.Path(sys.argv[1]).read_text("utf-8"), sys.argv[2]
path = prompt.partition("Write ALL findings to `")[2].partition("`")[0]
mark = prompt.partition("<!-- run-uuid: ")[2].partition(" -->")[0]
count = prompt.partition("Read: n of ")[2].partition(" f")[0]
sys.path.insert(0, sys.argv[3])
from signing import signed
text = signed(finding, mark, int(count or 0), os.path.basename(path))
pathlib.Path(path + ".partial").write_text(text, "utf-8")
os.rename(path + ".partial", path)
"""


TESTS = str(CHECKOUT / "tests")


class Host:
    """A repository that uses the toolkit by its targets: in this process, or through make."""

    def __init__(self, folder: Path, run: Script) -> None:
        self.folder = folder
        self.run = run
        self.by_make = False

    def __call__(self, *call: str) -> str:
        """What a target prints; the caller looks at the words, as make has one status for all."""
        if self.by_make:
            words = ("-s", "-i", "-f", str(CHECKOUT / "Makefile"), *call)
            return make(*words, cwd=self.folder).stdout
        command, variables = door.call(call)
        with mock.patch.dict(os.environ, variables):
            self.run(*command)
        return self.run.out

    def start(self, process: str, *how: str) -> Any:
        return json.loads(self("verdict_start", f"process={process}", *how, "json=1"))

    def launch(self, started: Any, *findings: str) -> None:
        """Each agent as a process of its own, all at once."""
        call = (sys.executable, "-c", AGENT)
        agents = [
            subprocess.Popen([*call, self.folder / one["prompt"], finding, TESTS])
            for one, finding in zip(started["agents"], findings, strict=True)
        ]
        assert [agent.wait() for agent in agents] == [0] * len(agents)


@pytest.fixture
def host(repo: Path, run: Script) -> Host:
    git("branch", "-f", "main")
    (repo / "app.py").write_text("".join(f"print({n})\n" for n in range(30)), encoding="utf-8")
    (repo / "plan.md").write_text("# Plan\n\nOne thing after the other.\n", encoding="utf-8")
    return Host(repo, run)


REVIEWS = {
    "flux-drive": ("target=plan.md", "docs/research/flux-drive/plan-"),
    "quality-gates": ("base=main", ".clavain/quality-gates"),
    "review": ("target=feature/a b", ".clavain/reviews/feature-a-b-"),
}


@pytest.mark.parametrize("process", REVIEWS)
def test_a_review_goes_from_start_to_gate(host: Host, process: str) -> None:
    how, folder = REVIEWS[process]
    host.by_make = process == "flux-drive"
    started = host.start(process, how, "agents=fd-a interflux:review:fd-b")
    assert started["output_dir"].startswith(folder)
    host.launch(started, CLEAN, SEVERE)
    run = f"run={started['run']}"
    states = [line.split("\t")[:2] for line in host("verdict_wait", run).splitlines()]
    assert states == [["done", "fd-a"], ["done", "interflux:review:fd-b"]]
    assert host("verdict_ingest", run).splitlines() == [
        "CLEAN\tfd-a\tno findings",
        "NEEDS_ATTENTION\tinterflux:review:fd-b\t1 P1: It blocks",
        "2/2 valid",
    ]
    assert len(host("verdict_table", run).splitlines()) == 2
    assert host("verdict_count", run) == "1 CLEAN, 1 NEEDS_ATTENTION\n"
    (urgent,) = host("verdict_attention", run).splitlines()
    assert urgent.endswith("\tP1-1")
    shown = host("verdict_show", run, "agent=interflux:review:fd-b", "finding=P1-1")
    assert "`src/app.py:42` waits." in shown
    report = host("verdict_synthesize", run).splitlines()
    assert report[0] == "2 files, 2 read, 0 not read"
    assert (
        report[3:5]
        == ["fix before merging: 1 P1", "P1 interflux:review:fd-b/P1-1 src/app.py:42 It blocks"]
        and len(report) <= 15
    )
    found = json.loads((host.folder / report[2]).read_text(encoding="utf-8"))
    assert found["process"] == process and found["agents_failed"] == []
    assert host("verdict_gate", run).splitlines()[1].startswith("severe\tinterflux:review:fd-b")
    # It is fixed by a new run, into which nothing of the old one leaks.
    again = host.start(process, how, "agents=fd-a interflux:review:fd-b")
    assert again["output_dir"] == started["output_dir"] and again["run"] != started["run"]
    assert "missing\tfd-a" in host("verdict_gate", f"run={again['run']}")
    host.launch(again, CLEAN, CLEAN)
    host("verdict_ingest", f"run={again['run']}")
    assert host("verdict_gate", f"run={again['run']}").startswith("PASS 2 of 2 agents")
    assert host("verdict_gate", run).startswith("FAIL")
    assert git("status", "--porcelain").splitlines() == ["?? app.py", "?? plan.md"]


@pytest.mark.parametrize("process", ["flux-research", "brainstorm"])
def test_research_goes_from_start_to_gate(host: Host, process: str) -> None:
    started = host.start(process, "target=Is it so?", "agents=repo-research-analyst")
    run = f"run={started['run']}"
    host.launch(started, RESEARCH)
    assert host("verdict_wait", run).startswith("done\trepo-research-analyst")
    assert host("verdict_ingest", run).startswith("COMPLETE\trepo-research-analyst")
    assert "- Source | a page" in host("verdict_index", run)
    assert "It is so." in host("verdict_show", run, "agent=repo-research-analyst", "finding=One")
    report = host("verdict_synthesize", run).splitlines()
    assert report[3] == "COMPLETE: 1 finding, 1 source" and len(report) <= 10
    assert host("verdict_export", run, "format=markdown").startswith("## Review: COMPLETE\n")
    assert '"verdict": "COMPLETE"' in host("verdict_export", run, "format=sarif")
    assert host("verdict_gate", run).startswith("PASS 1 of 1 agents")


def test_a_small_change_has_its_file_verdict_and_gate_too(host: Host) -> None:
    (host.folder / "plan.md").unlink()
    (host.folder / "app.py").write_text("print(1)\n", encoding="utf-8")
    started = host.start("quality-gates", "base=main")
    assert started["small"] and [one["agent"] for one in started["agents"]] == ["fd-quality"]
    run = f"run={started['run']}"
    host.launch(started, CLEAN)
    assert host("verdict_ingest", run) == "CLEAN\tfd-quality\tno findings\n1/1 valid\n"
    assert host("verdict_gate", run).startswith("PASS 1 of 1")
    assert (host.folder / started["output_dir"] / "fd-quality.md").is_file()
    assert (host.folder / ".clavain/verdicts/fd-quality.json").is_file()


def test_an_agent_that_never_came_back_is_a_stub_and_fails(host: Host) -> None:
    started = host.start("quality-gates", "base=main", "agents=fd-a fd-b")
    run = f"run={started['run']}"
    host.launch({"agents": started["agents"][:1]}, CLEAN)
    assert "fd-b" in host("verdict_wait", run, "timeout=1s", "stub=1")
    host("verdict_ingest", run)
    reasons = [line.split("\t") for line in host("verdict_gate", run).splitlines()[1:]]
    assert [reason[:2] for reason in reasons if len(reason) > 1] == [["error", "fd-b"]]


def test_a_file_that_comes_too_late_passes_nothing_until_somebody_waits_again(host: Host) -> None:
    started = host.start("quality-gates", "base=main", "agents=fd-a")
    run = f"run={started['run']}"
    host("verdict_wait", run, "timeout=0")
    host.launch(started, CLEAN)
    host("verdict_ingest", run)
    assert "late\tfd-a" in host("verdict_gate", run)
    host("verdict_wait", run)
    assert host("verdict_gate", run).startswith("PASS")
