"""Knowing a finding again in the next run, also when it moved or was reworded; pure."""

from __future__ import annotations

from contextkit.reviews.flows.likeness import Likeness, Told, is_pair
from contextkit.reviews.flows.synthesis import Finding


def matches(
    found: list[Finding], identities: list[str], earlier: list[Finding], known: list[str]
) -> dict[int, int]:
    """For the number of a finding that was there before, its number in `earlier`.

    By its identity, else by its place and like words, the most alike first; each one once.
    """
    pairs: dict[int, int] = {}
    for number, identity in enumerate(identities):
        olds = [old for old, one in enumerate(known) if one == identity]
        free = [old for old in olds if old not in pairs.values()]
        if free:
            pairs[number] = free[0]
    for number, old in _alike(found, earlier):
        if number not in pairs and old not in pairs.values():
            pairs[number] = old
    return pairs


def _alike(found: list[Finding], earlier: list[Finding]) -> list[tuple[int, int]]:
    alike = Likeness([_told(one) for one in (*found, *earlier)])
    pairs = []
    for number in range(len(found)):
        for old in range(len(earlier)):
            other = len(found) + old
            if is_pair(alike, number, other)[1]:
                pairs.append((alike.of(number, other), number, old))
    return [(number, old) for _, number, old in sorted(pairs, reverse=True)]


def _told(one: Finding) -> Told:
    row = one.rows[0]
    return Told(title=row.title, section=row.section, text=row.text, place=row.place)
