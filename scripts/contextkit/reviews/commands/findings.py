"""The verdict.py commands about what agents wrote: ingest, open, synthesize, judge, dismiss it."""

from __future__ import annotations

import os

from contextkit.base import cli, names
from contextkit.base.commands import JSON, Answer, Arguments, Option, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterator
from contextkit.reviews.documents import verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.flows.agent_files import Asked, Reading

AGENT = Option("agent", "the reviewer's name", required=True, positional=True)
RUN = Option("run", "a review run's id (from `start`), or latest")
DIR = Option("dir", "a folder of agent files without a run")
AGENTS = Option("agents", "those that were asked (default: all that left a file)", kind="words")
SEVERITY = Option("severity", "only these: P0,P1,P2,P3,IMP", kind="words")
_WHICH = "a review run's id, or latest"
_MOST = 2000  # tokens of what `show` prints


def addressed(args: Arguments) -> Arguments:
    """Return the call with an address in `agent` split into agent, run, and finding.

    Addresses are `verdict:AGENT`, `verdict:runs/RUN/AGENT`, `review:RUN/AGENT`, and
    `review:RUN/AGENT/ID`. An explicit run or finding in the call takes precedence.
    """
    kind, _, name = str(args.agent).partition(":")
    parts = name.split("/")
    address = {}
    run = parts[1] if len(parts) == 3 and parts[0] == "runs" else ""
    if kind == "verdict" and (run or len(parts) == 1):
        address = {"agent": verdicts.decode(parts[-1]), "run": run}
    elif kind == "review" and len(parts) in (2, 3):
        address = {"agent": parts[1], "run": parts[0], "finding": "".join(parts[2:])}
    typed = {option: value for option, value in vars(args).items() if value and option != "agent"}
    return Arguments({**vars(args), **address, **typed}) if address else args


def store(layout: Layout, args: Arguments) -> str:
    """Return the folder of a run's own verdicts, or '' for the flat store."""
    if not vars(args).get("run"):
        return ""
    from contextkit.reviews.documents import runs

    return runs.verdict_folder(layout, runs.load(layout, args.run).id)


def asked(layout: Layout, args: Arguments, finished: bool = False) -> Asked:
    """Return whose files `run=` or `dir=` names; see `agent_files.of_folder`.

    Raises ContextError for a folder that nobody was asked to write to and nobody has; a gate, for
    which `finished` runs count too, fails on it.
    """
    from contextkit.reviews.flows import agent_files

    if bool(args.run) == bool(args.dir):
        raise bad_input("run, dir: give one of them: a run's id, or a folder of agent files")
    if args.run:
        from contextkit.reviews.documents import runs

        return agent_files.of_run(layout, runs.load(layout, args.run))
    folder = layout.typed(args.dir, "dir")
    if not os.path.isdir(folder):
        raise bad_input(f"dir: {args.dir!r} is not a folder")
    about = agent_files.of_folder(layout, folder, getattr(args, "agents", ()), finished)
    if not (about.roster or finished):
        raise ContextError(
            f"{layout.shown(folder)}: there are no reviews in this folder: an agent's file is"
            f" AGENT.md ({', '.join(agent_files.KINDS[1:])} count too); make verdict_start begins"
            " a run"
        )
    return about


def _read(layout: Layout, about: Asked) -> Iterator[Reading]:
    """Yield the agents' files one by one; report progress on stderr once that takes a second."""
    import time

    from contextkit.reviews.flows import agent_files, workers

    began = reported = time.monotonic()
    of = len(about.roster)
    read = workers.with_endings(layout, about, agent_files.read(layout, about))
    for number, reading in enumerate(read, 1):
        yield reading
        now = time.monotonic()
        if now - reported >= 1:
            cli.say(f"[{number}/{of} | {now - began:.0f}s] {names.one_line(reading.agent)}")
            reported = now


