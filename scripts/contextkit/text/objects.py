"""JSON, XML, YAML, TOML and INI as one kind of tree, and the findings in it.

Every tool has its own names for the same few parts. So an object is recognized as a finding by its
parts, and `grade` says which words are a severity. Missing parts of its place come from the objects
around it: ESLint gives the file once for all its messages.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections import Counter

from contextkit.base import formats, packages
from contextkit.base.errors import ContextError
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterator

TAG = "<>"  # the key of an XML element's name
LINES = "<lines>"  # the key of an element's first and last line
LARGEST = 4_000_000  # characters that are parsed; of a longer text, only lines at the start
_LARGEST_YAML = 400_000  # of all its documents: a second's work
_DEEPEST, _DEEPEST_PLACE = 40, 4

_SEVERITY = ("severity", "issue_severity", "priority", "level", "sev", "impact", "importance",
             "severity_level", "risk", "criticality", "urgency", "type", "confidence")  # fmt: skip
_TITLE = ("title", "query_name", "message", "issue_text", "msg", "summary", "finding", "issue",
          "problem", "text", "description", "body", "what", "details", "comment",
          "header", "headline", "explanation", "content")  # fmt: skip
_EXPLAINING = ("description", "body", "details", "explanation", "content")
_NAME = ("name", "rule", "ruleid", "check_id")
_CODE = ("ruleid", "rule", "rule_id", "check_id", "test_id", "vulnerabilityid", "symbol",
         "messageid", "warning_type", "code", "id")  # fmt: skip
_FILE = ("path", "file", "filename", "filepath", "file_path", "file_name", "uri", "component",
         "location", "where", "relevant_file", "absolute_file_path", "new_path", "sourcepath",
         "sourcefile")  # fmt: skip
_LINE = ("line", "line_number", "startline", "start_line", "linenumber", "lineno", "begin_line",
         "beginline", "begin", "line_start", "relevant_lines_start", "lines", "line_range", "row",
         "start", "new_line", "file_line_range")  # fmt: skip
_PACKAGE = ("pkgname", "module_name", "package_name", "packagename", "package", "artifact")
_VERSION = ("version", "installedversion")
_ABOUT = ("extra", "properties", "metadata", "attributes", "vulnerability", "database_specific",
          "code")  # fmt: skip
_WHERE = frozenset(  # objects that may hold a place and are no findings themselves
    "location locations physicallocation artifactlocation region start pos position range"
    " textrange where threadcontext rightfilestart begin span spans code primary file files"
    " lines most_recent_instance sourceline".split()
)
_TELLING = _WHERE.union(_SEVERITY, _TITLE, _NAME, _FILE, _LINE, _PACKAGE, _ABOUT)
_HTML = frozenset(
    "details summary code pre b i u em strong a p div span br hr img table thead tbody tr td th ul"
    " ol li sub sup kbd blockquote h1 h2 h3 h4 h5 h6 picture source input samp s del ins html head"
    " body script style".split()
)
_ELEMENT = Pattern(
    r"<(/?)([A-Za-z_][\w.:-]{0,60})((?:\s{1,80}[\w.:-]{1,60}\s?=\s?(?:\"[^\"<]{0,4000}\""
    r"|'[^'<]{0,4000}'))*)\s{0,80}(/?)>"
)
_ATTRIBUTE = Pattern(r"([\w.:-]{1,60})\s?=\s?(\"[^\"]*\"|'[^']*')")
_YAML = Pattern(  # a line with a key
    r"\s*(?:- )*(?:[\w./$@-]+|\"[^\"\n]+\"|'[^'\n]+'):(?:\s|$)"
)
_SECTION = Pattern(r"\[{1,2}[^\[\]]+\]{1,2}\s*(?:[#;]|$)")  # of TOML or INI
_SETTING = Pattern(
    r"\s*((?:[\w.\"'$@/*-]|\[[\w-]+\]){1,200}(?: [\w.\"'-]{1,80}){0,3})\s{0,80}=\s*(.*)", re.DOTALL
)
_DOCUMENTS = Pattern(r"^---(?: +(?:[#!&].*)?)?\r?$", re.MULTILINE)  # nothing of one is behind it
_SAMPLE = 4_000  # characters
_NUMBER, _PATH = Pattern(r"\d{1,7}"), Pattern(r"^[^\s:]+\w\.[A-Za-z]\w{0,5}(?::\d{1,7})?$")
_RULE = Pattern(r"[a-z]{2,20}(?:-[a-z]{2,20}){1,6}")
_LONGEST, _LONGEST_CODE = 240, 100  # characters
_INK = Pattern(r"\S")


class Found(NamedTuple):
    """A finding: its grade and the tool's word for that, its rule, its words, and its place.

    name: used where there are no words; package: name and version; line: 0 if unknown.
    """

    grade: str
    severity: str
    code: str
    id: str
    name: str
    title: str
    file: str
    line: int
    package: str
    body: str  # its longest text, with its lines
    lines: tuple[int, int] = (0, 0)  # of an element: its first and last


class _Around(NamedTuple):
    file: str = ""
    line: int = 0
    package: str = ""


@functools.lru_cache(maxsize=2)
def tree(text: str) -> Any:
    """The value of a text, of all its lines if each is one; None if it is none of them.

    The result is shared by several callers, which must not change it.
    """
    bare = text.strip("\ufeff \t\r\n")
    if is_settings(bare):
        return _of_ini(bare)
    if bare[:1] in ("{", "["):
        return parsed(bare)
    if _is_yaml(bare):
        return _of_yaml(bare)
    expands = "<!DOCTYPE" in text or "<!ENTITY" in text  # entities may expand without end
    if bare[:1] != "<" or bare[-1:] != ">" or expands:
        return None
    made, outer = elements(bare), _ELEMENT.search(bare)
    is_whole = len(made) == 1 and outer is not None and _bare(outer[2]) == made[0][TAG]
    return made[0] if is_whole and bare.endswith(f"{made[0][TAG]}>") else None


def _is_yaml(text: str) -> bool:
    """Whether a text looks like YAML: most of its lines are keys, some of them nested."""
    lines = [line for line in text[:_SAMPLE].split("\n") if line.strip(" -")]
    rows = [line for line in lines if not line.lstrip().startswith("#")]
    inner = sum(line[0] == " " for line in rows)
    keyed = sum(map(bool, map(_YAML.match, rows)))
    begins = bool(rows and _YAML.match(rows[0]))
    return begins and inner > 2 and keyed * 10 >= len(rows) * 6


def is_data(text: str) -> bool:
    """Whether a text looks like data in which comments may look like headings."""
    return _is_yaml(text) or is_settings(text)


def is_settings(text: str) -> bool:
    """Whether a text looks like TOML or INI: sections, and in them keys with values."""
    lines = [line for line in text[:_SAMPLE].split("\n") if line.strip() and line[0] not in "#;"]
    sections = sum(map(bool, map(_SECTION.match, lines)))
    keyed = sum(map(bool, map(_SETTING.match, lines)))
    return sections > 0 < keyed and (sections + keyed) * 10 >= len(lines) * 6


def _of_ini(text: str) -> Any:
    """The values of TOML or INI as they stand, by section; None if a line is no setting.

    A comment after a value, and quotes around several lines, stay. `tomllib` takes time that grows
    with the square of some texts. What is there several times (a section, a key in one) is a list.
    """
    top: dict[str, list[str]] = {}
    here, sections = top, dict[str, list[dict[str, list[str]]]]()
    for setting in _settings(text[:LARGEST]):
        if _SECTION.match(setting):
            here = {}
            sections.setdefault(setting.partition("]")[0].strip("[ "), []).append(here)
        elif match := _SETTING.match(setting):
            here.setdefault(match[1].strip("\"' "), []).append(_unquoted(match[2]))
        elif " " not in setting:
            here.setdefault(setting, []).append("")
        else:
            return None
    told = {name: list(map(_singled, filter(None, some))) for name, some in sections.items()}
    return {**_singled(top), **_singled({name: some for name, some in told.items() if some})}


def _settings(text: str) -> Iterator[str]:
    """The sections and settings of TOML or INI, each in one line."""
    rows: list[str] = []
    depth, closing = 0, ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        indent = len(line) - len(line.lstrip())
        is_section = bool(_SECTION.match(bare)) and not closing
        goes_on = bool(closing) or indent > depth or bare[0] in "]}"
        if rows and goes_on and not is_section:
            rows.append(bare)
            closing = "" if closing in bare else closing
            continue
        yield from [" ".join(rows)] if rows else []
        yield from [bare] if is_section else []
        rows, depth = [] if is_section else [bare], indent
        closing = _closing(bare.partition("=")[2].strip())
    yield from [" ".join(rows)] if rows else []


def _closing(value: str) -> str:
    """With what a value of TOML ends that is not whole yet; '' for any other."""
    ends = {'"""': '"""', "'''": "'''", "[": "]", "{": "}"}
    mark = next(filter(value.startswith, ends), "")
    return ends[mark] if mark and ends[mark] not in value[len(mark) :] else ""


def _unquoted(value: str) -> str:
    mark = value[:1]
    is_quoted = mark in ("'", '"') and value[-1:] == mark and mark not in value[1:-1]
    return value[1:-1] if is_quoted else value


def _singled(fields: dict[str, Any]) -> dict[str, Any]:
    """The same, where a list of one is that one."""
    return {name: some[0] if len(some) == 1 else some for name, some in fields.items()}


def _of_yaml(text: str) -> Any:
    """The value of YAML, or a list of its documents' values; None if it cannot be read here."""
    if len(text) > _LARGEST_YAML:
        return None
    packages.extend_path()
    parts = [part for part in _DOCUMENTS.split(text) if part.strip()]
    try:
        values = [formats.from_yaml(part, "") for part in parts]
    except (ContextError, ImportError):
        return None
    return values if len(values) > 1 else values[0]


