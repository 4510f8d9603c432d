"""Story files: read for the story's id, its status and the current task, never written.

These come from the front matter (`id: 1.2`, `status: Draft`) or from headings and lines (`# Story
1.2: Login`, `## Status`, `**Status:** Draft`, `- [ ] the next task`).
"""

from __future__ import annotations

import os

from contextkit.base import markdown, names
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 262_144  # bytes to read, at most
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
    """The values in a story file; missing ones are empty."""

    id: str = ""
    status: str = ""
    task: str = ""


def load(path: str) -> Story | None:
    """Load a story from a file, or return None if the file cannot be read."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return parse(file.read(_MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None


def parse(text: str) -> Story:
    """Parse a story: front matter wins over headings, and the first value of a kind over others."""
    found: dict[str, str] = {}
    for field, said in (*_front_matter(text), *_headings(text)):
        said = names.one_line(said.strip().strip("*`\"'"))
        if said:
            found.setdefault(field, said)
    return Story(**found)


def _front_matter(text: str) -> Iterator[tuple[str, str]]:
    first, *lines = text.removeprefix("\ufeff").split("\n")
    if first.rstrip() == "---":
        end = markdown.front_matter([first, *lines])  # a file cut short may have no end
        for line in lines[: end - 1] if end else lines:
            yield from _named(line)


def _headings(text: str) -> Iterator[tuple[str, str]]:
    waiting = ""  # the field named by the heading above
    for _, line in markdown.outside_fences(text.replace("\r\n", "\n")):
        bare = line.strip()
        order, title = markdown.heading(line)
        item = bare.removeprefix(markdown.mark_of(bare))
        if order:
            waiting = _about(title)
            if title.lower().startswith("story "):
                yield "id", title[6:].partition(":")[0]
        elif bare and waiting == "status":
            yield "status", item
            waiting = ""
        elif item.startswith("[ ] ") and waiting == "task":
            yield "task", item[4:]
        elif bare.startswith("**"):
            yield from _named(bare)


def _about(title: str) -> str:
    lowered = title.lower()
    return "status" if lowered == "status" else "task" if "task" in lowered else ""


def _named(line: str) -> Iterator[tuple[str, str]]:
    """Parse `status: Draft`, `**Status:** Draft` or `**Status**: Draft`."""
    label, colon, rest = line.partition(":")
    field = _KEYS.get(label.strip("* ").lower().replace(" ", "_"))
    if colon and field:
        yield field, rest
