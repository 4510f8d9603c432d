"""Exact token counts without loading a tokenizer: a byte-pair vocabulary in a mapped file.

Reading the vocabulary of `splintr` takes as long as fifteen bare starts of the interpreter. The
first count therefore writes it into a hash table in the toolkit's environment.

The file is a line that names the format, four bytes for the number of slots (a power of two), then
four bytes per slot: 0, or the position of a token. A token is its length (two bytes), its bytes,
and its rank (three bytes). It is in the first free slot from the one that its CRC-32 selects.
"""

from __future__ import annotations

import heapq
import mmap
import os
from binascii import crc32

from contextkit.base import files
from contextkit.base.expressions import compiled
from contextkit.base.type_names import Any

_SCRIPTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(os.path.dirname(_SCRIPTS), ".venv")  # the packages it is built from are there
_FORM = b"byte pairs 1 of splintr\n"
_NONE = 1 << 24  # above every rank
_SHORT_TEXT = 20_000  # characters of one that is counted again and again, a little changed
_APART = compiled(r"(?<=\n)(?=[^\s/])|(?<=;)(?= )")  # between parts that share no token

# One character represents all non-ASCII ones of its class, so that the patterns stay small.
_STANDS = {"Lu": "À", "Lt": "À", "Ll": "ß", "Lm": "ª", "Lo": "ª", "Mn": "\u0300", "Mc": "\u0300",
           "Me": "\u0300", "Nd": "²", "Nl": "²", "No": "²"}  # fmt: skip
_BLANKS = frozenset("\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
                    "\u200a\u2028\u2029\u202f\u205f\u3000")  # fmt: skip
_LETTERS, _NUMBERS, _SPACE = "A-Za-zÀßª", "0-9²", "\t-\r \xa0"
_SHORT = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))"
_END = rf"[{_SPACE}]*[\r\n]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
PATTERNS = {
    "o200k_base": (
        rf"[^\r\n{_LETTERS}{_NUMBERS}]?[A-ZÀª\u0300]*[a-zßª\u0300]+{_SHORT}?"
        rf"|[^\r\n{_LETTERS}{_NUMBERS}]?[A-ZÀª\u0300]+[a-zßª\u0300]*{_SHORT}?"
        rf"|[{_NUMBERS}]{{1,3}}| ?[^{_SPACE}{_LETTERS}{_NUMBERS}]+[\r\n/]*|{_END}"
    ),
    "cl100k_base": (
        rf"{_SHORT}|[^\r\n{_LETTERS}{_NUMBERS}]?[{_LETTERS}]+|[{_NUMBERS}]{{1,3}}"
        rf"| ?[^{_SPACE}{_LETTERS}{_NUMBERS}]+[\r\n]*|{_END}"
    ),
}


