"""The lines of any tool's output: how rare each is, and what it says.

    text = Lines(output)             a few linear passes over all of it
    text.statements(told)            units for the lines that no kind has covered

A line's form is the line without its numbers: the more lines have it, the less each of them says.
Words about failures (`failure_words`) count more. A line that ends in a colon is joined with the
next one, a wrapped paragraph is split into sentences, lines of one form become one (`folding`).

`make bench what=outputs` measures what the numbers below keep.

A megabyte is read in a few hundredths of a second: cheap checks run over the whole text at once, or
over the lines that hold a word; expensive ones only over the lines that are chosen.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import operator
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Collection, Iterable, Iterator
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.failure_words import FINE, may_say
from contextkit.text.digests.folding import alike
from contextkit.text.digests.pieces import (
    READ,
    SAMPLE,
    Piece,
    are_dated,
    bare,
    numbers_in,
    of_piece,
    pieces,
    starts,
)
from contextkit.text.digests.reading import Unit
from contextkit.text.words import TEXTS

# a zero stays: `0 errors` is another form than `3 errors`
# (a lookbehind after the first digit is faster)
_NUMBERS = Pattern(
    r"[0-9](?:(?<=[1-9])[\da-f]*(?:[.:]\d[\da-f]*)*|(?<=0)x(?!0+\b)[\da-f]+|(?<![\s=:(]0)[\da-f]*|[\d.:a-f]+)"
)
_HEX = Pattern(r"[a-f](?<!\w.)[a-f]{0,7}\d[\da-f]{4,38}\b")  # begins with a letter
_PADDED = Pattern(r" {2,24}9")  # whose beginning `re` finds fast
_STATUS = Pattern(  # which stays, too
    r"((?:\bHTTP/[\d.]+\\?\" |\b(?:status|code)[\"']?[=:] ?[\"']?))([1-5]\d\d)\b"
)
_KEPT = {
    ord("0") + digit: 0xE000 + digit for digit in range(10)
}  # digits that stay, as private characters for the time being
_DIGITS = {kept: digit for digit, kept in _KEPT.items()}
SUMS_UP = TEXTS.any_of("sums up")  # the shape of a run's own summary
_FRAME_BEGINS = frozenset("Facfi.#0123456789")
_FRAME = Pattern(  # of a stack trace, with the source that is quoted
    r"^\s*(?:File \"|at \S+.*[(:]|\d+: +0x|#\d+ +(?:0x|\w+ \()|created by \S|from \S+:\d+:in"
    r"|in \S+\.\w+:\d+)"
)
THEIRS = (  # in a frame of a library
    "site-packages", "node_modules", "node:", "AssertionFailureBuilder", "/rustc/", "java.base/",
    "jdk.", "org.junit", "<frozen", "/lib/python", "/lib/go", "/local/go/src/", "vg_replace_",
    "../", "./nptl/", "/usr/lib", "/usr/include/", "/usr/local/lib", " /lib/", "(/lib/",
    " in __GI_",
)  # fmt: skip
_QUOTED = Pattern(  # source below a message; a step of ninja or cmake
    r"^\s*(?:(?:>\s*)?(?:\d+\s*)?\|(?:[| ]*\(\d+\)|(?!.*\|))|[\^~]+\s*$|\d+\t|\[ *\d+(?:/\d+|%)\] )"
)
_WARNS = Pattern(r"\bWARN(?:ING)?\b|\b[Ww]arn(?:ing|ung)?\b(?=[: ])", needs="warn")
_LEGAL = Pattern(
    r"\b(?:copyright|licen[sc]ed?|permission|warranty|disclaim\w*)\b|\(c\) \d{4}",
    re.I,
    needs="copyright licen permission warranty disclaim (c)",
)
_BYTES = Pattern(  # in hex, in base64; an array of a debugger
    r"\s*(?:(?:[\da-fA-F]{4,}[: -]+)?(?:[\da-fA-F]{2}[: ]){7,}.*"
    r"|[\w+/]{40,}={0,2}|\w+ = \{(?:\d+, ){4}.*)$"
)
_STACK = 40  # lines of a stack of frames, or below an error, that are read
_RULE = Pattern(r"(?:\[[A-Z]+\])?[\W_]*$|\s*\.\.\. \d+ more$")  # perhaps behind a level
_TITLE = Pattern(  # a heading between rules, or above an empty line; the header of a table
    r"\s*([=_~-])\1{2}[^\d]*\1{3}$|\s*\w+(?: \w+)?:\s*$|(?:[A-Z]\w+ {2,})+[A-Z]\w+\s*$"
)
_OF_A_TRACE = Pattern(  # what Python prints above and between its traces
    r"\s*(?:Traceback \(most recent|The above exception was|During handling of the above)"
)
_PROGRESS = Pattern(  # a mark for each test, or that one begins
    r"\s*(?:\S+\.\w+ )?[.FEsxX×·°✓✗]{3,}(?: +\[ *\d+%\])?\s*$|=== [A-Z]+ +\S+$"
)
MARKS_IN_A_ROW = Pattern(r"(?:(?<!\w)_{5,}|\[?([=~!#*-])\1{4,})\]? ?")
_IN_QUOTES = Pattern(r"\"[^\"]{1,80}\"|'[^']{1,80}'")
_LEADERS = Pattern(r"\.{4,}")  # of dots, between a name and its state
_IDENTIFIER = Pattern(r"\w+_[\w.]*")
_PATH = Pattern(r"(?:https?:)?/[^\s\"'<>()|,;]+|(?<![\w@.-])[\w@.-]+/")
_LONGEST = 260  # characters shown of a line
_MOST, _OF_MANY = 500, 150  # lines that are weighed; of a very long text
_SOME = 2000  # lines, or forms, beyond which only some are examined
_BEGINNING = 12  # characters with which lines begin alike
_FAILED = b"\0"  # begins the key of lines that fail
_ALIKE = 8  # forms that differ only in names and are shown as one
_WRAPPED, _FULL = 4, 60  # more lines of a paragraph, and characters of one that is full
_LIST = 3  # lines of one form that are a list
_ENDS = 40  # lines at each end that are always weighed
_TOP = 12  # lines within which the weight of the first ones falls off
_LISTED = 100  # lines per failing one, from which on a text is no log
_INSIDE, _LEAST = 0.3, 0.1  # weight of a line inside of what is told; least weight for a statement


class Bare(dict[int, str]):
    """The beginnings of lines by number, without a time or frame in front; made on demand."""

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
        """Make the missing ones."""
        new = [number for number in numbers if number not in self]
        lines = list(dict.fromkeys(self._lines[number] for number in new))
        forms = dict(zip(lines, _formed(lines), strict=True))
        self.update((number, forms[self._lines[number]]) for number in new)


class Line:
    """Lines of one form to weigh: their numbers, the text of the first, and whether they fail.

    often: the number of lines that differ from them only in names
    """

    __slots__ = ("fails", "number", "numbers", "often", "said")

    def __init__(self, numbers: list[int], text: str, fails: bool, often: int) -> None:
        self.number, self.numbers = numbers[0], numbers
        self.said, self.fails, self.often = text, fails, often

    @property
    def times(self) -> int:
        """The number of lines of this form."""
        return len(self.numbers)


def is_frame(line: str) -> bool:
    """Whether a line is a frame of a stack trace."""
    return bool(_FRAME.match(line))


class Lines:
    """A text as lines, numbered from 0.

    bare: the beginnings of lines, without the time or the frame in front
    """

    def __init__(self, text: str) -> None:
        self.is_dated = are_dated(text.split("\n", SAMPLE)[:SAMPLE])
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
        self._led = dict[int, int]()
        self._is_log = self.is_dated or len(failing) * _LISTED > len(self.all)

    @property
    def is_long(self) -> bool:
        """Whether there are so many lines that only some of them are examined."""
        return len(self.all) > _SOME

    @functools.cached_property
    def _starts(self) -> list[int]:
        return starts(self.all)

    def holds(self, *parts: str) -> bool:
        """Whether the text holds one of some parts, judging by the set of its words."""
        return any(may_say(self._words, part) and part in self.whole for part in parts)

    def holding(self, *parts: str, among: list[int] | None = None) -> list[int]:
        """The numbers of the lines, perhaps only of some of them, that hold one of some words."""
        text, begins = self.whole, self._starts
        if among is not None:
            some = [self.all[number] for number in among]
            text, begins = "\n".join(some), starts(some)
        places = set[int]()
        for part in parts:
            at = text.find(part) if may_say(self._words, part) else -1
            while at >= 0:
                place = bisect.bisect_right(begins, at) - 1
                places.add(place)
                at = text.find(part, begins[place + 1])
        return sorted(places if among is None else (among[place] for place in places))

    def fails(self, number: int) -> bool:
        """Whether a line speaks of a failure."""
        return number in self._failing

    def is_event(self, number: int) -> bool:
        """Whether a line of a log begins with its time."""
        return self.is_dated and self.bare[number] != self.all[number][:READ].strip()

    def indent(self, number: int) -> int:
        """The blanks at the beginning of a line."""
        return len(self.all[number]) - len(self.all[number].lstrip())

    def below(self, number: int, most: int | None = None) -> range:
        """The numbers of at most `most` lines below a line."""
        end = len(self.all)
        return range(number + 1, end if most is None else min(end, number + 1 + most))

    def is_underlined(self, number: int) -> bool:
        """Whether a line is a heading, with a rule of its length below."""
        below = self.all[number + 1].strip() if number + 1 < len(self.all) else ""
        size = len(self.all[number].strip().rstrip(":"))
        return bool(_RULE.match(below)) and 3 < size <= len(below) <= size + 1

    def is_trace(self) -> bool:
        """Whether a quarter of the lines (of a long text, a sample) are frames of a stack trace."""
        some = self.all[:: len(self.all) // _SOME + 1]
        like = (line for line in some if line.lstrip()[:1] in _FRAME_BEGINS)
        frames = sum(bool(_FRAME.match(line[:READ])) for line in like)
        return frames * 4 > sum(map(bool, some))

    def statements(self, told: Collection[int] = (), inside: Collection[int] = ()) -> list[Unit]:
        """Units for the lines that are not `told`; lines `inside` of what is told weigh little."""
        told = self._told = set(told)
        self._led.clear()
        units: list[Unit] = []
        distinct, others = self._distinct(told, set(inside))
        last = max((line.number for line in distinct), default=0)
        below = range(0)  # the lines that are part of the one above them
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
            is_most = line.times * 2 > len(self.all)
            if unit.weight > _LEAST or unit.group or is_most:
                units.append(unit)
                led = self._leads_on(line.number)
                below = self.paragraph(led) if led else range(0)
        if others and not self.is_prose:
            times = sum(line.times for line in others)
            units.append(Unit(others[0].number + 1, "", "", 0, 0, reading.FAILING, times=times))
        return units

    def _lead(self, number: int) -> float:
        """The extra weight of a line at the top: a list of properties begins with what matters."""
        return 1 if self._is_log else 1 + math.exp((self.first - number) / _TOP)

    def _is_title(self, number: int) -> bool:
        """Whether a line only announces what follows, without being joined to it."""
        read = self.all[number][:READ]
        if self.is_underlined(number) and self.fails(number):
            return True
        if _OF_A_TRACE.match(read) or _PROGRESS.match(read):
            return True
        if read.endswith(":") and number + 1 in self._told:
            return True
        return bool(_TITLE.match(read)) and not self._leads_on(number)

    def _leads_on(self, number: int) -> int:
        """The number of the line that continues a line, below any hints on what to do; or 0.

        Of a stack, it is the first frame that is in no library.
        """
        if number not in self._led:
            self._led[number] = self._continued(number)
        return self._led[number]

    def _continued(self, number: int) -> int:
        read = self.all[number][: 4 * _LONGEST].rstrip()
        if not read.endswith(":") or _OF_A_TRACE.match(read):
            return 0
        near = self.below(number, 4)
        below = next((at for at in near if self.all[at].lstrip()[:1] != "("), 0)
        is_other = below in self._told or self.is_event(below)
        next_line = self.all[below].rstrip() if below and not is_other else ""
        if next_line and not next_line.endswith(":"):
            return self._own_frame(below) if _FRAME.match(next_line) else below
        return 0

    def _own_frame(self, first: int) -> int:
        near = self.below(first - 1, _STACK)
        stack = itertools.takewhile(lambda at: self.all[at].rstrip()[-1:] not in ("", ":"), near)
        own = (at for at in stack if _FRAME.match(self.all[at])
               and not any(map(self.all[at].__contains__, THEIRS)))  # fmt: skip
        return next(own, first)

    def paragraph(self, first: int) -> range:
        """The lines of the wrapped, indented paragraph that begins here; else the line alone."""
        depth, end = self.indent(first), first + 1
        for number in self.below(first, _WRAPPED) if depth else ():
            above = self.all[number - 1]
            goes_on = len(above) > _FULL or " " not in f"{above.strip()}{self.all[number].strip()}"
            if not goes_on or self.indent(number) != depth or not self.all[number].strip():
                break
            end = number + 1
        return range(first, end)

    def _distinct(self, told: set[int], inside: set[int]) -> tuple[list[Line], list[Line]]:
        """The lines to weigh, grouped by form, and the others that fail.

        Of very many, both ends, failures and the rarest are weighed, and none of those `inside`.
        """
        groups = self._groups(told | inside if self.is_long else told)
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
        """The lines that are not told, by what is left of them without digits and their neighbors.

        A group holds all lines of a form, and perhaps lines of other forms. Failing lines that
        differ only in names are one group.
        """
        keys = [*self._keys]
        failing = [at for at in self._failing
                   if not (at in told or self._is_title(at))]  # fmt: skip
        self.forms.make(failing)
        for number in failing:
            name = without_names(self.forms[number])
            keys[number] = _FAILED + name.encode("utf-8", "surrogatepass")
        groups: dict[bytes, list[int]] = {}
        for number, key in enumerate(keys):
            if self.all[number] and number not in told:
                groups.setdefault(key, []).append(number)
        return groups

    def _often(self, groups: dict[bytes, list[int]]) -> dict[bytes, int]:
        """For each group the number of lines like it, ignoring names if many groups are alike.

        Among very many, lines with the same beginning count as alike.
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
        """The lines of a group, one entry for each form; failing lines are one entry."""
        forms: dict[str, list[int]] = {}
        for number in numbers:
            form = "" if fails else self.forms[number]
            led = self._leads_on(number) if form.endswith(":") else 0
            form += self.forms[led] if led and _FRAME.match(self.all[led]) else ""
            forms.setdefault(form, []).append(number)
        for same in forms.values():
            times = often if often > len(numbers) else len(same)
            yield Line(same, self.all[same[0]], fails, times)

    def _weight(self, line: Line, last: int) -> float:
        """How decisive a line is by its words, its form, and its position."""
        if self._is_title(line.number):
            return 0.0
        by_words = weighing.of_sentence(line.said[:READ])
        fails = 3.0 if line.fails and not self.is_prose else 1.0
        return fails * self._by_form(line) * self._by_place(line, last) * by_words

    def _by_form(self, line: Line) -> float:
        """A factor: low for what passed, frames, and quoted source; high for a summary."""
        text, weight = line.said[:READ], 1.0
        leads_on = self._leads_on(line.number)
        if SUMS_UP.search(text) or leads_on:
            weight = 2.0
        elif FINE.search(text):
            weight = _LEAST
        elif _WARNS.search(text):
            weight = 1.8
        elif not line.fails and _LEGAL.search(text):
            weight = 0.03
        if _FRAME.match(text):
            weight *= 0.6 if any(map(text.__contains__, THEIRS)) else 1.2
        weight *= 0.05 if _BYTES.match(self.all[leads_on] if leads_on else text) else 1.0
        is_aside = _QUOTED.match(text) or text.strip()[:1] + text.rstrip()[-1:] == "()"
        return weight * 0.3 if is_aside else weight

    def _by_place(self, line: Line, last: int) -> float:
        """A factor: high for the first and last lines, below an announced failure, beside one."""
        at = line.number
        is_event = self.is_event(at)
        is_announced = self.fails(at - 1) and self.all[at - 1].rstrip()[-1:] == ":"
        is_beside = self.fails(at - 1) or self.fails(at + 1)
        is_near = is_announced or (is_event and is_beside)
        is_other = self.is_dated and not is_event and self.all[at][:1] > " "
        is_first = at == self.first and not is_event
        is_at_an_end = line.times == 1 and (is_first or at > last - 2)
        return (1.8 if is_near else 1.0) * (2.5 if is_at_an_end or is_other else 1.0)

    def _unit(self, line: Line, weight: float) -> Unit:
        group = reading.FAILING if line.fails and not self.is_prose else ""
        text = alike(self._texts(line), _LONGEST, line.fails)
        text = MARKS_IN_A_ROW.sub("", text).strip() or text
        times = f" (x{line.times})" if line.times > 1 else ""
        return Unit(line.number + 1, "", text + times, weight, 0, group, times=line.times)

    def _texts(self, line: Line) -> Counter[str]:
        """The texts of a form's lines with their counts; a line that leads on includes the next."""
        has_more = line.said[:2] == "==" or line.said.rstrip()[-1:] == ":"
        if not (has_more or self._leads_on(line.number)):
            return Counter(map(self.all.__getitem__, line.numbers))
        ends = [(*self.all[n : n + 2], self.all[self._leads_on(n)]) for n in line.numbers]
        pairs = Counter(ends)  # many are equal
        firsts = dict(zip(reversed(ends), reversed(line.numbers), strict=True))
        texts = Counter[str]()
        for pair, times in pairs.items():
            texts[self._text(firsts[pair])] += times
        return texts

    def _text(self, number: int) -> str:
        """A line as it is shown, with the next one if it leads on."""
        text = " ".join(self.all[number][: 4 * _LONGEST].split())
        text = bare(text) if text.startswith("==") else text
        if below := self._leads_on(number):
            in_list = itertools.takewhile(
                lambda at: self.forms[at] == self.forms[below], self.below(below - 1)
            )
            same = [self.all[at] for at in in_list]
            is_list = len(same) > _LIST and not self.fails(below)
            whole = " ".join(self.all[at][:_LONGEST] for at in self.paragraph(below))
            more = alike(same, _LONGEST) if is_list else " ".join(whole[:_LONGEST].split())
            text = f"{text} {more}{f' (x{len(same)})' * is_list}"
        return text


def _formed(lines: list[str]) -> list[str]:
    """Each line without its numbers."""
    text = "\n".join(lines)
    has_status = " HTTP/" in text or "status" in text or "code" in text
    if has_status:
        text = _STATUS.sub(lambda match: match[1] + match[2].translate(_KEPT), text)
    forms = str(_PADDED.sub(" 9", _NUMBERS.sub("9", _HEX.sub("9", text))))
    return (forms.translate(_DIGITS) if has_status else forms).split("\n") if lines else []


def without_names(form: str) -> str:
    """A form without paths, addresses, and quoted text."""
    if len(form) >= READ:
        return form
    if '"' in form or "'" in form:
        form = _IN_QUOTES.sub('"', form)
    if "/" in form:
        form = " ".join([_without_path(word) if "/" in word else word for word in form.split(" ")])
    if "_" in form:
        form = _IDENTIFIER.sub("_", form)
    return str(_LEADERS.sub("...", form)) if "...." in form else form


def _without_path(word: str) -> str:
    return str(_PATH.sub("/", word))


@of_piece
def _prose(piece: Piece) -> list[int]:
    """The lines of a piece that are paragraphs, by number."""
    return sorted(reading.prose(piece.all))
