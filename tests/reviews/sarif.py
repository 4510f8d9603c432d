"""What the schema of SARIF 2.1.0 refuses, told by types that were made from it.

`pysarif` has a dataclass for each object of OASIS's schema: which properties there are, which are
required, their types and the words they may be. The few bounds on what we write that types cannot
say are below; formats (of URIs, of GUIDs) are left to the schema itself.
"""

from __future__ import annotations

import dataclasses
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pysarif

_LEAST = {("Region", "startLine"): 1, ("Result", "ruleIndex"): -1}
_UNIQUE = {("ToolComponent", "rules")}


def faults(value: object, kind: Any = pysarif.SarifLog, where: str = "$") -> list[str]:
    """A sentence for each place in a document, or in a part of one, that is not of this type."""
    if kind is Any:
        return []
    if get_origin(kind) in (Union, UnionType):  # Optional: a property is left out, never null
        [only] = (one for one in get_args(kind) if one is not NoneType)
        return faults(value, only, where)
    if get_origin(kind) is Literal:
        return [] if value in get_args(kind) else [f"{where}: {value!r} is not a word for it"]
    if get_origin(kind) is list:
        if not isinstance(value, list):
            return [f"{where}: must be an array"]
        [item] = get_args(kind)
        return [
            fault for n, one in enumerate(value) for fault in faults(one, item, f"{where}[{n}]")
        ]
    if dataclasses.is_dataclass(kind):
        return _object(value, kind, where)
    fits = type(value) is kind or (kind is float and type(value) is int)
    return [] if fits else [f"{where}: {value!r} is not {kind.__name__}"]


def _object(value: object, kind: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: must be an object"]
    if kind is pysarif.PropertyBag:
        return []  # it may hold anything
    hints = get_type_hints(kind)
    known = {_spelled(field): field for field in dataclasses.fields(kind)}
    found = [f"{where}: has no {name}" for name in value if name not in known]
    for name, field in known.items():
        required = field.default is field.default_factory is dataclasses.MISSING
        if name in value:
            found += faults(value[name], hints[field.name], f"{where}.{name}")
            found += _out_of_bounds(value[name], (kind.__name__, name), f"{where}.{name}")
        elif required:
            found.append(f"{where}: lacks {name}")
    if kind is pysarif.Message and not value.keys() & {"text", "id"}:
        found.append(f"{where}: lacks text")
    return found


def _spelled(field: dataclasses.Field[Any]) -> str:
    """The property's name: `ruleIndex` of the field `rule_index`."""
    if field.name == "schema":
        return "$schema"
    first, *others = field.name.split("_")
    return first + "".join(map(str.capitalize, others))


def _out_of_bounds(value: object, place: tuple[str, str], where: str) -> list[str]:
    least = _LEAST.get(place)
    if least is not None and isinstance(value, int) and value < least:
        return [f"{where}: {value} is less than {least}"]
    if place in _UNIQUE and isinstance(value, list) and len({*map(repr, value)}) < len(value):
        return [f"{where}: says something twice"]
    return []
