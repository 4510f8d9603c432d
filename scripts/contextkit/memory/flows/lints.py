"""Lints of external memory: what will not help whoever has to resume from it.

error      a file that cannot be read; the newest checkpoint of a task has no next action
warning    a finding that names no file, or is too long to be one; a plan without an open
           question, or without a next step
"""

from __future__ import annotations

from contextkit.base import facts, files, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.memory.documents import checkpoints, findings, plans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ERROR, WARNING = "error", "warning"


class Lint(Record):
    """What is wrong in which line of a file (relative to the root), and how to mend it."""

    severity: str
    path: str
    line: int
    wrong: str
    mend: str


def check(layout: Layout, task: str) -> list[Lint]:
    """Every lint of a task, of all tasks by default; errors first, then by file."""
    broken: list[str] = []
    found = [
        *_checkpoints(layout, task, broken),
        *_findings(layout, task, broken),
        *_plans(layout, task, broken),
    ]
    mend = "move it away, or write it again"
    for said in broken:
        path, _, wrong = said.partition(": ")
        found.append(Lint(severity=ERROR, path=path, line=1, wrong=wrong, mend=mend))
    return sorted(found, key=lambda lint: (lint.severity, lint.path, lint.line))


def _checkpoints(layout: Layout, task: str, broken: list[str]) -> Iterator[Lint]:
    newest = {
        one.task_id: (path, one) for path, one in checkpoints.load_all(layout, task).noting(broken)
    }
    for path, one in newest.values():
        if not one.next_action.strip():
            yield Lint(
                severity=ERROR,
                path=layout.shown(path),
                line=_line_of(path, '"next_action"'),
                wrong="no next action: nobody can resume from it",
                mend=f"make memory_checkpoint task={one.task_id} … next_action=…",
            )


def _findings(layout: Layout, task: str, broken: list[str]) -> Iterator[Lint]:
    most = layout.limits.memory_finding_tokens
    for path, one in findings.load_all(layout, task).noting(broken):
        said = "\n".join(one.texts())
        if not one.files and not any(fact[0] in ("path", "location") for fact in facts.find(said)):
            yield Lint(
                severity=WARNING,
                path=layout.shown(path),
                line=_line_of(path, "## Files Modified/Created"),
                wrong="names no file: nobody can look it up",
                mend="add `path:line` to what it says",
            )
        size = tokens.estimate(said)
        if size > most:
            yield Lint(
                severity=WARNING,
                path=layout.shown(path),
                line=1,
                wrong=f"has ~{size} tokens, more than {most}: a dump is no finding",
                mend="keep one discovery, and the rest as a payload (make payload_store)",
            )


def _plans(layout: Layout, task: str, broken: list[str]) -> Iterator[Lint]:
    for path, one in plans.load_all(layout, task).noting(broken):
        if not any(not question.answered for question in one.questions):
            yield Lint(
                severity=WARNING,
                path=layout.shown(path),
                line=_line_of(path, "## Key Questions"),
                wrong="no open question: is the task done?",
                mend=f"make memory_plan task={one.task_id} questions=…, or memory_archive",
            )
        if not one.next_actions:
            yield Lint(
                severity=WARNING,
                path=layout.shown(path),
                line=_line_of(path, "## Next Actions"),
                wrong="no next step",
                mend=f"make memory_plan task={one.task_id} next_actions=…",
            )


def _line_of(path: str, mark: str) -> int:
    """The number of the first line that begins with `mark`, blanks aside; 1 for none."""
    try:
        lines = files.read(path).split("\n")
    except ContextError:
        return 1
    return next((n for n, line in enumerate(lines, 1) if line.lstrip().startswith(mark)), 1)
