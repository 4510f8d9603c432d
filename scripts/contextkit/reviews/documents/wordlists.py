"""The words by which reviews are read, as data: templates/words/reviews.txt.

# what the list is for
[negations]
no not keine
"""

from __future__ import annotations

import functools

from contextkit.base import files, version


def of(name: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(listed(name))


def listed(name: str) -> tuple[str, ...]:
    """Return the words of a list in their order."""
    return _all()[name]


@functools.cache
def _all() -> dict[str, tuple[str, ...]]:
    text = files.read(version.toolkit("templates", "words", "reviews.txt"))
    rows = "\n".join(row for row in text.split("\n") if row[:2] != "# ")
    parts = (part.partition("]\n") for part in rows.split("\n[")[1:])
    return {name: tuple(words.split()) for name, _, words in parts}
