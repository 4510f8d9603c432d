"""Turn what agents and people say about a task into documents: the writing half of memory.

Everything is parsed and checked here before anything is written. A checkpoint also includes what
the store knows. An automatic snapshot is made from the store and the transcript alone.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import files, formats, git, names, redaction, references, sessions, tokens
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable
from contextkit.handoffs.flows import work
from contextkit.memory.documents import checkpoints, findings, plans, snapshots
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.text import facts, sections
from contextkit.text.sections import FileNote

Fields = dict[str, Any]  # text or tuple of texts by name, from a call or a draft

PLAN = ("objective", "strategy", "questions", "answered", "completed", "in_progress", "pending",
        "constraints", "next_actions")  # fmt: skip
FINDING = ("agent", "description", "status", "summary", "discoveries", "files", "questions",
           "recommendations")  # fmt: skip
CHECKPOINT = ("completed", "pending", "active", "blocked", "summary", "next_action", "recovery",
              "files")  # fmt: skip
_LISTS = frozenset(
    "questions answered completed in_progress pending constraints next_actions discoveries files"
    " recommendations active blocked findings".split()
)


_DIGEST = 160  # tokens of the digest of a tool's output
_BEFORE = " Before that: "
_UNDECIDED = "Decide what comes next: no plan of"


def write(layout: Layout, document: Record, now: int) -> str:
    """Write a document of memory, or the changes to a plan; return the path, as shown."""
    module: Any = sys.modules[type(document).__module__]
    return layout.shown(module.save(layout, document, now))


def text_of(layout: Layout, document: Record, now: int) -> str:
    """A document of memory as it would be written; a plan with what it holds already."""
    if isinstance(document, plans.Plan):
        return plans.whole(layout, document, now)
    return str(sys.modules[type(document).__module__].render(document))


def draft(text: str, allowed: Iterable[str]) -> Fields:
    """Parse the fields in a YAML or JSON document. Unknown fields are refused by name."""
    parse = formats.from_json if text.lstrip()[:1] == "{" else formats.from_yaml
    return _fields(parse(text, "draft"), tuple(allowed), "draft")


def _fields(document: object, allowed: tuple[str, ...], where: str) -> Fields:
    """Check fields: texts, and lists as tuples (a text stands for the list of its lines)."""
    if not isinstance(document, dict):
        raise bad_input(f"{where}: must be lines of `name: value`")
    checked: Fields = {}
    for name, value in document.items():
        if name not in allowed:
            raise bad_input(
                f"{where}: unknown field {str(name)[:60]!r}{names.nearest(str(name), allowed)}"
            )
        if name == "findings":
            checked[name] = value
        elif name in _LISTS:
            rows = value if isinstance(value, list) else [] if value is None else [value]
            meant = names.meant_paths if name == "files" else names.meant_items
            rows = meant(f"{where}: {name}", value) if isinstance(value, str) else rows
            checked[name] = tuple(_text(row, f"{where}: {name}") for row in rows)
        elif value is None or isinstance(value, str | int):
            checked[name] = "" if value is None else str(value)
        else:
            raise bad_input(f"{where}: {name} must be a text")
    return checked


def _text(row: object, where: str) -> str:
    """A list item as text; a file may also be an object with `path` and `description`."""
    if isinstance(row, dict) and isinstance(row.get("path"), str):
        note = row.get("description", "")
        return f"{row['path']} - {note}" if isinstance(note, str) and note else str(row["path"])
    if isinstance(row, str) or (isinstance(row, int) and not isinstance(row, bool)):
        return str(row)
    raise bad_input(f"{where}: must be a list of texts")


def notes(items: Iterable[str]) -> tuple[FileNote, ...]:
    """Parse the items of `files=`, each `path - description`."""
    parts = (text.partition(" - ") for text in items)
    return tuple(FileNote(path=path.strip().strip("`"), note=note) for path, _, note in parts)


def plan(layout: Layout, task: str, fields: Fields) -> plans.Plan:
    """A plan or a change to one."""
    change = plans.make(task_id=memory.check_task(task), **fields)
    if any(question.answered for question in change.questions):
        text = files.read_if_there(plans.path_of(layout, change.task_id)) or ""
        asked = enumerate(plans.of_task(layout, task).questions, start=1)
        there = [f"{n} {names.one_line(q.text)[:80]}" for n, q in asked if not q.answered]
        for answer in plans.unanswered(text, change):
            if names.is_whole(answer):
                none = f"answered={answer[:20]}: no question has this number"
                raise bad_input(f"{none}; open: {'; '.join(there) or 'none'}")
            remark(f"answered: {names.one_line(answer)[:80]!r} was not an open question: added")
    return change


def is_known(layout: Layout, task: str) -> bool:
    """Whether anything is stored about a task, archived or not."""
    marks = (plans.path_of(layout, task), *(layout.memory_state(f"{task}.{kind}")
                                            for kind in memory.STATES))  # fmt: skip
    if any(map(os.path.lexists, marks)) or task in memory.archived(layout):
        return True
    stored = (checkpoints.load_all, snapshots.load_all, findings.heads, merged_findings.load_all)
    return task == memory.current_task(layout) or any(load(layout, task) for load in stored)


def finding(task: str, fields: Fields, report: str, now: int) -> findings.Finding:
    """A finding from fields and an agent's report ('' if there is none); the fields win."""
    read: Fields = {}
    if report.strip():
        from contextkit.memory.documents import reports

        read = _of_output(report) or reports.read(report)
    typed = {name: value for name, value in fields.items() if value}
    if "files" in typed:
        typed["files"] = notes(typed["files"])
    more = list(read.get("more", ()))
    for name in findings.LISTS:  # given items add to those of the report
        typed[name] = tuple(dict.fromkeys((*typed.get(name, ()), *read.get(name, ()))))
    if typed.get("summary") and read.get("summary", typed["summary"]) != typed["summary"]:
        more.insert(0, findings.Extra(heading="Summary of the report", text=read["summary"]))
    values = {
        "timestamp": names.iso(now),
        "status": "completed" if report.strip() else "",  # the agent did come back with a report
        **read, **typed, "more": tuple(more), "task_id": memory.check_task(task),
    }  # fmt: skip
    alike = findings.STATUSES_ALIKE
    values["status"] = names.meant_word(values["status"], findings.STATUSES, alike, "status")
    lacks = [n for n in ("agent", "status", "summary") if not str(values.get(n, "")).strip()]
    if lacks:
        how = (f"{name} is missing: give {name}= or a report that says it" for name in lacks)
        raise bad_input("\n".join(how))
    return findings.make(**values)


