"""The one door for what leaves: stdout, a hook's answer, an export, a committed document.

Harmless text stays as it is, character for character, and a text that has passed does not change.
"""

from __future__ import annotations

import os

from contextkit.base import names, redaction
from contextkit.base.redaction import Allowed
from contextkit.base.type_names import Any

# Tags in which hosts wrap what is theirs; in a text they would pass for the host's own words.
TAGS = (
    "system-reminder", "system_reminder", "system-message", "system_message", "system>",
    "command-name", "command-message", "command-args", "command-contents", "local-command",
    "bash-input", "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook",
    "session-start-hook", "new-diagnostics", "persisted-output", "tool_use_error", "function_calls",
    "function_results", "fnr>", "invoke ", "invoke>", "parameter name", "antml:", "tool_call",
    "tool_use>", "tool_result", "tool_response", "environment_context", "environment_details",
    "user_instructions", "user_query", "user_info", "user_shell_command", "instructions>",
    "subagent_notification", "turn_aborted", "permissions", "collaboration_mode", "skill>",
    "skills_instructions", "apps_instructions", "plugins_instructions", "hook_context",
    "session_context", "additional_data", "attached_files", "open_and_recently_viewed_files",
    "available_skills", "assistant>", "human>", "thinking>", "think>",
    "|im_start|", "|im_end|", "|system|", "|user|", "|assistant|", "|start_header_id|",
    "|endoftext|", "|eot_id|", "|channel|", "|message|", "|start|", "|end|", "sys>>",
    "start_of_turn", "end_of_turn",
)  # fmt: skip
_LONGEST = max(map(len, TAGS))
# Characters that move a cursor, reorder what is read, or are not seen at all; the last are ASCII
# once more, as tags.
_CODES = (
    *range(9), *range(11, 0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F,
    *range(0x2028, 0x202F), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)  # fmt: skip
_escapes: dict[int, str] = {}
COMMAND = "CONTEXTKIT_COMMAND"  # how our targets are called where there is no Makefile of ours
call = ""  # how they are called where the user stands, if not by `make`; `whereabouts` sets it
_NAMED = (
    *(f"make {name}_" for name in ("capsule", "payload", "handoff", "memory", "verdict", "subagent",
                                   "context", "remember", "reminder", "session")),
    "make adopt into=", "make unadopt into=", "make help",
)  # fmt: skip


def told(text: str, allowed: Allowed = (), quoted: bool = False) -> str:
    """`text` as it may leave: no secret, no control, no host's tag, and commands as called here.

    In what is `quoted`, somebody's own text, a command stays as it is written.
    """
    clean = harmless(redaction.redacted(text, allowed)[0])
    return clean if quoted else called(clean)


def called(text: str) -> str:
    """Our own text with commands as they are called here, for use within others' words."""
    if command := os.environ.get(COMMAND) or call:
        for named in _NAMED:
            text = text.replace(named, named.replace("make", command, 1))
    return text


def told_each(value: Any, allowed: Allowed = (), quoted: bool = False) -> Any:
    """`value` with every text in its lists and fields told; anything else is left alone."""
    return redaction.changed(value, lambda text, _: told(text, allowed, quoted))


def name(text: str) -> str:
    """A name from elsewhere, told, on one line, and in at most 200 characters."""
    return names.clipped(told(names.one_line(text)), 200)


def harmless(text: str) -> str:
    """`text` with each control as its escape and a host's tag as `&lt;tag>`."""
    if not text.replace("\n", "").isprintable():
        text = visible(text)
    first, *pieces = text.split("<")
    return first + "".join([("&lt;" if is_tag(piece) else "<") + piece for piece in pieces])


def visible(text: str) -> str:
    """`text` with each control and unseen character as its escape; tabs and line ends stay."""
    if not _escapes:
        _escapes.update({c: f"\\u{c:04x}" if c < 0x10000 else f"(U+{c:X})" for c in _CODES})
    return "\r\n".join(line.translate(_escapes) for line in text.split("\r\n"))


def is_tag(piece: str) -> bool:
    """Whether what follows a `<` begins or ends a host's tag, in any case, after any blanks."""
    begun = piece[: _LONGEST + 20].lstrip("/ \t\n\\").lower()
    return begun.startswith(TAGS)
