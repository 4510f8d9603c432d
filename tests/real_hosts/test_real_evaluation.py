"""context_eval and context_day with the real clients as the user's own command."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import clients
import pytest
from models import Models, Reply, Request, Say, Use

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "evaluation"))
import scripted  # noqa: E402
import worker  # noqa: E402


def reader(request: Request) -> Reply:
    """A model that answers what its material says, and marks by the key."""
    prompt = request.last
    if "Mark answers" in prompt:
        return [Say(json.dumps(scripted.marks(prompt[prompt.index("Mark answers") :])))]
    if "Somebody ordered" in prompt:
        return [Say(json.dumps(scripted.questions(prompt)))]
    if "Answer each question" in prompt:
        return [Say(json.dumps(scripted.answers("perfect", prompt)))]
    return [Say("ok")]


def craftsman(request: Request) -> Reply:
    """A model that mends the shop at noon and writes the report in the evening."""
    work = (("shop/orders.py", worker.ORDERS, "mend what you found"),
            ("shop/report.py", worker.REPORT, "Last thing for today"))  # fmt: skip
    for name, text, mark in work:
        if mark in request.text and "__done__" not in request.text:
            command = f"cat > {name} <<'END'\n{text}\nEND\necho __done__"
            if "exec_command" in request.tools:
                return [Use("exec_command", {"cmd": command})]
            return [Use("Bash", {"command": command, "description": "write"})]
    return [Say("Done: cents, refunds and countries are as decided.")]


def command(host: str, home: Path, address: str) -> str:
    """The user's command line: headless, on the service of this test."""
    if host == "claude":
        env = clients.environment(
            home, ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="sk-ant-dummy",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1",
        )  # fmt: skip
        words = [clients.program("claude"), "-p", "--model", "claude-sonnet-4-5",
                 "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]  # fmt: skip
    else:
        folder = clients.codex_home(home, home, address)
        env = clients.environment(home, CODEX_HOME=str(folder), MOCK_KEY="dummy")
        words = [clients.program("codex"), "exec", "--skip-git-repo-check",
                 "--dangerously-bypass-hook-trust", "-"]  # fmt: skip
    return shlex.join(["env", "-i", *(f"{k}={v}" for k, v in env.items()), *map(str, words)])


def evaluated(tmp_path: Path, host: str, *words: str) -> list[dict[str, Any]]:
    home = {"claude": {"CLAUDE_CONFIG_DIR": str(tmp_path / "home/.claude")},
            "codex": {"CODEX_HOME": str(tmp_path / "home/.codex")}}[host]  # fmt: skip
    root = tmp_path / "root"
    root.mkdir()
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts/evaluate.py"), *words, "--yes", "--json"],
        cwd=root, capture_output=True, encoding="utf-8", timeout=300,
        env={**clients.environment(tmp_path / "own"), **home},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_the_users_client_answers_for_its_material(tmp_path: Path, host: str) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    facts = " ".join(f"The {name} is {number}." for number, name in enumerate(
        ("alpha", "beta", "gamma", "delta", "epsilon", "zeta"), 1000))  # fmt: skip
    filler = "Nothing of this matters to anybody who reads it, now or later on. " * 90
    (texts / "a.md").write_text(f"# Report\n\n## Summary\n\n{facts}\n\n## Rest\n\n{filler}\n")
    with Models(reader) as models:
        called = command(host, tmp_path / "home", models.address)
        rows = evaluated(tmp_path, host, "model", f"--cmd={called}", f"--folder={texts}")
    shares = {row["arm"]: row["right"] for row in rows}
    assert (shares["receipt"], shares["whole"], shares["nothing"]) == (100.0, 100.0, 0.0)
    assert models.problems == []


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_the_users_client_lives_a_day_in_both_arms(tmp_path: Path, host: str) -> None:
    with Models(craftsman) as models:
        called = command(host, tmp_path / "home", models.address)
        rows = evaluated(tmp_path, host, "day", f"--cmd={called}", f"--host={host}", "-n=1")
    assert [row["arm"] for row in rows] == ["without", "with"]
    for row in rows:
        assert (row["solved"], row["failed"]) == (100.0, 0), row
        assert row["turns"] >= 5 and row["tokens"] > 0 and row["cost"] > 0, row
    assert models.problems == []
