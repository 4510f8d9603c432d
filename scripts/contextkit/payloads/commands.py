"""Store a long text of a subagent and answer with a short receipt; show, find, and remove it."""

from __future__ import annotations

import os
import time

from contextkit.base import addresses, cli, files, ledger, names, sessions, tokens
from contextkit.base.commands import JSON, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable, Iterator
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, retrieval, storing

_STATUSES = 256
_WIDTH = 80  # characters of a row
_ID, _SOURCE = 40, 12  # characters of an id (a unique prefix is enough) and of a source
_FIND_TOKENS = 4000  # tokens that `find` shows unless a limit is given
_LARGE = 4_000_000  # length in characters of a text that takes a while to read
_LEAST = 20  # tokens in a hit, below which it is only counted
_AROUND = 200  # characters that `find` shows around the hit in a very long line
PARTS = ("file", "head", "summary", "content", "sources", "facts")
SESSION = Option("session", "the session (default: SESSION_ID and so on, else the kept one)")


@command(
    "store a long text and print a receipt",
    Option("topic", "what the text is about, in a few words", required=True),
    Option("source", "the subagent that produced it", required=True),
    Option("file", "the text (default: standard input)"),
    SESSION,
    Option("summary", "two or three sentences (default: taken from the text)"),
    Option("findings", "Aspect=Finding, up to seven", kind="items", single="finding"),
    Option("key_findings", "one or two sentences (default: taken from the text)"),
    Option("confidence", "High, Medium or Low"),
    Option("sources", "where it comes from", kind="items", single="cite"),
    Option("budget", "pass the text through up to this many tokens", kind="whole"),
    Option("force", "store it even if it is short", kind="flag"),
    Option("inline", "pass it through even if it is long", kind="flag"),
    Option("path", "store it exactly there, outside any session (.md, .json, .txt)"),
    Option("overwrite", "replace what is at path=", kind="flag"),
    Option("tokens", "the exact count, if you have one", kind="whole"),
    Option("status", "the exit status of the command that printed the text"),
    reads=True,
)
def store(layout: Layout, args: Arguments) -> Answer:
    content = cli.content(args.file, exact=True)
    try:
        return _stored(layout, args, content)
    except ContextError as error:
        if not (content.strip() and cli.is_lost(args.file)):
            raise
        cli.say(f"{names.one_line(str(error))}: the whole text follows on stdout")
        return Answer(text=content, status=error.status, exact=True, verbatim=True)


def _stored(layout: Layout, args: Arguments, content: str) -> Answer:
    """Store the text and return its receipt, or pass it through. Raises ContextError."""
    target = storing.check_target(layout, args.path, args.overwrite) if args.path else ""
    session = "" if target else args.session
    try:
        session = session or ("" if target else sessions.find_current(layout))
    except OSError:
        pass  # that it cannot be read, storing reports
    if session:
        sessions.check(session)
    output = _output(args, content)
    budget = args.budget or _budget_of_the_environment() or layout.limits.payload_budget
    size = output.tokens
    if len(output.content) > _LARGE:
        cli.say(f"reading {len(output.content) / 1e6:.0f} million characters ...")
    asked = bool(args.force or target)
    if args.inline or not (asked or size > budget):
        why = "as asked" if args.inline else f"within {budget}"
        cli.say(f"~{names.counted(size, 'token')}, {why}: passed through, nothing stored")
        return Answer(text=output.content, exact=True, verbatim=True)
    now = names.now()
    try:
        if target:
            stored = storing.store_at(layout, target, output, now, args.overwrite)
        else:
            session, made_up = sessions.current(layout, args.session, now)
            if made_up:
                cli.say(f"no session is named: using {session} from now on")
            stored = storing.store(layout, session, output, now)
        files.settle()
    except (OSError, ContextError) as error:
        reason = getattr(error, "strerror", "") or error
        cli.say(f"storing failed ({reason}): the whole text follows on stdout")
        return Answer(text=output.content, status=1, exact=True, verbatim=True)
    remark(f"~{size} tokens, {'as asked' if asked else f'above {budget}'}: stored")
    if session:
        _sweep(layout, now, session)
    return Answer(text=stored.receipt, quoted=True)


