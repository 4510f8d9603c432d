"""Targets of a host that clash with ours: the host's stay, ours get a prefix.

The Makefiles are read, not run, so targets that make generates while running are not seen.
"""

from __future__ import annotations

import os
import re

from contextkit.base import files, makefiles
from contextkit.hosts.flows.adoption_parts import MAKEFILES

_RULE = re.compile(r"^(?P<names>[^\s#:=][^:=#]*?)\s*::?(?![:=])")
_PREFIX = re.compile(r"^\s*(?:override\s+)?CONTEXTKIT_PREFIX\s*:?:?=\s*(\S+)", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*[-s]?include\s+(.*)")
_MOST = 50  # Makefiles read


def find(into: str, folder: str) -> list[str]:
    """Return a sentence for each target of the host in `into` whose name is also one of ours.

    `folder` is our own copy, whose Makefile is skipped.
    """
    ours = {one.name for one in makefiles.targets() if one.section != makefiles.CHECKOUT}
    found: dict[str, str] = {}
    prefix = "context_"
    for path, text in _texts(into, folder):
        prefix = (_PREFIX.findall(text) or [prefix])[-1]
        for number, line in enumerate(text.replace("\\\n", "  ").split("\n"), 1):
            rule = _RULE.match(line)
            for name in rule["names"].split() if rule else ():
                if name in ours:
                    found.setdefault(name, f"{path}:{number}")
    return [f"{place}: {_sentence(name, prefix)}" for name, place in found.items()]


def _sentence(name: str, prefix: str) -> str:
    if name.startswith("context_"):
        return f"has a target `{name}`, as we do, and only one can be: rename it"
    return f"has a target `{name}` of its own: it stays; contextkit's is `make {prefix}{name}`"


def _texts(into: str, folder: str) -> list[tuple[str, str]]:
    """Yield (path, text) of the host's Makefile and of the files that it includes by name."""
    start = next((n for n in MAKEFILES if os.path.isfile(os.path.join(into, n))), "")
    found: dict[str, str] = {}
    waiting = [start] if start else []
    while waiting and len(found) < _MOST:
        path = waiting.pop(0)
        whole = os.path.join(into, path)
        inside = f"{os.path.normpath(path)}/".startswith(folder + "/")
        if path in found or inside or not os.path.isfile(whole):
            continue
        text = files.read_bytes(whole).decode("utf-8", "replace")
        found[path] = text
        for line in text.split("\n"):
            included = _INCLUDE.match(line)
            waiting += included[1].partition("#")[0].split() if included else []
    return list(found.items())
