"""tokens.estimate: how many tokens a text costs a model, without a tokenizer.

Its weights were fitted to public repositories; median error 4 %, 95th percentile 15 %.
`make bench what=tokens` measures them against an exact counter on any folder.
"""

from __future__ import annotations

from contextkit.base.type_names import Any, Callable, Iterable

# The columns are what is counted: bytes by class, whitespace-separated words, aA steps.
#                 lower upper digit punct blank line  2-byte 3-byte 4-byte words aA
PROFILES = {
    "o200k": (0.13, 0.22, 1.11, 0.58, 0.06, 0.74, 0.37, 0.69, 2.0, 0.33, 0.10),
    "cl100k": (0.12, 0.21, 1.10, 0.58, 0.06, 0.70, 0.73, 0.99, 5.2, 0.37, 0.09),
    "claude": (0.27, 0.90, 1.18, 0.93, 0.10, 1.08, 0.68, 0.90, 4.7, 0.09, 0.66),  # 4.8
}
DEFAULT = "o200k"

# Values of the setting `tokenizer`, which names a profile, with their exact vocabularies.
TOKENIZERS = {"o200k": "o200k_base", "cl100k": "cl100k_base", "claude": ""}

# The least tokens per estimated token, measured on texts of 300 tokens, and the most for words in
# Latin letters, and for those among signs, digits and capitals, as in YAML. For anything else
# (base64, hex, random letters, other scripts), `_most` is used.
_LEAST, _LEAST_PLAIN, _MOST_PLAIN, _MOST_WORDS = 0.3, 0.5, 1.7, 2.75
# Scripts that usually take one token per byte, for when no exact count is possible: from Thai to
# Mongolian, and from Yi to Javanese. The profiles were fitted to texts in the other Asian scripts.
_RARE = (("\u0e00", "\u1bff"), ("\ua000", "\uabff"))

_SAMPLES, _SAMPLE = 1024, 128  # pieces of a long text, and characters in each

# A hard cap on what we render is kept at the estimate's 95th percentile, not its median.
CAUTION = 1.15


# The class of each byte: `.` for signs and control characters, which are as rare and as expensive,
# `-` for continuation bytes, which are counted with their lead byte.
_TABLE = bytearray(b"." * 128 + b"-" * 64 + b"2" * 32 + b"3" * 16 + b"4" * 16)
_TABLE[97:123], _TABLE[65:91], _TABLE[48:58] = b"a" * 26, b"A" * 26, b"0" * 10
_TABLE[9], _TABLE[10], _TABLE[32] = b" \n "
_BLANK = b"." * 10 + b" " + b"." * 21 + b" " + b"." * 223  # of the classes


def estimate(text: str, profile: str = DEFAULT) -> int:
    """Estimate the number of tokens in `text` for the tokenizer family `profile`.

    A text of more than 131,072 characters is sampled. Only an empty text has 0.
    """
    if len(text) > _SAMPLES * _SAMPLE:
        return round(estimate(_sampled(text), profile) * len(text) / (_SAMPLES * _SAMPLE))
    lower, upper, digit, sign, blank, line, two, three, four, word, step = PROFILES[profile]
    data = text.encode("utf-8", "replace").translate(_TABLE)
    count = data.count
    total = lower * count(b"a") + upper * count(b"A") + digit * count(b"0") + sign * count(b".")
    there = data.translate(_BLANK)  # a list of the words would be many times the text's size
    words = there.count(b" .") + there.startswith(b".")
    total += blank * count(b" ") + line * count(b"\n") + word * words + step * count(b"aA")
    if len(data) > len(text):
        total += two * count(b"2") + three * count(b"3") + four * count(b"4")
    return max(1, round(total)) if text else 0


def estimates(texts: Iterable[str], profile: str = DEFAULT) -> list[int]:
    """The estimate of each text."""
    return [estimate(text, profile) for text in texts]


