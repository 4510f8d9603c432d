"""The receipt reaches the main agent, and the report does not: counted in what the model reads."""

from __future__ import annotations

import re

import pytest
from models import Models, Reply, Request, Say, Script, Use
from projects import Project

MARK = "entry 377 for 377 seconds"  # deep in the report, where no summary looks
REPORT = "# What was found\n\nThe parser reads every file twice.\n\n" + "".join(
    f"- The cache of app.py holds entry {number} for {number} seconds.\n" for number in range(500)
)
PROMPT = "MAINTASK: have it looked at"
TASK = "SUBTASK: look at it"


def sub(request: Request) -> bool:
    """Whether a subagent asks; its form is another in each host."""
    first = "\n".join(message.text for message in request.messages)
    return PROMPT not in first or "Message Type: NEW_TASK" in first


def answer_of_a_subagent(request: Request, more: str = "") -> Reply:
    """A long report; asked to answer in its own words, an answer, as a model would."""
    _, asked, line = request.last.partition("End with this line:")
    for end in ("</hook_prompt>", "</system-reminder>"):
        line = line.partition(end)[0]
    said = f"The parser reads every file twice.\n{line.strip()}" if asked else REPORT + more
    if "complete_task" in request.tools:  # Gemini's way to answer
        return [Use("complete_task", {"result": {"response": said}})]
    return [Say(said)]


def spawn(project: Project, background: bool) -> Use:
    if project.host == "claude":
        return Use("Agent", {"description": "a task", "prompt": TASK,
                             "subagent_type": "general-purpose",
                             "run_in_background": background})  # fmt: skip
    if project.host == "copilot":
        return Use("task", {"agent_type": "general-purpose", "name": "look", "prompt": TASK,
                            "description": "a task",
                            "mode": "background" if background else "sync"})  # fmt: skip
    if project.host == "gemini":
        return Use("invoke_agent", {"agent_name": "generalist", "prompt": TASK})
    if project.form == "v2":
        return Use("collaboration.spawn_agent", {"task_name": "look", "message": TASK})
    return Use("multi_agent_v1.spawn_agent", {"message": TASK})


def wait(project: Project, request: Request) -> Use:
    if project.form == "v2":
        return Use("collaboration.wait_agent", {"timeout_ms": 20_000})
    found = re.findall(r'"agent_id":"([^"]+)"', request.text)
    return Use("multi_agent_v1.wait_agent", {"targets": found, "timeout_ms": 20_000})


def scripted(
    project: Project, background: bool = False, agent: Script = answer_of_a_subagent
) -> Models:
    asked: list[int] = []

    def script(request: Request) -> Reply:
        if sub(request):
            return agent(request)
        asked.append(request.number)
        if len(asked) == 1:
            return [spawn(project, background)]
        if project.host == "codex" and "@stored" not in request.text and len(asked) < 6:
            return [wait(project, request)]
        return [Say("MAIN IS DONE")]

    return Models(script)


def told(models: Models) -> tuple[int, int]:
    """How many requests of the main agent hold a line of the report, and how many the receipt."""
    main = [request for request in models.requests if not sub(request)]
    return (sum(MARK in request.text for request in main),
            sum("@stored" in request.text for request in main))  # fmt: skip


@pytest.mark.parametrize(
    ("project", "background", "turns"),
    [
        ("claude", False, 1),
        ("claude", True, 2),
        ("claude-older", False, 1),
        ("claude-older", True, 2),
        ("codex", True, 2),
        ("codex-v2", True, 2),
        ("gemini", False, 1),
        ("copilot", False, 1),
        ("copilot", True, 1),
    ],
    indirect=["project"],
)
def test_the_receipt_and_not_the_report(project: Project, background: bool, turns: int) -> None:
    with scripted(project, background) as models:
        done = project.run(models, PROMPT)
    assert models.problems == [] and done.status == 0
    copies, receipts = told(models)
    assert copies == 0 and receipts > 0
    assert sum(sub(request) for request in models.requests) == turns  # one more at most
    (stored,) = project.files("shared/payloads/*/*.md") or project.files(
        ".contextkit/ended/*/*.md"
    )  # stored once
    assert MARK in stored.read_text(encoding="utf-8")


@pytest.mark.parametrize("project", ["claude", "codex"], indirect=True)
def test_an_agent_that_says_its_report_again_is_let_go(project: Project) -> None:
    with scripted(project, True, lambda request: [Say(REPORT)]) as models:
        assert project.run(models, PROMPT).status == 0
    assert sum(sub(request) for request in models.requests) == 2
