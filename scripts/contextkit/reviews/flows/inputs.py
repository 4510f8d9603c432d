"""What a review run is about: a document, a question, or the changes of a branch.

    target= as it was typed  ->  identify: kind and target  ->  take_up: Subject

The target names the run's folder, so it is known before the folder; the changes leave the folder
out, so they are taken up after it.
"""

from __future__ import annotations

import os

from contextkit.base import changes, files
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents.processes import Process
from contextkit.reviews.flows import comparisons
from contextkit.reviews.flows.comparisons import Comparison


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
            raise bad_input(f"target: {target!r} is no file: name a document, or none for the diff")
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
    found = comparisons.compare(layout, base, (layout.join(folder),))
    return Subject(
        kind=kind, target=target, name="changes.diff", data=found.diff, revision=found.revision,
        base=found.base.commit, small=_is_small(process, found), listing=found.listing,
    )  # fmt: skip


def _is_small(process: Process, found: Comparison) -> bool:
    few = found.lines < process.small_lines and len(found.changes) <= process.small_files
    return few and not any(change.binary for change in found.changes)
