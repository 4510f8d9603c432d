"""Results in a format of their own: JSON and XML of test runners, linters and scanners; TAP."""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.text import objects
from contextkit.text.digests import diagnostics
from contextkit.text.digests.diagnostics import Diagnostic
from contextkit.text.digests.reading import Unit, cut
from contextkit.text.patterns import Pattern

_TAP = Pattern(
    r"^( *)(not )?ok\b(?: (\d+))?(?: -)? ?(.*?)(?: # (SKIP|TODO|skip|todo)\b.*)?(?: # time=.*)?$"
)
_TAP_BEGINS = Pattern(r"^TAP version|^1\.\.\d+", re.M)
_TAP_PLAN = Pattern(r"^1\.\.(\d+)$", re.M)
_TAP_COMMENT = Pattern(r"\s*#(?! Subtest)")
_SUMMED_UP = Pattern(r"^Files=\d+, Tests=\d+", re.M)  # by prove, beside what the tests print
_TAP_COUNTS = Pattern(r"^# (tests|pass|fail|cancelled|skipped|todo) (\d+)$", re.M)
_TAP_WORDS = {"fail": "failed", "cancelled": "cancelled", "skipped": "skipped", "todo": "todo",
              "pass": "passed"}  # fmt: skip
_TAP_SAYS = Pattern(r"^\s*(?:#\s+Failure:|message:|error:) *['\"]?(.+?)['\"]?$")
_TAP_VALUES = (  # named, behind signs, or else what comes next
    Pattern(r"\s*((?:actual|expected|found|wanted|got|received): \S.*)$"),
    Pattern(r"\s*([-+] +(?!actual|expected)\S.*)$"),
    Pattern(r"\s*(?!\+ actual )(\S.*)$"),
)
_BLOCK = 40  # lines of a test's block
_TAP_AT = Pattern(r"^\s*(?:location|at|file): *['\"]?(\S+:\d+(?::\d+)?)['\"]?$")
_IN_FILE = Pattern(r"^\(.*\bfile (\S+), line (\d+)\)")
_SOURCE = Pattern(r"`.*' failed")
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
_CASES = {"failure": "failed", "error": "error", "skipped": "skipped"}  # inside JUnit's testcase
_LISTS = {"failures": "failed", "pending": "skipped", "passes": "passed"}  # of mocha
_SAYS = ("message", "Message", "failureMessages", "longrepr", "text", "error")
_TIMES = frozenset(("time", "timestamp", "ts", "@timestamp", "asctime"))
_DEEPEST, _DEEPEST_TEXT, _WIDEST = 30, 3, 40  # levels; objects of a level that are looked at
_LONGEST, _PART, _BEGINNING, _NEAR = 240, 30, 4000, 50_000  # characters


class Test(NamedTuple):
    """A test with its result, `passed`, `failed`, `error` or `skipped`; `line` is from 1."""

    line: int
    name: str
    result: str
    said: str = ""


def confidence(text: str) -> int:
    """By reading it."""
    return 95 if units(text) else 0


@functools.lru_cache(maxsize=1)
def units(text: str) -> list[Unit]:
    """The counts, then every failed test with what it says, or every message of a linter."""
    if '"Action":' in text[:2000] and '"Package":' in text[:4000]:
        return _of_tests(_go(text))
    if _TAP_BEGINS.search(text[:4000]) and not _SUMMED_UP.search(text[-4000:]):
        tests, plan = list(_tap(text)), _TAP_PLAN.search(text)
        not_run = int(plan[1]) - len(tests) if plan else 0
        return _of_tests(tests, dict(_TAP_COUNTS.findall(text[-4000:])), not_run)
    return _of_tree(text)


def _of_tests(
    tests: list[Test], stated: dict[str, str] | None = None, not_run: int = 0
) -> list[Unit]:
    """The counts of the results, as the tool states them if it does; then the tests that failed."""
    if not tests:
        return []
    counts = {result: sum(test.result == result for test in tests)
              for result in ("failed", "error", "skipped", "passed")}  # fmt: skip
    stated = stated or {}
    counts |= {"not run": max(0, not_run)}
    counts = {
        _TAP_WORDS[word]: int(stated[word]) for word in _TAP_WORDS if word in stated
    } or counts
    total = stated.get("tests", sum(counts.values()))
    text = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
    units = [Unit(1, "tests", f"{text} of {total}", 3.0, 1, "tests", key=True, derived=True)]
    for test in tests:
        if test.result in ("failed", "error"):
            shown = cut(" ".join(f"{test.name}: {test.said}".rstrip(": ").split()), _LONGEST)
            units.append(Unit(test.line, test.result, shown, 2.5, 3, test.result, test.name))
    return units


def _go(text: str) -> list[Test]:
    """The tests of `go test -json`, each with what it printed; a package that failed otherwise."""
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
        if action == "output":
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
    """The tests of TAP with what their blocks say; of subtests, the inner ones."""
    lines = text.split("\n")
    depths: list[int] = []  # of the results above that may be inside the next one
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
        below = lines[number + 1 : number + 1 + _BLOCK]
        block = [*itertools.takewhile(lambda line: not _TAP.match(line), below)]
        message = _said_in(block)
        place = next((at[1] for at in map(_TAP_AT.match, block) if at), "")
        comments = itertools.takewhile(_TAP_COMMENT.match, below)
        said = [comment.lstrip(" #") for comment in comments]
        place = place or next((f"{m[1]}:{m[2]}" for m in map(_IN_FILE.search, said) if m), "")
        message = message or " ".join(_worth_saying(said))
        result = "skipped" if match[5] else "failed" if match[2] else "passed"
        place = f" ({place})" if place else ""
        yield Test(number + 1, match[4], result, f"{message}{place}" if match[2] else "")


