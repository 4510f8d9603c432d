"""A log or test run: its verdict, its counts, every failure with its location, its last lines."""

from __future__ import annotations

import re
from collections import Counter

from contextkit.text.digests import failures, reading
from contextkit.text.digests.reading import Pattern, Unit

_LEVELS = ("PASSED", "PASS", "FAILED", "FAIL", "ERROR", "SKIPPED", "SKIP", "XFAIL", "XPASS",
           "WARNING", "WARN", "INFO", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE")  # fmt: skip
_LEVEL = Pattern(
    rf"\b({'|'.join(_LEVELS)})\b|^\s*(ok|not ok)\b|^\s*([✓✔✗✘×])"
    r"|\b(level)\"?[=:] ?\"?\w|^([IWEF]\d{4}) \d\d:\d\d:"
)  # logfmt or JSON; klog
# What a line with a time begins with, and one with a sign of `_LEVEL`
_OPENINGS = ("[", *"0123456789", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
             "Oct", "Nov", "Dec", "I0", "I1", "W0", "W1", "E0", "E1", "F0", "F1")  # fmt: skip
_SIGNS = ("ok", "not ok", *"✓✔✗✘×")
_VERDICT = Pattern(  # a line that summarizes a run
    r"(?<![.:\d])\b\d+ (?:passed|failed|errors?|failing|passing|tests?|examples?|problems?|skipped"
    r"|warnings?)\b|^(?:\[\w+\] +)?(?:Tests?: |Tests run:|BUILD )|^test results?:|^FAILED \("
    r"|^(?-i:OK)(?: \(|$)"
    r"|^Ran \d+ tests?|^(?:ok|FAIL)\s+\S+\s+[\d.]+s|exit (?:code|status)|^(?:Failed|Passed)! "
    r"|^Process (?:finished|exited)|^Finished|^Done\b|^[#ℹ] (?:pass|fail|tests) \d+"
    r"|^error: could not compile|^make(?:\[\d+\])?: \*\*\* \[|^ERROR: failed to solve",
    re.I,
)
_BAD = Pattern(  # a verdict that is not good
    r"\b[1-9]\d* (?:\w+ )?(?:failed|failing|failures?|errors?|problems?)\b"
    r"|\b(?:failures?|failed|errors?)[=:] *[1-9]|\bFAIL|could not|exit (?:code|status):? [1-9]"
    r"|\*\*\*|failed to",
    re.I,
)
# How a verdict begins that may stand far above the end, above the details of the failures
_EARLIER = ("ℹ fail ", "=", "test result: FAILED", "FAILED (")
_COUNTS = Pattern(r"\b\d+ \w*(?:pass|fail|error|problem)|\b(?:failures|failed|errors)[=:]", re.I)
_OF_A_TOOL = Pattern(  # how a tool reports a failure, or its end
    failures.OF_A_TOOL + r"|^(?:error(?:\[\w+\])?: |npm (?:ERR!|error) |--- FAIL: |fatal: |FAILED )"
    r"|^(?:Error: |ERROR: |ERROR in )|^\d+:\d+ +error "
    r"|^\S+\.\w{1,5}(?::\d+(?::\d+)?|\(\d+,\d+\))(?::| -) (?:fatal )?error\b"
    r"|^(?:make(?:\[\d+\])?: \*\*\* \[|[✕✗✘×✖●] \S|--> \S+:\d+|BUILD (?:FAIL|SUCC)|test result: )"
    r"|^(?:Tests: +\d|\d+ examples?, |\d+ (?:passing|failing)\b|(?:Found|✖) \d+ (?:error|problem))"
    r"|^\d+% tests passed|\[FAIL\]$"
)
_END_OF_A_TOOL = Pattern(  # the last lines of a test runner, linter, or compiler
    r"^=* ?\d+ (?:passed|failed|errors?|skipped|xfailed|deselected)\b.* in [\d.]+s\b"
    r"|^=* ?no tests ran in|^Ran \d+ tests? in [\d.]+s$|^Found \d+ errors?\b|^\d+ errors?$"
    r"|^(?:make(?:\[\d+\])?: \*\*\* |collect2: error: |error: could not compile )"
)
# What is in a text with such a line, and in one with messages of a compiler
_ENDS = ("ed in ", "errors in ", "error in ", "test in ", "tests in ", "ran in ",
         " errors\n", " error\n", "\nFound ", ": *** ", "collect2: error",
         "could not compile")  # fmt: skip
_OF_A_COMPILER = (": error: ", ": note: ", ": warning: ", ": In function ", "   required from ",
                  "--> ")  # fmt: skip
_RESULTS = ("PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "WARNING", "WARN", "FATAL", "CRITICAL")
_STATUS = Pattern(r"\bHTTP/[\d.]+\" ([1-5]\d\d)\b")  # of a request
_NO_DIGITS = str.maketrans("", "", "0123456789")
_NAME = Pattern(r"\S+::\S+")
_SAYS = Pattern(  # a line with two words, other than a frame of a trace or a heading
    r"^(?!\s*(?:at |FAIL\w*\W*$)).*\w.*\w.*[^:]$"
)
_LOOKED_AT = 100  # lines that are looked at to tell the kind
_END = 40  # lines at the end among which the verdict is


def confidence(text: str) -> int:
    """By the share of lines with a time or a level, or that begin alike around a tool's failure."""
    lines = [line for line in text[:20_000].split("\n") if line.strip()]
    if len(lines) < 3:
        return 0
    if "= test session starts =" in text[:2000] or "\nTAP version" in f"\n{text[:200]}":
        return 92
    compiled = _has(text[:20_000], _OF_A_COMPILER) and _compiled(lines)
    formed = 0 if compiled else reading.formed(map(str.lstrip, lines))
    if formed * 3 >= len(lines):
        return 0
    if _has_part_of_a_run(text) and not _is_prose(lines):
        return 92
    some = lines[:: -(-len(lines) // _LOOKED_AT)]
    stamps = levels = 0
    if sum(map(_may_be_event, some)) * 5 > len(some):
        stamps = sum(failures.bare(line) != line.strip() for line in some)
        levels = sum(bool(_LEVEL.search(line)) for line in some)
    if max(stamps, levels) * 2 > len(some):
        return 85
    written = any(line.startswith(("## ", "### ", "<")) for line in lines)  # by people
    if not written and formed * 5 < len(lines) and (compiled or _alike(lines)):
        ends = text[-5000:].split("\n") if len(text) > 20_000 else []
        if any(_OF_A_TOOL.search(failures.bare(line)) for line in [*lines, *ends]):
            return 60
    if formed or levels * 5 <= len(some):
        return 0
    return 40 if any(map(_VERDICT.search, text[-1500:].split("\n"))) else 0


def _has_part_of_a_run(text: str) -> bool:
    """Whether a heading of a test runner's report is there, or the end of a tool's output."""
    if _headed(text[:3000], "= FAILURES =") or _headed(text[-5000:], "= short test summary info ="):
        return True
    end = text[-1500:] + "\n"
    if _has(end, _ENDS) and any(map(_END_OF_A_TOOL.match, end.split("\n"))):
        return True
    return "\nℹ fail " in text


def _headed(text: str, words: str) -> bool:
    """Whether `words` are in a line that begins with `=`, unlike in code that quotes it."""
    at = text.find(words)
    return at >= 0 and text[text.rfind("\n", 0, at) + 1] == "="


def _is_prose(lines: list[str]) -> bool:
    """Whether more than a third of the lines are sentences."""
    sentences = sum(
        line.rstrip().endswith((".", "!", "?")) and line.count(" ") > 5 for line in lines
    )
    return sentences * 3 > len(lines)


def _may_be_event(line: str) -> bool:
    """Whether a line might have a time or a level; spares most texts the patterns."""
    return (
        line.startswith(_OPENINGS)
        or line.lstrip().startswith(_SIGNS)
        or "level" in line
        or any(level in line for level in _LEVELS)
    )


def _has(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text for part in parts)


def _compiled(lines: list[str]) -> bool:
    """Whether more than half of the lines are messages of a compiler, or the source they quote."""
    quoted = sum(line.lstrip(" 0123456789").startswith("|") for line in lines)
    return (sum(_has(line, _OF_A_COMPILER) for line in lines) + quoted) * 2 > len(lines)


def _alike(lines: list[str]) -> bool:
    """Whether more than half of the lines begin with a word that others begin with, too."""
    openings = [line.split(None, 1)[0].translate(_NO_DIGITS) for line in lines]
    often = Counter(openings)
    return sum(count for count in often.values() if count > 2) * 2 > len(lines)


def units(text: str) -> list[Unit]:
    """The verdict, the counts, each distinct failure once with its location, the last lines."""
    lines = text.split("\n")
    verdict, summary = _verdict(lines)
    failed = [
        Unit(one.line + 1, "failed", one.said, 2.5, 3, "failed", one.name)
        for one in failures.find(lines, summary)
    ]
    counted = any(_COUNTS.search(unit.text) for unit in verdict)
    found = [*verdict, *([] if counted else _counts(text, lines)), *failed]
    seen = {unit.line - 1 for unit in found} | summary
    return [*found, *_last(lines, seen, 0.4 if failed else 1.0), *_warnings(lines)]


def _last(lines: list[str], seen: set[int], weight: float) -> list[Unit]:
    """The last two lines that say anything, unless they are in `seen`."""
    end = range(len(lines) - 1, max(-1, len(lines) - 12), -1)
    last = [n for n in end if _SAYS.search(lines[n])][:2]
    said = {n: failures.shown(failures.bare(lines[n])) for n in last if n not in seen}
    return [
        Unit(n + 1, "last lines", text, weight)
        for n, text in said.items()
        if not (weight < 1 and failures.FAILS.search(text))
    ]


def _verdict(lines: list[str]) -> tuple[list[Unit], set[int]]:
    """What summarizes the run, a failure before a success; the lines that do, from 0.

    Of several such lines, it is the last one with a count, and the last one of all. A failure of
    an earlier run, or above its details, counts wherever it is.
    """
    end = max(0, len(lines) - _END)
    earlier = [n for n in range(end) if lines[n].startswith(_EARLIER) and _BAD.search(lines[n])]
    read = [*earlier, *range(end, len(lines))]
    said = {n: failures.bare(lines[n].strip("=- \t")) for n in read}
    # eslint says how many of its problems are fixable below their number
    summary = [n for n in read if _VERDICT.search(said[n]) and "fixable" not in said[n]]
    bad = [n for n in summary if _BAD.search(said[n])] or summary
    if not bad:
        return [], set()
    counts = [n for n in bad if _COUNTS.search(said[n])]
    text = "; ".join(failures.shown(said[n]) for n in dict.fromkeys([*counts[-1:], bad[-1]]))
    return [Unit(bad[-1] + 1, "verdict", text, 3.0, 1, "verdict", key=True)], set(summary)


def _counts(text: str, lines: list[str]) -> list[Unit]:
    """The number of lines with each result, level, or status; in a long log, how often each occurs.

    A test that is named twice with the same result counts once.
    """
    whole = getattr(text, "whole", "")
    counts = dict.fromkeys(_RESULTS, 0)
    if whole:
        counts = {name: whole.count(name) for name in _RESULTS}
        counts["WARN"] -= counts["WARNING"]
    else:
        seen = set()
        for number, line in enumerate(lines):
            level = _LEVEL.search(line)
            if level and level[1] in counts:
                name = _NAME.search(line)
                seen.add((level[1], name[0] if name else number))
        counts |= Counter(result for result, _ in seen)
    statuses = Counter(_STATUS.findall(whole or text))
    counts |= {f"HTTP {status}": count for status, count in statuses.most_common()}
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    if not said:
        return []
    total = reading.line_count(whole or text)
    return [Unit(1, "lines", f"{said} of {total}", 2.0, 2, "lines", derived=True)]


def _warnings(lines: list[str]) -> list[Unit]:
    """Each distinct warning once."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        if "WARN" in line or "warning:" in line:
            found.setdefault(failures.varying(failures.bare(line)), number)
    return [
        Unit(n + 1, "warned", failures.shown(failures.bare(lines[n])), 0.8) for n in found.values()
    ]
