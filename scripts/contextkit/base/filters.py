"""The filters that our Jinja templates apply to values.

Each keeps text from elsewhere from breaking out of the place where it is inserted.
"""

from __future__ import annotations

from contextkit.base.type_names import Callable

_PLAIN_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PLAIN = _PLAIN_START | frozenset("0123456789_./-+@ ()")
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_UNSEEN = frozenset([0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF])
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str, always: bool = False) -> str:
    """`text` as a YAML scalar that every reader parses as the same string, plain if possible."""
    if not always and text[:1] in _PLAIN_START and text[-1] != " ":
        if _PLAIN.issuperset(text) and text.lower() not in _RESERVED:
            return text
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0 or code in _UNSEEN:
        return f"\\u{code:04x}"
    if 0xD800 <= code < 0xE000:
        return "\\ufffd"  # a lone surrogate: YAML cannot represent it
    return char


def indented(text: str, width: int = 2) -> str:
    """`text` with every line but the first indented, so that none can start a heading or item."""
    first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([first, *(" " * width + line if line else "" for line in rest)])


def fenced(text: str, info: str = "text", least: int = 3) -> str:
    """`text` in a code fence of `least` or more backticks, so many that it cannot close it."""
    fence = "`" * max(least, longest_run(text) + 1)
    return f"{fence}{info}\n{text.rstrip()}\n{fence}"


# Line beginnings with a meaning in memory documents; in inserted text they get a backslash.
MARKS = ("## ", "### From `", "<!-- contextkit:", "```", "~~~")


def prose(text: str, item: bool = False) -> str:
    """`text` as the body of a Markdown section: it can start no section and leave no fence open.

    Lines that could get a leading backslash, which `sections.plain` removes. The first line of an
    `item` stays, since it follows the bullet.
    """
    if not any(mark in text for mark in MARKS):
        return text
    from contextkit.base import markdown

    lines = text.split("\n")
    fenced_off = [True, *markdown.in_fences(lines[1:])] if item else markdown.in_fences(lines)
    for at, (line, inside) in enumerate(zip(lines, fenced_off, strict=True)):
        if not inside and is_mark(line):
            lines[at] = f"{line[: -len(line.lstrip())]}\\{line.lstrip()}"
    return "\n".join(lines)


def is_mark(line: str) -> bool:
    """Whether a line, ignoring indent and leading backslashes, starts with one of the marks."""
    return line.lstrip().lstrip("\\").startswith(MARKS)


def item(text: str, width: int = 2) -> str:
    """`text` as the content of a list item: continuation lines are indented."""
    return indented(prose(text, item=True), width)


def code(text: str) -> str:
    """A single line of `text` as a code span that it cannot close."""
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def longest_run(text: str) -> int:
    """The length of the longest run of backticks; a fence around `text` needs to be longer."""
    longest, start = 0, text.find("`")
    while start >= 0:
        end = start
        while text[end : end + 1] == "`":
            end += 1
        longest = max(longest, end - start)
        start = text.find("`", end)
    return longest


FILTERS: dict[str, Callable[..., str]] = {
    "joined": ", ".join,
    "quoted": quoted,
    "indented": indented,
    "fenced": fenced,
    "prose": prose,
    "item": item,
    "code": code,
    "known": lambda text: text or "unknown",
    "grouped": lambda number: f"{int(number):,}",
}
