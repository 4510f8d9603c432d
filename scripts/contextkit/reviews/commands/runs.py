"""The verdict.py commands about review runs and what their agents wrote, from start to gate.

They load everything about reviews; `verdicts.py` has the commands that are called often.
"""

from __future__ import annotations

import time

from contextkit.base import cli, files, ledger, names, outgoing, redaction, tokens
from contextkit.base.commands import JSON, Answer, Arguments, Option, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterator
from contextkit.reviews.commands.verdicts import AGENT, BASE, DIR, RUN, addressed
from contextkit.reviews.documents import agent_review, complaints, contracts, runs, verdicts
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.reviews.flows import agent_files, drill_down, history, reports, synthesis, workers
from contextkit.reviews.flows import gate as gating
from contextkit.reviews.flows import start as starting
from contextkit.reviews.flows.agent_files import Asked, Reading
from contextkit.reviews.flows.workers import Worker

_AGENTS = Option("agents", "those that were asked (default: all that left a file)", kind="words")
_SEVERITY = Option("severity", "only these: P0,P1,P2,P3,IMP", kind="words")
_WHICH = "a review run's id, or latest"
_A_RUN = Option("run", _WHICH, required=True, positional=True)
_LAUNCH = Option("launch", "start each agent in the background, as a subagent", kind="flag")
_CMD = Option("cmd", "with launch=1: the agents' command line (default: subagent_command)")
_FILES = (RUN, DIR, _AGENTS, JSON)
_STARTED = (_LAUNCH, _CMD, JSON)
_MOST = 2000  # tokens of what `show` prints


def _read(layout: Layout, about: Asked) -> Iterator[Reading]:
    """The agents' files one by one; report progress on stderr once that takes a second."""
    began = reported = time.monotonic()
    of = len(about.roster)
    for number, reading in enumerate(workers.read(layout, about), 1):
        yield reading
        now = time.monotonic()
        if now - reported >= 1:
            cli.say(f"[{number}/{of} | {now - began:.0f}s] {names.one_line(reading.agent)}")
            reported = now


@command(
    "set up a review: folder, input, one prompt per agent; launch=1 starts them",
    Option("process", "such as flux-drive, or one from contextkit.yaml", required=True),
    Option("agents", "default: those of the process", kind="words"),
    Option("target", "a document, a question, or a name for the branch's diff"),
    BASE,
    Option("restart", "end this target's run if one is still going on", kind="flag"),
    _LAUNCH,
    _CMD,
    Option("notify", "a command to run once: when it is done, or needs you"),
    JSON,
)
def start(layout: Layout, args: Arguments) -> Answer:
    now = names.now()
    workers.check(layout, args.launch, args.cmd)
    run = starting.start(layout, now, args.process, args.target, args.agents, args.base,
                         args.restart, args.notify)  # fmt: skip
    return _started(layout, args, run, now)


@command("after a fix: ask the agents with an open P0 or P1 about what changed since",
         _A_RUN, *_STARTED)  # fmt: skip
def recheck(layout: Layout, args: Arguments) -> Answer:
    now = names.now()
    workers.check(layout, args.launch, args.cmd)
    return _started(layout, args, starting.recheck(layout, args.run, now), now)


def _started(layout: Layout, args: Arguments, run: Run, now: int) -> Answer:
    working = _launched(layout, run, run.roster, args, now)
    data = starting.roster(layout, run)
    for each, own in zip(data["agents"], working, strict=False):
        each["subagent"] = own.id
    data |= {"rechecks": run.rechecks, "open": run.open} if run.rechecks else {}
    how = [f"{names.one_line(own.agent)}\t{own.id or 'not started'}" for own in working]
    head = [f"run {run.id}", f"output_dir {run.output_dir}", f"input {run.input}"]
    return Answer(text=workers.steps(layout, run, head, how, data["agents"]), data=data)


