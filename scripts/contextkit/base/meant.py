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


def word(typed: str, allowed: Collection[str], alike: Mapping[str, str], field: str) -> str:
    """The allowed word that `typed` stands for, by `alike`; `typed` itself if that is not clear.

    Every key of `alike` is words in lowercase, separated by blanks, with the allowed word.
    """
    if typed in allowed:
        return typed
    plain = typed.strip().strip(".!").replace("_", " ").replace("-", " ").lower()
    exact = {name.replace("_", " ").lower(): name for name in allowed}
    aliases = {alias: name for words, name in alike.items() for alias in words.split()}
    choice = exact.get(plain) or aliases.get(plain.replace(" ", ""), "")
    if not choice:
        return typed
    errors.remarks.append(f"{field}={typed.strip()[:60]}: read as {choice}")
    return choice


def items(name: str, value: str) -> list[str]:
    """The items of the list `name`: one a line, or separated by ` | `.

    A bare bar separates where that is clearly meant. It stays part of an item in code, types and
    pipelines.
    """
    listed = [i.strip() for line in value.split("\n") for i in line.split(" | ") if i.strip()]
    if len(listed) != 1 or "|" not in listed[0] or not _CODE.isdisjoint(listed[0]):
        return listed
    parts = [part.strip() for part in listed[0].split("|")]
    words = [part.lower().split() for part in parts]
    even = all(len(some) == 1 for some in words) or all(len(some) > 1 for some in words)
    if not even or os.path.lexists(listed[0]):
        return listed
    if not _AROUND_A_BAR.isdisjoint(word for some in words for word in (some[0], some[-1])):
        return listed
    errors.remarks.append(f"{name}: read as {len(parts)} items: {' | '.join(parts)[:200]}")
    return parts
