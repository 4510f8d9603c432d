"""What an earlier run left open stays open wherever open reviews are told, until it is closed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Script, git
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import blockers
from signing import sign
from test_findings_across_runs import LOST, SAFE, review

FINE = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n\n<!-- flux-drive:complete -->\n"
CACHE = Path(".contextkit/open-reviews")
SESSIONS = itertools.count(1)  # each is told once


@pytest.fixture(autouse=True)
def branch(repo: Path) -> Path:
    git("branch", "main")
    Path("app.py").write_text("".join(f"line {n}\n" for n in range(1, 21)), encoding="utf-8")
    return repo


def a_run(run: Script, target: str, *left: tuple[str, str], more: tuple[str, ...] = ()) -> str:
    """A run in which each of these agents has left this file; its id."""
    named = (f"--target={target}", f"--agents={' '.join(agent for agent, _ in left)}")
    assert run("verdict", "start", "--process=review", *named, *more, "--json") == 0, run.err
    return answered(run, *left)


def answered(run: Script, *left: tuple[str, str]) -> str:
    started = json.loads(run.out)
    for agent, text in left:
        (Path(started["output_dir"]) / f"{agent}.md").write_text(text, encoding="utf-8")
        sign(started["output_dir"], f"{agent}.md")
    identity: str = started["run"]
    assert run("verdict", "ingest", f"--run={identity}") == 0
    return identity


def fix() -> None:
    path = Path("app.py")
    path.write_text(path.read_text("utf-8").replace("line 15\n", "fixed\n"), encoding="utf-8")


def from_status(run: Script) -> str:
    run("context", "status")
    return run.out


def from_recovery(run: Script) -> str:
    run("external_memory", "recover")
    return run.out


def from_capsule_prompt(run: Script) -> str:
    assert run("capsule_prompt") == 0
    return run.out.partition("Open reviews")[2]


def from_handoff(run: Script) -> str:
    assert run("handoff", "write", "--from=a", "--to=b", "--no-story", "--next-action=x") == 0
    return Path(run.out.strip()).read_text("utf-8")


def from_session_start(run: Script) -> str:
    hook = {"session_id": f"s-{next(SESSIONS)}", "cwd": os.getcwd(), "source": "compact",
            "hook_event_name": "SessionStart"}  # fmt: skip
    assert run("host_hook", "SessionStart", "--host=claude", stdin=json.dumps(hook)) == 0
    return run.out


PLACES = (from_status, from_recovery, from_capsule_prompt, from_handoff, from_session_start)


def told_by(run: Script, words: str) -> list[str]:
    """The places that tell these words."""
    return [place.__name__ for place in PLACES if words in place(run)]


ALL = [place.__name__ for place in PLACES]


def test_a_p0_of_an_earlier_run_is_told_everywhere_until_it_is_fixed(run: Script) -> None:
    run("external_memory", "checkpoint", "--task=t", "--phase=research", "--summary=s",
        "--next-action=go on")  # fmt: skip
    first = a_run(run, "one", ("a", review(SAFE)))
    second = a_run(run, "two", ("b", FINE))
    assert run("verdict", "gate", f"--run={second}") == 0
    call = f"make verdict_gate run={first}"
    assert told_by(run, call) == ALL
    assert told_by(run, f"make verdict_clean run={first}") == []  # not beside an open P0
    fix()
    assert run("verdict", "recheck", f"--run={first}", "--json") == 0
    answered(run, ("a", FINE.replace("Fine.\n", "Fine.\nFixed: P0-1\n")))
    assert run("verdict", "gate", "--run=latest") == 0
    assert told_by(run, first) == []


def is_told(run: Script, first: str) -> bool:
    return bool(told_by(run, first))


def test_what_a_run_of_another_branch_left_open_is_told_there_alone(run: Script) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    git("checkout", "-q", "-b", "other")
    a_run(run, "two", ("b", FINE))
    assert not is_told(run, first)
    a_run(run, "one", ("a", FINE))
    git("checkout", "-q", "feature/demo")
    assert from_status(run).count(first) == 1


def the_same(run: Script) -> None:
    a_run(run, "one", ("a", FINE))


def worse(run: Script) -> None:
    a_run(run, "one", ("a", review(LOST)))
    a_run(run, "two", ("a", FINE))


def dismissed(run: Script) -> None:
    a_run(run, "two", ("b", FINE))
    first = runs.load_all(Layout()).documents[0].id
    finding = (f"--run={first}", "--finding=a/P0-1")
    assert run("verdict", "dismiss", *finding, "--reason=ours", "--by=Ada") == 0
    assert is_told(run, first)  # until it is committed
    git("add", "docs")
    git("commit", "-q", "-m", "d")


def cleaned(run: Script) -> None:
    a_run(run, "two", ("b", FINE))
    first = runs.load_all(Layout()).documents[0].id
    assert run("verdict", "clean", f"--run={first}") == 0


@pytest.mark.parametrize("close", [the_same, worse, dismissed, cleaned])
def test_it_is_closed_by(run: Script, close: Callable[[Script], None]) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    close(run)
    assert not is_told(run, first)


def other_target(run: Script) -> None:
    a_run(run, "two", ("a", FINE))


def other_agent(run: Script) -> None:
    a_run(run, "one", ("b", FINE))


def other_base(run: Script) -> None:
    a_run(run, "one", ("a", FINE), more=("--base=HEAD",))


def never_came(run: Script) -> None:
    a_run(run, "one", ("a", ""))
    a_run(run, "two", ("b", FINE))


def unclear(run: Script) -> None:
    a_run(run, "one", ("a", FINE.replace("safe", "needs-changes")))
    a_run(run, "two", ("b", FINE))


def cleaned_later(run: Script) -> None:
    a_run(run, "two", ("b", FINE))
    assert run("verdict", "clean", "--run=latest") == 0


@pytest.mark.parametrize(
    "later", [other_target, other_agent, other_base, never_came, unclear, cleaned_later]
)
def test_it_is_not_closed_by(run: Script, later: Callable[[Script], None]) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    later(run)
    assert f"make verdict_gate run={first}" in from_status(run)


@pytest.mark.parametrize("left", [review(SAFE), ""])
def test_a_gate_of_an_earlier_run_says_how_it_is_closed_for_good(run: Script, left: str) -> None:
    first = a_run(run, "one", ("a", left))
    run("verdict", "gate", f"--run={first}")
    assert "verdict_clean" not in run.out
    a_run(run, "two", ("b", FINE))
    run("verdict", "gate", f"--run={first}")
    assert f"next: or make verdict_clean run={first}, which closes it for good" in run.out


def of_verdict(first: str) -> None:
    Path(f".clavain/verdicts/runs/{first}/a.json").write_text("{", encoding="utf-8")


def of_record(first: str) -> None:
    Path(f".contextkit/runs/{first}.json").write_text("{", encoding="utf-8")


def of_folder(first: str) -> None:
    folder = Path(f".clavain/verdicts/runs/{first}")
    shutil.rmtree(folder)
    folder.write_text("", encoding="utf-8")


def of_no_record(first: str) -> None:
    Path(f".contextkit/runs/{first}.json").unlink()


@pytest.mark.parametrize("damage", [of_verdict, of_record, of_no_record])
def test_what_cannot_be_read_is_open_until_it_is_removed(
    run: Script, damage: Callable[[str], None]
) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    a_run(run, "two", ("b", FINE))
    damage(first)
    git("checkout", "-q", "-b", "other")
    assert is_told(run, first) == (damage is not of_verdict)  # whose record is there
    git("checkout", "-q", "feature/demo")
    assert is_told(run, first)
    assert run("verdict", "clean", f"--run={first}") == 0
    assert not is_told(run, first)


def test_a_file_in_place_of_a_folder_is_told_beside_what_else_is_open(run: Script) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    second = a_run(run, "two", ("b", review(SAFE)))
    a_run(run, "three", ("c", FINE))
    of_folder(first)
    told = from_handoff(run)
    assert f"{first} ERROR: verdict file of a run cannot be read" in told and second in told
    shutil.copy("app.py", ".clavain/verdicts/runs/.DS_Store")
    assert from_handoff(run).count("ERROR") == 1
    assert run("verdict", "table", "--view=attention", "--json") == 0
    assert [row["id"] for row in json.loads(run.out)] == ["b", first]


def test_dismissals_that_cannot_be_read_close_nothing(run: Script) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    dismissed(run)
    (document,) = Path("docs/reviews").iterdir()
    document.write_text("{", encoding="utf-8")
    assert told_by(run, first) and "The token is logged" in from_handoff(run)


def test_a_store_that_cannot_be_read_is_told_as_such(run: Script) -> None:
    run("external_memory", "checkpoint", "--task=t", "--phase=research", "--summary=s",
        "--next-action=go on")  # fmt: skip
    Path(".clavain/verdicts").mkdir(parents=True)
    Path(".clavain/verdicts/runs").write_text("", encoding="utf-8")
    assert set(told_by(run, "runs")) == set(ALL)


def test_closed_runs_are_listed_and_not_read(run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    a_run(run, "two", ("b", FINE))
    folders = list(Path(".clavain/verdicts/runs").iterdir())
    from_status(run)
    assert not CACHE.exists()  # they were written just now, and may be again unnoticed
    for folder in folders:
        os.utime(folder, (1, 1))
    from_status(run)
    assert CACHE.exists()
    with monkeypatch.context() as patch:
        patch.setattr(blockers, "_judged", None)
        assert first in from_status(run)
    a_run(run, "one", ("a", FINE))
    assert first not in from_status(run)


def test_the_command_for_an_earlier_run_is_told_once(run: Script) -> None:
    first = a_run(run, "one", ("a", review(SAFE)), ("b", review(LOST)), ("c", review(SAFE)))
    a_run(run, "two", ("d", FINE))
    lines = blockers.lines(Layout())
    assert len(lines) == 3 and all(first in line for line in lines)
    assert "".join(lines).count("an earlier run: make verdict_gate") == 1
    assert lines[2].count(f"(run {first})") == 1


def test_the_command_that_lists_open_reviews_lists_those_of_earlier_runs(run: Script) -> None:
    first = a_run(run, "one", ("a", review(SAFE)))
    a_run(run, "two", ("b", FINE))
    assert run("verdict", "table", "--view=attention") == 0
    assert run.out.startswith("a\t1\t") and "P0-1" in run.out
    assert run("verdict", "table", "--view=attention", "--json") == 0
    (row,) = json.loads(run.out)
    assert row["ref"] == f"verdict:runs/{first}/a"
    assert run("verdict", "table", "--view=attention", "--run=latest") == 0 and run.out == ""


def test_an_agent_that_never_came_in_a_run_that_was_ended_is_not_open(run: Script) -> None:
    asked = ("--process=review", "--target=one", "--agents=a")
    for early in (True, False):  # whether its verdict was stored before the end
        assert run("verdict", "start", *asked) == 0
        first = runs.load(Layout(), "latest").id
        if early:
            assert run("verdict", "ingest", f"--run={first}") == 0
            assert is_told(run, "left no file")
        assert run("verdict", "end", f"--run={first}") == 0
        assert run("verdict", "start", "--process=review", "--target=two", "--agents=b") == 0
        assert "left something to look at" not in run.err and not is_told(run, "left no file")
        assert run("verdict", "end", "--run=latest") == 0


def test_the_latest_run_is_one_that_is_going_on(run: Script) -> None:
    assert run("verdict", "start", "--process=review", "--target=one", "--agents=a") == 0
    assert run("verdict", "start", "--process=review", "--target=two", "--agents=a") == 0
    first, second = runs.load_all(Layout()).documents
    assert runs.load(Layout(), "latest") == second
    assert run("verdict", "end", "--run=latest") == 0
    assert runs.load(Layout(), "latest") == first
    assert run("verdict", "table", "--run=latest") == 0
    assert run.err == f"verdict: run=latest is {first.id}: {second.id} was ended\n"
    assert run("verdict", "ingest", f"--run={second.id}") == 0
    assert "was ended" not in run.err
    assert not list(Path(".clavain").rglob("a.json"))
    assert run("verdict", "end", "--run=latest") == 0
    assert runs.load(Layout(), "latest").id == second.id
