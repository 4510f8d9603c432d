"""The section of a review to read for one finding, and an excerpt of it.

A finding's section begins at a heading, an item or a bold lead above, below or inside the index.
Its id, its words, its place and its severity decide together; a block that names another number or
another severity is never its section, and a finding without one has only its row. An excerpt is the
problem and the suggested fix.
"""

from __future__ import annotations

import bisect

from contextkit.base import names, tokens
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterable
from contextkit.reviews.documents import agent_review, lines, places, shapes, vocabulary
from contextkit.reviews.documents.outline import is_mark
from contextkit.reviews.documents.places import Place
from contextkit.text.blocks import blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.index import Finding
    from contextkit.text.blocks import Block

Span = tuple[int, int]  # first and last line, from 1

_ALIKE, _RARE = 0.5, 0.2  # least score of a section; bonus for a word that no other has
_GENERAL = frozenset(
    "finding findings critical high medium major minor impact issue violation".split()
)
_LINES = 4  # of a block, in which its place is named
_TITLE = 400  # characters of a title
_COMMON = 60  # a word or an id in more sections than these tells nothing
_AROUND = 3  # lines shown above and below
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


def sections(
    text: str, findings: Iterable[str], review: agent_review.Review | None = None
) -> dict[str, str]:
    """Return the section of each finding, named by its id, or of each heading; else its index row.

    Empty if there is neither. `review` is what `parse` made of the text.
    """
    text = agent_review.bounded(text)
    body = _Body(text, review or agent_review.parse(text))
    return {finding: body.section(finding) for finding in findings}


def of_findings(text: str, review: agent_review.Review) -> list[str]:
    """Return the section of each finding of a review, in order; the row of one that has none."""
    body = _Body(text, review)
    return [body.lines_of(span) for span in body.spans]


def has_section(text: str, review: agent_review.Review) -> list[bool]:
    """Return for each finding whether the text says more about it than its row."""
    return [span != (row.line, row.line) for row, span in
            zip(review.findings, _Body(text, review).spans, strict=True)]  # fmt: skip


def around(text: str, line: int) -> str:
    """Return the lines around a line of a text, with their numbers."""
    rows = [row for _, row in lines.numbered(text)]
    first = max(1, line - _AROUND)
    return "\n".join(
        f"{number}: {row}" for number, row in enumerate(rows[first - 1 : line + _AROUND], first)
    )


def headings(text: str) -> list[tuple[int, str]]:
    """Return line number and title of every heading."""
    return [
        (block.first, lines.plain(block.title)) for block in blocks(text) if block.kind == "heading"
    ]


def nearest(text: str, wanted: str) -> str:
    """Return the section whose heading shares the most words with `wanted`; '' if none does."""
    words = _words(wanted)
    scored = [
        (len(words & _words(block.title)), -block.first, block.last)
        for block in blocks(text)
        if block.kind == "heading"
    ]
    shared, first, last = max(scored, default=(0, 0, 0))
    rows = [row for _, row in lines.numbered(text)]
    return "\n".join(rows[-first - 1 : last]).strip() if shared else ""


class _Candidate(NamedTuple):
    """A block that may be about a finding; `ids` and `severity` are those of its first line."""

    first: int
    last: int
    ids: frozenset[str]
    severity: str
    words: frozenset[str]
    place: Place


