"""Capsules that nobody needs any more: superseded ones, and those of merged branches.

What is merged is git's to say, and only what is certain goes: the newest capsule of a branch
that is not certainly merged stays, and so does whatever cannot be read.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, git, ledger, names
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import folders
from contextkit.capsules.flows import upkeep
from contextkit.capsules.flows.upkeep import Row

_HEADS = "refs/heads/"


class Going(Record):
    """A capsule that is removed, by its path, and why."""

    id: str
    why: str


class Wish(Record):
    """What to remove: all but the newest `keep`, what is older than a duration, or only `merged`.

    Without any: superseded ones older than `capsule_prune_days`, and those of merged branches.
    """

    keep: int = 0
    older_than: str = ""
    merged: bool = False


def prune(layout: Layout, wish: Wish, now: int, dry_run: bool = False) -> list[Going]:
    """Remove what `wish` says, and tell each; with `dry_run` only tell."""
    usual = "0" if wish.keep else f"{layout.limits.capsule_prune_days}d"
    age = names.seconds(wish.older_than or usual)
    only_merged = wish.merged and not (wish.keep or wish.older_than)
    going: list[Going] = []
    for folder in folders.all_of(layout):
        rows = [r for r in upkeep.rows_in(layout, folder) if r.state == "finished"]
        merged = _merged(layout, rows)
        going += [Going(id=row.id, why=f"{row.branch} is merged") for row in merged]
        if not only_merged:
            old = [row for row in _superseded(rows, max(wish.keep, 1)) if row not in merged]
            going += [
                Going(id=row.id, why="superseded") for row in old if now - _written(row) >= age
            ]
    for one in () if dry_run else going:
        path = layout.join(one.id)
        os.unlink(files.inside(layout.capsules, path, "capsule"))
        ledger.note(layout, ledger.REMOVED, addresses.of(layout, path, "capsule"))
    return going


def _superseded(rows: list[Row], keep: int) -> list[Row]:
    """All but the newest `keep` of each workstream, oldest first."""
    newer: dict[str, int] = {}
    found = []
    for row in reversed(rows):
        newer[row.workstream] = newer.get(row.workstream, 0) + 1
        if newer[row.workstream] > keep:
            found.append(row)
    return found[::-1]


def _written(row: Row) -> int:
    from datetime import datetime

    return int(datetime.fromisoformat(row.created_at).timestamp())


def _merged(layout: Layout, rows: list[Row]) -> list[Row]:
    """Those of `rows`, one branch's, that reached the default branch."""
    repository = layout.repository
    branches = {row.branch for row in rows}
    main = _default_branch(layout)
    if repository is None or len(branches) != 1 or not main:
        return []
    (branch,) = branches
    if main.rpartition("refs/heads/")[2] == branch or main.endswith(f"/{branch}"):
        return []
    if git.head(repository).branch == branch:
        return []
    tip = git.commit_of(repository, _HEADS + branch)
    if tip:
        return rows if _has_merged(repository, main, tip) else []
    if git.output(repository.top, "for-each-ref", f"refs/remotes/*/{branch}"):
        return []  # somebody else may still work on it
    arrived = git.output(layout.root, "ls-tree", "-r", "-z", "--name-only", main, "--", ".")
    return [row for row in rows if row.id in arrived.split("\0")]


def _has_merged(repository: git.Repository, main: str, tip: str) -> bool:
    """Whether `main` holds the commit `tip` by a merge.

    A branch that was just made, or that `main` was forwarded to, lies on `main`'s own line: that
    cannot be told apart, so it is not certain.
    """
    base = git.output(repository.top, "merge-base", main, tip).strip()
    line = git.output(repository.top, "rev-list", "--first-parent", main).split()
    return base == tip and tip not in line


def _default_branch(layout: Layout) -> str:
    """The full name of main or master, else of origin's default branch; empty without any."""
    if layout.repository is None:
        return ""
    top = layout.repository.top
    origin = git.output(top, "symbolic-ref", "-q", "refs/remotes/origin/HEAD").strip()
    for name in (_HEADS + "main", _HEADS + "master", origin):
        if name and git.commit_of(layout.repository, name):
            return name
    return ""
