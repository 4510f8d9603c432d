"""Storing a subagent's output: complete on disk if it is long, with a receipt in the context."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, ledger, names, redaction, tokens
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Receipt, Row
from contextkit.payloads.documents.store import Payload
from contextkit.payloads.flows import retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.text.digests import engine

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

    def check(self) -> None:
        payloads.check(self.topic, self.source, self.content)


class Stored(Record):
    receipt: str
    path: str
    notes: tuple[str, ...] = ()


class _Prepared:
    """Everything that will be stored and printed, already checked; nothing is written yet."""

    def __init__(
        self, payload: Payload, parsed: engine.ParsedText, output: Output, notes: list[str]
    ) -> None:
        self.payload, self.parsed, self.output, self.notes = payload, parsed, output, notes


def store(layout: Layout, session: str, output: Output, now: int) -> Stored:
    """Store the text in its session and return a receipt of at most 300 tokens."""
    prepared = _prepared(layout, output, now)
    path, again = _save(layout, session, prepared.payload, now)
    if again:
        prepared.notes.append(f"the same text is stored already: {layout.shown(path)}")
    return _answer(layout, prepared, path)


def keep(layout: Layout, session: str, output: Output, now: int) -> str:
    """Like `store`, if nobody reads a receipt; returns the payload's path."""
    return _save(layout, session, _prepared(layout, output, now).payload, now)[0]


def _save(layout: Layout, session: str, payload: Payload, now: int) -> tuple[str, bool]:
    """The file that contains the text, and whether it already did."""
    content = payloads.checksum(payload.content)
    payloads.folder(layout, session)  # refuse a link before anything is created
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        if path := payloads.same(layout, session, payload.content, content):
            return payloads.used(layout, session, path, now), True
        return payloads.save(layout, session, payload, now, content), False


def check_target(layout: Layout, path: str, overwrite: bool) -> str:
    """The target of `path=`. Raises ContextError for a place where nothing may be kept."""
    target = layout.typed(path, "path")
    if os.path.splitext(target)[1] not in SUFFIXES:
        raise bad_input(f"path: {path!r} must end in {', '.join(SUFFIXES)}")
    for kept in (layout.payloads, layout.state, layout.join(".git")):
        if target.startswith(kept + "/"):
            raise bad_input(
                f"path: {layout.shown(target)} is not a place to keep a text: it would be removed"
            )
    if os.path.lexists(target) and not overwrite:
        raise bad_input(f"path: {layout.shown(target)} already exists: overwrite=1 replaces it")
    return target


def store_at(layout: Layout, target: str, output: Output, now: int, overwrite: bool) -> Stored:
    """Store the text exactly at `target`, outside any session; it is never listed or removed."""
    prepared = _prepared(layout, output, now)
    if target.endswith(".md"):
        pieces = payloads.pieces(prepared.payload)
    else:
        pieces = iter((payloads.as_bytes(output.content),))
    if overwrite:
        files.write(target, pieces)
    else:
        files.create(target, pieces, exact=True)
    return _answer(layout, prepared, target)


def _prepared(layout: Layout, output: Output, now: int) -> _Prepared:
    """The payload, with the text read once for its description."""
    from contextkit.text.digests import engine, reading

    notes = []
    parsed = engine.ParsedText(output.content, layout.limits.tokenizer)
    summary = names.one_line(output.summary) or names.one_line(parsed.lead()) or _beginning(output)
    sentences = len(list(reading.sentences(summary)))
    if output.summary and not 2 <= sentences <= 3:
        notes.append(f"summary: should be two to three sentences, not {sentences}")
    most = layout.limits.payload_rows
    if len(output.rows) > most:
        notes.append(f"findings: {len(output.rows)} given, the first {most} are in the receipt")
    described = [output.topic.strip(), output.source.strip(), summary]
    described += filter(None, map(names.one_line, output.sources))
    (topic, source, summary, *cited), secrets = _clean(layout, described)
    payload = Payload(
        topic=topic,
        source=source,
        created_at=names.iso(now),
        tokens=output.tokens,
        summary=summary,
        content=output.content,
        sources=tuple(cited),
    )
    if secrets:
        notes.append(f"redacted in what is passed on: {redaction.summary(secrets)}")
    return _Prepared(payload, parsed, output, notes)


def _beginning(output: Output) -> str:
    return names.one_line(output.content.lstrip()[:400])


