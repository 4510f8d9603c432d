"""What compilers and linters say: a place, a severity, a code, a message; told by code if many.

diagnostics.find(text)      list[Diagnostic] of the lines, of whatever tool
diagnostics.units(found)    each one, or each code with how often and where first
"""

from __future__ import annotations

import bisect
import functools
import itertools
import os
import re
from collections import Counter

from contextkit.base.names import counted
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import folding, pieces, reading
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.pieces import Piece
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

_PLACE = r"(?:[A-Za-z]:)?[^\s:()'\"`]+\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?(?:-\d+)?|\(\d+(?:,\d+)?\))"
_SEVERITY = (
    r"(?i:fatal error|error|warning|note|info(?:rmation)?|hint|suggestion|style|convention"
    r"|refactor)"
)
_CODE = r"[A-Z]{1,6}\d{2,5}"
_SLUG = r"[a-z]+(?:-[a-z\d]+)+(?=: | [A-Z`'])"  # such a name of a rule, before a sentence
_RULE = r"\s\[[-\w/=+]*[A-Za-z][-\w/=+]*\](?: \[\d\])?"  # at the end of a line
_PLACED = Pattern(
    rf"\s*(?P<place>{_PLACE})(?:(?::| -)\s+| (?=(?:error|warning) \S+/\S+ ))(?:"
    rf"(?P<level>{_SEVERITY}|schwerwiegender Fehler|Fehler|Warnung|erreur|errore|ошибка"
    rf"|предупреждение)(?: (?=TS\d|\S+/)|(?= ?\[)|:)"
    rf"|(?P<letter>[CEFWR]): (?=\S+/\S+: |[A-Z])|(?=\[(?P<kind>[CEFWR])\d{{4}}\()"
    rf"|(?={_CODE}\b)|(?={_SLUG})|(?=.*{_RULE}$))\s*(?P<said>\S.*)$"
)
_UNSAID = Pattern(rf"{_PLACE}: {_SEVERITY}:")
_MARKED = Pattern(  # the level first, as Maven has it
    r"(?:\[\w+\] )?\[(?P<level>ERROR|WARN(?:ING)?)\]\s+"
    r"(?P<place>(?:[A-Za-z]:)?[^\s:]+\.[A-Za-z]\w{0,7}"
    r":(?:\[\d+(?:,\d+)?\]| \(\d+, \d+\)|\d+(?::\d+)?:?))\s+(?P<said>\S.*)$"
)
_LISTED = Pattern(  # below the name of the file
    rf"\s*(?P<at>\d+:\d+)\s+(?:(?P<level>error|warning|[✖✘×⚠])\s+|(?={_CODE} )"
    rf"|(?={_SLUG}))"
    r"(?P<said>\S.*)$"
)
_FILE = Pattern(r"\s*(\S+\.\w{1,8}):?$")
_ARROW = Pattern(  # below the message
    rf"^[ \t]*(?:-->|╭─\[|,-\[|Location:) ?(?P<place>{_PLACE})", re.M
)
_ALONE = Pattern(  # a place that stands alone, above what is quoted there and said of it
    rf"(?P<place>{_PLACE}):$|In (?P<script>\S+) line (?P<at>\d+):$"
    r"|File \"(?P<file>[^\"]+)\", lines? (?P<line>\d+)(?:-\d+)?, characters? \d[\d-]*:$"
)
_SAID_OF_IT = Pattern(  # what is said below such a place, perhaps behind an arrow
    rf"\s*\^[-^]* (?P<code>{_CODE}) \((?P<grade>\w+)\): (?P<words>\S.*)$"
    r"|(?P<level>(?:Fatal )?Error|Warning)(?: (?P<number>\d+))?(?: \[(?P<rule>[\w-]+)\]| \(.*?\))?:"
    r" (?P<said>\S.*)$"
)
_RATED = Pattern(r"\s*Severity: (\w+)")
_BEGINS = Pattern(  # a line with a message of its own
    r"\n(?:\[|[ \t]*+(?:(?P<listed>\d+:\d+[ \t])"  # or one below the name of its file
    r"|(?:[A-Za-z]:)?[^\s:()'\"`]+\.[A-Za-z]\w{0,7}[:(]\d))"
)
_GUTTER = Pattern(r"[ \t]*(?:\d+[ \t]*)?[-+|│](?:[ \t]|$)|[ \t]+\d+ [-+|│]")  # beside source
_ORIGIN = Pattern(rf"\s*(?P<place>{_PLACE}):\s+(?:required|instantiated|included) from here$")
_CARETS = Pattern(r"\^+ (\w.*)$")  # what is said of the place itself
_ARROWS = ("-->", "╭─[", ",-[", "Location:")
_HEADED = Pattern(
    rf"(?:>> Issue: )?(?P<level>error|warning)?(?:\[?(?P<code>{_CODE})(?::\w+)?\]?)?:? *"
    r"(?P<said>\S.*)$"
)
_FIRST_CODE = Pattern(rf"\[?({_CODE}|{_SLUG})\b(?:\([\w-]+\),[^\]]*\])?:? *(?:\[\*\] )?")
_LAST_CODE = Pattern(
    r"(?:\s\[(?=[-\d_/=+]*[A-Za-z])([-\w/=+.]+)\](?: \[\d\])?"
    r"|\s\((report\w+|[a-z]+(?:-[a-z]+)*)\)|(?<!\s)\s{2,}([\w@/-]+))$"
)
_CODE_ALONE, _MORE = Pattern(r"\[[\w-]+\]$"), 3  # below a message of so many more lines
_OPENS, _NUMBERED = {"]": " [", ")": " ("}, 4  # a code at the end, and a number behind it
_NAMES = Pattern(  # and numbers; what looks back stands behind the first character, as `re` is fast
    r"['‘`\"0-9](?:(?<=')[^'\n]*'|(?<=‘)[^’\n]*’|(?<=`)[^`\n]*`|(?<=\")[^\"\n]*\"|(?<=[0-9])[0-9]*)"
)
_GRADED = {"E": "error", "F": "error", "W": "warning"}  # by the first letter of pylint's codes
_AS_ERRORS = ("fatal error", "error", "fehler", "schwerwiegender fehler", "erreur", "errore",
              "ошибка")  # fmt: skip
