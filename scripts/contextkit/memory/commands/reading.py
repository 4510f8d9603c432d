"""The external memory commands that read: status, recover, list, check."""

from __future__ import annotations

import os

from contextkit.base import addresses, cli, formats, ledger, names, redaction, tokens
from contextkit.base.commands import JSON, WORKTREE, Answer, Arguments, Option, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.memory.documents import store as memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.memory.documents.context_window import Zone
    from contextkit.memory.flows.recovery import Recovered
    from contextkit.memory.flows.recovery_report import Report
TASK = Option("task", "the task (default: the current one)", address="plan")
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


@command(
    "print ok, warn or save; at the threshold, save one snapshot",
    Option("tokens", "tokens in the context, as the host shows them"),
    Option("file", "estimate the tokens of this text (default: standard input)"),
    Option("transcript", "a host's transcript (JSONL)"),
    TASK,
    Option("summary", "what a snapshot says about the conversation"),
    *PLANNED,
    JSON,
)
def status(layout: Layout, args: Arguments) -> str | Answer | Rows:
    from contextkit.base import sessions
    from contextkit.memory.documents import context_window

    if any(getattr(args, name) for name in RULES):
        return estimate.run(layout, args)
    task = memory.check_task(args.task) if args.task else memory.current_task(layout)
    sent = _sent_off(layout, task)
    count = _count(layout, args)
    if count is None:
        cli.say(f"nothing was read: {_INPUTS}")
        return Answer(text=sent, status=2)
    session = sessions.find_current(layout)
    zone, path = context_window.look(layout, session, task, count)
    if path or zone.name != context_window.SAVE:
        return _zone_answer(zone, task, path, False, sent)
    from contextkit.memory.documents import snapshots
    from contextkit.memory.flows import saving

    now = names.now()
    if task and not saving.is_known(layout, task):
        cli.say(f'new task "{task}"')
    modified = saving.worked_on(layout)
    if modified is None:
        cli.say("the snapshot does not list what changed: git did not answer")
    made = saving.automatic_snapshot(
        layout,
        reason="token_limit",
        now=now,
        tokens=zone.tokens,
        task=task,
        summary=args.summary,
        modified=modified or (),
    )
    try:
        path, new = context_window.once(
            layout, session, task, lambda: layout.shown(snapshots.save(layout, made, now)), now
        )
    except (OSError, ContextError) as error:
        cli.say(f"the snapshot cannot be written ({error}): its whole text follows on stdout")
        return Answer(text=snapshots.render(made), status=1)
    return _zone_answer(zone, task, path, new, sent)


_INPUTS = "give tokens=, file= or transcript="


def _sent_off(layout: Layout, task: str) -> str:
    """Who of the last fan-out is back or missing, as a line; '' without a fan-out."""
    if not task or not os.path.exists(layout.memory_state(f"{task}.agents")):
        return ""
    from contextkit.memory.flows import agents

    return f"{task}: {names.one_line(agents.attendance(layout, task).line())}"


def _count(layout: Layout, args: Arguments) -> int | None:
    """The tokens of the context: given, from a transcript, or of a text; None without input."""
    inputs = [name for name in ("tokens", "file", "transcript") if getattr(args, name)]
    if len(inputs) > 1:
        raise bad_input(f"{inputs[0]} and {inputs[1]}: give one of tokens=, file=, transcript=")
    if args.tokens:
        return memory.check_tokens(args.tokens)
    if args.transcript:
        from contextkit.memory.documents import context_window

        return context_window.usage(_transcript(layout, args.transcript))[0]
    try:
        text = cli.content(args.file)
    except ContextError:
        if args.file:
            raise
        return None
    return tokens.estimate(text) if text.strip() else None


def _transcript(layout: Layout, typed: str) -> str:
    return os.path.join(layout.here, os.path.expanduser(typed)) if typed else ""


def _zone_answer(zone: Zone, task: str, path: str, new: bool, sent: str) -> Answer:
    from contextkit.base import templates

    prompt = templates.render("snapshot_prompt.md", task=task, snapshot=path) if path else ""
    data = {
        "id": zone.name, **vars(zone), "task": task,
        "snapshot": path, "written": new, "prompt": prompt, "agents": sent,
    }  # fmt: skip
    share = zone.tokens * 100 // zone.save_at
    line = f"{zone.name} ~{zone.tokens} of {zone.save_at} tokens ({share} %)"
    sent = f"\n{sent}" if sent else ""
    if path:
        again = f"the next one after the count has been below {zone.save_at}"
        when = "written now" if new else f"written before; {again}"
        return Answer(text=f"{line}\nsnapshot: {path} ({when}){sent}\n\n{prompt}", data=data)
    if zone.name == "warn":
        line += f": save what matters now; a snapshot is written at {zone.save_at}"
    else:
        line += f": a warning comes at {zone.warn_at}"
    return Answer(text=line + sent, data=data)


