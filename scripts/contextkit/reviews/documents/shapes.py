"""The shapes that findings have in a text: what a heading, an item, a label, a cell say of one.

    ### 🔴 Critical bugs (2)          a group: `group_of`
    ### P0-1. Race (High)             a heading with id, severity and title: `titled`
    **[P1]** …    Potential issue | 🟠 Major    the head of an item or a line: `head_of`
    **Severity:** High (8.1)          a label: `label_in`
    | Sev | Where | What |            the columns of a table: `column`

`unmarked` first brings a line of HTML, AsciiDoc, Org or a wiki into the form of Markdown.
"""

from __future__ import annotations

import functools
import re

from contextkit.base import names
from contextkit.reviews.documents import index, lines, places, vocabulary
from contextkit.reviews.documents.vocabulary import SEVERITIES, Head
from contextkit.text.blocks import Block
from contextkit.text.patterns import Pattern

_BETWEEN = frozenset("·|•—–([,;")  # stand between the parts of a line
PLURALS = frozenset(
    "issues findings problems bugs improvements suggestions blockers vulnerabilities concerns"
    " recommendations violations warnings nits risks defects gaps errors items comments issue"
    " finding problem fixes changes nitpicks befunde probleme fehler problèmes problemas hallazgos"
    " severity priority level".split()
)
EXPLAINS = frozenset(
    "legend rubric scale definition definitions classification classifications criteria key"
    " levels legende légende leyenda".split()
)
_GENERAL = frozenset("code review detailed details the all found results report security".split())
_LABELS = frozenset(
    "SEVERITY PRIORITY SEV LEVEL RISK SCHWEREGRAD PRIORITÄT SÉVÉRITÉ GRAVITÉ PRIORITÉ SEVERIDAD"
    " GRAVEDAD PRIORIDAD GRAVIDADE SEVERIDADE GRAVITÀ 重要度 深刻度 严重程度 严重性 严重级别"
    " 优先级 優先度 СЕРЬЁЗНОСТЬ КРИТИЧНОСТЬ ПРИОРИТЕТ".split()
)
_SCALES = frozenset("SEVERITY PRIORITY IMPACT RISK".split())
_RATINGS = frozenset("FACTOR LEVEL RATING CLASS".split())
TITLES = frozenset(
    "TITLE ISSUE FINDING PROBLEM MESSAGE SUMMARY NAME BUG TITEL PROBLÈME PROBLEMA BEFUND TITRE"
    " TÍTULO TITOLO 問題 问题 タイトル 标题 ПРОБЛЕМА".split()
)
_TAG = Pattern(r"<(/?)(\w{1,12})\b([^<>]{0,300})>")
_LINK = Pattern(r"\[\s?([^\[\]\n]{1,300}?)\s?\]\(https?://[^()\s]{1,300}\)")
_STRUCK = Pattern(r"~~[^~\n]{1,600}~~")
_DASHED = Pattern(r"^([^:：|–—\n]{1,24}?) [–—-] (?=\S)")
BORDER = Pattern(r"\s*[+┌├└╔╠╚╞╒][-=+─━═┬┼┴┐┤┘╦╬╩╗╣╝╪╡╤╕]{3,}\s*$")  # of a table
_SETTING = Pattern(r"^(\w{1,24}) = \"?(.{1,400}?)\"?$")
_OTHER_HEADING = Pattern(r"(?:(?P<signs>={1,6})|h(?P<h>[1-6])\.|(?P<stars>\*{1,6})) (?=\S)")
_SHORTCODE = Pattern(r":(?:large_)?([a-z_]{1,20}):")
_SHORTCODES = {
    "red_circle": "🔴", "red_square": "🟥", "rotating_light": "🚨", "no_entry": "⛔",
    "octagonal_sign": "🛑", "x": "❌", "orange_circle": "🟠", "warning": "⚠️",
    "yellow_circle": "🟡", "blue_circle": "🔵", "green_circle": "🟢", "bulb": "💡",
    "white_check_mark": "✅", "heavy_check_mark": "✅",
}  # fmt: skip
_IMAGE = Pattern(r"!\[([^\]\n]{0,80})\]\([^()\n]{0,300}\)")
_INLINE = Pattern(
    r"(?P<label>severity|priority|schweregrad|gravité|sévérité|severidad|gravedad)[*_`]{0,3}\s{0,2}"
    r"(?:[:=：]|is)[*_`]{0,3}\s{0,2}(?P<value>[^\s,;|)\]]{1,24})",
    re.IGNORECASE,
)
_COUNT = Pattern(r"^[\s(]*(?:[:=—–-]\s*)?\(?\d{1,5}\)?[\s).,;|]*(?:[\w ]{0,24}|$)")
BOLD = Pattern(r"\*\*(.{2,300}?)\*\*|__(.{2,300}?)__")
_BOLD_LINE = Pattern(r"[^\w*#>|-]{0,6}\*\*[^*\s][^*\n]{1,200}\*\*:?")  # perhaps after an emoji
KIND = Pattern(r"[*_`]{0,3}\w[\w -]{1,24}\s?\(([^()\n]{1,60})\)[*_`]{0,3}:[*_`]{0,3}(?:\s|$)")
_MARKED = Pattern(  # `_Potential issue_ | _🟠 Major_`
    r"(?:`?\d{1,7}(?:-\d{1,7})?`?\s?:\s)?(?:_[^_\n]{1,40}_\s?\|\s?)_?([^_\n]{1,24})_?$"
)
_EMOJI = Pattern(r"[*_\[ ]{0,4}(🔴|🟥|🚨|🛑|⛔|🟠|🟡|🔵|🟢|❌|⚠️?|❯❯❱|❯❱|❱)\s{0,2}[*_\] ]{0,4}")
_AT_LINE = Pattern(r"^`?(?:lines?|L)\s?\d{1,7}(?:[-–]\d{1,7})?`?(?::|\s[–—-])\s", re.IGNORECASE)
_BRACKETS = Pattern(r"[(\[]([^()\[\]]{1,80})")
_SCORE = Pattern(r"\d{1,3}[./]\d{1,3}")
_LEAD = Pattern(r"[*_ ]{0,3}\[([^\]\n]{1,40})\][*_]{0,3}(?=\s|$)")
_SENTENCE = Pattern(r"(?<=[.!?。！？])(?:\s|$)|(?<=[。！？])")
FIELD = Pattern(r"\s{0,8}[*_]{0,2}[A-Z][\w ]{1,24}:[*_]{0,2}\s")
_TITLE = 240  # characters of a title
_FEW = 3  # letters that a title has at least
LONG = 400  # characters of a line looked at as a head


