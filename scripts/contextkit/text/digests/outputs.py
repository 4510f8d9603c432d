"""What a tool printed, segment by segment: each by its kind, all other lines one by one.

    kind, units = outputs.units(text, status)

Outputs are mixed: a playbook prints diffs, a shell session runs several commands. So a text is cut
where a command is typed and where a structure begins and ends, and each segment is tried on the
kinds as a whole. A kind adds statements and weight. Lines that no kind has told remain candidates,
and those that speak of a failure are at least counted.
"""

from __future__ import annotations

import functools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.names import counted
from contextkit.base.type_names import Iterator
from contextkit.text.digests import diagnostics, kinds, runners, streams
from contextkit.text.digests.failure_words import is_failing, says_failure
from contextkit.text.digests.kinds import diff, help, listing, log
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.pieces import (
    Helper,
    Piece,
    failing_in,
    helper,
    lines_of,
    numbers_in,
    of_piece,
    pieces,
)
from contextkit.text.digests.reading import FAILING, REST, Unit, line_count

# tried on each segment
_WHOLE = ("results", "json", "diff", "code", "help", "table", "listing", "plain")
_QUOTED = ("code", "help", "plain")
_LARGEST, _HEAD, _TAIL = 4_000_000, 3_000_000, 1_000_000  # characters that are read
_MOST_LINES = 100_000  # lines that are read
_WRITTEN = 600  # characters of prose beside which lists and tables come second
_SAYS_ERROR = Pattern(r"\S+:\d+: *(?:ERROR|FATAL|error|fatal)\b")
_FOUND = 10_000  # lines with words of failure that are read between both ends
_TRUNCATED = Pattern(  # a host's mark for the missing middle of an output
    r"(?<![\w,.])\d[\d,.]* (?:more )?(?:tokens|lines|characters|chars|bytes)"
    r" (?:were )?(?:truncated|omitted)"
    r"|^[^\w\n]*[Oo]utput (?:was )?truncated\b[^,\n]{0,20}$",
    re.M,
)
_COMMIT = Pattern(r"commit [0-9a-f]{7,40}\b")
_SAMPLE = 20_000  # characters of source code that are looked at
_FEW = 20  # lines up to which their number is not worth telling
_FAILED = ("failed", "error", "failing")  # groups of statements about failures
_PART = 0.6  # share of the lines that a kind needs to name the text

_BEGINS = Pattern(
    r"(?P<diff>diff --(?:git|cc|combined) |Index: \S|diff -\S+ \S.*\n--- "
    r"|--- (?!expected|actual|want|got)(?:\S.*)?\n\+\+\+ (?:\S|$))"
    r"|(?P<json>[\[{][ \t]*$|\{\"|\[[\[{\"])"
    r"|(?P<box>[┌+][─+=-]{3,}[─┬+=-]*[┐+]?$)"
    r"|(?P<prompt>\$ \S|[\w.-]+@[\w.-]\S*?[$#] |PS \S*> )",
    re.M,
)
_FIRST = frozenset("dI-[{┌+$P")  # first characters of lines that may begin a segment
_HUNK = Pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@|(@@@+) .* @@@+")
_OF_A_HEAD = (
    "diff -", "Only in ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ",
    "old mode ", "new mode ", "similarity index ", "dissimilarity index ", "rename ", "copy ",
    "Binary files ", "GIT binary patch", "Index: ", "=====", "@@", "mode ", "\\",
)  # fmt: skip


_SHORT = 40  # characters of a line below which it is no whole value
_LONGEST = 260  # characters shown of a line
_READ = 80  # characters at the start of a line that may hold the sign of a prompt