def _of_output(report: str) -> Fields:
    """The digest of a report printed by a tool, and the whole; empty for a written one."""
    if tokens.estimate(report) <= _DIGEST or "\n#" in f"\n{report}":
        return {}
    from contextkit.text.digests import engine

    text = engine.ParsedText(report)
    if not text.is_output or text.kind == "plain":
        return {}
    whole = findings.Extra(heading=findings.OUTPUT, text=sections.plain(report.split("\n")))
    return {"summary": text.digest(_DIGEST).summary, "more": (whole,)}


def snapshot(
    layout: Layout, task: str, fields: Fields, now: int, whole: str | None = None
) -> snapshots.Snapshot:
    """A snapshot with a digest of each file in play, and how much of the `whole` it keeps.

    That is what the findings of the task say, if it is not given.
    """
    if whole is None:
        whole = _texts_of(_found(layout, memory.check_task(task)) if task else [])
    made: snapshots.Snapshot = snapshots.make(
        timestamp=names.iso(now),
        task_id=task,
        digests=_sealed(layout, fields["files"]),
        session=sessions.key(sessions.find_current(layout)),
        **fields,
    )
    return made.replace(facts_kept=facts.share(whole, snapshots.render(made)))


def _sealed(layout: Layout, named: Iterable[FileNote]) -> tuple[references.Reference, ...]:
    """A digest of each named file, `src/app.py` for `src/app.py:42-60`."""
    paths: list[str] = []
    for file in named:
        path, colon, lines = file.path.rpartition(":")
        has_lines = colon and lines and not lines.strip("0123456789-,")
        paths += filter(None, [path if has_lines else file.path])
    return references.seal(layout.root, paths)


