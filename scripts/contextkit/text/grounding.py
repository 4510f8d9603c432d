"""Whether the claims of an answer are backed by the report that it is about.

    checked = grounding.check(answer, report)
    checked.said        "11/12": claims found, of all claims
    checked.missing     ("1,500 ms", "src/x.py:9"): the claims that were not found

A claim is a path, a place in a file, a number, an identifier, an address, or a quotation. Numbers
are compared by value and unit (1,500 ms is 1.5 s), a place by its file and line, everything else
by its letters. A failure that the answer turns into a success (`all tests pass`) counts as missing.
"""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text import authored, facts
from contextkit.text.digests import reading

_NUMBER = Pattern(
    r"(?<![\w.,/:#-])(?P<sign>[$€£]?)(?P<value>\d{1,3}(?:[,'\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<unit>\s?%|[ \u00a0-]?[A-Za-zµμ]{1,12})?(?![\w/]|[.,:-]\d)"
)
_SCALES: dict[str, dict[str, float]] = {  # to one unit per dimension
    "s": {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "millisecond": 1e-3, "s": 1,
          "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
          "d": 86400, "day": 86400},
    "B": {"b": 1, "byte": 1, "kb": 1e3, "kib": 1024, "mb": 1e6, "mib": 1024**2, "gb": 1e9,
          "gib": 1024**3, "tb": 1e12, "tib": 1024**4},
    "%": {"%": 1, "percent": 1},
    "Hz": {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
}  # fmt: skip
_UNITS = {name: (kind, scale) for kind, names in _SCALES.items() for name, scale in names.items()}
_MULTIPLES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_DIGITS, _BULLET = Pattern(r"\d+(?:\.\d+)?"), Pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_GROUPED = str.maketrans("", "", ",'\u202f")  # between thousands
_SPANS = Pattern(
    r"(?:(?<![\d.])[:#,(]\s?L?|[Ll]ines? |, |/)(\d{1,7})(?:(?:[-–:]| to )L?(\d{1,7}))?"
)
_SMALL = 10  # a bare number below this is the answer's own count
_QUOTED = Pattern(r"[\"“«„]([^\"“”«»„\n]{6,300})[\"”»“]|`([^`\n]{2,200})`")
_PLACE = Pattern(r"(?P<path>.*?)(?::|#L)(?P<first>\d+)(?:[-–:]L?(?P<last>\d+))?")
_LINES = Pattern(  # of the report itself
    r"(?<![\w#:])(?:[Ll]ines? |L)(\d+)(?: ?(?:-|–|to|and) ?L?(\d+))?"
)
_ENDS_VERDICT = Pattern(r"[,;(]|\.(?:\s|$)")
_FAILS = Pattern(
    r"\b(?:fail(?:s|ed|ure|ures|ing)?|errors?|broken|crash\w*|panic\w*|times? out|timed out|"
    r"does not|do not|don'?t|cannot|can'?t|never|unsafe|risky|not (?:safe|ready|recommended|ok|"
    r"supported|work\w*|pass\w*)|rejected|blocked|regress\w*|"
    r"fehlgeschlagen|schlägt fehl|scheitert|fehlschlag|falla|fallan|fallido|falha|falham|échoue\w*|"
    r"échec)\b|失败|失敗|실패|ошибк|провал", re.I
)  # fmt: skip
_PASSES = Pattern(
    r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful|fully)?|green|works|worked|safe|"
    r"clean|ready|(?:no|0|zero|without(?: any)?) (?:failures?|errors?|issues?|findings?|problems?|"
    r"regressions?)|bestanden|erfolgreich|keine Fehler|pasan|sin errores|passam|sem erros|"
    r"réussi\w*|sans erreurs?)\b|成功|通过|合格|통과|성공|успешно", re.I
)  # fmt: skip
_NEGATED = Pattern(
    r"\b(?:not|never|no longer|isn'?t|aren'?t|doesn'?t|don'?t|won'?t|nicht|kein\w*|no|non|não|ne)"
    r"(?: \w+){0,2} (?=(?:pass|succe|green|work|safe|clean|ready|fail|broke|crash))", re.I
)  # fmt: skip
_ZERO = Pattern(r"\b(?:no|0|zero|without(?: any)?) (?:failures?|errors?|failed)\b", re.I)
_ANCHOR = Pattern(r"[A-Za-z_][\w.-]{3,}|[\u0400-\u04ff]{4,}|[\u3040-\u9fff\uac00-\ud7af]{2,}")
_EMPTY = frozenset(
    "that this with from they them when then were have been does will each both also into only "
    "pass passes passed fails failed fail works safe clean ready error errors".split()
)
_WEAK = frozenset("test tests check checks suite".split())  # in too many sentences to identify one
_ALL = Pattern(
    r"\b(?:all|every|everything|no|0|zero|alle|jeder|todos|todas|tous|toutes)\b|全", re.I
)
_COUNTED = Pattern(r"\b[1-9]\d* (?:tests? |checks? )?(?:failed|failures?|failing|errors?)\b", re.I)
_NEAR = 0.67  # share of a statement's words that another must have to be about the same thing


