"""make demo: the walk goes to its end, is short, adds up, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CHECKOUT, LONG


def demo(scratch: Path, *more: str) -> subprocess.CompletedProcess[str]:
    scratch.mkdir(exist_ok=True)
    return subprocess.run(
        ["make", "-s", "demo", *more],
        cwd=CHECKOUT, env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True, encoding="utf-8",
    )  # fmt: skip


def test_the_demo_is_short_adds_up_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = demo(tmp_path / "scratch")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert 20 <= len(lines) <= 40 and max(map(len, lines)) <= 80
    numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\. ", done.stdout)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 6
    stored = re.findall(r"=> .*: ~(\d+) tokens stored, ~(\d+) passed on", done.stdout)
    total = re.search(r"Stored: ~(\d+) tokens. Passed on: ~(\d+)\. ", lines[-1])
    assert total and len(stored) == 4
    assert int(total[1]) == sum(int(full) for full, _ in stored)
    assert int(total[2]) == sum(int(short) for _, short in stored)
    assert int(total[2]) * 5 < int(total[1])
    assert lines[-2] == "    .contextkit/report.html"
    sent, taken = re.search(r"(\d+) sent, ", done.stdout), re.search(r"(\d+) taken, ", done.stdout)
    assert sent and taken and sent[1] == taken[1]
    assert any(line.startswith("    written ") and " on laptop " in line for line in lines)
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.skipif(not LONG, reason="the same walk once more")
def test_all_shows_everything_and_keep_leaves_the_folder(tmp_path: Path) -> None:
    done = demo(tmp_path / "scratch", "all=1", "keep=1")
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 100
    (kept,) = (tmp_path / "scratch").iterdir()
    assert done.stdout.endswith(f"Left in {kept}\n") and (kept / ".temp/memory").is_dir()
    assert "<html" in (kept / ".contextkit/report.html").read_text("utf-8")


def test_without_git_it_says_what_to_install(tmp_path: Path) -> None:
    for name in ("dirname", "mktemp", "rm"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        ["/bin/sh", CHECKOUT / "scripts/demo.sh"], env={"PATH": str(tmp_path)},
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    said = "demo: git is not installed, or not on the PATH: install git\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_misspelled_variable_is_refused(tmp_path: Path) -> None:
    done = demo(tmp_path / "scratch", "kep=1")
    assert done.returncode == 2 and "there is no variable kep;" in done.stderr
    assert "1. " not in done.stdout and list((tmp_path / "scratch").iterdir()) == []
