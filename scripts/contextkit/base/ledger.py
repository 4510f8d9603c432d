"""The ledger: what happened to each piece of context, one line per event.

    .contextkit/ledger/2026-11.jsonl      appended by one write each; never in git

    {"v":1,"at":"2026-11-22T04:30:07Z","event":"injected","ref":"capsule:feature/demo/2026…",
     "tokens":492,"session":"s-42","agent":"measure","to":"subagent:20261122-043007-measure",
     "from":["payload:…"],"host":"claude","version":"1.0.0","program":"subagent_manager"}

Losing it loses only history. So it takes no lock, waits for nothing, and stops no command; readers
skip incomplete lines. Hot commands write here, so it adds no imports to theirs.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import files, git, host_variables, names, redaction, sessions, stores, version
from contextkit.base.errors import ContextError
from contextkit.base.filters import quoted
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator

Event = dict[str, Any]

# What can happen to a document.
STORED, RENDERED, INJECTED, SHOWN = "stored", "rendered", "injected", "shown"
ACKNOWLEDGED, CONSUMED, ENDED, REMOVED = "acknowledged", "consumed", "ended", "removed"
ASKED = "asked"  # the cost of telling an agent how to answer, of sending it back, and of its answer
DIED = "died"  # a session's process was gone without having ended it
EVENTS = (STORED, RENDERED, INJECTED, SHOWN, ACKNOWLEDGED, CONSUMED, ENDED, REMOVED, ASKED, DIED)

FORMAT = 1
HOST = "CONTEXT_HOST"  # environment variable that tells the host that called a hook
_MOST_BYTES = 4000  # in a line; up to that, lines of several processes do not mix
_LONGEST = 500  # characters in a field
_MOST_SOURCES = 40  # addresses in `from`; fewer if they are long


def note(
    layout: Layout, event: str, ref: str, *, tokens: int = 0, to: str = "",
    sources: Iterable[str] = (), session: str = "", agent: str = "", kind: str = "",
) -> None:  # fmt: skip
    """Append an event, unless there is no `ref`. Never raises.

    `tokens` is the number delivered by the event, `to` the recipient's address, `kind` the text's
    kind in its receipt, `sources` the documents that this one was made from.
    """
    if not ref:
        return
    at, identity = names.iso(names.now()), os.environ.get("CONTEXT_SUBAGENT_ID", "")
    try:
        head = git.head(layout.repository) if event == STORED else git.Head()
        fields = {
            "session": session or sessions.named(layout, head.branch.replace("/", "-"))[0],
            "agent": agent or os.environ.get("CONTEXT_AGENT", ""),
            "by": identity and f"subagent:{identity}",
            "to": to,
            "kind": kind,
        }
        line = f'{{"v":{FORMAT},"at":"{at}","event":"{event}","ref":{_text(ref)}'
        line += f',"tokens":{max(0, tokens)}' if tokens else ""
        line += f',"commit":"{head.commit}"' if head.commit else ""
        append(os.path.join(layout.ledger, at[:7] + ".jsonl"), [_line(line, fields, sources)])
    except (OSError, ContextError):
        pass  # history is lost, the document is not


def _line(head: str, fields: dict[str, str], sources: Iterable[str]) -> bytes:
    """An event as a line that begins so, with as many of its sources as it may have."""
    head += "".join(f',"{name}":{_text(value)}' for name, value in fields.items() if value)
    program = os.path.basename(sys.argv[0] if sys.argv else "").removesuffix(".py")
    there = host()
    tail = f',"host":{_text(there)}' if there else ""
    tail += f',"version":"{version.VERSION}","program":{quoted(program, always=True)}}}\n'
    listed, room = "", _MOST_BYTES - len(f"{head}{tail}".encode()) - len(',"from":[]')
    for source in list(dict.fromkeys(filter(None, sources)))[:_MOST_SOURCES]:
        more = ("," if listed else "") + _text(source)
        if len(f"{listed}{more}".encode()) > room:
            break
        listed += more
    made = f',"from":[{listed}]' if listed else ""
    return f"{head}{made}{tail}".encode()


def host() -> str:
    """The host that this runs under, as named by a hook or recognized by its environment; or ''."""
    named = os.environ.get(HOST, "")
    there = (host for variable, host in host_variables.MARKS if os.environ.get(variable))
    return named or next(there, "")


def _text(value: str) -> str:
    """A JSON string on one line, without secrets; importing `json` would be too slow."""
    text = names.one_line(value.encode("utf-8", "replace").decode("utf-8"))
    return quoted(names.clipped(redaction.redacted(text)[0], _LONGEST), always=True)


def append(path: str, lines: Iterable[bytes]) -> None:
    """Append lines, each with one write; if the file ends in an incomplete one, start a new one."""
    files.make_folder(os.path.dirname(path))
    descriptor = os.open(path, files.WRITABLE | os.O_APPEND, 0o666)
    try:
        for line in lines:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            is_whole = not end or os.pread(descriptor, 1, end - 1) == b"\n"
            os.write(descriptor, line if is_whole else b"\n" + line)
    finally:
        os.close(descriptor)


def read(layout: Layout, since: str = "") -> Iterator[Event]:
    """The events, oldest first, without those older than `ledger_days` and incomplete lines.

    `since` is a prefix of an ISO time.
    """
    since = max(since, _oldest(layout, names.now()))
    for path in months(layout):
        if os.path.basename(path)[:7] >= since[:7]:
            try:
                data = files.read_bytes(path)
            except ContextError:
                continue  # removed just now, or unreadable: only history is missing
            yield from [event for event in _events(data) if event["at"] >= since]


def _events(data: bytes) -> Iterator[Event]:
    from contextkit.base import formats

    lines = [line for line in data.split(b"\n") if line[:5] == b'{"v":']
    for event in map(formats.object_in, lines):
        get = event.get
        if get("v") == FORMAT and str is type(get("at")) is type(get("ref")) is type(get("event")):
            _settle_types(event)
            yield event


_TYPES = {"tokens": int} | dict.fromkeys(
    ("session", "agent", "by", "to", "host", "version", "program", "machine", "commit"), str
)


def _settle_types(event: Event) -> None:
    """Give every field of an event the right type, whoever wrote the line."""
    for name in _TYPES.keys() & event.keys():
        if type(event[name]) is not _TYPES[name]:
            del event[name]
    sources = event.get("from")
    listed = sources if isinstance(sources, list) else ()
    event["from"] = [source for source in listed if isinstance(source, str)]


def months(layout: Layout) -> list[str]:
    """The files, oldest first; none if the folder cannot be read."""
    there = stores.names_in(layout.ledger)
    fitting = [n for n in there if n.endswith(".jsonl") and names.shape(n[:7]) == "0000-00"]
    return [os.path.join(layout.ledger, name) for name in fitting]


def _oldest(layout: Layout, now: int) -> str:
    return names.iso(max(0, now - layout.limits.ledger_days * 86_400))


def sweep(layout: Layout, now: int) -> None:
    """Remove the months whose events are all too old. Never raises."""
    oldest = _oldest(layout, now)[:7]
    for path in months(layout):
        if os.path.basename(path)[:7] < oldest:
            try:
                os.unlink(path)
            except OSError:
                continue
