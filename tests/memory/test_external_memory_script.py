"""external_memory.py, the writing half: what each command leaves on disk and prints."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from checkouts import make
from conftest import CHECKOUT, Script, each, git
from contextkit.memory.documents import findings, plans
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import reports as agent_reports

Golden = Callable[[str, str], None]
STORE = Path(".temp/memory")
FINDING = ("finding", "--task=t", "--status=completed", "--summary=Done. It works.")
CHECKPOINT = ("checkpoint", "--task=t", "--summary=half", "--next-action=go on")


def names_in(kind: str) -> list[str]:
    folder = STORE / kind
    return sorted(path.name for path in folder.glob("*") if folder.is_dir() and path.is_file())


def nothing_was_written() -> bool:
    return not STORE.exists()


def memory(run: Script, *arguments: str, stdin: str | None = None) -> str:
    """Run a command that must succeed; return what it prints."""
    assert run("external_memory", *arguments, stdin=stdin) == 0, run.err
    return run.out


# The four kinds of document


def test_init_makes_the_four_folders_which_git_does_not_see(run: Script, repo: Path) -> None:
    said = memory(run, "init").split()
    assert said == [f".temp/memory/{kind}" for kind in
                    ("research_plans", "findings", "checkpoints", "context_snapshots")]  # fmt: skip
    assert all(Path(folder).is_dir() for folder in said)
    assert git("status", "--porcelain") == ""


@pytest.mark.golden
def test_a_plan(run: Script, repo: Path, golden: Golden) -> None:
    path = memory(
        run, "plan", "--task=station_feature", "--objective=Show a station's details",
        "--strategy=Read the API first, then the screen.", "--questions=Which API? | Offline?",
        "--answered=Offline?", "--completed=exploration", "--in-progress=ui",
        "--pending=backend | review", "--constraints=No new dependency",
        "--next-actions=Build the list | Ask about caching",
    )  # fmt: skip
    assert path == ".temp/memory/research_plans/station_feature.md\n"
    golden("memory_plan.md", Path(path.strip()).read_text(encoding="utf-8"))


@pytest.mark.golden
def test_a_finding(run: Script, repo: Path, golden: Golden) -> None:
    path = memory(
        run, "finding", "--agent=mobile-ui", "--task=station_feature", "--status=partial",
        "--description=Station screen", "--summary=The screen is there. Caching is open.",
        "--discoveries=The list renders twice | The map\nblocks the thread",
        "--files=src/screen.tsx:42 - new | src/map.tsx", "--questions=Who owns the cache?",
        "--recommendation=Render once,\nthen memoise",
    )  # fmt: skip
    assert path == ".temp/memory/findings/mobile-ui_20251023T180500.md\n"
    golden("memory_finding.md", Path(path.strip()).read_text(encoding="utf-8"))


@pytest.mark.golden
def test_a_checkpoint(run: Script, repo: Path, golden: Golden) -> None:
    (repo / "a.py").write_text("one\n", encoding="utf-8")
    memory(run, *FINDING, "--agent=ui", "--files=a.py:3 - changed")
    path = memory(
        run, *CHECKPOINT, "--phase=implementation", "--completed=task_1 | task_2",
        "--pending=task_3", "--active=mobile-ui", "--recovery=Look at the pending agents",
    )  # fmt: skip
    assert path == ".temp/memory/checkpoints/cp_implementation_20251023T180500.json\n"
    text = Path(path.strip()).read_text(encoding="utf-8")
    golden("memory_checkpoint.json", text)
    assert json.loads(text)["state"]["findings_count"] == 1


@pytest.mark.golden
def test_a_snapshot(run: Script, repo: Path, golden: Golden) -> None:
    (repo / "a.py").write_text("one\n", encoding="utf-8")
    path = memory(
        run, "snapshot", "--reason=token_limit", "--tokens=150000", "--task=t", "--phase=review",
        "--agents=ui backend", "--summary=We found the leak.\n\n## Not a section",
        "--important=Never touch main", "--files=a.py - half done | gone.py",
        "--decisions=Ship it?", "--resume=Run the tests",
    )  # fmt: skip
    assert path == ".temp/memory/context_snapshots/snap_20251023T180500.md\n"
    golden("memory_snapshot.md", Path(path.strip()).read_text(encoding="utf-8"))


@pytest.mark.golden
def test_a_merge(run: Script, repo: Path, golden: Golden) -> None:
    memory(run, *FINDING, "--agent=ui", "--discoveries=one | two", "--files=a.py - new")
    report = "# R\n\n## Summary\nThe API.\n\n## Key Findings\n1. two\n2. three\n\n## Details\nL.\n"
    memory(run, "finding", "--agent=api", "--task=t", "--status=failed", stdin=report)
    path = memory(run, "merge", "--task=t")
    assert path == ".temp/memory/findings/merged_20251023T180500.md\n"
    golden("memory_merged.md", Path(path.strip()).read_text(encoding="utf-8"))
    assert len(names_in("findings")) == 3  # the sources are still there


# Refusals


@each("task", ["../x", "a/b", "", "CON", "con.txt", "x" * 300, ".x", "-x", "a b", "ä"])
def test_a_task_that_can_be_no_file_is_refused(run: Script, repo: Path, task: str) -> None:
    for command in (("plan",), ("finding", "--agent=a", "--status=failed", "--summary=s"),
                    ("checkpoint", "--phase=review", "--summary=s", "--next-action=n"),
                    ("phase", "--to=review"), ("spawn", "--agents=5"), ("merge",)):  # fmt: skip
        try:
            assert run("external_memory", *command, f"--task={task}") == 2
        except SystemExit as left:  # a blank value is a mistake in the call
            assert left.code == 2
        assert nothing_was_written()


@each("agent", ["../x", "a/b", "merged", "Merged", "CON", "x" * 300, "a\nb", ".a", " "])
def test_an_agent_that_can_be_no_file_is_refused(run: Script, repo: Path, agent: str) -> None:
    assert run("external_memory", *FINDING, f"--agent={agent}") == 2
    assert nothing_was_written()


def test_a_phase_that_is_clearly_meant_is_taken(run: Script, repo: Path) -> None:
    call = ("checkpoint", "--task=t", "--phase=Testing", "--summary=s", "--next-action=n")
    assert run("external_memory", *call) == 0
    assert "phase=Testing: read as review" in run.err


@each(
    "call",
    [
        ("finding", "--agent=a", "--task=t", "--status=purple", "--summary=s"),
        ("finding", "--agent=a", "--task=t", "--summary=s"),
        ("snapshot", "--summary=s", "--reason=panic"),
        ("snapshot", "--summary=s", "--phase=lunch"),
        ("snapshot", "--summary=s", "--tokens=many"),
        ("phase", "--task=t", "--to=lunch"),
        ("checkpoint", "--task=t", "--phase=lunch", "--summary=s", "--next-action=n"),
        (*CHECKPOINT, "--phase=review", "--findings-count=-1"),
        ("plan", "--task=t", "--draft=missing.yaml"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    run: Script, repo: Path, call: tuple[str, ...]
) -> None:
    assert run("external_memory", *call) == 2
    assert run.out == "" and nothing_was_written()


# Plans


def test_an_answer_to_a_number_that_no_question_has_is_refused(run: Script, repo: Path) -> None:
    memory(run, "plan", "--task=t", "--questions=Why? | How? | When?", "--answered=2")
    plan = (STORE / "research_plans/t.md").read_text(encoding="utf-8")
    for number in ("9", "4", "0"):
        assert run("external_memory", "plan", "--task=t", f"--answered={number}") == 2
        open_ones = f"answered={number}: no question has this number; open: 1 Why?; 3 When?"
        assert run.err == f"external_memory: {open_ones}\n" and run.out == ""
    assert (STORE / "research_plans/t.md").read_text(encoding="utf-8") == plan
    memory(run, "plan", "--task=t", "--questions=Who?", "--answered=4")  # the question just added
    assert "- [x] Who? (answered)\n" in (STORE / "research_plans/t.md").read_text(encoding="utf-8")
    assert run("external_memory", "plan", "--task=u", "--answered=1") == 2
    assert "open: none" in run.err and names_in("research_plans") == ["t.md"]


def test_an_answer_to_a_question_that_nobody_asked_is_named(run: Script, repo: Path) -> None:
    memory(run, "plan", "--task=t", "--questions=Why? | How?")
    memory(run, "plan", "--task=t", "--answered=why?")
    assert run.err == ""
    memory(run, "plan", "--task=t", "--answered=Hwo?")
    assert run.err == "external_memory: answered: 'Hwo?' was not an open question: added\n"


@pytest.mark.parametrize(
    "call",
    [
        ("plan", "--objective=x"),
        ("finding", "--agent=a", "--status=completed", "--summary=s"),
        ("checkpoint", "--phase=review", "--summary=s", "--next-action=n"),
        ("phase", "--to=review"),
        ("phase", "--to=exploration"),
        ("spawn", "--agents=1"),
        ("spawn", "--agents=3"),
        ("snapshot", "--summary=s"),
        ("status", "--tokens=160000"),
    ],
    ids=" ".join,
)
def test_a_new_task_is_named_once(run: Script, repo: Path, call: tuple[str, ...]) -> None:
    named = 'external_memory: new task "staiton"'
    memory(run, "checkpoint", "--task=station", "--phase=review", "--summary=s", "--next-action=n")
    command, *rest = call
    memory(run, command, "--task=staiton", *rest)
    assert run.err.splitlines().count(named) == 1
    memory(run, "plan", "--task=station", "--objective=x")
    assert "new task" not in run.err  # a task known only by its checkpoint
    memory(run, command, "--task=staiton", *rest)
    assert named not in run.err.splitlines()


def test_a_check_of_a_task_that_nobody_knows_says_so(run: Script, repo: Path) -> None:
    memory(run, "plan", "--task=station", "--objective=x")
    assert run("external_memory", "check", "--task=staiton") == 1
    assert "nothing is stored about 'staiton'" in run.err and run.out == ""


def test_a_second_save_keeps_answered_marks_and_what_a_person_wrote(
    run: Script, repo: Path
) -> None:
    path = Path(
        memory(run, "plan", "--task=t", "--questions=Why? | How?", "--pending=a, b | c").strip()
    )
    text = path.read_text(encoding="utf-8").replace("- [ ] Why?", "- [X] Why?  <- ask Ada")
    path.write_text(text + "\n## Mine\n<!-- keep -->\n", encoding="utf-8")
    memory(run, "plan", "--task=t", "--questions=Why?  <- ask Ada | When?", "--answered=2",
           "--completed=c", "--objective=x")  # fmt: skip
    updated = path.read_text(encoding="utf-8")
    assert "- [X] Why?  <- ask Ada\n- [x] How? (answered)\n- [ ] When?\n" in updated
    assert "- Completed: c\n- In Progress: none\n- Pending:\n  - a, b\n" in updated
    assert updated.endswith("\n## Mine\n<!-- keep -->\n")


def test_a_replaced_objective_is_kept_below(run: Script, repo: Path) -> None:
    path = Path(memory(run, "plan", "--task=t", "--objective=old").strip())
    memory(run, "plan", "--task=t", "--objective=new")
    assert plans.load(str(path)).objective == "new"
    assert "## Earlier\n### Objective, until 2025-10-23T18:05:00Z\nold" in path.read_text("utf-8")


def test_a_draft_gives_the_same_fields_and_the_command_line_wins(run: Script, repo: Path) -> None:
    Path("d.yaml").write_text("task: t\nobjective: from draft\nquestions:\n- a\n- b\n", "utf-8")
    path = memory(run, "plan", "--task=t", "--draft=d.yaml", "--objective=typed").strip()
    plan = plans.load(path)
    assert (plan.objective, [q.text for q in plan.questions]) == ("typed", ["a", "b"])
    Path("d.json").write_text('{"objektive": "x"}', "utf-8")
    assert run("external_memory", "plan", "--task=t", "--draft=d.json") == 2
    assert "did you mean 'objective'?" in run.err


# Findings


def test_two_findings_of_one_agent_in_one_second_are_two_files(run: Script, repo: Path) -> None:
    for _ in range(3):
        memory(run, *FINDING, "--agent=back_end-2")
    stem = "back_end-2_20251023T180500"
    assert names_in("findings") == [f"{stem}.md", f"{stem}_2.md", f"{stem}_3.md"]


def test_an_odd_name_stands_in_the_document_whole(run: Script, repo: Path) -> None:
    path = memory(run, *FINDING, "--agent=interflux:review:fd-x").strip()
    assert path.endswith("/interflux-review-fd-x_20251023T180500.md")
    assert findings.load(path).agent == "interflux:review:fd-x"


REPORT = """# Cache report

