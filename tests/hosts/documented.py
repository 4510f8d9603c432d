"""What each host passes to a hook, and what it passes on whole, by its documentation."""

from __future__ import annotations

COMMON = ("session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "model",
          "timestamp")  # fmt: skip
AGENT = ("agent_id", "agent_type")
STOP = ("stop_hook_active", "last_assistant_message")
SUBAGENT_STOP = (*AGENT, *STOP, "agent_transcript_path", "background_tasks")
COPILOT = (*AGENT, "parent_agent_id")
CURSOR = ("conversation_id", "generation_id", "cursor_version", "workspace_roots", "user_email")

CHARACTERS = {"claude": 10_000, "copilot": 10_000}  # longer texts are not passed on whole
TOKENS = {"codex": 2500}

# The fields of each event besides the common ones.
FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "claude": {
        "SessionStart": ("source", "agent_type"),
        "UserPromptSubmit": ("prompt", "prompt_id"),
        "SubagentStart": AGENT,
        "SubagentStop": SUBAGENT_STOP,
        "PreToolUse": ("tool_name", "tool_input", "tool_use_id", *AGENT),
        "PostToolUse": ("tool_name", "tool_input", "tool_response", "tool_use_id", *AGENT),
        "PreCompact": ("trigger", "custom_instructions"),
        "PostCompact": ("trigger", "compact_summary"),
        "Stop": STOP,
        "SessionEnd": ("reason",),
    },
    "codex": {
        "SessionStart": ("source",),
        "UserPromptSubmit": ("prompt", "turn_id", *AGENT),
        "SubagentStart": (*AGENT, "turn_id"),
        "SubagentStop": (*SUBAGENT_STOP, "turn_id"),
        "PreToolUse": ("tool_name", "tool_input", "tool_use_id", "turn_id", *AGENT),
        "PostToolUse": ("tool_name", "tool_input", "tool_response", "tool_use_id", "turn_id",
                        *AGENT),
        "PreCompact": ("trigger", "turn_id"),
        "PostCompact": ("trigger", "turn_id"),
        "Stop": (*STOP, "turn_id"),
        "SessionEnd": ("reason",),
    },
    "copilot": {
        "SessionStart": ("source", "initial_prompt"),
        "UserPromptSubmit": ("prompt", *COPILOT),
        "SubagentStart": ("sessionId", "transcriptPath", "agentName", *COPILOT),
        "SubagentStop": (*COPILOT, "agent_name", "agent_display_name", "last_assistant_message",
                         "stop_hook_active", "stop_reason"),
        "PostToolUse": ("tool_name", "tool_input", "tool_result", *COPILOT),
        "PreCompact": ("trigger", "custom_instructions"),
        "Stop": ("stop_hook_active", "stop_reason", *COPILOT),
        "SessionEnd": ("reason",),
    },
    "cursor": {
        "sessionStart": CURSOR,
        "beforeSubmitPrompt": ("prompt", "attachments", *CURSOR),
        "preCompact": ("trigger", *CURSOR),
        "stop": ("status", "loop_count", *CURSOR),
        "sessionEnd": ("reason", *CURSOR),
    },
    "gemini": {
        "SessionStart": ("source",),
        "BeforeAgent": ("prompt",),
        "AfterTool": ("tool_name", "tool_input", "tool_response", "mcp_context",
                      "original_request_name"),
        "PreCompress": ("trigger",),
        "AfterAgent": ("prompt", "prompt_response", "stop_hook_active"),
        "SessionEnd": ("reason",),
    },
}  # fmt: skip
