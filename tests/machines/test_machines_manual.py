"""manuals/machines.md: its example is run as it stands, and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from conftest import CHECKOUT

MANUAL = (CHECKOUT / "manuals/machines.md").read_text(encoding="utf-8")


def test_the_example_with_two_clones_prints_what_the_manual_says(sealed: Path) -> None:
    script = re.findall(r"^```sh\n(.*?)^```", MANUAL, re.M | re.S)[0]
    said = re.search(r"prints, .*?^```\n(.*?)^```", MANUAL, re.M | re.S)
    assert said is not None
    done = subprocess.run(
        ["bash", "-eu", "-c", script],
        env={**os.environ, "CONTEXTKIT": str(CHECKOUT), "CONTEXT_MACHINE": "laptop"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    printed = [
        re.sub(r"\d+ (bytes|on the wire)", r"N \1", line) for line in done.stdout.split("\n")
    ]
    for line in said[1].splitlines():
        if line != "…":
            assert re.sub(r"\d+ (bytes|on the wire)", r"N \1", line) in printed, done.stdout
