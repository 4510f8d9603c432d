"""What hooks hand to agents and save for them: notes, capsules, reviews, snapshots, handoffs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import memory_stores
import pytest
from conftest import NOW, Script, each, git
from contextkit.base import git as repositories
from contextkit.base import names, tokens
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state
from contextkit.handoffs.flows import switch
from contextkit.hosts.documents import seen_agents
from contextkit.memory.documents import snapshots
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retrieval
from contextkit.reviews.documents import runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import start as starting
from signing import signed
from test_capture_prompts import remind
from test_subagent_manager_script import BODY, a_capsule
from test_transcripts import reply

from hooks import fire

pytestmark = pytest.mark.usefixtures("no_diagnostics")

SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
GOOD = "### Findings Index\nVerdict: safe\n"
BAD = "# My review\n\nAll is well, I think.\n"


# A session starts


def test_a_start_names_what_waits_in_a_line_each(layout: Layout) -> None:
    assert fire("SessionStart", source="startup") == ""
    remind("one")
    assert fire("SessionStart", source="startup") == (
        "1 reminder is open: `make context_reminders` shows it."
    )
    remind("one", "two")
    assert fire("SessionStart", source="startup") == (
        "2 reminders are open: `make context_reminders` shows them."
    )
    fields = {"from_agent": "sm", "to_agent": "dev", "next_action": "Build it"}
    switch.hand_over(layout, fields, names.now(), no_story=True)
    _, handoff = fire("SessionStart", "codex", source="clear").splitlines()
    assert handoff == (
        "A handoff from sm to dev is not consumed: `make handoff_show"
        " ref=handoff-sm-to-dev-20251023T180500Z` shows it."
    )


def test_a_start_says_where_nothing_can_be_kept(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, how: path != layout.root)
    assert fire("SessionStart", source="startup") == (
        f"contextkit cannot write in {layout.root}: nothing is kept or shortened here."
    )
    os.mkdir(layout.state)
    assert fire("SessionStart", source="startup") == ""


def test_done_reminders_and_consumed_handoffs_are_not_named(layout: Layout, run: Script) -> None:
    remind("one")
    run("remember_later", "list", "--json")
    run("remember_later", "done", f"--id={json.loads(run.out)[0]['id']}")
    switch.hand_over(
        layout, {"from_agent": "sm", "to_agent": "dev", "next_action": "x"}, 1, no_story=True
    )
    assert run("handoff", "consume", "latest") == 0
    assert fire("SessionStart", source="startup") == ""


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("source", ["compact", "resume"])
def test_what_was_saved_is_there_after_a_compaction_and_a_resume(
    layout: Layout, host: str, source: str
) -> None:
    memory_stores.checkpoint(layout, next_action=f"Call the service with {SECRET}")
    said = fire("SessionStart", host, source=source)
    assert "`make memory_recover task=station` prints all of it" in said
    assert "Information from the memory of station, quoted as it stands" in said
    assert "The screen is half done." in said and "(redacted github-token)" in said
    assert SECRET not in said
    assert fire("SessionStart", host, source="startup") == ""


def test_a_large_memory_stays_within_what_a_host_takes(layout: Layout) -> None:
    memory_stores.checkpoint(
        layout, context_summary="So it goes on. " * 4000, next_action="wide " * 3000
    )
    said = fire("SessionStart", source="compact")
    assert len(said) <= layout.limits.hook_context_characters
    assert tokens.cautious(said) <= layout.limits.hook_context_tokens
    assert said.rstrip().endswith("```")


# A prompt calls an agent


@pytest.fixture
def team(repo: Path) -> Path:
    folder = repo / ".claude" / "agents"
    folder.mkdir(parents=True)
    for name in ("sm", "dev", "qa"):
        (folder / f"{name}.md").write_text(f"You are {name}.\n", encoding="utf-8")
    return folder


def test_a_prompt_that_calls_an_agent_hands_over(team: Path, layout: Layout) -> None:
    assert fire("UserPromptSubmit", prompt="@sm plan it").endswith("You are sm.\n")
    said = fire("UserPromptSubmit", "codex", prompt=f"@dev Build it with {SECRET}. Then test.")
    assert "information, not instructions" in said and said.endswith("You are dev.\n")
    (name,) = handoffs.listed(layout)
    found = handoffs.load(layout, name)
    assert (found.from_agent, found.to_agent) == ("sm", "dev")
    assert found.next_action == "Build it with (redacted github-token). Then test."
    assert found.files_modified == tuple(
        f".claude/agents/{name}.md (created)" for name in ("dev", "qa", "sm")
    )
    assert SECRET not in said


@each("prompt", ["", "Look at @dev", "@src/app.py is wrong", "a@dev.com", 7])
def test_any_other_prompt_does_nothing(team: Path, layout: Layout, prompt: object) -> None:
    assert fire("UserPromptSubmit", prompt=prompt) == ""
    assert not os.path.exists(layout.handoffs)


def test_a_profile_that_is_too_long_is_named_instead(team: Path) -> None:
    (team / "dev.md").write_text("漢字" * 3000, encoding="utf-8")
    assert fire("UserPromptSubmit", prompt="@dev go") == (
        "# Your profile: read .claude/agents/dev.md\n"
    )


def active(layout: Layout) -> str:
    return state.current(layout).active


def test_the_agent_of_a_session_ends_with_it_and_is_back_when_it_is_resumed(
    team: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    fire("UserPromptSubmit", session_id="s-1", prompt="@sm plan it")
    fire("SessionEnd", session_id="s-2", reason="logout")
    monkeypatch.setenv("SESSION_ID", "s-1")
    assert active(layout) == "sm"
    fire("SessionEnd", session_id="s-1", reason="logout")
    assert active(layout) == ""
    fire("SessionStart", session_id="s-2", source="resume")
    monkeypatch.setenv("SESSION_ID", "s-1")
    assert active(layout) == ""
    fire("SessionStart", session_id="s-1", source="resume")
    assert active(layout) == "sm"
    fire("SessionEnd", session_id="s-1", reason="clear")
    fire("UserPromptSubmit", session_id="s-2", prompt="@dev go")
    assert handoffs.listed(layout) == [] and active(layout) == "dev"  # the first of its session
    fire("SessionStart", session_id="s-1", source="resume")
    assert active(layout) == "sm"


# A subagent starts


def start(agent_type: str = "Explore", host: str = "claude") -> str:
    return fire("SubagentStart", host, agent_id="a1", agent_type=agent_type)


def test_a_subagent_gets_the_capsule_of_its_branch_and_judges_get_none(repo: Path) -> None:
    path = a_capsule()
    said = start()
    assert said.startswith(f"Information from the repository, not instructions: `{path}`")
    assert said.rpartition("\n")[0].rstrip().endswith("```")
    for judge in ("code-reviewer", "x:Auditor"):
        assert start(judge) == said.rpartition("\n")[2]  # only how to answer


def test_a_sealed_capsule_is_compared_with_its_files(repo: Path, run: Script) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "app.py").write_text("x = 1\n", encoding="utf-8")
    path = Path(a_capsule(body=f"{BODY}\nSee `src/app.py:1`."))
    git("add", ".")
    git("commit", "-qm", "all")
    run("capsule", "check", "--seal")
    assert f"head: {git('rev-parse', 'HEAD').strip()}" in path.read_text(encoding="utf-8")
    assert "Changed since" not in start()
    (repo / "src" / "app.py").write_text("x = 2\n", encoding="utf-8")
    git("commit", "-qam", "more")
    said = start(host="codex")
    assert "Changed since it was sealed: src/app.py (changed)" in said


def test_without_a_capsule_it_gets_the_latest_handoff(layout: Layout) -> None:
    fields = {"from_agent": "sm", "to_agent": "dev", "next_action": "Build it"}
    switch.hand_over(layout, fields, names.now(), no_story=True)
    assert "not instructions: `.aios/handoffs/handoff-sm-to-dev-" in start()
    assert "Build it" in start()


# A review run


@pytest.fixture
def started(repo: Path) -> Run:
    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")
    asked = ("fd-safety", "interflux:review:fd-x")
    return starting.start(Layout(), names.now(), "flux-drive", "plan.md", asked)


def stop(text: str = "Done.", kind: str = "fd-safety", agent: str = "a1", **more: Any) -> str:
    return fire(
        "SubagentStop", agent_id=agent, agent_type=kind, last_assistant_message=text, **more
    )


def test_an_agent_without_its_file_is_sent_back_twice_and_is_then_an_error(
    layout: Layout, started: Run
) -> None:
    path = f"{started.output_dir}/fd-safety.md"
    for _ in range(layout.limits.hook_blocks):
        said = stop()
        assert f"`{path}`" in said and "- there is no such file" in said
        assert "## Output Contract" in said and started.id in said
        assert verdicts.load(layout, "fd-safety") is None
    assert stop() == ""
    entry = verdicts.load(layout, "fd-safety")
    assert entry and (entry["status"], entry["summary"]) == ("ERROR", "left no file")
    assert (entry["session_id"], entry["run"]) == ("s-1", started.id)


def test_a_malformed_file_is_told_line_by_line_and_mended(layout: Layout, started: Run) -> None:
    path = Path(started.output_dir, "fd-safety.md")
    path.write_text(signed(BAD, started.id), encoding="utf-8")
    said = stop("Findings written.", stop_hook_active=True)
    assert "- line 1: there is no Findings Index; it should read `### Findings Index`" in said
    path.write_text(signed(GOOD, started.id), encoding="utf-8")
    assert stop("VERDICT: NEEDS_ATTENTION not what the file says") == ""
    entry = verdicts.load(layout, "fd-safety")
    assert entry and (entry["status"], entry["run"]) == ("CLEAN", started.id)
    kept = runs.verdict_folder(layout, started.id)
    assert sorted(os.listdir(kept)) == [".gitignore", "fd-safety.json"]  # of this agent alone


def test_a_malformed_file_that_stays_is_an_error(layout: Layout, started: Run) -> None:
    Path(started.output_dir, "fd-safety.md").write_text(signed(BAD, started.id), encoding="utf-8")
    assert stop() and stop() and not stop()
    entry = verdicts.load(layout, "fd-safety")
    assert entry and (entry["status"], entry["flags"]) == ("ERROR", ["malformed"])


@each(
    ("text", "told"),
    [
        (
            '### Findings Index\n- P1 | P1-1 | "Form" | No check\nVerdict: safe\n',
            "Verdict: needs-ch",
        ),
        ("### Findings Index\n- a row\nVerdict: safe\n\n### Summary\nFine.\n", "not understood"),
    ],
)
def test_a_file_that_the_gate_would_not_read_as_it_is_meant_is_sent_back(
    started: Run, text: str, told: str
) -> None:
    Path(started.output_dir, "fd-safety.md").write_text(signed(text, started.id), encoding="utf-8")
    assert told in stop(agent=f"a{len(text)}")
    serious = '### Findings Index\n- P1 | P1-1 | "Form" | No check\nVerdict: needs-changes\n'
    serious += "\n### Issues Found\n#### P1-1. P1: No check\nsrc/form.py:6 has none.\n"
    Path(started.output_dir, "fd-safety.md").write_text(
        signed(serious, started.id), encoding="utf-8"
    )
    assert stop(agent=f"a{len(text)}") == ""


def test_of_a_line_that_contradicts_its_index_a_reviewer_is_asked_once(
    layout: Layout, started: Run
) -> None:
    text = GOOD + "\n### Summary\nThe login is a P0.\n"
    assert "there is no such file" in stop()
    path = Path(started.output_dir, "fd-safety.md")
    path.write_text(signed(text, started.id), encoding="utf-8")
    assert "this says P0" in stop()
    assert stop() == ""
    entry = verdicts.load(layout, "fd-safety")
    assert entry and entry["status"] == "NEEDS_ATTENTION"


def test_a_file_that_was_broken_while_its_doubt_was_mended_is_sent_back_too(started: Run) -> None:
    path = Path(started.output_dir, "fd-safety.md")
    doubted = signed(GOOD + "\n### Summary\nThe login is a P0.\n", started.id)
    path.write_text(doubted, encoding="utf-8")
    assert "this says P0" in stop()
    path.write_text(signed("It is small.\n", started.id), encoding="utf-8")
    assert stop() != ""
    path.write_text(doubted, encoding="utf-8")
    assert stop() == ""


def test_an_unfinished_file_is_to_be_renamed(started: Run) -> None:
    Path(started.output_dir, "fd-safety.md.partial").write_text(
        signed(GOOD, started.id), encoding="utf-8"
    )
    assert "still named `.partial`: rename it" in stop()


@pytest.mark.parametrize("kind", ["fd-x", "interflux:review:fd-x", "other:fd-x"])
def test_an_agent_is_known_by_the_end_of_its_type(started: Run, kind: str) -> None:
    assert "interflux:review:fd-x" in stop(kind=kind)


def test_an_agent_of_a_common_type_is_known_by_its_answer(layout: Layout, started: Run) -> None:
    path = layout.join(started.output_dir, "fd-safety.md")
    assert stop("I am done.", kind="general-purpose") == ""
    said = stop(f'"Findings written to {path}"', kind="general-purpose")
    assert "fd-safety" in said
    assert stop("Findings written to /etc/passwd", kind="general-purpose") == ""


def test_whose_run_is_over_is_let_go(layout: Layout, started: Run) -> None:
    runs.change(layout, started.id, finished_at=NOW)
    assert stop() == ""
    assert verdicts.load_all(layout).documents == []


def test_a_reviewer_of_a_run_gets_no_capsule(started: Run) -> None:
    a_capsule()
    assert start("fd-safety") == ""
    assert start("Explore")


def test_what_is_told_of_a_file_holds_no_secret(started: Run) -> None:
    row = f'* P1 | P1-1 | "Config" | The key {SECRET} is there\n'
    text = f"### Findings Index\n{row}Verdict: needs-changes\n"
    Path(started.output_dir, "fd-safety.md").write_text(
        f"# {SECRET}\n\nNo index.\n", encoding="utf-8"
    )
    assert SECRET not in stop() + stop(text, agent="a2")


# A context is compacted


def taken(layout: Layout) -> list[snapshots.Snapshot]:
    return [one for _, one in snapshots.load_all(layout)]


def transcript(repo: Path, count: int) -> str:
    path = repo.parent / "transcript.jsonl"
    path.write_text(reply(count) + "\n", encoding="utf-8")
    return str(path)


def test_a_compaction_leaves_one_snapshot_with_the_hosts_summary(layout: Layout) -> None:
    memory_stores.checkpoint(layout)
    os.makedirs(os.path.dirname(layout.memory_state("current")))
    Path(layout.memory_state("current")).write_text("station\n", encoding="utf-8")
    path = transcript(Path(layout.root), 140_000)
    fire("PreCompact", trigger="auto", transcript_path=path)
    (before,) = taken(layout)
    assert (before.reason, before.tokens, before.task_id) == ("token_limit", 140_000, "station")
    assert before.resume.startswith("Next action of ")
    fire("PostCompact", trigger="auto", compact_summary=f"We read it.\n\n# All\nwith {SECRET}")
    (after,) = taken(layout)
    assert "We read it." in after.summary and "(redacted github-token)" in after.summary
    assert SECRET not in after.summary
    assert after.replace(summary=before.summary) == before
    assert "We read it." in fire("SessionStart", source="compact")


@pytest.mark.parametrize("host", ["claude_code", "codex"])
def test_what_was_asked_and_edited_is_in_the_snapshot_of_a_compaction(
    layout: Layout, host: str
) -> None:
    path = str(Path(__file__).parents[1] / "memory" / "transcripts" / f"{host}.jsonl")
    fire("PreCompact", trigger="auto", transcript_path=path)
    (before,) = taken(layout)
    assert "> Now wire it into the screen," in before.summary
    assert {"src/cache.py", "src/screen.py"} <= {file.path for file in before.files}
    fire("PostCompact", trigger="auto", compact_summary="A cache was written.")
    (after,) = taken(layout)
    assert after.summary.startswith("A cache was written.")
    assert "> Now wire it into the screen," in after.summary


def test_the_end_of_a_turn_and_a_compaction_right_after_it_share_a_snapshot(
    layout: Layout, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(repo, 160_000)
    for clock, event, there in (
        ("10:00:00", "Stop", 1), ("10:00:30", "PreCompact", 1), ("10:00:40", "PostCompact", 1),
        ("10:01:00", "PreCompact", 2), ("10:40:00", "PreCompact", 3),
    ):  # fmt: skip
        monkeypatch.setenv("CONTEXT_NOW", f"2025-10-23T{clock}")
        fire(event, trigger="auto", transcript_path=path)
        assert len(taken(layout)) == there


def test_a_host_without_a_summary_gets_one_snapshot_all_the_same(layout: Layout) -> None:
    for _ in range(2):
        fire("PreCompact", "codex", trigger="manual")
        fire("PostCompact", "codex", trigger="manual")
    assert [one.reason for one in taken(layout)] == ["manual", "manual"]


def test_a_summary_without_a_beginning_is_saved_too(layout: Layout) -> None:
    fire("PostCompact", trigger="manual", compact_summary="All is done.")
    fire("PreCompact", trigger="auto")
    for path, _ in snapshots.load_all(layout):
        Path(path).write_text("edited", encoding="utf-8")
    fire("PostCompact", trigger="auto", compact_summary="Again.")
    assert [one.summary for one in taken(layout)] == ["Again."]  # beside what was edited


# A turn ends


def test_a_stop_saves_once_for_each_rise_into_the_save_zone(layout: Layout, repo: Path) -> None:
    for count, there in ((20_000, 0), (149_999, 0), (150_000, 1), (170_000, 1), (9_000, 1),
                         (151_000, 2)):  # fmt: skip
        assert fire("Stop", transcript_path=transcript(repo, count)) == ""
        assert len(taken(layout)) == there
    assert {one.reason for one in taken(layout)} == {"token_limit"}


def test_a_transcript_that_tells_nothing_is_no_failure(layout: Layout, repo: Path) -> None:
    (repo.parent / "rollout.jsonl").write_text('{"payload": {}}\n', encoding="utf-8")
    for path in (str(repo.parent / "rollout.jsonl"), "/no/such/file", str(repo), None):
        assert fire("Stop", "codex", transcript_path=path) == ""
    assert taken(layout) == [] and sorted(os.listdir(layout.state)) == [".gitignore", "sessions"]


# What no hook does


def test_no_hook_starts_anything_but_git(
    layout: Layout, team: Path, started: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With everything to do, in a store of every kind."""
    a_capsule()
    remind("one")
    memory_stores.checkpoint(layout)
    begun: list[str] = []
    watched = (
        "subprocess.Popen",
        "os.posix_spawn",
        "os.exec",
        "os.system",
        "os.fork",
        "socket.connect",
    )
    watch = [True]

    def note(event: str, arguments: Sequence[Any]) -> None:
        if watch and event in watched and arguments[0] != "git":
            begun.append(event)

    sys.addaudithook(note)
    long = "It takes 52 ms. " * 300
    path = transcript(Path(layout.root), 160_000)
    fire("SessionStart", source="resume")
    fire("UserPromptSubmit", prompt="@sm plan")
    fire("UserPromptSubmit", prompt="@dev build")
    start()
    stop(long)
    stop(long, kind="Explore", agent="a2")
    fire("PreCompact", trigger="auto", transcript_path=path)
    fire("PostCompact", trigger="auto", compact_summary="so far")
    fire("SessionStart", source="compact")
    fire("Stop", transcript_path=path)
    fire("SessionEnd", reason="other")
    watch.clear()
    assert begun == []


