"""What went wrong in the output of a tool: each failure once, with its message and its place.

    failures.find(text, summary)        list[Failure], in the order of the lines

A test runner names a failed test up to three times: in its progress, in a block with the message,
and in a summary. Those are one failure: the longest name, the message, and the place. A message or
a place belongs to a test only if it is inside the block that the runner prints for it; else both
are told apart. What is not a test is an error of its own; errors that differ only in numbers are
one, with its count.
"""

from __future__ import annotations

import itertools
import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import failure_words, folding, lines, pieces, reading, runners
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.pieces import Piece
from contextkit.text.patterns import Pattern

_SUMS_UP = Pattern(  # a line about several failures, or about none in particular
    r"^(?:=== [A-Z]+ |make(?:\[\d+\])?: \*\*\* Waiting"
    r"|(?:[|+] )*(?:Exception Group )?Traceback \(most"
    r"|.*\(FAILED - \d+\)$|\[\w+\]$|The following tests FAILED)"
    r"|^FAILED \(|^(?:\[\w+\] )?(?:FAIL(?:ED|URE|URES)?|Failures?|Errors?)\W*$"
    r"|^✖ (?:\d+ problems?\b|.*:$)|(?<![.:\w])\d+ (?:fail|error)\w*\b"
    r"|^(\W)\1\1\W*(?:[^\W_]+\W+){0,3}\1\1$"
    r"|^(?:[A-Z]\w+ {2,})+[A-Z]\w+$"  # the header of a table
    r"|^\W?(?:INFO|DEBUG|NOTICE|TRACE)\b|^(?:at |\d+ - )|^\W*\w+(?: \w+)?:$"
)
_TITLE = r"\W{3,}(?:fatal )?(?:error|failure|exception|panic)\W{3,}$"  # of what is below it
_TITLED = Pattern(_TITLE, re.I)
_LOUD = Pattern(r"\b[A-Z]{4,}\b|^\W*\[[a-z]+(?: [a-z]+)?\]")  # or a mark in brackets
_TRIED = (  # behind its mark: a test, how often it was tried, and how long it took
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
    r"|^(?:--- FAIL:|\[  FAILED  \](?! \d+ tests?,)) ([\w/]+[\w./]*)"
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
_DOTS = Pattern(r"\.{6,}")  # between a check and its result
_BEGIN_TESTS = frozenset("_●✕✗✘×✖-nF0123456789")
_RULES = "─—-= "
_PASSED = Pattern(rf"^[✓✔√]{_TRIED}")
_OF_PYTEST = "E   "  # begins a line that names no test
_SUBTEST = Pattern(r"^SUBFAILED(\(.*?\)|\[.*?\]) (\S+::\S.*?)(?: - .*)?$")
_GROUP = Pattern(  # a file, package or environment with failed tests
    r"^FAIL\s+\S+(?:\s+\(?[\d.]+ ?m?s\)?)?$|^\S.* \(FAILED - \d+\)$"
    r"|^[\w.-]+: FAIL ✖ in [\d.]+ seconds$"
)
_NUMBERED = Pattern(r"^\d+\) (\S.*)$")
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
_DIGITS = Pattern(r"\d+")
_OF_GO = Pattern(r"\S+\.go:\d+: |panic: ")
_SAYS_BELOW = Pattern(r"\bpanicked at\b.*:$|: Failure$|^error: [|>]-?$")  # what, in the next line
_SECTION = Pattern(r"^={3,} (.*?) ={3,}$")  # of pytest's report
_SUMMARY = ("FAILED ", "ERROR ", "SUBFAILED")  # begin a line of pytest's short summary
_ABOVE = "test at "  # node's place of a test, above its name
_ASIDE = ("PASSES", "XFAILURES", "XPASSES")
_PRINTED = Pattern(  # jest
    r"^console\.(?:log|info|warn|error|debug)(?: \S+:\d+)?$|^● Console$"
)
_PENDING, _FAILURES = "Pending:", "Failures:"  # rspec
_VALUE = Pattern(
    r"^(?!\w+: undefined\b)(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|left"
    r"|right|want|have)(?: [a-z]+)?: +\S.*$"
)
_LEGEND = Pattern(r"([-+])\1{0,2} ?(expected|received|actual|got|wanted)\b", re.I)
_ENDING = (  # of a file that has lines to point at
    r"(?:pyi?|[cm]?[jt]sx?|vue|svelte|go|rs|rb|java|kts?|scala|groovy|[ch](?:c|h|pp|xx|s)?|fs|vb"
    r"|php|p[lm]|t|sh|bash|lua|swift|mm?|exs?|erl|hs|ml|clj|dart|jl|zig|nim|sql|s?css|html|xml"
    r"|json|ya?ml|toml|md|txt|tf|f(?:90|95|or)?)"
)
_PLACE = Pattern(
    r'File "(?P<file>[^"]+)", line (?P<at>\d+)'
    rf"|(?<![\w@./\\-])(?P<colons>[\w@./\\-]+\.{_ENDING}:\d+(?::\d+)?)\b(?!\()"
    rf"|(?<![\w./\\-])(?P<spelled>[\w./\\-]+\.{_ENDING})[:,]? ?line (?P<number>\d+)"
    r"|(?<![\w./\\-])(?P<brackets>[\w./\\-]+\.(?:tsx?|cs|vb|fs|cpp|c|h)\(\d+(?:,\d+)?\))"
)
_POINTS = Pattern(  # a line that is there to tell a place, or the first of a trace
    r"^(?:-->|❯|(?:test )?at |in |└|╭─\[|# \.?/|#\d+ |Location:|Origin:|on |\(|(?:E +)?File \""
    r"|thread '|note: )"
    rf"|^[\w@./\\-]+\.{_ENDING}(?::\d+|\(\d+)|\bpanicked at |[(\[][^()\[\]\s]+:\d+[)\]]:?$"
)
_BEGUN = (  # what stands above the cause of a failure: another exception; rspec's source
    "The above exception was", "During handling of the above", "Failure/Error: ",
)  # fmt: skip
_SAID_BY = Pattern(r"^(?:[\w.-]+ )?[\w./-]+(?:\[\d+\]|(?<=kernel)): +")  # in a system's log
_WARNING = Pattern(r"\w+Warning: ")
_EMPTY = Pattern(r", \"\w+\": (?:\"\"|\[\]|\{\}|null)(?=[,}])")  # a field that says nothing
_EXCEPTION = Pattern(r"^[\w.$]*(?:Error|Exception|Warning)\b(?::|$)")
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
_NUMBERED_NAME = Pattern(r"^[a-z]+\d[\w.-]*: ")
_UNSAID = Pattern(  # a failure of which the next line says what it is
    rf"(?i:{_TITLE})|.*(?::|\| FAIL \|)$|(?:(?:\[\w+\] )?(?:ERROR|FAIL(?:ED)?) in )?\S+\.\w+"
    r"(?: \(\S+\))?(?: \d+:[\d-]+|\(\d+,\d+\))?$|(?:=+ )?\S+ FAIL(?:ED)?$"
)
_SOURCE = Pattern(r"^\d+ +\|(?: .*[^|])?$")  # quoted by a compiler
_FRAME = Pattern(r"(?:at|by|#\d+) +0x[\da-fA-F]+")
_NPM = Pattern(r"^npm (?:ERR!|error)(?: |$)")
_MARKED = Pattern(r"\n(?:_{3,} |---- |[ \t]*+(?:● |\d+\) ))\S")
_SUITE = "Test suite failed to run"  # jest's, for a whole file
_LONGEST = 260  # characters shown of a failure
_READ = 500  # characters read of a line
_FIRST, _BRIEF = 5, 60  # words of a line that says what failed; characters of its last part
_BELOW = 5  # lines that go on saying what failed
_BLOCK, _LONG_BLOCK = 60, 2000  # lines of a test's block that are read; of one with a heading
_READ_WHOLE = 40  # failed tests whose blocks are read: far more than can be told
_NEAR = 4  # lines below an error that say where and what it is
_PLACES, _FEW = 20, 3  # errors of one form of which places are looked for; those that are told
_SAME = 4  # values of a test that are told as one
_FRAMES = 200  # lines of a trace above its exception


class Failure(NamedTuple):
    """What failed: its line, from 0, the text to show, the name to list it by, and how often.

    Without a text, it stands for so many failures that are only counted.
    """

    line: int
    said: str
    name: str
    times: int = 1


class _Block:
    """What the lines that belong to a test say of it: its message, its place, compared values."""

    def __init__(self, text: Lines, at: int, block: list[int]) -> None:
        self.message, self.place, self.values = "", "", list[str]()
        self._goes_on, self._above = 0, -1  # how many lines, below which one
        self._signs, self._signed = dict[str, str](), dict[str, str]()  # of lines that differ
        begun = [n for n, number in enumerate(block) if text.bare[number].startswith(_BEGUN)][-1:]
        self.used = {block[n] for n in begun}
        block = [number for number in block[(begun or [-1])[0] + 1 :] if text.bare[number]]
        for number in block:
            self._take(text, number)
        if not self.place and at and text.bare[at - 1].startswith(_ABOVE):
            self.place = _place(text.bare[at - 1])
        if self.message.startswith("expect("):
            self.message = ""
        if not self.values and len(self._signed) > 1:
            self.values = [f"{self._signs[sign]} {said}" for sign, said in self._signed.items()]
        if self.values:
            message = self.message
            parts = (part.strip(" ,:") for part in (message, *self.values[:2]))
            self.message = ", ".join(filter(None, parts))
        elif not self.message and (text.bare[at][:2] == "● " or _NUMBERED.match(text.bare[at])):
            first = [number for number in block if not _points_or_asks(text.bare[number])][:2]
            said = [text.bare[number] for number in first]
            leads_on = said and (said[0].endswith(":") or failure_words.says_failed(said[-1]))
            first = first if leads_on else first[:1]
            self.message = reading.joined(*said[: len(first)]) if said else ""
            self.used.update(first)
        self.used = self.used if self.message else set()

    def _take(self, text: Lines, number: int) -> None:
        line = text.bare[number]
        said, points = _message(line), _POINTS.search(line)
        if line == "stack backtrace:":
            self._goes_on = 0
            return
        if self._compares(line):
            self._goes_on = 0
            self.used.add(number)
            return
        if _VALUE.match(line):
            self.values.append(" ".join(line.split()))
            self._goes_on = 0
        elif self._goes_on and not points and self._above in (-1, number - 1):
            self.message = f"{self.message} {said or line}".strip()
            self._goes_on, self._above = self._goes_on - 1, number
        elif _SAYS_BELOW.search(line):
            self._goes_on, self._above = _BELOW * (not self.message), -1
        elif said:
            self._say(said, bool(_OF_GO.match(line)))
        elif not (points or text.fails(number)):
            return
        self.used.add(number)
        self.place = self.place or _place(line)

    def _compares(self, line: str) -> bool:
        """Whether a line is of two that differ, each behind a sign, or says what the signs mean."""
        sign = line[:1]
        if sign not in ("-", "+"):
            return False
        if legend := _LEGEND.match(line):
            if len(self._signed) < len(self._signs) or not self._signs:
                self._signs |= {sign: word.lower() for sign, word in _LEGEND.findall(line)}
            return bool(legend)
        if sign in self._signs and len(self._signs) > 1:
            self._signed.setdefault(sign, line[1:].strip(" ,"))
            return True
        return False

    def _say(self, said: str, says_all: bool) -> None:
        """Take the first message, or all; an exception in place of the source that it is about."""
        is_source = self.message.startswith('File "') and _EXCEPTION.match(said)
        if says_all and said not in self.message:
            self.message = "; ".join(filter(None, (self.message, said)))
        elif is_source or not self.message:
            self.message = said
            self._goes_on, self._above = _BELOW * said.endswith(":"), -1


def shown(line: str, most: int = _LONGEST) -> str:
    """At most 260 characters of a line: its beginning, and its end, where the cause often is."""
    line = _EMPTY.sub("", line) if len(line) > most else line
    return reading.both_ends(
        " ".join(lines.MARKS_IN_A_ROW.sub(" ", _DOTS.sub(" … ", line)).split()), most
    )


def find(text: Lines, told: set[int]) -> tuple[list[Failure], set[int], set[int]]:
    """Every failure once, tests and errors; the lines that say so, and those of tests' blocks.

    Lines that are `told` already are left out.
    """
    aside = _aside(text)
    heads = _heads(text, told | aside)
    tests = [*_by_test(heads).items()]
    read = {at for _, same in tests[:_READ_WHOLE] for at in same}
    blocks = _blocks(text, heads, told | aside, read)
    mentions = {at: _Block(text, at, blocks[at]) for at in heads if at in read}
    used = {*heads, *aside}.union(*(mention.used for mention in mentions.values()))
    used.update(*(block for at, block in blocks.items() if at not in mentions))
    if heads:
        used |= {at for at in text.failing
                 if "FAIL" in text.bare[at] and _GROUP.match(text.bare[at])}  # fmt: skip
        used |= _named_again(text, [name for name, _ in tests[:_READ_WHOLE]])
    errors, of_errors = _errors(text, told | used)
    inside = set().union(*blocks.values())
    failed = _tests(text, heads, tests, mentions)
    return sorted(_folded(_once(failed, errors))), used | of_errors, inside


def _named_again(text: Lines, names: list[str]) -> set[int]:
    """The lines that end with the name of a failed test, and say nothing of it."""
    ends = tuple(f" {name}" for name in names)
    return {at for at in text.holding(*names)
            if f" {text.bare[at].rstrip(_RULES)}".endswith(ends)}  # fmt: skip


def _aside(text: Lines) -> set[int]:
    """The lines of sections about tests that did not fail, and what passing tests printed.

    So are those of tests that passed when they were tried again, and of suites, which are no tests.
    """
    numbers: set[int] = set()
    starts: list[tuple[int, bool]] = []  # of sections, and whether one is aside
    for at in text.holding("===", _PENDING, _FAILURES):
        line = text.bare[at]
        if line.startswith("===") and (section := _SECTION.match(line)):
            is_aside = section[1] in _ASIDE or section[1].startswith("warnings summary")
            starts.append((at, is_aside))
        elif line.startswith((_PENDING, _FAILURES)):
            starts.append((at, line.startswith(_PENDING)))
    for (at, is_aside), (end, _) in itertools.pairwise([*starts, (len(text.all), False)]):
        numbers.update(range(at, end) if is_aside else ())
    for at in text.holding("console.", "● Console"):
        if _PRINTED.match(text.bare[at]):
            numbers |= {at, *_deeper(text, at)}
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
    begins = text.failing if text.holds(*_BEFORE_NUMBERS) else ()
    numbered = next((at for at in begins if _NUMBERS.match(text.bare[at])), len(text.all))
    # those that begin as the heading of a test's block does need no word that fails
    headings = pieces.numbers_in(text.whole, _marked)
    may = {*text.failing, *headings} - told
    named = pieces.in_pieces(text.whole, _named)
    names = {number: name for number, name in named if number in may}
    again = set(names.values())  # above its block, a test may have a number in place of a mark
    heads: dict[int, str] = {}
    for at in sorted(names.keys() | {at for at in may if text.bare[at][:1].isdigit()}):
        line = text.bare[at]
        if name := names.get(at):
            heads[at] = f"{_file_above(text, at)}{name}" if name == _SUITE else name
        elif _MINITEST.match(line) and (below := text.below(at, 1)):
            if named := _OF_MINITEST.match(text.bare[below[0]]):
                heads[at] = named[1]
        elif test := _NUMBERED.match(line):
            name = test[1].rstrip(_RULES)
            if at > numbered or name in again:
                heads[at] = name if name in again else _continued(text, at, test[1])
            elif _is_said_below(text, at) and runners.wrote(text.whole):
                heads[at] = name
    return heads


def _is_said_below(text: Lines, at: int) -> bool:
    """Whether the first lines that are deeper than a line speak of a failure, or point at one."""
    below = [n for n in itertools.islice(_deeper(text, at), _BELOW) if text.bare[n]]
    return any(text.fails(n) for n in below)


@pieces.of_piece
def _marked(piece: Piece) -> list[int]:
    """The lines of a piece that begin as the heading of a test's block does, by number."""
    return [number - 1 for number, _ in reading.places(_MARKED, f"\n{piece.text}")]


@pieces.of_piece
def _named(piece: Piece) -> list[tuple[int, str]]:
    """The names of failed tests in a piece by line, where the line itself tells them."""
    names: dict[int, str] = {}
    for number in {*piece.failing, *_marked(piece)}:
        line = piece.bare.get(number) or pieces.bare(piece.all[number])
        if line.startswith(_OF_PYTEST):
            continue
        if line.startswith("SUB") and (subtest := _SUBTEST.match(line)):
            names[number] = f"{subtest[2]} {subtest[1]}"
        elif _may_name(line) and (test := _TEST.match(line)) and test.lastindex:
            names[number] = test[test.lastindex]
    return [*names.items()]


def _may_name(line: str) -> bool:
    """Whether a line may be one that names a failed test: each has a mark or such a word."""
    is_marked = line[:1] in _BEGIN_TESTS or line.endswith("..Failed")
    return is_marked or "FAIL" in line or "ERROR" in line


def _file_above(text: Lines, at: int) -> str:
    """The file that failed as a whole, which is named above."""
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

    Those of go and gtest stand between the line that a test runs and its result.
    read: the lines that name a test of which the block is read
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


def _points_or_asks(line: str) -> bool:
    """Whether a line of a test's block says where it is, or what was asked, and not what came."""
    return bool(_POINTS.search(line)) or line.startswith("expect(")


def _message(line: str) -> str:
    """What a line says that reports a test's failure, without the mark in front of it; or ''."""
    match = _MESSAGE.match(line)
    return match[match.lastindex] if match and match.lastindex else ""


def _place(line: str) -> str:
    """The place that a line is there to tell, unless it lies in a library: `src/a.py:17`."""
    match = _PLACE.search(line) if _POINTS.search(line) else None
    if not match or any(part in line for part in (*lines.THEIRS, "Warning: ")):
        return ""
    if match["file"]:
        return f"{match['file']}:{match['at']}"
    if match["spelled"]:
        return f"{match['spelled']}:{match['number']}"
    return re.sub("^//+", "/", match["colons"] or match["brackets"])


def _tests(
    text: Lines,
    heads: dict[int, str],
    tests: list[tuple[str, list[int]]],
    mentions: dict[int, _Block],
) -> list[Failure]:
    """One failure for each test, from all lines that name it; of very many, one for the rest."""
    failures: list[Failure] = []
    parents = {name.rpartition("/")[0] for name in heads.values()}
    named = [(name, same) for name, same in tests if name not in parents]
    for name, same in named[:_READ_WHOLE]:
        read = {at: mentions[at] for at in same if at in mentions}
        line, message = _cited(text, heads, name, same, read)
        place = next((mention.place for mention in read.values() if mention.place), "")
        failures.append(Failure(line, _with_place(shown(message), place), name))
    for _, same in named[_READ_WHOLE : _READ_WHOLE + 1]:
        failures.append(Failure(same[0], "", "", len(named) - _READ_WHOLE))
    return failures


def _cited(
    text: Lines, heads: dict[int, str], name: str, same: list[int], read: dict[int, _Block]
) -> tuple[int, str]:
    """The line to cite for a test, and what to say: pytest's summary of it, or else its message."""
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
    """The lines that name each test, by its longest name, of which a shorter one is the end."""
    longest: dict[str, list[str]] = {}
    for name in sorted(set(heads.values()), key=lambda name: (-len(name), name)):
        plain = name.replace("::", ".")
        if plain not in longest:
            for start in () if plain.isidentifier() else re.finditer(r"(?<!\w)\w", plain):
                longest.setdefault(plain[start.start() :], []).append(name)
            longest.setdefault(plain, []).append(name)
    by_name: dict[str, list[int]] = {}
    times: dict[str, int] = {}
    for at, name in heads.items():
        names = longest[name.replace("::", ".")]
        number = times.get(name, 0)  # two tests of one name, in two files
        times[name] = number + 1
        by_name.setdefault(names[min(number, len(names) - 1)], []).append(at)
    return by_name


def _with_place(said: str, place: str) -> str:
    """What is said with its place, unless it names one."""
    return f"{said} ({place})" if place and not _PLACE.search(said) else said


def _once(tests: list[Failure], errors: list[Failure]) -> list[Failure]:
    """Tests and errors, without errors that only say what a test's own line says.

    Of such an error, the test takes the place, and what pytest cut off its own line.
    """
    failures = list(tests)
    messages = {at: test.said.partition(" - ")[2].rstrip(".…") for at, test in enumerate(tests)}
    for error in errors:
        of = [at for at, message in messages.items() if message and message in error.said]
        if len(of) != 1:
            failures.append(error)
            continue
        said, message, place = failures[of[0]].said, messages[of[0]], _place(error.said)
        if said.endswith("..."):
            messages[of[0]] = error.said[error.said.find(message) :].rstrip(".")
            said = said.partition(message)[0] + messages[of[0]]
        failures[of[0]] = failures[of[0]]._replace(said=_with_place(said, place))
    return failures


def _folded(failures: list[Failure]) -> Iterator[Failure]:
    """The failures; those of one test with many values are one, if only numbers differ."""
    same: dict[tuple[str, str], list[Failure]] = {}
    for at, failure in enumerate(failures):
        test, bracket, _ = failure.name.partition("[")
        form = _DIGITS.sub("0", failure.said) if test and bracket else str(at)
        same.setdefault((test, form), []).append(failure)
    for first, *others in same.values():
        if len(others) < _SAME - 1:
            yield from (first, *others)
            continue
        said = folding.alike((one.said for one in (first, *others)), 2 * _LONGEST)
        count = len(others) + 1
        yield first._replace(said=f"{said} (x{count})", times=count)


def _errors(text: Lines, used: set[int]) -> tuple[list[Failure], set[int]]:
    """Each distinct error that is no test, with how often it is there, and their lines."""
    same: dict[str, list[int]] = {}
    unused = [at for at in text.failing if at not in used]
    text.forms.make(unused)
    for at in unused:
        continued = at and text.bare[at].startswith("E   ") and text.bare[at - 1].startswith("E   ")
        if not continued:
            same.setdefault(_form(text, at), []).append(at)
    errors: dict[str, Failure] = {}
    seen: set[int] = set()
    for at_all in same.values():
        at = min(at_all, key=lambda n: (len(text.bare[n]) >= _LONGEST, n))
        if at in seen or _is_aside(text, at):
            continue
        if not (_fails(text.bare[at]) or _heads_a_trace(text, at)):
            continue
        message, more = _error(text, at)
        seen.update(at_all, more, *(_below(text, n) for n in at_all if more))
        one_line = [] if more else [text.bare[n] for n in sorted(at_all)]
        if one_line and max(map(len, one_line)) <= _LONGEST:
            message = shown(folding.alike(one_line, _LONGEST, named=True))
        near = [] if _PLACE.search(message) else [_near(text, n) for n in at_all[:_PLACES]]
        places = [*dict.fromkeys(filter(None, near))]
        place = ", ".join(places[:_FEW]) + ", …" * (len(places) > _FEW)
        times = f" (x{len(at_all)})" if len(at_all) > 1 else ""
        if message in errors:
            errors[message] = errors[message]._replace(times=errors[message].times + len(at_all))
        else:
            whole = f"{_with_place(message, place)}{times}"
            errors[message] = Failure(at, whole, places[0] if places else message, len(at_all))
    return list(errors.values()), seen


def _form(text: Lines, at: int) -> str:
    """What errors that are one have in common: no numbers, and in a log no names either.

    The number in the name of an environment of tox tells it from the others.
    """
    line = text.bare[at]
    if line.startswith("CONFLICT"):
        return line
    is_event = text.all[at][:_READ].strip() != line
    form = lines.without_names(text.forms[at]) if is_event else text.forms[at]
    named = _NUMBERED_NAME.match(line)
    below = (text.forms[n] for n in _below(text, at)[-1:])
    return " ".join([named[0] if named else "", form, *below])


def _fails(line: str) -> bool:
    """Whether a line is there to say that something failed, and does not just mention it.

    Such a line says it in capitals, in its first words, behind its place, or behind its last colon.
    """
    if _TITLED.match(line):
        return True
    line = _SAID_BY.sub("", line)
    is_title = line.isupper() and ":" not in line
    if is_title or _SUMS_UP.search(line) or _SOURCE.match(line):
        return False
    words, (_, colon, last) = line.split(), line.rpartition(": ")
    if len(words) > 2 and (place := _PLACE.match(line)):
        return failure_words.says_failure(line[place.end() :])
    says = failure_words.says_failure if " " in last else failure_words.says_failed
    is_brief = bool(colon) and len(last) < _BRIEF
    is_last = is_brief and last[0].isalpha() and says(last)
    is_loud = any(map(failure_words.says_failure, _LOUD.findall(line)))
    is_said = is_loud or failure_words.says_failed(" ".join(words[:_FIRST]))
    return is_last or is_said or line.startswith(_OF_PYTEST)


def _is_aside(text: Lines, at: int) -> bool:
    """Whether a line is a heading with a rule below, or a warning that nothing raised."""
    warns = bool(_WARNING.match(text.bare[at])) and not _own_frame(text, at)
    return warns or text.is_underlined(at)


def _heads_a_trace(text: Lines, at: int) -> bool:
    """Whether the frames of a trace are below a line, as valgrind and sanitizers print them."""
    return any(_FRAME.match(text.bare[below]) for below in text.below(at, 1))


def _error(text: Lines, at: int) -> tuple[str, set[int]]:
    """The text of an error and its other lines: npm's in a row, or those that say what it is."""
    line = text.bare[at]
    if npm := _NPM.match(line):
        mark = npm[0].strip()
        more = [*itertools.takewhile(lambda n: text.bare[n].startswith(mark), text.below(at - 1))]
        parts = filter(None, (_NPM.sub("", text.bare[number]) for number in more))
        return shown(npm[0] + "; ".join(parts), 2 * _LONGEST), set(more)
    more = _below(text, at)
    if not more:
        return shown(line + text.all[at][_READ : _READ * 8]), set()
    told = [at, *more] if len(more) < _NEAR - 1 else more[-2:]
    rest = text.paragraph(more[-1])[1:]
    return shown(" ".join(text.bare[n] for n in (*told, *rest))), {*more, *rest}


def _below(text: Lines, at: int) -> list[int]:
    """The lines below an error that say what it is; before the last one, places."""
    found: list[int] = []
    while len(found) < _NEAR and _UNSAID.match(text.bare[at]):
        at = next((n for n in text.below(at, 2) if text.bare[n].strip("=-")), -1)
        if at < 0:
            break
        found.append(at)
    return found


def raised(text: Lines, at: int) -> str:
    """An exception at the end of a trace, with the place of its innermost own frame."""
    message = shown(text.bare[at])
    if message.endswith(":"):
        message = shown(" ".join([message, *(text.bare[n] for n in text.below(at, 1))]))
    return _with_place(message, _near(text, at))


def _own_frame(text: Lines, at: int) -> str:
    """The innermost frame of the user's own code in the Python trace that ends at a line."""
    for number in range(at - 1, max(-1, at - _FRAMES), -1):
        read = text.bare[number].removeprefix("| ")
        if not read or read.startswith("Traceback"):
            break
        if read.startswith('File "') and (place := _place(read)):
            return place
    return ""


def _near(text: Lines, at: int) -> str:
    """The place above an exception in Python's trace, in its frames, or in one of the next lines.

    Of the next lines, only the first may tell one, or those in a frame of terraform.
    """
    if _EXCEPTION.match(text.bare[at]) and (place := _own_frame(text, at)):
        return place
    in_frame = text.all[at][:1] == "│"
    for number in text.below(at, _FRAMES):
        line = text.bare[number]
        is_frame = line.startswith(("at ", "by ", "#")) or (
            in_frame and text.all[number][:1] == "│"
        )
        if text.fails(number) and _fails(line):
            break
        if (is_frame or number == at + 1) and (place := _place(line)):
            return place
        if not is_frame and number > at + 1:
            break
    return ""
