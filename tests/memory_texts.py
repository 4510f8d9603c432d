"""Texts that could break a Markdown document, for the tests of external memory."""

from __future__ import annotations

from contextkit import sections
from hypothesis import strategies as st

# Pieces that mean something in the formats, in any order and nesting.
PIECES = st.sampled_from(
    [
        "## Summary", "## Key Discoveries", "### From `a_20250104T120000.md`", "# Findings: x",
        "- [x] a", "- [ ] b (answered)", "1. one", "- two", "```", "````", "~~~", "```py", "\\",
        "\\## x", "\\```", "- Completed: a, b", "**Status**: failed", "<!-- a -->", "unknown",
        "<!-- contextkit: files={} -->", "none", "  ", "\t", "`", "``", " - ", "a", "é", "\u2028",
        "\x0b", "{{ x }}", "---",
    ]
)  # fmt: skip
LINES = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=4).map("".join)
TEXT = st.lists(LINES, max_size=6).map("\n".join)
LIST = st.lists(TEXT, max_size=3)
FILES = st.lists(st.builds(sections.FileNote, path=TEXT, note=TEXT), max_size=3)
