"""Headers: what an agent says about itself in a few lines of the text that it returns.

    STATUS: NEEDS_ATTENTION          eight lines `KEY: value`, first in the text

    --- VERDICT ---                  six lines, last in the text
    STATUS: warn
    FILES: 2 changed
    FINDINGS: 3 (P0: 0, P1: 1, P2: 2)
    SUMMARY: one line
    ---

    VERDICT: NEEDS_ATTENTION why     one line, the last of its kind

A header is an agent's claim, not proof: an unknown word never passes, nor does a header that is cut
off, contradicts itself, or stands where another text may be quoted.
"""

from __future__ import annotations

import re

from contextkit.base import names
from contextkit.base.expressions import Pattern
from contextkit.base.records import Record
from contextkit.reviews.documents import index, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS

# Mildest first.
STATUSES = ("CLEAN", "COMPLETE", "PARTIAL", "NEEDS_ATTENTION", "BLOCKED", "FAILED", "ERROR")
_PASSES = ("CLEAN", "COMPLETE")
_WORDS = dict(zip(STATUSES, STATUSES, strict=True)) | {
    "PASS": "CLEAN", "SAFE": "CLEAN", "WARN": "NEEDS_ATTENTION", "FAIL": "NEEDS_ATTENTION",
    "NEEDS_CHANGES": "NEEDS_ATTENTION", "RISKY": "NEEDS_ATTENTION",
    "QUESTION": "NEEDS_ATTENTION", "RETRY": "ERROR",
}  # fmt: skip
_KEYS = ("TYPE", "STATUS", "MODEL", "TOKENS_SPENT", "FILES_CHANGED", "FINDINGS_COUNT", "SUMMARY",
         "DETAIL_PATH")  # fmt: skip
_TAIL_KEYS = ("STATUS", "FILES", "FINDINGS", "SUMMARY")
_WORD = Pattern(r"needs (?:attention|changes)|(?:[^\W_]|[_-]+(?=[^\W_]))*", re.IGNORECASE)
_FEWEST = 3  # number of keys that turn the first lines into a header


class Header(Record):
    """A header. `form` is lines, tail or single; `status` one of STATUSES."""

    form: str
    status: str
    type: str = "verdict"
    model: str = ""
    tokens_spent: int = 0
    files_changed: tuple[str, ...] = ()
    findings_count: int = 0
    summary: str = ""
    detail_path: str = ""
    flags: tuple[str, ...] = ()

    def passes(self) -> bool:
        return self.status in _PASSES


def parse(text: str) -> Header | None:
    """What an agent's text says about itself; None if it has no header.

    Of several headers of one form, the last counts. Across forms, the strictest status counts, and
    the other fields come from the first form present: lines, tail, single.
    """
    tails: list[tuple[int, Header]] = []
    singles: list[tuple[int, Header]] = []
    tail: dict[str, str] | None = None
    content = 0  # the last line outside any header
    for number, level, line in [*index.lines(text), (0, 0, "")]:
        if tail is not None:
            closed = bool(line) and level == 0 and not line.strip("-")
            label, value = vocabulary.labelled(line) if level == 0 else ("", "")
            if not closed and label in _TAIL_KEYS:
                tail[label] = _stricter(tail[label], value) if label == "STATUS" else value
                continue
            tails.append((number or content, _of_tail(tail, closed)))
            tail = None
            if closed:
                continue
        if level:
            content = max(content, number)
        elif line[:3] == "---" and line.strip("- ").upper() == "VERDICT":
            tail = dict.fromkeys(_TAIL_KEYS, "")
        elif line.lstrip("*_`").startswith("VERDICT") and (verdict := vocabulary.verdict(line)):
            status, flags = _status_of(verdict)
            summary = _WORD.sub("", vocabulary.plain(verdict), 1).strip(" :—–-")
            single = Header(form="single", status=status, summary=summary, flags=flags)
            singles.append((number, single))
        elif line.strip("-=_* ") and not vocabulary.is_comment(line):
            content = number
    headers = [_of_first_lines(text), _last(tails, content), _last(singles, content)]
    return _merged([header for header in headers if header])


def _merged(headers: list[Header]) -> Header | None:
    if not headers:
        return None
    strictest = max(headers, key=lambda header: STATUSES.index(header.status))
    flags = dict.fromkeys(flag for header in headers for flag in header.flags)
    if any(header.passes() != strictest.passes() for header in headers):
        flags["verdict_mismatch"] = None
    most = max(header.findings_count for header in headers)
    return headers[0].replace(status=strictest.status, findings_count=most, flags=tuple(flags))


