"""The files that somebody worked on: what is not committed, and what the branch has changed.

    looking = work_files.looking(layout)      git is asked, and works while this process goes on
    looking.seen()                            `src/app.py (modified)` of each file

Two questions to git at most, and no file is written: this is on the way of every hand-over.
(`changes.py` tells more of a difference, and takes ten times as long.)
"""

from __future__ import annotations

import os

from contextkit.base import git, names
from contextkit.base.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.git import Repository, asked

# What a branch may have been made from, the first that exists.
_BASES = ("remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master",
          "heads/main", "heads/master")  # fmt: skip
NOT_KNOWN = "(not known: git was not asked)"
_STATES = {"A": "created", "?": "created", "D": "deleted"}


class looking:
    """Git at work on what differs in a work tree, our own documents left out."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._status = self._diff = None
        if layout.repository:
            where = git.all_but(layout.repository.top, layout.ours)
            self._status = _uncommitted(layout.repository, where)
            self._diff = _of_branch(layout.repository, where)

    def seen(self) -> tuple[str, ...]:
        """A line of each file, first what is not committed; paths are relative to the root.

        Where git could not be asked, as in a hook, one line says that: it is not the same as none.
        """
        words = self._status.output().split("\0") if self._status else []
        found = _states([(word[:2], word[3:]) for word in words if len(word) > 3])
        words = self._diff.output().split("\0") if self._diff else []
        for letter, path in zip(words[::2], words[1::2], strict=False):
            found.setdefault(path, _STATES.get(letter[:1], "modified"))
        if self._status and self._status.failed:
            return (NOT_KNOWN,)
        return tuple(f"{self._shown(path)} ({state})" for path, state in found.items())

    def _shown(self, path: str) -> str:
        repository = self._layout.repository
        if repository and repository.top != self._layout.root:  # git's are relative to its top
            path = self._layout.shown(os.path.join(repository.top, path))
        return names.one_line(path)


def _uncommitted(repository: Repository, where: tuple[str, ...]) -> asked:
    return git.asked(
        repository.top, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--", *where,
    )  # fmt: skip


def _of_branch(repository: Repository, where: tuple[str, ...]) -> asked | None:
    """What differs from where the branch began; None where there is nothing to ask."""
    head = git.head(repository).commit
    commits = (git.commit_of(repository, f"refs/{name}") for name in _BASES)
    base = next((commit for commit in commits if commit), "")
    if not head or base in ("", head):
        return None
    return git.asked(
        repository.top, "diff", "--merge-base", "--name-status", "-z", "--no-renames",
        "--no-ext-diff", "-O/dev/null", base, "--", *where,
    )  # fmt: skip


def _states(rows: list[tuple[str, str]]) -> dict[str, str]:
    """What happened to each path, from the two letters that `git status` has for it."""
    found: dict[str, str] = {}
    for letters, path in rows:
        if letters == "AD":  # added and gone again
            continue
        if "U" in letters or path in found:  # a conflict; taken out of the index, but still there
            found[path] = "modified"
        else:  # what the work tree says comes before what the index says
            found[path] = next((_STATES[x] for x in reversed(letters) if x in _STATES), "modified")
    return found
