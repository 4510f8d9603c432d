"""names.py: times, stamps, and text that becomes part of a path or a heading."""

from __future__ import annotations

import hashlib
import shlex
import time

import pytest
from conftest import each
from contextkit.base import names
from contextkit.base.errors import ContextError
from hypothesis import given
from hypothesis import strategies as st

moments = st.integers(0, 253_402_300_799)  # to the end of the year 9999
any_text = st.text(st.characters())  # lone surrogates too


@each(
    "given",
    [
        "2025-10-23T18:05:00Z",
        "2025-10-23T18:05:00",
        "2025-10-23 18:05:00.999",
        "2025-10-23T20:05:00+02:00",
        "20251023T180500Z",
    ],
)
def test_context_now_is_utc_unless_it_says_a_zone(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_NOW", given)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert names.iso(names.now()) == "2025-10-23T18:05:00Z"


def test_a_context_now_that_is_no_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_NOW", "yesterday")
    with pytest.raises(ContextError, match="CONTEXT_NOW is not an ISO 8601 time: 'yesterday'"):
        names.now()


def test_without_context_now_the_clock_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_NOW", "")
    before = int(time.time())
    assert before <= names.now() <= time.time()


def test_a_moment_has_three_forms() -> None:
    moment = 1_761_242_700
    assert names.iso(moment) == "2025-10-23T18:05:00Z"
    assert names.stamp(moment) == "20251023T180500Z"
    assert names.clock(moment) == "2025-10-23 18:05:00 UTC"


@given(moments, moments)
def test_stamps_sort_by_time(one: int, other: int) -> None:
    assert (names.stamp(one) < names.stamp(other)) == (one < other)


@each(
    ("text", "expected"),
    [("90s", 90), ("90", 90), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("0", 0)],
)
def test_a_duration_is_a_number_and_a_unit(text: str, expected: int) -> None:
    assert names.seconds(text) == expected


@each("text", ["", "h", "-1h", "1.5h", "1w", "1 h", "1H", "٣h", "9" * 5000])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ContextError, match="is not a duration: write 90s, 30m, 24h or 7d"):
        names.seconds(text)
    with pytest.raises(ContextError, match=r"^timeout: '.*' is not a duration"):
        names.seconds(text, "timeout")


@each(
    ("passed", "expected", "in_minutes"),
    [(-5, "0s", "0m"), (0, "0s", "0m"), (59, "59s", "0m"), (60, "1m", "1m"), (3599, "59m", "59m"),
     (3600, "1h", "1h"), (86_399, "23h", "23h"), (86_400, "1d", "1d"), (864_000, "10d", "10d")],
)  # fmt: skip
def test_an_age_is_in_the_largest_unit_that_it_fills(
    passed: int, expected: str, in_minutes: str
) -> None:
    assert names.age(1_000_000, 1_000_000 + passed) == expected
    assert names.age(1_000_000, 1_000_000 + passed, "dhm") == in_minutes


@each(
    ("text", "expected"),
    [
        ("feature-1.2_x", "feature-1.2_x"),
        ("a b", "a-b"),
        ("a \t/ b", "a-b"),
        ("a - b", "a---b"),
        ("über", "-ber"),
        ("", ""),
    ],
)
def test_odd_characters_become_one_dash(text: str, expected: str) -> None:
    assert names.dashed(text) == expected


@given(any_text)
def test_a_dashed_text_is_safe_in_a_path(text: str) -> None:
    made = names.dashed(text)
    assert all(char.isascii() and (char.isalnum() or char in "._-") for char in made)
    assert names.dashed(made) == made and bool(made) == bool(text)


@given(any_text)
def test_one_line_can_neither_add_a_row_nor_command_a_terminal(text: str) -> None:
    made = names.one_line(text)
    assert made.isprintable() and "  " not in made and made == made.strip()
    assert names.one_line(made) == made


def test_one_line_keeps_the_words() -> None:
    assert names.one_line(" a\r\nb\t\x1b[31mc\u2028d ") == "a b [31mc d"


