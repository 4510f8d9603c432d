"""snapshots.py: what a conversation knows."""

from __future__ import annotations

from typing import Any

from contextkit.base.errors import ContextError
from contextkit.base.references import Reference
from contextkit.memory.documents import snapshots
from hypothesis import given
from hypothesis import strategies as st
from memory_texts import FILES, LINES, LIST, TEXT

REFERENCES = st.dictionaries(LINES, st.sampled_from(["", "00ff"]), max_size=2).map(
    lambda found: tuple(Reference(path=path, sha256=digest) for path, digest in found.items())
)


@given(summary=TEXT, task=TEXT, agents=LIST, important=TEXT, files=FILES, decisions=LIST,
       resume=TEXT, tokens=st.integers(0, 10**9), digests=REFERENCES,
       phase=st.sampled_from(["", "exploration", "planning", "implementation", "review"]),
       reason=st.sampled_from(["", *snapshots.REASONS]),
       task_id=st.sampled_from(["", "t-1_x"]))  # fmt: skip
def test_parse_undoes_render(**fields: Any) -> None:
    snapshot = snapshots.make(timestamp="2025-01-04T12:00:00Z", **fields)
    assert snapshots.parse(snapshots.render(snapshot)) == snapshot


@given(text=TEXT)
def test_no_text_is_more_than_refused(text: str) -> None:
    for document in (text, f"# Context Snapshot\n{text}"):
        try:
            snapshots.parse(document)
        except ContextError:
            continue
