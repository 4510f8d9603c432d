"""The user's own folders: those outside of every repository, and the state folder inside one.

Locks, sessions, records of runs and machines are believed without asking. So a state folder that
git tracks, that belongs to somebody else, or that leads elsewhere is refused as a whole.

Trust says which repositories may have acting settings, as the user said once, outside of them:

    $XDG_STATE_HOME/contextkit/trust/<16 hex of the root>      two lines: a digest, the root

The digest is of the acting settings in the repository's file, so changing one asks again, and
changing anything else does not. A worktree is trusted with its repository.
"""

from __future__ import annotations

import os
import stat

from contextkit.base import files, git, names
from contextkit.base.errors import ContextError

_FOLDERS = {"CONFIG": ".config", "CACHE": ".cache", "STATE": ".local/state"}
_PLAIN = (2, 3)  # versions of the index in which every path is written out


def user_folder(kind: str) -> str:
    """Our folder in the user's CONFIG, CACHE or STATE folder, whether it exists or not."""
    folder = os.environ.get(f"XDG_{kind}_HOME", "")
    base = folder if os.path.isabs(folder) else os.path.expanduser(f"~/{_FOLDERS[kind]}")
    return os.path.join(base, "contextkit")


def check(folder: str, repository: git.Repository | None) -> None:
    """Raise ContextError, with the fix, unless the state `folder` is ours or missing."""
    try:
        state = os.lstat(folder)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(state.st_mode):
        raise files.is_link(folder)
    if not stat.S_ISDIR(state.st_mode):
        return  # nothing is in it, and nothing can be written
    if state.st_uid != os.geteuid():
        raise _foreign(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise files.is_link(entry.path)
            try:
                if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                    raise _foreign(entry.path)
            except FileNotFoundError:
                continue  # the draft of another process
    if repository and _is_tracked(folder, repository):
        raise ContextError(
            f"{folder}: git tracks it, and what a repository brings is not our state:"
            f" git rm -rf '{folder}'"
        )


def _foreign(path: str) -> ContextError:
    return ContextError(
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
        return bool(git.output(repository.top, "ls-files", "-z", "--", f":(top,literal){name}"))
    head, tail = os.path.split(folder)
    folds = os.path.lexists(os.path.join(head, tail.swapcase()))
    return _in_index(index, os.fsencode(name), folds)


def _in_index(index: bytes, name: bytes, folds: bool) -> bool:
    """Whether a path of an index is `name` or below it; `folds`: in any case.

    Its length is in the 12 bits before it, or before two more bytes.
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


def is_trusted(root: str, acting: dict[str, object]) -> bool:
    """Whether the user trusted the repository at `root` with exactly these settings."""
    wanted = _digest(acting)
    return any(files.first_line(_trust_of(place)) == wanted for place in (root, *_main(root)))


def trust(root: str, acting: dict[str, object]) -> None:
    """Trust these settings. Raises ContextError if the user's folder cannot be written."""
    try:
        shown = os.fsencode(root).decode("utf-8", "replace")
        files.write(_trust_of(root), f"{_digest(acting)}\n{shown}\n")
        files.settle()
    except OSError as error:
        mend = "run make context_trust in a terminal of your own"
        raise ContextError(f"{_trust_of(root)}: {error.strerror}: {mend}") from None


def distrust(root: str) -> None:
    """Trust the repository no longer."""
    files.discard(_trust_of(root))


def _digest(acting: dict[str, object]) -> str:
    lines = (f"{name}={value!r}\n" for name, value in sorted(acting.items()))
    return names.sha256("".join(lines).encode("utf-8", "surrogateescape"))


def _trust_of(root: str) -> str:
    known_as = names.sha256(os.fsencode(os.path.realpath(root)))[:16]
    return os.path.join(user_folder("STATE"), "trust", known_as)


def _main(root: str) -> tuple[str, ...]:
    """The same folder in the main worktree, if `root` is in a linked one."""
    here = git.find(root)
    if here is None or os.path.realpath(here.folder) == os.path.realpath(here.common):
        return ()
    common = os.path.realpath(here.common)
    below = os.path.relpath(os.path.realpath(root), here.top)
    return (os.path.normpath(os.path.join(os.path.dirname(common), below)),)
