"""Receipts: what goes back to the main agent in place of a long text. TOON, under 300 tokens.

@stored: shared/payloads/sess-abc123/20251128-100500-nsw-strata-legislation.md

summary[2]{aspect,finding}:
  Primary Acts,"Strata Schemes Management Act 2015, Development Act 2015"
  Regulator,NSW Fair Trading
keyFindings: 2 main acts + 2 regulations govern strata in NSW
confidence: High
tokens_stored: 4500
facts_kept: 12/87
"""

from __future__ import annotations

from contextkit import facts, tokens
from contextkit.errors import bad_input
from contextkit.records import Record
from contextkit.summaries import Row

MARK = "@stored: "
_SHORTEST = 40  # characters below which a finding is not shortened any further
_LEVELS = ("High", "Medium", "Low")


class Receipt(Record):
    """`confidence` is empty when nobody gave one; `all_facts` are those of the stored text."""

    path: str
    rows: tuple[Row, ...]
    key_findings: str
    tokens_stored: int
    confidence: str = ""
    all_facts: tuple[object, ...] = ()

    def check(self) -> None:
        if self.confidence not in ("", *_LEVELS):
            raise bad_input(f"confidence={self.confidence}: must be High, Medium or Low")


def level(text: str) -> str:
    """A confidence as typed, in whatever case; raises ContextError for any other word."""
    found = text.strip().capitalize()
    if found not in ("", *_LEVELS):
        raise bad_input(f"confidence={text}: must be High, Medium or Low")
    return found


def row(text: str) -> Row:
    """A finding as typed, `Aspect=Finding`; raises ContextError for any other form."""
    aspect, equals, finding = text.partition("=")
    if not (equals and aspect.strip() and finding.strip()):
        raise bad_input(f"findings: {text[:60]!r} must have the form Aspect=Finding")
    return Row(aspect=aspect.strip(), finding=finding.strip())


def render(receipt: Receipt) -> str:
    """The receipt as it is printed, `facts_kept` counted on what it says."""
    body = _encoded(receipt, "")
    found: list[facts.Fact] = list(receipt.all_facts)  # type: ignore[arg-type]
    return _encoded(receipt, f"{facts.kept(found, body)}/{len(found)}")


def _encoded(receipt: Receipt, facts_kept: str) -> str:
    import toons

    fields: dict[str, object] = {
        "summary": [{"aspect": row.aspect, "finding": row.finding} for row in receipt.rows],
        "keyFindings": receipt.key_findings,
    }
    if receipt.confidence:
        fields["confidence"] = receipt.confidence
    fields["tokens_stored"] = receipt.tokens_stored
    if facts_kept:
        fields["facts_kept"] = facts_kept
    path = toons.dumps({"path": receipt.path}).partition(": ")[2]
    return f"{MARK}{path}\n\n{toons.dumps(fields)}"


def parse_path(line: str) -> str:
    """The path in an `@stored:` line, quoted or not; raises ContextError for any other line."""
    import toons

    text = line.strip().removeprefix('"').replace('@stored":', "@stored:", 1)
    if not text.startswith(MARK.rstrip()):
        raise bad_input(f"ref: {line[:60]!r} is no @stored: line")
    value = text[len(MARK.rstrip()) :].strip()
    return str(toons.loads(f"path: {value}")["path"]) if value else ""


def clipped(receipt: Receipt, cap: int) -> tuple[Receipt, list[str]]:
    """The receipt within `cap` tokens (cautiously estimated), and what was cut.

    The longest findings are shortened first, then rows go from the end, then the key findings
    are shortened. The path and the number of tokens always stay.
    """
    rows, key = list(receipt.rows), receipt.key_findings
    cut: list[str] = []

    def size() -> int:
        tried = receipt.replace(rows=tuple(rows), key_findings=key)
        return tokens.cautious(_encoded(tried, "9999/9999"))

    while size() > cap:
        longest = max(range(len(rows)), key=lambda i: len(rows[i].finding), default=-1)
        if longest >= 0 and len(rows[longest].finding) > _SHORTEST:
            rows[longest] = rows[longest].replace(finding=_shorter(rows[longest].finding))
        elif len(rows) > 1:
            cut.append(f"row {rows.pop().aspect!r} left out")
        elif len(key) > _SHORTEST:
            key = _shorter(key)
        elif rows:
            cut.append(f"row {rows.pop().aspect!r} left out")
        else:
            break
    short = sum(now.finding != was.finding for now, was in zip(rows, receipt.rows, strict=False))
    cut += [f"{short} findings shortened"] if short else []
    cut += ["key findings shortened"] if key != receipt.key_findings else []
    return receipt.replace(rows=tuple(rows), key_findings=key), cut


def _shorter(text: str) -> str:
    """`text` a seventh shorter, cut at a blank where there is one."""
    room = max(_SHORTEST - 1, len(text) * 6 // 7)
    blank = text.rfind(" ", _SHORTEST // 2, room)
    return text[: blank if blank > 0 else room].rstrip(" ,;:…") + "…"
