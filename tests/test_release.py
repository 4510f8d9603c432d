"""The release workflow: what it would release, run as the workflow runs it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import CHECKOUT, each, git
from contextkit.base.version import VERSION
from contextkit.hosts.documents import vendored

WORKFLOW = CHECKOUT / ".github" / "workflows" / "release.yml"


def steps() -> dict[str, dict[str, Any]]:
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return {step.get("name", ""): step for step in jobs["release"]["steps"]}


@pytest.fixture
def checkout(repo: Path) -> Path:
    """The work tree that the workflow sees, with a changelog of its own."""
    (repo / "scripts").symlink_to(CHECKOUT / "scripts")
    return repo


def what(checkout: Path, changelog: str) -> tuple[str, str, str]:
    """(talk, output of the step, notes) for a changelog."""
    (checkout / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    output = checkout / "output"
    output.write_text("", encoding="utf-8")
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", steps()["What is to be released"]["run"]],
        env={**os.environ, "RUNNER_TEMP": str(checkout), "GITHUB_OUTPUT": str(output)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    notes = (checkout / "notes.md").read_text(encoding="utf-8")
    return done.stdout, output.read_text(encoding="utf-8"), notes


def test_a_version_with_a_section_and_no_tag_is_released_with_its_notes(checkout: Path) -> None:
    sections = ("Unreleased\n- later", f"{VERSION} - 2026-01-31\n\n- now", "0.0.1\n- x")
    text = "# Changelog\n" + "".join(f"\n## {section}\n" for section in sections)
    assert what(checkout, text) == ("", f"tag=v{VERSION}\n", "- now")
    git("tag", f"v{VERSION}")
    talk, output, _ = what(checkout, text)
    assert (talk, output) == (f"v{VERSION} is released already\n", "")


def test_without_a_section_nothing_is_released(checkout: Path) -> None:
    talk, output, notes = what(checkout, f"# Changelog\n\n## Unreleased\n- {VERSION}\n")
    assert "nothing to release" in talk and (output, notes) == ("", "")


def test_the_release_names_tag_commit_and_notes(checkout: Path) -> None:
    log = checkout / "gh"
    log.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    log.chmod(0o755)
    for tag, last in (("v1.2.0", "n/notes.md"), ("v2.0.0-rc.1", "--prerelease")):
        done = subprocess.run(
            ["bash", "-e", "-c", steps()["The tag and the release"]["run"]],
            env={
                "PATH": f"{checkout}:/usr/bin:/bin",
                "TAG": tag,
                "GITHUB_SHA": "abc",
                "RUNNER_TEMP": "n",
            },
            capture_output=True,
            encoding="utf-8",
        )
        words = done.stdout.splitlines()
        assert words[:7] == ["release", "create", tag, "--target", "abc", "--title", tag]
        assert words[-1] == last


def test_the_workflow_follows_the_version_and_pins_its_actions() -> None:
    found = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    paths = found[True]["push"]["paths"]  # YAML takes `on` for a truth value
    assert all((CHECKOUT / path).is_file() for path in paths) and len(paths) == 2
    used = [step["uses"] for step in found["jobs"]["release"]["steps"] if "uses" in step]
    assert used and all(re.search(r"@[0-9a-f]{40}$", action) for action in used)
    assert found["jobs"]["release"]["timeout-minutes"] <= 60


@each("name", ["SECURITY.md", "CONTRIBUTING.md"])
def test_links_of_the_upkeep_files_lead_somewhere(name: str) -> None:
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links and all((CHECKOUT / link).exists() for link in links)


def test_nobody_is_told_to_install_it_by_its_name() -> None:
    """The name on the package index belongs to another project: only a git URL is right."""
    installs = re.compile(r"(?:pip3? install|pipx \w+|uv tool \w+|uv add|uvx)\b([^`\n]*)")
    by_name = re.compile(r"(?<![\w./:@-])contextkit(?:$|[\s\[=<>~'\"])")
    tracked = [CHECKOUT / path for path in vendored.toolkit_files()]
    found = [
        f"{path.name}: {words}"
        for path in tracked
        for words in installs.findall(path.read_text(encoding="utf-8", errors="replace"))
        if by_name.search(words) and "git+" not in words
    ]
    assert not found
    assert by_name.search(" contextkit adopt") and not by_name.search(
        " git+https://x/contextkit.git"
    )
