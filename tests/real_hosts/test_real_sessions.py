"""Sessions that die, subagents in work trees of their own, reviewers that are sessions."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import clients
import pytest
from models import Models, Reply, Request, Say, Use
from projects import Project
from test_real_receipts import MARK, PROMPT, REPORT, answer_of_a_subagent, sub

SHELL = {"claude": "Bash", "codex": "exec_command"}


def shell(project: Project, command: str) -> Use:
    given = {"command": command, "description": "x"} if project.host == "claude" else {
        "cmd": command}  # fmt: skip
    return Use(SHELL[project.host], given)


ALLOWED = {"claude": ("--allowedTools", "Bash"), "codex": ()}


def once(*turns: Reply) -> Models:
    """A model that says these, one after the other, and then that it is done."""
    left = list(turns)
    return Models(lambda request: left.pop(0) if left else [Say("ALL IS DONE")])


def test_a_session_that_was_killed_is_found_again(project: Project) -> None:
    """A turn kills its own host; the next session is told."""
    project.make("memory_checkpoint", "task=station", "phase=implementation",
                 "summary=The screen is half done.", "next_action=Build the rest")  # fmt: skip

    def script(request: Request) -> Reply:
        if "second thing" in request.last:
            for path in project.files(".contextkit/sessions/*"):
                os.kill(int(path.read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
        return [Say("FIRST IS DONE")]

    with Models(script) as models:
        turns = ("the first thing", "the second thing")  # a turn of Codex is a process
        first = project.run(models, *(turns if project.host == "claude" else turns[1:]))
        assert first.status != 0
        assert project.files(".contextkit/sessions/*")
    with once() as models:
        project.run(models, "go on")
    told = models.requests[0].text
    assert "ended unexpectedly" in told and "The screen is half done." in told
    assert not project.files(".contextkit/sessions/*")
    with once() as models:
        project.run(models, "go on")
    told = models.requests[0].text
    assert "ended unexpectedly" not in told and "The task `station` is open, last saved" in told


def test_git_sees_nothing_of_a_session(project: Project) -> None:
    def script(request: Request) -> Reply:
        if sub(request):
            return [Say(REPORT)]
        if len(models.requests) > 1:
            return [Say("MAIN IS DONE")]
        given = {"description": "x", "prompt": "SUBTASK", "subagent_type": "general-purpose",
                 "run_in_background": False}  # fmt: skip
        codex = Use("multi_agent_v1.spawn_agent", {"message": "SUBTASK"})
        return [Use("Agent", given) if project.host == "claude" else codex]

    with Models(script) as models:
        project.run(models, PROMPT)
    assert project.git("status", "--porcelain") == ""


def test_a_shell_knows_its_session(project: Project) -> None:
    with once([shell(project, "make -s context_sessions")]) as models:
        project.run(models, "which session is it?", options=ALLOWED[project.host])
    said = models.requests[1].last
    assert "session " in said and ("CLAUDE_CODE_SESSION_ID" in said or "CODEX_SESSION_ID" in said)


@pytest.mark.parametrize("project", ["claude"], indirect=True)
def test_a_subagent_in_a_worktree_of_its_own(project: Project) -> None:
    folder = project.root / "docs" / "context_capsules" / "main"
    seen: list[str] = []

    def script(request: Request) -> Reply:
        if sub(request):
            seen.append(request.text)
            return answer_of_a_subagent(request, "\n\nVERDICT: NEEDS_ATTENTION it is slow\n")
        if len(models.requests) > 1:
            return [Say("MAIN IS DONE")]
        return [Use("Agent", {"description": "x", "prompt": "SUBTASK", "isolation": "worktree",
                              "subagent_type": "general-purpose"})]  # fmt: skip

    assert not folder.exists()
    with Models(script) as models:
        done = project.run(models, PROMPT)
    assert done.status == 0 and seen
    (stored,) = project.files(".contextkit/ended/*/*.md")
    assert MARK in stored.read_text(encoding="utf-8")
    assert project.files(".clavain/verdicts/general-purpose.json")
    assert project.git("worktree", "list").count("\n") == 1  # the host could remove it
    assert project.git("status", "--porcelain") == ""


def test_a_reviewer_that_is_a_session_is_judged(project: Project) -> None:
    (project.root / "plan.md").write_text("# Plan\n", encoding="utf-8")
    project.make("verdict_start", "process=flux-drive", "agents=fd-safety", "target=plan.md")
    (prompt,) = project.files("**/prompts/fd-safety.md")
    out = prompt.parent.parent / "fd-safety.md"
    asked = prompt.read_text(encoding="utf-8")
    (run,), (files,) = re.findall(r"run-uuid: (\S+)", asked)[:1], re.findall(r"n of (\d+) ", asked)
    good = f"<!-- run-uuid: {run} -->\\n### Findings Index\\nVerdict: safe\\n\\n### Summary\\n"
    good += f"Read: {files} of {files} files\\nCounts: P0 0, P1 0, P2 0, P3 0\\nAll is well.\\n"

    def script(request: Request) -> Reply:
        if "there is no such file" in request.last:
            return [shell(project, f"printf '{good}' > '{out}'")]
        return [Say("All is well.")]

    with Models(script) as models:
        project.run(models, prompt.read_text(encoding="utf-8"), options=ALLOWED[project.host])
    assert any("there is no such file" in request.last for request in models.requests)
    entry = json.loads(project.files(".clavain/verdicts/fd-safety.json")[0].read_text("utf-8"))
    assert entry["status"] == "CLEAN"


@pytest.mark.parametrize("project", ["codex"], indirect=True)
def test_a_rollout_tells_its_tokens(project: Project) -> None:
    """Saved at three quarters of the window that Codex tells; missed by Stop or not."""
    with Models(lambda request: [Say("IT IS DONE")], tokens=255_000) as models:
        project.run(models, "do it")
    assert project.files(".claude/context_snapshots/*.md") or project.files("**/snap_*.md")


def hooks_listed(project: Project, models: Models) -> str:
    clients.codex_home(project.home, project.root, models.address)
    env = clients.environment(project.home, CODEX_HOME=str(project.home / ".codex"))
    path = f"{clients.CLIENTS / 'node_modules' / '.bin'}:{env['PATH']}"
    command = ["make", "-s", "-C", str(project.root), "doctor", "host=codex"]
    done = subprocess.run(command, env={**env, "PATH": path}, capture_output=True, encoding="utf-8")
    return done.stdout + done.stderr


@pytest.mark.parametrize("project", ["codex"], indirect=True)
def test_doctor_finds_hooks_that_are_not_trusted(project: Project) -> None:
    with once() as models:
        said = hooks_listed(project, models)
        assert "wrong: hosts: Codex does not start" in said and "/hooks in codex" in said
        home = Path(project.home)
        assert not (home / ".codex" / "sessions").exists()  # nothing was asked of a model
    assert models.requests == []
