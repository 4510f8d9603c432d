"""What compilers and linters say: a place, a severity, a code, a message; grouped by code if many.

diagnostics.find(text)      list[Diagnostic] of the lines, of whatever tool
diagnostics.units(found)    each one, or each code with how often and where first
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.names import counted
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import folding, pieces, reading
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.pieces import Piece
from contextkit.text.digests.reading import Unit
from contextkit.text.words import TEXTS

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
    rf"|предупреждение)(?: (?={_CODE}\b|\S+/)|(?= ?\[)|:)"
    rf"|(?P<letter>[CEFWR]): (?:\[\w+\] )?(?=\S+/\S+: |[A-Z])|(?=\[(?P<kind>[CEFWR])\d{{4}}\()"
    rf"|(?={_CODE}\b)|(?={_SLUG})|(?=.*{_RULE}$))\s*(?P<said>\S.*)$"
)
_UNSAID = Pattern(rf"{_PLACE}: {_SEVERITY}:")
_MARKED = Pattern(  # the level first, as in Maven and Kotlin
    r"(?:(?:\[\w+\] )?\[(?P<level>ERROR|WARN(?:ING)?)\]\s+|(?P<letter>[ew]): (?:file://)?)"
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
_ALONE = Pattern(  # a place on a line of its own, above the quoted source and the message
    rf"(?P<place>{_PLACE}):$|In (?P<script>\S+) line (?P<at>\d+):$"
    r"|File \"(?P<file>[^\"]+)\", lines? (?P<line>\d+)(?:-\d+)?, characters? \d[\d-]*:$"
)
_SAID_OF_IT = Pattern(  # the message below such a place, perhaps behind an arrow
    rf"\s*\^[-^]* (?P<code>{_CODE}) \((?P<grade>\w+)\): (?P<words>\S.*)$"
    r"|(?P<level>(?:Fatal )?Error|Warning)(?: (?P<number>\d+))?(?: \[(?P<rule>[\w-]+)\]| \(.*?\))?:"
    r" (?P<said>\S.*)$"
)
_RATED = Pattern(r"\s*Severity: (\w+)")
_BEGINS = Pattern(  # a line with a message of its own
    r"\n(?:\[|[ew]: |[ \t]*+(?:(?P<listed>\d+:\d+[ \t])"  # or one below the name of its file
    r"|(?:[A-Za-z]:)?[^\s:()'\"`]+\.[A-Za-z]\w{0,7}[:(]\d))"
)
_GUTTER = Pattern(r"[ \t]*(?:\d+[ \t]*)?[-+|│](?:[ \t]|$)|[ \t]+\d+ [-+|│]")  # beside source
_ORIGIN = Pattern(rf"\s*(?P<place>{_PLACE}):\s+(?:required|instantiated|included) from here$")
_SYMBOL = Pattern(r"(?:\[ERROR\])? +symbol: +(\S.*)$")
_CARETS = Pattern(r"\^+ (\w.*)$")  # the message for the place itself
_ARROWS = ("-->", "╭─[", ",-[", "Location:")
_ASIDE = Pattern(r"\s*(?:= )?(?:note|help):")  # below a message
_HEADED = Pattern(
    rf"(?:>> Issue: )?(?P<level>error|warning)?(?:\[?(?P<code>{_CODE})(?::\w+)?\]?)?:? *"
    r"(?P<said>\S.*)$"
)
_FIRST_CODE = Pattern(rf"\[?({_CODE}|{_SLUG})\b(?:\([\w-]+\),[^\]]*\])?:? *(?:\[\*\] )?")
_LAST_CODE = Pattern(
    r"(?:\s\[(?=[-\d_/=+]*[A-Za-z])(?![A-Z][a-z]+\])([-\w/=+.]+)\](?: \[\d\])?"  # and no type
    r"|\s\((report\w+|[a-z]+(?:-[a-z]+)*)\)|(?<!\s)\s{2,}([\w@/-]+))$"
)
_CODE_ALONE, _MORE = Pattern(r"\[[\w-]+\]$"), 3  # a code below a message of so many lines more
_OPENS, _NUMBERED = {"]": " [", ")": " ("}, 4  # a code at the end, and a number behind it
_NAMES = Pattern(  # and numbers; a lookbehind after the first character is faster
    r"['‘`\"0-9](?:(?<=')[^'\n]*'|(?<=‘)[^’\n]*’|(?<=`)[^`\n]*`|(?<=\")[^\"\n]*\"|(?<=[0-9])[0-9]*)"
)
_GRADED = {"E": "error", "F": "error", "W": "warning"}  # by the first letter of pylint's codes
_AS_ERRORS = ("fatal error", "error", "fehler", "schwerwiegender fehler", "erreur", "errore",
              "ошибка")  # fmt: skip
_NOTE, _WORSE = "note", ("error", "warning", "")
_GRADES = ("blocker", "fatal", "critical", "high", "medium", "moderate")
_GRAVE = TEXTS.any_of("grave")  # what the program will do wrong
_BLANK = (" ", "\t")
_IS_FILE = Pattern(r"[/\\]|\.\w+$")
_AT = Pattern(r"[:(]\d")  # the line, behind the name of a file
_READ = 500
_PYLINT = 5  # characters of a code of pylint
_BELOW = 8  # lines below a place that quote it
_EACH = 12  # messages up to which each is listed
_FEW_ERRORS = 3  # errors among many messages, of which each is told
_FILES = 2  # files that are listed with their counts
_CODES = 4  # codes that are listed with their counts
_FORMS = 3  # forms of a code's messages up to which each is listed
_LONGEST = 220  # characters of a message
_LENGTHS = ((4, _LONGEST), (_EACH, 140), (1 << 30, 90))  # (messages, characters of each)


class Diagnostic(NamedTuple):
    """A message; `line` is its position in the text, from 1, `level` error, warning or ''.

    severity: what the tool calls the level, where that says more
    """

    line: int
    place: str
    level: str
    code: str
    said: str
    quoted: str = ""  # the tool's own words, with the place
    severity: str = ""


def find(text: Lines) -> tuple[list[Diagnostic], set[int]]:
    """The messages of compilers and linters, and the lines (from 0) that they are in."""
    messages, others = [*_in_lines(text)], [*_above_arrows(text)]
    covered = {message.line - 1 for message in messages}
    messages = _told_once(text, messages)
    others = [message for message in others if message.line - 1 not in covered]
    for number in pieces.numbers_in(text.whole, _alone):
        opened, block = _opened(text, number)
        others += opened
        covered |= block
    if others:  # of two messages in a line, the later one stays
        by_line = {message.line: message for message in [*messages, *others]}
        messages = [by_line[line] for line in sorted(by_line)]
    covered.update(message.line - 1 for message in others)
    covered.update(_drawn(text))
    if text.holds(" here"):
        messages = [_with_origin(text, message) for message in messages]
    if text.holds(" symbol: "):
        messages = [_with_symbol(text, message, covered) for message in messages]
    return _unwrapped(text, messages, covered), covered


def _told_once(text: Lines, messages: list[Diagnostic]) -> list[Diagnostic]:
    """The messages without those that MSBuild repeats below the end of a build."""
    end = next(iter(text.holding("Build FAILED.", "Build succeeded.")), len(text.all))
    above = {message.quoted.strip() for message in messages if message.line <= end}
    return [message for message in messages
            if message.line <= end or message.quoted.strip() not in above]  # fmt: skip


def _with_origin(text: Lines, message: Diagnostic) -> Diagnostic:
    """A message with the place in the user's own source that led to it, named in the line above."""
    above = text.all[message.line - 2].rstrip() if message.line > 1 else ""
    origin = _ORIGIN.match(above) if above.endswith(" here") else None
    if not origin or origin["place"] == message.place:
        return message
    return message._replace(quoted=f"{origin['place']}: {message.quoted}")


