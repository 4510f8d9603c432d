"""sessions.py: the one order in which a session's name is looked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base import sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads

SLUG = "feature-demo"
POINTERS = Path(".parallelus/sessions")
MARKER = Path(f"docs/parallelus/self-improvement/markers/{SLUG}.json")


@pytest.fixture
def layout(sealed: Path) -> Layout:
    """None of this needs git."""
    return Layout()


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_each_source_counts_only_where_those_before_it_are_silent(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> str:
        return sessions.named(layout, SLUG)[0]

    assert found() == ""
    put(Path(".contextkit/session"), "kept\n")
    assert found() == "kept"
    put(MARKER, json.dumps({"session_id": "marker"}))
    assert found() == "marker"
    put(POINTERS / ".current", "current\n")
    assert found() == "current"
    put(POINTERS / f".current-{SLUG}", "current-slug\n")
    assert found() == "current-slug"
    for variable in ("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "SESSION_ID"):
        monkeypatch.setenv(variable, f"from {variable}")
        assert found() == f"from {variable}"


def test_what_is_blank_says_nothing(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_ID", "  ")
    put(POINTERS / f".current-{SLUG}", "\n")
    put(POINTERS / ".current", "current")
    assert sessions.named(layout, SLUG)[0] == "current"


@pytest.mark.parametrize(
    "path", ["/x/sessions/20251023-171812-1-bc", "sessions/20251023-171812-1-bc/"]
)
def test_a_pointer_to_the_sessions_folder_gives_its_name(layout: Layout, path: str) -> None:
    put(POINTERS / ".current", f"{path}\n")
    assert sessions.named(layout, SLUG)[0] == "20251023-171812-1-bc"


@each("text", ["", "{", "[]", '{"session_id": 7}', "{}"])
def test_a_marker_that_names_no_session_is_passed_over(layout: Layout, text: str) -> None:
    put(MARKER, text)
    assert sessions.named(layout, SLUG)[0] == ""


def test_looking_writes_nothing(layout: Layout) -> None:
    sessions.named(layout, SLUG)
    assert list(Path(layout.root).iterdir()) == []


def test_where_case_is_folded_a_session_of_other_capitals_is_refused(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(layout.payloads) / "s1"
    folder.mkdir(parents=True)
    sessions.check_spelling(str(folder))
    other = str(folder.with_name("S1"))
    sessions.check_spelling(other)  # this file system tells them apart

    def folding(name: str, of: Any = os.path) -> None:
        real = getattr(of, name)
        monkeypatch.setattr(
            of, name, lambda *given: real(*(str(one).replace("/S1", "/s1") for one in given))
        )

    folding("lexists")
    folding("samefile")
    sessions.check_spelling(str(folder))
    with pytest.raises(ContextError, match="'S1' is 's1' to this file system"):
        sessions.check_spelling(other)
    with pytest.raises(ContextError, match="'S1' is 's1'"):
        payloads.folder(layout, "S1")
