"""Research plans: where a task is going. One file a task, made once and then kept up to date.

    <memory>/research_plans/{task}.md

People write in plans too: whatever else stands in one is passed over here and kept by
`plan_updates.py`, which saves. The format is told in manuals/external-memory.md.
"""

from __future__ import annotations

import os

from contextkit.base import filters, stores, templates
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.memory.documents import sections
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.sections import Outline, Section

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
STATES = {"completed": "Completed", "in_progress": "In Progress", "pending": "Pending"}
_NOTHING = ("", "none", "unknown", "-", "n/a")
ANSWERED = " (answered)"


class Question(Record):
    """A key question, and whether it is answered."""

    text: str
    answered: bool = False

    @property
    def line(self) -> str:
        """As it stands in a plan behind its bullet."""
        first, newline, rest = self.text.partition("\n")
        return f"[x] {first}{ANSWERED}{newline}{rest}" if self.answered else f"[ ] {self.text}"


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


def parse(text: str) -> Plan:
    """The plan in a document; raises ContextError where the title is not that of one.

    Notes, comments and sections that the format does not have are passed over, not lost.
    """
    outline = Outline(sections.normal(text))
    label, _, task = outline.title().partition(":")
    if label.strip().lower() != "research plan":
        raise ContextError("no plan: the first line must be `# Research Plan: <task>`")
    progress = outline.find("Progress")
    states = {
        field: tuple(text for section in progress for text in listed(section.lines, label))
        for field, label in STATES.items()
    }
    return Plan(
        task_id=task.strip(),
        objective=outline.body("Objective"),
        strategy=outline.body("Strategy"),
        questions=tuple(question for _, _, question in questions_in(outline)),
        constraints=texts_in(outline, "Constraints"),
        next_actions=texts_in(outline, "Next Actions"),
        **states,
    )


def texts_in(outline: Outline, heading: str) -> tuple[str, ...]:
    """The items of a list, in it and below its subheadings; what has no bullet is a note."""
    found = outline.find(heading)
    marked = ((i, s.lines) for s in found for i in sections.items(s.lines, grouped=False) if i.mark)
    return tuple(filter(None, (item.text(lines) for item, lines in marked)))


def questions_in(outline: Outline) -> list[tuple[Section, int, Question]]:
    """Each key question with its section and the number of its line there."""
    found = []
    for section in outline.find("Key Questions"):
        for item in sections.items(section.lines, grouped=False):
            text = item.text(section.lines)
            if item.mark and text:
                found.append((section, item.first, _question(text)))
    return found


def _question(text: str) -> Question:
    box = text[:4] if text[:3].lower() in ("[ ]", "[x]") and text[3:4] in ("", " ", "\n") else ""
    first, newline, rest = text[len(box) :].partition("\n")
    answered = box.lower().startswith("[x]")
    if answered:
        first = first.removesuffix(ANSWERED)
    return Question(text=sections.clean(f"{first}{newline}{rest}"), answered=answered)


def label_item(lines: list[str], label: str) -> sections.Item | None:
    """The item `- Completed: …` among the lines of the progress."""
    for item in sections.items(lines, grouped=False):
        said, colon, _ = lines[item.first][len(item.mark) :].partition(":")
        if item.mark and colon and said.strip("* ").lower() == label.lower():
            return item
    return None


def listed(lines: list[str], label: str) -> list[str]:
    """The subtasks behind a label: on its line between commas, and as bullets below it."""
    item = label_item(lines, label)
    if item is None:
        return []
    below = [sections.moved_left(line, 2) for line in lines[item.first + 1 : item.end]]
    texts = (i.text(below) for i in sections.items(below, grouped=False) if i.mark)
    return [*inline(lines[item.first]), *filter(None, texts)]


def inline(line: str) -> list[str]:
    """The subtasks on the line of a label."""
    said = line.partition(":")[2].lstrip("*")
    parts = [part.strip() for part in said.split(",")]
    return [part for part in parts if part.lower() not in _NOTHING]


def fits_inline(text: str) -> bool:
    """Whether a subtask can stand on the line of its label and be read back."""
    return "," not in text and "\n" not in text and text.lower() not in _NOTHING and text[0] != "*"


def behind_label(texts: tuple[str, ...]) -> str:
    """Subtasks as they stand behind `- Completed:`."""
    if not texts:
        return " none"
    if all(map(fits_inline, texts)):
        return " " + ", ".join(texts)
    return "".join(f"\n{nested(text)}" for text in texts)


def nested(text: str) -> str:
    """A subtask as it stands below its label."""
    return "  - " + filters.item(text, 4)


def render(plan: Plan) -> str:
    """The document of a new plan, as the seed has it."""
    states = {field: behind_label(getattr(plan, field)) for field in STATES}
    return templates.render("research_plan.md", plan=plan, **states)


# Disk


def path_of(layout: Layout, task: str) -> str:
    """Where the plan of a task is or would be."""
    return os.path.join(layout.memory_folder(memory.PLANS), memory.check_task(task) + ".md")


def load(path: str) -> Plan:
    """The plan at `path`. Raises ContextError for a file that is none."""
    plan: Plan = memory.load(path, parse)
    return plan


def load_all(layout: Layout, task: str = "", place: str = "") -> Loaded[Plan]:
    """(path, plan) of each, by name.

    With `task` only the one of it; `place` is another folder than the store's, as after archiving.
    """
    place = place or layout.memory_folder(memory.PLANS)
    found = stores.load(layout, memory.paths(place, ".md"), load)
    mine = [(path, one) for path, one in found if not task or one.task_id == task]
    return Loaded(mine, found.broken)
