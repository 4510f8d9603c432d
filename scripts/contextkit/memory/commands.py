"""The commands of the external memory script: save, look, recover, put away."""

from __future__ import annotations

import os

from contextkit.base import (
    addresses,
    cli,
    commands,
    formats,
    ledger,
    names,
    redaction,
    tokens,
    whereabouts,
)
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable, Sequence
from contextkit.memory.documents import context_window, snapshots
from contextkit.memory.documents import store as memory
from contextkit.memory.flows import agents, saving, upkeep


def _items(name: str, single: str, text: str) -> Option:
    return Option(name, text, kind="items", single=single)


TASK = Option("task", "the task's id: letters, digits, . _ -", required=True, address="plan")
CURRENT = Option("task", "the task (default: the current one)", address="plan")
FILES = Option("files", "files as `path - description`", kind="paths", single="file-modified")
DRAFT = Option("draft", "a YAML or JSON document with the same fields, or - for stdin")
COMPLETED = _items("completed", "completed-task", "finished subtasks")
PENDING = _items("pending", "pending-task", "subtasks not started")
BOUNDARY = (
    COMPLETED,
    PENDING,
    Option("active", "names of agents at work", kind="words"),
    Option("blocked", "names of agents that cannot go on", kind="words"),
    Option("findings_count", "number of findings (default: counted)"),
    Option("summary", "where the task stands (with to=: which phase ended)"),
    Option("next_action", "what to do first on resuming (default: the plan's)"),
    Option("recovery", "how to resume (default: a standard instruction)"),
    FILES,
    commands.REDACT,
)
# Rules of thumb of the design (Token Estimation), rough on purpose: the least and most that each
# costs, in tenths of a token. Existing text is counted by `tokens.estimate`.
RULES = {
    "words": ("words of prose", 13, 13),
    "code_lines": ("lines of code", 100, 100),
    "file_reads": ("files to read", 5_000, 20_000),
    "responses": ("agents' responses", 10_000, 30_000),
}
PLANNED = [
    Option(name, f"only estimate: {what}", kind="whole") for name, (what, _, _) in RULES.items()
]


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
    commands.REDACT,
)
def plan(layout: Layout, args: Arguments) -> Answer:
    fields = _typed(layout, args, saving.PLAN)
    return _keep(layout, args.task, [saving.plan(layout, args.task, fields)], names.now())


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
    commands.REDACT,
)
def finding(layout: Layout, args: Arguments) -> Answer:
    fields = _typed(layout, args, saving.FINDING)
    wanted = args.file or not (args.draft or args.summary)
    report = cli.content(args.file) if wanted else ""
    report, secrets = redaction.redacted(report, layout.limits.secrets_allow)
    if secrets:
        cli.say(f"redacted in the report: {redaction.summary(secrets)}")
    now = names.now()
    answer = _keep(layout, args.task, [saving.finding(args.task, fields, report, now)], now)
    _batch_ended(layout, args.task, answer, now)
    return answer


def _batch_ended(layout: Layout, task: str, answer: Answer, now: int, saved: bool = False) -> None:
    """Write a checkpoint if the last agent of a fan-out is back, unless one is `saved` already."""
    if answer.status or not os.path.exists(layout.memory_state(f"{task}.agents")):
        return
    try:
        if path := agents.batch_ended(layout, task, now, saved):
            cli.say(f"the last agent of the batch is back: {path}")
    except (OSError, ContextError) as error:
        cli.say(f"the checkpoint of the batch is not written: {error}")


def _typed(layout: Layout, args: Arguments, names_of_fields: Iterable[str]) -> saving.Fields:
    """The fields of a call, else of its draft; a secret is refused or (`redact=1`) redacted."""
    values = vars(args)
    fields = {name: values[name] for name in names_of_fields if values.get(name)}
    if values.get("draft"):
        from contextkit.base import packages

        packages.need("yaml")
        draft = saving.draft(cli.content(args.draft, "draft"), ("task", *names_of_fields))
        task = draft.pop("task", "")
        if task not in ("", args.task):
            raise bad_input(f"draft: its task {task[:60]!r} is not {args.task}")
        fields = {**draft, **fields}
    checked: saving.Fields = redaction.typed(fields, layout.limits.secrets_allow, args.redact)
    return checked


