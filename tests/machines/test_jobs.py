"""The workflow of manuals/machines.md: a job starts a review, others review a part, one gates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Script, git
from git_servers import bare
from signing import signed

CODE = "def f():\n    return 1\n"
REVIEW = "### Findings Index\nVerdict: safe\n\n### Summary\nAll fine.\n"


def job(name: str, hub: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh clone, and the current directory."""
    root = hub.parent / name
    git("clone", "-q", str(hub), str(root))
    monkeypatch.chdir(root)
    monkeypatch.setenv("CONTEXT_MACHINE", name)
    return root


def test_four_jobs_share_one_review(
    sealed: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = bare(sealed / "hub.git")
    seed = job("seed", hub, monkeypatch)
    for text in (CODE, CODE + "\n\ndef g():\n    return 2\n"):
        (seed / "app.py").write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", "change")
    git("push", "-q", "origin", "HEAD")
    job("start", hub, monkeypatch)
    agents = ("api", "ui", "data")
    asked = f"--agents={' '.join(agents)}"
    assert run("verdict", "start", "--process=review", asked, "--base=HEAD~1", "--json") == 0
    started = json.loads(run.out)
    assert run("context_sync", "push", "--what=review") == 0
    for agent in agents:
        root = job(agent, hub, monkeypatch)
        assert run("context_sync", "pull", "--what=review") == 0, run.out
        folder = root / started["output_dir"]
        assert list((folder / "input").iterdir()), "what is reviewed came along"
        text = signed(REVIEW, started["run"], by=agent)
        (folder / f"{agent}.md").write_text(text, encoding="utf-8")
        assert run("context_sync", "push", "--what=review") == 0
        assert run.out.startswith(f"sent output:{started['run']}/{agent}.md\n1 sent")
    job("gate", hub, monkeypatch)
    assert run("context_sync", "pull", "--what=review") == 0
    assert run("verdict", "ingest", f"--run={started['run']}") == 0
    assert run.out.endswith("3/3 valid\n")
    assert run("verdict", "gate", f"--run={started['run']}") == 0
    assert run.out.startswith("PASS 3 of 3 agents")
    assert not git("status", "--short")
