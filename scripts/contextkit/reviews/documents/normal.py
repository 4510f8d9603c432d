"""The lines of a review in the one form that its reader knows, line for line.

`[B]` = blocks the merge       a legend: `[B]` is `[P0]` in all other lines
NAME    SEVERITY    FIXED IN   a table aligned by blanks: rows with bars
<summary>Race</summary>        a heading, one level higher if there are such inside
*High — `a.py`, line 4*        below a heading: `Severity: High — …`
"""

from __future__ import annotations

import itertools
import re

from contextkit.base import markdown
from contextkit.reviews.documents import index, phrases, shapes, vocabulary
from contextkit.reviews.documents.vocabulary import SEVERITIES
from contextkit.text.blocks import Block
from contextkit.text.patterns import Pattern

_MARK = (
    r"`?(?:\*\*)?(\[[^\[\]]{1,3}\]|\([^()]{1,3}\)|\w{1,2}(?=`?(?:\*\*)?\s?[=:])|[^\w\s|*#`-]{1,4})"
    r"(?:\*\*)?`?"
)
_DEFINED = Pattern(
    rf"(?:[-*•]\s|[\w ]{{1,40}}:\s)?{_MARK}\s*(?:(?:[=:–—|-]|means|is)\s)?\s*([^\W\d].{{2,120}})$"
)
_STEP = Pattern(
    r"\s*(?:[-*•]\s)?[(\[*`]{0,3}([A-F]|[0-6])[)\]*`]{0,3}(?:\s*[=:–—|-]\s*|\s{2,})([^\W\d].*)$"
)
_CELL = Pattern(r"(?:(?<=\s\s)|(?<=\|\s))(\w)(?:\s(?=\s)|(?=\s\|))")
_RULER = Pattern(r"\s*(?:-{2,}|={2,})(?:\s+(?:-{2,}|={2,})){2,}\s*$")
_CLASSES = frozenset(
    "classification classes class categories category severity severities legend scale priority"
    " priorities grades klassen klassifizierung".split()
)
_RANKED = Pattern(r"\s*(?:[-*•]\s)?`?(([^\w\s|*#`>.-])\2{0,4})`?\s*(?:[=:–—-]\s)?\s*(\w.*)$")
_PARTED = Pattern(r"[,;·]\s?|\.(?:\s|$)|\s/\s")
_FIRST = {
    **dict.fromkeys(("blocks", "prevents", "stops"), "P0"), "must": "P1", "defect": "P1",
    "should": "P2", "could": "IMP", "idea": "IMP", "cosmetic": "P3", "remark": "P3",
}  # fmt: skip
_LINE_BEHIND = Pattern(r"(\[(?:P[0-3]|IMP)\])\s(?=\d{1,5}(?:[-–]\d{1,5})?\s?[:–—-]\s)")
_MOST_WORDS = 5  # of what a mark means
_LONGEST = 300  # characters of a line with a legend or a head
_GAP = Pattern(r"\t|\s{2,}")
_CHUNK = Pattern(r"\S+(?:\s\S+)*")
_SUMMARY = Pattern(r"<summary[^<>]{0,80}>", re.IGNORECASE)
_CELL_BEHIND = Pattern(
    r"</details>\s*</td>\s*<td\b[^<>]{0,80}>\s*([^<>]{1,24}?)\s*(?:</td>.*)?$", re.IGNORECASE
)
_FIELDS = Pattern(r"\s*[|·•;]\s*|\s[—–/-]\s|,\s|\.\s(?=[A-Z*_])|(?<=\])\s|\s(?=[(\[])")
_NUMBERS = Pattern(r"[\W\d]*(?:lines?|L)?[\W\d]*", re.IGNORECASE)
_MOST_FIELD_WORDS = 3
_UNEVEN = 4  # characters by which a line may be longer or shorter than the title above


