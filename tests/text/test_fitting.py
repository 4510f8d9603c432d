"""Parts of a text that are cut, in a given order, until the whole fits."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from conftest import SCRIPTS, each
from contextkit.base import tokens
from contextkit.text import fitting
from contextkit.text.fitting import Part
from hypothesis import given
from hypothesis import strategies as st


def within(most: int) -> fitting.Fits:
    """A cap in characters."""
    return lambda texts: sum(map(len, texts)) <= most


@each(
    ("most", "kept"),
    [
        (99, ("title", "old old old", "new new new")),
        (27, ("title", "old old old", "new new new")),
        (26, ("title", "old old…", "new new new")),  # as much of the last cut as there is room for
        (16, ("title", "", "new new new")),
        (15, ("title", "", "new new…")),  # whole words
        (9, ("title", "", "new…")),
        (8, ("title", "", "")),  # less than `least`
        (1, ("title", "", "")),  # nothing fits: the last step
    ],
)
def test_parts_go_in_the_order_of_their_steps(most: int, kept: tuple[str, ...]) -> None:
    parts = [
        Part("title"),
        Part("old old old", ((1, 0),), least=4),
        Part("new new new", ((2, 0),), least=4),
    ]
    assert fitting.fit(parts, within(most)) == kept


def test_what_is_whole_or_nothing_is_never_shortened() -> None:
    parts = [Part("a" * 10, ((1, 0),)), Part("b" * 10, ((2, 0),))]
    assert fitting.fit(parts, within(19)) == ("", "b" * 10)
    assert fitting.fit(parts, within(9)) == ("", "")


def test_one_step_cuts_several_parts_and_the_first_gets_the_room_that_is_left() -> None:
    parts = [Part("a" * 30, ((1, 5), (2, 2))), Part("b" * 30, ((1, 5), (2, 2)))]
    texts = fitting.fit(parts, within(30))
    assert list(map(len, texts)) == [25, 5]


A_PART = st.builds(
    lambda text, steps, widths, least: Part(
        text, tuple(zip(sorted(steps), sorted(widths, reverse=True), strict=False)), least
    ),
    st.text("ab ", max_size=40),
    st.sets(st.integers(1, 9), max_size=3),
    st.lists(st.integers(0, 30), max_size=3),
    st.integers(0, 9),
)


@given(st.lists(A_PART, max_size=6), st.integers(0, 150))
def test_the_result_fits_if_anything_does_and_no_earlier_step_would_have(
    parts: Sequence[Part], most: int
) -> None:
    fits = within(most)
    texts = fitting.fit(parts, fits)
    steps = sorted({step for part in parts for step, _ in part.cuts})
    smallest = tuple(part.after(steps[-1] if steps else 0) for part in parts)
    assert fits(texts) or texts == smallest
    for step in [0, *steps]:
        shorter = tuple(part.after(step) for part in parts)
        if fits(shorter):  # the first that fits: nothing in the result is shorter than in it
            assert all(map(lambda a, b: len(a) >= len(b), texts, shorter))
            break


def test_leading_texts_are_those_that_fit_by_the_estimate() -> None:
    texts = ["word " * 10] * 9
    size = tokens.estimate(texts[0]) + 1
    assert fitting.leading(texts, 3 * size) == 3 == fitting.leading(texts, 4 * size - 1)
    assert fitting.leading(texts, 0) == 0 and fitting.leading([], 9) == 0


# Who asks in a loop of its own whether a text fits, and why it is not done by `fit`.
ELSEWHERE = {
    "text/fitting.py:_with_room_used": "it is the loop",
    "capsules/flows/given.py:told": "fewer commits are named, then lines are left out",
    "evaluation/flows/trial.py:_handoffs": "samples are compared, and none is cut",
    "evaluation/flows/trial.py:_recoveries": "samples are compared, and none is cut",
    "evaluation/flows/trial.py:head_and_tail": "a text is cut in the middle",
    "memory/documents/reports.py:_sentences": "sentences are grouped, and none is left out",
    "payloads/flows/retrieval.py:capped": "whole lines, or a part of the first",
}
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def measuring_loops() -> Iterator[str]:
    for path in sorted((SCRIPTS / "contextkit").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "tokens." in text else ():
            if isinstance(node, ast.FunctionDef) and measures_in_a_loop(node):
                yield f"{path.relative_to(SCRIPTS / 'contextkit').as_posix()}:{node.name}"


def _called(node: ast.AST) -> set[str]:
    return {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def measures_in_a_loop(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, LOOPS):
            compared = (one for one in ast.walk(node) if isinstance(one, ast.Compare))
            if _called(node) & {"tokens.within", "tokens.size"}:
                return True
            if any("tokens.estimate" in _called(one) for one in compared):
                return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tokens.largest":
            return True
    return False


def test_whoever_brings_a_text_under_a_cap_uses_fit_or_says_why_not() -> None:
    assert set(measuring_loops()) == ELSEWHERE.keys(), "use fit, say why not, or drop the line"
