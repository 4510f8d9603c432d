"""Results in a format of their own: JUnit XML, `go test -json`, TAP, linters' JSON, SARIF."""

from __future__ import annotations

import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Element, Iterator
from contextkit.text.digests import diagnostics
from contextkit.text.digests.diagnostics import Diagnostic
from contextkit.text.digests.kinds import json as json_kind
from contextkit.text.digests.reading import Pattern, Unit, cut

_XML = Pattern(r"\s*(?:<\?xml[^>]*>\s*)?<testsuites?\b")
_TAP = Pattern(
    r"^( *)(not )?ok\b(?: (\d+))?(?: -)? ?(.*?)(?: # (SKIP|TODO|skip|todo)\b.*)?(?: # time=.*)?$"
)
_TAP_SAYS = Pattern(r"^\s*(?:#\s+Failure:|message:|error:) *['\"]?(.+?)['\"]?$")
_TAP_AT = Pattern(r"^\s*(?:location|at|file): *['\"]?(\S+:\d+(?::\d+)?)['\"]?$")
_GO_SAYS = Pattern(r"\s*\S+\.go:\d+: ")
_PLACED = ("path", "file", "filename", "filePath", "uri", "fileName", "file_path")
_LINES = ("line", "row", "startLine", "line_number", "lineNumber", "start_line")
_CODES = ("ruleId", "rule", "code", "rule_id", "check_id", "test_id", "symbol", "messageId")
_SAID = ("message", "text", "description", "issue_text", "msg")
_LEVELS = ("level", "severity", "type", "issue_severity")
_ERRORS = ("2", "error", "high", "critical", "blocker", "fatal", "none")
_LONGEST, _DEEPEST = 240, 8


class Test(NamedTuple):
    """A test with its result, `passed`, `failed`, `error` or `skipped`; `line` is from 1."""

    line: int
    name: str
    result: str
    said: str = ""


def confidence(text: str) -> int:
    """By reading it."""
    return 95 if units(text) else 0


def units(text: str) -> list[Unit]:
    """The counts, then every failed test with what it says, or every message of a linter."""
    if _XML.match(text[:2000]):
        return _of_tests(_junit(text))
    if '"Action":' in text[:2000] and '"Package":' in text[:4000]:
        return _of_tests(_go(text))
    if re.search(r"^TAP version|^1\.\.\d+", text[:4000], re.M):
        return _of_tests(list(_tap(text)))
    if text.lstrip()[:1] in ("{", "["):
        return _of_linter(text)
    return []


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


def _junit(text: str) -> list[Test]:
    """The test cases of JUnit XML; an entity is refused, since it may expand without end."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return []
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text.strip())
    except ElementTree.ParseError:
        return []
    found, at, line = [], 0, 1
    for case in root.iter("testcase"):
        there = text.find("<testcase", at)
        line, at = line + text.count("\n", at, there), there + 1
        found.append(_case(case, line))
    return found


def _case(case: Element, line: int) -> Test:
    name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
    for tag, result in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        inner = case.find(tag)
        if inner is not None:
            said = inner.get("message") or next(iter((inner.text or "").strip().split("\n")), "")
            place = f" ({case.get('file')}:{case.get('line')})" if case.get("file") else ""
            return Test(line, name, result, said[:_LONGEST] + place)
    return Test(line, name, "passed")


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


def _of_linter(text: str) -> list[Unit]:
    """The messages of a linter, whatever its names for their parts are."""
    value = json_kind.parsed(text.strip())
    found = list(_messages(value, "")) if value is not None else []
    if not found:
        return []
    at = 0
    placed = []
    for one in found:
        there = text.find(one.said[:30], at)
        at = there if there >= 0 else at
        placed.append(one._replace(line=text.count("\n", 0, at) + 1 if len(found) < 200 else 1))
    return diagnostics.units(placed)


def _messages(value: Any, path: str, depth: int = 0) -> Iterator[Diagnostic]:
    if isinstance(value, dict):
        path = str(_first(value, _PLACED) or path)
        if one := _message(value, path):
            yield one
            return
        value = list(value.values())
    if isinstance(value, list) and depth < _DEEPEST:
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _messages(inner, path, depth + 1)


def _message(value: dict[str, Any], path: str) -> Diagnostic | None:
    """The message that an object is, if it has a text, a place, and a code or severity."""
    said, line = _first(value, _SAID), _line_of(value)
    if isinstance(said, dict):
        said = said.get("text")
    if "physicalLocation" in str(value.get("locations", ""))[:200]:  # SARIF
        where = value["locations"][0]["physicalLocation"]
        path = str(where.get("artifactLocation", {}).get("uri", path))
        line = where.get("region", {}).get("startLine", 0)
    level, code = _first(value, _LEVELS), _first(value, _CODES)
    if not (isinstance(said, str) and path and line and (level or code)):
        return None
    kind = "error" if str(level).lower() in _ERRORS else "warning"
    code = code if isinstance(code, str) else ""
    return Diagnostic(1, f"{path}:{line}", kind, code, " ".join(said.split()))


def _first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def _line_of(value: dict[str, Any]) -> Any:
    for inner in (value, value.get("location"), value.get("start"), value.get("range")):
        if isinstance(inner, dict) and (line := _first(inner, _LINES)):
            return line
    return 0
