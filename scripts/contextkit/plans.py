"""Research plans: where a task is going. One file a task, made once and then kept up to date.

    <memory>/research_plans/{task}.md

People write in plans too. An update changes the lines that it is about and no other: unknown
sections, comments and hand-made order stay byte for byte, and what it replaces (an objective, a
strategy, the next actions) moves to the section `Earlier` at the end. The format is told in
manuals/external-memory.md.
"""

from __future__ import annotations

import os

from contextkit import files, filters, memory, names, sections, templates
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record
from contextkit.sections import Outline, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HEADINGS = (
    "Objective",
    "Strategy",
    "Key Questions",
    "Progress",
    "Constraints",
    "Next Actions",
)
EARLIER = "Earlier"
_STATES = {"completed": "Completed", "in_progress": "In Progress", "pending": "Pending"}
_NOTHING = ("", "none", "unknown", "-", "n/a")
_ANSWERED = " (answered)"


class Question(Record):
    """A key question, and whether it is answered."""

    text: str
    answered: bool = False

    @property
    def line(self) -> str:
        """As it stands in a plan behind its bullet."""
        first, newline, rest = self.text.partition("\n")
        return f"[x] {first}{_ANSWERED}{newline}{rest}" if self.answered else f"[ ] {self.text}"


class Plan(Record):
    """What a plan says; of an update, what is to change in it."""

    task_id: str
    objective: str = ""
    strategy: str = ""
    questions: tuple[Question, ...] = ()
    completed: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()

    def check(self) -> None:
        memory.check_task(self.task_id)


def make(
    task_id: str,
    objective: str = "",
    strategy: str = "",
    questions: Iterable[str] = (),
    answered: Iterable[str] = (),
    completed: Iterable[str] = (),
    in_progress: Iterable[str] = (),
    pending: Iterable[str] = (),
    constraints: Iterable[str] = (),
    next_actions: Iterable[str] = (),
) -> Plan:
    """A plan, or what is to change in one, from what was typed.

    A subtask that is given twice is where the furthest of its states puts it.
    """
    asked = {text: Question(text=text) for text in sections.clean_all(questions)}
    asked |= {t: Question(text=t, answered=True) for t in sections.clean_all(answered)}
    done = sections.clean_all(completed)
    doing = tuple(t for t in sections.clean_all(in_progress) if t not in done)
    return Plan(
        task_id=task_id,
        objective=sections.clean(objective),
        strategy=sections.clean(strategy),
        questions=tuple(asked.values()),
        completed=done,
        in_progress=doing,
        pending=tuple(t for t in sections.clean_all(pending) if t not in (*done, *doing)),
        constraints=sections.clean_all(constraints),
        next_actions=sections.clean_all(next_actions),
    )
