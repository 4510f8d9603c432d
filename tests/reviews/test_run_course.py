"""The course of a run: its agents as subagents, what became of them, its end, a second try."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, git, until
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import workers
from contextkit.subagents.documents import registry
from signing import sign

DONE = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n<!-- flux-drive:complete -->\n"
OUT = Path(".clavain/reviews/current")
STORE = Path(".clavain/verdicts")


@pytest.fixture(autouse=True)
def branch(repo: Path) -> Path:
    """A branch with one untracked file since main."""
    git("branch", "main")
    Path("new.py").write_text("new\n", encoding="utf-8")
    return repo


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait sees at once that a subagent has ended."""
    monkeypatch.setattr(workers, "LOOK", 0.01)


def begin(run: Script, *more: str, agents: str = "a b") -> str:
    assert run("verdict", "start", "--process=review", f"--agents={agents}", "--json", *more) == 0
    found: str = json.loads(run.out)["run"]
    return found


def rows(run: Script, *call: str) -> list[dict[str, Any]]:
    run("verdict", *call, "--json")
    found: list[dict[str, Any]] = json.loads(run.out)
    return found


# runs


def test_the_runs_are_listed_with_their_age_and_state(run: Script) -> None:
    first = begin(run)
    for agent in ("a", "b"):
        (OUT / f"{agent}.md").write_text(DONE, encoding="utf-8")
    sign(OUT)
    run("verdict", "ingest", f"--run={first}")
    second = begin(run, "--target=other", agents="c")
    third = begin(run, "--target=third")
    assert run("verdict", "end", f"--run={third}") == 0
    found = rows(run, "runs")
    assert [(one["run"], one["state"]) for one in found] == [(second, "open"), (first, "done")]
    assert isinstance(found[1].pop("ref"), str)
    assert found[1] == {
        "id": first, "run": first, "process": "review", "target": "current", "state": "done",
        "started": "2025-10-23T18:05:00Z", "agents": 2, "done": 2, "status": "CLEAN",
    }  # fmt: skip
    assert (found[0]["agents"], found[0]["done"], found[0]["status"]) == (1, 0, "")
    assert [one["state"] for one in rows(run, "runs", "--all")] == ["ended", "open", "done"]
    assert run("verdict", "runs") == 0
    assert all(len(line) <= 80 for line in run.out.splitlines())


def test_a_run_that_is_not_known_is_answered_with_a_near_one_or_none(run: Script) -> None:
    identity = begin(run)
    assert run("verdict", "gate", f"--run={identity[:-1]}0") == 1
    assert f"did you mean {identity!r}" in run.err or identity[-1] == "0"
    assert run("verdict", "gate", "--run=20240101T000000Z-ffffff") == 1
    assert "did you mean" not in run.err and "make verdict_runs" in run.err
    assert run("verdict", "contract", f"--run={identity[:10]}", "--agent=a") == 0
    assert run("verdict", "contract", f"--run=run:{identity}", "--agent=a") == 0


def test_an_end_is_said_once(run: Script) -> None:
    identity = begin(run)
    assert run("verdict", "end", f"--run={identity}") == 0
    assert run.out == f"run {identity}\n" and run.err == ""
    assert run("verdict", "end", "latest") == 0
    assert "already ended at" in run.err
    begin(run)  # its folder is free
    assert runs.load(Layout(), "latest").output_dir == str(OUT)


def test_a_restart_touches_its_own_target_alone(run: Script) -> None:
    other = begin(run, "--target=other")
    mine = begin(run, "--target=mine")
    before = Path(f".contextkit/runs/{other}.json").read_bytes()
    folder = runs.load(Layout(), other).output_dir
    there = sorted(str(path) for path in Path(folder).rglob("*"))
    begin(run, "--target=mine", "--restart")
    assert Path(f".contextkit/runs/{other}.json").read_bytes() == before
    assert sorted(str(path) for path in Path(folder).rglob("*")) == there
    assert runs.load(Layout(), mine).ended == "restarted"


# agents as subagents


WRITES = (
    'name=$(sed -n "s/.*Write ALL findings to .\\(.*\\)\\.md.\\./\\1/p"); '
    "printf '### Findings Index\\nVerdict: safe\\n\\n### Summary\\nFine.\\n' > $name.md"
)


def test_launch_starts_every_agent_and_the_wait_finds_their_files(run: Script) -> None:
    identity = begin(run, "--launch", f"--cmd={WRITES}")
    said = json.loads(run.out)["agents"]
    known = {row["id"]: row for row in registry.rows(Layout())}
    assert [known[one["subagent"]]["slug"] for one in said] == ["a", "b"]
    assert run("verdict", "wait", f"--run={identity}", "--timeout=10m") == 0
    sign(OUT)
    assert run("verdict", "ingest", f"--run={identity}") == 0
    assert run("verdict", "gate", f"--run={identity}") == 0, run.out


def test_launch_without_a_command_starts_nothing(run: Script) -> None:
    assert run("verdict", "start", "--process=review", "--launch") == 2
    assert "cmd=" in run.err and not Path(".contextkit/runs").exists()


