"""make torture: an enemy is let loose on the toolkit, and what falls is told.

    make torture [n=1000] [what=kills,races] [seed=1]      a table, and one line per defect
    make torture what=kills seed=1 only=42                 one trial again

A trial is drawn from the seed, its kind and its number alone, so that each can be repeated. The
exit status is 1 where something fell.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import forks
from scenes import Base

KINDS = ("kills", "races", "disk", "power", "reviews", "arguments", "secrets", "machines",
         "strangers", "time")  # fmt: skip
USUAL = KINDS[:-3]  # what takes a second or more a trial is done by name only
_TRIALS = {"strangers": 60}  # forty clones and twenty remotes, of some seconds each
_MODULES = {"reviews": "misread", "arguments": "hostile", "secrets": "leaks",
            "machines": "exchanges", "time": "slow"}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a trial did, and what fell."""

    kind: str
    number: int
    done: str
    defects: list[str]
    seconds: float


@dataclass
class Row:
    """The trials of one kind."""

    kind: str
    trials: int = 0
    fallen: int = 0
    seconds: float = 0.0
    note: str = ""
    lines: list[str] = field(default_factory=list)


_base: Base | None = None
_place = Path()


def _begin(place: str, base: Base) -> None:
    """In each worker: a folder of its own beside the others'."""
    global _base, _place
    forks.prepare()
    _base, _place = base, Path(place) / f"worker-{os.getpid()}"
    _place.mkdir()
    os.chdir(_place)


def attempt(task: tuple[str, int, int]) -> Outcome:
    """One trial in a fresh folder."""
    kind, seed, number = task
    begun = time.monotonic()
    folder = _place / f"{kind}-{number}"
    folder.mkdir()
    draw = random.Random(f"{seed} {kind} {number}")
    if _base is None:
        raise RuntimeError("no base")
    try:
        done, defects = module(kind).trial(_base, folder, draw)
    except Exception as error:
        done, defects = "the trial itself failed", [f"{type(error).__name__}: {error}"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(kind, number, done, defects, time.monotonic() - begun)


def module(kind: str) -> ModuleType:
    """The module of a kind: `missing()`, and `trial(base, folder, draw)`."""
    return importlib.import_module(_MODULES.get(kind, kind))


def tortured(
    kinds: Iterable[str], numbers: Iterable[int], seed: int, workers: int = 2
) -> list[Row]:
    """Run the trials of each kind, its usual ones without numbers; what falls is said at once."""
    rows = []
    given = list(numbers)
    with tempfile.TemporaryDirectory(
        prefix="torture-", dir=_scratch(), ignore_cleanup_errors=True
    ) as made:
        base = Base(Path(made).resolve() / "base")
        with multiprocessing.Pool(workers, _begin, (made, base)) as pool:
            for kind in kinds:
                row = Row(kind, note=module(kind).missing())
                rows.append(row)
                if row.note.startswith("skipped"):
                    continue
                begun = time.monotonic()
                wanted = given or range(_TRIALS.get(kind, 1000))
                tasks = [(kind, seed, number) for number in wanted]
                for outcome in pool.imap_unordered(attempt, tasks):
                    _count(row, outcome, seed, len(tasks))
                row.seconds = time.monotonic() - begun
            pool.close()
            pool.join()
    return rows


def _count(row: Row, outcome: Outcome, seed: int, of: int) -> None:
    row.trials += 1
    if outcome.defects:
        row.fallen += 1
        repeat = f"make torture what={row.kind} seed={seed} only={outcome.number}"
        row.lines += [f"{defect}\n    {outcome.done}\n    {repeat}" for defect in outcome.defects]
        print(row.lines[-1], file=sys.stderr)
    if row.trials % 50 == 0 or row.trials == of:
        print(f"{row.kind}: {row.trials} of {of}, {row.fallen} fell", file=sys.stderr)


def _scratch() -> str | None:
    """In memory where that can be had: nobody cuts the power there."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def table(rows: list[Row]) -> str:
    """One line per kind."""
    lines = [f"{'what':<10} {'trials':>7} {'fell':>6} {'seconds':>8}  note"]
    lines += [
        f"{row.kind:<10} {row.trials:>7} {row.fallen:>6} {row.seconds:>8.0f}  {row.note}".rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    """Read the options, run, print the table."""
    parser = argparse.ArgumentParser(description="let an enemy loose on the toolkit")
    parser.add_argument("--n", type=int, default=0, help="trials of each kind (1000)")
    parser.add_argument("--what", default=",".join(USUAL), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one trial")
    options = parser.parse_args()
    kinds = [word for word in options.what.replace(",", " ").split() if word]
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        parser.error(f"what: there is no {', '.join(unknown)}: {', '.join(KINDS)}")
    numbers = range(options.n) if options.only is None else [options.only]
    rows = tortured(kinds, numbers, options.seed, workers=os.cpu_count() or 2)
    print(table(rows))
    for row in rows:
        for line in row.lines:
            print(f"\n{row.kind}: {line}")
    return 1 if any(row.fallen for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