def is_fields(rows: list[str]) -> bool:
    """Whether all lines of a paragraph are fields, as a scanner writes them: `Line: 12`."""
    return len(rows) > 2 and all(FIELD.match(row) for row in rows)


def of_cell(cell: str) -> str:
    """Return the severity of a cell, or of one of its parts: `S1 – Critical`, `High (8.1)`."""
    parts = re.split(r"\s[–—-]\s|[()/:]", cell)
    return vocabulary.severity(cell) or vocabulary.strictest(*map(vocabulary.severity, parts))


def parted(blocks: list[Block], rows: list[str]) -> list[Block]:
    """Return the blocks, with a paragraph parted where one of its lines begins a finding."""
    made: list[Block] = []
    moved: list[int] = []
    for block in blocks:
        inside = moved[block.inside] if block.inside >= 0 else -1
        moved.append(len(made))
        starts = [block.first]
        if block.kind == "text":
            starts += _starts_in(rows[block.first - 1 : block.last], block.first)
        if len(starts) == 1:
            made.append(block._replace(inside=inside))
            continue
        for first, after in zip(starts, [*starts[1:], block.last + 1], strict=True):
            made.append(Block("text", 0, rows[first - 1].strip(), first, after - 1, inside))
    return made


def _starts_in(rows: list[str], first: int) -> list[int]:
    """Return the lines of a paragraph, after its own first one, that begin a finding."""
    again = FIELD.match(rows[0])
    lead = again[0] if again else "\0"
    is_list = all(map(tail_of, rows))
    return [
        number
        for number, row in enumerate(rows[1:], first + 1)
        if is_list or begins(row) or row.startswith(lead)
    ]


def begins_finding(block: Block) -> bool:
    head = head_of(block.title)
    return bool(head.severity and head.marked) or bool(titled(block.title)[1])


