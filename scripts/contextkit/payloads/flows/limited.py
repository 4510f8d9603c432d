"""Giving up on work that takes too long, where somebody waits for an answer (a hook's host).

with limited.seconds(2):
    …                      raises TooLong after two seconds
"""

from __future__ import annotations

import signal
import threading

from contextkit.base.type_names import FrameType


class TooLong(Exception):
    """The time was up."""


class seconds:
    """Limit the time of a `with` block; 0 is no limit. Only the main thread can be interrupted."""

    def __init__(self, most: float) -> None:
        self._most = most if threading.current_thread() is threading.main_thread() else 0

    def __enter__(self) -> None:
        if self._most:
            self._before = signal.signal(signal.SIGALRM, _ring)
            signal.setitimer(signal.ITIMER_REAL, self._most)

    def __exit__(self, *_: object) -> None:
        if self._most:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise TooLong
