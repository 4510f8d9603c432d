"""Record what each reviewer concluded; show the orchestrator all of it at once."""

from __future__ import annotations

import math
import os

from contextkit.base import cli, commands, formats, names
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Any
from contextkit.reviews.documents import verdicts

AGENT = Option("agent", "the reviewer's name", required=True, positional=True)
RUN = Option("run", "a review run's id (from `start`), or latest")
DIR = Option("dir", "a folder of agent files without a run")
BASE = Option("base", "default: the upstream, else origin's branch, else main or master")
LEGACY = Option("legacy", "like the old library: two statuses, the whole summary", kind="flag")
PLAIN = Option("plain", "with view=attention: three columns, without the ids", kind="flag")
VIEW = Option("view", "another report instead", choices=("attention", "count", "tokens", "stats"))
LENIENT = Option("lenient", "status 0 even if a file cannot be read", kind="flag")


def addressed(args: Arguments) -> Arguments:
    """The call with an address in `agent` split into agent, run, and finding, unless given.

    Addresses are `verdict:AGENT`, `verdict:runs/RUN/AGENT`, `review:RUN/AGENT`, and
    `review:RUN/AGENT/ID`.
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
    return Arguments(**{**vars(args), **address, **typed}) if address else args


def _store(layout: Layout, args: Arguments) -> str:
    """The folder of a run's own verdicts, or '' for the flat store."""
    if not vars(args).get("run"):
        return ""
    from contextkit.reviews.documents import runs

    return runs.verdict_folder(layout, runs.load(layout, args.run).id)


@command(
    "record one verdict",
    AGENT,
    Option("status", "the conclusion: " + ", ".join(verdicts.STATUSES), required=True),
    Option("summary", "one line", required=True),
    Option("type", "verdict, implementation, research (default: verdict)"),
    Option("model", "who concluded it"),
    Option("detail", "the path of the full report"),
    Option("files_changed", "a JSON list, or names separated by commas"),
    Option("findings", "how many findings"),
    Option("tokens", "how many tokens it took"),
    Option("phase", "default: CLAVAIN_PHASE, CLAVAIN_CURRENT_PHASE"),
    Option(
        "lenient",
        "an unknown status is stored as NEEDS_ATTENTION and quoted in the summary",
        kind="flag",
    ),
)
def write(layout: Layout, args: Arguments) -> str:
    from contextkit.base import sessions

    status, summary = args.status.upper(), args.summary
    if args.lenient:
        status, summary = verdicts.understood(status, summary)
        if status != args.status.upper():
            cli.say(f"status={names.one_line(args.status)[:40]}: unknown, stored as {status}")
    phases = (args.phase, *map(os.environ.get, ("CLAVAIN_PHASE", "CLAVAIN_CURRENT_PHASE")))
    verdict = verdicts.Verdict(
        agent=args.agent, status=status, summary=summary, type=args.type or "verdict",
        model=args.model, tokens_spent=_number(args.tokens, "tokens"),
        files_changed=_list(args.files_changed),
        findings_count=_number(args.findings, "findings"),
        detail_path=args.detail or f"{layout.shown(layout.verdicts)}/{args.agent}.md",
        timestamp=names.iso(names.now()), session_id=sessions.find_current(layout),
        phase=next(filter(None, phases), ""),
    )  # fmt: skip
    return layout.shown(verdicts.save(layout, verdict))


def _number(text: str, field: str) -> int:
    """Parse an optional number; report a bad one and store 0, since the status must be written."""
    if names.is_whole(text):
        return int(text[:15])
    if text:
        cli.say(f"{field}={text[:40]!r} is not a whole number: stored as 0")
    return 0


def _list(text: str) -> tuple[object, ...]:
    """Parse a JSON list, or comma-separated names with or without brackets; a bad list is empty."""
    plain = text.strip().strip("[]")
    try:
        value = formats.from_json(text, "files_changed") if plain else []
    except ContextError:
        value = None if any(char in plain for char in '{}"') else plain.split(",")
        value = value and [name.strip() for name in value if name.strip()]
    if not isinstance(value, list):
        cli.say(f"files_changed={text[:40]!r} is not a list: stored as []")
        return ()
    return tuple(value)


