"""Convert JSON, YAML, and front matter to and from checked records.

All text from users and agents becomes objects here, once; errors name the field. YAML scalars are
read as the literal text (`branch: no` is the branch "no"), and the record's types decide.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.filters import quoted
from contextkit.base.records import FieldError, Record
from contextkit.base.type_names import Any, ClassVar

_MAX_YAML = 65_536  # bytes; nothing that we read as YAML comes near it


def from_yaml(text: str, where: str) -> Any:
    """The mapping, list, or string in a YAML document, every scalar a string.

    Raises ContextError naming `where` for invalid YAML, duplicate keys, tags, aliases (a few of
    them can expand to gigabytes), and documents over 64 KiB.
    """
    import yaml

    if len(text) > _MAX_YAML:
        raise bad_input(f"{where}: larger than {_MAX_YAML} bytes")
    try:
        return _strict_loader()(text).get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", "") or getattr(error, "reason", "not readable")
        raise bad_input(f"{where}: not valid YAML{line}: {problem}") from None
    except (RecursionError, ValueError):
        raise bad_input(f"{where}: not valid YAML") from None


def _strict_loader() -> Any:
    """PyYAML's BaseLoader, which makes only strings, refusing aliases, tags, and duplicate keys."""
    import yaml

    class StrictLoader(yaml.BaseLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.events.AliasEvent) or event.tag:
                problem = "aliases and tags are not read"
                raise yaml.constructor.ConstructorError(None, None, problem, event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if key.value in seen if isinstance(key.value, str) else True:
                    problem = f"the key {key.value!r} is given twice or is not text"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

    return StrictLoader


def front_matter(text: str, where: str) -> tuple[dict[str, Any], str]:
    """The front matter of a Markdown document as strings, and its body. Raises ContextError."""
    if own := _own_front_matter(text):
        return own
    from contextkit.base import packages

    packages.need("yaml", "frontmatter")
    import re

    from frontmatter.default_handlers import YAMLHandler

    # Its own pattern counts blank lines at the start of a body as part of the closing line.
    handler = YAMLHandler(fm_boundary=re.compile(r"^---[ \t\r]*$", re.MULTILINE))
    if not handler.detect(text):
        raise bad_input(f"{where}: no front matter: the first line must be `---`")
    try:
        head, body = handler.split(text)
    except ValueError:
        raise bad_input(f"{where}: the front matter has no closing `---`") from None
    values = from_yaml(head, f"{where}: front matter")
    if not isinstance(values, dict):
        raise bad_input(f"{where}: the front matter must be lines of `name: value`")
    return values, body.removeprefix("\n")


def _own_front_matter(text: str) -> tuple[dict[str, Any], str] | None:
    """Front matter that needs no YAML, and the body; None for any other."""
    end = text.find("\n---\n")
    if not text.startswith("---\n") or not 0 < end <= _MAX_YAML:
        return None
    values = plain_yaml(text[4:end])
    return (values, text[end + 5 :]) if values else None


def plain_yaml(text: str) -> dict[str, Any] | None:
    """Parse plain lines of `name: value` and `  - value`; None for what is left to YAML."""
    values: dict[str, Any] = {}
    items: list[str] | None = None
    indent = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.strip(" ")
        if not bare or bare[0] == "#":
            continue
        if bare[:2] == "- ":
            lead, item = line[: line.index("-")], _plain_scalar(bare[2:].strip(" "))
            is_aligned = bool(lead) and (not items or lead == indent)
            if items is None or item is None or not is_aligned:
                return None
            items.append(item)
            indent = lead
            continue
        name, colon, rest = line.partition(":")
        is_name = name.isidentifier() and name.isascii() and name not in values
        value = _plain_scalar(rest.strip(" "))
        is_field = bool(colon) and is_name and rest[:1] in ("", " ")
        if items == [] or not is_field:
            return None
        if not rest.strip(" "):
            items = values[name] = []
        elif value is None:
            return None
        else:
            values[name], items = value, None
    return values if values and items != [] else None


def _plain_scalar(text: str) -> str | None:
    """The string that every YAML reader makes of a scalar; None if they could disagree."""
    if not text.isprintable():
        return None
    if text[:1] == text[-1:] == '"' and "\\ud" not in text.lower():  # half of a surrogate pair
        try:
            return str(scan_json(text))
        except ValueError:
            return None
    if text[:1] == text[-1:] == "'" and len(text) > 1:
        return text[1:-1] if "'" not in text[1:-1] else None
    odd = ": " in text or " #" in text or text[-1:] == ":"
    plain = text[:1].isalnum() or text.startswith(("/", "~", ".", "_"))
    return text if plain and not odd else None


def build(kind: type[Record], values: dict[str, Any], where: str) -> Any:
    """Make a record of `kind` from text fields; an invalid, missing, or unknown field is named."""
    types = kind.fields()
    for name in values:
        if name not in types:
            raise bad_input(f"{where}: unknown field {name!r}{names.nearest(name, types)}")
    try:
        return kind(**{name: _typed(value, types[name]) for name, value in values.items()})
    except FieldError as error:
        if error.kind is not kind:
            raise
        name = error.field
        problem = f"must be {types[name]}, not {values[name]!r}" if name in values else "is missing"
        raise bad_input(f"{where}: {name} {problem}") from None


def build_known(kind: type[Record], values: dict[str, Any], where: str) -> Any:
    """As `build`, but ignores unknown fields."""
    return build(kind, {name: values[name] for name in kind.fields() if name in values}, where)


def _typed(value: Any, annotation: str) -> Any:
    """Convert a string to the number or boolean it spells, and a list to a tuple."""
    if annotation == "int" and isinstance(value, str) and names.is_whole(value):
        return int(value)
    if annotation == "bool" and value in ("true", "false"):
        return value == "true"
    if annotation.startswith("tuple[") and isinstance(value, list):
        return tuple(value)
    return value


_scan: Any = None


class _JsonRules:
    """The settings that Python's JSON scanner needs; the same ones that `json.loads` uses."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: ClassVar[dict[str, str]] = {}


def from_json(text: str, where: str) -> Any:
    """Parse the JSON `text`. Raises ContextError naming `where` and the line.

    The scanner behind the json module is used without that module, which costs half a bare start.
    """
    try:
        return scan_json(text)
    except ValueError:
        pass
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise ContextError(f"{where}: not valid JSON in line {line}") from None
    except RecursionError:
        raise ContextError(f"{where}: not valid JSON: nested too deeply") from None


def object_from_json(text: str, where: str) -> dict[str, Any]:
    """As `from_json`, but raises ContextError for anything but an object."""
    value = from_json(text, where)
    if not isinstance(value, dict):
        raise ContextError(f"{where}: is not a JSON object")
    return value


def scan_json(text: str) -> Any:
    """As `from_json`, but raises a bare ValueError; for text that often is not JSON."""
    global _scan
    try:
        if _scan is None:
            from _json import make_scanner

            _scan = make_scanner(_JsonRules)  # type: ignore[arg-type]
        start = len(text) - len(text.lstrip(" \t\r\n"))
        value, end = _scan(text, start)
    except (ImportError, StopIteration, RecursionError, SystemError) as error:
        # SystemError: before 3.12 the scanner needs the json module to report an error.
        raise ValueError(str(error)) from None
    if end != len(text) and text[end:].strip(" \t\r\n"):
        raise ValueError("more than one value")
    return value


def beginning(path: str, most: int) -> bytes:
    """The first bytes of a file, at most so many; none of one that cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
            return file.read(most)
    except (OSError, ValueError):  # a NUL in the path
        return b""


def tail(path: str, most: int) -> bytes:
    """The last bytes of a log, at most so many; none of one that cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most))
            return file.read(most)
    except (OSError, ValueError):  # a NUL in the path
        return b""


def object_in(data: bytes) -> dict[str, Any]:
    """The JSON object in a line of a log or a file, or {} for anything else, such as a cut line."""
    if not data.rstrip().endswith(b"}"):
        return {}  # newer Pythons import json just to report a cut line
    try:
        return inside(scan_json(data.decode("utf-8", "replace")))
    except ValueError:
        return {}


def inside(value: object, *names: str) -> dict[str, Any]:
    """The object in `value` below these names, one after the other; {} if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts_of(content: object) -> str:
    """The text of a model's message or a tool's result: a string, or its text blocks, in lines."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def to_json(value: object, margin: str = "") -> str:
    """`value` as JSON for programs: two-space indent, unescaped text; records become objects."""
    if isinstance(value, str):
        return quoted(value, always=True)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if value == value and abs(value) != float("inf") else "null"
    inner = margin + "  "
    if isinstance(value, list | tuple):
        items = [to_json(item, inner) for item in value]
        opening, closing = "[", "]"
    else:
        fields: dict[str, object] = value if isinstance(value, dict) else vars(value)
        names = {name: f'"{name}"' if str(name).isidentifier() else to_json(str(name))
                 for name in fields}  # fmt: skip
        items = [f"{names[name]}: {to_json(field, inner)}" for name, field in fields.items()]
        opening, closing = "{", "}"
    if not items:
        return opening + closing
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}{closing}"
