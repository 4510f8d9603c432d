"""The scratch repository of the demo, and the steps taken in it: what each read and wrote."""

from __future__ import annotations

import os
import subprocess
import sys

from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import toolkit

# Put on the path of every step: writes down which files of the scratch repository are opened.
WATCH = """
import os, sys
scratch, log = os.environ["DEMO_SCRATCH"] + "/", os.environ["DEMO_LOG"]
def watch(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith(scratch):
        writes = (args[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if not writes and not args[0].endswith((".py", ".pyc")):
            os.write(fd, (args[0][len(scratch):] + "\\n").encode())
fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
sys.addaudithook(watch)
"""


class Walk:
    """The scratch repository and the steps taken in it."""

    def __init__(self, folder: str) -> None:
        self.scratch = os.path.join(os.path.realpath(folder), "host")
        self._log = os.path.join(folder, "opened.log")
        with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write(WATCH)
        kept = {k: v for k, v in os.environ.items() if k not in ("SESSION_ID", "CONTEXT_ROOT")}
        self.environment = {
            **kept,
            "PYTHONPATH": folder,
            "DEMO_SCRATCH": self.scratch,
            "DEMO_LOG": self._log,
        }
        self._number = 0

    def git(self, *arguments: str) -> str:
        name = ("-c", "user.name=demo", "-c", "user.email=demo@example.org")
        done = subprocess.run(
            ["git", *name, *arguments],
            cwd=self.scratch, check=True, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        return done.stdout

    def step(self, title: str, *call: str, stdin: str = "", may_say_no: bool = False) -> str:
        """Run one make target and print what it said, read and wrote; returns its stdout.

        A target that fails ends the walk, unless its answer on stdout `may_say_no`.
        """
        self._number += 1
        before = self._files()
        open(self._log, "w", encoding="utf-8").close()
        done = subprocess.run(
            ["make", "-s", "-f", toolkit("Makefile"), *call],
            cwd=self.scratch, env=self.environment, input=stdin,
            capture_output=True, encoding="utf-8",
        )  # fmt: skip
        if done.returncode and not (may_say_no and done.stdout):
            raise ContextError(f"step {self._number}, make {call[0]}: {done.stderr.strip()}")
        after = self._files()
        with open(self._log, encoding="utf-8") as file:
            opened = dict.fromkeys(file.read().splitlines())
        show(f"\n{self._number}. {title}")
        show("   $ make " + " ".join(_shell_word(word) for word in call))
        for line in done.stderr.splitlines():
            if not line.startswith("make: ***"):  # its own word for a status that is not 0
                show(f"     {line}")
        read = [path for path in opened if not path.startswith((".git/", ".contextkit/"))]
        show(f"   read:  {', '.join(read) or 'nothing of the repository'}")
        wrote = [path for path, state in after.items() if before.get(path) != state]
        for path in wrote:
            with open(os.path.join(self.scratch, path), encoding="utf-8") as file:
                show(f"   wrote: {path} (~{tokens.estimate(file.read())} tokens)")
        if not wrote:
            show("   wrote: nothing")
        return done.stdout

    def _files(self) -> dict[str, tuple[int, int]]:
        """Each file that is not git's or ours to forget: its time and size."""
        found = {}
        for folder, folders, names in os.walk(self.scratch):
            folders[:] = [name for name in folders if name not in (".git", ".contextkit")]
            for name in names:
                path = os.path.join(folder, name)
                state = os.stat(path)
                found[os.path.relpath(path, self.scratch)] = (state.st_mtime_ns, state.st_size)
        return found


def show(text: str) -> None:
    """Print a line of the demo at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def indent(text: str, most: int = 400) -> str:
    """`text` set off from what the demo itself says, at most `most` lines of it."""
    lines = text.splitlines()
    cut = [f"   | … {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join([f"   | {line}".rstrip() for line in lines[:most]] + cut)


def write_file(folder: str, name: str, text: str) -> None:
    """A file that somebody else, not contextkit, would have written."""
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _shell_word(word: str) -> str:
    name, _, value = word.partition("=")
    return f'{name}="{value}"' if " " in value else word
