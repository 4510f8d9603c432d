"""What was clearly meant by a word or list that was typed; how it was read is a remark."""

from __future__ import annotations

import os

from contextkit.base import errors
from contextkit.base.type_names import Collection, Mapping

# What says that a bar without blanks is part of an item: code, a type, a pipeline.
_CODE = frozenset("`\"'()[]{}^$*+\\<>=&")
_AROUND_A_BAR = frozenset(
    "none null nil undefined int str string number bool boolean float any object bytes"
    " grep sort head tail wc sed awk tee jq xargs less cut uniq tr cat".split()
)


def word(given: str, allowed: Collection[str], alike: Mapping[str, str], field: str) -> str:
    """The allowed word that `given` stands for, by `alike`; `given` itself if that is not clear.

    Every key of `alike` is words in lowercase, separated by blanks, with the allowed word.
    """
    if given in allowed:
        return given
    plain = given.strip().strip(".!").replace("_", " ").replace("-", " ").lower()
    exact = {name.replace("_", " ").lower(): name for name in allowed}
    known = {one: name for words, name in alike.items() for one in words.split()}
    found = exact.get(plain) or known.get(plain.replace(" ", ""), "")
    if not found:
        return given
    errors.remarks.append(f"{field}={given.strip()[:60]}: read as {found}")
    return found


def items(name: str, value: str) -> list[str]:
    """The items of the list `name`: one a line, or separated by ` | `.

    A bare bar separates where that is clearly meant. It stays part of an item in code, types and
    pipelines.
    """
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