def _launched(
    layout: Layout, run: Run, agents: tuple[str, ...], args: Arguments, now: int
) -> list[Worker]:
    """Start subagents for these agents, with launch=1; report each that could not be started."""
    if not args.launch:
        return []
    working = workers.start(layout, run, agents, args.cmd, now)
    cli.say_each(f"{own.agent}: could not be started: {own.words}" for own in working if not own.id)
    return working


@command(
    "how and where an agent has to write",
    Option("run", _WHICH),
    AGENT,
    Option("output_dir", "a folder to write to, without a run"),
    Option("mode", "without a run", choices=("review", "research")),
)
def contract(layout: Layout, args: Arguments) -> str:
    args = addressed(args)
    if bool(args.run) == bool(args.output_dir):
        raise bad_input("run, output_dir: give one of them: a run's id, or a folder to write to")
    if args.output_dir:
        folder = layout.typed(args.output_dir, "output_dir")
        return contracts.loose(layout, folder, args.agent, args.mode or "review")
    if args.mode:
        raise bad_input("mode: a run has its own")
    return contracts.of_run(layout, runs.load(layout, args.run), args.agent)


@command(
    "wait until every agent of a run has left its file; status 3 on timeout",
    Option("run", _WHICH, required=True),
    Option("timeout", "such as 90s or 5m, or a timeout of the process (remote)"),
    Option("stub", "write an error stub for each that is not done", kind="flag"),
    JSON,
)
def wait(layout: Layout, args: Arguments) -> Answer:
    run = runs.load(layout, args.run)
    seconds = _seconds(run, args.timeout)
    cli.say(f"[0/{len(run.roster)} | 0s] waiting up to {seconds}s for {', '.join(run.roster)}")

    def done(count: int, of: int, passed: float, agent: str) -> None:
        cli.say(f"[{count}/{of} | {passed:.0f}s] {agent}")

    outcomes = workers.wait(layout, run, seconds, done)
    late = [outcome for outcome in outcomes if outcome.state != "done"]
    if late and args.stub:
        for outcome in workers.write_stubs(run, late, names.now()):
            cli.say(f"{outcome.agent}: {outcome.state}: wrote an error stub")
    cli.say_each(f"{outcome.agent}: {outcome.said}" for outcome in outcomes if outcome.said)
    workers.notify(layout, run.id, names.now())
    rows = [{"id": each.agent, "state": each.state, "path": layout.shown(each.path),
             "said": each.said} for each in outcomes]  # fmt: skip
    lines = [f"{row['state']}\t{row['id']}\t{row['path']}" for row in rows]
    return Answer(text="\n".join(lines), status=3 if late else 0, data=rows)


def _seconds(run: Run, typed: str) -> int:
    """How long to wait: a duration, a named timeout of the process, or its default."""
    named = run.timeouts.get(typed) if typed else run.timeout
    if isinstance(named, int):
        return named
    try:
        return names.seconds(typed)
    except ContextError:
        others = f" or {', '.join(run.timeouts)}" if run.timeouts else ""
        raise bad_input(f"timeout: {typed!r}: write 90s, 5m{others}") from None


@command(
    "the review runs: age, state, how many agents are done, the worst verdict",
    Option("all", "include those that ended", kind="flag"),
    JSON,
)
def runs_(layout: Layout, args: Arguments) -> Rows:
    now = names.now()
    standings, broken = workers.standings(layout, now, args.all)
    cli.say_each(broken)
    return Rows(
        columns=(
            ("run", "run"), ("process", "process"), ("state", "state"),
            ("started", "started", lambda row: names.age(names.moment(row["started"]), now)),
            ("done", "done", lambda row: f"{row['done']}/{row['agents']}"),
            ("status", "status", lambda row: row["status"] or "-"),
            ("target", "target", lambda row: row["target"][:40] or "-"),
        ),
        rows=standings, nothing="No review runs.", status=1 if broken else 0,
    )  # fmt: skip


