"""Summarize a long output in few tokens: what failed, how it ended, and where the whole is."""

from __future__ import annotations

import bisect
import itertools
import os
import re
import sys

from contextkit.base import addresses, files, ledger, names, outgoing, redaction, sessions, tokens
from contextkit.base.errors import ContextError
from contextkit.base.expressions import MADE
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator
from contextkit.outputs.flows import pump
from contextkit.outputs.flows.pump import Job
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.settings import Limits
    from contextkit.text.digests import engine
_OVER = 2000  # tokens, for a call by hand where the settings turn the hook off
_DAY = 86_400
_ROWS = 60
# `make bench what=peers` compares lossless forms with those of other tools.
_SHARE, _MOST = 0.4, 10_000  # share of the output, and tokens, of a lossless form
_LEAST_SHARE = 0.05  # share of the output that nearly every such form has
_SAVES = 0.8  # share of the output, for a form that would be short as an output of its own
_FAILURE = re.compile(
    r"error|fail|warn|fatal|denied|not found|no such|exception|\*\*\*|panic|cannot|can't|undefined"
    r"|missing|abort|killed|timed? ?out|unable|invalid|refused|more",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\W*(?:fail|error|fatal|make\S* \*\*\*|\w+(?:Error|Exception):)", re.IGNORECASE
)
_ENTRIES = ("+", "-", " ", "\t")  # the beginnings of a form's lines that are taken from the text
_LEAST, _STEP = 150, 50  # tokens tried for the failures alone, before there is room for the rest
_FIRST_AT = re.compile(r"( with failure words, first at )(\d+)")
_STATUS = re.compile(r"^exit status -?\d+(?: \(or more\))?(?:; |$)")  # the first line has it
_REMARK = re.compile(r" (?:\[[^\[\]]+\]|\((?!x\d)[^()]+\))$")
_AHEAD = 3 << 20  # bytes that are read ahead while a command runs
_NEEDED = ("contextkit.text.compaction", "contextkit.text.digests.engine",
           "contextkit.base.secret_search", "contextkit.compiled.payload_md",
           "hashlib", "csv", "unicodedata")  # fmt: skip
_SAMPLE = 8192  # characters by which text is recognized
_TOPIC = 100  # characters
_SIGNALS = {1: "HUP", 2: "INT", 3: "QUIT", 6: "ABRT", 9: "KILL", 11: "SEGV", 13: "PIPE", 15: "TERM"}
# Colors, movements of the cursor, titles of the window.
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_OVERWRITTEN = re.compile(r"^.*\r(?!$)", re.MULTILINE)


def read_ahead(job: Job) -> Iterator[bool]:
    """Load what a digest needs and read the output so far, in small steps; whether more is left."""
    for _ in _loaded():
        yield True
    from contextkit.text.digests import pieces, reading

    read = 0
    while True:
        kept = job.output.kept
        if kept and read + pieces.PIECE < kept.size < _AHEAD:
            text = plain(kept.parts()[0].decode("utf-8", "surrogateescape"))
            for _ in pieces.read_ahead(reading.readable(text)):
                yield True
            if not read:  # what is done for the first time takes longer
                part = text[: 2 * pieces.PIECE]
                told = Told(content=part, topic="", source="", session="", status=1)
                _digest(Layout(job.options.get("root", "")), told, part, "")
            read = kept.size
        yield False


def _loaded() -> Iterator[None]:
    """Load the modules of a digest, step by step."""
    for module in _NEEDED:
        __import__(module)
        yield
    from contextkit.text.digests import engine

    engine.digest("x\n", _LEAST)
    yield
    tokens.size("x")
    for pattern in MADE:
        yield
        _ = pattern.compiled


def _left_behind(layout: Layout) -> list[str]:
    """The outputs of killed runs, each reported once; old ones are removed."""
    folder = os.path.join(layout.state, pump.FOLDER)
    paths = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        process, path = name.partition("-")[0], os.path.join(folder, name)
        if not process.isdigit() or sessions.is_running(int(process)):
            continue
        try:
            if name.endswith(".out"):
                left = path.removesuffix(".out") + ".left"
                os.replace(path, left)
                paths.append(left)
            elif names.now() - os.stat(path).st_mtime > _DAY:
                os.unlink(path)
        except FileNotFoundError:
            continue  # its run ended just now, or another process reports it
    return paths


def so_far(job: Job) -> str:
    """The line about a command that runs longer than its host waits."""
    kept = job.output.kept
    assert kept
    path = Layout(job.options.get("root", "")).shown(kept.path)
    return f"[still running after {job.seconds:.0f} s; what it printed so far: {path}]\n"


def tell(job: Job) -> None:
    """Print the output if it is short, else store it and print its digest; all if that fails."""
    try:
        text = _told(job)
    except Exception as error:
        problem = str(error) if isinstance(error, ContextError) else repr(error)
        why = getattr(error, "strerror", "") or problem
        sys.stderr.write(f"run: the output is not shortened: {outgoing.name(why)}\n")
        text = ""
    if text:
        pump.write(1, text.encode("utf-8", "surrogateescape"))
        job.output.forget()
    else:
        job.output.pass_all()


