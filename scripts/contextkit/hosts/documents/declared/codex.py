"""Codex. From its documentation of August to October 2026; tried with codex-cli 0.169.0."""

from __future__ import annotations

from contextkit.hosts.documents.contracts import Host, HostEvent, by_name

HOST = Host(
    name="codex",
    title="Codex",
    command="codex",
    default=True,
    settings=".codex/hooks.json",
    trust="trust the hooks once: /hooks in codex",
    tells_trust=("app-server",),
    sessions=("CODEX_SESSION_ID",),
    marks=("CODEX_THREAD_ID",),
    home=("CODEX_HOME", ".codex"),
    transcripts="sessions/{days}",
    transcript_form="rollout",
    prices=(1.0, 0.1, 8.0),
    headless="codex exec -",
    policies=("~/rules", ".codex/rules", "/etc/codex/rules"),
    events=by_name(
        HostEvent(name="SessionStart", takes=("context", "plain")),
        HostEvent(name="UserPromptSubmit", takes=("context", "plain", "block")),
        HostEvent(name="SubagentStart", takes=("context", "plain")),
        HostEvent(name="SubagentStop", takes=("block",)),
        HostEvent(name="PreToolUse", tools=("Bash",), takes=("rewrite", "allow")),
        HostEvent(name="PostToolUse", tools=("Bash", "mcp__"), takes=("instead",)),
        HostEvent(name="PreCompact"),
        HostEvent(name="PostCompact"),
        HostEvent(name="Stop", takes=("block",)),
        HostEvent(name="SessionEnd", timeout=3, budget=1.0),
    ),
)
