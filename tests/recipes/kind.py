"""The state of a queue: `job 17: failed: disk full`, one a line. An example of a kind of text."""

from __future__ import annotations

from contextkit.base.expressions import Pattern
from contextkit.text.digests.reading import Unit

_JOB = Pattern(r"(?m)^job (?P<number>\d+): (?P<state>.*)$")


def confidence(text: str) -> int:
    """100 if every line is a job's."""
    return 100 if len(_JOB.findall(text)) == len(text.strip().splitlines()) else 0


def units(text: str) -> list[Unit]:
    """A statement for each job; failed ones come first."""
    return [
        Unit(number, "job", line, rank=1 if "failed" in line else 0)
        for number, line in enumerate(text.splitlines(), 1)
        if _JOB.match(line)
    ]
