"""Where secrets stand in a text, by the rules of `secret_rules.py`.

No expression is compiled: a literal is searched for, and what stands behind it is judged. Each
search is linear in the text, whoever wrote it.
"""

from __future__ import annotations

from contextkit.base.secret_rules import (
    BASE64,
    DIGITS,
    KEYS,
    LETTERS,
    PASSWORDS,
    PLACEHOLDERS,
    TOKENS,
    WHOLE,
    WORDS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[str, int, int]  # kind, where it begins and ends in the text

_NO_START = "/.~@&-,;+)"  # of a value: a path, an address, the rest of an expression
_QUOTES = "\"'`"
_INSIDE = frozenset(LETTERS + DIGITS + "_")  # what a name goes on with
_STOPS = " \t\r\n\"'`<>|,;(){}[]"  # where a value that is not quoted ends
_AFTER_NAME = "\"'`*]) \t"  # what may stand between a name and its `=` or `:`
_LONGEST = 16_384  # characters of a token: a JWT may be long
_LONGEST_VALUE = 400  # characters of what stands after a name
_LONGEST_PASSWORD = 256


def places(text: str) -> Iterator[Place]:
    """Every place that looks like a secret, in no order; some may overlap."""
    for search in (_keys, _tokens, _in_urls, _carried, _named):
        yield from search(text)


def every(text: str, literal: str) -> Iterator[int]:
    """Every place where `literal` stands in `text`."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _keys(text: str) -> Iterator[Place]:
    """Private keys: from the line that begins one to the line that ends it, if there is one."""
    end = 0
    for at in every(text, "-----BEGIN "):
        if at < end:
            continue
        head_end = text.find("-----", at + 11, at + 80)
        if head_end < 0 or "PRIVATE KEY" not in text[at:head_end]:
            continue
        closing = text.find("-----END ", head_end)
        end = text.find("-----", closing + 9) + 5 if closing >= 0 else -1
        if end < 5:  # cut off: the rest of its block
            end = text.find("\n\n", head_end)
        end = end if end > at else len(text)
        yield "private-key", at, end


def _tokens(text: str) -> Iterator[Place]:
    """What its issuer gave a beginning of its own."""
    for literal, (kind, shortest, chars) in TOKENS.items():
        judged = 0
        for at in every(text, literal):
            start = at + len(literal)
            if text[at - 1 : at] in _INSIDE or start < judged:
                continue
            tail = _run(text, start, chars).rstrip(".")
            judged = start + len(tail)
            if len(tail) >= shortest and _is_random(tail) and not _is_placeholder(tail):
                if kind != "jwt" or tail.count(".") > 0:
                    yield kind, at, start + len(tail)


def _run(text: str, start: int, chars: str) -> str:
    """What stands at `start` in characters of `chars`."""
    piece = text[start : start + _LONGEST]
    return piece[: len(piece) - len(piece.lstrip(chars))]


def _is_random(text: str) -> bool:
    """Whether it may be made by a machine: digits and letters, few of them the same."""
    return _is_mixed(text) and len(set(text)) > 5


def _is_mixed(text: str) -> bool:
    return bool(text.strip(DIGITS)) and any(map(text.__contains__, DIGITS))


def _is_placeholder(text: str) -> bool:
    lower = text.lower()
    return any(mark in lower for mark in PLACEHOLDERS) or len(set(text)) < 4


def _in_urls(text: str) -> Iterator[Place]:
    """The password in `scheme://user:password@host`."""
    for at in every(text, "://"):
        user, colon, rest = _word(text, at + 3, _STOPS + "/").partition(":")
        secret = rest.rpartition("@")[0]
        if colon and secret and not _is_variable(secret) and not _is_placeholder(secret):
            if secret.lower() not in ("password", "pass", "pwd", "secret", user.lower()):
                start = at + 3 + len(user) + 1
                yield "url-password", start, start + len(secret)


def _carried(text: str) -> Iterator[Place]:
    """`Bearer …` and `Basic …`, as a header of a request carries them."""
    lower = _lower(text)
    for word in ("bearer ", "basic "):
        for at in every(lower, word):
            start = at + len(word)
            value = _run(text, start, BASE64).rstrip(".")
            if text[at - 1 : at] in _INSIDE or len(value) < 16 or _is_placeholder(value):
                continue
            if _is_random(value) or (word == "basic " and value.endswith("=")):
                yield "authorization", start, start + len(value)


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower()[:1] for char in text)  # the capital İ becomes two characters


def _named(text: str) -> Iterator[Place]:
    """The values of what is called a password, token, key …"""
    lower = _lower(text)
    for names, kind in ((PASSWORDS, "password"), (KEYS, "assigned-secret")):
        for name in names:
            end = 0
            for at in every(lower, name):
                if at < end:  # in the value that was found last
                    continue
                if name in WHOLE and text[at - 1 : at] in _INSIDE and text[at - 1 : at]:
                    continue
                place = _value_after(text, at + len(name))
                if place and _is_value(text, *place, kind == "password"):
                    end = place[1]
                    yield kind, place[0], end


def _value_after(text: str, at: int) -> tuple[int, int, str] | None:
    """Where the value of a name that ends at `at` stands, and how it is joined to it.

    The third is the quote around it, else a verb or comparison, a blank after an option, or empty.
    """
    if text[at : at + 1] in _INSIDE:
        return None
    is_option = text[at : at + 1] == " " and "--" in _word_before(text, at)
    while text[at : at + 1] in _AFTER_NAME and text[at : at + 1]:
        at += 1
    if text.startswith("value=", at):  # `<add key="password" value="…"/>`
        at += 5
    joined = ""
    for sign in ("=>", ":=", "==", "=", ":", ">", "is ", "was "):
        if text.startswith(sign, at):
            at += len(sign)
            joined = sign if sign in ("is ", "was ", "==") else ""
            break
    else:
        if not is_option:
            return None
        joined = " "
    while text[at : at + 1] in ("*", " ", "\t"):
        at += 1
    quote = text[at : at + 1]
    if quote and quote in _QUOTES:
        end = text.find(quote, at + 1, at + _LONGEST_VALUE)
        return (at + 1, end, quote) if end > at and "\n" not in text[at:end] else None
    value = _word(text, at, _STOPS).rstrip(".,:*")
    return at, at + len(value), joined


def _word_before(text: str, at: int) -> str:
    return (text[max(0, at - 60) : at].split() or [""])[-1]


def _word(text: str, at: int, stops: str) -> str:
    """What stands at `at` up to the first of `stops`."""
    piece = text[at : at + _LONGEST_VALUE]
    ends = [end for end in map(piece.find, stops) if end >= 0]
    return piece[: min(ends, default=len(piece))]


def _is_value(text: str, start: int, end: int, joined: str, password: bool) -> bool:
    """Whether a value is one that should not be told, and no word of prose or code."""
    if password and end - start > _LONGEST_PASSWORD:
        return False
    value = text[start:end]
    if len(value) < (6 if password else 10) or _is_variable(value) or _is_placeholder(value):
        return False
    if value.lower() in WORDS or "://" in value or value[0] in _NO_START or value[-1] in ":(":
        return False
    quoted = bool(joined) and joined in _QUOTES
    if joined == "==":  # a comparison with a name
        return False
    if " " in value or (not quoted and text[end : end + 1] in ("(", "[", "{")):
        return False
    mixed = _is_mixed(value)
    if value[0] == "#" and not mixed:
        return False
    if not password:
        return _is_random(value) and not value.startswith("sha256")
    line_end = text.find("\n", end, end + _LONGEST_VALUE)
    rest = text[end : line_end if line_end >= 0 else end + _LONGEST_VALUE]
    if joined in ("is ", "was ") or rest.strip(" \t\r\"'`,;}])>*|"):
        return bool(quoted or mixed)  # words follow: prose, unless the value is no word
    return bool(quoted or mixed or value.isdigit() or value.islower())


def _is_variable(value: str) -> bool:
    """`$NAME`, `${…}`, `{{…}}`, `%NAME%`, `<name>`: what stands for a value."""
    value = value.strip(_QUOTES)
    if value[:1] in "<{[*":
        return True
    if value[:1] in "$%":
        return value[1:].strip("{}()%").replace("_", "").replace(".", "").isalnum()
    return False
