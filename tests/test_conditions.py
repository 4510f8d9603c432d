"""An expression of more than three conditions has a name for each; docstrings have one voice."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from conftest import SCRIPTS, each
from test_imports import parsed

_MOST = 3
_VAGUE = {"found", "given", "known", "one", "said"}
_SAYS_RETURN = {"Return", "Returns", "Yield", "Yields", "Get", "Gets"}


def conditions(node: ast.AST) -> int:
    """The conditions that an expression decides by; in `a or b or ""` they only replace a value."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return conditions(node.operand)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "bool" and node.args:
        return conditions(node.args[0])
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


def vague(source: ast.AST) -> Iterator[int]:
    """The lines of functions that name a local after nothing in particular."""
    for node in functions(source):
        names = {arg.arg for arg in ast.walk(node) if isinstance(arg, ast.arg)}
        names |= {
            name.id
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        if names & _VAGUE:
            yield node.lineno


def other_voices(source: ast.AST) -> Iterator[int]:
    """The lines of functions whose docstring says "Return the …" in place of "The …"."""
    for node in functions(source):
        if (ast.get_docstring(node) or "").split(" ")[0] in _SAYS_RETURN:
            yield node.lineno


def functions(source: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(source) if isinstance(node, ast.FunctionDef))


def places_of(faults: Callable[[ast.AST], Iterator[int]]) -> list[str]:
    paths = [path for path in SCRIPTS.rglob("*.py") if "compiled" not in path.parts]
    return [
        f"{path.relative_to(SCRIPTS)}:{line}" for path in paths for line in faults(parsed(path))
    ]


def test_no_expression_has_more_than_three_conditions() -> None:
    assert not (places := places_of(too_many)), f"give each condition a name: {places}"


@each(
    ("expression", "count"),
    [("a and b and c", 0), ("a and b and c and d", 1), ("a and (b or c) and not (d or e)", 1),
     ("bool(a or b) and (c or d)", 1), ("a or b or c or ''", 0), ("f(a and b, c and d)", 0),
     ("[x for x in y if a or b or c or d]", 1)],
)  # fmt: skip
def test_conditions_are_counted_in_one_expression(expression: str, count: int) -> None:
    assert len(list(too_many(ast.parse(expression)))) == count


def test_a_local_name_says_what_it_holds() -> None:
    assert not (places := places_of(vague)), f"name these by what they hold: {places}"


def test_docstrings_name_what_is_returned() -> None:
    assert not (places := places_of(other_voices)), f'"The …" in place of "Return the …": {places}'


@each(
    ("code", "faults"),
    [('"""Return the number."""', (0, 1)), ('"""The number."""\n    one = 1', (1, 0)),
     ("return [given for given in range(3)]", (1, 0)), ('"""Write it."""\n    first = 1', (0, 0))],
)  # fmt: skip
def test_words_are_looked_up_in_functions(code: str, faults: tuple[int, int]) -> None:
    source = ast.parse(f"def f() -> None:\n    {code}\n")
    assert (len(list(vague(source))), len(list(other_voices(source)))) == faults
