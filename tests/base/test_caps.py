"""tokens.within: never true wrongly, in the reader's tokenizer."""

from __future__ import annotations

import base64
import random
import statistics
import string

import cap_cases
import pytest
from conftest import each, rounds
from contextkit.base import tokens

TEXTS = {
    "English": "The cache must not grow beyond what it holds. ",
    "German": "Datenbankverbindungswiederherstellung Zwischenspeicherverwaltung und die der. ",
    "Russian": "Кэш не должен расти больше чем разрешено. ",
    "Hindi": "कैश बहुत धीमा है। ",
    "Tibetan": "བོད་ཡིག་གི་ཚིག། ",
    "Arabic": "لا يجوز أن يكبر المخبأ. ",
    "Japanese": "キャッシュは遅いと決定した。",
    "letters": "a b ",
    "hex": "0f3b9a7c1de85524f6a1 ",
    "base64": base64.b64encode(bytes(range(7, 200, 3))).decode() + " ",
    "emoji": "😀🚀👩‍👩‍👧 ",
    "random letters": "qxzjvkwpf vkqjzx wpfqzj xkvqj zzqxw ",
    "random words": "xqKzWvJp ZrtGhYwq ",
    "code": "if (!x) { return a[i]->b; } ",
}


@each("tokenizer", ["o200k", "cl100k"])
@each("text", TEXTS.values())
def test_what_is_within_a_cap_is_so_by_an_exact_count(text: str, tokenizer: str) -> None:
    for times in (1, 3, 12, 40):
        size = tokens.count(text * times, tokenizer)
        assert tokens.within(text * times, size, tokenizer)
        assert not tokens.within(text * times, size - 1, tokenizer)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_without_a_counter_doubt_means_no(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = tokens.count(text * 12)
    monkeypatch.setitem(tokens._COUNTERS, "o200k_base", None)
    assert tokens.count(text) == -1
    assert not tokens.within(text * 12, size - 1)
    assert tokens.within(text * 12, len((text * 12).encode()))


@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k"])
@pytest.mark.parametrize(
    "alphabet",
    ["qxzjvkwpf", "aeiou", "xaQe", "aeiouXQZJ", string.ascii_letters, string.printable],
)
def test_the_bound_is_not_too_low_for_random_characters(
    alphabet: str, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    for blanks in (0, 1, len(alphabet) // 4, len(alphabet)):
        text = "".join(chance.choices(alphabet + " " * blanks, k=900))
        exact = tokens.count(text, tokenizer)
        assert not tokens.within(text, exact - 1, tokenizer)
        with monkeypatch.context() as without:
            without.setitem(tokens._COUNTERS, tokens.TOKENIZERS[tokenizer], None)
            assert exact <= tokens.size(text, tokenizer)


@each("tokenizer", tokens.TOKENIZERS)
def test_receipts_and_handoffs_keep_their_cap_and_use_their_room(tokenizer: str) -> None:
    made = list(cap_cases.made(rounds(19, 38), tokenizer))
    sizes = [cap_cases.size(one.text, tokenizer) for one in made]
    assert all(size <= one.cap for size, one in zip(sizes, made, strict=True))
    used = sorted(size / one.cap for size, one in zip(sizes, made, strict=True) if one.cut)
    if tokens.TOKENIZERS[tokenizer]:
        assert statistics.median(used) >= 0.93 and used[len(used) // 10] >= 0.85
    else:  # nobody can count: what counts against the cap is 15 % above the estimate
        assert statistics.median(used) >= 0.83 and used[-1] <= 1 / tokens.CAUTION + 0.01
        counted = sorted(tokens.size(one.text, tokenizer) / one.cap for one in made if one.cut)
        assert statistics.median(counted) >= 0.95 and counted[len(counted) // 10] >= 0.85


def test_where_nobody_can_count_rare_scripts_are_taken_as_their_bytes() -> None:
    text = "\u0f56\u0f7c\u0f51" * 30
    size = len(text.encode())
    assert tokens.within(text, size, "claude") and not tokens.within(text, size - 30, "claude")