def _sampled(text: str) -> str:
    """Pieces from all over the text, at equal distances."""
    last = len(text) - _SAMPLE
    starts = [last * number // (_SAMPLES - 1) for number in range(_SAMPLES)]
    return "".join(text[start : start + _SAMPLE] for start in starts)


def cautious(text: str, profile: str = DEFAULT) -> int:
    """The estimate that is compared with a hard cap: the 95th percentile, rounded up."""
    return -int(-CAUTION * estimate(text, profile) // 1)


def within(text: str, cap: int, tokenizer: str = DEFAULT) -> bool:
    """Whether `text` has at most `cap` tokens in the reader's `tokenizer`.

    The estimate decides if even its worst error for words leaves no doubt, otherwise `size`.
    """
    if len(text.encode("utf-8", "replace")) <= cap:
        return True
    guess = estimate(text, tokenizer)
    if guess * _LEAST > cap:
        return False
    if _is_plain(text):
        if guess * _MOST_PLAIN <= cap:
            return True
        if guess * _LEAST_PLAIN > cap:
            return False
    elif guess * _MOST_WORDS <= cap and text.isascii():
        if _has_words(text, text.encode().translate(_TABLE), 60):
            return True
    return size(text, tokenizer) <= cap


def size(text: str, tokenizer: str = DEFAULT) -> int:
    """The tokens of a text that count against a cap: exact if possible, else an upper bound."""
    exact = count(text, tokenizer)
    if exact >= 0:
        return exact
    guess = estimate(text, tokenizer)
    bytes_ = len(text.encode("utf-8", "replace"))
    if not TOKENIZERS.get(tokenizer):  # only their maker can count these
        rare = sum(low <= char <= high for char in text for low, high in _RARE)
        bound = guess * CAUTION + rare * max(0.0, 3 - CAUTION * PROFILES[tokenizer][7])
    elif _is_plain(text):
        bound = guess * _MOST_PLAIN
    else:  # of letters, even random ones share a token
        data = text.encode("utf-8", "replace").translate(_TABLE)
        bound = len(data) - 0.15 * data.count(b"a") - 0.05 * data.count(b"A")
    return min(-int(-bound // 1), bytes_)


def count(text: str, tokenizer: str = DEFAULT) -> int:
    """The exact number of tokens; -1 if no counter with that vocabulary is installed."""
    name = TOKENIZERS.get(tokenizer, "")
    if name and name not in _COUNTERS:
        from contextkit.base import vocabulary

        _COUNTERS[name] = vocabulary.find(name)
    counter = _COUNTERS.get(name)
    return counter.count(text) if counter else -1


_COUNTERS: dict[str, Any] = {}  # of each vocabulary that was looked for; None where it is missing


def _is_plain(text: str) -> bool:
    """Whether a text is mostly words of ordinary length in Latin letters, with vowels."""
    data = text.encode("utf-8", "replace").translate(_TABLE)
    size, foreign = len(data), len(data) - len(text)
    in_latin = foreign * (40 if max(text) < "\u0250" else 100) < size  # accents are Latin, too
    of_letters = data.count(b"0") * 7 < size and data.count(b".") * 6 < size
    looks_so = in_latin and of_letters and 4 * len(text.split()) < size
    return looks_so and _has_words(text, data, 120)


def _has_words(text: str, data: bytes, longest: int) -> bool:
    """Whether vowels, rare letters, and the lengths of words are as in a language."""
    words = text.split()
    vowels, letters = sum(map(text.count, "aeiou")), data.count(b"a")
    as_spoken = letters / 4 < vowels < letters * 3 / 5
    of_length = len(data) < 14 * len(words) and max(map(len, words)) < longest
    return as_spoken and of_length and sum(map(text.count, "jqxz")) * 8 < letters


def clip(text: str, limit: int, mark: str = "…", tokenizer: str = DEFAULT) -> str:
    """The longest prefix within `limit` estimated tokens, `mark` included, cut at a space."""
    if estimate(text, tokenizer) <= limit:
        return text

    def fits(end: int) -> bool:
        return estimate(text[:end].rstrip() + mark, tokenizer) <= limit

    end = largest(len(text), fits)
    space = text.rfind(" ", max(0, end - 24), end)
    return text[: space if space > 0 else end].rstrip() + mark


def largest(high: int, fits: Callable[[int], bool], low: int = 0) -> int:
    """The largest number up to `high` that fits, given that `low` does, by halving."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
