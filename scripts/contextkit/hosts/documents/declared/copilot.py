"""GitHub Copilot CLI. From its documentation of August to November 2026; tried with 1.0.102.

An event with a capitalized name passes the fields that other hosts pass, except for the session of
SubagentStart. A subagent has its own UserPromptSubmit and Stop, with its id as the session.
"""

from __future__ import annotations

from contextkit.hosts.documents.contracts import Host, HostEvent, by_name

HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    command="copilot",
    settings=".github/hooks/contextkit.json",
    flat=True,
    trust="start copilot in the project once and trust the folder",
    sessions=("COPILOT_AGENT_SESSION_ID",),
    marks=("COPILOT_CLI",),
    home=("COPILOT_HOME", ".copilot"),
    renamed={"session_id": "sessionId", "transcript_path": "transcriptPath",
             "tool_response": "tool_result"},
    events=by_name(
        HostEvent(name="SessionStart", takes=("context",)),
        HostEvent(name="UserPromptSubmit", takes=("context",)),
        HostEvent(name="SubagentStart", takes=("context",)),
        HostEvent(name="SubagentStop", takes=("block", "respond")),
        HostEvent(name="PostToolUse", tools=("Bash",), text="text_result_for_llm",
                  takes=("modify",)),
        HostEvent(name="PreCompact"),
        HostEvent(name="Stop", takes=("block",)),
        HostEvent(name="SessionEnd", timeout=5),
    ),
)  # fmt: skip