@command("STATUS, MODEL and SUMMARY of one agent", AGENT, LENIENT, JSON)
def read(layout: Layout, args: Arguments) -> Answer:
    args = addressed(args)
    store = _store(layout, args) or layout.verdicts
    entry = verdicts.load(layout, args.agent, store)
    if entry is None:
        return Answer(text="", status=1)
    row = (entry["status"], str(entry.get("model") or ""), entry["summary"])
    path = os.path.join(store, verdicts.encode(args.agent) + ".json")
    text, status = "\t".join(map(names.one_line, row)), _status([entry], args)
    return Answer(text=text, status=status, data=lambda: _public(layout, entry, path))


@command("STATUS, AGENT and SUMMARY, one line per agent",
         RUN, DIR, VIEW, LEGACY, PLAIN, LENIENT, JSON)  # fmt: skip
def table(layout: Layout, args: Arguments) -> str | Answer | Rows:
    if args.view == "stats":
        return _stats(layout, args)
    if args.dir:
        raise bad_input("dir: only view=stats reads a folder without verdicts")
    return _report(layout, args, args.view)


def _stats(layout: Layout, args: Arguments) -> Rows:
    """The cost of reading in full, by finding, by index or by line."""
    from contextkit.reviews.flows import agent_files, drill_down

    rows, unread = drill_down.sizes(agent_files.read(layout, agent_files.asked(layout, args)))
    columns = ("full", "serious", "index", "line")
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in columns}
    saved = 100 - math.ceil(100 * total["serious"] / max(1, total["full"]))
    saving = f"P0 and P1 take {saved} % less" if total["serious"] else "no P0 and no P1"
    counts = agent_files.read_line(len(rows), len(unread)).partition(":")[0]
    return Rows(
        columns=(("agent", "id"), ("full", "full"), ("P0 and P1", "serious"), ("index", "index"),
                 ("line", "line")),
        rows=rows,
        total={"id": "all", **total},
        below=f"\n{counts} (counted in full); {saving} (estimated tokens)",
    )  # fmt: skip


def _old(about: str, view: str, *options: Option) -> commands.Command:
    """The command with the old name of a view of `table`."""

    def old(layout: Layout, args: Arguments) -> Answer | Rows:
        return _stats(layout, args) if view == "stats" else _report(layout, args, view)

    old.__name__ = view
    return command(about, *options, JSON, now=f"verdict_table view={view}")(old)


OLD = (
    _old("how many of each status", "count", RUN, LEGACY, LENIENT),
    _old("AGENT, FINDINGS and DETAIL of those to look at", "attention",
         RUN, LEGACY, PLAIN, LENIENT),
    _old("the tokens all agents spent", "tokens", RUN, LEGACY, LENIENT),
    _old("what reading in full, by finding, by index or by line costs", "stats", RUN, DIR),
)  # fmt: skip


def _report(layout: Layout, args: Arguments, view: str) -> Answer:
    loaded = verdicts.load_all(layout, _store(layout, args))
    entries = shown = loaded.documents
    legacy = bool(args.legacy) or os.environ.get("CLAVAIN_VERDICT_LEGACY") == "1"
    if view == "count":
        text = verdicts.counts(entries, legacy)
    elif view == "tokens":
        total, odd = verdicts.tokens(entries)
        text, problem = str(total), "its tokens_spent is not a number and is not counted"
        cli.say_each(f"{agent}: {problem}" for agent in odd)
    elif view == "attention":
        shown = verdicts.needs_attention(entries, legacy)
        if not (args.run or args.plain or legacy):
            left = _left_open(layout)
            loaded += left
            shown += [entry for _, entry in left]
        text = verdicts.attention_rows(shown, not args.plain)
        cli.say_each([] if args.plain or legacy else _closing(shown))
    else:
        from contextkit.base import redaction

        machines = _machines(layout, loaded)
        told = [{**entry, "summary": f"on {machines[path]}: {entry['summary']}"}
                if path in machines else entry for path, entry in loaded]  # fmt: skip
        text, _ = redaction.redacted(verdicts.table(told, legacy), layout.limits.secrets_allow)

    def data() -> list[verdicts.Entry]:
        machines, wanted = _machines(layout, loaded), set(map(id, shown))
        return [_public(layout, entry, path, machines.get(path, ""))
                for path, entry in loaded if id(entry) in wanted]  # fmt: skip

    return Answer(text=text, status=_status(entries, args), data=data)


