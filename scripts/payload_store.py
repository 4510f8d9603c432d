#!/usr/bin/env python3
"""Store a long text of a subagent and answer with a short receipt; show, find and remove it."""

from __future__ import annotations

from contextkit import cli, names, outputs, payloads, retention, sessions
from contextkit.arguments import Arguments, Option
from contextkit.cli import Answer, Command, Program
from contextkit.errors import ContextError
from contextkit.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = ("file", "head", "summary", "content", "sources", "facts")
SESSION = Option(
    name="session", help="the session (default: SESSION_ID and so on, else the kept one)"
)


def store(layout: Layout, args: Arguments) -> Answer:
    output = _output(args)
    budget = args.budget
    if not (args.force or args.path or outputs.is_long(layout, output, budget)):
        most = layout.limits.payload_budget if budget is None else budget
        cli.say(f"~{outputs.size(output)} tokens, within {most}: passed through, nothing stored")
        return Answer(text=output.content, exact=True)
    now = names.now()
    try:
        stored = _store(layout, args, output, now)
    except (OSError, ContextError) as error:
        if isinstance(error, ContextError) and error.status == 2:
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        cli.say(f"storing failed ({reason}): the whole text follows on stdout")
        return Answer(text=output.content, status=1, exact=True)
    for note in stored.notes:
        cli.say(note)
    cli.say(f"~{outputs.size(output)} tokens stored")
    return Answer(text=stored.receipt)


def _output(args: Arguments) -> outputs.Output:
    """What was given, checked as far as it can be before anything is touched."""
    from contextkit import receipts

    rows = tuple(receipts.row(text) for text in args.findings)
    confidence = receipts.level(args.confidence)
    return outputs.Output(
        topic=args.topic,
        source=args.source,
        content=cli.content(args.file),
        summary=args.summary,
        rows=rows,
        key_findings=args.key_findings,
        confidence=confidence,
        sources=args.sources,
        tokens=args.tokens,
    )


def _store(layout: Layout, args: Arguments, output: outputs.Output, now: int) -> outputs.Stored:
    if args.path:
        return outputs.store_at(layout, args.path, output, now, args.overwrite)
    if args.session:
        payloads.check_session(args.session)
    session, made_up = sessions.current(layout, args.session, now)
    if made_up:
        cli.say(f"no session is named: using {session} from now on")
    stored = outputs.store(layout, session, output, now)
    _say_swept(retention.sweep_in_passing(layout, now, session))
    return stored


def _say_swept(ended: list[retention.Ended]) -> None:
    for one in ended:
        cli.say(one.line())


def list_(layout: Layout, args: Arguments) -> str:
    now = names.now()
    session = "" if args.all else _session(layout, args)
    _say_swept(retention.sweep_in_passing(layout, now, session))
    if session:
        with retention.session_lock(layout, session):
            retention.resume(layout, session, now)
    if args.json:
        return _manifests(layout, [session] if session else payloads.sessions(layout), args.all)
    rows = []
    for name in [session] if session else payloads.sessions(layout):
        there = {path.rpartition("/")[2] for path in payloads.documents(layout, name)}
        for entry in payloads.load_all(layout, name):
            state = "" if entry["path"] in there else "missing"
            rows.append((entry["id"], str(entry["tokens"]), state, entry["source"], entry["topic"]))
        listed = {entry["path"] for entry in payloads.load_all(layout, name)}
        if there - listed:
            cli.say(f"{len(there - listed)} files are not listed: payload_repair session={name}")
    from contextkit import tables

    return tables.table(("id", "tokens", "state", "source", "topic"), rows) or "No payloads."


def _manifests(layout: Layout, found: list[str], many: bool) -> str:
    """The manifest itself; of several sessions, a list of them."""
    from contextkit import formats

    texts = [text for name in found if (text := payloads.manifest(layout, name))]
    if many:
        return formats.to_json([formats.from_json(text, payloads.MANIFEST) for text in texts])
    return texts[0] if texts else "{}"


def show(layout: Layout, args: Arguments) -> Answer:
    session = _session(layout, args)
    path = outputs.find(layout, args.ref, session, names.now())
    where = layout.shown(path)
    if args.part in ("", "file"):
        from contextkit import files

        return Answer(text=files.read(path), exact=True)
    payload = payloads.load(path, where)
    if args.part == "facts":
        return Answer(text=_facts(path, payload, args.json))
    parts = {
        "head": f"{payload.topic}\n{payload.created_at}  {payload.source}  ~{payload.tokens}",
        "summary": payload.summary,
        "sources": "\n".join(payload.sources),
    }
    if args.part == "content":
        return Answer(text=payload.content, exact=True)
    return Answer(text=parts[args.part])


