"""The files that make this repository a plugin of each host that has plugins; by `make manual`."""

from __future__ import annotations

import json

from contextkit.base import version
from contextkit.hosts.documents import contracts, settings
from contextkit.hosts.flows import adoption

RUN = "contextkit"  # the plugin's bin/contextkit
ABOUT = "Carries context from one agent to the next: payloads, handoffs, memory, capsules, verdicts"


def files() -> dict[str, str]:
    """Each file of the plugin: path relative to the checkout -> text."""
    owner = {"name": "the contextkit contributors"}
    plugin = {"name": "contextkit", "version": version.VERSION, "description": ABOUT,
              "author": owner, "license": "MIT"}  # fmt: skip
    entry = {"name": "contextkit", "source": "./", "description": ABOUT}
    market = {"name": "contextkit", "owner": owner, "metadata": {"description": ABOUT},
              "plugins": [entry]}  # fmt: skip
    host = contracts.find("claude")
    groups = {
        event: [settings.grouped(host, event, _handler(settings.handler(host, event, "/PLUGIN")))]
        for event in settings.events(host)
    }
    found = {
        ".claude-plugin/plugin.json": plugin,
        ".claude-plugin/marketplace.json": market,
        "hooks/hooks.json": {"description": ABOUT, "hooks": groups},
        ".codex-plugin/plugin.json": {
            **plugin,
            "skills": "./skills/",
            "hooks": "./hooks/codex.json",
        },
        "hooks/codex.json": {"hooks": _of_codex()},
        "hooks/gemini/gemini-extension.json": {
            name: plugin[name] for name in ("name", "version", "description")
        },
        "hooks/gemini/hooks/hooks.json": {"hooks": _of_gemini()},
    }
    texts = {path: json.dumps(one, indent=2) + "\n" for path, one in found.items()}
    folder = f"skills/{adoption.SKILL}"
    return texts | {
        f"{folder}/SKILL.md": adoption.skill(adoption.GUIDE, RUN),
        f"{folder}/{adoption.GUIDE}": adoption.guide(RUN),
    }


def _of_codex() -> dict[str, object]:
    """The hooks as Codex starts them: by a shell that knows where the plugin lies."""
    return _by_shell(contracts.find("codex"), '"${PLUGIN_ROOT}"/scripts/hook.sh')


def _of_gemini() -> dict[str, object]:
    """The hooks of the extension, which lies two folders below the toolkit and is linked.

    Not at the top, where its `hooks/hooks.json` would be that of Claude Code.
    """
    return _by_shell(contracts.find("gemini"), '"${extensionPath}"/../../scripts/hook.sh')


def _by_shell(host: contracts.Host, start: str) -> dict[str, object]:
    return {
        event: [settings.grouped(host, event, {
            "type": "command", "timeout": host.events[event].timeout * host.timeouts,
            "command": f"{start} {event} --host={host.name} --plugin"})]
        for event in settings.events(host)
    }  # fmt: skip


def _handler(one: dict[str, object]) -> dict[str, object]:
    """The handler as a plugin starts it: from where the plugin lies."""
    words = one["args"]
    assert isinstance(words, list)
    command = str(one["command"]).replace("/PLUGIN", "${CLAUDE_PLUGIN_ROOT}")
    return {**one, "command": command, "args": [*words[:2], "--plugin"]}
