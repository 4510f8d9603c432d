"""Names of our targets that a host's own Makefile has too: the host's win, ours have a prefix.

Read from the text of the Makefiles, since asking make would run what they run while they are read.
"""

from __future__ import annotations

import os
import re

from contextkit.base import makefiles
from contextkit.base.records import Record

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the first that is there is make's
_RULE = re.compile(r"^ *(?P<targets>[^\t\s#:=][^#:=]*?) *::?(?![:=])")
_INCLUDE = re.compile(r"^ *[-s]?include +(?P<paths>[^#$*]+)")
_PREFIX = re.compile(r"^ *CONTEXTKIT_PREFIX *:?:?= *(?P<prefix>\S+)", re.M)


class Collision(Record):
    """A target of ours that the rule at `path`, `line` defines; ours is called `reachable`."""

    name: str
    path: str
    line: int
    reachable: str

    def told(self) -> str:
        """It in a sentence; a name that has the prefix itself has no other."""
        there = f"{self.path}:{self.line} has a target {self.name} of its own"
        way = "hides ours" if self.reachable == self.name else f"ours is make {self.reachable}"
        return f"{there}: {way}"


def find(root: str) -> list[Collision]:
    """The names that are taken in the Makefile of `root` and in what it includes, in order."""
    first = next((name for name in MAKEFILES if os.path.isfile(os.path.join(root, name))), "")
    texts = _texts(root, [first] if first else [])
    prefixes = [match["prefix"] for text in texts.values() for match in _PREFIX.finditer(text)]
    prefix = prefixes[-1] if prefixes else "context_"
    ours = {
        target.name: _reachable(target.name, prefix)
        for target in makefiles.targets()
        if target.section != makefiles.CHECKOUT
    }
    return [
        Collision(name=name, path=path, line=line, reachable=ours[name])
        for path, text in texts.items()
        for name, line in _defined(text)
        if name in ours
    ]


def _reachable(name: str, prefix: str) -> str:
    return name if name.startswith("context_") else f"{prefix}{name}"


def _texts(root: str, paths: list[str]) -> dict[str, str]:
    """The text of each Makefile below `root` by its path, and of what it includes; not ours."""
    found: dict[str, str] = {}
    while paths:
        path = os.path.normpath(paths.pop(0))
        try:
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue  # generated, or not in reach
        if path not in found and "\ncontextkit.capsule_prompt" not in text:
            found[path] = text
            for line in text.split("\n"):
                match = _INCLUDE.match(line)
                paths += match["paths"].split() if match else []
    return found


def _defined(text: str) -> list[tuple[str, int]]:
    """Each target that a rule names, with the first line of the rule."""
    found: list[tuple[str, int]] = []
    start, joined = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        start = start if joined else number
        joined += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        match = _RULE.match(joined)
        found += [(name, start) for name in match["targets"].split()] if match else []
        joined = ""
    return found
