"""A host's Makefiles: which one make reads, what it includes, which targets clash with ours.

They are read, not run, so targets that make generates while running are not seen.
"""

from __future__ import annotations

import os
import re

from contextkit.base import files, makefiles

NAMES = ("GNUmakefile", "makefile", "Makefile")  # make uses the first that exists
_INCLUDE = re.compile(r"^[^\S\n]*[-s]?include[^\S\n]+(.*)", re.MULTILINE)
_MOST = 50  # Makefiles read


def taken(into: str, folder: str) -> list[str]:
    """Return a sentence for each target of the host in `into` whose name is also one of ours.

    `folder` is our own copy, whose Makefile is skipped.
    """
    found, prefix = makefiles.ours_in(_texts(into, folder))
    return [f"{place}: {_sentence(name, prefix)}" for name, place in found.items()]


def _sentence(name: str, prefix: str) -> str:
    if name.startswith("context_"):
        return f"has a target `{name}`, as we do, and only one can be: rename it"
    return f"has a target `{name}` of its own: it stays; contextkit's is `make {prefix}{name}`"


def _texts(into: str, folder: str) -> list[tuple[str, str]]:
    """Return (path, text) of the host's Makefile and of the files that it includes by name."""
    start = next((n for n in NAMES if os.path.isfile(os.path.join(into, n))), "")
    found: dict[str, str] = {}
    waiting = [start] if start else []
    while waiting and len(found) < _MOST:
        path = waiting.pop(0)
        whole = os.path.join(into, path)
        inside = f"{os.path.normpath(path)}/".startswith(folder + "/")
        if path in found or inside or not os.path.isfile(whole):
            continue
        found[path] = _text(whole)
        waiting += includes(found[path])
    return list(found.items())


def _text(path: str) -> str:
    return files.read_bytes(path).decode("utf-8", "replace")


def includes(text: str) -> list[str]:
    """Return the files that a Makefile includes, as they are written."""
    lines = [line.partition("#")[0] for line in _INCLUDE.findall(text)]
    return [name for line in lines for name in line.split()]


def included(into: str) -> list[str]:
    """Return the folders whose Makefile is included by one that make might read in `into`."""
    there = [path for name in NAMES if os.path.isfile(path := os.path.join(into, name))]
    found = [name for path in there for name in includes(_text(path))]
    return [name.removesuffix("/Makefile") for name in found if name.endswith("/Makefile")]
