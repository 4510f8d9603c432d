"""Dismissed findings and the reasons, kept in git next to what was reviewed.

    <target>.dismissed.json            of a document
    docs/reviews/<target>.dismissed.json   of a branch's diff, or of a question

A dismissal names its finding by identity, so it also holds for the next run on the same target. It
expires when the lines it is about change.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, git, names, outgoing, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents.runs import Run

FORMAT = 1
SUFFIX = ".dismissed.json"
_LINES = 3  # lines of a file that a dismissal is about; its finding names the second


class Dismissal(Record):
    """A finding not to be reported again. `quoted` is the digest of its lines; see `quote`."""

    identity: str
    agent: str
    id: str
    severity: str
    title: str
    reason: str
    at: str
    run: str
    file: str = ""
    line: int = 0
    quoted: str = ""
    by: str = ""


def path(layout: Layout, run: Run) -> str:
    """The path of the document for a run's target, whether or not it exists."""
    if run.source:
        return layout.join(run.source + SUFFIX)
    stem = names.slug(run.target) or "diff"
    digest = names.sha256(run.target.encode("utf-8", "replace"))[:8]
    return layout.join("docs/reviews", f"{stem}-{digest}{SUFFIX}")


def parse(text: str, where: str = "dismissals") -> list[Dismissal]:
    """Parse the dismissals in a document. Raises ContextError if it is not one."""
    parsed = formats.from_json(text, where)
    fields = parsed if isinstance(parsed, dict) else {}
    version.refuse_newer(fields.get("format"), str(FORMAT), where)
    rows = fields.get("dismissed")
    if fields.get("format") != FORMAT or not isinstance(rows, list):
        raise ContextError(f"{where}: is not a dismissals document in format {FORMAT}")
    return [formats.build(Dismissal, row, where) for row in rows]


def render(target: str, dismissals: list[Dismissal]) -> str:
    """Render the dismissals of a target, by identity, as JSON."""
    rows = sorted(dismissals, key=lambda dismissal: dismissal.identity)
    return formats.to_json({"format": FORMAT, "target": target, "dismissed": rows}) + "\n"


def load(layout: Layout, run: Run) -> list[Dismissal]:
    """Load the dismissals for a run's target; empty if there is no document."""
    where = path(layout, run)
    text = files.read_if_there(where)
    return parse(text, layout.shown(where)) if text is not None else []


def committed(layout: Layout, run: Run) -> dict[str, tuple[Dismissal, str]]:
    """The dismissals in git's last commit by identity, with who committed them; maybe none."""
    repository = layout.repository
    if repository is None:
        return {}
    name = os.path.relpath(path(layout, run), repository.top)
    try:
        text = git.answer(repository.top, "show", f"HEAD:{name}").decode("utf-8", "replace")
        rows = parse(text, layout.shown(path(layout, run)))
        form = ("log", "-1", "--format=%an, %h")
        return {
            row.identity: (row, git.answer(repository.top, *form, f"-S{row.identity}", "--", name)
                           .decode("utf-8", "replace").strip())
            for row in rows
        }  # fmt: skip
    except ContextError:
        return {}


def add(layout: Layout, run: Run, new: Dismissal) -> str:
    """Write a dismissal, replacing any earlier one of the same finding; return the path."""
    where = path(layout, run)
    with files.locked(layout.lock(where)):
        kept = [row for row in load(layout, run) if row.identity != new.identity]
        text = outgoing.told(render(run.target, [*kept, new]), layout.limits.secrets_allow)
        return files.write(where, text)


def holds(layout: Layout, run: Run, dismissal: Dismissal) -> bool:
    """Whether the lines a dismissal is about are unchanged, wherever they are in their file now."""
    if not dismissal.file:
        return dismissal.quoted == run.revision
    lines = _lines(layout, dismissal.file)
    if not dismissal.line:
        return bool(lines) and dismissal.quoted == _digest(lines)
    starts = range(max(1, len(lines) - _LINES + 1))
    return bool(lines) and dismissal.quoted in (_digest(lines[n : n + _LINES]) for n in starts)


def quote(layout: Layout, run: Run, file: str, line: int) -> tuple[str, int, str]:
    """(file, line, digest) of a finding's subject: the lines around the one it names.

    Without a line it is the whole file; without a file, the reviewed revision.
    """
    lines = _lines(layout, file) if file else []
    if not lines:
        return "", 0, run.revision
    if not 0 < line <= len(lines):
        return file, 0, _digest(lines)
    first = max(0, min(line - 2, len(lines) - _LINES))
    return file, line, _digest(lines[first : first + _LINES])


def _lines(layout: Layout, file: str) -> list[str]:
    try:
        real = files.inside(layout.root, layout.join(file), "file")
        data = files.read_bytes(real) if os.path.isfile(real) else b""
    except ContextError:
        return []
    return data.decode("utf-8", "replace").splitlines()


def _digest(lines: list[str]) -> str:
    return names.sha256("\n".join(line.strip() for line in lines).encode("utf-8", "replace"))
