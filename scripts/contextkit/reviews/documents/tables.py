"""Tables and objects: their rows, columns and keys, and the findings in them.

| Severity | File | Line | …     a row, by the heads of its columns
| Severity | High |              a card: labels and values, one in each row
HIGH   src/a.py:4   Race         three columns of a line, of which one is a severity
high,a.py,4,Race                 a record of CSV, by the heads of its columns or what is in them
{"severity": "high", …}          an object of JSON, SARIF, XML, YAML, or of tags in a text
{"src/a.ts": [{…}]}              a key that is a file is the place of what stands below it
"""

from __future__ import annotations

import itertools
import re

from contextkit.base import markdown, names
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, Sequence
from contextkit.reviews.documents import (
    heads,
    index,
    legends,
    normal,
    phrases,
    places,
    shapes,
    vocabulary,
)
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
_SCALED = ("severity", "sev", "priority", "level", "risk", "impact")  # keys
_TYPES = ("blocker", "critical", "high", "medium", "low")  # those that are a severity
_KEYS = ("severity", "risk", "criticality", "title", "headline", "message", "file", "path", "line",
         "level")  # fmt: skip
_NAMED = ("query", "rule", "check", "issue", "finding", "problem", "vulnerability", "weakness")
_ONE_SENTENCE = 140  # characters
_KNOWN = ("severity", "id", "section", "file", "place", "line", "title")  # roles
_MOST_COLUMNS = 60  # of objects that are read as a table
_LEAST_COLUMNS, _ODD = 3, 20  # of CSV; records of another width before it is none
_MOST_GRADES = 8  # different words of a column
_PATHLIKE = Pattern(r"[^\s:]{0,300}[\w-]\.[A-Za-z]\w{0,7}(?::\d{1,7}){0,2}")
_COLUMN_TOO = Pattern(r"\d{1,7}:\d{1,5}")
_SENTENCE = Pattern(r"\S+ \S+ .{1,4000}", re.DOTALL)
_AT = Pattern(r"\d{1,7}(?:[:-]\d{1,7})?")  # a line, and maybe a column or a last line
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


def records(text: str) -> list[Row]:
    """The records of a text in CSV, most of them as wide as the first; of any other text, none."""
    import csv

    mark = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(text[: objects.LARGEST].splitlines(keepends=True), delimiter=mark)
    made: list[Row] = []
    last = odd = 0
    try:
        for cells in reader:
            width = len(made[0].cells) if made else max(len(cells), _LEAST_COLUMNS)
            if len(cells) == width:
                made.append(Row([*map(names.one_line, cells)], last, reader.line_num - 1))
            last, odd = reader.line_num, odd + (len(cells) != width)
            if odd > len(made) + _ODD:
                return []
    except csv.Error:
        return []
    return made if len(made) > odd else []


def of_records(text: str) -> list[Finding] | None:
    """The findings of CSV with a column of severities, at their lines; None of any other text."""
    rows = records(text)
    roles, told = parted(rows) if rows else ([], [])
    if "severity" not in roles:
        return None
    made: list[Finding] = []
    for row in told:
        named = [*zip(roles, row.cells, strict=True)]  # `Fixed in 2.1` tells what to do
        kept = [cell * (role in _KNOWN or _is_brief(cell)) for role, cell in named]
        finding = of_row(roles, kept, row.first + 1, "")
        odd = "".join(cell for role, cell in named if role == "severity")
        is_odd = bool(odd) and not of_cell(odd) and not vocabulary.says_nothing(odd)
        if is_odd and not finding:
            others = ["title" if role == "severity" else role for role in roles]
            finding = of_row(others, kept, row.first + 1, "P2") if "title" in roles else None
            finding = finding and finding.replace(severity="")  # which is not understood
        if finding:
            made.append(finding.replace(end=row.last + 1))
    return made


def _is_brief(cell: str) -> bool:
    return " " not in cell or not phrases.is_done(cell)


def parted(rows: list[Row]) -> tuple[list[str], list[Row]]:
    """The roles of a table's columns and the rows below its heads, if the first row has them.

    A column that no head names is known by its cells: few words, which are grades; paths; numbers
    behind paths; sentences. A single grade tells only beside a place.
    """
    columns = [*zip(*(row.cells for row in rows), strict=False)]
    roles = [index.column(cell) for cell in rows[0].cells]
    graded = [at for at, role in enumerate(roles) if role == "severity"
              and any(map(of_cell, columns[at][1:]))]  # fmt: skip
    is_named = bool(graded)
    like = (at for at, cells in enumerate(columns) if roles[at] not in _NO_SCALES and _grade(cells))
    graded = graded or [*itertools.islice(like, 1)]
    is_headed = not any(of_cell(rows[0].cells[at]) for at in graded)
    told = rows[is_headed:]
    roles = [role * is_headed if role != "severity" else "" for role in roles]
    for at in graded:
        roles[at] = "severity"
    _find(roles, told, "file", _PATHLIKE, 0 if "place" not in roles else len(roles))
    at = roles.index("file") + 1 if "file" in roles else 0
    _find(roles, told, "line", _AT if at else _COLUMN_TOO, at, at + 1 if at else len(roles))
    _find(roles, told, "title", _SENTENCE)
    is_single = (
        not is_named and len({*map(of_cell, columns[graded[0]])} - {""} if graded else ()) < 2
    )
    if is_single and {"file", "line"}.isdisjoint(roles):
        return [role.replace("severity", "") for role in roles], rows[1:]
    return roles, told


