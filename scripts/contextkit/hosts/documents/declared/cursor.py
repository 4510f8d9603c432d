"""Cursor. Only from its documented contract of August to October 2026; never tried in the program.

Some versions refuse `sessionStart`, although it is documented. A turn's last message is not passed.
"""

from __future__ import annotations

from contextkit.hosts.documents.contracts import Host, HostEvent, by_name

HOST = Host(
    name="cursor",
    title="Cursor",
    command="cursor-agent",
    settings=".cursor/hooks.json",
    flat=True,
    context_key="additional_context",
    block_key="followup_message",
    trust="restart Cursor, and look at its Hooks settings",
    renamed={"session_id": "conversation_id"},
    events=by_name(
        HostEvent(name="sessionStart", does="SessionStart", takes=("context",)),
        HostEvent(name="beforeSubmitPrompt", does="UserPromptSubmit"),
        HostEvent(name="preCompact", does="PreCompact"),
        HostEvent(name="stop", does="Stop", takes=("block",)),
        HostEvent(name="sessionEnd", does="SessionEnd", timeout=5),
    ),
)
