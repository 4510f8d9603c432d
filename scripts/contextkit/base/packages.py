"""Packages that are not in the standard library, and what happens where they are missing.

Hot commands need none. A command that needs one may have been started by a python that has
none (a hook, a launcher): it then starts itself again with the toolkit's own `.venv`.
"""

from __future__ import annotations

import os
import sys

from contextkit.base.errors import ContextError
from contextkit.base.version import TOOLKIT

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


def speak_utf8() -> None:
    """Start this process again in Python's UTF-8 mode, unless it is in it.

    In a locale of another encoding a path or a text with an umlaut could not be written or shown.
    Python itself takes care of the locales C and POSIX.
    """
    if not sys.flags.utf8_mode and not os.environ.get(_MARK):
        variables = {**os.environ, "PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], variables)


def stay() -> None:
    """Never start this process again, since it has read its input; what is missing is an error."""
    os.environ[_MARK] = "1"


def extend_path() -> bool:
    """Let this process import the packages of `.venv`, after a start without them (`python -S`)."""
    lib = os.path.join(TOOLKIT, ".venv", "lib")
    try:
        found = [os.path.join(lib, name, "site-packages") for name in sorted(os.listdir(lib))]
    except OSError:
        return False
    sys.path += [path for path in found if path not in sys.path and os.path.isdir(path)]
    return True
