"""What `make mutants` lists is there."""

from __future__ import annotations

import tomllib

import mutants
from conftest import CHECKOUT, each


@each("name", mutants.MODULES)
def test_a_module_that_makes_decisions_and_its_tests_are_there(name: str) -> None:
    module = CHECKOUT / mutants.PACKAGE / mutants.MODULES[name][0]
    lines = {line.strip() for line in module.read_text(encoding="utf-8").split("\n")}
    for path in mutants.tests_of(name):
        assert (CHECKOUT / path).is_file(), path
    for one in mutants.equivalent(name):
        assert one["line"] in lines, f"{mutants.EQUIVALENT}: this line of {name} has changed"
        reasons = set(one) - {"line"}
        assert reasons in ({"changes", "why"}, {"measures"}, {"changes", "why", "measures"})
        assert all(one.values())
        changes = list(mutants.excused_by(one))
        assert changes and mutants.squeezed(one["line"]) not in changes, one


def test_equivalent_changes_are_listed_for_modules_that_are_tried() -> None:
    listed = tomllib.loads((CHECKOUT / mutants.EQUIVALENT).read_text(encoding="utf-8"))
    assert listed.keys() <= mutants.MODULES.keys()


def test_of_a_measure_one_more_or_less_is_excused_and_nothing_else() -> None:
    line = "return text[:40] + rest[:140] + more[40:]"
    assert list(mutants.excused_by({"line": line, "measures": ["40"]})) == [
        "returntext[:39]+rest[:140]+more[40:]",
        "returntext[:41]+rest[:140]+more[40:]",
        "returntext[:40]+rest[:140]+more[39:]",
        "returntext[:40]+rest[:140]+more[41:]",
    ]
    assert "_MOST=19999" in mutants.excused_by({"line": "_MOST = 20_000", "measures": ["20_000"]})


def test_a_change_that_only_a_type_checker_reads_is_none() -> None:
    code = "def f(x: int) -> int:\n    y: int = 1\n    return x + y\n"
    assert mutants.meaning(code) == mutants.meaning(code.replace("int", "str"))
    assert mutants.meaning(code) != mutants.meaning(code.replace("+", "-"))


def test_the_tests_that_run_the_changed_line_come_first_and_fast_ones_before_slow_ones() -> None:
    source = "ONE = 1\n\n\ndef f(x):\n    if x:\n        return 1\n    return 2\n"
    runs = [
        mutants.Run("elsewhere", frozenset([9]), 0.1),
        mutants.Run("not the line", frozenset([5, 7]), 0.1),
        mutants.Run("slow", frozenset([5, 6]), 0.3),
        mutants.Run("fast", frozenset([5, 6]), 0.2),
    ]
    inside = mutants.change_to(source, source.replace("return 1", "return 3"))
    assert (inside.number, inside.before, inside.after) == (
        6,
        " " * 8 + "return 1",
        " " * 8 + "return 3",
    )
    chosen = mutants.chosen_for(inside, source, runs)
    assert [run.test for run in chosen] == ["fast", "slow", "not the line"]
    outside = mutants.change_to(source, source.replace("ONE = 1", "ONE = 2"))
    assert len(mutants.chosen_for(outside, source, runs)) == 3
