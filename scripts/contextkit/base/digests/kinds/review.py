"""A review: its verdict, every finding of the highest priority, then their descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextkit.base.digests import reading
from contextkit.base.digests.kinds import report
from contextkit.base.digests.reading import Pattern, Unit

_SEVERITY = (
    "P[0-3]|IMP|BLOCKERS?|CRITICAL|HIGH|MEDIUM|LOW|MAJOR|MINOR|NITS?"
    "|KRITISCH|HOCH|CRÍTIC[OA]|ALT[OA]|CRITIQUE"
)
_INDEX = Pattern(rf"^\s*[-*+]\s*\W{{0,4}}({_SEVERITY})\W{{0,4}}\s*\|\s*(.+)$", re.I)
_SIGNS = ("P0", "P1", "P2", "P3", "IMP", "BLOCKER", "CRITICAL", "HIGH", "MEDIUM", "LOW", "MAJOR",
          "MINOR")  # fmt: skip
_WORDS = "CRITICAL|HIGH|MEDIUM|LOW|MAJOR|MINOR|Critical|High|Medium|Low"
_TITLE = Pattern(
    rf"^(#{{2,6}})\s+(?:Finding\s+|Issue\s+)?(?:\d+[.):]\s*)?(.*?"
    rf"((?:\b(?:P[0-3]|IMP|BLOCKERS?)\b(?!-?agent))|(?<=[\[(])(?:{_WORDS})(?=[\])])|\b(?:{_WORDS})(?=:\s))"
    r".*)$"
)
_OWN_LINE = Pattern(
    rf"^\W*(?:severity|priority|schweregrad|gravidade|gravedad)\W*[:|]\W*({_SEVERITY})\b", re.I
)
_VERDICT = Pattern(
    r"^\W*(?:overall\s+)?(?:verdict|urteil|veredicto|verdetto)\b\W*[:：—-]\s*\W*(\S.*)$", re.I
)
_HEADING = Pattern(r"^#{1,6}\s")
_PLACE = Pattern(r"`?([\w./-]+\.\w{1,5}(?::\d+(?:-\d+)?)|[\w.-]+/[\w./-]+\.\w{1,5})`?")
_ORDER = {"P0": 2, "BLOCKER": 2, "CRITICAL": 2, "KRITISCH": 2, "CRÍTICO": 2, "CRITIQUE": 2,
          "P1": 3, "HIGH": 3, "MAJOR": 3, "HOCH": 3, "ALTO": 3}  # fmt: skip


def is_it(text: str) -> int:
    """By an index of findings, or by headings with a verdict or with severities."""
    sample = text[:40_000]
    lowered = sample.lower()
    if "findings index" in lowered and "# " in sample:
        return 80
    if not any(word in lowered for word in ("p0", "p1", "p2", "severity", "verdict", "critical")):
        return 0
    lines = sample.split("\n")
    listed = [line for line in lines if "|" in line and line.lstrip()[:1] in "-*+"]
    rows = sum(bool(_INDEX.match(line)) for line in listed)
    if rows > 1:
        return 80
    titles = [line for line in lines if line[:2] == "##" and any(map(line.upper().count, _SIGNS))]
    heads = [found for line in titles if (found := _TITLE.match(line))]
    own = sum(_own(reading.plain(head[2]), head[3]) for head in heads)
    own += sum(bool(_OWN_LINE.match(line)) for line in lines if "everity" in line)
    verdict = any(_VERDICT.match(line) for line in lines if "erdict" in line)
    return 80 if own and verdict else 55 if own > 2 else 0


def units(text: str) -> list[Unit]:
    """Verdict and findings by severity, then sentences as in a report, those on findings first."""
    lines = text.split("\n")
    found = [*_verdicts(lines), *_findings(lines)]
    told = {unit.line for unit in found}
    for unit in report.units(text):
        if unit.line not in told and not _INDEX.match(lines[unit.line - 1]):
            found.append(unit)
    return found


def _verdicts(lines: list[str]) -> list[Unit]:
    for number, line in enumerate(lines, start=1):
        if _VERDICT.match(line):
            return [
                Unit(
                    number,
                    "verdict",
                    reading.plain(line.strip("-* #")),
                    3.0,
                    1,
                    "verdict",
                    key=True,
                )
            ]
    return []


def _findings(lines: list[str]) -> list[Unit]:
    """Each finding once, from its index row, its heading, or the title above its label."""
    found: list[Unit] = []
    seen: set[str] = set()
    for severity, said, at in _named(lines):
        identity = re.search(r"\b[A-Z][A-Z0-9]*-\d+\b", said)
        key = re.sub(r"\W+", "", said.lower())[:60]
        keys = {key, identity[0] if identity else key}
        if keys & seen or not said:
            continue
        seen |= keys
        said = reading.clause(said, 200) or said[:200]
        place = _place(lines, at, identity[0] if identity else "")
        if place and place not in said:
            said = f"{said} ({place})"
        rank = _ORDER.get(severity, 0)
        short = identity[0] if identity else said[:60]
        found.append(Unit(at, severity, said, 2.2 if rank else 1.3, rank, severity, short))
    return found


def _named(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """(severity, title, line) wherever a finding is named outside code blocks."""
    title, title_at, fenced = "", 0, False
    for number, line in enumerate(lines, start=1):
        fenced ^= line.lstrip()[:3] == "```"
        if fenced:
            continue
        if _HEADING.match(line):
            title, title_at = reading.plain(line.lstrip("# ")), number
        if row := _INDEX.match(line):
            parts = [reading.plain(part).strip(' "') for part in row[2].split("|")]
            ends = (parts[0], parts[-1]) if len(parts) > 1 else (parts[0],)
            yield _name(row[1]), " - ".join(filter(None, ends)), number
        elif (head := _TITLE.match(line)) and _own(said := reading.plain(head[2]), head[3]):
            yield _name(head[3]), said, number
        elif title and (own := _OWN_LINE.match(line)):
            yield _name(own[1]), title, title_at


def _own(said: str, severity: str) -> bool:
    """Whether a heading names a finding: it has an id, or words besides a severity and a count."""
    if re.search(r"\b[A-Z][A-Z0-9]*-\d+\b", said):
        return True
    rest = re.sub(rf"\b{re.escape(severity)}\b|\(.*?\)", "", said, flags=re.I)
    rest = re.sub(r"[\W\d_]+|" + _OF_GROUPS, " ", rest, flags=re.I)
    return len(rest.split()) > 1


_OF_GROUPS = (
    r"\b(?:findings?|issues?|priority|severity|important|blocking|critical|high|medium|low|major|minor"
    r"|must|should|fix|nice to have|problems?|recommendations?|items?|before|merge|phase|tier|core"
    r"|enhancements?|improvements?)\b"
)


def _name(severity: str) -> str:
    name = severity.upper()
    return name.rstrip("S") if name in ("BLOCKERS", "NITS") else name


def _place(lines: list[str], at: int, identity: str) -> str:
    """The first location in the finding's own section."""
    if identity:
        named = [n for n, line in enumerate(lines) if identity in line and n >= at]
        at = next((n + 1 for n in named if _HEADING.match(lines[n])), at if not named else 0)
        if not at:
            return ""
    elif not _HEADING.match(lines[at - 1]):
        return ""
    for line in lines[at : at + 12]:
        if _HEADING.match(line):
            break
        if place := _PLACE.search(line):
            return str(place[1])
    return ""
