"""The shapes of findings in a text: what a heading, an item, a label or a cell says about one.

### 🔴 Critical bugs (2)          a group: `index.group_of`
### P0-1. Race (High)             a heading with id, severity and title: `titled`
**[P1]** …    Potential issue | 🟠 Major    the head of an item or a line: `heads.read`
**Severity:** High (8.1)          a label: `label_in`
src/app.py:42, line 42 of …       a place in code: `places.place_in`
"""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base import names
from contextkit.base.expressions import Pattern
from contextkit.reviews.documents import heads, index, places, vocabulary
from contextkit.reviews.documents.heads import Head
from contextkit.text.blocks import Block

EXPLAINS = vocabulary.word_set("legends")
_GENERAL = vocabulary.word_set("general")
_OF_SCALE = vocabulary.word_set("of scales")
_CERTAIN = vocabulary.word_set("certain")
FAILING, _RUNS = vocabulary.word_set("failing"), vocabulary.word_set("runs")
_FIELDS = 5  # words
TITLES = vocabulary.word_set("titles")
_DASHED = Pattern(r"^([^:：|–—\n]{1,24}?) [–—-] (?=\S)")
_INLINE = Pattern(
    r"(?:severity|\bsev|priority|schweregrad|gravité|sévérité|severidad|gravedad)[*_`\"']{0,3}\s{0,2}"
    r"(?:[:=：]|(?=\*\*)|\s)[*_`]{0,3}\s{0,2}([^\s,;|)\]]{1,24})"
    r"(?! (?:to|bis|through) (?:p[23]|imp|low))",  # from the first to the last of a scale
    re.IGNORECASE,
    needs="sev priority schweregrad gravité sévérité severidad gravedad",
)
DATED = Pattern(r"\s*[-*]\s[*_`(\[]{0,3}\d{4}-\d\d-\d\d\b")  # an entry of a history
_COUNT = Pattern(r"^[\s(]*(?:[:=—–-]\s*)?\(?\d{1,5}\)?[\s).,;|]*(?:[\w ]{0,24}|$)")
BOLD = Pattern(r"\*\*(.{2,300}?)\*\*|__(.{2,300}?)__")
_BOLD_LINE = Pattern(r"[^\w*#>|-]{0,6}\*\*[^*\s][^*\n]{1,200}\*\*:?")  # perhaps after an emoji
_SCORED = Pattern(  # `**CVSS 9.4 (Critical)** AV:N/…`
    r"[-*_`> ]{0,5}CVSS\s?(?:v?[\d.]{1,3}:?\s)?(?:base\s)?(?:score)?:?[*_]{0,2}\s{0,2}(\d{1,2}\.\d)"
    r"(?:\s?\((\w{3,12})\))?",
    re.IGNORECASE,
)
_DEFINED = Pattern(  # a word with what it means: `P0: …`, `**high** means …`
    r"(?:^|(?<=[.;,·|:(]\s)|(?<=\s-\s)|(?<=[；，。：]))[*_`]{0,3}(\w[\w/]{0,14})[*_`]{0,3}"
    r"\s?(?:[:：=]|(?:means|is)\b)"
)
_BRACKETED = Pattern(r"\s?[(\[]([^()\[\]]{1,40})[)\]]")
_ADDRESS = Pattern(r"\s?[(\[]https?://[^\s()\[\]]{1,300}[)\]]")
PART = Pattern(  # names for parts of a finding
    r"(?i)\W{0,3}(?:(?:how|steps) to|(?:suggest|recommend|propos|affect|expect|actual|evidence"
    r"|example|reproduc|impact|fix|solution|remed|cause|why)\w{0,10}\b)"
)
_GRADING = Pattern(r"[*_]{0,2}([^*_:.\n]{4,40})[*_]{0,2}(?: (?:no\.?|#)? ?\d{1,2})?:[*_]{0,2}\s")
_SPOKEN = Pattern(  # `**Ann** 10:03`, `[10:03] ann: …`
    r"[*_<]{0,3}([^\W\d][\w.' -]{0,38}?)[*_>:,]{0,3}\s{1,3}"
    r"[(\[]?\d{1,2}:\d\d(?:\s?[AaPp][Mm])?[)\]]?$"
    r"|[(\[]?\d{1,2}:\d\d(?::\d\d)?[)\]]?\s{1,3}[*_<]{0,3}([^\W\d][\w.-]{0,38})[*_>:]{1,3}\s"
)
SAYS = Pattern(r"([a-z][\w.-]{1,24}): (?=\S)")  # `ann: …`
FIELDS = Pattern(r"\s[·•|—–]\s")  # what is between them
_PLAIN = Pattern(r"[\w ,'’*]+")
_FOR_WHOM = Pattern(r" (?:for|from|in) ")
LOOSE = vocabulary.word_set("loose")
SENTENCE = Pattern(r"(?<=[.!?。！？])(?:\s|$)|(?<=[。！？])")
FIELD = Pattern(r"\s{0,8}[*_]{0,2}[A-Z][\w ]{1,24}:[*_]{0,2}\s")
KIND_OF = Pattern(r"^\s{0,8}\*\*[a-z]{3,12}:\*\*\s(?=\S)")  # `**logic:** …`, which labels a title
LABELLED = Pattern(r"\s{0,8}(?:[-*] )?(?:\*\*[\w ]{2,24}(?::\*\*|\*\*:)|[\w]{2,16}:)(?:\s|$)")
FIELD_LENGTH = 100  # characters of a line that only labels
TITLE = 240  # characters of a title
_LEAD_IN = 6  # words of a sentence above a list
PHRASE, GRADED = 4, 50  # words and characters of a phrase that grades


