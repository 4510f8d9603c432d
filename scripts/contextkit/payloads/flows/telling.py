"""What a receipt says: its author's words first, checked, then what the text itself shows.

The author's words are an answer about the text, or else the text's own Summary, Conclusion, Verdict
(`text/authored.py`). All of them are told, long ones cut at a clause; a digest of the rest fills
what is left of the cap, and is the whole receipt where nobody wrote one.
"""

from __future__ import annotations

from contextkit.base import names, redaction, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Sequence
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents.receipts import Receipt, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.text.authored import Authored, Statement
    from contextkit.text.digests import engine

_EXTRACT = 110  # tokens for what is told of the text beside its author's words
_SERIOUS = 70  # tokens of them that the most serious findings of a review get in any case
_LONGEST = 320  # characters of a statement
_SHORTEST = 60  # characters below which a statement is not shortened further
_SERIOUS_RANKS = (2, 3)  # of findings that must not be left out
_FEW, _NAMED = 3, 100  # of them that are named, and characters of each
_LEFT_OUT = ("P0 left out", "P1 left out")  # what is added to an answer about a review
_SHORT = 40  # characters of a first statement, which the second one joins


class Asked(NamedTuple):
    """The receipt as given so far, and the text; `first` is the text's first line in its file."""

    bare: Receipt
    topic: str
    content: str
    answer: str = ""
    first: int = 1
    status: int | None = None


class Told(NamedTuple):
    """The receipt within the cap, and a summary of two or three sentences."""

    receipt: Receipt
    summary: str = ""
    authored: bool = False
    missing: tuple[str, ...] = ()
    secrets: tuple[redaction.Secret, ...] = ()
    cut: tuple[str, ...] = ()


def tell(layout: Layout, asked: Asked) -> Told:
    """Describe the text. Raises nothing: any text can be told."""
    from contextkit.text import authored, grounding
    from contextkit.text.digests import engine, reading

    given = bool(asked.bare.rows and asked.bare.key_findings)
    said = authored.answer(asked.answer) if asked.answer else authored.read(asked.content)
    if not (asked.answer or said.sums_up):  # a verdict alone: the digest tells it with the rest
        others = tuple(one for one in said.statements if one.role != "verdict")
        said = said._replace(statements=others)
    rest = asked.content if asked.answer else _without(asked.content, said)
    parsed = engine.ParsedText(rest, layout.limits.tokenizer, asked.status)
    if parsed.is_output and said.statements and not asked.answer:  # a tool's labels are no author
        said = authored.Authored()
        parsed = engine.ParsedText(asked.content, parsed.tokenizer, asked.status)
    own = asked.answer or "\n".join(one.text for one in said.statements)
    given_words = receipts.said(asked.bare).strip()
    checked = None
    if asked.answer or given_words:
        own = f"{own}\n{given_words}".strip()
        checked = grounding.check(own, asked.content)
    elif own:
        checked = grounding.of_itself(own)
    total = f"{len(parsed.facts)}{'+' * parsed.partly}"
    bare = asked.bare.replace(
        confidence=asked.bare.confidence or said.confidence
        or ("" if parsed.is_output else receipts.stated_confidence(asked.content)),
        kind=parsed.kind,
        grounded=checked.said if checked else "",
        missing=receipts.listed(checked.missing) if checked else "",
        facts_kept="" if checked else f"{len(parsed.facts)}/{total}",
        more=_lines(asked.first, 1, reading.line_count(asked.content)),
    )  # fmt: skip
    receipt = bare if given else _Filling(layout, asked, bare, said, parsed).receipt()
    if given and parsed.kind == "review":
        receipt = bare.replace(rows=(*bare.rows, *_left_out(asked.content, own)))
    receipt, secrets = clean_receipt(layout, receipt)
    receipt, cut = receipts.clipped(receipt, layout.limits.payload_receipt_tokens,
                                    layout.limits.tokenizer)  # fmt: skip
    if not checked:
        receipt = receipt.replace(facts_kept=parsed.facts_kept(receipts.said(receipt)))
    summary = said.lead()
    if len(said.statements) < 2 and not asked.answer:
        summary = f"{summary} {parsed.lead(2 if summary else 3)}"
    (summary,), found = clean(layout, [names.one_line(summary)])
    missing = checked.missing if checked else ()
    return Told(receipt, summary, bool(said.statements), missing, (*secrets, *found), tuple(cut))


def remarks(receipt: Receipt) -> tuple[str, ...]:
    """What somebody who has the author's answer must know besides: what it adds or lacks."""
    found = [f"not in the report: {receipt.missing}"] if receipt.missing else []
    found += [f"{row.aspect}: {row.finding}" for row in receipt.rows if row.aspect in _LEFT_OUT]
    return tuple(found)


