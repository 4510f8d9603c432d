"""The shapes of findings in a text: what a heading, an item, a label or a cell says about one.

### 🔴 Critical bugs (2)          a group: `index.group_of`
### P0-1. Race (High)             a heading with id, severity and title: `titled`
**[P1]** …    Potential issue | 🟠 Major    the head of an item or a line: `head_of`
**Severity:** High (8.1)          a label: `label_in`
src/app.py:42, line 42 of …       a place in code: `place_in`
"""

from __future__ import annotations

import copy
import functools
import itertools
import re

from contextkit.base import names
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.reviews.documents import index, vocabulary
from contextkit.reviews.documents.vocabulary import SEVERITIES, Head
from contextkit.text.blocks import Block

EXPLAINS = vocabulary.word_set("legends")
_GENERAL = vocabulary.word_set("general")
_OF_SCALE = vocabulary.word_set("of scales")
_CERTAIN = vocabulary.word_set("certain")
TITLES = vocabulary.word_set("titles")
_LINK = Pattern(r"\[\s?([^\[\]\n]{1,300}?)\s?\]\(https?://[^()\s]{1,300}\)")
_DASHED = Pattern(r"^([^:：|–—\n]{1,24}?) [–—-] (?=\S)")
_INLINE = Pattern(
    r"(?:severity|priority|schweregrad|gravité|sévérité|severidad|gravedad)[*_`\"']{0,3}\s{0,2}"
    r"(?:[:=：]|(?=\*\*))[*_`]{0,3}\s{0,2}([^\s,;|)\]]{1,24})",
    re.IGNORECASE,
    needs="severity priority schweregrad gravité sévérité severidad gravedad",
)
_COUNT = Pattern(r"^[\s(]*(?:[:=—–-]\s*)?\(?\d{1,5}\)?[\s).,;|]*(?:[\w ]{0,24}|$)")
BOLD = Pattern(r"\*\*(.{2,300}?)\*\*|__(.{2,300}?)__")
_BOLD_LINE = Pattern(r"[^\w*#>|-]{0,6}\*\*[^*\s][^*\n]{1,200}\*\*:?")  # perhaps after an emoji
KIND = Pattern(r"[*_`]{0,3}\w[\w -]{1,24}\s?\(([^()\n]{1,60})\)[*_`]{0,3}:[*_`]{0,3}(?:\s|$)")
_MARKED = Pattern(  # `_Potential issue_ | _🟠 Major_`
    r"(?:`?\d{1,7}(?:-\d{1,7})?`?\s?:\s)?(?:_[^_\n]{1,40}_\s?\|\s?)_?([^_\n]{1,24})_?$"
)
_SIGN = Pattern(r"[*_\[ ]{0,4}([^\w\s\0-\x7f✅✔☑👍]{1,3})\s{0,2}[*_\] ]{0,4}")  # such as an emoji
_AT_LINE = Pattern(
    r"^(?:`?(?:lines?|L\.?)\s?|`)\d{1,7}(?:[-–]\d{1,7})?`?"
    r"(?::|\s[–—-]|(?=\s[*`]{0,3}(?:\[|[^\w\s\0-\x7f])))\s",  # a bracket, or a sign
    re.IGNORECASE,
)
_NUMBERED = Pattern(  # a number or letter, a severity, and a separator: `(1) high: …`
    r"\W{0,3}(?:[A-Za-z]{2,9}\.?\s|№\s?)?[(\[{]?#?(?:[A-Z]?\d{1,4}|(?<=[(\[])[a-z](?=[)\]]))"
    r"(?:/\d{1,3})?[)\]}]?[.:/)]?[*_]{0,2}\s{0,3}(?:[—–/-]\s{1,3})?"
    r"[*_`]{0,3}[\[(]?([^\W\d][\w-]{1,19})[*_`]{0,3}(?:[\])]|\s{0,3}[:—–|/·-])[*_`:]{0,3}(?:\s{1,3}|$)"
)
_SCORED = Pattern(  # `**CVSS 9.4 (Critical)** AV:N/…`
    r"[-*_`> ]{0,5}CVSS\s?(?:v?[\d.]{1,3}:?\s)?(?:base\s)?(?:score)?:?[*_]{0,2}\s{0,2}(\d{1,2}\.\d)"
    r"(?:\s?\((\w{3,12})\))?",
    re.IGNORECASE,
)
_CODE = Pattern(r"`[^`\n]*(?:[({=;\"']|: (?:true|false|null|\d))[^`\n]*`")  # and no badge
_DEFINED = Pattern(  # a word with what it means: `P0: …`, `**high** means …`
    r"(?:^|(?<=[.;,·|:(]\s)|(?<=\s-\s)|(?<=[；，。：]))[*_`]{0,3}(\w[\w/]{0,14})[*_`]{0,3}"
    r"\s?(?:[:：=]|(?:means|is)\b)"
)
_BRACKETS = Pattern(r"[(\[]([^()\[\]]{1,80})")
_BRACKETED = Pattern(r"\s?[(\[]([^()\[\]]{1,40})[)\]]")
_SCORE = Pattern(r"\(?\d{1,3}[./]\d{1,3}\)?")
_LEAD = Pattern(r"[*_ ]{0,3}(?:\[([^\]\n]{1,40})\][*_]{0,3}|(?<=\*\*)([^*\n]{1,40})\*\*)(?=\s|$)")
_TOOL_GRADES = {"S0": "P0", "S1": "P0", "S2": "P1", "S3": "P2", "S4": "P3"}
_PART = Pattern(  # names for parts of a finding
    r"(?i)\W{0,3}(?:(?:how|steps) to|(?:suggest|recommend|propos|affect|expect|actual|evidence"
    r"|example|reproduc|impact|fix|solution|remed|cause|why)\w{0,10}\b)"
)
_SPEAKER = Pattern(  # `**lena:** critical: …`, `[10:02] lena: *P1* – …`
    r"\*\*@?[\w .-]{1,30}:\*\*\s(?=\S)|(?:\[[\d:apm ]{3,12}\]\s)?@?[\w.-]{1,30}:\s(?=[*_`[])"
)
_GRADING = Pattern(r"[*_]{0,2}([^*_:.\n]{4,40})[*_]{0,2}(?: (?:no\.?|#)? ?\d{1,2})?:[*_]{0,2}\s")
_PLAIN = Pattern(r"[\w ,'’*]+")
_FOR_WHOM = Pattern(r" (?:for|from|in) ")
LOOSE = vocabulary.word_set("loose")
SENTENCE = Pattern(r"(?<=[.!?。！？])(?:\s|$)|(?<=[。！？])")
FIELD = Pattern(r"\s{0,8}[*_]{0,2}[A-Z][\w ]{1,24}:[*_]{0,2}\s")
KIND_OF = Pattern(r"^\s{0,8}\*\*[a-z]{3,12}:\*\*\s(?=\S)")  # `**logic:** …`, which labels a title
_NAMED = Pattern(r"(?i)(?:finding|issue|bug|problem)\s?#?(?=[\d:]|[CHML]-\d)")
_NUMBER = Pattern(r"([A-Z]{0,4}-?\d[\d.]{0,6})[:.)]?(?:\s|$)")
_NUMBERED_AS = Pattern(r"^[A-Z]{0,4}-?\d[\d.]{0,6}[:.)]\s{1,3}")
_APART = Pattern(r" [—–|·•-] ")
LABELLED = Pattern(r"\s{0,8}(?:[-*] )?(?:\*\*[\w ]{2,24}(?::\*\*|\*\*:)|[\w]{2,16}:)(?:\s|$)")
FIELD_LENGTH = 100  # characters of a line that only labels
TITLE = 240  # characters of a title
_FEW = 3  # least letters of a title
PHRASE, GRADED = 4, 50  # words and characters of a phrase that grades
LONG = 400  # characters of a line that are examined as a head
_MOST_BLANKS = 12  # in a line that only names a place