def _last(headers: list[tuple[int, Header]], content: int) -> Header | None:
    """The last header of one form; a passing one counts only if nothing else follows it."""
    number, header = headers[-1] if headers else (content, None)
    if header and header.passes() and number < content:
        return next((other for _, other in reversed(headers) if not other.passes()), None)
    return header


def _of_first_lines(text: str) -> Header | None:
    fields: dict[str, str] = {}
    for _, level, line in index.lines(text):
        if not fields and line[:1] == "<" and vocabulary.is_comment(line):
            continue
        label, value = vocabulary.labelled(line) if level == 0 else ("", "")
        key = label.replace(" ", "_")
        if key not in _KEYS:
            break
        fields[key] = _stricter(fields.get(key, ""), value) if key == "STATUS" else value
    if len(fields) < _FEWEST:
        return None
    values = {key: fields.get(key, "") for key in _KEYS}
    tokens, count = _number(values["TOKENS_SPENT"]), _number(values["FINDINGS_COUNT"])
    status, flags = _status_of(values["STATUS"])
    files = [name.strip(" \"'`") for name in values["FILES_CHANGED"].strip("[] ").split(",")]
    return Header(
        form="lines",
        status=status,
        type=values["TYPE"].lower() or "verdict",
        model=values["MODEL"],
        tokens_spent=tokens or 0,
        files_changed=tuple(name for name in files if name and name.lower() != "none"),
        findings_count=count or 0,
        summary=values["SUMMARY"],
        detail_path=values["DETAIL_PATH"].strip("`"),
        flags=(*flags, "bad_number") if None in (tokens, count) else flags,
    )


def _of_tail(fields: dict[str, str], closed: bool) -> Header:
    """Parse a tail block; it passes only if complete, with readable counts and no P0 or P1."""
    status, flags = _status_of(fields["STATUS"])
    total, serious, readable = _counts(fields["FINDINGS"])
    flags += ("truncated",) * (not closed) + ("bad_number",) * (not readable)
    flags += ("verdict_mismatch",) * (status in _PASSES and serious > 0)
    status = "NEEDS_ATTENTION" if flags and status in _PASSES else status
    return Header(form="tail", status=status, findings_count=total, summary=fields["SUMMARY"],
                  flags=flags)  # fmt: skip


def _counts(stated: str) -> tuple[int, int, bool]:
    """Total, P0 and P1, and readability of `3 (P0: 0, P1: 1, P2: 2)`."""
    number, _, rest = stated.partition("(")
    parts = (part.partition(":") for part in rest.rstrip(") ").split(",")) if rest else ()
    counts = [(vocabulary.severity(label), _number(count)) for label, _, count in parts]
    total, every = _number(number), sum(count or 0 for _, count in counts)
    serious = sum(count or 0 for severity, count in counts if severity in ("", *SERIOUS))
    is_known = all(severity and count is not None for severity, count in counts)
    is_stated = bool(stated) and (bool(rest) or total == 0)
    return max(total or 0, every), serious, is_stated and is_known and total is not None


def _status_of(stated: str) -> tuple[str, tuple[str, ...]]:
    """One of STATUSES for an agent's own word, and flags; an unknown word needs attention.

    A passing word counts only if nothing follows it but a remark set off by punctuation.
    """
    stated = vocabulary.plain(stated)
    word = stated.removesuffix(rest := _WORD.sub("", stated, 1))
    status = _WORDS.get(word.upper().replace("-", "_").replace(" ", "_"), "")
    if status in _PASSES:
        stands = "|" not in rest and rest.lstrip()[:1] in ("", "—", "–", "-", "(", ".", ",", ":")
        status = status if stands else ""
    elif status == "ERROR" and rest.strip() and not word.isupper():
        status = ""  # `error handling is missing`
    return (status, ()) if status else ("NEEDS_ATTENTION", ("unknown_status",))


def _stricter(stated: str, other: str) -> str:
    """Whichever of two stated words means the stricter status."""
    if not stated:
        return other
    return max(stated, other, key=lambda word: STATUSES.index(_status_of(word)[0]))


def _number(stated: str) -> int | None:
    """A whole number as agents write it, also `~12,500`; None for anything else."""
    digits = stated.strip(" ~≈").replace(",", "").replace("_", "").removesuffix(" tokens")
    if digits.lower() in ("", "none", "0", "n/a"):
        return 0
    return int(digits) if names.is_whole(digits, 15) else None
