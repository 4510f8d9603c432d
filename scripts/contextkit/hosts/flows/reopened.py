"""What a session opened again after it had the receipt, by its host's own tools.

A receipt names a file and lines, which the host's Read or a shell command opens, and no hook sees
that. The transcript tells it when the session ends: each such call is noted in the ledger once,
with the tokens of its result.
"""

from __future__ import annotations

from contextkit.base import addresses, formats, ledger, tokens
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterator

_MOST = 8 << 20  # bytes at the end of a transcript that are looked at
_CALL = "call:"  # before the id of a call, as the recipient of what it showed


def note(layout: Layout, session: str, transcript: str) -> None:
    """Note what the session opened of its payloads. Does nothing without a readable transcript."""
    lines = formats.tail(transcript, _MOST).split(b"\n")
    opened = dict(_calls(layout, lines))
    if not opened:
        return
    known = {one.get("to", "") for one in ledger.read(layout) if one["event"] == ledger.SHOWN}
    for call, said in dict(_results(lines, opened)).items():
        if _CALL + call not in known:
            size, where = tokens.estimate(said), _CALL + call
            ledger.note(layout, ledger.SHOWN, opened[call], tokens=size, to=where, session=session)


def _calls(layout: Layout, lines: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the id of each call that names a payload's file, and the payload's address."""
    store = layout.shown(layout.payloads) + "/"
    for part in _parts([line for line in lines if store.encode() in line]):
        call = part.get("id") or part.get("call_id")
        _, _, named = str(part.get("input") or part.get("arguments") or "").partition(store)
        path, ends, _ = named.partition(".md")
        ref = addresses.of(layout, layout.join(f"{store}{path}.md")) if ends else ""
        if call and ref:
            yield str(call), ref


def _results(lines: list[bytes], opened: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the id of each of these calls with what it returned."""
    ids = [call.encode() for call in opened]
    for part in _parts([line for line in lines if any(call in line for call in ids)]):
        said = part.get("content") or part.get("output")
        call = str(part.get("tool_use_id") or part.get("call_id") or "")
        if said and call in opened:
            yield call, said if isinstance(said, str) else formats.texts_of(said)


def _parts(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the calls and results in lines of a transcript, of either form."""
    for line in map(formats.object_in_line, lines):
        message, payload = line.get("message"), line.get("payload")
        if isinstance(payload, dict):
            yield payload
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            yield from (one for one in content if isinstance(one, dict))
