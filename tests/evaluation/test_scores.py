"""The arithmetic of an evaluation, against an example computed by hand."""

from __future__ import annotations

import pytest
from conftest import each
from contextkit.evaluation.documents import marks
from contextkit.evaluation.documents.marks import Question, Sheet, Unusable

SHEETS = (
    Sheet("a", "log", "receipt", 100, ("right", "half", "wrong", "unknown")),
    Sheet("b", "report", "receipt", 201, ("right", "right")),
    Sheet("a", "log", "cut", 90, ("right", "right", "half", "unknown")),
    Sheet("b", "report", "cut", 190, ("wrong", "wrong")),
)


def test_shares_are_of_all_questions_and_wrong_answers_are_counted() -> None:
    rows = {(one["arm"], one["kind"]): one for one in marks.scores(SHEETS, ("receipt", "cut"))}
    assert list(rows) == [("receipt", "all"), ("cut", "all"), ("receipt", "log"), ("cut", "log"),
                          ("receipt", "report"), ("cut", "report")]  # fmt: skip
    ours = rows["receipt", "all"]
    # 1 + 0.5 + 0 + 0 + 1 + 1 of 6 questions; 301 tokens over 2 texts
    assert (ours["documents"], ours["questions"], ours["right"]) == (2, 6, 58.3)
    assert (ours["wrong"], ours["tokens"]) == (1, 150)
    assert (rows["cut", "all"]["right"], rows["cut", "all"]["wrong"]) == (41.7, 2)
    assert [rows["receipt", kind]["right"] for kind in ("log", "report")] == [37.5, 100.0]


def test_the_interval_is_between_the_shares_of_the_documents() -> None:
    # Two documents, drawn twice: both a (37.5), both b (100) or one of each (58.3).
    assert marks.interval(SHEETS[:2]) == (37.5, 100.0)
    assert marks.interval(SHEETS[:1]) == (37.5, 37.5)
    assert marks.interval(SHEETS[:2]) == marks.interval(SHEETS[:2])


def test_losses_are_the_documents_that_another_arm_knew_better() -> None:
    lost = {"document": "a", "kind": "log", "receipt": 37.5, "cut": 62.5}
    assert marks.losses(SHEETS, "receipt", "cut") == [lost]
    assert marks.losses(SHEETS[:2], "receipt", "cut") == []


@each(
    ("answer", "found"),
    [
        ('["a", "b"]', ("a", "b")),
        ('Sure:\n```json\n["a", "b"]\n```', ("a", "b")),
        ('[1] is a note. ["a", "b"]', None),
        ('["a"]', None),
        ('["a", 1]', None),
        ("", None),
        ("[" * 100_000, None),
        ('{"a": "b"}', None),
    ],
)
def test_answers_are_read_or_refused(answer: str, found: tuple[str, ...] | None) -> None:
    if found is None:
        with pytest.raises(Unusable):
            marks.answers(answer, 2)
    else:
        assert marks.answers(answer, 2) == found


def test_a_mark_for_each_answer_or_none() -> None:
    good = '[{"A": "right", "B": "unknown"}, {"A": "half", "B": "wrong", "C": "right"}]'
    assert marks.read_marks(good, "AB", 2) == {"A": ("right", "half"), "B": ("unknown", "wrong")}
    for bad in ('[{"A": "right"}, {"A": "half"}]', good.replace("half", "mostly"), "[]", "[{}, 1]"):
        with pytest.raises(Unusable):
            marks.read_marks(bad, "AB", 2)


@each(
    ("answer", "lines"),
    [
        ('{"lines": [3, 9]}', (3, 9)),
        ('{"lines": [3, 9999]}', (3, 2 + marks.MOST_LINES)),
        ('{"lines": [9, 3]}', None),
        ('{"lines": ["3", 9]}', None),
        ('{"lines": [true, 9]}', None),
        ('["an answer"]', None),
        ("no", None),
    ],
)
def test_lines_that_a_reader_asks_for(answer: str, lines: tuple[int, int] | None) -> None:
    assert marks.lines_asked_for(answer) == lines


def test_text_in_a_prompt_is_data() -> None:
    text = "{{ 1 + 1 }} {% raw %} ```"
    assert text in marks.ask_for_questions(text, 6)
    assert text in marks.ask_for_answers((Question(text, "k"),), text)