def _keep(layout: Layout, task: str, ready: Sequence[Record], now: int, phase: str = "") -> Answer:
    """Write checked documents and return their paths.

    If one cannot be written, its text is returned instead, with status 1, so that it is not lost.
    """
    lines, failed = [], False
    _name_if_new(layout, task)
    for document in ready:
        try:
            lines.append(saving.write(layout, document, now))
        except (OSError, ContextError) as error:
            reason = getattr(error, "strerror", "") or error
            cli.say(f"it could not be written ({reason}): the whole text follows on stdout")
            lines.append(saving.text_of(layout, document, now))
            failed = True
    if task and not failed:
        try:
            memory.record(layout, task, phase)
        except (OSError, ContextError) as error:  # the documents are safe
            cli.say(f"the current task and phase are not recorded: {error}")
    return Answer(text="\n".join(lines), status=int(failed))


def _name_if_new(layout: Layout, task: str) -> None:
    """Report a task that was not known before, since its id may be misspelled."""
    try:
        if task and not saving.is_known(layout, task):
            cli.say(f'new task "{task}"')
    except ContextError:
        return  # the store is refused, and so will be each document


@command(
    "merge a task's findings into one file, without loss or repetition",
    TASK,
    Option("archive", "archive the merged findings", kind="flag"),
)
def merge(layout: Layout, args: Arguments) -> Answer:
    now = names.now()
    with upkeep.moving(layout, args.task):
        merged, sources, earlier = upkeep.merge(layout, args.task, now)
        answer = _keep(layout, args.task, [merged], now)
        if answer.status:
            return answer
        for path in sources:
            ledger.note(layout, ledger.CONSUMED, addresses.of(layout, path, "finding"))
        away = [*earlier, *(sources if args.archive else ())]
        moved = upkeep.put_away(layout, args.task, away)
    count, gone = len(merged.parts), len(moved)
    cli.say(f"{names.counted(count, 'finding')} merged, {names.counted(gone, 'file')} archived")
    return answer


@command(
    "record where a task stands",
    TASK,
    Option("phase", ", ".join(memory.PHASES), required=True, unless="to"),
    Option("to", "end the current phase and start this one"),
    *(o._replace(required=True, unless="to") if o.name == "summary" else o for o in BOUNDARY),
)
def checkpoint(layout: Layout, args: Arguments) -> str | Answer | Rows:
    if args.to:
        return phase.run(layout, args)
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
    left = memory.meant_phase(vars(args).get("phase") or saving.phase_of(layout, args.task))
    if left != to and layout.limits.memory_phase_transition:
        return _checkpoint(layout, args, left, to, f"{left} is done; {to} is next.")
    _name_if_new(layout, args.task)
    memory.record(layout, args.task, to)
    off = f"{args.task} is in {to}; no checkpoint (memory_phase_transition: false)"
    cli.say(f"{args.task} is in {to} already: no checkpoint" if left == to else off)
    return Answer(text="")


@command(
    "save a checkpoint before a large batch of agents starts",
    TASK,
    Option("agents", "who will start: names or a number", required=True),
    commands.REDACT,
)
def spawn(layout: Layout, args: Arguments) -> Answer:
    named, count = agents.asked_for(args.agents)
    least = layout.limits.memory_spawn_agents
    phase = saving.phase_of(layout, args.task)
    if count < least:
        answer = _keep(layout, args.task, [], names.now())
        cli.say(f"{names.counted(count, 'agent')}: no checkpoint (memory_spawn_agents: {least})")
    else:
        who = f": {', '.join(named)}" if named else ""
        are = "is" if count == 1 else "are"
        summary = f"{names.counted(count, 'agent')} {are} about to start{who}."
        answer = _checkpoint(layout, args, phase, phase, summary, named)
    if answer.status == 0:
        agents.sent_off(layout, args.task, named, count, names.now())
    return answer


