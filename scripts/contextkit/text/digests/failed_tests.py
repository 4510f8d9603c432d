"""What failed in the output of a tool: each test and each other error once, with its message.

    failed_tests.find(text, told)       list[Failure], in the order of the lines

A test runner names a failed test up to three times: in its progress, in a block with the message,
and in a summary. Those are one failure: the longest name, the message, and the place. A message or
a place belongs to a test only if it is inside the block that the runner prints for it; otherwise
both are shown separately. What is not a test is an error of its own (`failures`).
"""

from __future__ import annotations

import itertools
import operator
import re

from contextkit.base.expressions import Pattern
from contextkit.base.type_names import Iterable, Iterator
from contextkit.text.digests import failure_words, failures, folding, pieces, reading, runners
from contextkit.text.digests.failures import Failure
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.pieces import Piece

_TRIED = (  # behind its mark: a test, its number of tries, and its duration
    r" +(?:\d+ (?=\[))?(?!\d+ problems?\b|.*m?s\) # )(\S.*?[^:])(?: \(retry #\d+\))?"
    r"(?: \(?[\d.]+ ?m?s\)?)?$"
)
_TEST = Pattern(  # a line that names a failed test, by pytest, jest, go, gtest, and others
    r"^(?:FAILED|ERROR) (\S+(?:::(?:[^\s\[]+\[.*?\](?= - |$)|\S.*?)|\.py))(?: - .*)?$"
    r"|^(?=\S*::)([^\s\[]+(?:\[.*?\])?) (?:FAILED|ERROR)\b"
    r"|^_{3,} (?!coverage: )(?:ERROR (?:at \w+ of|collecting) )?(\S.*?) _{3,}$"
    r"|^● (?!Console)(\S.*)$"
    rf"|^[✕✗✘×✖]{_TRIED}"
    r"|^FAIL +(\S+ > \S.*)$"
    r"|^(?:--- FAIL:|\[  FAILED  \](?! \d+ tests?,)) (\w[\w.]*(?:/(?:[^\s,]|,(?=\S))+)*)"
    r"|^---- (\S+)(?: - should panic)? stdout ----$"
    r"|^test (\S+)(?: - should panic)? \.\.\. FAILED$"
    r"|^(?:FAIL|ERROR): (\w+ \(\S+\)(?: [\[(].+)?)$"
    r"|^(\w+ \(\S+\)(?: [\[(].+)?) \.\.\. (?:FAIL|ERROR)$"
    r"|^not ok \d+ -? ?(?!.*# (?:TODO|SKIP))(\S.*)$"
    r"|^(?=.* > \S)(\S.*) FAILED$"
    r"|^(\w[\w (),/-]*?)\.{3,}Failed$"  # a check
    r"|^(?:.*\s)?(\S+) \[FAIL\]$|^Failed (\S.*) \[[^\]]*\]$"  # dotnet
    r"|^\d+ - (\S+) \([\w ]+\)$|^\d+/\d+ Test +#\d+: (\S+) \.+\*\*\*\w+"  # ctest
    r"|^\[ERROR\] (\S+) -- Time elapsed: .* <<< \w+!$|^\[ERROR\] +(\w+\.\w+):\d+ .+$"  # Maven
)
_BEGIN_TESTS = frozenset("_●✕✗✘×✖-nF0123456789")
_RULES = "─—-= "
_PASSED = Pattern(rf"^[✓✔√]{_TRIED}")
_SUBTEST = Pattern(r"^SUBFAILED(\(.*?\)|\[.*?\]) (\S+::\S.*?)(?: - .*)?$")
_GROUP = Pattern(  # a file, package or environment with failed tests
    r"^FAIL\s+\S+(?:\s+\(?[\d.]+ ?m?s\)?)?$|^\S.* \(FAILED - \d+\)$"
    r"|^[\w.-]+: FAIL ✖ in [\d.]+ seconds$"
)
_NUMBERED = Pattern(r"^(\d+)\) (\S.*)$")
_MINITEST = Pattern(r"^\d+\) (?:Error|Failure):$")  # above the name of the test
_OF_MINITEST = Pattern(r"^(\S+#\S+?)(?: \[\S+\])?:$")
_NUMBERS = Pattern(r"^(?:\d+ failing|Failures:|There (?:was|were) \d+ (?:failures?|errors?):)$")
_BEFORE_NUMBERS = (" failing", "Failures:", "There w")
_MESSAGE = Pattern(
    r"^(?:E +|→ )(\S.*)$"
    r"|^((?:Failed asserting|assert\w* |Assert\.|panic: |Error: |fatal: )\S.*)$"
    r"|^(?:\| )?([\w.]*(?:Error|Exception|ExceptionGroup|Failure)\b(?::| \[| at ).*)$"
    r"|^\S+\.go:\d+: (.+)$"
    r"|^# +(?:Failure|message): (.+)$|^error: '(.+)'$|^'(test timed out .+)'$"
    r"|^note: (test did not panic .+?)(?: at \S+)?$"
)
_OF_GO = Pattern(r"\S+\.go:\d+: |panic: ")
_SAYS_BELOW = Pattern(r"\bpanicked at\b.*:$|: Failure$|^error: [|>]-?$")  # what, in the next line
_SECTION = Pattern(r"^={3,} (.*?) ={3,}$")  # of pytest's report
_SUMMARY = ("FAILED ", "ERROR ", "SUBFAILED")  # begin a line of pytest's short summary
_ABOVE = "test at "  # node's place of a test, above its name
_ASIDE = ("PASSES", "XFAILURES", "XPASSES")
_PRINTED = Pattern(  # jest; vitest, which ends it with an empty line
    r"^console\.(?:log|info|warn|error|debug)(?: \S+:\d+)?$|^● Console$"
    r"|^(std(?:out|err)) \| \S+(?: > \S.*)?$"
)
_PENDING, _FAILURES = "Pending:", "Failures:"  # rspec
_VALUE = Pattern(
    r"^(?!\w+: undefined\b)(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|left"
    r"|right|want|have)(?: [a-z]+)?: +\S.*$"
)
_BEGUN = (  # lines above the cause of a failure: another exception; rspec's source
    "The above exception was", "During handling of the above", "Failure/Error: ",
)  # fmt: skip
_LEGEND = Pattern(r"([-+])\1{0,2} ?(expected|received|actual|got|wanted)\b", re.I)
_HEADING = Pattern(
    r"^(?:___|● |---- |FAIL: |ERROR: |FAIL {2,}|\d+\) |\[ERROR\] |\d+/\d+ Test |Failed \S.* \[)"
)
_STOPS = Pattern(  # a line that a runner prints between the blocks of its tests
    r"^(?:={5,}|⎯{5,}|─{5,}|PASS(?:ED)?\b|ok\s|--- (?!expected\b|actual\b)|=== |[✓✔√ℹ] ?"
    r"|Tests?(?: Suites?| Files)?:?\s+\d"
    r"|Tests: |Ran \d+ |failures:$|\d+ (?:passing|failing|pending|examples)|Failed examples"
    r"|Pending:|FAIL\s|Start\s+\d+:|\d+/\d+ Test |Snapshots?:|test at |test result: )"
)
_RUNS = Pattern(r"^(?:=== (?:RUN|NAME|CONT) +|\[ RUN      \] )(\S+)$")  # go test -v, gtest
_RESULTS = ("--- ", "[  FAILED  ] ")  # below what the test printed
_MARKED = Pattern(r"\n(?:_{3,} |---- |[ \t]*+(?:● |\d+\) ))\S")
_SOURCE = Pattern(r"    |>   |\S.*:\d+: in \S+$")
_FRAME = "│┐├┊┴"
_BELOW = 5  # lines that may continue a message
_BLOCK, _LONG_BLOCK = 60, 2000  # lines read of a test's block, and of one with a heading
_STARTS = Pattern(r"(?<!\w)\w")  # of words
_DIGITS = Pattern(r"\d+")
_SAME, _FOLDED = 4, 520  # values of a test that are shown as one; characters
_SUITE = "Test suite failed to run"  # jest's, for a whole file
_READ_WHOLE = 40  # failed tests of a long text, and lines that name one, whose blocks are read


