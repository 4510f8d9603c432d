"""The version of this contextkit, defined only here, and where it is installed.

Semantic: a document format that an older version cannot read means a new major version.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import UPGRADE, ContextError, NewerFormat
from contextkit.base.type_names import Any

VERSION = "0.9.0"
TOOLKIT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def toolkit(*parts: str) -> str:
    """A path below contextkit's own checkout."""
    return os.path.join(TOOLKIT, *parts)


def order(version: str) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]:
    """The sort key of a semantic version: `1.9.0` before `1.10.0-rc.1` before `1.10.0`.

    A leading `v`, as in tags, is ignored. Raises ContextError for anything else.
    """
    core, dash, rest = version.removeprefix("v").partition("+")[0].partition("-")
    if not is_version(version):
        raise ContextError(f"{version[:40]!r} is not a version like 1.2.0")
    parts = rest.split(".") if dash else []
    named = ((not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts)
    return tuple(map(int, core.split("."))), not dash, tuple(named)


def is_version(text: str) -> bool:
    """Whether `text` is a semantic version, with or without the `v` of a tag."""
    numbers = text.removeprefix("v").partition("+")[0].partition("-")[0].split(".")
    return len(numbers) == 3 and all(map(names.is_whole, numbers))


def require(fields: dict[str, Any], name: str, readable: int, where: str) -> None:
    """Raise ContextError if the number in this field is not that of the version that is read."""
    refuse_newer(fields.get(name), str(readable), where)
    if fields.get(name) != readable:
        written = f"has {name} {fields.get(name)!r}"
        raise ContextError(f"{where}: {written}; this version reads {readable}")


def refuse_newer(written: object, readable: str, where: str = "", status: int = 1) -> None:
    """Raise NewerFormat, with advice, if a document's major version is above `readable`.

    Text that is not a number is left to the document's own checks. `status` is 2 for an input.
    """
    major = str(written).partition(".")[0]
    if names.is_whole(major) and int(major) > int(readable.partition(".")[0]):
        form = f"format {str(written)[:20]}, this one reads {readable}"
        text = f"written by a newer contextkit ({form})"
        raise NewerFormat(f"{where and where + ': '}{text}: {UPGRADE}", status)