def _checkpoint(
    layout: Layout,
    args: Arguments,
    phase: str,
    next_phase: str,
    event: str = "",
    active: tuple[str, ...] = (),
) -> Answer:
    fields = _typed(layout, args, saving.CHECKPOINT)
    if active:
        fields.setdefault("active", active)
    if event and not fields.get("summary"):
        fields = {**saving.carried(layout, args.task, event), **fields}
    fields.setdefault("files", saving.in_play(layout, args.task))
    number = vars(args).get("findings_count", "").strip()
    if number and not names.is_whole(number, 9):
        raise bad_input(f"findings_count={number[:40]}: must be a whole number")
    fields["findings_count"] = int(number) if number else None
    now = names.now()
    ready = saving.checkpoint(layout, args.task, phase, fields, now)
    return _keep(layout, args.task, [ready], now, next_phase)


@command(
    "save a finding for each agent of a batch, then one checkpoint",
    TASK,
    Option("draft", "phase, summary, next_action, findings (agent, status, …)", required=True),
    commands.REDACT,
)
def batch(layout: Layout, args: Arguments) -> Answer:
    fields = _typed(layout, args, ("phase", "findings", *saving.CHECKPOINT))
    now = names.now()
    phase, ready = saving.batch(layout, args.task, fields, now)
    if not layout.limits.memory_agent_completion:
        cli.say("no checkpoint (memory_agent_completion: false)")
    answer = _keep(layout, args.task, ready, now, phase)
    _batch_ended(layout, args.task, answer, now, saved=True)
    return answer


@command(
    "save what a conversation knows before its context is full",
    Option("reason", "manual (default), token_limit or phase_end"),
    Option("tokens", "tokens in the context"),
    CURRENT,
    Option("phase", "the phase (default: the current one of the task)"),
    Option("agents", "agents at work", kind="words"),
    Option("summary", "the key points so far", required=True),
    Option("important", "what must not be lost"),
    FILES,
    _items("decisions", "decision", "open decisions"),
    Option("resume", "how to resume from here"),
    commands.REDACT,
)
def snapshot(layout: Layout, args: Arguments) -> Answer:
    task = args.task or memory.current_task(layout)
    named = ("summary", "important", "resume", "agents", "decisions", "files")
    fields = {"summary": "", **_typed(layout, args, named)}
    fields["files"] = saving.notes(fields.get("files", ()))
    fields["tokens"] = memory.check_tokens(args.tokens) if args.tokens.strip() else 0
    fields["reason"] = args.reason or "manual"
    fields["phase"] = memory.meant_phase(args.phase) if args.phase else ""
    if task and not args.phase:
        fields["phase"] = memory.current_phase(layout, memory.check_task(task))
    now = names.now()
    ready = saving.snapshot(layout, task, fields, now)
    left = saving.phase_of(layout, task) if task and args.phase else ""
    answer = _keep(layout, task, [ready], now, fields["phase"])
    has_ended = answer.status == 0 and left not in ("", fields["phase"])
    if has_ended and layout.limits.memory_phase_transition:
        event = f"{left} is done; {fields['phase']} is next."
        carried = saving.carried(layout, task, event)
        path = saving.write(layout, saving.checkpoint(layout, task, left, carried, now), now)
        cli.say(f"{left} has ended: {path}")
    return answer


