"""Markdown, as far as it has to be understood: what is code, and what is text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are in no code fence, with their numbers from 1, blanks at the end taken off.

    A fence ends with one at least as long as it began with; one without an end hides the rest.
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif bare[:3] in ("```", "~~~") and bare[0] not in bare.lstrip(bare[0]):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        else:
            yield number, line.rstrip()


def in_fences(lines: list[str]) -> list[bool]:
    """Of each line, whether it is in a code fence (or begins or ends one).

    A fence that nothing closes is none here: it hides nothing. Linear, whatever the text.
    """
    if not any("```" in line or "~~~" in line for line in lines):
        return [False] * len(lines)
    if not any("```" in line or "~~~" in line for line in lines):
        return [False] * len(lines)
    closers = _closers(lines)
    found = []
    fence = ""
    for line, after in zip(lines, closers, strict=True):
        bare = line.strip()
        if fence:
            found.append(True)
            fence = "" if _closes(bare, fence) else fence
        else:
            run = fence_of(bare)
            closed = bool(run) and after.get(run[0], 0) >= len(run)
            fence = run if closed else ""
            found.append(closed)
    return found


def fence_of(bare: str) -> str:
    """The run of backticks or tildes with which a line without indent begins a fence; or empty."""
    if bare[:3] not in ("```", "~~~") or bare[0] in bare.lstrip(bare[0]):
        return ""
    return bare[: len(bare) - len(bare.lstrip(bare[0]))]


def _closes(bare: str, fence: str) -> bool:
    return bare.startswith(fence) and not bare.strip(fence[0])


def _closers(lines: list[str]) -> list[dict[str, int]]:
    """For each line, how long the longest line after it is that can close a fence, by its kind."""
    longest: dict[str, int] = {}
    found = []
    for line in reversed(lines):
        found.append(longest)
        bare = line.strip()
        if bare[:3] in ("```", "~~~") and not bare.strip(bare[0]):
            if len(bare) > longest.get(bare[0], 0):
                longest = {**longest, bare[0]: len(bare)}
    return found[::-1]
