"""The flow of a subagent's output: whole on disk when it is long, a receipt in the context."""

from __future__ import annotations

import os

from contextkit.base import addresses, facts, files, ledger, names, redaction, sessions, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.payloads.documents import receipts, summaries
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Receipt
from contextkit.payloads.documents.store import Payload
from contextkit.payloads.documents.summaries import Row
from contextkit.payloads.flows import retention

_SUFFIXES = (".md", ".json", ".txt")


class Output(Record):
    """A text and what its author says of it; what is left out is taken from the text itself."""

    topic: str
    source: str
    content: str
    tokens: int  # of the content
    summary: str = ""
    rows: tuple[Row, ...] = ()
    key_findings: str = ""
    confidence: str = ""
    sources: tuple[str, ...] = ()


class Stored(Record):
    receipt: str
    path: str
    notes: tuple[str, ...] = ()


def check(output: Output) -> None:
    """Raise ContextError for what cannot be stored, whatever its length."""
    payloads.check(output.topic, output.source, output.content)


def store(layout: Layout, session: str, output: Output, now: int) -> Stored:
    """Store the text in its session and say so in a receipt of at most 300 tokens."""
    payload, receipt, notes = _prepared(layout, output, now)
    path = _save(layout, session, payload, now)
    return _answer(layout, receipt, path, notes)


def keep(layout: Layout, session: str, output: Output, now: int) -> str:
    """As `store`, where nobody reads a receipt: the payload's path."""
    payload, _, _ = _prepared(layout, output, now)
    return _save(layout, session, payload, now)


def _save(layout: Layout, session: str, payload: Payload, now: int) -> str:
    payloads.folder(layout, session)  # a link is refused before anything is made
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        return payloads.save(layout, session, payload, now)


def check_target(layout: Layout, path: str, overwrite: bool) -> str:
    """Where `path=` leads. Raises ContextError for a place where nothing may be kept."""
    target = layout.typed(path, "path")
    if os.path.splitext(target)[1] not in _SUFFIXES:
        raise bad_input(f"path: {path!r} must end in {', '.join(_SUFFIXES)}")
    for kept in (layout.payloads, layout.state, layout.join(".git")):
        if target.startswith(kept + "/"):
            raise bad_input(f"path: {layout.shown(target)} is no place to keep a text: it would go")
    if os.path.lexists(target) and not overwrite:
        raise bad_input(f"path: {layout.shown(target)} is there already: overwrite=1 replaces it")
    return target


def store_at(layout: Layout, target: str, output: Output, now: int, overwrite: bool) -> Stored:
    """Store the text exactly at `target`, outside any session: it is never listed nor removed."""
    payload, receipt, notes = _prepared(layout, output, now)
    text = payloads.render(payload) if target.endswith(".md") else output.content
    if overwrite:
        files.write(target, text)
    else:
        files.create(target, text, exact=True)
    return _answer(layout, receipt, target, notes)


def _prepared(layout: Layout, output: Output, now: int) -> tuple[Payload, Receipt, list[str]]:
    """The payload and its receipt (without a path yet), everything checked, nothing written."""
    notes = []
    sections = summaries.sections(output.content)
    extract = names.one_line(summaries.summary(sections)) or names.one_line(
        output.content.strip()[:400]
    )
    summary = names.one_line(output.summary) or extract
    said = len(list(summaries.sentences(summary)))
    if output.summary and not 2 <= said <= 3:
        notes.append(f"summary: two to three sentences are meant, not {said}")
    most = layout.limits.payload_rows
    if len(output.rows) > most:
        notes.append(f"findings: {len(output.rows)} given, the first {most} are in the receipt")
    rows = output.rows[:most] or tuple(summaries.rows(sections, most))
    payload = Payload(
        topic=output.topic.strip(),
        source=output.source.strip(),
        created_at=names.iso(now),
        tokens=output.tokens,
        summary=summary,
        content=output.content,
        sources=tuple(filter(None, map(names.one_line, output.sources))),
    )
    receipt = Receipt(
        path="",
        rows=rows or (Row(aspect="Content", finding=summary or payload.topic),),
        key_findings=names.one_line(output.key_findings)
        or names.one_line(summaries.key_findings(sections))
        or summary,
        confidence=output.confidence or summaries.confidence(output.content),
        tokens_stored=payload.tokens,
        all_facts=tuple(facts.find(output.content)),
    )
    return _without_secrets(layout, payload, receipt, notes)


def _without_secrets(
    layout: Layout, payload: Payload, receipt: Receipt, notes: list[str]
) -> tuple[Payload, Receipt, list[str]]:
    """What travels on, without secrets; the text itself stays as it was stored."""
    allowed = layout.limits.secrets_allow
    secrets: list[redaction.Secret] = []

    def clean(text: str) -> str:
        text, found = redaction.redacted(text, allowed)
        secrets.extend(found)
        return text

    rows = (Row(aspect=clean(row.aspect), finding=clean(row.finding)) for row in receipt.rows)
    receipt = receipt.replace(rows=tuple(rows), key_findings=clean(receipt.key_findings))
    payload = payload.replace(
        topic=clean(payload.topic),
        source=clean(payload.source),
        summary=clean(payload.summary),
        sources=tuple(map(clean, payload.sources)),
    )
    said = [f"redacted in what travels on: {redaction.summary(secrets)}"] if secrets else []
    return payload, receipt, [*notes, *said]


