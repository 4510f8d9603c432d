"""Gemini CLI and GitHub Copilot CLI: what adopt writes for them, and what their events get."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Script
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings as hook_settings
from contextkit.hosts.flows import adoption, changes, doctor, runner
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import verdicts

from hooks import answer

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "".join(f"- The cache holds entry {i} for {i} s.\n" for i in range(300))
PROFILE = ".claude/agents/dev.md"


def written(repo: Path, host: str) -> Any:
    path = repo / hosts.find(host).settings
    return json.loads(path.read_text(encoding="utf-8"))


def test_adopt_installs_them_and_unadopt_takes_all_of_it_out(repo: Path) -> None:
    (repo / ".gemini").mkdir()
    mine = '{\n  "theme": "dark",\n  "hooks": {"SessionStart": []}\n}\n'
    (repo / ".gemini" / "settings.json").write_text(mine, encoding="utf-8")
    plan = adoption.adopt(str(repo), "tools/contextkit", ("gemini", "copilot"), False)
    changes.carry_out(plan)
    assert written(repo, "gemini")["hooks"]["PreCompress"][0]["matcher"] == "manual"
    (group,) = written(repo, "gemini")["hooks"]["AfterAgent"]
    assert (
        group["hooks"][0]["timeout"] == 10_000 and "--host=gemini" in group["hooks"][0]["command"]
    )
    flat = written(repo, "copilot")
    assert flat["version"] == 1 and list(flat["hooks"]) == hook_settings.events(
        hosts.find("copilot")
    )
    (one,) = flat["hooks"]["Stop"]
    assert (one["type"], one["timeout"]) == ("command", 10) and "hooks" not in one
    assert (repo / "GEMINI.md").exists() and (repo / "AGENTS.md").exists()
    for name in ("gemini", "copilot"):
        found = adoption.installed(Layout(), hosts.find(name))
        assert [event for event, _ in found] == hook_settings.events(hosts.find(name))
    changes.carry_out(adoption.unadopt(str(repo), "tools/contextkit", (), False))
    assert (repo / ".gemini" / "settings.json").read_text(encoding="utf-8") == mine
    assert sorted(one.name for one in repo.iterdir()) == [".gemini", ".git"]


def test_a_hook_of_somebody_else_in_a_flat_file_stays() -> None:
    host = hosts.find("copilot")
    mine = '{"version": 1, "hooks": {"Stop": [{"type": "command", "bash": "x.sh"}]}}'
    handlers = hook_settings.wanted(host, "tools/contextkit")
    text, before = hook_settings.merged(mine, handlers, None, "s", True)
    assert hook_settings.merged(text, handlers, before, "s", True) == (text, before)
    assert dict(hook_settings.read(text, "s")) == handlers
    assert hook_settings.removed(text, before, "s") == mine


@pytest.mark.parametrize("name", ["gemini", "copilot", "cursor"])
def test_doctor_fires_their_hooks(repo: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # how long it takes is no matter
    changes.carry_out(adoption.adopt(str(repo), "tools/contextkit", (name,), False))
    host = hosts.find(name)
    trials = list(doctor.fire(Layout(), host))
    assert trials == [(event, []) for event in hook_settings.events(host)]


def test_a_report_is_replaced_without_a_turn_where_the_host_can(layout: Layout) -> None:
    given = {"agent_id": "a", "agent_type": "explore", "last_assistant_message": LONG}
    said = answer("SubagentStop", "copilot", **given)
    (path,) = payloads.documents(layout, "s-1")
    assert list(said) == ["modifiedResponse"]
    assert f"@stored: {layout.shown(path)}" in said["modifiedResponse"]
    assert answer("SubagentStop", "copilot", **given) == {}


def test_fields_by_their_own_names_are_ours(layout: Layout, repo: Path) -> None:
    passed = {"sessionId": "s-9", "agent_type": "explore", "transcriptPath": "/t", "cwd": str(repo)}
    given = hosts.parse("copilot", "SubagentStart", json.dumps(passed).encode())
    assert (given.session, given.agent_type, given.text("transcript_path")) == (
        "s-9", "explore", "/t")  # fmt: skip


def test_text_is_handed_over_in_each_hosts_form(repo: Path) -> None:
    profile = repo / PROFILE
    profile.parent.mkdir(parents=True)
    profile.write_text("You are dev.\n", encoding="utf-8")
    said = answer("BeforeAgent", "gemini", prompt="@dev Build it")["hookSpecificOutput"]
    assert said["hookEventName"] == "BeforeAgent" and "You are dev." in said["additionalContext"]
    said = answer("UserPromptSubmit", "copilot", prompt="@dev Build it", session_id="s-3")
    assert "You are dev." in said["additionalContext"]
    first = "<hook_context>2 reminders are open</hook_context>\n\n@dev Fix it"
    said = answer("BeforeAgent", "gemini", prompt=first, session_id="s-2")
    assert "You are dev." in said["hookSpecificOutput"]["additionalContext"]
    said = hosts.output("copilot", "SessionStart", hosts.Answer(context="2 reminders are open"))
    assert json.loads(said) == {"additionalContext": "2 reminders are open"}


def test_a_transcript_of_a_form_that_nobody_knows_stops_nothing(repo: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text('{"messages": [{"type": "user", "content": "Look"}]}\n', encoding="utf-8")
    given = {"prompt": "x", "prompt_response": "y", "transcript_path": str(path)}
    assert answer("AfterAgent", "gemini", **given) == {}
    assert answer("PreCompress", "gemini", trigger="auto", transcript_path=str(path)) == {}


@pytest.mark.parametrize("form", [str, lambda text: [{"text": text}]])
def test_a_report_that_a_tool_brings_is_replaced_where_no_event_ends_a_subagent(
    layout: Layout, form: Any
) -> None:
    told = form(f"Subagent 'generalist' finished.\nResult:\n{LONG}\nVERDICT: CLEAN all is well\n")
    given = {"tool_name": "invoke_agent", "tool_input": {"agent_name": "generalist"}}
    said = answer("AfterTool", "gemini", **given, tool_response={"llmContent": told})
    (path,) = payloads.documents(layout, "s-1")
    assert f"@stored: {layout.shown(path)}" in said["reason"] and LONG not in said["reason"]
    assert [one["agent"] for one in verdicts.load_all(layout).documents] == ["generalist"]
    short = answer("AfterTool", "gemini", **given, tool_response={"llmContent": form("Fine.")})
    assert short == {}


def test_a_long_output_is_replaced_in_each_hosts_form(layout: Layout, repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("hook_tool_output_tokens: 1000\n", encoding="utf-8")
    told = {"result_type": "success", "text_result_for_llm": LONG}
    said = answer("PostToolUse", "copilot", tool_name="Bash", tool_result=told)["modifiedResult"]
    assert said["resultType"] == "success" and "@stored: " in said["textResultForLlm"]
    told = {"llmContent": LONG, "returnDisplay": LONG}
    said = answer("AfterTool", "gemini", tool_name="run_shell_command", tool_response=told)
    assert said["decision"] == "block" and "@stored: " in said["reason"]
    assert answer("AfterTool", "gemini", tool_name="read_file", tool_response=told) == {}


def test_a_host_that_runs_the_hooks_of_another_is_answered_once_and_in_its_form(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copilot runs what stands in the settings of Claude Code, too."""
    assert run("remember_later", "--message=Look at the cache") == 0
    data = json.dumps({"session_id": "s-1", "cwd": str(repo)}).encode()
    said = json.loads(runner.run(["SessionStart", "--host=claude"], data))
    assert "1 reminder is open" in said["hookSpecificOutput"]["additionalContext"]
    monkeypatch.setenv("COPILOT_PROJECT_DIR", str(repo))
    said = json.loads(runner.run(["SessionStart", "--host=claude"], data))
    assert "1 reminder is open" in said["additionalContext"]
    path = repo / hosts.find("copilot").settings
    path.parent.mkdir(parents=True)
    path.write_text(
        '{"hooks": {"Stop": [{"command": "x/scripts/hook.sh Stop --host=copilot"}]}}',
        encoding="utf-8",
    )
    assert runner.run(["SessionStart", "--host=claude"], data) == ""
    assert "1 reminder is open" in runner.run(["SessionStart", "--host=copilot"], data)


def test_a_host_that_has_its_own_words_for_an_answer() -> None:
    said = hosts.output("cursor", "stop", hosts.Answer(block="write out/x.md"))
    assert json.loads(said) == {"followup_message": "write out/x.md"}
    said = hosts.output("cursor", "sessionStart", hosts.Answer(context="1 reminder is open"))
    assert json.loads(said) == {"additional_context": "1 reminder is open"}
    given = hosts.parse("cursor", "stop", b'{"conversation_id": "c-1"}')
    assert given.session == "c-1"