@command(
    "read the files of a run's agents, or of a folder, and write one verdict each",
    RUN,
    DIR,
    AGENTS,
    JSON,
)
def ingest(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import ledger, redaction, tokens
    from contextkit.reviews.flows import agent_files

    about = asked(layout, args)
    now = names.now()
    done = agent_files.ingest(layout, about, _read(layout, about), now)
    if about.run:
        from contextkit.reviews.documents import runs
        from contextkit.reviews.flows import workers

        workers.settle(layout, runs.load(layout, about.run_id), done, now)
        workers.notify(layout, about.run_id, now)
    allowed = layout.limits.secrets_allow  # as in the verdicts themselves and in their table
    done = [d.replace(summary=redaction.redacted(d.summary, allowed)[0]) for d in done]
    rows = [{"id": reading.agent, **agent_files.row(reading)} for reading in done]
    entries = [{"agent": d.agent, "status": d.status, "summary": d.summary} for d in done]
    text = f"{verdicts.table(entries)}\n{agent_files.totals_line(done)}"
    where = f"runs/{about.run_id}/" if about.run else ""
    refs = [f"verdict:{where}{verdicts.encode(reading.agent)}" for reading in done]
    ledger.note(layout, ledger.RENDERED, f"run:{about.run_id}" if about.run else refs[0],
                tokens=tokens.estimate(text), sources=refs)  # fmt: skip
    return Answer(
        text=text,
        data={
            "run": about.run_id,
            "agents": rows,
            "totals": agent_files.totals(done),
            **agent_files.how_many_read(done),
        },
    )


@command(
    "the indexes in one form, one line per finding",
    RUN,
    DIR,
    Option("agent", "only this one"),
    SEVERITY,
    JSON,
)
def index(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import agent_files, drill_down

    args = addressed(args)
    wanted = drill_down.severities_of(args.severity)
    about = asked(layout, args)
    rows = drill_down.index(about.run_id, agent_files.read(layout, about, args.agent), wanted)
    if about.run:
        from contextkit.reviews.flows import history

        rows = history.marked(layout, about.run, rows)
    lines = [f"{names.one_line(row.agent)}\t{row.row}" for row in rows]
    return Answer(
        text="\n".join(lines), data=[row.public("kind", "row", "status", "ref") for row in rows]
    )


@command(
    "the P0 and P1 of a run, one agent's sections, or one finding",
    Option("agent", "the reviewer's name (default: all)", positional=True),
    Option("finding", "its id (default: the most severe, as many as fit)"),
    SEVERITY,
    Option("run", "a run's id, or latest (default: latest, without agent)"),
    Option("dir", "the folder of agent files (default: as the verdict says)"),
    Option("skip", "how many findings to skip", kind="whole"),
    Option("max_tokens", f"at most (default: {_MOST})", kind="whole"),
    JSON,
)
def show(layout: Layout, args: Arguments) -> str | Answer | Rows:
    from contextkit.base import files, ledger, tokens
    from contextkit.reviews.flows import drill_down

    args = addressed(args)
    if args.finding and not args.agent:
        agent, _, finding = args.finding.rpartition("/")
        if not agent:
            raise bad_input(f"finding: {finding!r} belongs to which agent? give agent/{finding}")
        args = Arguments({**vars(args), "agent": agent, "finding": finding})
    if args.severity or not args.agent:
        return _show_run(layout, args)
    run = ""
    if args.dir:
        path = drill_down.report(asked(layout, args), args.agent)
    elif args.run:
        about = asked(layout, args)
        run, path = about.run_id, drill_down.detail(layout, args.agent, about.store)
    else:
        path = drill_down.detail(layout, args.agent)
    text = files.read_bytes(path).decode("utf-8", "replace")
    finding = args.finding.removeprefix(f"{args.agent}/")
    part, ids = drill_down.shown(text, finding, args.max_tokens or _MOST)
    if not part:
        wanted = f"there is no finding {finding!r}" if finding else "no finding is"
        cli.say(f"{wanted} in {layout.shown(path)}; available: {', '.join(ids) or 'none'}")
        if not ids:
            part = drill_down.unread(text, finding, args.max_tokens or _MOST)
    ref = f"verdict:{verdicts.encode(args.agent)}"
    if run:
        ref = f"verdict:runs/{run}/{verdicts.encode(args.agent)}"
        ref = f"review:{run}/{args.agent}/{finding}" if finding else ref
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(part))
    data = [{"id": args.agent, "text": part, "findings": ids}]
    return Answer(text=part, status=0 if part else 1, data=data)


def _show_run(layout: Layout, args: Arguments) -> Answer:
    """Return the findings of all agents, strictest first, and the command for the rest of them."""
    from contextkit.base import ledger, tokens
    from contextkit.reviews.documents import vocabulary
    from contextkit.reviews.flows import agent_files, drill_down

    run = args.run or ("" if args.dir else "latest")
    about = asked(layout, Arguments({**vars(args), "run": run}))
    severities = drill_down.severities_of(args.severity) or vocabulary.SERIOUS
    most, skip = args.max_tokens or _MOST, args.skip or 0
    read = agent_files.read(layout, about, args.agent)
    findings, unread = drill_down.of_run(about.run_id, read, severities)
    parts = drill_down.fitting(findings[skip:], most)
    shown = findings[skip : skip + len(parts)]
    many = 1 if args.agent else len(about.roster)
    if unread:
        missed = ", ".join(map(names.one_line, unread))
        parts.append(f"{agent_files.read_line(many, len(unread))}\nnot read: {missed}")
    elif not findings:
        parts.append(f"none: {agent_files.read_line(many, 0)}")
    if left := len(findings[skip + len(shown) :]):
        where = f"{about.named(layout)} agent={args.agent}" if args.agent else about.named(layout)
        rest = f"severity={','.join(severities)} skip={skip + len(shown)} max_tokens={most}"
        parts.append(f"+{left} more: make verdict_show {where} {rest}")
    text = "\n\n".join(parts)
    refs = [row.ref for finding in shown for row in finding.rows]
    ref = f"run:{about.run_id}" if about.run else ""
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(text), sources=refs)
    return Answer(text=text, data=[finding.public() for finding in shown])


