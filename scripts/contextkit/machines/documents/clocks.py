"""Which version of a document is newer: a count for each machine that changed it, and no time.

    {"k3…": 4, "p7…": 1}      the fourth change on one machine knew of the first on another

A version that counts at least as much as another everywhere came after it. Where each of two has
a count that the other lacks, neither author knew of the other: that is a conflict. Clocks of
operating systems play no part, so that they may differ by a day.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Clock = dict[str, int]


def covers(one: Clock, other: Clock) -> bool:
    """Whether `one` is `other`, or came after it."""
    return all(one.get(machine, 0) >= count for machine, count in other.items())


def joined(one: Clock, other: Clock) -> Clock:
    """What knows of both."""
    return {
        machine: max(one.get(machine, 0), other.get(machine, 0))
        for machine in sorted({*one, *other})
    }


def ticked(clock: Clock, machine: str, count: int) -> Clock:
    """The version that `machine` makes of this one, as its change number `count`."""
    return {**clock, machine: max(count, clock.get(machine, 0) + 1)}
