"""JSON, YAML and front matter, to and from checked records.

All text of users and agents becomes objects here, once; what is wrong is said by field.
YAML is read with every scalar as the text that stands there: `branch: no` is the branch
"no", `version: 0.10` keeps its zero, a time stays a string, and the record's own types
decide. The packages are imported inside the functions: few commands need them.
"""

from __future__ import annotations

from contextkit.errors import ContextError, bad_input
from contextkit.records import Record, fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_YAML = 65_536  # bytes; nothing that we read as YAML is near it


def from_yaml(text: str, where: str) -> Any:
    """The mapping, list or string in a YAML document, every scalar a string.

    Raises ContextError, naming `where`, for what is not YAML, a key given twice, aliases
    (a few of them can stand for gigabytes) and documents above 64 KiB.
    """
    import yaml

    if len(text) > _MAX_YAML:
        raise bad_input(f"{where}: larger than {_MAX_YAML} bytes")
    loader = _strict_loader()(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not readable"
        raise bad_input(f"{where}: not valid YAML{line}: {problem}") from None
    except (RecursionError, ValueError):
        raise bad_input(f"{where}: not valid YAML") from None
    finally:
        loader.dispose()


def _strict_loader() -> Any:
    """PyYAML's BaseLoader, which makes only strings, refusing aliases and double keys."""
    import yaml

    class StrictLoader(yaml.BaseLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise yaml.constructor.ConstructorError(None, None, "aliases are not read", mark)
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
    """The front matter of a Markdown document as strings, and the body exactly as it stands.

    Raises ContextError when there is none, it has no end, or it is not a mapping.
    """
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
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


def build(kind: type[Record], values: dict[str, Any], where: str) -> Any:
    """A record of `kind` from text fields; a wrong, missing or surplus one is refused by name."""
    known = kind.fields()
    for name in values:
        if name not in known:
            from contextkit import settings

            raise bad_input(f"{where}: unknown field {name!r}{settings.nearest(name, known)}")
    typed: dict[str, Any] = {}
    for name, annotation in known.items():
        if name in values:
            value = _typed(values[name], annotation)
            if not fits(value, annotation, kind):
                raise bad_input(f"{where}: {name} must be {annotation}, not {values[name]!r}")
            typed[name] = value
        elif not hasattr(kind, name):
            raise bad_input(f"{where}: {name} is missing")
    return kind(**typed)


def _typed(value: Any, annotation: str) -> Any:
    """A string as the number or truth value it spells, a list as a tuple; else as it is."""
    if annotation == "int" and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if annotation == "bool" and value in ("true", "false"):
        return value == "true"
    if annotation.startswith("tuple[") and isinstance(value, list):
        return tuple(value)
    return value


def from_json(text: str, where: str) -> Any:
    """What the JSON `text` says. Raises ContextError naming `where` and the line."""
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise ContextError(f"{where}: not valid JSON in line {line}") from None
    except RecursionError:
        raise ContextError(f"{where}: not valid JSON: nested too deeply") from None


def to_json(value: object) -> str:
    """`value` as JSON for programs: two-space indent, text as it is; records become objects."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False, default=lambda record: vars(record))
