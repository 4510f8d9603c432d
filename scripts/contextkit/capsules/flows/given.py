"""The capsule that an agent starts with, and what has changed since: for commands and hooks.

It is the branch's newest finished one, however old. A branch without one has that of the branch it
was made from, and so on; for a worktree it may be in that branch's own work tree.
"""

from __future__ import annotations

import os

from contextkit.base import git, names, redaction, stores, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator, Sequence
from contextkit.capsules.documents import store as capsules

_SINCE_TOKENS = 150  # of what has changed since
_CREATED, _RENAMED = "branch: Created from ", "Branch: renamed refs/heads/"
_MOVED = "checkout: moving from "
_HEADS = "refs/heads/"
_MOST = 5  # branches that one comes from, one after the other


class Given(Record):
    """A capsule for a subagent: `whole` is its body, `body` what the subagent gets of it.

    path: relative to the root; news: what has changed since, a line each, without secrets.
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
        """The same capsule with this as what the subagent gets."""
        return self.replace(body=body, tokens=tokens.estimate(body), trimmed=trimmed)


def newest(layout: Layout, branch: str, workstream: str = "") -> tuple[str, str]:
    """The path of the newest capsule for `branch`, and the branch that it is of; both may be ''."""
    for name, where in places(layout, branch) if branch else ():
        path = capsules.latest(where, name, workstream)
        if path:
            return path, name
    return "", ""


def places(layout: Layout, branch: str) -> Iterator[tuple[str, Layout]]:
    """Each branch that `branch` comes from, itself first, with the root to look in."""
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
    """Load the capsule at `path` for an agent on `branch`; `ignored` as in `drift.since`.

    Raises ContextError for a stub, or a file that is not a capsule.
    """
    from contextkit.capsules.documents import items
    from contextkit.capsules.flows import drift

    loaded = capsules.load(layout, path)
    body = items.for_subagent(loaded.body)
    of = loaded.capsule.branch
    news = drift.told(drift.since(layout, path, ignored), _SINCE_TOKENS)
    if branch and of != branch:
        news.insert(0, f"It is of the branch {names.one_line(of)}")
    return Given(
        path=layout.shown(path),
        body=body,
        whole=loaded.body,
        sha256=loaded.sha256,
        created_at=loaded.capsule.created_at,
        tokens=tokens.estimate(body),
        news=tuple(redaction.cleaned(news, layout.limits.secrets_allow)),
    )


# Which branch another one was made from, as git's own logs tell; git is not started. A branch's log
# begins with `branch: Created from main`. For `Created from HEAD` (`git checkout -b`, `git worktree
# add`) the log of HEAD says which branch was checked out at that moment. A branch that was renamed
# comes from its old name.


def ancestors(repository: git.Repository, branch: str) -> Iterator[str]:
    """`branch`, the branch that it was made from, and so on; known ones only, each once."""
    seen: list[str] = []
    while branch and branch not in seen and len(seen) < _MOST:
        seen.append(branch)
        yield branch
        branch = _origin(repository, branch)


def _origin(repository: git.Repository, branch: str) -> str:
    """The branch that `branch` was made from, or its name before; '' if that is not known."""
    for move in git.moves(repository.common, _HEADS + branch):
        if move.what.startswith(_RENAMED):
            return move.what.removeprefix(_RENAMED).partition(" to ")[0]
        if move.what.startswith(_CREATED):
            named = move.what.removeprefix(_CREATED)
            if named == "HEAD" or git.is_hash(named):
                return _checked_out(repository, branch, move)
            return _local(repository, named)
    return ""


def _local(repository: git.Repository, named: str) -> str:
    """A branch's own name, without `refs/heads/` or its remote."""
    remote = named.removeprefix("refs/remotes/").removeprefix("remotes/")
    if git.commit_of(repository, f"refs/remotes/{remote}"):
        return remote.partition("/")[2]
    return named.removeprefix(_HEADS)


def _checked_out(repository: git.Repository, branch: str, made: git.Move) -> str:
    """The branch that some work tree had checked out when `branch` was made."""
    for folder in _folders(repository):
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
        if at == made.commit and branch not in (
            name,
            current := git.pointer(folder)[0].removeprefix(_HEADS),
        ):
            return name or current
    return ""


def _folders(repository: git.Repository) -> list[str]:
    """The git folder of every work tree, the main one first."""
    linked = os.path.join(repository.common, "worktrees")
    return [repository.common, *(os.path.join(linked, n) for n in stores.names_in(linked))]
