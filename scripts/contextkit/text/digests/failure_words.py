"""Words and phrases about failures, in the languages that tools and reports speak.

Part of a word is enough (`fehlgeschl`, `cannot`), except in a name; a phrase must be complete
(`no such`) and not denied by its line (`0 errors`). Words that were looked at are remembered, since
most words occur again.
"""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern
from contextkit.text.words import TEXTS

_FAILURES = TEXTS.words["failures"]  # parts of words about a failure
_LAST_PARTS = TEXTS.words["failures at the end"]  # the endings of such words
FAILS = Pattern(rf"{'|'.join(_FAILURES)}|(?:{'|'.join(_LAST_PARTS)})\b")
_FAILED_WORDS = TEXTS.any_of("failed")
PHRASES = (
    *('" 50', "status=50", "not found", "no such", "timed out", "not ok", "nicht "),
    *("terminated by signal", "data race"),
    *("could not", "did not", "does not", "is not ", "not exist", "must not", "should be "),
    *("не удалось", "не найден", "no se pudo", "não foi poss", "nie udało"),
)
REQUEST = Pattern(r"(?:\" |status=)50[0234]\b")
_IN_WORDS = bytes(
    char if char > 127 or chr(char).islower() or char in b"'!" else ord(" ") for char in range(256)
)
FINE = Pattern(
    r"\b(?:(?:(?<!\.)0|no|without|zero) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?"
    r"|issues?|vulnerabilities)\b"
    r"|(?:errors?|fail(?:s|ed|ures?)?|unreachable)(?: [a-z]+)?[=:] *0\b|ok$"
    r"|(?:pass(?:ed)?|skip(?:ped)?|xfail)\b|expected failure$)|^\s*(?:ok\b|[✓✔√])|: ok\b|s = [.S]$"
    r"|\) += \d+$",  # of a system call
    re.I,
    needs="expected␣failure 0 no␣ without␣ zero␣ pass skip xfail ok ✓ ✔ √ s␣=␣ )␣",
)
_NONE = Pattern(  # a count of none, which says nothing about the other counts in the line
    r"\b(?:(?<!\.)0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|issues?)\b"
    r"|\b[a-z]+(?: [a-z]+)?[=:] *0\b(?=\s*(?:[,;|()\]]|$|\S+[=:]))"
)
_MENDED = Pattern(  # what follows the last colon of a line about a failure that is over
    r": (?:all |\d[\d,]* )?(?:ok|done|succe\w+|fixed|resolved|recovered|restored|repaired)\b"
    r"(?!.*(?:fail|error|not |[1-9]\d* (?:left|remain|open|unfixed)))[^:]*$"
)
_ADDS = Pattern(  # to the line above; or a test that is still to do
    r"(?:^(?:= )?|: )(?:note|hint|help): |^\W+\S.*\d ?m?s\) # "
)
_MILD = Pattern(r"\W*(?:info|debug|trace|notice)\b")  # the level of an event
OF_PYTEST, _OF_A_COMPILER = "E   ", ": error: "
SURE = (OF_PYTEST, _OF_A_COMPILER)
_SURE = Pattern(r"\W*(?:(?:\w[\w.]*)?(?:error|exception)|fatal|fehler|failed|panic|critical)\b:?")
_DIGIT, _DOTTED = Pattern(r"[1-9]"), Pattern(r"^[a-z_]\w*\.[a-z_][\w.]*$")
_IS_PATH = Pattern(r"://|^\W?[.~]{0,2}/\w|\w/(?:.*/)?[\w.@-]*\.\w{1,5}\W*$|\w[/_]\S*/")
_READ = 500  # characters of a line that may be long
_WORD = 80  # characters on either side within which a word ends


def letters(text: str) -> bytes:
    """The words of a text in lower case, separated by blanks."""
    return text.encode("utf-8", "surrogatepass").translate(_IN_WORDS)


