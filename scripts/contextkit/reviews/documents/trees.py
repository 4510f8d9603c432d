"""The findings in objects: of JSON, SARIF, XML, YAML, CSV, and of tags in a text.

{"severity": "high", …}      what has a grade and words; `contextkit.text.objects` finds them
{"src/a.ts": [{…}]}          a key that is a file is the place of what stands below it
{"status": "fixed", …}       what is done with is left out: `still_open`
"""

from __future__ import annotations

import re

from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import phrases, shapes, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.shapes import Place
from contextkit.text import objects
from contextkit.text.patterns import Pattern

_OBJECT_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_TYPES = ("blocker", "critical", "high", "medium", "low")  # that are a severity
_KEYS = ("severity", "risk", "criticality", "title", "headline", "message", "file", "path", "line",
         "level")  # fmt: skip
_NAMED = ("query", "rule", "check", "issue", "finding", "problem", "vulnerability", "weakness")
_ITEM, _BEGINS = Pattern(r"\s*(?:- )?[\w-]+: "), Pattern(r"\s*- ")  # a line of YAML, and of a list
_ONE_SENTENCE = 140  # characters
_DEEPEST = 40  # objects in objects
_AHEAD = 2_000  # lines in which the next finding is looked for


def still_open(tree: Any, depth: int = 0) -> Any:
    """Return a tree without the objects in its lists that are done with: `"status": "fixed"`."""
    if depth > _DEEPEST:
        return tree
    if isinstance(tree, dict):
        told = {key: value for key, value in tree.items() if not isinstance(value, dict | list)}
        plain = {_plain_key(str(key), tree): value for key, value in told.items()}
        named = tree | {key: value for key, value in plain.items() if key not in tree}
        return {key: still_open(_in_file(key, value), depth + 1) for key, value in named.items()}
    if not isinstance(tree, list):
        return tree
    return [still_open(item, depth + 1) for item in tree if not _is_over(item)]


def _is_over(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    words = map(item.get, ("status", "state", "resolution"))
    is_done = any(isinstance(word, str) and phrases.is_done(word) for word in words)
    return is_done or item.get("resolved") is True or item.get("unresolved") is False


def _in_file(key: str, value: Any) -> Any:
    """Return what stands under the name of a file with that name: `{"src/a.ts": [{…}]}`."""
    if shapes.place_in(key).file != key:
        return value
    if isinstance(value, list):
        return [_in_file(key, item) for item in value]
    return {"file": key} | value if isinstance(value, dict) else value


def _plain_key(key: str, others: dict[str, Any]) -> str:
    """Return the word of a key that says what its value is: `file` of `source_file`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_")
    is_name = words[-1] == "name" and words[0] in _NAMED
    told = (others.get(key) for key in ("message", "description", "details")) if is_name else ()
    is_told = any(isinstance(text, str) and len(text) < _ONE_SENTENCE for text in told)
    if (is_name and not is_told) or words == ["headline"]:
        return "title"
    if words in (["note"], ["remark"]):
        return "message"
    known = next(filter(_KEYS.__contains__, words), key)
    return known if len(words) == 2 and words[0] not in ("end", "last") else key


def of_object(told: objects.Found) -> Finding | None:
    """The finding of an object; a comment beside a line says in its words how bad it is."""
    title = told.title or told.name
    head = shapes.head_of(title)
    severity = told.grade or (head.severity if head.marked else "")
    rows = told.body.strip().split("\n")
    if not severity:  # of its text, which is a small review
        severity = next(filter(None, map(shapes.label_in, rows[:12])), "")
        title = rows[0] or title
    if not severity:
        return None
    identity = told.id if vocabulary.is_id(told.id) else ""
    file = re.sub(r"^[\w.-]{2,80}:(?=[\w./-]+$)", "", told.file)  # of its project
    place = Place(file, told.line) if file else shapes.place_in(title)
    return shapes.finding(severity, title, *told.lines, place, identity)


def graded(key: str, word: str) -> str:
    if key in ("type", "confidence"):  # of a bot, mostly no severity
        return vocabulary.severity(word) if key == "type" and word.lower() in _TYPES else ""
    if key == "priority" and word in ("0", "1", "2", "3"):
        return f"P{word}"
    return vocabulary.of_tool(word) or (_OBJECT_NUMBERS.get(word, "") if key == "severity" else "")


def placed(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with the lines of their objects: those around the next such title."""
    rows = text.split("\n")
    plain = [row.replace('\\"', '"') for row in rows]
    is_json = next(filter(str.strip, rows), "").lstrip("\ufeff \t")[:1] in ("{", "[")
    start = 0
    for finding in findings:
        if finding.line:
            yield finding
            continue
        ahead = range(start, min(start + _AHEAD, len(rows)))
        begins = "\0" if is_json else " ".join(finding.title.split()[:2])  # a cell may go on below
        there = (at for words in (finding.title[:40], begins) for at in ahead if words in plain[at])
        at = next(there, -1)
        start = max(start, at)
        first = last = min(start, len(rows) - 1)
        if is_json and at >= 0:
            above = range(at, max(-1, at - 31), -1)
            below = range(at, min(len(rows), at + 31))
            first = next((number for number in above if "{" in rows[number]), above[-1])
            last = next((number for number in below if "}" in rows[number]), below[-1])
        elif at >= 0 and _ITEM.match(rows[at]):
            first, last = _item(rows, at)
        yield finding.replace(line=first + 1, end=last + 1)


def _item(rows: list[str], at: int) -> tuple[int, int]:
    """The first and last line of the item of YAML that a line is in, of at most 31 each way."""
    first = next((n for n in range(at, max(-1, at - 31), -1) if _BEGINS.match(rows[n])), at)
    depth = len(rows[first]) - len(rows[first].lstrip())
    ahead = range(at + 1, min(len(rows), at + 31))
    out = (n for n in ahead if rows[n].strip() and not rows[n].startswith(" " * (depth + 1)))
    last = next(out, ahead.stop) - 1
    return first, next((n for n in range(last, at, -1) if rows[n].strip()), at)
