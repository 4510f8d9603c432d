"""Severity words in a line, and whether the line itself denies them.

    denials.serious_in("P0: the login is open", "")      P0
    denials.serious_in("No P0 or P1 issues.", "")        '': it denies both
    denials.serious_in("### Critical", "None.")          '': the next line does

A sentence is read as a string with one letter per word: `No P0 or P1 issues.` is `BSOSN.`
"""

from __future__ import annotations

import itertools
import re

from contextkit.base import markdown, names
from contextkit.base.expressions import Pattern
from contextkit.reviews.documents import heads, index, phrases, shapes, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS

# Words that are serious anywhere; the reader has those of other languages.
_FOREIGN = "|".join(word for word in vocabulary.LISTS["P0"] if not word.isascii())
GRAVE = vocabulary.any_of("serious", r"(?<!non-)(?<!non )(?:", rf"|{_FOREIGN})")
_SENTENCES = Pattern(r"[.!;。；]\s|(?<=\?)\s(?!(?i:no))|(?<=[。；])")
_COUNTER = Pattern(r"\b(?:p[01]|critical|blockers?|high)_\w{1,20}\W{1,4}[1-9]", re.IGNORECASE)

_MARK = "\ue000"  # stands for a severity word
_LETTERS = dict.fromkeys(vocabulary.LISTS["of nothing"], "N")
_LETTERS |= dict.fromkeys(vocabulary.NEGATIONS, "B") | {_MARK: "S"}
_LETTERS |= {word: sign for sign in "LBTZAON:.,|?" for word in vocabulary.LISTS[f"letter {sign}"]}
_GLUED = "なし|はありません|没有|沒有|问题|问題|な問題"  # in a script without blanks
_WORD = Pattern(rf"{_MARK}|{_GLUED}|[^\W{_MARK}]+?(?={_GLUED}|[\W{_MARK}]|$)|[^\w\s\"'*`~\\-]")
_DENIED = Pattern(
    r"[BT]A?N*(?:LO+)?S(?:N*+(?![:|])(?:,?O*[BT]?N*[SL]N*+(?![:|]))*)|TN*S"  # no P0 or P1 issues
    r"|(?<!S)S(?:[,O]*+N*+[SL])*[NO]*+[:|?]*+[NO]*+[ZBT](?=$|[.,|:OLS9])"  # P0: none; any P0? No.
)
_EXCEPT = vocabulary.any_of("except")
_CITED = Pattern(r"[\"“„«](?:[^\s\"“”„«»]{1,80}\s){2}[^\"“”„«»]{1,300}[\"”“»]")  # three words
_QUOTES = Pattern(r"[\"“”„«»]")
_OWN = Pattern(  # the reviewer's own words, or what they introduce
    r"(?i)\b(?:I|my|we|our|mir|mich|ich|wir|je|moi|yo|eu|io)\b[^.!?]* x |: x "
)
_FEW = 6  # words of a sentence around what it cites
_ASIDE = Pattern(r"\s\((?:[^\s()]{1,40}\s){2}[^()]{0,200}\)")  # in parentheses
_INSIDE = Pattern(r"\([^()]*\)")
_SCALE = Pattern(
    r"\b(?:severit|scale|legend|priorit|levels?|rate|rating|mean)"
    r"|\bno(?:thing|ne) to (?:index|report|list)|\bnichts zu (?:melden|berichten)",
    re.IGNORECASE,
)
_COUNTED = vocabulary.any_of("counted")
_RANGE = Pattern(  # from the first to the last of a scale
    r"\b(?:p[01]|critical|blocker|high)\s?(?:to|bis|à|through|-|–|—|…|\.\.+)\s?"
    r"(?:p[23]|imp|low|minor|info)\b(?!\s?:(?! no| nichts))",
    re.IGNORECASE,
)
_EQUATED = Pattern(r"\b(p[0-3]|imp)\s?=", re.IGNORECASE)
IDENTIFIER = Pattern(
    r"`[^`\n]{1,200}`|(?<![\w./\\-])[\w./\\-]{0,200}[/\\_][\w./\\-]{1,200}|\b[\w-]{1,80}\.\w{1,5}\b(?!\w)"
)
_PAIRED = Pattern(r"(?:^|[/\s])p[01](?:[/-]|$)", re.IGNORECASE)