def units(text: str, status: int | None = None) -> tuple[str, list[Unit]]:
    """The kind of the text, and all its units.

    Of a text of many megabytes or more than 100,000 lines, both ends are read, and between them
    the lines that speak of a failure. Counts of other lines then say `or more`.
    """
    if len(text) <= _LARGEST and text.count("\n") <= _MOST_LINES:
        return _units(text, status)
    read, numbers, middle, more = _excerpt(text)
    kind, told = _units(read, status)
    for at, unit in enumerate(told):
        is_whole = unit.group in (*_FAILED, FAILING) and not more
        is_least = not is_whole and (unit.derived or unit.times > 1)
        line = numbers[unit.line - 1] + 1
        told[at] = unit._replace(text=unit.text + " (or more)" * is_least, line=line)
    between = f"{middle.start + 1}-{middle.stop}"
    note = f"lines {between} are read for words of failure only"
    told.append(Unit(middle.start + 1, "", note, 2.0, 2, derived=True))
    if more:
        told.append(Unit(more[0] + 1, "", "", 0, 0, FAILING, times=len(more)))
    return kind, told


def _excerpt(text: str) -> tuple[str, list[int], range, list[int]]:
    """The part of a very long text that is read, and the number, from 0, of each of its lines.

    Then the range of lines between its ends, and the failing ones there that are too many to read.
    """
    longest = (len(text) / (text.count("\n") + 1)) * _MOST_LINES  # characters of so many lines
    head, tail = int(min(_HEAD, longest * 0.75)), len(text) - int(min(_TAIL, longest * 0.25))
    head = text.rfind("\n", 0, head) + 1 or head
    tail = text.find("\n", tail) + 1 or tail
    beginning, middle = text[:head].split("\n"), text[head:tail].split("\n")
    beginning = beginning if beginning[-1] else beginning[:-1]
    first = text.count("\n", 0, head)
    between = range(first, first + len(middle) - 1)
    failing = [*failing_in(text[head:tail])]
    read = [*beginning, *(middle[number] for number in failing[:_FOUND]), text[tail:]]
    numbers = [first + number for number in failing]
    last = range(between.stop, between.stop + text.count("\n", tail) + 1)
    shown = [*range(len(beginning)), *numbers[:_FOUND], *last]
    return "\n".join(read), shown, between, numbers[_FOUND:]


_read = functools.lru_cache(maxsize=1)(Lines)  # freeing one takes long


def _units(text: str, status: int | None) -> tuple[str, list[Unit]]:
    lines = lines_of(text)
    streamed = _streamed(lines)
    text = "\n".join(lines) if streamed else text
    with helper(text) as other:
        told, sizes = _of_segments(text, lines, other)
    read = _read("\n".join(lines) if sizes else text)
    run = log.run(read, status)
    if sizes["help"] and help.is_page(text):
        page = [unit._replace(group="", aspect="", key=False) for unit in run.units
                if unit.group != FAILING]  # fmt: skip
        run = log.Run("help", False, page)
    if any(unit.group == listing.STATES for unit in told):
        run = run._replace(units=[unit._replace(key=False) for unit in run.units])
    count = line_count(text)
    kind = next((kind for kind, size in sizes.items() if size >= _PART * count), "")
    if not kind or run.failed:
        kind = "log" if streamed else run.kind
    if run.failed:
        told = _beside_failures(told, run.units)
    elif run.kind == "plain" and sum(len(read.all[n]) for n in read.prose) > _WRITTEN:
        told = [unit._replace(rank=min(unit.rank, 0), key=False) for unit in told]
        kind = run.kind  # figures below what somebody wrote
    may_lack = "runcated" in text or "omitted" in text
    if cut := _TRUNCATED.search(text) if may_lack else None:
        line = text.count("\n", 0, cut.start()) + 1
        told.append(Unit(line, "cut", f"the text itself lacks a part: {cut[0]}", 3.0, 1))
    units = [*run.units, *streamed, *told]
    if status and not (run.failed or any(map(_is_failure, units))):
        units = _with_end(text, units)
    is_list = kind == "plain" and not (read.prose or cut)
    if count > _FEW and (is_list or not units):
        units.append(Unit(1, "size", counted(count, "line"), 1.0, 2, derived=True))
    return kind, units


def _with_end(text: str, units: list[Unit]) -> list[Unit]:
    """The units of a command that failed without saying why, with the last line of its output."""
    whole = text.rstrip()
    last = " ".join(whole[whole.rfind("\n") + 1 :][:_LONGEST].split())
    end = Unit(whole.count("\n") + 1, "last line", last, 2.0, 2)
    return [*(unit for unit in units if unit.group or unit.line != end.line), end]


