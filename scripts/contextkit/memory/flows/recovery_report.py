"""Recovery reports: what a fresh agent reads to continue a task, within a token budget.

In this order: where the task stands, its next action, and who is blocked or missing; how to resume;
open reviews; the newest notes kept for later; what the last session did since; a newer snapshot;
the plan; merged findings, then unmerged ones; the files in play. If not everything fits, long parts
are shortened first, then the details of findings go, then their summaries are shortened
(`digest.py`); whatever is left out is named.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, markdown, names, references, templates, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Callable, Sequence
from contextkit.memory.documents import checkpoints, snapshots
from contextkit.memory.documents.checkpoints import HOW_TO_RESUME
from contextkit.memory.documents.findings import OUTPUT, Found
from contextkit.memory.documents.snapshots import UNSAID
from contextkit.memory.flows.recovery import Recovered, RecoveredMerge
from contextkit.text import fitting, sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.memory.flows.transcripts import CaughtUp

LEAST = 100  # tokens below which a report is useless
LEAST_PROMPT = 300  # the same with its prompt frame
_FENCES = ("```", "~~~")
_FILES = 30  # files in play to list, at most
_NOTES, _OF_NOTE = 5, 300  # open reviews or notes to quote, at most, and characters of each
_COUNT = 1  # characters for none of them, only their number
# Lines of a document that carry no information.
_SILENT = ("", "unknown", "- completed: none", "- in progress: none", "- pending: none")
_A_LINE = 12  # fewest tokens of a finding's line: read no more findings than fit
_WHOLE = 60  # findings beyond which printing all in full is not tried


class Listed(Record):
    """Entries, the first of which are printed, and the command that prints the rest."""

    entries: tuple[str, ...]
    rest: str

    def within(self, _: str, width: int) -> str:
        """As many entries as have `width` characters, a line each; the others are counted."""
        lines = [f"- {names.clipped_at_space(e, _OF_NOTE)}" for e in self.entries[:_NOTES]]
        while lines and len("\n".join(lines)) > width:
            lines.pop()
        left = len(self.entries) - len(lines)
        count = f"and {left} more" if lines else f"{left} in all"
        return "\n".join([*lines, *([f"- {count}: `{self.rest}`"] if left else [])])


class Part(Record):
    """A part of a report: its heading, its text, and the path with the original ('' if none).

    Parts that are `first` get their share of the budget before the others. One that is `listed` is
    cut entry by entry.
    """

    text: str
    heading: str = ""
    path: str = ""
    first: bool = False
    listed: Listed | None = None


class Omitted(Record):
    """The path of a part that is not printed in full, and the tokens of its full text."""

    path: str
    tokens: int


class Report(Record):
    """The text to print, and what had to be left out of it."""

    text: str
    left_out: tuple[Omitted, ...]


def most_findings(budget: int) -> int:
    """Return how many findings can have a line in a report of `budget` tokens."""
    return budget // _A_LINE


def make(layout: Layout, saved: Recovered, budget: int, prompt: bool = False) -> Report:
    """Return the report in at most `budget` tokens; with `prompt`, in a frame to start an agent."""
    tokenizer = layout.limits.tokenizer
    fixed = _fixed(layout, saved)
    at = _findings_at(saved, fixed)
    whole: list[Part] = []
    if not saved.unread and len(saved.findings) <= _WHOLE:
        whole = [_finding(layout, finding) for finding in saved.findings]
        text = _rendered(saved, [*fixed[:at], *whole, *fixed[at:]], (), prompt)
        if len(text) < 20 * budget and tokens.within(text, budget, tokenizer):
            return Report(text=text, left_out=())
    pieces = _pieces(saved, fixed, whole, budget)
    sizes = _sizes(layout, pieces)

    def made(texts: Sequence[str]) -> str:
        lines = _left_out(saved, pieces, texts, sizes, budget // 8)
        return _rendered(saved, _joined(pieces, texts), lines, prompt)

    def fitted(is_short: Callable[[str], bool]) -> tuple[str, ...]:
        return fitting.fit(
            [piece.part for piece in pieces],
            lambda texts: sum(map(len, texts)) < 20 * budget and is_short(made(texts)),
        )

    texts = fitted(lambda text: tokens.cautious(text, tokenizer) <= budget)
    if not tokens.within(made(texts), budget, tokenizer):  # odd text, which takes longer to count
        texts = fitted(lambda text: tokens.within(text, budget, tokenizer))
    text = made(texts)
    if not tokens.within(text, budget, tokenizer):  # the task's name alone may be too long
        frame = tokens.estimate(_in_frame(saved, "", prompt), tokenizer)
        bare = _rendered(saved, _joined(pieces, [p.part.after(1 << 30) for p in pieces]), (), False)
        room = int(budget / tokens.CAUTION) - frame
        text = _in_frame(saved, tokens.clip(bare, room, tokenizer=tokenizer), prompt)
    cut = _cut(pieces, texts)
    return Report(text=text, left_out=tuple(Omitted(path=p, tokens=sizes[p]) for p in cut))


def _rendered(saved: Recovered, parts: list[Part], left_out: tuple[str, ...], prompt: bool) -> str:
    shown, heading = [], ""
    for part in parts:
        shown.append(part if part.heading != heading else part.replace(heading=""))
        heading = part.heading
    text = templates.render(
        "recovery.md", task=saved.task or "unknown", parts=shown, left_out=left_out
    )
    return _in_frame(saved, text, prompt)


def _in_frame(saved: Recovered, text: str, prompt: bool) -> str:
    """With `prompt`, put the report in a fence between instructions on how to use it."""
    if not prompt:
        return text
    return templates.render("recovery_prompt.md", task=saved.task or "unknown", report=text)


# Within the budget


class _Piece:
    """A part of a report with how it is cut; `of` is the index of its finding in the digest."""

    def __init__(self, heading: str, part: fitting.Part, path: str = "", of: int = -1) -> None:
        self.heading, self.part, self.path, self.of = heading, part, path, of


def _pieces(saved: Recovered, fixed: list[Part], whole: list[Part], budget: int) -> list[_Piece]:
    """The report in pieces; the findings are in a digest unless they leave two fifths of it."""
    from contextkit.memory.flows import digest

    pieces = [_piece(part, at, budget) for at, part in enumerate(fixed, start=1)]
    if whole and 5 * sum(tokens.estimate(part.text) for part in whole) <= 3 * budget:
        listed = [_Piece(part.heading, fitting.Part(part.text), part.path) for part in whole]
    else:
        each: list[tuple[Found, str, str]] = []  # with its heading and its file
        for finding in saved.findings:
            if isinstance(finding, RecoveredMerge):
                each += [
                    (part, f"Merged findings ({finding.path})", finding.path)
                    for part in finding.parts
                ]
            else:
                each.append((finding, f"Findings ({os.path.dirname(finding.path)})", finding.path))
        already = "\n".join(part.text[: 2 * budget] for part in fixed)
        parts = digest.parts([finding for finding, _, _ in each], budget, already)
        listed = [_Piece(each[at][1], part, each[at][2], at) for at, part in parts]
    at = _findings_at(saved, fixed)
    return [*pieces[:at], *listed, *pieces[at:]]


def _piece(part: Part, at: int, budget: int) -> _Piece:
    """How a part is cut; of those that go whole, the last one goes first."""
    from contextkit.memory.flows import digest

    first = ((0, 2 * budget), *enumerate((budget, budget // 2, 120, 40), 4 * digest.LINES))
    later = ((1, 6 * budget // 5), (digest.SUMMARIES - 1, 2 * budget // 5))
    if part.listed:
        text = fitting.Part(part.text, (*later, (digest.LINES, _COUNT)), 1, part.listed.within)
    else:
        cuts = first if part.first else (*later, (digest.LINES - at, 0))
        text = fitting.Part(part.text, cuts, 200, _beginning)
    return _Piece(part.heading, text, part.path)


def _beginning(text: str, width: int) -> str:
    """The beginning of a part's text, up to a line end if one is near; no fence stays open."""
    if len(text) <= width:
        return text
    cut = names.clipped_at_space(text, width)
    line = cut.rfind("\n")
    cut = cut[:line] + "\n…" if line > len(cut) // 2 else cut
    lines = cut.split("\n")
    for each_line, inside in zip(lines, markdown.in_fences(lines), strict=True):
        bare = each_line.lstrip()
        if not inside and bare.startswith(_FENCES):  # it is open
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            return f"{cut}\n{each_line[: len(each_line) - len(bare)]}{fence}"
    return cut


