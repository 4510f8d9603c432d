"""The lines of a review in the one form that the reader knows, line for line.

✅ met · 🚫 must not ship       a legend: the sign is `[P0]` in all other lines
BLOCKER                        a heading, if alone above a list and no line is one
<summary>Race</summary>        a heading, one level higher if it contains others
"""

from __future__ import annotations

import bisect
import re

from contextkit.base import markdown
from contextkit.base.expressions import Pattern
from contextkit.reviews.documents import legends, vocabulary
from contextkit.text import objects
from contextkit.text.blocks import Block

_SUMMARY = Pattern(r"<summary[^<>]{0,80}>", re.IGNORECASE)
_CELL_BEHIND = Pattern(
    r"</details>\s*</td>\s*<td\b[^<>]{0,80}>\s*([^<>]{1,24}?)\s*(?:</td>.*)?$", re.IGNORECASE
)
_FIELD = Pattern(r"([A-Za-z][\w-]{1,40}): ")
_LEAST_FIELDS = 3  # of a mail
_OF_MAILS = frozenset("from to subject date message-id return-path received".split())
_BEGUN = Pattern(r"\s*<(style|script|tr)\b", re.IGNORECASE)
_ENDED = Pattern(r"</(style|script|tr)>\s*$", re.IGNORECASE)
_APART = Pattern(r"<(?:details|table|pre|ul|ol)\b", re.IGNORECASE)  # in a cell of many lines
MOST_CELLS = 40  # lines of a row
_TAG = Pattern(r"<(/?)(\w{1,12})\b([^<>]{0,300})>")
_ALT = Pattern(r"\balt=[\"']([^\"']{1,80})")
_ALERT = Pattern(r"\[![A-Z]{3,12}\]")  # a forge's mark of a quote
_WIDE = str.maketrans({"【": "[", "】": "] ", "（": " (", "）": ")"})
_HUNK = Pattern(r"@@ -\d{1,7}(?:,(\d{1,7}))? \+\d{1,7}(?:,(\d{1,7}))? @@")
_STRUCK = Pattern(r"~~[^~\n]{1,600}~~")
_CARD = Pattern(  # the first label in cells of HTML: `| Severity: | **High** |`
    r"\|\s*[*_]{0,2}([\w ]{2,24}:)[*_]{0,2}\s*\|\s*([^|]{1,40}?)\s*(?:\||$)"
)
_DRAWN = Pattern(r"[│║┃]")
_BORDER = Pattern(  # of a table; between cells that go on it is blank: `├────┤    ├────┤`
    r"\s*(?:\+[-=]|[┌├└╔╠╚╞╒╭╰])[-=+─━═┬┼┴┐┤┘╦╬╩╗╣╝╪╡╤╕╮╯├╠╞ ]{2,}$"
)
_SETTING = Pattern(r"^(\w{1,24}) = \"?([^=]{1,400}?)\"?$")
_OTHER_HEADING = Pattern(r"(?:(?P<signs>={1,6})|h(?P<h>[1-6])\.|(?P<stars>\*{1,6})) (?=\S)")
_SHORTCODE = Pattern(r":(?:large_)?([a-z_]{1,20}):")
_SHORTCODES = {
    "red_circle": "🔴", "rotating_light": "🚨", "no_entry": "⛔", "x": "❌", "warning": "⚠️",
    "orange_circle": "🟠", "yellow_circle": "🟡", "blue_circle": "🔵", "white_check_mark": "✅",
}  # fmt: skip
_REMARK = Pattern(r"\s*\([^()]*\)")
_STAMPED = Pattern(r"^(?:[\d:.TZ-]{16,40} )?(?:##\[\w{1,12}\])?")  # by a build
_ANNOTATION = Pattern(  # annotations of a build on a pull request
    r"^\s{0,4}::(error|warning|notice)\s([^\n]{1,600}?)::(\S.{0,500})"
)
_PARAMETER = Pattern(r"(file|line|title)=([^,]{1,200})")


def lines(text: str, is_whole: bool = False) -> tuple[list[str], list[str], dict[int, int]]:
    """The lines of a text, the same in the one form, and the ends of HTML summaries.

    The ends are lines from 1, by the lines of the headings. In a whole review, which is read and
    never clean, letters that only count a list grade nothing.
    """
    raw = [_annotated(row) for _, row in vocabulary.numbered(text)]
    is_org = any(row[:2] == "#+" for row in raw)
    plain: list[str] = []
    for made in legends.graded([*map(unmarked, _unpatched(_shown(raw)))], is_whole):
        made = _STRUCK.sub(" ", made) if "~~" in made else made
        made = _SETTING.sub(r"\1: \2", made) if "=" in made else made
        made = _as_heading(made, is_org)
        if _BORDER.match(made):
            made = "|---|" if plain and plain[-1][:1] == "|" else ""
        plain.append(made)
    heads = _in_capitals(plain)
    if any(map(vocabulary.severity, heads.values())):
        for at, title in heads.items():
            plain[at] = f"## {title}"
    return raw, *with_summaries(raw, plain)