def test_a_prompt_of_a_run_is_a_scope_and_is_given_word_for_word(run: Script) -> None:
    begin(run)
    scope = f"--scope={OUT}/prompts/a.md"
    for kind in ("here", "throwaway"):
        done = run("subagent_manager", "prompt", "--slug=a", scope, f"--type={kind}")
        assert (done, run.err) == (0, ""), run.err
    assert run.out == (OUT / "prompts/a.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo cannot connect; exit 7", "failed (exit 7): cannot connect"),
        ("true", "finished (exit 0)"),
        ("kill -9 $$", "failed (exit 137)"),
    ],
)
def test_a_failed_agent_is_a_row_and_nobody_waits_for_it(
    run: Script, command: str, said: str
) -> None:
    identity = begin(run, "--launch", f"--cmd={command}", agents="a")
    assert run("verdict", "wait", f"--run={identity}", "--timeout=10m") == 3
    assert run.out == f"ended\ta\t{OUT}/a.md\n" and said in run.err
    until((STORE / "a.json").exists)  # written by nobody who asked
    for report in ("table", "attention"):
        run("verdict", report)
        assert run.out.startswith(("ERROR\ta\t", "a\t0\t"))
    run("verdict", "ingest", f"--run={identity}")
    assert f"left no file; its subagent {said}" in run.out
    assert run("verdict", "gate", f"--run={identity}") == 1
    assert runs.load(Layout(), identity).finished_at  # nobody is awaited
    run("subagent_manager", "status", "--json")
    [row] = json.loads(run.out)
    assert row["deliverables"] == "0/1" and row["alerts"]


def test_a_subagent_without_a_run_that_fails_is_a_row_too(run: Script) -> None:
    call = ("subagent_manager", "launch", "--capsule=none")
    assert run(*call, "--slug=loud", "--cmd=echo no key; exit 7") == 0
    assert run(*call, "--slug=late", "--cmd=sleep 60", "--timeout=1s") == 0
    assert run(*call, "--slug=silent", "--cmd=true") == 0
    assert run(*call, "--slug=talker", "--cmd=echo all is well") == 0
    until(lambda: len(list(STORE.glob("*.json"))) == 4)
    run("verdict", "table")
    first, *rest = run.out.splitlines()
    assert first.startswith("FAILED\tlate\tits time was up")
    assert rest == [
        "FAILED\tloud\texit 7: no key",
        "ERROR\tsilent\texit 0 without a report or a line of output",
        "NEEDS_ATTENTION\ttalker\thanded in no report, its log ends: all is well",
    ]
    run("verdict", "attention")
    assert len(run.out.splitlines()) == 4
    run("verdict", "read", "--agent=loud", "--json")
    log = Path(json.loads(run.out)["detail_path"])
    assert log.read_text(encoding="utf-8") == "no key\n"


def test_deliverables_are_counted_and_harvested_from_a_clone(run: Script) -> None:
    call = ("subagent_manager", "launch", "--capsule=none", "--type=throwaway", "--slug=x")
    command = "--cmd=mkdir docs; echo one > docs/report.md"
    assert run(*call, command, "--deliverables=docs/report.md | docs/never.md") == 0
    until(Path("docs/report.md").exists)

    def harvested() -> bool:
        return bool(registry.rows(Layout())[0]["deliverables"][1]["status"] == "missing")

    until(harvested)
    run("subagent_manager", "status", "--json")
    assert json.loads(run.out)[0]["deliverables"] == "1/2"
    assert "it left no docs/never.md" in run.err
    [row] = registry.rows(Layout())
    assert [item["status"] for item in row["deliverables"]] == ["harvested", "missing"]
    assert run(*call, "--deliverables=../out.md") == 2


def test_one_that_left_what_it_promised_and_said_nothing_is_to_be_looked_at(run: Script) -> None:
    assert run("subagent_manager", "launch", "--capsule=none", "--type=throwaway", "--slug=x",
               "--cmd=echo one > a.md", "--deliverables=a.md") == 0  # fmt: skip
    until(Path("a.md").exists)
    until((STORE / "x.json").exists)
    run("verdict", "table")
    assert run.out == "NEEDS_ATTENTION\tx\thanded in no report, but left a.md\n"


@pytest.mark.parametrize("kind", ["worktree", "throwaway"])
def test_a_deliverable_that_is_committed_comes_with_its_commits(run: Script, kind: str) -> None:
    work = "echo one > report.md; git add report.md; git commit -qm report; echo two > left.md"
    assert run("subagent_manager", "launch", "--capsule=none", f"--type={kind}", "--slug=x",
               f"--cmd={work}", "--deliverables=report.md | left.md") == 0  # fmt: skip
    identity = run.out.strip()
    until(Path("left.md").exists)
    run("subagent_manager", "status", "--json")
    assert json.loads(run.out)[0]["deliverables"] == "2/2" and not Path("report.md").exists()
    sandbox = f".contextkit/sandboxes/{identity}"
    assert run("subagent_manager", "cleanup", identity) == 1
    command = {
        "worktree": f"git merge subagent/{identity}",
        "throwaway": f"git pull --no-rebase {sandbox}",
    }
    assert f"take that over first: {command[kind]}; or drop it: force=1" in run.err
    git(*command[kind].split()[1:])
    assert Path("report.md").read_text("utf-8") == "one\n"


