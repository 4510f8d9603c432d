"""Time whole processes side by side, as ratios to a bare interpreter of the same environment.

Each round runs every case once, so that a machine that slows down slows all of them. The
ratio is that of the medians; `p95` is the 95th percentile of the case alone, in ms.
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
    times: list[float] = field(default_factory=list)

    def once(self) -> None:
        if self.prepare:
            self.prepare()
        opened = [(os.POSIX_SPAWN_OPEN, 0, self.stdin, os.O_RDONLY, 0), *QUIET]
        start = time.perf_counter()
        process = os.posix_spawnp(self.command[0], self.command, os.environ, file_actions=opened)
        _, status = os.waitpid(process, 0)
        self.times.append((time.perf_counter() - start) * 1000)
        if status:
            raise SystemExit(f"{self.name}: {' '.join(self.command)} ended with {status}")

    @property
    def median(self) -> float:
        return statistics.median(self.times)


def measure(cases: Sequence[Case], rounds: int) -> None:
    """Run all cases `rounds` times, one after the other in each round."""
    for number in range(rounds + 1):
        for case in cases:
            if number < case.rounds:
                case.once()
        if number == 0:  # the first round warms the disk cache
            for case in cases:
                if case.rounds > 1:
                    case.times.clear()
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{number}/{rounds} rounds ")
    if sys.stderr.isatty():
        sys.stderr.write("\r" + " " * 30 + "\r")


def report(cases: Sequence[Case]) -> bool:
    """Print one row per case; True when every one keeps its limit."""
    bare = cases[0].median
    named = {case.name: case for case in cases}
    kept = True
    print(f"{'command':<34} {'ratio':>6} {'may be':>6} {'p50 ms':>10} {'p95 ms':>8}")
    for case in cases:
        ratio = case.median / bare
        if case.over:  # round by round: both ran under the same load
            pairs = zip(case.times, named[case.over].times, strict=True)
            ratio = statistics.median(mine - its for mine, its in pairs) / bare
        late = sorted(case.times)[int(len(case.times) * 0.95) - 1]
        limit = "" if case.limit is None else f"{case.limit:g}"
        over = case.limit is not None and ratio > case.limit
        kept = kept and not over
        sign = "+" if case.over else ""
        print(
            f"{case.name:<34} {sign + format(ratio, '.2f'):>6} {limit:>6} {case.median:>10.1f}"
            f" {late:>8.1f}{'  over' if over else ''}"
        )
    return kept
