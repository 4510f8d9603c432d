"""merged.py: nothing is lost, and nothing is said twice."""

from __future__ import annotations

from pathlib import Path

import memory_stores as stores
from conftest import Script
from contextkit.base.layout import Layout
from contextkit.memory.documents import findings
from contextkit.memory.documents import merged as merged_findings
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.findings import Extra, Finding
from contextkit.text import sections
from hypothesis import given
from hypothesis import strategies as st
from memory_texts import FILES, LIST, TEXT
from test_documents import MORE, a_finding

WHEN = "2025-01-04T12:30:00Z"
FINDING = st.builds(
    a_finding, agent=st.sampled_from(["ui", "a, b", "x`y", "by `z`: q"]), description=TEXT,
    summary=TEXT,
    discoveries=LIST, files=FILES, questions=LIST, recommendations=LIST, more=MORE,
    status=st.sampled_from(findings.STATUSES),
)  # fmt: skip


def named(found: list[Finding]) -> list[tuple[str, Finding]]:
    return [(f"a_20250104T12000{number}.md", one) for number, one in enumerate(found)]


@given(found=st.lists(FINDING, max_size=3), more=MORE)
def test_parse_undoes_render(found: list[Finding], more: list[Extra]) -> None:
    more = [extra for extra in more if extra.text and extra.text == sections.clean(extra.text)]
    merged = merged_findings.merge("t", named(found), WHEN, more)
    again = merged_findings.parse(merged_findings.render(merged))
    assert again == merged


@given(found=st.lists(FINDING, max_size=3))
def test_merging_what_was_merged_changes_nothing(found: list[Finding]) -> None:
    merged = merged_findings.merge("t", named(found), WHEN)
    parts = [(part.file, part.finding) for part in merged.parts]
    assert merged_findings.merge("t", parts, WHEN) == merged


def test_a_second_finding_of_the_same_second_is_merged_besides_an_archived_one(
    layout: Layout, run: Script
) -> None:
    for summary in ("The first.", "The second.", "The third."):
        stores.finding(layout, summary=summary)
        assert run("external_memory", "merge", f"--task={stores.TASK}", "--archive") == 0, run.err
    folder = Path(layout.memory) / memory.FINDINGS
    (path,) = folder.glob("merged_*.md")
    text = path.read_text(encoding="utf-8")
    assert [text.count(one) for one in ("The first.", "The second.", "The third.")] == [1, 1, 1]
