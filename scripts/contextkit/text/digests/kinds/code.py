"""Source code: its docstring, its definitions, its to-dos."""

from __future__ import annotations

import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.text.digests import reading
from contextkit.text.digests.folding import cut
from contextkit.text.digests.reading import Unit

_DEFINES = Pattern(
    r"^(\s*)(?:@\w.*|(?:export\s+(?:default\s+)?|public\s+|private\s+|protected\s+|static\s+"
    r"|final\s+"
    r"|abstract\s+|async\s+|pub(?:\(\w+\))?\s+|unsafe\s+|inline\s+|override\s+)*"
    r"(?:(?:def|class|func|fn|function\*?|struct|interface|enum|trait|impl|type|module|namespace"
    r"|macro_rules!)\s+"
    r"[\w<(*&].*|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\(.*|function.*|\w+\s*=>.*)"
    r"|(?i:CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|INDEX|FUNCTION)\s+.*)))$"
)
_IMPORT = Pattern(
    r"^\s*(?:import(?! time:)|from\s+\S+\s+import|#include|use\s+\w|require|using|package)\b"
)
_DEFINED = Pattern(r"^(?:def|class|import|from \S+ import|function|#include)\b", re.M)
_STRINGS = Pattern(r"(?s)\"\"\"(?:(?!\"\"\").)*\"\"\"|'''(?:(?!''').)*'''")
_COMMENT = Pattern(r"\s*(?:#(?!include)|//|/?\*)")
_ROW = Pattern(r"^INSERT INTO (\S+) ", re.I | re.M)  # of a dump
_MARKS = ("TODO", "FIXME", "XXX", "HACK", "BUG")
_TODO = Pattern(r"\b(?:TODO|FIXME|XXX|HACK|BUG)\b[:( ].*")
_SYNTAX = Pattern(
    r"[{};]\s*$|^\s*(?:return|if|for|while|else|elif|try|except|case)\b.*[:{;]?$|^\s*[)}\]]"
)
_LONGEST = 140
_TABLES = 8  # tables whose rows are counted


def confidence(text: str) -> int:
    """The confidence by the share of definitions, imports, and statements, not comments."""
    sample = text[:20_000]
    lines = [line for line in sample.split("\n") if line.strip()]
    if _DEFINED.search(sample):
        bare = _STRINGS.sub("", sample).split("\n")
        lines = [line for line in bare if line.strip() and not _COMMENT.match(line)]
    if text.startswith("#!"):
        return 88 if len(lines) > 1 else 0
    prose = reading.formed(lines)
    if len(lines) < 3 or text.lstrip()[:1] in "{[|" or prose * 6 >= len(lines):
        return 0
    marks = sum(bool(_DEFINES.match(line)) or bool(_IMPORT.match(line)) for line in lines)
    syntax = sum(bool(_SYNTAX.search(line)) for line in lines) if marks else 0
    return 65 if marks + syntax > 1 and (marks + syntax) * 4 > len(lines) else 0


def units(text: str) -> list[Unit]:
    """Its size and docstring, then each definition and its to-dos."""
    if not text.strip():
        return []
    lines = text.split("\n")
    defined: list[Unit] = []
    for number, line in enumerate(lines, start=1):
        if _DEFINES.match(line) and not line.lstrip().startswith("@"):
            statement = " ".join(line.split()).rstrip("{: =>")
            inner = len(line) - len(line.lstrip())
            hidden = re.search(r"\b_\w+", statement) is not None
            weight = (0.9 if inner else 1.6) * (0.6 if hidden else 1.0)
            rank = 0 if inner or hidden else 3
            statement = cut(statement, _LONGEST)
            defined.append(Unit(number, "defines", statement, weight, rank, "definitions"))
        elif todo := _TODO.search(line) if any(map(line.__contains__, _MARKS)) else None:
            defined.append(Unit(number, "to do", cut(todo[0], _LONGEST), 1.6))
    count = sum(unit.aspect == "defines" for unit in defined)
    about = _doc(text)
    if not (defined or about):
        return []
    size = f"{len(lines) - (not lines[-1])} lines, {count} definitions"
    head = [Unit(1, "code", size, 1.5, 1, "code", derived=True)]
    if about:
        head.append(Unit(1, "about", about, 2.0, 2, "about", key=True))
    rows = Counter(_ROW.findall(text))
    told = (f"{count} rows in {table}" for table, count in rows.most_common(_TABLES))
    head += [Unit(1, "data", table, 1.5, 3, "tables", derived=True) for table in told]
    return head + defined


def _doc(text: str) -> str:
    """The first sentence of the docstring or comment at the top of the file."""
    match = re.match(
        r'(?:#!.*\n)?\s*(?:"""(.+?)(?:\n\s*\n|""")|/\*+\s*(.+?)(?:\n\s*\*?\s*\n|\*/)|((?:(?://|#|--)[^\n]*\n)+))',
        text[:4000],
        re.S,
    )
    if not match:
        return ""
    comment = next(group for group in match.groups() if group)
    return cut(" ".join(re.sub(r"(?m)^\s*(?://+|#+|\*|--)\s?", "", comment).split()), _LONGEST)
