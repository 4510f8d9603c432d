"""A context that is compacted, resumed, or started in a folder below: what the agent is told."""

from __future__ import annotations

import pytest
from conftest import CHECKOUT
from models import Models, Reply, Request, Say
from projects import Project

SAVED = "The screen is half done."
OPEN = "The task `station` is open, last saved"


def checkpoint(project: Project) -> None:
    project.make("memory_checkpoint", "task=station", "phase=implementation", f"summary={SAVED}",
                 "next_action=Build the rest")  # fmt: skip


def done(request: Request) -> Reply:
    return [Say("IT IS DONE")]


@pytest.mark.parametrize("project", ["claude", "codex"], indirect=True)
def test_a_resumed_session_is_told_what_was_saved(project: Project) -> None:
    checkpoint(project)
    with Models(done) as models:
        if project.host == "claude":
            project.run(models, "the first thing")
            project.run(models, "the second thing", options=("--continue",))
        else:
            project.run(models, "the first thing", "the second thing")
    first, *_, last = models.requests
    assert OPEN in first.text and SAVED not in first.text
    assert "the first thing" in last.text and SAVED in last.text


@pytest.mark.parametrize("project", ["claude", "codex"], indirect=True)
def test_a_compaction_leaves_a_snapshot_and_the_agent_is_told(project: Project) -> None:
    checkpoint(project)
    size = 900 if project.host == "claude" else 200_000
    turns = ["the first thing", "/compact", "go on"] if project.host == "claude" else [
        "the first thing", "go on"]  # fmt: skip
    limit = ("-c", "model_auto_compact_token_limit=100000")
    with Models(done, tokens=size) as models:
        project.run(models, *turns, options=() if project.host == "claude" else limit)
    assert project.files(".claude/context_snapshots/*.md") or project.files("**/snap_*.md")
    transcripts = project.home.glob(f".{project.host}/**/*.jsonl")
    mark = {"claude": '"compact_boundary"', "codex": '"type":"compacted"'}[project.host]
    assert any(mark in path.read_text(encoding="utf-8") for path in transcripts)
    told = [request for request in models.requests if SAVED in request.text]
    assert told and "go on" in models.requests[-1].text and SAVED in models.requests[-1].text


@pytest.mark.parametrize("project", ["claude", "codex"], indirect=True)
def test_a_session_in_a_folder_below_the_project(project: Project) -> None:
    """Codex runs the hooks of the project there; Claude Code those of a plugin alone."""
    checkpoint(project)
    (project.root / "below").mkdir()
    with Models(done) as models:
        project.run(models, "do it", cwd="below")
    assert (OPEN in models.requests[0].text) == (project.host == "codex")
    if project.host == "claude":
        with Models(done) as models:
            project.run(models, "do it", cwd="below", options=("--plugin-dir", str(CHECKOUT)))
        assert OPEN in models.requests[0].text
        assert not (project.root / "below" / ".contextkit").exists()
