"""Codex. From its documentation of August to October 2026; tried with codex-cli 0.169.0."""

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
    name="codex",
    title="Codex",
    command="codex",
    default=True,
    settings=".codex/hooks.json",
    trust="trust the hooks once: /hooks in codex",
    tells_trust=("app-server",),
    tokens=2500,
    sessions=("CODEX_SESSION_ID",),
    marks=("CODEX_THREAD_ID",),
    home=("CODEX_HOME", ".codex"),
    transcripts="sessions/{days}",
    transcript_form="rollout",
    prices=(1.0, 0.1, 8.0),
    headless="codex exec -",
    policies=("~/rules", ".codex/rules", "/etc/codex/rules"),
    events=by_name(
        HostEvent(name="SessionStart", passes=("source",), takes=("context", "plain")),
        HostEvent(name="UserPromptSubmit", passes=("prompt", "turn_id", *AGENT),
                  takes=("context", "plain", "block")),
        HostEvent(name="SubagentStart", passes=(*AGENT, "turn_id"), takes=("context", "plain")),
        HostEvent(name="SubagentStop", passes=(*SUBAGENT_STOP, "turn_id"), takes=("block",)),
        HostEvent(name="PreToolUse", tools=("Bash",), takes=("rewrite", "allow"),
                  passes=("tool_name", "tool_input", "tool_use_id", "turn_id", *AGENT)),
        HostEvent(name="PostToolUse", tools=("Bash", "mcp__"), takes=("instead",),
                  passes=("tool_name", "tool_input", "tool_response", "tool_use_id", "turn_id",
                          *AGENT)),
        HostEvent(name="PreCompact", passes=("trigger", "turn_id")),
        HostEvent(name="PostCompact", passes=("trigger", "turn_id")),
        HostEvent(name="Stop", passes=(*STOP, "turn_id"), takes=("block",)),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=3, budget=1.0),
    ),
)  # fmt: skip