def with_marks(rows: list[str]) -> list[str]:
    """Return the lines with a severity for each mark that a legend among them explains."""
    defined: dict[int, dict[str, str]] = {}
    for at, row in enumerate(rows):
        if row.strip() and len(row) < _LONGEST and (marks := _defined(row)):
            defined[at] = marks
    legends = {
        at
        for at, marks in defined.items()
        if len(marks) > 1 or not defined.keys().isdisjoint((at - 2, at - 1, at + 1, at + 2))
    }
    ranked, ordered = _ranked(rows), _ordered(rows)
    legends |= ranked.keys() | ordered.keys()
    defined = ranked | defined | ordered
    marks = {mark: word for at in sorted(legends) for mark, word in defined[at].items()}
    if len(marks) < 2 or not set(marks.values()) & set(vocabulary.SERIOUS):
        return rows
    marks = {f"[{mark}]": word for mark, word in marks.items() if mark.isalnum()} | marks
    words = "|".join(re.escape(m) + r"(?=\*\*|[*`]{0,3}[:)])" * m.isalnum() for m in marks)
    head = re.compile(
        r"^(\s*(?:(?:[-*+•|]|\d+[.)]?|#+)\s)?(?:`?(?:lines?|l\.|L)?\s?\d{1,7}(?:[-–]\d{1,7})?`?:?\s)?)"
        rf"[`*]{{0,3}}({words})[`*]{{0,3}}(?=\W|$)"
    )

    tail = re.compile(rf"(\s)({'|'.join(map(re.escape, marks))})\s*$")

    def graded(match: re.Match[str]) -> str:
        return f"{match[1]}[{marks[match[2]]}]"

    bare = ((mark.strip("[]()"), word) for mark, word in marks.items())
    classes = {mark: word for mark, word in bare if len(mark) == 1 and mark.isalnum()}
    made = (_classed(tail.sub(graded, row), classes) for row in rows)
    return [
        "" if at in legends else _LINE_BEHIND.sub(r"\1 line ", head.sub(graded, row, 1), 1)
        for at, row in enumerate(made)
    ]


def _classed(row: str, classes: dict[str, str]) -> str:
    """Return a line with the severity of the class that one of its cells is, but the first."""
    every = _CELL.finditer(row) if classes else ()
    cells = [cell for cell in every if cell[1] in classes and row[: cell.start()].strip("| ")]
    if len(cells) != 1:
        return row
    return f"{row[: cells[0].start()]}{classes[cells[0][1]]}{row[cells[0].end() :]}"


def _ranked(rows: list[str]) -> dict[int, dict[str, str]]:
    """Return the severities of marks that repeat one sign, of which one at least is in words."""
    told = {at: match for at, row in enumerate(rows) if (match := _RANKED.match(row[:_LONGEST]))}
    lists = [[at, at + 1, at + 2] for at in told if {at + 1, at + 2} <= told.keys()]
    ranks = {len(told[at][1]): at for at in sorted({*itertools.chain(*lists)})}
    order = sorted(ranks, reverse=True)
    meant = [_meant(_PARTED.split(told[ranks[many]][3])[0]) for many in order]
    first = next((at for at, severity in enumerate(meant) if severity), -1)
    if first < 0 or len({told[at][2] for at in ranks.values()}) > 1:
        return {}
    least = SEVERITIES.index(meant[first]) - first
    severities = [SEVERITIES[min(max(least + at, 0), 3)] for at in range(len(order))]
    return {
        ranks[many]: {told[ranks[many]][1]: severity}
        for many, severity in zip(order, severities, strict=True)
    }


def _ordered(rows: list[str]) -> dict[int, dict[str, str]]:
    """Return the severities of letters or digits told in their order, below a line of classes.

    `A  mission critical`, `B  major`, `C  editorial`: one whose words are no severity has that of
    the one before.
    """
    told = {at: match for at, row in enumerate(rows) if (match := _STEP.match(row[:_LONGEST]))}
    made: dict[int, dict[str, str]] = {}
    for start in sorted(told.keys() - {at + 1 for at in told}):
        steps = list(itertools.takewhile(told.__contains__, itertools.count(start)))
        above = next(filter(str.strip, rows[max(0, start - 2) : start][::-1]), "")
        marks = [told[at][1] for at in steps]
        follow = all(ord(after) - ord(mark) == 1 for mark, after in itertools.pairwise(marks))
        if len(steps) < 3 or not follow or _CLASSES.isdisjoint(vocabulary.words(above)):
            continue
        severity = ""
        for at, mark in zip(steps, marks, strict=True):
            severity = _step(_PARTED.split(told[at][2])[0]) or severity
            brackets = (f"[{mark}]", f"({mark})" * mark.isalpha())
            made[at] = {bracket: severity for bracket in brackets if bracket and severity}
    return made


def _step(text: str) -> str:
    words = vocabulary.words(text)
    return _meant(text) or (vocabulary.severity(words[-1]) if 0 < len(words) <= _MOST_WORDS else "")


