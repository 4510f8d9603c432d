"""workers.py, waiting: who is done, by name, in every state that a file can be in."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Script
from contextkit.base import files
from contextkit.base.layout import Layout
from contextkit.reviews.documents import agent_review, runs
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import workers
from test_runs import STARTED, a_run

FOLDER = Path(".clavain/reviews/current")
DONE = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n"
SENTINEL = "<!-- flux-drive:complete -->\n"


@pytest.fixture
def run_of_three(layout: Layout) -> Run:
    run = a_run(roster=("a", "b", "interflux:c"))
    runs.save(layout, run)
    FOLDER.mkdir(parents=True)
    return run


def write(name: str, text: str = DONE + SENTINEL) -> Path:
    path = FOLDER / name
    path.write_text(text, encoding="utf-8")
    return path


def wait(run: Run, seconds: float = 0) -> dict[str, str]:
    states = workers.wait(Layout(), run, seconds, lambda *said: None)
    return {one.agent: one.state for one in states}


STATES: dict[str, tuple[Callable[[], object], str]] = {
    "sentinel": (lambda: write("a.md"), "done"),
    "no sentinel yet": (lambda: write("a.md", DONE), "writing"),
    "nothing": (lambda: None, "missing"),
    "empty": (lambda: write("a.md", " \n"), "empty"),
    "partial": (lambda: write("a.md.partial", DONE), "partial"),
    "partial and sentinel": (lambda: write("a.md.partial"), "unrenamed"),
    "partial and empty": (lambda: write("a.md.partial", ""), "empty"),
    "empty beside a partial": (lambda: (write("a.md", ""), write("a.md.partial")), "partial"),
    "another run": (lambda: write("a.md", "<!-- run-uuid: x -->\n" + DONE + SENTINEL), "foreign"),
    "a folder": (lambda: (FOLDER / "a.md").mkdir(), "empty"),
    "a pipe": (lambda: os.mkfifo(FOLDER / "a.md"), "empty"),
    "a link": (lambda: (FOLDER / "a.md").symlink_to(write("other.md").absolute()), "foreign"),
    "a link that is begun": (lambda: (FOLDER / "a.md.partial").symlink_to("b"), "partial"),
    "another agent's": (lambda: write("synthesis.md"), "missing"),
    "research": (lambda: write("a.md", "### Sources\n<!-- flux-research:complete -->\n"), "done"),
}


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_its_name(run_of_three: Run, state: str) -> None:
    make, expected = STATES[state]
    make()
    assert wait(run_of_three)["a"] == expected


def test_a_file_without_sentinel_is_done_when_two_looks_see_the_same(run_of_three: Run) -> None:
    write("a.md", DONE)
    assert wait(run_of_three, 2 * workers.LOOK)["a"] == "done"


def test_a_file_that_stays_as_it_is_is_read_once(
    run_of_three: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    parse = agent_review.parse

    def counted(text: str) -> agent_review.Review:
        read.append(text)
        return parse(text)

    monkeypatch.setattr(agent_review, "parse", counted)
    write("a.md.partial", DONE)
    assert wait(run_of_three, 4 * workers.LOOK)["a"] == "partial"
    assert read == [DONE]


def test_a_file_that_is_renamed_while_it_is_read_is_done_at_the_next_look(
    run_of_three: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = write("a.md.partial")
    read_bytes = files.read_bytes

    def renamed_first(path: str) -> bytes:
        if partial.exists():
            partial.rename(FOLDER / "a.md")
        return read_bytes(path)

    monkeypatch.setattr(files, "read_bytes", renamed_first)
    assert wait(run_of_three, workers.LOOK)["a"] == "done"


def test_a_name_is_found_as_written_or_encoded(run_of_three: Run) -> None:
    write("interflux:c.md")
    write("a.md")
    write("b.md")
    assert set(wait(run_of_three).values()) == {"done"}
    os.rename(FOLDER / "interflux:c.md", FOLDER / "interflux%3Ac.md")
    assert set(wait(run_of_three).values()) == {"done"}


def test_a_file_that_grows_is_not_done(run_of_three: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.md", DONE)
    clock = 0.0

    def grow(seconds: float) -> None:
        nonlocal clock
        clock += seconds
        with open(path, "a", encoding="utf-8") as file:
            file.write("more\n")

    monkeypatch.setattr(time, "sleep", grow)
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    assert wait(run_of_three, 4 * workers.LOOK)["a"] == "writing"
    assert path.read_text(encoding="utf-8").count("more\n") == 4


def looks_of(
    monkeypatch: pytest.MonkeyPatch, between: Callable[[int], object]
) -> Callable[[], int]:
    """No time passes between two looks but `between(how many there were)`; how many there were."""
    looks = 1

    def sleep(seconds: float) -> None:
        nonlocal looks
        assert looks < 100, "the wait does not end"
        between(looks)
        looks += 1

    monkeypatch.setattr(time, "sleep", sleep)
    return lambda: looks


@pytest.mark.parametrize("last", ["", "One more line.\n"])
def test_a_rename_is_seen_at_once(
    run_of_three: Run, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    partial = write("a.md.partial", DONE)

    def between(looks: int) -> None:
        if looks == 2:
            with partial.open("a", encoding="utf-8") as file:
                file.write(last)
            os.rename(partial, FOLDER / "a.md")

    count = looks_of(monkeypatch, between)
    only_a = run_of_three.replace(roster=("a",))
    assert wait(only_a, 3600) == {"a": "done"}
    assert count() == 3, "the first look after the rename sees that it is done"


def test_each_agent_is_told_once_as_it_is_done_and_the_last_ends_the_wait(
    run_of_three: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int, str]] = []

    def done(count: int, of: int, seconds: float, agent: str) -> None:
        told.append((count, of, agent))
        after = {"b": "a.md", "a": "interflux%3Ac.md"}.get(agent)
        if after:
            write(after)

    write("b.md")
    count = looks_of(monkeypatch, lambda looks: None)
    workers.wait(Layout(), run_of_three, 3600, done)
    assert told == [(1, 3, "b"), (2, 3, "a"), (3, 3, "interflux:c")]
    assert count() <= 3


def test_who_was_missed_is_kept_until_a_later_wait_finds_them(run_of_three: Run) -> None:
    layout = Layout()

    def look() -> tuple[str, ...]:
        run = runs.load(layout, run_of_three.id)
        workers.wait(layout, run, 0, lambda *said: None)
        return runs.load(layout, run.id).missed

    write("b.md")
    assert look() == ("a", "interflux:c")
    write("a.md")
    write("interflux%3Ac.md")
    assert look() == ()


def test_a_stub_for_each_that_left_no_file_and_no_late_rename_replaces_it(
    run_of_three: Run,
) -> None:
    roster = ("done", "partial", "unrenamed", "empty", "foreign", "missing", "writing")
    run = run_of_three.replace(roster=roster)
    write("done.md")
    write("partial.md.partial", DONE)
    write("unrenamed.md.partial")
    write("empty.md", "")
    write("foreign.md", "<!-- run-uuid: x -->\n" + DONE)
    write("writing.md", DONE)
    states = workers.wait(Layout(), run, 0, lambda *said: None)
    assert [one.state for one in states] == list(roster)
    written = workers.write_stubs(run, states, STARTED)
    assert [one.agent for one in written] == list(roster[1:-1])
    assert sorted(path.name for path in FOLDER.glob("*.md")) == sorted(f"{a}.md" for a in roster)
    for agent in roster[1:-1]:
        review = agent_review.parse((FOLDER / f"{agent}.md").read_text(encoding="utf-8"))
        assert (review.validation, review.run, review.complete) == ("error", run.id, True)
    assert sorted(path.name for path in FOLDER.glob("*.aborted-*")) == [
        f"{agent}.md.aborted-20251023T180500Z"
        for agent in ("empty", "foreign", "partial", "unrenamed")
    ]
    assert not list(FOLDER.glob("*.partial"))  # nothing is left to be renamed over a stub


def test_all_that_an_agent_began_is_set_aside_under_a_name_of_its_own(run_of_three: Run) -> None:
    run = run_of_three.replace(roster=("a",))
    write("a.md", "<!-- run-uuid: x -->\n" + DONE)
    write("a.md.partial", DONE)
    states = workers.wait(Layout(), run, 0, lambda *said: None)
    workers.write_stubs(run, states, STARTED)
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.aborted-*")}
    assert len(kept) == 2 and any("run-uuid: x" in text for text in kept.values())


def test_what_came_after_the_wait_stays(run_of_three: Run) -> None:
    states = workers.wait(Layout(), run_of_three, 0, lambda *said: None)
    path = write("a.md")
    written = workers.write_stubs(run_of_three, states, STARTED)
    assert [one.agent for one in written] == ["b", "interflux:c"]
    assert path.read_text(encoding="utf-8") == DONE + SENTINEL


def test_the_table_says_why_there_is_an_error(run_of_three: Run, run: Script) -> None:
    found = f"--run={run_of_three.id}"
    write("b.md", "### Findings Index\nVerdict: error\n\n### Summary\n- No key was given.\n")
    write("interflux%3Ac.md", "### Findings Index\nVerdict: error\n")
    assert run("verdict", "wait", found, "--timeout=0", "--stub") == 3
    run("verdict", "ingest", found)
    rows = [line.split("\t")[2] for line in run.out.splitlines()[:3]]
    assert rows[0].startswith("its file reports an error: The agent a left no file before")
    assert rows[1:] == ["its file reports an error: No key was given", "its file reports an error"]


SEVERE = (
    '### Findings Index\n- P0 | P0-1 | "One" | It loses data\nVerdict: risky\n\n'
    "### Issues Found\n#### P0-1. It loses data\n`src/app.py:42` drops the batch.\n"
)


@pytest.mark.parametrize(
    "rest",
    [SEVERE, SEVERE.partition("Verdict")[0], "## P0: It loses data\n\n`src/app.py:42` drops it.\n"],
)
def test_a_stub_over_a_p0_keeps_the_p0(run_of_three: Run, run: Script, rest: str) -> None:
    write("a.md.partial", rest)
    write("b.md")
    write("interflux%3Ac.md")
    found = f"--run={run_of_three.id}"
    assert run("verdict", "wait", found, "--timeout=0", "--stub") == 3
    run("verdict", "ingest", found, "--json")
    [agent, *_] = json.loads(run.out)["agents"]
    assert (agent["agent"], agent["status"], agent["validation"]) == ("a", "ERROR", "error")
    assert agent["severities"] == {"P0": 1}
    assert "It loses data" in (FOLDER / "a.md").read_text(encoding="utf-8")
    assert run("verdict", "gate", found) == 1
    assert [line.split("\t")[:2] for line in run.out.splitlines()[1:]][:2] == [
        ["severe", "a"], ["error", "a"],
    ]  # fmt: skip