class _Block:
    """What the lines of a test's block say: its message, its place, the values it compares."""

    def __init__(self, text: Lines, at: int, block: list[int]) -> None:
        self.message, self.place, self.values = "", "", list[str]()
        self._goes_on, self._above = 0, -1  # how many lines, and below which line
        self._printed = list[tuple[str, str]]()  # by go: each message below its place
        self._signs, self._signed = dict[str, str](), dict[str, str]()  # of lines that differ
        begun = [n for n, number in enumerate(block) if text.bare[number].startswith(_BEGUN)][-1:]
        self.used = {block[n] for n in begun}
        block = [number for number in block[(begun or [-1])[0] + 1 :] if _line(text, number)]
        is_framed = any(text.bare[number][0] in _FRAME for number in block)
        is_block = text.bare[at][:2] == "● " or _NUMBERED.match(text.bare[at])
        for number in block:
            self._take(text, number)
        if not self.place and at and text.bare[at - 1].startswith(_ABOVE):
            self.place = failures.place_in(text.bare[at - 1])
        if self.message.startswith("expect("):
            self.message = ""
        if not self.values and len(self._signed) > 1:
            self.values = [f"{self._signs[sign]} {text}" for sign, text in self._signed.items()]
        if self.values:
            message = self.message
            parts = (part.strip(" ,:") for part in (message, *self.values[:2]))
            self.message = ", ".join(filter(None, parts))
        elif not self.message and (is_framed or is_block):
            first = [n for n in block if not _points_or_asks(_line(text, n))][:2]
            texts = [_line(text, number) for number in first]
            leads_on = texts and (texts[0].endswith(":") or failure_words.says_failed(texts[-1]))
            first = first if leads_on else first[:1]
            self.message = reading.joined(*texts[: len(first)]) if texts else ""
            self.used.update(first)
        self.used = self.used if self.message else set()

    def _take(self, text: Lines, number: int) -> None:
        line = _line(text, number)
        message, points = _message(line), failures.POINTS.search(line)
        if line == "stack backtrace:":
            self._goes_on = 0
            return
        if self._compares(line):
            self._goes_on = 0
        elif _VALUE.match(line):
            self.values.append(" ".join(line.split()))
            self._goes_on = 0
        elif self._goes_on and not points and self._above in (-1, number - 1):
            self.message = f"{self.message} {message or line}".strip()
            self._goes_on, self._above = self._goes_on - 1, number
        elif _SAYS_BELOW.search(line):
            self._goes_on, self._above = _BELOW * (not self.message), -1
        elif message:
            self._say(message, line)
        elif not (points or text.fails(number)):
            return
        self.used.add(number)
        self.place = self.place or failures.place_in(line)

    def _compares(self, line: str) -> bool:
        """Whether a line is one of two that differ, behind a sign, or explains the signs."""
        if _LEGEND.match(line):
            if len(self._signed) < len(self._signs) or not self._signs:
                self._signs |= {sign: word.lower() for sign, word in _LEGEND.findall(line)}
        elif line[:1] in self._signs and len(self._signs) > 1:
            self._signed.setdefault(line[0], line[1:].strip(" ,"))
        else:
            return False
        return True

    def _say(self, message: str, line: str) -> None:
        """Keep the first message, or all of go; an exception replaces the source that raised it."""
        is_source = self.message.startswith('File "') and failures.EXCEPTION.match(message)
        if _OF_GO.match(line) and message not in self.message:
            self._printed = self._printed or [(self.place, self.message)] * bool(self.message)
            self._printed.append((failures.place_in(line), message))
            self.message = _placed(self._printed)
        elif is_source or not self.message:
            self.message = message
            self._goes_on, self._above = _BELOW * message.endswith(":"), -1


