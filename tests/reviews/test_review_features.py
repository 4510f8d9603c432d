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
