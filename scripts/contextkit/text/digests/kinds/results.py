"""Results in a format of their own: JSON and XML of test runners, linters and scanners; TAP."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.text import objects
from contextkit.text.digests import diagnostics
from contextkit.text.digests.diagnostics import Diagnostic
from contextkit.text.digests.failures import place_in, with_place
from contextkit.text.digests.folding import cut
from contextkit.text.digests.reading import REST, Unit

_TAP = Pattern(
    r"^( *)(not )?ok\b(?: (\d+))?(?: -)? ?(.*?)(?: # (SKIP|TODO|skip|todo)\b.*)?(?: # time=.*)?$"
)
_TAP_BEGINS = Pattern(r"^TAP version|^1\.\.\d+", re.M)
_TAP_PLAN = Pattern(r"^1\.\.(\d+)$", re.M)
_TAP_COMMENT = Pattern(r"\s*#(?! Subtest)")
_SUMMED_UP = Pattern(r"^Files=\d+, Tests=\d+", re.M)  # by prove, along with the tests' own output
_TAP_COUNTS = Pattern(r"^# (tests|pass|fail|cancelled|skipped|todo) (\d+)$", re.M)
_TAP_WORDS = {"fail": "failed", "cancelled": "cancelled", "skipped": "skipped", "todo": "todo",
              "pass": "passed"}  # fmt: skip
_TAP_SAYS = Pattern(r"^\s*(?:#\s+Failure:|message:|error:) *['\"]?(.+?)['\"]?$")
_TAP_VALUES = (  # named values, values behind signs, or the next lines
    Pattern(r"\s*((?:actual|expected|found|wanted|got|received): \S.*)$"),
    Pattern(r"\s*([-+] +(?!actual|expected)\S.*)$"),
    Pattern(r"\s*(?!\+ actual )(\S.*)$"),
)
_BLOCK = 200  # lines of a test's block
_TAP_PLACES = ("location", "at", "file")  # keys; a file and a line may stand below the first two
_TAP_AT = Pattern(r"(?:.* \()?(?:file://)?(\S+:\d+(?::\d+)?)\)?$")
_THROWN = Pattern(r"(?: +(?!---)\S|\s*$)")  # the message and stack of an exception, as by mocha
_IN_FILE = Pattern(r"^\(.*\bfile (\S+), line (\d+)\)")
_REPORT = Pattern(r"\s*(?:<\?xml[^>]*>\s*)?<testsuites?\b")
_GO_SAYS = Pattern(r"\s*\S+\.go:\d+: ")
_GRADES = {
    word: grade
    for grade, words in {
        "error": "2 error high critical blocker fatal",
        "warning": "1 warning warn medium moderate major",
        "note": "0 info low minor note style weak none informational negligible unknown hint"
        " convention refactor",
    }.items()
    for word in words.split()
}
_RESULTS = {
    word: result
    for result, words in {
        "passed": "passed pass ok success successful",
        "failed": "failed fail failure broken",
        "error": "error errored",
        "skipped": "skipped skip pending ignored disabled notexecuted todo inconclusive",
    }.items()
    for word in words.split()
}
_CONCLUDED = ("conclusion", "outcome", "result", "status", "state")
_NAMES = ("fullTitle", "fullName", "fullname", "nodeid", "testName", "name", "title")
_CASES = {"failure": "failed", "error": "error", "skipped": "skipped"}  # inside a testcase of JUnit
_LISTS = {"failures": "failed", "pending": "skipped", "passes": "passed"}  # of mocha
_SAYS = ("message", "Message", "failureMessages", "longrepr", "text", "error")
_TIMES = frozenset(("time", "timestamp", "ts", "@timestamp", "asctime"))
_DEEPEST, _DEEPEST_TEXT, _WIDEST = 30, 3, 40  # levels; those with texts; objects of a level
_LONGEST, _PART, _BEGINNING, _NEAR = 240, 30, 4000, 50_000  # characters


class Test(NamedTuple):
    """A test with its result, `passed`, `failed`, `error` or `skipped`; `line` is from 1."""

    line: int
    name: str
    result: str
    said: str = ""


def confidence(text: str) -> int:
    """The confidence, by whether it can be read."""
    return 95 if units(text) else 0


@functools.lru_cache(maxsize=1)
def units(text: str) -> list[Unit]:
    """The counts, then every failed test with its message, or every message of a linter."""
    if '"Action":' in text[:2000] and '"Package":' in text[:4000]:
        return _of_tests(_go(text))
    if _TAP_BEGINS.search(text[:4000]) and not _SUMMED_UP.search(text[-4000:]):
        tests, counts = list(_tap(text)), Counter[str]()  # perhaps of several runs
        for word, count in _TAP_COUNTS.findall(text):
            counts[word] += int(count)
        return _of_tests(tests, counts, sum(map(int, _TAP_PLAN.findall(text))) - len(tests))
    return (_of_elements(text) if "<testsuite" in text else []) or _of_tree(text)


def _of_elements(text: str) -> list[Unit]:
    """The tests of all reports in XML that begin a line, whatever is around them."""
    lines = text.split("\n")
    suites = [
        element
        for element in objects.elements(text)
        if _REPORT.match(lines[element[objects.LINES][0] - 1])
    ]
    units = _of_tests(results(suites))
    inside = {n for first, last in (suite[objects.LINES] for suite in suites)
              for n in range(first, last + 1)}  # fmt: skip
    others = (n for n, line in enumerate(lines, start=1) if n not in inside and line[:5] != "<?xml")
    return [*units, *(Unit(n, REST, "") for n in others)] if units else []


def _of_tests(
    tests: list[Test], stated: dict[str, int] | None = None, not_run: int = 0
) -> list[Unit]:
    """The counts of the results, the tool's own if it has any; then the failed tests."""
    if not tests:
        return []
    counts = {result: sum(test.result == result for test in tests)
              for result in ("failed", "error", "skipped", "passed")}  # fmt: skip
    stated = stated or {}
    counts |= {"not run": max(0, not_run)}
    counts = {_TAP_WORDS[word]: stated[word] for word in _TAP_WORDS if word in stated} or counts
    total = stated.get("tests", sum(counts.values()))
    text = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    units = [Unit(1, "tests", f"{text} of {total}", 3.0, 1, "tests", key=True, derived=True)]
    same: dict[tuple[str, str, str], list[int]] = {}  # the lines of equal failures
    for test in tests:
        if test.result in ("failed", "error"):
            same.setdefault((test.name, test.result, test.said), []).append(test.line)
    for (name, result, message), lines in same.items():
        times = f" (x{len(lines)})" * (len(lines) > 1)
        shown = cut(" ".join(f"{name}: {message}".rstrip(": ").split()), _LONGEST) + times
        units.append(Unit(lines[0], result, shown, 2.5, 3, result, name, times=len(lines)))
    return units


