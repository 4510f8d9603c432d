"""Lines of any tool's output, whatever tool it is: how rare each is, and what it says.

    text = Lines(output)             one linear pass over all of it
    text.statements(found)           the statements that no kind has made of them, as units

A line's form is the line without its numbers; how often it occurs says how little it says. Words
about failures count in the languages that reports come in. A line that ends in a colon is told
with the next one, a wrapped paragraph in its sentences.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter

from contextkit.base.type_names import Callable, Collection, Iterable, Iterator, T
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

# a zero stays: `0 errors` is another form than `3 errors`
# (what looks back stands behind the first digit, which `re` finds fast)
_NUMBERS = Pattern(
    r"[0-9](?:(?<=[1-9])[\da-f]*|(?<=0)x(?!0+\b)[\da-f]+|(?<![\s=:(]0)[\da-f]*|[\d.:a-f]+)"
)
_HEX = Pattern(r"[a-f](?<!\w.)[a-f]{0,7}\d[\da-f]{4,38}\b")  # begins with a letter
_PADDED = Pattern(r"  +9")  # whose beginning `re` finds fast
_STATUS = Pattern(  # which stays, too
    r"((?:\bHTTP/[\d.]+\\?\" |\b(?:status|code)[\"']?[=:] ?[\"']?))([1-5]\d\d)\b"
)
_KEPT = {ord("0") + digit: 0xE000 + digit for digit in range(10)}  # digits that stay, meanwhile
_DIGITS = {kept: digit for digit, kept in _KEPT.items()}
_FAILURES = (  # parts of words about a failure, and those with which such a word ends
    "error err! fail fatal panic exception traceback critical severe cannot can't couldn't unable"
    " denied refused timeout abort segfault segmentation undefined undeclared unresolved missing"
    " invalid unexpected conflict reject killed crash corrupt deadlock unreachable unhandled"
    " uncaught violat forbidden incompatible mismatch exceed incomplete broken unknown vulnerab"
    " ✗ ✘ × ✕ ✖ fehler fehlgeschl ungültig abgebroch verweiger erreur échec échou impossib"
    " introuv fallit inválid falha mislukt misslyck błąd błęd ошибк сбой отказ 错误 失败 异常"
    " エラー 失敗 오류 실패 خطأ فشل त्रुटि विफल başarısız"
).split()
_LAST_PARTS = (
    "errno sigsegv sigabrt sigkill sigbus sigfpe sigill fallo falló erro fout hata".split()
)
_FAILS = Pattern(rf"{'|'.join(_FAILURES)}|(?:{'|'.join(_LAST_PARTS)})\b")
_PHRASES = (
    *(f"{mark}50{digit}" for mark in ('" ', "status=") for digit in "0234"),
    *("not found", "no such", "timed out", "not ok", "nicht "),
    "terminated by signal",
    *("could not", "did not", "does not", "is not ", "not exist", "must not", "не удалось"),
    *("не найден", "no se pudo", "não foi poss", "nie udało"),
)
_FINE = Pattern(
    r"\b(?:0|no|without|zero) (?:\w+ )?(?:errors?|failures?|failed|failing|problems?|issues?)\b"
    r"|\b(?:errors?|fail(?:s|ed|ures?)?|unreachable)(?: [a-z]+)?[=:] *0\b|s = [.S]$"
    r"|\b(?:pass(?:ed)?|skip(?:ped)?|xfail)\b"
    r"|^\s*(?:ok\b|[✓✔√])|\bok$|: ok\b",
    re.I,
    needs="0 no␣ without␣ zero␣ pass skip xfail ok ✓ ✔ √ s␣=␣",
)
_OF_PYTEST = "E   "
_SURE = Pattern(
    r"^\W*(?:(?:\w[\w.]*)?(?:error|exception)|fatal|fehler|failed|panic|critical)\b:?|: error:"
)
SUMS_UP = Pattern(  # the shape of a run's own summary
    r"(?<![\w.:/])\d[\d,]* (?:\w+ ){0,2}(?:pass|fail|error|warning|problem|test|example|vulnerab"
    r"|issue"
    r"|skipped|rows?\b|packages?\b|files?\b|tasks?\b|changed|checks?\b|specs?\b|suites?\b|finding)"
    r"|\b(?:total|overall|aggregated|average|summary|result|finished|completed?|succe\w+|score"
    r"|elapsed|duration|installed|per second|throughput)\b"
    r"|\b(?:exit|exited|return(?:ed| code))(?: with)?(?: code| status)?:? \d"
    r"|\bin \d[\d.]* ?m?s(?:ec\w*)?\b"
    r"|\b(?:failed|failures|errors|passed|ok|hits) ?= ?\d|\bfound \d|^BUILD |\btime: ",
    re.I,
    needs="pass fail error warning problem test example vulnerab issue skipped row package file"
    " task changed check spec suite finding total overall aggregated average"
    " summary result finished complete succe score elapsed duration installed per␣second"
    " throughput exit return in␣ ok= hits found build time:",
)
_FRAME_BEGINS = frozenset("Fafi.#0123456789")
_FRAME = Pattern(  # of a stack trace, with the source that is quoted
    r"^\s*(?:File \"|at \S+.*[(:]|\d+: +0x|\.\.\. \d+ more|#\d+ +(?:0x|\w+ \()|from \S+:\d+:in"
    r"|in \S+\.\w+:\d+)"
)
THEIRS = (  # in a frame of a library
    "site-packages", "node_modules", "node:", "AssertionFailureBuilder", "/rustc/", "java.base/",
    "jdk.", "org.junit", "<frozen", "/lib/python", "/lib/go", "/local/go/src/", "vg_replace_", "../",
)  # fmt: skip
_QUOTED = Pattern(  # source below a message; a step of ninja or cmake
    r"^\s*(?:(?:>\s*)?(?:\d+\s*)?\|(?!.*\|)|[\^~]+\s*$|\d+\t|\[ *\d+(?:/\d+|%)\] )"
)
_BYTES = Pattern(r"\s*(?:(?:[\da-fA-F]{2}[: ]){7,}.*|[\w+/]{40,}={0,2})$")  # in hex, in base64
_HINT = Pattern(r"\s+\([a-z].*\)$")  # on what to do, as git gives them
_SHARE = Pattern(r"\s{0,8}(\d{1,2}(?:\.\d+)?) ?%\s")
_PROFILE = 5  # lines of a profile that are told
_RULE = Pattern(r"[\W_]*$")
_COUNT_ENDS = frozenset("0123456789.,%")
_WITH_MORE = _COUNT_ENDS | {":"}  # ends of lines that may be told with the next ones
_COUNT = Pattern(r"\s*[A-Za-z](?:[^\W\d]|[ ()/.-]){0,40}[:=]\s*\d[\d.,]*\s?%?\s*$")  # `Low: 3`
_TITLE = Pattern(  # a heading between rules, or above an empty line
    r"\s*([=_~-])\1{2}[^\d]*\1{3}$|\s*\w+(?: \w+)?:\s*$"
)
_OF_A_TRACE = Pattern(  # what Python prints above and between its traces
    r"\s*(?:Traceback \(most recent|The above exception was|During handling of the above)"
)
_MARKS_IN_A_ROW = Pattern(r"\[?([=_~!#*-])\1{4,}\]? ?")
_ALNUM_END = Pattern(r"(?:\d+[.,])*[^\W_]*$")
_ONE_NUMBER = Pattern(r"\D*(\d+(?:\.\d+)?)\D*$")
_IN_QUOTES = Pattern(r"\"[^\"]{1,80}\"|'[^']{1,80}'")
_PATH = Pattern(r"(?:https?:)?/[^\s\"'<>()|,;]+|(?<![\w@.-])[\w@.-]+/")
_ITEM = Pattern(r"\s*(?:[-*+•o·]\s|\d+[.)]\s|-\w|--\w)")
_MARKS = frozenset("-*+•o·0123456789")  # with which one begins
_RUN_IN = Pattern(r"(\w[\w'’]*(?:[ -][\w'’]+){0,2})(?: ?[:：]|\.) +(?=\S)")  # a heading in a row
_WRAPPED = (44, 130)  # characters of a line of a wrapped paragraph
_PROSE = 160  # characters of a line that is a paragraph by itself
_LETTERS = 0.8  # share of letters and spaces in prose
_LONGEST = 260  # characters shown of a line
_READ = 500  # characters of a line that are looked at
_SAMPLE = 60  # lines by which a log is known
_MOST = 500  # lines that are weighed
_ALIKE = 8  # forms that differ only in names and are told as one
_LIST = 3  # lines of one form that are a list
_DIFFER = 5  # words that may differ in lines of one form
_WORD = 80  # characters of a word of which two values are told
_ENDS = 40  # lines of each end that always are
_TOP = 12  # lines within which the weight of the first ones falls off
_LISTED = 100  # lines for each that fails, in a list of properties
REMEMBERED = 250_000  # lines of which it is remembered what they are
_INSIDE, _LEAST = 0.3, 0.1  # weight inside of what is told; weight that is worth a statement


_STAMP = Pattern(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\]?\s(?:UTC |GMT )?"
    r"|^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\S+\s|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |^\[\d+\.\d+\] "
    r"|^==\d+== ?|^\[\d+\.\d+s\](?:\[\w+ *\])?"  # of valgrind, of a Java machine
    r"|^#\d+ (?:\d+\.\d+ )?|^│ ?"  # of a step of docker build; the frame around terraform's errors
    r"|^\[gw\d+\] \[ *\d+%\] "  # of a worker of pytest-xdist
    r"|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4}\] "  # of a request, with who made it
)
_STAMP_FORM = Pattern(r"\n\[?(?:[A-Z][a-z]{2} +)?[90][90T:.,/ Z-]*\]? *")  # begins a line
_STAMPED = frozenset("=[#│0123456789ADFJMNOS")  # what a line with a time begins with


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


class Remembered(dict[str, T]):
    """What is worked out of texts, once each; of all that are new, in one go."""

    def __init__(self, work: Callable[[list[str]], Iterable[T]]) -> None:
        self._work = work

    def of(self, texts: Collection[str]) -> list[T]:
        """What there is of each of these texts."""
        if len(self) > REMEMBERED:
            self.clear()
        if new := list(dict.fromkeys(itertools.filterfalse(self.__contains__, texts))):
            self.update(zip(new, self._work(new), strict=True))
        return list(map(self.__getitem__, texts))


class Line:
    """A line to weigh: its number, its text, and whether it fails.

    numbers: of all lines of its form; often: how many differ from it in nothing but names
    """

    __slots__ = ("fails", "number", "numbers", "often", "said")

    def __init__(self, number: int, said: str, fails: bool) -> None:
        self.number, self.said, self.fails = number, said, fails
        self.numbers = [number]
        self.often = 1

    @property
    def times(self) -> int:
        """How many lines have its form."""
        return len(self.numbers)


class Lines:
    """A text as lines, numbered from 0."""

    def __init__(self, text: str) -> None:
        self.whole, self.all = text, text.split("\n")
        self.bare = Bare(self.all)
        self.is_dated = self._is_dated()
        self.forms = _FORMS[self.is_dated].of(self.all)
        self.counts = Counter(self.forms)
        self.first = next((at for at, line in enumerate(self.all) if line.strip()), 0)
        self._largest = _largest_shares(self.all) if "%" in text else []
        self.prose = dict(_paragraphs(self.all))
        self.is_prose = sum(map(len, self.prose.values())) * 3 > sum(map(bool, self.all))
        self._counting = set(itertools.compress(self.counts, _COUNTING.of(self.counts)))
        self._failing = set(itertools.compress(self.counts, _FAILING.of(self.counts)))
        failing = [at for at, form in enumerate(self.forms) if form in self._failing]
        self.failing = [] if self.is_prose else failing  # the lines that speak of a failure
        self._told: set[int] = set()
        self._is_log = len(failing) * _LISTED > len(self.all)

    def _is_dated(self) -> bool:
        """Whether most lines begin with a time."""
        some = [number for number, line in enumerate(self.all[:_SAMPLE]) if line.strip()]
        dated = (n for n in some if self.bare[n] != self.all[n][:_READ].strip())
        return sum(self.all[n][0] not in "=#│" for n in dated) * 2 > len(some)

    def fails(self, number: int) -> bool:
        """Whether a line speaks of a failure."""
        return self.forms[number] in self._failing

    def indent(self, number: int) -> int:
        """The blanks at the beginning of a line."""
        return len(self.all[number]) - len(self.all[number].lstrip())

    def below(self, number: int, most: int | None = None) -> range:
        """The numbers of the lines, at most so many, below a line."""
        end = len(self.all)
        return range(number + 1, end if most is None else min(end, number + 1 + most))

    def is_trace(self) -> bool:
        """Whether a quarter of the lines are frames of a stack trace."""
        like = (line for line in self.all if line.lstrip()[:1] in _FRAME_BEGINS)
        frames = sum(bool(_FRAME.match(line[:_READ])) for line in like)
        return frames * 4 > sum(map(bool, self.all))

    def statements(self, told: Collection[int] = (), inside: Collection[int] = ()) -> list[Unit]:
        """What the lines say that are not `told` yet; little of what is `inside` something told."""
        told = self._told = set(told)
        units: list[Unit] = []
        for number, lines in self.prose.items():
            if told.isdisjoint(lines):
                units += _sentences(number, [self.all[at] for at in lines], not units)
                told.update(lines)
        distinct, others = self._weighable(self._distinct(told))
        last = max((line.number for line in distinct), default=0)
        below = -1  # the line that was told with the one above it
        for line in distinct:
            rare = math.log(1 + len(self.all) / line.often) / math.log(1 + len(self.all))
            weight = self._weight(line, last) * rare * self._lead(line.number)
            weight = 4.0 if line.number in self._largest else weight
            weight *= _INSIDE if line.number in inside else 1
            if line.number == below:
                units[-1] = units[-1]._replace(weight=max(weight, units[-1].weight))
                continue
            unit = self._unit(line, weight)
            if line.number in inside:
                unit = unit._replace(group="")
            if unit.weight > _LEAST or unit.group:
                units.append(unit)
                below = self._leads_on(line.number) or -1
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
        if _OF_A_TRACE.match(read) or (read.endswith(":") and number + 1 in self._told):
            return True
        return bool(_TITLE.match(read)) and not self._leads_on(number)

    def _leads_on(self, number: int) -> int:
        """The line that a line is told with, below hints on what to do; 0 if there is none."""
        read = self.all[number][: 4 * _LONGEST].rstrip()
        if not read.endswith(":") or _OF_A_TRACE.match(read):
            return 0
        below = next((at for at in self.below(number, 4) if not _HINT.match(self.all[at])), 0)
        said = self.all[below].rstrip() if below and below not in self._told else ""
        return below if said and not said.endswith(":") else 0

    def _distinct(self, told: Collection[int]) -> list[Line]:
        """The first line of each form."""
        seen: dict[str, Line] = {}
        alike = self._alike()
        often = Counter[str]()
        for form, times in self.counts.items():
            often[alike.get(form, form)] += times
        for number, form in enumerate(self.forms):
            if number in told or not form:
                continue
            if form in self._counting and self._is_counted(number):
                continue
            form_of_all = alike.get(form, form)
            read = self.all[number][:_READ]
            is_quoted = read.lstrip()[:1].isdigit() and _QUOTED.match(read)
            fails = form in self._failing and not (is_quoted or self._is_title(number))
            key = form_of_all if fails else form  # what differs in names is one failure
            if line := seen.get(key):
                line.numbers.append(number)
            else:
                seen[key] = Line(number, self.all[number], fails)
                seen[key].often = often[form_of_all]
        return [line for line in seen.values() if not _RULE.match(line.said)]

    def _weighable(self, distinct: list[Line]) -> tuple[list[Line], list[Line]]:
        """Of very many lines, both ends, failures, and the rarest; the others that fail."""
        if len(distinct) <= _MOST:
            return distinct, []
        order = sorted(distinct, key=lambda line: (not line.fails, line.often, line.number))
        chosen = {*order[:_MOST], *distinct[:_ENDS], *distinct[-_ENDS:]}
        others = [line for line in distinct if line.fails and line not in chosen]
        return [line for line in distinct if line in chosen], others

    def _is_counted(self, number: int) -> bool:
        """Whether a line is told with the one above it, as a count in a list of such."""
        return 0 < number < len(self.all) and self._counting.issuperset(
            self.forms[number - 1 : number + 1]
        )

    def _alike(self) -> dict[str, str]:
        """The forms without names of those of which many are alike then."""
        short = [form for form in self.counts if len(form) < _READ]
        nameless = _NAMELESS.of(short)
        often = {name for name, count in Counter(nameless).items() if count > _ALIKE}
        return {form: name for form, name in zip(short, nameless, strict=True) if name in often}

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
        if SUMS_UP.search(said) or self._is_counted(line.number + 1) or leads_on:
            weight = 2.0
        elif _FINE.search(said):
            weight = _LEAST
        if _FRAME.match(said):
            weight *= 0.6 if any(map(said.__contains__, THEIRS)) else 1.2
        if _BYTES.match(said) or _HINT.match(said):
            weight *= 0.05
        return weight * 0.3 if _QUOTED.match(said) else weight

    def _by_place(self, line: Line, last: int) -> float:
        """More for the first and the last lines, and below one that announces a failure."""
        at = line.number
        is_announced = at > 0 and self.all[at - 1].rstrip().endswith(":") and self.fails(at - 1)
        is_at_an_end = line.times == 1 and (at == self.first or at > last - 2)
        return (1.8 if is_announced else 1.0) * (2.5 if is_at_an_end else 1.0)

    def _counted(self, number: int) -> str:
        """A line; of a list of names with counts, such as `Low: 3`, all of it."""
        line = self.all[number][: 4 * _LONGEST]
        if not _COUNT.match(line):
            return line
        end = number + 1
        while end < len(self.all) and self._is_counted(end):
            end += 1
        return "; ".join(" ".join(line.split()) for line in self.all[number:end])

    def _unit(self, line: Line, weight: float) -> Unit:
        group = reading.FAILING if line.fails and not self.is_prose else ""
        has_more = line.said[:2] == "==" or line.said.rstrip()[-1:] in _WITH_MORE
        text_of = self._text if has_more else self.all.__getitem__
        text = alike(map(text_of, line.numbers), _LONGEST)
        text = _MARKS_IN_A_ROW.sub("", text).strip() or text
        times = f" (x{line.times})" if line.times > 1 else ""
        return Unit(line.number + 1, "", text + times, weight, 0, group, times=line.times)

    def _text(self, number: int) -> str:
        """A line as it is told, with the next one if it leads on."""
        text = " ".join(self._counted(number).split())
        text = bare(text) if text.startswith("==") else text
        if below := self._leads_on(number):
            in_list = itertools.takewhile(
                lambda at: self.forms[at] == self.forms[below], self.below(below - 1)
            )
            same = [self.all[at] for at in in_list]
            is_list = len(same) > _LIST and not self.fails(below)
            said = (
                alike(same, _LONGEST)
                if is_list
                else " ".join(self._counted(below)[:_LONGEST].split())
            )
            text = f"{text} {said}{f' (x{len(same)})' * is_list}"
        return text


def alike(texts: Iterable[str], most: int) -> str:
    """Lines of one form as one of at most so many characters, with the ends of what differs.

    `batch 1 applied` and `batch 9 applied` are `batch 1…9 applied`.
    """
    rows = [text[: 4 * _LONGEST].split() for text in dict.fromkeys(texts)]
    words = rows[0]
    if len(set(map(len, rows))) > 1:
        words = [*words, "…"]
    elif len(rows) > 1:
        columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
        are_few = sum(len(values) > 1 for values in columns) <= _DIFFER
        words = [_as_one(values) if are_few or len(values) == 1 else f"{values[0]}…"
                 for values in columns]  # fmt: skip
    return reading.cut(" ".join(words), most)


def _as_one(values: list[str]) -> str:
    """The first and the last value; of numbers that go up and down, the least and the greatest."""
    matches = list(map(_ONE_NUMBER.match, values))
    numbers = [float(match[1]) for match in matches if match]
    rises = sorted(numbers)
    if len(numbers) == len(values) and numbers != rises[::-1]:
        ends = values[numbers.index(rises[0])], values[numbers.index(rises[-1])]
    else:
        ends = values[0], values[-1]
    return between(*ends) if len(values) > 1 else values[0]


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


def _formed(lines: list[str], is_dated: bool) -> list[str]:
    """Each line without its numbers, and without its time if lines begin with one."""
    text = "\n".join(["", *lines])
    has_status = " HTTP/" in text or "status" in text or "code" in text
    if has_status:
        text = _STATUS.sub(lambda match: match[1] + match[2].translate(_KEPT), text)
    forms = str(_PADDED.sub(" 9", _NUMBERS.sub("9", _HEX.sub("9", text))))
    forms = forms.translate(_DIGITS) if has_status else forms
    return (_STAMP_FORM.sub("\n", forms) if is_dated else forms).split("\n")[1:]


def _failing(forms: list[str]) -> Iterator[bool]:
    """Whether each form speaks of a failure."""
    rows = [form.lower()[:_READ] for form in forms]
    words = [row.split() for row in rows]
    all_words = " ".join(set().union(*words))
    bad = {word for part in (*_FAILURES, *_LAST_PARTS) for word in _with(part, all_words)
           if _FAILS.search(word) and not _is_name(word)}  # fmt: skip
    phrases = [phrase for phrase in _PHRASES if all(map(all_words.__contains__, phrase.split()))]
    for form, row, of_row in zip(forms, rows, words, strict=True):
        is_bad = not bad.isdisjoint(of_row) or any(map(row.__contains__, phrases))
        is_fine = is_bad and _FINE.search(row) and not _SURE.search(row)
        yield form.startswith(_OF_PYTEST) or (is_bad and not is_fine)


def _with(part: str, words: str) -> Iterator[str]:
    """Those of the words, each behind a blank, that hold a part."""
    end = words.find(part)
    while end >= 0:
        start = words.rfind(" ", 0, end) + 1
        end = words.find(" ", end)
        yield words[start : end if end >= 0 else len(words)]
        end = words.find(part, end) if end >= 0 else -1


def _is_count(form: str) -> bool:
    ends = form.rstrip()[-1:] in _COUNT_ENDS
    return ends and len(form) < 80 and bool(_COUNT.match(form))


def _is_name(word: str) -> bool:
    """Whether a word of a form is an option, or a name with a number, and no numbered error."""
    if word.startswith("-"):
        return True  # of an option
    return "9" in word and not word.endswith(("error:", "exception:"))


def _largest_shares(lines: list[str]) -> list[int]:
    """The first lines of a profile: those that begin with shares of a whole, which fall."""
    matches = ((number, _SHARE.match(line[:_READ])) for number, line in enumerate(lines))
    shares = [(number, float(match[1])) for number, match in matches if match]
    falls = all(a >= b for (_, a), (_, b) in itertools.pairwise(shares))
    return [number for number, _ in shares[:_PROFILE]] if falls and len(shares) > _PROFILE else []


@functools.lru_cache(REMEMBERED)
def bare(line: str) -> str:
    """The beginning of the line, without the time or the frame in front of it."""
    line = line[:_READ]
    return (str(_STAMP.sub("", line)) if line[:1] in _STAMPED else line).strip()


def without_names(form: str) -> str:
    """A form without paths, addresses and what is in quotes."""
    if len(form) >= _READ:
        return form
    if '"' in form or "'" in form:
        form = _IN_QUOTES.sub('"', form)
    if "/" in form:
        form = " ".join([_without_path(word) if "/" in word else word for word in form.split(" ")])
    return form


@functools.cache  # most words occur again
def _without_path(word: str) -> str:
    return str(_PATH.sub("/", word))


_FORMS = [Remembered(functools.partial(_formed, is_dated=is_dated)) for is_dated in (False, True)]
_FAILING = Remembered(_failing)
_COUNTING = Remembered(functools.partial(map, _is_count))
_NAMELESS = Remembered(functools.partial(map, without_names))


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, range]]:
    """The paragraphs of prose, wrapped or in one line, by their first line."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        bare = line.strip()
        begins_item = number > start and bare[:1] in _MARKS and _ITEM.match(line)
        if bare and not begins_item:
            continue
        if number > start and _is_prose(lines[start:number]):
            yield start, range(start, number)
        start = number if bare else number + 1


