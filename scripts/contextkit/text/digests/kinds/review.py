"""A review: its verdict, every finding of the highest priority, then their descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextkit.base import markdown
from contextkit.base.expressions import Pattern
from contextkit.text import authored
from contextkit.text.digests import reading
from contextkit.text.digests.kinds import report
from contextkit.text.digests.reading import Unit

_SEVERITY = (
    "P[0-3]|IMP|BLOCKERS?|CRITICAL|HIGH|MEDIUM|LOW|MAJOR|MINOR|NITS?|INFO(?:RMATIONAL)?|SUGGESTION"
    "|KRITISCH|HOCH|CRÍTIC[OA]|ALT[OA]|CRITIQUE"
)
_INDEX = Pattern(rf"^\s*[-*+]\s*\W{{0,4}}({_SEVERITY})\W{{0,4}}\s*\|\s*(.+)$", re.I)
_SIGNS = ("P0", "P1", "P2", "P3", "IMP", "BLOCKER", "CRITICAL", "HIGH", "MEDIUM", "LOW", "MAJOR",
          "MINOR", "INFO")  # fmt: skip
_HINTS = "p0 p1 p2 severity verdict critical high medium".split()  # one of which a review has
_WORDS = "CRITICAL|HIGH|MEDIUM|LOW|MAJOR|MINOR|INFO|Critical|High|Medium|Low|Info"
_LEAST = 1e-6  # weight of a finding that comes after all others, whatever facts it has
_SLIGHT = ("LOW", "MINOR", "P3", "NIT", "INFO", "INFORMATIONAL", "SUGGESTION")
_TITLE = Pattern(
    rf"^(#{{2,6}})\s+(?:Finding\s+|Issue\s+)?(?:\d+(?:\.\d+)*[.):]\s*)?(.*?"
    rf"((?:\b(?:P[0-3]|IMP|BLOCKERS?)\b(?!-?agent))|(?<=[\[(])(?:{_WORDS})(?=[\])])"
    rf"|\b(?:{_WORDS})(?=:\s))"
    r".*)$"
)
_ITEM = Pattern(  # `- [P1] a.py:3 - what is wrong`, `- **[P1] What is wrong** - a.py:3`
    rf"^[-*+]\s+(\*\*)?\[({_SEVERITY})\]\W{{0,4}}\s(.+)$", re.I
)
_ALONE = Pattern(rf"^\W*({_SEVERITY})\b", re.I)  # a heading of several findings: `## P0`
_JUDGED = Pattern(r"^[\W\d]*(?:overall |final )?verdict\W*(?:[:*]|$)", re.M | re.I)
_NONE = Pattern(r"(?:none|nothing|no|n/a|keine?)\b.{0,20}$", re.I)
_OWN_LINE = Pattern(
    rf"^\W*(?:severity|priority|schweregrad|gravidade|gravedad)\W*[:|]\W*({_SEVERITY})\b", re.I
)
_PLACE = Pattern(r"`?(?<![\w./-])([\w./-]+\.\w{1,5}(?::\d+(?:-\d+)?)|[\w.-]+/[\w./-]+\.\w{1,5})`?")
_IDENTITY, _NO_WORD = Pattern(r"\b[A-Z][A-Z0-9]*-\d+\b"), Pattern(r"\W+")
_GRADED, _IN_BRACKETS = Pattern(rf"\b(?:{_SEVERITY})\b", re.I), Pattern(r"\(.*?\)")
_OF_GROUPS = Pattern(
    r"[\W\d_]+|\b(?:findings?|issues?|priority|severity|important|blocking|critical|high|medium|low"
    r"|major|minor|must|should|fix|nice to have|problems?|recommendations?|items?|before|merge"
    r"|phase|tier|core|enhancements?|improvements?)\b",
    re.I,
)
_LONGEST = 140  # characters of a verdict
_ORDER = {"P0": 2, "BLOCKER": 2, "CRITICAL": 2, "KRITISCH": 2, "CRÍTICO": 2, "CRITIQUE": 2,
          "P1": 3, "HIGH": 3, "MAJOR": 3, "HOCH": 3, "ALTO": 3}  # fmt: skip


def confidence(text: str) -> int:
    """The confidence by an index of findings, or by headings with a verdict or with severities."""
    sample = text[:40_000]
    lowered = sample.lower()
    if "findings index" in lowered and "#" in sample:
        return 80
    if not any(word in lowered for word in _HINTS):
        return 0
    lines = sample.split("\n")
    listed = [line for line in lines if "|" in line and line.lstrip()[:1] in "-*+"]
    rows = sum(bool(_INDEX.match(line)) for line in listed)
    marked = [line for line in lines if line[:3] in ("- [", "* [", "- *", "* *")]
    rows += sum(bool(_ITEM.match(line)) for line in marked)
    if rows > 1:
        return 80
    levels = [(line, markdown.heading(line)[0]) for line in lines if line[:1] == "#"]
    if not levels:
        return 0
    below = (line for line, level in levels if level > 1)
    titles = [line for line in below if any(map(line.upper().count, _SIGNS))]
    heads = [match for line in titles if (match := _TITLE.match(line))]
    own = sum(_own(reading.plain(head[2]), head[3]) for head in heads)
    own += sum(bool(_OWN_LINE.match(line)) for line in lines if "everity" in line)
    if _JUDGED.search(sample):
        own += sum(bool(_alone(markdown.heading(line)[1])) for line in titles)
    return 80 if own and "verdict" in lowered else 55 if own > 2 else 0


def units(text: str) -> list[Unit]:
    """Verdict and findings by severity, then sentences as in a report, those on findings first."""
    lines = text.split("\n")
    told = [*_verdicts(text), *findings(text)]
    listed = {unit.line: _letters(unit.text) for unit in told}
    for unit in report.statements(text):
        if _INDEX.match(lines[unit.line - 1]) or _heads(unit.text, listed.get(unit.line, "")):
            continue
        told.append(unit)
    return told


def findings(text: str) -> list[Unit]:
    """Every finding of a review with its severity as its group; P0s have rank 2, P1s rank 3.

    Where there are none of these, the middle ones come before the slight ones in the same way.
    """
    lines = text.split("\n")
    units = _findings(lines, [*_named(lines)] or [*_grouped(text)])
    if any(unit.rank for unit in units):
        return units
    return [unit if unit.group in _SLIGHT else unit._replace(rank=3) for unit in units]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _heads(text: str, finding: str) -> bool:
    """Whether a sentence repeats a finding that has its own line."""
    text = _letters(text)
    repeats = text[:40] in finding or finding[:40] in text
    return bool(finding and text) and repeats


def _verdicts(text: str) -> list[Unit]:
    """The verdict that the author states, with its label."""
    told = [part for part in authored.read(text).statements if part.role == "verdict"]
    verdict = " ".join(part.text for part in told if part.line == told[0].line)
    verdict = reading.clause(f"{told[0].aspect}: {verdict}", _LONGEST) if told else ""
    return [Unit(told[0].line, "verdict", verdict, 3.0, 1, "verdict", key=True)] if verdict else []


def _findings(lines: list[str], named: list[tuple[str, str, int]]) -> list[Unit]:
    """Each finding once, from its index row, its heading, or the title above its label."""
    findings: list[Unit] = []
    seen: set[str] = set()
    for severity, title, at in named:
        identity = _IDENTITY.search(title)
        key = _NO_WORD.sub("", title.lower())[:60]
        keys = {key, identity[0] if identity else key}
        if keys & seen or not title:
            continue
        seen |= keys
        graded, _, rest = title.partition(": ")
        title = rest if rest and _name(graded) == severity else title
        title = reading.clause(title, 200) or title[:200]
        place = _place(lines, at, identity[0] if identity else "")
        if place and place not in title:
            title = f"{title} ({place})"
        rank = _ORDER.get(severity, 0)
        stated = _PLACE.search(title)
        short = identity[0] if identity else place or (stated[1] if stated else title[:60])
        weight = 2.2 if rank else _LEAST if severity in _SLIGHT else 1.3
        findings.append(Unit(at, severity, title, weight, rank, severity, short))
    return findings


def _named(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """(severity, title, line) wherever a finding is named outside code blocks."""
    title, title_at = "", 0
    for number, line in markdown.outside_fences("\n".join(lines)):
        level, heading = markdown.heading(line)
        if level:  # the first level is the review itself
            title, title_at = reading.plain(heading) * (level > 1), number
        if row := _INDEX.match(line):
            parts = [reading.plain(part).strip(' "') for part in row[2].split("|")]
            ends = (parts[0], parts[-1]) if len(parts) > 1 else (parts[0],)
            yield _name(row[1]), " - ".join(filter(None, ends)), number
        elif item := _ITEM.match(line):
            yield _name(item[2]), _title_of(item[3], bool(item[1])), number
        elif (head := _TITLE.match(line)) and _own(heading := reading.plain(head[2]), head[3]):
            yield _name(head[3]), heading, number
        elif title and (own := _OWN_LINE.match(line)) and _own(title, own[1]):
            yield _name(own[1]), title, title_at


def _grouped(text: str) -> Iterator[tuple[str, str, int]]:
    """The same for items, else headings, below a heading that is only a severity: `## P0`."""
    told = ""
    for block in reading.blocks(text):
        depth = next((n for n, title in enumerate(block.titles) if n and _alone(title)), 0)
        title = "".join(block.titles[depth + 1 : depth + 2])
        is_item = block.kind == "item" and block.lead[-1:] in ("", ":")
        if depth and (title != told if title else is_item):
            words = _placed(title, block.text) if title else reading.plain(block.text)
            yield _alone(block.titles[depth]), "" if _NONE.match(words) else words, block.line
        told = title


def _alone(heading: str) -> str:
    """The severity that a heading consists of, perhaps with general words: `P0 findings (2)`."""
    match = _ALONE.match(heading)
    return _name(match[1]) if match and not _others(heading, match[1]) else ""


def _title_of(text: str, is_bold: bool) -> str:
    """The title of an item's finding: its bold words with the place, or its first sentence."""
    bold, closing, rest = text.partition("**")
    if not (is_bold and closing):
        return next(reading.sentences(reading.plain(text)), "")
    return _placed(reading.plain(bold), rest)


