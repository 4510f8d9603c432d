"""Real hosts in real projects: `make test_hosts`. `make test` does not come here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import clients
import pytest
from projects import Project, git

CHECKOUT = Path(__file__).resolve().parents[2]
os.environ.pop("CONTEXTKIT_GIVEN", None)  # typed for `make test what=hosts`, not for what it calls


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    programs = [clients.program(name) for name in ("claude", "codex", "copilot", "gemini")]
    for path in (*programs, clients.program("claude", clients.OLDER)):
        if not path.exists():
            pytest.exit(f"{path} is missing: make test_hosts installs it (it needs node)")


@pytest.fixture(scope="session")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A repository that was adopted for these hosts and committed; tests work in copies of it."""
    return cache(lambda hosts: _adopted(tmp_path_factory.mktemp("adopted"), hosts))


def _adopted(folder: Path, hosts: str) -> Path:
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Demo\n", encoding="utf-8")
    command = [sys.executable, CHECKOUT / "scripts" / "adopt.py", f"--into={folder}", "--copy"]
    subprocess.run([*command, f"--hosts={hosts}"], check=True, capture_output=True)
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "adopted")
    (folder / "tools" / "contextkit" / ".venv").symlink_to(CHECKOUT / ".venv")  # set up already
    with (folder / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
        file.write(".venv\n")
    return folder


@pytest.fixture(params=["claude", "codex"])
def project(
    request: pytest.FixtureRequest, adopted: Callable[[str], Path], tmp_path: Path
) -> Iterator[Project]:
    """In each host; `@pytest.mark.parametrize("project", ["claude"], indirect=True)` for one."""
    root = tmp_path / "demo"
    host, _, form = str(request.param).partition("-")
    hosts = "claude codex" if host in ("claude", "codex") else host
    shutil.copytree(adopted(hosts), root, symlinks=True)
    found = Project(root, tmp_path / "home", host, form)
    yield found
    assert found.diagnostics == ""
