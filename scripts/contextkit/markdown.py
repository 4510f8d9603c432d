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
