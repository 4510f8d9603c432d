"""Search a text for secrets, by the rules in `secret_rules.py`.

Every search is linear in the length of the text. The numbers by which values are judged are the
best of `make bench what=secrets`, on values made by the rules of gitleaks and its harmless ones.
"""

from __future__ import annotations

import functools
import re
from itertools import groupby

from contextkit.base import names
from contextkit.base import secret_rules as rules
from contextkit.base.expressions import compiled
from contextkit.base.secret_rules import BASE64, DIGITS, LETTERS
from contextkit.base.type_names import Iterator

Place = tuple[str, int, int]  # kind, start and end in the text
Form = tuple[str, int, int]  # how sure it is, start and end of the value in the text

_NO_START = "/.~@&-,;+)"  # starts a path, an address, or the rest of an expression, not a value
_NO_FORM = _NO_START + "}]>:="  # between two values of JSON there is none
_QUOTES = "\"'`"
_INSIDE = frozenset(LETTERS + DIGITS + "_")  # characters that continue a name
_DIGITS = frozenset(DIGITS)
_PARTS = 8
_SIGNS = frozenset(",;|:!>)]}")  # may also occur inside a value
# The longest first, grouped by their first character, which settles most places.
_STARTS = [
    f"{re.escape(first)}(?:{'|'.join(re.escape(token[1:]) for token in tokens)})"
    for first, tokens in groupby(
        sorted(rules.TOKENS, key=lambda t: (t[0], -len(t))), lambda t: t[0]
    )
]
_LITERALS = compiled(
    f"{'|'.join(map(re.escape, sorted(rules.HEADS)))}|(?<![A-Za-z0-9_.+])(?:{'|'.join(_STARTS)})"
)
_WITHIN = {
    whole: [whole[:end] for end in range(len(whole), 0, -1) if whole[:end] in rules.TOKENS]
    for whole in rules.TOKENS
}
_IN_URL = compiled(  # user and password, before a host's name
    r"://(?=([^ \t\r\n\"'`<>|,;(){}\[\]/:]{0,2000}):([^ \t\r\n\"'`<>|,;(){}\[\]/]{1,2000})@)"
)
_CARRIED = compiled(r"(?ai)(?<![A-Z0-9_])(bearer|basic) ([A-Z0-9_+/=.~-]{16,4000})")
# What comes between a name and its value, as in `<add key="password" value="…"/>`, and the value:
# between quotes, up to one with no letter after it (an apostrophe, an escaped quote), or bare, up
# to a line end, also as JSON escapes it.
_TO_QUOTE = r"(?:(?!(?P=quote))[^\n]){0,4000}"
_PLAIN = r"[^ \t\r\n\"'`<>|,;(){}\[\]\\]{0,4000}"
_ASSIGNED = compiled(
    r"[\"'`*\]) \t\\]*+(?:(?:value(?==))?(?P<sign>=>|:=|==|=|:|>|is |was ))?[* \t]*+"
    r"(?:(?P<quote>\\[\"']|[\"'`])"
    rf"(?=(?P<quoted>{_TO_QUOTE}(?:(?P=quote)(?=\w){_TO_QUOTE}){{0,4}}))(?P=quoted)(?P=quote)"
    rf"|(?P<bare>{_PLAIN}(?:\\(?![nr]){_PLAIN}){{0,99}}))",
    re.ASCII,
)
_LONGEST = 16_384  # characters in a token: a JWT may be long
_LONGEST_VALUE = 4_000  # characters in the value after a name
_LONGEST_PASSWORD = 256
_OF_TESTS = ("Test", "test_")  # beginnings of a test's name, rare in random values
_SHORTEST_ALONE = 20  # characters in a value that is known only by its randomness
_WORD = compiled(rf"\S{{{_SHORTEST_ALONE},}}")  # may hold one
_OPENED = compiled(rf"[^\"'`<>|;(){{}}\[\]:,]{{{_SHORTEST_ALONE},}}")  # a word's part between signs
_ONE_DIGIT = 26  # characters in a random value in which one digit is enough
_SHORTEST_BROKEN = 30  # characters in the first line of a value that goes on in the next
_BROKEN_LINES = 4
_LINE = 60  # characters in a line of base64
_LONGEST_ALONE = 1_200  # longer values are data
_VERSIONED = compiled(r"(?:^|-)(?=[\d.]*(?:\d\.|\.\d))[\d.]*$")  # a package: `jackson-0.11.2`
_HEX = DIGITS + "abcdef"
_ALPHABET = LETTERS[:26]
_SVG = DIGITS + ".-achlmqstvz"
_ULID = compiled(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")  # a time and a random part, which are an id
_APART = str.maketrans(dict.fromkeys("_-+/=.~%", " "))  # what joins the parts of a value
_LONG_REST = 28  # characters besides `abc123` in a value that is no placeholder
_REPEATED = 8  # a run of one character this long never occurs in a secret
_expression = functools.cache(compiled)  # most texts need few of the places' expressions
_KEY = (
    r"(?s)-----BEGIN [^\n-]{0,50}PRIVATE KEY[^\n-]{0,20}-----"
    r"(?:((?:(?!-----BEGIN ).)*?)-----END .*?-----|(.*?)(?:(?=\n\n)|\Z))"
)
_KEY_BODY = 24  # minimum characters in the body of a private key


def places(text: str) -> Iterator[Place]:
    """Every place that looks like a secret, in no particular order; some may overlap."""
    for search in (_keys, _tokens, _in_urls, _carried, _named, _alone, _in_forms):
        yield from search(text)


def every(text: str, literal: str) -> Iterator[int]:
    """Every position of `literal` in `text`."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _keys(text: str) -> Iterator[Place]:
    """Private keys, from the BEGIN line through the END line, or the end of their block."""
    for match in _expression(_KEY).finditer(text) if "-----BEGIN " in text else ():
        if sum(map(len, (match[1] or match[2] or "").split())) >= _KEY_BODY:
            yield "private-key", *match.span()


def _tokens(text: str) -> Iterator[Place]:
    """Tokens with a prefix chosen by their issuer."""
    judged: dict[str, int] = {}  # for each prefix, how far the text has been examined
    for match in _LITERALS.finditer(text):
        for literal in _WITHIN[match[0]]:
            if match.start() + len(literal) >= judged.get(literal, 0):
                yield from _token(text, match.start(), literal, judged)


def _token(text: str, at: int, literal: str, judged: dict[str, int]) -> Iterator[Place]:
    kind, shortest, chars = rules.TOKENS[literal]
    start = at + len(literal)
    if literal in rules.HEADS:
        at -= len(_run(text[max(0, at - 20) : at][::-1], 0, LETTERS + DIGITS))
    tail = _run(text, start, chars).rstrip(".")
    end = judged[literal] = start + len(tail)
    is_made = _is_made(tail) or _is_unpronounceable(tail)  # chance may give it no digit
    if len(tail) < shortest or not is_made or _is_placeholder(tail):
        return
    if text[end : end + 1] in _INSIDE:
        return  # a longer name
    value = text[at:end]
    is_published = names.fingerprint(value.encode()) in rules.PUBLISHED
    if _is_cut(text, end) or is_published or not value.strip(_HEX):
        return  # the last is a digest
    if kind != "jwt" or "." in tail:
        yield kind, at, end


def _run(text: str, start: int, chars: str) -> str:
    piece = text[start : start + _LONGEST]
    return piece[: len(piece) - len(piece.lstrip(chars))]


def _is_made(text: str) -> bool:
    """Like `_is_random`, but also True for letters alone if they are not words."""
    if _is_random(text):
        return True
    letters = "".join(text.translate(_APART).split())
    if not letters.isalpha() or len(set(letters)) < 8:
        return False
    mixed = letters not in (letters.lower(), letters.upper())
    return _runs(letters) * 3 > len(letters) if mixed else len(letters) == len(text) >= 30


def _is_cut(text: str, end: int) -> bool:
    """Whether a value was already shortened: followed by dots or a mark, but not by our own `…`."""
    return text.startswith(("..", "[redacted", "[Redacted", "[REDACTED", "***", "###"), end)


def _runs(text: str) -> int:
    """The number of runs of capitals, lower-case letters, and digits in a text."""
    kinds = [1 if c.islower() else 2 if c.isupper() else 3 for c in text]
    return 1 + sum(map(int.__ne__, kinds, kinds[1:]))


def _alone(text: str) -> Iterator[Place]:
    """Unnamed values that are too random to be words, paths, names, ids, or digests."""
    for match in _WORD.finditer(text):
        word = match[0]
        if "://" not in word and any(map(word.__contains__, DIGITS)):
            yield from _alone_in(text, word, match.start())


def _alone_in(text: str, word: str, at: int) -> Iterator[Place]:
    for match in _OPENED.finditer(word):
        start, value = at + match.start(), match[0].rstrip(".:!?*_-…")
        name, joined, rest = value.partition("=")
        letters = name.replace("_", "").replace("-", "")
        if rest and letters.isalpha() and not _is_unpronounceable(letters):  # a name
            start, value = start + len(name) + len(joined), rest
        if not _SHORTEST_ALONE <= len(value) <= _LONGEST_ALONE or not _is_dense(value):
            continue
        before = text[max(0, start - 32) : start].lower().rstrip(" \"'`=:>")
        is_known = before.endswith(rules.KNOWN_BEFORE) or value.startswith(_OF_TESTS)
        if is_known or _is_placeholder(value) or _is_a_line(text, start, value):
            continue
        end = _with_lines(text, start, _with_parts(text, start, start + len(value)))
        yield "random", _from_parts(text, start), end


def _from_parts(text: str, start: int) -> int:
    """The start of a value including a part in front: `123456789012|x7…`, `Kqz%Wx)x7…`."""
    if text[start - 1 : start] not in _SIGNS:
        return start
    before = text[max(0, start - 60) : start - 1]
    part = before[len(before.rstrip(BASE64 + "%&#")) :]
    number = part[len(part.rstrip(DIGITS)) :]
    if len(number) >= 8:
        return start - 1 - len(number)
    mixed = len(part) >= 12 and part not in (part.lower(), part.upper())
    return start - 1 - len(part) if mixed and _is_unpronounceable(part) else start


def _with_lines(text: str, start: int, end: int) -> int:
    """The end of a value that is broken into lines, if those after the first are short."""
    if end - start < _SHORTEST_BROKEN:
        return end
    for _ in range(_BROKEN_LINES):
        line = end + (2 if text.startswith("\r\n", end) else 1)
        run = _run(text, line, BASE64) if text[end : end + 1] in ("\r", "\n") else ""
        if len(run) >= _SHORTEST_ALONE or not (_is_a_part(run) or run in ("=", "==")):
            break
        if text[line + len(run) : line + len(run) + 1] in (":", "("):
            break  # a key, a call
        end = line + len(run)
    return end


def _is_a_part(run: str) -> bool:
    """Whether a line of its own may be a part of a random value, and is not a word or a name."""
    mixed = run not in (run.lower(), run.upper()) and not _DIGITS.isdisjoint(run)
    return mixed and 8 <= len(run) <= _runs(run) * 2.2


def _is_dense(value: str) -> bool:
    """Whether letters and digits alternate as they only do by chance, ignoring hexadecimal."""
    lower = value.lower()
    if lower.startswith(rules.KNOWN) or not value.isascii() or _ULID.fullmatch(value):
        return False
    ending = lower.rpartition(".")[2]
    if ending != lower and ending.isalpha() and len(ending) <= 5:
        return False  # a file
    if "/" in value and (value == lower or "." in value):
        return False  # a path
    if not lower.strip(_SVG):
        return False  # points of a drawing
    pieces = value.translate(_APART).split()
    if "/" in value and any(p.isalpha() and p.islower() and len(p) > 5 for p in pieces):
        return False
    return _is_by_chance(value)


def _is_by_chance(value: str) -> bool:
    """Whether the pieces of a value hold more than words, numbers, and hexadecimal digits."""
    pieces = [p for p in value.translate(_APART).split() if len(p) > 3 and p.isalnum()]
    made = [p for p in pieces if not p.isalpha() and p.lower().strip(_HEX)]
    text = "".join(made)
    if not _is_varied(text):
        return False
    is_long = max(map(len, made)) >= 10 and len(text) <= _runs(text) * 6
    return (is_long and _is_unpronounceable(text)) or _alternates(text)


def _alternates(text: str) -> bool:
    """Whether capitals, lower-case letters, and digits alternate in short runs."""
    if text in (text.lower(), text.upper()):
        return len(text) <= _runs(text) * 3.4
    words = "".join(c if c.islower() else " " for c in text).split()
    in_words = sum(len(word) for word in words if len(word) > 2)
    return len(text) <= _runs(text) * 2.2 and in_words * 5 <= len(text) * 2


def _is_varied(text: str) -> bool:
    if len(text) < 16 or len(set(text)) < 10:
        return False
    digits = sum(map(text.count, DIGITS))
    if digits == 1:
        return len(text) >= _ONE_DIGIT and _is_unpronounceable(text)
    return digits > 1


def _is_unpronounceable(text: str) -> bool:
    """Whether the letters of a text follow each other as they do in no language.

    A third of all pairs of letters are common in English, and nine tenths of those in its words.
    """
    lower = text.lower()
    pairs = [pair for pair in map(str.__add__, lower, lower[1:]) if pair.isalpha()]
    rare = sum(pair not in rules.PAIRS and pair not in _ALPHABET for pair in pairs)
    return len(pairs) >= 8 and rare * 5 >= len(pairs) * 2


def _is_a_line(text: str, start: int, value: str) -> bool:
    """Whether the value is a line of a certificate or an attachment: its neighbors are long too."""
    end = start + len(value)
    goes_on = text.startswith("\n(redacted ", end)  # a redacted neighbor
    if goes_on or text[start - 1 : start].strip() or text[end : end + 1].strip():
        return False
    before = text[max(0, start - 80) : start].split("\n")[-2:-1]
    if len(value) < _LINE:  # the last one
        return any(len(line) >= _LINE and line.isascii() and _is_by_chance(line) for line in before)
    after = text[end : end + 2 + len(value)].split("\n")[1:2]
    return any(len(line) > 40 and " " not in line for line in (*after, *before))


def _is_random(text: str) -> bool:
    """Whether a text may be machine-made: digits and letters with little repetition."""
    return _is_mixed(text) and len(set(text)) > 5


def _is_mixed(text: str) -> bool:
    return bool(text.strip(DIGITS)) and any(map(text.__contains__, DIGITS))


@functools.lru_cache(4096)
def _is_placeholder(text: str) -> bool:
    lower = text.lower()
    marks = [mark for mark in rules.PLACEHOLDERS if mark in lower]
    if len(set(text)) < 4 or any(len(mark) > 4 for mark in marks):
        return True
    typed = [sequence for sequence in rules.SEQUENCES if sequence in lower]
    if typed:  # by hand: the rest is judged
        rest = text
        for sequence in typed:
            before, _, after = rest.lower().partition(sequence)
            rest = f"{rest[: len(before)]} {rest[len(rest) - len(after) :]}"
        if len(rest) < _LONG_REST or not _is_by_chance(rest):
            return True
    elif marks and not _is_by_chance(text):
        return True  # random values contain four letters in a row by chance
    is_published = names.fingerprint(text.encode()) in rules.PUBLISHED
    return is_published or any(char * _REPEATED in text for char in set(text))


def _in_forms(text: str) -> Iterator[Place]:
    for sure, start, end in _forms(text, _lower(text)):
        value = text[start:end].rstrip(".,;:*")
        end = start + len(value)
        if len(value) < 4 or value.lower() in rules.WORDS:
            continue
        is_code = value[0] in _NO_FORM or "://" in value
        stands_for_one = _is_variable(value) or _is_cut(text, end) or _is_placeholder(value)
        if not (is_code or stands_for_one) and _is_in_form(text, start, end, sure):
            yield "password" if sure != rules.MADE else "assigned-secret", start, end


def _is_in_form(text: str, start: int, end: int, sure: str) -> bool:
    """Whether a value in the place of a secret looks as secrets look there."""
    value = text[start:end]
    if sure == rules.CERTAIN:
        if not value.strip("0123456789.:"):
            return len(value) >= 6 and value.isdigit()  # else a port, an address
        return not (value.isupper() and value.isalpha())
    if sure == rules.PHRASE:
        return _is_phrase(value)
    if sure == rules.MADE:
        return len(value) >= 10 and _is_key(value)
    if not any(map(str.isalpha, value)) or value.lower().startswith(rules.HASHES):
        return False
    quote, line_end = text[start - 1 : start], text.find("\n", end, end + _LONGEST_VALUE)
    rest = text[end : line_end if line_end >= 0 else end + 1]
    is_closed = quote not in ('"', "'", "`") or quote in rest
    return _is_mixed(value) and is_closed and rest[:1] not in ("(", "[", ":", "=")


def _forms(text: str, lower: str) -> Iterator[Form]:
    """Every value in the place of a secret with its certainty, found in lower case."""
    for sure, literals, rule in rules.NAMED:
        for literal in literals:
            for at in every(lower, literal):
                if match := _expression(rule).match(text, at + len(literal)):
                    yield sure, *match.span(1)
    for row in _expression(rules.TABLE).finditer(text) if "|" in text else ():
        yield rules.MIXED, *row.span(1)
    yield from _typed(text, lower)
    if "kind: secret" in lower:
        yield from _of_cluster(text)


def _of_cluster(text: str) -> Iterator[Form]:
    """The values in the Secrets of a Kubernetes file, whose documents are cut by `---`."""
    at = 0
    for document in text.split("\n---"):
        is_secret = _expression(rules.KIND).search(document)
        for data in _expression(rules.DATA).finditer(document) if is_secret else ():
            for entry in _expression(rules.ENTRY).finditer(document, *data.span(1)):
                yield rules.CERTAIN, at + entry.start(1), at + entry.end(1)
        at += len(document) + 4


def _typed(text: str, lower: str) -> Iterator[Form]:
    """The values in single lines: of commands, of SQL, of files of passwords."""
    there = [(command, _expression(rule)) for command, rule in rules.COMMANDS if command in lower]
    chosen = [(command, rule) for command, rule in there if rule.search(text)]
    at = 0
    for line in text.split("\n") if chosen else ():
        small = lower[at : at + len(line)]
        for literal, rule in chosen:
            if literal not in small:
                continue
            for match in rule.finditer(line):
                start, end = match.span(match.lastindex or 0)
                yield rules.CERTAIN, at + start, at + end
        at += len(line) + 1


def _in_urls(text: str) -> Iterator[Place]:
    """The password in `scheme://user:password@host`."""
    for match in _IN_URL.finditer(text):
        user, secret = match.groups()
        is_name = secret.lower() in ("password", "pass", "pwd", "secret", user.lower())
        if not (is_name or _is_variable(secret) or _is_placeholder(secret)):
            yield "url-password", *match.span(2)


def _carried(text: str) -> Iterator[Place]:
    """`Bearer …` and `Basic …` credentials, as in request headers."""
    for match in _CARRIED.finditer(text):
        value, start = match[2].rstrip("."), match.start(2)
        is_padded = match[1].lower() == "basic" and value.endswith("=")
        if len(value) < 16 or _is_placeholder(value):
            continue
        if is_padded or _is_random(value):
            yield "authorization", start, start + len(value)


def _lower(text: str) -> str:
    """The text in lower case, of the same length: one capital alone would become two characters."""
    return text.replace("\u0130", "i").lower()


def _named(text: str) -> Iterator[Place]:
    lower = _lower(text)
    for called, kind in ((rules.PASSWORDS, "password"), (rules.KEYS, "assigned-secret")):
        for name in called:
            done = 0
            for at in every(lower, name):
                place = _value_after(text, at + len(name)) if at >= done else None
                if not place or _is_no_name(text, lower, at, name):
                    continue
                start, stop, joined = place
                if _is_value(text, start, stop, joined, kind == "password"):
                    done = _with_parts(text, start, stop)
                    yield kind, start, done
                elif joined not in tuple(_QUOTES):
                    done = stop - _LONGEST_PASSWORD  # a long word is examined once


def _is_no_name(text: str, lower: str, at: int, name: str) -> bool:
    """Whether a name is part of another word, of a test, or of something public."""
    is_in_word = name in rules.WHOLE and text[at - 1 : at] in _INSIDE
    is_public = lower[max(0, at - 13) : at].rstrip("_- ").endswith(rules.PUBLIC)
    return is_in_word or is_public or text.startswith(("PASS:", "PASS "), at)


def _with_parts(text: str, start: int, end: int) -> int:
    """The end of an unquoted value with signs that end most others: `…Z4!,i5HM`, `123|x7…`."""
    is_number = text[start:end].isdigit()
    for _ in range(_PARTS):
        if text[end : end + 1] not in _SIGNS:
            break
        part = _run(text, end + 1, BASE64).rstrip(".")
        goes_on = is_number and len(part) >= 20 and _is_random(part)
        is_key_or_call = text.startswith((": ", "("), end + 1 + len(part))
        if is_key_or_call or not (goes_on or _is_a_part(part)):
            break  # no part of it
        end += 1 + len(part)
    return end


def _value_after(text: str, at: int) -> tuple[int, int, str] | None:
    """The span of the value of a name that ends at `at`, and how the two are joined.

    They are joined by a quote around the value, a verb or comparison, a space after an option,
    or ''.
    """
    joint = _ASSIGNED.match(text, at)
    if not joint or not (joint["sign"] or _is_option(text, at)):
        return None
    if joint["quote"]:
        return *joint.span("quoted"), joint["quote"][-1]
    start, sign = joint.start("bare"), joint["sign"] or " "
    value = joint["bare"][:_LONGEST_VALUE].rstrip(".,:*…")
    return start, start + len(value), sign if sign in (" ", "is ", "was ", "==") else ""


def _is_option(text: str, end: int) -> bool:
    """Whether a word that a space ends is the option of a command."""
    before = text[max(0, end - 60) : end].split()[-1:] if text[end : end + 1] == " " else ()
    return any("--" in word for word in before)


def _is_value(text: str, start: int, end: int, joined: str, password: bool) -> bool:
    """Whether a value should be kept secret, and is not a word of prose or code."""
    if password and end - start > _LONGEST_PASSWORD:
        return False
    value = text[start:end]
    if len(value) < (6 if password else 10) or value.lower() in rules.WORDS or _is_variable(value):
        return False
    # A path or an expression begins with these, and sometimes the base64 of something random.
    no_start = value[0] in _NO_START and not (value[0] in "/+" and _is_dense(value[1:]))
    is_code = no_start or "://" in value or value[-1] in ":("
    if is_code or _is_placeholder(value):
        return False
    quoted = bool(joined) and joined in _QUOTES
    if joined == "==":  # a comparison with a name
        return False
    if " " in value:
        return password and quoted and _is_phrase(value)
    if not quoted and text[end : end + 1] in ("(", "[", "{"):
        return False
    mixed = _is_mixed(value)
    if _is_cut(text, end) or (value[0] == "#" and not mixed):
        return False
    if not password:
        return _is_key(value)
    is_certain = bool(quoted or mixed)
    line_end = text.find("\n", end, end + _LONGEST_VALUE)
    rest = text[end : line_end if line_end >= 0 else end + _LONGEST_VALUE]
    if joined in ("is ", "was ") or rest.strip(" \t\r\"'`,;}])>*|"):
        return is_certain  # more words follow: prose, unless the value is not a word
    return is_certain or value.isdigit() or value.islower()


def _is_key(value: str) -> bool:
    if value.isdigit():
        return len(value) >= 15
    return _is_made(value) and not (value.startswith("sha256-") or _VERSIONED.search(value))


def _is_phrase(value: str) -> bool:
    """Whether a value is a pass phrase: three to twelve words, and no sentence."""
    words = value.split(" ")
    plain = all(word.isalpha() and word.islower() and len(word) > 2 for word in words)
    return 3 <= len(words) <= 12 and plain and rules.SENTENCES.isdisjoint(words)


def _is_variable(value: str) -> bool:
    """Whether a value is a variable: `$NAME`, `${…}`, `{{…}}`, `%NAME%`, `<name>`."""
    value = value.strip(_QUOTES)
    name = value[1:].strip("{}()%").replace("_", "").replace(".", "")
    return value[:1] in "<{[*" or (value[:1] in "$%" and name.isalnum())
