"""This repository as a plugin: its files are what the code says; it stands back where adopted."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import plugins
import pytest
from conftest import CHECKOUT, SCRIPTS, each
from contextkit.base import names
from contextkit.hosts.documents import contracts, settings
from contextkit.hosts.flows import runner

LONG = "# Report\n\n" + "It takes 52 ms. " * 300


@each("path", list(plugins.files()))
def test_a_file_of_the_plugin_is_what_the_code_says(path: str) -> None:
    said = (CHECKOUT / path).read_text(encoding="utf-8")
    assert said == plugins.files()[path], "`make manual`"


def test_every_event_of_the_host_is_in_the_plugin() -> None:
    found = json.loads(plugins.files()["hooks/hooks.json"])["hooks"]
    assert list(found) == list(contracts.find("claude").events)
    assert found["PostToolUse"][0]["matcher"] == "^(Agent|Task|Bash|WebFetch|mcp__.+)$"


def test_codex_finds_its_own_hooks_and_not_those_of_another_host() -> None:
    files = plugins.files()
    manifest = json.loads(files[".codex-plugin/plugin.json"])
    path = manifest["hooks"].removeprefix("./")
    said = json.loads(files[path])["hooks"]
    assert list(said) == list(contracts.find("codex").events)
    assert "--host=codex --plugin" in files[path] and "--host=claude" not in files[path]
    assert manifest["version"] == json.loads(files[".claude-plugin/plugin.json"])["version"]


def test_where_the_project_was_adopted_the_plugin_does_nothing(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    path = repo / ".claude" / "settings.json"
    path.parent.mkdir()
    stop = settings.wanted(contracts.find("claude"), "tools/contextkit")["Stop"]
    path.write_text(json.dumps({"hooks": {"Stop": [stop]}}), encoding="utf-8")
    given = {"session_id": "s", "agent_id": "a", "agent_type": "x", "last_assistant_message": LONG}
    words = ["SubagentStop", "--host=claude", "--plugin"]
    assert runner.run(words, json.dumps(given).encode()) == ""
    assert not (repo / "shared").exists()
    path.write_text("{}", encoding="utf-8")
    runner.run(words, json.dumps(given).encode())
    assert (repo / "shared" / "payloads" / "s").is_dir()


@each("text", [
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./scripts/hook.sh lint"}]}]}}',
    '{"permissions": {"allow": ["Bash(tools/scripts/hook.sh --host=x)"]}}',
    '{"hooks": {"Stop": [', "[]", "\udcff",
])  # fmt: skip
def test_settings_that_name_another_hook_sh_leave_the_plugin_at_work(
    repo: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    path = repo / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert not runner._is_adopted("claude")


def test_a_host_that_keeps_no_links_has_every_command(repo: Path, tmp_path: Path) -> None:
    """Codex copies a plugin without them."""
    kit = tmp_path / "kit"
    links = [path.name for path in SCRIPTS.iterdir() if path.is_symlink()]
    assert "capsule.py" in links
    for folder in ("scripts", "bin", "templates"):
        ignored = shutil.ignore_patterns("__pycache__", *links)
        shutil.copytree(CHECKOUT / folder, kit / folder, ignore=ignored)
    shutil.copy(CHECKOUT / "Makefile", kit)
    for words in (["remember_later", "m=a note"], ["verdict_table"], ["context_help", "all=1"]):
        done = subprocess.run(
            [kit / "bin" / "contextkit", *words], cwd=repo, capture_output=True, encoding="utf-8"
        )
        assert (done.returncode, done.stderr) == (0, ""), words


def test_a_plugins_session_is_told_how_commands_are_called(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One host puts the plugin's `bin` on the agent's PATH; where another does not, the path."""
    monkeypatch.setenv("CONTEXTKIT_COMMAND", "")  # what the hook sets is gone after the test
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    given = json.dumps({"session_id": "s", "source": "startup", "cwd": str(repo)}).encode()
    assert runner.run(["SessionStart", "--host=claude", "--plugin"], given) == ""
    for times in (1, 0):  # once in a conversation
        said = runner.run(["SessionStart", "--host=codex", "--plugin"], given)
        given = given.replace(b"startup", b"resume")
        path = shlex.quote(f"{CHECKOUT}/bin/contextkit")
        assert said.count(f"as `{path} NAME …` here") == times


def test_where_a_checkout_is_only_linked_commands_are_called_by_its_path(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Makefile of the project has them."""
    monkeypatch.setenv("CONTEXTKIT_COMMAND", "")  # what the hook sets is gone after the test
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    words = settings.handler(contracts.find("claude"), "SessionStart", str(CHECKOUT))["args"]
    assert isinstance(words, list)
    given = json.dumps({"session_id": "s", "source": "startup", "cwd": str(repo)}).encode()
    said = runner.run(words, given)
    door = names.word(f"{CHECKOUT}/bin/contextkit")
    assert f"as `{door} NAME …` here" in said