def is_lead(row: str, after: str) -> bool:
    """Whether a line heads what stands below it: in bold, or with a colon before a list."""
    if lines.unbulleted(after)[1]:
        return bool(_BOLD_LINE.fullmatch(row)) or (
            row.endswith(":") and len(row) < 60 and not lines.unbulleted(row)[1]
        )
    return bool(_BOLD_LINE.fullmatch(row)) and not (leads_title(row) or group_of(row))


def leads_title(row: str) -> bool:
    """Whether a line holds only a severity, so that the title stands below it."""
    head = head_of(row)
    return bool(head.severity) and not has_words(head.title)


def begins(row: str) -> bool:
    """Whether a line of a paragraph begins a finding: a severity in brackets, `>> Issue: …`."""
    bare = row.strip()
    if bare[:1] in "❯❱" or bare[:6] == "Issue:":
        return True
    if len(bare) > 600:
        return False
    head = head_of("" if bare[:1] in "_`" else bare)
    is_named = bool(head.raw or head.id)
    return head.marked and bool(head.severity) and is_named


_COLUMNS = {
    "file": "file path component datei fichier archivo ファイル 文件",
    "place": "location where file:line",
    "line": "line lines line(s) zeile ligne línea 行",
    "rule": "rule",
    "title": "message problem details bug what name vulnerability problème problema 問題 问题 描述"
             " befund beschreibung",
    "severity": "risk-level rating impact schweregrad priorität gravité sévérité severidad gravedad"
                " severidade gravidade 重要度 深刻度 严重程度 严重性",
    "count": "count anzahl",
    "type": "type category agents agent",
}  # fmt: skip
_ROLES = {word: role for role, words in _COLUMNS.items() for word in words.split()}


def column(cell: str) -> str:
    """Return the role of a table's column, by its head."""
    bare = lines.plain(cell).lower().strip(" .:")
    word = bare.replace(" ", "-")
    return _ROLES.get(word) or index.role(bare) or word


@functools.lru_cache(1 << 18)
def group_of(text: str) -> str:
    """Return the severity of a heading or lead that only opens a group: `🔴 Critical bugs (2)`."""
    bare = lines.plain(text).strip()
    if len(bare) > 80 or not bare:
        return ""
    if severity := index.label_of(bare):
        return severity
    head = head_of(lines.unbulleted(bare)[0])
    words = re.sub(r"\([^()]{0,40}\)|\d+", " ", head.title).lower().strip(" :.").split()
    if head.id or not (head.severity or words):
        return ""
    if head.severity and (not words or words[-1].strip(":") in PLURALS):
        return head.severity
    severities = [vocabulary.severity(word) for word in words]
    is_group = 0 < len(words) <= 4 and words[-1] in PLURALS
    return vocabulary.strictest(*severities) if is_group else ""


@functools.lru_cache(1 << 18)
def titled(text: str) -> tuple[str, str, str]:
    """Return id, severity and title of a heading: `Finding 1.1: No quickstart (P0)`."""
    bare = lines.unbulleted(text)[0]
    named = re.match(r"(?i)(?:finding|issue|bug|problem)\s?#?(?=[\d:]|[CHML]-\d)", bare)
    rest = bare[named.end() :] if named else bare
    head = head_of(rest)
    identity, title = head.id, head.title
    if not identity:
        number = re.match(r"([A-Z]{0,4}-?\d[\d.]{0,6})[:.)]?(?:\s|$)", rest)
        if number and not vocabulary.severity(number[1]):
            identity = number[1].strip(".") if vocabulary.is_id(number[1]) or named else ""
    title = re.sub(r"^[A-Z]{0,4}-?\d[\d.]{0,6}[:.)]\s{1,3}", "", title)
    inner = head_of(title)
    audit = vocabulary.of_audit(identity) if named else ""
    severity = vocabulary.strictest(head.severity, audit, tail_of(bare))
    if not severity and inner.marked:
        severity, title = inner.severity, inner.title
    return identity, severity, title