def checkpoint(
    layout: Layout,
    task: str,
    phase: str,
    fields: Fields,
    now: int,
    coming: tuple[findings.Finding, ...] = (),
) -> checkpoints.Checkpoint:
    """A checkpoint from fields, what the store knows, and findings `coming` right before it."""
    phase = memory.meant_phase(phase)
    plan = plans.of_task(layout, memory.check_task(task))
    all_findings = [*_found(layout, task), *coming]
    mentioned = [file for finding in all_findings for file in finding.files]
    next_action = fields.get("next_action") or next_step(layout, task)
    next_action = sections.clean(next_action or f"{_UNDECIDED} {task} says it")
    planned = next(iter(plan.next_actions), "")
    count = fields.get("findings_count")
    saved = checkpoints.last(layout, task)
    reopened = (*plan.in_progress, *plan.completed)
    usual = (*plan.completed, *_without(saved.completed_subtasks, reopened))
    finished = tuple(fields.get("completed") or ())
    usual = _without(usual, (*finished, *(fields.get("pending") or ())))
    done = (*usual, *finished)
    left = _without((*plan.in_progress, *plan.pending) or saved.pending_subtasks, done)
    made = checkpoints.Checkpoint(
        checkpoint_id=f"cp_{phase}_{memory.stamp(now)}",
        task_id=task,
        phase=phase,
        timestamp=names.iso(now),
        completed_subtasks=done,
        pending_subtasks=tuple(fields.get("pending") or left),
        active_agents=tuple(fields.get("active") or ()),
        blocked_agents=tuple(fields.get("blocked") or ()),
        findings_count=len(all_findings) if count is None else count,
        context_summary=sections.clean(fields.get("summary") or ""),
        next_action=next_action,
        recovery_instructions=sections.clean(fields.get("recovery") or "")
        or checkpoints.HOW_TO_RESUME,
        files=_sealed(layout, [*notes(fields.get("files", ())), *mentioned]),
        summary_time=fields.get("summary_time", ""),
        branch=git.head(layout.repository).name,
        instead_of=planned if planned != next_action else "",
    )
    steps = (*made.completed_subtasks, *made.pending_subtasks, *(file.path for file in made.files))
    texts = (made.context_summary, made.next_action, made.recovery_instructions, *steps)
    made = made.replace(facts_kept=facts.share(_texts_of(all_findings), "\n".join(texts)))
    unplanned = _without(plan.pending, _without(plan.pending, done))
    if unplanned:
        command = f"`make memory_plan task={task} completed=…` updates it"
        remark(f"still pending in the plan: {names.one_line(', '.join(unplanned))}: {command}")
    return made


