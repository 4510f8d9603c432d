"""Which session a command belongs to: one order, the same for every system."""

from __future__ import annotations

import os

from contextkit import files, formats, git, names
from contextkit.errors import ContextError
from contextkit.layout import Layout

VARIABLES = ("SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")


def find(layout: Layout, given: str, slug: str) -> str:
    """The session's id; empty where nothing names one.

    In this order: the option, the variables above, the pointers of the process kit for the
    branch `slug` and for the checkout, the branch's retro marker, the one we keep.
    """
    variables = (os.environ.get(name, "") for name in VARIABLES)
    named = next((text for text in (given, *variables) if text.strip()), "")
    if named:
        return named
    for pointer in (f".current-{slug}", ".current"):
        found = _first_line(os.path.join(layout.sessions, pointer))
        if found:
            return os.path.basename(found.rstrip("/"))
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


def current(layout: Layout, given: str, now: int) -> tuple[str, bool]:
    """The session to store under, and whether it was made up just now.

    As `find`; where nothing names one, one is generated, kept, and reused until it was idle for
    24 hours (`payload_idle`).
    """
    branch = git.head(layout.repository).branch if layout.repository else ""
    kept = os.path.join(layout.state, "session")
    if _is_stale(layout, kept, now):
        os.unlink(kept)
    found = find(layout, given, branch.replace("/", "-"))
    if found:
        if not given and os.path.isfile(kept) and _first_line(kept) == found:
            os.utime(kept, (now, now))
        return found, False
    files.store(layout.state)
    made = f"sess-{names.stamp(now)}-{os.urandom(3).hex()}"
    try:
        files.create(kept, made + "\n", exact=True)
    except FileExistsError:  # another process was faster: its session is ours
        return _first_line(kept), False
    os.utime(kept, (now, now))
    return made, True


def forget(layout: Layout, session: str) -> None:
    """Stop reusing a generated session that was ended."""
    kept = os.path.join(layout.state, "session")
    if _first_line(kept) == session:
        os.unlink(kept)


def _is_stale(layout: Layout, kept: str, now: int) -> bool:
    try:
        return now - os.stat(kept).st_mtime > names.seconds(layout.limits.payload_idle)
    except FileNotFoundError:
        return False


def find_current(layout: Layout) -> str:
    """The session that the surroundings name, or the one that we keep; never a new one."""
    branch = git.head(layout.repository).branch if layout.repository else ""
    return find(layout, "", branch.replace("/", "-"))
