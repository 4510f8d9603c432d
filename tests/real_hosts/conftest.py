"""Real hosts in real projects: `make test_hosts`. `make test` does not come here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import clients
import pytest
from projects import Project, git

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    for name in ("claude", "codex"):
        if not clients.program(name).exists():
            pytest.exit(f"{name} is not installed: make test_hosts installs it (it needs node)")


@pytest.fixture(scope="session")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that was adopted and committed; tests work in copies of it."""
    folder = tmp_path_factory.mktemp("adopted")
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Demo\n", encoding="utf-8")
    subprocess.run([sys.executable, CHECKOUT / "scripts" / "adopt.py", f"--into={folder}"],
                   check=True, capture_output=True)  # fmt: skip
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "adopted")
    (folder / "tools" / "contextkit" / ".venv").symlink_to(CHECKOUT / ".venv")  # set up already
    with (folder / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
        file.write(".venv\n")
    return folder


@pytest.fixture(params=["claude", "codex"])
def project(request: pytest.FixtureRequest, adopted: Path, tmp_path: Path) -> Iterator[Project]:
    """In each host; `@pytest.mark.parametrize("project", ["claude"], indirect=True)` for one."""
    root = tmp_path / "demo"
    shutil.copytree(adopted, root, symlinks=True)
    host, _, form = str(request.param).partition("-")
    found = Project(root, tmp_path / "home", host, v2=form == "v2")
    yield found
    assert found.diagnostics == ""