def _with_symbol(text: Lines, message: Diagnostic, covered: set[int]) -> Diagnostic:
    """A message of javac with the symbol that it cannot find, named below the quoted source."""
    below = itertools.takewhile(lambda n: n not in covered, text.below(message.line - 1, _BELOW))
    symbol = next(filter(None, (_SYMBOL.match(text.all[n]) for n in below)), None)
    if not symbol:
        return message
    ending = f": {symbol[1]}"
    return message._replace(said=message.said + ending, quoted=message.quoted + ending)


def _unwrapped(text: Lines, messages: list[Diagnostic], covered: set[int]) -> list[Diagnostic]:
    """The messages, where those without a code take their wrapped end and code from below."""
    codes = {message.code for message in messages}
    if len(codes) < 2 or "" not in codes:
        return messages
    return [m if m.code else _with_end(text, m, covered, codes) for m in messages]


def _with_end(text: Lines, message: Diagnostic, covered: set[int], codes: set[str]) -> Diagnostic:
    """A message with its end and its code from the next lines, if they are there."""
    end = ""
    for number in text.below(message.line - 1, _MORE):
        line = text.all[number].strip()
        if number in covered or not line:
            break
        end = f"{end} {line}"
        whole = _made(0, "", "", f"{message.said}{end}", f"{message.quoted}{end}")
        is_code = "  [" in line or _CODE_ALONE.match(line)
        if whole.code and (whole.code in codes or is_code):
            covered.update(range(message.line, number + 1))
            return whole._replace(line=message.line, place=message.place, level=message.level)
    return message


