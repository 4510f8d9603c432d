"""runner.py: a hook fails for itself alone, works where the agent is, and keeps its limits."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from conftest import ended, forked, git
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.flows import runner
from hypothesis import given
from hypothesis import strategies as st

Patch = pytest.MonkeyPatch


def actions(patch: Patch, *found: runner.Action) -> None:
    patch.setitem(runner.ACTIONS, "SessionStart", found)


def fire(**passed: object) -> str:
    data = json.dumps(passed).encode()
    said = runner.run(["SessionStart", "--host=claude"], data)
    context: str = json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""
    return context


def noted(repo: Path) -> list[str]:
    return runner.noted(str(repo / ".contextkit" / "hooks"))


def test_an_action_that_fails_is_noted_and_the_others_go_on(repo: Path, monkeypatch: Patch) -> None:
    def broken(layout: Layout, given: HookInput) -> Answer:
        raise ContextError("the store is on fire")

    def bug(layout: Layout, given: HookInput) -> Answer:
        raise KeyError("oops")

    def fine(layout: Layout, given: HookInput) -> Answer:
        return Answer(context="still here")

    actions(monkeypatch, broken, bug, fine)
    assert fire() == "still here"
    first, second = noted(repo)
    assert first == "2025-10-23T18:05:00Z claude SessionStart broken: the store is on fire"
    assert second.endswith("bug: KeyError: 'oops'")


def test_an_unreadable_setting_does_not_stop_the_host(repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("no_such_setting: 1\n", encoding="utf-8")
    said = json.loads(runner.run(["SessionStart", "--host=claude"], b"{}"))
    assert "no setting 'no_such_setting'" in said["systemMessage"]  # the user is told, once
    assert runner.run(["Stop", "--host=claude"], b"{}") == ""
    assert "no setting 'no_such_setting'" in noted(repo)[0]


def test_where_nothing_can_be_written_nothing_is_said(repo: Path, monkeypatch: Patch) -> None:
    (repo / ".contextkit").write_text("in the way", encoding="utf-8")
    assert runner.run(["Stop"], b"garbage") == ""
    assert runner.run(["SubagentStart"], b'{"agent_id": "a"}') == ""


def test_diagnostics_are_bounded(repo: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(runner, "MOST", 10)
    hooks = str(repo / ".contextkit" / "hooks")
    for number in range(15):
        runner.note(hooks, "claude Stop", f"number {number}\nsecond line {'x' * 9000}")
    lines = noted(repo)
    assert len(lines) == runner.MOST
    assert "number 14 second line" in lines[-1] and max(map(len, lines)) <= 400


def test_many_hooks_at_once_lose_no_diagnostic(repo: Path) -> None:
    hooks = str(repo / ".contextkit" / "hooks")

    def note(number: int) -> None:
        runner.note(hooks, "codex Stop", f"number {number}")

    assert ended([forked(partial(note, number)) for number in range(20)]) == [0] * 20
    assert len(noted(repo)) == 20


def test_the_first_block_is_heard(repo: Path, monkeypatch: Patch) -> None:
    def one(layout: Layout, given: HookInput) -> Answer:
        return Answer(block="write it first")

    def two(layout: Layout, given: HookInput) -> Answer:
        return Answer(block="no, this")

    monkeypatch.setitem(runner.ACTIONS, "Stop", (one, two))
    said = json.loads(runner.run(["Stop", "--host=codex"], b"{}"))
    assert said == {"decision": "block", "reason": "write it first"}


def test_context_stays_within_the_limits_and_quoted_text_gives_way(
    repo: Path, monkeypatch: Patch
) -> None:
    def lines(layout: Layout, given: HookInput) -> Answer:
        return Answer(context="2 reminders are open")

    def capsule(layout: Layout, given: HookInput) -> Answer:
        return Answer(quoted="word ```` `` fence\n" * 3000, origin="docs/a.md")

    actions(monkeypatch, lines, capsule, capsule)
    said = fire()
    limits = Layout().limits
    assert said.startswith("2 reminders are open\n\nInformation from docs/a.md")
    assert said.rstrip().endswith("`````")  # the fence is closed
    assert len(said) <= limits.hook_context_characters
    assert tokens.cautious(said) <= limits.hook_context_tokens
    assert tokens.estimate(said) > limits.hook_context_tokens * 0.7


@given(texts=st.lists(st.text(alphabet="ab `~#\n\u4e2d\U0001f680") .map(lambda t: t * 400),
                      max_size=3))  # fmt: skip
def test_no_text_is_too_much(texts: list[str]) -> None:
    class Root:
        from contextkit.base.settings import Limits

        limits = Limits()

    answers = [Answer(quoted=text, origin="o" * 50, context=text[:900]) for text in texts]
    merged = runner._merged(Root(), answers)  # type: ignore[arg-type]
    assert len(merged.context) <= Root.limits.hook_context_characters
    assert tokens.cautious(merged.context) <= Root.limits.hook_context_tokens


def test_an_event_without_work_reads_no_settings_and_writes_nothing(
    repo: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(runner, "_layout", lambda: pytest.fail("not needed"))
    assert runner.run(["PreToolUse"], b"{}") == ""
    assert sorted(path.name for path in repo.iterdir()) == [".git"]


def root_of(monkeypatch: Patch, **passed: object) -> str:
    found: list[str] = []

    def look(layout: Layout, given: HookInput) -> Answer:
        found.append(layout.root)
        return NOTHING

    actions(monkeypatch, look)
    fire(**passed)
    return found[0]


def test_a_worktree_of_the_project_has_documents_of_its_own(
    repo: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (repo / "src").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    assert root_of(monkeypatch, cwd=str(tmp_path / "side")) == str(tmp_path / "side")
    assert root_of(monkeypatch, cwd=str(repo / "src")) == str(repo)


def test_a_directory_outside_of_the_project_is_not_its_root(
    repo: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", str(other))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    for cwd in (str(other), str(tmp_path), "/no/such/folder", ""):
        assert root_of(monkeypatch, cwd=cwd) == str(repo)


def test_context_root_beats_where_the_agent_is(
    repo: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("CONTEXT_ROOT", str(tmp_path))
    assert root_of(monkeypatch, cwd=str(repo)) == str(tmp_path)


def test_parse_keeps_what_it_does_not_know() -> None:
    given = hosts.parse("codex", "Stop", b'{"new": 1, "session_id": "s"}')
    assert given.passed["new"] == 1 and given.session == "s"
