"""tokens.py: an estimate that never needs a tokenizer, and cuts that keep to it."""

from __future__ import annotations

import pytest
from conftest import each
from contextkit.base import tokens
from hypothesis import given
from hypothesis import strategies as st

any_text = st.text(st.characters(), max_size=200)  # lone surrogates too


@each(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("\n", 1),
        ("a" * 100, 13),  # lower-case letters and one word
        ("A" * 100, 22),
        ("7" * 100, 111),
        ("." * 100, 58),
        ("a " * 100, 52),  # a hundred words
        ("\n" * 100, 74),
        ("é" * 100, 37),
        ("漢" * 100, 69),
        ("🙂" * 100, 200),
        ("aA" * 100, 45),  # every step from lower to upper case counts
    ],
)
def test_each_class_of_bytes_has_its_weight(text: str, expected: int) -> None:
    assert tokens.estimate(text) == expected


def test_the_same_text_costs_some_tokenizers_more() -> None:
    text = "The quick brown fox, jumping over 13 lazy dogs.\n" * 20
    sizes = {profile: tokens.estimate(text, profile) for profile in tokens.PROFILES}
    assert sizes["o200k"] == tokens.estimate(text) < sizes["claude"]
    assert sizes.keys() == tokens.TOKENIZERS.keys()


def test_an_unknown_profile_is_a_bug() -> None:
    with pytest.raises(KeyError):
        tokens.estimate("text", "gpt-0")


def test_a_long_text_is_sampled_all_over() -> None:
    parts = ["Some words of prose. " * 300, "0f3b9a7c1de85524f6a1 " * 200, "कैश बहुत धीमा है। " * 100]
    text = "".join(parts) * 40
    exact = 40 * sum(map(tokens.estimate, parts))
    assert len(text) > 3 * 131_072
    assert abs(tokens.estimate(text) - exact) < exact / 50


@given(any_text, any_text)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert tokens.estimate(text) <= tokens.estimate(text + more)
    assert (tokens.estimate(text) == 0) == (text == "")


@given(any_text)
def test_a_hard_cap_is_held_against_the_higher_figure(text: str) -> None:
    estimate, cautious = tokens.estimate(text), tokens.cautious(text)
    assert estimate * 1.15 - 0.001 <= cautious < estimate * 1.15 + 1


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_the_largest_number_that_fits_is_found(low: int, more: int, most: int) -> None:
    high = low + more
    assert tokens.largest(high, lambda n: n <= most, low) == min(high, max(low, most))


@given(any_text, st.integers(0, 80))
def test_a_clipped_text_is_a_beginning_that_fits(text: str, limit: int) -> None:
    clipped = tokens.clip(text, limit)
    if tokens.estimate(text) <= limit:
        assert clipped == text
    else:
        assert tokens.estimate(clipped) <= max(limit, tokens.estimate("…"))
        assert clipped.endswith("…") and text.startswith(clipped[:-1])


def test_a_cut_halves_no_word() -> None:
    clipped = tokens.clip("several ordinary words " * 30, 20, mark=" [cut]")
    assert clipped.endswith((" several [cut]", " ordinary [cut]", " words [cut]"))
    assert tokens.estimate(clipped) > 15
