"""GitHub Copilot CLI. From its documentation of August to November 2026; tried with 1.0.102.

An event with a capitalized name passes the fields that other hosts pass, except for the session of
SubagentStart. A subagent has its own UserPromptSubmit and Stop, with its id as the session.
"""

from __future__ import annotations

from contextkit.hosts.documents.contracts import AGENT, Host, HostEvent, by_name

_AGENT = (*AGENT, "parent_agent_id")

HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    command="copilot",
    settings=".github/hooks/contextkit.json",
    flat=True,
    trust="start copilot in the project once and trust the folder",
    characters=10_000,
    sessions=("COPILOT_AGENT_SESSION_ID",),
    marks=("COPILOT_CLI",),
    home=("COPILOT_HOME", ".copilot"),
    renamed={"session_id": "sessionId", "transcript_path": "transcriptPath",
             "tool_response": "tool_result"},
    events=by_name(
        HostEvent(name="SessionStart", passes=("source", "initial_prompt"), takes=("context",)),
        HostEvent(name="UserPromptSubmit", passes=("prompt", *_AGENT), takes=("context",)),
        HostEvent(name="SubagentStart", takes=("context",),
                  passes=("sessionId", "transcriptPath", "agentName", *_AGENT)),
        HostEvent(name="SubagentStop", takes=("block", "respond"),
                  passes=(*_AGENT, "agent_name", "agent_display_name", "last_assistant_message",
                          "stop_hook_active", "stop_reason")),
        HostEvent(name="PostToolUse", tools=("Bash",), text="text_result_for_llm",
                  passes=("tool_name", "tool_input", "tool_result", *_AGENT), takes=("modify",)),
        HostEvent(name="PreCompact", passes=("trigger", "custom_instructions")),
        HostEvent(name="Stop", passes=("stop_hook_active", "stop_reason", *_AGENT),
                  takes=("block",)),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=5),
    ),
)  # fmt: skip