def _find(
    roles: list[str], rows: list[Row], role: str, form: Pattern, start: int = 0, end: int = 1_000
) -> None:
    """Give a role that no column has to the first other one most of whose cells have a form."""
    if role in roles:
        return
    for at, other in enumerate(roles[:end]):
        cells = [row.cells[at] for row in rows if row.cells[at]]
        if (
            at >= start
            and other not in _KNOWN
            and 2 * sum(map(bool, map(form.fullmatch, cells))) > len(cells)
        ):
            roles[at] = role
            return


def is_headless(rows: list[Row], lines: list[str]) -> bool:
    """Whether a table without a rule has no heads either: a column of grades from its first row."""
    width = len(rows[0].cells)
    is_even = len(rows) == len(lines) and all(len(row.cells) == width for row in rows)
    return is_even and width >= _LEAST_COLUMNS and parted(rows)[1] == rows


def _grade(cells: Sequence[str]) -> bool:
    """Whether most of the different words of a column, which are few, are grades."""
    words = {cell.lower() for cell in cells[1:] or cells} - {""}
    grades = sum(bool(vocabulary.of_tool(word)) for word in words)
    are_words = all(" " not in word for word in words)
    return are_words and 0 < grades <= _MOST_GRADES and grades * 2 > len(words)


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


def _place(fields: dict[str, str], row: str) -> Place:
    """The place in the columns for it, or anywhere in a row."""
    file, line = fields.get("file", ""), fields.get("line", "")
    place = places.place_in(f"{file}:{line}")
    if not place.file and _PATHLIKE.fullmatch(file):
        place = Place(file, places.line_in(f"line {line}"))
    place = place if place.file else places.place_in(row)
    return place if place.file else Place("", places.line_in(line))


def of_row(roles: list[str], row: list[str], number: int, group: str) -> Finding | None:
    """The finding in a row of a table; `group` is the severity of the table as a whole."""
    fields: dict[str, str] = {}
    letters = heads.letters
    for role, cell in zip(roles, row, strict=False):
        if role == "severity":
            grade, before = of_cell(cell), of_cell(fields.get(role, ""))
            fields[role] = cell if vocabulary.strictest(grade, before) == grade else fields[role]
        elif role not in fields or (role == "title" and letters(cell) > letters(fields[role])):
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
    place = _place(fields, " | ".join(row))
    return shapes.finding(severity, phrases.first_sentence(title), number, 0, place, identity)


Grade = Callable[[str, str], str]  # the severity of a value, by its key


def still_open(tree: Any, grade: Grade, depth: int = 0) -> Any:
    """A tree without the settled objects in its lists, the others with plain keys."""
    if depth > _DEEPEST:
        return tree
    if isinstance(tree, dict):
        told = {key: value for key, value in tree.items() if objects.value_of(value)}
        plain = {_plain_key(str(key), tree): value for key, value in told.items()}
        named = tree | {key: value for key, value in plain.items() if key not in tree}
        inside = {key: _in_file(key, value) for key, value in named.items()}
        if len(inside) > 1 and all(isinstance(value, dict) for value in inside.values()):
            inside = dict(zip(inside, _named([*inside.values()], grade), strict=True))
        return {key: still_open(value, grade, depth + 1) for key, value in inside.items()}
    if not isinstance(tree, list):
        return tree
    left = [item for item in tree if not _is_over(item)]
    return [still_open(item, grade, depth + 1) for item in _named(left, grade)]


def _named(items: list[Any], grade: Grade) -> list[Any]:
    """The objects of a list with keys for what they lack, known by the values of all of them.

    A severity that is not understood beside others that are is `?`.
    """
    told = [item for item in items if isinstance(item, dict)]
    is_whole = len(told) == len(items)
    every = dict.fromkeys(key for item in told for key in item) if is_whole else {}
    keys = [*itertools.islice(map(str, every), _MOST_COLUMNS)]
    rows = [[objects.value_of(item.get(key)) for key in keys] for item in told]
    if len(keys) < _LEAST_COLUMNS:
        return items
    roles = parted([Row(cells, 0, 0) for cells in (keys, *rows)])[0]
    ats = {
        role: roles.index(role) for role in ("severity", "title", "file", "line") if role in roles
    }
    if "severity" not in ats:
        return items
    key = keys[ats["severity"]]
    grades = [grade(key, cells[ats["severity"]]) for cells in rows]
    made = []
    for item, cells, graded_as in zip(told, rows, grades, strict=True):
        own = {role: cells[at] for role, at in ats.items() if cells[at]}
        lacks = {role: own[role] for role in own if not objects.has(item, role)}
        stated = own.get("severity", "")
        is_odd = bool(stated) and not graded_as and not vocabulary.says_nothing(stated)
        made.append(item | lacks | ({"severity": "?"} if is_odd and any(grades) else {}))
    return made


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
    return word if len(words) == 2 and words[0] not in ("end", "last", "old") else key


