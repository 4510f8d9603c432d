"""scratch.py: folders that go when their block ends, and an hour after a kill."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from contextkit.base import scratch


def test_a_scratch_folder_goes_with_all_that_is_in_it(sealed: Path) -> None:
    Path("mine").mkdir()
    Path("mine/kept").touch()
    with scratch.folder("store") as folder:
        Path(folder, "deep/er").mkdir(parents=True)
        Path(folder, "deep/er/file").touch(mode=0o400)
        Path(folder, "link").symlink_to(Path("mine").resolve())
    assert os.listdir("store") == [] and Path("mine/kept").exists()


def test_it_goes_after_an_error_too(sealed: Path) -> None:
    with pytest.raises(KeyError), scratch.folder("store"):
        raise KeyError
    assert os.listdir("store") == []


def test_what_a_killed_process_left_goes_after_an_hour(sealed: Path) -> None:
    for name, age in (("scratch-old", 3700), ("scratch-new", 3500), ("other", 9999)):
        Path("store", name, "in").mkdir(parents=True)
        os.utime(Path("store", name), (0, time.time() - age))
    with scratch.folder("store"):
        pass
    assert sorted(os.listdir("store")) == ["other", "scratch-new"]
