"""What a handoff may carry: the fields of an artifact or a draft, and nothing else.

A draft uses the artifact's layout or the names of the make variables, with or without the enclosing
`handoff:`, as YAML or JSON. Any field not listed here is dropped at any depth, so that no persona,
command list or tool setting ever gets into an artifact.
"""

from __future__ import annotations

from contextkit.base import formats, names, packages
from contextkit.base.errors import ContextError, bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]

# The field for each key, inside `story_context` or, as with make variables, outside of it.
_STORY = {
    "story_id": "story_id",
    "story_path": "story_path",
    "story_status": "story_status",
    "current_task": "current_task",
    "task": "current_task",
    "branch": "branch",
}
_TEXTS = _STORY | {
    "from_agent": "from_agent",
    "from": "from_agent",
    "to_agent": "to_agent",
    "to": "to_agent",
    "next_action": "next_action",
    "last_command": "last_command",
    "version": "version",
    "timestamp": "timestamp",
    "sequence": "sequence",
    "consumed": "consumed",
    "session": "session",
    "facts_kept": "facts_kept",
}
_LISTS = {
    "decisions": "decisions",
    "files_modified": "files_modified",
    "files": "files_modified",
    "blockers": "blockers",
    "rejected": "rejected",
    "resolved": "resolved",
}
_CHANGES = ("created", "modified", "deleted")  # keys that may group a list of files
_EXACT = ("story_id", "story_path", "current_task", "branch")
_ARTIFACT = frozenset(["handoff", "from_agent", "to_agent", "story_context", "next_action"])
_NOTHING = ("", "none", "null", "n/a", "-", "[]")


def read(text: str, where: str) -> tuple[Fields, tuple[str, ...]]:
    """Return the fields in a document, and a message for everything that is not carried over.

    Raises ContextError unless the document is a mapping of names to values.
    """
    bare = text.lstrip("\ufeff \t\r\n")
    if bare[:1] == "{":
        found = formats.from_json(text, where)
    else:
        packages.need("yaml")
        found = _first_artifact(text, where)
    if isinstance(found, dict) and isinstance(found.get("handoff"), dict):
        dropped = [f"{key}: is not carried over" for key in found if key != "handoff"]
        found = found["handoff"]
    else:
        dropped = []
    if not isinstance(found, dict):
        raise bad_input(
            f"{where}: not a handoff: write lines of `name: value`, as handoff_show prints them"
        )
    fields: Fields = {}
    for key, value in found.items():
        if key == "story_context" and isinstance(value, dict):
            for inner, said in value.items():
                _take(fields, dropped, _STORY, inner, said, "story_context.")
        else:
            _take(fields, dropped, _TEXTS, key, value, "")
    return fields, tuple(names.one_line(line)[:200] for line in dropped)


def _first_artifact(text: str, where: str) -> Any:
    """Load a YAML file; of several documents, return the first one that is an artifact."""
    documents = "\n".join(text.splitlines()).split("\n---")
    if len(documents) > 1 and any(document.strip() for document in documents[1:]):
        for document in documents:
            try:
                found = formats.from_yaml(document.removeprefix("---"), where)
            except ContextError:
                continue
            if isinstance(found, dict) and not _ARTIFACT.isdisjoint(found):
                return found
    return formats.from_yaml(text, where)


def _take(
    fields: Fields, dropped: list[str], texts: dict[str, str], key: str, value: Any, above: str
) -> None:
    if key in texts:
        name = texts[key]
        if isinstance(value, list | dict):
            dropped.append(f"{above}{key}: is not a line of text and is not carried over")
        elif name == "consumed":
            fields[name] = str(value).lower() == "true"
        elif name == "sequence":
            digits = str(value)
            whole = names.is_whole(digits, 9)
            fields[name] = int(digits) if whole else 0
        else:
            fields[name] = clean(name, _as_text(value))
    elif key in _LISTS and not above:
        fields[_LISTS[key]] = tuple(_items(key, value, dropped))
    else:
        dropped.append(f"{above}{key}: is not carried over")


def clean(name: str, text: str) -> str:
    """Normalize a text to one line, but keep story id, story path, task and branch unchanged."""
    if name not in _EXACT:
        return names.one_line(text)
    return text.encode("utf-8", "replace").decode("utf-8").strip()  # replaces lone surrogates


def items(values: tuple[str, ...]) -> tuple[str, ...]:
    """Normalize a list: each item on one line, blank items left out."""
    return tuple(item for item in map(names.one_line, values) if item)


def is_nothing(text: str) -> bool:
    """Whether a word in place of a list means that there is nothing, as in `blockers: none`."""
    return text.strip().lower() in _NOTHING


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else formats.to_json(value)


def _items(key: str, value: Any, dropped: list[str]) -> list[str]:
    """The items of a list; a text is one item, and files may be grouped by what changed."""
    if isinstance(value, dict) and _LISTS[key] == "files_modified":
        found = []
        for change, paths in value.items():
            if change in _CHANGES:
                found += [f"{path} ({change})" for path in _items(key, paths, dropped)]
            else:
                dropped.append(f"{key}.{change}: is not carried over")
        return found
    if isinstance(value, dict):
        dropped.append(f"{key}: is not a list and is not carried over")
        return []
    if not isinstance(value, list):
        return [] if is_nothing(_as_text(value)) else list(items((_as_text(value),)))
    found = []
    for number, item in enumerate(value, start=1):
        if isinstance(item, list | dict):
            dropped.append(f"{key}, item {number}: is not a line of text and is not carried over")
        else:
            found += items((_as_text(item),))
    return found
