"""Our hooks in a host's settings: list them, merge them in, and take them out.

`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": …}]}]}}`; a `flat` host has no groups
but a version. A handler is ours if it starts a `scripts/hook.sh` for a host by name; nothing else
is considered. The file belongs to its owner, so all that is not ours stays as it is, byte for byte:
order, indentation and number formats.
"""

from __future__ import annotations

import json

from contextkit.base.errors import bad_input
from contextkit.base.type_names import Any, Iterator
from contextkit.hosts.documents.contracts import LAUNCHER, Host

Path = tuple[str | int, ...]  # of keys and indexes: ("hooks", "Stop", 0)
Entry = tuple[str | int, int, int, int]  # key, start of the entry, start and end of its value

_KEY = "hooks"
_BLANK = " \t\r\n"
_decoder = json.JSONDecoder()
# A host that does not name the project's folder starts a hook in the agent's directory, which may
# be below the folder that has the toolkit.
_SEARCH = (
    '/bin/sh -c \'d=$PWD; while [ -n "$d" ] && [ ! -f "$d/{0}" ]; do d=${{d%/*}}; done;'
    ' [ -z "$d" ] || exec /bin/sh "$d/{0}" {1} --host={2}\''
)


def handler(host: Host, event: str, toolkit: str) -> dict[str, object]:
    """The handler for `event`; `toolkit` is relative to the project, or absolute."""
    launcher, linked = f"{toolkit}/{LAUNCHER}", toolkit.startswith("/")
    arguments = [event, f"--host={host.name}", *(["--linked"] if linked else [])]
    more: dict[str, object] = {}
    if not host.project:
        command = _SEARCH.format(launcher, event, host.name)
    elif host.arguments:
        command = launcher if linked else f"${{{host.project}}}/{launcher}"
        more = {"args": arguments}
    else:
        place = f"'{launcher}'" if linked else f'"${{{host.project}}}"/{launcher}'
        command = " ".join([place, *arguments])
    timeout = host.events[event].timeout * host.timeouts
    return {"type": "command", "command": command, **more, "timeout": timeout}


def events(host: Host, outputs: bool = True) -> list[str]:
    """The events for our hooks; those that are only for tools if `outputs`."""
    return [n for n, event in host.events.items() if outputs or event.matcher or not event.tools]


def wanted(host: Host, toolkit: str, outputs: bool = True) -> dict[str, dict[str, object]]:
    """The entry for the list of each of those events: our handler, in its group."""
    return {event: grouped(host, event, handler(host, event, toolkit), outputs)
            for event in events(host, outputs)}  # fmt: skip


def grouped(
    host: Host, event: str, item: dict[str, object], outputs: bool = True
) -> dict[str, object]:
    """A handler with the tools that its event is about; a flat host has no groups."""
    matcher = host.events[event].about(outputs)
    return item if host.flat else ({"matcher": matcher} if matcher else {}) | {_KEY: [item]}


def merged(
    text: str, wanted: dict[str, dict[str, object]], before: str | None, where: str,
    flat: bool = False,
) -> tuple[str, str | None]:  # fmt: skip
    """The settings with each wanted entry once, and the text `before` that `removed` needs.

    The latter is None if it is not needed. Raises ContextError for settings that no host reads.
    """
    if text.strip():
        parsed = _parse(text, where)
        check(parsed, where)
        there = [(event, parsed[_KEY][event][group]) for event, group, *_ in _handlers(parsed)]
        if dict(there) == wanted and len(there) == len(wanted):
            return text, before
        text = removed(text, before, where)
    made = text if text.strip() else "{}\n"
    if flat and "version" not in _parse(made, where):
        made = _add(made, (), "version", 1)
    for event, item in wanted.items():
        for path, key, empty in (((), _KEY, {}), ((_KEY,), event, [])):
            try:
                _span(made, (*path, key))
            except KeyError:
                made = _add(made, path, key, empty)
        made = _add(made, (_KEY, event), "", item)
    return made, None if removed(made, None, where) == text else text


def check(settings: dict[str, Any], where: str) -> None:
    """Raise ContextError if `hooks` is not in the form that hosts accept."""
    hooks = settings.get(_KEY, {})
    fits = isinstance(hooks, dict) and all(isinstance(groups, list) for groups in hooks.values())
    if not fits:
        raise bad_input(f"{where}: `hooks` must be an object of lists: fix it; nothing written")


def _handlers(settings: dict[str, Any]) -> Iterator[tuple[str, int, int, dict[str, Any]]]:
    """(event, group, place in it, handler) for each of our handlers."""
    hooks = settings.get(_KEY)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            if _is_ours(group):
                yield event, index, 0, group
            inside = group.get(_KEY) if isinstance(group, dict) else None
            for place, handler in enumerate(inside if isinstance(inside, list) else ()):
                if _is_ours(handler):
                    yield event, index, place, handler


