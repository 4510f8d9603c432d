"""external_memory.py status, recover and check, as users call them."""

from __future__ import annotations

import json
from pathlib import Path

import memory_stores as stores
import pytest
from conftest import Script, each, git
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.capsules.documents import reminders
from contextkit.memory.documents import context_window as zones
from contextkit.memory.documents import snapshots, store
from memory_stores import NOW, TASK

SNAPSHOTS = Path(".temp/memory/context_snapshots")


def status(run: Script, tokens: int | str, *more: str) -> str:
    """The first word that `status` prints."""
    assert run("external_memory", "status", f"--tokens={tokens}", *more) == 0, run.err
    return run.out.split()[0]


# Status


@each(("tokens", "word"), [(0, "ok"), (119_999, "ok"), (120_000, "warn"), (149_999, "warn")])
def test_below_the_threshold_nothing_is_written(
    repo: Path, run: Script, tokens: int, word: str
) -> None:
    assert status(run, tokens) == word and len(run.out.splitlines()) == 1
    assert not SNAPSHOTS.exists() and git("status", "--porcelain") == ""


def test_at_the_threshold_a_snapshot_is_written_once(repo: Path, run: Script) -> None:
    assert status(run, 150_000, "--task=station", "--summary=We chose a cache.") == "save"
    path = SNAPSHOTS / "snap_20251023T180500.md"
    text = path.read_text(encoding="utf-8")
    assert "**Reason**: token_limit" in text and "**Token Count**: ~150000" in text
    assert "We chose a cache." in text and "(written now)" in run.out
    prompt = run.out.split("\n\n", 1)[1]
    assert f"`{path}`" in prompt and "`station`" in prompt
    assert status(run, 150_000, "--task=station") == "save"
    assert f"{path} (written before" in run.out and prompt in run.out
    assert list(SNAPSHOTS.glob("*")) == [path]
    assert status(run, 149_999, "--task=station") == "warn"
    assert status(run, 150_001, "--task=station") == "save" and "(written now)" in run.out
    assert len(list(SNAPSHOTS.glob("*"))) == 2 and git("status", "--porcelain") == ""


def test_a_snapshot_has_what_the_store_and_git_know(
    repo: Path, run: Script, layout: Layout
) -> None:
    stores.full(layout)
    Path("new.txt").write_text("x", encoding="utf-8")
    assert status(run, 160_000) == "save"
    made = snapshots.load(str(next(SNAPSHOTS.iterdir())))
    assert (made.task_id, made.phase, made.agents) == (TASK, "implementation", ("mobile-ui",))
    assert "Objective: Show a station" in made.important
    assert "backend found: What backend found. (.temp/memory/findings/backend_" in made.important
    assert "Git: branch feature/demo at " in made.important
    assert "Another task's secret" not in made.important
    notes = {file.path: file.note for file in made.files}
    assert notes["new.txt"] == "created" and notes["src/backend.py"] == "made"
    assert made.decisions == ("Which cache?",)
    assert "Finish src/screen.py" in made.resume and "1. Write the screen" in made.resume
    assert {one.path for one in made.digests} == set(notes)


def test_a_snapshot_without_the_answer_of_git_says_so(repo: Path, run: Script) -> None:
    Path(".git/index").write_text("no index", encoding="utf-8")
    assert status(run, 160_000) == "save"
    assert "the snapshot does not list what changed: git did not answer" in run.err
    assert snapshots.load(str(next(SNAPSHOTS.iterdir()))).files == ()


def test_outside_of_git_a_snapshot_is_written_too(sealed: Path, run: Script) -> None:
    assert status(run, 150_000) == "save"
    made = snapshots.load(str(next(SNAPSHOTS.iterdir())))
    assert made.task_id == "" and "No summary was given" in made.summary


def test_a_snapshot_that_cannot_be_written_is_printed(repo: Path, run: Script) -> None:
    Path(".temp").write_text("in the way", encoding="utf-8")
    assert run("external_memory", "status", "--tokens=150000", "--summary=Do not lose this") == 1
    assert run.out.startswith("# Context Snapshot\n") and "Do not lose this" in run.out


