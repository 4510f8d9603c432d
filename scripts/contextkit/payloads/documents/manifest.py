"""The manifest of a session, one JSON file: a head, a list of entries, a total of their tokens.

    {
      "sessionId": "…", "createdAt": "…",
      "payloads": [
        {…},
        {…}
      ],
      "totalTokensStored": 4500
    }

An entry is spliced in before the tail without parsing the rest, but only if the tail is byte for
byte as we write it. The file is replaced whole, so it is valid JSON at all times. Callers must hold
the session's lock.
"""

from __future__ import annotations

from contextkit.base import files, formats, version
from contextkit.base.errors import ContextError
from contextkit.base.type_names import Any

Fields = dict[str, Any]

FORMAT = 1  # the newest format that is understood; 1 is not written, to keep to the published keys
LIST, TOTAL = "payloads", "totalTokensStored"
_LAST = b"\n    }"  # the end of an entry


def render(head: Fields, entries: list[Fields]) -> str:
    """Render a manifest; the total is the sum of the entries' `tokens`."""
    total = sum(entry["tokens"] for entry in entries)
    return formats.to_json({**head, LIST: entries, TOTAL: total}) + "\n"


def add(path: str, entry: Fields) -> bool:
    """Splice an entry into the manifest at `path`; False if its tail is not as we write it."""
    data = files.read_bytes(path)
    end, number = _end(data)
    is_ours = data.endswith(_LAST, 0, end)
    if is_ours:
        added = f",\n{_entry(entry)}{_tail(number + entry['tokens'])}"
        files.write(path, data[:end] + added.encode())
    return is_ours


def change(path: str, old: Fields, new: Fields) -> bool:
    """Replace an entry in the manifest at `path`; return False if it is not there as we write it.

    Both have the same tokens, so that the total stays.
    """
    before, entry, after = files.read_bytes(path).rpartition(_entry(old).encode())
    if entry:
        files.write(path, iter((before, _entry(new).encode(), after)))
    return bool(entry)


def _end(data: bytes) -> tuple[int, int]:
    """Where the list ends, and the total; (0, 0) if the tail is not as we write it."""
    end = data.rfind(_tail(0).partition("0")[0].encode(), max(0, len(data) - 200))
    digits = data[max(0, end) :].rpartition(b" ")[2].removesuffix(b"\n}\n")
    ours = end >= 0 and digits.isdigit() and _tail(int(digits)).encode() == data[end:]
    return (end, int(digits)) if ours else (0, 0)


def total(data: bytes) -> int:
    """The total, read from the tail alone if it is as we write it."""
    end, number = _end(data)
    if end:
        return number
    try:
        return sum(entry["tokens"] for entry in parse(data, "")[LIST])
    except ContextError:
        return 0


def last_id(data: bytes) -> str:
    """The id of the last entry; '' if there is none, or it is not as we write it."""
    _, mark, rest = data.rpartition(b'\n      "id": "')
    return rest.partition(b'"')[0].decode("utf-8", "replace") if mark else ""


def parse(data: bytes, where: str) -> Fields:
    """Parse a manifest. Raises ContextError for an invalid one or a newer format."""
    manifest = formats.object_from_json(data.decode("utf-8", "replace"), where)
    version.refuse_newer(manifest.get("format"), str(FORMAT), where)
    entries = manifest.get(LIST)
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise ContextError(f"{where}: has no list of {LIST}")
    return manifest


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or type(entry.get("tokens")) is not int:
        return False
    return isinstance(entry.get("id"), str) and entry["tokens"] >= 0


def _tail(number: int) -> str:
    return f'\n  ],\n  "{TOTAL}": {number}\n}}\n'


def _entry(entry: Fields) -> str:
    return "    " + formats.to_json(entry, "    ")
