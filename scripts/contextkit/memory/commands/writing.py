"""The external memory commands that write, and those that put away what was written."""

from __future__ import annotations

import os

from contextkit.base import addresses, cli, ledger, names, redaction
from contextkit.base.commands import DRY_RUN, REDACT, Answer, Arguments, Option, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterable
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import saving
from contextkit.memory.flows.saving import Pending

TASK = Option("task", "the task's id: letters, digits, . _ -", required=True, address="plan")


def _items(name: str, single: str, text: str) -> Option:
    return Option(name, text, kind="items", single=single)


FILES = _items("files", "file-modified", "files as `path - description`")
DRAFT = Option("draft", "a YAML or JSON document with the same fields, or - for stdin")
COMPLETED = _items("completed", "completed-task", "finished subtasks")
PENDING = _items("pending", "pending-task", "subtasks not started")
BOUNDARY = (
    COMPLETED,
    PENDING,
    Option("active", "agents at work", kind="words"),
    Option("blocked", "blocked agents", kind="words"),
    Option("findings_count", "number of findings (default: counted)"),
    Option("summary", "where the task stands (with to=: which phase ended)"),
    Option("next_action", "what to do first on resuming (default: the plan's)"),
    Option("recovery", "how to resume (default: a standard instruction)"),
    FILES,
    REDACT,
)


@command("create the store's folders", now="context_init")
def init(layout: Layout, args: Arguments) -> str:
    return "\n".join(layout.shown(memory.folder(layout, kind)) for kind in memory.KINDS)


@command(
    "create or update a task's plan",
    TASK,
    Option("objective", "what the task is to accomplish"),
    Option("strategy", "the approach in brief"),
    _items("questions", "question", "key questions to add"),
    _items("answered", "answer", "answered questions, by text or number"),
    COMPLETED,
    _items("in_progress", "in-progress-task", "subtasks in progress"),
    PENDING,
    _items("constraints", "constraint", "constraints to add"),
    _items("next_actions", "next-action", "what comes next; replaces the old list"),
    DRAFT,
    REDACT,
)
def plan(layout: Layout, args: Arguments) -> Answer:
    fields = _given(layout, args, saving.PLAN)
    ready = saving.plan(layout, args.task, fields, names.now())
    return _keep(layout, args.task, [ready])


@command(
    "save what a subagent found, from fields or from its report",
    Option("agent", "the agent that found it"),
    TASK,
    Option("file", "the agent's report, or - for standard input"),
    Option("description", "the task in words (default: its id)"),
    Option("status", "completed, partial or failed"),
    Option("summary", "two or three sentences (default: from the report)"),
    _items("discoveries", "discovery", "what was found, most important first"),
    FILES,
    _items("questions", "question", "open questions"),
    _items("recommendations", "recommendation", "what should be done"),
    DRAFT,
    REDACT,
)
def finding(layout: Layout, args: Arguments) -> Answer:
    fields = _given(layout, args, saving.FINDING)
    wanted = args.file or not (args.draft or args.summary)
    report = cli.content(args.file) if wanted else ""
    report, secrets = redaction.redacted(report, layout.limits.secrets_allow)
    if secrets:
        cli.say(f"redacted in the report: {redaction.summary(secrets)}")
    now = names.now()
    ready = saving.finding(layout, args.task, fields, report, now)
    answer = _keep(layout, args.task, [ready])
    if answer.status == 0:
        _batch_ended(layout, args.task, now)
    return answer


def _batch_ended(layout: Layout, task: str, now: int, saved: bool = False) -> None:
    """Write a checkpoint if the last agent of a fan-out is back, unless one is `saved` already."""
    if not os.path.exists(layout.memory_state(f"{task}.agents")):
        return
    from contextkit.memory.flows import agents

    try:
        path = agents.batch_ended(layout, task, now, saved)
    except (OSError, ContextError) as error:
        cli.say(f"the checkpoint of the batch is not written: {error}")
        return
    if path:
        cli.say(f"the last agent of the batch is back: {path}")


