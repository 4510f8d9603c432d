"""What a day of sessions cost, by the transcripts that the host itself wrote.

Claude Code notes `usage` with each reply, once for every part of it, under the reply's id; Codex
notes the total of a session after each reply. Tokens of the cache are priced as the host declares.
"""

from __future__ import annotations

import os

from contextkit.base import formats
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.hosts.documents.contracts import Host
from contextkit.memory.documents import conversations
from contextkit.memory.flows import transcripts


class _Usage(NamedTuple):
    fresh: int  # tokens of input that no cache had
    written: int
    read: int
    answered: int


def of_folder(host: Host, root: str) -> tuple[int, int, float]:
    """The turns, tokens and cost of all sessions in a folder, those of subagents included.

    Turns are replies of the model; the cost is in tokens of input at full price.
    """
    found = [_of_file(host, lines) for lines in _transcripts(host, root)]
    usages = [usage for _, one in found for usage in one]
    written, read, answered = host.prices
    cost = sum(one.fresh + one.written * written + one.read * read + one.answered * answered
               for one in usages)  # fmt: skip
    return sum(turns for turns, _ in found), sum(map(sum, usages)), cost


def _transcripts(host: Host, root: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of each transcript of a session that worked in the folder."""
    for folder in transcripts.folders(host, root):
        for here, _, files in os.walk(folder):
            for name in sorted(files):
                if name.endswith(".jsonl"):
                    with open(os.path.join(here, name), "rb") as file:
                        lines = [formats.object_in_line(line) for line in file]
                    if any(_worked_in(line, root) for line in lines):
                        yield lines


def _worked_in(line: dict[str, Any], root: str) -> bool:
    payload = line.get("payload")
    folder = (payload if isinstance(payload, dict) else line).get("cwd")
    return isinstance(folder, str) and os.path.realpath(folder) == os.path.realpath(root)


def _of_file(host: Host, lines: Iterable[dict[str, Any]]) -> tuple[int, Iterable[_Usage]]:
    """The replies in a transcript, and the usages that add up to what they cost."""
    if host.transcript_form == conversations.ROLLOUT:
        totals = [found for line in lines if (found := _total(line))]
        return len(totals), totals[-1:]
    replies: dict[str, _Usage] = {}
    for line in lines:
        message = line.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(message, dict) and isinstance(usage, dict):
            replies[str(message.get("id"))] = _Usage(
                _count(usage, "input_tokens"), _count(usage, "cache_creation_input_tokens"),
                _count(usage, "cache_read_input_tokens"), _count(usage, "output_tokens"),
            )  # fmt: skip
    return len(replies), replies.values()


def _total(line: dict[str, Any]) -> _Usage | None:
    """The total in a line of Codex, whose input includes what the cache had."""
    payload = line.get("payload")
    info = payload.get("info") if isinstance(payload, dict) else None
    usage = info.get("total_token_usage") if isinstance(info, dict) else None
    if not isinstance(usage, dict):
        return None
    cached = _count(usage, "cached_input_tokens")
    fresh = max(_count(usage, "input_tokens") - cached, 0)
    return _Usage(fresh, 0, cached, _count(usage, "output_tokens"))


def _count(usage: dict[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if type(count) is int and count > 0 else 0
