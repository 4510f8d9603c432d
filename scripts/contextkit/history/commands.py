"""The commands of `context.py`: all systems at once, one document, or one session."""

from __future__ import annotations

import os

from contextkit.base import addresses, cli, commands, files, ledger, names, tokens, version
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout

REF = Option(
    "ref", "an address, a path, an unambiguous beginning, or latest", required=True, positional=True
)
_MOST = 200  # events shown to a person who sets no filter
_SESSION = Option("session", "only this session")
_SINCE = Option("since", "only since then: a date, a time, or 7d")


@command(
    "make the documented files that are missing; refresh unedited copies of ours", commands.DRY_RUN
)
def init(layout: Layout, args: Arguments) -> str:
    from contextkit.history.flows import overview

    done = overview.initialize(layout, dry_run=args.dry_run)
    would = "would be " if args.dry_run else ""
    lines = [f"{path}: {state if state == 'kept' else would + state}" for path, state in done]
    return "\n".join(lines)


@command("every limit and place in force, and why", JSON)
def config(layout: Layout, args: Arguments) -> Rows:
    from contextkit.history.flows import overview

    shown = ("value", "value", lambda row: _shown(row["value"]))
    rows = overview.settings_in_force(layout)
    return Rows(columns=(("setting", "id"), ("from", "from"), shown), rows=rows)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {entry}" for name, entry in value.items())
    return (", ".join(value) if isinstance(value, tuple) else str(value)) or "(none)"


