"""Words in the form in which the search compares them: lower case, no accents, no punctuation.

The index and the snippets both work on the text that `folded` returns, so they agree. Characters of
scripts without spaces between words (Chinese, Japanese …) are words of their own.
"""

from __future__ import annotations

import re
import unicodedata

from contextkit.base.errors import bad_input
from contextkit.base.records import Record

_WIDE = 0x2E80  # from this code point on, each letter is a word
_TERM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')
_PLAIN = re.compile(r"[^a-z0-9]+")
_MOST = 32  # terms in a query


class Term(Record):
    """Consecutive words; with `prefix`, the last one may be the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


def folded(text: str) -> str:
    """Return the words of a text, separated by single spaces."""
    if text.isascii():
        return _PLAIN.sub(" ", text.lower()).strip()
    text = unicodedata.normalize("NFKD", text.lower()).lower()
    made = []
    for char in text:
        if char.isalnum():
            made.append(f" {char} " if ord(char) >= _WIDE else char)
        elif not unicodedata.combining(char):
            made.append(" ")
    return " ".join("".join(made).split())


def query(text: str) -> tuple[Term, ...]:
    """Parse a query such as `words "in a row" begin*`. Raises ContextError if it has no word."""
    found = []
    for quoted, star, word in _TERM.findall(text)[:_MOST]:
        words = tuple(folded(quoted or word).split())
        if words:
            found.append(Term(words=words, prefix=bool(star) or word.endswith("*")))
    if not found:
        raise bad_input(f"q: {text[:60]!r} has no word to look for")
    return tuple(found)


def _place(padded: str, term: Term) -> int:
    return padded.find(" " + " ".join(term.words) + ("" if term.prefix else " "))


def in_fts(terms: tuple[Term, ...]) -> str:
    """Return the terms as an FTS5 query, in which nothing that was typed acts as an operator."""
    return " AND ".join(f'"{" ".join(t.words)}"' + (" *" if t.prefix else "") for t in terms)


def count(body: str, terms: tuple[Term, ...]) -> int:
    """Return how many of the terms a folded text has."""
    return sum(_place(f" {body} ", term) >= 0 for term in terms)


def marked(line: str, terms: tuple[Term, ...]) -> str:
    """Return a line with `**` around the matching words."""
    wanted = {word for term in terms for word in term.words}
    begun = tuple(term.words[-1] for term in terms if term.prefix)

    def around(match: re.Match[str]) -> str:
        word = match.group()
        parts = folded(word).split()
        hit = any(part in wanted or (begun and part.startswith(begun)) for part in parts)
        return f"**{word}**" if hit else word

    return re.sub(r"\w+", around, line.replace("**", ""))