class _Body:
    """One review, and which of its lines belong to which finding."""

    def __init__(self, text: str, review: agent_review.Review) -> None:
        self._lines = [line for _, line in lines.numbered(text)]
        parts = shapes.parted(blocks("\n".join(self._lines)), self._lines)
        self._headings = {_key(block.title): (block.first, block.last) for block in reversed(parts)
                          if block.kind == "heading"}  # fmt: skip
        rows = review.findings
        if review.start_line:
            self.spans = self._matched(rows, self._candidates(parts, review))
        else:
            headings = {block.first for block in parts if block.kind == "heading"}
            starts = sorted({*headings, *(row.line for row in rows), len(self._lines) + 1})
            self.spans = [(row.line, max(row.line, row.end or self._under(row, starts)))
                          for row in rows]  # fmt: skip
        self._by_id: dict[str, Span] = {}
        times: dict[str, int] = {}
        for row, span in zip(rows, self.spans, strict=True):
            key = _key(row.id)
            times[key] = times.get(key, 0) + 1
            self._by_id[f"{key}({times[key]})" if times[key] > 1 else key] = span

    def _under(self, row: Finding, starts: list[int]) -> int:
        """Return the last line of a finding of research: of its heading, or of its bold lead."""
        if _key(row.title) in self._headings:
            return self._headings[_key(row.title)][1]
        return starts[bisect.bisect_right(starts, row.line)] - 1

    def section(self, finding: str) -> str:
        """Return the lines of a finding or below a heading, without trailing separators."""
        key = _key(finding)
        span = self._by_id.get(key) or self._headings.get(key)
        return self.lines_of(span) if span and key else ""

    def lines_of(self, span: Span) -> str:
        kept = self._lines[span[0] - 1 : span[1]]
        while kept and (not kept[-1].strip() or is_mark(kept[-1].strip())):
            kept.pop()
        return "\n".join(kept)

    def _candidates(self, parts: list[Block], review: agent_review.Review) -> list[_Candidate]:
        """The blocks outside the index that begin with an id, a severity or a title."""
        index = range(review.start_line, review.end_line + 1)
        starts = []
        for part in parts:
            is_around = part.first < review.start_line <= part.last
            is_index = part.first in index or is_around or _is_row(parts, part)
            if not is_index and _may_begin(part):
                starts.append(part)
        candidates = []
        for number, block in enumerate(starts):
            last, end = block.last, len(self._lines)
            after = starts[number + 1].first if number + 1 < len(starts) else end + 1
            if block.kind != "heading" and not block.level:  # no nested item
                outer = parts[block.inside].last if block.inside >= 0 else end
                before = block.first < review.start_line
                last = max(last, min(after, review.start_line if before else after) - 1)
                last = max(block.last, min(last, outer))
            near = self._lines[block.first - 1 : min(last, after - 1, block.first + _LINES)]
            candidates.append(_candidate(block, last, "\n".join(near)))
        return candidates

    def _matched(self, rows: tuple[Finding, ...], candidates: list[_Candidate]) -> list[Span]:
        """Return the span of each row: its best candidate, each of which belongs to one row."""
        finder = _Finder(candidates)
        pairs = [
            (score, -at, number)
            for number, row in enumerate(rows)
            for score, at in finder.scores(row)
        ]
        spans = [(row.line, row.line) for row in rows]
        used: set[int] = set()
        done: set[int] = set()
        for _, at, number in sorted(pairs, reverse=True):
            if -at not in used and number not in done:
                used.add(-at)
                done.add(number)
                spans[number] = (candidates[-at].first, candidates[-at].last)
        starts = [*sorted(candidates[at].first for at in used), len(self._lines) + 1]
        return [(first, min(last, starts[bisect.bisect_right(starts, first)] - 1))
                for first, last in spans]  # fmt: skip


def _is_row(parts: list[Block], block: Block) -> bool:
    """Whether a block is a row of an index, which may be one of several."""
    inside = parts[block.inside].title if block.inside >= 0 else ""
    return " | " in block.title and lines.is_index(inside)


def _may_begin(block: Block) -> bool:
    if block.kind == "heading":
        return not lines.is_index(block.title)
    bare = lines.unbulleted(block.title)[0]
    if block.kind not in ("text", "item") or bare[:2] == "**":
        return block.kind in ("text", "item")
    head = vocabulary.Head(bare[:_TITLE])
    return bool(head.id or (head.severity and head.marked))


def _candidate(block: Block, last: int, near: str) -> _Candidate:
    bare = lines.unbulleted(block.title)[0]
    if block.kind != "heading" and bare[:2] == "**" and "**" in bare[2:]:
        bare = bare[: bare.find("**", 2) + 60]
    bare = bare[:_TITLE]
    identity, severity, _ = shapes.titled(bare)
    words = {_key(word.strip(".,:;()[]*`")) for word in lines.plain(bare).split()}
    ids = frozenset(filter(_is_numbered, words)) | ({_key(identity)} - {""})
    return _Candidate(block.first, last, ids, severity, frozenset(_words(bare)), places.find(near))


class _Finder:
    """Finds the candidates that share an id, a place or a word with a row."""

    def __init__(self, found: list[_Candidate]) -> None:
        self._found = found
        self._by: dict[object, list[int]] = {}
        for at, block in enumerate(found):
            for key in (*block.ids, *((word,) for word in block.words), (*block.place[:1], "file")):
                self._by.setdefault(key, []).append(at)

    def scores(self, row: Finding) -> list[tuple[float, int]]:
        """Return (score, candidate) of the candidates that may be this row's."""
        words = _words(row.title)
        place = places.find(" ".join((row.title, row.section, *row.extra)))
        keys = [_key(row.id), *((word,) for word in words), (*place[:1], "file")]
        near: dict[int, None] = {}
        for key in keys:
            those = self._by.get(key, [])
            if len(those) <= _COMMON and key not in ("", ("", "file")):
                near |= dict.fromkeys(those)
        scored = [(self._score(row, words, place, self._found[at]), at) for at in near]
        return [(score, at) for score, at in scored if score >= _ALIKE]

    def _score(self, row: Finding, words: set[str], place: Place, candidate: _Candidate) -> float:
        identity = _key(row.id)
        own = identity in candidate.ids
        if not own and (
            _differs(identity, candidate.ids)
            or row.severity != (candidate.severity or row.severity)
        ):
            return 0.0
        shared = words & candidate.words
        alike = len(shared) / (len(words) * len(candidate.words)) ** 0.5 if shared else 0.0
        rare = any(len(self._by.get((word,), ())) == 1 for word in shared)
        same = place.file and place.file == candidate.place.file
        met = 0.7 if same and _meet(place, candidate.place) else 0.15 * bool(same)
        return own + 1.5 * alike + _RARE * rare + met + 0.05 * (row.severity == candidate.severity)


