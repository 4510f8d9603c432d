"""Lines of any tool's output, whatever tool it is: how rare each is, and what it says.

    text = Lines(output)             a few linear passes over all of it
    text.statements(found)           the statements that no kind has made of them, as units

A line's form is the line without its numbers; how often it occurs says how little it says. Words
about failures count in the languages that reports come in. A line that ends in a colon is told
with the next one, a wrapped paragraph by its sentences.

A megabyte is read in a few hundredths of a second: what is asked of every line is asked of the
whole text at once, or of the lines that hold a word; what costs more, of the lines that are chosen.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import marshal
import math
import operator
import os
import re
import sys
from collections import Counter

from contextkit.base.type_names import Any, Callable, Collection, Iterable, Iterator, NoReturn, T
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

# a zero stays: `0 errors` is another form than `3 errors`
# (what looks back stands behind the first digit, which `re` finds fast)
_NUMBERS = Pattern(
    r"[0-9](?:(?<=[1-9])[\da-f]*|(?<=0)x(?!0+\b)[\da-f]+|(?<![\s=:(]0)[\da-f]*|[\d.:a-f]+)"
)
_HEX = Pattern(r"[a-f](?<!\w.)[a-f]{0,7}\d[\da-f]{4,38}\b")  # begins with a letter
_PADDED = Pattern(r" {2,24}9")  # whose beginning `re` finds fast
_STATUS = Pattern(  # which stays, too
    r"((?:\bHTTP/[\d.]+\\?\" |\b(?:status|code)[\"']?[=:] ?[\"']?))([1-5]\d\d)\b"
)
_KEPT = {ord("0") + digit: 0xE000 + digit for digit in range(10)}  # digits that stay, meanwhile
_DIGITS = {kept: digit for digit, kept in _KEPT.items()}
_FAILURES = (  # parts of words about a failure, and those with which such a word ends
    "error err! fail fatal panic exception traceback critical severe cannot can't couldn't unable"
    " denied refused timeout abort segfault segmentation undefined undeclared unresolved"
    " missing invalid unexpected conflict reject killed crash corrupt deadlock unreachable"
    " unhandled uncaught unmet violat forbidden unreadable incompatible mismatch exceed"
    " incomplete broken unknown"
    " vulnerab ✗ ✘ × ✕ ✖ fehler fehlgeschl ungültig abgebroch verweiger erreur échec échou"
    " impossib introuv fallit inválid falha mislukt misslyck błąd błęd ошибк сбой отказ 错误 失败"
    " 异常 エラー 失敗 오류 실패 خطأ فشل त्रुटि विफल başarısız"
).split()
_LAST_PARTS = (
    "errno sigsegv sigabrt sigkill sigbus sigfpe sigill fallo falló erro fout hata".split()
)
_FAILS = Pattern(rf"{'|'.join(_FAILURES)}|(?:{'|'.join(_LAST_PARTS)})\b")
_FAILED_WORDS = Pattern(  # those that name an error alone are about one in a sentence
    r"(?:^\W*(?:npm )?|\[|[=:]\"?)errors?(?![\w./-])|(?:error|exception|fehler|erreur|errore?|erro"
    r"|ошибка)\b[\w()\[\]-]*(?::| \d)|err!|fail(?:ed|ure)?\b|fatal\b|panic"
    r"|traceback(?: \(|:)|segfault|segmentation"
    r"|critical|severe|\[(?:emerg|alert|crit)\b|^fehler\b|fehlgeschl|échec|falló|błąd"
    r"|错误|エラー|오류|خطأ|signal:? (?:sig|\d)|[✗✘×✕✖]"
)
_PHRASES = (
    *('" 50', "status=50", "not found", "no such", "timed out", "not ok", "nicht "),
    "terminated by signal",
    *("could not", "did not", "does not", "is not ", "not exist", "must not", "не удалось"),
    *("не найден", "no se pudo", "não foi poss", "nie udało"),
)
_REQUEST = re.compile(r"(?:\" |status=)50[0234]\b")
_IN_WORDS = bytes(
    char if char > 127 or chr(char).islower() or char in b"'!" else ord(" ") for char in range(256)
)
_FINE = Pattern(
    r"\b(?:(?:0|no|without|zero) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|issues?"
    r"|vulnerabilities)\b"
    r"|(?:errors?|fail(?:s|ed|ures?)?|unreachable)(?: [a-z]+)?[=:] *0\b|ok$"
    r"|(?:pass(?:ed)?|skip(?:ped)?|xfail)\b|expected failure$)|^\s*(?:ok\b|[✓✔√])|: ok\b|s = [.S]$",
    re.I,
    needs="expected␣failure 0 no␣ without␣ zero␣ pass skip xfail ok ✓ ✔ √ s␣=␣",
)
_MENDED = Pattern(  # what stands behind the last colon of a line that tells of a failure's end
    r": (?:all |\d[\d,]* )?(?:ok|done|succe\w+|fixed|resolved|recovered|restored|repaired)\b"
    r"(?!.*(?:fail|error|not |[1-9]\d* (?:left|remain|open|unfixed)))[^:]*$"
)
_ADDS = Pattern(  # to what was said above; or a test that is still to do
    r"(?:^|: )(?:note|hint|help): |^\W+\S.*\d ?m?s\) # ", needs="note: hint: help: )␣#␣"
)
_OF_PYTEST = "E   "
_SURE = Pattern(r"\W*(?:(?:\w[\w.]*)?(?:error|exception)|fatal|fehler|failed|panic|critical)\b:?")
SUMS_UP = Pattern(  # the shape of a run's own summary
    r"\b(?:(?<![.:/])\d[\d,]* (?:\w+ ){0,2}(?:pass|fail|error|warning|problem|test|example|vulnerab"
    r"|issue|skipped|rows?\b|packages?\b|files?\b|tasks?\b|changed|checks?\b|specs?\b|suites?\b"
    r"|finding)|(?:total|overall|aggregated|average|summary|result|finished|completed?|succe\w+"
    r"|score|elapsed|duration|installed|per second|throughput)\b"
    r"|(?:exit|exited|return(?:ed| code))(?: with)?(?: code| status)?:? \d"
    r"|in \d[\d.]* ?m?s(?:ec\w*)?\b|(?:failed|failures|errors|passed|ok|hits) ?= ?\d|found \d"
    r"|time: )|^BUILD ",
    re.I,
    needs="pass fail error warning problem test example vulnerab issue skipped row package file"
    " task changed check spec suite finding total overall aggregated average"
    " summary result finished complete succe score elapsed duration installed per␣second"
    " throughput exit return in␣ ok= hits found build time:",
)
_FRAME_BEGINS = frozenset("Facfi.#0123456789")
_FRAME = Pattern(  # of a stack trace, with the source that is quoted
    r"^\s*(?:File \"|at \S+.*[(:]|\d+: +0x|#\d+ +(?:0x|\w+ \()|created by \S|from \S+:\d+:in"
    r"|in \S+\.\w+:\d+)"
)
THEIRS = (  # in a frame of a library
    "site-packages", "node_modules", "node:", "AssertionFailureBuilder", "/rustc/", "java.base/",
    "jdk.", "org.junit", "<frozen", "/lib/python", "/lib/go", "/local/go/src/", "vg_replace_",
    "../",
)  # fmt: skip
_QUOTED = Pattern(  # source below a message; a step of ninja or cmake
    r"^\s*(?:(?:>\s*)?(?:\d+\s*)?\|(?:[| ]*\(\d+\)|(?!.*\|))|[\^~]+\s*$|\d+\t|\[ *\d+(?:/\d+|%)\] )"
)
_BYTES = Pattern(r"\s*(?:(?:[\da-fA-F]{2}[: ]){7,}.*|[\w+/]{40,}={0,2})$")  # in hex, in base64
_RULE = Pattern(r"(?:\[[A-Z]+\])?[\W_]*$|\s*\.\.\. \d+ more$")  # perhaps behind a level
_DIGIT, _DOTTED = re.compile(r"[1-9]"), re.compile(r"^[a-z_]\w*\.[a-z_][\w.]*$")
_IS_PATH = re.compile(r"://|^\W?[.~]{0,2}/\w|\w/(?:.*/)?[\w.@-]*\.\w{1,5}\W*$|\w[/_]\S*/")
_TITLE = Pattern(  # a heading between rules, or above an empty line; the header of a table
    r"\s*([=_~-])\1{2}[^\d]*\1{3}$|\s*\w+(?: \w+)?:\s*$|(?:[A-Z]\w+ {2,})+[A-Z]\w+\s*$"
)
_OF_A_TRACE = Pattern(  # what Python prints above and between its traces
    r"\s*(?:Traceback \(most recent|The above exception was|During handling of the above)"
)
_PROGRESS = Pattern(  # a mark for each test, or that one begins
    r"\s*(?:\S+\.\w+ )?[.FEsxX×·°✓✗]{3,}(?: +\[ *\d+%\])?\s*$|=== [A-Z]+ +\S+$"
)
MARKS_IN_A_ROW = Pattern(r"\[?([=_~!#*-])\1{4,}\]? ?")
_ALNUM_END = Pattern(r"(?:\d+[.,])*[^\W_]*$")
_ONE_NUMBER = Pattern(r"\D*(\d+(?:\.\d+)?)\D*$")
_NAMES_FILE = Pattern(r"[\w-]\.[A-Za-z]\w{0,4}(?!\w)")
_OPENING, _CLOSING = "([{<\"'", ")]}>:;,.\"'"
_IN_QUOTES = Pattern(r"\"[^\"]{1,80}\"|'[^']{1,80}'")
_PATH = Pattern(r"(?:https?:)?/[^\s\"'<>()|,;]+|(?<![\w@.-])[\w@.-]+/")
_LONGEST = 260  # characters shown of a line
_READ = 500  # characters of a line that are looked at
_SAMPLE = 60  # lines by which a log is known
_MOST, _OF_MANY = 500, 150  # lines that are weighed, and of very many
_SOME = 2000  # forms of which names are read
_BEGINNING = 12  # characters with which lines begin alike
_FAILED = b"\0"  # in front of what lines have in common that fail
_ALIKE = 8  # forms that differ only in names and are told as one
_WRAPPED, _FULL = 4, 60  # more lines of a paragraph, and characters of one that is full
_LIST = 3  # lines of one form that are a list
_DIFFER = 5  # words that may differ in lines of one form
_VALUES = 3  # values of a word that are told one by one
_WORD = 80  # characters of a word of which two values are told
_ENDS = 40  # lines of each end that always are
_TOP = 12  # lines within which the weight of the first ones falls off
_LISTED = 100  # lines for each that fails, in a list of properties
PIECE, PIECES = 1 << 15, 128  # characters that are read at once, and pieces that are remembered
_MANY = 8  # pieces of which another process reads half
_ALIKE_LINES = 4096  # of which there may be many
_INSIDE, _LEAST = 0.3, 0.1  # weight inside of what is told; weight that is worth a statement


_STAMP = Pattern(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\]?\s(?:UTC |GMT )?"
    r"|^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\S+\s|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |^\[\d+\.\d+\] "
    r"|^==\d+== ?|^\[\d+\.\d+s\](?:\[\w+ *\])?"  # of valgrind, of a Java machine
    r"|^#\d+ (?:\d+\.\d+ )?|^│ ?"  # of a step of docker build; the frame around terraform's errors
    r"|^\[gw\d+\] \[ *\d+%\] "  # of a worker of pytest-xdist
    r"|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4}\] "  # of a request, with who made it
)
_STAMPS = Pattern(r"\n\[?(?:[A-Z][a-z]{2} +)?\d[\dT:.,/ Z-]*\]? *")  # begins a line
_NEAR_DIGITS = b"0123456789abcdefx.: "  # none of them stays of a number
_STAMPED = frozenset("=[#│0123456789ADFJMNOS")  # what a line with a time begins with


def letters(text: str) -> bytes:
    """The words of a text in lower case; blanks are between them."""
    return text.encode("utf-8", "surrogatepass").translate(_IN_WORDS)


def _signs() -> dict[bytes, list[str]]:
    """What is looked for in words, each with what it is a sign of: a part, or a phrase."""
    signs = {part.encode(): [part] for part in _FAILURES}
    signs |= {f"{part} ".encode(): [part] for part in _LAST_PARTS}
    for phrase in _PHRASES[1:]:
        longest = max(letters(phrase).split(), key=len)
        signs.setdefault(longest, []).append(phrase)
    return signs


_SIGNS = _signs()
_SEEN = set[bytes]()  # words
_HOLDING = dict[bytes, set[bytes]]()  # those with signs


class Bare(dict[int, str]):
    """The beginnings of lines by number, without the time or the frame in front, made on demand."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __missing__(self, number: int) -> str:
        self[number] = bare(self._lines[number])
        return self[number]

    def all(self) -> Iterator[tuple[int, str]]:
        """Every line with its number."""
        return enumerate(map(bare, self._lines))


