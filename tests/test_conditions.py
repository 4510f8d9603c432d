"""An expression of more than three conditions has a name for each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from conftest import SCRIPTS, each
from test_imports import parsed

_MOST = 3


def conditions(node: ast.AST) -> int:
    """The conditions that an expression decides by; in `a or b or ""` they only replace a value."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return conditions(node.operand)
    if not isinstance(node, ast.BoolOp):
        return 1
    is_fallback = isinstance(node.op, ast.Or) and isinstance(node.values[-1], ast.Constant)
    return 1 if is_fallback else sum(map(conditions, node.values))


def too_many(source: ast.AST) -> Iterator[int]:
    """The lines of expressions with more conditions than that, the outermost ones alone."""
    waiting = [source]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BoolOp) and conditions(node) > _MOST:
            yield node.lineno
        else:
            waiting += ast.iter_child_nodes(node)


def test_no_expression_has_more_than_three_conditions() -> None:
    paths = [path for path in SCRIPTS.rglob("*.py") if "compiled" not in path.parts]
    found = [(path, line) for path in paths for line in too_many(parsed(path))]
    places = [f"{path.relative_to(SCRIPTS)}:{line}" for path, line in found]
    assert not places, "give each condition a name: " + ", ".join(places)


@each(
    ("expression", "count"),
    [("a and b and c", 0), ("a and b and c and d", 1), ("a and (b or c) and not (d or e)", 1),
     ("a or b or c or ''", 0), ("f(a and b, c and d)", 0),
     ("[x for x in y if a or b or c or d]", 1)],
)  # fmt: skip
def test_conditions_are_counted_in_one_expression(expression: str, count: int) -> None:
    assert len(list(too_many(ast.parse(expression)))) == count