def _go(text: str) -> list[Test]:
    """The tests of `go test -json` with their output, and packages that failed otherwise."""
    import json

    printed: dict[tuple[str, str], list[str]] = {}
    tests: list[Test] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            event = json.loads(line) if line[:1] == "{" else None
        except ValueError:
            event = None
        if not isinstance(event, dict):
            continue
        action, key = event.get("Action"), (str(event.get("Package")), str(event.get("Test", "")))
        if action == "run":
            printed.pop(key, None)
        elif action == "output":
            printed.setdefault(key, []).append(str(event.get("Output", "")))
        elif action in ("pass", "fail", "skip") and (key[1] or action == "fail"):
            result = {"pass": "passed", "fail": "failed", "skip": "skipped"}[action]
            lines = [
                line
                for line in printed.get(key, ())
                if not line.lstrip().startswith(("---", "==="))
            ]
            messages = [line for line in lines if _GO_SAYS.match(line)] or lines if key[1] else []
            if key[1] or not any(test.name.startswith(key[0]) for test in tests):
                name = f"{key[0]}.{key[1]}".rstrip(".")
                tests.append(Test(number, name, result, " ".join(messages[:3])))
    return tests


def _tap(text: str) -> Iterator[Test]:
    """The tests of TAP with the messages of their blocks; of nested ones, the innermost."""
    lines = text.split("\n")
    depths: list[int] = []  # of preceding results that the next one may enclose
    for number, line in enumerate(lines):
        match = _TAP.match(line)
        if not match:
            continue
        depth = len(match[1])
        has_inner = bool(depths) and depths[-1] > depth
        while depths and depths[-1] >= depth:
            depths.pop()
        depths.append(depth)
        if has_inner:
            continue
        below = lines[number + 1 : number + 1 + _BLOCK * bool(match[2])]
        block = [*itertools.takewhile(lambda line: not _TAP.match(line), below)]
        message = _said_in(block)
        comments = itertools.takewhile(_TAP_COMMENT.match, below)
        texts = [comment.lstrip(" #") for comment in comments]
        stated = (f"{m[1]}:{m[2]}" for m in map(_IN_FILE.search, texts) if m)
        place = _place_in(block) or next(stated, "")
        message = message or " ".join(text for text in texts if not _IN_FILE.search(text))
        thrown = [*itertools.takewhile(_THROWN.match, block if not message else ())]
        message = message or next(filter(None, map(str.strip, thrown)), "")
        place = place or _place_of(thrown)
        result = "skipped" if match[5] else "failed" if match[2] else "passed"
        place = f" ({place})" if place else ""
        yield Test(number + 1, match[4], result, f"{message}{place}" if match[2] else "")