@command(
    "print ok, warn or save; at the threshold, save one snapshot",
    Option("tokens", "tokens in the context, as the host shows them"),
    Option("file", "estimate the tokens of this text (default: standard input)"),
    Option("transcript", "a host's transcript (JSONL)"),
    CURRENT,
    Option("summary", "what a snapshot says about the conversation"),
    *PLANNED,
    JSON,
)
def status(layout: Layout, args: Arguments) -> str | Answer | Rows:
    from contextkit.base import sessions

    if any(getattr(args, name) for name in RULES):
        return estimate.run(layout, args)
    task = memory.check_task(args.task) if args.task else memory.current_task(layout)
    is_sent = task and os.path.exists(layout.memory_state(f"{task}.agents"))
    who = agents.attendance(layout, task).line() if is_sent else ""
    sent = f"{task}: {names.one_line(who)}" if is_sent else ""
    count = _count(layout, args)
    if count is None:
        cli.say("nothing was read: give tokens=, file= or transcript=")
        return Answer(text=sent, status=2)
    session = sessions.find_current(layout)
    zone, path = context_window.look(layout, session, task, count)
    is_new = zone.name == context_window.SAVE and not path
    if is_new:
        now = names.now()
        _name_if_new(layout, task)
        modified = saving.worked_on(layout)
        if modified is None:
            cli.say("the snapshot does not list what changed: git did not answer")
        made = saving.automatic_snapshot(
            layout, reason="token_limit", now=now, tokens=zone.tokens, task=task,
            summary=args.summary, modified=modified or (),
        )  # fmt: skip
        try:
            path, is_new = context_window.once(
                layout, session, task, lambda: layout.shown(snapshots.save(layout, made, now)), now
            )
        except (OSError, ContextError) as error:
            cli.say(f"the snapshot cannot be written ({error}): its whole text follows on stdout")
            return Answer(text=snapshots.render(made), status=1)
    return _zone_answer(zone, task, path, is_new, sent)


def _count(layout: Layout, args: Arguments) -> int | None:
    """The tokens of the context: given, from a transcript, or of a text; None without input."""
    inputs = [name for name in ("tokens", "file", "transcript") if getattr(args, name)]
    if len(inputs) > 1:
        raise bad_input(f"{inputs[0]} and {inputs[1]}: give one of tokens=, file=, transcript=")
    if args.tokens:
        return memory.check_tokens(args.tokens)
    if args.transcript:
        path = os.path.expanduser(args.transcript)
        return context_window.usage(os.path.join(layout.here, path))[0]
    try:
        text = cli.content(args.file)
    except ContextError:
        if args.file:
            raise
        return None
    return tokens.estimate(text) if text.strip() else None


def _zone_answer(zone: Any, task: str, path: str, is_new: bool, sent: str) -> Answer:
    from contextkit.base import templates

    prompt = templates.render("snapshot_prompt.md", task=task, snapshot=path) if path else ""
    data = {
        "id": zone.name, **vars(zone), "task": task,
        "snapshot": path, "written": is_new, "prompt": prompt, "agents": sent,
    }  # fmt: skip
    share = zone.tokens * 100 // zone.save_at
    line = f"{zone.name} ~{zone.tokens} of {zone.save_at} tokens ({share} %)"
    sent = f"\n{sent}" if sent else ""
    if path:
        again = f"the next one once the count has dropped below {zone.save_at}"
        when = "written now" if is_new else f"written before; {again}"
        return Answer(text=f"{line}\nsnapshot: {path} ({when}){sent}\n\n{prompt}", data=data)
    if zone.name == "warn":
        line += f": save what matters now; a snapshot is written at {zone.save_at}"
    else:
        line += f": a warning comes at {zone.warn_at}"
    return Answer(text=line + sent, data=data)


