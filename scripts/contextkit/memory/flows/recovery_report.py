"""Recovery reports: what a fresh agent reads to continue a task, within a token budget.

If not everything fits, long parts are shortened, then the findings become a digest: a line for
each, with its summary and what no other finding says. manuals/external-memory.md says what goes in
which order. Whatever is left out is named; everything printed is text of the documents.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, git, markdown, names, references, templates, tokens
from contextkit.base.layout import Layout
from contextkit.base.outgoing import called
from contextkit.base.records import NamedTuple, Record
from contextkit.base.stores import MARK, names_in
from contextkit.base.type_names import Any, Callable, Sequence
from contextkit.memory.documents import checkpoints, snapshots
from contextkit.memory.documents.findings import OUTPUT, RENAMED, REPORT, Found
from contextkit.memory.flows.recovery import Recovered
from contextkit.text import fitting, sections

LEAST = 100  # tokens below which a report is useless
LEAST_PROMPT = 300  # the same with its prompt frame
A_LINE = 12  # fewest tokens of a finding's line: read no more findings than fit

_FILES = 30  # files in play to list, at most
_REVIEWS, _NOTES, _ENTRY = 5, 3, 300  # reviews and notes to quote, and characters of each, at most
_CHANGED = 8  # changed files to name at the top
_NOT_YET = "not there yet"  # a file that was missing when its digest was taken, and still is
_COUNT = 1  # characters for no entry, only their number
# Lines of a document that carry no information.
_SILENT = ("", "unknown", "- completed: none", "- in progress: none", "- pending: none")
_WHOLE = 60  # findings beyond which printing all in full is not tried
# The first of the steps in which units, summaries and lines of a digest are cut.
_UNITS, _SUMMARIES, _LINES = 1_000, 10_000, 20_000
_LAST = 2 * _LINES  # all other parts that may go whole go before it


class Piece(NamedTuple):
    """A part of a report: its heading, how its text is cut, the path of the original."""

    heading: str
    part: fitting.Part
    path: str = ""
    of: int = -1  # the index of its finding in the digest, whose lines stand together


class Report(Record):
    """The text to print, and the parts that are not whole in it, each with its tokens."""

    text: str
    left_out: dict[str, int]


def make(layout: Layout, saved: Recovered, budget: int, prompt: bool = False) -> Report:
    """The report in at most `budget` tokens; with `prompt`, in a frame to start an agent."""
    tokenizer = layout.limits.tokenizer
    first = _first(layout, saved, budget)
    last = [_files_in_play(saved, budget)] if saved.files else []
    whole: list[Piece] = []
    if not saved.unread and len(saved.findings) <= _WHOLE:
        whole = [_finding(layout, finding) for finding in saved.findings]
        pieces = [*first, *whole, *last]
        text = _rendered(saved, pieces, [piece.part.text for piece in pieces], (), prompt)
        if len(text) < 20 * budget and tokens.within(text, budget, tokenizer):
            return Report(text=text, left_out={})
    if not whole or 5 * sum(tokens.estimate(piece.part.text) for piece in whole) > 3 * budget:
        already = "\n".join(piece.part.text[: 2 * budget] for piece in (*first, *last))
        whole = _digest(saved, budget, already)
    pieces = [*first, *whole, *last]
    sizes = _sizes(layout, pieces)

    def made(texts: Sequence[str]) -> str:
        lines = _left_out(saved, pieces, texts, sizes, budget // 8)
        return _rendered(saved, pieces, texts, lines, prompt)

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
        bare = _rendered(saved, pieces, [p.part.after(1 << 30) for p in pieces], (), False)
        room = int(budget / tokens.CAUTION) - frame
        text = _in_frame(saved, tokens.clip(bare, room, tokenizer=tokenizer), prompt)
    return Report(text=text, left_out={path: sizes[path] for path in _cut(pieces, texts)})


def _rendered(
    saved: Recovered,
    pieces: list[Piece],
    texts: Sequence[str],
    left_out: tuple[str, ...],
    prompt: bool,
) -> str:
    """The report of the pieces with these texts, each heading once."""
    parts: list[dict[str, str]] = []
    heading, in_digest = "", False
    for piece, text in zip(pieces, texts, strict=True):
        if not text:
            continue
        goes_on = bool(parts) and piece.heading == heading
        if goes_on and in_digest:
            parts[-1]["text"] += f"\n{text}"
        else:
            parts.append({"heading": "" if goes_on else piece.heading, "text": text})
        heading, in_digest = piece.heading, piece.of >= 0
    text = templates.render(
        "recovery.md", task=saved.task or "unknown", parts=parts, left_out=left_out
    )
    return _in_frame(saved, text, prompt)


def _in_frame(saved: Recovered, text: str, prompt: bool) -> str:
    """With `prompt`, put the report in a fence between instructions on how to use it."""
    if not prompt:
        return text
    task = saved.task or "unknown"
    save = called(f"`make memory_checkpoint task={task} phase=… summary=… next_action=…`")
    return templates.render("recovery_prompt.md", task=task, report=text, save=save)


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
        if not inside and (fence := markdown.fence_of(bare)):  # it is open
            return f"{cut}\n{each_line[: len(each_line) - len(bare)]}{fence}"
    return cut


def _cut(pieces: list[Piece], texts: Sequence[str]) -> list[str]:
    """The paths of the parts that are not whole."""
    cut = [p for p, text in zip(pieces, texts, strict=True) if p.path and text != p.part.text]
    return list(dict.fromkeys(piece.path for piece in cut))


def _left_out(
    saved: Recovered, pieces: list[Piece], texts: Sequence[str], sizes: dict[str, int], room: int
) -> tuple[str, ...]:
    """Lines, within `room`, about parts that are not whole and not named in their sections."""
    listed = {finding.path for finding in saved.findings if not finding.merged}
    cut = (path for path in _cut(pieces, texts) if path not in listed)
    named = [f"{path} (~{names.counted(sizes[path], 'token')})" for path in cut]
    lines = named[: fitting.leading(named, room - 12)]
    shown = {piece.of for piece, text in zip(pieces, texts, strict=True) if text}
    more = saved.unread + len({piece.of for piece in pieces} - shown - {-1})
    if more:
        bad = sum(finding.status != "completed" for finding in saved.findings)
        failed = f" (of all, {bad} failed or partial)" if bad else ""
        rest = called(f"`make memory_list task={saved.task}`")
        lines.append(f"{names.counted(more, 'finding')}{failed}: {rest} names all")
    return tuple(lines)


def _sizes(layout: Layout, pieces: list[Piece]) -> dict[str, int]:
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
    lines = [f"- `{task}`, {last_saved(layout, task)}: `make memory_recover task={task}`"
             for task in saved.candidates]  # fmt: skip
    return "\n".join([f"{len(saved.candidates)} tasks are open; say which:", *lines])


def last_saved(layout: Layout, task: str) -> str:
    """When a checkpoint or snapshot of a task was last written, to the minute, in words."""
    saved = [document.timestamp for document in checkpoints.load_all(layout, task).documents]
    taken = [document.timestamp for document in snapshots.load_all(layout, task).documents]
    newest = max([*saved, *taken], default="")
    return f"last saved {newest[:16]}Z" if newest else "without a checkpoint yet"


def _first(layout: Layout, saved: Recovered, budget: int) -> list[Piece]:
    """Every part before the findings, in reading order."""
    path = saved.checkpoint_path or saved.plan_path
    pieces = [_sure("", _facts(layout, saved), saved.checkpoint_path, budget)]
    if saved.checkpoint or saved.state.next_action:
        pieces.append(_sure("Next action", _quoted(saved.state.next_action), path, budget))
    advice = without_recovery(saved.checkpoint.recovery_instructions) if saved.checkpoint else ""
    if advice.strip() and (advice != checkpoints.HOW_TO_RESUME or _changed(saved)):
        pieces.append(_sure("Recovery instructions", _quoted(advice), path, budget))
    if saved.blockers:
        rest = "make verdict_table view=attention"
        pieces.append(_listed("Open reviews", saved.blockers, _REVIEWS, rest, budget))
    if saved.notes:
        heading = "Open notes, for every task, newest first"
        pieces.append(_listed(heading, saved.notes, _NOTES, "make context_reminders", budget))
    caught: Any = saved.caught
    if caught:
        session = names.one_line(caught.session)
        heading = f"Since then, from the transcript of {caught.host}, session {session}"
        pieces.append(_later(heading, _quoted(caught.text), "", _LAST, budget))
    if saved.snapshot:
        newer = ", newer than the summary above," if saved.checkpoint else ""
        heading = f"Snapshot{newer} of {saved.snapshot.timestamp} ({saved.snapshot_path})"
        text, path = _of_snapshot(saved, saved.snapshot), saved.snapshot_path
        pieces.append(_later(heading, text, path, _LAST - 1, budget))
    if saved.plan_path and (text := _plan(layout, saved)):
        heading, path = f"Plan ({saved.plan_path})", saved.plan_path
        pieces.append(_later(heading, text, path, _LAST - 2, budget))
    return pieces


def _sure(heading: str, text: str, path: str, budget: int) -> Piece:
    """A part that gets its share of the budget before the others."""
    cuts = ((0, 2 * budget), *enumerate((budget, budget // 2, 120, 40), 4 * _LINES))
    return Piece(heading, fitting.Part(text, cuts, 200, _beginning), path)


def _later(heading: str, text: str, path: str, gone: int, budget: int) -> Piece:
    """A part that goes whole in the step `gone`."""
    part = fitting.Part(text, (*_shortened(budget), (gone, 0)), 200, _beginning)
    return Piece(heading, part, path)


def _shortened(budget: int) -> tuple[tuple[int, int], ...]:
    return ((1, 6 * budget // 5), (_SUMMARIES - 1, 2 * budget // 5))


def _listed(heading: str, entries: tuple[str, ...], most: int, rest: str, budget: int) -> Piece:
    """A line for each of the first entries, cut entry by entry; `rest` prints the others."""

    def within(_: str, width: int) -> str:
        lines = [f"- {names.clipped_at_space(entry, _ENTRY)}" for entry in entries[:most]]
        while lines and len("\n".join(lines)) > width:
            lines.pop()
        left = len(entries) - len(lines)
        count = f"and {left} more" if lines else f"{left} in all"
        opens = called(f"`{rest}`")
        return "\n".join([*lines, *([f"- {count}: {opens}"] if left else [])])

    cuts = (*_shortened(budget), (_LINES, _COUNT))
    return Piece(heading, fitting.Part(within("", most * (_ENTRY + 3)), cuts, 1, within))


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
    stale = f", older than {limit}: what it says may no longer hold" if saved.stale else ""
    after = phase = branch = ""
    if saved.checkpoint:
        phase, branch = saved.checkpoint.phase, names.one_line(saved.checkpoint.branch)
        if count := saved.checkpoint.findings_count:
            after = f", after {names.counted(count, 'finding')}"
    if saved.phase not in ("", phase):
        phase += f", and now {saved.phase}"
    here = git.head(layout.repository).name
    on = f", on branch {branch}; this is {here or 'no branch'}" if branch not in ("", here) else ""
    is_short = not saved.attendance.complete or saved.attendance.failed
    return templates.render(
        "recovery_facts.md",
        found=saved,
        checkpoint=saved.checkpoint,
        phase=phase,
        saved=_ago(saved.age) + after + stale + on,
        away="" if layout.here == layout.root else layout.root,
        state=[*_states(saved), *_beside(layout, saved)],
        agents=names.one_line(saved.attendance.line()) if is_short else "",
        differences=saved.state.differences,
    ).rstrip("\n")


def _ago(seconds: int) -> str:
    """The age in words: `5 minutes ago`."""
    minutes = seconds // 60
    hours, rest = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} days ago"
    if hours:
        return f"{hours} h {rest} min ago" if rest else f"{hours} h ago"
    return f"{minutes} min ago" if minutes else "just now"


def _states(saved: Recovered) -> list[dict[str, str]]:
    """The nonempty lists of the task's state, by name."""
    changed = _changed(saved)
    more = [f"{len(changed) - _CHANGED} more"] if len(changed) > _CHANGED else []
    lists = {
        "Completed": saved.state.completed,
        "In progress": saved.state.in_progress,
        "Pending": saved.state.pending,
        "Changed since": [*changed[:_CHANGED], *more],
        "Active agents": saved.checkpoint.active_agents if saved.checkpoint else (),
        "Blocked agents": saved.checkpoint.blocked_agents if saved.checkpoint else (),
    }
    return [{"name": name, "which": names.one_line(", ".join(items))}
            for name, items in lists.items() if items]  # fmt: skip


