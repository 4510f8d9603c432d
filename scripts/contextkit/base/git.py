"""What git knows about a folder, read from `.git` itself.

Starting git costs a command as much again as a fifth of its own start, so branch, head and
top level come from the files; git is asked only for what files cannot answer (a reftable
store, commit messages).
"""

from __future__ import annotations

import os

from contextkit.base import errors
from contextkit.base.errors import ContextError
from contextkit.base.records import Record

# What makes git work on another repository than the one around a folder.
VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR",
             "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")  # fmt: skip
_HEADS = "refs/heads/"
_PIECE = 1 << 18  # bytes read at once
# Variables that change what a path means, or what a diff looks like.
_MISLEADING = frozenset(
    "GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS"
    " GIT_DIFF_OPTS GIT_EXTERNAL_DIFF".split()
)
_HEX = frozenset("0123456789abcdef")
_NO_ANSWER = (127, 128)  # statuses: git is not there; it cannot work here
NOT_THERE = "git is not installed, or not on the PATH: install git"
_said_why = False
_at_rest = False  # whether git may not be started, as in a hook


class Repository(Record):
    """`top` is the work tree, `folder` its own git folder, `common` the one all trees share."""

    top: str
    folder: str
    common: str


class Head(Record):
    """Where HEAD points: a branch (without a commit yet: `commit` is empty) or just a commit."""

    branch: str = ""
    commit: str = ""


class at_rest:
    """While this is entered git is not started, as if it were not installed: a hook has no time."""

    def __enter__(self) -> None:
        global _at_rest
        self._before, _at_rest = _at_rest, True

    def __exit__(self, *error: object) -> None:
        global _at_rest
        _at_rest = self._before


def find(start: str) -> Repository | None:
    """The repository with a work tree that `start` lies in; None outside of one.

    Honours GIT_DIR and GIT_WORK_TREE as git does.
    """
    top = os.path.realpath(start)
    given = os.environ.get("GIT_DIR", "")
    found = _repository(top, os.path.abspath(given)) if given else _above(top)
    work_tree = os.environ.get("GIT_WORK_TREE", "")
    if found and work_tree:
        return found.replace(top=os.path.realpath(work_tree))
    return found


def _above(top: str) -> Repository | None:
    while True:
        dot_git = os.path.join(top, ".git")
        found = _repository(top, dot_git)
        parent = os.path.dirname(top)
        if found or parent == top or os.path.isfile(dot_git):  # git, too, gives up at a bad file
            return found
        top = parent


def _repository(top: str, dot_git: str) -> Repository | None:
    folder = dot_git
    if os.path.isfile(dot_git):  # a worktree or a submodule names its git folder in a file
        line = _line(dot_git)
        if not line.startswith("gitdir: "):
            return None
        folder = os.path.join(os.path.dirname(dot_git), line[8:])
    shared = _line(os.path.join(folder, "commondir"))
    common = os.path.join(folder, shared) if shared else folder
    ref, commit = _pointer(folder)
    if not (ref or commit) or not os.path.isdir(os.path.join(common, "objects")):
        return None
    return Repository(top=top, folder=folder, common=common)


def head(repository: Repository) -> Head:
    """The branch and the commit that are checked out."""
    ref, commit = _pointer(repository.folder)
    if ref == "refs/heads/.invalid":  # a reftable store: only git can read it
        ref = output(repository.top, "symbolic-ref", "--quiet", "HEAD").strip()
        commit = _ask(repository, "HEAD")
    elif ref:
        ref, commit = _followed(repository, ref)
    branch = os.fsencode(ref).decode("utf-8", "replace")
    return Head(branch=branch.removeprefix(_HEADS), commit=commit)


def _pointer(folder: str) -> tuple[str, str]:
    """What HEAD says: the full name of a branch, or a commit; neither if it is broken."""
    path = os.path.join(folder, "HEAD")
    # A link is how git wrote HEAD before 2006, and git still reads it.
    line = "ref:" + os.readlink(path) if os.path.islink(path) else _line(path)
    ref = _target(line)
    return ref if ref.startswith("refs/") else "", line if _is_commit(line) else ""


