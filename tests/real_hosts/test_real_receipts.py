"""The receipt reaches the main agent, and the report does not: counted in what the model reads."""

from __future__ import annotations

import re
import time
from pathlib import Path

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


def contracted(request: Request) -> Reply:
    """An agent that does as it is told: its report in the file, an answer in its own words."""
    told = re.search(r"`(\S*\.contextkit/reports/\S+\.md)`", request.text)
    if told and "Write" in request.tools and MARK not in request.text:
        found = re.search(
            r"Working directory: (\S+)|cwd[\"']?: ?[\"']?(/\S+?)[\"'\s]", request.text
        )
        root = (found[1] or found[2]) if found else ""
        return [Use("Write", {"file_path": f"{ROOT[0] or root}/{told[1]}", "content": REPORT})]
    return [Say("app.py is read twice; entry 377 stays for 377 seconds.")]


ROOT = [""]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("project", ["claude"], indirect=True)
def test_an_agent_that_follows_the_contract_is_not_sent_back(
    project: Project, background: bool
) -> None:
    ROOT[0] = str(project.root)
    with scripted(project, background, contracted) as models:
        assert project.run(models, PROMPT).status == 0
    copies, _ = told(models)
    assert copies == 0 and sum(sub(request) for request in models.requests) == 2  # write, answer
    main = [request.text for request in models.requests if not sub(request)]
    named = {path for text in main for path in re.findall(r"shared/payloads/\S+?\.md", text)}
    (path,) = named
    stored = project.files(".contextkit/ended/*/*.md") + project.files("shared/payloads/*/*.md")
    assert [one.name for one in stored if MARK in one.read_text("utf-8")] == [path.split("/")[-1]]


@pytest.mark.parametrize("form", ["no .venv", "worktree", "settings"])
@pytest.mark.parametrize("project", ["claude"], indirect=True)
def test_the_same_receipt_wherever_it_is_started(
    project: Project, form: str, tmp_path: Path
) -> None:
    """A clone that nobody set up, a worktree, and a line of settings."""
    if form == "no .venv":
        (project.root / "tools" / "contextkit" / ".venv").unlink()
    if form == "settings":
        project.settings(payload_budget=400)
    if form == "worktree":
        project.git("worktree", "add", "-q", str(tmp_path / "apart"))
        project = Project(tmp_path / "apart", project.home, project.host)
    with scripted(project) as models:
        assert project.run(models, PROMPT).status == 0
    main = "\n".join(request.text for request in models.requests if not sub(request))
    for key in ("summary[", "keyFindings: ", "kind: ", "facts_kept: ", "more: lines "):
        assert key in main, key
    assert project.diagnostics == ""


@pytest.mark.parametrize("project", ["claude"], indirect=True)
def test_a_resumed_session_opens_three_days_later_what_its_receipt_names(project: Project) -> None:
    opened: list[str] = []
    with scripted(project) as models:
        assert project.run(models, PROMPT).status == 0
        text = "\n".join(request.text for request in models.requests)
        (path,) = set(re.findall(r"shared/payloads/\S+?\.md", text))

        def read(request: Request) -> Reply:
            if opened:
                return [Say("It is there." if MARK in request.text else "It is gone.")]
            opened.append(path)
            return [
                Use("Read", {"file_path": str(project.root / path), "offset": 380, "limit": 40})
            ]

        models.script = read
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3 * 86_400))
        done = project.run(models, "READ: open it", CONTEXT_NOW=later,
                           options=("--continue", "--permission-mode", "default"))  # fmt: skip
    assert "It is there." in done.out and "permission" not in done.out.lower()[-400:]
    noted = "".join(
        one.read_text(encoding="utf-8") for one in project.files(".contextkit/ledger/*")
    )
    assert noted.count('"event":"shown"') == 1
