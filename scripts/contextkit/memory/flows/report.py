"""Recovery reports: what a fresh agent reads to go on with a task, within a budget.

The order is that of the format: the checkpoint, its next action and instructions, a newer
snapshot, the plan, merged findings, those that are in none, the files in play. What does not fit
is named by its path.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, markdown, names, references, templates, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.memory.documents import sections
from contextkit.memory.flows import budgets
from contextkit.memory.flows.budgets import Omitted, Part
from contextkit.memory.flows.recovery import InPlay, Recovered, Told

LEAST = 100  # tokens below which nothing useful can be said
LEAST_PROMPT = 300  # the same with the frame around it
_FENCES = ("```", "~~~")
_FILES = 30  # lines of files in play
_SUMMARY = 60  # tokens of a finding that is not printed whole
# What a line of a document says that has nothing to say.
_SILENT = ("", "unknown", "- completed: none", "- in progress: none", "- pending: none")
_NEXT_TO_NOTHING = 20  # tokens that any finding costs


class Report(Record):
    """What is printed, and what had to be left out of it."""

    text: str
    left_out: tuple[Omitted, ...]


def report(layout: Layout, found: Recovered, budget: int, prompt: bool = False) -> Report:
    """The report in at most `budget` tokens; with `prompt` in a frame to start an agent with."""
    most = budget // _NEXT_TO_NOTHING  # findings beyond that have no chance, and are not read
    parts = _parts(layout, found, most)
    beyond = tuple(_unread(layout, told.path) for told in found.findings[most:])
    if not beyond and sum(len(part.text) for part in parts) < 20 * budget:
        text = _rendered(found, budgets.Fitted(parts=tuple(parts), left_out=()), 0, prompt)
        if tokens.cautious(text) <= budget:
            return Report(text=text, left_out=())
    room = int(budget / tokens.CAUTION)
    while True:
        fitted = budgets.fit(parts, room - _frame(found, prompt), beyond)
        text = _rendered(found, fitted, room // 8, prompt)
        if tokens.cautious(text) <= budget or room < LEAST // 2:
            break
        room = room * 9 // 10
    if tokens.cautious(text) > budget:
        room = int(budget / tokens.CAUTION) - (_frame(found, prompt) if prompt else 0)
        text = _in_frame(found, tokens.clip(_rendered(found, fitted, 0, False), room), prompt)
    return Report(text=text, left_out=fitted.left_out)


def _frame(found: Recovered, prompt: bool) -> int:
    """The tokens of all that is around the parts."""
    nothing = budgets.Fitted(parts=(), left_out=())
    return tokens.estimate(_rendered(found, nothing, 0, prompt))


def _rendered(found: Recovered, fitted: budgets.Fitted, room: int, prompt: bool) -> str:
    shown, heading = [], ""
    for part in fitted.parts:
        shown.append(part if part.heading != heading else part.replace(heading=""))
        heading = part.heading
    all_of_it = f"`make memory_list task={found.task}` names all"
    left_out = budgets.list_left_out(fitted.left_out, room, all_of_it)
    text = templates.render(
        "recovery.md", task=found.task or "unknown", parts=shown, left_out=left_out
    )
    return _in_frame(found, text, prompt)


def _in_frame(found: Recovered, text: str, prompt: bool) -> str:
    """With `prompt`, the report between fences, and around them what to make of it."""
    if not prompt:
        return text
    return templates.render("recovery_prompt.md", task=found.task or "unknown", report=text)


def _unread(layout: Layout, path: str) -> Omitted:
    try:
        size = os.stat(layout.join(path)).st_size
    except OSError:
        size = 0  # archived just now
    return Omitted(path=path, tokens=size // 4)


def _parts(layout: Layout, found: Recovered, most: int) -> list[Part]:
    """Every part whole, in the order in which they are read; of the findings the first `most`."""
    parts = [Part(text=_facts(layout, found), path=found.checkpoint_path, first=True)]
    if found.checkpoint:
        action = found.checkpoint.next_action
        advice = found.checkpoint.recovery_instructions
        path = found.checkpoint_path
        parts.append(_said("Next action", action, path))
        parts += [_said("Recovery instructions", advice, path)] if advice.strip() else []
    if found.snapshot:
        heading = "Snapshot, newer than the checkpoint" if found.checkpoint else "Snapshot"
        parts.append(_document(layout, found.snapshot_path, heading))
    if found.plan_path:
        parts.append(_document(layout, found.plan_path, "Plan"))
    parts += [_finding(layout, told) for told in found.findings[:most]]
    if found.files:
        parts.append(_files_in_play(found))
    return parts


def _facts(layout: Layout, found: Recovered) -> str:
    limit = layout.limits.memory_checkpoint_age
    age = f"{found.age // 3600} h {found.age % 3600 // 60} min before now"
    stale = f", older than {limit}: what it says may no longer hold" if found.stale else ""
    phase = found.checkpoint.phase if found.checkpoint else ""
    if found.phase not in ("", phase):
        phase += f", and now {found.phase}"
    return templates.render(
        "recovery_facts.md",
        found=found,
        checkpoint=found.checkpoint,
        phase=phase,
        age=age + stale,
        state=_states(found),
    ).rstrip("\n")


def _states(found: Recovered) -> list[dict[str, str]]:
    """The name of each list of the checkpoint's state that is not empty, and which are in it."""
    if not found.checkpoint:
        return []
    lists = {
        "Completed": found.checkpoint.completed_subtasks,
        "Pending": found.checkpoint.pending_subtasks,
        "Active agents": found.checkpoint.active_agents,
        "Blocked agents": found.checkpoint.blocked_agents,
    }
    return [
        {"name": name, "which": names.one_line(", ".join(items))}
        for name, items in lists.items()
        if items
    ]