def _sweep(layout: Layout, now: int, session: str) -> None:
    """Sweep in passing, and say what ended and how to bring it back."""
    lines = retention.sweep_in_passing(layout, now, session)
    cli.say_each(lines)
    if any("(inactive_" in line for line in lines):
        grace = layout.limits.payload_grace
        cli.say(f"what was removed as inactive can come back for {grace}: make payload_show ref=ID")


def _budget_of_the_environment() -> int:
    """PAYLOAD_BUDGET, with which a launcher sets its subagents' budget; 0 if unset."""
    budget = os.environ.get("PAYLOAD_BUDGET", "")
    if budget and not (names.is_whole(budget) and int(budget) > 0):
        raise bad_input(f"PAYLOAD_BUDGET={budget[:40]}: must be a whole number from 1")
    return int(budget[:18]) if budget else 0


def _output(args: Arguments, content: str) -> storing.Output:
    """The text and fields of the call, checked as far as possible before anything is written."""
    status = args.status
    if status and not (names.is_whole(status) and int(status) < _STATUSES):
        raise bad_input(f"status={status[:40]}: must be an exit status, 0 to 255")
    return storing.Output(
        topic=args.topic, source=args.source, content=content, summary=args.summary,
        status=int(status) if status else None, rows=tuple(map(receipts.row, args.findings)),
        key_findings=args.key_findings, confidence=receipts.level(args.confidence),
        sources=args.sources, tokens=args.tokens or tokens.estimate(content),
        estimated=not args.tokens,
    )  # fmt: skip


@command("what a session has stored", SESSION, Option("all", "every session", kind="flag"), JSON)
def list_(layout: Layout, args: Arguments) -> Answer:
    now = names.now()
    session = "" if args.all else _session(layout, args)
    _sweep(layout, now, session)
    retention.wake(layout, session, now)
    sessions = [session] if session else payloads.sessions_in(layout)
    from collections import Counter

    from contextkit.base import tables

    manifests = [payloads.manifest(layout, name, now) for name in sessions]
    rows = []
    talk = []
    for name, manifest in zip(sessions, manifests, strict=True):
        there = {path.rpartition("/")[2] for path in payloads.documents(layout, name)}
        for entry in manifest[payloads.LIST]:
            state = "" if entry["path"] in there else "missing"
            there.discard(entry["path"])
            rows.append(
                (entry["id"], str(entry["tokens"]), state,
                 names.one_line(entry["source"])[:_SOURCE], names.one_line(entry["topic"]))
            )  # fmt: skip
        if there:
            files_are = names.counted(len(there), "file") + (" is" if len(there) == 1 else " are")
            talk.append(f"{files_are} not listed: make context_doctor mend=1")
    if not rows and (away := retention.can_come_back(layout, now)):
        talk.append(away)
    elif session and not rows and payloads.sessions_in(layout):
        talk.append(f"session {session} has none: all=1 lists every session's")
    short = Counter(identity[:_ID] for identity, *_ in rows)
    rows = [(row[0][:_ID] if short[row[0][:_ID]] == 1 else row[0], *row[1:]) for row in rows]
    heads = ("id", "tokens", "state", "source", "topic")
    text = "\n".join(names.clipped(line, _WIDTH) for line in tables.table(heads, rows).split("\n"))
    return Answer(
        text=text or "No payloads.",
        nothing=not rows,
        talk="\n".join(talk),
        data=lambda: manifests[0] if session else manifests,
    )


@command(
    "print a payload or part of it",
    Option("ref", "an id, path, `latest` or @stored: line", required=True, positional=True),
    Option("part", "which part (default: the file)", choices=PARTS),
    Option("section", "of the content, the section under this heading"),
    Option("lines", "of the content, these lines: 120-180"),
    Option("around", "of the content, the lines around this text"),
    Option("max_tokens", "at most this many tokens of it", kind="whole"),
    SESSION,
    JSON,
)
def show(layout: Layout, args: Arguments) -> Answer | Rows:
    session = _session(layout, args)
    path = _found(layout, args, session)
    if any((args.section, args.lines, args.around, args.max_tokens)):
        answer: Answer | Rows = _slice(layout, path, args)
    elif args.part == "facts":
        answer = _facts(layout, path)
    else:
        answer = _part(layout, path, args.part)
    text = answer.text if isinstance(answer, Answer) else "\n".join(map(str, answer.rows))
    ref = addresses.of(layout, path, "payload")
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(text))
    return answer


