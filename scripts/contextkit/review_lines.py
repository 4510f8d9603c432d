"""One line of an agent's review: what it says, whatever marks it wears.

    - P0 | P0-1 | "Section" | Title          as it should be
    1. **[HIGH] F2: title**                  as it comes
    | P2 | FD-P5 | Section | Title |

Agents keep to no grammar: bullets, bold, brackets, tables, other words for a severity. What
these functions do not understand they say so; they never guess towards the milder.
"""

from __future__ import annotations

from contextkit.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Line = tuple[int, int, str]  # number from 1, heading level, text without blanks around it

SEVERITIES = ("P0", "P1", "P2", "P3", "IMP")  # the strictest first
SERIOUS = ("P0", "P1")
VERDICTS = ("safe", "needs-changes", "risky", "error")  # the mildest first
FENCE = -1  # a level: the line opens or closes a code fence
UNCLOSED = -2  # a level: this fence is never closed

_WORDS = {
    "P0": "P0", "P1": "P1", "P2": "P2", "P3": "P3", "IMP": "IMP", "CRITICAL": "P0",
    "HIGH": "P1", "MAJOR": "P1", "MUST-FIX": "P1", "MEDIUM": "P2", "NEEDS-ATTENTION": "P2",
    "LOW": "P3", "MINOR": "P3", "INFO": "P3", "IMPROVEMENT": "IMP", "IMPROVEMENTS": "IMP",
}  # fmt: skip
_FIRST_WORDS = frozenset(word.partition("-")[0] for word in _WORDS)
_QUOTES = "\"'“”„‘’«»"
_BULLETS = frozenset("-*+•–—")
_WIDTHLESS = "\ufeff\u200b\u200c\u200d\u2060\u00ad"  # the byte-order mark among them
_DIGITS = "0123456789"
_ONE_DIGIT = frozenset(_DIGITS)
_APART = str.maketrans(dict.fromkeys("/,()+&", " "))
_NOTHING = frozenset(["none", "no", "nothing", "n", "0"])
_SAYS_NOTHING = _NOTHING | frozenset(
    "a there is are p0 p1 p2 p3 critical high serious blocking severity priority issue issues"
    " finding findings problem problems found identified reported any were was in this review"
    " applicable more other further".split()
)
_PASSES = ("pass", "passed", "clean", "ok", "proceed", "approve", "approved", "lgtm")
_VERDICT_LABELS = ("VERDICT", "OVERALL VERDICT", "FINAL VERDICT")
_ID = frozenset("-_./#")


class Finding(Record):
    """A row of a Findings Index; `severity` is empty where it was not understood."""

    severity: str
    id: str
    section: str
    title: str
    line: int
    raw_severity: str
    group: str = ""  # the label that the row stands below
    extra: tuple[str, ...] = ()  # fields after the title


# Lines


def lines(text: str) -> Iterator[Line]:
    """Every line that is not blank and in no code fence, with its heading level; 0 is none.

    Agents put fences into fences: one with a language, or further in than the one it stands in,
    opens another, where strict Markdown would end the outer one or see none.
    """
    fences: list[tuple[str, int]] = []
    opened = 0
    for number, line in numbered(text):
        bare = line.strip().replace("\t", " ").replace("\u00a0", " ")
        if not bare:
            continue
        if bare[0] in "`~" and _changes(fences, bare, len(line) - len(line.lstrip())):
            opened = number if len(fences) == 1 else opened
            yield number, FENCE, bare
        elif fences:
            continue
        elif bare[0] == "#" and len(line[: line.index("#")].expandtabs(4)) < 4:
            title = bare.lstrip("#")
            level = len(bare) - len(title)
            if level > 6 or not (title[:1].isspace() or not title or is_index(title)):
                yield number, 0, bare
            else:
                yield number, level, title.rstrip("#").strip()
        else:
            yield number, 0, bare
    if fences:
        yield opened, UNCLOSED, fences[0][0]