def _place_in(block: list[str]) -> str:
    """The place that a test's block in YAML names: `at: FILE:LINE`, or a file and a line."""
    inside = itertools.takewhile(lambda line: line.strip() != "...", block[1:])
    margin, key, named = -1, "", dict[str, str]()
    for line in filter(str.strip, inside if block[:1] and block[0].strip() == "---" else ()):
        name, _, value = line.strip().partition(":")
        depth = len(line) - len(line.lstrip())
        margin = depth if margin < 0 else margin
        key = name if depth <= margin else key
        if depth <= margin or key in _TAP_PLACES:
            named.setdefault(name, value.strip(" '\""))
    for place in map(_TAP_AT.match, (named.get(key, "") for key in _TAP_PLACES)):
        if place:
            return str(place[1])
    is_told = "file" in named and named.get("line", "").isdigit()
    return f"{named['file']}:{named['line']}" if is_told else ""


def _place_of(lines: Iterable[str]) -> str:
    """The place of an exception: in its first own frame, or where the trace ends."""
    places = [
        (line.lstrip()[:3] == "at ", place) for line in lines if (place := place_in(line.strip()))
    ]
    frames = [place for is_frame, place in places if is_frame]
    return next(iter(frames), "") or next((place for _, place in reversed(places)), "")


def _said_in(block: list[str]) -> str:
    """The message of a test's block; one that ends with a colon includes the values after it."""
    at, message = next(((n, m[1]) for n, m in enumerate(map(_TAP_SAYS.match, block)) if m), (0, ""))
    if message in ("|-", "|", ">-"):
        at, message = at + 1, "".join(block[at + 1 : at + 2]).strip()
    below = [*itertools.takewhile(lambda line: line.strip() != "...", block[at + 1 :])]
    for form in _TAP_VALUES if message.endswith(":") else ():
        if values := [value[1] for value in map(form.match, below) if value][:2]:
            return f"{message} {', '.join(values)}"
    return message


def _of_tree(text: str) -> list[Unit]:
    """The tests in a tree, else the findings of a linter or scanner."""
    tree = objects.tree(text)
    if tree is None or objects.is_settings(text):
        return []
    if "test" in text[:_BEGINNING].lower() and (ran := results(tree)):
        lines = _lines_of(text, (test.name[-_PART:] for test in ran))
        return _of_tests([test._replace(line=n) for test, n in zip(ran, lines, strict=True)])
    messages = findings(tree)
    lines = _lines_of(text, ((m.said or m.code)[:_PART] for m in messages))
    placed = [m._replace(line=n) for m, n in zip(messages, lines, strict=True)]
    return diagnostics.units(placed)


