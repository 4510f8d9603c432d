"""Research plans: where a task is going. One file per task, created once and then kept up to date.

    <memory>/research_plans/{task}.md

People write in plans too: an update changes only the lines it is about, and what it replaces moves
to the section `Earlier`. manuals/external-memory.md describes the format.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, markdown, names, shelf
from contextkit.base.errors import ContextError, NewerFormat
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable
from contextkit.memory.documents import store as memory
from contextkit.text import codec, sections
from contextkit.text.sections import Outline, Section

_EARLIER = "Earlier"
_HEADINGS = ("Objective", "Strategy", "Key Questions", "Progress", "Constraints", "Next Actions",
             _EARLIER)  # fmt: skip
_STATES = {"completed": "Completed", "in_progress": "In Progress", "pending": "Pending"}
_NOTHING = ("", "none", "unknown", "-", "n/a")
_ANSWERED = " (answered)"


class Question(Record):
    """A key question, and whether it has been answered."""

    text: str
    answered: bool = False

    @property
    def line(self) -> str:
        """The question as written in a plan, without its bullet."""
        first, newline, rest = self.text.partition("\n")
        return f"[x] {first}{_ANSWERED}{newline}{rest}" if self.answered else f"[ ] {self.text}"


class Plan(Record):
    """The contents of a plan; as an update, the changes to make."""

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


FORM = codec.Form(
    kind=Plan,
    noun="a plan",
    title="Research Plan: {task_id}",
    template="research_plan.md",
    places={"objective": "## Objective", "strategy": "## Strategy"},
    readers={},
)


def make(task_id: str, answered: Iterable[str] = (), **fields: Any) -> Plan:
    """Make a plan, or the changes to one; a subtask given in several states gets the furthest."""
    asked = {text: Question(text=text) for text in sections.clean_all(fields.pop("questions", ()))}
    asked |= {t: Question(text=t, answered=True) for t in sections.clean_all(answered)}
    values = FORM.clean(fields)
    further: set[str] = set()
    for state in _STATES:
        values[state] = tuple(t for t in values.get(state, ()) if folded(t) not in further)
        further |= set(map(folded, values[state]))
    return Plan(task_id=task_id, questions=tuple(asked.values()), **values)


def parse(text: str) -> Plan:
    """Parse a plan, ignoring notes. Raises ContextError if the title is not that of a plan."""
    fields, outline = FORM.parse(text)
    progress = outline.find("Progress")
    states: dict[str, Any] = {
        field: tuple(text for section in progress for text in _listed(section.lines, label))
        for field, label in _STATES.items()
    }
    return Plan(
        **fields,
        questions=tuple(question for _, _, question in _questions_in(outline)),
        constraints=_texts_in(outline, "Constraints"),
        next_actions=_texts_in(outline, "Next Actions"),
        **states,
    )


def _texts_in(outline: Outline, heading: str) -> tuple[str, ...]:
    """The items of a list, with those under its subheadings; text without a bullet is a note."""
    named = outline.find(heading)
    marked = ((i, s.lines) for s in named for i in sections.items(s.lines, grouped=False) if i.mark)
    return tuple(filter(None, (item.text(lines) for item, lines in marked)))


def _questions_in(outline: Outline) -> list[tuple[Section, int, Question]]:
    """Each key question with its section and its line number there."""
    questions = []
    for section in outline.find("Key Questions"):
        for item in sections.items(section.lines, grouped=False):
            text = item.text(section.lines)
            if item.mark and text:
                has_box = text[:3].lower() in ("[ ]", "[x]") and text[3:4] in ("", " ", "\n")
                answered = has_box and text[1] != " "
                first, newline, rest = text[4 * has_box :].partition("\n")
                first = first.removesuffix(_ANSWERED) if answered else first
                asked = Question(text=sections.clean(first + newline + rest), answered=answered)
                questions.append((section, item.first, asked))
    return questions


def _label_item(lines: list[str], label: str) -> sections.Item | None:
    """The item `- Completed: …` among the lines of the progress section, or None."""
    for item in sections.items(lines, grouped=False):
        written, colon, _ = lines[item.first][len(item.mark) :].partition(":")
        if item.mark and colon and written.strip("* ").lower() == label.lower():
            return item
    return None


def _listed(lines: list[str], label: str) -> list[str]:
    """The subtasks under a label: comma-separated on its line, and as bullets below it."""
    item = _label_item(lines, label)
    if item is None:
        return []
    below = [sections.moved_left(line, 2) for line in lines[item.first + 1 : item.end]]
    texts = (i.text(below) for i in sections.items(below, grouped=False) if i.mark)
    return [*_inline(lines[item.first]), *filter(None, texts)]


def _inline(line: str) -> list[str]:
    """The subtasks on the line of a label."""
    text = line.partition(":")[2].lstrip("*")
    parts = [part.strip() for part in text.split(",")]
    return [part for part in parts if part.lower() not in _NOTHING]


def _fits_inline(text: str) -> bool:
    """Whether a subtask can be written on the line of its label and parsed back."""
    is_plain = text[0] != "*" and text.lower() not in _NOTHING
    return is_plain and "," not in text and "\n" not in text


def _behind_label(texts: tuple[str, ...]) -> str:
    """Render subtasks as the text after `- Completed:`."""
    if not texts:
        return " none"
    if all(map(_fits_inline, texts)):
        return " " + ", ".join(texts)
    return "".join(f"\n{_nested(text)}" for text in texts)


def _nested(text: str) -> str:
    """Render a subtask as a bullet below its label."""
    return "  - " + filters.item(text, 4)


def render(plan: Plan) -> str:
    """The document of a new plan in the layout of the design."""
    states = {field: _behind_label(getattr(plan, field)) for field in _STATES}
    return FORM.render(plan, **states)


def path_of(layout: Layout, task: str) -> str:
    """The path of a task's plan, whether or not the file exists."""
    return os.path.join(layout.memory_folder(memory.PLANS), memory.check_task(task) + ".md")


