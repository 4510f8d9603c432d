"""`worktree=`: use the stores of another worktree of this repository."""

from __future__ import annotations

import os

from contextkit.base import files, git, names
from contextkit.base.commands import Option
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout

OPTION = Option(name="worktree", help="another worktree: its path, or the branch in it")


def layout_of(layout: Layout, named: str) -> Layout:
    """The layout of another worktree, given its path, its folder's name, or its branch.

    Without a name, the layout of this one. Raises ContextError listing the worktrees for anything
    else.
    """
    if not named:
        return layout
    if layout.repository is None:
        raise bad_input(f"worktree={named[:60]}: there is no git repository here")
    trees = _all(layout.repository)
    wanted = os.path.realpath(os.path.join(layout.here, os.path.expanduser(named)))
    for top, branch in trees.items():
        if named in (branch, os.path.basename(top)) or wanted == os.path.realpath(top):
            return Layout(top)
    known = [branch or top for top, branch in trees.items()]
    listed = ", ".join(names.one_line(each) for each in known)
    raise bad_input(
        f"worktree={named[:60]}: not a worktree of this repository; available: {listed}"
    )


def _all(repository: git.Repository) -> dict[str, str]:
    """The folder of each worktree of a repository, and its branch (empty: detached)."""
    found = {}
    common = os.path.realpath(repository.common)  # a linked worktree uses .. in its path
    main = os.path.dirname(common)
    places = [main] if os.path.basename(common) == ".git" else []
    linked = os.path.join(common, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else []:
        try:
            pointer = files.read(os.path.join(linked, name, "gitdir")).strip()
        except ContextError:
            continue
        places.append(os.path.dirname(os.path.join(linked, name, pointer)))
    for top in places:
        there = git.find(top)
        if there and os.path.realpath(there.common) == common:
            found[there.top] = git.head(there).branch
    return found