def _of_segments(text: str, lines: list[str], other: Helper) -> tuple[list[Unit], Counter[str]]:
    """The units of the segments, and the number of lines of each kind, which are taken out."""
    told: list[Unit] = []
    sizes: Counter[str] = Counter()
    for numbers, segment_kind in _pieces(text, lines):
        is_all = len(numbers) == len(lines)
        segment = text if is_all else "\n".join(lines[number] for number in numbers)
        kind, units = _told(segment, segment_kind, other if is_all else None)
        if units:
            units = [unit._replace(line=numbers[unit.line - 1] + 1) for unit in units]
            told += [unit for unit in units if unit.aspect != REST]
            left = {unit.line - 1 for unit in units if unit.aspect == REST}
            sizes[kind] += len(numbers) - len(left)
            for number in numbers:
                lines[number] = lines[number] if number in left else ""
    return told, sizes


def _beside_failures(told: list[Unit], run: list[Unit]) -> list[Unit]:
    """The units that come after the failures, except states; files in conflict appear once."""
    failed = " ".join(unit.text for unit in run if unit.group == "failed")
    return [
        unit
        if unit.group == listing.STATES
        else unit._replace(rank=unit.rank and max(unit.rank, 4), key=False)
        for unit in told
        if not (unit.aspect == diff.CONFLICT and unit.short in failed)
    ]


def _streamed(lines: list[str]) -> list[Unit]:
    """What failed in each of several things that run at once; the lines of all are used up."""
    told, names = list[Unit](), list[str]()
    parts = streams.cut(lines)
    for name, printed in parts.items():
        if units := _of_stream(name, printed):
            told += units
            names.append(name)
    for number in (number for printed in parts.values() if told for number in printed):
        lines[number] = ""
    if len(names) > 1:
        summary = f"errors in {len(names)}: {', '.join(names)}"
        told.insert(0, Unit(told[0].line, "", summary, 3.0, 1, key=True, derived=True))
    return told


def _of_stream(name: str, lines: dict[int, str]) -> list[Unit]:
    """The failure of one of several things that run at once; empty if it has none."""
    numbers = [*lines]
    units = [unit for unit in _units("\n".join(lines.values()), None)[1] if unit.group]
    first = next((at for at, unit in enumerate(units) if _is_failure(unit)), -1)
    if first < 0:
        return []
    units[first] = units[first]._replace(rank=1)
    return [
        unit._replace(line=numbers[unit.line - 1] + 1, aspect=name, key=False,
                      group=name)
        for unit in units
    ]  # fmt: skip


def _is_failure(unit: Unit) -> bool:
    is_verdict = unit.group == "verdict" and says_failure(unit.text)
    return unit.group in _FAILED or (is_verdict and is_failing(unit.text.lower()))


def _pieces(text: str, lines: list[str]) -> Iterator[tuple[list[int], str]]:
    """The lines of each segment and its kind, if known; all diffs are one, so are all commits."""
    first = next((line for line in lines if line.strip()), "")
    is_help = _is(text, "help") and not _is(text, "code")
    if is_help or first.lstrip("\ufeff ")[:1] == "<":  # what it quotes is no segment
        yield list(range(len(lines))), ""
        return
    diff: list[int] = []
    commits: list[int] = []
    for segment, kind in _cut(lines, numbers_in(text, _begin)):
        if kind == "diff":
            diff += segment
        elif _COMMIT.match(next(filter(None, map(lines.__getitem__, segment)), "")):
            commits += segment
        elif kind != "prompt":
            yield [*segment], kind
    yield from ((numbers, kind) for numbers, kind in ((commits, ""), (diff, "diff")) if numbers)


