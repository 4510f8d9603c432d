"""Updates of research plans: a change worked into a document that people write in too.

An update changes the lines that it is about and no other: unknown sections, comments and
hand-made order stay byte for byte, and what it replaces (an objective, a strategy, the next
actions) moves to the section `Earlier` at the end.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, markdown, names
from contextkit.base.layout import Layout
from contextkit.memory.documents import plans, sections
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.plans import Plan, Question
from contextkit.memory.documents.sections import Outline, Section


def update(text: str, change: Plan, moment: int) -> str:
    """A plan's document with what `change` says worked in; all else as it stands.

    Questions and constraints are added unless they are there; a subtask moves to the state that
    it is given; objective, strategy and next actions replace what was there, which is kept.
    """
    outline = Outline(text)
    when = names.iso(moment)
    for heading, new in (("Objective", change.objective), ("Strategy", change.strategy)):
        if new and new != outline.body(heading):
            _replace(outline, heading, filters.prose(new).split("\n"), when)
    for question in change.questions:
        _ask(outline, question)
    for field, label in plans.STATES.items():
        for task in getattr(change, field):
            _move(outline, task, label)
    for constraint in change.constraints:
        if _folded(constraint) not in map(_folded, plans.texts_in(outline, "Constraints")):
            _add(_section(outline, "Constraints").lines, f"- {filters.item(constraint)}")
    if change.next_actions and change.next_actions != plans.texts_in(outline, "Next Actions"):
        numbered = enumerate(change.next_actions, start=1)
        lines = [f"{number}. {filters.item(action, 4)}" for number, action in numbered]
        _replace(outline, "Next Actions", "\n".join(lines).split("\n"), when)
    return _with_its_line_ends(text, outline.text)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _with_its_line_ends(old: str, new: str) -> str:
    """`new` with the lines that were added ending as the others of a document from Windows do."""
    if not old.partition("\n")[0].endswith("\r"):
        return new
    lines = new.split("\n")
    ended = [line if line.endswith("\r") else line + "\r" for line in lines[:-1]]
    return "\n".join([*ended, lines[-1]])


def _section(outline: Outline, heading: str) -> Section:
    """The section of this heading, made in its place where there is none."""
    found = outline.find(heading)
    if found:
        return found[0]
    wanted = (
        [name.lower() for name in plans.HEADINGS[: plans.HEADINGS.index(heading)]]
        if heading in plans.HEADINGS
        else []
    )
    there = [section.name.lower() for section in outline.sections]
    before = [number for number, name in enumerate(there) if name in wanted]
    at = len(there) if heading == plans.EARLIER else before[-1] + 1 if before else 0
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
            _section(outline, plans.EARLIER).lines,
            f"### {heading}, until {when}",
            *(old if old[0].strip() else old[1:]),
        )


def _add(lines: list[str], *added: str) -> None:
    """Put more lines after the last one of a section that says something."""
    written = [number for number, line in enumerate(lines) if line.strip()]
    at = written[-1] + 1 if written else 0
    gap = [""] if written and added[0].startswith("#") else []
    lines[at:at] = [*gap, *"\n".join(added).split("\n")]


def _ask(outline: Outline, question: Question) -> None:
    """Add a question, or mark it answered where it stands; `2` is the second that stands there."""
    there = plans.questions_in(outline)
    number = int(question.text) if names.is_whole(question.text) else 0
    if question.answered and 0 < number <= len(there):
        matching = [there[number - 1]]
    else:
        matching = [one for one in there if _folded(one[2].text) == _folded(question.text)]
    if not matching:
        _add(_section(outline, "Key Questions").lines, f"- {filters.item(question.line)}")
    for section, at, old in matching:
        if question.answered and not old.answered:
            section.lines[at] = _answered(section.lines[at])


def _answered(line: str) -> str:
    """The first line of an open question as that of an answered one."""
    mark = markdown.mark_of(line)
    text, end = line[len(mark) :].rstrip(), "\r" * line.endswith("\r")
    text = text[3:].lstrip() if text[:3] == "[ ]" else text
    return f"{mark}[x] {text}{plans.ANSWERED}{end}"


def _move(outline: Outline, task: str, label: str) -> None:
    """Put a subtask behind a label, and take it away from the other two."""
    section = _section(outline, "Progress")
    for other in plans.STATES.values():
        listed = [_folded(text) for text in plans.listed(section.lines, other)]
        if other == label and _folded(task) not in listed:
            _put(section.lines, task, label)
        elif other != label and _folded(task) in listed:
            _take(section.lines, task, other)


def _put(lines: list[str], task: str, label: str) -> None:
    item = plans.label_item(lines, label)
    if item is None:
        _add(lines, f"- {label}:{plans.behind_label((task,))}")
        return
    line = lines[item.first].rstrip()
    if item.end > item.first + 1 or not plans.fits_inline(task):
        if not plans.inline(line):
            lines[item.first] = line[: line.index(":") + 1] + "*" * line.count(":**")
        lines[item.end : item.end] = plans.nested(task).split("\n")
    elif plans.inline(line):
        lines[item.first] = f"{line}, {task}"
    else:
        lines[item.first] = f"{line[: line.index(':') + 1]}{'**' * line.count(':**')} {task}"


def _take(lines: list[str], task: str, label: str) -> None:
    """Remove a subtask from behind a label where it stands."""
    item = plans.label_item(lines, label)
    if item is None:
        return
    line = lines[item.first]
    inline = plans.inline(line)
    left = [text for text in inline if _folded(text) != _folded(task)]
    below = [sections.moved_left(line, 2) for line in lines[item.first + 1 : item.end]]
    for nested in reversed(sections.items(below, grouped=False)):
        if nested.mark and _folded(nested.text(below)) == _folded(task):
            del lines[item.first + 1 + nested.first : item.first + 1 + nested.end]
            del below[nested.first : nested.end]
    if left != inline or not (left or any(map(str.strip, below))):
        head = line[: line.index(":") + 1] + "**" * line.count(":**")
        nothing = "" if any(map(str.strip, below)) else " none"
        lines[item.first] = f"{head} {', '.join(left)}" if left else f"{head}{nothing}"


def save(layout: Layout, change: Plan, moment: int) -> str:
    """Make the plan of a task, or work a change into it; safe beside other updates. The path."""
    path = plans.path_of(layout, change.task_id)
    with files.locked(layout.lock(path)):
        memory.folder(layout, memory.PLANS)
        old = memory.read(path) if os.path.lexists(path) else ""
        new = update(old or plans.render(Plan(task_id=change.task_id)), change, moment)
        if new != old:
            files.write(path, new)
            memory.note_stored(layout, path, new)
            saved = f"{names.iso(moment)} {_digest(new)}\n"
            files.write(_saved(layout, change.task_id), saved, derived=True)
        files.sweep(os.path.dirname(path), names.now())
    return path


def saved_at(layout: Layout, path: str) -> str:
    """When the plan at `path` got the text that it has: as `save` noted, else the file's time."""
    text = memory.read(path)
    noted = files.read_if_there(_saved(layout, os.path.basename(path)[:-3])) or ""
    when, _, digest = noted.strip().partition(" ")
    return when if digest == _digest(text) else names.iso(int(os.stat(path).st_mtime))


def _saved(layout: Layout, task: str) -> str:
    return layout.memory_state(f"{task}.plan")


def _digest(text: str) -> str:
    return names.sha256(text.encode("utf-8", "replace"))[:16]