**Date:** today

## 1. Executive Summary
It is slow. Key findings:

1. Reads twice
2. Never expires

## Files touched
- `src/a.py:3` - reads twice
- docs/b.md: to be changed

## Method
We looked.
### Tools
```sh
## no heading
```

## Next steps
- Cache it
  with a limit

## Open Questions
- Who pays?
"""


def test_a_report_is_taken_in_whole_by_a_single_command(run: Script, repo: Path) -> None:
    Path("report.md").write_text(REPORT, encoding="utf-8")
    path = memory(run, "finding", "--agent=a", "--task=t", "--status=completed", "--file=report.md")
    found = findings.load(path.strip())
    assert found.summary == "It is slow. Key findings:"
    assert found.discoveries == ("Reads twice", "Never expires")
    assert [(f.path, f.note) for f in found.files] == [
        ("src/a.py:3", "reads twice"), ("docs/b.md", "to be changed")]  # fmt: skip
    assert found.recommendations == ("Cache it\nwith a limit",)
    assert found.questions == ("Who pays?",)
    assert [extra.heading for extra in found.more] == ["Report", "Method"]
    assert found.more[1].text == "We looked.\n### Tools\n```sh\n## no heading\n```"
    assert "**Date:** today" in found.more[0].text


def words_of(text: str) -> set[str]:
    """The lines of a text without markup: bullets, numbers, code spans around paths."""
    plain = text.replace("`", "").replace("docs/b.md: ", "docs/b.md - ")
    lines = (line.strip().lstrip("0123456789.\\") for line in plain.split("\n"))
    return {line.removeprefix("- ").removeprefix("* ").strip() for line in lines} - {"---"}


@each("form", ["# A\n", "## A\n", "", "### Summary\n", "Title\n=====\n", "# A\n# B\n"])
def test_no_line_of_a_report_is_lost_whatever_its_form(form: str) -> None:
    for text in (form + REPORT, form + REPORT.replace("##", "###"), form + "only text\n\nmore"):
        read = agent_reports.read(text)
        made = findings.make("a", "t", "failed", "2025-01-04T12:00:00Z", **read)
        assert words_of(text) <= words_of(findings.render(made))


_CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before `sealed` empties the environment


def test_merging_many_reports_loses_nothing(run: Script, repo: Path) -> None:
    folder = Path(_CORPUS) / "research" if _CORPUS else None
    reports = [p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.md"))] if folder else []
    reports = reports or [REPORT.replace("Cache", f"Cache {n}") for n in range(8)]
    for number, text in enumerate(reports):
        memory(run, "finding", f"--agent=r{number}", "--task=t", "--status=completed", stdin=text)
    path = memory(run, "merge", "--task=t").strip()
    merged = words_of(Path(path).read_text(encoding="utf-8"))
    for text in reports:
        assert words_of(text) <= merged


# Merging


def test_merging_again_supersedes_and_keeps_what_was_archived(run: Script, repo: Path) -> None:
    memory(run, *FINDING, "--agent=a", "--discoveries=first")
    memory(run, "merge", "--task=t", "--archive")
    memory(run, *FINDING, "--agent=b", "--discoveries=second")
    path = memory(run, "merge", "--task=t").strip()
    assert merged_findings.load(path).sources() == ("a_20251023T180500.md", "b_20251023T180500.md")
    assert [name for name in names_in("findings") if name.startswith("merged")] == [Path(path).name]
    text = Path(path).read_text(encoding="utf-8")
    assert "1. first\n" in text and "1. second\n" in text
    assert (STORE / "archive/t/findings/merged_20251023T180500.md").is_file()


def test_nothing_to_merge_is_said(run: Script, repo: Path) -> None:
    assert run("external_memory", "merge", "--task=t") == 1
    assert "no findings to merge" in run.err


# Phases, batches, spawning


def test_a_phase_ends_with_its_checkpoint_and_the_next_is_current(run: Script, repo: Path) -> None:
    assert "cp_exploration_" in memory(run, "phase", "--task=t", "--to=planning")
    assert memory(run, "phase", "--task=t", "--to=planning") == ""  # it is already there
    assert "cp_planning_" in memory(run, "phase", "--task=t", "--to=implementation")
    assert "- Phase: implementation\n" in Path(
        memory(run, "snapshot", "--summary=s").strip()
    ).read_text("utf-8")


def test_triggers_that_are_off_record_and_write_no_checkpoint(run: Script, repo: Path) -> None:
    off = "memory_phase_transition: false\nmemory_agent_completion: false\nmemory_spawn_agents: 9\n"
    Path("contextkit.yaml").write_text(off, encoding="utf-8")
    assert memory(run, "phase", "--task=t", "--to=review") == ""
    assert memory(run, "spawn", "--task=t", "--agents=8") == ""
    assert nothing_was_written()
    memory(run, "batch", "--task=t", "--draft=-", stdin=json.dumps(BATCH))
    assert names_in("checkpoints") == [] and len(names_in("findings")) == 3
    assert "cp_implementation_" in memory(run, "spawn", "--task=t", "--agents=9")


BATCH = {
    "phase": "implementation",
    "summary": "UI and backend are done",
    "next_action": "review",
    "findings": [
        {"agent": agent, "status": "completed", "summary": f"{agent} is done",
         "files": [{"path": f"{agent}.py", "description": "new"}]}
        for agent in ("ui", "backend", "docs")
    ],
}  # fmt: skip


def test_a_batch_is_a_finding_for_each_agent_and_one_checkpoint(run: Script, repo: Path) -> None:
    paths = memory(run, "batch", "--task=t", "--draft=-", stdin=json.dumps(BATCH)).split()
    assert len(paths) == 4 and len(names_in("findings")) == 3
    checkpoint = json.loads(Path(paths[-1]).read_text(encoding="utf-8"))
    assert checkpoint["state"]["findings_count"] == 3
    assert [file["path"] for file in checkpoint["files"]] == ["ui.py", "backend.py", "docs.py"]


def test_a_batch_with_one_bad_finding_writes_nothing(run: Script, repo: Path) -> None:
    bad = {
        **BATCH,
        "findings": [*BATCH["findings"], {"agent": "x", "status": "purple", "summary": "s"}],
    }
    assert run("external_memory", "batch", "--task=t", "--draft=-", stdin=json.dumps(bad)) == 2
    assert "findings 4: status=purple" in run.err and nothing_was_written()


def test_a_checkpoint_that_nobody_described_says_again_where_the_task_stood(
    run: Script, repo: Path
) -> None:
    memory(run, *CHECKPOINT, "--phase=exploration")
    said = {}
    for _ in range(3):
        path = memory(run, "spawn", "--task=t", "--agents=3").strip()
        said = json.loads(Path(path).read_text(encoding="utf-8"))
    before = dict(option[2:].split("=", 1) for option in CHECKPOINT if "=" in option)
    summary = before["summary"]
    assert said["context_summary"] == f"3 agents are about to start. Before that: {summary}"
    assert said["next_action"] == before["next-action"]
    path = memory(run, "phase", "--task=t", "--to=planning").strip()
    said = json.loads(Path(path).read_text(encoding="utf-8"))
    assert said["context_summary"].endswith(f"planning is next. Before that: {summary}")
    assert said["next_action"] == before["next-action"]
    path = memory(run, "phase", "--task=new", "--to=planning").strip()
    said = json.loads(Path(path).read_text(encoding="utf-8"))
    assert said["next_action"] == "Decide what comes next: no plan of new says it"
    memory(run, "plan", "--task=new", "--pending=screen")
    path = memory(run, "phase", "--task=new", "--to=review").strip()
    assert json.loads(Path(path).read_text(encoding="utf-8"))["next_action"] == "screen"


# Archive and clean


def test_archive_moves_all_of_a_task_and_nothing_else(run: Script, repo: Path) -> None:
    for task in ("t", "other"):
        memory(run, "plan", f"--task={task}")
        memory(run, "finding", f"--task={task}", "--agent=a", "--status=failed", "--summary=s")
        memory(run, "phase", f"--task={task}", "--to=review")
        memory(run, "snapshot", f"--task={task}", "--summary=s")
    moved = memory(run, "archive", "--task=t").split()
    assert len(moved) == 4 and all(path.startswith(".temp/memory/archive/t/") for path in moved)
    assert all(Path(path).is_file() for path in moved)
    left = json.loads(memory(run, "list", "--json"))
    assert {row["task"] for row in left} == {"other"} and len(left) == 4
    assert memory(run, "archive", "--task=t") == ""
    assert json.loads(memory(run, "list", "--task=t", "--json")) == []


def test_stale_checkpoints_go_and_the_last_of_an_open_task_is_kept(
    run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory(run, *CHECKPOINT, "--phase=exploration")
    memory(run, *CHECKPOINT, "--phase=planning")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:04:00Z")  # 23:59 later
    assert memory(run, "clean") == "" and len(names_in("checkpoints")) == 2
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:06:00Z")  # 24:01 later
    said = memory(run, "clean", "--dry-run")
    assert len(said.splitlines()) == 2 and len(names_in("checkpoints")) == 2
    assert memory(run, "clean") == said
    assert names_in("checkpoints") == []
    assert names_in("archive/t/checkpoints") == ["cp_planning_20251023T180500.json"]


def test_an_unreadable_checkpoint_is_named_and_left(
    run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(memory(run, *CHECKPOINT, "--phase=review").strip())
    path.write_text("{", encoding="utf-8")
    monkeypatch.setenv("CONTEXT_NOW", "2025-12-01T00:00:00Z")
    assert memory(run, "clean") == "" and path.is_file()
    assert path.name in run.err


# The current task


def test_without_a_task_the_one_written_about_last_is_meant(run: Script, repo: Path) -> None:
    memory(run, "plan", "--task=one")
    memory(run, "plan", "--task=two")
    memory(run, *FINDING, "--agent=a")
    assert "**Task ID**: t\n" in Path(memory(run, "snapshot", "--summary=s").strip()).read_text(
        "utf-8"
    )


# Documents that cannot be written


def test_what_cannot_be_written_is_printed(
    run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.base import files

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    memory(run, "plan", "--task=old", "--objective=Ship", "--pending=one", "--questions=Why?")
    monkeypatch.setattr(files, "_draft", full)
    assert run("external_memory", "plan", "--task=old", "--pending=two") == 1
    assert all(there in run.out for there in ("Ship", "- Pending: one, two\n", "[ ] Why?"))
    for call in (
        (*FINDING, "--agent=a"),
        (*CHECKPOINT, "--phase=review"),
        ("plan", "--task=t", "--objective=keep me"),
        ("snapshot", "--summary=keep me"),
    ):
        assert run("external_memory", *call) == 1
        assert "No space left" in run.err
        assert any(text in run.out for text in ("keep me", "It works.", "half"))


def test_a_pipe_in_the_place_of_a_plan_is_not_waited_for(run: Script, repo: Path) -> None:
    memory(run, "init")
    os.mkfifo(STORE / "research_plans" / "t.md")
    assert run("external_memory", "plan", "--task=t", "--objective=keep me") == 1
    assert "keep me" in run.out and "t.md: is not a plain file" in run.err
    memory(run, *CHECKPOINT, "--phase=review")


def test_a_store_that_is_deleted_is_made_again(run: Script, repo: Path) -> None:
    import shutil

    memory(run, "plan", "--task=t")
    shutil.rmtree(STORE)
    assert Path(memory(run, *FINDING, "--agent=a").strip()).is_file()


@pytest.mark.parametrize("what", ["store", "folder"])
def test_a_store_that_is_a_link_is_refused(
    run: Script, repo: Path, tmp_path: Path, what: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = STORE if what == "store" else STORE / "findings"
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    assert run("external_memory", *FINDING, "--agent=a") == 1
    assert "It works." in run.out and not list(elsewhere.iterdir())


def test_through_make_what_is_typed_arrives(repo: Path) -> None:
    done = make("-s", "-f", str(CHECKOUT / "Makefile"), "memory_finding", "agent=a", "task=t",
                "status=failed", "summary=$(shell touch pwned) `id` \"x\"", cwd=repo)  # fmt: skip
    path = Path(done.stdout.strip())
    assert findings.load(str(path)).summary == '$(shell touch pwned) `id` "x"'
    assert not Path("pwned").exists() and git("status", "--porcelain") == ""