def of_object(told: objects.Found) -> Finding | None:
    """The finding of an object; a comment on a line is graded by its words."""
    is_named = " " in told.name and len(told.name) < len(told.title)
    title = told.name if is_named else told.title or told.name
    head = heads.read(normal.unmarked(title))
    severity = told.grade or (head.severity if head.marked else "")
    if not told.grade and severity and heads.has_words(head.title):
        title = phrases.first_sentence(head.title)
    rows = told.body.strip().split("\n")
    if not severity:  # by its text, which is a small review
        severity = next(filter(None, map(shapes.label_in, rows[:12])), "")
        title = rows[0] or title
    if not severity:
        return None
    severity = severity.strip("?")  # which is not understood
    identity = told.id if vocabulary.is_id(told.id) else ""
    file = re.sub(r"^[\w.-]{2,80}:(?=[\w./-]+$)", "", told.file)  # of its project
    place = Place(file, told.line) if file else places.place_in(title)
    return shapes.finding(severity, title, *told.lines, place, identity)


def grading(tree: Any) -> Grade:
    """What grades a value of a tree by its key, in the scale that the tree explains, if any."""
    told = legends.of_tree(tree)

    def grade(key: str, word: str) -> str:
        return told.get(word.lower(), "") * (key in _SCALED) or grade_of(key, word)

    return grade


def grade_of(key: str, word: str) -> str:
    if word == "?":
        return word
    if key in ("type", "confidence"):  # a bot's, mostly no severity
        return vocabulary.severity(word) if key == "type" and word.lower() in _TYPES else ""
    if key == "priority" and word in ("0", "1", "2", "3"):
        return f"P{word}"
    return vocabulary.of_tool(word) or (_OBJECT_NUMBERS.get(word, "") if key == "severity" else "")


def placed(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with the lines of their objects, which are around the next such title."""
    rows = text.split("\n")
    plain = [_searched(row.replace('\\"', '"').replace("\\n", " ")) for row in rows]
    is_settings = objects.is_settings(text)
    is_json = not is_settings and text.lstrip("\ufeff \t\n")[:1] in ("{", "[")
    start = 0
    for finding in findings:
        if finding.line:
            yield finding
            continue
        ahead = range(start, min(start + _AHEAD, len(rows)))
        begins = "\0" if is_json else " ".join(finding.title.split()[:2])  # a cell may go on
        title = _searched(finding.title)
        named = title.partition(": ")[2][:40] or "\0"  # behind its rule
        told = (title[:40], named, begins)
        there = (at for words in told for at in ahead if words in plain[at])
        at = next(there, -1)
        start = max(start, at)
        first = last = min(start, len(rows) - 1)
        if is_json and at >= 0:
            first, last = _object(rows, at)
        elif at >= 0 and is_settings:
            first, last = _section(rows, at)
        elif at >= 0 and _ITEM.match(rows[at]):
            first, last = _item(rows, at)
        yield finding.replace(line=first + 1, end=last + 1)


def _searched(text: str) -> str:
    """A text as it is searched in another: without code ticks and emphasis, its blanks single."""
    return " ".join(text.replace("`", "").replace("**", "").split())


def _object(rows: list[str], at: int) -> tuple[int, int]:
    """The first and last line of the object of JSON that a line is in, of at most 31 each way."""
    above, below = range(at, max(-1, at - 31), -1), range(at, min(len(rows), at + 31))
    depth = _indent(rows[at]) + ("{" in rows[at])  # its braces are less indented than its keys
    first, last = (
        next((n for n in near if brace in rows[n] and _indent(rows[n]) < depth), near[-1])
        for near, brace in ((above, "{"), (below, "}"))
    )
    return first, last


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _section(rows: list[str], at: int) -> tuple[int, int]:
    """The first and last line of the section of TOML or INI that a line is in."""
    near = range(at, max(-1, at - 31), -1), range(at + 1, min(len(rows), at + 31))
    first, after = (next((n for n in some if rows[n][:1] == "["), some.stop) for some in near)
    told = range(after - 1, at, -1)
    return max(first, 0), next((n for n in told if rows[n].strip()), at)


def _item(rows: list[str], at: int) -> tuple[int, int]:
    """The first and last line of the item of YAML that a line is in, of at most 31 each way."""
    first = next((n for n in range(at, max(-1, at - 31), -1) if _BEGINS.match(rows[n])), at)
    depth = _indent(rows[first])
    ahead = range(at + 1, min(len(rows), at + 31))
    out = (n for n in ahead if rows[n].strip() and not rows[n].startswith(" " * (depth + 1)))
    last = next(out, ahead.stop) - 1
    return first, next((n for n in range(last, at, -1) if rows[n].strip()), at)
