"""Which session a command belongs to: one order, the same for every system."""

from __future__ import annotations

import os

from contextkit import files, formats
from contextkit.errors import ContextError
from contextkit.layout import Layout

VARIABLES = ("SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")


def find(layout: Layout, given: str, slug: str) -> str:
    """The session's id; empty where nothing names one.

    In this order: the option, the variables above, the pointers of the process kit for the
    branch `slug` and for the checkout, the branch's retro marker, the one we keep.
    """
    named = given or next((os.environ[v] for v in VARIABLES if os.environ.get(v)), "")
    if named:
        return named
    for pointer in (f".current-{slug}", ".current"):
        found = _first_line(os.path.join(layout.sessions, pointer))
        if found:
            return os.path.basename(found)
    return _from_marker(layout.retro_marker(slug)) or _first_line(
        os.path.join(layout.state, "session")
    )


def _first_line(path: str) -> str:
    try:
        return files.read(path).partition("\n")[0].strip()
    except ContextError:
        return ""


def _from_marker(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    try:
        found = formats.from_json(files.read(path), path)
    except ContextError:
        return ""
    session = found.get("session_id") if isinstance(found, dict) else None
    return session if isinstance(session, str) else ""
