"""Texts that could break a Markdown document, for the tests of external memory.

Each text is made from a seed, since drawing its pieces one by one takes Hypothesis ten times as
long as the code under test takes.
"""

from __future__ import annotations

from random import Random

from contextkit.text import sections
from hypothesis import strategies as st

# Pieces with a meaning in the formats, to combine in any order and nesting.
PIECES = (
    "## Summary", "## Key Discoveries", "### From `a_20250104T120000.md`", "# Findings: x",
    "- [x] a", "- [ ] b (answered)", "1. one", "- two", "```", "````", "~~~", "```py", "\\",
    "\\## x", "\\```", "- Completed: a, b", "**Status**: failed", "<!-- a -->", "unknown",
    "<!-- contextkit: files={} -->", "none", "  ", "\t", "`", "``", " - ", "a", "é", "\u2028",
    "\x0b", "{{ x }}", "---",
)  # fmt: skip
_RANGES = ((0, 0x20), (0x20, 0x7F), (0x7F, 0x100), (0x2000, 0x2070), (0x1F600, 0x1F640))


def _line(seed: int) -> str:
    chance = Random(seed)
    return "".join(_piece(chance) for _ in range(chance.randrange(5)))


def _piece(chance: Random) -> str:
    if chance.random() < 0.7:
        return chance.choice(PIECES)
    ranges = chance.choices(_RANGES, k=chance.randrange(9))
    return "".join(chr(chance.randrange(*ends)) for ends in ranges)


def _text(seed: int) -> str:
    chance = Random(seed)
    return "\n".join(_line(chance.getrandbits(32)) for _ in range(chance.randrange(7)))


SEEDS = st.integers(0, (1 << 32) - 1)
LINES = SEEDS.map(_line)
TEXT = SEEDS.map(_text)
LIST = st.lists(TEXT, max_size=3)
FILES = st.lists(st.builds(sections.FileNote, path=TEXT, note=TEXT), max_size=3)
