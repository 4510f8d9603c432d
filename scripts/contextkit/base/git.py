"""What git knows about a folder, mostly read from `.git` itself.

Starting git costs a fifth of a command's own start. It is called only for what the files cannot
answer: by `query` in what is often run, by `answer` and `run` where `subprocess` may be imported.
"""

from __future__ import annotations

import os
import time

from contextkit.base import errors
from contextkit.base.errors import ContextError
from contextkit.base.records import Declaration
from contextkit.base.type_names import Iterator

# Variables that make git use another repository than the one around a folder.
VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR",
             "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")  # fmt: skip
_HEADS = "refs/heads/"
_PIECE = 1 << 18  # bytes read at once
# Variables that change the meaning of a path or the form of a diff.
_MISLEADING = frozenset(
    "GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS"
    " GIT_DIFF_OPTS GIT_EXTERNAL_DIFF".split()
)
_HEX = frozenset("0123456789abcdef")
_NO_ANSWER = (127, 128)  # exit statuses: git is not installed; it cannot work here
_NOT_STARTED = 127 << 8  # the first of these as a wait status
NOT_THERE = "git is not installed, or not on the PATH: install git"
_FOREIGN = "git refuses this repository, since it belongs to another user. If you trust it"
_said_why = False
_until: float | None = None  # in a hook, the time at which every query must have ended


class Repository(Declaration):
    """`top` is the work tree, `folder` its git folder, `common` the one all worktrees share."""

    top: str
    folder: str
    common: str


class Head(Declaration):
    """Where HEAD points: a branch (`commit` is empty before the first one) or just a commit."""

    branch: str = ""
    commit: str = ""

    @property
    def name(self) -> str:
        """The branch, or `detached-` and the beginning of the commit; '' without either."""
        return self.branch or (f"detached-{self.commit[:12]}" if self.commit else "")


