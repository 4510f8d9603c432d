"""filters.py: no text of a user leaves the place that a template puts it in."""

from __future__ import annotations

import yaml
from conftest import each
from contextkit.base import filters
from hypothesis import given
from hypothesis import strategies as st

C_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # another reader, where it was built
# Much of what tells YAML and Markdown apart from text, and anything else.
marks = "-:[]{}&*!|>'\"#%@`~,?=+.<()/\\ \n\r\t\x85\u2028\ufeff\ufffe\x00\x1b_09eEnoyNY"
any_text = st.one_of(st.text(st.characters()), st.text(st.sampled_from(marks)))


def _said(text: str) -> str:
    """`text` without halves of characters, which YAML has no form for."""
    return "".join("\ufffd" if 0xD800 <= ord(char) < 0xE000 else char for char in text)


@given(any_text, st.booleans())
def test_every_yaml_reader_gives_a_quoted_text_back(text: str, always: bool) -> None:
    document = f"before: 1\nkey: {filters.quoted(text, always)}\nafter: 2\n"
    assert yaml.load(document, yaml.BaseLoader) == {
        "before": "1", "key": _said(text), "after": "2"
    }  # fmt: skip
    assert yaml.safe_load(document) == {"before": 1, "key": _said(text), "after": 2}
    assert yaml.load(document, C_LOADER) == yaml.safe_load(document)
    assert yaml.safe_load(f"[{filters.quoted(text, True)}]") == [_said(text)]


READ_AS_ELSE = "no Yes ON y null True 010 1.10 ~ = 2025-10-23 2025-10-23T18:05:00Z 12:30 @dev <<"


@each("text", [*READ_AS_ELSE.split(), "a: b", "a #b", ""])
def test_what_a_yaml_reader_would_take_for_something_else_is_quoted(text: str) -> None:
    assert filters.quoted(text) == f'"{text}"'


def test_an_ordinary_word_is_left_plain() -> None:
    assert filters.quoted("feature/demo-1") == "feature/demo-1"
    assert filters.quoted("feature/demo-1", True) == '"feature/demo-1"'


@given(any_text)
def test_an_indented_text_starts_neither_heading_nor_item(text: str) -> None:
    item = "- " + filters.indented(text)
    for line in item.replace("\r", "\n").split("\n")[1:]:  # Markdown ends a line at either
        assert line == "" or line.startswith("  ")


@given(any_text, st.integers(1, 6))
def test_indenting_changes_nothing_else(text: str, width: int) -> None:
    lines = filters.indented(text, width).split("\n")
    kept = [lines[0], *(line[width:] for line in lines[1:])]
    assert "\n".join(kept) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(any_text, st.lists(st.integers(1, 8), max_size=3))
def test_no_text_closes_its_own_fence(text: str, runs: list[int]) -> None:
    text += "".join(f"\n{'`' * run}\n" for run in runs)
    opening, *body, closing = filters.fenced(text, "md").split("\n")
    fence = opening.removesuffix("md")
    assert closing == fence and len(fence) >= 3 and set(fence) == {"`"}
    assert "\n".join(body) == text.rstrip()
    assert fence not in text


def test_a_fence_is_no_longer_than_it_must_be() -> None:
    assert filters.fenced("text\n\n") == "```text\ntext\n```"
    assert filters.fenced("a ```` b") == "`````text\na ```` b\n`````"
