"""What of a finding's section is worth reading at first: the problem, and what would mend it."""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.reviews.documents import lines
from contextkit.reviews.documents.issues import is_mark

_PROBLEM, _FIX = 60, 45  # tokens
_FEWEST = 4  # words of a paragraph that says something by itself
_FIXES = ("fix", "fixes", "recommendation", "recommendations", "recommended", "suggestion",
          "suggested", "action", "remedy", "mitigation", "solution", "proposal", "proposed",
          "change", "remediation", "resolution")  # fmt: skip
_PROBLEMS = ("problem", "issue", "description", "impact", "finding", "evidence", "what", "concern",
             "risk", "observation", "why", "details", "bug", "failure", "consequence")  # fmt: skip
_FACTS = ("severity", "priority", "file", "files", "location", "line", "lines", "confidence",
          "agent", "agents", "convergence", "status", "section", "category", "source", "where",
          "lens", "type", "effort", "id", "affected", "path", "place", "ref", "refs")  # fmt: skip


def excerpt(section: str, title: str) -> str:
    """The problem in at most 60 tokens and, if it is told, the fix in at most 45; each a line."""
    problem, fix = problem_of(section, title), fix_of(section)
    parts = [tokens.clip(problem, _PROBLEM)] if problem else []
    if fix and fix not in problem:
        parts.append("Fix: " + tokens.clip(fix, _FIX))
    return "\n".join(parts)


def problem_of(section: str, title: str = "") -> str:
    """The first words of a section that say what is wrong: no label, no heading, no code.

    A paragraph that is called the problem goes before one that is not; empty if there is none.
    """
    first = ""
    for label, text in _paragraphs(section, title):
        if label in _PROBLEMS and text:
            return text
        if not first and text and label not in _FACTS and label not in _FIXES:
            first = text
    return first


def fix_of(section: str) -> str:
    """What a section says would mend it; empty if it says nothing."""
    return next((text for label, text in _paragraphs(section) if label in _FIXES and text), "")


def _paragraphs(section: str, title: str = "") -> list[tuple[str, str]]:
    """(label, text) of each paragraph or list item below the heading; the label's first word.

    A label with nothing behind it (`**Problem:**`) goes with the paragraph that follows.
    """
    found: list[tuple[str, str]] = []
    head, _, body = section.partition("\n")
    if not body.strip() or head.lstrip()[:1] not in ("#",):
        body = f"{_behind_title(head, title)}\n{body}"
    label = ""
    joins = False
    last = 0
    for number, level, line in lines.lines(body):
        if level < 0 or "|" in line[:1] or is_mark(line):
            joins = False
            continue
        if level > 0:
            label, joins = _first_word(line), False
            continue
        bare, listed = lines.unbulleted(line)
        named, text = _labelled(bare)
        if named:
            label = named
            joins = False
            if not text:
                continue
        if joins and not listed and number == last + 1 and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {names.one_line(lines.plain(text))}")
        else:
            found.append((label, names.one_line(lines.plain(text))))
        label, joins, last = "", True, number
    found = [(name, text) for name, text in found if _says_something(text)]
    return [(name, _continued(found, number)) for number, (name, _) in enumerate(found)]


def _says_something(text: str) -> bool:
    return sum(map(str.isalpha, text)) > 3 and not (text[0] == "(" and text[-1] == ")")


def _continued(found: list[tuple[str, str]], number: int) -> str:
    """A paragraph; with the next one where it only leads to it: `The plan says:`."""
    text = found[number][1]
    leads = text.endswith(":") or len(text.split()) < _FEWEST
    if not leads or number + 1 == len(found) or found[number + 1][0] in _FIXES:
        return text
    return f"{text} {found[number + 1][1]}"


def _behind_title(head: str, title: str) -> str:
    """What the first line says behind the title of a finding that has no heading."""
    bare, _ = lines.unbulleted(head.strip())
    if bare[:2] == "**":
        return bare[2:].partition("**")[2].strip(" :—–-")
    plain = lines.plain(bare)
    at = plain.find(title) if title else -1
    return plain[at + len(title) :].strip(" :—–-") if at >= 0 else ""


def _labelled(text: str) -> tuple[str, str]:
    """The first word of a label in lower case and what follows: `**Problem**: x`, `Fix — x`."""
    label, mark, value = "", "", ""
    if text[:2] in ("**", "__"):
        label, _, value = text[2:].partition(text[:2])
        ends = (
            label.rstrip()[-1:] in ":.?" or value.lstrip()[:1] in (":", "—", "–", "-") or not value
        )
        mark = ":" if ends else ""
    if not mark:
        label, mark, value = text.partition(":")
    word = _first_word(label)
    known = word in _FIXES or word in _PROBLEMS or word in _FACTS
    if not mark or len(label) > 40 or not (known or (text[:2] == "**" and not value.strip())):
        return "", text
    return word, value.strip(" :—–-*_")


def _first_word(text: str) -> str:
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    return next((w for w in words if w in _FIXES or w in _PROBLEMS or w in _FACTS), "")
