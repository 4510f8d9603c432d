"""Agent profiles: read word for word, never written.

A profile belongs to the host repository: a text that turns a model into that agent, with its
persona, commands and dependencies. The setting `handoff_profiles` says where profiles are.
"""

from __future__ import annotations

import os

from contextkit.base import files
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout

_MOST_BYTES = 1 << 20  # limit for a profile: 20 times the largest in public collections
_LONG = 24  # characters from which identical lines are not a coincidence


def find(layout: Layout, agent: str, given: str = "") -> str:
    """Return the path of an agent's profile, or '' if there is none.

    `given` is a path that somebody typed; it is refused if it does not exist.
    """
    if given:
        path = layout.typed(given, "profile")
        if not os.path.isfile(path):
            raise bad_input(f"profile: there is no file {given!r}")
        return path
    there = next((path for path in layout.profiles(agent) if os.path.isfile(path)), "")
    return files.inside(layout.root, there, "handoff_profiles") if there else ""


def any_there(layout: Layout) -> bool:
    """Whether this repository has any profiles."""
    return any(os.path.isdir(os.path.dirname(path)) for path in layout.profiles("any"))


def known(layout: Layout) -> list[str]:
    """The ids of all agents with a profile here."""
    found = set()
    for path in layout.profiles("*"):
        folder, name = os.path.split(path)
        head, star, tail = name.partition("*")
        if star and os.path.isdir(folder):
            ends = [
                one for one in os.listdir(folder) if one.startswith(head) and one.endswith(tail)
            ]
            found |= {one[len(head) : len(one) - len(tail)] for one in ends}
    return sorted(found)


def load(layout: Layout, path: str) -> str:
    """Return the text of a profile, byte for byte; '' without a path."""
    if not path:
        return ""
    if os.stat(path).st_size > _MOST_BYTES:
        raise ContextError(
            f"{layout.shown(path)}: too large for a profile: at most {_MOST_BYTES} bytes"
        )
    return files.read(path)


def lines_of_its_own(text: str, others: str) -> frozenset[str]:
    """The longer lines that a profile has and `others` does not, without list markers."""
    return frozenset(_bare_lines(text)) - frozenset(_bare_lines(others))


def _bare_lines(text: str) -> list[str]:
    return [bare for line in text.split("\n") if len(bare := line.strip(" \t\r-*#>")) >= _LONG]
