"""`contextkit.yaml` at the root of a repository, which sets limits and places.

Most repositories have none, or only comments in it, and pay nothing. A real one is kept parsed in
`.contextkit/settings`, so that YAML is imported once per edit instead of once per command.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, packages, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.limits import SETTINGS, Limits
from contextkit.base.records import Record

_CACHE = os.path.join(".contextkit", "settings")
_MAX_BYTES = 65_536
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Values = dict[str, object]
    R = TypeVar("R", bound=Record)


class Places(Record):
    """The documented places, relative to the root.

    The fields are the settings that the stores declare, with their defaults.
    """

    _fields = dict.fromkeys(stores.settings(), "str")
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> str: ...

    def check(self) -> None:
        for name in self.fields():
            value = getattr(self, name)
            parts = value.split("/")
            if os.path.isabs(value) or ".." in parts or set(parts) <= {"", "."}:
                raise bad_input(f"{name}: {value!r} must be a relative path inside the root")
            if os.path.normpath(value).split("/")[0] in (".git", ".contextkit"):
                raise bad_input(
                    f"{name}: {value!r} lies in a folder that is not meant for documents"
                )
        folders = {name: os.path.normpath(getattr(self, name)) + "/" for name in stores.folders()}
        for name, folder in folders.items():
            for other, its_folder in folders.items():
                if name != other and its_folder.startswith(folder):
                    raise bad_input(f"{name}: {folder!r} would hold {other} ({its_folder!r}) too")


for _setting, _default in stores.settings().items():
    setattr(Places, _setting, _default)


class Additions(Record):
    """What a repository adds to the toolkit's own data; parsed where it is used."""

    processes: dict[str, object] = {}  # noqa: RUF012  (see processes.py)


def load(root: str) -> Values:
    """The settings of the repository at `root`: name -> value, for the fields of the records above.

    An unknown name or a value of the wrong type is refused by name, with the nearest valid one.
    """
    path = os.path.join(root, SETTINGS)
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return {}
    known = Limits.fields() | Places.fields() | Additions.fields()
    key = f"1 {state.st_size} {state.st_mtime_ns} {state.st_ino}"
    cached = _from_cache(root, key, known)
    if cached is not None:
        return cached
    if state.st_size > _MAX_BYTES:
        raise bad_input(f"{SETTINGS}: larger than {_MAX_BYTES} bytes: it holds settings only")
    text = files.read(path)
    if _only_comments(text):
        return {}
    values = parse(text, known)
    _to_cache(root, key, values)
    return values


def chosen(kind: type[R], values: Values) -> R:
    """Make a record of `kind` from those of `values` that are its fields."""
    given: dict[str, Any] = {name: values[name] for name in kind.fields() if name in values}
    return kind(**given)


def parse(text: str, known: dict[str, str]) -> Values:
    """Parse settings in the YAML `text`. Raises ContextError naming the key and what it takes."""
    packages.need("yaml")
    from contextkit.base import formats

    found = formats.from_yaml(text, SETTINGS)
    if not isinstance(found, dict):
        raise bad_input(f"{SETTINGS}: must be lines of `name: value`")
    values: Values = {}
    for name, value in found.items():
        if name not in known:
            raise bad_input(f"{SETTINGS}: there is no setting {name!r}{names.nearest(name, known)}")
        values[name] = _typed(name, value, known[name])
    return values


def _typed(name: str, value: object, annotation: str) -> object:
    if annotation == "int" and isinstance(value, str) and names.is_whole(value):
        return int(value)
    if annotation == "bool" and isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if annotation == "str" and isinstance(value, str) and value.isprintable() and value:
        return value
    if annotation == "tuple[str, ...]" and isinstance(value, list):
        return tuple(str(_typed(name, item, "str")) for item in value)
    if annotation.startswith("dict[") and isinstance(value, dict):
        return value  # its content is checked where it is used
    kinds = {"int": "a whole number", "bool": "true or false", "str": "a line of text",
             "tuple[str, ...]": "a list of lines"}  # fmt: skip
    wanted = kinds.get(annotation, "lines of `name: value` indented under it")
    raise bad_input(f"{SETTINGS}: {name} must be {wanted}, not {value!r}")


def _only_comments(text: str) -> bool:
    return all(not line or line.startswith("#") for line in map(str.strip, text.splitlines()))


def _from_cache(root: str, key: str, known: dict[str, str]) -> Values | None:
    """The parsed settings if the file has not changed since they were saved; otherwise None."""
    try:
        first, *lines = files.read(os.path.join(root, _CACHE)).splitlines()
    except (ContextError, ValueError):
        return None
    values: Values = {}
    for line in lines:
        name, _, text = line.partition("=")
        annotation = known.get(name)
        if annotation is None:
            return None
        try:
            values[name] = _typed(name, _from_line(text, annotation), annotation)
        except ContextError:
            return None
    return values if first == key else None


def _from_line(text: str, annotation: str) -> object:
    if annotation.startswith("tuple"):
        return text.split("\t") if text else []
    if annotation.startswith("dict"):
        from contextkit.base import formats

        return formats.from_json(text, _CACHE)
    return text


def _to_line(value: object) -> str:
    if isinstance(value, dict):
        from contextkit.base import formats

        return formats.to_json(value).replace("\n", " ")  # those in strings are escaped
    return "\t".join(value) if isinstance(value, tuple) else str(value)


def _to_cache(root: str, key: str, values: Values) -> None:
    lines = [key, *(f"{name}={_to_line(value)}" for name, value in values.items())]
    try:
        files.store(os.path.join(root, ".contextkit"))
        files.write(os.path.join(root, _CACHE), "\n".join(lines) + "\n")
    except (ContextError, OSError):
        pass  # in a read-only repository it is parsed each time; nothing else is lost