def _placed(messages: list[tuple[str, str]]) -> str:
    """Messages with their places in front, as a text; without the place if all have the same."""
    by_place = [(place, "; ".join(message for _, message in same))
                for place, same in itertools.groupby(messages, operator.itemgetter(0))]  # fmt: skip
    if len(by_place) == 1:
        return by_place[0][1]
    return "; ".join(failures.with_place(text, place) for place, text in by_place)


def find(text: Lines, told: set[int]) -> tuple[list[Failure], set[int], set[int]]:
    """Every failed test and error once, with the lines that name them and those of tests' blocks.

    Lines that are `told` already are left out.
    """
    aside = _aside(text)
    heads = _heads(text, told | aside)
    tests = [*_by_test(heads).items()]
    most = _READ_WHOLE if text.is_long else len(tests)
    read = {at for _, same in tests[:most] for at in same[:_READ_WHOLE]}
    blocks = _blocks(text, heads, told | aside, read)
    mentions = {at: _Block(text, at, blocks[at]) for at in heads if at in read}
    used = {*heads, *aside}.union(*(mention.used for mention in mentions.values()))
    used.update(*(block for at, block in blocks.items() if at not in mentions))
    used.update(*(_source(text, at, blocks[at]) for at in mentions))
    if heads:
        groups = (at for at in text.failing if "FAIL" in text.bare[at])
        used |= {at for at in groups if text.bare[at] == "FAIL" or _GROUP.match(text.bare[at])}
        unused = [at for at in range(len(text.all)) if at not in used]
        used |= _named_again(text, unused, [name for name, _ in tests[:most]])
    errors, of_errors = failures.errors(text, told | used)
    inside = set().union(*blocks.values())
    failed = _tests(text, heads, tests, most, mentions)
    return sorted(_folded(_once(failed, errors))), used | of_errors, inside