def _said_in(block: list[str]) -> str:
    """What the block of a test says; a message that leads on with the values that it is about."""
    at, said = next(((n, m[1]) for n, m in enumerate(map(_TAP_SAYS.match, block)) if m), (0, ""))
    if said in ("|-", "|", ">-"):
        at, said = at + 1, "".join(block[at + 1 : at + 2]).strip()
    below = [*itertools.takewhile(lambda line: line.strip() != "...", block[at + 1 :])]
    for form in _TAP_VALUES if said.endswith(":") else ():
        if values := [value[1] for value in map(form.match, below) if value][:2]:
            return f"{said} {', '.join(values)}"
    return said


def _worth_saying(comments: list[str]) -> list[str]:
    """What a test printed, without its place and its source, which is told if there is no more."""
    printed = [said for said in comments if not _IN_FILE.search(said)]
    return [said for said in printed if not _SOURCE.match(said)] or printed


def _of_tree(text: str) -> list[Unit]:
    """The tests in a tree, else what a linter or scanner reports in it."""
    tree = objects.tree(text)
    if tree is None or objects.is_settings(text):
        return []
    if "test" in text[:_BEGINNING].lower() and (ran := results(tree)):
        lines = _lines_of(text, (one.name[-_PART:] for one in ran))
        return _of_tests([one._replace(line=n) for one, n in zip(ran, lines, strict=True)])
    found = findings(tree)
    lines = _lines_of(text, ((one.said or one.code)[:_PART] for one in found))
    placed = [one._replace(line=n) for one, n in zip(found, lines, strict=True)]
    return diagnostics.units(placed)


def findings(tree: Any) -> list[Diagnostic]:
    """What a linter or scanner reports: what is wrong, how bad it is, where, by which rule.

    Entries of a log, which have a time, are none.
    """
    entries = [one for one in tree if isinstance(one, dict)] if isinstance(tree, list) else []
    if sum(not _TIMES.isdisjoint(entry) for entry in entries) * 2 > len(entries):
        return []
    wrong = []
    for one in objects.findings(tree, _graded):
        place = f"{one.file}:{one.line}" if one.file and one.line else one.file or one.package
        is_told = one.title or (one.code and one.package)
        is_somewhere = one.line or one.package
        is_named = one.code or (one.grade and is_somewhere)
        if place and is_told and is_named:
            level = {"error": "error", "note": ""}.get(one.grade, "warning")
            wrong.append(Diagnostic(1, place, level, one.code, one.title, severity=one.severity))
    return wrong


def _graded(key: str, word: str) -> str:
    """The grade of a word; a bare number says one only if it is called a severity."""
    return _GRADES.get(word.lower(), "") if word.isalpha() or key == "severity" else ""


def results(tree: Any) -> list[Test]:
    """What was run; something in which others were run is none of its own."""
    if isinstance(tree, dict) and isinstance(tree.get("stats"), dict):  # mocha lists each twice
        tree = {name: tree[name] for name in _LISTS if name in tree} or tree
    return list(_results(tree, "", 0))


def _results(value: Any, listed: str, depth: int) -> Iterator[Test]:
    inner: list[Test] = []
    for name, child in value.items() if isinstance(value, dict) else (("", v) for v in value):
        if isinstance(child, dict | list) and depth < _DEEPEST:
            inner += _results(child, _LISTS.get(name, "") or listed * (not name), depth + 1)
    yield from inner
    if isinstance(value, dict) and not inner and (own := _result(value, listed)):
        yield own


def _result(one: dict[str, Any], listed: str) -> Test | None:
    parts = (objects.first(one, ("classname",)), objects.first(one, _NAMES))
    name = ".".join(filter(None, parts))
    words = (objects.first(one, (key,)).lower() for key in _CONCLUDED)
    result = listed or next((_RESULTS[word] for word in words if word in _RESULTS), "")
    if one.get(objects.TAG) == "testcase":
        result = next((_CASES[key] for key in _CASES if key in one), result or "passed")
    if not name or not result:
        return None
    message = ""
    if result in ("failed", "error"):
        below = (text for inner in _below(one) if (text := objects.first(inner, _SAYS)))
        place = [value for key in ("file", "line") if (value := objects.first(one, (key,)))]
        message = cut(next(below, "") or objects.first(one, _SAYS), _LONGEST)
        message += f" ({':'.join(place)})" if len(place) > 1 else ""
    return Test(1, name, result, message)


def _below(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects in an object, the nearest first; of each list, the first."""
    level = [one]
    for _ in range(_DEEPEST_TEXT):
        firsts = [v[0] if isinstance(v, list) and v else v for o in level for v in o.values()]
        level = [inner for inner in firsts if isinstance(inner, dict)][:_WIDEST]
        yield from level


def _lines_of(text: str, said: Iterable[str]) -> Iterator[int]:
    """The line, from 1, of the next place that says each; the last one where none is near."""
    at, line = 0, 1
    for one in said:
        there = text.find(one, at, at + _NEAR)
        if there >= 0:
            line += text.count("\n", at, there)
            at = there
        yield line
