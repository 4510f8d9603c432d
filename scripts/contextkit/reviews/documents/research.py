"""What a research agent's file holds: sources, findings, how sure it is, and what is missing.

### Sources       a list
### Findings      headings, or paragraphs that begin in bold
### Confidence    high, medium or low
### Gaps
"""

from __future__ import annotations

from contextkit.reviews.documents import lines as review_lines
from contextkit.reviews.documents.index import Finding

SECTIONS = ("sources", "findings", "confidence", "gaps")
_SENTINEL = "flux-research:complete"
_LIKELY = 3  # of the four sections: then a file is research also without its sentinel


class Research:
    """Collects from the lines of a file, given one after the other."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.findings: list[Finding] = []
        self._lines = dict.fromkeys(SECTIONS, -1)  # in each section that is there
        self._section = ""
        self._rank = 0
        self._sure = self._gaping = False

    def take(self, number: int, level: int, text: str) -> None:
        if level > 0:
            self._heading(number, level, text)
        elif self._section:
            self._lines[self._section] += 1
            self._note(number, text)

    def _heading(self, number: int, level: int, text: str) -> None:
        title = review_lines.plain(text).lower().lstrip("0123456789. ")
        name = title.replace(":", " ").partition(" ")[0]
        if self._lines.get(name) == -1:
            self._section, self._rank, self._lines[name] = name, level, 0
        elif level <= self._rank:
            self._section = ""
        elif self._section:
            self._lines[self._section] += 1
            if self._section == "findings":
                self._add(number, review_lines.plain(text))

    def _note(self, number: int, text: str) -> None:
        if self._section == "sources":
            bare, listed = review_lines.unbulleted(text)
            if listed:
                self.sources.append(bare)
        elif self._section == "findings" and text.startswith("**"):
            lead = text[2:].partition("**")[0]
            if ":" not in lead:
                self._add(number, lead)
        elif self._section == "confidence":
            words = "".join(char if char.isalpha() else " " for char in text.lower()).split()
            self._sure = self._sure or "high" in words or "medium" in words
        elif self._section == "gaps":
            self._gaping = self._gaping or "significant gap" in text.lower()

    def _add(self, number: int, title: str) -> None:
        self.findings.append(
            Finding(
                severity="", id="", section="Findings", title=title, line=number, raw_severity=""
            )
        )

    def is_likely(self, last_line: str) -> bool:
        """Whether a file without an index is research; `last_line` may hold the sentinel."""
        there = sum(lines >= 0 for lines in self._lines.values())
        return there >= _LIKELY or _SENTINEL in last_line

    def has_findings(self) -> bool:
        return self._lines["findings"] > 0

    def flags(self) -> tuple[str, ...]:
        """What keeps the research from being complete."""
        wrong = {
            "no_sources": not self.sources,
            "no_findings": not self.has_findings(),
            "no_confidence": self._lines["confidence"] <= 0,
            "low_confidence": self._lines["confidence"] > 0 and not self._sure,
            "no_gaps": self._lines["gaps"] <= 0,
            "significant_gaps": self._gaping,
        }
        return tuple(name for name, holds in wrong.items() if holds)