def _joined(pieces: list[_Piece], texts: Sequence[str]) -> list[Part]:
    """The pieces with these texts, the lines of a digest together."""
    groups: list[tuple[str, list[str]]] = []
    for piece, text in zip(pieces, texts, strict=True):
        goes_on = groups and groups[-1][0] == piece.heading
        if text and goes_on and piece.of >= 0:
            groups[-1][1].append(text)
        elif text:
            groups.append((piece.heading, [text]))
    return [Part(heading=heading, text="\n".join(kept)) for heading, kept in groups]


def _cut(pieces: list[_Piece], texts: Sequence[str]) -> list[str]:
    """The paths of what is not whole."""
    pairs = zip(pieces, texts, strict=True)
    return list(
        dict.fromkeys(piece.path for piece, text in pairs if piece.path and text != piece.part.text)
    )


def _left_out(
    saved: Recovered, pieces: list[_Piece], texts: Sequence[str], sizes: dict[str, int], room: int
) -> tuple[str, ...]:
    """Lines about what is not whole: for each document without a line, and for the rest.

    A shortened finding is already named in its section. The lines have some `room` tokens.
    """
    listed = {finding.path for finding in saved.findings if not finding.merged}
    cut = (path for path in _cut(pieces, texts) if path not in listed)
    named = [f"{path} (~{sizes[path]} tokens)" for path in cut]
    lines = named[: fitting.leading(named, room - 12)]
    shown = {piece.of for piece, text in zip(pieces, texts, strict=True) if text}
    more = saved.unread + len({piece.of for piece in pieces} - shown - {-1})
    if more:
        bad = sum(finding.status != "completed" for finding in saved.findings)
        failed = f", {bad} of all failed or partial" if bad else ""
        lines.append(f"and {more} more{failed}; `make memory_list task={saved.task}` names all")
    return tuple(lines)