@command(
    "what reading in full, by finding, by index or by line costs",
    RUN,
    DIR,
    JSON,
    now="verdict_table view=stats run=",
)
def stats(layout: Layout, args: Arguments) -> Rows:
    from contextkit.reviews.flows import agent_files, drill_down

    rows, unread = drill_down.sizes(agent_files.read(layout, asked(layout, args)))
    columns = ("full", "serious", "index", "line")
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in columns}
    saved = 100 - round(100 * total["serious"] / max(1, total["full"]))
    counts = agent_files.read_line(len(rows), len(unread)).partition(":")[0]
    return Rows(
        columns=(("agent", "id"), ("full", "full"), ("P0 and P1", "serious"), ("index", "index"),
                 ("line", "line")),
        rows=rows,
        total={"id": "all", **total},
        below=f"\n{counts} (counted in full); P0 and P1 take {saved} % less (estimated tokens)",
    )  # fmt: skip


@command(
    "put all reviews together: synthesis.md and findings.json, 15 lines back",
    RUN,
    DIR,
    AGENTS,
    JSON,
)
def synthesize(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import ledger, tokens
    from contextkit.reviews.flows import reports

    about = asked(layout, args)
    summary, data = reports.synthesize(layout, about, _read(layout, about), names.now())
    ref = f"run:{about.run_id}" if about.run else ""
    ledger.note(layout, ledger.RENDERED, ref, tokens=tokens.estimate(summary))
    return Answer(text=summary, data={"id": about.run_id, **data})


@command("PASS or FAIL, and every reason", RUN, DIR, AGENTS, JSON)
def gate(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import gate as gating

    about = asked(layout, args, finished=True)
    decision = gating.decide(layout, about, _read(layout, about))
    status = 1 if decision.reasons else 0
    gating.close(layout, about, decision, names.now())
    data = {
        "id": about.run_id,
        "gate": "FAIL" if status else "PASS",
        "agents": list(about.roster),
        "revision": decision.revision,
        "reasons": [
            {"reason": each.reason, "text": each.text, "agent": each.agent}
            for each in decision.reasons
        ],
        "dismissed": list(decision.dismissed),
        "uncommitted": list(decision.uncommitted),
        "next": gating.next_steps(decision, about),
    }
    return Answer(text=gating.rendered(decision, about), status=status, data=data)


@command(
    "dismiss a finding: kept in git, for every later run of this target",
    Option("run", _WHICH, required=True),
    Option("finding", "AGENT/ID", required=True, positional=True),
    Option("reason", "why, in one line", required=True),
    Option("by", "who decided it; without it, a P0 still fails the gate"),
    JSON,
)
def dismiss(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import history

    now = names.now()
    finding = str(args.finding)
    if finding.startswith("review:"):  # an address: RUN/AGENT/ID
        finding = finding.partition("/")[2]
    path, made = history.dismiss(layout, args.run, finding, args.reason, args.by, now)
    shown = layout.shown(path)
    cli.say(
        f"{made.agent}/{made.id} is dismissed until its lines change; it counts once {shown} is"
        " committed"
    )
    if made.severity == "P0" and not made.by:
        cli.say("a P0 still fails the gate: give by= to say who decided")
    return Answer(text=shown, data={"id": made.identity, "path": shown, **vars(made)})


@command(
    "the findings of a run, in a format for code review",
    Option("run", _WHICH, required=True, positional=True),
    Option(
        "format",
        "SARIF 2.1.0, annotations of a workflow, or Markdown for a comment",
        required=True,
        choices=("sarif", "github", "markdown"),
    ),
)
def export(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import reports

    return Answer(text=reports.export(layout, args.run, args.format))


COMMANDS = (ingest, index, show, stats, synthesize, gate, dismiss, export)