def finding(
    severity: str,
    title: str,
    first: int,
    last: int = 0,
    place: places.Place = places.NOWHERE,
    identity: str = "",
    recap: bool = False,
) -> index.Finding:
    """A finding, which ends on its first line if no last line is given."""
    return index.Finding(
        severity=severity, id=identity, title=title, line=first, end=last or first,
        file=place.file, at=place.line, recap=recap,
    )  # fmt: skip


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
    is_list, are_facts = all(map(heads.tail_of, rows)), is_fields(rows)
    speakers = [match[1] for row in rows if (match := SAYS.match(row))]
    is_list = is_list or (2 < len(rows) == len(speakers) > len({*speakers}))  # a chat

    def starts(row: str) -> bool:
        is_labelled = len(row) > FIELD_LENGTH and "**" in row[:8] and bool(label_in(row))
        head = heads.read(row.strip()[: heads.LONG])
        is_fact = are_facts and head.is_sign  # such as the verdict
        is_begun = begins(row) and head.severity != "IMP" and not is_fact
        is_next = row.startswith(lead) or bool(speaker(row.strip()))
        return is_begun or is_next or is_labelled

    return [number for number, row in enumerate(rows[1:], first + 1) if is_list or starts(row)]


def begins(row: str) -> bool:
    """Whether a line begins with a severity in brackets or before a colon."""
    head = heads.read(row.strip()[: heads.LONG])
    return head.marked and bool(head.severity)


def begins_finding(title: str) -> bool:
    return begins(title) or bool(titled(title)[1])


def is_lead(row: str, after: str) -> bool:
    """Whether a line heads the text below it: in bold, or with a colon before a list."""
    is_bold = bool(_BOLD_LINE.fullmatch(row))
    if vocabulary.unbulleted(after)[1]:
        leads = row.endswith(":") and len(row) < 60 and not vocabulary.unbulleted(row)[1]
        return is_bold or (leads and not PART.match(row))
    is_severity = leads_title(row) or index.group_of(row) or label_in(row)
    return is_bold and not is_severity


def speaker(row: str) -> str:
    """Who speaks from a line on, if it says that and when: `**Ann** 10:03`; else ''."""
    match = _SPOKEN.match(row) if ":" in row else None
    return (match[1] or match[2]) if match else ""


def lead_in(row: str) -> str:
    """The severity that ends a short sentence above a list: `Two are blocking for me:`."""
    phrase = _FOR_WHOM.split(row.rpartition(". ")[2].partition(":")[0])[0]
    words = vocabulary.words(phrase)
    while words and words[-1] in index.PLURALS and not vocabulary.severity(words[-1]):
        words.pop()
    is_phrase = row.endswith(":") and 1 < len(words) <= _LEAD_IN and words[-1] not in LOOSE
    is_phrase = is_phrase and (vocabulary.DENIALS | {"to", "most"}).isdisjoint(words)
    is_phrase = is_phrase and bool(_PLAIN.fullmatch(phrase))
    severity = vocabulary.severity(words[-1]) if is_phrase else ""
    return severity if severity in vocabulary.SERIOUS else ""


def leads_title(row: str) -> bool:
    """Whether a line holds only a severity, so that the title is below it."""
    head = heads.read(row)
    return bool(head.severity) and not heads.has_words(head.title)


def titled(text: str) -> tuple[str, str, str]:
    """Id, severity and title of a heading: `Finding 1.1: No quickstart (P0)`."""
    bare = vocabulary.unbulleted(text)[0]
    head = heads.read(bare)
    audit = vocabulary.of_audit(head.id)
    return (
        head.id or head.number,
        vocabulary.strictest(head.severity, audit, heads.tail_of(bare)),
        head.title,
    )


