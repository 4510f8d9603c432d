"""How many duplicates across reviewers a synthesis finds, beside pairs that people marked.

    make bench_duplicates folder=DIR

The folder holds `reviews/<review>--<agent>.md`. A pair is two findings of different agents that one
change would fix; the labels name files and ids only.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from places import SCRIPTS

PAIRS = (
    ("2026-02-12-flux-gen-drive-integration--fd-architecture/P1-3",
     "2026-02-12-flux-gen-drive-integration--fd-quality/P1-4"),
    ("flux-gen-review--fd-prompt-engineering/IMP-1", "flux-gen-review--fd-user-product/IMP-3"),
    ("strongdm-techniques--fd-performance/P1-1", "strongdm-techniques--oracle-council/P1-3"),
    ("interflux--adjacent--fd-security/row-3",
     "interflux--probe-2--fd-fusion-security-x-performance/row-1"),
    ("interflux--adjacent--fd-security/row-3",
     "interflux--probe-2--fd-fusion-security-x-performance/row-4"),
    ("interflux--adjacent--fd-security/row-4",
     "interflux--probe-2--fd-fusion-security-x-performance/row-2"),
    ("interflux--adjacent--fd-security/row-4", "interflux--probe-0--fd-adjudicator/row-1"),
    ("interflux--probe-0--fd-adjudicator/row-1",
     "interflux--probe-2--fd-fusion-security-x-performance/row-2"),
)  # fmt: skip


def found_in(folder: Path) -> set[frozenset[str]]:
    """The pairs that are made one finding or said to be possible duplicates."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.base.layout import Layout
    from contextkit.reviews.flows import agent_files, reports, synthesis

    layout = Layout(str(folder))
    read = agent_files.read(layout, agent_files.Asked(folder=str(folder)))
    found = synthesis.combined([reports.source_of(reading) for reading in read])
    wanted = {frozenset(pair) for pair in PAIRS}
    pairs = set()
    for a, b in synthesis.possible_duplicates(found):
        rows = [
            frozenset((f"{x.agent}/{x.id}", f"{y.agent}/{y.id}")) for x in a.rows for y in b.rows
        ]
        pairs.add(next((pair for pair in rows if pair in wanted), rows[0]))
    for one in found:
        keys = [f"{row.agent}/{row.id}" for row in one.rows]
        pairs |= {frozenset((a, b)) for a in keys for b in keys if a < b}
    return pairs


def rates(folder: Path) -> tuple[int, int, int]:
    """How many pairs were found, how many of them are right, and how many there are."""
    found, wanted = found_in(folder), {frozenset(pair) for pair in PAIRS}
    return len(found), len(found & wanted), len(wanted)


def main() -> int:
    corpus = sys.argv[1] if sys.argv[1:] else os.environ.get("CONTEXTKIT_CORPUS", "")
    if not corpus:
        print("duplicates across reviewers: folder= names no folder of real reviews")
        return 0
    found, right, wanted = rates(Path(corpus) / "reviews")
    print(f"duplicates across reviewers: {found} found, {right} of them right"
          f" (precision {right / max(1, found):.0%}), {wanted} marked"
          f" (recall {right / wanted:.0%})")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
