"""The receipt stands for a long report: by sending an agent back, or in a tool's result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base import ledger, tokens
from contextkit.base.layout import Layout
from contextkit.history.flows import traces
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Told
from contextkit.payloads.flows import storing, telling

from hooks import answer, fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "".join(f"- The cache holds entry {i} for {i} s.\n" for i in range(300))
DEEP = "entry 177 for 177 s"
MIDDLE = "# Report\n\n" + "It takes 52 ms. " * 200  # stored, and short enough to be handed on


def stop(text: str, host: str = "claude", **more: Any) -> str:
    given = {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": text, **more}
    return fire("SubagentStop", host, **given)


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_an_agent_is_sent_back_once_to_answer_in_its_own_words(layout: Layout, host: str) -> None:
    said = stop(LONG, host)
    (path,) = payloads.documents(layout, "s-1")
    assert payloads.load(path, path).content == LONG
    assert f"@stored: {layout.shown(path)}" in said and "in your own words" in said
    assert "The cache holds" not in said  # never an extract
    answered = f"The cache holds 300 entries, up to 299 s.\n@stored: {layout.shown(path)}"
    assert stop(answered, host, stop_hook_active=True) == ""
    assert payloads.load(path, path).summary.startswith("The cache holds 300 entries")
    assert stop(LONG + "Once more.", host, stop_hook_active=True) == ""  # whatever it says


def those_read(field: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A field of each output that is read from now on."""
    read: list[str] = []
    tell = telling.tell

    def noted(layout: Layout, output: storing.Output, path: str, first: int = 1) -> Told:
        read.append(str(getattr(output, field)))
        return tell(layout, output, path, first)

    monkeypatch.setattr(telling, "tell", noted)
    return read


