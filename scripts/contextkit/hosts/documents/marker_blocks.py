"""A marked block of ours in somebody else's text: inserted, replaced, removed without a trace.

    # >>> contextkit: added by `make adopt`, removed by `make unadopt`
    include tools/contextkit/Makefile
    # <<< contextkit

A blank line separates it at the end of the text. Line endings follow the text; a text without a
final line ending gets one, and the first marker records that.
"""

from __future__ import annotations

_OPEN = ">>> contextkit: added by `make adopt`, removed by `make unadopt`"
_JOINED = _OPEN + " (with the line end before)"
_CLOSE = "<<< contextkit"
HASH = "# {}"
COMMENT = "<!-- {} -->"


def put(text: str, lines: str, style: str) -> str:
    """Put our `lines` into `text`, where our block already is or else at the end."""
    there = _find(text, style)
    base = text if there is None else text[: there[0]] + text[there[1] :]
    end = "\r\n" if base.count("\r\n") * 2 > base.count("\n") else "\n"
    if there is not None:
        opening = style.format(_JOINED if there[2] else _OPEN)
        return text[: there[0]] + _block(opening, lines, style, end) + text[there[1] :]
    joined = bool(text) and not text.endswith("\n")
    glue = end * (bool(text) + joined)
    return text + glue + _block(style.format(_JOINED if joined else _OPEN), lines, style, end)


def _block(opening: str, lines: str, style: str, end: str) -> str:
    whole = [opening, *lines.rstrip("\n").split("\n"), style.format(_CLOSE)]
    return "".join(line + end for line in whole)


def take_out(text: str, style: str) -> str:
    """Remove our blocks, each with the blank line that was put before it."""
    while (there := _find(text, style)) is not None:
        start, stop, joined = there
        before = text[:start]
        for _ in range(1 + joined):
            before = before.removesuffix("\n").removesuffix("\r") if before else before
        text = before + text[stop:]
    return text


def _find(text: str, style: str) -> tuple[int, int, bool] | None:
    """Return where our block begins and ends, and whether it added the line ending before it.

    A block whose end marker is missing ends with its first line.
    """
    at = 0
    found: tuple[int, int, bool] | None = None
    for line in text.split("\n"):
        stop = min(at + len(line) + 1, len(text))
        bare = line.rstrip("\r")
        if found is None and bare in (style.format(_OPEN), style.format(_JOINED)):
            found = (at, stop, bare == style.format(_JOINED))
        elif found is not None and bare == style.format(_CLOSE):
            return (found[0], stop, found[2])
        at = stop
    return found
