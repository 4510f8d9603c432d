"""A text in pieces of whole lines; results of a search over lines are cached for each piece.

    for first, piece in pieces(text)     each with the number of its first line, from 0
    @of_piece                            caches a function of a piece
    numbers_in(text, ask)                the lines that such a function names, in the whole text

A text that arrives slowly is read as it arrives (`read_ahead`), and the end of a long one is read
by a process of its own (`Helper`): no piece is read twice.
"""

from __future__ import annotations

import bisect
import fcntl
import functools
import itertools
import marshal
import os
import sys

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, NoReturn, T
from contextkit.text.digests.failure_words import (
    FAILS,
    PHRASES,
    REQUEST,
    SURE,
    is_failing,
    is_name,
    is_sure,
    letters,
    sought,
    word_at,
)

READ = 500  # characters of a line that are searched
SAMPLE = 60  # lines by which a log is known
PIECE, PIECES = 1 << 15, 128  # characters of a piece, and pieces that are cached
_MANY = 8  # pieces from which on another process reads some
_SIZE, _KILL = 4, 9  # bytes of a length; SIGKILL
_F_SETPIPE_SZ, _ROOM = 1031, 1 << 20  # of Linux: bytes that wait in a pipe
_ALIKE_LINES = 4096  # entries of the cache: many lines are equal
_STAMP = Pattern(
    r"^\[?(?:\d{2,4}[-/.]\d\d[-/.]\d{2,4}[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\]?\s(?:UTC |GMT )?"
    r"|^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\S+\s|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |^\[ *\d+\.\d+\] "
    r"|^==\d+== ?|^\[\d+\.\d+s\](?:\[\w+ *\])?"  # of valgrind, of a Java machine
    r"|^#\d+ (?:\d+\.\d+ )?|^│ ?"  # of a step of docker build; the frame around terraform's errors
    r"|^\[gw\d+\] \[ *\d+%\] "  # of a worker of pytest-xdist
    r"|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4}\] "  # of a request, with who made it
)
_STAMPS = Pattern(r"\n(?:\[ *)?(?:[A-Z][a-z]{2} +)?\d[\dT:.,/ Z-]*\]? *")  # begins a line
_ECHOED = Pattern(r"\++ \S")  # a command that a shell prints before it runs it
_NEAR_DIGITS = b"0123456789abcdefx.: "  # removed together with digits
_STAMPED = frozenset("=[#│0123456789ADFJMNOS")  # first characters of lines with a time


class Piece:
    """Some lines of a text, and what is searched in every line; pieces are cached.

    undated: the lines without the times at their beginning. keys: what is left of those without
    digits and their neighbors. failing: the lines that speak of a failure, by number. bare: the
    beginnings of those that may, without the time or the frame in front.
    """

    undated: list[str]
    keys: list[bytes]
    words: frozenset[bytes]
    failing: list[int]
    bare: dict[int, str]

    def __init__(self, text: str, is_dated: bool) -> None:
        self.text, self.all = text, text.split("\n")
        if not is_dated:
            self.undated = self.all

    def __getattr__(self, name: str) -> Any:
        self._read()
        return self.__dict__[name]

    @property
    def is_read(self) -> bool:
        """Whether everything has been searched."""
        return "keys" in self.__dict__

    def found(self) -> dict[str, Any]:
        """The results of all searches, as plain values."""
        for ask in _ASKED:
            ask(self)
        return {name: value for name, value in self.__dict__.items()
                if name != "text" and value is not self.all}  # fmt: skip

    def _read(self) -> None:
        text = undated = self.text
        if "undated" not in self.__dict__:
            undated = _STAMPS.sub("\n", f"\n{text}")[1:]
            self.undated = undated.split("\n")
        keys = undated.encode("utf-8", "surrogatepass").translate(None, _NEAR_DIGITS)
        self.keys = keys.split(b"\n")
        lower = text.lower()
        if len(lower) != len(text):  # the capital İ becomes two characters
            lower = "".join(char.lower()[:1] for char in text)
        self.words = frozenset(letters(lower).split())
        self._find_failing(lower.replace("\n", " ").replace("\t", " "))

    def _find_failing(self, lower: str) -> None:
        """Find the lines that speak of a failure, not of the absence of one."""
        places = starts(self.all)
        rows = enumerate(self.all if any(map(self.text.__contains__, SURE)) else ())
        may = [(at, line) for at, line in rows if line[:4] in SURE or SURE[1] in line]
        sure = {at for at, line in may if is_sure(line)}
        asked = set(sure)
        bad: dict[str, bool] = {}  # by word
        for part in sought(self.words):
            at = lower.find(part)
            while at >= 0:
                number = bisect.bisect_right(places, at) - 1
                end = places[number + 1]
                if number not in asked and at - places[number] < READ:
                    word, end_of_word = word_at(lower, at)
                    if word not in bad:
                        bad[word] = bool(FAILS.search(word)) and not is_name(word)
                    says = part in PHRASES and (part[-1] != "0" or REQUEST.match(lower, at))
                    if says or bad[word]:
                        asked.add(number)
                    else:
                        end = end_of_word
                at = lower.find(part, end)
        asked = {n for n in asked if not _ECHOED.match(self.all[n])}
        lines = {n: self.all[n] for n in asked}
        bares = {line: bare(line) for line in lines.values()}  # many are equal
        self.bare = {number: bares[line] for number, line in lines.items()}
        fails = {line: is_failing(line.lower()) for line in {self.bare[n] for n in asked - sure}}
        self.failing = sorted(sure.union(n for n in asked - sure if fails[self.bare[n]]))


_piece = functools.lru_cache(PIECES)(Piece)
_ASKED: list[Callable[[Piece], Any]] = []  # the searches made in every piece


