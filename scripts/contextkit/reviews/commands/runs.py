"""The verdict.py commands about review runs: start one, wait for its agents, end or retry it."""

from __future__ import annotations

import os

from contextkit.base import cli, names
from contextkit.base.commands import JSON, Answer, Arguments, Option, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.reviews.commands import findings
from contextkit.reviews.commands.findings import AGENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.runs import Run
    from contextkit.reviews.flows.start import Started
    from contextkit.reviews.flows.workers import Worker

BASE = Option("base", "default: the upstream, else origin's branch, else main or master")
RUN = Option("run", "a review run's id, or latest", required=True, positional=True)
LAUNCH = Option("launch", "start each agent in the background, as a subagent", kind="flag")
CMD = Option("cmd", "with launch=1: the agents' command line (default: subagent_command)")


@command(
    "the diff from the base, each file once; the file list goes to stderr",
    BASE,
    Option("stat", "only the list of files, with lines, to stdout", kind="flag"),
    JSON,
)
def diff(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import tables
    from contextkit.reviews.flows import comparisons

    comparison = comparisons.compare(layout, args.base)
    rows = [{"id": change.path, **vars(change)} for change in comparison.changes]
    listed = tables.table(("state", "lines", "path"), comparisons.listed(comparison.changes))
    if args.stat:
        return Answer(text=listed, data=rows)
    size = f"{len(comparison.changes)} files, {comparison.lines} lines"
    return Answer(
        text=comparison.diff.decode("utf-8", "surrogateescape"),
        exact=True,
        talk=f"{listed}\n{size} since {comparison.base.name} ({comparison.base.commit[:12]})",
        data=rows,
    )


@command(
    "set up a review: folder, input, one prompt per agent; launch=1 starts them",
    Option("process", "such as flux-drive, or one from contextkit.yaml", required=True),
    Option("agents", "default: those of the process", kind="words"),
    Option("target", "a document, a question, or a name for the branch's diff"),
    BASE,
    Option("restart", "end this target's run that is still going on", kind="flag"),
    LAUNCH,
    CMD,
    Option("notify", "a command to run once: when it is done, or needs you"),
    JSON,
)
def start(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import start as starting

    asked = starting.Request(
        process=args.process, target=args.target, agents=args.agents, base=args.base,
        restart=args.restart, notify=args.notify,
    )  # fmt: skip
    now = names.now()
    _check_launch(layout, args)
    return _started(layout, args, starting.start(layout, asked, now), now)


@command(
    "after a fix: ask the agents with an open P0 or P1 about what changed since",
    RUN,
    LAUNCH,
    CMD,
    JSON,
)
def recheck(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.flows import start as starting

    now = names.now()
    _check_launch(layout, args)
    started = starting.recheck(layout, args.run, now)
    run = started.run
    return _started(layout, args, started, now, {"rechecks": run.rechecks, "open": run.open})


def _check_launch(layout: Layout, args: Arguments) -> None:
    if args.launch:
        from contextkit.reviews.flows import workers

        workers.check(layout, args.cmd)
    elif args.cmd:
        raise bad_input("cmd: needs launch=1")


def _started(
    layout: Layout,
    args: Arguments,
    started: Started,
    now: int,
    more: dict[str, object] | None = None,
) -> Answer:
    """Launch the agents of a run, if that is wanted, and return the run."""
    from contextkit.reviews.flows import start as starting

    for note in started.notes:
        cli.say(names.one_line(note))
    working = _launched(layout, started.run, started.run.roster, args, now)
    ids = {worker.agent: worker.id for worker in working}
    data = starting.roster(layout, started.run, started.launches, ids) | (more or {})
    return Answer(text=_shown(layout, started, working), data=data)


def _launched(
    layout: Layout, run: Run, agents: tuple[str, ...], args: Arguments, now: int
) -> list[Worker]:
    """Start subagents for these agents, with launch=1; report each that could not be started."""
    if not args.launch:
        return []
    from contextkit.reviews.flows import workers

    working = workers.start(layout, run, agents, args.cmd, now)
    for worker in working:
        if not worker.id:
            cli.say(names.one_line(f"{worker.agent}: could not be started: {worker.words}"))
    return working


def _shown(layout: Layout, started: Started, working: list[Worker]) -> str:
    """Return the run and how to launch its agents: as subagents or as separate sessions.

    Agents that were started are listed with their subagents instead.
    """
    run = started.run
    lines = [f"run {run.id}", f"output_dir {run.output_dir}", f"input {run.input}", ""]
    if working:
        lines += [f"{names.one_line(own.agent)}\t{own.id or 'not started'}" for own in working]
        return "\n".join([*lines, "", f"then: make verdict_wait run={run.id}"])
    stems = " ".join(_quoted(os.path.basename(launch.prompt)) for launch in started.launches)
    prompts = f'{_quoted(f"{run.output_dir}/prompts")}/"$p"'
    from contextkit.reviews.flows import workers

    for host in workers.hosts():
        either = "or " if lines[-1] else ""
        if host.agent_call:
            lines.append(f"{either}{host.title}, all in one message:")
            calls = [(launch.agent, layout.shown(launch.prompt)) for launch in started.launches]
            lines += [f"  {workers.agent_call(host, agent, prompt)}" for agent, prompt in calls]
        else:
            lines.append(f"{either}{host.title}, in the root:")
            lines.append(f"  for p in {stems}; do {host.headless} < {prompts} > /dev/null & done")
    return "\n".join([*lines, "", f"then: make verdict_wait run={run.id}"])


def _quoted(text: str) -> str:
    """Return `text` quoted as one shell word."""
    from contextkit.base import sessions

    if sessions.is_name(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


@command(
    "how and where an agent has to write",
    Option("run", "a review run's id, or latest"),
    AGENT,
    Option("output_dir", "a folder to write to, without a run"),
    Option("mode", "without a run", choices=("review", "research")),
)
def contract(layout: Layout, args: Arguments) -> str:
    args = findings.addressed(args)
    if bool(args.run) == bool(args.output_dir):
        raise bad_input("run, output_dir: give one of them: a run's id, or a folder to write to")
    from contextkit.reviews.documents import contracts, runs

    if args.output_dir:
        folder = layout.typed(args.output_dir, "output_dir")
        return contracts.loose(layout, folder, args.agent, args.mode or "review")
    if args.mode:
        raise bad_input("mode: a run has its own")
    return contracts.of_run(layout, runs.load(layout, args.run), args.agent)


@command(
    "wait until every agent of a run has left its file; status 3 on timeout",
    Option("run", "a review run's id, or latest", required=True),
    Option("timeout", "such as 90s or 5m, or a timeout of the process (remote)"),
    Option("stub", "write an error stub for each that is not done", kind="flag"),
    JSON,
)
def wait(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.documents import runs
    from contextkit.reviews.flows import workers

    run = runs.load(layout, args.run)
    seconds = _seconds(run, args.timeout)
    cli.say(f"[0/{len(run.roster)} | 0s] waiting up to {seconds}s for {', '.join(run.roster)}")
    outcomes = workers.wait(layout, run, seconds, _progress)
    late = [outcome for outcome in outcomes if outcome.state != "done"]
    if late and args.stub:
        for outcome in workers.write_stubs(run, late, names.now()):
            cli.say(f"{outcome.agent}: {outcome.state}: wrote an error stub")
    workers.record_missed(layout, run, outcomes)
    for outcome in outcomes:
        if outcome.said:
            cli.say(names.one_line(f"{outcome.agent}: {outcome.said}"))
    workers.notify(layout, run.id, names.now())
    rows = [
        {
            "id": outcome.agent,
            "state": outcome.state,
            "path": layout.shown(outcome.path),
            "said": outcome.said,
        }
        for outcome in outcomes
    ]
    lines = [f"{row['state']}\t{row['id']}\t{row['path']}" for row in rows]
    return Answer(text="\n".join(lines), status=3 if late else 0, data=rows)


def _progress(count: int, of: int, seconds: float, agent: str) -> None:
    cli.say(f"[{count}/{of} | {seconds:.0f}s] {agent}")


def _seconds(run: Run, typed: str) -> int:
    """Return how long to wait: a duration, a named timeout of the process, or its default."""
    named = run.timeouts.get(typed)
    if isinstance(named, int):
        return named
    if not typed:
        return run.timeout
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
    from contextkit.reviews.flows import workers

    now = names.now()
    standings, broken = workers.standings(layout, now, args.all)
    for line in broken:
        cli.say(names.one_line(line))

    return Rows(
        columns=(
            ("run", "run"),
            ("process", "process"),
            ("state", "state"),
            ("started", "started", lambda row: names.age(names.moment(row["started"]), now)),
            ("done", "done", lambda row: f"{row['done']}/{row['agents']}"),
            ("status", "status", lambda row: row["status"] or "-"),
            ("target", "target", lambda row: row["target"][:40] or "-"),
        ),
        rows=standings,
        nothing="No review runs.",
        status=1 if broken else 0,
    )


@command("end a run that is going on; its files stay", RUN)
def end(layout: Layout, args: Arguments) -> str:
    from contextkit.reviews.flows import workers

    run, notes = workers.end(layout, args.run, names.now())
    for line in notes:
        cli.say(names.one_line(line))
    return f"run {run.id}"


@command(
    "ask an agent of a run once more: a new file, and a prompt with what was wrong",
    RUN,
    AGENT,
    LAUNCH,
    CMD,
    JSON,
)
def retry(layout: Layout, args: Arguments) -> Answer:
    from contextkit.reviews.documents import runs
    from contextkit.reviews.flows import start as starting
    from contextkit.reviews.flows import workers

    args = findings.addressed(args)
    _check_launch(layout, args)
    now = names.now()
    again = starting.retry(layout, args.run, args.agent, now)
    path, prompt = layout.shown(again.path), layout.shown(again.prompt)
    working = _launched(layout, runs.load(layout, args.run), (args.agent,), args, now)
    lines = [f"path {path}", f"prompt {prompt}"]
    calls = [
        workers.agent_call(host, again.agent, prompt) for host in workers.hosts() if host.agent_call
    ]
    lines += [f"subagent {worker.id}" for worker in working] or calls
    data = {"id": again.agent, "agent": again.agent, "path": path, "prompt": prompt}
    if working:
        data["subagent"] = working[0].id
    return Answer(text="\n".join(lines), data=data)


COMMANDS = (runs_, end, retry, recheck, start, contract, wait, diff)