def _in_lines(text: Lines) -> Iterator[Diagnostic]:
    """The messages in single lines, perhaps about a file that is named above."""
    begun = [(first, *begin) for first, piece in pieces.pieces(text.whole)
             for begin in _begun(piece)]  # fmt: skip
    has_lists = any(listed for _, _, listed, _ in begun)
    names = [number for number, line in enumerate(text.all if has_lists else ())
             if " " not in line and line[:1] not in ("", "\t") and _FILE.match(line)]  # fmt: skip
    for first, below, listed, placed in begun:
        number = first + below
        if placed:
            place, level, code, what = placed
            quoted = _with_next(text.all, number)
            yield Diagnostic(number + 1, place, level, code, what, quoted)
        elif above := bisect.bisect(names, number):
            at, level, words = listed
            place = f"{text.all[names[above - 1]].strip().removesuffix(':')}:{at}"
            yield _made(number, place, _level(level), words, f"{place} {words}")


_Begun = tuple[int, tuple[str, ...], tuple[str, ...]]


@pieces.of_piece
def _begun(piece: Piece) -> list[_Begun]:
    """The lines of a piece that begin a message, by number: an entry of a list, or its place."""
    begun = list[_Begun]()
    for number in (number - 1 for number, _ in reading.places(_BEGINS, f"\n{piece.text}")):
        if len(piece.all[number]) > 4 * _READ:
            continue
        read = _with_next(piece.all, number)
        if placed := _PLACED.match(read) or _MARKED.match(read):
            parts = _placed(placed)
            begun += [(number, (), parts)] if parts[1] != _NOTE else []
        elif listed := _LISTED.match(read):
            begun.append((number, listed.groups(""), ()))
    return begun


def _with_next(rows: list[str], number: int) -> str:
    """The beginning of a line, joined with the next if it is only a place and a level."""
    read = rows[number][:_READ]
    is_unsaid = read.endswith(":") and _UNSAID.fullmatch(read)
    return " ".join([read, *rows[number + 1 : number + 2]]) if is_unsaid else read


@pieces.of_piece
def _alone(piece: Piece) -> list[int]:
    """The numbers of a piece's lines that hold only a place."""
    return [number for number, line in enumerate(piece.all)
            if line[-1:] == ":" and len(line) < _READ and _ALONE.match(line)]  # fmt: skip


def _placed(placed: re.Match[str]) -> tuple[str, ...]:
    """The place, level, code and words of a message that begins with its place."""
    place, level, words = placed.group("place", "level", "said")
    named = {} if level else placed.groupdict()
    level = _level(level or named.get("letter") or named.get("kind") or "")
    return place, *_parsed(level, words)


