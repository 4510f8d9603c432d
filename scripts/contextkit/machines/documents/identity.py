"""The identity of this machine: a clone, a sandbox, a job or a worktree each has its own.

    .contextkit/machine      two lines: the id (12 characters), a name for people

The id is drawn at random once and never derived from anything, so two folders that look the same to
the operating system are still two machines.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record

LENGTH = 12
_CHARACTERS = "abcdefghijklmnopqrstuvwxyz234567"
_LONGEST_NAME = 60


class Machine(Record):
    """A machine: `id` is for programs and never changes; `name` is for people and may change."""

    id: str
    name: str

    def check(self) -> None:
        if not is_id(self.id):
            raise bad_input(f"machine: {self.id[:40]!r} is not a machine id: make context_remotes")


def is_id(text: str) -> bool:
    """Return whether a text is a valid machine id."""
    return len(text) == LENGTH and set(text) <= set(_CHARACTERS)


def clean_name(text: str) -> str:
    """Return a name fit for display: one line of at most 60 printable characters."""
    line = "".join(char for char in names.one_line(text) if char.isprintable())
    return line[:_LONGEST_NAME].strip()


def _path(layout: Layout) -> str:
    return os.path.join(layout.state, "machine")


def load(layout: Layout) -> Machine | None:
    """Return this machine if it has an id yet. Raises ContextError if the file holds no id."""
    text = files.read_if_there(_path(layout))
    if text is None:
        return None
    first, _, rest = text.partition("\n")
    if not is_id(first.strip()):
        where = layout.shown(_path(layout))
        raise ContextError(f"{where}: has no machine id: remove the file, and a new id is drawn")
    return Machine(id=first.strip(), name=clean_name(rest) or first.strip())


def ensure(layout: Layout) -> Machine:
    """Return this machine, giving it an id first if it has none."""
    found = load(layout)
    if found is None:
        files.store(layout.state)
        drawn = "".join(_CHARACTERS[byte % len(_CHARACTERS)] for byte in os.urandom(LENGTH))
        try:
            files.create(_path(layout), f"{drawn}\n{_default_name(layout)}\n", exact=True)
        except FileExistsError:
            pass  # another process was faster: use its id
        found = load(layout)
    assert found is not None
    return found


def _default_name(layout: Layout) -> str:
    given = os.environ.get("CONTEXT_MACHINE", "")
    return clean_name(given or f"{os.uname().nodename} {os.path.basename(layout.root)}")


def forget(layout: Layout) -> None:
    """Give up this identity: the next call draws a new id."""
    files.discard(_path(layout))