def _told(job: Job) -> str:
    """The text to print in place of the output; empty if it is short."""
    assert job.output.kept
    layout = Layout(job.options.get("root", ""))
    beginning, missing, end = job.output.kept.parts()
    gap = f"\n[{missing:,} bytes are not kept]\n".encode() if missing else b""
    content = (beginning + gap + end).decode("utf-8", "surrogateescape")
    estimated = tokens.estimate(content)
    if estimated <= (job.over or layout.limits.hook_tool_output_tokens or _OVER):
        return ""
    told = Told(
        content=content,
        estimated=estimated,
        topic=job.options.get("of", "") or " ".join(job.command),
        source="run",
        session=job.options.get("session", ""),
        ending=f"{ending(job.status, job.signal)} after {job.seconds:.1f} s",
        size=job.output.size if missing else 0,
        status=job.status,
    )
    lost = [f"[cut off when its run was killed: {layout.shown(path)}]\n"
            for path in _left_behind(layout)]  # fmt: skip
    return digested(layout, told) + "".join(lost)


class Told(Record):
    """An output and its context: how it ended, in words, and its bytes if some are missing.

    estimated: the tokens of `content`, 0 where nobody asked.
    """

    content: str
    topic: str
    source: str
    session: str
    ending: str = ""
    size: int = 0
    estimated: int = 0
    status: int | None = None


def digested(layout: Layout, told: Told) -> str:
    """Store the output; return its digest: the end, what matters, and where the whole is."""
    from contextkit.text.digests import pieces, reading

    size = told.estimated or tokens.estimate(told.content)
    away = "" if layout.here == layout.root else f" in {layout.root}"
    text, head = plain(told.content), _head(told, size, away)
    with pieces.helper(reading.readable(text)):  # it reads while a lossless form is tried
        if body := compacted(text, size, layout.limits):
            path, before = _stored(layout, told, size, body.split("\n")[0])
            body = _failures_first(body, text, before) if told.status else body
        else:
            digest = _digest(layout, told, text, head)
            first = digest.key or (digest.rows[0].finding if digest.rows else "")
            path, before = _stored(layout, told, size, first)
            body = _rows(digest, before) or _beginning(text, before)
    message = _shown(head, body, layout.shown(path))
    message = outgoing.told(message, layout.limits.secrets_allow, quoted=True)
    ref = addresses.of(layout, path, "payload")
    session = addresses.parts(ref)[1].partition("/")[0]
    ledger.note(layout, ledger.RENDERED, ref, tokens=tokens.estimate(message), session=session)
    return message


def compacted(text: str, size: int, limits: Limits) -> str:
    """The text in a shorter form that loses nothing, or says what it does; '' if all are long."""
    from contextkit.text import compaction

    passes = min(int(_SAVES * size), limits.hook_tool_output_tokens or _OVER)
    most = max(passes, min(int(_SHARE * size), _MOST))

    def fits(short: str, most: int = most) -> bool:
        return bool(short) and tokens.within(short, most, limits.tokenizer)

    may_fit = size * _LEAST_SHARE <= most
    whole = compaction.compacted(text) if may_fit else ""
    if fits(whole):
        return whole
    lean = compaction.compacted(text, lean=True) if whole or not may_fit else ""
    return lean if fits(lean, passes) else ""


def _failures_first(short: str, text: str, before: int) -> str:
    """A lossless form, with the messages between its entries moved above them.

    A message is a line of the text that the form left as it was.
    """
    lines = short.split("\n")
    kept = {line for line in lines if _FAILURE.search(line) and line[:1] not in _ENTRIES}
    messages = [(n, line) for n, line in enumerate(text.split("\n"), before + 1) if line in kept]
    moved = {line for _, line in messages}
    first = [f"{number}: {line}" for number, line in messages]
    return "\n".join([*first, *(line for line in lines if line not in moved)])


def _digest(layout: Layout, told: Told, text: str, head: str) -> engine.Digest:
    """The digest that fits, with all that is shown; for a failure, the shortest uncut one."""
    from contextkit.text.digests import engine

    limits = layout.limits
    line = told.content.count("\n")
    path = f"{layout.shown(layout.payloads)}/{told.session}/{'x' * (_TOPIC // 2)}"
    parsed = engine.ParsedText(text, limits.tokenizer, told.status)

    def shown(digest: engine.Digest) -> int:
        return tokens.size(_shown(head, _rows(digest, line), path), limits.tokenizer)

    def within(cap: int) -> engine.Digest:
        return parsed.digest(cap, _ROWS, shown)

    def is_uncut(cap: int) -> bool:
        digest = within(cap)
        return not _lacks(digest) and _cuts(digest) <= _cuts(whole)

    whole = within(limits.tool_output_tokens)
    names_failure = _FAILURE.search(_rows(whole, line))
    if not told.status or not names_failure or _lacks(whole):
        return whole
    caps = range(_LEAST, limits.tool_output_tokens, _STEP)
    enough = [*caps[bisect.bisect_left(caps, True, key=is_uncut) :], limits.tool_output_tokens][0]
    return _of_failure(within(enough))


