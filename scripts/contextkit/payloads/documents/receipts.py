"""Receipts, which replace a long text in the main agent's context. TOON, under 300 tokens.

@stored: shared/payloads/sess-abc123/20251128-100500-nsw-strata-legislation.md

summary[2]{aspect,finding}:
  Primary Acts,"Strata Schemes Management Act 2015, Development Act 2015"
  Regulator,NSW Fair Trading
keyFindings: 2 main acts + 2 regulations govern strata in NSW
confidence: High
tokens_stored: 4500
kind: report
facts_kept: 12/87
more: make -s payload_show ref=20251128-100500-nsw-strata-legislation lines=40-380
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.base.errors import bad_input
from contextkit.base.records import Record

MARK = "@stored: "
_SHORTEST = 60  # length in characters below which a finding is not shortened further
_LONGEST = 2000  # characters of a finding that are considered when it is shortened
_LEVELS = ("High", "Medium", "Low")
_STATED = ("confidence", "confidence level", "overall confidence")


class Row(Record):
    aspect: str
    finding: str


class Receipt(Record):
    """A receipt; `confidence` is '' if nobody gave one.

    `kind`, `facts_kept`, and `more` follow the documented keys if they are set; `more` is the
    command that opens the part that was left out.
    """

    path: str
    rows: tuple[Row, ...]
    key_findings: str
    tokens_stored: int
    confidence: str = ""
    kind: str = ""
    facts_kept: str = ""
    more: str = ""

    def check(self) -> None:
        if self.confidence not in ("", *_LEVELS):
            raise bad_input(f"confidence={self.confidence}: must be High, Medium or Low")


def level(text: str) -> str:
    """Normalize a confidence in any case. Raises ContextError for an unknown level."""
    found = text.strip().capitalize()
    if found not in ("", *_LEVELS):
        raise bad_input(f"confidence={text}: must be High, Medium or Low")
    return found


def row(text: str) -> Row:
    """Parse a finding given as `Aspect=Finding`. Raises ContextError for any other form."""
    aspect, equals, finding = text.partition("=")
    if not (equals and aspect.strip() and finding.strip()):
        raise bad_input(f"findings: {text[:60]!r} must have the form Aspect=Finding")
    return Row(aspect=aspect.strip(), finding=finding.strip())


def render(receipt: Receipt) -> str:
    """Render the receipt as it is printed."""
    import toons

    fields: dict[str, object] = {
        "summary": [{"aspect": row.aspect, "finding": row.finding} for row in receipt.rows],
        "keyFindings": receipt.key_findings,
    }
    if receipt.confidence:
        fields["confidence"] = receipt.confidence
    fields["tokens_stored"] = receipt.tokens_stored
    for name in ("kind", "facts_kept", "more"):
        if said := getattr(receipt, name):
            fields[name] = said
    path = toons.dumps({"path": receipt.path}).partition(": ")[2]
    return f"{MARK}{path}\n\n{toons.dumps(fields)}"


def said(receipt: Receipt) -> str:
    """The part of a receipt that describes the text."""
    parts = [text for row in receipt.rows for text in (row.aspect, row.finding)]
    return "\n".join([receipt.key_findings, *parts])


def stated_confidence(text: str) -> str:
    """The level (`High`, `Medium`, `Low`) that a line near the start of the text states; or ''."""
    for line in text[:12_000].split("\n", 60)[:60]:
        label, colon, rest = line[:200].replace("*", "").lstrip("#->| ").partition(":")
        if colon and label.strip().lower() in _STATED:
            word = rest.strip().partition(" ")[0].strip("*.,;_`").capitalize()
            if word in _LEVELS:
                return word
    return ""


def parse_path(text: str) -> str:
    """The path in an `@stored:` line, quoted or not, alone or in a receipt, even in a code fence.

    Raises ContextError if there is none.
    """
    import toons

    for line in text.split("\n"):
        bare = line.strip(" \t\r`").removeprefix("- ").replace('"@stored":', "@stored:", 1)
        if not bare.startswith(MARK.rstrip()):
            continue
        try:
            found = toons.loads(f"path: {bare.removeprefix(MARK.rstrip()).strip(' ')}")["path"]
        except (ValueError, KeyError, TypeError):
            break
        if isinstance(found, str) and found:
            return found
    raise bad_input(f"ref: {text[:60]!r} is not an @stored: line")


def clipped(receipt: Receipt, cap: int, tokenizer: str) -> tuple[Receipt, list[str]]:
    """The receipt within `cap` tokens of the reader's tokenizer, and what was cut.

    The longest findings are shortened first, then rows are dropped from the end, then the key
    findings are shortened. The path and the token count always stay.
    """

    def cut(rows: int, finding: int, key: int, aspect: int = _SHORTEST) -> Receipt:
        kept = tuple(
            Row(
                aspect=names.clipped_at_space(row.aspect, aspect),
                finding=names.clipped_at_space(row.finding, finding),
            )
            for row in receipt.rows[:rows]
        )
        return receipt.replace(
            rows=kept, key_findings=names.clipped_at_space(receipt.key_findings, key)
        )

    def fits(*sizes: int) -> bool:
        return tokens.within(render(cut(*sizes)), cap, tokenizer)

    if tokens.within(render(receipt), cap, tokenizer):
        return receipt, []
    rows = next((n for n in range(len(receipt.rows), 0, -1) if fits(n, _SHORTEST, _LONGEST)), 0)
    if rows:
        longest = min(_LONGEST, max(len(row.finding) for row in receipt.rows[:rows]))
        room = tokens.largest(longest, lambda n: fits(rows, n, _LONGEST), _SHORTEST)
        final = cut(rows, room, _LONGEST)
    elif fits(1, _SHORTEST, _SHORTEST):
        room = tokens.largest(_LONGEST, lambda n: fits(1, _SHORTEST, n), _SHORTEST)
        final = cut(1, _SHORTEST, room)
    else:  # a script whose characters cost many tokens
        room = tokens.largest(_SHORTEST, lambda n: fits(1, n, n, n), 1)
        final = cut(1, room, room, room)
    return final, _lost(receipt, final)


def _lost(receipt: Receipt, final: Receipt) -> list[str]:
    """Describe what was cut and by how much."""
    pairs = list(zip(receipt.rows, final.rows, strict=False))
    short = [len(was.finding) - len(r.finding) for was, r in pairs if was.finding != r.finding]
    said = []
    if short:
        said = [f"{names.counted(len(short), 'finding')} shortened by {sum(short)} characters"]
    if any(was.aspect != r.aspect for was, r in pairs):
        said.append("aspects shortened")
    gone = receipt.rows[len(final.rows) :]
    said += [f"row {row.aspect[:_SHORTEST]!r} left out" for row in gone]
    by = len(receipt.key_findings) - len(final.key_findings)
    return [*said, f"key findings shortened by {by} characters"] if by else said
