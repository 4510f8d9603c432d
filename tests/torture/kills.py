"""A command is killed before one of its system calls; then it is run again.

Nothing that was there may be lost, torn or there twice, what was acknowledged is kept, the second
run does what the first should have done, and its draft is gone an hour later.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import calls
import damage
from scenes import Base, Command, environment, run

_HOUR = 2 * 3600


def missing() -> str:
    """Without strace the kills come at random times."""
    return ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One kill: what was done, and the defects."""
    command = draw.choice(base.writers())
    folder = base.copy(place / "work")
    before = damage.words(folder)
    if calls.here():
        done, where = _at_random(command, folder, draw)
    else:
        traced, _ = calls.usual(base, command, place)
        found = calls.points(traced)
        if not found:
            return f"{command.name}: changes nothing", []
        call = draw.choice(found)
        done, where = calls.killed_at(command, folder, call), f"before {call}"
    said = damage.torn(folder)
    after = damage.words(folder)
    said += damage.lost(before, after, command.removes)
    if done.stdout and command.stores and not after[command.stores]:
        said.append(f"acknowledged and lost: {command.stores}")
    said += _again(base, command, folder, place, before)
    return f"{command.name} killed {where}", said


def _at_random(
    command: Command, folder: Path, draw: random.Random
) -> tuple[subprocess.CompletedProcess[str], str]:
    process = subprocess.Popen(
        command.line(), cwd=folder, env=environment(folder.parent), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    if process.stdin:
        process.stdin.write(command.text or "")
        process.stdin.close()
        process.stdin = None
    seconds = draw.uniform(0.01, 0.1)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    out, err = process.communicate()
    return subprocess.CompletedProcess([], process.returncode, out, err), f"after {seconds:.3f} s"


def _again(
    base: Base, command: Command, folder: Path, place: Path, before: dict[str, int]
) -> list[str]:
    """The same command once more: it ends well, and leaves nothing twice and no old draft."""
    old = time.time() - _HOUR
    for path in damage.drafts(folder):
        os.utime(path, (old, old))
    for path in (folder / ".contextkit" / "drafts").glob("*"):
        os.utime(path, (old, old))
    done = run(command, folder)
    said = damage.unexplained(command, done) + damage.torn(folder)
    once, twice = _references(base, command, place)
    for word, count in damage.words(folder).items():
        most = max(once[word], twice[word], before.get(word, 0))
        if word.startswith("kept-") and count > most:
            said.append(f"twice: {word} in {count} documents, not {most}, after a second run")
    if command.stores and done.returncode == 0 and not damage.words(folder)[command.stores]:
        said.append(f"lost by the second run: {command.stores}")
    left = [str(path.relative_to(folder)) for path in damage.drafts(folder)]
    return said + [f"a draft stayed: {path}" for path in left]


def _references(base: Base, command: Command, place: Path) -> tuple[dict[str, int], dict[str, int]]:
    """The words after one run that nobody disturbed, and after two."""
    known = _known.get(command.name)
    if known is None:
        folder = base.copy(place / "reference")
        run(command, folder)
        once = damage.words(folder)
        run(command, folder)
        known = _known[command.name] = once, damage.words(folder)
        shutil.rmtree(folder)
    return known


_known: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