def label_in(row: str) -> str:
    """Return the severity that a line states as a label: `**Severity:** High (…)`."""
    if len(row) > 600:
        return ""
    if "❰" in row:
        return vocabulary.severity(row.strip(" ❰❱"))
    if row.rstrip(" *_").endswith(("everity", "riority")):
        return vocabulary.severity(lines.plain(row).rpartition(" ")[0])
    label, value = vocabulary.labelled(_DASHED.sub(r"\1: ", row.strip(" >"), 1))
    if is_scale(label.strip(" _*")):
        first, word = first_part(value), value.split(" ")[0]
        graded = (
            vocabulary.severity(first) or vocabulary.severity(word) or vocabulary.of_tool(first)
        )
        return "" if is_legend(value) else graded
    stated = _INLINE.search(row)
    if not stated:
        return ""
    begins = row.strip(" *_-({>\"'|").lower().startswith(("s", "p", "g", "[", "id", "type", "file"))
    is_between = row[: stated.start()].rstrip(" *_`")[-1:] in _BETWEEN and not is_legend(row)
    return vocabulary.severity(stated["value"].strip("*_`\"'")) if begins or is_between else ""


def is_scale(label: str) -> bool:
    """Whether a label says how bad something is: `SEVERITY`, `RISK FACTOR`."""
    first, _, second = label.partition(" ")
    return label in _LABELS or (first in _LABELS and second in _RATINGS)


def is_legend(value: str) -> bool:
    """Whether a value explains the severities: it names three of them."""
    return len({*map(vocabulary.severity, lines.words(value[:LONG]))} - {""}) > 2


def first_part(value: str) -> str:
    """Return `P1` from `P1 — why`, `P1 (why)` or `P1, why`."""
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - ", "  ", "/"):
        value = value.partition(mark)[0]
    return value.strip(" *_`")


@functools.lru_cache(1 << 18)
def head_of(text: str) -> Head:
    """Return the head of a line, after emoji and brackets of the kind `[bug]`."""
    bare = _AT_LINE.sub("", text.strip(), 1)
    marked = _MARKED.match(bare)
    if marked and vocabulary.severity(marked[1]):
        words = (word for word in marked[1].split() if word.isalnum() and vocabulary.severity(word))
        return Head(f"[{next(words, marked[1])}] ")
    if emoji := _EMOJI.match(bare):
        rest = Head(("**" if emoji[0].count("**") % 2 else "") + bare[emoji.end() :])
        if not rest.severity:
            rest.severity = rest.raw = vocabulary.severity(emoji[1])
        rest.marked = True
        return rest
    if "(" in bare[:32] and (kind := KIND.match(bare)):
        stated = map(vocabulary.severity, kind[1].split(","))
        if severity := vocabulary.strictest(*stated):
            return Head(f"[{severity}] {bare[kind.end() :]}")
    head = Head(bare)
    lead = _LEAD.match(bare) if not head.severity else None
    if lead and (severity := _in_brackets(lead[1])):
        return Head(f"[{severity}] {bare[lead.end() :]}")
    return head


def tail_of(text: str) -> str:
    """Return the severity at the end of a title or in its brackets: `Race — High`, `Race (P0)`."""
    parts = _BRACKETS.findall(text.replace("`", ""))[:8]
    severity = vocabulary.strictest(*map(_in_brackets, parts))
    for mark in (" — ", " – ", " - ", " | "):
        last = text.rpartition(mark)[2] if mark in text else ""
        if 0 < len(last) < 24:
            severity = vocabulary.strictest(severity, vocabulary.severity(cleaned(last)))
    return severity


@functools.lru_cache(1 << 14)
def _in_brackets(part: str) -> str:
    """Return the severity in brackets that hold nothing else but a score: `9/10 · Critical`."""
    words = re.sub(r"[:,/·]", " ", _SCORE.sub(" ", part.upper())).split()
    severities = [vocabulary.severity(w) for w in words if w not in _SCALES]
    is_stated = all(severities) or not set(words).isdisjoint(SEVERITIES)
    return vocabulary.strictest(*severities) if 0 < len(words) <= 4 and is_stated else ""


@functools.lru_cache(1 << 18)
def is_about(title: str, words: frozenset[str]) -> bool:
    title_words = lines.words(title, "-")
    return len(title_words) <= 6 and not words.isdisjoint(title_words)


def is_part(title: str) -> bool:
    """Whether a heading may be a part of a finding: `Description`."""
    return not (titled(title)[1] or group_of(title) or is_general(title))