_NOTE, _WORSE = "note", ("error", "warning", "")
_GRADES = ("blocker", "fatal", "critical", "high", "medium", "moderate")
_GRAVE = Pattern(  # what the program will do wrong
    r"use.after|after (?:it|being|move)|double.free|dangling|leak|deref|overflow|underflow"
    r"|out.of.(?:bounds|range)|uninitiali[sz]ed|divi(?:sion|de)|released|address of|stack memory"
    r"|undefined|undeclared|unbounded|insecure|injection|secur|unsafe|cwe-\d|taint|secret|password"
    r"|race|deadlock|infinite|awaited|did you mean|maybe|unexpected keyword|no (?:such|member)"
    r"|not (?:a function|defined|exported|callable|handled|covered)|always (?:true|false)|null\b",
    re.I,
)
_PROVED = Pattern(r"cwe-\d|analyzer", re.I)  # by running the program in mind
_MILD = Pattern(  # how it is written
    r"style|readab|modern|conven|format|indent|whitespace|naming|magic|docstring|comment|unused"
    r"|never used|too (?:long|many)|annotat|prefer|consider|suggest|redundant|simplif|could be"
    r"|should (?:be|have)|empty|parenthes|deprecat|stub|import.(?:not.found|order)|untyped|generic",
    re.I,
)
_BLANK = (" ", "\t")
_IS_FILE = Pattern(r"[/\\]|\.\w+$")
_AT = Pattern(r"[:(]\d")  # the line, behind the name of a file
_READ = 500
_PYLINT = 5  # characters of a code of pylint
_BELOW = 8  # lines below a place that quote it
_SEVERAL = 3  # messages with lines below that add little
_SHARED = 6  # messages for which the folder of their files is said once
_EACH = 12  # so many are told one by one
_FILES = 2  # files that are listed with their counts
_CODES = 4  # codes that are listed with their counts
_FORMS = 3  # what a code may say that is told one by one
_LONGEST = 220  # characters of a message
_LENGTHS = ((4, _LONGEST), (_EACH, 140), (1 << 30, 90))  # of one of up to so many