def _left_open(layout: Layout) -> list[tuple[str, verdicts.Entry]]:
    """The open verdicts of earlier runs, which starts moved to those runs' own folders."""
    place = os.path.join(layout.verdicts, "runs")
    if not os.path.isdir(place):
        return []
    from contextkit.reviews.flows import blockers

    return [
        (os.path.join(place, each["left_by"], verdicts.encode(each["agent"]) + ".json"), each)
        for each in blockers.still_open(layout)
        if "left_by" in each
    ]


def _closing(shown: list[verdicts.Entry]) -> list[str]:
    """How to close a verdict that no run asked for; the gate of a run says what comes next."""
    alone = [entry["agent"] for entry in shown if not entry.get("run") and "broken" not in entry]
    made = {"status": "COMPLETE", "summary": "what became of it"}
    calls = [names.call("verdict_write", agent=agent, **made) for agent in alone[:1]]
    return [f"once that is dealt with, this closes it: `{call}`" for call in calls]


def _machines(layout: Layout, loaded: Loaded[verdicts.Entry]) -> dict[str, str]:
    """The other machine that wrote a verdict, by its path, or the review it was made from."""
    if not os.path.exists(os.path.join(layout.state, "sync")):  # most repositories
        return {}
    from contextkit.base import addresses

    others = addresses.files_elsewhere(layout)
    return {
        path: machine
        for path, entry in loaded
        if (machine := others.get(path) or others.get(layout.join(str(entry.get("detail_path")))))
    }


def _public(layout: Layout, entry: verdicts.Entry, path: str, machine: str = "") -> verdicts.Entry:
    """The entry as programs see it: its id, its address, the other machine it is from."""
    from contextkit.base import addresses

    ref = addresses.of(layout, path, "verdict")
    return {"id": entry["agent"], **entry, "ref": ref, **({"machine": machine} if machine else {})}


def _status(entries: list[verdicts.Entry], args: Arguments) -> int:
    """The status: 1 if a file cannot be read; each such file is named on stderr."""
    broken = verdicts.broken(entries)
    cli.say_each(broken)
    return 1 if broken and not args.lenient else 0


@command("create the store")
def init(layout: Layout, args: Arguments) -> str:
    from contextkit.base import files

    return layout.shown(files.store(layout.verdicts))


@command(
    "remove this session's verdicts, never what agents wrote",
    Option("run", "those of this run, unless it is still going on"),
    Option("older_than", "those older than this (7d, 24h), of any session"),
    Option("all", "all of them, as at the start of a sprint", kind="flag"),
)
def clean(layout: Layout, args: Arguments) -> str:
    from contextkit.reviews.documents import runs as stored

    now = names.now()
    if args.run:
        return "\n".join(stored.remove(layout, args.run, now))
    age = names.seconds(args.older_than, "older_than") if args.older_than else None
    removed, kept = stored.clean(layout, args.all, age, now)
    cli.say_each(f"run {run} is going on: its verdicts stay" for run in kept)
    return "\n".join(removed)


@command(
    "the diff from the base, each file once; the file list goes to stderr",
    BASE,
    Option("stat", "only the list of files, with lines, to stdout", kind="flag"),
    JSON,
)
def diff(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import changes, tables

    comparison = changes.compare(layout, args.base)
    rows = [{"id": change.path, **vars(change)} for change in comparison.changes]
    listed = tables.table(("state", "lines", "path"), changes.listed(comparison.changes))
    if args.stat:
        return Answer(text=listed, data=rows)
    base = f"{comparison.base.name} ({comparison.base.commit[:12]})"
    size = f"{names.counted(len(comparison.changes), 'file')}, {comparison.lines} lines"
    text = comparison.diff.decode("utf-8", "surrogateescape")
    return Answer(text=text, exact=True, talk=f"{listed}\n{size} since {base}", data=rows)


PROGRAM = Program(
    name="verdict",
    about=__doc__ or "",
    commands=(write, read, table, *OLD, diff, init, clean),
    more="reviews.commands.runs.COMMANDS",
)
