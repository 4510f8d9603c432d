"""Sessions that die, work in a tree of their own, or are an agent; and contexts of any size."""

from __future__ import annotations

import json
import os
from pathlib import Path

import memory_stores
import pytest
from conftest import git
from contextkit.base import ledger, sessions
from contextkit.base.layout import Layout
from contextkit.capsules.documents import reminders
from contextkit.memory.documents import context_window, snapshots
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import verdicts
from contextkit.reviews.flows import start as starting
from signing import signed
from test_subagent_manager_script import a_capsule
from test_transcripts import reply

from hooks import fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

LONG = "# Report\n\n" + "It takes 52 ms. " * 300
TURNS = str(Path(__file__).parents[1] / "memory" / "transcripts" / "claude_code.jsonl")


def dies(layout: Layout, session: str = "s-1") -> None:
    """The host of a session is gone, and nobody said that the session ended."""
    path = Path(layout.state, "sessions", session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{2**22 + 1}\n{TURNS}\n", encoding="utf-8")


def current(layout: Layout) -> None:
    memory_stores.checkpoint(layout)
    os.makedirs(os.path.dirname(layout.memory_state("current")), exist_ok=True)
    Path(layout.memory_state("current")).write_text("station\n", encoding="utf-8")


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_the_open_task_is_told_in_a_line(layout: Layout, source: str) -> None:
    assert fire("SessionStart", source=source) == ""
    current(layout)
    (line,) = fire("SessionStart", source=source).splitlines()
    assert line.startswith("The task `station` is open, last saved 2025-10-23T18:05Z: `make")


def test_what_a_session_did_that_died_is_told_to_the_next_once(layout: Layout) -> None:
    dies(layout)
    said = fire("SessionStart", session_id="s-2", source="startup")
    assert said.startswith(
        "The last session here, s-1, ended unexpectedly.\nWork without a task was"
    )
    assert "Now wire it into the screen," in said
    assert [one["ref"] for one in ledger.read(layout) if one["event"] == ledger.DIED] == [
        "session:s-1"
    ]
    assert fire("SessionStart", session_id="s-3", source="startup") == ""


def test_of_two_sessions_that_start_at_once_one_is_told(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    dies(layout)
    lives = sessions.lives

    def meanwhile(at: Layout, session: str) -> bool:
        alive = lives(at, session)
        Path(at.running, session).unlink()  # as the hook of another session does
        return alive

    monkeypatch.setattr(sessions, "lives", meanwhile)
    assert fire("SessionStart", session_id="s-2", source="startup") == ""


def test_a_session_is_known_from_its_first_turn_to_its_end(layout: Layout) -> None:
    fire("Stop", transcript_path=TURNS)
    assert Path(layout.state, "sessions", "s-1").exists()
    assert fire("SessionStart", session_id="s-2", source="startup") == ""  # it is under way
    fire("SessionEnd", reason="other")
    assert not Path(layout.state, "sessions", "s-1").exists()


def test_a_compaction_names_the_payloads_and_tells_nothing_twice(layout: Layout) -> None:
    current(layout)
    fire("SubagentStop", agent_id="a1", agent_type="Explore", last_assistant_message=LONG)
    assert "The screen is half done." in fire("SessionStart", "codex", source="resume")
    said = fire("SessionStart", "codex", source="compact")
    (path,) = payloads.documents(layout, "s-1")
    assert said == (
        f"Stored in this session: `{Path(path).stem}`: `make payload_show ref=…` shows one."
    )
    fire("PreCompact", "codex", trigger="auto")
    assert "station" in fire("SessionStart", "codex", source="compact")


def test_after_a_compaction_open_notes_are_told_even_where_no_task_was_saved(
    layout: Layout,
) -> None:
    made = reminders.make("Ask Dana", "", "", (), 1_761_242_700)
    reminders.save(layout, layout.reminders, made)
    assert "Ask Dana" not in fire("SessionStart", source="startup")
    said = fire("SessionStart", source="compact")
    assert "## Open notes" in said and "Ask Dana" in said and "was saved here" not in said


def test_a_subagent_in_a_worktree_of_its_own_has_the_stores_of_the_project(
    repo: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_capsule()
    place = repo / ".claude" / "worktrees" / "agent-a1"
    git("worktree", "add", "-q", "-b", "worktree-agent-a1", str(place))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(place))
    given = {"agent_id": "a1", "agent_type": "Explore", "cwd": str(place)}
    assert str(path) in fire("SubagentStart", **given)
    text = LONG + "\n\nVERDICT: NEEDS_ATTENTION it is slow\n"
    fire("SubagentStop", **given, last_assistant_message=text)
    assert len(payloads.documents(layout, "s-1")) == 1
    assert verdicts.load(layout, "Explore")
    assert git("-C", str(place), "status", "--porcelain", "--ignored") == ""


def test_a_reviewer_that_is_a_session_is_judged_as_it_stops(repo: Path, layout: Layout) -> None:
    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")
    started = starting.start(layout, 1_761_242_700, "flux-drive", "plan.md", ("fd-safety",))
    prompt = Path(started.output_dir, "prompts/fd-safety.md").read_text(encoding="utf-8")
    fire("UserPromptSubmit", "codex", prompt=prompt)
    for _ in range(layout.limits.hook_blocks):
        said = fire("Stop", "codex", last_assistant_message="All is well.")
        assert "there is no such file" in said and "## Output Contract" in said
    good = signed("### Findings Index\nVerdict: safe\n", started.id)
    Path(started.output_dir, "fd-safety.md").write_text(good, "utf-8")
    assert fire("Stop", "codex", last_assistant_message="Done.") == ""
    entry = verdicts.load(layout, "fd-safety")
    assert entry and entry["status"] == "CLEAN"
    assert fire("Stop", "codex", session_id="s-2", last_assistant_message="Mine.") == ""


def test_a_launched_agent_hands_in_what_it_says_last(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_SUBAGENT_ID", "explore-1")
    monkeypatch.setenv("CONTEXT_AGENT", "explore")
    text = LONG + "\n\nVERDICT: NEEDS_ATTENTION it is slow\n"
    assert fire("Stop", "codex", last_assistant_message=text) == ""
    (path,) = payloads.documents(layout, "s-1")
    assert payloads.load(path, path).source == "explore"
    entry = verdicts.load(layout, "explore")
    assert entry and entry["detail_path"] == layout.shown(path)


def counts(tokens: int, window: int) -> str:
    info = {"last_token_usage": {"input_tokens": tokens}, "model_context_window": window}
    return json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}})


