"""Edits of JSON text that leave everything else untouched, byte for byte.

Settings belong to their owner: order, indentation and number formats stay. A place is a path of
keys and indexes: `("hooks", "Stop", 0)`.
"""

from __future__ import annotations

import json

from contextkit.base.errors import bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]
    Entry = tuple[str | int, int, int, int]  # key, start of the entry, start and end of its value

_BLANK = " \t\r\n"
_decoder = json.JSONDecoder()


def parse(text: str, where: str) -> dict[str, Any]:
    """Parse the object in `text`. Raises ContextError, with the line, for anything else."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        why = "comments are not valid JSON" if _is_comment(text, error.pos) else error.msg
        mend = "fix that line, then run this again; nothing was written"
        raise bad_input(f"{where}:{error.lineno}: not valid JSON ({why}): {mend}") from None
    except RecursionError:
        raise bad_input(f"{where}: not valid JSON: nested too deeply") from None
    if not isinstance(found, dict):
        raise bad_input(f"{where}: must be a JSON object: fix it, then run this again")
    return found


def _is_comment(text: str, at: int) -> bool:
    return text[at : at + 2] in ("//", "/*") or text[at : at + 1] == "#"


def span(text: str, path: Path = ()) -> tuple[int, int]:
    """Return where the value at `path` begins and ends; raises KeyError if there is none."""
    start = _skip(text, 0)
    for key in path:
        start = next((e[2] for e in reversed(entries(text, start)) if e[0] == key), -1)
        if start < 0:
            raise KeyError(path)
    return start, _end(text, start)


def entries(text: str, start: int) -> list[Entry]:
    """Return the entries of the object or array that begins at `start`."""
    closing = {"{": "}", "[": "]"}[text[start]]
    found: list[Entry] = []
    at = _skip(text, start + 1)
    while text[at] != closing:
        begin, key = at, len(found)
        named: str | int = key
        if closing == "}":
            named, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _end(text, at)
        found.append((named, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _end(text: str, start: int) -> int:
    return _decoder.raw_decode(text, start)[1]


def add(text: str, path: Path, key: str, value: object) -> str:
    """Append `value` to the object (under `key`) or array at `path`; return the new text."""
    start, end = span(text, path)
    inside = entries(text, start)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if text[start] == "{" else ""
    if inside:
        lead = text[: inside[-1][1]]
        margin = lead[len(lead.rstrip(_BLANK)) :]
        last = inside[-1][3]
        if "\n" not in margin:
            return f"{text[:last]}, {name}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
        return f"{text[:last]},{margin}{name}{_rendered(text, value, margin)}{text[last:]}"
    closing = text[end - 1]
    if "\n" not in text.strip() and path:
        made = f"{name}{json.dumps(value, ensure_ascii=False)}"
        return f"{text[:start]}{text[start]}{made}{closing}{text[end:]}"
    outer = _margin(text, start)
    margin = outer + _indent(text)
    made = f"{margin}{name}{_rendered(text, value, margin)}{outer}"
    return f"{text[:start]}{text[start]}{made}{closing}{text[end:]}"


def _rendered(text: str, value: object, margin: str) -> str:
    """Render `value` with the indentation of `text`; `margin` starts each further line."""
    lines = json.dumps(value, ensure_ascii=False, indent=_indent(text)).split("\n")
    return margin.join(lines)


def _margin(text: str, start: int) -> str:
    """Return a line break and the leading white space of the line that contains `start`."""
    end = "\r\n" if "\r\n" in text else "\n"
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return end + line[: len(line) - len(line.lstrip(" \t"))]


def _indent(text: str) -> str:
    """Return one indentation step, taken from the first indented line; default two spaces."""
    for line in text.split("\n"):
        bare = line.lstrip(" \t")
        if bare.strip() and bare != line:
            return line[: len(line) - len(bare)]
    return "  "


def remove(text: str, path: Path) -> str:
    """Remove the entry at `path` with its separating comma; return the new text."""
    start, end = span(text, path[:-1])
    inside = entries(text, start)
    place = max(i for i, entry in enumerate(inside) if entry[0] == path[-1])
    if place:
        return text[: inside[place - 1][3]] + text[inside[place][3] :]
    if len(inside) > 1:
        return text[: inside[0][1]] + text[inside[1][1] :]
    return text[: start + 1] + text[end - 1 :]


def replace(text: str, path: Path, value: str) -> str:
    """Replace what is at `path` with the JSON text `value`; return the new text."""
    start, end = span(text, path)
    return text[:start] + value + text[end:]
