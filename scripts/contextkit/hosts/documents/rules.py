"""What a host takes from a hook, by its own published rules; for doctor and the contract tests.

Written from the hosts' documents and not from `hosts.py`, so that the two can disagree.
"""

from __future__ import annotations

from contextkit.base import formats, tokens
from contextkit.base.errors import ContextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Where text can be handed to the agent, and where the agent can be sent back.
_CONTEXT = {
    "claude": ("SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop",
               "PreToolUse", "PostToolUse", "PostToolUseFailure"),
    "codex": ("SessionStart", "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUse"),
}  # fmt: skip
_BLOCK = {
    "claude": ("UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop", "PreCompact"),
    "codex": ("UserPromptSubmit", "PostToolUse", "SubagentStop", "Stop"),
}
# Text that is no JSON is context here, and a mistake everywhere else.
_PLAIN = {
    "claude": ("SessionStart", "UserPromptSubmit"),
    "codex": ("SessionStart", "UserPromptSubmit", "SubagentStart"),
}
_SILENT = ("SessionEnd", "PostCompact", "StopFailure")  # whatever is said there, nobody hears it
_COMMON = {"continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
_DECISION = {"decision": str, "reason": str}
_CHARACTERS = 10_000  # of a text for Claude Code; more is spilled to a file
_TOKENS = 2500  # of a text for Codex, as far as an estimate can tell


def problems(host: str, event: str, status: int, stdout: str) -> list[str]:
    """What the host would not take, a sentence each; nothing where it takes all of it."""
    found = [f"exit status {status}: only 0 is sure not to stand in the way"] if status else []
    text = stdout.strip()
    if not text:
        return found
    if event in _SILENT or (host == "codex" and event == "PreCompact"):
        return [*found, f"says something, and {event} takes nothing"]
    if not text.startswith("{"):
        if event not in _PLAIN[host]:
            found.append(f"plain text: {event} takes JSON")
        return found + _too_long(host, text)
    try:
        said = formats.from_json(text, "output")
    except ContextError as error:
        return [*found, str(error)]
    return found + _of_object(host, event, said)


def _of_object(host: str, event: str, said: dict[str, Any]) -> list[str]:
    found = []
    known = {**_COMMON, **_DECISION, "hookSpecificOutput": dict}
    for name, value in said.items():
        if name not in known:
            found.append(f"unknown key {name!r}")
        elif not isinstance(value, known[name]):
            found.append(f"{name} must be {known[name].__name__}")
    if "decision" in said:
        if event not in _BLOCK[host]:
            found.append(f"a decision, and {event} takes none")
        if said["decision"] != "block":
            found.append(f"decision must be 'block', not {said['decision']!r}")
        if not str(said.get("reason") or "").strip():
            found.append("a block without a reason")
    elif "reason" in said:
        found.append("a reason without a decision")
    inner = said.get("hookSpecificOutput")
    return found + (_of_inner(host, event, inner) if isinstance(inner, dict) else [])


def _of_inner(host: str, event: str, inner: dict[str, Any]) -> list[str]:
    found = []
    if event not in _CONTEXT[host]:
        found.append(f"hookSpecificOutput, and {event} takes none")
    if inner.get("hookEventName") != event:
        found.append(f"hookEventName must be {event!r}, not {inner.get('hookEventName')!r}")
    found += [
        f"unknown key {n!r}" for n in inner if n not in ("hookEventName", "additionalContext")
    ]
    text = inner.get("additionalContext", "")
    if not isinstance(text, str):
        return [*found, "additionalContext must be text"]
    return found + _too_long(host, text)


def _too_long(host: str, text: str) -> list[str]:
    if host == "claude" and len(text) > _CHARACTERS:
        return [f"{len(text)} characters: above {_CHARACTERS} it goes into a file"]
    if host == "codex" and tokens.estimate(text) > _TOKENS:
        return [f"~{tokens.estimate(text)} tokens: above {_TOKENS} it goes into a file"]
    return []