def _changes(fences: list[tuple[str, int]], bare: str, indent: int) -> bool:
    """Whether a line opens a fence or closes the last of `fences`, which are changed so."""
    mark = bare[0]
    rest = bare.lstrip(mark)
    run = bare[: len(bare) - len(rest)]
    if len(run) < 3 or (mark == "`" and "`" in rest):
        return False
    outer, outer_indent = fences[-1] if fences else ("", 0)
    if outer and mark != outer[0]:
        return False
    if outer and not rest and indent <= outer_indent:
        closes = len(run) >= len(outer)
        if closes:
            fences.pop()
        return closes
    fences.append((run, indent))
    return True


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `text` with their numbers, without CRs and what has no width."""
    if not text.isascii():
        for mark in _WIDTHLESS:
            text = text.replace(mark, "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    start, number = 0, 1
    while (end := text.find("\n", start)) >= 0:
        yield number, text[start:end]
        start, number = end + 1, number + 1
    yield number, text[start:]


def plain(text: str) -> str:
    """`text` without emphasis and code ticks."""
    return text.replace("**", "").replace("__", "").replace("`", "").strip(" \t*_")


def unquoted(text: str) -> str:
    return text.strip(_QUOTES + " \t*`")


def is_quoted(text: str) -> bool:
    return text[:1] != "" and text[0] in _QUOTES


def unbulleted(text: str) -> tuple[str, bool]:
    """`text` without its bullet, number or box, and whether it had one."""
    rest = text
    if text[:1] in _BULLETS and text[1:2].isspace():
        rest = text[2:].strip()
    elif text[:1] in _ONE_DIGIT:
        after = text.lstrip(_DIGITS)
        if after[:1] in (".", ")") and after[1:2].isspace():
            rest = after[2:].strip()
    if rest is not text and rest[:4].lower() in ("[ ] ", "[x] "):
        rest = rest[4:].strip()
    return rest, rest is not text


def is_index(title: str) -> bool:
    """Whether a heading is that of a Findings Index, whatever a lost line end glued to it."""
    if "ndex" not in title and "NDEX" not in title:
        return False
    before, found, after = plain(title).lower().partition("findings index")
    fits = before.strip(" .:)" + _DIGITS) in ("", "final")
    return fits and bool(found) and not after.strip()[:1].isalnum()


def is_comment(text: str) -> bool:
    """Whether the line is a comment as runs leave them, and hides no row."""
    whole = text.startswith(("<!--", "<\\!--")) and text.endswith("-->")
    return whole and "|" not in text and not mentions_serious(text)


# Severities and ids


def severity(text: str) -> str:
    """P0 to P3 or IMP for a severity word in any dress, the strictest of several; else empty."""
    if len(text) > 60:
        return ""
    words = [trimmed(word) for word in text.upper().replace("_", "-").translate(_APART).split()]
    words = [word for word in words if word]
    whole = "-".join(words)
    if whole in _WORDS:
        return _WORDS[whole]
    known = [_WORDS.get(word, "") for word in words]
    return strictest(*known) if all(known) else ""


def trimmed(word: str) -> str:
    """`word` from its first letter or digit to its last."""
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while start < end and not word[end - 1].isalnum():
        end -= 1
    return word[start:end]


def strictest(*severities: str) -> str:
    """The strictest of the severities that are understood; empty if none is."""
    return next((severity for severity in SEVERITIES if severity in severities), "")


def is_id(text: str) -> bool:
    """Whether `text` may be a finding's id: P0-1, IMP-2, FD-P3, Q7, AR-001."""
    core = text.strip("*_`[]()")
    if not (1 < len(core) <= 24 and core[0].isalpha() and any(map(str.isdigit, core))):
        return False
    return all(char.isalnum() or char in _ID for char in core)


def severity_of_id(identity: str) -> str:
    """The severity that an id like `P0-1` or `IMP-2` carries; empty for `FD-P1` or `Q-1`."""
    core = identity.strip("*_`[]()").upper()
    for known in SEVERITIES:
        if core.startswith(known) and not core[len(known) : len(known) + 1].isalnum():
            return known
    return ""


def says_nothing(text: str) -> bool:
    """Whether a line, or what stands behind `P0:`, only says that there is none."""
    if len(text) > 80:
        return False
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return not _NOTHING.isdisjoint(words) and _SAYS_NOTHING.issuperset(words)