_NAME = r"[\w@+\-./\\\[\]~]"
_ENDS = f"(?:{'|'.join(vocabulary.LISTS['endings'])})"
_BARE = r"(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|Procfile|go\.mod)"
_PATH = Pattern(  # with a known suffix, or with a folder before and a line behind
    rf"(?<![\w/])({_NAME}{{0,200}}\.{_ENDS}|(?:[\w.\-]{{1,80}}/){{0,9}}{_BARE}"
    r"|(?:[\w.\-]{1,80}/){1,9}[\w.\-]{1,80}\.[A-Za-z]\w{0,9}(?=`?:\d))(?![\w/])"
)
_AFTER = Pattern(
    r"[`\"'*_)\]>]{0,4}(?:\s?[:@#]\s?L?|#L|(?=\(\d+[,)])|\s\[(?=\d)|\s?[,(\[|—–·-]?\s?"
    r"(?:(?:at|on|around|near|in|zeile|ligne|línea|linea|linha"
    r"|строка|行)\s)?(?:at\s|around\s)?(?:the\s)?(?:lines?|zeilen?|lignes?|l[ií]neas?|linhas?"
    r"|righe|riga|строк\w{1,3}|ln|L)"
    r"\.?\s{0,2}:?\s?(?:numbers?\s)?L?)\(?`?(\d{1,7})(?:\s?(?:-|–|to|bis|à)\s?L?(\d{1,7}))?",
    re.IGNORECASE,
)
_LINE_OF = Pattern(
    r"(?:^|[\s(|*_`])(?:(?:lines?|zeilen?|lignes?|l[ií]neas?|linhas?|rig[ah]e?|строк\w{1,3}|ln)"
    r"(?:\s?\(s\))?[*_`]{0,3}(?:\s{0,12}:)?[*_`]{0,3}\s{0,3}|L(?:\.\s)?)`?(\d{1,7})\b|(\d{1,7})\s?行目?",
    re.IGNORECASE,
)
_RANGE = Pattern(r"^\s{0,20}[-*]?\s?`?(\d{1,7})(?:\s?[-–]\s?\d{1,7})?`?\s?(?::|┆|\|(?=\s)|$)")
_FORGE = Pattern(r"https?://[^\s()]{1,200}?/blob/[^/\s]{1,80}/")  # a forge's prefix of a path
_LONGEST = 4_000  # characters that are examined
_INTRODUCING = 6  # words before a place at the end of a line
_INTRODUCE = vocabulary.word_set("introduce")