def test_a_fingerprint_tells_texts_apart() -> None:
    texts = [b"", b"a", b"b", b"ab", b"ba", b"a" * 100, b"a" * 101]
    assert len({names.fingerprint(text) for text in texts}) == len(texts)
    assert 0 <= names.fingerprint(b"long" * 100, modulus=97) < 97


@given(moment=st.integers(0, 4_102_444_799))
def test_a_moment_is_read_from_any_form_that_is_written(moment: int) -> None:
    for form in (names.iso, names.stamp, names.clock, names.compact):
        assert names.moment(form(moment)) == moment


@each("text", ["20251023180500", "202510231805007", "20251023_180500"])
def test_a_known_day_makes_no_difference_to_odd_forms(text: str) -> None:
    assert names.moment("20251023-180500") == names.moment("20251023-180500") == 1_761_242_700
    assert names.moment(text) == 1_761_242_700
    assert names.moment("20251023-18050²") == names.moment("20251023-١٨٠٥٠٠") == 0


@each("text", ["", "soon", "2025-10-23", "x" * 20, "²" * 14])
def test_what_tells_no_moment_is_0(text: str) -> None:
    assert names.moment(text) == 0


@each("text", ["", ".", "..", "-x", "a/b", "a b", "é", "x" * 201])
def test_a_name_of_somebody_else_is_not_always_safe(text: str) -> None:
    assert not names.safe(text) and names.safe("20251023-180500-x")


@each(
    ("text", "whole"),
    [("0", True), ("007", True), ("9" * 18, True), ("9" * 19, False), ("", False), ("-1", False),
     ("1.0", False), (" 1", False), ("²", False), ("٣", False)],
)  # fmt: skip
def test_a_whole_number_is_ascii_digits_and_not_endless(text: str, whole: bool) -> None:
    assert names.is_whole(text) is whole


def test_a_text_is_clipped_to_what_it_may_have_at_most() -> None:
    assert names.clipped("abcd", 4) == "abcd"
    assert names.clipped("abcde", 4) == "abc…"
    assert names.clipped("ab cde", 4) == "ab…"


def test_a_text_is_cut_at_a_space_if_one_is_in_its_second_half_and_else_at_its_width() -> None:
    assert names.clipped_at_space("x" * 20, 20) == "x" * 20
    assert names.clipped_at_space("x" * 21, 20) == "x" * 19 + "…"
    assert names.clipped_at_space("xxxxxxxxxxxx xxxxxxxxxxxx", 20) == "xxxxxxxxxxxx…"


def test_of_a_long_line_the_part_around_what_was_looked_for_is_left() -> None:
    around = names.clipped_around
    assert around("a\n b", ["x"], 3) == "a b"
    assert around("0123456789", ["nowhere"], 6) == "012345…"
    assert around("012345Ab89", ["b", "ab"], 6) == "…45Ab89"
    assert around("012345Ab89ef", ["ab"], 6) == "…45Ab89…"


@given(text=st.text(min_size=1, max_size=200), width=st.integers(2, 100))
def test_a_clipped_text_is_within_its_width(text: str, width: int) -> None:
    for short in (names.clipped(text, width), names.clipped_at_space(text, width)):
        assert len(short) <= width
        assert text.startswith(short.removesuffix("…"))


@given(st.text(min_size=0))
def test_a_word_of_a_command_is_read_as_it_was(text: str) -> None:
    said = names.word(text)
    assert shlex.split(said) == [text]
    assert (said == text) == (shlex.quote(text) == text)


@each("size", (0, 1, 200_000, 200_001, 1_000_000))
def test_a_digest_is_the_same_whatever_computes_it(size: int) -> None:
    data = b"\0x" * (size // 2) + b"y" * (size % 2)
    assert names.sha256(data) == names.sha256_of((data[:7], data[7:]))
    assert names.sha256(data) == hashlib.sha256(data).hexdigest()