KEPT = memory.Kept(kind=memory.PLANS, parse=parse, render=render, named="{task_id}")
load, load_all = KEPT.load, KEPT.load_all


def of_task(layout: Layout, task: str) -> Plan:
    """The plan of a task, or an empty one if none can be read."""
    try:
        return load(path_of(layout, task))
    except ContextError:
        return Plan(task_id=task)


def update(text: str, change: Plan, moment: int) -> str:
    """The text of a plan with the changes in `change` applied and everything else untouched.

    Questions and constraints are added unless present; a subtask moves to its new state; objective,
    strategy and next actions are replaced, and the old text is kept under `Earlier`.
    """
    outline = Outline(text)
    when = names.iso(moment)
    for heading, new in (("Objective", change.objective), ("Strategy", change.strategy)):
        if new and new != outline.body(heading):
            _replace(outline, heading, filters.prose(new).split("\n"), when)
    for question in change.questions:
        _ask(outline, question)
    _move(outline, {label: getattr(change, field) for field, label in _STATES.items()})
    for constraint in change.constraints:
        if folded(constraint) not in map(folded, _texts_in(outline, "Constraints")):
            _add(_section(outline, "Constraints").lines, f"- {filters.item(constraint)}")
    if change.next_actions and change.next_actions != _texts_in(outline, "Next Actions"):
        numbered = enumerate(change.next_actions, start=1)
        lines = [f"{number}. {filters.item(action, 4)}" for number, action in numbered]
        _replace(outline, "Next Actions", "\n".join(lines).split("\n"), when)
    if not text.partition("\n")[0].endswith("\r"):
        return outline.text
    *lines, last = outline.text.split("\n")
    return "\n".join([*(line.removesuffix("\r") + "\r" for line in lines), last])


def folded(text: str) -> str:
    """The form that two spellings of a subtask, question or constraint share."""
    return " ".join(text.casefold().split())


def _section(outline: Outline, heading: str) -> Section:
    """The section with this heading, inserted in its proper place if missing."""
    for section in outline.find(heading):
        return section
    before = [name.lower() for name in _HEADINGS[: _HEADINGS.index(heading)]]
    there = enumerate(outline.sections, start=1)
    at = max((n for n, s in there if heading == _EARLIER or s.name.lower() in before), default=0)
    above = outline.sections[at - 1] if at else outline.head
    if not above.lines or above.lines[-1].strip():
        above.lines.append("")
    made = Section(f"## {heading}", [""])
    outline.sections.insert(at, made)
    return made


def _replace(outline: Outline, heading: str, lines: list[str], when: str) -> None:
    """Give a section a new body; the old one moves to the end of the document."""
    section = _section(outline, heading)
    old = section.lines
    while old and not old[-1].strip():
        old = old[:-1]
    section.lines = [*lines, *(section.lines[len(old) :] or [""])]
    if any(line.strip() for line in old) and sections.plain(old):
        _add(
            _section(outline, _EARLIER).lines,
            f"### {heading}, until {when}",
            *(old if old[0].strip() else old[1:]),
        )


