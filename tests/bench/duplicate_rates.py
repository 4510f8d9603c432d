"""How well a synthesis finds what several reviewers reported, beside pairs that a person labeled.

    make bench_duplicates folder=DIR

`duplicate_pairs.txt` labels 277 pairs of findings: 126 that one change would fix, and 151 near
ones that it would not. They are of public reviews, mistakeknot/Clavain at 023da26 and
mistakeknot/interflux at 238fa9c. DIR is a checkout of the first, or a folder with
`reviews/<run>--<agent>.md`; the pairs whose files are there are used.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from places import SCRIPTS

LABELS = Path(__file__).with_name("duplicate_pairs.txt")
PUBLIC = Path("docs") / "research" / "flux-drive"

Pair = frozenset[str]  # two findings, each `run--agent/id`


def labels() -> dict[Pair, bool]:
    """Whether each labeled pair is about one thing."""
    found: dict[Pair, bool] = {}
    run = ""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            run = line.strip("[]")
        elif line[:1] in ("+", "-"):
            sign, *keys = line.split()
            found[frozenset(f"{run}--{key}" for key in keys)] = sign == "+"
    return found


def files_by_run(folder: Path) -> dict[str, list[Path]]:
    """The reviews in `folder`, by the run that they are of."""
    found: dict[str, list[Path]] = {}
    for path in sorted((folder / "reviews").glob("*--*.md")):
        found.setdefault(path.stem.partition("--")[0], []).append(path)
    for path in sorted((folder / PUBLIC).glob("*/*.md")):
        if "synthesis" in path.stem or "summary" in path.stem:
            continue  # what somebody made of the reviews
        found.setdefault(path.parent.name, []).append(path)
    return found


def reported(run: str, paths: list[Path], known: dict[Pair, bool]) -> tuple[set[str], set[Pair]]:
    """What the synthesis of a run has to say: the keys of its findings, and the pairs it found.

    Of two findings that may be duplicates every pair that is labeled as one counts, else one.
    """
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.base.layout import Layout
    from contextkit.reviews.flows import agent_files, synthesis

    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            agent = path.stem if path.stem.startswith(f"{run}--") else f"{run}--{path.stem}"
            Path(folder, f"{agent}.md").write_bytes(path.read_bytes())
        read = agent_files.read(Layout(folder), agent_files.Asked(folder=folder))
        found = synthesis.combined(list(read))
    keys = {row.key for one in found for row in one.rows}
    pairs = {
        frozenset((a.key, b.key)) for one in found for a in one.rows for b in one.rows if a is not b
    }
    for one, other in synthesis.possible_duplicates(found):
        those = [
            frozenset((a.key, b.key)) for a in one.rows for b in other.rows if a.agent != b.agent
        ]
        right = {pair for pair in those if known.get(pair)}
        pairs |= right or {next((pair for pair in those if pair in known), those[0])}
    return keys, pairs


class Rates:
    """Of the labeled pairs whose files are there: those found, those of them right, all right."""

    def __init__(self, folder: Path) -> None:
        known = labels()
        keys: set[str] = set()
        found: set[Pair] = set()
        for run, paths in files_by_run(folder).items():
            of_run, pairs = reported(run, paths, known)
            keys |= of_run
            found |= pairs
        there = {pair: same for pair, same in known.items() if pair <= keys}
        self.labeled = len(there)
        self.duplicates = sum(there.values())
        self.found = len(found & there.keys())
        self.right = sum(there.get(pair, False) for pair in found)
        self.unlabeled = len(found - there.keys())

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.duplicates)


def main() -> int:
    given = "".join(sys.argv[1:2]).removeprefix("--folder=")
    corpus = given or os.environ.get("CONTEXTKIT_CORPUS", "")
    if not corpus:
        print("duplicates across reviewers: folder= names no folder of real reviews")
        return 0
    rates = Rates(Path(corpus))
    print(f"duplicates across reviewers: {rates.labeled} labeled pairs, {rates.duplicates} of them"
          f" duplicates; {rates.found} found, {rates.right} right, {rates.unlabeled} not labeled"
          f" (precision {rates.precision:.0%}, recall {rates.recall:.0%})")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