class Vocabulary:
    """A vocabulary with a mapped file, and the pattern that splits a text into pieces."""

    def __init__(self, data: bytes | mmap.mmap, pattern: str) -> None:
        self._data = data
        start = len(_FORM)
        self._mask = int.from_bytes(data[start : start + 4], "little") - 1
        self._slots = start + 4
        self._pieces = compiled(pattern)
        self._known: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self._ranks: dict[bytes, int] = {}

    def count(self, text: str) -> int:
        """The exact number of tokens in `text`; lines and statements of a short one are cached."""
        if len(text) > _SHORT_TEXT:
            return self._counted(text)
        parts = _APART.split(text)
        for part in {*parts} - self._parts.keys():
            self._parts[part] = self._counted(part)
        return sum(map(self._parts.__getitem__, parts))

    def _counted(self, text: str) -> int:
        if text.isascii():
            pieces = self._pieces.findall(text)
        else:
            spans = self._pieces.finditer(_classes(text))
            pieces = [text[slice(*match.span())] for match in spans]
        for piece in {*pieces} - self._known.keys():
            self._known[piece] = self._count(piece.encode("utf-8", "replace"))
        return sum(map(self._known.__getitem__, pieces))

    def rank(self, token: bytes) -> int:
        """The order in which a token was learned; pairs with lower ranks are merged first."""
        if token in self._ranks:
            return self._ranks[token]
        data, slots, mask, size = self._data, self._slots, self._mask, len(token)
        slot, rank = crc32(token) & mask, _NONE
        while at := int.from_bytes(data[slots + 4 * slot : slots + 4 * slot + 4], "little"):
            if data[at + 2 : at + 2 + size] == token and data[at] | data[at + 1] << 8 == size:
                rank = int.from_bytes(data[at + 2 + size : at + 5 + size], "little")
                break
            slot = (slot + 1) & mask
        self._ranks[token] = rank
        return rank

    def _count(self, piece: bytes) -> int:
        """The number of tokens in a piece, after merging byte pairs, lowest rank first."""
        if self.rank(piece) < _NONE:
            return 1
        ends = list(range(1, len(piece) + 1))  # of the part that begins at each byte; 0: merged
        before = list(range(-1, len(piece) - 1))
        heap: list[tuple[int, int, int]] = []

        def offer(start: int) -> None:
            middle = ends[start]
            if middle < len(piece):
                rank = self.rank(piece[start : ends[middle]])
                if rank < _NONE:
                    heapq.heappush(heap, (rank, start, ends[middle]))

        for start in range(len(piece)):
            offer(start)
        count = len(piece)
        while heap:
            _, start, end = heapq.heappop(heap)
            middle = ends[start]
            if not middle or middle >= len(piece) or ends[middle] != end:
                continue  # one of the two is already part of another
            ends[start], ends[middle] = end, 0
            if end < len(piece):
                before[end] = start
            count -= 1
            offer(start)
            if before[start] >= 0:
                offer(before[start])
        return count


def _classes(text: str) -> str:
    """`text` with each non-ASCII character replaced by the one that represents it."""
    import unicodedata

    table = {
        ord(char): "\xa0" if char in _BLANKS else _STANDS.get(unicodedata.category(char), "§")
        for char in set(text)
        if char > "\x7f"
    }
    return text.translate(table)


def find(name: str) -> Vocabulary | None:
    """The vocabulary `name`; None if there is neither its file nor `splintr`."""
    path = os.path.join(FOLDER, f"{name}.tokens")
    data = _mapped(path)
    if data is None:
        try:
            data = table(name)
        except (ImportError, ValueError, OSError):
            return None
        try:
            if os.path.isdir(FOLDER):
                files.write(path, data)
        except OSError:
            pass  # every count makes it again
    return Vocabulary(data, PATTERNS[name])


def _mapped(path: str) -> bytes | mmap.mmap | None:
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    return data if data[: len(_FORM)] == _FORM else None


def table(name: str) -> bytes:
    """The file contents for a vocabulary of `splintr`. Raises ImportError if that is missing."""
    import splintr

    tokenizer: Any = splintr.Tokenizer.from_pretrained(name)
    slots = 1 << (2 * tokenizer.vocab_size).bit_length()
    places = [0] * slots
    parts: list[bytes] = []
    at = len(_FORM) + 4 + 4 * slots
    special = set(tokenizer.special_tokens().values())
    for rank in range(tokenizer.vocab_size):
        if rank in special:
            continue
        try:
            token = bytes(tokenizer.decode_token_bytes(rank))
        except (ValueError, KeyError):
            continue  # a number that no token has
        slot = crc32(token) & (slots - 1)
        while places[slot]:
            slot = (slot + 1) & (slots - 1)
        places[slot] = at
        parts.append(len(token).to_bytes(2, "little") + token + rank.to_bytes(3, "little"))
        at += len(parts[-1])
    head = _FORM + slots.to_bytes(4, "little")
    return b"".join([head, *(place.to_bytes(4, "little") for place in places), *parts])
