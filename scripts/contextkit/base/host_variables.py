"""The environment variables that hosts set for what they start.

Written by `make manual` from the hosts' declarations, which would take a command that only asks
for its session too long to load; do not edit.
"""

SESSIONS = (  # that hold the session's id
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_SESSION_ID",
    "CODEX_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
)
MARKS = (  # that show which host it is
    ("CLAUDECODE", "claude"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CLAUDE_SESSION_ID", "claude"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SESSION_ID", "codex"),
    ("COPILOT_CLI", "copilot"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("GEMINI_CLI", "gemini"),
    ("GEMINI_SESSION_ID", "gemini"),
)
