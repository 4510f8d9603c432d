"""Transcripts of Claude Code and Codex: how many tokens a session's context holds by now.

A transcript is JSON, a line an event. Each reply of the model carries its `usage`; what went
into the last one is what the context holds. Only the end of the file is read, since a
transcript of a day has hundreds of megabytes and a hook has milliseconds.

    {"type": "assistant", "isSidechain": false, "message": {"usage": {"input_tokens": 4,
     "cache_creation_input_tokens": 900, "cache_read_input_tokens": 119000, …}}, …}
    {"type": "event_msg", "payload": {"type": "token_count", "info": {"model_context_window":
     258400, "last_token_usage": {"input_tokens": 119904, …}, …}}}
"""

from __future__ import annotations

import os

from contextkit.base import formats, tokens
from contextkit.base.errors import bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from typing import Any

_PIECE = 1 << 16  # bytes read at first; each further piece is twice as long
_FARTHEST = 1 << 25  # bytes from the end after which the search is given up
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_COMMON, _LARGE = 200_000, 1_000_000  # tokens of a window
_BOUNDARY = b'"compact_boundary"'
# One of these is in every line of Claude Code's, whatever its type.
_MARKS = (b'"sessionId"', b'"uuid"', b'"leafUuid"', b'"messageId"')
_INSTEAD = "give tokens=N as your host shows it, or file=TEXT to have it estimated"


def context_tokens(path: str) -> int:
    """The tokens in the context of the session whose transcript is `path`; 0 before any reply.

    Right after a compaction it is an estimate of what was kept. Raises ContextError for what
    cannot be read and for what is no transcript.
    """
    return _read(path)[0]


def window(path: str, count: int) -> int:
    """What the context of the session can hold, as the transcript or the count says; 0 unknown.

    Codex tells it. Claude Code names the model: `[1m]` at its end, or a context above the common
    window, is the large one.
    """
    found = _read(path)[1] if path and os.path.isfile(path) else 0
    return found or (_LARGE if count > _COMMON else 0)


def _read(path: str) -> tuple[int, int]:
    """The tokens in the context, and its window where the transcript tells that."""
    newer: list[bytes] = []  # lines after the one in hand, which is looked at from the end
    aside = False
    for line in _from_the_end(path):
        if b'"token_count"' in line and (told := _of_codex(_event(line))):
            return told
        if b'"usage"' in line or _BOUNDARY in line:
            event = _event(line)
            if event.get("isSidechain"):
                aside = True
            elif event.get("subtype") == "compact_boundary":
                return sum(tokens.estimate(_said(_event(each))) for each in newer), 0
            elif found := _usage(event):
                message = event["message"]
                return found, _LARGE if str(message.get("model", "")).endswith("[1m]") else 0
        newer.append(line)
    _refuse_strangers(path, newer[-1] if newer else b"")
    if aside:
        raise bad_input(f"{path}: holds a subagent's lines only: {_INSTEAD}")
    return 0, 0


def _of_codex(event: dict[str, Any]) -> tuple[int, int] | None:
    """What a line of Codex's counts; None where it does not count the context."""
    payload = event.get("payload")
    info = payload.get("info") if isinstance(payload, dict) else None
    if not isinstance(info, dict):
        return None
    usage = info.get("last_token_usage")
    count = usage.get("input_tokens") if isinstance(usage, dict) else None
    most = info.get("model_context_window")
    if type(count) is not int or count < 1:
        return None
    return count, most if type(most) is int and most > 0 else 0


def _event(line: bytes) -> dict[str, Any]:
    """The object in a line; empty for any other text, such as a line written by half."""
    if not line.rstrip().endswith(b"}"):
        return {}  # newer Pythons would import json to raise the error of a line cut off
    try:
        found = formats.scan_json(line.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _usage(event: dict[str, Any]) -> int:
    """What the model was given to read for this reply; 0 where the host made the reply up."""
    message = event.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict) or event.get("type") != "assistant":
        return 0
    counts = [usage.get(name) for name in _COUNTED]
    return sum(n for n in counts if type(n) is int and n > 0)


def _said(event: dict[str, Any]) -> str:
    """The text of a main-chain message, such as the summary that a compaction leaves."""
    message = event.get("message")
    if event.get("isSidechain") or not isinstance(message, dict):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    said = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in said if isinstance(text, str))


def _refuse_strangers(path: str, first: bytes) -> None:
    """Say what to give instead where the first line of a file is not one of Claude Code's."""
    if not first or (first.startswith(b'{"') and any(mark in first for mark in _MARKS)):
        return
    kind = "a Codex rollout, " if b'"payload"' in first else ""
    raise bad_input(f"{path}: {kind}no transcript of Claude Code: {_INSTEAD}")


def _from_the_end(path: str) -> Iterator[bytes]:
    """The lines of a file that are not blank, the last one first."""
    if not os.path.isfile(path):
        raise bad_input(f"{path}: is no file: {_INSTEAD}")
    try:
        with open(path, "rb", buffering=0) as file:
            yield from _lines_of(file, path)
    except OSError as error:
        raise bad_input(f"{path}: cannot be read ({error.strerror}): {_INSTEAD}") from None


def _lines_of(file: FileIO, path: str) -> Iterator[bytes]:
    start = length = file.seek(0, os.SEEK_END)
    size, rest = _PIECE, b""
    while start:
        if length - start > _FARTHEST:
            raise bad_input(f"{path}: no reply in its last {_FARTHEST >> 20} MB: {_INSTEAD}")
        size = min(size, start)
        start = file.seek(start - size)
        rest, *lines = (file.read(size) + rest).split(b"\n")
        yield from (line for line in reversed(lines) if line.strip())
        size *= 2
    if rest.strip():
        yield rest
