"""Hosts: the hooks go in with one command, and one is fired as Claude Code would."""

from __future__ import annotations

import json
import os
import subprocess

from contextkit.base import formats, tokens

from walkthrough.walk import Walk, indent, show


def act(walk: Walk) -> None:
    """Adopt into a repository beside the demo's; a subagent there ends with a long report."""
    host = os.path.join(os.path.dirname(walk.scratch), "adopter")
    subprocess.run(["git", "init", "-q", "-b", "main", host], check=True)
    walk.step("Another repository gets a copy, hooks and skills", "adopt", f"into={host}",
              "hosts=claude")  # fmt: skip
    with open(os.path.join(host, ".claude", "settings.json"), encoding="utf-8") as file:
        hooks = json.load(file)["hooks"]
    show(f"   {len(hooks)} events of Claude Code start a hook there: {', '.join(hooks)}")
    report = "# Report\n\n" + "The parser takes 52 ms in src/app.py:42.\n" * 100
    given = {"session_id": "demo", "cwd": host, "agent_id": "a1", "agent_type": "Explore",
             "last_assistant_message": report}  # fmt: skip
    handler = hooks["SubagentStop"][0]["hooks"][0]
    words = [handler["command"], *handler["args"]]
    command = [word.replace("${CLAUDE_PROJECT_DIR}", host) for word in words]
    subprocess.run(
        command, cwd=host, input=formats.to_json(given), encoding="utf-8", check=True,
        env={**os.environ, "CLAUDE_PROJECT_DIR": host},
    )  # fmt: skip
    show(
        f"   (a subagent ended there with ~{tokens.estimate(report)} tokens; nobody called a tool)"
    )
    show(indent(walk.step("And it is stored", "payload_list", "all=1", f"root={host}")))
