"""Diagnostics: what went wrong in hooks, which must never fail themselves.

    .contextkit/hooks/diagnostics.log      a line each, the newest last, so many at most

`make doctor` shows them. Remove the file when what it says is fixed.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError

_LENGTH = 400  # characters of a line
MOST = 200  # lines that are kept


def path(hooks: str) -> str:
    """The file in the folder of the hooks."""
    return os.path.join(hooks, "diagnostics.log")


def note(hooks: str, where: str, problem: str) -> None:
    """Add a line about `problem`; never raises, since nobody is there to be told."""
    line = names.one_line(f"{names.iso(names.now())} {where}: {problem}")[:_LENGTH]
    target = path(hooks)
    try:
        files.store(os.path.dirname(hooks))
        with files.locked(target + ".lock"):
            kept = lines(hooks)[-(MOST - 1) :]
            files.write(target, "".join(f"{one}\n" for one in (*kept, line)))
    except (OSError, ContextError):
        return


def lines(hooks: str) -> list[str]:
    """The lines, oldest first; none where there is no file."""
    try:
        text = files.read_bytes(path(hooks)).decode("utf-8", "replace")
    except ContextError:
        return []
    return [line for line in text.splitlines() if line.strip()]
