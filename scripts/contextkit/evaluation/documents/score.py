"""The arithmetic: shares of right answers and their intervals.

A mark is worth 1, 0.5 or 0; wrong answers are counted apart, since a wrong answer is worse than
none. The interval is the middle 95 % of the shares of 1,000 samples of the documents, drawn with
replacement (percentile bootstrap; Efron, 1979), from a fixed seed.
"""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict

from contextkit.base import files
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Sequence
from contextkit.evaluation.documents.exchange import MARKS

ALL = "all"
KEPT = "evaluation.json"  # in the state folder
_SAMPLES, _SEED = 1000, 20251123
_LOW, _HIGH = 0.025, 0.975


class Sheet(NamedTuple):
    """The marks of one way to know a document: `tokens` are those that its reader was given."""

    document: str
    kind: str
    arm: str
    tokens: int
    marks: tuple[str, ...]


class Score(NamedTuple):
    """A row: shares in percent of the questions; `tokens` a document, on average."""

    arm: str
    kind: str
    documents: int
    questions: int
    right: float
    wrong: int
    tokens: int
    low: float
    high: float


def scores(sheets: Sequence[Sheet], arms: Sequence[str]) -> list[Score]:
    """A row for each arm and kind of text, after those for all kinds."""
    kinds = sorted({sheet.kind for sheet in sheets})
    rows = []
    for kind in (ALL, *(kinds if len(kinds) > 1 else ())):
        for arm in arms:
            chosen = [s for s in sheets if s.arm == arm and kind in (ALL, s.kind)]
            if chosen:
                rows.append(_score(arm, kind, chosen))
    return rows


def _score(arm: str, kind: str, sheets: list[Sheet]) -> Score:
    low, high = interval(sheets)
    return Score(
        arm=arm,
        kind=kind,
        documents=len(sheets),
        questions=sum(len(sheet.marks) for sheet in sheets),
        right=share(sheets),
        wrong=sum(sheet.marks.count("wrong") for sheet in sheets),
        tokens=round(sum(sheet.tokens for sheet in sheets) / len(sheets)),
        low=low,
        high=high,
    )


def share(sheets: Iterable[Sheet]) -> float:
    """Percent of the questions that were answered, to one decimal."""
    marks = [mark for sheet in sheets for mark in sheet.marks]
    return round(100 * sum(MARKS[mark] for mark in marks) / len(marks), 1) if marks else 0.0


def interval(sheets: Sequence[Sheet]) -> tuple[float, float]:
    """The 95 % interval of the share over samples of the documents."""
    draw = random.Random(_SEED)
    shares = sorted(share(draw.choices(sheets, k=len(sheets))) for _ in range(_SAMPLES))
    return shares[int(_LOW * _SAMPLES)], shares[int(_HIGH * _SAMPLES) - 1]


def save(layout: Layout, rows: Sequence[Score]) -> None:
    """Keep the rows of the last evaluation, for the report."""
    path = os.path.join(layout.state, KEPT)
    files.write(path, json.dumps([row._asdict() for row in rows]), derived=True)


def load(layout: Layout) -> list[dict[str, Any]]:
    """The rows of the last evaluation; none if there was none."""
    kept = files.read_if_there(os.path.join(layout.state, KEPT))
    return json.loads(kept) if kept else []


class Loss(NamedTuple):
    """A document of which the receipt's reader knew less than another's of the same size."""

    document: str
    kind: str
    receipt: float
    other: float


def losses(sheets: Sequence[Sheet], ours: str, other: str) -> list[Loss]:
    """Documents where `ours` did worse than `other`, the worst first."""
    by_document: dict[str, dict[str, Sheet]] = defaultdict(dict)
    for sheet in sheets:
        by_document[sheet.document][sheet.arm] = sheet
    lost = [
        Loss(name, arms[ours].kind, share([arms[ours]]), share([arms[other]]))
        for name, arms in by_document.items()
        if ours in arms and other in arms
    ]
    return sorted((x for x in lost if x.receipt < x.other), key=lambda x: x.receipt - x.other)
