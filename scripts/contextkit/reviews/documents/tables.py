"""Tables and objects: their rows, columns and keys, and the findings in them.

| Severity | File | Line | …     a row, by the heads of its columns
| Severity | High |              a card: labels and values, one in each row
HIGH   src/a.py:4   Race         three columns of a line, of which one is a severity
{"severity": "high", …}          an object of JSON, SARIF, XML, YAML, CSV, or of tags in a text
{"src/a.ts": [{…}]}              a key that is a file is the place of what stands below it
"""

from __future__ import annotations

import itertools
import re

from contextkit.base import markdown
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import heads, index, phrases, places, shapes, vocabulary
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.places import Place
from contextkit.reviews.documents.vocabulary import SERIOUS
from contextkit.text import objects

_NO_SCALES = vocabulary.word_set("no scales")
_GRADES = vocabulary.word_set("grades")
_MEANINGS = vocabulary.word_set("meanings")
_CODED = Pattern(  # a file without a suffix, or a rule before the level
    r"(\S{1,200}:\d{1,7}):? [A-Z]{1,6}\d{2,5} (error|warning|note|info|style): (\S.*)$"
)
_OBJECT_NUMBERS = {"2": "P1", "1": "P2"}  # ESLint
_TYPES = ("blocker", "critical", "high", "medium", "low")  # those that are a severity
_KEYS = ("severity", "risk", "criticality", "title", "headline", "message", "file", "path", "line",
         "level")  # fmt: skip
_NAMED = ("query", "rule", "check", "issue", "finding", "problem", "vulnerability", "weakness")
_ONE_SENTENCE = 140  # characters
_NAME = 3  # least letters in a column without a place
_LETTERS = 3  # of what a legend explains
_DEEPEST = 40  # objects in objects
_LINK_BEHIND = Pattern(r"\s?\bhttps?://\S+$")
_ITEM, _BEGINS = Pattern(r"\s*(?:- )?[\w-]+: "), Pattern(r"\s*- ")  # a line of YAML, and of a list
_AHEAD = 2_000  # lines within which the next finding is searched


def of_cell(cell: str) -> str:
    """The severity of a cell, or of one of its parts: `S1 – Critical`, `High (8.1)`."""
    parts = re.split(r"\s[–—-]\s|[()/:]", cell)
    stated = vocabulary.severity(cell) or vocabulary.strictest(*map(vocabulary.severity, parts))
    return stated or vocabulary.of_tool(cell) or vocabulary.of_score(cell)


class Row(NamedTuple):
    """A row of a table, and its first and last line, counted from 0."""

    cells: list[str]
    first: int
    last: int


def _is_grade(cell: str) -> bool:
    is_sign = not cell[:1].isascii() and bool(vocabulary.severity(cell))
    return is_sign or cell.upper() in _GRADES or bool(vocabulary.of_score(cell))


def _are_grades(cells: list[str]) -> bool:
    """Whether the cells of a column are grades, except for a word such as `Remark` in a few."""
    grades = [*map(_is_grade, cells)]
    are_words = all(
        len(cell.split()) == 1 or told for cell, told in zip(cells, grades, strict=True)
    )
    return bool(cells) and are_words and sum(grades) * 4 >= len(cells) * 3


def table_rows(lines: list[str]) -> list[Row]:
    """The rows of a table; in a drawn one, everything between two rules is one row."""
    made: list[Row] = []
    rows = [markdown.cells(places.unlinked(line.strip())) for line in lines]
    every = [[*map(shapes.cleaned, row)] for row in rows]
    rules = {at for at, cells in enumerate(every) if at and not "".join(cells).strip("-: ")}
    is_drawn = len(rules - {len(lines) - 1}) > 1
    for at, cells in enumerate(every):
        goes_on = bool(made) and is_drawn and rules.isdisjoint((at - 1, at))
        if goes_on:
            joined = itertools.zip_longest(made[-1].cells, cells, fillvalue="")
            made[-1] = Row([" ".join(filter(None, pair)) for pair in joined], made[-1].first, at)
        elif at not in rules:
            made.append(Row(cells, at, at))
    return made