def _target(line: str) -> str:
    return line[4:].strip() if line.startswith("ref:") else ""


def commit_of(repository: Repository, ref: str) -> str:
    """The commit that the full name `ref` (`refs/heads/…`) stands for; empty if there is none."""
    return _followed(repository, ref)[1]


def _followed(repository: Repository, ref: str) -> tuple[str, str]:
    """`ref`, or the one that it names, and the commit."""
    for _ in range(5):  # git follows five as well
        value = _line(os.path.join(repository.folder, ref))
        value = value or _line(os.path.join(repository.common, ref))
        if not _target(value):
            break
        ref = _target(value)
    if _is_commit(value):
        return ref, value
    if os.path.isdir(os.path.join(repository.common, "reftable")):
        return ref, _ask(repository, ref)
    return ref, _packed(repository, ref)


def log(repository: Repository, branch: str, count: int) -> list[tuple[str, str, str]]:
    """The last `count` commits of `branch`: short hash, ISO date, subject, newest first.

    Empty when there are none, or git is not installed or refuses the repository.
    """
    lines = output(
        repository.top, "log", f"-{count}", "--no-show-signature", "--no-color", "--no-mailmap",
        "--encoding=UTF-8", "--format=%h%x1f%cI%x1f%s", _HEADS + branch if branch else "HEAD", "--",
    ).split("\n")  # fmt: skip
    rows = [line.split("\x1f", 2) for line in lines]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def output(folder: str, *arguments: str) -> str:
    """What `git <arguments>` prints in `folder`; empty if it fails or is not installed."""
    return asked(folder, *arguments).output()


class asked:
    """A question that git works on while this process goes on; `output` waits for its end.

    `failed` says afterwards whether git had no answer, which is another thing than an empty one.
    """

    failed = False

    def __init__(self, folder: str, *arguments: str) -> None:
        self._folder = folder
        self._out, end = os.pipe()
        actions = ((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),)
        self._process = _start(folder, arguments, end, actions)

    def output(self) -> str:
        """What git prints; empty if it fails or is not installed."""
        pieces = []
        while piece := os.read(self._out, _PIECE):
            pieces.append(piece)
        os.close(self._out)
        status = _status(self._process)
        self.failed = status != 0
        if status in _NO_ANSWER:
            _say_why(self._folder)
        return "" if self.failed else b"".join(pieces).decode("utf-8", "replace")


def _say_why(folder: str) -> None:
    """Remark once that git is not there or refuses the repository, if that is so.

    What a command prints without git's answer is then known to lack something.
    """
    global _said_why
    if _said_why or _at_rest:
        return
    _said_why = True
    try:
        check(folder)
    except ContextError as error:
        errors.remarks.append(f"without git's answers: {error}")


def check(folder: str) -> None:
    """Raise ContextError, with the way out, where git is not there or refuses the repository."""
    answer(folder, "rev-parse", "--git-dir")


def answer(folder: str, *arguments: str, stdin: str = os.devnull, **variables: str) -> bytes:
    """What `git <arguments>` prints in `folder`, with a file as its input and more `variables`.

    Raises ContextError with what git says where it fails: a failure is not an empty answer.
    """
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    actions = ((os.POSIX_SPAWN_DUP2, err_end, 2),)
    process = _start(folder, arguments, out_end, actions, stdin, variables)
    os.close(err_end)
    data, said = _both(out, err)
    status = _status(process)
    if status:
        lines = said.decode("utf-8", "replace").splitlines()
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
        if not process and not _at_rest:
            raise ContextError(NOT_THERE)
        command = next(word for word in arguments if word[0] != "-" and "=" not in word)
        raise ContextError(
            refusal(lines) or f"git {command} failed: {reason or f'status {status}'}"
        )
    return data


