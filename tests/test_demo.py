"""make demo: the walk goes to its end, on this checkout's own files, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from conftest import CHECKOUT


def test_the_demo_walks_to_its_end_and_leaves_nothing_behind(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        ["make", "-s", "demo"],
        cwd=CHECKOUT, env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    numbers = [int(number) for number in re.findall(r"(?m)^(\d+)\. ", done.stdout)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 10
    assert "the same" in done.stdout and "NOT the same" not in done.stdout
    assert list(scratch.iterdir()) == []
