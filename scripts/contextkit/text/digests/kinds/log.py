"""A run of a tool, or a log: its verdict, its counts, every failure, then what is rare in it."""

from __future__ import annotations

import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.text.digests import diagnostics, failed_tests, failures, requests
from contextkit.text.digests.failure_words import says_failed
from contextkit.text.digests.failures import Failure
from contextkit.text.digests.kinds import plain
from contextkit.text.digests.lines import SUMS_UP, Lines, is_frame
from contextkit.text.digests.pieces import bare
from contextkit.text.digests.reading import Unit, line_count
from contextkit.text.words import TEXTS

_VERDICT = TEXTS.any_of("verdict")  # a line that summarizes a run
_BAD = TEXTS.any_of("bad verdict")
# The beginnings of verdicts that may stand far above the end, above the details of the failures
_EARLIER = Pattern(
    r"^(?:ℹ fail |(?:\d+ [a-z]+(?: [a-z]+)?, )*\d+ fail(?:ing|ed)$"
    r"|=.* (?:failed|error)|test result: FAILED|FAILED \("
    r"|(?:\[\w+\] )?BUILD FAIL)"
)
_EARLY = frozenset("ℹ=tF[B 123456789")  # their first characters
_EVENT = Pattern(
    r"^(?:\[?(?:INFO|DEBUG|NOTICE|TRACE|info|debug|notice)\b)"
)  # in a log, no last word
_COUNTS = Pattern(
    r"\b\d+ (?:tests? )?\w*(?:pass|fail|error|problem|example)|\b(?:failures|failed|errors)[=:]",
    re.I,
)
_RAISED = Pattern(r"[\w.$]*(?:Error|Exception)\b(?::|$)|thread '.*' panicked at|panic: ")
_RAISED_WARNING = Pattern(r"\w+Warning: \S")
_ASIDE = 1.2  # weight of a line that says nothing about the failure of a run
_FIRST = 3  # messages of a compiler before other failures
_LAST, _NEAR_END, _SHORT = 2, 4, 100  # lines at the end, among how many; their characters
_BEGINNING = 2  # first worded lines, which say what a text is if it is no run
_LEAST = 0.5  # weight of a line that says what a text is
_GRAVE = Pattern(  # words for what is worse than an error
    r"\b(?:FATAL|PANIC|panic|CRITICAL|EMERG\w*|SIG[A-Z]{3,4})\b|\bby signal \d"
    r"|[Oo]ut ?[Oo]f ?[Mm]emory|[Dd]eadlock|\blevel\"?[=:] ?\"?(?:fatal|panic|crit|emerg)"
)
_RESULT = Pattern(r"[\w.-]+: (?:FAIL|OK|SKIP)\b")  # of a tox environment
_BARE = Pattern(  # only says that something failed
    r"^(?:\W*exit(?:ed)?(?: code| status| with)?:? \d+\W*|exit status \d+; )+$"
    r"|^[^\d;]*\b(?:errors occurred|failed)\W*$",
    re.I,
)
_BARE_COUNT = Pattern(r"\d+ [a-z]+(?: \([\d.]+ ?\w+\))?$")
_ONE_PASSED = Pattern(r"Test +#\d+: .* Passed ")  # of ctest
_ANNOUNCES = Pattern(r"\b[1-9]\d* [\w ]+(?: \([^()]*\))?:$")  # so many of what is listed below
_ITEM = Pattern(r"\s*[-*] \S")
_NUMBER = Pattern(r"(?<![\w.:/-])\d[\d,]*(?![\w-]|[.:]\d)")
_CAUSE = "Caused by: "
_TWICE = Pattern(r"\b(\w+) \(((?:\w+\.)+)\1\)")  # `test_a (tests.Case.test_a)`
_NEAR = 3  # lines between two that count results together
_END = 40  # lines at the end among which the verdict is


class Run(NamedTuple):
    """What a run says: the kind of its text, whether something failed in it, its statements."""

    kind: str
    failed: bool
    units: list[Unit]


