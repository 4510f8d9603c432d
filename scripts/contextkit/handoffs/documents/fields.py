"""What a handoff may carry: the fields of an artifact or a draft, and nothing else.

A draft has the artifact's shape or the names of the make variables, with or without the
`handoff:` around it, as YAML or JSON. What is not listed here is dropped, wherever it stands:
that is how no persona, command list or tool setting ever gets into an artifact.
"""

from __future__ import annotations

from contextkit.base import formats, names, packages
from contextkit.base.errors import ContextError, bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]

# What each key means; in `story_context` and beside it, as variables are.
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
_CHANGES = ("created", "modified", "deleted")  # a list of files may be told by these
_EXACT = ("story_id", "story_path", "current_task", "branch")
_ARTIFACT = frozenset(["handoff", "from_agent", "to_agent", "story_context", "next_action"])
_NOTHING = ("", "none", "null", "n/a", "-", "[]")


def read(text: str, where: str) -> tuple[Fields, tuple[str, ...]]:
    """The fields in a document, and a sentence for everything that is not carried over.

    Raises ContextError for what is not a document of names and values.
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
            f"{where}: is no handoff: lines of `name: value`, as `handoff show` has them"
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
    """What a YAML file says; of several documents in it, what the first artifact says."""
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
            fields[name] = clean(name, _said(value))
    elif key in _LISTS and not above:
        fields[_LISTS[key]] = tuple(_items(key, value, dropped))
    else:
        dropped.append(f"{above}{key}: is not carried over")


def clean(name: str, text: str) -> str:
    """A text as an artifact holds it: one line, but what names story and place stays as it is."""
    if name not in _EXACT:
        return names.one_line(text)
    return text.encode("utf-8", "replace").decode("utf-8").strip()  # half characters go


def items(values: tuple[str, ...]) -> tuple[str, ...]:
    """A list as an artifact holds it: each item a line, blank ones left out."""
    return tuple(item for item in map(names.one_line, values) if item)


def is_nothing(text: str) -> bool:
    """Whether a word given in place of a list says that there is nothing: `blockers: none`."""
    return text.strip().lower() in _NOTHING


def _said(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else formats.to_json(value)


def _items(key: str, value: Any, dropped: list[str]) -> list[str]:
    """The items of a list; one text is one item, and files may be told by what happened to them."""
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
        return [] if is_nothing(_said(value)) else list(items((_said(value),)))
    found = []
    for number, item in enumerate(value, start=1):
        if isinstance(item, list | dict):
            dropped.append(f"{key}, item {number}: is not a line of text and is not carried over")
        else:
            found += items((_said(item),))
    return found
