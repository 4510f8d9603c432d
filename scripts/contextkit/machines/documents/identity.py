"""This machine's identity: a clone, a sandbox, a job, or a worktree of its own.

    .contextkit/machine      two lines: the id (12 characters), a name for people

The id is drawn once and never computed from anything, so two folders that are the same to an
operating system are still two machines.
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
    """`id` is for programs and never changes; `name` is for people and may."""

    id: str
    name: str

    def check(self) -> None:
        check_id(self.id)


def is_id(text: str) -> bool:
    """Whether a text can be the id of a machine."""
    return len(text) == LENGTH and set(text) <= set(_CHARACTERS)


def check_id(text: str, field: str = "machine") -> str:
    """The id of a machine; raises ContextError for anything else."""
    if not is_id(text):
        raise bad_input(f"{field}: {text[:40]!r} is not an id of a machine: make context_remotes")
    return text


def clean_name(text: str) -> str:
    """A name as it is shown: one line of at most 60 printable characters."""
    line = "".join(char for char in names.one_line(text) if char.isprintable())
    return line[:_LONGEST_NAME].strip()


def path(layout: Layout) -> str:
    """The file that holds the id."""
    return os.path.join(layout.state, "machine")


def load(layout: Layout) -> Machine | None:
    """This machine, where it has an id already. Raises ContextError for a file without one."""
    text = files.read_if_there(path(layout))
    if text is None:
        return None
    first, _, rest = text.partition("\n")
    if not is_id(first.strip()):
        where = layout.shown(path(layout))
        raise ContextError(f"{where}: has no machine id: remove the file, and a new id is drawn")
    return Machine(id=first.strip(), name=clean_name(rest) or first.strip())


def ensure(layout: Layout) -> Machine:
    """This machine; it gets its id here where it has none."""
    found = load(layout)
    if found is None:
        files.store(layout.state)
        drawn = "".join(_CHARACTERS[byte % len(_CHARACTERS)] for byte in os.urandom(LENGTH))
        try:
            files.create(path(layout), f"{drawn}\n{_default_name(layout)}\n", exact=True)
        except FileExistsError:
            pass  # another process was faster: its id is ours
        found = load(layout)
    assert found is not None
    return found


def _default_name(layout: Layout) -> str:
    given = os.environ.get("CONTEXT_MACHINE", "")
    return clean_name(given or f"{os.uname().nodename} {os.path.basename(layout.root)}")


def forget(layout: Layout) -> None:
    """Stop being this machine: the next call draws a new id."""
    files.discard(path(layout))
