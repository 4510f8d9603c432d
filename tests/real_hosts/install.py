"""Install the clients that the tests start: the pinned ones, or the newest with `newest`.

They go into `.clients` in the checkout (git does not see it), older versions into `.clients/older`,
from the registry that npm is set up for; what is there already is not installed again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import clients

PINNED = clients.HERE / "package.json"


def main() -> int:
    npm = shutil.which("npm")
    if not npm:
        sys.stderr.write("test_hosts: npm is not there: install node 20 or newer\n")
        return 1
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    wanted: dict[str, str] = pinned["dependencies"]
    if sys.argv[1:] == ["newest"]:
        wanted = dict.fromkeys(wanted, "latest")
    status = _install(npm, clients.CLIENTS, wanted)
    return status or _install(npm, clients.OLDER, pinned["older"])


def _install(npm: str, folder: Path, wanted: dict[str, str]) -> int:
    """Install what is missing; returns npm's exit status."""
    if all(version == _there(folder, name) for name, version in wanted.items()):
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    names = [f"{name}@{version}" for name, version in wanted.items()]
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]
    return subprocess.run([*command, str(folder), *names]).returncode


def _there(folder: Path, name: str) -> str:
    path = folder / "node_modules" / name / "package.json"
    return str(json.loads(path.read_text("utf-8"))["version"]) if path.exists() else ""


if __name__ == "__main__":
    raise SystemExit(main())
