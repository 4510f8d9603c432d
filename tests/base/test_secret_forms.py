"""Each form in which agents meet secrets, and each harmless text that looks like one."""

from __future__ import annotations

import secret_forms
from conftest import each
from contextkit.base import redaction

CASES = secret_forms.cases()


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(CASES) >= 290 and len({text for text, _ in CASES}) == len(CASES)
    assert all(secret in text for text, secret in CASES)


@each(("text", "secret"), CASES)
def test_a_form_is_found_and_nothing_is_left_of_the_secret(text: str, secret: str) -> None:
    for around in (text, f"First line.\n{text}\nand a last one.", f"x\r\n{text}\r\n"):
        once, found = redaction.redacted(around)
        assert found and secret not in once
        assert redaction.redacted(once)[0] == once


@each("text", secret_forms.HARMLESS)
def test_what_only_has_the_word_or_the_form_is_none(text: str) -> None:
    assert redaction.found(text) == ()
    assert redaction.found(f"First line.\n{text}\n  value2: other4711\n") == ()
