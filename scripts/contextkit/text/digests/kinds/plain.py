"""What somebody wrote without Markdown: minutes, a chat, the report of an incident.

A statement is a sentence, a whole item of a list, or a whole message of a chat with its time and
name. `parts` decides which come first; in a chat, later statements come before earlier ones.
"""

from __future__ import annotations

import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import parts, reading, weighing
from contextkit.text.digests.kinds import report
from contextkit.text.digests.parts import ASIDE, BARRED, DECIDED, NONE
from contextkit.text.digests.pieces import lines_of
from contextkit.text.digests.reading import Unit

_MESSAGE = Pattern(  # of a chat: `[10:03] ada: yes`, `2024-09-17 10:03 <ada> yes`
    r"\[?(?:[\d./-]{6,10},?[ T])?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?\]?,? +(?:- )?"
    r"(?:<(?P<nick>[^<>]{1,40})>|(?P<name>[^\W\d][\w .()@'-]{0,39}?):) +(?=\S)"
)
_IN_COLUMNS = Pattern(  # a time, a name and, farther to the right, what was said
    r"^(\[?\d{1,2}:\d\d(?::\d\d)?\]? +(?![A-Z]+ )[^\W\d][\w.'-]{0,19}) {2,}(?=\S)", re.M
)
_ITEM = Pattern(r"\s*(?:[-*+•·–]|\d{1,2}[.)]|\(?[a-z]\)|[A-Z]{1,2}-?\d{1,2}[.:)]?)\s+(?=\S)")
_LABEL = Pattern(r"(\w[\w'’]*(?:[ /-][\w'’]+){0,3})(?: ?[:：]|\.) +(?=\S)")  # in front of a row
_PRONOUN = Pattern(r"(?:They|He|She|Sie|Er|Ils|Elles?|Ell[oa]s|Они|Он|Она) ")
_ENDS = Pattern(r"[.!?](?:\s|$)|[,;。！？]$")
_DIGITS = Pattern(r"\d+")
_PLACE = Pattern(
    r"\w\.\w+:\d+|^\W*(?:CONFLICT|ERROR|WARNING|[Ee]rror|[Ww]arning)\b"
    r"|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{10,40}\b"
)
_BOT = Pattern(r"\bbot\b", re.I)
_SAMPLE = 200  # lines by which prose is recognized
_WORDED, _PROSE, _ENDED = 0.7, 0.8, 0.045  # shares: words in a line; such lines; sentence ends
_LEAST = 12  # least words of prose
_RARE = 20  # lines per one with a compiler's place, or a commit; most per question of a chat
_WRAPPED = 130  # characters of the longest line of a wrapped text
_FULL, _NEARLY = 0.8, 0.95  # share of the width in a full line; share of lines within the width
_TITLE = 60  # characters of a title
_ASIDE = 0.1  # the weight of small talk
_FIRST, _HEAD = 4.0, 5.0  # weights: the first sentence of a decision; the title of the text
_BRIEF = 120  # characters beyond which a statement weighs less
_FEW = 2  # blanks below which a statement is an aside
_ASKED = 250  # passages at each end, and sentences in each, whose part is determined


class _Passage(NamedTuple):
    """A paragraph, an item, or a message, with the title that it stands under."""

    line: int
    title: str
    text: str
    said_by: str = ""  # who wrote the message
    is_whole: bool = False  # an item or a message


