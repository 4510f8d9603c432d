"""The wrapper in a host repository: a few files that name a toolkit by its commit hash.

    <dir>/Makefile           includes the toolkit's, and has make fetch it where it is missing
    <dir>/install.sh         fetches a commit and proves its hash
    <dir>/scripts/hook.sh    starts a hook with that toolkit

The toolkit lies in the user's data folder, in `contextkit/<version>` (with the beginning of the
hash if another commit of that version is there). A file `pinned-<hash>` in it names its origin.
"""

from __future__ import annotations

import os
import re
import subprocess

from contextkit.base import files, git, names, templates, version
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.hosts.documents import vendored

_MARK = "pinned-"
_SHORT = 12  # digits of a commit in a folder's name
_INSTALL = "scripts/contextkit/hosts/install.sh"
_PLAIN = re.compile(r"[\w.~:/@+%-]*", re.ASCII)  # make and the shell take it as it is


class Pin(Record):
    """A commit of contextkit and the git URL that it can be fetched from; empty if unknown."""

    commit: str = ""
    origin: str = ""


def pin() -> Pin:
    """Return the commit of this toolkit; empty for a copy or an unpacked archive."""
    if vendored.is_checkout():
        commit = git.run(version.TOOLKIT, "rev-parse", "--verify", "HEAD", fine=(0, 128)).strip()
        origin = vendored.source()
        return Pin(commit=commit, origin=origin if _PLAIN.fullmatch(origin) else "")
    for name in os.listdir(version.TOOLKIT):
        if name.startswith(_MARK):
            return Pin(
                commit=name.removeprefix(_MARK), origin=files.read(version.toolkit(name)).strip()
            )
    return Pin()


def wrapper_files(pinned: Pin) -> dict[str, tuple[bytes, bool]]:
    """Return the files of a wrapper: path -> (content, whether executable)."""
    values = {"version": version.VERSION, "commit": pinned.commit, "short": pinned.commit[:_SHORT]}
    makefile = templates.render("wrapper.mk", origin=pinned.origin, **values)
    hook = templates.render("wrapper_hook.sh", **values)
    return {
        "Makefile": (makefile.encode("utf-8"), False),
        "install.sh": (files.read_bytes(version.toolkit(*_INSTALL.split("/"))), True),
        "scripts/hook.sh": (hook.encode("utf-8"), True),
    }


def notes(pinned: Pin) -> list[str]:
    """Say what a wrapper of this checkout does not bring to others."""
    if not vendored.is_checkout():
        return []
    found = []
    if git.run(version.TOOLKIT, "status", "--porcelain", "--untracked-files=no").strip():
        found.append("this checkout has changes that are not committed: they are not in it")
    if not pinned.origin:
        found.append("this checkout has no remote `origin`: other clones cannot fetch it; copy=1")
    elif not git.run(version.TOOLKIT, "branch", "-r", "--contains", pinned.commit).strip():
        short = pinned.commit[:12]
        found.append(f"push {short} to {names.clipped(pinned.origin, 60)}: others fetch it there")
    return found


def place(pinned: Pin) -> str:
    """Put this toolkit into the user's data folder, if it is not there; return the folder."""
    command = ["sh", version.toolkit(*_INSTALL.split("/")), version.TOOLKIT, pinned.commit,
               version.VERSION, pinned.origin]  # fmt: skip
    if not vendored.is_checkout():
        return version.TOOLKIT
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("contextkit: ")
        raise ContextError(f"{said or 'the toolkit could not be installed'}; copy=1 adopts a copy")
    return done.stdout.decode("utf-8", "surrogateescape").strip()