def _beside(layout: Layout, saved: Recovered) -> list[dict[str, str]]:
    """A line for each other machine's text that is kept next to a document of this report."""
    return [
        {"name": "Another machine's text", "which": os.path.join(os.path.dirname(path), name)}
        for path in (saved.plan_path, saved.checkpoint_path, saved.snapshot_path)
        for name in (names_in(os.path.dirname(layout.join(path))) if path else ())
        if name.startswith(os.path.basename(path) + MARK)
    ]


def _changed(saved: Recovered) -> list[str]:
    """The files in play that differ from their saved state, except those missing then."""
    return [
        path if state == references.CHANGED else f"{path} ({state})"
        for path, state in _since(saved).items()
        if state not in (references.FRESH, _NOT_YET)
    ]


def _since(saved: Recovered) -> dict[str, str]:
    """What became of each file in play: as its digest says, but one that was not there is new."""
    sealed = (*(saved.checkpoint.files if saved.checkpoint else ()),
              *(saved.snapshot.digests if saved.snapshot else ()))  # fmt: skip
    was_there = {reference.path for reference in sealed if reference.sha256}
    new = {references.CHANGED: "created", references.MISSING: _NOT_YET}
    return {path: state if path in was_there else new.get(state, state)
            for path, state in saved.files.items()}  # fmt: skip