class hurried:
    """Give all queries together `seconds`, as a hook does; nothing else is started then."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        global _until
        self._before, _until = _until, time.monotonic() + self._seconds

    def __exit__(self, *error: object) -> None:
        global _until
        _until = self._before


def find(start: str) -> Repository | None:
    """The repository whose work tree contains `start`, by GIT_DIR and GIT_WORK_TREE, or None."""
    top = os.path.realpath(start)
    git_dir = os.environ.get("GIT_DIR", "")
    folder = os.path.abspath(git_dir) if git_dir else os.path.join(top, ".git")
    repository = _repository(top, folder)
    while repository is None and not git_dir:
        parent = os.path.dirname(top)
        if parent == top or os.path.isfile(folder):  # git also gives up at a bad file
            break
        top, folder = parent, os.path.join(parent, ".git")
        repository = _repository(top, folder)
    work_tree = os.environ.get("GIT_WORK_TREE", "")
    if repository and work_tree:
        return Repository(**{**vars(repository), "top": os.path.realpath(work_tree)})
    return repository


def _repository(top: str, dot_git: str) -> Repository | None:
    folder = dot_git
    if os.path.isfile(dot_git):  # in a worktree or submodule, a file names the git folder
        line = _line(dot_git)
        if not line.startswith("gitdir: "):
            return None
        folder = os.path.join(os.path.dirname(dot_git), line[8:])
    shared = _line(os.path.join(folder, "commondir"))
    common = os.path.join(folder, shared) if shared else folder
    ref, commit = pointer(folder)
    if not (ref or commit) or not os.path.isdir(os.path.join(common, "objects")):
        return None
    return Repository(top=top, folder=folder, common=common)


def head(repository: Repository | None) -> Head:
    """The branch and commit that are checked out; neither outside a repository."""
    if repository is None:
        return Head()
    ref, commit = pointer(repository.folder)
    if ref == "refs/heads/.invalid":  # a reftable store, which only git can read
        ref = output(repository.top, "symbolic-ref", "--quiet", "HEAD").strip()
        commit = _ask(repository, "HEAD")
    elif ref:
        ref, commit = followed(repository, ref)
    branch = os.fsencode(ref).decode("utf-8", "replace")
    return Head(branch=branch.removeprefix(_HEADS), commit=commit)


def worktrees(repository: Repository) -> dict[str, str]:
    """The folder of each worktree of a repository, and its branch ('' if HEAD is detached)."""
    common = os.path.realpath(repository.common)  # a linked worktree uses .. in its path
    places = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    linked = os.path.join(common, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else []:
        if pointer := _line(os.path.join(linked, name, "gitdir")):
            places.append(os.path.dirname(os.path.join(linked, name, pointer)))
    trees = [tree for tree in map(find, places) if tree]
    return {t.top: head(t).branch for t in trees if os.path.realpath(t.common) == common}


def pointer(folder: str) -> tuple[str, str]:
    """What HEAD contains: the full name of a branch, or a commit; neither if it is broken."""
    path = os.path.join(folder, "HEAD")
    # Before 2006 git wrote HEAD as a link, and it still reads such links.
    line = "ref:" + os.readlink(path) if os.path.islink(path) else _line(path)
    if line.startswith("ref:"):
        ref = line[4:].strip()
        return ref if ref.startswith("refs/") else "", ""
    return "", line if _is_commit(line) else ""


def commit_of(repository: Repository, ref: str) -> str:
    """The commit that the full name `ref` (`refs/heads/…`) points to; '' if there is none."""
    return followed(repository, ref)[1]


def followed(repository: Repository, ref: str) -> tuple[str, str]:
    """Follow symbolic refs: `ref`, or the one that it points to, and the commit."""
    for _ in range(5):  # git follows five as well
        value = _line(os.path.join(repository.folder, ref))
        value = value or _line(os.path.join(repository.common, ref))
        if not value[4:].strip() or not value.startswith("ref:"):
            break
        ref = value[4:].strip()
    if _is_commit(value):
        return ref, value
    if os.path.isdir(os.path.join(repository.common, "reftable")):
        return ref, _ask(repository, ref)
    return ref, _packed(repository, ref)


def log(repository: Repository, branch: str, count: int) -> list[tuple[str, str, str]]:
    """The last `count` commits of `branch`: short hash, ISO date, subject, newest first."""
    lines = output(
        repository.top, "log", f"-{count}", "--no-show-signature", "--no-color", "--no-mailmap",
        "--encoding=UTF-8", "--format=%h%x1f%cI%x1f%s", _HEADS + branch if branch else "HEAD", "--",
    ).split("\n")  # fmt: skip
    rows = [line.split("\x1f", 2) for line in lines]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


class Move(Declaration):
    """An entry in the log of a ref: the commit that it moved to, by whom, when, and why."""

    commit: str
    email: str
    at: int
    what: str


def moves(folder: str, ref: str) -> Iterator[Move]:
    """The entries in the log of a ref in a git folder, newest first."""
    try:
        with open(os.path.join(folder, "logs", ref), "rb") as file:
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return
    for line in reversed(lines):  # `<from> <to> A Name <email> <seconds> <zone>\t<what>`
        about, tab, what = line.partition("\t")
        who, _, when = about.rpartition("> ")
        seconds = when.partition(" ")[0]
        if tab and seconds.isdecimal():
            commit = about[:100].split(" ")[1]
            yield Move(commit=commit, email=who.rpartition("<")[2], at=int(seconds), what=what)


def movers(repository: Repository, since: int, head: str = "") -> set[str] | None:
    """The email addresses of those who moved HEAD here since a moment or since commit `head`.

    None if git keeps no log of that.
    """
    if not os.path.isfile(os.path.join(repository.folder, "logs", "HEAD")):
        return None
    emails = set()
    for move in moves(repository.folder, "HEAD"):
        if move.at < since or move.commit == head:
            break
        emails.add(move.email)
    return emails


def output(folder: str, *arguments: str) -> str:
    """The output of `git <arguments>` in `folder`; '' if it fails or is not installed."""
    return query(folder, *arguments).output()


class query:
    """A git query that runs while this process continues; `output` waits for its end.

    Afterwards, `failed` tells a query that git could not answer from an empty answer.
    """

    failed = False

    def __init__(self, folder: str, *arguments: str) -> None:
        self._folder = folder
        self._out, end = os.pipe()
        read, shut = ((os.POSIX_SPAWN_OPEN, at, os.devnull, os.O_RDWR, 0) for at in (0, 2))
        wiring = (read, (os.POSIX_SPAWN_DUP2, end, 1), shut)  # `end` is 2 where that was closed
        command = (*_command(folder), *arguments)
        try:
            self._process = os.posix_spawnp("git", command, _environment(), file_actions=wiring)
        except OSError:
            self._process = 0
        os.close(end)

    def output(self) -> str:
        """The output of git; '' if it fails or is not installed."""
        pieces = []
        while piece := self._next():
            pieces.append(piece)
        os.close(self._out)
        ended = os.waitpid(self._process, 0)[1] if self._process else _NOT_STARTED
        status = os.waitstatus_to_exitcode(ended)
        self.failed = status != 0
        if status in _NO_ANSWER:
            _say_why(self._folder)
        return "" if self.failed else b"".join(pieces).decode("utf-8", "replace")

    def _next(self) -> bytes:
        """More of the output, empty at its end; git is killed once a hook's time is up."""
        if _until is not None:
            import select

            left = max(0.0, _until - time.monotonic())
            if not select.select([self._out], [], [], left)[0] and self._process:
                os.kill(self._process, 9)
        return os.read(self._out, _PIECE)