def mentions_serious(text: str) -> bool:
    """Whether a word of `text` is P0 or P1, or an id that carries one of them."""
    upper = text.upper()
    if "P0" not in upper and "P1" not in upper:
        return False
    words = "".join(char if char.isalnum() else " " for char in upper).split()
    return any(word in SERIOUS for word in words)


def may_begin(text: str) -> bool:
    """Whether a Head of `text` can have anything: a quick no for almost all prose."""
    word = text[:60].lstrip(" *_`[(").partition(" ")[0]
    return not word.isalpha() or word.upper() in _FIRST_WORDS


class Head:
    """How a line begins that is no table row: `[P0] …`, `P0-1. P1: …`, `**[F1] P0 …**`.

    `title` is what remains; `marked` says whether brackets or a colon set the beginning off.
    """

    def __init__(self, text: str) -> None:
        self.severity = self.raw = self.id = ""
        self.marked = False
        self.title = plain(text)
        for _ in range(2):
            word, marked, rest = _first_word(self.title)
            found = severity(word)
            if found and not self.raw and (marked or word.upper() in SEVERITIES):
                self.severity, self.raw = found, word
            elif not self.id and is_id(word) and (marked or severity_of_id(word)):
                self.id = word
            else:
                break
            self.marked = self.marked or marked
            self.title = rest
        self.severity = strictest(self.severity, severity_of_id(self.id))


def _first_word(text: str) -> tuple[str, bool, str]:
    """The first word, whether brackets or a following mark set it off, and the rest."""
    closing = {"[": "]", "(": ")"}.get(text[:1], "")
    end = text.find(closing, 0, 40) if closing else -1
    if end > 0:
        return text[1:end].strip(), True, text[end + 1 :].lstrip(" :.—–-|*_")
    word = text[:40].partition(" ")[0]
    for mark in (":", "—", "–", "|"):
        word = word.partition(mark)[0]
    word = word.rstrip(".,;)")
    after = text[len(word) : len(word) + 4]
    marked = after[:1] in (".", ")") or after.strip()[:1] in (":", "—", "–", "|", "-")
    return word, marked, text[len(word) :].lstrip(" :.)—–-|*_,;")


# Verdicts


def labelled(text: str) -> tuple[str, str]:
    """`STATUS` and `x` of a line like `- **Status:** x` or `| Status | x |`; else two empties.

    The label is in upper case, the value as it stands.
    """
    bare, _ = unbulleted(text)
    if bare[:1] == "|":
        label, mark, value = bare.strip("| \t").partition("|")
        mark = "" if "|" in value else mark
    else:
        label, mark, value = bare.replace("：", ":", 1).partition(":")
    if not mark or len(label) > 40:
        return "", ""
    value = value.strip(" \t*")
    return plain(label).upper(), value.lstrip("_ ") if label[0:1] == "_" else value


def verdict(text: str) -> str | None:
    """What a line like `**Verdict:** safe` states, word for word; None for any other line."""
    if "erdict" not in text and "ERDICT" not in text:
        return None
    label, value = labelled(text)
    return plain(value) if label in _VERDICT_LABELS else None


def verdict_word(said: str) -> str:
    """One of VERDICTS, or empty: `safe` and `error` only where nothing takes them back."""
    text = unquoted(plain(said[:400])).lower().replace("_", "-")
    text = text.replace("needs changes", "needs-changes")
    for word in VERDICTS:
        if text.startswith(word):
            rest = text[len(word) :]
            if word in ("needs-changes", "risky"):
                return "" if rest[:1].isalnum() or "|" in rest else word
            return word if _leaves_standing(rest) else ""
    return ""


def _leaves_standing(rest: str) -> bool:
    """Whether what follows the word `safe` is nothing, or a remark that a mark sets off."""
    if any(word in rest for word in ("|", "needs-", "risky", "unsafe", "not safe")):
        return False
    following = rest.lstrip()
    if not following or rest[0] in ".,;:!)—–" or rest[0] in _QUOTES:
        return True
    return rest[0].isspace() and following[0] in "—–-("


def passes(said: str) -> bool:
    """Whether a verdict in other words at least begins with one for a pass: `PASS with notes`."""
    low = plain(said[:400]).lower()
    letters = "".join(char if char.isalpha() else " " for char in low)
    return letters.partition(" ")[0] in _PASSES and "|" not in low and "fail" not in low