@command("end a run that is going on; its files stay", _A_RUN)
def end(layout: Layout, args: Arguments) -> str:
    run, notes = workers.end(layout, args.run, names.now())
    cli.say_each(notes)
    return f"run {run.id}"


@command("ask an agent of a run once more: a new file, and a prompt with what was wrong",
         _A_RUN, AGENT, *_STARTED)  # fmt: skip
def retry(layout: Layout, args: Arguments) -> Answer:
    args = addressed(args)
    workers.check(layout, args.launch, args.cmd)
    now = names.now()
    run = starting.retry(layout, args.run, args.agent, now)
    working = _launched(layout, run, (args.agent,), args, now)
    (again,) = starting.roster(layout, run.replace(roster=(args.agent,)))["agents"]
    how = [f"subagent {worker.id}" for worker in working]
    data = {"id": args.agent, **again} | ({"subagent": working[0].id} if working else {})
    head = [f"path {again['path']}", f"prompt {again['prompt']}"]
    return Answer(text=workers.steps(layout, run, head, how, [again]), data=data)


@command("read the files of a run's agents, or of a folder, and write one verdict each", *_FILES)
def ingest(layout: Layout, args: Arguments) -> Answer:
    about, now = agent_files.asked(layout, args), names.now()
    done = agent_files.ingest(layout, about, _read(layout, about), now)
    if about.run:
        workers.settle(layout, about.run, done, now)
        workers.notify(layout, about.run_id, now)
    allowed = layout.limits.secrets_allow  # as in the verdicts themselves and in their table
    done = [d.replace(summary=redaction.redacted(d.summary, allowed)[0]) for d in done]
    entries = [{"agent": d.agent, "status": d.status, "summary": d.summary} for d in done]
    numbers = agent_files.counts(done)
    (_, count), (_, valid), *others = numbers["totals"].items()
    totals = ", ".join([f"{valid}/{count} valid", *(f"{n} {name}" for name, n in others)])
    bound = [agent_files.read_line(count, numbers["unread"])] if numbers["unread"] else []
    text = "\n".join([verdicts.table(entries), *bound, totals])
    where = f"runs/{about.run_id}/" if about.run else ""
    refs = [f"verdict:{where}{verdicts.encode(reading.agent)}" for reading in done]
    ledger.note(layout, ledger.RENDERED, about.ref or refs[0], tokens=tokens.estimate(text),
                sources=refs)  # fmt: skip
    agents = [{"id": reading.agent, **agent_files.row(reading)} for reading in done]
    data = {"run": about.run_id, "agents": agents, **numbers}
    is_read = about.run or any(reading.is_read for reading in done)
    return Answer(text=text, status=0 if is_read else 1, data=data)


@command("the indexes in one form, one line per finding",
         RUN, DIR, Option("agent", "only this one"), _SEVERITY, JSON)  # fmt: skip
def index(layout: Layout, args: Arguments) -> Answer:
    args = addressed(args)
    wanted = drill_down.severities_of(args.severity)
    about = agent_files.asked(layout, args)
    rows = drill_down.index(layout, about, wanted, args.agent)
    text = "\n".join(f"{names.one_line(row['agent'])}\t{row['row']}" for row in rows)
    return Answer(text=text, data=rows)