def _answer(layout: Layout, receipt: Receipt, path: str, notes: list[str]) -> Stored:
    shown = layout.shown(path)
    final, cut = receipts.clipped(receipt.replace(path=shown), layout.limits.payload_receipt_tokens)
    said = [f"receipt: {'; '.join(cut)}"] if cut else []
    text, ref = receipts.render(final), addresses.of(layout, path, "payload")
    ledger.note(layout, ledger.RENDERED, ref, tokens=tokens.estimate(text))
    return Stored(receipt=text, path=path, notes=(*notes, *said))


def find(layout: Layout, ref: str, session: str, now: int, only: bool = False) -> str:
    """The file of a payload: by id, path, `latest` or a whole `@stored:` line.

    An id is looked for in `session`, then (unless `only` there) in all, then in those that ended
    within the grace period. Reading a payload counts as using its session. Raises ContextError
    where there is none.
    """
    text = receipts.parse_path(ref) if "@stored" in ref else ref.strip()
    name = addresses.bare(text, "payload")
    text = f"{layout.places.payloads}/{name}.md" if name != text and "/" in name else name
    found = _typed(layout, text)
    if found or "/" in text:
        return _by_path(layout, found or layout.typed(layout.join(text), "ref"), now)
    retention.wake(layout, session, now)
    others = [] if only else [n for n in payloads.sessions_in(layout) if n != session]
    searched = [session, *others] if session else others
    if text == "latest":
        return _latest(layout, searched, now)
    identity = text.removesuffix(".md")
    if not sessions.is_name(identity):
        raise _unknown(layout, text, searched)
    for name in searched:
        path = os.path.join(payloads.folder(layout, name), identity + ".md")
        if os.path.isfile(path):
            return _used(layout, name, path, now)
    ended = "" if only else retention.session_of(layout, identity, now)
    if ended:
        return _resumed(layout, ended, identity, now)
    raise _unknown(layout, text, searched)


def _typed(layout: Layout, text: str) -> str:
    """The file at a path relative to the root, else to the current directory; empty if none is."""
    for base in (layout.root, layout.here):
        path = os.path.join(base, text)
        if text.endswith(_SUFFIXES) and os.path.isfile(path):
            return layout.typed(path, "ref")
    return ""


def _by_path(layout: Layout, path: str, now: int) -> str:
    session, name = os.path.split(os.path.relpath(path, layout.payloads))
    identity = name.removesuffix(".md")
    if sessions.is_name(session) and sessions.is_name(identity):
        return _resumed(layout, session, identity, now)
    if not os.path.isfile(path):
        raise ContextError(f"{layout.shown(path)}: there is no such file")
    return path  # kept with `path=`


def _resumed(layout: Layout, session: str, identity: str, now: int) -> str:
    retention.wake(layout, session, now)
    path = os.path.join(payloads.folder(layout, session), identity + ".md")
    if not os.path.isfile(path):
        raise _unknown(layout, identity, [session])
    return _used(layout, session, path, now)


def _latest(layout: Layout, searched: list[str], now: int) -> str:
    """The newest payload of the first session; where that has none, the newest of all."""
    for some in (searched[:1], searched[1:]):
        found = [path for name in some if (path := payloads.latest(layout, name))]
        if found:
            path = max(found, key=os.path.basename)  # names begin with the time
            return _used(layout, os.path.basename(os.path.dirname(path)), path, now)
    raise _unknown(layout, "latest", searched)


def _used(layout: Layout, session: str, path: str, now: int) -> str:
    """`path`, after noting that its session is in use."""
    path = files.inside(layout.root, path, "ref")  # the file may be a link that leads out
    try:
        payloads.touch(os.path.join(payloads.folder(layout, session), payloads.MANIFEST), now)
    except OSError:
        pass  # no manifest yet, ended just now, or a read-only disk: it can be read all the same
    return path


def _unknown(layout: Layout, ref: str, searched: list[str]) -> ContextError:
    for session in searched[:1]:
        words = retention.last_words(layout, session)
        if words and session not in payloads.sessions_in(layout):
            return ContextError(
                f"{ref}: session {session} has ended and its payloads are gone ({words})"
            )
    found = [path for name in searched for path in payloads.documents(layout, name)]
    known = [os.path.basename(path).removesuffix(".md") for path in found]
    shown = ", ".join(known[-10:]) + (f" and {len(known) - 10} older" if len(known) > 10 else "")
    return ContextError(f"{ref}: no such payload; there are: {shown or 'none'}")
