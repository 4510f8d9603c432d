"""The identity of a finding: the same as long as target, file, symbol and title are.

    identity("plan.md", "`load()` trusts the token", "src/app.py:42")  ->  f-3b1c9a0d52e7

Line numbers are left out, since they move with every edit; so is the dress of a title. A finding
that the next run words in another way is found by `synthesis`, and keeps its identity.
"""

from __future__ import annotations

from contextkit.base import names

_FILLERS = frozenset("a an the of in on to and or is are for with".split())
_DIGITS = 12  # of the digest


def identity(target: str, title: str, place: str = "", near: str = "") -> str:
    """`f-` and twelve digits. `place` is a path, with lines or without; `near` is the symbol or
    the line of code that it is about, empty where the title names one.
    """
    parts = (" ".join(target.split()), file_of(place).lstrip("./"), near.strip(), _words(title))
    digest = names.sha256("\0".join(parts).encode("utf-8", "replace"))
    return f"f-{digest[:_DIGITS]}"


def file_of(place: str) -> str:
    """`src/app.py` of `src/app.py:42` and `src/app.py#L42-L45`."""
    path = place.partition("#")[0]
    while path.rpartition(":")[2].replace("-", "").replace(",", "").isdigit():
        path = path.rpartition(":")[0]
    return path


def _words(title: str) -> str:
    plain = "".join(char if char.isalnum() or char == "_" else " " for char in title.casefold())
    return " ".join(word for word in plain.split() if word not in _FILLERS)
