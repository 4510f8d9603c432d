"""make upgrade and context_upgrade: from a folder or the remembered remote; nothing is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkouts import adopt
from conftest import git, seal
from contextkit.base.version import VERSION
from contextkit.hosts.documents import vendored
from contextkit.hosts.flows import upgrades

FOLDER = "tools/contextkit"
APART = (
    "manuals/",
    "templates/day/",
    *(
        f"scripts/contextkit/{name}/"
        for name in "capsules evaluation handoffs history machines memory outputs reviews"
        " subagents text/digests".split()
    ),
)  # adopting needs nothing of them
CHANGES = {
    "1.0.0": "# Changelog\n\n## 1.0.0 - 2025-01-01\n\n### Features\n"
    "- The first one,\n  in two lines.\n",
    "1.1.0": "# Changelog\n\n## 1.1.0 - 2025-02-01\n\n### Features\n- Faster receipts.\n\n"
    "## 1.0.0 - 2025-01-01\n\n### Features\n- The first one, in\n  two lines.\n",
    "2.0.0-rc.1": "# Changelog\n\n## 2.0.0-rc.1\n- Daring.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of contextkit with three tagged versions; `main` is at the last."""
    folder = tmp_path_factory.mktemp("released") / "contextkit"
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, folder.parent.parent / f"{folder.parent.name}-home")
        patch.setattr(vendored, "_tracked", lambda: None)  # a module may not be committed yet
        for path, (data, program) in vendored.toolkit_files().items():
            if path.startswith(APART):
                continue
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
            (folder / path).chmod(0o755 if program else 0o644)
        git("init", "-q", "-b", "main", str(folder))
        stated = next(folder.rglob("contextkit/**/version.py"))
        text = stated.read_text(encoding="utf-8")
        for version, changes in CHANGES.items():
            stated.write_text(text.replace(VERSION, version), encoding="utf-8")
            (folder / "CHANGELOG.md").write_text(changes, encoding="utf-8")
            git("add", "-A", cwd=folder)
            git("commit", "-q", "-m", version, cwd=folder)
            git("tag", f"v{version}", cwd=folder)
        git("repack", "-a", "-d", "-q", cwd=folder)  # one file to copy in place of a thousand
    return folder


