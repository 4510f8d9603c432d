"""JSON or JSON lines: its shape and sizes, and outliers."""

from __future__ import annotations

from collections import Counter

from contextkit.base.type_names import Any
from contextkit.text import objects
from contextkit.text.digests.kinds import table
from contextkit.text.digests.reading import Unit, cut, row_statement

_NAMED = frozenset(
    "error errors message fail failed failure status state exit_code warning severity level result"
    " verdict summary title name id version".split()
)
_WELL = frozenset("ok success passed pass done completed info debug active 200 0".split())
_LONGEST, _ENTRY = 160, 240  # characters of a value, and of an entry
_CUT = 200_000  # characters in which the end of an incomplete text is looked for


def confidence(text: str) -> int:
    """By its first character, and by parsing it or the look of its lines."""
    bare = text.lstrip()
    if bare[:1] not in ("{", "["):
        return 0
    return 95 if objects.parsed(bare) is not None else 60 if _is_cut(bare) else 0


def _is_cut(text: str) -> bool:
    """Whether a text looks like the beginning of JSON in several lines."""
    lines = [line.strip() for line in text[:4000].split("\n")[:-1] if line.strip()]
    like = sum(line[:1] in '"{}[]' or line[-1:] == "," for line in lines)
    begins = bool(lines) and (lines[0] in ("{", "[", "[{") or lines[0].endswith("},"))
    return len(lines) > 4 and begins and like * 10 >= len(lines) * 9


def _beginning(text: str) -> tuple[Any, int]:
    """The value of which a text is the beginning, as far as it goes, and the line of its end."""
    import json

    closing: list[str] = []
    ends: list[tuple[int, str]] = [(0, "")]  # where a value ends, and what closes the others
    quoted = escaped = False
    for at, char in enumerate(text[:_CUT]):
        if quoted:
            quoted, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            closing.append("}" if char == "{" else "]")
        elif char in "}]" and closing:
            closing.pop()
            ends.append((at + 1, "".join(reversed(closing))))
    end, missing = ends[-1]
    try:
        value = json.loads(text[:end] + missing)
    except (ValueError, RecursionError):
        return None, 0
    return value, text.count("\n") + (not text.endswith("\n"))


def units(text: str) -> list[Unit]:
    """Its shape first, then values with decisive names, then outliers, then the rest."""
    import json

    value = objects.parsed(text.strip())
    told: list[Unit] = []
    if value is None:
        value, line = _beginning(text)
        if value is None:
            return []
        told.append(Unit(line, "invalid", f"JSON cut off or invalid at line {line}", 3.0, 1))
    _shape("", value, told, 0)
    _walk("", value, told, 0)
    placed = []
    for unit in told:
        name = unit.short or unit.aspect
        at = text.find(json.dumps(name.rpartition(".")[2].partition("[")[0], ensure_ascii=False))
        placed.append(unit._replace(line=text.count("\n", 0, at) + 1 if at >= 0 else 1, short=""))
    return placed


def _shape(path: str, value: object, found: list[Unit], depth: int) -> None:
    """Describe objects by their keys, and lists by length and the keys their entries share."""
    name = path or "shape"
    if isinstance(value, dict) and value:
        shown = ", ".join(map(str, list(value)[:12])) + (" …" if len(value) > 12 else "")
        rank = 1 if not path else 0
        text = f"object of {len(value)} keys: {shown}"
        found.append(Unit(1, name, text, 2.0 if rank else 0.7, rank, "shape", derived=True))
        for key, inner in list(value.items())[:40] if depth < 3 else ():
            if isinstance(inner, dict | list) and inner:
                _shape(f"{path}.{key}" if path else str(key), inner, found, depth + 1)
    elif isinstance(value, list) and value:
        kinds = Counter(type(entry).__name__ for entry in value)
        of = "; ".join(f"{count} {_WORDS.get(kind, kind)}" for kind, count in kinds.most_common(3))
        text = f"list of {len(value)}: {of}"
        dicts = [entry for entry in value if isinstance(entry, dict)]
        if dicts:
            keys = Counter(key for entry in dicts for key in entry)
            text += " with " + ", ".join(str(key) for key, _ in keys.most_common(12))
            lacking = [f"{key} in {n} of {len(dicts)}" for key, n in keys.items() if n < len(dicts)]
            if lacking:
                found.append(Unit(1, name, "; ".join(lacking[:4]), 0.9, derived=True))
        rank = 1 if not path else 2 if depth < 2 else 0
        found.append(Unit(1, name, text, 1.5, rank, "lists", derived=True))


_WORDS = {"dict": "objects", "str": "texts", "int": "numbers", "float": "numbers",
          "list": "lists", "bool": "true or false", "NoneType": "null"}  # fmt: skip


def _walk(path: str, value: object, found: list[Unit], depth: int) -> None:
    if depth > 6 or len(found) > 4000:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            if isinstance(inner, dict | list):
                _walk(here, inner, found, depth + 1)
            elif inner is not None and inner != "":
                found.append(_scalar(here, str(key), inner))
    elif isinstance(value, list):
        _walk_list(path, value, found, depth)


def _walk_list(path: str, value: list[object], found: list[Unit], depth: int) -> None:
    dicts = [entry for entry in value if isinstance(entry, dict)]
    if len(dicts) > 8:
        _columns(path, dicts, found)
    else:
        for index, inner in enumerate(value[:200]):
            if isinstance(inner, dict | list):
                _walk(f"{path}[{index}]", inner, found, depth + 1)
    texts = [entry for entry in value if isinstance(entry, str | int | float)]
    if texts:
        text = ", ".join(map(_shown, texts[:8])) + (" …" if len(texts) > 8 else "")
        found.append(Unit(1, path or "values", text, 0.8))


def _scalar(path: str, key: str, value: object) -> Unit:
    named = key.lower() in _NAMED
    ill = named and str(value).lower() not in _WELL and key.lower() not in ("id", "name", "title")
    return Unit(1, path, _shown(value), 1.8 if ill else 1.2 if named else 1.0)


def _shown(value: object) -> str:
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(" ".join(text.split()), _LONGEST)


def _columns(path: str, rows: list[dict[str, object]], found: list[Unit]) -> None:
    """A list of objects as a table: the values of each field, outliers, the first and the last."""
    path = path or "entries"
    keys = list(dict.fromkeys(str(key) for row in rows[:200] for key in row))[:40]
    body = [(1, [_cell(row.get(key)) for key in keys]) for row in rows]
    for index, key in enumerate(keys):
        for unit in table.column(keys, body, index):
            is_field = unit.group == "columns"
            rank = unit.rank + 1 if key.lower() in _NAMED or not is_field else 0
            group = "fields" if is_field else unit.group
            found.append(
                unit._replace(aspect=f"{path}.{key}", rank=rank, group=group, derived=True)
            )
    for index in (0, len(rows) - 1):
        shown = row_statement(keys, body[index][1])[:_ENTRY]
        found.append(Unit(1, f"{path}[{index}]", shown, 0.7, derived=True))


def _cell(value: object) -> str:
    return _shown(value) if isinstance(value, str | int | float | bool) else ""