AT_PLACE = Pattern(rf"[*_`]{{0,3}}{_NAME}{{1,200}}\.\w{{1,8}}:\d")  # begins a line of a tool
_SHOUTED = Pattern(  # `Result #2 HIGH …`, `MAJOR a.c:10 …`, `a.py:3: CRITICAL: …`
    rf"[*_`]{{0,3}}(?:{_NAME}{{1,200}}:\d{{1,7}}(?::\d{{1,7}})?`?:?\s"
    r"|(?:[A-Z]\w{3,9} )?#?\d{1,3}[:.)]?\s)?"
    rf"(P[0-3]|[A-Z]{{3,12}})[*_`]{{0,3}}:?\s+"
    rf"(?=[*_`\"'(]{{0,3}}[A-Z]|{_NAME}{{1,200}}[:.]\w|(?<=:\s)\S)"
)


class Place(NamedTuple):
    """A file, a line in it or 0, and the last line of a range or 0."""

    file: str
    line: int
    last: int = 0


NOWHERE = Place("", 0)


def finding(
    severity: str,
    title: str,
    first: int,
    last: int = 0,
    place: Place = NOWHERE,
    identity: str = "",
    recap: bool = False,
) -> index.Finding:
    """A finding, which ends on its first line if no last line is given."""
    return index.Finding(
        severity=severity, id=identity, title=title, line=first, end=last or first,
        file=place.file, at=place.line, recap=recap,
    )  # fmt: skip