def _defined(row: str) -> dict[str, str]:
    """Return the severities that a line gives to marks of its own.

    A line of nothing but marks also says what signs mean that usually mean something else.
    """
    bare = row.strip(" |").replace(" | ", " = ", 1)
    if signs := {} if bare.isascii() else _signs(vocabulary.plain(bare)):
        return signs
    made = {}
    for part in _PARTED.split(bare):
        match = _DEFINED.match(part.strip(" |"))
        severity = _meant(match[2]) if match else ""
        if match and severity and not vocabulary.severity(match[1]):
            made[match[1]] = severity
    return made


def _signs(row: str) -> dict[str, str]:
    """Return what the signs mean of which a line says nothing else: `✅ met · 🚫 must not ship`."""
    mark = next((mark for mark in (" · ", "; ", ", ") if row.count(mark) > 1), "")
    found = [_DEFINED.match(part.strip()) for part in row.split(mark)] if mark else []
    told = {match[1]: _explained(match[2]) for match in found if match and not match[1].isalnum()}
    if len(told) < len(found) or sum(map(bool, told.values())) < 2:
        return {}
    usual = {sign: "P2" * (vocabulary.severity(sign) in vocabulary.SERIOUS) for sign in told}
    return {sign: meant for sign in told if (meant := told[sign] or usual[sign])}


def _explained(text: str) -> str:
    """Return the severity that words explain, or one of their parts: `not met, **high**`."""
    parts = map(_step, _PARTED.split(text))
    return vocabulary.strictest(*parts, phrases.demanded_in(text))


def _meant(text: str) -> str:
    words = vocabulary.words(text)
    if len(words) > _MOST_WORDS:
        return ""
    whole = vocabulary.severity(text) or vocabulary.severity("-".join(words[:2]))
    return whole or _FIRST.get(words[0], "") if words else ""


def with_bars(rows: list[str]) -> list[str]:
    """Return the lines with bars between the cells of tables that only blanks align."""
    made = list(rows)
    at = 0
    while at < len(rows):
        ruled = _ruled(rows[at + 1]) if at + 1 < len(rows) and rows[at].strip() else []
        starts = ruled or _columns(rows[at])
        first = at
        at += 1
        if not starts:
            continue
        read = _sliced if ruled else _cells
        while at < len(rows) and (cells := read(rows[at], starts)):
            made[at] = f"| {' | '.join(cells)} |" if any(map(shapes.letters, cells)) else "|---|"
            at += 1
        if at > first + 1:
            head = _sliced(rows[first], ruled) if ruled else _GAP.split(rows[first].strip())
            made[first] = f"| {' | '.join(head)} |"
            fences = [rows[number : number + 1] for number in (first - 1, at)]
            if first and all(map(markdown.fence_of, itertools.chain(*fences))) and fences[1]:
                made[first - 1] = made[at] = ""
    return made


def _columns(row: str) -> list[int]:
    """Return where the columns of a table begin, if a line is its head and one is a severity."""
    if "|" in row or not _GAP.search(row.strip()) or len(row) > _LONGEST:
        return []
    names = _GAP.split(row.strip())
    is_head = len(names) > 2 and any(index.column(name) == "severity" for name in names)
    is_head = is_head and all(len(name) < 25 and ":" not in name for name in names)
    return [match.start() for match in _CHUNK.finditer(row.expandtabs())] if is_head else []


def _ruled(row: str) -> list[int]:
    """Return where the columns of a table begin by the ruler below its head: `--- ----- --`."""
    is_ruler = _RULER.match(row)
    return [match.start() for match in re.finditer(r"\S+", row.expandtabs())] if is_ruler else []


def _sliced(row: str, starts: list[int]) -> list[str]:
    """Return the cells of a row below a ruler; none of a blank line."""
    row = row.expandtabs()
    spans = zip(starts, [*starts[1:], len(row)], strict=True)
    return [row[start:end].strip(" -=") for start, end in spans] if row.strip() else []


def _cells(row: str, starts: list[int]) -> list[str]:
    """Return the cells of a row, each in the column that begins next to it."""
    chunks = list(_CHUNK.finditer(row.expandtabs()))
    is_rule = bool(row.strip()) and not row.strip(" -=─━")
    if is_rule:
        return [""]
    if len(chunks) < 2 or "|" in row:
        return []
    cells = [""] * len(starts)
    for chunk in chunks:
        near = min(range(len(starts)), key=lambda at: abs(starts[at] - chunk.start()))
        cells[near] = f"{cells[near]} {chunk[0]}".strip()
    return cells