@command(
    "the P0 and P1 of a run, one agent's sections, or one finding",
    Option("agent", "the reviewer's name (default: all)", positional=True),
    Option("finding", "its id (default: the most severe, as many as fit)"),
    _SEVERITY,
    Option("run", "a run's id, or latest (default: latest, without agent)"),
    Option("dir", "the folder of agent files (default: as the verdict says)"),
    Option("skip", "how many findings to skip", kind="whole"),
    Option("max_tokens", f"at most (default: {_MOST})", kind="whole"),
    JSON,
)
def show(layout: Layout, args: Arguments) -> Answer:
    args = addressed(args)
    if args.finding and not args.agent:
        agent, _, finding = args.finding.rpartition("/")
        if not agent:
            raise bad_input(f"finding: {finding!r} belongs to which agent? give agent/{finding}")
        args = Arguments(**{**vars(args), "agent": agent, "finding": finding})
    if args.severity or not args.agent:
        return _show_run(layout, args)
    about, gone = None, dict[str, str]()
    if args.dir or args.run:
        about = agent_files.asked(layout, args)
        (reading,) = agent_files.read(layout, about, args.agent)
        if not reading.text:
            hint = ""
            if about.run and args.agent not in (roster := about.run.roster):
                near = names.nearest(args.agent, roster) or f": it asked {', '.join(roster)}"
                hint = f", and the run did not ask this agent{near}"
            raise ContextError(f"{args.agent}: left no file of its own here{hint}")
        path, text = reading.path, reading.text
        hidden = history.dismissed(layout, about.run, synthesis.rows_of(reading))
        gone = {key.partition("/")[2]: why for key, why in hidden.items()}
    else:
        path = drill_down.detail(layout, args.agent)
        text = agent_review.decoded(files.read_bytes(path))
    most, finding = args.max_tokens or _MOST, args.finding.removeprefix(f"{args.agent}/")
    part, ids = drill_down.shown(text, finding, most, gone)
    if not part:
        wanted = f"there is no finding {finding!r}" if finding else "no finding is"
        cli.say(f"{wanted} in {layout.shown(path)}; available: {', '.join(ids) or 'none'}")
        if not ids:
            part = drill_down.unread(text, finding, most)
    run = about.run_id if about and not args.dir else ""
    ref = f"verdict:{f'runs/{run}/' if run else ''}{verdicts.encode(args.agent)}"
    ref = f"review:{run}/{args.agent}/{finding}" if run and finding else ref
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(part))
    data = [{"id": args.agent, "text": part, "findings": ids}]
    return Answer(text=part, status=0 if part else 1, quoted=True, data=data)


def _show_run(layout: Layout, args: Arguments) -> Answer:
    """The findings of all agents, strictest first, and the command for the rest of them."""
    run = args.run or ("" if args.dir else "latest")
    about = agent_files.asked(layout, Arguments(**{**vars(args), "run": run}))
    severities = drill_down.severities_of(args.severity) or SERIOUS
    most, skip = args.max_tokens or _MOST, args.skip or 0
    read = agent_files.read(layout, about, args.agent)
    findings, unread = drill_down.of_run(about.run_id, read, severities)
    gone = history.dismissed(layout, about.run, findings)
    parts = drill_down.fitting(findings[skip:], most, gone)
    shown = findings[skip : skip + len(parts)]
    many = 1 if args.agent else len(about.roster)
    if unread:
        missed = ", ".join(map(names.one_line, unread))
        parts.append(f"{agent_files.read_line(many, len(unread))}\nnot read: {missed}")
    elif not shown:
        nothing = f"no {' or '.join(severities)}: {agent_files.read_line(many, 0)}"
        parts.append(f"no more: {len(findings)} in all" if findings else nothing)
    if left := len(findings[skip + len(shown) :]):
        rest = {"severity": ",".join(severities), "skip": str(skip + len(shown))}
        show = about.show(layout, agent=args.agent, **rest, max_tokens=str(most))
        parts.append(f"+{left} more: {outgoing.called(show)}")
    text = "\n\n".join(parts)
    refs = [row.ref for finding in shown for row in finding.rows]
    ledger.note(layout, ledger.SHOWN, about.ref, tokens=tokens.estimate(text), sources=refs)
    status = 1 if len(unread) == many and not about.run else 0
    data = [each.public() | {"dismissed": gone.get(each.key, "")} for each in shown]
    return Answer(text=text, status=status, quoted=True, data=data)


