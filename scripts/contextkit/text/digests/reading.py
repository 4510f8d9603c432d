"""Parsing that all kinds of text share: units, Markdown blocks, sentences, and decisive lines.

A unit makes sense by itself: a sentence under its heading, a list item with its parent's words, a
table row with its header's words, a log event, a file of a diff.

`text/blocks` says what a text is made of; here, each block comes with the headings, the item or the
table header above it.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections import Counter

from contextkit.base import names
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterable, Iterator, Sequence
from contextkit.text import blocks as markdown_blocks
from contextkit.text.digests import folding, pages

FAILING = "failing"  # the group of lines with failure words
REST = "rest"  # the aspect of a line that a kind leaves to be shown by itself
_PARAGRAPH = 60  # lines from which on a block is more than one paragraph
_WRAPPED = (44, 130)  # characters of a line of a wrapped paragraph
_LETTERS, _READ = 0.8, 500  # share of letters and spaces in prose; characters read of a line
LONGEST = 320  # characters in a unit; a longer sentence is cut at the end of a clause
_END = 110  # characters kept of the end of a line that is too long
_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf dr mr mrs mme mlle sr sra approx resp ca bzw z.b d.h p.ej no st".split()
)


_TIME = r"\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ?"  # of a runner of GitHub Actions
_RUNNER = Pattern(rf"^{_TIME}", re.M)
_JOB = Pattern(rf"^([^\t\n]{{1,80}}\t)([^\t\n]*)\t{_TIME}(##\[error\])?", re.M)  # and its step
_HYPHEN = "\u2010"  # at the end of a line of a page
COMMITS = Pattern(r"^\* +(?:commit )?[0-9a-f]{7,40}\b", re.M)  # of `git log --graph`
_COLOR = Pattern(r"\x1b(?:\[[\d;?]*[A-Za-z]|\][^\x07\n]*\x07|\([AB0])")


class Unit(NamedTuple):
    """A statement that makes sense by itself, in the text's own words; `line` is from 1.

    `rank` 0 means optional; among ranks above 0, lower ones come first. Units that do not fit are
    counted under the name of their `group`, where `short` stands for the unit.
    """

    line: int
    aspect: str
    text: str
    weight: float = 1.0
    rank: int = 0
    group: str = ""
    short: str = ""
    key: bool = False  # whether the text itself calls it key
    derived: bool = False  # whether it was counted or measured, and is not in the text's words
    times: int = 1  # how many units of its group it stands for
    is_item: bool = False  # whether it begins an item of a list; items left out are counted


class Part(str):
    """What is read of a very long text: its beginning, its end, and decisive lines.

    `whole` is the full text; `numbers` has for each line here its number in that text.
    """

    whole: str
    numbers: list[int]


_WHOLE = 120_000  # length in characters up to which a text is read whole
_HEAD, _TAIL = 14_000, 5_000  # characters read at the beginning and end of a longer text
_DECISIVE = ("FATAL", "CRITICAL", "Verdict", "Key finding", "P0", "Recommend", "must not", "P1")
_ABOVE = 10_000  # characters above a line in which its heading is searched
_BELOW = 200  # characters read below a heading
_BETWEEN = 8_000  # characters of decisive lines that are read in between


@functools.lru_cache(maxsize=1)
def part(text: str) -> str:
    """`text` itself, or for a long one, the part that is read."""
    if len(text) <= _WHOLE:
        return text
    head = text.rfind("\n", 0, _HEAD) + 1 or _HEAD
    tail = text.find("\n", len(text) - _TAIL) + 1 or len(text) - _TAIL
    spans = {(0, head), (tail, len(text))}
    room = _BETWEEN
    for mark in _DECISIVE:
        at = text.find(mark, head, tail) if room > 0 else -1
        while at >= 0 and room > 0:
            start = max(text.rfind("\n", head, at) + 1, head, at - 500)
            needed = at + _BELOW if text[start] == "#" else at  # a heading, with the text below it
            end = text.find("\n", needed, at + 2000) + 1 or min(at + 2000, tail)
            room -= 0 if (start, end) in spans else end - start
            spans |= {(start, end), *_headings(text, start, head)}
            at = text.find(mark, end, tail)
    pieces: list[str] = []
    numbers: list[int] = []
    line, last = 1, 0
    for start, end in sorted(spans):
        start = max(start, last)
        if start >= end:
            continue
        line += text.count("\n", last, start)
        piece = text[start:end]
        count = piece.count("\n")
        numbers += range(line, line + count + (not piece.endswith("\n")))
        pieces.append(piece if piece.endswith("\n") else piece + "\n")
        line, last = line + count, end
    excerpt = Part("".join(pieces))
    excerpt.whole, excerpt.numbers = text, [*numbers, line]
    return excerpt


@functools.lru_cache(maxsize=1)  # asked by who starts to read and by who tells
def readable(text: str) -> str:
    """The text without colors, a runner's times, its only job, and overwritten progress."""
    if "\x1b" in text:
        text = _COLOR.sub("", text)
    if job := _JOB.match(text):
        if all(row.startswith(job[1]) for row in text.split("\n") if row):  # several are told apart
            text = _JOB.sub(lambda row: f"{row[2]}: {row[3]}" if row[3] else "", text)
    if text[:1] in "2\ufeff" and _RUNNER.match(text):
        text = _RUNNER.sub("", text)
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
    return pages.as_markdown(text) if pages.is_page(text) else text


