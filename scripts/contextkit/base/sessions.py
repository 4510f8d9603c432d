"""Which session a command belongs to; every system uses the same order."""

from __future__ import annotations

import os

from contextkit.base import files, git, host_variables, names, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout

VARIABLES = ("SESSION_ID", *host_variables.SESSIONS)


def is_name(text: str) -> bool:
    """Whether a text is safe as the name of a session folder or of a file in it."""
    return names.safe(text) and text[0] != "_"


def key(session: str) -> str:
    """A short name that distinguishes a session from others; '' for an id that we generated.

    Such an id stands for no known session: work before and after its creation belongs together.
    """
    head, _, stamp_and_id = session.partition("-")
    is_made_up = head == "sess" and names.shape(stamp_and_id[:16]) == "00000000T000000Z"
    if not session or is_made_up:
        return ""
    if is_name(session) and len(session) <= 24:
        return session
    import binascii

    short = "".join(char for char in session[:8] if char in names.SAFE)
    return f"{short}.{binascii.crc32(session.encode('utf-8', 'replace')):08x}"


def is_session(text: str) -> bool:
    """Whether a text can be a session id."""
    return is_name(text) and len(text) <= 64


def check(session: str) -> str:
    """The session id, safe as a folder name. Raises ContextError for any other."""
    if not is_session(session):
        allowed = "1 to 64 of A-Z a-z 0-9 . _ -, a letter or digit first"
        raise bad_input(f"session: {session[:80]!r} must be {allowed}")
    return session


def check_spelling(path: str) -> None:
    """Raise ContextError if the folder at `path` is another session's, in other capitals."""
    place, session = os.path.split(path)
    other = os.path.join(place, session.swapcase())
    if other == path or not (os.path.lexists(other) and os.path.lexists(path)):
        return
    if os.path.samefile(path, other):
        there = [name for name in os.listdir(place) if name.casefold() == session.casefold()]
        if session not in there:
            raise bad_input(
                f"session: {session!r} is {there[0]!r} to this file system: use that name"
                if there
                else f"session: {session!r} has just ended: try again"
            )


def named(layout: Layout, slug: str = "") -> tuple[str, str]:
    """The session's id and where that comes from; '' if nothing names one, never a new one.

    The order is: the variables above, the pointers of the process kit for the branch `slug` and for
    the checkout, the branch's retro marker, the id that we keep.
    """
    for variable in VARIABLES:
        if text := os.environ.get(variable, "").strip():
            return text, variable
    slug = slug or git.head(layout.repository).branch.replace("/", "-")
    pointer, marker = f"{layout.sessions}/.current", os.path.join(layout.markers, slug + ".json")
    for path in filter(os.path.isfile, (f"{pointer}-{slug}", pointer, marker, layout.own_session)):
        session: object = files.first_line(path)
        if path == marker:
            from contextkit.base import formats

            session = formats.object_in(formats.tail(path, 1 << 16)).get("session_id")
        if session and isinstance(session, str):
            return os.path.basename(session.rstrip("/")), layout.shown(path)
    return "", "none is set; the first command that stores something generates one"


def current(layout: Layout, typed: str, now: int) -> tuple[str, bool]:
    """The session to store under, `typed` or as `named`, and whether it was generated just now.

    A generated one is reused until it has been idle for `payload_idle`.
    """
    kept = layout.own_session
    oldest = now - names.seconds(layout.limits.payload_idle)
    if stores.modified(kept) < oldest:
        with files.locked(layout.lock(kept)):
            if stores.modified(kept) < oldest:  # none was generated while we waited
                files.discard(kept)
    if session := typed.strip() or find_current(layout):
        if files.first_line(kept) == session:
            files.touch(kept, now)
        return session, False
    made = f"sess-{names.stamp(now)}-{os.urandom(3).hex()}"
    try:
        files.create(kept, made + "\n", exact=True)
    except FileExistsError:  # another process was faster: use its session
        session = files.first_line(kept)
        if not session:
            raise ContextError(f"{layout.shown(kept)}: names no session: remove it") from None
        return session, False
    files.touch(kept, now)
    return made, True


def of_hosts() -> list[str]:
    """The ids of the running session that hosts have set in the environment."""
    ids = (os.environ.get(variable, "") for variable in host_variables.SESSIONS)
    return [text for text in ids if text]


def find_current(layout: Layout) -> str:
    """The session named by the environment, or the one that we keep; never a new one."""
    return named(layout)[0]


def lives(layout: Layout, session: str) -> bool:
    """Whether the host's process that last worked in a session is still there."""
    text = files.read_if_there(os.path.join(layout.running, session)) or ""
    process = text.partition("\n")[0]
    return is_running(int(process) if process.isdigit() else 0)


def began(layout: Layout, session: str) -> int:
    """When a session was first seen at work here, or its id was generated; 0 if unknown."""
    if not key(session):
        return names.moment(session)
    record = os.path.join(layout.running, session)
    return int(os.stat(record).st_mtime) if is_name(session) and os.path.isfile(record) else 0


def is_running(process: int) -> bool:
    """Whether there is a process with this number."""
    if process <= 1:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # owned by another user
    return True


def forget(layout: Layout, session: str) -> None:
    """Stop reusing a generated session that was ended."""
    kept = layout.own_session
    if files.first_line(kept) == session:
        files.discard(kept)