def place_in(text: str) -> Place:
    """The first place with a line in a text, else its first file; or NOWHERE."""
    text = text[:_LONGEST]
    first = NOWHERE
    if "." not in text and "file" not in text:
        return NOWHERE
    text = _FORGE.sub("", text)
    for match in _PATH.finditer(text):
        path = match[1].rpartition("][")[2].removeprefix("./").strip("[]")
        if "://" in text[max(0, match.start() - 12) : match.start() + 8]:
            continue
        rest = text[match.end() : match.end() + 60]
        if after := _AFTER.match(rest):
            return Place(path, int(after[1]), int(after[2] or 0))
        first = first if first.file else Place(path, 0)
    return first


def line_in(text: str) -> int:
    """The line that a text names without a file: `Line 42`, `88-97`: …; or 0."""
    text = text[:_LONGEST]
    for row in text.split("\n")[:40]:
        if match := _RANGE.match(row):
            return int(match[1])
    match = _LINE_OF.search(text)
    return int(match[1] or match[2]) if match else 0


def shown_place(file: str, line: int, last: int = 0) -> str:
    """`src/app.py:42`, `src/app.py:42-50`, or the file alone if no line is known."""
    lines = f"{line}-{last}" if last > line else f"{line}"
    return f"{file}:{lines}" if line else file


def place_of(line: str) -> Place:
    """The place that a whole line is about, so that it also holds for the lines below.

    `In \\`src/a.ts\\`:`, `### src/a.ts`, `src/a.ts (2)`, `File: src/a.ts`.
    """
    bare = _FORGE.sub("", line).strip(" \t#*`>-•_:│").strip()
    if len(bare) > 240 or bare.count(" ") > _MOST_BLANKS:
        return NOWHERE
    match = _PATH.search(bare)
    if match is None:
        return NOWHERE
    before = bare[: match.start()].strip(" `*_:[(\"'📄📁0123456789.").lower()
    rest = bare[match.end() :]
    line_of = _AFTER.match(rest)
    after = rest[line_of.end() if line_of else 0 :]
    words = before.rstrip(":").split()
    most = _INTRODUCING if line_of else 2
    if len(words) > most or (words and words[-1] not in _INTRODUCE):
        return NOWHERE
    after = re.sub(r"\s\(\w{3,12}\)$", "", after)  # the state of a thread
    if after.strip("()0123456789 :#L-–`*_]\"'."):
        return NOWHERE
    return Place(match[1].removeprefix("./"), int(line_of[1]) if line_of else 0)


def is_fields(rows: list[str]) -> bool:
    """Whether all lines of a paragraph are fields in a scanner's form: `Line: 12`."""
    return len(rows) > 2 and all(FIELD.match(row) for row in rows)


def parted(blocks: list[Block], rows: list[str]) -> list[Block]:
    """The blocks, with paragraphs split at lines that begin a finding."""
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
    """The lines of a paragraph, after the first, that begin a finding."""
    again = FIELD.match(rows[0])
    lead = again[0] if again else "\0"
    is_list, are_facts = all(map(tail_of, rows)), is_fields(rows)

    def starts(row: str) -> bool:
        is_labelled = len(row) > FIELD_LENGTH and "**" in row[:8] and bool(label_in(row))
        head = head_of(row.strip()[:LONG])
        is_fact = are_facts and head.is_sign  # such as the verdict
        is_begun = begins(row) and head.severity != "IMP" and not is_fact
        return is_begun or row.startswith(lead) or is_labelled

    return [number for number, row in enumerate(rows[1:], first + 1) if is_list or starts(row)]


def begins(row: str) -> bool:
    """Whether a line begins with a severity in brackets or before a colon."""
    head = head_of(row.strip()[:LONG])
    return head.marked and bool(head.severity)


def begins_finding(title: str) -> bool:
    return begins(title) or bool(titled(title)[1])


def is_lead(row: str, after: str) -> bool:
    """Whether a line heads the text below it: in bold, or with a colon before a list."""
    is_bold = bool(_BOLD_LINE.fullmatch(row))
    if vocabulary.unbulleted(after)[1]:
        leads = row.endswith(":") and len(row) < 60 and not vocabulary.unbulleted(row)[1]
        return is_bold or (leads and not _PART.match(row))
    is_severity = leads_title(row) or index.group_of(row) or label_in(row)
    return is_bold and not is_severity