def _sizes(layout: Layout, pieces: list[_Piece]) -> dict[str, int]:
    """The tokens of each document that is part of a report, by its path."""
    sizes: dict[str, int] = {}
    for piece in pieces:
        if piece.of < 0:
            sizes[piece.path] = sizes.get(piece.path, 0) + tokens.estimate(piece.part.text)
        elif piece.path not in sizes:
            try:
                sizes[piece.path] = os.stat(layout.join(piece.path)).st_size // 4
            except OSError:
                sizes[piece.path] = 0  # it was archived just now
    return sizes


def of_candidates(layout: Layout, saved: Recovered) -> str:
    """Name the tasks that a session may mean, with when each was last saved; none is quoted."""
    lines = [f"- `{task}`, last saved {last_saved(layout, task)}: `make memory_recover task={task}`"
             for task in saved.candidates]  # fmt: skip
    return "\n".join([f"{len(saved.candidates)} tasks are open; say which:", *lines])


def last_saved(layout: Layout, task: str) -> str:
    """When a checkpoint or snapshot of a task was last written, to the minute, or `never`."""
    saved = [document.timestamp for _, document in checkpoints.load_all(layout, task)]
    taken = [document.timestamp for _, document in snapshots.load_all(layout, task)]
    newest = max([*saved, *taken], default="")
    return f"{newest[:16]}Z" if newest else "never"


# The parts


def _fixed(layout: Layout, saved: Recovered) -> list[Part]:
    """Every part except the findings, in full, in reading order."""
    parts = [Part(text=_facts(layout, saved), path=saved.checkpoint_path, first=True)]
    path = saved.checkpoint_path or saved.plan_path
    if saved.checkpoint or saved.state.next_action:
        parts.append(_text_part("Next action", saved.state.next_action, path))
    if saved.checkpoint:
        advice = without_recovery(saved.checkpoint.recovery_instructions)
        usual = advice == HOW_TO_RESUME and not any(
            f.state != references.FRESH for f in saved.files
        )
        if advice.strip() and not usual:
            parts.append(_text_part("Recovery instructions", advice, path))
    for heading, entries, rest in (
        ("Open reviews", saved.blockers, "make verdict_table view=attention"),
        ("Open notes, for every task, newest first", saved.notes, "make reminders"),
    ):
        if entries:
            listed = Listed(entries=entries, rest=rest)
            parts.append(
                Part(heading=heading, text=listed.within("", _NOTES * _OF_NOTE), listed=listed)
            )
    caught: CaughtUp | None = saved.caught  # type: ignore[assignment]
    if caught:
        session = names.one_line(caught.session)
        heading = f"Since then, from the transcript of {caught.host}, session {session}"
        parts.append(Part(heading=heading, text=_demoted(filters.prose(caught.text), 2)))
    if saved.snapshot:
        heading = "Snapshot, newer than the checkpoint" if saved.checkpoint else "Snapshot"
        parts.append(_of_snapshot(saved, saved.snapshot, heading))
    if saved.plan_path:
        plan = _plan(layout, saved, saved.plan_path)
        parts += [plan] if plan.text else []
    if saved.files:
        parts.append(_files_in_play(saved))
    return parts


