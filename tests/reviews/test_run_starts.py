"""start.py: what a start makes, and what it leaves alone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Script, each, git
from contextkit.base import tokens
from contextkit.base.errors import ContextError, remarks
from contextkit.base.layout import Layout
from contextkit.reviews.documents import contracts, runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import start as starting
from signing import signed

CLEAN = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n"
NOW_SECONDS = 1_761_242_700


@pytest.fixture
def branch(repo: Path) -> Path:
    """A branch with a commit, an edit and an untracked file since main."""
    Path("a.py").write_text("one\n" * 30, encoding="utf-8")
    git("add", "a.py")
    git("commit", "-qm", "a file")
    git("branch", "main")
    Path("a.py").write_text("two\n" * 30, encoding="utf-8")
    Path("new.py").write_text("new\n", encoding="utf-8")
    return repo


def start(process: str = "review", later: int = 0, **asked: Any) -> Run:
    return starting.start(Layout(), NOW_SECONDS + later, process, **asked)


def output(run: Run, at: int = 0) -> Path:
    """Where an agent of the run writes."""
    return Path(runs.output_path(Layout(), run, run.roster[at]))


def deliver(run: Run, text: str = CLEAN) -> None:
    """Every agent leaves its file."""
    for at in range(len(run.roster)):
        output(run, at).write_text(text, encoding="utf-8")


def test_a_start_makes_folder_roster_input_prompts_and_run(branch: Path) -> None:
    run = start("review", agents=("fd-safety", "interflux:review:fd-x"))
    folder = Path(".clavain/reviews/current")
    assert run.output_dir == str(folder) and runs.load(Layout(), run.id) == run
    diff = (folder / "input/changes.diff").read_text(encoding="utf-8")
    assert diff.count("diff --git") == 2 and "+new" in diff
    listed = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (listed["run"], listed["output_dir"]) == (run.id, str(folder))
    assert [one["agent"] for one in listed["agents"]] == ["fd-safety", "interflux:review:fd-x"]
    for one in listed["agents"]:
        prompt = Path(one["prompt"]).read_text(encoding="utf-8")
        assert os.path.abspath(one["path"]) in prompt and run.id in prompt
        assert os.path.abspath(run.input) in prompt
    assert (folder / "prompts/interflux%3Areview%3Afd-x.md").exists()
    assert (
        git("status", "--porcelain") == " M a.py\n?? new.py\n" and not Path(".gitignore").exists()
    )


def test_the_run_knows_what_is_reviewed(branch: Path) -> None:
    run = start("quality-gates")
    assert run.head == git("rev-parse", "HEAD").strip() and run.base == run.head
    assert runs.revision_now(Layout(), run) == run.revision
    Path(run.output_dir, "fd-safety.md").write_text(CLEAN, encoding="utf-8")
    git("add", "--all")
    git("commit", "-qm", "as reviewed")
    assert runs.revision_now(Layout(), run) == run.revision
    Path("a.py").write_text("three\n", encoding="utf-8")
    assert runs.revision_now(Layout(), run) != run.revision


def test_a_document_is_reviewed_as_it_is_now(branch: Path) -> None:
    Path("sub").mkdir()
    Path("sub/plan.md").write_text("# A plan\n", encoding="utf-8")
    run = start("flux-drive", target="sub/plan.md")
    assert run.output_dir.startswith("docs/research/flux-drive/plan-")
    assert (run.source, run.input) == ("sub/plan.md", f"{run.output_dir}/input/plan.md")
    assert Path(run.input).read_text(encoding="utf-8") == "# A plan\n" and run.base == ""
    assert runs.revision_now(Layout(), run) == run.revision
    Path("sub/plan.md").write_text("# Another\n", encoding="utf-8")
    assert runs.revision_now(Layout(), run) != run.revision


def test_without_a_document_flux_drive_takes_the_diff(branch: Path) -> None:
    run = start("flux-drive")
    assert run.input.endswith("changes.diff") and run.revision.startswith("tree:")


def test_research_has_a_question_and_needs_no_git(sealed: Path) -> None:
    run = start("flux-research", target="How is $(it) cached?")
    assert run.output_dir.startswith("docs/research/flux-research/how-is-it-cached-")
    assert Path(run.input).read_text(encoding="utf-8") == "How is $(it) cached?\n"
    assert (run.mode, run.timeout, run.timeouts["deep"]) == ("research", 120, 300)
    assert runs.revision_now(Layout(), run) == run.revision
    assert start("brainstorm", target="caching").roster == ("repo-research-analyst",)


def test_a_small_change_takes_the_same_way_with_one_reviewer(branch: Path) -> None:
    git("checkout", "-q", "a.py")
    started = start("quality-gates")
    assert started.small and started.roster == ("fd-quality",)
    assert "a small change" in "".join(remarks)
    assert Path(runs.prompt_path(started, "fd-quality")).exists()
    Path("other.py").write_text("a second file\n", encoding="utf-8")
    deliver(started)
    assert not start("quality-gates").small
    asked = start("review", agents=("fd-safety",))
    assert asked.roster == ("fd-safety",) and not asked.small


def test_every_process_keeps_its_contract_within_the_limit(branch: Path) -> None:
    for process in ("flux-drive", "flux-research", "quality-gates", "review", "brainstorm"):
        run = start(process, target="" if process == "flux-drive" else "caching")
        for agent in run.roster:
            text = contracts.of_run(Layout(), run, agent)
            assert tokens.cautious(text) <= 350 and run.id in text


# Folders


def test_a_branch_name_becomes_a_safe_folder_and_stays_known(branch: Path) -> None:
    run = start("review", target="feature/a b")
    above, name = os.path.split(run.output_dir)
    assert above == ".clavain/reviews" and name.startswith("feature-a-b-")
    assert run.target == "feature/a b"
    others = [start("review", target=other) for other in ("feature-a-b", "feature/a-b", "FEATURE")]
    assert len({other.output_dir for other in (run, *others)}) == 4


def test_the_same_plan_again_gets_the_same_folder_without_stale_files(branch: Path) -> None:
    first = start(agents=("a", "b"))
    deliver(first)
    folder = Path(first.output_dir)
    for name in ("old.md.partial", "x.md.aborted-1", "synthesis.md", "findings.json", "mine.txt"):
        (folder / name).write_text("old", encoding="utf-8")
    second = start(later=60, agents=("a",))
    assert second.output_dir == first.output_dir and second.id != first.id
    assert sorted(os.listdir(folder)) == [
        ".gitignore", "earlier", "input", "mine.txt", "prompts", "run.json",
    ]  # fmt: skip
    assert os.listdir(folder / "prompts") == ["a.md"]
    kept = folder / "earlier" / first.id
    assert {"a.md", "b.md", "input", "old.md.partial", "synthesis.md"} <= set(os.listdir(kept))
    again = runs.load(Layout(), first.id)
    assert again.output_dir == str(kept) and Path(again.input).exists()


def test_a_run_that_is_going_on_is_left_alone(branch: Path) -> None:
    first = start(agents=("a", "b"))
    output(first).write_text(CLEAN, encoding="utf-8")
    Path(f"{output(first, 1)}.partial").write_text("half", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in Path(first.output_dir).rglob("*")}
    second = start(agents=("a", "b"))
    assert second.output_dir == first.output_dir + "-2"
    assert f"the run {first.id} is going on in .clavain/reviews/current" in "".join(remarks)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    third = start(later=7201, agents=("a",))
    assert third.output_dir == first.output_dir  # nobody works for two hours


def test_a_restart_ends_the_run_of_this_target_and_takes_its_folder(branch: Path) -> None:
    first = start(agents=("a", "b"))
    output(first).write_text(CLEAN, encoding="utf-8")
    other, of_another_process = start(target="other"), start("quality-gates")
    second = start(agents=("a", "b"), restart=True)
    assert second.output_dir == first.output_dir
    assert f"ended the run {first.id}" in "".join(remarks)
    ended = runs.load(Layout(), first.id)
    assert ended.finished_at and Path(ended.output_dir, "a.md").exists()
    assert not output(second).exists()
    for still in (other, of_another_process):
        assert runs.load(Layout(), still.id) == still


def test_a_restart_that_cannot_be_made_ends_nothing(branch: Path) -> None:
    first = start(agents=("a",))
    with pytest.raises(ContextError, match="no commit"):
        start(base="nowhere", restart=True)
    assert runs.load(Layout(), first.id) == first


def test_a_run_with_the_file_of_another_is_not_over(branch: Path) -> None:
    first = start(agents=("a",))
    deliver(first, "<!-- run-uuid: another -->\n" + CLEAN)
    assert not starting.is_over(Layout(), first, NOW_SECONDS)
    deliver(first)
    assert starting.is_over(Layout(), first, NOW_SECONDS)


def test_files_of_no_run_are_set_aside_and_those_that_git_tracks_stay(branch: Path) -> None:
    folder = Path(".clavain/quality-gates")
    folder.mkdir(parents=True)
    (folder / "old.md").write_text("of the old engine", encoding="utf-8")
    first = start("quality-gates", agents=("a",))
    (kept,) = (folder / "earlier").iterdir()
    assert os.listdir(kept) == ["old.md"] and kept.name == f"before-{first.id}"
    tracked = Path(".clavain/reviews/current/old.md")
    tracked.parent.mkdir(parents=True)
    tracked.write_text("committed", encoding="utf-8")
    git("add", "--force", str(tracked))
    second = start("review")
    assert second.output_dir == ".clavain/reviews/current-2" and tracked.exists()
    assert "files that git tracks" in "".join(remarks)


def passes(run: Run, but: str = "", text: str = "") -> None:
    """Every agent of the run leaves a file that keeps its contract; `but` leaves `text`."""
    for at, agent in enumerate(run.roster):
        written = text if agent == but else CLEAN
        output(run, at).write_text(signed(written, run.id, run.files, agent), encoding="utf-8")


def table(run: Script) -> list[list[str]]:
    """Status, agent and summary of each verdict in the flat folder."""
    run("verdict", "table")
    return [line.split("\t") for line in run.out.splitlines()]


def test_verdicts_of_runs_that_are_over_leave_the_flat_folder(branch: Path, run: Script) -> None:
    first = start("review", agents=("a", "b"))
    passes(first)
    assert run("verdict", "ingest", f"--run={first.id}") == 0
    run("verdict", "write", "--agent=byhand", "--status=CLEAN", "--summary=no run")
    live = start("quality-gates", agents=("c",))
    flat = Path(".clavain/verdicts")
    assert sorted(path.name for path in flat.glob("*.json")) == ["byhand.json"]
    second = start("review", agents=("a",))
    store = runs.verdict_folder(Layout(), first.id)
    entries = verdicts.load_all(Layout(), store).documents
    assert [entry["agent"] for entry in entries] == ["a", "b"]
    for entry in entries:
        assert first.id in Path(entry["detail_path"]).read_text(encoding="utf-8")
    assert second.id != live.id
    assert (
        run("verdict", "show", "a", f"--run={first.id}") in (0, 1)
        and "there any more" not in run.err
    )


def test_of_a_run_that_is_over_and_not_settled_the_next_start_says_so(
    branch: Path, run: Script
) -> None:
    first = start("review", agents=("a", "b"))
    passes(first, "a", '### Findings Index\n- P0 | P0-1 | "A" | It is wrong\nVerdict: risky\n')
    assert run("verdict", "ingest", f"--run={first.id}") == 0
    said = f"run {first.id} left something to look at: make verdict_gate run={first.id}"
    assert run("verdict", "start", "--process=review", "--agents=c") == 0
    assert said in run.err and table(run) == []
    assert run("verdict", "table", f"--run={first.id}") == 0 and "1 P0: It is wrong" in run.out


def test_verdicts_of_a_run_that_is_going_on_stay_current(branch: Path, run: Script) -> None:
    first = start("review", agents=("a", "b"))
    output(first).write_text(CLEAN, encoding="utf-8")
    run("verdict", "ingest", f"--run={first.id}")
    start("quality-gates", agents=("c",))
    run("verdict", "table")
    assert [line.split("\t")[1] for line in run.out.splitlines()] == ["a", "b"]


# Refusals


@each(
    ("asked", "complaint"),
    [
        ({"process": "reviews"}, "did you mean 'review'"),
        ({"agents": ("../x",)}, "cannot be the name"),
        ({"agents": ("a/b",)}, "cannot be the name"),
        ({"agents": ("synthesis",)}, "that contextkit writes"),
        ({"agents": ("Fd", "fd")}, "would share a file"),
        ({"agents": ("none",)}, "none given"),
        ({"base": "nowhere"}, "no commit 'nowhere'"),
        ({"process": "flux-drive", "target": "nothing.md"}, "is not a file"),
        ({"process": "flux-drive", "target": "../outside.md"}, "lies outside"),
        ({"process": "flux-research"}, "write the question"),
    ],
)
def test_bad_input_writes_nothing(branch: Path, asked: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ContextError, match=complaint) as refusal:
        start(**{"process": "review", **asked})
    assert refusal.value.status == 2
    assert not Path(".clavain").exists() and not Path("docs").exists()
    assert not Path(".contextkit/runs").exists()


def test_nothing_to_review_touches_no_earlier_run(branch: Path) -> None:
    first = start("review", agents=("a",))
    deliver(first)
    git("add", "--all")
    git("commit", "-qm", "all")
    git("branch", "-f", "main")
    with pytest.raises(ContextError, match="nothing differs") as refusal:
        start("review", agents=("a",))
    assert refusal.value.status == 1 and output(first).exists()


def test_outside_of_git_a_diff_is_refused(sealed: Path) -> None:
    with pytest.raises(ContextError, match="not in a git repository"):
        start("review")


def test_an_output_folder_behind_a_link_is_refused(branch: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(".clavain").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ContextError, match="lies outside"):
        start("review")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_label_that_is_another_branch_is_said(branch: Path) -> None:
    start("review", target=git("branch", "--show-current").strip())
    assert "is not checked out" not in "".join(remarks)
    start("review", target="main")
    assert "is not checked out" in "".join(remarks)


def test_the_clock_of_a_start_is_the_commands(branch: Path, run: Script) -> None:
    assert run("verdict", "start", "--process=review", "--json") == 0
    found = json.loads(run.out)
    assert runs.load(Layout(), found["run"]).started_at == NOW
