"""reports.py: an agent's report as a finding, in the forms that agents really write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import each
from contextkit.memory.documents import findings, reports
from contextkit.memory.flows import saving
from contextkit.text.sections import FileNote
from hypothesis import given
from hypothesis import strategies as st

REVIEW = """\
### Findings Index

| ID | Severity | Title |
|----|----------|-------|
| F-1 | P0 | The lock is never freed |
| F-2 | P1 | A retry \\| none |

Verdict: needs-changes

### Summary (3-5 lines)

The queue works. Its lock does not.

### Issues Found

#### F-1: The lock is never freed

**Location:** `src/queue.py:42`, on every error

**Fix:** Free it in `finally`,
before the retry.

### Improvements Suggested

1. Log who holds it
"""


def read(text: str) -> findings.Finding:
    fields = {"agent": "ui", "description": "", "status": "", "summary": ""}
    return findings.parse(findings.render(saving.finding("station", fields, text, 0)))


def test_a_review_is_read(sealed: Path) -> None:
    found = read(REVIEW)
    assert found.summary == "The queue works. Its lock does not."
    assert found.discoveries[:2] == (
        "ID: F-1; Severity: P0; Title: The lock is never freed",
        "ID: F-2; Severity: P1; Title: A retry | none",
    )
    assert found.files == (FileNote(path="src/queue.py:42"),)
    assert found.recommendations == ("Log who holds it", "Free it in `finally`, before the retry.")
    assert "Verdict: needs-changes" in "\n".join(found.texts())


@each(
    ("headings", "of"),
    [
        (("Zusammenfassung", "Erkenntnisse", "Offene Fragen", "Nächste Schritte"), "German"),
        (("Résumé", "Constats", "Questions ouvertes", "Prochaines étapes"), "French"),
        (("Resumen", "Hallazgos", "Preguntas abiertas", "Próximos pasos"), "Spanish"),
        (("Resumo Executivo", "Principais Achados", "Questões em aberto", "Recomendações"), "Pt"),
        (("摘要", "主要发现", "未解决的问题", "建议"), "Chinese"),
        (("Sommario", "Risultati", "Domande aperte", "Prossimi passi"), "Italian"),
    ],
)
def test_headings_are_read_in_other_languages(
    sealed: Path, headings: tuple[str, ...], of: str
) -> None:
    found = read("# T\n\n" + "\n\n".join(f"## {h}\n- about {n}" for n, h in enumerate(headings)))
    assert (found.summary, found.discoveries) == ("- about 0", ("about 1",)), of
    assert (found.questions, found.recommendations) == (("about 2",), ("about 3",))


@each(
    ("text", "summary"),
    [
        ("All is well here, nothing to do.", "All is well here, nothing to do."),
        ("# Review\n\nVerdict: safe\n\nThe code does what it says it does.",
         "Verdict: safe\n\nThe code does what it says it does."),
        ("## Verdict: risky\n- one\n- two\n", "Verdict: risky. - one. - two."),
        ("- a\n- b\n", "a. - b."),
        ("```\nx = 1\n```", "x = 1."),
    ],
)  # fmt: skip
def test_a_report_without_a_summary_has_one_all_the_same(
    sealed: Path, text: str, summary: str
) -> None:
    assert read(text).summary == summary


def test_a_status_is_taken_from_the_report_and_is_completed_else(sealed: Path) -> None:
    assert read("**Status:** FAILED\n\n## Summary\nIt broke.").status == "failed"
    assert read("Status: incomplete\n\n## Summary\nHalf.").status == "partial"
    assert read("## Summary\nDone.").status == "completed"


def test_the_comments_of_a_contract_are_no_part_of_a_finding(sealed: Path) -> None:
    fields = reports.read(
        "<!-- run-uuid: r-1 -->\n### Sources\n- a.py:1\n\n### Findings\n#### One\nIt is so.\n\n"
        "### Gaps\n- Who owns it?\n\n<!-- flux-research:complete -->\n"
    )
    assert fields["questions"] == ["Who owns it?"]
    assert "<!--" not in "".join(extra.text for extra in fields["more"])


def test_where_no_section_says_what_was_found_each_topic_is_told(sealed: Path) -> None:
    found = read(
        "# Caches\n\n## 1. Redis\nRedis keeps 52 ms. More of it.\n\n### Cost\nIt is 3 USD.\n\n"
        "## 2. None\nNo."
    )
    assert found.discoveries == (
        "1. Redis: Redis keeps 52 ms.",
        "Cost: It is 3 USD.",
        "2. None: No.",
    )
    assert "More of it." in "\n".join(found.texts())


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_nothing_readable_is_refused(text: str) -> None:
    if text.strip():
        fields = reports.read(text)
        assert any(map(str, fields.values())) or not any(map(str.isalnum, text))


PARTS = st.lists(
    st.sampled_from(
        ["# T", "## Summary", "### Findings Index", "#### Deep", "| a | b |", "|---|---|",
         "| 1 | 2 |", "- item one", "1. first thing", "**Fix:** fix it", "**Recommendations:**",
         "Plain words here.", "```", "## Files", "- `a.py` - made", "", "Verdict: safe",
         "## Etwas anderes"]
    ),
    max_size=25,
)  # fmt: skip


@given(PARTS)
def test_no_word_of_a_report_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    if not text.strip():
        return
    fields = reports.read(text)
    told = repr(fields)
    for line in (line for line in lines if not line.startswith("#")):
        for word in line.replace("|", " ").replace("`", " ").replace("*", " ").split():
            assert word.strip("#:-.1") in told


CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before the environment is emptied


@pytest.mark.skipif(not CORPUS, reason="no corpus")
def test_every_real_report_is_read() -> None:
    found = sorted(Path(CORPUS).glob("re*/*.md"))
    assert found
    for path in found:
        fields = reports.read(path.read_text(encoding="utf-8"))
        assert fields["summary"] and fields["discoveries"], path


def test_a_section_is_looked_at_no_more_often_in_a_longer_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    plain_name = reports._plain_name

    def counted(heading: str) -> str:
        looked_at.append(heading)
        return plain_name(heading)

    def looks(sections: int) -> int:
        looked_at.clear()
        reports.read("## Summary\n\nIt works.\n\n" * sections)
        return len(looked_at)

    monkeypatch.setattr(reports, "_plain_name", counted)
    assert looks(200) == 10 * looks(20)
