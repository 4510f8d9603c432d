"""Gemini CLI. From its documentation of August to November 2026, as of 0.61.0; tried with it.

PreCompress fires before every turn, whether or not anything is compressed, so only a compression
that somebody asked for counts as a compaction.
"""

from __future__ import annotations

from contextkit.hosts.documents.contracts import Host, HostEvent, by_name

HOST = Host(
    name="gemini",
    title="Gemini CLI",
    command="gemini",
    settings=".gemini/settings.json",
    instructions="GEMINI.md",
    trust="start gemini in the project once and trust the folder and its hooks",
    timeouts=1000,
    wraps="hook_context",
    sessions=("GEMINI_SESSION_ID",),
    marks=("GEMINI_CLI",),
    renamed={"last_assistant_message": "prompt_response"},
    events=by_name(
        HostEvent(name="SessionStart", takes=("context",)),
        HostEvent(name="BeforeAgent", does="UserPromptSubmit", takes=("context",)),
        HostEvent(name="AfterTool", does="PostToolUse", matcher="invoke_agent",
                  tools=("run_shell_command", "web_fetch", "mcp_"), text="llmContent",
                  takes=("instead",)),
        HostEvent(name="PreCompress", does="PreCompact", matcher="manual"),
        HostEvent(name="AfterAgent", does="Stop", takes=("block",)),
        HostEvent(name="SessionEnd", timeout=5),
    ),
)  # fmt: skip
