"""Fire a hook in this process, as a host would, and read its answer; what a host rejects of one."""

from __future__ import annotations

import json
from typing import Any

from contextkit.base import formats, tokens
from contextkit.base.errors import ContextError
from contextkit.hosts.documents.contracts import Host, find
from contextkit.hosts.flows import runner
from documented import CHARACTERS, TOKENS

_COMMON = {"continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
_INNER = {
    "context": "additionalContext",
    "replace": "updatedToolOutput",
    "rewrite": "updatedInput",
}
_DECISION = {"decision": str, "reason": str}


def answer(event: str, host: str = "claude", **passed: Any) -> dict[str, Any]:
    """What the hook prints, which its host takes; an empty object where it says nothing."""
    given = {"session_id": "s-1", "hook_event_name": event, **passed}
    said = runner.run([event, f"--host={host}"], json.dumps(given).encode())
    assert problems(host, event, 0, said) == []
    found: dict[str, Any] = json.loads(said) if said else {}
    return found


def fire(event: str, host: str = "claude", **passed: Any) -> str:
    """What the agent is told, or why it is sent back; empty where it is neither."""
    said = answer(event, host, **passed)
    return str(
        said.get("reason") or said.get("hookSpecificOutput", {}).get("additionalContext", "")
    )


def problems(host: str, event: str, status: int, stdout: str) -> list[str]:
    """Return what the host would reject, one sentence each; empty if it accepts everything."""
    found = [f"exit status {status}: only 0 is certain not to block the host"] if status else []
    text = stdout.strip()
    if not text:
        return found
    known = find(host)
    takes = known.events[event].takes if event in known.events else ()
    if not takes:
        return [*found, f"prints something, but {event} takes nothing"]
    if not text.startswith("{"):
        if "plain" not in takes:
            found.append(f"plain text: {event} takes only JSON")
        return found + _too_long(known, text)
    try:
        said = formats.from_json(text, "output")
    except ContextError as error:
        return [*found, str(error)]
    return found + _of_object(known, event, said)


def _keys(host: Host, takes: tuple[str, ...]) -> dict[str, type]:
    """Return the top-level keys that an answer may have, with their types."""
    found: dict[str, type] = {**_COMMON, **_DECISION}
    if not host.flat:
        found["hookSpecificOutput"] = dict
    elif "context" in takes:
        found[host.context_key] = str
    if host.block_key and "block" in takes:
        found[host.block_key] = str
    if "respond" in takes:
        found["modifiedResponse"] = str
    if "modify" in takes:
        found["modifiedResult"] = dict
    return found


def _of_object(host: Host, event: str, said: dict[str, Any]) -> list[str]:
    found = []
    takes = host.events[event].takes
    known = _keys(host, takes)
    for name, value in said.items():
        if name not in known:
            found.append(f"unknown key {name!r}")
        elif not isinstance(value, known[name]):
            found.append(f"{name} must be {known[name].__name__}")
    if "decision" in said:
        if not {"block", "instead"} & set(takes):
            found.append(f"a decision, but {event} takes none")
        if said["decision"] != "block":
            found.append(f"decision must be 'block', not {said['decision']!r}")
        if not str(said.get("reason") or "").strip():
            found.append("a block without a reason")
    elif "reason" in said:
        found.append("a reason without a decision")
    inner = said.get("hookSpecificOutput")
    found += _too_long(host, str(said.get(host.context_key) or ""))
    return found + (_of_inner(host, event, inner) if isinstance(inner, dict) else [])


def _of_inner(host: Host, event: str, inner: dict[str, Any]) -> list[str]:
    found = []
    takes = host.events[event].takes
    allowed = [key for word, key in _INNER.items() if word in takes]
    if "rewrite" in takes:
        allowed.append("permissionDecision")
        if inner.get("permissionDecision", "allow") != "allow":
            found.append("permissionDecision may only be 'allow': the user's rules decide the rest")
    if not allowed:
        found.append(f"hookSpecificOutput, but {event} takes none")
    if inner.get("hookEventName") != event:
        found.append(f"hookEventName must be {event!r}, not {inner.get('hookEventName')!r}")
    found += [f"unknown key {n!r}" for n in inner if n not in ("hookEventName", *allowed)]
    text = inner.get("additionalContext", "")
    if not isinstance(text, str):
        return [*found, "additionalContext must be text"]
    return found + _too_long(host, text)


def _too_long(host: Host, text: str) -> list[str]:
    if len(text) > CHARACTERS.get(host.name, len(text)):
        return [f"{len(text)} characters: above {CHARACTERS[host.name]} it goes into a file"]
    if (size := tokens.estimate(text)) > TOKENS.get(host.name, size):
        return [f"~{size} tokens: above {TOKENS[host.name]} it goes into a file"]
    return []