@command(
    "show the repository's settings that act, and trust them",
    Option("forget", "revoke the trust", kind="flag"),
    Option("yes", "do not ask: you have read them", kind="flag"),
    JSON,
)
def trust(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import owned, settings

    acting = settings.acting(settings.of_repository(layout.root))
    lines = [f"{name}: {_shown(value)}" for name, value in acting.items()]
    data = [{"id": name, "value": value} for name, value in acting.items()]
    if args.forget:
        owned.distrust(layout.root)
        return Answer(text="\n".join([*lines, f"{layout.root} is no longer trusted"]), data=data)
    if not acting:
        return Answer(text=f"nothing to trust: no setting of {layout.root} acts", data=data)
    if layout.held and not args.yes:
        for line in lines:
            cli.say(line)
        if not cli.confirm("run, reach or obey what these settings of this repository name?"):
            raise ContextError("not trusted: answer y on a terminal, or read them and give yes=1")
    owned.trust(layout.root, acting)
    outcome = f"trusted: {layout.root}, until one of these changes"
    return Answer(text="\n".join([*lines, outcome]), data=data)


@command(
    "what needs doing, with the command for it",
    Option("all", "each system: stored, open, stale, saved", kind="flag"),
    JSON,
)
def status(layout: Layout, args: Arguments) -> Rows:
    from contextkit.history.flows import overview

    rows = overview.status(layout)
    if args.all or cli.for_programs():
        told = [{name: row[name] for name in row if name != "which"} for row in rows]
        return Rows(columns=(("system", "id"), ("status", "status")), rows=told, wrap=True)
    to_do = overview.to_do(rows)
    state = "nothing needs doing" if not to_do else f"{len(to_do)} to do"
    stored = f"stored: {overview.in_short(rows)} (all=1 shows each system)"
    lines = [f"contextkit {version.VERSION}: {state}", stored]
    command = ("command", "command", lambda row: f"make {row['command']}")
    columns = (("system", "id"), ("what", "said"), command)
    return Rows(
        columns=columns, rows=to_do, wrap=True, nothing="\n".join(lines),
        below="\n" + "\n".join(lines) if to_do else "",
    )  # fmt: skip


@command(
    "open any document by its address",
    REF,
    Option("part", "a heading in it; for a payload also content, summary …"),
    Option("max_tokens", "at most this many tokens of it", kind="whole"),
    JSON,
)
def show(layout: Layout, args: Arguments) -> Answer:
    from contextkit.history.flows import show as showing

    opened = showing.document(layout, args.ref, args.part)
    size = tokens.estimate(opened.text)
    most = args.max_tokens or size
    if size > most:
        opened = opened.replace(text=tokens.clip(opened.text, most))
        cli.say(f"cut from ~{size} to {most} tokens: max_tokens= or part=HEADING shows more")
    ledger.note(layout, ledger.SHOWN, opened.ref, tokens=tokens.estimate(opened.text))
    data = {"id": opened.ref, **vars(opened)}
    exact = size <= most and bool(opened.text.strip())
    return Answer(text=opened.text, exact=exact, quoted=True, data=data)


@command(
    "what happened, one event per line",
    Option("ref", "only this document"),
    _SESSION,
    Option("event", "only these: stored, injected, shown …"),
    _SINCE,
    JSON,
)
def events(layout: Layout, args: Arguments) -> Rows:
    from contextkit.history.flows import search

    if args.event and args.event not in ledger.EVENTS:
        raise bad_input(f"event: {args.event[:40]!r} is not one of {', '.join(ledger.EVENTS)}")
    ref = _ref(layout, args.ref) if args.ref else ""
    rows = [
        {"id": number, "tokens": 0, "session": "", "agent": "", "to": "", **event}
        for number, event in enumerate(ledger.read(layout, search.moment(args.since)), 1)
        if ref in ("", event["ref"], event.get("to", ""), *event["from"])
        if args.session in ("", event.get("session", "")) and args.event in ("", event["event"])
    ]
    left = len(rows) - _MOST
    return Rows(
        columns=(("at", "at"), ("event", "event"),
                 ("tokens", "tokens", lambda row: f"~{row['tokens']}" if row["tokens"] else ""),
                 ("ref", "ref"), ("who and to whom", "to", _who)),
        rows=rows,
        nothing="No events.",
        below=f"\n{left} earlier ones not shown: since=, ref=, session=" if left > 0 else "",
        most=_MOST,
    )  # fmt: skip


def _ref(layout: Layout, typed: str) -> str:
    """The address of the document meant, or the typed one if it is gone."""
    kind, _ = addresses.parts(typed)
    try:
        return addresses.find(layout, typed).ref
    except ContextError:
        if kind:
            return typed
        raise


def _who(row: dict[str, object]) -> str:
    from contextkit.history.flows import traces

    who = traces.who(row)
    return f"{who} → {row['to']}" if row.get("to") else who


@command(
    "one line per session: stored, handed over, shown, saved, open",
    Option("all", "include those that have ended", kind="flag"),
    JSON,
)
def sessions(layout: Layout, args: Arguments) -> Rows:
    from contextkit.base import sessions as current
    from contextkit.history.flows import traces

    name, origin = current.named(layout)
    here = f"session {name} (from {origin})" if name else f"no session: {origin}"
    here = f"this shell: {here}"
    nothing = "No sessions." if args.all else "No open sessions: all=1 shows ended ones"
    return Rows(
        columns=(("session", "session", lambda row: f"{row['session']}{traces.on(row)}"),
                 ("host", "host"), ("started", "started"),
                 ("ended", "ended"), ("stored", "stored"), ("injected", "injected"),
                 ("shown", "shown"), ("saved", "saved"), ("open", "open")),
        rows=traces.sessions(list(ledger.read(layout)), args.all),
        nothing=f"{nothing}\n{here}",
        below=f"\n(estimated tokens; saved = stored - injected - shown)\n{here}",
    )  # fmt: skip


@command("a document's history: its inputs, who got it, what came of it", REF, JSON)
def why(layout: Layout, args: Arguments) -> Answer:
    from contextkit.history.flows import traces

    ref = _ref(layout, args.ref)
    history = traces.History(list(ledger.read(layout)), addresses.elsewhere(layout))
    talk = ""
    if not history.knows(ref):
        addresses.find(layout, ref)  # its message names the existing ones
        talk = (
            f"{ref}: the ledger has no record of it: it predates the ledger, or its record was lost"
        )
    try:
        lineage = traces.lineage(layout, history, ref)
    except OSError as error:
        raise ContextError(f"{ref}: cannot be read: {error.strerror}") from None
    return Answer(text=traces.tree(history, lineage), data=lineage, talk=talk)


@command(
    "search everything stored, including archived and ended work",
    Option("q", 'words, "words in a row", begin*', also=("query",), required=True, positional=True),
    Option("kind", "only documents of this kind: payload, finding, review …"),
    _SESSION,
    Option("branch", "only this branch"),
    _SINCE,
    Option("max_tokens", "at most (default: 1500)", kind="whole"),
    JSON,
)
def search(layout: Layout, args: Arguments) -> Answer:
    from contextkit.history.flows import search as searching

    hits, count = searching.search(layout, args.q, args.kind, args.session, args.branch, args.since)
    room = args.max_tokens or 1500
    first_hits: list[searching.Found] = []
    lines: list[str] = []
    for hit in hits:
        first_hits.append(hit)
        where = f" § {hit.section}" if hit.section else ""
        whose = f" on {hit.machine}" if hit.machine else ""
        text = f"{hit.ref}  {hit.path}:{hit.line}{where}{whose}\n  {hit.snippet}"
        room -= tokens.estimate(text)
        if room < 0 and lines:
            break
        lines.append("\n".join(names.brief(line, names.PRINTED) for line in text.split("\n")))
    fitting = len(lines)
    if count > fitting:
        narrower = "kind=, session=, since= or another word narrows it down"
        lines.append(f"+{count - fitting} more: {narrower}")
    if not first_hits:
        cli.say(f"{args.q!r} was not found in anything stored here")

    def rows() -> list[dict[str, object]]:
        every = first_hits[:fitting] if args.max_tokens else [*first_hits, *hits]
        return [{"id": hit.ref, **vars(hit)} for hit in every]

    text = "\n".join(lines)
    return Answer(text=text, status=0 if first_hits else 1, quoted=True, data=rows)


@command(
    "write a page: what needs me, does it help, where did it go",
    Option("file", "output file (default: .contextkit/report.html)"),
    Option("open", "open it in the browser", kind="flag"),
    Option("text", "print the same numbers instead", kind="flag"),
    JSON,
)
def report(layout: Layout, args: Arguments) -> Answer:
    from contextkit.history.flows import report as reporting

    target = layout.typed(args.file, "file") if args.file else os.path.join(layout.state, _PAGE)
    if args.file and not args.file.endswith((".html", ".htm")):
        raise bad_input(f"file: {args.file!r} must end in .html")
    facts = reporting.facts(layout)
    if args.text:
        return Answer(text=reporting.text(facts), data=facts)
    files.write(target, reporting.page(facts), derived=True)
    if args.open:
        import webbrowser

        if not webbrowser.open(f"file://{target}"):
            cli.say("no browser could be started: open the file yourself")
    return Answer(text=layout.shown(target), data={"id": layout.shown(target), **facts})


@command(
    "end a session: remove its payloads and state",
    Option("session", "the session's id (default: the current one)"),
)
def session_end(layout: Layout, args: Arguments) -> str:
    from contextkit.base import sessions, stores
    from contextkit.hosts.flows import sessions as session_ends
    from contextkit.payloads.flows import retention

    session = args.session or sessions.find_current(layout)
    if not session:
        raise bad_input("session: none is named, and none is running: give session=")
    if not args.session:
        cli.say(f"session={session}, the current one")
    noted = {str(event.get("session", "")) for event in ledger.read(layout)}
    if session not in noted.union(stores.names_in(layout.sessions)):
        cli.say(f"session: nothing here belongs to {session!r}{names.nearest(session, noted)}")
    lines = session_ends.end(layout, session)
    cli.say_each(retention.way_back(layout, session))
    return "\n".join(lines)


@command(
    "the targets of the Makefile by system",
    Option("topic", "only this system (verdicts) or target (verdict_start)", positional=True),
    Option("all", "every target with its variables", kind="flag"),
    Option("host", "as seen from a host's Makefile", kind="flag"),
)
def help_(layout: Layout, args: Arguments) -> str:
    from contextkit.base import makefiles

    _, *goals = [*os.environ.get("CONTEXTKIT_GOALS", "").split(), ""]
    return makefiles.help_text(args.host, args.all, args.topic or (goals[0] if goals else ""))


@command("name the target nearest to a misspelled one")
def unknown_target(layout: Layout, args: Arguments) -> str:
    from contextkit.base import makefiles

    raise bad_input(makefiles.unknown_goals(os.environ.get("CONTEXTKIT_GOALS", "").split()))


_PAGE = "report.html"  # in the state folder, which git ignores

PROGRAM = Program(
    name="context",
    about="The toolkit as a whole: what is in force here, what is stored, what is missing.",
    commands=(init, config, trust, status, show, why, search, sessions, report, events,
              session_end, help_, unknown_target),
)  # fmt: skip
