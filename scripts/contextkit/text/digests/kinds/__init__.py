"""The kinds of text, one module each, with `confidence(text)` and `units(text)`.

A text of none of them is a run of a tool, or a log. `make bench what=outputs` measures the numbers
of all kinds, and `what=receipts` those of reports and reviews.
"""

from __future__ import annotations

import functools
import importlib

from contextkit.base.type_names import ModuleType


def module(name: str) -> ModuleType:
    """The module of a kind, loaded on demand."""
    return importlib.import_module(f"{__package__}.{name}")


@functools.lru_cache(maxsize=32)
def confidence(name: str, text: str) -> int:
    """How sure a kind is that a text belongs to it, 0 to 100."""
    return int(module(name).confidence(text))