def _add(lines: list[str], *added: str) -> None:
    """Insert lines after the last nonblank line of a section."""
    at = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    gap = [""] if at and added[0].startswith("#") else []
    lines[at:at] = [*gap, *"\n".join(added).split("\n")]


def _ask(outline: Outline, question: Question) -> bool:
    """Add a question, or mark one, given by text or number, as answered; whether it was there."""
    there = _questions_in(outline)
    number = int(question.text) if names.is_whole(question.text, 9) else 0
    if question.answered and 0 < number <= len(there):
        matching = [there[number - 1]]
    else:
        matching = [entry for entry in there if folded(entry[2].text) == folded(question.text)]
    if not matching:
        _add(_section(outline, "Key Questions").lines, f"- {filters.item(question.line)}")
    for section, at, old in matching:
        if question.answered and not old.answered:
            line = section.lines[at]
            mark, end = markdown.mark_of(line), "\r" * line.endswith("\r")
            asked = line[len(mark) :].rstrip()
            asked = asked[3:].lstrip() if asked[:3] == "[ ]" else asked
            section.lines[at] = f"{mark}[x] {asked}{_ANSWERED}{end}"
    return bool(matching)


def unanswered(text: str, change: Plan) -> tuple[str, ...]:
    """The answers in `change` that match no question by text or number."""
    outline = Outline(text)
    unasked = [question for question in change.questions if not _ask(outline, question)]
    return tuple(question.text for question in unasked if question.answered)


def _move(outline: Outline, moves: dict[str, tuple[str, ...]]) -> None:
    """Put subtasks under their labels, and remove them from the others."""
    moved = {folded(task) for tasks in moves.values() for task in tasks}
    lines = _section(outline, "Progress").lines if moved else []
    for label, tasks in moves.items():
        there = set(map(folded, _listed(lines, label)))
        gone = moved & there - set(map(folded, tasks))
        added = tuple(task for task in tasks if folded(task) not in there)
        item = _label_item(lines, label)
        if item and (gone or added):
            lines[item.first : item.end] = _changed(lines[item.first : item.end], gone, added)
        elif added:
            _add(lines, f"- {label}:{_behind_label(added)}")


def _changed(lines: list[str], gone: set[str], added: tuple[str, ...]) -> list[str]:
    """The lines of a label without the subtasks that are `gone`, and with those `added`."""
    line, below = lines[0], lines[1:]
    nested = [sections.moved_left(nested_line, 2) for nested_line in below]
    for item in reversed(sections.items(nested, grouped=False)):
        if item.mark and folded(item.text(nested)) in gone:
            del below[item.first : item.end]
    inline = [text for text in _inline(line) if folded(text) not in gone]
    if any(map(str.strip, below)) or not all(map(_fits_inline, added)):
        below += [nested_line for text in added for nested_line in _nested(text).split("\n")]
    else:
        inline += added
    head = line[: line.index(":") + 1] + "**" * line.count(":**")
    nothing = "" if any(map(str.strip, below)) else "none"
    return [f"{head} {', '.join(inline) or nothing}".rstrip(), *below]


def whole(layout: Layout, change: Plan, moment: int) -> str:
    """The plan of a task with the changes in `change`; a new one if there is none to read."""
    path, new = path_of(layout, change.task_id), render(Plan(task_id=change.task_id))
    try:
        old = files.read_if_there(path) if os.path.isfile(path) else ""
        return update(old or new, change, moment)
    except (OSError, ContextError):
        return update(new, change, moment)


def save(layout: Layout, change: Plan, moment: int) -> str:
    """Create or update the plan of a task, safe beside other updates; return the path."""
    path = path_of(layout, change.task_id)
    with files.locked(layout.lock(path)):
        memory.folder(layout, memory.PLANS)
        if os.path.lexists(path) and not os.path.isfile(path):
            raise ContextError(f"{layout.shown(path)}: is not a plain file: remove it")
        old = files.read_if_there(path) or ""
        try:
            new = update(old or render(Plan(task_id=change.task_id)), change, moment)
        except NewerFormat as error:
            raise NewerFormat(f"{layout.shown(path)}: {error}") from None
        if new != old:
            files.write(path, new)
            files.touch(path, moment)  # a plan edited by hand is as new as its file
            shelf.stored(layout, path, new)
    return path
