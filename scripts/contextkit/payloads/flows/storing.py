"""Storing a subagent's output: complete on disk if it is long, with a receipt in the context."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, names, redaction, tokens
from contextkit.base.errors import bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Callable
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Row, Told
from contextkit.payloads.documents.store import Payload
from contextkit.payloads.flows import retention

_WAITS = 2.5  # times as long as a digest, for a writer
_WRITER_SECONDS = 60.0  # for a writer, unless a host waits for a hook
_WRITER = "receipt_writer"  # its name in the ledger
_WRITER_MARK = "CONTEXTKIT_RECEIPT_WRITER"  # set for the command, so that it starts no other
_MOST_WRITTEN = 400_000  # characters of a text that are handed to a writer
SUFFIXES = (".md", ".json", ".txt")


class Output(Record):
    """A text and what its author says about it; missing fields are derived from the text."""

    topic: str
    source: str
    content: str
    tokens: int  # of the content
    summary: str = ""
    rows: tuple[Row, ...] = ()
    key_findings: str = ""
    confidence: str = ""
    sources: tuple[str, ...] = ()
    answer: str = ""  # what the author says about the text, in their own words
    status: int | None = None  # exit status of what wrote the text
    estimated: bool = False  # `tokens` is an estimate

    def check(self) -> None:
        payloads.check(self.topic, self.source, self.content)


class Stored(Record):
    """What is passed on, the author's claims that are `missing`, and `remarks` on the answer."""

    receipt: str
    path: str
    ref: str
    kind: str = ""  # what the receipt calls the text
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def reported(topic: str, source: str, text: str, answer: str = "", key: str = "") -> Output:
    """An agent's report, with uncounted tokens, and its author's answer or key words."""
    return Output(
        topic=topic, source=source, content=text, tokens=tokens.estimate(text), estimated=True,
        answer=answer, key_findings=key,
    )  # fmt: skip


def store(
    layout: Layout, session: str, output: Output, now: int, seconds: float = 0,
    passed: bool = True, read: bool = True,
) -> Stored:  # fmt: skip
    """Store the text in its session and return a receipt of at most 300 tokens.

    The text is on disk before it is read, which takes `seconds` at most. `passed`: the receipt is
    passed on in place of the text. Without `read` there is none until the author has answered.
    """
    new = _payload(layout, output, now)
    payloads.folder(layout, session)  # refuse a link before anything is created
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        path, payload = retention.keep(layout, session, new, now)
    ref = addresses.of(layout, path, "payload")
    if not read:
        return Stored(receipt="", path=path, ref=ref)
    if payload is not new:
        remark(f"the same text is stored already: {layout.shown(path)}")
    told = _told(layout, output, path, seconds)
    has_author = told.authored or output.answer or output.rows
    if layout.limits.receipt_writer and not has_author:
        answer = _by_writer(layout, output.content, ref, seconds * _WAITS or _WRITER_SECONDS)
        told = _told(layout, output.replace(answer=answer), path, seconds) if answer else told
    is_unread = payload.summary == new.summary and not output.summary
    if is_unread and told.summary not in ("", payload.summary):
        with retention.session_lock(layout, session):
            payloads.describe(layout, path, payload, told.summary, now)
    return _answer(layout, told, path, passed)


def check_target(layout: Layout, path: str, overwrite: bool) -> str:
    """The target of `path=`. Raises ContextError for a place where nothing may be kept."""
    target = layout.typed(path, "path")
    shown = layout.shown(target)
    if os.path.splitext(target)[1] not in SUFFIXES:
        raise bad_input(f"path: {path!r} must end in {', '.join(SUFFIXES)}")
    kept = (layout.payloads, layout.state, layout.join(".git"))
    if any(target.startswith(f"{place}/") for place in kept):
        raise bad_input(f"path: {shown} is not a place to keep a text: it would be removed")
    if os.path.lexists(target) and not overwrite:
        raise bad_input(f"path: {shown} already exists: overwrite=1 replaces it")
    return target


def answered(
    layout: Layout, path: str, payload: Payload, answer: str, now: int, seconds: float = 0
) -> Stored:
    """The receipt of a stored payload in the words of its author, who has answered by now."""
    stored = {name: getattr(payload, name) for name in ("topic", "source", "content", "tokens")}
    output = Output(**stored, estimated=True, answer=answer)
    told = _told(layout, output, path, seconds)
    session = os.path.basename(os.path.dirname(path))
    if told.summary:
        with retention.session_lock(layout, session):
            payloads.describe(layout, path, payload, told.summary, now)
    return _answer(layout, told, path, passed=False)