def lead_in(row: str) -> str:
    """The severity that ends a short sentence above a list: `Two are blocking for me:`."""
    phrase = _FOR_WHOM.split(row.rpartition(". ")[2].partition(":")[0])[0]
    words = [word for word in vocabulary.words(phrase) if word not in index.PLURALS]
    is_phrase = row.endswith(":") and 1 < len(words) <= PHRASE and words[-1] not in LOOSE
    is_phrase = is_phrase and (vocabulary.DENIALS | {"to", "most"}).isdisjoint(words)
    is_phrase = is_phrase and bool(_PLAIN.fullmatch(phrase))
    severity = vocabulary.severity(words[-1]) if is_phrase else ""
    return severity if severity in vocabulary.SERIOUS else ""


def leads_title(row: str) -> bool:
    """Whether a line holds only a severity, so that the title is below it."""
    head = head_of(row)
    return bool(head.severity) and not has_words(head.title)


@functools.lru_cache(1 << 18)
def titled(text: str) -> tuple[str, str, str]:
    """Id, severity and title of a heading: `Finding 1.1: No quickstart (P0)`."""
    bare = vocabulary.unbulleted(text)[0]
    named = _NAMED.match(bare)
    rest = bare[named.end() :] if named else bare
    head = head_of(rest)
    identity, title = head.id, head.title
    if not identity:
        number = _NUMBER.match(rest)
        if number and not vocabulary.severity(number[1]):
            identity = number[1].strip(".") if vocabulary.is_id(number[1]) or named else ""
    title = _NUMBERED_AS.sub("", title)
    audit = vocabulary.of_audit(identity) if named else ""
    return identity, vocabulary.strictest(head.severity, audit, tail_of(bare)), title


def label_in(row: str) -> str:
    """The severity that a line states as a label: `**Severity:** High (…)`."""
    row = row[:LONG]
    if "❰" in row:
        return vocabulary.severity(row.strip(" ❰❱"))
    if row.rstrip(" *_").endswith(("everity", "riority")):
        return vocabulary.severity(vocabulary.plain(row).rpartition(" ")[0])
    label, value = vocabulary.labelled(_DASHED.sub(r"\1: ", row.strip(" >"), 1))
    if vocabulary.is_scale(label):
        words = (first_part(value), value.split(" ")[0])
        severity = next(filter(None, map(vocabulary.severity, words)), "")
        severity = severity or vocabulary.of_tool(words[0])
    else:
        stated = _INLINE.search(row)
        word = stated[1].strip("*_`\"'.") if stated else ""
        severity = vocabulary.severity(word)
    return "" if severity and (is_legend(row) or defines(row)) else severity


def placed_grade(row: str) -> str:
    """The severity of a line that has only a place besides: `*High — a.py, line 4*`."""
    first, *rest = re.split(r"\s[·•|—–-]\s|[,:(]\s?", row.strip("*_> "), maxsplit=1)
    is_placed = rest and place_of(rest[0].strip(") ")).file
    return vocabulary.severity(first.strip("*_`[] ")) if is_placed else ""


def fields_in(row: str) -> list[str]:
    """A short line itself, or the labels among the sentences of a long one: `Severity: high.`"""
    if len(row) < FIELD_LENGTH:
        return [row]
    parts = [part for part in SENTENCE.split(row) if len(part) < FIELD_LENGTH]
    labels = [vocabulary.labelled(part)[0] for part in parts]
    return [part for part, label in zip(parts, labels, strict=True)  # overall: of all findings
            if vocabulary.is_scale(label) and not label.startswith("OVERALL")]  # fmt: skip


