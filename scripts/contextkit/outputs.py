"""The flow of a subagent's output: whole on disk when it is long, a receipt in the context."""

from __future__ import annotations

import os

from contextkit import facts, files, names, payloads, receipts, retention, summaries, tokens
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.payloads import Payload
from contextkit.receipts import Receipt
from contextkit.records import Record
from contextkit.summaries import Row

_SUFFIXES = (".md", ".json", ".txt")


class Output(Record):
    """A text and what its author says of it; what is left out is taken from the text itself."""

    topic: str
    source: str
    content: str
    summary: str = ""
    rows: tuple[Row, ...] = ()
    key_findings: str = ""
    confidence: str = ""
    sources: tuple[str, ...] = ()
    tokens: int | None = None  # an exact count, where the caller has one


class Stored(Record):
    receipt: str
    path: str
    notes: tuple[str, ...] = ()


def is_long(layout: Layout, output: Output, budget: int | None) -> bool:
    """Whether the text is above the budget (500 tokens, or what the caller says)."""
    return size(output) > (layout.limits.payload_budget if budget is None else budget)


def size(output: Output) -> int:
    return output.tokens if output.tokens is not None else tokens.estimate(output.content)


def store(layout: Layout, session: str, output: Output, now: int) -> Stored:
    """Store the text in its session and say so in a receipt of at most 300 tokens."""
    payload, receipt, notes = _prepared(layout, output, now)
    payloads.folder(layout, session)  # a bad session id is refused before anything is made
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        path = payloads.save(layout, session, payload, now)
    return _answer(layout, receipt, path, notes)


def store_at(
    layout: Layout, path: str, output: Output, now: int, overwrite: bool = False
) -> Stored:
    """Store the text exactly at `path`, outside any session: it is never listed nor removed."""
    target = layout.typed(path, "path")
    suffix = os.path.splitext(target)[1]
    if suffix not in _SUFFIXES:
        raise bad_input(f"path: {path!r} must end in {', '.join(_SUFFIXES)}")
    if os.path.lexists(target) and not overwrite:
        raise bad_input(f"path: {layout.shown(target)} is there already: overwrite=1 replaces it")
    payload, receipt, notes = _prepared(layout, output, now)
    files.write(target, payloads.render(payload) if suffix == ".md" else output.content)
    return _answer(layout, receipt, target, notes)


def _prepared(layout: Layout, output: Output, now: int) -> tuple[Payload, Receipt, list[str]]:
    """The payload and its receipt (without a path yet), everything checked, nothing written."""
    notes = []
    sections = summaries.sections(output.content)
    summary = names.one_line(output.summary) or summaries.summary(sections)
    said = len(summaries.sentences(summary))
    if output.summary and not 2 <= said <= 3:
        notes.append(f"summary: {said} sentences; two to three are meant")
    most = layout.limits.payload_rows
    if len(output.rows) > most:
        notes.append(f"findings: {len(output.rows)} given, the first {most} are in the receipt")
    rows = output.rows[:most] or tuple(summaries.rows(sections, most))
    payload = Payload(
        topic=output.topic.strip(),
        source=output.source.strip(),
        created_at=names.iso(now),
        tokens=size(output),
        summary=summary,
        content=output.content,
        sources=tuple(names.one_line(source) for source in output.sources),
    )
    receipt = Receipt(
        path="",
        rows=tuple(Row(aspect=r.aspect, finding=names.one_line(r.finding)) for r in rows),
        key_findings=names.one_line(output.key_findings) or summaries.key_findings(sections),
        confidence=output.confidence or summaries.confidence(output.content),
        tokens_stored=payload.tokens,
        all_facts=tuple(facts.find(output.content)),
    )
    return payload, receipt, notes


def _answer(layout: Layout, receipt: Receipt, path: str, notes: list[str]) -> Stored:
    shown = layout.shown(path)
    final, cut = receipts.clipped(receipt.replace(path=shown), layout.limits.payload_receipt_tokens)
    said = [f"receipt: {'; '.join(cut)}"] if cut else []
    return Stored(receipt=receipts.render(final), path=path, notes=(*notes, *said))


def find(layout: Layout, ref: str, session: str, now: int) -> str:
    """The file of a payload: by id, path, `latest` or a whole `@stored:` line.

    An id is looked for in `session`, then in all, then in those that ended within the grace
    period. Reading a payload counts as using its session. Raises ContextError where there is none.
    """
    text = ref.strip()
    if text.lstrip('"').startswith("@stored"):
        text = receipts.parse_path(text.partition("\n")[0])
    if "/" in text or text.endswith(_SUFFIXES):
        return _by_path(layout, text, now)
    if text == "latest":
        return _latest(layout, session, now)
    others = [name for name in payloads.sessions(layout) if name != session]
    for name in (*([session] if session else []), *others):
        path = os.path.join(layout.payloads, name, text + ".md")
        if payloads.names_a_payload(text) and os.path.isfile(path):
            return _used(layout, name, path, now)
    ended = retention.session_of(layout, text) if payloads.names_a_payload(text) else ""
    if ended:
        return _resumed(layout, ended, text, now)
    raise _unknown(layout, text, session)


def _by_path(layout: Layout, text: str, now: int) -> str:
    path = layout.typed(layout.join(text), "ref")
    if not os.path.isfile(path) and os.path.isfile(os.path.join(layout.here, text)):
        path = layout.typed(text, "ref")
    session, identity = os.path.split(os.path.relpath(path, layout.payloads))
    ours = bool(session) and "/" not in session and not session.startswith("..")
    if os.path.isfile(path):
        return _used(layout, session, path, now) if ours else path
    if ours and payloads.names_a_payload(identity.removesuffix(".md")):
        return _resumed(layout, session, identity.removesuffix(".md"), now)
    raise ContextError(f"{layout.shown(path)}: there is no such file")


def _resumed(layout: Layout, session: str, identity: str, now: int) -> str:
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
    path = os.path.join(payloads.folder(layout, session), identity + ".md")
    if os.path.isfile(path):
        return _used(layout, session, path, now)
    words = retention.last_words(layout, session)
    raise ContextError(
        f"{identity}: session {session} has ended and its payloads are gone"
        + (f" ({words})" if words else "")
    )


def _latest(layout: Layout, session: str, now: int) -> str:
    if session:
        with retention.session_lock(layout, session):
            retention.resume(layout, session, now)
    for name in [session] if session else payloads.sessions(layout)[::-1]:
        entries = payloads.load_all(layout, name)
        if entries:
            path = os.path.join(payloads.folder(layout, name), entries[-1]["path"])
            return _used(layout, name, path, now)
    raise _unknown(layout, "latest", session)


def _used(layout: Layout, session: str, path: str, now: int) -> str:
    """`path`, after noting that its session is in use."""
    manifest = os.path.join(payloads.folder(layout, session), payloads.MANIFEST)
    if os.path.isfile(manifest):
        payloads.touch(manifest, now)
    return path


def _unknown(layout: Layout, ref: str, session: str) -> ContextError:
    names_here = [session] if session in payloads.sessions(layout) else payloads.sessions(layout)
    known = [entry["id"] for name in names_here for entry in payloads.load_all(layout, name)]
    shown = ", ".join(known[-10:]) + (f" and {len(known) - 10} older" if len(known) > 10 else "")
    return ContextError(f"{ref}: no such payload; there are: {shown or 'none'}")
