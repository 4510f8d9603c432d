"""The repository as a plugin: valid, and at work in a project without any of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import clients
from models import Models
from projects import Project, git
from test_real_receipts import PROMPT, scripted, told

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_plugin_is_valid(tmp_path: Path) -> None:
    done = subprocess.run(
        [clients.program("claude"), "plugin", "validate", "--strict", CHECKOUT],
        env=clients.environment(tmp_path / "home"), capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_plugin_is_at_work_in_a_project_that_was_not_adopted(tmp_path: Path) -> None:
    root = tmp_path / "bare"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    project = Project(root, tmp_path / "home", "claude")
    models: Models = scripted(project, background=True)
    with models:
        done = project.run(models, PROMPT, options=("--plugin-dir", str(CHECKOUT)))
    copies, receipts = told(models)
    assert done.status == 0 and copies == 0 and receipts > 0
    assert git(root, "status", "--porcelain") == "" and project.diagnostics == ""


def test_codex_installs_it_and_runs_its_hooks(tmp_path: Path) -> None:
    """From a checkout that was set up: Codex keeps a copy of it."""
    kit, root = tmp_path / "kit", tmp_path / "bare"
    git(CHECKOUT, "checkout-index", "-a", f"--prefix={kit}/")
    compiled = Path("scripts", "contextkit", "compiled")
    shutil.copytree(CHECKOUT / compiled, kit / compiled, dirs_exist_ok=True)
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    project = Project(root, tmp_path / "home", "codex")
    with scripted(project, background=True) as models:
        folder = clients.codex_home(project.home, root, models.address)
        env = clients.environment(project.home, CODEX_HOME=str(folder))
        for words in (("marketplace", "add", str(kit)), ("add", "contextkit@contextkit")):
            subprocess.run([clients.program("codex"), "plugin", *words], env=env, check=True)
        done = clients.codex(project.home, root, PROMPT)
    copies, receipts = told(models)
    assert done.status == 0 and copies == 0 and receipts > 0
    assert git(root, "status", "--porcelain") == "" and project.diagnostics == ""
