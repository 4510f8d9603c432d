"""Places in code, as reviews name them.

src/app.py:42   line 42 of `src/app.py`   a.c#L10-L12     in a text: `place_in`
In `src/a.ts`:  ### src/a.ts  File: a.ts                   what a whole line is about: `place_of`
Line 42   `88-97`: …                                       a line without a file: `line_in`
"""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.reviews.documents import vocabulary

_MOST_BLANKS = 12  # in a line that only names a place
NAME = r"[\w@+\-./\\\[\]~]"
_ENDS = f"(?:{'|'.join(vocabulary.LISTS['endings'])})"
_BARE = r"(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|Procfile|go\.mod)"
_PATH = Pattern(  # with a known suffix, or with a folder before and a line behind
    rf"(?<![\w/])({NAME}{{0,200}}\.{_ENDS}|(?:[\w.\-]{{1,80}}/){{0,9}}{_BARE}"
    r"|(?:[\w.\-]{1,80}/){1,9}[\w.\-]{1,80}\.[A-Za-z]\w{0,9}(?=`?:\d)"
    # with blanks: all that stands in backticks, but no command, whose first word has no slash
    rf"|(?<=`)[\w.\-]{{1,80}}/[\w.\-/ ]{{1,200}}\.{_ENDS}(?=:\d))(?![\w/])"
)
_LINES = r"lines?|zeilen?|lignes?|l[ií]neas?|linhas?|regels?|riga|righe|строк\w{1,3}|ln"
_AFTER = Pattern(
    r"[`\"'*_)\]>]{0,4}(?:\s?[:@#]\s?L?|#L|(?=\(\d+[,)])|\s\[(?=\d)|\[(?=\d+[-–]\d)|\s?:?[,(\[|—–·-]?\s?"
    r"(?:(?:at|on|around|near|in|zeile|ligne|línea|linea|linha"
    rf"|строка|行)\s)?(?:at\s|around\s)?(?:the\s)?(?:{_LINES}|L)"
    r"\.?\s{0,2}:?\s?(?:numbers?\s)?L?)\(?`?(\d{1,7})(?:\s?(?:-|–|to|bis|à)\s?L?(\d{1,7}))?",
    re.IGNORECASE,
)
LINE_OF = Pattern(
    rf"(?:^|[\s(|*_`])(?:(?:{_LINES}|行(?:番?号)?)"
    r"(?:\s?\(s\))?[*_`]{0,3}(?:\s{0,12}[:：])?[*_`]{0,3}\s{0,3}|L(?:\.\s)?)`?(\d{1,7})\b|(\d{1,7})\s?行目?",
    re.IGNORECASE,
)
_RANGE = Pattern(r"^\s{0,20}[-*]?\s?`?(\d{1,7})(?:\s?[-–]\s?\d{1,7})?`?\s?(?::|┆|\|(?=\s)|$)")
_ONLY_LINE = Pattern(
    r"PS\d{1,3}, Line (\d{1,7})(?:-\d{1,7})?:.*"
    r"|Lines? (\d{1,7})(?:[-–]\d{1,7})?(?:[*_`]{0,3} (?:\([^()]{1,40}\)|· \w+))?:?"
)
_FORGE = Pattern(r"https?://[^\s()]{1,200}?/blob/[^/\s]{1,80}/")  # a forge's prefix of a path
LINK = Pattern(r"\[\s?([^\[\]\n]{1,300}?)\s?\]\(https?://[^()\s#]{1,300}(#L\d+)?[^()\s]{0,300}\)")
_NO_FILES = ("process.env", "import.meta.env", "meta.env", "Rails.env")  # but objects
_OF_THREAD = Pattern(r"(?: at \w{1,12})?(?: \([\w ]{3,12}\))?$")  # its revision and state
_CALLED = Pattern(  # on the web
    r"\b(?:GET|POST|PUT|PATCH|DELETE|URL:) (?:https?://[^\s/]{1,100})?(/[\w./{}~:-]{1,200})(?<![.:])"
)
_COUNTED = Pattern(r"(?:,?\s\(?\d{1,4} [a-z]{3,16}){1,5}\)?$")  # `3 problems (1 error)`
_LONGEST = 4_000  # characters that are examined
_INTRODUCING = 6  # words before a place at the end of a line
_INTRODUCE = vocabulary.word_set("introduce")
AT_PLACE = Pattern(rf"[*_`]{{0,3}}{NAME}{{1,200}}\.\w{{1,8}}:\d")  # begins a line of a tool