def _say_why(folder: str) -> None:
    """Add a remark, once, if git is missing or refuses the repository."""
    global _said_why
    if _said_why or _until is not None:
        return
    _said_why = True
    try:
        check(folder)
    except ContextError as error:
        errors.remarks.append(f"without git's answers: {error}")


def check(folder: str) -> None:
    """Raise ContextError with advice if git is missing or refuses the repository."""
    answer(folder, "rev-parse", "--git-dir")


# Nothing that the repository's own settings name is run: no monitor, no hook.
# A repository without a work tree that lies in the tree may be a clone's own: never taken for ours.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
         "-c", "safe.bareRepository=explicit", "-c", "protocol.ext.allow=never")  # fmt: skip


def _command(folder: str) -> tuple[str, ...]:
    """How a query begins; no program that the repository's settings name is run."""
    # A relative GIT_DIR is relative to the current directory.
    place = () if os.environ.get("GIT_DIR") else ("-C", folder)
    return ("git", *place, "--no-pager", "--no-optional-locks", *_SAFE)


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name not in _MISLEADING}


def answer(folder: str, *arguments: str, stdin: str = os.devnull, **variables: str) -> bytes:
    """The output of `git <arguments>` in `folder`, with a file as its input and extra `variables`.

    Raises ContextError with git's message if it fails, since a failure is not an empty answer.
    """
    return _done((*_command(folder), *arguments), {**_environment(), **variables}, stdin)


def run(
    folder: str, *arguments: str, stdin: str = os.devnull, fine: tuple[int, ...] = (0,),
    **variables: str,
) -> str:  # fmt: skip
    """As `answer`, but ignores a repository set in the environment, for what changes something.

    Raises ContextError with git's message unless the exit status is in `fine`.
    """
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    command = ("git", "-C", folder, *_SAFE, *arguments)
    return _done(command, {**kept, **variables}, stdin, fine).decode("utf-8", "surrogateescape")


def _done(
    command: tuple[str, ...], environment: dict[str, str], stdin: str, fine: tuple[int, ...] = (0,)
) -> bytes:
    """The output of git once it has ended well; raises ContextError for any other end."""
    import subprocess

    if _until is not None:
        raise ContextError("a hook waits for no git: only `query` is bounded")
    try:
        with open(stdin, "rb") as file:
            done = subprocess.run(command, env=environment, stdin=file, capture_output=True)
    except OSError:
        raise ContextError(NOT_THERE) from None
    if done.returncode not in fine:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        for line in lines:  # git's own advice, in any language
            if "config --global --add safe.directory" in line:
                raise ContextError(f"{_FOREIGN}: {line.strip()}")
        marked = [line for line in lines if line.startswith(("fatal:", "error:", " !"))]
        reason = "; ".join(marked or lines[-1:]) or f"status {done.returncode}"
        words = command[len(("git", "-C", "", *_SAFE)) :]
        name = next(word for word in words if word[0] != "-" and "=" not in word)
        raise ContextError(f"git {name} failed: {reason}")
    return done.stdout


_DRAFT = f".*.{'[0-9a-f]' * 12}.tmp"


def all_but(top: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The pathspec for everything in the work tree at `top` except these absolute paths.

    Dismissals, which lie beside what was reviewed, and unfinished drafts are excluded anywhere.
    """
    below = [os.path.relpath(path, top) for path in paths]
    inside = [path for path in below if path.split("/")[0] not in (".", "..")]
    apart = [f":(top,exclude,literal){path}" for path in inside]
    anywhere = (f":(top,exclude,glob)**/{name}" for name in ("*.dismissed.json", _DRAFT))
    return (":(top)", *apart, *anywhere)


def _ask(repository: Repository, ref: str) -> str:
    return output(repository.top, "rev-parse", "--verify", "--quiet", ref).strip()


def _packed(repository: Repository, ref: str) -> str:
    wanted = b" " + os.fsencode(ref)
    try:
        with open(os.path.join(repository.common, "packed-refs"), "rb") as file:
            line = next((line for line in file if line.rstrip(b"\n").endswith(wanted)), b"")
    except OSError:
        return ""
    return line.split(b" ", 1)[0].decode("ascii", "replace")


def _line(path: str) -> str:
    """The first line of a file in the git folder; '' if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.readline(4096)).rstrip("\r\n")
    except OSError:
        return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)


def is_hash(text: str) -> bool:
    """Whether this may be a commit's hash or its beginning."""
    return len(text) > 6 and _HEX.issuperset(text)


def is_local(address: str) -> bool:
    """Whether git takes an address for a path on this machine."""
    before = address.partition(":")[0]
    return address.startswith("file://") or address == before or "/" in before
