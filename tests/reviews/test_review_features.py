"""How bad a finding is and where it is, in ways that are no tool's: a dozen of each.

The texts stand in feature_reviews.md.
"""

from __future__ import annotations

import re

import review_styles
from conftest import each
from contextkit.reviews.documents import agent_review, sections
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.vocabulary import SERIOUS

TEXTS = {name: (text, wanted) for name, text, wanted in review_styles.tools("feature_reviews.md")}


@each("name", TEXTS)
def test_the_serious_findings_of_a_text_are_read(name: str) -> None:
    text, wanted = TEXTS[name]
    review = agent_review.parse(text)
    bodies = sections.of_findings(text, review)
    rows = list(zip(review.findings, bodies, strict=True))
    serious = [(row, body) for row, body in rows if row.severity in SERIOUS]
    assert sorted(row.severity for row, _ in serious) == sorted(one["severity"] for one in wanted)
    for one in wanted:
        assert any(is_meant(one, row, body) for row, body in serious), one


def is_meant(one: dict[str, str], row: Finding, body: str) -> bool:
    is_there = re.search(one.get("place", ""), f"{row.file}:{row.at}")
    is_named = re.search(one["title"], row.title, re.IGNORECASE)
    return bool(is_there and is_named and one.get("body", "") in body)


def test_tags_that_are_no_findings_are_text() -> None:
    text = "`Map<String, List<Entry>>` in a.java:4 and <b>bold</b>.\n\n<Button level='high' />\n"
    assert not agent_review.parse(text).findings


def test_an_item_with_a_link_below_that_says_nothing_grave_is_named_as_not_read() -> None:
    texts = {name: text for name, text, _ in review_styles.tools()}
    assert agent_review.parse(texts["Claude code review without severities"]).unsure == (13,)


@each("line", [
    "**Verdict**: Needs changes (P1 issues)", "Overall verdict: 2 blockers remain",
    "**Impact**: Low. The context is shown.", "Impact: High. It was meant to be.",
    "### Confidence\nHigh: I read it twice.", "### Confidence\n\n- Medium: nothing was run.",
    "## Confidence level\nMedium: the tests were not run.",
])  # fmt: skip
def test_a_verdict_an_effect_or_how_sure_one_is_is_no_finding(line: str) -> None:
    finding = "### P1: Two workers charge a card twice\n`src/pay.py:88` gives up its lock.\n"
    for text in (f"# Review\n\n{line}\n\n{finding}", f"# Review\n\n{finding}\n{line}\n"):
        rows = agent_review.parse(text).findings
        assert [(row.severity, row.at) for row in rows] == [("P1", 88)]


@each("grade", ["a critical bug", "a blocker issue", "a P0 problem for me", "critical priority"])
def test_a_sentence_grades_what_it_calls_a_bug_or_an_issue(grade: str) -> None:
    text = f"I read it. In src/pay.py:88, two workers charge a card twice. This is {grade}.\n"
    assert [(row.severity, row.at) for row in agent_review.parse(text).findings] == [("P0", 88)]