def _signs() -> dict[bytes, list[str]]:
    """What is searched in words, each with the part or the phrase that it is a sign of."""
    signs = {part.encode(): [part] for part in _FAILURES}
    signs |= {f"{part} ".encode(): [part] for part in _LAST_PARTS}
    for phrase in PHRASES[1:]:
        longest = max(letters(phrase).split(), key=len)
        signs.setdefault(longest, []).append(phrase)
    return signs


_SIGNS = _signs()
_SEEN = set[bytes]()  # words
_HOLDING = dict[bytes, set[bytes]]()  # those with signs


def sought(words: frozenset[bytes]) -> list[str]:
    """The parts of words and the phrases about failures that a text of these words may hold.

    Each word is searched once: most words occur again.
    """
    new = words - _SEEN
    told = b" ".join([*new, b""])
    for sign in filter(told.__contains__, _SIGNS):
        at = told.find(sign)
        while at >= 0:
            end = told.find(b" ", at)
            word = told[told.rfind(b" ", 0, at) + 1 : end]
            _HOLDING.setdefault(word, set()).add(sign)
            at = told.find(sign, end)
    _SEEN.update(new)
    signs = {sign for word in words.intersection(_HOLDING) for sign in _HOLDING[word]}
    return [PHRASES[0], *(part for sign in signs for part in _SIGNS[sign])]  # it has no words


def says_failure(text: str) -> bool:
    """Whether a part of a line contains a word or phrase about a failure."""
    lower = text.lower()
    return bool(FAILS.search(lower)) or any(map(lower.__contains__, PHRASES[2:]))


def is_amiss(text: str) -> bool:
    """Whether a part of a line speaks of a failure, and not only a name in it does."""
    return says_failure(" ".join(word for word in text.split() if not is_name(word.lower())))


def says_failed(text: str) -> bool:
    """Whether a part of a line has a word that can only mean that something failed."""
    return bool(_FAILED_WORDS.search(text.lower()) or REQUEST.search(text))


def may_say(words: bytes, phrase: str) -> bool:
    """Whether all words of a phrase occur among `words`, perhaps inside longer ones."""
    return all(map(words.__contains__, letters(phrase.lower()).split()))


def is_sure(line: str) -> bool:
    """Whether a line is an error of pytest or of a compiler, judging by its form alone."""
    if line[:4] == OF_PYTEST:
        return True
    at = line.find(_OF_A_COMPILER)
    if at < 1 or len(line) > _READ or not line[at - 1].isdigit():
        return False
    words = line[at + len(_OF_A_COMPILER) :]
    return ": " not in words and not words.startswith("0")


def is_failing(row: str) -> bool:
    """Whether a line that contains a failure word, in lower case, says that something failed."""
    may_count = "0 " in row or "no " in row or "zero " in row  # none; an expression is slower
    may_state = "=0" in row or ":0" in row or " 0" in row
    left = _NONE.sub("", row) if may_count or may_state else row
    if left != row and not (FAILS.search(left) or any(map(left.__contains__, PHRASES))):
        return False
    is_fine = ": error:" not in row and FINE.search(left) and not _SURE.match(row)
    if _MILD.match(row) and not _FAILED_WORDS.search(row):
        return False
    is_note = "note: " in row or "hint: " in row or "help: " in row  # `needs` would lower it again
    adds = (is_note or ") # " in row) and _ADDS.search(row)
    return not (is_fine or adds or _MENDED.match(row, row.rfind(":")))


def word_at(text: str, at: int) -> tuple[str, int]:
    """The word around the position `at`, and its end."""
    first = max(0, at - _WORD)
    start = text.rfind(" ", first, at) + 1 or first
    end = text.find(" ", at + 1, at + _WORD)
    end = end if end >= 0 else at + _WORD
    return text[start:end], end


def is_name(word: str) -> bool:
    """Whether a word is an option, a path, or a compound or numbered name, and not an error."""
    if word.startswith("-") and not word.startswith("---"):
        return True  # of an option, and no rule
    if _IS_PATH.search(word):
        return True
    is_name = _DIGIT.search(word) or _DOTTED.search(word) or "::" in word
    return bool(is_name) and not word.rstrip(":,").endswith(("error", "exception"))
