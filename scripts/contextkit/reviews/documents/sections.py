"""The section of a review to read for one finding, and an excerpt of it.

A finding's section begins where its id has its highest heading in the body, or else where the body
mentions the place that its row names, or where a heading has most of the words of its title;
otherwise the finding has only its row. An excerpt is the problem and the suggested fix.
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.reviews.documents import agent_review, index, lines
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.outline import Issues, is_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from contextkit.reviews.documents.index import Block

    Span = tuple[int, int]  # first and last line, from 1
    Place = tuple[str, int, int]  # a file with its first and last line

_ALIKE, _RARE = 0.35, 0.15  # minimum likeness of a title and a heading; bonus for a rare word
_GENERAL = frozenset(
    "finding findings critical high medium major minor impact issue violation".split()
)
_LINES = 3  # of a block, in which its place is named
_PLAIN = 7  # the level of a section without a heading
_PROBLEM, _FIX = 60, 45  # tokens
_FIX_INSIDE = ". Fix: "  # in the middle of a paragraph
_FEWEST = 4  # words in a paragraph that stands on its own
_CODE = 100  # characters of a line of code
_FIXES = ("fix", "fixes", "recommendation", "recommendations", "recommended", "suggestion",
          "suggested", "action", "remedy", "mitigation", "solution", "proposal", "proposed",
          "change", "remediation", "resolution")  # fmt: skip
_PROBLEMS = ("problem", "issue", "description", "impact", "finding", "evidence", "what", "concern",
             "risk", "observation", "why", "details", "bug", "failure", "consequence")  # fmt: skip
_FACTS = ("severity", "priority", "file", "files", "location", "line", "lines", "confidence",
          "agent", "agents", "convergence", "status", "section", "category", "source", "where",
          "lens", "type", "effort", "id", "affected", "path", "place", "ref", "refs")  # fmt: skip


def section(text: str, finding: str) -> str:
    """Return the section of the finding with this id, or below this heading; else its index row.

    Empty if there is neither.
    """
    return sections(text, [finding])[finding]


def sections(text: str, findings: Iterable[str]) -> dict[str, str]:
    """Like `section` for many findings at once, parsing the text only once."""
    body = _Body(text)
    return {finding: body.section(finding) for finding in findings}


def headings(text: str) -> list[tuple[int, str]]:
    """Return line number and title of every heading."""
    return [(number, lines.plain(title)) for number, _, title in _Body(text).headings]


def nearest(text: str, wanted: str) -> str:
    """Return the section whose heading shares the most words with `wanted`; '' if none does."""
    body = _Body(text)
    words = _words(wanted)
    found = [(len(words & _words(title)), -number, title) for number, _, title in body.headings]
    shared, _, title = max(found, default=(0, 0, ""))
    return body.section(title) if shared else ""


class _Body:
    """The blocks of one review, and which of them belongs to which finding."""

    def __init__(self, text: str) -> None:
        blocks: list[Block] = []
        collected = Issues()
        self.headings: list[tuple[int, int, str]] = []
        for number, level, line in index.walk(text, blocks):
            collected.take(number, level, line)
            if level > 0:
                self.headings.append((number, level, line))
        self._lines = [line for _, line in lines.numbered(text)]
        self._last = len(self._lines)
        issues = collected.finish(self._last)
        headings = [(number, level, _key(title)) for number, level, title in self.headings]
        self._spans = _below(headings, self._last)
        self._spans |= {_key(each.id): (each.first, each.last) for each in issues if each.id}
        starts = {number: level for number, level, _ in self.headings}
        starts = {each.first: each.rank for each in issues} | starts
        review = agent_review.parse(text)
        self._places = self._of_findings(review, starts)

    def section(self, finding: str) -> str:
        """Return the lines of a finding or below a heading, without trailing separators."""
        key = _key(finding)
        first, last = self._places.get(key) or self._spans.get(key, (1, 0))
        kept = self._lines[first - 1 : last]
        while kept and (not kept[-1].strip() or is_mark(kept[-1].strip())):
            kept.pop()
        return "\n".join(kept)

    def _of_findings(self, review: Review, starts: dict[int, int]) -> dict[str, Span]:
        """Map each finding to its span of lines, up to the next finding or heading of its level."""
        begins: dict[str, int] = {}
        homeless: list[tuple[str, Finding]] = []
        seen: dict[str, int] = {}
        for finding in review.findings:
            key = _key(finding.id)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = f"{key}({seen[key]})"
            if key in self._spans:
                begins[key] = self._spans[key][0]
            elif not review.start_line:
                begins[key] = finding.line
            else:
                homeless.append((key, finding))
        taken = set(begins.values())
        free = {n: rank for n, rank in starts.items() if n not in taken and n > review.end_line}
        begins |= self._matched(homeless, free)
        stops = sorted(begins.values())
        found: dict[str, Span] = {}
        for key, first in begins.items():
            rank = starts.get(first, _PLAIN)
            nexts = [n for n, level in starts.items() if n > first and level <= rank]
            nexts += [n for n in stops if n > first]
            found[key] = (first, min(nexts, default=self._last + 1) - 1)
        found |= {key: (f.line, f.line) for key, f in homeless if key not in found}
        found.pop("", None)
        return found

    def _matched(self, rows: list[tuple[str, Finding]], free: dict[int, int]) -> dict[str, int]:
        """Map rows without a section of their own id to the blocks that discuss them, if any.

        Blocks match by a place that both name, or else by shared words, with a bonus for a rare
        one. Each block belongs to at most one row.
        """
        heads = {number: self._lines[number - 1] for number in free}
        common: dict[str, int] = {}
        for text in [*heads.values(), *(finding.title for _, finding in rows)]:
            for word in _words(text):
                common[word] = common.get(word, 0) + 1
        near = {n: _places(" ".join(self._lines[n - 1 : n - 1 + _LINES])) for n in free}
        pairs = []
        for key, finding in rows:
            places = _places(finding.title)
            for number, head in heads.items():
                score = _likeness(_words(finding.title), _words(head), common)
                score += sum(_meet(one, other) for one in places for other in near[number])
                pairs.append((score, -number, key))
        found: dict[str, int] = {}
        for score, number, key in sorted(pairs, reverse=True):
            if score >= _ALIKE and key not in found and -number not in found.values():
                found[key] = -number
        return found


def _likeness(one: set[str], other: set[str], common: dict[str, int]) -> float:
    """Return the likeness of two sets of words, 0 to 1; sharing a rare word adds to it."""
    shared = one & other
    if not shared:
        return 0.0
    rare = any(common[word] == 2 for word in shared)
    alike: float = len(shared) / (len(one) * len(other)) ** 0.5
    return alike + (_RARE if rare else 0.0)


def _words(text: str) -> set[str]:
    plain = "".join(char if char.isalnum() else " " for char in text.lower())
    words = [word for word in plain.split() if len(word) > 3 or any(map(str.isdigit, word))]
    return {word for word in words if word not in _GENERAL and not word.isdigit()}


def _places(text: str) -> list[Place]:
    """Return (file, first line, last line) for each `app.py:20-22` or similar in a text."""
    found = []
    for word in text.split():
        path, _, there = word.strip("`*[](),;").partition("+")[0].rpartition(":")
        first, _, last = there.partition("-")
        if path and names.is_whole(first, 9):
            found.append((path, int(first), int(last) if names.is_whole(last, 9) else int(first)))
    return found


def _meet(one: Place, other: Place) -> float:
    """Return 2 for equal places, 1 for overlapping ones, else 0."""
    if one == other:
        return 2.0
    return float(one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2])


def _key(text: str) -> str:
    return lines.plain(text).strip("*_`[]# ").upper()


def _below(headings: list[tuple[int, int, str]], last: int) -> dict[str, Span]:
    """Map each heading to its line and the last one before the next of its level or above."""
    found: dict[str, Span] = {}
    still_open: list[tuple[int, int, str]] = []
    for number, level, key in [*headings, (last + 1, 0, "")]:
        while still_open and still_open[-1][1] >= level:
            first, _, name = still_open.pop()
            found[name] = (first, number - 1)
        still_open.append((number, level, key))
    return found


def excerpt(section: str, title: str) -> str:
    """Return the problem in at most 60 tokens and any fix in at most 45, one line each."""
    problem, fix = problem_of(section, title), fix_of(section)
    parts = [tokens.clip(problem, _PROBLEM)] if problem else []
    if fix and fix not in problem:
        parts.append("Fix: " + tokens.clip(fix, _FIX))
    return "\n".join(parts)


def problem_of(section: str, title: str = "") -> str:
    """Return the first words of a section that say what is wrong: no label, heading or code.

    A paragraph labeled as the problem takes precedence; '' if there is none at all.
    """
    first = ""
    for label, text in _paragraphs(section, title):
        if label in _PROBLEMS and text:
            return text
        if not first and text and label not in _FACTS and label not in _FIXES:
            first = text
    return first


def fix_of(section: str) -> str:
    """Return what a section says would fix it, or ''."""
    found = _paragraphs(section)
    whole = (text for label, text in found if label in _FIXES and text)
    inside = (text.partition(_FIX_INSIDE)[2] for _, text in found if _FIX_INSIDE in text)
    return next((text for those in (whole, inside) for text in those), "")


def _paragraphs(section: str, title: str = "") -> list[tuple[str, str]]:
    """Return (label, text) of each paragraph or list item below the heading; one-word labels.

    A label on a line of its own (`**Problem:**`) goes with the paragraph or the whole list that
    follows; a list or a line of code completes a paragraph that ends in a colon.
    """
    found: list[tuple[str, str]] = []
    head, _, body = section.partition("\n")
    if not body.strip() or head.lstrip()[:1] not in ("#",):
        body = f"{_behind_title(head, title)}\n{body}"
    every = [line for _, line in lines.numbered(body)]
    label = ""
    joins = listing = False
    last = 0
    for number, level, line in lines.lines(body):
        if level < 0 or "|" in line[:1] or is_mark(line):
            if level == lines.FENCE and joins and _introduces(found):
                code = next(filter(_says_something, map(names.one_line, every[number:])), "")
                found[-1] = (found[-1][0], f"{found[-1][1]} {code[:_CODE]}".rstrip())
            joins = listing = False
            continue
        if level > 0:
            label, joins, listing = _first_word(line), False, False
            continue
        bare, listed = lines.unbulleted(line)
        named, text = _labelled(bare)
        if named:
            label = named
            joins = listing = False
            if not text:
                listing = True
                continue
        said = names.one_line(lines.plain(text))
        if listed and not named and joins and (listing or _introduces(found)):
            mark = "" if _introduces(found) else ";"
            found[-1] = (found[-1][0], f"{found[-1][1]}{mark} {said}")
            listing = True
        elif joins and not listed and number == last + 1 and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {said}")
        else:
            listing = listing and listed
            found.append((label, said))
        label, joins, last = "", True, number
    found = [(name, text) for name, text in found if _says_something(text)]
    return [(name, _continued(found, number)) for number, (name, _) in enumerate(found)]


def _introduces(found: list[tuple[str, str]]) -> bool:
    """Whether the last paragraph only introduces what follows: `The message says:`."""
    return bool(found) and found[-1][1].endswith(":")


def _says_something(text: str) -> bool:
    return sum(map(str.isalpha, text)) > 3 and not (text[0] == "(" and text[-1] == ")")


def _continued(found: list[tuple[str, str]], number: int) -> str:
    """Return a paragraph, joined with the next one if it only introduces it: `The plan says:`."""
    text = found[number][1]
    leads = text.endswith(":") or len(text.split()) < _FEWEST
    if not leads or number + 1 == len(found) or found[number + 1][0] in _FIXES:
        return text
    return f"{text} {found[number + 1][1]}"


def _behind_title(head: str, title: str) -> str:
    """Return the rest of the first line after the title of a finding that has no heading."""
    bare, _ = lines.unbulleted(head.strip())
    if bare[:2] == "**":
        return bare[2:].partition("**")[2].strip(" :—–-")
    plain = lines.plain(bare)
    at = plain.find(title) if title else -1
    return plain[at + len(title) :].strip(" :—–-") if at >= 0 else ""


def _labelled(text: str) -> tuple[str, str]:
    """Return a label's first word in lowercase and the rest: `**Problem**: x`, `Fix — x`."""
    label, mark, value = "", "", ""
    if text[:2] in ("**", "__"):
        label, _, value = text[2:].partition(text[:2])
        ends = (
            label.rstrip()[-1:] in ":.?" or value.lstrip()[:1] in (":", "—", "–", "-") or not value
        )
        mark = ":" if ends else ""
    if not mark:
        label, mark, value = text.partition(":")
        mark = mark if value[:1] in ("", " ") else ""  # not a label: `src/agent.py:42`
        mark = mark if _is_plain_label(label) else ""  # nor `The proposed flow is: `
    word = _first_word(label)
    known = word in _FIXES or word in _PROBLEMS or word in _FACTS
    if not mark or len(label) > 40 or not (known or (text[:2] == "**" and not value.strip())):
        return "", text
    return word, value.lstrip(" :—–-*_").rstrip(" —–-*_")


def _is_plain_label(label: str) -> bool:
    """Whether a label without emphasis is short enough: `Fix`, `Proposed fix`, `How to fix`."""
    words = label.split()
    begins = words[:1] and (_first_word(words[0]) or words[0].lower() == "how")
    return len(words) <= (3 if begins else 2)


def _first_word(text: str) -> str:
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    return next((w for w in words if w in _FIXES or w in _PROBLEMS or w in _FACTS), "")
