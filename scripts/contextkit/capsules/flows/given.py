"""The capsule that an agent starts with, and whether it is still up to date.

It is the newest finished one of the branch, however old, or of the branch it was made from.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, names, redaction, references, stores, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator, Sequence
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from contextkit.text import fitting

_NAMED = 3  # commits and entries that are listed, and twice as many files
_MOST_COMMITS = 200  # that are read
_SINCE_TOKENS = 150  # for the changes since
_CREATED, _RENAMED = "branch: Created from ", "Branch: renamed refs/heads/"
_MOVED = "checkout: moving from "
_HEADS = "refs/heads/"
_MOST = 5  # branches in a line of descent


class Given(Record):
    """A capsule for a subagent: `whole` is its body, `body` the part for the subagent.

    path: relative to the root; news: the changes since, a line each, without secrets.
    """

    path: str
    body: str
    whole: str
    sha256: str
    created_at: str
    tokens: int
    trimmed: bool = False
    news: tuple[str, ...] = ()

    def cut(self, body: str, trimmed: bool = True) -> Given:
        """The same capsule, with `body` as the part for the subagent."""
        return self.replace(body=body, tokens=tokens.estimate(body), trimmed=trimmed)


def newest(layout: Layout, branch: str, workstream: str = "") -> tuple[str, str]:
    """The path of the newest capsule for `branch`, and the capsule's branch; both may be ''."""
    for name, where in places(layout, branch) if branch else ():
        path = capsules.latest(where, name, workstream)
        if path:
            return path, name
    return "", ""


def places(layout: Layout, branch: str) -> Iterator[tuple[str, Layout]]:
    """The line of descent of `branch`, itself first, each with the root to look in."""
    yield branch, layout
    if layout.repository is None:
        return
    trees: dict[str, str] = {}
    for name in ancestors(layout.repository, branch):
        if name == branch:
            continue
        yield name, layout
        trees = trees or {on: top for top, on in git.worktrees(layout.repository).items()}
        if trees.get(name, layout.repository.top) != layout.repository.top:
            yield name, Layout(trees[name])


def at(layout: Layout, path: str, branch: str, ignored: Sequence[str] = ()) -> Given:
    """Load the capsule at `path` for an agent on `branch`; `ignored` as in `since`.

    Raises ContextError for a stub, or a file that is not a capsule.
    """
    loaded = capsules.load(layout, path)
    body = items.for_subagent(loaded.body)
    of = loaded.capsule.branch
    news = told(since(layout, path, ignored), _SINCE_TOKENS)
    if branch and of != branch:
        news.insert(0, f"It is of the branch {names.one_line(of)}")
    return Given(
        path=layout.shown(path), body=body, whole=loaded.body, sha256=loaded.sha256,
        created_at=loaded.capsule.created_at, tokens=tokens.estimate(body),
        news=tuple(redaction.cleaned(news, layout.limits.secrets_allow)),
    )  # fmt: skip


def marks(layout: Layout, text: str) -> list[tuple[str, str]]:
    """The sealed references of a capsule with their states; none without a seal."""
    sealed = capsules.seal_of(text)
    kept = references.read(sealed.digests.items() if sealed else ())
    return [(reference.path, references.state(layout.root, reference)) for reference in kept]


class Since(Record):
    """What has happened since a capsule was written, newest first.

    commits: the subjects by short hash; files: those they touched; entries: the first lines by
    notebook and time; marks: the state of each sealed file that is not fresh; lost: the sealed
    commit, if it is gone.
    """

    commits: dict[str, str]
    files: tuple[str, ...]
    entries: dict[tuple[str, str], str]
    marks: dict[str, str]
    lost: str = ""


def since(layout: Layout, path: str, ignored: Sequence[str] = (), ask_git: bool = True) -> Since:
    """What has happened since the capsule at `path` was written. Raises ContextError.

    Empty commits, and those that change only contextkit's own files or the root-relative paths
    `ignored`, do not count.
    """
    text = files.read(path)
    capsule, _ = capsules.parse(text.replace("\r\n", "\n"), layout.shown(path))
    sealed = capsules.seal_of(text)
    changed = {name: state for name, state in marks(layout, text) if state != references.FRESH}
    news = Since(commits={}, files=(), entries=dict(_entries(layout, capsule)), marks=changed)
    if layout.repository is None or not ask_git:
        return news
    sealed_at = sealed.head if sealed else ""
    here, own = git.head(layout.repository), "refs/heads/" + capsule.branch
    elsewhere = here.branch != capsule.branch and git.commit_of(layout.repository, own)
    if sealed_at and sealed_at == (elsewhere or here.commit):
        return news
    tip = own if elsewhere else "HEAD"
    in_span = commits_in(layout, f"{sealed_at}..{tip}", ignored) if sealed_at else None
    lost = ""
    if in_span is None:
        asked = ("rev-parse", "-q", "--verify", f"{sealed_at}^0")
        exists = sealed_at and git.output(layout.repository.top, *asked)
        lost = "" if exists else sealed_at[:12]
        # from the next second on: the capsule's own commit may have the same second
        later = f"--since={names.moment(capsule.created_at) + 1}"
        in_span = commits_in(layout, tip, ignored, later) or ({}, ())
    commits, touched = in_span
    return news.replace(commits=commits, files=touched, lost=lost)


def staleness(
    layout: Layout, path: str, ignored: Sequence[str] = (), ask_git: bool = True
) -> list[str]:
    """Why the capsule at `path` is not up to date, as lines; see `since`."""
    return list(_lines(since(layout, path, ignored, ask_git), _NAMED))


