"""verdict_clean with runs: a live one is refused, prose is never touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Script
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from test_gates import CLEAN, a_run

STORE = Path(".clavain/verdicts")


@pytest.fixture
def out(repo: Path, run: Script) -> Path:
    """A run whose two verdicts were ingested, and a verdict that belongs to no run."""
    folder = repo / "out"
    folder.mkdir()
    for agent in ("fd-a", "fd-b"):
        (folder / f"{agent}.md").write_text(CLEAN, encoding="utf-8")
    a_run(folder)
    run("verdict", "ingest", "--run=r-1")
    run("verdict", "write", "alone", "--status=CLEAN", "--summary=ok")
    return folder


def going_on(out: Path, run: Script) -> None:
    """The run as it is while an agent is waited for."""
    (out / "fd-b.md").unlink()
    runs.change(Layout(), "r-1", ingested_at="")
    run("verdict", "ingest", "--run=r-1")


def test_a_run_whose_files_are_all_ingested_goes_without_a_gate(out: Path, run: Script) -> None:
    assert run("verdict", "clean", "--run=r-1") == 0
    assert ".contextkit/runs/r-1.json" in run.out.splitlines()
    run("verdict", "runs", "--all")
    assert run.out == "No review runs.\n"


def test_a_live_run_is_refused(out: Path, run: Script) -> None:
    going_on(out, run)
    assert run("verdict", "clean", "--run=r-1") == 1
    assert run.out == "" and "going on" in run.err
    assert "verdict_end run=r-1" in run.err
    run("verdict", "count", "--run=r-1")
    assert run.out == "1 CLEAN, 1 ERROR\n"
    assert run("verdict", "end", "--run=r-1") == 0
    assert run("verdict", "clean", "--run=r-1") == 0


def test_a_finished_run_goes_and_what_agents_wrote_stays(out: Path, run: Script) -> None:
    run("verdict", "gate", "--run=r-1")
    assert run("verdict", "clean", "--run=r-1") == 0
    assert run.out.splitlines() == [
        "fd-a.json", "fd-b.json", "r-1/fd-a.json", "r-1/fd-b.json", ".contextkit/runs/r-1.json",
    ]  # fmt: skip
    assert sorted(path.name for path in out.iterdir()) == ["fd-a.md", "fd-b.md"]
    run("verdict", "table")
    assert run.out == "CLEAN\talone\tok\n"
    assert run("verdict", "gate", "--run=r-1") == 1 and run.out == ""


def test_a_run_that_nobody_finished_is_over_after_its_life(
    out: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:05:00Z")
    assert run("verdict", "clean", "--run=r-1") == 0


def test_all_leaves_only_what_is_going_on(out: Path, run: Script) -> None:
    going_on(out, run)
    assert run("verdict", "clean", "--all") == 0
    assert run.out == "alone.json\n" and "r-1 is going on" in run.err
    run("verdict", "end", "--run=r-1")
    run("verdict", "clean", "--all")
    assert "r-1/fd-a.json" in run.out and not list(STORE.glob("*.json"))
    assert runs.load_all(Layout()) == []


def test_by_age_only_old_runs_go(out: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    run("verdict", "gate", "--run=r-1")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-31T18:05:01Z")
    a_run(out, id="r-2")
    run("verdict", "ingest", "--run=r-2")
    run("verdict", "gate", "--run=r-2")
    run("verdict", "clean", "--older-than=7d")
    assert "alone.json" in run.out and "r-1/fd-a.json" in run.out and "r-2" not in run.out
    assert [one.id for one in runs.load_all(Layout()).documents] == ["r-2"]


def test_another_session_keeps_its_run(
    out: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("verdict", "gate", "--run=r-1")
    a_run(out, id="r-2", session_id="s-2", finished_at="2025-10-23T18:06:00Z")
    monkeypatch.setenv("SESSION_ID", "s-1")
    run("verdict", "clean")
    assert [one.id for one in runs.load_all(Layout()).documents] == ["r-2"]