def _above_arrows(text: Lines) -> Iterator[Diagnostic]:
    """The messages above arrows that point at their places."""
    for number, place in pieces.in_pieces(text.whole, _arrows):
        above = range(number - 1, max(-1, number - _BELOW), -1)
        at = next((n for n in above if text.indent(n) < text.indent(number)), max(0, number - 1))
        rated = next(filter(None, map(_RATED.match, text.all[at:number])), None)
        head = text.all[at].strip()[:_READ] * (number > 0)
        if not head or _PLACED.match(head) or any(map(_ASIDE.match, (head, text.all[number - 1]))):
            continue
        if heading := _HEADED.match(head):
            level = _level(heading["level"] or "")
            below = itertools.takewhile(str.strip, text.all[number + 1 : number + _BELOW])
            label = next((f": {match[1]}" for match in map(_CARETS.search, below) if match), "")
            message = _made(at, place, level, heading["said"], f"{head}{label} ({place})")
            severity = rated[1] if rated else ""
            yield message._replace(code=heading["code"] or message.code, severity=severity)


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
    """The messages below a place on a line of its own, and all lines about that place."""
    head = _ALONE.match(text.all[number])
    place = head["place"] or f"{head['script'] or head['file']}:{head['at'] or head['line']}"
    messages: list[Diagnostic] = []
    covered = {number}
    for at in text.below(number):
        line = text.all[at][:_READ]
        if _ALONE.match(line) or not any(text.all[at : at + 2]):
            break
        if remark := _SAID_OF_IT.match(line):
            words = (remark["words"] or remark["said"]).strip()
            code, level = remark["code"] or remark["rule"] or "", remark["grade"] or remark["level"]
            quoted = f"{place} {line.strip(' ^-')}"
            messages.append(Diagnostic(at + 1, place, _level(level), code, words, quoted))
        elif messages and line[:1] in _BLANK and at == messages[-1].line:
            last, more = messages.pop(), line.strip()
            messages.append(last._replace(quoted=f"{last.quoted} {more}"))
        covered.add(at)
    return messages, covered if messages else set()


def _made(number: int, place: str, level: str, words: str, quoted: str) -> Diagnostic:
    """A diagnostic made of the words behind its place."""
    return Diagnostic(number + 1, place, *_parsed(level, words), quoted)


def _parsed(level: str, words: str) -> tuple[str, str, str]:
    """The level, the code, and the message without them."""
    words = words.strip()
    first = _FIRST_CODE.match(words)
    is_apart = "  " in words or "\t" in words
    ends = not first and (words[-1:] in ("]", ")") or is_apart)
    if not (first or ends):
        return level, "", words
    begins = words.rfind(_OPENS.get(words[-1:], "\n"), 0, -_NUMBERED) if ends else -1
    last = _LAST_CODE.match(words, begins) if begins >= 0 else None
    last = _LAST_CODE.search(words) if ends and begins < 0 else last
    code = first[1] if first else next(filter(None, last.groups()), "") if last else ""
    words = words[first.end() :] if first else words[: last.start()] if last else words
    if not level and len(code) == _PYLINT and code[1:].isdigit():
        level = _GRADED.get(code[0], "")
    words = " ".join(words.split()) if "  " in words or "\t" in words else words.strip()
    return level, code, words


@functools.cache
def _level(word: str) -> str:
    """`error`, `warning`, `note`, or '' for any other word."""
    if word in ("E", "F", "e", "✖", "✘", "×") or word.lower() in _AS_ERRORS:
        return "error"
    if word in ("W", "w", "⚠") or word.lower() in ("warning", "warn", "warnung", "предупреждение"):
        return "warning"
    return _NOTE if word.lower() in ("note", "hint") else ""


