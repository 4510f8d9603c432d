"""context_window.py: when to warn, when to save, and that a save happens only once."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from conftest import each, ended, forked
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from contextkit.memory.documents import context_window as zones
from hypothesis import given
from hypothesis import strategies as st


def configured(repo: Path, *lines: str) -> Layout:
    (repo / "contextkit.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Layout()


@each(
    ("tokens", "name"),
    [(0, "ok"), (119_999, "ok"), (120_000, "warn"), (149_999, "warn"), (150_000, "save"),
     (9_999_999, "save")],
)  # fmt: skip
def test_the_zones_of_the_seed(layout: Layout, tokens: int, name: str) -> None:
    assert zones.look(layout, "s", "t", tokens)[0].name == name


@each(
    ("lines", "warn_at", "save_at"),
    [
        (["memory_save_tokens: 50000"], 40_000, 50_000),
        (["memory_save_percent: 75"], 120_000, 150_000),
        (["memory_save_percent: 75", "memory_window_tokens: 1000000"], 600_000, 750_000),
        (["memory_warn_percent: 100"], 150_000, 150_000),
        (["memory_save_tokens: 1"], 1, 1),
    ],
)
def test_the_threshold_is_a_number_or_a_share_of_a_window(
    repo: Path, lines: list[str], warn_at: int, save_at: int
) -> None:
    assert zones.borders(configured(repo, *lines).limits) == (warn_at, save_at)


@given(save=st.integers(1, 10**7), percent=st.integers(0, 100), size=st.integers(1, 10**7),
       warn=st.integers(1, 100))  # fmt: skip
def test_a_warning_never_comes_after_the_save(
    save: int, percent: int, size: int, warn: int
) -> None:
    limits = Limits(memory_save_tokens=save, memory_save_percent=percent,
                    memory_window_tokens=size, memory_warn_percent=warn)  # fmt: skip
    warn_at, save_at = zones.borders(limits)
    assert 1 <= warn_at <= save_at


def written(name: str) -> str:
    """A snapshot as far as marks are concerned: a file in the root."""
    Path(name).touch()
    return name


def due(layout: Layout, tokens: int, session: str = "s", task: str = "t") -> bool:
    """Look once, writing a snapshot if one is due."""
    found, path = zones.look(layout, session, task, tokens)
    if path or found.name != zones.SAVE:
        return False
    zones.once(layout, session, task, lambda: written("snap.md"), 0)
    return True


def test_a_snapshot_is_due_once_until_the_count_dropped(layout: Layout) -> None:
    counts = [149_999, 150_000, 150_000, 170_000, 149_999, 150_000, 20_000, 200_000]
    assert [due(layout, n) for n in counts] == [0, 1, 0, 0, 0, 1, 0, 1]
    assert zones.snapshot_of(layout, "s", "t") == "snap.md"


def test_a_snapshot_that_is_gone_is_written_again(layout: Layout) -> None:
    assert due(layout, 150_000) and not due(layout, 150_000)
    Path("snap.md").unlink()
    assert due(layout, 150_000)


def test_each_session_and_each_task_has_its_own(layout: Layout) -> None:
    assert due(layout, 150_000) and due(layout, 150_000, session="other")
    assert due(layout, 150_000, task="other") and not due(layout, 150_000)


def test_the_second_of_two_processes_finds_what_the_first_wrote(layout: Layout) -> None:
    children = 8
    read, write = os.pipe()

    def look(number: int) -> None:
        path, new = zones.once(layout, "s", "t", lambda: written(f"snap-{number}"), 0)
        os.write(write, f"{path} {new}\n".encode())

    assert ended([forked(partial(look, number)) for number in range(children)]) == [0] * children
    os.close(write)
    with os.fdopen(read) as pipe:
        said = [line.split() for line in pipe]
    assert len(said) == children and len({path for path, _ in said}) == 1
    assert [new for _, new in said].count("True") == 1


def test_marks_that_nobody_asks_about_are_swept(layout: Layout) -> None:
    zones.once(layout, "old", "", lambda: written("a"), 0)
    mark = next(Path(layout.state, "memory", "saves").iterdir())
    os.utime(mark, (1, 1))
    zones.once(layout, "new", "", lambda: written("b"), 86_400 * 31)
    assert zones.snapshot_of(layout, "old", "") == "" and zones.snapshot_of(layout, "new", "")
