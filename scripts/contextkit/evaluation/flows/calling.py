"""Calls of the user's own command: a prompt on its standard input, its answer back."""

from __future__ import annotations

import os
import subprocess
import threading


class Caller:
    """Starts commands, ends those that take more than `seconds`, and all of them on `stop`."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stopped = False
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(self, command: str, text: str, folder: str) -> tuple[str, str, str]:
        """Run a command in a folder: its answer, why it gave none, what it said on stderr."""
        if self._stopped:
            return "", "stopped", ""
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._running.add(process)
        if self._stopped:  # meanwhile
            _end(process)
        try:
            out, complaint = process.communicate(text.encode("utf-8"), self._seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            process.communicate()
            return "", f"no answer in {self._seconds} s", ""
        finally:
            with self._lock:
                self._running.discard(process)
        failed = f"exit status {process.returncode}" if process.returncode else ""
        return out.decode("utf-8", "replace"), failed, complaint.decode("utf-8", "replace")

    def stop(self) -> None:
        """Let no further call begin, and end those under way."""
        self._stopped = True
        with self._lock:
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it started: it leads a process group of its own."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
