"""Claude Code. From its documentation of August to October 2026; tried with 2.1.197 and 2.1.330."""

from __future__ import annotations

from contextkit.hosts.documents.contracts import Host, HostEvent, by_name

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
    below="start it in the top folder, or install the plugin for yourself",
    process="CLAUDE_PID",
    programs=True,
    worktrees=".claude/worktrees/",
    sessions=("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"),
    marks=("CLAUDECODE",),
    home=("CLAUDE_CONFIG_DIR", ".claude"),
    allows=(".claude/settings.json", "permissions.allow", "Bash({command}:*)"),
    keeps=("settings.json", "cleanupPeriodDays"),
    transcripts="projects/{project}",
    transcript_form="messages",
    prices=(1.25, 0.1, 5.0),
    notices=("<task-notification>",),
    agent_call="Agent(subagent_type={agent}, description={agent}, run_in_background=true,"
    " prompt={prompt})",
    any_agent='subagent_type="general-purpose"',
    headless="claude -p",
    rules=(".claude/settings.json", ".claude/settings.local.json"),
    managed=("/etc/claude-code/managed-settings.json",
             "/Library/Application Support/ClaudeCode/managed-settings.json"),
    trusts=".claude.json",
    lends=("COPILOT_PROJECT_DIR", "copilot"),
    events=by_name(
        HostEvent(name="SessionStart", takes=("context", "plain")),
        HostEvent(name="UserPromptSubmit", takes=("context", "plain", "block")),
        HostEvent(name="SubagentStart", takes=("context",)),
        HostEvent(name="SubagentStop", takes=("block",)),
        HostEvent(name="PreToolUse", tools=("Bash",), takes=("rewrite",)),
        HostEvent(name="PostToolUse", matcher="Agent|Task", tools=("Bash", "WebFetch", "mcp__"),
                  takes=("context", "block", "replace")),
        HostEvent(name="PreCompact"),
        HostEvent(name="PostCompact"),
        HostEvent(name="Stop", takes=("block",)),
        HostEvent(name="SessionEnd", timeout=5, budget=1.5),
    ),
)  # fmt: skip
