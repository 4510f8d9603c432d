"""What differs from a base commit in a work tree, and a revision of the content.

git works on a temporary index, copied from the user's and brought up to date. Staged, unstaged, and
untracked changes are therefore one state in which each file appears once, the user's index is
untouched, and no object is added to the repository.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.git import Repository
from contextkit.base.layout import Layout
from contextkit.base.records import Declaration, Record
from contextkit.base.type_names import Sequence

_SCRATCH = "scratch-"
_STATES = {"A": "created", "D": "deleted", "R": "renamed"}
# Whatever the user's settings are, a diff looks the same and starts no program.
_PLAIN = (
    *("--cached", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--no-relative", "--submodule=short", "--ignore-submodules=none", "-O/dev/null"),
)
_TEXT = ("--patch", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")


class Change(Record):
    """A file that differs. `added` and `removed` count lines; both are 0 for a binary file.

    state: created, modified (including its type or mode), deleted, renamed (edited or not). Paths
    are relative to the top of the work tree; bytes that are not UTF-8 are decoded by `os.fsdecode`.
    """

    path: str
    state: str
    old_path: str = ""
    added: int = 0
    removed: int = 0
    binary: bool = False


class work_tree:
    """The content of a work tree, without what git ignores, what is ours, and `left_out`."""

    def __init__(self, layout: Layout, left_out: tuple[str, ...] = ()) -> None:
        self._repository = repository_of(layout)
        self._store = layout.state
        self._where = git.all_but(self._repository.top, (*layout.ours, *left_out))

    def __enter__(self) -> work_tree:
        self._folder = _scratch_folder(self._store)
        self._index = os.path.join(self._folder, "index")
        self._objects = os.path.join(self._folder, "objects")
        try:
            self._take_up()
        except BaseException:
            _remove(self._folder)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _remove(self._folder)

    def _take_up(self) -> None:
        """Bring the temporary index up to date with the work tree; new objects go beside it."""
        shared = os.environ.get("GIT_OBJECT_DIRECTORY", "")
        shared = shared or os.path.join(self._repository.common, "objects")
        files.write(os.path.join(self._objects, "info", "alternates"), os.fsencode(shared) + b"\n")
        users = os.environ.get("GIT_INDEX_FILE", "")
        users = users or os.path.join(self._repository.folder, "index")
        if os.path.isfile(users):
            files.write(self._index, files.read_bytes(users))
            times = os.stat(users)  # git decides by its time which files to look into
            os.utime(self._index, ns=(times.st_atime_ns, times.st_mtime_ns))
        # Without a path, git takes the whole tree and does not fail if nothing is tracked.
        self._ask("add", "--update")
        data = self._ask("ls-files", "-z", "--others", "--exclude-standard", "--", *self._where)
        # A nested repository ends in a slash: its content is its own.
        if fresh := [path for path in data.split(b"\0") if path and not path.endswith(b"/")]:
            listed = files.write(os.path.join(self._folder, "untracked"), b"\0".join(fresh) + b"\0")
            self._ask("update-index", "-z", "--add", "--remove", "--stdin", stdin=listed)

    def _ask(self, *arguments: str, stdin: str = os.devnull) -> bytes:
        quick = ("-c", "core.looseCompression=0", "-c", "core.safecrlf=false")
        variables = {"GIT_INDEX_FILE": self._index, "GIT_OBJECT_DIRECTORY": self._objects}
        top = self._repository.top
        return git.answer(top, *quick, *arguments, stdin=stdin, **variables)

    def changes(self, base: str) -> list[Change]:
        """Each file that differs from the commit or tree `base`, once, by path."""
        data = self._ask("diff", *_PLAIN, "--raw", "--numstat", "-z", base, "--", *self._where)
        return sorted(parse(data), key=lambda change: change.path)

    def listing(self, base: str) -> bytes:
        """What differs from `base`, with the digest of each content, for `changed_paths`."""
        plain = ("--cached", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-relative")
        return self._ask("diff", *plain, "--raw", "-z", base, "--", *self._where)

    def diff(self, base: str) -> bytes:
        """The text of all changes since `base`; for a binary file, only that it differs."""
        return self._ask("diff", *_PLAIN, *_TEXT, base, "--", *self._where)

    def since(self, base: str, patches: Sequence[str]) -> tuple[bytes, int]:
        """The diff since `base` with the diffs in `patches` applied, and its number of files."""
        if any(b"\nBinary files " in files.read_bytes(patch) for patch in patches):
            return self.diff(base), len(self.changes(base))
        current, self._index = self._index, self._index + ".reviewed"
        try:
            self._ask("read-tree", base)
            for patch in filter(os.path.getsize, patches):
                self._ask("apply", "--cached", "--whitespace=nowarn", "--", patch)
            reviewed = self._ask("write-tree").decode().strip()
        finally:
            self._index = current
        return self.diff(reviewed), len(self.changes(reviewed))

    def revision(self) -> str:
        """`tree:` and a digest of all paths, modes, and contents; a commit does not change it."""
        content = self._ask("ls-files", "-z", "--stage", "--", *self._where)
        return "tree:" + names.sha256(content)


def changed_paths(before: bytes, after: bytes) -> list[str]:
    """The paths whose content differs between two listings against the same base, by name."""
    old, new = _contents(before), _contents(after)
    return sorted(os.fsdecode(path) for path in {*old, *new} if old.get(path) != new.get(path))


def _contents(listing: bytes) -> dict[bytes, bytes]:
    """Each path in a listing with its mode and digest, and whether the file exists."""
    words = listing.split(b"\0")[:-1]
    return dict(zip(words[1::2], words[::2], strict=True))


def repository_of(layout: Layout) -> Repository:
    """The repository that the command was called in. Raises ContextError outside of one."""
    if layout.repository is None:
        raise ContextError(
            f"{layout.here}: not in a git repository, so there is nothing to compare"
        )
    return layout.repository


def parse(data: bytes) -> list[Change]:
    """Parse the output of `git diff --raw --numstat -z`, in its order."""
    words = iter(data.split(b"\0")[:-1])
    by_path: dict[bytes, Change] = {}
    for word in words:
        if word.startswith(b":"):
            letter = word.rsplit(b" ", 1)[1][:1].decode()
            old = next(words)
            new = next(words) if letter == "R" else old
            was = os.fsdecode(old) if letter == "R" else ""
            state = _STATES.get(letter, "modified")
            by_path[new] = Change(path=os.fsdecode(new), state=state, old_path=was)
            continue
        *counts, path = word.split(b"\t", 2)
        if not path:
            next(words)
            path = next(words)
        is_binary = counts[0] == b"-"
        added, removed = (0, 0) if is_binary else map(int, counts)
        by_path[path] = by_path[path].replace(binary=is_binary, added=added, removed=removed)
    return list(by_path.values())


def data_revision(data: bytes) -> str:
    """`input:` and a digest of a document, for a review of something other than a work tree."""
    return "input:" + names.sha256(data)


_GUESSES = (  # name and git ref of each branch that this one may have forked from
    ("the upstream", "@{upstream}"),
    *((name, f"refs/remotes/{name}") for name in ("origin/HEAD", "origin/main", "origin/master")),
    *((name, f"refs/heads/{name}") for name in ("main", "master")),
)


class Base(Declaration):
    """A commit (or the empty tree), and the name that led to it."""

    name: str
    commit: str


class Comparison(Declaration):
    """The work tree compared with a base; never without changes."""

    base: Base
    changes: tuple[Change, ...]
    diff: bytes
    revision: str  # of the tree; see changes.py
    listing: bytes

    @property
    def lines(self) -> int:
        """How many lines were added or removed."""
        return sum(change.added + change.removed for change in self.changes)


def compare(layout: Layout, named: str = "", left_out: tuple[str, ...] = ()) -> Comparison:
    """Compare the work tree with the first of `bases` from which it differs.

    So a fully pushed branch is compared with the point where it left the main branch. Raises
    ContextError if nothing differs.
    """
    candidates = bases(layout, named)
    with work_tree(layout, left_out) as tree:
        for base in candidates:
            if changed := tree.changes(base.commit):
                diff, listing = tree.diff(base.commit), tree.listing(base.commit)
                return Comparison(base=base, changes=tuple(changed), diff=diff, listing=listing,
                                  revision=tree.revision())  # fmt: skip
    tried = " or ".join(base.name for base in candidates)
    top = repository_of(layout).top
    earlier = "give base=COMMIT, such as base=HEAD~1"
    mend = earlier if _commit(top, "HEAD~1") else "change something first, or name a document"
    raise ContextError(f"nothing differs from {tried}: {mend}")


def bases(layout: Layout, named: str = "") -> list[Base]:
    """The commits that a branch can be compared with, best first: its merge base with `named`.

    By default, with its upstream, origin's default branch, main or master; the empty tree if it has
    no commit. Raises ContextError if there is none.
    """
    repository = repository_of(layout)
    top = repository.top
    git.check(top)  # a refused or missing repository differs from having nothing to compare with
    if not git.head(repository).commit:
        if named:
            raise bad_input(f"base: {named!r} cannot be a base: there is no commit here yet")
        empty = git.answer(top, "hash-object", "-t", "tree", os.devnull).decode().strip()
        return [Base(name="nothing", commit=empty)]
    if named and not _commit(top, named):
        raise bad_input(f"base: there is no commit {named!r}: name a branch, tag or commit")
    by_commit: dict[str, Base] = {}
    for name, ref in [(named, named)] if named else _GUESSES:
        commit = _commit(top, ref)
        common = git.output(top, "merge-base", commit, "HEAD").strip() if commit else ""
        if common:
            by_commit.setdefault(common, Base(name=name, commit=common))
    if named and not by_commit:
        raise bad_input(f"base: {named!r} and HEAD have no commit in common")
    if not by_commit:
        raise ContextError(
            "there is no upstream, origin, main or master to compare with: "
            "give base=COMMIT (base=HEAD for uncommitted changes)"
        )
    return list(by_commit.values())


def _commit(top: str, name: str) -> str:
    if name.startswith("-") or "\0" in name:
        return ""
    return git.output(top, "rev-parse", "--verify", "--quiet", name + "^{commit}").strip()


def listed(changed: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    """(state, lines, path) of each change, as text: `renamed`, `+1 -2`, `new <- old`."""
    rows = []
    for change in changed:
        lines = "binary" if change.binary else f"+{change.added} -{change.removed}"
        path = f"{change.path} <- {change.old_path}" if change.old_path else change.path
        rows.append((change.state, lines, names.one_line(path)))
    return rows


def _scratch_folder(store: str) -> str:
    """A new folder in `store`; those of killed processes go, once they are an hour old."""
    import tempfile

    files.make_folder(store)
    left = [os.path.join(store, name) for name in os.listdir(store) if name.startswith(_SCRATCH)]
    for path in filter(files.is_old, left):
        _remove(path)
    return tempfile.mkdtemp(prefix=_SCRATCH, dir=store)


def _remove(path: str) -> None:
    """Remove one of our folders, which another process may be sweeping too."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)
