"""Claude Code. From its documentation of August to October 2026; tried with 2.1.197 and 2.1.330."""

from __future__ import annotations

from contextkit.hosts.documents.contracts import (
    AGENT,
    STOP,
    SUBAGENT_STOP,
    Host,
    HostEvent,
    by_name,
)

HOST = Host(
    name="claude",
    title="Claude Code",
    command="claude",
    default=True,
    settings=".claude/settings.json",
    local_settings=".claude/settings.local.json",
    instructions="CLAUDE.md",
    skills=".claude/skills",
    project="CLAUDE_PROJECT_DIR",
    arguments=True,
    below="start it in the top folder, or install the plugin for yourself: manuals/hosts.md",
    process="CLAUDE_PID",
    worktrees=".claude/worktrees/",
    characters=10_000,
    sessions=("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"),
    marks=("CLAUDECODE",),
    home=("CLAUDE_CONFIG_DIR", ".claude"),
    keeps=("settings.json", "cleanupPeriodDays"),
    transcripts="projects/{project}",
    transcript_form="messages",
    notices=("<task-notification>",),
    agent_call="Agent(subagent_type={agent}, description={agent}, run_in_background=true,"
    " prompt={prompt})",
    headless="claude -p",
    lends=("COPILOT_PROJECT_DIR", "copilot"),
    events=by_name(
        HostEvent(name="SessionStart", passes=("source", "agent_type"), takes=("context", "plain")),
        HostEvent(name="UserPromptSubmit", passes=("prompt", "prompt_id"),
                  takes=("context", "plain", "block")),
        HostEvent(name="SubagentStart", passes=AGENT, takes=("context",)),
        HostEvent(name="SubagentStop", passes=SUBAGENT_STOP, takes=("block",)),
        HostEvent(name="PostToolUse", matcher="Agent|Task", tools=("Bash", "WebFetch", "mcp__"),
                  passes=("tool_name", "tool_input", "tool_response", "tool_use_id", *AGENT),
                  takes=("context", "block", "replace")),
        HostEvent(name="PreCompact", passes=("trigger", "custom_instructions")),
        HostEvent(name="PostCompact", passes=("trigger", "compact_summary")),
        HostEvent(name="Stop", passes=STOP, takes=("block",)),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=5, budget=1.5),
    ),
)  # fmt: skip
