"""The workflows of .github: nothing runs that a tag can replace, and nothing runs for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from conftest import CHECKOUT, each

WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))


def jobs(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def used(path: Path) -> Iterator[str]:
    for job in jobs(path).values():
        yield from (step["uses"] for step in job["steps"] if "uses" in step)


@each("path", WORKFLOWS)
def test_actions_are_pinned_by_commit_and_jobs_have_a_timeout(path: Path) -> None:
    for action in used(path):
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
    assert all(0 < job["timeout-minutes"] <= 60 for job in jobs(path).values())


def test_a_commit_of_a_pull_request_is_checked_once() -> None:
    workflow = yaml.safe_load((WORKFLOWS[0].parent / "ci.yml").read_text(encoding="utf-8"))
    on = workflow[True]  # what YAML 1.1 makes of the key `on`
    assert on == {"push": {"branches": ["main"]}, "pull_request": None}


def test_what_make_test_tries_only_shortly_is_tried_at_length_each_night() -> None:
    workflow = yaml.safe_load((WORKFLOWS[0].parent / "long.yml").read_text(encoding="utf-8"))
    assert "schedule" in workflow[True]
    assert "make test what=long" in workflow["jobs"]["long"]["strategy"]["matrix"]["run"]


def test_the_matrix_begins_with_the_oldest_python_that_set_up_takes() -> None:
    text = (CHECKOUT / "scripts" / "setup.py").read_text(encoding="utf-8")
    oldest = re.search(r"^OLDEST = \((\d+), (\d+)\)$", text, re.M)
    pythons = jobs(CHECKOUT / ".github/workflows/ci.yml")["check"]["strategy"]["matrix"]["python"]
    assert oldest and pythons[0] == ".".join(oldest.groups())
