"""What a review run is about: a document, a question, or the changes of a branch against a base.

    target= as typed  ->  identify: kind and target  ->  take_up: Subject
    base= as typed    ->  compare: Comparison of the work tree with its base

The target determines the run's folder, so it is known first; the changes leave out that folder, so
they are collected afterwards.
"""

from __future__ import annotations

import os

from contextkit.base import changes, errors, files, git, names
from contextkit.base.changes import Change
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents.processes import Process
from contextkit.reviews.documents.runs import Run

_GUESSES = (  # name and git ref of each branch that this one may have forked from
    ("the upstream", "@{upstream}"),
    *((name, f"refs/remotes/{name}") for name in ("origin/HEAD", "origin/main", "origin/master")),
    *((name, f"refs/heads/{name}") for name in ("main", "master")),
)


class Base(Record):
    """A commit (or the empty tree), and the name that led to it."""

    name: str
    commit: str


class Comparison(Record):
    """The work tree compared with a base; never without changes."""

    base: Base
    changes: tuple[Change, ...]
    diff: bytes
    revision: str  # of the tree; see changes.py
    listing: bytes

    @property
    def lines(self) -> int:
        """Return how many lines were added or removed."""
        return sum(change.added + change.removed for change in self.changes)


def compare(layout: Layout, named: str = "", left_out: tuple[str, ...] = ()) -> Comparison:
    """Compare the work tree with the first of `bases` from which it differs.

    So a fully pushed branch is compared with the point where it left the main branch, not with
    itself. Raises ContextError if nothing differs: an empty diff is nothing to review.
    """
    candidates = bases(layout, named)
    with changes.work_tree(layout, left_out) as tree:
        for base in candidates:
            changed = tree.changes(base.commit)
            if changed:
                return Comparison(
                    base=base,
                    changes=tuple(changed),
                    diff=tree.diff(base.commit),
                    revision=tree.revision(),
                    listing=tree.listing(base.commit),
                )
    tried = " or ".join(base.name for base in candidates)
    raise ContextError(f"nothing differs from {tried}: give base=COMMIT to compare with another")


def bases(layout: Layout, named: str = "") -> list[Base]:
    """Return what a branch can be compared with, best first: its merge base with `given`.

    Without `given`: with its upstream, then origin's default branch, then main or master. A branch
    without commits is compared with the empty tree. Raises ContextError if there is no base.
    """
    repository = changes.repository_of(layout)
    top = repository.top
    git.check(top)  # a refused or missing repository differs from having nothing to compare with
    if not git.head(repository).commit:
        if named:
            raise bad_input(f"base: {named!r} cannot be a base: there is no commit here yet")
        return [Base(name="nothing", commit=changes.empty_tree(repository))]
    if named:
        commit = _commit(top, named)
        if not commit:
            raise bad_input(f"base: there is no commit {named!r}: name a branch, tag or commit")
        common = _merge_base(top, commit)
        if not common:
            raise bad_input(f"base: {named!r} and HEAD have no commit in common")
        return [Base(name=named, commit=common)]
    by_commit: dict[str, Base] = {}
    for name, ref in _GUESSES:
        commit = _commit(top, ref)
        common = _merge_base(top, commit) if commit else ""
        if common:
            by_commit.setdefault(common, Base(name=name, commit=common))
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


def _merge_base(top: str, commit: str) -> str:
    return git.output(top, "merge-base", commit, "HEAD").strip()


def listed(changed: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    """Return (state, lines, path) of each change, as text: `renamed`, `+1 -2`, `new <- old`."""
    rows = []
    for change in changed:
        lines = "binary" if change.binary else f"+{change.added} -{change.removed}"
        path = f"{change.path} <- {change.old_path}" if change.old_path else change.path
        rows.append((change.state, lines, names.one_line(path)))
    return rows


class Subject(Record):
    """What is reviewed: the bytes that agents read, with a name and a revision.

    For a diff, `listing` later tells which files were edited since.
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
    files: int = 0  # how many there are to read; 0 for a question


def identify(layout: Layout, process: Process, typed: str) -> tuple[str, str]:
    """Return the kind of input and the target as stored: for a document, its path from the root."""
    target = typed.strip() or process.default_target
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
    """Read what is reviewed; `base` is the commit that a diff is made against.

    Raises ContextError if nothing differs or `base` does not apply.
    """
    if base and kind != "diff":
        errors.remarks.append(f"base={base[:60]}: a {kind} is not compared with anything: left out")
    if kind == "document":
        data = files.read_bytes(layout.join(target))
        return Subject(
            kind=kind, target=target, source=target, name=os.path.basename(target),
            data=data, revision=changes.data_revision(data), files=1,
        )  # fmt: skip
    if kind == "question":
        data = (target + "\n").encode()
        revision = changes.data_revision(data)
        return Subject(kind=kind, target=target, name="question.md", data=data, revision=revision)
    made = compare(layout, base, (layout.join(folder),))
    few = made.lines < process.small_lines and len(made.changes) <= process.small_files
    return Subject(
        kind=kind, target=target, name="changes.diff", data=made.diff, revision=made.revision,
        base=made.base.commit, small=few and not any(change.binary for change in made.changes),
        listing=made.listing, files=len(made.changes),
    )  # fmt: skip


def since(layout: Layout, run: Run) -> Subject:
    """Return what changed since a run began, for those who look again.

    Raises ContextError if nothing did, or if what was reviewed cannot be had any more.
    """
    reviewed = layout.join(run.input)
    if not os.path.isfile(reviewed):
        raise ContextError(f"{run.input}: what was reviewed is gone: start a new run")
    if run.source:
        data = files.read_bytes(layout.join(run.source))
        text = _lines_changed(files.read_bytes(reviewed), data, run.source)
        subject = Subject(kind="diff", target=run.target, source=run.source, name="changes.diff",
                        data=text, revision=changes.data_revision(data), files=1)  # fmt: skip
    else:
        with changes.work_tree(layout, (layout.join(run.output_dir),)) as tree:
            text, count = tree.since(run.base, reviewed)
            subject = Subject(kind="diff", target=run.target, name="changes.diff", data=text,
                            revision=tree.revision(), base=run.base, files=count,
                            listing=tree.listing(run.base))  # fmt: skip
    if not subject.data.strip():
        raise ContextError(f"nothing has changed since the run {run.id}: fix its findings first")
    return subject


def _lines_changed(before: bytes, after: bytes, name: str) -> bytes:
    import difflib

    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    text = "\n".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm=""))
    return (text + "\n").encode() if text else b""