def label_in(row: str) -> str:
    """The severity that a line states as a label: `**Severity:** High (…)`."""
    row = row[: heads.LONG]
    if "❰" in row:
        return vocabulary.severity(row.strip(" ❰❱"))
    if row.rstrip(" *_").endswith(("everity", "riority")):
        return vocabulary.severity(vocabulary.plain(row).rpartition(" ")[0])
    label, value = vocabulary.labelled(_DASHED.sub(r"\1: ", row.strip(" >"), 1))
    if vocabulary.is_scale(label):
        words = (first_part(value), value.split(" ")[0])
        severity = next(filter(None, map(vocabulary.severity, words)), "")
        severity = severity or vocabulary.of_tool(words[0]) or heads.graded(value[:FIELD_LENGTH])
    else:
        stated = _INLINE.search(row)
        word = stated[1].strip("*_`\"'.") if stated else ""
        severity = vocabulary.severity(word)
    return "" if severity and (heads.is_legend(row) or defines(row)) else severity


def placed_grade(row: str) -> str:
    """The severity of a line that has only a place or facts besides: `*High — a.py, line 4*`."""
    facts = re.split(r"\s[·•]\s", row)  # `Security · **Critical** · 1 occurrence`
    if len(facts) > 2 and all(fact.count(" ") < 3 and not fact.isdigit() for fact in facts):
        grades = {vocabulary.severity(fact.strip("*_`[]> ")) for fact in facts} - {""}
        return grades.pop() if len(grades) == 1 else ""
    first, *rest = re.split(r"\s[·•|—–-]\s|[,(]\s?", row.strip("*_>( "))
    short = itertools.takewhile(lambda field: field.count(" ") < 3, rest)
    is_placed = any(places.place_of(field.strip(") ")).file for field in short)
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
    """The severity that a line gives as an effect or a score, failing anything else."""
    if scored := _SCORED.match(row):
        return vocabulary.severity(scored[2] or "") or vocabulary.of_score(scored[1])
    label, value = vocabulary.labelled(row.strip(" >"))
    word = first_part(value)
    is_own = word.upper() in _CERTAIN and not heads.is_legend(row)
    is_own = is_own and not any(
        vocabulary.is_scale(w) or vocabulary.severity(w) or w[-1].isdigit() for w in label.split()
    )
    if not (label and is_own) and label not in ("IMPACT", "CVSS", "CVSS SCORE"):
        return ""
    return vocabulary.severity(word) or vocabulary.of_score(value.split(" ")[0])


def defines(row: str) -> bool:
    """Whether a line says what two severities mean: `P0: no release. P1: this week.`"""
    words = (word.split("/")[0] for word in _DEFINED.findall(row[: heads.LONG]))
    return len({*map(vocabulary.severity, words)} - {""}) > 1 and not places.place_in(row).file


def is_note(row: str) -> bool:
    """Whether a line is about severities, and no finding: what they mean, or a score alone."""
    label, value = vocabulary.labelled(row)  # `Classes: **B** blocker, **M** major, **m** minor`
    is_scale = bool(label) and not vocabulary.severity(label) and heads.is_legend(value)
    is_legend = defines(row) or (is_scale and not places.place_in(row).file)
    told = {*vocabulary.words(row)}  # `❌ Quality gate failed`
    is_state = len(told) < _FIELDS and not (_RUNS.isdisjoint(told) or FAILING.isdisjoint(told))
    return is_legend or is_state or bool(_SCORED.match(row))


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
    is_short = heads.letters(rest) <= 24 and bool(_COUNT.match(rest))
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
    fields = FIELDS.split(title)
    told = (field for field in fields if heads.has_words(without_place(field)))
    named = (field for field in told if not re.fullmatch(r"\W*\w+:\s?\S+", field))
    kept = (field for field in named if not vocabulary.severity(cleaned(field)))
    rest = " · ".join(kept)
    return rest if len(fields) > 2 or (len(fields) == 2 and not rest) else title


def without_place(title: str) -> str:
    return str(places.LINE_OF.sub("", title.replace(places.place_in(title).file or "\0", "")))


def cleaned(title: str) -> str:
    """A title on one line, without markup and without the severity in its brackets."""
    title = _ADDRESS.sub("", places.LINK.sub(r"\1", title)).replace("_|_", "|")
    title = vocabulary.plain(title)
    title = names.one_line(title).strip(" :—–-|_")
    title = _BRACKETED.sub(lambda match: "" if heads.graded(match[1]) else match[0], title)
    return title[:TITLE]
