"""What a review run is about: a document, a question, or the changes of a branch against a base.

    target= as it was typed  ->  identify: kind and target  ->  take_up: Subject
    base= as it was typed    ->  compare: Comparison, the work tree against what it left

The target names the run's folder, so it is known before the folder; the changes leave the folder
out, so they are taken up after it.
"""

from __future__ import annotations

import os

from contextkit.base import changes, files, git, names
from contextkit.base.changes import Change
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents.processes import Process


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


class Subject(Record):
    """What is reviewed: the bytes that agents read, under a name, and their revision.

    `listing` tells, of a diff, later which files were edited since.
    """

    kind: str  # document, diff or question
    target: str
    name: str
    data: bytes
    revision: str
    source: str = ""
    base: str = ""
    small: bool = False
    listing: bytes = b""


def identify(layout: Layout, process: Process, given: str) -> tuple[str, str]:
    """The kind of input, and the target as it is kept: of a document the path from the root."""
    target = given.strip() or process.default_target
    if process.input == "document" and target:
        path = layout.typed(target, "target")
        if not os.path.isfile(path):
            raise bad_input(
                f"target: {target!r} is not a file: name a document, or none for the diff"
            )
        return "document", layout.shown(path)
    if process.input == "question" and not target:
        raise bad_input("target: write the question")
    return ("question", target) if process.input == "question" else ("diff", target or "diff")


def take_up(
    layout: Layout, process: Process, kind: str, target: str, base: str, folder: str
) -> Subject:
    """Read what is reviewed; `base` is a commit that a diff is made against.

    Raises ContextError where nothing differs, or `base` does not fit.
    """
    if base and kind != "diff":
        raise bad_input(f"base: a {kind} is not compared with anything")
    if kind == "document":
        data = files.read_bytes(layout.join(target))
        return Subject(
            kind=kind, target=target, source=target, name=os.path.basename(target),
            data=data, revision=changes.data_revision(data),
        )  # fmt: skip
    if kind == "question":
        data = (target + "\n").encode()
        revision = changes.data_revision(data)
        return Subject(kind=kind, target=target, name="question.md", data=data, revision=revision)
    found = compare(layout, base, (layout.join(folder),))
    return Subject(
        kind=kind, target=target, name="changes.diff", data=found.diff, revision=found.revision,
        base=found.base.commit, small=_is_small(process, found), listing=found.listing,
    )  # fmt: skip


def _is_small(process: Process, found: Comparison) -> bool:
    few = found.lines < process.small_lines and len(found.changes) <= process.small_files
    return few and not any(change.binary for change in found.changes)