def store_at(layout: Layout, target: str, output: Output, now: int, overwrite: bool) -> Stored:
    """Store the text exactly at `target`, outside any session; it is never listed or removed."""
    payload = _payload(layout, output, now)
    told = _told(layout, output, target)
    text = output.content
    if target.endswith(".md"):
        text = payloads.render(payload.replace(summary=told.summary or payload.summary))
    if overwrite:
        files.write(target, payloads.as_bytes(text))
    else:
        files.create(target, payloads.as_bytes(text), exact=True)
    return _answer(layout, told, target)


def _payload(layout: Layout, output: Output, now: int) -> Payload:
    """The payload, with its beginning for a summary if none was given."""
    if output.summary:
        from contextkit.text.digests import reading

        sentences = len(list(reading.sentences(names.one_line(output.summary))))
        if not 2 <= sentences <= 3:
            remark(f"summary: should be two to three sentences, not {sentences}")
    most = layout.limits.payload_rows
    if len(output.rows) > most:
        remark(f"findings: {len(output.rows)} given, the first {most} are in the receipt")
    summary = names.one_line(output.summary) or names.one_line(output.content.lstrip()[:400])
    described = [output.topic.strip(), output.source.strip(), summary]
    described += filter(None, map(names.one_line, output.sources))
    (topic, source, summary, *cited), secrets = receipts.clean(layout, described)
    if secrets:
        remark(f"redacted in what is passed on: {redaction.summary(secrets)}")
    return Payload(
        topic=topic, source=source, created_at=names.iso(now), tokens=output.tokens,
        summary=summary, content=output.content, sources=tuple(cited),
    )  # fmt: skip


def _told(layout: Layout, output: Output, path: str, seconds: float = 0) -> Told:
    """The receipt's contents; without reading the text if that takes too long."""
    from contextkit.payloads.flows import telling

    first = payloads.first_line(path)
    output = output.replace(answer=receipts.claims(output.answer))
    if not seconds:
        return telling.tell(layout, output, path, first)
    try:
        return _within(seconds, lambda: telling.tell(layout, output, path, first))
    except TimeoutError:
        why = f"not digested within {seconds:g} s"
    except Exception:  # a bug in a reader of texts must not lose what is stored
        why = "could not be digested"
    return telling.unread(layout, output, path, first, why)


def _within(seconds: float, work: Callable[[], Told]) -> Told:
    """The result of `work`. Raises TimeoutError when time is up, but only in the main thread."""
    import _signal  # type: ignore[import-not-found]  # signal costs a tenth of a start

    def ring(number: int, frame: object) -> None:
        raise TimeoutError

    try:
        before = _signal.signal(_signal.SIGALRM, ring)
    except ValueError:  # not the main thread
        return work()
    try:
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
        return work()
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, before)


def _by_writer(layout: Layout, text: str, ref: str, seconds: float) -> str:
    """The answer of the user's command `receipt_writer` about a text; '' if none came in time.

    It reads a prompt with the redacted text; its answer is checked as any author's is.
    """
    if os.environ.get(_WRITER_MARK):
        return ""
    import signal
    import subprocess

    clean, _ = redaction.redacted(text[:_MOST_WRITTEN], layout.limits.secrets_allow)
    prompt = receipts.task(clean)
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", layout.limits.receipt_writer], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=os.path.expanduser("~"),
            env={**os.environ, _WRITER_MARK: "1"}, start_new_session=True,
        )  # fmt: skip
        out, _ = process.communicate(prompt.encode("utf-8", "replace"), timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ""
    except OSError:
        return ""
    answer = out.decode("utf-8", "replace").strip() if process.returncode == 0 else ""
    if answer:
        size = tokens.estimate(prompt) + tokens.estimate(answer)
        ledger.note(layout, ledger.ASKED, ref, tokens=size, agent=_WRITER)
    return answer


def _answer(layout: Layout, told: Told, path: str, passed: bool = True) -> Stored:
    """The rendered receipt; tells the user what was left out of it."""
    if told.cut:
        remark(f"receipt: {'; '.join(told.cut)}")
    if told.secrets:
        remark(f"redacted in what is passed on: {redaction.summary(list(told.secrets))}")
    text, ref = receipts.render(told.receipt), addresses.of(layout, path, "payload")
    whose = addresses.parts(ref)[1].partition("/")[0]
    if passed:
        size, kind = tokens.estimate(text), told.receipt.kind
        ledger.note(layout, ledger.RENDERED, ref, tokens=size, session=whose, kind=kind)
    return Stored(
        receipt=text, path=path, ref=ref, kind=told.receipt.kind, missing=told.missing,
        remarks=receipts.remarks(told.receipt),
    )  # fmt: skip
