"""What a branch has on disk: the folder of its capsules, and its notebooks.

    <capsules>/<branch as folders>/<YYYYMMDDTHHMMSSZ>.md

No two branches share a folder, whatever their names, and a branch always gets the same one.

Notebooks, `PLAN.md` and `PROGRESS.md`, are read for their latest entries and never written. An
entry is a level-2 heading with everything below it. Entries headed by a UTC time (`## 2025-10-23
18:05:00 UTC`) are ordered by it, others by their place in the file.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, git, markdown, names, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout


def current(layout: Layout, typed: str = "") -> tuple[str, tuple[str, ...]]:
    """The unmodified branch name, and a warning if it stands for a detached head.

    Raises ContextError if the name cannot be determined.
    """
    if typed.strip():
        return typed, ()
    if layout.repository is None:
        raise bad_input("branch: this is not a git repository: give branch=NAME")
    head = git.head(layout.repository)
    if head.branch:
        return head.branch, ()
    if not head.commit:
        raise ContextError(f"{layout.repository.folder}/HEAD: cannot be read: give branch=NAME")
    return head.name, (f"HEAD is detached: writing for {head.name}; give branch=NAME to choose",)


def all_of(layout: Layout) -> list[str]:
    """Every folder below the store; the store itself holds the inbox and no capsules."""
    return sorted(folder for folder, _, _ in os.walk(layout.capsules) if folder != layout.capsules)


def folder(layout: Layout, branch: str) -> str:
    """The folder of a branch: its parts as folders, with odd characters replaced by `-`.

    Branches never share a folder, even on a file system that ignores case: if a folder holds
    capsules of another branch, `-` and six digits of the name's digest are added. Raises
    ContextError if it is a link.
    """
    parts = [names.dashed(part.strip()) for part in branch.split("/") if part.strip()]
    parts = ["-" + part[1:] if part.startswith(".") else part for part in parts]
    plain = os.path.join(layout.capsules, *(parts or ["unnamed-branch"]))
    digest = names.sha256(branch.encode("utf-8", "replace"))
    beside = os.path.join(layout.capsules, "-".join(parts))  # if a file is in the way of `plain`
    choices = (plain, f"{plain}-{digest[:6]}", f"{beside}-{digest[:6]}", f"{beside}-{digest}")
    own = (choice for choice in choices if _holds(choice, branch))
    free = (choice for choice in choices if not _taken(layout, choice, branch))
    return next(own, "") or next(free, choices[-1])


def _taken(layout: Layout, path: str, branch: str) -> bool:
    """Whether `path`, ignoring case, is in use by a file or by the capsules of another branch.

    A file in place of any of its parent folders counts too.
    """
    if f"{path}/".lower().startswith(f"{layout.reminders}/".lower()):
        return True
    here = [layout.capsules]
    for part in os.path.relpath(path, layout.capsules).split(os.sep):
        here = [
            os.path.join(above, name)
            for above in here
            for name in (os.listdir(above) if os.path.isdir(above) else ())
            if name.lower() == part.lower()
        ]
        if not all(map(os.path.isdir, here)):
            return True
    return any(_holds(place, branch) is False for place in here)


def _holds(folder: str, branch: str) -> bool | None:
    """Whether the capsules in `folder` belong to `branch`; None if none of them names a branch.

    The oldest one that names a branch decides.
    """
    answers = (_is_of(path, branch) for path in paths(folder))
    return next((answer for answer in answers if answer is not None), None)


def _is_of(path: str, branch: str) -> bool | None:
    """Whether a capsule is of `branch`, without YAML if possible; None if it names no branch."""
    try:
        text = files.read(path)
    except ContextError:
        return None
    line = next((line for line in text.split("\n", 20)[:20] if line.startswith("branch:")), "")
    value = line[7:].strip()
    if value[:1] not in ("'", '"'):
        return value == branch if value else None
    if value == filters.quoted(branch, always=True):
        return True
    from contextkit.base import formats

    try:
        return bool(formats.front_matter(text, path)[0].get("branch") == branch)
    except ContextError:
        return None


def paths(folder: str) -> list[str]:
    """The capsules in a branch's folder, which must be no link, oldest first by their names.

    Within a second, `-2` comes after the name without a suffix; files with other names come first.
    """
    there = stores.files_in(files.proved(os.path.join(folder, "")), ".md")
    return [os.path.join(folder, name) for name in sorted(there, key=_age)]


def _age(name: str) -> tuple[str, int, str]:
    stamp, _, number = name.removesuffix(".md").partition("-")
    time = stamp if names.shape(stamp) == "00000000T000000Z" else ""
    return time, int(number) if names.is_whole(number) else 1, name


def chosen_path(layout: Layout, file: str) -> str:
    """The target given as `file=`. Raises ContextError if no file can be there."""
    if file == "-":
        raise bad_input("file: name the file to write the capsule to, not standard input")
    path = layout.typed(file, "file")
    if os.path.isdir(path):
        raise bad_input(f"file: {layout.shown(path)} is a folder: name a file in it")
    return path


def path_at(layout: Layout, branch: str, created_at: str) -> str:
    """The path for a capsule of `branch` with this `created_at`, which becomes its name."""
    stamp = created_at.replace("-", "").replace(":", "")
    return os.path.join(folder(layout, branch), stamp + ".md")


def free_path(layout: Layout, branch: str, now: int) -> str:
    """Like `path_at`, but a taken name gets `-2`."""
    return files.free(*os.path.splitext(path_at(layout, branch, names.iso(now))))


# Notebooks


def latest_entries(path: str, count: int) -> list[str]:
    """The `count` latest entries, newest first; empty if the notebook does not exist.

    Raises ContextError if it cannot be read.
    """
    if not os.path.isfile(path):
        return []
    return newest_entries(entries(files.read(path)), count)


def entries(text: str) -> list[str]:
    """The entries of a notebook in file order; headings inside code fences do not count."""
    lines = text.replace("\r\n", "\n").split("\n")
    return ["\n".join(lines[a:b]).strip() for a, b in markdown.sections(lines, 2)]


def newest_entries(texts: list[str], count: int) -> list[str]:
    """The last `count` entries, newest first, by the times in their headings if there are any."""
    order = sorted(range(len(texts)), key=lambda i: (time_of(texts[i]), i), reverse=True)
    return [texts[i] for i in order[:count]]


def time_of(entry: str) -> str:
    """The time in the heading of an entry, `2025-10-23 18:05:00`, or ''."""
    words = entry.partition("\n")[0][3:].split()
    stamp = " ".join(words[:2])
    return stamp if stamp[:4].isdigit() and stamp[4:5] == "-" else ""
