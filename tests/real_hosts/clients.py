"""The real programs, installed from npm into the checkout, started with nothing of the user's.

An empty home, no variable of the surroundings, a dummy key, no telemetry, and a model service on
127.0.0.1; every other address is a proxy that refuses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CLIENTS = Path(os.environ.get("CONTEXTKIT_CLIENTS") or HERE.parents[1] / ".clients")
OLDER = CLIENTS / "older"  # versions that still have to work
NODE = shutil.which("node") or ""
_REFUSED = "http://127.0.0.1:9"  # nobody listens there


def program(name: str, folder: Path = CLIENTS) -> Path:
    return folder / "node_modules" / ".bin" / name


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a client gets: nothing of the user's, and no way out but the loopback interface."""
    home.mkdir(parents=True, exist_ok=True)
    here = os.environ
    kept = {"PATH": f"{Path(NODE).parent}:{here['PATH']}", "TERM": "dumb", "LANG": "C.UTF-8"}
    proxies = {name: _REFUSED for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy",
                                           "https_proxy", "ALL_PROXY")}  # fmt: skip
    local = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), **proxies, **local, **more}


@dataclass(frozen=True)
class Done:
    """A session that is over."""

    status: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        found = []
        for line in self.out.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found


def _run(command: list[str], cwd: Path, env: dict[str, str], given: str, seconds: int) -> Done:
    """Start a client and wait for it; one that hangs is ended with its children."""
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, err = process.communicate()
        raise AssertionError(f"{command[0]} hung:\n{out[-3000:]}\n{err[-3000:]}") from None
    return Done(process.returncode, out, err)


def claude(
    home: Path, project: Path, address: str, *prompts: str, options: tuple[str, ...] = (),
    folder: Path = CLIENTS, **more: str,
) -> Done:  # fmt: skip
    """A headless session of Claude Code; several prompts are several turns."""
    env = environment(
        home, ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="sk-ant-dummy",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1",
        DISABLE_TELEMETRY="1", **more,
    )  # fmt: skip
    given = "".join(
        json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n"
        for prompt in prompts
    )
    command = [str(program("claude", folder)), "-p", "--verbose", "--model", "claude-sonnet-4-5",
               "--input-format", "stream-json", "--output-format", "stream-json",
               "--permission-mode", "acceptEdits", *options]  # fmt: skip
    return _run(command, project, env, given, 120)


def codex_home(home: Path, project: Path, address: str, extra: str = "") -> Path:
    """CODEX_HOME with a model provider on the loopback interface."""
    folder = home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(
        f'''model = "gpt-5.5"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
multi_agent = true
{extra}
[model_providers.mock]
name = "mock"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[projects."{project}"]
trust_level = "trusted"
''',
        encoding="utf-8",
    )
    return folder


def codex(
    home: Path, project: Path, prompt: str, options: tuple[str, ...] = (), trusted: bool = True,
    **more: str,
) -> Done:  # fmt: skip
    """A headless session of Codex (`codex_home` first)."""
    env = environment(home, CODEX_HOME=str(home / ".codex"), MOCK_KEY="dummy", **more)
    trust = ["--dangerously-bypass-hook-trust"] if trusted else []
    command = [str(program("codex")), "exec", "--json", *trust, *options, "-"]
    return _run(command, project, env, prompt, 120)


def gemini(
    home: Path, project: Path, address: str, prompt: str, options: tuple[str, ...] = (), **more: str
) -> Done:
    """A headless session of Gemini CLI, in a folder that is trusted."""
    env = environment(home, GOOGLE_GEMINI_BASE_URL=address, GEMINI_API_KEY="dummy",
                      GEMINI_CLI_TRUST_WORKSPACE="true", **more)  # fmt: skip
    folder = home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False}}  # fmt: skip
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [str(program("gemini")), "--output-format", "json", "--yolo", "--model",
               "gemini-2.5-flash", *options, "--prompt", prompt]  # fmt: skip
    return _run(command, project, env, "", 120)


def copilot(
    home: Path, project: Path, address: str, prompt: str, options: tuple[str, ...] = (), **more: str
) -> Done:
    """A headless session of GitHub Copilot CLI with a model provider of one's own: no account."""
    env = environment(
        home, COPILOT_OFFLINE="true", COPILOT_PROVIDER_BASE_URL=address,
        COPILOT_PROVIDER_TYPE="anthropic", COPILOT_PROVIDER_API_KEY="dummy",
        COPILOT_MODEL="claude-sonnet-4.5", COPILOT_AUTO_UPDATE="false", COPILOT_ALLOW_ALL="true",
        **more,
    )  # fmt: skip
    command = [str(program("copilot")), "--allow-all-tools", "--allow-all-paths",
               "--trust-folder", *options, "--prompt", prompt]  # fmt: skip
    return _run(command, project, env, "", 120)
