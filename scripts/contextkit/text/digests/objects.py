"""JSON and XML as one kind of tree, and the objects in it that are findings or results of tests.

    tree = objects.tree(text)         dicts, lists and values; None if the text is neither
    objects.findings(tree)            what a linter or scanner reports
    objects.results(tree)             what was run, and whether it passed

Every tool has its own names for the same few parts, and puts some of them one object deeper. So an
object is known by the parts it has; a place or a package may be that of an object around it.
"""

from __future__ import annotations

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Element, Iterator
from contextkit.text.digests.diagnostics import Diagnostic
from contextkit.text.digests.kinds import json as json_kind
from contextkit.text.digests.reading import cut


def _by_word(words: dict[str, str]) -> dict[str, str]:
    """The key of each word in its value."""
    return {word: key for key, listed in words.items() for word in listed.split()}


_TAG = "<>"  # the key of an XML element's name
_DEEPEST, _DEEPEST_XML, _WIDEST = 9, 40, 40
_LONGEST, _LONGEST_CODE = 240, 100  # characters

_FILES = ("path", "file", "filename", "filePath", "uri", "fileName", "file_path", "file_name")
_LINES = ("line", "row", "startLine", "line_number", "lineNumber", "start_line", "beginline")
_CODES = ("ruleId", "rule", "rule_id", "check_id", "test_id", "VulnerabilityID", "symbol",
          "messageId", "warning_type", "code", "id")  # fmt: skip
_TITLES = ("title", "Title", "summary", "query_name", "message", "Message", "text", "issue_text",
           "msg", "description", "Description", "details")  # fmt: skip
_LEVELS = ("severity", "Severity", "issue_severity", "level", "type", "confidence", "priority")
_PACKAGES = ("PkgName", "module_name", "package_name", "packageName", "package", "artifact")
_VERSIONS = ("version", "InstalledVersion")
_TIMES = ("time", "timestamp", "ts", "@timestamp", "asctime")
_SEVERITIES = _by_word({
    "error": "2 error high critical blocker fatal",
    "warning": "1 warning warn medium moderate major",
    "": "0 info low minor note style weak none informational negligible unknown hint convention"
    " refactor",
})  # fmt: skip

_RESULTS = _by_word({
    "passed": "passed pass ok success successful",
    "failed": "failed fail failure broken",
    "error": "error errored",
    "skipped": "skipped skip pending ignored disabled notexecuted todo inconclusive",
})  # fmt: skip
_CONCLUDED = ("conclusion", "outcome", "result", "status", "state")
_NAMES = ("fullTitle", "fullName", "fullname", "nodeid", "testName", "name", "title")
_CASES = {"failure": "failed", "error": "error", "skipped": "skipped"}  # inside JUnit's testcase
_LISTS = {"failures": "failed", "pending": "skipped", "passes": "passed"}  # of mocha
_SAYS = ("message", "Message", "failureMessages", "longrepr", "text", "error")


class Result(NamedTuple):
    """What was run, with its result: `passed`, `failed`, `error` or `skipped`."""

    name: str
    result: str
    said: str = ""


class _Around(NamedTuple):
    """What an object takes from those around it."""

    file: str = ""
    line: str = ""
    package: str = ""


def tree(text: str) -> Any:
    """The value of a text, of all its lines if each is one; None if it is neither JSON nor XML."""
    bare = text.strip("\ufeff \t\r\n")
    if bare[:1] in ("{", "["):
        return json_kind.parsed(bare)
    return _xml(bare) if bare[:1] == "<" and bare[-1:] == ">" else None


def _xml(text: str) -> Any:
    """An XML document as a dict; an entity is refused, since it may expand without end."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return None
    from xml.etree import ElementTree

    try:
        return _of_element(ElementTree.fromstring(text), 0)
    except (ElementTree.ParseError, ValueError):
        return None


def _of_element(one: Element, depth: int) -> dict[str, Any]:
    """An element's attributes and text, and a list for each name of the elements in it."""
    inside: dict[str, list[Any]] = {}
    for inner in one if depth < _DEEPEST_XML else ():
        is_plain = not len(inner) and not inner.attrib
        value = (inner.text or "").strip() if is_plain else _of_element(inner, depth + 1)
        inside.setdefault(_bare(inner.tag), []).append(value)
    text = {"text": one.text.strip()} if one.text and one.text.strip() else {}
    return {_TAG: _bare(one.tag), **one.attrib, **text, **inside}


def _bare(name: str) -> str:
    return name.rpartition("}")[2]


def _value(value: Any) -> str:
    """A value that can be told, or the first of a list of them; '' if it is none."""
    value = value[0] if isinstance(value, list) and value else value
    told = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if told else ""


