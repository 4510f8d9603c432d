"""`sync:` in contextkit.yaml: hooks pull and push in the background, and never fail for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Script, git, trusted, until
from contextkit.hosts.flows import runner
from git_servers import bare
from simulated_machines import Machine
from test_git_remotes import clone, refs


def synced(root: Path, remote: str, sync: str = "git") -> Machine:
    machine = clone(root, remote)
    trusted(f"sync: {sync}\n", root)
    return machine


def fire(machine: Machine, event: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(machine.root)
    return runner.run([event], json.dumps({"session_id": "s-1"}).encode())


def test_a_session_pushes_as_it_ends_and_pulls_as_it_starts(
    sealed: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = bare(sealed / "hub.git")
    one, other = synced(sealed / "one", str(hub)), synced(sealed / "other", str(hub))
    finding = one.find_out("ui", "# one\n")
    assert fire(one, "SessionEnd", monkeypatch) == ""
    until(lambda: refs(hub))
    fire(other, "SessionStart", monkeypatch)
    until((other.root / finding.relative_to(one.root)).exists)
    with other.clock():
        assert run("context_sync", "background", "--verb=pull", f"--root={other.root}") == 0
    assert run.out == "nothing new was taken\n"


def test_with_sync_off_nothing_is_started(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = clone(sealed / "one", str(bare(sealed / "hub.git")))
    started: list[object] = []
    monkeypatch.setattr("os.posix_spawn", lambda *given, **more: started.append(given))
    for event in ("SessionStart", "SubagentStop", "SessionEnd"):
        fire(one, event, monkeypatch)
    assert not started
    trusted("sync: git\n", one.root)
    for event in ("SessionStart", "SubagentStop", "SessionEnd"):
        fire(one, event, monkeypatch)
    verbs = [word for given in started for word in given[1] if word.startswith("--verb=")]  # type: ignore[index]
    assert verbs == ["--verb=pull", "--verb=push", "--verb=push"]


def test_what_goes_wrong_is_a_line_for_doctor(sealed: Path, run: Script) -> None:
    one = synced(sealed / "one", f"{sealed}/nowhere.git")
    one.find_out("ui", "# one\n")
    assert run("context_sync", "background", "--verb=push", f"--root={one.root}") == 0
    (line,) = runner.noted(one.layout.hooks)
    assert " sync push: remote origin: git fetch failed: fatal: " in line


def test_a_refused_secret_is_a_line_for_doctor_too(sealed: Path, run: Script) -> None:
    one = synced(sealed / "one", str(bare(sealed / "hub.git")))
    one.find_out("ui", "token: ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
    assert run("context_sync", "background", "--verb=push", f"--root={one.root}") == 0
    (line,) = runner.noted(one.layout.hooks)
    assert line.endswith(" sync push: finding:ui_20261122T100000:1: github-token")


def test_the_setting_names_the_remote_of_the_commands(sealed: Path, run: Script) -> None:
    one = synced(sealed / "one", "nowhere", sync=f"file://{sealed}/share")
    one.find_out("ui", "# one\n")
    assert run("context_sync", "push", f"--root={one.root}") == 0
    assert (sealed / "share/machines").is_dir()
    assert not git("for-each-ref", cwd=one.root)