def effect_in(row: str) -> str:
    """The severity that a line gives as an effect or a score, in want of anything else."""
    if scored := _SCORED.match(row):
        return vocabulary.severity(scored[2] or "") or vocabulary.of_score(scored[1])
    label, value = vocabulary.labelled(row.strip(" >"))
    word = first_part(value)
    is_own = word.upper() in _CERTAIN and not is_legend(row)
    is_own = is_own and not any(
        vocabulary.is_scale(w) or vocabulary.severity(w) for w in label.split()
    )
    if not (label and is_own) and label not in ("IMPACT", "CVSS", "CVSS SCORE"):
        return ""
    return vocabulary.severity(word) or vocabulary.of_score(value.split(" ")[0])


def is_legend(value: str) -> bool:
    """Whether a value explains the severities by naming three of them."""
    return len({*map(vocabulary.severity, vocabulary.words(value[:LONG]))} - {""}) > 2


def defines(row: str) -> bool:
    """Whether a line says what two severities mean: `P0: no release. P1: this week.`"""
    words = (word.split("/")[0] for word in _DEFINED.findall(row[:LONG]))
    return len({*map(vocabulary.severity, words)} - {""}) > 1 and not place_in(row).file


def is_note(row: str) -> bool:
    """Whether a line is about severities, and no finding: what two mean, or a score alone."""
    return defines(row) or bool(_SCORED.match(row))


def names_scale(title: str) -> bool:
    """Whether a heading only names a scale: `2. Ratings`, `Severity levels`."""
    title_words = {word for word in vocabulary.words(title) if not word.isdigit()}
    return bool(title_words) and title_words <= _OF_SCALE


def first_part(value: str) -> str:
    """`P1` from `P1 — why`, `P1 (why)` or `P1, why`."""
    for mark in ("|", "—", "–", "(", ",", ";", ".", " - ", "  ", "/"):
        value = value.partition(mark)[0]
    return value.strip(" *_`")


@functools.lru_cache(1 << 18)
def head_of(text: str) -> Head:
    """The head of a line, after emoji and brackets of the kind `[bug]`."""
    bare = _AT_LINE.sub("", text.strip(), 1)
    if _CODE.match(bare):  # which grades nothing
        head = Head("")
        head.title = vocabulary.plain(bare)
        return head
    if speaker := _SPEAKER.match(bare):
        spoken = head_of(bare[speaker.end() :])
        return spoken if spoken.severity and spoken.marked else Head(bare)
    marked = _MARKED.match(bare)
    if marked and vocabulary.severity(marked[1]):
        words = (word for word in marked[1].split() if word.isalnum() and vocabulary.severity(word))
        return Head(f"[{next(words, marked[1])}] ")
    if sign := _SIGN.match(bare):
        severity = vocabulary.severity(sign[1])
        opened = "[" * (sign[0].count("[") - sign[0].count("]"))
        bare = ("**" if sign[0].count("**") % 2 else "") + opened + bare[sign.end() :]
        if severity:
            rest = copy.copy(head_of(bare))  # a copy, since results are cached
            stated = rest.severity if rest.marked else ""
            stated = stated or tail_of(bare)
            rest.severity = rest.raw = stated or severity
            rest.marked, rest.is_sign = True, not stated
            return rest
    for pattern in (KIND, _SHOUTED, _NUMBERED):
        match = pattern.match(bare)
        words = match[1].split(",") if match else []
        if match and (severity := vocabulary.strictest(*map(vocabulary.severity, words))):
            return Head(f"[{severity}] {bare[match.end() :]}")
    head = Head(bare)
    lead = _LEAD.match(bare) if not (head.severity and head.marked) else None
    word = (lead[1] or lead[2]) if lead else ""
    stated = vocabulary.severity(word) or _TOOL_GRADES.get(word, "")
    if lead and (severity := _in_brackets(lead[1] or "") or stated):
        return Head(f"[{severity}] {bare[lead.end() :]}")
    return head


