"""The power goes out right after a command said that it is done.

With root, strace or not: on an ext4 image in a loop device, whose copy is what the disk had. Else
the order of the calls is looked at: a file is synced before it gets its name, and the folder of
the name before anything is said.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import calls
import damage
from scenes import Base, Command, run

_MEGABYTES = 24
# Caches, locks, marks and what hooks know: not promised to last (manuals/reliability.md).
_NOT_PROMISED = re.compile(
    r"/\.contextkit/(locks|drafts|settings|memory|hooks|templates)/"
    r"|/\.contextkit/(swept|session|settings)$|/\.git/|/session-state$|/cleanup\.log$"
)
_QUOTED = re.compile(r'"([^"]+)"')
_OPENED = re.compile(r"<([^>]+)>")


def missing() -> str:
    """What can be done here."""
    if _image_can_be_made():
        return "on an ext4 image"
    reason = calls.here()
    return f"skipped: {reason}" if reason else "by the order of calls (an image needs root)"


def _image_can_be_made() -> bool:
    needed = ("mkfs.ext4", "mount", "umount")
    return (
        os.geteuid() == 0 and all(map(shutil.which, needed)) and Path("/dev/loop-control").exists()
    )


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One command and a power cut: what was done, and the defects."""
    command = draw.choice(base.writers())
    said = []
    how = []
    if not calls.here():
        said += _out_of_order(base, command, place)
        how.append("order")
    if _image_can_be_made():
        said += _cut(base, command, place)
        how.append("ext4")
    return f"{command.name}, power cut ({', '.join(how)})", said


def _out_of_order(base: Base, command: Command, place: Path) -> list[str]:
    """What a command does not sync, looked at once for all trials."""
    key = f"{base.folder} {command.name}"
    if key not in _known:
        folder = base.copy(place / "traced")
        traced, _ = calls.trace(command, folder)
        _known[key] = unsynced(traced, folder)
    return _known[key]


_known: dict[str, list[str]] = {}


def unsynced(traced: list[calls.Call], folder: Path) -> list[str]:
    """Names that were given, and whose bytes or folder nobody synced before the command ended."""
    synced: set[str] = set()
    waiting: dict[str, str] = {}
    unsynced_bytes: set[str] = set()
    for call in traced:
        if call.failed:
            continue
        if call.name == "fsync":
            path = (_OPENED.findall(call.text) or [""])[0]
            synced.add(path)
            unsynced_bytes.discard(path)
            waiting = {name: into for name, into in waiting.items() if into != path}
        elif call.name.startswith(("rename", "link")):
            source, target = ([*_QUOTED.findall(call.text), "", ""])[:2]
            if not target.startswith(str(folder)) or _NOT_PROMISED.search(target):
                continue
            if (
                os.path.basename(source).startswith(".")
                and source.endswith(".tmp")
                and source not in synced
            ):
                unsynced_bytes.add(target)
            waiting[target] = os.path.dirname(target)
        elif call.name in ("unlink", "rmdir"):
            path = (_QUOTED.findall(call.text) or [""])[0]
            waiting.pop(path, None)
            unsynced_bytes.discard(path)
    said = [f"its bytes were not synced: {name}" for name in sorted(unsynced_bytes)]
    said += [f"its folder was not synced: {name}" for name in sorted(waiting)]
    return [one.replace(str(folder), "") for one in said]


def _cut(base: Base, command: Command, place: Path) -> list[str]:
    image, copy = place / "disk.img", place / "after.img"
    _copy(_image(base), image)
    with _mounted(image, place / "disk") as disk:
        done = run(command, disk / "work")
        _copy(image, copy)
        before = damage.words(base.folder)
    if done.returncode:
        return [f"{command.name} ended with {done.returncode}: {done.stderr.strip()[:200]}"]
    with _mounted(copy, place / "after") as disk:
        after = damage.words(disk / "work")
        said = damage.torn(disk / "work") + damage.lost(before, after, command.removes)
        if command.stores and not after[command.stores]:
            said.append(f"acknowledged and gone after a power cut: {command.stores}")
    return said


def _image(base: Base) -> Path:
    """A disk that holds the repository, made once: each trial has a copy of it."""
    image = base.folder.parent / f"disk-{os.getpid()}.img"
    if not image.exists():
        with open(image, "wb") as file:
            file.truncate(_MEGABYTES << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True, capture_output=True)
        with _mounted(image, image.with_suffix("")) as disk:
            base.copy(disk / "work")
    return image


def _copy(image: Path, into: Path) -> None:
    subprocess.run(["cp", "--sparse=always", str(image), str(into)], check=True)


@contextmanager
def _mounted(image: Path, point: Path) -> Iterator[Path]:
    """The image as a folder. Nothing is written to it by time alone."""
    point.mkdir(exist_ok=True)
    options = "loop,commit=600,noauto_da_alloc"
    subprocess.run(["mount", "-o", options, str(image), str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)