def clone(released: Path, version: str, folder: Path) -> Path:
    git("clone", "-q", str(released), str(folder))
    git("checkout", "-q", "-B", "main", f"v{version}", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def first_host(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `host` is a copy of, byte code and all."""
    folder = tmp_path_factory.mktemp("first_host")
    host = folder / "host"
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, folder / "home")
        git("init", "-q", "-b", "feature/demo", str(host))
        git("commit", "-q", "--allow-empty", "-m", "first commit", cwd=host)
        adopt(clone(released, "1.0.0", folder / "old"), f"--into={host}", "--copy")
        upgrade(host, "--dry-run")
    return host


@pytest.fixture
def host(first_host: Path, sealed: Path) -> Path:
    """A repository with a copy of version 1.0.0, which remembers where that came from."""
    shutil.copytree(first_host, sealed, symlinks=True, dirs_exist_ok=True)
    return sealed


def upgrade(host: Path, *arguments: str, status: int = 0) -> str:
    return adopt(host / FOLDER, "upgrade", *arguments, status=status)


def version_of(folder: Path) -> str:
    base = folder / "scripts" / "contextkit" / "base"
    # A second version of one size within a second: the byte code of the first would be taken.
    for compiled in (base / "__pycache__").glob("version.*"):
        compiled.unlink()
    said = re.search(r'^VERSION = "(.+)"$', (base / "version.py").read_text("utf-8"), re.M)
    assert said
    return said[1]


def test_a_copy_is_upgraded_from_the_remote_that_it_remembers(host: Path, released: Path) -> None:
    skill = host / ".claude" / "skills" / "contextkit" / "SKILL.md"
    skill.write_text("mine", encoding="utf-8")
    (host / "contextkit.yaml").write_text("payload_budget: 700\n", encoding="utf-8")
    (host / "shared" / "payloads" / "s").mkdir(parents=True)
    (host / "shared" / "payloads" / "s" / "x.md").write_text("stored", encoding="utf-8")
    shown = upgrade(host, "--dry-run")
    assert version_of(host / FOLDER) == "1.0.0"
    first, *lines = upgrade(host).splitlines()
    assert first == f"from 1.0.0 to 1.1.0 ({released} v1.1.0)" and first in shown
    assert lines[:3] == ["what is new:", "1.1.0 - 2025-02-01", "- Faster receipts."]
    assert not any("The first one" in line for line in lines), "wrapped anew, it is not new"
    assert version_of(host / FOLDER) == "1.1.0"
    assert skill.read_text(encoding="utf-8") == "mine"
    assert (host / "contextkit.yaml").read_text(encoding="utf-8") == "payload_budget: 700\n"
    assert (host / "shared" / "payloads" / "s" / "x.md").exists()
    assert "already has this version, 1.1.0" in upgrade(host)


def test_a_candidate_is_taken_only_by_its_name_and_a_downgrade_only_by_force(host: Path) -> None:
    assert "from 1.0.0 to 2.0.0-rc.1" in upgrade(host, "--to=2.0.0-rc.1")
    told = upgrade(host, "--to=v1.0.0", status=2)
    assert "to: 1.0.0 is older than 2.0.0-rc.1, which is here: force=1 goes back" in told
    assert version_of(host / FOLDER) == "2.0.0-rc.1"
    assert "goes back to an older version" in upgrade(host, "--to=1.0.0", "--force")
    assert version_of(host / FOLDER) == "1.0.0"


def test_a_folder_and_a_url_do_as_well(host: Path, released: Path, tmp_path: Path) -> None:
    newer = clone(released, "1.1.0", tmp_path / "newer")
    assert f"from 1.0.0 to 1.1.0 ({newer})" in upgrade(host, f"--to={newer}")
    assert "from 1.1.0 to 1.1.0 (file://" in upgrade(host, f"--to=file://{released}")


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("9.9.9", "to: '9.9.9' is not a folder, and not in "),
        (".", "to: .: is not a contextkit that states its version"),
        ("file:///no/such/repository", "git ls-remote failed: "),
    ],
)
def test_what_is_no_newer_contextkit_is_refused(host: Path, to: str, said: str) -> None:
    before = version_of(host / FOLDER)
    status = 1 if to.startswith("file") else 2
    assert said in upgrade(host, f"--to={to}", status=status)
    assert version_of(host / FOLDER) == before


def test_a_copy_that_knows_no_remote_asks_for_a_folder(
    repo: Path, released: Path, tmp_path: Path
) -> None:
    toolkit = clone(released, "1.0.0", tmp_path / "old")
    git("remote", "remove", "origin", cwd=toolkit)
    adopt(toolkit, "--into=.", "--copy")
    assert "nothing here records where it came from: name a newer" in upgrade(repo, status=2)


def test_a_password_in_a_remote_is_not_remembered(
    repo: Path, released: Path, tmp_path: Path
) -> None:
    toolkit = clone(released, "1.0.0", tmp_path / "old")
    git("remote", "set-url", "origin", "https://ada:secret@example.org/kit.git", cwd=toolkit)
    adopt(toolkit, "--into=.", "--copy")
    record = vendored.load(str(repo / FOLDER / vendored.RECORD))
    assert record.remote == "https://example.org/kit.git"


def test_a_checkout_is_moved_on_and_never_loses_work(
    repo: Path, released: Path, tmp_path: Path
) -> None:
    checkout = clone(released, "1.0.0", tmp_path / "checkout")
    assert "from 1.0.0 to 1.1.0" in adopt(checkout, "upgrade", "--dry-run")
    assert version_of(checkout) == "1.0.0"
    (checkout / "README.md").write_text("mine", encoding="utf-8")
    assert "has changes that are not committed" in adopt(checkout, "upgrade", status=1)
    git("commit", "-qam", "mine", cwd=checkout)
    assert "has commits of its own" in adopt(checkout, "upgrade", status=1)
    git("reset", "-q", "--hard", "HEAD~1", cwd=checkout)
    assert "- Faster receipts." in adopt(checkout, "upgrade")
    assert version_of(checkout) == "1.1.0"
    assert git("branch", "--show-current", cwd=checkout) == "main\n"
    assert "has nothing newer" in adopt(checkout, "upgrade")
    assert "is older than 1.1.0" in adopt(checkout, "upgrade", "--to=1.0.0", status=2)
    adopt(checkout, "upgrade", "--to=1.0.0", "--force")
    assert version_of(checkout) == "1.0.0"


def test_make_hands_the_variables_on(host: Path, released: Path) -> None:
    python = host / FOLDER / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    ready = "override CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python\n"
    (host / FOLDER / ".venv" / "contextkit.mk").write_text(ready, encoding="utf-8")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    done = subprocess.run(
        ["make", "-s", "context_upgrade", "to=1.1.0", "dry_run=1"],
        env={**os.environ, "PYTHONPATH": packages},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.startswith("from 1.0.0 to 1.1.0 ("), done.stderr
    assert version_of(host / FOLDER) == "1.0.0"


def test_sections_of_a_changelog() -> None:
    text = CHANGES["1.1.0"]
    assert upgrades.release_notes(text, "1.1.0") == "\n### Features\n- Faster receipts.".strip("\n")
    assert upgrades.release_notes(text, "1.2.0") == ""
    assert [title for title, _ in upgrades.sections(text)] == [
        "1.1.0 - 2025-02-01",
        "1.0.0 - 2025-01-01",
    ]
    assert upgrades.new_entries(text, text) == []
