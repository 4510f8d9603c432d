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
from contextkit.reviews.documents import agent_review, heads, index, places, shapes, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.places import Place
from contextkit.reviews.documents.sight import Part, Sight
from contextkit.text.blocks import blocks

Span = tuple[int, int]  # first and last line, from 1

_ALIKE, _RARE = 0.5, 0.2  # (`make bench what=reviews`) least score; bonus for a unique word
_GENERAL = vocabulary.word_set("common in titles")
_LINES = 4  # of a block that may name its place
_TITLE = 400  # characters of a title
_COMMON = 60  # sections from which on a shared word or id means nothing
_AROUND = 3  # lines shown above and below
_PROBLEM, _FIX = 60, 45  # tokens
_FIX_INSIDE = ". Fix: "  # may be in the middle of a paragraph
_FEWEST = 4  # words in a paragraph that stands on its own
_CODE = 100  # characters of a line of code
_FIXES = vocabulary.word_set("fixes")
_PROBLEMS = vocabulary.word_set("problems")
_FACTS = vocabulary.word_set("facts")
_LABELS = frozenset((*_FIXES, *_PROBLEMS, *_FACTS))


def sections(
    text: str, findings: Iterable[str], review: agent_review.Review | None = None
) -> dict[str, str]:
    """The section of each finding or heading, or its index row; `review` is the parsed text."""
    text = agent_review.bounded(text)
    body = _Body(text, review or agent_review.parse(text))
    return {finding: body.section(finding) for finding in findings}


def of_findings(text: str, review: agent_review.Review) -> list[str]:
    """The section of each finding of a review, in order; its row if it has none."""
    body = _Body(text, review)
    return [body.lines_of(span) for span in body.spans]


def around(text: str, review: agent_review.Review, finding: str) -> str:
    """The source lines around a finding that has only its row; '' for any other."""
    body = _Body(text, review)
    for row, span in zip(review.findings, body.spans, strict=True):
        is_alone = review.start_line and span == (row.line, row.line)
        if is_alone and row.key.upper() == finding.upper():
            file = row.file or _place_of(row).file
            rows = dict(vocabulary.numbered(text))
            near = (at for at in rows if at > review.end_line and file and file in rows[at])
            at = next(near, row.line)
            shown = (at for at in range(at - _AROUND, at + _AROUND + 1) if at in rows)
            numbered = "\n".join(f"{at}: {rows[at]}" for at in shown)
            return f"(no section of its own; these lines stand around it)\n{numbered}"
    return ""


def unread(text: str, wanted: str) -> str:
    """The headings of a file without readable findings, and the section nearest `wanted`."""
    headings = [block for block in blocks(text) if block.kind == "heading"]
    listed = "\n".join(f"{block.first}: {vocabulary.plain(block.title)}" for block in headings)
    words, section = _words(wanted), "" if wanted else text.strip()
    near = [(len(words & _words(block.title)), -block.first, block.last) for block in headings]
    shared, first, last = max(near, default=(0, 0, 0))
    if shared:
        rows = [row for _, row in vocabulary.numbered(text)]
        section = "\n".join(rows[-first - 1 : last]).strip()
    return "\n\n".join(filter(None, (listed, section)))


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
        self._lines = [line for _, line in vocabulary.numbered(text)]
        sight = Sight(text)
        headings = reversed(sight.headings)
        self._headings = {_key(part.title): (part.first, part.last) for part in headings}
        rows = review.findings
        if review.start_line:
            self.spans = self._matched(rows, self._candidates(sight, review))
        else:
            self.spans = [(row.line, max(row.line, row.end)) for row in rows]
        self._by_id = {_key(row.key): span for row, span in zip(rows, self.spans, strict=True)}

    def section(self, finding: str) -> str:
        """The lines of a finding or below a heading, without trailing separators."""
        key = _key(finding)
        span = self._by_id.get(key) or self._headings.get(key)
        return self.lines_of(span) if span and key else ""

    def lines_of(self, span: Span) -> str:
        kept = self._lines[span[0] - 1 : span[1]]
        while kept and (not kept[-1].strip() or vocabulary.is_mark(kept[-1].strip())):
            kept.pop()
        return "\n".join(kept)

    def _candidates(self, sight: Sight, review: agent_review.Review) -> list[_Candidate]:
        """The blocks outside the index that begin with an id, a severity or a title."""
        rows = range(review.start_line, review.end_line + 1)
        candidates = []
        for block in sight.parts:
            is_around = block.first < review.start_line <= block.last
            if block.first in rows or not _may_begin(block):
                continue
            last = block.last if block.kind == "heading" else block.end
            last = review.start_line - 1 if is_around else last
            near = self._lines[block.first - 1 : min(last, block.first + _LINES)]
            candidate = _candidate(block, last, "\n".join(near))
            if not is_around or candidate.ids or candidate.severity:  # else it is a title of all
                candidates.append(candidate)
        return candidates

    def _matched(self, rows: tuple[Finding, ...], candidates: list[_Candidate]) -> list[Span]:
        """The span of each row: its best candidate; no two rows share one."""
        by_key: dict[str, list[int]] = {}
        for at, candidate in enumerate(candidates):
            for key in _keys(candidate):
                by_key.setdefault(key, []).append(at)
        rare = {key for key, those in by_key.items() if len(those) == 1}
        telling = {key: those for key, those in by_key.items() if len(those) <= _COMMON}
        pairs = []
        for number, row in enumerate(rows):
            own = _Candidate(row.line, row.line, frozenset({_key(row.id)}), row.severity,
                             _words(row.title), _place_of(row))  # fmt: skip
            for at in {at for key in _keys(own) for at in telling.get(key, ())}:
                pairs.append((_score(own, candidates[at], rare), -at, number))
        spans = [(row.line, row.line) for row in rows]
        used: set[int] = set()
        done: set[int] = set()
        for score, at, number in sorted(pairs, reverse=True):
            if score >= _ALIKE and -at not in used and number not in done:
                used.add(-at)
                done.add(number)
                spans[number] = (candidates[-at].first, candidates[-at].last)
        starts = [*sorted(candidates[at].first for at in used), len(self._lines) + 1]
        return [(first, min(last, starts[bisect.bisect_right(starts, first)] - 1))
                for first, last in spans]  # fmt: skip