def _part(layout: Layout, path: str, part: str) -> Answer:
    """The whole file of a payload, or a part of it by name."""
    whole, shown = part == "content", layout.shown(path)
    if part in ("", "file"):
        text = files.read_bytes(path).decode("utf-8", "surrogateescape")
    else:
        text = payloads.load(path, shown).parts[part]

    def data() -> object:
        return {"id": _identity(path), "path": shown, **vars(payloads.load(path, shown))}

    exact = whole or part in ("", "file")
    return Answer(text=text, exact=exact, verbatim=whole, quoted=True, data=data)


def _found(layout: Layout, args: Arguments, session: str) -> str:
    """The file that `ref=` names, looked up again if it disappeared in the meantime."""
    path = ""
    for _ in range(2):
        path = retrieval.find(layout, args.ref, session, names.now(), only=bool(args.session))
        if os.path.lexists(path):
            break
    return path


def _slice(layout: Layout, path: str, args: Arguments) -> Answer:
    """The requested part of the content; for a file kept with `path=`, of its whole text."""
    asked = [name for name in _SLICES if getattr(args, name)]
    if len(asked) > 1:
        raise bad_input(f"{' and '.join(asked)}: give one of them")
    shown, is_text = layout.shown(path), args.part in _TEXTS
    content = _content(layout, path) if is_text else payloads.load(path, shown).parts[args.part]
    part = retrieval.Slice(text=content, first=1, last=content.count("\n") + 1)
    for name in asked:
        part = _SLICES[name](content, getattr(args, name))
    end = part.last
    if args.max_tokens:
        part = retrieval.capped(part, args.max_tokens, layout.limits.tokenizer)
    talk = [names.lines(part.first, part.last)]
    if is_text:
        above = payloads.first_line(path) - 1
        in_file = names.lines(above + part.first, above + part.last)
        talk = [f"{talk[0]}, in the file {in_file.partition(' ')[2]}"]
    left = end - part.more + 1 if part.more else 0  # a line that is cut counts, too
    if left:
        ref = addresses.of(layout, path, "payload") or shown
        more = names.call("payload_show", ref=ref, part=args.part, lines=f"{part.more}-{end}")
        talk.append(f"+{left} more {'line' if left == 1 else 'lines'}: {more}")
    talk += [part.note] if part.note else []
    data = {"id": _identity(path), "path": shown, "first": part.first, "last": part.last,
            "text": part.text, "more": left}  # fmt: skip
    return Answer(text=part.text, quoted=True, data=data, talk="\n".join(talk))


_TEXTS = ("", "file", "content", "facts")  # parts of which a slice is one of the content
_SLICES: dict[str, Callable[[str, str], retrieval.Slice]] = {
    "section": retrieval.section, "lines": retrieval.span, "around": retrieval.around,
}  # fmt: skip


def _content(layout: Layout, path: str) -> str:
    """The content of a payload, or the whole text of a file kept with `path=`."""
    data = files.read_bytes(path)
    start, end = payloads.span(data, layout.shown(path)) if path.endswith(".md") else (0, None)
    return data[start:end].decode("utf-8", "surrogateescape")