def told(changes: Since, most: int) -> list[str]:
    """The changes as lines for an agent, within `most` tokens; the newest stay."""
    lines: list[str] = []
    for count in (5, 3, 2, 1):
        lines = [names.one_line(line) for line in _lines(changes, count)]
        if tokens.estimate("\n".join(lines)) <= most:
            return lines
    lines = [tokens.clip(line, most // 2) for line in lines]
    return lines[: fitting.leading(lines, most)]


def _lines(changes: Since, count: int) -> Iterator[str]:
    """The changes as lines, with `count` commits and entries, and twice as many files."""
    if changes.lost:
        yield f"The commit it was sealed at, {changes.lost}, is gone: history was rewritten"
    if changes.commits:
        named = [f"{commit} {names.clipped(what, 60)}" for commit, what in changes.commits.items()]
        full = len(named) == _MOST_COMMITS
        where = f", in {_some(changes.files, 2 * count)}" if changes.files else ""
        counted = names.counted(len(named), "commit").replace(" ", " or more ", full)
        yield f"{counted} with changes: {_some(named, count, '; ')}{where}"
    for (shown, time), what in list(changes.entries.items())[:count]:
        yield f"{shown}, {time}: {names.clipped(what, 100)}"
    if changes.marks:
        changed = [f"{path} ({state})" for path, state in changes.marks.items()]
        yield f"Changed since it was sealed: {_some(changed, 2 * count)}"


def _some(items: Sequence[str], most: int, between: str = ", ") -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def commits_in(
    layout: Layout, span: str, ignored: Sequence[str], *more: str
) -> tuple[dict[str, str], tuple[str, ...]] | None:
    """The commits that affect a capsule's content, and the files they touch, as in `Since`.

    `more` are options of git log; None if git has no answer.
    """
    assert layout.repository is not None
    top = layout.repository.top
    asked = git.query(
        top, "-c", "core.quotePath=false", "log", f"-{_MOST_COMMITS}", "--no-show-signature",
        "--no-ext-diff", "--name-only", "--format=%x00%h%x1f%s", *more, span, "--",
        *git.all_but(top, (*layout.ours, *map(layout.join, ignored))),
    )  # fmt: skip
    listed = asked.output()
    if asked.failed:
        return None
    commits, touched = dict[str, str](), dict[str, None]()
    for part in listed.split("\0")[1:]:
        first, *paths = part.split("\n")
        commit, _, what = first.partition("\x1f")
        commits[commit] = names.one_line(what)
        touched |= dict.fromkeys(filter(None, paths))
    return commits, tuple(touched)


def _entries(layout: Layout, capsule: capsules.Capsule) -> Iterator[tuple[tuple[str, str], str]]:
    """The notebook entries newer than the capsule: notebook, time and first line, newest first."""
    written = capsule.created_at[:10] + " " + capsule.created_at[11:19]
    for name in ("PLAN", "PROGRESS"):
        path = layout.notebook(capsule.branch.replace("/", "-"), name)
        for entry in capsules.latest_entries(path, 2):
            time = capsules.time_of(entry)
            if time > written:
                line = entry.partition("\n")[2].strip().partition("\n")[0]
                yield (layout.shown(path), time), line.lstrip("-*+ ")


# The branch that another one was made from, read from git's own logs without starting git. The log
# of a branch begins with `branch: Created from main`. For `Created from HEAD` (`git checkout -b`,
# `git worktree add`) the log of HEAD says which branch was checked out at that moment. The origin
# of a renamed branch is its old name.


def ancestors(repository: git.Repository, branch: str) -> Iterator[str]:
    """`branch`, the branch that it was made from, and so on, as far as known; each once."""
    seen: list[str] = []
    while branch and branch not in seen and len(seen) < _MOST:
        seen.append(branch)
        yield branch
        branch = _origin(repository, branch)


def _origin(repository: git.Repository, branch: str) -> str:
    """The branch that `branch` was made from, or its former name; '' if unknown."""
    for move in git.moves(repository.common, _HEADS + branch):
        if move.what.startswith(_RENAMED):
            return move.what.removeprefix(_RENAMED).partition(" to ")[0]
        if move.what.startswith(_CREATED):
            named = move.what.removeprefix(_CREATED)
            if named == "HEAD" or git.is_hash(named):
                return _checked_out(repository, branch, move)
            remote = named.removeprefix("refs/remotes/").removeprefix("remotes/")
            is_remote = git.commit_of(repository, f"refs/remotes/{remote}")
            return remote.partition("/")[2] if is_remote else named.removeprefix(_HEADS)
    return ""


def _checked_out(repository: git.Repository, branch: str, made: git.Move) -> str:
    """The branch that a work tree had checked out when another was made."""
    linked = os.path.join(repository.common, "worktrees")
    others = (os.path.join(linked, name) for name in stores.names_in(linked))
    for folder in (repository.common, *others):  # of every work tree, the main one first
        name, at = "", ""
        for move in reversed(list(git.moves(folder, "HEAD"))):
            left, moved, entered = move.what.removeprefix(_MOVED).partition(" to ")
            is_move = bool(moved) and move.what.startswith(_MOVED)
            if is_move and entered == branch and move.commit == made.commit:
                return left
            if move.at > made.at:
                name = name or (left if is_move else "")
                break
            name, at = (entered if is_move else name), move.commit
        current = git.pointer(folder)[0].removeprefix(_HEADS)
        if at == made.commit and branch not in (name, current):
            return name or current
    return ""