class Forms(dict[int, str]):
    """The forms of lines by number, made on demand, many in one go."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __missing__(self, number: int) -> str:
        self.make([number])
        return self[number]

    def make(self, numbers: Iterable[int]) -> None:
        """Make those that are not there yet."""
        new = [number for number in numbers if number not in self]
        lines = list(dict.fromkeys(self._lines[number] for number in new))
        forms = dict(zip(lines, _formed(lines), strict=True))
        self.update((number, forms[self._lines[number]]) for number in new)


class Line:
    """Lines of one form to weigh: their numbers, the text of the first, and whether it fails.

    often: how many lines differ from it in nothing but names
    """

    __slots__ = ("fails", "number", "numbers", "often", "said")

    def __init__(self, numbers: list[int], said: str, fails: bool, often: int) -> None:
        self.number, self.numbers = numbers[0], numbers
        self.said, self.fails, self.often = said, fails, often

    @property
    def times(self) -> int:
        """How many lines have its form."""
        return len(self.numbers)


class Piece:
    """Some lines of a text, and what is asked of every line; a piece that was read is remembered.

    undated: the lines without the times that they begin with. keys: what stays of those without
    digits and what may stand near them. failing: those that speak of a failure, by number. bare:
    the beginnings of those that may, without the time or the frame in front.
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
        """Whether nothing is left to do with it."""
        return "keys" in self.__dict__

    def found(self) -> dict[str, Any]:
        """All that is asked of a piece, in plain values."""
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
        """Find the lines that speak of a failure, and not that there is none."""
        places = starts(self.all)
        rows = enumerate(self.all if _OF_PYTEST in self.text else ())
        sure = {at for at, line in rows if line[:4] == _OF_PYTEST}
        asked = set(sure)
        bad: dict[str, bool] = {}  # of words
        for part in _sought(self.words):
            at = lower.find(part)
            while at >= 0:
                number = bisect.bisect_right(places, at) - 1
                end = places[number + 1]
                if number not in asked and at - places[number] < _READ:
                    word, end_of_word = _word(lower, at)
                    if word not in bad:
                        bad[word] = bool(_FAILS.search(word)) and not _is_name(word)
                    says = part in _PHRASES and (part[-1] != "0" or _REQUEST.match(lower, at))
                    if says or bad[word]:
                        asked.add(number)
                    else:
                        end = end_of_word
                at = lower.find(part, end)
        lines = {number: self.all[number] for number in asked}
        bares = {line: bare(line) for line in lines.values()}  # many may be alike
        self.bare = {number: bares[line] for number, line in lines.items()}
        fails = {line: _fails(line.lower()) for line in {self.bare[n] for n in asked - sure}}
        self.failing = sorted(sure.union(n for n in asked - sure if fails[self.bare[n]]))


