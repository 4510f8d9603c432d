"""plans.py: a plan that people and commands take turns editing."""

from __future__ import annotations

from typing import Any

from contextkit.memory.documents import plans
from contextkit.memory.documents.plans import Plan
from hypothesis import given
from hypothesis import strategies as st
from memory_texts import LINES, LIST, TEXT

NOW = 1_761_242_700  # 2025-10-23T18:05:00Z

FIELDS: dict[str, Any] = {
    "objective": TEXT, "strategy": TEXT, "questions": LIST, "answered": LIST, "completed": LIST,
    "in_progress": LIST, "pending": LIST, "constraints": LIST, "next_actions": LIST,
}  # fmt: skip


def a_plan(**changes: Any) -> Plan:
    """A plan; a test names only the fields it is about."""
    return plans.make(**({"task_id": "t"} | changes))


@given(**FIELDS)
def test_parse_undoes_render(**fields: Any) -> None:
    plan = a_plan(**fields)
    assert plans.parse(plans.render(plan)) == plan


@given(**FIELDS)
def test_an_update_twice_is_an_update_once(**fields: Any) -> None:
    plan = a_plan(**fields)
    once = plans.update(plans.render(a_plan()), plan, NOW)
    assert plans.update(once, plan, NOW) == once


def lines_of(text: str) -> list[str]:
    """The nonblank lines of a text, except those that a command may edit."""
    edited = ("- Completed:", "- In Progress:", "- Pending:", "- [ ]", "unknown")
    return sorted(s for s in text.split("\n") if s.strip() and not s.startswith(edited))


MINE = st.sampled_from(["## Mine", "### Sub", "<!-- keep -->", "- more"])
HUMAN = st.lists(st.one_of(LINES, MINE), max_size=4).map("\n".join)


@given(where=st.lists(st.integers(0, 30), max_size=4), human=HUMAN, **FIELDS)
def test_an_update_loses_no_line_that_a_person_wrote(
    where: list[int], human: str, **fields: Any
) -> None:
    text = plans.render(
        a_plan(objective="Find out", questions=["Why?"], pending=["a"], next_actions=["go"])
    )
    lines = text.split("\n")
    for at in where:
        lines.insert(1 + at, human)
    text = "\n".join(lines)
    updated = plans.update(text, a_plan(**fields), NOW)
    kept = lines_of(updated)
    for line in lines_of(text):
        assert line in kept
        kept.remove(line)
