"""Where secrets stand in a text, by the rules of `secret_rules.py`.

No expression is compiled: a literal is searched for, and what stands behind it is judged. Each
search is linear in the text, whoever wrote it.
"""

from __future__ import annotations

from contextkit.base import names
from contextkit.base.secret_rules import (
    BASE64,
    DIGITS,
    HEADS,
    KEYS,
    KNOWN,
    KNOWN_BEFORE,
    LETTERS,
    PASSWORDS,
    PLACEHOLDERS,
    PUBLIC,
    PUBLISHED,
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
_BEFORE = _INSIDE | frozenset(".+")  # what a token does not begin behind
_STOPS = " \t\r\n\"'`<>|,;(){}[]"  # where a value that is not quoted ends
_AFTER_NAME = "\"'`*]) \t"  # what may stand between a name and its `=` or `:`
_LONGEST = 16_384  # characters of a token: a JWT may be long
_LONGEST_VALUE = 400  # characters of what stands after a name
_LONGEST_PASSWORD = 256
_SHORTEST_ALONE = 20  # characters of a value that nothing but its own randomness gives away
_LONGEST_ALONE = 400  # more is data
_HEX = DIGITS + "abcdef"
_APART = str.maketrans(dict.fromkeys("_-+/=.~%", " "))  # what joins the pieces of a value
_OPENED = str.maketrans(dict.fromkeys("\"'`<>|;(){}[]:", ","))  # what a value ends at
_REPEATED = 8  # times the same character, which no secret has
_KEY_BODY = 24  # characters of a private key below which there is none


def places(text: str) -> Iterator[Place]:
    """Every place that looks like a secret, in no order; some may overlap."""
    for search in (_keys, _tokens, _in_urls, _carried, _named, _alone):
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
        body = text[head_end + 5 : closing if closing >= 0 else end]
        if sum(map(len, body.split())) >= _KEY_BODY:
            yield "private-key", at, end


def _tokens(text: str) -> Iterator[Place]:
    """What its issuer gave a beginning of its own."""
    for literal, (kind, shortest, chars) in TOKENS.items():
        judged = 0
        for at in every(text, literal):
            start = at + len(literal)
            if start < judged:
                continue
            if literal in HEADS:
                at -= len(_run(text[max(0, at - 20) : at][::-1], 0, LETTERS + DIGITS))
            elif text[at - 1 : at] in _BEFORE:
                continue
            tail = _run(text, start, chars).rstrip(".")
            judged = start + len(tail)
            if len(tail) < shortest or not _is_made(tail) or _is_placeholder(tail):
                continue
            if text[judged : judged + 1] in _INSIDE:
                continue  # a name that goes on
            if _is_cut(text, judged) or _is_published(text[at:judged]):
                continue
            if kind != "jwt" or tail.count(".") > 0:
                yield kind, at, judged


def _run(text: str, start: int, chars: str) -> str:
    """What stands at `start` in characters of `chars`."""
    piece = text[start : start + _LONGEST]
    return piece[: len(piece) - len(piece.lstrip(chars))]


def _is_made(text: str) -> bool:
    """As `_is_random`, but letters alone will do where they are not words."""
    if _is_random(text):
        return True
    letters = "".join(text.translate(_APART).split())
    if not letters.isalpha() or len(set(letters)) < 8:
        return False
    mixed = letters not in (letters.lower(), letters.upper())
    return _runs(letters) * 3 > len(letters) if mixed else len(letters) == len(text) >= 30


def _is_published(value: str) -> bool:
    return names.fingerprint(value.encode()) in PUBLISHED


def _is_cut(text: str, end: int) -> bool:
    """Whether a value was shortened by whoever showed it: dots, a mark in brackets.

    `…` is none of these: we cut lines with it ourselves, and what is left is still a secret.
    """
    return text.startswith(("..", "[redacted", "[Redacted", "[REDACTED", "***", "###"), end)


def _runs(text: str) -> int:
    """How many runs of capitals, small letters and digits a text is made of."""
    kinds = [1 if c.islower() else 2 if c.isupper() else 3 for c in text]
    return 1 + sum(map(int.__ne__, kinds, kinds[1:]))


def _alone(text: str) -> Iterator[Place]:
    """Values that stand alone and are too random for words, paths, names, ids and digests."""
    at = 0
    for word in text.split():
        if len(word) < _SHORTEST_ALONE or word.isalpha():
            continue
        at = text.find(word, at)
        if "://" not in word and any(map(word.__contains__, DIGITS)):
            yield from _alone_in(text, word, at)
        at += len(word)


def _alone_in(text: str, word: str, at: int) -> Iterator[Place]:
    for offset, piece in _opened(word):
        start, value = at + offset, piece.rstrip(".:!?*_-…")
        name, joined, rest = value.partition("=")
        if rest and name.replace("_", "").replace("-", "").isalpha():
            start, value = start + len(name) + len(joined), rest
        if not _SHORTEST_ALONE <= len(value) <= _LONGEST_ALONE or not _is_dense(value):
            continue
        before = text[max(0, start - 32) : start].lower().rstrip(" \"'`=:>")
        if (
            before.endswith(KNOWN_BEFORE)
            or _is_placeholder(value)
            or _is_a_line(text, start, value)
        ):
            continue
        yield "random", start, start + len(value)


def _opened(word: str) -> list[tuple[int, str]]:
    """What stands between the quotes, brackets and commas of a word, and where in it."""
    found, start = [], 0
    for piece in word.translate(_OPENED).split(","):
        if len(piece) >= _SHORTEST_ALONE:
            found.append((start, piece))
        start += len(piece) + 1
    return found


def _is_dense(value: str) -> bool:
    """Whether letters and digits alternate as only chance makes them, hexadecimal left out."""
    lower = value.lower()
    if lower.startswith(KNOWN) or not value.isascii():
        return False
    ending = lower.rpartition(".")[2]
    if ending != lower and ending.isalpha() and len(ending) <= 5:
        return False  # a file
    if "/" in value and (value == lower or "." in value):
        return False  # a path
    pieces = value.translate(_APART).split()
    if "/" in value and any(p.isalpha() and p.islower() and len(p) > 5 for p in pieces):
        return False
    return _alternates("".join(filter(_may_be_random, pieces)))


def _may_be_random(piece: str) -> bool:
    """Not a word, not hexadecimal digits, not short."""
    return len(piece) > 3 and piece.isalnum() and not piece.isalpha() and _is_no_hex(piece)


def _is_no_hex(piece: str) -> bool:
    return bool(piece.lower().strip(_HEX))


def _alternates(text: str) -> bool:
    """Whether capitals, small letters and digits follow each other in short runs."""
    digits = sum(map(text.count, DIGITS))
    if len(text) < 16 or digits < 2 or len(set(text)) < 10:
        return False
    if text in (text.lower(), text.upper()):
        return len(text) <= _runs(text) * 3.4
    words = "".join(c if c.islower() else " " for c in text).split()
    in_words = sum(len(word) for word in words if len(word) > 2)
    return len(text) <= _runs(text) * 2.2 and in_words * 5 <= len(text) * 2


def _is_a_line(text: str, start: int, value: str) -> bool:
    """Whether it is a whole line below or above another as long: a certificate, an attachment."""
    end = start + len(value)
    if len(value) < 60 or text[start - 1 : start].strip() or text[end : end + 1].strip():
        return False
    after = text[end : end + 2 + len(value)].split("\n")[1:2]
    before = text[max(0, start - 2 - len(value)) : start].split("\n")[-2:-1]
    return any(len(line) > 40 and " " not in line for line in (*after, *before))


def _is_random(text: str) -> bool:
    """Whether it may be made by a machine: digits and letters, few of them the same."""
    return _is_mixed(text) and len(set(text)) > 5


def _is_mixed(text: str) -> bool:
    return bool(text.strip(DIGITS)) and any(map(text.__contains__, DIGITS))


def _is_placeholder(text: str) -> bool:
    lower = text.lower()
    if any(mark in lower for mark in PLACEHOLDERS) or len(set(text)) < 4:
        return True
    return _is_published(text) or any(char * _REPEATED in text for char in set(text))


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
    for called, kind in ((PASSWORDS, "password"), (KEYS, "assigned-secret")):
        for name in called:
            end = 0
            for at in every(lower, name):
                if at < end:  # in the value that was found last
                    continue
                if name in WHOLE and text[at - 1 : at] in _INSIDE and text[at - 1 : at]:
                    continue
                if lower[max(0, at - 13) : at].rstrip("_- ").endswith(PUBLIC):
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
    if _is_cut(text, end) or (value[0] == "#" and not mixed):
        return False
    if not password:
        if value.isdigit():
            return len(value) >= 15
        return _is_made(value) and not value.startswith("sha256-") and not _ends_in_version(value)
    line_end = text.find("\n", end, end + _LONGEST_VALUE)
    rest = text[end : line_end if line_end >= 0 else end + _LONGEST_VALUE]
    if joined in ("is ", "was ") or rest.strip(" \t\r\"'`,;}])>*|"):
        return bool(quoted or mixed)  # words follow: prose, unless the value is not a word
    return bool(quoted or mixed or value.isdigit() or value.islower())


def _ends_in_version(value: str) -> bool:
    """`jackson-0.11.2`: a package, with its version."""
    version = value.rpartition("-")[2]
    return "." in version and version.replace(".", "").isdigit()


def _is_variable(value: str) -> bool:
    """`$NAME`, `${…}`, `{{…}}`, `%NAME%`, `<name>`: what stands for a value."""
    value = value.strip(_QUOTES)
    if value[:1] in "<{[*":
        return True
    if value[:1] in "$%":
        return value[1:].strip("{}()%").replace("_", "").replace(".", "").isalnum()
    return False
