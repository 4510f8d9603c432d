"""The repository as a plugin: valid, and at work in a project without any of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import clients
from models import Models, Say, Use
from projects import Project, git
from test_real_receipts import PROMPT, scripted, told

CHECKOUT = Path(__file__).resolve().parents[2]


def cloned(tmp_path: Path) -> Path:
    """What git holds and nothing that set-up makes: hooks run there with any python3."""
    kit = tmp_path / "kit"
    git(CHECKOUT, "checkout-index", "-a", f"--prefix={kit}/")
    git(kit, "init", "-q", "-b", "main")
    git(kit, "add", "-A")
    git(kit, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a release")
    return kit


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


def test_claude_installs_it_from_git_and_runs_its_hooks(tmp_path: Path) -> None:
    """From its own marketplace, as a user does; nothing is set up but python3."""
    kit, root, home = cloned(tmp_path), tmp_path / "bare", tmp_path / "home"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    env = clients.environment(home)
    for words in (("marketplace", "add", str(kit)), ("install", "contextkit@contextkit")):
        subprocess.run([clients.program("claude"), "plugin", *words], env=env, check=True)
    (installed,) = home.glob(".claude/plugins/cache/contextkit/contextkit/*/scripts/hook.sh")
    assert not (installed.parents[1] / ".venv").exists()
    project = Project(root, home, "claude")
    with scripted(project, background=True) as models:
        done = project.run(models, PROMPT)
    copies, receipts = told(models)
    assert done.status == 0 and copies == 0 and receipts > 0
    assert git(root, "status", "--porcelain") == "" and project.diagnostics == ""


def test_gemini_links_it_and_runs_its_hooks(tmp_path: Path) -> None:
    kit, root, home = cloned(tmp_path), tmp_path / "bare", tmp_path / "home"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    env = clients.environment(home, GEMINI_CLI_TRUST_WORKSPACE="true")
    words = ("extensions", "link", "--consent", str(kit / "hooks" / "gemini"))
    subprocess.run([clients.program("gemini"), *words], env=env, check=True, cwd=root)
    project = Project(root, home, "gemini")
    with scripted(project) as models:
        done = project.run(models, PROMPT)
    copies, receipts = told(models)
    assert done.status == 0 and copies == 0 and receipts > 0
    assert git(root, "status", "--porcelain") == "" and project.diagnostics == ""


def test_codex_installs_it_and_runs_its_hooks(tmp_path: Path) -> None:
    """From what git holds, which nobody has set up: Codex keeps a copy of it."""
    kit, root = cloned(tmp_path), tmp_path / "bare"
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


def test_the_lines_of_the_readme_install_it_and_its_commands_are_on_the_path(
    tmp_path: Path,
) -> None:
    """As typed, with this repository's place for its address; then the agent runs a command."""
    kit, root, home = cloned(tmp_path), tmp_path / "bare", tmp_path / "home"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    (claude plugin marketplace add .+)$", readme, re.M)
    env = clients.environment(home)
    env["PATH"] = f"{clients.program('claude').parent}:{env['PATH']}"
    typed = re.sub(r"(?<=add )\S+(?= &&)", str(kit), line)
    subprocess.run(typed, shell=True, env=env, check=True, cwd=root)
    project = Project(root, home, "claude")
    command = Use("Bash", {"command": "contextkit remember_later m='a note'"})
    with Models(
        lambda request: [Say("done")] if "saved to" in request.text else [command]
    ) as models:
        options = ("--allowedTools", "Bash(contextkit:*)")
        done = project.run(models, "note it", options=options)
    assert done.status == 0
    assert "a note" in next(root.rglob("remember-later.md")).read_text(encoding="utf-8")
