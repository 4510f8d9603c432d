"""checkpoints.py: where a task stood at one moment."""

from __future__ import annotations

from typing import Any

from contextkit.base.errors import ContextError
from contextkit.base.references import Reference
from contextkit.memory.documents import checkpoints
from contextkit.memory.documents.checkpoints import Checkpoint
from hypothesis import given
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LIST = st.lists(TEXT, max_size=3).map(tuple)


def a_checkpoint(**changes: Any) -> Checkpoint:
    """A checkpoint; a test names only the fields it is about."""
    given = {"checkpoint_id": "cp_review_20250104T120000", "task_id": "t", "phase": "review"}
    return Checkpoint(**(given | {"timestamp": "2025-01-04T12:00:00Z"} | changes))


@given(completed_subtasks=LIST, pending_subtasks=LIST, active_agents=LIST, blocked_agents=LIST,
       findings_count=st.integers(0), context_summary=TEXT, next_action=TEXT,
       recovery_instructions=TEXT, checkpoint_id=TEXT,
       files=st.lists(st.builds(Reference, path=TEXT, sha256=TEXT)).map(tuple))  # fmt: skip
def test_parse_undoes_render(**fields: Any) -> None:
    checkpoint = a_checkpoint(**fields)
    assert checkpoints.parse(checkpoints.render(checkpoint)) == checkpoint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from([*Checkpoint.fields(), "state", "x"]), inner, max_size=4),
)  # fmt: skip


@given(value=JSON)
def test_no_json_is_more_than_refused(value: Any) -> None:
    import json

    try:
        checkpoints.parse(json.dumps(value))
    except ContextError:
        return
