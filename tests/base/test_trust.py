"""owned.py: settings that act hold from the user's own file, or once a repository is trusted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import Script, git, trusted
from contextkit.base import owned, settings, stores
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from contextkit.hosts.flows import runner

FILE = Path("contextkit.yaml")
ACTS = "sync: git\ncapsule_max_tokens: 900\nsubagent_command: echo from the clone\n"


def write(text: str) -> None:
    FILE.write_text(text, encoding="utf-8")


def own_settings(text: str) -> None:
    path = Path(owned.user_folder("CONFIG"), "contextkit.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def in_force() -> tuple[str, str, int]:
    limits = Layout().limits
    return limits.sync, limits.subagent_command, limits.capsule_max_tokens


def test_every_setting_that_is_text_is_declared_as_acting_or_harmless() -> None:
    fields = {**Limits.fields(), **settings.ADDITIONS, **settings.Places.fields()}
    texts = {name for name, kind in fields.items() if kind not in ("int", "bool")}
    assert not settings.ACTING & settings.HARMLESS
    assert texts == settings.ACTING | settings.HARMLESS, (
        "settings.py: say of each setting that is text whether it acts"
    )


def test_what_is_run_reached_or_obeyed_is_declared_as_acting() -> None:
    words = ("command", "sync", "key", "profile", "template", "role", "writer", "remote", "url")
    fields = {**Limits.fields(), **settings.Places.fields()}
    for name, kind in fields.items():
        if kind not in ("int", "bool") and any(word in name for word in words):
            assert name in settings.ACTING, name
    assert {"sync", "subagent_command", "roles"} <= settings.ACTING
    assert not set(stores.FOLDERS) & settings.ACTING


def test_the_settings_of_a_clone_that_act_are_as_if_unset() -> None:
    write(ACTS)
    for _ in range(2):  # read, then from the cache
        assert in_force() == ("off", "", 900)
        assert Layout().held == {"sync", "subagent_command"}


def test_the_users_own_file_may_name_everything_and_repositories_override_the_rest() -> None:
    own_settings("sync: mine\ncapsule_max_tokens: 700\ncapsule_mini_tokens: 200\n")
    write(ACTS)
    for _ in range(2):
        assert in_force() == ("mine", "", 900)
    assert Layout().limits.capsule_mini_tokens == 200
    trusted(ACTS)
    assert in_force() == ("git", "echo from the clone", 900)


def test_what_was_trusted_holds_until_one_of_it_changes() -> None:
    trusted(ACTS)
    assert in_force() == ("git", "echo from the clone", 900) and not Layout().held
    write(ACTS.replace("900", "800"))
    assert in_force() == ("git", "echo from the clone", 800)
    write(ACTS.replace("git", "https://elsewhere.example"))
    assert in_force() == ("off", "", 900)
    write(ACTS + "sync_key: ~/key\n")
    assert in_force() == ("off", "", 900)
    write(ACTS)
    assert in_force() == ("git", "echo from the clone", 900)


def test_who_writes_receipts_is_said_by_the_user_alone() -> None:
    trusted("receipt_writer: echo x\nsync: git\n")
    assert Layout().held == {"receipt_writer"}
    assert (Layout().limits.receipt_writer, Layout().limits.sync) == ("", "git")


def test_trust_is_for_this_folder_and_its_worktrees(repo: Path) -> None:
    trusted(ACTS)
    git("add", "contextkit.yaml")
    git("commit", "-q", "-m", "settings")
    git("worktree", "add", "-q", "../tree", "-b", "other")
    assert not Layout("../tree").held
    Path("../tree/contextkit.yaml").write_text("sync: elsewhere\n", encoding="utf-8")
    assert Layout("../tree").held == {"sync"}
    git("clone", "-q", ".", "../clone")
    assert Layout("../clone").held == {"sync", "subagent_command"}


def test_a_cache_that_comes_with_the_repository_gives_no_trust() -> None:
    write(ACTS)
    Layout()
    kept = Path(".contextkit/settings").read_text(encoding="utf-8")
    state = os.stat(FILE)
    assert kept.startswith(f"2 {state.st_size} {state.st_mtime_ns} {state.st_ino}\n")
    Path(".contextkit/settings").write_text(kept.replace('"git"', '"x"'), encoding="utf-8")
    assert in_force() == ("off", "", 900)
    owned.trust(os.getcwd(), {"sync": "git", "subagent_command": "echo from the clone"})
    assert in_force()[0] == "off"


def test_context_trust_shows_what_acts_and_asks(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ACTS)
    assert run("context", "trust") == 1
    assert "sync: git" in run.err and "subagent_command: echo from the clone" in run.err
    assert "capsule_max_tokens" not in run.err and in_force()[0] == "off"
    asked: list[str] = []

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    monkeypatch.setattr("contextkit.base.cli.confirm", agree)
    assert run("context", "trust") == 0 and asked
    assert run.out.splitlines() == [
        "sync: git",
        "subagent_command: echo from the clone",
        f"trusted: {os.getcwd()}, until one of these changes",
    ]
    assert in_force()[0] == "git"
    assert run("context", "trust") == 0 and len(asked) == 1
    assert run("context", "trust", "--forget") == 0 and in_force()[0] == "off"
    assert run("context", "trust", "--yes", "--json") == 0 and in_force()[0] == "git"
    assert json.loads(run.out)[0] == {"id": "sync", "value": "git"}


def test_with_nothing_that_acts_nothing_is_asked(run: Script) -> None:
    write("capsule_max_tokens: 900\n")
    assert run("context", "trust") == 0 and run.out.startswith("nothing to trust")
    assert not Path(owned.user_folder("STATE")).exists()


def test_the_state_folder_that_cannot_be_written_is_named(run: Script) -> None:
    write(ACTS)
    Path(os.environ["HOME"], ".local").write_text("in the way", encoding="utf-8")
    assert run("context", "trust", "--yes") == 1
    assert ".local" in run.err


def test_what_is_held_back_is_said_where_it_would_have_mattered(run: Script, repo: Path) -> None:
    hint = "not trusted yet: make context_trust"
    trusted("handoff_profiles: ['agents/{agent}.md']\nroles: roles\nsync: x\nsync_key: ~/k\n")
    shutil.rmtree(owned.user_folder("STATE"))
    assert run("context", "config") == 0
    said = {line.split()[0]: line for line in run.out.splitlines()}
    assert "untrusted" in said["sync"] and "untrusted" in said["handoff_profiles"]
    assert run("handoff", "context", "--to=qa") in (0, 1)
    assert f"handoff_profiles is {hint}" in run.err
    for verb in ("push", "pull"):
        assert run("context_sync", verb) == 1 and hint in run.err
    assert run("context_sync", "push", "--remote=origin") == 1
    assert f"sync_key is {hint}" in run.err


def test_a_command_of_a_clone_is_not_run_and_doctor_and_a_session_say_what_is_held_back(
    run: Script, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("sync: git\nsubagent_command: touch ran\n")
    started: list[object] = []
    monkeypatch.setattr("os.posix_spawn", lambda *given, **more: started.append(given))
    assert run("subagent_manager", "launch", "--slug=x", "--capsule=none") == 0
    assert "subagent_command is not trusted yet: make context_trust" in run.err
    for event in ("SessionStart", "SubagentStop", "SessionEnd"):
        said = runner.run([event], json.dumps({"session_id": "s-1"}).encode())
        assert ("sync is not trusted yet: make context_trust" in said) == (event == "SessionStart")
    assert not started
    run("doctor", "--host=claude")
    assert "note: settings: contextkit.yaml sets subagent_command, sync" in run.out
