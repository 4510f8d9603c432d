"""The prompts for the model, the reading of its answers, and the arithmetic of the marks.

An answer is the first JSON value in what comes back; one not in the form asked for is an
Unusable, which is counted and never guessed at. A mark is worth 1, 0.5 or 0; wrong answers are
counted apart. The interval is the middle 95 % of the shares of 1,000 samples of the documents,
drawn with replacement (percentile bootstrap; Efron, 1979), from a fixed seed.
"""

from __future__ import annotations

import json
import os
import random

from contextkit.base import files, names, templates
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Iterable, Sequence

MARKS = {"right": 1.0, "half": 0.5, "wrong": 0.0, "unknown": 0.0}  # the value of each
MOST_LINES = 80  # of a part that a reader may open
ALL = "all"
KEPT = "evaluation.json"  # in the state folder
_ANSWER = 400  # characters of an answer that are marked
_TRIES = 50  # places tried in an answer as the beginning of its JSON
_SAMPLES, _SEED = 1000, 20251123
_LOW, _HIGH = 0.025, 0.975
_decoder = json.JSONDecoder()


class Unusable(Exception):
    """An answer that is not of the form that was asked for."""


class Question(NamedTuple):
    question: str
    key: str


class Sheet(NamedTuple):
    """The marks of one arm for a document; `tokens` are those that its reader was given."""

    document: str
    kind: str
    arm: str
    tokens: int
    marks: tuple[str, ...]


def ask_for_questions(text: str, count: int) -> str:
    return templates.render("eval_questions.md", text=text, count=str(count))


def questions(answer: str, most: int) -> tuple[Question, ...]:
    """Read the questions; raises Unusable where there is none."""
    pairs = [
        Question(names.one_line(entry["question"]), names.one_line(entry["key"]))
        for entry in _json(answer, "[")
        if isinstance(entry, dict)
        and all(isinstance(entry.get(n), str) and entry[n].strip() for n in ("question", "key"))
    ]
    if not pairs:
        raise Unusable
    return tuple(pairs[:most])


def ask_for_answers(asked: Sequence[Question], context: str, sections: str = "") -> str:
    """The prompt for answers; the reader may open one part of `sections` (headings with lines)."""
    return templates.render(
        "eval_answers.md",
        questions=tuple(question.question for question in asked),
        context=context, sections=sections, most=str(MOST_LINES),
    )  # fmt: skip


def answers(answer: str, count: int) -> tuple[str, ...]:
    """Read `count` answers; raises Unusable for another number of them."""
    texts = _json(answer, "[")
    if len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise Unusable
    return tuple(names.one_line(text)[:_ANSWER] for text in texts)


def lines_asked_for(answer: str) -> tuple[int, int] | None:
    """The range of lines that a reader wants to open; None if it answered instead."""
    try:
        lines = _json(answer, "{").get("lines")
    except Unusable:
        return None
    whole = isinstance(lines, list) and len(lines) == 2 and all(type(n) is int for n in lines)
    if not whole or not 0 < lines[0] <= lines[1]:
        return None
    return lines[0], min(lines[1], lines[0] + MOST_LINES - 1)


def ask_for_marks(asked: Sequence[Question], answers: dict[str, tuple[str, ...]]) -> str:
    """The prompt for marks; `answers` maps letters to answers and hides who gave them."""
    rows = [
        {"question": question.question, "key": question.key,
         "answers": [{"letter": k, "text": v[at] or "unknown"} for k, v in answers.items()]}
        for at, question in enumerate(asked)
    ]  # fmt: skip
    return templates.render("eval_marks.md", rows=rows)


def read_marks(answer: str, letters: Sequence[str], count: int) -> dict[str, tuple[str, ...]]:
    """Read a mark for each letter and question; raises Unusable unless all are there."""
    entries = _json(answer, "[")
    if len(entries) != count or not all(isinstance(entry, dict) for entry in entries):
        raise Unusable
    read = {letter: tuple(entry.get(letter) for entry in entries) for letter in letters}
    if not all(mark in MARKS for row in read.values() for mark in row):
        raise Unusable
    return read


def _json(answer: str, opening: str) -> Any:
    """The first JSON value in `answer` that begins with `opening`, fenced or not."""
    at = answer.find(opening)
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            return _decoder.raw_decode(answer, at)[0]
        except (json.JSONDecodeError, RecursionError):
            at = answer.find(opening, at + 1)
    raise Unusable


def scores(sheets: Sequence[Sheet], arms: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each arm, then for each arm and kind of text; shares are in percent."""
    kinds = sorted({sheet.kind for sheet in sheets})
    rows = []
    for kind in (ALL, *(kinds if len(kinds) > 1 else ())):
        for arm in arms:
            chosen = [s for s in sheets if s.arm == arm and kind in (ALL, s.kind)]
            if chosen:
                low, high = interval(chosen)
                rows.append({
                    "id": f"{arm} {kind}", "arm": arm, "kind": kind, "documents": len(chosen),
                    "questions": sum(len(sheet.marks) for sheet in chosen),
                    "right": share(chosen), "low": low, "high": high,
                    "wrong": sum(sheet.marks.count("wrong") for sheet in chosen),
                    "tokens": round(sum(sheet.tokens for sheet in chosen) / len(chosen)),
                })  # fmt: skip
    return rows


def share(sheets: Iterable[Sheet]) -> float:
    """The percentage of questions that were answered, to one decimal."""
    marks = [mark for sheet in sheets for mark in sheet.marks]
    return round(100 * sum(MARKS[mark] for mark in marks) / len(marks), 1) if marks else 0.0


def interval(sheets: Sequence[Sheet]) -> tuple[float, float]:
    """The 95 % interval of the share over samples of the documents."""
    draw = random.Random(_SEED)
    shares = sorted(share(draw.choices(sheets, k=len(sheets))) for _ in range(_SAMPLES))
    return shares[int(_LOW * _SAMPLES)], shares[int(_HIGH * _SAMPLES) - 1]


def losses(sheets: Sequence[Sheet], ours: str, other: str) -> list[dict[str, Any]]:
    """Documents where `ours` did worse than `other`, the worst first."""
    by_arm = {arm: {s.document: s for s in sheets if s.arm == arm} for arm in (ours, other)}
    lost = [
        {"document": name, "kind": sheet.kind, ours: own, other: others}
        for name, sheet in by_arm[ours].items()
        if name in by_arm[other]
        and (own := share([sheet])) < (others := share([by_arm[other][name]]))
    ]  # fmt: skip
    return sorted(lost, key=lambda row: row[ours] - row[other])


def save(layout: Layout, rows: Sequence[dict[str, Any]]) -> None:
    """Keep the rows of the last evaluation, for the report."""
    files.write(os.path.join(layout.state, KEPT), json.dumps(rows), derived=True)


def load(layout: Layout) -> list[dict[str, Any]]:
    """The rows of the last evaluation; none if there was none."""
    kept = files.read_if_there(os.path.join(layout.state, KEPT))
    return json.loads(kept) if kept else []
