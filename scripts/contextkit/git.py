"""What git knows about a folder, read from `.git` itself.

Starting git costs a command as much again as a fifth of its own start, so branch, head and
top level come from the files; git is asked only for what files cannot answer (a reftable
store, commit messages).
"""

from __future__ import annotations

import os

from contextkit.records import Record

_HEADS = "refs/heads/"
_HEX = frozenset("0123456789abcdef")


class Repository(Record):
    """`top` is the work tree, `folder` its own git folder, `common` the one all trees share."""

    top: str
    folder: str
    common: str


class Head(Record):
    """Where HEAD points: a branch (without a commit yet: `commit` is empty) or just a commit."""

    branch: str = ""
    commit: str = ""


def find(start: str) -> Repository | None:
    """The repository with a work tree that `start` lies in; None outside of one.

    Honours GIT_DIR and GIT_WORK_TREE as git does.
    """
    given = os.environ.get("GIT_DIR", "")
    if given:
        folder = os.path.abspath(os.path.join(start, given))
        top = os.path.join(start, os.environ.get("GIT_WORK_TREE", "") or start)
        return _repository(os.path.abspath(top), folder)
    top = os.path.abspath(start)
    while True:
        found = _repository(top, os.path.join(top, ".git"))
        if found:
            return found
        parent = os.path.dirname(top)
        if parent == top:
            return None
        top = parent


def _repository(top: str, dot_git: str) -> Repository | None:
    folder = dot_git
    if os.path.isfile(dot_git):  # a worktree or a submodule names its git folder in a file
        line = _line(dot_git)
        if not line.startswith("gitdir: "):
            return None
        folder = os.path.normpath(os.path.join(os.path.dirname(dot_git), line[8:]))
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return None
    shared = _line(os.path.join(folder, "commondir"))
    common = os.path.normpath(os.path.join(folder, shared)) if shared else folder
    return Repository(top=top, folder=folder, common=common)


def head(repository: Repository) -> Head:
    """The branch and the commit that are checked out."""
    path = os.path.join(repository.folder, "HEAD")
    # A link is how git wrote HEAD before 2006, and git still reads it.
    pointer = "ref: " + os.readlink(path) if os.path.islink(path) else _line(path)
    if not pointer.startswith("ref: "):
        return Head(commit=pointer if _is_commit(pointer) else "")
    ref = pointer[5:].strip()
    if ref == "refs/heads/.invalid":  # a reftable store: only git can read it
        branch = output(repository.top, "symbolic-ref", "--short", "HEAD").strip()
        return Head(branch=branch, commit=_ask(repository, "HEAD"))
    branch = ref.removeprefix(_HEADS) if ref.startswith(_HEADS) else ref
    return Head(branch=branch, commit=commit_of(repository, ref))


def commit_of(repository: Repository, ref: str) -> str:
    """The commit that the full name `ref` (`refs/heads/…`) stands for; empty if there is none."""
    for _ in range(5):  # a ref may name another one; git follows five as well
        value = _line(os.path.join(repository.folder, ref))
        value = value or _line(os.path.join(repository.common, ref))
        if not value.startswith("ref: "):
            break
        ref = value[5:].strip()
    if _is_commit(value):
        return value
    if os.path.isdir(os.path.join(repository.common, "reftable")):
        return _ask(repository, ref)
    return _packed(repository, ref)


def log(repository: Repository, branch: str, count: int) -> list[tuple[str, str, str]]:
    """The last `count` commits of `branch`: short hash, ISO date, subject, newest first.

    Empty when there are none, or git is not installed or refuses the repository.
    """
    lines = output(
        repository.top, "log", f"-{count}", "--no-show-signature", "--no-color", "--no-mailmap",
        "--format=%h%x1f%cI%x1f%s", _HEADS + branch if branch else "HEAD", "--",
    ).splitlines()  # fmt: skip
    rows = [line.split("\x1f", 2) for line in lines]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def output(folder: str, *arguments: str) -> str:
    """What `git <arguments>` prints in `folder`; empty if it fails or is not installed.

    Nothing that the repository's own settings name is run: no pager, no hook, no monitor.
    """
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    command = ("git", "-C", folder, "--no-pager", "--no-optional-locks", *safe, *arguments)
    read_end, write_end = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, write_end, 1),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    try:
        process = os.posix_spawnp("git", command, os.environ, file_actions=actions)
    except OSError:
        os.close(read_end)
        return ""
    finally:
        os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(process, 0)
    return data.decode("utf-8", "replace") if status == 0 else ""


def _ask(repository: Repository, ref: str) -> str:
    return output(repository.top, "rev-parse", "--verify", "--quiet", ref).strip()


def _packed(repository: Repository, ref: str) -> str:
    wanted = b" " + os.fsencode(ref)
    try:
        with open(os.path.join(repository.common, "packed-refs"), "rb") as file:
            for line in file:
                if line.rstrip(b"\n").endswith(wanted):
                    return line.split(b" ", 1)[0].decode("ascii", "replace")
    except FileNotFoundError:
        pass
    return ""


def _line(path: str) -> str:
    """The first line of a file of git's; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.readline(4096).decode("utf-8", "replace").rstrip("\r\n")
    except OSError:
        return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)
