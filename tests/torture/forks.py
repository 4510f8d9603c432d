"""A command in a fork of this process, which has Python and the scripts loaded already.

A tenth of what a process of its own costs: for the many commands of a trial that nobody kills. What
is killed, stopped or refused a call is a process of its own, under strace.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NoReturn

import contextkit

wanted = False  # set by a worker of `make torture`, which has one thread; a test runner has several
_SECONDS = 60


def prepare() -> None:
    """Load what commands load, so that no fork has to."""
    global wanted
    wanted = True
    for module in pkgutil.walk_packages(contextkit.__path__, "contextkit."):
        if not module.name.endswith("template_compiler"):
            importlib.import_module(module.name)
    for name in ("frontmatter", "yaml", "argparse", "datetime", "difflib", "hashlib", "tomllib"):
        importlib.import_module(name)


def run(
    words: list[str], folder: Path, environment: dict[str, str], text: str
) -> subprocess.CompletedProcess[str]:
    """The script `words[0]` with its arguments, in `folder`, with `text` as standard input."""
    main = importlib.import_module(Path(words[0]).stem)
    with contextlib.ExitStack() as opened:
        given, out, err = (opened.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(text.encode("utf-8", "surrogateescape"))
        given.seek(0)
        child = os.fork()
        if child == 0:
            for number, stream in enumerate((given, out, err)):
                os.dup2(stream.fileno(), number)
            _become(main, words, folder, environment)
        _, status = os.waitpid(child, 0)
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read().decode("utf-8", "surrogateescape"))
    return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), *printed)


def _become(
    script: object, words: list[str], folder: Path, environment: dict[str, str]
) -> NoReturn:
    """Do what the interpreter does before and after `main`; never returns."""
    status = 1
    try:
        signal.alarm(_SECONDS)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        warnings.simplefilter("error")
        sys.argv = words
        sys.orig_argv = [sys.executable, *words]
        sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        status = script.main(words[1:])  # type: ignore[attr-defined]
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
