"""Vector clocks: which version of a document is newer, by change counts instead of times.

    {"k3…": 4, "p7…": 1}      the fourth change on one machine knew of the first on another

A version whose counts are all at least those of another came after it. If each has a count that the
other lacks, neither author knew of the other's change: that is a conflict. System clocks play no
part, so they may be off by a day.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Clock = dict[str, int]


def covers(one: Clock, other: Clock) -> bool:
    """Return whether `one` equals `other` or came after it."""
    return all(one.get(machine, 0) >= count for machine, count in other.items())


def joined(one: Clock, other: Clock) -> Clock:
    """Return the clock that covers both."""
    return {
        machine: max(one.get(machine, 0), other.get(machine, 0))
        for machine in sorted({*one, *other})
    }


def ticked(clock: Clock, machine: str, count: int) -> Clock:
    """Return `clock` after one more change by `machine`, its change number `count`."""
    return {**clock, machine: max(count, clock.get(machine, 0) + 1)}
