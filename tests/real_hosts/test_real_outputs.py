"""A tool's long output, where the settings ask for it: the model reads the receipt alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import CHECKOUT
from models import Models, Reply, Request, Say, Use
from projects import Project

LINES = "seq -f 'line %g of the output of a long command' 1 600"
DEEP = "line 577 of"


@pytest.mark.parametrize("project", ["claude", "codex"], indirect=True)
@pytest.mark.parametrize("limit", [1000, 0])
def test_the_receipt_and_not_the_output(project: Project, limit: int) -> None:
    project.settings(hook_tool_output_tokens=limit)
    program = str(CHECKOUT / "scripts" / "adopt.py")
    command = [sys.executable, program, f"--into={project.root}", "--copy"]
    subprocess.run(command, check=True, capture_output=True)

    def script(request: Request) -> Reply:
        if "line 1 of" in request.text or "@stored" in request.text:
            return [Say("SEEN")]
        if project.host == "claude":
            return [Use("Bash", {"command": LINES, "description": "count"})]
        tool = next(name for name in request.tools if name in ("exec_command", "shell_command"))
        given = {"cmd": LINES} if tool == "exec_command" else {"command": LINES}
        return [Use(tool, {**given, "max_output_tokens": 50_000} if "cmd" in given else given)]

    with Models(script) as models:
        options = ("--allowedTools", "Bash") if project.host == "claude" else ()
        done = project.run(models, "Run it", options=options)
    assert models.problems == [] and done.status == 0
    copies = sum(DEEP in request.text for request in models.requests)
    receipts = sum("@stored" in request.text for request in models.requests)
    assert (copies == 0, receipts > 0) == (limit > 0, limit > 0)
    stored = [*project.files("shared/payloads/*/*.md"), *project.files(".contextkit/ended/*/*.md")]
    assert len(stored) == (limit > 0)
    assert not stored or DEEP in stored[0].read_text(encoding="utf-8")