def graded(roles: list[str], rows: list[list[str]]) -> list[str]:
    """The roles of columns, one of them `severity`, by its head or else by all its cells."""
    columns = [[row[at] for row in rows if at < len(row)] for at in range(len(roles))]
    named = [at for at, role in enumerate(roles) if role == "severity"]
    told = [at for at in named if any(map(of_cell, columns[at]))] or named[:1]
    others = [
        at for at, cells in enumerate(columns) if roles[at] not in _NO_SCALES and _are_grades(cells)
    ]
    best = next(iter((*told, *reversed(others))), -1)
    return [
        "severity" if at == best else role.replace("severity", "") for at, role in enumerate(roles)
    ]


def of_columns(row: str, number: int, is_headed: bool) -> Iterator[Finding]:
    """The finding in a line of three or more columns, one of which is a severity.

    It has a place, or stands below the heads of columns.
    """
    if coded := _CODED.match(row):
        place, severity = places.place_in(coded[1]), vocabulary.of_tool(coded[2])
        yield shapes.finding(severity, shapes.cleaned(coded[3]), number, place=place)
    cells = row.split("  ") if "  " in row.strip() else []
    told = [cell.strip() for cell in cells if cell.strip()]
    graded = [cell for cell in told if vocabulary.severity(cell)]
    if len(told) > 2 and len(graded) == 1:
        title = max((cell for cell in told if cell not in graded), key=heads.letters)
        is_named = is_headed and heads.letters(title) > _NAME
        if is_named or places.place_in(row).file:
            roles, values = ["severity", "title", "place"], [graded[0], title, row.strip()]
            yield from filter(None, [of_row(roles, values, number, "")])


def heads_columns(row: str) -> bool:
    """Whether a line has the heads of columns, one of which is for severities."""
    told = [cell for cell in row.split("  ") if cell.strip()]
    return len(told) > 2 and any(index.column(cell) == "severity" for cell in told)


def is_scale(roles: list[str], rows: list[Row]) -> bool:
    """Whether a table only explains each severity, in one row of short cells or by its meaning."""
    are_marks = all(len(x) < _LETTERS and x.isalpha() for row in rows for x in row.cells[:1])
    if not _MEANINGS.isdisjoint(roles[1:]) and (are_marks or roles[:1] == ["severity"]):
        return True
    if "severity" not in roles or not {"title", "file", "place", "id"}.isdisjoint(roles):
        return False
    cells = [cell for row in rows for cell in row.cells]
    grades = [of_cell("".join(row.cells[roles.index("severity") :][:1])) for row in rows]
    is_short = all(len(cell.split()) < 3 and not places.place_in(cell).file for cell in cells)
    return is_short and len(rows) > 2 and len({*grades}) == len(rows)


def of_card(rows: list[Row], first: int, last: int) -> Finding | None:
    """The finding in a table with a label and a value in each row."""
    labels = [(index.column(row.cells[0]), row.cells[1]) for row in rows if len(row.cells) == 2]
    if len(labels) < len(rows) or not any(role == "severity" for role, _ in labels):
        return None
    roles, cells = zip(*labels, strict=True)
    finding = of_row(list(roles), list(cells), first, "")
    return finding and finding.replace(end=last)