class Place(NamedTuple):
    """A file, a line in it or 0, and the last line of a range or 0."""

    file: str
    line: int
    last: int = 0


NOWHERE = Place("", 0)


def place_in(text: str) -> Place:
    """The first place with a line in a text, else its first file; or NOWHERE."""
    text = text[:_LONGEST]
    first = NOWHERE
    called = _CALLED.search(text) if "/" in text else None
    if "." not in text and "file" not in text:
        return Place(called[1], 0) if called else NOWHERE
    text = _FORGE.sub("", text)
    for match in _PATH.finditer(text):
        path = match[1].rpartition("][")[2].removeprefix("./").strip("[]")
        if path in _NO_FILES or "://" in text[max(0, match.start() - 12) : match.start() + 8]:
            continue
        rest = text[match.end() : match.end() + 60]
        if after := _AFTER.match(rest):
            return Place(path, int(after[1]), int(after[2] or 0))
        if called and called.start() < match.start():
            path = called[1]
        first = first if first.file else Place(path, 0)
    return first if first.file or not called else Place(called[1], 0)


def line_in(text: str) -> int:
    """The line that a text names without a file: `Line 42`, `88-97`: …; or 0."""
    text = text[:_LONGEST]
    for row in text.split("\n")[:40]:
        if match := _RANGE.match(row):
            return int(match[1])
    match = LINE_OF.search(text)
    return int(match[1] or match[2]) if match else 0


def unlinked(text: str) -> str:
    """A text with the words of its links; a link to a line keeps that: `a.py#L4`."""
    return str(
        LINK.sub(lambda link: link[1] + (link[2] or "") * bool(_PATH.fullmatch(link[1])), text)
    )


def line_of(row: str) -> int:
    """The number in a line that names nothing else: `Line 31 (on a diff)`, `PS4, Line 8: x;`."""
    match = _ONLY_LINE.fullmatch(row.strip("*_` "))
    return int(match[1] or match[2]) if match else 0


def shown_place(file: str, line: int, last: int = 0) -> str:
    """`src/app.py:42`, `src/app.py:42-50`, or the file alone if no line is known."""
    lines = f"{line}-{last}" if last > line else f"{line}"
    return f"{file}:{lines}" if line else file


def place_of(line: str) -> Place:
    """The place that a whole line is about, so that it also holds for the lines below.

    `In \\`src/a.ts\\`:`, `### src/a.ts`, `src/a.ts (2)`, `File: src/a.ts`.
    """
    bare = _FORGE.sub("", unlinked(line)).strip(" \t#*`>-•_:│").strip()
    if len(bare) > 240 or bare.count(" ") > _MOST_BLANKS:
        return NOWHERE
    match = _PATH.search(bare)
    if match is None:
        return NOWHERE
    before = bare[: match.start()].strip(" `*_:[(\"'📄📁0123456789.").lower()
    rest = bare[match.end() :]
    line_of = _AFTER.match(rest)
    after = rest[line_of.end() if line_of else 0 :]
    words = before.rstrip(":").split() if any(map(str.isalpha, before)) else []
    most = _INTRODUCING if line_of or line.rstrip(" *_")[-1:] == ":" else 2
    if len(words) > most or (words and words[-1] not in _INTRODUCE):
        return NOWHERE
    after = _COUNTED.sub("", _OF_THREAD.sub("", after))
    if after.strip("()0123456789 :#L-–`*_]\"'."):
        return NOWHERE
    return Place(match[1].removeprefix("./"), int(line_of[1]) if line_of else 0)
