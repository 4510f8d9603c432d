"""Install the clients that the tests start: the pinned ones, or the newest with `newest`.

They go into `.clients` in the checkout (git does not see it), from the registry that npm is set
up for, and nothing is installed again that is there.
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
    wanted: dict[str, str] = json.loads(PINNED.read_text(encoding="utf-8"))["dependencies"]
    if sys.argv[1:] == ["newest"]:
        wanted = dict.fromkeys(wanted, "latest")
    elif all(version == _there(name) for name, version in wanted.items()):
        return 0
    clients.CLIENTS.mkdir(parents=True, exist_ok=True)
    (clients.CLIENTS / ".gitignore").write_text("*\n", encoding="utf-8")
    names = [f"{name}@{version}" for name, version in wanted.items()]
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]
    return subprocess.run([*command, str(clients.CLIENTS), *names]).returncode


def _there(name: str) -> str:
    path = Path(clients.CLIENTS, "node_modules", name, "package.json")
    return str(json.loads(path.read_text("utf-8"))["version"]) if path.exists() else ""


if __name__ == "__main__":
    raise SystemExit(main())