def parsed(text: str) -> Any:
    """The value of JSON, or a list of those that follow each other; None if it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    decoder, values, at = json.JSONDecoder(), list[Any](), 0
    part = text[:LARGEST].strip()
    while at < len(part):
        try:
            value, at = decoder.raw_decode(part, at)
        except (ValueError, RecursionError):
            is_cut = len(text) > LARGEST and "\n" not in part[at:]  # its last line
            return values if values and is_cut else None
        values.append(value)
        at = at if at == len(part) else _INK.search(part, at).start()
    return values or None


def elements(text: str) -> list[dict[str, Any]]:
    """The outermost closed elements in a text, whatever is around them; none of HTML.

    Each is a dict of its attributes and text, and of a list for each name of the elements in it; at
    LINES are its first and last line, from 1. A tag that is never closed is text.
    """
    top = _Open("", {}, 0)
    stack, times = [top], Counter[str]()
    past, number = 0, 1
    text = _uncommented(text)
    for match in _ELEMENT.finditer(text):
        name = _bare(match[2])
        is_end, is_alone = bool(match[1]), bool(match[4])
        if name.lower() in _HTML or (is_end and not times[name]):
            continue
        if not is_end and not is_alone and len(stack) > _DEEPEST:
            continue
        stack[-1].texts.append(text[past : match.start()])
        number += text.count("\n", past, match.start())
        first, past = number, match.end()
        number += match[0].count("\n")
        if not is_end:
            told = {_bare(key): quoted[1:-1] for key, quoted in _ATTRIBUTE.findall(match[3])}
            stack.append(_Open(name, told, first))
            times[name] += 1
        while (is_end or is_alone) and len(stack) > 1:
            inner = stack.pop()
            times[inner.name] -= 1
            if inner.name == name:
                stack[-1].inside.append((name, inner.value(number)))
                break
            stack[-1].adopt(inner)
    while len(stack) > 1:
        stack[-2].adopt(stack.pop())
    return [value for _, value in top.inside if isinstance(value, dict)]


class _Open:
    """An element that is not closed yet: its attributes, its texts, and the elements in it."""

    def __init__(self, name: str, attributes: dict[str, str], first: int) -> None:
        self.name, self.attributes, self.first = name, attributes, first
        self.texts: list[str] = []
        self.inside: list[tuple[str, Any]] = []

    def adopt(self, other: _Open) -> None:
        """Take over the content of an element that is never closed."""
        self.texts += other.texts
        self.inside += other.inside

    def value(self, last: int) -> Any:
        """The text of an element that has nothing else, or a dict."""
        text = unescaped("".join(self.texts)).strip()
        if not (self.inside or self.attributes):
            return text
        inside: dict[str, list[Any]] = {}
        for name, value in self.inside:
            inside.setdefault(name, []).append(value)
        own = {"text": text} if text else {}
        told = {key: unescaped(value) for key, value in self.attributes.items()}
        return {TAG: self.name, LINES: (self.first, last), **told, **own, **inside}


def _uncommented(text: str) -> str:
    """XML without comments, its CDATA as plain text; no line moves."""
    for mark, end in (("<!--", "-->"), ("<![CDATA[", "]]>")):
        before, *others = text.split(mark)
        kept = [before]
        for inner, _, rest in (part.partition(end) for part in others):
            quoted = inner.replace("&", "&amp;").replace("<", "&lt;")
            kept += ["\n" * inner.count("\n") if end == "-->" else quoted, rest]
        text = "".join(kept)
    return text


def unescaped(text: str) -> str:
    """A text with characters for the entities of XML and HTML in it: `&lt;`, `&#48;`."""
    if "&" not in text:
        return text
    import html  # loaded late: its table of names is large, and few texts need it

    return html.unescape(text)


def _bare(name: str) -> str:
    return name.rpartition(":")[2]


def value_of(value: Any) -> str:
    """A plain value as text, or the first of a list of them; '' for anything else."""
    value = value[0] if isinstance(value, list) and value else value
    told = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if told else ""


def first(fields: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The value of the first key that has a plain one."""
    return next((value for key in keys if (value := value_of(fields.get(key)))), "")


