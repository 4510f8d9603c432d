"""Time whole processes side by side, as ratios to a bare interpreter of the same environment.

Each round runs every case once, so that a machine that slows down slows all of them. The ratio is
the median over the rounds of processor time (of the process and what it started) to that of the
bare interpreter in the same round, which a busy machine changes little; `p50` and `p95` are
elapsed time, in ms. A limit is missed when a second measurement misses it too.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

BARE = [sys.executable, "-c", "pass"]
QUIET = [
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]


@dataclass
class Case:
    """One command; `limit` is the ratio it may cost, `over` the case whose ratio is taken off."""

    name: str
    command: list[str]
    limit: float | None = None
    over: str = ""
    stdin: str = os.devnull
    prepare: Callable[[], object] | None = None
    rounds: int = 1_000  # at most: for what takes long
    times: list[float] = field(default_factory=list)  # elapsed, ms
    costs: list[float] = field(default_factory=list)  # processor time, ms

    def once(self) -> None:
        if self.prepare:
            self.prepare()
        opened = [(os.POSIX_SPAWN_OPEN, 0, self.stdin, os.O_RDONLY, 0), *QUIET]
        start = time.perf_counter()
        process = os.posix_spawnp(self.command[0], self.command, os.environ, file_actions=opened)
        _, status, used = os.wait4(process, 0)
        self.times.append((time.perf_counter() - start) * 1000)
        self.costs.append((used.ru_utime + used.ru_stime) * 1000)
        if status:
            raise SystemExit(f"{self.name}: {' '.join(self.command)} ended with {status}")

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    def clear(self) -> None:
        self.times.clear()
        self.costs.clear()


def measure(cases: Sequence[Case], rounds: int) -> None:
    """Run all cases `rounds` times, one after the other in each round."""
    for number in range(rounds + 1):
        for case in cases:
            if number < case.rounds:
                case.once()
        if number == 0:  # the first round warms the disk cache
            for case in cases:
                if case.rounds > 1:
                    case.clear()
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{number}/{rounds} rounds ")
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 30 + "\r")


def ratios(cases: Sequence[Case]) -> dict[str, float]:
    """What each case costs, by name; the first is the bare interpreter."""
    bare = cases[0].costs
    named = {case.name: case for case in cases}
    found = {}
    for case in cases:
        without = named[case.over].costs if case.over else [0.0] * len(case.costs)
        rounds = zip(case.costs, without, bare, strict=False)
        found[case.name] = statistics.median((mine - its) / one for mine, its, one in rounds)
    return found


def missed(cases: Sequence[Case], found: dict[str, float]) -> list[Case]:
    """The cases above their limit."""
    return [case for case in cases if case.limit is not None and found[case.name] > case.limit]


def judged(cases: Sequence[Case], rounds: int) -> bool:
    """Measure all cases, and those above their limit once more; print a row each.

    True when every case keeps its limit.
    """
    measure(cases, rounds)
    found = ratios(cases)
    late = missed(cases, found)
    if late:
        beside = {case.over for case in late}
        again = [case for case in cases[1:] if case in late or case.name in beside]
        for case in (cases[0], *again):
            case.clear()
        measure((cases[0], *again), rounds)
        second = ratios((cases[0], *again))
        found |= {case.name: min(found[case.name], second[case.name]) for case in again}
    report(cases, found)
    return not missed(cases, found)


def report(cases: Sequence[Case], found: dict[str, float]) -> None:
    """Print one row per case."""
    over = missed(cases, found)
    print(f"{'command':<34} {'ratio':>6} {'may be':>6} {'p50 ms':>10} {'p95 ms':>8}")
    for case in cases:
        late = sorted(case.times)[int(len(case.times) * 0.95) - 1]
        limit = "" if case.limit is None else f"{case.limit:g}"
        sign = "+" if case.over else ""
        print(
            f"{case.name:<34} {sign + format(found[case.name], '.2f'):>6} {limit:>6}"
            f" {case.median:>10.1f} {late:>8.1f}{'  over' if case in over else ''}"
        )