def unread(layout: Layout, asked: Asked, why: str) -> Told:
    """The receipt of a text that could not be read, or not in time: what it is, and where."""
    key = asked.bare.key_findings or names.one_line(asked.answer) or asked.topic
    receipt = asked.bare.replace(
        rows=asked.bare.rows or (Row(aspect="Content", finding=asked.topic),),
        key_findings=key,
        note=f"{why}; the text is stored whole",
        more=_lines(asked.first, 1, asked.content.count("\n") + 1),
    )
    receipt, secrets = clean_receipt(layout, receipt)
    receipt, cut = receipts.clipped(receipt, layout.limits.payload_receipt_tokens,
                                    layout.limits.tokenizer)  # fmt: skip
    return Told(receipt, secrets=tuple(secrets), cut=tuple(cut))


def _without(text: str, said: Authored) -> str:
    """The text with the lines of its author's statements empty, since they are told already."""
    if not said.statements:
        return text
    lines = text.split("\n")
    for one in said.core:
        lines[one.line - 1] = ""
    return "\n".join(lines)


def _lines(first: int, start: int, last: int) -> str:
    """The lines of the stored file that have these lines of the text."""
    return f"lines {first + start - 1}-{first + max(start, last) - 1}"


class _Filling:
    """A receipt that is filled up to its cap: author's words, then a digest."""

    def __init__(
        self, layout: Layout, asked: Asked, bare: Receipt, said: Authored, parsed: engine.ParsedText
    ) -> None:
        self._layout, self._asked, self._parsed = layout, asked, parsed
        self._bare, self._said = bare, said
        self._cap, self._most = layout.limits.payload_receipt_tokens, layout.limits.payload_rows
        self._is_answered_review = bool(asked.answer) and parsed.kind == "review"
        answer = asked.answer if self._is_answered_review else ""
        self._added = _left_out(asked.content, answer) if answer else []
        self._most -= len(self._added)

    def _size(self, receipt: Receipt) -> int:
        return tokens.size(receipts.render(receipt), self._layout.limits.tokenizer)

    def receipt(self) -> Receipt:
        told = self._authored()
        return self._filled_up(told)

    def _authored(self) -> Receipt:
        """The receipt with its author's words: all that sums up, and more if there is room."""
        core = list(self._said.core) or list(self._said.statements)
        room = self._cap
        if self._parsed.kind == "review" and not self._asked.answer:
            room -= _SERIOUS
        told = self._as_many(core, room)
        others = [one for one in self._said.statements if one not in core]
        for one in others if len(told) == len(core) else ():
            most = room if one.role == "detail" else self._cap - _EXTRACT
            if self._size(self._with([*told, one])) <= most:
                told.append(one)
            elif one.role != "detail":
                break
        return self._with(told)

    def _as_many(self, wanted: list[Statement], room: int) -> list[Statement]:
        """All statements, as few as possible of the longest ones cut.

        If half of them would have to be cut, as many of the first ones as fit so.
        """

        def cut(length: int, most: int, count: int) -> list[Statement]:
            return _cut(wanted[:count], length, most)

        def fits(length: int, most: int, count: int) -> bool:
            return self._size(self._with(cut(length, most, count))) <= room

        count = len(wanted)
        if fits(_LONGEST, 0, count):
            return wanted
        if not fits(_SHORTEST, count // 2, count):
            count = tokens.largest(count, lambda n: fits(_SHORTEST, (n + 1) // 2, n))
        most = count - tokens.largest(count, lambda n: fits(_SHORTEST, count - n, count))
        return cut(tokens.largest(_LONGEST, lambda n: fits(n, most, count), _SHORTEST), most, count)

    def _with(self, told: Sequence[Statement]) -> Receipt:
        """The receipt with these statements in the fields that its author left open."""
        bare, texts = self._bare, list(told)
        key = bare.key_findings
        if not key and texts:
            key = texts.pop(0).text
            if len(key) < _SHORT and texts:
                key = f"{key.rstrip('.')}. {texts.pop(0).text}"
        rows = list(bare.rows)
        if not rows:
            for one in texts:
                aspect = one.aspect or "Summary"
                if rows and (rows[-1].aspect == aspect or len(rows) == self._most):
                    rows[-1] = rows[-1].replace(finding=_joined(rows[-1].finding, one.text))
                else:
                    rows.append(Row(aspect=aspect, finding=one.text))
        return bare.replace(key_findings=key, rows=(*rows, *self._added))

    def _filled_up(self, told: Receipt) -> Receipt:
        """The receipt with a digest in what is left of it."""
        frame = self._size(told)
        written = bool(told.key_findings)
        room, most = self._cap - frame, self._most - len(told.rows)
        short = self._said.sums_up or self._asked.answer
        room = min(room, _EXTRACT) if written and short else max(room, 1)
        if written and (room < _SHORTEST // 3 or most < 1 or self._is_answered_review):
            return told if told.rows else self._with_topic(told)

        def added(digest: engine.Digest) -> int:
            return self._size(self._merged(told, digest)) - frame

        def cleaned(digest: engine.Digest) -> int:
            receipt = clean_receipt(self._layout, self._merged(told, digest))[0]
            return self._size(receipt) - frame

        digest = self._parsed.digest(room, most, added)
        if clean_receipt(self._layout, self._merged(told, digest))[1]:
            digest = self._parsed.digest(room, most, cleaned)  # a mark is shorter than a secret
        return self._merged(told, digest)

    def _merged(self, told: Receipt, digest: engine.Digest) -> Receipt:
        rows = [Row(aspect=row.aspect or "Content", finding=row.finding) for row in digest.rows]
        key = told.key_findings
        if not key:
            key = digest.key
        elif digest.key and digest.key not in _letters(told):
            rows.insert(0, Row(aspect="Also", finding=digest.key))
        if not key and len(rows) == 1 and not told.rows:  # the only finding, shown once
            key, rows = rows[0].finding, []
        rows = [*told.rows, *(rows if not self._bare.rows else [])]
        last = digest.last or 0
        more = _lines(self._asked.first, digest.rest, last) if last else self._bare.more
        receipt = told.replace(rows=tuple(rows), key_findings=key, more=more)
        receipt = receipt if rows else self._with_topic(receipt)
        return receipt if key else receipt.replace(key_findings=receipt.rows[0].finding)

    def _with_topic(self, receipt: Receipt) -> Receipt:
        return receipt.replace(rows=(Row(aspect="Content", finding=self._asked.topic),))


def _left_out(text: str, answer: str) -> list[Row]:
    """What an answer about a review does not say of its P0s and P1s, a row for each priority."""
    from contextkit.text.digests.kinds import review

    said = set(_words(answer))
    rows = []
    for rank, aspect in zip(_SERIOUS_RANKS, _LEFT_OUT, strict=True):
        found = [one for one in review.findings(text) if one.rank == rank]
        lacking = [one for one in found if not _is_told(one.short, one.text, answer, said)]
        named = [names.clipped_at_space(one.text, _NAMED) for one in lacking[:_FEW]]
        if lacking:
            more = [f"+{len(lacking) - _FEW} more"] if len(lacking) > _FEW else []
            rows.append(Row(aspect=aspect, finding="; ".join([*named, *more])))
    return rows


def _is_told(short: str, text: str, answer: str, said: set[str]) -> bool:
    """Whether an answer names a finding: by its id or place, or by most of its words."""
    words = set(_words(text))
    return (short and short in answer) or (bool(words) and len(words & said) >= 0.6 * len(words))


def _words(text: str) -> list[str]:
    plain = "".join(char if char.isalnum() else " " for char in text.lower())
    return [word for word in plain.split() if len(word) > 3]


def _cut(wanted: Sequence[Statement], length: int, most: int) -> list[Statement]:
    """The statements, the `most` longest of them cut to about `length` characters."""
    from contextkit.text.digests import reading

    order = sorted(range(len(wanted)), key=lambda at: (not at, -len(wanted[at].text)))
    short = {at for at in order[:most] if len(wanted[at].text) > length}
    return [
        one._replace(text=reading.clause(one.text, length) or one.text) if at in short else one
        for at, one in enumerate(wanted)
    ]


def _letters(receipt: Receipt) -> str:
    return f"{receipts.said(receipt)} {' '.join(row.finding for row in receipt.rows)}"


def _joined(one: str, other: str) -> str:
    return f"{one} {other}" if one[-1:] in ".!?。！？:：;…" else f"{one}; {other}"


def clean(layout: Layout, texts: list[str]) -> tuple[list[str], list[redaction.Secret]]:
    """The texts without secrets, for sending on, and the secrets; what is stored stays as it is."""
    allowed = layout.limits.secrets_allow
    cleaned = [redaction.redacted(text, allowed) for text in texts]
    return [text for text, _ in cleaned], [secret for _, found in cleaned for secret in found]


def clean_receipt(layout: Layout, receipt: Receipt) -> tuple[Receipt, list[redaction.Secret]]:
    """The receipt without secrets, and the secrets."""
    rows, secrets = [], []
    for row in receipt.rows:
        (aspect,), found = clean(layout, [row.aspect])
        # the name of a value may be all that says that it is one
        (named,), more = clean(layout, [f"{aspect}: {row.finding}"])
        secrets += found + more
        finding = named.removeprefix(f"{aspect}: ")
        if not named.startswith(f"{aspect}: "):
            (finding,), found = clean(layout, [row.finding])
            secrets += found
        rows.append(Row(aspect=aspect, finding=finding))
    (key, missing), found = clean(layout, [receipt.key_findings, receipt.missing])
    return receipt.replace(rows=tuple(rows), key_findings=key, missing=missing), secrets + found