def test_a_transcript_or_a_text_says_how_full_it_is(repo: Path, run: Script) -> None:
    usage = {"input_tokens": 1, "cache_read_input_tokens": 129_999}
    line = json.dumps({"type": "assistant", "uuid": "u", "message": {"usage": usage}})
    Path("t.jsonl").write_text(line + "\n", encoding="utf-8")
    assert run("external_memory", "status", "--transcript=t.jsonl") == 0
    assert run.out.startswith("warn ~130000 of 150000 tokens (86 %)")
    assert run("external_memory", "status", "--file=-", stdin="word " * 1000) == 0
    assert run.out.startswith("ok ~") and "of 150000 tokens (0 %)" in run.out


def test_status_for_programs(repo: Path, run: Script) -> None:
    run("external_memory", "status", "--tokens=150000", "--json")
    found = json.loads(run.out)
    assert found["id"] == found["name"] == "save" and found["written"] is True
    assert (found["warn_at"], found["save_at"]) == (120_000, 150_000)
    assert Path(found["snapshot"]).is_file() and found["snapshot"] in found["prompt"]


@each(
    ("options", "said"),
    [
        (["--tokens=many"], "tokens=many: must be a whole number"),
        (["--tokens=5", "--transcript=x"], "give one of tokens=, file=, transcript="),
        (["--transcript=missing.jsonl"], "give tokens=N"),
        (["--tokens=150000", "--task=../x"], "task:"),
    ],
)
def test_a_wrong_call_of_status_writes_nothing(
    repo: Path, run: Script, options: list[str], said: str
) -> None:
    assert run("external_memory", "status", *options) == 2
    assert said in run.err and run.out == "" and not Path(".temp").exists()


