"""sessions.py: the session that is made up where nothing names one, and how long it is kept."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCRIPTS, each, git
from contextkit.base import sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout

NOW = 1_764_324_300  # 2025-11-28 10:05:00 UTC
DAY = 86_400
KEPT = Path(".contextkit/session")


def current(layout: Layout, now: int = NOW, given: str = "") -> str:
    return sessions.current(layout, given, now)[0]


def test_where_nothing_names_a_session_one_is_made_up_and_kept(layout: Layout) -> None:
    session, made_up = sessions.current(layout, "", NOW)
    assert made_up and re.fullmatch(r"sess-20251128T100500Z-[0-9a-f]{6}", session)
    assert sessions.check(session) == session
    assert KEPT.read_text("utf-8") == session + "\n"
    assert sessions.current(layout, "", NOW + 5) == (session, False)
    assert sessions.find_current(layout) == session
    assert git("status", "--porcelain") == ""


def test_looking_makes_none_up(layout: Layout) -> None:
    assert sessions.find_current(layout) == ""
    assert not KEPT.parent.exists()


def test_it_is_reused_until_it_was_idle_for_a_day(layout: Layout) -> None:
    first = current(layout)
    assert current(layout, NOW + DAY) == first
    assert current(layout, NOW + 2 * DAY) == first  # each use starts the day anew
    second, made_up = sessions.current(layout, "", NOW + 3 * DAY + 1)
    assert made_up and second != first


def test_the_idle_time_is_the_one_of_the_payloads(sealed: Path) -> None:
    Path("contextkit.yaml").write_text("payload_idle: 1h\n", "utf-8")
    layout = Layout()
    first = current(layout)
    assert current(layout, NOW + 3600) == first
    assert current(layout, NOW + 7201) != first


def test_a_session_that_is_named_comes_first_and_is_not_kept(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sessions.current(layout, "given", NOW) == ("given", False)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", " named\n")
    assert sessions.current(layout, "", NOW) == ("named", False)
    assert not KEPT.exists()
    pointer = Path(".parallelus/sessions/.current-feature-demo")
    pointer.parent.mkdir(parents=True)
    pointer.write_text("sessions/of-the-branch\n", "utf-8")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert sessions.current(layout, "", NOW) == ("of-the-branch", False)


def test_naming_another_session_does_not_keep_the_made_up_one_alive(layout: Layout) -> None:
    first = current(layout)
    assert current(layout, NOW + DAY, "given") == "given"
    assert current(layout, NOW + DAY + 1) != first


def test_an_ended_session_is_not_reused_and_ending_another_changes_nothing(layout: Layout) -> None:
    first = current(layout)
    sessions.forget(layout, "other")
    assert current(layout) == first
    sessions.forget(layout, first)
    sessions.forget(layout, first)
    assert not KEPT.exists()
    assert current(layout, NOW + 1) != first


def test_a_kept_file_that_names_nothing_is_said_and_not_passed_over(layout: Layout) -> None:
    KEPT.parent.mkdir()
    KEPT.touch()
    os.utime(KEPT, (NOW, NOW))
    with pytest.raises(ContextError, match="names no session: remove it"):
        current(layout)


@each("text", ["a", "0", "sess-abc123", "A.b_c-d", "x" * 64, "a..b"])
def test_a_session_id_is_safe_as_a_folders_name(text: str) -> None:
    assert sessions.check(text) == text


@each(
    "text",
    ["", ".", "..", "a/b", "/a", "a\\b", "x" * 65, "-a", "_a", ".a", "a b", "a\n", "é", "٣", "a\0"],
)  # fmt: skip
def test_any_other_is_refused(text: str) -> None:
    with pytest.raises(ContextError, match="session: ") as caught:
        sessions.check(text)
    assert caught.value.status == 2


def test_sixteen_processes_at_once_agree_on_one_session(layout: Layout) -> None:
    current(layout, NOW - 2 * DAY)  # a stale one, which all of them find
    program = (
        "from contextkit.base import sessions\nfrom contextkit.base.layout import Layout\n"
        f"input()\nprint(*sessions.current(Layout(), '', {NOW}))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
        )
        for _ in range(16)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].split() for process in processes]
    assert len({session for session, _ in said}) == 1
    assert [made_up for _, made_up in said].count("True") == 1