def _answer(layout: Layout, prepared: _Prepared, path: str) -> Stored:
    """The receipt, and notes on what was left out of it."""
    receipt, secrets, cut = _receipt(layout, prepared, path)
    notes = [f"receipt: {'; '.join(cut)}"] if cut else []
    if secrets:
        notes.append(f"redacted in what is passed on: {redaction.summary(secrets)}")
    text, ref = receipts.render(receipt), addresses.of(layout, path, "payload")
    whose = addresses.parts(ref)[1].partition("/")[0]
    ledger.note(layout, ledger.RENDERED, ref, tokens=tokens.estimate(text), session=whose)
    return Stored(
        receipt=text,
        path=path,
        notes=tuple(dict.fromkeys((*prepared.notes, *notes))),
    )


def _receipt(
    layout: Layout, prepared: _Prepared, path: str
) -> tuple[Receipt, list[redaction.Secret], list[str]]:
    """The receipt within the cap, the secrets redacted in it, and what was cut.

    Fields from the author are as given, the rest is from the text.
    """
    from contextkit.text.digests import reading

    output, parsed, limits = prepared.output, prepared.parsed, layout.limits
    lines = reading.line_count(output.content)
    cap = limits.payload_receipt_tokens
    receipt = bare = Receipt(
        path=layout.shown(path),
        rows=output.rows[: limits.payload_rows],
        key_findings=names.one_line(output.key_findings),
        confidence=output.confidence or receipts.stated_confidence(output.content),
        tokens_stored=prepared.payload.tokens,
        kind=parsed.kind,
        facts_kept=f"{len(parsed.facts)}/{len(parsed.facts)}{'+' * parsed.partly}",
        more=_command(layout, path, 1, lines),
    )

    def filled(digest: engine.Digest) -> Receipt:
        more = _command(layout, path, digest.rest or 1, digest.last or lines)
        return _filled(bare, digest, prepared.payload).replace(more=more)

    def size(receipt: Receipt) -> int:
        return tokens.size(receipts.render(receipt), limits.tokenizer)

    if not (bare.rows and bare.key_findings):
        frame = min(size(bare), cap - 1)
        room, most = cap - frame, limits.payload_rows
        digest = parsed.digest(room, most, lambda one: size(filled(one)) - frame)
        if _clean_receipt(layout, filled(digest))[1]:  # what replaces a secret is usually shorter
            digest = parsed.digest(
                room, most, lambda one: size(_clean_receipt(layout, filled(one))[0]) - frame
            )
        receipt = filled(digest)
    receipt, secrets = _clean_receipt(layout, receipt)
    receipt, cut = receipts.clipped(receipt, cap, limits.tokenizer)
    receipt = receipt.replace(facts_kept=parsed.facts_kept(receipts.said(receipt)))
    return receipt, secrets, cut


def _clean(layout: Layout, texts: list[str]) -> tuple[list[str], list[redaction.Secret]]:
    """The texts without secrets, for sending on, and the secrets; what is stored stays as it is."""
    allowed = layout.limits.secrets_allow
    cleaned = [redaction.redacted(text, allowed) for text in texts]
    return [text for text, _ in cleaned], [secret for _, found in cleaned for secret in found]


def _clean_receipt(layout: Layout, receipt: Receipt) -> tuple[Receipt, list[redaction.Secret]]:
    """The receipt without secrets, and the secrets."""
    rows, secrets = [], []
    for row in receipt.rows:
        (aspect,), found = _clean(layout, [row.aspect])
        # the name of a value may be all that says that it is one
        (named,), more = _clean(layout, [f"{aspect}: {row.finding}"])
        secrets += found + more
        finding = named.removeprefix(f"{aspect}: ")
        if not named.startswith(f"{aspect}: "):
            (finding,), found = _clean(layout, [row.finding])
            secrets += found
        rows.append(Row(aspect=aspect, finding=finding))
    (key,), found = _clean(layout, [receipt.key_findings])
    return receipt.replace(rows=tuple(rows), key_findings=key), secrets + found


def _filled(bare: Receipt, digest: engine.Digest, payload: Payload) -> Receipt:
    """The receipt with fields from the digest where its author gave none."""
    rows = bare.rows or tuple(
        Row(aspect=row.aspect or "Content", finding=row.finding) for row in digest.rows
    )
    key = bare.key_findings or digest.key
    if not key and len(rows) == 1 and not bare.rows:  # the only finding, shown once
        key, rows = rows[0].finding, (rows[0].replace(finding=payload.topic),)
    rows = rows or (Row(aspect="Content", finding=payload.topic),)
    return bare.replace(rows=rows, key_findings=key or rows[0].finding)


def _command(layout: Layout, path: str, first: int, last: int) -> str:
    """The command that opens the part of the text that the receipt leaves out."""
    inside = os.path.dirname(os.path.dirname(path)) == layout.payloads
    ref = os.path.basename(path).removesuffix(".md") if inside else layout.shown(path)
    quoted = f"'{ref}'" if " " in ref else ref
    return f"make -s payload_show ref={quoted} lines={first}-{max(first, last)}"
