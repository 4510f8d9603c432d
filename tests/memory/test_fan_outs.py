"""agents.py: who was sent off, who is back or missing, and what the end of an agent saves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import memory_stores as stores
import pytest
from conftest import Script, each
from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import agents, recovery, recovery_report
from memory_stores import NOW, TASK

from hooks import fire

REPORT = "The list renders twice in `src/screen.py:42`.\n\n## Recommendations\n- Render once\n"


def spawn(run: Script, named: str, *more: str) -> None:
    assert run("external_memory", "spawn", f"--task={TASK}", f"--agents={named}", *more) == 0, (
        run.err
    )


def written(layout: Layout) -> tuple[int, int]:
    """How many findings and checkpoints the task has."""
    return len(findings.load_all(layout, TASK)), len(checkpoints.load_all(layout, TASK))


def test_a_fan_out_is_expected_returned_and_missing(layout: Layout, run: Script) -> None:
    spawn(run, "ui backend,docs")
    assert written(layout) == (0, 1)  # three or more: a checkpoint first
    assert checkpoints.load_all(layout)[0][1].active_agents == ("ui", "backend", "docs")
    stores.finding(layout, "backend", NOW + 9)
    run("external_memory", "status", "--tokens=9")
    assert run.out.splitlines() == [
        "ok ~9 of 150000 tokens (0 %): a warning comes at 120000",
        "station: 3 agents expected, 1 returned (backend), missing: ui, docs",
    ]


def test_a_number_is_a_fan_out_too(layout: Layout, run: Script) -> None:
    spawn(run, "2")
    assert written(layout) == (0, 0)  # too few for a checkpoint, but still a fan-out
    stores.finding(layout, "backend", NOW + 9)
    run("external_memory", "status", "--tokens=9")
    assert "2 agents expected, 1 returned (backend), missing: 1 that nobody named" in run.out


@each("wrong", ["0", "", ".x", "merged", "../a b", "999999999"])
def test_what_is_no_agent_is_refused(layout: Layout, run: Script, wrong: str) -> None:
    assert run("external_memory", "spawn", f"--task={TASK}", f"--agents={wrong}") == 2
    assert not Path(layout.memory).exists()


def test_an_end_keeps_a_finding_and_the_last_one_the_checkpoint(
    layout: Layout, run: Script
) -> None:
    spawn(run, "ui backend docs")
    [path] = agents.agent_ended(layout, "ui", REPORT, NOW)
    kept = findings.load(path)
    assert kept.summary == "The list renders twice in `src/screen.py:42`."
    assert (kept.status, kept.recommendations) == ("completed", ("Render once",))
    assert agents.agent_ended(layout, "ui", REPORT, NOW) == []  # hosts may report an end twice
    agents.agent_ended(layout, "backend", REPORT, NOW)
    [path] = agents.agent_ended(layout, "docs", "", NOW)  # it said nothing but is back
    assert written(layout) == (2, 2)
    saved = checkpoints.load(path)
    assert saved.context_summary.startswith(
        "The agents have ended: 3 agents expected, 3 returned (ui, backend, docs)."
    )
    assert (saved.findings_count, saved.active_agents) == (2, ())


def test_a_stranger_and_an_end_without_a_task_write_nothing(layout: Layout, run: Script) -> None:
    assert agents.agent_ended(layout, "ui", REPORT, NOW) == []
    spawn(run, "ui backend docs")
    assert agents.agent_ended(layout, "Explore", REPORT, NOW) == []
    assert agents.agent_ended(layout, "", REPORT, NOW) == []
    assert written(layout)[0] == 0


def test_an_agent_that_a_checkpoint_lists_as_active_belongs_to_the_task(layout: Layout) -> None:
    stores.checkpoint(layout, active_agents=("fd:review",))
    memory.record(layout, TASK)
    assert agents.agent_ended(layout, "fd:review", REPORT, NOW)


def test_a_trigger_set_to_false_keeps_the_finding_and_writes_no_checkpoint(
    repo: Path, run: Script
) -> None:
    (repo / "contextkit.yaml").write_text("memory_agent_completion: false\n", encoding="utf-8")
    layout = Layout()
    spawn(run, "ui")
    assert agents.agent_ended(layout, "ui", REPORT, NOW) and written(layout) == (1, 0)
    assert agents.attendance(layout, TASK).complete


def test_the_finding_of_the_last_agent_brings_the_checkpoint_by_command_too(
    layout: Layout, run: Script
) -> None:
    spawn(run, "ui backend")
    for agent in ("ui", "backend"):
        run("external_memory", "finding", f"--task={TASK}", f"--agent={agent}",
            "--status=completed", "--summary=Found.")  # fmt: skip
        assert len(run.out.splitlines()) == 1
    assert "the last agent of the batch is back: .temp/memory/checkpoints/cp_" in run.err
    assert written(layout) == (2, 1)


def test_a_secret_in_the_last_words_is_taken_out(layout: Layout, run: Script) -> None:
    spawn(run, "ui")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = agents.agent_ended(layout, "ui", f"The token is {secret}.", NOW)[0]
    assert secret not in Path(path).read_text(encoding="utf-8")


def test_recovery_names_who_is_missing_and_who_still_runs(
    layout: Layout, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.subagents.flows import background

    spawn(run, "ui backend docs")
    stores.finding(layout, "ui", NOW + 9)
    os.makedirs(os.path.dirname(layout.registry), exist_ok=True)
    Path(layout.registry).write_text(
        '[{"id": "1", "slug": "docs", "status": "running", "launched_at": "20251023-180500"}]',
        encoding="utf-8",
    )
    monkeypatch.setattr(background, "is_alive", lambda _: True)
    text = recovery_report.make(layout, recovery.load(layout, TASK, NOW + 60), 4000).text
    assert (
        "- Agents: 3 agents expected, 1 returned (ui), 1 running (docs), missing: backend\n" in text
    )
    monkeypatch.setattr(background, "is_alive", lambda _: False)
    text = recovery_report.make(layout, recovery.load(layout, TASK, NOW + 60), 4000).text
    assert "missing: backend, docs\n" in text


def test_an_agent_that_was_cleaned_away_is_not_expected_any_more(layout: Layout) -> None:
    stores.checkpoint(layout, NOW - 60)
    os.makedirs(os.path.dirname(layout.registry), exist_ok=True)
    rows = [{"id": slug, "slug": slug, "status": status, "launched_at": "20251023-180500"}
            for slug, status in (("ui", "cleaned"), ("docs", "failed"))]  # fmt: skip
    Path(layout.registry).write_text(json.dumps(rows), encoding="utf-8")
    there = agents.attendance(layout, TASK, after=names.iso(NOW - 60))
    assert there.missing == ("docs",) and there.expected == 1


@each("answer", ["Findings written to out/ui.md", "It is so."])
def test_an_agent_whose_answer_is_short_has_ended(layout: Layout, answer: str) -> None:
    stores.checkpoint(layout, NOW - 60)

    def missing() -> tuple[str, ...]:
        return agents.attendance(layout, TASK, after=names.iso(NOW - 60)).missing

    fire("SubagentStart", agent_id="a1", agent_type="ui")
    assert missing() == ("ui",)
    fire("SubagentStop", agent_id="a1", agent_type="ui", last_assistant_message=answer)
    assert missing() == ()


def test_an_agent_that_failed_is_not_said_to_have_returned(layout: Layout, run: Script) -> None:
    spawn(run, "docs js ui")
    for agent, status in (("docs", "FAILED"), ("js", "ERROR"), ("ui", "CLEAN")):
        run("verdict", "write", f"--agent={agent}", f"--status={status}", "--summary=exit 137")
    told = "3 agents expected, 1 returned (ui), 2 failed (docs, js)"
    assert run("external_memory", "status", "--tokens=5") == 0 and told in run.out
    assert run("external_memory", "recover") == 0 and f"- Agents: {told}\n" in run.out
    assert agents.batch_ended(layout, TASK, NOW)
    stores.finding(layout, "docs", NOW + 60)  # it was sent off again
    assert agents.attendance(layout, TASK).failed == ("js",)
    summary = checkpoints.last(layout, TASK).context_summary
    assert summary.startswith(f"The agents have ended: {told}.")


def test_a_verdict_is_an_answer(layout: Layout, run: Script) -> None:
    spawn(run, "fd:ui backend")
    run("verdict", "write", "--agent=fd:ui", "--status=CLEAN", "--summary=fine")
    there = agents.attendance(layout, TASK)
    assert (there.returned, there.missing) == (("fd:ui",), ("backend",))


@each("damage", ["", "[]", "{", '{"agents": 3}', '{"returned": [1]}'])
def test_a_broken_fan_out_is_none(layout: Layout, run: Script, damage: str) -> None:
    spawn(run, "ui backend docs")
    Path(layout.memory_state(f"{TASK}.agents")).write_text(damage, encoding="utf-8")
    assert agents.last_fan_out(layout, TASK) == agents.FanOut(task=TASK)
    assert run("external_memory", "recover") == 0


def test_a_snapshot_of_another_phase_ends_the_one_before(layout: Layout, run: Script) -> None:
    run("external_memory", "checkpoint", f"--task={TASK}", "--phase=exploration", "--summary=s",
        "--next-action=n")  # fmt: skip
    run("external_memory", "snapshot", "--summary=s", "--phase=planning")
    assert len(run.out.splitlines()) == 1 and "exploration has ended: " in run.err
    assert checkpoints.load_all(layout)[-1][1].context_summary.startswith("exploration is done;")
    assert memory.current_phase(layout, TASK) == "planning"


def test_nothing_to_read_is_said(layout: Layout, run: Script) -> None:
    assert run("external_memory", "status", stdin=" \n") == 2
    assert "nothing was read" in run.err and run.out == ""
    spawn(run, "ui backend")
    assert run("external_memory", "status", stdin="") == 2
    assert "2 agents expected" in run.out


def test_what_an_expected_agent_found_is_kept_without_any_memory_yet(
    repo: Path, run: Script
) -> None:
    """One agent is too few for a checkpoint, so nothing is in the store when it ends."""
    assert run("external_memory", "spawn", "--task=login", "--agents=reader") == 0
    assert not (repo / ".temp/memory").exists()
    fire("SubagentStop", agent_id="a1", agent_type="reader",
         last_assistant_message="The parser takes 52 ms in src/app.py:42.")  # fmt: skip
    (path,) = (repo / ".temp/memory/findings").glob("*.md")
    assert "52 ms" in path.read_text(encoding="utf-8")


def test_a_log_among_the_findings_is_told_by_its_digest_once(layout: Layout, run: Script) -> None:
    lines = [f"2025-11-22T05:{n:02}:00Z INFO worker started job {n}" for n in range(60)]
    lines.insert(30, "2025-11-22T05:30:01Z ERROR pool exhausted: no connection after 30 s")
    log = "\n".join(lines)
    call = ("finding", "--task=t", "--agent=ci", "--file=-")
    assert run("external_memory", *call, stdin=log) == 0, run.err
    ((path, saved),) = findings.load_all(layout, "t")
    assert "pool exhausted" in saved.summary and saved.summary.count("worker started") <= 3
    assert log in Path(path).read_text(encoding="utf-8")
    told = recovery_report.make(layout, recovery.load(layout, "t", NOW), 4000).text
    assert told.count("pool exhausted") == 1 and told.count("worker started") <= 3