def _said(heading: str, text: str, path: str) -> Part:
    return Part(
        heading=heading,
        text=demoted(filters.prose(text.strip()), 2) or "unknown",
        path=path,
        first=True,
    )


def _document(layout: Layout, path: str, heading: str) -> Part:
    """A plan or a snapshot as it stands, without its title and what is empty."""
    return Part(
        heading=f"{heading} ({path})", text=_body(_text(layout, path), 1), path=path, first=True
    )


def _finding(layout: Layout, told: Told) -> Part:
    """A finding as it stands; in short, what a line says about it and its summary."""
    who = names.one_line(f"{told.agent}, {told.status or 'unknown'}, {told.timestamp or 'unknown'}")
    line = f"### {told.path} ({who})"
    outline = sections.Outline(_text(layout, told.path))
    outline.head.lines.clear()  # the line above says it
    summary = tokens.clip(demoted(told.summary[: 20 * _SUMMARY], 3), _SUMMARY)
    return Part(
        heading="Merged findings" if told.merged else "Findings",
        text="\n\n".join(filter(None, (line, _body(outline.text, 2)))),
        short="\n\n".join(filter(None, (line, summary))),
        path=told.path,
    )


def _body(text: str, by: int) -> str:
    """A document as it stands, but for its title, sections without text, and our digests."""
    outline = sections.Outline(text.replace("\r\n", "\n"))
    if outline.title():
        head = outline.head.lines[1:]
        outline.head.lines = [line for line in head if not line.endswith("unknown")]
    outline.sections = [one for one in outline.sections if _says_something(one)]
    lines = [line for line in outline.text.split("\n") if not line.startswith("<!-- contextkit:")]
    return demoted("\n".join(lines).strip(), by)


def _says_something(section: sections.Section) -> bool:
    return any(line.strip().lower() not in _SILENT for line in section.lines)


def _text(layout: Layout, path: str) -> str:
    """What stands in a document now; nothing if it went away meanwhile."""
    try:
        return files.read(os.path.join(layout.root, path)).lstrip("\ufeff")
    except ContextError:
        return ""


def _files_in_play(found: Recovered) -> Part:
    def line(file: InPlay) -> str:
        return f"- {names.one_line(file.path)}: {file.state}"

    lines = [line(file) for file in found.files[:_FILES]]
    if len(found.files) > _FILES:
        lines.append(f"- and {len(found.files) - _FILES} more")
    changed = sum(file.state != references.FRESH for file in found.files)
    since = f"{changed} of {len(found.files)} changed or missing" if changed else "all unchanged"
    heading = f"Files in play, {since} since then"
    path = found.checkpoint_path or found.snapshot_path
    return Part(heading=heading, text="\n".join(lines), path=path, first=True)


def demoted(text: str, by: int) -> str:
    """`text` with every heading `by` levels lower, so that it stays below ours.

    A title inside of a document is none of ours either, and a fence that is left open would
    swallow what follows it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if not any(line.lstrip().startswith(("#", *_FENCES)) for line in lines):
        return text
    return "\n".join(
        line if within else _demoted(line, by)
        for line, within in zip(lines, markdown.in_fences(lines), strict=True)
    )


def _demoted(line: str, by: int) -> str:
    if line.lstrip().startswith(_FENCES):
        return "\\" + line
    if line.startswith("# "):
        by += 2
    return "#" * by + line if line.startswith("#") else line