def _sought(words: frozenset[bytes]) -> list[str]:
    """The parts of words, and the phrases, about failures that may be in a text of some words.

    What is in a word is remembered: most words come again.
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
    found = {sign for word in words.intersection(_HOLDING) for sign in _HOLDING[word]}
    return [_PHRASES[0], *(part for sign in found for part in _SIGNS[sign])]  # it has no words


_piece = functools.lru_cache(PIECES)(Piece)
_ASKED: list[Callable[[Piece], Any]] = []  # what is asked of every piece


def of_piece(ask: Callable[[Piece], T]) -> Callable[[Piece], T]:
    """Remember what a function says of a piece, in plain values; it may be asked ahead."""
    name = f"{ask.__module__}.{ask.__name__}"

    def asked(piece: Piece) -> T:
        if name not in piece.__dict__:
            piece.__dict__[name] = ask(piece)
        said: T = piece.__dict__[name]
        return said

    _ASKED.append(asked)
    return asked


@functools.lru_cache(maxsize=2)
def pieces(text: str, has_more: bool = False) -> list[tuple[int, Piece]]:
    """The text in pieces of whole lines, each with the number of its first line, from 0.

    They stay as they are if there is more at its end; without those that would not, if it
    `has_more`.
    """
    is_dated = _is_dated(text.split("\n", _SAMPLE)[:_SAMPLE])
    first, placed = 0, list[tuple[int, Piece]]()
    for part in _parts(text, has_more):
        piece = _piece(part, is_dated)
        placed.append((first, piece))
        first += len(piece.all)
    return placed


def lines_of(text: str) -> list[str]:
    """The lines of a text, of which the pieces are remembered."""
    return [line for _, piece in pieces(text) for line in piece.all]


def numbers_in(text: str, ask: Callable[[Piece], Iterable[int]]) -> list[int]:
    """The numbers, in the text, of the lines that a function names in each piece."""
    return [first + number for first, piece in pieces(text) for number in ask(piece)]


def in_pieces(text: str, ask: Callable[[Piece], Iterable[tuple[int, T]]]) -> list[tuple[int, T]]:
    """The same with what the function says of each line."""
    return [(first + number, said) for first, piece in pieces(text) for number, said in ask(piece)]


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
    """The numbers of the lines that speak of a failure, of a text that may be very long.

    A piece at a time: none is kept.
    """
    first, is_dated = 0, _is_dated(text.split("\n", _SAMPLE)[:_SAMPLE])
    for part in _parts(text, False):
        piece = Piece(part, is_dated)
        yield from (first + number for number in piece.failing)
        first += len(piece.all)


def read_ahead(text: str) -> Iterator[None]:
    """Read a text of which more will come, a piece at a time: what is read is remembered."""
    for _, piece in pieces(text, has_more=True):
        piece.found()
        yield


def read_in_two(text: str) -> None:
    """Read what is left of a long text, half of it in a process of its own, if a core is free.

    What that process does not tell is read when it is asked for. One with threads is not forked.
    """
    left = [piece for _, piece in pieces(text) if not piece.is_read]
    if len(left) < _MANY or _cores() == 1 or "threading" in sys.modules:
        return
    middle = len(left) // 2
    try:
        told = _halved(left[:middle], left[middle:])
    except (OSError, EOFError):
        return  # it could not be started, or was killed
    for piece, found in zip(left[middle:], told, strict=True):
        piece.__dict__.update(found)


def _halved(own: list[Piece], others: list[Piece]) -> list[dict[str, Any]]:
    """Read some pieces here; what another process finds in others."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        _tell(writer, others)
    os.close(writer)
    for piece in own:
        piece.found()
    with open(reader, "rb") as file:
        told = file.read()
    os.waitpid(process, 0)
    return list(marshal.loads(told))