def test_the_tokens_of_a_rollout_and_its_window(layout: Layout, repo: Path) -> None:
    path = repo.parent / "rollout.jsonl"
    path.write_text(counts(5, 1) + "\n" + counts(300_000, 400_000) + "\n", encoding="utf-8")
    assert context_window.usage(str(path)) == (300_000, 400_000)
    for tokens, there in ((299_999, 0), (300_000, 1)):  # three quarters of it
        path.write_text(counts(tokens, 400_000) + "\n", encoding="utf-8")
        fire("Stop", "codex", transcript_path=str(path))
        assert len(snapshots.load_all(layout)) == there


def test_a_number_that_somebody_set_is_absolute(layout: Layout, repo: Path) -> None:
    assert context_window.borders(layout.limits) == (120_000, 150_000)
    assert context_window.borders(layout.limits, 1_000_000)[1] == 750_000
    chosen = layout.limits.replace(memory_save_tokens=90_000)
    assert context_window.borders(chosen, 1_000_000)[1] == 90_000
    assert context_window.borders(chosen.replace(memory_save_percent=50), 1_000_000)[1] == 500_000


def test_what_a_stop_missed_is_taken_at_the_next_event(layout: Layout, repo: Path) -> None:
    path = repo.parent / "transcript.jsonl"
    path.write_text(reply(10) + "\n", encoding="utf-8")
    late = {"transcript_path": str(path), "last_assistant_message": "It is all done now."}
    fire("Stop", **late)
    path.write_text(reply(10) + "\n" + reply(160_000) + "\n", encoding="utf-8")
    fire("UserPromptSubmit", prompt="go on", transcript_path=str(path))
    assert len(snapshots.load_all(layout)) == 1
    fire("SessionEnd", reason="other", transcript_path=str(path))
    assert len(snapshots.load_all(layout)) == 1


def test_no_recovery_says_that_nobody_summed_up(layout: Layout) -> None:
    """Claude Code passes its summary after the next session has begun."""
    current(layout)
    fire("PreCompact", trigger="auto", transcript_path=TURNS)
    said = fire("SessionStart", source="compact")
    assert "station" in said and "No summary was given" not in said
    fire("PostCompact", trigger="auto", compact_summary="The cache was fixed.")
    said = fire("SessionStart", source="resume", session_id="s-2")
    assert "No summary was given" not in said
    ((_, saved),) = snapshots.load_all(layout)
    assert saved.summary.startswith("The cache was fixed.") and "No summary" not in saved.summary
