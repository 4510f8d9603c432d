"""What is read from files that belong to the host: stories and profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.handoffs.flows import incoming, work
from hypothesis import given
from hypothesis import strategies as st


@each(
    ("text", "id", "status", "task"),
    [
        ("---\nid: 1.10\nstatus: 'Draft'\ntask: \"the form\"\n---\n# Story 2.0: x\n",
         "1.10", "Draft", "the form"),
        ("# Story 4.2: Log in\n\n## Status\n\n**Ready**\n\n## Tasks\n- [x] a\n- [ ] b\n- [ ] c\n",
         "4.2", "Ready", "b"),
        ("# A title\n**Status:** In Progress\r\n**Story ID**: PRO-42\n",
         "PRO-42", "In Progress", ""),
        ("# Story 7\n## Status\n- Done\n## Tasks / Subtasks\n* [ ] go on\n", "7", "Done", "go on"),
        ("```\n## Status\nDraft\n```\n- [ ] no task here\n", "", "", ""),
        ("---\nstatus: Draft\n", "", "Draft", ""),
        ("", "", "", ""),
    ],
)  # fmt: skip
def test_a_story_says_its_id_status_and_task(text: str, id: str, status: str, task: str) -> None:
    said = {"story_id": id, "story_status": status, "current_task": task}
    assert work.parse_story(text) == {field: value for field, value in said.items() if value}


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_a_story_of_single_lines(text: str) -> None:
    for said in work.parse_story(text).values():
        assert "\n" not in said and said == said.strip()


def test_a_file_that_is_none_is_no_story(tmp_path: Path) -> None:
    assert work.load_story(str(tmp_path)) is None
    assert work.load_story(str(tmp_path / ("x" * 3000))) is None
    (tmp_path / "s.md").write_bytes(b"# Story 1\n\xff\n" + b"x" * 300_000)
    found = work.load_story(str(tmp_path / "s.md"))
    assert found == {"story_id": "1"}


def test_profiles_are_found_where_the_setting_says(layout: Layout) -> None:
    assert incoming.find_profile(layout, "qa") == "" and not incoming.has_profiles(layout)
    second = Path(layout.root, ".claude/agents")
    second.mkdir(parents=True)
    (second / "qa.md").write_text("two", encoding="utf-8")
    assert incoming.load_profile(layout, incoming.find_profile(layout, "qa")) == "two"
    first = Path(layout.root, ".aios-core/development/agents")
    first.mkdir(parents=True)
    (first / "qa.md").write_text("one", encoding="utf-8")
    assert incoming.load_profile(layout, incoming.find_profile(layout, "qa")) == "one"
    assert incoming.has_profiles(layout) and incoming.find_profile(layout, "dev") == ""


def test_a_profile_outside_of_the_repository_or_too_large_is_refused(
    layout: Layout, tmp_path: Path
) -> None:
    folder = Path(layout.root, ".claude/agents")
    folder.mkdir(parents=True)
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    (folder / "qa.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ContextError, match="lies outside"):
        incoming.find_profile(layout, "qa")
    (folder / "dev.md").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(ContextError, match="too large for a profile"):
        incoming.load_profile(layout, incoming.find_profile(layout, "dev"))


def test_lines_of_its_own_are_the_longer_ones_that_others_lack() -> None:
    own = incoming.lines_of_its_own(
        "- You are Dex, who builds things\n# You both review what you do\nshort\n",
        "You both review what you do\n",
    )
    assert own == frozenset(["You are Dex, who builds things"])