def _source(text: Lines, at: int, block: list[int]) -> Iterator[int]:
    """The lines of source that pytest quotes in the block of a test, and the frames above them."""
    messages = [n for n in block if text.all[n].startswith(failure_words.OF_PYTEST)]
    if messages and text.bare[at].startswith("___"):
        yield from (n for n in block if n < messages[-1] and _SOURCE.match(text.all[n]))


def _named_again(text: Lines, unused: list[int], names: list[str]) -> set[int]:
    """The unused lines that end with the name of a failed test and add nothing."""
    ends = tuple(f" {name}" for name in names)
    return {at for at in text.holding(*names, among=unused)
            if f" {text.bare[at].rstrip(_RULES)}".endswith(ends)}  # fmt: skip


def _aside(text: Lines) -> set[int]:
    """The lines of sections about tests that did not fail, and the output of passing tests.

    Also those of tests that passed on another try, and of suites, which are no tests.
    """
    numbers: set[int] = set()
    starts: list[tuple[int, bool]] = []  # of sections, and whether each is to be set aside
    for at in text.holding("===", _PENDING, _FAILURES):
        line = text.bare[at]
        if line.startswith("===") and (section := _SECTION.match(line)):
            is_aside = section[1] in _ASIDE or section[1].startswith("warnings summary")
            starts.append((at, is_aside))
        elif line.startswith((_PENDING, _FAILURES)):
            starts.append((at, line.startswith(_PENDING)))
    for (at, is_aside), (end, _) in itertools.pairwise([*starts, (len(text.all), False)]):
        numbers.update(range(at, end) if is_aside else ())
    for at in text.holding("console.", "● Console", "stdout | ", "stderr | "):
        if printed := _PRINTED.match(text.bare[at]):
            all_below = itertools.takewhile(text.bare.__getitem__, text.below(at))
            numbers |= {at, *(all_below if printed[1] else _deeper(text, at))}
    others = {text.bare[at][2:].partition(" (")[0] for at in text.holding("▶ ")
              if text.bare[at][:2] == "▶ "}  # fmt: skip
    if text.holds("(retry #"):
        others.update(m[1] for _, line in text.bare.all() if (m := _PASSED.match(line)))
    for at in text.holding(*"✕✗✘×✖") if others else ():
        test = _TEST.match(text.bare[at]) if text.bare[at][:1] in "✕✗✘×✖" else None
        if test and test[test.lastindex or 0] in others:
            numbers.add(at)
    return numbers


