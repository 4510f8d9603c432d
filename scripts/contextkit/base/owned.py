"""What is the user's own: folders outside of every repository, and the state folder inside one.

Locks, sessions, records of runs and machines are believed without asking. So a state folder that
git tracks, that belongs to somebody else, or that leads elsewhere is refused as a whole.
"""

from __future__ import annotations

import os
import stat

from contextkit.base import files, git, links
from contextkit.base.errors import ContextError

_FOLDERS = {"CONFIG": ".config", "CACHE": ".cache", "STATE": ".local/state"}
_PLAIN = (2, 3)  # versions of the index in which every path is written out


def user_folder(kind: str) -> str:
    """Our folder in the user's CONFIG, CACHE or STATE folder, whether it exists or not."""
    given = os.environ.get(f"XDG_{kind}_HOME", "")
    base = given if os.path.isabs(given) else os.path.expanduser(f"~/{_FOLDERS[kind]}")
    return os.path.join(base, "contextkit")


def check(folder: str, repository: git.Repository | None) -> None:
    """Raise ContextError, with the mend, unless the state `folder` is ours or not there."""
    try:
        state = os.lstat(folder)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(state.st_mode):
        raise links.is_link(folder)
    if not stat.S_ISDIR(state.st_mode):
        return  # nothing is in it, and nothing can be written
    _check_owner(folder, state.st_uid)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise links.is_link(entry.path)
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except FileNotFoundError:
                continue  # the draft of another process
            _check_owner(entry.path, owner)
    if repository and _is_tracked(folder, repository):
        raise ContextError(
            f"{folder}: git tracks it, and what a repository brings is not our state:"
            f" git rm -rf '{folder}'"
        )


def _check_owner(path: str, owner: int) -> None:
    if owner != os.geteuid():
        raise ContextError(
            f"{path}: belongs to another user: remove it, or make it yours:"
            f" sudo chown -R $(id -u) '{path}'"
        )


def _is_tracked(folder: str, repository: git.Repository) -> bool:
    """Whether git tracks something in `folder`, or the folder itself as a submodule.

    The index is searched rather than parsed; git is asked only about one that it compressed.
    """
    name = os.path.relpath(folder, repository.top)
    if name.split("/")[0] == "..":
        return False
    try:
        index = files.read_bytes(os.path.join(repository.folder, "index"))
    except ContextError:
        return False  # nothing is tracked yet
    if int.from_bytes(index[4:8], "big") not in _PLAIN or b"link\0\0" in index[-400:]:
        listed = git.output(repository.top, "ls-files", "-z", "--", f":(top,literal){name}")
        return bool(listed)
    head, tail = os.path.split(folder)
    folds = os.path.lexists(os.path.join(head, tail.swapcase()))
    return _in_index(index, os.fsencode(name), folds)


def _in_index(index: bytes, name: bytes, folds: bool) -> bool:
    """Whether a path of an index is `name` or below it; `folds`: in any case.

    Its length stands in the 12 bits before it, or before two more bytes.
    """
    texts, name = (index.lower(), name.lower()) if folds else (index, name)
    at = texts.find(name)
    while at >= 0:
        path = texts[at : texts.find(b"\0", at)]
        lengths = (index[at - 2 : at], index[at - 4 : at - 2])
        if min(len(path), 0xFFF) in [int.from_bytes(two, "big") & 0xFFF for two in lengths]:
            if path == name or path.startswith(name + b"/"):
                return True
        at = texts.find(name, at + 1)
    return False
