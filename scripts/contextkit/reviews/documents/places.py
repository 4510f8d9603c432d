"""Places in code that a review names: `src/app.py:42`, in all the ways that tools write them.

src/app.py:42   src/app.py#L42-L50   src/app.py, line 42   src/app.py (lines 42-50)
line 42 of src/app.py   `Line 42` below `File: src/app.py`
"""

from __future__ import annotations

import re

from contextkit.base.records import NamedTuple
from contextkit.text.patterns import Pattern

_NAME = r"[\w@+\-./\\\[\]~]"
_ENDS = (
    r"(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|cs"
    r"|rb|php"
    r"|swift|m|mm|sh|bash|zsh|ps1|sql|sol|yaml|yml|toml|json|xml|html|css|scss|md|rst|txt|tf|proto"
    r"|gradle|lua|pl|ex|exs|erl|clj|dart|r|jl|zig|nim|cfg|ini|conf|env|lock|mk|mdc|ipynb|graphql)"
)
_BARE = r"(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|Procfile|go\.mod)"
_PATH = Pattern(
    rf"(?<![\w/])({_NAME}{{0,200}}\.{_ENDS}|(?:[\w.\-]{{1,80}}/){{0,9}}{_BARE})(?![\w/])"
)
_AFTER = Pattern(
    r"[`\"'*_)\]>]{0,4}(?:\s?[:@#]\s?L?|#L|(?=\(\d+[,)])|\s?[,(\[|—–-]?\s?(?:(?:at|on|around|near|in|zeile"
    r"|ligne|línea|linea|linha"
    r"|строка|行)\s)?(?:at\s|around\s)?(?:the\s)?(?:lines?|zeilen?|lignes?|l[ií]neas?|linhas?"
    r"|righe|riga|строк\w{1,3}|ln|L)"
    r"\.?\s{0,2}:?\s?(?:numbers?\s)?L?)\(?`?(\d{1,7})(?:\s?(?:-|–|to|bis|à)\s?L?(\d{1,7}))?",
    re.IGNORECASE,
)
_CJK = Pattern(r"[`\"' 　（(第の]{0,4}(?:第\s?)?(\d{1,7})\s?(?:-\d+\s?)?行")
_BEFORE = Pattern(
    r"(?:lines?|zeilen?|lignes?|l[ií]neas?|linhas?|rig[ah]e?"
    r"|строк\w{1,3})\s(\d{1,7})(?:\s?[-–]\s?\d{1,7})?"
    r"(?:\s(?:of|in|von|de|dans|en|di|в))\s[`\"'(]{0,2}$",
    re.IGNORECASE,
)
_LINE = Pattern(
    r"(?:^|[\s(|*_`])(?:(?:lines?|zeilen?|lignes?|l[ií]neas?|linhas?|rig[ah]e?|строк\w{1,3}|ln)"
    r"(?:\s?\(s\))?[*_`]{0,3}(?:\s{0,12}:)?[*_`]{0,3}\s{0,3}|L)`?(\d{1,7})\b|(\d{1,7})\s?行目?",
    re.IGNORECASE,
)
_RANGE = Pattern(r"^\s{0,20}[-*]?\s?`?(\d{1,7})(?:\s?[-–]\s?\d{1,7})?`?\s?(?::|┆|\|(?=\s)|$)")
_LONGEST = 4_000  # characters looked at


class Place(NamedTuple):
    """A file, a line in it or 0, and the last line of a range or 0."""

    file: str
    line: int
    last: int = 0


NONE = Place("", 0)


def find(text: str) -> Place:
    """Return the first place of a text that has a line, or else its first file; or NONE."""
    text = text[:_LONGEST]
    first = NONE
    if "." not in text and "file" not in text:
        return NONE
    for match in _PATH.finditer(text):
        path = match[1].removeprefix("./").strip("[]")
        if "://" in text[max(0, match.start() - 12) : match.start() + 8] and "/blob/" not in path:
            continue
        if "/blob/" in path:
            path = path.partition("/blob/")[2].partition("/")[2] or path
        rest = text[match.end() : match.end() + 60]
        if after := _AFTER.match(rest):
            return Place(path, int(after[1]), int(after[2] or 0))
        before = text[max(0, match.start() - 40) : match.start()]
        if line := _CJK.match(rest) or _BEFORE.search(before):
            return Place(path, int(line[1]))
        first = first if first.file else Place(path, 0)
    return first


def line_in(text: str) -> int:
    """Return the line that a text names without a file: `Line 42`, `88-97`: …; or 0."""
    text = text[:_LONGEST]
    for row in text.split("\n")[:40]:
        if match := _RANGE.match(row):
            return int(match[1])
    match = _LINE.search(text)
    return int(match[1] or match[2]) if match else 0


def shown(file: str, line: int, last: int = 0) -> str:
    """Return `src/app.py:42`, `src/app.py:42-50`, or the file alone if no line is known."""
    lines = f"{line}-{last}" if last > line else f"{line}"
    return f"{file}:{lines}" if line else file


def heads(line: str) -> Place:
    """Return the place that a line is about as a whole, so that it holds for what follows.

    `In \\`src/a.ts\\`:`, `### src/a.ts`, `src/a.ts (2)`, `File: src/a.ts`.
    """
    bare = line.strip(" \t#*`>-•_:│").strip()
    if len(bare) > 240 or not bare:
        return NONE
    match = _PATH.search(bare)
    if match is None:
        return NONE
    before = bare[: match.start()].strip(" `*_:[(\"'📄📁0123456789.").lower()
    rest = bare[match.end() :]
    line_of = _AFTER.match(rest)
    after = rest[line_of.end() if line_of else 0 :]
    words = before.rstrip(":").split()
    if len(words) > 2 or (words and words[-1] not in _INTRODUCE):
        return NONE
    if after.strip("()0123456789 :#L-–`*_]\"'"):
        return NONE
    return Place(match[1].removeprefix("./"), int(line_of[1]) if line_of else 0)


_INTRODUCE = frozenset(
    "in file files path datei fichier archivo fitxer arquivo файл ファイル 文件 component module"
    " location".split()
)
