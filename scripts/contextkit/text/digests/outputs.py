"""What a tool printed, segment by segment: each by its kind, and all other lines by their own.

    kind, units = outputs.units(text, status)

A kind adds statements and weight. What no kind has told stays a candidate line by line, and lines
that speak of a failure are counted if nothing tells them.
"""

from __future__ import annotations

from collections import Counter

from contextkit.base.names import counted
from contextkit.base.type_names import Iterator
from contextkit.text.digests import diagnostics, failures, kinds, lines, segments
from contextkit.text.digests.kinds import log
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.reading import REST, Unit, line_count
from contextkit.text.patterns import Pattern

_WHOLE = ("results", "json", "diff", "code", "help", "table", "listing")  # asked of a segment
_LARGEST, _HEAD, _TAIL = 4_000_000, 3_000_000, 1_000_000  # characters that are read
_MOST_LINES = 100_000  # lines that are read
_TRUNCATED = Pattern(  # what a host puts in place of the middle of an output
    r"(?<![\w,.])\d[\d,.]* (?:more )?(?:tokens|lines|characters|chars|bytes)"
    r" (?:were )?(?:truncated|omitted)"
    r"|\[?\b[Oo]utput (?:was )?truncated\b"
)
_COMMIT = Pattern(r"commit [0-9a-f]{7,40}\b")
_SAMPLE = 20_000  # characters of source code that are looked at
_FEW = 20  # lines that need not be counted
_PART = 0.6  # share of the lines that a kind must have to give the text its name


def units(text: str, status: int | None = None) -> tuple[str, list[Unit]]:
    """The kind of the text, and all that can be said of it.

    Of a text of many megabytes or more than 100,000 lines, only both ends are read; what is counted
    is then `or more`.
    """
    if len(text) <= _LARGEST and text.count("\n") <= _MOST_LINES:
        return _units(text, status)
    longest = (len(text) / (text.count("\n") + 1)) * _MOST_LINES  # characters of so many lines
    head, tail = int(min(_HEAD, longest * 0.75)), len(text) - int(min(_TAIL, longest * 0.25))
    head = text.rfind("\n", 0, head) + 1 or head
    tail = text.find("\n", tail) + 1 or tail
    left = text.count("\n", head, tail)
    kind, told = _units(text[:head] + text[tail:], status)
    last = text.count("\n", 0, head)
    for at, unit in enumerate(told):
        words = unit.text + " (or more)" * (unit.derived or unit.times > 1)
        told[at] = unit._replace(text=words, line=unit.line + left * (unit.line > last))
    return kind, told


def read_ahead(text: str) -> Iterator[None]:
    """Read a text of which more will come, a piece at a time: what is read is remembered."""
    for piece in lines.read_ahead(text):
        diagnostics.read_ahead(piece)
        failures.marked(piece)
        yield


def _units(text: str, status: int | None) -> tuple[str, list[Unit]]:
    lines = text.split("\n")
    told: list[Unit] = []
    sizes: Counter[str] = Counter()
    for numbers, segment_kind in _pieces(lines):
        is_all = len(numbers) == len(lines)
        segment = text if is_all else "\n".join(lines[number] for number in numbers)
        kind, units = _told(segment, segment_kind)
        if units:
            units = [unit._replace(line=numbers[unit.line - 1] + 1) for unit in units]
            told += [unit for unit in units if unit.aspect != REST]
            sizes[kind] += len(numbers)
            left = {unit.line - 1 for unit in units if unit.aspect == REST}
            for number in numbers:
                lines[number] = lines[number] if number in left else ""
    rest = Lines("\n".join(lines) if sizes else text)
    run = log.run(rest, status)
    count = line_count(text)
    kind = next((kind for kind, size in sizes.items() if size >= _PART * count), "")
    if not kind or run.failed:
        kind = run.kind
    if run.failed:
        told = [unit._replace(rank=max(unit.rank, 4), key=False) for unit in told]
    if ("runcated" in text or "omitted" in text) and (cut := _TRUNCATED.search(text)):
        line = text.count("\n", 0, cut.start()) + 1
        told.append(Unit(line, "cut", f"the text itself lacks a part: {cut[0]}", 3.0, 1))
    elif not (told or run.units) and count > _FEW:
        told.append(Unit(1, "size", counted(count, "line"), 1.0, 3, derived=True))
    return kind, [*run.units, *told]


def _pieces(lines: list[str]) -> Iterator[tuple[list[int], str]]:
    """The lines of each segment, with its kind if it is known; diffs are one, commits are one."""
    first = next((line for line in lines if line.strip()), "")
    text = "\n".join(lines)
    is_help = kinds.module("help").confidence(text) and not kinds.module("code").confidence(text)
    if is_help or first.lstrip("\ufeff ")[:1] == "<":  # what it quotes is no segment
        yield list(range(len(lines))), ""
        return
    diff: list[int] = []
    commits: list[int] = []
    for segment in segments.cut(lines):
        numbers = list(range(segment.start, segment.end))
        if segment.kind == "diff":
            diff += numbers
        elif _COMMIT.match(next(filter(None, lines[segment.start : segment.end]), "")):
            commits += numbers
        elif segment.kind != "prompt":
            yield numbers, segment.kind
    yield from ((numbers, kind) for numbers, kind in ((commits, ""), (diff, "diff")) if numbers)


def _told(text: str, kind: str) -> tuple[str, list[Unit]]:
    """The kind of a segment with its statements; none if no kind knows it."""
    if not text.strip():
        return "", []
    for name in [kind] if kind and kind != "json" else _WHOLE:
        if kinds.module(name).confidence(text) and not (name == "code" and _is_quoted(text)):
            if units := kinds.module(name).units(text):
                return name, [unit for unit in units if unit.weight > 0]
    return "", []


def _is_quoted(text: str) -> bool:
    """Whether source code stands below messages of a compiler."""
    return bool(diagnostics.find(Lines(text[:_SAMPLE]))[0])
