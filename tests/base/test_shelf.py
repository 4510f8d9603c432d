"""shelf.py: a document that is moved or removed is neither lost nor overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from contextkit.base import ledger, shelf
from contextkit.base.layout import Layout


def written(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def inside(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("there", "in_front", "kept"),
    [
        (None, False, {"a.md": "new"}),
        ("new", False, {"a.md": "new"}),
        ("old", False, {"a.md": "old", "a-2.md": "new"}),
        ("old", True, {"a.md": "new", "a-2.md": "old"}),
    ],
)
def test_a_moved_file_overwrites_nothing(
    tmp_path: Path, there: str | None, in_front: bool, kept: dict[str, str]
) -> None:
    path, folder = written(tmp_path / "from" / "a.md", "new"), tmp_path / "to"
    if there:
        written(folder / "a.md", there)
    new = shelf.move(path, str(folder), in_front)
    assert inside(folder) == kept and Path(new).read_text("utf-8") == "new"
    assert not os.path.exists(path)


def test_what_another_process_moved_or_removed_is_no_error(layout: Layout) -> None:
    gone = layout.join(".aios/handoffs/handoff-a-to-b-20251023T180500Z.yaml")
    assert shelf.move(gone, layout.join("to")) == ""
    shelf.remove(layout, gone, "handoff")
    assert not list(ledger.read(layout))


def test_what_is_removed_for_good_is_noted(layout: Layout) -> None:
    name = "handoff-a-to-b-20251023T180500Z"
    os.makedirs(layout.handoffs)
    path = written(Path(layout.handoffs, f"{name}.yaml"), "x")
    shelf.remove(layout, path, "handoff")
    assert not os.path.exists(path)
    assert [(one["event"], one["ref"]) for one in ledger.read(layout)] == [
        (ledger.REMOVED, f"handoff:{name}")
    ]


def test_only_what_is_older_is_forgotten(tmp_path: Path) -> None:
    for name, at in (("old", 100), ("new", 200)):
        os.utime(written(tmp_path / "marks" / name, name), (at, at))
    shelf.forget(str(tmp_path / "marks"), 150)
    shelf.forget(str(tmp_path / "none"), 150)  # nothing was ever marked there
    assert inside(tmp_path / "marks") == {"new": "new"}