def _shown(rows: list[str]) -> list[str]:
    """The lines of a page without its styles and scripts, and each row of its tables in one."""
    made = _without_header(rows)
    ends = [(at, match[1].lower()) for at, row in enumerate(rows) if (match := _ENDED.search(row))]
    tags = {tag for _, tag in ends}
    by_tag = {tag: [at for at, name in ends if name == tag] for tag in tags}
    for at, row in enumerate(rows) if ends else ():
        begins = _BEGUN.match(row) if "<" in row else None
        tag = begins[1].lower() if begins else ""
        after = by_tag.get(tag, [])
        position = bisect.bisect_left(after, at)
        end = after[position] if position < len(after) else -1
        if tag != "tr" and end >= at:
            made[at : end + 1] = [""] * (end + 1 - at)
        elif at < end < at + MOST_CELLS and not any(map(_APART.search, rows[at : end + 1])):
            made[at : end + 1] = [" ".join(map(str.strip, rows[at : end + 1]))] + [""] * (end - at)
    return made


def _unpatched(rows: list[str]) -> list[str]:
    """The lines of a text without those of a patch, between which remarks may stand."""
    left = {"-": 0, "+": 0}  # lines of the hunk
    made = []
    for row in rows:
        if hunk := _HUNK.match(row):
            left = {"-": int(hunk[1] or 1), "+": int(hunk[2] or 1)}
        sides = {" ": "-+", "\\": " "}.get(row[:1], row[:1])
        is_code = any(left.get(side, 0) > 0 for side in sides)
        is_end = not row.strip() or bool(markdown.fence_of(row.strip()))
        left = {} if is_end else {side: left[side] - (side in sides) for side in left}
        made.append("" if is_code else row)
    return made


def _without_header(rows: list[str]) -> list[str]:
    """The lines of a mail without its header, which is that of the mail and of nothing it says."""
    end = next((at for at, row in enumerate(rows) if not row.strip()), len(rows))
    fields = [match[1].lower() if (match := _FIELD.match(row)) else "" for row in rows[:end]]
    if len(_OF_MAILS.intersection(fields)) < _LEAST_FIELDS:
        return list(rows)
    own = [name == "subject" or bool(vocabulary.severity(name)) for name in fields]
    return [row * is_own for row, is_own in zip(rows[:end], own, strict=True)] + rows[end:]


def _in_capitals(rows: list[str]) -> dict[int, str]:
    """The lines in capitals that head a list, by number, in a text without other headings."""
    if any(row[:1] == "#" for row in rows):
        return {}
    bare = {at: _REMARK.sub("", row).strip(" :") for at, row in enumerate(rows[:-2])
            if row[:1].isalpha() and _heads_a_list(rows, at)}  # fmt: skip
    return {at: title for at, title in bare.items() if title.upper() == title}


def _heads_a_list(rows: list[str], at: int) -> bool:
    """Whether a line stands between blank ones, and a list is below it."""
    is_apart = not ("".join(rows[max(0, at - 1) : at]).strip() or rows[at + 1].strip())
    return is_apart and bool(vocabulary.unbulleted(rows[at + 2].strip())[1])


def _annotated(row: str) -> str:
    """A build's line about a file in a compiler's form: `a.ts:12: error: …`."""
    row = _STAMPED.sub("", row)
    match = _ANNOTATION.match(row) if "::" in row else None
    told = dict(_PARAMETER.findall(match[2])) if match else {}
    if not match or not {"file", "line"} <= told.keys():
        return row
    title = f"{told['title']}: " if "title" in told else ""
    return f"{told['file']}:{told['line']}: {match[1]}: {title}{match[3]}"


