"""Results in a format of their own: JSON and XML of test runners, linters and scanners; TAP."""

from __future__ import annotations

import functools
import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import diagnostics, objects
from contextkit.text.digests.reading import Unit, cut
from contextkit.text.patterns import Pattern

_TAP = Pattern(
    r"^( *)(not )?ok\b(?: (\d+))?(?: -)? ?(.*?)(?: # (SKIP|TODO|skip|todo)\b.*)?(?: # time=.*)?$"
)
_TAP_SAYS = Pattern(r"^\s*(?:#\s+Failure:|message:|error:) *['\"]?(.+?)['\"]?$")
_TAP_AT = Pattern(r"^\s*(?:location|at|file): *['\"]?(\S+:\d+(?::\d+)?)['\"]?$")
_GO_SAYS = Pattern(r"\s*\S+\.go:\d+: ")
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
    if re.search(r"^TAP version|^1\.\.\d+", text[:4000], re.M):
        return _of_tests(list(_tap(text)))
    return _of_tree(text)


def _of_tests(tests: list[Test]) -> list[Unit]:
    """The counts of the results, then the tests that failed."""
    if not tests:
        return []
    counts = [(sum(one.result == result for one in tests), result)
              for result in ("failed", "error", "skipped", "passed")]  # fmt: skip
    said = ", ".join(f"{count} {result}" for count, result in counts if count)
    found = [Unit(1, "tests", f"{said} of {len(tests)}", 3.0, 1, "tests", key=True, derived=True)]
    for one in tests:
        if one.result in ("failed", "error"):
            shown = cut(" ".join(f"{one.name}: {one.said}".rstrip(": ").split()), _LONGEST)
            found.append(Unit(one.line, one.result, shown, 2.5, 3, one.result, one.name))
    return found


def _go(text: str) -> list[Test]:
    """The tests of `go test -json`, each with what it printed; a package that failed otherwise."""
    import json

    printed: dict[tuple[str, str], list[str]] = {}
    found: list[Test] = []
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
            said = [line for line in lines if _GO_SAYS.match(line)] or lines if key[1] else []
            if key[1] or not any(test.name.startswith(key[0]) for test in found):
                name = f"{key[0]}.{key[1]}".rstrip(".")
                found.append(Test(number, name, result, " ".join(said[:3])))
    return found


def _tap(text: str) -> Iterator[Test]:
    """The tests of TAP with what their blocks say; of subtests, the inner ones."""
    lines = text.split("\n")
    depths: list[int] = []  # of the results above that may be inside the next one
    for number, line in enumerate(lines):
        found = _TAP.match(line)
        if not found:
            continue
        depth = len(found[1])
        has_inner = bool(depths) and depths[-1] > depth
        depths = [one for one in depths if one <= depth] + [depth]
        if has_inner:
            continue
        said = place = ""
        for below in lines[number + 1 : number + 30]:
            if _TAP.match(below):
                break
            if said == "|-":
                said = below.strip()
            said = said or (m[1] if (m := _TAP_SAYS.match(below)) else "")
            place = place or (m[1] if (m := _TAP_AT.match(below)) else "")
        result = "skipped" if found[5] else "failed" if found[2] else "passed"
        place = f" ({place})" if place else ""
        yield Test(number + 1, found[4], result, f"{said}{place}" if found[2] else "")


def _of_tree(text: str) -> list[Unit]:
    """The tests in a tree, else what a linter or scanner reports in it."""
    tree = objects.tree(text)
    if tree is None:
        return []
    at = _Finder(text)
    ran = [Test(at.line(one.name[-_PART:]), *one) for one in objects.results(tree)]
    if ran and "test" in text[:_BEGINNING].lower():
        return _of_tests(ran)
    found = objects.findings(tree)
    lines = [at.line((one.said or one.code)[:_PART]) for one in found]
    return diagnostics.units(
        [one._replace(line=line) for one, line in zip(found, lines, strict=True)]
    )


class _Finder:
    """Looks for one thing below the other in a text."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def line(self, said: str) -> int:
        """The line, from 1, of the next place that says it; the last one where none is near."""
        there = self._text.find(said, self._at, self._at + _NEAR)
        if there >= 0:
            self._line += self._text.count("\n", self._at, there)
            self._at = there
        return self._line
