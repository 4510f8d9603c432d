"""A repository with the hooks in it, and a host that is started there with a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import clients
from clients import Done
from models import Models


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True,
                          encoding="utf-8").stdout  # fmt: skip


@dataclass
class Project:
    """A repository with the hooks in it, a home of its own, and a host to be started there."""

    root: Path
    home: Path
    host: str
    form: str = ""  # `v2`: the second form of Codex's subagents; `older`: an older version

    def run(
        self, models: Models, *prompts: str, options: tuple[str, ...] = (), cwd: str = "",
        **more: str,
    ) -> Done:  # fmt: skip
        """A session; its prompts are turns of it (Codex: each resumes the one before)."""
        place = self.root / cwd
        if self.host == "claude":
            folder = clients.OLDER if self.form == "older" else clients.CLIENTS
            return clients.claude(
                self.home, place, models.address, *prompts, options=options, folder=folder, **more
            )
        if self.host == "gemini":
            return clients.gemini(self.home, place, models.address, prompts[0], options, **more)
        if self.host == "copilot":
            return clients.copilot(self.home, place, models.address, prompts[0], options, **more)
        extra = "multi_agent_v2 = true" if self.form == "v2" else ""
        clients.codex_home(self.home, self.root, models.address, extra)
        done = clients.codex(self.home, place, prompts[0], options, True, **more)
        for prompt in prompts[1:]:
            done = clients.codex(
                self.home, place, prompt, (*options, "resume", "--last"), True, **more
            )
        return done

    def git(self, *words: str) -> str:
        return git(self.root, *words)

    def make(self, *words: str) -> str:
        return subprocess.run(
            ["make", "-s", "-C", self.root, *words], capture_output=True, encoding="utf-8",
            env={**os.environ, "HOME": str(self.home)},
        ).stdout  # fmt: skip

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.root.glob(pattern))

    def settings(self, **values: object) -> None:
        text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items())
        (self.root / "contextkit.yaml").write_text(text, encoding="utf-8")

    @property
    def diagnostics(self) -> str:
        path = self.root / ".contextkit" / "hooks" / "diagnostics.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""