def _meet(place: Place, other: Place) -> bool:
    """Whether two places in one file overlap or are at most three lines apart."""
    if not (place.line and other.line):
        return False
    first, last = max(place.line, other.line), min(max(place[1:]), max(other[1:]))
    return first <= last + _AROUND


def _differs(identity: str, ids: frozenset[str]) -> bool:
    """Whether a candidate names another finding: an id of the same form."""
    form = identity.rstrip("0123456789")
    return any(
        other.rstrip("0123456789") == form or vocabulary.severity_of_id(other) for other in ids
    )


def _is_numbered(word: str) -> bool:
    is_short = "-" in word or len(word) < 5
    is_number = is_short and word[-1:].isdigit() and vocabulary.is_id(word)
    return is_number and not vocabulary.severity(word)


def _words(text: str) -> set[str]:
    long = (word for word in lines.words(text) if len(word) > 3 or not word.isalpha())
    return {word for word in long if not word.isdigit()} - _GENERAL


def _key(text: str) -> str:
    return lines.plain(text).strip("*_`[]# ").upper()


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
        first = first or ("" if label in (*_FACTS, *_FIXES) else text)
    return first


def fix_of(section: str) -> str:
    """Return what a section says would fix it, or ''."""
    paragraphs = _paragraphs(section)
    whole = (text for label, text in paragraphs if label in _FIXES and text)
    inside = (text.partition(_FIX_INSIDE)[2] for _, text in paragraphs if _FIX_INSIDE in text)
    return next((text for those in (whole, inside) for text in those), "")


def _paragraphs(section: str, title: str = "") -> list[tuple[str, str]]:
    """Return (label, text) of each paragraph or list item below the heading; one-word labels.

    A label on a line of its own (`**Problem:**`) goes with the paragraph or the whole list that
    follows; a list or a line of code completes a paragraph that ends in a colon.
    """
    paragraphs: list[tuple[str, str]] = []
    head, _, body = section.partition("\n")
    if not body.strip() or head.lstrip()[:1] not in ("#",):
        body = f"{_behind_title(head, title)}\n{body}"
    every = [line for _, line in lines.numbered(body)]
    label = ""
    joins = listing = False
    last = 0
    for number, level, line in lines.lines(body):
        if level < 0 or "|" in line[:1] or is_mark(line):
            if level == lines.FENCE and joins and _introduces(paragraphs):
                code = next(filter(_says_something, map(names.one_line, every[number:])), "")
                paragraphs[-1] = (paragraphs[-1][0], f"{paragraphs[-1][1]} {code[:_CODE]}".rstrip())
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
        plain = names.one_line(lines.plain(text))
        goes_on = listing or _introduces(paragraphs)
        is_item = listed and not named
        if is_item and joins and goes_on:
            mark = "" if _introduces(paragraphs) else ";"
            paragraphs[-1] = (paragraphs[-1][0], f"{paragraphs[-1][1]}{mark} {plain}")
            listing = True
        elif joins and not listed and number == last + 1:
            paragraphs[-1] = (paragraphs[-1][0], f"{paragraphs[-1][1]} {plain}")
        else:
            listing = listing and listed
            paragraphs.append((label, plain))
        label, joins, last = "", True, number
    paragraphs = [(name, text) for name, text in paragraphs if _says_something(text)]
    return [(name, _continued(paragraphs, number)) for number, (name, _) in enumerate(paragraphs)]


def _introduces(paragraphs: list[tuple[str, str]]) -> bool:
    """Whether the last paragraph only introduces what follows: `The message says:`."""
    return bool(paragraphs) and paragraphs[-1][1].endswith(":")


def _says_something(text: str) -> bool:
    return sum(map(str.isalpha, text)) > 3 and not (text[0] == "(" and text[-1] == ")")


def _continued(paragraphs: list[tuple[str, str]], number: int) -> str:
    """Return a paragraph, joined with the next one if it only introduces it: `The plan says:`."""
    text = paragraphs[number][1]
    leads = text.endswith(":") or len(text.split()) < _FEWEST
    if not leads or number + 1 == len(paragraphs) or paragraphs[number + 1][0] in _FIXES:
        return text
    return f"{text} {paragraphs[number + 1][1]}"


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
    if not mark or len(label) > 40:
        return "", text
    word = _first_word(label)
    is_known = word in _FIXES or word in _PROBLEMS or word in _FACTS
    if not (is_known or (text[:2] == "**" and not value.strip())):
        return "", text
    return word, value.lstrip(" :—–-*_").rstrip(" —–-*_")


def _is_plain_label(label: str) -> bool:
    """Whether a label without emphasis is short enough: `Fix`, `Proposed fix`, `How to fix`."""
    words = label[:100].split()
    begins = words[:1] and (_first_word(words[0]) or words[0].lower() == "how")
    return len(words) <= (3 if begins else 2)


def _first_word(text: str) -> str:
    return next((w for w in lines.words(text) if w in _FIXES or w in _PROBLEMS or w in _FACTS), "")
