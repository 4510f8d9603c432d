"""The words of an agent's review: severities, ids and verdicts, in all their spellings.

    P0  Critical  [HIGH]  must fix            a severity
    P0-1  IMP-2  FD-P3  Q7                    an id; the first two carry a severity
    safe  needs-changes  risky  error         a verdict

The words are data, in templates/words/reviews.txt. Agents follow no grammar. These functions report
what they do not understand; they never guess toward the milder reading.
"""

from __future__ import annotations

import functools

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterator, Sequence
from contextkit.text.blocks import lines
from contextkit.text.words import Words

_REVIEWS = Words("reviews")
LISTS, any_of = _REVIEWS.words, _REVIEWS.any_of


def word_set(name: str) -> frozenset[str]:
    """The words of a list in templates/words/reviews.txt; LISTS has them in order."""
    return frozenset(LISTS[name])


QUOTES = "\"'“”„‘’«»"
_WORD = Pattern(r"[^\W_]+")
_BULLET = Pattern(r"^(?:[-*+•–—]|[0-9]+[.)])\s+(?:\[[ xX]\] )?")
_WIDTHLESS = "\ufeff\u200b\u200c\u200d\u2060\u00ad"  # includes the byte-order mark

SEVERITIES = ("P0", "P1", "P2", "P3", "IMP")  # strictest first
SERIOUS = ("P0", "P1")
READING_ORDER = ("P0", "P1", "", "P2", "P3", "IMP")  # an empty one was not understood
VERDICTS = ("safe", "needs-changes", "risky", "error")  # mildest first

_WORDS = {word: severity for severity in SEVERITIES for word in LISTS[severity]}
_OF_TOOLS = {  # words that are a severity only in a tool's output, or a column for severities
    **dict(zip("s0 s1 s2 s3 s4".split(), ("P0", "P0", "P1", "P2", "P3"), strict=True)),
    **dict.fromkeys(("error", "fail", "failure"), "P1"),
    **dict.fromkeys(("note", "notice", "convention", "refactor", "hint"), "P3"),
}
_SCALES = word_set("scales")
_OF_SCALES = word_set("beside scales")
_VAGUE = frozenset(["LEVEL", "CLASS", "GRADE"])  # of anything
_OTHERS = word_set("other scales") | word_set("no scales")
_FEW = 3  # words
_APART = str.maketrans(dict.fromkeys("/,()+&", " "))
_PASSES = ("pass", "passed", "clean", "ok", "proceed", "approve", "approved", "lgtm")
NEGATIONS = word_set("negations")
_CONDITIONS, _LATER = word_set("conditions"), word_set("later")
_MENDING, _HOLDS = LISTS["mending"], word_set("holds")
_BEHIND, _NEAR, _BEFORE = 8, 5, 3  # words behind a verdict, behind a word for later, before it
_NOTHING = NEGATIONS | word_set("nothing")
_SAYS_NOTHING = _NOTHING | word_set("of nothing")
DENIALS = NEGATIONS | frozenset("any if when each every never nor but".split())  # and conditions
_VERDICT_LABELS = ("VERDICT", "OVERALL VERDICT", "FINAL VERDICT")
_ID = frozenset("-_./#")
_EDGES = Pattern(r"^[\W_]+|[\W_]+$")
_REMARK = Pattern(rf"\s*$|[.,;:!)—–{QUOTES}]|\s+[—–(-]")  # nothing, or set off by punctuation
_CARRIED = Pattern(r"[*_`\[\]()]*(P[0-3]|IMP)(?![^\W_])")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `text` with their numbers, without CRs and zero-width characters."""
    for mark in "" if text.isascii() else _WIDTHLESS:
        text = text.replace(mark, "")
    return enumerate(lines(text), 1)


def plain(text: str) -> str:
    """`text` without emphasis and code ticks."""
    return text.replace("**", "").replace("__", "").replace("`", "").strip(" \t*_")


def words(text: str) -> list[str]:
    """The words of a text in lowercase: its runs of letters and digits."""
    return list(_WORD.findall(text.lower()))


def unquoted(text: str) -> str:
    return text.strip(QUOTES + " \t*`")


def unbulleted(text: str) -> tuple[str, bool]:
    """`text` without its bullet, number or checkbox, and whether it had one."""
    rest = _BULLET.sub("", text, 1)
    return (rest.strip(), True) if rest != text else (text, False)


@functools.lru_cache(1 << 16)
def severity(text: str) -> str:
    """P0 to P3 or IMP for a severity word in any form, the strictest of several; else ''."""
    if len(text) > 60:
        return ""
    each = (
        trimmed(word) or word for word in text.upper().replace("_", "-").translate(_APART).split()
    )
    parts = [word for word in each if word[0].isalnum() or word in _WORDS]
    if whole := _WORDS.get("-".join(parts).removesuffix("問題").removesuffix("问题")):
        return whole
    named = [word for word in parts if word[0].isalnum()] or parts  # rather than signs
    severities = [_WORDS.get(word, "") for word in named]
    return strictest(*severities) if all(severities) else ""


def of_tool(word: str) -> str:
    """The severity of a tool's own word, such as `error` of a linter; else ''."""
    return severity(word) or _OF_TOOLS.get(word.lower(), "")


