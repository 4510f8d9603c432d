"""Findings in JSON: SARIF, and what linters, scanners and review bots write.

An object is a finding if it has a severity and words. Its place is in it or in an object around it
(ESLint gives the file once for all its messages).
"""

from __future__ import annotations

import json
import re

from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterator
from contextkit.reviews.documents import vocabulary

_SEVERITY = ("severity", "issue_severity", "priority", "level", "sev", "impact", "importance",
             "severity_level", "risk")  # fmt: skip
_TITLE = ("title", "name", "message", "issue_text", "msg", "summary", "finding", "issue", "problem",
          "text", "description", "body", "what", "details", "comment", "rule", "ruleid", "check_id",
          "header")  # fmt: skip
_FILE = ("path", "file", "filename", "filepath", "file_path", "uri", "component", "location",
         "relevant_file", "absolute_file_path")  # fmt: skip
_LINE = ("line", "line_number", "startline", "start_line", "linenumber", "lineno", "begin_line",
         "relevant_lines_start", "lines", "line_range", "row", "start")  # fmt: skip
_ID = ("id", "key", "rule_id")
_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_WORDS = {"error": "P1", "note": "P3", "none": "P3", "fail": "P1", "failure": "P1"}
_DEEPEST = 40
_MOST = 5_000  # findings
_AHEAD = 2_000  # lines in which the next finding is looked for
_NUMBER = re.compile(r"\d{1,7}")


class Object(NamedTuple):
    """A finding; `first` and `last` are its lines in the text, from 1."""

    severity: str
    id: str
    title: str
    file: str
    line: int
    first: int
    last: int


def findings(text: str) -> list[Object] | None:
    """Return the findings of a JSON text, or of an object a line; None if it is neither."""
    bare = text.removeprefix("\ufeff").strip()
    if bare[:1] not in ("{", "["):
        return None
    try:
        values = [json.loads(bare)]
    except (ValueError, RecursionError):
        try:
            values = [json.loads(line) for line in bare.split("\n") if line.strip()]
        except (ValueError, RecursionError):
            return None
    if all(isinstance(value, (str, int, float)) for value in values):
        return None
    found: list[Object] = []
    lines = text.split("\n")
    search = _Search(lines)
    for value in values:
        for one in _walk(value, "", 0):
            if len(found) == _MOST:
                break
            first, last = search.span(one.title)
            found.append(one._replace(first=first, last=last))
    return found


def verdict(text: str) -> str:
    """Return what a JSON review says it decides, or ''."""
    found = re.search(r'"(?:verdict|decision|status|state)"\s{0,9}:\s{0,9}"([^"\n]{1,60})"', text)
    return found[1] if found else ""


def _walk(value: Any, file: str, depth: int) -> Iterator[Object]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, file, depth + 1)
    elif isinstance(value, dict):
        low = {str(key).lower(): inner for key, inner in value.items()}
        file = _file(low, 0) or file
        one = _finding(low, file)
        if one:
            yield one
            return
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                yield from _walk(inner, file, depth + 1)


def _finding(low: dict[str, Any], file: str) -> Object | None:
    inner = {str(k).lower(): v for name in ("extra", "properties", "metadata", "attributes")
             if isinstance(low.get(name), dict) for k, v in low[name].items()}  # fmt: skip
    severity = _severity({**inner, **low})
    title = _title(low) or _title(inner)
    if not severity or not title or "rules" in low or "defaultconfiguration" in low:
        return None
    identity = next((str(low[key]) for key in _ID if isinstance(low.get(key), (str, int))), "")
    identity = identity if vocabulary.is_id(identity) else ""
    return Object(severity, identity, title, file, _line(low, 0), 1, 1)


def _severity(low: dict[str, Any]) -> str:
    for key in _SEVERITY:
        said = low.get(key)
        if isinstance(said, bool) or not isinstance(said, (str, int)):
            continue
        word = str(said).strip()
        known = vocabulary.severity(word) or _WORDS.get(word.lower(), "")
        known = known or (_NUMBERS.get(word, "") if key == "severity" else "")
        if known:
            return known
    return ""


def _title(low: dict[str, Any]) -> str:
    for key in _TITLE:
        said = low.get(key)
        if isinstance(said, dict):
            said = said.get("text") or said.get("markdown")
        if isinstance(said, str) and sum(map(str.isalpha, said[:80])) > 3:
            return " ".join(said[:2_000].split())[:240]
    return ""


def _file(low: dict[str, Any], depth: int) -> str:
    for key in _FILE:
        said = low.get(key)
        if isinstance(said, str) and ("." in said or "/" in said) and " " not in said.strip():
            return said.strip().removeprefix("file://").removeprefix("./").partition(":")[0]
    return next(filter(None, (_file(each, depth + 1) for each in _parts(low, depth))), "")


def _line(low: dict[str, Any], depth: int) -> int:
    for key in _LINE:
        said = low.get(key)
        said = said[0] if isinstance(said, list) and said else said
        if isinstance(said, (int, str)) and not isinstance(said, bool):
            number = _NUMBER.search(str(said))
            if number:
                return int(number[0])
    for key in _FILE:
        number = re.search(r":(\d{1,7})", low[key]) if isinstance(low.get(key), str) else None
        if number:
            return int(number[1])
    return next(filter(None, (_line(each, depth + 1) for each in _parts(low, depth))), 0)


def _parts(low: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """The objects inside that say where: `location`, `start`, `physicalLocation`, `Pos` …"""
    if depth > 4:
        return
    for key, inner in low.items():
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict) and key in _WHERE:
            yield {str(name).lower(): value for name, value in inner.items()}


_WHERE = frozenset(
    "location locations physicallocation artifactlocation region start pos position range"
    " textrange begin span code primary file".split()
)


class _Search:
    """Finds the lines of each title in turn."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self._at = lines, 0
        self._plain = [line.replace('\\"', '"') for line in lines]

    def span(self, title: str) -> tuple[int, int]:
        """Return the lines of the object around the next line that has this title."""
        words = title[:40]
        for at in range(self._at, min(self._at + _AHEAD, len(self._plain))):
            if words in self._plain[at]:
                self._at = at
                return self._around(at)
        return min(self._at + 1, len(self._lines)), min(self._at + 1, len(self._lines))

    def _around(self, at: int) -> tuple[int, int]:
        if "{" in self._lines[at] and "}" in self._lines[at]:
            return at + 1, at + 1
        first = at
        while first > max(0, at - 30) and "{" not in self._lines[first]:
            first -= 1
        last = at
        while last < min(len(self._lines) - 1, at + 30) and "}" not in self._lines[last]:
            last += 1
        return first + 1, last + 1
