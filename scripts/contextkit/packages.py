"""Packages that are not in the standard library, and what happens where they are missing.

Hot commands need none. A command that needs one may have been started by a python that has
none (a hook, a launcher): it then starts itself again with the toolkit's own `.venv`.
"""

from __future__ import annotations

import os
import sys

from contextkit.errors import ContextError

TOOLKIT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_MARK = "CONTEXTKIT_RESTARTED"


def need(*names: str) -> None:
    """Make sure that the packages `names` can be imported; call it before reading standard input.

    Raises ContextError where there is no `.venv` to start again with.
    """
    try:
        for name in names:
            __import__(name)
    except ImportError as error:
        python = os.path.join(TOOLKIT, ".venv", "bin", "python")
        if os.environ.get(_MARK) or not os.access(python, os.X_OK):
            raise ContextError(
                f"the package {error.name} is missing: run `make -C '{TOOLKIT}' setup`"
            ) from None
        os.execve(python, [python, *sys.orig_argv[1:]], {**os.environ, _MARK: "1"})
