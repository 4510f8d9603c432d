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
_SHORTEST = 60  # characters below which a finding is not shortened any further
_LONGEST = 2000  # characters of a finding that are looked at when it has to be shortened
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
    said = [receipt.key_findings, *(text for r in receipt.rows for text in (r.aspect, r.finding))]
    found: list[facts.Fact] = list(receipt.all_facts)  # type: ignore[arg-type]
    return _encoded(receipt, f"{facts.kept(found, chr(10).join(said))}/{len(found)}")


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


def parse_path(text: str) -> str:
    """The path in an `@stored:` line, quoted or not, alone or in a whole receipt in a code fence.

    Raises ContextError where there is none.
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
    raise bad_input(f"ref: {text[:60]!r} is no @stored: line")


def clipped(receipt: Receipt, cap: int) -> tuple[Receipt, list[str]]:
    """The receipt within `cap` tokens (cautiously estimated), and what was cut.

    The longest findings are shortened first, then rows go from the end, then the key findings
    are shortened. The path and the number of tokens always stay.
    """

    def size() -> int:
        tried = receipt.replace(rows=tuple(rows), key_findings=key)
        return tokens.cautious(_encoded(tried, "9999/9999"))

    rows, key = list(receipt.rows), receipt.key_findings
    if size() <= cap:
        return receipt, []
    rows = [Row(aspect=_cut(r.aspect, _SHORTEST), finding=_cut(r.finding, _LONGEST)) for r in rows]
    key, floor = _cut(key, _LONGEST), _SHORTEST
    while size() > cap:
        longest = max(range(len(rows)), key=lambda i: len(rows[i].finding), default=-1)
        if rows and len(rows[longest].finding) > floor:
            rows[longest] = rows[longest].replace(finding=_shorter(rows[longest].finding, floor))
        elif len(rows) > 1:
            rows.pop()
        elif len(key) > floor:
            key = _shorter(key, floor)
        elif floor > 1:  # a script whose characters cost many tokens
            floor //= 2
            rows = [row.replace(aspect=_cut(row.aspect, floor)) for row in rows]
        else:
            break
    return receipt.replace(rows=tuple(rows), key_findings=key), _lost(receipt, rows, key)


def _lost(receipt: Receipt, rows: list[Row], key: str) -> list[str]:
    """What was cut and by how much, in words."""
    pairs = list(zip(receipt.rows, rows, strict=False))
    short = [
        len(was.finding) - len(now.finding) for was, now in pairs if was.finding != now.finding
    ]
    said = [f"{len(short)} findings shortened by {sum(short)} characters"] if short else []
    if any(was.aspect != r.aspect for was, r in pairs):
        said.append("aspects shortened")
    said += [f"row {row.aspect[:_SHORTEST]!r} left out" for row in receipt.rows[len(rows) :]]
    by = len(receipt.key_findings) - len(key)
    return [*said, f"key findings shortened by {by} characters"] if by else said


def _shorter(text: str, floor: int) -> str:
    """`text` a seventh shorter, but not below `floor` characters."""
    return _cut(text, max(floor, len(text) * 6 // 7))


def _cut(text: str, most: int) -> str:
    """At most `most` characters of `text`, cut at a blank where there is one near."""
    if len(text) <= most:
        return text
    blank = text.rfind(" ", most // 2, most)
    return text[: blank if blank > 0 else most - 1].rstrip(" ,;:…") + "…"
