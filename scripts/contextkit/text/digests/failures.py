"""What went wrong in the output of a tool: each failure once, with its message and its place.

    failures.find(lines)        list[Failure], in the order of the lines

A test runner names a failed test up to three times: in its progress, in a block with the message,
and in a summary. Those are one failure: the longest name, the message, and the place. What is not
a test is an error of its own; errors that differ only in numbers are one, with its count,
unless each begins with its place.
"""

from __future__ import annotations

import itertools
import re

from contextkit.base.records import NamedTuple
from contextkit.text.digests import reading
from contextkit.text.digests.reading import Pattern

_STAMP = Pattern(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\]?\s"
    r"|^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\S+\s|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |^\[\d+\.\d+\] "
    r"|^#\d+ (?:\d+\.\d+ )?|^│ ?"  # of a step of docker build; the frame around terraform's errors
    r"|^\[gw\d+\] \[ *\d+%\] "  # of a worker of pytest-xdist
    r"|^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4}\] "  # of a request, with who made it
)
OF_A_TOOL = (  # how some tools begin or end a line about a failure; a part of two patterns
    r"^(?:E: |##\[error\]|CONFLICT \(|error during build|\S+\.go:\d+:\d+: )"
    r"|^\S+\.\w{1,5}:\d+:\d+: (?:[A-Z]+\d+ |invalid-syntax: )"
    r"|: (?:command not found|No such file or directory|Permission denied)$"
)
FAILS = Pattern(
    OF_A_TOOL
    + r"|\b(?:FAILED|FAIL|FATAL|CRITICAL|PANIC|SEVERE)\b|\bERROR\b|^\s*not ok\b|^\s*[✗✘×✕✖]\s"
    r"|^(?:E   |npm (?:ERR!|error)(?: |$)|fatal:|panic:|error(?:\[\w+\])?:|Error:|--- FAIL)"
    r"|^(?:make(?:\[\d+\])?: \*\*\*|! \[(?:remote )?rejected\])"
    r"|\b\w*(?:Error|Exception)\b:|(?::| -) (?:fatal )?error\b|\bpanicked at\b"
    r"|\bSegmentation fault\b|: (?:undefined reference to|multiple definition of) "
    r"|^[EF]\d{4} \d\d:\d\d:\d\d|\bHTTP/[\d.]+\" 5\d\d\b"
    r"|\blevel\"?[=:] ?\"?(?:error|fatal|panic|critical)\b"
    r"|\bFailed (?:to|with)\b|\[(?:emerg|alert|crit|error)\]|\bstatus=\d+/|\bOut of memory: "
    r"|: (?:schwerwiegender )?(?:Fehler|erreur|errore|ошибка)\b|\bFEHLER\b"
    r"|\bTraceback \(most|\bexit(?:ed with)?(?: code| status)?:? [1-9]"
)
PASSES = Pattern(
    r"\b(?:0|no|without|zero) (?:errors?|failures?|failed)\b|\b(?:errors?|failed"
    r"|failures?)[=:] ?0\b"
    r"|(?-i:\b(?:PASS(?:ED)?|Passed|SKIP(?:PED)?|XFAIL)\b)|^\s*ok\b|^\s*[✓✔]",
    re.I,
)
_SURE = Pattern(  # a failure, whatever else the line says
    r"^(?:E   |(?:FAILED|FAIL|ERROR|FATAL|CRITICAL)\b|(?:error(?:\[\w+\])?|Error|fatal|panic):"
    r"|npm (?:ERR!|error) |[\w.]*(?:Error|Exception):|\S+:\d+: (?:fatal )?error:)"
)
_SUMS_UP = Pattern(  # a line about several failures, or about none in particular
    r"^(?:make(?:\[\d+\])?: \*\*\* Waiting|(?:\+ Exception Group )?Traceback \(most"
    r"|The following tests FAILED)"
    r"|^(?:\[\w+\] )?(?:FAIL(?:ED|URE|URES)?|Failures?|Errors?)\W*$|^error: [|>]-?$"
    r"|^✖ (?:\d+ problems?\b|.*:$)"
)
_TEST = Pattern(  # a line that names a failed test, by pytest, jest, vitest, go, cargo, and others
    r"^(?:FAILED|ERROR) (\S+(?:::(?:[^\s\[]+\[.*?\](?= - |$)|\S.*?)|\.py))(?: - .*)?$"
    r"|^(\S+::[^\s\[]+(?:\[.*?\])?) (?:FAILED|ERROR)\b"
    r"|^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(\S.*?) _{3,}$"
    r"|^● (?!Console)(\S.*)$"
    r"|^[✕✗✘×✖] (?!\d+ problems?\b)(\S.*?[^:])(?: \(?[\d.]+ ?m?s\)?)?$"
    r"|^FAIL +(\S+ > \S.*)$"
    r"|^--- FAIL: (\S+)"
    r"|^---- (\S+)(?: - should panic)? stdout ----$"
    r"|^test (\S+)(?: - should panic)? \.\.\. FAILED$"
    r"|^(?:FAIL|ERROR): (\w+ \(\S+\)(?: [\[(].+)?)$"
    r"|^(\w+ \(\S+\)(?: [\[(].+)?) \.\.\. (?:FAIL|ERROR)$"
    r"|^not ok \d+ -? ?(\S.*)$"
    r"|^(\S.* > \S.*) FAILED$"
    r"|^Failed (\S+) \[[^\]]*\]$"
    r"|(\S+) \[FAIL\]$"
    r"|^\d+ - (\S+) \(\w+\)$"
    r"|^\d+/\d+ Test +#\d+: (\S+) \.+\*\*\*\w+"
    r"|^\[ERROR\] (\S+) -- Time elapsed: .* <<< \w+!$"
    r"|^\[ERROR\] +(\w+\.\w+):\d+ .+$"
)
_SUBTEST = Pattern(r"^SUBFAILED(\(.*?\)|\[.*?\]) (\S+::\S.*?)(?: - .*)?$")
_GROUP = Pattern(r"^FAIL\s+\S+(?:\s+\(?[\d.]+ ?m?s\)?)?$")  # a file or package with failed tests
_NUMBERED = Pattern(r"^\d+\) (\S.*)$")
_NUMBERS = Pattern(r"^(?:\d+ failing|Failures:|There (?:was|were) \d+ (?:failures?|errors?):)$")
_MESSAGE = Pattern(
    r"^(?:E +|→ |Failure/Error: )(\S.*)$"
    r"|^((?:Failed asserting|assert\w* |Assert\.|panic: |Error: |fatal: )\S.*)$"
    r"|^(?:\| )?([\w.]*(?:Error|Exception|ExceptionGroup|Failure)\b(?::| \[).*)$"
    r"|^\S+\.go:\d+: (.+)$"
    r"|^# +(?:Failure|message): (.+)$|^error: '(.+)'$|^'(test timed out .+)'$"
    r"|^note: (test did not panic .+?)(?: at \S+)?$"
)
_SAYS_BELOW = Pattern(r"\bpanicked at \S+:$|^error: [|>]-?$")  # the message is the next line
_SECTION = Pattern(r"^={3,} (.*?) ={3,}$")  # of pytest's report
_SUMMARY = ("FAILED ", "ERROR ", "SUBFAILED")  # begin a line of pytest's short summary
_ABOVE = "test at "  # node's place of a test, above its name
_ASIDE = ("PASSES", "XFAILURES", "XPASSES")
_VALUE = Pattern(r"^(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|left|right|want|have): +\S.*$")
_PLACE = Pattern(
    r'File "(?P<file>[^"]+)", line (?P<at>\d+)|(?P<colons>[\w@./\\-]+\.\w{1,5}:\d+(?::\d+)?)\b'
    r"|(?P<spelled>[\w./\\-]+\.\w{1,5})[:,]? ?line (?P<number>\d+)"
    r"|(?P<brackets>[\w./\\-]+\.\w{1,5}\(\d+(?:,\d+)?\))"
)
_THEIRS = ("site-packages", "node_modules", "node:", "AssertionFailureBuilder", "/rustc/",
           "org.junit", "<frozen", "/lib/python")  # fmt: skip