def test_a_hook_looks_without_starting_a_process(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.memory.flows import saving

    stores.full(layout)
    monkeypatch.setattr("os.posix_spawnp", None)
    zone, path = zones.look(layout, "s", TASK, 150_000)
    assert zone.name == zones.SAVE and path == ""
    made = saving.automatic_snapshot(layout, reason="token_limit", now=NOW, tokens=150_000)
    path = snapshots.save(layout, made, NOW)
    assert snapshots.load(path).task_id == TASK


# Recover


def test_recovery_of_nothing_is_a_negative_answer(repo: Path, run: Script) -> None:
    assert run("external_memory", "recover") == 1
    assert "nothing is stored" in run.err and run.out == ""
    assert run("external_memory", "recover", "--task=station") == 1
    assert git("status", "--porcelain") == ""


def test_a_session_takes_up_no_task_of_which_nothing_is_stored(
    layout: Layout, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "s-1")
    assert run("external_memory", "recover", "--task=sttion") == 1
    assert store.own_task(layout, "s-1") == ""
    stores.full(layout)
    assert run("external_memory", "recover", "--task=station") == 0
    assert store.own_task(layout, "s-1") == "station"


def test_recovery_says_what_it_passed_over(layout: Layout, run: Script) -> None:
    stores.full(layout)
    Path(".temp/memory/checkpoints/cp_review_20251023T180459.json").write_text("{", "utf-8")
    assert run("external_memory", "recover") == 0
    assert run.out.startswith("# Recovery: station\n")
    assert "cp_review_20251023T180459.json: checkpoint: not valid JSON in line 1" in run.err
    assert "other tasks, not included: other" in run.err


@each("name, text", [("gone.jsonl", None), ("notes.md", "Never JWT"), ("empty.jsonl", "")])
def test_a_typed_transcript_that_is_none_is_refused(
    layout: Layout, run: Script, name: str, text: str | None
) -> None:
    stores.full(layout)
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert run("external_memory", "recover", f"--transcript={name}") == 2
    assert f"transcript: {name}: is not a transcript" in run.err and run.out == ""


def test_what_remains_is_printed_and_the_status_says_no(layout: Layout, run: Script) -> None:
    stores.plan(layout)
    assert run("external_memory", "recover", f"--task={TASK}") == 1
    assert "Show a station" in run.out and "this is what remains" in run.err


def test_a_budget_is_kept_and_said(layout: Layout, run: Script) -> None:
    stores.full(layout)
    assert run("external_memory", "recover", "--budget=200") == 0
    assert "are incomplete: budget=200" in run.err
    assert run("external_memory", "recover", "--budget=99") == 2


def noted(layout: Layout, count: int, **changes: str) -> list[str]:
    """Keep so many notes, one a minute; return their ids, oldest first."""
    fields = {"note": "", "topic": "", "next_step": "", **changes}
    ids = []
    for number in range(count):
        text = fields["note"] or f"Look at part {number}"
        made = reminders.make(text, fields["topic"], fields["next_step"], (), NOW + 60 * number)
        ids.append(reminders.save(layout, layout.reminders, made).id)
    return ids


def test_recovery_quotes_the_newest_open_notes_and_counts_the_others(
    layout: Layout, run: Script
) -> None:
    stores.full(layout)
    ids = noted(layout, 8)
    reminders.finish(layout, layout.reminders, ids[-1:], "", NOW)
    assert run("external_memory", "recover") == 0
    section = run.out.partition("## Open notes")[2].partition("\n## ")[0]
    assert section.strip().splitlines()[2:] == [
        *(f"- {ids[at]} 2025-10-23 Look at part {at}" for at in (6, 5, 4)),
        "- and 4 more: `make context_reminders`",
    ]
    assert run.out.index("## Next action") < run.out.index("## Open notes")
    assert run.out.index("## Open notes") < run.out.index("## Plan")


def test_open_notes_give_way_to_the_next_action_and_are_counted_at_least(
    layout: Layout, run: Script
) -> None:
    stores.full(layout)
    noted(layout, 5, note="Ask Dana " + "whether the export of the bank has a mark " * 5)
    for budget in (150, 250, 400, 1000):
        assert run("external_memory", "recover", f"--budget={budget}") == 0
        assert tokens.within(run.out, budget) and "Finish src/screen.py" in run.out
        lines = run.out.partition("## Open notes")[2].partition("\n## ")[0].strip().splitlines()
        quoted = sum(line.startswith("- r-") for line in lines)
        rest = f"and {5 - quoted} more" if quoted else "5 in all"
        assert quoted <= 3 and lines[-1] == f"- {rest}: `make context_reminders`"


def test_three_open_notes_are_quoted_however_long_they_are(layout: Layout, run: Script) -> None:
    noted(layout, 4, note="x" * 400)
    run("external_memory", "recover")
    lines = run.out.partition("## Open notes")[2].strip().splitlines()[2:]
    assert [line[:4] for line in lines] == ["- r-"] * 3 + ["- an"]


def test_open_notes_are_told_where_nothing_else_is_saved(repo: Path, run: Script) -> None:
    assert run("remember_later", "add", "-m", "Ask Dana") == 0
    assert run("external_memory", "recover") == 1
    assert run.out.startswith("# Recovery: unknown\n") and " Ask Dana\n" in run.out
    assert "nothing is stored in .temp/memory" in run.err


def test_a_note_of_many_lines_and_with_a_secret_is_a_line_of_the_report(
    layout: Layout, run: Script
) -> None:
    stores.full(layout)
    key = "AKIA" + "Z7QK3M5X2W8B4N6P"
    noted(layout, 1, note=f"# Next action\nuse {key}", topic="ux", next_step="mail Dana")
    assert run("external_memory", "recover") == 0
    assert "(ux) # Next action use " in run.out and "→ next: mail Dana" in run.out
    assert key not in run.out and run.out.count("\n## Next action") == 1


def test_an_inbox_that_cannot_be_read_is_a_warning(layout: Layout, run: Script) -> None:
    stores.full(layout)
    noted(layout, 1)
    Path(layout.reminders).write_bytes(b"\xff")
    assert run("external_memory", "recover") == 0
    assert "## Open notes" not in run.out and "remember-later.md" in run.err


def saved(run: Script, *more: str) -> None:
    given = ("--phase=implementation", "--summary=so far", "--next-action=go on", *more)
    assert run("external_memory", "checkpoint", f"--task={TASK}", *given) == 0, run.err


def in_play(run: Script) -> list[str]:
    assert run("external_memory", "recover", f"--task={TASK}") == 0, run.err
    lines = run.out.partition("## Files in play")[2].strip().splitlines()
    return [line for line in lines[1:] if line]


def test_a_checkpoint_knows_the_files_that_git_saw_change_since_the_last_one(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old.py").write_text("1", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "old")
    git("branch", "main")
    Path("a.py").write_text("1", encoding="utf-8")
    Path("b.py").write_text("1", encoding="utf-8")
    git("add", "a.py")
    git("commit", "-qm", "work")
    saved(run)
    assert in_play(run) == ["- b.py: unchanged", "- a.py: unchanged"] or in_play(run) == [
        "- a.py: unchanged", "- b.py: unchanged",
    ]  # fmt: skip
    Path("a.py").write_text("2", encoding="utf-8")
    Path("c.py").write_text("2", encoding="utf-8")
    Path("b.py").unlink()
    saved(run)
    assert sorted(in_play(run)) == ["- a.py: unchanged", "- c.py: unchanged"]
    Path("a\tb\n.py").write_text("2", encoding="utf-8")
    saved(run)
    assert "- a b .py: unchanged" in in_play(run)
    saved(run, "--files=old.py - the start")
    assert in_play(run) == ["- old.py: unchanged"]


def test_recovery_on_another_branch_says_where_the_checkpoint_is_from(
    repo: Path, run: Script
) -> None:
    git("checkout", "-qb", "feature/login")
    saved(run)
    assert run("external_memory", "recover") == 0 and "branch" not in run.out
    git("checkout", "-qb", "feature/tax")
    assert run("external_memory", "recover") == 0
    assert "just now, on branch feature/login; this is feature/tax\n" in run.out


def test_a_checkpoint_that_names_no_subtasks_forgets_none(repo: Path, run: Script) -> None:
    given = ("--pending=parser | matcher | report", "--objective=Import")
    assert run("external_memory", "plan", f"--task={TASK}", *given) == 0
    saved(run, "--completed=parser")
    saved(run)
    assert run("external_memory", "recover") == 0
    assert "- Completed: parser\n- Pending: matcher, report\n" in run.out
    assert run("external_memory", "plan", f"--task={TASK}", "--in-progress=parser") == 0
    saved(run)
    assert run("external_memory", "recover") == 0
    assert "- Completed" not in run.out and "parser" in run.out


def test_a_checkpoint_says_what_the_plan_does_not_know_to_be_done(repo: Path, run: Script) -> None:
    assert run("external_memory", "plan", f"--task={TASK}", "--pending=parser | matcher") == 0
    saved(run, "--completed=Parser")
    said = "still pending in the plan: parser: `make memory_plan task=station completed=…`"
    assert said in run.err
    assert run("external_memory", "plan", f"--task={TASK}", "--completed=parser") == 0
    saved(run)
    assert "still pending" not in run.err


def test_a_checkpoint_without_a_plan_goes_on_from_the_last_one(repo: Path, run: Script) -> None:
    saved(run, "--completed=parser", "--pending=matcher | report")
    saved(run)
    saved(run, "--completed=parser | matcher")
    assert run("external_memory", "recover") == 0
    assert "- Completed: parser, matcher\n- Pending: report\n" in run.out


def test_recovery_says_what_open_reviews_found(layout: Layout, run: Script) -> None:
    stores.full(layout)
    for agent, status in (("ui", "NEEDS_ATTENTION"), ("api", "CLEAN")):
        given = (f"--agent={agent}", f"--status={status}", "--summary=1 P0: no lock")
        assert run("verdict", "write", *given) == 0
    assert run("external_memory", "recover") == 0
    section = run.out.partition("## Open reviews")[2].partition("\n## ")[0]
    line = "- ui NEEDS_ATTENTION: 1 P0: no lock"
    assert section.strip().splitlines()[-1] == line
    assert run.out.index("## Next action") < run.out.index("## Open reviews")
    assert run("external_memory", "recover", "--budget=120") == 0
    assert "- 1 in all: `make verdict_table view=attention`" in run.out


def test_recovery_for_programs(layout: Layout, run: Script) -> None:
    stores.full(layout)
    assert run("external_memory", "recover", "--json") == 0
    found = json.loads(run.out)
    assert (found["id"], found["archived"], found["others"]) == (TASK, False, ["other"])
    assert found["checkpoint"]["next_action"] == "Finish src/screen.py"
    assert [one["merged"] for one in found["findings"]] == [True, False]
    assert found["files"][0] == {"path": "src/cache.py", "state": "changed"}
    assert found["report"].startswith("# Recovery: station")


def test_a_prompt_for_a_fresh_agent(layout: Layout, run: Script) -> None:
    stores.full(layout)
    assert run("external_memory", "recover", "--prompt") == 0
    assert run.out.startswith("You take over the task `station`")


# Check


def test_every_lint_names_its_line_and_how_to_mend_it(layout: Layout, run: Script) -> None:
    stores.plan(layout, questions=(), next_actions=())
    stores.checkpoint(layout, next_action=" ")
    stores.finding(layout, "vague", files=(), discoveries=("It is slow",))
    stores.finding(layout, "dump", summary="All of `src/a.py` in full. " * 500)
    Path(".temp/memory/findings/broken_20251023T180500.md").write_text("no title\n", "utf-8")
    assert run("external_memory", "check") == 1
    lines = run.out.splitlines()
    assert [line.partition(" (")[0] for line in lines[::2]] == [
        "error .temp/memory/checkpoints/cp_implementation_20251023T180500.json:21: "
        "no next action, so nobody can resume from it",
        "error .temp/memory/findings/broken_20251023T180500.md:1: "
        "not a finding: the first line must be `# Findings: <agent>`",
        "warning .temp/memory/findings/dump_20251023T180500.md:1: "
        "has ~3585 tokens, more than 3000: a dump is not a finding",
        "warning .temp/memory/findings/vague_20251023T180500.md:13: "
        "names no file, so nobody can look it up",
        "warning .temp/memory/research_plans/station.md:9: no open question: is the task done?",
        "warning .temp/memory/research_plans/station.md:18: no next step",
    ]
    assert all(line.startswith("    ") for line in lines[1::2])
    run("external_memory", "check", "--json", "--task=other")
    assert [lint["severity"] for lint in json.loads(run.out)] == ["error"]


def test_only_the_newest_checkpoint_needs_a_next_action(layout: Layout, run: Script) -> None:
    stores.checkpoint(layout, NOW - 60, next_action="")
    stores.checkpoint(layout)
    assert run("external_memory", "check") == 0 and run.out == ""


def test_a_finding_may_name_a_file_anywhere(layout: Layout, run: Script) -> None:
    stores.finding(layout, files=(), discoveries=("See src/app.py:42",))
    assert run("external_memory", "check") == 0 and run.out == ""


# Estimate


@each(
    ("options", "said"),
    [
        (["--words=1000"], "1300"),
        (["--words=1"], "2"),
        (["--code-lines=100"], "1000"),
        (["--file-reads=3"], "1500-6000"),
        (["--responses=2"], "2000-6000"),
        (["--file-reads=3", "--responses=2"], "3500-12000"),
    ],
)
def test_estimates_are_those_of_the_seed(
    repo: Path, run: Script, options: list[str], said: str
) -> None:
    assert run("external_memory", "status", *options) == 0
    assert (run.out, run.err) == (said + "\n", "")
    run("external_memory", "estimate", *options, "--json")
    assert "now `make memory_status words=`" in run.err
    found = json.loads(run.out)
    assert f"{found['low']}-{found['high']}" in (said, f"{said}-{said}")


def test_a_text_that_is_there_is_counted(repo: Path, run: Script) -> None:
    assert run("external_memory", "status", "--words=10", "--file=-", stdin="one two\n") == 0
    assert 14 <= int(run.out) <= 18
    assert run("external_memory", "estimate") == 2 and "words=" in run.err


# What was said last counts


def memory(run: Script, monkeypatch: pytest.MonkeyPatch, minute: int, *call: str) -> str:
    """Run a command of task `t` at this minute; return what it prints."""
    monkeypatch.setenv("CONTEXT_NOW", f"2025-10-23T18:{minute:02}:00Z")
    assert run("external_memory", call[0], "--task=t", *call[1:]) == 0, run.err
    return run.out


A_PLAN = ("plan", "--pending=a | b | c", "--next-actions=Do a")
A_DONE = (
    "checkpoint",
    "--phase=implementation",
    "--summary=a is done",
    "--completed=a",
    "--next-action=Do b",
)


@pytest.mark.parametrize("change", ["--completed=a", "--questions=Which cache?", "--pending=d"])
@pytest.mark.usefixtures("repo")
def test_an_old_next_action_is_no_newer_for_another_change_of_the_plan(
    run: Script, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    for minute, call in enumerate([A_PLAN, A_DONE, ("plan", change)]):
        memory(run, monkeypatch, minute, *call)
    text = memory(run, monkeypatch, 3, "recover")
    assert "## Next action\n\nDo b\n" in text and "Next action: the plan is later" not in text
    memory(run, monkeypatch, 4, "plan", "--next-actions=Do c")
    text = memory(run, monkeypatch, 5, "recover")
    assert "## Next action\n\nDo c\n" in text and "the checkpoint says “Do b”" in text


@pytest.mark.parametrize("event", [("checkpoint", "--to=review"), ("spawn", "--agents=3")])
@pytest.mark.usefixtures("repo")
def test_the_end_of_a_phase_keeps_the_newer_next_action_and_who_is_blocked(
    run: Script, monkeypatch: pytest.MonkeyPatch, event: tuple[str, ...]
) -> None:
    for minute, call in enumerate([A_PLAN, (*A_DONE, "--blocked=ui api"), event]):
        memory(run, monkeypatch, minute, *call)
    text = memory(run, monkeypatch, 3, "recover")
    assert "## Next action\n\nDo b\n" in text and "- Blocked agents: ui, api\n" in text
    memory(run, monkeypatch, 4, "plan", "--completed=a")
    assert "## Next action\n\nDo b\n" in memory(run, monkeypatch, 5, "recover")
    memory(run, monkeypatch, 6, "plan", "--next-actions=Do c")
    memory(run, monkeypatch, 7, "checkpoint", "--to=planning")
    assert "## Next action\n\nDo c\n" in memory(run, monkeypatch, 8, "recover")


@pytest.mark.usefixtures("repo")
def test_a_next_action_that_is_completed_gives_way(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [A_PLAN, (*A_DONE[:-1], "--next-action=b"), ("plan", "--completed=b")]
    for minute, call in enumerate(calls):
        memory(run, monkeypatch, minute, *call)
    assert "## Next action\n\nDo a\n" in memory(run, monkeypatch, 3, "recover")
    memory(run, monkeypatch, 4, "checkpoint", "--to=review")
    assert "## Next action\n\nDo a\n" in memory(run, monkeypatch, 5, "recover")


@pytest.mark.usefixtures("repo")
def test_what_an_earlier_checkpoint_called_done_stays_done(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = ("checkpoint", "--phase=implementation", "--summary=b too", "--completed=b")
    for minute, call in enumerate([A_PLAN, A_DONE, (*again, "--next-action=Do c")]):
        memory(run, monkeypatch, minute, *call)
    text = memory(run, monkeypatch, 3, "recover")
    assert "- Completed: a, b\n- Pending: c\n" in text
    memory(run, monkeypatch, 4, *again, "--next-action=Do a again", "--pending=a")
    text = memory(run, monkeypatch, 5, "recover")
    assert "- Completed: b\n- Pending: a, c\n" in text