def _quoted(text: str) -> str:
    return _demoted(filters.prose(text.strip()), 2) or "unknown"


def _plan(layout: Layout, saved: Recovered) -> str:
    """The plan without its title, empty or replaced sections, and repetitions of the report."""
    outline = _outline(layout, saved.plan_path, ("progress", "earlier"))
    following = names.one_line(saved.state.next_action)  # it is at the top of the report
    for section in outline.find("Next Actions"):
        steps = sections.items(section.lines)
        later = [i for i in steps if names.one_line(i.text(section.lines)) != following]
        section.lines = [line for i in later for line in section.lines[i.first : i.end]] + [""]
        section.heading = "## Planned Steps"
    return _body(outline, 1)


def _of_snapshot(saved: Recovered, taken: snapshots.Snapshot) -> str:
    """A snapshot without what the report says elsewhere."""
    listed = {finding.path for finding in saved.findings}
    parts = {
        "Conversation Summary": taken.summary if taken.said else "",
        "Agents": "" if saved.checkpoint else ", ".join(taken.agents),
        "Important Context": "\n".join(
            line for line in taken.important.split("\n") if not _is_known(saved, line, listed)
        ),
        "Pending Decisions": "\n".join(f"- {names.one_line(text)}" for text in taken.decisions),
        "Resume Instructions": "\n".join(
            line for line in without_recovery(taken.resume).split("\n") if not _is_next(saved, line)
        ),
    }
    return "\n\n".join(f"### {name}\n{_demoted(filters.prose(body.strip()), 3)}"
                       for name, body in parts.items() if body.strip())  # fmt: skip


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


