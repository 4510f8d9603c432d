"""From the capture prompt round to the next one, with real processes and the real make."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkouts import a_host, make
from conftest import SCRIPTS, git, until
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from test_subagent_manager_script import BODY, REGISTRY, a_capsule, rows

AGENT = """\
#!/bin/sh
# A subagent: takes the command that hands in its report from the prompt, as a model would.
cat > "$CONTEXT_ROOT/got.md"
echo 'Capsule Gap: which port does the service take?' >> "$PROGRESS"
finish=$(sed -n '/^```sh$/,/^```$/p' "$CONTEXT_ROOT/got.md" | sed '1d;$d' |
  sed 's/--status=…/--status=NEEDS_ATTENTION/; s/ --file=.*//')
printf '## Finding\\n\\nThe cache takes 52 ms in `src/a.py:4`.\\n' | sh -c "$finish"
"""


def filled_in(stub: str) -> str:
    """The stub as an agent might finish it."""
    return re.sub(r"<[^<>\n]+>", "something", stub)


def test_the_whole_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_NOW")
    monkeypatch.setenv("SESSION_ID", "s-42")
    host = a_host(tmp_path / "my host", "include tools/contextkit/Makefile\n")
    (host / ".gitignore").write_text("tools\ngot.md\n", encoding="utf-8")
    (host / "agent.sh").write_text(AGENT, encoding="utf-8")
    (host / "scope.md").write_text("# Task\nMeasure the cache.\n", encoding="utf-8")
    git("add", ".", cwd=host)
    git("commit", "-qm", "all", cwd=host)

    prompt = make("-s", "capsule_prompt", "stub=1", cwd=host).stdout
    target = re.findall(r"^Target file: (.*)$", prompt, re.M)[0]
    reply = filled_in((host / target).read_text(encoding="utf-8"))
    saved = make("-s", "capsule_save", f"file={target}", cwd=host, stdin=reply).stdout.strip()
    assert saved == target
    git("add", saved, cwd=host)
    git("commit", "-qm", "capsule", cwd=host)

    progress = "$PWD/.contextkit/subagents/$CONTEXT_SUBAGENT_ID/progress.md"
    launched = make(
        "-s", "subagent_launch", "slug=ui", "scope=scope.md", "type=worktree", "timeout=60s",
        f'cmd=PROGRESS="{progress}" sh ./agent.sh', cwd=host,
    )  # fmt: skip
    identity = launched.stdout.strip()
    assert launched.stderr == ""
    until(lambda: (host / ".contextkit/subagents" / identity / "exit").exists())
    log = (host / ".contextkit/subagents" / identity / "agent.log").read_text(encoding="utf-8")
    assert "\n@stored: shared/payloads/s-42/" in log, log
    watched = make("-s", "subagent_monitor", "interval=1", cwd=host).stdout
    assert watched.endswith("No running subagents detected. Exiting monitor loop.\n")
    (row,) = json.loads((host / REGISTRY).read_text(encoding="utf-8"))
    assert (row["status"], row["capsule"]) == ("finished", saved)
    assert row["capsule_gaps"] == ["which port does the service take?"]

    got = (host / "got.md").read_text(encoding="utf-8")
    assert items.for_subagent(capsules.parse(reply)[1]).strip() in got
    assert "Measure the cache." in got
    table = make("-s", "verdict_table", cwd=host).stdout
    assert table == "NEEDS_ATTENTION\tui\tone line\n"
    detail = make("-s", "verdict_attention", cwd=host).stdout.split("\t")[2].strip()
    assert "52 ms" in (host / detail).read_text(encoding="utf-8")

    again = make("-s", "capsule_prompt", cwd=host).stdout
    assert f"which port does the service take? ({identity})" in again
    assert make("-s", "subagent_cleanup", f"id={identity}", cwd=host).stdout == f"{identity}\n"
    assert git("status", "--porcelain", cwd=host) == ""


# For a kit that knows no capsules

HELPER = """\
#!/bin/sh
printf '%s\\n' "$@" > called
while [ "$1" != --prompt ]; do shift; done
cat "$2" > got
echo '{"launcher": "tmux", "pane_id": "%7"}'
"""
PROMPT = "Role overrides:\n- x\n\n1. Read the scope.\n2. Work.\n"


def kit_launches(
    identity: str = "20251023-180500-x", **env: str
) -> subprocess.CompletedProcess[str]:
    """The call that the kit makes of its launch helper, with ours in its place."""
    Path("helper.sh").write_text(HELPER, encoding="utf-8")
    Path("helper.sh").chmod(0o755)
    Path("prompt.txt").write_text(PROMPT, encoding="utf-8")
    call = [str(SCRIPTS / "launch_with_capsule.py"), "--launcher", "auto", "--path", os.getcwd(),
            "--prompt", os.path.abspath("prompt.txt"), "--log", "x.log", "--type", "throwaway",
            "--title", identity]  # fmt: skip
    return subprocess.run(
        [sys.executable, *call], capture_output=True, encoding="utf-8",
        env={**os.environ, "CONTEXTKIT_LAUNCH_HELPER": os.path.abspath("helper.sh"), **env},
    )  # fmt: skip


def test_the_helper_of_a_kit_gets_the_prompt_with_the_capsule(repo: Path) -> None:
    capsule = a_capsule()
    foreign = {"id": "20251023-180500-x", "status": "pending_launch", "path": "/abs"}
    REGISTRY.parent.mkdir(parents=True, exist_ok=True)
    REGISTRY.write_text(json.dumps([foreign]), encoding="utf-8")
    done = kit_launches()
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["pane_id"] == "%7"
    called = Path("called").read_text(encoding="utf-8").split("\n")
    assert called[:2] == ["--launcher", "auto"] and called[-3:-1] == ["--title", foreign["id"]]
    before, _, after = Path("got").read_text(encoding="utf-8").partition("## Context Capsule\n")
    assert before == "Role overrides:\n- x\n\n" and BODY in after
    assert after.endswith("lists it.\n\n1. Read the scope.\n2. Work.\n")
    (row,) = rows()
    assert {name: row[name] for name in foreign} == foreign
    assert row["capsule"] == str(capsule) and row["capsule_tokens"] > 0


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"CONTEXTKIT_CAPSULE": "none"}, ""),
        ({"CONTEXTKIT_CAPSULE": "nowhere.md"}, "no capsule in"),
        ({}, "no capsule on feature/demo"),
    ],
)
def test_whatever_is_wrong_with_the_capsule_the_agent_starts(
    repo: Path, env: dict[str, str], said: str
) -> None:
    done = kit_launches(**env)
    assert done.returncode == 0 and said in done.stderr
    assert Path("got").read_text(encoding="utf-8") == PROMPT and not REGISTRY.exists()


def test_a_reviewer_of_the_kit_gets_none(repo: Path) -> None:
    a_capsule()
    row = {"id": "20251023-180500-x", "role_prompt": "senior_architect"}
    REGISTRY.parent.mkdir(parents=True, exist_ok=True)
    REGISTRY.write_text(json.dumps([row]), encoding="utf-8")
    assert kit_launches().returncode == 0
    assert Path("got").read_text(encoding="utf-8") == PROMPT and rows() == [row]
