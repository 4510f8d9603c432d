"""How what a function does grows with what it is given: ratios, for a machine has no fixed pace."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType

from conftest import rounds


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of this process alone, whatever else the machine does."""
    start = time.process_time()
    work(text)
    return time.process_time() - start


def is_in_proportion(work: Callable[[str], object], unit: str) -> bool:
    """Whether eight times the text takes about eight times as long; quadratic would be 64 times.

    What a busy machine spoils is tried again; what is quadratic fails each time.
    """
    return grows_in_proportion(work, lambda count: unit * count)


def grows_in_proportion(
    work: Callable[[str], object], text: Callable[[int], str], most: int = rounds(1_500, 4_000)
) -> bool:
    """As `is_in_proportion`, for the texts that `text` makes of `most` things and an eighth."""
    small, large = text(most // 8), text(most)
    return any(seconds(work, large) < 24 * seconds(work, small) + 0.01 for _ in range(5))


_LOOKS = ("open", "stat", "lstat", "listdir", "scandir")


def calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls, ours and built-in ones: the same on every machine."""
    return _counted(work, lambda event, called: event in ("call", "c_call"))


def looks(work: Callable[[], object]) -> int:
    """How often `work` opens a file, asks for its state, or lists a folder."""
    return _counted(
        work, lambda event, called: event == "c_call" and getattr(called, "__name__", "") in _LOOKS
    )


def hops(work: Callable[[], object], apart: tuple[str, ...] = ()) -> int:
    """How often a module of ours calls another one, but for imports and the modules `apart`."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        caller = frame.f_back
        if event == "call" and caller and "/scripts/contextkit/" in frame.f_code.co_filename:
            here, by = frame.f_code.co_filename, caller.f_code.co_filename.removesuffix(".py")
            is_ours = "/scripts/contextkit/" in by and not by.endswith(apart)
            is_import = "<module>" in (frame.f_code.co_name, caller.f_code.co_name)
            count += is_ours and not is_import and here != by + ".py"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _counted(work: Callable[[], object], counts: Callable[[str, object], bool]) -> int:
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += counts(event, argument)

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
