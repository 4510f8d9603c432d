"""The receipt stands for a long report: by sending an agent back, or in a tool's result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads

from hooks import answer, fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "".join(f"- The cache holds entry {i} for {i} s.\n" for i in range(300))
DEEP = "entry 177 for 177 s"
MIDDLE = "# Report\n\n" + "It takes 52 ms. " * 200  # stored, and short enough to be handed on


def stop(text: str, host: str = "claude", **more: Any) -> str:
    given = {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": text, **more}
    return fire("SubagentStop", host, **given)


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_an_agent_is_sent_back_once_with_its_receipt(layout: Layout, host: str) -> None:
    said = stop(LONG, host)
    (path,) = payloads.documents(layout, "s-1")
    assert payloads.load(path, path).content == LONG
    assert f"@stored: {layout.shown(path)}" in said and DEEP not in said
    assert stop(said.partition(":\n\n")[2], host, stop_hook_active=True) == ""
    assert stop(LONG + "Once more.", host, stop_hook_active=True) == ""  # whatever it says


def test_a_report_that_is_short_enough_is_handed_on(layout: Layout) -> None:
    assert stop(MIDDLE) == ""
    assert len(payloads.documents(layout, "s-1")) == 1


def test_the_limit_is_a_setting(layout: Layout, repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("hook_report_tokens: 600\n", encoding="utf-8")
    assert "@stored" in stop(MIDDLE)


def test_an_agent_without_an_id_is_not_sent_back(repo: Path) -> None:
    assert stop(LONG, agent_id=None) == ""  # nobody could tell when it comes again


def test_an_agent_that_runs_behind_is_sent_back_and_one_in_front_is_not(repo: Path) -> None:
    assert stop(LONG, background_tasks=[{"id": "a1", "status": "running"}])
    assert stop(LONG, agent_id="a2", background_tasks=[{"id": "a1"}]) == ""
    assert stop(LONG, "codex", agent_id="a3", background_tasks=[])  # nothing replaces it later


def used(text: str, **more: Any) -> Any:
    response = {"status": "completed", "agentId": "a1", "totalTokens": 920,
                "content": [{"type": "text", "text": text}], **more}  # fmt: skip
    said = answer("PostToolUse", tool_name="Agent", tool_response=response)
    return said.get("hookSpecificOutput", {}).get("updatedToolOutput")


def test_the_result_of_the_tool_is_the_receipt_in_its_own_shape(layout: Layout) -> None:
    stop(LONG, background_tasks=[])
    found = used(LONG)
    (path,) = payloads.documents(layout, "s-1")
    assert (found["status"], found["agentId"], found["totalTokens"]) == ("completed", "a1", 920)
    assert f"@stored: {layout.shown(path)}" in found["content"][0]["text"]
    assert DEEP not in json.dumps(found)


def test_a_report_that_no_stop_brought_is_stored_then(layout: Layout) -> None:
    assert "@stored" in used(LONG)["content"][0]["text"]
    assert len(payloads.documents(layout, "s-1")) == 1


@pytest.mark.parametrize("response", [None, "text", {}, {"content": "x"}, {"content": [1, {}]},
                                      {"status": "async_launched", "agentId": "a1"}])  # fmt: skip
def test_any_other_result_is_left_alone(repo: Path, response: object) -> None:
    assert answer("PostToolUse", tool_name="Agent", tool_response=response) == {}
    assert used("Done.") is None


def test_a_receipt_is_written_without_any_package(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that nobody set up yet: the encoder of receipts is not there."""
    from contextkit.hosts.flows import outputs

    monkeypatch.setattr(outputs, "_has_encoder", lambda: False)
    said = stop(LONG)
    (path,) = payloads.documents(layout, "s-1")
    assert f'"{layout.shown(path)}"' in said and "keyFindings: " in said and DEEP not in said


def test_the_summarizer_of_a_compaction_is_nobody(layout: Layout, repo: Path) -> None:
    assert stop(LONG, agent_type="") == ""
    assert sorted(one.name for one in repo.iterdir()) == [".git"]
    fire("SubagentStart", agent_id="a1", agent_type="")  # one that was started is somebody
    assert "@stored" in stop(LONG, agent_type="")


def test_what_a_subagent_is_asked_switches_nobody(repo: Path) -> None:
    folder = repo / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "dev.md").write_text("You are dev.\n", encoding="utf-8")
    given = {"prompt": "@dev Build it", "agent_id": "a1", "agent_type": "default"}
    assert answer("UserPromptSubmit", "codex", **given) == {}
    assert not (repo / ".aios").exists()
    said = answer("UserPromptSubmit", prompt="@ops Build it")["hookSpecificOutput"]
    assert said["additionalContext"].startswith("No switch was made: there is no profile")
    assert answer("UserPromptSubmit", prompt="@.claude is what?") == {}