@command(
    "the same as memory_status words=, and so on",
    *PLANNED,
    Option("file", "an existing text"),
    JSON,
    now="memory_status words=",
)
def estimate(layout: Layout, args: Arguments) -> Answer:
    """Add up the least and the most for the plan, and the text in file=; nothing is saved."""
    counts = {name: getattr(args, name) for name in RULES if getattr(args, name)}
    if not counts and not args.file:
        raise bad_input(f"give at least one of {'=, '.join(RULES)}= or file=")
    text = tokens.estimate(cli.content(args.file)) if args.file else 0
    tenths = (sum(number * RULES[name][at] for name, number in counts.items()) for at in (1, 2))
    low, high = (text - (-total // 10) for total in tenths)
    data = {"id": "estimate", "low": low, "high": high, "counts": counts, "file_tokens": text}
    return Answer(text=f"{low}" if low == high else f"{low}-{high}", data=data)


@command(
    "print what a fresh agent needs to continue a task",
    CURRENT,
    Option("budget", "tokens to print at most (default: 4000)", kind="whole"),
    Option("prompt", "print a prompt that starts a fresh agent", kind="flag"),
    Option("transcript", "of the session that ended (default: the last one's)"),
    commands.WORKTREE,
    JSON,
)
def recover(layout: Layout, args: Arguments) -> Answer:
    from contextkit.memory.flows import recovery, recovery_report

    budget = args.budget or layout.limits.memory_recover_tokens
    least = recovery_report.LEAST_PROMPT if args.prompt else recovery_report.LEAST
    if budget < least:
        raise bad_input(f"budget={budget}: give at least {least} tokens")
    task = memory.check_task(args.task) if args.task else ""
    layout = layout.of_worktree(args.worktree)
    most = None if cli.for_programs() else budget // recovery_report.A_LINE
    transcript = recovery.left_behind(layout, args.transcript)
    recovered = recovery.load(layout, task, names.now(), most, transcript)
    if recovered.candidates:
        return Answer(text=recovery_report.of_candidates(layout, recovered), status=1)
    if recovered.task and not recovered.empty:
        memory.take_up(layout, recovered.task)
    cli.say_each(recovered.warnings)
    if recovered.others:
        cli.say(f"other tasks, not included: {', '.join(recovered.others)}")
    if not (task or args.worktree or recovered.empty):
        own = (recovered.task, *recovered.others, *memory.archived(layout))
        name, there = _elsewhere(layout, "", own)
        cli.say(f"{name} is not stored here, but {there}" if name else "")
    nothing = _nothing(layout, task) if recovered.empty else ""
    if nothing and (task or not recovered.notes):
        raise ContextError(nothing)
    made = recovery_report.make(layout, recovered, budget, bool(args.prompt))
    if made.left_out:
        cut = names.counted(sum(made.left_out.values()), "token")
        count = len(made.left_out) + recovered.unread
        parts, are = ("part", "is") if count == 1 else ("parts", "are")
        cli.say(f"{count} {parts} (~{cut}) {are} incomplete: budget={budget}")
    if not recovered.whole:
        cli.say(nothing or "without a checkpoint or a snapshot, this is what remains")
    refs = [addresses.of(layout, layout.join(path), kind) for kind, path in recovered.named]
    if refs:
        size = tokens.estimate(made.text)
        ledger.note(layout, ledger.RENDERED, refs[0], tokens=size, sources=refs[1:])
    allowed = layout.limits.secrets_allow
    return Answer(
        text=redaction.redacted(made.text, allowed)[0],
        status=0 if recovered.whole else 1,
        quoted=True,
        data=lambda: _public(recovered, made, allowed),
    )


def _nothing(layout: Layout, task: str) -> str:
    """Why nothing can be recovered, and where there is more: maybe in another worktree."""
    name, there = _elsewhere(layout, task)
    archived = ", ".join(memory.archived(layout))
    if not task and archived:
        why = f"no task is open; archived, and recovered with task=: {archived}"
        return f"{why}\n{name} is {there}" if name else why
    if name:
        return f"nothing is stored here, but {there}"
    what = f"nothing is stored about {task!r}" if task else "nothing is stored"
    return f"{what} in {layout.places.memory}: make memory_list shows what there is"


def _elsewhere(layout: Layout, task: str, own: Iterable[str] = ()) -> tuple[str, str]:
    """An open task of another worktree, by default any but our `own`, and how to recover it."""
    for branch, where in whereabouts.worktrees(layout):
        for name in memory.candidates(where, starts=True):
            if name == task or not (task or name in own):
                asked = names.call("memory_recover", task=name, worktree=branch)
                return name, f"on {branch}: {asked}"
    return "", ""


def _public(saved: Any, made: Any, allowed: tuple[str, ...]) -> object:
    """The data for JSON output: everything known, plus the report as printed; redacted."""
    fields = {name: value for name, value in vars(saved).items() if name != "warnings"}
    fields["findings"] = [finding.public() for finding in saved.findings]
    fields["files"] = [{"path": path, "state": state} for path, state in saved.files.items()]
    left_out = [{"path": path, "tokens": size} for path, size in made.left_out.items()]
    whole = {"id": saved.task, **fields, "warnings": saved.warnings, "left_out": left_out,
             "report": made.text}  # fmt: skip
    return formats.from_json(redaction.redacted(formats.to_json(whole), allowed)[0], "recovered")


_TASK, _NAME = 16, 34  # characters of task and name, to keep rows within 80


@command(
    "list the documents in the store",
    Option("task", "only those of this task", address="plan"),
    commands.WORKTREE,
    JSON,
)
def list_(layout: Layout, args: Arguments) -> Rows:
    layout = layout.of_worktree(args.worktree)
    documents = upkeep.listed(layout, memory.check_task(args.task) if args.task else "", "")
    rows = [
        {"id": os.path.splitext(os.path.basename(stored["path"]))[0], **stored,
         "path": layout.shown(stored["path"]), "ref": addresses.of(layout, stored["path"])}
        for stored in documents
    ]  # fmt: skip
    columns = (
        ("kind", "kind"),
        ("task", "task", lambda row: names.clipped_start(row["task"], _TASK)),
        ("state", "state"),
        ("id", "id", lambda row: names.clipped_start(row["id"], _NAME)),
    )
    tasks = ", ".join(upkeep.known_tasks(layout)) if args.task and not rows else ""
    others = f"; known tasks: {tasks}" if tasks else ""
    nothing = f"No memory of {args.task}{others}." if args.task else "No memory."
    below = f"A plan is {layout.places.memory}/research_plans/<id>.md; json=1 has every path."
    is_unknown = bool(args.task) and not rows and not saving.is_known(layout, args.task)
    return Rows(
        columns=columns, rows=rows, nothing=nothing, below=below, status=int(is_unknown)
    )  # fmt: skip


@command(
    "find what would keep an agent from resuming, and how to fix it",
    Option("task", "only this one (default: all)", address="plan"),
    JSON,
)
def check(layout: Layout, args: Arguments) -> Answer:
    task = memory.check_task(args.task) if args.task else ""
    lints = upkeep.check(layout, task)
    if task and not lints and not saving.is_known(layout, task):
        raise ContextError(_nothing(layout, task))
    lines = [
        f"{lint.severity} {names.one_line(f'{lint.path}:{lint.line}: {lint.wrong}')}"
        f"\n    {names.one_line(lint.mend)}"
        for lint in lints
    ]
    return Answer(
        text="\n".join(lines),
        status=int(any(lint.severity == upkeep.ERROR for lint in lints)),
        data=[{"id": f"{lint.path}:{lint.line}", **vars(lint)} for lint in lints],
    )


@command(
    "move everything of a finished task into the archive",
    Option("task", "the task (default: the finished one)", address="plan"),
)
def archive(layout: Layout, args: Arguments) -> str:
    task = args.task or upkeep.finished_task(layout)
    moved = upkeep.archive(layout, task)
    if not moved:
        tasks = ", ".join(upkeep.known_tasks(layout))
        others = f"; known tasks: {tasks}" if tasks else ""
        if task not in memory.archived(layout):
            raise ContextError(f"{task}: nothing is stored about it{others}")
        cli.say(f"{task}: nothing is left to archive{others}")
    return "\n".join(map(layout.shown, moved))


@command(
    "restore a task from the archive and make it current",
    Option("task", "the task", required=True, address="plan"),
)
def unarchive(layout: Layout, args: Arguments) -> str:
    moved, left = upkeep.unarchive(layout, args.task)
    remark(*(f"left in the archive: {line}" for line in left))
    if not moved and not left:
        tasks = ", ".join(memory.archived(layout)) or "nothing"
        raise ContextError(f"{args.task}: nothing of it is archived; archived: {tasks}")
    return "\n".join(map(layout.shown, moved))


@command("remove stale checkpoints; the last one of an open task is archived", commands.DRY_RUN)
def clean(layout: Layout, args: Arguments) -> str:
    done = upkeep.clean(layout, names.now(), args.dry_run)
    if args.dry_run:
        cli.say("dry run: nothing was changed")
    return "\n".join(f"{layout.shown(path)}: {what}" for path, what in done)


PROGRAM = Program(
    name="external_memory",
    about="Keep plans, findings, checkpoints and snapshots of a task, and recover it from them.",
    commands=(
        init, plan, finding, merge, checkpoint, phase, batch, spawn, snapshot, archive, unarchive,
        clean, status, recover, list_, check, estimate,
    ),
)  # fmt: skip
