"""The entry point of an installation from git: `uvx --from git+<origin>@<tag> contextkit …`.

What pip or uv installed is only this door: it knows the commit that it came from, puts that into
the user's data folder, as a wrapper does, and calls the target there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata

from contextkit.base.version import VERSION

_INSTALL = os.path.join(os.path.dirname(__file__), "..", "install.sh")


def main() -> int:
    """Run `contextkit TARGET name=value …` and return its exit status."""
    text = metadata.distribution("contextkit").read_text("direct_url.json")
    source = json.loads(text or "{}")
    commit = source.get("vcs_info", {}).get("commit_id", "")
    if not commit:
        sys.stderr.write("contextkit: was not installed from git: clone it and use `make`\n")
        return 1
    command = ["sh", _INSTALL, source["url"], commit, VERSION]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return 1
    place = done.stdout.strip()
    setup = subprocess.run(["python3", os.path.join(place, "scripts", "setup.py")])
    if setup.returncode:
        return 1
    return subprocess.run([os.path.join(place, "bin", "contextkit"), *sys.argv[1:]]).returncode