def _findings_at(saved: Recovered, fixed: list[Part]) -> int:
    """Where the findings belong: before the files in play."""
    return len(fixed) - bool(saved.files)


def without_recovery(text: str) -> str:
    """Remove the instruction to run what the reader has just run."""
    if "memory_recover" not in text:
        return text
    import re

    command = re.compile(r"`?make (?:-\S+ )*memory_recover(?: \w+=\S+)*`?")
    text = re.sub(r"\([^()]*memory_recover[^()]*\)", "", text)
    kept = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        rest = command.sub("", sentence)
        if rest == sentence or len(rest.split()) > 12:
            kept.append(command.sub("this report", sentence))
    return " ".join(" ".join(kept).replace(" ,", ",").split(" ")).strip()


def _facts(layout: Layout, saved: Recovered) -> str:
    limit = layout.limits.memory_checkpoint_age
    hours, minutes = divmod(saved.age // 60, 60)
    age = f"{hours} h {minutes} min ago" if hours else f"{minutes} min ago"
    stale = f", older than {limit}: what it says may no longer hold" if saved.stale else ""
    phase = saved.checkpoint.phase if saved.checkpoint else ""
    if saved.phase not in ("", phase):
        phase += f", and now {saved.phase}"
    return templates.render(
        "recovery_facts.md",
        found=saved,
        checkpoint=saved.checkpoint,
        phase=phase,
        age=age + stale,
        state=_states(saved),
        agents=names.one_line(saved.attendance.line()) if not saved.attendance.complete else "",
        differences=saved.state.differences,
    ).rstrip("\n")


def _states(saved: Recovered) -> list[dict[str, str]]:
    """The nonempty lists of the task's state, by name."""
    lists = {
        "Completed": saved.state.completed,
        "In progress": saved.state.in_progress,
        "Pending": saved.state.pending,
        "Active agents": saved.checkpoint.active_agents if saved.checkpoint else (),
        "Blocked agents": saved.checkpoint.blocked_agents if saved.checkpoint else (),
    }
    return [
        {"name": name, "which": names.one_line(", ".join(items))}
        for name, items in lists.items()
        if items
    ]


def _text_part(heading: str, text: str, path: str) -> Part:
    body = _demoted(filters.prose(text.strip()), 2) or "unknown"
    return Part(heading=heading, text=body, path=path, first=True)


def _plan(layout: Layout, saved: Recovered, path: str) -> Part:
    """The plan, without its title, empty sections, and what the report already says."""
    outline = sections.Outline(_text(layout, path).replace("\r\n", "\n"))
    outline.sections = [
        _later_steps(section, saved) if section.name.lower() == "next actions" else section
        for section in outline.sections
        if section.name.lower() != "progress"
    ]
    return Part(heading=f"Plan ({path})", text=_body(outline.text, 1), path=path)


def _later_steps(section: sections.Section, saved: Recovered) -> sections.Section:
    """The steps of the plan except the next action, which stands at the top of the report."""
    following = names.one_line(saved.state.next_action)
    lines: list[str] = []
    for item in sections.items(section.lines):
        if names.one_line(item.text(section.lines)) != following:
            lines += section.lines[item.first : item.end]
    return sections.Section("## Planned Steps", [*lines, ""])


def _of_snapshot(saved: Recovered, taken: snapshots.Snapshot, heading: str) -> Part:
    """A snapshot, without what the report says in another place."""
    listed = {finding.path for finding in saved.findings}
    parts = {
        "Conversation Summary": "" if taken.summary == UNSAID else taken.summary,
        "Agents": "" if saved.checkpoint else ", ".join(taken.agents),
        "Important Context": _kept(taken.important, lambda text: _is_known(saved, text, listed)),
        "Pending Decisions": "\n".join(f"- {names.one_line(text)}" for text in taken.decisions),
        "Resume Instructions": _kept(
            without_recovery(taken.resume), lambda text: _is_next(saved, text)
        ),
    }
    text = "\n\n".join(f"### {name}\n{_demoted(filters.prose(body.strip()), 3)}"
                       for name, body in parts.items() if body.strip())  # fmt: skip
    when = f"{heading} of {taken.timestamp} ({saved.snapshot_path})"
    return Part(heading=when, text=text, path=saved.snapshot_path)


def _kept(text: str, leave_out: Callable[[str], bool]) -> str:
    return "\n".join(line for line in text.split("\n") if not leave_out(line)).strip()


def _is_known(saved: Recovered, line: str, listed: set[str]) -> bool:
    """Whether a line of an automatic snapshot repeats the plan or a finding of the report."""
    if saved.plan_path and line.startswith(("Objective: ", "Strategy: ", "Constraints: ")):
        return True
    return line.endswith(")") and line.rpartition(" (")[2][:-1] in listed


def _is_next(saved: Recovered, line: str) -> bool:
    """Whether a line only says the next action, or repeats the plan's list."""
    bare = names.one_line(line).lstrip("0123456789. ")
    after = bare.partition(": ")[2] if bare.startswith("Next action of cp_") else bare
    steps = [saved.state.next_action, *saved.state.pending, *saved.state.in_progress]
    return any(after == names.one_line(step) for step in steps) or after != bare


def _finding(layout: Layout, finding: Found) -> Part:
    """A finding in full."""
    who = (finding.agent, finding.status or "unknown", finding.timestamp or "unknown")
    line = f"### {finding.path} ({names.one_line(', '.join(who))})"
    outline = sections.Outline(_text(layout, finding.path))
    outline.head.lines.clear()  # the line above already says it
    outline.sections = [section for section in outline.sections if section.name != OUTPUT]
    return Part(
        heading="Merged findings" if finding.merged else "Findings",
        text="\n\n".join(filter(None, (line, _body(outline.text, 2)))),
        path=finding.path,
    )


def _body(text: str, by: int) -> str:
    """A document without its title, empty sections, and contextkit's comments."""
    outline = sections.Outline(text.replace("\r\n", "\n"))
    if outline.title():
        head = outline.head.lines[1:]
        outline.head.lines = [line for line in head if not line.endswith("unknown")]
    outline.sections = [
        section
        for section in outline.sections
        if any(line.strip().lower() not in _SILENT for line in section.lines)
    ]
    lines = [line for line in outline.text.split("\n") if not line.startswith("<!-- contextkit:")]
    return _demoted("\n".join(lines).strip(), by)


def _text(layout: Layout, path: str) -> str:
    """The current text of a document, or '' if it is gone by now."""
    try:
        return files.read(os.path.join(layout.root, path)).lstrip("\ufeff")
    except ContextError:
        return ""


def _files_in_play(saved: Recovered) -> Part:
    lines = [f"- {names.one_line(file.path)}: {file.state}" for file in saved.files[:_FILES]]
    if len(saved.files) > _FILES:
        lines.append(f"- and {len(saved.files) - _FILES} more")
    changed = sum(file.state != references.FRESH for file in saved.files)
    since = f"{changed} of {len(saved.files)} changed or missing" if changed else "all unchanged"
    heading = f"Files in play, {since} since then"
    path = saved.checkpoint_path or saved.snapshot_path
    return Part(heading=heading, text="\n".join(lines), path=path)


def _demoted(text: str, by: int) -> str:
    """Lower every heading in `text` by `by` levels, below those of the report.

    A title inside a document is demoted too, and an unclosed fence is escaped, since it would
    swallow what follows.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if not any(line.lstrip().startswith(("#", *_FENCES)) for line in lines):
        return text
    return "\n".join(
        line if within else _demoted_line(line, by)
        for line, within in zip(lines, markdown.in_fences(lines), strict=True)
    )


def _demoted_line(line: str, by: int) -> str:
    if line.lstrip().startswith(_FENCES):
        return "\\" + line
    if line.startswith("# "):
        by += 2
    return "#" * by + line if line.startswith("#") else line