def _without(subtasks: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    there = frozenset(map(plans.folded, others))
    return tuple(text for text in subtasks if plans.folded(text) not in there)


def carried(layout: Layout, task: str, event: str) -> Fields:
    """The summary, next action and blocked agents of a checkpoint when none were given.

    An agent that resumes reads only the newest checkpoint, so the summary repeats the last known
    state of the task with its time. A next action that the plan has replaced since, or that is a
    completed subtask, is left out: that of the plan counts.
    """
    saved, plan = checkpoints.last(layout, task), plans.of_task(layout, task)
    before = saved.context_summary.rpartition(_BEFORE)[2]
    fields: Fields = {"summary": f"{event}{_BEFORE}{before}" if before else event}
    fields["summary_time"] = saved.said or names.iso(0)
    fields["blocked"] = saved.blocked_agents
    is_newest = plan.next_actions[:1] in ((), (saved.instead_of,))
    if is_newest and not saved.next_action.startswith(_UNDECIDED):
        done = (*plan.completed, *saved.completed_subtasks)
        fields["next_action"] = "".join(_without((saved.next_action,), done))
    return fields


def in_play(layout: Layout, task: str) -> tuple[str, ...]:
    """The existing files of a task's last checkpoint, and those changed since."""
    saved = checkpoints.last(layout, task)
    seen = worked_on(layout, saved.timestamp) or ()
    paths = dict.fromkeys([file.path for files_of in (seen, saved.files) for file in files_of])
    return tuple(path for path in paths if os.path.isfile(layout.join(path)))[:_FILES]


def worked_on(layout: Layout, since: str = "") -> tuple[FileNote, ...] | None:
    """The files that git saw change since a moment, newest first; None if it did not answer."""
    seen = work.seen(layout, since)
    if seen is None:
        return None
    inside = {path: state for path, state in seen.items() if not path.startswith("../")}
    return tuple(FileNote(path=path, note=state) for path, state in inside.items())


def next_step(layout: Layout, task: str) -> str:
    """The next step in the plan of a task, or ''."""
    plan = plans.of_task(layout, memory.check_task(task))
    return next(iter((*plan.next_actions, *plan.in_progress, *plan.pending)), "")


def _texts_of(recorded: Iterable[findings.Finding]) -> str:
    """The whole text of findings, which a snapshot or checkpoint of their task stands for."""
    return "\n".join(text for finding in recorded for text in finding.texts())


def _found(layout: Layout, task: str) -> list[findings.Finding]:
    """The findings of a task, including those that now exist only in a merged file."""
    here, merged = findings.load_all(layout, task), merged_findings.load_all(layout, task)
    return list(merged_findings.sources(here, merged.documents).values())


def phase_of(layout: Layout, task: str) -> str:
    """The phase of a task: as recorded, else that of its newest checkpoint, else the first."""
    recorded = memory.current_phase(layout, memory.check_task(task))
    return recorded or checkpoints.last(layout, task).phase


def batch(layout: Layout, task: str, fields: Fields, now: int) -> tuple[str, list[Record]]:
    """The phase and documents of a batch: a finding per agent, then, if so set, a checkpoint."""
    rows = fields.pop("findings", None)
    if not isinstance(rows, list) or not rows:
        raise bad_input("draft: findings must be a list with an entry for each agent")
    phase = memory.meant_phase(fields.pop("phase", "") or phase_of(layout, task))
    made: list[findings.Finding] = []
    for number, row in enumerate(rows, start=1):
        where = f"draft: findings {number}"
        try:
            made.append(finding(task, _fields(row, FINDING, where), "", now))
        except ContextError as error:
            text = str(error)
            raise bad_input(text if text.startswith(where) else f"{where}: {text}") from None
    if not layout.limits.memory_agent_completion:
        return phase, [*made]
    return phase, [*made, checkpoint(layout, task, phase, fields, now, tuple(made))]


_FINDINGS = 5  # the newest findings whose summaries are included
_FILES = 30  # files in play, at most


def automatic_snapshot(
    layout: Layout,
    *,
    reason: str,
    now: int,
    tokens: int = 0,
    task: str = "",
    summary: str = "",
    modified: tuple[FileNote, ...] = (),
    transcript: str = "",
) -> snapshots.Snapshot:
    """Make a snapshot of `task`, by default the current one, from what the store knows.

    A host waits for it, so it starts no process, and leaves out what it cannot read. `modified` are
    files known to have changed; the events since the last save are taken from the `transcript`.
    """
    task = task or memory.current_task(layout)
    plan = plans.of_task(layout, task) if task else plans.Plan(task_id="none")
    recent = findings.load_all(layout, task)[: -_FINDINGS - 1 : -1] if task else []
    saved = checkpoints.last(layout, task)
    caught, edited, whole = _caught_up(layout, transcript, saved.said)
    by_path: dict[str, FileNote] = {}
    for file in (*modified, *edited, *(file for _, finding in recent for file in finding.files)):
        by_path.setdefault(file.path, file)
    in_play = list(by_path.values())[:_FILES]
    fields = {  # an automatic snapshot is not reviewed before it is saved
        "summary": "\n\n".join(filter(None, (summary.strip(), caught))) or snapshots.UNSAID,
        "important": _important(layout, plan, recent),
        "decisions": [question.text for question in plan.questions if not question.answered],
        "resume": _resume(task, plan, saved),
    }
    allowed = layout.limits.secrets_allow
    others = {
        "reason": reason, "tokens": tokens, "agents": saved.active_agents,
        "phase": memory.current_phase(layout, task) or (saved.phase if saved.timestamp else ""),
        "files": [f.replace(note=redaction.cleaned(f.note, allowed)) for f in in_play],
    }  # fmt: skip
    whole = f"{whole}\n{_texts_of(finding for _, finding in recent)}".strip()
    return snapshot(layout, task, {**redaction.cleaned(fields, allowed), **others}, now, whole)


def complete_snapshot(layout: Layout, path: str, summary: str) -> None:
    """Put the host's summary of a conversation before what the snapshot took from its transcript.

    Raises ContextError if the file is no longer a readable snapshot.
    """
    clean = redaction.cleaned(summary, layout.limits.secrets_allow)
    with files.locked(layout.lock(path)):
        made = snapshots.load(path)
        whole = f"{clean}\n\n{made.summary}" if made.said else clean
        files.write(path, snapshots.render(made.replace(summary=sections.clean(whole))))


def _caught_up(
    layout: Layout, transcript: str, said_at: str
) -> tuple[str, tuple[FileNote, ...], str]:
    """The session's work since the last save, the files it edited, and its whole text."""
    if not transcript:
        return "", (), ""
    from contextkit.memory.flows import transcripts

    taken = snapshots.load_all(layout).documents
    since = max([said_at, *(snapshot.said for snapshot in taken)])
    caught = transcripts.catch_up(transcript, since, layout.root, layout.limits, in_hook=True)
    edited = tuple(FileNote(path=path, note="edited") for path in caught.edited)
    return caught.text, edited, caught.whole


def _important(layout: Layout, plan: plans.Plan, recent: list[tuple[str, findings.Finding]]) -> str:
    stated = {
        "Objective": plan.objective,
        "Strategy": plan.strategy,
        "Constraints": "; ".join(plan.constraints),
    }
    paragraphs = [f"{name}: {text}" for name, text in stated.items() if text]
    for path, finding in recent:
        summary = names.one_line(finding.summary or "; ".join(finding.discoveries[:3]))
        paragraphs.append(f"{finding.agent} found: {summary} ({layout.shown(path)})")
    if layout.repository:
        head = git.head(layout.repository)
        at = f" at {head.commit[:12]}" if head.commit else ", without a commit yet"
        paragraphs.append(f"Git: branch {head.branch or '(none, detached)'}{at}.")
    return "\n\n".join(paragraphs)


def _resume(task: str, plan: plans.Plan, saved: checkpoints.Checkpoint) -> str:
    lines = []
    if saved.next_action:
        lines.append(f"Next action of {saved.checkpoint_id}: {saved.next_action}")
    lines += [f"{n}. {names.one_line(text)}" for n, text in enumerate(plan.next_actions, 1)]
    if task:
        lines.append(f"`make memory_recover task={task}` prints the plan and the findings.")
    return "\n".join(lines)
