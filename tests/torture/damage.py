"""What is wrong with a repository after something happened in it."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from contextkit.base import files, stores
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from scenes import Command

_WORD = re.compile(rb"(?:kept|new)-[a-z]+(?:-[a-z0-9]+)*")
_UNEXPLAINED = re.compile(
    r"No such file or directory|File exists|Directory not empty|Not a directory|\[Errno"
)


def words(folder: Path) -> Counter[str]:
    """In how many documents each word stands; unfinished writes and git's own do not count."""
    found: Counter[str] = Counter()
    for path in _documents(folder):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        found.update({word.decode() for word in _WORD.findall(data)})
    return found


def _documents(folder: Path) -> list[Path]:
    found = []
    for here, inside, names in os.walk(folder):
        inside[:] = sorted(name for name in inside if name != ".git")
        found += [Path(here, name) for name in names if not files.is_draft(name)]
    return found


def drafts(folder: Path) -> list[Path]:
    """What unfinished writes left behind."""
    found = []
    for here, _, names in os.walk(folder):
        found += [Path(here, name) for name in names if files.is_draft(name)]
    return found


def torn(folder: Path) -> list[str]:
    """Documents that cannot be read, and payloads that are listed and gone."""
    layout = Layout(str(folder))
    said = []
    for store in stores.with_documents():
        said += [f"torn: {one}" for one in stores.module(store).load_all(layout).broken]
    for session in payloads.sessions_in(layout):
        there = {os.path.basename(path)[:-3] for path in payloads.documents(layout, session)}
        for entry in payloads.entries(layout, session):
            if entry["id"] not in there:
                said.append(f"listed and gone: {entry['id']}")
    return said


def lost(before: Counter[str], after: Counter[str], removes: tuple[str, ...]) -> list[str]:
    """The words that were there, are not any more, and should be."""
    gone = [word for word in before if word.startswith("kept-") and not after[word]]
    return [f"lost: {word}" for word in sorted(gone) if not word.startswith(removes or ("\0",))]


def unexplained(command: Command, done: subprocess.CompletedProcess[str]) -> list[str]:
    """A traceback, an error without a sentence, or a failure that says nothing."""
    if "Traceback (most recent call last)" in done.stderr:
        return [f"{command.name}: a traceback: {done.stderr.strip().splitlines()[-1]}"]
    if done.returncode not in (0, 1, 2, 3):
        return [f"{command.name}: ended with {done.returncode}: {done.stderr.strip()[:200]}"]
    none = command.name == "verdict_read" and done.returncode == 1  # as the shell library says it
    if done.returncode and not none and not (done.stderr.strip() or done.stdout.strip()):
        return [f"{command.name}: ended with {done.returncode} and said nothing"]
    return []


def only_a_path(command: Command, done: subprocess.CompletedProcess[str]) -> list[str]:
    """A failure that names a path and an error of the system in place of an explanation."""
    if done.returncode and _UNEXPLAINED.search(done.stderr):
        return [f"{command.name}: {done.stderr.strip()[:300]}"]
    return []
