"""Save a context that is full or about to be compacted, from a host's hook.

    when_full   a turn ended: a snapshot once the save zone is reached
    before      a compaction begins: a snapshot
    after       the compaction is done: its summary goes into that snapshot

`.contextkit/hooks/<session>/compaction` names the snapshot that a compaction is to complete.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import HookInput
from contextkit.memory.documents import context_window
from contextkit.memory.documents import store as memory

_TURN_ENDS = ("Stop",)
_TAIL = 1 << 17  # bytes at the end of a transcript that are searched for its last message
_MEETING = 120  # seconds between a turn's end and a compaction that share one snapshot


def when_full(layout: Layout, given: HookInput) -> None:
    """Write a snapshot if the context has entered the save zone since the last one."""
    count, window = _usage(given)
    if given.event in _TURN_ENDS and given.session and _is_behind(given):
        files.write(seen_agents.mark(layout, given.session, seen_agents.BEHIND), "")
    if count:
        task, session = memory.current_task(layout), _session(layout, given)
        zone, path = context_window.look(layout, session, task, count, window)
        if zone.name == context_window.SAVE and not path:
            _once(layout, given, "token_limit", count)


def catch_up(layout: Layout, given: HookInput) -> None:
    """Do what the end of a turn could not, because the transcript was not written by then."""
    files.discard(seen_agents.mark(layout, given.session, seen_agents.BEHIND))
    when_full(layout, given)


def _once(layout: Layout, given: HookInput, reason: str, count: int, *within: int) -> str:
    """Save a snapshot, unless there is one of this moment; return its path."""
    now, transcript = names.now(), given.text("transcript_path")

    def save() -> str:
        return _save(layout, reason, count, "", now, transcript)

    task = memory.current_task(layout)
    return context_window.once(layout, _session(layout, given), task, save, now, *within)[0]


def _session(layout: Layout, given: HookInput) -> str:
    return given.session or sessions.find_current(layout)


def _is_behind(given: HookInput) -> bool:
    """Return whether the transcript still lacks the turn's last message."""
    message, path = given.text("last_assistant_message").strip(), given.text("transcript_path")
    if not message or not os.path.isfile(path):
        return False
    words = formats.to_json(message.split("\n", 1)[0][:60]).strip().strip('"').encode("utf-8")
    return words not in formats.tail(path, _TAIL)


def _usage(given: HookInput) -> tuple[int, int]:
    """Return the tokens of the context and the size of its window; 0 for what is unknown."""
    path = given.text("transcript_path")
    try:
        return context_window.usage(path) if path and os.path.isfile(path) else (0, 0)
    except ContextError:  # the format of another host
        return 0, 0


def before(layout: Layout, given: HookInput) -> None:
    """Save what is known before the host compacts the context."""
    from contextkit.hosts.flows import sessions as starting

    files.discard(starting.told(layout, given.session))
    path = _once(layout, given, _reason(given), _usage(given)[0], _MEETING)
    files.write(_mark(layout, given), path + "\n")


def after(layout: Layout, given: HookInput) -> None:
    """Add the host's summary to this compaction's snapshot; create one if there is none."""
    from contextkit.memory.flows import saving

    context_window.forget(layout, _session(layout, given), memory.current_task(layout))
    summary = _summary(given.text("compact_summary"))
    waiting = layout.join((files.read_if_there(_mark(layout, given)) or "").strip())
    if os.path.isfile(waiting):
        files.discard(_mark(layout, given))
        if not summary:
            return
        try:
            saving.complete_snapshot(layout, waiting, summary)
            return
        except ContextError:
            pass  # somebody edited it meanwhile: both are kept
    _save(layout, _reason(given), 0, summary, names.now())


def _summary(text: str) -> str:
    """The summary that a host made, without the analysis that led to it."""
    _, opened, rest = text.rpartition("<summary>")
    whole = rest.partition("</summary>")[0] if opened else text.rpartition("</analysis>")[2]
    return whole.strip() or text.replace("<analysis>", "").strip()


def _save(
    layout: Layout, reason: str, count: int, summary: str, now: int, transcript: str = ""
) -> str:
    from contextkit.memory.documents import snapshots
    from contextkit.memory.flows import saving

    made = saving.automatic_snapshot(
        layout, reason=reason, now=now, tokens=count, summary=summary, transcript=transcript
    )
    return layout.shown(snapshots.save(layout, made, now))


def _reason(given: HookInput) -> str:
    return "manual" if given.text("trigger") == "manual" else "token_limit"


def _mark(layout: Layout, given: HookInput) -> str:
    return seen_agents.mark(layout, given.session, seen_agents.COMPACTION)