def of_piece(ask: Callable[[Piece], T]) -> Callable[[Piece], T]:
    """Cache a function of a piece, which returns plain values and may be called ahead of need."""
    name = f"{ask.__module__}.{ask.__name__}"

    def asked(piece: Piece) -> T:
        if name not in piece.__dict__:
            piece.__dict__[name] = ask(piece)
        answer: T = piece.__dict__[name]
        return answer

    _ASKED.append(asked)
    return asked


@functools.lru_cache(maxsize=2)
def pieces(text: str, has_more: bool = False) -> list[tuple[int, Piece]]:
    """The text in pieces of whole lines, each with the number of its first line, from 0.

    Text added at the end changes only the last pieces; if the text `has_more`, those are left out.
    """
    is_dated = are_dated(text.split("\n", SAMPLE)[:SAMPLE])
    first, placed = 0, list[tuple[int, Piece]]()
    for part in _parts(text, has_more):
        piece = _piece(part, is_dated)
        placed.append((first, piece))
        first += len(piece.all)
    return placed


def lines_of(text: str) -> list[str]:
    """The lines of a text, whose pieces are cached."""
    return [line for _, piece in pieces(text) for line in piece.all]


def numbers_in(text: str, ask: Callable[[Piece], Iterable[int]]) -> list[int]:
    """The numbers in the whole text of the lines that a function names in each piece."""
    return [first + number for first, piece in pieces(text) for number in ask(piece)]


def in_pieces(text: str, ask: Callable[[Piece], Iterable[tuple[int, T]]]) -> list[tuple[int, T]]:
    """The same, with what the function returns for each line."""
    return [
        (first + number, answer) for first, piece in pieces(text) for number, answer in ask(piece)
    ]


def _parts(text: str, has_more: bool) -> Iterator[str]:
    at = 0
    while len(text) - at > PIECE:
        end = text.rfind("\n", at, at + PIECE)
        end = end if end >= 0 else text.find("\n", at + PIECE)
        if end < 0:
            break
        yield text[at:end]
        at = end + 1
    if not has_more:
        yield text[at:]


def failing_in(text: str) -> Iterator[int]:
    """The numbers of the lines that speak of a failure in a text that may be very long.

    Read piece by piece; none is cached.
    """
    first, is_dated = 0, are_dated(text.split("\n", SAMPLE)[:SAMPLE])
    for part in _parts(text, False):
        piece = Piece(part, is_dated)
        yield from (first + number for number in piece.failing)
        first += len(piece.all)


def read_ahead(text: str) -> Iterator[None]:
    """Read and cache the pieces of a text that is still growing."""
    for _, piece in pieces(text, has_more=True):
        piece.found()
        yield


class Helper:
    """Another process, which reads a long text from its end while this one does something else.

    There is none for a short text, without a free core, or in a process with threads, which is not
    forked. What it fails to tell is read here.
    """

    def __init__(self, text: str) -> None:
        self._left = [piece for _, piece in pieces(text) if not piece.is_read]
        self._process = 0
        if len(self._left) < _MANY or _cores() == 1 or "threading" in sys.modules:
            return
        self._told, writer = os.pipe()
        try:
            fcntl.fcntl(writer, _F_SETPIPE_SZ, _ROOM)
        except OSError:
            pass  # not Linux
        os.set_blocking(self._told, False)
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._told)
        else:
            if not self._process:
                _tell(writer, self._left[::-1])
        os.close(writer)

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whether or not it has read everything."""
        if not self._process:
            return
        os.close(self._told)
        try:
            os.kill(self._process, _KILL)
            os.waitpid(self._process, 0)
        except OSError:
            pass  # it has ended, and nobody waits for children here
        self._process = 0

    def read(self) -> None:
        """Read the text from its beginning until the two meet."""
        end, answered = len(self._left), self._answered()
        for number, piece in enumerate(self._left if self._process else ()):
            for answers in itertools.takewhile(bool, answered):
                end -= 1
                self._left[end].__dict__.update(answers)
            if number >= end:
                break
            piece.found()

    def _answered(self) -> Iterator[dict[str, Any]]:
        """What the process found in each piece; an empty answer where there is none yet."""
        told = b""
        while True:
            try:
                told += os.read(self._told, _ROOM)
            except BlockingIOError:
                pass
            while (end := _SIZE + int.from_bytes(told[:_SIZE], "big")) <= len(told) > _SIZE:
                yield marshal.loads(told[_SIZE:end])
                told = told[end:]
            yield {}


helper = functools.lru_cache(maxsize=1)(Helper)  # may be started ahead of need


def _tell(writer: int, others: list[Piece]) -> NoReturn:
    """Read some pieces, write what is found in each, and exit."""
    try:
        with open(writer, "wb") as file:
            for piece in others:
                answers = marshal.dumps(piece.found())
                file.write(len(answers).to_bytes(_SIZE, "big") + answers)
                file.flush()
    finally:
        os._exit(0)


def _cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def starts(lines: list[str]) -> list[int]:
    """The offset of each line in its text, and the one behind the last line."""
    return [0, *itertools.accumulate(map((1).__add__, map(len, lines)))]


def are_dated(lines: list[str]) -> bool:
    """Whether most lines begin with a time."""
    some = [line for line in lines if line.strip()]
    dated = (line for line in some if bare(line) != line[:READ].strip())
    return sum(line[0] not in "=#│" for line in dated) * 2 > len(some)


def bare(line: str) -> str:
    """The beginning of the line, without the time or the frame in front of it."""
    return (_without_stamp(line[:READ]) if line[:1] in _STAMPED else line[:READ]).strip()


@functools.lru_cache(_ALIKE_LINES)
def _without_stamp(line: str) -> str:
    return str(_STAMP.sub("", line))