@command("put all reviews together: synthesis.md and findings.json, 15 lines back", *_FILES)
def synthesize(layout: Layout, args: Arguments) -> Answer:
    about, now = agent_files.asked(layout, args), names.now()
    read = list(_read(layout, about))
    if about.run:  # what it says is to be done is then known to all others
        agent_files.keep_new(layout, about, read, now)
        workers.settle(layout, about.run, read, now)
    summary, is_read, data = reports.synthesize(layout, about, read, now)
    ledger.note(layout, ledger.RENDERED, about.ref, tokens=tokens.estimate(summary))
    return Answer(text=summary, status=0 if is_read else 1, data={"id": about.run_id, **data})


@command("PASS or FAIL, and every reason", *_FILES)
def gate(layout: Layout, args: Arguments) -> Answer:
    about = agent_files.asked(layout, args, finished=True)
    decision = gating.decide(layout, about, _read(layout, about))
    gating.close(layout, about, decision, names.now())
    status = 1 if decision.reasons else 0
    return Answer(
        text=gating.rendered(layout, decision, about),
        status=status,
        data=lambda: {
            "id": about.run_id, "gate": "FAIL" if status else "PASS",
            "agents": list(about.roster), "revision": decision.revision,
            "reasons": [
                {"reason": each.reason, "text": each.text, "agent": each.agent}
                for each in decision.reasons
            ],
            "dismissed": list(decision.dismissed), "uncommitted": list(decision.uncommitted),
            "next": gating.next_steps(layout, decision, about),
        },
    )  # fmt: skip


@command(
    "dismiss a finding: kept in git, for every later run of this target",
    Option("run", _WHICH, required=True),
    Option("finding", "AGENT/ID", required=True, positional=True),
    Option("reason", "why, in one line", required=True),
    Option("by", "who decided it; without it, a P0 still fails the gate"),
    JSON,
)
def dismiss(layout: Layout, args: Arguments) -> Answer:
    finding = str(args.finding)
    if finding.startswith("review:"):  # an address: RUN/AGENT/ID
        finding = finding.partition("/")[2]
    path, made = history.dismiss(layout, args.run, finding, args.reason, args.by, names.now())
    shown = layout.shown(path)
    until = f"dismissed until its lines change; it counts once {shown} is committed"
    cli.say(f"{made.agent}/{made.id} is {until}")
    if made.severity == "P0" and not made.by:
        cli.say("a P0 still fails the gate: give by= to say who decided")
    return Answer(text=shown, data={"id": made.identity, "path": shown, **vars(made)})


@command(
    "the findings of a run, in a format for code review",
    _A_RUN,
    Option(
        "format",
        "SARIF 2.1.0, annotations of a workflow, or Markdown for a comment",
        required=True,
        choices=("sarif", "github", "markdown"),
    ),
)
def export(layout: Layout, args: Arguments) -> str:
    return reports.export(layout, args.run, args.format)


@command(
    "what is wrong with an agent's file, line by line",
    Option("file", "the file (default: standard input)"),
    JSON,
)
def check(layout: Layout, args: Arguments) -> Answer:
    text = cli.content(args.file)
    about, agent = agent_files.expected(layout, args.file)
    review = agent_review.parse(text)
    faults = complaints.check(text, agent_files.terms(about, agent))
    if about.run and (why := agent_files.doubt(about, agent, args.file, review)):
        faults.insert(0, (1, why, f"<!-- run-uuid: {about.run_id} -->"))
    if review.validation == "malformed" and review.findings:
        many = names.counted(len(review.findings), "finding")
        cli.say(f"{many} read without an index: `make verdict_show dir=FOLDER` shows them")
    rows = [dict(zip(("id", "wrong", "should_read"), fault, strict=True)) for fault in faults]
    lines = [f"{number}: {wrong}" + (better and f"\n    write: {better}")
             for number, wrong, better in faults]  # fmt: skip
    return Answer(text="\n".join(lines), status=1 if faults else 0, data=rows)


COMMANDS = (runs_, end, retry, recheck, start, contract, wait,
            ingest, index, show, synthesize, gate, dismiss, export, check)  # fmt: skip