def read(text: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    """(event, handler) of each of our handlers. Raises ContextError for bad settings."""
    return [(event, handler) for event, _, _, handler in _handlers(_parse(text, where))]


def _is_ours(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    words = [item.get("command"), *(item["args"] if isinstance(item.get("args"), list) else ())]
    text = " ".join(word for word in words if isinstance(word, str))
    return f"/{LAUNCHER}" in text and "--host=" in text


def removed(text: str, before: str | None, where: str) -> str:
    """The settings without our handlers, and without anything that is empty then.

    If they then equal `before`, their text before adoption, they become that, byte for byte.
    """
    parsed = _parse(text, where)
    containers: dict[Path, None] = {}
    for event, group, place, _ in reversed(list(_handlers(parsed))):
        whole = all(map(_is_ours, parsed[_KEY][event][group].get(_KEY, ())))
        if whole and place:
            continue  # the group is removed with its first handler
        text = _remove(text, (_KEY, event, group) if whole else (_KEY, event, group, _KEY, place))
        containers[_KEY, event] = None
    for container in (*containers, (_KEY,)) if containers else ():
        start, _ = _span(text, container)
        text = text if _entries(text, start) else _remove(text, container)
    if before is not None and _filled(before, where) == _filled(text, where):
        return before
    return text


def _filled(text: str, where: str) -> dict[str, Any]:
    """The content of settings, without events that have no hooks."""
    parsed = _parse(text if text.strip() else "{}", where)
    check(parsed, where)
    hooks = {event: groups for event, groups in parsed.get(_KEY, {}).items() if groups}
    return {**parsed, _KEY: hooks}


def _parse(text: str, where: str) -> dict[str, Any]:
    """Parse the object in `text`. Raises ContextError, with the line, for anything else."""
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        comment = text[error.pos :].startswith(("//", "/*", "#"))
        why = "comments are not valid JSON" if comment else error.msg
        mend = "fix that line, then run this again; nothing was written"
        raise bad_input(f"{where}:{error.lineno}: not valid JSON ({why}): {mend}") from None
    except RecursionError:
        raise bad_input(f"{where}: not valid JSON: nested too deeply") from None
    if not isinstance(parsed, dict):
        raise bad_input(f"{where}: must be a JSON object: fix it, then run this again")
    return parsed


def _span(text: str, path: Path) -> tuple[int, int]:
    """Where the value at `path` begins and ends; raises KeyError if there is none."""
    start = _skip(text, 0)
    for key in path:
        start = next((e[2] for e in reversed(_entries(text, start)) if e[0] == key), -1)
        if start < 0:
            raise KeyError(path)
    return start, _decoder.raw_decode(text, start)[1]


def _entries(text: str, start: int) -> list[Entry]:
    """The entries of the object or array that begins at `start`."""
    closing = {"{": "}", "[": "]"}[text[start]]
    entries: list[Entry] = []
    at = _skip(text, start + 1)
    while text[at] != closing:
        begin, key = at, len(entries)
        named: str | int = key
        if closing == "}":
            named, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _decoder.raw_decode(text, at)[1]
        entries.append((named, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return entries


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _add(text: str, path: Path, key: str, value: object) -> str:
    """Append `value`, on one line, to the object (under `key`) or array at `path`."""
    start, end = _span(text, path)
    inside = _entries(text, start)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if text[start] == "{" else ""
    made = name + json.dumps(value, ensure_ascii=False)
    if inside:
        _, begin, _, last = inside[-1]
        margin = text[len(text[:begin].rstrip(_BLANK)) : begin]
        between = margin if "\n" in margin else " "
        return f"{text[:last]},{between}{made}{text[last:]}"
    if "\n" in text.strip() or not path:
        lines = text.split("\n")
        step = next((lead for line in lines if (lead := _lead(line)) and line.strip()), "  ")
        line_end = "\r\n" if "\r\n" in text else "\n"
        outer = line_end + _lead(text[text.rfind("\n", 0, start) + 1 : start])
        made = f"{outer}{step}{made}{outer}"
    return f"{text[: start + 1]}{made}{text[end - 1 :]}"


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _remove(text: str, path: Path) -> str:
    """Remove the entry at `path` with its separating comma; return the new text."""
    start, end = _span(text, path[:-1])
    inside = _entries(text, start)
    place = max(i for i, entry in enumerate(inside) if entry[0] == path[-1])
    if place:
        return text[: inside[place - 1][3]] + text[inside[place][3] :]
    if len(inside) > 1:
        return text[: inside[0][1]] + text[inside[1][1] :]
    return text[: start + 1] + text[end - 1 :]
