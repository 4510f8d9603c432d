"""Seen agents: what hooks know about each subagent, by session and agent id.

    .contextkit/hooks/<session>/<agent>.json      one file per subagent
    .contextkit/hooks/<session>/<agent>.link      what the main agent is to be told of its report
    .contextkit/hooks/<session>/behind, reviewer …    marks of the session itself

All subagents of a host share its session's id. Hosts may stop a subagent that they never reported
as started, and may stop one several times.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record

# Marks of a session, beside the files of its agents:
BEHIND = "behind"  # a turn ended before its transcript was written
COMPACTION = "compaction"  # the snapshot that a compaction is to complete
REVIEWER = "reviewer"  # the agent of a review run that the session is
_LINK = ".link"


class HookAgent(Record):
    """A subagent; `blocks` counts its blocks, `stored` is the payload of its last message."""

    agent_type: str = ""
    started: int = 0  # seconds since 1970; 0 if unknown
    stopped: int = 0
    blocks: int = 0
    digest: str = ""
    stored: str = ""
    about: str = ""  # the description in the call that started it
    asked: bool = False  # sent back to answer in its own words, or to mend its answer
    verdict: str = ""  # the name of its verdict
    doubted: bool = False  # sent back for what contradicts its index


def folder(layout: Layout, session: str) -> str:
    """The folder for a session, whose name is already safe (`hosts.HookInput`)."""
    return os.path.join(layout.hooks, session or "unknown")


def path(layout: Layout, session: str, name: str) -> str:
    """A file of a session: a mark, or that of a subagent, whose name is safe as well."""
    return os.path.join(folder(layout, session), name)


def link(layout: Layout, session: str, agent: str) -> str:
    """The file with the place of a subagent's report, until the main agent has been told."""
    return path(layout, session, (agent or "main") + _LINK)


def links(layout: Layout, session: str) -> list[str]:
    """The files with places that the main agent has not been told yet."""
    named = stores.names_in(folder(layout, session))
    return [path(layout, session, name) for name in named if name.endswith(_LINK)]


def take(path: str) -> str:
    """Remove a link and return its text; '' if the agent has been told already."""
    try:
        text = files.read_if_there(path) or ""
        os.unlink(path)
    except OSError:
        return ""
    return text.strip()


def load(layout: Layout, session: str, agent: str) -> HookAgent:
    """Load the record of a subagent; empty for an unknown one or a broken file."""
    text = files.text_of(path(layout, session, (agent or "main") + ".json"))
    try:
        return formats.build_known(HookAgent, formats.object_in(text.encode()), agent)  # type: ignore[no-any-return]
    except ContextError:
        return HookAgent()


def of_session(layout: Layout, session: str) -> dict[str, HookAgent]:
    """Load every subagent of a session, by its id; broken files are left out."""
    stems = [name[:-5] for name in stores.files_in(folder(layout, session), ".json")]
    return {stem: load(layout, session, stem) for stem in stems}


def save(layout: Layout, session: str, agent: str, record: HookAgent) -> str:
    """Save the record of a subagent; return its path."""
    target = path(layout, session, (agent or "main") + ".json")
    return files.write(target, formats.to_json(record) + "\n")


def locked(layout: Layout, session: str) -> files.locked:
    """The lock under which a session's subagents are changed."""
    return files.locked(os.path.join(folder(layout, session), "agents.lock"))


def send_back(layout: Layout, session: str, agent: str, most: int, doubts: bool = False) -> bool:
    """Count one more block of a subagent and return True, unless it has had `most` already.

    Of `doubts` about what it says it is asked once.
    """
    with locked(layout, session):
        record = load(layout, session, agent)
        if record.blocks >= most or (doubts and record.doubted):
            return False
        doubted = doubts or record.doubted
        save(layout, session, agent, record.replace(blocks=record.blocks + 1, doubted=doubted))
    return True


def forget(layout: Layout, session: str) -> bool:
    """Remove what is known of a session's subagents; return whether there was anything."""
    place = folder(layout, session)
    if not session or not os.path.isdir(place) or os.path.islink(place):
        return False
    try:
        files.sweep(place, names.now())
        for name in os.listdir(place):
            if not files.is_draft(name):
                os.unlink(os.path.join(place, name))
        os.rmdir(place)
    except OSError:
        pass  # something else is in it, or a draft in progress
    return True


def sweep(layout: Layout, now: int) -> int:
    """Forget sessions without subagent activity for `payload_idle`; return how many."""
    idle = names.seconds(layout.limits.payload_idle)
    sessions = [(name, folder(layout, name)) for name in stores.names_in(layout.hooks)]
    old = [name for name, place in sessions if now - os.lstat(place).st_mtime > idle]
    return sum(forget(layout, session) for session in old)