def places(pattern: Pattern, text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The matches of a pattern with the numbers, from 0, of the lines in which they end."""
    number = counted = 0
    for match in pattern.finditer(text):
        number += text.count("\n", counted, match.end() - 1)
        counted = match.end() - 1
        yield number, match


def line_count(text: str) -> int:
    """The number of lines; blank lines at the end do not count."""
    end = len(text)
    while end and text[end - 1] == "\n":
        end -= 1
    return text.count("\n", 0, end) + 1


def listed(counts: Counter[str], most: int) -> str:
    """The most frequent names with their counts: `a x3, b x2, +4 more`."""
    shown = ", ".join(f"{name} x{count}" for name, count in counts.most_common(most))
    return shown + (f", +{len(counts) - most} more" if len(counts) > most else "")


def _headings(text: str, at: int, first: int) -> Iterator[tuple[int, int]]:
    """The nearest heading above `at`, if it is near enough, and its parent heading.

    Without them, text between the parts that are read would be shown under the headings of the
    beginning.
    """
    before = at
    for mark in ("\n#", "\n## "):
        start = text.rfind(mark, max(first - 1, at - _ABOVE), before) + 1
        if not start:
            return
        yield start, text.find("\n", start) + 1 or len(text)
        if text.startswith(("# ", "## "), start):
            return
        before = start


class Block(NamedTuple):
    """A paragraph, list item, or table row; `lead` is the item or sentence that leads into it."""

    line: int
    titles: tuple[str, ...]
    text: str
    lead: str = ""
    kind: str = "text"  # text, item, row, or code

    def statements(self) -> list[str]:
        """Its sentences without markup, each cut to a unit's length; a row is one statement.

        A name of few words at the beginning, `Disk full.`, stays with the sentence after it.
        """
        text = plain(self.text)
        parts = [text] if self.kind == "row" else [*sentences(text)]
        if len(parts) > 1 and parts[0].count(" ") < _FEW:
            parts[:2] = [f"{parts[0]} {parts[1]}"]
        return [clause(part) for part in parts]


_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_SAME, ITEMS = 6, 12  # lines, and items, that differ only in numbers and are shown as one
_OWN = Pattern(  # a severity or a place, by which an item is shown on its own
    r"\w\.\w{1,5}:\d|\b(?:P[0-3]|BLOCKER|CRITICAL|HIGH|MEDIUM|LOW)\b"
)
_FEW = 3  # blanks in a name of what follows
_NAME = 8  # blanks in a bold line that is a heading
LABELED = Pattern(  # a label such as `P0.1:`, `Priority 2:`, `R3:`, or `1a.`, and two words
    r"(?:P[0-3][.-]\d+|\w{3,12} \d{1,2}|[A-Z]{1,3}-?\d{1,2}|\d{1,2}[a-z]?)\s*[:.)]\s+\w+\W+\w"
)
_BOX = Pattern(r"^\[[ xX]\]\s+")
_RULE = Pattern(r"[\s|:=_*-]*$")
_COMMENT = Pattern(r"(?<!`)<!--(?:(?!<!--).)*?-->", re.S)  # unless in a code span
_STRUCK = Pattern(r"~~[^~\n]+~~")
_LINK = Pattern(r"!?\[([^\[\]\n]*)\]\(([^()\n]*(?:\([^()\n]*\))?)\)")
_BOLD = Pattern(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


_FORMS = ("# ", "## ", "### ", "#### ", "##### ", "###### ", "- ", "* ", "|")


def formed(lines: Iterable[str]) -> int:
    """The number of lines that are Markdown headings, items, or rows: few in code and logs."""
    return sum(line.startswith(_FORMS) for line in lines)


def plain(text: str) -> str:
    """`text` without Markdown markup for bold, code, and links (whose text stays)."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "**" in text:
        spans = text.split("`")  # every second one is code
        text = "`".join(s if i % 2 else _BOLD.sub(r"\1", s) for i, s in enumerate(spans))
        text = text.replace("**", "") if "`" in text else text  # around code
    return " ".join(text.replace("`", "").split())


def cells(line: str) -> list[str]:
    """The cells of a Markdown table's row; a `\\|` is not a border."""
    parts = line.strip().strip("|").replace("\\|", "\x00").split("|")
    return [plain(part).replace("\x00", "|") for part in parts]


@functools.lru_cache(maxsize=4)
def blocks(text: str) -> tuple[Block, ...]:
    """The paragraphs, items, rows and code blocks of a Markdown text, in order."""
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "<!--" in text:
        text = _COMMENT.sub(lambda parsed: "\n" * parsed[0].count("\n"), text)
    rows, parsed = markdown_blocks.lines(text), markdown_blocks.blocks(text)
    titles: list[tuple[str, ...]] = []  # the headings of each block, itself included
    words: dict[int, str] = {-1: ""}  # of each item; at -1, of the sentence that leads into a list
    made: list[Block] = []
    for at, block in enumerate(parsed):
        above = titles[block.inside] if block.inside >= 0 else ()
        titles.append((*above, plain(block.title)) if block.kind == "heading" else above)
        following = parsed[at + 1].first if at + 1 < len(parsed) else len(rows) + 1
        lines = rows[block.first - 1 : min(block.last, following - 1)]
        if block.kind == "item":
            below = itertools.takewhile(bool, map(str.strip, lines[1:]))
            body = " ".join([_BOX.sub("", block.title), *below])
            made.append(Block(block.first, above, body, words.get(block.inside, words[-1]), "item"))
            words[at] = plain(body)
        elif block.kind == "table":
            made += (Block(block.first + n, above, body, "", "row") for n, body in _rows(lines))
        elif block.kind == "code":
            made.append(Block(block.first + 1, above, "\n".join(lines[1:-1]), "", "code"))
        elif block.kind in ("text", "quote"):
            made += (Block(block.first + n, above, body) for n, body in _paragraphs(lines))
        if block.kind == "heading":
            words[-1] = ""
        elif block.kind in ("text", "quote") and made:
            body = plain(made[-1].text)
            words[-1] = body if body.rstrip("* _").endswith((":", "：")) else ""
    return tuple(_below_names([*_folded([block for block in made if block.text])]))


def _folded(made: list[Block]) -> Iterator[Block]:
    """The blocks, with many items that differ only in numbers joined: `settled 3…82 (x80)`."""

    def alike(numbered: tuple[int, Block]) -> tuple[int, str, tuple[str, ...]]:
        at, block = numbered
        is_own = block.kind != "item" or _OWN.search(" ".join([*block.titles[-1:], block.text]))
        return (-at, "", ()) if is_own else (block.line - at, form(block.text), block.titles)

    for _, same in itertools.groupby(enumerate(made), key=alike):
        first, *others = (block for _, block in same)
        if len(others) >= ITEMS - 1:
            yield first._replace(text=times([first.text, *(block.text for block in others)]))
        else:
            yield from (first, *others)


def _below_names(made: list[Block]) -> Iterator[Block]:
    """The blocks, with bold lines above others turned into headings: `**Not done**`."""
    name, above = "", tuple[str, ...]()
    for block, following in itertools.zip_longest(made, made[1:]):
        if block.titles != above:
            name, above = "", block.titles
        if named := name_of(block):
            has_more = following and following.titles == above and not name_of(following)
            name = named if has_more else ""
            if name:
                continue
        yield block._replace(titles=(*above, name)) if name else block


def name_of(block: Block) -> str:
    """The few bold words that a block consists of, perhaps with a label; '' for a statement."""
    text = block.text
    if block.kind != "text" or not text[:2] == text[-2:] == "**" or text.count("**") != 2:
        return ""
    name = plain(text)
    is_short = name.count(" ") < _NAME and name[-1:] not in (".", ":", "：", "!", "?")
    return name if is_short and (": " not in name or LABELED.match(name)) else ""


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The paragraphs of lines, perhaps quoted, with their places; a bold line begins a new one."""
    start, parts = 0, list[str]()
    for number, bare in folded(line.strip().lstrip("> ") for line in lines):
        if parts and (not bare or bare.startswith("**")):
            yield start, " ".join(parts)
            parts = []
        start = start if parts else number
        parts += [bare] if bare else []
    if parts:
        yield start, " ".join(parts)


def times(lines: Sequence[str]) -> str:
    """Several lines of one form as one, with the values in which they differ, and their number.

    The number stands before the final punctuation: `settled 3…82 (x80).`
    """
    text = lines[0][: depth(lines[0])] + folding.alike(lines, 4 * LONGEST)
    bare = text.rstrip(".;,")
    return f"{bare} (x{len(lines)}){text[len(bare) :]}"


def form(text: str) -> str:
    """A text without its digits; texts of one form differ only in numbers."""
    return text.translate(_NO_DIGITS)


def folded(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines with their places, with many that differ only in numbers joined."""
    for _, same in itertools.groupby(enumerate(lines), key=lambda numbered: form(numbered[1])):
        first, *others = same
        if first[1] and len(others) >= _SAME - 1:
            yield first[0], times([first[1], *(line for _, line in others)])
        else:
            yield from (first, *others)


def _rows(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The rows of a table as statements, with their places."""
    head = cells(lines[0])
    for number, line in enumerate(lines[1:], start=1):
        if not _RULE.match(line):
            yield number, row_statement(head, cells(line))


def row_statement(head: list[str], row: list[str]) -> str:
    """A table row as a statement: its first cell, then `head: cell` for each of the others."""
    pairs = []
    for index, cell in enumerate(row[1:], start=1):
        name = head[index] if index < len(head) else ""
        if cell and cell not in "-–—":
            pairs.append(f"{name}: {cell}" if name and name.lower() != cell.lower() else cell)
    first = row[0] if row else ""
    return f"{first} - {', '.join(pairs)}" if first and pairs else first or ", ".join(pairs)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; a period ends one only before a space and a new beginning."""
    start, depth = 0, 0
    for match in _ENDS.finditer(text):
        char, index = match[0], match.start()
        if char in "()[]":
            depth = max(0, depth + (1 if char in "([" else -1))
            continue
        inside = depth > 0 and index - start <= LONGEST  # some brackets never close
        end = 0 if inside else _end(text, start, index)
        if end:
            if sentence := text[start:end].strip():
                yield sentence
            start, depth = end, 0
    if sentence := text[start:].strip():
        yield sentence


def _end(text: str, start: int, index: int) -> int:
    """The end of the sentence whose punctuation is at `index`; 0 if that ends no sentence."""
    if text[index] in "。！？":
        return index + 1
    end = index + 1
    while end < len(text) and text[end] in "\"'”’)*`":
        end += 1
    if text[end : end + 1] != " " or text[end + 1 : end + 2].islower():
        return 0
    word = text[max(start, text.rfind(" ", start, index) + 1) : index].lower().lstrip("(")
    initial = len(word) == 1 and text[index - 1].isupper() and text[end + 2 : end + 3].isalpha()
    numbered = word.isdigit() and (index - start < 4 or _MONTH.match(text, end + 1))
    is_part = word in _ABBREVIATIONS or numbered or initial
    return 0 if text[index] == "." and is_part else end


_INKED = Pattern(r"[^\W_]")  # a letter or a digit
_PLACED = Pattern(r"\S+[:(]\d")  # begins with a place, as a message does


def paragraphs(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The runs of lines between empty ones, each with the number, from 0, of its first line."""
    gaps = [
        number
        for number, line in enumerate(lines)
        if not (line[:1].isalnum() or _INKED.search(line) or line.rstrip() == "--")
    ]
    for before, gap in itertools.pairwise((-1, *gaps, len(lines))):
        if gap > before + 1:
            yield before + 1, lines[before + 1 : gap]


def prose(lines: list[str]) -> set[int]:
    """The numbers, from 0, of lines in paragraphs: wrapped ones, or several sentences."""
    numbers: set[int] = set()
    low, high = _WRAPPED
    for start, block in paragraphs(lines):
        size = len(block[0])
        is_wrapped = 1 < len(block) < _PARAGRAPH and low <= size <= high
        is_long = len(block) == 1 and size > high and ". " in block[0]
        if not (is_wrapped or is_long) or _PLACED.match(block[0]):
            continue
        if is_wrapped and not all(low <= len(line) <= high for line in block[1:-1]):
            continue
        is_written = all(map(is_worded, block[: len(block) - is_wrapped]))
        if is_written and (is_long or not _begin_alike(block)):
            numbers.update(range(start, start + len(block)))
    return numbers


def _begin_alike(block: list[str]) -> bool:
    """Whether most lines that are no whole sentences begin alike, as in a log."""
    begun = [line.split(None, 1)[0] for line in block if line[-1] != "."]
    return len(begun) > 2 * len(set(begun))


def depth(line: str) -> int:
    """The number of blanks that a line begins with."""
    return len(line) - len(line.lstrip())


def is_worded(line: str) -> bool:
    """Whether a line is nearly all letters and spaces."""
    read, share = line[:_READ], 1 - _LETTERS
    others = len(read.encode("utf-8", "replace").translate(None, _WORDED))
    return others < share * len(read) and others < share * len(" ".join(read.split()))


_WORDED = bytes(
    byte for byte in range(256) if byte > 127 or chr(byte).isalpha() or chr(byte).isspace()
)
_MONTH = Pattern(r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")  # of `18. März`
_ENDS = Pattern(r"[.!?。！？()\[\]]")


def clause(text: str, most: int = LONGEST) -> str:
    """`text` cut to at most `most` characters, never inside a word or a fact.

    The cut is at the end of a clause, or else between two words; '' if there is no such place.
    """
    if len(text) <= most:
        return text
    for between_words in (False, True):
        if cuts := [at for at in ends(text, between_words) if most // 3 < at <= most]:
            return beginning(text, cuts[-1])
    return ""


def clause_or_words(text: str, most: int) -> str:
    """Like `clause`, but drops remarks in brackets first and, if need be, cuts anywhere."""
    text = text if len(text) <= most else _REMARK.sub(" (…)", text)
    return clause(text, most) or names.clipped_at_space(text, most)


def both_ends(text: str, most: int) -> str:
    """The beginning and the end of a line in at most `most` characters."""
    if len(text) <= most:
        return text
    end = text[-min(_END, most // 2) :]
    words = _BETWEEN_WORDS.search(end)  # not between a name and its value
    return f"{folding.cut(text, most - len(end))} {end[words.end() if words else 0 :]}"


def ends(text: str, between_words: bool = False) -> list[int]:
    """The places where a statement may be cut: after a clause, or between any two words."""
    cuts = [at.start() for at in (_WORDS if between_words else _CLAUSES).finditer(text)]
    spans = [(0, 0), *(span.span() for span in _BRACKETS.finditer(text) if cuts)]
    cuts = [at for at in cuts if at >= spans[bisect.bisect(spans, (at, len(text))) - 1][1]]
    if between_words and len(cuts) < 3:
        cuts = [at for at in range(1, len(text)) if text[at] == " " or _may_end(text, at)]
    return cuts


def beginning(text: str, end: int) -> str:
    """`text` up to `end`, with a mark that it was cut."""
    return text[:end].rstrip(" ,;:—–，、；،؛") + " …"


def wrapped(text: str, more: str) -> str:
    """A line joined with the next one of its paragraph; a hyphenated word becomes whole."""
    if not text.endswith(_HYPHEN):
        return f"{text} {more}"
    return text[: -more[:1].islower() or None] + more


def joined(line: str, *others: str) -> str:
    """The statements joined into one line."""
    for other in others:
        line = f"{line} {other}" if line[-1:] in ".!?。！？:：;" else f"{line}; {other}"
    return line


_CLAUSES = Pattern(r"[;,.:)](?= )| (?:--?|[—–]) |[，、；。،؛।]")
_REMARK = Pattern(r" \([^()\n]{9,}\)")
_BETWEEN_WORDS = Pattern(r"(?<!\":) ")
_BRACKETS = Pattern(r"\([^()\n]*\)|\[[^\[\]\n]*\]")
_WORDS = Pattern(r"(?<!\d) (?![~<>]?\d)")  # a number stays with the words around it


def _may_end(text: str, at: int) -> bool:
    """Whether a text in a script without spaces may be cut before the character at `at`."""
    if text[at - 1] < "\u0e00" or text[at] < "\u0e00":  # the first such script is Thai
        return False
    import unicodedata

    return unicodedata.category(text[at])[0] != "M"