def _deeper(text: Lines, at: int) -> Iterator[int]:
    """The lines below a line that are empty, or indented more than it is."""
    depth = text.indent(at)
    return itertools.takewhile(lambda n: not text.bare[n] or text.indent(n) > depth, text.below(at))


def _heads(text: Lines, told: set[int]) -> dict[int, str]:
    """The names of failed tests by line."""
    # a line that looks like the heading of a test's block needs no failure word
    headings = pieces.numbers_in(text.whole, _marked)
    may = {*text.failing, *headings} - told
    named = pieces.in_pieces(text.whole, _named)
    names = {number: name for number, name in named if number in may}
    # above its block, a test may have a number in place of a mark
    again = {*filter(None, names.values())}
    in_order = _in_order(text, names)
    heads: dict[int, str] = {}
    for at in sorted(names):
        line = text.bare[at]
        if name := names[at]:
            heads[at] = f"{_file_above(text, at)}{name}" if name == _SUITE else name
        elif _MINITEST.match(line) and (below := text.below(at, 1)):
            if named := _OF_MINITEST.match(text.bare[below[0]]):
                heads[at] = named[1]
        elif test := _NUMBERED.match(line):
            name = test[2].rstrip(_RULES)
            if at in in_order or name in again:
                heads[at] = name if name in again else _continued(text, at, test[2])
            elif _is_said_below(text, at) and runners.wrote(text.whole):
                heads[at] = name
    return heads


def _in_order(text: Lines, named: Iterable[int]) -> set[int]:
    """The numbered lines below a count of failures; mocha numbers failed tests above it, too."""
    begins = text.failing if text.holds(*_BEFORE_NUMBERS) else ()
    counts = {at: int("".join(filter(str.isdigit, text.bare[at])) or len(text.all))
              for at in begins if _NUMBERS.match(text.bare[at])}  # fmt: skip
    in_order, last, most = set[int](), 0, 0
    for at in sorted({*counts, *named} if counts else ()):
        if at in counts:
            last, most = 0, counts[at]
        elif (test := _NUMBERED.match(text.bare[at])) and last < int(test[1]) <= most:
            in_order.add(at)
            last = int(test[1])
    return in_order


def _is_said_below(text: Lines, at: int) -> bool:
    """Whether the first deeper lines below a line speak of a failure, or point at one."""
    below = [n for n in itertools.islice(_deeper(text, at), _BELOW) if text.bare[n]]
    return any(text.fails(n) for n in below)


@pieces.of_piece
def _marked(piece: Piece) -> list[int]:
    """The numbers of a piece's lines that look like the heading of a test's block."""
    return [number - 1 for number, _ in reading.places(_MARKED, f"\n{piece.text}")]


@pieces.of_piece
def _named(piece: Piece) -> list[tuple[int, str]]:
    """The names of failed tests in a piece by line; '' where the line begins with a number."""
    names: dict[int, str] = {}
    for number in {*piece.failing, *_marked(piece)}:
        line = piece.bare.get(number) or pieces.bare(piece.all[number])
        if line.startswith(failure_words.OF_PYTEST):
            continue
        if line.startswith("SUB") and (subtest := _SUBTEST.match(line)):
            names[number] = f"{subtest[2]} {subtest[1]}"
        elif _may_name(line) and (test := _TEST.match(line)) and test.lastindex:
            names[number] = test[test.lastindex]
        elif line[:1].isdigit():
            names[number] = ""
    return [*names.items()]