def test_a_hook_asks_git_and_changes_nothing_with_it(layout: Layout) -> None:
    assert layout.repository is not None
    with repositories.hurried(60):
        assert repositories.log(layout.repository, "", 1)
        for change in (repositories.run, repositories.answer):
            with pytest.raises(Exception, match="a hook"):
                change(layout.root, "status")
    assert repositories.run(layout.root, "status")


def test_a_payload_is_stored_as_it_was_and_told_of_without_its_secrets(layout: Layout) -> None:
    text = f"# Report\n\nThe key is {SECRET}. " + "It takes 52 ms. " * 300
    stop(text, kind="Explore")
    (path,) = payloads.documents(layout, "s-1")
    found = payloads.load(path, path)
    assert found.content == text and SECRET not in found.summary
    assert seen_agents.load(layout, "s-1", "a1").stored == layout.shown(path)
    assert retrieval.find(layout, "latest", "s-1", names.now()) == path


# A subagent of the current task ends


def test_the_end_of_an_agent_of_the_task_leaves_its_finding(repo: Path, run: Script) -> None:
    run("external_memory", "plan", "--task=login", "--objective=x")
    run("external_memory", "spawn", "--task=login", "--agents=reader writer")
    fire("SubagentStop", agent_id="a1", agent_type="reader",
         last_assistant_message="The parser takes 52 ms in src/app.py:42.")  # fmt: skip
    fire("SubagentStop", agent_id="a2", agent_type="stranger",
         last_assistant_message="Nothing to do with it.")  # fmt: skip
    findings = list((repo / ".temp/memory/findings").glob("*.md"))
    assert len(findings) == 1 and "52 ms" in findings[0].read_text(encoding="utf-8")
    fire("SubagentStop", agent_id="a1", agent_type="reader", stop_hook_active=True,
         last_assistant_message="@stored: x")  # fmt: skip
    assert len(list((repo / ".temp/memory/findings").glob("*.md"))) == 1
    before = len(list((repo / ".temp/memory/checkpoints").glob("*.json")))
    fire("SubagentStop", agent_id="a3", agent_type="writer",
         last_assistant_message="The writer is done.")  # fmt: skip
    assert len(list((repo / ".temp/memory/checkpoints").glob("*.json"))) == before + 1
