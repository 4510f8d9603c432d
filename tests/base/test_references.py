"""references.py: fresh, changed, missing; and what must never be opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from contextkit.base import references
from contextkit.base.references import Reference, seal, state
from hypothesis import given
from hypothesis import strategies as st


def test_a_file_is_fresh_until_it_changes_and_missing_once_it_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"one")
    (sealed,) = seal(str(tmp_path), ["a.py"])
    assert state(str(tmp_path), sealed) == "fresh"
    os.utime(file, (1, 1))
    assert state(str(tmp_path), sealed) == "fresh"  # its time is not what it is
    file.write_bytes(b"two")
    assert state(str(tmp_path), sealed) == "changed"
    file.unlink()
    assert state(str(tmp_path), sealed) == "missing"


def test_the_digest_is_the_one_that_sha256sum_prints(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert seal(str(tmp_path), ["./a", "a"]) == (Reference(path="a", sha256=expected),)


def test_a_file_that_was_missing_has_changed_once_it_is_there(tmp_path: Path) -> None:
    (sealed,) = seal(str(tmp_path), ["later.py"])
    assert sealed == Reference(path="later.py")
    assert state(str(tmp_path), sealed) == "missing"
    (tmp_path / "later.py").write_bytes(b"")
    assert state(str(tmp_path), sealed) == "changed"


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "link", "", " ", ".", "a\0b"])
def test_what_lies_outside_the_root_is_left_out_and_never_opened(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    assert seal(str(root), [path]) == ()
    assert state(str(root), Reference(path=path, sha256="0" * 64)) == "missing"


@given(path=st.text())
def test_no_text_as_a_path_raises(path: str) -> None:
    for sealed in seal("/nowhere", [path]):
        assert state("/nowhere", sealed) == "missing"


def test_a_folder_changes_with_the_names_in_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (sealed,) = seal(str(tmp_path), ["src"])
    assert state(str(tmp_path), sealed) == "fresh"
    (tmp_path / "src" / "a").touch()
    assert state(str(tmp_path), sealed) == "changed"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (sealed,) = seal(str(tmp_path), ["pipe"])
    assert state(str(tmp_path), sealed) == "fresh"


def test_a_file_that_must_not_be_read_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"x")

    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    assert seal(str(tmp_path), ["a"]) == (Reference(path="a"),)


def test_of_a_huge_file_pieces_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "_PIECE", 1 << 10)
    monkeypatch.setattr(references, "_WHOLE", 64 << 10)
    huge = tmp_path / "huge"
    with open(huge, "wb") as file:
        file.truncate(1 << 20)  # a hole: nothing is on the disk
    (sealed,) = seal(str(tmp_path), ["huge"])
    assert state(str(tmp_path), sealed) == "fresh"
    for change in (0, (1 << 20) - 1):  # its first byte, then its last
        (sealed,) = seal(str(tmp_path), ["huge"])
        with open(huge, "r+b") as file:
            file.seek(change)
            file.write(b"x")
        assert state(str(tmp_path), sealed) == "changed"