def with_summaries(raw: list[str], rows: list[str]) -> tuple[list[str], dict[int, int]]:
    """The lines with a heading for each HTML summary in `raw`, and the end of each.

    The ends are lines from 1, by the lines of the headings. A severity in the next cell is its
    label: `</details></td><td>High`.
    """
    made, ends = list(rows), dict[int, int]()
    open_at: list[int] = []  # the line of the summary of each open element, or -1
    level = "#####"  # below the heading around
    for at, row in enumerate(raw):
        low = row.lower() if "<" in row and row.lstrip()[:1] != "|" else ""
        if not open_at and (around := markdown.heading(rows[at])[0]):
            level = "#" * min(max(around + 1, 5), 6)
        if "<details" in low:
            if open_at and open_at[-1] >= 0:
                made[open_at[-1]] = made[open_at[-1]].replace("##### ", "#### ", 1)
            open_at.append(-1)
        if open_at and _SUMMARY.search(low):
            open_at[-1] = at if rows[at].strip("* ") or at + 1 == len(rows) else at + 1
            made[at], title = "", rows[open_at[-1]]
            made[open_at[-1]] = f"{level} {title.strip('* ')}"
        outer = -1
        for _ in range(min(len(open_at), low.count("</details"))):
            outer = open_at.pop()
            ends[outer + 1] = at + 1
        cell = _CELL_BEHIND.search(row) if 0 <= outer < at else None
        if cell and vocabulary.severity(cell[1]) and not made[outer + 1].strip():
            made[outer + 1], made[at] = f"Severity: {cell[1]}", ""
    return made, ends


def closed(blocks: list[Block], ends: dict[int, int]) -> list[Block]:
    """The blocks with the headings of summaries ending where their elements do."""
    made: list[Block] = []
    for block in blocks if ends else ():
        inside = block.inside
        while inside >= 0 and made[inside].last < block.first:
            inside = made[inside].inside
        last = min(block.last, ends.get(block.first, block.last))
        made.append(block._replace(inside=inside, last=max(last, block.first)))
    return made or blocks


def unmarked(row: str) -> str:
    """A line without HTML, images and quote marks, so that it reads as Markdown."""
    bare = row.lstrip()
    if bare[:1] in ("│", "║"):
        bare = row = "|---|" if "───" in row or "═══" in row else _DRAWN.sub("|", bare)
    while bare[:1] == ">":
        row = bare = bare[1:].lstrip()
    if bare[:2] in ("✗ ", "✘ ", "× ", "✖ "):
        row = row.replace(bare[0], "-", 1)
    row = row if row.isascii() else row.translate(_WIDE)
    row = "" if _ALERT.fullmatch(row.strip()) else row
    if bare[1:3] == " [" and bare[4:6] == "] " and not vocabulary.severity(bare[3]):
        tick = "✅ " * (bare[3] in "xX")
        row = row.replace(bare[:6], bare[:2] + tick, 1)  # a box to tick
    if row.count(":") > 1:
        row = _SHORTCODE.sub(lambda match: _SHORTCODES.get(match[1], match[0]), row)
    if "<" in row and ">" in row:
        row = _TAG.sub(_as_markdown, row.replace("<!--", "").replace("-->", ""))
        row = row.replace("****", "**")
        row = objects.unescaped(row)
        bare = row.strip()
        if label := _CARD.match(bare):
            return f"{label[1]} {label[2]}"
        row = bare + " |" if bare[:1] == "|" and bare[-1:] != "|" else row
        row = row.strip("| ") if row.count("|") == 2 else row  # no table has one column
    return row


def _as_heading(row: str, is_org: bool) -> str:
    """The headings and tables of AsciiDoc, wikis and Org in the form of Markdown."""
    if row[:2] == "||":
        return row.replace("||", "|")
    if row[:1] not in ("=", "h", "*"):
        return row
    match = _OTHER_HEADING.match(row)
    if not match or (match["stars"] and not is_org):
        return row
    level = int(match["h"] or 0) or len(match["signs"] or match["stars"])
    return f"{'#' * min(level, 6)} {row[match.end() :]}"


def _as_markdown(match: re.Match[str]) -> str:
    end, tag = bool(match[1]), match[2].lower()
    if tag == "img" and (alt := _ALT.search(match[3])):
        word = alt[1].replace(" Badge", "").replace(" badge", "").strip()
        return f"[{word}] " if vocabulary.severity(word) else word
    if tag[0] == "h" and tag[1:].isdigit():
        return "" if end else "#" * int(tag[1]) + " "
    if tag not in _MARKS and not end and vocabulary.severity(tag):
        return f"[{match[2]}] "  # `<critical>`
    return _MARKS.get(tag, ("", ""))[end]


_MARKS = {  # of HTML tags: the beginning and the end in Markdown
    **dict.fromkeys(("b", "strong", "summary"), ("**", "**")), "code": ("`", "`"),
    **dict.fromkeys(("td", "th"), ("| ", " ")), "li": ("- ", ""),
    **dict.fromkeys(("br", "p", "div"), (" ", " ")),
}  # fmt: skip
