"""What a conversation is told of its task: its own, once, and only what changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Script, git
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.memory.documents import snapshots
from contextkit.memory.documents import store as memory

from hooks import fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "It takes 52 ms. " * 300


@pytest.fixture
def work(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    yield Work(run, monkeypatch)


class Work:
    """Sessions that work on tasks with the commands."""

    def __init__(self, run: Script, patch: pytest.MonkeyPatch) -> None:
        self._run, self._patch = run, patch

    def on(self, session: str, task: str, action: str = "") -> None:
        self.run(session, "plan", f"--task={task}", f"--objective=The aim of {task}")
        self.run(session, "checkpoint", f"--task={task}", "--phase=implementation",
                 f"--summary={task} is half done",
                 f"--next-action={action or 'Go on with ' + task}")  # fmt: skip

    def run(self, session: str, *words: str, status: int = 0) -> str:
        self._patch.setenv("CLAUDE_CODE_SESSION_ID", session)
        self._patch.delenv("SESSION_ID", raising=False)
        assert self._run("external_memory", *words) == status, self._run.err
        return self._run.out


def started(session: str, source: str = "compact", **passed: str) -> str:
    os.environ.pop("SESSION_ID", None)
    return fire("SessionStart", session_id=session, source=source, **passed)


def compacted(session: str) -> str:
    fire("PreCompact", session_id=session, trigger="auto")
    return started(session)


def test_after_a_compaction_a_session_gets_its_own_task(work: Work) -> None:
    work.on("s-a", "alpha")
    work.on("s-b", "beta")
    for session, own, other in (("s-a", "alpha", "beta"), ("s-b", "beta", "alpha")):
        said = compacted(session)
        assert f"{own} is half done" in said and f"Go on with {own}" in said
        assert f"aim of {other}" not in said and f"{other} is half" not in said
    assert "half done" not in compacted("s-c")  # it worked on none of them
    assert snapshots.load_all(Layout()).documents[-1].task_id == ""


def test_with_two_candidates_both_are_named_and_none_is_quoted(work: Work) -> None:
    work.on("s-a", "alpha")
    work.on("s-b", "beta")
    said = started("s-c", "startup")
    assert "2 tasks are open: `" in said and "`alpha`" in said and "`beta`" in said
    assert "aim of" not in said and "half done" not in said
    out = work.run("s-c", "recover", status=1)
    assert "`alpha`, last saved 2025-10-23T18:05Z: `make memory_recover task=alpha`" in out
    assert "aim of" not in out and "half done" not in out
    work.run("s-e", "plan", "--task=gamma", "--objective=The aim of gamma")
    out = work.run("s-c", "recover", status=1)
    assert "`gamma`, without a checkpoint yet: `make memory_recover task=gamma`" in out
    assert "alpha is half done" in work.run("s-c", "recover", "--task=alpha")
    assert "alpha is half done" in work.run("s-c", "recover")  # it took it up
    assert "alpha is half done" in compacted("s-c")


def test_a_new_session_continues_the_only_task(work: Work) -> None:
    work.on("s-a", "alpha")
    assert started("s-b", "startup").startswith("The task `alpha` is open, last saved 2025")
    assert "alpha is half done" in work.run("s-b", "recover")


def test_an_archived_task_is_nobodys(work: Work) -> None:
    work.on("s-a", "alpha")
    work.run("s-a", "archive", "--task=alpha")
    assert memory.task_owners(Layout()) == {} and started("s-b", "startup") == ""


def test_five_resumes_tell_it_once_and_then_what_changed(work: Work) -> None:
    work.on("s-a", "alpha")
    first = compacted("s-a")
    assert "alpha is half done" in first
    for _ in range(5):
        fire("SessionEnd", session_id="s-a", reason="other")
        assert started("s-a", "resume") == ""
    work.run("s-a", "finding", "--task=alpha", "--agent=reader", "--status=completed",
             "--summary=The parser takes 52 ms")  # fmt: skip
    fire("SessionEnd", session_id="s-a", reason="other")
    said = started("s-a", "resume")
    assert "The parser takes 52 ms" in said and "what changed since you last saw it" in said
    assert "half done" not in said and tokens.estimate(said) < tokens.estimate(first)
    assert started("s-a", "resume") == ""
    assert "alpha is half done" in compacted("s-a")  # which dropped it


def test_the_hosts_summary_is_kept_without_its_analysis(work: Work) -> None:
    work.on("s-a", "alpha")
    fire("PreCompact", session_id="s-a", trigger="auto")
    analysis = "<analysis>\nThe user said first that ...\n" * 40 + "</analysis>"
    summary = f"{analysis}\n\n<summary>\n1. Primary Request: cache the parser.\n</summary>"
    fire("PostCompact", session_id="s-a", trigger="auto", compact_summary=summary)
    ((_, saved),) = snapshots.load_all(Layout())
    assert saved.summary.startswith("1. Primary Request: cache the parser.")
    assert "said first" not in saved.summary and "<" not in saved.summary


def test_after_a_compaction_nothing_is_said_twice(work: Work) -> None:
    work.on("s-a", "alpha")
    work.run("s-a", "finding", "--task=alpha", "--agent=reader", "--status=completed",
             "--summary=The parser takes 52 ms")  # fmt: skip
    said = compacted("s-a")
    for fact in ("alpha is half done", "Go on with alpha", "The parser takes 52 ms",
                 "The aim of alpha"):  # fmt: skip
        assert said.count(fact) == 1, fact
    assert "unknown" not in said and tokens.estimate(said) < 350


def dies(session: str) -> None:
    path = Path(Layout().state, "sessions", session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{2**22 + 1}\n\n", encoding="utf-8")


def test_after_a_crash_and_after_clear_the_payloads_before_are_named(work: Work) -> None:
    work.on("s-a", "alpha")
    work.on("s-b", "beta")
    for session in ("s-a", "s-b"):
        fire("SubagentStop", session_id=session, agent_id="a1", agent_type="Explore",
             last_assistant_message=LONG)  # fmt: skip
    dies("s-a")
    said = started("s-c", "startup")
    assert "s-a, ended unexpectedly" in said and "Stored in the session before: `" in said
    assert "alpha is half done" in said and "beta" not in said
    assert memory.own_task(Layout(), "s-c") == "alpha"
    fire("SessionEnd", session_id="s-b", reason="clear")
    assert "Stored in the session before: `" in started("s-d", "clear")
    assert "Stored in the session before" not in started("s-e", "clear")


def test_a_worktree_is_told_of_the_task_of_the_branch_it_was_made_from(
    work: Work, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.on("s-a", "alpha")
    there = repo.parent / "there"
    git("worktree", "add", "-q", "-b", "next", str(there))
    monkeypatch.chdir(there)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(there))
    said = started("s-b", "startup", cwd=str(there))
    assert "The task `alpha` is open" in said
    assert "`make memory_recover task=alpha worktree=feature/demo`" in said
    assert "alpha is half done" in work.run(
        "s-b", "recover", "--task=alpha", "--worktree=feature/demo"
    )


def test_where_nothing_can_be_written_it_is_told_all_the_same(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.on("s-a", "alpha")
    monkeypatch.setattr("contextkit.base.files.write", lambda *a, **k: (_ for _ in ()).throw(
        OSError("read-only")))  # fmt: skip
    assert "alpha is half done" in started("s-a", "resume")
