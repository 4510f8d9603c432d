"""Branch notebooks, `PLAN.md` and `PROGRESS.md`: read for their latest entries, never written.

An entry is a level-2 heading and what stands below it. Entries headed by a UTC time
(`## 2025-10-23 18:05:00 UTC`) are ordered by it, others by their place in the file.
"""

from __future__ import annotations

import os

from contextkit.base import files, markdown


def latest(path: str, count: int) -> list[str]:
    """The `count` latest entries, newest first; empty for a notebook that does not exist.

    Raises ContextError for one that cannot be read.
    """
    if not os.path.isfile(path):
        return []
    return newest(entries(files.read(path)), count)


def entries(text: str) -> list[str]:
    """The entries of a notebook in file order; headings inside code fences start none."""
    lines = text.replace("\r\n", "\n").split("\n")
    outside = markdown.outside_fences("\n".join(lines))
    starts = [number - 1 for number, line in outside if line.startswith("## ")]
    ends = [*starts, len(lines)][1:]
    return ["\n".join(lines[a:b]).strip() for a, b in zip(starts, ends, strict=True)]


def newest(texts: list[str], count: int) -> list[str]:
    """The last `count` of them, newest first, by time where headings carry one."""
    import heapq

    order = heapq.nlargest(count, range(len(texts)), key=lambda i: (time_of(texts[i]), i))
    return [texts[i] for i in order]


def time_of(entry: str) -> str:
    """The time in the heading of an entry, `2025-10-23 18:05:00`; empty where it has none."""
    words = entry.partition("\n")[0][3:].split()
    stamp = " ".join(words[:2])
    return stamp if stamp[:4].isdigit() and stamp[4:5] == "-" else ""