def _facts(path: str, payload: payloads.Payload, as_json: bool) -> str:
    """Each fact of the content with its line in the file, so that `path:line` opens there."""
    from contextkit import facts, files, formats, tables

    before = files.read_bytes(path).partition(payload.content.encode("utf-8"))[0].count(b"\n")
    rows = [(str(line + before), kind, value) for kind, value, line in facts.find(payload.content)]
    if as_json:
        keys = ("id", "kind", "fact")
        return formats.to_json([dict(zip(keys, row, strict=True)) for row in rows])
    return tables.table(("line", "kind", "fact"), rows) or "No hard facts."


def find(layout: Layout, args: Arguments) -> Answer:
    if args.session:
        payloads.check_session(args.session)
    searched = [args.session] if args.session else payloads.sessions(layout)
    hits = [hit for name in searched for hit in payloads.search(layout, name, args.q)]
    if args.json:
        from contextkit import formats

        keys = ("id", "line", "text")
        found = [dict(zip(keys, hit, strict=True)) for hit in hits]
        return Answer(text=formats.to_json(found), status=0 if hits else 1)
    if not hits:
        cli.say(f"{args.q!r} stands in no payload of {args.session or 'any session'}")
    lines = [f"{identity}:{number}: {names.one_line(line)}" for identity, number, line in hits]
    return Answer(text="\n".join(lines), status=0 if hits else 1)


def end(layout: Layout, args: Arguments) -> str:
    ended = retention.end(layout, args.session, names.now(), args.summary_file, args.purge)
    sessions.forget(layout, args.session)
    if ended is None:
        return f"session {args.session}: nothing to remove"
    if not args.purge:
        cli.say(f"can be resumed for {layout.limits.payload_grace}: store or show in that session")
    return ended.line()


def sweep(layout: Layout, args: Arguments) -> str:
    idle = names.seconds(args.max_idle or layout.limits.payload_idle)
    ended = retention.sweep(layout, names.now(), idle)
    return "\n".join(one.line() for one in ended) or "nothing to remove"


def repair(layout: Layout, args: Arguments) -> str:
    with retention.session_lock(layout, args.session):
        done = payloads.repair(layout, args.session, names.now())
    return "\n".join(done) or "nothing to mend"


def _session(layout: Layout, args: Arguments) -> str:
    """The session that is meant, without making one up; empty where nothing names one."""
    if args.session:
        return payloads.check_session(args.session)
    return sessions.find_current(layout)


STORE = (
    Option(name="topic", required=True, help="what the text is about, in a few words"),
    Option(name="source", required=True, help="the subagent that produced it"),
    Option(name="file", help="the text (default: standard input)"),
    SESSION,
    Option(name="summary", help="two or three sentences (default: taken from the text)"),
    Option(name="findings", kind="items", single="finding", help="Aspect=Finding, up to seven"),
    Option(name="key_findings", help="one or two sentences (default: taken from the text)"),
    Option(name="confidence", help="High, Medium or Low"),
    Option(name="sources", kind="items", single="cite", help="where it comes from"),
    Option(name="budget", kind="whole", help="tokens up to which the text is passed through"),
    Option(name="force", kind="flag", help="store it however short it is"),
    Option(name="path", help="store it exactly there, outside any session (.md, .json, .txt)"),
    Option(name="overwrite", kind="flag", help="replace what is at path="),
    Option(name="tokens", kind="whole", help="the exact count, if you have one"),
)

PROGRAM = Program(
    name="payload_store",
    about=__doc__ or "",
    default="store",
    commands=(
        Command(
            run=store,
            help="store a long text, answer with a receipt",
            needs=("toons",),
            options=STORE,
        ),
        Command(
            run=list_,
            help="what a session has stored",
            options=(
                SESSION,
                Option(name="all", kind="flag", help="every session"),
                cli.JSON,
            ),
        ),
        Command(
            run=show,
            help="print a payload, or a part of it",
            needs=("toons",),
            options=(
                Option(name="ref", required=True, positional=True,
                       help="an id, a path, `latest`, or a whole @stored: line"),
                Option(name="part", choices=PARTS, help="which part (default: the file)"),
                SESSION,
                cli.JSON,
            ),
        ),
        Command(
            run=find,
            help="every line of the payloads that holds a text",
            options=(
                Option(name="q", required=True, positional=True, help="the text, in any case"),
                Option(name="session", help="only this session (default: all)"),
                cli.JSON,
            ),
        ),
        Command(
            run=end,
            help="end a session: its payloads go",
            options=(
                Option(name="session", required=True, help="the session that ends"),
                Option(name="summary_file", help="where to note it"),
                Option(name="purge", kind="flag", help="for good, at once"),
            ),
        ),
        Command(
            run=sweep,
            help="end the sessions that nobody uses any more",
            options=(Option(name="max_idle", help="idle for longer than this (default: 24h)"),),
        ),
        Command(
            run=repair,
            help="make a session's manifest again from its files",
            options=(Option(name="session", required=True, help="the session to mend"),),
        ),
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())