def tail_of(text: str) -> str:
    """The severity in brackets or between dashes: `Race (P0)`, `x.py — High — Race`."""
    text = text[: LONG * 2]
    if is_legend(text):
        return ""
    text = _CODE.sub(" ", text).replace("`", "")
    parts = [
        each[1]
        for each in itertools.islice(_BRACKETS.finditer(text), 8)
        if letters(each[1]) or not has_words(text[each.end() :])  # a sign within explains itself
    ]
    apart = (part for part in _APART.split(text)[1:] if 0 < len(part) < 24)
    severities = (vocabulary.severity(cleaned(_SCORE.sub(" ", part))) for part in apart)
    return vocabulary.strictest(*map(_in_brackets, parts), *severities)


@functools.lru_cache(1 << 14)
def _in_brackets(part: str) -> str:
    """The severity in brackets, alone or with a score: `9/10 · Critical`."""
    if severity := vocabulary.severity(part):
        return severity
    if "," in part and all(each := [vocabulary.severity(word) for word in part.split(",")]):
        return vocabulary.strictest(*each)
    words = re.sub(r"[:,/·]", " ", _SCORE.sub(" ", part.upper())).split()
    graded = [w for w in words if w != "IMPACT" and not vocabulary.is_scale(w)]
    severities = [vocabulary.severity(w) for w in graded if w.isalnum()]
    severities = severities or [vocabulary.severity(w) for w in graded]
    is_stated = all(severities) or not set(words).isdisjoint(SEVERITIES)
    return vocabulary.strictest(*severities) if 0 < len(words) <= 4 and is_stated else ""


@functools.lru_cache(1 << 18)
def is_about(title: str, words: frozenset[str]) -> bool:
    title_words = re.findall(r"(?:[^\W_]|-)+", title.lower())
    return len(title_words) <= 6 and not words.isdisjoint(title_words)


def is_general(title: str) -> bool:
    """Whether a heading is about all findings: `Findings`, `Code review`."""
    return (index.PLURALS | _GENERAL).issuperset(vocabulary.words(title))


def is_count(head: Head) -> bool:
    """Whether a severity is followed only by a count: `1, P1: 2`, `0 | High: 0`."""
    rest = head.title.strip(" *_|:")
    is_named = bool(head.id) and not vocabulary.severity_of_id(head.id)
    first, *words = vocabulary.words(rest.partition(": ")[2]) or [""]
    counts = first.isdigit() and words and all(map(_counted, words))  # `General: 1 blocking issue`
    is_short = letters(rest) <= 24 and bool(_COUNT.match(rest))
    return not is_named and (bool(counts) or is_short)


def _counted(word: str) -> bool:
    is_severity = word.isdigit() or bool(vocabulary.severity(word))
    return is_severity or word in index.PLURALS or word in ("other", "and")


def unlabelled(title: str) -> str:
    """A title without a first phrase that only grades it: `must fix before merge*: …`."""
    match = _GRADING.match(title)
    return title[match.end() :] if match and index.group_of(match[1]) else title


def without_fields(title: str) -> str:
    """The fields of a lead that say what is wrong: not `2`, `High`, `confidence: high`."""
    fields = re.split(r"\s[·•|—–]\s", title)
    told = (field for field in fields if has_words(without_place(field)))
    named = (field for field in told if not re.fullmatch(r"\W*\w+:\s?\S+", field))
    kept = (field for field in named if not vocabulary.severity(cleaned(field)))
    rest = " · ".join(kept)
    return rest if len(fields) > 2 or (len(fields) == 2 and not rest) else title


def without_place(title: str) -> str:
    return title.replace(place_in(title).file or "\0", "")


def cleaned(title: str) -> str:
    """A title on one line, without markup and without the severity in its brackets."""
    title = vocabulary.plain(_LINK.sub(r"\1", title).replace("_|_", "|"))
    title = names.one_line(title).strip(" :—–-|_")
    title = _BRACKETED.sub(lambda match: "" if _in_brackets(match[1]) else match[0], title)
    return title[:TITLE]


def has_words(text: str) -> bool:
    return letters(text) > _FEW


def letters(text: str) -> int:
    """The number of letters in a text; a sign that stands for a word counts twice."""
    read = text[:200]
    signs = 0 if read.isascii() else sum(char > "\u2e80" and char.isalpha() for char in read)
    return sum(map(str.isalpha, read)) + signs
