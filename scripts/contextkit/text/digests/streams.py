"""Outputs of several things that run at once: each of their lines begins with who printed it.

    streams.cut(text)        {"@acme/api:build": {4: "src/db.ts(14,9): error …"}}, by line from 0

So do runners of monorepos, containers, and scripts side by side. What such a line says is what its
thing printed; the same message of two of them is two.
"""

from __future__ import annotations

from contextkit.text.digests import lines
from contextkit.text.digests.lines import Piece
from contextkit.text.patterns import Pattern

_OWNED = Pattern(  # `api | `, `[api] `, `@acme/api:build: `, `packages/api build: `
    r"(?:(?P<bar>[\w@./#:-]+?) +\|(?: |$)|\[(?P<box>[\w@./#:-]+)\]:?(?: |$)"
    r"|(?P<path>(?=\S*[/@#])[\w@./#:-]*\w(?: \w+)?)(?:: |:$))"
)
_PLACE = Pattern(r"\.\w{1,4}$|:\d+(?::|$)|^\d+$|^gw\d+$")  # that is no name
_LEAST, _MOST = 3, 40  # lines of each; things that run at once
_SHARE = 0.6  # of the lines


def cut(text: str) -> dict[str, dict[int, str]]:
    """What each thing printed, by its name; nothing if there are not several."""
    found: dict[str, dict[int, str]] = {}
    for number, (name, said) in lines.in_pieces(text, _owned):
        found.setdefault(name, {})[number] = said
    count = sum(map(len, found.values()))
    are_several = 1 < len(found) <= _MOST and count >= _LEAST * len(found)
    is_most = are_several and count >= _SHARE * sum(map(bool, lines.lines_of(text)))
    return found if is_most else {}


@lines.of_piece
def _owned(piece: Piece) -> list[tuple[int, tuple[str, str]]]:
    """The lines of a piece that begin with who printed them, by number: that, and the rest."""
    rows = ((number, row) for number, row in enumerate(piece.all) if row[:1].strip())
    owned = [(number, match, row[match.end() :]) for number, row in rows
             if (match := _OWNED.match(row))]  # fmt: skip
    named = [(number, match["bar"] or match["box"] or match["path"], said)
             for number, match, said in owned]  # fmt: skip
    others = {name for name in {name for _, name, _ in named} if _is_other(name)}
    return [(number, (name, said)) for number, name, said in named if name not in others]


def _is_other(name: str) -> bool:
    """Whether a name is a place or the level of an event."""
    is_level = name.isupper() or name.lower() in _LEVELS
    return is_level or bool(_PLACE.search(name)) or lines.says_failure(name)


_LEVELS = frozenset("info debug warn warning notice trace error ok changed skipping note".split())
