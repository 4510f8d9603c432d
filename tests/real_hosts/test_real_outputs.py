"""A tool's long output: the model reads the digest alone, and the user's rules go on matching."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT
from models import Models, Reply, Request, Say, Use
from projects import Project

LINES = "seq -f 'line %g of the output of a long command' 1 600"
FAILING = f"{LINES}; ls nowhere-at-all"
DEEP = "line 577 of"


def calls(project: Project, commands: list[str], texts: list[str]) -> Any:
    """A script in which the model runs these commands; `texts` gets what it read after each."""

    def script(request: Request) -> Reply:
        if not request.tools:
            return [Say("a title")]
        done = len(_results(request))
        texts[:] = _results(request)
        if done == len(commands):
            return [Say("SEEN")]
        if project.host == "claude":
            return [Use("Bash", {"command": commands[done], "description": "run"})]
        tool = next(name for name in request.tools if name in ("exec_command", "shell_command"))
        name = "cmd" if tool == "exec_command" else "command"
        more = {"max_output_tokens": 50_000, "yield_time_ms": 20_000} if name == "cmd" else {}
        return [Use(tool, {name: commands[done], **more})]

    return script


def _results(request: Request) -> list[str]:
    """The results of tools in a conversation, in order."""
    found = []
    for one in request.body.get("messages") or request.body.get("input") or []:
        if one.get("type") == "function_call_output":
            found.append(str(one.get("output")))
        content = one.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                found.append(json.dumps(block))
    return found


def adopt(project: Project) -> None:
    program = str(CHECKOUT / "scripts" / "adopt.py")
    command = [sys.executable, program, f"--into={project.root}", "--copy"]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("project", ["claude", "claude-older", "codex"], indirect=True)
@pytest.mark.parametrize("limit", [1000, "off"])
def test_the_digest_and_not_the_output(project: Project, limit: int | str) -> None:
    project.settings(hook_tool_output_tokens=limit)
    adopt(project)
    texts: list[str] = []
    with Models(calls(project, [LINES, FAILING, "cd tools && ls"], texts)) as models:
        skips = ("--dangerously-skip-permissions",) if project.host == "claude" else ()
        done = project.run(models, "Run it", options=skips, IS_SANDBOX="1")
    assert models.problems == [] and done.status == 0
    on = limit != "off"
    assert [DEEP not in text for text in texts[:2]] == [on, on]
    assert ["@stored" in text for text in texts] == [on, on, False]
    assert "nowhere-at-all" in texts[1] and "contextkit" in texts[2]
    assert not on or "[exit 2 after" in texts[1]
    stored = [*project.files("shared/payloads/*/*.md"), *project.files(".contextkit/ended/*/*.md")]
    assert len(stored) == 2 * on
    assert all(DEEP in path.read_text(encoding="utf-8") for path in stored)


@pytest.mark.parametrize("project", ["claude"], indirect=True)
def test_rules_go_on_matching_and_nobody_is_asked_more_than_before(project: Project) -> None:
    (project.root / "check").write_text(f"#!/bin/sh\n{FAILING}\n", encoding="utf-8")
    (project.root / "check").chmod(0o755)
    rules = {"allow": ["Bash(./check:*)"], "deny": ["Bash(./never:*)"], "ask": ["Bash(./ask:*)"]}
    settings = Path(project.home) / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"permissions": rules}), encoding="utf-8")
    texts: list[str] = []
    commands = ["./check --all", "./never", "./ask", "./other", "cd tools && ls", "git status"]
    with Models(calls(project, commands, texts)) as models:
        project.run(models, "Run it", options=("--permission-mode", "default"))
    assert "[exit 2 after" in texts[0] and DEEP not in texts[0]
    assert "denied" in texts[1] and "run.sh" not in texts[1]
    for text in texts[2:4]:
        assert '"is_error": true' in text and "No such file" not in text  # somebody was asked
    assert "contextkit" in texts[4] and "On branch" in texts[5]


@pytest.mark.parametrize("project", ["codex"], indirect=True)
def test_what_a_policy_forbids_stays_forbidden(project: Project) -> None:
    rules = Path(project.home) / ".codex" / "rules"
    rules.mkdir(parents=True)
    rule = 'prefix_rule(pattern=["seq"], decision="forbidden")\n'
    (rules / "default.rules").write_text(rule, encoding="utf-8")
    texts: list[str] = []
    with Models(calls(project, [LINES], texts)) as models:
        project.run(models, "Run it")
    assert "policy forbids" in texts[0]
