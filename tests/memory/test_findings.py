"""findings.py: what an agent found out, no matter what it wrote."""

from __future__ import annotations

from typing import Any

from contextkit.base.errors import ContextError
from contextkit.memory.documents import findings
from contextkit.memory.documents.findings import Extra, Finding
from hypothesis import given
from hypothesis import strategies as st
from memory_texts import FILES, LIST, TEXT

NOON = 1_735_992_000  # 2025-01-04T12:00:00Z


def a_finding(**changes: Any) -> Finding:
    """A finding; a test names only the fields it is about."""
    given = {
        "agent": "ui",
        "task_id": "t",
        "status": "completed",
        "timestamp": "2025-01-04T12:00:00Z",
    }
    return findings.make(**(given | changes))


MORE = st.lists(
    st.builds(Extra, heading=st.sampled_from(["Sources", "```", "x ##", "`"]), text=TEXT),
    max_size=2,
)


@given(description=TEXT, summary=TEXT, discoveries=LIST, files=FILES, questions=LIST,
       recommendations=LIST, more=MORE)  # fmt: skip
def test_parse_undoes_render(**fields: Any) -> None:
    finding = a_finding(**fields)
    assert findings.parse(findings.render(finding)) == finding


@given(text=TEXT)
def test_no_text_is_more_than_refused(text: str) -> None:
    for document in (text, f"# Findings: a\n{text}"):
        try:
            findings.parse(document)
        except ContextError:
            continue
