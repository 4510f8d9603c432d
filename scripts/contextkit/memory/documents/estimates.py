"""Rules of thumb for planning: what reading and writing will cost before it is there.

They are the seed's (External Memory System, Token Estimation) and rough on purpose; a text that
exists is counted by `tokens.estimate`, everywhere.
"""

from __future__ import annotations

# What each costs at least and at most, in tenths of a token.
RULES = {
    "words": (13, 13),
    "code_lines": (100, 100),
    "file_reads": (5_000, 20_000),
    "responses": (10_000, 30_000),
}


def planned(counts: dict[str, int]) -> tuple[int, int]:
    """The tokens, at least and at most, of so many of each of RULES; a mix adds up."""
    low = sum(number * RULES[name][0] for name, number in counts.items())
    high = sum(number * RULES[name][1] for name, number in counts.items())
    return -(-low // 10), -(-high // 10)