def is_general(title: str) -> bool:
    """Whether a heading names no finding but all of them: `Findings`, `Code review`."""
    return (PLURALS | _GENERAL).issuperset(lines.words(title))


def counts_only(title: str) -> bool:
    """Whether what follows a severity is only a count: `1, P1: 2`, `0 | High: 0`."""
    rest = title.strip(" *_|:")
    return bool(_COUNT.match(rest)) and letters(rest) <= 24 and not places.find(rest).file


def is_count(head: Head) -> bool:
    is_named = bool(head.id) and not vocabulary.severity_of_id(head.id)
    has_words = bool(head.severity and head.title.strip(" *_|:"))
    return has_words and not is_named and counts_only(head.title)


def unmarked(row: str) -> str:
    """Return a line without HTML, images and quote marks, so that it reads as Markdown."""
    bare = row.lstrip()
    while bare[:1] == ">":
        row = bare = bare[1:].lstrip()
    if "【" in row:
        row = row.replace("【", "[").replace("】", "] ")
    if bare[2:3] == "[" and bare[4:6] == "] " and bare[0] in "-*+":
        row = row.replace(bare[:6], bare[:2], 1)  # a box to tick
    if row.count(":") > 1:
        row = _SHORTCODE.sub(lambda match: _SHORTCODES.get(match[1], match[0]), row)
    if "![" in row:
        row = _IMAGE.sub(lambda match: _badge(match[1]), row)
    if "<" in row and ">" in row:
        row = _TAG.sub(_as_markdown, row.replace("<!--", "").replace("-->", ""))
        row = lines.unescaped(row)
        bare = row.strip()
        row = bare + " |" if bare[:1] == "|" and bare[-1:] != "|" else row
    return row


def unstruck(row: str) -> str:
    """Return a line without what is struck out, and with the value of a setting as a label's."""
    if "~~" in row:
        row = _STRUCK.sub(" ", row)
    return _SETTING.sub(r"\1: \2", row) if "=" in row else row


def as_heading(row: str, is_org: bool) -> str:
    """Return the headings and tables of AsciiDoc, of wikis and of Org as Markdown has them."""
    if row[:2] == "||":
        return row.replace("||", "|")
    if row[:1] not in ("=", "h", "*"):
        return row
    match = _OTHER_HEADING.match(row)
    if not match or (match["stars"] and not is_org):
        return row
    level = int(match["h"] or 0) or len(match["signs"] or match["stars"])
    return f"{'#' * min(level, 6)} {row[match.end() :]}"


def _badge(alt: str) -> str:
    word = alt.replace(" Badge", "").replace(" badge", "").strip()
    return f"[{word}] " if vocabulary.severity(word) else word


def _as_markdown(match: re.Match[str]) -> str:
    end, tag = bool(match[1]), match[2].lower()
    if tag[0] == "h" and tag[1:].isdigit():
        return "" if end else "#" * int(tag[1]) + " "
    return _MARKS.get(tag, ("", ""))[end]


_MARKS = {  # of HTML: what begins and what ends it in Markdown
    **dict.fromkeys(("b", "strong", "summary"), ("**", "**")), "code": ("`", "`"),
    **dict.fromkeys(("td", "th"), ("| ", " ")), "li": ("- ", ""),
    **dict.fromkeys(("br", "p", "div"), (" ", " ")),
}  # fmt: skip


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if has_words(part)]


def first_sentence(text: str) -> str:
    return next(iter(sentences(text)), text)[:_TITLE]


def without_place(title: str) -> str:
    return title.replace(places.find(title).file or "\0", "")


def cleaned(title: str) -> str:
    """Return a title on one line, without markup and without the severity in its brackets."""
    title = _LINK.sub(r"\1", title) if "](" in title else title
    title = names.one_line(lines.plain(title.replace("_|_", "|"))).strip(" :—–-|_")
    before, _, last = title.rpartition("(")
    if before and last.endswith(")") and tail_of(f"({last}"):
        title = before.rstrip()
    return title[:_TITLE]


def has_words(text: str) -> bool:
    return letters(text) > _FEW


def letters(text: str) -> int:
    return sum(map(str.isalpha, text[:200]))
