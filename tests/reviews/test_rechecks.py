"""From a FAIL to a PASS: what the gate says to do next, done as it says it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, git
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from signing import sign
from test_findings_across_runs import LOST, SAFE, SLOW, review

OUT = Path(".clavain/reviews/current")
FINE = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n\n<!-- flux-drive:complete -->\n"


@pytest.fixture(autouse=True)
def branch(repo: Path) -> Path:
    git("branch", "main")
    Path("app.py").write_text("".join(f"line {n}\n" for n in range(1, 21)), encoding="utf-8")
    return repo


def begin(run: Script, agents: str = "a b") -> str:
    assert run("verdict", "start", "--process=review", f"--agents={agents}", "--json") == 0
    identity: str = json.loads(run.out)["run"]
    return identity


def write(folder: Path, agent: str, text: str) -> None:
    (folder / f"{agent}.md").write_text(text, encoding="utf-8")
    sign(folder, f"{agent}.md")


def gate(run: Script, identity: str) -> dict[str, Any]:
    run("verdict", "gate", f"--run={identity}", "--json")
    decision: dict[str, Any] = json.loads(run.out)
    return decision


def do(run: Script, step: str) -> int:
    """Run a step of the gate as it is printed."""
    make, command, *options = shlex.split(step)
    assert make == "make"
    return run("verdict", command.removeprefix("verdict_"), *(f"--{each}" for each in options))


def fix() -> None:
    path = Path("app.py")
    path.write_text(path.read_text("utf-8").replace("line 5\n", "line five\n"), encoding="utf-8")


def recheck(run: Script, identity: str) -> str:
    assert run("verdict", "recheck", f"--run={identity}", "--json") == 0
    again: str = json.loads(run.out)["run"]
    return again


def test_each_step_that_the_gate_names_is_a_command_and_they_lead_to_a_pass(run: Script) -> None:
    first = begin(run)
    write(OUT, "a", review(LOST, SLOW))
    write(OUT, "b", FINE)
    run("verdict", "ingest", f"--run={first}")
    decision = gate(run, first)
    assert decision["gate"] == "FAIL"
    shows, by_hand, rechecks = decision["next"]
    assert by_hand == "fix what it shows"
    assert do(run, shows) == 0 and "P1 a/P1-1 app.py:5 The batch is lost" in run.out
    assert do(run, rechecks) == 1 and "nothing has changed" in run.err
    fix()
    assert do(run, rechecks) == 0
    assert run("verdict", "table") == 0  # who is not asked again still counts
    assert [line.split("\t")[:2] for line in run.out.splitlines()] == [
        ["NEEDS_ATTENTION", "a"], ["CLEAN", "b"],
    ]  # fmt: skip
    again = runs.load(Layout(), "latest").id
    (asked,) = json.loads((OUT / "run.json").read_text("utf-8"))["agents"]
    prompt = Path(asked["prompt"]).read_text("utf-8")
    assert asked["agent"] == "a" and "- P1-1: P1 The batch is lost (app.py:5)" in prompt
    assert "a diff against the state that the previous run reviewed" in prompt
    write(OUT, "a", FINE.replace("Fine.\n", "Fine.\nFixed: P1-1\napp.py:5 keeps it now.\n"))
    (step,) = [step for step in gate(run, "latest")["next"] if "ingest" in step]
    assert do(run, step) == 0
    assert gate(run, "latest")["gate"] == "PASS"
    assert run("verdict", "gate", "--run=latest") == 0
    assert f"a second look at {first}" in run.out
    assert gate(run, first)["next"] == [f"make verdict_gate run={again}"]
    Path("app.py").write_text("edited since\n", encoding="utf-8")
    assert gate(run, "latest")["next"] == [f"make verdict_recheck run={first}"]
    run("verdict", "synthesize", "--run=latest", "--json")
    data = json.loads(run.out)["data"]
    assert [each["title"] for each in data["fixed"]] == ["The batch is lost"]
    assert [each["title"] for each in data["unchecked"]] == ["The loop is slow"]  # nobody asked


def test_a_second_look_passes_only_when_those_not_asked_again_have_reviewed(run: Script) -> None:
    first = begin(run)
    write(OUT, "a", review(SAFE))
    write(OUT, "b", FINE.replace("safe", "error"))
    run("verdict", "ingest", f"--run={first}")
    fix()
    again = recheck(run, first)
    write(OUT, "a", FINE.replace("Fine.\n", "Fine.\nFixed: P0-1\n"))
    run("verdict", "ingest", f"--run={again}")
    decision = gate(run, again)
    assert decision["reasons"] == [
        {"reason": "error", "agent": "b",
         "text": f"its file reports an error: By b, in the run {first}"}
    ]  # fmt: skip
    retries, waits, *rest = decision["next"]
    assert waits == f"make verdict_wait run={first}"
    assert rest == [f"make verdict_ingest run={first}", f"make verdict_gate run={again}"]
    earlier = OUT / "earlier" / first
    assert do(run, retries) == 0
    prompt = (earlier / "prompts" / "b.md").read_text("utf-8")
    assert f"{earlier}/input/changes.diff`" in prompt  # and not that of the second look
    assert prompt.count("Write ALL findings to") == 1 and f"{earlier}/b.md`" in prompt
    write(earlier, "b", FINE)
    for step in rest:
        status = do(run, step)
    assert (status, run.out.split()[0]) == (0, "PASS")


def test_a_synthesis_can_be_opened_with_all_it_names_after_a_second_look(run: Script) -> None:
    first = begin(run)
    write(OUT, "a", review(LOST))
    write(OUT, "b", FINE)
    assert run("verdict", "synthesize", f"--run={first}") == 0
    fix()
    run("verdict", "recheck", f"--run={first}")
    moved = OUT / "earlier" / first
    assert f"the synthesis of the run {first} is now {moved}/synthesis.md\n" in run.err
    text = (moved / "synthesis.md").read_text("utf-8")
    named = re.findall(r"`(\S+\.md)`", text)
    assert named == ["a.md", "b.md"] and all((moved / name).is_file() for name in named)
    assert f"**Run:** {first}\n" in text


def test_a_file_of_nobody_is_to_be_moved_and_not_asked_for_again(run: Script) -> None:
    identity = begin(run)
    for agent in ("a", "b"):
        write(OUT, agent, FINE.replace("Fine.", f"Fine, says {agent}."))
    run("verdict", "ingest", f"--run={identity}")
    (OUT / "stray.txt").write_text("a note\n", encoding="utf-8")
    decision = gate(run, identity)
    assert decision["next"] == [
        f"move stray.txt out of {OUT}: nobody asked for it",
        f"make verdict_gate run={identity}",
    ]


def test_a_file_of_any_kind_is_named_but_not_what_runs_leave(run: Script) -> None:
    identity = begin(run, "a")
    write(OUT, "a", FINE)
    strays = ("page.html", "build.log", "notes", "b.yaml.partial")
    for name in (*strays, "decisions.log", "peer-findings.jsonl", "synthesis.md"):
        (OUT / name).write_text("P0: anyone can log in\n", encoding="utf-8")
    assert run("verdict", "ingest", f"--run={identity}") == 0
    assert all(name.removesuffix(".partial") in run.out for name in strays)
    moves = gate(run, identity)["next"][:-1]
    assert [each.split()[1].removesuffix(".partial") for each in moves] == [
        "b.yaml", "build.log", "notes", "page.html"
    ]  # fmt: skip


def test_what_editors_systems_and_our_own_writes_leave_in_a_runs_folder_is_no_review(
    run: Script,
) -> None:
    identity = begin(run, "a")
    write(OUT, "a", FINE)
    left = (".DS_Store", "Thumbs.db", "desktop.ini", "a.md~", "#a.md#", ".a.md.swp", ".lock",
            ".a.md.0123456789ab.tmp")  # fmt: skip
    for name in left:
        (OUT / name).write_text("P0: anyone can log in\n", encoding="utf-8")
    assert run("verdict", "ingest", f"--run={identity}") == 0
    assert gate(run, identity)["reasons"] == []
    (OUT / "b.md~").write_text("P0: anyone can log in\n", encoding="utf-8")  # of no file there
    assert [each["agent"] for each in gate(run, identity)["reasons"]] == ["b.md~"]


@pytest.mark.parametrize(
    "name", ["100%.html", "a b.log", "-rf.html", "é.css", "x" * 200 + ".md", "a\nb.html"]
)
def test_a_stray_file_is_named_whatever_its_name_is(run: Script, name: str) -> None:
    identity = begin(run, "a")
    write(OUT, "a", FINE)
    run("verdict", "ingest", f"--run={identity}")
    (OUT / name).write_text("P0: anyone can log in\n", encoding="utf-8")
    decision = gate(run, identity)
    assert [each["reason"] for each in decision["reasons"]] == ["foreign"]
    assert decision["next"][0].startswith("move ") and "\n" not in decision["next"][0]


def test_an_agent_that_never_came_is_asked_again_and_not_awaited_for_ever(run: Script) -> None:
    identity = begin(run)
    write(OUT, "a", FINE)
    run("verdict", "ingest", f"--run={identity}")
    which = f"run={identity}"
    course = [f"make verdict_{step} {which}" for step in ("wait", "ingest", "gate")]
    assert gate(run, identity)["next"] == course
    runs.change(Layout(), identity, missed=("b",))  # a wait has given up on it
    assert gate(run, identity)["next"] == [f"make verdict_retry {which} agent=b", *course]


def test_a_run_that_is_stale_is_begun_again_with_the_same_agents(run: Script) -> None:
    identity = begin(run)
    for agent in ("a", "b"):
        write(OUT, agent, FINE.replace("Fine.", f"Fine, says {agent}."))
    run("verdict", "ingest", f"--run={identity}")
    fix()
    (step,) = gate(run, identity)["next"]
    assert do(run, step) == 0
    known = json.loads((OUT / "run.json").read_text("utf-8"))
    assert [each["agent"] for each in known["agents"]] == ["a", "b"] and known["run"] != identity


def test_a_dismissal_hides_no_improvement_at_the_same_place(run: Script) -> None:
    identity = begin(run, "a")
    improvement = ("IMP", "IMP-1", "The batch is lost when closed", 5)
    write(OUT, "a", review(LOST, improvement))
    run("verdict", "ingest", f"--run={identity}")
    run("verdict", "dismiss", f"--run={identity}", "--finding=a/P1-1", "--reason=ours", "--by=Ada")
    write(OUT, "a", review(improvement))
    assert gate(run, identity)["uncommitted"] == []


def test_a_second_look_is_looked_at_again(run: Script) -> None:
    first = begin(run, "a")
    write(OUT, "a", review(LOST, SLOW))
    run("verdict", "ingest", f"--run={first}")
    fix()
    second = recheck(run, first)
    write(OUT, "a", review(LOST))
    run("verdict", "ingest", f"--run={second}")
    path = Path("app.py")
    path.write_text(path.read_text("utf-8").replace("line 9\n", "line nine\n"), encoding="utf-8")
    recheck(run, second)
    diff = (OUT / "input" / "changes.diff").read_text("utf-8")
    assert "+line nine" in diff and "+line five" not in diff and "+line 1\n" not in diff


@pytest.mark.parametrize("leads", ["to itself", "round", "latest"])
def test_a_record_that_looks_again_at_itself_is_refused_by_field_and_file(
    run: Script, leads: str
) -> None:
    first = begin(run, "a")
    write(OUT, "a", review(LOST))
    run("verdict", "ingest", f"--run={first}")
    fix()
    second = recheck(run, first)
    write(OUT, "a", review(LOST))
    run("verdict", "ingest", f"--run={second}")
    edited, before = {"to itself": (second, second), "round": (first, second),
                      "latest": (second, "latest")}[leads]  # fmt: skip
    runs.change(Layout(), edited, rechecks=before)
    for command in ("recheck", "gate"):
        assert run("verdict", command, f"--run={second}") == 1
        assert f".contextkit/runs/{edited}.json: rechecks: " in run.err
