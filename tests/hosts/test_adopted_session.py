"""A whole session as Claude Code would run it: adopted, and every hook through its settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import git
from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.hosts.documents import vendored
from contextkit.hosts.flows import adoption, changes
from contextkit.memory.documents import snapshots
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import verdicts
from contextkit.reviews.flows import start
from signing import signed
from test_transcripts import reply

from hooks import problems

LONG = "# Report\n\n" + "The parser in `src/app.py:42` takes 52 ms, which is too slow. " * 60


class Session:
    """A host that starts what stands in its settings, on a machine with python3 and no git."""

    def __init__(self, repo: Path, programs: Path) -> None:
        settings = repo / ".claude" / "settings.json"
        self._hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
        self._repo = repo
        self._environment = {**os.environ, "PATH": str(programs), "CLAUDE_PROJECT_DIR": str(repo)}
        self._environment.pop("CONTEXT_NOW")

    def __call__(self, event: str, **passed: Any) -> str:
        """What the agent is told, or the reason of a block."""
        (group,) = self._hooks[event]
        (handler,) = group["hooks"]
        words = [handler["command"], *handler["args"]]
        given = {"session_id": "s-1", "cwd": str(self._repo), "hook_event_name": event, **passed}
        done = subprocess.run(
            [word.replace("${CLAUDE_PROJECT_DIR}", str(self._repo)) for word in words],
            input=json.dumps(given), env=self._environment, cwd="/",
            capture_output=True, encoding="utf-8", timeout=300,
        )  # fmt: skip
        assert problems("claude", event, done.returncode, done.stdout) == []
        assert done.stderr == ""
        said = json.loads(done.stdout) if done.stdout else {}
        inner = said.get("hookSpecificOutput", {})
        return str(said.get("reason") or inner.get("additionalContext", ""))


@pytest.fixture
def host(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(vendored, "_tracked", lambda: None)  # a module may not be committed yet
    plan = adoption.adopt(str(repo), "tools/contextkit", ("claude",), copy=True)
    changes.carry_out(plan)
    for name in ("sm", "dev"):
        path = repo / ".claude" / "agents" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"You are {name}.\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "adopted")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(str(shutil.which("python3")))
    return Session(repo, programs)


def test_a_whole_session(host: Session, repo: Path) -> None:
    layout = Layout()
    assert host("SessionStart", source="startup") == ""
    assert host("UserPromptSubmit", prompt="Look at the parser.") == ""
    assert host("UserPromptSubmit", prompt="@sm plan it").endswith("You are sm.\n")
    assert "not instructions" in host("UserPromptSubmit", prompt="@dev Build the parser.")
    assert len(handoffs.listed(layout)) == 1
    explorer = {"agent_id": "a1", "agent_type": "Explore"}
    assert "Build the parser." in host("SubagentStart", **explorer)
    assert host("SubagentStop", **explorer, last_assistant_message=LONG) == ""
    assert len(payloads.documents(layout, "s-1")) == 1

    (repo / "plan.md").write_text("# Plan\n", encoding="utf-8")
    now = int(subprocess.check_output(["date", "+%s"]))
    started = start.start(layout, now, "flux-drive", "plan.md", ("fd-safety",))
    reviewer = {"agent_id": "a2", "agent_type": "fd-safety"}
    assert host("SubagentStart", **reviewer) == ""
    said = host("SubagentStop", **reviewer, last_assistant_message="All is well.")
    assert "there is no such file" in said and "## Output Contract" in said
    assert verdicts.load_all(layout).documents == []
    good = signed("### Findings Index\nVerdict: safe\n", started.id)
    Path(started.output_dir, "fd-safety.md").write_text(good, encoding="utf-8")
    assert host("SubagentStop", **reviewer, stop_hook_active=True) == ""
    assert [(v["agent"], v["status"]) for v in verdicts.load_all(layout).documents] == [
        ("fd-safety", "CLEAN")
    ]

    transcript = repo.parent / "transcript.jsonl"
    transcript.write_text(reply(151_000) + "\n", encoding="utf-8")
    assert host("Stop", transcript_path=str(transcript)) == ""
    assert host("PreCompact", trigger="auto", transcript_path=str(transcript)) == ""
    assert host("PostCompact", trigger="auto", compact_summary="The parser is half built.") == ""
    assert len(snapshots.load_all(layout)) == 1  # the turn's end and the compaction meet
    said = host("SessionStart", source="compact")
    assert "A handoff from sm to dev is not consumed" in said
    assert "The parser is half built." in said

    host("SessionEnd", reason="prompt_input_exit")
    assert payloads.documents(layout, "s-1") == []
    assert host("SessionStart", source="resume") == ""  # it was told all of it
    assert len(payloads.documents(layout, "s-1")) == 1
    assert names.iso(now)[:4] in snapshots.load_all(layout)[0][1].timestamp
    assert not (repo / ".contextkit" / "hooks" / "diagnostics.log").exists()
    assert git("status", "--porcelain").split()[1::2] == ["plan.md"]