def _place_of(row: Finding) -> Place:
    return places.place_in(" ".join((row.title, row.section, *row.extra)))


def _keys(candidate: _Candidate) -> set[str]:
    """The keys that a candidate and a row may share: ids, words, a file."""
    return {*candidate.ids, *candidate.words, candidate.place.file} - {""}


def _score(row: _Candidate, other: _Candidate, rare: set[str]) -> float:
    """How likely a candidate is about a row, which is given as one; `rare` are words."""
    is_own = not row.ids.isdisjoint(other.ids)
    differs = row.severity != (other.severity or row.severity) or _differs(row.ids, other.ids)
    if differs and not is_own:
        return 0.0
    shared = row.words & other.words
    alike = len(shared) / (len(row.words) * len(other.words)) ** 0.5 if shared else 0.0
    mine, its = row.place, other.place
    is_same_file = mine.file == its.file != ""
    end = min(max(mine[1:]), max(its[1:])) + _AROUND  # the earlier of the two
    is_near = min(mine.line, its.line) > 0 and max(mine.line, its.line) <= end
    met = 0.7 if is_same_file and is_near else 0.15 * is_same_file
    is_rare = not shared.isdisjoint(rare)
    return is_own + 1.5 * alike + _RARE * is_rare + met + 0.05 * (row.severity == other.severity)


def _may_begin(block: Part) -> bool:
    if block.kind == "heading":
        return not index.is_index(block.title)
    bare = vocabulary.unbulleted(block.title)[0]
    if index.is_row(block.title):
        return False
    if block.kind not in ("text", "item") or bare[:2] == "**":
        return block.kind in ("text", "item")
    head = heads.read(bare[:_TITLE])
    return bool(head.id or (head.severity and head.marked))


def _candidate(block: Part, last: int, near: str) -> _Candidate:
    bare = vocabulary.unbulleted(block.title)[0]
    if block.kind != "heading" and bare[:2] == "**" and "**" in bare[2:]:
        bare = bare[: bare.find("**", 2) + 60]
    bare = bare[:_TITLE]
    identity, severity, _ = shapes.titled(bare)
    words = {_key(word.strip(".,:;()[]*`")) for word in vocabulary.plain(bare).split()}
    ids = frozenset(filter(_is_numbered, words)) | ({_key(identity)} - {""})
    return _Candidate(block.first, last, ids, severity, _words(bare), places.place_in(near))


def _differs(own: frozenset[str], ids: frozenset[str]) -> bool:
    """Whether a candidate names another finding: an id of the same form."""
    forms = {identity.rstrip("0123456789") for identity in own}
    return any(
        other.rstrip("0123456789") in forms or vocabulary.severity_of_id(other) for other in ids
    )


def _is_numbered(word: str) -> bool:
    is_short = "-" in word or len(word) < 5
    is_number = is_short and word[-1:].isdigit() and vocabulary.is_id(word)
    return is_number and not vocabulary.severity(word)


def _words(text: str) -> frozenset[str]:
    long = (word for word in vocabulary.words(text) if len(word) > 3 or not word.isalpha())
    return frozenset(word for word in long if not word.isdigit()) - _GENERAL


def _key(text: str) -> str:
    return vocabulary.plain(text).strip("*_`[]# ").upper()


def excerpt(section: str, title: str) -> str:
    """The problem in at most 60 tokens and any fix in at most 45, one line each."""
    problem, fix = problem_of(section, title), fix_of(section)
    parts = [tokens.clip(problem, _PROBLEM)] if problem else []
    if fix and fix not in problem:
        parts.append("Fix: " + tokens.clip(fix, _FIX))
    return "\n".join(parts)


