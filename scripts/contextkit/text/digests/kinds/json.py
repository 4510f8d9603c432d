"""JSON or JSON lines, XML, YAML, TOML, INI: its shape and sizes, and outliers."""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Any, Collection, Iterator
from contextkit.text import objects
from contextkit.text.digests.failure_words import says_failed
from contextkit.text.digests.folding import cut
from contextkit.text.digests.kinds import table
from contextkit.text.digests.reading import Unit, row_statement

_DECIDE = frozenset(
    "error errors message fail failed failure status state exit_code warning severity level result"
    " verdict summary".split()
)
_WELL = frozenset("ok success passed pass done completed info debug active 200 0".split())
_KEYS, _FEW = 12, 8  # keys of an object that are listed; entries up to which a list is shown whole
_DEEPEST, _MOST = 6, 4000  # levels, statements
_LONGEST, _ENTRY = 160, 240  # characters of a value, and of an entry
_STATE = Pattern(
    r"(?:^|[._])(?:status|state|result|outcome|conclusion|phase)$|(?:Status|State|Result)$"
)
_NAMES = ("name", "title", "job", "id", "key", "host", "path", "metadata.name")
_REASON = Pattern(r"reason|message|error|cause|detail", re.I)
_NAME = Pattern(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|[^\s"\',:=<>{}\[\]()]+')  # or a value
_MARKS = Pattern(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]]')  # strings, and what is around values
_CUT = 200_000  # characters in which the end of an incomplete text is searched


def confidence(text: str) -> int:
    """The confidence by the first character, and by parsing or lines; the others are trees too."""
    bare = text.lstrip("\ufeff \t\r\n")
    is_json = bare[:1] in ("{", "[")
    if objects.tree(text) is not None:
        return 95 if is_json else 60
    return 60 * (is_json and _is_cut(bare))


def _is_cut(text: str) -> bool:
    """Whether a text looks like the beginning of JSON in several lines."""
    lines = [line.strip() for line in text[:4000].split("\n")[:-1] if line.strip()]
    like = sum(line[:1] in '"{}[]' or line[-1:] == "," for line in lines)
    begins = bool(lines) and (lines[0] in ("{", "[", "[{") or lines[0].endswith("},"))
    return len(lines) > 4 and begins and like * 10 >= len(lines) * 9


def _beginning(text: str) -> tuple[Any, int]:
    """The value that a text begins, as far as it goes, and the line where it ends."""
    import json

    closing, end, missing = "", 0, ""
    for match in _MARKS.finditer(text, 0, _CUT):
        if match[0] in "{[":
            closing = ("}" if match[0] == "{" else "]") + closing
        elif match[0] in closing[:1]:
            closing = closing[1:]
            end, missing = match.end(), closing
    try:
        value = json.loads(text[:end] + missing)
    except (ValueError, RecursionError):
        return None, 0
    return value, text.count("\n") + (not text.endswith("\n"))


def units(text: str) -> list[Unit]:
    """Its shape first, then values with decisive names, then outliers, then the rest."""
    value = objects.tree(text)
    told: list[Unit] = []
    if value is None:
        value, line = _beginning(text)
        if value is None:
            return []
        told.append(Unit(line, "invalid", f"JSON cut off or invalid at line {line}", 3.0, 1))
    _tell("", _plain(value) if text.lstrip("\ufeff \n")[:1] == "<" else value, told, 0)
    return _placed(text, told)


def _placed(text: str, told: list[Unit]) -> list[Unit]:
    """The statements with the lines of the names that they are about, below those they are in."""
    places = _lines_of(text, [n for unit in told for n in (unit.short, *_names(unit.aspect)) if n])
    lines = {"": 1}  # by path

    def below(name: str, line: int) -> int:
        there = places.get(name) or [line]
        at = bisect.bisect_left(there, line)
        return there[at] if at < len(there) else there[0]

    def line_of(path: str) -> int:
        if path not in lines:
            above, _, name = path.rpartition("[" if path[-1] == "]" else ".")
            above, name = ("", path) if path in places else (above, name)
            lines[path] = below(name, line_of(above))
        return lines[path]

    placed, entry, line, last = list[Unit](), "", 1, text.rstrip().count("\n") + 1
    for unit in told:
        listed = unit.aspect[: unit.aspect.rfind("[") + 1] if unit.aspect[-1:] == "]" else ""
        if listed and unit.aspect not in lines and entry.startswith(listed):
            lines[unit.aspect] = min(line + 1, last)  # below the entry before it
        line = line_of(unit.aspect)
        entry, line = unit.aspect, below(unit.short, line) if unit.short else line
        placed.append(unit._replace(line=line, short=""))
    return placed


def _names(path: str) -> list[str]:
    """The names in the path of a value, any of which may have dots in it, and the path itself."""
    return [path, *(name.partition("[")[0] for name in path.split("."))]


def _lines_of(text: str, names: list[str]) -> dict[str, list[int]]:
    """The lines, from 1, in which each of some names stands by itself or in quotes."""
    import json

    forms: dict[str, list[str]] = {}  # by how one begins
    for name in dict.fromkeys(names):
        quoted = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
        for begins in quoted | {first[0] for first in [_NAME.search(name)] if first}:
            forms.setdefault(begins, []).append(name)
    lines: dict[str, list[int]] = {}
    line, past = 1, 0
    for match in _NAME.finditer(text):
        for name in forms.get(match[0], ())[:_FEW]:
            if match[0][0] == '"' or text.startswith(name, match.start()):
                line, past = line + text.count("\n", past, match.start()), match.start()
                lines.setdefault(name, []).append(line)
    return lines


def _tell(path: str, value: object, units: list[Unit], depth: int) -> None:
    """Tell the size of a container, then the plain values of an object, then what is inside."""
    if depth > _DEEPEST or len(units) > _MOST:
        return
    if isinstance(value, dict) and value:
        if not path or len(value) > _KEYS:
            shown = ", ".join(map(str, list(value)[:_KEYS])) + (" …" if len(value) > _KEYS else "")
            text = f"object of {len(value)} keys: {shown}"
            unit = Unit(1, path or "shape", text, 0.7 if path else 2.0, 0 if path else 1, "shape")
            units.append(unit._replace(derived=True))
        units += _values(path, {str(key): inner for key, inner in value.items()})
        alike = _alike(value)
        if alike:
            _columns(path, alike, units)
            left = (str(row[""]) for row in alike[1:2] + alike[-2:-1])
            units += [Unit(1, path, "", 0.1, table.LEFT, short=name) for name in left]
        for key, inner in value.items() if not alike else ():
            _tell(f"{path}.{key}" if path else str(key), inner, units, depth + 1)
    elif isinstance(value, list) and value:
        units.append(_size(path, value, depth))
        rows = [entry for entry in value if isinstance(entry, dict)] or _rows(value)
        if len(rows) > _FEW:
            _columns(path, rows, units)
        for index, inner in enumerate(value if len(rows) <= _FEW else ()):
            _tell(f"{path}[{index}]", inner, units, depth + 1)
        if texts := [_shown(entry) for entry in value if isinstance(entry, str | int | float)]:
            text = ", ".join(texts[:_FEW]) + (" …" if len(texts) > _FEW else "")
            units.append(Unit(1, path or "values", text, 0.8))


def _rows(value: list[object]) -> list[dict[str, object]]:
    """Lists of plain values as objects, whose fields are the positions in the list."""
    plain = [entry for entry in value if isinstance(entry, list)
             and not any(isinstance(inner, dict | list) for inner in entry)]  # fmt: skip
    return [{f"[{at}]": inner for at, inner in enumerate(entry)} for entry in plain]


def _values(path: str, value: dict[str, object]) -> Iterator[Unit]:
    """The plain values of an object; of many, the decisive ones come first."""
    plain = {key: _shown(inner) for key, inner in value.items()
             if not (isinstance(inner, dict | list) and inner)}  # fmt: skip
    decide = [key for key, shown in plain.items()
              if key.lower() in _DECIDE and shown.lower() not in _WELL]  # fmt: skip
    order = list(plain) if len(plain) <= _FEW else sorted(plain, key=lambda key: key not in decide)
    for at in range(0, len(order), _FEW):
        keys = order[at : at + _FEW]
        text = ", ".join(f"{key}: {plain[key]}" for key in keys)
        weight = 1.0 if set(keys).isdisjoint(decide) else 1.8
        yield Unit(1, path or "values", text, weight, short=keys[0], derived=True)


def _size(path: str, value: list[object], depth: int) -> Unit:
    """The length of a list, and the keys that its entries share or lack."""
    kinds = Counter(type(entry).__name__ for entry in value)
    of = "; ".join(f"{count} {_WORDS.get(kind, kind)}" for kind, count in kinds.most_common(3))
    text = f"list of {len(value)}: {of}"
    keys = Counter(key for entry in value if isinstance(entry, dict) for key in entry)
    if keys:
        count = kinds["dict"]
        shown = (f"{key} (in {n})" if n < count else str(key) for key, n in keys.most_common(_KEYS))
        text += f" with {', '.join(shown)}"
    rank = 1 if not path else 2 if depth < 2 else 0
    return Unit(1, path or "shape", text, 1.5, rank, "lists", derived=True)


_WORDS = {"dict": "objects", "str": "texts", "int": "numbers", "float": "numbers",
          "list": "lists", "bool": "true or false", "NoneType": "null"}  # fmt: skip


def _shown(value: object) -> str:
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(" ".join(text.split()), _LONGEST)


def _plain(value: Any) -> Any:
    """A tree of XML without tags, with lists only where an element occurs several times."""
    if isinstance(value, list):
        return [*map(_plain, value)] if len(value) > 1 else _plain(value[0])
    if not isinstance(value, dict):
        return value
    named = {"" if key == "text" else key: inner for key, inner in value.items()}
    ours = (objects.TAG, objects.LINES)
    return {key: _plain(inner) for key, inner in named.items() if key not in ours}


def _alike(value: dict[Any, object]) -> list[dict[str, object]]:
    """The objects in one as rows with their names, if there are many that share most keys."""
    inner = {str(key): fields for key, fields in value.items() if isinstance(fields, dict)}
    keys = Counter(key for fields in inner.values() for key in fields)
    shared = sum(count for count in keys.values() if count * 2 > len(inner))
    is_alike = len(inner) > _FEW and shared * 2 > keys.total()
    return [{"": name, **fields} for name, fields in inner.items()] if is_alike else []


def _columns(path: str, rows: list[dict[str, object]], units: list[Unit]) -> None:
    """Tell a list of objects as a table, and lists of objects in them as tables of their own."""
    path = path or "entries"
    inner = _tables(rows)
    flat = [dict(_flat({key: row[key] for key in row if key not in inner})) for row in rows]
    often = Counter(key for row in flat for key in row)
    failed = list(_failed(path, flat))
    units += failed
    names = {unit.short for unit in failed} - {""}
    units += [unit for unit in _odd(path, flat, often) if unit.short not in names]
    filled = [key for key in often if any(row.get(key) for row in flat)]
    keys = sorted(filled, key=lambda key: ("." in key, -often[key]))[:40]
    body = [(1, [row.get(key, "") for key in keys]) for row in flat]
    odd = set[str]()  # rows that differ
    for index, key in enumerate(keys):
        for unit in table.column(keys, body, index, table.numbers(body, index, keys)):
            is_field = unit.group == "columns"
            rank = unit.rank + 1 if key.lower() in _DECIDE or not is_field else 0
            group = "fields" if is_field else unit.group
            if is_field or unit.text not in odd:
                unit = unit._replace(aspect=f"{path}.{key}", rank=rank, group=group)
                units.append(unit._replace(derived=True))
                odd.add(unit.text)
    name = _naming(flat)
    for key in inner:
        entries = [{"": told.get(name, ""), **entry} for row, told in zip(rows, flat, strict=True)
                   for entry in _objects(row.get(key))]  # fmt: skip
        _columns(f"{path}.{key}", entries, units)
    for index in (0, len(rows) - 1):
        shown, short = row_statement(keys, body[index][1])[:_ENTRY], flat[index].get(name, "")
        units.append(Unit(1, f"{path}[{index}]", shown, 0.7, short=short, derived=True))


def _objects(value: object) -> list[dict[str, object]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _tables(rows: list[dict[str, object]]) -> list[str]:
    """The fields of some objects with lists of objects, if these are more than the objects."""
    sizes = Counter(key for row in rows for key in row for _ in _objects(row[key]))
    return [key for key, size in sizes.items() if size > max(_FEW, len(rows))]


def _naming(flat: list[dict[str, str]], others: Collection[str] = ()) -> str:
    """The field that names each of some objects; '' if there is none."""
    every = [key for key in flat[0] if key not in others and all(row.get(key) for row in flat)]
    named = (key for key in every if _last(key).endswith("name")
             and len({row[key] for row in flat}) * 2 > len(flat))  # fmt: skip
    label = table.naming([(1, [row[key] for key in every]) for row in flat], -1) if every else -1
    return next(named, every[label] if label >= 0 else "")


def _failed(path: str, flat: list[dict[str, str]]) -> Iterator[Unit]:
    """The entries whose state says that they failed, each with its name and its reason."""
    states = [key for key in dict.fromkeys(itertools.chain(*flat)) if _STATE.search(key)]
    bad = [row for row in flat if any(says_failed(row.get(key, "")) for key in states)]
    if not bad or len(bad) * 2 > len(flat):
        return  # none, or most of them
    label = _naming(flat, [key for key in flat[0] if key in states or _REASON.search(key)])
    same: dict[str, list[dict[str, str]]] = {}
    for row in bad:
        told = [key for key in row if (key in states or _REASON.search(key)) and row[key]]
        same.setdefault(", ".join(f"{key}: {row[key]}" for key in told), []).append(row)
    for fields, rows in same.items():
        names = []
        for row in rows:
            named = [row[key] for key in row if key.lower() in _NAMES and row[key]][:2]
            names.append(named or [row[label]] * (label in row))
        listed, times = ", ".join(dict.fromkeys(map(" ".join, filter(None, names)))), len(rows)
        name, first = cut(listed, _ENTRY // 2), "".join(names[0][-1:])
        text = cut(f"{name} - {fields}" if name else fields, _ENTRY) + f" (x{times})" * (times > 1)
        yield Unit(1, path, text, 2.5, 2, "failed", first, key=True, derived=True, times=times)


def _odd(path: str, flat: list[dict[str, str]], often: Counter[str]) -> Iterator[Unit]:
    """The entries with fields that nearly no other entry has, each with its name."""
    few = {key for key, count in often.items() if count <= max(1, len(flat) // 20)}
    odd = [row for row in flat if not few.isdisjoint(row)]
    label = _naming(flat) if odd else ""
    for row in odd if len(odd) <= max(_FEW, len(flat) // 20) else ():
        fields = sorted(filter(few.__contains__, row), key=lambda key: _last(key) not in _DECIDE)
        shown = ", ".join(f"{key}: {row[key]}" for key in fields if row[key])
        name = row.get(label, "")
        text = cut(f"{name} - {shown}" if name else shown, _ENTRY)
        fails = says_failed(shown)
        if shown:
            yield Unit(
                1, path, text, 2.0, 2 - fails, "outliers", short=name, key=fails, derived=True
            )


def _last(key: str) -> str:
    return key.rpartition(".")[2].lower()


def _flat(row: dict[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    """The plain values in an object, at any depth, by their paths."""
    for key, value in row.items():
        inner = value if isinstance(value, list) else [value]
        objects_in = [entry for entry in inner if isinstance(entry, dict)][:_FEW]
        if objects_in and path.count(".") < _DEEPEST:
            told: dict[str, str] = {}
            below = f"{path}{key}."
            for name, text in (pair for entry in objects_in for pair in _flat(entry, below)):
                told[name] = f"{told[name]} / {text}" if name in told else text
            yield from told.items()
        else:
            yield f"{path}{key}".rstrip("."), _cell(value)


def _cell(value: object) -> str:
    return _shown(value) if isinstance(value, str | int | float) else ""