class Diagnostic(NamedTuple):
    """A message; `line` is its position in the text, from 1, `level` error, warning or ''.

    severity: what the tool calls the level, where that says more
    """

    line: int
    place: str
    level: str
    code: str
    said: str
    quoted: str = ""  # as the tool says it, with its place
    severity: str = ""

    def relative(self, folder: str) -> Diagnostic:
        """The same with its place as it is below a folder."""
        place = self.place[len(folder) + 1 :]
        return self._replace(place=place, quoted=self.quoted.replace(self.place, place))


def find(text: Lines) -> tuple[list[Diagnostic], set[int]]:
    """The messages of compilers and linters, and the lines (from 0) that they are in."""
    found, others = [*_in_lines(text)], [*_above_arrows(text)]
    covered = {message.line - 1 for message in found}
    others = [message for message in others if message.line - 1 not in covered]
    for number in pieces.numbers_in(text.whole, _alone):
        messages, block = _opened(text, number)
        others += messages
        covered |= block
    if others:  # of two in a line, the later one is told
        by_line = {message.line: message for message in [*found, *others]}
        found = [by_line[line] for line in sorted(by_line)]
    covered.update(message.line - 1 for message in others)
    covered.update(_drawn(text))
    found = [_with_origin(text, one) for one in found]
    return _unwrapped(text, found, covered), covered


def _with_origin(text: Lines, one: Diagnostic) -> Diagnostic:
    """A message with the place in the user's own source that led to it, which is told above it."""
    above = text.all[one.line - 2].rstrip() if one.line > 1 else ""
    origin = _ORIGIN.match(above) if above.endswith(" here") else None
    if not origin or origin["place"] == one.place:
        return one
    return one._replace(quoted=f"{origin['place']}: {one.quoted}")


def _unwrapped(text: Lines, found: list[Diagnostic], covered: set[int]) -> list[Diagnostic]:
    """The messages; one without a code that a tool wraps has its end, and the code, below."""
    codes = {message.code for message in found}
    if len(codes) < 2 or "" not in codes:
        return found
    return [one if one.code else _with_end(text, one, covered, codes) for one in found]


def _with_end(text: Lines, one: Diagnostic, covered: set[int], codes: set[str]) -> Diagnostic:
    """A message with its end and its code from the next lines, if they are there."""
    end = ""
    for number in text.below(one.line - 1, _MORE):
        line = text.all[number].strip()
        if number in covered or not line:
            break
        end = f"{end} {line}"
        whole = _made(0, "", "", f"{one.said}{end}", f"{one.quoted}{end}")
        is_code = "  [" in line or _CODE_ALONE.match(line)
        if whole.code and (whole.code in codes or is_code):
            covered.update(range(one.line, number + 1))
            return whole._replace(line=one.line, place=one.place, level=one.level)
    return one


def _in_lines(text: Lines) -> Iterator[Diagnostic]:
    """The messages that a line tells, perhaps of a file that is named above."""
    begun = [(first, *begin) for first, piece in pieces.pieces(text.whole)
             for begin in _begun(piece)]  # fmt: skip
    has_lists = any(listed for _, _, listed, _ in begun)
    names = [number for number, line in enumerate(text.all if has_lists else ())
             if " " not in line and line[:1] not in ("", "\t") and _FILE.match(line)]  # fmt: skip
    for first, below, listed, placed in begun:
        number = first + below
        if placed:
            place, level, code, said = placed
            quoted = _with_next(text.all, number)
            yield Diagnostic(number + 1, place, level, code, said, quoted)
        elif above := bisect.bisect(names, number):
            at, level, words = listed
            place = f"{text.all[names[above - 1]].strip().removesuffix(':')}:{at}"
            yield _made(number, place, _level(level), words, f"{place} {words}")