def of_score(text: str) -> str:
    """The severity of a score such as `9.8` of CVSS; '' for anything else."""
    whole, _, rest = text.strip().partition(".")
    number = float(text) if whole.isdecimal() and rest.isdecimal() else 99.0
    bounds = {9.0: "P0", 7.0: "P1", 4.0: "P2", 0.0: "P3"}
    least = next((bound for bound in bounds if bound <= number <= 10), -1.0)
    return bounds.get(least, "")


def is_scale(label: str) -> bool:
    """Whether a label says how bad something is: `Severity`, `Overall risk`, `RISK FACTOR`."""
    parts = label.upper().strip(" _*.").replace("-", " ").split()
    if _SCALES.isdisjoint(parts):
        return False
    is_named = 1 < len(parts) <= _FEW and parts[-1] in _SCALES - _VAGUE  # `Gap rating`
    return all(w in _SCALES or w in _OF_SCALES for w in parts) or (
        is_named and _OTHERS.isdisjoint(map(str.lower, parts))
    )


def trimmed(word: str) -> str:
    """`word` from its first letter or digit to its last."""
    return str(_EDGES.sub("", word))


def strictest(*severities: str) -> str:
    """The strictest of the severities that are understood, or ''."""
    return next((severity for severity in SEVERITIES if severity in severities), "")


def is_id(text: str) -> bool:
    """Whether `text` may be a finding's id: P0-1, IMP-2, FD-P3, Q7, AR-001."""
    core = text.strip("*_`[]()")
    if len(core) > 24 or not core[:1].isalpha() or not any(map(str.isdigit, core)):
        return False
    if "/" in core and "." in core:
        return False  # a path
    return all(char.isalnum() or char in _ID for char in core)


def severity_of_id(identity: str) -> str:
    """The severity that an id like `P0-1` or `IMP-2` carries; '' for `FD-P1` or `Q-1`."""
    carried = _CARRIED.match(identity.upper())
    return carried[1] if carried else ""


def of_audit(identity: str) -> str:
    """The severity of an id as audits number them: `H-1` is the first of the high ones."""
    letter, _, number = identity.partition("-")
    return {"C": "P0", "H": "P1", "M": "P2", "L": "P3"}.get(letter, "") if number.isdigit() else ""


def mentions_serious(text: str) -> bool:
    """Whether a word of `text` is P0 or P1, or an id that carries one of them."""
    return not {"p0", "p1"}.isdisjoint(words(text))


def says_nothing(text: str) -> bool:
    """Whether a line, or the text after `P0:`, only says that there is none."""
    if len(text) > 80:
        return False
    parts = words(text)
    return not _NOTHING.isdisjoint(parts) and _SAYS_NOTHING.issuperset(parts)


def is_comment(text: str) -> bool:
    """Whether the line is a comment written by runs that hides no row."""
    whole = text.startswith(("<!--", "<\\!--")) and text.endswith("-->")
    return whole and "|" not in text and not mentions_serious(text)


def is_mark(text: str) -> bool:
    """Whether a line is only a separator."""
    return not text.strip("-=_* ") or is_comment(text)


def labelled(text: str) -> tuple[str, str]:
    """`STATUS` and `x` for a line like `- **Status:** x` or `| Status | x |`; else ('', '').

    The label is in uppercase; the value is unchanged.
    """
    bare, _ = unbulleted(text)
    if bare.startswith("|"):
        label, mark, value = bare.strip("| \t").partition("|")
        mark = "" if "|" in value else mark
    else:
        label, mark, value = bare.replace("：", ":", 1).partition(":")
    if not mark or len(label) > 40:
        return "", ""
    value = value.strip(" \t*")
    return plain(label).rstrip(" .").upper(), value.lstrip("_ ") if label.startswith("_") else value


def verdict(text: str) -> str | None:
    """The words of a line like `**Verdict:** safe`, verbatim; None for any other line."""
    label, value = labelled(text) if "erdict" in text or "ERDICT" in text else ("", "")
    return plain(value) if label in _VERDICT_LABELS else None


def verdict_word(stated: str) -> str:
    """One of VERDICTS or ''; `safe` and `error` only if nothing takes them back."""
    text = unquoted(plain(stated)).lower().replace("_", "-").replace("needs ", "needs-")
    word = next((word for word in VERDICTS if text.startswith(word)), "")
    rest = text.removeprefix(word)
    if word in ("needs-changes", "risky"):
        return "" if rest[:1].isalnum() or "|" in rest else word
    taken_back = any(word in rest for word in ("|", "needs-", "risky", "unsafe", "not safe"))
    taken_back = taken_back or is_conditional(words(rest))
    return word if _REMARK.match(rest) and not taken_back else ""


def is_conditional(told: Sequence[str]) -> bool:
    """Whether words behind a verdict make it depend on something: `if fixed`, `after the fix`."""
    for at, word in enumerate(told[:_BEHIND]):
        behind = told[at + 1 : at + 1 + _NEAR]
        mends = not _HOLDS.isdisjoint(behind) or any(each.startswith(_MENDING) for each in behind)
        is_denied = not NEGATIONS.isdisjoint(told[max(0, at - _BEFORE) : at])
        depends = word in _CONDITIONS or (word in _LATER and mends)
        if depends and not is_denied:
            return True
    return False


def passes(stated: str) -> bool:
    """Whether a verdict in other words begins with a pass: `PASS with notes`."""
    low = plain(stated).lower()
    first = next(iter(words(low)), "") if low[:1].isalpha() else ""
    is_whole = "|" not in low and "fail" not in low and not is_conditional(words(low)[1:])
    return first in _PASSES and is_whole
