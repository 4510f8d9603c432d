"""capsules.latest_entries: which entries of a branch notebook are its latest."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.capsules.documents import store as capsules

TIMED = """# Branch Progress — demo

## 2025-10-22 09:00:00 UTC
- **Summary:** second

## 2025-10-23 09:00:00 UTC
third

## 2025-10-21 09:00:00 UTC
first
"""


def first_lines(entries: list[str]) -> list[str]:
    return [entry.splitlines()[0] for entry in entries]


def test_entries_are_taken_by_their_time_not_by_their_place() -> None:
    found = capsules.entries(TIMED)[:2]
    assert found[0] == "## 2025-10-23 09:00:00 UTC\nthird"
    assert found[1] == "## 2025-10-22 09:00:00 UTC\n- **Summary:** second"


def test_entries_without_a_time_are_taken_by_their_place() -> None:
    plan = "# Plan\n## Objectives\na\n## Checklist\nb\n## Next Actions\nc\n"
    found = capsules.entries(plan)[:2]
    assert first_lines(found) == ["## Next Actions", "## Checklist"]


def test_an_entry_with_a_time_is_newer_than_one_without() -> None:
    found = capsules.entries(TIMED + "\n## Notes\n2026-01-01 99\n")
    assert first_lines(found)[-1] == "## Notes"


@each("fence", ["```", "~~~", "````\n```"])
def test_headings_in_code_start_no_entry(fence: str) -> None:
    text = f"## One\n{fence}\n## no entry\n{fence[:4]}\nstill one\n## Two\nb\n"
    assert first_lines(capsules.entries(text)) == ["## Two", "## One"]


def test_deeper_headings_belong_to_their_entry() -> None:
    assert capsules.entries("intro\n## One\r\n### Part\r\n# Other") == ["## One\n### Part\n# Other"]


def test_a_notebook_that_is_not_there_has_no_entries(tmp_path: Path) -> None:
    assert capsules.latest_entries(str(tmp_path / "PLAN.md"), 2) == []


def test_a_notebook_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"## One\n\xff")
    with pytest.raises(ContextError, match=r"PLAN\.md: not UTF-8"):
        capsules.latest_entries(str(path), 1)
