"""Budgets: which parts of a report are printed whole, which in short, and which are only named.

The parts come in the order in which they are printed. What is needed first has first claim; of
the rest, each gets its short form before any gets more, and then the earlier ones grow.
"""

from __future__ import annotations

from contextkit.base import markdown, tokens
from contextkit.base.records import Record

_JOINT = 4  # tokens, at most, of what stands between two parts
_FENCE = 4  # tokens, at most, of the end of a code fence
_NAMED = 24  # tokens of a line that only names a part
_WORTH = 60  # tokens below which the beginning of a part says too little
_LINES = 40  # lines at most of those


class Part(Record):
    """A part of a report: its heading (empty: under the one before), what it says, where it is.

    `short` stands for the text where that does not fit; a part without one is cut.
    """

    text: str
    heading: str = ""
    short: str = ""
    path: str = ""
    first: bool = False  # has its claim before those that have not


class Omitted(Record):
    """Where a part is that is not printed whole, and what all of it costs."""

    path: str
    tokens: int


class Fitted(Record):
    """The parts as they are printed, and those of them that are not whole."""

    parts: tuple[Part, ...]
    left_out: tuple[Omitted, ...]


def fit(parts: list[Part], room: int, beyond: tuple[Omitted, ...] = ()) -> Fitted:
    """As much of the parts as goes into `room` tokens, with what is left out said by path.

    `beyond` are left out in any case.
    """
    sizes = [_size(part, part.text) for part in parts]
    if sum(sizes) <= room and not beyond:
        return Fitted(parts=tuple(parts), left_out=())
    named = min(_LINES, sum(bool(part.path) for part in parts) + len(beyond))
    room -= min(room // 6, _NAMED * named)
    texts = [""] * len(parts)
    for number, part in enumerate(parts):
        if part.first:
            texts[number] = part.text if sizes[number] <= room // 2 else _cut(part, room // 2)
            room -= _size(part, texts[number])
    _fill(parts, texts, room)
    shown = [part.replace(text=text) for part, text in zip(parts, texts, strict=True) if text]
    left_out = [
        Omitted(path=part.path, tokens=size)
        for part, text, size in zip(parts, texts, sizes, strict=True)
        if text != part.text and part.path
    ]
    return Fitted(parts=tuple(shown), left_out=(*left_out, *beyond))


def _fill(parts: list[Part], texts: list[str], room: int) -> None:
    """Short forms into half of what is left, then whole texts instead of them, in order.

    What is left then goes to the first that is not whole: merged findings are often longer than
    all the room, and begin with the summaries.
    """
    others = [number for number, part in enumerate(parts) if not part.first]
    half = room // 2
    for number in others:
        short = parts[number].short or _cut(parts[number], half // 4)
        size = _size(parts[number], short)
        if short and size <= half:
            texts[number] = short
            half -= size
            room -= size
    for number in others:
        had = _size(parts[number], texts[number])
        more = _size(parts[number], parts[number].text) - had
        if more <= room:
            texts[number] = parts[number].text
            room -= more
    for number in others:
        if room >= _WORTH and texts[number] != parts[number].text:
            had = _size(parts[number], texts[number])
            cut = _cut(parts[number], had + room)
            if _size(parts[number], cut) > had:
                texts[number] = cut
            break


def _size(part: Part, text: str) -> int:
    if not text:
        return 0
    return tokens.estimate(text) + tokens.estimate(part.heading) + _JOINT


def _cut(part: Part, room: int) -> str:
    """The beginning of a part's text that goes into `room`; empty where that is next to nothing."""
    room -= _size(part, "…") + _FENCE
    if room < 8:
        return ""
    cut = tokens.clip(part.text[: 20 * room], room)  # a token has at most 17 characters
    line = cut.rfind("\n")
    return _closed(cut[:line] + "\n…" if line > len(cut) // 2 else cut)


def _closed(text: str) -> str:
    """`text` with an end for the code fence that was cut, or it would swallow what follows."""
    lines = text.split("\n")
    for line, inside in zip(lines, markdown.in_fences(lines), strict=True):
        bare = line.lstrip()
        if not inside and bare.startswith(("```", "~~~")):
            indent = line[: len(line) - len(bare)]
            return f"{text}\n{indent}{bare[: len(bare) - len(bare.lstrip(bare[0]))]}"
    return text


def list_left_out(left_out: tuple[Omitted, ...], room: int, more: str) -> tuple[str, ...]:
    """A line for each part that is not whole, as many as go into `room` tokens.

    The last one says how many are not listed, and `more` about them.
    """
    lines: list[str] = []
    for number, part in enumerate(left_out):
        line = f"{part.path} (~{part.tokens} tokens)"
        room -= tokens.estimate(line) + 2
        if number >= _LINES or room < 12:
            lines.append(f"and {len(left_out) - number} more; {more}")
            break
        lines.append(line)
    return tuple(lines)