def _given(layout: Layout, args: Arguments, fields: Iterable[str]) -> saving.Fields:
    """The fields of a call, with those of its draft where the command line has none."""
    values = vars(args)
    typed = {name: values[name] for name in fields if values.get(name)}
    if values.get("draft"):
        typed = {**_draft(args, fields), **typed}
    return _checked(layout, args, typed)


def _checked(layout: Layout, args: Arguments, fields: saving.Fields) -> saving.Fields:
    """Return the fields without secrets: refuse them or, with `redact=1`, redact them."""
    checked: saving.Fields = redaction.typed(fields, layout.limits.secrets_allow, args.redact)
    return checked


def _draft(args: Arguments, allowed: Iterable[str]) -> saving.Fields:
    """The fields of a draft. Raises ContextError if its task is not that of the call."""
    from contextkit.base import packages

    packages.need("yaml")
    fields = saving.draft(cli.content(args.draft, "draft"), ("task", *allowed))
    task = fields.pop("task", "")
    if task not in ("", args.task):
        raise bad_input(f"draft: its task {task[:60]!r} is not {args.task}")
    return fields


def _keep(layout: Layout, task: str, ready: list[Pending], phase: str = "") -> Answer:
    """Write checked documents and return their paths.

    The text of a document that cannot be written is returned instead, with status 1, so that it is
    not lost.
    """
    lines, failed = [], False
    try:
        is_known = not task or saving.is_known(layout, task)
    except ContextError:
        is_known = True  # the store is refused, and so will be each document
    for document in ready:
        cli.say_each(document.said)
        try:
            lines.append(layout.shown(document.write()))
        except (OSError, ContextError) as error:
            reason = getattr(error, "strerror", "") or error
            cli.say(f"it could not be written ({reason}): the whole text follows on stdout")
            lines.append(document.text)
            failed = True
    if task and not failed:
        _record(layout, task, phase, is_known)
    return Answer(text="\n".join(lines), status=1 if failed else 0)


def _record(layout: Layout, task: str, phase: str, is_known: bool) -> None:
    """Record the current task and phase; a failure is only reported, as the documents are safe."""
    _name_if_new(task, is_known)
    try:
        memory.record(layout, task, phase)
    except (OSError, ContextError) as error:
        cli.say(f"the current task and phase are not recorded: {error}")


def _name_if_new(task: str, is_known: bool) -> None:
    """Report a task that was not known before, since its id may be misspelled."""
    if not is_known:
        cli.say(f'new task "{task}"')


@command(
    "merge a task's findings into one file, without loss or repetition",
    TASK,
    Option("archive", "archive the merged findings", kind="flag"),
)
def merge(layout: Layout, args: Arguments) -> Answer:
    from contextkit.memory.documents import merged as merged_findings
    from contextkit.memory.flows import upkeep

    now = names.now()
    broken: list[str] = []
    with upkeep.moving(layout, args.task):
        merged, sources, earlier = upkeep.merge(layout, args.task, now, broken)
        document = saving.pending(layout, merged_findings, merged, now)
        answer = _keep(layout, args.task, [document])
        for path in sources if answer.status == 0 else ():
            ledger.note(layout, ledger.CONSUMED, addresses.of(layout, path, "finding"))
        away = [*earlier, *(sources if args.archive else ())]
        moved = upkeep.put_away(layout, args.task, away) if answer.status == 0 else []
    for line in broken:
        cli.say(names.one_line(f"left out: {line}"))
    if answer.status == 0:
        count, gone = len(merged.parts), len(moved)
        cli.say(f"{names.counted(count, 'finding')} merged, {names.counted(gone, 'file')} archived")
    return answer