def units(messages: list[Diagnostic]) -> list[Unit]:
    """The counts, then each message, or one unit for each code if there are many."""
    graded = any(message.level for message in messages)
    most = next(most for count, most in _LENGTHS if len(messages) <= count)
    if len(messages) <= _EACH:
        each = [
            _unit(bad, folding.cut(" ".join(_words(bad).split()), most), [bad], graded)
            for bad in _ordered(messages)
        ]
        return [_counts(messages), *each] if _severities(messages) else each
    by_form: dict[tuple[str, str, str], list[Diagnostic]] = {}
    forms = _NAMES.sub("0", "\n".join(message.said for message in messages)).split("\n")
    are_few = sum(message.level == "error" for message in messages) <= _FEW_ERRORS
    for message, form in zip(messages, forms, strict=True):
        if message.level == "error" and are_few:
            form = f"{message.place} {message.said}"
        by_form.setdefault((message.level, message.code or form, form), []).append(message)
    by_code: dict[tuple[str, str], list[list[Diagnostic]]] = {}
    for (level, code, _), same in by_form.items():
        by_code.setdefault((level, code), []).append(same)
    groups: list[list[Diagnostic]] = []
    for of_code in by_code.values():
        groups += of_code if len(of_code) <= _FORMS else [[*itertools.chain(*of_code)]]
    made = [_counts(messages)]
    for same in sorted(groups, key=lambda same: (*_badness(same[0]), len(same))):
        first, words = same[0], folding.alike((message.said for message in same), _LONGEST)
        times = f" x{len(same)}, first at {first.place}" if len(same) > 1 else f" ({first.place})"
        words = folding.cut(f"{first.code} {words}".strip(), most) + times
        made.append(_unit(first, words, same, graded))
    return made


def _words(message: Diagnostic) -> str:
    return message.quoted or f"{message.place} {message.code} {message.said}"


def _ordered(messages: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(messages, key=lambda message: (*_badness(message), message.line))


def _badness(message: Diagnostic) -> tuple[int, int, bool]:
    """A sort key, lower for what is worse; within a level, wrong behavior comes before style."""
    grade = message.severity.lower()
    by_grade = _GRADES.index(grade) if grade in _GRADES else len(_GRADES)
    is_grave = _GRAVE.search(f"{message.code} {message.said}") is not None
    return _WORSE.index(message.level), by_grade, not is_grave


def _severities(messages: list[Diagnostic]) -> Counter[str]:
    """The count of each grade in the tool's words, the worst first; numeric grades are left out."""
    graded = _ordered([message for message in messages if message.severity.isalpha()])
    return Counter(message.severity for message in graded)


def _unit(message: Diagnostic, text: str, same: list[Diagnostic], graded: bool) -> Unit:
    aspect = (message.severity if message.severity.isalpha() else message.level) or "messages"
    rank = 3 + 2 * _WORSE.index(message.level) * graded + message.place.startswith("/usr/")
    return Unit(message.line, aspect, text, 2.0, rank, aspect, message.code, times=len(same))


def _counts(messages: list[Diagnostic]) -> Unit:
    places = (message.place for message in messages)
    files = Counter(
        _AT.split(place, 1)[0] if "\\" in place or "(" in place else place.partition(":")[0]
        for place in places
    )
    codes = Counter(message.code for message in messages)
    del codes[""]
    graded = ", ".join(f"{count} {grade}" for grade, count in _severities(messages).items())
    by_level = Counter(message.level for message in messages)
    levels = {level: by_level[level] for level in _WORSE if level and by_level[level]}
    if not graded and len(levels) > 1:
        graded = ", ".join(counted(count, level) for level, count in levels.items())
    are_files = all("/" in file or _IS_FILE.search(file) for file in files)
    where = "file" if are_files else "place"
    summary = f"{counted(len(messages), 'message')} in {counted(len(files), where)}"
    if 1 < len(files) <= _FILES:
        summary += f" ({reading.listed(files, _FILES)})"
    summary = "; ".join(filter(None, (summary, graded)))
    summary += f": {reading.listed(codes, _CODES)}" if codes and len(messages) > _EACH else ""
    return Unit(1, "messages", summary, 2.5, 2, "counts", derived=True)