def _tell(writer: int, others: list[Piece]) -> NoReturn:
    """Read some pieces, write what is found in them, and end."""
    try:
        with open(writer, "wb") as file:
            file.write(marshal.dumps([piece.found() for piece in others]))
        os._exit(0)
    finally:
        os._exit(1)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def says_failure(said: str) -> bool:
    """Whether a part of a line has a word or a phrase about a failure."""
    lower = said.lower()
    return bool(_FAILS.search(lower)) or any(map(lower.__contains__, _PHRASES[2:]))


def is_amiss(said: str) -> bool:
    """Whether a part of a line says that something is amiss, and not just a name in it."""
    return says_failure(" ".join(word for word in said.split() if not _is_name(word.lower())))


def is_frame(said: str) -> bool:
    """Whether a line is a frame of a stack trace."""
    return bool(_FRAME.match(said))


def says_failed(said: str) -> bool:
    """Whether a part of a line has a word that means nothing else than that something failed."""
    return bool(_FAILED_WORDS.search(said.lower()) or _REQUEST.search(said))


def starts(lines: list[str]) -> list[int]:
    """Where each line begins in its text, and where the next one would."""
    return [0, *itertools.accumulate(map((1).__add__, map(len, lines)))]


def may_say(words: bytes, phrase: str) -> bool:
    """Whether all words of a phrase are among some, perhaps inside of others."""
    return all(map(words.__contains__, letters(phrase.lower()).split()))


