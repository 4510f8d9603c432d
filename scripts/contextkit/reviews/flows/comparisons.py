"""What a branch is compared with, and what comes of it: the changes that a review is about."""

from __future__ import annotations

from contextkit.base import changes, git, names
from contextkit.base.changes import Change
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record


class Base(Record):
    """A commit (or the tree without a file), and the name that led to it."""

    name: str
    commit: str


class Comparison(Record):
    """The work tree against a base: never without changes."""

    base: Base
    changes: tuple[Change, ...]
    diff: bytes
    revision: str  # of the tree, see changes.py
    listing: bytes

    @property
    def lines(self) -> int:
        """How many lines were added or removed."""
        return sum(change.added + change.removed for change in self.changes)


def compare(layout: Layout, given: str = "", left_out: tuple[str, ...] = ()) -> Comparison:
    """The work tree against the first of `bases` from which it differs.

    So a branch that is pushed as it stands is compared with where it left the main one, and not
    with itself. Raises ContextError where nothing differs: an empty diff is nothing to review.
    """
    found = bases(layout, given)
    with changes.work_tree(layout, left_out) as tree:
        for base in found:
            changed = tree.changes(base.commit)
            if changed:
                return Comparison(
                    base=base,
                    changes=tuple(changed),
                    diff=tree.diff(base.commit),
                    revision=tree.revision(),
                    listing=tree.listing(base.commit),
                )
    tried = " or ".join(base.name for base in found)
    raise ContextError(f"nothing differs from {tried}: give base=COMMIT to compare with another")


def bases(layout: Layout, given: str = "") -> list[Base]:
    """What a branch can be compared with, best first: its merge base with `given`.

    Without `given`: with its upstream, else origin's default branch, else main or master. A
    branch without any commit has the empty tree. Raises ContextError where there is nothing.
    """
    repository = changes.repository_of(layout)
    top = repository.top
    git.check(top)  # refused or not there: another thing than nothing to compare with
    if not git.head(repository).commit:
        if given:
            raise bad_input(f"base: {given!r} cannot be compared with: there is no commit here yet")
        return [Base(name="nothing", commit=changes.nothing(repository))]
    if given:
        commit = _commit(top, given)
        if not commit:
            raise bad_input(f"base: there is no commit {given!r}: name a branch, tag or commit")
        common = _merge_base(top, commit)
        if not common:
            raise bad_input(f"base: {given!r} and HEAD have no commit in common")
        return [Base(name=given, commit=common)]
    found: dict[str, Base] = {}
    for name, ref in _guesses():
        commit = _commit(top, ref)
        common = _merge_base(top, commit) if commit else ""
        if common:
            found.setdefault(common, Base(name=name, commit=common))
    if not found:
        raise ContextError(
            "there is no upstream, origin, main or master to compare with: "
            "give base=COMMIT (base=HEAD for what is not committed)"
        )
    return list(found.values())


def _guesses() -> list[tuple[str, str]]:
    """(name, what git calls it) of each branch that this one may have left."""
    far = [f"origin/{name}" for name in ("HEAD", "main", "master")]
    near = ["main", "master"]
    return [
        ("the upstream", "@{upstream}"),
        *((name, f"refs/remotes/{name}") for name in far),
        *((name, f"refs/heads/{name}") for name in near),
    ]


def _commit(top: str, name: str) -> str:
    if name.startswith("-") or "\0" in name:
        return ""
    return git.output(top, "rev-parse", "--verify", "--quiet", name + "^{commit}").strip()


def _merge_base(top: str, commit: str) -> str:
    return git.output(top, "merge-base", commit, "HEAD").strip()


def listed(changed: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    """(state, lines, path) of each change, each on one line: `renamed`, `+1 -2`, `new <- old`."""
    rows = []
    for change in changed:
        lines = "binary" if change.binary else f"+{change.added} -{change.removed}"
        path = f"{change.path} <- {change.old_path}" if change.old_path else change.path
        rows.append((change.state, lines, names.one_line(path)))
    return rows