def _may_name(line: str) -> bool:
    """Whether a line may name a failed test: all such lines have a mark or one of some words."""
    is_marked = line[:1] in _BEGIN_TESTS or line.endswith("..Failed")
    return is_marked or "FAIL" in line or "ERROR" in line


def _file_above(text: Lines, at: int) -> str:
    """The file that failed as a whole, named above."""
    above = (line for n in range(at, -1, -1) if _GROUP.match(line := text.bare[n]))
    return next((f"{line.split()[1]}: " for line in above), "")


def _continued(text: Lines, at: int, name: str) -> str:
    """A numbered name with the deeper lines below it, up to one that ends with a colon."""
    more: list[str] = []
    for line in text.all[at + 1 : at + 4]:
        if not line[: text.indent(at) + 1].isspace():
            break
        more.append(line.strip())
        if line.rstrip().endswith(":"):
            return " ".join([name, *more])[:-1]
    return name


def _blocks(
    text: Lines, heads: dict[int, str], told: set[int], read: set[int]
) -> dict[int, list[int]]:
    """The lines that a runner prints for each test, by the line that names it.

    Those of go and gtest are between the line that a test runs and its result.
    read: the lines that name a test whose block is read
    """
    printed: dict[str, list[int]] = {}
    owner = ""
    for at, line in text.bare.all() if text.holds("=== RUN", "[ RUN   ") else ():
        if line.startswith(("=== ", "--- ", "[ ")):
            run = _RUNS.match(line)
            owner = run[1] if run else ""
        elif owner:
            printed.setdefault(owner, []).append(at)
    blocks: dict[int, list[int]] = {}
    for (at, name), following in zip(heads.items(), [*heads, 0][1:], strict=True):
        line = text.bare[at]
        above = printed.get(name, []) if line.startswith(_RESULTS) else []
        is_read = at in read or not (following and line.startswith("___"))
        below = _below_head(text, heads, at, told) if is_read else range(at + 1, following)
        blocks[at] = [*above, *below]
    return blocks


def _below_head(text: Lines, heads: dict[int, str], at: int, told: set[int]) -> list[int]:
    """The lines of the test named at a line: below its heading, or deeper than its name.

    A line of pytest's short summary has none.
    """
    line = text.bare[at]
    if line.startswith(_SUMMARY):
        return []
    panics = any(text.all[n].startswith("panic: ") for n in text.below(at, 1))  # of go
    heading, depth = panics or bool(_HEADING.match(line)), text.indent(at)
    block: list[int] = []
    for number in text.below(at, _LONG_BLOCK if line.startswith("___") else _BLOCK):
        other = text.bare[number]
        if number in heads or _STOPS.match(other):
            break
        if not heading and other and text.indent(number) <= depth:
            break
        if number not in told:
            block.append(number)
    return block


def _line(text: Lines, number: int) -> str:
    """A line of a test's block without the frame that phpunit draws beside it."""
    return text.bare[number].lstrip(_FRAME).strip()


def _points_or_asks(line: str) -> bool:
    """Whether a line of a test's block gives a place or what was expected, not what came."""
    return bool(failures.POINTS.search(line)) or line.startswith("expect(")


def _message(line: str) -> str:
    """The message of a line that reports a test's failure, without the mark in front; or ''."""
    match = _MESSAGE.match(line)
    return match[match.lastindex] if match and match.lastindex else ""