def with_underlines(rows: list[str]) -> list[str]:
    """Return the lines with those as headings that stand above others than `===` and `---`."""
    made = list(rows)
    for at, (title, row) in enumerate(itertools.pairwise(rows), 1):
        line = row.rstrip()
        is_line = len(line) > 2 and line == line[:1] * len(line) and line[0] in "~^+"
        if is_line and abs(len(title.rstrip()) - len(line)) < _UNEVEN and title[:1].isalnum():
            made[at - 1], made[at] = f"### {title}", ""
    return made


def with_summaries(raw: list[str], rows: list[str]) -> tuple[list[str], dict[int, int]]:
    """Return the lines with a heading for each summary of HTML in `raw`, and where each ends.

    The ends are lines from 1, by the lines of the headings. A severity in the cell behind one is
    its label: `</details></td><td>High`.
    """
    made, ends = list(rows), dict[int, int]()
    open_at: list[int] = []  # the line of the summary of each open element, or -1
    for at, row in enumerate(raw):
        low = row.lower() if "<" in row else ""
        if "<details" in low:
            if open_at and open_at[-1] >= 0:
                made[open_at[-1]] = made[open_at[-1]].replace("###### ", "##### ", 1)
            open_at.append(-1)
        if open_at and _SUMMARY.search(low):
            open_at[-1] = at if _unbold(rows[at]) or at + 1 == len(rows) else at + 1
            made[at], title = "", rows[open_at[-1]]
            made[open_at[-1]] = f"###### {_unbold(title)}"
        if made[at].strip() == "**":
            made[at] = ""
        outer = -1
        for _ in range(min(len(open_at), low.count("</details"))):
            outer = open_at.pop()
            ends[outer + 1] = at + 1
        cell = _CELL_BEHIND.search(row) if 0 <= outer < at else None
        if cell and vocabulary.severity(cell[1]) and not made[outer + 1].strip():
            made[outer + 1], made[at] = f"Severity: {cell[1]}", ""
    return made, ends


def closed(blocks: list[Block], ends: dict[int, int]) -> list[Block]:
    """Return the blocks with the headings of summaries ending where their elements do."""
    made: list[Block] = []
    for block in blocks if ends else ():
        inside = block.inside
        while inside >= 0 and made[inside].last < block.first:
            inside = made[inside].inside
        last = min(block.last, ends.get(block.first, block.last))
        made.append(block._replace(inside=inside, last=max(last, block.first)))
    return made or blocks


def _unbold(row: str) -> str:
    bare = row.strip()
    return bare[2:-2].strip() if bare[:2] == bare[-2:] == "**" else bare


def with_labels(rows: list[str]) -> list[str]:
    """Return the lines with `Severity:` before the fields below a heading that names a finding."""
    made = list(rows)
    told = [(at, row.strip()) for at, row in enumerate(rows) if row.strip().strip("=- ")]
    for (before, above), (at, row), (_, after) in zip(
        told, told[1:], [*told[2:], (0, "")], strict=False
    ):
        is_headed = above[0] == "#" or rows[before + 1][:3] in ("===", "---")
        if not is_headed or row[0] == "#" or not (word := field_in(row)):
            continue
        title = markdown.heading(above)[1] or above
        is_named = not (shapes.is_general(title) or index.group_of(title))
        if is_named and not shapes.place_of(title).file and not field_in(after):
            made[at] = f"Severity: {word} — {vocabulary.plain(row)}"
    return made


def field_in(row: str, most: int = 6) -> str:
    """Return the severity that is one of the fields of a short line of nothing but fields.

    `most`: fields that are no numbers of lines.
    """
    if len(row) > shapes.FIELD_LENGTH or vocabulary.unbulleted(row)[1] or shapes.label_in(row):
        return ""
    bare = row.strip(" >")
    is_set_off = bare[:1] in "*_[(`" and bare[-1:] in "*_])`"
    placed = shapes.unplaced(vocabulary.plain(bare))
    fields = [field.strip(" *_`[]().:") for field in _FIELDS.split(placed)]
    told = [field for field in fields if not _NUMBERS.fullmatch(field)]
    severities = [severity for field in told if (severity := vocabulary.severity(field))]
    if (
        len(severities) != 1
        or len(told) > most
        or any(len(field.split()) > _MOST_FIELD_WORDS for field in told)
    ):
        return ""
    is_whole = is_set_off or placed != vocabulary.plain(bare) or len(told) > 2
    return severities[0] if is_whole or shapes.line_in(bare) else ""
