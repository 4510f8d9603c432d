"""Copies of our documents: an unedited one is recognized, an edited one is the host's."""

from __future__ import annotations

from contextkit.base import stores
from hypothesis import assume, given
from hypothesis import strategies as st

TEXT = "# Outline\n- one\n"


@given(st.text(st.characters(codec="utf-8")))
def test_an_unedited_copy_is_ours(text: str) -> None:
    assert stores.is_our_copy(stores.sealed_copy(text))


@given(st.data())
def test_a_copy_with_one_character_changed_is_not_ours(data: st.DataObject) -> None:
    copy = stores.sealed_copy(TEXT)
    at = data.draw(st.integers(0, len(copy.rstrip()) - 1))
    char = data.draw(st.characters(codec="utf-8", exclude_characters="\r"))
    assume(char != copy[at])
    assert not stores.is_our_copy(copy[:at] + char + copy[at + 1 :])


def test_text_of_the_host_is_not_ours() -> None:
    assert not stores.is_our_copy("")
    assert not stores.is_our_copy(TEXT)
    assert not stores.is_our_copy(stores.sealed_copy(TEXT) + "and more\n")
    assert not stores.is_our_copy("before\n" + stores.sealed_copy(TEXT))


def test_line_ends_changed_by_git_are_no_edit() -> None:
    assert stores.is_our_copy(stores.sealed_copy(TEXT).replace("\n", "\r\n"))


def test_the_text_comes_first_and_the_seal_is_one_line_after_it() -> None:
    sealed = stores.sealed_copy(TEXT + "\n\n")
    assert sealed.startswith(TEXT + "<!-- contextkit: copy sha256=")
    assert sealed.count("\n") == TEXT.count("\n") + 1