def run(text: Lines, status: int | None = None) -> Run:
    """The verdict, the counts, each distinct failure with its place, then the other lines."""
    messages, placed = diagnostics.find(text)
    refused, answered = requests.failed(text)
    verdict, of_verdict = _verdict(text, status, placed)
    failing, used, inside = failed_tests.find(text, of_verdict | placed | answered)
    failed = [_unit(above, below) for above, below in itertools.zip_longest(failing, failing[1:])]
    bad = any(_BAD.search(unit.text) for unit in verdict)
    is_good = bool(verdict) and not (bad or _RAISED.search(verdict[0].text))
    says_nothing = bool(verdict) and bool(_BARE.search(verdict[0].text))
    if failed and (is_good or says_nothing):
        at = min(range(len(failed)), key=lambda at: (failed[at].rank, at))
        verdict[0], failed[at] = verdict[0]._replace(key=False), failed[at]._replace(key=True)
    counted = any(_COUNTS.search(unit.text) for unit in verdict)
    stated = diagnostics.units(messages)
    units = [*verdict, *refused, *stated[:_FIRST], *failed, *stated[_FIRST:]]
    told = used | placed | of_verdict | answered
    prose = text.prose if told.isdisjoint(text.prose) else set()
    shown = prose | _titles(text, prose)
    paragraphs = [line * (at in shown) for at, line in enumerate(text.all if prose else ())]
    rest = [*plain.units("\n".join(paragraphs)), *text.statements(told | shown, inside)]
    if not (verdict or failed or messages):
        rest = _of_no_run(rest, text)
    rest = rest if messages or text.is_dated else _last_word(rest)
    has_failed = bool(failed or messages)
    says_so = bad and not says_nothing  # that it failed
    if verdict and (has_failed or says_so):
        apt = [unit for unit in rest if unit.group or unit.rank or _is_grave(unit, text.first + 1)]
        rest = apt if apt or has_failed else rest
    is_run = bool(verdict) and not text.is_prose
    has_events = text.is_dated and not text.prose
    kind = "log" if has_failed or is_run or has_events else "plain"
    is_alone = not (messages or counted)
    if is_alone and (failed or verdict):
        kind = "trace" if text.is_trace() else kind
    return Run(kind, has_failed, [*units, *rest])


def _titles(text: Lines, prose: set[int]) -> set[int]:
    """The short lines that stand alone above paragraphs."""

    def stands_alone(at: int) -> bool:
        around = [*text.all[max(0, at - 1) : at], text.all[at + 1]]
        return 0 < len(text.all[at]) < _SHORT and not any(map(str.strip, around))

    above = {at - 2 for at in prose if at > 1} - prose
    return {*filter(stands_alone, above)}


def _of_no_run(units: list[Unit], text: Lines) -> list[Unit]:
    """The units of a text that is no run: failures, or else its beginning, come first.

    The key is what is grave, else the last line that sums it up, else the worst failure.
    """
    end = line_count(text.whole) - _LAST
    bad = [unit for unit in units if unit.group and unit.text]
    failing = {unit.line for unit in bad if says_failed(unit.text) or unit.line > end}
    telling = (unit for unit in units if unit.text.count(" ") > 1 and unit.weight > _LEAST)
    worded = sorted({unit.line for unit in telling})[:_BEGINNING]
    first = {min((unit.line for unit in units), default=0), *(failing or worded)}
    units = [unit._replace(rank=unit.rank or 3 * (unit.line in first)) for unit in units]
    grave = [unit for unit in units if unit.group and _GRAVE.search(unit.text)]
    sums = [unit for unit in units if _sums_up(unit, end) and not text.is_event(unit.line - 1)]
    worst = sorted((unit for unit in units if unit.line in failing), key=lambda unit: unit.weight)
    main = (grave[:1] or sums[-1:] or worst[-1:]) if not text.is_prose else []
    return [unit._replace(key=True, rank=2) if unit in main else unit for unit in units]


def _sums_up(unit: Unit, end: int) -> bool:
    """Whether a unit sums up the text, by several numbers or as one of the lines at its end."""
    is_last = unit.line > end and any(map(str.isdigit, unit.text))
    counts = is_last or len(_NUMBER.findall(unit.text)) > 1
    return unit.times == 1 and counts and bool(SUMS_UP.search(unit.text))


def _is_grave(unit: Unit, top: int) -> bool:
    """Whether a unit weighs enough to be shown with a failure, not just as the first line."""
    return unit.weight > _ASIDE and unit.line != top


def _last_word(units: list[Unit]) -> list[Unit]:
    """The units, with a rank for the last short ones that say something."""
    end = max((unit.line for unit in units), default=0)
    worded = (unit for unit in units if " " in unit.text and not is_frame(unit.text))
    short = {unit.line for unit in worded if len(unit.text) < _SHORT}
    last = {line for line in sorted(short)[-_LAST:] if line > end - _NEAR_END}
    return [u._replace(rank=u.rank or 3) if u.line in last else u for u in units]


