"""recovery_report.digest: findings in few tokens, fairly shared and in whole statements."""

from __future__ import annotations

from contextkit.base import tokens
from contextkit.memory.documents import findings, reports
from contextkit.memory.documents.findings import Found
from contextkit.memory.flows import recovery_report
from contextkit.text import fitting

TIME = "2026-11-22T05:00:00Z"


def a_finding(agent: str, *discoveries: str, status: str = "completed") -> Found:
    made = findings.make(
        agent=agent, task_id="t", timestamp=TIME, status=status, summary=f"{agent} is done.",
        discoveries=discoveries,
    )  # fmt: skip
    return Found.of(f"findings/{agent}_20261122T050000.md", made)


def summarized(*found: Found, room: int = 4000) -> list[list[str]]:
    """What is left of each finding in so many tokens: its line, if any, and its details."""
    pairs = recovery_report.digest(list(found), room)
    texts = fitting.fit(
        [part for _, part in pairs],
        lambda texts: tokens.within("\n".join(filter(None, texts)), room),
    )
    left: list[list[str]] = [[] for _ in found]
    for (at, _), text in zip(pairs, texts, strict=True):
        left[at] += [text] if text else []
    return left


def shown(*found: Found) -> list[str]:
    """The lines below those of the findings themselves."""
    return [line.strip() for _, *details in summarized(*found) for line in details]


def test_a_unit_is_a_statement_and_no_label_rule_comment_or_property() -> None:
    found = a_finding(
        "ui",
        "---",
        "**Why:**",
        "<!-- done -->",
        "Severity: P1",
        "### Details",
        "It fails in a.py:3.",
    )
    assert shown(found) == ["- It fails in a.py:3."]


def test_an_item_of_a_long_discovery_keeps_the_words_it_belongs_to() -> None:
    long = "It fails in three cases:\n\n" + "\n".join(
        f"- in `src/part{number}.py:{number}` after {number} s, {'and so on ' * 12}"
        for number in range(1, 4)
    )
    assert all(
        line.startswith("- It fails in three cases: in `src/")
        for line in shown(a_finding("ui", long))
    )
    assert len(shown(a_finding("ui", long))) == 3


def test_a_row_of_a_table_is_a_statement_with_the_words_of_its_header() -> None:
    found = a_finding("ui", "| Case | Time |\n|---|---|\n| cold | 52 ms |\n| warm | 9 ms |")
    assert shown(found) == ["- cold - Time: 52 ms", "- warm - Time: 9 ms"]


def test_code_is_left_to_the_finding() -> None:
    found = a_finding("ui", "## Run\n```\nrm -rf build/x.py\n```\nIt takes 52 ms.")
    assert shown(found) == ["- It takes 52 ms."]


def test_what_a_report_called_its_sections_is_left_to_the_finding() -> None:
    text = "# Memory\n## Executive Summary\nIt is done.\n## Costs\nIt takes 52 ms.\n"
    made = findings.make(
        agent="ui", task_id="t", timestamp=TIME, status="completed", **reports.read(text)
    )
    assert "- ## Executive Summary" in findings.render(made)
    assert shown(Found.of("findings/ui.md", made)) == ["- Costs: It takes 52 ms."]


def test_the_same_unit_of_a_finding_is_printed_once() -> None:
    found = a_finding("ui", "It takes 52 ms.", "| a | b |\n|---|---|\n| x | 1 |\n| x | 1 |")
    assert shown(found) == ["- It takes 52 ms.", "- x - b: 1"]


def test_a_finding_with_many_facts_does_not_crowd_out_the_others() -> None:
    rich = a_finding("rich", *(f"src/a{n}.py:{n} takes {n} ms." for n in range(1, 60)))
    slow = "The form in src/b.py:7 is drawn twice while it loads, as a slow machine lets one see."
    of_rich, of_poor = summarized(rich, a_finding("poor", slow), room=300)
    assert "src/b.py:7" in of_poor[1]
    assert len(of_rich) > len(of_poor)


def test_what_failed_has_its_line_first_where_not_all_have_one() -> None:
    found = [*(a_finding(f"a{n}") for n in range(9)), a_finding("bad", status="failed")]
    left = summarized(*found, room=60)
    assert left[9] and not left[8] and "bad_" in left[9][0]


def test_a_comment_in_a_code_span_is_text() -> None:
    found = a_finding("ui", "## End\nThe sentinel `<!-- done -->` ends it.<!-- really -->")
    assert shown(found) == ["- The sentinel `<!-- done -->` ends it."]
