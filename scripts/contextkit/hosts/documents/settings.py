"""Our hooks in a host's settings: list them, merge them in, and take them out.

`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": …}]}]}}`; a `flat` host has no groups
but a version. A handler is ours if it starts a `scripts/hook.sh` for a host by name; nothing else
is considered.
"""

from __future__ import annotations

from contextkit.base.errors import bad_input
from contextkit.hosts.documents import json_edits
from contextkit.hosts.documents.contracts import Host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from contextkit.hosts.documents.json_edits import Path

LAUNCHER = "scripts/hook.sh"
_KEY = "hooks"
# A host that does not name the project's folder starts a hook in the agent's directory, which may
# be below the folder that has the toolkit.
_SEARCH = (
    '/bin/sh -c \'d=$PWD; while [ -n "$d" ] && [ ! -f "$d/{0}" ]; do d=${{d%/*}}; done;'
    ' [ -z "$d" ] || exec /bin/sh "$d/{0}" {1} --host={2}\''
)


def handler(host: Host, event: str, toolkit: str) -> dict[str, object]:
    """Return the handler for `event`; `toolkit` is relative to the project, or absolute."""
    timeout = host.events[event].timeout * host.timeouts
    launcher = f"{toolkit}/{LAUNCHER}"
    if not host.project:
        command = _SEARCH.format(launcher, event, host.name)
        return {"type": "command", "command": command, "timeout": timeout}
    arguments = [event, f"--host={host.name}"]
    if host.arguments:
        place = launcher if launcher.startswith("/") else f"${{{host.project}}}/{launcher}"
        return {"type": "command", "command": place, "args": arguments, "timeout": timeout}
    place = f"'{launcher}'" if launcher.startswith("/") else f'"${{{host.project}}}"/{launcher}'
    command = " ".join([place, *arguments])
    return {"type": "command", "command": command, "timeout": timeout}


def events(host: Host, outputs: bool = False) -> list[str]:
    """Return the events for our hooks; those that only replace long `outputs` on request."""
    return [n for n, event in host.events.items() if outputs or event.matcher or not event.tools]


def wanted(host: Host, toolkit: str, outputs: bool = False) -> dict[str, dict[str, object]]:
    """Return our handler for each of those events."""
    return {event: handler(host, event, toolkit) for event in events(host, outputs)}


def matchers(host: Host, outputs: bool = False) -> dict[str, str]:
    """Return the tools that each tool event is about."""
    found = {}
    for name in events(host, outputs):
        event = host.events[name]
        if event.tools and outputs:
            tools = [f"{tool}.+" if tool.endswith("_") else tool for tool in event.tools]
            found[name] = f"^({'|'.join(filter(None, [event.matcher, *tools]))})$"
        elif event.matcher:
            found[name] = event.matcher
    return found


def merged(
    text: str,
    handlers: dict[str, dict[str, object]],
    emptied: dict[str, str],
    where: str,
    only: dict[str, str] | None = None,
    flat: bool = False,
) -> tuple[str, dict[str, str]]:
    """Return the settings with our handlers, each once, and the containers that were empty.

    Those (`{"hooks/Stop": "[]"}`, as returned by the last merge) make it possible to restore the
    original text. Raises ContextError for settings that no host reads.
    """
    if text.strip():
        parsed = json_edits.parse(text, where)
        check(parsed, where)
        there = list(ours(parsed))
        tools = {event: _matcher(parsed, event, group) for event, group, *_ in _handlers(parsed)}
        same = all(tools.get(event) == matcher for event, matcher in (only or {}).items())
        if same and dict(there) == handlers and len(there) == len(handlers):
            return text, emptied
        text = removed(text, emptied, where)
    emptied = _empty(text, list(handlers))
    text = text if text.strip() else "{}\n"
    if flat and "version" not in json_edits.parse(text, where):
        text = json_edits.add(text, (), "version", 1)
    for event, one in handlers.items():
        for path, key, empty in (((), _KEY, {}), ((_KEY,), event, [])):
            try:
                json_edits.span(text, (*path, key))
            except KeyError:
                text = json_edits.add(text, path, key, empty)
        matcher = (only or {}).get(event)
        group = ({"matcher": matcher} if matcher else {}) | (one if flat else {_KEY: [one]})
        text = json_edits.add(text, (_KEY, event), "", group)
    return text, emptied