def _of_failure(digest: engine.Digest) -> engine.Digest:
    """The digest of a failing command reduced to its failure, if some of it is about that."""
    kept = []
    for row in digest.rows:
        sentences = [each for each in row.finding.split("; ")
                     if _FAILURE.search(each) and "===" not in each]  # fmt: skip
        if row.aspect or sentences:
            kept.append(row if row.aspect else row._replace(finding="; ".join(sentences)))
    return digest._replace(rows=tuple(kept)) if kept else digest


def _lacks(digest: engine.Digest) -> bool:
    """Whether something that must be shown is only counted."""
    return any(row.aspect == "more" or row.finding.startswith("+") for row in digest.rows)


def _cuts(digest: engine.Digest) -> int:
    """The number of statements that are cut off."""
    return sum(row.finding.count("…") for row in digest.rows)


def _rows(digest: engine.Digest, before: int) -> str:
    """The digest's rows, each with its line in the file where `before` lines come first."""

    def placed(finding: str) -> str:
        return _FIRST_AT.sub(lambda at: f"{at[1]}{int(at[2]) + before}", _STATUS.sub("", finding))

    rows = [(row.line, row.aspect, placed(row.finding)) for row in digest.rows]
    lines = [f"{line + before}: {_each(_said(aspect, finding))}" for line, aspect, finding in rows
             if finding and aspect != "size"]  # fmt: skip
    key = _STATUS.sub("", digest.key)
    if key and not any(key in line for line in lines):
        lines.insert(0, f"{digest.at + before}: {key}" if digest.at else key)
    return "\n".join(lines)


def _beginning(text: str, before: int) -> str:
    """The first line of the text that is not blank, cut, with its line in the file."""
    lines = enumerate(text.split("\n"), before + 1)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    return f"{first[0]}: {names.clipped(first[1].strip(), _TOPIC)}" if first else ""


def _shown(head: str, body: str, path: str) -> str:
    return "\n".join([head, body, f"@stored: {path}", ""])


def _said(aspect: str, finding: str) -> str:
    """The text of a row, with its aspect only once: `warning: a.c:7:1: unused variable`."""
    says_so = _FAILS if aspect == "failed" else re.compile(re.escape(aspect), re.IGNORECASE)
    if says_so.match(finding):
        return finding
    return f"{aspect}: {finding.replace(f': {aspect}: ', ': ')}"


def _each(finding: str) -> str:
    """Statements, where a remark in brackets that ends several in a row is shown once.

    `a.c:1: unused variable 'b'; c.c:2: unused variable 'd'; each [-Wunused]`
    """

    def remark(statement: str) -> str:
        match = _REMARK.search(statement)  # none is a count
        return match[0] if match else ""

    statements: list[str] = []
    for ending, some in itertools.groupby(finding.split("; "), remark):
        same = list(some)
        once = bool(ending) and len(same) > 1
        statements += [text.removesuffix(ending) for text in same] if once else same
        statements += [f"each{ending}"] if once else []
    return "; ".join(statements)


def _head(told: Told, size: int, away: str) -> str:
    """The first line: how the command ended, how much it printed, the start of its path."""
    count = told.content.count("\n") + (not told.content.endswith("\n"))
    amount = f"{count:,} line{'s' * (count != 1)}, ~{size:,} token{'s' * (size != 1)}"
    if told.size:
        amount = f"{told.size:,} bytes, of which the first and last are kept: {amount}"
    parts = [told.ending, amount, f"lines as in @stored{away}"]
    return f"[{'; '.join(filter(None, parts))}]"


def ending(status: int | None, signal: int) -> str:
    """How a command ended: `exit 1`, `killed by SIGTERM`."""
    if status is None:
        return f"interrupted by SIG{_SIGNALS.get(signal, signal)}" if signal else "ended, killed"
    if status > 128 and status - 128 in _SIGNALS:
        return f"killed by SIG{_SIGNALS[status - 128]}, exit {status},"
    return f"exit {status}"


def plain(text: str) -> str:
    """A terminal's output in its final state: without colors and overwritten lines."""
    if "\0" in text[:_SAMPLE]:
        return text
    if "\x1b" in text:
        text = _CONTROLS.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    return text


def _stored(layout: Layout, told: Told, size: int, summary: str) -> tuple[str, int]:
    """Store the output; return its path and the number of lines above it in the file."""
    now = names.now()
    session = told.session or sessions.current(layout, "", now)[0]
    allowed = layout.limits.secrets_allow
    payload = payloads.Payload(
        topic=redaction.redacted(_line(told.topic)[:_TOPIC], allowed)[0],
        source=told.source,
        created_at=names.iso(now),
        tokens=size,
        summary=redaction.redacted(_line(summary), allowed)[0],
        content=told.content,
    )
    payloads.folder(layout, session)  # refuse a link before anything is created
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        path = payloads.save(layout, session, payload, now)
    files.settle()
    return path, payloads.first_line(path) - 1


def _line(text: str) -> str:
    """`text` as one line that a document's field takes."""
    return names.one_line(text) or "output"
