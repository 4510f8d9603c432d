"""Third-party packages, and what happens if they are missing.

Hot commands need none. Others, started by a Python without them, restart themselves with `.venv`.
"""

from __future__ import annotations

import os
import sys

from contextkit.base.errors import ContextError
from contextkit.base.type_names import Any
from contextkit.base.version import TOOLKIT

_MARK = "CONTEXTKIT_RESTARTED"


def need(*names: str) -> None:
    """Make sure that packages can be imported, before input is read. Raises ContextError."""
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


def optional(*modules: str, requirement: str, purpose: str) -> Any:
    """Import modules that set-up does not install, and return the first; raises ContextError.

    `requirement` is what set-up installs; `purpose` begins the message: `object stores need`.
    """
    from importlib import import_module

    extend_path()
    try:
        imported = [import_module(name) for name in modules]
        return imported[0]
    except ImportError:
        raise ContextError(
            f"{purpose} the package {modules[0]}: run `make -C '{TOOLKIT}' setup"
            f' with="{requirement}"`'
        ) from None


def speak_utf8() -> None:
    """Restart this process in Python's UTF-8 mode, unless it is already in that mode.

    In a locale with another encoding, a path with an umlaut could be neither written nor shown.
    """
    if not sys.flags.utf8_mode and not os.environ.get(_MARK):
        variables = {**os.environ, "PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], variables)


def stay() -> None:
    """Never restart this process, since it has read its input; a missing package is an error."""
    os.environ[_MARK] = "1"


def extend_path() -> bool:
    """Let this process import the packages in `.venv` after starting without them (`python -S`)."""
    lib = os.path.join(TOOLKIT, ".venv", "lib")
    try:
        paths = [os.path.join(lib, name, "site-packages") for name in sorted(os.listdir(lib))]
    except OSError:
        return False
    sys.path += [path for path in paths if path not in sys.path and os.path.isdir(path)]
    return True
