"""GitHub Copilot CLI. By its documents of August to November 2026 alone.

An event by its name in capitals passes the fields of other hosts; one that begins with a small
letter passes its own.
"""

from __future__ import annotations

from contextkit.hosts.documents.contracts import AGENT, Host, HostEvent, by_name

HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    command="copilot",
    settings=".github/hooks/contextkit.json",
    flat=True,
    characters=10_000,
    sessions=("COPILOT_AGENT_SESSION_ID",),
    home=("COPILOT_HOME", ".copilot"),
    renamed={"session_id": "sessionId", "transcript_path": "transcriptPath",
             "agent_type": "agentName"},
    events=by_name(
        HostEvent(name="SessionStart", passes=("source", "initial_prompt"), takes=("context",)),
        HostEvent(name="UserPromptSubmit", passes=("prompt",)),
        HostEvent(name="subagentStart", does="SubagentStart", takes=("context",),
                  passes=("sessionId", "transcriptPath", "agentName", "agentDisplayName",
                          "agentDescription")),
        HostEvent(name="SubagentStop", takes=("block", "respond"),
                  passes=(*AGENT, "agent_name", "agent_display_name", "last_assistant_message",
                          "stop_reason")),
        HostEvent(name="PreCompact", passes=("trigger", "custom_instructions")),
        HostEvent(name="Stop", passes=("stop_hook_active", "stop_reason"), takes=("block",)),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=5),
    ),
)  # fmt: skip
