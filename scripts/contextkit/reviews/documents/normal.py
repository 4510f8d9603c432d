"""The lines of a review in the one form that the reader knows, line for line.

✅ met · 🚫 must not ship       a legend: the sign is `[P0]` in all other lines
(C) critical, (m) minor        another
BLOCKER                        a heading, if alone above a list and no line is one
<summary>Race</summary>        a heading, one level higher if it contains others
"""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Collection, Iterator
from contextkit.reviews.documents import phrases, shapes, vocabulary
from contextkit.text import objects
from contextkit.text.blocks import Block

_DEFINED = Pattern(
    r"(?:[\w ]{1,40}:\s)?([(\[][A-Za-z]{1,2}[)\]]|[^\w\s|*#`-]{1,4})"
    r"\s*(?:(?:[=:–—|-]|means|is)\s)?\s*([^\W\d].{2,120})$"
)
_LETTERED = Pattern(r"[(\[][A-Za-z]{1,2}[)\]] ?[=:–—-]? ?\w{3}.*[(\[][A-Za-z]{1,2}[)\]]")
_COUNTED = Pattern(r"\s*(?:[-*+•]\s)?[`*]{0,3}([(\[][A-Za-z][)\]])")
_ASKED = ("question", "questions")
_MUST = Pattern(r"\bmust[ -]?(?:be )?(?:fix|block|stop)|\bblock(?:s|er|ing)\b", re.IGNORECASE)
_PARTED = Pattern(r"[,;·]\s?|\.(?:\s|$)|\s/\s")
_LONGEST = 300  # characters of a line with a legend or a head
_SUMMARY = Pattern(r"<summary[^<>]{0,80}>", re.IGNORECASE)
_CELL_BEHIND = Pattern(
    r"</details>\s*</td>\s*<td\b[^<>]{0,80}>\s*([^<>]{1,24}?)\s*(?:</td>.*)?$", re.IGNORECASE
)
_TAG = Pattern(r"<(/?)(\w{1,12})\b([^<>]{0,300})>")
_ALT = Pattern(r"\balt=[\"']([^\"']{1,80})")
_ALERT = Pattern(r"\[![A-Z]{3,12}\]")  # a forge's mark of a quote
_WIDE = str.maketrans({"【": "[", "】": "] ", "（": " (", "）": ")"})
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
    for row in with_marks(raw, is_whole):
        made = unmarked(row)
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


def with_marks(rows: list[str], is_whole: bool = False) -> list[str]:
    """The lines with a severity in place of each sign that a legend explains."""
    explain = (at for at, row in enumerate(rows) if not row.isascii() or _LETTERED.search(row))
    every = ((at, signs(rows[at])) for at in explain)
    told = {at: signs for at, signs in every if signs}
    marks = {mark: severity for signs in told.values() for mark, severity in signs.items()}
    if vocabulary.strictest(*marks.values()) not in vocabulary.SERIOUS:
        return rows
    words = "|".join(map(re.escape, marks))
    begins = r"^(\s*(?:(?:[-*+•|]|\d+[.)]?|#+)\s)?)[`*]{0,3}"
    head = re.compile(rf"{begins}({words})[`*]{{0,3}}(?=\W|$)")

    def graded(match: re.Match[str]) -> str:
        return f"{match[1]}[{marks[match[2]]}]"

    left = set(_counted_on(rows, marks)) if is_whole else set[int]()
    made = (row if at in left else head.sub(graded, row, 1) for at, row in enumerate(rows))
    return ["" if at in told else row for at, row in enumerate(made)]


def _counted_on(rows: list[str], marks: Collection[str]) -> Iterator[int]:
    """The lines, from 0, of lists that count in letters past those that a legend explains."""
    runs: list[dict[str, int]] = []
    for at, row in enumerate(rows):
        if match := _COUNTED.match(row):
            before = list(runs[-1])[-1] if runs else ""
            if not before or ord(match[1][1]) != ord(before[1]) + 1:
                runs.append({})
            runs[-1][match[1]] = at
    for run in runs:
        if next(iter(run))[1] in "aA" and any(mark not in marks for mark in run):
            yield from run.values()


def signs(row: str) -> dict[str, str]:
    """The meanings of signs in a legend: `✅ met · 🚫 must not ship`; empty for any other line."""
    row = vocabulary.plain(row.strip(" |")) if len(row) < _LONGEST else ""
    mark = next((mark for mark in (" · ", "; ", ", ") if row.count(mark) > 1), "")
    meanings = [_DEFINED.match(part.strip()) for part in row.split(mark)] if mark else []
    if _LETTERED.search(row) and not _is_key(row, meanings):
        return {}
    told = {}
    for match in filter(None, meanings):
        graded = map(vocabulary.severity, _PARTED.split(match[2]))
        demanded = "P0" if _MUST.search(match[2]) else phrases.demanded_in(match[2])
        told[match[1]] = vocabulary.strictest(*graded, demanded)
    if len(told) < len(meanings) or sum(map(bool, told.values())) < 2:
        return {}
    usual = {sign: "P2" * (vocabulary.severity(sign) in vocabulary.SERIOUS) for sign in told}
    return {sign: meant for sign in told if (meant := told[sign] or usual[sign])}


def _is_key(row: str, meanings: list[re.Match[str] | None]) -> bool:
    """Whether a line is called a legend, and each of its letters stands for its own grade."""
    first = vocabulary.words(row)[:1]
    told = [match[2].strip(" .") for match in meanings if match]
    grades = {*filter(None, map(vocabulary.severity, told))}
    asked = sum(meaning.lower() in _ASKED for meaning in told)
    is_scale = any(vocabulary.is_scale(word) or shapes.names_scale(word) for word in first)
    is_called = is_scale or not shapes.EXPLAINS.isdisjoint(first)
    return is_called and len(grades) + asked == len(meanings)


def with_summaries(raw: list[str], rows: list[str]) -> tuple[list[str], dict[int, int]]:
    """The lines with a heading for each HTML summary in `raw`, and the end of each.

    The ends are lines from 1, by the lines of the headings. A severity in the next cell is its
    label: `</details></td><td>High`.
    """
    made, ends = list(rows), dict[int, int]()
    open_at: list[int] = []  # the line of the summary of each open element, or -1
    for at, row in enumerate(raw):
        low = row.lower() if "<" in row and row.lstrip()[:1] != "|" else ""
        if "<details" in low:
            if open_at and open_at[-1] >= 0:
                made[open_at[-1]] = made[open_at[-1]].replace("##### ", "#### ", 1)
            open_at.append(-1)
        if open_at and _SUMMARY.search(low):
            open_at[-1] = at if rows[at].strip("* ") or at + 1 == len(rows) else at + 1
            made[at], title = "", rows[open_at[-1]]
            made[open_at[-1]] = f"##### {title.strip('* ')}"
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