# What the repository's own settings name is never run: no monitor, no hook.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def _start(
    folder: str,
    arguments: tuple[str, ...],
    out_end: int,
    actions: tuple[tuple[int, int, int] | tuple[int, int, str, int, int], ...],
    stdin: str = os.devnull,
    variables: dict[str, str] | None = None,
) -> int:
    """Start git with its output into `out_end`, closed here; the process, 0 if there is none.

    Nothing that the repository's own settings name is run: no pager, no hook, no monitor.
    """
    if _at_rest:
        os.close(out_end)
        return 0
    # A relative GIT_DIR means the current directory.
    place = () if os.environ.get("GIT_DIR") else ("-C", folder)
    command = ("git", *place, "--no-pager", "--no-optional-locks", *_SAFE, *arguments)
    environment = {name: text for name, text in os.environ.items() if name not in _MISLEADING}
    wiring = (
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out_end, 1),
        *actions,
    )
    try:
        return os.posix_spawnp(
            "git", command, {**environment, **(variables or {})}, file_actions=wiring
        )
    except OSError:
        return 0
    finally:
        os.close(out_end)


def _status(process: int) -> int:
    """The exit status of git when it has ended; 127 where it could not be started."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) if process else 127


def _both(out: int, err: int) -> tuple[bytes, bytes]:
    """All that comes out of two pipes; neither may fill up while the other is read."""
    import select

    said: dict[int, list[bytes]] = {out: [], err: []}
    open_ends = [out, err]
    while open_ends:
        for end in select.select(open_ends, [], [])[0]:
            piece = os.read(end, _PIECE)
            said[end].append(piece)
            if not piece:
                os.close(end)
                open_ends.remove(end)
    return b"".join(said[out]), b"".join(said[err])


_DRAFT = f".*.{'[0-9a-f]' * 12}.tmp"


def all_but(top: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What to put behind `--` for everything in the work tree at `top` but these absolute paths.

    Dismissals of findings lie beside what was reviewed, so they are known by their suffix; drafts
    of files that are being written (`files.is_draft`) come and go anywhere.
    """
    below = [os.path.relpath(path, top) for path in paths]
    inside = [path for path in below if path.split("/")[0] not in (".", "..")]
    apart = [f":(top,exclude,literal){path}" for path in inside]
    anywhere = (f":(top,exclude,glob)**/{name}" for name in ("*.dismissed.json", _DRAFT))
    return (":(top)", *apart, *anywhere)


def run(folder: str, *arguments: str, given: str = "", fine: tuple[int, ...] = (0,)) -> str:
    """What `git <arguments>` prints in `folder`, whatever repository the environment names.

    `given` is its standard input. Raises ContextError with what git says unless it ends with a
    status in `fine`; for what changes something or must not fail unseen.
    """
    if _at_rest:
        raise ContextError("git is not started by a hook")
    import subprocess

    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    command = ["git", "-C", folder, *_SAFE]
    try:
        done = subprocess.run(
            [*command, *arguments], env=kept, input=os.fsencode(given), capture_output=True
        )
    except FileNotFoundError:
        raise ContextError(NOT_THERE) from None
    if done.returncode not in fine:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"ended with {done.returncode}"
        command_name = next(word for word in arguments if word[0] != "-")
        raise ContextError(refusal(said) or f"git {command_name}: {reason}")
    return done.stdout.decode("utf-8", "surrogateescape")


def refusal(said: list[str]) -> str:
    """What to do where git refuses the repository since it is another user's; else empty.

    git itself names the way out, in every language: a line with `safe.directory` and the folder.
    """
    line = next(
        (line.strip() for line in said if "config --global --add safe.directory" in line), ""
    )
    if not line:
        return ""
    return f"git refuses this repository, since it belongs to another user. If you trust it: {line}"


def _ask(repository: Repository, ref: str) -> str:
    return output(repository.top, "rev-parse", "--verify", "--quiet", ref).strip()


def _packed(repository: Repository, ref: str) -> str:
    wanted = b" " + os.fsencode(ref)
    try:
        with open(os.path.join(repository.common, "packed-refs"), "rb") as file:
            for line in file:
                if line.rstrip(b"\n").endswith(wanted):
                    return line.split(b" ", 1)[0].decode("ascii", "replace")
    except OSError:
        pass
    return ""


def _line(path: str) -> str:
    """The first line of a file of git's; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.readline(4096)).rstrip("\r\n")
    except OSError:
        return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)
