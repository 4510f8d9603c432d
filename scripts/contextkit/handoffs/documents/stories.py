"""Story files: read for the story's id, its status and the current task, never written.

They come from the front matter (`id: 1.2`, `status: Draft`) or from headings and lines
(`# Story 1.2: Login`, `## Status`, `**Status:** Draft`, `- [ ] the next task`).
"""

from __future__ import annotations

import os

from contextkit.base import markdown, names
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 262_144  # that are looked at
_KEYS = {
    "id": "id",
    "story_id": "id",
    "story": "id",
    "status": "status",
    "story_status": "status",
    "task": "task",
    "current_task": "task",
}


class Story(Record):
    """What a story file says; empty where it says nothing."""

    id: str = ""
    status: str = ""
    task: str = ""


def load(path: str) -> Story | None:
    """The story in a file; None where there is no file that can be read."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return parse(file.read(_MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None


def parse(text: str) -> Story:
    """The story in a text: the front matter counts before headings, the first of each kind."""
    found: dict[str, str] = {}
    for field, said in (*_front_matter(text), *_headings(text)):
        said = names.one_line(said.strip().strip("*`\"'"))
        if said:
            found.setdefault(field, said)
    return Story(**found)


def _front_matter(text: str) -> Iterator[tuple[str, str]]:
    first, *lines = text.removeprefix("\ufeff").split("\n")
    if first.rstrip() != "---":
        return
    for line in lines:
        if line.rstrip() == "---":
            return
        yield from _named(line)


def _headings(text: str) -> Iterator[tuple[str, str]]:
    waiting = ""  # the field that the heading above is about
    for _, line in markdown.outside_fences(text.replace("\r\n", "\n")):
        bare = line.strip()
        if bare.startswith("#"):
            title = bare.lstrip("# ").rstrip()
            waiting = _about(title)
            if title.lower().startswith("story "):
                yield "id", title[6:].partition(":")[0]
        elif bare and waiting == "status":
            yield "status", bare.removeprefix("- ")
            waiting = ""
        elif bare.startswith(("- [ ] ", "* [ ] ")) and waiting == "task":
            yield "task", bare[6:]
        elif bare.startswith("**"):
            yield from _named(bare)


def _about(title: str) -> str:
    lowered = title.lower()
    return "status" if lowered == "status" else "task" if "task" in lowered else ""


def _named(line: str) -> Iterator[tuple[str, str]]:
    """`status: Draft`, `**Status:** Draft` or `**Status**: Draft`."""
    label, colon, rest = line.partition(":")
    field = _KEYS.get(label.strip("* ").lower().replace(" ", "_"))
    if colon and field:
        yield field, rest