class Checked(NamedTuple):
    """The number of claims, and those that were not found, in the answer's order."""

    total: int
    missing: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """`11/12`; of a text without a claim, that it has none."""
        none = "" if self.total else " (nothing to look up)"
        return f"{self.total - len(self.missing)}/{self.total}{none}"


def check(answer: str, report: str) -> Checked:
    """Look up every claim of `answer` in `report`."""
    prepared = _Report(report)
    seen: dict[str, bool] = {}
    for shown, stands in _claims(answer, prepared):
        seen[shown] = seen.get(shown, False) or stands
    turned = tuple(_turned(answer, prepared))
    missing = tuple(claim for claim, stands in seen.items() if not stands)
    return Checked(len(seen) + len(turned), (*missing, *turned))


def of_itself(words: str) -> Checked:
    """The claims in the report's own words, all of which are found by definition."""
    kinds = ("prohibition", "error")
    return Checked(len({value for kind, value, _ in facts.find(words) if kind not in kinds}))


class _Report:
    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = _flat(text)
        digits = _DIGITS.findall(text.replace(",", ""))
        self.numbers = {(round(float(number[:15]), 9), "") for number in digits}
        self.numbers.update(map(_number, _NUMBER.finditer(text)))
        self.values = {value for value, _ in self.numbers}
        self.last = reading.line_count(text)
        self._sentences: list[tuple[str, frozenset[str]]] | None = None

    def has(self, claim: str) -> bool:
        return _flat(claim).strip() in self.flat

    def has_path(self, path: str) -> bool:
        """Whether it names the path: in full, as the end of a longer one, or by its words."""
        bare = path.lower().removeprefix("./").rstrip("/")
        if any(end in self.flat for end in (bare, _flat(bare))):
            return True
        _, _, below = bare.partition("/")
        if below and f" {bare.rpartition('/')[2]}" in self.flat and below in self.flat:
            return True
        return "." not in bare and all(word in self.flat for word in bare.split("/"))

    def has_place(self, path: str, first: int, last: int) -> bool:
        """Whether a line of the report names the file with these lines or a span of them."""
        name = path.rpartition("/")[2]
        named = (line.partition(name) for line in self.text.split("\n") if name in line)
        spans = (span for _, _, rest in named for span in _spans(name + rest))
        return self.has_path(path) and any(a <= first and last <= b for a, b in spans)

    def about(self, words: frozenset[str]) -> list[str]:
        """The sentences about the same thing: they have most of these words."""
        if self._sentences is None:
            blocks = reading.blocks(reading.part(self.text))
            whole = [text for block in blocks for text in block.statements()]
            parts = [part for text in (*whole, *self.text.split("\n")) for part in text.split("; ")]
            toned = dict.fromkeys(filter(_tone, parts))
            self._sentences = [(text, _anchors(text)) for text in toned]
        return [text for text, has in self._sentences if len(words & has) >= _NEAR * len(words)]