def _empty(text: str, events: list[str]) -> dict[str, str]:
    """Return the empty containers that our handlers will go into, as written."""
    if not text.strip():
        return {"": text}
    found: dict[str, str] = {}
    for path in ((), (_KEY,), *((_KEY, event) for event in events)):
        try:
            start, end = json_edits.span(text, path)
        except KeyError:
            continue
        if not json_edits.entries(text, start):
            found["/".join(path)] = text[start:end] if path else text
    return found


def check(settings: dict[str, Any], where: str) -> None:
    """Raise ContextError if `hooks` is not in the form that hosts accept."""
    hooks = settings.get(_KEY, {})
    fits = isinstance(hooks, dict) and all(isinstance(groups, list) for groups in hooks.values())
    if not fits:
        raise bad_input(f"{where}: `hooks` must be an object of lists: fix it; nothing written")


def _handlers(settings: dict[str, Any]) -> Iterator[tuple[str, int, int, dict[str, Any], int]]:
    """Yield (event, group, place in it, handler, size of the group) for each of our handlers."""
    hooks = settings.get(_KEY)
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            if _is_ours(group):
                yield event, index, 0, group, 1
            inside = group.get(_KEY) if isinstance(group, dict) else None
            handlers = inside if isinstance(inside, list) else []
            for place, one in enumerate(handlers):
                if _is_ours(one):
                    yield event, index, place, one, len(handlers)


def _matcher(settings: dict[str, Any], event: str, group: int) -> object:
    return settings[_KEY][event][group].get("matcher")


def ours(settings: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return (event, handler) of each of our handlers."""
    for event, _, _, one, _ in _handlers(settings):
        yield event, one


def read(text: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    """Return `ours` for a settings file's text. Raises ContextError for what no host reads."""
    return list(ours(json_edits.parse(text, where)))


def _is_ours(one: object) -> bool:
    if not isinstance(one, dict):
        return False
    words = [one.get("command"), *(one["args"] if isinstance(one.get("args"), list) else ())]
    text = " ".join(word for word in words if isinstance(word, str))
    return f"/{LAUNCHER}" in text and "--host=" in text


def removed(text: str, emptied: dict[str, str], where: str) -> str:
    """Return the settings without our handlers; containers that were empty before are restored."""
    parsed = json_edits.parse(text, where)
    touched = []
    for event, group, place, _, size in reversed(list(_handlers(parsed))):
        whole = size == 1 or not _others(parsed, event, group)
        if whole and place:
            continue  # the group is removed with its first handler
        path = (_KEY, event, group) if whole else (_KEY, event, group, _KEY, place)
        text = json_edits.remove(text, path)
        touched.append(event)
    for event in dict.fromkeys(touched):
        text = _emptied(text, (_KEY, event), emptied)
    return _emptied(text, (_KEY,), emptied) if touched else text


def _others(settings: dict[str, Any], event: str, group: int) -> bool:
    return not all(map(_is_ours, settings[_KEY][event][group][_KEY]))


def _emptied(text: str, path: Path, emptied: dict[str, str]) -> str:
    """Return `text` without the container at `path` if nothing is left in it."""
    start, _ = json_edits.span(text, path)
    if json_edits.entries(text, start):
        return text
    before = emptied.get("/".join(map(str, path)))
    if before is not None:
        return json_edits.replace(text, path, before)
    text = json_edits.remove(text, path)
    if len(path) == 1 and "" in emptied and not json_edits.parse(text, "settings"):
        return emptied[""]
    return text