def _is_prose(block: list[str]) -> bool:
    """Whether some lines are a paragraph: long enough to be wrapped, and nearly all letters."""
    if len(block) == 1:
        return len(block[0]) > _PROSE and ". " in block[0] and _is_worded(block[0])
    low, high = _WRAPPED
    return all(low <= len(line) <= high and _is_worded(line) for line in block[:-1])


def _is_worded(line: str) -> bool:
    text = " ".join(line[:_READ].split())
    return sum(char.isalpha() or char == " " for char in text) > _LETTERS * len(text)


def _sentences(number: int, block: list[str], is_first: bool) -> Iterator[Unit]:
    """The sentences of a paragraph; the very first one counts more, and all of a decision."""
    paragraph = " ".join(" ".join(line.strip() for line in block).replace("‐ ", "").split())
    label = _RUN_IN.match(paragraph)
    worth, start = (weighing.of_label(label[1]), label.end()) if label else (1.0, 0)
    for index, text in enumerate(reading.sentences(paragraph[start:])):
        text = text if index else paragraph[:start] + text
        weight = worth * weighing.of_sentence(text) * (1.6 if is_first and not index else 1.0)
        weight *= 1.3 if _FAILS.search(text.lower()) else 1.0
        if len(text) > 8:
            key = worth > 2 and not index
            yield Unit(
                number + 1, "", reading.clause(text) or text[:_LONGEST], weight, 2 * key, key=key
            )
