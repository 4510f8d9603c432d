"""The words by which texts are read: data in templates/words, in the languages of their authors.

[name]        a list of words, or of phrases between bars
[any name]    expressions, any of which may match
[needs name]  parts of words without which none of these matches an ASCII text; ␣ is a blank
[sign name]   an expression that does as well as these
# …           what the next list is for
"""

from __future__ import annotations

import re

from contextkit.base import files, version
from contextkit.base.expressions import Pattern


class Words:
    """The lists of one file in templates/words."""

    def __init__(self, file: str) -> None:
        rows = files.read(version.toolkit("templates", "words", f"{file}.txt")).split("\n")
        parts = "\n".join(row for row in rows if row[:1] != "#").split("\n[")[1:]
        named = (part.partition("]\n")[::2] for part in parts)
        self._lists = {name: listed.strip() for name, listed in named}
        plain = {name: part for name, part in self._lists.items() if name[:4] != "any "}
        self.words = {name: tuple(part.split()) for name, part in plain.items()}
        self.phrases = {name: tuple(part.replace("\n", "|").split("|"))
                        for name, part in plain.items()}  # fmt: skip

    def any_of(self, name: str, before: str = "", behind: str = "") -> Pattern:
        """What finds any of a list of expressions, in any case."""
        every = "|".join(filter(None, self._lists[f"any {name}"].split("\n")))
        needs, sign = (self._lists.get(f"{of} {name}", "") for of in ("needs", "sign"))
        return Pattern(f"{before}{every}{behind}", re.IGNORECASE, needs, sign)


TEXTS = Words("texts")
