"""The help or manual page of a command or module: its usage, its purpose, the names it lists."""

from __future__ import annotations

import itertools
import operator

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterator
from contextkit.text.digests import reading
from contextkit.text.digests.folding import cut
from contextkit.text.digests.reading import Unit
from contextkit.text.words import TEXTS

_USAGE = TEXTS.any_of("usage")
_PAGE = Pattern(r"\s*([\w.-]+\(\d\w*\))\s.*\s\1$|Help on (?:module|class|package)\s")
_OPTION = Pattern(r"(?<![^\s,/|\[(])-{1,2}\w[\w-]*")
_TERM = Pattern(  # an option, or a name in a column of its own
    r"\s{1,16}(?P<name>-{1,2}\w.{0,70}?|[A-Za-z][\w:.@+-]{0,30}(?:, ?[\w-]{1,20})*)"
    r"(?:\s{2,}(?P<said>\S.*))?$"
)
_NAME = Pattern(r"[\w.:-]+(?:=\S*)?")  # begins a line whose description is below
_TITLE = Pattern(r"\s{0,3}\S.{0,60}:$|[^\W\d_a-z][^a-z\d]{2,40}$")
_SAMPLE = 20_000  # characters by which a help page is known
_FEW = 6  # least names of a help page
_NAMES = 10  # names in a statement
_LONGEST, _TERM_LONGEST = 200, 60  # characters of a statement; of a line whose description is below
_CELLS = "   "  # between the cells of a row, which is no heading
_INDENT = 4  # least indent of that description
_Name = tuple[int, str, str]  # line of a command, option or function, its name, the heading above


def confidence(text: str) -> int:
    """The confidence by its usage or its first line, and the names in it."""
    sample = text[:_SAMPLE]
    if (sample.count("\n ") + sample.count("\n\t")) * 4 < sample.count("\n"):
        return 0  # a help page indents its names
    lines = sample.expandtabs().split("\n")
    least = _FEW // 2 if is_page(text) else _FEW
    size, dashed = sum(map(bool, lines)), sum(line.lstrip()[:1] == "-" for line in lines)
    used = least < _FEW or any(map(_USAGE.match, lines)) or _described(lines) * 2 > size
    if not used and dashed * 4 <= size:
        return 0
    names = _names(lines)
    options = sum(name[:1] == "-" for _, name, _ in names)
    return 70 * (len(names) >= least and (used or options * 4 > size))


def is_page(text: str) -> bool:
    """Whether a text is a page of a manual, of which nothing is a failure."""
    return any(_PAGE.match(line.expandtabs()) for line in text.split("\n", 3)[:3])


def units(text: str) -> list[Unit]:
    """Its usage and the names by heading; everything else line by line."""
    lines = text.expandtabs().split("\n")
    names = _names(lines)
    usage = [_usage(lines, at) for at, line in enumerate(lines) if _USAGE.match(line)][:1]
    heads = {section for _, _, section in names}
    others = [n for n in _others(lines, {line for line, _, _ in names})
              if lines[n - 1].strip().rstrip(":") not in heads]  # fmt: skip
    about = [n for n in others if lines[n - 1].count(" ", _depth(lines[n - 1])) > 2
             or lines[n - 1][-1:] == "."][:1]  # fmt: skip
    told = list[Unit]()
    for first in about:
        rows = [*itertools.takewhile(str.strip, lines[first - 1 :])]
        sentence = " ".join(" ".join(rows).split())
        told.append(Unit(first, "", cut(sentence, _LONGEST), 3.0, 1, key=True))
        others = [n for n in others if n not in range(first, first + len(rows))]
    rest = [Unit(n, reading.REST, lines[n - 1]) for n in others]
    return [*told, *usage, *_listed(names), *rest]


def _usage(lines: list[str], at: int) -> Unit:
    """The line with the usage, or the lines below its heading."""
    text = " ".join(lines[at].split())
    text = text if " " in text else " ".join(" ".join(lines[at : at + 3]).split())
    return Unit(at + 1, "", cut(text, _LONGEST), 3.0, 1)


def _described(lines: list[str]) -> int:
    """The number of lines with a name and, in one more column, some words about it."""
    matches = map(_TERM.match, (line for line in lines if line[:1] in (" ", "\t")))
    columns = (match["said"] for match in matches if match and match["said"])
    return sum(words.count(" ") > 1 and _CELLS not in words for words in columns)


def _names(lines: list[str]) -> list[_Name]:
    section, names = "", []
    columns = [_column(line) for line in lines]
    for at, line in enumerate(lines):
        below = columns[at + 1] if at + 1 < len(lines) else (0, 0)
        at_margin = line.strip() and not _depth(line) and _CELLS not in line.strip()
        if _TITLE.match(line) or (at_margin and below != (0, 0)):
            section = line.strip().rstrip(":")
        elif name := _name(lines, columns, at):
            names.append((at + 1, name, section))
    return names


def _column(line: str) -> tuple[int, int]:
    """The columns where a name and its description begin; zeros if either is missing."""
    match = _TERM.match(line) if line[:1] in (" ", "\t") else None
    return (match.start("name"), match.start("said")) if match and match["said"] else (0, 0)


def _name(lines: list[str], columns: list[tuple[int, int]], at: int) -> str:
    """The name that a line defines: an option, a name in a column, or one above deeper lines."""
    line, depth = lines[at], _depth(lines[at])
    if not depth:
        return ""
    if line[depth] == "-":
        return "/".join(_OPTION.findall(line[depth:].partition("  ")[0])[:2])
    if (
        columns[at] != (0, 0)
        and columns[at] in columns[max(0, at - 1) : at] + columns[at + 1 : at + 2]
    ):
        return line.split()[0].rstrip(",")
    below = lines[at + 1] if at + 1 < len(lines) else ""
    above = lines[at - 1].strip() if at else ""
    is_term = not above or bool(_TITLE.match(lines[at - 1]))
    if is_term and depth >= _INDENT and _depth(below) > depth + 1:
        match = _NAME.match(line, depth)
        is_name = match and (
            len(line) < _TERM_LONGEST or line[match.end() : match.end() + 1] == "("
        )
        return match[0] if match and is_name else ""
    return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


def _listed(names: list[_Name]) -> list[Unit]:
    """The names by heading, a few in each statement; those with a short form come first."""
    units = []
    for section, inside in itertools.groupby(names, key=operator.itemgetter(2)):
        order = sorted(inside, key=lambda entry: entry[1].startswith("--"))
        for at in range(0, len(order), _NAMES):
            few = order[at : at + _NAMES]
            shown = ", ".join(name for _, name, _ in few)
            weight, rank = 1.8 / (1 + at / _NAMES), 0 if at else 3
            line, count = few[0][0], len(few)
            units.append(Unit(line, section, shown, weight, rank, "names", times=count))
    return units


def _others(lines: list[str], defined: set[int]) -> Iterator[int]:
    """The numbers, from 1, of lines that neither define nor describe a name, and are no usage."""
    depth = -1
    for number, line in enumerate(lines, start=1):
        if number in defined or (_USAGE.match(line) and " " not in line.strip()):
            depth = _depth(line)
        elif line.strip() and _depth(line) <= depth:
            depth = -1
        is_said = line.strip() and number not in defined and depth < 0
        if is_said and not (_USAGE.match(line) or _PAGE.match(line)):
            yield number