def _unit(failure: Failure, below: Failure | None) -> Unit:
    """The unit of a failure; the last of several causes in a row comes before the others."""
    is_root = failure.said.startswith(_CAUSE) and not (below and below.said.startswith(_CAUSE))
    short = re.split(r"::| › | > |\.(?=test[_A-Z])", re.sub(r" \([\w.]+\)", "", failure.name))[-1]
    text = _TWICE.sub(r"\2\1", failure.said)
    rank = 2 if is_root or _GRAVE.search(failure.said) else 3
    return Unit(failure.line + 1, "failed", text, 2.5, rank, "failed", short, times=failure.times)


def _verdict(text: Lines, status: int | None, placed: set[int]) -> tuple[list[Unit], set[int]]:
    """The units that sum up a run, failures first, and the lines that are shown in them.

    Of several such lines, they are the one with the highest counts, together with those right above
    it, and the last one. A failure of an earlier run, or above its details, is taken from anywhere.
    An exception after all of them is the last word. The list that a count announces follows it.
    """
    end = max(0, len(text.all) - _END)
    early = (n for n in text.failing if n < end and text.all[n][:1] in _EARLY)
    above = (n for n in early if _EARLIER.match(text.all[n].lstrip()))
    bad_above = [n for n in above if _BAD.search(text.all[n][:500])]
    beside = {m for n in bad_above for m in range(max(0, n - _NEAR + 1), n + 1)}
    read = [*sorted(beside), *text.below(end - 1)]
    plain = {n: line for n in read if (line := _plain(text, n))}
    # eslint gives the number of fixable problems below the total
    summary = [n for n in plain if n not in placed and _VERDICT.search(plain[n])
               and "fixable" not in plain[n]]  # fmt: skip
    raised = [n for n in text.below(end - 1) if n not in placed and _is_raised(text, n)][-1:]
    if raised and raised[0] > max(summary, default=-1):
        summary = [n for n in summary if _COUNTS.search(plain[n]) and _BAD.search(plain[n])]
        bad = summary = [*summary, *raised]
        plain[raised[0]] = failures.raised(text, raised[0])
    else:
        bad = [n for n in summary if _BAD.search(plain[n])] or summary
    ended = "" if status is None else f"exit status {status}"
    if not bad:
        units = [Unit(1, "verdict", ended, 3.0, 1, "verdict", key=True, derived=True)]
        return units if ended else [], set()
    counting = [n for n in bad if _COUNTS.search(plain[n])]
    counts = sorted(counting, key=lambda n: len(_COUNTS.findall(plain[n])))[-1:] or bad[-1:]
    apt = {n for n in summary if n in bad
           or not (_COUNTS.search(plain[n]) or _ONE_PASSED.search(plain[n]))}  # fmt: skip
    while counts and len(counts) < _NEAR and (close := {counts[0] - 1, counts[0] - 2} & apt):
        counts.insert(0, max(close))
    near = range(bad[-1] - _NEAR, bad[-1] + _NEAR + 1)  # each result has its own line
    alone = [n for n in summary if n in near and _BARE_COUNT.match(plain[n])]
    told = {*counts, bad[-1], *(alone if bad[-1] in alone else ())}
    results = [match[0] for n in plain if (match := _RESULT.match(plain[n]))]
    parts = dict.fromkeys([ended, *results, *(failures.shown(plain[n]) for n in sorted(told))])
    word = "; ".join(filter(None, parts))
    units = [Unit(bad[-1] + 1, "verdict", word, 3.0, 1, "verdict", key=True)]
    listed = text.below(bad[-1]) if _ANNOUNCES.search(word) else ()
    for at in itertools.takewhile(lambda at: _ITEM.match(text.all[at]), listed):
        units.append(Unit(at + 1, "", failures.shown(text.all[at]), 2.0, 3, "listed"))
        told.add(at)
    return units, told


def _is_raised(text: Lines, number: int) -> bool:
    """Whether a line is an exception, or a warning below the source that raised it."""
    is_warning = _RAISED_WARNING.match(text.all[number]) and text.all[number - 1][:2] == "  "
    return bool(is_warning or _RAISED.match(text.all[number]))


def _plain(text: Lines, number: int) -> str:
    """A line that may be a last word, without rules around it; '' for an event of a log."""
    line = bare(text.all[number]).strip("=- \t")
    is_event = line != text.all[number].strip("=- \t\r") and (text.is_dated or _EVENT.match(line))
    return "" if is_event else line