def of_row(roles: list[str], row: list[str], number: int, group: str) -> Finding | None:
    """The finding in a row of a table; `group` is the severity of the table as a whole."""
    fields: dict[str, str] = {}
    letters = heads.letters
    for role, cell in zip(roles, row, strict=False):
        if role not in fields or (role == "title" and letters(cell) > letters(fields[role])):
            fields[role] = cell
    identity = fields.get("id", "").strip()
    identity = identity if vocabulary.is_id(identity) else ""
    severity = of_cell(fields["severity"]) if "severity" in fields else group
    severity = severity or vocabulary.severity_of_id(identity)
    title = fields.get("title", "")
    marked = (head for head in map(heads.read, row) if head.marked)
    for head in () if severity else marked:
        is_state = shapes.FAILING.issuperset(vocabulary.words(head.title))
        if head.severity in SERIOUS and heads.has_words(head.title) and not is_state:
            severity, title = head.severity, head.title
            break
    if not title:
        apart = ("severity", "line")
        others = [c for role, c in fields.items() if role not in apart and not phrases.is_done(c)]
        title = max(others, key=lambda text: letters(shapes.without_place(text)), default="")
    if not severity or not heads.has_words(title) or vocabulary.says_nothing(title):
        return None
    states = () if "fixed-version" in roles else fields.values()  # there is one
    told = [cell for cell in states if cell != title]
    if any(map(phrases.is_done, told)) or any(map(phrases.is_ticked, told)):
        return None
    if "://" in title:  # which names nothing
        named = _LINK_BEHIND.sub("", title)
        title = named if heads.has_words(named) else " · ".join(filter(None, row))
    place = places.place_in(f"{fields.get('file', '')}:{fields.get('line', '')}")
    place = place if place.file else places.place_in(" | ".join(row))
    place = place if place.file else Place("", places.line_in(fields.get("line", "")))
    return shapes.finding(severity, phrases.first_sentence(title), number, 0, place, identity)


def still_open(tree: Any, depth: int = 0) -> Any:
    """A tree without the settled objects in its lists: `"status": "fixed"`."""
    if depth > _DEEPEST:
        return tree
    if isinstance(tree, dict):
        told = {key: value for key, value in tree.items() if objects.value_of(value)}
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
    """A value; below the name of a file, its objects get that file: `{"src/a.ts": [{…}]}`."""
    if places.place_in(key).file != key:
        return value
    if isinstance(value, list):
        return [_in_file(key, item) for item in value]
    return {"file": key} | value if isinstance(value, dict) else value


def _plain_key(key: str, others: dict[str, Any]) -> str:
    """The word of a key that names the kind of value: `file` in `source_file`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_")
    is_name = words[-1] == "name" and words[0] in _NAMED
    told = (others.get(key) for key in ("message", "description", "details")) if is_name else ()
    is_told = any(isinstance(text, str) and len(text) < _ONE_SENTENCE for text in told)
    if (is_name and not is_told) or words == ["headline"]:
        return "title"
    if words in (["note"], ["remark"]):
        return "message"
    word = next(filter(_KEYS.__contains__, words), key)
    return word if len(words) == 2 and words[0] not in ("end", "last") else key


def of_object(told: objects.Found) -> Finding | None:
    """The finding of an object; a comment on a line is graded by its words."""
    is_named = " " in told.name and len(told.name) < len(told.title)
    title = told.name if is_named else told.title or told.name
    head = heads.read(title)
    severity = told.grade or (head.severity if head.marked else "")
    rows = told.body.strip().split("\n")
    if not severity:  # by its text, which is a small review
        severity = next(filter(None, map(shapes.label_in, rows[:12])), "")
        title = rows[0] or title
    if not severity:
        return None
    identity = told.id if vocabulary.is_id(told.id) else ""
    file = re.sub(r"^[\w.-]{2,80}:(?=[\w./-]+$)", "", told.file)  # of its project
    place = Place(file, told.line) if file else places.place_in(title)
    return shapes.finding(severity, title, *told.lines, place, identity)


def grade_of(key: str, word: str) -> str:
    if key in ("type", "confidence"):  # a bot's, mostly no severity
        return vocabulary.severity(word) if key == "type" and word.lower() in _TYPES else ""
    if key == "priority" and word in ("0", "1", "2", "3"):
        return f"P{word}"
    return vocabulary.of_tool(word) or (_OBJECT_NUMBERS.get(word, "") if key == "severity" else "")


def placed(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with the lines of their objects, which are around the next such title."""
    rows = text.split("\n")
    plain = [row.replace('\\"', '"') for row in rows]
    is_json = next(filter(str.strip, rows), "").lstrip("\ufeff \t")[:1] in ("{", "[")
    start = 0
    for finding in findings:
        if finding.line:
            yield finding
            continue
        ahead = range(start, min(start + _AHEAD, len(rows)))
        begins = "\0" if is_json else " ".join(finding.title.split()[:2])  # a cell may go on
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