_Begun = tuple[int, tuple[str, ...], tuple[str, ...]]


@pieces.of_piece
def _begun(piece: Piece) -> list[_Begun]:
    """The lines of a piece that begin with a message, by number; in a list, or with its place."""
    begun = list[_Begun]()
    for number in (number - 1 for number, _ in reading.places(_BEGINS, f"\n{piece.text}")):
        if len(piece.all[number]) > 4 * _READ:
            continue
        read = _with_next(piece.all, number)
        if placed := _PLACED.match(read) or _MARKED.match(read):
            said = _placed(placed)
            begun += [(number, (), said)] if said[1] != _NOTE else []
        elif listed := _LISTED.match(read):
            begun.append((number, listed.groups(""), ()))
    return begun


def _with_next(rows: list[str], number: int) -> str:
    """The beginning of a line, with the next one if it says nothing but a place and a level."""
    read = rows[number][:_READ]
    is_unsaid = read.endswith(":") and _UNSAID.fullmatch(read)
    return " ".join([read, *rows[number + 1 : number + 2]]) if is_unsaid else read


@pieces.of_piece
def _alone(piece: Piece) -> list[int]:
    """The lines of a piece that are nothing but a place, by number."""
    return [number for number, line in enumerate(piece.all)
            if line[-1:] == ":" and len(line) < _READ and _ALONE.match(line)]  # fmt: skip


def _placed(placed: re.Match[str]) -> tuple[str, ...]:
    """The message in a line that begins with its place: that, its level, code and words."""
    place, level, said = placed.group("place", "level", "said")
    named = {} if level else placed.groupdict()
    level = _level(level or named.get("letter") or named.get("kind") or "")
    return place, *_parsed(level, said)


def _above_arrows(text: Lines) -> Iterator[Diagnostic]:
    """The messages above arrows that point at their places."""
    for number, place in pieces.in_pieces(text.whole, _arrows):
        above = range(number - 1, max(-1, number - _BELOW), -1)
        at = next((n for n in above if text.indent(n) < text.indent(number)), max(0, number - 1))
        rated = next(filter(None, map(_RATED.match, text.all[at:number])), None)
        head = text.all[at].strip()[:_READ] * (number > 0)
        if not head or _PLACED.match(head) or head.startswith(("note:", "help:")):
            continue
        if said := _HEADED.match(head):
            level = _level(said["level"] or "")
            below = itertools.takewhile(str.strip, text.all[number + 1 : number + _BELOW])
            label = next((f": {match[1]}" for match in map(_CARETS.search, below) if match), "")
            one = _made(at, place, level, said["said"], f"{head}{label} ({place})")
            severity = rated[1] if rated else ""
            yield one._replace(code=said["code"] or one.code, severity=severity)


@pieces.of_piece
def _arrows(piece: Piece) -> list[tuple[int, str]]:
    """The lines of a piece with an arrow, by number, each with the place it points at."""
    has_some = any(map(piece.text.__contains__, _ARROWS))
    matches = reading.places(_ARROW, piece.text) if has_some else ()
    return [(number, arrow["place"]) for number, arrow in matches]


def _drawn(text: Lines) -> Iterator[int]:
    """The lines that draw the source below an arrow, up to an empty one."""
    for number, _ in pieces.in_pieces(text.whole, _arrows):
        for below in itertools.takewhile(text.all.__getitem__, text.below(number)):
            if _GUTTER.match(text.all[below]):
                yield below


