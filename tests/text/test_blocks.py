"""text/blocks.py: what it reads, and where it means to differ from a CommonMark parser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import each
from contextkit.text import blocks as reader
from contextkit.text.blocks import Block, blocks
from growth import is_in_proportion
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before `sealed` empties the environment

# What a reader sees: (kind, level of a heading, first line from 1).
Seen = set[tuple[str, int, int]]
KINDS = {
    "fence": "code",
    "table_open": "table",
    "heading_open": "heading",
    "list_item_open": "item",
    "hr": "rule",
}
PARSER = MarkdownIt("commonmark").enable("table")


def oracle(text: str) -> Seen:
    return {
        (KINDS[token.type], int(token.tag[1]) if token.tag[:1] == "h" and token.tag != "hr" else 0,
         token.map[0] + 1)
        for token in PARSER.parse(text)
        if token.type in KINDS and token.map
    }  # fmt: skip


def ours(text: str) -> Seen:
    return {
        (one.kind, one.level if one.kind == "heading" else 0, one.first)
        for one in blocks(text)
        if one.kind in KINDS.values()
    }


PIECES = st.sampled_from(
    [
        "text", "more *text* with `code`", "# One", "## Two ##", "###### Six", "####### seven",
        "#nothing", "  ### Three", "#", "# a # b #c", "| a | b |\n|---|---|\n| 1 | 2 |",
        "a | b\n--|--\n1 | 2", "```\n# code\n- code\n```", "````\n```\n````", "``` `no` fence",
        "   ```\n   x\n   ```", "**bold:** text", "<br>", "2025 was a year", "-no item",
        "1.no item", "*emphasis* first", "Title\n=====", "Second\n---", "---", "***",
        "- a", "* b\n* c", "+ d", "1. e", "1) f\n2) g", "- h\n  goes on", "- i\n\n  a paragraph",
        "- j\n  - inside\n  - twice", "1. k\n   - l", "- m\n  ```\n  # code\n  ```",
        "<!-- a\n# comment\n-->",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=8).map(lambda pieces: "\n\n".join(["above", *pieces])))
def test_both_see_the_same_blocks(text: str) -> None:
    assert ours(text) == oracle(text)


@given(st.lists(st.sampled_from(["```", "````", "~~~", "x", "", "# H"]), max_size=12))
def test_both_see_the_same_fences_where_all_are_closed(lines: list[str]) -> None:
    text = "\n".join([*lines, "end"])
    closed = not any(token.type == "fence" and token.map and token.map[1] > len(lines)
                     for token in PARSER.parse(text))  # fmt: skip
    if closed:
        assert ours(text) == oracle(text)


# Where ours differs from the oracle, and means to: (text, what only it sees, what only we see).
MEANT = {
    "a fence may stand at any indent":
        ("text\n\n      ```\n      x\n      ```", set(), {("code", 0, 3)}),
    "a fence that is never closed hides nothing":
        ("```\n# A", {("code", 0, 1)}, {("heading", 1, 2)}),
    "a fence with a language is nested in the one around it":
        ("```md\n```py\n```\n# quoted\n```", {("heading", 1, 4), ("code", 0, 5)}, set()),
    "quoted text is not looked into: it is somebody else's":
        ("> # Quoted", {("heading", 1, 1)}, set()),
    "text that is only moved right is read: items are moved right too":
        ("text\n\n    - a", set(), {("item", 0, 3)}),
    "a heading in an item is text: it begins no section":
        ("- # A", {("heading", 1, 1)}, set()),
    "a numbered line is an item also right below text and with any number":
        ("text\n2. two", set(), {("item", 0, 2)}),
    "a bullet of typography is one": ("• a", set(), {("item", 0, 1)}),
    "a mark with nothing behind it is not an item": ("-", {("item", 0, 1)}, set()),
    "only one line of text can be underlined, and only by three marks":
        ("a\nb\n---\n\nc\n=", {("heading", 2, 1), ("heading", 1, 5)}, {("rule", 0, 3)}),
    "rows with bars at both ends are a table without a rule below the first":
        ("| a | b |\n| c | d |", set(), {("table", 0, 1)}),
    "a comment that is never closed hides nothing":
        ("<!-- a\n# A", set(), {("heading", 1, 2)}),
}  # fmt: skip


@each("tolerance", MEANT)
def test_a_difference_is_meant(tolerance: str) -> None:
    text, theirs, mine = MEANT[tolerance]
    assert (oracle(text) - ours(text), ours(text) - oracle(text)) == (theirs, mine)


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real files")
@pytest.mark.parametrize("path", sorted(Path(CORPUS or "/nonexistent").rglob("*.md")), ids=str)
def test_both_see_the_same_headings_in_real_texts(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    lines = text.split("\n")
    odd = [line for kind, _, line in ours(text) ^ oracle(text) if kind == "heading"]
    if not any(line.lstrip() == "### Findings Index" != line for line in lines):  # quoted
        assert "```markdown" in text or all(lines[line - 1].lstrip()[:1] in ">-" for line in odd)


def seen(text: str) -> list[tuple[str, int, str, int, int, int]]:
    return [tuple(one) for one in blocks(text)]  # type: ignore[misc]


def test_a_heading_reaches_to_the_next_one_of_its_level() -> None:
    text = "above\n\n# A\ntext\n\n## B\n\n- item\n\n# C"
    assert seen(text) == [
        ("text", 0, "above", 1, 1, -1),
        ("heading", 1, "A", 3, 8, -1),
        ("text", 0, "text", 4, 4, 1),
        ("heading", 2, "B", 6, 8, 1),
        ("item", 0, "item", 8, 8, 3),
        ("heading", 1, "C", 10, 10, -1),
    ]


def test_an_item_reaches_over_all_that_is_indented_below_it() -> None:
    text = (
        "1. one\n   goes on\n\n   a paragraph\n   - inside\n\n     ```py\n     x\n     ```\n2. two"
    )
    assert seen(text) == [
        ("item", 0, "one", 1, 9, -1),
        ("text", 0, "a paragraph", 4, 4, 0),
        ("item", 3, "inside", 5, 9, 0),
        ("code", 0, "py", 7, 9, 2),
        ("item", 0, "two", 10, 10, -1),
    ]


def test_front_matter_quotes_rules_and_comments_are_blocks_of_their_own() -> None:
    text = "---\na: 1\n---\n> said\n> more\n***\n<!-- x\ny -->\nend\nof it"
    assert [(one.kind, one.first, one.last) for one in blocks(text)] == [
        ("matter", 1, 3), ("quote", 4, 5), ("rule", 6, 6), ("comment", 7, 8), ("text", 9, 10),
    ]  # fmt: skip


@each("text", ["", "\n\n", "\ufeff", "-", "|", "---", "\r\r"])
def test_odd_texts_are_read(text: str) -> None:
    assert all(one.kind != "heading" for one in blocks(text))


@given(st.text(alphabet="#->|`~=*_ \n1.a\t<!", max_size=60))
def test_blocks_nest_and_stand_in_order_in_any_text(text: str) -> None:
    found = blocks(text)
    assert [one.first for one in found] == sorted(one.first for one in found)
    rows = reader.lines(text)
    covered: set[int] = set()
    for at, one in enumerate(found):
        assert one.inside < at and one.first <= one.last
        covered |= set(range(one.first, one.last + 1))
        if one.inside >= 0:
            outer = found[one.inside]
            assert outer.first < one.first and one.last <= outer.last
    assert all(number in covered for number, row in enumerate(rows, 1) if row.strip())


@each(
    "line",
    ["# a\n", "- a\n", "```\n", "```py\n", "| a |\n", "> a\n", "<!--\n", "a\n", "a | b\n", "x\n\n",
     "- a\n  - b\n    - c\n", "`" * 7 + "\n", "~~~\n```\n", "a\n---\n", "#" * 9 + "\n"],
)  # fmt: skip
def test_the_time_grows_with_the_length_of_the_text(line: str) -> None:
    assert is_in_proportion(blocks, line)


def test_the_block_is_a_value() -> None:
    assert Block("text", 0, "a", 1, 1, -1) == blocks("a")[0]