def confidence(text: str) -> int:
    """The confidence by its words: sentences, or messages of people who ask."""
    lines = lines_of(text)
    lines = [
        _IN_COLUMNS.sub(r"\1: ", line.strip())
        for line in lines[:: len(lines) // _SAMPLE + 1]
        if line.strip()
    ]
    if sum(bool(_MESSAGE.match(line)) for line in lines) * 2 > len(lines):
        rows = [_MESSAGE.sub("", line, 1) for line in lines]
        asked = sum(line.endswith(("?", "？")) for line in rows) * _RARE > len(rows)
        return 60 * (asked and len(set(rows)) > _PROSE * len(rows) and _worded(rows) > _WORDED / 2)
    most = len(lines) / _RARE
    alike = itertools.groupby(lines, lambda line: reading.form(line) if line[-1] == "." else line)
    lines = [next(same) for _, same in alike]  # sentences that differ only in numbers count once
    words = [word for line in lines for word in line.split()]
    ends = sum(word[-1] in ".!?…。" for word in words if len(word) > 1)
    if len(words) < _LEAST or ends <= _ENDED * len(words) or _worded(lines) <= _PROSE:
        return 0
    forms = {_DIGITS.sub("", line) for line in lines}
    placed = [line for line in lines if _PLACE.search(line)]
    return 60 * (len(forms) > _PROSE * len(lines) and len(placed) < most)


def _worded(lines: list[str]) -> float:
    """The share of characters that are in lines of words."""
    return sum(len(line) for line in lines if reading.is_worded(line)) / max(1, len("".join(lines)))


def units(text: str) -> list[Unit]:
    """The statements; within a part, the first weigh most, or in a dialogue the last."""
    passages = list(_passages(_IN_COLUMNS.sub(r"\1: ", text).split("\n")))
    last = len(passages) - _ASKED
    made = [pair for at, passage in enumerate(passages)
            for pair in _statements(passage, at < _ASKED or at > last)]  # fmt: skip
    if any(passage.said_by for passage in passages):
        made.reverse()
    made.sort(key=lambda pair: not pair[0].key)
    return parts.first_of_each([unit for unit, _ in made], [part for _, part in made])


def _statements(passage: _Passage, is_asked: bool) -> Iterator[tuple[Unit, int]]:
    """The sentences of a paragraph, or a whole item or message, with the part of each.

    In the middle of a very long text parts are not determined, since that takes long.
    """
    label = _LABEL.match(passage.text)
    around = parts.of_title(label[1]) if label else NONE
    around = min(around, parts.of_title(passage.title))
    is_property = label and weighing.is_label(f"{label[1]}:")
    if is_property or _BOT.search(passage.said_by):
        around = ASIDE
    aspect = report.aspect_of((passage.title,))
    start = label.end() if label else 0
    rest = passage.text[start:]
    pieces = [rest] if passage.is_whole else _unleaning(rest)
    pieces[:1] = [passage.text[:start] + piece for piece in pieces[:1]]
    asked = [_MESSAGE.sub("", piece, 1) if is_asked and at < _ASKED else ""
             for at, piece in enumerate(pieces)]  # fmt: skip
    played = parts.of_sentences(asked, around)
    for at, (piece, (part, is_key)) in enumerate(zip(pieces, played, strict=True)):
        is_aside = part == ASIDE or piece.count(" ") < _FEW
        weight = weighing.of_sentence(piece) * (_ASIDE if is_aside else 1.0)
        weight *= _FIRST if around == DECIDED and not at else 1.0
        weight *= _HEAD if passage.line == 1 and not passage.said_by else 1.0
        weight *= 1.0 if is_key else min(1.0, _BRIEF / len(piece))
        shown = piece if part == BARRED else reading.clause(piece) or piece[: reading.LONGEST]
        yield Unit(passage.line, aspect, shown, weight, key=is_key), part


def _unleaning(text: str) -> list[str]:
    """The sentences of a paragraph; one with a pronoun is joined to the sentence before."""
    told = list[str]()
    for sentence in reading.sentences(text):
        if told and _PRONOUN.match(sentence):
            sentence = f"{told.pop()} {sentence}"
        told.append(sentence)
    return told


def _passages(lines: list[str]) -> Iterator[_Passage]:
    """The passages of a text in order, without quoted ones."""
    title, depth = "", 0
    width = _width(lines)
    blocks = [*reading.paragraphs(lines)]
    for (start, rows), (_, below) in zip(blocks, [*blocks[1:], (0, [])], strict=False):
        if rows[0][:1] == ">":
            continue
        if reading.depth(rows[0]) < depth:
            title, depth = "", 0
        if _is_title(rows, below):
            is_first = not (title or _ITEM.match(rows[0]) or any(map(str.strip, lines[:start])))
            if is_first:
                yield _Passage(start + 1, "", rows[0].strip())
            else:
                title, depth = rows[0].strip().rstrip(":："), reading.depth(rows[0])
            start, rows = start + 1, rows[1:]
        for number, text in _split(rows, width):
            message = _MESSAGE.match(text)
            name = (message["nick"] or message["name"]) if message else ""
            is_whole = bool(message or _ITEM.match(text))
            text = text.lstrip("-*+•· ")
            yield _Passage(start + number + 1, title, text, name, is_whole)


def _is_title(rows: list[str], below: list[str]) -> bool:
    """Whether the first of some lines is a title; one with a number has a paragraph below it."""
    row = rows[0].strip()
    goes_on = len(rows) > 1 and rows[1].lstrip()[:1].islower()
    is_sentence = goes_on or len(row) > _TITLE or _ENDS.search(_ITEM.sub("", row))
    if is_sentence or ": " in row or _MESSAGE.match(row):
        return False
    after = (rows[1:] or below)[:1]
    in_list = not after or (_ITEM.match(after[0]) and after[0].lstrip()[0].isdigit())
    return not (_ITEM.match(row) and (in_list or not row[0].isdigit()))


def _width(lines: list[str]) -> int:
    """The width to which a text is wrapped; 0 if it is not."""
    lengths = sorted(len(line) for _, line in reading.folded(lines) if line.strip()) or [0]
    width = lengths[int(_NEARLY * len(lengths))]  # a URL may be longer
    full = sum(length > _FULL * width for length in lengths)
    return width if lengths[-1] <= _WRAPPED and full * 3 > len(lengths) else 0


def _split(rows: list[str], width: int) -> Iterator[tuple[int, str]]:
    """The paragraphs, items and messages of a block, with their places."""
    start, text, above = 0, "", ""
    for number, row in reading.folded(rows):
        bare = " ".join(row.split())
        word = bare.partition(" ")[0]
        begins = _MESSAGE.match(bare) or _ITEM.match(row) or not text
        hangs = (row[:1] == " " and _ITEM.match(text)) or _MESSAGE.match(text)
        is_full = width and len(above) + len(word) >= width * _FULL
        above = row
        if not begins and (hangs or is_full):
            text = reading.wrapped(text, bare)
            continue
        if text:
            yield start, text
        start, text = number, bare
    if text:
        yield start, text
