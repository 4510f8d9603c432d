"""Whether a text is a test run, whatever the runner: known by what it prints, not what it quotes.

    runners.wrote(text)      whether a runner of tests wrote it

A runner counts the results in a line of its own, above or below its failures, and sets titles
between rules. It may quote source or help, which does not make the text source or help.
"""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base.expressions import Pattern

_RESULT = r"(?:pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?)"
_COUNTS = Pattern(  # a line outside of source that may count results
    rf"(?!.*[\"'`{{}}\\]).*(?:\b\d[\d,]*%? (?:tests? )?{_RESULT}|\b{_RESULT}(?:=|: +)\d"
    r"|\d (?:tests? in|examples),? )",
    re.I,
)
_COUNTED = ("pass", "fail", "error", "test in", "tests in", "examples")  # it holds one of these
_WORDS = Pattern(r"[^\W\d_]+")
_OF_COUNTS = frozenset(
    "test tests file files suite suites result run runs ran passed passing pass failed failing fail"
    " failures failure errors error skipped skips pending ignored measured filtered out finished in"
    " s ms seconds second total duration time examples assertions warnings warning xfailed xpassed"
    " deselected rerun executed with unexpected completed of todo subtests successes".split()
)
_OTHERS = 4  # words, one of which may be another than these
_STATES = Pattern(r"^(?:(?:ok|FAIL)[ \t]+\S+[ \t]+[\d.]+s|Result: (?:PASS|FAIL))$", re.M)
_BANNER = Pattern(r"^([=_─━⎯])\1{2,} \S.* \1{3,}$", re.M)
_SOURCE = Pattern(  # begins a file of source
    r"\s*(?:#|//|/\*|<\?|[\"']{3}|(?:import|from|package|use|using|module|require|def|class|export"
    r"|const|namespace)\b)"
)
_END = 6  # lines at the end, one of which may be the last word
_BANNERS = 2


@functools.lru_cache(maxsize=4)
def wrote(text: str) -> bool:
    """Whether a test runner wrote the text; source that quotes one begins as source."""
    if _says_results("\n".join(text.rstrip().rsplit("\n", _END)[-_END:])):
        return True
    banners = itertools.islice(_BANNER.finditer(text), _BANNERS)
    return not _SOURCE.match(text) and (len([*banners]) == _BANNERS or _says_results(text))


def _says_results(text: str) -> bool:
    """Whether a line counts test results and nothing else: `3 passed, 1 failed in 2 s`."""
    rows = (row for row in text.lower().split("\n") if any(map(row.__contains__, _COUNTED)))
    return bool(_STATES.search(text)) or any(map(_is_count, rows))


def _is_count(row: str) -> bool:
    if not _COUNTS.match(row):
        return False
    words = _WORDS.findall(row)
    others = sum(word not in _OF_COUNTS for word in words)
    return others * _OTHERS <= len(words)