def _opened(text: Lines, number: int) -> tuple[list[Diagnostic], set[int]]:
    """The messages below a place that stands alone, and the lines of all that is said of it."""
    head = _ALONE.match(text.all[number])
    place = head["place"] or f"{head['script'] or head['file']}:{head['at'] or head['line']}"
    messages: list[Diagnostic] = []
    covered = {number}
    for at in text.below(number):
        line = text.all[at][:_READ]
        if _ALONE.match(line) or not any(text.all[at : at + 2]):
            break
        if said := _SAID_OF_IT.match(line):
            words = (said["words"] or said["said"]).strip()
            code, level = said["code"] or said["rule"] or "", said["grade"] or said["level"]
            quoted = f"{place} {line.strip(' ^-')}"
            messages.append(Diagnostic(at + 1, place, _level(level), code, words, quoted))
        elif messages and line[:1] in _BLANK and at == messages[-1].line:
            last, more = messages.pop(), line.strip()
            messages.append(last._replace(quoted=f"{last.quoted} {more}"))
        covered.add(at)
    return messages, covered if messages else set()


def _made(number: int, place: str, level: str, said: str, quoted: str) -> Diagnostic:
    """A diagnostic of what is said behind its place."""
    return Diagnostic(number + 1, place, *_parsed(level, said), quoted)


def _parsed(level: str, said: str) -> tuple[str, str, str]:
    """The level, the code and the rest of what is said."""
    said = said.strip()
    first = _FIRST_CODE.match(said)
    is_apart = "  " in said or "\t" in said
    ends = not first and (said[-1:] in ("]", ")") or is_apart)
    begins = said.rfind(_OPENS.get(said[-1:], "\n"), 0, -_NUMBERED) if ends else -1
    last = _LAST_CODE.match(said, begins) if begins >= 0 else None
    last = _LAST_CODE.search(said) if ends and begins < 0 else last
    code = first[1] if first else next(filter(None, last.groups()), "") if last else ""
    said = said[first.end() :] if first else said[: last.start()] if last else said
    if not level and len(code) == _PYLINT and code[1:].isdigit():
        level = _GRADED.get(code[0], "")
    said = " ".join(said.split()) if "  " in said or "\t" in said else said.strip()
    return level, code, said


@functools.cache
def _level(word: str) -> str:
    """`error`, `warning`, `note`, or '' for what is neither."""
    if word in ("E", "F", "✖", "✘", "×") or word.lower() in _AS_ERRORS:
        return "error"
    if word in ("W", "⚠") or word.lower() in ("warning", "warn", "warnung", "предупреждение"):
        return "warning"
    return _NOTE if word.lower() in ("note", "hint") else ""


def context(text: Lines, placed: set[int]) -> set[int]:
    """The lines that follow several messages up to an empty one: source, and what a tool adds."""
    inside = set[int]()
    for number in sorted(placed) if len(placed) >= _SEVERAL else ():
        below = itertools.takewhile(
            lambda n: text.all[n] and n not in placed, text.below(number, _BELOW)
        )
        inside.update(below)
    return inside


def units(found: list[Diagnostic]) -> list[Unit]:
    """How many of what, then each of them, or each code if they are many."""
    below = _below_which(found)
    found = [one.relative(below) for one in found] if below else found
    graded = any(one.level for one in found)
    most = next(most for count, most in _LENGTHS if len(found) <= count)
    if len(found) <= _EACH:
        each = [_unit(one, _quoted(one, most) or f"{one.place} {_coded(one)}", [one], graded)
                for one in _ordered(found)]  # fmt: skip
        return [_counts(found, below), *each] if below or _severities(found) else each
    kinds: dict[tuple[str, str], dict[str, list[Diagnostic]]] = {}
    forms = _NAMES.sub("0", "\n".join(one.said for one in found)).split("\n")
    for one, form in zip(found, forms, strict=True):
        kinds.setdefault((one.level, one.code or form), {}).setdefault(form, []).append(one)
    groups: list[list[Diagnostic]] = []
    for of_code in kinds.values():
        few = len(of_code) <= _FORMS
        groups += of_code.values() if few else [[*itertools.chain(*of_code.values())]]
    made = [_counts(found, below)]
    for same in sorted(groups, key=_order_of_many):
        first, said = same[0], folding.alike((one.said for one in same), _LONGEST)
        times = f" x{len(same)}, first at {first.place}" if len(same) > 1 else f" ({first.place})"
        said = reading.cut(f"{first.code} {said}".strip(), most) + times
        made.append(_unit(first, said, same, graded))
    return made


