"""Findings in JSON or CSV: SARIF, and what linters, scanners and review bots write.

They are those of `text/objects.py`, with our severities.
"""

from __future__ import annotations

import itertools

from contextkit.reviews.documents import vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.text import objects

_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_WORDS = {"error": "P1", "note": "P3", "none": "P3", "fail": "P1", "failure": "P1"}
_MOST = 5_000  # findings
_AHEAD = 2_000  # lines in which the next finding is looked for


def findings(text: str) -> list[Finding] | None:
    """Return the findings of JSON, of an object a line, or of CSV; None if it is none of them.

    `line` and `end` are the lines of the object in the text.
    """
    bare = text.removeprefix("\ufeff").strip()
    tree = objects.parsed(bare) if bare[:1] in ("{", "[") else objects.rows(bare)
    if tree is None or (isinstance(tree, list) and not any(objects.below(tree))):
        return None
    search = _Search(text.split("\n"))
    found = []
    for one in itertools.islice(filter(None, map(_of, objects.findings(tree, _graded))), _MOST):
        first, last = search.span(one.title)
        found.append(one.replace(line=first, end=last))
    return found


def _of(one: objects.Found) -> Finding | None:
    """The finding of an object; a comment beside a line says in its words how bad it is."""
    title = one.title or one.name
    severity = one.grade or vocabulary.Head(title).severity
    if not severity:
        return None
    identity = one.id if vocabulary.is_id(one.id) else ""
    return Finding(
        severity=severity, id=identity, section="", title=title, line=1, raw_severity=severity,
        file=one.file, at=one.line,
    )  # fmt: skip


def _graded(key: str, word: str) -> str:
    if key in ("type", "confidence"):  # of a bot, no severity
        return ""
    known = vocabulary.severity(word) or _WORDS.get(word.lower(), "")
    return known or (_NUMBERS.get(word, "") if key == "severity" else "")


class _Search:
    """Finds the lines of each title in turn."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self._at = lines, 0
        self._is_json = next(filter(str.strip, lines), "").lstrip("\ufeff \t")[:1] in ("{", "[")
        self._plain = [line.replace('\\"', '"') for line in lines]

    def span(self, title: str) -> tuple[int, int]:
        """Return the lines of the object around the next line that has this title, or begins it."""
        ahead = range(self._at, min(self._at + _AHEAD, len(self._plain)))
        for words in (title[:40], " ".join(title.split()[:2])):
            at = next((number for number in ahead if words in self._plain[number]), -1)
            if at >= 0:
                self._at = at
                return self._around(at)
        return min(self._at + 1, len(self._lines)), min(self._at + 1, len(self._lines))

    def _around(self, at: int) -> tuple[int, int]:
        if not self._is_json or ("{" in self._lines[at] and "}" in self._lines[at]):
            return at + 1, at + 1
        first = at
        while first > max(0, at - 30) and "{" not in self._lines[first]:
            first -= 1
        last = at
        while last < min(len(self._lines) - 1, at + 30) and "}" not in self._lines[last]:
            last += 1
        return first + 1, last + 1
