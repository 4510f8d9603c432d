"""Where a subagent works: the repository itself, a throwaway clone, or a worktree.

.contextkit/sandboxes/<id>/                        a clone or a worktree, by the subagent's id
  .contextkit/subagents/<id>/sandbox               marks the sandbox as ours to remove
  .contextkit/subagents/<id>/capsule.md …          what the subagent gets, hidden from git
"""

from __future__ import annotations

import os

from contextkit.base import files, git
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout

KINDS = ("here", "throwaway", "worktree")


def place(layout: Layout, kind: str, identity: str) -> str:
    """The folder that a subagent works in."""
    return layout.root if kind == "here" else layout.sandbox(identity)


def desk(folder: str, identity: str) -> str:
    """The subagent's own folder in a sandbox, for its capsule and progress log."""
    return os.path.join(folder, ".contextkit", "subagents", identity)


def branch_of(identity: str) -> str:
    """The branch of a subagent's worktree."""
    return f"subagent/{identity}"


def make(layout: Layout, kind: str, identity: str) -> str:
    """Make the sandbox at the commit that is checked out, and return its folder.

    Raises ContextError if git fails; nothing is left behind then.
    """
    folder = place(layout, kind, identity)
    files.write(_mark(layout, identity), f"{kind}\n")  # first: a partial one is ours too
    if kind != "here":
        top = top_of(layout)
        files.make_folder(os.path.dirname(files.inside(layout.root, folder, "sandbox")))
        try:
            if kind == "worktree":
                git.run(top, "worktree", "add", "-q", "-b", branch_of(identity), folder, "HEAD")
            else:
                git.run(top, "clone", "-q", "--template=", top, folder)
            files.store(os.path.join(folder, ".contextkit"))
        except BaseException:
            remove(layout, kind, identity)
            raise
    return folder


def top_of(layout: Layout) -> str:
    """The work tree that sandboxes are made from. Raises ContextError if none can be."""
    if layout.repository is None or not git.head(layout.repository).commit:
        raise bad_input("type: a clone or worktree needs a git repository with a commit")
    return layout.repository.top


def unseen(layout: Layout, path: str) -> bool:
    """Whether a clone or worktree would lack the file `path` in its current state."""
    if layout.repository is None:
        return True
    top = layout.repository.top
    real = os.path.realpath(path)
    if not real.startswith(top + os.sep):
        return True
    committed = git.output(top, "ls-tree", "HEAD", "--", os.path.relpath(real, top)).split()
    there = git.output(top, "hash-object", "--", real).strip()
    return not there or there not in committed


def is_ours(layout: Layout, identity: str, folder: str) -> bool:
    """Whether `folder` is the sandbox that we made for this subagent."""
    ours = os.path.realpath(layout.sandbox(identity))
    return (
        os.path.realpath(folder) == ours
        and not os.path.islink(layout.sandbox(identity))
        and os.path.isfile(_mark(layout, identity))
    )


def _mark(layout: Layout, identity: str) -> str:
    return os.path.join(layout.run(identity), "sandbox")


def work_in(layout: Layout, kind: str, identity: str) -> list[str]:
    """What would be lost with the sandbox: changed files, commits on no other branch."""
    folder = layout.sandbox(identity)
    if not os.path.lexists(os.path.join(folder, ".git")):
        return ["files that git no longer knows"]  # git would answer for the enclosing repository
    work = []
    changed = git.run(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    if changed:
        work.append(f"{len(changed)} changed files")
    heads = git.run(folder, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash")
    tips = {git.run(folder, "rev-parse", "HEAD").strip()}
    others: tuple[str, ...] = ("--branches", "--remotes")
    if kind == "worktree":
        others = (f"--exclude={branch_of(identity)}", *others)
    else:
        tips.update(heads.split())
    lost = [tip for tip in sorted(tips) if _is_lost(top_of(layout), tip, others)]
    if lost:
        work.append(f"commits on no branch ({', '.join(tip[:12] for tip in lost)})")
    return work


def _is_lost(top: str, tip: str, others: tuple[str, ...]) -> bool:
    try:
        return bool(git.run(top, "rev-list", "--max-count=1", tip, "--not", *others).strip())
    except ContextError:
        return True  # the repository does not even have the commit


def remove(layout: Layout, kind: str, identity: str) -> None:
    """Remove one of our sandboxes and any worktree branch; the caller has checked both."""
    folder = layout.sandbox(identity)
    if kind == "worktree" and layout.repository is not None:
        top = layout.repository.top
        if os.path.exists(os.path.join(folder, ".git")):
            try:
                git.run(top, "worktree", "remove", "--force", folder)
            except ContextError:  # partial: its maker was killed
                _discard(folder)
                git.run(top, "worktree", "prune")
        if git.commit_of(layout.repository, f"refs/heads/{branch_of(identity)}"):
            git.run(top, "branch", "-q", "-D", branch_of(identity))
    _discard(folder)


def _discard(folder: str) -> None:
    import shutil

    if os.path.isdir(folder) and not os.path.islink(folder):
        shutil.rmtree(folder)
