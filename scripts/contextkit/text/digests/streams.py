"""Outputs of several programs that run at once: each line begins with the name of its writer.

    streams.cut(lines)       {"@acme/api:build": {4: "src/db.ts(14,9): error …"}}, by line from 0

Runners of monorepos, containers, and parallel scripts print them. The rest of a line is what its
program printed; the same message from two of them counts twice.
"""

from __future__ import annotations

import functools

from contextkit.base.expressions import Pattern
from contextkit.text.digests import failure_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_OWNED = Pattern(  # `api | `, `[api] `, `@acme/api:build: `, `pkgs/api build: `; a job, a step
    r"(?:(?P<job>[^\t\n]{1,80})\t[^\t\n]*\t\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z(?: |$)"
    r"|(?P<bar>[\w@./#:-]+?) +\|(?: |$)|\[(?P<box>[\w@./#:-]+)\]:?(?: |$)"
    r"|(?P<path>(?=\S*[/@#])[\w@./#:-]*\w(?: \w+)?)(?:: |:$))"
)
_PLACE = Pattern(r"\.\w{1,4}$|:\d+(?::|$)|^\d+$|^gw\d+$")  # no name
_SAMPLE = 100  # lines by which such an output is known
_LEAST, _MOST = 3, 40  # lines of each; programs at once
_SHARE = 0.6  # of the lines begin with a name


def cut(rows: list[str]) -> dict[str, dict[int, str]]:
    """The lines of each program, by its name; empty if there are not several."""
    if not _are_owned(rows[:_SAMPLE]):
        return {}
    least = _SHARE * sum(map(bool, rows))
    streams: dict[str, dict[int, str]] = {}
    for number, row in enumerate(rows):
        if (owned := _OWNED.match(row)) and not _is_other(name := _name(owned)):
            streams.setdefault(name, {})[number] = row[owned.end() :]
            if len(streams) > _MOST:
                return {}
    count = sum(map(len, streams.values()))
    are_streams = len(streams) > 1 and count >= least
    return streams if are_streams and count >= _LEAST * len(streams) else {}


def _are_owned(rows: list[str]) -> bool:
    """Whether most lines at the margin begin with a name."""
    some = [row for row in rows if row[:1].strip()]
    owned = filter(None, map(_OWNED.match, some))
    return sum(not _is_other(_name(match)) for match in owned) >= _SHARE * len(some)


def _name(owned: re.Match[str]) -> str:
    return str(next(filter(None, owned.groupdict().values())))


@functools.lru_cache(4096)
def _is_other(name: str) -> bool:
    """Whether a name is rather a place or the level of an event."""
    is_level = name.isupper() or name.lower() in _LEVELS
    return is_level or bool(_PLACE.search(name)) or failure_words.says_failure(name)


_LEVELS = frozenset("info debug warn warning notice trace error ok changed skipping note".split())
