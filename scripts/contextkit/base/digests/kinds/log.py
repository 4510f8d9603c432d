"""A log or test run: its verdict, its counts, every failure with its location, its last lines."""

from __future__ import annotations

import re

from contextkit.base.digests import reading
from contextkit.base.digests.reading import Pattern, Unit

_STAMP = Pattern(
    r"^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?\]?\s"
    r"|^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\S+\s|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |^\[\d+\.\d+\] "
)
_LEVELS = ("PASSED", "PASS", "FAILED", "FAIL", "ERROR", "SKIPPED", "SKIP", "XFAIL", "XPASS",
           "WARNING", "WARN", "INFO", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE")  # fmt: skip
_LEVEL = Pattern(rf"\b({'|'.join(_LEVELS)})\b|^\s*(ok|not ok)\b|^\s*([✓✔✗✘×])")
_OPENINGS = ("[", *"0123456789", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
             "Oct", "Nov", "Dec")  # fmt: skip
_SIGNS = ("ok", "not ok", *"✓✔✗✘×")
_FAILS = Pattern(
    r"\b(?:FAILED|FAIL|FATAL|CRITICAL|PANIC|SEVERE)\b|\bERROR\b|^\s*not ok\b|^\s*[✗✘×]\s"
    r"|^(?:E   |npm ERR!|fatal:|panic:|error(?:\[\w+\])?:|Error:|make(?:\[\d+\])?: \*\*\*|--- FAIL)"
    r"|\b\w*(?:Error|Exception)\b:|: (?:fatal )?error\b|\bpanicked at\b|\bSegmentation fault\b"
    r"|\bTraceback \(most|exit(?:ed with)?(?: code| status)?:? [1-9]"
)
_NOT = Pattern(
    r"\b(?:0|no|without|zero) (?:errors?|failures?|failed)\b|\b(?:errors?|failed"
    r"|failures?)[=:] ?0\b"
    r"|\bPASS(?:ED)?\b|^\s*ok\b|^\s*[✓✔]",
    re.I,
)
_VERDICT = Pattern(
    r"\b\d+ (?:passed|failed|errors?|failing|passing|tests?|skipped|warnings?)\b|^Tests?:"
    r"|^test result:"
    r"|^BUILD |^FAILED \(|^OK(?: \(|$)|^Ran \d+ tests?|^(?:ok|FAIL)\s+\S+\s+[\d.]+s|exit (?:code"
    r"|status)"
    r"|^Process (?:finished|exited)|^Finished|^Done\b|^# (?:pass|fail|tests) \d+"
    r"|^error: could not compile",
    re.I,
)
_TEST = Pattern(r"\S+::\S+|\S+\.\w+:\d+(?::\d+)?|^(?:not ok \d+ -? ?|--- FAIL: )(\S.*)")
_PLACE = Pattern(r"[\w./-]+\.\w{1,5}:\d+(?::\d+)?")
_VARY = Pattern(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+")
_RESULTS = ("PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "WARNING", "WARN", "FATAL", "CRITICAL")
_LONGEST = 260  # characters shown of a line
_LOOKED_AT = 100  # lines that are looked at to tell the kind


def confidence(text: str) -> int:
    """By the share of lines that have a time or a level."""
    lines = [line for line in text[:20_000].split("\n") if line.strip()]
    if len(lines) < 3:
        return 0
    if "= test session starts =" in text[:2000] or "\nTAP version" in f"\n{text[:200]}":
        return 85
    formed = sum(reading.is_formed(line.lstrip()) for line in lines)
    if formed * 3 >= len(lines):
        return 0
    some = lines[:: -(-len(lines) // _LOOKED_AT)]
    if sum(map(_may_be_event, some)) * 5 <= len(some):
        return 0
    stamps = sum(bool(_STAMP.match(line)) for line in some)
    levels = sum(bool(_LEVEL.search(line)) for line in some)
    if max(stamps, levels) * 2 > len(some):
        return 85
    if formed or levels * 5 <= len(some):
        return 0
    return 40 if any(map(_VERDICT.search, text[-1500:].split("\n"))) else 0


def _may_be_event(line: str) -> bool:
    """Whether a line might have a time or a level; spares most texts the patterns."""
    return (
        line.startswith(_OPENINGS)
        or line.lstrip().startswith(_SIGNS)
        or any(level in line for level in _LEVELS)
    )


def units(text: str) -> list[Unit]:
    """The verdict, the counts, each distinct failure once with its location, the last lines."""
    lines = text.split("\n")
    failures, events = _failures(lines)
    found = [*_verdict(lines), *_counts(text, lines), *failures]
    last = [n for n in range(len(lines) - 1, max(-1, len(lines) - 12), -1) if lines[n].strip()][:2]
    seen = {unit.line for unit in found}
    found += [Unit(n + 1, "last lines", _cut(lines[n]), 1.0) for n in last if n + 1 not in seen]
    return found + events


def _verdict(lines: list[str]) -> list[Unit]:
    """The last line that summarizes the run."""
    for number in range(len(lines) - 1, max(-1, len(lines) - 40), -1):
        if _VERDICT.search(lines[number].strip("= \t")):
            said = _cut(lines[number].strip("=- \t"))
            return [Unit(number + 1, "verdict", said, 3.0, 1, "verdict", key=True)]
    return []


def _counts(text: str, lines: list[str]) -> list[Unit]:
    """The number of lines with each result or level; in a long log, how often each word occurs."""
    whole = getattr(text, "whole", "")
    counts = dict.fromkeys(_RESULTS, 0)
    if whole:
        counts = {name: whole.count(name) for name in _RESULTS}
        counts["WARN"] -= counts["WARNING"]
    else:
        for line in lines:
            level = _LEVEL.search(line)
            if level and level[1] in counts:
                counts[level[1]] += 1
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    if not said:
        return []
    total = reading.line_count(whole or text)
    return [Unit(1, "lines", f"{said} of {total}", 2.0, 2, "lines", derived=True)]


def _failures(lines: list[str]) -> tuple[list[Unit], list[Unit]]:
    """Each distinct failure once with its count, and other rare events."""
    seen: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if _FAILS.search(line) and not _NOT.search(line):
            bare = _STAMP.sub("", line).strip()
            named = _TEST.search(bare) if "FAILED" in bare or "not ok" in bare else None
            key = named[0] if named else _VARY.sub("0", bare)
            seen.setdefault(key.removesuffix(" FAILED"), []).append(number)
    found, known = [], set()
    for at in seen.values():
        best = max(at, key=lambda n: (" - " in lines[n], len(lines[n]) < _LONGEST, n == at[0]))
        said = _cut(_STAMP.sub("", lines[best]).strip())
        if said in known:
            continue
        known.add(said)
        place = _near(lines, best) if not _PLACE.search(said) else ""
        times = f" (x{len(at)})" if len(at) > 2 else ""
        short = (_TEST.search(said) or [said])[0]
        found.append(Unit(best + 1, "failed", f"{said}{place}{times}", 2.5, 3, "failed", short))
    return found, _warnings(lines)


def _near(lines: list[str], number: int) -> str:
    """The location given in the lines after a failure."""
    for line in lines[number + 1 : number + 5]:
        if place := _PLACE.search(line):
            return f" ({place[0]})"
    return ""


def _warnings(lines: list[str]) -> list[Unit]:
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        if "WARN" in line or "warning:" in line:
            found.setdefault(_VARY.sub("0", _STAMP.sub("", line)), number)
    return [Unit(n + 1, "warned", _cut(_STAMP.sub("", lines[n])), 0.8) for n in found.values()]


def _cut(line: str) -> str:
    line = " ".join(line.split())
    if len(line) <= _LONGEST:
        return line
    blank = line.rfind(" ", 0, _LONGEST)
    return line[: blank if blank > 100 else _LONGEST] + " …"