def _claims(answer: str, report: _Report) -> Iterator[tuple[str, bool]]:
    """Every claim of the answer in its own words, and whether the report has it."""
    told = list(_told_facts(answer, report))
    yield from told
    shown = [claim for claim, _ in told]
    for match in _QUOTED.finditer(answer):
        quoted = match[1] or match[2]
        if not any(quoted in claim or claim in quoted for claim in shown):
            yield (f'"{quoted}"' if match[1] else quoted), report.has(quoted)
    rest = answer
    for claim in sorted(shown, key=len, reverse=True):
        rest = rest.replace(claim, " ")
    for figure, number in _told_numbers(_LINES.sub(" ", rest)):
        yield figure, number in report.numbers or (not number[1] and number[0] in report.values)
    own = authored.read(report.text).of_role("verdict")
    told_verdicts = authored.answer(answer).of_role("verdict")
    if told_verdicts and own:
        first = _ENDS_VERDICT.split(told_verdicts[0], 1)[0].strip()
        claim = f"Verdict: {first}"
        yield claim, report.has(claim) or _flat(first).strip() in _flat(" ".join(own))
    for match in _LINES.finditer(answer):
        if int((match[2] or match[1])[:9]) > report.last:
            yield match[0], report.has(match[0])


def _told_facts(answer: str, report: _Report) -> Iterator[tuple[str, bool]]:
    """The paths, places, addresses and identifiers of the answer, and whether each is found."""
    for kind, value, _ in facts.find(answer):
        place = _PLACE.match(value) if kind == "location" else None
        if place:
            first = int(place["first"][:9])
            last = max(first, int((place["last"] or place["first"])[:9]))
            yield value, report.has_place(place["path"], first, last)
        elif kind in ("path", "url", "commit", "id", "version") and not _LINES.match(value):
            yield value, report.has_path(value) if kind == "path" else report.has(value)


def _told_numbers(text: str) -> Iterator[tuple[str, tuple[float, str]]]:
    for line in text.split("\n"):
        for match in _NUMBER.finditer(_BULLET.sub("", line)):
            number = _number(match)
            if number[1] or number[0] >= _SMALL or number[0] % 1:
                unit = match["unit"] or ""
                unit = unit if _unit(unit) or unit.strip().lower() in _MULTIPLES else ""
                yield f"{match['sign']}{match['value']}{unit}", number


def _number(match: re.Match[str]) -> tuple[float, str]:
    value = float(match["value"].translate(_GROUPED)[:15])
    unit = (match["unit"] or "").strip(" -\u00a0").lower()
    kind, scale = _unit(unit) or (match["sign"], _MULTIPLES.get(unit, 1.0))
    return round(value * scale, 9), kind


def _unit(word: str) -> tuple[str, float] | None:
    bare = word.strip(" -\u00a0").lower()
    return _UNITS.get(bare) or _UNITS.get(bare.removesuffix("s"))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The line ranges of a file given by the words after its name."""
    for match in _SPANS.finditer(text):
        first = int(match[1])
        yield first, max(first, int(match[2] or first))


def _turned(answer: str, report: _Report) -> Iterator[str]:
    """The statements of success about what the report only calls a failure, or the reverse."""
    for block in reading.blocks(answer):
        for statement in block.statements():
            tone, words = _tone(statement), _anchors(statement)
            words = words - _WEAK if len(words - _WEAK) > 1 else words
            tones = set(map(_tone, report.about(words) if tone and words else ())) - {0}
            whole = tone > 0 and _ALL.search(statement) is not None
            is_weak = bool(words) and words <= _WEAK
            if whole and is_weak and _COUNTED.search(report.text):
                tones.add(-1)
            is_doubtful = tone not in tones or (whole and -1 in tones)
            if tones and is_doubtful:
                yield f'"{statement[:80]}"'


def _tone(statement: str) -> int:
    """1 for a success, -1 for a failure, 0 for neither or both."""
    bare = _ZERO.sub(" passes ", statement)
    flipped = len(_NEGATED.findall(bare))
    bare = _NEGATED.sub("", bare)
    fails, passes = bool(_FAILS.search(bare)), bool(_PASSES.search(bare))
    if fails == passes:
        return 0
    return (1 if passes else -1) * (-1 if flipped % 2 else 1)


def _anchors(statement: str) -> frozenset[str]:
    return frozenset(word.lower().strip(".-") for word in _ANCHOR.findall(statement)) - _EMPTY


def _flat(text: str) -> str:
    """The text without case, markup, and line breaks, for comparisons."""
    text = text.lower().replace("’", "'").replace("**", "").replace("`", "")
    return " " + " ".join(text.split())
