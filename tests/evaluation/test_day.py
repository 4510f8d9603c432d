"""context_day: scripted agents in place of the user's own."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Script
from contextkit.evaluation.flows import day
from contextkit.hosts.documents import contracts

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's own folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude"


def command(kind: str) -> str:
    return shlex.join([sys.executable, "-S", "-E", str(WORKER), kind])


def lived(run: Script, kind: str, *options: str) -> dict[str, dict[str, Any]]:
    """The rows, by arm."""
    words = (f"--cmd={command(kind)}", "--host=claude", "-n=1", "--yes", "--json", *options)
    assert run("evaluate", "day", *words) == 0, run.err
    return {row["arm"]: row for row in json.loads(run.out)}


def test_a_day_is_counted_by_the_transcripts_and_the_hidden_tests_and_lived_once(
    run: Script, home: Path
) -> None:
    rows = lived(run, "able")
    assert list(rows) == ["without", "with"]
    for row in rows.values():
        assert (row["runs"], row["solved"], row["failed"]) == (1, 100.0, 0)
        assert row["turns"] == 3 and row["tokens"] == 3 * 1130
        assert row["cost"] == 3 * (10 + 125 + 100 + 100)
    assert "6 sessions" in run.err and "2 of 2: without, 8 of 8 solved" in run.err
    transcripts = list(home.rglob("*.jsonl"))
    again = lived(run, "able")
    assert again == rows and len(list(home.rglob("*.jsonl"))) == len(transcripts) == 6


def test_what_was_decided_in_the_morning_reaches_the_agent_only_with_hooks(run: Script) -> None:
    rows = lived(run, "told")
    assert (rows["without"]["solved"], rows["with"]["solved"]) == (0.0, 100.0)
    assert "no hook ran" not in run.err


def test_one_that_hangs_is_ended_one_that_dies_is_counted_and_neither_solves_anything(
    run: Script,
) -> None:
    rows = lived(run, "fails", "--timeout=1")
    assert [(row["failed"], row["solved"]) for row in rows.values()] == [(3, 0.0), (3, 0.0)]
    assert rows["with"]["tokens"] == 0
    assert "no hook ran in 1 of the runs with hooks" in run.err


def test_nothing_starts_unasked_or_for_a_host_that_nobody_knows(run: Script) -> None:
    assert run("evaluate", "day", f"--cmd={command('able')}", "--host=claude") == 1
    assert "yes=1 starts" in run.err
    assert run("evaluate", "day", "--cmd=nobody -p", "--yes") == 2
    assert "one of claude, codex" in run.err
    assert run("evaluate", "day", "--cmd=/usr/bin/codex exec -", "-n=1") == 1, "known by its name"


def test_a_session_of_codex_costs_what_its_last_total_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    folder = tmp_path / "sessions/2026/11/23"
    folder.mkdir(parents=True)
    for name, where in (("a", "work"), ("b", "elsewhere")):
        lines: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"cwd": f"/{where}"}}]
        for total in (400, 1000):
            usage = {"input_tokens": total, "cached_input_tokens": total // 2, "output_tokens": 10}
            info = {"total_token_usage": usage, "last_token_usage": usage}
            lines.append({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
        lines.append({"type": "event_msg", "payload": {"type": "token_count", "info": None}})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"rollout-{name}.jsonl").write_text(text, encoding="utf-8")
    spent = day.spent(contracts.find("codex"), "/work")
    assert spent == (2, 1010, 500 + 50 + 80)
