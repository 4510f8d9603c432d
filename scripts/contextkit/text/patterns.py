"""Regular expressions that cost nothing until a text needs them."""

from __future__ import annotations

import os
import re

from contextkit.base import expressions, files, stores
from contextkit.base.type_names import Any, Callable

Search = Callable[[str], re.Match[str] | None]


class Pattern:
    """A regular expression that is compiled on first use, since few texts need all of them.

    Every match holds one of the lower-case words `needs` (`␣` is a blank). Looking for those first
    speeds up an expression that may match at any character.
    """

    search: Any

    def __init__(self, source: str, flags: int = 0, needs: str = "") -> None:
        self._source, self._flags = source, flags
        self.needs = tuple(word.replace("␣", " ") for word in needs.split())
        MADE.append(self)

    @property
    def compiled(self) -> re.Pattern[str]:
        return expressions.compiled(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        compiled = self.compiled
        for method in ("match", "fullmatch", "search", "sub", "findall", "finditer", "split"):
            setattr(self, method, getattr(compiled, method))
        if self.needs:
            self.search = self._only_where_needed(compiled.search)
        return getattr(self if name in self.__dict__ else compiled, name)

    def _only_where_needed(self, search: Search) -> Search:
        def found(text: str) -> re.Match[str] | None:
            is_there = not text.isascii() or any(map(text.lower().__contains__, self.needs))
            return search(text) if is_there else None

        return found


MADE: list[Pattern] = []  # all of them, to be compiled in advance


def compile_all() -> None:
    """Compile every expression of the toolkit for later processes, as set-up does."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in files.folders(package, apart="compiled"):
        place = os.path.relpath(folder, os.path.dirname(package)).replace("/", ".")
        for name in stores.files_in(folder, ".py"):
            __import__(f"{place}.{name.removesuffix('.py')}".removesuffix(".__init__"))
    for pattern in MADE:
        _ = pattern.compiled
    expressions.keep()
