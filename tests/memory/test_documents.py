"""The laws of the documents of memory: what is written is read back, whatever an agent wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from contextkit.base.errors import ContextError
from contextkit.base.references import Reference
from contextkit.memory.documents import checkpoints, findings, plans, snapshots
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.checkpoints import Checkpoint
from contextkit.memory.documents.findings import Extra, Finding
from contextkit.memory.documents.plans import Plan
from hypothesis import given
from hypothesis import strategies as st
from memory_texts import FILES, LINES, LIST, TEXT

NOON = 1_735_992_000  # 2025-01-04T12:00:00Z
WHEN = "2025-01-04T12:00:00Z"


def a_plan(**changes: Any) -> Plan:
    """A plan, as each of these a document in which a test names only the fields it is about."""
    return plans.make(**({"task_id": "t"} | changes))


def a_finding(**changes: Any) -> Finding:
    given = {"agent": "ui", "task_id": "t", "status": "completed", "timestamp": WHEN}
    return findings.make(**(given | changes))


def a_checkpoint(**changes: Any) -> Checkpoint:
    given = {"checkpoint_id": "cp_review_20250104T120000", "task_id": "t", "phase": "review"}
    return Checkpoint(**(given | {"timestamp": WHEN} | changes))


def a_snapshot(**changes: Any) -> snapshots.Snapshot:
    return snapshots.make(timestamp=WHEN, **changes)


MORE = st.lists(
    st.builds(Extra, heading=st.sampled_from(["Sources", "```", "x ##", "`"]), text=TEXT),
    max_size=2,
)
PLAN: dict[str, Any] = {
    "objective": TEXT, "strategy": TEXT, "questions": LIST, "answered": LIST, "completed": LIST,
    "in_progress": LIST, "pending": LIST, "constraints": LIST, "next_actions": LIST,
}  # fmt: skip
ODD = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ODDS = st.lists(ODD, max_size=3).map(tuple)
REFERENCES = st.dictionaries(LINES, st.sampled_from(["", "00ff"]), max_size=2).map(
    lambda found: tuple(Reference(path=path, sha256=digest) for path, digest in found.items())
)
DOCUMENTS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "plan": (plans, st.builds(a_plan, **PLAN)),
    "finding": (findings, st.builds(
        a_finding, description=TEXT, summary=TEXT, discoveries=LIST, files=FILES, questions=LIST,
        recommendations=LIST, more=MORE)),
    "checkpoint": (checkpoints, st.builds(
        a_checkpoint, completed_subtasks=ODDS, pending_subtasks=ODDS, active_agents=ODDS,
        blocked_agents=ODDS, findings_count=st.integers(0), context_summary=ODD, next_action=ODD,
        recovery_instructions=ODD, checkpoint_id=ODD,
        files=st.lists(st.builds(Reference, path=ODD, sha256=ODD)).map(tuple))),
    "snapshot": (snapshots, st.builds(
        a_snapshot, summary=TEXT, task=TEXT, agents=LIST, important=TEXT, files=FILES,
        decisions=LIST, resume=TEXT, tokens=st.integers(0, 10**9), digests=REFERENCES,
        phase=st.sampled_from(["", *memory.PHASES]), task_id=st.sampled_from(["", "t-1_x"]),
        reason=st.sampled_from(["", *snapshots.REASONS]))),
}  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTS)
@given(data=st.data())
def test_parse_undoes_render(kind: str, data: st.DataObject) -> None:
    module, documents = DOCUMENTS[kind]
    document = data.draw(documents)
    assert module.parse(module.render(document)) == document


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from([*Checkpoint.fields(), "state", "x"]), inner, max_size=4),
).map(json.dumps)  # fmt: skip
TITLES = {"plan": "# Research Plan: t", "finding": "# Findings: a", "checkpoint": "",
          "snapshot": "# Context Snapshot"}  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTS)
@given(text=TEXT | JSON)
def test_no_text_is_more_than_refused(kind: str, text: str) -> None:
    for document in (text, f"{TITLES[kind]}\n{text}"):
        try:
            DOCUMENTS[kind][0].parse(document)
        except ContextError:
            continue


# A plan that people and commands take turns editing


@given(**PLAN)
def test_an_update_twice_is_an_update_once(**fields: Any) -> None:
    plan = a_plan(**fields)
    once = plans.update(plans.render(a_plan()), plan, NOON)
    assert plans.update(once, plan, NOON) == once


def lines_of(text: str) -> list[str]:
    """The nonblank lines of a text, except those that a command may edit."""
    edited = ("- Completed:", "- In Progress:", "- Pending:", "- [ ]", "unknown")
    return sorted(s for s in text.split("\n") if s.strip() and not s.startswith(edited))


MINE = st.sampled_from(["## Mine", "### Sub", "<!-- keep -->", "- more"])
HUMAN = st.lists(st.one_of(LINES, MINE), max_size=4).map("\n".join)


@given(where=st.lists(st.integers(0, 30), max_size=4), human=HUMAN, **PLAN)
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
    updated = plans.update(text, a_plan(**fields), NOON)
    kept = lines_of(updated)
    for line in lines_of(text):
        assert line in kept
        kept.remove(line)
