"""What templates may do to a value: the filters of our Jinja templates.

Values are text of users and agents. Each filter keeps one from breaking out of the place it
is put in: a YAML scalar, a list item, a code fence.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PLAIN = _PLAIN_START | frozenset("0123456789_./-+@ ()")
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_UNSEEN = frozenset([0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF])
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str, always: bool = False) -> str:
    """`text` as a YAML scalar that every YAML reader gives back as the same string.

    Plain where that is safe and `always` is not set, else in double quotes.
    """
    if not always and text and text[0] in _PLAIN_START and text[-1] != " ":
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
        return "\\ufffd"  # half a character: YAML has no form for it
    return char


def indented(text: str, width: int = 2) -> str:
    """`text` with every line but the first moved right, blank lines left empty.

    The continuation lines of a list item: nothing in them can start a heading or an item.
    """
    first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([first, *(" " * width + line if line else "" for line in rest)])


def fenced(text: str, info: str = "text", least: int = 3) -> str:
    """`text` in a code fence longer than any run of backticks in it, so that it cannot close it.

    With at least `least` backticks.
    """
    fence = "`" * max(least, longest_run(text) + 1)
    return f"{fence}{info}\n{text.rstrip()}\n{fence}"


# Lines that mean something in a memory document; one that a text brings along gets a backslash.
MARKS = ("## ", "### From `", "<!-- contextkit:", "```", "~~~")


def prose(text: str, item: bool = False) -> str:
    """`text` as the body of a Markdown section: it can begin no section and leave no fence open.

    A line that could do so gets a backslash in front, which Markdown does not show; fences that
    are closed stay as they are, and so does the first line of an `item`, which stands behind its
    bullet. `sections.plain` undoes it.
    """
    if not any(mark in text for mark in MARKS):
        return text
    from contextkit.base import markdown

    lines = text.split("\n")
    fenced_off = markdown.in_fences(lines[1:] if item else lines)
    if item:
        fenced_off.insert(0, True)
    return "\n".join(
        line if inside or not is_mark(line) else _behind_backslash(line)
        for line, inside in zip(lines, fenced_off, strict=True)
    )


def is_mark(line: str) -> bool:
    """Whether a line, without indent and backslashes in front, begins with one of the marks."""
    return line.lstrip().lstrip("\\").startswith(MARKS)


def _behind_backslash(line: str) -> str:
    bare = line.lstrip()
    return line[: len(line) - len(bare)] + "\\" + bare


def item(text: str, width: int = 2) -> str:
    """`text` as a list item behind its mark: further lines are moved right."""
    return indented(prose(text, item=True), width)


def code(text: str) -> str:
    """`text`, one line, as a code span that nothing in it can end."""
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def longest_run(text: str) -> int:
    """How many backticks stand next to each other at most: a fence around `text` needs more."""
    longest = run = 0
    for char in text if "`" in text else "":
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest


def known(text: str) -> str:
    """`text`, or `unknown` where there is none."""
    return text or "unknown"


FILTERS: dict[str, Callable[..., str]] = {
    "joined": ", ".join,
    "quoted": quoted,
    "indented": indented,
    "fenced": fenced,
    "prose": prose,
    "item": item,
    "code": code,
    "known": known,
}
