"""What the model is asked, and how its answers are read.

Three kinds of call: questions with keys about a text, answers to them from some material, marks for
the answers. A prompt is a template; an answer is the first JSON value in what comes back. An answer
that is not of the form asked for is an Unusable, which is counted and never guessed at.
"""

from __future__ import annotations

import json

from contextkit.base import names, templates
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Sequence

MARKS = {"right": 1.0, "half": 0.5, "wrong": 0.0, "unknown": 0.0}  # and what each is worth
MOST_LINES = 80  # of a part that a reader may open
_ANSWER = 400  # characters of an answer that are marked
_TRIES = 50  # places in an answer where its JSON may begin
_decoder = json.JSONDecoder()


class Unusable(Exception):
    """An answer that is not of the form that was asked for."""


class Question(NamedTuple):
    question: str
    key: str


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
    """`sections` are headings with their lines, of which the reader may open one part."""
    return templates.render(
        "eval_answers.md",
        questions=tuple(question.question for question in asked),
        context=context,
        sections=sections,
        most=str(MOST_LINES),
    )


def answers(answer: str, count: int) -> tuple[str, ...]:
    """Read `count` answers; raises Unusable for another number of them."""
    texts = _json(answer, "[")
    if len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise Unusable
    return tuple(names.one_line(text)[:_ANSWER] for text in texts)


def lines_asked_for(answer: str) -> tuple[int, int] | None:
    """The lines that a reader wants to open; None if it answered instead."""
    try:
        lines = _json(answer, "{").get("lines")
    except Unusable:
        return None
    whole = isinstance(lines, list) and len(lines) == 2 and all(type(n) is int for n in lines)
    if not whole or not 0 < lines[0] <= lines[1]:
        return None
    return lines[0], min(lines[1], lines[0] + MOST_LINES - 1)


def ask_for_marks(asked: Sequence[Question], answers: dict[str, tuple[str, ...]]) -> str:
    """`answers` is letter -> answers; who answered is not said."""
    rows = [
        {"question": question.question, "key": question.key,
         "answers": [{"letter": k, "text": v[at] or "unknown"} for k, v in answers.items()]}
        for at, question in enumerate(asked)
    ]  # fmt: skip
    return templates.render("eval_marks.md", rows=rows)


def marks(answer: str, letters: Sequence[str], count: int) -> dict[str, tuple[str, ...]]:
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
