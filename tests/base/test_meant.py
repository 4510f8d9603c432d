"""What was clearly meant is done and said; where acting would harm, it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Script, each
from contextkit.base import errors
from contextkit.base.commands import Option, add_value
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings

CHECKPOINT = ("external_memory", "checkpoint", "--task=t", "--summary=s", "--next-action=n")


@each(
    ("typed", "items"),
    [
        ("a|b", ["a", "b"]),
        ("a | b", ["a", "b"]),
        ("src/a.py|src/b.py", ["src/a.py", "src/b.py"]),
        ("Use TOML|Keep the API", ["Use TOML", "Keep the API"]),
        ("Use `a|b` as it is", ["Use `a|b` as it is"]),
        ("it returns str|None", ["it returns str|None"]),
        ("a || b", ["a || b"]),
        ("a|", ["a|"]),
        ("^(a|b)$", ["^(a|b)$"]),
        ("make test 2|grep FAIL", ["make test 2|grep FAIL"]),
        ("a|b is a pattern", ["a|b is a pattern"]),
        ("Cause=the lock|Fix=hold it longer", ["Cause=the lock", "Fix=hold it longer"]),
        ("one\ntwo|three", ["one", "two|three"]),
        ("one|a | two", ["one|a", "two"]),
    ],
)
def test_a_bar_without_blanks_parts_two_items_where_that_is_clear(
    typed: str, items: list[str]
) -> None:
    raw: dict[str, list[str]] = {}
    add_value(raw, Option(name="decisions", help="", kind="items"), "decisions", typed)
    assert raw["decisions"] == items
    said = ["decisions: read as 2 items: " + " | ".join(items)]
    assert errors.remarks == (said if typed.count("|") and typed.replace(" | ", "") == typed
                              and len(items) == 2 and "\n" not in typed else [])  # fmt: skip
    errors.remarks.clear()


@each(
    ("typed", "items"),
    [
        ("src/a.py, src/b.py", ["src/a.py", "src/b.py"]),
        ("src/a.py,b.py", ["src/a.py", "b.py"]),
        ("src/a.py; src/b.py", ["src/a.py", "src/b.py"]),
        ("src/a.py src/b.py\tc.py", ["src/a.py", "src/b.py", "c.py"]),
        ("Makefile, src/a.py (modified)", ["Makefile", "src/a.py (modified)"]),
        ("src/a.py - the form, b.py - the list", ["src/a.py - the form", "b.py - the list"]),
        ("src/a.py - reads x, y.z and w", ["src/a.py - reads x, y.z and w"]),
        ("src/a.py - reads x, y.z", ["src/a.py - reads x, y.z"]),
        ("my notes.md", ["my notes.md"]),
        ("one, two.md", ["one, two.md"]),
        ("the form, and its tests", ["the form, and its tests"]),
        ("src/a.py", ["src/a.py"]),
        ("none", ["none"]),
    ],
)
def test_paths_may_be_separated_by_commas_semicolons_and_blanks(
    sealed: Path, typed: str, items: list[str]
) -> None:
    (sealed / "Makefile").touch()
    (sealed / "one, two.md").touch()
    raw: dict[str, list[str]] = {}
    add_value(raw, Option(name="files", help="", kind="paths"), "files", typed)
    assert raw["files"] == items
    said = f"files: read as {len(items)} items: {' | '.join(items)}"
    assert errors.remarks == ([said] if len(items) > 1 else [])
    errors.remarks.clear()


@each(
    ("typed", "may_be_more"),
    [
        ("the rate, the invoice", True),
        ("the rate;the invoice; docs", True),
        ("Use TOML, since YAML takes 40 ms", False),
        ("Use TOML", False),
        ("1,500 ms, at most", True),
        ("a, b | c", False),
        ("a, ", False),
    ],
)
def test_words_with_commas_are_one_item_of_any_other_list_and_that_is_said(
    typed: str, may_be_more: bool
) -> None:
    raw: dict[str, list[str]] = {}
    add_value(raw, Option(name="pending", help="", kind="items"), "pending", typed)
    assert raw["pending"] == [part.strip() for part in typed.split(" | ")]
    said = ["pending: read as one item; ` | ` or a line each makes several"]
    assert errors.remarks == said * may_be_more
    errors.remarks.clear()


@each(
    ("typed", "is_said"),
    [
        ("Ada is away, until Monday", True),
        ("Ada is away", True),
        ("ui api, docs", True),
        ("ui docs api", False),
        ("ui, docs,api", False),
        ("ui", False),
    ],
)
def test_words_that_read_like_a_sentence_are_names_and_that_is_said(
    typed: str, is_said: bool
) -> None:
    raw: dict[str, list[str]] = {}
    add_value(raw, Option(name="blocked", help="", kind="words"), "blocked", typed)
    words = typed.replace(",", " ").split()
    said = [f"blocked: read as {len(words)} items: {' | '.join(words)}"]
    assert raw["blocked"] == words and errors.remarks == said * is_said
    errors.remarks.clear()


def test_a_draft_may_separate_its_files_by_commas(run: Script, repo: Path) -> None:
    draft = '{"agent": "a", "status": "completed", "summary": "s", "files": "src/a.py, b.py"}'
    assert run("external_memory", "finding", "--task=t", "--draft=-", stdin=draft) == 0
    assert "read as 2 items" in run.err
    assert "- `src/a.py`" in Path(run.out.strip()).read_text(encoding="utf-8")


def test_a_file_with_a_bar_in_its_name_is_one_file(sealed: Path) -> None:
    (sealed / "a|b").touch()
    raw: dict[str, list[str]] = {}
    add_value(raw, Option(name="files", help="", kind="items"), "files", "a|b")
    assert raw["files"] == ["a|b"] and not errors.remarks


@pytest.mark.parametrize(
    ("typed", "phase"),
    [("coding", "implementation"), ("QA", "review"), ("research", "exploration"),
     ("design", "planning"), ("Implementation", "implementation")],
)  # fmt: skip
def test_a_phase_by_another_name(repo: Path, run: Script, typed: str, phase: str) -> None:
    assert run(*CHECKPOINT, f"--phase={typed}") == 0
    assert f"phase={typed}: read as {phase}" in run.err
    assert checkpoints.load_all(Layout()).documents[-1].phase == phase
    assert run(*CHECKPOINT, "--phase=dancing") == 2 and "must be one of" in run.err


def test_a_status_by_another_name(repo: Path, run: Script) -> None:
    finding = ("external_memory", "finding", "--task=t", "--agent=a", "--summary=s")
    assert run(*finding, "--status=done") == 0 and "status=done: read as completed" in run.err
    assert findings.load_all(Layout()).documents[-1].status == "completed"
    assert run(*finding, "--status=purple") == 2
    finish = ("subagent_manager", "finish", "--agent=ui", "--summary=s")
    assert run(*finish, "--status=done") == 0 and "read as COMPLETE" in run.err
    assert run(*finish, "--status=great") == 2  # nothing but CLEAN is read as CLEAN


def test_a_checkpoint_enters_the_next_phase(repo: Path, run: Script) -> None:
    run("external_memory", "plan", "--task=t", "--pending=Wire it")
    assert run(*CHECKPOINT, "--phase=planning") == 0
    assert run("external_memory", "checkpoint", "--task=t", "--to=coding") == 0
    assert "to=coding: read as implementation" in run.err
    newest = checkpoints.load_all(Layout()).documents[-1]
    assert newest.phase == "planning" and newest.next_action == "n"
    assert newest.context_summary.startswith("planning is done; implementation is next.")
    assert run("external_memory", "phase", "--task=t", "--to=review") == 0
    assert "memory_checkpoint" in run.err and "to=" in run.err


def test_a_checkpoint_without_a_next_action_is_filled_from_the_plan_or_refused(
    repo: Path, run: Script
) -> None:
    short = CHECKPOINT[:-1]
    assert run(*short, "--phase=review") == 2 and "next_action: is missing" in run.err
    run("external_memory", "plan", "--task=t", "--next-action=Wire it")
    assert run(*short, "--phase=review") == 0
    assert checkpoints.load_all(Layout()).documents[-1].next_action == "Wire it"


def test_a_scope_outside_the_repository_is_quoted(repo: Path, run: Script) -> None:
    scope = repo.parent / "scope.md"
    scope.write_text("# Task\nMeasure the cache.\n", encoding="utf-8")
    for kind in ("here", "worktree"):
        asked = (f"--scope={scope}", f"--type={kind}", "--capsule=none")
        assert run("subagent_manager", "prompt", "--slug=x", *asked) == 0, run.err
        assert "Measure the cache." in run.out and "is outside the repository" in run.err
        assert "not committed" not in run.err


def test_the_current_session_is_ended(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("context", "session_end") == 2 and "give session=" in run.err
    monkeypatch.setenv("SESSION_ID", "s-42")
    assert run("context", "session_end") == 0
    assert "session=s-42, the current one" in run.err and "s-42" in run.out


def test_a_base_for_a_document_is_left_out(repo: Path, run: Script) -> None:
    Path("plan.md").write_text("# Plan\n", encoding="utf-8")
    asked = ("--process=flux-drive", "--target=plan.md", "--agents=fd-x", "--base=main")
    assert run("verdict", "start", *asked, "--json") == 0, run.err
    assert "base=main: a document is not compared with anything" in run.err
    assert json.loads(run.out)["run"]