def findings(tree: Any) -> list[Diagnostic]:
    """The findings of a linter or scanner: what is wrong, how bad it is, where, by which rule.

    Entries of a log, which have a time, do not count.
    """
    entries = [hit for hit in tree if isinstance(hit, dict)] if isinstance(tree, list) else []
    if sum(not _TIMES.isdisjoint(entry) for entry in entries) * 2 > len(entries):
        return []
    wrong = []
    for hit in objects.findings(tree, _graded):
        place = f"{hit.file}:{hit.line}" if hit.file and hit.line else hit.file or hit.package
        is_told = hit.title or (hit.code and hit.package)
        is_somewhere = hit.line or hit.package
        is_named = hit.code or (hit.grade and is_somewhere)
        if place and is_told and is_named:
            level = {"error": "error", "note": ""}.get(hit.grade, "warning")
            wrong.append(Diagnostic(1, place, level, hit.code, hit.title, severity=hit.severity))
    return wrong


def _graded(key: str, word: str) -> str:
    """The grade of a word; a bare number is one only under the name severity."""
    return _GRADES.get(word.lower(), "") if word.isalpha() or key == "severity" else ""


def results(tree: Any) -> list[Test]:
    """The tests that were run, without the suites that contain others."""
    if isinstance(tree, dict) and isinstance(tree.get("stats"), dict):  # mocha lists each twice
        tree = {name: tree[name] for name in _LISTS if name in tree} or tree
    return list(_results(tree, "", 0))


def _results(value: Any, listed: str, depth: int) -> Iterator[Test]:
    inner: list[Test] = []
    for name, child in value.items() if isinstance(value, dict) else (("", v) for v in value):
        if isinstance(child, dict | list) and depth < _DEEPEST:
            inner += _results(child, _LISTS.get(name, "") or listed * (not name), depth + 1)
    yield from inner
    case = _of_suite(value) or ([] if inner else value)
    if isinstance(case, dict) and (own := _result(case, listed)):
        yield own


def _of_suite(suite: Any) -> dict[str, Any]:
    """A suite that fails as such, in its setup, as a test of its name; or empty."""
    is_suite = isinstance(suite, dict) and suite.get(objects.TAG) == "testsuite"
    wrong = {key: suite[key] for key in _CASES if is_suite and isinstance(suite.get(key), list)}
    told = {key: suite[key] for key in ("name", objects.LINES) if wrong and key in suite}
    return wrong and {**wrong, **told, objects.TAG: "testcase"}


def _result(case: dict[str, Any], listed: str) -> Test | None:
    parts = (objects.first(case, ("classname",)), objects.first(case, _NAMES))
    name = ".".join(filter(None, parts))
    words = (objects.first(case, (key,)).lower() for key in _CONCLUDED)
    result = listed or next((_RESULTS[word] for word in words if word in _RESULTS), "")
    if case.get(objects.TAG) == "testcase":
        result = next((_CASES[key] for key in _CASES if key in case), result or "passed")
    if not name or not result:
        return None
    message = ""
    if result in ("failed", "error"):
        below = (text for inner in _below(case) if (text := objects.first(inner, _SAYS)))
        place = [value for key in ("file", "line") if (value := objects.first(case, (key,)))]
        traces = objects.told([case[key] for key in (*_CASES, *_SAYS) if key in case])
        lines = "\n".join(traces).strip().split("\n")
        message = next(below, "") or objects.first(case, _SAYS) or lines[0]
        message, where = cut(message, _LONGEST), _place_of(lines)
        message = with_place(message, ":".join(place) if len(place) > 1 else where)
    return Test(case.get(objects.LINES, (1,))[0], name, result, message)


def _below(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects in an object, the nearest first; only the first of each list."""
    level = [case]
    for _ in range(_DEEPEST_TEXT):
        firsts = [v[0] if isinstance(v, list) and v else v for o in level for v in o.values()]
        level = [inner for inner in firsts if isinstance(inner, dict)][:_WIDEST]
        yield from level


def _lines_of(text: str, texts: Iterable[str]) -> Iterator[int]:
    """The line, from 1, where each text occurs next; the line before if it is not near."""
    at, line = 0, 1
    for part in texts:
        there = text.find(part, at, at + _NEAR)
        if there >= 0:
            line += text.count("\n", at, there)
            at = there
        yield line