def _finding(layout: Layout, finding: Found) -> Piece:
    """A finding in full."""
    who = (finding.agent, finding.status or "unknown", finding.timestamp or "unknown")
    line = f"### {finding.path} ({names.one_line(', '.join(who))})"
    outline = _outline(layout, finding.path, (OUTPUT.lower(),))
    outline.head.lines.clear()  # the line above already says it
    for section in outline.sections:
        if section.name == REPORT:  # the text above the sections, without title and summary
            told = sections.plain(section.lines).partition(RENAMED)[0].split("\n\n")
            summary = outline.body("Summary")
            fresh = [part.strip() for part in told if part.strip() not in summary]
            kept = "\n\n".join(part for part in fresh if markdown.heading(part)[0] != 1)
            section.lines = [*kept.split("\n"), ""]
    heading = "Merged findings" if finding.merged else "Findings"
    text = "\n\n".join(filter(None, (line, _body(outline, 2))))
    return Piece(heading, fitting.Part(text), finding.path)


def _body(outline: sections.Outline, by: int) -> str:
    """A document without its title, empty sections, and contextkit's comments."""
    if outline.title():
        head = outline.head.lines[1:]
        outline.head.lines = [line for line in head if not line.endswith("unknown")]
    outline.sections = [
        section for section in outline.sections
        if any(line.strip().lower() not in _SILENT for line in section.lines)
    ]  # fmt: skip
    lines = [line for line in outline.text.split("\n") if not line.startswith("<!-- contextkit:")]
    return _demoted("\n".join(lines).strip(), by)