def _tests(
    text: Lines,
    heads: dict[int, str],
    tests: list[tuple[str, list[int]]],
    most: int,
    mentions: dict[int, _Block],
) -> list[Failure]:
    """One failure for each test, from all lines that name it; one for those beyond `most`."""
    failed: list[Failure] = []
    parents = {name.rpartition("/")[0] for name in heads.values()}
    named = [(name, same) for name, same in tests if name not in parents]
    for name, same in named[:most]:
        read = {at: mentions[at] for at in same if at in mentions}
        line, message = _cited(text, heads, name, same, read)
        place = next((mention.place for mention in read.values() if mention.place), "")
        failed.append(Failure(line, failures.with_place(failures.shown(message), place), name))
    for _, same in named[most : most + 1]:
        failed.append(Failure(same[0], "", "", len(named) - most))
    return failed


def _cited(
    text: Lines, heads: dict[int, str], name: str, same: list[int], read: dict[int, _Block]
) -> tuple[int, str]:
    """The line to cite for a test, and the text: pytest's summary of it, else its message."""
    told = ((at, mention.message) for at, mention in read.items() if mention.message)
    line, message = next(told, (same[0], ""))
    for at in same:
        bare = text.bare[at]
        test, mark, _ = bare.partition(f"{heads[at].partition(' (')[0]} - ")
        if bare.startswith(_SUMMARY) and mark:
            is_cut = bare.endswith("...") and message  # pytest cuts a long message
            return at, f"{test}{mark}{message}" if is_cut else bare
    if message and message not in text.bare[line]:
        return line, f"{name}: {message}"
    bare = text.bare[next((at for at in same if heads[at] == name), line)]
    is_told = name in bare and not bare.startswith("___")
    return line, bare if is_told else name


def _by_test(heads: dict[int, str]) -> dict[str, list[int]]:
    """The lines that name each test, by its longest name; a shorter name is the end of it."""
    plains = {name: name.replace("::", ".") for name in heads.values()}
    longest: dict[str, list[str]] = {plain: [] for plain in plains.values()}
    for name in sorted(plains, key=lambda name: (-len(name), name)):
        plain = plains[name]
        if longest[plain]:
            continue  # the end of a longer name
        for start in () if plain.isidentifier() else _STARTS.finditer(plain):
            if (end := plain[start.start() :]) in longest:
                longest[end].append(name)
        if name not in longest[plain]:
            longest[plain].append(name)
    by_name: dict[str, list[int]] = {}
    times: dict[str, int] = {}
    for at, name in heads.items():
        names = longest[plains[name]]
        number = times.get(name, 0)  # of tests of one name in several files
        times[name] = number + 1
        by_name.setdefault(names[min(number, len(names) - 1)], []).append(at)
    return by_name


def _once(tests: list[Failure], errors: list[Failure]) -> list[Failure]:
    """Tests and errors; an error that repeats a test's message only gives the test its place."""
    failed = list(tests)
    messages = {at: test.said.partition(" - ")[2].rstrip(".…") for at, test in enumerate(tests)}
    for error in errors:
        of = [at for at, message in messages.items() if message and message in error.said]
        if len(of) == 1:
            text = failures.with_place(failed[of[0]].said, failures.place_in(error.said))
            failed[of[0]] = failed[of[0]]._replace(said=text)
        else:
            failed.append(error)
    return failed


def _folded(failed: list[Failure]) -> Iterator[Failure]:
    """The failures, with those of a parametrized test joined if they differ only in numbers."""
    same: dict[tuple[str, str], list[Failure]] = {}
    for at, failure in enumerate(failed):
        test, bracket, _ = failure.name.partition("[")
        form = _DIGITS.sub("0", failure.said) if test and bracket else str(at)
        same.setdefault((test, form), []).append(failure)
    for first, *others in same.values():
        if len(others) < _SAME - 1:
            yield from (first, *others)
            continue
        values = folding.alike((failure.said for failure in (first, *others)), _FOLDED)
        count = len(others) + 1
        yield first._replace(said=f"{values} (x{count})", times=count)
