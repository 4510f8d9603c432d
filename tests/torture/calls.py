"""The system calls of a command, and a command that ends, fails or stops at one of them (strace).

A point is the name of a call and its number among those of that name, as strace counts them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from scenes import Base, Command, environment, run

# What changes something, or may wait; a kill between two of the others changes nothing.
_CHANGES = (
    "openat", "write", "fsync", "rename", "link", "linkat", "unlink", "mkdir", "rmdir", "fchmod",
    "utimensat", "ftruncate", "flock", "symlink", "chmod", "close",
)  # fmt: skip
_TRACED = ",".join(
    f"?{name}" for name in (*_CHANGES, "renameat", "renameat2", "unlinkat", "mkdirat")
)
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|\?)")
# Calls whose failing is tried, and how they fail.
ERRORS = ("EIO", "ENOSPC", "EROFS", "EDQUOT")
_MAY_FAIL = frozenset(
    "openat write fsync rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat"
    " fchmod utimensat symlink".split()
)


def here() -> str:
    """Why nothing can be traced on this machine; empty where it can."""
    if not shutil.which("strace"):
        return "needs strace"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True)
    return "" if tried.returncode == 0 else "strace may not trace here"


@dataclass(frozen=True)
class Call:
    """One system call of a command: its arguments as text; `ours`: it changes the repository."""

    name: str
    number: int  # among those of its name, from 1
    text: str
    ours: bool
    failed: bool

    def __str__(self) -> str:
        return f"{self.name} {self.number} ({self.text[:70]})"


def trace(command: Command, folder: Path) -> tuple[list[Call], subprocess.CompletedProcess[str]]:
    """The calls of the command itself (not of what it starts), in order, and how it ended."""
    log = folder.parent / "trace"
    before = ("strace", "-y", "-s", "300", "-o", str(log), "-e", f"trace={_TRACED}")
    done = run(command, folder, before=before)
    counted: dict[str, int] = {}
    calls = []
    for line in log.read_text("utf-8", "replace").splitlines():
        found = _CALL.match(line)
        if found:
            name, text, result = found.groups()
            counted[name] = counted.get(name, 0) + 1
            calls.append(
                Call(name, counted[name], text, _is_ours(name, text, folder), result[0] == "-")
            )
    return calls, done


def usual(
    base: Base, command: Command, place: Path
) -> tuple[list[Call], subprocess.CompletedProcess[str]]:
    """`trace` in an untouched repository, once for all trials: it is the same in each."""
    key = f"{base.folder} {command.name}"
    if key not in _usual:
        _usual[key] = trace(command, base.copy(place / "traced"))
    return _usual[key]


_usual: dict[str, tuple[list[Call], subprocess.CompletedProcess[str]]] = {}


def _is_ours(name: str, text: str, folder: Path) -> bool:
    where = text.partition('"')[0] if name == "write" else text
    if str(folder) not in where:
        return False
    return not (name == "openat" and "O_CREAT" not in text) and not (
        name == "close" and ".tmp" not in text
    )


def points(calls: list[Call]) -> list[Call]:
    """Those at which it may be killed or stopped: all that change something of the repository."""
    return [call for call in calls if call.ours]


def may_fail(calls: list[Call]) -> list[Call]:
    """Those that a full or broken disk may refuse."""
    return [call for call in calls if call.ours and call.name in _MAY_FAIL and not call.failed]


def killed_at(command: Command, folder: Path, call: Call) -> subprocess.CompletedProcess[str]:
    """Run it until this call, which is not made any more."""
    return run(command, folder, before=_inject(call, "signal=KILL"))


def failing_at(
    command: Command, folder: Path, call: Call, error: str, on: bool
) -> subprocess.CompletedProcess[str]:
    """Run it; this call fails, and with `on` every later one of its name too."""
    return run(command, folder, before=_inject(call, f"error={error}", "+" if on else ""))


def _inject(call: Call, fault: str, further: str = "") -> tuple[str, ...]:
    return ("strace", "-o", os.devnull, "-e", f"trace={call.name}", "-e",
            f"inject={call.name}:{fault}:when={call.number}{further}")  # fmt: skip


class Stopped:
    """A command that is stopped right after this call, until `go_on`."""

    def __init__(self, command: Command, folder: Path, call: Call) -> None:
        self._log = folder.parent / "stopped"
        self._log.write_bytes(b"")
        words = list(_inject(call, "signal=STOP"))
        words[2] = str(self._log)
        self._process = subprocess.Popen(
            [*words, *command.line()], cwd=folder, env=environment(folder.parent),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            errors="surrogateescape", start_new_session=True,
        )  # fmt: skip
        self._text = command.text or ""
        if self._process.stdin:
            self._process.stdin.write(self._text)
            self._process.stdin.close()
            self._process.stdin = None

    def reached(self, seconds: float = 20) -> bool:
        """Wait until it is stopped; False where it ended without getting there."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._process.poll() is None:
            if "stopped by SIGSTOP" in self._log.read_text("utf-8", "replace"):
                return True
            time.sleep(0.004)
        return False

    def go_on(self) -> subprocess.CompletedProcess[str]:
        """Let it go on, and how it ended."""
        for child in _children(self._process.pid):
            os.kill(child, signal.SIGCONT)
        try:
            out, err = self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            out, err = self._process.communicate()
            err += "\nit did not end within 30 seconds"
        return subprocess.CompletedProcess([], self._process.returncode, out, err)


def _children(process: int) -> list[int]:
    try:
        return [
            int(one)
            for one in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
        ]
    except OSError:
        return []