def test_a_report_whose_author_is_asked_is_read_with_the_answer(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then, its beginning stands for it in lists."""
    read = those_read("answer", monkeypatch)
    assert "in your own words" in stop(LONG)
    (path,) = payloads.documents(layout, "s-1")
    assert read == [] and payloads.load(path, path).summary.startswith("# Report - The cache holds")
    stop("The cache holds 300 entries.", stop_hook_active=True)
    assert read == ["The cache holds 300 entries."]
    assert payloads.load(path, path).summary.startswith("The cache holds 300 entries")


def started(agent: str = "a1", host: str = "claude") -> str:
    """The file that a starting agent is told to write its report into."""
    said = fire("SubagentStart", host, agent_id=agent, agent_type="Explore")
    assert tokens.size(said, "o200k") <= 70
    (found,) = re.findall(r"`([^`]+\.md)`", said)
    return str(found)


FINDING = "The parser reads `src/app.py:42` twice, which takes 1.5 s."
REPORT = f"# Report\n\n{FINDING}\n\n" + "It was looked at from all sides. " * 300


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_an_agent_with_its_report_in_the_file_needs_no_second_turn(
    layout: Layout, repo: Path, host: str
) -> None:
    left = repo / started(host=host)
    left.write_text(REPORT, encoding="utf-8")
    answered = "src/app.py:42 is read twice, in 1,500 ms."
    assert stop(answered, host) == ""
    (path,) = payloads.documents(layout, "s-1")
    payload = payloads.load(path, path)
    assert payload.content == REPORT and not left.exists()
    assert payload.summary == answered
    told = fire("UserPromptSubmit", host, prompt="<task-notification>")
    assert layout.shown(path) in told and "not in the report" not in told
    assert fire("UserPromptSubmit", host, prompt="And now?") == ""  # told once


def test_a_claim_that_the_report_does_not_have_is_asked_about_once_and_named(
    layout: Layout, repo: Path
) -> None:
    (repo / started()).write_text(REPORT, encoding="utf-8")
    said = stop("src/app.py:9 is read twice, in 1,800 ms.")
    assert "- src/app.py:9" in said and "- 1,800 ms" in said
    assert stop("src/app.py:42 is read twice, in 1,800 ms.", stop_hook_active=True) == ""
    told = fire("UserPromptSubmit", prompt="<task-notification>")
    assert "not in the report: 1,800 ms" in told
    assert len(payloads.documents(layout, "s-1")) == 1


def test_where_the_report_is_is_no_claim_about_it(layout: Layout, repo: Path) -> None:
    """An agent names the file that it was told to write, and the line that it was asked for."""
    named = started()
    (repo / named).write_text(REPORT, encoding="utf-8")
    own = "src/app.py:42 is read twice, in 1,500 ms."
    assert stop(f"{own} The full report is in `{named}`.") == ""
    assert "not in the report" not in fire("UserPromptSubmit", prompt="<task-notification>")
    stop(LONG, agent_id="a2")
    path = layout.shown(payloads.documents(layout, "s-1")[-1])
    stop(f"Entry 177 is held for 177 s.\n@stored: {path}", agent_id="a2", stop_hook_active=True)
    assert fire("UserPromptSubmit", prompt="<task-notification>") == ""


def test_the_result_of_the_tool_says_where_the_report_is(layout: Layout, repo: Path) -> None:
    (repo / started()).write_text(REPORT, encoding="utf-8")
    answered = "src/app.py:42 is read twice, in 1,500 ms."
    stop(answered, background_tasks=[])
    (path,) = payloads.documents(layout, "s-1")
    text = used(answered)["content"][0]["text"]
    assert text.startswith(answered) and layout.shown(path) in text
    first = payloads.first_line(path)
    assert Path(path).read_text("utf-8").split("\n")[first - 1] == "# Report"


def test_a_report_in_a_worktree_of_the_agent_is_taken_too(layout: Layout, repo: Path) -> None:
    left = repo / ".claude" / "worktrees" / "agent-1" / started()
    left.parent.mkdir(parents=True)
    left.write_text(REPORT, encoding="utf-8")
    stop("Done.", cwd=str(repo / ".claude/worktrees/agent-1"))
    assert len(payloads.documents(layout, "s-1")) == 1 and not left.exists()


def test_a_link_is_no_report(layout: Layout, repo: Path, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.md"
    secret.write_text(REPORT, encoding="utf-8")
    (repo / started()).symlink_to(secret)
    assert stop("Done.") == ""
    assert payloads.documents(layout, "s-1") == [] and secret.exists()


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


def test_a_report_in_front_is_read_once_by_the_hook_that_hands_its_receipt_on(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = those_read("source", monkeypatch)
    stop(LONG, background_tasks=[])
    (path,) = payloads.documents(layout, "s-1")
    before = payloads.load(path, path)
    assert read == [] and before.summary.startswith("# Report - The cache holds")
    assert "@stored" in used(LONG + "\n")["content"][0]["text"]  # as the tool returns it
    assert read == ["Explore"] and payloads.documents(layout, "s-1") == [path]
    after = payloads.load(path, path)
    assert after.summary and after == before.replace(summary=after.summary) != before
    (entry,) = payloads.entries(layout, "s-1")
    assert entry["summary"] == after.summary[:200]


def test_a_report_that_no_stop_brought_is_stored_then(layout: Layout) -> None:
    assert "@stored" in used(LONG)["content"][0]["text"]
    assert len(payloads.documents(layout, "s-1")) == 1


@each("response", [None, "text", {}, {"content": "x"}, {"content": [1, {}]},
                                      {"status": "async_launched", "agentId": "a1"}])  # fmt: skip
def test_any_other_result_is_left_alone(repo: Path, response: object) -> None:
    assert answer("PostToolUse", tool_name="Agent", tool_response=response) == {}
    assert used("Done.") is None


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


def test_a_report_is_named_after_what_its_call_says(layout: Layout, tmp_path: Path) -> None:
    launched = {"status": "async_launched", "agentId": "a1"}
    asked = {"description": "Compare the parsers", "prompt": "Look at them."}
    answer("PostToolUse", tool_name="Agent", tool_input=asked, tool_response=launched)
    stop(LONG)
    transcript = tmp_path / "agent-a2.jsonl"
    prompt = {"type": "user", "message": {"role": "user", "content": "Find the slow query\nNow."}}
    transcript.write_text(json.dumps(prompt) + "\n", encoding="utf-8")
    stop(LONG + "2", agent_id="a2", agent_transcript_path=str(transcript))
    found = [Path(path).name[16:] for path in payloads.documents(layout, "s-1")]
    assert found == ["compare-the-parsers.md", "find-the-slow-query-now.md"]


def test_the_report_of_gemini_is_taken_out_of_its_json(layout: Layout) -> None:
    wrapped = f"Subagent 'x' finished. Result: {json.dumps({'response': LONG})}"
    said = answer(
        "AfterTool", "gemini", tool_name="invoke_agent",
        tool_input={"agent_name": "x", "prompt": "Look at the cache"},
        tool_response={"llmContent": wrapped},
    )  # fmt: skip
    (path,) = payloads.documents(layout, "s-1")
    assert payloads.load(path, path).content == LONG and "look-at-the-cache" in path
    assert "@stored" in said["reason"]


def costs(layout: Layout) -> dict[str, int]:
    (found,) = traces.of_documents(ledger.read(layout)).values()
    names = ("stored", "handed", "saved")
    return {name: getattr(found, name) for name in names}


def test_what_is_saved_is_net_of_second_turns_and_of_what_is_passed_on(layout: Layout) -> None:
    stop(MIDDLE)  # stored, and passed on as it is: nothing is saved
    whole = tokens.estimate(MIDDLE)
    assert costs(layout) == {"stored": whole, "handed": whole, "saved": 0}


def test_a_second_turn_is_no_gain(layout: Layout) -> None:
    said = stop(LONG)
    answered = "The cache holds 300 entries."
    stop(answered, stop_hook_active=True)
    whole, spent = tokens.estimate(LONG), tokens.estimate(said) + tokens.estimate(answered)
    handed = tokens.estimate(answered) + spent
    assert costs(layout) == {"stored": whole, "handed": handed, "saved": whole - handed}