@command(
    "record where a task stands",
    TASK,
    Option("phase", ", ".join(memory.PHASES)),
    Option("to", "end the current phase and start this one"),
    *BOUNDARY,
)
def checkpoint(layout: Layout, args: Arguments) -> str | Answer | Rows:
    if args.to:
        return phase.run(layout, args)
    for name in ("phase", "summary"):
        if not vars(args)[name].strip():
            raise bad_input(f"{name}: is missing: give {name}=, or to= for the next phase")
    if not (args.next_action.strip() or saving.next_step(layout, args.task)):
        raise bad_input("next_action: is missing, and no plan says it: say what to do first")
    current = memory.meant_phase(args.phase)
    return _checkpoint(layout, args, current, current)


@command(
    "the same as memory_checkpoint to=",
    TASK,
    Option("to", "the next phase", required=True),
    *BOUNDARY,
    now="memory_checkpoint to=",
)
def phase(layout: Layout, args: Arguments) -> Answer:
    """End the current phase with a checkpoint and start the one in `to`."""
    to = memory.meant_phase(args.to, "to")
    left = vars(args).get("phase") or saving.phase_of(layout, args.task)
    left = memory.meant_phase(left)
    is_known = saving.is_known(layout, args.task)
    off = f"{args.task} is in {to}; no checkpoint (memory_phase_transition: false)"
    if left == to or not layout.limits.memory_phase_transition:
        memory.record(layout, args.task, to)
        _name_if_new(args.task, is_known)
        cli.say(f"{args.task} is in {to} already: no checkpoint" if left == to else off)
        return Answer(text="")
    return _checkpoint(layout, args, left, to, f"{left} is done; {to} is next.")


@command(
    "save a checkpoint before a large batch of agents starts",
    TASK,
    Option("agents", "who will start: names or a number", required=True),
    REDACT,
)
def spawn(layout: Layout, args: Arguments) -> Answer:
    from contextkit.memory.flows import agents

    named, count = agents.asked_for(args.agents)
    least = layout.limits.memory_spawn_agents
    phase = saving.phase_of(layout, args.task)
    is_known = saving.is_known(layout, args.task)
    answer = Answer(text="")
    if count < least:
        cli.say(f"{names.counted(count, 'agent')}: no checkpoint (memory_spawn_agents: {least})")
    else:
        who = f": {', '.join(named)}" if named else ""
        are = "is" if count == 1 else "are"
        summary = f"{names.counted(count, 'agent')} {are} about to start{who}."
        answer = _checkpoint(layout, args, phase, phase, summary, named)
    if answer.status == 0:
        agents.sent_off(layout, args.task, named, count, names.now())
        _record(layout, args.task, "", is_known or count >= least)
    return answer


def _checkpoint(
    layout: Layout,
    args: Arguments,
    phase: str,
    next_phase: str,
    event: str = "",
    active: tuple[str, ...] = (),
) -> Answer:
    fields = _given(layout, args, saving.CHECKPOINT)
    if active:
        fields.setdefault("active", active)
    if event and not fields.get("summary"):
        fields = {**saving.carried(layout, args.task, event, phase != next_phase), **fields}
    fields.setdefault("files", saving.in_play(layout, args.task))
    fields["findings_count"] = _count(args)
    ready = saving.checkpoint(layout, args.task, phase, fields, names.now())
    return _keep(layout, args.task, [ready], next_phase)


def _count(args: Arguments) -> int | None:
    """The number of findings as given, or None to have them counted."""
    number = vars(args).get("findings_count", "").strip()
    if number and not names.is_whole(number, 9):
        raise bad_input(f"findings_count={number[:40]}: must be a whole number")
    return int(number) if number else None


@command(
    "save a finding for each agent of a batch, then one checkpoint",
    TASK,
    Option(
        "draft",
        "phase, summary, next_action, findings: a list of agent, status, summary, …",
        required=True,
    ),
    REDACT,
)
def batch(layout: Layout, args: Arguments) -> Answer:
    allowed = ("phase", "findings", *saving.CHECKPOINT)
    fields = _checked(layout, args, _draft(args, allowed))
    phase, ready = saving.batch(layout, args.task, fields, names.now())
    if not layout.limits.memory_agent_completion:
        cli.say("no checkpoint (memory_agent_completion: false)")
    answer = _keep(layout, args.task, ready, phase)
    if answer.status == 0:
        _batch_ended(layout, args.task, names.now(), saved=True)
    return answer