def _quoted(one: Diagnostic, most: int) -> str:
    return reading.cut(" ".join(one.quoted.split()), most)


def _ordered(found: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda one: (*_badness(one), one.line))


def _badness(one: Diagnostic) -> tuple[int, int, int]:
    """The worse, the less; of one level, what the program does wrong before how it is written."""
    said, grade = f"{one.code} {one.said}", one.severity.lower()
    gravity = 2 if _MILD.search(said) else 1
    gravity = 0 if one.level != "error" and _GRAVE.search(said) else gravity
    gravity = -1 if _PROVED.search(said) else gravity
    by_grade = _GRADES.index(grade) if grade in _GRADES else len(_GRADES)
    return _WORSE.index(one.level), by_grade, gravity


def _order_of_many(same: list[Diagnostic]) -> tuple[int, int, int, int]:
    """The worst first, then what is rare."""
    level, grade, gravity = _badness(same[0])
    is_grave = same[0].code and _GRAVE.search(f"{same[0].code} {same[0].said}")
    return level, grade, min(0, gravity) if is_grave else gravity, len(same)


def _severities(found: list[Diagnostic]) -> Counter[str]:
    """How many of each grade, the worst first, in the words of the tool; numbers are no words."""
    graded = _ordered([message for message in found if message.severity.isalpha()])
    return Counter(message.severity for message in graded)


def _unit(one: Diagnostic, said: str, same: list[Diagnostic], graded: bool) -> Unit:
    aspect = (one.severity if one.severity.isalpha() else one.level) or "messages"
    rank = 3 + 2 * _WORSE.index(one.level) * graded + one.place.startswith("/usr/")
    return Unit(one.line, aspect, said, 2.0, rank, aspect, one.code, times=len(same))


def _coded(one: Diagnostic) -> str:
    return reading.cut(f"{one.code} {one.said}".strip(), _LONGEST)


def _below_which(found: list[Diagnostic]) -> str:
    """The folder below which all the files lie, if it is worth saying once; or ''."""
    if len(found) < _SHARED or not found[0].place.startswith("/"):
        return ""
    folders = {message.place.rpartition("/")[0] for message in found}
    if not all(folder.startswith("/") for folder in folders):
        return ""
    shared = os.path.commonpath(folders)
    return shared if shared.count("/") > 1 else ""


def _counts(found: list[Diagnostic], below: str) -> Unit:
    files = Counter[str]()
    for place, times in Counter(one.place for one in found).items():
        is_plain = "\\" not in place and "(" not in place
        files[place.partition(":")[0] if is_plain else _AT.split(place, 1)[0]] += times
    codes = Counter(one.code for one in found if one.code)
    graded = ", ".join(f"{count} {grade}" for grade, count in _severities(found).items())
    by_level = Counter(one.level for one in found)
    levels = {level: by_level[level] for level in _WORSE if level and by_level[level]}
    if not graded and len(levels) > 1:
        graded = ", ".join(counted(count, level) for level, count in levels.items())
    where = "file" if all(map(_IS_FILE.search, files)) else "place"
    summary = f"{counted(len(found), 'message')} in {counted(len(files), where)}"
    summary += f" below {below}" * bool(below)
    if 1 < len(files) <= _FILES:
        summary += f" ({reading.listed(files, _FILES)})"
    summary = "; ".join(filter(None, (summary, graded)))
    summary += f": {reading.listed(codes, _CODES)}" if codes and len(found) > _EACH else ""
    return Unit(1, "messages", summary, 2.5, 2, "counts", derived=True)