def _identity(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _facts(layout: Layout, path: str) -> Rows:
    """Each fact of the content with its line in the file, so that editors can open `path:line`."""
    from contextkit.text import facts

    above = payloads.first_line(path) - 1
    rows = [
        {"id": f"{_identity(path)}:{at + above}", "line": at + above, "kind": kind, "fact": value}
        for kind, value, at in facts.find(_content(layout, path))
    ]
    columns = (("line", "line"), ("kind", "kind"), ("fact", "fact"))
    return Rows(columns=columns, rows=rows, nothing="No hard facts.")


@command(
    "search the lines of the payloads",
    Option("q", "words that must all occur in one line or section, in any case", also=("query",),
           required=True, positional=True),
    Option("session", "only this session (default: all)"),
    Option("max_tokens", "at most this many tokens of hits", kind="whole"),
    JSON,
)  # fmt: skip
def find(layout: Layout, args: Arguments) -> Answer:
    if args.session:
        sessions.check(args.session)
    searched = [args.session] if args.session else payloads.sessions_in(layout)
    paths = [path for name in searched for path in payloads.documents(layout, name)]
    cap = args.max_tokens or _FIND_TOKENS
    rows: list[dict[str, object]] = []
    lines: list[str] = []
    spent, more = 0.0, 0
    for path, number, line, section in retrieval.search(_counted(paths), args.q):
        room = int((cap - spent - 1) / tokens.CAUTION)
        if more or room < _LEAST:
            more += 1
            continue
        shown = names.clipped_around(line, args.q.lower().split(), len(args.q) + _AROUND)
        where = f"  [{names.one_line(section)}]" if section else ""
        hit = f"{_identity(path)}:{number}: {shown}{where}"
        lines.append(tokens.clip(hit, room, tokenizer=layout.limits.tokenizer))
        spent += tokens.estimate(lines[-1], layout.limits.tokenizer) * tokens.CAUTION + 1
        rows.append({"id": _identity(path), "line": number, "text": shown, "section": section,
                     "ref": addresses.of(layout, path, "payload")})  # fmt: skip
    if not (lines or more):
        cli.say(f"{args.q!r} occurs in no payload of {args.session or 'any session'}")
    talk = f"+{more} more: narrow q=, or raise max_tokens={cap}" if more else ""
    text = "\n".join([*lines, f"+{more} more"] if more else lines)
    return Answer(text=text, status=0 if text else 1, quoted=True, data=rows, talk=talk)


def _counted(paths: list[str]) -> Iterator[str]:
    """The payloads to search; progress is reported once a second."""
    reported = time.monotonic()
    for count, path in enumerate(paths, start=1):
        now = time.monotonic()
        if now - reported >= 1:
            reported = now
            cli.say(f"{count} of {len(paths)} payloads searched ...")
        yield path


@command(
    "end a session: remove its payloads",
    Option("session", "the session that ends", required=True),
    Option("summary_file", "the file to log it in"),
    Option("purge", "permanently, right away", kind="flag"),
)
def end(layout: Layout, args: Arguments) -> str:
    now = names.now()
    ended = retention.end(layout, args.session, now, args.summary_file)
    sessions.forget(layout, args.session)
    purged = retention.purge(layout, args.session, now) if args.purge else []
    if not args.purge:
        cli.say_each(retention.way_back(layout, args.session))
    return ended or "\n".join(purged) or f"session {args.session}: nothing to remove"


@command(
    "end sessions that are no longer used",
    Option("max_idle", "idle for longer than this (default: 24h)"),
    now="doctor mend=1",
)
def sweep(layout: Layout, args: Arguments) -> str:
    idle = names.seconds(args.max_idle or layout.limits.payload_idle, "max_idle")
    return "\n".join(retention.sweep(layout, names.now(), idle)) or "nothing to remove"


@command(
    "rebuild a session's manifest from its files",
    Option("session", "the session to fix", required=True),
    now="doctor mend=1",
)
def repair(layout: Layout, args: Arguments) -> str:
    with retention.session_lock(layout, args.session):
        done = payloads.repair(layout, args.session, names.now())
    return "\n".join(done) or "nothing to fix"


def _session(layout: Layout, args: Arguments) -> str:
    """The session that a reading command refers to; '' if nothing names one."""
    if args.session:
        return sessions.check(args.session)
    try:
        return sessions.check(sessions.find_current(layout))
    except ContextError:
        return ""


PROGRAM = Program(
    name="payload_store",
    about=__doc__ or "",
    default="store",
    commands=(store, list_, show, find, end, sweep, repair),
)