class Lines:
    """A text as lines, numbered from 0.

    bare: the beginnings of lines, without the time or the frame in front
    """

    def __init__(self, text: str) -> None:
        self.is_dated = _is_dated(text.split("\n", _SAMPLE)[:_SAMPLE])
        self.all, self.undated = list[str](), list[str]()
        self._keys, failing = list[bytes](), list[int]()
        self.bare = Bare(self.all)
        words = set[bytes]()
        for first, piece in pieces(text):
            self.all += piece.all
            self.undated += piece.undated
            self._keys += piece.keys
            failing += [first + number for number in piece.failing]
            words |= piece.words
            self.bare.update((first + number, line) for number, line in piece.bare.items())
        self._words = b" ".join(words)
        self.whole = text
        self.forms = Forms(self.undated)
        self.first = next((at for at, line in enumerate(self.all) if line.strip()), 0)
        self.prose = set(numbers_in(text, _prose))
        self.is_prose = len(self.prose) * 3 > sum(map(bool, self.all))
        self._failing = frozenset(failing)
        self.failing = [] if self.is_prose else failing  # the lines that speak of a failure
        self._told: set[int] = set()
        self._is_log = len(failing) * _LISTED > len(self.all)

    @functools.cached_property
    def _starts(self) -> list[int]:
        return starts(self.all)

    def holds(self, *parts: str) -> bool:
        """Whether the text holds one of some parts; which words there are is known."""
        return any(may_say(self._words, part) and part in self.whole for part in parts)

    def holding(self, *parts: str) -> list[int]:
        """The numbers of the lines that hold one of some words."""
        numbers = set[int]()
        for part in parts:
            at = self.whole.find(part) if may_say(self._words, part) else -1
            while at >= 0:
                number = bisect.bisect_right(self._starts, at) - 1
                numbers.add(number)
                at = self.whole.find(part, self._starts[number + 1])
        return sorted(numbers)

    def fails(self, number: int) -> bool:
        """Whether a line speaks of a failure."""
        return number in self._failing

    def indent(self, number: int) -> int:
        """The blanks at the beginning of a line."""
        return len(self.all[number]) - len(self.all[number].lstrip())

    def below(self, number: int, most: int | None = None) -> range:
        """The numbers of the lines, at most so many, below a line."""
        end = len(self.all)
        return range(number + 1, end if most is None else min(end, number + 1 + most))

    def is_underlined(self, number: int) -> bool:
        """Whether a line is a heading, with a rule of its length below."""
        below = self.all[number + 1].strip() if number + 1 < len(self.all) else ""
        return bool(_RULE.match(below)) and 3 < len(below) == len(self.all[number].strip())

    def is_trace(self) -> bool:
        """Whether a quarter of the lines, of very many some, are frames of a stack trace."""
        some = self.all[:: len(self.all) // _SOME + 1]
        like = (line for line in some if line.lstrip()[:1] in _FRAME_BEGINS)
        frames = sum(bool(_FRAME.match(line[:_READ])) for line in like)
        return frames * 4 > sum(map(bool, some))

    def statements(self, told: Collection[int] = (), inside: Collection[int] = ()) -> list[Unit]:
        """What the lines say that are not `told` yet; little of what is `inside` something told."""
        told = self._told = set(told)
        units: list[Unit] = []
        distinct, others = self._distinct(told, set(inside))
        last = max((line.number for line in distinct), default=0)
        below = range(0)  # the lines that were told with the one above them
        for line in distinct:
            rare = math.log(1 + len(self.all) / line.often) / math.log(1 + len(self.all))
            weight = self._weight(line, last) * rare * self._lead(line.number)
            weight *= _INSIDE if line.number in inside else 1
            if line.number in below:
                units[-1] = units[-1]._replace(weight=max(weight, units[-1].weight))
                continue
            unit = self._unit(line, weight)
            if line.number in inside:
                unit = unit._replace(group="")
            is_most = line.times * 2 > len(self.all) and not self.failing
            if unit.weight > _LEAST or unit.group or is_most:
                units.append(unit)
                led = self._leads_on(line.number)
                below = self._paragraph(led) if led else range(0)
        if others and not self.is_prose:
            times = sum(line.times for line in others)
            units.append(Unit(others[0].number + 1, "", "", 0, 0, reading.FAILING, times=times))
        return units

    def _lead(self, number: int) -> float:
        """How much more a line weighs at the top: a list of properties begins with what matters."""
        return 1 if self._is_log else 1 + math.exp((self.first - number) / _TOP)

    def _is_title(self, number: int) -> bool:
        """Whether a line says nothing but what follows, and is not told with it."""
        read = self.all[number][:_READ]
        if self.is_underlined(number) and self.fails(number):
            return True
        if _OF_A_TRACE.match(read) or _PROGRESS.match(read):
            return True
        if read.endswith(":") and number + 1 in self._told:
            return True
        return bool(_TITLE.match(read)) and not self._leads_on(number)

    def _leads_on(self, number: int) -> int:
        """The line that a line is told with, below hints on what to do; 0 if there is none."""
        read = self.all[number][: 4 * _LONGEST].rstrip()
        if not read.endswith(":") or _OF_A_TRACE.match(read):
            return 0
        near = self.below(number, 4)
        below = next((at for at in near if self.all[at].lstrip()[:1] != "("), 0)
        said = self.all[below].rstrip() if below and below not in self._told else ""
        return below if said and not said.endswith(":") else 0

    def _paragraph(self, first: int) -> range:
        """The lines of an indented paragraph that is wrapped; one line if it is none."""
        depth, end = self.indent(first), first + 1
        for number in self.below(first, _WRAPPED) if depth else ():
            is_full = len(self.all[number - 1]) > _FULL
            if not is_full or self.indent(number) != depth or not self.all[number].strip():
                break
            end = number + 1
        return range(first, end)

    def _distinct(self, told: set[int], inside: set[int]) -> tuple[list[Line], list[Line]]:
        """The lines to weigh, those of one form together, and the others that fail.

        Of very many, both ends are weighed, failures, and the rarest, and none that is inside.
        """
        groups = self._groups(told | inside if len(self.all) > _SOME else told)
        failing = {key for key in groups if key[:1] == _FAILED}
        often = self._often(groups)
        keys = list(groups)
        most = _OF_MANY if len(keys) > _SOME else _MOST
        if len(keys) > most:  # they are in the order of their lines
            by_rarity = sorted(keys, key=often.__getitem__)
            first = [key for key in by_rarity if key in failing][:most]
            first += [key for key in by_rarity if key not in failing][: most - len(first)]
            keys = list(dict.fromkeys([*first, *keys[:_ENDS], *keys[-_ENDS:]]))
        self.forms.make(number for key in keys for number in groups[key])
        chosen = [line for key in keys
                  for line in self._of_one_form(groups[key], key in failing, often[key])
                  if not _RULE.match(line.said)]  # fmt: skip
        others = [Line(groups[key], "", True, 1) for key in failing.difference(keys)]
        by_place = operator.attrgetter("number")
        return sorted(chosen, key=by_place), sorted(others, key=by_place)

    def _groups(self, told: Collection[int]) -> dict[bytes, list[int]]:
        """The lines that are not told, by what stays of them without digits and what is near those.

        Lines of one form are in one group; there may be lines of several forms in it. What fails
        and differs in nothing but names is one.
        """
        keys = [*self._keys]
        failing = [at for at in self._failing
                   if not (at in told or self._is_quoted(at) or self._is_title(at))]  # fmt: skip
        self.forms.make(failing)
        for number in failing:
            name = without_names(self.forms[number])
            keys[number] = _FAILED + name.encode("utf-8", "surrogatepass")
        groups: dict[bytes, list[int]] = {}
        for number, key in enumerate(keys):
            if self.all[number] and number not in told:
                groups.setdefault(key, []).append(number)
        return groups

    def _is_quoted(self, number: int) -> bool:
        """Whether a line is source with its number in front."""
        read = self.all[number][:_READ]
        return read.lstrip()[:1].isdigit() and bool(_QUOTED.match(read))

    def _often(self, groups: dict[bytes, list[int]]) -> dict[bytes, int]:
        """How many lines are as those of each group, but for names where many groups are alike.

        Among very many, lines are alike if they begin alike.
        """
        names: list[bytes | str] = [key[:_BEGINNING] for key in groups]
        if len(groups) <= _SOME:
            self.forms.make(numbers[0] for numbers in groups.values())
            names = [without_names(self.forms[numbers[0]]) for numbers in groups.values()]
        sizes = list(map(len, groups.values()))
        forms = Counter(names)
        times = forms.copy()
        for name, size in zip(names, sizes, strict=True):
            if size > 1:
                times[name] += size - 1
        return {key: times[name] if forms[name] > _ALIKE else size
                for key, name, size in zip(groups, names, sizes, strict=True)}  # fmt: skip

    def _of_one_form(self, numbers: list[int], fails: bool, often: int) -> Iterator[Line]:
        """The lines of a group for each form; what fails is one."""
        forms: dict[str, list[int]] = {}
        for number in numbers:
            forms.setdefault("" if fails else self.forms[number], []).append(number)
        for same in forms.values():
            times = often if often > len(numbers) else len(same)
            yield Line(same, self.all[same[0]], fails, times)

    def _weight(self, line: Line, last: int) -> float:
        """How decisive a line is by its words, by its form, and by where it stands."""
        if self._is_title(line.number):
            return 0.0
        by_words = weighing.of_sentence(line.said[:_READ])
        fails = 3.0 if line.fails and not self.is_prose else 1.0
        return fails * self._by_form(line) * self._by_place(line, last) * by_words

    def _by_form(self, line: Line) -> float:
        """Little for what passed, for frames and quoted source; more for a summary."""
        said, weight = line.said[:_READ], 1.0
        leads_on = said.rstrip()[-1:] == ":" and self._leads_on(line.number)
        if SUMS_UP.search(said) or leads_on:
            weight = 2.0
        elif _FINE.search(said):
            weight = _LEAST
        if _FRAME.match(said):
            weight *= 0.6 if any(map(said.__contains__, THEIRS)) else 1.2
        weight *= 0.05 if _BYTES.match(said) else 1.0
        is_aside = _QUOTED.match(said) or said.strip()[:1] + said.rstrip()[-1:] == "()"
        return weight * 0.3 if is_aside else weight

    def _by_place(self, line: Line, last: int) -> float:
        """More for the first and the last lines, and below one that announces a failure."""
        at = line.number
        is_announced = at > 0 and self.all[at - 1].rstrip().endswith(":") and self.fails(at - 1)
        is_at_an_end = line.times == 1 and (at == self.first or at > last - 2)
        return (1.8 if is_announced else 1.0) * (2.5 if is_at_an_end else 1.0)

    def _unit(self, line: Line, weight: float) -> Unit:
        group = reading.FAILING if line.fails and not self.is_prose else ""
        text = alike(self._texts(line), _LONGEST)
        text = MARKS_IN_A_ROW.sub("", text).strip() or text
        times = f" (x{line.times})" if line.times > 1 else ""
        return Unit(line.number + 1, "", text + times, weight, 0, group, times=line.times)

    def _texts(self, line: Line) -> Counter[str]:
        """What the lines of a form say, each with the next one if it leads on, and how often."""
        has_more = line.said[:2] == "==" or line.said.rstrip()[-1:] == ":"
        if not has_more:
            return Counter(map(self.all.__getitem__, line.numbers))
        pairs = Counter(tuple(self.all[n : n + 2]) for n in line.numbers)  # most may be alike
        firsts = {tuple(self.all[n : n + 2]): n for n in reversed(line.numbers)}
        said = Counter[str]()
        for pair, times in pairs.items():
            said[self._text(firsts[pair])] += times
        return said

    def _text(self, number: int) -> str:
        """A line as it is told, with the next one if it leads on."""
        text = " ".join(self.all[number][: 4 * _LONGEST].split())
        text = bare(text) if text.startswith("==") else text
        if below := self._leads_on(number):
            in_list = itertools.takewhile(
                lambda at: self.forms[at] == self.forms[below], self.below(below - 1)
            )
            same = [self.all[at] for at in in_list]
            is_list = len(same) > _LIST and not self.fails(below)
            whole = " ".join(self.all[at][:_LONGEST] for at in self._paragraph(below))
            said = alike(same, _LONGEST) if is_list else " ".join(whole[:_LONGEST].split())
            text = f"{text} {said}{f' (x{len(same)})' * is_list}"
        return text


def alike(texts: Iterable[str], most: int) -> str:
    """Lines of one form as one of at most so many characters, with what differs.

    `batch 1 applied` to `batch 9 applied` are `batch 1…9 applied`.
    """
    times = Counter(texts)
    rows = [text[: 4 * _LONGEST].split() for text in times]
    words = rows[0]
    if len(set(map(len, rows))) > 1:
        words = [*words, "…"]
    elif len(rows) > 1:
        again = [(at, count - 1) for at, count in enumerate(times.values()) if count > 1]
        columns = [_counted(column, again) for column in zip(*rows, strict=True)]
        are_few = sum(len(values) > 1 for values in columns) <= _DIFFER
        words = [_as_one(values) if are_few or len(values) == 1 else f"{next(iter(values))}…"
                 for values in columns]  # fmt: skip
    return reading.cut(" ".join(words), most)


def _counted(words: tuple[str, ...], again: list[tuple[int, int]]) -> dict[str, int]:
    """How often each word stands in a column, in the order of the first time.

    again: the places of words that stand there again, and how often they do
    """
    counts = Counter(words)
    for at, count in again:
        counts[words[at]] += count
    return counts


def _as_one(counts: dict[str, int]) -> str:
    """Values that occur again, if they are few, with how often; of others, the first and the last.

    Of numbers that go up and down, the least and the greatest, which comes first where they fall
    by more than half of the way between the two. Two files are no range: both are told.
    """
    values = list(counts)
    if len(values) == 1:
        return values[0]
    if len(values) <= _VALUES and len(set(counts.values())) > 1:
        return ", ".join(f"{value} x{times}" for value, times in counts.items())
    if len(values) == 2 and all(map(_NAMES_FILE.search, values)):
        return f"{values[0].rstrip(_CLOSING)}, {values[1].lstrip(_OPENING)}"
    matches = itertools.takewhile(bool, map(_ONE_NUMBER.match, values))
    numbers = [float(match[1]) for match in matches if match]
    rises = sorted(numbers)
    if len(numbers) == len(values) and numbers != rises[::-1]:
        low, high = values[numbers.index(rises[0])], values[numbers.index(rises[-1])]
        falls = 2 * (numbers[0] - numbers[-1]) > rises[-1] - rises[0]
        return between(high, low) if falls else between(low, high)
    return between(values[0], values[-1])


def between(word: str, other: str) -> str:
    """Two words as one, without what the second one has in common: `orders/20…31`."""
    start, end = _shared(word, other), _shared(word[::-1], other[::-1])
    end = min(end, max(0, min(len(word), len(other)) - start))
    rest = other[start:] if word != other and len(other) < _WORD else ""
    return f"{word[: len(word) - end] if rest else word}…{rest}"


def _shared(word: str, other: str) -> int:
    """How many characters two words begin with alike, up to a mark."""
    alike = [
        a for a, b in itertools.takewhile(lambda ab: ab[0] == ab[1], zip(word, other, strict=False))
    ]
    return len(_ALNUM_END.sub("", "".join(alike)))


def _is_dated(lines: list[str]) -> bool:
    """Whether most lines begin with a time."""
    some = [line for line in lines if line.strip()]
    dated = (line for line in some if bare(line) != line[:_READ].strip())
    return sum(line[0] not in "=#│" for line in dated) * 2 > len(some)


def _formed(lines: list[str]) -> list[str]:
    """Each line without its numbers."""
    text = "\n".join(lines)
    has_status = " HTTP/" in text or "status" in text or "code" in text
    if has_status:
        text = _STATUS.sub(lambda match: match[1] + match[2].translate(_KEPT), text)
    forms = str(_PADDED.sub(" 9", _NUMBERS.sub("9", _HEX.sub("9", text))))
    return (forms.translate(_DIGITS) if has_status else forms).split("\n") if lines else []


def _fails(row: str) -> bool:
    """Whether a line with a word of failures, in lower case, says that something failed."""
    is_fine = ": error:" not in row and _FINE.search(row) and not _SURE.match(row)
    return not (is_fine or _MENDED.match(row, row.rfind(":")) or _ADDS.search(row))


def _word(text: str, at: int) -> tuple[str, int]:
    """The word around a place, and its end."""
    first = max(0, at - _WORD)
    start = text.rfind(" ", first, at) + 1 or first
    end = text.find(" ", at + 1, at + _WORD)
    end = end if end >= 0 else at + _WORD
    return text[start:end], end


def _is_name(word: str) -> bool:
    """Whether a word is an option, a path, or a name with a number or parts, and no error."""
    if word.startswith("-") and not word.startswith("---"):
        return True  # of an option, and no rule
    if _IS_PATH.search(word):
        return True
    is_name = _DIGIT.search(word) or _DOTTED.search(word) or "::" in word
    return bool(is_name) and not word.rstrip(":,").endswith(("error", "exception"))


def bare(line: str) -> str:
    """The beginning of the line, without the time or the frame in front of it."""
    return (_without_stamp(line[:_READ]) if line[:1] in _STAMPED else line[:_READ]).strip()


@functools.lru_cache(_ALIKE_LINES)
def _without_stamp(line: str) -> str:
    return str(_STAMP.sub("", line))


def without_names(form: str) -> str:
    """A form without paths, addresses and what is in quotes."""
    if len(form) >= _READ:
        return form
    if '"' in form or "'" in form:
        form = _IN_QUOTES.sub('"', form)
    if "/" in form:
        form = " ".join([_without_path(word) if "/" in word else word for word in form.split(" ")])
    return form


def _without_path(word: str) -> str:
    return str(_PATH.sub("/", word))


@of_piece
def _prose(piece: Piece) -> list[int]:
    """The lines of a piece that are paragraphs, by number."""
    return sorted(reading.prose(piece.all))