def _placed(title: str, text: str) -> str:
    """A title with the place that follows soon after it."""
    place = _PLACE.search(text[:120])
    return f"{title} ({place[1]})" if place and place[1] not in title else title


def _own(title: str, severity: str) -> bool:
    """Whether a heading names a finding: by an id, or by words besides severity and count."""
    return bool(_IDENTITY.search(title)) or len(_others(title, severity)) > 1


def _others(title: str, severity: str) -> list[str]:
    """The words of a heading besides a severity, a count, and general words for findings."""

    def other(match: re.Match[str]) -> str:
        return "" if match[0].upper() == severity.upper() else match[0]

    rest = _GRADED.sub(other, _IN_BRACKETS.sub("", title))
    return str(_OF_GROUPS.sub(" ", rest)).split()


def _name(severity: str) -> str:
    name = severity.upper()
    return name.rstrip("S") if name in ("BLOCKERS", "NITS") else name


def _place(lines: list[str], at: int, identity: str) -> str:
    """The first location in the finding's own section."""
    if identity:
        named = [n for n, line in enumerate(lines) if identity in line and n >= at]
        at = next((n + 1 for n in named if markdown.heading(lines[n])[0]), at if not named else 0)
        if not at:
            return ""
    if not markdown.heading(lines[at - 1])[0]:
        return ""
    for line in lines[at : at + 12]:
        if markdown.heading(line)[0]:
            break
        if place := _PLACE.search(line):
            return str(place[1])
    return ""