def problem_of(section: str, title: str = "") -> str:
    """The words of a section that say what is wrong: the first, or those labeled so."""
    first = ""
    for label, text in _paragraphs(section, title):
        if label in _PROBLEMS and text:
            return text
        first = first or ("" if label in (*_FACTS, *_FIXES) else text)
    return first


def fix_of(section: str) -> str:
    """The fix that a section suggests, or ''."""
    paragraphs = _paragraphs(section)
    whole = (text for label, text in paragraphs if label in _FIXES and text)
    inside = (text.partition(_FIX_INSIDE)[2] for _, text in paragraphs if _FIX_INSIDE in text)
    return next((text for those in (whole, inside) for text in those), "")


def _paragraphs(section: str, title: str = "") -> list[tuple[str, str]]:
    """(label, text) of each paragraph or list item below the heading; one-word labels.

    A label on a line of its own (`**Problem:**`) goes with the paragraph or the whole list that
    follows; a list or a line of code completes a paragraph that ends in a colon.
    """
    labels: list[str] = []
    texts: list[str] = []
    head, _, body = section.partition("\n")
    if not body.strip() or head.lstrip()[:1] != "#":
        body = f"{_behind_title(head, title)}\n{body}"
    every = [line for _, line in vocabulary.numbered(body)]
    label = ""
    joins = listing = False
    last = 0
    for number, level, line in index.lines(body):
        leads = bool(texts) and texts[-1].endswith(":")  # `The message says:`
        if level < 0 or "|" in line[:1] or vocabulary.is_mark(line):
            if level == index.FENCE and joins and leads:
                code = next(filter(_says_something, map(names.one_line, every[number:])), "")
                texts[-1] = f"{texts[-1]} {code[:_CODE]}".rstrip()
            joins = listing = False
            continue
        if level > 0:
            label, joins, listing = _first_word(line), False, False
            continue
        bare, listed = vocabulary.unbulleted(line)
        named, text = _labelled(bare)
        if named:
            label, joins, listing = named, False, not text
            if not text:
                continue
        plain = names.one_line(vocabulary.plain(text))
        if joins and (listing or leads if listed else number == last + 1):
            texts[-1] += f"; {plain}" if listed and not leads else f" {plain}"
            listing = listing or listed
        else:
            listing = listing and listed
            labels.append(label)
            texts.append(plain)
        label, joins, last = "", True, number
    return _completed(zip(labels, texts, strict=True))


def _completed(paragraphs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The meaningful ones; a paragraph that only introduces the next is joined with it."""
    told = [(label, text) for label, text in paragraphs if _says_something(text)]
    for number, (after, following) in enumerate(told[1:]):
        label, text = told[number]
        leads = text.endswith(":") or len(text.split()) < _FEWEST
        if leads and after not in _FIXES:
            told[number] = (label, f"{text} {following}")
    return told


def _says_something(text: str) -> bool:
    return sum(map(str.isalpha, text)) > 3 and not (text[0] == "(" and text[-1] == ")")


def _behind_title(head: str, title: str) -> str:
    """The rest of the first line, after the title, of a finding without a heading."""
    bare, _ = vocabulary.unbulleted(head.strip())
    if bare[:2] == "**":
        return bare[2:].partition("**")[2].strip(" :—–-")
    plain = vocabulary.plain(bare)
    at = plain.find(title) if title else -1
    return plain[at + len(title) :].strip(" :—–-") if at >= 0 else ""


def _labelled(text: str) -> tuple[str, str]:
    """A label's first word in lowercase and the rest: `**Problem**: x`, `Fix — x`."""
    label, mark, value = "", "", ""
    is_bold = text[:2] in ("**", "__")
    if is_bold:
        label, _, value = text[2:].partition(text[:2])
        mark = ":" if label.rstrip()[-1:] in ":.?" or value.lstrip()[:1] in ":—–-" else ""
    if not mark:
        label, mark, value = text.partition(":")
        is_place = value[:1] not in ("", " ")  # `src/agent.py:42`, nor `The proposed flow is: `
        mark = mark if _is_plain_label(label) and not is_place else ""
    word = _first_word(label)
    is_label = word or (is_bold and not value.strip())
    if not mark or len(label) > 40 or not is_label:
        return "", text
    return word, value.lstrip(" :—–-*_").rstrip(" —–-*_")


def _is_plain_label(label: str) -> bool:
    """Whether a label without emphasis is short enough: `Fix`, `Proposed fix`, `How to fix`."""
    words = label[:100].split()
    begins = words[:1] and (_first_word(words[0]) or words[0].lower() == "how")
    return len(words) <= (3 if begins else 2)


def _first_word(text: str) -> str:
    return next((word for word in vocabulary.words(text) if word in _LABELS), "")
