"""copies.py: a copy of ours is told from one that somebody edited."""

from __future__ import annotations

from contextkit.base import copies
from hypothesis import assume, given
from hypothesis import strategies as st

TEXT = "# Outline\n- one\n"


@given(st.text(st.characters(codec="utf-8")))
def test_an_unedited_copy_is_ours(text: str) -> None:
    assert copies.is_ours(copies.sealed(text))


@given(st.data())
def test_a_copy_with_one_character_changed_is_not_ours(data: st.DataObject) -> None:
    copy = copies.sealed(TEXT)
    at = data.draw(st.integers(0, len(copy.rstrip()) - 1))
    char = data.draw(st.characters(codec="utf-8", exclude_characters="\r"))
    assume(char != copy[at])
    assert not copies.is_ours(copy[:at] + char + copy[at + 1 :])


def test_text_of_the_host_is_not_ours() -> None:
    assert not copies.is_ours("")
    assert not copies.is_ours(TEXT)
    assert not copies.is_ours(copies.sealed(TEXT) + "and more\n")
    assert not copies.is_ours("before\n" + copies.sealed(TEXT))


def test_line_ends_changed_by_git_are_no_edit() -> None:
    assert copies.is_ours(copies.sealed(TEXT).replace("\n", "\r\n"))


def test_the_text_comes_first_and_the_seal_is_one_line_after_it() -> None:
    sealed = copies.sealed(TEXT + "\n\n")
    assert sealed.startswith(TEXT + "<!-- contextkit: copy sha256=")
    assert sealed.count("\n") == TEXT.count("\n") + 1