def has(fields: dict[str, Any], part: str) -> bool:
    """Whether an object has a part of a finding under a known name."""
    low = _lowered(fields)
    names = {"severity": _SEVERITY, "title": (*_TITLE, *_NAME), "file": _FILE, "line": _LINE}
    return not low.keys().isdisjoint(names[part])


def below(value: Any) -> Iterator[Any]:
    """The objects and lists directly inside a value."""
    inside = value.values() if isinstance(value, dict) else value
    return (inner for inner in inside if isinstance(inner, dict | list))


def told(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts of more than one line in a tree."""
    if isinstance(value, str) and "\n" in value.strip():
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for inner in inside if depth < _DEEPEST else ():
        yield from told(inner, depth + 1)


def findings(value: Any, grade: Callable[[str, str], str]) -> Iterator[Found]:
    """The findings in a tree: objects that `grade(key, value)` grades, or with words and a line."""
    return _findings(value, _Around(), grade, 0)


def _findings(
    value: Any, around: _Around, grade: Callable[[str, str], str], depth: int
) -> Iterator[Found]:
    if isinstance(value, dict):
        value = _of_sarif(value) or value
        low = {str(key).lower(): inner for key, inner in value.items()}
        if not _TELLING.isdisjoint(low):
            around = _seen_from(low, around)
            if finding := _finding(low, around, grade):
                yield finding
                return
    for inner in below(value) if depth < _DEEPEST else ():
        yield from _findings(inner, around, grade, depth + 1)


def _of_sarif(value: dict[str, Any]) -> dict[str, Any]:
    """The results of SARIF, each graded by its rule where it is not itself; else an empty dict."""
    runs = [run for run in _listed(value.get("runs")) if {"results", "tool"} <= run.keys()]
    return {"runs": [list(_graded(run)) for run in runs]} if runs else {}


def _listed(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _graded(run: dict[str, Any]) -> Iterator[Any]:
    """The findings of a SARIF run, with the level and severity of their rules.

    The levels are those of SARIF 2.1.0, 3.27.10; the severities those of code scanning, by score.
    """
    by_name: dict[str, dict[str, Any]] = {}
    rules = formats.inside(run, "tool", "driver").get("rules")
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict):
            by_name |= {str(number): rule, str(rule.get("id")): rule}
    for result in _listed(run["results"]):
        if result.get("kind", "fail") not in ("fail", "review") or _is_gone(result):
            continue
        named = (str(result.get(key)) for key in ("ruleId", "ruleIndex"))
        rule = next((by_name[name] for name in named if name in by_name), {})
        level = formats.inside(rule, "defaultConfiguration").get("level", "warning")
        score = str(formats.inside(rule, "properties").get("security-severity"))
        yield {"level": level, **_severity(score), **result}


def _is_gone(result: dict[str, Any]) -> bool:
    """Whether a result is of an earlier run only, or suppressed (3.27.23 and 24)."""
    states = {each.get("status", "accepted") for each in _listed(result.get("suppressions"))}
    return result.get("baselineState") == "absent" or states == {"accepted"}


def _severity(score: str) -> dict[str, str]:
    """A field with the word for a score from 0 to 10; empty for anything else."""
    try:
        number = float(score)
    except ValueError:
        return {}
    bounds = {9.0: "critical", 7.0: "high", 4.0: "medium"}
    return {"severity": next((word for least, word in bounds.items() if number >= least), "low")}


def _seen_from(low: dict[str, Any], around: _Around) -> _Around:
    """The fields that the objects inside one inherit from it and from those around it."""
    packed = next((low[key] for key in _PACKAGE if isinstance(low.get(key), dict)), low)
    package = first(low, _PACKAGE)
    if packed is not low or (not package and "severity" in low):
        package = first(packed, ("name",))
    name = first(low, ("name",))
    named = name if low.get(TAG) == "file" or _PATH.search(name) else ""
    file = named or _file(low)
    return _Around(
        file or around.file,
        _line(low) or (0 if file else around.line),
        f"{package} {first(packed, _VERSION)}".strip() if package else around.package,
    )


def _finding(
    low: dict[str, Any], around: _Around, grade: Callable[[str, str], str]
) -> Found | None:
    if "rules" in low or "defaultconfiguration" in low:
        return None
    own = [low, *(_lowered(low[key]) for key in _ABOUT if isinstance(low.get(key), dict))]
    via = low.get("via")
    cause = via[0] if isinstance(via, list) and via else None
    inner = [*own, _lowered(cause)] if isinstance(cause, dict) else own
    title = next(filter(None, (_headline(f) or _words(f, _TITLE) for f in inner)), "")
    name = next(filter(None, (_words(fields, _NAME) for fields in own)), "")
    graded = ((grade(key, word), word) for fields in own for key in _SEVERITY
              if (word := value_of(fields.get(key))))  # fmt: skip
    level, word = next(filter(lambda pair: pair[0], graded), ("", ""))
    code = next(filter(None, map(_code, own)), "")
    if title == _words(low, ("description",)) and _RULE.fullmatch(code):
        title = f"{code}: {title}"  # which may describe only what is checked
    is_graded = level and (title or name)
    is_placed = title and around.file and around.line
    if not (is_graded or is_placed):
        return None
    own_id = first(low, ("id", "key", "rule_id"))
    file = around.file or _file(low, anywhere=True)  # it may be in objects of other names
    line = around.line or _line(low, anywhere=True)
    texts = (value for value in low.values() if isinstance(value, str))
    body = max(texts, key=len, default="")
    return Found(level, word, code, own_id, name, title, file, line, around.package, body,
                 low.get(LINES, (0, 0)))  # fmt: skip


def _lowered(fields: dict[str, Any]) -> dict[str, Any]:
    return {str(key).lower(): value for key, value in fields.items()}


def _words(low: dict[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = low.get(key)
        if isinstance(value, dict):
            value = value.get("text") or value.get("markdown")
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and sum(map(str.isalpha, value[:80])) > 2:
            return " ".join(value[:2_000].split())[:_LONGEST]
    return ""


def _headline(low: dict[str, Any]) -> str:
    """A short text in front of the one that explains it, whatever its key; or ''."""
    telling = next((key for key in _TITLE if isinstance(low.get(key), str)), "")
    above = itertools.takewhile(lambda key: key != telling, low if telling in _EXPLAINING else ())
    texts = (value for value in map(value_of, map(low.get, above)) if value.count(" ") > 1)
    short = (text for text in texts if len(text) < _LONGEST_CODE and text[-1].isalnum())
    return next(short, "")


def _code(low: dict[str, Any]) -> str:
    """The name of a rule or a known weakness."""
    for key in _CODE:
        value = value_of(low.get(key))
        is_name = " " not in value or value.istitle()
        if is_name and 0 < len(value) <= _LONGEST_CODE:
            return value
    return ""


def _file(low: dict[str, Any], depth: int = 0, anywhere: bool = False) -> str:
    for value in map(value_of, map(low.get, _FILE)):
        if " " not in value and any(map(value.__contains__, "./\\")):
            return _bare_path(value)
    inside = (_file(each, depth + 1, anywhere) for each in _parts(low, depth, anywhere))
    others = (_bare_path(value) for value in map(value_of, low.values()) if _PATH.search(value))
    return next(filter(None, inside), "") or (next(others, "") if anywhere else "")


def _bare_path(value: str) -> str:
    return re.split(r":(?=\d)", value.removeprefix("file://").removeprefix("./"))[0]


def _line(low: dict[str, Any], depth: int = 0, anywhere: bool = False) -> int:
    for key in _LINE:
        if number := _NUMBER.search(value_of(low.get(key))):
            return int(number[0])
    for key in (*_FILE, *(low if anywhere else ())):
        value = value_of(low.get(key))
        is_place = not anywhere or _PATH.search(value)
        if is_place and (number := re.search(r":(\d{1,7})", value)):
            return int(number[1])
    inside = _parts(low, depth, anywhere)
    if number := next(filter(None, (_line(each, depth + 1, anywhere) for each in inside)), 0):
        return number
    is_place = depth > 0 and not anywhere and bool(_file(low))  # `{"file": "a.py", "from": 4}`
    return next((value for value in low.values() if is_place and type(value) is int), 0)


def _parts(low: dict[str, Any], depth: int, anywhere: bool) -> Iterator[dict[str, Any]]:
    """The objects inside that hold a place: `location`, `start`, `physicalLocation`, `Pos` …

    anywhere: objects of any name count, as in a finding.
    """
    if depth > _DEEPEST_PLACE:
        return
    for key, inner in low.items():
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict) and (anywhere or key in _WHERE):
            yield _lowered(inner)
