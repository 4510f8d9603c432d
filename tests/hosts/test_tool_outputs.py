"""A long output of a tool: its receipt in the tool's own shape, where the settings ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings as hook_settings
from contextkit.payloads.documents import store as payloads

from hooks import answer

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "".join(f"{number} 10.0.0.{number % 250} GET /page/{number} 200\n" for number in range(900))
DEEP = "/page/577 "
TESTS = (
    "============================= test session starts ==============================\n"
    "collected 612 items\n\n"
    + "".join(f"tests/test_{n}.py::test_{n} PASSED   [ {n // 6}%]\n" for n in range(500))
    + "tests/test_cache.py::test_expiry FAILED   [ 99%]\n\n"
    "=================================== FAILURES ===================================\n"
    "__________________________________ test_expiry _________________________________\n"
    ">       assert cache.age() == 40\nE       assert 52 == 40\n\n"
    "tests/test_cache.py:31: AssertionError\n"
    "=========================== short test summary info ============================\n"
    "FAILED tests/test_cache.py::test_expiry - assert 52 == 40\n"
    "======================== 1 failed, 500 passed in 3.21s =========================\n"
)


@pytest.fixture(autouse=True)
def asked_for(repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("hook_tool_output_tokens: 1000\n", encoding="utf-8")


def used(response: object, tool: str = "Bash", host: str = "claude", **more: Any) -> Any:
    return answer("PostToolUse", host, tool_name=tool, tool_response=response, **more)


def replaced(response: object, tool: str = "Bash", **more: Any) -> Any:
    return used(response, tool, **more).get("hookSpecificOutput", {}).get("updatedToolOutput")


def ran(text: str, **more: Any) -> dict[str, Any]:
    return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, **more}


def test_the_output_is_on_disk_and_its_receipt_in_the_tools_own_shape(layout: Layout) -> None:
    found = replaced(ran(LONG), tool_input={"command": "cat access.log", "description": "look"})
    (path,) = payloads.documents(layout, "s-1")
    stored = payloads.load(path, path)
    assert (stored.content, stored.topic) == (LONG, "Bash: cat access.log")
    assert found == ran(found["stdout"])
    assert f"@stored: {layout.shown(path)}" in found["stdout"] and DEEP not in found["stdout"]


@each(
    ("tool", "response"),
    [
        ("WebFetch", {"bytes": 9, "code": 200, "result": LONG, "url": "https://example.com"}),
        ("mcp__logs__read", [{"type": "text", "text": LONG}, {"type": "image", "data": LONG}]),
        ("mcp__logs__read", {"content": [{"type": "text", "text": LONG}], "isError": False}),
        ("mcp__logs__read", LONG),
    ],
)
def test_whatever_its_shape_only_the_long_text_is_replaced(tool: str, response: Any) -> None:
    found = replaced(response, tool)

    def same(before: Any, after: Any, key: str = "") -> None:
        if isinstance(before, dict):
            assert list(before) == list(after)
            for name in before:
                same(before[name], after[name], name)
        elif isinstance(before, list):
            assert len(before) == len(after)
            for one, other in zip(before, after, strict=True):
                same(one, other)
        elif before == LONG and key != "data":
            assert "@stored: " in after and DEEP not in after
        else:
            assert before == after

    same(response, found)


def test_codex_takes_it_as_the_reason_of_a_block(layout: Layout) -> None:
    found = used(LONG, host="codex", tool_input={"command": "cat access.log"})
    assert found["decision"] == "block" and "@stored: " in found["reason"]
    assert used("1\n2\n", host="codex") == {}
    assert used(LONG, "apply_patch", "codex") == {}


@each("tool", ["Read", "Edit", "Write", "BashOutput", "Grep", "mcp_", ""])
def test_what_may_be_about_to_be_edited_is_never_touched(repo: Path, tool: str) -> None:
    response = {"type": "text", "file": {"filePath": "a.py", "content": LONG}}
    assert used(response, tool) == {}
    assert not (repo / "shared").exists()


@each("response", [None, "", 7, [], {}, ran("short"), ran(LONG, isImage=True),
                                      ran("@stored: x\n" + LONG)])  # fmt: skip
def test_any_other_output_is_left_alone(repo: Path, response: object) -> None:
    assert used(response) == {}
    assert not (repo / "shared").exists()


def test_the_failures_of_a_failing_test_run_are_shown(repo: Path) -> None:
    found = replaced(ran(TESTS), tool_input={"command": "pytest -v | cat"})["stdout"]
    assert "test_expiry" in found and "52 == 40" in found and "tests/test_7.py" not in found


@pytest.mark.parametrize("key", ["exit_code", "exitCode"])
def test_an_exit_status_that_the_host_knows_is_told_first(repo: Path, key: str) -> None:
    assert replaced(ran(LONG, **{key: 3}))["stdout"].startswith("[exit 3; 900 lines")
    assert replaced(ran(LONG, **{key: 0}))["stdout"].startswith("[exit 0; 900 lines")
    for odd in (None, "3", True):
        assert replaced(ran(LONG, **{key: odd}))["stdout"].startswith("[900 lines")


def test_it_is_on_by_default_and_off_with_a_word(repo: Path) -> None:
    (repo / "contextkit.yaml").unlink()
    assert Limits().hook_tool_output_tokens == 2000
    assert used(ran(LONG)) and used(LONG, host="codex")
    (repo / "contextkit.yaml").write_text("hook_tool_output_tokens: off\n", encoding="utf-8")
    assert used(ran(LONG)) == {} and used(LONG, host="codex") == {}


def test_what_was_shortened_at_the_source_is_not_shortened_again(repo: Path) -> None:
    asked = {"command": "{ exec 2>&1; ( x\n); } | '/a/scripts/run.sh' --sink=m1"}
    assert used(ran(LONG + "@stored: x.md\n"), tool_input=asked) == {}
    assert replaced(ran(LONG), tool_input=asked)  # it could not be stored in the host's sandbox


def test_a_limit_below_nothing_is_refused() -> None:
    with pytest.raises(ContextError, match="hook_tool_output_tokens must be at least 0"):
        Limits(hook_tool_output_tokens=-1).check()


def test_a_report_of_a_subagent_keeps_its_own_limit(repo: Path) -> None:
    text = "It takes 52 ms. " * 250
    response = {"status": "completed", "agentId": "a", "content": [{"type": "text", "text": text}]}
    assert replaced(response, "Agent") is None


def test_hooks_are_installed_for_those_tools_unless_the_settings_turn_them_off() -> None:
    claude, codex = hosts.find("claude"), hosts.find("codex")
    groups = hook_settings.wanted(claude, "x", False)
    assert "PreToolUse" not in groups and groups["PostToolUse"]["matcher"] == "Agent|Task"
    groups = hook_settings.wanted(claude, "x")
    assert groups["PreToolUse"]["matcher"] == "^(Bash)$" and "matcher" not in groups["Stop"]
    assert groups["PostToolUse"]["matcher"] == "^(Agent|Task|Bash|WebFetch|mcp__.+)$"
    assert not {"PreToolUse", "PostToolUse"} & {*hook_settings.wanted(codex, "x", False)}
    groups = hook_settings.wanted(codex, "x")
    assert groups["PostToolUse"]["matcher"] == "^(Bash|mcp__.+)$"
    assert set(groups) == set(codex.events)


@each(
    "command",
    ["make -s payload_show ref=latest part=content", "cd a && make context_show ref=x | head",
     "contextkit memory_recover", "sed -n 17,400p shared/payloads/s/x.md"],
)  # fmt: skip
def test_what_our_own_commands_print_is_never_replaced(repo: Path, command: str) -> None:
    passed: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command},
              "tool_response": {"stdout": "It takes 52 ms. " * 3000, "stderr": ""}}  # fmt: skip
    assert answer("PostToolUse", **passed) == {}
    passed["tool_input"] = {"command": "make all"}
    assert answer("PostToolUse", **passed) != {}