@command(
    "save what a conversation knows before its context is full",
    Option("reason", "manual (default), token_limit or phase_end"),
    Option("tokens", "tokens in the context"),
    Option("task", "the task (default: the current one)", address="plan"),
    Option("phase", "the phase (default: the current one of the task)"),
    Option("agents", "agents at work", kind="words"),
    Option("summary", "the key points so far", required=True),
    Option("important", "what must not be lost"),
    FILES,
    _items("decisions", "decision", "open decisions"),
    Option("resume", "how to resume from here"),
    REDACT,
)
def snapshot(layout: Layout, args: Arguments) -> Answer:
    task = args.task or memory.current_task(layout)
    fields = _given(
        layout, args, ("summary", "important", "resume", "agents", "decisions", "files")
    )
    fields.setdefault("summary", "")
    fields.setdefault("files", ())
    fields["tokens"] = memory.check_tokens(args.tokens) if args.tokens.strip() else 0
    fields["reason"] = args.reason or "manual"
    fields["phase"] = memory.meant_phase(args.phase) if args.phase else ""
    if task and not args.phase:
        fields["phase"] = memory.current_phase(layout, memory.check_task(task))
    now = names.now()
    ready = saving.snapshot(layout, task, fields, now)
    left = saving.phase_of(layout, task) if task and args.phase else ""
    answer = _keep(layout, task, [ready], fields["phase"])
    if answer.status == 0 and left not in ("", fields["phase"]):
        _phase_ended(layout, task, left, fields["phase"], now)
    return answer


def _phase_ended(layout: Layout, task: str, left: str, to: str, now: int) -> None:
    """Write the checkpoint that ends a phase once a snapshot names another, if settings allow."""
    if not layout.limits.memory_phase_transition:
        return
    fields = saving.carried(layout, task, f"{left} is done; {to} is next.", ended=True)
    path = saving.checkpoint(layout, task, left, fields, now).write()
    cli.say(f"{left} has ended: {layout.shown(path)}")


@command(
    "move everything of a finished task into the archive",
    Option("task", "the task (default: the finished one)", address="plan"),
)
def archive(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    task = args.task or upkeep.finished_task(layout)
    broken: list[str] = []
    moved = upkeep.archive(layout, task, broken)
    cli.say_each(f"left where it is: {line}" for line in broken)
    if not moved:
        tasks = ", ".join(upkeep.known_tasks(layout))
        cli.say(
            f"{task}: nothing is left to archive" + (f"; known tasks: {tasks}" if tasks else "")
        )
    return "\n".join(layout.shown(path) for path in moved)


@command(
    "restore a task from the archive and make it current",
    Option("task", "the task", required=True, address="plan"),
)
def unarchive(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    left: list[str] = []
    moved = upkeep.unarchive(layout, args.task, left)
    cli.say_each(f"left in the archive: {line}" for line in left)
    if not moved and not left:
        tasks = ", ".join(memory.archived(layout)) or "nothing"
        raise ContextError(f"{args.task}: nothing of it is archived; archived: {tasks}")
    return "\n".join(layout.shown(path) for path in moved)


@command("remove stale checkpoints; the last one of an open task is archived", DRY_RUN)
def clean(layout: Layout, args: Arguments) -> str:
    from contextkit.memory.flows import upkeep

    broken: list[str] = []
    done = upkeep.clean(layout, names.now(), args.dry_run, broken)
    cli.say_each(f"left where it is: {line}" for line in broken)
    if args.dry_run:
        cli.say("dry run: nothing was changed")
    return "\n".join(f"{layout.shown(path)}: {what}" for path, what in done)


COMMANDS = (
    init, plan, finding, merge, checkpoint, phase, batch, spawn, snapshot, archive, unarchive,
    clean,
)  # fmt: skip
