"""Tell a long output in few tokens: what failed and how it ended, and where the whole is."""

from __future__ import annotations

import os
import re
import sys

from contextkit.base import files, names, outgoing, redaction, sessions, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.outputs.flows import pump
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.outputs.flows.running import Job

FOLDER = "outputs"  # below the toolkit's own state: outputs of commands that still run
_OVER = 2000  # tokens, where the settings turn the hook off and somebody asks for it by hand
_ROWS = 60
_TOPIC = 100  # characters
_SIGNALS = {1: "HUP", 2: "INT", 3: "QUIT", 6: "ABRT", 9: "KILL", 11: "SEGV", 13: "PIPE", 15: "TERM"}
# Colors, movements of the cursor, titles of the window.
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_OVERWRITTEN = re.compile(r"^.*\r(?!$)", re.MULTILINE)


def place(job: Job) -> str:
    """Return the path of a new file for an output that is getting long."""
    layout = Layout(job.options.get("root", ""))
    folder = os.path.join(files.store(layout.state), FOLDER)
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"{os.getpid()}-{os.urandom(3).hex()}.out")


def so_far(job: Job) -> str:
    """Return the line for a command that runs longer than its host waits."""
    kept = job.output.kept
    assert kept
    path = Layout(job.options.get("root", "")).shown(kept.path)
    return f"[still running after {job.seconds:.0f} s; what it printed so far: {path}]\n"


def tell(job: Job) -> None:
    """Print the output if it is short, else store it and print its digest.

    Whatever goes wrong, the output is passed on, whole.
    """
    try:
        text = _told(job)
    except Exception as error:
        why = str(error) if isinstance(error, (ContextError, OSError)) else repr(error)
        sys.stderr.write(f"run: the output is not shortened: {outgoing.name(why)}\n")
        text = ""
    if text:
        pump.write(1, text.encode("utf-8", "surrogateescape"))
        job.output.forget()
    else:
        job.output.pass_all()


def _told(job: Job) -> str:
    """Return what to print of the output; empty if it is short."""
    assert job.output.kept
    layout = Layout(job.options.get("root", ""))
    beginning, missing, end = job.output.kept.parts()
    gap = f"\n[{missing:,} bytes are not kept]\n".encode() if missing else b""
    content = (beginning + gap + end).decode("utf-8", "surrogateescape")
    if tokens.estimate(content) <= (job.over or layout.limits.hook_tool_output_tokens or _OVER):
        return ""
    told = Told(
        content=content,
        topic=job.options.get("of", "") or " ".join(job.command),
        source="run",
        session=job.options.get("session", ""),
        ending=f"{ending(job.status, job.signal)} after {job.seconds:.1f} s",
        size=job.output.size if missing else 0,
        status=job.status,
    )
    return digested(layout, told)


class Told(Record):
    """An output and what is known of it.

    ending: how the command ended, in words. size: its bytes, where `content` lacks some of them.
    """

    content: str
    topic: str
    source: str
    session: str
    ending: str = ""
    size: int = 0
    status: int | None = None


def digested(layout: Layout, told: Told) -> str:
    """Store the output; return its digest: how it ended, what matters, where the whole is."""
    from contextkit.text.digests import engine

    limits = layout.limits
    size = tokens.estimate(told.content)
    digest = engine.digest(plain(told.content), limits.tool_output_tokens,
                           tokenizer=limits.tokenizer, most_rows=_ROWS)  # fmt: skip
    first = digest.rows[0].finding if digest.rows else digest.key
    path, before = _stored(layout, told, size, first)
    lines = [f"{row.line + before}: {_said(row.aspect, row.finding)}" for row in digest.rows]
    if digest.key and not any(digest.key in line for line in lines):
        lines.insert(0, f"{digest.at + before}: {digest.key}" if digest.at else digest.key)
    said = "\n".join([_head(told, size), *lines, f"@stored: {layout.shown(path)}", ""])
    return outgoing.told(said, limits.secrets_allow)


def _said(aspect: str, finding: str) -> str:
    return f"{aspect}: {finding}" if aspect else finding


def _head(told: Told, size: int) -> str:
    """Return the first line: how the command ended, and how much it printed."""
    count = told.content.count("\n") + (not told.content.endswith("\n"))
    amount = f"{told.size:,} bytes" if told.size else f"{count:,} lines, ~{size:,} tokens"
    parts = [told.ending, amount, "shortened; numbers are lines of the file @stored"]
    return f"[{'; '.join(filter(None, parts))}]"


def ending(status: int | None, signal: int) -> str:
    """Return how a command ended: `exit 1`, `killed by SIGTERM`."""
    if status is None:
        return f"interrupted by SIG{_SIGNALS.get(signal, signal)}" if signal else "ended, killed"
    if status > 128 and status - 128 in _SIGNALS:
        return f"killed by SIG{_SIGNALS[status - 128]}, exit {status},"
    return f"exit {status}"


def plain(text: str) -> str:
    """Return a terminal's output as it would last be seen: no colors, overwritten lines gone."""
    if "\x1b" in text:
        text = _CONTROLS.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    return text


def _stored(layout: Layout, told: Told, size: int, summary: str) -> tuple[str, int]:
    """Store the output; return its path and how many lines of the file are before it."""
    now = names.now()
    session = told.session or sessions.current(layout, "", now)[0]
    allowed = layout.limits.secrets_allow
    payload = payloads.Payload(
        topic=redaction.redacted(_printable(told.topic)[:_TOPIC], allowed)[0],
        source=told.source,
        created_at=names.iso(now),
        tokens=size,
        summary=redaction.redacted(_printable(summary), allowed)[0],
        content=told.content,
    )
    payloads.folder(layout, session)  # refuse a link before anything is created
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        path = payloads.save(layout, session, payload, now)
    files.settle()
    with open(path, "rb") as file:
        head = file.read(1 << 16).partition(b"\n## Full Content\n\n")[0]
    return path, head.count(b"\n") + 3


def _printable(text: str) -> str:
    """Return `text` as one line that a document's field takes."""
    line = names.one_line("".join(char if char.isprintable() else " " for char in text))
    return line.strip() or "output"