@command(
    "print what a fresh agent needs to continue a task",
    TASK,
    Option("budget", "tokens to print at most (default: 4000)", kind="whole"),
    Option("prompt", "print a prompt that starts a fresh agent", kind="flag"),
    Option("transcript", "of the session that ended (default: the last one's)"),
    WORKTREE,
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
    most = None if cli.for_programs() else recovery_report.most_findings(budget)
    transcript = _transcript(layout, args.transcript) or recovery.left_behind(layout)
    recovered = recovery.load(layout, task, names.now(), most, transcript)
    if recovered.candidates:
        return Answer(text=recovery_report.of_candidates(layout, recovered), status=1)
    if recovered.task:
        memory.take_up(layout, recovered.task)
    for warning in recovered.warnings:
        cli.say(names.one_line(warning))
    if recovered.others:
        cli.say(f"other tasks, not in this: {', '.join(recovered.others)}")
    if recovered.empty:
        raise ContextError(_nothing(layout, task))
    made = recovery_report.make(layout, recovered, budget, bool(args.prompt))
    if made.left_out:
        size = sum(part.tokens for part in made.left_out)
        count = len(made.left_out) + recovered.unread
        parts, are = ("part", "is") if count == 1 else ("parts", "are")
        cli.say(f"{count} {parts} (~{size} tokens) {are} not whole: budget={budget}")
    if not recovered.whole:
        cli.say("no checkpoint and no snapshot can be read: this is what remains")
    allowed = layout.limits.secrets_allow
    first, *others = [
        addresses.of(layout, layout.join(path), kind) for kind, path in recovered.named
    ]
    size = tokens.estimate(made.text)
    ledger.note(layout, ledger.RENDERED, first, tokens=size, sources=others)
    return Answer(
        text=redaction.redacted(made.text, allowed)[0],
        status=0 if recovered.whole else 1,
        data=lambda: _public(recovered, made, allowed),
    )


def _nothing(layout: Layout, task: str) -> str:
    what = f"nothing is stored about {task!r}" if task else "nothing is stored"
    archived = ", ".join(memory.archived(layout))
    if not task and archived:
        return f"no task is open; archived, and recovered with task=: {archived}"
    return f"{what} in {layout.places.memory}: make memory_list shows what there is"


def _public(saved: Recovered, made: Report, allowed: tuple[str, ...]) -> object:
    """The data for JSON output: everything known, plus the report as printed; redacted."""
    fields = {name: value for name, value in vars(saved).items() if name != "warnings"}
    fields["findings"] = [finding.public() for finding in saved.findings]
    whole = {"id": saved.task, **fields, "warnings": saved.warnings, "left_out": made.left_out,
             "report": made.text}  # fmt: skip
    return formats.from_json(redaction.redacted(formats.to_json(whole), allowed)[0], "recovered")


@command(
    "list the documents in the store",
    Option("task", "only those of this task", address="plan"),
    WORKTREE,
    JSON,
)
def list_(layout: Layout, args: Arguments) -> Rows:
    from contextkit.memory.flows import upkeep

    layout = layout.of_worktree(args.worktree)
    broken: list[str] = []
    documents = upkeep.listed(layout, memory.check_task(args.task) if args.task else "", broken)
    cli.say_each(broken)
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
    nothing = f"No memory of {args.task}; known tasks: {tasks}." if tasks else "No memory."
    below = f"A plan is {layout.places.memory}/research_plans/<id>.md; json=1 has every path."
    return Rows(columns=columns, rows=rows, nothing=nothing, below=below)


_TASK, _NAME = 16, 34  # characters of task and name, to keep rows within 80


@command(
    "find what would not help an agent resume, and how to fix it",
    Option("task", "only this one (default: all)", address="plan"),
    JSON,
)
def check(layout: Layout, args: Arguments) -> Answer:
    from contextkit.memory.flows import saving, upkeep

    task = memory.check_task(args.task) if args.task else ""
    lints = upkeep.check(layout, task)
    if task and not lints and not saving.is_known(layout, task):
        raise ContextError(_nothing(layout, task))
    status = 1 if any(lint.severity == upkeep.ERROR for lint in lints) else 0
    rows = [{"id": f"{lint.path}:{lint.line}", **vars(lint)} for lint in lints]
    lines = [
        f"{lint.severity} {names.one_line(f'{lint.path}:{lint.line}: {lint.wrong}')}"
        f"\n    {names.one_line(lint.mend)}"
        for lint in lints
    ]
    return Answer(text="\n".join(lines), status=status, data=rows)


def planned(counts: dict[str, int]) -> tuple[int, int]:
    """Return the least and the most tokens for these counts of RULES, added up."""
    low = sum(number * RULES[name][1] for name, number in counts.items())
    high = sum(number * RULES[name][2] for name, number in counts.items())
    return -(-low // 10), -(-high // 10)


@command(
    "the same as memory_status words=, and so on",
    *PLANNED,
    Option("file", "an existing text"),
    JSON,
    now="memory_status words=",
)
def estimate(layout: Layout, args: Arguments) -> Answer:
    """Add up what is planned, and the text in file=; nothing is saved."""
    counts = {name: getattr(args, name) for name in RULES if getattr(args, name)}
    if not counts and not args.file:
        raise bad_input(f"give at least one of {'=, '.join(RULES)}= or file=")
    low, high = planned(counts)
    text = tokens.estimate(cli.content(args.file)) if args.file else 0
    low, high = low + text, high + text
    data = {"id": "estimate", "low": low, "high": high, "counts": counts, "file_tokens": text}
    return Answer(text=f"{low}" if low == high else f"{low}-{high}", data=data)


COMMANDS = (status, recover, list_, check, estimate)