def _first(objects: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    """The value that has one of the names, in the nearest of the objects."""
    return next((v for one in objects for name in names if (v := _value(one.get(name)))), "")


def _near(one: dict[str, Any], depth: int = 1) -> list[dict[str, Any]]:
    """The object, and the objects in it; of each list in it, the first."""
    found, level = [one], [one]
    for _ in range(depth):
        firsts = [v[0] if isinstance(v, list) and v else v for o in level for v in o.values()]
        level = [inner for inner in firsts if isinstance(inner, dict)][:_WIDEST]
        found += level
    return found


def _below(value: Any) -> Iterator[Any]:
    """The objects and lists directly below one."""
    inside = value.values() if isinstance(value, dict) else value
    return (one for one in inside if isinstance(one, dict | list))


# Findings


def findings(value: Any) -> list[Diagnostic]:
    """What a linter or scanner reports: what is wrong, how bad it is, and where or by which rule.

    Entries of a log, which have a time, are none.
    """
    if isinstance(value, list) and sum(_is_timed(one) for one in value) * 2 > len(value):
        return []
    if isinstance(value, dict) and isinstance(
        value.get("runs"), list
    ):  # SARIF lists its rules, too
        value = [run.get("results") for run in value["runs"] if isinstance(run, dict)]
    return list(_findings(value, _Around(), 0))


def _is_timed(one: Any) -> bool:
    return isinstance(one, dict) and any(name in one for name in _TIMES)


def _findings(value: Any, around: _Around, depth: int) -> Iterator[Diagnostic]:
    if isinstance(value, dict):
        around = _seen_from(value, around)
        if depth and (one := _finding(value, around)):
            yield one
            return
    for inner in _below(value) if depth < _DEEPEST else ():
        yield from _findings(inner, around, depth + 1)


def _seen_from(one: dict[str, Any], around: _Around) -> _Around:
    """What the objects in `one` take from it, and from those around it."""
    packed = next((one[name] for name in _PACKAGES if isinstance(one.get(name), dict)), one)
    package = _first([one], _PACKAGES)
    if packed is not one or (not package and "severity" in one):
        package = _first([packed], ("name",))
    named = _first([one], ("name",)) if one.get(_TAG) == "file" else ""
    return _Around(
        file=named or _first([one], _FILES) or around.file,
        line=_first([one], _LINES) or around.line,
        package=f"{package} {_first([packed], _VERSIONS)}".strip() if package else around.package,
    )


def _finding(one: dict[str, Any], around: _Around) -> Diagnostic | None:
    """The finding that an object is; its severity and rule are its own or of an object in it."""
    own = [one, *(value for value in one.values() if isinstance(value, dict))]
    severity, code = _severity(own), _code(own)
    if not severity and not code:
        return None
    said, near = _first(_near(one), _TITLES), _near(one, 3)
    file = _first(near, _FILES)
    line = _first(near, _LINES) if file else around.line
    file = file or around.file
    place = (f"{file}:{line}" if line else file) or around.package
    if severity:
        is_one = place and (said or code) and (line or code or around.package)
    else:
        is_one = file and line and said
    if not is_one:
        return None
    level = _SEVERITIES.get(severity.lower(), "warning")
    return Diagnostic(1, place, level, code, said, severity=severity)


def _severity(objects: list[dict[str, Any]]) -> str:
    """How bad it is, in the tool's word; a bare number says so only if it is called a severity."""
    for name in _LEVELS:
        for value in filter(None, (_value(one.get(name)) for one in objects)):
            if value.lower() in _SEVERITIES and (value.isalpha() or name == "severity"):
                return value
    return ""


def _values(objects: list[dict[str, Any]], names: tuple[str, ...]) -> Iterator[str]:
    return (v for name in names for one in objects if (v := _value(one.get(name))))


def _code(objects: list[dict[str, Any]]) -> str:
    """The name of a rule or of a known weakness."""
    named = (one for one in _values(objects, _CODES) if len(one) <= _LONGEST_CODE)
    return next((one for one in named if " " not in one or one.istitle()), "")


# Results


def results(value: Any) -> list[Result]:
    """What was run; something in which others were run is none of its own."""
    if isinstance(value, dict) and isinstance(value.get("stats"), dict):  # mocha lists each twice
        value = {name: value[name] for name in _LISTS if name in value} or value
    return list(_results(value, "", 0))


def _results(value: Any, listed: str, depth: int) -> Iterator[Result]:
    inner: list[Result] = []
    for name, one in value.items() if isinstance(value, dict) else (("", v) for v in value):
        if isinstance(one, dict | list) and depth < 3 * _DEEPEST:
            inner += _results(one, _LISTS.get(name, "") or listed * (not name), depth + 1)
    yield from inner
    if isinstance(value, dict) and not inner and (own := _result(value, listed)):
        yield own


def _result(one: dict[str, Any], listed: str) -> Result | None:
    name = ".".join(filter(None, (_value(one.get("classname")), _first([one], _NAMES))))
    words = (v.lower() for v in _values([one], _CONCLUDED))
    result = listed or next((_RESULTS[word] for word in words if word in _RESULTS), "")
    if one.get(_TAG) == "testcase":
        result = next((_CASES[key] for key in _CASES if key in one), result or "passed")
    if not name or not result:
        return None
    said = ""
    if result in ("failed", "error"):
        inside = _near(one, 3)[1:]
        said = _first(inside, _SAYS) or _first([one], _SAYS)
        file, line = _first([one], _FILES), _first([one], _LINES)
        said = cut(said, _LONGEST) + (f" ({file}:{line})" if file and line else "")
    return Result(name, result, said)
