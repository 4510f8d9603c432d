"""gate.py: PASS only where every agent that was asked says so in a file that counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from conftest import Script, git
from contextkit.base import changes, files, ledger, names
from contextkit.base.layout import Layout
from contextkit.reviews.documents import dismissals, runs
from contextkit.reviews.documents.runs import Run
from growth import hops
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signing import signed

CLEAN = "### Findings Index\nVerdict: safe\n\n### Summary\nNothing.\n"
SMALL = '### Findings Index\n- P3 | P3-1 | "One" | A word\nVerdict: safe\n\n### Summary\nA word.\n'
SEVERE = (
    '### Findings Index\n- P1 | P1-1 | "One" | It blocks\nVerdict: needs-changes\n'
    "\n### Summary\nIt blocks.\n\n### Issues Found\n#### P1-1. It blocks\n`src/app.py:42` waits.\n"
)
RESEARCH = (
    "### Sources\n- a page\n\n### Findings\n#### One\nIt is so.\n\n### Confidence\nhigh\n\n"
    "### Gaps\nnone\n"
)
ROSTER = ("fd-a", "fd-b")


@pytest.fixture
def out(repo: Path) -> Path:
    """The output folder of a run over the work tree, with two agents who found nothing."""
    (repo / "app.py").write_text("print(1)\n", encoding="utf-8")
    folder = repo / "out"
    folder.mkdir()
    for agent in ROSTER:
        (folder / f"{agent}.md").write_text(CLEAN, encoding="utf-8")
    return folder


def a_run(out: Path, roster: tuple[str, ...] = ROSTER, **values: object) -> str:
    """Start a run, as `verdict_start` does, over the work tree as it is now."""
    layout = Layout()
    made = Run(
        id="r-1", process="quality-gates", mode="review", output_dir="out", roster=roster,
        started_at=names.iso(names.now()),
    )  # fmt: skip
    made = made.replace(**values)
    if not made.revision:
        with changes.work_tree(layout, (layout.join("out"),)) as tree:
            made = made.replace(revision=tree.revision())
    runs.save(layout, made)
    return made.id


def gate(run: Script, *how: str) -> tuple[str, list[list[str]]]:
    """The first word, and (reason, agent) of each line."""
    status = run("verdict", "gate", *(how or ("--run=r-1",)))
    first, *lines = run.out.splitlines()
    word = first.split()[0]
    assert status == {"PASS": 0, "FAIL": 1}[word]
    rows = [line for line in lines if not line.startswith("next: ")]
    return word, [line.split("\t")[:2] for line in rows]


def ingest(run: Script) -> None:
    assert run("verdict", "ingest", "--run=r-1") == 0


# The modules that take a text apart: how often they call each other grows with it.
_READING = (
    *("/text/blocks", "/text/objects", "/base/expressions"),
    *(f"/documents/{name}"
      for name in ("agent_review", "denials", "headers", "heads", "index", "normal", "phrases",
                   "places", "proof", "reader", "sections", "shapes", "sight", "tables",
                   "vocabulary")),
)  # fmt: skip


def test_from_a_review_to_its_gate_few_modules_call_each_other(out: Path, run: Script) -> None:
    a_run(out, ("fd-a",))
    (out / "fd-b.md").unlink()
    assert 0 < hops(lambda: ingest(run), _READING) <= 400
    assert 0 < hops(lambda: gate(run), _READING) <= 300
    assert gate(run) == ("PASS", [])


def test_a_run_of_clean_agents_passes(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    assert gate(run) == ("PASS", [])
    assert run.out == "PASS 2 of 2 agents; what was reviewed is unchanged\n"
    assert runs.load(Layout(), "r-1").finished_at


def _a_copy(theirs: Path, path: Path) -> None:
    path.write_bytes(theirs.read_bytes())


def _a_copy_with_blank_lines(theirs: Path, path: Path) -> None:
    path.write_bytes(b"\n" + theirs.read_bytes() + b"\n\n")


def _a_copy_with_other_blanks(theirs: Path, path: Path) -> None:
    path.write_bytes(theirs.read_bytes().replace(b"Nothing.", b"Nothing. ").replace(b"\n\n", b"\n"))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (_a_copy, "copied"),
        (_a_copy_with_blank_lines, "copied"),
        (_a_copy_with_other_blanks, "copied"),
        (os.link, "copied"),
        (os.symlink, "foreign"),
    ],
)
def test_the_file_of_another_agent_is_no_review(
    out: Path, run: Script, made: Callable[[Path, Path], None], reason: str
) -> None:
    for agent in ROSTER:
        text = signed(CLEAN, "r-1", by=agent)
        (out / f"{agent}.md").write_text(text, encoding="utf-8")
    a_run(out, asks=True)
    ingest(run)
    assert gate(run) == ("PASS", [])  # each has its own words
    (out / "fd-b.md").unlink()
    made(out / "fd-a.md", out / "fd-b.md")
    ingest(run)
    word, reasons = gate(run)
    assert (word, [reason, "fd-b"] in reasons) == ("FAIL", True), reasons


def test_a_gate_reads_its_run_and_the_dismissals_once_whatever_the_number_of_agents(
    out: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster = (*ROSTER, *(f"fd-{number}" for number in range(9)))
    for agent in roster:
        (out / f"{agent}.md").write_text(SMALL, encoding="utf-8")
    a_run(out, roster, finished_at=names.iso(names.now()))
    ingest(run)
    parse, load = Mock(wraps=runs.parse), Mock(wraps=dismissals.load)
    monkeypatch.setattr(runs, "parse", parse)
    monkeypatch.setattr(dismissals, "load", load)
    assert gate(run) == ("PASS", [])
    assert (parse.call_count, load.call_count) == (1, 1)


def test_the_ledger_says_which_verdicts_a_gate_used(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    gate(run)
    events = ledger.read(Layout())
    used = {one["ref"]: one.get("agent") for one in events if one["event"] == ledger.CONSUMED}
    assert used == {"run:r-1": None, **{f"verdict:runs/r-1/{one}": one for one in ROSTER}}


def test_without_an_ingest_nothing_passes(out: Path, run: Script) -> None:
    a_run(out)
    assert gate(run) == ("FAIL", [["not_ingested", "fd-a"], ["not_ingested", "fd-b"]])
    assert run.out.startswith("FAIL 2 reasons\n")
    assert not runs.load(Layout(), "r-1").finished_at


def test_a_gate_ends_the_run_when_a_wait_has_given_up_whoever_is_missing(
    out: Path, run: Script
) -> None:
    (out / "fd-b.md").unlink()
    a_run(out, missed=("fd-a",))  # by then fd-a had come
    ingest(run)
    assert gate(run)[0] == "FAIL" and not runs.load(Layout(), "r-1").finished_at
    runs.change(Layout(), "r-1", missed=("fd-b",))
    assert gate(run) == ("FAIL", [["missing", "fd-b"]])
    assert runs.load(Layout(), "r-1").finished_at


def test_a_run_that_asked_nobody_fails(out: Path, run: Script) -> None:
    a_run(out, roster=())
    run("verdict", "ingest", "--run=r-1")
    word, lines = gate(run)
    assert word == "FAIL" and ["empty", "-"] in lines


DOUBTFUL = {
    "missing": None,
    "severe": SEVERE,
    "malformed": "I looked at everything, it is fine.\n",
    "error": "### Findings Index\nVerdict: error\n",
    "foreign": "<!-- run-uuid: other -->\n" + CLEAN,
    "unparsed": CLEAN.replace("Verdict", "- P9?? | x\nVerdict"),
    "contradictory": CLEAN.replace("safe", "risky"),
    "attention": SMALL.replace("safe", "to be discussed"),
}


@pytest.mark.parametrize("reason", DOUBTFUL)
def test_each_doubt_fails_with_its_reason(out: Path, run: Script, reason: str) -> None:
    text = DOUBTFUL[reason]
    if text is None:
        (out / "fd-b.md").unlink()
    else:
        (out / "fd-b.md").write_text(text, encoding="utf-8")
    a_run(out)
    ingest(run)
    word, lines = gate(run)
    assert word == "FAIL" and lines[0] == [reason, "fd-b"]
    assert all(agent == "fd-b" for _, agent in lines)


def test_a_file_that_is_empty_or_unfinished_fails(out: Path, run: Script) -> None:
    (out / "fd-a.md").write_text("", encoding="utf-8")
    (out / "fd-b.md").rename(out / "fd-b.md.partial")
    a_run(out)
    ingest(run)
    assert gate(run) == ("FAIL", [["missing", "fd-a"], ["late", "fd-b"]])


def test_a_file_that_came_after_the_wait_fails(out: Path, run: Script) -> None:
    a_run(out, missed=("fd-b",))
    ingest(run)
    assert gate(run) == ("FAIL", [["late", "fd-b"]])


WORK = "TYPE: implementation\nSTATUS: COMPLETE\nMODEL: x\nSUMMARY: all done\n"


@pytest.mark.parametrize(
    ("name", "text", "unread"),
    [
        ("fd-b.md", DOUBTFUL["foreign"], 1),
        ("fd-b.md.partial", SEVERE, 1),
        ("fd-b.md", DOUBTFUL["malformed"], 1),
        ("fd-b.md", WORK, 0),
        ("fd-b.md", CLEAN, 0),
    ],
    ids=["foreign", "unfinished", "prose", "work", "clean"],
)
def test_every_command_says_the_same_of_what_was_read(
    out: Path, run: Script, name: str, text: str, unread: int
) -> None:
    (out / "fd-b.md").unlink()
    (out / name).write_text(text, encoding="utf-8")
    a_run(out)
    said = f"2 files, {2 - unread} read, {unread} not"
    for command in ("show", "stats", "synthesize"):
        run("verdict", command, "--run=r-1")
        assert said in run.out
    run("verdict", "ingest", "--run=r-1", "--json")
    assert json.loads(run.out)["unread"] == unread


def test_a_file_of_somebody_else_is_listed_not_ingested_and_fails(out: Path, run: Script) -> None:
    (out / "fd-guest.md").write_text(CLEAN, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert run.out.splitlines()[-2].startswith("ERROR\tfd-guest\tforeign")
    assert run.out.splitlines()[-1] == "2/2 valid, 1 foreign"
    assert not Path(".clavain/verdicts/fd-guest.json").exists()
    assert gate(run) == ("FAIL", [["foreign", "fd-guest"]])


def test_a_foreign_file_takes_the_place_of_no_earlier_verdict(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    (out / "fd-b.md").write_text(DOUBTFUL["foreign"] or "", encoding="utf-8")
    ingest(run)
    run("verdict", "table", "--run=r-1")
    assert run.out.splitlines()[1].startswith("ERROR\tfd-b\tforeign")


def test_a_file_that_names_this_run_counts(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text("<!-- run-uuid: r-1 -->\n" + CLEAN, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert gate(run)[0] == "PASS"


def test_a_file_that_went_after_the_ingest_is_missing(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    (out / "fd-b.md").unlink()
    assert gate(run) == ("FAIL", [["missing", "fd-b"]])


def test_a_verdict_that_somebody_edited_contradicts_its_file(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    kept = Path(".clavain/verdicts/runs/r-1/fd-b.json")
    text = kept.read_text("utf-8")
    for other in ("BLOCKED", "NEEDS_ATTENTION"):
        kept.write_text(text.replace("CLEAN", other), encoding="utf-8")
        assert gate(run) == ("FAIL", [["contradictory", "fd-b"]])


def test_a_file_that_changed_after_the_ingest_fails(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    (out / "fd-b.md").write_text(SMALL, encoding="utf-8")
    assert gate(run) == ("FAIL", [["changed", "fd-b"]])
    ingest(run)
    assert gate(run)[0] == "PASS"


def test_a_check_of_a_file_of_a_run_asks_what_its_gate_asks(out: Path, run: Script) -> None:
    a_run(out, asks=True)
    (out / "fd-a.md").write_text(signed(CLEAN, "r-1", by="fd-a"), encoding="utf-8")
    assert run("verdict", "check", "--file=out/fd-a.md") == 0, run.out
    (out / "fd-a.md").write_text(signed(CLEAN, "", by="fd-a"), encoding="utf-8")
    ingest(run)
    assert ["malformed", "fd-a"] in gate(run)[1]
    assert run("verdict", "check", "--file=out/fd-a.md") == 1
    assert run.out == (
        "1: the file does not name its run: its contract begins with that line\n"
        "    write: <!-- run-uuid: r-1 -->\n"
    )
    (out / "fd-a.md").rename(out / "fd-a.md.partial")  # before it is handed in
    assert run("verdict", "check", "--file=out/fd-a.md.partial") == 1
    (out / "notes.md").write_text(CLEAN, encoding="utf-8")
    assert run("verdict", "check", "--file=out/notes.md") == 0  # nobody was asked for it


def test_what_the_agents_were_given_must_be_what_it_was(out: Path, run: Script) -> None:
    given = out / "input" / "changes.diff"
    given.parent.mkdir()
    given.write_text("-old\n+new\n", encoding="utf-8")
    digest = names.sha256(given.read_bytes())
    a_run(out, input="out/input/changes.diff", input_sha256=digest)
    ingest(run)
    assert gate(run) == ("PASS", [])
    given.write_text("+harmless\n", encoding="utf-8")
    assert gate(run) == ("FAIL", [["stale", "-"]])
    assert "out/input/changes.diff is not what the agents were given" in run.out
    given.unlink()
    assert gate(run) == ("FAIL", [["stale", "-"]])


def test_an_edit_after_the_review_makes_it_stale_and_a_commit_does_not(
    out: Path, run: Script
) -> None:
    a_run(out)
    ingest(run)
    git("add", "app.py")
    git("commit", "-qm", "as it was reviewed")
    assert gate(run)[0] == "PASS"
    Path("app.py").write_text("print(2)\n", encoding="utf-8")
    assert gate(run) == ("FAIL", [["stale", "-"]])


def test_of_many_edited_files_five_are_named_and_the_rest_counted(out: Path, run: Script) -> None:
    base = git("rev-parse", "HEAD").strip()
    a_run(out, base=base)
    layout = Layout()
    with changes.work_tree(layout, (layout.join("out"),)) as tree:
        files.write(runs.path(layout, "r-1", ".listing"), tree.listing(base))
    ingest(run)
    named = "a, b, c, d, e"
    for many, said in (
        (2, "a, b"),
        (5, named),
        (6, f"{named} and 1 more"),
        (11, f"{named} and 6 more"),
    ):
        for name in "abcdefghijk"[:many]:
            Path(name).write_text("new", encoding="utf-8")
        gate(run)
        first, reason, *_ = run.out.splitlines()
        assert (first, reason) == (
            "FAIL 1 reason",
            f"stale\t-\tedited since it was reviewed: {said}",
        )


def test_where_it_is_unknown_which_files_were_edited_that_is_said(out: Path, run: Script) -> None:
    a_run(out, base="1" * 40)
    files.write(runs.path(Layout(), "r-1", ".listing"), b"")
    ingest(run)
    Path("app.py").write_text("new", encoding="utf-8")
    assert gate(run) == ("FAIL", [["stale", "-"]])
    assert "\tthe work tree is no longer what was reviewed\n" in run.out


def test_a_reason_has_at_most_160_characters(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text(SEVERE.replace("It blocks", "x" * 300), encoding="utf-8")
    a_run(out)
    ingest(run)
    gate(run)
    assert max(map(len, run.out.splitlines())) == 160


def test_where_git_cannot_compare_the_review_is_stale(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    Path(".git/HEAD").write_text("broken", encoding="utf-8")
    word, lines = gate(run)
    assert word == "FAIL" and ["stale", "-"] in lines
    assert "what was reviewed cannot be compared: " in run.out


def test_a_malformed_file_that_changed_after_the_ingest_says_both(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text("All is fine.\n", encoding="utf-8")
    a_run(out)
    ingest(run)
    (out / "fd-b.md").write_text("All is really fine.\n", encoding="utf-8")
    assert gate(run) == ("FAIL", [["malformed", "fd-b"], ["changed", "fd-b"]])


def test_a_document_that_was_edited_or_removed_is_stale(out: Path, run: Script) -> None:
    plan = Path("plan.md")
    plan.write_text("# Plan\n", encoding="utf-8")
    a_run(out, source="plan.md", revision=changes.data_revision(Path("plan.md").read_bytes()))
    ingest(run)
    assert gate(run)[0] == "PASS"
    plan.write_text("# Other plan\n", encoding="utf-8")
    assert gate(run) == ("FAIL", [["stale", "-"]])
    plan.unlink()
    assert gate(run) == ("FAIL", [["stale", "-"]])


def test_research_passes_when_every_agent_is_complete_or_partial(out: Path, run: Script) -> None:
    (out / "fd-a.md").write_text(RESEARCH, encoding="utf-8")
    (out / "fd-b.md").write_text(RESEARCH.replace("high", "low"), encoding="utf-8")
    a_run(out, mode="research")
    ingest(run)
    run("verdict", "count", "--run=r-1")
    assert run.out == "1 COMPLETE, 1 PARTIAL\n"
    assert gate(run)[0] == "PASS"
    (out / "fd-b.md").write_text(CLEAN, encoding="utf-8")  # a review answers no question
    ingest(run)
    assert gate(run)[0] == "FAIL"


def test_a_report_on_work_passes_no_review(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text(WORK, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert gate(run) == ("FAIL", [["malformed", "fd-b"]])


def test_forty_reasons_are_printed_and_the_rest_counted(out: Path, run: Script) -> None:
    a_run(out, roster=tuple(f"a{number:02}" for number in range(20)))
    for path in out.iterdir():
        path.unlink()
    run("verdict", "gate", "--run=r-1")  # every agent is missing, and not ingested
    assert run.out.startswith("FAIL 40 reasons\n") and len(run.out.splitlines()) == 44
    assert "more" not in run.out
    a_run(out, roster=tuple(f"a{number:02}" for number in range(43)))
    run("verdict", "gate", "--run=r-1", "--json")
    every = json.loads(run.out)["reasons"]
    run("verdict", "gate", "--run=r-1")
    rows = [line for line in run.out.splitlines() if not line.startswith("next: ")]
    first, *reasons, last = rows
    assert first == f"FAIL {len(every)} reasons" and len(every) > 43
    assert len(reasons) == 40 and last.startswith(f"… {len(every) - 40} more")


def test_a_process_may_block_more_than_p0_and_p1_but_not_less(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text(SMALL, encoding="utf-8")
    a_run(out, blocks=("P3",))
    ingest(run)
    assert gate(run) == ("FAIL", [["severe", "fd-b"]])
    (out / "fd-b.md").write_text(SEVERE, encoding="utf-8")
    a_run(out, blocks=())
    ingest(run)
    assert gate(run) == ("FAIL", [["severe", "fd-b"]])


@pytest.mark.parametrize(("blocks", "passes"), [((), True), (("P3",), True), (("PARTIAL",), False)])
def test_a_process_may_block_research_that_is_partial(
    blocks: tuple[str, ...], passes: bool, out: Path, run: Script
) -> None:
    (out / "fd-a.md").write_text(RESEARCH, encoding="utf-8")
    (out / "fd-b.md").write_text(RESEARCH.replace("high", "low"), encoding="utf-8")
    a_run(out, mode="research", blocks=blocks)
    ingest(run)
    assert gate(run) == (("PASS", []) if passes else ("FAIL", [["attention", "fd-b"]]))


def test_two_runs_with_one_agent_do_not_touch_each_other(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    other = out.parent / "other"
    other.mkdir()
    (other / "fd-a.md").write_text(SEVERE, encoding="utf-8")
    a_run(out, id="r-2", output_dir="other", roster=("fd-a",))
    assert run("verdict", "ingest", "--run=r-2") == 0
    assert gate(run)[0] == "FAIL"  # for `other` was not part of what the first one left out
    assert [reason for reason, _ in gate(run)[1]] == ["stale"]
    run("verdict", "table")
    assert run.out.startswith("NEEDS_ATTENTION\tfd-a\t")  # the flat folder shows the last ingest
    run("verdict", "table", "--run=r-1")
    assert run.out.startswith("CLEAN\tfd-a\t")


def test_a_folder_without_a_run_is_judged_and_its_revision_unknown(out: Path, run: Script) -> None:
    assert gate(run, "--dir=out") == ("PASS", [])
    assert run.out.startswith("PASS 2 of 2 agents; no run: ")
    assert gate(run, "--dir=out", "--agents=fd-a fd-c") == ("FAIL", [["missing", "fd-c"]])
    run("verdict", "ingest", "--dir=out")
    (out / "fd-b.md").write_text(SMALL, encoding="utf-8")
    assert gate(run, "--dir=out") == ("FAIL", [["changed", "fd-b"]])


def test_the_verdict_of_another_folder_says_nothing_about_this_one(out: Path, run: Script) -> None:
    run("verdict", "ingest", "--dir=out")
    for name in ("aa", "zz"):
        (out.parent / name).mkdir()
        for agent in ROSTER:
            (out.parent / name / f"{agent}.md").write_text(SMALL, encoding="utf-8")
        assert gate(run, f"--dir={name}") == ("PASS", [])


def test_an_empty_folder_fails(repo: Path, run: Script) -> None:
    (repo / "none").mkdir()
    assert gate(run, "--dir=none") == ("FAIL", [["empty", "-"]])


def test_the_folder_of_a_run_is_that_run(out: Path, run: Script) -> None:
    a_run(out, roster=(*ROSTER, "fd-c"))
    assert ["missing", "fd-c"] in gate(run, "--dir=out")[1]


def test_a_flow_without_runs_keeps_its_folder_after_a_run_has_ended(out: Path, run: Script) -> None:
    a_run(out)
    ingest(run)
    gate(run)
    (out / "fd-new.md").write_text(CLEAN, encoding="utf-8")
    run("verdict", "ingest", "--dir=out")
    assert run.out.splitlines()[-1] == "3/3 valid"
    assert gate(run, "--dir=out") == ("FAIL", [["foreign", "fd-new"]])  # it is the run's still
    assert gate(run, "--dir=out", "--agents=fd-a fd-b fd-new") == ("PASS", [])


def test_a_link_is_nobodys_review(out: Path, run: Script, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text(CLEAN, encoding="utf-8")
    (out / "fd-b.md").unlink()
    (out / "fd-b.md").symlink_to(tmp_path / "elsewhere.md")
    a_run(out)
    ingest(run)
    assert gate(run) == ("FAIL", [["foreign", "fd-b"]])


def test_a_hard_link_to_a_clean_file_is_nobodys_review(out: Path, run: Script) -> None:
    (out / "fd-b.md").unlink()
    (out / "fd-b.md").hardlink_to(out / "fd-a.md")
    a_run(out)
    ingest(run)
    assert gate(run) == ("FAIL", [["foreign", "fd-a"], ["foreign", "fd-b"]])


def test_two_files_of_one_agent_are_none(out: Path, run: Script) -> None:
    (out / "a:b.md").write_text(CLEAN, encoding="utf-8")
    (out / "a%3Ab.md").write_text(SEVERE, encoding="utf-8")
    a_run(out, (*ROSTER, "a:b"))
    ingest(run)
    assert gate(run) == ("FAIL", [["foreign", "a:b"]])


def test_an_unknown_run_or_none_is_no_pass(out: Path, run: Script) -> None:
    assert run("verdict", "gate", "--run=r-9") == 1 and run.out == ""
    assert run("verdict", "gate") == 2 and run.out == ""
    assert run("verdict", "gate", "--run=r-1", "--dir=out") == 2 and run.out == ""
    assert run("verdict", "gate", "--run=../x") == 2 and run.out == ""


def test_of_many_severe_findings_the_first_is_quoted(out: Path, run: Script) -> None:
    text = SEVERE.replace("\nVerdict", '\n- P1 | P1-2 | "Two" | It leaks\nVerdict')
    (out / "fd-b.md").write_text(text, encoding="utf-8")
    a_run(out)
    ingest(run)
    gate(run)
    assert "\tfd-b\t2 P1: It blocks\n" in run.out


def test_the_answer_for_programs_has_every_reason(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text(SEVERE, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert run("verdict", "gate", "--run=r-1", "--json") == 1
    found = json.loads(run.out)
    assert (found["id"], found["gate"], found["revision"]) == ("r-1", "FAIL", "current")
    assert found["reasons"][0] == {
        "reason": "severe", "text": "1 P1: It blocks", "agent": "fd-b",
    }  # fmt: skip


# The law: PASS only if every agent that was asked has a valid file of this run without P0 and P1.

FILES = {
    "clean": (CLEAN, True),
    "small": (SMALL, True),
    "named": ("<!-- run-uuid: r-1 -->\n" + CLEAN, True),
    **{name: (text, False) for name, text in DOUBTFUL.items()},
    "empty": ("", False),
    "severe without an id": ("### Findings Index\n- **[HIGH]** It blocks\nVerdict: safe\n", False),
    "p0 in prose": (CLEAN + "\n### Issues Found\n#### P0-1. P0: It loses data\nAll.\n", False),
    "research": (RESEARCH, False),
    "tail": (CLEAN + "\n--- VERDICT ---\nSTATUS: fail\nSUMMARY: x\n---\n", False),
    "quoted": (f"```\n{CLEAN}```\n", False),
}
agents = st.sampled_from(["fd-a", "fd-b", "fd-c", "interflux:review:fd-x"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    roster=st.lists(agents, max_size=3, unique=True),
    there=st.dictionaries(agents, st.sampled_from(sorted(FILES)), max_size=4),
    partial=st.booleans(),
)
def test_only_valid_files_of_all_agents_pass(
    out: Path, run: Script, roster: list[str], there: dict[str, str], partial: bool
) -> None:
    for path in out.iterdir():
        path.unlink()
    for number, (agent, kind) in enumerate(there.items()):
        text = FILES[kind][0]
        suffix = ".md.partial" if partial and number == 0 else ".md"
        if text is not None:
            (out / f"{agent}{suffix}").write_text(text, encoding="utf-8")
    plan = out.parent / "app.py"
    a_run(out, tuple(roster), source="app.py", revision=changes.data_revision(plan.read_bytes()))
    run("verdict", "ingest", "--run=r-1")
    word, lines = gate(run)
    left = {agent: FILES[kind] for agent, kind in there.items() if FILES[kind][0] is not None}
    fine = all(agent in left and left[agent][1] for agent in roster)
    unfinished = partial and next(iter(there), "") in roster
    invited = set(left) <= set(roster)
    assert (word == "PASS") == bool(roster and fine and invited and not unfinished)
    assert (word == "FAIL") == bool(lines)


def test_the_gate_names_the_line_that_an_index_lacks(out: Path, run: Script) -> None:
    text = f"{CLEAN}\n**Kritisch:** login() verliert Daten\n"
    (out / "fd-a.md").write_text(text, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert gate(run) == ("FAIL", [["severe", "fd-a"], *[["contradictory", "fd-a"]] * 2])
    assert "its index is incomplete: line 7 says P0, which its index lacks" in run.out


UNNAMED = "## Code review\n\n### Critical\n- **[P0] SQL injection in b.py:3** - it goes in.\n"


def test_what_a_file_says_that_names_no_run_is_counted_and_told(out: Path, run: Script) -> None:
    (out / "fd-b.md").write_text(UNNAMED, encoding="utf-8")
    a_run(out, asks=True)
    ingest(run)
    assert "NEEDS_ATTENTION\tfd-b\tno run id; 1 P0 read without an index: SQL" in run.out
    run("verdict", "show", "--run=r-1")
    assert "P0 fd-b/P0-1 b.py:3 " in run.out or "SQL injection in b.py:3" in run.out
    assert ["severe", "fd-b"] in gate(run)[1] and ["malformed", "fd-b"] in gate(run)[1]
    assert run("verdict", "retry", "--run=r-1", "--agent=fd-b") == 0
    assert "put aside with what it says (1 P0)" in run.err
    prompt = (out / "prompts/fd-b.md").read_text("utf-8")
    assert "- the file does not name its run" in prompt


@pytest.mark.parametrize("form", ["# Review\n\n{}\n{}", "{1}\n{0}\n", "{0}\n{1}"])
def test_a_file_may_name_its_run_in_any_line(out: Path, run: Script, form: str) -> None:
    whole = f"{CLEAN}\nRead: 3 of 3 files\nCounts: P0 0, P1 0, P2 0, P3 0\n"
    for mark, passes in (("<!-- run-uuid: r-1 -->", True), ("<!-- run-uuid: r-2 -->", False),
                         ("```\n<!-- run-uuid: r-1 -->\n```", False)):  # fmt: skip
        (out / "fd-b.md").write_text(form.format(mark, whole), encoding="utf-8")
        a_run(out, ("fd-b",), asks=True)
        (out / "fd-a.md").unlink(missing_ok=True)
        ingest(run)
        assert (gate(run)[0] == "PASS") == passes, run.out


@pytest.mark.parametrize("text", [CLEAN, SMALL, RESEARCH, WORK, UNNAMED])
@pytest.mark.parametrize("mode", ["review", "research"])
def test_a_file_that_names_no_run_never_passes(
    out: Path, run: Script, text: str, mode: str
) -> None:
    (out / "fd-b.md").write_text(text, encoding="utf-8")
    a_run(out, ("fd-b",), asks=True, mode=mode)
    (out / "fd-a.md").unlink()
    ingest(run)
    assert run.out.partition("\t")[0] in ("NEEDS_ATTENTION", "FAILED")
    assert gate(run)[0] == "FAIL"


def test_a_file_of_another_run_that_is_put_aside_is_told_with_what_it_says(
    out: Path, run: Script
) -> None:
    (out / "fd-b.md").write_text("<!-- run-uuid: other -->\n" + SEVERE, encoding="utf-8")
    a_run(out)
    ingest(run)
    assert run("verdict", "retry", "--run=r-1", "--agent=fd-b") == 0
    assert "put aside with what it says (1 P1)" in run.err


def test_show_refuses_an_agent_that_the_run_did_not_ask(out: Path, run: Script) -> None:
    a_run(out)
    assert run("verdict", "show", "--run=r-1", "--agent=fd-bb") == 1
    assert "the run did not ask this agent (did you mean 'fd-b'?)" in run.err
    assert run("verdict", "show", "--run=r-1", "--agent=other") == 1
    assert "did not ask this agent: it asked fd-a, fd-b" in run.err
