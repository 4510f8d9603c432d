"""How full a session's context window is, and the one snapshot to save before it overflows.

The input of the latest reply in a transcript is what the context holds. Only the end of the file is
read: a day's transcript can have hundreds of megabytes, and a hook has milliseconds.

    {"type": "assistant", "isSidechain": false, "message": {"usage": {"input_tokens": 4,
     "cache_creation_input_tokens": 900, "cache_read_input_tokens": 119000, …}}, …}
    {"type": "event_msg", "payload": {"type": "token_count", "info": {"model_context_window":
     258400, "last_token_usage": {"input_tokens": 119904, …}, …}}}
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, shelf, tokens
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.base.type_names import Any, Callable
from contextkit.memory.documents import store as memory

OK, WARN, SAVE = "ok", "warn", "save"
_FORGOTTEN = 30 * 86_400  # seconds after which a mark may go


class Zone(Record):
    """The zone of a token count; a count exactly at a border belongs to the zone above it."""

    name: str
    tokens: int
    warn_at: int
    save_at: int


def borders(limits: Limits, window: int = 0) -> tuple[int, int]:
    """The counts at which to warn and to save, from the settings.

    A default threshold scales with the `window` if the host reports it; one that was set is
    absolute.
    """
    save_at = limits.memory_save_tokens
    if limits.memory_save_percent:
        save_at = (window or limits.memory_window_tokens) * limits.memory_save_percent // 100
    elif window and save_at == Limits.memory_save_tokens:
        save_at = window * save_at // Limits.memory_window_tokens
    return -(-max(save_at, 1) * limits.memory_warn_percent // 100), max(save_at, 1)


def snapshot_of(layout: Layout, session: str, task: str) -> str:
    """The path of the snapshot written since the count entered the save zone, or ''."""
    path = files.first_line(_mark(layout, session, task))
    return path if path and os.path.exists(layout.join(path)) else ""


def look(layout: Layout, session: str, task: str, tokens: int, window: int = 0) -> tuple[Zone, str]:
    """The zone of a context of `tokens` tokens, and the path of this rise's snapshot, if any.

    `window` is the size of the context if that is known.
    """
    warn_at, save_at = borders(layout.limits, window)
    name = SAVE if tokens >= save_at else WARN if tokens >= warn_at else OK
    if name != SAVE:
        forget(layout, session, task)
    path = snapshot_of(layout, session, task)
    return Zone(name=name, tokens=tokens, warn_at=warn_at, save_at=save_at), path


def forget(layout: Layout, session: str, task: str) -> None:
    """Drop the mark after the context was emptied, so that the next save is a new snapshot."""
    files.discard(_mark(layout, session, task))


def once(
    layout: Layout, session: str, task: str, write: Callable[[], str], now: int, age: int = 0
) -> tuple[str, bool]:
    """The path of this rise's snapshot and whether it is new, calling `write` if needed.

    For a compaction, which needs the latest words, a snapshot older than `age` seconds does not
    count. A process killed in between leaves one snapshot too many, never one too few.
    """
    mark = _mark(layout, session, task)
    with files.locked(layout.lock(mark)):
        there = snapshot_of(layout, session, task)
        when = memory.split_name(os.path.basename(there))[1]
        if there and (not age or when >= memory.stamp(now - age)):
            return there, False
        path = write()
        files.write(mark, path + "\n", derived=True)
        shelf.forget(os.path.dirname(mark), now - _FORGOTTEN)
    return path, True


def _mark(layout: Layout, session: str, task: str) -> str:
    """The mark's path: one per session and task, either of which may be unknown."""
    key = names.sha256(f"{session}\0{task}".encode("utf-8", "replace"))[:24]
    return layout.memory_state("saves/" + key)


_PIECES = (1 << 16, 1 << 19, 1 << 22, 1 << 25)  # bytes to read from the end, until there is a count
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_COMMON, _LARGE = 200_000, 1_000_000  # window sizes in tokens
_TELLING = (b'"token_count"', b'"usage"', b'"compact_boundary"')  # in a line that may have a count
# Every line that Claude Code writes has one of these, whatever its type.
_MARKS = (b'"sessionId"', b'"uuid"', b'"leafUuid"', b'"messageId"')
_INSTEAD = "give tokens=N as your host shows it, or file=TEXT to have it estimated"


def usage(path: str) -> tuple[int, int]:
    """The tokens in the context of the session with the transcript `path`, and its window or 0.

    The tokens are 0 before a reply; right after a compaction they are an estimate. Claude Code
    records only the model: a name that ends in `[1m]`, or a large context, means the large window.
    Raises ContextError if the file is not a transcript.
    """
    if not (os.path.isfile(path) and os.access(path, os.R_OK)):
        raise bad_input(f"{path}: is not a file that can be read: {_INSTEAD}")
    size = os.stat(path).st_size
    for most in _PIECES:
        lines = list(filter(bytes.strip, formats.tail(path, most).split(b"\n")))
        counts = _latest(lines)
        if counts or size <= most:
            count, window = counts or _refuse_others(path, lines)
            return count, window or (_LARGE if count > _COMMON else 0)
    raise bad_input(f"{path}: no reply in its last {_PIECES[-1] >> 20} MB: {_INSTEAD}")


def _latest(lines: list[bytes]) -> tuple[int, int] | None:
    """The count and window in the last line that has them; an estimate after a compaction."""
    for at in range(len(lines) - 1, -1, -1):
        event = formats.object_in(lines[at]) if any(map(lines[at].__contains__, _TELLING)) else {}
        if event.get("isSidechain"):
            continue
        if event.get("subtype") == "compact_boundary":
            after = map(formats.object_in, lines[at + 1 :])
            messages = [formats.inside(e, "message") for e in after if not e.get("isSidechain")]
            texts = (formats.texts_of(message.get("content")) for message in messages)
            return sum(map(tokens.estimate, texts)), 0
        counts = _counted(event)
        if counts[0]:
            return counts
    return None


def _counted(event: dict[str, Any]) -> tuple[int, int]:
    """The input tokens of a reply and the window in a line of either host; 0 where it has none."""
    info = formats.inside(event, "payload", "info")
    reply = formats.inside(event, "message") if event.get("type") == "assistant" else {}
    usage = formats.inside(reply, "usage") or formats.inside(info, "last_token_usage")
    counts = [*map(usage.get, _COUNTED), info.get("model_context_window")]
    *parts, window = (n if type(n) is int and n > 0 else 0 for n in counts)
    is_large = str(reply.get("model", "")).endswith("[1m]")
    return sum(parts), _LARGE if is_large else window


def _refuse_others(path: str, lines: list[bytes]) -> tuple[int, int]:
    """Raise ContextError unless the file is a transcript, perhaps without a reply."""
    first = lines[0] if lines else b""
    if first and not (first.startswith(b'{"') and any(mark in first for mark in _MARKS)):
        is_rollout = b'"payload"' in first
        kind = "a rollout without a count of tokens" if is_rollout else "not a transcript"
        raise bad_input(f"{path}: {kind}: {_INSTEAD}")
    if any(b'"usage"' in line and formats.object_in(line).get("isSidechain") for line in lines):
        raise bad_input(f"{path}: holds a subagent's lines only: {_INSTEAD}")
    return 0, 0