def _outline(layout: Layout, path: str, without: Sequence[str]) -> sections.Outline:
    """The document as it is now, empty if it is gone, without the sections of these names."""
    text = files.text_of(layout.join(path)).lstrip("\ufeff").replace("\r\n", "\n")
    outline = sections.Outline(text)
    outline.sections = [s for s in outline.sections if s.name.lower() not in without]
    return outline


def _files_in_play(saved: Recovered, budget: int) -> Piece:
    states = _since(saved)
    words = {references.FRESH: "unchanged"}
    lines = [f"- {names.one_line(path)}: {words.get(s, s)}" for path, s in states.items()]
    if len(lines) > _FILES:
        lines[_FILES:] = [f"- and {len(lines) - _FILES} more"]
    changed = len(_changed(saved))
    to_come = sum(state == _NOT_YET for state in states.values())
    unchanged = "none changed" if to_come else "all unchanged"
    since = f"{changed} of {len(states)} changed or missing" if changed else unchanged
    heading = f"Files in play, {since} since then" + f", {to_come} {_NOT_YET}" * bool(to_come)
    path = saved.checkpoint_path or saved.snapshot_path
    return _later(heading, "\n".join(lines), path, _LINES - 1, budget)


def _demoted(text: str, by: int) -> str:
    """Lower every heading in `text` by `by` levels, below those of the report.

    An unclosed fence is escaped, since it would swallow what follows.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    for at, inside in enumerate(markdown.in_fences(lines)):
        if not inside and markdown.fence_of(lines[at].lstrip()):
            lines[at] = "\\" + lines[at]
        elif not inside and lines[at].startswith("#"):
            lines[at] = "#" * (by + 2 * lines[at].startswith("# ")) + lines[at]
    return "\n".join(lines)


_WIDTHS = (400, 160, 56)  # characters of a summary
_A_SUMMARY = 24  # tokens of a line: where those of all take the whole room, no finding is read
_RANKS = {"failed": 0, "partial": 1}


def _digest(saved: Recovered, budget: int, already: str) -> list[Piece]:
    each: list[tuple[Found, str, str]] = []  # with its heading and its file
    for finding in saved.findings:
        if finding.merged:
            heading = f"Merged findings ({finding.path})"
            each += [(part, heading, finding.path) for part in finding.parts]
        else:
            each.append((finding, f"Findings ({os.path.dirname(finding.path)})", finding.path))
    parts = digest([finding for finding, _, _ in each], budget, already)
    return [Piece(each[at][1], part, each[at][2], at) for at, part in parts]


def digest(findings: list[Found], room: int, already: str = "") -> list[tuple[int, fitting.Part]]:
    """The lines of a digest in `room` tokens, each with its finding's index, its own first."""
    order = sorted(range(len(findings)), key=lambda at: (_RANKS.get(findings[at].status, 2), at))
    lines = [
        (at, _line(findings[at], _LINES + len(findings) - rank)) for rank, at in enumerate(order)
    ]
    details: list[tuple[int, fitting.Part]] = []
    if 0 < _A_SUMMARY * len(findings) < room:
        from contextkit.memory.documents import reports

        told = "\n".join([already, *(line.text for _, line in lines)])
        for rank, at, text in reports.units([finding.finding for finding in findings], told):
            details.append((at, fitting.Part(text, ((_UNITS + rank, 0),))))
    return sorted([*lines, *details], key=lambda pair: pair[0])  # stable: lines stay first


def _line(finding: Found, last: int) -> fitting.Part:
    """`- ui_20251023T180500.md (failed): The list renders twice.`, which goes in the step `last`"""
    name = finding.path.rpartition("/")[2]
    is_named = name.startswith(names.dashed(finding.agent) + "_")
    note = [] if is_named else [names.one_line(finding.agent)]
    note += [finding.status or "status unknown"] if finding.status != "completed" else []
    noted = f" ({', '.join(note)})" if note else ""
    summary = filters.item(names.one_line(finding.summary) or "no summary")
    text = f"- {filters.code(name)}{noted}: {summary}"
    start = len(text) - len(summary)
    cuts = [(_SUMMARIES + step, start + width) for step, width in enumerate(_WIDTHS)]
    return fitting.Part(text, (*cuts, (last, 0)), least=start + _WIDTHS[-1])
