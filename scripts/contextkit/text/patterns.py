"""Regular expressions that cost nothing until a text needs them."""

from __future__ import annotations

import re

from contextkit.base.type_names import Any


class Pattern:
    """A regular expression that is compiled on first use: few texts need all of them."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags
        MADE.append(self)

    @property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself, which `re` keeps."""
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        compiled = self.compiled
        for method in ("match", "search", "sub", "findall", "finditer", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


MADE: list[Pattern] = []  # all of them, to compile before a text comes
