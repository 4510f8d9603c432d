"""synthesis.py: what all reviews say together, without losing or inventing anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT
from contextkit.reviews.documents import agent_review
from contextkit.reviews.flows import drill_down, synthesis
from contextkit.reviews.flows.agent_files import Reading
from contextkit.reviews.flows.synthesis import MergedFinding
from hypothesis import given
from hypothesis import strategies as st

CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # before `sealed` empties the environment
INDEX = "### Findings Index\n{rows}\nVerdict: {verdict}\n\n### Summary\nSo.\n"


def a_source(
    agent: str, *rows: str, verdict: str = "needs-changes", body: str = "", **changes: Any
) -> Reading:
    """A review with these rows; `P1 | P1-1 | "Part" | Title`; `body` is the section of P1-1."""
    text = INDEX.format(rows="\n".join(f"- {row}" for row in rows), verdict=verdict)
    text += f"\n### Issues Found\n#### P1-1.\n{body}\n" if body else ""
    review = agent_review.parse(text)
    fields: dict[str, Any] = {
        "agent": agent,
        "path": f"/out/{agent}.md",
        "shown": f"out/{agent}.md",
        "summary": "",
        "flags": (),
        "status": agent_review.effective_status(review)[0],
        "validation": review.validation,
        "review": review,
        "text": text,
        **changes,
    }
    return Reading(**fields)


def keys(found: list[MergedFinding]) -> list[str]:
    return [one.key for one in found]


def test_the_same_id_of_two_agents_is_two_findings() -> None:
    found = synthesis.combined(
        [
            a_source("fd-a", 'P1 | P1-1 | "One" | A race in the writer'),
            a_source("fd-b", 'P1 | P1-1 | "Two" | No limit on names'),
        ]
    )
    assert keys(found) == ["fd-a/P1-1", "fd-b/P1-1"]
    assert [one.convergence for one in found] == [1, 1]


def test_equal_titles_are_one_finding_with_all_agents_at_the_strictest_severity() -> None:
    sources = [
        a_source("fd-a", 'P2 | P2-1 | "One" | a race in the  writer'),
        a_source("fd-b", 'P1 | P1-4 | "Two" | **A race in the writer.**'),
    ]
    (one,) = synthesis.combined(sources)
    assert (one.agents, one.severity, one.confidence) == (("fd-a", "fd-b"), "P1", "medium")
    assert synthesis.conflicts(sources, [one])[0] == (
        '"**A race in the writer.**": fd-b P1, fd-a P2'
    )


def test_two_rows_of_one_agent_with_one_title_stay_two() -> None:
    found = synthesis.combined(
        [
            a_source("fd-a", 'P2 | P2-1 | "One" | No test', 'P2 | P2-2 | "Two" | No test'),
            a_source("fd-b", 'P2 | P2-1 | "One" | No test'),
        ]
    )
    assert [one.agents for one in found] == [("fd-a", "fd-b"), ("fd-a",)]


def test_an_id_that_stands_twice_gives_two_keys() -> None:
    found = synthesis.combined([a_source("fd-a", "P2 | P2-1 | S | One", "P2 | P2-1 | S | Two")])
    assert keys(found) == ["fd-a/P2-1", "fd-a/P2-1(2)"]


def test_titles_that_are_alike_are_said_to_be_and_stay_two() -> None:
    found = synthesis.combined(
        [
            a_source("fd-a", 'P1 | P1-1 | "One" | Session token stored in the browser'),
            a_source("fd-b", 'P2 | P2-1 | "Two" | Session token stored without expiry'),
        ]
    )
    assert len(found) == 2
    (pair,) = synthesis.possible_duplicates(found)
    assert [one.key for one in pair] == ["fd-a/P1-1", "fd-b/P2-1"]


def test_one_place_in_like_words_is_one_finding_of_both() -> None:
    sources = [
        a_source("fd-a", 'P1 | P1-1 | "app.py:40-45" | A session token is never expired'),
        a_source("fd-b", 'P0 | P0-2 | "app.py:42" | Session tokens do not expire'),
        a_source("fd-c", 'P2 | P2-1 | "app.py:42" | A word too many'),
        a_source("fd-d", 'P1 | P1-1 | "other.py:42" | A session token is never expired here'),
    ]
    found = synthesis.combined(sources)
    assert (found[0].key, found[0].agents) == ("fd-b/P0-2", ("fd-a", "fd-b"))
    assert found[0].convergence == 2 and len(found) == 3
    document: Any = synthesis.document(HEAD, sources, found)
    assert [row["title"] for row in document["findings"][0]["provenance"]] == [
        "Session tokens do not expire",
        "A session token is never expired",
    ]


def test_one_place_under_unlike_titles_stays_two_findings() -> None:
    quoted = (
        "The entry `app.py:42` is copied into the knowledge file as somebody reported it."
        " Retrieval then quotes that example to every reviewer of another repository."
    )
    sources = [
        a_source("fd-a", 'P1 | P1-1 | "app.py:42" | Secrets reach the log', body=quoted),
        a_source("fd-b", 'P1 | P1-1 | "app.py:42" | Wrong default model', body=quoted),
    ]
    found = synthesis.combined(sources)
    assert len(found) == 2 and len(synthesis.possible_duplicates(found)) == 1


def test_a_place_in_two_titles_makes_them_no_more_alike() -> None:
    sources = [
        a_source("fd-a", 'P0 | P0-1 | "A" | open login at src/a.py:3'),
        a_source("fd-b", 'P3 | P3-1 | "B" | src/a.py:3 - rename x'),
    ]
    assert len(synthesis.combined(sources)) == 2


def test_a_rating_in_brackets_makes_no_titles_alike() -> None:
    found = synthesis.combined(
        [
            a_source("fd-a", 'IMP | IMP-1 | "A" | Split the file (high impact, low effort)'),
            a_source("fd-b", 'IMP | IMP-1 | "B" | Cache results (high impact, low effort)'),
        ]
    )
    assert synthesis.possible_duplicates(found) == []


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real reviews")
def test_duplicates_of_real_reviews_are_found_as_a_person_labeled_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(CHECKOUT / "tests" / "bench"))
    import duplicate_rates

    rates = duplicate_rates.Rates(Path(CORPUS))
    assert rates.labeled >= 40 and rates.unlabeled == 0
    assert rates.precision >= 0.8 and rates.recall >= 0.6


def test_who_only_shares_a_section_does_not_disagree() -> None:
    sources = [
        a_source("fd-a", 'P1 | P1-1 | "Writer" | It blocks'),
        a_source("fd-b", 'P3 | P3-1 | "Writer" | A word too many', verdict="safe"),
    ]
    assert synthesis.conflicts(sources, synthesis.combined(sources)) == []


def test_findings_of_unrelated_reviews_are_never_alike() -> None:
    row = 'P1 | P1-1 | "app.py:42" | A session token is never expired{}'
    found = synthesis.combined(
        [a_source("one--fd-a", row.format("")), a_source("two--fd-b", row.format(" at all"))]
    )
    assert len(found) == 2 and synthesis.possible_duplicates(found) == []


def test_what_research_found_is_no_duplicate_of_a_defect() -> None:
    text = "It is done when the file is there, however much of it was written by then. " * 2
    source = a_source("fd-a", 'P1 | P1-1 | "A" | Completion is detected by the file', body=text)
    report = (
        "### Sources\n- a page\n### Findings\n#### Completion detection by the file\n"
        f"{text}\n### Confidence\nhigh\n### Gaps\nnone\n"
    )
    research = agent_review.parse(report)
    assert research.type == "research"
    other = source.replace(agent="docs", review=research, text=report)
    assert synthesis.possible_duplicates(synthesis.combined([source, other])) == []


def test_ids_are_in_the_order_of_their_numbers() -> None:
    found = synthesis.combined(
        [a_source("fd-a", *(f'P2 | P2-{n} | "S" | Title {n}' for n in (10, 2, 1)))]
    )
    assert keys(found) == ["fd-a/P2-1", "fd-a/P2-2", "fd-a/P2-10"]


def test_one_place_at_two_severities_is_a_conflict() -> None:
    sources = [
        a_source("fd-a", 'P1 | P1-1 | "src/app.py:42" | It blocks'),
        a_source("fd-b", 'P3 | P3-1 | "src/app.py:42" | A word too many'),
    ]
    found = synthesis.combined(sources)
    assert "src/app.py:42: P1 fd-a/P1-1, P3 fd-b/P3-1" in synthesis.conflicts(sources, found)
    document = synthesis.document(HEAD, sources, found)
    first = document["findings"][0]  # type: ignore[index]
    assert first["co_located"] and first["co_located_with"] == ["fd-b/P3-1"]


def test_an_agent_that_contradicts_its_own_rows_is_a_conflict() -> None:
    sources = [a_source("fd-a", 'P0 | P0-1 | "One" | It loses data', verdict="safe")]
    found = synthesis.combined(sources)
    assert synthesis.conflicts(sources, found) == ["fd-a: states safe, its rows say risky"]


HEAD: dict[str, object] = {
    "reviewed": "2025-10-23T18:05:00Z", "input": "out", "input_type": "directory",
    "synthesis_timestamp": "2025-10-23T18:05:00Z",
}  # fmt: skip
KEYS = (
    "reviewed input input_type agents_launched agents_completed agents_failed findings improvements"
    " verdict early_stop content_routing_active synthesis_timestamp synthesis_protocol_version"
).split()
FINDING_KEYS = (
    "id severity agents section title convergence confidence co_located co_located_with"
    " cross_references severity_conflict descriptions provenance"
).split()


def test_the_document_has_the_published_keys_first() -> None:
    sources = [
        a_source("fd-a", 'P1 | P1-1 | "One" | It blocks', 'IMP | IMP-1 | "Two" | Say why'),
        a_source("fd-b", validation="missing", status="ERROR"),
    ]
    document: Any = synthesis.document(HEAD, sources, synthesis.combined(sources))
    assert list(document)[: len(KEYS)] == KEYS
    assert document["synthesis_protocol_version"] == "1.0"
    assert document["agents_launched"] == ["fd-a", "fd-b"]
    assert (document["agents_completed"], document["agents_failed"]) == (["fd-a"], ["fd-b"])
    (finding,) = document["findings"]
    assert list(finding)[: len(FINDING_KEYS)] == FINDING_KEYS
    assert finding["agents"] == ["fd-a"]
    assert [one["id"] for one in document["improvements"]] == ["IMP-1"]


def test_an_unfinished_file_confirms_nothing() -> None:
    row = 'P1 | P1-1 | "One" | It blocks'
    (one,) = synthesis.combined(
        [a_source("fd-a", row), a_source("fd-b", row, validation="partial")]
    )
    assert one.agents == ("fd-a", "fd-b") and one.convergence == 1


def verdict_of(*sources: Reading) -> str:
    return synthesis.verdict(list(sources))


def test_the_verdict_is_safe_only_where_every_agent_is_clean() -> None:
    clean = a_source("fd-a", 'P3 | P3-1 | "One" | A word', verdict="safe")
    p1 = a_source("fd-b", 'P1 | P1-1 | "One" | It blocks')
    p0 = a_source("fd-c", 'P0 | P0-1 | "One" | It loses data')
    unsure = a_source("fd-d", 'P3 | P3-1 | "One" | A word', verdict="needs-changes")
    gone = a_source("fd-e", validation="missing", status="ERROR", verdict="safe")
    assert verdict_of(clean) == "safe"
    assert verdict_of(clean, p1) == verdict_of(clean, unsure) == "needs-changes"
    assert verdict_of(clean, p1, p0, gone) == "risky"
    assert verdict_of(clean, gone) == verdict_of(gone) == verdict_of() == "error"


severities = st.sampled_from(["P0", "P1", "P2", "P3", "IMP"])
titles = st.sampled_from(
    ["A race", "a  race", "**No limit**", "No limit", "Token stored in browser", "é | x", "`x`", ""]
) | st.text(max_size=12)
rows = st.lists(st.tuples(severities, st.integers(1, 3), titles), max_size=5)
rosters = st.dictionaries(st.sampled_from(["fd-a", "fd-b", "fd-c", "fd-d"]), rows, max_size=4)


@given(rosters)
def test_every_finding_stands_in_the_index_of_each_agent_that_it_names(
    roster: dict[str, list[tuple[str, int, str]]],
) -> None:
    sources = [
        a_source(agent, *(f'{s} | {s}-{n} | "Part" | {title}' for s, n, title in its))
        for agent, its in roster.items()
    ]
    found = synthesis.combined(sources)
    index = {source.agent: drill_down.index_rows(source.review) for source in sources}
    for one in found:
        for row in one.rows:
            beginning = f'- {row.severity or "?"} | {row.id} | "{row.section}" | {row.title}'
            assert any(line.startswith(beginning.rstrip()) for _, line in index[row.agent])
    counted = sum(len(one.rows) for one in found)
    assert counted == sum(len(source.review.findings) for source in sources)  # and none is lost
    assert len(set(keys(found))) == len(found)


@given(rosters)
def test_only_equal_titles_are_one_finding(roster: dict[str, list[tuple[str, int, str]]]) -> None:
    sources = [
        a_source(agent, *(f'{s} | {s}-{n} | "Part" | {title}' for s, n, title in its))
        for agent, its in roster.items()
    ]
    for one in synthesis.combined(sources):
        assert len({synthesis.same_title(row.title) for row in one.rows}) == 1
        assert len({row.agent for row in one.rows}) == len(one.rows)
