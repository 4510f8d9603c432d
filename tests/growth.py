"""How the time of a function grows with the length of its text."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of this process alone, whatever else the machine does."""
    start = time.process_time()
    work(text)
    return time.process_time() - start


def is_in_proportion(work: Callable[[str], object], unit: str) -> bool:
    """Whether eight times the text takes about eight times as long; quadratic would be 64 times.

    What a busy machine spoils is tried again; what is quadratic fails each time.
    """
    return any(
        seconds(work, unit * 4_000) < 24 * seconds(work, unit * 500) + 0.01 for _ in range(5)
    )