def serious_in(row: str, after: str) -> str:
    """The severity word in a line that the line does not deny itself, or ''."""
    if counted := _COUNTER.search(row):
        return str(counted[0])
    text = _unescaped(row).replace("PO", "P0").replace("Pl", "P1")  # letters for the digits
    for mark in ("*", "_", "~", "\\"):
        text = text.replace(mark, "")
    read = IDENTIFIER.sub(_identifier, text).replace("`", "").replace("[]", "none")
    if not GRAVE.search(read):
        return row.strip()[:40] if shapes.label_in(read) in SERIOUS else ""
    if _says_none(row, after):
        return ""
    stated = (stands(GRAVE, sentence, _EXCEPT) for sentence in claims(read))
    return next(filter(None, stated), "")


def claims(read: str) -> list[str]:
    """The sentences of a line; of one that lists the severities, those that do more than that."""
    sentences: list[str] = _SENTENCES.split(read)
    others = [each for each in sentences if not (is_scale(each) and _is_in_order(each))]
    if len(others) < len(sentences) or not (is_scale(read) and _is_in_order(read)):
        return others
    firsts = (next(iter(vocabulary.words(sentence)), "") for sentence in sentences)
    defines = map(vocabulary.severity, firsts)  # the scale takes all of them
    return [sentence for sentence, is_own in zip(sentences, defines, strict=True)
            if not (is_own or _SCALE.search(sentence))]  # fmt: skip


def _is_in_order(read: str) -> bool:
    """Whether the severities in a line only rise or fall, as in a scale: `P0 (critical), P1`."""
    graded = GRAVE.sub(
        lambda word: vocabulary.severity(word[0]) or SERIOUS[0], _INSIDE.sub("", read)
    )
    told = filter(None, map(vocabulary.severity, vocabulary.words(graded)))
    order = [vocabulary.SEVERITIES.index(severity) for severity, _ in itertools.groupby(told)]
    return order in (sorted({*order}), sorted({*order}, reverse=True))


def uncited(row: str) -> str:
    """Prose without what it cites; but words in quotes by which it calls something are its own."""
    left = _CITED.sub(" x ", row) if _CITED.search(row) else row
    is_prose = len(left.split()) > _FEW and not phrases.said_in(_QUOTES.sub("", row))
    return left if is_prose and not _OWN.search(f"{left} ") else row


def stands(pattern: Pattern, sentence: str, but: Pattern | None = None) -> str:
    """The first match of a pattern that a sentence does not deny; any match if it has a `but`."""
    if not pattern.search(sentence):  # which looks for what it needs first
        return ""
    sentence = _ASIDE.sub(lambda aside: aside[0] if pattern.search(aside[0]) else "", sentence)
    told = [match[0] for match in pattern.finditer(sentence)]
    marked = pattern.sub(_MARK, sentence.replace(_MARK, "x"))
    words = list(_WORD.finditer(marked))
    texts = (word[0].lower() for word in words)
    letters = "".join(_LETTERS.get(text) or ("9" if text.isdigit() else "w") for text in texts)
    rest = marked
    for match in _DENIED.finditer(letters):
        first, last = words[match.start()].start(), words[match.end() - 1].end()
        rest = rest[:first] + " " * (last - first) + rest[last:]
    left = rest.count(_MARK) or len(told) * bool(but and but.search(rest))
    return names.one_line(told[-left]) if left else ""


def is_scale(read: str) -> bool:
    """Whether a line only lists the severities, without a count or a place."""
    if _COUNTED.search(read) or len(read.split()) > 40:
        return False
    equated = {word.lower() for word in _EQUATED.findall(read)}
    is_list = heads.is_legend(read) or _RANGE.search(read)
    return len(equated) > 1 or bool(is_list and _SCALE.search(read))


def _says_none(row: str, after: str) -> bool:
    """Whether a line only heads a group of findings that the next line calls empty."""
    bare = vocabulary.plain(vocabulary.unbulleted(after.strip())[0]).strip(" .!()_✅✓")
    level, title = markdown.heading(row)
    is_head = level > 0 or row.rstrip()[-1:] in ":*"
    group = index.group_of(title or row.strip())
    return is_head and bool(group) and vocabulary.says_nothing(bare)


def _identifier(match: re.Match[str]) -> str:
    """Spaces in place of a name or path; a code span of plain words and anything else stays."""
    text = match[0]
    if text[0] == "`" and re.fullmatch(r"`[\w -]{1,24}`", text) and "_" not in text:
        return text
    is_name = re.search(r"[a-z]{2}", text, re.IGNORECASE) and not _PAIRED.search(text)
    return " x " if is_name else text


def _unescaped(row: str) -> str:
    if "\\u" not in row:
        return row
    plain = re.sub(r"\\u\{?([0-9a-fA-F]{4})\}?", lambda match: chr(int(match[1], 16)), row)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
