"""Typed lists: one item a line, or separated by ` | `; by a bare bar where that is clearly meant.

What was understood of a bare bar is said. It stays part of an item in code, types and pipelines.
"""

from __future__ import annotations

import os

from contextkit.base import errors

# What says that a bar without blanks is part of an item: code, a type, a pipeline.
_CODE = frozenset("`\"'()[]{}^$*+\\<>=&")
_AROUND_A_BAR = frozenset(
    "none null nil undefined int str string number bool boolean float any object bytes"
    " grep sort head tail wc sed awk tee jq xargs less cut uniq tr cat".split()
)


def items(name: str, value: str) -> list[str]:
    """The items of the list `name`: see above."""
    found = [i.strip() for line in value.split("\n") for i in line.split(" | ") if i.strip()]
    if len(found) != 1 or "|" not in found[0] or not _CODE.isdisjoint(found[0]):
        return found
    parts = [part.strip() for part in found[0].split("|")]
    words = [part.lower().split() for part in parts]
    even = all(len(some) == 1 for some in words) or all(len(some) > 1 for some in words)
    if not even or os.path.lexists(found[0]):
        return found
    if not _AROUND_A_BAR.isdisjoint(word for some in words for word in (some[0], some[-1])):
        return found
    errors.remarks.append(f"{name}: read as {len(parts)} items: {' | '.join(parts)[:200]}")
    return parts