# notice


def test_a_run_that_is_done_gives_one_notice(run: Script) -> None:
    notify = '--notify=cat > got; echo "$CONTEXT_RUN $CONTEXT_RUN_STATE" >> told'
    identity = begin(run, notify)
    (OUT / "a.md").write_text(DONE, encoding="utf-8")
    sign(OUT)
    run("verdict", "ingest", f"--run={identity}")
    assert not Path("told").exists()
    (OUT / "b.md").write_text(DONE, encoding="utf-8")
    sign(OUT)
    for _ in range(2):
        run("verdict", "ingest", f"--run={identity}")
    run("verdict", "wait", f"--run={identity}")
    until(lambda: Path("told").exists() and Path("told").read_text("utf-8"))
    assert Path("told").read_text("utf-8") == f"{identity} done\n"
    assert Path("got").read_text("utf-8") == "CLEAN\ta\tno findings\nCLEAN\tb\tno findings\n"


def test_a_run_that_needs_somebody_says_so_without_being_asked(run: Script) -> None:
    notify = '--notify=echo "$CONTEXT_RUN_STATE" >> told'
    begin(run, notify, "--launch", "--cmd=exit 7")
    until(lambda: Path("told").exists() and Path("told").read_text("utf-8"))
    assert Path("told").read_text("utf-8") == "attention\n"


# a second try


def test_a_retry_gives_a_new_file_and_says_what_was_wrong(run: Script) -> None:
    identity = begin(run)
    (OUT / "a.md").write_text("I looked at everything, it is fine.\n", encoding="utf-8")
    (OUT / "b.md").write_text(DONE, encoding="utf-8")
    sign(OUT)
    run("verdict", "ingest", f"--run={identity}")
    assert runs.load(Layout(), identity).ingested_at
    first = (OUT / "prompts/a.md").read_text(encoding="utf-8")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a", "--json") == 0
    found = json.loads(run.out)
    assert found["path"] == f"{OUT}/a.md" and not (OUT / "a.md").exists()
    assert len(list(OUT.glob("a.md.aborted-*"))) == 1
    prompt = Path(found["prompt"]).read_text(encoding="utf-8")
    assert "What was wrong with the last attempt" in prompt
    assert "- line 1: there is no Findings Index; it should read `### Findings Index`\n" in prompt
    (away,) = OUT.glob("a.md.aborted-*")
    assert f"It is in `{away}`. If it still holds, keep its text and mend these lines." in prompt
    assert not runs.load(Layout(), identity).ingested_at
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 0  # now the file is missing
    again = Path(found["prompt"]).read_text(encoding="utf-8")
    assert again.count("What was wrong") == 1 and "left no file" in again and away.name not in again
    contract = first[first.index("## Output Contract") :]
    assert again.endswith(contract)
    assert run("verdict", "retry", f"--run={identity}", "--agent=b") == 2
    assert "nothing is wrong" in run.err and (OUT / "b.md").exists()


def test_a_retry_says_which_findings_it_puts_aside_and_how_they_come_back(run: Script) -> None:
    identity = begin(run, agents="a")
    text = '### Findings Index\n- P0 | P0-1 | "A" | Anyone can log in\nVerdict: safe\n'
    (OUT / "a.md").write_text(text, encoding="utf-8")
    sign(OUT)
    whole = (OUT / "a.md").read_text("utf-8")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 0
    (away,) = OUT.glob("a.md.aborted-*")
    back = f"mv {away} {OUT}/a.md"
    assert f"put aside with what it says (1 P0): {away}; `{back}` brings it back" in run.err
    subprocess.run(["sh", "-c", back], check=True)
    assert (OUT / "a.md").read_text("utf-8") == whole


def test_a_retry_loses_nothing_that_the_agent_wrote(run: Script) -> None:
    identity = begin(run, agents="a")
    (OUT / "a.md").write_text("first\n", encoding="utf-8")
    (OUT / "a.md.partial").write_text("second\n", encoding="utf-8")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 0
    (OUT / "a.md").write_text("third\n", encoding="utf-8")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 0
    kept = {path.read_text(encoding="utf-8") for path in OUT.glob("a.md.aborted-*")}
    assert kept == {"first\n", "second\n", "third\n"}


def test_a_retry_waits_for_no_one_at_work(run: Script) -> None:
    identity = begin(run, "--launch", "--cmd=sleep 60", agents="a")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 1
    assert "subagent_abort" in run.err
    [row] = registry.rows(Layout())
    assert run("subagent_manager", "abort", row["id"]) == 0
    assert run("verdict", "retry", identity, "a", "--launch", "--cmd=true") == 0
    assert len(registry.rows(Layout())) == 2
    assert os.path.isdir(".contextkit/subagents")