def _told(text: str, kind: str, other: Helper | None) -> tuple[str, list[Unit]]:
    """The kind of a segment with its units; none if no kind knows it.

    other: the process that reads a segment that is the whole text
    """
    if not text.strip():
        return "", []
    for name in [kind] if kind and kind != "json" else _WHOLE:
        if _is(text, name) and not (name == "code" and _is_quoted(text)):
            if units := kinds.module(name).units(text):
                is_xml = name == "json" and text.lstrip("\ufeff \t\r\n")[:1] == "<"
                return "xml" if is_xml else name, [unit for unit in units if unit.weight > 0]
    if other:
        other.read()  # as all lines will be
    told = [] if kind else [*listing.states(text)]
    lines = {unit.line for unit in told}
    left = (n for n in range(1, text.count("\n") + 2) if n not in lines)
    return "listing", [*told, *(Unit(n, REST, "") for n in left)] if told else []


def _is(text: str, name: str) -> bool:
    """Whether a text is of a kind; source or help that a test runner quotes does not count."""
    return bool(kinds.confidence(name, text)) and not (name in _QUOTED and runners.wrote(text))


def _is_quoted(text: str) -> bool:
    """Whether source code is among messages about it, as the program that ran it prints them."""
    says = (_SAYS_ERROR.match(piece.all[n]) for _, piece in pieces(text) for n in piece.failing)
    return any(says) or bool(diagnostics.find(Lines(text[:_SAMPLE]))[0])


@of_piece
def _begin(piece: Piece) -> list[int]:
    """The numbers of a piece's lines that may begin a segment; of the last, half may be missing."""
    has_at = "@" in piece.text
    may = [n for n, line in enumerate(piece.all)
           if line[:1] in _FIRST or (has_at and "@" in line[:_READ])]  # fmt: skip
    last = len(piece.all) - 1
    return [n for n in may if n == last or _BEGINS.match("\n".join(piece.all[n : n + 2]))]


def _cut(lines: list[str], begins: list[int]) -> Iterator[tuple[range, str]]:
    """The segments in order with their kinds, if known; together they are the text.

    begins: lines that may begin one
    """
    begun = 0
    for number in begins:
        line = lines[number]
        if number < begun or not line:
            continue
        match = _BEGINS.match("\n".join(lines[number : number + 2]))
        kind = (match and match.lastgroup) or ""
        end = number + 1 if kind in ("", "prompt") else _ENDS[kind](lines, number)
        is_json = len(line) > _SHORT and line[0] + line.rstrip()[-1:] in ("{}", "[]")
        is_short = end - number < 2 and not is_json
        if not kind or (kind != "prompt" and is_short):
            continue
        if number > begun:
            yield range(begun, number), ""
        yield range(number, end), "table" if kind == "box" else kind
        begun = end
    if begun < len(lines):
        yield range(begun, len(lines)), ""


def _end_of_diff(lines: list[str], at: int) -> int:
    """The end of a diff; a hunk ends with its counts, or earlier where another file begins."""
    old = new = 0
    marks = ""
    start, is_named = at, lines[at].startswith(("diff -", "Index: "))
    while at < len(lines):
        line = lines[at]
        if old > 0 or new > 0:
            if diff.ends_hunk(lines, at):
                old = new = 0
                continue
            old -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
        elif hunk := _HUNK.match(line):
            marks, is_named = hunk[3] or "", True
            old, new = (0, 0) if marks else (int(hunk[1] or 1), int(hunk[2] or 1))
        elif not (line.startswith(_OF_A_HEAD) or (marks and line[:1] in "+- ")):
            break
        at += 1
    return at if is_named else start + 1  # two values that a test compares are no files


def _end_of_json(lines: list[str], at: int) -> int:
    """The end of a value over several lines, or of lines with a value each."""
    first = lines[at].rstrip()
    if len(first) == 1:
        closing = "}" if first == "{" else "]"
        for number in range(at + 1, len(lines)):
            if lines[number].rstrip() == closing and first not in lines[number + 1 : number + 2]:
                return number + 1
        return len(lines)
    while at < len(lines) and lines[at][:1] == first[0]:
        at += 1
    return at


def _end_of_box(lines: list[str], at: int) -> int:
    while at < len(lines) and lines[at][:1] in "┌│├└+|" and lines[at]:
        at += 1
    return at


_ENDS = {"diff": _end_of_diff, "json": _end_of_json, "box": _end_of_box}
