"""vocabulary.py counts what the tokenizer counts, from a file that is made once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import splintr
from conftest import each
from contextkit.base import vocabulary
from hypothesis import given
from hypothesis import strategies as st
from test_caps import TEXTS

KNOWN = st.characters(max_codepoint=0x2FFF, exclude_categories=("Cs", "Cn"))
found = functools.cache(vocabulary.find)
PIECES = st.sampled_from(
    ["'s", "'LL", " ", "  ", "\n", "\r\n", "/", "Aa", "aB", "É", "é", "'", "1234", "²", "e\u0301",
     "字", "\t", "\x85", "\u3000", "x", "->", "…", "😀", "0f3b9a7c1de85524f6a1"]
)  # fmt: skip


@pytest.mark.parametrize("name", vocabulary.PATTERNS)
@given(st.one_of(st.text(KNOWN, max_size=80), st.lists(PIECES, max_size=40).map("".join)))
def test_any_text_is_counted_as_by_the_tokenizer(name: str, text: str) -> None:
    counter = found(name)
    assert counter and counter.count(text) == len(exact(name).encode_ordinary(text))


@each("name", vocabulary.PATTERNS)
@each("kind", TEXTS)
def test_long_texts_too_and_words_without_end(name: str, kind: str) -> None:
    text = TEXTS[kind] * 50
    counter = found(name)
    for said in (text, text.replace(" ", "")):
        assert counter and counter.count(said) == len(exact(name).encode_ordinary(said))


def test_the_file_is_made_once_and_again_where_it_is_another_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "FOLDER", str(tmp_path))
    path = tmp_path / "cl100k_base.tokens"
    path.write_bytes(b"something else")
    for _ in range(2):
        found = vocabulary.find("cl100k_base")
        assert found and found.count("hello world") == 2
        monkeypatch.setattr(vocabulary, "table", None)  # not made again


def test_without_a_tokenizer_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> bytes:
        raise ImportError(name)

    monkeypatch.setattr(vocabulary, "FOLDER", str(tmp_path))
    monkeypatch.setattr(vocabulary, "table", missing)
    assert vocabulary.find("o200k_base") is None
    assert not list(tmp_path.glob("*.tokens"))


_EXACT: dict[str, Any] = {}


def exact(name: str) -> Any:
    if name not in _EXACT:
        _EXACT[name] = splintr.Tokenizer.from_pretrained(name)
    return _EXACT[name]
