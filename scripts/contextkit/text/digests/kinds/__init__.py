"""The kinds of text, one module each, with `confidence(text)` and `units(text)`."""

from __future__ import annotations

import importlib
import os

from contextkit.base.type_names import ModuleType


def names() -> list[str]:
    """The names of all kinds."""
    there = os.listdir(os.path.dirname(__file__))
    return sorted(name[:-3] for name in there if name.endswith(".py") and name[0] != "_")


def module(name: str) -> ModuleType:
    """The module of a kind, which is loaded when a text may be of it."""
    return importlib.import_module(f"{__package__}.{name}")
