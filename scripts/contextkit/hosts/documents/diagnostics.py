"""Diagnostics: what went wrong in hooks, which themselves must never fail.

    .contextkit/hooks/diagnostics.log      one line each, newest last, up to a fixed number

`make doctor` shows them. Remove the file once the problem is fixed.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError

_LENGTH = 400  # characters per line
MOST = 200  # lines kept


def path(hooks: str) -> str:
    """Return the path of the log in the folder of the hooks."""
    return os.path.join(hooks, "diagnostics.log")


def note(hooks: str, where: str, problem: str) -> None:
    """Append a line about `problem`; never raises, since there is nobody to tell."""
    line = names.one_line(f"{names.iso(names.now())} {where}: {problem}")[:_LENGTH]
    target = path(hooks)
    try:
        files.store(os.path.dirname(hooks))
        with files.locked(target + ".lock"):
            kept = lines(hooks)[-(MOST - 1) :]
            files.write(target, "".join(f"{entry}\n" for entry in (*kept, line)))
    except (OSError, ContextError):
        return


def lines(hooks: str) -> list[str]:
    """Return the lines, oldest first; none if there is no file."""
    try:
        text = files.read_bytes(path(hooks)).decode("utf-8", "replace")
    except ContextError:
        return []
    return [line for line in text.splitlines() if line.strip()]
