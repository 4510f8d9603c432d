"""The kinds of text, one module each, with `confidence(text)` and `units(text)`.

What none of them knows is a run of a tool, or a log.
"""

from __future__ import annotations

import importlib

from contextkit.base.type_names import ModuleType


def module(name: str) -> ModuleType:
    """The module of a kind, which is loaded when a text may be of it."""
    return importlib.import_module(f"{__package__}.{name}")
