"""The lines of a review in the one form that its reader knows, line for line.

✅ met · 🚫 must not ship       a legend: the sign is `[P0]` in all other lines
<summary>Race</summary>        a heading, one level higher if there are such inside
"""

from __future__ import annotations

import re

from contextkit.reviews.documents import phrases, vocabulary
from contextkit.text.blocks import Block
from contextkit.text.patterns import Pattern

_DEFINED = Pattern(
    r"(?:[\w ]{1,40}:\s)?([^\w\s|*#`-]{1,4})\s*(?:(?:[=:–—|-]|means|is)\s)?\s*([^\W\d].{2,120})$"
)
_PARTED = Pattern(r"[,;·]\s?|\.(?:\s|$)|\s/\s")
_LONGEST = 300  # characters of a line with a legend or a head
_SUMMARY = Pattern(r"<summary[^<>]{0,80}>", re.IGNORECASE)
_CELL_BEHIND = Pattern(
    r"</details>\s*</td>\s*<td\b[^<>]{0,80}>\s*([^<>]{1,24}?)\s*(?:</td>.*)?$", re.IGNORECASE
)


def with_marks(rows: list[str]) -> list[str]:
    """Return the lines with a severity for each sign that a line of nothing but signs explains."""
    every = ((at, {} if row.isascii() else _signs(row)) for at, row in enumerate(rows))
    told = {at: signs for at, signs in every if signs}
    marks = {mark: severity for signs in told.values() for mark, severity in signs.items()}
    if vocabulary.strictest(*marks.values()) not in vocabulary.SERIOUS:
        return rows
    words = "|".join(map(re.escape, marks))
    begins = r"^(\s*(?:(?:[-*+•|]|\d+[.)]?|#+)\s)?)[`*]{0,3}"
    head = re.compile(rf"{begins}({words})[`*]{{0,3}}(?=\W|$)")

    def graded(match: re.Match[str]) -> str:
        return f"{match[1]}[{marks[match[2]]}]"

    return ["" if at in told else head.sub(graded, row, 1) for at, row in enumerate(rows)]


def _signs(row: str) -> dict[str, str]:
    """Return what the signs mean of which a line says nothing else: `✅ met · 🚫 must not ship`."""
    row = vocabulary.plain(row.strip(" |")) if len(row) < _LONGEST else ""
    mark = next((mark for mark in (" · ", "; ", ", ") if row.count(mark) > 1), "")
    found = [_DEFINED.match(part.strip()) for part in row.split(mark)] if mark else []
    told = {match[1]: _explained(match[2]) for match in found if match}
    if len(told) < len(found) or sum(map(bool, told.values())) < 2:
        return {}
    usual = {sign: "P2" * (vocabulary.severity(sign) in vocabulary.SERIOUS) for sign in told}
    return {sign: meant for sign in told if (meant := told[sign] or usual[sign])}


def _explained(text: str) -> str:
    """Return the severity that words explain, or one of their parts: `not met, **high**`."""
    parts = (vocabulary.severity(part) for part in _PARTED.split(text) if len(part) < _LONGEST)
    return vocabulary.strictest(*parts, phrases.demanded_in(text))


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