_EXCEPTION = Pattern(r"^[\w.$]*(?:Error|Exception|Warning)\b(?::|$)")
_LISTED = Pattern(  # by eslint, or by ruff in groups, below the name of the file
    r"^(\d+:\d+)\s+(?:error\s+(?=\S)|(?=[A-Z]+\d+ |invalid-syntax: ))(.+)$"
)
_FILE = Pattern(r"^(\S+\.\w{1,5}):?$")
_NPM = Pattern(r"^npm (?:ERR!|error)(?: |$)")
_VARY = Pattern(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+")
_LONGEST = 260  # characters shown of a failure
_READ = 500  # characters read of a line
_BLOCK = 40  # lines below a test's name in which its message and place are looked for
_LONG_BLOCK = 2000  # the same below a heading of pytest, whose block ends with the next one
_BEFORE = 8  # lines above it
_AFTER = 4  # lines below an error in which its place is looked for


class Failure(NamedTuple):
    """What failed: its line, from 0, the text to show, and the name to list it by."""

    line: int
    said: str
    name: str


class _Mention(NamedTuple):
    """A line that names a failed test, with the message and the place that belong to it."""

    line: int
    name: str
    message: str
    place: str
    used: frozenset[int]  # the lines of those


def bare(line: str) -> str:
    """The beginning of the line, without the time or the frame in front of it."""
    return str(_STAMP.sub("", line[:_READ]).strip())


def shown(line: str) -> str:
    """At most 260 characters of a line, cut at a space."""
    return reading.cut(" ".join(line.split()), _LONGEST)


def varying(line: str) -> str:
    """The line with its numbers, hashes, and addresses as 0: what repeated lines have in common."""
    return str(_VARY.sub("0", line))


def find(lines: list[str], summary: set[int]) -> list[Failure]:
    """Every failure once, tests and errors; the lines in `summary` sum up the run."""
    bares = [bare(line) for line in lines]
    summary = summary | _aside(bares)
    heads = _heads(lines, bares, summary)
    mentions = [_mention(lines, bares, at, heads, summary) for at in heads]
    used = {*heads, *summary}.union(*(mention.used for mention in mentions))
    if heads:
        used |= {at for at, line in enumerate(bares) if _GROUP.match(line)}
    return sorted(_once(_tests(bares, mentions), _errors(bares, used)))


def _aside(bares: list[str]) -> set[int]:
    """The lines of pytest's sections about tests that did not fail and about warnings."""
    found: set[int] = set()
    aside = False
    for at, line in enumerate(bares):
        if line.startswith("===") and (section := _SECTION.match(line)):
            aside = section[1] in _ASIDE or section[1].startswith("warnings summary")
        if aside:
            found.add(at)
    return found


def _heads(lines: list[str], bares: list[str], summary: set[int]) -> dict[int, str]:
    """The names of failed tests by line."""
    numbered = any(map(_NUMBERS.match, bares))
    heads: dict[int, str] = {}
    for at, line in enumerate(bares):
        if at in summary or not line:
            continue
        if subtest := _SUBTEST.match(line):
            heads[at] = f"{subtest[2]} {subtest[1]}"
        elif (test := _TEST.search(line)) and test.lastindex:
            heads[at] = test[test.lastindex]
        elif numbered and (test := _NUMBERED.match(line)):
            heads[at] = _continued(lines, at, test[1])
    return heads


def _continued(lines: list[str], at: int, name: str) -> str:
    """A numbered name with the deeper lines below it, up to one that ends with a colon."""
    more: list[str] = []
    depth = len(lines[at]) - len(lines[at].lstrip())
    for line in lines[at + 1 : at + 4]:
        if not line[: depth + 1].isspace():
            break
        more.append(line.strip())
        if line.rstrip().endswith(":"):
            return " ".join([name, *more])[:-1]
    return name


def _mention(
    lines: list[str], bares: list[str], at: int, heads: dict[int, str], summary: set[int]
) -> _Mention:
    """The message, the compared values, and the place below a test's name, or else above it."""
    below = _below(bares, at, heads, summary)
    mention = _detailed(bares, at, heads[at], below)
    if not mention.place and at and bares[at - 1].startswith(_ABOVE):
        mention = mention._replace(place=_place(bares[at - 1]))
    if mention.message:
        return mention
    earlier = _detailed(bares, at, heads[at], _above(lines, at, heads))
    if earlier.message:
        return earlier
    first = next((number for number in below if bares[number]), None)
    if first is not None and _NUMBERED.match(bares[at]):
        return mention._replace(message=bares[first], used=frozenset({first}))
    return mention


def _below(bares: list[str], at: int, heads: dict[int, str], summary: set[int]) -> list[int]:
    """The lines of the block below a test's name; a line of pytest's short summary has none."""
    if bares[at].startswith(_SUMMARY):
        return []
    length = _LONG_BLOCK if bares[at].startswith("___") else _BLOCK
    block = []
    for number in range(at + 1, min(at + length, len(bares))):
        if number in heads or bares[number].startswith(("=====", _ABOVE, "ℹ ")):
            break
        if number not in summary:
            block.append(number)
    return block


def _above(lines: list[str], at: int, heads: dict[int, str]) -> list[int]:
    """The indented lines above a test's name: go's messages if it prints every test."""
    block: list[int] = []
    for number in reversed(range(max(0, at - _BEFORE), at)):
        if number in heads or not lines[number].startswith((" ", "\t")):
            break
        block.append(number)
    return sorted(block)


def _detailed(bares: list[str], at: int, name: str, block: list[int]) -> _Mention:
    """The mention of a test with what the lines in `block` say of it, without others' errors."""
    message, place = "", ""
    values: list[str] = []
    used: set[int] = set()
    expected = False  # the message is the next line
    in_source = False  # pytest quotes the source above a syntax error
    for number in block:
        line = bares[number]
        said = _message(line) or (line if expected else "")
        expected = bool(_SAYS_BELOW.search(line))
        if said:
            in_source = (in_source or said.startswith('File "')) and not _EXCEPTION.match(said)
            message = message or ("" if in_source else said)
        elif _VALUE.match(line):
            values.append(" ".join(line.split()))
        elif not (_PLACE.search(line) or FAILS.search(line)) or _is_placed_error(line):
            continue
        used.add(number)
        place = place or _place(line)
    if values:
        parts = values[:2] if message.startswith("expect(") else [message, *values[:2]]
        message = ", ".join(filter(None, (part.strip(" ,:") for part in parts)))
    return _Mention(at, name, message, place, frozenset(used if message else ()))


def _message(line: str) -> str:
    """What a line says that reports a test's failure, without the mark in front of it; or ''."""
    found = _MESSAGE.match(line)
    return found[found.lastindex] if found and found.lastindex else ""


def _is_placed_error(line: str) -> bool:
    """Whether a line is an error of its own, which begins with its place."""
    return bool(_PLACE.match(line) and FAILS.search(line))


def _place(line: str) -> str:
    """The first place that a line names, unless it lies in a library: `src/a.py:17`."""
    found = _PLACE.search(line)
    if not found or any(part in line for part in _THEIRS):
        return ""
    if found["file"]:
        return f"{found['file']}:{found['at']}"
    if found["spelled"]:
        return f"{found['spelled']}:{found['number']}"
    return re.sub("^//+", "/", found["colons"] or found["brackets"])


def _tests(bares: list[str], mentions: list[_Mention]) -> list[Failure]:
    """One failure for each test, from all lines that name it."""
    found: list[Failure] = []
    for name, same in _by_test(mentions).items():
        line, said = _cited(bares, name, same)
        place = next((one.place for one in same if one.place), "")
        if place and not _PLACE.search(said):
            said = f"{shown(said)} ({place})"
        found.append(Failure(line, shown(said), name))
    return found


def _cited(bares: list[str], name: str, same: list[_Mention]) -> tuple[int, str]:
    """The line to cite for a test, and what to say: pytest's summary of it, or else its message."""
    full = next((one for one in same if one.message), same[0])
    for one in same:
        if test := _summed(bares[one.line], one.name):
            said = bares[one.line]
            is_cut = said.endswith("...") and full.message  # pytest cuts a long message
            return one.line, f"{test} - {full.message}" if is_cut else said
    if full.message and full.message not in bares[full.line]:
        return full.line, f"{name}: {full.message}"
    said = next((bares[one.line] for one in same if one.name == name), bares[full.line])
    return full.line, name if said.startswith("___") else said


def _summed(line: str, name: str) -> str:
    """What is before the message in a line of pytest's summary: `FAILED tests/test_a.py::test_b`.

    It is '' for any other line.
    """
    test = name if name in line else name.partition(" (")[0]  # without the values of a subtest
    before, mark, _ = line.partition(f"{test} - ")
    return before + test if mark and line.startswith(_SUMMARY) else ""


def _by_test(mentions: list[_Mention]) -> dict[str, list[_Mention]]:
    """The mentions of each test by its longest name: a shorter one is the end of a longer one."""
    longest: dict[str, list[str]] = {}
    for name in sorted({mention.name for mention in mentions}, key=lambda one: (-len(one), one)):
        plain = name.replace("::", ".")
        if plain not in longest:
            for start in re.finditer(r"(?<!\w)\w", plain):
                longest.setdefault(plain[start.start() :], []).append(name)
            longest.setdefault(plain, []).append(name)
    found: dict[str, list[_Mention]] = {}
    times: dict[str, int] = {}
    for mention in mentions:
        names = longest[mention.name.replace("::", ".")]
        number = times.get(mention.name, 0)  # two tests of one name, in two files
        times[mention.name] = number + 1
        found.setdefault(names[min(number, len(names) - 1)], []).append(mention)
    return found


def _once(tests: list[Failure], errors: list[Failure]) -> list[Failure]:
    """Tests and errors, without errors that only say what a test's own line says; their places."""
    found = list(tests)
    messages = [(test.said.partition(" - ")[2].rstrip(".…"), at) for at, test in enumerate(tests)]
    for error in errors:
        at = next((at for message, at in messages if message and message in error.said), None)
        if at is None:
            found.append(error)
        elif (place := _place(error.said)) and not _PLACE.search(found[at].said):
            found[at] = found[at]._replace(said=shown(f"{found[at].said} ({place})"))
    return found


def _errors(bares: list[str], used: set[int]) -> list[Failure]:
    """Each distinct error that is no test, with how often it is there."""
    seen: dict[str, list[int]] = {}
    before = ""
    for at, (line, above) in enumerate(zip(bares, ["", *bares], strict=False)):
        continued = line.startswith("E   ") and above.startswith("E   ")
        if at not in used and not continued and _fails(bares, at):
            npm = _NPM.match(line)
            if not (npm and before == npm[0].strip()):  # the first of them shows the others
                seen.setdefault(_in_common(bares, at), []).append(at)
            before = npm[0].strip() if npm else ""
        else:
            before = ""
    found: dict[str, Failure] = {}
    for at_all in seen.values():
        best = max(at_all, key=lambda at: (len(bares[at]) < _LONGEST, at == at_all[0]))
        said = _error(bares, best)
        place = _near(bares, best) if not _PLACE.search(said) else ""
        differ = len({bares[at] for at in at_all}) > 1
        times = f" (x{len(at_all)})" if differ or len(at_all) > 2 else ""
        whole = f"{said}{f' ({place})' if place else ''}{times}"
        found.setdefault(said, Failure(best, whole, place or said))
    return list(found.values())


def _in_common(bares: list[str], at: int) -> str:
    """What repetitions of an error have in common: its place, if it has one, but no numbers."""
    line = bares[at]
    if _LISTED.match(line):
        return _error(bares, at)
    return line if line.startswith("CONFLICT") or _PLACE.match(line) else varying(line)


def _fails(bares: list[str], at: int) -> bool:
    line = bares[at]
    if _SUMS_UP.search(line) or (PASSES.search(line) and not _SURE.match(line)):
        return False
    if FAILS.search(line) or _LISTED.match(line):
        return True
    below = "".join(bares[at + 1 : at + 2])
    return below.startswith("--> ") and not line.startswith(("warning", "note", "help", "|"))


def _error(bares: list[str], at: int) -> str:
    """The text of an error: listed below the name of its file, with that; npm's lines in one."""
    line = bares[at]
    if listed := _LISTED.match(line):
        above = (bares[n] for n in reversed(range(at)))
        file = next(filter(None, map(_FILE.match, above)), None)
        return shown(f"{file[1]}:{listed[1]} {listed[2]}" if file else line)
    if npm := _NPM.match(line):
        more = []
        for other in bares[at:]:
            if not other.startswith(npm[0].strip()):
                break
            more.append(_NPM.sub("", other))
        return shown(npm[0] + "; ".join(filter(None, more)))
    return shown(line)


def _near(bares: list[str], at: int) -> str:
    """The place named above an exception in Python's traceback, else below the error."""
    if _EXCEPTION.match(bares[at]):
        for line in reversed(bares[max(0, at - _AFTER) : at]):
            if line.startswith('File "') and (place := _place(line)):
                return place
    near = bares[at + 1 : at + 1 + _AFTER]
    below = itertools.takewhile(lambda line: not FAILS.search(line), near)
    return next(filter(None, map(_place, below)), "")
