"""Requests in the log of a server: which ones were refused or failed, how often, and for whom.

requests.failed(text)       a unit for each status from 400 on, and the lines it covers
"""

from __future__ import annotations

import re
from collections import Counter

from contextkit.base.expressions import Pattern
from contextkit.text.digests import reading
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.reading import Unit

_REQUEST = Pattern(
    r"^(?P<who>\S+) .*?\"(?P<what>[A-Z]{3,7} [^\s\"?]+)[^\"]* HTTP/[\d.]+\\?\" "
    r"(?P<status>[45]\d\d)\b",
    re.M,
)
_MARKS = (' HTTP/1.0" ', ' HTTP/1.1" ', ' HTTP/2.0" ', ' HTTP/2" ', ' HTTP/3.0" ')
_SHOWN, _MOST = 3, 8  # requests of a status, and statuses
_OFTEN = 3  # requests of one client from which on it is named


def failed(text: Lines) -> tuple[list[Unit], set[int]]:
    """What was answered with each status from 400 on; the worst and most frequent first."""
    if not text.holds(*_MARKS):
        return [], set()
    by_status: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for number, match in reading.places(_REQUEST, text.whole):
        by_status.setdefault(match["status"], []).append((number, match))
    units = []
    worst = sorted(by_status, key=lambda status: (status < "5", -len(by_status[status])))[:_MOST]
    for status in worst:
        same = by_status[status]
        requests = reading.listed(Counter(match["what"] for _, match in same), _SHOWN)
        who, times = Counter(match["who"] for _, match in same).most_common(1)[0]
        requests += f" ({who} x{times})" * (times >= _OFTEN and times * 2 > len(same))
        what = f"HTTP {status}: {requests}"
        units.append(Unit(same[0][0] + 1, "", what, 2.5, 2, "failed", derived=True))
    return units, {number for status in worst for number, _ in by_status[status]}
