"""verdict.py as its users call it, in this process."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from conftest import Script, each, git, rounds, start

STORE = Path(".clavain/verdicts")


VIEWS = ("count", "attention", "tokens")


def view(report: str) -> tuple[str, ...]:
    """The command that prints a report."""
    return ("table", f"--view={report}") if report in VIEWS else (report,)


def write(run: Script, agent: str, status: str = "CLEAN", *more: str) -> int:
    return run("verdict", "write", f"--agent={agent}", f"--status={status}", "--summary=ok", *more)


def test_a_verdict_has_the_old_keys_in_their_order(repo: Path, run: Script) -> None:
    assert write(run, "a", "CLEAN", "--model=haiku") == 0
    assert run.out == ".clavain/verdicts/a.json\n"
    found = json.loads((STORE / "a.json").read_text(encoding="utf-8"))
    assert list(found) == [
        *("type", "status", "model", "tokens_spent", "files_changed", "findings_count"),
        *("summary", "detail_path", "timestamp", "session_id", "agent", "format"),
    ]
    assert found["detail_path"] == ".clavain/verdicts/a.md"
    assert found["timestamp"] == "2025-10-23T18:05:00Z"
    assert (found["tokens_spent"], found["files_changed"], found["findings_count"]) == (0, [], 0)


def test_every_field_is_stored_as_given(repo: Path, run: Script) -> None:
    write(run, "a", "needs_attention", "--type=plan", "--detail=p.md", "--files-changed=a.go, b.go",
          "--findings=3", "--tokens=1200", "--phase=qg")  # fmt: skip
    found = json.loads((STORE / "a.json").read_text(encoding="utf-8"))
    assert found["status"] == "NEEDS_ATTENTION" and found["type"] == "plan"
    assert found["files_changed"] == ["a.go", "b.go"] and found["findings_count"] == 3
    assert (found["tokens_spent"], found["phase"], found["detail_path"]) == (1200, "qg", "p.md")


def test_the_phase_comes_from_the_variables(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAVAIN_CURRENT_PHASE", "brainstorm")
    write(run, "a")
    assert json.loads((STORE / "a.json").read_text(encoding="utf-8"))["phase"] == "brainstorm"


def test_a_bad_number_never_keeps_the_old_status(repo: Path, run: Script) -> None:
    write(run, "a", "CLEAN")
    assert write(run, "a", "NEEDS_ATTENTION", "--findings=abc", '--files-changed={"x":1}') == 0
    assert "stored as 0" in run.err and "stored as []" in run.err
    found = json.loads((STORE / "a.json").read_text(encoding="utf-8"))
    assert (found["status"], found["findings_count"]) == ("NEEDS_ATTENTION", 0)
    assert found["files_changed"] == []


@each("agent", ["../../x", "./../../x", "/abs", "a/b", ".", "..", "x" * 300])
def test_a_bad_name_writes_nothing_anywhere(repo: Path, run: Script, agent: str) -> None:
    assert write(run, agent) == 2
    assert run.out == "" and len(run.err.splitlines()) == 1
    assert git("status", "--porcelain") == ""


def test_an_unknown_status_is_refused_by_name(repo: Path, run: Script) -> None:
    assert write(run, "a", "GREEN") == 2
    assert "status=GREEN" in run.err and not STORE.exists()


def test_reports_without_a_store_say_so_and_succeed(repo: Path, run: Script) -> None:
    said = {}
    for report in ("table", *VIEWS, "clean"):
        assert run("verdict", *view(report)) == 0
        said[report] = run.out
    assert said == {
        "table": "", "count": "0 verdicts\n", "attention": "", "tokens": "0\n", "clean": "",
    }  # fmt: skip
    assert git("status", "--porcelain") == ""


def test_the_reports_are_those_of_the_old_library(repo: Path, run: Script) -> None:
    write(run, "b", "CLEAN", "--tokens=200")
    write(run, "a", "NEEDS_ATTENTION", "--findings=2", "--detail=out/a.md", "--tokens=1000")
    assert run("verdict", "table") == 0
    assert run.out == "NEEDS_ATTENTION\ta\tok\nCLEAN\tb\tok\n"
    shown = {"count": "1 CLEAN, 1 NEEDS_ATTENTION\n", "attention": "a\t2\tout/a.md\n",
             "tokens": "1200\n"}  # fmt: skip
    for report, said in shown.items():
        assert run("verdict", *view(report)) == 0
        assert run.out == said and ("closes it" in run.err) == (report == "attention")


def test_what_no_run_asked_for_is_closed_by_the_command_that_is_named(
    repo: Path, run: Script
) -> None:
    write(run, "a b", "PARTIAL")
    write(run, "c", "NEEDS_ATTENTION")
    assert run("verdict", "table", "--view=attention") == 0
    _, told = run.err.split("`make verdict_write ")
    asked = [f"--{word}" for word in shlex.split(told.partition("`")[0])]
    assert run("verdict", "write", *asked) == 0
    assert run("verdict", "table", "--view=attention") == 0 and run.out.startswith("c\t")
    assert run("verdict", "table", "--view=attention", "--plain") == 0 and run.err == ""


def test_the_old_targets_print_the_same_and_name_the_new_one(repo: Path, run: Script) -> None:
    write(run, "b", "CLEAN", "--tokens=200")
    write(run, "a", "FAILED", "--findings=2", "--detail=out/a.md")
    Path("out").mkdir()
    Path("out/a.md").write_text("### Findings Index\nVerdict: safe\n", encoding="utf-8")
    for report, where in (*((report, ()) for report in VIEWS), ("stats", ("--dir=out",))):
        assert run("verdict", "table", f"--view={report}", *where) == 0
        said = run.out
        assert said and bool(run.err) == (report == "attention")
        assert run("verdict", report, *where) == 0 and run.out == said
        assert f"now `make verdict_table view={report}" in run.err


def test_a_folder_without_verdicts_has_stats_only(repo: Path, run: Script) -> None:
    Path("out").mkdir()
    assert run("verdict", "table", "--dir=out") == 2 and "dir: only view=stats" in run.err
    assert run("verdict", "table", "--view=stats") == 2


def test_the_same_set_is_seen_from_a_subfolder(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(run, "a")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    run("verdict", "table")
    assert run.out == "CLEAN\ta\tok\n"


def test_read_prints_status_model_and_summary(repo: Path, run: Script) -> None:
    write(run, "a:b", "CLEAN", "--model=haiku")
    assert run("verdict", "read", "a:b") == 0 and run.out == "CLEAN\thaiku\tok\n"
    assert run("verdict", "read", "nobody") == 1 and run.out == ""


def test_a_file_that_cannot_be_read_is_named_and_makes_the_status_1(
    repo: Path, run: Script
) -> None:
    write(run, "a")
    (STORE / "bad.json").write_text("[]", encoding="utf-8")
    for report in ("table", *VIEWS):
        assert run("verdict", *view(report)) == 1, report
        assert "bad: verdict file" in run.err
    assert run("verdict", "table", "--lenient") == 0
    assert run.out.splitlines()[1].startswith("ERROR\tbad\t")


def test_json_gives_objects_with_an_id(repo: Path, run: Script) -> None:
    write(run, "a")
    assert run("verdict", "table", "--json") == 0
    assert [entry["id"] for entry in json.loads(run.out)] == ["a"]


def test_git_never_sees_a_verdict(repo: Path, run: Script) -> None:
    Path(".gitignore").write_bytes(b"node_modules")
    git("add", ".gitignore")
    git("commit", "-qm", "ignore")
    write(run, "a")
    assert git("status", "--porcelain") == ""
    assert Path(".gitignore").read_bytes() == b"node_modules"


def test_clean_keeps_other_sessions_unless_told(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "s-1")
    write(run, "a")
    monkeypatch.setenv("SESSION_ID", "s-2")
    write(run, "b")
    run("verdict", "clean")
    assert run.out == "b.json\n"
    run("verdict", "clean", "--all")
    assert run.out == "a.json\n"


def test_clean_by_age(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    write(run, "old")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-31T18:05:01Z")
    write(run, "new")
    run("verdict", "clean", "--older-than=7d")
    assert run.out == "old.json\n"


def test_writers_of_one_agent_and_of_many_agents_lose_nothing(repo: Path) -> None:
    many = rounds(7, 20)
    started = [
        start("verdict.py", "write", f"--agent={agent}", "--status=CLEAN", f"--summary=s{n}")
        for n in range(many)
        for agent in ("same", f"agent{n}", f"agent-{n}")
    ]
    assert [process.wait() for process in started] == [0] * len(started)
    for process in started:
        process.communicate()
    found = [json.loads(path.read_text(encoding="utf-8")) for path in STORE.glob("*.json")]
    assert len(found) == 2 * many + 1 and all(entry["status"] == "CLEAN" for entry in found)
    assert not [name for name in os.listdir(STORE) if name.endswith(".tmp")]


def test_a_file_in_the_way_of_the_store_is_said(repo: Path, run: Script) -> None:
    Path(".clavain").write_text("mine", encoding="utf-8")
    assert write(run, "a") == 1 and "in the way" in run.err
    assert run("verdict", "table") == 1 and "in the way" in run.err


@pytest.mark.parametrize("view", ["attention", "count", "tokens"])
def test_a_view_of_the_table_prints_what_the_old_command_prints(
    repo: Path, run: Script, view: str
) -> None:
    write(run, "a", "CLEAN", "--tokens=40")
    write(run, "b", "NEEDS_ATTENTION", "--tokens=2", "--findings=3")
    status, before = run("verdict", view), run.out
    assert before.strip()
    assert (run("verdict", "table", f"--view={view}"), run.out) == (status, before)
