"""markdown.py: what it reads, and where it means to differ from a CommonMark parser."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from conftest import each
from contextkit.base import markdown
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before `sealed` empties the environment

# What a reader sees in a text, by line numbers from 0.
Seen = tuple[set[int], dict[int, int], set[int]]  # lines of code, orders of headings, list items


def oracle(text: str) -> Seen:
    """What a CommonMark parser sees. Headings made by an underline are not asked for."""
    code: set[int] = set()
    headings: dict[int, int] = {}
    items: set[int] = set()
    for token in MarkdownIt("commonmark").parse(text):
        first, end = token.map or (0, 0)
        if token.type == "fence":
            code |= set(range(first, end))
        elif token.type == "heading_open" and token.markup[0] == "#":
            headings[first] = len(token.markup)
        elif token.type == "list_item_open":
            items.add(first)
    return code, headings, items


def ours(text: str) -> Seen:
    lines = text.split("\n")
    prose = [number - 1 for number, _ in markdown.outside_fences(text)]
    orders = {number: markdown.heading(lines[number])[0] for number in prose}
    return (
        set(range(len(lines))) - set(prose),
        {number: order for number, order in orders.items() if order},
        {number for number in prose if markdown.mark_of(lines[number].lstrip())},
    )


# The oracle

BLOCKS = st.sampled_from(
    [
        "text", "more *text* with `code`", "# One", "## Two ##", "###### Six", "####### seven",
        "#nothing", "  ### Three", "#", "# a # b #c", "| a | b |", "```\n# code\n- code\n```",
        "~~~ py\n```\n~~~", "````\n```\n````", "``` `no` fence", "   ```\n   x\n   ```",
        "~~~\nnever closed by\n```\n~~~~", "**bold:** text", "<br>", "2025 was a year",
        "-no item", "1.no item", "*emphasis* first",
    ]
)  # fmt: skip
ITEMS = st.sampled_from(
    ["- a", "* b\n* c", "+ d", "1. e", "1) f\n2) g", "- h\n  goes on", "- i\n\n  a paragraph",
     "- j\n  - inside\n  - twice", "1. k\n   - l", "- m\n  ```\n  # code\n  ```"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(BLOCKS, ITEMS), max_size=8).map("\n\n".join)


@given(TEXTS)
def test_both_see_the_same_code_headings_and_items(text: str) -> None:
    assert ours(text) == oracle(text)


@given(st.lists(st.sampled_from(["```", "````", "~~~", "``` py", "```` a`", "x", "", "# H"])))
def test_both_see_the_same_fences_however_they_are_mixed(lines: list[str]) -> None:
    text = "\n".join([*lines, "end"])
    assume(len(lines) not in oracle(text)[0])  # one that nothing closes hides nothing
    assert ours(text) == oracle(text)


@given(st.text(alphabet="# \tab`\\", max_size=12))
def test_both_see_the_same_headings_in_any_line(line: str) -> None:
    if not line.startswith("```"):
        assert ours(line)[1] == oracle(line)[1]


# Where ours differs from the oracle, and means to: (text, what it sees, what we see).
CODE, HEADINGS, ITEM = range(3)
MEANT = {
    "a fence may stand at any indent: agents put them below items of any width":
        (CODE, "text\n\n      ```\n      x\n      ```", set(), {2, 3, 4}),
    "a fence in an item ends with its closing line, not with the item":
        (CODE, "- a\n  ```\nstill code\n  ```", {1, 3}, {1, 2, 3}),
    "a closing line may be moved right by any width":
        (CODE, "```\nx\n      ```\ntext", {0, 1, 2, 3}, {0, 1, 2}),
    "the language of a fence of tildes holds no tilde":
        (CODE, "~~~ a~b\nx", {0, 1}, set()),
    "quoted text is not looked into: it is somebody else's":
        (HEADINGS, "> # Quoted", {0: 1}, {}),
    "code that is only moved right is text, since items are moved right too":
        (ITEM, "text\n\n    - a", set(), {2}),
    "a heading in an item is text: it begins no section":
        (HEADINGS, "- # A", {0: 1}, {}),
    "a line of HTML hides nothing":
        (HEADINGS, "<!--\n# A\n-->", {}, {1: 1}),
    "a numbered line is an item also right below text and with any number":
        (ITEM, "text\n2. two", set(), {1}),
    "a mark with nothing behind it is not an item":
        (ITEM, "-", {0}, set()),
    "a rule of parted dashes is an item of dashes":
        (ITEM, "- - -", set(), {0}),
    "a mark is followed by a blank, not by a tab":
        (ITEM, "-\ta", {0}, set()),
}  # fmt: skip


@each("tolerance", MEANT)
def test_a_difference_is_meant(tolerance: str) -> None:
    what, text, theirs, mine = MEANT[tolerance]
    assert (oracle(text)[what], ours(text)[what]) == (theirs, mine)


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real files")
@pytest.mark.parametrize("path", sorted(Path(CORPUS or "/nonexistent").rglob("*.md")), ids=str)
def test_both_see_the_same_in_real_reviews(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    lines = text.split("\n")
    (code, headings, items), (my_code, my_headings, my_items) = oracle(text), ours(text)
    assert my_code == code
    odd = {number for number, _ in headings.items() ^ my_headings.items()} | (items ^ my_items)
    for number in odd:  # quoted, or numbered lines below text: tolerances from the list
        line = lines[number]
        assert line.lstrip()[0] == ">" or (line.lstrip()[0].isdigit() and number in my_items), line


# What it reads


@each(
    ("line", "found"),
    [
        ("## Two", (2, "Two")), ("# a ##", (1, "a")), ("# a#", (1, "a#")), ("### ###", (3, "")),
        ("#", (1, "")), ("#x", (0, "")), ("####### x", (0, "")), ("    # x", (0, "")),
        ("   #\tx", (1, "x")), ("", (0, "")), ("text # x", (0, "")),
    ],
)  # fmt: skip
def test_a_heading_is_its_order_and_title(line: str, found: tuple[int, str]) -> None:
    assert markdown.heading(line) == found


@each(
    ("line", "mark"),
    [("- a", "- "), ("* a", "* "), ("+ a", "+ "), ("12. a", "12. "), ("3) a", "3) "),
     ("-a", ""), ("12.a", ""), ("  - a", ""), ("", ""), (". a", ""), ("**a** b", "")],
)  # fmt: skip
def test_a_mark_is_what_an_item_begins_with(line: str, mark: str) -> None:
    assert markdown.mark_of(line) == mark


def test_a_row_is_its_cells_with_or_without_bars_at_its_ends() -> None:
    assert markdown.cells("| a | b |") == markdown.cells("a | b") == ["a", "b"]
    assert markdown.cells("| a || b") == ["a", "", "b"] and markdown.cells("|") == []


def test_an_escaped_bar_is_text_of_its_cell() -> None:
    assert markdown.cells(r"| a \| b | c |") == ["a | b", "c"]
    assert markdown.cells(r"a \| b | c") == ["a | b", "c"]


@each(
    ("text", "end"),
    [
        ("---\na: 1\n---\n---\n", 2),
        ("--- \n---\n", 1),
        ("---\na: 1\n", 0),
        ("a\n---\nb\n---\n", 0),
        ("", 0),
    ],
)
def test_front_matter_begins_in_the_first_line_and_ends_at_the_next_rule(
    text: str, end: int
) -> None:
    assert markdown.front_matter(text.split("\n")) == end


def test_a_section_reaches_to_the_next_heading_of_its_order() -> None:
    lines = ["above", "## A", "### below", "```", "## code", "```", "## B", "end"]
    assert markdown.sections(lines, 2) == [("A", 1, 6), ("B", 6, 8)]
    assert markdown.sections(lines, 1) == []


def test_a_fence_that_nothing_closes_hides_nothing() -> None:
    lines = ["a", "```", "# b"]
    assert markdown.in_fences(lines) == [False] * 3
    assert [line for _, line in markdown.outside_fences("\n".join(lines))] == lines


def test_an_outline_gives_each_heading_all_that_is_below_it() -> None:
    lines = ["above", "# A", "a", "### Deep", "```", "# code", "```", "## B", "# C", "end"]
    assert markdown.outline(lines) == [("A", 1, 8), ("Deep", 3, 7), ("B", 7, 8), ("C", 8, 10)]
    assert markdown.outline(["no heading"]) == []


def test_an_outline_ends_each_heading_at_the_next_of_its_level_or_above() -> None:
    lines = ["# a", "### b", "x", "## c", "### d", "# e", "###### f"]
    assert markdown.outline(lines) == [
        ("a", 0, 5), ("b", 1, 3), ("c", 3, 5), ("d", 4, 5), ("e", 5, 7), ("f", 6, 7),
    ]  # fmt: skip


def test_an_outline_of_many_headings_is_read_in_one_pass() -> None:
    spent = []
    for count in (10_000, 80_000):
        began = time.process_time()
        assert len(markdown.outline(["# h"] * count)) == count
        spent.append(time.process_time() - began)
    assert spent[1] < spent[0] * 24 + 0.2  # eight times as many; each with each takes 64 times
